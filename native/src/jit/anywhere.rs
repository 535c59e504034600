//! Gathers and scatters in one memory. All accesses of a row are checked at once, by the lowest and
//! the highest address, and then made without further checks. Contiguous or uniform accesses of
//! several items are made together.

use halfbyte_isa::halu::domain::Width;

use super::access::{Site, Words};
use super::context::{CHUNK, Header};
use super::dataflow::Scale;
use halfbyte_isa::trap::Space;

/// Number of items that are examined together.
pub(super) const LOT: usize = CHUNK as usize;

/// Addresses of a row of accesses, all of which are valid.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// Address of offset zero for the first item, which may be outside the memory.
    start: *mut u8,
    /// Distance in bytes between the memories of consecutive items.
    step: usize,
    offset: Words,
    /// Scale of an offset, in bytes.
    by: u32,
    /// Difference of offsets between contiguous accesses, or zero if no offset has this effect.
    beside: u32,
    mask: Option<Words>,
    items: usize,
}

impl Span {
    /// # Safety
    /// The row has the item `item`, and the mask contains the item.
    unsafe fn at(&self, item: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let offset = (unsafe { self.offset.get(item as u32) } as usize).wrapping_mul(self.by as usize);
        self.start.wrapping_add(item * self.step).wrapping_add(offset)
    }

    /// # Safety
    /// The row has the item `item`.
    unsafe fn has(&self, item: usize) -> bool {
        // SAFETY: the caller's promise.
        self.mask.is_none_or(|mask| unsafe { mask.get(item as u32) } != 0)
    }

    /// Returns the pattern of the accesses of a lot of items.
    ///
    /// # Safety
    /// The row has all items of the lot.
    #[inline(always)]
    unsafe fn lot(&self, first: usize) -> Lot {
        // SAFETY: the caller's promise; the words of a row are contiguous.
        unsafe {
            if let Some(mask) = self.mask {
                let words = mask.start.add(first * mask.step);
                let (mut all, mut any) = (u32::MAX, 0);
                for k in 0..LOT {
                    let word = words.add(k * mask.step).read_unaligned();
                    (all, any) = (all & word, any | word);
                }
                if any == 0 {
                    return Lot::None;
                }
                if all == 0 {
                    return Lot::Each;
                }
            }
            if self.offset.step != 1 || self.step != 0 {
                return Lot::Each;
            }
            let offsets = self.offset.start.add(first);
            let start = offsets.read_unaligned();
            let (mut apart, mut differ) = (0, 0);
            for k in 0..LOT {
                let by = offsets.add(k).read_unaligned().wrapping_sub(start);
                apart |= by ^ self.beside.wrapping_mul(k as u32);
                differ |= by;
            }
            match (differ, apart) {
                (0, _) => Lot::Same,
                (_, 0) => Lot::Row,
                _ => Lot::Each,
            }
        }
    }
}

enum Lot {
    /// No item makes the access.
    None,
    /// All items make contiguous accesses.
    Row,
    /// All items access the same address.
    Same,
    Each,
}

/// Returns the lowest and the highest offset of the items in a mask, and the bits in which some of the offsets differ.
#[inline(always)]
unsafe fn reach(offset: *const u32, mask: Option<*const u32>, items: usize) -> [u32; 3] {
    let (mut least, mut most, mut any, mut all) = (u32::MAX, 0, 0, u32::MAX);
    // SAFETY: the caller's promise: both rows have `items` words.
    unsafe {
        match mask {
            None => {
                for k in 0..items {
                    let word = offset.add(k).read_unaligned();
                    (least, most, any, all) = (least.min(word), most.max(word), any | word, all & word);
                }
            }
            Some(mask) => {
                for k in 0..items {
                    let (word, mask) = (offset.add(k).read_unaligned(), mask.add(k).read_unaligned());
                    let (high, low) = (word | !mask, word & mask);
                    (least, most, any, all) = (least.min(high), most.max(low), any | low, all & high);
                }
            }
        }
    }
    [least, most, any & !all]
}

/// Defines a function that uses AVX2 if the host supports it.
macro_rules! wide {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)? = $body:expr;) => {
        $(#[$meta])*
        $vis unsafe fn $name($($arg: $ty),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                unsafe fn wide($($arg: $ty),*) $(-> $result)? {
                    // SAFETY: the caller's promise.
                    unsafe { $body }
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the host supports AVX2; the rest is the caller's promise.
                    return unsafe { wide($($arg),*) };
                }
            }
            // SAFETY: the caller's promise.
            unsafe { $body }
        }
    };
}

pub(super) use wide;

wide! {
    /// # Safety
    /// Both are rows of `items` items.
    fn wide_reach(offset: *const u32, mask: Option<*const u32>, items: usize) -> [u32; 3] = reach(offset, mask, items);
}

/// Offsets of accesses from a uniform base.
struct Offsets {
    row: Words,
    base: u64,
    scale: Scale,
}

/// Returns the offsets of a row of accesses, or `None` if the bases or the offsets do not allow a uniform base.
///
/// # Safety
/// The words and the mask, if any, are rows of `items` items, or uniform words.
unsafe fn offsets(
    scale: Scale,
    offset: Words,
    [low, high]: [Words; 2],
    mask: Option<Words>,
    items: usize,
) -> Option<Offsets> {
    let mask = mask.map(|mask| mask.start);
    // SAFETY: the caller's promise.
    unsafe {
        let top = match high.step {
            0 => high.get(0),
            // The accesses are in different memories if their upper words differ.
            _ => match wide_reach(high.start, mask, items) {
                [least, most, _] if least == most => least,
                _ => return None,
            },
        };
        let top = u64::from(top) << 32;
        match (low.step, offset.step) {
            (0, _) => Some(Offsets { row: offset, base: top | u64::from(low.get(0)), scale }),
            (_, 0) => Some(Offsets { row: low, base: top.wrapping_add(scale.of(offset.get(0))), scale: Scale::BYTES }),
            _ => None,
        }
    }
}

/// Returns the addresses of a row of accesses. Returns `None` if there are no accesses, if they are in more than one
/// memory, or if one of them is invalid.
///
/// # Safety
/// `header` belongs to a context that fits the site. The words are rows of the context, or uniform words.
pub(super) unsafe fn span(
    header: &Header,
    site: &Site,
    offset: Words,
    base: [Words; 2],
    mask: Option<Words>,
) -> Option<Span> {
    let items = header.items as usize;
    // SAFETY: the caller's promise; the mask is a uniform word.
    let is_none = mask.is_some_and(|mask| mask.step == 0 && unsafe { mask.get(0) } == 0);
    if items == 0 || is_none || matches!(site.space, Space::Constant(_)) {
        return None;
    }
    let mask = mask.filter(|mask| mask.step != 0);
    // SAFETY: the caller's promise.
    let Offsets { row: offset, base, scale } = match site.space {
        Space::Global => unsafe { offsets(site.scale, offset, base, mask, items) }?,
        _ => Offsets { row: offset, base: 0, scale: Scale::BYTES },
    };
    let base = base.wrapping_add_signed(site.imm.into());
    let width = u64::from(site.width.bytes());
    // SAFETY: the caller's promise.
    let [least, most, differ] = unsafe {
        match offset.step {
            0 => [offset.get(0), offset.get(0), 0],
            _ => wide_reach(offset.start, mask.map(|mask| mask.start), items),
        }
    };
    // Signed offsets are in unsigned order only if all of them have the same sign.
    if least > most || (scale.signed && (least ^ most) >> 31 != 0) {
        return None;
    }
    let by = scale.by;
    let first = match site.space {
        Space::Global => base.checked_add_signed(scale.of(least).cast_signed())?,
        _ => u64::try_from(base.cast_signed() + i64::from(least)).ok()?,
    };
    let reach = u64::from(most - least) * u64::from(by);
    if u32::try_from(reach).is_err() {
        return None;
    }
    let (space, address) = site.locate(first);
    if site.flat.is_some() {
        // All accesses must be in one memory. Atomic operations are compiled for the space of the site.
        let (last_space, last) = site.locate(first.checked_add(reach)?);
        let is_one = space == last_space && last.wrapping_sub(address) == reach;
        if !is_one || (site.change.is_some() && space != site.space) {
            return None;
        }
    }
    let (start, left) = header.find(site.access(), space, address, 0)?;
    if reach + width > left {
        return None;
    }
    let step = if space == Space::Local { header.own.scratch_bytes } else { 0 };
    // Multiples by a power of two differ only in the shifted bits in which the offsets differ.
    let differ = if by.is_power_of_two() { differ.wrapping_mul(by) } else { by };
    let is_aligned = (first | u64::from(differ)) & (width - 1) == 0;
    let start = start.wrapping_sub((least as usize).wrapping_mul(by as usize));
    let bytes = site.width.bytes();
    let beside = if bytes.is_multiple_of(by) { bytes / by } else { 0 };
    is_aligned.then_some(Span { start, step, offset, by, beside, mask, items })
}

/// Returns `[none, all]`. `none` is `true` if a mask has no item of a lot. `all` is `true` if the mask has all items of
/// the lot.
///
/// # Safety
/// The mask has `LOT` words from `mask` on.
#[inline(always)]
unsafe fn none_or_all(mask: *const u32) -> [bool; 2] {
    let (mut all, mut any) = (u32::MAX, 0);
    for k in 0..LOT {
        // SAFETY: the caller's promise.
        let word = unsafe { mask.add(k).read_unaligned() };
        (all, any) = (all & word, any | word);
    }
    [any == 0, all != 0]
}

#[inline(always)]
unsafe fn ends_of(mask: *const u32, items: usize) -> Option<(usize, usize)> {
    // SAFETY: the caller's promise; lots are within the items.
    unsafe {
        let has = |&item: &usize| mask.add(item).read_unaligned() != 0;
        let lots = items / LOT;
        let lot = |&lot: &usize| !none_or_all(mask.add(lot * LOT))[0];
        let from = (0..lots).find(lot).unwrap_or(lots) * LOT;
        let first = (from..items).find(has)?;
        let last = (lots * LOT..items).rev().find(has);
        let until = || (0..lots).rev().find(lot).map_or(0, |lot| (lot + 1) * LOT);
        Some((first, last.or_else(|| (first..until()).rev().find(has))?))
    }
}

wide! {
    /// Returns the first and the last item in a mask.
    ///
    /// # Safety
    /// `mask` is a row of `items` items.
    pub(super) fn ends(mask: *const u32, items: usize) -> Option<(usize, usize)> = ends_of(mask, items);
}

#[inline(always)]
unsafe fn store_row_of(at: *mut u32, data: *const u32, mask: *const u32, items: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let put = |k: usize| at.add(k).write_unaligned(data.add(k).read_unaligned().to_le());
        let whole = items / LOT * LOT;
        for first in (0..whole).step_by(LOT) {
            match none_or_all(mask.add(first)) {
                [true, _] => {}
                [_, true] => (first..first + LOT).for_each(put),
                _ => (first..first + LOT).filter(|&k| mask.add(k).read_unaligned() != 0).for_each(put),
            }
        }
        (whole..items).filter(|&k| mask.add(k).read_unaligned() != 0).for_each(put);
    }
}

wide! {
    /// Performs a contiguous store of the words of the items in a mask.
    ///
    /// # Safety
    /// `data` and `mask` are rows of `items` items, and `at` is valid for writes of `items` words.
    pub(super) fn store_row(at: *mut u32, data: *const u32, mask: *const u32, items: usize) =
        store_row_of(at, data, mask, items);
}

/// Returns the words of a lot of items. All words are read before any word is written elsewhere, so the compiler can
/// use vectors.
///
/// # Safety
/// The row has `LOT` words.
#[inline(always)]
pub(super) unsafe fn lot_of(row: *const u32) -> [u32; LOT] {
    // SAFETY: the caller's promise; the row may start at any address.
    unsafe { row.cast::<[u32; LOT]>().read_unaligned() }
}

/// Writes the words of a lot of items.
///
/// # Safety
/// The row has room for `LOT` words.
#[inline(always)]
pub(super) unsafe fn put_lot(row: *mut u32, words: [u32; LOT]) {
    // SAFETY: the caller's promise; the row may start at any address.
    unsafe { row.cast::<[u32; LOT]>().write_unaligned(words) }
}

/// Loads one word per item, into the row of one register.
///
/// # Safety
/// The span was found for loads of `BYTES` bytes. The row has one word per item.
#[inline(always)]
unsafe fn load_one<const BYTES: usize>(span: &Span, row: *mut u32, get: impl Fn(*const u8) -> u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let whole = span.items / LOT * LOT;
        for first in (0..whole).step_by(LOT) {
            match span.lot(first) {
                Lot::None => {}
                Lot::Row => {
                    let at = span.at(first);
                    put_lot(row.add(first), std::array::from_fn(|k| get(at.add(BYTES * k))));
                }
                Lot::Same => put_lot(row.add(first), [get(span.at(first)); LOT]),
                Lot::Each => {
                    for item in (first..first + LOT).filter(|&item| span.has(item)) {
                        row.add(item).write(get(span.at(item)));
                    }
                }
            }
        }
        for item in (whole..span.items).filter(|&item| span.has(item)) {
            row.add(item).write(get(span.at(item)));
        }
    }
}

/// Loads the words of several registers per item. Groups of `ITEMS` items are transposed, so that each row is written
/// with vectors.
///
/// # Safety
/// As for [`load_one`].
#[inline(always)]
unsafe fn load_several<const REGISTERS: usize>(span: &Span, rows: [*mut u32; REGISTERS]) {
    // SAFETY: the caller's promise; items are in the row.
    unsafe {
        let whole = if span.mask.is_none() { span.items / ITEMS * ITEMS } else { 0 };
        for first in (0..whole).step_by(ITEMS) {
            let of_items = std::array::from_fn(|k| span.at(first + k).cast_const());
            transpose(of_items, rows.map(|row| row.add(first)));
        }
        for item in (whole..span.items).filter(|&item| span.has(item)) {
            for (row, word) in rows.iter().zip(words::<REGISTERS>(span.at(item))) {
                row.add(item).write(word);
            }
        }
    }
}

/// Number of items that are transposed at once.
const ITEMS: usize = 4;

/// # Safety
/// `at` is valid for reads of `REGISTERS` words.
#[inline(always)]
unsafe fn words<const REGISTERS: usize>(at: *const u8) -> [u32; REGISTERS] {
    // SAFETY: the caller's promise; the words may start at any address.
    unsafe { at.cast::<[u32; REGISTERS]>().read_unaligned() }.map(u32::from_le)
}

/// Transposes the loaded words of some items: the row of each register receives one word per item.
///
/// # Safety
/// All pointers are valid for reads and writes of these words.
#[inline(always)]
unsafe fn transpose<const REGISTERS: usize>(of_items: [*const u8; ITEMS], of_registers: [*mut u32; REGISTERS]) {
    // SAFETY: the caller's promise; x86-64 has SSE2.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if let [Some(a), Some(b), Some(c), Some(d)] = std::array::from_fn(|j| of_registers.get(j)) {
            use std::arch::x86_64::*;
            let [p, q, r, s] = of_items.map(|at| _mm_loadu_si128(at.cast()));
            let [low_pq, high_pq] = [_mm_unpacklo_epi32(p, q), _mm_unpackhi_epi32(p, q)];
            let [low_rs, high_rs] = [_mm_unpacklo_epi32(r, s), _mm_unpackhi_epi32(r, s)];
            _mm_storeu_si128(a.cast(), _mm_unpacklo_epi64(low_pq, low_rs));
            _mm_storeu_si128(b.cast(), _mm_unpackhi_epi64(low_pq, low_rs));
            _mm_storeu_si128(c.cast(), _mm_unpacklo_epi64(high_pq, high_rs));
            _mm_storeu_si128(d.cast(), _mm_unpackhi_epi64(high_pq, high_rs));
            return;
        }
        let of_items = of_items.map(|at| words::<REGISTERS>(at));
        for (j, row) in of_registers.iter().enumerate() {
            row.cast::<[u32; ITEMS]>().write_unaligned(of_items.map(|words| words[j]));
        }
    }
}

#[inline(always)]
unsafe fn load_all(span: &Span, width: Width, signed: bool, rows: [*mut u32; 4]) {
    // SAFETY: the caller's promise; the read address may be misaligned.
    unsafe {
        match (width, signed) {
            (Width::B8, false) => load_one::<1>(span, rows[0], |at| at.read().into()),
            (Width::B8, true) => load_one::<1>(span, rows[0], |at| at.cast::<i8>().read() as u32),
            (Width::B16, false) => {
                load_one::<2>(span, rows[0], |at| u16::from_le(at.cast::<u16>().read_unaligned()).into());
            }
            (Width::B16, true) => {
                load_one::<2>(span, rows[0], |at| i16::from_le(at.cast::<i16>().read_unaligned()) as u32);
            }
            (Width::B32, _) => load_one::<4>(span, rows[0], |at| u32::from_le(at.cast::<u32>().read_unaligned())),
            (Width::B64, _) => load_several(span, [rows[0], rows[1]]),
            (Width::B128, _) => load_several(span, rows),
        }
    }
}

wide! {
    /// Fills the rows of a load.
    ///
    /// # Safety
    /// The span was found for the load. Each row has one word per item.
    pub(super) fn load(span: &Span, width: Width, signed: bool, rows: [*mut u32; 4]) = load_all(span, width, signed, rows);
}

/// Stores one word per item, of one register.
///
/// # Safety
/// As for [`load_one`], for stores. The data are a row or a uniform word.
#[inline(always)]
unsafe fn store_one<const BYTES: usize>(span: &Span, data: Words, put: impl Fn(*mut u8, u32)) {
    // SAFETY: the caller's promise.
    unsafe {
        let whole = span.items / LOT * LOT;
        for first in (0..whole).step_by(LOT) {
            match span.lot(first) {
                Lot::None => {}
                Lot::Row if data.step == 1 => {
                    let (at, words) = (span.at(first), lot_of(data.start.add(first)));
                    words.into_iter().enumerate().for_each(|(k, word)| put(at.add(BYTES * k), word));
                }
                // The word of the last item remains in memory.
                Lot::Same => put(span.at(first), data.get((first + LOT - 1) as u32)),
                Lot::Row | Lot::Each => {
                    for item in (first..first + LOT).filter(|&item| span.has(item)) {
                        put(span.at(item), data.get(item as u32));
                    }
                }
            }
        }
        for item in (whole..span.items).filter(|&item| span.has(item)) {
            put(span.at(item), data.get(item as u32));
        }
    }
}

#[inline(always)]
unsafe fn store_all(span: &Span, width: Width, data: [Words; 4]) {
    // SAFETY: the caller's promise; the written address may be misaligned.
    unsafe {
        match width {
            Width::B8 => store_one::<1>(span, data[0], |at, word| at.write(word as u8)),
            Width::B16 => {
                store_one::<2>(span, data[0], |at, word| at.cast::<u16>().write_unaligned((word as u16).to_le()));
            }
            Width::B32 => store_one::<4>(span, data[0], |at, word| at.cast::<u32>().write_unaligned(word.to_le())),
            Width::B64 | Width::B128 => {
                for item in (0..span.items).filter(|&item| span.has(item)) {
                    let at = span.at(item).cast::<u32>();
                    for (k, words) in data.iter().enumerate().take(width.registers().into()) {
                        at.add(k).write_unaligned(words.get(item as u32).to_le());
                    }
                }
            }
        }
    }
}

wide! {
    /// Performs a scatter of rows.
    ///
    /// # Safety
    /// The span was found for the store. The data are rows with one word per item, or uniform words.
    pub(super) fn store(span: &Span, width: Width, data: [Words; 4]) = store_all(span, width, data);
}

/// Adds a word to memory for each item, without atomic operations. No other thread accesses the memory.
///
/// # Safety
/// The span was found for words that may be read and written. The operands are a row or a uniform word.
pub(super) unsafe fn add(span: &Span, operands: Words) {
    // SAFETY: the caller's promise; words may be misaligned.
    unsafe {
        let add = |item: usize, by: u32| {
            let at = span.at(item).cast::<u32>();
            at.write_unaligned(u32::from_le(at.read_unaligned()).wrapping_add(by).to_le());
        };
        match (span.mask, [operands.step, span.step, span.offset.step], span.by) {
            // Histograms have this form: only the offset differs between items.
            (None, [0, 0, 1], 1) => {
                let (by, start) = (operands.get(0), span.start);
                for item in 0..span.items {
                    let at = start.wrapping_add(span.offset.start.add(item).read_unaligned() as usize).cast::<u32>();
                    at.write_unaligned(u32::from_le(at.read_unaligned()).wrapping_add(by).to_le());
                }
            }
            _ => {
                for item in (0..span.items).filter(|&item| span.has(item)) {
                    add(item, operands.get(item as u32));
                }
            }
        }
    }
}

/// Calls `each` with every item that the mask contains and the address of its memory, for an atomic operation.
///
/// # Safety
/// The span was found for the operation.
#[inline(always)]
pub(super) unsafe fn change(span: &Span, mut each: impl FnMut(usize, *mut u8)) {
    for item in 0..span.items {
        // SAFETY: the caller's promise.
        unsafe {
            if span.has(item) {
                each(item, span.at(item));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_transposed<const REGISTERS: usize>() {
        let word = |item: usize, register: usize| (item << 8 | register) as u32;
        let bytes = |item: usize| {
            let words = (0..REGISTERS).flat_map(|register| word(item, register).to_le_bytes());
            // The words may start at any address.
            std::iter::once(0).chain(words).collect::<Vec<u8>>()
        };
        let items: [Vec<u8>; ITEMS] = std::array::from_fn(bytes);
        let mut rows = [[0; ITEMS]; REGISTERS];
        // SAFETY: each item has one word per register, and each register row has one word per item.
        unsafe {
            transpose(items.each_ref().map(|item| item.as_ptr().add(1)), rows.each_mut().map(|row| row.as_mut_ptr()))
        };
        let expected = std::array::from_fn(|register| std::array::from_fn(|item| word(item, register)));
        assert_eq!(rows, expected);
    }

    #[test]
    fn registers_of_items_are_transposed() {
        is_transposed::<2>();
        is_transposed::<4>();
    }
}
