//! What cells are known to hold before each block: words of constant bank 0, among which are the addresses of buffers.

use std::collections::BTreeMap;

use arrayvec::ArrayVec;
use halfbyte_isa::halu::domain::Width;

use crate::jit::{Block, BlockId, CellNumber as Cell, Cells, Dataflow, Front, Id, Items, Op, Shape, Unit};

/// The offset of the word of the bank that each of some cells holds.
pub(super) type Known = BTreeMap<Cell, u32>;

/// The parameters that the addresses of some cells come from: these hold a buffer's address, or the low word of it, plus anything.
pub(super) type Origins = BTreeMap<Cell, usize>;

/// The blocks that items reach, as dataflows.
pub(super) struct Flow {
    pub units: Vec<Option<Unit>>,
    pub before: Vec<Known>,
    pub origins: Vec<Origins>,
}

/// What is known before a block.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    pub known: &'a Known,
    pub origins: &'a Origins,
}

impl Flow {
    /// What is known before a block.
    pub fn before(&self, block: usize) -> Option<Before<'_>> {
        Some(Before { known: self.before.get(block)?, origins: self.origins.get(block)? })
    }
}

/// Words that are looked at for the parameter that one comes from.
const MOST_PARTS: usize = 8;

impl Before<'_> {
    /// The parameter that a word comes from: a buffer's address, of which the low word is at one of these offsets in the bank, is one of the parts
    /// that it is the sum of.
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

/// The word of the bank that a value is.
pub(super) fn bank_word(d: &Dataflow, known: &Known, id: Id) -> Option<u32> {
    match d.op(id) {
        Op::Bank { offset, width: Width::B32, .. } => Some(offset),
        Op::Input(cell) => known.get(&cell).copied(),
        _ => None,
    }
}

/// Goes through the blocks until nothing more is found to be unknown. The low words of the addresses of buffers are at some offsets in the
/// bank, by parameter.
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

/// What is known before a block becomes what is known after another that leads there, too. Whether it has changed.
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

/// By block, the parameters that cells come from.
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
