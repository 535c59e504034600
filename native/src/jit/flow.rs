//! Data flow between blocks: liveness, the shapes of the cells, and the points at which divergent
//! items reconverge.

use std::collections::{BTreeMap, BTreeSet};

use arrayvec::ArrayVec;
use halfbyte_abi::cooperative;

use super::cells::{Cell, Cells, Name};
use super::dataflow::Shape;
use super::demand;
use super::front::Kernel;
use super::graph::{Block, BlockId, Next};
use super::layout::Layout;
use super::unit::{Items, Unit};
use crate::clif::NativeError;

/// Set of cells for each block.
pub(super) struct CellSets {
    words: usize,
    bits: Vec<u64>,
}

impl CellSets {
    fn new(blocks: usize, cells: usize) -> CellSets {
        let words = cells.div_ceil(64);
        CellSets { words, bits: vec![0; words * blocks] }
    }

    fn of(&self, block: BlockId) -> &[u64] {
        let start = block.index() * self.words;
        self.bits.get(start..start + self.words).unwrap_or_default()
    }

    pub fn has(&self, block: BlockId, cell: Cell) -> bool {
        self.of(block).get(cell.index() / 64).is_some_and(|word| word >> (cell.index() % 64) & 1 != 0)
    }

    /// Returns the cells in the set of a block, in order.
    pub fn iter(&self, block: BlockId) -> impl Iterator<Item = Cell> {
        let cells = |(base, &word): (usize, &u64)| {
            let bit = move |left: &u64| Some(*left & left.wrapping_sub(1)).filter(|_| *left != 0);
            std::iter::successors(Some(word), bit)
                .take_while(|&left| left != 0)
                .map(move |left| Cell((64 * base) as u32 + left.trailing_zeros()))
        };
        self.of(block).iter().enumerate().flat_map(cells)
    }
}

/// Facts about all reachable blocks.
pub(super) struct Flow {
    /// Shapes of the cells before a block that all items of a row run together. Only the shapes of live cells are
    /// valid.
    before: Vec<Vec<Shape>>,
    /// Cells that a block writes, with their shapes after the block; `None` for blocks that are never reached.
    after: Vec<Option<Vec<(Cell, Shape)>>>,
    pub live: CellSets,
    /// `true` if a branch goes backward.
    pub has_loop: bool,
    /// Blocks at whose end items may diverge.
    pub divergences: BTreeMap<BlockId, Divergence>,
    /// Shapes of the cells while items are divergent. Cells that are written during divergence are rows.
    pub divergent: Vec<Shape>,
    /// Blocks that divergent items may reach.
    reached_diverged: Vec<bool>,
    /// Cells that are live at the start and are rows, except for special registers.
    pub entry_rows: Vec<Cell>,
}

/// Changes to the cells if items diverge at the end of a block.
pub(super) struct Divergence {
    /// Block at which all items reconverge, if it is known.
    pub reconvergence: Option<BlockId>,
    /// Cells that must become rows, with their shapes before that.
    pub spread: Vec<(Cell, Shape)>,
    /// Cells that must become rows at the reconvergence, with their shapes before that.
    pub rejoin: Vec<(Cell, Shape)>,
}

/// Effect of a block on the cells, for any values of the cells.
struct Summary {
    reads: Vec<Cell>,
    kills: Vec<Cell>,
    writes: Vec<Cell>,
}

/// Maximum number of facts, which are pairs of a block and a cell.
const MAX_FACTS: usize = 1 << 24;
/// Maximum number of blocks between a divergence and its reconvergence. In larger regions, items stay divergent.
const MAX_REGION: usize = 256;
/// Maximum number of candidates for a point of reconvergence.
const MAX_MEETINGS: usize = 16;

impl Flow {
    /// Returns the facts, and the reachable blocks as all items of a row run them together.
    pub fn new(
        kernel: &Kernel<'_>,
        layout: Layout,
        blocks: &[Block],
        cells: &mut Cells,
    ) -> Result<(Flow, Vec<Option<Unit>>), NativeError> {
        Flow::of(kernel, layout, blocks, cells, true)
    }

    /// Returns the same facts under the assumption that divergent items never reconverge.
    #[cfg(feature = "aot")]
    pub fn without_reconvergence(
        kernel: &Kernel<'_>,
        layout: Layout,
        blocks: &[Block],
        cells: &mut Cells,
    ) -> Result<(Flow, Vec<Option<Unit>>), NativeError> {
        Flow::of(kernel, layout, blocks, cells, false)
    }

    fn of(
        kernel: &Kernel<'_>,
        layout: Layout,
        blocks: &[Block],
        cells: &mut Cells,
        reconverges: bool,
    ) -> Result<(Flow, Vec<Option<Unit>>), NativeError> {
        let is_narrowed = is_narrowed(kernel);
        let returns = blocks.iter().flat_map(Block::successors).any(|next| next == BlockId(0));
        let unit = |(id, block)| match id {
            BlockId(0) if !returns => kernel.front.unit(block, cells, Items::Start(layout)),
            _ => kernel.front.unit(block, cells, Items::All(&[])),
        };
        let of_any: Vec<Unit> = (0..).map(BlockId).zip(blocks).map(unit).collect();
        let summary = |unit: &Unit| {
            let writes = unit.finals.iter().map(|&(cell, _)| cell).collect();
            Summary { writes, reads: unit.reads.clone(), kills: unit.kills.clone() }
        };
        let summaries: Vec<Summary> = of_any.iter().map(summary).collect();
        if blocks.len().saturating_mul(cells.len()) > MAX_FACTS {
            return Err(NativeError::TooLarge);
        }
        let order = reverse_post_order(blocks);
        let narrowed = if is_narrowed { of_any.as_slice() } else { &[] };
        let live = liveness(blocks, &order, &summaries, narrowed, cells.len());
        let mut solver = Solver {
            kernel,
            blocks,
            summaries,
            post_dominators: post_dominators(blocks),
            live: &live,
            of_any: of_any.into_iter().map(Some).collect(),
            returns,
            units: blocks.iter().map(|_| None).collect(),
            before: blocks.iter().map(|_| Vec::new()).collect(),
            reached: vec![false; blocks.len()],
            divergences: BTreeMap::new(),
        };
        let entry = entry(kernel, layout, cells);
        solver.solve(&order, entry, cells);
        let Solver { mut units, before, mut divergences, summaries, .. } = solver;
        if !reconverges {
            divergences.values_mut().for_each(|reconvergence| *reconvergence = None);
        }
        if is_narrowed {
            for (block, unit) in blocks.iter().zip(&mut units) {
                let is_alive = |cell| block.successors().any(|next| live.has(next, cell));
                unit.iter_mut().for_each(|unit| demand::narrow(unit, is_alive));
            }
        }
        let shapes = |unit: &Unit| unit.finals.iter().map(|&(cell, id)| (cell, unit.dataflow.shape(id))).collect();
        let after = units.iter().map(|unit| unit.as_ref().map(shapes)).collect();
        let has_loop = blocks.iter().any(Block::goes_back);
        let mut flow = Flow {
            before,
            after,
            live,
            has_loop,
            divergences: BTreeMap::new(),
            divergent: vec![Shape::Varying; cells.len()],
            reached_diverged: vec![false; blocks.len()],
            entry_rows: Vec::new(),
        };
        flow.diverge(blocks, &summaries, &divergences);
        let is_row = |&cell: &Cell| flow.shape_before(BlockId(0), cell).is_varying();
        let is_special =
            |cell: &Cell| kernel.specials.iter().any(|&register| cells.find(Name::Special(register)) == Some(*cell));
        flow.entry_rows = flow.live.iter(BlockId(0)).filter(is_row).filter(|cell| !is_special(cell)).collect();
        Ok((flow, units))
    }

    /// Computes the facts about divergent items.
    fn diverge(
        &mut self,
        blocks: &[Block],
        summaries: &[Summary],
        reconvergences: &BTreeMap<BlockId, Option<Reconvergence>>,
    ) {
        let successors = |id: BlockId| blocks.get(id.index()).into_iter().flat_map(Block::successors);
        // Without a point of reconvergence, divergent items may reach every successor.
        let mut open: Vec<BlockId> = Vec::new();
        for (&from, reconvergence) in reconvergences {
            match reconvergence {
                Some(reconvergence) if !reconvergence.is_open => {
                    reconvergence.region.iter().for_each(|id| self.reached_diverged[id.index()] = true)
                }
                _ => open.extend(successors(from)),
            }
        }
        // At a collective operation, some items may continue before others.
        let meets = |id: &BlockId| matches!(blocks[id.index()].next, Next::Meet { .. });
        let meetings = (0..blocks.len() as u32).map(BlockId).filter(|id| meets(id) && self.is_reached(*id));
        let meetings: Vec<BlockId> = meetings.collect();
        open.extend(meetings.iter().copied().flat_map(successors));
        let mut seen = vec![false; blocks.len()];
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut seen[id.index()], true) {
                self.reached_diverged[id.index()] = true;
                open.extend(successors(id));
            }
        }
        let mut written = vec![false; self.divergent.len()];
        for (summary, _) in summaries.iter().zip(&self.reached_diverged).filter(|(_, reached)| **reached) {
            summary.writes.iter().for_each(|cell| written[cell.index()] = true);
        }
        // The result of a collective operation is written for each item.
        for of in meetings.iter().filter_map(|id| summaries.get(id.index())) {
            of.writes.iter().for_each(|cell| written[cell.index()] = true);
        }
        let alive = |from: BlockId| -> BTreeSet<Cell> {
            let after = successors(from).flat_map(|next| self.live.iter(next));
            // Items diverge before the collective operation.
            after.chain(self.live.iter(from).filter(|_| meets(&from))).collect()
        };
        let shape = |flow: &Flow, from: BlockId, cell: Cell| match meets(&from) {
            true => flow.shape_before(from, cell),
            false => flow.shape_after(from, cell),
        };
        let mut shapes: Vec<Option<Shape>> = vec![None; self.divergent.len()];
        let divergences: Vec<(BlockId, BTreeSet<Cell>)> =
            reconvergences.keys().chain(&meetings).map(|&from| (from, alive(from))).collect();
        for (from, alive) in &divergences {
            for &cell in alive.iter().filter(|cell| !written[cell.index()]) {
                let shape = shape(self, *from, cell);
                let known = &mut shapes[cell.index()];
                *known = Some(known.map_or(shape, |known| known.meet(shape)));
            }
        }
        self.divergent = shapes.into_iter().map(|shape| shape.unwrap_or(Shape::Varying)).collect();
        for (from, alive) in divergences {
            let reconvergence = reconvergences.get(&from).and_then(Option::as_ref).filter(|of| !of.is_open);
            let rows = alive.into_iter().filter(|cell| self.divergent[cell.index()].is_varying());
            let spread = rows.filter_map(|cell| Some((cell, shape(self, from, cell).even()?))).collect();
            let reconvergence = reconvergence.map(|reconvergence| reconvergence.at);
            let kept = reconvergence.into_iter().flat_map(|at| self.live.iter(at).map(move |cell| (at, cell)));
            let rows = kept.filter(|&(at, cell)| self.shape_before(at, cell).is_varying());
            let rejoin = rows.filter_map(|(_, cell)| Some((cell, self.divergent[cell.index()].even()?))).collect();
            self.divergences.insert(from, Divergence { reconvergence, spread, rejoin });
        }
    }

    /// Returns `true` if items may reach a block together.
    fn is_reached(&self, block: BlockId) -> bool {
        self.after.get(block.index()).is_some_and(Option::is_some)
    }

    /// Returns `true` if items may reach a block while they are divergent.
    pub fn reaches_diverged(&self, block: BlockId) -> bool {
        self.reached_diverged.get(block.index()).is_some_and(|&reached| reached)
    }

    /// Returns the number of cells that are rows at the start of some block.
    pub fn varying(&self, blocks: &[Block], cells: usize) -> usize {
        let mut varying = vec![false; cells];
        for (id, _) in (0..).map(BlockId).zip(blocks) {
            for cell in self.live.iter(id) {
                varying[cell.index()] |= self.shape_before(id, cell).is_varying();
            }
        }
        varying.iter().filter(|&&varying| varying).count()
    }

    /// Returns the shape of a cell after a block that all items run together.
    pub fn shape_after(&self, block: BlockId, cell: Cell) -> Shape {
        let written = self.after.get(block.index()).and_then(Option::as_ref);
        let written = written.and_then(|written| {
            let place = written.binary_search_by_key(&cell, |(cell, _)| *cell).ok()?;
            Some(written.get(place)?.1)
        });
        written.unwrap_or_else(|| self.shape_before(block, cell))
    }

    /// Returns the shapes of the cells before a block that all items run together.
    pub fn before(&self, block: BlockId) -> &[Shape] {
        self.before.get(block.index()).map_or(&[], Vec::as_slice)
    }

    /// Returns the shape of a cell before a block that all items run together.
    pub fn shape_before(&self, block: BlockId, cell: Cell) -> Shape {
        let shapes = self.before.get(block.index());
        shapes.and_then(|shapes| shapes.get(cell.index())).copied().unwrap_or(Shape::Varying)
    }
}

/// Returns the shapes of the cells at the start. All cells are zero except for special registers.
fn entry(kernel: &Kernel<'_>, layout: Layout, cells: &Cells) -> Vec<Shape> {
    let mut shapes = vec![Shape::Uniform; cells.len()];
    for &register in kernel.specials {
        if let Some(shape) = cells.find(Name::Special(register)).and_then(|cell| shapes.get_mut(cell.index())) {
            *shape = layout.shape(register);
        }
    }
    shapes
}

/// Returns the reachable blocks. Except for backward branches, each block precedes its successors.
fn reverse_post_order(blocks: &[Block]) -> Vec<BlockId> {
    let mut order = Vec::with_capacity(blocks.len());
    let mut seen = vec![false; blocks.len()];
    let mut stack: Vec<(BlockId, ArrayVec<BlockId, 2>)> = Vec::new();
    let mut open = |id: BlockId, stack: &mut Vec<(BlockId, ArrayVec<BlockId, 2>)>| {
        if let (Some(block), Some(false)) = (blocks.get(id.index()), seen.get(id.index())) {
            seen[id.index()] = true;
            stack.push((id, block.successors().collect()));
        }
    };
    open(BlockId(0), &mut stack);
    while let Some((id, next)) = stack.last_mut() {
        match next.pop() {
            Some(next) => open(next, &mut stack),
            None => {
                order.push(*id);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Maximum number of instructions of a kernel for demand analysis.
const NARROWED: usize = 512;

/// Returns `true` if demand analysis applies to a kernel. Cooperative kernels do much work under guards.
fn is_narrowed(kernel: &Kernel<'_>) -> bool {
    kernel.groups.is_some() && kernel.front.count() <= NARROWED
}

/// Returns the live cells at the start of each block. A cell is live if it is read before it is written for all items.
/// If there are units, only reads that are needed count.
fn liveness(blocks: &[Block], order: &[BlockId], summaries: &[Summary], units: &[Unit], cells: usize) -> CellSets {
    let mut live = CellSets::new(blocks.len(), cells);
    let successors: Vec<ArrayVec<BlockId, 2>> =
        order.iter().map(|id| blocks[id.index()].successors().collect()).collect();
    let mut set = vec![0; live.words];
    let mut changed = true;
    while changed {
        changed = false;
        for (id, next) in order.iter().zip(&successors).rev() {
            set.fill(0);
            for &next in next {
                set.iter_mut().zip(live.of(next)).for_each(|(word, next)| *word |= next);
            }
            let bit = |cell: &Cell| (cell.index() / 64, 1 << (cell.index() % 64));
            let summary = &summaries[id.index()];
            match units.get(id.index()) {
                Some(unit) if !matches!(blocks[id.index()].next, Next::Meet { .. }) => {
                    let is_alive = |cell: Cell| set[cell.index() / 64] >> (cell.index() % 64) & 1 != 0;
                    let read = demand::inputs(unit, is_alive);
                    for (word, bit) in summary.writes.iter().map(bit) {
                        set[word] &= !bit;
                    }
                    for (word, bit) in read.iter().map(bit) {
                        set[word] |= bit;
                    }
                }
                _ => {
                    for (word, bit) in summary.kills.iter().map(bit) {
                        set[word] &= !bit;
                    }
                    for (word, bit) in summary.reads.iter().map(bit) {
                        set[word] |= bit;
                    }
                }
            }
            let start = id.index() * live.words;
            // The inputs of a unit may shrink as more cells are live. Sets therefore only grow, because two states
            // could alternate otherwise.
            for (old, word) in live.bits[start..start + live.words].iter_mut().zip(&set) {
                changed |= word & !*old != 0;
                *old |= word;
            }
        }
    }
    live
}

/// Immediate post-dominator of each block, if any.
fn post_dominators(blocks: &[Block]) -> Vec<Option<BlockId>> {
    let end = blocks.len();
    let successors = |block: &Block| {
        let may_end = matches!(block.next, Next::ExitIf { .. }).then_some(end);
        block.successors().map(BlockId::index).chain(may_end).collect()
    };
    let graph: Vec<Vec<usize>> = blocks.iter().map(successors).collect();
    cooperative::post_dominators(&graph).into_iter().map(|block| block.map(|block| BlockId(block as u32))).collect()
}

/// Point at which all items reconverge that diverge at the end of a block.
struct Reconvergence {
    at: BlockId,
    /// Blocks on the paths to the point of reconvergence.
    region: BTreeSet<BlockId>,
    /// `true` if items wait for others in the region, or let others run. Such items may reach the point of
    /// reconvergence at different times, and stay divergent.
    is_open: bool,
}

struct Solver<'a> {
    kernel: &'a Kernel<'a>,
    blocks: &'a [Block],
    summaries: Vec<Summary>,
    post_dominators: Vec<Option<BlockId>>,
    live: &'a CellSets,
    /// Units for cells of any shape, until they are used. Unless a block branches to block 0, its unit is the one for
    /// the start of the kernel.
    of_any: Vec<Option<Unit>>,
    returns: bool,
    units: Vec<Option<Unit>>,
    before: Vec<Vec<Shape>>,
    /// Blocks that shapes have been propagated to.
    reached: Vec<bool>,
    divergences: BTreeMap<BlockId, Option<Reconvergence>>,
}

impl Solver<'_> {
    fn solve(&mut self, order: &[BlockId], entry: Vec<Shape>, cells: &mut Cells) {
        let Some(before) = self.before.first_mut() else { return };
        *before = entry;
        self.reached[0] = true;
        let mut pending = vec![false; self.blocks.len()];
        pending[0] = true;
        // Changes to earlier blocks of the order are found in the next iteration.
        let mut changed = true;
        while changed {
            changed = false;
            for &id in order {
                if std::mem::take(&mut pending[id.index()]) {
                    self.visit(id, cells, &mut pending);
                    changed = true;
                }
            }
        }
    }

    fn visit(&mut self, id: BlockId, cells: &mut Cells, pending: &mut [bool]) {
        let block = &self.blocks[id.index()];
        let before = &self.before[id.index()];
        // The shapes of the cells that the block reads would not improve the unit.
        let is_any = |cell: &Cell| before.get(cell.index()).is_none_or(|shape| shape.is_varying());
        let is_known = id == BlockId(0) && !self.returns || self.summaries[id.index()].reads.iter().all(is_any);
        let of_any = is_known.then(|| self.of_any[id.index()].take());
        let unit = match of_any.flatten() {
            Some(unit) => unit,
            None => self.kernel.front.unit(block, cells, Items::All(before)),
        };
        let mut out = self.before[id.index()].clone();
        for &(cell, value) in &unit.finals {
            out[cell.index()] = unit.dataflow.shape(value);
        }
        if !unit.dead {
            for next in block.successors() {
                self.flow_into(next, &out, pending);
            }
            let varies = unit.condition.is_some_and(|condition| unit.dataflow.shape(condition).is_varying());
            if varies && !self.divergences.contains_key(&id) {
                let reconvergence = match block.next {
                    Next::ExitIf { .. } => None,
                    _ => self.reconvergence(id, block),
                };
                self.divergences.insert(id, reconvergence);
            }
            if varies && let Some(Some(Reconvergence { at, region, .. })) = self.divergences.get(&id) {
                for written in region.iter().flat_map(|id| &self.summaries[id.index()].writes) {
                    out[written.index()] = Shape::Varying;
                }
                self.flow_into(*at, &out, pending);
            }
        }
        self.units[id.index()] = Some(unit);
    }

    fn flow_into(&mut self, id: BlockId, out: &[Shape], pending: &mut [bool]) {
        let shapes = &mut self.before[id.index()];
        if !std::mem::replace(&mut self.reached[id.index()], true) {
            *shapes = out.to_vec();
            pending[id.index()] = true;
            return;
        }
        for cell in self.live.iter(id) {
            let (shape, &new) = (&mut shapes[cell.index()], &out[cell.index()]);
            let met = shape.meet(new);
            if met != *shape {
                *shape = met;
                pending[id.index()] = true;
            }
        }
    }

    /// Returns the point at which all items reconverge that diverge at the end of a block. Divergent items run the
    /// block with the lowest address first.
    fn reconvergence(&self, id: BlockId, block: &Block) -> Option<Reconvergence> {
        let mut at = self.post_dominators[id.index()]?;
        for _ in 0..MAX_MEETINGS {
            let mut region = BTreeSet::new();
            let mut stack: Vec<BlockId> = block.successors().collect();
            while let Some(next) = stack.pop() {
                if next != at && region.insert(next) {
                    stack.extend(self.blocks[next.index()].successors());
                }
                if region.len() > MAX_REGION {
                    return None;
                }
            }
            if region.last().is_none_or(|&last| last < at) {
                let lets_others = |id: &BlockId| {
                    let block = &self.blocks[id.index()];
                    block.yields || matches!(block.next, Next::Meet { .. })
                };
                let is_open = region.iter().any(lets_others);
                return Some(Reconvergence { at, region, is_open });
            }
            at = self.post_dominators[at.index()]?;
        }
        None
    }
}
