//! Basic blocks of PTX as dataflows.

use halfbyte_isa::halu::domain::{Domain, IndexKind, SpecialReg, Width};
use halfbyte_isa::ptx::meaning::{
    self as meanings, Effects, Next, Reader, Write, collective, elements, fence, guard, meaning, words_of_elements,
    written_registers,
};
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::operand::{FrameVar, Operand, Var};
use halfbyte_isa::ptx::types::{Space as VariableSpace, Special, SpecialGroup, Type};
use halfbyte_isa::ptx::{Inst, Reg, Vector};

use halfbyte_abi::{buffer_slot, slot_of};

use super::meet::{place_of, read_by};
use super::plan::{Plan, by_place, width_of};
use crate::jit::address::{self, Form};
use crate::jit::{
    Access, Action, Block, Build, Cells, Dataflow, Front, Id, Items, Location, Name, Op, Place, Reach, Scale, Shape,
    Trace, Unit, blocks,
};
use halfbyte_isa::ptx::meaning::yields;
use halfbyte_isa::ptx::module::LOCAL_START;
use halfbyte_isa::ptx::program::PlacedVariables;
use halfbyte_isa::ptx::special;
use halfbyte_isa::trap::{Space, TrapKind};

/// The instructions of a kernel.
pub(super) struct Insts<'a> {
    pub plan: &'a Plan,
    pub entry: &'a Entry,
    /// Addresses of the module's variables, by number.
    pub variables: Variables<'a>,
    /// Offset of each parameter in parameter memory.
    pub places: &'a [u64],
}

/// Source of the addresses of variables.
#[derive(Clone, Copy)]
pub(super) enum Variables<'a> {
    /// Addresses that are known at compile time.
    At(&'a PlacedVariables),
    /// Addresses in constant bank 0, one after another from an offset on, as `cvta` returns them.
    #[cfg_attr(not(feature = "aot"), expect(dead_code, reason = "launches know them"))]
    InBank(u32),
}

impl Front for Insts<'_> {
    fn count(&self) -> usize {
        self.entry.body.insts.len()
    }

    fn blocks(&self, most: u32) -> Vec<Block> {
        blocks(&self.plan.leads, most)
    }

    fn unit(&self, block: &Block, cells: &mut Cells, items: Items<'_>) -> Unit {
        let insts = self.entry.body.insts.get(block.start as usize..block.end as usize).unwrap_or_default();
        let mut dataflow = Dataflow::of_instructions(insts.len());
        let trace = Trace::new(&mut dataflow, cells, items);
        let builder = Builder { insts: self, trace };
        builder.build(dataflow, block, (block.start..).zip(insts))
    }

    fn place(&self, block: &Block, cells: &mut Cells) -> Option<Place> {
        place_of(block.start, self, cells)
    }
}

/// Returns the name of a register's first cell.
pub(super) fn name_of(reg: Reg, types: &[Type]) -> Name {
    match types.get(reg.0 as usize) {
        Some(Type::Pred) => Name::Truth(reg.0),
        _ => Name::Virtual(reg.0, 0),
    }
}

/// Returns the number of bits of a register.
pub(super) fn bits_of(reg: Reg, types: &[Type]) -> u32 {
    types.get(reg.0 as usize).map_or(0, |ty| ty.bits())
}

/// Builder of a block's dataflow.
struct Builder<'a> {
    insts: &'a Insts<'a>,
    trace: Trace<'a>,
}

impl Builder<'_> {
    fn types(&self) -> &[Type] {
        &self.insts.plan.types
    }

    /// Writes a value to a register, truncated to the width of the register.
    fn write(&mut self, dataflow: &mut Dataflow, reg: Reg, [low, high]: [Id; 2], holds: Option<Id>) {
        let low = match bits_of(reg, self.types()) {
            1 => {
                let (one, zero) = (dataflow.word(1), dataflow.word(0));
                let bit = dataflow.and(low, one);
                let is_zero = dataflow.equal(bit, zero);
                let truth = dataflow.negate(is_zero);
                return self.trace.write(dataflow, Name::Truth(reg.0), truth, holds);
            }
            bits @ 2..32 => {
                let mask = dataflow.word((1 << bits) - 1);
                dataflow.and(low, mask)
            }
            _ => low,
        };
        self.trace.write(dataflow, Name::Virtual(reg.0, 0), low, holds);
        if bits_of(reg, self.types()) == 64 {
            self.trace.write(dataflow, Name::Virtual(reg.0, 1), high, holds);
        }
    }
}

impl<'a> Build<'a, Inst> for Builder<'a> {
    fn guard(&mut self, dataflow: &mut Dataflow, inst: &Inst) -> Option<Id> {
        guard(inst, dataflow, self)
    }

    /// Reads the operands of a collective operation, and marks its results as inputs that the runner writes.
    fn meet(&mut self, dataflow: &mut Dataflow, inst: &Inst, guarded: bool) {
        // The runner evaluates the operands, so that only the reads matter here.
        let _ = collective(inst, dataflow, self);
        if inst.is_warp_level() {
            for reg in read_by(inst) {
                if name_of(reg, self.types()).is_truth() {
                    let _ = self.predicate(dataflow, reg);
                } else {
                    let _ = self.register(dataflow, reg);
                }
            }
        }
        for reg in written_registers(inst) {
            let name = name_of(reg, self.types());
            self.trace.given(dataflow, name, guarded);
        }
    }

    fn step(&mut self, dataflow: &mut Dataflow, address: u32, inst: &Inst, holds: Option<Id>) -> bool {
        if self.number(dataflow, address, inst) {
            return true;
        }
        let Effects { writes, access, next } = meaning(inst, dataflow, self);
        let guard = self.trace.acting(dataflow, holds);
        let yields = yields(inst);
        for write in writes {
            match write {
                Write::Register(reg, value) => self.write(dataflow, reg, value, holds),
                Write::Predicate(reg, p) => self.trace.write(dataflow, Name::Truth(reg.0), p, holds),
            }
        }
        let of = |action| Access { address, guard, action, yields };
        match access {
            None if next == Next::Trap => {
                dataflow.access(of(Action::Fault(TrapKind::Trap)), 0);
                return holds.is_some();
            }
            None if fence(inst).is_some() => {
                dataflow.access(Access { guard: None, ..of(Action::Fence) }, 0);
            }
            Some(meanings::Access::Load { place, element, into }) => {
                let Some(width) = width_of(element, into.len()) else { return true };
                let signed = into.len() == 1 && element.is_signed();
                let words = match self.locate(dataflow, place) {
                    Where::Parameter(offset) => parameter(dataflow, offset, width, signed),
                    Where::At(place) => {
                        dataflow.access(of(Action::Load { place, width, signed }), width.registers()).to_vec()
                    }
                };
                self.keep(dataflow, (element, into), &words, holds);
            }
            Some(meanings::Access::Store { place, element, data }) => {
                let Some(width) = width_of(element, data.len()) else { return true };
                // A kernel never stores to a parameter.
                let Where::At(place) = self.locate(dataflow, place) else { return true };
                let words = words_of_elements(dataflow, element, &data);
                let data = words.into_iter().take(width.registers().into()).collect();
                dataflow.access(of(Action::Store { place, width, data }), 0);
            }
            Some(meanings::Access::Atomic { place, element, operands, into }) => {
                let Some(width) = width_of(element, operands.len()) else { return true };
                let Where::At(place) = self.locate(dataflow, place) else { return true };
                let returns = into.iter().any(|reg| reg.is_some());
                let change = meanings::change(inst);
                let words = if element.bits() == 64 { 2 } else { 1 };
                let of_each =
                    |k: usize| operands.iter().filter_map(move |of| of.get(k)).flat_map(|of| of.iter().take(words));
                let operands = (0..change.operands()).flat_map(of_each).copied().collect();
                let action = Action::Atomic { place, width, change, operands, returns };
                let count = if returns { width.registers() } else { 0 };
                let words = dataflow.access(of(action), count);
                if returns {
                    // The old value is not sign-extended.
                    let element = if element.bits() == 64 { Type::B64 } else { Type::B32 };
                    self.keep(dataflow, (element, into), &words, holds);
                }
            }
            Some(meanings::Access::Copy { from, to, bytes, .. }) => {
                let Some(width) = width_of(Type::B8, bytes as usize) else { return true };
                let (Where::At(from), Where::At(to)) = (self.locate(dataflow, from), self.locate(dataflow, to)) else {
                    return true;
                };
                let load = Action::Load { place: from, width, signed: false };
                let words = dataflow.access(of(load), width.registers());
                let data = words.into_iter().take(width.registers().into()).collect();
                dataflow.access(of(Action::Store { place: to, width, data }), 0);
            }
            // Native code does not support the other accesses.
            _ => {}
        }
        true
    }

    fn trace(&mut self) -> &mut Trace<'a> {
        &mut self.trace
    }

    fn into_trace(self) -> Trace<'a> {
        self.trace
    }
}

impl Builder<'_> {
    /// Adds an instruction that computes the number of the item. Returns `true` for such an instruction, and for an
    /// instruction whose result only such instructions read.
    fn number(&mut self, dataflow: &mut Dataflow, address: u32, inst: &Inst) -> bool {
        let numbers = &self.insts.plan.numbers;
        if let (Some(axis), Some(Operand::Register(reg))) = (numbers.axis(address), inst.operands.first()) {
            let of = SpecialReg { of: IndexKind::Item, axis: Some(axis) };
            let (number, zero) = (self.trace.read(dataflow, Name::Special(of)), dataflow.word(0));
            self.write(dataflow, *reg, [number, zero], None);
            return true;
        }
        numbers.is_unread(address)
    }

    /// Writes the elements of loaded words to registers.
    fn keep(&mut self, dataflow: &mut Dataflow, (element, into): (Type, Vector), words: &[Id], holds: Option<Id>) {
        let all = elements(dataflow, element, into.len(), words);
        for (reg, value) in into.iter().zip(all) {
            if let Some(reg) = reg {
                self.write(dataflow, reg, value, holds);
            }
        }
    }

    /// Converts a location of the semantics to a location of the dataflow.
    fn locate(&self, dataflow: &mut Dataflow, place: meanings::Location<Id>) -> Where {
        use meanings::Location as Of;
        let mut wide = |[low, high]: [Id; 2], imm: i32, reach: Reach| {
            Where::At(Location::Flat { offset: dataflow.word(0), base: [low, high], imm, reach })
        };
        match place {
            Of::Flat { base, offset } => wide(base, offset, Reach::Any { params: true }),
            Of::Constant { base, offset } => wide(base, offset, Reach::Constants),
            Of::Local { base, offset } => wide(base, offset, Reach::In(Space::Local)),
            Of::Param { base, offset } => wide(base, offset, Reach::In(Space::Constant(0))),
            Of::Global { base, offset: imm } => {
                let Form { base, index } = address::form(dataflow, base).unwrap_or(Form { base, index: None });
                let (offset, scale) = index.unwrap_or_else(|| (dataflow.word(0), Scale::BYTES));
                Where::At(Location::Global { offset, base, imm, scale })
            }
            // Addresses of shared memory have 32 bits.
            Of::Shared { base: [low, _], offset } => {
                let by = dataflow.word(offset.cast_unsigned());
                let offset = dataflow.add(low, by);
                Where::At(Location::Own { space: Space::Shared, offset, imm: 0 })
            }
            Of::Frame { number, offset: imm } => {
                let offset = dataflow.word(self.insts.frame(number));
                Where::At(Location::Own { space: Space::Local, offset, imm })
            }
            Of::Parameter { number, offset } => {
                Where::Parameter((self.insts.parameter(number) as u32).wrapping_add_signed(offset))
            }
        }
    }
}

/// Target of an access.
enum Where {
    /// Offset in parameter memory that is known to lie within a parameter.
    Parameter(u32),
    At(Location),
}

/// Returns the words of a load from a parameter.
fn parameter(dataflow: &mut Dataflow, offset: u32, width: Width, signed: bool) -> Vec<Id> {
    let part = if width.registers() > 1 { Width::B32 } else { width };
    let word = |k: u8| Op::Bank { offset: offset + 4 * u32::from(k), width: part, signed };
    (0..width.registers()).map(|k| dataflow.push(word(k), &[], Shape::Uniform)).collect()
}

impl Insts<'_> {
    /// Returns the address of a variable of the frame.
    fn frame(&self, number: u32) -> u32 {
        LOCAL_START as u32 + self.plan.places.get(number as usize).copied().unwrap_or(0)
    }

    /// Returns the address of a variable, as `cvta` gives it, or zero if the address is unknown.
    pub fn address(&self, var: Var) -> u64 {
        match self.variables {
            Variables::At(all) => all.get(&var.number).map_or(0, |bound| bound.address),
            Variables::InBank(_) => 0,
        }
    }

    fn parameter(&self, number: u32) -> u64 {
        self.places.get(number as usize).copied().unwrap_or(0)
    }
}

fn constant(dataflow: &mut Dataflow, value: u64) -> [Id; 2] {
    [value as u32, (value >> 32) as u32].map(|word| dataflow.word(word))
}

impl Reader<Dataflow> for Builder<'_> {
    fn register(&mut self, dataflow: &mut Dataflow, reg: Reg) -> [Id; 2] {
        let low = self.trace.read(dataflow, Name::Virtual(reg.0, 0));
        let high = match bits_of(reg, self.types()) {
            64 => self.trace.read(dataflow, Name::Virtual(reg.0, 1)),
            _ => dataflow.word(0),
        };
        [low, high]
    }

    fn predicate(&mut self, dataflow: &mut Dataflow, reg: Reg) -> Id {
        self.trace.read(dataflow, Name::Truth(reg.0))
    }

    fn special(&mut self, dataflow: &mut Dataflow, register: Special) -> [Id; 2] {
        let zero = dataflow.word(0);
        let Some(of) = by_place(register) else {
            let place = self.insts.plan.launch.iter().position(|of| *of == register).unwrap_or(0) as u32;
            let offset = self.insts.plan.launch_start + 4 * place;
            let word = Op::Bank { offset, width: Width::B32, signed: false };
            return [dataflow.push(word, &[], Shape::Uniform), zero];
        };
        let held = self.trace.read(dataflow, Name::Special(of));
        match register.group {
            SpecialGroup::Thread | SpecialGroup::Block => [held, zero],
            group => [special::of_thread(dataflow, group, held).unwrap_or(zero), zero],
        }
    }

    fn variable(&mut self, dataflow: &mut Dataflow, var: Var) -> [Id; 2] {
        match self.insts.variables {
            Variables::At(_) => constant(dataflow, self.insts.address(var)),
            Variables::InBank(start) => {
                let low = start + 8 * var.number;
                let word = |offset| Op::Bank { offset, width: Width::B32, signed: false };
                [low, low + 4].map(|offset| dataflow.push(word(offset), &[], Shape::Uniform))
            }
        }
    }

    fn is_constant(&mut self, dataflow: &mut Dataflow, [_, high]: [Id; 2]) -> Id {
        let Variables::At(all) = self.insts.variables else { return dataflow.truth(false) };
        let constants = all.values().filter(|bound| bound.space == VariableSpace::Const);
        let slots = constants.filter_map(|bound| buffer_slot(bound.address)).map(slot_of);
        let none = dataflow.truth(false);
        slots.fold(none, |is_one, (start, mask)| {
            // The lower word holds only a part of the offset in a slot.
            let [start, mask] = [start, mask].map(|number| dataflow.word((number >> 32) as u32));
            let found = dataflow.and(high, mask);
            let is_this = dataflow.equal(found, start);
            dataflow.either(is_one, is_this)
        })
    }

    fn frame(&mut self, dataflow: &mut Dataflow, var: FrameVar) -> [Id; 2] {
        constant(dataflow, self.insts.frame(var.number).into())
    }

    fn parameter(&mut self, dataflow: &mut Dataflow, number: u32) -> [Id; 2] {
        constant(dataflow, self.insts.parameter(number))
    }
}
