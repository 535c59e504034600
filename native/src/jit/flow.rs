//! What holds between blocks: which cells are alive, the shapes of what they hold, and where items that diverged reconverge.

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

/// A set of cells for each block.
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

    /// The cells of a block's set, in order.
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

/// The facts of all blocks that are reached.
pub(super) struct Flow {
    /// What the cells hold before a block, where all items of a row run it together: of cells that are alive there.
    before: Vec<Vec<Shape>>,
    /// The cells that a block writes, and what they hold after it; `None` for blocks that are never reached.
    after: Vec<Option<Vec<(Cell, Shape)>>>,
    pub live: CellSets,
    /// Whether any branch goes backward.
    pub has_loop: bool,
    /// The blocks at whose end items may diverge.
    pub divergences: BTreeMap<BlockId, Divergence>,
    /// What the cells hold wherever items have diverged. Cells that are written there are rows.
    pub divergent: Vec<Shape>,
    /// The blocks that diverged items may be at.
    reached_diverged: Vec<bool>,
    /// Cells that are alive at the start as rows, but for special registers.
    pub entry_rows: Vec<Cell>,
}

/// What there is to do where items diverge at the end of a block.
pub(super) struct Divergence {
    /// The block at which all reconverge, if that is known.
    pub reconvergence: Option<BlockId>,
    /// Cells that must become rows, with the shape that they have.
    pub spread: Vec<(Cell, Shape)>,
    /// Those that must where items reconverge.
    pub rejoin: Vec<(Cell, Shape)>,
}

/// A block's effect on the cells, whatever they hold.
struct Summary {
    reads: Vec<Cell>,
    kills: Vec<Cell>,
    writes: Vec<Cell>,
}

/// Facts of cells at blocks, of which there may be no more.
const MAX_FACTS: usize = 1 << 24;
/// Blocks that are looked at for one point of reconvergence at most; where there are more, items stay diverged.
const MAX_REGION: usize = 256;
/// Candidates for a point of reconvergence at most.
const MAX_MEETINGS: usize = 16;

impl Flow {
    /// The facts, and the blocks as they are where all items of a row run them together, where they are reached.
    pub fn new(
        kernel: &Kernel<'_>,
        layout: Layout,
        blocks: &[Block],
        cells: &mut Cells,
    ) -> Result<(Flow, Vec<Option<Unit>>), NativeError> {
        Flow::of(kernel, layout, blocks, cells, true)
    }

    /// The same where items that have diverged do not reconverge.
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

    /// Fills in what is to be known of items that have diverged.
    fn diverge(
        &mut self,
        blocks: &[Block],
        summaries: &[Summary],
        reconvergences: &BTreeMap<BlockId, Option<Reconvergence>>,
    ) {
        let successors = |id: BlockId| blocks.get(id.index()).into_iter().flat_map(Block::successors);
        // Without a point of reconvergence items may go anywhere.
        let mut open: Vec<BlockId> = Vec::new();
        for (&from, reconvergence) in reconvergences {
            match reconvergence {
                Some(reconvergence) if !reconvergence.is_open => {
                    reconvergence.region.iter().for_each(|id| self.reached_diverged[id.index()] = true)
                }
                _ => open.extend(successors(from)),
            }
        }
        // Where items meet, some may go on before others.
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
        // What is given is given to each.
        for of in meetings.iter().filter_map(|id| summaries.get(id.index())) {
            of.writes.iter().for_each(|cell| written[cell.index()] = true);
        }
        let alive = |from: BlockId| -> BTreeSet<Cell> {
            let after = successors(from).flat_map(|next| self.live.iter(next));
            // They diverge before they meet.
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

    /// Whether items may come to a block together.
    fn is_reached(&self, block: BlockId) -> bool {
        self.after.get(block.index()).is_some_and(Option::is_some)
    }

    /// Whether items may come to a block while they are diverged.
    pub fn reaches_diverged(&self, block: BlockId) -> bool {
        self.reached_diverged.get(block.index()).is_some_and(|&reached| reached)
    }

    /// How many cells are rows somewhere.
    pub fn varying(&self, blocks: &[Block], cells: usize) -> usize {
        let mut varying = vec![false; cells];
        for (id, _) in (0..).map(BlockId).zip(blocks) {
            for cell in self.live.iter(id) {
                varying[cell.index()] |= self.shape_before(id, cell).is_varying();
            }
        }
        varying.iter().filter(|&&varying| varying).count()
    }

    /// The shape of what a cell holds after a block, where all items run it together.
    pub fn shape_after(&self, block: BlockId, cell: Cell) -> Shape {
        let written = self.after.get(block.index()).and_then(Option::as_ref);
        let written = written.and_then(|written| {
            let place = written.binary_search_by_key(&cell, |(cell, _)| *cell).ok()?;
            Some(written.get(place)?.1)
        });
        written.unwrap_or_else(|| self.shape_before(block, cell))
    }

    /// What the cells hold before a block, where all items run it together.
    pub fn before(&self, block: BlockId) -> &[Shape] {
        self.before.get(block.index()).map_or(&[], Vec::as_slice)
    }

    /// The same of a cell.
    pub fn shape_before(&self, block: BlockId, cell: Cell) -> Shape {
        let shapes = self.before.get(block.index());
        shapes.and_then(|shapes| shapes.get(cell.index())).copied().unwrap_or(Shape::Varying)
    }
}

/// What the cells hold at the start: zeros, but for special registers.
fn entry(kernel: &Kernel<'_>, layout: Layout, cells: &Cells) -> Vec<Shape> {
    let mut shapes = vec![Shape::Uniform; cells.len()];
    for &register in kernel.specials {
        if let Some(shape) = cells.find(Name::Special(register)).and_then(|cell| shapes.get_mut(cell.index())) {
            *shape = layout.shape(register);
        }
    }
    shapes
}

/// The blocks that are reached, each before those that follow it but for backward branches.
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

/// Words of kernels of which it is asked whose values are wanted.
const NARROWED: usize = 512;

/// Whether it is asked of a kernel: of groups, whose items do much under guards.
fn is_narrowed(kernel: &Kernel<'_>) -> bool {
    kernel.groups.is_some() && kernel.front.count() <= NARROWED
}

/// For each block the cells that are read after its start before they are written for all items; where there are units, of those that
/// are read for what is wanted.
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
            // The inputs of a unit may shrink as more cells are live, so sets only grow: else two states could alternate.
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

/// Where items that diverge at the end of a block all reconverge.
struct Reconvergence {
    at: BlockId,
    /// The blocks on the way there.
    region: BTreeSet<BlockId>,
    /// Items wait there for others, or let them run: they may come to the point of reconvergence apart, and go on so.
    is_open: bool,
}

struct Solver<'a> {
    kernel: &'a Kernel<'a>,
    blocks: &'a [Block],
    summaries: Vec<Summary>,
    post_dominators: Vec<Option<BlockId>>,
    live: &'a CellSets,
    /// The blocks as they are whatever the cells hold, until they are taken; the first one as it is at the start of the kernel, unless
    /// something returns there.
    of_any: Vec<Option<Unit>>,
    returns: bool,
    units: Vec<Option<Unit>>,
    before: Vec<Vec<Shape>>,
    /// The blocks that shapes have come to.
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
        // What has changed after is found in the next round.
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
        // What it reads is of no shape that would tell more.
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

    /// Where all items reconverge that diverge at the end of a block and then go on lowest address first.
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
