//! Division of a launch into tiles, the data store layout of a tile's streams, and the order of the
//! accesses of an item.

use std::ops::Range;
use std::sync::Arc;

use halfbyte_isa::stream::{
    Affine, AffineVariable, Stream, StreamContents, Tiles, TripCount, WINDOW_MARGIN, regions_of,
};
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;

use super::copy;
use super::moves::{self, BulkCopies};
use crate::arguments::Arguments;
use crate::error::TooLarge;
use crate::kernel::Kernel;
use halfbyte_isa::buffers::OverwrittenBuffers;

/// Alignment in bytes of the start of each stream.
const STREAM_ALIGN: u64 = 16;

/// The division of a launch into tiles.
pub(super) struct Tiling {
    tiles: Arc<Tiles>,
    /// Number of work items in a group, which the program executes together.
    pub group: u32,
    /// Number of elements of each stream for one item: the product of the trip counts of the loops around the access.
    /// For a uniform stream, the total number of elements. For a stream that holds a whole buffer, the buffer's size in
    /// bytes.
    pub rounds: Vec<u64>,
    /// Region of each stream, and the position of the stream in the region.
    pub shares: Vec<RegionSlot>,
    /// Number of the first stream of each region, and the number of streams in the region.
    regions: Vec<(usize, u64)>,
    /// Buffer address of each stream.
    pub bases: Vec<u64>,
    /// Distance in bytes between the accesses of consecutive items, modulo 2^32, for each stream.
    pub scales: Vec<u32>,
    /// The accesses of an item, in program order.
    pub visits: Vec<ItemAccess>,
    /// Size in bytes of the data store area before the streams.
    frame_bytes: u32,
    /// Number of items in the launch.
    pub items: u32,
    /// Number of items in each tile except the last one.
    tile_items: u32,
    /// The layout of full tiles, and of a last tile with fewer items.
    places: [StreamLayout; 2],
    /// The bulk copies for full tiles and for the last tile. `None` unless all accesses of the
    /// launch are contiguous and known to be valid.
    moves: Option<[BulkCopies; 2]>,
    /// The `out` buffers that the bulk copies overwrite completely. They need not be filled with zeros before.
    pub covered: OverwrittenBuffers,
}

/// The region of a stream, and the position of the stream in the region.
#[derive(Clone, Copy)]
pub(super) struct RegionSlot {
    /// Number of the region that contains the stream.
    pub region: u32,
    /// Number of streams before this stream in the region.
    pub place: u64,
    /// Number of streams in the region.
    pub streams: u64,
}

/// One execution of an access by an item, in a given iteration of each enclosing loop.
#[derive(Clone, Copy)]
pub(super) struct ItemAccess {
    /// Number of the accessed stream.
    pub stream: usize,
    /// Index of the accessed element among the elements of the item in the stream.
    pub round: u32,
    /// The part of the byte offset in the buffer that is the same for all items, modulo 2^32.
    pub index: u32,
}

/// The work items whose streams are in the data store at the same time. The struct is small enough
/// to be passed in registers. A combined load of separately stored fields would miss store
/// forwarding and wait for all stores of the copies.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// Number, in the launch, of the tile's first item.
    pub first: u32,
    /// Number of items in the tile.
    pub items: u32,
}

/// Data store layout of a tile's streams.
#[derive(Default)]
pub(super) struct StreamLayout {
    /// Data store address range of each region.
    pub regions: Vec<Range<u32>>,
    /// End address of all streams in the data store.
    pub end: u32,
}

/// The item count and the arguments of a launch, to which affine expressions of streams refer.
struct Values<'a> {
    items: u32,
    scalars: &'a [u128],
}

impl Values<'_> {
    fn sum(&self, sum: &Affine) -> u32 {
        let product = |&(factor, multiplier): &(AffineVariable, u32)| {
            let value = match factor {
                AffineVariable::ItemCount => self.items,
                AffineVariable::Param(param) => self.scalars.get(param as usize).map_or(0, |bits| *bits as u32),
            };
            value.wrapping_mul(multiplier)
        };
        sum.terms.iter().map(product).fold(sum.constant, u32::wrapping_add)
    }

    /// Returns the buffer address of a stream, or 0 if the stream has no buffer.
    fn base(&self, stream: &Stream) -> u64 {
        let address = stream.buffer.and_then(|param| self.scalars.get(param as usize));
        address.map_or(0, |&address| address as u64)
    }

    fn trips(&self, trips: &TripCount) -> u32 {
        match trips {
            TripCount::Const(trips) => *trips,
            TripCount::Of { count, signed, at_least } => TripCount::at_launch(self.sum(count), *signed, *at_least),
        }
    }
}

/// Computes the position of each stream in its region. `regions` holds the number of each stream's
/// region. Also returns the first stream and the number of streams of each region.
fn region_slots(regions: &[u32]) -> (Vec<RegionSlot>, Vec<(usize, u64)>) {
    let mut of_regions: Vec<(usize, u64)> = Vec::new();
    let mut shares: Vec<RegionSlot> = Vec::with_capacity(regions.len());
    for (stream, &region) in regions.iter().enumerate() {
        if of_regions.len() <= region as usize {
            of_regions.resize(region as usize + 1, (stream, 0));
        }
        let Some((_, streams)) = of_regions.get_mut(region as usize) else { continue };
        shares.push(RegionSlot { region, place: *streams, streams: 0 });
        *streams += 1;
    }
    for share in &mut shares {
        share.streams = of_regions.get(share.region as usize).map_or(1, |&(_, streams)| streams);
    }
    (shares, of_regions)
}

/// Returns the number of unused bytes that are required before and after a stream.
fn margin(stream: &Stream) -> u64 {
    if stream.holds == StreamContents::Buffer { WINDOW_MARGIN.into() } else { 0 }
}

impl Tiling {
    /// Divides a launch into tiles of the largest size that fits in the data store. This size is
    /// the number of all items, or a multiple of the group size and of 4 items. It is a multiple of
    /// 16 items if an access has the size of a byte.
    pub(super) fn new(
        kernel: &Kernel,
        tiles: &Arc<Tiles>,
        items: u32,
        args: &Arguments<'_>,
    ) -> Result<Tiling, Box<TooLarge>> {
        let (values, streams) = (Values { items, scalars: &args.scalars }, tiles.streams.as_slice());
        let rounds = |stream: &Stream| {
            if stream.holds == StreamContents::Buffer {
                return args.buffers.size(values.base(stream)) as u64;
            }
            let trips = stream.steps.iter().map(|step| u64::from(values.trips(&step.trips)));
            trips.fold(1, u64::saturating_mul)
        };
        let (shares, regions) = region_slots(&regions_of(streams, kernel.signature()));
        let mut plan = Tiling {
            tiles: tiles.clone(),
            shares,
            regions,
            group: tiles.items.max(1),
            rounds: streams.iter().map(rounds).collect(),
            bases: streams.iter().map(|stream| values.base(stream)).collect(),
            scales: streams.iter().map(|stream| values.sum(&stream.scale)).collect(),
            visits: Vec::new(),
            frame_bytes: kernel.info.local_bytes,
            items,
            tile_items: items,
            places: Default::default(),
            moves: None,
            covered: OverwrittenBuffers::new(),
        };
        if items == 0 {
            return Ok(plan);
        }
        if !plan.fits(items) {
            let bytewise = streams.iter().any(|stream| stream.is_of_accesses() && stream.element_bytes() == 1);
            let quantum = plan.group.max(if bytewise { 16 } else { 4 });
            let (mut most, mut too_many) = (0, items.div_ceil(quantum).min(plan.upper_bound(quantum)));
            // The gaps between streams are small, so the first size that is tried usually fits.
            let mut tried = too_many.saturating_sub(1);
            while most + 1 < too_many {
                *(if plan.fits(tried * quantum) { &mut most } else { &mut too_many }) = tried;
                tried = most + (too_many - most) / 2;
            }
            if most == 0 {
                return Err(Box::new(plan.too_large(kernel, items.min(quantum))));
            }
            plan.tile_items = most * quantum;
        }
        let accessed = |&stream: &usize| {
            let has_accesses = streams.get(stream).is_some_and(Stream::is_of_accesses);
            has_accesses && plan.rounds.get(stream).is_some_and(|&rounds| rounds > 0)
        };
        let accessed: Vec<usize> = (0..streams.len()).filter(accessed).collect();
        let starts: Vec<ItemAccess> = accessed.iter().map(|&stream| plan.start(&values, stream)).collect();
        plan.visit(&values, &starts, 0);
        let sizes = [plan.tile_items, items % plan.tile_items];
        plan.places = sizes.map(|items| plan.lay_out(items));
        if let Some(moves) = copy::bulk_copies(&plan, &args.buffers) {
            let [whole, last] = &plan.places;
            let of = |items, places| BulkCopies::new(&moves, items, places, tiles.image.len(), DATA_STORE_BYTES);
            plan.moves = of(sizes[0], whole).zip(of(sizes[1], last)).map(Into::into);
            if plan.is_always_valid() {
                plan.covered = moves::overwritten_buffers(&moves, items, &args.buffers);
            }
        }
        Ok(plan)
    }

    /// Returns the streams, indexed by number.
    pub(super) fn streams(&self) -> &[Stream] {
        &self.tiles.streams
    }

    /// Returns the tiles, in ascending order of their items.
    pub(super) fn tiles(&self) -> impl Iterator<Item = Tile> {
        let step = self.tile_items.max(1);
        (0..self.items).step_by(step as usize).map(move |first| {
            let items = step.min(self.items - first);
            Tile { first, items }
        })
    }

    /// Returns the data store layout of a tile.
    pub(super) fn places(&self, tile: Tile) -> &StreamLayout {
        let [whole, last] = &self.places;
        if self.is_whole(tile) { whole } else { last }
    }

    /// Returns the number of groups in `items` items, rounded up.
    pub(super) fn groups(&self, items: u32) -> u32 {
        items.div_ceil(self.group)
    }

    /// Returns `true` if a tile is full, that is, if it has the number of items of all tiles but the last.
    pub(super) fn is_whole(&self, tile: Tile) -> bool {
        tile.items == self.tile_items
    }

    /// Returns the number of items and the layout of full tiles, and of a last tile with fewer items.
    pub(super) fn sizes(&self) -> [(u32, &StreamLayout); 2] {
        let [whole, last] = &self.places;
        let left = self.items.checked_rem(self.tile_items).unwrap_or(0);
        [(self.tile_items, whole), (left, last)]
    }

    /// Returns the bulk copies of a tile, if all accesses are contiguous and known to be valid.
    pub(super) fn moves(&self, tile: Tile) -> Option<&BulkCopies> {
        let [whole, last] = self.moves.as_ref()?;
        Some(if self.is_whole(tile) { whole } else { last })
    }

    /// Returns `true` if all accesses of the launch are known to be valid before it starts.
    pub(super) fn is_always_valid(&self) -> bool {
        self.moves.is_some()
    }

    /// Returns the layout of a tile with `items` items, which must fit in the data store.
    fn lay_out(&self, items: u32) -> StreamLayout {
        let regions = self.places_of(items).map(|place| place.start as u32..place.end as u32).collect();
        StreamLayout { regions, end: self.end(items) as u32 }
    }

    /// Returns the data store address range of each region for a tile with `items` items. The
    /// ranges may exceed the data store.
    fn places_of(&self, items: u32) -> impl Iterator<Item = Range<u64>> {
        let items = u64::from(items.div_ceil(self.group)) * u64::from(self.group);
        let mut end = u64::from(self.frame_bytes);
        self.regions().map(move |(stream, rounds, streams)| {
            let margin = margin(stream);
            let start = end.saturating_add(margin + STREAM_ALIGN - 1) / STREAM_ALIGN * STREAM_ALIGN;
            let elements = if stream.uniform { rounds } else { rounds.saturating_mul(items) };
            let bytes = elements.saturating_mul(stream.element_bytes().into()).saturating_mul(streams);
            let last = start.saturating_add(bytes);
            end = last.saturating_add(margin);
            start..last
        })
    }

    /// Returns, for each region, its first stream, the number of elements per item, and the number
    /// of streams in the region.
    fn regions(&self) -> impl Iterator<Item = (&Stream, u64, u64)> {
        self.regions.iter().filter_map(|&(first, streams)| {
            Some((self.streams().get(first)?, self.rounds.get(first).copied().unwrap_or(0), streams))
        })
    }

    /// Returns the end address of the streams for a tile with `items` items.
    fn end(&self, items: u32) -> u64 {
        let last = self.places_of(items).zip(self.regions()).last();
        last.map_or(self.frame_bytes.into(), |(place, (stream, ..))| place.end.saturating_add(margin(stream)))
    }

    fn fits(&self, items: u32) -> bool {
        self.end(items) <= DATA_STORE_BYTES as u64
    }

    /// Returns a number of quanta that cannot fit, because the streams alone exceed the data store. A quantum is
    /// `quantum` items.
    fn upper_bound(&self, quantum: u32) -> u32 {
        let bytes = self.regions().filter(|(stream, ..)| !stream.uniform).map(|(stream, rounds, streams)| {
            rounds.saturating_mul(quantum.into()).saturating_mul(stream.element_bytes().into()).saturating_mul(streams)
        });
        let bytes = bytes.fold(0, u64::saturating_add);
        let room = (DATA_STORE_BYTES as u64).checked_div(bytes).unwrap_or(u64::MAX);
        u32::try_from(room.saturating_add(1)).unwrap_or(u32::MAX)
    }

    #[cold]
    fn too_large(&self, kernel: &Kernel, items: u32) -> TooLarge {
        let items = items.next_multiple_of(self.group);
        let all_bytes = self.end(items);
        let sizes = self.places_of(items).map(|place| place.end - place.start);
        let (mut stream, mut stream_bytes): (Option<&Stream>, u64) = (None, 0);
        for ((other, ..), bytes) in self.regions().zip(sizes) {
            if bytes > stream_bytes {
                (stream, stream_bytes) = (Some(other), bytes);
            }
        }
        let param = stream.and_then(|stream| kernel.signature().params().get(stream.buffer? as usize));
        TooLarge {
            kernel: kernel.signature().name().to_owned(),
            items,
            all_bytes,
            stream_bytes,
            buffer: param.map(|param| param.name.clone()),
            whole: stream.is_some_and(|stream| stream.holds == StreamContents::Buffer),
            source: kernel.source.to_string(),
            loc: stream.and_then(|stream| kernel.locs.get(stream.site.word as usize)).copied().unwrap_or_default(),
        }
    }

    fn start(&self, values: &Values<'_>, stream: usize) -> ItemAccess {
        let index = self.streams().get(stream).map_or(0, |stream| values.sum(&stream.index));
        ItemAccess { stream, round: 0, index }
    }

    /// Appends the accesses that an item makes in one iteration of the outermost `depth` loops. The
    /// streams of these accesses have elements, so the trip counts are small.
    fn visit(&mut self, values: &Values<'_>, at: &[ItemAccess], depth: usize) {
        let tiles = self.tiles.clone();
        let step = |visit: &ItemAccess| tiles.streams.get(visit.stream)?.steps.get(depth);
        for (place, visit) in at.iter().enumerate() {
            let Some(first) = step(visit) else {
                self.visits.push(*visit);
                continue;
            };
            let in_loop = |visit: &ItemAccess| step(visit).is_some_and(|step| step.loop_number == first.loop_number);
            if at.iter().take(place).any(in_loop) {
                continue;
            }
            let trips = values.trips(&first.trips);
            let mut inside: Vec<ItemAccess> = at.iter().copied().filter(in_loop).collect();
            inside.iter_mut().for_each(|visit| visit.round *= trips);
            let strides: Vec<u32> =
                inside.iter().map(|visit| step(visit).map_or(0, |step| values.sum(&step.stride))).collect();
            for _ in 0..trips {
                self.visit(values, &inside, depth + 1);
                for (visit, stride) in inside.iter_mut().zip(&strides) {
                    visit.round += 1;
                    visit.index = visit.index.wrapping_add(*stride);
                }
            }
        }
    }
}
