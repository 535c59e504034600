//! Semantics of every pure op, computed on lanes.

use halfbyte_abi::{Elem, Type};

use crate::attr::{FloatFlags, IntCC};
use crate::eval::{float, lanes};
use crate::kernel::Attr;
use crate::op::Op;

/// Operand of an op: its type and its lanes, lane 0 first. Each lane is a `u64` that holds the
/// lane's bits, zero-extended.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a> {
    /// Type of the operand.
    pub ty: Type,
    /// Lanes of the operand, as many as its type has.
    pub lanes: &'a [u64],
}

/// Evaluates an op whose result depends only on its attribute and operands. Returns `false` for any other op.
///
/// `result` is the result type, and `out` has one entry for each of its lanes. The types must match the op's
/// description, which the verifier checks; missing lanes are zero. The function returns `false` and does not change
/// `out` for `const` (which carries its value), position ops, intrinsics, memory ops and control flow. It ignores
/// `contract`, which depends on the definitions of the operands.
#[must_use]
pub fn fold(op: Op, attr: Attr, args: &[Operand<'_>], result: Type, out: &mut [u64]) -> bool {
    let to = result.elem();
    let from = args.first().map_or(to, |arg| arg.ty.elem());
    let width = from.bits();
    let count = |b: i128| b & i128::from(width - 1);
    let flags = match attr {
        Attr::Float(flags) => flags,
        _ => FloatFlags::default(),
    };
    let part = match attr {
        Attr::Lane(lane) => usize::from(lane),
        _ => 0,
    };
    let mut f = Fold { args, to, out };
    match op {
        Op::Add => f.ints(unsigned, |[a, b]| a + b),
        Op::Sub => f.ints(unsigned, |[a, b]| a - b),
        Op::Mul => f.ints(signed, |[a, b]| a * b),
        Op::MulHiS => f.ints(signed, |[a, b]| (a * b) >> width),
        Op::MulHiU => f.ints(unsigned, |[a, b]| ((a.cast_unsigned() * b.cast_unsigned()) >> width).cast_signed()),
        Op::MulWideS => f.ints(signed, |[a, b]| a * b),
        Op::MulWideU => f.ints(unsigned, |[a, b]| a * b),
        Op::DivS => f.ints(signed, |[a, b]| a.checked_div(b).unwrap_or(-1)),
        Op::DivU => f.ints(unsigned, |[a, b]| a.checked_div(b).unwrap_or(-1)),
        Op::RemS => f.ints(signed, |[a, b]| a.checked_rem(b).unwrap_or(-1)),
        Op::RemU => f.ints(unsigned, |[a, b]| a.checked_rem(b).unwrap_or(-1)),
        Op::AddSatS => f.ints(signed, |[a, b]| clamp_s(to, a + b)),
        Op::AddSatU => f.ints(unsigned, |[a, b]| clamp_u(to, a + b)),
        Op::SubSatS => f.ints(signed, |[a, b]| clamp_s(to, a - b)),
        Op::SubSatU => f.ints(unsigned, |[a, b]| clamp_u(to, a - b)),
        Op::AvgS => f.ints(signed, |[a, b]| {
            let sum = a + b;
            (sum + i128::from(sum >= 0)) >> 1
        }),
        Op::AvgU => f.ints(unsigned, |[a, b]| (a + b + 1) >> 1),
        Op::AbsDiffS => f.ints(signed, |[a, b]| (a - b).abs()),
        Op::AbsDiffU => f.ints(unsigned, |[a, b]| (a - b).abs()),
        Op::MinS => f.ints(signed, |[a, b]| a.min(b)),
        Op::MinU => f.ints(unsigned, |[a, b]| a.min(b)),
        Op::MaxS => f.ints(signed, |[a, b]| a.max(b)),
        Op::MaxU => f.ints(unsigned, |[a, b]| a.max(b)),
        Op::Neg => f.ints(signed, |[a]| -a),
        Op::Abs => f.ints(signed, |[a]| a.abs()),
        Op::Shl => f.ints(unsigned, |[a, b]| a << count(b)),
        Op::ShrS => f.ints(signed, |[a, b]| a >> count(b)),
        Op::ShrU => f.ints(unsigned, |[a, b]| a >> count(b)),
        Op::RoundShrS => f.ints(signed, |[a, b]| round_shr(a, count(b))),
        Op::RoundShrU => f.ints(unsigned, |[a, b]| round_shr(a, count(b))),
        Op::Rotl => f.ints(unsigned, |[a, b]| rotl(a, count(b), width)),
        Op::Rotr => f.ints(unsigned, |[a, b]| rotl(a, count(-b), width)),
        Op::Popcount => f.bits(|[a]| u64::from(a.count_ones())),
        Op::Clz => f.bits(|[a]| u64::from(a.leading_zeros() - (64 - width))),
        Op::Ctz => f.bits(|[a]| u64::from(a.trailing_zeros().min(width))),
        Op::BitReverse => f.bits(|[a]| a.reverse_bits() >> (64 - width)),
        Op::And => f.bits(|[a, b]| a & b),
        Op::Or => f.bits(|[a, b]| a | b),
        Op::Xor => f.bits(|[a, b]| a ^ b),
        Op::Not => f.bits(|[a]| !a),
        Op::Icmp => {
            let Attr::IntCC(cc) = attr else { return false };
            match cc {
                IntCC::Eq => f.bits(|[a, b]| u64::from(a == b)),
                IntCC::Ne => f.bits(|[a, b]| u64::from(a != b)),
                IntCC::LtS => f.ints(signed, |[a, b]| i128::from(a < b)),
                IntCC::LeS => f.ints(signed, |[a, b]| i128::from(a <= b)),
                IntCC::GtS => f.ints(signed, |[a, b]| i128::from(a > b)),
                IntCC::GeS => f.ints(signed, |[a, b]| i128::from(a >= b)),
                IntCC::LtU => f.bits(|[a, b]| u64::from(a < b)),
                IntCC::LeU => f.bits(|[a, b]| u64::from(a <= b)),
                IntCC::GtU => f.bits(|[a, b]| u64::from(a > b)),
                IntCC::GeU => f.bits(|[a, b]| u64::from(a >= b)),
            }
        }
        Op::Select => {
            let one_for_all = args.first().is_some_and(|cond| cond.ty.is_scalar());
            f.each(|f, i| {
                let cond = f.lane(0, if one_for_all { 0 } else { i });
                f.lane(if cond != 0 { 1 } else { 2 }, i)
            });
        }

        Op::SadS => f.sad(signed),
        Op::SadU => f.sad(unsigned),
        Op::Dot4S | Op::Dot2S => f.dot(signed, signed),
        Op::Dot4U | Op::Dot2U => f.dot(unsigned, unsigned),
        Op::Dot4SU | Op::Dot2SU => f.dot(signed, unsigned),
        Op::ReduceAddS => f.reduce(signed, |a, b| a + b),
        Op::ReduceAddU => f.reduce(unsigned, |a, b| a + b),
        Op::ReduceMinS => f.reduce(signed, i128::min),
        Op::ReduceMinU => f.reduce(unsigned, i128::min),
        Op::ReduceMaxS => f.reduce(signed, i128::max),
        Op::ReduceMaxU => f.reduce(unsigned, i128::max),
        Op::Any => f.reduce(unsigned, |a, b| a | b),
        Op::All => f.reduce(unsigned, |a, b| a & b),
        Op::Sext => f.ints(signed, |[a]| a),
        Op::Zext | Op::Trunc => f.ints(unsigned, |[a]| a),
        Op::NarrowSatS => f.ints(signed, |[a]| clamp_s(to, a)),
        Op::NarrowSatU => f.ints(signed, |[a]| clamp_u(to, a)),
        Op::NarrowSatUU => f.ints(unsigned, |[a]| clamp_u(to, a)),
        Op::MaskExpand => f.ints(unsigned, |[a]| -a),

        Op::Fadd => f.bits(|operands| float::add(to, flags, operands)),
        Op::Fsub => f.bits(|operands| float::sub(to, flags, operands)),
        Op::Fmul => f.bits(|operands| float::mul(to, flags, operands)),
        Op::Ffma => f.bits(|operands| float::fma(to, flags, operands)),
        Op::Fneg => f.bits(|[a]| float::neg(to, a)),
        Op::Fabs => f.bits(|[a]| float::abs(to, a)),
        Op::Fmin => f.bits(|operands| float::min_max(to, flags, false, operands)),
        Op::Fmax => f.bits(|operands| float::min_max(to, flags, true, operands)),
        Op::Fcmp | Op::Fset => {
            let Attr::FloatCC { cc, ftz } = attr else {
                return false;
            };
            f.bits(|operands| {
                let holds = float::compare(from, cc, ftz, operands);
                match op {
                    Op::Fset => float::truth(to, holds),
                    _ => u64::from(holds),
                }
            });
        }
        Op::Fdiv => f.bits(|operands| float::div(to, flags, operands)),
        Op::Fsqrt => f.bits(|[a]| float::sqrt(to, flags, a)),
        Op::Fexp2 | Op::Flog2 | Op::Frsqrt | Op::Fsin | Op::Fcos | Op::Ftanh => {
            f.bits(|[a]| float::elementary(op, to, a));
        }
        Op::Fcvt => f.bits(|[a]| float::convert(from, to, flags.rounding, a)),
        Op::FcvtFromS => f.bits(|[a]| float::from_int(to, flags.rounding, signed(a, from))),
        Op::FcvtFromU => f.bits(|[a]| float::from_int(to, flags.rounding, unsigned(a, from))),
        Op::FcvtToS => f.ints(unsigned, |[a]| float::to_int_s(from, to, a as u64)),
        Op::FcvtToU => f.ints(unsigned, |[a]| float::to_int_u(from, to, a as u64)),

        Op::Splat => f.each(|f, _| f.lane(0, 0)),
        Op::Shuffle => {
            let Attr::Lanes(map) = attr else { return false };
            let n = result.lanes();
            f.each(|f, i| {
                let source = map.get(i);
                f.lane(source / n, source % n)
            });
        }
        Op::Swizzle => f.each(|f, i| f.lane(0, f.lane(1, i) as usize % 16)),
        Op::Extract => f.each(|f, _| f.lane(0, part)),
        Op::Insert => f.each(|f, i| if i == part { f.lane(1, 0) } else { f.lane(0, i) }),
        Op::Concat | Op::Bitcast => {
            let mut bytes = [0; lanes::MAX_BYTES];
            let mut rest = bytes.as_mut_slice();
            for arg in args {
                let size = (arg.ty.bytes() as usize).min(rest.len());
                let (part, after) = rest.split_at_mut(size);
                lanes::write(arg.ty, arg.lanes, part);
                rest = after;
            }
            lanes::read(result, &bytes, f.out);
        }
        Op::Split => {
            let mut bytes = [0; lanes::MAX_BYTES];
            if let Some(whole) = args.first() {
                lanes::write(whole.ty, whole.lanes, &mut bytes);
            }
            let start = part * result.bytes() as usize;
            lanes::read(result, bytes.get(start..).unwrap_or(&[]), f.out);
        }
        Op::PtrAdd => f.ints(unsigned, |[a, b]| a + b),

        Op::Const | Op::Intrinsic => return false,
        Op::ItemId | Op::ItemCount | Op::LocalId | Op::GroupId | Op::GroupSize | Op::GroupCount => return false,
        Op::SubgroupId | Op::LaneId => return false,
        Op::Barrier | Op::BarrierArrive | Op::BarrierCount | Op::BarrierAll | Op::BarrierAny => return false,
        Op::SubgroupBarrier | Op::Fence | Op::Elect | Op::ActiveMask => return false,
        Op::SubgroupShuffle | Op::SubgroupShuffleUp | Op::SubgroupShuffleDown | Op::SubgroupShuffleXor => return false,
        Op::VoteAll | Op::VoteAny | Op::VoteUniform | Op::Ballot | Op::MatchAny | Op::MatchAll => return false,
        Op::SubgroupReduceAdd | Op::SubgroupReduceAnd | Op::SubgroupReduceOr | Op::SubgroupReduceXor => return false,
        Op::SubgroupReduceMinS | Op::SubgroupReduceMinU | Op::SubgroupReduceMaxS | Op::SubgroupReduceMaxU => {
            return false;
        }
        Op::AtomicLoad | Op::AtomicStore | Op::AtomicAdd | Op::AtomicSub | Op::AtomicMinS | Op::AtomicMinU => {
            return false;
        }
        Op::AtomicMaxS | Op::AtomicMaxU | Op::AtomicAnd | Op::AtomicOr | Op::AtomicXor | Op::AtomicInc => return false,
        Op::AtomicDec | Op::AtomicExchange | Op::AtomicCompareExchange | Op::AtomicFadd => return false,
        Op::Load | Op::Store => return false,
        Op::Br | Op::BrIf | Op::Switch | Op::Ret => return false,
    }
    true
}

/// Evaluates a sum or difference that is contracted with a product, with one rounding. `product` is the operand number
/// of the product in the sum. `args` are the two factors and the other operand of the sum.
pub(super) fn fold_sum(
    op: Op,
    attr: Attr,
    product: usize,
    args: &[Operand<'_>],
    result: Type,
    out: &mut [u64],
) -> bool {
    let Attr::Float(flags) = attr else { return false };
    let to = result.elem();
    let mut f = Fold { args, to, out };
    f.bits(|[x, y, other]| match (op, product) {
        (Op::Fsub, 0) => float::fma(to, flags, [x, y, float::neg(to, other)]),
        (Op::Fsub, _) => float::fma(to, flags, [float::neg(to, x), y, other]),
        _ => float::fma(to, flags, [x, y, other]),
    });
    true
}

/// Returns a lane's bits as an unsigned integer.
fn unsigned(lane: u64, _: Elem) -> i128 {
    i128::from(lane)
}

/// Returns a lane's bits as a two's-complement integer.
fn signed(lane: u64, elem: Elem) -> i128 {
    let unused = 64 - elem.bits();
    i128::from((lane << unused).cast_signed() >> unused)
}

fn clamp_s(elem: Elem, a: i128) -> i128 {
    let half = 1 << (elem.bits() - 1);
    a.clamp(-half, half - 1)
}

fn clamp_u(elem: Elem, a: i128) -> i128 {
    a.clamp(0, i128::from(elem.mask()))
}

fn round_shr(a: i128, n: i128) -> i128 {
    match n {
        0 => a,
        _ => (a + (1 << (n - 1))) >> n,
    }
}

/// Rotates the low `width` bits of `a` left. Higher bits of `a` must be zero.
fn rotl(a: i128, n: i128, width: u32) -> i128 {
    a << n | a >> (i128::from(width) - n)
}

/// Evaluation of an op: its operands, and the element type and lanes of its result.
struct Fold<'a> {
    args: &'a [Operand<'a>],
    to: Elem,
    out: &'a mut [u64],
}

impl Fold<'_> {
    fn lane(&self, arg: usize, i: usize) -> u64 {
        let arg = self.args.get(arg);
        arg.and_then(|arg| arg.lanes.get(i)).copied().unwrap_or(0)
    }

    fn elem(&self, arg: usize) -> Elem {
        self.args.get(arg).map_or(self.to, |arg| arg.ty.elem())
    }

    /// Sets each result lane to `f` of the lane number, truncated to the lane's width.
    fn each(&mut self, f: impl Fn(&Self, usize) -> u64) {
        for i in 0..self.out.len() {
            let lane = f(self, i) & self.to.mask();
            self.out[i] = lane;
        }
    }

    /// Computes each result lane from the bits of the operand lanes.
    fn bits<const N: usize>(&mut self, f: impl Fn([u64; N]) -> u64) {
        self.each(|fold, i| f(std::array::from_fn(|arg| fold.lane(arg, i))));
    }

    /// Computes each result lane from the operand lanes as exact integers, which `read` extracts.
    fn ints<const N: usize>(&mut self, read: impl Fn(u64, Elem) -> i128, f: impl Fn([i128; N]) -> i128) {
        self.each(|fold, i| f(std::array::from_fn(|arg| read(fold.lane(arg, i), fold.elem(arg)))) as u64);
    }

    /// Combines all lanes of the operand by `f`.
    fn reduce(&mut self, read: impl Fn(u64, Elem) -> i128, f: impl Fn(i128, i128) -> i128) {
        let elem = self.elem(0);
        let lanes = self.args.first().map_or(&[][..], |arg| arg.lanes);
        let reduced = lanes.iter().map(|&lane| read(lane, elem)).reduce(f);
        self.each(|_, _| reduced.unwrap_or(0) as u64);
    }

    /// Computes the third operand plus the sum of absolute differences of the lanes of the first two operands.
    fn sad(&mut self, read: impl Fn(u64, Elem) -> i128) {
        let elem = self.elem(0);
        let lanes = self.args.first().map_or(0, |arg| arg.lanes.len());
        self.each(|fold, _| {
            let difference = |i| read(fold.lane(0, i), elem) - read(fold.lane(1, i), elem);
            let sum: i128 = (0..lanes).map(|i| difference(i).abs()).sum();
            (i128::from(fold.lane(2, 0)) + sum) as u64
        });
    }

    /// Computes the third operand plus the dot product of the first two operands.
    fn dot(&mut self, read_a: impl Fn(u64, Elem) -> i128, read_b: impl Fn(u64, Elem) -> i128) {
        let elem = self.elem(0);
        let lanes = self.args.first().map_or(0, |arg| arg.lanes.len());
        self.each(|fold, _| {
            let product = |i| read_a(fold.lane(0, i), elem) * read_b(fold.lane(1, i), elem);
            let sum: i128 = (0..lanes).map(product).sum();
            (i128::from(fold.lane(2, 0)) + sum) as u64
        });
    }
}
