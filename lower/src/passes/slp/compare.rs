//! Lane comparisons: finds the comparison on lanes that computes a truth value.

use halfbyte_ir::{Attr, IntCC, Op, Type, Value};

use super::lane_op::{Extension, NarrowOpFinder, int_word};
use super::slice::{Slice, are_zero, ones, source};
use super::word_of;

/// A truth value, or the complement of a truth value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Condition {
    pub of: Value,
    pub is_complement: bool,
}

impl Condition {
    /// Encodes the truth value as a slice, which is a lane of a mask. Bit number 1 stands for the complement.
    pub(super) fn lane(self) -> Slice {
        Slice::Bits { of: self.of, low: u32::from(self.is_complement) }
    }

    /// Decodes a truth value that `Condition::lane` has encoded.
    pub(super) fn of_lane(lane: Slice) -> Option<Condition> {
        match lane {
            Slice::Bits { of, low } => Some(Condition { of, is_complement: low == 1 }),
            Slice::Known(_) => None,
        }
    }
}

/// A comparison on lanes.
pub(super) struct LaneCompare {
    pub op: Op,
    pub attr: Attr,
    /// Type of the words that are compared.
    pub ty: Type,
    pub args: [Slice; 2],
}

impl LaneCompare {
    /// Swaps the operands, and adapts the condition.
    pub(super) fn exchange(&mut self) {
        self.attr = match self.attr {
            Attr::IntCC(cc) => Attr::IntCC(cc.swapped()),
            Attr::FloatCC { cc, ftz } => Attr::FloatCC { cc: cc.swapped(), ftz },
            other => other,
        };
        self.args.reverse();
    }
}

impl NarrowOpFinder<'_> {
    /// Returns the slices that a comparison compares. If `x ^ y` is compared with zero for equality, these are `x` and
    /// `y`.
    fn compared(self, cc: IntCC, [a, b]: [Slice; 2]) -> [Slice; 2] {
        let [a, b] = [a, b].map(|slice| source(self.kernel, slice, self.width));
        match (cc, a, b) {
            (IntCC::Eq | IntCC::Ne, Slice::Bits { of, low }, Slice::Known(0)) => match self.def(of) {
                Some((Op::Xor, &[x, y])) => [x, y].map(|of| Slice::Bits { of, low }),
                _ => [a, b],
            },
            _ => [a, b],
        }
    }

    /// Returns the comparison on lanes that computes a truth value.
    pub(super) fn compare(self, truth: Condition) -> Option<LaneCompare> {
        let compare = self.plain_compare(truth.of)?;
        let attr = match compare.attr {
            attr if !truth.is_complement => attr,
            Attr::IntCC(cc) => Attr::IntCC(cc.inverted()),
            Attr::FloatCC { cc, ftz } => Attr::FloatCC { cc: cc.inverted(), ftz },
            _ => return None,
        };
        Some(LaneCompare { attr, ..compare })
    }

    fn plain_compare(self, truth: Value) -> Option<LaneCompare> {
        let inst = self.kernel.def_inst(truth)?;
        let data = self.kernel.insts[inst];
        let &[a, b] = self.kernel.args(inst) else { return None };
        match (data.op, data.attr) {
            (Op::Fcmp, attr) => {
                let ty = word_of(data.ty).filter(|ty| ty.elem().bits() == self.width)?;
                Some(LaneCompare { op: Op::Fcmp, attr, ty, args: [Slice::lowest(a), Slice::lowest(b)] })
            }
            (Op::Icmp, Attr::IntCC(cc)) if data.ty.is_scalar() && data.ty.is_int() => {
                let bits = data.ty.bits();
                let made = |cc: IntCC, low: u32| LaneCompare {
                    op: Op::Icmp,
                    attr: Attr::IntCC(cc),
                    ty: int_word(self.width),
                    args: self.compared(cc, [a, b].map(|of| Slice::Bits { of, low })),
                };
                if bits < self.width {
                    return None;
                }
                if bits == self.width || self.both(a, b, Extension::Sign) {
                    return Some(made(cc, 0));
                }
                // An unsigned comparison with the greatest number below the highest lane tests if that lane is zero.
                let top = bits - self.width;
                let tests = match cc {
                    IntCC::GtU | IntCC::LeU => self.number(b) == Some(i128::from(ones(top))),
                    IntCC::GeU | IntCC::LtU => self.number(b) == Some(i128::from(ones(top)) + 1),
                    _ => false,
                };
                if tests {
                    let cc = if matches!(cc, IntCC::GtU | IntCC::GeU) { IntCC::Ne } else { IntCC::Eq };
                    let args = self.compared(cc, [Slice::Bits { of: a, low: top }, Slice::Known(0)]);
                    return Some(LaneCompare { op: Op::Icmp, attr: Attr::IntCC(cc), ty: int_word(self.width), args });
                }
                // All bits outside one lane must be zero. Only the highest lane contains the sign bit, so any other
                // lane is unsigned.
                let is_lane = |&low: &u32| {
                    let others = ones(bits) & !(ones(self.width) << low);
                    [a, b].iter().all(|&of| are_zero(self.kernel, of, others))
                };
                let low = (0..bits).step_by(self.width as usize).find(is_lane)?;
                Some(made(if low + self.width == bits { cc } else { unsigned(cc) }, low))
            }
            _ => None,
        }
    }
}

/// Replaces a signed condition by the unsigned condition with the same relation.
fn unsigned(cc: IntCC) -> IntCC {
    match cc {
        IntCC::LtS => IntCC::LtU,
        IntCC::LeS => IntCC::LeU,
        IntCC::GtS => IntCC::GtU,
        IntCC::GeS => IntCC::GeU,
        other => other,
    }
}
