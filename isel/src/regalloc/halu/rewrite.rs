//! Generation of the machine function for HALU from the result of regalloc2: writes register
//! numbers into the instructions, and inserts instructions for moves and spills.

use halfbyte_abi::MAX_LOCAL_BYTES;
use halfbyte_isa::half::Compare;
use halfbyte_isa::halu::fields::{ICMP, IMM24, IMM32, LUT, PP, PP_NOT, PU, R32, R64, RA, RD};
use halfbyte_isa::halu::{Inst, Opcode};
use regalloc2::{Allocation, Edit, ProgPoint};

use super::super::AllocError;
use super::super::adapter::{AllocationRun, BankAssignment as _, Cursor};
use super::super::flow::Flow;
use super::super::rewrite::{Rewriter, rewrite};
use super::banks::{Assignment, SlotKind};
use super::slots::SlotPlan;
use crate::halu::machine::Halu;
use crate::mach::MachFunc;
use crate::vcode::{Access, VCode, VInst, VReg};

/// Result of one run of regalloc2, which is read in code order.
pub(super) struct RunOutput<'a> {
    run: &'a AllocationRun,
    assignment: &'a Assignment,
    plan: SlotPlan,
    cursor: Cursor<'a>,
    /// Index of the first word in local memory that the spill slots of this run use.
    local: u32,
}

impl<'a> RunOutput<'a> {
    pub(super) fn new(run: &'a AllocationRun, assignment: &'a Assignment) -> RunOutput<'a> {
        RunOutput { run, assignment, plan: SlotPlan::new(run, assignment), cursor: run.cursor(), local: 0 }
    }

    fn place(&self, place: Allocation) -> Location {
        match (place.as_reg(), place.as_stack()) {
            (Some(reg), _) => {
                let number = self.plan.number(reg).into();
                self.assignment.slot(reg).map_or(Location::None, |slot| Location::Slot(slot, number))
            }
            (None, Some(spilled)) => Location::Local(u64::from(4 * (self.local + spilled.index() as u32))),
            (None, None) => Location::None,
        }
    }

    /// Returns the number of the hardware register of the next operand.
    fn number(&mut self, reg: VReg) -> Result<u64, AllocError> {
        match self.cursor.next_place().and_then(Allocation::as_reg) {
            Some(place) => Ok(self.plan.number(place).into()),
            None => Err(AllocError::Unsound(format!("{reg:?} has no register"))),
        }
    }
}

/// Returns `true` if the run of regalloc2 spilled general registers.
pub(super) fn spills_registers(run: &AllocationRun, assignment: &Assignment) -> bool {
    run.output().edits.iter().any(|(_, Edit::Move { from, to })| {
        let slot = from.as_reg().and_then(|reg| assignment.slot(reg));
        to.is_stack() && slot.is_some_and(|slot| slot != SlotKind::Pred)
    })
}

/// Location of a value: hardware registers or local memory.
enum Location {
    /// The value has no location.
    None,
    /// Slot of registers, by the number of its first hardware register.
    Slot(SlotKind, u64),
    /// Byte address in local memory.
    Local(u64),
}

/// Generates the machine function. `parts` are the results of regalloc2: the run for general
/// registers, and the separate run for predicates if there is one.
pub(super) fn machine_function(
    code: VCode<Halu>,
    flow: &Flow,
    parts: &mut [RunOutput],
) -> Result<MachFunc<Halu>, AllocError> {
    // Spill slots follow the scratch arrays, at an offset that aligns even the widest spill slot.
    let mut words = u64::from(code.extra.scratch_bytes).next_multiple_of(16) / 4;
    for part in &mut *parts {
        part.local = words as u32;
        words += part.run.output().num_spillslots as u64;
    }
    let local_bytes = 4 * words;
    if local_bytes > MAX_LOCAL_BYTES.into() {
        return Err(AllocError::LocalMemory(local_bytes));
    }
    let registers = parts.iter().map(|part| part.plan.registers).max().unwrap_or(0);
    let next_move = next_move(parts);
    let mut writer = Writer { parts, moves: Moves { registers, carrier: registers, spills: 0 }, next_move };
    let blocks = rewrite(&code, flow, &mut writer)?;
    let Moves { registers, spills, .. } = writer.moves;
    Ok(MachFunc {
        signature: code.signature,
        blocks,
        local_bytes: local_bytes as u32,
        registers: registers.into(),
        spills,
        extra: code.extra,
    })
}

struct Writer<'p, 'a> {
    parts: &'p mut [RunOutput<'a>],
    moves: Moves,
    /// Program point of the next inserted move. Most code has few moves, so a comparison with this
    /// point avoids most of the work.
    next_move: ProgPoint,
}

impl Rewriter<Halu> for Writer<'_, '_> {
    fn inst(&mut self, code: &VCode<Halu>, vinst: &VInst<Halu>) -> Result<Inst, AllocError> {
        let mut inst = vinst.inst;
        for operand in code.operands(vinst) {
            let has_part = |part: &&mut RunOutput| part.assignment.bank_of(operand.reg).is_some();
            let part = match &mut *self.parts {
                [all] => Some(all),
                parts => parts.iter_mut().find(has_part),
            };
            let Some(part) = part else {
                return Err(AllocError::Unsound(format!("{:?} has no bank", operand.reg)));
            };
            if let Access::UpdateInPlace(_) = operand.access {
                part.cursor.next_place();
            }
            let number = part.number(operand.reg)?;
            inst.set(operand.place, number + u64::from(operand.part));
        }
        Ok(inst)
    }

    #[inline]
    fn moves(&mut self, point: ProgPoint, push: &mut dyn FnMut(Inst)) -> Result<(), AllocError> {
        if point < self.next_move { Ok(()) } else { self.moves_here(point, push) }
    }
}

impl Writer<'_, '_> {
    #[cold]
    fn moves_here(&mut self, point: ProgPoint, push: &mut dyn FnMut(Inst)) -> Result<(), AllocError> {
        for part in &mut *self.parts {
            while let Some((from, to)) = part.cursor.next_move(point) {
                if from != to {
                    self.moves.edit(part, from, to, push)?;
                }
            }
        }
        self.next_move = next_move(self.parts);
        Ok(())
    }
}

/// Returns the program point of the next inserted move. If there is none, returns a point after all code.
fn next_move(parts: &[RunOutput]) -> ProgPoint {
    let next = parts.iter().filter_map(|part| part.cursor.next_point()).min();
    next.unwrap_or_else(ProgPoint::invalid)
}

/// Converter of regalloc2's moves to HALU instructions.
struct Moves {
    /// Number of general registers that the code uses.
    registers: u8,
    /// General register through which predicates are spilled and reloaded. It counts as used from its first use on.
    carrier: u8,
    spills: u32,
}

impl Moves {
    fn edit(
        &mut self,
        part: &RunOutput,
        from: Allocation,
        to: Allocation,
        push: &mut dyn FnMut(Inst),
    ) -> Result<(), AllocError> {
        match (part.place(from), part.place(to)) {
            (Location::Slot(slot, from), Location::Slot(_, to)) => copy(slot, from, to, push),
            (Location::Slot(slot, from), Location::Local(to)) => self.spill(slot, from, to, push),
            (Location::Local(from), Location::Slot(slot, to)) => self.reload(slot, from, to, push),
            _ => return Err(AllocError::Unsound(format!("a move from {from} to {to}"))),
        }
        Ok(())
    }

    fn spill(&mut self, slot: SlotKind, from: u64, local: u64, push: &mut dyn FnMut(Inst)) {
        self.spills += 1;
        let (opcode, from) = match slot {
            SlotKind::Pred => {
                let carrier = self.predicate_spill_register();
                let sel = Inst::new(Opcode::SEL_RI).with(IMM32, 1).with(PP_NOT, 1);
                push(sel.with(RD, carrier).with(PP, from));
                (Opcode::STL_32, carrier)
            }
            SlotKind::Gpr(1) => (Opcode::STL_32, from),
            SlotKind::Gpr(2) => (Opcode::STL_64, from),
            SlotKind::Gpr(_) => (Opcode::STL_128, from),
        };
        push(Inst::new(opcode).with(R64, from).with(IMM24, local));
    }

    fn reload(&mut self, slot: SlotKind, local: u64, to: u64, push: &mut dyn FnMut(Inst)) {
        let (opcode, word) = match slot {
            SlotKind::Pred => (Opcode::LDL_32, self.predicate_spill_register()),
            SlotKind::Gpr(1) => (Opcode::LDL_32, to),
            SlotKind::Gpr(2) => (Opcode::LDL_64, to),
            SlotKind::Gpr(_) => (Opcode::LDL_128, to),
        };
        push(Inst::new(opcode).with(RD, word).with(IMM24, local));
        if slot == SlotKind::Pred {
            let isetp = Inst::new(Opcode::ISETP_RI).with(ICMP, Compare::NE.code().into());
            push(isetp.with(PU, to).with(RA, word));
        }
    }

    fn predicate_spill_register(&mut self) -> u64 {
        self.registers = self.carrier + 1;
        self.carrier.into()
    }
}

/// Emits the instructions that copy the registers of one slot to another slot.
fn copy(slot: SlotKind, from: u64, to: u64, push: &mut dyn FnMut(Inst)) {
    match slot {
        SlotKind::Pred => {
            // PLOP3 with the truth table 0xf0 returns its first operand.
            let plop3 = Inst::new(Opcode::PLOP3).with(LUT, 0xf0);
            push(plop3.with(PU, to).with(PP, from));
        }
        SlotKind::Gpr(words) => {
            let mov = Inst::new(Opcode::MOV_R);
            (0..u64::from(words)).for_each(|i| push(mov.with(RD, to + i).with(R32, from + i)));
        }
    }
}
