//! Random loops, compared with a scalar evaluation of their operations.
#![allow(clippy::unwrap_used)]

use std::cmp::Ordering;

use halfbyte_isa::half::{Compare, Format, HalfMode, Rounding};
use halfbyte_isa::halu::domain::{HalfKind, HalfOp};

use super::*;
use crate::clif::NativeBuilder;
use crate::rows::{Operand, RowOp, Variant, apply};
use crate::x86::vector::*;

/// Operation on earlier values, which are identified by their numbers.
#[derive(Clone, Copy, Debug)]
enum Op {
    Lanes(LaneOp, Width),
    Words(&'static Row),
    Shift(Shift, u32),
    Select,
    /// Operation on floats with canonical NaNs.
    Floats(&'static Row),
    MultiplyAdd,
    Float,
    Compare(Compare),
    Root,
    Not,
    /// Comparison of unsigned words.
    Less,
    Half(HalfOp),
    /// Number of the item.
    Numbers,
    /// Shift by a variable count, the highest bits of a word.
    By(&'static Row),
}

const LANE_OPS: [LaneOp; 13] = [
    LaneOp::Add,
    LaneOp::Sub,
    LaneOp::AddSat { signed: false },
    LaneOp::AddSat { signed: true },
    LaneOp::SubSat { signed: false },
    LaneOp::SubSat { signed: true },
    LaneOp::AbsDiff { signed: false },
    LaneOp::AbsDiff { signed: true },
    LaneOp::Min { signed: false },
    LaneOp::Min { signed: true },
    LaneOp::Max { signed: false },
    LaneOp::Max { signed: true },
    LaneOp::Average,
];
const WIDTHS: [Width; 3] = [Width::B8, Width::B16, Width::B32];
const WORDS: [&Row; 6] = [&VPAND, &VPOR, &VPXOR, &VPMULLD, &VPCMPEQD, &VPCMPGTD];
const FLOATS: [&Row; 3] = [&VADDPS, &VMULPS, &VDIVPS];
const BY: [&Row; 3] = [&VPSLLVD, &VPSRLVD, &VPSRAVD];
const SHIFTS: [Shift; 3] = [Shift::Left, Shift::Right, Shift::Arithmetic];

/// Evaluates an operation on a lane with `bits` bits.
fn lane(op: LaneOp, bits: u32, a: u32, b: u32) -> u32 {
    let signed = |x: u32| i64::from((x << (32 - bits)) as i32 >> (32 - bits));
    let number = |is_signed: bool, x: u32| if is_signed { signed(x) } else { x.into() };
    let range =
        |is_signed: bool| if is_signed { (-1 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let clamp = |is_signed: bool, x: i64| x.clamp(range(is_signed).0, range(is_signed).1);
    let of = |is_signed: bool| (number(is_signed, a), number(is_signed, b));
    let result = match op {
        LaneOp::Add => of(false).0 + of(false).1,
        LaneOp::Sub => of(false).0 - of(false).1,
        LaneOp::AddSat { signed } => clamp(signed, of(signed).0 + of(signed).1),
        LaneOp::SubSat { signed } => clamp(signed, of(signed).0 - of(signed).1),
        LaneOp::AbsDiff { signed } => (of(signed).0 - of(signed).1).abs(),
        LaneOp::Min { signed } => of(signed).0.min(of(signed).1),
        LaneOp::Max { signed } => of(signed).0.max(of(signed).1),
        LaneOp::Average => (of(false).0 + of(false).1 + 1) >> 1,
    };
    result as u32 & (u32::MAX >> (32 - bits))
}

/// Returns the bits of a float, with canonical NaNs.
fn bits(float: f32) -> u32 {
    if float.is_nan() { NAN } else { float.to_bits() }
}

fn word(op: Op, [a, b, c]: [u32; 3]) -> u32 {
    let [x, y, z] = [a, b, c].map(f32::from_bits);
    match op {
        Op::Floats(&VADDPS) => bits(x + y),
        Op::Floats(&VMULPS) => bits(x * y),
        Op::Floats(_) => bits(x / y),
        Op::MultiplyAdd => bits(x.mul_add(y, z)),
        Op::Float => (a as i32 as f32).to_bits(),
        Op::Root => bits(x.sqrt()),
        Op::Not => !a,
        Op::Half(op) => RowOp::Half(op).word(a, b, c),
        Op::Numbers => 0,
        Op::By(&VPSLLVD) => a << (b >> 27),
        Op::By(&VPSRLVD) => a >> (b >> 27),
        Op::By(_) => (a as i32 >> (b >> 27)) as u32,
        Op::Less => u32::from(a < b).wrapping_neg(),
        Op::Compare(compare) => {
            let which = match x.partial_cmp(&y) {
                Some(Ordering::Less) => 1,
                Some(Ordering::Equal) => 2,
                Some(Ordering::Greater) => 4,
                None => 8,
            };
            u32::from(compare.code() & which != 0).wrapping_neg()
        }
        Op::Lanes(op, width) => {
            let bits = match width {
                Width::B8 => 8,
                Width::B16 => 16,
                Width::B32 => 32,
            };
            let mask = u32::MAX >> (32 - bits);
            let lanes = (0..32).step_by(bits as usize);
            lanes.fold(0, |word, at| word | lane(op, bits, a >> at & mask, b >> at & mask) << at)
        }
        Op::Words(&VPAND) => a & b,
        Op::Words(&VPOR) => a | b,
        Op::Words(&VPXOR) => a ^ b,
        Op::Words(&VPMULLD | &VPMULLW) => a.wrapping_mul(b),
        Op::Words(&VPCMPEQD) => u32::from(a == b).wrapping_neg(),
        Op::Words(_) => u32::from(a as i32 > b as i32).wrapping_neg(),
        Op::Shift(Shift::Left, count) => a << count,
        Op::Shift(Shift::Right, count) => a >> count,
        Op::Shift(Shift::Arithmetic, count) => (a as i32 >> count) as u32,
        // `vpblendvb` selects by the highest bit of each byte. Compiled blocks pass only all ones or zero.
        Op::Select => (0..4).fold(0, |word, byte| {
            let mask = 0xFF << (8 * byte);
            word | mask & if a >> (8 * byte + 7) & 1 != 0 { b } else { c }
        }),
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }

    fn word(&mut self) -> u32 {
        let edges = [
            0,
            0x7BFF_0001,
            0x03FF_0400,
            0xFBFF_8001,
            0x7C00_FC00,
            0x3C00_1001,
            0x7F80_00FF,
            0x8000_7FFF,
            u32::MAX,
            0x0101_FEFE,
            0x8080_8080,
            0x3F80_0000,
            0xFF80_0000,
        ];
        if self.below(3) == 0 { edges[self.below(edges.len())] } else { self.next() as u32 }
    }
}

const NAN: u32 = 0x7FFF_FFFF;
const NAN_HALVES: u32 = 0x7FFF_7FFF;

/// Items of a row: a whole number of chunks.
const ITEMS: usize = 48;

impl Width {
    /// Returns an item of a row with this item width.
    fn get(self, row: &[u8], item: usize, signed: bool) -> u32 {
        let at = item * usize::from(self.bytes());
        match (self, signed) {
            (Width::B8, false) => row[at].into(),
            (Width::B8, true) => row[at].cast_signed() as u32,
            (Width::B16, false) => u16::from_le_bytes([row[at], row[at + 1]]).into(),
            (Width::B16, true) => i16::from_le_bytes([row[at], row[at + 1]]) as u32,
            (Width::B32, _) => u32::from_le_bytes(row[at..at + 4].try_into().unwrap()),
        }
    }

    fn mask(self) -> u32 {
        u32::MAX >> (32 - 8 * u32::from(self.bytes()))
    }
}

/// Returns a random operation on lanes of 16 bits.
fn narrow_op(random: &mut Random) -> Op {
    match random.below(4) {
        0 => Op::Words([&VPAND, &VPOR, &VPXOR, &VPMULLW][random.below(4)]),
        1 => Op::Shift(SHIFTS[random.below(2)], random.below(16) as u32),
        _ => Op::Lanes(LANE_OPS[random.below(LANE_OPS.len())], Width::B16),
    }
}

/// Creates, runs and checks a random loop.
fn check(random: &mut Random, halves: &[HalfOp]) {
    let lane = [Width::B16, Width::B32, Width::B32][random.below(3)];
    let mut wide = Loop::new(lane);
    // Some loops have more uniform words than stay in registers.
    let (reads, writes, words) = (random.below(6) + 1, random.below(4) + 1, random.below(9) + 2);
    let (begin, end) = [(0, ITEMS), (16, ITEMS), (16, 32), (0, 16)][random.below(4)];
    let mut steps: Vec<Step> = Vec::new();
    let mut values: Vec<Vec<u32>> = Vec::new();
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let narrower: Vec<Width> = WIDTHS.into_iter().filter(|item| *item <= lane).collect();
    for _ in 0..reads {
        let (row, item, signed) = (wide.row().unwrap(), narrower[random.below(narrower.len())], random.below(2) == 0);
        steps.push(wide.load(Place { row, at: 0, item }, signed));
        // Rows are unaligned: the first byte is skipped.
        let bytes: Vec<u8> = (0..=ITEMS).flat_map(|_| random.word().to_le_bytes()).collect();
        values.push((0..ITEMS).map(|at| item.get(&bytes[1..], at, signed) & lane.mask()).collect());
        rows.push(bytes);
    }
    // The first two words are the canonical NaNs of floats and of halves.
    let same: Vec<u32> = [NAN, NAN_HALVES].into_iter().chain((2..words).map(|_| random.word())).collect();
    // Each word is a constant, a word in a row of its own, or a word of the table.
    let (fixed, mut in_table) = (wide.row().unwrap(), Vec::new());
    for (at, &word) in (0..).step_by(4).zip(&same) {
        steps.push(match random.below(3) {
            0 => wide.constant(word),
            1 => wide.same(Place { row: fixed, at, item: Width::B32 }),
            _ => {
                in_table.push(word);
                wide.word().unwrap()
            }
        });
        let of_item = |item: usize| if lane == Width::B16 { word >> (16 * (item % 2)) & 0xFFFF } else { word };
        values.push((0..ITEMS).map(of_item).collect());
    }
    // Loops with many values need more registers than exist, or have one vector per iteration.
    for _ in 0..random.below(60) + 1 {
        let op = match random.below(19) {
            _ if lane == Width::B16 => narrow_op(random),
            15 | 16 if !halves.is_empty() => Op::Half(halves[random.below(halves.len())]),
            17 => Op::Numbers,
            18 => Op::By(BY[random.below(3)]),
            11 => Op::Compare(Compare::from_code(random.below(16) as u64)),
            12 => Op::Root,
            13 => Op::Not,
            14 => Op::Less,
            8 => Op::Floats(FLOATS[random.below(FLOATS.len())]),
            9 => Op::MultiplyAdd,
            10 => Op::Float,
            0 => Op::Words(WORDS[random.below(WORDS.len())]),
            1 => Op::Shift(SHIFTS[random.below(3)], random.below(32) as u32),
            2 => Op::Select,
            _ => Op::Lanes(LANE_OPS[random.below(LANE_OPS.len())], WIDTHS[random.below(3)]),
        };
        let args = [(); 3].map(|()| random.below(steps.len()));
        let [a, b, c] = args.map(|arg| steps[arg]);
        let step = match op {
            Op::Lanes(op, width) => match wide.lanes(op, width, a, b) {
                Some(step) => step,
                None => continue,
            },
            Op::Words(op) => wide.binary(op, a, b),
            Op::Shift(shift, count) => wide.shift(shift, a, count),
            Op::Select => wide.select(a, b, c),
            Op::Floats(op) => {
                let float = wide.binary(op, a, b);
                wide.or_if_nan(float, steps[reads])
            }
            Op::MultiplyAdd => {
                let float = wide.multiply_add(a, b, c);
                wide.or_if_nan(float, steps[reads])
            }
            Op::Float => wide.float(a),
            Op::Compare(compare) => wide.compare(Predicate::of(compare), a, b),
            Op::Root => {
                let root = wide.root(a);
                wide.or_if_nan(root, steps[reads])
            }
            Op::Not => wide.not(a),
            Op::Numbers => wide.numbers(),
            Op::Half(op) => wide.half(HalfStep::of(&op).unwrap(), [a, b, c], steps[reads + 1]),
            Op::By(op) => {
                let count = wide.shift(Shift::Right, b, 27);
                wide.binary(op, a, count)
            }
            Op::Less => wide.less(a, b),
        };
        let of_item = |item: usize| match op {
            Op::Numbers => item as u32,
            op => word(op, args.map(|arg| values[arg][item])) & lane.mask(),
        };
        values.push((0..ITEMS).map(of_item).collect());
        steps.push(step);
    }
    let mut expected = Vec::new();
    for _ in 0..writes {
        let (row, item) = (wide.row().unwrap(), narrower[random.below(narrower.len())]);
        let small: Vec<usize> = (0..steps.len()).filter(|&of| values[of].iter().all(|&v| v <= item.mask())).collect();
        let Some(&value) = small.get(random.below(small.len().max(1))) else { continue };
        wide.store(Place { row, at: 0, item }, steps[value]);
        rows.push(vec![0; 4 * (ITEMS + 1)]);
        expected.push((row, item, &values[value]));
    }
    let (code, bytes) = wide.code().unwrap();
    let mut builder = NativeBuilder::new().unwrap();
    let id = builder.define_code(&code).unwrap();
    let code = builder.finish().unwrap();
    let mut table: Vec<u64> = vec![0; bytes as usize / 8];
    let written = expected.iter().map(|(row, ..)| *row);
    for (row, bytes) in (0..reads as u8).chain(written).zip(&mut rows) {
        table[usize::from(row)] = bytes[1..].as_mut_ptr().expose_provenance() as u64;
    }
    table[usize::from(fixed)] = same.as_ptr().expose_provenance() as u64;
    for (number, &word) in (0..).zip(&in_table) {
        table[wide.table().word(number) as usize / 8] = word.into();
    }
    let address = code.address(id).unwrap();
    // SAFETY: the code is the function of the loop. Its table and its rows have the required sizes.
    unsafe {
        let function = std::mem::transmute::<*const u8, unsafe extern "sysv64" fn(*mut u64, usize, usize)>(address);
        function(table.as_mut_ptr(), 4 * begin, 4 * end);
    }
    for (row, (_, item, expected)) in rows[reads..].iter().zip(&expected) {
        let found: Vec<u32> = (begin..end).map(|at| item.get(&row[1..], at, false)).collect();
        assert_eq!(found, &expected[begin..end], "{wide:?}");
        let [begin, end] = [begin, end].map(|at| 1 + at * usize::from(item.bytes()));
        assert!(row[..begin].iter().chain(&row[end..]).all(|&byte| byte == 0), "{wide:?}");
    }
}

#[test]
fn loops_do_what_their_operations_say() {
    if !is_here() {
        return;
    }
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let halves = halves();
    (0..4000).for_each(|_| check(&mut random, &halves));
}

#[test]
fn rows_and_words_are_bounded() {
    let mut wide = Loop::new(Width::B32);
    assert_eq!((0..80).filter_map(|_| wide.row()).count(), MOST_ROWS);
    assert_eq!((0..80).filter_map(|_| wide.word()).count(), MOST_WORDS);
}

/// Returns the half operations that loops support on this machine.
fn halves() -> Vec<HalfOp> {
    Rounding::ALL
        .into_iter()
        .flat_map(|rounding| [HalfKind::Add, HalfKind::Mul, HalfKind::Fma].map(|kind| (kind, rounding)))
        .map(|(kind, rounding)| HalfOp { kind, mode: HalfMode::new(Format::F16, rounding) })
        .filter(|op| has_halves() && HalfStep::of(op).is_some())
        .collect()
}

/// The row functions themselves are proved against exact arithmetic (`halfbyte prove engine`).
#[test]
fn halves_of_loops_are_those_of_rows() {
    const ALL: usize = 1 << 16;
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for op in halves() {
        let mut wide = Loop::new(Width::B32);
        let args = [(); 3].map(|()| {
            let row = wide.row().unwrap();
            wide.load(Place { row, at: 0, item: Width::B32 }, false)
        });
        let nan = wide.word().unwrap();
        let step = wide.half(HalfStep::of(&op).unwrap(), args, nan);
        let row = wide.row().unwrap();
        wide.store(Place { row, at: 0, item: Width::B32 }, step);
        let (code, bytes) = wide.code().unwrap();
        let mut builder = NativeBuilder::new().unwrap();
        let id = builder.define_code(&code).unwrap();
        let code = builder.finish().unwrap();
        let address = code.address(id).unwrap();
        // Every half is the first operand of each lane once.
        let a: Vec<u32> = (0..ALL as u32).map(|half| half | (half ^ 0x5A5A) << 16).collect();
        for _ in 0..24 {
            let [b, c] = [(); 2].map(|()| (0..ALL).map(|_| random.word()).collect::<Vec<u32>>());
            let [mut found, mut expected] = [(); 2].map(|()| vec![0_u32; ALL]);
            let rows = [a.as_ptr(), b.as_ptr(), c.as_ptr(), found.as_mut_ptr().cast_const()];
            let mut table: Vec<u64> = rows.map(|row| row.expose_provenance() as u64).to_vec();
            table.push(NAN_HALVES.into());
            table.resize(bytes as usize / 8, 0);
            // SAFETY: the code is the function of the loop. Its table and its rows have the required sizes.
            unsafe {
                let function =
                    std::mem::transmute::<*const u8, unsafe extern "sysv64" fn(*mut u64, usize, usize)>(address);
                function(table.as_mut_ptr(), 0, 4 * ALL);
            }
            let operands = [&a, &b, &c].map(|row| Operand::Row(row));
            apply(Variant::Avx2, &RowOp::Half(op), operands, &mut expected).unwrap();
            assert!(found == expected, "{op:?}");
        }
    }
}
