//! Detection of buffers that a kernel overwrites completely, so that they need no zeroing before.

use halfbyte_isa::halu::domain::{IndexKind, SpecialReg};

use super::known::{Before, Flow, bank_word, param_of};

use crate::jit::{Access, Action, Block, BlockId, Cells, Dataflow, Id, Location, Name, Next, Op, Scale};

/// An unconditional store to each item's own part of a buffer.
struct Store {
    param: usize,
    /// Number of bytes of the part, and offset of the store in the part.
    stride: u64,
    at: u64,
    bytes: u64,
}

/// Returns, for each parameter, the number of bytes that each item writes. The entry is `None` if the items leave a gap
/// in the buffer or load from it. Items are numbered across the launch.
pub(super) fn covered(blocks: &[Block], flow: &Flow, cells: &Cells, pointers: &[Option<u32>]) -> Vec<Option<u64>> {
    let mut covered = vec![None; pointers.len()];
    let mut stores = Vec::new();
    for (number, unit) in flow.units.iter().enumerate() {
        let (Some(unit), Some(before)) = (unit, flow.before(number)) else { continue };
        for access in &unit.dataflow.accesses {
            let param = param_of(access, &unit.dataflow, before, pointers);
            match &access.action {
                Action::Store { .. } if access.guard.is_none() && is_always_run(blocks, number) => {
                    stores.extend(
                        param.and_then(|param| store(param, access, &unit.dataflow, before, (cells, pointers))),
                    );
                }
                Action::Store { .. } | Action::Fence | Action::Fault(_) => {}
                // The load may read the initial zeros of any buffer.
                Action::Load { .. } if param.is_none() => return covered,
                Action::Load { .. } => stores.extend(param.map(|param| Store { param, stride: 0, at: 0, bytes: 0 })),
                Action::Atomic { .. } => return covered,
            }
        }
    }
    for (param, covered) in covered.iter_mut().enumerate() {
        let of_param = || stores.iter().filter(move |store| store.param == param);
        let Some(stride) = of_param().map(|store| store.stride).min().filter(|&stride| stride != 0) else { continue };
        let mut parts: Vec<(u64, u64)> =
            of_param().filter(|store| store.stride == stride).map(|store| (store.at, store.bytes)).collect();
        parts.sort_unstable();
        let end = parts.iter().fold(0, |end, &(at, bytes)| if at <= end { end.max(at + bytes) } else { end });
        *covered = (end >= stride).then_some(stride);
    }
    covered
}

/// Returns the store of an access, if each item stores to a part of its own.
fn store(
    param: usize,
    access: &Access,
    dataflow: &Dataflow,
    before: Before<'_>,
    (cells, pointers): (&Cells, &[Option<u32>]),
) -> Option<Store> {
    let Action::Store { place: Location::Global { offset, base, imm, scale }, width, .. } = access.action else {
        return None;
    };
    let [low, high] = base.map(|word| bank_word(dataflow, before.known, word));
    let start = pointers.get(param).copied().flatten();
    let is_start = low == start && low.and_then(|low| low.checked_add(4)) == high;
    let (first, stride) = linear(dataflow, cells, offset)?;
    let Scale { by, .. } = scale;
    let stride = u64::from(stride) * u64::from(by);
    let at = u64::try_from(i64::from(first) * i64::from(by) + i64::from(imm)).ok()?;
    let bytes = u64::from(width.bytes());
    (is_start && stride <= 1 << 16 && at + bytes <= stride).then_some(Store { param, stride, at, bytes })
}

/// Returns `a` and `b` if a word is `a + b * n` for the item with number `n`.
fn linear(dataflow: &Dataflow, cells: &Cells, id: Id) -> Option<(u32, u32)> {
    if let Some(word) = dataflow.constant(id) {
        return Some((word, 0));
    }
    let args = dataflow.args(id);
    match (dataflow.op(id), args.as_slice()) {
        (Op::Input(cell), _) => {
            let number = SpecialReg { of: IndexKind::Item, axis: None };
            (cells.find(Name::Special(number)) == Some(cell)).then_some((0, 1))
        }
        (Op::Add, &[a, b]) => {
            let ((a, by_a), (b, by_b)) = (linear(dataflow, cells, a)?, linear(dataflow, cells, b)?);
            Some((a.checked_add(b)?, by_a.checked_add(by_b)?))
        }
        (Op::Shl, &[a, count]) => {
            let ((a, by), count) = (linear(dataflow, cells, a)?, dataflow.constant(count)? & 31);
            let scale = 1u32.checked_shl(count)?;
            Some((a.checked_mul(scale)?, by.checked_mul(scale)?))
        }
        (Op::Mul, &[a, b]) => {
            let ((a, by_a), (b, by_b)) = (linear(dataflow, cells, a)?, linear(dataflow, cells, b)?);
            match (by_a, by_b) {
                (by, 0) => Some((a.checked_mul(b)?, by.checked_mul(b)?)),
                (0, by) => Some((a.checked_mul(b)?, by.checked_mul(a)?)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns `true` if every item that ends has executed a block.
fn is_always_run(blocks: &[Block], block: usize) -> bool {
    let mut is_met = vec![false; blocks.len()];
    let mut open = vec![BlockId(0)];
    while let Some(id) = open.pop() {
        let (Some(next), Some(place)) = (blocks.get(id.index()), is_met.get_mut(id.index())) else { continue };
        if id.index() == block || std::mem::replace(place, true) {
            continue;
        }
        if matches!(next.next, Next::Exit | Next::ExitIf { .. }) {
            return false;
        }
        open.extend(next.successors());
    }
    true
}
