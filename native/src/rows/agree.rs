//! A short comparison of a variant with the operations on one word, for hosts on which the proof
//! has not been run.

use halfbyte_isa::half::{Clamp, Compare, Format, HalfMode, Rounding};
use halfbyte_isa::halu::domain::{HalfCompare, HalfKind, HalfMinMax, HalfOp, VideoKind};

use super::{Operand, RowOp, Variant, apply};

const WORDS: usize = 64;

/// Edge cases of halves in both formats.
const EDGES: [u16; 16] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x007F, 0x0080, 0x3C00, 0xBF80, 0x7BFF, 0x7C00, 0xFF7F, 0x7F80,
    0xFF80, 0x7FFF,
];

/// Returns `true` if a variant agrees with [`RowOp::word`] on some thousand edge cases and random operands, in every
/// rounding and format. The host must support the variant.
pub(super) fn agrees(variant: Variant) -> bool {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut word = || {
        // xorshift
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match state >> 61 {
            0..3 => {
                let [low, high] = [state >> 8, state >> 16].map(|bits| EDGES[bits as usize % EDGES.len()]);
                u32::from(high) << 16 | u32::from(low)
            }
            // Few significant bits, so that ties occur.
            3..5 => state as u32 & 0xFFC0_FFC0,
            _ => state as u32,
        }
    };
    operations().all(|op| {
        let rows = [(); 3].map(|()| [(); WORDS].map(|()| word()));
        let mut result = [0; WORDS];
        let [a, b, c] = &rows;
        let applied = apply(variant, &op, [Operand::Row(a), Operand::Row(b), Operand::Row(c)], &mut result);
        let expected = a.iter().zip(b).zip(c).map(|((&a, &b), &c)| op.word(a, b, c));
        applied.is_ok() && result.iter().copied().eq(expected)
    })
}

/// Returns every kind of operation in every format and rounding. The other modifiers are set in some of the operations.
fn operations() -> impl Iterator<Item = RowOp> {
    let of_format = |format| {
        let of_rounding = move |rounding| {
            let mode = HalfMode::new(format, rounding);
            let modes =
                [mode, HalfMode { ftz: true, clamp: Clamp::Sat, ..mode }, HalfMode { clamp: Clamp::Relu, ..mode }];
            let kinds = [HalfKind::Add, HalfKind::Mul, HalfKind::Fma];
            let halves = kinds.into_iter().flat_map(move |kind| modes.map(|mode| RowOp::Half(HalfOp { kind, mode })));
            halves.chain([RowOp::Narrow(format, rounding)])
        };
        let ftz = format == Format::F16;
        let compares = Compare::ALL.map(|compare| RowOp::Compare(HalfCompare { format, ftz, compare }, 1));
        let others = [RowOp::Widen(format), RowOp::MinMax(HalfMinMax { format, ftz, nan: !ftz })];
        Rounding::ALL.into_iter().flat_map(of_rounding).chain(compares).chain(others)
    };
    use VideoKind::{AbsDiff, Add, Avrg, Max, Min, Sub};
    let bytes = [Add, Sub, Avrg, AbsDiff, Min, Max].map(RowOp::Bytes);
    let integers = [RowOp::Shl, RowOp::Shr, RowOp::Sar, RowOp::MulHigh(false), RowOp::MulHigh(true), RowOp::Fma];
    Format::ALL.into_iter().flat_map(of_format).chain(integers).chain(bytes)
}
