//! Packing: vectorises a kernel over neighbouring work items, for targets whose items share vectors.
//!
//! If the addresses of a load or store are affine and known at launch ([`affine`], [`trips`]), the access becomes a
//! stream ([`memory`]): the runtime copies the accessed elements into or out of the data store. Otherwise the runtime
//! copies the whole buffer into the data store, as a window in which the kernel computes addresses. A window is also
//! used if the accesses to a buffer must keep their order ([`order`]).
//!
//! Divergent control flow ([`uniformity`]) is converted to selects and guards ([`if_convert`]). The resulting code is
//! executed for all items of a group ([`vectorise`]): ops on bytes are executed on vectors, all other ops item by item.
//! A uniform value is computed once.
//!
//! If a kernel cannot be packed, the pass reports the reasons to the context and leaves the kernel unchanged.

mod affine;
mod code;
mod if_convert;
mod invariants;
mod masks;
mod memory;
mod order;
mod region;
mod streams;
mod trips;
mod uniformity;
mod values;
mod vectorise;
mod wide_lanes;

use cranelift_entity::{EntityRef, EntitySet};
use halfbyte_abi::Poll;
use halfbyte_ir::{
    Array, Axis, Block, Effect, Flow, Inst, Kernel, Lanes, Op, ParamKind, Reason, Refusal, Type, Value, ValueDef,
};

use crate::pass::{BuiltIn, Context, Order};
use crate::passes::loops::{Loops, UnsupportedLoop};
use crate::passes::switch;
use crate::trace::{Report, traced_insts};

use affine::AffineAnalysis;
use if_convert::{Analyses, Converted, Count, convert};
use invariants::hoist;
use memory::{Access, NO_BUFFER, accesses, refusal};
use streams::ConvertedKernel;
use trips::{counted, counts_alike};
use uniformity::{Regions, Uniformity, Varying};
use vectorise::{check_streams, vectorise};

/// The `pack` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "pack",
    description: "vectorises a kernel over work items, on targets whose items share vectors",
    order: &[(Order::Before("legalise"), "operations item by item may need expanding")],
    run,
};

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let lanes = context.legality.lanes().filter(|lanes| lanes.vector == Type::I8X16);
    let Some(lanes) = lanes.filter(|_| kernel.packing.is_none()) else { return false };
    let has_wide_lanes = context.legality.narrowings().is_some();
    match packed(kernel, lanes, has_wide_lanes, context.legality.target(), context.poll()) {
        Ok(packed) => {
            let before = traced_insts(context.trace.as_ref(), kernel);
            *kernel = packed;
            context.trace.packed(before, kernel);
            true
        }
        Err(refusals) => {
            context.refuse(refusals);
            false
        }
    }
}

fn packed(
    kernel: &Kernel,
    lanes: Lanes,
    has_wide_lanes: bool,
    target: &'static str,
    poll: Poll<'_>,
) -> Result<Kernel, Vec<Refusal>> {
    let mut source = kernel.clone();
    switch::expand(&mut source);
    check(&source, target)?;
    let flow = Flow::new(&source);
    let loops = Loops::new(&source, &flow).map_err(|found| unsupported_loop_refusal(&source, &found, target))?;
    hoist(&mut source, &flow, &loops);
    let (converted, accesses, varying) = converted(&source, &flow, &loops, lanes, target, poll)?;
    let kernel = &converted.kernel;
    let stored = stored_buffers(kernel);
    let varying_load = |inst| varying.contains(inst) || reads_any(kernel, inst, &stored);
    let uniformity = &Uniformity::without_branches(kernel, &Flow::new(kernel), &varying_load);
    let packed = ConvertedKernel { kernel, accesses: &accesses, uniformity, gates: &converted.gates };
    vectorise(packed, lanes, has_wide_lanes, target)
}

/// Refuses the ops and arrays that a packed kernel does not support.
fn check(kernel: &Kernel, target: &'static str) -> Result<(), Vec<Refusal>> {
    let refused = |array: &Array| {
        let why = format!("this target has no `{}` memory", array.space);
        let reason = Reason::from(why).help("use a buffer, or `--target halu` or `--target ptx`");
        Refusal { op: None, span: array.span, target, reason: Some(reason) }
    };
    let mut refusals: Vec<Refusal> = kernel.arrays.iter().map(refused).collect();
    let is_array = |value: Value| matches!(kernel.values.get(value).map(|value| value.def), Some(ValueDef::Array(_)));
    let is_buffer = |value: Value| kernel.param(value).is_some_and(|p| matches!(p.kind, ParamKind::Buffer { .. }));
    for &block in &kernel.layout {
        for &inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[inst];
            let mut refuse = |reason: Reason| refusals.push(refusal(kernel, inst, target, reason));
            let base = match data.op.row().effect {
                Effect::Read => Some(0),
                Effect::Write => Some(1),
                _ => None,
            };
            let targets = kernel.targets(inst).iter().flat_map(|call| kernel.call_args(call));
            let mut args = kernel.args(inst).iter().chain(targets).enumerate();
            if data.op.orders_memory() {
                refuse(Reason::with_help(
                    "work items cannot synchronise on this target",
                    "remove the synchronisation; `--target halu` and `--target ptx` support cooperative kernels",
                ));
            } else if data.op.tells_group() {
                refuse(Reason::with_help(
                    "this target has no groups of work items",
                    "use `item_id` and `item_count`; `--target halu` and `--target ptx` have groups",
                ));
            } else if let Some(axis @ (Axis::Y | Axis::Z)) = data.attr.axis() {
                let reason =
                    format!("launches of this target are one-dimensional, so there is no `{}.{axis}`", data.op.name());
                refuse(Reason::from(reason).help(
                    "compute row and column from `item_id` and a row length parameter; `--target halu` and `--target ptx` support several axes",
                ));
            } else if base.is_some_and(|base| kernel.args(inst).get(base).is_some_and(|&base| is_array(base))) {
                // An access to an array needs no refusal of its own, because the array has already been refused.
            } else if base.is_some_and(|base| !kernel.args(inst).get(base).is_some_and(|&base| is_buffer(base))) {
                refuse(NO_BUFFER);
            } else if data.op == Op::Store
                && let Some(param) = base.and_then(|base| kernel.param(*kernel.args(inst).get(base)?))
                && kernel.may_overlap(param)
            {
                let reason = format!(
                    "`%{}` may overlap another buffer, but this target copies each buffer separately",
                    param.name
                );
                refuse(Reason::from(reason).help(
                    "remove `may_alias` if the arguments do not overlap; `--target halu` and `--target ptx` support overlapping buffers",
                ));
            } else if kernel.result(inst).is_some_and(|result| kernel.ty(result) == Type::PTR)
                || args.any(|(number, &arg)| Some(number) != base && kernel.ty(arg) == Type::PTR)
            {
                refuse(Reason::with_help(
                    "this target copies buffers in pieces, so a buffer has no address",
                    "access the buffer by its parameter and an index: `%x[%i + 8]`",
                ));
            }
        }
    }
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

fn unsupported_loop_refusal(kernel: &Kernel, strange: &UnsupportedLoop, target: &'static str) -> Vec<Refusal> {
    let (block, reason) = match *strange {
        UnsupportedLoop::Irreducible(block) => (
            block,
            Reason::with_help(
                "the loop has several entries (irreducible control flow)",
                "branch to the same block from outside the loop",
            ),
        ),
        UnsupportedLoop::Endless(block) => {
            (block, Reason::with_help("the loop has no exit", "add an exit: `br_if %c, ^again, ^done`"))
        }
    };
    let span = kernel.blocks[block].span;
    vec![Refusal { op: None, span, target, reason: Some(reason) }]
}

/// Converts divergent control flow. Returns the converted kernel, its accesses, and the loads that
/// are divergent although their address is uniform, because not all items execute them.
///
/// # Errors
/// The refusals of the kernel. The list is empty if the watchdog stopped the compilation.
fn converted(
    source: &Kernel,
    flow: &Flow,
    loops: &Loops,
    lanes: Lanes,
    target: &'static str,
    mut poll: Poll<'_>,
) -> Result<(Converted, Vec<Access>, EntitySet<Inst>), Vec<Refusal>> {
    let regions = Regions::new(source, flow, loops);
    let sums = AffineAnalysis::new(source, flow, loops);
    let mut counted: Vec<_> = loops.ids().map(|id| counted(source, flow, loops, &sums, id)).collect();
    let stored = stored_buffers(source);
    let mut varying = Varying::default();
    let mut converted = loop {
        if poll.is_stopped_after(source.insts.len()) {
            return Err(Vec::new());
        }
        let varying_load = |inst| varying.loads.contains(inst) || reads_any(source, inst, &stored);
        let uniformity = Uniformity::new(source, flow, loops, &regions, &varying, &varying_load);
        let (kernel, regions, sums, uniformity) = (source, &regions, &sums, &uniformity);
        let converted = convert(Analyses { kernel, flow, loops, regions, uniformity, sums, counted: &counted });
        // The conversion can itself make values divergent, so it is repeated until a fixpoint.
        let (loads, branches) = find_new_divergence(&converted, &varying_load);
        let mut settled = true;
        for load in loads {
            settled &= !varying.loads.insert(load);
        }
        for block in branches {
            settled &= !varying.branches.insert(block);
        }
        for &id in &converted.masked {
            if !varying.loops.contains(&id) {
                varying.loops.push(id);
                settled = false;
            }
        }
        if !settled {
            continue;
        }
        let miscounted = miscounted(&converted, target)?;
        for count in &miscounted {
            if let Some(ways) = counted.get_mut(count.id.index()) {
                ways.retain(|way| way.leaving != count.by.leaving);
            }
        }
        if miscounted.is_empty() {
            break converted;
        }
    };
    let kernel = &converted.kernel;
    let flow = Flow::new(kernel);
    let loops = Loops::new(kernel, &flow).map_err(|found| unsupported_loop_refusal(source, &found, target))?;
    let sums = AffineAnalysis::new(kernel, &flow, &loops);
    let mut windows = Vec::new();
    let mut found = accesses(kernel, &converted.sites, &sums, &mut windows, target)?;
    let ordered = order::ordered(&found);
    if !ordered.is_empty() {
        windows.extend(ordered);
        // If a buffer cannot have a window, `settle` refuses its accesses below.
        found = accesses(kernel, &converted.sites, &sums, &mut windows, target).unwrap_or(found);
    }
    let mut accesses = found;
    // Every store needs a stream. The number of streams for loads is checked later.
    check_streams(kernel, accesses.iter().filter(|access| access.stores), |_| false, lanes, target)?;
    order::settle(&mut converted.kernel, &mut accesses, target)?;
    Ok((converted, accesses, varying.loads))
}

/// Returns the loads whose guard is divergent, and the blocks of the source whose branches were not
/// converted but now depend on a divergent value. A uniform value becomes divergent if it merges
/// with the values of items that skip its block.
fn find_new_divergence(converted: &Converted, varying_load: &dyn Fn(Inst) -> bool) -> (Vec<Inst>, Vec<Block>) {
    let kernel = &converted.kernel;
    let uniformity = Uniformity::without_branches(kernel, &Flow::new(kernel), varying_load);
    let loads = converted.sites.iter().filter(|site| kernel.insts[site.inst].op == Op::Load);
    let loads = loads.filter(|site| site.guard.is_some_and(|guard| uniformity.varies(guard))).map(|site| site.inst);
    let branches = converted.unconverted_branches.iter().filter(|&&(_, now)| {
        kernel.terminator(now).is_some_and(|inst| kernel.args(inst).iter().any(|&arg| uniformity.varies(arg)))
    });
    (loads.collect(), branches.map(|&(block, _)| block).collect())
}

/// Returns the loops whose trip count in the converted kernel differs from the trip count in the source. The bound of
/// such a loop is computed in an earlier loop that items leave in different iterations. Items that never enter the
/// earlier loop have another bound.
fn miscounted<'a>(converted: &'a Converted, target: &'static str) -> Result<Vec<&'a Count>, Vec<Refusal>> {
    if converted.counts.is_empty() {
        return Ok(Vec::new());
    }
    let kernel = &converted.kernel;
    let flow = Flow::new(kernel);
    let loops = Loops::new(kernel, &flow).map_err(|found| unsupported_loop_refusal(kernel, &found, target))?;
    let sums = AffineAnalysis::new(kernel, &flow, &loops);
    let differs = |count: &&Count| !counts_alike(kernel, &loops, &sums, count.test, &count.by);
    Ok(converted.counts.iter().filter(differs).collect())
}

/// Returns the base addresses of the buffers to which a kernel stores.
fn stored_buffers(kernel: &Kernel) -> EntitySet<Value> {
    let insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    let stores = insts.filter(|&&inst| kernel.insts[inst].op == Op::Store);
    let mut buffers = EntitySet::new();
    buffers.extend(stores.filter_map(|&inst| kernel.args(inst).get(1).copied()));
    buffers
}

fn reads_any(kernel: &Kernel, load: Inst, buffers: &EntitySet<Value>) -> bool {
    kernel.args(load).first().is_some_and(|&base| buffers.contains(base))
}
