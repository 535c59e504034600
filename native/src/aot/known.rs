//! Known contents of the cells before each block: words of constant bank 0, including the addresses
//! of buffers.

use std::collections::BTreeMap;

use arrayvec::ArrayVec;
use halfbyte_isa::halu::domain::Width;

use crate::jit::{
    Access, Action, Block, BlockId, CellNumber as Cell, Cells, Dataflow, Front, Id, Items, Location, Op, Shape, Unit,
};

/// For some cells, the offset of the bank word that the cell holds.
pub(super) type Known = BTreeMap<Cell, u32>;

/// Provenance of the addresses in some cells. Such a cell holds the address of a parameter's buffer, or the low word of
/// the address, plus any offset.
pub(super) type Origins = BTreeMap<Cell, usize>;

/// The reachable blocks, as dataflows.
pub(super) struct Flow {
    pub units: Vec<Option<Unit>>,
    pub before: Vec<Known>,
    pub origins: Vec<Origins>,
}

/// Facts that are known before a block.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    pub known: &'a Known,
    pub origins: &'a Origins,
}

impl Flow {
    /// Returns the facts that are known before a block.
    pub fn before(&self, block: usize) -> Option<Before<'_>> {
        Some(Before { known: self.before.get(block)?, origins: self.origins.get(block)? })
    }
}

/// Maximum number of words that the search for the parameter of a word visits.
const MOST_PARTS: usize = 8;

impl Before<'_> {
    /// Returns the parameter from which a word is derived. The word is a sum, and one of its terms is the address of
    /// the parameter's buffer. `pointers` contains the offsets of the addresses' low words in the bank.
    pub fn origin(self, d: &Dataflow, id: Id, pointers: &[Option<u32>]) -> Option<usize> {
        let mut parts: ArrayVec<Id, MOST_PARTS> = [id].into_iter().collect();
        let mut at = 0;
        while let Some(&part) = parts.get(at) {
            at += 1;
            let word = bank_word(d, self.known, part);
            let of_word = word.and_then(|word| pointers.iter().position(|&at| at == Some(word)));
            let of_cell = || match d.op(part) {
                Op::Input(cell) => self.origins.get(&cell).copied(),
                _ => None,
            };
            if let Some(param) = of_word.or_else(of_cell) {
                return Some(param);
            }
            if d.op(part) == Op::Add {
                let room = parts.remaining_capacity();
                parts.extend(d.args(part).into_iter().take(room));
            }
        }
        None
    }
}

/// Returns the offset of the bank word that a value equals, if known.
pub(super) fn bank_word(d: &Dataflow, known: &Known, id: Id) -> Option<u32> {
    match d.op(id) {
        Op::Bank { offset, width: Width::B32, .. } => Some(offset),
        Op::Input(cell) => known.get(&cell).copied(),
        _ => None,
    }
}

/// Analyses the blocks until a fixpoint. `pointers` contains the offset in the bank of the low word of each buffer's
/// address, by parameter.
pub(super) fn flow(front: &dyn Front, blocks: &[Block], cells: &mut Cells, pointers: &[Option<u32>]) -> Flow {
    let mut units: Vec<Option<Unit>> = blocks.iter().map(|_| None).collect();
    let mut before: Vec<Option<Known>> = vec![None; blocks.len()];
    if let Some(first) = before.first_mut() {
        *first = Some(Known::new());
    }
    let mut pending: Vec<BlockId> = vec![BlockId(0)];
    while let Some(id) = pending.pop() {
        let (Some(block), Some(Some(known))) = (blocks.get(id.index()), before.get(id.index())) else { continue };
        let known = known.clone();
        // A word of the bank is uniform.
        let mut shapes = Vec::new();
        for cell in known.keys() {
            shapes.resize(shapes.len().max(cell.index() + 1), Shape::Varying);
            if let Some(shape) = shapes.get_mut(cell.index()) {
                *shape = Shape::Uniform;
            }
        }
        let unit = front.unit(block, cells, Items::All(&shapes));
        let mut after = known.clone();
        for &(cell, value) in &unit.finals {
            match bank_word(&unit.dataflow, &known, value) {
                Some(word) => after.insert(cell, word),
                None => after.remove(&cell),
            };
        }
        if !unit.dead {
            for next in block.successors() {
                if before.get_mut(next.index()).is_some_and(|place| meet(place, &after)) {
                    pending.push(next);
                }
            }
        }
        if let Some(place) = units.get_mut(id.index()) {
            *place = Some(unit);
        }
    }
    let before = before.into_iter().map(Option::unwrap_or_default).collect();
    let mut flow = Flow { units, before, origins: Vec::new() };
    flow.origins = origins(&flow, blocks, pointers);
    flow
}

/// Intersects the facts before a block with the facts after a predecessor. Returns `true` if the facts before the block
/// have changed.
fn meet<V: Copy + PartialEq>(before: &mut Option<BTreeMap<Cell, V>>, after: &BTreeMap<Cell, V>) -> bool {
    let met = match before {
        None => after.clone(),
        Some(old) => {
            let same = |(cell, value): &(&Cell, &V)| after.get(cell) == Some(value);
            old.iter().filter(same).map(|(cell, value)| (*cell, *value)).collect()
        }
    };
    let is_new = before.as_ref() != Some(&met);
    *before = Some(met);
    is_new
}

/// Returns the provenance of the cells before each block.
fn origins(flow: &Flow, blocks: &[Block], pointers: &[Option<u32>]) -> Vec<Origins> {
    let mut before: Vec<Option<Origins>> = vec![None; blocks.len()];
    if let Some(first) = before.first_mut() {
        *first = Some(Origins::new());
    }
    let mut pending: Vec<BlockId> = vec![BlockId(0)];
    while let Some(id) = pending.pop() {
        let (Some(block), Some(Some(origins))) = (blocks.get(id.index()), before.get(id.index())) else { continue };
        let (Some(Some(unit)), Some(known)) = (flow.units.get(id.index()), flow.before.get(id.index())) else {
            continue;
        };
        let mut after = origins.clone();
        for &(cell, value) in &unit.finals {
            match (Before { known, origins }.origin(&unit.dataflow, value, pointers)) {
                Some(param) => after.insert(cell, param),
                None => after.remove(&cell),
            };
        }
        for next in block.successors().filter(|_| !unit.dead) {
            if before.get_mut(next.index()).is_some_and(|place| meet(place, &after)) {
                pending.push(next);
            }
        }
    }
    before.into_iter().map(Option::unwrap_or_default).collect()
}

/// Returns the parameter whose buffer an access addresses, if known. The access is still checked against the bounds of
/// the buffer.
pub(super) fn param_of(
    access: &Access,
    dataflow: &Dataflow,
    before: Before<'_>,
    pointers: &[Option<u32>],
) -> Option<usize> {
    let (Action::Load { place, .. } | Action::Store { place, .. }) = &access.action else { return None };
    let Location::Global { base: [low, _], .. } = place else { return None };
    before.origin(dataflow, *low, pointers)
}
