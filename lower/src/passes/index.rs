//! Choice of index widths and constant offsets of accesses, by value ranges.
//!
//! If the scaled index is always below 2^32, `%x[%i]` and `%x[%i wide]` are equivalent, and the
//! pass chooses the one that the target prefers. If the index is a sum with a constant that cannot
//! wrap, the pass moves the constant to the offset of the access.

use halfbyte_ir::{Attr, Inst, Kernel, KnownValues, Op, Value, ValueDef};

use crate::pass::{BuiltIn, Context, Order};
use crate::passes::accesses::address;
use crate::range::{self, Range, is_in};
use crate::trace::{ChangeKind, Report};

/// The `index` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "index",
    description: "scales indices in 64 or 32 bits, as the target prefers, and folds constants into offsets, if the \
                  ranges of the indices permit both",
    order: &[(Order::Before("pack"), "streams scale indices in 32 bits")],
    run,
};

/// Largest offset in bytes that the access instructions of every target can encode.
const MOST_OFFSET: i128 = 1 << 20;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let wanted = context.legality.has_wide_indices();
    // On targets with streams, an access has no byte offset, because a stream advances by whole elements.
    let takes_constants = context.legality.lanes().is_none();
    let mut changed = false;
    let flow = context.flow(kernel);
    let mut known = KnownValues::new(&flow, context.legality.block());
    for at in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(at) else { continue };
        for number in 0..kernel.blocks[block].insts.len() {
            let Some(&inst) = kernel.blocks[block].insts.get(number) else { continue };
            if !flow.is_reachable(block) {
                break;
            }
            while takes_constants && let Some((index, offset)) = without_constant(kernel, &mut known, inst) {
                let mut before = context.trace.before(kernel, inst);
                if let Some(last) = kernel.insts[inst].args.as_mut_slice(&mut kernel.pool).last_mut() {
                    *last = index;
                }
                if let Attr::Mem(mem) = &mut kernel.insts[inst].attr {
                    mem.offset = offset;
                }
                let how = ChangeKind::Told("constant folded into the offset: the index sum does not wrap");
                context.trace.changed(&mut before, how, kernel, inst);
                changed = true;
            }
            let Attr::Mem(mem) = kernel.insts[inst].attr else { continue };
            let &[base, index] = address(kernel, inst) else { continue };
            // Arrays in scratch memory are small, so a 32-bit index is enough.
            let wanted = wanted && !matches!(kernel.values[base].def, ValueDef::Array(_));
            if mem.wide == wanted {
                continue;
            }
            let range = known.of(kernel, index).signed();
            if *range.start() < 0 || range.end() * i128::from(mem.scale) > u32::MAX.into() {
                continue;
            }
            let mut before = context.trace.before(kernel, inst);
            if let Attr::Mem(mem) = &mut kernel.insts[inst].attr {
                mem.wide = wanted;
            }
            let how = ChangeKind::Told("index width changed: the scaled index stays below 2^32 bytes");
            context.trace.changed(&mut before, how, kernel, inst);
            changed = true;
        }
    }
    context.keep_flow(flow);
    changed
}

/// Matches an index that is a value plus a constant and does not wrap. Returns the value, and
/// the offset of the access with the constant added.
fn without_constant(kernel: &Kernel, known: &mut KnownValues<'_>, inst: Inst) -> Option<(Value, i32)> {
    let Attr::Mem(mem) = kernel.insts[inst].attr else { return None };
    let &[_, index] = address(kernel, inst) else { return None };
    let sum = kernel.def_inst(index).filter(|&sum| kernel.insts[sum].op == Op::Add)?;
    let &[a, b] = kernel.args(sum) else { return None };
    let (index, constant) = constant(kernel, b).map(|b| (a, b)).or_else(|| Some((b, constant(kernel, a)?)))?;
    let range = known.of(kernel, index).signed();
    let scale = i128::from(mem.scale);
    // If the index is scaled in 32 bits, the scaled index must not wrap, with or without the constant.
    let most = if mem.wide { i128::from(i32::MAX) } else { (i128::from(u32::MAX) / scale.max(1)).min(i32::MAX.into()) };
    let fits = |range: &Range| is_in(range, &(0..=most));
    let offset = i128::from(mem.offset) + constant * scale;
    if !fits(&range) || !fits(&range::sum(&range, &(constant..=constant))) || offset.abs() > MOST_OFFSET {
        return None;
    }
    Some((index, offset as i32))
}

fn constant(kernel: &Kernel, value: Value) -> Option<i128> {
    let [bits, ..] = kernel.const_bits(kernel.def_inst(value)?)?;
    Some(i128::from(bits as i32))
}
