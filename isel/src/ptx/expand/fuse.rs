//! Duplication of values that NVIDIA's assembler can fuse into their users.
//!
//! The assembler fuses a sum into a sum (IADD3), a shift into a sum (LEA, LEA.HI), and a half-word sum or extremum into
//! an extremum (VIADDMNMX, VIMNMX3). The fused value must have a single use. If all users of a value can fuse it, each
//! user gets a copy, and the original instruction is removed.

use std::convert::Infallible;

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::FxHashMap;

use super::registers::Registers;
use super::uses::{pure, read, remove_unused, uses};
use crate::Ptx;
use crate::vcode::{BlockIndex, VCode, VInst};

/// Copies each value that all of its users can fuse.
pub(super) fn fuse(code: &mut VCode<Ptx>) {
    let insts = || code.insts.iter().map(|inst| &inst.inst);
    if insts().filter(|inst| kind(inst).is_some()).nth(1).is_none() {
        return;
    }
    let mut values = Values { uses: uses(code), inner: FxHashMap::default(), outer: FxHashMap::default() };
    for inst in insts().filter(|inst| kind(inst).is_some()) {
        if let Some(d) = pure(inst) {
            values.inner.insert(d, inst.clone());
            read(inst).for_each(|reg| drop(values.outer.insert(reg, inst.clone())));
        }
    }
    let mut fused: FxHashMap<Reg, u32> = FxHashMap::default();
    for (reg, _) in insts().filter_map(|inst| values.wanted(inst)) {
        *fused.entry(reg).or_default() += 1;
    }
    fused.retain(|&reg, count| values.uses(reg) == *count);
    if fused.is_empty() {
        return;
    }
    let in_order: Vec<BlockIndex> = (0..code.blocks.len() as BlockIndex).collect();
    let Ok(()) = code.rewrite(&in_order, |registers, _, mut inst, out| {
        if let Some((shared, inner)) = values.wanted(&inst.inst).filter(|(reg, _)| fused.contains_key(reg)) {
            let fresh = Registers(registers).fresh(Type::B32);
            let rename = |_, reg| if reg == shared { fresh } else { reg };
            let mut copy = inner.clone();
            copy.rename(rename);
            inst.inst.rename(rename);
            out.push(VInst::alone(copy, inst.loc));
        }
        out.push(inst);
        Ok::<(), Infallible>(())
    });
    remove_unused(code);
}

/// Facts about virtual registers that decide about fusion.
struct Values {
    /// Number of reads of each register.
    uses: Vec<u32>,
    /// Defining instruction of each register that can be fused into a user.
    inner: FxHashMap<Reg, Inst>,
    /// Last instruction that reads the register and can fuse an operand.
    outer: FxHashMap<Reg, Inst>,
}

impl Values {
    fn uses(&self, reg: Reg) -> u32 {
        self.uses.get(reg.0 as usize).copied().unwrap_or(0)
    }

    /// Returns the operands that an instruction can fuse, with their defining instructions.
    fn candidates<'a>(&'a self, outer: &'a Inst) -> impl Iterator<Item = (Reg, &'a Inst)> {
        read(outer).filter_map(|reg| Some((reg, self.inner.get(&reg).filter(|inner| can_fuse(outer, reg, inner))?)))
    }

    /// Returns `true` if an instruction fuses an operand, because the operand has no other use.
    fn takes_one(&self, outer: &Inst) -> bool {
        self.candidates(outer).any(|(reg, _)| self.uses(reg) == 1)
    }

    /// Returns an operand that an instruction could fuse if the operand had no other use, with the
    /// operand's definition. An instruction fuses only one operand. A fused instruction fuses none,
    /// and an instruction that fuses an operand is not fused itself.
    fn wanted(&self, outer: &Inst) -> Option<(Reg, &Inst)> {
        kind(outer)?;
        let d = pure(outer)?;
        let is_taken = self.uses(d) == 1 && self.outer.get(&d).is_some_and(|user| can_fuse(user, d, outer));
        if is_taken || self.takes_one(outer) {
            return None;
        }
        read(outer).find_map(|reg| {
            let inner = self.inner.get(&reg).filter(|inner| can_fuse(outer, reg, inner) && !self.takes_one(inner))?;
            Some((reg, inner))
        })
    }
}

/// Kind of an instruction that can be fused or can fuse an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FusionKind {
    Add,
    Sub,
    /// Shift by a constant.
    Shift,
    /// Sum of half-words.
    Sum,
    /// Extremum of half-words.
    Extremum,
}

fn kind(inst: &Inst) -> Option<FusionKind> {
    let is_word = inst.modifiers.iter().any(|word| matches!(word, Token::Type(Type::U32 | Type::S32 | Type::B32)));
    match inst.opcode {
        Opcode::ADD if is_word => Some(FusionKind::Add),
        Opcode::SUB if is_word => Some(FusionKind::Sub),
        Opcode::SHL | Opcode::SHR if is_word && matches!(inst.operands.get(2), Some(Operand::Number(_))) => {
            Some(FusionKind::Shift)
        }
        Opcode::ADD_X2 => Some(FusionKind::Sum),
        Opcode::MIN_X2 | Opcode::MAX_X2 | Opcode::MIN_RELU_X2 | Opcode::MAX_RELU_X2 => Some(FusionKind::Extremum),
        _ => None,
    }
}

/// Returns `true` if the assembler can fuse `inner` into `outer`, which reads its result.
fn can_fuse(outer: &Inst, result: Reg, inner: &Inst) -> bool {
    let reads = |n: usize| outer.operands.get(n) == Some(&Operand::Register(result));
    let once = reads(1) != reads(2);
    match (kind(inner), kind(outer)) {
        (Some(FusionKind::Add | FusionKind::Sub | FusionKind::Shift), Some(FusionKind::Add)) => once,
        (Some(FusionKind::Add | FusionKind::Sub), Some(FusionKind::Sub)) => once && reads(1),
        (Some(FusionKind::Sum), Some(FusionKind::Extremum)) => once,
        (Some(FusionKind::Extremum), Some(FusionKind::Extremum)) => {
            once && outer.opcode == inner.opcode && outer.modifiers == inner.modifiers
        }
        _ => false,
    }
}
