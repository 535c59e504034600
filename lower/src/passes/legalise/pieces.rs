//! Loads, stores and concatenations by parts shorter than 32 bits.
//!
//! A value is assembled from such parts in two steps: first half-words or 32-bit words, then the
//! whole value. An access whose alignment is too low for the target is split into aligned parts.

use halfbyte_ir::{Attr, Inst, Kernel, Legality, MemAttr, Op, Type, Value};

use crate::passes::legalise::Legaliser;

/// Returns `true` if an instruction is a load or store whose alignment is too low for the target.
pub(super) fn are_needed(kernel: &Kernel, legality: &Legality, inst: Inst) -> bool {
    let data = &kernel.insts[inst];
    matches!(data.attr, Attr::Mem(mem) if mem.align < legality.access_alignment(data.ty.bytes())) && !data.ty.is_mask()
}

/// Splits a load or store whose alignment is too low into aligned parts. Returns `false` if the
/// target does not support the resulting ops.
pub(super) fn by_pieces(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> bool {
    if !legaliser.needs_pieces(inst) {
        return false;
    }
    let is_load = legaliser.kernel().insts[inst].op == Op::Load;
    let done = legaliser.attempt(|legaliser| match is_load {
        true => loaded(legaliser, inst),
        false => stored(legaliser, inst),
    });
    done.is_some()
}

/// Returns the integer type of a part, whose size is the alignment in bytes.
fn part(align: u32) -> Option<Type> {
    match align {
        1 => Some(Type::I8),
        2 => Some(Type::I16),
        _ => None,
    }
}

/// Returns the attribute and the address operands of an access `bytes` bytes after another access.
/// The distance is added to the offset if possible, otherwise to the base.
fn after(
    legaliser: &mut Legaliser<'_, '_, '_>,
    mem: MemAttr,
    bytes: u32,
    address: &[Value],
) -> Option<(Attr, Vec<Value>)> {
    let (&base, index) = address.split_first()?;
    if index.is_empty() || bytes.is_multiple_of(mem.scale.max(1)) {
        let offset = mem.offset.checked_add(i32::try_from(bytes).ok()?)?;
        return Some((Attr::Mem(MemAttr { offset, ..mem }), address.to_vec()));
    }
    let bytes = legaliser.place(Op::Const, Type::I64, Attr::Bits(bytes.into()), &[])?;
    let base = legaliser.place(Op::PtrAdd, Type::PTR, Attr::None, &[base, bytes])?;
    Some((Attr::Mem(mem), std::iter::once(base).chain(index.iter().copied()).collect()))
}

fn loaded(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> Option<()> {
    let kernel = legaliser.kernel();
    let (data, result) = (kernel.insts[inst], kernel.result(inst)?);
    let args = kernel.args(inst).to_vec();
    let Attr::Mem(mem) = data.attr else { return None };
    let part = part(mem.align)?;
    let mut parts = Vec::new();
    for at in (0..data.ty.bytes()).step_by(part.bytes() as usize) {
        let (attr, args) = after(legaliser, mem, at, &args)?;
        parts.push(legaliser.place(Op::Load, part, attr, &args)?);
    }
    let whole = joined(legaliser, data.ty, parts)?;
    legaliser.replace(result, whole);
    Some(())
}

/// Assembles a value from parts shorter than 32 bits: first half-words or 32-bit words, then the whole value.
fn joined(legaliser: &mut Legaliser<'_, '_, '_>, ty: Type, parts: Vec<Value>) -> Option<Value> {
    let size = if ty.bytes() < 4 { Type::I16 } else { Type::I32 };
    let in_one = (size.bytes() / legaliser.kernel().ty(*parts.first()?).bytes()) as usize;
    let words = parts.chunks(in_one).map(|parts| legaliser.place(Op::Concat, size, Attr::None, parts));
    match words.collect::<Option<Vec<_>>>()?.as_slice() {
        &[only] if size == ty => Some(only),
        &[only] => legaliser.place(Op::Bitcast, ty, Attr::None, &[only]),
        words => legaliser.place(Op::Concat, ty, Attr::None, words),
    }
}

/// Legalises a `concat` of parts shorter than 32 bits to a value of several 32-bit words. Returns
/// `false` if the target does not support the resulting ops.
pub(super) fn concat(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> bool {
    let kernel = legaliser.kernel();
    let (ty, parts) = (kernel.insts[inst].ty, kernel.args(inst).to_vec());
    let is_short = |&part: &Value| kernel.ty(part).bits() < 32;
    if kernel.insts[inst].op != Op::Concat || ty.bits() <= 32 || !parts.iter().all(is_short) {
        return false;
    }
    let Some(result) = kernel.result(inst) else { return false };
    let whole = legaliser.attempt(|legaliser| joined(legaliser, ty, parts));
    whole.inspect(|&whole| legaliser.replace(result, whole)).is_some()
}

fn stored(legaliser: &mut Legaliser<'_, '_, '_>, inst: Inst) -> Option<()> {
    let data = legaliser.kernel().insts[inst];
    let args = legaliser.kernel().args(inst).to_vec();
    let (Attr::Mem(mem), Some((&value, address))) = (data.attr, args.split_first()) else { return None };
    let part = part(mem.align)?;
    let mut stores = Vec::new();
    for number in 0..(data.ty.bytes() / part.bytes()) as u8 {
        let value = legaliser.place(Op::Split, part, Attr::Lane(number), &[value])?;
        let (attr, address) = after(legaliser, mem, u32::from(number) * part.bytes(), address)?;
        stores.push((attr, std::iter::once(value).chain(address).collect::<Vec<_>>()));
    }
    for (attr, args) in stores {
        legaliser.place_store(part, attr, &args, data.span);
    }
    Some(())
}
