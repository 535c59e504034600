//! Hoisting of constants out of loops, and merging of equal constants.
//!
//! If an instruction needs a register operand, a rule moves an immediate or a word of constant memory into a register
//! directly before the instruction. In a loop, every iteration would execute the move. So the move is hoisted before the
//! outermost loop, and equal moves are merged. Outside loops, equal moves of a block are merged if they are near each
//! other, so that the live range of the register stays short.

use cranelift_entity::EntityRef;
use halfbyte_ir::flow::{Flow, Node};
use halfbyte_isa::halu::Opcode;
use rustc_hash::FxHashMap;

use super::machine::{Halu, RegClass};
use crate::vcode::{Access, BlockIndex, Terminator, VCode, VInst, VReg};

/// Maximum number of registers that hoisted constants may occupy.
const MAX_HOISTED_REGISTERS: usize = 24;

/// Maximum number of instructions between two equal moves that are merged.
const MAX_DISTANCE: u32 = 64;

/// Hoists moves of immediates and constant memory out of loops, and merges equal moves.
pub(super) fn hoist(code: &mut VCode<Halu>) {
    hoist_out_of_loops(code);
    merge(code);
}

/// Merges equal moves of constants in each block.
fn merge(code: &mut VCode<Halu>) {
    if code.insts.iter().filter(|inst| moved_constant(code, inst).is_some()).nth(1).is_none() {
        return;
    }
    let is_kept = must_stay(code);
    // The last instruction, with its register, that moves each constant in the current block.
    let mut known: FxHashMap<u128, (u32, VReg)> = FxHashMap::default();
    let mut is_now: FxHashMap<VReg, VReg> = FxHashMap::default();
    let mut goes = vec![false; code.insts.len()];
    for block in &code.blocks {
        known.clear();
        for at in block.insts.clone() {
            let Some(inst) = code.insts.get(at as usize) else { continue };
            let Some(reg) = moved_constant(code, inst).filter(|reg| !is_kept[reg.0 as usize]) else { continue };
            match known.get(&inst.inst.word()) {
                Some(&(before, same)) if at - before <= MAX_DISTANCE => {
                    is_now.insert(reg, same);
                    goes[at as usize] = true;
                }
                _ => drop(known.insert(inst.inst.word(), (at, reg))),
            }
        }
    }
    replace(code, &is_now, &goes);
}

/// Replaces registers, and removes the instructions for which `goes` is `true`.
fn replace(code: &mut VCode<Halu>, is_now: &FxHashMap<VReg, VReg>, goes: &[bool]) {
    if !goes.contains(&true) {
        return;
    }
    for operand in &mut code.operands {
        operand.reg = is_now.get(&operand.reg).copied().unwrap_or(operand.reg);
    }
    code.retain(|at, _| !goes[at as usize]);
}

/// Hoists moves of immediates and constant memory out of loops.
fn hoist_out_of_loops(code: &mut VCode<Halu>) {
    if !has_back_edge(code) {
        return;
    }
    let before = before_loops(code);
    if before.iter().all(Option::is_none) {
        return;
    }
    let is_kept = must_stay(code);
    // `hoisted` maps a block and the instruction word of a move to the register that holds the
    // constant in this block. `is_now` maps each register to its replacement.
    let mut hoisted: FxHashMap<(BlockIndex, u128), VReg> = FxHashMap::default();
    let mut is_now: FxHashMap<VReg, VReg> = FxHashMap::default();
    let (mut goes, mut moves) = (vec![false; code.insts.len()], Vec::new());
    for (block, before) in code.blocks.iter().zip(before) {
        let Some(before) = before else { continue };
        for at in block.insts.clone() {
            let Some(inst) = code.insts.get(at as usize) else { continue };
            let Some(reg) = moved_constant(code, inst).filter(|reg| !is_kept[reg.0 as usize]) else { continue };
            let key = (before, inst.inst.word());
            if let Some(&same) = hoisted.get(&key) {
                is_now.insert(reg, same);
            } else if moves.len() < MAX_HOISTED_REGISTERS {
                hoisted.insert(key, reg);
                moves.push((before, inst.clone()));
            } else {
                continue;
            }
            goes[at as usize] = true;
        }
    }
    replace(code, &is_now, &goes);
    code.append(moves);
}

/// Returns `true` if the code has an edge to an earlier block, as every loop has.
fn has_back_edge(code: &VCode<Halu>) -> bool {
    let mut blocks = (0..).zip(&code.blocks);
    blocks.any(|(number, block): (BlockIndex, _)| block.terminator.edges().any(|edge| edge.block <= number))
}

/// Returns the preheader of the outermost loop around each block. The preheader is the only
/// predecessor of the header outside the loop, and the header is its only successor.
fn before_loops(code: &VCode<Halu>) -> Vec<Option<BlockIndex>> {
    let flow = Flow::new(code);
    let mut before = vec![None; code.blocks.len()];
    let mut is_in_loop = vec![false; code.blocks.len()];
    // The header of an outer loop precedes the headers of its inner loops, so the blocks of an
    // inner loop already have a preheader.
    for header in flow.reverse_postorder() {
        if is_in_loop[header.index()] {
            continue;
        }
        let (mut latches, mut entries) = (Vec::new(), Vec::new());
        for &from in flow.predecessors(header).iter().filter(|&&from| flow.is_reachable(from)) {
            if flow.dominates(header, from) { latches.push(from) } else { entries.push(from) }
        }
        if latches.is_empty() {
            continue;
        }
        let entry = match entries[..] {
            [only]
                if matches!(
                    code.blocks.get(only.index()).map(|block| &block.terminator),
                    Some(Terminator::Jump(_))
                ) =>
            {
                Some(only.index() as BlockIndex)
            }
            _ => None,
        };
        is_in_loop[header.index()] = true;
        before[header.index()] = entry;
        let mut work: Vec<Node> = latches;
        while let Some(node) = work.pop() {
            if std::mem::replace(&mut is_in_loop[node.index()], true) {
                continue;
            }
            before[node.index()] = entry;
            work.extend(flow.predecessors(node).iter().filter(|&&from| flow.is_reachable(from)));
        }
    }
    before
}

/// Returns, for each register, `true` if its definition must not be hoisted: an instruction updates the register in
/// place, or the register is a block argument. A longer live range of such a register would need another move.
fn must_stay(code: &VCode<Halu>) -> Vec<bool> {
    let mut is_kept = vec![false; code.vregs.len()];
    for operand in &code.operands {
        if let Access::UpdateInPlace(old) = operand.access {
            is_kept[old.0 as usize] = true;
        }
    }
    for edge in code.blocks.iter().flat_map(|block| block.terminator.edges()) {
        code.list(&edge.args).iter().for_each(|arg| is_kept[arg.0 as usize] = true);
    }
    is_kept
}

/// Returns the register into which an instruction moves an immediate or a word of constant memory
/// unconditionally, or `None` for any other instruction.
fn moved_constant(code: &VCode<Halu>, inst: &VInst<Halu>) -> Option<VReg> {
    if !matches!(inst.inst.opcode(), Opcode::MOV_I | Opcode::MOV_C) {
        return None;
    }
    // A guarded move has the guard as a second operand.
    let [only] = code.operands(inst) else { return None };
    let is_word = code.vregs.get(only.reg.0 as usize) == Some(&RegClass::Word);
    (only.access == Access::Def && is_word).then_some(only.reg)
}
