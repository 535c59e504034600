//! Accesses of a group at addresses that are affine along x and along y. All accesses are checked
//! at once, by the addresses at the corners.

use halfbyte_isa::halu::domain::Width;

use super::access::{Site, Words};
use super::anywhere::{LOT, lot_of, put_lot, wide};
use super::context::Header;
use super::dataflow::Scale;
use halfbyte_isa::trap::Space;

/// Distances in bytes between neighbouring accesses along x and along y.
type Strides = [isize; 2];

/// Addresses of the accesses of a whole group, all of which are valid.
#[derive(Clone, Copy)]
pub(super) struct Places {
    first: *mut u8,
    strides: Strides,
    /// Number of items along x and along y.
    counts: [usize; 2],
}

/// Returns the addresses of a row of accesses. Returns `None` if the row is not a whole group, or if an access is
/// invalid.
pub(super) fn places(header: &Header, site: &Site, base: u64, offset: u32) -> Option<Places> {
    let [across, down] = [header.across, header.down];
    if site.flat.is_some() || matches!(site.space, Space::Local | Space::Constant(_)) {
        return None;
    }
    if header.items == 0 || header.items != across.wrapping_mul(down) {
        return None;
    }
    let Scale { by, signed } = site.scale;
    let grows = |step: u32, count: u32| i64::from(step.cast_signed()) * (i64::from(count) - 1);
    let [x, y] = [grows(site.grid[0], across), grows(site.grid[1], down)];
    let (below, above) = (x.min(0) + y.min(0), x.max(0) + y.max(0));
    let number = if signed { i64::from(offset.cast_signed()) } else { offset.into() };
    let (least, most) = (number + below, number + above);
    let is_kept = match signed {
        true => i32::try_from(least).is_ok() && i32::try_from(most).is_ok(),
        false => u32::try_from(least).is_ok() && u32::try_from(most).is_ok(),
    };
    let by = i64::from(by);
    let width = u64::from(site.width.bytes());
    let strides = site.grid.map(|step| i64::from(step.cast_signed()) * by);
    let first = site.at(base, offset);
    let bits = first | strides[0].cast_unsigned() | strides[1].cast_unsigned();
    let is_aligned = bits & (width - 1) == 0;
    if !is_kept || !is_aligned {
        return None;
    }
    let lowest = first.checked_add_signed(below * by)?;
    let (start, left) = header.find(site.access(), site.space, lowest, 0)?;
    let span = ((most - least) * by).cast_unsigned() + width;
    if span > left {
        return None;
    }
    let first = start.wrapping_offset((-below * by) as isize);
    Some(Places { first, strides: strides.map(|stride| stride as isize), counts: [across as usize, down as usize] })
}

impl Places {
    /// Returns the address of the first access of line `y`.
    fn line(&self, y: usize) -> *mut u8 {
        self.first.wrapping_offset(self.strides[1] * y as isize)
    }
}

/// Fills a row with loaded words, from elements of `BYTES` bytes.
///
/// # Safety
/// All addresses are valid for reads, and the row has one word per item.
#[inline(always)]
unsafe fn load_words<const BYTES: isize>(places: &Places, row: *mut u32, get: impl Fn(*const u8) -> u32) {
    let [across, down] = places.counts;
    let stride = places.strides[0];
    let is_lots = across.is_multiple_of(LOT);
    // Identical lines are loaded once.
    let lines = if places.strides[1] == 0 && is_lots { 1 } else { down };
    for y in 0..lines {
        let (from, row) = (places.line(y), row.wrapping_add(y * across));
        // SAFETY: the caller's promise; the accesses are within `places`.
        unsafe {
            match stride {
                0 if is_lots => {
                    let word = get(from);
                    for first in (0..across).step_by(LOT) {
                        put_lot(row.add(first), [word; LOT]);
                    }
                }
                _ if stride == BYTES && is_lots => {
                    for first in (0..across).step_by(LOT) {
                        let from = from.offset(BYTES * first as isize);
                        put_lot(row.add(first), std::array::from_fn(|x| get(from.offset(BYTES * x as isize))));
                    }
                }
                _ => (0..across).for_each(|x| row.add(x).write(get(from.wrapping_offset(stride * x as isize)))),
            }
        }
    }
    for first in (0..across).step_by(LOT).filter(|_| lines < down) {
        // SAFETY: the caller's promise: the row has the first line and the lines after it.
        unsafe {
            let lot = lot_of(row.add(first));
            (lines..down).for_each(|y| put_lot(row.add(first + y * across), lot));
        }
    }
}

#[inline(always)]
unsafe fn load_all(places: &Places, width: Width, signed: bool, rows: [*mut u32; 4]) {
    // SAFETY: the caller's promise; the read address may be misaligned.
    unsafe {
        match (width, signed) {
            (Width::B8, false) => load_words::<1>(places, rows[0], |at| at.read().into()),
            (Width::B8, true) => load_words::<1>(places, rows[0], |at| at.cast::<i8>().read() as u32),
            (Width::B16, false) => {
                load_words::<2>(places, rows[0], |at| u16::from_le(at.cast::<u16>().read_unaligned()).into());
            }
            (Width::B16, true) => {
                load_words::<2>(places, rows[0], |at| i16::from_le(at.cast::<i16>().read_unaligned()) as u32);
            }
            (Width::B32, _) => {
                load_words::<4>(places, rows[0], |at| u32::from_le(at.cast::<u32>().read_unaligned()));
            }
            (Width::B64 | Width::B128, _) => {
                for (k, row) in rows.into_iter().enumerate().take(width.registers().into()) {
                    load_words::<0>(places, row, |at| u32::from_le(at.cast::<u32>().add(k).read_unaligned()));
                }
            }
        }
    }
}

wide! {
    /// Fills the rows of a load.
    ///
    /// # Safety
    /// The places were found for the load. Each row has one word per item.
    pub(super) fn load(places: &Places, width: Width, signed: bool, rows: [*mut u32; 4]) =
        load_all(places, width, signed, rows);
}

/// Stores a row of words as elements of `BYTES` bytes, in the order of the items.
///
/// # Safety
/// All addresses are valid for writes. The data are a row with one word per item, or a uniform word.
#[inline(always)]
unsafe fn store_words<const BYTES: isize>(places: &Places, data: Words, put: impl Fn(*mut u8, u32)) {
    let [across, down] = places.counts;
    let stride = places.strides[0];
    for y in 0..down {
        let (to, data) = (places.line(y), data.from((y * across) as u32));
        // SAFETY: the caller's promise; the accesses are within `places`.
        unsafe {
            if stride == BYTES && data.step == 1 && across.is_multiple_of(LOT) {
                for first in (0..across).step_by(LOT) {
                    let (to, words) = (to.offset(BYTES * first as isize), lot_of(data.start.add(first)));
                    words.into_iter().zip(0..).for_each(|(word, x)| put(to.offset(BYTES * x), word));
                }
            } else {
                (0..across).for_each(|x| put(to.wrapping_offset(stride * x as isize), data.get(x as u32)));
            }
        }
    }
}

#[inline(always)]
unsafe fn store_all(places: &Places, width: Width, data: [Words; 4]) {
    // SAFETY: the caller's promise; the written address may be misaligned.
    unsafe {
        match width {
            Width::B8 => store_words::<1>(places, data[0], |at, word| at.write(word as u8)),
            Width::B16 => {
                store_words::<2>(places, data[0], |at, word| at.cast::<u16>().write_unaligned((word as u16).to_le()));
            }
            Width::B32 => store_words::<4>(places, data[0], |at, word| at.cast::<u32>().write_unaligned(word.to_le())),
            Width::B64 | Width::B128 => {
                let [across, down] = places.counts;
                for item in 0..across * down {
                    let to = places.line(item / across).wrapping_offset(places.strides[0] * (item % across) as isize);
                    for (k, words) in data.iter().enumerate().take(width.registers().into()) {
                        to.cast::<u32>().add(k).write_unaligned(words.get(item as u32).to_le());
                    }
                }
            }
        }
    }
}

wide! {
    /// Performs a store.
    ///
    /// # Safety
    /// The places were found for the store. The data are rows with one word per item, or uniform words.
    pub(super) fn store(places: &Places, width: Width, data: [Words; 4]) = store_all(places, width, data);
}
