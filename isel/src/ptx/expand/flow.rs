//! What instructions do beside their values, who uses these, and which blocks come before which.

use std::ops::Range;

use halfbyte_ir::flow::common_ancestor;
use halfbyte_isa::ptx::row::{Class, Role};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::FxHashSet;

use crate::ptx::Code;

/// The first register of an instruction.
fn result(inst: &Inst) -> Option<Reg> {
    match inst.operands.first() {
        Some(&Operand::Register(d)) => Some(d),
        _ => None,
    }
}

/// The one register that an instruction writes, if all it does is compute it of its operands.
pub fn pure(inst: &Inst) -> Option<Reg> {
    let row = inst.row();
    let computes = match inst.opcode {
        Opcode::LD_PARAM => true,
        _ => !matches!(row.class, Class::Memory | Class::Control),
    };
    if !computes || inst.guard.is_some() {
        return None;
    }
    let written = row.operands.iter().filter(|operand| operand.role != Role::Use);
    result(inst).filter(|_| written.count() == 1)
}

/// How often each register is read, by number.
pub fn uses(code: &Code) -> Vec<u32> {
    let mut uses = vec![0; code.registers.len()];
    let mut count = |reg: Reg| {
        if let Some(n) = uses.get_mut(reg.0 as usize) {
            *n += 1;
        }
    };
    for block in &code.blocks {
        for placed in &block.insts {
            placed.inst.visit_registers(|role, reg| {
                if role != Role::Def {
                    count(reg)
                }
            });
        }
        block.terminator.registers().for_each(&mut count);
    }
    uses
}

/// The registers that an instruction reads.
pub fn read(inst: &Inst) -> impl Iterator<Item = Reg> {
    inst.registers().filter(|&(role, _)| role != Role::Def).map(|(_, reg)| reg)
}

/// Takes out computations of what nobody reads.
pub fn remove_unused(code: &mut Code) {
    let mut uses = uses(code);
    let mut unused = FxHashSet::default();
    loop {
        unused.clear();
        for placed in code.blocks.iter().rev().flat_map(|block| block.insts.iter().rev()) {
            let is_unused = |d: &Reg| uses.get(d.0 as usize) == Some(&0);
            if let Some(d) = result(&placed.inst).filter(is_unused).and_then(|_| pure(&placed.inst)) {
                for reg in read(&placed.inst) {
                    if let Some(n) = uses.get_mut(reg.0 as usize) {
                        *n = n.saturating_sub(1);
                    }
                }
                unused.insert(d);
            }
        }
        if unused.is_empty() {
            return;
        }
        for block in &mut code.blocks {
            block.insts.retain(|placed| result(&placed.inst).is_none_or(|d| !unused.contains(&d)));
        }
    }
}

/// The blocks that are reached, each after those on all ways to it but the ways back, and the closest block that all ways to
/// each lead through.
pub struct Dominators {
    /// The blocks in that order.
    pub order: Vec<u32>,
    /// By block: its place in the order, where it is reached.
    place: Vec<Option<usize>>,
    /// By place, the numbers between which those of all the blocks lie that the block dominates.
    tree: Vec<Range<usize>>,
}

impl Dominators {
    /// Those of some code.
    pub fn of(code: &Code) -> Dominators {
        let order = reverse_postorder(code);
        let mut place = vec![None; code.blocks.len()];
        for (i, &block) in order.iter().enumerate() {
            if let Some(place) = place.get_mut(block as usize) {
                *place = Some(i);
            }
        }
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        for (i, &block) in order.iter().enumerate() {
            for edge in code.blocks.get(block as usize).into_iter().flat_map(|b| b.terminator.edges()) {
                let to = place.get(edge.block as usize).copied().flatten();
                if let Some(before) = to.and_then(|to| before.get_mut(to)) {
                    before.push(i);
                }
            }
        }
        let tree = tree(&immediate(&before));
        Dominators { order, place, tree }
    }

    /// Whether all ways to `block` lead through `over`.
    pub fn dominates(&self, over: u32, block: u32) -> bool {
        let numbers = |b: u32| self.tree.get(self.place.get(b as usize).copied().flatten()?);
        let (Some(over), Some(block)) = (numbers(over), numbers(block)) else { return false };
        over.contains(&block.start)
    }
}

/// By place, the place of the immediate dominator; of the entry its own. `before` has the places that go to each.
fn immediate(before: &[Vec<usize>]) -> Vec<usize> {
    const UNKNOWN: usize = usize::MAX;
    let mut immediate = vec![UNKNOWN; before.len()];
    if let Some(entry) = immediate.first_mut() {
        *entry = 0;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for (i, before) in before.iter().enumerate().skip(1) {
            let known = |&place: &usize| immediate.get(place).is_some_and(|&above| above != UNKNOWN);
            let parent = |place: usize| immediate.get(place).copied().unwrap_or(0);
            let new = common_ancestor(before.iter().copied().filter(known), parent).unwrap_or(UNKNOWN);
            if let Some(old) = immediate.get_mut(i).filter(|old| **old != new) {
                *old = new;
                changed = true;
            }
        }
    }
    immediate
}

/// Numbers the nodes of a tree so that those of each subtree follow each other; each node comes after its parent.
fn tree(parents: &[usize]) -> Vec<Range<usize>> {
    let mut sizes = vec![1; parents.len()];
    for (node, &parent) in parents.iter().enumerate().skip(1).rev() {
        let size = sizes.get(node).copied().unwrap_or(0);
        sizes.get_mut(parent).into_iter().for_each(|of| *of += size);
    }
    // Where the next child of each node begins.
    let mut next: Vec<usize> = Vec::with_capacity(parents.len());
    let mut tree = Vec::with_capacity(parents.len());
    for (node, (&parent, size)) in parents.iter().zip(sizes).enumerate() {
        let first = match next.get_mut(parent).filter(|_| node > 0) {
            Some(next) => std::mem::replace(next, *next + size),
            None => 0,
        };
        next.push(first + 1);
        tree.push(first..first + size);
    }
    tree
}

fn reverse_postorder(code: &Code) -> Vec<u32> {
    let targets = |block: u32| -> Vec<u32> {
        let block = code.blocks.get(block as usize);
        block.map_or(Vec::new(), |b| b.terminator.edges().map(|edge| edge.block).collect())
    };
    let mut seen = vec![false; code.blocks.len()];
    let mut visit = |block: u32| seen.get_mut(block as usize).is_some_and(|seen| !std::mem::replace(seen, true));
    let mut order = Vec::with_capacity(code.blocks.len());
    let mut stack = if visit(0) { vec![(0, targets(0))] } else { Vec::new() };
    while let Some((block, left)) = stack.last_mut() {
        match left.pop() {
            Some(next) if visit(next) => stack.push((next, targets(next))),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
