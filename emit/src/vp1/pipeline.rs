//! Software pipelining of single-block loops.
//!
//! With an initiation interval of n bundles, stage s of an iteration begins at its bundle n * s.
//! The kernel, the steady state, runs stage 0 of one iteration together with stage 1 of the
//! previous one, and so on. Before the kernel, each start interval starts one more iteration. Any
//! interval may find that its iteration is the last; an epilogue then completes the iterations in
//! flight. The trip count need not be known: a loop of one iteration runs only the stages of that
//! iteration.

use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::Inst;
use halfbyte_isa::vp1::fields::R_ZERO;
use halfbyte_isa::vp1::footprint::Locations;

use super::modulo::{Loop, Times};
use super::op::{Label, Op};
use super::pairs::Pairs;
use super::schedule::Members;
use super::values::{Value, Values};

/// Maximum number of operations of a pipelined loop.
const MAX_OPS: usize = 400;

/// A software-pipelined loop.
pub(crate) struct Pipelined {
    /// Operations, with the back branch last.
    pub ops: Vec<Op>,
    /// Lower bound of the initiation interval.
    pub bound: u32,
    times: Times,
}

/// Part of a pipelined loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PipelinePart {
    /// Prologue interval that starts the iteration of this number while earlier iterations
    /// continue.
    Start(u32),
    /// Steady-state interval, which is the loop itself.
    Kernel,
    /// Epilogue that completes the iterations in flight when the loop ends in the start interval of
    /// this number. The number after the last start stands for the kernel.
    End(u32),
}

/// Returns `true` if a block without its final jump is a loop that may be pipelined. Such a block
/// conditionally branches to itself.
pub(crate) fn is_loop(block: &[Op], label: Label) -> bool {
    let Some((branch, body)) = block.split_last() else { return false };
    let back = branch.target == Some(label) && !branch.is_final() && branch.has_no_effect();
    back && block.len() <= MAX_OPS && !body.iter().any(Op::is_control)
}

/// Pipelines a loop whose back branch is last, if the interval is below `bundles`. `live` is live
/// after the loop; `zero` is an `$a` register that holds 0.
pub(crate) fn pipeline(block: &[Op], live: Locations, bundles: u32, zero: Option<u8>) -> Option<Pipelined> {
    let values = Values::of_loop(block, live);
    let mut looped = Loop::new(block, &values, live)?;
    let mut interval = looped.least;
    while interval < bundles {
        let mut renamed = None;
        let accept = |times: &Times| {
            renamed = rename(block, &values, live, times, zero);
            renamed.is_some()
        };
        if let Some(times) = looped.schedule(interval, accept) {
            return Some(Pipelined { ops: renamed?, bound: looped.least, times });
        }
        // The interval grows faster for long loops, for which the minimum is not worth the search.
        interval += 1 + interval / 16;
    }
    None
}

/// Renames registers such that no overlapping iteration overwrites a live value. Returns `None` if
/// there are too few registers.
fn rename(block: &[Op], values: &Values, live: Locations, times: &Times, zero: Option<u8>) -> Option<Vec<Op>> {
    let interval = times.interval as usize;
    // Occupancy of each location in each bundle of the interval.
    let mut taken = vec![vec![false; interval]; Locations::PLACES];
    let spans: Vec<(usize, usize)> = values.values.iter().map(|value| span(value, times)).collect();
    let rows = |value: u32| {
        let (start, length) = spans.get(value as usize).copied().unwrap_or_default();
        (start..start + length).map(move |time| time % interval)
    };
    // Locations that are live after the loop are unavailable, and so is `$r31`, which holds no
    // value.
    for place in live.union(Locations::register(RegFile::R, R_ZERO)).places() {
        taken.get_mut(usize::from(place)).into_iter().for_each(|rows| rows.fill(true));
    }
    let fixed = values.clusters.iter().filter(|cluster| cluster.step.is_none()).flat_map(|cluster| &cluster.values);
    for &value in fixed {
        let place = values.values.get(value as usize)?.place;
        for row in rows(value) {
            *taken.get_mut(usize::from(place))?.get_mut(row)? = true;
        }
    }
    // The clusters with the fewest possible registers come first.
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
    let renamed = |(op, insts): (&Op, &Vec<Inst>)| match op.insts().eq(insts.iter().copied()) {
        true => Some(op.clone()),
        false => op.with_insts(insts, zero),
    };
    let ops: Vec<Op> = block.iter().zip(&insts).map(renamed).collect::<Option<_>>()?;
    // Renamed instructions may use other ports.
    let pairs = Pairs::new(&ops);
    let fits = (0..times.interval).all(|row| is_bundle(&pairs, times, row));
    fits.then_some(ops)
}

/// Returns the bundle of a value's definition, and the number of bundles until its last use.
fn span(value: &Value, times: &Times) -> (usize, usize) {
    let time = |op: u32| times.times.get(op as usize).copied().unwrap_or(0);
    let interval = times.interval as usize;
    match value.def {
        // A value from before the loop keeps its register. So does a value carried to the next
        // iteration.
        None if value.uses.is_empty() => (0, 0),
        None => (0, interval),
        Some(def) if value.carried => (time(def) as usize, interval),
        Some(def) => {
            let last = value.uses.iter().map(|&(op, _)| time(op)).max().unwrap_or(0);
            (time(def) as usize, last.saturating_sub(time(def)).max(1) as usize)
        }
    }
}

/// Returns `true` if the operations of all stages in a row of the interval can share a bundle.
fn is_bundle(pairs: &Pairs<'_>, times: &Times, row: u32) -> bool {
    let mut members = Members::new();
    at(times, row, |_| true).all(|op| pairs.fits(&members, op) && members.try_push(op).is_ok())
}

/// Returns the operations of some stages in a row of the interval.
fn at(times: &Times, row: u32, stage: impl Fn(u32) -> bool) -> impl Iterator<Item = u32> {
    let all = (0..).zip(&times.times);
    all.filter(move |(_, time)| *time % times.interval == row && stage(*time / times.interval)).map(|(op, _)| op)
}

impl Pipelined {
    /// Returns the initiation interval in bundles.
    pub(super) fn interval(&self) -> u32 {
        self.times.interval
    }

    /// Returns the number of start intervals before the kernel, which is the index of an
    /// iteration's last stage.
    pub(super) fn starts(&self) -> u32 {
        let last = self.times.times.iter().max().copied().unwrap_or(0);
        last / self.times.interval
    }

    /// Returns the stage whose end holds the back branch. It is also the number of the first start
    /// interval with a branch.
    pub(super) fn decides(&self) -> u32 {
        self.times.times.last().map_or(0, |time| time / self.times.interval)
    }

    /// Returns `true` if start intervals must continue by backward branches. A launch counts the
    /// taken backward branches, so a pipelined loop takes as many as the original one. The loop
    /// over groups is not counted.
    pub(super) fn counts(&self) -> bool {
        let group = self.ops.last().is_some_and(|branch| branch.group);
        !group && self.starts() > self.decides()
    }

    /// Returns the parts in layout order. Exits from the loop are forward branches. If branches are
    /// counted, start intervals lie after the parts to which they branch backward.
    pub(super) fn order(&self) -> Vec<PipelinePart> {
        let (starts, decides) = (self.starts(), self.decides());
        let mut order = Vec::new();
        if self.counts() {
            order.extend([PipelinePart::Kernel, PipelinePart::End(starts)]);
            order.extend(
                (decides + 1..starts).rev().flat_map(|number| [PipelinePart::Start(number), PipelinePart::End(number)]),
            );
            order.extend((0..=decides).map(PipelinePart::Start));
            order.push(PipelinePart::End(decides));
        } else {
            order.extend((0..starts).map(PipelinePart::Start));
            order.push(PipelinePart::Kernel);
            order.extend((decides..=starts).rev().map(PipelinePart::End));
        }
        order
    }

    /// Returns the bundles of a part.
    pub(super) fn bundles(&self, part: PipelinePart) -> Vec<Members> {
        let (starts, decides) = (self.starts(), self.decides());
        match part {
            // A start interval without a branch needs no bundle for a delay slot.
            PipelinePart::Start(number) => self.stages(0, number, number >= decides),
            PipelinePart::Kernel => self.stages(0, starts, true),
            // The last iteration has passed the stage that decides. Each iteration before it is one
            // stage further.
            PipelinePart::End(number) => {
                let older = number.saturating_sub(decides);
                let ends =
                    (decides + 1..=starts).flat_map(|stage| self.stages(stage, starts.min(stage + older), false));
                ends.collect()
            }
        }
    }

    /// Returns one interval with the operations of the stages `first..=last`, with or without empty
    /// bundles.
    fn stages(&self, first: u32, last: u32, keep_empty: bool) -> Vec<Members> {
        let bundle = |row| at(&self.times, row, |stage| (first..=last).contains(&stage)).collect::<Members>();
        let bundles = (0..self.times.interval).map(bundle);
        bundles.filter(|bundle| keep_empty || !bundle.is_empty()).collect()
    }
}
