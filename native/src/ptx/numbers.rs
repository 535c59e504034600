//! The number of an item along an axis, as compilers compute it: `ctaid.x * ntid.x + tid.x`.
//!
//! The number increases by one from item to item across the whole launch. Its operands restart in
//! every block.

use std::collections::{BTreeMap, BTreeSet};

use halfbyte_abi::Axis;
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::row::OperandRole;
use halfbyte_isa::ptx::types::{Special, SpecialGroup, Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::FxHashMap;

/// Instructions that compute the number of an item, and instructions whose results only these read.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    axes: BTreeMap<u32, Axis>,
    unread: BTreeSet<u32>,
}

impl Numbers {
    pub fn new(entry: &Entry) -> Numbers {
        let insts = &entry.body.insts;
        // Every item executes these instructions before all others.
        let label = entry.body.labels.iter().map(|label| label.at).min().unwrap_or(u32::MAX) as usize;
        let branch = insts.iter().position(|inst| matches!(inst.row().mnemonic, "bra" | "brx" | "call"));
        let straight = branch.unwrap_or(insts.len()).min(label);
        let [mut writes, mut reads]: [FxHashMap<Reg, u32>; 2] = Default::default();
        for (role, reg) in insts.iter().flat_map(Inst::registers) {
            if role != OperandRole::Def {
                *reads.entry(reg).or_default() += 1;
            }
            if role != OperandRole::Use {
                *writes.entry(reg).or_default() += 1;
            }
        }
        let is_once = |reg: &Reg| writes.get(reg) == Some(&1);
        let mut held: BTreeMap<Reg, (u32, Special)> = BTreeMap::new();
        let mut numbers = Numbers::default();
        for (at, inst) in (0..).zip(insts).filter(|(_, inst)| inst.guard.is_none()) {
            let is_straight = (at as usize) < straight;
            if let Some((reg, special)) = moved(inst).filter(|(reg, _)| is_straight && is_once(reg)) {
                held.insert(reg, (at, special));
            }
            if let Some((axis, read)) = number(inst, &held) {
                numbers.axes.insert(at, axis);
                for reg in read {
                    reads.entry(reg).and_modify(|reads| *reads -= 1);
                }
            }
        }
        let is_unread = |(reg, (at, _)): (&Reg, &(u32, Special))| (reads.get(reg) == Some(&0)).then_some(*at);
        numbers.unread = held.iter().filter_map(is_unread).collect();
        numbers
    }

    /// Returns the axis along which an instruction computes the number of the item.
    pub fn axis(&self, at: u32) -> Option<Axis> {
        self.axes.get(&at).copied()
    }

    pub fn axes(&self) -> impl Iterator<Item = Axis> {
        self.axes.values().copied()
    }

    /// Returns `true` if only instructions that compute the number of the item read the result of an instruction.
    pub fn is_unread(&self, at: u32) -> bool {
        self.unread.contains(&at)
    }

    /// Returns `true` if an instruction is executed according to its semantics.
    pub fn is_plain(&self, at: u32) -> bool {
        !self.axes.contains_key(&at) && !self.is_unread(at)
    }
}

/// Returns the special register that a `mov` reads, and the register that it writes.
fn moved(inst: &Inst) -> Option<(Reg, Special)> {
    match inst.operands.as_slice() {
        [Operand::Register(to), Operand::Special(special)]
            if inst.row().mnemonic == "mov" && inst.ty(0).bits() == 32 =>
        {
            Some((*to, *special))
        }
        _ => None,
    }
}

/// Returns the axis along which an instruction computes the number of the item, and the registers that it reads.
fn number(inst: &Inst, held: &BTreeMap<Reg, (u32, Special)>) -> Option<(Axis, Vec<Reg>)> {
    let is_word = matches!(inst.ty(0), Type::U32 | Type::S32);
    if inst.opcode != Opcode::MAD || !inst.has(Token::Lo) || !is_word {
        return None;
    }
    let [_, factors @ .., term] = inst.operands.as_slice() else { return None };
    let special = |operand: &Operand| match operand {
        Operand::Special(special) => Some(*special),
        Operand::Register(reg) => held.get(reg).map(|(_, special)| *special),
        _ => None,
    };
    let Special { group: SpecialGroup::Thread, axis } = special(term)? else { return None };
    let [x, y] = factors else { return None };
    let groups = [special(x)?, special(y)?];
    let is_number = groups.iter().all(|special| special.axis == axis)
        && matches!(
            groups.map(|special| special.group),
            [SpecialGroup::Block, SpecialGroup::BlockSize] | [SpecialGroup::BlockSize, SpecialGroup::Block]
        );
    let read = inst.operands.iter().skip(1).filter_map(|operand| match operand {
        Operand::Register(reg) => Some(*reg),
        _ => None,
    });
    is_number.then(|| (axis, read.collect()))
}
