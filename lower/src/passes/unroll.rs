//! Full unrolling of loops with a constant trip count.
//!
//! To find the trip count, the pass evaluates the exit condition and all values on which it depends, iteration by
//! iteration, with the functions of the evaluator. This succeeds if they only depend on constants. In each unrolled
//! iteration, the evaluated values become constants.
//!
//! The loop itself becomes the last iteration. Copies of it, placed before the loop header, become the earlier
//! iterations. Accesses therefore keep their order, values that are used after the loop need no new definitions, and no
//! branch becomes a backward branch.
//!
//! The pass unrolls innermost loops with a single exit. All iterations together may have at most as many instructions
//! as the target's unrolling limit, not counting instructions that become constants. For such small loops, the removed
//! increments, tests and branches are a large part of the code. If all loops inside a loop are unrolled, it becomes an
//! innermost loop and may be unrolled, too.
//!
//! On targets whose items share vectors, an access in a loop becomes one stream for all iterations. Loops with accesses
//! are therefore not unrolled for these targets.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use halfbyte_ir::eval::{Operand, fold, pack};
use halfbyte_ir::{
    Attr, Block, BlockCall, BlockData, Flow, Inst, Kernel, Legality, Op, Type, Value, ValueDef, ValueList,
};
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

use crate::pass::{BuiltIn, Context, Order};
use crate::passes::fold::make_unconditional;
use crate::passes::if_convert::words;
use crate::passes::loops::{LoopId, Loops};
use crate::rewrite::constant_lanes;
use crate::trace::{Before, ChangeKind, Report};

/// The `unroll` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "unroll",
    description: "fully unrolls short loops with a constant trip count",
    order: &[
        (Order::After("fold"), "trip counts depend on folded constants"),
        (Order::Before("gvn"), "it exposes values that iterations share"),
    ],
    run,
};

/// Maximum number of iterations of an unrolled loop, and maximum number of instructions on which
/// its exit condition may depend.
const MOST: u32 = 64;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    // The streams of a packed kernel refer to its loops, which must therefore not be unrolled.
    if kernel.layout.len() < 2 || kernel.packing.is_some() {
        return false;
    }
    let mut changed = false;
    while innermost(kernel, context) {
        changed = true;
    }
    changed
}

/// Unrolls the innermost loops of the kernel. Returns `true` if it unrolled any.
fn innermost(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let flow = context.flow(kernel);
    let Ok(loops) = Loops::new(kernel, &flow) else { return false };
    let mut blocks: Vec<Vec<Block>> = loops.ids().map(|_| Vec::new()).collect();
    if blocks.is_empty() {
        context.keep_flow(flow);
        return false;
    }
    for block in flow.reverse_postorder() {
        if let Some(of) = loops.innermost_of(block).and_then(|id| blocks.get_mut(id.index())) {
            of.push(block);
        }
    }
    let mut has_inner: EntitySet<LoopId> = EntitySet::new();
    for parent in loops.ids().filter_map(|id| loops.get(id).parent) {
        has_inner.insert(parent);
    }
    let mut unroller = Unroller {
        kernel,
        context,
        copies: SecondaryMap::new(),
        gone: EntitySet::new(),
        copies_of: SecondaryMap::new(),
        standing: Vec::new(),
        replaced: SecondaryMap::new(),
    };
    let mut changed = false;
    for (id, blocks) in loops.ids().zip(blocks).filter(|(id, _)| !has_inner.contains(*id)) {
        let legality = unroller.context.legality;
        if let Some(plan) = Plan::new(unroller.kernel, &flow, &loops, id, blocks, legality) {
            unroller.unroll(plan);
            changed = true;
        }
    }
    if changed {
        unroller.finish(&flow);
    } else {
        context.keep_flow(flow);
    }
    changed
}

/// A branch and the index of one of its targets.
type Edge = (Inst, usize);

/// A loop to unroll.
struct Plan {
    header: Block,
    /// Blocks of the loop, each after its predecessors in the same iteration.
    blocks: Vec<Block>,
    /// Blocks that the last iteration executes before it leaves the loop.
    last: EntitySet<Block>,
    /// Edges that enter the loop.
    entries: Vec<Edge>,
    /// Arguments that the back edge passes for the header's parameters.
    next: Vec<Value>,
    exit: Inst,
    /// Index of the target of the branch `exit` that stays in the loop.
    stays: usize,
    iterations: u32,
    clock: TripCountEvaluator,
}

impl Plan {
    /// Returns the plan for a loop, or `None` if the loop should not be unrolled.
    fn new(
        kernel: &Kernel,
        flow: &Flow,
        loops: &Loops,
        id: LoopId,
        blocks: Vec<Block>,
        legality: &Legality,
    ) -> Option<Plan> {
        let with_accesses = legality.lanes().is_none();
        let found = loops.get(id);
        let header = found.header;
        let &[latch] = found.latches.as_slice() else { return None };
        let mut back = kernel.targets(kernel.terminator(latch)?).iter().filter(|call| call.block == header);
        let next = kernel.call_args(back.next()?).to_vec();
        if back.next().is_some() {
            return None;
        }
        let mut ways_out = blocks.iter().flat_map(|&block| {
            let leaves = move |(_, call): &(usize, &BlockCall)| !found.contains(call.block);
            let branch = kernel.terminator(block);
            let ways = branch.into_iter().flat_map(move |inst| kernel.targets(inst).iter().enumerate().filter(leaves));
            ways.filter_map(move |(way, _)| Some((block, branch?, way)))
        });
        let (from, exit, way) = ways_out.next()?;
        if ways_out.next().is_some() || kernel.insts[exit].op != Op::BrIf || !flow.dominates(from, latch) {
            return None;
        }
        let &[condition] = kernel.args(exit) else { return None };
        let entries = entries(kernel, flow, loops, id);
        let mut clock = TripCountEvaluator::new(header, way == 1);
        clock.find(kernel, condition, &entries, &next)?;
        let mut cost = |block: Block| {
            let costs = kernel.blocks[block].insts.iter().map(|&inst| {
                let data = &kernel.insts[inst];
                match data.op {
                    Op::Load | Op::Store => with_accesses.then_some(1),
                    op if op.is_terminator() || kernel.result(inst).is_some_and(|value| clock.knows(value)) => Some(0),
                    Op::Const => Some(0),
                    // A convergent op must not be duplicated: the items synchronise at one op, not at its copies.
                    op if !op.is_pure() => None,
                    _ => Some(words(data.ty)),
                }
            });
            costs.sum::<Option<u32>>()
        };
        let whole = blocks.iter().map(|&block| cost(block)).sum::<Option<u32>>()?;
        let last = before_exit(kernel, header, from);
        let part = last.iter().map(&mut cost).sum::<Option<u32>>()?;
        clock.start();
        let mut iterations = 1;
        while clock.iteration(kernel, condition)? {
            iterations += 1;
            if iterations > MOST || (iterations - 1).saturating_mul(whole).saturating_add(part) > legality.unrolled() {
                return None;
            }
            clock.next();
        }
        Some(Plan { header, blocks, last, entries, next, exit, stays: 1 - way, iterations, clock })
    }
}

/// Returns the edges that enter a loop.
fn entries(kernel: &Kernel, flow: &Flow, loops: &Loops, id: LoopId) -> Vec<Edge> {
    let header = loops.get(id).header;
    let outside = |from: &&Block| flow.is_reachable(**from) && !loops.get(id).contains(**from);
    let mut from: Vec<Block> = flow.predecessors(header).iter().filter(outside).copied().collect();
    from.dedup();
    let branches = from.into_iter().filter_map(|block| kernel.terminator(block));
    let edges = branches.flat_map(|branch| {
        let ways = kernel.targets(branch).iter().enumerate().filter(|(_, call)| call.block == header);
        ways.map(move |(way, _)| (branch, way))
    });
    edges.collect()
}

/// Returns the blocks of a loop on paths from its header to block `from`, both included.
fn before_exit(kernel: &Kernel, header: Block, from: Block) -> EntitySet<Block> {
    let mut found = EntitySet::new();
    let mut work = vec![header];
    while let Some(block) = work.pop() {
        if found.insert(block) && block != from {
            work.extend(kernel.successors(block));
        }
    }
    found
}

/// Evaluates the exit condition of a loop iteration by iteration.
struct TripCountEvaluator {
    header: Block,
    /// Value of the exit condition with which the loop continues.
    goes_on: bool,
    /// Instructions to evaluate in each iteration, operands first.
    insts: Vec<Inst>,
    params: Vec<Counter>,
    /// Value of each evaluated scalar in the current iteration.
    now: HashMap<Value, Option<u64>>,
}

/// A header parameter whose value is evaluated in each iteration.
struct Counter {
    param: Value,
    start: u64,
    /// Value of the parameter in the next iteration.
    next: Value,
}

impl TripCountEvaluator {
    fn new(header: Block, goes_on: bool) -> TripCountEvaluator {
        TripCountEvaluator { header, goes_on, insts: Vec::new(), params: Vec::new(), now: HashMap::default() }
    }

    /// Collects the instructions and parameters on which the condition depends, in this iteration
    /// and the next. Returns `None` if the condition depends on a value that is not constant.
    fn find(&mut self, kernel: &Kernel, condition: Value, entries: &[Edge], next: &[Value]) -> Option<()> {
        let mut met = 0;
        self.need(kernel, condition, entries, next, MOST)?;
        while let Some(counter) = self.params.get(met) {
            self.need(kernel, counter.next, entries, next, MOST)?;
            met += 1;
        }
        Some(())
    }

    /// Adds a value and the values on which it depends, up to `depth` nested instructions.
    fn need(&mut self, kernel: &Kernel, value: Value, entries: &[Edge], next: &[Value], depth: u32) -> Option<()> {
        if self.knows(value) {
            return Some(());
        }
        let first = match kernel.values[value].def {
            ValueDef::BlockParam(block, number) if block == self.header => {
                let start = |&(branch, way): &Edge| {
                    let arg = kernel.call_args(kernel.targets(branch).get(way)?).get(number as usize)?;
                    constant(kernel, *arg)
                };
                let first = start(entries.first()?)?;
                if !entries.iter().all(|entry| start(entry) == Some(first)) {
                    return None;
                }
                self.params.push(Counter { param: value, start: first, next: *next.get(number as usize)? });
                Some(first)
            }
            ValueDef::Result(inst) if kernel.insts[inst].op == Op::Const => Some(constant(kernel, value)?),
            ValueDef::Result(inst) if kernel.insts[inst].op.is_pure() && kernel.ty(value).is_scalar() => {
                let depth = depth.checked_sub(1).filter(|_| self.insts.len() < MOST as usize)?;
                kernel.args(inst).iter().try_for_each(|&arg| self.need(kernel, arg, entries, next, depth))?;
                self.insts.push(inst);
                // A placeholder until the value is evaluated in the first iteration.
                Some(0)
            }
            _ => return None,
        };
        self.now.insert(value, first);
        Some(())
    }

    fn now(&self, value: Value) -> Option<u64> {
        self.now.get(&value).copied().flatten()
    }

    fn knows(&self, value: Value) -> bool {
        self.now(value).is_some()
    }

    /// Returns the result of an instruction in the current iteration, if the instruction is evaluated.
    fn known(&self, kernel: &Kernel, inst: Inst) -> Option<u64> {
        self.now(kernel.result(inst)?)
    }

    fn start(&mut self) {
        for counter in &self.params {
            self.now.insert(counter.param, Some(counter.start));
        }
    }

    /// Evaluates one iteration. Returns `true` if another iteration follows.
    fn iteration(&mut self, kernel: &Kernel, condition: Value) -> Option<bool> {
        for &inst in &self.insts {
            let result = kernel.result(inst)?;
            let (ty, data) = (kernel.ty(result), &kernel.insts[inst]);
            let lanes: SmallVec<[(Type, [u64; 1]); 4]> =
                kernel.args(inst).iter().map(|&arg| Some((kernel.ty(arg), [self.now(arg)?]))).collect::<Option<_>>()?;
            let operands: SmallVec<[Operand<'_>; 4]> =
                lanes.iter().map(|(ty, lanes)| Operand { ty: *ty, lanes }).collect();
            let mut out = [0];
            self.now.insert(result, fold(data.op, data.attr, &operands, ty, &mut out).then_some(out[0]));
        }
        Some((self.now(condition)? != 0) == self.goes_on)
    }

    fn next(&mut self) {
        let next: SmallVec<[_; 4]> = self.params.iter().map(|counter| self.now(counter.next)).collect();
        for (counter, next) in self.params.iter().zip(next) {
            self.now.insert(counter.param, next);
        }
    }
}

/// Returns the bits of a scalar constant.
fn constant(kernel: &Kernel, value: Value) -> Option<u64> {
    let (_, lanes) = constant_lanes(kernel, value).filter(|(ty, _)| ty.is_scalar())?;
    lanes.first().copied()
}

struct Unroller<'k, 'c, 'l> {
    kernel: &'k mut Kernel,
    context: &'c mut Context<'l>,
    /// Copies of loop blocks to insert before each loop header.
    copies: SecondaryMap<Block, Vec<Block>>,
    /// Blocks to remove, because no iteration executes them.
    gone: EntitySet<Block>,
    /// Copy of each value of the loop in the iteration that is being created.
    copies_of: SecondaryMap<Value, PackedOption<Value>>,
    /// Values that have an entry in `copies_of`. The entries are cleared after each loop, because
    /// code after the loop reads the values of the last iteration.
    standing: Vec<Value>,
    replaced: SecondaryMap<Value, PackedOption<Value>>,
}

/// An instruction of a loop for the trace: its text before the pass, and its copies.
struct TracedInst {
    inst: Inst,
    before: Option<Before>,
    copies: Vec<Inst>,
}

impl Unroller<'_, '_, '_> {
    fn unroll(&mut self, mut plan: Plan) {
        let mut told = self.told(&plan);
        let params = self.kernel.block_params(plan.header).to_vec();
        let &[condition] = self.kernel.args(plan.exit) else { return };
        plan.clock.start();
        let mut head = if plan.iterations > 1 { self.block(plan.header) } else { plan.header };
        let mut given = self.enter(&plan, head, &params);
        for iteration in 1..plan.iterations {
            // Only updates the values of the iteration. The result is known to be `true`.
            plan.clock.iteration(self.kernel, condition);
            for (&param, &value) in params.iter().zip(&given) {
                self.map_copy(param, value);
            }
            let next = if iteration + 1 == plan.iterations { plan.header } else { self.block(plan.header) };
            self.copy(&plan, head, next, &mut told);
            given = plan.next.iter().map(|&value| self.mapped(value)).collect();
            plan.clock.next();
            head = next;
        }
        for value in self.standing.drain(..) {
            self.copies_of[value] = PackedOption::default();
        }
        plan.clock.iteration(self.kernel, condition);
        self.last(&plan, &params, &given);
        for TracedInst { inst, before, mut copies } in told {
            if !copies.is_empty() {
                copies.push(inst);
                self.context.trace.replaced(
                    before,
                    ChangeKind::Told("copied for each iteration of the unrolled loop"),
                    self.kernel,
                    &copies,
                    None,
                );
            }
        }
    }

    /// Returns the instructions of the loop that the trace follows.
    fn told(&self, plan: &Plan) -> Vec<TracedInst> {
        let insts = plan.blocks.iter().flat_map(|&block| &self.kernel.blocks[block].insts);
        let told = insts.filter_map(|&inst| {
            let before = self.context.trace.before(self.kernel, inst)?;
            Some(TracedInst { inst, before: Some(before), copies: Vec::new() })
        });
        told.collect()
    }

    /// Creates an empty block for a copy of block `of`.
    fn block(&mut self, of: Block) -> Block {
        let span = self.kernel.blocks[of].span;
        self.kernel.blocks.push(BlockData { span, ..BlockData::default() })
    }

    fn map_copy(&mut self, value: Value, copy: Value) {
        self.copies_of[value] = copy.into();
        self.standing.push(value);
    }

    fn mapped(&self, value: Value) -> Value {
        self.copies_of[value].expand().unwrap_or(value)
    }

    /// Redirects the edges that enter the loop to its first iteration. Returns the values of the
    /// header's parameters in this iteration.
    fn enter(&mut self, plan: &Plan, head: Block, params: &[Value]) -> Vec<Value> {
        let only = match plan.entries.as_slice() {
            &[(branch, way)] => self.kernel.targets(branch).get(way).copied(),
            _ => None,
        };
        for &(branch, way) in &plan.entries {
            let Attr::Targets(range) = self.kernel.insts[branch].attr else { continue };
            if let Some(call) = self.kernel.calls_mut(range).get_mut(way) {
                call.block = head;
                if only.is_some() {
                    call.args = ValueList::new();
                }
            }
        }
        match only {
            Some(call) => self.kernel.call_args(&call).to_vec(),
            None if head == plan.header => params.to_vec(),
            None => params.iter().map(|&param| self.kernel.add_block_param(head, self.kernel.ty(param))).collect(),
        }
    }

    /// Creates an iteration that is not the last one, as a copy of the loop.
    fn copy(&mut self, plan: &Plan, head: Block, next: Block, told: &mut [TracedInst]) {
        let mut blocks: Vec<Block> = Vec::with_capacity(plan.blocks.len());
        for &block in &plan.blocks {
            if block == plan.header {
                blocks.push(head);
                continue;
            }
            let copy = self.block(block);
            for param in self.kernel.block_params(block).to_vec() {
                let ty = self.kernel.ty(param);
                let copied = self.kernel.add_block_param(copy, ty);
                self.map_copy(param, copied);
            }
            blocks.push(copy);
        }
        for (&block, &copy) in plan.blocks.iter().zip(&blocks) {
            for number in 0..self.kernel.blocks[block].insts.len() {
                let Some(&inst) = self.kernel.blocks[block].insts.get(number) else { continue };
                let made = match self.kernel.insts[inst].op.is_terminator() {
                    true => self.copy_branch(plan, inst, next, &blocks),
                    false => self.copy_inst(inst, plan.clock.known(self.kernel, inst)),
                };
                self.kernel.blocks[copy].insts.push(made);
                if let Some(told) = told.iter_mut().find(|told| told.inst == inst) {
                    told.copies.push(made);
                }
            }
        }
        self.copies[plan.header].extend(blocks);
    }

    /// Copies an instruction, or creates a constant if its result `known` has been evaluated.
    fn copy_inst(&mut self, inst: Inst, known: Option<u64>) -> Inst {
        let data = self.kernel.insts[inst];
        let result = data.result.expand().map(|value| self.kernel.ty(value));
        let made = match (known, result) {
            (Some(bits), Some(ty)) => {
                let attr = self.kernel.const_attr(ty, pack(ty, &[bits]));
                self.kernel.make_inst(Op::Const, ty, attr, &[], result, data.span)
            }
            _ => {
                let args: SmallVec<[Value; 4]> = self.kernel.args(inst).iter().map(|&arg| self.mapped(arg)).collect();
                self.kernel.make_inst(data.op, data.ty, data.attr, &args, result, data.span)
            }
        };
        let parts: SmallVec<[_; 4]> = self.kernel.parts(inst).collect();
        if !parts.is_empty() {
            self.kernel.set_parts(made, parts);
        }
        if let (Some(value), Some(copy)) = (data.result.expand(), self.kernel.result(made)) {
            self.map_copy(value, copy);
        }
        made
    }

    /// Copies a branch. The edge that leaves the loop is dropped.
    fn copy_branch(&mut self, plan: &Plan, inst: Inst, next: Block, blocks: &[Block]) -> Inst {
        let data = self.kernel.insts[inst];
        let stays = |way: usize| inst != plan.exit || way == plan.stays;
        let ways = self.kernel.targets(inst).iter().enumerate().filter(|(way, _)| stays(*way));
        let ways: SmallVec<[BlockCall; 2]> = ways.map(|(_, call)| *call).collect();
        let mut calls: SmallVec<[BlockCall; 2]> = SmallVec::with_capacity(ways.len());
        for call in ways {
            if call.block == plan.header {
                calls.push(BlockCall { block: next, args: ValueList::new(), ..call });
                continue;
            }
            let place = plan.blocks.iter().position(|&block| block == call.block);
            let block = place.and_then(|place| blocks.get(place)).copied().unwrap_or(call.block);
            let args: SmallVec<[Value; 4]> = self.kernel.call_args(&call).iter().map(|&arg| self.mapped(arg)).collect();
            let args = ValueList::from_slice(&args, &mut self.kernel.pool);
            calls.push(BlockCall { block, args, ..call });
        }
        let attr = Attr::Targets(self.kernel.add_calls(&calls));
        if inst == plan.exit {
            return self.kernel.make_inst(Op::Br, Type::I32, attr, &[], None, data.span);
        }
        let args: SmallVec<[Value; 4]> = self.kernel.args(inst).iter().map(|&arg| self.mapped(arg)).collect();
        self.kernel.make_inst(data.op, data.ty, attr, &args, None, data.span)
    }

    /// Turns the loop itself into its last iteration.
    fn last(&mut self, plan: &Plan, params: &[Value], given: &[Value]) {
        if params != given {
            for (&param, &value) in params.iter().zip(given) {
                self.replaced[param] = value.into();
            }
            self.kernel.blocks[plan.header].params = ValueList::new();
        }
        for &block in &plan.blocks {
            if !plan.last.contains(block) {
                self.gone.insert(block);
                continue;
            }
            for number in 0..self.kernel.blocks[block].insts.len() {
                let Some(&inst) = self.kernel.blocks[block].insts.get(number) else { continue };
                let ty = self.kernel.result(inst).map(|value| self.kernel.ty(value));
                if let (Some(bits), Some(ty)) = (plan.clock.known(self.kernel, inst), ty) {
                    let attr = self.kernel.const_attr(ty, pack(ty, &[bits]));
                    let data = &mut self.kernel.insts[inst];
                    (data.op, data.ty, data.attr, data.args) = (Op::Const, ty, attr, ValueList::new());
                }
            }
        }
        make_unconditional(self.kernel, plan.exit, 1 - plan.stays);
    }

    /// Inserts the copied blocks into the layout.
    fn finish(self, flow: &Flow) {
        let Unroller { kernel, copies, gone, replaced, .. } = self;
        let before = std::mem::take(&mut kernel.layout);
        // Unreachable blocks are also removed, because they may branch to removed blocks.
        for block in before.into_iter().filter(|&block| flow.is_reachable(block) && !gone.contains(block)) {
            kernel.layout.extend(&copies[block]);
            kernel.layout.push(block);
        }
        kernel.replace_uses(&replaced);
    }
}
