//! What cells are known to hold before each block: words of constant bank 0, among which are the addresses of buffers.

use std::collections::BTreeMap;

use halfbyte_isa::halu::domain::Width;

use crate::halu::jit::{Block, BlockId, CellNumber as Cell, Cells, Dataflow, Front, Id, Items, Op, Shape, Unit};

/// The offset of the word of the bank that each of some cells holds.
pub(super) type Known = BTreeMap<Cell, u32>;

/// The blocks that items reach, as dataflows.
pub(super) struct Flow {
    pub units: Vec<Option<Unit>>,
    pub before: Vec<Known>,
}

/// The word of the bank that a value is.
pub(super) fn bank_word(d: &Dataflow, known: &Known, id: Id) -> Option<u32> {
    match d.op(id) {
        Op::Bank { offset, width: Width::B32, .. } => Some(offset),
        Op::Input(cell) => known.get(&cell).copied(),
        _ => None,
    }
}

/// Goes through the blocks until nothing more is found to be unknown.
pub(super) fn flow(front: &dyn Front, blocks: &[Block], cells: &mut Cells) -> Flow {
    let mut units: Vec<Option<Unit>> = blocks.iter().map(|_| None).collect();
    let mut before: Vec<Option<Known>> = vec![None; blocks.len()];
    if let Some(first) = before.first_mut() {
        *first = Some(Known::new());
    }
    let mut pending: Vec<BlockId> = vec![BlockId(0)];
    while let Some(id) = pending.pop() {
        let (Some(block), Some(Some(known))) = (blocks.get(id.index()), before.get(id.index())) else { continue };
        let known = known.clone();
        // A word of the bank is the same for all items.
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
                let Some(place) = before.get_mut(next.index()) else { continue };
                let met = match place {
                    None => after.clone(),
                    Some(old) => {
                        old.iter().filter(|(cell, word)| after.get(cell) == Some(word)).map(|(c, w)| (*c, *w)).collect()
                    }
                };
                if place.as_ref() != Some(&met) {
                    *place = Some(met);
                    pending.push(next);
                }
            }
        }
        if let Some(place) = units.get_mut(id.index()) {
            *place = Some(unit);
        }
    }
    Flow { units, before: before.into_iter().map(Option::unwrap_or_default).collect() }
}
