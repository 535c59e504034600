//! Rows of accesses that lie anywhere in one memory. Whether all may be made is found once, from the least address and the greatest;
//! they are made without a look at each, and together where some items' are side by side or the same.

use halfbyte_isa::halu::domain::Width;

use super::access::{Site, Words};
use super::context::{CHUNK, Header};
use super::dataflow::Scale;
use halfbyte_isa::trap::Space;

/// Items that are looked at together.
pub(super) const LOT: usize = CHUNK as usize;

/// Where a row of accesses goes, all of which may be made.
#[derive(Clone, Copy)]
pub(super) struct Span {
    /// The memory at offset zero, for the first item. It may be outside of what there is.
    start: *mut u8,
    /// Bytes from an item's memory to the next one's.
    step: usize,
    offset: Words,
    /// What an offset of one is in bytes.
    by: u32,
    /// The offset from an access to one beside it; zero where there is none such.
    beside: u32,
    mask: Option<Words>,
    items: usize,
}

impl Span {
    /// # Safety
    /// The row has such an item, and the mask has it.
    unsafe fn at(&self, item: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let offset = (unsafe { self.offset.get(item as u32) } as usize).wrapping_mul(self.by as usize);
        self.start.wrapping_add(item * self.step).wrapping_add(offset)
    }

    /// # Safety
    /// The row has such an item.
    unsafe fn has(&self, item: usize) -> bool {
        // SAFETY: the caller's promise.
        self.mask.is_none_or(|mask| unsafe { mask.get(item as u32) } != 0)
    }

    /// What a lot of items have in common.
    ///
    /// # Safety
    /// The row has all of them.
    #[inline(always)]
    unsafe fn lot(&self, first: usize) -> Lot {
        // SAFETY: the caller's promise; rows of words lie one after another.
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
    /// Nobody makes it.
    None,
    /// All make it, one beside the other.
    Row,
    /// All make it at one place.
    Same,
    Each,
}

/// The least offset and the greatest of those that a mask has, and the bits in which some of them differ.
#[inline(always)]
unsafe fn reach(offset: *const u32, mask: Option<*const u32>, items: usize) -> [u32; 3] {
    let (mut least, mut most, mut any, mut all) = (u32::MAX, 0, 0, u32::MAX);
    // SAFETY: the caller's promise: both have so many words.
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

/// Makes a function that uses wider vectors where the computer has them.
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
                    // SAFETY: the computer has what it needs; the rest is the caller's promise.
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
    /// Both are rows of so many items.
    fn wide_reach(offset: *const u32, mask: Option<*const u32>, items: usize) -> [u32; 3] = reach(offset, mask, items);
}

/// Offsets of accesses from a base that all have.
struct Offsets {
    row: Words,
    base: u64,
    scale: Scale,
}

/// The offsets of a row of accesses; none where the items' bases are further apart than 32 bits tell.
///
/// # Safety
/// The words are rows of so many items, or one for all; so is the mask, if there is one.
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
            // As of memory that is apart where upper words differ.
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

/// Where a row of accesses goes, if there are any, all are in one memory and may be made.
///
/// # Safety
/// The header is that of a context that fits the site; the words are rows of it, or one for all.
pub(super) unsafe fn span(
    header: &Header,
    site: &Site,
    offset: Words,
    base: [Words; 2],
    mask: Option<Words>,
) -> Option<Span> {
    let items = header.items as usize;
    // SAFETY: the caller's promise; the mask is one word for all.
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
    // Whose offsets have signs are beside each other where none has or all do.
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
        // All in one memory; what is changed in one step there is made for the site's space.
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
    // Where a multiple is by a power of two, multiples differ in no other bits than offsets.
    let differ = if by.is_power_of_two() { differ.wrapping_mul(by) } else { by };
    let is_aligned = (first | u64::from(differ)) & (width - 1) == 0;
    let start = start.wrapping_sub((least as usize).wrapping_mul(by as usize));
    let bytes = site.width.bytes();
    let beside = if bytes.is_multiple_of(by) { bytes / by } else { 0 };
    is_aligned.then_some(Span { start, step, offset, by, beside, mask, items })
}

/// Whether a mask has none of a lot of items, and whether it has all.
///
/// # Safety
/// It has so many words from there on.
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
    /// The first and the last item that a mask has.
    ///
    /// # Safety
    /// It is a row of so many items.
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
    /// Stores the words that a mask has, one after another.
    ///
    /// # Safety
    /// All are rows of so many items, and memory may be written.
    pub(super) fn store_row(at: *mut u32, data: *const u32, mask: *const u32, items: usize) =
        store_row_of(at, data, mask, items);
}

/// The words of a lot of items. They are read before any is written elsewhere, so that vectors do it wherever that is.
///
/// # Safety
/// There are so many.
#[inline(always)]
pub(super) unsafe fn lot_of(row: *const u32) -> [u32; LOT] {
    // SAFETY: the caller's promise; they may start anywhere.
    unsafe { row.cast::<[u32; LOT]>().read_unaligned() }
}

/// Writes the words of a lot of items.
///
/// # Safety
/// There is room for them.
#[inline(always)]
pub(super) unsafe fn put_lot(row: *mut u32, words: [u32; LOT]) {
    // SAFETY: the caller's promise; they may start anywhere.
    unsafe { row.cast::<[u32; LOT]>().write_unaligned(words) }
}

/// Loads a word of each item, of one register.
///
/// # Safety
/// The span was found for loads of so many bytes; the row has as many words as there are items.
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

/// Loads words of each item, of so many registers: those of several items together, so that each row gets its own at once.
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

/// Items that are transposed at once.
const ITEMS: usize = 4;

/// # Safety
/// There are so many words.
#[inline(always)]
unsafe fn words<const REGISTERS: usize>(at: *const u8) -> [u32; REGISTERS] {
    // SAFETY: the caller's promise; they may start anywhere.
    unsafe { at.cast::<[u32; REGISTERS]>().read_unaligned() }.map(u32::from_le)
}

/// Transposes what some items load: the row of each register gets that register's word of each item.
///
/// # Safety
/// All of them may be read and written.
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
    // SAFETY: the caller's promise; what is read may start anywhere.
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
    /// The span was found for the load; the rows have as many words as there are items.
    pub(super) fn load(span: &Span, width: Width, signed: bool, rows: [*mut u32; 4]) = load_all(span, width, signed, rows);
}

/// Stores a word of each item, of one register.
///
/// # Safety
/// As for [`load_one`], of stores; the data are a row, or one word for all.
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
                // The last one's stays.
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
    // SAFETY: the caller's promise; what is written may start anywhere.
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
    /// Stores rows.
    ///
    /// # Safety
    /// The span was found for the store; the data are rows of as many words as there are items, or one word for all.
    pub(super) fn store(span: &Span, width: Width, data: [Words; 4]) = store_all(span, width, data);
}

/// Adds a word to one of memory for each item, where no other thread reaches that.
///
/// # Safety
/// The span was found for words that may be read and written; the operands are a row, or one word for all.
pub(super) unsafe fn add(span: &Span, operands: Words) {
    // SAFETY: the caller's promise; words may start anywhere.
    unsafe {
        let add = |item: usize, by: u32| {
            let at = span.at(item).cast::<u32>();
            at.write_unaligned(u32::from_le(at.read_unaligned()).wrapping_add(by).to_le());
        };
        match (span.mask, [operands.step, span.step, span.offset.step], span.by) {
            // As counts are: nothing but the offset is the item's own.
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

/// Changes memory in one step for each item: gives `each` the item and where that is.
///
/// # Safety
/// The span was found for it.
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
            // They may start anywhere.
            std::iter::once(0).chain(words).collect::<Vec<u8>>()
        };
        let items: [Vec<u8>; ITEMS] = std::array::from_fn(bytes);
        let mut rows = [[0; ITEMS]; REGISTERS];
        // SAFETY: each item has a word for each register, and each register one for each item.
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
