//! The engine: machine code, translated to native code that runs many work items side by side.
//!
//! Items are taken in rows. Where all items of a row are at the same place, compiled code runs them together, and what is the
//! same for all of them is computed once. Where they part, each block runs for the items that are at the lowest address, by a
//! mask, until all are together again.

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

// What another machine's instructions are made native code of.
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
    ends::Ends,
    gang::{Gang, is_alone},
    graph::Target,
    vector::video::{LaneOp, picked, written},
    vector::{cast, compare, compute, compute_float, constant, elements, has_any_nan, integer, one_nan, takes_any_nan},
};

/// A kernel's native code, once it has been asked for.
#[derive(Clone, Default)]
pub(crate) struct Jit(Arc<[OnceLock<Result<Compiled, NativeError>>; Layout::ALL.len()]>);

impl fmt::Debug for Jit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jit").field("compiled", &self.0.iter().any(|made| made.get().is_some())).finish()
    }
}

impl Jit {
    /// The code for a launch, made now if it is not there yet.
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

    /// Runs all items of a launch, whose buffers it starts; none where the kernel is too large for native code. The interpreter takes
    /// kernels of any size. Who makes it again on the same arguments asks for what that takes.
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

    /// What it took to make the code that is there.
    pub fn translation(&self) -> Option<Translation> {
        let made = self.0.iter().filter_map(|made| made.get()?.as_ref().ok());
        made.map(Compiled::translation).reduce(|mut all, one| {
            all += one;
            all
        })
    }
}

/// A kernel, compiled, and what the code relies on.
pub(crate) struct Compiled {
    layout: Layout,
    /// The special registers that the code reads, by their cells.
    specials: Vec<(Cell, SpecialReg)>,
    blocks: Vec<Block>,
    /// Whether it is one block, which all items run to its end, with no memory of their own.
    is_one_block: bool,
    cells: Cells,
    flow: Flow,
    map: Map,
    /// Where items meet.
    meetings: BTreeMap<BlockId, Place>,
    /// By block, how a row that parts at its end is run as two.
    splits: Vec<Option<Split>>,
    covers: Covers,
    together: Code,
    run: Option<RunCode>,
    translation: Translation,
    divergent: OnceLock<Result<DivergentCode, NativeError>>,
    sized: GroupCodes,
}

/// The code for runs of items of a kernel that streams, for all of which guards hold.
struct RunCode {
    code: Code,
    /// By block, how a row that parts at its end is run as two.
    splits: Vec<Option<Split>>,
}

/// The code for items that are not all at the same place.
struct DivergentCode {
    code: Code,
    map: Map,
    translation: Translation,
}

impl Compiled {
    fn new(kernel: &Kernel<'_>, layout: Layout, work: &mut Work<'_>) -> Result<Compiled, NativeError> {
        let begun = Instant::now();
        let blocks = kernel.front.blocks();
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

    /// What it took to make the code.
    fn translation(&self) -> Translation {
        let mut translation = self.translation;
        if let Some(Ok(divergent)) = self.divergent.get() {
            translation += divergent.translation;
        }
        self.sized.translations().into_iter().for_each(|sized| translation += sized);
        translation
    }

    /// The code for groups of a launch's size, where there are enough of them for it.
    fn sized(&self, kernel: &Kernel<'_>, order: &LaunchOptions<'_>) -> Option<Arc<sized::GroupCode>> {
        let Compiled { blocks, flow, meetings, cells, specials, .. } = self;
        let compiled = sized::Compiled { kernel, blocks, flow, meetings, cells, specials };
        self.sized.get(&compiled, &order.shape, order.items / kernel.groups?.max(1))
    }

    /// The code for items that are not all at the same place, made now if it is not there yet.
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
