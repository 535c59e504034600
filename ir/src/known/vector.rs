//! Transfer functions of all ops, built on the transfer functions of single lanes.

use super::lane::Lane;
use super::transfer::{binary, compared, distance, product, sum, unary};
use super::{Known, stored_lanes};
use crate::Type;
use crate::eval::unpack;
use crate::kernel::{Attr, Inst, Kernel, Value};
use crate::op::Op;

/// Maximum number of lanes of a type.
const MOST_LANES: usize = 16;

/// Computes the facts about an instruction's result of type `ty` from the facts about its operands.
pub(super) fn transfer(kernel: &Kernel, inst: Inst, ty: Type, of: &mut dyn FnMut(Value) -> Known) -> Option<Known> {
    let data = &kernel.insts[inst];
    let width = ty.elem().bits();
    let args = kernel.args(inst);
    // A wide result has one fact for all lanes. The fact is computed from operand facts that hold for every lane.
    let is_wide = stored_lanes(ty) != ty.lanes();
    let at = |known: &Known, lane: usize| if is_wide { known.all } else { known.lane(lane) };
    match (data.op, data.attr, args) {
        (Op::Const, ..) => {
            let bits = kernel.const_bits(inst)?;
            let mut lanes = [0; MOST_LANES];
            unpack(ty, &bits, lanes.get_mut(..ty.lanes())?);
            let number = |lane: usize| lanes.get(lane).map(|&lane| Lane::constant(width, lane));
            if !is_wide {
                return Known::of_lanes(ty, number);
            }
            let all = (0..ty.lanes()).filter_map(number).reduce(Lane::or)?;
            Some(Known::uniform(ty, all))
        }
        (Op::LaneId, ..) => Some(Known::uniform(ty, Lane::of_unsigned(width, 0, 31))),
        (Op::Icmp, Attr::IntCC(cc), &[a, b]) => {
            let (a, b) = (of(a), of(b));
            Known::of_lanes(ty, |lane| Some(truth(compared(cc, a.lane(lane), b.lane(lane)))))
        }
        (Op::Select, _, &[condition, a, b]) => {
            let (condition, a, b) = (of(condition), of(a), of(b));
            if a.is_any() && b.is_any() {
                return None;
            }
            let is_one = condition.ty.is_scalar();
            Known::of_lanes(ty, |lane| {
                Some(match at(&condition, if is_one { 0 } else { lane }).number() {
                    Some(0) => at(&b, lane),
                    Some(_) => at(&a, lane),
                    None => at(&a, lane).or(at(&b, lane)),
                })
            })
        }
        (Op::Splat, _, &[a]) => {
            let a = of(a);
            Some(Known::uniform(ty, a.lane(0)))
        }
        (Op::Shuffle, Attr::Lanes(map), &[a, b]) => {
            let (a, b) = (of(a), of(b));
            if is_wide {
                return Some(a.or(&b));
            }
            let lanes = ty.lanes();
            Known::of_lanes(ty, |lane| {
                let from = map.get(lane);
                Some(if from < lanes { a.lane(from) } else { b.lane(from - lanes) })
            })
        }
        (Op::Swizzle, _, &[a, _]) => Some(of(a)),
        (Op::Insert, Attr::Lane(number), &[a, b]) => {
            let (a, b) = (of(a), of(b));
            if is_wide {
                let all = a.all.or(b.all);
                return Some(Known::uniform(ty, all));
            }
            Known::of_lanes(ty, |lane| Some(if lane == usize::from(number) { b.lane(0) } else { a.lane(lane) }))
        }
        (Op::Extract, Attr::Lane(number), &[a]) => {
            let a = of(a);
            Some(Known::uniform(ty, a.lane(number.into())))
        }
        (Op::Bitcast, _, &[a]) if ty.bits() <= 64 => {
            let a = of(a);
            Known::of_bits(ty, a.zeros, a.ones)
        }
        (Op::Concat, _, parts) if ty.bits() <= 64 => {
            let (mut zeros, mut ones, mut start) = (0, 0, 0);
            for &part in parts {
                let part = of(part);
                (zeros, ones) = (zeros | part.zeros << start, ones | part.ones << start);
                start += part.ty.bits();
            }
            Known::of_bits(ty, zeros, ones)
        }
        (Op::Concat, _, parts) => {
            let parts = parts.iter().map(|&part| of(part));
            let lanes = parts.map(|part| (part.ty.elem() == ty.elem()).then_some(part.all));
            let all = lanes.reduce(|a, b| Some(a?.or(b?)))??;
            Some(Known::uniform(ty, all))
        }
        (Op::Split, Attr::Lane(number), &[a]) => {
            let a = of(a);
            if a.ty.bits() <= 64 {
                let start = u32::from(number) * ty.bits();
                return Known::of_bits(ty, a.zeros.checked_shr(start)?, a.ones.checked_shr(start)?);
            }
            let all = (a.ty.elem() == ty.elem()).then_some(a.all);
            Some(Known::uniform(ty, all?))
        }
        (Op::ReduceAddS | Op::ReduceAddU, _, &[a]) => {
            let a = of(a);
            total(ty, (0..a.ty.lanes()).map(|lane| bounds(a.lane(lane), data.op == Op::ReduceAddS)))
        }
        (Op::SadS | Op::SadU, _, &[a, b, acc]) => {
            let (a, b, acc) = (of(a), of(b), of(acc));
            let bounds = |lane| bounds(lane, data.op == Op::SadS);
            let terms = (0..a.ty.lanes()).map(|lane| distance(bounds(a.lane(lane)), bounds(b.lane(lane))));
            plus(ty, terms, acc.lane(0))
        }
        (Op::Dot4S | Op::Dot4U | Op::Dot4SU | Op::Dot2S | Op::Dot2U | Op::Dot2SU, _, &[a, b, acc]) => {
            let (a, b, acc) = (of(a), of(b), of(acc));
            let a_signed = !matches!(data.op, Op::Dot4U | Op::Dot2U);
            let b_signed = matches!(data.op, Op::Dot4S | Op::Dot2S);
            let terms =
                (0..a.ty.lanes()).map(|lane| product(bounds(a.lane(lane), a_signed), bounds(b.lane(lane), b_signed)));
            plus(ty, terms, acc.lane(0))
        }
        (Op::ReduceMinS | Op::ReduceMinU | Op::ReduceMaxS | Op::ReduceMaxU, _, &[a]) => {
            let op = match data.op {
                Op::ReduceMinS => Op::MinS,
                Op::ReduceMinU => Op::MinU,
                Op::ReduceMaxS => Op::MaxS,
                _ => Op::MaxU,
            };
            let a = of(a);
            let mut lanes = a.lanes();
            let first = lanes.next()?;
            let all = lanes.try_fold(first, |all, lane| binary(op, width, all, lane));
            Some(Known::uniform(ty, all?))
        }
        (op, _, &[a]) if op.row().lanewise => {
            let a = of(a);
            if a.is_uniform() {
                return Some(Known::uniform(ty, unary(op, width, a.all)?));
            }
            Known::of_lanes(ty, |lane| unary(op, width, at(&a, lane)))
        }
        (op, _, &[a, b]) if op.row().lanewise || matches!(op, Op::DivS | Op::DivU | Op::RemS | Op::RemU) => {
            let (a, b) = (of(a), of(b));
            if a.is_any() && b.is_any() && is_onto(op) {
                return None;
            }
            if a.is_uniform() && b.is_uniform() {
                return Some(Known::uniform(ty, binary(op, width, a.all, b.all)?));
            }
            Known::of_lanes(ty, |lane| binary(op, width, at(&a, lane), at(&b, lane)))
        }
        _ => None,
    }
}

/// Returns `true` for a two-operand op whose result is unrestricted if both operands are unrestricted.
const fn is_onto(op: Op) -> bool {
    matches!(
        op,
        Op::Add
            | Op::Sub
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::AddSatS
            | Op::AddSatU
            | Op::SubSatS
            | Op::SubSatU
            | Op::AvgU
            | Op::AbsDiffS
            | Op::AbsDiffU
            | Op::MinS
            | Op::MinU
            | Op::MaxS
            | Op::MaxU
            | Op::Shl
            | Op::ShrS
            | Op::ShrU
            | Op::Rotl
            | Op::Rotr
    )
}

fn truth(value: Option<bool>) -> Lane {
    value.map_or(Lane::any(1), |value| Lane::constant(1, value.into()))
}

fn bounds(lane: Lane, is_signed: bool) -> (i128, i128) {
    if is_signed {
        (lane.signed().0.into(), lane.signed().1.into())
    } else {
        (lane.unsigned().0.into(), lane.unsigned().1.into())
    }
}

/// Returns the facts about a sum of terms with these bounds.
fn total(ty: Type, terms: impl Iterator<Item = (i128, i128)>) -> Option<Known> {
    let (low, high) = terms.fold((0, 0), sum);
    Some(Known::uniform(ty, Lane::wrapping(ty.elem().bits(), low, high)))
}

/// Returns the facts about a sum of terms with these bounds and an addend.
fn plus(ty: Type, terms: impl Iterator<Item = (i128, i128)>, acc: Lane) -> Option<Known> {
    let terms = terms.fold((0, 0), sum);
    let width = ty.elem().bits();
    let with = |acc| {
        let (low, high) = sum(terms, acc);
        Lane::wrapping(width, low, high)
    };
    let all = with(bounds(acc, true)).and(with(bounds(acc, false)));
    Some(Known::uniform(ty, all))
}
