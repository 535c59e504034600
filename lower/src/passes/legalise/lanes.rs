//! Vectors as their lanes, for targets that lack an op on a vector and all that it could be made of.
//!
//! A lane-wise op is done lane by lane, by the op on the lane's type, which may be expanded in turn. The vector is put together
//! again after, for whoever needs it whole; that goes with the dead code where nobody does. Lanes that only change places
//! take no instruction. A vector of memory is a word of the same bits.
//!
//! A vector wider than any register is made of lanes only where something asks for them: a target may have an instruction for
//! all that goes by way of it, and then selection finds it whole.

use std::cmp::Ordering;

use halfbyte_ir::{Attr, Inst, IntCC, Op, Type, Value};

use crate::passes::legalise::Legaliser;
use crate::rewrite::constant_lanes;

/// Does an instruction on vectors by lanes, if the target can.
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
        Made::Scalar(value) => legaliser.replace(result, value),
        Made::Lanes(lanes) => whole(legaliser, inst, result, lanes),
    }
    Some(())
}

/// What an instruction comes to, lane by lane.
fn made_of(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst, result: Value) -> Option<Made> {
    let data = legaliser.kernel().insts[inst];
    let args = legaliser.kernel().args(inst).iter().map(|&arg| legaliser.current(arg)).collect::<Vec<_>>();
    let lane = data.ty.lane_type();
    Some(match (data.op, args.as_slice(), data.attr) {
        (Op::Any | Op::All, &[mask], _) => {
            let join = if data.op == Op::Any { Op::Or } else { Op::And };
            Made::Scalar(folded(legaliser, join, Type::I1, mask)?)
        }
        (Op::ReduceMinS, &[x], _) => Made::Scalar(folded(legaliser, Op::MinS, lane, x)?),
        (Op::ReduceMinU, &[x], _) => Made::Scalar(folded(legaliser, Op::MinU, lane, x)?),
        (Op::ReduceMaxS, &[x], _) => Made::Scalar(folded(legaliser, Op::MaxS, lane, x)?),
        (Op::ReduceMaxU, &[x], _) => Made::Scalar(folded(legaliser, Op::MaxU, lane, x)?),
        (Op::ReduceAddS | Op::ReduceAddU, &[x], _) => {
            let extend = if data.op == Op::ReduceAddS { Op::Sext } else { Op::Zext };
            let lanes = lanes(legaliser, x)?;
            Made::Scalar(sum(legaliser, extend, &lanes, None)?)
        }
        (Op::SadS | Op::SadU, &[x, y, acc], _) => {
            let difference = if data.op == Op::SadS { Op::AbsDiffS } else { Op::AbsDiffU };
            let differences = of_each(legaliser, difference, lane, Attr::None, &[x, y], data.ty.lanes())?;
            Made::Scalar(sum(legaliser, Op::Zext, &differences, Some(acc))?)
        }
        (Op::Extract | Op::Split, &[x], Attr::Lane(n)) if lane_type(legaliser, x) == result_type(legaliser, result) => {
            Made::Scalar(lanes(legaliser, x)?.get(usize::from(n)).copied()?)
        }
        (Op::Split, &[x], Attr::Lane(n)) if lane_type(legaliser, x) == lane => {
            let count = data.ty.lanes();
            Made::Lanes(lanes(legaliser, x)?.chunks(count).nth(usize::from(n))?.to_vec())
        }
        (Op::Concat, parts, _) if parts.iter().all(|&part| lane_type(legaliser, part) == lane) => {
            let parts: Option<Vec<_>> = parts.iter().map(|&part| lanes(legaliser, part)).collect();
            Made::Lanes(parts?.concat())
        }
        (Op::Concat, parts, _) if data.ty.is_wide() => {
            let mut lanes = Vec::with_capacity(data.ty.lanes());
            let bits = parts.first().map_or(0, |&part| result_type(legaliser, part).bits());
            // Lanes of several parts each, or parts of several lanes.
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
            Made::Lanes(lanes)
        }
        (Op::Splat, &[x], _) => Made::Lanes(vec![x; data.ty.lanes()]),
        (Op::Const, [], _) if !data.ty.is_scalar() => Made::Lanes(lanes(legaliser, result)?),
        (Op::Insert, &[x, y], Attr::Lane(n)) => {
            let mut lanes = lanes(legaliser, x)?;
            *lanes.get_mut(usize::from(n))? = y;
            Made::Lanes(lanes)
        }
        (Op::Shuffle, &[x, y], Attr::Lanes(map)) => {
            let both = [lanes(legaliser, x)?, lanes(legaliser, y)?].concat();
            Made::Lanes((0..data.ty.lanes()).map(|i| both.get(map.get(i)).copied()).collect::<Option<_>>()?)
        }
        (op, [_, ..], attr) if op.row().lanewise && !data.ty.is_scalar() => {
            Made::Lanes(of_each(legaliser, op, lane, attr, &args, data.ty.lanes())?)
        }
        _ => return None,
    })
}

/// What an instruction comes to.
enum Made {
    Scalar(Value),
    Lanes(Vec<Value>),
}

fn result_type(legaliser: &Legaliser<'_, '_, '_>, result: Value) -> Type {
    legaliser.kernel().ty(result)
}

fn lane_type(legaliser: &Legaliser<'_, '_, '_>, vector: Value) -> Type {
    legaliser.kernel().ty(vector).lane_type()
}

/// The integers that are masked by this.
fn integers_like(mask: Type) -> Option<Type> {
    Type::ALL.iter().copied().find(|ty| ty.is_int() && ty.bits() <= 128 && ty.mask_type() == Some(mask))
}

fn integer(legaliser: &mut Legaliser<'_, '_, '_>, ty: Type, bits: u64) -> Option<Value> {
    legaliser.place(Op::Const, ty, Attr::Bits(bits), &[])
}

/// An op on each lane of its operands; an operand that is a scalar counts for all.
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

/// All lanes of a vector under an op.
fn folded(legaliser: &mut Legaliser<'_, '_, '_>, op: Op, ty: Type, vector: Value) -> Option<Value> {
    let lanes = lanes(legaliser, vector)?;
    let (&first, others) = lanes.split_first()?;
    others.iter().try_fold(first, |all, &lane| legaliser.place(op, ty, Attr::None, &[all, lane]))
}

/// The sum of extended lanes, and of what there was before.
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

/// The lanes of a vector: as it was made, those of the constant that it is, or taken from it.
fn lanes(legaliser: &mut Legaliser<'_, '_, '_>, vector: Value) -> Option<Vec<Value>> {
    // What a wide vector is made of may be wide in turn, as deep as the kernel is long.
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

/// Those of the operands that a wide vector is made of whose lanes are not known, and that are wide too.
fn unknown_parts(legaliser: &Legaliser<'_, '_, '_>, vector: Value) -> Vec<Value> {
    let kernel = legaliser.kernel();
    let def = kernel.def_inst(vector).filter(|_| kernel.ty(vector).is_wide());
    let parts = def.map_or(&[][..], |def| kernel.args(def)).iter().map(|&part| legaliser.current(part));
    parts.filter(|&part| kernel.ty(part).is_wide() && known(legaliser, part).is_none()).collect()
}

/// The lanes of a vector that have been made, or the scalar that it is.
fn known(legaliser: &Legaliser<'_, '_, '_>, vector: Value) -> Option<Vec<Value>> {
    let known = [&legaliser.lanes, &legaliser.lanes_here].into_iter().find_map(|lanes| lanes.get(&vector));
    let known = known.map(|known| known.iter().map(|&lane| legaliser.current(lane)).collect());
    known.or_else(|| legaliser.kernel().ty(vector).is_scalar().then(|| vec![vector]))
}

/// The lanes of a vector that are not known yet, where those of all wide ones that it is made of are.
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
        // A part may be of another type with the same bits.
        let are_lanes = parts.len() == ty.lanes() && parts.iter().all(|&part| kernel.ty(part) == lane);
        if kernel.insts[def].op == Op::Concat && are_lanes {
            return Some(parts.to_vec());
        }
        if ty.is_wide() {
            let Made::Lanes(lanes) = made_of(legaliser, def, vector)? else { return None };
            return Some(lanes);
        }
    }
    if ty.is_mask() {
        // As integers whose bits are all like the mask's.
        let wide = integers_like(ty)?;
        let expanded = legaliser.place(Op::MaskExpand, wide, Attr::None, &[vector])?;
        let zero = integer(legaliser, wide.lane_type(), 0)?;
        let integers = lanes(legaliser, expanded)?;
        let is_set = |lane| legaliser.place(Op::Icmp, wide.lane_type(), Attr::IntCC(IntCC::Ne), &[lane, zero]);
        return integers.into_iter().map(is_set).collect();
    }
    (0..ty.lanes() as u8).map(|n| legaliser.place(Op::Extract, ty, Attr::Lane(n), &[vector])).collect()
}

/// Records the lanes of an instruction's result and puts the vector together after them, where the target can.
fn whole(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst, result: Value, lanes: Vec<Value>) {
    let ty = legaliser.kernel().ty(result);
    match legaliser.attempt(|legaliser| joined(legaliser, ty, &lanes)) {
        Some(whole) => {
            legaliser.replace(result, whole);
            legaliser.lanes.insert(whole, lanes);
        }
        None => {
            // Whoever knows the lanes needs no more; for others the instruction is what the target refuses.
            legaliser.keep(inst);
            legaliser.lanes.insert(result, lanes);
        }
    }
}

/// A vector of these lanes.
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

/// Makes an access to a packed word one to a word of the same bits.
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
