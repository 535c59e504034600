//! The trace of one thread: each instruction that the thread executes, with the registers that it
//! writes and its memory accesses.

use std::fmt;

use halfbyte_abi::buffer_of;
use halfbyte_isa::buffers::range;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::program::{Program, text_of};
use halfbyte_isa::ptx::types::{Type, TypeKind};
use halfbyte_isa::ptx::{Inst, Reg};
use halfbyte_isa::row::OperandRole;
use halfbyte_isa::trap::Space;

use super::memory::{Memory, ResolvedAddress};

/// Request for the trace of one work item.
#[derive(Clone, Copy)]
pub struct Trace<'a> {
    /// Number of the item in the launch.
    pub item: u32,
    /// Receiver of the steps, in the order of execution.
    pub step: &'a (dyn Fn(&Step) + Sync),
}

impl fmt::Debug for Trace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({})", self.item)
    }
}

/// An instruction that the traced item has executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Source location of the instruction in the PTX text.
    pub loc: Loc,
    /// Text of the instruction.
    pub instruction: String,
    /// Number of active calls: functions that the item has called and that have not returned.
    pub depth: usize,
    /// The guard's predicate register and its value, if the instruction has a guard.
    pub guard: Option<(String, bool)>,
    /// The effect of the instruction on control flow.
    pub outcome: Outcome,
    /// The registers that the instruction has written, with their values.
    pub writes: Vec<RegisterValue>,
    /// The memory accesses of the instruction, in order.
    pub accesses: Vec<Accessed>,
}

/// The effect of an instruction on control flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Execution continues at the following instruction.
    Next,
    /// The guard is false, so the instruction has no effect.
    Skipped,
    /// A branch to the instruction at this source location. An unknown location is the end of the
    /// body.
    Branch(Loc),
    /// A call of the function with this name.
    Call(String),
    /// A return to the call at this source location.
    Return(Loc),
    /// The item waits for other items at the instruction.
    Wait,
    /// The item ends.
    End,
    /// The item traps.
    Trap,
}

/// The value of a register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegisterValue {
    /// Name of the register.
    pub name: String,
    /// Type in which the value is shown. The type is as wide as the register.
    pub ty: Type,
    /// The bits of the value.
    pub bits: u64,
    /// Name of the buffer or variable to which a 64-bit value points, and the byte offset in it.
    pub target: Option<(String, u64)>,
}

/// A memory access of a traced instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accessed {
    /// `true` if the access reads memory.
    pub reads: bool,
    /// `true` if the access writes memory. An atomic operation reads and writes.
    pub writes: bool,
    /// The memory space that contains the accessed bytes.
    pub space: Space,
    /// Address of the first accessed byte, in the memory space.
    pub address: u64,
    /// Name of the buffer, variable or parameter that contains the accessed bytes, and the byte
    /// offset of the access in it.
    pub place: Option<(String, u64)>,
    /// Type and bits of each accessed element, as they are in memory after the access.
    pub elements: Vec<(Type, u64)>,
}

/// The recorder of the trace during a launch.
pub(super) struct Tracer<'a> {
    pub trace: Trace<'a>,
    /// Function that returns the source location of the instruction at an address of the program.
    pub locate: &'a dyn Fn(usize) -> Loc,
    /// Accesses of the traced item since the last step: the address, the number of bytes, and
    /// whether the access reads and writes.
    pub accesses: Vec<(ResolvedAddress, usize, [bool; 2])>,
}

/// An executed instruction of a program, and its outcome.
pub(super) struct Executed<'p> {
    pub inst: &'p Inst,
    pub address: usize,
    pub depth: usize,
    pub outcome: Outcome,
}

impl Memory<'_> {
    /// Returns `true` if the running item is traced.
    pub(super) fn is_traced(&self) -> bool {
        self.tracer.as_ref().is_some_and(|tracer| tracer.trace.item == self.item)
    }

    /// Returns the source location of the instruction at an address of the program. Returns an
    /// unknown location if the launch is not traced.
    pub(super) fn loc(&self, address: usize) -> Loc {
        self.tracer.as_ref().map_or_else(Loc::default, |tracer| (tracer.locate)(address))
    }

    /// Records an access of the traced item to `count` bytes. `how` holds two flags: the access
    /// reads, and the access writes.
    pub(super) fn trace_access(&mut self, at: ResolvedAddress, count: usize, how: [bool; 2]) {
        if let Some(tracer) = self.tracer.as_mut().filter(|tracer| tracer.trace.item == self.item) {
            tracer.accesses.push((at, count, how));
        }
    }

    /// Discards the accesses that were recorded since the last step.
    pub(super) fn forget_accesses(&mut self) {
        if let Some(tracer) = &mut self.tracer {
            tracer.accesses.clear();
        }
    }

    /// Reports an executed instruction of the traced item. `register` returns the name, the
    /// declared type and the value of a register.
    pub(super) fn trace_step(
        &mut self,
        program: &Program<'_>,
        executed: Executed<'_>,
        register: impl Fn(Reg) -> (String, Type, u64),
    ) {
        let Some(tracer) = &mut self.tracer else { return };
        let Executed { inst, address, depth, outcome } = executed;
        let accesses = std::mem::take(&mut tracer.accesses);
        let (Trace { step, .. }, loc) = (tracer.trace, (tracer.locate)(address));
        let value = |name: String, ty: Type, bits: u64| {
            let is_address = ty.bits() == 64 && matches!(ty.kind(), TypeKind::Bits | TypeKind::Integer);
            RegisterValue { name, ty, bits, target: if is_address { self.buffer_at(bits) } else { None } }
        };
        let has_values = matches!(outcome, Outcome::Next);
        let mut writes = Vec::new();
        for (row, operand) in inst.operands_with_rows().filter(|(row, _)| has_values && row.role != OperandRole::Use) {
            let ty = row.shape.value_type(&inst.modifiers);
            operand.visit_registers(|reg| {
                let (name, declared, bits) = register(reg);
                writes.push(value(name, shown_type(ty, declared), bits));
            });
        }
        if has_values && inst.writes_carry() {
            let (_, ty, bits) = register(Reg::CARRY);
            writes.push(value("carry".to_owned(), ty, bits));
        }
        let guard = inst.guard.map(|guard| {
            let (name, _, bits) = register(guard.reg);
            (name, bits != 0)
        });
        let accesses = if has_values { accesses } else { Vec::new() };
        let accesses = accesses.into_iter().map(|access| self.accessed(program, inst, access)).collect();
        let instruction = text_of(program.entry, address);
        step(&Step { loc, instruction, depth, guard, outcome, writes, accesses });
    }

    fn accessed(
        &self,
        program: &Program<'_>,
        inst: &Inst,
        (at, count, [reads, writes]): (ResolvedAddress, usize, [bool; 2]),
    ) -> Accessed {
        let param = |number: usize, offset| Some((program.entry.params.get(number)?.name.clone(), offset));
        let (space, address, bytes, place) = match at {
            ResolvedAddress::Shared(address) => (Space::Shared, address, range(&self.shared, address, count), None),
            ResolvedAddress::Local(address) => (Space::Local, address, self.stack.get(address, count), None),
            ResolvedAddress::Global(address) => {
                (Space::Global, address, self.engine_bytes(address, count), self.buffer_at(address))
            }
            ResolvedAddress::Param(address) => {
                let number = self.param_places.partition_point(|&place| place <= address).wrapping_sub(1);
                let start = self.param_places.get(number).copied().unwrap_or(0);
                (Space::Constant(0), address, self.at_param(address, count), param(number, address - start))
            }
            ResolvedAddress::Parameter(number, offset) => {
                let bytes = self.params.get(number as usize).and_then(|param| range(param, offset, count));
                (Space::Constant(0), offset, bytes, param(number as usize, offset))
            }
        };
        let size = (inst.element().bits() as usize / 8).clamp(1, 8);
        let (size, ty) = if count % size == 0 { (size, inst.element()) } else { (1, Type::U8) };
        let element = |bytes: &[u8]| (ty, bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)));
        let elements = bytes.unwrap_or_default().chunks_exact(size).map(element).collect();
        Accessed { reads, writes, space, address, place, elements }
    }

    /// Returns the name of the buffer or variable that contains an address, and the byte offset in
    /// it. Returns `None` for an address outside of all buffers and variables.
    pub(super) fn buffer_at(&self, address: u64) -> Option<(String, u64)> {
        let (number, offset) = buffer_of(address)?;
        let buffer = self.buffers.0.get(number)?.as_ref().filter(|buffer| offset <= buffer.bytes().len() as u64)?;
        Some((buffer.name.to_owned(), offset))
    }
}

/// Returns the type in which a register's value is shown. `ty` is the operand's type in the
/// instruction, and `declared` is the type of the register.
fn shown_type(ty: Option<Type>, declared: Type) -> Type {
    match ty {
        Some(ty) if ty.bits() == declared.bits() && ty.kind() != TypeKind::Bits && declared != Type::Pred => ty,
        // The instruction sign-extends a narrower signed integer to the width of the register.
        Some(ty) if ty.is_signed() && declared.kind() != TypeKind::Float => {
            let all = [Type::S8, Type::S16, Type::S32, Type::S64];
            all.into_iter().find(|ty| ty.bits() == declared.bits()).unwrap_or(declared)
        }
        _ => declared,
    }
}
