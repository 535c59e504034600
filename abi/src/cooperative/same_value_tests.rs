//! Tests of same-value races, in which work items store the same value by the same instruction. The
//! race detector is compared with the definition of races on random sequences of accesses.

use super::*;

/// Number of items in the group.
const ITEMS: u32 = 5;

/// A step of a sequence. All accesses are to one byte.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A weak write of a value by an instruction.
    Write { item: u32, inst: u32, value: u8 },
    /// A weak read.
    Read { item: u32 },
    /// A strong write, which orders no accesses.
    Strong { item: u32, value: u8 },
    /// A barrier of the items in a mask.
    Barrier { items: u32 },
}

/// The kinds of races that a sequence of accesses contains: races that are errors, and same-value
/// races.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Found {
    error: bool,
    same_value: bool,
}

fn access(step: Step) -> Option<(u32, bool)> {
    match step {
        Step::Write { item, .. } | Step::Strong { item, .. } => Some((item, true)),
        Step::Read { item } => Some((item, false)),
        Step::Barrier { .. } => None,
    }
}

/// Returns the races of a sequence by their definition: the pairs of conflicting accesses that no barrier orders.
fn by_definition(steps: &[Step]) -> Found {
    let mut found = Found::default();
    for (first, &step) in steps.iter().enumerate() {
        let Some((item, writes)) = access(step) else { continue };
        // Mask of the items whose next access happens after the first access.
        let mut after = 1 << item;
        for &later in &steps[first + 1..] {
            let Some((other, also_writes)) = access(later) else {
                if let Step::Barrier { items } = later {
                    after |= if items & after == 0 { 0 } else { items };
                }
                continue;
            };
            if after >> other & 1 != 0 || !writes && !also_writes {
                continue;
            }
            match (step, later) {
                (Step::Strong { .. }, Step::Strong { .. }) => {}
                (Step::Write { inst, value, .. }, Step::Write { inst: i, value: v, .. }) if (i, v) == (inst, value) => {
                    found.same_value = true;
                }
                _ => found.error = true,
            }
        }
    }
    found
}

/// Returns the races of a sequence that the race detector finds.
fn by_detector(steps: &[Step], check: RaceCheck) -> Found {
    let mut races = RaceDetector::new(ITEMS, check);
    let mut memory = 0;
    for &step in steps {
        let (item, inst, writes, strong, value) = match step {
            Step::Write { item, inst, value } => (item, inst, true, None, value),
            Step::Read { item } => (item, 100, false, None, memory),
            Step::Strong { item, value } => {
                let strength = Strength { order: MemOrder::Relaxed, scope: Scope::Device, bytes: 1 };
                (item, 101, true, Some(strength), value)
            }
            Step::Barrier { items } => {
                let items = (0..ITEMS).filter(|item| items >> item & 1 != 0);
                items.clone().for_each(|item| races.arrive(0, item));
                items.for_each(|item| races.leave(0, item));
                races.complete(0);
                continue;
            }
        };
        let keeps_value = strong.is_none() && writes && value == memory;
        let touch = AccessInfo { item, inst, writes, reads: !writes, strong, keeps_value };
        races.access(SharedLocation::Shared, 0, 1, touch);
        memory = value;
    }
    Found { error: races.found().is_some(), same_value: races.same_value().next().is_some() }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }

    fn step(&mut self) -> Step {
        let item = self.below(ITEMS);
        match self.below(16) {
            0..=7 => Step::Write { item, inst: self.below(8) / 7, value: (self.below(8) / 7) as u8 },
            8..=9 => Step::Read { item },
            10 => Step::Strong { item, value: self.below(2) as u8 },
            11..=13 => Step::Barrier { items: self.below(1 << ITEMS) | 1 << item },
            _ => Step::Barrier { items: (1 << ITEMS) - 1 },
        }
    }
}

#[test]
fn same_value_races_are_told_apart_from_errors() {
    let mut random = Random(7);
    let mut counts = [0; 3];
    for number in 0..300_000 {
        let length = 2 + random.below(9);
        let steps: Vec<Step> = (0..length).map(|_| random.step()).collect();
        let expected = by_definition(&steps);
        let found = by_detector(&steps, RaceCheck::On);
        assert_eq!(found.error, expected.error, "sequence {number}: {steps:?}");
        if !expected.error {
            assert_eq!(found.same_value, expected.same_value, "sequence {number}: {steps:?}");
        }
        let strict = by_detector(&steps, RaceCheck::Strict);
        let is_error = expected.error || expected.same_value;
        assert_eq!(strict, Found { error: is_error, same_value: false }, "sequence {number}: {steps:?}");
        counts[if expected.error { 2 } else { usize::from(expected.same_value) }] += 1;
    }
    assert!(counts.iter().all(|&count| count > 20_000), "{counts:?}");
}

/// A group may contain any number of items that store the same value again and again.
#[test]
fn many_stores_of_one_value_are_recorded_in_linear_space() {
    let size = 1024;
    let mut races = RaceDetector::new(size, RaceCheck::On);
    let write = |races: &mut RaceDetector, item| {
        let touch = AccessInfo { item, inst: 3, writes: true, reads: false, strong: None, keeps_value: true };
        races.access(SharedLocation::Buffer(1), 0, 4, touch);
    };
    for _ in 0..100 {
        (0..size).for_each(|item| write(&mut races, item));
    }
    assert!(races.found().is_none());
    assert_eq!(races.same_value().count(), 1);
}
