//! The machine function of what was allocated: register numbers in the words, and words for moves, spills and branches.

use halfbyte_isa::abi::MAX_LOCAL_BYTES;
use halfbyte_isa::half::Compare;
use halfbyte_isa::halu::fields::{GUARD, GUARD_NOT, ICMP, IMM24, IMM32, LUT, PP, PP_NOT, PU, R32, R64, RA, RD};
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isa::object::Loc;
use regalloc2::{Allocation, Edit, ProgPoint};

use super::AllocError;
use super::adapter::Run;
use super::banks::{Assignment, Slot};
use super::flow::{Flow, insts};
use super::slots::SlotPlan;
use crate::mach::{BlockIndex, MachBlock, MachFunc, MachInst};
use crate::vcode::{Access, Terminator, VCode, VInst, VReg};

/// A run's result on the way into words, in the order of the code.
pub(super) struct Part<'a> {
    run: &'a Run,
    assignment: &'a Assignment,
    plan: SlotPlan,
    edits: &'a [(ProgPoint, Edit)],
    allocs: &'a [Allocation],
    /// First word of local memory for its spill slots.
    local: u32,
}

impl<'a> Part<'a> {
    pub(super) fn new(run: &'a Run, assignment: &'a Assignment) -> Part<'a> {
        let output = run.output();
        Part { run, assignment, plan: SlotPlan::new(run), edits: &output.edits, allocs: &output.allocs, local: 0 }
    }

    fn place(&self, place: Allocation) -> Place {
        match (place.as_reg(), place.as_stack()) {
            (Some(reg), _) => {
                let number = self.plan.number(reg).into();
                self.run.slot(reg).map_or(Place::None, |slot| Place::Slot(slot, number))
            }
            (None, Some(spilled)) => Place::Local(u64::from(4 * (self.local + spilled.index() as u32))),
            (None, None) => Place::None,
        }
    }

    /// The place of the next operand.
    fn next_place(&mut self) -> Option<Place> {
        let (first, rest) = self.allocs.split_first()?;
        self.allocs = rest;
        Some(self.place(*first))
    }

    /// The next move up to a point.
    fn next_edit(&mut self, point: ProgPoint) -> Option<(Allocation, Allocation)> {
        let ((at, Edit::Move { from, to }), rest) = self.edits.split_first()?;
        (*at <= point).then(|| {
            self.edits = rest;
            (*from, *to)
        })
    }
}

/// Where a value lies.
enum Place {
    /// Nowhere.
    None,
    /// In the slot that begins with this hardware register.
    Slot(Slot, u64),
    /// At this byte of local memory.
    Local(u64),
}

/// Writes the words. `parts` are the run for general registers, which may have the predicates too, or else after it the run
/// for these.
pub(super) fn rewrite(code: VCode, flow: &Flow, parts: &mut [Part]) -> Result<MachFunc, AllocError> {
    let mut words = 0u64;
    for part in &mut *parts {
        part.local = words as u32;
        words += part.run.output().num_spillslots as u64;
    }
    let local_bytes = 4 * words;
    if local_bytes > MAX_LOCAL_BYTES.into() {
        return Err(AllocError::LocalMemory(local_bytes));
    }
    let registers = parts.iter().map(|part| part.plan.registers).max().unwrap_or(0);
    let mut writer = Writer { insts: Vec::new(), registers, carrier: registers, spills: 0 };
    let mut blocks = vec![MachBlock::default(); code.blocks.len()];
    for (rank, block) in flow.blocks(&code) {
        let (index, range) = (flow.index(rank), flow.range(rank));
        writer.insts.reserve(range.len() + 1);
        for (vinst, at) in insts(&code, block).iter().zip(range.iter()) {
            writer.edits(parts, ProgPoint::before(at), vinst.loc)?;
            writer.inst(&code, vinst, parts)?;
            writer.edits(parts, ProgPoint::after(at), vinst.loc)?;
        }
        writer.edits(parts, ProgPoint::before(range.last()), block.loc)?;
        writer.terminator(&block.terminator, index + 1, block.loc, parts)?;
        blocks[index as usize].insts = std::mem::take(&mut writer.insts);
    }
    Ok(MachFunc {
        signature: code.signature,
        blocks,
        local_bytes: local_bytes as u32,
        registers: writer.registers.into(),
        spills: writer.spills,
    })
}

struct Writer {
    /// Of the block under way.
    insts: Vec<MachInst>,
    /// General registers in use.
    registers: u8,
    /// The general register that carries a predicate to local memory and back; taken when the first is spilled.
    carrier: u8,
    spills: u32,
}

impl Writer {
    fn push(&mut self, inst: Inst, target: Option<BlockIndex>, loc: Loc) {
        self.insts.push(MachInst { inst, target, loc });
    }

    fn inst(&mut self, code: &VCode, vinst: &VInst, parts: &mut [Part]) -> Result<(), AllocError> {
        let mut inst = vinst.inst;
        for operand in code.operands(vinst) {
            let part = part_of(parts, operand.reg)?;
            if let Access::Replace(_) = operand.access {
                part.next_place();
            }
            let number = number(part, operand.reg)?;
            inst.set(operand.field, number + u64::from(operand.part));
        }
        self.push(inst, None, vinst.loc);
        Ok(())
    }

    /// A block's last words, `next` being the block after it.
    fn terminator(
        &mut self,
        terminator: &Terminator,
        next: BlockIndex,
        loc: Loc,
        parts: &mut [Part],
    ) -> Result<(), AllocError> {
        let branch = Inst::new(Opcode::BRA);
        match *terminator {
            Terminator::Exit => self.push(Inst::new(Opcode::EXIT), None, loc),
            Terminator::Jump(ref edge) => self.push(branch, Some(edge.block), loc),
            Terminator::Branch { cond, not, ref then, ref otherwise } => {
                let pred = number(part_of(parts, cond)?, cond)?;
                // A branch to the next block need not be: let it be the one without a guard.
                let (not, first, second) =
                    if then.block == next { (!not, otherwise, then) } else { (not, then, otherwise) };
                self.push(branch.with(GUARD, pred).with(GUARD_NOT, not.into()), Some(first.block), loc);
                self.push(branch, Some(second.block), loc);
            }
        }
        Ok(())
    }

    /// The moves up to a point.
    fn edits(&mut self, parts: &mut [Part], point: ProgPoint, loc: Loc) -> Result<(), AllocError> {
        for part in parts {
            while let Some((from, to)) = part.next_edit(point) {
                if from != to {
                    self.edit(part, from, to, loc)?;
                }
            }
        }
        Ok(())
    }

    fn edit(&mut self, part: &Part, from: Allocation, to: Allocation, loc: Loc) -> Result<(), AllocError> {
        match (part.place(from), part.place(to)) {
            (Place::Slot(slot, from), Place::Slot(_, to)) => self.copy(slot, from, to, loc),
            (Place::Slot(slot, from), Place::Local(to)) => self.spill(slot, from, to, loc),
            (Place::Local(from), Place::Slot(slot, to)) => self.reload(slot, from, to, loc),
            _ => return Err(AllocError::Unsound(format!("a move from {from} to {to}"))),
        }
        Ok(())
    }

    fn copy(&mut self, slot: Slot, from: u64, to: u64, loc: Loc) {
        match slot {
            Slot::Pred => {
                // The table whose value is that of the first source.
                let plop3 = Inst::new(Opcode::PLOP3).with(LUT, 0xf0);
                self.push(plop3.with(PU, to).with(PP, from), None, loc);
            }
            Slot::Gpr(words) => {
                let mov = Inst::new(Opcode::MOV_R);
                (0..u64::from(words)).for_each(|i| self.push(mov.with(RD, to + i).with(R32, from + i), None, loc));
            }
        }
    }

    fn spill(&mut self, slot: Slot, from: u64, local: u64, loc: Loc) {
        self.spills += 1;
        let (opcode, from) = match slot {
            Slot::Pred => {
                let carrier = self.carrier();
                let sel = Inst::new(Opcode::SEL_RI).with(IMM32, 1).with(PP_NOT, 1);
                self.push(sel.with(RD, carrier).with(PP, from), None, loc);
                (Opcode::STL_32, carrier)
            }
            Slot::Gpr(1) => (Opcode::STL_32, from),
            Slot::Gpr(2) => (Opcode::STL_64, from),
            Slot::Gpr(_) => (Opcode::STL_128, from),
        };
        self.push(Inst::new(opcode).with(R64, from).with(IMM24, local), None, loc);
    }

    fn reload(&mut self, slot: Slot, local: u64, to: u64, loc: Loc) {
        let (opcode, word) = match slot {
            Slot::Pred => (Opcode::LDL_32, self.carrier()),
            Slot::Gpr(1) => (Opcode::LDL_32, to),
            Slot::Gpr(2) => (Opcode::LDL_64, to),
            Slot::Gpr(_) => (Opcode::LDL_128, to),
        };
        self.push(Inst::new(opcode).with(RD, word).with(IMM24, local), None, loc);
        if slot == Slot::Pred {
            let isetp = Inst::new(Opcode::ISETP_RI).with(ICMP, Compare::NE.code().into());
            self.push(isetp.with(PU, to).with(RA, word), None, loc);
        }
    }

    fn carrier(&mut self) -> u64 {
        self.registers = self.carrier + 1;
        self.carrier.into()
    }
}

/// The run that has part in a register.
fn part_of<'p, 'a>(parts: &'p mut [Part<'a>], reg: VReg) -> Result<&'p mut Part<'a>, AllocError> {
    let missing = || AllocError::Unsound(format!("{reg:?} has no bank"));
    parts.iter_mut().find(|part| part.assignment.bank_of(reg).is_some()).ok_or_else(missing)
}

/// The hardware register of the next operand.
fn number(part: &mut Part, reg: VReg) -> Result<u64, AllocError> {
    match part.next_place() {
        Some(Place::Slot(_, number)) => Ok(number),
        _ => Err(AllocError::Unsound(format!("{reg:?} has no register"))),
    }
}
