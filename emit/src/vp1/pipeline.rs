//! Software pipelining of loops with one block.
//!
//! With an initiation interval of n bundles, stage s of an iteration begins n * s bundles after its start. The kernel
//! of the pipelined loop executes stage 0 of an iteration together with stage 1 of the iteration before it, and so on.
//! A prologue of several intervals precedes the kernel, and each of them starts one more iteration. In each interval,
//! the exit test may end the loop. An epilogue then completes the iterations that have started. The trip count need not
//! be known: a loop with one iteration only executes the stages of this iteration.

use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::Inst;
use halfbyte_isa::vp1::fields::R_ZERO;
use halfbyte_isa::vp1::footprint::Locations;

use super::modulo::{Loop, Times};
use super::op::{Label, Op};
use super::pairs::Pairs;
use super::schedule::Members;
use super::values::{Value, Values};

/// Maximum number of operations in a loop that is pipelined.
const MAX_OPS: usize = 400;

/// A software-pipelined loop.
pub(crate) struct Pipelined {
    /// Operations of the loop. The back branch is the last one.
    pub ops: Vec<Op>,
    /// Lower bound of the initiation interval.
    pub bound: u32,
    times: Times,
}

/// Part of a pipelined loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PipelinePart {
    /// Interval of the prologue that starts the iteration with this number while earlier iterations continue.
    Start(u32),
    /// Interval of the steady state, which is the loop itself.
    Kernel,
    /// Epilogue that completes the started iterations after the loop ends in the prologue interval
    /// with this number. If the number equals the number of prologue intervals, the loop ends in
    /// the kernel.
    End(u32),
}

/// Returns `true` if a block, given without its final jump, is a loop that may be pipelined: it
/// ends in a conditional branch to itself.
pub(crate) fn is_loop(block: &[Op], label: Label) -> bool {
    let Some((branch, body)) = block.split_last() else { return false };
    let back = branch.target == Some(label) && !branch.is_final() && branch.has_no_effect();
    back && block.len() <= MAX_OPS && !body.iter().any(Op::is_control)
}

/// Pipelines a loop whose last operation is the back branch. Returns `None` if no initiation interval below `bundles`
/// is found. `live` are the locations that are live after the loop, and `zero` is an `$a` register that holds 0.
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
        // For a long loop, the interval grows in larger steps, because the search for the minimum would take too long.
        interval += 1 + interval / 16;
    }
    None
}

/// Renames registers such that no iteration overwrites a live value of an overlapping iteration.
/// Returns `None` if there are too few registers.
fn rename(block: &[Op], values: &Values, live: Locations, times: &Times, zero: Option<u8>) -> Option<Vec<Op>> {
    let interval = times.interval as usize;
    // For each location, `true` for each bundle of the interval in which the location is in use.
    let mut taken = vec![vec![false; interval]; Locations::LOCATION_LIMIT];
    let spans: Vec<(usize, usize)> = values.values.iter().map(|value| span(value, times)).collect();
    let rows = |value: u32| {
        let (start, length) = spans.get(value as usize).copied().unwrap_or_default();
        (start..start + length).map(move |time| time % interval)
    };
    // A location that is live after the loop cannot be used. The same is true for `$r31`, which always reads as 0.
    for place in live.union(Locations::register(RegFile::R, R_ZERO)).numbers() {
        taken.get_mut(usize::from(place)).into_iter().for_each(|rows| rows.fill(true));
    }
    let fixed = values.clusters.iter().filter(|cluster| cluster.step.is_none()).flat_map(|cluster| &cluster.values);
    for &value in fixed {
        let place = values.values.get(value as usize)?.place;
        for row in rows(value) {
            *taken.get_mut(usize::from(place))?.get_mut(row)? = true;
        }
    }
    // Clusters that can be in the fewest registers are assigned first.
    let mut order: Vec<(usize, u8)> =
        values.clusters.iter().enumerate().filter_map(|(index, cluster)| Some((index, cluster.step?))).collect();
    order.sort_by_key(|&(index, step)| (std::cmp::Reverse(step), index));
    let mut moves = vec![0i8; values.clusters.len()];
    for (index, step) in order {
        let cluster = values.clusters.get(index)?;
        let place = |value: u32, by: i8| Locations::offset_by(values.values.get(value as usize)?.place, by);
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
    // Operations with other registers may use other register ports, so their bundles are checked again.
    let pairs = Pairs::new(&ops);
    let fits = (0..times.interval).all(|row| is_bundle(&pairs, times, row));
    fits.then_some(ops)
}

/// Returns the bundle in which a value is defined, and the number of bundles until its last use.
fn span(value: &Value, times: &Times) -> (usize, usize) {
    let time = |op: u32| times.times.get(op as usize).copied().unwrap_or(0);
    let interval = times.interval as usize;
    match value.def {
        // An unused value needs no register. A value that is defined before the loop, or that is
        // carried to the next iteration, occupies its register in all bundles.
        None if value.uses.is_empty() => (0, 0),
        None => (0, interval),
        Some(def) if value.carried => (time(def) as usize, interval),
        Some(def) => {
            let last = value.uses.iter().map(|&(op, _)| time(op)).max().unwrap_or(0);
            (time(def) as usize, last.saturating_sub(time(def)).max(1) as usize)
        }
    }
}

/// Returns `true` if the operations that execute in one row of the interval, of all stages, can share a bundle.
fn is_bundle(pairs: &Pairs<'_>, times: &Times, row: u32) -> bool {
    let mut members = Members::new();
    at(times, row, |_| true).all(|op| pairs.fits(&members, op) && members.try_push(op).is_ok())
}

/// Returns the operations that execute in one row of the interval and whose stage satisfies `stage`.
fn at(times: &Times, row: u32, stage: impl Fn(u32) -> bool) -> impl Iterator<Item = u32> {
    let all = (0..).zip(&times.times);
    all.filter(move |(_, time)| *time % times.interval == row && stage(*time / times.interval)).map(|(op, _)| op)
}

impl Pipelined {
    /// Returns the initiation interval in bundles.
    pub(super) fn interval(&self) -> u32 {
        self.times.interval
    }

    /// Returns the number of intervals in the prologue, which equals the index of the last stage.
    pub(super) fn starts(&self) -> u32 {
        let last = self.times.times.iter().max().copied().unwrap_or(0);
        last / self.times.interval
    }

    /// Returns the stage that ends with the back branch. It is also the number of the first
    /// prologue interval with a branch.
    pub(super) fn decides(&self) -> u32 {
        self.times.times.last().map_or(0, |time| time / self.times.interval)
    }

    /// Returns `true` if the prologue must continue by backward branches. A launch counts backward branches, so a
    /// pipelined loop must take as many of them as the original loop. Only the loop over groups is not counted.
    pub(super) fn counts(&self) -> bool {
        let group = self.ops.last().is_some_and(|branch| branch.group);
        !group && self.starts() > self.decides()
    }

    /// Returns the parts of the loop in layout order. An exit from the loop is a forward branch. If branches are
    /// counted, a prologue interval is placed after the part to which it branches backward.
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

    /// Returns the operations of each bundle of a part.
    pub(super) fn bundles(&self, part: PipelinePart) -> Vec<Members> {
        let (starts, decides) = (self.starts(), self.decides());
        match part {
            // A prologue interval without a branch needs no bundle for the delay slot.
            PipelinePart::Start(number) => self.stages(0, number, number >= decides),
            PipelinePart::Kernel => self.stages(0, starts, true),
            // The last iteration has executed the stage with the exit test. Each earlier iteration
            // is one stage further than the next one.
            PipelinePart::End(number) => {
                let older = number.saturating_sub(decides);
                let ends =
                    (decides + 1..=starts).flat_map(|stage| self.stages(stage, starts.min(stage + older), false));
                ends.collect()
            }
        }
    }

    /// Returns the bundles of one interval, with the operations of the stages `first..=last`. If
    /// `keep_empty`, empty bundles are included.
    fn stages(&self, first: u32, last: u32, keep_empty: bool) -> Vec<Members> {
        let bundle = |row| at(&self.times, row, |stage| (first..=last).contains(&stage)).collect::<Members>();
        let bundles = (0..self.times.interval).map(bundle);
        bundles.filter(|bundle| keep_empty || !bundle.is_empty()).collect()
    }
}
