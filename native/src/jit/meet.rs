//! Collective operations, in the form that the execution of a row requires: the sources of the
//! operands and the destinations of the results.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use halfbyte_abi::cooperative::{BARRIERS, BarrierOp, SUBGROUP, SubgroupOp, SyncOp};
use halfbyte_isa::halu::Inst;
use halfbyte_isa::halu::domain::{Reader, SpecialReg, Width, Write};
use halfbyte_isa::halu::meaning::{collective, collective_result, guard};
use smallvec::SmallVec;

use super::access::locate;
use super::cells::{Cell, Cells, Name};
use super::context::{FaultKind, Header};
use super::dataflow::{Dataflow, Id, Op, Shape};
use super::unit::name_of;
use halfbyte_isa::trap::{Access, Space};

/// Source of an operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Source {
    Const(u32),
    /// Value of a cell.
    Cell(Cell),
    /// Word of constant bank 0, which is within the bank.
    Bank(u32),
    /// Negation of the truth value in a cell.
    Not(Cell),
}

/// Part of the result that an item keeps, and the cell for this part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Takes {
    Number(Cell),
    /// The number, or the truth value beside the number, as a truth value.
    Truth(Cell),
    Answer(Cell),
    /// The result word with this index, of a collective instruction.
    Word(usize, Cell),
}

impl Takes {
    pub fn cell(self) -> Cell {
        let (Takes::Number(cell) | Takes::Truth(cell) | Takes::Answer(cell) | Takes::Word(_, cell)) = self;
        cell
    }
}

/// One word per lane of a subgroup.
pub(crate) type Lanes = [u32; SUBGROUP as usize];

/// Instruction that all lanes of a subgroup execute together.
pub(crate) trait Collective: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Returns the cells that the instruction reads.
    fn reads(&self) -> &[Cell];

    /// Executes the instruction and returns the result words of the lanes. `held` contains the values of the cells in
    /// each lane.
    ///
    /// # Errors
    /// The lane whose memory access is invalid, and the fault.
    fn execute(&self, held: &[Lanes], memory: &Memory<'_>) -> Result<Vec<Lanes>, (u32, FaultKind)>;
}

/// Memory that the lanes of a subgroup access.
pub(crate) struct Memory<'a> {
    pub(super) header: &'a Header,
    /// First item of the subgroup.
    pub(super) first: u32,
}

/// Address in a given memory, or a generic address.
#[derive(Clone, Copy)]
pub(crate) enum At {
    In(Space, u64),
    Flat(u64),
}

impl Memory<'_> {
    /// Returns the number of the subgroup.
    pub fn subgroup(&self) -> u32 {
        self.first / SUBGROUP
    }

    /// Loads bytes for a lane, from an address that must be a multiple of the size. `inst` is the address of the
    /// instruction.
    pub fn load(&self, lane: u32, at: At, into: &mut [u8], inst: u32) -> Result<(), FaultKind> {
        let start = self.find((Access::Load, inst), lane, at, into.len())?;
        // SAFETY: `find` has checked that this number of bytes is valid for reads.
        unsafe { std::ptr::copy_nonoverlapping(start, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Stores bytes for a lane, at an address that must be a multiple of the size. `inst` is the address of the
    /// instruction.
    pub fn store(&self, lane: u32, at: At, bytes: &[u8], inst: u32) -> Result<(), FaultKind> {
        let start = self.find((Access::Store, inst), lane, at, bytes.len())?;
        // SAFETY: `find` has checked that this number of bytes is valid for writes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
        Ok(())
    }

    fn find(&self, by: (Access, u32), lane: u32, at: At, bytes: usize) -> Result<*mut u8, FaultKind> {
        let (space, address) = match at {
            At::In(space, address) => (space, address),
            At::Flat(address) => locate(address, true),
        };
        let is_aligned = address.is_multiple_of(bytes as u64);
        // Lanes cannot share local memory.
        let is_reached = is_aligned && space != Space::Local;
        let find = || self.header.find_one(by, space, address, self.first + lane, bytes as u64);
        let found = if is_reached { find() } else { None };
        found.ok_or(FaultKind::Memory { access: by.0, space, address, bytes: bytes as u32 })
    }
}

/// Collective operation of a kernel.
#[derive(Debug)]
pub(crate) struct Place {
    /// Guard. Items whose guard is false take no part in the operation.
    pub guard: Option<Source>,
    pub meeting: SyncOp<Source, Source>,
    /// Instruction to execute if the operation is [`SubgroupOp::Collective`].
    pub collective: Option<Box<dyn Collective>>,
    /// Parts of the result that are kept.
    pub takes: SmallVec<[Takes; 2]>,
}

impl Place {
    /// Returns `true` if a group continues without waiting when all of its items arrive together. This is the case for
    /// a barrier of the whole group without a result.
    pub fn is_passed_together(&self) -> bool {
        let SyncOp::Barrier { id: Source::Const(id), count: None, of, .. } = self.meeting else { return false };
        self.guard.is_none() && self.takes.is_empty() && id < BARRIERS && of != BarrierOp::Arrive
    }

    /// Creates a collective operation from a dataflow that has read its operands. Apart from negations of truth values,
    /// the dataflow has computed nothing.
    pub fn new(
        dataflow: &Dataflow,
        guard: Option<Id>,
        meeting: &SyncOp<Id, Id>,
        takes: impl IntoIterator<Item = Takes>,
    ) -> Place {
        let source = |id: Id| match dataflow.op(id) {
            Op::Input(cell) => Source::Cell(cell),
            Op::Bank { offset, .. } => Source::Bank(offset),
            Op::Negate => match dataflow.args(id).first().map(|&arg| dataflow.op(arg)) {
                Some(Op::Input(cell)) => Source::Not(cell),
                _ => Source::Const(0),
            },
            _ => Source::Const(dataflow.constant(id).unwrap_or(0)),
        };
        let takes = takes.into_iter().collect();
        Place { guard: guard.map(source), meeting: map(meeting, source, source), collective: None, takes }
    }
}

/// Returns the collective operation of a HALU instruction, or `None` if the instruction is not one.
pub(super) fn place_of(inst: &Inst, constant_bytes: u32, cells: &mut Cells) -> Option<Place> {
    let mut dataflow = Dataflow::default();
    let mut names = Names { cells, constant_bytes };
    let guard = guard(inst, &mut dataflow, &mut names);
    let meeting = collective(inst, &mut dataflow, &mut names)?;
    let takes = collective_result(inst, [2, 0]).map(|write| {
        let cell = cells.get(name_of(&write));
        match write {
            Write::Gpr(..) | Write::Ur(..) => Takes::Number(cell),
            Write::Pred(_, true) => Takes::Truth(cell),
            Write::Pred(_, false) => Takes::Answer(cell),
        }
    });
    Some(Place::new(&dataflow, guard, &meeting, takes))
}

/// Replaces the operands of a collective operation.
pub(crate) fn map<W: Copy, P: Copy, V: Copy, Q: Copy>(
    meeting: &SyncOp<W, P>,
    mut word: impl FnMut(W) -> V,
    mut truth: impl FnMut(P) -> Q,
) -> SyncOp<V, Q> {
    match *meeting {
        SyncOp::Barrier { id, count, of, aligned } => SyncOp::Barrier {
            id: word(id),
            count: count.map(&mut word),
            of: match of {
                BarrierOp::Sync => BarrierOp::Sync,
                BarrierOp::Arrive => BarrierOp::Arrive,
                BarrierOp::Count(says) => BarrierOp::Count(truth(says)),
                BarrierOp::All(says) => BarrierOp::All(truth(says)),
                BarrierOp::Any(says) => BarrierOp::Any(truth(says)),
            },
            aligned,
        },
        SyncOp::Subgroup { mask, of } => SyncOp::Subgroup { mask: word(mask), of: exchange(of, word, truth) },
        SyncOp::Converged { of } => SyncOp::Converged { of: exchange(of, word, truth) },
    }
}

fn exchange<W: Copy, P: Copy, V: Copy, Q: Copy>(
    of: SubgroupOp<W, P>,
    mut word: impl FnMut(W) -> V,
    truth: impl FnOnce(P) -> Q,
) -> SubgroupOp<V, Q> {
    match of {
        SubgroupOp::None => SubgroupOp::None,
        SubgroupOp::Shuffle { mode, value, by, segment } => {
            SubgroupOp::Shuffle { mode, value: word(value), by: word(by), segment: word(segment) }
        }
        SubgroupOp::Vote(vote, says) => SubgroupOp::Vote(vote, truth(says)),
        SubgroupOp::Match { all, value } => SubgroupOp::Match { all, value: value.map(word) },
        SubgroupOp::Reduce(reduce, value) => SubgroupOp::Reduce(reduce, word(value)),
        SubgroupOp::Elect => SubgroupOp::Elect,
        SubgroupOp::Active => SubgroupOp::Active,
        SubgroupOp::Collective => SubgroupOp::Collective,
    }
}

/// Reader that reads cells by their names.
struct Names<'a> {
    cells: &'a mut Cells,
    constant_bytes: u32,
}

impl Names<'_> {
    fn read(&mut self, dataflow: &mut Dataflow, name: Name) -> Id {
        dataflow.push(Op::Input(self.cells.get(name)), &[], Shape::Varying)
    }
}

impl Reader<Dataflow> for Names<'_> {
    fn gpr(&mut self, dataflow: &mut Dataflow, n: u8) -> Id {
        self.read(dataflow, Name::Gpr(n))
    }

    fn ur(&mut self, dataflow: &mut Dataflow, n: u8) -> Id {
        self.read(dataflow, Name::Ur(n & 63))
    }

    fn pred(&mut self, dataflow: &mut Dataflow, n: u8) -> Id {
        self.read(dataflow, Name::Pred(n & 7))
    }

    /// Returns a word of constant bank 0, or zero if there is no such word.
    fn constant(&mut self, dataflow: &mut Dataflow, bank: u8, offset: u16) -> Id {
        if bank == 0 && u32::from(offset) + 4 <= self.constant_bytes && offset.is_multiple_of(4) {
            let op = Op::Bank { offset: offset.into(), width: Width::B32, signed: false };
            return dataflow.push(op, &[], Shape::Uniform);
        }
        dataflow.push(Op::Const(0), &[], Shape::Uniform)
    }

    fn special(&mut self, dataflow: &mut Dataflow, register: SpecialReg) -> Id {
        self.read(dataflow, Name::Special(register))
    }
}
