//! Execution of VP1 kernels: a launch is divided into tiles of work items, and the program runs once for each tile
//! ([`halfbyte_isa::stream`]).
//!
//! Invalid accesses of an item are detected only before or after the program runs on the item's tile. While the program
//! runs, data from invalid accesses is zero. The trap of the lowest item must be reported. All accesses of the tile are
//! therefore checked after the program has ended, when the guards are known. Results are copied out only after that
//! check. If the program stopped in a group, only the accesses of this group that the program had executed are checked.

mod blocks;
mod copy;
mod interp;
#[cfg_attr(not(feature = "jit"), path = "no_jit.rs")]
mod jit;
mod moves;
mod tiles;

use std::sync::Arc;

use halfbyte_abi::Exceeded;
use halfbyte_isa::isa::{Isa, SharedCode};
use halfbyte_isa::object::{KernelInfo, Loc};
use halfbyte_isa::stream::{M_FIRST_ITEM, M_ITEM_COUNT, M_TILE_ITEMS, Tiles, first_stream_m, m_words};
use halfbyte_isa::vp1 as isa;
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;
use halfbyte_isa::vp1::domain::{Shape, Unknown};
use halfbyte_isa::vp1::state::State;
use thiserror::Error;

use crate::arguments::Arguments;
use crate::error::LaunchError;
use crate::kernel::Kernel;
use crate::kernel::{Executable, Machine, OTHER_CODE};
use copy::{Copier, Stop};
use halfbyte_abi::Engine;
use halfbyte_abi::Stats;
use halfbyte_isa::buffers::Buffers;
use halfbyte_isa::trap::{Fault, Halt};
use halfbyte_native::clif::{NativeError, Translation};
use halfbyte_native::launch::LaunchOptions;
use halfbyte_native::threads::{available, run_each};
use interp::{Bundles, ProgramRun};
pub use jit::step_bundle;
use jit::{Compiled, Jit, Machine as Registers};
use tiles::{StreamLayout, Tile, Tiling};

/// The VP1 machine.
#[derive(Clone, Copy, Debug)]
pub struct Vp1;

impl Machine for Vp1 {
    fn isa(&self) -> &'static dyn Isa {
        &isa::Vp1
    }

    fn runs(&self, engine: Engine) -> bool {
        !matches!(engine, Engine::Cuda)
    }

    fn prepare(&self, info: &KernelInfo, words: &SharedCode, _: &[Loc]) -> Result<Arc<dyn Executable>, String> {
        let words = words.downcast_ref::<isa::Vp1Code>().ok_or(OTHER_CODE)?;
        // The metadata of a VP1 kernel always contains its tiles.
        Ok(Arc::new(DecodedKernel::new(&words.0, info.tiles.clone().unwrap_or_default())))
    }
}

/// Reason why native code cannot execute a bundle.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum StepError {
    /// The bundle traps, because its effect is undocumented.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// Native code is not available on this computer or in this build.
    #[error(transparent)]
    Native(#[from] NativeError),
}

/// A kernel's decoded bundles, its tiles and its native code.
#[derive(Clone, Debug)]
pub(crate) struct DecodedKernel {
    bundles: Bundles,
    tiles: Arc<Tiles>,
    jit: Jit,
}

/// Size in bytes of a data store row.
const ROW: usize = 16;

/// Number of tiles that each thread runs before results are copied out. The number is large enough
/// that threads rarely wait for each other.
const TILES_OF_A_THREAD: usize = 32;

impl DecodedKernel {
    pub(crate) fn new(words: &[u32], tiles: Tiles) -> DecodedKernel {
        DecodedKernel { bundles: Bundles::new(words), tiles: Arc::new(tiles), jit: Jit::default() }
    }
}

impl Executable for DecodedKernel {
    fn translation(&self) -> Option<Translation> {
        self.jit.translation()
    }

    fn launch(
        &self,
        kernel: &Kernel,
        order: LaunchOptions<'_>,
        args: &mut Arguments<'_>,
    ) -> Result<Stats, LaunchError> {
        let mut kept = match args.scratch.take::<LaunchCache>() {
            Some(mut kept) => {
                if kept.plan.items != order.items {
                    kept.plan = Tiling::new(kernel, &self.tiles, order.items, args)?;
                }
                kept
            }
            None => {
                let plan = Tiling::new(kernel, &self.tiles, order.items, args)?;
                Box::new(LaunchCache { plan, m: scalars(kernel, &args.scalars), slots: Vec::new(), copied: 0 })
            }
        };
        let (compiled, threads) = match order.engine {
            Engine::Interp | Engine::Cuda => (None, 1),
            Engine::Jit { threads } => {
                let compiled = self.jit.get(&self.bundles, self.tiles.group_branch, &mut order.work());
                let compiled = compiled.map_err(|error| kernel.native_error(error))?;
                let threads = match threads.get() {
                    1 => 1,
                    threads => usize::from(threads).min(available(order.pool)),
                };
                (Some(compiled), threads)
            }
        };
        args.buffers.zero_out_buffers_except(&kept.plan.covered);
        kept.copied = 0;
        let done = self.run(kernel, order, compiled, threads, &mut kept, &mut args.buffers);
        if done.is_err() {
            args.buffers.zero_unwritten_items(&kept.plan.covered, kept.copied);
        }
        args.scratch.keep(kept);
        done
    }
}

impl DecodedKernel {
    fn run(
        &self,
        kernel: &Kernel,
        order: LaunchOptions<'_>,
        compiled: Option<&Arc<Compiled>>,
        threads: usize,
        LaunchCache { plan, m, slots, copied }: &mut LaunchCache,
        buffers: &mut Buffers<'_>,
    ) -> Result<Stats, LaunchError> {
        set(m, M_ITEM_COUNT.into(), order.items);
        let first_stream = first_stream_m(kernel.signature());
        let sizes = plan.sizes().map(|size| TileParameters::new(m, first_stream, plan.groups(size.0), size));
        let runner = TileRunner { code: self, plan, sizes, order };
        let mut stats = Stats::default();
        let mut tiles = plan.tiles();
        let most = if threads > 1 { plan.tiles().take(threads * TILES_OF_A_THREAD).count().max(1) } else { 1 };
        if slots.first().is_some_and(|slot| slot.processor.is_native() != compiled.is_some()) {
            slots.clear();
        }
        slots.resize_with(most, || TileSlot::new(compiled));
        let mut take =
            |processor: &mut Processor, tile: Tile, done: TileResult, buffers: &mut Buffers<'_>, stats: &mut Stats| {
                match done {
                    Ok(None) => {}
                    Ok(Some(found)) => {
                        let (item, fault) = *found;
                        return Err(LaunchError::from(Box::new(kernel.trap(&order.shape, item, fault))));
                    }
                    Err(exceeded) => return Err(kernel.exceeded(exceeded)),
                }
                stats.tiles += 1;
                let mut copier = Copier { plan, tile, store: processor.store() };
                stats.bytes_out += copier.copy_out(buffers);
                *copied = tile.first + tile.items;
                order.advance(tile.items);
                Ok(())
            };
        if let [TileSlot { processor, .. }] = slots.as_mut_slice() {
            for tile in tiles {
                let done = runner.run(processor, tile, buffers, &mut stats);
                take(processor, tile, done, buffers, &mut stats)?;
            }
            return Ok(stats);
        }
        // Tiles run in parallel. Their results are copied out in order, so that the trap of the
        // lowest tile is reported.
        loop {
            for slot in &mut *slots {
                slot.tile = tiles.next();
            }
            runner.run_all(slots, threads, buffers);
            for TileSlot { processor, tile, done } in &mut *slots {
                let (Some(tile), Some((done, of_tile))) = (tile.take(), done.take()) else {
                    return Ok(stats);
                };
                stats.issued += of_tile.issued;
                stats.backward_branches += of_tile.backward_branches;
                stats.bytes_in += of_tile.bytes_in;
                take(processor, tile, done, buffers, &mut stats)?;
            }
        }
    }
}

/// State that a launch caches for the next launch with the same arguments.
struct LaunchCache {
    plan: Tiling,
    /// Values of the `$m` registers that hold the scalar arguments.
    m: [u32; 64],
    slots: Vec<TileSlot>,
    /// Number of items whose results have been copied out.
    copied: u32,
}

impl Drop for LaunchCache {
    fn drop(&mut self) {
        for slot in self.slots.drain(..) {
            if let Processor::Native { compiled, machine } = slot.processor {
                compiled.spare(machine);
            }
        }
    }
}

fn scalars(kernel: &Kernel, scalars: &[u128]) -> [u32; 64] {
    let mut m = [0; 64];
    let params = kernel.signature().params().iter().zip(scalars);
    let words = params.flat_map(|(param, bits)| (0..m_words(param.kind)).map(move |word| (bits >> (32 * word)) as u32));
    m.iter_mut().zip(words).for_each(|(m, word)| *m = word);
    m
}

/// An engine that runs the program on a tile, with the tile's data store. Before and after the
/// program runs, the data store is in the order of addresses.
enum Processor {
    Interpreter { store: Vec<u8>, cursors: [u32; 32] },
    Native { compiled: Arc<Compiled>, machine: Box<Registers> },
}

impl Processor {
    fn is_native(&self) -> bool {
        matches!(self, Processor::Native { .. })
    }

    fn store(&mut self) -> &mut [u8] {
        match self {
            Processor::Interpreter { store, .. } => store,
            Processor::Native { machine, .. } => machine.data(),
        }
    }

    /// Returns the address registers `$a` at the end of the program. They show which elements of
    /// the streams the program has accessed.
    fn cursors(&self) -> &[u32; 32] {
        match self {
            Processor::Interpreter { cursors, .. } => cursors,
            Processor::Native { machine, .. } => machine.cursors(),
        }
    }

    /// Runs the program from the first bundle to an exit. `m` sets the `$m` registers before. All
    /// streams lie below address `end` of the data store.
    fn run(&mut self, m: impl FnOnce(&mut [u32; 64]), end: u32, run: &mut ProgramRun<'_>) -> Result<(), Halt> {
        match self {
            Processor::Interpreter { store, cursors } => interpret(m, end, run, (store, cursors)),
            Processor::Native { compiled, machine } => {
                machine.reset(m);
                compiled.finish(machine, run)
            }
        }
    }
}

/// An engine with the tile that it runs, and with the result. Several slots run in parallel.
struct TileSlot {
    processor: Processor,
    tile: Option<Tile>,
    /// The result for the tile, and the statistics.
    done: Option<(TileResult, Stats)>,
}

impl TileSlot {
    fn new(compiled: Option<&Arc<Compiled>>) -> TileSlot {
        let processor = match compiled {
            Some(compiled) => Processor::Native { compiled: compiled.clone(), machine: compiled.machine() },
            None => Processor::Interpreter { store: vec![0; DATA_STORE_BYTES], cursors: [0; 32] },
        };
        TileSlot { processor, tile: None, done: None }
    }
}

/// Executor of a launch's tiles.
struct TileRunner<'a> {
    code: &'a DecodedKernel,
    plan: &'a Tiling,
    /// Parameters of full tiles, and of a last tile with fewer items.
    sizes: [TileParameters; 2],
    order: LaunchOptions<'a>,
}

/// The result of the program on a tile: the fault of the lowest faulting item with that item's number, if any.
type TileResult = Result<Option<Box<(u32, Fault)>>, Exceeded>;

/// Parameters of all tiles with the same number of items.
struct TileParameters {
    /// Initial values of the `$m` registers. Only the number of the tile's first item is missing.
    m: [u32; 64],
    /// Number of groups of items in a tile.
    groups: u32,
    /// End address of the streams in the data store.
    end: u32,
}

impl TileParameters {
    /// Creates the parameters of tiles with `items` items and the layout `places`. `first_stream`
    /// is the number of the `$m` register that describes the first stream.
    fn new(m: &[u32; 64], first_stream: usize, groups: u32, (items, places): (u32, &StreamLayout)) -> TileParameters {
        let mut m = *m;
        set(&mut m, M_TILE_ITEMS.into(), items);
        for (number, place) in (first_stream..).zip(&places.regions) {
            set(&mut m, number, place.end << 16 | place.start);
        }
        TileParameters { m, groups, end: places.end }
    }

    fn set(&self, m: &mut [u32; 64], tile: Tile) {
        *m = self.m;
        set(m, M_FIRST_ITEM.into(), tile.first);
    }
}

impl TileRunner<'_> {
    /// Runs the program on the tile of each slot that has a tile.
    fn run_all(&self, slots: &mut [TileSlot], threads: usize, buffers: &Buffers<'_>) {
        let run = |slots: &mut [TileSlot]| {
            for TileSlot { processor, tile, done } in slots {
                *done = tile.map(|tile| {
                    let mut stats = Stats::default();
                    (self.run(processor, tile, buffers, &mut stats), stats)
                });
            }
        };
        let share = slots.len().div_ceil(threads).max(1);
        run_each(self.order.pool, slots.chunks_mut(share), run);
    }

    /// Runs the program on a tile, leaves the results in the data store, and adds to the statistics.
    ///
    /// The statistics are not part of the return value. Counters that were stored one by one would then be moved
    /// together, which misses store forwarding and waits for all stores of the copies.
    fn run(&self, processor: &mut Processor, tile: Tile, buffers: &Buffers<'_>, stats: &mut Stats) -> TileResult {
        let TileRunner { code, plan, sizes: [whole, last], order } = self;
        stats.bytes_in += Copier { plan, tile, store: processor.store() }.fill(&code.tiles.image, buffers);
        let size = if plan.is_whole(tile) { whole } else { last };
        let mut run = ProgramRun::new(&code.bundles, &code.tiles, size.groups, order.budget, order.work());
        let stopped = processor.run(|m| size.set(m, tile), size.end, &mut run);
        run.work.poll()?;
        stats.issued += run.issued;
        stats.backward_branches += run.backward;
        match stopped {
            // All accesses were known to be valid before the launch.
            Ok(()) if plan.is_always_valid() => Ok(None),
            stopped => Ok(self.find_fault(processor, tile, (stopped, run.group()), buffers)?.map(Box::new)),
        }
    }

    /// Returns the fault of the lowest faulting item with that item's number, if any. The arguments
    /// are the outcome of the program, and the number of the group that was running.
    #[inline(never)]
    fn find_fault(
        &self,
        processor: &mut Processor,
        tile: Tile,
        (stopped, group): (Result<(), Halt>, u32),
        buffers: &Buffers<'_>,
    ) -> Result<Option<(u32, Fault)>, Exceeded> {
        let TileRunner { code, plan, .. } = *self;
        let program = match stopped {
            Ok(()) => None,
            Err(Halt::Fault(fault)) => Some((tile.first + group * code.tiles.items, fault)),
            Err(Halt::Exceeded(exceeded)) => return Err(exceeded),
        };
        let stop = program.as_ref().map(|&(item, _)| Stop { item, cursors: *processor.cursors() });
        let accesses = Copier { plan, tile, store: processor.store() }.first_fault(buffers, stop.as_ref());
        Ok(match (accesses, program) {
            (Some(access), Some(program)) => Some(if access.0 <= program.0 { access } else { program }),
            (access, program) => access.or(program),
        })
    }
}

fn set(m: &mut [u32; 64], number: usize, word: u32) {
    if let Some(m) = m.get_mut(number) {
        *m = word;
    }
}

/// Runs the program in the interpreter. Only the part of the data store below `end` is copied in and out.
#[inline(never)]
fn interpret(
    m: impl FnOnce(&mut [u32; 64]),
    end: u32,
    run: &mut ProgramRun<'_>,
    (store, cursors): (&mut [u8], &mut [u32; 32]),
) -> Result<(), Halt> {
    let mut state = State::default();
    m(&mut state.m);
    fill(&mut state, store, end);
    let done = run.finish(&mut state);
    drain(&state, store, end);
    *cursors = state.a;
    done
}

/// Copies `store`, which is in the order of addresses, to the data store of the interpreter.
fn fill(state: &mut State, store: &[u8], end: u32) {
    for (row, address) in store.as_chunks::<ROW>().0.iter().zip((0..end).step_by(ROW)) {
        state.data.store(Shape::Horizontal, address, *row);
    }
}

/// Copies the data store of the interpreter to `store`, in the order of addresses.
fn drain(state: &State, store: &mut [u8], end: u32) {
    for (row, address) in store.as_chunks_mut::<ROW>().0.iter_mut().zip((0..end).step_by(ROW)) {
        *row = state.data.load(Shape::Horizontal, address);
    }
}
