//! What a loop computes, value by value. A value that no other iteration and nothing outside the loop sees may lie in any register
//! of its file; those that one instruction wants side by side move together.

use halfbyte_isa::row::{RegFile, RegSlot, Role};
use halfbyte_isa::vp1::Inst;
use halfbyte_isa::vp1::footprint::Locations;
use halfbyte_isa::word::Field;

use super::op::Op;

/// A value, from where it is made to where it is last used.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// The place that it is in.
    pub place: u8,
    /// The operation that makes it; none if it comes from before the loop and stays.
    pub def: Option<u32>,
    /// Where it is used, and how many iterations later.
    pub uses: Vec<(u32, u32)>,
    /// The next iteration or what follows the loop finds it in its place.
    pub carried: bool,
}

/// Values that lie side by side, or in one register one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// The values, in the order of the loop.
    pub values: Vec<u32>,
    /// They may move by multiples of this many registers; none stay where they are.
    pub step: Option<u8>,
}

/// Where an instruction names the register of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    /// The operation.
    pub op: u32,
    /// Which of its instructions.
    pub inst: usize,
    /// The field.
    pub field: Field,
    /// The cluster of the value.
    pub cluster: u32,
}

/// The values of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// All, in the order of the loop.
    pub values: Vec<Value>,
    /// All values, grouped.
    pub clusters: Vec<Cluster>,
    /// Where their registers are named.
    pub names: Vec<Name>,
}

/// Files whose registers hold values that are not tied to a number by how they are used.
const fn is_renamed(file: RegFile) -> bool {
    matches!(file, RegFile::R | RegFile::V | RegFile::Vc | RegFile::C)
}

/// Registers side by side that a slot names, the first one and how many.
fn window(inst: &Inst, slot: &RegSlot) -> (u8, u8) {
    let n = inst.get(slot.field) as u8;
    match slot.span {
        4 => (n & !3, 4),
        2 => (n, 1 + u8::from(n & 1 == 0)),
        _ => (n, 1),
    }
}

/// The places that a slot names.
fn places(inst: &Inst, slot: &RegSlot) -> Locations {
    let (first, count) = window(inst, slot);
    let flags_nowhere = matches!(slot.file, RegFile::C | RegFile::Vc) && first > 3;
    let registers = (first..first + count).filter(|_| !flags_nowhere);
    registers.fold(Locations::EMPTY, |set, n| set.union(Locations::register(slot.file, n)))
}

/// Finds the values.
struct Finder<'a> {
    ops: &'a [Op],
    values: Vec<Value>,
    /// The value in each place.
    current: Vec<Option<u32>>,
    /// What was in a place before the loop, or before this iteration.
    initial: Vec<Option<u32>>,
    /// For each value one that it moves with, towards the representative of all of them.
    leaders: Vec<u32>,
    /// Of values that stand for their clusters: how far they may move.
    steps: Vec<u8>,
    /// Values that must stay where they are.
    fixed: Vec<u32>,
    /// Names, with a value in place of its cluster.
    names: Vec<Name>,
}

impl Values {
    /// The values of a loop's operations, the branch back last. `live` is what is wanted after the loop.
    pub fn of_loop(ops: &[Op], live: Locations) -> Values {
        let mut finder = Finder {
            ops,
            values: Vec::new(),
            current: vec![None; Locations::PLACES],
            initial: vec![None; Locations::PLACES],
            leaders: Vec::new(),
            steps: Vec::new(),
            fixed: Vec::new(),
            names: Vec::new(),
        };
        for op in 0..ops.len() as u32 {
            finder.visit(op);
        }
        finder.close(live);
        finder.finish()
    }
}

impl Finder<'_> {
    fn add(&mut self, place: u8, def: Option<u32>) -> u32 {
        let value = self.values.len() as u32;
        self.values.push(Value { place, def, uses: Vec::new(), carried: false });
        self.leaders.push(value);
        self.steps.push(1);
        if let Some(current) = self.current.get_mut(usize::from(place)) {
            *current = Some(value);
        }
        value
    }

    /// The value in a place.
    fn find(&mut self, place: u8) -> u32 {
        if let Some(value) = self.current.get(usize::from(place)).copied().flatten() {
            return value;
        }
        let value = self.add(place, None);
        if let Some(initial) = self.initial.get_mut(usize::from(place)) {
            *initial = Some(value);
        }
        value
    }

    fn leader(&mut self, value: u32) -> u32 {
        let mut at = value;
        while let Some(&next) = self.leaders.get(at as usize).filter(|&&next| next != at) {
            // Halves the way for the next time.
            let skip = self.leaders.get(next as usize).copied().unwrap_or(next);
            if let Some(leader) = self.leaders.get_mut(at as usize) {
                *leader = skip;
            }
            at = skip;
        }
        at
    }

    fn tie(&mut self, a: u32, b: u32) {
        let (a, b) = (self.leader(a), self.leader(b));
        let step = self.steps.get(b as usize).copied().unwrap_or(1);
        if let Some(leader) = self.leaders.get_mut(b as usize) {
            *leader = a;
        }
        self.widen(a, step);
    }

    fn widen(&mut self, value: u32, step: u8) {
        let leader = self.leader(value);
        if let Some(known) = self.steps.get_mut(leader as usize) {
            *known = step.max(*known);
        }
    }

    /// Goes through an operation: its uses, then its definitions.
    fn visit(&mut self, number: u32) {
        let Some(op) = self.ops.get(number as usize) else { return };
        let footprint = op.footprint;
        let mut used: Vec<(u8, u32)> = Vec::new();
        for place in footprint.reads.places() {
            let value = self.find(place);
            if let Some(value) = self.values.get_mut(value as usize) {
                value.uses.push((number, 0));
            }
            used.push((place, value));
        }
        let made: Vec<(u8, u32)> =
            footprint.writes.places().map(|place| (place, self.add(place, Some(number)))).collect();
        let (mut named_uses, mut named_defs) = (Locations::EMPTY, Locations::EMPTY);
        for (index, inst) in op.insts().enumerate() {
            for slot in inst.registers().iter().filter(|slot| is_renamed(slot.file)) {
                let named = places(&inst, slot);
                let reads = if slot.role == Role::Def { Locations::EMPTY } else { named };
                let writes = if slot.role == Role::Use { Locations::EMPTY } else { named };
                named_uses = named_uses.union(reads);
                named_defs = named_defs.union(writes);
                let among = |values: &[(u8, u32)], set: Locations| -> Vec<u32> {
                    let inside = values.iter().filter(|(place, _)| set.contains(*place));
                    inside.map(|&(_, value)| value).collect()
                };
                let touched = [among(&used, reads), among(&made, writes)].concat();
                let Some(&first) = touched.first() else { continue };
                // Another number would be other parts of the word, too.
                if inst.shares(slot.field) {
                    self.fixed.extend(touched);
                    continue;
                }
                touched.iter().for_each(|&value| self.tie(first, value));
                self.widen(first, slot.span);
                self.names.push(Name { op: number, inst: index, field: slot.field, cluster: first });
            }
        }
        // Registers of a file one of which is touched without being named stay, all that the operation touches.
        let unnamed = footprint.reads.minus(named_uses).union(footprint.writes.minus(named_defs));
        for (file, _) in unnamed.registers() {
            for &(place, value) in used.iter().chain(&made) {
                if Locations::file(file).contains(place) {
                    self.fixed.push(value);
                }
            }
        }
    }

    /// Joins the ends of the iterations.
    fn close(&mut self, live: Locations) {
        for place in 0..Locations::PLACES {
            let initial = self.initial.get(place).copied().flatten();
            let Some(last) = self.current.get(place).copied().flatten() else { continue };
            if initial == Some(last) {
                self.fixed.push(last);
                continue;
            }
            let later = initial.and_then(|initial| self.values.get_mut(initial as usize)).map(|initial| {
                let uses = std::mem::take(&mut initial.uses);
                uses.into_iter().map(|(op, _)| (op, 1)).collect::<Vec<_>>()
            });
            let wanted = later.is_some() || live.contains(place as u8);
            if let Some(value) = self.values.get_mut(last as usize).filter(|_| wanted) {
                value.uses.extend(later.unwrap_or_default());
                value.carried = true;
                self.fixed.push(last);
            }
            if let Some(initial) = initial {
                self.tie(last, initial);
            }
        }
    }

    fn finish(mut self) -> Values {
        let count = self.values.len() as u32;
        let leaders: Vec<u32> = (0..count).map(|value| self.leader(value)).collect();
        let mut numbers: Vec<Option<u32>> = vec![None; self.values.len()];
        let mut clusters: Vec<Cluster> = Vec::new();
        let number_of = |value: u32, numbers: &[Option<u32>]| {
            leaders.get(value as usize).and_then(|&leader| numbers.get(leader as usize).copied().flatten())
        };
        for (value, leader) in (0..).zip(&leaders) {
            let Some(place) = self.values.get(value as usize).map(|value| value.place) else { continue };
            let number = match numbers.get(*leader as usize).copied().flatten() {
                Some(number) => number,
                None => {
                    let file = Locations::file_of(place);
                    let step = file.filter(|&file| is_renamed(file)).and(self.steps.get(*leader as usize).copied());
                    clusters.push(Cluster { values: Vec::new(), step });
                    clusters.len() as u32 - 1
                }
            };
            if let Some(known) = numbers.get_mut(*leader as usize) {
                *known = Some(number);
            }
            if let Some(cluster) = clusters.get_mut(number as usize) {
                cluster.values.push(value);
            }
        }
        for &value in &self.fixed {
            let cluster = number_of(value, &numbers).and_then(|number| clusters.get_mut(number as usize));
            cluster.into_iter().for_each(|cluster| cluster.step = None);
        }
        let mut names = self.names;
        for name in &mut names {
            name.cluster = number_of(name.cluster, &numbers).unwrap_or_default();
        }
        Values { values: self.values, clusters, names }
    }
}
