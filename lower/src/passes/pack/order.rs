//! Order of accesses to a buffer. A packed kernel's inputs are copied before it runs and its
//! outputs after. A load therefore sees the memory before the launch, and the stores of each store
//! instruction are copied out as a whole. If the source requires another order, the stored value is
//! forwarded to the load, or the access is refused.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Affine, Attr, Inst, Kernel, Op, Reason, Refusal, TripCount, Value};

use super::affine::{as_constant, plus};
use super::memory::{Access, AccessStep, refusal};

/// Returns the buffers whose accesses keep their order only if the kernel itself accesses them in a
/// window.
pub(super) fn ordered(accesses: &[Access]) -> Vec<u32> {
    let mut buffers: Vec<u32> = found(accesses).1.iter().map(|(access, _)| access.buffer).collect();
    buffers.sort_unstable();
    buffers.dedup();
    buffers
}

/// Replaces loads by the values that the same item stored before.
///
/// # Errors
/// Refusals of accesses that may depend on the order in another way.
pub(super) fn settle(
    kernel: &mut Kernel,
    accesses: &mut Vec<Access>,
    target: &'static str,
) -> Result<(), Vec<Refusal>> {
    let (found, wrong) = found(accesses);
    if !wrong.is_empty() {
        let refuse = |(access, reason): (&Access, Reason)| refusal(kernel, access.inst, target, reason);
        return Err(wrong.into_iter().map(refuse).collect());
    }
    if !found.is_empty() {
        forward(kernel, accesses, &found);
    }
    Ok(())
}

/// Loads with the stores that they depend on, and accesses to refuse.
type Found<'a> = (Vec<(Inst, StoredSources)>, Vec<(&'a Access, Reason)>);

/// Returns loads with the stores that they depend on, and the accesses whose order cannot be kept.
fn found(accesses: &[Access]) -> Found<'_> {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    // Accesses in a window keep the program order.
    let at_launch = || accesses.iter().filter(|access| !access.in_window);
    // There are few stores, because each has a stream; there may be many loads.
    let stores: Vec<&Access> = at_launch().filter(|access| access.stores).collect();
    let mut earlier = 0;
    for access in at_launch() {
        let (before, all) = (stores.get(..earlier).unwrap_or_default(), stores.as_slice());
        if access.stores {
            earlier += 1;
            let same = |other: &&&Access| other.buffer == access.buffer;
            if before.iter().filter(same).any(|other| may_overlap(access, other, When::LATER)) {
                wrong.push((
                    access,
                    Reason::with_help(
                        "it may overwrite bytes that another store of the loop writes in a later iteration",
                        "carry the value around the loop in a block parameter, and store it once after the loop",
                    ),
                ));
            }
            continue;
        }
        match source(access, before, all) {
            Ok(source) if source.stored.is_empty() => {}
            Ok(source) => found.push((access.inst, source)),
            Err(()) => wrong.push((
                access,
                Reason::with_help(
                    "it may overlap an earlier store of the same work item at a different address",
                    "use the stored value itself, or read an `in` buffer and write another one",
                ),
            )),
        }
    }
    (found, wrong)
}

/// Possible sources of a loaded value.
struct StoredSources {
    /// Stores to the address with their guards, latest first.
    stored: Vec<(Option<Value>, Inst)>,
    /// `true` if the load may see the memory before the launch.
    loads: bool,
}

/// Returns the possible sources of a load. `earlier` are the stores before the load.
fn source(access: &Access, earlier: &[&Access], all: &[&Access]) -> Result<StoredSources, ()> {
    let same = |other: &&&Access| other.buffer == access.buffer;
    // Returns `true` if a store in an earlier iteration of an inner loop, beyond the outermost
    // `loops`, may overwrite the address.
    let overtaken = |loops| all.iter().filter(same).any(|other| may_overlap(other, access, When::Later { loops }));
    let mut source = StoredSources { stored: Vec::new(), loads: true };
    for other in earlier.iter().rev().filter(same) {
        if !may_overlap(other, access, When::Same) {
            continue;
        }
        if !is_same(other, access) {
            return Err(());
        }
        source.stored.push((other.guard.filter(|_| other.guard != access.guard), other.inst));
        if other.guard.is_none() || other.guard == access.guard {
            source.loads = access.mem.align > other.mem.align;
            return if overtaken(other.steps.len()) { Err(()) } else { Ok(source) };
        }
    }
    if overtaken(0) { Err(()) } else { Ok(source) }
}

/// Returns `true` if both accesses have the same address and type, and the loops around the first
/// also contain the second.
fn is_same(first: &Access, second: &Access) -> bool {
    let common = first.steps.len();
    let same = |(a, b): (&AccessStep, &AccessStep)| a.header == b.header && a.stride == b.stride;
    let still = |step: &AccessStep| step.stride == Affine::default();
    first.ty == second.ty
        && first.scale == second.scale
        && first.index == second.index
        && first.mem.offset == second.mem.offset
        && second.steps.len() >= common
        && first.steps.iter().zip(&second.steps).all(same)
        && second.steps.iter().skip(common).all(still)
}

/// Iteration of the second of two accesses, relative to the first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// The same iteration of the common loops.
    Same,
    /// A later iteration of a common loop, not counting the outermost `loops`.
    Later { loops: usize },
}

impl When {
    const LATER: When = When::Later { loops: 0 };
}

/// Returns `true` if two accesses of an item may overlap.
fn may_overlap(first: &Access, second: &Access, when: When) -> bool {
    let common = first.steps.iter().zip(&second.steps).take_while(|(a, b)| a.header == b.header).count();
    if matches!(when, When::Later { loops } if common <= loops) {
        return false;
    }
    let distance = plus(&second.index, &first.index, u32::MAX);
    let (Some(distance), true) = (as_constant(&distance), first.scale == second.scale) else { return true };
    let offset = i64::from(second.mem.offset) - i64::from(first.mem.offset);
    let mut start = Range::at(i64::from(distance.cast_signed()) + offset);
    for step in first.steps.iter().skip(common) {
        start = start.plus(&Range::of(step, 0).negated());
    }
    for step in second.steps.iter().skip(common) {
        start = start.plus(&Range::of(step, 0));
    }
    let together: Vec<(&AccessStep, bool)> =
        first.steps.iter().zip(&second.steps).take(common).map(|(a, b)| (a, a.stride == b.stride)).collect();
    let same = |(step, equal): &(&AccessStep, bool)| {
        // Equal strides cancel within the same iteration.
        if *equal || step.trips == TripCount::Const(1) { Range::at(0) } else { Range::ANY }
    };
    let meets = |range: &Range| range.touches(-i64::from(second.ty.bytes()), i64::from(first.ty.bytes()));
    match when {
        When::Same => meets(&together.iter().map(same).fold(start, |all, range| all.plus(&range))),
        When::Later { loops } => (loops..common).any(|at| {
            let ranges = together.iter().enumerate().map(|(number, step)| match (number.cmp(&at), step) {
                (std::cmp::Ordering::Less, step) => same(step),
                (std::cmp::Ordering::Equal, (step, true)) => Range::of(step, 1),
                (std::cmp::Ordering::Greater, (step, true)) => {
                    let range = Range::of(step, 0);
                    range.plus(&range.negated())
                }
                _ => Range::ANY,
            });
            meets(&ranges.fold(start, |all, range| all.plus(&range)))
        }),
    }
}

/// Inclusive range of numbers.
#[derive(Clone, Copy)]
struct Range {
    low: i64,
    high: i64,
}

/// Bound beyond all addresses, small enough that sums do not overflow.
const FAR: i64 = 1 << 48;

impl Range {
    const ANY: Range = Range { low: -FAR, high: FAR };

    const fn at(number: i64) -> Range {
        Range { low: number, high: number }
    }

    /// Returns the range of address changes from iteration `from` to the last one. Wrapping is
    /// impossible: an access that wraps around would leave its buffer before.
    fn of(step: &AccessStep, from: i64) -> Range {
        let Some(stride) = as_constant(&step.stride) else { return Range::ANY };
        let stride = i64::from(stride.cast_signed());
        let first = stride * from;
        let last = match step.trips {
            TripCount::Const(trips) => stride.saturating_mul(i64::from(trips) - 1),
            TripCount::Of { .. } => stride.signum() * FAR,
        };
        Range { low: first.min(last), high: first.max(last) }
    }

    const fn negated(&self) -> Range {
        Range { low: -self.high, high: -self.low }
    }

    fn plus(&self, other: &Range) -> Range {
        Range { low: (self.low + other.low).max(-FAR), high: (self.high + other.high).min(FAR) }
    }

    /// Returns `true` if the range contains a number strictly between `above` and `below`.
    const fn touches(&self, above: i64, below: i64) -> bool {
        self.low < below && self.high > above
    }
}

/// Replaces loaded values by stored ones.
fn forward(kernel: &mut Kernel, accesses: &mut Vec<Access>, found: &[(Inst, StoredSources)]) {
    let mut replaced: SecondaryMap<Value, PackedOption<Value>> = SecondaryMap::new();
    let mut open: Vec<(Inst, Value)> = Vec::new();
    for block in kernel.layout.clone() {
        let insts = std::mem::take(&mut kernel.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            let source = found.iter().find(|(load, _)| *load == inst).map(|(_, source)| source);
            let (Some(source), Some(result)) = (source, kernel.result(inst)) else {
                kept.push(inst);
                continue;
            };
            if source.loads {
                kept.push(inst);
            }
            let value = chosen(kernel, &mut kept, &mut open, inst, source, result);
            replaced[result] = value.into();
        }
        kernel.blocks[block].insts = kept;
    }
    kernel.replace_uses(&replaced);
    for (select, loaded) in open {
        let mut args = kernel.insts[select].args;
        if let [.., otherwise] = args.as_mut_slice(&mut kernel.pool) {
            *otherwise = loaded;
        }
    }
    let current = |mut value: Value| {
        while let Some(next) = replaced[value].expand() {
            value = next;
        }
        value
    };
    accesses.iter_mut().for_each(|access| access.guard = access.guard.map(current));
    accesses.retain(|access| !found.iter().any(|(load, source)| *load == access.inst && !source.loads));
}

/// Selects the value of a load from stored values. A select that falls back to the loaded value is
/// recorded in `open`; its operand is set after all other uses of the load are replaced.
fn chosen(
    kernel: &mut Kernel,
    kept: &mut Vec<Inst>,
    open: &mut Vec<(Inst, Value)>,
    load: Inst,
    source: &StoredSources,
    loaded: Value,
) -> Value {
    let span = kernel.insts[load].span;
    let mut chosen: Option<Value> = None;
    for &(guard, store) in source.stored.iter().rev() {
        let Some(&stored) = kernel.args(store).first() else { continue };
        let Some(guard) = guard else {
            chosen = Some(stored);
            continue;
        };
        let ty = kernel.ty(loaded);
        let otherwise = chosen.unwrap_or(stored);
        let select = kernel.make_inst(Op::Select, ty, Attr::None, &[guard, stored, otherwise], Some(ty), span);
        if chosen.is_none() {
            open.push((select, loaded));
        }
        kept.push(select);
        chosen = kernel.result(select);
    }
    chosen.unwrap_or(loaded)
}
