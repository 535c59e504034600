use super::*;
use MemOrder::{AcqRel, Acquire, Relaxed, Release};

const X: u64 = 0;
const FLAG: u64 = 64;

fn touch(item: u32, writes: bool, strong: Option<(MemOrder, Scope)>) -> AccessInfo {
    let strong = strong.map(|(order, scope)| Strength { order, scope, bytes: 4 });
    AccessInfo { item, inst: item * 10, writes, reads: !writes, strong, keeps_value: false }
}

/// The race detector of a launch in groups of four items, and the memory that the items access.
struct Run(RaceDetector, SharedLocation);

impl Run {
    fn of(place: SharedLocation) -> Run {
        Run(RaceDetector::new(4, RaceCheck::On), place)
    }

    fn write(&mut self, item: u32, at: u64) {
        self.0.access(self.1, at, 4, touch(item, true, None));
    }

    fn read(&mut self, item: u32, at: u64) {
        self.0.access(self.1, at, 4, touch(item, false, None));
    }

    fn store(&mut self, item: u32, at: u64, ordering: MemOrder, scope: Scope) {
        self.0.access(self.1, at, 4, touch(item, true, Some((ordering, scope))));
    }

    fn load(&mut self, item: u32, at: u64, ordering: MemOrder, scope: Scope) {
        self.0.access(self.1, at, 4, touch(item, false, Some((ordering, scope))));
    }

    fn atomic(&mut self, item: u32, at: u64, ordering: MemOrder, scope: Scope) {
        let touch = AccessInfo { reads: true, ..touch(item, true, Some((ordering, scope))) };
        self.0.access(self.1, at, 4, touch);
    }

    /// Records a strong access to `bytes` bytes with elements of `element` bytes.
    fn sized(&mut self, item: u32, at: u64, bytes: usize, element: u32, how: [bool; 2]) {
        let [reads, writes] = how;
        let strong = Some(Strength { order: Relaxed, scope: Scope::Device, bytes: element });
        self.0.access(
            self.1,
            at,
            bytes,
            AccessInfo { item, inst: item * 10, writes, reads, strong, keeps_value: false },
        );
    }

    fn barrier(&mut self, items: &[u32]) {
        items.iter().for_each(|&item| self.0.arrive(0, item));
        items.iter().for_each(|&item| self.0.leave(0, item));
        self.0.complete(0);
    }

    fn races(&self) -> bool {
        self.0.found().is_some()
    }
}

/// Returns `true` if a sequence of accesses races. Checks that the result is the same in shared memory and in a buffer.
fn races(what: impl Fn(&mut Run)) -> bool {
    let [shared, global] = [SharedLocation::Shared, SharedLocation::Buffer(2)].map(|place| {
        let mut run = Run::of(place);
        what(&mut run);
        run.races()
    });
    assert_eq!(shared, global);
    shared
}

#[test]
fn two_items_race_where_one_writes() {
    assert!(races(|run| [run.write(0, X), run.write(1, X)].into_iter().collect()));
    assert!(races(|run| [run.write(0, X), run.read(1, X + 3)].into_iter().collect()));
    assert!(races(|run| [run.read(0, X), run.read(1, X), run.write(0, X)].into_iter().collect()));
    assert!(races(|run| [run.read(0, X), run.read(1, X), run.read(2, X), run.write(1, X)].into_iter().collect()));
    assert!(!races(|run| [run.write(0, X), run.read(0, X), run.write(0, X)].into_iter().collect()));
    assert!(!races(|run| [run.write(0, X), run.write(1, X + 4)].into_iter().collect()));
    assert!(!races(|run| [run.read(0, X), run.read(1, X)].into_iter().collect()));
}

#[test]
fn a_barrier_orders_the_arriving_items() {
    assert!(!races(|run| {
        run.write(0, X);
        run.barrier(&[0, 1, 2, 3]);
        run.read(1, X);
        run.read(2, X);
        run.barrier(&[0, 1, 2, 3]);
        run.write(3, X);
    }));
    assert!(races(|run| {
        run.write(0, X);
        run.barrier(&[0, 1]);
        run.read(2, X);
    }));
    assert!(races(|run| {
        run.write(0, X);
        run.barrier(&[0, 1]);
        run.read(1, X);
        run.write(0, X);
    }));
}

/// Returns `true` if accesses of two resident groups race. Item 0 passes data from group 0 to group
/// 1, and item 4 passes the data back.
fn handed_back(order: [MemOrder; 2], has_barrier: bool) -> bool {
    let [release, acquire] = order;
    let mut run = Run::of(SharedLocation::Buffer(2));
    run.write(0, X);
    run.atomic(0, FLAG, release, Scope::Device);
    run.0.switch_to(1);
    run.load(4, FLAG, acquire, Scope::Device);
    if has_barrier {
        run.barrier(&[0, 1, 2, 3]);
    }
    run.write(5, X);
    run.barrier(&[0, 1, 2, 3]);
    run.atomic(4, FLAG, release, Scope::Device);
    run.0.switch_to(0);
    run.load(0, FLAG, acquire, Scope::Device);
    run.barrier(&[0, 1, 2, 3]);
    run.read(3, X);
    run.races()
}

#[test]
fn resident_groups_are_ordered_by_release_and_acquire() {
    assert!(!handed_back([Release, Acquire], true));
    assert!(handed_back([Release, Acquire], false));
    assert!(handed_back([Release, Relaxed], true));
    assert!(handed_back([Relaxed, Acquire], true));
}

#[test]
fn resident_groups_keep_their_shared_memory_and_barriers() {
    let mut run = Run::of(SharedLocation::Shared);
    run.write(0, X);
    run.0.arrive(0, 0);
    run.0.switch_to(1);
    run.write(4, X);
    run.barrier(&[0, 1]);
    run.read(5, X);
    run.0.switch_to(0);
    run.0.arrive(0, 1);
    run.0.leave(0, 1);
    run.0.complete(0);
    run.read(1, X);
    assert!(run.0.are_written(X, 4) && !run.0.are_written(FLAG, 1));
    assert!(!run.races());
    run.0.switch_to(1);
    run.write(6, X);
    assert!(run.races());
}

#[test]
fn an_arrival_without_waiting_acquires_nothing() {
    let mut run = Run::of(SharedLocation::Shared);
    run.write(0, X);
    run.write(1, X + 4);
    run.0.arrive(3, 0);
    run.0.arrive(3, 1);
    run.0.leave(3, 1);
    run.0.complete(3);
    run.read(1, X);
    assert!(!run.races());
    run.read(0, X + 4);
    assert!(run.races());
}

#[test]
fn a_release_happens_before_its_acquire() {
    let message = |release: MemOrder, acquire: MemOrder| {
        races(|run| {
            run.write(0, X);
            run.store(0, FLAG, release, Scope::Group);
            run.load(1, FLAG, acquire, Scope::Device);
            run.read(1, X);
        })
    };
    assert!(!message(Release, Acquire));
    assert!(message(Relaxed, Acquire));
    assert!(message(Release, Relaxed));
    // Accesses that follow the release are not ordered by it.
    assert!(races(|run| {
        run.store(0, FLAG, Release, Scope::Device);
        run.write(0, X);
        run.load(1, FLAG, Acquire, Scope::Device);
        run.read(1, X);
    }));
}

#[test]
fn fences_release_and_acquire() {
    let message = |release: bool, acquire: bool| {
        races(|run| {
            run.write(0, X);
            if release {
                run.0.fence(0, Scope::Device);
            }
            run.store(0, FLAG, Relaxed, Scope::Device);
            run.load(1, FLAG, Relaxed, Scope::Device);
            if acquire {
                run.0.fence(1, Scope::Device);
            }
            run.read(1, X);
        })
    };
    assert!(!message(true, true));
    assert!(message(false, true));
    assert!(message(true, false));
}

#[test]
fn a_relaxed_atomic_operation_preserves_releases() {
    let chain = |between: fn(&mut Run)| {
        races(|run| {
            run.write(0, X);
            run.store(0, FLAG, Release, Scope::Device);
            between(run);
            run.load(1, FLAG, Acquire, Scope::Device);
            run.read(1, X);
        })
    };
    assert!(!chain(|run| run.atomic(2, FLAG, Relaxed, Scope::Device)));
    assert!(chain(|run| run.store(2, FLAG, Relaxed, Scope::Device)));
    // One acquire synchronises with all releases of the element.
    assert!(!races(|run| {
        for item in 0..3 {
            run.write(item, X + 4 * u64::from(item));
            run.atomic(item, FLAG, AcqRel, Scope::Device);
        }
        run.atomic(3, FLAG, AcqRel, Scope::Device);
        (0..3).for_each(|item| run.read(3, X + 4 * item));
    }));
}

#[test]
fn strong_accesses_race_with_weak_accesses() {
    assert!(!races(|run| {
        run.atomic(0, X, Relaxed, Scope::Device);
        run.atomic(1, X, Relaxed, Scope::Group);
        run.load(2, X, Relaxed, Scope::System);
        run.store(3, X, Relaxed, Scope::Group);
    }));
    assert!(races(|run| [run.atomic(0, X, Relaxed, Scope::Device), run.read(1, X)].into_iter().collect()));
    assert!(races(|run| [run.write(0, X), run.atomic(1, X, Relaxed, Scope::Device)].into_iter().collect()));
    assert!(races(|run| [run.read(0, X), run.atomic(1, X, Relaxed, Scope::Device)].into_iter().collect()));
    // A weak access by an item that is ordered after only one of two atomic operations races with the other operation.
    assert!(races(|run| {
        run.atomic(0, X, Relaxed, Scope::Device);
        run.atomic(1, X, Relaxed, Scope::Device);
        run.barrier(&[0, 2]);
        run.read(2, X);
    }));
}

const CHANGE: [bool; 2] = [true, true];
const STORE: [bool; 2] = [false, true];
const LOAD: [bool; 2] = [true, false];

/// The last of four items to increment a counter reads the data of the others and resets the counter with a weak store.
#[test]
fn the_last_item_may_reset_the_counter() {
    let last = |fences: bool, reads: bool| {
        races(|run| {
            for item in 0..4 {
                run.write(item, X + 4 * u64::from(item));
                if fences {
                    run.0.fence(item, Scope::Device);
                }
                run.atomic(item, FLAG, Relaxed, Scope::Device);
            }
            if fences {
                run.0.fence(3, Scope::Device);
            }
            if reads {
                (0..4).for_each(|item| run.read(3, X + 4 * item));
            }
            run.write(3, FLAG);
        })
    };
    assert!(!last(true, true));
    assert!(!last(false, false));
    assert!(last(false, true));
}

#[test]
fn an_observed_write_precedes_later_accesses_of_the_observer() {
    // The barrier of the item that observes a write orders the write before another item's store.
    // The barrier does not order the accesses that precede the write.
    let by_another = |data: bool| {
        races(|run| {
            run.write(0, X);
            run.store(0, FLAG, Relaxed, Scope::Device);
            run.load(1, FLAG, Relaxed, Scope::Device);
            run.barrier(&[1, 2]);
            run.write(2, if data { X } else { FLAG });
        })
    };
    assert!(by_another(true));
    // The barrier orders the load of item 1 before the store of item 2. The store of item 0
    // precedes the load, so it also precedes the store of item 2.
    assert!(!by_another(false));
    // An item races if it has observed nothing, or only an earlier write.
    assert!(races(|run| {
        run.atomic(0, FLAG, Relaxed, Scope::Device);
        run.write(1, FLAG);
    }));
    assert!(races(|run| {
        run.atomic(1, FLAG, Relaxed, Scope::Device);
        run.atomic(0, FLAG, Relaxed, Scope::Device);
        run.write(1, FLAG);
    }));
    // A barrier does not order a write that is observed only after the barrier.
    assert!(races(|run| {
        run.store(0, FLAG, Relaxed, Scope::Device);
        run.barrier(&[1, 2]);
        run.load(1, FLAG, Relaxed, Scope::Device);
        run.write(2, FLAG);
    }));
    // Accesses observe writes, but never loads.
    assert!(races(|run| {
        run.load(0, FLAG, Relaxed, Scope::Device);
        run.atomic(1, FLAG, Relaxed, Scope::Device);
        run.write(1, FLAG);
    }));
}

#[test]
fn a_chain_of_atomic_operations_is_observed_as_a_whole() {
    let chain = |between: fn(&mut Run)| {
        races(|run| {
            run.atomic(0, FLAG, Relaxed, Scope::Device);
            between(run);
            run.load(2, FLAG, Relaxed, Scope::Device);
            run.write(2, FLAG);
        })
    };
    assert!(!chain(|_| {}));
    assert!(!chain(|run| run.atomic(1, FLAG, Relaxed, Scope::Device)));
    // A store ends the chain, so the accesses before the store are not observed.
    assert!(chain(|run| run.store(1, FLAG, Relaxed, Scope::Device)));
    assert!(chain(|run| run.store(0, FLAG, Relaxed, Scope::Device)));
    // The scopes of items in different groups must include each other, or the accesses race.
    let groups = |scope: Scope| {
        let mut run = Run::of(SharedLocation::Buffer(0));
        run.atomic(0, FLAG, Relaxed, scope);
        run.0.begin(1);
        run.atomic(4, FLAG, Relaxed, scope);
        run.write(4, FLAG);
        run.races()
    };
    assert!(!groups(Scope::Device));
    assert!(groups(Scope::Group));
}

/// Fills a list beyond the length up to which it holds all accesses of an item.
#[test]
fn a_counter_of_many_items_is_reset() {
    let reset = |item: u32| {
        let mut run = Run(RaceDetector::new(32, RaceCheck::On), SharedLocation::Buffer(0));
        for group in 0..40 {
            run.0.begin(group);
            for round in 0..20 {
                for item in 32 * group..32 * group + 32 {
                    run.atomic(item, FLAG, if round % 2 == 0 { Relaxed } else { Release }, Scope::Device);
                }
            }
        }
        run.write(item, FLAG);
        run.races()
    };
    assert!(!reset(32 * 40 - 1));
    assert!(reset(32 * 40 - 2));
}

#[test]
fn strong_accesses_that_overlap_in_part_race() {
    let two = |first: (u64, usize, u32, [bool; 2]), second: (u64, usize, u32, [bool; 2])| {
        races(|run| {
            run.sized(0, first.0, first.1, first.2, first.3);
            run.sized(1, second.0, second.1, second.2, second.3);
        })
    };
    assert!(two((X, 4, 4, STORE), (X + 2, 2, 2, STORE)));
    assert!(two((X + 2, 2, 2, STORE), (X, 4, 4, LOAD)));
    assert!(two((X, 4, 4, LOAD), (X, 1, 1, STORE)));
    assert!(two((X, 4, 4, CHANGE), (X, 8, 8, CHANGE)));
    assert!(!two((X, 4, 4, LOAD), (X + 2, 2, 2, LOAD)));
    assert!(!two((X, 4, 4, CHANGE), (X, 4, 4, STORE)));
    assert!(!two((X, 4, 4, CHANGE), (X + 4, 8, 8, CHANGE)));
    // Accesses to vectors and to packed halves are compared element by element.
    assert!(!two((X, 16, 4, CHANGE), (X + 8, 4, 4, CHANGE)));
    assert!(!two((X, 4, 2, CHANGE), (X + 2, 2, 2, CHANGE)));
    assert!(two((X, 16, 8, CHANGE), (X + 8, 4, 4, CHANGE)));
    assert!(two((X, 4, 2, CHANGE), (X, 4, 4, CHANGE)));
    assert!(two((X, 16, 16, CHANGE), (X, 8, 8, CHANGE)));
    // A barrier orders two accesses whose elements overlap in part.
    assert!(!races(|run| {
        run.sized(0, X, 4, 4, CHANGE);
        run.barrier(&[0, 1]);
        run.sized(1, X, 8, 8, CHANGE);
    }));
    // A read of part of a released element neither acquires nor observes the release.
    let part = |bytes: u32, races_at: u64| {
        races(|run| {
            run.write(0, X);
            run.barrier(&[0, 3]);
            run.sized(3, FLAG, 4, 4, STORE);
            run.barrier(&[3, 1]);
            run.sized(1, FLAG, bytes as usize, bytes, LOAD);
            run.write(1, races_at);
        })
    };
    assert!(!part(2, X) && !part(4, FLAG));
    assert!(races(|run| {
        run.write(0, X);
        run.store(0, FLAG, Release, Scope::Device);
        let strong = Some(Strength { order: Acquire, scope: Scope::Device, bytes: 2 });
        let half = AccessInfo { item: 1, inst: 10, writes: false, reads: true, strong, keeps_value: false };
        run.0.access(run.1, FLAG, 2, half);
    }));
}

#[test]
fn device_scope_orders_items_of_different_groups() {
    let message = |scope: Scope| {
        let mut run = Run::of(SharedLocation::Buffer(0));
        run.write(1, X);
        run.barrier(&[0, 1, 2, 3]);
        run.0.fence(0, scope);
        run.atomic(0, FLAG, Relaxed, scope);
        run.0.begin(1);
        run.atomic(5, FLAG, Relaxed, scope);
        run.0.fence(5, scope);
        run.barrier(&[0, 1, 2, 3]);
        run.read(6, X);
        run.races()
    };
    assert!(!message(Scope::Device));
    assert!(message(Scope::Group));
    // Without fences and atomic operations, groups are not ordered.
    let mut run = Run::of(SharedLocation::Buffer(0));
    run.write(3, X);
    run.0.begin(1);
    run.read(4, X);
    let side = |item, writes| RacingAccess { item, inst: item * 10, writes };
    let (first, second) = (side(3, true), side(4, false));
    let expected =
        Race { place: SharedLocation::Buffer(0), offset: X, first, second, is_async_copy: false, is_same_value: false };
    assert_eq!(run.0.found(), Some(&expected));
    // Each group has its own shared memory.
    let mut run = Run::of(SharedLocation::Shared);
    run.write(3, X);
    assert!(run.0.are_written(X, 4) && !run.0.are_written(X, 5));
    run.0.begin(1);
    assert!(!run.0.are_written(X, 4));
    run.write(4, X);
    assert!(!run.races());
}

/// Runs a group whose items each wait for an operation or end. Returns the results of the
/// operations.
fn meet(items: u32, asks: impl Fn(u32) -> Option<SyncOp<u32, bool>>) -> Result<Vec<Option<[u64; 2]>>, SyncError> {
    let mut group = Group::new(items);
    let mut given = vec![None; items as usize];
    for item in 0..items {
        match asks(item) {
            Some(sync_op) => group.wait(item, 7, sync_op),
            None => group.end(item),
        }
    }
    while group
        .complete_ready(None, &mut |item, values| given[item as usize] = Some(values))
        .map_err(|misfit| misfit.why)?
    {}
    Ok(given)
}

#[test]
fn a_barrier_completes_when_all_live_items_have_arrived() {
    let sync = |count| SyncOp::Barrier { id: 3, count, of: BarrierOp::Sync, aligned: true };
    let given = meet(70, |item| (item % 3 != 0).then_some(sync(None)));
    assert_eq!(given.map(|given| given.iter().flatten().count()), Ok(46));
    let counted = |item: u32| SyncOp::Barrier { id: 0, count: None, of: BarrierOp::Count(item < 5), aligned: true };
    let given = meet(40, |item| Some(counted(item)));
    assert_eq!(given, Ok(vec![Some([5, 0]); 40]));
    let given = meet(40, |item| Some(sync((item < 32).then_some(32))));
    assert_eq!(given.map(|given| given.iter().flatten().count()), Ok(40));
    let refused = meet(32, |_| Some(sync(Some(33))));
    assert_eq!(refused, Err(SyncError::BarrierArgument { id: 3, count: Some(33) }));
}

#[test]
fn exchanges_wait_for_the_lanes_of_their_mask() {
    let ballot = |mask, says| SyncOp::Subgroup { mask, of: SubgroupOp::Vote(Vote::Ballot, says) };
    let given = meet(8, |item| Some(ballot(if item < 4 { 0xf } else { 0xf0 }, item % 2 == 0)));
    let expected = [5, 5, 5, 5, 0x50, 0x50, 0x50, 0x50].map(|value| Some([value, 0]));
    assert_eq!(given, Ok(expected.to_vec()));
    assert_eq!(meet(2, |_| Some(ballot(1, true))), Err(SyncError::NotInMask { lane: 1, mask: 1 }));
    // An operation does not wait for a lane of its mask that has ended.
    let given = meet(4, |item| (item != 2).then_some(ballot(!0, true)));
    assert_eq!(given, Ok(vec![Some([11, 0]), Some([11, 0]), None, Some([11, 0])]));
}

/// Operations without a mask wait for no other lane, and exclude lanes whose operation has a mask.
#[test]
fn operations_without_a_mask_include_the_present_lanes() {
    let here = |says| SyncOp::Converged { of: SubgroupOp::Vote(Vote::Ballot, says) };
    let given = meet(6, |item| match item {
        0..3 => Some(here(item != 1)),
        3 => Some(SyncOp::Subgroup { mask: 0xff, of: SubgroupOp::Vote(Vote::Ballot, true) }),
        4 => Some(SyncOp::Barrier { id: 0, count: None, of: BarrierOp::Sync, aligned: false }),
        _ => None,
    });
    assert_eq!(given, Ok(vec![Some([5, 0]), Some([5, 0]), Some([5, 0]), None, None, None]));
    let shuffle =
        |by| SyncOp::Converged { of: SubgroupOp::Shuffle { mode: Shuffle::Down, value: by, by, segment: 31 } };
    assert_eq!(meet(4, |item| Some(shuffle(item))), Err(SyncError::InactiveSource { lane: 4 }));
}
