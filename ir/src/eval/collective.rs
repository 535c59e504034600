//! Execution of groups of cooperating items. Each item runs until it waits for other items or yields to them.

use halfbyte_abi::cooperative::{
    BarrierOp, DeadlockedItem, Group, InvalidSync, LivelockDetector, Reduce, Shuffle, Strength, SubgroupOp, SyncOp,
    Vote,
};
use smallvec::SmallVec;

use super::prepared::{MAX_LANES, Machine, Position, PreparedInst, Stop};
use crate::eval::atomic::changed;
use crate::eval::declared_memory::AccessProperties;
use crate::eval::lanes::{pack, unpack, write};
use crate::eval::launch::{Fault, TrapKind};
use crate::eval::observe::Observer;
use crate::eval::ops::Operand;
use crate::kernel::{Attr, Inst};
use crate::op::{Effect, Op};
use crate::order::{AtomicAttr, FenceAttr};

/// Scheduling behaviour of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScheduleAction {
    /// The item continues.
    Goes,
    /// The item yields after the op, which is a strong access. Lanes of a subgroup therefore execute the op one after
    /// another. No lane continues before the last lane has executed the op.
    Yields,
    /// The item waits for other items, because the op is a barrier or collective operation.
    Waits,
}

impl ScheduleAction {
    pub(super) fn at(op: Op) -> ScheduleAction {
        match op.row().effect {
            Effect::Convergent => ScheduleAction::Waits,
            Effect::Atomic => ScheduleAction::Yields,
            _ => ScheduleAction::Goes,
        }
    }
}

/// The state of an item while other items run: its values, its local memory and its position.
struct ItemState {
    frame: Vec<u64>,
    scratch: Vec<u8>,
    position: Position,
}

/// Returns the barrier or collective operation that `op` executes. `args` are the bits of the
/// operands. Returns `None` for other ops.
fn sync_op(op: Op, attr: Attr, args: &[u64]) -> Option<SyncOp<u32, bool>> {
    let word = |number: usize| args.get(number).map_or(0, |&bits| bits as u32);
    let says = word(0) & 1 != 0;
    let barrier = |first: usize, of| SyncOp::Barrier {
        id: word(first),
        count: args.get(first + 1).map(|&bits| bits as u32),
        of,
        aligned: attr == Attr::Aligned(true),
    };
    let lanes = |mask: usize, of| SyncOp::Subgroup { mask: word(mask), of };
    let shuffle = |mode| lanes(3, SubgroupOp::Shuffle { mode, value: word(0), by: word(1), segment: word(2) });
    let same = |all| {
        let bits = args.first().copied().unwrap_or(0);
        lanes(1, SubgroupOp::Match { all, value: [bits as u32, (bits >> 32) as u32] })
    };
    let reduce = |of| lanes(1, SubgroupOp::Reduce(of, word(0)));
    Some(match op {
        Op::Barrier => barrier(0, BarrierOp::Sync),
        Op::BarrierArrive => barrier(0, BarrierOp::Arrive),
        Op::BarrierCount => barrier(1, BarrierOp::Count(says)),
        Op::BarrierAll => barrier(1, BarrierOp::All(says)),
        Op::BarrierAny => barrier(1, BarrierOp::Any(says)),
        Op::SubgroupBarrier => lanes(0, SubgroupOp::None),
        Op::SubgroupShuffle => shuffle(Shuffle::Index),
        Op::SubgroupShuffleUp => shuffle(Shuffle::Up),
        Op::SubgroupShuffleDown => shuffle(Shuffle::Down),
        Op::SubgroupShuffleXor => shuffle(Shuffle::Xor),
        Op::VoteAll => lanes(1, SubgroupOp::Vote(Vote::All, says)),
        Op::VoteAny => lanes(1, SubgroupOp::Vote(Vote::Any, says)),
        Op::VoteUniform => lanes(1, SubgroupOp::Vote(Vote::Uniform, says)),
        Op::Ballot => lanes(1, SubgroupOp::Vote(Vote::Ballot, says)),
        Op::MatchAny => same(false),
        Op::MatchAll => same(true),
        Op::SubgroupReduceAdd => reduce(Reduce::Add),
        Op::SubgroupReduceMinS => reduce(Reduce::Min { signed: true }),
        Op::SubgroupReduceMinU => reduce(Reduce::Min { signed: false }),
        Op::SubgroupReduceMaxS => reduce(Reduce::Max { signed: true }),
        Op::SubgroupReduceMaxU => reduce(Reduce::Max { signed: false }),
        Op::SubgroupReduceAnd => reduce(Reduce::And),
        Op::SubgroupReduceOr => reduce(Reduce::Or),
        Op::SubgroupReduceXor => reduce(Reduce::Xor),
        Op::Elect => lanes(0, SubgroupOp::Elect),
        Op::ActiveMask => SyncOp::Subgroup { mask: u32::MAX, of: SubgroupOp::Active },
        _ => return None,
    })
}

impl<O: Observer> Machine<'_, O> {
    /// Returns the barrier or collective operation that the item executes at an instruction, if any.
    pub(super) fn sync_op(&self, step: &PreparedInst) -> Option<SyncOp<u32, bool>> {
        let bits = |value: &Operand<'_>| pack(value.ty, value.lanes).first().copied().unwrap_or(0);
        let args: SmallVec<[u64; 4]> = self.values(step).iter().map(bits).collect();
        sync_op(step.op, step.attr, &args)
    }

    /// Records an item's fence in the race detector.
    pub(super) fn fence(&mut self, item: u32, fence: FenceAttr) {
        if let Some(races) = &mut self.memory.own.races {
            races.fence_of(item, fence.order, fence.scope);
        }
    }

    /// Executes an atomic access of an item.
    pub(super) fn atomic(
        &mut self,
        item: u32,
        step: &PreparedInst,
        of: AtomicAttr,
        out: &mut [u64],
    ) -> Result<(), Fault> {
        let (op, values) = (step.op, self.values(step));
        let base = op.row().args.len().saturating_sub(1);
        let at = self.place(item, step, of.mem, base);
        let ty = self.code.kernel.insts[step.inst].ty;
        // A sum of packed halves is atomic for each half separately. Every other access is atomic as a whole.
        let bytes = if op == Op::AtomicFadd { ty.bytes() / ty.lanes() as u32 } else { ty.bytes() };
        let strong = Some(Strength { order: of.order, scope: of.scope, bytes });
        let how = AccessProperties {
            reads: !matches!(op, Op::AtomicStore | Op::AtomicExchange),
            writes: op != Op::AtomicLoad,
            strong,
        };
        let mut new = [0; MAX_LANES];
        let new = new.get_mut(..ty.lanes()).unwrap_or_default();
        // Copy the operands first, because `self` is borrowed mutably while memory changes.
        let lanes: SmallVec<[SmallVec<[u64; 4]>; 2]> =
            values.iter().take(base).map(|value| SmallVec::from_slice(value.lanes)).collect();
        let types: SmallVec<[_; 2]> = values.iter().take(base).map(|value| value.ty).collect();
        drop(values);
        let done = match op {
            Op::AtomicLoad => self.memory.load(at, ty, how, new),
            _ => self.memory.change(at, ty, how, |old, bytes, is_buffer| {
                let values: SmallVec<[Operand<'_>; 2]> =
                    types.iter().zip(&lanes).map(|(&ty, lanes)| Operand { ty, lanes }).collect();
                changed(op, ty, old, &values, is_buffer, new);
                write(ty, new, bytes);
                out.iter_mut().zip(old).for_each(|(out, old)| *out = *old);
            }),
        };
        done.map_err(|refusal| self.refused_at(self.access(item, step.inst, how.writes), at, refusal))?;
        if op == Op::AtomicLoad {
            out.copy_from_slice(new);
        }
        self.tell_access(item, at, step.inst, how.writes, ty, new);
        Ok(())
    }

    /// Runs group `number`, which has `size` items.
    pub(super) fn run_group(&mut self, number: u32, size: u32) -> Result<(), Fault> {
        let first = number * size;
        self.memory.own.begin(number);
        let scratch = self.memory.own.scratch.len();
        let start = self.frame.clone();
        let slot = |_| ItemState { frame: start.clone(), scratch: vec![0; scratch], position: Position::default() };
        let mut slots: Vec<ItemState> = (0..size).map(slot).collect();
        let ran = self.run_slots(first, &mut slots);
        self.frame = start;
        ran?;
        match self.memory.own.races.as_ref().and_then(|races| races.found()) {
            Some(race) => Err(Fault::Race(self.race(race))),
            None => Ok(()),
        }
    }

    fn run_slots(&mut self, first: u32, slots: &mut [ItemState]) -> Result<(), Fault> {
        let mut group = Group::new(slots.len() as u32);
        let mut round = 0;
        let mut idle = LivelockDetector::default();
        loop {
            let (mut ran, mut only_yields) = (false, true);
            self.memory.own.is_changed = false;
            for number in self.launch.schedule.execution_order(slots.len() as u32, round) {
                let Some(slot) = slots.get_mut(number as usize).filter(|_| group.runs(number)) else { continue };
                ran = true;
                for _ in 0..self.launch.schedule.accesses() {
                    self.swap(slot);
                    let stop = self.run(first + number, &mut slot.position);
                    self.swap(slot);
                    match stop? {
                        Stop::Yield => continue,
                        Stop::End => group.end(number),
                        Stop::Collective(sync_op, inst) => group.wait(number, inst.as_u32(), sync_op),
                    }
                    only_yields = false;
                    break;
                }
            }
            round += 1;
            // Take the race detector out of memory, so that both can be borrowed mutably.
            let mut races = self.memory.own.races.take();
            let met = group.complete_ready(races.as_mut(), &mut |number, given| {
                if let Some(slot) = slots.get_mut(number as usize) {
                    self.store_result(first + number, slot, given);
                }
            });
            self.memory.own.races = races;
            let met = met.map_err(|invalid| self.invalid_sync_fault(invalid, first, slots))?;
            if !ran && !met {
                break;
            }
            if only_yields && !met && !self.memory.own.is_changed {
                let running = (0..).zip(slots.iter()).filter(|(number, _)| group.runs(*number));
                let place =
                    |(_, slot): (u32, &ItemState)| (slot.position.block, slot.position.step, slot.frame.clone());
                if idle.is_livelock(|| running.map(place).collect()) {
                    return Err(self.deadlock_fault(&group, first, slots));
                }
            } else {
                idle = LivelockDetector::default();
            }
        }
        match group.lowest_waiting_item() {
            Some(invalid) => Err(self.invalid_sync_fault(invalid, first, slots)),
            None => Ok(()),
        }
    }

    /// Exchanges the state of the running item with a stored state.
    fn swap(&mut self, slot: &mut ItemState) {
        std::mem::swap(&mut self.frame, &mut slot.frame);
        std::mem::swap(&mut self.memory.own.scratch, &mut slot.scratch);
    }

    /// Stores the two results of an item's barrier or collective operation: a number or predicate,
    /// and a second predicate.
    fn store_result(&mut self, item: u32, slot: &mut ItemState, [number, answer]: [u64; 2]) {
        let Some(step) = self.last_executed(&slot.position) else { return };
        let Some(value) = self.code.kernel.result(step.inst) else { return };
        let given = if step.op == Op::Elect { answer } else { number };
        let mut lanes = [0; MAX_LANES];
        let lanes = lanes.get_mut(..step.result.ty.lanes()).unwrap_or_default();
        unpack(step.result.ty, &[given, 0, 0, 0, 0, 0, 0, 0], lanes);
        step.result.set(&mut slot.frame, lanes);
        if O::IS_ACTIVE {
            self.observer.value(item, value, lanes);
        }
    }

    /// Returns the instruction that an item has executed last.
    fn last_executed(&self, position: &Position) -> Option<&PreparedInst> {
        let steps = self.code.blocks.get(position.block).and_then(|of| self.code.steps.get(of.clone()))?;
        steps.get(position.step.checked_sub(1)?)
    }

    fn fault_of_item(&self, number: u32, first: u32, slots: &[ItemState], kind: TrapKind) -> Fault {
        let slot = slots.get(number as usize);
        let step = slot.and_then(|slot| self.last_executed(&slot.position));
        let inst = step.map_or(Inst::from_u32(0), |step| step.inst);
        self.trap(first + number, inst, kind)
    }

    fn invalid_sync_fault(
        &self,
        InvalidSync { item, why, parties }: InvalidSync,
        first: u32,
        slots: &[ItemState],
    ) -> Fault {
        self.fault_of_item(item, first, slots, TrapKind::Collective(why, parties))
    }

    /// Returns the fault of the lowest item that has not ended, in a deadlock. The item either
    /// waits or polls memory that no item writes.
    fn deadlock_fault(&self, group: &Group, first: u32, slots: &[ItemState]) -> Fault {
        let asked = |number: u32| {
            let slot = slots.get(number as usize);
            slot.and_then(|slot| self.last_executed(&slot.position)).map_or(0, |step| step.inst.as_u32())
        };
        match group.find_deadlocked_item(asked) {
            DeadlockedItem::Waits(invalid) => self.invalid_sync_fault(invalid, first, slots),
            DeadlockedItem::Polls(number, parties) => {
                self.fault_of_item(number, first, slots, TrapKind::Deadlock(parties))
            }
        }
    }
}
