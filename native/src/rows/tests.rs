//! Comparison of every variant that the host supports with the operation on one word.
#![allow(clippy::unwrap_used)]

use halfbyte_isa::half::{Clamp, Compare, Format, HalfMode, Rounding};
use halfbyte_isa::halu::domain::{
    Conversion, Divide, FloatKind, FloatOp, HalfCompare, HalfKind, HalfMinMax, HalfOp, Lanes, NumberFormat, VideoKind,
    VideoMerge, VideoOp,
};

use super::{LOT, Operand, RowError, RowOp, Variant, apply};

/// Edge cases of both formats: zeros, subnormals, the least normal number, one, the greatest number, infinities, NaNs.
const EDGES: [u16; 20] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x8400, 0x007F, 0x0080, 0x3C00, 0xBC00, 0x3F80, 0x7BFF, 0xFBFF,
    0x7C00, 0xFC00, 0x7F7F, 0x7F80, 0xFF80, 0xFFFF,
];

/// Random number generator (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a half that is interesting for rounding.
    fn half(&mut self) -> u16 {
        let bits = self.next();
        let any = (bits >> 32) as u16;
        match bits % 8 {
            0 => EDGES[any as usize % EDGES.len()],
            // Few significant bits, so that ties and cancellations occur.
            1 | 2 => any & 0xFE00,
            3 => any & 0xFFC0,
            // Exponents near each other.
            4 | 5 => (any & 0x8FFF) | 0x3000,
            _ => any,
        }
    }

    fn word(&mut self) -> u32 {
        u32::from(self.half()) << 16 | u32::from(self.half())
    }
}

fn variants() -> impl Iterator<Item = Variant> {
    Variant::ALL.into_iter().filter(|variant| variant.is_here())
}

/// Compares an operation on rows of 64 words, with every combination of rows and uniform words.
fn check(op: RowOp, random: &mut Random, rounds: usize) {
    const ITEMS: usize = 4 * LOT;
    for round in 0..rounds {
        let is_row = |k: usize| round % 4 != 0 || round >> 2 >> k & 1 != 0;
        let mut rows = [(); 3].map(|()| [(); ITEMS].map(|()| random.word()));
        for (_, row) in rows.iter_mut().enumerate().filter(|(k, _)| !is_row(*k)) {
            let word = row[0];
            row.fill(word);
        }
        let operands = [0, 1, 2].map(|k| if is_row(k) { Operand::Row(&rows[k]) } else { Operand::Word(rows[k][0]) });
        for variant in variants() {
            let mut result = [0; ITEMS];
            apply(variant, &op, operands, &mut result).unwrap();
            for (k, &found) in result.iter().enumerate() {
                let [a, b, c] = [0, 1, 2].map(|row: usize| rows[row][k]);
                let expected = op.word(a, b, c);
                assert_eq!(
                    found, expected,
                    "{variant}, {op:?} of {a:#010x} {b:#010x} {c:#010x}: {found:#010x} not {expected:#010x}"
                );
            }
        }
    }
}

#[test]
fn arithmetic_in_every_mode() {
    let random = &mut Random(0x2545_F491_4F6C_DD1D);
    for format in Format::ALL {
        for rounding in Rounding::ALL {
            for ftz in [false, true] {
                for clamp in [Clamp::None, Clamp::Sat, Clamp::Relu] {
                    for kind in [HalfKind::Add, HalfKind::Mul, HalfKind::Fma] {
                        let mode = HalfMode { format, rounding, ftz, clamp };
                        check(RowOp::Half(HalfOp { kind, mode }), random, 200);
                    }
                }
            }
        }
    }
}

#[test]
fn sums_and_products_of_all_edges() {
    for format in Format::ALL {
        for rounding in Rounding::ALL {
            let op = RowOp::Half(HalfOp { kind: HalfKind::Fma, mode: HalfMode::new(format, rounding) });
            for a in EDGES {
                for b in EDGES {
                    let [a, b] = [a, b].map(|half| u32::from(half) * 0x1_0001);
                    let c = EDGES.map(|half| u32::from(half) * 0x1_0001);
                    for variant in variants() {
                        let mut result = [0; EDGES.len()];
                        apply(variant, &op, [Operand::Word(a), Operand::Word(b), Operand::Row(&c)], &mut result)
                            .unwrap();
                        assert_eq!(result, c.map(|c| op.word(a, b, c)), "{variant}, {op:?} of {a:#010x}, {b:#010x}");
                    }
                }
            }
        }
    }
}

#[test]
fn everything_else() {
    let random = &mut Random(0x9E37_79B9_7F4A_7C15);
    for format in Format::ALL {
        for ftz in [false, true] {
            for nan in [false, true] {
                check(RowOp::MinMax(HalfMinMax { format, ftz, nan }), random, 200);
            }
            for code in 0..16 {
                for lane in [0, 1] {
                    let compare = Compare::from_code(code);
                    check(RowOp::Compare(HalfCompare { format, ftz, compare }, lane), random, 50);
                }
            }
        }
        for rounding in Rounding::ALL {
            check(RowOp::Narrow(format, rounding), random, 200);
        }
        check(RowOp::Widen(format), random, 200);
    }
    for op in [RowOp::Shl, RowOp::Shr, RowOp::Sar, RowOp::MulHigh(false), RowOp::MulHigh(true), RowOp::Fma] {
        check(op, random, 100);
    }
    for rounding in Rounding::ALL {
        for kind in FloatKind::ALL {
            check(RowOp::Single(FloatOp { kind, rounding }), random, 50);
        }
        let to = NumberFormat::Int { signed: true, bits: 64 };
        for (from, to) in [
            (NumberFormat::F64, NumberFormat::F32),
            (NumberFormat::F32, NumberFormat::F64),
            (NumberFormat::F64, to),
            (to, NumberFormat::F64),
        ] {
            let op = Conversion { from, to, rounding };
            [0, 1].into_iter().for_each(|part| check(RowOp::Convert(op, part), random, 50));
        }
    }
    for (signed, remainder) in [(false, false), (false, true), (true, false), (true, true)] {
        check(RowOp::Divide(Divide { signed, remainder }), random, 100);
    }
    for kind in [VideoKind::Add, VideoKind::Sub, VideoKind::Avrg, VideoKind::AbsDiff, VideoKind::Min, VideoKind::Max] {
        check(RowOp::Bytes(kind), random, 100);
    }
}

#[test]
fn bytes_are_some_video_instructions() {
    let of = |kind, merge| RowOp::of_video(&VideoOp { merge, ..super::of_bytes(kind) });
    assert_eq!(of(VideoKind::Add, VideoMerge::Saturate), Some(RowOp::Bytes(VideoKind::Add)));
    assert_eq!(of(VideoKind::Avrg, VideoMerge::Wrap), Some(RowOp::Bytes(VideoKind::Avrg)));
    assert_eq!(of(VideoKind::Add, VideoMerge::Wrap), None);
    assert_eq!(of(VideoKind::Max, VideoMerge::Accumulate), None);
    let bytes = super::of_bytes(VideoKind::Sub);
    for other in [
        VideoOp { lanes: Lanes::Two, ..bytes },
        VideoOp { d_signed: true, ..bytes },
        VideoOp { b_signed: true, ..bytes },
        VideoOp { mask: 7, ..bytes },
        VideoOp { a_select: [1, 0, 2, 3], ..bytes },
    ] {
        assert_eq!(RowOp::of_video(&other), None);
    }
}

#[test]
fn rows_may_have_any_length_and_start_anywhere() {
    let mut random = Random(7);
    let words = [(); 80].map(|()| random.word());
    let op = RowOp::Half(HalfOp { kind: HalfKind::Fma, mode: HalfMode::new(Format::F16, Rounding::Nearest) });
    for variant in variants() {
        for length in 0..64 {
            let rows = [&words[1..], &words[2..], &words[3..]].map(|row| &row[..length]);
            let mut result = [0xAAAA_AAAA; 66];
            apply(variant, &op, rows.map(Operand::Row), &mut result[1..=length]).unwrap();
            let expected: Vec<u32> = (0..length).map(|k| op.word(rows[0][k], rows[1][k], rows[2][k])).collect();
            assert_eq!(result[1..=length], expected, "{variant}, {length} words");
            assert!(result[0] == 0xAAAA_AAAA && result[length + 1..].iter().all(|&word| word == 0xAAAA_AAAA));
        }
    }
}

/// Rows may lie in buffers of a caller, at any address. With debug assertions, an access that requires alignment fails
/// the test.
#[test]
fn rows_may_start_at_any_address() {
    const ITEMS: usize = 3 * LOT;
    let mut random = Random(11);
    let ops = [
        RowOp::Half(HalfOp { kind: HalfKind::Fma, mode: HalfMode::new(Format::F16, Rounding::Nearest) }),
        RowOp::Half(HalfOp {
            kind: HalfKind::Add,
            mode: HalfMode { ftz: true, ..HalfMode::new(Format::Bf16, Rounding::Up) },
        }),
        RowOp::Half(HalfOp {
            kind: HalfKind::Mul,
            mode: HalfMode { clamp: Clamp::Sat, ..HalfMode::new(Format::F16, Rounding::Zero) },
        }),
        RowOp::MinMax(HalfMinMax { format: Format::F16, ftz: false, nan: true }),
        RowOp::Compare(HalfCompare { format: Format::Bf16, ftz: false, compare: Compare::from_code(1) }, 1),
        RowOp::Narrow(Format::F16, Rounding::Nearest),
        RowOp::Widen(Format::Bf16),
        RowOp::Shl,
        RowOp::MulHigh(true),
        RowOp::Fma,
        RowOp::Bytes(VideoKind::AbsDiff),
    ];
    for op in ops {
        for variant in variants() {
            for start in 0..4 {
                let words = [(); 3].map(|()| [(); ITEMS].map(|()| random.word()));
                let places = [0, 1, 2].map(|k: usize| {
                    let mut place = vec![0_u8; 4 * ITEMS + 8];
                    let first = (start + k) % 4;
                    let bytes = words[k].iter().flat_map(|word| word.to_ne_bytes());
                    place[first..].iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
                    (place, first)
                });
                let mut result = [0xAA_u8; 4 * ITEMS + 8];
                let at = |k: usize| places[k].0[places[k].1..].as_ptr().cast();
                let span = (4 * ITEMS) | 7;
                // SAFETY: all rows are as long as the span states, each operand is a row, and the host supports the
                // variant.
                unsafe { variant.function(&op)(result[start..].as_mut_ptr().cast(), at(0), at(1), at(2), span, &op) };
                let (before, found) = result.split_at(start);
                let (found, after) = found.split_at(4 * ITEMS);
                let expected = (0..ITEMS).flat_map(|k| op.word(words[0][k], words[1][k], words[2][k]).to_ne_bytes());
                assert!(found.iter().copied().eq(expected), "{variant}, {op:?} at {start}");
                assert!(before.iter().chain(after).all(|&byte| byte == 0xAA), "{variant}, {op:?} at {start}");
            }
        }
    }
}

#[test]
fn the_short_comparison_finds_no_difference() {
    for variant in variants() {
        assert!(super::agree::agrees(variant), "{variant}");
    }
    assert!(Variant::best().is_here());
}

#[test]
fn what_cannot_be_applied_is_refused() {
    let operands = [Operand::Row(&[1, 2, 3]), Operand::Row(&[1, 2]), Operand::Word(0)];
    let error = apply(Variant::Portable, &RowOp::Shl, operands, &mut [0; 3]).unwrap_err();
    assert_eq!(error, RowError::Length { expected: 3, found: 2 });
    assert_eq!(error.to_string(), "a row of 2 words beside one of 3");
    for variant in Variant::ALL.into_iter().filter(|variant| !variant.is_here()) {
        let error = apply(variant, &RowOp::Shl, [Operand::Word(0); 3], &mut [0; 3]).unwrap_err();
        assert_eq!(error, RowError::Absent(variant));
    }
}
