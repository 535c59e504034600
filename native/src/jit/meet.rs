//! Words at which items meet, as whoever runs a row of them needs it: where their operands are, and what becomes of the results.

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

/// An operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Source {
    Const(u32),
    /// What a cell holds.
    Cell(Cell),
    /// A word of constant bank 0, which is there.
    Bank(u32),
    /// The contrary of a truth value in a cell.
    Not(Cell),
}

/// What an item takes of what it is given.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Takes {
    Number(Cell),
    /// The number or the answer beside it, as a truth value.
    Truth(Cell),
    Answer(Cell),
    /// The word of that number, of those that a collective instruction gives.
    Word(usize, Cell),
}

impl Takes {
    pub fn cell(self) -> Cell {
        let (Takes::Number(cell) | Takes::Truth(cell) | Takes::Answer(cell) | Takes::Word(_, cell)) = self;
        cell
    }
}

/// A word of each lane of a subgroup.
pub(crate) type Lanes = [u32; SUBGROUP as usize];

/// An instruction that the lanes of a subgroup execute as a whole.
pub(crate) trait Collective: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// The cells that it reads.
    fn reads(&self) -> &[Cell];

    /// Executes it, by what those cells hold in each lane: the words that the lanes are given.
    ///
    /// # Errors
    /// The lane that must not access memory, and how it did.
    fn execute(&self, held: &[Lanes], memory: &Memory<'_>) -> Result<Vec<Lanes>, (u32, FaultKind)>;
}

/// The memory that lanes of a subgroup reach.
pub(crate) struct Memory<'a> {
    pub(super) header: &'a Header,
    /// The first of the items.
    pub(super) first: u32,
}

/// An address, of one memory or of any.
#[derive(Clone, Copy)]
pub(crate) enum At {
    In(Space, u64),
    Flat(u64),
}

impl Memory<'_> {
    /// The number of the subgroup.
    pub fn subgroup(&self) -> u32 {
        self.first / SUBGROUP
    }

    /// What a lane finds at a multiple of so many bytes, by the instruction at an address.
    pub fn load(&self, lane: u32, at: At, into: &mut [u8], inst: u32) -> Result<(), FaultKind> {
        let start = self.find((Access::Load, inst), lane, at, into.len())?;
        // SAFETY: so many bytes were found.
        unsafe { std::ptr::copy_nonoverlapping(start, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// What a lane leaves there.
    pub fn store(&self, lane: u32, at: At, bytes: &[u8], inst: u32) -> Result<(), FaultKind> {
        let start = self.find((Access::Store, inst), lane, at, bytes.len())?;
        // SAFETY: so many bytes were found, and may be written.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
        Ok(())
    }

    fn find(&self, by: (Access, u32), lane: u32, at: At, bytes: usize) -> Result<*mut u8, FaultKind> {
        let (space, address) = match at {
            At::In(space, address) => (space, address),
            At::Flat(address) => locate(address, true),
        };
        let is_aligned = address.is_multiple_of(bytes as u64);
        // Local memory is no place for what lanes share.
        let is_reached = is_aligned && space != Space::Local;
        let find = || self.header.find_one(by, space, address, self.first + lane, bytes as u64);
        let found = if is_reached { find() } else { None };
        found.ok_or(FaultKind::Memory { access: by.0, space, address, bytes: bytes as u32 })
    }
}

/// A word at which items meet.
#[derive(Debug)]
pub(crate) struct Place {
    /// Who falls through does not meet others.
    pub guard: Option<Source>,
    pub meeting: SyncOp<Source, Source>,
    /// What is executed where the meeting is [`Exchange::Collective`].
    pub collective: Option<Box<dyn Collective>>,
    /// What is kept of what they are given.
    pub takes: SmallVec<[Takes; 2]>,
}

impl Place {
    /// Whether a group of whom all come here together goes on as it is: it waits at a barrier for nobody else, and is told nothing.
    pub fn is_passed_together(&self) -> bool {
        let SyncOp::Barrier { id: Source::Const(id), count: None, of, .. } = self.meeting else { return false };
        self.guard.is_none() && self.takes.is_empty() && id < BARRIERS && of != BarrierOp::Arrive
    }

    /// One whose operands are words and truth values of a dataflow that has read them, and has not computed but what is contrary to a truth
    /// value.
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

/// The place of an instruction of HALU; none where items do not meet at it.
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

/// A meeting with other words and truth values.
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

/// Reads what is in cells, by their names.
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

    /// A constant that is not there is zero.
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
