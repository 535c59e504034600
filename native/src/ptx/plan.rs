//! Facts about a kernel that are known before a launch: support by native code, and the inputs that
//! native code needs.

use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{IndexKind, SpecialReg, Width};
use halfbyte_isa::ptx::meaning::{Access, Effects, Next, Reader, meaning, written_registers};
use halfbyte_isa::ptx::module::{self, Entry, Param};
use halfbyte_isa::ptx::operand::Var;
use halfbyte_isa::ptx::row::InstClass;
use halfbyte_isa::ptx::types::{Special, SpecialGroup, Type};
use halfbyte_isa::ptx::{Inst, Operand, Reg};

use super::numbers::Numbers;
use crate::jit::Leads;
use halfbyte_isa::ptx::meaning::yields;
use halfbyte_isa::ptx::program::Program;
use halfbyte_isa::ptx::special;

/// Maximum number of bytes of local memory of each item of a row.
const MAX_FRAME: u32 = 1 << 14;

/// Requirements of a kernel's native code.
#[derive(Debug)]
pub(super) struct Plan {
    /// `true` if native code supports the kernel.
    pub is_native: bool,
    /// SM version of the PTX text.
    pub sm: u16,
    /// `true` if the items of a group synchronise, share memory, or read memory that other items may write meanwhile.
    pub is_of_groups: bool,
    /// Control flow of each instruction, with `true` if an item yields after the instruction. The last entry is the end
    /// of the kernel.
    pub leads: Vec<(Leads, bool)>,
    /// The type of each register.
    pub types: Vec<Type>,
    /// Offset of each variable in the frame.
    pub places: Vec<u32>,
    pub frame_bytes: u32,
    /// Bytes of shared memory that the kernel declares.
    pub shared_bytes: u64,
    /// `true` if the kernel addresses the reserved shared memory.
    pub has_reserved_memory: bool,
    /// Instructions that compute the number of an item.
    pub numbers: Numbers,
    /// Special registers that depend on the position of an item, as far as the kernel reads them.
    pub specials: Vec<SpecialReg>,
    /// Special registers that are uniform across a launch. Each is one word of constant bank 0, from `launch_start` on.
    pub launch: Vec<Special>,
    pub launch_start: u32,
}

impl Plan {
    pub fn new(kernel: &module::Kernel) -> Plan {
        let (program, entry) = (Program::new(kernel), &kernel.entry);
        let insts = &entry.body.insts;
        let code = program.kernel.types.as_slice();
        let mut are_taken = true;
        let of_inst = |inst: &Inst| {
            if computes(inst) {
                are_taken &= !reads_clock(inst);
                return (Leads::On, yields(inst));
            }
            // The kind of an effect does not depend on the operands.
            let effects = meaning(inst, &mut Concrete, &mut Nothing);
            are_taken &= is_taken(inst, &effects, code);
            (leads(entry, inst, &effects), yields(inst))
        };
        let mut leads: Vec<(Leads, bool)> = insts.iter().map(of_inst).collect();
        leads.push((Leads::End, false));
        let numbers = Numbers::new(entry);
        let item = |axis| SpecialReg { of: IndexKind::Item, axis: Some(axis) };
        let (mut specials, mut launch): (Vec<SpecialReg>, _) = (Vec::new(), Vec::new());
        for of in numbers.axes().map(item) {
            if !specials.contains(&of) {
                specials.push(of);
            }
        }
        let plain = (0..).zip(insts).filter(|(at, _)| numbers.is_plain(*at)).map(|(_, inst)| inst);
        for register in plain.flat_map(|inst| &inst.operands).filter_map(read_by) {
            match by_place(register) {
                Some(of) if !specials.contains(&of) => specials.push(of),
                None if !launch.contains(&register) => launch.push(register),
                _ => {}
            }
        }
        let last = Param::offsets(&entry.params).last().copied().unwrap_or(0);
        let end = last + entry.params.last().map_or(0, Param::bytes);
        let has_frame = program.kernel.frame_bytes <= MAX_FRAME && end < u64::from(u32::MAX / 2);
        Plan {
            is_native: has_frame && are_taken && !may_wait(insts, &leads),
            sm: kernel.target.sm,
            is_of_groups: program.is_of_groups(),
            types: program.kernel.types,
            places: program.kernel.places,
            frame_bytes: program.kernel.frame_bytes,
            shared_bytes: entry.shared_layout().bytes,
            has_reserved_memory: program.has_reserved_memory,
            leads,
            numbers,
            specials,
            launch,
            launch_start: (end as u32).next_multiple_of(4),
        }
    }
}

/// Returns the index register from which a special register can be computed. Returns `None` if the special register
/// does not depend on the position of the item.
pub(super) fn by_place(Special { group, axis }: Special) -> Option<SpecialReg> {
    match group {
        SpecialGroup::Thread => Some(SpecialReg { of: IndexKind::Thread, axis: Some(axis) }),
        SpecialGroup::Block => Some(SpecialReg { of: IndexKind::Block, axis: Some(axis) }),
        _ => special::of_thread(&mut Concrete, group, 0).map(|_| SpecialReg { of: IndexKind::Thread, axis: None }),
    }
}

fn read_by(operand: &Operand) -> Option<Special> {
    if let Operand::Special(special) = *operand { Some(special) } else { None }
}

/// Returns `true` if a register is a clock or a timer, which counts the instructions that an item executes.
fn is_clock(special: Special) -> bool {
    use SpecialGroup::*;
    matches!(special.group, Clock | ClockHigh | Clock64 | Time | TimeLow | TimeHigh)
}

/// Returns the width of an access, or `None` if native code needs several accesses.
pub(super) fn width_of(element: Type, count: usize) -> Option<Width> {
    Some(match element.bits() as usize / 8 * count {
        1 => Width::B8,
        2 => Width::B16,
        4 => Width::B32,
        8 => Width::B64,
        16 => Width::B128,
        _ => return None,
    })
}

/// Returns `true` if an instruction neither accesses memory nor branches, judged by its class.
pub(super) fn computes(inst: &Inst) -> bool {
    matches!(inst.row().class, InstClass::Compute | InstClass::Move)
}

fn reads_clock(inst: &Inst) -> bool {
    inst.operands.iter().filter_map(read_by).any(is_clock)
}

/// Returns `true` if native code supports an instruction.
fn is_taken(inst: &Inst, effects: &Effects<u32, bool>, types: &[Type]) -> bool {
    if reads_clock(inst) {
        return false;
    }
    let is_access = match &effects.access {
        None => true,
        Some(Access::Load { element, into, .. }) => width_of(*element, into.len()).is_some(),
        Some(Access::Store { element, data, .. }) => width_of(*element, data.len()).is_some(),
        // A 128-bit value is passed as two elements.
        Some(Access::Atomic { operands, .. }) => operands.len() == 1 || inst.ty(0) == Type::B128,
        Some(Access::CommitCopies | Access::AwaitCopies { .. }) => true,
        // A copy with more operands may read fewer bytes than it writes.
        Some(Access::Copy { .. }) => inst.operands.len() <= 3,
        Some(Access::Allocate { .. } | Access::SaveStack { .. } | Access::RestoreStack { .. }) => false,
    };
    let is_next = match effects.next {
        Next::Indexed { .. } | Next::Call(_) => false,
        Next::Collective => {
            let is_word = |reg: Reg| types.get(reg.0 as usize).is_some_and(|ty| matches!(ty.bits(), 1 | 32));
            written_registers(inst).all(is_word)
        }
        _ => true,
    };
    is_access && is_next
}

/// Returns the control flow of an instruction.
fn leads(entry: &Entry, inst: &Inst, effects: &Effects<u32, bool>) -> Leads {
    let always = inst.guard.is_none();
    match effects.next {
        Next::Branch(label) => {
            let end = entry.body.insts.len() as i64;
            let target = entry.body.labels.get(label.0 as usize).map_or(end, |label| label.at.into());
            Leads::Branch { target: target.min(end), always }
        }
        Next::Return | Next::Exit => Leads::Exit { always },
        Next::Collective => Leads::Meet,
        // A trap is a fault of the items that reach it. Native code does not support the other effects.
        Next::Fall | Next::Trap | Next::Indexed { .. } | Next::Call(_) => Leads::On,
    }
}

/// Returns `true` if an item may wait for other items in a loop: a strong access reads memory that other items write.
fn may_wait(insts: &[Inst], leads: &[(Leads, bool)]) -> bool {
    // A cycle through an instruction contains a branch at or after the instruction, to a target at or before it.
    let back = |(at, (leads, _)): (i64, &(Leads, bool))| match *leads {
        Leads::Branch { target, .. } if target <= at => Some(target..=at),
        _ => None,
    };
    let loops: Vec<_> = (0..).zip(leads).filter_map(back).collect();
    let asks = |inst: &Inst| yields(inst) && !matches!(inst.row().mnemonic, "red" | "st");
    (0i64..).zip(insts).any(|(at, inst)| asks(inst) && loops.iter().any(|around| around.contains(&at)))
}

/// Reader that returns only zeros.
struct Nothing;

impl Reader<Concrete> for Nothing {
    fn register(&mut self, _: &mut Concrete, _: Reg) -> [u32; 2] {
        [0; 2]
    }

    fn predicate(&mut self, _: &mut Concrete, _: Reg) -> bool {
        false
    }

    fn special(&mut self, _: &mut Concrete, _: Special) -> [u32; 2] {
        [0; 2]
    }

    fn variable(&mut self, _: &mut Concrete, _: Var) -> [u32; 2] {
        [0; 2]
    }
}
