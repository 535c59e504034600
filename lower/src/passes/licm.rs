//! Loop-invariant code motion.
//!
//! A pure instruction whose operands are defined outside a loop moves to the preheader of the outermost loop for which
//! this holds. Every op is total, so the pass may also hoist an instruction that the loop would not execute. Constants
//! and masks are hoisted only together with an instruction that uses them. Selection folds constants into instructions
//! and places comparisons next to branches, so a hoisted constant or mask alone would only occupy a register.
//!
//! A load can trap. It moves out of the innermost loop only if every entry of the loop executes it before all effects
//! and traps of the instructions that stay, and if no item of the launch writes the buffer.
//!
//! If a loop has no preheader, the pass creates one directly in front of the loop header, so that no branch becomes a
//! backward branch. A kernel with an irreducible loop or a loop without exit is not changed.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, SecondaryMap};
use halfbyte_ir::{Attr, Block, BlockCall, BlockData, Flow, Inst, Kernel, Op, Type, Value, ValueList};

use crate::pass::{BuiltIn, Context, Order};
use crate::passes::loops::{LoopId, Loops};
use crate::trace::{ChangeKind, Report};

/// Maximum number of loads that leave a loop. Each load occupies a register in the whole loop.
const MOST_LOADS: usize = 16;

/// The `licm` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "licm",
    description: "hoists loop-invariant code",
    order: &[(Order::Again("legalise"), "parts of an expansion may be loop-invariant")],
    run,
};

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    if kernel.layout.len() < 2 {
        return false;
    }
    let flow = context.flow(kernel);
    let Ok(loops) = Loops::new(kernel, &flow) else { return false };
    let leaves = if loops.ids().next().is_some() { leaving(kernel, &flow, &loops) } else { None };
    let Some(leaves) = leaves else {
        context.keep_flow(flow);
        return false;
    };
    let blocks = kernel.blocks.len();
    let mut moved: Vec<Vec<Inst>> = loops.ids().map(|_| Vec::new()).collect();
    for block in flow.reverse_postorder().filter(|&block| loops.innermost_of(block).is_some()) {
        let mut insts = std::mem::take(&mut kernel.blocks[block].insts);
        insts.retain(|&inst| match leaves[inst].expand() {
            Some(from) => {
                moved[from.index()].push(inst);
                false
            }
            None => true,
        });
        kernel.blocks[block].insts = insts;
    }
    for (id, insts) in loops.ids().zip(moved) {
        if insts.is_empty() {
            continue;
        }
        for &inst in &insts {
            let before = context.trace.before(kernel, inst);
            context.trace.replaced(
                before,
                ChangeKind::Told("loop-invariant, so hoisted out of the loop"),
                kernel,
                &[inst],
                None,
            );
        }
        let before = block_before(kernel, &flow, &loops, id);
        let place = kernel.blocks[before].insts.len().saturating_sub(1);
        kernel.blocks[before].insts.splice(place..place, insts);
    }
    if kernel.blocks.len() == blocks {
        context.keep_flow(flow);
    }
    true
}

/// Returns the outermost loop that each instruction to hoist leaves; `None` if no instruction can be hoisted.
fn leaving(kernel: &Kernel, flow: &Flow, loops: &Loops) -> Option<SecondaryMap<Inst, PackedOption<LoopId>>> {
    let mut leaves: SecondaryMap<Inst, PackedOption<LoopId>> = SecondaryMap::new();
    let mut any = false;
    // Block of each instruction that may be hoisted.
    let mut stands: SecondaryMap<Inst, PackedOption<Block>> = SecondaryMap::new();
    // Earliest block in which each value can be available; `None` for values that are available everywhere.
    let mut home: SecondaryMap<Value, PackedOption<Block>> = SecondaryMap::new();
    home.resize(kernel.values.len());
    let mut work = Vec::new();
    for block in flow.reverse_postorder() {
        // `has_effect` is set after an instruction that stays and has an effect or can trap. `loads` counts the hoisted loads.
        let (mut has_effect, mut loads) = (false, 0);
        for &param in kernel.block_params(block) {
            home[param] = block.into();
        }
        for &inst in &kernel.blocks[block].insts {
            let Some(result) = kernel.result(inst) else {
                has_effect = true;
                continue;
            };
            home[result] = block.into();
            let comes_from_outside = |id: &LoopId| {
                let inside = |arg: &Value| home[*arg].expand().is_some_and(|home| loops.get(*id).contains(home));
                !kernel.args(inst).iter().any(inside)
            };
            let out = if kernel.insts[inst].op.is_pure() {
                loops.nest(block).take_while(comes_from_outside).last()
            } else if !has_effect && loads < MOST_LOADS && kernel.reads_unwritten(inst) {
                let innermost = loops.nest(block).next().filter(|&id| loops.get(id).header == block);
                let out = innermost.filter(comes_from_outside);
                has_effect = out.is_none();
                loads += 1;
                out
            } else {
                has_effect = true;
                None
            };
            let Some(out) = out else { continue };
            stands[inst] = block.into();
            home[result] = flow.immediate_dominator(loops.get(out).header).into();
            if kernel.insts[inst].op == Op::Const || kernel.ty(result).is_mask() {
                continue;
            }
            work.push((inst, out));
            while let Some((inst, out)) = work.pop() {
                let is_inside = stands[inst].expand().is_some_and(|block| loops.get(out).contains(block));
                // An outer loop has a lower number than the loops inside it.
                if !is_inside || leaves[inst].expand().is_some_and(|known| known <= out) {
                    continue;
                }
                leaves[inst] = out.into();
                any = true;
                let defs = kernel.args(inst).iter().filter_map(|&arg| kernel.def_inst(arg));
                work.extend(defs.map(|def| (def, out)));
            }
        }
    }
    any.then_some(leaves)
}

/// Returns the preheader of a loop. Creates the preheader if the loop has none.
fn block_before(kernel: &mut Kernel, flow: &Flow, loops: &Loops, id: LoopId) -> Block {
    let header = loops.get(id).header;
    let outside = |from: &&Block| flow.is_reachable(**from) && !loops.get(id).contains(**from);
    let mut from: Vec<Block> = flow.predecessors(header).iter().filter(outside).copied().collect();
    if let &[only] = from.as_slice()
        && kernel.successors(only).count() == 1
    {
        return only;
    }
    let edges = from.len();
    from.dedup();
    let before = kernel.blocks.push(BlockData::default());
    kernel.blocks[before].span = kernel.blocks[header].span;
    let place = kernel.layout.iter().position(|&block| block == header).unwrap_or(kernel.layout.len());
    kernel.layout.insert(place, before);
    let mut args: Vec<Value> = Vec::new();
    if edges > 1 {
        for number in 0..kernel.block_params(header).len() {
            let Some(&param) = kernel.block_params(header).get(number) else { continue };
            let ty = kernel.ty(param);
            args.push(kernel.add_block_param(before, ty));
        }
    }
    for block in from {
        let Some(branch) = kernel.terminator(block) else { continue };
        let Attr::Targets(range) = kernel.insts[branch].attr else { continue };
        for number in 0..kernel.calls(range).len() {
            let Some(&call) = kernel.calls(range).get(number).filter(|call| call.block == header) else { continue };
            if edges == 1 {
                args = kernel.call_args(&call).to_vec();
            }
            if let Some(call) = kernel.calls_mut(range).get_mut(number) {
                call.block = before;
                if edges == 1 {
                    call.args = ValueList::new();
                }
            }
        }
    }
    let args = ValueList::from_slice(&args, &mut kernel.pool);
    let targets = Attr::Targets(kernel.add_calls(&[BlockCall { block: header, args, case: 0 }]));
    let span = kernel.blocks[header].span;
    kernel.push_inst(before, Op::Br, Type::I32, targets, &[], None, span);
    before
}
