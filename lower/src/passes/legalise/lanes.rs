//! Scalarisation of a vector op, if the target has neither the op on the vector nor an expansion.
//!
//! A lane-wise op is executed for each lane by the op on the lane's type, which may be expanded in
//! turn. The result vector is then assembled from its lanes. If nothing uses the vector as a whole,
//! dead code elimination removes this assembly. A permutation of lanes needs no instruction. A load
//! or store of a packed word becomes a load or store of an integer of 32 bits.
//!
//! A vector wider than a register is scalarised only if an instruction needs its lanes, because the
//! target may have one instruction for the whole pattern, which selection matches.

use std::cmp::Ordering;

use halfbyte_ir::{Attr, Inst, IntCC, Op, Type, Value};

use crate::passes::legalise::Legaliser;
use crate::rewrite::constant_lanes;

/// Scalarises a vector instruction. Returns `false` if the target does not support the resulting ops.
pub(super) fn by_lanes(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> bool {
    legaliser.attempt(|legaliser| scalarised(legaliser, inst)).is_some()
}

fn scalarised(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> Option<()> {
    if matches!(legaliser.kernel().insts[inst].op, Op::Load | Op::Store) {
        return as_word(legaliser, inst);
    }
    let result = legaliser.kernel().result(inst)?;
    if legaliser.kernel().ty(result).is_wide() {
        return None;
    }
    match made_of(legaliser, inst, result)? {
        Scalarised::Scalar(value) => legaliser.replace(result, value),
        Scalarised::Lanes(lanes) => whole(legaliser, inst, result, lanes),
    }
    Some(())
}

/// Computes the result of an instruction on single lanes.
fn made_of(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst, result: Value) -> Option<Scalarised> {
    let data = legaliser.kernel().insts[inst];
    let args = legaliser.kernel().args(inst).iter().map(|&arg| legaliser.current(arg)).collect::<Vec<_>>();
    let lane = data.ty.lane_type();
    Some(match (data.op, args.as_slice(), data.attr) {
        (Op::Any | Op::All, &[mask], _) => {
            let join = if data.op == Op::Any { Op::Or } else { Op::And };
            Scalarised::Scalar(folded(legaliser, join, Type::I1, mask)?)
        }
        (Op::ReduceMinS, &[x], _) => Scalarised::Scalar(folded(legaliser, Op::MinS, lane, x)?),
        (Op::ReduceMinU, &[x], _) => Scalarised::Scalar(folded(legaliser, Op::MinU, lane, x)?),
        (Op::ReduceMaxS, &[x], _) => Scalarised::Scalar(folded(legaliser, Op::MaxS, lane, x)?),
        (Op::ReduceMaxU, &[x], _) => Scalarised::Scalar(folded(legaliser, Op::MaxU, lane, x)?),
        (Op::ReduceAddS | Op::ReduceAddU, &[x], _) => {
            let extend = if data.op == Op::ReduceAddS { Op::Sext } else { Op::Zext };
            let lanes = lanes(legaliser, x)?;
            Scalarised::Scalar(sum(legaliser, extend, &lanes, None)?)
        }
        (Op::SadS | Op::SadU, &[x, y, acc], _) => {
            let difference = if data.op == Op::SadS { Op::AbsDiffS } else { Op::AbsDiffU };
            let differences = of_each(legaliser, difference, lane, Attr::None, &[x, y], data.ty.lanes())?;
            Scalarised::Scalar(sum(legaliser, Op::Zext, &differences, Some(acc))?)
        }
        (Op::Extract | Op::Split, &[x], Attr::Lane(n)) if lane_type(legaliser, x) == result_type(legaliser, result) => {
            Scalarised::Scalar(lanes(legaliser, x)?.get(usize::from(n)).copied()?)
        }
        (Op::Split, &[x], Attr::Lane(n)) if lane_type(legaliser, x) == lane => {
            let count = data.ty.lanes();
            Scalarised::Lanes(lanes(legaliser, x)?.chunks(count).nth(usize::from(n))?.to_vec())
        }
        (Op::Concat, parts, _) if parts.iter().all(|&part| lane_type(legaliser, part) == lane) => {
            let parts: Option<Vec<_>> = parts.iter().map(|&part| lanes(legaliser, part)).collect();
            Scalarised::Lanes(parts?.concat())
        }
        (Op::Concat, parts, _) if data.ty.is_wide() => {
            let mut lanes = Vec::with_capacity(data.ty.lanes());
            let bits = parts.first().map_or(0, |&part| result_type(legaliser, part).bits());
            // Either a lane consists of several parts, or a part contains several lanes.
            let in_one = (lane.bits() / bits.max(1)).max(1) as usize;
            for parts in parts.chunks(in_one) {
                match (parts, bits.cmp(&lane.bits())) {
                    (&[part], Ordering::Equal) => {
                        lanes.push(legaliser.place(Op::Bitcast, lane, Attr::None, &[part])?)
                    }
                    (&[part], _) => {
                        for number in 0..(bits / lane.bits()) as u8 {
                            lanes.push(legaliser.place(Op::Split, lane, Attr::Lane(number), &[part])?);
                        }
                    }
                    _ => lanes.push(legaliser.place(Op::Concat, lane, Attr::None, parts)?),
                }
            }
            Scalarised::Lanes(lanes)
        }
        (Op::Splat, &[x], _) => Scalarised::Lanes(vec![x; data.ty.lanes()]),
        (Op::Const, [], _) if !data.ty.is_scalar() => Scalarised::Lanes(lanes(legaliser, result)?),
        (Op::Insert, &[x, y], Attr::Lane(n)) => {
            let mut lanes = lanes(legaliser, x)?;
            *lanes.get_mut(usize::from(n))? = y;
            Scalarised::Lanes(lanes)
        }
        (Op::Shuffle, &[x, y], Attr::Lanes(map)) => {
            let both = [lanes(legaliser, x)?, lanes(legaliser, y)?].concat();
            Scalarised::Lanes((0..data.ty.lanes()).map(|i| both.get(map.get(i)).copied()).collect::<Option<_>>()?)
        }
        (op, [_, ..], attr) if op.row().lanewise && !data.ty.is_scalar() => {
            Scalarised::Lanes(of_each(legaliser, op, lane, attr, &args, data.ty.lanes())?)
        }
        _ => return None,
    })
}

/// Result of a scalarised instruction.
enum Scalarised {
    Scalar(Value),
    Lanes(Vec<Value>),
}

fn result_type(legaliser: &Legaliser<'_, '_, '_>, result: Value) -> Type {
    legaliser.kernel().ty(result)
}

fn lane_type(legaliser: &Legaliser<'_, '_, '_>, vector: Value) -> Type {
    legaliser.kernel().ty(vector).lane_type()
}

/// Returns the integer vector type with this mask type.
fn integers_like(mask: Type) -> Option<Type> {
    Type::ALL.iter().copied().find(|ty| ty.is_int() && ty.bits() <= 128 && ty.mask_type() == Some(mask))
}

fn integer(legaliser: &mut Legaliser<'_, '_, '_>, ty: Type, bits: u64) -> Option<Value> {
    legaliser.place(Op::Const, ty, Attr::Bits(bits), &[])
}

/// Applies an op to each lane of its operands. A scalar operand is used for all lanes.
fn of_each(
    legaliser: &mut Legaliser<'_, '_, '_>,
    op: Op,
    ty: Type,
    attr: Attr,
    args: &[Value],
    count: usize,
) -> Option<Vec<Value>> {
    let mut by_lane = vec![Vec::with_capacity(args.len()); count];
    for &arg in args {
        let lanes = match legaliser.kernel().ty(arg) {
            ty if ty.is_scalar() => vec![arg; count],
            _ => lanes(legaliser, arg)?,
        };
        by_lane.iter_mut().zip(lanes).for_each(|(args, lane)| args.push(lane));
    }
    by_lane.iter().map(|args| legaliser.place(op, ty, attr, args)).collect()
}

/// Combines all lanes of a vector to one scalar by an op.
fn folded(legaliser: &mut Legaliser<'_, '_, '_>, op: Op, ty: Type, vector: Value) -> Option<Value> {
    let lanes = lanes(legaliser, vector)?;
    let (&first, others) = lanes.split_first()?;
    others.iter().try_fold(first, |all, &lane| legaliser.place(op, ty, Attr::None, &[all, lane]))
}

/// Returns the sum of all lanes, extended by `extend`, and of the accumulator `acc` if there is one.
fn sum(legaliser: &mut Legaliser<'_, '_, '_>, extend: Op, lanes: &[Value], acc: Option<Value>) -> Option<Value> {
    let mut sum = acc;
    for &lane in lanes {
        let wide = match legaliser.kernel().ty(lane) {
            Type::I32 => lane,
            _ => legaliser.place(extend, Type::I32, Attr::None, &[lane])?,
        };
        sum = Some(match sum {
            Some(sum) => legaliser.place(Op::Add, Type::I32, Attr::None, &[sum, wide])?,
            None => wide,
        });
    }
    sum
}

/// Returns the lanes of a vector: the scalars that it was assembled from, the lanes of a constant,
/// or new `extract` instructions.
fn lanes(legaliser: &mut Legaliser<'_, '_, '_>, vector: Value) -> Option<Vec<Value>> {
    // A worklist in place of recursion, because a chain of wide vectors may run through the whole kernel.
    let mut wanted = vec![vector];
    while let Some(&next) = wanted.last() {
        if legaliser.laneless.contains(&next) || known(legaliser, next).is_some() {
            wanted.pop();
            continue;
        }
        let unknown = unknown_parts(legaliser, next);
        if unknown.is_empty() {
            match lanes_of(legaliser, next) {
                Some(lanes) => drop(legaliser.lanes_here.insert(next, lanes)),
                None => drop(legaliser.laneless.insert(next)),
            }
        } else if unknown.iter().any(|part| legaliser.laneless.contains(part)) {
            legaliser.laneless.insert(next);
        }
        wanted.extend(unknown);
    }
    known(legaliser, vector)
}

/// Returns the wide operands of a wide vector whose lanes have not been computed yet.
fn unknown_parts(legaliser: &Legaliser<'_, '_, '_>, vector: Value) -> Vec<Value> {
    let kernel = legaliser.kernel();
    let def = kernel.def_inst(vector).filter(|_| kernel.ty(vector).is_wide());
    let parts = def.map_or(&[][..], |def| kernel.args(def)).iter().map(|&part| legaliser.current(part));
    parts.filter(|&part| kernel.ty(part).is_wide() && known(legaliser, part).is_none()).collect()
}

/// Returns the lanes of a vector if they have been computed. A scalar is its own lane.
fn known(legaliser: &Legaliser<'_, '_, '_>, vector: Value) -> Option<Vec<Value>> {
    let known = [&legaliser.lanes, &legaliser.lanes_here].into_iter().find_map(|lanes| lanes.get(&vector));
    let known = known.map(|known| known.iter().map(|&lane| legaliser.current(lane)).collect());
    known.or_else(|| legaliser.kernel().ty(vector).is_scalar().then(|| vec![vector]))
}

/// Computes the lanes of a vector. The lanes of its wide operands have been computed before.
fn lanes_of(legaliser: &mut Legaliser<'_, '_, '_>, vector: Value) -> Option<Vec<Value>> {
    let ty = legaliser.kernel().ty(vector);
    let lane = ty.lane_type();
    if let Some((_, constant)) = constant_lanes(legaliser.kernel(), vector) {
        let lanes = constant.iter().take(ty.lanes());
        return lanes.map(|&bits| integer(legaliser, lane, bits)).collect();
    }
    if let Some(def) = legaliser.kernel().def_inst(vector) {
        let kernel = legaliser.kernel();
        let parts = kernel.args(def);
        // A part of a `concat` may have another type than the lane, with the same number of bits.
        let are_lanes = parts.len() == ty.lanes() && parts.iter().all(|&part| kernel.ty(part) == lane);
        if kernel.insts[def].op == Op::Concat && are_lanes {
            return Some(parts.to_vec());
        }
        if ty.is_wide() {
            let Scalarised::Lanes(lanes) = made_of(legaliser, def, vector)? else { return None };
            return Some(lanes);
        }
    }
    if ty.is_mask() {
        // The mask is first expanded to a vector of integers, from which lanes can be extracted.
        let wide = integers_like(ty)?;
        let expanded = legaliser.place(Op::MaskExpand, wide, Attr::None, &[vector])?;
        let zero = integer(legaliser, wide.lane_type(), 0)?;
        let integers = lanes(legaliser, expanded)?;
        let is_set = |lane| legaliser.place(Op::Icmp, wide.lane_type(), Attr::IntCC(IntCC::Ne), &[lane, zero]);
        return integers.into_iter().map(is_set).collect();
    }
    (0..ty.lanes() as u8).map(|n| legaliser.place(Op::Extract, ty, Attr::Lane(n), &[vector])).collect()
}

/// Records the lanes of an instruction's result, and assembles the result vector from them if the target can.
fn whole(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst, result: Value, lanes: Vec<Value>) {
    let ty = legaliser.kernel().ty(result);
    match legaliser.attempt(|legaliser| joined(legaliser, ty, &lanes)) {
        Some(whole) => {
            legaliser.replace(result, whole);
            legaliser.lanes.insert(whole, lanes);
        }
        None => {
            // Users of single lanes do not need the vector. If another instruction uses the vector,
            // selection refuses the original instruction.
            legaliser.keep(inst);
            legaliser.lanes.insert(result, lanes);
        }
    }
}

/// Assembles a vector from lanes.
fn joined(legaliser: &mut Legaliser<'_, '_, '_>, ty: Type, lanes: &[Value]) -> Option<Value> {
    if ty.is_mask() {
        let wide = integers_like(ty)?;
        let expand = |&lane: &Value| legaliser.place(Op::MaskExpand, wide.lane_type(), Attr::None, &[lane]);
        let integers: Vec<Value> = lanes.iter().map(expand).collect::<Option<_>>()?;
        let whole = joined(legaliser, wide, &integers)?;
        let none = legaliser.constant_attr(wide, [0; 8]);
        let zero = legaliser.place(Op::Const, wide, none, &[])?;
        return legaliser.place(Op::Icmp, wide, Attr::IntCC(IntCC::Ne), &[whole, zero]);
    }
    if ty == Type::I8X16 {
        let word = |lanes: &[Value]| legaliser.place(Op::Concat, Type::I8X4, Attr::None, lanes);
        let words: Vec<Value> = lanes.chunks(4).map(word).collect::<Option<_>>()?;
        return legaliser.place(Op::Concat, ty, Attr::None, &words);
    }
    if ty.bits() > 32 {
        return None;
    }
    legaliser.place(Op::Concat, ty, Attr::None, lanes)
}

/// Replaces a load or store of a packed word by a load or store of an `i32` with the same bits.
fn as_word(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> Option<()> {
    let data = legaliser.kernel().insts[inst];
    let args = legaliser.kernel().args(inst).to_vec();
    match (data.op, args.split_first()) {
        (Op::Load, _) => {
            let result = legaliser.kernel().result(inst)?;
            let word = legaliser.place(Op::Load, Type::I32, data.attr, &args)?;
            let value = legaliser.place(Op::Bitcast, data.ty, Attr::None, &[word])?;
            legaliser.replace(result, value);
        }
        (Op::Store, Some((&value, _))) => {
            let word = legaliser.place(Op::Bitcast, Type::I32, Attr::None, &[value])?;
            legaliser.store_instead(inst, word);
        }
        _ => return None,
    }
    Some(())
}
