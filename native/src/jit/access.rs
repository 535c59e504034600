//! Loads and stores of whole rows, which compiled code calls. Every access is checked here. The
//! check covers a whole row at once if the addresses are affine, and one item otherwise.
//!
//! An item whose access is invalid faults. The item and all items after it then leave the row, so
//! the last fault recorded is the first fault of the lowest item. If the items of a group are in
//! different rounds, the fault of the earliest round is kept. The caller that runs the blocks then
//! removes the other items.

use arrayvec::ArrayVec;
use halfbyte_abi::{buffer_base, buffer_slot};
use halfbyte_isa::atomic::AtomicOp;
use halfbyte_isa::halu::domain::{LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES, Width};
use halfbyte_isa::ptx::meaning::{CONST_SPACE, PARAM_WINDOW};

use super::context::{CHUNK, FaultKind, Header, Own, RawBuffer, RowFault, Shared};
use super::copies::{copy_in, copy_in_part, copy_out, copy_out_masked, read, write};
use super::dataflow::{Reach, Scale, Shape};
use super::{anywhere, atomic, grid};
use crate::host::{Found, HostMemory, start_of};
use halfbyte_isa::trap::{Access, Space, TrapKind};

/// Space of constant buffers in faults: the bank after the bank of the parameters.
pub const CONSTANTS: Space = Space::Constant(1);

/// Compiled instruction that accesses memory.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// Address of the instruction.
    pub address: u32,
    pub kind: Kind,
    pub width: Width,
    /// `true` if 8 and 16 bits are sign-extended.
    pub signed: bool,
    pub space: Space,
    /// Memory of a 64-bit address, if the memory is not `space`.
    pub flat: Option<Reach>,
    /// `true` if other items of the group run after the access.
    pub yields: bool,
    /// Atomic operation, with `true` if the old value is used.
    pub change: Option<(AtomicOp, bool)>,
    /// Offset added to every address, modulo 2^32 in a constant bank.
    pub imm: i32,
    /// Distance in bytes between the accesses of consecutive items, if it is known.
    pub stride: u32,
    /// Difference between the offsets of consecutive items, in units of `scale`.
    pub step: u32,
    pub scale: Scale,
    /// Difference between the offsets of neighbours along x and along y, if the access is affine along both axes.
    pub grid: [u32; 2],
    /// `true` if the guard holds for no item at or after `Header::first`.
    pub of_first: bool,
    /// `true` if only the first items, rounded up to a whole chunk, use the loaded values.
    pub read_first: bool,
    /// `true` if a load may return a row in the buffer itself.
    pub in_place: bool,
    /// Offset in the context of the first row that a load fills. A store may be buffered in this row.
    pub row: usize,
    /// Distance in bytes to the next row.
    pub row_bytes: usize,
    /// Operands that are rows.
    pub steps: Steps,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Access(Access),
    Fault(TrapKind),
}

/// Operands that are rows with one word per item. The other operands are uniform words.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Steps {
    pub offset: bool,
    pub base: [bool; 2],
    pub mask: bool,
    pub data: [bool; 8],
}

/// Records a fault of `item`, and removes `item` and all items after it from the row. If the items are in different
/// rounds, no item is removed here.
///
/// # Safety
/// `header` belongs to a context with the layout that its shared state describes.
pub(super) unsafe fn leave(header: *mut Header, item: u32, address: u32, kind: FaultKind) {
    // SAFETY: the caller's promise. `rounds` has one entry per item.
    unsafe {
        let rounds = (*header).rounds;
        (*header).at_rest = 0;
        let round = (*header).round + if rounds.is_null() { 0 } else { rounds.add(item as usize).read() };
        if !rounds.is_null() {
            let header = &mut *header;
            if header.fault.as_ref().is_none_or(|first| (round, item) < (first.round, first.item)) {
                header.fault = Some(RowFault { item, round, address, kind });
            }
            return;
        }
        let header = &mut *header;
        header.fault = Some(RowFault { item, round, address, kind });
        header.set_items(item);
        // If no item is left, loops end at their next iteration.
        if item == 0 {
            header.headroom = 0;
        }
    }
}

impl Shared {
    /// Returns `true` if the end of all memory is known. A load may then read bytes after an access.
    fn is_bounded(&self) -> bool {
        // SAFETY: null, or memory that outlives the launch.
        unsafe { self.host.as_ref() }.is_none_or(HostMemory::is_bounded)
    }

    /// Returns the buffer whose slot contains an address, and the offset from its start, modulo 2^64.
    fn buffer(&self, address: u64) -> Option<(&RawBuffer, u64)> {
        let param = buffer_slot(address)?;
        let buffer = self.buffers.get(param).filter(|buffer| !buffer.start.is_null())?;
        Some((buffer, address.wrapping_sub(buffer_base(param))))
    }

    /// Returns the memory at an address in a space, and the number of bytes from there to its end.
    fn find(&self, access: Access, space: Space, address: u64, found: &Found) -> Option<(*mut u8, u64)> {
        match space {
            Space::Global => {
                let Some((buffer, offset)) = self.buffer(address) else {
                    // SAFETY: null, or memory that outlives the launch.
                    let host = unsafe { self.host.as_ref() }?;
                    return Some((start_of(address), host.room(found, address)?));
                };
                let left = (buffer.bytes as u64).checked_sub(offset)?;
                if access == Access::Store && !buffer.writable {
                    return None;
                }
                // SAFETY: the offset is within the buffer, or at its end.
                Some((unsafe { buffer.start.add(offset as usize) }, left))
            }
            Space::Constant(0) if access == Access::Load => {
                let part = self.parts.partition_point(|[start, _]| *start <= address).checked_sub(1)?;
                let [_, end] = *self.parts.get(part)?;
                let left = self.constants.get(usize::try_from(address).ok()?..usize::try_from(end).ok()?)?;
                Some((left.as_ptr().cast_mut(), left.len() as u64))
            }
            CONSTANTS if access == Access::Load => {
                let (buffer, offset) = self.buffer(address ^ CONST_SPACE).filter(|(buffer, _)| buffer.constant)?;
                let left = (buffer.bytes as u64).checked_sub(offset)?;
                // SAFETY: the offset is within the buffer, or at its end.
                Some((unsafe { buffer.start.add(offset as usize) }, left))
            }
            Space::Constant(_) | Space::Local | Space::Shared => None,
        }
    }

    /// Returns `true` if a load reaches the padding of an allocation of the process, which is permitted and reported.
    fn is_in_padding(&self, found: &Found, address: u64, bytes: u64, inst: u32) -> bool {
        // SAFETY: null, or memory that outlives the launch.
        let host = unsafe { self.host.as_ref() }.filter(|_| self.buffer(address).is_none());
        host.is_some_and(|host| host.allows_padding(found, address, bytes, inst))
    }
}

impl Header {
    /// Returns the memory that `item` accesses at an address in a space, and the number of bytes from there to its end.
    pub fn find(&self, access: Access, space: Space, address: u64, item: u32) -> Option<(*mut u8, u64)> {
        let Own { shared, shared_bytes, scratch, scratch_bytes, scratch_start } = self.own;
        match space {
            Space::Shared => {
                let left = (shared_bytes as u64).checked_sub(address)?;
                // SAFETY: the offset is within the memory, or at its end.
                Some((unsafe { shared.add(address as usize) }, left))
            }
            Space::Local => {
                let address = address.checked_sub(scratch_start)?;
                let left = (scratch_bytes as u64).checked_sub(address)?;
                // SAFETY: likewise; each item of the row has `scratch_bytes` bytes.
                Some((unsafe { scratch.add(item as usize * scratch_bytes + address as usize) }, left))
            }
            Space::Global | Space::Constant(_) => self.shared().find(access, space, address, &self.found),
        }
    }

    /// Returns the start of an access by one item. Only such an access may reach the padding of an allocation: for a
    /// row, the items that access the last bytes are unknown. `inst` is the address of the instruction.
    pub fn find_one(
        &self,
        (access, inst): (Access, u32),
        space: Space,
        address: u64,
        item: u32,
        bytes: u64,
    ) -> Option<*mut u8> {
        if let Some((start, left)) = self.find(access, space, address, item)
            && bytes <= left
        {
            return Some(start);
        }
        let is_padded = access == Access::Load
            && space == Space::Global
            && self.shared().is_in_padding(&self.found, address, bytes, inst);
        is_padded.then(|| start_of(address))
    }
}

/// The addresses of a row.
#[derive(Clone, Copy)]
pub(super) enum Places {
    /// `base + offset + step * k`. The sum of `offset` and `step * k` is modulo 2^32.
    Affine { base: u64, offset: u32, step: u32 },
    /// Affine addresses along x and along y. `across` is the number of items along x.
    Grid { base: u64, offset: u32, grid: [u32; 2], across: u32 },
    /// Gather or scatter: `base` and `offset` are rows or uniform words.
    Each { offset: Words, base: [Words; 2] },
}

/// Row, or a uniform word. A row may start at any address, because loaded values may be a row in a buffer.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub start: *const u32,
    pub step: usize,
}

impl Words {
    pub fn new(start: *const u32, each: bool) -> Words {
        Words { start, step: each.into() }
    }

    /// Returns the row without the items before `item`.
    pub fn from(self, item: u32) -> Words {
        Words { start: self.start.wrapping_add(item as usize * self.step), ..self }
    }

    /// # Safety
    /// The row has the item `item`.
    pub unsafe fn get(self, item: u32) -> u32 {
        // SAFETY: the caller's promise.
        unsafe { self.start.add(item as usize * self.step).read_unaligned() }
    }
}

/// Returns the memory of a generic address, and the address in that memory. `params` is `true` if parameters may be
/// accessed through the address.
pub(super) fn locate(address: u64, params: bool) -> (Space, u64) {
    let within = |window: u64| Some(address.wrapping_sub(window)).filter(|&offset| offset < WINDOW_BYTES);
    match (within(LOCAL_WINDOW), within(SHARED_WINDOW), within(PARAM_WINDOW)) {
        (Some(local), ..) => (Space::Local, local),
        (_, Some(shared), _) => (Space::Shared, shared),
        (.., Some(param)) if params => (Space::Constant(0), param),
        _ => (Space::Global, address),
    }
}

impl Site {
    pub fn access(&self) -> Access {
        match self.kind {
            Kind::Access(access) => access,
            Kind::Fault(_) => Access::Load,
        }
    }

    pub fn at(&self, base: u64, offset: u32) -> u64 {
        match self.space {
            Space::Constant(_) => offset.wrapping_add_signed(self.imm).into(),
            Space::Global => base.wrapping_add(self.scale.of(offset)).wrapping_add_signed(self.imm.into()),
            // A negative offset is beyond the end.
            Space::Local | Space::Shared => (i64::from(offset) + i64::from(self.imm)).cast_unsigned(),
        }
    }

    /// Returns the space of an address, and the address in that space.
    pub fn locate(&self, address: u64) -> (Space, u64) {
        let params = match self.flat {
            None => return (self.space, address),
            Some(Reach::In(space)) => return (space, address),
            Some(Reach::Constants) => return (CONSTANTS, address),
            Some(Reach::Any { params }) => params,
        };
        locate(address, params)
    }

    /// # Safety
    /// The rows of `places` have the item `item`.
    unsafe fn place(&self, places: Places, item: u32) -> u64 {
        match places {
            Places::Affine { base, offset, step } => self.at(base, offset.wrapping_add(step.wrapping_mul(item))),
            Places::Grid { base, offset, grid: [x, y], across } => {
                self.at(base, Shape::Grid(x, y).at(offset, item, across))
            }
            Places::Each { offset, base: [low, high] } => {
                // SAFETY: the caller's promise.
                let [offset, low, high] = [offset, low, high].map(|words| unsafe { words.get(item) });
                self.at(u64::from(high) << 32 | u64::from(low), offset)
            }
        }
    }

    /// Returns the number of items of a row that the access looks at.
    fn items(&self, header: &Header) -> u32 {
        if self.of_first { header.first.min(header.items) } else { header.items }
    }

    /// Returns the address of the first access of a row, if all accesses are valid and lie at a distance of `stride`.
    pub fn whole(&self, header: &Header, base: u64, offset: u32) -> Option<*mut u8> {
        self.whole_of(header, base, offset, header.items)
    }

    /// As [`Site::whole`], for `items` items that a loop loads. Items that fill up the last chunk may be outside the
    /// row.
    pub fn whole_chunks(&self, header: &Header, base: u64, offset: u32, items: u32) -> Option<*mut u8> {
        let is_read = items <= header.items || header.shared().is_bounded();
        if is_read { self.whole_of(header, base, offset, items) } else { None }
    }

    /// As [`Site::whole`], for the first `items` items of a row.
    fn whole_of(&self, header: &Header, base: u64, offset: u32, items: u32) -> Option<*mut u8> {
        if self.flat.is_some() || self.space == Space::Local {
            return None;
        }
        let stride = i64::from(self.stride as i32);
        let others = i64::from(items.checked_sub(1)?);
        let reach = stride * others;
        let width = i64::from(self.width.bytes());
        let number = if self.scale.signed { i64::from(offset as i32) } else { offset.into() };
        let last = number + i64::from(self.step as i32) * others;
        let is_kept = if self.scale.signed { i32::try_from(last).is_ok() } else { u32::try_from(last).is_ok() };
        if !is_kept || stride & (width - 1) != 0 {
            return None;
        }
        if matches!(self.space, Space::Constant(_)) && last.max(offset.into()) + i64::from(self.imm) > u32::MAX.into() {
            return None;
        }
        let first = self.at(base, offset);
        if first & (width as u64 - 1) != 0 {
            return None;
        }
        let lowest = first.checked_add_signed(reach.min(0))?;
        let (start, left) = header.find(self.access(), self.space, lowest, 0)?;
        let span = reach.unsigned_abs() + width as u64;
        // SAFETY: `span` bytes from the lowest address are within the memory that was found.
        (span <= left).then(|| unsafe { start.offset(-reach.min(0) as isize) })
    }

    /// Returns the address and the space of one item's access, if the access is valid.
    fn one(&self, header: &Header, item: u32, address: u64) -> Option<(*mut u8, Space)> {
        let bytes = u64::from(self.width.bytes());
        let (space, address) = self.locate(address);
        // Local memory has no atomic operations, because no other item reaches local memory.
        if address & (bytes - 1) != 0 || (self.change.is_some() && space == Space::Local) {
            return None;
        }
        let start = header.find_one((self.access(), self.address), space, address, item, bytes)?;
        Some((start, space))
    }

    fn fault(&self, address: u64) -> FaultKind {
        let (access, (space, address)) = (self.access(), self.locate(address));
        FaultKind::Memory { access, space, address, bytes: self.width.bytes() }
    }
}

/// Calls `each` for every item in a mask, with the memory that the item accesses, up to the first invalid access. If
/// the items are in different rounds, the loop continues after an invalid access.
///
/// # Safety
/// `header` belongs to a context that fits the site. `places` and `mask` are rows of the context.
pub(super) unsafe fn each(
    header: *mut Header,
    site: &Site,
    places: Places,
    mask: Option<Words>,
    mut each: impl FnMut(u32, *mut u8, Space),
) {
    // SAFETY: the caller's promise; items are in the row.
    unsafe {
        let items = site.items(&*header);
        for item in 0..items {
            if mask.is_some_and(|mask| mask.get(item) == 0) {
                continue;
            }
            let address = site.place(places, item);
            match site.one(&*header, item, address) {
                Some((at, space)) => each(item, at, space),
                None => {
                    leave(header, item, site.address, site.fault(address));
                    if (*header).rounds.is_null() {
                        return;
                    }
                }
            }
        }
    }
}

/// Fills the rows of a load.
///
/// # Safety
/// As for [`each`].
unsafe fn load(header: *mut Header, site: &Site, places: Places, mask: Option<Words>) {
    // SAFETY: the rows of the site lie in the context, and no reference points to them.
    unsafe {
        let row = |k: usize| header.byte_add(site.row + k * site.row_bytes).cast::<u32>();
        let rows = [row(0), row(1), row(2), row(3)];
        if let Places::Each { offset, base } = places
            && let Some(span) = anywhere::span(&*header, site, offset, base, mask)
        {
            return anywhere::load(&span, site.width, site.signed, rows);
        }
        let registers = usize::from(site.width.registers());
        each(header, site, places, mask, |item, at, _| {
            let words = read(at, site.width, site.signed);
            for (row, word) in rows.iter().zip(words).take(registers) {
                row.add(item as usize).write(word);
            }
        });
    }
}

/// Returns the first item in a mask, the number of items from the first to the last one, and the address of the first
/// access. Returns `None` if an access between the two items is invalid.
///
/// # Safety
/// The mask is a row of the header's context, or a uniform word.
unsafe fn part(
    header: &Header,
    site: &Site,
    base: u64,
    offset: u32,
    mask: Option<Words>,
) -> Option<(u32, u32, *mut u8)> {
    if mask.is_none() && site.of_first {
        let items = site.items(header);
        return Some((0, items, site.whole_of(header, base, offset, items)?));
    }
    let mask = mask.filter(|mask| mask.step != 0)?;
    // SAFETY: the caller's promise.
    let (first, last) = unsafe { anywhere::ends(mask.start, site.items(header) as usize) }?;
    let (first, last) = (first as u32, last as u32);
    let (offset, items) = (offset.wrapping_add(site.step.wrapping_mul(first)), last - first + 1);
    Some((first, items, site.whole_of(header, base, offset, items)?))
}

/// Returns the mask of the items that make the access, or `None` if all items of the site make the access.
fn mask_words(header: &Header, site: &Site, mask: *const u32) -> Option<Words> {
    let is_all = mask.is_null() || (site.of_first && header.first_all != 0);
    (!is_all).then(|| Words::new(mask, site.steps.mask))
}

/// Performs an affine load and returns the row with the loaded words. This row is in the buffer itself if possible.
///
/// # Safety
/// Called by compiled code, with its context, a site of the same code, and a row or null as the mask.
pub(super) unsafe extern "C" fn load_affine(
    header: *mut Header,
    site: *const Site,
    base: u64,
    offset: u32,
    mask: *const u32,
) -> *const u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let site = &*site;
        let row = header.byte_add(site.row).cast::<u32>();
        // A load reads whole chunks, so items that make no access are read, too.
        let items = site.items(&*header).next_multiple_of(CHUNK).min((*header).items);
        match site.whole_of(&*header, base, offset, items) {
            Some(at) => {
                let together =
                    site.in_place && site.width == Width::B32 && site.stride == 4 && cfg!(target_endian = "little");
                let read = if site.read_first { items } else { (*header).items }.next_multiple_of(CHUNK);
                let is_there = || read == items || site.whole_chunks(&*header, base, offset, read).is_some();
                if together && is_there() {
                    others_run(header, site);
                    return at.cast();
                }
                copy_in(header, site, at, items as usize);
            }
            None => {
                let (places, mask) =
                    (Places::Affine { base, offset, step: site.step }, mask_words(&*header, site, mask));
                match part(&*header, site, base, offset, mask) {
                    Some((first, items, at)) => copy_in_part(header, site, at, first, items),
                    None => load(header, site, places, mask),
                }
            }
        }
        others_run(header, site);
        row
    }
}

/// Performs a load that is affine along x and along y, and writes the rows of the site.
///
/// # Safety
/// As for [`load_affine`].
pub(super) unsafe extern "C" fn load_grid(
    header: *mut Header,
    site: *const Site,
    base: u64,
    offset: u32,
    mask: *const u32,
) {
    // SAFETY: the caller's promise. The rows of the site lie in the context, and no reference points to them.
    unsafe {
        let site = &*site;
        match grid::places(&*header, site, base, offset) {
            Some(places) => {
                let row = |k: usize| header.byte_add(site.row + k * site.row_bytes).cast::<u32>();
                grid::load(&places, site.width, site.signed, [row(0), row(1), row(2), row(3)]);
            }
            None => {
                let places = Places::Grid { base, offset, grid: site.grid, across: (*header).across };
                load(header, site, places, mask_words(&*header, site, mask));
            }
        }
        others_run(header, site);
    }
}

/// Stores rows at addresses that are affine along x and along y.
///
/// # Safety
/// As for [`store_affine_rows`].
pub(super) unsafe extern "C" fn store_grid(
    header: *mut Header,
    site: *const Site,
    base: u64,
    offset: u32,
    mask: *const u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let site = &*site;
        let mask = mask_words(&*header, site, mask);
        match (grid::places(&*header, site, base, offset), mask) {
            (Some(places), None) => grid::store(&places, site.width, data(&*header, site)),
            _ => {
                let places = Places::Grid { base, offset, grid: site.grid, across: (*header).across };
                store(header, site, places, mask);
            }
        }
        others_run(header, site);
    }
}

/// Performs a gather, and writes the rows of the site.
///
/// # Safety
/// As for [`load_affine`]. The offset and the base are rows or uniform words, as the site says.
pub(super) unsafe extern "C" fn load_each(
    header: *mut Header,
    site: *const Site,
    offset: *const u32,
    low: *const u32,
    high: *const u32,
    mask: *const u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let site = &*site;
        let places = places(site, offset, low, high);
        load(header, site, places, mask_words(&*header, site, mask));
        others_run(header, site);
    }
}

fn places(site: &Site, offset: *const u32, low: *const u32, high: *const u32) -> Places {
    let [on_low, on_high] = site.steps.base;
    let base = [Words::new(low, on_low), Words::new(high, on_high)];
    Places::Each { offset: Words::new(offset, site.steps.offset), base }
}

/// Performs a uniform load. Returns the words, or zeros if the access is invalid.
///
/// # Safety
/// As for [`load_affine`].
pub(super) unsafe extern "C" fn load_same(
    header: *mut Header,
    site: *const Site,
    base: u64,
    offset: u32,
) -> *const u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let site = &*site;
        let address = site.at(base, offset);
        let mut words = [0; 4];
        if (*header).items != 0 {
            match site.one(&*header, 0, address) {
                Some((at, _)) => words = read(at, site.width, site.signed),
                None => leave(header, 0, site.address, site.fault(address)),
            }
        }
        others_run(header, site);
        (*header).loaded = words;
        (&raw const (*header).loaded).cast()
    }
}

/// Prepares a contiguous store and returns the row to write. This row is in the buffer itself if possible. Items whose
/// access is invalid fault now.
///
/// # Safety
/// As for [`load_affine`].
pub(super) unsafe extern "C" fn store_affine(
    header: *mut Header,
    site: *const Site,
    base: u64,
    offset: u32,
) -> *mut u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let site = &*site;
        match site.whole(&*header, base, offset) {
            Some(at) if (*header).items.is_multiple_of(CHUNK) => return at.cast(),
            Some(_) => {}
            None => {
                let places = Places::Affine { base, offset, step: site.step };
                each(header, site, places, None, |_, _, _| {});
            }
        }
        header.byte_add(site.row).cast()
    }
}

/// Completes a store whose words are in the row of the site instead of the buffer.
///
/// # Safety
/// As for [`load_affine`], after [`store_affine`] has returned the row of the site.
pub(super) unsafe extern "C" fn store_row(header: *mut Header, site: *const Site, base: u64, offset: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let site = &*site;
        (*header).data[0] = header.byte_add(site.row).cast();
        store_affine_rows(header, site, base, offset, std::ptr::null());
    }
}

/// Performs an affine store of rows.
///
/// # Safety
/// As for [`load_affine`]. The header's data are rows or uniform words, as the site says.
pub(super) unsafe extern "C" fn store_affine_rows(
    header: *mut Header,
    site: *const Site,
    base: u64,
    offset: u32,
    mask: *const u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let site = &*site;
        let items = site.items(&*header);
        match site.whole_of(&*header, base, offset, items) {
            Some(at) => {
                let data = data(&*header, site);
                match mask_words(&*header, site, mask) {
                    None => copy_out(items, site, at, data),
                    Some(mask) => copy_out_masked(items, site, at, data, mask),
                }
            }
            None => {
                let (places, mask) =
                    (Places::Affine { base, offset, step: site.step }, mask_words(&*header, site, mask));
                match (part(&*header, site, base, offset, mask), mask) {
                    (Some((first, items, at)), Some(mask)) => {
                        let data = data(&*header, site).map(|words| words.from(first));
                        copy_out_masked(items, site, at, data, mask.from(first));
                    }
                    _ => store(header, site, places, mask),
                }
            }
        }
        others_run(header, site);
    }
}

/// Performs a scatter of rows.
///
/// # Safety
/// As for [`load_each`] and [`store_affine_rows`].
pub(super) unsafe extern "C" fn store_each(
    header: *mut Header,
    site: *const Site,
    offset: *const u32,
    low: *const u32,
    high: *const u32,
    mask: *const u32,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let site = &*site;
        store(header, site, places(site, offset, low, high), mask_words(&*header, site, mask));
        others_run(header, site);
    }
}

fn data(header: &Header, site: &Site) -> [Words; 4] {
    let [a, b, c, d, ..] = header.data;
    let [on_a, on_b, on_c, on_d, ..] = site.steps.data;
    [Words::new(a, on_a), Words::new(b, on_b), Words::new(c, on_c), Words::new(d, on_d)]
}

/// Returns the words of the first operand of an atomic operation, followed by those of the second operand.
fn operands(header: &Header, site: &Site) -> [Words; 8] {
    let mut on = site.steps.data.into_iter();
    header.data.map(|row| Words::new(row, on.next().unwrap_or(false)))
}

/// # Safety
/// As for [`each`]. The header's data are rows or uniform words.
unsafe fn store(header: *mut Header, site: &Site, places: Places, mask: Option<Words>) {
    // SAFETY: the caller's promise.
    unsafe {
        let data = data(&*header, site);
        if let Places::Each { offset, base } = places
            && let Some(span) = anywhere::span(&*header, site, offset, base, mask)
        {
            return anywhere::store(&span, site.width, data);
        }
        let registers = usize::from(site.width.registers());
        each(header, site, places, mask, |item, at, _| {
            let mut words = [0; 4];
            for (word, data) in words.iter_mut().zip(data).take(registers) {
                *word = data.get(item);
            }
            write(at, site.width, words);
        });
    }
}

/// Raises the fault of a site for the first item in a mask. If the items are in different rounds, all items in the mask
/// fault.
///
/// # Safety
/// As for [`load_affine`].
pub(super) unsafe extern "C" fn fault(header: *mut Header, site: *const Site, mask: *const u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let site = &*site;
        let mask = mask_words(&*header, site, mask);
        let Kind::Fault(kind) = &site.kind else { return };
        for item in (0..(*header).items).filter(|&item| mask.is_none_or(|mask| mask.get(item) != 0)) {
            leave(header, item, site.address, FaultKind::Known(kind.clone()));
            if (*header).rounds.is_null() {
                return;
            }
        }
    }
}

/// Ends the round of the items at a site, if other items of the group run after the site.
///
/// # Safety
/// As for [`load_affine`].
unsafe fn others_run(header: *mut Header, site: &Site) {
    if !site.yields {
        return;
    }
    // SAFETY: the caller's promise; the mask is a row of the context, and `rounds` has one entry per item.
    unsafe {
        let rounds = (*header).rounds;
        if rounds.is_null() {
            (*header).round += 1;
            // The items before a faulted item have executed the round in which that item faulted.
            if (*header).fault.is_some() {
                (*header).set_items(0);
                (*header).headroom = 0;
            }
            return;
        }
        let here = header.byte_add((*header).shared().mask).cast::<u32>();
        for item in 0..(*header).items as usize {
            *rounds.add(item) += here.add(item).read() & 1;
        }
    }
}

/// Performs an atomic operation for each item, in the order of the items, and writes the old values to the site's rows.
///
/// # Safety
/// As for [`load_each`]. The header's data are the operands, as rows or uniform words, as the site says.
pub(super) unsafe extern "C" fn atomic(
    header: *mut Header,
    site: *const Site,
    offset: *const u32,
    low: *const u32,
    high: *const u32,
    mask: *const u32,
) {
    // SAFETY: the caller's promise. The rows of the site lie in the context, and no reference points to them.
    unsafe {
        let site = &*site;
        let Some((change, returns)) = site.change else { return };
        let operands = operands(&*header, site);
        let is_alone = (*header).shared().is_alone;
        let row = |k: usize| header.byte_add(site.row + k * site.row_bytes).cast::<u32>();
        let rows = [row(0), row(1), row(2), row(3)];
        let step = |item: u32, at: *mut u8, space: Space, (change, width): (AtomicOp, Width)| {
            let (is_global, is_among_threads) = (space == Space::Global, !is_alone && space == Space::Global);
            let keep = |old: &[u32]| {
                if returns {
                    rows.iter().zip(old).for_each(|(row, &word)| row.add(item as usize).write(word));
                }
            };
            if width == Width::B128 {
                let words: ArrayVec<u32, 8> =
                    operands.iter().take(4 * change.operands()).map(|words| words.get(item)).collect();
                return keep(&atomic::change_128(at, change, &words, is_global, is_among_threads));
            }
            let registers = usize::from(width.registers());
            let operand = |first: usize| {
                let high = if registers == 2 { operands[first + 1].get(item) } else { 0 };
                [operands[first].get(item), high]
            };
            let second = if change == AtomicOp::CompareSwap { operand(registers) } else { [0; 2] };
            let becomes = |old| atomic::becomes(change, width, old, [operand(0), second], is_global);
            let old = match is_among_threads {
                false => atomic::change(at, width, becomes),
                true => atomic::change_among_threads(at, width, becomes),
            };
            keep(&[old as u32, (old >> 32) as u32][..registers]);
        };
        let (places, mask) = (places(site, offset, low, high), mask_words(&*header, site, mask));
        let span = match places {
            Places::Each { offset, base } if site.space != Space::Local => {
                anywhere::span(&*header, site, offset, base, mask)
            }
            _ => None,
        };
        match (span, change, site.width) {
            (Some(span), AtomicOp::Add, Width::B32) if !returns && (is_alone || site.space != Space::Global) => {
                anywhere::add(&span, operands[0]);
            }
            // Most kernels count with this operation, so this operation has code of its own.
            (Some(span), AtomicOp::Add, Width::B32) => anywhere::change(&span, |item, at| {
                step(item as u32, at, site.space, (AtomicOp::Add, Width::B32));
            }),
            (Some(span), ..) => anywhere::change(&span, |item, at| {
                step(item as u32, at, site.space, (change, site.width));
            }),
            (None, ..) => each(header, site, places, mask, |item, at, space| {
                step(item, at, space, (change, site.width));
            }),
        }
        others_run(header, site);
    }
}
