//! Control flow of a gang.
//!
//! Items that have not diverged run each block together. After a divergent branch, the blocks run
//! in order, each under the mask of the items that wait for the block.

use std::collections::BTreeMap;

use super::fixed::Contents;
use super::lower::{Facts, Lower};
use super::{Binary, Block, Builder, Cell, End, Function, Node, Target, Value};
use crate::jit::{self, BlockId, CellNumber, Next, Shape, Unit};

/// Returns the function of a kernel. Returns `None` if an operation has no form in vectors.
pub fn function(facts: &Facts<'_>) -> Option<Function> {
    let first = facts.gang.together.first()?.as_ref()?;
    let lower = Lower::new(facts, first);
    let exits = facts.blocks.iter().map(|_| None).collect();
    let mut gang = Emitter { lower, together: Vec::new(), apart: Vec::new(), before: None, exits };
    let entry = gang.reserve();
    gang.together = facts.blocks.iter().map(|_| gang.reserve()).collect();
    gang.apart = facts.blocks.iter().map(|_| gang.reserve()).collect();
    gang.start(entry)?;
    for (id, block) in (0..).map(BlockId).zip(facts.blocks) {
        if let Some(Some(unit)) = facts.gang.together.get(id.index()) {
            gang.run_together(id, block, unit)?;
        }
    }
    for (id, block) in (0..).map(BlockId).zip(facts.blocks) {
        if let Some(Some(unit)) = facts.gang.masked.get(id.index()) {
            gang.run_apart(id, block, unit)?;
        }
    }
    let Lower { mut function, setup, .. } = gang.lower;
    function.setup = setup.nodes;
    function.prune();
    Some(function)
}

/// Returns, by block, `true` if a path leads to the block from `from` that avoids `without`.
fn reached(facts: &Facts<'_>, from: BlockId, without: Option<BlockId>) -> Vec<bool> {
    let mut is_reached = vec![false; facts.blocks.len()];
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        let Some(place) = is_reached.get_mut(block.index()).filter(|place| !**place) else { continue };
        if Some(block) == without {
            continue;
        }
        *place = true;
        open.extend(facts.blocks.get(block.index()).into_iter().flat_map(jit::Block::successors));
    }
    is_reached
}

struct Emitter<'a> {
    lower: Lower<'a>,
    /// By block of the kernel, the block that all items run, and the block that diverged items run.
    together: Vec<u32>,
    apart: Vec<u32>,
    /// Entry block, and the contents of cells at the entry. The first block of the kernel becomes the entry block.
    before: Option<(u32, Vec<(Cell, Value)>)>,
    /// By block of the kernel, the contents of cells after all items have run the block together.
    exits: Vec<Option<BTreeMap<CellNumber, Contents>>>,
}

impl<'a> Emitter<'a> {
    /// Adds a block. The block gives the gang up until `set` defines its contents.
    fn reserve(&mut self) -> u32 {
        let blocks = &mut self.lower.function.blocks;
        blocks.push(Block { nodes: Vec::new(), end: End::Jump(Target::GiveUp) });
        blocks.len() as u32 - 1
    }

    /// Sets the contents of a block to the nodes of the builder.
    fn set(&mut self, block: u32, end: End) {
        let nodes = std::mem::take(&mut self.lower.b).nodes;
        if let Some(place) = self.lower.function.blocks.get_mut(block as usize) {
            *place = Block { nodes, end };
        }
    }

    /// Returns the cell with the mask of the items that wait for a block.
    fn waiting(&self, id: BlockId) -> Cell {
        Cell((self.lower.facts.cells.len() + id.index()) as u32)
    }

    /// Returns the cell with the condition on which items diverge.
    fn condition(&self) -> Cell {
        Cell((self.lower.facts.cells.len() + self.lower.facts.blocks.len()) as u32)
    }

    /// Sets the cells at the start of a gang. The first block reuses the values of these cells if no branch targets the
    /// block.
    fn start(&mut self, entry: u32) -> Option<()> {
        let gang = self.lower.facts.gang;
        let blocks = self.lower.facts.blocks;
        let is_target = blocks.iter().any(|block| block.successors().any(|next| next == BlockId(0)));
        let zero = self.lower.b.constant(0);
        let mut cells = Vec::new();
        for cell in gang.live_at_start() {
            let value = match gang.start.iter().find(|(other, _)| *other == cell) {
                None => zero,
                Some(&(_, shape)) => {
                    let first = self.lower.at_start(cell)?;
                    match shape {
                        Shape::Uniform => first,
                        _ => {
                            let along = self.lower.b.push(Node::First);
                            self.lower.b.words(Binary::Add, first, along)
                        }
                    }
                }
            };
            cells.push((self.lower.cell(cell), value));
            if is_target || blocks.first().is_some_and(|block| gang.is_live_after(block, cell)) {
                let to = self.lower.cell(cell);
                self.lower.b.push(Node::SetCell(to, value));
            }
        }
        let first = *self.together.first()?;
        if is_target {
            self.set(entry, End::Jump(Target::Block(first)));
        } else {
            self.before = Some((entry, cells));
        }
        Some(())
    }

    /// Returns the target at which all items continue together. A backward branch first reaches a counting block.
    fn to(&mut self, target: jit::Target) -> Target {
        let jit::Target::Block { id, backward } = target else { return Target::GiveUp };
        let Some(&block) = self.together.get(id.index()) else { return Target::GiveUp };
        if backward { self.counted(Target::Block(block)) } else { Target::Block(block) }
    }

    /// Returns a block that counts a backward branch and jumps to `target`.
    fn counted(&mut self, target: Target) -> Target {
        let block = self.reserve();
        self.in_block(block, |gang| {
            gang.lower.b.push(Node::Count);
            Some(End::Jump(target))
        });
        Target::Block(block)
    }

    /// Makes a block while another block is lowered.
    fn in_block(&mut self, block: u32, make: impl FnOnce(&mut Self) -> Option<End>) {
        let outer = std::mem::take(&mut self.lower.b);
        if let Some(end) = make(self) {
            self.set(block, end);
        }
        self.lower.b = outer;
    }

    /// Writes the cells that a block changes and that are live after the block.
    fn finish(&mut self, block: &jit::Block, unit: &Unit) -> Option<()> {
        let gang = self.lower.facts.gang;
        let live = unit.finals.iter().filter(|&&(cell, _)| gang.is_live_after(block, cell));
        let mut written = Vec::new();
        for &(cell, id) in live {
            let is_seen = gang.seen_nans.after(block, cell);
            let value = if is_seen { self.lower.value(id) } else { self.lower.float(id) };
            written.push((self.lower.cell(cell), value?));
        }
        for (cell, value) in written {
            self.lower.b.push(Node::SetCell(cell, value));
        }
        Some(())
    }

    /// Returns the contents of cells before a block. Except for the body of a loop that begins here, the predecessors
    /// are already lowered.
    fn before_block(&self, id: BlockId) -> BTreeMap<CellNumber, Contents> {
        let facts = self.lower.facts;
        let is_run = |from: &usize| matches!(facts.gang.together.get(*from), Some(Some(_)));
        let leads_here =
            |from: &usize| facts.blocks.get(*from).is_some_and(|block| block.successors().any(|to| to == id));
        let mut cells: Option<BTreeMap<CellNumber, Contents>> = None;
        let mut begins_loop = false;
        for from in (0..facts.blocks.len()).filter(is_run).filter(leads_here) {
            match (self.exits.get(from), &mut cells) {
                _ if from >= id.index() => begins_loop = true,
                (Some(Some(exit)), None) => cells = Some(exit.clone()),
                (Some(Some(exit)), Some(cells)) => cells.retain(|cell, contents| exit.get(cell) == Some(contents)),
                _ => return BTreeMap::new(),
            }
        }
        let mut cells = cells.unwrap_or_default();
        if begins_loop {
            // A later predecessor that the block does not dominate may leave any contents.
            let is_reached = reached(facts, BlockId(0), Some(id));
            if (id.index()..facts.blocks.len()).filter(leads_here).any(|from| is_reached.get(from) == Some(&true)) {
                return BTreeMap::new();
            }
            let units = facts.gang.together.iter().zip(reached(facts, id, None));
            for unit in units.filter_map(|(unit, is_reached)| unit.as_ref().filter(|_| is_reached)) {
                unit.finals.iter().for_each(|(cell, _)| {
                    cells.remove(cell);
                });
            }
        }
        cells
    }

    fn run_together(&mut self, id: BlockId, block: &jit::Block, unit: &'a Unit) -> Option<()> {
        let &(mut label) = self.together.get(id.index())?;
        let start = std::mem::take(&mut self.lower.b);
        let cells = self.before_block(id);
        self.lower.enter(id.index(), unit, None, cells);
        if let Some((entry, cells)) = self.before.take() {
            label = entry;
            self.lower.b = start;
            cells.into_iter().for_each(|(cell, value)| self.lower.b.let_cell(cell, value));
        }
        if !self.lower.accesses()? || unit.dead {
            self.set(label, End::Jump(Target::GiveUp));
            return Some(());
        }
        let condition = match unit.condition {
            Some(condition) => Some(self.lower.value(condition)?),
            None => None,
        };
        self.finish(block, unit)?;
        if self.lower.facts.hoists {
            *self.exits.get_mut(id.index())? = Some(self.lower.exit(block)?);
        }
        let (taken, fall) = match block.next {
            Next::To(target) => {
                let target = self.to(target);
                self.set(label, End::Jump(target));
                return Some(());
            }
            Next::Branch { taken, fall } => (Some(taken), fall),
            Next::ExitIf { fall } => (None, fall),
            Next::Exit => {
                self.set(label, End::Jump(Target::Done));
                return Some(());
            }
            Next::Undefined(_) | Next::Meet { .. } => return None,
        };
        let all = match taken {
            Some(taken) => self.to(taken),
            None => Target::Done,
        };
        let Some(condition) = condition else {
            self.set(label, End::Jump(all));
            return Some(());
        };
        let none = self.to(fall);
        let is_varying =
            unit.condition.is_some_and(|id| unit.dataflow.shape(id) != Shape::Uniform && !self.lower.is_fixed(id));
        let some = if is_varying {
            let kept = self.condition();
            self.lower.b.push(Node::SetCell(kept, condition));
            self.diverge([taken, Some(fall)])
        } else {
            Target::GiveUp
        };
        self.set(label, End::Branch { condition, all, none, some });
        Some(())
    }

    /// Returns a block at which items diverge. Items for which the condition holds go to the first target, the others
    /// to the second target. Items without a target end.
    fn diverge(&mut self, targets: [Option<jit::Target>; 2]) -> Target {
        let ids = targets.map(|target| target.map(jit::Target::block));
        let masked = &self.lower.facts.gang.masked;
        let is_made = |id: &BlockId| masked.get(id.index()).is_some_and(Option::is_some);
        if ids.iter().flatten().any(|id| !id.as_ref().is_some_and(is_made)) {
            return Target::GiveUp;
        }
        let block = self.reserve();
        self.in_block(block, |gang| {
            let zero = gang.lower.b.constant(0);
            let kept = gang.condition();
            let holds = gang.lower.b.cell(kept);
            let others = gang.lower.b.not(holds);
            let mut waits: Vec<(Cell, Value)> = Vec::new();
            for (id, holds) in ids.into_iter().zip([holds, others]) {
                let Some(Some(id)) = id else { continue };
                let cell = gang.waiting(id);
                match waits.iter_mut().find(|(other, _)| *other == cell) {
                    Some((_, value)) => *value = gang.lower.b.or(*value, holds),
                    None => waits.push((cell, holds)),
                }
            }
            for (id, _) in (0..).map(BlockId).zip(gang.lower.facts.blocks) {
                let cell = gang.waiting(id);
                let value = waits.iter().find(|(other, _)| *other == cell).map_or(zero, |(_, value)| *value);
                gang.lower.b.push(Node::SetCell(cell, value));
            }
            if targets.iter().flatten().any(|target| matches!(target, jit::Target::Block { backward: true, .. })) {
                gang.lower.b.push(Node::Count);
            }
            let lowest = ids.into_iter().flatten().flatten().min();
            let next = lowest.and_then(|id| gang.apart.get(id.index()));
            Some(End::Jump(next.map_or(Target::Done, |&block| Target::Block(block))))
        });
        Target::Block(block)
    }

    fn run_apart(&mut self, id: BlockId, block: &jit::Block, unit: &'a Unit) -> Option<()> {
        let &label = self.apart.get(id.index())?;
        let masked = &self.lower.facts.gang.masked;
        let count = self.lower.facts.blocks.len();
        let next = (id.index() + 1..count).find(|&next| masked.get(next).is_some_and(Option::is_some));
        let next = next.and_then(|next| self.apart.get(next)).map_or(Target::Done, |&block| Target::Block(block));
        let waiting = self.waiting(id);
        // Skip the block if no item waits.
        let body = self.reserve();
        self.lower.b = Builder::default();
        let mask = self.lower.b.cell(waiting);
        let some = Target::Block(body);
        self.set(label, End::Branch { condition: mask, all: some, none: next, some });
        self.lower.enter(id.index(), unit, Some(waiting), BTreeMap::new());
        let mask = self.lower.b.cell(waiting);
        if !self.lower.accesses()? || unit.dead {
            self.set(body, End::Jump(Target::GiveUp));
            return Some(());
        }
        let holds = match unit.condition {
            Some(condition) => Some(self.lower.value(condition)?),
            None => None,
        };
        self.finish(block, unit)?;
        let (taken, fall) = match block.next {
            Next::To(target) => (Some(target), None),
            Next::Branch { taken, fall } => (Some(taken), Some(fall)),
            Next::ExitIf { fall } => (None, Some(fall)),
            Next::Exit => (None, None),
            Next::Undefined(_) | Next::Meet { .. } => return None,
        };
        let zero = self.lower.b.constant(0);
        let (yes, no) = match holds {
            Some(holds) => (self.lower.b.and(mask, holds), self.lower.b.and_not(mask, holds)),
            // Without a condition the branch is always taken.
            None => (mask, zero),
        };
        let mut waits = vec![(waiting, zero)];
        let mut back = None;
        for (target, holds) in [(taken, yes), (fall, no)] {
            match target {
                None => {}
                Some(jit::Target::Block { id, backward }) => {
                    let cell = self.waiting(id);
                    match waits.iter_mut().find(|(other, _)| *other == cell) {
                        Some((_, value)) if *value == zero => *value = holds,
                        Some((_, value)) => *value = self.lower.b.or(*value, holds),
                        None => {
                            let before = self.lower.b.cell(cell);
                            let all = self.lower.b.or(before, holds);
                            waits.push((cell, all));
                        }
                    }
                    if backward {
                        back = Some(id);
                    }
                }
                Some(jit::Target::Outside(_) | jit::Target::PastEnd) => {
                    self.lower.b.push(Node::UnlessBits(holds));
                }
            }
        }
        for (cell, value) in waits {
            self.lower.b.push(Node::SetCell(cell, value));
        }
        let Some(back) = back else {
            self.set(body, End::Jump(next));
            return Some(());
        };
        let cell = self.waiting(back);
        let &again = self.apart.get(back.index())?;
        let again = self.counted(Target::Block(again));
        // A separate block reads the mask that the body has just written.
        let test = self.reserve();
        self.set(body, End::Jump(Target::Block(test)));
        let waits = self.lower.b.cell(cell);
        self.set(test, End::Branch { condition: waits, all: again, none: next, some: again });
        Some(())
    }
}
