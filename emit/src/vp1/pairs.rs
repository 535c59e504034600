//! Conflicts between operations in a bundle, cached for each pair.

use std::cell::Cell;

use super::op::Op;

/// Operations, with a cache of the pairs that conflict in a bundle.
pub(crate) struct Pairs<'a> {
    ops: &'a [Op],
    /// Bit set of the units that each operation uses.
    units: Vec<u8>,
    /// Cached result of `interact` for each pair of operations; empty if there are more than [`MAX_KNOWN`] operations.
    known: Vec<Cell<Option<bool>>>,
}

/// Maximum number of operations for which results are cached. For more operations, each query computes its result.
const MAX_KNOWN: usize = 1024;

impl<'a> Pairs<'a> {
    /// Creates an empty cache for the pairs of the operations `ops`.
    pub(super) fn new(ops: &'a [Op]) -> Pairs<'a> {
        let pairs = if ops.len() <= MAX_KNOWN { ops.len() * ops.len() } else { 0 };
        let units = ops.iter().map(|op| op.insts().fold(0, |units, inst| units | 1 << inst.unit() as u8)).collect();
        Pairs { ops, units, known: vec![Cell::new(None); pairs] }
    }

    /// Returns the bit set of the units that an operation uses.
    pub(super) fn units(&self, op: u32) -> u8 {
        self.units.get(op as usize).copied().unwrap_or(u8::MAX)
    }

    /// Returns `true` if two operations share a unit or a port, or if one forwards a value to the other.
    pub(super) fn interact(&self, a: u32, b: u32) -> bool {
        let (low, high) = (a.min(b), a.max(b));
        let known = self.known.get(low as usize * self.ops.len() + high as usize);
        known.and_then(Cell::get).unwrap_or_else(|| {
            let (Some(a), Some(b)) = (self.ops.get(low as usize), self.ops.get(high as usize)) else { return true };
            let interact = a.interacts(b);
            known.into_iter().for_each(|known| known.set(Some(interact)));
            interact
        })
    }

    /// Returns `true` if an operation can share a bundle with the operations `bundle`.
    pub(super) fn fits(&self, bundle: &[u32], op: u32) -> bool {
        let disjoint = |other: u32| {
            let pair = self.ops.get(op as usize).zip(self.ops.get(other as usize));
            pair.is_some_and(|(a, b)| a.footprint.is_disjoint(&b.footprint))
        };
        // The units are compared first, because most operations that do not fit use a unit of the bundle.
        let units = self.units(op);
        bundle.iter().all(|&other| units & self.units(other) == 0)
            && bundle.iter().all(|&other| disjoint(other) && !self.interact(op, other))
    }
}
