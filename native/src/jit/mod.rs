//! The engine: translates kernels to native code that runs many work items together.
//!
//! Work items run in rows. If all items of a row are at the same block, compiled code runs them
//! together, and uniform values are computed once. If items diverge, each block runs under a mask
//! for the items at the lowest address. This ends when all items have reconverged.

mod access;
pub(crate) mod address;
mod anywhere;
mod atomic;
mod cells;
mod compile;
mod context;
mod copies;
mod cover;
mod dataflow;
mod demand;
mod doubles;
mod emit;
mod ends;
mod flow;
mod front;
#[cfg(feature = "aot")]
mod gang;
mod graph;
mod grid;
mod layout;
mod meet;
mod permute;
mod pool;
mod repeat;
mod run;
mod runner;
mod schedule;
#[cfg(feature = "aot")]
mod seen_nans;
mod sized;
mod split;
pub(crate) mod step;
mod stream;
mod strided;
#[cfg(test)]
mod tests;
mod trace;
mod unit;
mod vector;
mod wide;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZero;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use halfbyte_isa::halu::domain::SpecialReg;

use crate::clif::{NativeError, Translation, once};
use crate::launch::LaunchOptions;
pub(crate) use cells::Cell;
use compile::{Code, Form, Plans, Source, compile};
pub(crate) use context::FaultKind;
use context::Map;
pub use context::Parts;
use cover::Covers;
use flow::Flow;
use halfbyte_abi::{Stats, Work};
use layout::Layout;
pub use repeat::Repeat;
pub use step::native_effects;

// Interface for the native code of other instruction sets.
pub use access::CONSTANTS;
pub(crate) use cells::{Cells, Name};
pub(crate) use dataflow::{Access, Action, Dataflow, Id, Location, Op, Reach, Scale, Shape};
pub(crate) use front::{Front, Kernel};
pub(crate) use graph::{Block, BlockId, Leads, Next, blocks};
pub(crate) use meet::{At, Collective, Lanes, Memory, Place, Takes};
pub use run::{Reached, Stop};
use sized::GroupCodes;
use split::Split;
use stream::Runs;
pub(crate) use trace::{Build, Trace};
pub(crate) use unit::Words;
pub(crate) use unit::{Items, Unit};
#[cfg(feature = "aot")]
pub(crate) use {
    cells::Cell as CellNumber,
    emit::is_of_sign,
    gang::Gang,
    graph::Target,
    vector::video::{LaneOp, picked, written},
    vector::{cast, compare, compare_lanes, constant, elements::shuffle, integer},
};

/// Native code of a kernel, compiled on first use.
#[derive(Clone, Default)]
pub(crate) struct Jit(Arc<[OnceLock<Result<Compiled, NativeError>>; Layout::ALL.len()]>);

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("compiled", &self.0.iter().any(|made| made.get().is_some())).finish()
    }
}

impl Jit {
    /// Returns the code for a launch, and compiles the code on first use.
    fn get(&self, kernel: &Kernel<'_>, order: &LaunchOptions<'_>, layout: Layout) -> Result<&Compiled, NativeError> {
        let [along, apart, groups, planes] = &*self.0;
        let made = match layout {
            Layout::Along => along,
            Layout::Apart => apart,
            Layout::Groups => groups,
            Layout::Planes => planes,
        };
        once(made, || Compiled::new(kernel, layout, &mut order.work()))
    }

    /// Zeroes the `out` buffers of a launch and runs all of its items. Returns `None` if the kernel is too large for
    /// native code. The interpreter runs kernels of any size. If `repeat` is given, it receives the state for a
    /// relaunch with the same arguments.
    pub fn launch<'m>(
        &self,
        kernel: &Kernel<'_>,
        memory: &mut impl Reached<'m>,
        order: LaunchOptions<'_>,
        threads: NonZero<u16>,
        repeat: Option<&mut Option<Box<Repeat>>>,
    ) -> Option<Result<Stats, Stop>> {
        let cut = kernel.cut(&order);
        match self.get(kernel, &order, cut.layout) {
            Ok(code) => {
                let mut left = None;
                let done = code.launch(kernel, memory, (order, cut), threads, repeat.is_some().then_some(&mut left));
                if let (Some(repeat), Some(state)) = (repeat, left) {
                    *repeat = Some(Box::new(Repeat::new(self, state, &order, threads)));
                }
                Some(done)
            }
            Err(NativeError::TooLarge) => None,
            Err(error) => {
                memory.buffers().zero_out_buffers();
                Some(Err(Stop::Native(error)))
            }
        }
    }

    /// Returns the cost of the compilations so far.
    pub fn translation(&self) -> Option<Translation> {
        let made = self.0.iter().filter_map(|made| made.get()?.as_ref().ok());
        made.map(Compiled::translation).reduce(|mut all, one| {
            all += one;
            all
        })
    }
}

/// Compiled kernel, with the data that its code depends on.
pub(crate) struct Compiled {
    layout: Layout,
    /// Special registers that the code reads, with their cells.
    specials: Vec<(Cell, SpecialReg)>,
    blocks: Vec<Block>,
    /// `true` if the kernel is one block that all items run to its end, without shared or local memory.
    is_one_block: bool,
    cells: Cells,
    flow: Flow,
    map: Map,
    /// Collective operations by block.
    meetings: BTreeMap<BlockId, Place>,
    /// For each block, the method to split a row that diverges at the end of the block.
    splits: Vec<Option<Split>>,
    covers: Covers,
    together: Code,
    run: Option<RunCode>,
    translation: Translation,
    divergent: OnceLock<Result<DivergentCode, NativeError>>,
    sized: GroupCodes,
}

/// Code of a streaming kernel for runs of items for which all guards hold.
struct RunCode {
    code: Code,
    /// For each block, the method to split a row that diverges at the end of the block.
    splits: Vec<Option<Split>>,
}

/// Code for divergent items.
struct DivergentCode {
    code: Code,
    map: Map,
    translation: Translation,
}

/// Maximum instructions of a block, which limits the state that is kept for one block at a time.
const MAX_BLOCK: u32 = 64;

impl Compiled {
    fn new(kernel: &Kernel<'_>, layout: Layout, work: &mut Work<'_>) -> Result<Compiled, NativeError> {
        let begun = Instant::now();
        let blocks = kernel.front.blocks(MAX_BLOCK);
        let mut cells = Cells::default();
        let place = |(id, block): (u32, &Block)| {
            let Next::Meet { .. } = block.next else { return None };
            Some((BlockId(id), kernel.front.place(block, &mut cells)?))
        };
        let meetings: BTreeMap<BlockId, Place> = (0..).zip(&blocks).filter_map(place).collect();
        let (flow, units) = Flow::new(kernel, layout, &blocks, &mut cells)?;
        let splits = if kernel.groups.is_none() { split::splits(&blocks, &units) } else { Vec::new() };
        let form = Form::All(&units);
        let source = Source { kernel, blocks: &blocks, flow: &flow, meetings: &meetings, splits: &splits, form };
        let (streams, plans) = compile::streams(&source, &cells);
        let is_along = layout == Layout::Along && kernel.groups.is_none();
        let runs =
            if is_along && stream::has_guards(&units) { compile::runs(&source, &units, &mut cells) } else { None };
        let mut map = match streams || runs.is_some() {
            _ if kernel.groups.is_some() => Map::of_groups(cells.len()),
            true => Map::streaming(cells.len()),
            false => Map::new(cells.len(), flow.varying(&blocks, cells.len())),
        };
        let together = compile(&source, plans, &mut cells, &mut map, work)?;
        let mut translation = together.translation(begun);
        let run = match runs {
            Some(Runs { units, plans, splits }) => {
                let begun = Instant::now();
                let source = Source { splits: &splits, form: Form::All(&units), ..source };
                let code = compile(&source, Plans(plans), &mut cells, &mut map, work)?;
                translation += code.translation(begun);
                Some(RunCode { code, splits })
            }
            None => None,
        };
        let covers = Covers::new(&blocks, kernel, layout, &units);
        let special = |&register: &SpecialReg| Some((cells.find(Name::Special(register))?, register));
        Ok(Compiled {
            layout,
            specials: kernel.specials.iter().filter_map(special).collect(),
            covers,
            is_one_block: cover::only_unit(&blocks, kernel, layout, &units).is_some()
                && kernel.shared_bytes == 0
                && kernel.scratch_bytes == 0,
            blocks,
            cells,
            flow,
            map,
            meetings,
            splits,
            together,
            run,
            translation,
            divergent: OnceLock::new(),
            sized: GroupCodes::default(),
        })
    }

    /// Returns the cost of the compilations of this kernel.
    fn translation(&self) -> Translation {
        let mut translation = self.translation;
        if let Some(Ok(divergent)) = self.divergent.get() {
            translation += divergent.translation;
        }
        self.sized.translations().into_iter().for_each(|sized| translation += sized);
        translation
    }

    /// Returns the code for the group size of a launch, if the launch has enough groups.
    fn sized(&self, kernel: &Kernel<'_>, order: &LaunchOptions<'_>) -> Option<Arc<sized::GroupCode>> {
        let Compiled { blocks, flow, meetings, cells, specials, .. } = self;
        let compiled = sized::Compiled { kernel, blocks, flow, meetings, cells, specials };
        self.sized.get(&compiled, &order.shape, order.items / kernel.groups?.max(1))
    }

    /// Returns the code for divergent items, and compiles the code on first use.
    fn divergent(&self, kernel: &Kernel<'_>, work: &mut Work<'_>) -> Result<&DivergentCode, NativeError> {
        let make = || {
            let begun = Instant::now();
            let (mut cells, mut map) = (self.cells.clone(), self.map);
            let (blocks, flow, meetings) = (&self.blocks, &self.flow, &self.meetings);
            let source = Source { kernel, blocks, flow, meetings, splits: &[], form: Form::Masked };
            let code = compile(&source, Plans::default(), &mut cells, &mut map, work)?;
            let translation = code.translation(begun);
            Ok(DivergentCode { code, map, translation })
        };
        once(&self.divergent, make)
    }
}
