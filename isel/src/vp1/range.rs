//! Value ranges of 32-bit integers.

use std::ops::RangeInclusive;

use halfbyte_ir::{Kernel, Op, Type, Value};

/// Maximum number of nested ops that the range analysis inspects.
const MAX_DEPTH: u32 = 4;

/// Returns the value range of a scalar, read as a signed 32-bit integer. A scalar of unknown range,
/// or with fewer than 32 bits, has the full range.
pub(crate) fn range(kernel: &Kernel, value: Value) -> RangeInclusive<i64> {
    known(kernel, value, MAX_DEPTH).unwrap_or(i64::from(i32::MIN)..=i64::from(i32::MAX))
}

fn known(kernel: &Kernel, value: Value, depth: u32) -> Option<RangeInclusive<i64>> {
    if kernel.ty(value) != Type::I32 || depth == 0 {
        return None;
    }
    let inst = kernel.def_inst(value)?;
    let data = &kernel.insts[inst];
    let inner = |value| known(kernel, value, depth - 1);
    let within = |from: i64, to: i64| (i32::try_from(from).is_ok() && i32::try_from(to).is_ok()).then_some(from..=to);
    let both = |a: Value, b: Value| Some((inner(a)?, inner(b)?));
    match (data.op, kernel.args(inst)) {
        (Op::Const, _) => {
            let bits = kernel.const_bits(inst)?;
            let number = i64::from(bits[0] as i32);
            Some(number..=number)
        }
        (Op::Zext, &[narrow]) => Some(0..=(1 << kernel.ty(narrow).bits()) - 1),
        (Op::Sext, &[narrow]) => {
            let half = 1 << (kernel.ty(narrow).bits() - 1);
            Some(-half..=half - 1)
        }
        (Op::And, &[a, b]) => {
            let most = |value| inner(value).filter(|range| *range.start() >= 0).map(|range| *range.end());
            match (most(a), most(b)) {
                (Some(a), Some(b)) => Some(0..=a.min(b)),
                (Some(most), None) | (None, Some(most)) => Some(0..=most),
                (None, None) => None,
            }
        }
        (Op::ShrU, &[a, n]) => {
            let count = *inner(n)?.start() & 31;
            match inner(a).filter(|range| *range.start() >= 0) {
                Some(range) if constant(kernel, n) => Some(range.start() >> count..=range.end() >> count),
                _ if constant(kernel, n) && count > 0 => Some(0..=i64::from(u32::MAX >> count)),
                _ => None,
            }
        }
        (Op::ShrS, &[a, n]) if constant(kernel, n) => {
            let count = *inner(n)?.start() & 31;
            let range = inner(a).unwrap_or(i64::from(i32::MIN)..=i64::from(i32::MAX));
            Some(range.start() >> count..=range.end() >> count)
        }
        (Op::Add, &[a, b]) => {
            let (a, b) = both(a, b)?;
            within(a.start() + b.start(), a.end() + b.end())
        }
        (Op::Sub, &[a, b]) => {
            let (a, b) = both(a, b)?;
            within(a.start() - b.end(), a.end() - b.start())
        }
        (Op::Mul, &[a, b]) => {
            let (a, b) = both(a, b)?;
            let ends = [a.start() * b.start(), a.start() * b.end(), a.end() * b.start(), a.end() * b.end()];
            within(ends.into_iter().min()?, ends.into_iter().max()?)
        }
        (Op::MinS, &[a, b]) => {
            let all = i64::from(i32::MIN)..=i64::from(i32::MAX);
            let (a, b) = (inner(a).unwrap_or(all.clone()), inner(b).unwrap_or(all));
            Some(*a.start().min(b.start())..=*a.end().min(b.end()))
        }
        (Op::MaxS, &[a, b]) => {
            let all = i64::from(i32::MIN)..=i64::from(i32::MAX);
            let (a, b) = (inner(a).unwrap_or(all.clone()), inner(b).unwrap_or(all));
            Some(*a.start().max(b.start())..=*a.end().max(b.end()))
        }
        (Op::Select, &[_, a, b]) => {
            let (a, b) = both(a, b)?;
            Some(*a.start().min(b.start())..=*a.end().max(b.end()))
        }
        (Op::ReduceAddU, &[vector]) => {
            Some(0..=255 * kernel.ty(vector).lanes() as i64).filter(|_| is_bytes(kernel, vector))
        }
        _ => None,
    }
}

fn is_bytes(kernel: &Kernel, vector: Value) -> bool {
    kernel.ty(vector).elem().bits() == 8
}

fn constant(kernel: &Kernel, value: Value) -> bool {
    kernel.def_inst(value).is_some_and(|inst| kernel.insts[inst].op == Op::Const)
}
