//! State machine of a group of work items. It tracks running and waiting items, and completes
//! barriers and collective operations.

use std::ops::Range;

use thiserror::Error;

use super::exchange::{Lanes, is_alike, result};
use super::{BARRIERS, BarrierOp, RaceDetector, SUBGROUP, SubgroupOp, SyncOp, WaitState, WaitingItems};
use crate::Loc;

/// State of an item.
#[derive(Clone, Copy)]
enum State {
    Runs,
    /// The item waits at an instruction. `arrived` is `true` if the item has arrived at a barrier
    /// that is not complete yet.
    Waits {
        sync_op: SyncOp<u32, bool>,
        place: u32,
        arrived: bool,
    },
    Ended,
}

/// Arrivals at a barrier since it last completed.
#[derive(Clone, Copy, Default)]
struct Arrivals {
    /// Number of arrived items. A subgroup counts as 32 items.
    items: u32,
    /// Number of items that must arrive at the barrier; `None` for all items of the group.
    expected: Option<u32>,
    yes: u32,
    no: u32,
}

/// Operation that a lane waits for: mask, operation and instruction number. `None` if the lane does
/// not wait for an operation.
type Asked = Option<(u32, SubgroupOp<u32, bool>, u32)>;

/// Synchronisation state of the items of a group, indexed by their numbers in the group.
pub struct Group {
    states: Vec<State>,
    barriers: [Arrivals; BARRIERS as usize],
    /// `true` if an item has started to wait or has ended since the last call of [`Group::complete_ready`].
    is_new: bool,
}

/// An item whose barrier or collective operation is invalid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidSync {
    /// Number of the item in the group.
    pub item: u32,
    /// Reason why the operation is invalid.
    pub why: SyncError,
    /// All items involved, if there are several. The first entry includes the item itself.
    pub parties: Vec<WaitingItems>,
}

/// An item that can never end, because all items of its group wait or poll memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeadlockedItem {
    /// The item waits at a barrier or collective operation that cannot complete.
    Waits(InvalidSync),
    /// The item with this number polls memory that no item will write. The list holds all items of
    /// the group that have not ended.
    Polls(u32, Vec<WaitingItems>),
}

/// Error of a barrier or collective operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SyncError {
    /// The barrier number or the item count is out of range.
    #[error("{}", barrier_argument(*.id, *.count))]
    BarrierArgument {
        /// Number of the barrier.
        id: u32,
        /// Number of items that the barrier waits for, if the instruction specifies a number.
        count: Option<u32>,
    },
    /// Items of a subgroup execute different instructions for an aligned barrier, or some items never reach a barrier.
    #[error("waits at a barrier that other items never reach")]
    BarrierDivergence,
    /// Some lanes of the operation's mask never execute the operation.
    #[error("waits for lanes of its subgroup that never execute the operation")]
    SubgroupDivergence,
    /// The operation's mask does not include the lane itself, or the mask of an `elect` includes a lane that has ended.
    #[error("the mask {mask:#x} of lane {lane} must include the lane itself and, in an election, no exited lanes")]
    NotInMask {
        /// Number of the lane in its subgroup.
        lane: u32,
        /// Mask of participating lanes that the instruction specifies.
        mask: u32,
    },
    /// A shuffle reads a value from a lane that does not participate.
    #[error("reads the value of lane {lane}, which is not active in this shuffle")]
    InactiveSource {
        /// Number of the lane from which the shuffle reads.
        lane: u32,
    },
}

fn barrier_argument(id: u32, count: Option<u32>) -> String {
    match count {
        _ if id >= BARRIERS => format!("there is no barrier {id}; they are 0 to {}", BARRIERS - 1),
        Some(count) => format!("the item count of a barrier must be a positive multiple of {SUBGROUP}, not {count}"),
        None => format!("barrier {id}"),
    }
}

impl Group {
    /// Creates a group of `items` running items.
    pub fn new(items: u32) -> Group {
        Group {
            states: vec![State::Runs; items as usize],
            barriers: [Arrivals::default(); BARRIERS as usize],
            is_new: false,
        }
    }

    /// Returns `true` if an item neither waits nor has ended.
    pub fn runs(&self, item: u32) -> bool {
        matches!(self.states.get(item as usize), Some(State::Runs))
    }

    /// Records that an item has ended.
    pub fn end(&mut self, item: u32) {
        self.set(item, State::Ended);
    }

    /// Records that an item waits at an instruction for a barrier or collective operation.
    pub fn wait(&mut self, item: u32, place: u32, sync_op: SyncOp<u32, bool>) {
        self.set(item, State::Waits { sync_op, place, arrived: false });
    }

    fn set(&mut self, item: u32, state: State) {
        self.is_new = true;
        if let Some(of) = self.states.get_mut(item as usize) {
            *of = state;
        }
    }

    /// Completes barriers and collective operations whose items have all arrived. Returns `true` if
    /// any operation completed. `resume` is called for each item that continues, with the two
    /// results of its operation: a number or predicate, and a second predicate.
    ///
    /// # Errors
    /// A barrier or collective operation of an item is invalid.
    pub fn complete_ready(
        &mut self,
        mut races: Option<&mut RaceDetector>,
        resume: &mut dyn FnMut(u32, [u64; 2]),
    ) -> Result<bool, InvalidSync> {
        let mut met = false;
        if !std::mem::take(&mut self.is_new) {
            return Ok(met);
        }
        for first in (0..self.states.len() as u32).step_by(SUBGROUP as usize) {
            races.as_ref().map_or(Ok(()), |races| self.check_passed(first, races))?;
            met |= self.exchange(first, &mut races, resume)?;
            met |= self.arrive(first, &mut races, resume)?;
        }
        for id in 0..BARRIERS {
            met |= self.complete(id, &mut races, resume);
        }
        // A resumed item can reach the instruction at which other items wait.
        self.is_new |= met;
        Ok(met)
    }

    /// Returns `true` if all items run and no item has arrived at a barrier.
    pub fn is_at_rest(&self) -> bool {
        let is_empty = |arrivals: &Arrivals| arrivals.items == 0 && arrivals.expected.is_none();
        self.states.iter().all(|state| matches!(state, State::Runs)) && self.barriers.iter().all(is_empty)
    }

    /// Returns the lowest item that has not ended, in a group that cannot continue. The item either waits or polls
    /// memory that no item writes. `place` returns the instruction with which an item polls.
    pub fn find_deadlocked_item(&self, place: impl Fn(u32) -> u32) -> DeadlockedItem {
        let asks = (0..self.states.len() as u32).find(|&item| self.runs(item));
        let parties = self.parties(0..self.states.len() as u32, place);
        match (asks, self.lowest_waiting_item()) {
            (Some(asks), Some(misfit)) if misfit.item < asks => {
                DeadlockedItem::Waits(InvalidSync { parties, ..misfit })
            }
            (None, Some(misfit)) => DeadlockedItem::Waits(misfit),
            (asks, _) => DeadlockedItem::Polls(asks.unwrap_or(0), parties),
        }
    }

    /// Returns the lowest waiting item, with the error that its wait never ends. Called if no item can continue.
    pub fn lowest_waiting_item(&self) -> Option<InvalidSync> {
        let waits = self.states.iter().zip(0..).find_map(|(state, item)| match state {
            State::Waits { sync_op, .. } => Some((item, sync_op)),
            _ => None,
        });
        waits.map(|(item, sync_op)| {
            let why = match sync_op {
                SyncOp::Barrier { .. } => SyncError::BarrierDivergence,
                SyncOp::Subgroup { .. } | SyncOp::Converged { .. } => SyncError::SubgroupDivergence,
            };
            InvalidSync { item, why, parties: self.parties(0..self.states.len() as u32, |_| 0) }
        })
    }

    /// Returns the items of a range that have not ended. Items with the same wait condition and instruction form one
    /// entry. Running items poll memory at the instruction that `place` returns.
    fn parties(&self, items: Range<u32>, place: impl Fn(u32) -> u32) -> Vec<WaitingItems> {
        let mut parties: Vec<WaitingItems> = Vec::new();
        for item in items {
            let (place, standing) = match self.states.get(item as usize) {
                Some(State::Runs) => (place(item), WaitState::Memory),
                Some(State::Waits { sync_op, place, .. }) => (*place, self.wait_state(item, sync_op, *place)),
                Some(State::Ended) | None => continue,
            };
            let alike = parties.iter_mut().find(|party| (party.place, party.standing) == (place, standing));
            match alike {
                Some(party) => party.items.push(item),
                None => parties.push(WaitingItems { items: vec![item], place, loc: Loc::default(), standing }),
            }
        }
        parties
    }

    /// Returns the wait condition of a waiting item.
    fn wait_state(&self, item: u32, sync_op: &SyncOp<u32, bool>, place: u32) -> WaitState {
        match *sync_op {
            SyncOp::Barrier { id, .. } => {
                let arrivals = self.barriers.get(id as usize).copied().unwrap_or_default();
                let expected = arrivals.expected.unwrap_or_else(|| self.subgroups() * SUBGROUP);
                WaitState::Barrier { id, arrived: arrivals.items, expected }
            }
            SyncOp::Subgroup { mask, of } => {
                let is_collective = of == SubgroupOp::Collective;
                let (mut alive, mut came) = (0u32, 0u32);
                let first = item / SUBGROUP * SUBGROUP;
                for (other, state) in self.items_not_ended(first) {
                    let lane = 1 << (other - first);
                    alive |= lane;
                    if let State::Waits { sync_op: SyncOp::Subgroup { mask: theirs, of: other }, place: at, .. } = state
                        && *theirs == mask
                        && is_alike(*other, of)
                        && (*at == place || !is_collective)
                    {
                        came |= lane;
                    }
                }
                WaitState::Lanes(if is_collective { mask } else { mask & alive } & !came)
            }
            SyncOp::Converged { .. } => WaitState::Lanes(0),
        }
    }

    /// Counts the subgroups in which at least one item has not ended.
    fn subgroups(&self) -> u32 {
        let subgroups = (0..self.states.len() as u32).step_by(SUBGROUP as usize);
        subgroups.filter(|&first| self.items_not_ended(first).next().is_some()).count() as u32
    }

    /// Fails if a lane has passed an aligned barrier at which another lane of its subgroup waits.
    /// The check is made only when no lane of the subgroup runs.
    fn check_passed(&self, first: u32, races: &RaceDetector) -> Result<(), InvalidSync> {
        let mut waiting: Vec<u32> = Vec::new();
        for (item, state) in self.items_not_ended(first) {
            match state {
                State::Runs => return Ok(()),
                State::Waits { sync_op: SyncOp::Barrier { aligned: true, .. }, arrived: false, .. } => {
                    waiting.push(item)
                }
                _ => {}
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        let Some((item, lane, branch)) = races.passed(&waiting, first) else { return Ok(()) };
        let mut parties = self.parties(item..item + 1, |_| 0);
        parties.push(WaitingItems {
            items: vec![lane],
            place: branch,
            loc: Loc::default(),
            standing: WaitState::Passed,
        });
        Err(InvalidSync { item, why: SyncError::BarrierDivergence, parties })
    }

    fn resume(&mut self, item: u32, values: [u64; 2], resume: &mut dyn FnMut(u32, [u64; 2])) {
        self.set(item, State::Runs);
        resume(item, values);
    }

    /// Returns the items of a subgroup that have not ended, with their states.
    fn items_not_ended(&self, first: u32) -> impl Iterator<Item = (u32, &State)> {
        let of = self.states.iter().zip(0..).skip(first as usize).take(SUBGROUP as usize);
        of.filter(|(state, _)| !matches!(state, State::Ended)).map(|(state, item)| (item, state))
    }

    /// Records the arrival of a subgroup at a barrier, once all its items that have not ended wait at the barrier.
    fn arrive(
        &mut self,
        first: u32,
        races: &mut Option<&mut RaceDetector>,
        resume: &mut dyn FnMut(u32, [u64; 2]),
    ) -> Result<bool, InvalidSync> {
        let mut all: Option<(u32, Option<u32>, bool, u32)> = None;
        let mut is_one = true;
        for (item, state) in self.items_not_ended(first) {
            let State::Waits { sync_op: SyncOp::Barrier { id, count, aligned, .. }, place, arrived: false } = *state
            else {
                return Ok(false);
            };
            if id >= BARRIERS || count.is_some_and(|count| count == 0 || count % SUBGROUP != 0) {
                let why = SyncError::BarrierArgument { id, count };
                return Err(InvalidSync { item, why, parties: Vec::new() });
            }
            match all {
                Some((.., is_aligned, other)) if (aligned || is_aligned) && place != other => {
                    let mut parties = self.parties(first..first + SUBGROUP, |_| 0);
                    parties.sort_by_key(|party| !party.items.contains(&item));
                    return Err(InvalidSync { item, why: SyncError::BarrierDivergence, parties });
                }
                Some((other, ..)) => is_one &= other == id,
                None => all = Some((id, count, aligned, place)),
            }
        }
        let Some((id, count, ..)) = all.filter(|_| is_one) else { return Ok(false) };
        for item in first..self.states.len().min((first + SUBGROUP) as usize) as u32 {
            let Some(State::Waits { sync_op: SyncOp::Barrier { of, .. }, arrived, .. }) =
                self.states.get_mut(item as usize)
            else {
                continue;
            };
            let of = *of;
            *arrived = true;
            if let (BarrierOp::Count(says) | BarrierOp::All(says) | BarrierOp::Any(says), Some(arrivals)) =
                (of, self.barriers.get_mut(id as usize))
            {
                *(if says { &mut arrivals.yes } else { &mut arrivals.no }) += 1;
            }
            if let Some(races) = races {
                races.arrive(id, item);
            }
            if of == BarrierOp::Arrive {
                self.resume(item, [0; 2], resume);
            }
        }
        if let Some(arrivals) = self.barriers.get_mut(id as usize) {
            arrivals.items += SUBGROUP;
            arrivals.expected = count.or(arrivals.expected);
        }
        Ok(true)
    }

    /// Completes a barrier if all expected items have arrived.
    fn complete(
        &mut self,
        id: u32,
        races: &mut Option<&mut RaceDetector>,
        resume: &mut dyn FnMut(u32, [u64; 2]),
    ) -> bool {
        let Some(&Arrivals { items, expected, yes, no }) = self.barriers.get(id as usize) else { return false };
        if items == 0 {
            return false;
        }
        if items < expected.unwrap_or_else(|| self.subgroups() * SUBGROUP) {
            return false;
        }
        for item in 0..self.states.len() as u32 {
            let Some(&State::Waits { sync_op: SyncOp::Barrier { id: at, of, .. }, arrived: true, .. }) =
                self.states.get(item as usize)
            else {
                continue;
            };
            if at != id {
                continue;
            }
            let value = of.answer(yes, no);
            if let Some(races) = races {
                races.leave(id, item);
            }
            self.resume(item, [value.into(), 0], resume);
        }
        if let Some(races) = races {
            races.complete(id);
        }
        if let Some(arrivals) = self.barriers.get_mut(id as usize) {
            *arrivals = Arrivals::default();
        }
        true
    }

    /// Completes the collective operations of a subgroup whose lanes have all arrived.
    fn exchange(
        &mut self,
        first: u32,
        races: &mut Option<&mut RaceDetector>,
        resume: &mut dyn FnMut(u32, [u64; 2]),
    ) -> Result<bool, InvalidSync> {
        let mut waiting: [Asked; SUBGROUP as usize] = [None; SUBGROUP as usize];
        let mut unsaid = waiting;
        let mut alive = 0u32;
        let mut are_any = false;
        for (item, state) in self.items_not_ended(first) {
            alive |= 1 << (item - first);
            if let (&State::Waits { sync_op: SyncOp::Subgroup { mask, of }, place, .. }, Some(slot)) =
                (state, waiting.get_mut((item - first) as usize))
            {
                *slot = Some((mask, of, place));
                are_any = true;
            }
            if let (&State::Waits { sync_op: SyncOp::Converged { of }, place, .. }, Some(slot)) =
                (state, unsaid.get_mut((item - first) as usize))
            {
                *slot = Some((0, of, place));
            }
        }
        for lane in 0..SUBGROUP {
            // An operation without a mask includes all lanes that wait at the same instruction.
            if let Some((_, of, place)) = unsaid.get(lane as usize).copied().flatten() {
                let is_there = |other: &Asked| other.is_some_and(|(_, other, at)| at == place && is_alike(other, of));
                let mask = mask_of_those(&unsaid, is_there);
                if let Some(slot) = waiting.get_mut(lane as usize) {
                    (*slot, are_any) = (Some((mask, of, place)), true);
                }
            }
        }
        let mut met = false;
        for lane in (0..SUBGROUP).filter(|_| are_any) {
            let item = first + lane;
            let Some(&Some((mask, exchange, place))) = waiting.get(lane as usize) else { continue };
            let refuse = |why| Err(InvalidSync { item, why, parties: Vec::new() });
            if mask >> lane & 1 == 0 {
                return refuse(SyncError::NotInMask { lane, mask });
            }
            let is_active = exchange == SubgroupOp::Active;
            // A `Collective` operation needs all lanes of the mask at one instruction, including lanes that have ended.
            let is_collective = exchange == SubgroupOp::Collective;
            let takes_part = |slot: &Asked| {
                slot.is_some_and(|(other, of, at)| {
                    other == mask && is_alike(of, exchange) && (at == place || !is_active && !is_collective)
                })
            };
            let mut lanes: Lanes = [None; SUBGROUP as usize];
            let mut came = 0u32;
            for (number, (slot, of)) in waiting.iter().zip(&mut lanes).enumerate() {
                if mask >> number & 1 != 0 && takes_part(slot) {
                    came |= 1 << number;
                    *of = slot.map(|(_, of, _)| of);
                }
            }
            // The lanes of a `SubgroupOp::Active` operation wait for no other lane.
            if !is_active && came != if is_collective { mask } else { mask & alive } {
                continue;
            }
            if exchange == SubgroupOp::Elect && mask & !alive != 0 {
                return refuse(SyncError::NotInMask { lane, mask });
            }
            if let (SubgroupOp::None, Some(races)) = (exchange, races.as_mut()) {
                races.synchronise_lanes(came, first);
            }
            for (number, of) in lanes.iter().enumerate() {
                let (Some(of), number) = (*of, number as u32) else { continue };
                let given = if is_active { Ok([came.into(), 0]) } else { result(number, of, mask, &lanes) };
                let given = given.map_err(|source| {
                    let why = SyncError::InactiveSource { lane: source };
                    InvalidSync { item: first + number, why, parties: Vec::new() }
                })?;
                if let Some(slot) = waiting.get_mut(number as usize) {
                    *slot = None;
                }
                self.resume(first + number, given, resume);
            }
            met = true;
        }
        Ok(met)
    }
}

/// Returns the mask of the lanes whose operation satisfies a predicate.
fn mask_of_those(lanes: &[Asked], holds: impl Fn(&Asked) -> bool) -> u32 {
    (0..).zip(lanes).filter(|(_, asked)| holds(asked)).fold(0, |mask, (lane, _)| mask | 1 << lane)
}
