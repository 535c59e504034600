//! Order of the accesses to a buffer.
//!
//! The inputs of a packed kernel are copied before the kernel runs, and its outputs after. A load therefore returns the
//! contents from before the launch, and all elements of one store instruction are copied out together. If the source
//! requires another order, the load is replaced by the stored value, or the access is refused.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Affine, Attr, Inst, Kernel, Op, Reason, Refusal, TripCount, Value};
use rustc_hash::FxHashMap;

use super::affine::{as_constant, plus};
use super::memory::{Access, AccessStep, refusal};

/// Returns the buffers that need a window, because only a window preserves the order of their accesses.
pub(super) fn ordered(accesses: &[Access]) -> Vec<u32> {
    let mut buffers: Vec<u32> = found(accesses).1.iter().map(|(access, _)| access.buffer).collect();
    buffers.sort_unstable();
    buffers.dedup();
    buffers
}

/// Replaces each load by the value that the same item has stored at its address before.
///
/// # Errors
/// Returns a refusal for each access whose order relative to other accesses cannot be preserved.
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

/// Loads with the stores that may provide their value, and accesses to refuse with the reasons.
type Found<'a> = (Vec<(Inst, StoredSources)>, Vec<(&'a Access, Reason)>);

/// Returns the loads that may return a stored value, and the accesses whose order cannot be preserved.
fn found(accesses: &[Access]) -> Found<'_> {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    // Accesses in a window are executed in program order.
    let at_launch = || accesses.iter().filter(|access| !access.in_window);
    let mut stores: FxHashMap<u32, Vec<&Access>> = FxHashMap::default();
    for access in at_launch().filter(|access| access.stores) {
        stores.entry(access.buffer).or_default().push(access);
    }
    // The number of stores to each buffer before the current access.
    let mut earlier: FxHashMap<u32, usize> = FxHashMap::default();
    for access in at_launch() {
        let Some(all) = stores.get(&access.buffer) else { continue };
        let earlier = earlier.entry(access.buffer).or_default();
        let before = all.get(..*earlier).unwrap_or_default();
        if access.stores {
            *earlier += 1;
            // Only an access in a loop has later iterations.
            let is_in_loop = !access.steps.is_empty();
            if is_in_loop && before.iter().any(|other| may_overlap(access, other, When::LATER)) {
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

/// Stores that may provide the value of a load.
struct StoredSources {
    /// Stores to the address of the load with their guards, latest first.
    stored: Vec<(Option<Value>, Inst)>,
    /// `true` if the load may also return the contents from before the launch.
    loads: bool,
}

/// Returns the stores that may provide the value of a load. `earlier` are the stores to its buffer
/// that precede the load in the program, and `all` are all stores to its buffer.
///
/// # Errors
/// The order of the accesses cannot be preserved.
fn source(access: &Access, earlier: &[&Access], all: &[&Access]) -> Result<StoredSources, ()> {
    // Returns `true` if a store may overwrite the address in an earlier iteration of a loop, not
    // counting the outermost `loops` loops.
    let overtaken = |loops| all.iter().any(|other| may_overlap(other, access, When::Later { loops }));
    let mut source = StoredSources { stored: Vec::new(), loads: true };
    for other in earlier.iter().rev() {
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

/// Returns `true` if both accesses have the same address and type, and every loop around the first
/// access also contains the second.
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

/// Iteration in which the second of two accesses is executed, relative to the first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// The same iteration of all loops that contain both accesses.
    Same,
    /// A later iteration of a loop that contains both accesses, not counting the outermost `loops` loops.
    Later { loops: usize },
}

impl When {
    const LATER: When = When::Later { loops: 0 };
}

/// Returns `true` if two accesses of the same item may overlap.
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
        // In the same iteration, equal strides contribute the same to both addresses.
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

/// Inclusive range of byte distances.
#[derive(Clone, Copy)]
struct Range {
    low: i64,
    high: i64,
}

/// A distance that exceeds every address, but is small enough that sums of distances do not overflow.
const FAR: i64 = 1 << 48;

impl Range {
    const ANY: Range = Range { low: -FAR, high: FAR };

    const fn at(number: i64) -> Range {
        Range { low: number, high: number }
    }

    /// Returns the range by which the address changes in a loop, from iteration `from` to the last
    /// one. The address does not wrap: an access would leave the buffer before.
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

/// Replaces loads by the values that were stored before.
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

/// Returns the value of a load, selected from stored values by the guards of the stores. If a
/// select also needs the loaded value, it is recorded in `open`. Its operand is set later, after
/// all other uses of the load have been replaced.
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
