//! How a launch is cut into tiles, where a tile's streams lie, and in which order an item makes its accesses.

use std::ops::Range;
use std::sync::Arc;

use halfbyte_isa::stream::{Affine, Factor, Holds, Stream, Tiles, Trips, WINDOW_MARGIN, regions_of};
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;

use super::copy;
use super::moves::{self, Moves};
use crate::arguments::Arguments;
use crate::error::TooLarge;
use crate::kernel::Kernel;
use halfbyte_isa::buffers::AllCovered;

/// What streams start at a multiple of.
const STREAM_ALIGN: u64 = 16;

/// A launch, cut into tiles.
pub(super) struct Plan {
    tiles: Arc<Tiles>,
    /// Work items in a group.
    pub group: u32,
    /// Elements that an item has in each stream: the product of the trips of the loops around its site. All that there are of a
    /// uniform stream, and so the bytes of a window.
    pub rounds: Vec<u64>,
    /// By stream, where it is in its region.
    pub shares: Vec<Share>,
    /// By region, the first stream in it and how many there are.
    regions: Vec<(usize, u64)>,
    /// By stream, the address of its buffer.
    pub bases: Vec<u64>,
    /// By stream, bytes from one item's access to the next one's, modulo 2^32.
    pub scales: Vec<u32>,
    /// The accesses of an item, in the order in which it makes them.
    pub visits: Vec<Visit>,
    /// Bytes before the streams.
    frame_bytes: u32,
    /// Items of the launch.
    pub items: u32,
    /// Items of a tile, but for the last one.
    tile_items: u32,
    /// Where the regions of whole tiles lie, and those of the last one where that has fewer items.
    places: [Places; 2],
    /// All that there is to copy for such tiles, where that is known to be right for the whole launch and lies side by side.
    moves: Option<[Moves; 2]>,
    /// The `out` buffers that these fill, which need not be zero before.
    pub covered: AllCovered,
}

/// Where a stream is in its region.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// The region.
    pub region: u32,
    /// How many streams in it come before this one.
    pub place: u64,
    /// How many there are in it.
    pub streams: u64,
}

/// An access that every item makes, at a step of each loop around it.
#[derive(Clone, Copy)]
pub(super) struct Visit {
    /// The stream's number.
    pub stream: usize,
    /// Which of the item's elements in the stream.
    pub round: u32,
    /// Bytes of the offset in the buffer that are the same for all items, modulo 2^32.
    pub index: u32,
}

/// Work items whose streams are in the data store together. It is small enough to be passed in registers: in memory a load of both fields
/// at once, which were stored one by one, would fail to forward and wait for all stores of the copies.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// The first item.
    pub first: u32,
    /// How many there are.
    pub items: u32,
}

/// Where the streams of a tile lie.
#[derive(Default)]
pub(super) struct Places {
    /// Where each region is in the data store.
    pub regions: Vec<Range<u32>>,
    /// The first address after all streams.
    pub end: u32,
}

/// What a launch has for the sums of streams.
struct Values<'a> {
    items: u32,
    scalars: &'a [u128],
}

impl Values<'_> {
    fn sum(&self, sum: &Affine) -> u32 {
        let product = |&(factor, multiplier): &(Factor, u32)| {
            let value = match factor {
                Factor::ItemCount => self.items,
                Factor::Param(param) => self.scalars.get(param as usize).map_or(0, |bits| *bits as u32),
            };
            value.wrapping_mul(multiplier)
        };
        sum.terms.iter().map(product).fold(sum.constant, u32::wrapping_add)
    }

    /// The address of the buffer of a stream.
    fn base(&self, stream: &Stream) -> u64 {
        let address = stream.buffer.and_then(|param| self.scalars.get(param as usize));
        address.map_or(0, |&address| address as u64)
    }

    fn trips(&self, trips: &Trips) -> u32 {
        match trips {
            Trips::Const(trips) => *trips,
            Trips::Of { count, signed, at_least } => match self.sum(count) {
                count if *signed && (count as i32) < 0 => *at_least,
                count => count.max(*at_least),
            },
        }
    }
}

/// Where each stream is, by the regions of all, and of each region the first stream and how many there are.
fn shares(regions: &[u32]) -> (Vec<Share>, Vec<(usize, u64)>) {
    let mut of_regions: Vec<(usize, u64)> = Vec::new();
    let mut shares: Vec<Share> = Vec::with_capacity(regions.len());
    for (stream, &region) in regions.iter().enumerate() {
        if of_regions.len() <= region as usize {
            of_regions.resize(region as usize + 1, (stream, 0));
        }
        let Some((_, streams)) = of_regions.get_mut(region as usize) else { continue };
        shares.push(Share { region, place: *streams, streams: 0 });
        *streams += 1;
    }
    for share in &mut shares {
        share.streams = of_regions.get(share.region as usize).map_or(1, |&(_, streams)| streams);
    }
    (shares, of_regions)
}

/// Bytes before and after a stream that are nobody's.
fn margin(stream: &Stream) -> u64 {
    if stream.holds == Holds::Buffer { WINDOW_MARGIN.into() } else { 0 }
}

impl Plan {
    /// Chooses the largest tiles that fit: of all items, or of a number of items that is a multiple of 4, of 16 where an access is
    /// one byte, and of a group.
    pub fn new(kernel: &Kernel, tiles: &Arc<Tiles>, items: u32, args: &Arguments<'_>) -> Result<Plan, Box<TooLarge>> {
        let (values, streams) = (Values { items, scalars: &args.scalars }, tiles.streams.as_slice());
        let rounds = |stream: &Stream| {
            if stream.holds == Holds::Buffer {
                return args.buffers.size(values.base(stream)) as u64;
            }
            let trips = stream.steps.iter().map(|step| u64::from(values.trips(&step.trips)));
            trips.fold(1, u64::saturating_mul)
        };
        let (shares, regions) = shares(&regions_of(streams, kernel.signature()));
        let mut plan = Plan {
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
            covered: AllCovered::new(),
        };
        if items == 0 {
            return Ok(plan);
        }
        if !plan.fits(items) {
            let bytewise = streams.iter().any(|stream| stream.is_of_accesses() && stream.element_bytes() == 1);
            let quantum = plan.group.max(if bytewise { 16 } else { 4 });
            let (mut most, mut too_many) = (0, items.div_ceil(quantum).min(plan.beyond(quantum)));
            // Little is lost between streams: most often the first that is tried fits.
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
        let starts: Vec<Visit> = accessed.iter().map(|&stream| plan.start(&values, stream)).collect();
        plan.visit(&values, &starts, 0);
        let sizes = [plan.tile_items, items % plan.tile_items];
        plan.places = sizes.map(|items| plan.lay_out(items));
        if let Some(moves) = copy::moves(&plan, &args.buffers) {
            let [whole, last] = &plan.places;
            let of = |items, places| Moves::new(&moves, items, places, tiles.image.len(), DATA_STORE_BYTES);
            plan.moves = of(sizes[0], whole).zip(of(sizes[1], last)).map(Into::into);
            if plan.is_right() {
                plan.covered = moves::covered(&moves, items, &args.buffers);
            }
        }
        Ok(plan)
    }

    /// The streams, by number.
    pub fn streams(&self) -> &[Stream] {
        &self.tiles.streams
    }

    /// The tiles, from the first item on.
    pub fn tiles(&self) -> impl Iterator<Item = Tile> {
        let step = self.tile_items.max(1);
        (0..self.items).step_by(step as usize).map(move |first| {
            let items = step.min(self.items - first);
            Tile { first, items }
        })
    }

    /// Where the streams of a tile lie.
    pub fn places(&self, tile: Tile) -> &Places {
        let [whole, last] = &self.places;
        if self.is_whole(tile) { whole } else { last }
    }

    /// How many groups so many items of a tile are.
    pub fn groups(&self, items: u32) -> u32 {
        items.div_ceil(self.group)
    }

    /// Whether a tile has as many items as any.
    pub fn is_whole(&self, tile: Tile) -> bool {
        tile.items == self.tile_items
    }

    /// The items of a whole tile and of the last one where that has fewer, and where the streams of each lie.
    pub fn sizes(&self) -> [(u32, &Places); 2] {
        let [whole, last] = &self.places;
        let left = self.items.checked_rem(self.tile_items).unwrap_or(0);
        [(self.tile_items, whole), (left, last)]
    }

    /// The copies of a tile, where they are known to be right.
    pub fn moves(&self, tile: Tile) -> Option<&Moves> {
        let [whole, last] = self.moves.as_ref()?;
        Some(if self.is_whole(tile) { whole } else { last })
    }

    /// Whether all accesses of the launch are known to be right.
    pub fn is_right(&self) -> bool {
        self.moves.is_some()
    }

    /// Where the streams of so many items lie, which fit.
    fn lay_out(&self, items: u32) -> Places {
        let regions = self.places_of(items).map(|place| place.start as u32..place.end as u32).collect();
        Places { regions, end: self.end(items) as u32 }
    }

    /// Where the regions of so many items lie, wherever the data store ends.
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

    /// The regions: of each the first stream and its rounds, and how many streams there are in it.
    fn regions(&self) -> impl Iterator<Item = (&Stream, u64, u64)> {
        self.regions.iter().filter_map(|&(first, streams)| {
            Some((self.streams().get(first)?, self.rounds.get(first).copied().unwrap_or(0), streams))
        })
    }

    /// The first address after the streams of so many items.
    fn end(&self, items: u32) -> u64 {
        let last = self.places_of(items).zip(self.regions()).last();
        last.map_or(self.frame_bytes.into(), |(place, (stream, ..))| place.end.saturating_add(margin(stream)))
    }

    fn fits(&self, items: u32) -> bool {
        self.end(items) <= DATA_STORE_BYTES as u64
    }

    /// A number of times so many items that do not fit, as their streams alone are more than the data store.
    fn beyond(&self, quantum: u32) -> u32 {
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
            whole: stream.is_some_and(|stream| stream.holds == Holds::Buffer),
            source: kernel.source.to_string(),
            loc: stream.and_then(|stream| kernel.locs.get(stream.site.word as usize)).copied().unwrap_or_default(),
        }
    }

    fn start(&self, values: &Values<'_>, stream: usize) -> Visit {
        let index = self.streams().get(stream).map_or(0, |stream| values.sum(&stream.index));
        Visit { stream, round: 0, index }
    }

    /// Adds the accesses of streams that are in the same `depth` loops, at one step of each. All of them have elements, so that
    /// the loops are short.
    fn visit(&mut self, values: &Values<'_>, at: &[Visit], depth: usize) {
        let tiles = self.tiles.clone();
        let step = |visit: &Visit| tiles.streams.get(visit.stream)?.steps.get(depth);
        for (place, visit) in at.iter().enumerate() {
            let Some(first) = step(visit) else {
                self.visits.push(*visit);
                continue;
            };
            let in_loop = |visit: &Visit| step(visit).is_some_and(|step| step.loop_number == first.loop_number);
            if at.iter().take(place).any(in_loop) {
                continue;
            }
            let trips = values.trips(&first.trips);
            let mut inside: Vec<Visit> = at.iter().copied().filter(in_loop).collect();
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
