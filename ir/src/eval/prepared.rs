//! A kernel made ready to run, and running it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::ReservedValue;
use halfbyte_abi::meet::{Branch, Meeting, Place, SUBGROUP, post_dominators};
use halfbyte_abi::{Exceeded, ShapeError, Type};
use smallvec::SmallVec;

use crate::array::Space;
use crate::attr::MemAttr;
use crate::eval::contract::{Product, product};
use crate::eval::lanes::unpack;
use crate::eval::launch::{Access, Arg, ArgError, Fault, IntrinsicFn, Launch, Race, Trap, TrapKind};
use crate::eval::meet::Turn;
use crate::eval::memory::{AccessSite, Memory, Refusal, Who, Writers};
use crate::eval::observe::{Accessed, Observer};
use crate::eval::ops::{Operand, fold, fold_sum};
use crate::eval::own::{How, Own, kernel_meets};
use crate::eval::place::place;
use crate::eval::streams::{self, Failure, Streams};
use crate::kernel::{Attr, Block, Inst, Kernel, Part, Value};
use crate::op::Op;
use crate::span::Span;

/// No type has more lanes.
pub(super) const MAX_LANES: usize = 16;

/// Bytes of shared memory that a launch may give a group.
const MAX_SHARED: u32 = 1 << 20;

/// Ops after which the watchdog is polled: a millisecond's worth of the slowest, which are exact arithmetic on sixteen lanes.
const OPS_BETWEEN_POLLS: u64 = 1 << 10;

/// A kernel made ready to run: every value has its place in one frame of lanes, constants are in it already, and blocks
/// are runs of steps in the order of the layout.
pub struct Prepared<'k> {
    pub(super) kernel: &'k Kernel,
    params: Vec<Slot>,
    arrays: Vec<Slot>,
    /// Whether items of a group meet.
    meets: bool,
    frame: Vec<u64>,
    pub(super) blocks: Vec<Range<usize>>,
    pub(super) steps: Vec<PreparedInst>,
    operands: Vec<Slot>,
    edges: Vec<Edge>,
    moves: Vec<(Slot, Slot)>,
    /// Where items reconverge, by block; computed on first use.
    joins: OnceLock<Vec<Option<usize>>>,
    /// Of a packed kernel, the first access of each stream.
    accesses: Vec<Inst>,
}

/// Where in the frame a value's lanes are.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    start: usize,
    pub(super) ty: Type,
}

impl Default for Slot {
    fn default() -> Slot {
        Slot { start: 0, ty: Type::I1 }
    }
}

impl Slot {
    fn range(self) -> Range<usize> {
        self.start..self.start + self.ty.lanes()
    }

    fn lanes(self, frame: &[u64]) -> &[u64] {
        frame.get(self.range()).unwrap_or(&[])
    }

    fn lane(self, frame: &[u64]) -> u64 {
        frame.get(self.start).copied().unwrap_or(0)
    }

    pub(super) fn set(self, frame: &mut [u64], lanes: &[u64]) {
        for (to, from) in frame[self.range()].iter_mut().zip(lanes) {
            *to = *from;
        }
    }
}

pub(super) struct PreparedInst {
    pub(super) inst: Inst,
    pub(super) op: Op,
    pub(super) attr: Attr,
    /// What others may do at it.
    turn: Turn,
    /// Of an access by an array, that array's space.
    space: Option<Space>,
    operands: Range<usize>,
    /// Of a sum computed with a product, which operand that is. The operands are then the factors and the other one.
    product: Option<usize>,
    /// Of a terminator.
    edges: Range<usize>,
    pub(super) result: Slot,
}

/// Where an item is.
#[derive(Clone, Copy, Default)]
pub(super) struct Position {
    /// The block, by its place in the layout.
    pub(super) block: usize,
    /// The instruction that it goes on with, by its number in the block.
    pub(super) step: usize,
    backward: u32,
    /// Turns that it lets others have before it goes on: for the strong accesses that it has gone around.
    passes: u32,
}

/// Why an item runs no further.
pub(super) enum Stop {
    /// It has ended.
    End,
    /// Others have their turn.
    Yield,
    /// It waits for others at that instruction.
    Meet(Meeting<u32, bool>, Inst),
}

/// A way from one block to another.
struct Edge {
    /// The block's place in the layout.
    to: usize,
    case: u32,
    moves: Range<usize>,
    /// Strong accesses that it goes around.
    passes: u32,
}

/// Returns the number of strong accesses that a branch to one block goes around, where the block beside it leads to that block, too. A guard of PTX is
/// imported as such a branch, and a guard parts no lanes.
fn passed(kernel: &Kernel, to: Block, beside: Block) -> u32 {
    let Some((&last, insts)) = kernel.blocks.get(beside).and_then(|block| block.insts.split_last()) else { return 0 };
    let leads_on = kernel.insts[last].op == Op::Br && kernel.targets(last).first().is_some_and(|call| call.block == to);
    let is_strong = |&&inst: &&Inst| Turn::at(kernel.insts[inst].op) == Turn::Yields;
    if leads_on { insts.iter().filter(is_strong).count() as u32 } else { 0 }
}

impl<'k> Prepared<'k> {
    /// Prepares a kernel that the verifier accepts. What another one does means nothing.
    pub fn new(kernel: &'k Kernel) -> Prepared<'k> {
        let mut slots: SecondaryMap<Value, Slot> = SecondaryMap::new();
        let mut size = 0;
        for (value, data) in &kernel.values {
            slots[value] = Slot { start: size, ty: data.ty };
            size += data.ty.lanes();
        }
        let mut places: SecondaryMap<Block, usize> = SecondaryMap::with_default(usize::MAX);
        for (place, &block) in kernel.layout.iter().enumerate() {
            places[block] = place;
        }
        let mut prepared = Prepared {
            kernel,
            params: kernel.params.iter().map(|p| slots[p.value]).collect(),
            arrays: kernel.arrays.iter().map(|array| slots[array.value]).collect(),
            meets: kernel_meets(kernel),
            frame: vec![0; size.max(MAX_LANES)],
            blocks: Vec::with_capacity(kernel.layout.len()),
            steps: Vec::with_capacity(kernel.insts.len()),
            operands: Vec::new(),
            edges: Vec::new(),
            moves: Vec::new(),
            joins: OnceLock::new(),
            accesses: vec![Inst::reserved_value(); kernel.packing.as_ref().map_or(0, |packing| packing.streams.len())],
        };
        for &block in &kernel.layout {
            let start = prepared.steps.len();
            for &inst in &kernel.blocks[block].insts {
                prepared.add(inst, &slots, &places);
            }
            prepared.blocks.push(start..prepared.steps.len());
        }
        prepared
    }

    fn add(&mut self, inst: Inst, slots: &SecondaryMap<Value, Slot>, places: &SecondaryMap<Block, usize>) {
        let data = &self.kernel.insts[inst];
        let result = self.kernel.result(inst).map_or(Slot::default(), |v| slots[v]);
        if let Some(words) = self.kernel.const_bits(inst) {
            unpack(result.ty, &words, &mut self.frame[result.range()]);
            return;
        }
        let base = data.op.row().args.len().saturating_sub(1);
        let array = data.attr.mem().and_then(|_| self.kernel.array(*self.kernel.args(inst).get(base)?));
        let space = array.map(|array| array.space);
        if let (Attr::Mem(_), Some(&base)) = (data.attr, self.kernel.args(inst).get(base))
            && let Some(first) = self.kernel.stream(base).and_then(|stream| self.accesses.get_mut(stream))
            && first.is_reserved_value()
        {
            *first = inst;
        }
        let operands = self.operands.len();
        let product = product(self.kernel, inst);
        match product {
            // A value that a value depends on keeps its lanes until that is defined anew.
            Some(Product { factors: [x, y], other, .. }) => self.operands.extend([x, y, other].map(|v| slots[v])),
            None => self.operands.extend(self.kernel.args(inst).iter().map(|&v| slots[v])),
        }
        let edges = self.edges.len();
        for call in self.kernel.targets(inst) {
            let moves = self.moves.len();
            let params = self.kernel.block_params(call.block).iter();
            let args = self.kernel.call_args(call).iter();
            self.moves.extend(args.zip(params).map(|(&arg, &param)| (slots[arg], slots[param])));
            let passes = match self.kernel.targets(inst) {
                [first, second] if self.meets => {
                    let beside = if call.block == first.block { second.block } else { first.block };
                    passed(self.kernel, call.block, beside)
                }
                _ => 0,
            };
            self.edges.push(Edge { to: places[call.block], case: call.case, moves: moves..self.moves.len(), passes });
        }
        self.steps.push(PreparedInst {
            inst,
            op: data.op,
            attr: data.attr,
            turn: if self.meets { Turn::at(data.op) } else { Turn::Goes },
            space,
            operands: operands..self.operands.len(),
            product: product.map(|product| product.number),
            edges: edges..self.edges.len(),
            result,
        });
    }

    /// Runs all items in order. Buffers hold the results; after a fault they are unspecified.
    ///
    /// Arguments are those of [`Kernel::given_params`]. A packed kernel takes the same as a plain one, and runs the groups of the launch's items in order. The
    /// accesses that count are those of its streams, item by item, and the budget is one for a group.
    ///
    /// # Errors
    ///
    /// Arguments that do not fit; the trap of the lowest-numbered item that traps; a race, where the second of the two
    /// accesses comes before any trap. What a group traps at, other than an access of an item, is its first item's trap.
    pub fn run(&self, launch: &Launch<'_>, args: &mut [Arg<'_>]) -> Result<(), Fault> {
        self.run_watched(launch, args).map(drop)
    }

    /// Runs all items in order, and tells which of them wrote what.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Prepared::run).
    pub fn run_watched(&self, launch: &Launch<'_>, args: &mut [Arg<'_>]) -> Result<Writers, Fault> {
        self.run_observed(launch, args, &mut ())
    }

    /// The same, and tells an observer of every step.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Prepared::run). What was done before is reported then too.
    pub fn run_observed<O: Observer>(
        &self,
        launch: &Launch<'_>,
        args: &mut [Arg<'_>],
        observer: &mut O,
    ) -> Result<Writers, Fault> {
        let items = launch.shape.items().map_err(ArgError::from)?;
        if self.kernel.packing.is_some() && !launch.shape.is_along_x() {
            return Err(ArgError::from(ShapeError::Axes(launch.shape)).into());
        }
        let mut frame = self.frame.clone();
        for (number, (slot, arg)) in self.params.iter().zip(&*args).enumerate() {
            match arg {
                Arg::Scalar(words) => unpack(slot.ty, words, &mut frame[slot.range()]),
                // Where there is none, the arguments are refused.
                Arg::Buffer { .. } | Arg::Alias { .. } => {
                    slot.set(&mut frame, &[Arg::address(args, number).unwrap_or(0)]);
                }
            }
        }
        let launched = self.kernel.launch_params().len();
        for (number, slot) in self.params.iter().enumerate().take(launched).skip(args.len()) {
            slot.set(&mut frame, &[halfbyte_abi::buffer_base(number)]);
        }
        for (number, slot) in self.params.iter().skip(launched).enumerate() {
            slot.set(&mut frame, &[streams::base(number)]);
        }
        let size = launch.shape.block.into_iter().fold(1, u32::wrapping_mul).max(1);
        let own = self.own(launch, size)?;
        for (number, (slot, array)) in self.arrays.iter().zip(&self.kernel.arrays).enumerate() {
            slot.set(&mut frame, &[own.start(array.space, number)]);
        }
        let streams = Streams::new(self.kernel, &self.accesses, items, args);
        let mut machine = Machine {
            code: self,
            launch,
            items,
            memory: Memory::bind(self.kernel, args, own)?,
            streams,
            frame,
            moved: Vec::new(),
            intrinsics: self.resolve(launch),
            unpolled: 0,
            observer,
        };
        machine.spend()?;
        let in_group = self.kernel.packing.as_ref().map_or(1, |packing| packing.items.max(1));
        match self.meets {
            true => {
                let groups = launch.schedule.turns(items / size, 0);
                groups.into_iter().try_for_each(|group| machine.run_group(group, size))?;
            }
            false => (0..items.div_ceil(in_group)).try_for_each(|group| machine.group(group))?,
        }
        machine.spend()?;
        Ok(machine.memory.into_writers())
    }

    /// The memory that the kernel declares.
    fn own(&self, launch: &Launch<'_>, size: u32) -> Result<Own, ArgError> {
        let shape = launch.shape;
        let has_shared = self.kernel.arrays.iter().any(|array| array.space == Space::Shared);
        if shape.shared != 0 && !has_shared || shape.shared > MAX_SHARED {
            return Err(ShapeError::Shared(shape.shared).into());
        }
        if self.meets {
            shape.check_gpu()?;
        }
        Ok(Own::new(self.kernel, size, shape.shared, launch.watch))
    }

    fn resolve<'a>(&'a self, launch: &Launch<'a>) -> BTreeMap<Inst, Result<IntrinsicFn<'a>, String>> {
        let meaning = |step: &PreparedInst| {
            let Attr::Intrinsic(intrinsic) = step.attr else {
                return None;
            };
            let intrinsic = self.kernel.intrinsics.get(intrinsic)?;
            let types: SmallVec<[Type; 4]> = (self.operands(step).iter()).map(|operand| operand.ty).collect();
            let meaning = match launch.intrinsics {
                Some(meanings) => meanings.resolve(intrinsic, &types, step.result.ty),
                None => Err(format!("no meaning is given for instructions of {}", intrinsic.target)),
            };
            Some((step.inst, meaning))
        };
        self.steps.iter().filter_map(meaning).collect()
    }

    fn operands(&self, step: &PreparedInst) -> &[Slot] {
        self.operands.get(step.operands.clone()).unwrap_or(&[])
    }

    /// Returns for each block where items reconverge that part at its end, if more is left to do there than to return.
    fn joins(&self) -> Vec<Option<usize>> {
        let last = |block: usize| {
            let steps = self.blocks.get(block).and_then(|of| self.steps.get(of.clone())).unwrap_or_default();
            (steps.len(), steps.last())
        };
        let successors = |block: usize| -> Vec<usize> {
            let edges = last(block).1.and_then(|step| self.edges.get(step.edges.clone())).unwrap_or_default();
            edges.iter().map(|edge| edge.to).collect()
        };
        let graph: Vec<Vec<usize>> = (0..self.blocks.len()).map(successors).collect();
        let only_returns = |mut block: usize| {
            // A loop of branches alone never returns.
            for _ in 0..graph.len() {
                match (last(block).0, graph.get(block).map(Vec::as_slice)) {
                    (..=1, Some(&[next])) => block = next,
                    (..=1, Some(&[])) => return true,
                    _ => return false,
                }
            }
            false
        };
        let joins = post_dominators(&graph).into_iter();
        joins.map(|join| join.filter(|&block| !only_returns(block))).collect()
    }

    /// The edge that a terminator takes.
    fn taken(&self, step: &PreparedInst, frame: &[u64]) -> Option<&Edge> {
        let edges = self.edges.get(step.edges.clone())?;
        let value = self.operands(step).first().map_or(0, |slot| slot.lane(frame));
        match step.op {
            Op::BrIf => edges.get(usize::from(value == 0)),
            Op::Switch => (edges.iter().skip(1)).find(|edge| u64::from(edge.case) == value).or(edges.first()),
            _ => edges.first(),
        }
    }
}

/// A launch under way.
pub(super) struct Machine<'a, O> {
    pub(super) code: &'a Prepared<'a>,
    pub(super) launch: &'a Launch<'a>,
    items: u32,
    pub(super) memory: Memory<'a>,
    /// Of a packed kernel, whose loads and stores then reach these.
    streams: Option<Streams<'a>>,
    pub(super) frame: Vec<u64>,
    /// Lanes on their way into block parameters, all of which change at once.
    moved: Vec<u64>,
    intrinsics: BTreeMap<Inst, Result<IntrinsicFn<'a>, String>>,
    /// Ops and backward branches done since the watchdog was polled.
    unpolled: u64,
    pub(super) observer: &'a mut O,
}

impl<O: Observer> Machine<'_, O> {
    /// Runs an item, or a packed kernel's group of items.
    fn group(&mut self, group: u32) -> Result<(), Fault> {
        if let Some(streams) = &mut self.streams {
            streams.begin(group);
        }
        self.memory.own.scratch.fill(0);
        let mut ran = self.run(group, &mut Position::default()).map(drop);
        if let (Ok(()), Some((inst, kind))) = (&ran, self.streams.as_ref().and_then(Streams::unfinished)) {
            ran = Err(self.trap(group, inst, kind));
        }
        if let Some(streams) = &self.streams {
            let Launch { budget, watchdog, .. } = *self.launch;
            let settled = streams.settle(&mut self.memory, ran.is_err(), budget, watchdog);
            settled.map_err(|Failure { item, inst, span, write, refusal }| {
                self.refused(Access { item, inst, span, write }, refusal)
            })?;
            self.spend()?;
        }
        ran
    }

    /// Counts what has been done, and asks whether it may go on.
    fn spend(&mut self) -> Result<(), Exceeded> {
        let done = std::mem::take(&mut self.unpolled);
        self.launch.watchdog.map_or(Ok(()), |watchdog| watchdog.spend(done))
    }

    /// Runs an item on from where it is.
    pub(super) fn run(&mut self, item: u32, at: &mut Position) -> Result<Stop, Fault> {
        let code = self.code;
        if at.passes != 0 {
            at.passes -= 1;
            return Ok(Stop::Yield);
        }
        if (at.block, at.step) == (0, 0) {
            self.tell_block(item, at.block, &[]);
        }
        while let Some(steps) = code.blocks.get(at.block).and_then(|b| code.steps.get(b.clone())) {
            let steps = steps.get(at.step..).unwrap_or(&[]);
            self.unpolled += steps.len() as u64;
            if self.unpolled >= OPS_BETWEEN_POLLS {
                self.spend()?;
            }
            let mut next = usize::MAX;
            for step in steps {
                at.step += 1;
                if !step.op.is_terminator() {
                    if step.turn == Turn::Meets
                        && let Some(meeting) = self.meeting(step)
                    {
                        return Ok(Stop::Meet(meeting, step.inst));
                    }
                    self.step(item, step)?;
                    if step.turn == Turn::Yields {
                        return Ok(Stop::Yield);
                    }
                    continue;
                }
                let Some(edge) = code.taken(step, &self.frame) else {
                    return Ok(Stop::End);
                };
                if edge.to <= at.block {
                    let budget = self.launch.budget;
                    if at.backward == budget {
                        return Err(self.trap(item, step.inst, TrapKind::Budget { budget }));
                    }
                    at.backward += 1;
                    self.unpolled += 1;
                }
                self.pass(edge);
                self.tell_branch(item, step, edge, at.block);
                self.tell_block(item, edge.to, self.code.moves.get(edge.moves.clone()).unwrap_or(&[]));
                (next, at.passes) = (edge.to, edge.passes);
                break;
            }
            (at.block, at.step) = (next, 0);
            if at.passes != 0 {
                at.passes -= 1;
                return Ok(Stop::Yield);
            }
        }
        Ok(Stop::End)
    }

    /// Records a branch that an item takes, for the detector of races.
    fn tell_branch(&mut self, item: u32, step: &PreparedInst, edge: &Edge, from: usize) {
        let Some(races) = &mut self.memory.own.races else { return };
        let code = self.code;
        let edges = code.edges.get(step.edges.clone()).unwrap_or_default();
        if edges.iter().any(|other| other.to != edge.to) {
            let joins = code.joins.get_or_init(|| code.joins());
            let join = joins.get(from).copied().flatten().map(|join| join as u32);
            let branch = Branch { inst: step.inst.as_u32(), taken: edge.to as u32, join, depth: 0 };
            races.branch(item, branch);
        }
        races.reach(item, edge.to as u32, 0);
    }

    /// Tells that an item begins a block, and what its parameters are.
    fn tell_block(&mut self, item: u32, place: usize, moves: &[(Slot, Slot)]) {
        if !O::ASKS {
            return;
        }
        let kernel = self.code.kernel;
        let Some(&block) = kernel.layout.get(place) else { return };
        self.observer.block(item, block);
        for (&param, (_, slot)) in kernel.block_params(block).iter().zip(moves) {
            self.observer.value(item, param, slot.lanes(&self.frame));
        }
    }

    /// Tells of a load or store.
    pub(super) fn tell_access(&mut self, item: u32, at: AccessSite, inst: Inst, write: bool, ty: Type, lanes: &[u64]) {
        if O::ASKS {
            let place = match self.streams {
                Some(_) => None,
                None => self.memory.place(at, ty.bytes()),
            };
            self.observer.access(item, &Accessed { inst, write, address: at.address, place, ty, lanes });
        }
    }

    /// Gives a block's parameters their values.
    fn pass(&mut self, edge: &Edge) {
        let moves = self.code.moves.get(edge.moves.clone()).unwrap_or(&[]);
        self.moved.clear();
        for (from, _) in moves {
            self.moved.extend_from_slice(from.lanes(&self.frame));
        }
        let mut rest = self.moved.as_slice();
        for (from, to) in moves {
            let (lanes, after) = rest.split_at(from.ty.lanes().min(rest.len()));
            to.set(&mut self.frame, lanes);
            rest = after;
        }
    }

    fn step(&mut self, item: u32, step: &PreparedInst) -> Result<(), Fault> {
        let mut out = [0; MAX_LANES];
        let out = &mut out[..step.result.ty.lanes()];
        match (step.op, step.attr) {
            (op @ (Op::ItemId | Op::ItemCount | Op::LocalId | Op::GroupId | Op::GroupSize | Op::GroupCount), attr) => {
                out[0] = place(op, attr.axis(), &self.launch.shape, self.items, item).unwrap_or(0);
            }
            (Op::Load, Attr::Mem(mem)) => {
                let at = self.place(item, step, mem, 0);
                let loaded = match &mut self.streams {
                    Some(streams) => streams.load(&mut self.memory, at, step.result.ty, out),
                    None => self.memory.load(at, step.result.ty, How::READ, out),
                };
                loaded.map_err(|refusal| self.refused_at(self.access(item, step.inst, false), at, refusal))?;
                self.tell_access(item, at, step.inst, false, step.result.ty, out);
            }
            (Op::Store, Attr::Mem(mem)) => {
                let at = self.place(item, step, mem, 1);
                let value = self.code.operands(step).first().copied().unwrap_or_default();
                let lanes = value.lanes(&self.frame);
                let stored = match &mut self.streams {
                    Some(streams) => streams.store(at, value.ty, lanes),
                    None => self.memory.store(at, value.ty, How::WRITE, lanes),
                };
                stored.map_err(|refusal| self.refused_at(self.access(item, step.inst, true), at, refusal))?;
                if O::ASKS {
                    let mut stored = [0; MAX_LANES];
                    let stored = &mut stored[..value.ty.lanes()];
                    stored.copy_from_slice(value.lanes(&self.frame));
                    self.tell_access(item, at, step.inst, true, value.ty, stored);
                }
                return Ok(());
            }
            (Op::SubgroupId | Op::LaneId, _) => {
                let local = place(Op::LocalId, None, &self.launch.shape, self.items, item).unwrap_or(0);
                let (number, lane) = (local / u64::from(SUBGROUP), local % u64::from(SUBGROUP));
                out[0] = if step.op == Op::LaneId { lane } else { number };
            }
            (op, Attr::Atomic(atomic)) => {
                self.atomic(item, step, atomic, out)?;
                if op == Op::AtomicStore {
                    return Ok(());
                }
            }
            (Op::Fence, Attr::Fence(fence)) => {
                self.fence(item, fence);
                return Ok(());
            }
            (Op::Intrinsic, _) => match self.intrinsics.get(&step.inst) {
                Some(Ok(meaning)) => {
                    meaning(&self.values(step), out);
                    out.iter_mut().for_each(|lane| *lane &= step.result.ty.elem().mask());
                }
                missing => {
                    let reason = match missing {
                        Some(Err(reason)) => reason.clone(),
                        _ => String::from("an intrinsic without text"),
                    };
                    return Err(self.trap(item, step.inst, TrapKind::NoIntrinsic { reason }));
                }
            },
            (op, attr) => {
                let values = self.values(step);
                let is_computed = match step.product {
                    Some(number) => fold_sum(op, attr, number, &values, step.result.ty, out),
                    None => fold(op, attr, &values, step.result.ty, out),
                };
                if !is_computed {
                    return Ok(());
                }
            }
        }
        step.result.set(&mut self.frame, out);
        if let (true, Some(value)) = (O::ASKS, self.code.kernel.result(step.inst)) {
            self.observer.value(item, value, out);
        }
        Ok(())
    }

    /// The operands' lanes; at most sixteen operands but for intrinsics, so on the stack.
    pub(super) fn values(&self, step: &PreparedInst) -> SmallVec<[Operand<'_>; 16]> {
        let operand = |slot: &Slot| Operand { ty: slot.ty, lanes: slot.lanes(&self.frame) };
        self.code.operands(step).iter().map(operand).collect()
    }

    /// Where a load or store goes, whose base is the operand of that number.
    pub(super) fn place(&self, item: u32, step: &PreparedInst, mem: MemAttr, base: usize) -> AccessSite {
        let operands = self.code.operands(step);
        let lane = |n: usize| operands.get(n).map_or(0, |slot| slot.lane(&self.frame));
        AccessSite {
            who: Who::new(item, step.inst),
            address: lane(base)
                .wrapping_add(mem.scaled(lane(base + 1) as u32))
                .wrapping_add_signed(i64::from(mem.offset)),
            align: mem.align,
            space: step.space,
            changes: !matches!(step.op, Op::Load | Op::Store | Op::AtomicLoad | Op::AtomicStore),
        }
    }

    /// What an instruction does for an item, or for a group of a packed kernel and so for its first item.
    pub(super) fn access(&self, item: u32, inst: Inst, write: bool) -> Access {
        let item = self.streams.as_ref().map_or(item, |streams| streams.first_item(item));
        Access { item, inst, span: self.span(inst), write }
    }

    pub(super) fn span(&self, inst: Inst) -> Span {
        let of_stream = self.streams.as_ref().and_then(|streams| streams.span(inst));
        of_stream.or(self.code.kernel.insts.get(inst).map(|data| data.span)).unwrap_or_default()
    }

    pub(super) fn trap(&self, item: u32, inst: Inst, kind: TrapKind) -> Fault {
        self.refused(self.access(item, inst, false), Refusal::Trap(kind))
    }

    /// The fault of a load or store. One that has taken in others traps as the first of them would have.
    pub(super) fn refused_at(&mut self, access: Access, at: AccessSite, refusal: Refusal) -> Fault {
        if matches!(refusal, Refusal::Trap(_)) {
            for Part { offset, bytes, span } in self.code.kernel.parts(access.inst) {
                let part = AccessSite { address: at.address.wrapping_add(offset.into()), align: bytes, ..at };
                if let Some(kind) = self.memory.why_not(part, bytes, access.write) {
                    return self.refused(Access { span, ..access }, Refusal::Trap(kind));
                }
            }
        }
        self.refused(access, refusal)
    }

    fn refused(&self, access: Access, refusal: Refusal) -> Fault {
        let Access { item, inst, span, .. } = access;
        match refusal {
            Refusal::Trap(kind) => Fault::Trap(Trap { item, inst, span, kind }),
            Refusal::Race { param, offset, before, wrote: write } => {
                let first = Access { item: before.item(), inst: before.inst(), span: self.span(before.inst()), write };
                Fault::Race(Race { place: Place::Buffer(param as u32), offset, first, second: access })
            }
        }
    }
}
