//! The decoded instructions of a kernel, and queries on them.

use std::ops::Range;

use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::isa::MachineCode;
use halfbyte_isa::row::{OperandRole, RegFile, RegSlot};
use halfbyte_isa::word::Field;

/// The forms of LOP3 whose sources [`Listing::sources`] knows.
pub(crate) const LOGIC: &[Opcode] = &[Opcode::LOP3_RRR, Opcode::LOP3_RIR, Opcode::LOP3_RCR];

const SUMS: &[Opcode] = &[Opcode::IADD3_RRR, Opcode::IADD3_RIR, Opcode::IADD3_RCR];

/// Encoding of a logical shift in the `SIGN` field of `SHF`.
const SIGN_UNSIGNED: u64 = 0;
/// Encoding of a left shift in the `DIR` field of `SHF`.
const DIR_LEFT: u64 = 0;

/// The decoded instructions of a kernel.
pub(crate) struct Listing {
    insts: Vec<Option<Inst>>,
    /// For each instruction index, `true` if the instruction is a branch target.
    begins: Vec<bool>,
}

/// Returns the index of the instruction to which a branch at `at` jumps.
fn target(inst: &Inst, at: usize) -> Option<usize> {
    at.checked_add_signed(inst.get_signed(inst.opcode().target()?) as isize)
}

impl Listing {
    /// Decodes machine code. The instructions of other targets than HALU remain undecoded.
    pub(crate) fn new(code: &dyn MachineCode) -> Listing {
        let is_halu = code.target() == halfbyte_isa::halu::TARGET;
        let insts: Vec<Option<Inst>> = code.iter().map(|word| Inst::decode(word).filter(|_| is_halu)).collect();
        let mut begins = vec![false; insts.len()];
        for (at, inst) in insts.iter().enumerate() {
            let target = inst.as_ref().and_then(|inst| target(inst, at));
            if let Some(begin) = target.and_then(|to| begins.get_mut(to)) {
                *begin = true;
            }
        }
        Listing { insts, begins }
    }

    /// Returns the number of instructions.
    pub(crate) fn len(&self) -> usize {
        self.insts.len()
    }

    /// Returns the instruction at an index. Returns `None` past the end, and for a word that is not an instruction.
    pub(crate) fn inst(&self, at: usize) -> Option<&Inst> {
        self.insts.get(at)?.as_ref()
    }

    /// Returns `true` if a branch jumps to the instruction.
    pub(crate) fn is_branch_target(&self, at: usize) -> bool {
        self.begins.get(at) == Some(&true)
    }

    /// Returns the index of the instruction to which the branch at `at` jumps. Returns `None` for an instruction that
    /// is not a branch.
    pub(crate) fn branch_target(&self, at: usize) -> Option<usize> {
        target(self.inst(at)?, at)
    }

    /// Returns `true` if the opcode of the instruction is one of the given opcodes.
    pub(crate) fn is(&self, at: usize, opcodes: &[Opcode]) -> bool {
        self.inst(at).is_some_and(|inst| opcodes.contains(&inst.opcode()))
    }

    /// Returns `true` if the instruction has no guard, and its opcode is one of the given opcodes.
    pub(crate) fn is_always(&self, at: usize, opcodes: &[Opcode]) -> bool {
        self.is(at, opcodes) && self.inst(at).is_some_and(Inst::is_unconditional)
    }

    /// Returns the value of a field that the instruction has.
    pub(crate) fn field(&self, at: usize, field: Field) -> u64 {
        self.inst(at).map_or(0, |inst| inst.get(field))
    }

    /// Returns the instruction word without the values of some fields.
    pub(crate) fn word_without(&self, at: usize, fields: &[Field]) -> Option<u128> {
        Some(fields.iter().fold(self.inst(at)?.word(), |word, field| field.set(word, 0)))
    }

    /// Returns the instruction word without the numbers of its registers.
    pub(crate) fn operation(&self, at: usize) -> Option<u128> {
        let inst = self.inst(at)?;
        Some(inst.registers().iter().fold(inst.word(), |word, slot| slot.field.set(word, 0)))
    }

    /// Returns the registers of a file that an instruction reads (`Use`) or writes (`Def`). An
    /// operand of several registers contributes all of them.
    pub(crate) fn operands(&self, at: usize, file: RegFile, role: OperandRole) -> impl Iterator<Item = u64> {
        let inst = self.inst(at).copied();
        let slots = inst.map_or(&[][..], |inst| inst.opcode().registers());
        let constant = file.constant().map(|(number, _)| u64::from(number));
        let of = move |slot: &&RegSlot| slot.file == file && (slot.role == role || slot.role == OperandRole::Update);
        slots.iter().filter(of).flat_map(move |slot| {
            let first = inst.map_or(0, |inst| inst.get(slot.field));
            (first..first + u64::from(slot.span)).filter(move |&reg| Some(reg) != constant)
        })
    }

    /// Returns the general-purpose registers that an instruction reads (`Use`) or writes (`Def`).
    pub(crate) fn registers(&self, at: usize, role: OperandRole) -> impl Iterator<Item = u64> {
        self.operands(at, RegFile::Gpr, role)
    }

    /// Returns `true` if the instruction reads the general-purpose register.
    pub(crate) fn reads(&self, at: usize, reg: u64) -> bool {
        self.registers(at, OperandRole::Use).any(|read| read == reg)
    }

    /// Returns `true` if the instruction reads the general-purpose register only in operands of one
    /// register. Another register can replace it in such an operand.
    pub(crate) fn reads_alone(&self, at: usize, reg: u64) -> bool {
        let Some(inst) = self.inst(at) else { return false };
        inst.registers().iter().filter(|slot| slot.file == RegFile::Gpr && slot.role != OperandRole::Def).all(|slot| {
            let first = inst.get(slot.field);
            let is_alone = slot.span == 1 && slot.role == OperandRole::Use;
            is_alone || !(first..first + u64::from(slot.span)).contains(&reg)
        })
    }

    /// Returns `true` if the instruction writes register `reg` of `file`.
    pub(crate) fn writes(&self, at: usize, file: RegFile, reg: u64) -> bool {
        let has_all = file == RegFile::Pred && self.inst(at).is_some_and(|inst| inst.opcode().has_all_preds());
        has_all || self.operands(at, file, OperandRole::Def).any(|written| written == reg)
    }

    /// Returns the general-purpose register that an instruction writes, if it writes exactly one.
    pub(crate) fn result(&self, at: usize) -> Option<u64> {
        let mut written = self.registers(at, OperandRole::Def);
        written.next().filter(|_| written.next().is_none())
    }

    /// Returns the instructions that read the result of the instruction at `at`. Returns `None` if
    /// the result may still be read after the basic block.
    pub(crate) fn uses(&self, at: usize) -> Option<Vec<usize>> {
        let result = self.result(at)?;
        let mut users = Vec::new();
        for next in at + 1..self.insts.len() {
            let inst = self.inst(next)?;
            if self.is_branch_target(next) || inst.opcode().target().is_some() {
                return None;
            }
            if self.reads(next, result) {
                users.push(next);
            }
            let is_end = inst.opcode() == Opcode::EXIT && inst.is_unconditional();
            if is_end || inst.is_unconditional() && self.writes(next, RegFile::Gpr, result) {
                return Some(users);
            }
        }
        None
    }

    /// Returns the only instruction that reads the result of the instruction at `at`. Returns
    /// `None` if there are several, or if the result may still be read after the basic block.
    pub(crate) fn only_use(&self, at: usize) -> Option<usize> {
        match self.uses(at)?[..] {
            [user] => Some(user),
            _ => None,
        }
    }

    /// Returns the earlier instructions of the basic block in descending order.
    pub(crate) fn earlier(&self, at: usize) -> impl Iterator<Item = usize> {
        (0..at).rev().take_while(|&before| !self.is_branch_target(before + 1))
    }

    /// Returns the instruction in the same basic block that defines the general-purpose register
    /// `reg`, which the instruction at `at` reads. Returns `None` if that instruction has a guard or
    /// writes several registers.
    pub(crate) fn definition(&self, at: usize, reg: u64) -> Option<usize> {
        let writer = self.earlier(at).find(|&before| self.writes(before, RegFile::Gpr, reg))?;
        let is_whole = self.result(writer) == Some(reg) && self.inst(writer).is_some_and(Inst::is_unconditional);
        is_whole.then_some(writer)
    }

    /// Returns `true` if register `reg` of `file` has the same value before both instructions, and both instructions
    /// are in one basic block.
    pub(crate) fn is_kept(&self, file: RegFile, reg: u64, one: usize, other: usize) -> bool {
        let between = one.min(other)..one.max(other);
        between.clone().all(|at| !self.is_branch_target(at + 1)) && !self.is_written(file, reg, between)
    }

    /// Returns `true` if one of the instructions writes register `reg` of `file`.
    pub(crate) fn is_written(&self, file: RegFile, reg: u64, mut range: Range<usize>) -> bool {
        range.any(|at| self.writes(at, file, reg))
    }

    /// Returns `true` if the instruction at `at` is a logical right shift by one of the given counts.
    pub(crate) fn shift_right(&self, at: usize, counts: &[u64]) -> bool {
        self.right_shift(at).is_some_and(|(_, count, is_signed)| !is_signed && counts.contains(&count))
    }

    /// Returns the operand and the count of a right shift by an immediate. The third result is
    /// `true` if the shift is arithmetic.
    pub(crate) fn right_shift(&self, at: usize) -> Option<(u64, u64, bool)> {
        let is_right = self.is(at, &[Opcode::SHF_RIR])
            && self.field(at, RA) == u64::from(RZ)
            && self.field(at, DIR) != DIR_LEFT
            && self.field(at, HI) == 1;
        let is_signed = || self.field(at, SIGN) != SIGN_UNSIGNED;
        is_right.then(|| (self.field(at, R64), self.field(at, IMM32) & 31, is_signed()))
    }

    /// Returns the operand and the count of a left shift by an immediate.
    pub(crate) fn left_shift(&self, at: usize) -> Option<(u64, u64)> {
        let is_left = self.is(at, &[Opcode::SHF_RIR])
            && self.field(at, R64) == u64::from(RZ)
            && self.field(at, DIR) == DIR_LEFT
            && self.field(at, HI) == 0;
        is_left.then(|| (self.field(at, RA), self.field(at, IMM32) & 31))
    }

    /// Returns the operand and the mask of a LOP3 that is the bitwise AND of a register and an immediate.
    pub(crate) fn and_mask(&self, at: usize) -> Option<(u64, u64)> {
        // The third source is 0, so only the even bits of the truth table have an effect.
        let is_mask = self.is(at, &[Opcode::LOP3_RIR])
            && self.field(at, R64) == u64::from(RZ)
            && self.field(at, LUT) & 0x55 == 0x40;
        is_mask.then(|| (self.field(at, RA), self.field(at, IMM32)))
    }

    /// Returns `true` if the instruction is an integer addition without a carry in or out.
    pub(crate) fn is_sum(&self, at: usize) -> bool {
        self.is(at, SUMS) && self.field(at, X) == 0 && self.field(at, PU) == u64::from(PT)
    }

    /// Returns `true` if the instruction is an integer addition without a carry in or out, and negates no source.
    pub(crate) fn is_positive_sum(&self, at: usize) -> bool {
        self.is_sum(at)
            && self.field(at, RA_NEG) + self.field(at, R64_NEG) == 0
            && (self.is(at, &[Opcode::IADD3_RIR]) || self.field(at, SLOT_NEG) == 0)
    }

    /// Returns the distinct source registers of an instruction without RZ. The second result is a
    /// number that identifies the immediate or constant-bank source, if any.
    pub(crate) fn sources(&self, at: usize) -> (Vec<u64>, Option<u64>) {
        let mut registers: Vec<u64> = self.registers(at, OperandRole::Use).collect();
        registers.sort_unstable();
        registers.dedup();
        let other = match self.inst(at).map(Inst::opcode) {
            Some(Opcode::LOP3_RIR | Opcode::IADD3_RIR | Opcode::IMAD_RIR) => Some(self.field(at, IMM32)),
            Some(Opcode::LOP3_RCR | Opcode::IADD3_RCR | Opcode::IMAD_RCR) => {
                Some(1 << 32 | self.field(at, CMEM_OFFSET))
            }
            _ => None,
        };
        (registers, other)
    }

    /// Returns `true` if one instruction with three sources could replace the second instruction and read the sources
    /// of the first instruction instead of its result.
    pub(crate) fn fits_one(&self, first: usize, second: usize) -> bool {
        let (registers, other) = self.sources(first);
        let (more, another) = self.sources(second);
        let Some(between) = self.result(first) else { return false };
        // A register that is redefined between the two instructions counts as a separate source.
        let is_new = |&reg: &u64| {
            reg != between && (!registers.contains(&reg) || self.is_written(RegFile::Gpr, reg, first..second))
        };
        let registers = registers.len() + more.into_iter().filter(is_new).count();
        let others = match (other, another) {
            (Some(a), Some(b)) if a != b => 2,
            (None, None) => 0,
            _ => 1,
        };
        others < 2 && registers + others <= 3
    }
}
