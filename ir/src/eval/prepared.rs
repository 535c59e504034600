//! Preparation of a kernel for evaluation, and its evaluation.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::ReservedValue;
use halfbyte_abi::cooperative::{self, Branch, RacingAccess, SUBGROUP, SyncOp, post_dominators};
use halfbyte_abi::{Exceeded, ShapeError, Type};
use smallvec::SmallVec;

use crate::array::Space;
use crate::attr::MemAttr;
use crate::eval::collective::ScheduleAction;
use crate::eval::contract::{Product, product};
use crate::eval::declared_memory::{AccessProperties, DeclaredMemory, is_cooperative};
use crate::eval::lanes::unpack;
use crate::eval::launch::{Access, Arg, ArgError, Fault, IntrinsicFn, Launch, Race, Trap, TrapKind};
use crate::eval::memory::{AccessError, AccessSite, Evaluated, ItemInst, Memory};
use crate::eval::observe::{Accessed, Observer};
use crate::eval::ops::{Operand, fold, fold_sum};
use crate::eval::place::place;
use crate::eval::streams::{self, Failure, Streams};
use crate::kernel::{Attr, Block, Inst, Kernel, MergedAccess, Value};
use crate::op::Op;
use crate::span::Span;

/// Maximum number of lanes of a type.
pub(super) const MAX_LANES: usize = 16;

/// Maximum size in bytes of the dynamic shared memory of a group.
const MAX_SHARED: u32 = 1 << 20;

/// Number of ops between polls of the watchdog. This number of the slowest ops, which are exact
/// arithmetic on sixteen lanes, takes about a millisecond.
const OPS_BETWEEN_POLLS: u64 = 1 << 10;

/// A kernel prepared for execution. All values have their lanes in one array, the frame, and
/// constants are already stored there. Blocks are ranges of instructions in layout order.
pub struct Prepared<'k> {
    pub(super) kernel: &'k Kernel,
    params: Vec<FrameSlot>,
    arrays: Vec<FrameSlot>,
    /// `true` if items of a group cooperate through barriers, collective operations or shared memory.
    is_cooperative: bool,
    frame: Vec<u64>,
    pub(super) blocks: Vec<Range<usize>>,
    pub(super) steps: Vec<PreparedInst>,
    operands: Vec<FrameSlot>,
    edges: Vec<Edge>,
    moves: Vec<(FrameSlot, FrameSlot)>,
    /// Reconvergence point of the terminator of each block; computed on first use.
    joins: OnceLock<Vec<Option<usize>>>,
    /// First access of each stream, if the kernel is packed.
    accesses: Vec<Inst>,
}

/// Location of a value's lanes in the frame.
#[derive(Clone, Copy)]
pub(super) struct FrameSlot {
    start: usize,
    pub(super) ty: Type,
}

impl Default for FrameSlot {
    fn default() -> FrameSlot {
        FrameSlot { start: 0, ty: Type::I1 }
    }
}

impl FrameSlot {
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
    /// The instruction that represents this instruction in race detection. All copies of a store in
    /// the source text, such as those of an inlined function, have the same representative.
    location: Inst,
    pub(super) op: Op,
    pub(super) attr: Attr,
    /// Scheduling behaviour of the instruction.
    turn: ScheduleAction,
    /// Memory space of the array on which the accessed address is based, if any.
    space: Option<Space>,
    operands: Range<usize>,
    /// Operand number of the product with which a sum is contracted, if any. `operands` then holds
    /// the factors and the other operand of the sum.
    product: Option<usize>,
    /// Outgoing edges of a terminator.
    edges: Range<usize>,
    pub(super) result: FrameSlot,
}

/// Execution state of an item.
#[derive(Clone, Copy, Default)]
pub(super) struct Position {
    /// Index of the block in the layout.
    pub(super) block: usize,
    /// Index in the block of the next instruction to execute.
    pub(super) step: usize,
    backward: u32,
    /// Number of times that the item yields before it continues: once for each strong access that a branch has skipped.
    skipped_yields: u32,
}

/// Reason why an item stops running.
pub(super) enum Stop {
    /// The item has ended.
    End,
    /// The item yields to other items.
    Yield,
    /// The item waits for other items at the instruction.
    Collective(SyncOp<u32, bool>, Inst),
}

/// Control-flow edge.
struct Edge {
    /// Index of the target block in the layout.
    to: usize,
    case: u32,
    moves: Range<usize>,
    /// Number of strong accesses in the block that the edge skips.
    passes: u32,
}

/// Returns the number of strong accesses that a branch to block `to` skips, if the branch's other target `beside` leads
/// to `to` as well. A guarded PTX instruction is imported as such a branch, and a guard does not make lanes diverge.
fn passed(kernel: &Kernel, to: Block, beside: Block) -> u32 {
    let Some((&last, insts)) = kernel.blocks.get(beside).and_then(|block| block.insts.split_last()) else { return 0 };
    let leads_on = kernel.insts[last].op == Op::Br && kernel.targets(last).first().is_some_and(|call| call.block == to);
    let is_strong = |&&inst: &&Inst| ScheduleAction::at(kernel.insts[inst].op) == ScheduleAction::Yields;
    if leads_on { insts.iter().filter(is_strong).count() as u32 } else { 0 }
}

impl<'k> Prepared<'k> {
    /// Prepares a kernel. The verifier must accept the kernel; otherwise its behaviour is unspecified.
    pub fn new(kernel: &'k Kernel) -> Prepared<'k> {
        let mut slots: SecondaryMap<Value, FrameSlot> = SecondaryMap::new();
        let mut size = 0;
        for (value, data) in &kernel.values {
            slots[value] = FrameSlot { start: size, ty: data.ty };
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
            is_cooperative: is_cooperative(kernel),
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
        let mut stores: BTreeMap<(u32, u32), Inst> = BTreeMap::new();
        for step in prepared.steps.iter_mut().filter(|step| step.op == Op::Store) {
            let Span { start, end } = kernel.insts[step.inst].span;
            if end != 0 {
                step.location = *stores.entry((start, end)).or_insert(step.inst);
            }
        }
        prepared
    }

    fn add(&mut self, inst: Inst, slots: &SecondaryMap<Value, FrameSlot>, places: &SecondaryMap<Block, usize>) {
        let data = &self.kernel.insts[inst];
        let result = self.kernel.result(inst).map_or(FrameSlot::default(), |v| slots[v]);
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
            // The frame still holds the factors when the sum is computed: in SSA form, a factor
            // cannot be computed again without its product.
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
                [first, second] if self.is_cooperative => {
                    let beside = if call.block == first.block { second.block } else { first.block };
                    passed(self.kernel, call.block, beside)
                }
                _ => 0,
            };
            self.edges.push(Edge { to: places[call.block], case: call.case, moves: moves..self.moves.len(), passes });
        }
        self.steps.push(PreparedInst {
            inst,
            location: inst,
            op: data.op,
            attr: data.attr,
            turn: if self.is_cooperative { ScheduleAction::at(data.op) } else { ScheduleAction::Goes },
            space,
            operands: operands..self.operands.len(),
            product: product.map(|product| product.number),
            edges: edges..self.edges.len(),
            result,
        });
    }

    /// Runs all items in order. The results are in the buffers. After a fault, the contents of the buffers are
    /// unspecified.
    ///
    /// The arguments are those of [`Kernel::given_params`]. A packed kernel takes the same arguments as the kernel from
    /// which it was packed, and runs the groups of the launch's items in order. Within a group, the items make the
    /// accesses of the streams one item after another. The budget applies to each group.
    ///
    /// # Errors
    ///
    /// Returns the error of invalid arguments, the trap of the lowest-numbered trapping item, or a race whose second
    /// access is executed before any trap. If a trap of a packed kernel is not caused by an access of an item, the
    /// error names the first item of the group.
    pub fn run(&self, launch: &Launch<'_>, args: &mut [Arg<'_>]) -> Result<(), Fault> {
        self.run_watched(launch, args).map(drop)
    }

    /// Runs all items in order. Returns the item that wrote each byte, and the same-value races.
    ///
    /// # Errors
    ///
    /// See [`run`](Prepared::run).
    pub fn run_watched(&self, launch: &Launch<'_>, args: &mut [Arg<'_>]) -> Result<Evaluated, Fault> {
        self.run_observed(launch, args, &mut ())
    }

    /// Runs all items in order, and reports every step to an observer.
    ///
    /// # Errors
    ///
    /// See [`run`](Prepared::run). The steps before the error are reported as well.
    pub fn run_observed<O: Observer>(
        &self,
        launch: &Launch<'_>,
        args: &mut [Arg<'_>],
        observer: &mut O,
    ) -> Result<Evaluated, Fault> {
        let items = launch.shape.items().map_err(ArgError::from)?;
        if self.kernel.packing.is_some() && !launch.shape.is_along_x() {
            return Err(ArgError::from(ShapeError::Axes(launch.shape)).into());
        }
        let mut frame = self.frame.clone();
        for (number, (slot, arg)) in self.params.iter().zip(&*args).enumerate() {
            match arg {
                Arg::Scalar(words) => unpack(slot.ty, words, &mut frame[slot.range()]),
                // The launch rejects invalid arguments later, with an error.
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
            memory: Memory::bind(self.kernel, args, own, launch.races)?,
            streams,
            frame,
            moved: Vec::new(),
            intrinsics: self.resolve(launch),
            unpolled: 0,
            observer,
        };
        machine.spend()?;
        let in_group = self.kernel.packing.as_ref().map_or(1, |packing| packing.items.max(1));
        match self.is_cooperative {
            true => {
                let groups = launch.schedule.execution_order(items / size, 0);
                groups.into_iter().try_for_each(|group| machine.run_group(group, size))?;
            }
            false => (0..items.div_ceil(in_group)).try_for_each(|group| machine.group(group))?,
        }
        machine.spend()?;
        let same_value = machine.memory.same_value().map(|race| machine.race(race)).collect();
        Ok(Evaluated::new(machine.memory, same_value))
    }

    /// Creates the memory of the arrays that the kernel declares.
    fn own(&self, launch: &Launch<'_>, size: u32) -> Result<DeclaredMemory, ArgError> {
        let shape = launch.shape;
        let has_shared = self.kernel.arrays.iter().any(|array| array.space == Space::Shared);
        if shape.shared != 0 && !has_shared || shape.shared > MAX_SHARED {
            return Err(ShapeError::Shared(shape.shared).into());
        }
        if self.is_cooperative {
            shape.check_gpu()?;
        }
        Ok(DeclaredMemory::new(self.kernel, size, shape.shared, launch.races))
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
                None => Err(format!("no implementation of {} instructions is available", intrinsic.target)),
            };
            Some((step.inst, meaning))
        };
        self.steps.iter().filter_map(meaning).collect()
    }

    fn operands(&self, step: &PreparedInst) -> &[FrameSlot] {
        self.operands.get(step.operands.clone()).unwrap_or(&[])
    }

    /// Returns the reconvergence point of the terminator of each block, if any. A block that only
    /// returns is not a reconvergence point.
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
            // The iteration count is bounded, because a loop that consists only of branches never returns.
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

    /// Returns the edge that an item takes at a terminator.
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

/// State of a launch that is being executed.
pub(super) struct Machine<'a, O> {
    pub(super) code: &'a Prepared<'a>,
    pub(super) launch: &'a Launch<'a>,
    items: u32,
    pub(super) memory: Memory<'a>,
    /// Streams of a packed kernel, to which its loads and stores go.
    streams: Option<Streams<'a>>,
    pub(super) frame: Vec<u64>,
    /// Temporary lanes for the simultaneous assignment of block parameters.
    moved: Vec<u64>,
    intrinsics: BTreeMap<Inst, Result<IntrinsicFn<'a>, String>>,
    /// Ops and backward branches executed since the last poll of the watchdog.
    unpolled: u64,
    pub(super) observer: &'a mut O,
}

impl<O: Observer> Machine<'_, O> {
    /// Runs one item, or one group of items if the kernel is packed.
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

    /// Reports the number of executed ops to the watchdog. Fails if the launch must stop.
    fn spend(&mut self) -> Result<(), Exceeded> {
        let done = std::mem::take(&mut self.unpolled);
        self.launch.watchdog.map_or(Ok(()), |watchdog| watchdog.spend(done))
    }

    /// Runs an item from its current position until it ends, waits or yields.
    pub(super) fn run(&mut self, item: u32, at: &mut Position) -> Result<Stop, Fault> {
        let code = self.code;
        if at.skipped_yields != 0 {
            at.skipped_yields -= 1;
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
                    if step.turn == ScheduleAction::Waits
                        && let Some(sync_op) = self.sync_op(step)
                    {
                        return Ok(Stop::Collective(sync_op, step.inst));
                    }
                    self.step(item, step)?;
                    if step.turn == ScheduleAction::Yields {
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
                (next, at.skipped_yields) = (edge.to, edge.passes);
                break;
            }
            (at.block, at.step) = (next, 0);
            if at.skipped_yields != 0 {
                at.skipped_yields -= 1;
                return Ok(Stop::Yield);
            }
        }
        Ok(Stop::End)
    }

    /// Reports a branch of an item to the race detector.
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

    /// Reports to the observer that an item enters a block, and the values of the block's parameters.
    fn tell_block(&mut self, item: u32, place: usize, moves: &[(FrameSlot, FrameSlot)]) {
        if !O::IS_ACTIVE {
            return;
        }
        let kernel = self.code.kernel;
        let Some(&block) = kernel.layout.get(place) else { return };
        self.observer.block(item, block);
        for (&param, (_, slot)) in kernel.block_params(block).iter().zip(moves) {
            self.observer.value(item, param, slot.lanes(&self.frame));
        }
    }

    /// Reports a load or store to the observer.
    pub(super) fn tell_access(&mut self, item: u32, at: AccessSite, inst: Inst, write: bool, ty: Type, lanes: &[u64]) {
        if O::IS_ACTIVE {
            let place = match self.streams {
                Some(_) => None,
                None => self.memory.place(at, ty.bytes()),
            };
            self.observer.access(item, &Accessed { inst, write, address: at.address, place, ty, lanes });
        }
    }

    /// Assigns the arguments of a control-flow edge to the parameters of the target block.
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
                    None => self.memory.load(at, step.result.ty, AccessProperties::READ, out),
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
                    None => self.memory.store(at, value.ty, lanes),
                };
                stored.map_err(|refusal| self.refused_at(self.access(item, step.inst, true), at, refusal))?;
                if O::IS_ACTIVE {
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
                        _ => String::from("the intrinsic has no text"),
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
        if let (true, Some(value)) = (O::IS_ACTIVE, self.code.kernel.result(step.inst)) {
            self.observer.value(item, value, out);
        }
        Ok(())
    }

    /// Returns the operands of an instruction with their lanes. Only intrinsics have more than
    /// sixteen operands, so the list is usually on the stack.
    pub(super) fn values(&self, step: &PreparedInst) -> SmallVec<[Operand<'_>; 16]> {
        let operand = |slot: &FrameSlot| Operand { ty: slot.ty, lanes: slot.lanes(&self.frame) };
        self.code.operands(step).iter().map(operand).collect()
    }

    /// Returns the address and properties of a load or store. `base` is the operand number of the base address.
    pub(super) fn place(&self, item: u32, step: &PreparedInst, mem: MemAttr, base: usize) -> AccessSite {
        let operands = self.code.operands(step);
        let lane = |n: usize| operands.get(n).map_or(0, |slot| slot.lane(&self.frame));
        AccessSite {
            who: ItemInst::new(item, step.location),
            address: lane(base)
                .wrapping_add(mem.scaled(lane(base + 1) as u32))
                .wrapping_add_signed(i64::from(mem.offset)),
            align: mem.align,
            space: step.space,
            changes: !matches!(step.op, Op::Load | Op::Store | Op::AtomicLoad | Op::AtomicStore),
        }
    }

    /// Describes an access of an item for an error message. An access of a packed kernel's group is
    /// attributed to the group's first item.
    pub(super) fn access(&self, item: u32, inst: Inst, write: bool) -> Access {
        let item = self.streams.as_ref().map_or(item, |streams| streams.first_item(item));
        Access { item, inst, span: self.span(inst), write }
    }

    pub(super) fn span(&self, inst: Inst) -> Span {
        let of_stream = self.streams.as_ref().and_then(|streams| streams.span(inst));
        of_stream.or(self.code.kernel.insts.get(inst).map(|data| data.span)).unwrap_or_default()
    }

    pub(super) fn trap(&self, item: u32, inst: Inst, kind: TrapKind) -> Fault {
        self.refused(self.access(item, inst, false), AccessError::Trap(kind))
    }

    /// Returns the fault of a rejected load or store. If the access was merged from several
    /// accesses of the source, the fault names the first source access that is invalid.
    pub(super) fn refused_at(&mut self, access: Access, at: AccessSite, refusal: AccessError) -> Fault {
        if matches!(refusal, AccessError::Trap(_)) {
            for MergedAccess { offset, bytes, span } in self.code.kernel.parts(access.inst) {
                let part = AccessSite { address: at.address.wrapping_add(offset.into()), align: bytes, ..at };
                if let Some(kind) = self.memory.static_trap(part, bytes, access.write) {
                    return self.refused(Access { span, ..access }, AccessError::Trap(kind));
                }
            }
        }
        self.refused(access, refusal)
    }

    fn refused(&self, access: Access, refusal: AccessError) -> Fault {
        let Access { item, inst, span, .. } = access;
        match refusal {
            AccessError::Trap(kind) => Fault::Trap(Trap { item, inst, span, kind }),
            AccessError::Race(race) => Fault::Race(self.race(&race)),
        }
    }

    /// Adds the source spans of the two accesses to a race.
    pub(super) fn race(&self, race: &cooperative::Race) -> Race {
        let cooperative::Race { place, offset, first, second, is_same_value, .. } = *race;
        let side = |RacingAccess { item, inst, writes: write }| {
            let inst = Inst::from_u32(inst);
            Access { item, inst, span: self.span(inst), write }
        };
        Race { place, offset, first: side(first), second: side(second), is_same_value }
    }
}
