//! Streams of a packed kernel's launch, one group of items at a time.
//!
//! A load of the kernel reads stream elements, which come from the buffers of the launch. The stores are collected
//! until the end of the group. Then the items of the group make their accesses one after another, each in program
//! order. Traps and races are the same as for a kernel that is not packed.

use std::collections::BTreeMap;
use std::ops::Range;

use halfbyte_abi::stream::StreamContents;
use halfbyte_abi::{Direction, ParamKind, Type, Watchdog};
use smallvec::SmallVec;

use crate::eval::lanes;
use crate::eval::launch::{Arg, TrapKind};
use crate::eval::memory::{AccessError, AccessSite, ItemInst, Memory};
use crate::kernel::{Inst, Kernel, Param};
use crate::span::Span;
use crate::stream::Stream;

/// Number of address bits of a stream. The stream's number is in the higher bits, and its first
/// byte is in the middle of the range.
const ADDRESS_BITS: u32 = 40;

/// Maximum size of a stream element in bytes.
const MAX_ELEMENT: usize = 16;

/// Number of loop iterations between polls of the watchdog.
const TRIPS_BETWEEN_POLLS: u32 = 1 << 10;

/// Contents of a stream element that belongs to no item.
const ZEROS: [u8; MAX_ELEMENT] = [0; MAX_ELEMENT];

/// Size in bytes of a page of sparse memory, a power of two.
const PAGE: usize = 4096;

/// Returns the address of the first byte of a stream.
pub(super) fn base(stream: usize) -> u64 {
    (stream as u64) << ADDRESS_BITS | 1 << (ADDRESS_BITS - 1)
}

/// A rejected access that an item of the kernel before packing makes.
pub(super) struct Failure {
    pub(super) item: u32,
    pub(super) inst: Inst,
    pub(super) span: Span,
    pub(super) write: bool,
    pub(super) refusal: AccessError,
}

pub(super) struct Streams<'k> {
    /// Number of items in a group.
    items: u32,
    /// Number of items of the launch.
    count: u32,
    /// First item of the current group.
    first: u32,
    sites: Vec<Site<'k>>,
    visits: Vec<Visit>,
}

/// A load or store of a packed kernel in a launch, with its stream.
struct Site<'k> {
    stream: &'k Stream,
    /// First access of the stream in the packed kernel.
    inst: Inst,
    write: bool,
    /// Address of the buffer.
    base: u64,
    /// Value of the stream's `scale` in this launch, in bytes per item.
    scale: u32,
    index: u32,
    loops: Vec<Loop>,
    /// Number of items per group that have their own elements.
    items: u32,
    written: Pages,
    /// Bytes of a whole-buffer stream that the current group has stored, by their offset in the buffer.
    stored: BTreeMap<u32, u8>,
    /// Number of bytes of the current group's part of the stream that the kernel has accessed.
    accessed: u64,
}

/// A loop that encloses a load or store, with its trip count and stride in a launch.
#[derive(Clone, Copy)]
struct Loop {
    trips: u32,
    stride: u32,
}

/// Step in the sequence of accesses of an item.
#[derive(Clone, Copy)]
enum Visit {
    /// Access of the stream with this number.
    Access(usize),
    /// Begin of a loop. `end` is the index of the step that ends the loop.
    Begin { trips: u32, end: usize },
    /// End of a loop. `begin` is the index of the step that begins the loop.
    End { trips: u32, begin: usize },
}

/// Sparse memory, initially zero.
#[derive(Default)]
struct Pages(BTreeMap<usize, Box<[u8; PAGE]>>);

impl Pages {
    fn get(&self, at: u32) -> u8 {
        let at = at as usize;
        self.0.get(&(at / PAGE)).and_then(|page| page.get(at % PAGE)).copied().unwrap_or(0)
    }

    fn set(&mut self, at: u32, byte: u8) {
        let at = at as usize;
        let page = self.0.entry(at / PAGE).or_insert_with(|| Box::new([0; PAGE]));
        if let Some(place) = page.get_mut(at % PAGE) {
            *place = byte;
        }
    }
}

impl Site<'_> {
    /// Returns the size of a stream element in bytes.
    fn bytes(&self) -> u32 {
        self.stream.element_bytes().clamp(1, MAX_ELEMENT as u32)
    }

    fn is_window(&self) -> bool {
        self.stream.holds == StreamContents::Buffer
    }

    /// Returns the byte offset that the kernel has stored for an access to a whole-buffer stream.
    /// `element` is the number of the access.
    fn offset(&self, element: u32) -> u32 {
        let first = element.wrapping_mul(self.bytes());
        u32::from_le_bytes([0, 1, 2, 3].map(|byte| self.written.get(first.wrapping_add(byte))))
    }

    /// Returns `true` if the stream has one element for the whole launch, which the kernel can
    /// access any number of times.
    fn is_constant(&self) -> bool {
        self.stream.uniform && self.loops.is_empty()
    }

    /// Returns the number of an item's element in the given loop iterations, within the group's
    /// part of the stream, modulo 2^32.
    fn element(&self, in_group: u32, steps: &[u32]) -> u32 {
        let trip = self
            .loops
            .iter()
            .zip(steps)
            .fold(0u32, |trip, (around, &step)| trip.wrapping_mul(around.trips).wrapping_add(step));
        let item = if self.stream.uniform { 0 } else { in_group };
        trip.wrapping_mul(self.items).wrapping_add(item)
    }

    /// Returns the address that an item accesses in the given loop iterations.
    fn address(&self, item: u32, steps: impl Iterator<Item = u32>) -> u64 {
        let index = item.wrapping_mul(self.scale).wrapping_add(self.index);
        let index = self
            .loops
            .iter()
            .zip(steps)
            .fold(index, |index, (around, step)| index.wrapping_add(step.wrapping_mul(around.stride)));
        self.base.wrapping_add(u64::from(index)).wrapping_add_signed(i64::from(self.stream.offset))
    }

    /// Returns the buffer address of a stream element of a group, and the number in the group of
    /// the item to which the element belongs.
    fn locate(&self, first: u32, element: u32) -> (u64, u32) {
        let in_group = element % self.items;
        let mut trip = element / self.items;
        let mut steps: SmallVec<[u32; 4]> = SmallVec::new();
        for around in self.loops.iter().rev() {
            let trips = around.trips.max(1);
            steps.push(trip % trips);
            trip /= trips;
        }
        (self.address(first.wrapping_add(in_group), steps.into_iter().rev()), in_group)
    }

    /// Returns the size in bytes of a group's part of the stream, saturated to 64 bits.
    fn group_bytes(&self) -> u64 {
        let trip = u64::from(self.items) * u64::from(self.bytes());
        self.loops.iter().fold(trip, |bytes, around| bytes.saturating_mul(around.trips.into()))
    }

    /// Returns the size in bytes of a group's part of the stream, modulo 2^32 like address arithmetic.
    fn group_bytes_modulo(&self) -> u32 {
        let trip = self.items.wrapping_mul(self.bytes());
        self.loops.iter().fold(trip, |bytes, around| bytes.wrapping_mul(around.trips))
    }
}

impl<'k> Streams<'k> {
    /// Creates the streams of a packed kernel in a launch of `count` items. `insts` are the first
    /// accesses of the streams.
    pub(super) fn new(kernel: &'k Kernel, insts: &[Inst], count: u32, args: &[Arg<'_>]) -> Option<Streams<'k>> {
        let packing = kernel.packing.as_ref()?;
        let items = packing.items.max(1);
        let param = |number: u32| match args.get(number as usize) {
            Some(Arg::Scalar(words)) => words[0] as u32,
            _ => 0,
        };
        let params = kernel.params.iter().skip(kernel.launch_params().len());
        let site = |((stream, inst), declared): ((&'k Stream, &Inst), &Param)| Site {
            stream,
            inst: *inst,
            write: match stream.holds {
                StreamContents::Offsets { stores, .. } => stores,
                _ => matches!(declared.kind, ParamKind::Buffer { direction: Direction::Out, .. }),
            },
            base: stream.buffer.map_or(0, |number| match args.get(number as usize) {
                Some(_) => Arg::address(args, number as usize).unwrap_or(0),
                None => halfbyte_abi::buffer_base(number as usize),
            }),
            scale: stream.scale.value(param, count),
            index: stream.index.value(param, count),
            loops: (stream.steps.iter())
                .map(|step| Loop { trips: step.trips.value(param, count), stride: step.stride.value(param, count) })
                .collect(),
            items: if stream.uniform { 1 } else { items },
            written: Pages::default(),
            stored: BTreeMap::new(),
            accessed: 0,
        };
        let sites: Vec<Site<'k>> = packing.streams.iter().zip(insts).zip(params).map(site).collect();
        let visits = visits(&sites);
        Some(Streams { items, count, first: 0, sites, visits })
    }

    /// Returns the number of the first item of a group.
    pub(super) fn first_item(&self, group: u32) -> u32 {
        group.saturating_mul(self.items)
    }

    /// Returns the source span of the stream whose first access is `inst`.
    pub(super) fn span(&self, inst: Inst) -> Option<Span> {
        self.sites.iter().find(|site| site.inst == inst).map(|site| site.stream.site)
    }

    /// Starts a group. No byte of its streams has been accessed yet.
    pub(super) fn begin(&mut self, group: u32) {
        self.first = self.first_item(group);
        for site in &mut self.sites {
            site.written.0.clear();
            site.stored.clear();
            site.accessed = 0;
        }
    }

    /// Returns the first stream whose elements the kernel has not all accessed in the current
    /// group: its first access, and the trap.
    pub(super) fn unfinished(&self) -> Option<(Inst, TrapKind)> {
        self.sites.iter().enumerate().find_map(|(stream, site)| {
            let (at, next) = (site.group_bytes(), site.accessed);
            (at != next && !site.is_constant()).then_some((site.inst, TrapKind::OutOfOrder { stream, at, next }))
        })
    }

    /// Reads a value from a stream for a load of the kernel.
    pub(super) fn load(
        &mut self,
        memory: &mut Memory<'_>,
        at: AccessSite,
        ty: Type,
        out: &mut [u64],
    ) -> Result<(), AccessError> {
        if let Some(window) = self.window(at.address) {
            let start = at.address as u32;
            let mut bytes: SmallVec<[u8; lanes::MAX_BYTES]> = SmallVec::new();
            for offset in (0..ty.bytes()).map(|byte| start.wrapping_add(byte)) {
                let at = AccessSite { address: window.base.wrapping_add(offset.into()), align: 1, ..at };
                let there = memory.peek(at, 1).and_then(|byte| byte.first().copied());
                bytes.push(window.stored.get(&offset).copied().or(there).unwrap_or(0));
            }
            lanes::read(ty, &bytes, out);
            return Ok(());
        }
        let first = self.first;
        let valid = self.count.saturating_sub(first);
        let (site, range) = self.find(at, ty.bytes())?;
        let size = site.bytes();
        let mut bytes: SmallVec<[u8; lanes::MAX_BYTES]> = SmallVec::new();
        for element in range.start / size..range.end.div_ceil(size) {
            let (address, in_group) = site.locate(first, element);
            let at = AccessSite { address, align: site.stream.align, ..at };
            let present = if in_group < valid { memory.peek(at, size) } else { None };
            bytes.extend_from_slice(present.or(ZEROS.get(..size as usize)).unwrap_or(&[]));
        }
        lanes::read(ty, bytes.get((range.start % size) as usize..).unwrap_or(&[]), out);
        Ok(())
    }

    /// Writes a value to a stream for a store of the kernel.
    pub(super) fn store(&mut self, at: AccessSite, ty: Type, value: &[u64]) -> Result<(), AccessError> {
        let mut bytes = [0; lanes::MAX_BYTES];
        if let Some(window) = self.window_mut(at.address) {
            let size = ty.bytes() as usize;
            lanes::write(ty, value, bytes.get_mut(..size).unwrap_or(&mut []));
            let places = (0..ty.bytes()).map(|byte| (at.address as u32).wrapping_add(byte));
            window.stored.extend(places.zip(bytes));
            return Ok(());
        }
        let (site, range) = self.find(at, ty.bytes())?;
        lanes::write(ty, value, bytes.get_mut(..range.len()).unwrap_or(&mut []));
        range.zip(bytes).for_each(|(at, byte)| site.written.set(at, byte));
        Ok(())
    }

    fn window(&self, address: u64) -> Option<&Site<'k>> {
        self.sites.get((address >> ADDRESS_BITS) as usize).filter(|site| site.is_window())
    }

    fn window_mut(&mut self, address: u64) -> Option<&mut Site<'k>> {
        self.sites.get_mut((address >> ADDRESS_BITS) as usize).filter(|site| site.is_window())
    }

    /// Returns the stream that contains the whole access, and the byte range in the current group's
    /// part. Fails if the range does not follow the previous access.
    fn find(&mut self, at: AccessSite, bytes: u32) -> Result<(&mut Site<'k>, Range<u32>), AccessError> {
        let AccessSite { address, align, .. } = at;
        if align > 1 && address % u64::from(align) != 0 {
            return Err(AccessError::Trap(TrapKind::Misaligned { address, align }));
        }
        let stream = (address >> ADDRESS_BITS) as usize;
        let group = self.first / self.items;
        let found = self.sites.get_mut(stream).and_then(|site| {
            let groups = if site.stream.uniform { 0 } else { group };
            let start = (address as u32).wrapping_sub(site.group_bytes_modulo().wrapping_mul(groups));
            let end = start.checked_add(bytes).filter(|&end| u64::from(end) <= site.group_bytes())?;
            Some((site, start..end))
        });
        let Some((site, range)) = found else {
            return Err(AccessError::Trap(TrapKind::OutOfBounds { address, bytes }));
        };
        let (at, next) = (u64::from(range.start), site.accessed);
        if at != next && !site.is_constant() {
            return Err(AccessError::Trap(TrapKind::OutOfOrder { stream, at, next }));
        }
        site.accessed = range.end.into();
        Ok((site, range))
    }

    /// Makes the accesses of the group's items to the launch's buffers. If the kernel has stopped with a fault, only
    /// the first item makes accesses, up to the last access that the kernel reached.
    ///
    /// An item makes no access that needs more backward branches than the budget. If the watchdog stops the launch, the
    /// function returns early without an error.
    pub(super) fn settle(
        &self,
        memory: &mut Memory<'_>,
        stopped: bool,
        budget: u32,
        watchdog: Option<&Watchdog>,
    ) -> Result<(), Failure> {
        let items = if stopped { 1 } else { self.items };
        (0..items.min(self.count.saturating_sub(self.first)))
            .try_for_each(|item| self.item(memory, item, budget, watchdog))
    }

    fn item(
        &self,
        memory: &mut Memory<'_>,
        in_group: u32,
        budget: u32,
        watchdog: Option<&Watchdog>,
    ) -> Result<(), Failure> {
        let mut steps: SmallVec<[u32; 4]> = SmallVec::new();
        let mut backward = 0;
        let mut next = 0;
        while let Some(&visit) = self.visits.get(next) {
            next += 1;
            match visit {
                Visit::Access(stream) => {
                    if let Some(site) = self.sites.get(stream) {
                        self.access(memory, site, in_group, &steps)?;
                    }
                }
                Visit::Begin { trips: 0, end } => next = end + 1,
                Visit::Begin { .. } => steps.push(0),
                Visit::End { trips, begin } => {
                    if let Some(step) = steps.pop().map(|step| step + 1).filter(|&step| step < trips) {
                        if backward == budget {
                            return Ok(());
                        }
                        backward += 1;
                        if backward % TRIPS_BETWEEN_POLLS == 0
                            && watchdog.is_some_and(|watchdog| watchdog.spend(TRIPS_BETWEEN_POLLS.into()).is_err())
                        {
                            return Ok(());
                        }
                        steps.push(step);
                        next = begin + 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes one access of an item to a buffer of the launch, unless a guard disables the access.
    fn access(&self, memory: &mut Memory<'_>, site: &Site<'_>, in_group: u32, steps: &[u32]) -> Result<(), Failure> {
        let element = site.element(in_group, steps);
        let start = u64::from(element) * u64::from(site.bytes());
        if start >= site.accessed && !site.is_constant() {
            return Ok(());
        }
        if let Some(guard) = site.stream.guard.and_then(|guard| self.sites.get(guard as usize))
            && guard.written.get(element.wrapping_mul(guard.bytes())) == 0
        {
            return Ok(());
        }
        let item = self.first + in_group;
        let window = site.stream.window().and_then(|window| self.sites.get(window as usize));
        let address = match window {
            None => site.address(item, steps.iter().copied()),
            Some(_) => {
                let address = site.base.wrapping_add(site.offset(element).into());
                address.wrapping_add_signed(site.stream.offset.into())
            }
        };
        let at = AccessSite { address, ..AccessSite::new(ItemInst::new(item, site.inst), site.stream.align) };
        let bytes = site.stream.bytes.clamp(1, MAX_ELEMENT as u32);
        let done = match site.write {
            false => memory.read(at, bytes).map(drop),
            true => {
                let stored: SmallVec<[u8; MAX_ELEMENT]> = match window {
                    None => (0..bytes)
                        .map(|byte| site.written.get(element.wrapping_mul(bytes).wrapping_add(byte)))
                        .collect(),
                    Some(window) => {
                        let held = memory.peek(at, bytes).unwrap_or_default();
                        let first = address.wrapping_sub(window.base) as u32;
                        let byte = |byte: u32| {
                            let stored = window.stored.get(&first.wrapping_add(byte));
                            stored.or(held.get(byte as usize)).copied().unwrap_or(0)
                        };
                        (0..bytes).map(byte).collect()
                    }
                };
                memory.write(at, &stored)
            }
        };
        let Site { inst, write, stream, .. } = *site;
        done.map_err(|refusal| Failure { item, inst, span: stream.site, write, refusal })
    }
}

/// Returns the order of an item's accesses: by stream number. All streams of a loop are accessed in
/// each of its iterations.
fn visits(sites: &[Site<'_>]) -> Vec<Visit> {
    let mut visits = Vec::new();
    let mut open: Vec<(u32, usize)> = Vec::new();
    let close = |visits: &mut Vec<Visit>, begin: usize| {
        let end = visits.len();
        if let Some(Visit::Begin { trips, end: place }) = visits.get_mut(begin) {
            *place = end;
            let trips = *trips;
            visits.push(Visit::End { trips, begin });
        }
    };
    for (number, site) in sites.iter().enumerate().filter(|(_, site)| site.stream.is_of_accesses()) {
        let steps = &site.stream.steps;
        let same = open.iter().zip(steps).take_while(|((open, _), step)| *open == step.loop_number).count();
        for (_, begin) in open.drain(same..).rev() {
            close(&mut visits, begin);
        }
        for (step, around) in steps.iter().zip(&site.loops).skip(same) {
            open.push((step.loop_number, visits.len()));
            visits.push(Visit::Begin { trips: around.trips, end: 0 });
        }
        visits.push(Visit::Access(number));
    }
    for (_, begin) in open.drain(..).rev() {
        close(&mut visits, begin);
    }
    visits
}
