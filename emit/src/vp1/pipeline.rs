//! Software pipelining: loops of one block whose iterations overlap.
//!
//! With an interval of n bundles, stage s of an iteration is its bundles from n * s on. The loop itself, the kernel, runs stage 0 of
//! one iteration together with stage 1 of the one before, and so on. Before it the first iterations start, one an interval; each
//! time one may find that it is the last, and then those under way are finished. Trips need not be counted, then: a loop of one
//! iteration runs through the stages of that one.

use halfbyte_isa::vp1::Inst;
use halfbyte_isa::vp1::footprint::Locations;
use halfbyte_isel::mach::BlockIndex;

use super::modulo::{Loop, Times};
use super::op::Op;
use super::pairs::Pairs;
use super::schedule::Members;
use super::values::{Value, Values};

/// More operations are not scheduled as one loop.
const MAX_OPS: usize = 400;

/// A loop whose iterations overlap.
pub(crate) struct Pipelined {
    /// The operations, the branch back last.
    pub ops: Vec<Op>,
    /// Bundles from iteration to iteration.
    pub interval: u32,
    /// The fewest that there could be.
    pub bound: u32,
    /// The code, the kernel included.
    pub parts: Vec<Part>,
}

/// A run of bundles of a pipelined loop.
pub(crate) struct Part {
    /// What it is.
    pub kind: Kind,
    /// What each bundle holds.
    pub bundles: Vec<Members>,
}

/// What part of a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// An iteration starts; if it is the last that is wanted, control goes to the end of this number.
    Start(Option<u32>),
    /// The loop. What follows it is the end that comes next.
    Kernel,
    /// What is under way is finished. One with a number is gone to, and goes to what follows the loop.
    End(Option<u32>),
}

/// Pipelines a block that branches to itself, if that takes fewer than `bundles` an iteration. `live` is what is wanted after it;
/// `zero` an `$a` that holds 0.
pub(crate) fn pipeline(
    block: &[Op],
    label: BlockIndex,
    live: Locations,
    bundles: u32,
    zero: Option<u8>,
) -> Option<Pipelined> {
    let [.., branch] = block else { return None };
    if block.len() > MAX_OPS || branch.target != Some(label) || branch.is_final() || !branch.has_no_effect() {
        return None;
    }
    let values = Values::of_loop(block, live);
    let looped = Loop::new(block, &values, live)?;
    for interval in looped.least..bundles {
        let mut renamed = None;
        let accept = |times: &Times| {
            renamed = rename(block, &values, live, times, zero);
            renamed.is_some()
        };
        if let Some(times) = looped.schedule(interval, accept) {
            let ops = renamed?;
            let parts = parts(&ops, &times);
            return Some(Pipelined { ops, interval, bound: looped.least, parts });
        }
    }
    None
}

/// The operations with registers such that no value is overwritten too soon; none if there are not enough.
fn rename(block: &[Op], values: &Values, live: Locations, times: &Times, zero: Option<u8>) -> Option<Vec<Op>> {
    let interval = times.interval as usize;
    // For each place in which bundles of the interval it is taken.
    let mut taken = vec![vec![false; interval]; Locations::PLACES];
    let spans: Vec<(usize, usize)> = values.values.iter().map(|value| span(value, times)).collect();
    let rows = |value: u32| {
        let (start, length) = spans.get(value as usize).copied().unwrap_or_default();
        (start..start + length).map(move |time| time % interval)
    };
    for place in live.places() {
        taken.get_mut(usize::from(place)).into_iter().for_each(|rows| rows.fill(true));
    }
    let fixed = values.clusters.iter().filter(|cluster| cluster.step.is_none()).flat_map(|cluster| &cluster.values);
    for &value in fixed {
        let place = values.values.get(value as usize)?.place;
        for row in rows(value) {
            *taken.get_mut(usize::from(place))?.get_mut(row)? = true;
        }
    }
    // Those that have the least choice first.
    let mut order: Vec<(usize, u8)> =
        values.clusters.iter().enumerate().filter_map(|(index, cluster)| Some((index, cluster.step?))).collect();
    order.sort_by_key(|&(index, step)| (std::cmp::Reverse(step), index));
    let mut moves = vec![0i8; values.clusters.len()];
    for (index, step) in order {
        let cluster = values.clusters.get(index)?;
        let place = |value: u32, by: i8| Locations::moved(values.values.get(value as usize)?.place, by);
        let free = |by: &i8, taken: &[Vec<bool>]| {
            cluster.values.iter().all(|&value| {
                place(value, *by)
                    .and_then(|place| taken.get(usize::from(place)))
                    .is_some_and(|place| rows(value).all(|row| place.get(row) == Some(&false)))
            })
        };
        let by = (0..32).flat_map(|n| [n, -n]).map(|n| n * step as i8).find(|by| free(by, &taken))?;
        for &value in &cluster.values {
            let place = place(value, by)?;
            for row in rows(value) {
                *taken.get_mut(usize::from(place))?.get_mut(row)? = true;
            }
        }
        *moves.get_mut(index)? = by;
    }
    let mut insts: Vec<Vec<Inst>> = block.iter().map(|op| op.insts().collect()).collect();
    for name in &values.names {
        let by = *moves.get(name.cluster as usize)?;
        let inst = insts.get_mut(name.op as usize)?.get_mut(name.inst)?;
        inst.set(name.field, inst.get(name.field).wrapping_add_signed(by.into()));
    }
    let ops: Vec<Op> = block.iter().zip(&insts).map(|(op, insts)| op.with_insts(insts, zero)).collect::<Option<_>>()?;
    // Ports may be other ones now.
    let pairs = Pairs::new(&ops);
    let fits = (0..times.interval).all(|row| is_bundle(&pairs, times, row));
    fits.then_some(ops)
}

/// The bundle in which a value is made, and how many there are until it is last used.
fn span(value: &Value, times: &Times) -> (usize, usize) {
    let time = |op: u32| times.times.get(op as usize).copied().unwrap_or(0);
    let interval = times.interval as usize;
    match value.def {
        // What comes from before the loop stays, and what goes on to the next iteration never leaves room for another.
        None if value.uses.is_empty() => (0, 0),
        None => (0, interval),
        Some(def) if value.carried => (time(def) as usize, interval),
        Some(def) => {
            let last = value.uses.iter().map(|&(op, _)| time(op)).max().unwrap_or(0);
            (time(def) as usize, last.saturating_sub(time(def)).max(1) as usize)
        }
    }
}

/// Whether the operations of all stages in a bundle of the interval can be in one.
fn is_bundle(pairs: &Pairs<'_>, times: &Times, row: u32) -> bool {
    let mut members = Members::new();
    at(times, row, |_| true).all(|op| pairs.fits(&members, op) && members.try_push(op).is_ok())
}

/// The operations of some stages in a bundle of the interval.
fn at(times: &Times, row: u32, stage: impl Fn(u32) -> bool) -> impl Iterator<Item = u32> {
    let all = (0..).zip(&times.times);
    all.filter(move |(_, time)| *time % times.interval == row && stage(*time / times.interval)).map(|(op, _)| op)
}

/// The code of a loop.
fn parts(ops: &[Op], times: &Times) -> Vec<Part> {
    let last = times.times.iter().max().map_or(0, |time| time / times.interval);
    let branch = ops.len() as u32 - 1;
    // The stage at the end of which it is known whether there is another iteration.
    let known = times.times.last().map_or(0, |time| time / times.interval);
    let interval = |stages: std::ops::RangeInclusive<u32>, keep_empty: bool| {
        let rows =
            (0..times.interval).map(move |row| at(times, row, |stage| stages.contains(&stage)).collect::<Members>());
        rows.filter(move |bundle| keep_empty || !bundle.is_empty()).collect::<Vec<_>>()
    };
    let mut parts = Vec::new();
    for start in 0..last {
        // An interval without a branch has no delay slot that must be there.
        let exit = (start >= known).then_some(start);
        parts.push(Part { kind: Kind::Start(exit), bundles: interval(0..=start, exit.is_some()) });
    }
    parts.push(Part { kind: Kind::Kernel, bundles: interval(0..=last, true) });
    // The iteration that is the last has stage `known` behind it, and the one before it one stage more, as far as they go back.
    for start in (known..=last).rev() {
        let mut bundles = Vec::new();
        for stage in known + 1..=last {
            let oldest = last.min(stage + (start - known));
            bundles.extend(interval(stage..=oldest, false));
        }
        bundles.iter_mut().for_each(|bundle: &mut Members| bundle.retain(|op| *op != branch));
        parts.push(Part { kind: Kind::End((start < last).then_some(start)), bundles });
    }
    parts
}
