//! Values of a loop, and the registers that may hold them. A value that is only used in its iteration may move to any
//! register of the same register file. Values that an instruction needs in consecutive registers move together.

use halfbyte_isa::row::{OperandRole, RegFile, RegSlot};
use halfbyte_isa::vp1::Inst;
use halfbyte_isa::vp1::footprint::Locations;
use halfbyte_isa::word::Field;

use super::op::Op;

/// A value of a loop in one location, from its definition to its last use.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    /// Location that holds the value.
    pub place: u8,
    /// Operation that defines the value; `None` for a loop-invariant value.
    pub def: Option<u32>,
    /// Operations that use the value, and the number of iterations from the definition to the use.
    pub uses: Vec<(u32, u32)>,
    /// `true` if the next iteration or the code after the loop reads the value.
    pub carried: bool,
}

/// Values that move together: they are in consecutive registers, or one after another in the same register.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// Values in the order of the loop.
    pub values: Vec<u32>,
    /// The values may move by a multiple of this number of registers; `None` if they must stay.
    pub step: Option<u8>,
}

/// A register operand that refers to a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegisterOperand {
    /// Index of the operation.
    pub op: u32,
    /// Index of the instruction in the operation.
    pub inst: usize,
    /// Field that contains the register number.
    pub field: Field,
    /// Cluster to which the value belongs.
    pub cluster: u32,
}

/// All values of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// Values in the order of the loop.
    pub values: Vec<Value>,
    /// The clusters to which the values belong.
    pub clusters: Vec<Cluster>,
    /// Register operands that refer to the values.
    pub names: Vec<RegisterOperand>,
}

/// Returns `true` for register files whose registers may be renamed.
const fn is_renamed(file: RegFile) -> bool {
    matches!(file, RegFile::R | RegFile::V | RegFile::Vc | RegFile::C)
}

/// Returns the first register of an operand, and the number of consecutive registers.
fn window(inst: &Inst, slot: &RegSlot) -> (u8, u8) {
    let n = inst.get(slot.field) as u8;
    match slot.span {
        4 => (n & !3, 4),
        2 => (n, 1 + u8::from(n & 1 == 0)),
        _ => (n, 1),
    }
}

/// Returns the locations of the registers of an operand.
fn places(inst: &Inst, slot: &RegSlot) -> Locations {
    let (first, count) = window(inst, slot);
    let flags_nowhere = matches!(slot.file, RegFile::C | RegFile::Vc) && first > 3;
    let registers = (first..first + count).filter(|_| !flags_nowhere);
    registers.fold(Locations::EMPTY, |set, n| set.union(Locations::register(slot.file, n)))
}

/// State of the analysis that finds the values of a loop.
struct Finder<'a> {
    ops: &'a [Op],
    values: Vec<Value>,
    /// Value in each location at the current operation.
    current: Vec<Option<u32>>,
    /// Value that each location holds at the start of an iteration.
    initial: Vec<Option<u32>>,
    /// Parent of each value in the union-find structure.
    leaders: Vec<u32>,
    /// Step of each cluster, indexed by its representative: the cluster may move by multiples of this number of
    /// registers.
    steps: Vec<u8>,
    /// Values that must keep their registers.
    fixed: Vec<u32>,
    /// Register operands. The field `cluster` holds the number of a value.
    names: Vec<RegisterOperand>,
}

impl Values {
    /// Finds the values of a loop whose last operation is the back branch. `live` are the locations
    /// that are live after the loop.
    pub(super) fn of_loop(ops: &[Op], live: Locations) -> Values {
        let mut finder = Finder {
            ops,
            values: Vec::new(),
            current: vec![None; Locations::LOCATION_LIMIT],
            initial: vec![None; Locations::LOCATION_LIMIT],
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

    /// Returns the current value of a location. If the location has none, creates a value that is
    /// defined before the iteration.
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
            // Path halving: shortens the path for later searches.
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

    /// Visits an operation: first the values that it uses, then the values that it defines.
    fn visit(&mut self, number: u32) {
        let Some(op) = self.ops.get(number as usize) else { return };
        let footprint = op.footprint;
        let mut used: Vec<(u8, u32)> = Vec::new();
        for place in footprint.reads.numbers() {
            let value = self.find(place);
            if let Some(value) = self.values.get_mut(value as usize) {
                value.uses.push((number, 0));
            }
            used.push((place, value));
        }
        let made: Vec<(u8, u32)> =
            footprint.writes.numbers().map(|place| (place, self.add(place, Some(number)))).collect();
        let (mut named_uses, mut named_defs) = (Locations::EMPTY, Locations::EMPTY);
        for (index, inst) in op.insts().enumerate() {
            for slot in inst.registers().iter().filter(|slot| is_renamed(slot.file)) {
                let named = places(&inst, slot);
                let reads = if slot.role == OperandRole::Def { Locations::EMPTY } else { named };
                let writes = if slot.role == OperandRole::Use { Locations::EMPTY } else { named };
                named_uses = named_uses.union(reads);
                named_defs = named_defs.union(writes);
                let among = |values: &[(u8, u32)], set: Locations| -> Vec<u32> {
                    let inside = values.iter().filter(|(place, _)| set.contains(*place));
                    inside.map(|&(_, value)| value).collect()
                };
                let touched = [among(&used, reads), among(&made, writes)].concat();
                let Some(&first) = touched.first() else { continue };
                // The field shares bits with another field, so another register number would also change that field.
                if inst.shares(slot.field) {
                    self.fixed.extend(touched);
                    continue;
                }
                touched.iter().for_each(|&value| self.tie(first, value));
                self.widen(first, slot.span);
                self.names.push(RegisterOperand { op: number, inst: index, field: slot.field, cluster: first });
            }
        }
        // If an operation accesses a register that is no operand, its operands in the same register
        // file must keep their registers.
        let unnamed = footprint.reads.minus(named_uses).union(footprint.writes.minus(named_defs));
        for (file, _) in unnamed.registers() {
            for &(place, value) in used.iter().chain(&made) {
                if Locations::file(file).contains(place) {
                    self.fixed.push(value);
                }
            }
        }
    }

    /// Connects the values at the end of an iteration with the values at the start of the next one.
    fn close(&mut self, live: Locations) {
        for place in 0..Locations::LOCATION_LIMIT {
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
