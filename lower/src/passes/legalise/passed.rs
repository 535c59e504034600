//! Splitting of block parameters that are too wide for a register.
//!
//! A wide parameter becomes several parameters, and a `concat` at the start of the block assembles the value. Branches
//! split their arguments. The new ops are ordinary ops of the IR, which the pass then legalises.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Attr, Block, Inst, Kernel, Legality, Op, Span, Type, Value, ValueDef, ValueList};

use super::byte_planes;

/// Splits all wide block parameters, if the target holds wide values in several registers. Returns
/// `true` if it split any.
pub(super) fn run(kernel: &mut Kernel, legality: &Legality) -> bool {
    let are_passed = kernel.layout.iter().any(|&block| has_wide(kernel, block));
    // On a target whose items share vectors, a wide value can only be split into byte planes.
    if !are_passed || legality.lanes().is_some() && legality.narrowings().is_none() {
        return false;
    }
    for number in 0..kernel.layout.len() {
        if let Some(&block) = kernel.layout.get(number) {
            take_apart(kernel, legality, block);
        }
    }
    let mut replaced = SecondaryMap::new();
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { continue };
        if has_wide(kernel, block) {
            put_together(kernel, legality, block, &mut replaced);
        }
    }
    kernel.replace_uses(&replaced);
    true
}

fn has_wide(kernel: &Kernel, block: Block) -> bool {
    kernel.block_params(block).iter().any(|&param| kernel.ty(param).is_wide())
}

/// Returns the type of the parts into which a wide type is split.
fn part(legality: &Legality, ty: Type) -> Type {
    let pairs = Type::new(ty.elem(), 2).filter(|&pair| legality.has_half_word_pairs() && pair.bits() == 32);
    pairs.unwrap_or(ty.lane_type())
}

/// Splits the wide arguments that a block's branch passes.
fn take_apart(kernel: &mut Kernel, legality: &Legality, block: Block) {
    let Some(branch) = kernel.terminator(block) else { return };
    let Attr::Targets(range) = kernel.insts[branch].attr else { return };
    let span = kernel.insts[branch].span;
    let mut made = Vec::new();
    for number in 0..kernel.calls(range).len() {
        let Some(&call) = kernel.calls(range).get(number) else { continue };
        if !has_wide(kernel, call.block) {
            continue;
        }
        let mut passed = Vec::new();
        for value in kernel.call_args(&call).to_vec() {
            if kernel.ty(value).is_wide() {
                passed.extend(parts_of(kernel, legality, value, span, &mut made));
            } else {
                passed.push(value);
            }
        }
        let args = ValueList::from_slice(&passed, &mut kernel.pool);
        if let Some(call) = kernel.calls_mut(range).get_mut(number) {
            call.args = args;
        }
    }
    let insts = &mut kernel.blocks[block].insts;
    let at = insts.len() - 1;
    insts.splice(at..at, made);
}

fn parts_of(kernel: &mut Kernel, legality: &Legality, value: Value, span: Span, made: &mut Vec<Inst>) -> Vec<Value> {
    let ty = kernel.ty(value);
    if legality.narrowings().is_some() {
        return byte_planes::apart(kernel, value, span, made);
    }
    let part = part(legality, ty);
    let mut parts = Vec::new();
    for number in 0..(ty.bits() / part.bits()) as u8 {
        let inst = kernel.make_inst(Op::Split, part, Attr::Lane(number), &[value], Some(part), span);
        made.push(inst);
        parts.extend(kernel.result(inst));
    }
    parts
}

/// Splits the wide parameters of a block, and assembles their values at its start.
fn put_together(
    kernel: &mut Kernel,
    legality: &Legality,
    block: Block,
    replaced: &mut SecondaryMap<Value, PackedOption<Value>>,
) {
    let span = kernel.blocks[block].insts.first().map_or_else(Span::default, |&first| kernel.insts[first].span);
    let params = kernel.block_params(block).to_vec();
    kernel.blocks[block].params = ValueList::new();
    let mut made = Vec::new();
    for param in params {
        let ty = kernel.ty(param);
        if !ty.is_wide() {
            let number = kernel.block_params(block).len() as u32;
            kernel.values[param].def = ValueDef::BlockParam(block, number);
            kernel.blocks[block].params.push(param, &mut kernel.pool);
            continue;
        }
        let is_planes = legality.narrowings().is_some();
        let part = if is_planes { Type::I8X16 } else { part(legality, ty) };
        let parts: Vec<Value> = (0..ty.bits() / part.bits()).map(|_| kernel.add_block_param(block, part)).collect();
        let whole = if is_planes {
            byte_planes::whole(kernel, ty, &parts, span, &mut made)
        } else {
            let whole = kernel.make_inst(Op::Concat, ty, Attr::None, &parts, Some(ty), span);
            made.push(whole);
            kernel.result(whole)
        };
        if let Some(whole) = whole {
            replaced[param] = whole.into();
            kernel.inherit_value_name(whole, param);
        }
    }
    kernel.blocks[block].insts.splice(0..0, made);
}
