//! Compilation of a kernel: native functions of bounded size that contain its blocks.

use std::collections::BTreeMap;
use std::time::Instant;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, AbiParam, BlockArg, InstBuilder, JumpTableData, Signature, Value};
use cranelift_frontend::FunctionBuilder;

use super::cells::Cells;
use super::context::{Field, Header, Map};
use super::dataflow::Shape;
use super::emit::{BlockEmitter, Condition, Constants, Emitter};
use super::flow::Flow;
use super::front::Kernel;
use super::graph::{Block, BlockId, Next, Target};
use super::meet::Place;
use super::schedule::{Inlines, Schedule, schedule};
use super::split::Split;
use super::stream::{self, Runs};
use super::unit::{Items, Unit};
use super::wide;
use crate::clif::{Allocation, FunctionId, NativeBuilder, NativeCode, NativeError, Translation};
use halfbyte_abi::Work;

/// Exit codes of compiled code. A return value has the exit code in its upper bits and the block in the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(super) enum Leave {
    /// All items continue at the block, which is in another function.
    Go = 0,
    /// All items are done.
    Done = 1,
    /// Items diverge at the end of the block. The row of conditions has the condition of each item.
    Part = 2,
    /// The target of the block is invalid, or its target if the guard at its end holds.
    Fault = 3,
    /// The target of the block if the guard at its end does not hold is invalid.
    FaultFall = 4,
    /// The backward branch at the end of the block would exceed some item's budget.
    Budget = 5,
    /// All items are at the block, which is a collective operation.
    Meet = 6,
    /// A guard that must hold for all items does not hold. No side effect has happened.
    Guarded = 7,
}

/// Number of bits of a block number.
const BLOCK_BITS: u32 = 28;

impl Leave {
    const ALL: [Leave; 8] = [
        Leave::Go,
        Leave::Done,
        Leave::Part,
        Leave::Fault,
        Leave::FaultFall,
        Leave::Budget,
        Leave::Meet,
        Leave::Guarded,
    ];

    fn with(self, block: BlockId) -> u32 {
        (self as u32) << BLOCK_BITS | block.0
    }

    /// Splits a return value of compiled code.
    pub fn of(code: u32) -> (Leave, BlockId) {
        let leave = Leave::ALL.get((code >> BLOCK_BITS) as usize).copied().unwrap_or(Leave::Done);
        (leave, BlockId(code & ((1 << BLOCK_BITS) - 1)))
    }
}

/// Compiled function. The arguments are a context that fits, and the block to start at, relative to the function's
/// first block.
pub(crate) type Entry = unsafe extern "C" fn(*mut Header, u32) -> u32;

/// Entry point of a block.
#[derive(Clone, Copy)]
pub(super) struct Start {
    pub function: Entry,
    pub number: u32,
}

/// Compiled code, which this value keeps in memory.
pub(super) struct Code {
    /// Entry points by block; `None` for unreachable blocks.
    pub starts: Vec<Option<Start>>,
    native: NativeCode,
    _constants: Constants,
}

impl Code {
    /// Returns the compilation statistics, with the time since `begun`.
    pub fn translation(&self, begun: Instant) -> Translation {
        Translation { time: begun.elapsed(), functions: self.native.functions(), bytes: self.native.bytes }
    }
}

/// Variant of the code.
#[derive(Clone, Copy)]
pub(super) enum Form<'a> {
    /// Convergent code for all items of a row, from these units.
    All(&'a [Option<Unit>]),
    /// Code for the items of a mask.
    Masked,
}

/// Maximum number of Cranelift instructions of a function, before its last block.
const MAX_INSTRUCTIONS: usize = 2000;

/// Input of the compilation.
pub(super) struct Source<'a> {
    pub kernel: &'a Kernel<'a>,
    pub blocks: &'a [Block],
    pub flow: &'a Flow,
    /// Collective operations.
    pub meetings: &'a BTreeMap<BlockId, Place>,
    /// For each block, the way of splitting a row that diverges at its end into two rows, if any.
    pub splits: &'a [Option<Split>],
    pub form: Form<'a>,
}

impl Source<'_> {
    /// Returns the way of splitting a row that diverges at the end of a block into two rows.
    fn split(&self, id: BlockId) -> Option<Split> {
        self.splits.get(id.index()).copied().flatten()
    }
}

/// Compiles a kernel. `plans` contains schedules that exist already. The map grows by the temporary rows of the code.
pub(super) fn compile(
    source: &Source<'_>,
    mut plans: Plans,
    cells: &mut Cells,
    map: &mut Map,
    work: &mut Work<'_>,
) -> Result<Code, NativeError> {
    if source.blocks.len() >= 1 << BLOCK_BITS {
        return Err(NativeError::TooLarge);
    }
    let mut native = NativeBuilder::new()?;
    let mut signature = Signature::new(native.call_conv());
    signature.params = vec![AbiParam::new(I64), AbiParam::new(I32)];
    signature.returns = vec![AbiParam::new(I32)];
    let mut constants = Constants::default();
    let mut functions: Vec<(FunctionId, BlockId, Vec<BlockId>)> = Vec::new();
    let mut next = 0;
    while next < source.blocks.len() {
        work.poll()?;
        let first = BlockId(next as u32);
        let made = native.define_as_built(signature.clone(), |b| {
            function(source, &mut plans, cells, map, &mut constants, b, first)
        })?;
        let (id, (blocks, after)) = made;
        functions.push((id, first, blocks));
        next = after;
    }
    map.bytes().ok_or(NativeError::TooLarge)?;
    let wide = constants.define_wide(&mut native)?;
    let native = native.finish()?;
    constants.link_wide(&native, &wide);
    let mut starts = vec![None; source.blocks.len()];
    for (function, first, blocks) in functions {
        let Some(address) = native.address(function) else { continue };
        // SAFETY: the function was defined with this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(address) };
        for block in blocks {
            if let Some(start) = starts.get_mut(block.index()) {
                *start = Some(Start { function: entry, number: block.0 - first.0 });
            }
        }
    }
    Ok(Code { starts, native, _constants: constants })
}

/// Returns `true` if the machine has a vector instruction for fused multiply-add.
pub(super) fn has_fma() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// Maximum number of instructions of a short kernel.
const SHORT: usize = 64;

/// Returns the maximum unroll factor. For large kernels, a short compilation matters more than fast code.
fn max_unroll(kernel: &Kernel<'_>) -> u32 {
    match kernel.front.count() {
        words if words <= SHORT => 4,
        words if words <= 512 => 2,
        _ => 1,
    }
}

/// Emits a function with blocks from `first` on. Returns its register allocator, its blocks, and the first block of the
/// next function.
fn function(
    source: &Source<'_>,
    plans: &mut Plans,
    cells: &mut Cells,
    map: &mut Map,
    constants: &mut Constants,
    b: &mut FunctionBuilder<'_>,
    first: BlockId,
) -> (Allocation, (Vec<BlockId>, usize)) {
    let &Source { kernel, blocks, flow, form, .. } = source;
    let masked = matches!(form, Form::Masked);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let (context, number) = (b.block_params(entry)[0], b.block_params(entry)[1]);
    let dispatch = b.create_block();
    b.ins().jump(dispatch, &[]);
    let call_conv = b.func.signature.call_conv;
    let max_unroll = max_unroll(kernel);
    let emitter = Emitter { b, map, constants, context, call_conv, max_unroll, has_loops: false };
    let mut function = Function { e: emitter, flow, labels: vec![], first };
    let mut included = Vec::new();
    let mut at = first.index();
    for (id, block) in (0..).map(BlockId).zip(blocks).skip(first.index()) {
        at = id.index() + 1;
        let divergent;
        let unit = match form {
            Form::All(units) => units.get(id.index()).and_then(Option::as_ref),
            // Diverged items never reach the block, or the runner executes its collective operation.
            Form::Masked if !flow.reaches_diverged(id) || matches!(block.next, Next::Meet { .. }) => None,
            Form::Masked => {
                divergent = kernel.front.unit(block, cells, Items::Masked(&flow.divergent));
                Some(&divergent)
            }
        };
        let Some(unit) = unit else { continue };
        included.push(id);
        let label = function.label(id);
        function.e.b.switch_to_block(label);
        if !masked {
            let words = i64::from(block.end - block.start);
            let issued = function.e.field(I64, Field::Issued);
            let issued = function.e.b.ins().iadd_imm_s(issued, words);
            function.e.set_field(Field::Issued, issued);
        }
        if let Next::Meet { then } = block.next {
            let is_passed = source.meetings.get(&id).is_some_and(Place::is_passed_together);
            match then {
                Target::Block { .. } if is_passed => function.pass(cells, id, then),
                _ => function.leave(Leave::Meet, id),
            }
            continue;
        }
        let emitted = Inlines::ALL.into_iter().find_map(|inlines| {
            let plan = match plans.take(id, inlines) {
                Some(plan) => plan,
                None => plan(source, cells, block, unit, inlines),
            };
            let mut block = BlockEmitter::new(&mut function.e, unit, &plan, masked, source.split(id))?;
            block.leave_unless_guards_hold(Leave::Guarded.with(id));
            Some(block.emit())
        });
        let condition = emitted.unwrap_or(Condition::None);
        if masked {
            function.leave(Leave::Done, id);
        } else {
            function.end(cells, id, block, unit, condition);
        }
        if function.e.b.func.dfg.num_insts() > MAX_INSTRUCTIONS {
            break;
        }
    }
    let Function { e: Emitter { b, has_loops, .. }, labels, .. } = function;
    // Blocks of other functions.
    let others = (0..).map(|k| BlockId(first.0 + k)).zip(&labels);
    for (id, label) in others.filter_map(|(id, label)| Some((id, (*label)?))) {
        if included.binary_search(&id).is_err() {
            b.switch_to_block(label);
            let code = b.ins().iconst(I32, i64::from(Leave::Go.with(id)));
            b.ins().return_(&[code]);
        }
    }
    b.switch_to_block(dispatch);
    let done = b.create_block();
    let none = b.func.dfg.block_call(done, &[] as &[BlockArg]);
    let table: Vec<_> = (first.index()..included.last().map_or(0, |last| last.index() + 1))
        .map(|id| match included.binary_search(&BlockId(id as u32)) {
            Ok(_) => labels.get(id - first.index()).copied().flatten(),
            Err(_) => None,
        })
        .map(|label| label.map_or(none, |label| b.func.dfg.block_call(label, &[] as &[BlockArg])))
        .collect();
    let table = b.create_jump_table(JumpTableData::new(none, &table));
    b.ins().br_table(number, table);
    b.switch_to_block(done);
    let code = b.ins().iconst(I32, i64::from(Leave::Done.with(BlockId(0))));
    b.ins().return_(&[code]);
    // Long kernels whose loops are functions of their own compile fast instead of well.
    let is_long = kernel.front.count() > SHORT;
    let allocation = if is_long && !has_loops { Allocation::SinglePass } else { Allocation::Backtracking };
    (allocation, (included, at))
}

/// Returns the schedule of a block.
fn plan(source: &Source<'_>, cells: &Cells, block: &Block, unit: &Unit, inlines: Inlines) -> Schedule {
    let &Source { kernel, flow, form, .. } = source;
    let live = |cell| block.successors().any(|next| flow.live.has(next, cell));
    let inlines = Inlines { halves: inlines.halves && wide::has_halves(), ..inlines };
    schedule(kernel.pointers, unit, cells, live, has_fma(), matches!(form, Form::Masked), inlines)
}

/// Schedules of the first blocks of a kernel, with everything inlined.
#[derive(Default)]
pub(super) struct Plans(pub Vec<Option<Schedule>>);

impl Plans {
    fn take(&mut self, id: BlockId, inlines: Inlines) -> Option<Schedule> {
        self.0.get_mut(id.index()).filter(|_| inlines == Inlines::ALL[0])?.take()
    }
}

/// Maximum number of instructions of a streaming kernel.
const MAX_STREAMED: usize = 128;

/// Returns `true` if a kernel streams: it accesses each buffer element once and rarely uses a row of the context. Also
/// returns the schedules of its blocks.
pub(super) fn streams(source: &Source<'_>, cells: &Cells) -> (bool, Plans) {
    let mut plans = Plans::default();
    let Form::All(units) = source.form else { return (false, plans) };
    if source.kernel.front.count() > MAX_STREAMED || source.flow.has_loop {
        return (false, plans);
    }
    let streams = |(id, (block, unit)): (BlockId, (&Block, &Option<Unit>))| {
        let plan = unit.as_ref().map(|unit| (plan(source, cells, block, unit, Inlines::ALL[0]), unit));
        let streams = plan.as_ref().is_none_or(|(plan, unit)| plan.streams(unit, source.split(id)));
        plans.0.push(plan.map(|(plan, _)| plan));
        streams
    };
    let all = (0..).map(BlockId).zip(source.blocks.iter().zip(units)).all(streams);
    (all, plans)
}

/// Returns the blocks for runs of items, if the kernel streams except for its guards.
pub(super) fn runs(source: &Source<'_>, units: &[Option<Unit>], cells: &mut Cells) -> Option<Runs> {
    let &Source { kernel, blocks, flow, .. } = source;
    let inlines = Inlines { halves: wide::has_halves(), ..Inlines::ALL[0] };
    let is_small = kernel.front.count() <= MAX_STREAMED;
    if is_small { stream::runs(kernel, blocks, (flow, units), cells, (has_fma(), inlines)) } else { None }
}

/// Function during emission.
struct Function<'a, 'f> {
    e: Emitter<'a, 'f>,
    flow: &'a Flow,
    /// Cranelift blocks, by the number of the kernel's block relative to `first`.
    labels: Vec<Option<ir::Block>>,
    first: BlockId,
}

impl Function<'_, '_> {
    fn label(&mut self, id: BlockId) -> ir::Block {
        let place = id.index() - self.first.index();
        if self.labels.len() <= place {
            self.labels.resize(place + 1, None);
        }
        *self.labels[place].get_or_insert_with(|| self.e.b.create_block())
    }

    fn leave(&mut self, leave: Leave, id: BlockId) {
        let code = self.e.b.ins().iconst(I32, i64::from(leave.with(id)));
        self.e.b.ins().return_(&[code]);
    }

    /// Emits a barrier that a whole group passes without a call if the group is at rest.
    fn pass(&mut self, cells: &Cells, id: BlockId, then: Target) {
        let (ask, on) = (self.e.b.create_block(), self.e.b.create_block());
        let at_rest = self.e.field(I32, Field::AtRest);
        self.e.b.set_cold_block(ask);
        self.e.b.ins().brif(at_rest, on, &[], ask, &[]);
        self.e.b.switch_to_block(ask);
        self.leave(Leave::Meet, id);
        self.e.b.switch_to_block(on);
        let round = self.e.field(I32, Field::Round);
        let round = self.e.b.ins().iadd_imm_s(round, 1);
        self.e.set_field(Field::Round, round);
        self.go(cells, id, then, Leave::Fault);
    }

    /// Emits the end of a block of convergent code.
    fn end(&mut self, cells: &Cells, id: BlockId, block: &Block, unit: &Unit, condition: Condition) {
        if unit.dead {
            return self.leave(Leave::Done, id);
        }
        let (taken, fall) = match block.next {
            Next::To(target) => return self.go(cells, id, target, Leave::Fault),
            Next::Exit => return self.leave(Leave::Done, id),
            Next::Undefined(_) => return self.leave(Leave::Fault, id),
            Next::Branch { taken, fall } => (Some(taken), fall),
            Next::ExitIf { fall } => (None, fall),
            Next::Meet { .. } => return self.leave(Leave::Meet, id),
        };
        let (yes, no) = (self.e.b.create_block(), self.e.b.create_block());
        match condition {
            Condition::Same(holds) => {
                self.e.b.ins().brif(holds, yes, &[], no, &[]);
            }
            Condition::Each { any, other } => {
                let (some, part) = (self.e.b.create_block(), self.e.b.create_block());
                self.e.b.ins().brif(any, some, &[], no, &[]);
                self.e.b.switch_to_block(some);
                self.e.b.ins().brif(other, part, &[], yes, &[]);
                self.e.b.switch_to_block(part);
                self.leave(Leave::Part, id);
            }
            Condition::None => {
                self.e.b.ins().jump(yes, &[]);
                self.e.b.switch_to_block(no);
                self.leave(Leave::Done, id);
                self.e.b.switch_to_block(yes);
                return match taken {
                    Some(taken) => self.go(cells, id, taken, Leave::Fault),
                    None => self.leave(Leave::Done, id),
                };
            }
        }
        self.e.b.switch_to_block(yes);
        match taken {
            Some(taken) => self.go(cells, id, taken, Leave::Fault),
            None => self.leave(Leave::Done, id),
        }
        self.e.b.switch_to_block(no);
        self.go(cells, id, fall, Leave::FaultFall);
    }

    /// Emits the edge to a target for all items.
    fn go(&mut self, cells: &Cells, from: BlockId, target: Target, fault: Leave) {
        let Target::Block { id: to, backward } = target else { return self.leave(fault, from) };
        for cell in self.flow.live.iter(to) {
            if !self.flow.shape_before(to, cell).is_varying() {
                continue;
            }
            match self.flow.shape_after(from, cell) {
                Shape::Varying => {}
                shape => self.e.spread(cell, cells.is_pred(cell), shape),
            }
        }
        if backward {
            let headroom = self.e.field(I64, Field::Headroom);
            let (more, spent) = (self.e.b.create_block(), self.e.b.create_block());
            let none: Value = self.e.b.ins().icmp_imm_s(IntCC::Equal, headroom, 0);
            self.e.b.set_cold_block(spent);
            self.e.b.ins().brif(none, spent, &[], more, &[]);
            self.e.b.switch_to_block(spent);
            self.leave(Leave::Budget, from);
            self.e.b.switch_to_block(more);
            let left = self.e.b.ins().iadd_imm_s(headroom, -1);
            self.e.set_field(Field::Headroom, left);
        }
        if to < self.first {
            return self.leave(Leave::Go, to);
        }
        let label = self.label(to);
        self.e.b.ins().jump(label, &[]);
    }
}
