//! Software pipelining: loops of one block whose iterations overlap.
//!
//! With an interval of n bundles, stage s of an iteration is its bundles from n * s on. The loop itself, the kernel, runs stage 0 of
//! one iteration together with stage 1 of the one before, and so on. Before it the first iterations start, one an interval; each
//! time one may find that it is the last, and then those under way are finished. Trips need not be counted, then: a loop of one
//! iteration runs through the stages of that one.

use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::Inst;
use halfbyte_isa::vp1::fields::R_ZERO;
use halfbyte_isa::vp1::footprint::Locations;

use super::modulo::{Loop, Times};
use super::op::{Label, Op};
use super::pairs::Pairs;
use super::schedule::Members;
use super::values::{Value, Values};

/// More operations are not scheduled as one loop.
const MAX_OPS: usize = 400;

/// A loop whose iterations overlap.
pub(crate) struct Pipelined {
    /// The operations, the branch back last.
    pub ops: Vec<Op>,
    /// The fewest bundles from iteration to iteration that there could be.
    pub bound: u32,
    times: Times,
}

/// A part of a pipelined loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// An interval in which one more iteration starts, of this number, while those before it go on.
    Start(u32),
    /// The interval that is the loop.
    Kernel,
    /// What is left to do when, after the start of this number, the iteration whose branch was then is the last. The number after
    /// that of the last start stands for the kernel.
    End(u32),
}

/// Whether a block without the jump at its end is a loop that may be pipelined: it branches to itself, or goes on.
pub(crate) fn is_loop(block: &[Op], label: Label) -> bool {
    let Some((branch, body)) = block.split_last() else { return false };
    let back = branch.target == Some(label) && !branch.is_final() && branch.has_no_effect();
    back && block.len() <= MAX_OPS && !body.iter().any(Op::is_control)
}

/// Pipelines a loop, the branch back last, if that takes fewer than `bundles` an iteration. `live` is what is wanted after it;
/// `zero` an `$a` that holds 0.
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
        // What is hard to fit is not worth the search for the very least.
        interval += 1 + interval / 16;
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
    // What is wanted after the loop, and `$r31`, which holds nothing.
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
    let renamed = |(op, insts): (&Op, &Vec<Inst>)| match op.insts().eq(insts.iter().copied()) {
        true => Some(op.clone()),
        false => op.with_insts(insts, zero),
    };
    let ops: Vec<Op> = block.iter().zip(&insts).map(renamed).collect::<Option<_>>()?;
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

impl Pipelined {
    /// Bundles from iteration to iteration.
    pub fn interval(&self) -> u32 {
        self.times.interval
    }

    /// How many starts there are before the kernel: the number of an iteration's last stage.
    pub fn starts(&self) -> u32 {
        let last = self.times.times.iter().max().copied().unwrap_or(0);
        last / self.times.interval
    }

    /// The stage at the end of which an iteration finds whether there is another one. It is also the number of the first start with
    /// a branch.
    pub fn decides(&self) -> u32 {
        self.times.times.last().map_or(0, |time| time / self.times.interval)
    }

    /// Whether there is one taken branch backward for each iteration but the last, as in the loop that it was made of: a launch
    /// counts them. Those of the loop over all groups count for nothing.
    pub fn counts(&self) -> bool {
        let group = self.ops.last().is_some_and(|branch| branch.group);
        !group && self.starts() > self.decides()
    }

    /// The parts in the order in which they lie. What ends the loop goes forward; what goes on goes backward if that is to count,
    /// and then starts lie after the parts that they go to.
    pub fn order(&self) -> Vec<Part> {
        let (starts, decides) = (self.starts(), self.decides());
        let mut order = Vec::new();
        if self.counts() {
            order.extend([Part::Kernel, Part::End(starts)]);
            order.extend((decides + 1..starts).rev().flat_map(|number| [Part::Start(number), Part::End(number)]));
            order.extend((0..=decides).map(Part::Start));
            order.push(Part::End(decides));
        } else {
            order.extend((0..starts).map(Part::Start));
            order.push(Part::Kernel);
            order.extend((decides..=starts).rev().map(Part::End));
        }
        order
    }

    /// What the bundles of a part hold.
    pub fn bundles(&self, part: Part) -> Vec<Members> {
        let (starts, decides) = (self.starts(), self.decides());
        match part {
            // What has no branch needs no bundle for a delay slot.
            Part::Start(number) => self.stages(0, number, number >= decides),
            Part::Kernel => self.stages(0, starts, true),
            // The last iteration has decided, and the one before it is one stage further, as far back as there are any.
            Part::End(number) => {
                let older = number.saturating_sub(decides);
                let ends =
                    (decides + 1..=starts).flat_map(|stage| self.stages(stage, starts.min(stage + older), false));
                ends.collect()
            }
        }
    }

    /// An interval of the operations from one stage to another, with or without the bundles that have none.
    fn stages(&self, first: u32, last: u32, keep_empty: bool) -> Vec<Members> {
        let bundle = |row| at(&self.times, row, |stage| (first..=last).contains(&stage)).collect::<Members>();
        let bundles = (0..self.times.interval).map(bundle);
        bundles.filter(|bundle| keep_empty || !bundle.is_empty()).collect()
    }
}
