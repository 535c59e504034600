//! Buffers to which a gang stores, and the conditions under which the gang may store.
//!
//! A gang that is given up is repeated. Therefore the gang must not load an element that the gang
//! has stored. Items run side by side. Therefore an item must not load an element that another item
//! stores.

use crate::aot::known::{Flow, param_of};
use crate::aot::memory::BufferValues;
use crate::jit::{Access, Action, Block, BlockId, Gang, Location, Next, Shape, Target, Unit};

/// Access of a block to the buffer of a parameter.
struct Found<'a> {
    block: usize,
    unit: &'a Unit,
    access: &'a Access,
    param: Option<usize>,
}

impl Found<'_> {
    fn is_store(&self) -> bool {
        matches!(self.access.action, Action::Store { .. })
    }

    /// Returns `true` if both accesses reach the same element and no other item reaches the element.
    fn is_own(&self, other: &Found<'_>) -> bool {
        let (Action::Load { place, width, .. } | Action::Store { place, width, .. }) = self.access.action else {
            return false;
        };
        let (Action::Load { place: at, width: of, .. } | Action::Store { place: at, width: of, .. }) =
            other.access.action
        else {
            return false;
        };
        let (Location::Global { offset, base, imm, scale }, Location::Global { offset: o, base: b, imm: i, scale: s }) =
            (place, at)
        else {
            return false;
        };
        let dataflow = &self.unit.dataflow;
        let is_apart = match place.stride_shape(dataflow) {
            Some(Shape::Affine(stride)) => stride.cast_signed().unsigned_abs() >= width.bytes(),
            _ => false,
        };
        let is_even = base.iter().all(|&word| dataflow.shape(word) == Shape::Uniform);
        (offset, base, imm, scale, width) == (o, b, i, s, of) && is_apart && is_even
    }
}

/// Returns, by parameter, `true` if a gang stores to the buffer of the parameter. Returns `None` if the buffer of a
/// store is unknown or read-only, or if a load may read what a gang stores. The stored buffers must not overlap other
/// buffers.
pub(in crate::aot) fn stored(
    gang: &Gang,
    blocks: &[Block],
    flow: &Flow,
    pointers: &[Option<u32>],
    buffers: &[Option<BufferValues>],
) -> Option<Vec<bool>> {
    let mut found = Vec::new();
    for (block, unit) in [&gang.together, &gang.masked].into_iter().flat_map(|units| units.iter().enumerate()) {
        let (Some(unit), Some(before)) = (unit, flow.before(block)) else { continue };
        let of = |access| Found { block, unit, access, param: param_of(access, &unit.dataflow, before, pointers) };
        found.extend(unit.dataflow.accesses.iter().map(of));
    }
    let mut stored = vec![false; buffers.len()];
    for of in found.iter().filter(|of| of.is_store()) {
        let buffer = buffers.get(of.param?).copied().flatten()?;
        if !buffer.is_written {
            return None;
        }
        *stored.get_mut(of.param?)? = true;
    }
    // An item may change its own element in a block after which no gang is given up.
    let may_change = |param: usize| {
        let all = || found.iter().filter(|of| of.param == Some(param));
        let block = all().next().map(|of| of.block);
        // A block makes its loads before its stores.
        let is_late = |at: usize, of: &Found<'_>| {
            !of.is_store() && all().take(at).any(|other| other.is_store() && std::ptr::eq(of.unit, other.unit))
        };
        all().all(|of| Some(of.block) == block)
            && !all().enumerate().any(|(at, of)| is_late(at, of))
            && all().all(|of| all().filter(|other| std::ptr::eq(of.unit, other.unit)).all(|other| of.is_own(other)))
            && block.is_some_and(|block| is_last(gang, blocks, block))
    };
    let is_loaded = |param: usize| found.iter().any(|of| !of.is_store() && of.param == Some(param));
    let all_may = (0..).zip(&stored).all(|(param, &is_stored)| !is_stored || !is_loaded(param) || may_change(param));
    all_may.then_some(stored)
}

/// Returns `true` if no gang is given up after a block.
fn is_last(gang: &Gang, blocks: &[Block], block: usize) -> bool {
    let ends = |block: usize| match blocks.get(block).map(|block| block.next) {
        Some(Next::Exit) => true,
        Some(Next::To(Target::Block { backward, .. })) => !backward,
        _ => false,
    };
    let does_nothing =
        |unit: &Option<Unit>| unit.as_ref().is_none_or(|unit| unit.dataflow.accesses.is_empty() && !unit.dead);
    let is_quiet = |block: usize| {
        ends(block) && [&gang.together, &gang.masked].iter().all(|units| units.get(block).is_none_or(does_nothing))
    };
    let mut open: Vec<BlockId> = blocks.get(block).map_or(Vec::new(), |block| block.successors().collect());
    while let Some(next) = open.pop() {
        if !is_quiet(next.index()) {
            return false;
        }
        open.extend(blocks.get(next.index()).into_iter().flat_map(Block::successors));
    }
    // Diverged items run the blocks at lower addresses first.
    let is_masked = |block: &usize| gang.masked.get(*block).is_some_and(Option::is_some);
    ends(block) && (block + 1..blocks.len()).filter(is_masked).all(is_quiet)
}
