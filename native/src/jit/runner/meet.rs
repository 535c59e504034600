//! Collective operations of a row that is a group. If all items arrive together with valid
//! operands, one operation on rows computes all results. Otherwise the [`Rendezvous`] decides which
//! items continue.

use halfbyte_abi::cooperative::{BarrierOp, InvalidSync, SUBGROUP, SubgroupOp, SyncOp};

use super::super::cells::Cell;
use super::super::context::FaultKind;
use super::super::dataflow::Shape;
use super::super::graph::{BlockId, Next, Target};
use super::super::meet::{Collective, Lanes, Memory, Place, Source, Takes, map};
use super::divergence::Group;
use super::{Runner, start_of};
use crate::clif::NativeError;
use crate::meet::Rendezvous;
use crate::meet::rows::{self, Given, Words};
use halfbyte_isa::trap::TrapKind;
use smallvec::SmallVec;

/// State of a group for collective operations.
#[derive(Default)]
pub(in crate::jit) struct Meetings {
    rendezvous: Rendezvous,
    /// Rounds of the items relative to the header's round, while the items are diverged.
    pub turns: Vec<u32>,
    /// Block at which each item waits.
    at: Vec<BlockId>,
    /// Number of items that have neither ended nor stopped at a fault.
    pub left: u32,
    /// Number of waiting items that the rendezvous knows.
    waiting: u32,
    /// Mask of the items that have ended without the rendezvous knowing.
    ended: Vec<u32>,
    operands: Vec<Vec<u32>>,
    given: Given,
    go_on: Vec<(u32, [u64; 2])>,
}

/// State in which cells are read.
#[derive(Clone, Copy)]
enum View {
    /// Convergent: all items are at this block.
    Together(BlockId),
    /// Diverged.
    Apart,
}

/// Operand that was read: a uniform word, or the number of a buffer.
#[derive(Clone, Copy, PartialEq)]
enum Read {
    Same(u32),
    Each(usize),
}

impl Runner<'_> {
    /// Begins a row as a group whose items all run.
    pub(super) fn begin_meetings(&mut self, items: u32) {
        self.meetings.rendezvous.begin(items);
        self.meetings.left = items;
        self.meetings.waiting = 0;
        self.meetings.ended.clear();
        self.note_rest();
    }

    /// Sets the header flag that permits compiled code to pass barriers without a call.
    pub(super) fn note_rest(&mut self) {
        let is_at_rest = self.meetings.rendezvous.is_at_rest();
        let header = self.context.header();
        header.at_rest = u32::from(is_at_rest && header.fault.is_none());
    }

    /// Executes a collective operation for all items. Returns the block at which all items continue, or `None` if the
    /// row ends.
    pub(super) fn meet(&mut self, id: BlockId) -> Result<Option<BlockId>, NativeError> {
        let compiled = self.compiled;
        let (Some(place), Some(block)) = (compiled.meetings.get(&id), compiled.blocks.get(id.index())) else {
            return Ok(None);
        };
        let Next::Meet { then } = block.next else { return Ok(None) };
        let view = View::Together(id);
        let items = self.context.header().items as usize;
        let mut acts = true;
        if let Some(guard) = place.guard {
            match self.read(guard, view, 0) {
                Read::Same(holds) => acts = holds != 0,
                Read::Each(k) => {
                    let holds = self.operand(k).iter().take(items).filter(|&&holds| holds != 0).count();
                    if holds != 0 && holds != items {
                        return self.apart_at(id);
                    }
                    acts = holds != 0;
                }
            }
        }
        if acts {
            // Items before the faulting item have already completed this round.
            if self.context.header().fault.is_some() {
                return Ok(None);
            }
            if !self.meetings.rendezvous.is_at_rest() || !self.is_plain(place, view, None) {
                return self.apart_at(id);
            }
            self.put(place, None);
            self.context.header().round += 1;
        } else {
            for cell in place.takes.iter().map(|takes| takes.cell()) {
                self.spread(cell, compiled.flow.shape_before(id, cell));
            }
        }
        let Target::Block { id: to, .. } = then else {
            let address = if acts { block.end } else { block.last() };
            self.fault(0, (address, TrapKind::RanPastEnd));
            return Ok(None);
        };
        self.enter(id, to);
        Ok(Some(to))
    }

    /// Continues with diverged items, because the collective operation at `id` does not release all items together.
    fn apart_at(&mut self, id: BlockId) -> Result<Option<BlockId>, NativeError> {
        // Each item counts the instruction when it arrives there.
        self.context.header().issued -= 1;
        self.divergent(id)
    }

    /// Reads an operand. A varying operand is copied to a buffer.
    fn read(&mut self, source: Source, view: View, buffer: usize) -> Read {
        let (cell, negated) = match source {
            Source::Const(word) => return Read::Same(word),
            Source::Bank(offset) => {
                let constants = &self.context.header().shared().constants;
                let word = constants.get(offset as usize..).and_then(|bytes| bytes.first_chunk());
                return Read::Same(word.map_or(0, |bytes| u32::from_le_bytes(*bytes)));
            }
            Source::Cell(cell) => (cell, false),
            Source::Not(cell) => (cell, true),
        };
        let compiled = self.compiled;
        let shape = match view {
            View::Together(block) => compiled.flow.shape_before(block, cell),
            View::Apart => compiled.flow.divergent.get(cell.index()).copied().unwrap_or(Shape::Varying),
        };
        let items = self.context.header().items as usize;
        let operands = &mut self.meetings.operands;
        operands.resize_with(operands.len().max(buffer + 1), Vec::new);
        let mut words = std::mem::take(&mut operands[buffer]);
        words.clear();
        let read = match shape {
            Shape::Uniform => {
                let word = *self.context.slot(cell);
                Read::Same(if negated { u32::from(word == 0) } else { word })
            }
            Shape::Affine(_) | Shape::Grid(..) => {
                let (first, across) = (*self.context.slot(cell), self.across());
                words.extend((0..items as u32).map(|item| shape.at(first, item, across)));
                Read::Each(buffer)
            }
            Shape::Varying => {
                let row = self.context.row(compiled.map.cell(cell));
                words.extend(row.iter().take(items).map(|&word| if negated { !word } else { word }));
                Read::Each(buffer)
            }
        };
        self.meetings.operands[buffer] = words;
        read
    }

    fn operand(&self, buffer: usize) -> &[u32] {
        self.meetings.operands.get(buffer).map_or(&[], Vec::as_slice)
    }

    /// Reads the operands of a collective operation, beginning at the second buffer.
    fn read_meeting(&mut self, place: &Place, view: View) -> SyncOp<Read, Read> {
        let mut next = 0;
        let this = std::cell::RefCell::new(self);
        let next = std::cell::RefCell::new(&mut next);
        let read = |source| {
            let mut next = next.borrow_mut();
            **next += 1;
            this.borrow_mut().read(source, view, **next)
        };
        map(&place.meeting, read, read)
    }

    /// Returns `true` if all items, or all items of the mask, continue at once and no others take part. The results are
    /// left in [`Meetings::given`].
    fn is_plain(&mut self, place: &Place, view: View, mask: Option<&[u32]>) -> bool {
        if let Some(collective) = place.collective.as_deref() {
            // A fault is reported in the round of the item. The stores before the fault are then executed again.
            return self.execute(collective, view, mask).is_ok();
        }
        let meeting = self.read_meeting(place, view);
        let items = self.context.header().items;
        let Meetings { operands, given, .. } = &mut self.meetings;
        let words = |read: Read| match read {
            Read::Same(word) => Words::Same(word),
            Read::Each(k) => Words::Each(operands.get(k).map_or(&[], Vec::as_slice)),
        };
        let meeting = map(&meeting, words, words);
        let is_in = |item: usize| mask.is_none_or(|mask| mask.get(item).is_some_and(|&mask| mask != 0));
        match meeting {
            SyncOp::Barrier { id: Words::Same(id), count, of, .. } => {
                let all = items.next_multiple_of(SUBGROUP);
                let is_all = count.is_none_or(|count| count == Words::Same(all));
                if id >= halfbyte_abi::cooperative::BARRIERS || !is_all || of == BarrierOp::Arrive {
                    return false;
                }
                if mask.is_some() && !(0..items as usize).all(is_in) {
                    return false;
                }
                if !place.takes.is_empty() {
                    given.numbers.clear();
                    given.numbers.resize(items as usize, rows::barrier(of, items));
                }
                true
            }
            SyncOp::Subgroup { mask: Words::Same(lanes), of } => {
                // The set of active items is known only in a round of the rendezvous.
                if of == SubgroupOp::Active && mask.is_some() {
                    return false;
                }
                let of_subgroup = |first: usize| first..(first + SUBGROUP as usize).min(items as usize);
                let starts = (0..items as usize).step_by(SUBGROUP as usize);
                let is_whole = |first: usize| {
                    let mut lanes = of_subgroup(first);
                    let is_here = is_in(first);
                    lanes.all(|item| is_in(item) == is_here)
                };
                if mask.is_some() && !starts.clone().all(is_whole) {
                    return false;
                }
                let answers = place.takes.iter().any(|takes| matches!(takes, Takes::Answer(_)));
                rows::exchange(&of, lanes, items, is_in, answers, given).is_some()
            }
            _ => false,
        }
    }

    /// Executes a collective instruction for all subgroups, or for those in the mask. The results are left in
    /// [`Meetings::given`]. Fails with the first fault and its item, or with `None` if items of a subgroup are missing.
    fn execute(
        &mut self,
        collective: &dyn Collective,
        view: View,
        mask: Option<&[u32]>,
    ) -> Result<(), Option<(u32, FaultKind)>> {
        const LANES: usize = SUBGROUP as usize;
        let items = self.context.header().items as usize;
        let read: SmallVec<[Read; 16]> =
            (1..).zip(collective.reads()).map(|(buffer, &cell)| self.read(Source::Cell(cell), view, buffer)).collect();
        let header = &*self.context.header();
        let Meetings { operands, given, .. } = &mut self.meetings;
        for first in (0..items).step_by(LANES) {
            let count = (first..items).take(LANES).filter(|&item| mask.is_none_or(|mask| mask[item] != 0)).count();
            match count {
                0 => continue,
                LANES => {}
                _ => return Err(None),
            }
            let held = |read: &Read| match *read {
                Read::Same(word) => [word; LANES],
                Read::Each(buffer) => {
                    let words = operands.get(buffer).and_then(|words| words.get(first..));
                    words.and_then(|words| words.first_chunk()).copied().unwrap_or_default()
                }
            };
            let held: SmallVec<[Lanes; 16]> = read.iter().map(held).collect();
            let words = collective.execute(&held, &Memory { header, first: first as u32 });
            let words = words.map_err(|(lane, kind)| Some((first as u32 + lane, kind)))?;
            given.words.resize_with(given.words.len().max(words.len()), Vec::new);
            for (given, words) in given.words.iter_mut().zip(&words) {
                given.resize(items, 0);
                given[first..first + LANES].copy_from_slice(words);
            }
        }
        Ok(())
    }

    /// Writes the results of [`Self::is_plain`] to the items' cells.
    fn put(&mut self, place: &Place, mask: Option<&[u32]>) {
        place.takes.iter().for_each(|&takes| self.put_one(takes, mask));
    }

    fn put_one(&mut self, takes: Takes, mask: Option<&[u32]>) {
        let row = self.context.row(self.compiled.map.cell(takes.cell()));
        let Given { numbers, answers, words } = &self.meetings.given;
        let truth = |&word: &u32| u32::from(word != 0).wrapping_neg();
        let numbers = match takes {
            Takes::Word(place, _) => words.get(place).unwrap_or(numbers),
            _ => numbers,
        };
        if let (Takes::Number(_) | Takes::Word(..), None) = (takes, mask) {
            return row.iter_mut().zip(numbers).for_each(|(place, &word)| *place = word);
        }
        let mut words = std::mem::take(&mut self.spare);
        words.clear();
        match takes {
            Takes::Number(_) | Takes::Word(..) => words.extend_from_slice(numbers),
            Takes::Truth(_) => words.extend(numbers.iter().map(truth)),
            Takes::Answer(_) => words.extend(answers.iter().map(truth)),
        }
        match mask {
            None => row.iter_mut().zip(&words).for_each(|(place, &word)| *place = word),
            Some(mask) => {
                let all = row.iter_mut().zip(&words).zip(mask);
                all.for_each(|((place, &word), &mask)| *place = word & mask | *place & !mask);
            }
        }
        self.spare = words;
    }

    /// Gives each item its own round.
    pub(super) fn begin_apart(&mut self) {
        let items = self.context.header().items;
        let turns = &mut self.meetings.turns;
        turns.clear();
        turns.resize(items as usize, 0);
        self.context.header().rounds = turns.as_mut_ptr();
        self.meetings.at.resize(items as usize, BlockId(0));
        self.meetings.left = items;
    }

    fn turn(&mut self, item: u32) -> u32 {
        let of = self.meetings.turns.get(item as usize).copied().unwrap_or(0);
        self.context.header().round + of
    }

    fn set_turn(&mut self, item: u32, turn: u32) {
        let least = self.context.header().round;
        if let Some(of) = self.meetings.turns.get_mut(item as usize) {
            *of = turn - least;
        }
    }

    /// Removes the items that come after the first fault, by round and then by number.
    pub(super) fn drop_late(&mut self, group: &mut Group) {
        let header = self.context.header();
        let least = header.round;
        let Some((turn, item)) = header.fault.as_ref().map(|fault| (fault.round, fault.item)) else { return };
        let Meetings { turns, left, .. } = &mut self.meetings;
        let turn_of = |k: u32| least + turns.get(k as usize).copied().unwrap_or(0);
        group.mask.retain(|k| (turn_of(k), k) < (turn, item));
        let count = group.mask.count();
        *left -= std::mem::replace(&mut group.items, count) - count;
    }

    /// Records that the items of a group have ended.
    pub(super) fn end(&mut self, group: &Group) {
        if self.kernel.groups.is_none() || group.items == 0 {
            return;
        }
        let Meetings { left, ended, .. } = &mut self.meetings;
        *left -= group.items;
        ended.resize(group.mask.words().len(), 0);
        ended.iter_mut().zip(group.mask.words()).for_each(|(ended, mask)| *ended |= mask);
    }

    /// Executes a collective operation for diverged items. Returns `true` if the items continue at once.
    pub(super) fn arrive(&mut self, group: &Group) -> bool {
        let compiled = self.compiled;
        let Some(place) = compiled.meetings.get(&group.block) else { return false };
        let items = self.context.header().items;
        let is_barrier = matches!(place.meeting, SyncOp::Barrier { .. });
        let is_rest = !is_barrier || (group.items == items && self.meetings.rendezvous.is_at_rest());
        if is_rest && self.is_plain(place, View::Apart, Some(group.mask.words())) {
            self.put(place, Some(group.mask.words()));
            let size = if is_barrier { items } else { SUBGROUP } as usize;
            for (turns, mask) in self.meetings.turns.chunks_mut(size).zip(group.mask.words().chunks(size)) {
                if mask.first().is_some_and(|&mask| mask != 0) {
                    let last = turns.iter().copied().max().unwrap_or(0);
                    turns.fill(last + 1);
                }
            }
            return true;
        }
        let meeting = self.read_meeting(place, View::Apart);
        let at = compiled.blocks.get(group.block.index()).map_or(0, |block| block.start);
        for item in group.mask.items().take_while(|&item| item < items) {
            let word = |read: Read| match read {
                Read::Same(word) => word,
                Read::Each(k) => self.operand(k).get(item as usize).copied().unwrap_or(0),
            };
            let meeting = map(&meeting, word, |read| word(read) != 0);
            let turn = self.turn(item);
            self.meetings.waiting += 1;
            self.meetings.rendezvous.stop(item, turn, Some((at, meeting)));
            if let Some(at) = self.meetings.at.get_mut(item as usize) {
                *at = group.block;
            }
        }
        false
    }

    /// Resumes the items whose collective operation completes first, and passes each one to `add`. Returns `true` if
    /// there are such items. No item may be running.
    pub(super) fn go_on(&mut self, mut add: impl FnMut(&mut Self, BlockId, u32)) -> bool {
        // Ended items matter only if other items wait.
        if self.meetings.waiting == 0 {
            return false;
        }
        let ended = std::mem::take(&mut self.meetings.ended);
        for item in (0..).zip(&ended).filter(|(_, ended)| **ended != 0).map(|(item, _)| item) {
            let turn = self.turn(item);
            self.meetings.rendezvous.stop(item, turn, None);
        }
        let before = self.context.header().fault.as_ref().map_or(u32::MAX, |fault| fault.round);
        let mut go_on = std::mem::take(&mut self.meetings.go_on);
        go_on.clear();
        let found = self.meetings.rendezvous.next(before, &mut go_on);
        let is_any = match found {
            Ok(Some(turn)) => {
                self.meetings.waiting -= go_on.len() as u32;
                let executed = self.execute_after(&go_on);
                for &(item, given) in go_on.iter().filter(|_| executed.is_ok()) {
                    let at = self.meetings.at.get(item as usize).copied().unwrap_or(BlockId(0));
                    self.set_turn(item, turn + 1);
                    self.give(at, item, given);
                    add(self, at, item);
                }
                let goes_on = executed.is_ok();
                if let Err((item, kind)) = executed {
                    self.set_turn(item, turn);
                    self.fault_where_it_waits(item, kind);
                }
                goes_on
            }
            Ok(None) => {
                if self.context.header().fault.is_none()
                    && let Some(misfit) = self.meetings.rendezvous.stuck()
                {
                    self.misfit(misfit);
                }
                false
            }
            Err((turn, misfit)) => {
                self.set_turn(misfit.item, turn);
                self.misfit(misfit);
                false
            }
        };
        self.meetings.go_on = go_on;
        is_any
    }

    fn misfit(&mut self, InvalidSync { item, why, parties }: InvalidSync) {
        self.fault_where_it_waits(item, FaultKind::Known(TrapKind::Collective(why, parties)));
    }

    fn fault_where_it_waits(&mut self, item: u32, kind: FaultKind) {
        let at = self.meetings.at.get(item as usize).copied().unwrap_or(BlockId(0));
        let address = self.compiled.blocks.get(at.index()).map_or(0, |block| block.start);
        self.fault_of(item, address, kind);
    }

    /// Executes the collective instructions of the resumed items, subgroup by subgroup, and writes their results.
    fn execute_after(&mut self, go_on: &[(u32, [u64; 2])]) -> Result<(), (u32, FaultKind)> {
        let compiled = self.compiled;
        let items = self.context.header().items as usize;
        for &(first, _) in go_on.iter().filter(|(item, _)| item % SUBGROUP == 0) {
            let at = self.meetings.at.get(first as usize).copied().unwrap_or(BlockId(0));
            let Some(place) = compiled.meetings.get(&at) else { continue };
            let Some(collective) = place.collective.as_deref() else { continue };
            let of_subgroup = |item: u32| u32::from(item / SUBGROUP == first / SUBGROUP).wrapping_neg();
            let mask: Vec<u32> = (0..items as u32).map(of_subgroup).collect();
            match self.execute(collective, View::Apart, Some(&mask)) {
                Ok(()) => self.put(place, Some(&mask)),
                Err(Some(fault)) => return Err(fault),
                // The rendezvous resumes only complete subgroups.
                Err(None) => {}
            }
        }
        Ok(())
    }

    fn give(&mut self, at: BlockId, item: u32, [number, answer]: [u64; 2]) {
        let truth = |word: u64| u32::from(word != 0).wrapping_neg();
        for takes in self.compiled.meetings.get(&at).into_iter().flat_map(|place| &place.takes) {
            let word = match takes {
                Takes::Number(_) => number as u32,
                Takes::Truth(_) => truth(number),
                Takes::Answer(_) => truth(answer),
                // `execute_after` has already written these words.
                Takes::Word(..) => continue,
            };
            if let Some(place) = self.context.row(self.compiled.map.cell(takes.cell())).get_mut(item as usize) {
                *place = word;
            }
        }
    }

    /// Returns the words of the guard of a collective operation for diverged items, or `None` if the operation has no
    /// guard.
    pub(super) fn holds_apart(&mut self, id: BlockId) -> Option<Vec<u32>> {
        let guard = self.compiled.meetings.get(&id)?.guard?;
        let items = self.context.header().items as usize;
        let read = self.read(guard, View::Apart, 0);
        let mut holds = std::mem::take(&mut self.spare);
        holds.clear();
        match read {
            Read::Same(word) => holds.resize(items, u32::from(word != 0).wrapping_neg()),
            Read::Each(k) => holds.extend_from_slice(self.operand(k)),
        }
        Some(holds)
    }

    /// Ends the divergence of the first `items` items, which are all in the same round.
    pub(super) fn leave_apart(&mut self, items: u32) {
        let header = self.context.header();
        header.set_items(items);
        header.rounds = std::ptr::null_mut();
    }

    /// Ends the divergence of a group if all its items are at a block and none has ended. Returns `false` if the rounds
    /// of the items differ, or if a cell that must be uniform or affine at the block is not.
    pub(super) fn rejoin(&mut self, id: BlockId) -> bool {
        let compiled = self.compiled;
        let Some((&first, rest)) = self.meetings.turns.split_first() else { return false };
        if start_of(&compiled.together, id).is_err() || rest.iter().any(|&turn| turn != first) {
            return false;
        }
        let (items, across) = (self.context.header().items as usize, self.across());
        let shape_apart = |cell: Cell| compiled.flow.divergent.get(cell.index()).copied().unwrap_or(Shape::Varying);
        let is_kept = |cell: &Cell| compiled.flow.shape_before(id, *cell).is_varying();
        let words = |cell: Cell| compiled.map.cell(cell);
        for cell in compiled.flow.live.iter(id).filter(|cell| !is_kept(cell) && shape_apart(*cell).is_varying()) {
            let shape = compiled.flow.shape_before(id, cell);
            let row = self.context.row(words(cell)).get(..items).unwrap_or_default();
            let Some(&start) = row.first() else { return false };
            let grows = |(item, &word): (u32, &u32)| word == shape.at(start, item, across);
            if !(0..).zip(row).all(grows) {
                return false;
            }
        }
        for cell in compiled.flow.live.iter(id) {
            match (is_kept(&cell), shape_apart(cell).even()) {
                (true, Some(shape)) => self.spread(cell, shape),
                (false, None) => {
                    let start = self.context.row(words(cell)).first().copied().unwrap_or(0);
                    let is_pred = compiled.cells.is_pred(cell);
                    *self.context.slot(cell) = if is_pred { u32::from(start != 0) } else { start };
                }
                _ => {}
            }
        }
        let header = self.context.header();
        header.round += first;
        header.rounds = std::ptr::null_mut();
        true
    }
}
