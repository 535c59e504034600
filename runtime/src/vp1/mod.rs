//! VP1: a launch is cut into tiles of work items, and the program runs once a tile ([`halfbyte_isa::stream`]).
//!
//! What an item does wrong in memory shows only around the run of its tile, which goes on with zeros for what cannot be read. So
//! that no trap hides one of a lower item, all of a tile's are looked for after its run, when the guards are known; then only is
//! anything copied out.

mod copy;
mod interp;
mod tiles;

use halfbyte_isa::stream::{M_FIRST_ITEM, M_ITEM_COUNT, M_TILE_ITEMS, Tiles, first_stream_m, m_words};
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;
use halfbyte_isa::vp1::domain::Shape;
use halfbyte_isa::vp1::state::State;

use crate::launch::{Arg, LaunchError, Stats};
use crate::load::Kernel;
use copy::Copier;
use interp::{Bundles, Run};
use tiles::{Plan, Tile};

/// Words as bundles, and how they are run.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    bundles: Bundles,
    tiles: Tiles,
}

/// Bytes of a row of the data store.
const ROW: usize = 16;

impl Code {
    pub fn new(words: &[u32], tiles: Tiles) -> Code {
        Code { bundles: Bundles::new(words), tiles }
    }

    /// Runs every tile of a launch, whose arguments fit the kernel.
    pub fn launch(&self, kernel: &Kernel, items: u32, args: &mut [Arg<'_>], budget: u64) -> Result<Stats, LaunchError> {
        let plan = Plan::new(kernel, &self.tiles, items, args)?;
        let mut m = self.scalars(kernel, args);
        set(&mut m, M_ITEM_COUNT.into(), items);
        let first_stream = first_stream_m(kernel.signature());
        let mut buffers = kernel.buffers(args);
        let mut store = vec![0; DATA_STORE_BYTES];
        let mut stats = Stats::default();
        for tile in plan.tiles() {
            store.fill(0);
            put(&mut store, &self.tiles.image);
            let mut copier = Copier { plan: &plan, tile: &tile, store: &mut store };
            stats.bytes_in += copier.copy_in(&buffers);

            set(&mut m, M_TILE_ITEMS.into(), tile.items);
            set(&mut m, M_FIRST_ITEM.into(), tile.first);
            for (number, place) in (first_stream..).zip(&tile.places) {
                set(&mut m, number, place.end << 16 | place.start);
            }
            let mut state = State { m, ..State::default() };
            fill(&mut state, copier.store, &tile);
            let mut run = Run::new(&self.bundles, &self.tiles, tile.groups, budget);
            let stopped = run.finish(&mut state);
            stats.issued += run.issued;
            stats.backward_branches += run.backward;
            stats.tiles += 1;
            drain(&state, copier.store, &tile);

            let accesses = copier.first_fault(&buffers);
            let program = stopped.err().map(|fault| (tile.first + run.group() * self.tiles.items, fault));
            let first = match (accesses, program) {
                (Some(access), Some(program)) => Some(if access.0 <= program.0 { access } else { program }),
                (access, program) => access.or(program),
            };
            if let Some((item, fault)) = first {
                return Err(Box::new(kernel.trap(item, fault)).into());
            }
            stats.bytes_out += copier.copy_out(&mut buffers);
        }
        Ok(stats)
    }

    /// `$m` with the scalar arguments.
    fn scalars(&self, kernel: &Kernel, args: &[Arg<'_>]) -> [u32; 64] {
        let mut m = [0; 64];
        let words = kernel.signature().params().iter().zip(args).flat_map(|(param, arg)| {
            let bits = match arg {
                Arg::Scalar(bits) => *bits,
                Arg::In(_) | Arg::Buffer(_) => 0,
            };
            (0..m_words(param.kind)).map(move |word| (bits >> (32 * word)) as u32)
        });
        m.iter_mut().zip(words).for_each(|(m, word)| *m = word);
        m
    }
}

fn set(m: &mut [u32; 64], number: usize, word: u32) {
    if let Some(m) = m.get_mut(number) {
        *m = word;
    }
}

fn put(store: &mut [u8], bytes: &[u8]) {
    store.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
}

/// The data store as it is before the run, from its bytes in the order of addresses.
fn fill(state: &mut State, store: &[u8], tile: &Tile) {
    for (row, address) in store.as_chunks::<ROW>().0.iter().zip((0..tile.end).step_by(ROW)) {
        state.data.store(Shape::Horizontal, address, *row);
    }
}

/// What the run left, in the order of addresses.
fn drain(state: &State, store: &mut [u8], tile: &Tile) {
    for (row, address) in store.as_chunks_mut::<ROW>().0.iter_mut().zip((0..tile.end).step_by(ROW)) {
        *row = state.data.load(Shape::Horizontal, address);
    }
}
