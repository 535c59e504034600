//! Block as a dataflow, with its effect on the cells.

use halfbyte_isa::halu::domain::{self, Address, Domain, Effects, Reader, SpecialReg, Width, Write};
use halfbyte_isa::halu::fields::RZ;
use halfbyte_isa::halu::meaning::{collective, collective_result, guard, is_strong_access, meaning};
use halfbyte_isa::halu::{Inst, Opcode};

use super::address::{self, Form};
use super::cells::{Cell, Cells, Name};
use super::dataflow::{Access, Action, Dataflow, Id, Location, Op, Reach, Scale, Shape};
use super::front::Front;
use super::graph::{Block, blocks, leads};
use super::layout::Layout;
use super::meet::{Place, place_of};
use super::trace::{Build, Trace};
use halfbyte_isa::halu::Word;
use halfbyte_isa::trap::{self, Space, TrapKind};

/// Instruction words of a HALU kernel.
pub(crate) struct Words<'a> {
    pub words: &'a [Word],
    /// Size of constant bank 0 in bytes.
    pub constant_bytes: u32,
    /// Size of local memory in bytes.
    pub local_bytes: u32,
}

/// Items that run a block.
#[derive(Clone, Copy)]
pub(crate) enum Items<'a> {
    /// All items of a row, at the start of the kernel. Cells hold zeros, except for special registers.
    Start(Layout),
    /// All items of a row, with these shapes of the cells.
    All(&'a [Shape]),
    /// All items of a row, with these shapes of the cells. Before the row executes, a test determines that all guards
    /// hold that depend only on the positions of the items. Instructions act as if these guards held.
    Run(&'a [Shape]),
    /// Items in a mask. Cells whose shape is not varying are never written.
    Masked(&'a [Shape]),
}

/// Dataflow of a block, with its effect on the cells.
#[derive(Debug)]
pub(crate) struct Unit {
    pub dataflow: Dataflow,
    /// Cells that the block writes, in ascending order, with their final values.
    pub finals: Vec<(Cell, Id)>,
    /// Cells whose values before the block are read.
    pub reads: Vec<Cell>,
    /// Cells that the block writes for all items.
    pub kills: Vec<Cell>,
    /// Guard of the branch or exit at the end, if any.
    pub condition: Option<Id>,
    /// For a run of items, the guards that must hold for all items.
    pub assumed: Vec<Id>,
    /// `true` if every item that reaches the block faults.
    pub dead: bool,
}

#[cfg(feature = "aot")]
impl Unit {
    /// Returns, by operation, `true` if it has a use: accesses, operands of accesses, final values of live cells, and the
    /// condition at the end.
    pub fn wanted(&self, is_live: impl Fn(Cell) -> bool) -> Vec<bool> {
        let d = &self.dataflow;
        let mut wanted = vec![false; d.nodes.len()];
        let want = |id: Id, wanted: &mut Vec<bool>| {
            if let Some(place) = wanted.get_mut(id.index()) {
                *place = true;
            }
        };
        self.finals
            .iter()
            .filter(|(cell, _)| is_live(*cell))
            .map(|&(_, id)| id)
            .chain(self.condition)
            .for_each(|id| want(id, &mut wanted));
        for id in (0..d.nodes.len() as u32).rev().map(Id) {
            if let Op::Access(number) = d.op(id) {
                want(id, &mut wanted);
                let Some(access) = d.accesses.get(number as usize) else { continue };
                access.action.words().into_iter().chain(access.guard).for_each(|word| want(word, &mut wanted));
            } else if wanted.get(id.index()) == Some(&true) {
                d.args(id).into_iter().for_each(|arg| want(arg, &mut wanted));
            }
        }
        wanted
    }
}

impl Front for Words<'_> {
    fn count(&self) -> usize {
        self.words.len()
    }

    fn blocks(&self, most: u32) -> Vec<Block> {
        let leads: Vec<_> = (0..).zip(self.words).map(|(address, word)| leads(address, word)).collect();
        blocks(&leads, most)
    }

    fn unit(&self, block: &Block, cells: &mut Cells, items: Items<'_>) -> Unit {
        let words = self.words.get(block.start as usize..block.end as usize).unwrap_or_default();
        let mut dataflow = Dataflow::of_instructions(words.len());
        let trace = Trace::new(&mut dataflow, cells, items);
        let builder = Builder { kernel: self, trace, fault: None };
        let insts = (block.start..).zip(words).filter_map(|(address, word)| match word {
            Word::Inst(inst) => Some((address, inst)),
            Word::Undefined(_) => None,
        });
        builder.build(dataflow, block, insts)
    }

    fn place(&self, block: &Block, cells: &mut Cells) -> Option<Place> {
        let Word::Inst(inst) = self.words.get(block.start as usize)? else { return None };
        place_of(inst, self.constant_bytes, cells)
    }
}

/// Builder of the dataflow of a block.
struct Builder<'a> {
    kernel: &'a Words<'a>,
    trace: Trace<'a>,
    /// Fault of a constant that the instruction reads.
    fault: Option<TrapKind>,
}

impl Builder<'_> {
    fn read(&mut self, dataflow: &mut Dataflow, name: Name) -> Id {
        self.trace.read(dataflow, name)
    }

    fn write(&mut self, dataflow: &mut Dataflow, name: Name, value: Id, holds: Option<Id>) {
        self.trace.write(dataflow, name, value, holds);
    }
}

impl<'a> Build<'a, Inst> for Builder<'a> {
    fn guard(&mut self, dataflow: &mut Dataflow, inst: &Inst) -> Option<Id> {
        guard(inst, dataflow, self)
    }

    /// Reads the operands of a collective operation, and marks its result as written.
    fn meet(&mut self, dataflow: &mut Dataflow, inst: &Inst, guarded: bool) {
        // The runner reads the operands itself.
        let _ = collective(inst, dataflow, self);
        if let Some(write) = collective_result(inst, [0; 2]) {
            self.trace.given(dataflow, name_of(&write), guarded);
        }
    }

    fn step(&mut self, dataflow: &mut Dataflow, address: u32, inst: &Inst, holds: Option<Id>) -> bool {
        let Effects { writes, access, .. } = meaning(inst, dataflow, self);
        let yields = is_strong_access(inst);
        let guard = self.trace.acting(dataflow, holds);
        let fault = |dataflow: &mut Dataflow, kind| {
            dataflow.access(Access { address, guard, action: Action::Fault(kind), yields: false }, 0);
            holds.is_some()
        };
        if let Some(kind) = self.fault.take() {
            return fault(dataflow, kind);
        }
        for write in writes {
            let name = name_of(&write);
            let (Write::Gpr(_, value) | Write::Ur(_, value) | Write::Pred(_, value)) = write;
            self.write(dataflow, name, value, holds);
        }
        let words = match access {
            None => {
                if inst.opcode() == Opcode::MEMBAR {
                    let fence = Access { address, guard: None, action: Action::Fence, yields };
                    dataflow.access(fence, 0);
                }
                return true;
            }
            Some(domain::Access::Atomic { address: at, width, change, operands, dst }) => {
                // Atomic instructions access no other memory.
                let Where::At(place) = locate(dataflow, at) else { return true };
                let returns = dst != RZ;
                let action = Action::Atomic { place, width, change, operands, returns };
                let count = if returns { width.registers() } else { 0 };
                (dst, dataflow.access(Access { address, guard, action, yields }, count).to_vec())
            }
            Some(domain::Access::Load { address: at, width, signed, dst }) => {
                match self.load(dataflow, at, width, signed, (address, guard, yields)) {
                    Ok(words) => (dst, words),
                    Err(kind) => return fault(dataflow, kind),
                }
            }
            Some(domain::Access::Store { address: at, width, data }) => {
                let local = self.kernel.local_bytes;
                let action = match locate(dataflow, at) {
                    Where::Local(imm) => match outside(trap::Access::Store, Space::Local, imm, width, local) {
                        Some(kind) => return fault(dataflow, kind),
                        None => {
                            for (word, value) in (imm / 4..).zip(data) {
                                self.write(dataflow, Name::Local(word), value, holds);
                            }
                            return true;
                        }
                    },
                    // No instruction stores to constant memory.
                    Where::Constant { .. } => return true,
                    Where::At(place) => Action::Store { place, width, data },
                };
                dataflow.access(Access { address, guard, action, yields }, 0);
                return true;
            }
        };
        let (dst, words) = words;
        for (n, word) in (dst..RZ).zip(words) {
            self.write(dataflow, Name::Gpr(n), word, holds);
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
    /// Returns the words of a load.
    fn load(
        &mut self,
        dataflow: &mut Dataflow,
        at: Address<Id>,
        width: Width,
        signed: bool,
        (address, guard, yields): (u32, Option<Id>, bool),
    ) -> Result<Vec<Id>, TrapKind> {
        match locate(dataflow, at) {
            Where::Local(imm) => {
                let kind = outside(trap::Access::Load, Space::Local, imm, width, self.kernel.local_bytes);
                let words = imm / 4..imm / 4 + u32::from(width.registers());
                kind.map_or_else(|| Ok(words.map(|word| self.read(dataflow, Name::Local(word))).collect()), Err)
            }
            Where::Constant { bank, address } => {
                let held = if bank == 0 { self.kernel.constant_bytes } else { 0 };
                if let Some(kind) = outside(trap::Access::Load, Space::Constant(bank), address, width, held) {
                    return Err(kind);
                }
                let part = if width.registers() > 1 { Width::B32 } else { width };
                let word = |k: u8| Op::Bank { offset: address + 4 * u32::from(k), width: part, signed };
                Ok((0..width.registers()).map(|k| dataflow.push(word(k), &[], Shape::Uniform)).collect())
            }
            Where::At(place) => {
                let access = Access { address, guard, action: Action::Load { place, width, signed }, yields };
                Ok(dataflow.access(access, width.registers()).to_vec())
            }
        }
    }
}

/// Returns the name of the cell that an effect writes.
pub(super) fn name_of<W: Copy, P: Copy>(write: &Write<W, P>) -> Name {
    match *write {
        Write::Gpr(n, _) => Name::Gpr(n),
        Write::Ur(n, _) => Name::Ur(n & 63),
        Write::Pred(n, _) => Name::Pred(n & 7),
    }
}

/// Memory of an access.
enum Where {
    /// Local memory.
    Local(u32),
    /// Constant bank, at a known address.
    Constant {
        bank: u8,
        address: u32,
    },
    At(Location),
}

fn locate(dataflow: &mut Dataflow, at: Address<Id>) -> Where {
    match at {
        Address::Uniform { offset, base, imm } => {
            Where::At(Location::Global { offset, base, imm, scale: Scale::BYTES })
        }
        Address::Wide { base, imm } => {
            let Form { base, index } = address::form(dataflow, base).unwrap_or(Form { base, index: None });
            let (offset, scale) = index.unwrap_or_else(|| (dataflow.word(0), Scale::BYTES));
            Where::At(Location::Global { offset, base, imm, scale })
        }
        Address::Flat { base, imm } => {
            let (offset, reach) = (dataflow.word(0), Reach::Any { params: false });
            Where::At(Location::Flat { offset, base, imm, reach })
        }
        Address::Shared { offset, imm } => Where::At(Location::Own { space: Space::Shared, offset, imm }),
        Address::Scratch { offset, imm } => Where::At(Location::Own { space: Space::Local, offset, imm }),
        Address::Local { imm } => Where::Local(imm),
        Address::Constant { bank, offset, imm } => match dataflow.constant(offset) {
            Some(offset) => Where::Constant { bank, address: offset.wrapping_add(imm) },
            None => Where::At(Location::Constant { bank, offset, imm }),
        },
    }
}

/// Returns the fault of an access at a known address, in a space of `held` bytes, or `None` if the access is valid.
fn outside(access: trap::Access, space: Space, address: u32, width: Width, held: u32) -> Option<TrapKind> {
    let (bytes, address) = (width.bytes(), u64::from(address));
    if !address.is_multiple_of(bytes.into()) {
        Some(TrapKind::Misaligned { access, space, address, bytes })
    } else if address + u64::from(bytes) > held.into() {
        Some(TrapKind::OutOfBounds { access, space, address, bytes, near: None })
    } else {
        None
    }
}

impl Reader<Dataflow> for Builder<'_> {
    fn gpr(&mut self, dataflow: &mut Dataflow, n: u8) -> Id {
        self.read(dataflow, Name::Gpr(n))
    }

    fn ur(&mut self, dataflow: &mut Dataflow, n: u8) -> Id {
        self.read(dataflow, Name::Ur(n & 63))
    }

    fn pred(&mut self, dataflow: &mut Dataflow, n: u8) -> Id {
        self.read(dataflow, Name::Pred(n & 7))
    }

    fn constant(&mut self, dataflow: &mut Dataflow, bank: u8, offset: u16) -> Id {
        let held = if bank == 0 { self.kernel.constant_bytes } else { 0 };
        match outside(trap::Access::Load, Space::Constant(bank), offset.into(), Width::B32, held) {
            None => {
                let op = Op::Bank { offset: offset.into(), width: Width::B32, signed: false };
                dataflow.push(op, &[], Shape::Uniform)
            }
            Some(kind) => {
                self.fault.get_or_insert(kind);
                dataflow.word(0)
            }
        }
    }

    fn special(&mut self, dataflow: &mut Dataflow, register: SpecialReg) -> Id {
        self.read(dataflow, Name::Special(register))
    }
}
