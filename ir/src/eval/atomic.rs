//! Semantics of atomic read-modify-write operations.

use halfbyte_abi::Type;

use crate::attr::FloatFlags;
use crate::eval::ops::{Operand, fold};
use crate::kernel::Attr;
use crate::op::Op;

/// Computes the lanes that an atomic op writes, from the old lanes in memory and the operands
/// before the address. `flushes` is `true` for a buffer, where f32 sums flush subnormals.
pub(super) fn changed(op: Op, ty: Type, old: &[u64], values: &[Operand<'_>], flushes: bool, new: &mut [u64]) {
    let was = old.first().copied().unwrap_or(0);
    let value = |number: usize| values.get(number).and_then(|value| value.lanes.first().copied()).unwrap_or(0);
    let plain = match op {
        Op::AtomicAdd => Op::Add,
        Op::AtomicSub => Op::Sub,
        Op::AtomicMinS => Op::MinS,
        Op::AtomicMinU => Op::MinU,
        Op::AtomicMaxS => Op::MaxS,
        Op::AtomicMaxU => Op::MaxU,
        Op::AtomicAnd => Op::And,
        Op::AtomicOr => Op::Or,
        Op::AtomicXor => Op::Xor,
        Op::AtomicFadd => return add(ty, old, values, flushes && ty == Type::F32, new),
        _ => {
            let lanes = values.first().map_or(&[][..], |value| value.lanes);
            match op {
                Op::AtomicInc => new.fill(if was >= value(0) { 0 } else { was + 1 }),
                Op::AtomicDec => new.fill(if was == 0 || was > value(0) { value(0) } else { was - 1 }),
                Op::AtomicCompareExchange => {
                    let other = values.get(1).map_or(&[][..], |value| value.lanes);
                    new.copy_from_slice(if old == lanes && other.len() == new.len() { other } else { old });
                }
                _ => new.iter_mut().zip(lanes).for_each(|(new, value)| *new = *value),
            }
            return;
        }
    };
    if let Some(value) = values.first() {
        let args = [Operand { ty, lanes: old }, *value];
        let _ = fold(plain, Attr::None, &args, ty, new);
    }
}

fn add(ty: Type, old: &[u64], values: &[Operand<'_>], flushes: bool, new: &mut [u64]) {
    let Some(value) = values.first() else { return };
    let [was, by] = [old, value.lanes].map(|lanes| flushed(lanes.first().copied().unwrap_or(0), flushes));
    let [was, by] = [[was], [by]];
    let args = match flushes {
        true => [Operand { ty, lanes: &was }, Operand { ty, lanes: &by }],
        false => [Operand { ty, lanes: old }, *value],
    };
    let _ = fold(Op::Fadd, Attr::Float(FloatFlags::default()), &args, ty, new);
    if let Some(sum) = new.first_mut() {
        *sum = flushed(*sum, flushes);
    }
}

/// Flushes the bits of an `f32` to a zero of the same sign if the number is subnormal.
fn flushed(bits: u64, flushes: bool) -> u64 {
    if flushes && bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}
