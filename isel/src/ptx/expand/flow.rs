//! What instructions do beside their values, who uses these, and which blocks come before which.

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
    /// By place: the place of its immediate dominator; the entry's own.
    immediate: Vec<usize>,
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
        let mut result = Dominators { immediate: vec![usize::MAX; order.len()], order, place };
        if let Some(entry) = result.immediate.first_mut() {
            *entry = 0;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (i, before) in before.iter().enumerate().skip(1) {
                let known = before.iter().copied().filter(|&p| result.idom(p) != usize::MAX);
                let new = known.reduce(|a, b| result.common(a, b)).unwrap_or(usize::MAX);
                if let Some(old) = result.immediate.get_mut(i).filter(|old| **old != new) {
                    *old = new;
                    changed = true;
                }
            }
        }
        result
    }

    /// Whether all ways to `block` lead through `over`.
    pub fn dominates(&self, over: u32, block: u32) -> bool {
        let place = |b: u32| self.place.get(b as usize).copied().flatten();
        let (Some(over), Some(mut at)) = (place(over), place(block)) else { return false };
        while at > over {
            at = self.idom(at);
        }
        at == over
    }

    fn idom(&self, place: usize) -> usize {
        self.immediate.get(place).copied().unwrap_or(usize::MAX)
    }

    fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if a > b {
                a = self.idom(a);
            } else {
                b = self.idom(b);
            }
        }
        a
    }
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
