//! Explanations why VP1 cannot compute a narrowing of wide lanes: the op that causes the refusal,
//! and the limit that it exceeds. Used only after a kernel was refused.

use std::ops::RangeInclusive;

use cranelift_entity::EntitySet;
use halfbyte_ir::{Inst, Op, Reason, Value};

use super::super::super::Lowering;
use super::narrowing;
use super::plan::SUM_BITS;
use super::sum::{self, Quotient};
use crate::vp1::NO_WIDE_PARAMETER;
use crate::vp1::operands::Sign;

/// Maximum number of values that an explanation inspects.
const MAX_VALUES: usize = 200;

const EARLIER: &str = "narrow to bytes earlier, after a few products; or take smaller factors, and shift less";

impl Lowering<'_> {
    /// Returns the op that makes a narrowing impossible, and the reason.
    pub(in crate::vp1::lowering) fn refusal_of_narrowing(&self, inst: Inst) -> Option<(Inst, Reason)> {
        let (value, sign, _) = narrowing(self.kernel, inst)?;
        let values = self.wide_values(value);
        let found = values.iter().find_map(|&value| self.unreadable(value));
        let found = found.or_else(|| values.iter().find_map(|&value| self.too_wide(value)));
        found.or_else(|| {
            let quotient = sum::quotient(self.kernel, value)?;
            let bits = self.kernel.ty(value).elem().bits();
            let range = quotient.range(self.kernel);
            match sign.filter(|&sign| quotient.exact(self.kernel, bits, sign).is_none()) {
                Some(sign) => Some((inst, not_exact(&range, bits, sign))),
                None => Some((inst, self.no_factors(value)?)),
            }
        })
    }

    /// Returns the values with wide lanes from which a value is computed, and the value itself,
    /// operands before results. Stops at [`MAX_VALUES`] values.
    fn wide_values(&self, value: Value) -> Vec<Value> {
        let kernel = self.kernel;
        let (mut seen, mut ordered, mut open) = (EntitySet::new(), Vec::new(), vec![(value, false)]);
        while let Some((value, is_done)) = open.pop() {
            if is_done {
                ordered.push(value);
                continue;
            }
            let Some(inst) = kernel.def_inst(value).filter(|_| ordered.len() + open.len() < MAX_VALUES) else {
                continue;
            };
            if !seen.insert(value) {
                continue;
            }
            open.push((value, true));
            let wide = kernel.args(inst).iter().rev().filter(|&&arg| kernel.ty(arg).is_wide());
            open.extend(wide.map(|&arg| (arg, false)));
        }
        ordered
    }

    /// If a value is not a sum of products of bytes, returns the op that computes it and the reason.
    fn unreadable(&self, value: Value) -> Option<(Inst, Reason)> {
        let kernel = self.kernel;
        let inst = kernel.def_inst(value).filter(|_| sum::quotient(kernel, value).is_none())?;
        let bits = kernel.ty(value).elem().bits();
        let is_passed = |&arg: &Value| kernel.ty(arg).is_wide() && kernel.def_inst(arg).is_none();
        if kernel.args(inst).iter().any(is_passed) {
            return Some((inst, NO_WIDE_PARAMETER));
        }
        let reason = match (kernel.insts[inst].op, kernel.args(inst)) {
            (Op::Shl | Op::ShrS | Op::ShrU | Op::RoundShrS | Op::RoundShrU, &[_, count])
                if sum::count(kernel, count).is_none() =>
            {
                Reason::with_help(
                    "all wide lanes must be shifted by the same constant",
                    "a constant for the count: `%n = const.i16x16 3`",
                )
            }
            (op @ (Op::ShrS | Op::ShrU | Op::RoundShrS | Op::RoundShrU | Op::MulWideS | Op::MulWideU), args) => {
                let sign = if matches!(op, Op::ShrS | Op::RoundShrS | Op::MulWideS) { Sign::S } else { Sign::U };
                let quotient = args.iter().find_map(|&arg| {
                    let quotient = sum::quotient(kernel, arg)?;
                    quotient.clone().exact(kernel, kernel.ty(arg).elem().bits(), sign).is_none().then_some(quotient)
                });
                let operand = args.first().map_or(bits, |&arg| kernel.ty(arg).elem().bits());
                quotient.map_or_else(too_large, |quotient| not_exact(&quotient.range(kernel), operand, sign))
            }
            (Op::Add | Op::Sub | Op::Neg | Op::Mul | Op::Shl, _) => too_large(),
            (Op::Const, _) => Reason::with_help(
                "a constant with wide lanes must be equal in all lanes",
                "let bytes differ from lane to lane, `const.i8x16 [..]`, and extend them: `zext.i16x16`",
            ),
            _ => Reason::with_help(
                "wide lanes are supported only as sums of a few products of bytes: `add`, `sub`, `mul`, `mul_wide`, `sext`, `zext` and shifts by constants",
                "compute it on bytes, after narrowing",
            ),
        };
        Some((inst, reason))
    }

    /// If the accumulator may not hold a sum, returns the op that computes the sum and the reason.
    fn too_wide(&self, value: Value) -> Option<(Inst, Reason)> {
        let kernel = self.kernel;
        let inst = kernel.def_inst(value)?;
        let Quotient { sum, .. } = sum::quotient(kernel, value)?;
        let range = sum.range(kernel);
        let most = 1i64 << SUM_BITS;
        (*range.start() < -most || *range.end() >= most).then(|| {
            let why = format!(
                "the sum is between {} and {} here, and the accumulator of wide lanes holds {} to {}",
                range.start(),
                range.end(),
                -most,
                most - 1
            );
            (inst, Reason::from(why).help(EARLIER))
        })
    }

    /// Returns the reason why a sum that fits the accumulator cannot be computed from the products that VP1 has.
    fn no_factors(&self, value: Value) -> Option<Reason> {
        let Quotient { sum, shift } = sum::quotient(self.kernel, value)?;
        let far = sum.terms.iter().map(|term| term.times).find(|times| !(-0x100..0x100).contains(times));
        let why = match far {
            Some(times) => format!("the factor {times} is outside -256 to 255"),
            None if sum.terms.is_empty() => "it is a constant".into(),
            None => format!("no shift of the accumulator divides its sum by 2^{shift} without clipping it"),
        };
        Some(
            Reason::from(format!("wide lanes are supported only as sums of a few products of bytes: {why}"))
                .help(EARLIER),
        )
    }
}

fn too_large() -> Reason {
    Reason::with_help(
        "a sum of wide lanes has at most 16 terms, each a multiple of a byte or of a product of two, and numbers up to 2^32",
        EARLIER,
    )
}

fn not_exact(range: &RangeInclusive<i64>, bits: u32, sign: Sign) -> Reason {
    let (least, most) = match sign {
        Sign::U => (0, (1i64 << bits) - 1),
        Sign::S => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
    };
    let (start, end) = (range.start(), range.end());
    let why =
        format!("its operand is between {start} and {end}, and lanes of {bits} bits hold {least} to {most} exactly");
    let wider = if bits < 32 { "compute the sum in `i32x16` lanes, or narrow it earlier" } else { EARLIER };
    Reason::from(why).help(wider)
}
