//! Scheduling of a block: assigns operations to stages, and values that live across stages to rows.
//!
//! A stage has three steps. The first step computes uniform values and executes loads, in order.
//! The second step is one loop over the items for all operations that compiled code executes item
//! by item. The third step calls functions that work on whole rows, including stores, in order. The
//! order of memory accesses is preserved as far as an item can observe the order.

mod bound;
mod sink;
mod strides;

use halfbyte_isa::halu::domain::Width;
use rustc_hash::FxHashMap;

use super::cells::{Cell, Cells};
use super::dataflow::{Access, Action, Dataflow, Id, Location, Node, Op, Reach, Shape};
use super::demand::Bound;
use super::split::Split;
use super::strided;
use super::unit::Unit;
use super::wide::HalfStep;
use crate::launch::Pointer;
use halfbyte_isa::trap::Space;

/// Way in which a value is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// Computed once for all items.
    Uniform,
    /// Computed from the value of the first item, along the row or along both axes of a group.
    Affine,
    /// Already in a row: the row of a cell, or the mask.
    Leaf,
    /// Computed in the loop of its stage.
    Inline,
    /// Computed by a call at the end of its stage.
    Call,
    /// Loaded by an access at the start of its stage.
    Loaded,
    /// Not a value, but an access.
    Access,
}

/// Way in which an access is executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    /// Loads one address for all items.
    LoadSame,
    LoadAffine,
    /// Loads along both axes of a group.
    LoadGrid,
    LoadEach,
    /// The loop, or the call that computes the words, writes directly to the destination.
    StoreDirect,
    /// The loop writes elements of another width or with a stride directly to the destination.
    StoreStrided,
    StoreAffine,
    StoreGrid,
    StoreEach,
    Atomic,
    Fence,
    Fault,
}

/// Row that contains the words of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// Row of a cell.
    Cell(Cell),
    Mask,
    /// Temporary row.
    Temporary(u32),
    /// Row that the load found or filled.
    Loaded(u32),
    /// Destination of the store.
    Stored(u32),
}

/// Position in the sequence of steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
struct Time(u32);

impl Time {
    fn start(stage: u32) -> Time {
        Time(3 * stage)
    }

    fn body(stage: u32) -> Time {
        Time(3 * stage + 1)
    }

    fn end(stage: u32) -> Time {
        Time(3 * stage + 2)
    }
}

/// Schedule of a block, ready for code generation.
pub(super) struct Schedule {
    pub class: Vec<Class>,
    pub methods: Vec<Method>,
    pub rows: Vec<Option<Home>>,
    /// Stage of each value. `truths` is `true` for truth values.
    pub stage_of: Vec<u32>,
    pub truths: Vec<bool>,
    /// Loads whose row may lie in the buffer itself: no read of the loaded words follows a store that may overwrite
    /// them.
    pub in_place: Vec<bool>,
    /// Loads whose words are read only for the items that their guard can hold for.
    pub read_first: Vec<bool>,
    /// Loads whose elements the loops read directly at a stride.
    pub strided: Vec<bool>,
    /// Number of temporary rows.
    pub temporaries: u32,
    /// First temporary row that each access fills or may be buffered in, if any.
    pub access_rows: Vec<Option<u32>>,
    /// `true` if vectors have fused multiply-add.
    pub fma: bool,
    /// `true` if all items of a row run the block, so that the guard alone determines the items of an access.
    pub together: bool,
    /// Stages, in order.
    pub stages: Vec<Stage>,
    /// Cells whose final value is uniform or affine.
    pub slots: Vec<(Cell, Id)>,
}

impl Schedule {
    /// Returns `true` if a value is a truth value.
    pub fn is_truth(&self, id: Id) -> bool {
        self.truths.get(id.index()).copied().unwrap_or(false)
    }

    /// Returns `true` if an access looks only at the first items of the row, for which its guard can hold.
    pub fn is_of_first(&self, dataflow: &Dataflow, number: u32) -> bool {
        let method = self.methods.get(number as usize).copied();
        self.together && method.is_some_and(|method| is_of_first(dataflow, number, method))
    }

    /// Returns `true` if all data moves between buffers without rows of the context, except for accesses that cannot be
    /// done in place.
    pub fn streams(&self, unit: &Unit, split: Option<Split>) -> bool {
        let dataflow = &unit.dataflow;
        let passes = |(number, access): (usize, &Access)| match (&access.action, self.methods[number]) {
            (_, Method::LoadSame | Method::StoreDirect | Method::StoreStrided) => true,
            (_, Method::LoadAffine) if self.strided[number] => true,
            (Action::Load { place, width: Width::B32, .. }, Method::LoadAffine) => {
                let words = place.stride_shape(dataflow) == Some(Shape::Affine(4));
                words && access.guard.is_none() && self.in_place[number]
            }
            _ => false,
        };
        let rows = self.class.iter().zip(&self.rows).all(|(class, row)| match (class, row) {
            (_, None) | (Class::Loaded | Class::Access | Class::Uniform, _) => true,
            (_, row) => matches!(row, Some(Home::Stored(_))),
        });
        // A condition that divides a row splits the row into two rows.
        let is_two = split == Some(Split::ByEnds);
        let in_loops = self.stages.iter().all(|stage| stage.keeps.is_empty() && (!stage.condition || is_two));
        rows && in_loops && dataflow.accesses.iter().enumerate().all(passes)
    }
}

/// Steps of a stage.
#[derive(Clone, Default, Debug)]
pub(super) struct Stage {
    /// Uniform and affine values and loads, in order.
    pub start: Vec<Id>,
    /// Values computed in the loop, in order.
    pub body: Vec<Id>,
    /// Values that the loop writes to rows.
    pub keeps: Vec<(Id, Home)>,
    /// Stores in the loop: the access and the word.
    pub stores: Vec<(u32, Id)>,
    /// `true` if the loop evaluates the condition of the items.
    pub condition: bool,
    /// Guard of the loop: only the first items of the row run, for which this truth value can hold.
    pub first: Option<Id>,
    /// Calls and stores, in order.
    pub end: Vec<Id>,
}

impl Stage {
    pub fn has_loop(&self) -> bool {
        !self.keeps.is_empty() || !self.stores.is_empty() || self.condition
    }
}

struct Scheduler<'a> {
    /// Addresses of buffers in constant bank 0.
    pointers: &'a [Pointer],
    dataflow: &'a Dataflow,
    class: Vec<Class>,
    used: Vec<bool>,
    /// Number of users of each value.
    users: Vec<u32>,
    /// `true` if loops execute strided accesses.
    strides: bool,
    stage: Vec<u32>,
    methods: Vec<Method>,
    /// Stages of the accesses.
    access_stage: Vec<u32>,
    /// Values that a call computes only for one store, with the number of the store.
    stored: FxHashMap<Id, u32>,
}

/// Operations that loops may contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Inlines {
    /// Half-precision arithmetic, which only wide loops support.
    pub halves: bool,
    /// Strided accesses, which wide loops do not support.
    pub strides: bool,
}

impl Inlines {
    /// All combinations, the best first.
    pub const ALL: [Inlines; 3] = [
        Inlines { halves: true, strides: true },
        Inlines { halves: true, strides: false },
        Inlines { halves: false, strides: true },
    ];
}

/// Schedules a block. `live` returns `true` for cells that are live after the block.
pub(super) fn schedule(
    pointers: &[Pointer],
    unit: &Unit,
    cells: &Cells,
    live: impl Fn(Cell) -> bool,
    fma: bool,
    masked: bool,
    inlines: Inlines,
) -> Schedule {
    let dataflow = &unit.dataflow;
    let count = dataflow.nodes.len();
    let mut s = Scheduler {
        pointers,
        dataflow,
        class: (0..count as u32).map(|id| class(dataflow, Id(id), fma, inlines.halves)).collect(),
        used: vec![false; count],
        users: vec![0; count],
        strides: inlines.strides,
        stage: vec![0; count],
        methods: Vec::new(),
        access_stage: vec![0; dataflow.accesses.len()],
        stored: FxHashMap::default(),
    };
    s.methods = (0..dataflow.accesses.len()).map(|number| s.method(number)).collect();
    let finals: Vec<(Cell, Id)> = unit.finals.iter().copied().filter(|x| live(x.0)).collect();
    let condition = unit.condition.filter(|&id| masked || dataflow.shape(id).is_varying());
    s.mark(&finals, unit.condition);
    s.call_between_buffers();
    s.place_stages();
    s.sink(&finals, unit.condition);
    let truth = |node: &Node| match node.op {
        Op::Input(cell) => cells.is_pred(cell),
        op => op.is_truth(),
    };
    let truths = dataflow.nodes.iter().map(truth).collect();
    let mut plan = Schedule { truths, fma, together: !masked, ..s.finish(&finals, condition) };
    if !masked {
        bound::bound_stages(&mut plan, unit, live);
    }
    plan
}

fn is_of_first(dataflow: &Dataflow, number: u32, method: Method) -> bool {
    let guard = dataflow.accesses.get(number as usize).and_then(|access| access.guard);
    matches!(method, Method::LoadAffine | Method::StoreAffine)
        && guard.is_some_and(|guard| Bound::of(dataflow, guard).is_some())
}

fn class(dataflow: &Dataflow, id: Id, fma: bool, inlines_halves: bool) -> Class {
    let node = dataflow.node(id);
    match (node.op, node.shape) {
        (Op::Access(_), _) => Class::Access,
        (_, Shape::Uniform) => Class::Uniform,
        (_, Shape::Affine(_) | Shape::Grid(..)) => Class::Affine,
        (Op::Input(_) | Op::Mask, Shape::Varying) => Class::Leaf,
        (Op::Loaded(..), Shape::Varying) => Class::Loaded,
        (Op::Double(..), Shape::Varying) => Class::Call,
        (Op::Half(op), Shape::Varying) if inlines_halves && HalfStep::of(&op).is_some() => Class::Inline,
        (op, Shape::Varying) if op.row_op(node.args.map(|arg| dataflow.shape(arg)), fma).is_some() => Class::Call,
        (_, Shape::Varying) => Class::Inline,
    }
}

impl Scheduler<'_> {
    fn class(&self, id: Id) -> Class {
        self.class[id.index()]
    }

    fn method(&self, number: usize) -> Method {
        let access = &self.dataflow.accesses[number];
        let affine = |place: &Location| match *place {
            Location::Global { offset, base, scale, .. } => {
                let shape = scale.shape(self.dataflow.shape(offset));
                let is_even = base.iter().all(|&word| self.dataflow.shape(word) == Shape::Uniform);
                (is_even && !shape.is_varying()).then_some(shape)
            }
            Location::Constant { offset, .. } | Location::Own { space: Space::Shared, offset, .. } => {
                Some(self.dataflow.shape(offset)).filter(|shape| !shape.is_varying())
            }
            // No part of the address depends on the item.
            Location::Flat { .. } if !place.is_of_item() => {
                place.words().all(|word| self.dataflow.shape(word) == Shape::Uniform).then_some(Shape::Uniform)
            }
            Location::Own { .. } | Location::Flat { .. } => None,
        };
        match &access.action {
            Action::Fault(_) => Method::Fault,
            Action::Fence => Method::Fence,
            Action::Atomic { .. } => Method::Atomic,
            Action::Load { .. } if self.dataflow.is_uniform_load(access) => Method::LoadSame,
            Action::Load { place, .. } => match affine(place) {
                Some(Shape::Grid(..)) => Method::LoadGrid,
                Some(_) => Method::LoadAffine,
                None => Method::LoadEach,
            },
            Action::Store { place, width, .. } => match affine(place) {
                // All items execute a strong access before any of them continues, which a loop over items does not do.
                Some(Shape::Affine(4)) if *width == Width::B32 && access.guard.is_none() && !access.yields => {
                    Method::StoreDirect
                }
                Some(Shape::Affine(_)) if self.strides && strided::stride(self.dataflow, access).is_some() => {
                    Method::StoreStrided
                }
                Some(Shape::Grid(..)) => Method::StoreGrid,
                Some(_) => Method::StoreAffine,
                None => Method::StoreEach,
            },
        }
    }

    /// Returns the words that an access needs, including its guard.
    fn needs(&self, number: usize) -> Vec<Id> {
        let access = &self.dataflow.accesses[number];
        let mut needs: Vec<Id> = access.guard.into_iter().collect();
        match &access.action {
            Action::Fault(_) | Action::Fence => {}
            Action::Load { place, .. } => needs.extend(place.words()),
            Action::Atomic { place, operands, .. } => {
                needs.extend(place.words());
                needs.extend(operands);
            }
            Action::Store { place, data, .. } => {
                needs.extend(place.words());
                needs.extend(data);
            }
        }
        needs
    }

    /// Marks the used values and counts their users, from the last to the first.
    fn mark(&mut self, finals: &[(Cell, Id)], condition: Option<Id>) {
        for &id in finals.iter().map(|(_, id)| id).chain(&condition) {
            self.used[id.index()] = true;
            self.users[id.index()] += 1;
        }
        for id in (0..self.used.len() as u32).rev().map(Id) {
            let args = match self.dataflow.op(id) {
                Op::Access(number) => {
                    self.used[id.index()] = true;
                    self.needs(number as usize)
                }
                _ if self.used[id.index()] => self.dataflow.args(id).to_vec(),
                _ => continue,
            };
            for arg in args {
                self.used[arg.index()] = true;
                self.users[arg.index()] += 1;
            }
        }
    }

    /// Turns an operation on affine loads whose only user is a direct store into a call.
    fn call_between_buffers(&mut self) {
        for (access, &method) in self.dataflow.accesses.iter().zip(&self.methods) {
            let (Action::Store { data, .. }, Method::StoreDirect) = (&access.action, method) else { continue };
            let Some(&id) = data.first() else { continue };
            let from_buffer = |arg: &Id| match (self.class(*arg), self.dataflow.op(*arg)) {
                (Class::Loaded, Op::Loaded(number, _)) => self.methods[number as usize] == Method::LoadAffine,
                (class, _) => class == Class::Uniform,
            };
            let alone = self.class(id) == Class::Inline && self.users[id.index()] == 1;
            if alone && self.dataflow.op(id).wide_row_op().is_some() && self.dataflow.args(id).iter().all(from_buffer) {
                self.class[id.index()] = Class::Call;
            }
        }
    }

    /// Returns the first stage whose loop can use a value.
    fn in_loop(&self, id: Id) -> u32 {
        self.stage[id.index()] + u32::from(self.class(id) == Class::Call)
    }

    /// Returns the first stage whose start can use a value as a row or as a uniform word.
    fn at_start(&self, id: Id) -> u32 {
        let stage = self.stage[id.index()];
        match self.class(id) {
            Class::Uniform | Class::Leaf | Class::Loaded | Class::Access => stage,
            Class::Affine | Class::Inline | Class::Call => stage + 1,
        }
    }

    fn place_stages(&mut self) {
        for id in (0..self.used.len() as u32).map(Id) {
            if !self.used[id.index()] {
                continue;
            }
            let args = self.dataflow.args(id);
            let args = args.iter().copied();
            let stage = match (self.class(id), self.dataflow.op(id)) {
                (_, Op::Access(number)) => self.access(number as usize),
                (_, Op::Loaded(number, _)) => self.access_stage[number as usize],
                (Class::Inline, _) => args.map(|arg| self.in_loop(arg)).max().unwrap_or(0),
                _ => args.map(|arg| self.stage[arg.index()]).max().unwrap_or(0),
            };
            self.stage[id.index()] = stage;
        }
    }

    fn access(&mut self, number: usize) -> u32 {
        let dataflow = self.dataflow;
        let access = &dataflow.accesses[number];
        let method = self.methods[number];
        let mut stage = 0;
        let guard = access.guard.into_iter();
        match &access.action {
            Action::Fence => {}
            Action::Fault(_) => stage = guard.map(|id| self.at_start(id)).max().unwrap_or(0),
            Action::Load { place, .. } => {
                let words = place.words().map(|id| match method {
                    // The access needs only the words of the first item.
                    Method::LoadAffine | Method::LoadGrid => self.stage[id.index()],
                    _ => self.at_start(id),
                });
                stage = words.chain(guard.map(|id| self.at_start(id))).max().unwrap_or(0);
            }
            Action::Atomic { place, operands, .. } => {
                let words = place.words().chain(operands.iter().copied()).chain(guard);
                stage = words.map(|id| self.at_start(id)).max().unwrap_or(0);
            }
            Action::Store { place, data, .. } => {
                let place = place.words().map(|id| self.stage[id.index()]).max().unwrap_or(0);
                let data_stage = |id: &Id| match method {
                    Method::StoreDirect if self.is_for_store(*id) => self.stage[id.index()].max(place),
                    Method::StoreDirect | Method::StoreStrided => self.in_loop(*id),
                    _ => self.stage[id.index()],
                };
                let guard = guard.map(|id| self.stage[id.index()]).max().unwrap_or(0);
                stage = stage.max(place).max(guard).max(data.iter().map(data_stage).max().unwrap_or(0));
            }
        }
        for before in 0..number {
            let distance = match (self.methods[before], method) {
                // The store is a call at the end of its stage.
                (
                    Method::StoreAffine | Method::StoreGrid | Method::StoreEach,
                    Method::StoreAffine | Method::StoreGrid | Method::StoreEach,
                ) => 0,
                (Method::StoreAffine | Method::StoreGrid | Method::StoreEach, _) => 1,
                (
                    Method::StoreDirect | Method::StoreStrided,
                    Method::StoreAffine | Method::StoreGrid | Method::StoreEach | Method::Fault,
                ) => 0,
                (Method::StoreDirect | Method::StoreStrided, Method::Atomic | Method::Fence) => 1,
                (Method::StoreDirect | Method::StoreStrided, _) if !self.disjoint(before, number) => 1,
                _ => 0,
            };
            stage = stage.max(self.access_stage[before] + distance);
        }
        if method == Method::StoreDirect
            && let Action::Store { data, .. } = &access.action
            && let Some(&word) = data.first()
            && self.is_for_store(word)
            && self.stage[word.index()] == stage
        {
            self.stored.insert(word, number as u32);
        } else if matches!(method, Method::StoreDirect | Method::StoreStrided)
            && let Action::Store { data, .. } = &access.action
        {
            stage = data.iter().map(|&id| self.in_loop(id)).max().unwrap_or(0).max(stage);
        }
        self.access_stage[number] = stage;
        stage
    }

    /// Returns `true` if a call computes a value for one store and nothing else.
    fn is_for_store(&self, id: Id) -> bool {
        self.class(id) == Class::Call && self.users[id.index()] == 1
    }

    /// Returns `true` if two accesses of an item never touch the same byte.
    fn disjoint(&self, a: usize, b: usize) -> bool {
        let place = |number: usize| match &self.dataflow.accesses[number].action {
            Action::Load { place, width, .. }
            | Action::Store { place, width, .. }
            | Action::Atomic { place, width, .. } => Some((*place, i64::from(width.bytes()))),
            Action::Fence | Action::Fault(_) => None,
        };
        let (Some(a), Some(b)) = (place(a), place(b)) else { return true };
        let apart = |a: i32, b: i32, bytes: [i64; 2]| {
            let [a, b] = [a, b].map(i64::from);
            a + bytes[0] <= b || b + bytes[1] <= a
        };
        let (a, b) = match (a, b) {
            ((Location::Constant { .. }, _), _) | (_, (Location::Constant { .. }, _)) => return true,
            // Constant memory is never written.
            ((Location::Flat { reach, .. }, _), _) | (_, (Location::Flat { reach, .. }, _))
                if matches!(reach, Reach::Constants | Reach::In(Space::Constant(_))) =>
            {
                return true;
            }
            ((Location::Flat { .. }, _), _) | (_, (Location::Flat { .. }, _)) => return false,
            (
                (Location::Own { space: x, offset: a, imm: from }, m),
                (Location::Own { space: y, offset: b, imm: to }, n),
            ) => {
                return x != y || a == b && apart(from, to, [m, n]);
            }
            ((Location::Own { .. }, _), _) | (_, (Location::Own { .. }, _)) => return true,
            (
                (Location::Global { offset: a, base: from, imm, scale }, bytes),
                (Location::Global { offset: b, base: to, imm: other, scale: by }, others),
            ) => (((a, scale), from, i64::from(imm), bytes), ((b, by), to, i64::from(other), others)),
        };
        // An offset cannot reach from one buffer to another because their bases are too far apart. But two parameters
        // may refer to the same buffer.
        let pointer = |base: [Id; 2]| {
            let at = self.dataflow.bank_address(base)?;
            self.pointers.iter().find(|pointer| pointer.offset == at)
        };
        let of_different = matches!((pointer(a.1), pointer(b.1)),
            (Some(a), Some(b)) if a != b && (a.is_unique || b.is_unique));
        let same_base = a.1 == b.1 || matches!((pointer(a.1), pointer(b.1)), (Some(a), Some(b)) if a == b);
        of_different || same_base && a.0 == b.0 && (a.2 + a.3 <= b.2 || b.2 + b.3 <= a.2)
    }

    /// Returns the loads that may leave their data in place. `last` is the time of the last read of each value, with
    /// the reading operation. A call that computes a stored value writes when it computes the value.
    fn in_place(&self, last: &[Option<(Time, Id)>]) -> Vec<bool> {
        let dataflow = self.dataflow;
        let access = |id: Id| if let Op::Access(number) = dataflow.op(id) { Some((id, number as usize)) } else { None };
        let accesses: Vec<(Id, usize)> = (0..self.used.len() as u32).filter_map(|id| access(Id(id))).collect();
        let written = |&(id, number): &(Id, usize)| {
            let stage = self.access_stage[number];
            let data = match &dataflow.accesses[number].action {
                Action::Store { data, .. } => data,
                Action::Atomic { .. } => return Some((number, (Time::start(stage), id))),
                _ => return None,
            };
            let time = match self.methods[number] {
                Method::StoreDirect => match data.iter().find(|word| self.stored.get(word) == Some(&(number as u32))) {
                    Some(&word) => (Time::end(stage), word),
                    // Each iteration of the loop reads before it writes.
                    None => (Time::body(stage), Id(u32::MAX)),
                },
                Method::StoreStrided => (Time::body(stage), Id(u32::MAX)),
                _ => (Time::end(stage), id),
            };
            Some((number, time))
        };
        let stores: Vec<(usize, (Time, Id))> = accesses.iter().filter_map(written).collect();
        // Addresses must not change after the check, whatever other threads store to the buffers.
        let mut addresses = vec![false; self.used.len()];
        for &(_, number) in &accesses {
            if let (
                Method::LoadEach | Method::StoreEach | Method::Atomic,
                Action::Load { place, .. } | Action::Store { place, .. } | Action::Atomic { place, .. },
            ) = (self.methods[number], &dataflow.accesses[number].action)
            {
                place.words().for_each(|word| addresses[word.index()] = true);
            }
        }
        let mut in_place = vec![false; self.methods.len()];
        for &(id, number) in &accesses {
            if self.methods[number] != Method::LoadAffine {
                continue;
            }
            let words = id.index() + 1..=id.index() + usize::from(self.words_of(number));
            let last = words.clone().filter_map(|word| last.get(word).copied().flatten()).max();
            let changed = |&(store, time): &(usize, (Time, Id))| {
                store > number && last.is_some_and(|last| last > time) && !self.disjoint(number, store)
            };
            // After a strong access, other items may store to the loaded bytes.
            in_place[number] = !dataflow.accesses[number].yields
                && !words.clone().any(|word| addresses[word])
                && !stores.iter().any(changed);
        }
        in_place
    }

    /// Returns the number of words that an access loads.
    fn words_of(&self, number: usize) -> u8 {
        match &self.dataflow.accesses[number].action {
            Action::Load { width, .. } => width.registers(),
            _ => 0,
        }
    }

    fn finish(self, finals: &[(Cell, Id)], condition: Option<Id>) -> Schedule {
        let Scheduler { dataflow, class, used, stage, methods, stored, .. } = &self;
        let ids = || (0..used.len() as u32).map(Id).filter(|id| used[id.index()]);
        let class_of = |id: Id| class[id.index()];
        let stage_of = |id: Id| stage[id.index()];
        let in_loop = |id: Id| stage_of(id) + u32::from(class_of(id) == Class::Call);

        // Last read of each value from a row, with the reading operation; `true` if some reader can read only rows.
        let mut last: Vec<Option<(Time, Id)>> = vec![None; used.len()];
        let mut by_row = vec![false; used.len()];
        let mut read = |id: Id, at: Time, user: Id| {
            let last = &mut last[id.index()];
            *last = (*last).max(Some((at, user)));
            by_row[id.index()] |= at.0 % 3 != 1;
        };
        let mut top = 0;
        for id in ids() {
            top = top.max(stage_of(id));
            match (class_of(id), dataflow.op(id)) {
                (_, Op::Access(number)) => {
                    let (method, access) = (methods[number as usize], &dataflow.accesses[number as usize]);
                    let stage = stage_of(id);
                    let at = match method {
                        Method::StoreAffine | Method::StoreGrid | Method::StoreEach => Time::end(stage),
                        _ => Time::start(stage),
                    };
                    access.guard.into_iter().for_each(|guard| read(guard, at, id));
                    match &access.action {
                        Action::Load { place, .. } | Action::Store { place, .. }
                            if matches!(method, Method::LoadEach | Method::StoreEach) =>
                        {
                            place.words().for_each(|word| read(word, at, id));
                        }
                        Action::Atomic { place, operands, .. } => {
                            place.words().for_each(|word| read(word, at, id));
                            operands.iter().for_each(|&word| read(word, at, id));
                        }
                        _ => {}
                    }
                    match (&access.action, method) {
                        (Action::Store { data, .. }, Method::StoreDirect) => {
                            for &word in data.iter().filter(|word| !stored.contains_key(word)) {
                                if class_of(word) != Class::Inline || stage_of(word) != stage {
                                    read(word, Time::body(stage), id);
                                }
                            }
                        }
                        (Action::Store { data, .. }, Method::StoreStrided) => {
                            for &word in
                                data.iter().filter(|&&word| class_of(word) != Class::Inline || stage_of(word) != stage)
                            {
                                read(word, Time::body(stage), id);
                            }
                        }
                        (Action::Store { data, .. }, _) => data.iter().for_each(|&word| read(word, at, id)),
                        _ => {}
                    }
                }
                (Class::Call, _) => {
                    dataflow.args(id).into_iter().for_each(|arg| read(arg, Time::end(stage_of(id)), id));
                }
                (Class::Inline, _) => {
                    for arg in dataflow.args(id) {
                        if class_of(arg) != Class::Inline || stage_of(arg) != stage_of(id) {
                            read(arg, Time::body(stage_of(id)), id);
                        }
                    }
                }
                _ => {}
            }
        }
        let condition_stage = condition.map(in_loop);
        if let (Some(id), Some(stage)) = (condition, condition_stage) {
            top = top.max(stage);
            if class_of(id) != Class::Inline {
                read(id, Time::body(stage), id);
            }
        }
        // Copies between cells at the very end: they move the initial values of cells to other cells.
        let copies = top + 1;
        for &(cell, id) in finals {
            if class_of(id) == Class::Leaf && dataflow.op(id) != Op::Input(cell) {
                read(id, Time::body(copies), id);
            }
        }
        // Last read of the initial value of each cell from its row.
        let mut old: FxHashMap<Cell, (Time, Id)> = FxHashMap::default();
        for id in ids() {
            if let (Class::Leaf, Op::Input(cell), Some(time)) = (class_of(id), dataflow.op(id), last[id.index()]) {
                let entry = old.entry(cell).or_insert(time);
                *entry = time.max(*entry);
            }
        }

        let mut stages: Vec<Stage> = vec![Stage::default(); copies as usize + 1];
        let mut rows: Vec<Option<Home>> = vec![None; used.len()];
        let mut slots = Vec::new();
        let mut late: Vec<(Cell, Id, u32)> = Vec::new();
        for &(cell, id) in finals {
            let stage = stage_of(id);
            let before = old.get(&cell).copied();
            let free = |at: Time| before.is_none_or(|(time, _)| time <= at);
            let taken = rows[id.index()].is_some();
            match class_of(id) {
                Class::Uniform | Class::Affine => slots.push((cell, id)),
                Class::Leaf if dataflow.op(id) == Op::Input(cell) => {}
                Class::Inline if !taken && free(Time::body(stage)) => rows[id.index()] = Some(Home::Cell(cell)),
                Class::Call if !taken && before.is_none_or(|read| read <= (Time::end(stage), id)) => {
                    rows[id.index()] = Some(Home::Cell(cell));
                }
                Class::Leaf => late.push((cell, id, copies)),
                _ => {
                    let mut at = in_loop(id);
                    while !free(Time::body(at)) {
                        at += 1;
                    }
                    late.push((cell, id, at));
                }
            }
        }
        for &(_, id, at) in &late {
            let own = class_of(id) == Class::Inline && stage_of(id) == at;
            if !own {
                let last = &mut last[id.index()];
                *last = (*last).max(Some((Time::body(at), id)));
            }
        }

        // Temporary rows, with their live ranges from the first write to the last read.
        let mut wanted: Vec<(Time, Time, Id, u32)> = Vec::new();
        let until = |id: Id| last.get(id.index()).copied().flatten().map(|(time, _)| time);
        for id in ids() {
            let stage = stage_of(id);
            match (class_of(id), dataflow.op(id)) {
                (Class::Leaf, Op::Input(cell)) => rows[id.index()] = Some(Home::Cell(cell)),
                (Class::Leaf, _) => rows[id.index()] = Some(Home::Mask),
                (Class::Loaded, Op::Loaded(number, _)) => rows[id.index()] = Some(Home::Loaded(number)),
                (Class::Call, _) if rows[id.index()].is_none() => match stored.get(&id) {
                    Some(&number) => rows[id.index()] = Some(Home::Stored(number)),
                    None => {
                        let end = Time::end(stage);
                        wanted.push((end, until(id).unwrap_or(end), id, 1));
                    }
                },
                (Class::Inline, _) if rows[id.index()].is_none() => {
                    if let Some(last) = until(id) {
                        wanted.push((Time::body(stage), last, id, 1));
                    }
                }
                // A uniform value needs a row only for users that read rows only. Constants need no row.
                (Class::Uniform | Class::Affine, _) if by_row[id.index()] && dataflow.constant(id).is_none() => {
                    wanted.push((Time::start(stage), until(id).unwrap_or(Time::start(stage)), id, 1));
                }
                (_, Op::Access(number)) => {
                    let (words, time, end) =
                        match (&dataflow.accesses[number as usize].action, methods[number as usize]) {
                            (
                                Action::Load { width, .. } | Action::Atomic { width, returns: true, .. },
                                Method::LoadAffine | Method::LoadGrid | Method::LoadEach | Method::Atomic,
                            ) => {
                                let loaded = (1..=u32::from(width.registers())).map(|k| Id(id.0 + k));
                                let last = loaded.filter_map(until).max();
                                (width.registers(), Time::start(stage), last.unwrap_or(Time::start(stage)))
                            }
                            (_, Method::StoreDirect) => (1, Time::start(stage), Time::end(stage)),
                            (Action::Store { width, .. }, Method::StoreStrided) => {
                                (width.registers(), Time::start(stage), Time::end(stage))
                            }
                            _ => continue,
                        };
                    wanted.push((time, end, id, words.into()));
                }
                _ => {}
            }
        }
        wanted.sort_by_key(|&(from, _, id, _)| (from, id));
        let mut busy: Vec<Option<Time>> = Vec::new();
        for (from, to, id, count) in wanted {
            let count = count as usize;
            let is_free = |slot: &Option<Time>| slot.is_none_or(|until| until < from);
            let start = (0..busy.len()).find(|&k| busy.get(k..k + count).is_some_and(|run| run.iter().all(is_free)));
            let start = start.unwrap_or_else(|| {
                let free = busy.iter().rev().take_while(|slot| is_free(slot)).count().min(count);
                busy.len() - free
            });
            busy.resize(busy.len().max(start + count), None);
            busy[start..start + count].fill(Some(to));
            rows[id.index()] = Some(Home::Temporary(start as u32));
        }

        for id in ids() {
            let stage = &mut stages[stage_of(id) as usize];
            match class_of(id) {
                Class::Uniform | Class::Affine => stage.start.push(id),
                Class::Inline => {
                    stage.body.push(id);
                    if let Some(row) = rows[id.index()] {
                        stage.keeps.push((id, row));
                    }
                }
                Class::Call => stage.end.push(id),
                Class::Leaf | Class::Loaded => {}
                Class::Access => {
                    let Op::Access(number) = dataflow.op(id) else { continue };
                    match (methods[number as usize], &dataflow.accesses[number as usize].action) {
                        (Method::StoreAffine | Method::StoreGrid | Method::StoreEach, _) => stage.end.push(id),
                        (Method::StoreDirect, Action::Store { data, .. }) => {
                            stage.start.push(id);
                            match data.first() {
                                Some(word) if !stored.contains_key(word) => stage.stores.push((number, *word)),
                                _ => {}
                            }
                            // Copies words that could not be written directly to their destination.
                            stage.end.push(id);
                        }
                        (Method::StoreStrided, Action::Store { data, .. }) => {
                            stage.start.push(id);
                            stage.stores.extend(data.iter().map(|&word| (number, word)));
                            stage.end.push(id);
                        }
                        _ => stage.start.push(id),
                    }
                }
            }
            if class_of(id) == Class::Affine
                && let Some(row) = rows[id.index()]
            {
                stages[stage_of(id) as usize].keeps.push((id, row));
            }
        }
        for (cell, id, at) in late {
            stages[at as usize].keeps.push((id, Home::Cell(cell)));
        }
        if let Some(stage) = condition_stage {
            stages[stage as usize].condition = true;
        }
        while stages.last().is_some_and(|stage| stage.start.is_empty() && stage.end.is_empty() && !stage.has_loop()) {
            stages.pop();
        }
        let mut access_rows = vec![None; methods.len()];
        for id in ids() {
            if let (Op::Access(number), Some(Home::Temporary(row))) = (dataflow.op(id), rows[id.index()]) {
                access_rows[number as usize] = Some(row);
            }
        }
        let in_place = self.in_place(&last);
        let strided = self.strided(&in_place, &by_row);
        let (truths, fma, together, temporaries) = (Vec::new(), false, false, busy.len() as u32);
        let read_first = Vec::new();
        let Scheduler { class, methods, stage: stage_of, .. } = self;
        Schedule {
            class,
            methods,
            rows,
            stage_of,
            truths,
            in_place,
            read_first,
            strided,
            temporaries,
            access_rows,
            fma,
            together,
            stages,
            slots,
        }
    }
}
