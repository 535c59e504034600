//! Which buffers a gang stores to, and whether it may: it may be given up and done again as long as nothing that it loads is what it has
//! stored, and its items may run side by side as long as none loads what another one stores.

use crate::aot::known::{Flow, param_of};
use crate::aot::memory::BufferValues;
use crate::jit::{Access, Action, Block, BlockId, Gang, Location, Next, Shape, Target, Unit};

/// An access of a block to a parameter's buffer.
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

    /// Whether both go to the same element, which is the item's own.
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

/// The parameters whose buffers are stored to; none where it is not known which these are, or where something may load what is stored.
/// These buffers must not overlap others.
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
    // An item may change what is its own, once nothing can be given up any more.
    let may_change = |param: usize| {
        let all = || found.iter().filter(|of| of.param == Some(param));
        let block = all().next().map(|of| of.block);
        // What a block loads it loads before it stores.
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

/// Whether nothing comes after a block that a gang is given up for.
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
    // Items that have diverged run what is at lower addresses first.
    let is_masked = |block: &usize| gang.masked.get(*block).is_some_and(Option::is_some);
    ends(block) && (block + 1..blocks.len()).filter(is_masked).all(is_quiet)
}
