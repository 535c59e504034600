//! Backward analysis of NaNs: finds the cells whose NaNs must be canonical.
//!
//! Arithmetic and comparisons of floats treat all NaNs alike. Any other use sees the bits of a NaN.

use super::cells::Cell;
use super::dataflow::{Id, Op};
use super::emit::is_of_sign;
use super::graph::{Block, BlockId};
use super::unit::Unit;
use super::vector::takes_any_nan;

/// Cells that must hold canonical NaNs at the start of each block, indexed by block and by cell.
pub(crate) struct SeenNans(Vec<Vec<bool>>);

impl SeenNans {
    /// Analyses a kernel with `cells` cells. Each block is compiled in the versions `versions`.
    pub(super) fn new(blocks: &[Block], versions: [&[Option<Unit>]; 2], cells: usize) -> SeenNans {
        let mut seen = SeenNans(vec![vec![false; cells]; blocks.len()]);
        loop {
            let mut is_changed = false;
            for (number, block) in blocks.iter().enumerate().rev() {
                for unit in versions.into_iter().filter_map(|units| units.get(number)?.as_ref()) {
                    let before = seen.before(unit, block);
                    let Some(known) = seen.0.get_mut(number) else { continue };
                    for (known, before) in known.iter_mut().zip(before) {
                        is_changed |= before && !*known;
                        *known |= before;
                    }
                }
            }
            if !is_changed {
                return seen;
            }
        }
    }

    /// Returns `true` if a cell must hold a canonical NaN at the end of a block.
    pub fn after(&self, block: &Block, cell: Cell) -> bool {
        let is_seen = |next: BlockId| self.0.get(next.index()).and_then(|cells| cells.get(cell.index()));
        block.successors().any(|next| is_seen(next) == Some(&true))
    }

    /// Returns the cells that must hold canonical NaNs at the start of a block.
    fn before(&self, unit: &Unit, block: &Block) -> Vec<bool> {
        let cells = self.0.first().map_or(0, Vec::len);
        let mut before: Vec<bool> = (0..cells as u32).map(|cell| self.after(block, Cell(cell))).collect();
        let is_seen = seen_nodes(unit, |cell| self.after(block, cell));
        for &(cell, _) in &unit.finals {
            before.get_mut(cell.index()).into_iter().for_each(|seen| *seen = false);
        }
        for (node, is_seen) in unit.dataflow.nodes.iter().zip(is_seen) {
            if let Op::Input(cell) = node.op
                && is_seen
                && let Some(seen) = before.get_mut(cell.index())
            {
                *seen = true;
            }
        }
        before
    }
}

/// Returns `true` for each operation whose NaNs must be canonical.
fn seen_nodes(unit: &Unit, after: impl Fn(Cell) -> bool) -> Vec<bool> {
    let d = &unit.dataflow;
    let mut seen = vec![false; d.nodes.len()];
    let finals = unit.finals.iter().filter(|(cell, _)| after(*cell)).map(|&(_, id)| id);
    let guards = d.accesses.iter().filter_map(|access| access.guard);
    let words = d.accesses.iter().flat_map(|access| access.action.words());
    for id in finals.chain(unit.condition).chain(guards).chain(words) {
        seen[id.index()] = true;
    }
    for id in (0..d.nodes.len() as u32).rev().map(Id) {
        let (op, args, is_seen) = (d.op(id), d.args(id), seen[id.index()]);
        let mut see = |arg: Id, is_seen: bool| seen[arg.index()] |= is_seen;
        match (op, args.as_slice()) {
            (Op::Select, &[condition, a, b]) => {
                see(condition, true);
                [a, b].into_iter().for_each(|arg| see(arg, is_seen));
            }
            (Op::Xor | Op::And, &[x, bits]) if is_of_sign(d, op, bits) => see(x, is_seen),
            (op, _) if takes_any_nan(op) && d.shape(id).is_varying() => {}
            _ => args.iter().for_each(|&arg| see(arg, true)),
        }
    }
    seen
}
