//! Video instructions on vectors of four words.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8X16, I16X8, I32X4};
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use halfbyte_isa::halu::domain::{Lanes, VideoKind, VideoMerge, VideoOp};

use super::{cast, constant};

/// Selects bytes of two vectors by their numbers. Numbers from 16 select bytes of the second vector.
pub(super) fn shuffle(b: &mut FunctionBuilder<'_>, x: Value, y: Value, bytes: [u8; 16]) -> Value {
    let (x, y) = (cast(b, I8X16, x), cast(b, I8X16, y));
    let mask = b.func.dfg.immediates.push(bytes.to_vec().into());
    b.ins().shuffle(x, y, mask)
}

/// Selects four bytes from each pair of words, as `select` specifies.
pub(super) fn bytes(b: &mut FunctionBuilder<'_>, x: Value, y: Value, select: [u8; 4]) -> Value {
    let byte = |place: usize| {
        let byte = select[place % 4];
        (place & !3) as u8 + byte % 4 + if byte < 4 { 0 } else { 16 }
    };
    match select {
        [0, 1, 2, 3] => x,
        [4, 5, 6, 7] => y,
        _ if select.iter().all(|&byte| byte < 4) => shuffle(b, x, x, std::array::from_fn(byte)),
        _ if select.iter().all(|&byte| byte >= 4) => shuffle(b, y, y, std::array::from_fn(byte)),
        _ => shuffle(b, x, y, std::array::from_fn(byte)),
    }
}

/// Returns the byte numbers, in the pair of words, of the lanes of each operand.
pub(crate) fn picked(op: &VideoOp) -> [[u8; 4]; 2] {
    [op.a_select, op.b_select].map(|select| match op.lanes {
        Lanes::Four => select,
        Lanes::Two => [0, 1, 2, 3].map(|byte: u8| 2 * select[usize::from(byte / 2)] + byte % 2),
    })
}

/// Returns the mask of the bits of the written lanes.
pub(crate) fn written(op: &VideoOp) -> u32 {
    let lane_mask = u32::MAX >> (32 - op.lanes.bits());
    let lanes = (0..op.lanes.count()).filter(|i| op.mask >> i & 1 != 0);
    lanes.fold(0, |mask, i| mask | lane_mask << (i * op.lanes.bits()))
}

/// Returns the operation as an operation on lanes of whole words, with the numbers of its operands. Returns `None` if
/// the operation is not of this kind.
pub(crate) fn of_words(op: &VideoOp) -> Option<(LaneOp, [usize; 2])> {
    let whole = |select: [u8; 4]| match select {
        [0, 1, 2, 3] => Some(0),
        [4, 5, 6, 7] => Some(1),
        _ => None,
    };
    let [a, b] = picked(op).map(whole);
    (written(op) == u32::MAX).then_some((LaneOp::of_video(op)?, [a?, b?]))
}

/// Emits the operation for four words.
pub(super) fn video(b: &mut FunctionBuilder<'_>, op: &VideoOp, x: Value, y: Value, c: Value) -> Value {
    let [select_a, select_b] = picked(op);
    let (x, y) = (bytes(b, x, y, select_a), bytes(b, x, y, select_b));
    let mask = written(op);
    let narrow = if op.lanes == Lanes::Four { I8X16 } else { I16X8 };
    let (x, y) = (cast(b, narrow, x), cast(b, narrow, y));
    if op.merge == VideoMerge::Accumulate {
        let sum = sum(b, op, x, y, mask);
        let c = cast(b, I32X4, c);
        return b.ins().iadd(sum, c);
    }
    let result = match LaneOp::of_video(op) {
        Some(op) => op.compute(b, x, y),
        None => through_wide(b, op, x, y),
    };
    let result = cast(b, I32X4, result);
    match mask {
        u32::MAX => result,
        mask => {
            let (mask, c) = (constant(b, I32X4, mask), cast(b, I32X4, c));
            b.ins().bitselect(mask, result, c)
        }
    }
}

/// Operation on lanes that is one instruction, or few instructions, on common machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LaneOp {
    Add,
    Sub,
    AddSat {
        signed: bool,
    },
    SubSat {
        signed: bool,
    },
    /// The result is unsigned.
    AbsDiff {
        signed: bool,
    },
    Min {
        signed: bool,
    },
    Max {
        signed: bool,
    },
    /// The lanes are unsigned, and the result is rounded up.
    Average,
}

impl LaneOp {
    /// Returns the operation that computes the wrapped or saturated results of the lanes, if there is one.
    pub fn of_video(op: &VideoOp) -> Option<LaneOp> {
        let like = op.a_signed == op.b_signed;
        let signed = op.a_signed;
        let wraps = op.merge == VideoMerge::Wrap;
        // The operation saturates to the result type, as the instruction does.
        let clamps = like && op.d_signed == signed;
        Some(match op.kind {
            _ if op.merge == VideoMerge::Accumulate => return None,
            VideoKind::Add if wraps => LaneOp::Add,
            VideoKind::Sub if wraps => LaneOp::Sub,
            VideoKind::Add if clamps => LaneOp::AddSat { signed },
            VideoKind::Sub if clamps => LaneOp::SubSat { signed },
            VideoKind::AbsDiff if like && (wraps || !op.d_signed) => LaneOp::AbsDiff { signed },
            VideoKind::Min if like && (wraps || op.d_signed == signed) => LaneOp::Min { signed },
            VideoKind::Max if like && (wraps || op.d_signed == signed) => LaneOp::Max { signed },
            VideoKind::Avrg if like && !signed && (wraps || !op.d_signed) => LaneOp::Average,
            _ => return None,
        })
    }

    fn compute(self, b: &mut FunctionBuilder<'_>, x: Value, y: Value) -> Value {
        match self {
            LaneOp::Add => b.ins().iadd(x, y),
            LaneOp::Sub => b.ins().isub(x, y),
            LaneOp::AddSat { signed: true } => b.ins().sadd_sat(x, y),
            LaneOp::AddSat { signed: false } => b.ins().uadd_sat(x, y),
            LaneOp::SubSat { signed: true } => b.ins().ssub_sat(x, y),
            LaneOp::SubSat { signed: false } => b.ins().usub_sat(x, y),
            LaneOp::AbsDiff { signed } => abs_diff(b, signed, x, y),
            LaneOp::Min { signed: true } => b.ins().smin(x, y),
            LaneOp::Min { signed: false } => b.ins().umin(x, y),
            LaneOp::Max { signed: true } => b.ins().smax(x, y),
            LaneOp::Max { signed: false } => b.ins().umax(x, y),
            LaneOp::Average => b.ins().avg_round(x, y),
        }
    }
}

/// Returns `|x - y|` as unsigned lanes. The operands are both signed or both unsigned.
fn abs_diff(b: &mut FunctionBuilder<'_>, signed: bool, x: Value, y: Value) -> Value {
    if signed {
        let (most, least) = (b.ins().smax(x, y), b.ins().smin(x, y));
        b.ins().isub(most, least)
    } else {
        let (p, n) = (b.ins().usub_sat(x, y), b.ins().usub_sat(y, x));
        b.ins().bor(p, n)
    }
}

/// Computes the exact results of the low and of the high half, in lanes of twice the width.
fn wide(b: &mut FunctionBuilder<'_>, op: &VideoOp, x: Value, y: Value) -> [Value; 2] {
    let mut widen = |x: Value, signed: bool| match signed {
        true => [b.ins().swiden_low(x), b.ins().swiden_high(x)],
        false => [b.ins().uwiden_low(x), b.ins().uwiden_high(x)],
    };
    let (x, y) = (widen(x, op.a_signed), widen(y, op.b_signed));
    [0, 1].map(|half| exact(b, op.kind, x[half], y[half]))
}

/// Computes the operation in lanes that are wide enough for the result.
fn exact(b: &mut FunctionBuilder<'_>, kind: VideoKind, x: Value, y: Value) -> Value {
    match kind {
        VideoKind::Add => b.ins().iadd(x, y),
        VideoKind::Sub => b.ins().isub(x, y),
        VideoKind::AbsDiff => {
            let (most, least) = (b.ins().smax(x, y), b.ins().smin(x, y));
            b.ins().isub(most, least)
        }
        VideoKind::Min => b.ins().smin(x, y),
        VideoKind::Max => b.ins().smax(x, y),
        VideoKind::Avrg => {
            let sum = b.ins().iadd(x, y);
            let ty = b.func.dfg.value_type(sum);
            let zero = constant(b, ty, 0);
            // A true comparison is all ones, which is -1.
            let negative = b.ins().icmp(IntCC::SignedLessThan, sum, zero);
            let ones = constant(b, ty, u32::MAX);
            let add = b.ins().isub(negative, ones);
            let sum = b.ins().iadd(sum, add);
            b.ins().sshr_imm_s(sum, 1)
        }
    }
}

/// Computes the results of the lanes from the exact results.
fn through_wide(b: &mut FunctionBuilder<'_>, op: &VideoOp, x: Value, y: Value) -> Value {
    let [low, high] = wide(b, op, x, y);
    if op.merge == VideoMerge::Wrap {
        let (ty, kept) = if op.lanes == Lanes::Four { (I16X8, 0x00FF_00FF) } else { (I32X4, 0xFFFF) };
        let kept = constant(b, ty, kept);
        let (low, high) = (b.ins().band(low, kept), b.ins().band(high, kept));
        b.ins().unarrow(low, high)
    } else if op.d_signed {
        b.ins().snarrow(low, high)
    } else {
        b.ins().unarrow(low, high)
    }
}

/// Returns the sum, for each word, of the exact results of the lanes in the mask.
fn sum(b: &mut FunctionBuilder<'_>, op: &VideoOp, x: Value, y: Value, mask: u32) -> Value {
    let like = op.a_signed == op.b_signed;
    let unsigned = match op.kind {
        VideoKind::AbsDiff if like => Some(abs_diff(b, op.a_signed, x, y)),
        VideoKind::Min if like && !op.a_signed => Some(b.ins().umin(x, y)),
        VideoKind::Max if like && !op.a_signed => Some(b.ins().umax(x, y)),
        VideoKind::Avrg if like && !op.a_signed => Some(b.ins().avg_round(x, y)),
        _ => None,
    };
    if let Some(lanes) = unsigned {
        let ty = b.func.dfg.value_type(lanes);
        let kept = constant(b, ty, mask);
        let mut lanes = if mask == u32::MAX { lanes } else { b.ins().band(lanes, kept) };
        while b.func.dfg.value_type(lanes) != I32X4 {
            let (low, high) = (b.ins().uwiden_low(lanes), b.ins().uwiden_high(lanes));
            lanes = b.ins().iadd_pairwise(low, high);
        }
        return lanes;
    }
    let [low, high] = wide(b, op, x, y);
    let ty = b.func.dfg.value_type(x);
    let kept = constant(b, ty, mask);
    let (kept_low, kept_high) = (b.ins().swiden_low(kept), b.ins().swiden_high(kept));
    let (low, high) = (b.ins().band(low, kept_low), b.ins().band(high, kept_high));
    if op.lanes == Lanes::Two {
        return b.ins().iadd_pairwise(low, high);
    }
    let mut pairs = |lanes: Value| {
        let (low, high) = (b.ins().swiden_low(lanes), b.ins().swiden_high(lanes));
        b.ins().iadd_pairwise(low, high)
    };
    let (low, high) = (pairs(low), pairs(high));
    b.ins().iadd_pairwise(low, high)
}
