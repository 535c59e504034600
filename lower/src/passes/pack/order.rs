//! The order of accesses to a buffer. Inputs are copied before a packed kernel runs and outputs after, so a load finds what
//! was there before the launch, and stores of one loop come after each other whole. Where the text says otherwise, a loaded
//! value is the stored one, or the access is refused.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Affine, Attr, Inst, Kernel, Op, Reason, Refusal, Trips, Value};

use super::affine::{as_constant, plus};
use super::memory::{Access, AccessStep, refusal};

/// The buffers whose accesses come in their order only where the kernel itself makes them.
pub(super) fn ordered(accesses: &[Access]) -> Vec<u32> {
    let mut buffers: Vec<u32> = found(accesses).1.iter().map(|(access, _)| access.buffer).collect();
    buffers.sort_unstable();
    buffers.dedup();
    buffers
}

/// Replaces loads of what the same item has stored before by the stored values.
///
/// # Errors
/// Accesses that may depend on the order in another way.
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

/// The loads of what was stored before, with what these find; and accesses that would find or leave something else.
type Found<'a> = (Vec<(Inst, Source)>, Vec<(&'a Access, Reason)>);

/// The loads of what was stored before, with what they find, and the accesses whose order is another.
fn found(accesses: &[Access]) -> Found<'_> {
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    // What lies in a window is there in the order of the program.
    let at_launch = || accesses.iter().filter(|access| !access.in_window);
    // Few, each a stream: there may be many loads beside them.
    let stores: Vec<&Access> = at_launch().filter(|access| access.stores).collect();
    let mut earlier = 0;
    for access in at_launch() {
        let (before, all) = (stores.get(..earlier).unwrap_or_default(), stores.as_slice());
        if access.stores {
            earlier += 1;
            let same = |other: &&&Access| other.buffer == access.buffer;
            if before.iter().filter(same).any(|other| may_meet(access, other, When::LATER)) {
                wrong.push((
                    access,
                    Reason::with_help(
                        "it may write where another store of the loop writes in a later iteration",
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
                    "it may read what the same work item has written before, and not at the same address",
                    "use the stored value itself, or read an `in` buffer and write another one",
                ),
            )),
        }
    }
    (found, wrong)
}

/// Where a loaded value comes from.
struct Source {
    /// The values stored to the address, the last first, with their guards.
    stored: Vec<(Option<Value>, Inst)>,
    /// Whether what was there before the launch may be seen.
    loads: bool,
}

/// What a load finds, of the stores before it and of all stores.
fn source(access: &Access, earlier: &[&Access], all: &[&Access]) -> Result<Source, ()> {
    let same = |other: &&&Access| other.buffer == access.buffer;
    // Whether a store of an earlier iteration may come between, of a loop that begins after what is found.
    let overtaken = |loops| all.iter().filter(same).any(|other| may_meet(other, access, When::Later { loops }));
    let mut source = Source { stored: Vec::new(), loads: true };
    for other in earlier.iter().rev().filter(same) {
        if !may_meet(other, access, When::Same) {
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

/// Whether both go to the same address with the same type, the second by way of the first.
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

/// When the second of two accesses is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// In the same iteration of the loops around both.
    Same,
    /// In a later one, of any but so many of the outermost.
    Later { loops: usize },
}

impl When {
    const LATER: When = When::Later { loops: 0 };
}

/// Whether an item's second access may touch a byte of its first.
fn may_meet(first: &Access, second: &Access, when: When) -> bool {
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
        // The counter cancels where both go by the same stride.
        if *equal || step.trips == Trips::Const(1) { Range::at(0) } else { Range::ANY }
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

/// Numbers from `low` to `high`, both included.
#[derive(Clone, Copy)]
struct Range {
    low: i64,
    high: i64,
}

/// Beyond all addresses, and small enough that some can be added.
const FAR: i64 = 1 << 48;

impl Range {
    const ANY: Range = Range { low: -FAR, high: FAR };

    const fn at(number: i64) -> Range {
        Range { low: number, high: number }
    }

    /// How far iterations from the number `from` on come by a step's stride. In between lie the addresses of those before:
    /// an access that came around to where it began would have left its buffer on the way.
    fn of(step: &AccessStep, from: i64) -> Range {
        let Some(stride) = as_constant(&step.stride) else { return Range::ANY };
        let stride = i64::from(stride.cast_signed());
        let first = stride * from;
        let last = match step.trips {
            Trips::Const(trips) => stride.saturating_mul(i64::from(trips) - 1),
            Trips::Of { .. } => stride.signum() * FAR,
        };
        Range { low: first.min(last), high: first.max(last) }
    }

    const fn negated(&self) -> Range {
        Range { low: -self.high, high: -self.low }
    }

    fn plus(&self, other: &Range) -> Range {
        Range { low: (self.low + other.low).max(-FAR), high: (self.high + other.high).min(FAR) }
    }

    /// Whether a number between the two, both left out, is among these.
    const fn touches(&self, above: i64, below: i64) -> bool {
        self.low < below && self.high > above
    }
}

/// Lets stored values stand for loaded ones.
fn forward(kernel: &mut Kernel, accesses: &mut Vec<Access>, found: &[(Inst, Source)]) {
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

/// Makes the value of a load out of stored ones. The first select that may choose what is loaded is left `open` until all
/// other uses of the load are replaced.
fn chosen(
    kernel: &mut Kernel,
    kept: &mut Vec<Inst>,
    open: &mut Vec<(Inst, Value)>,
    load: Inst,
    source: &Source,
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
