//! Copies between memory and rows, for accesses that have been checked.

use halfbyte_isa::halu::domain::Width;

use super::access::{Site, Words};
use super::anywhere;
use super::context::Header;

/// Reads the words of one access.
///
/// # Safety
/// `at` is valid for reads of the width.
pub(super) unsafe fn read(at: *const u8, width: Width, signed: bool) -> [u32; 4] {
    let mut words = [0; 4];
    // SAFETY: the caller guarantees that the address is valid.
    unsafe {
        match (width, signed) {
            (Width::B8, false) => words[0] = at.read().into(),
            (Width::B8, true) => words[0] = at.cast::<i8>().read() as u32,
            (Width::B16, false) => words[0] = u16::from_le(at.cast::<u16>().read_unaligned()).into(),
            (Width::B16, true) => words[0] = i16::from_le(at.cast::<i16>().read_unaligned()) as u32,
            (Width::B32 | Width::B64 | Width::B128, _) => {
                for (k, word) in words.iter_mut().take(width.registers().into()).enumerate() {
                    *word = u32::from_le(at.cast::<u32>().add(k).read_unaligned());
                }
            }
        }
    }
    words
}

/// Writes the words of one access.
///
/// # Safety
/// `at` is valid for writes of the width.
pub(super) unsafe fn write(at: *mut u8, width: Width, words: [u32; 4]) {
    // SAFETY: the caller guarantees that the address is valid.
    unsafe {
        match width {
            Width::B8 => at.write(words[0] as u8),
            Width::B16 => at.cast::<u16>().write_unaligned((words[0] as u16).to_le()),
            Width::B32 | Width::B64 | Width::B128 => {
                for (k, word) in words.iter().take(width.registers().into()).enumerate() {
                    at.cast::<u32>().add(k).write_unaligned(word.to_le());
                }
            }
        }
    }
}

/// Copies `items` strided elements, beginning with item `first`, to rows. The accesses cannot fault.
///
/// # Safety
/// As for [`copy_in`], for these items. `at` is the address of the first of them.
pub(super) unsafe fn copy_in_part(header: *mut Header, site: &Site, at: *const u8, first: u32, items: u32) {
    // SAFETY: the caller guarantees that the elements and the rows are valid.
    unsafe {
        let row = header.byte_add(site.row).cast::<u32>().add(first as usize);
        let stride = site.stride as i32 as isize;
        if site.width == Width::B32 && stride == 4 {
            for k in 0..items as usize {
                row.add(k).write(u32::from_le(at.cast::<u32>().add(k).read_unaligned()));
            }
            return;
        }
        for k in 0..items as usize {
            let words = read(at.offset(stride * k as isize), site.width, site.signed);
            for (j, word) in words.into_iter().enumerate().take(site.width.registers().into()) {
                row.byte_add(j * site.row_bytes).add(k).write(word);
            }
        }
    }
}

/// Copies strided elements to rows. The accesses cannot fault.
///
/// # Safety
/// `at` is the address of the first element, and the rows of `site` lie in the context.
pub(super) unsafe fn copy_in(header: *mut Header, site: &Site, at: *const u8, items: usize) {
    // SAFETY: the caller guarantees that the elements and the rows are valid. The rows of the context have at least
    // `items` words.
    unsafe {
        let row = |k: usize| header.byte_add(site.row + k * site.row_bytes).cast::<u32>();
        let stride = site.stride as i32 as isize;
        macro_rules! words {
            ($ty:ty) => {
                if stride == size_of::<$ty>() as isize {
                    for k in 0..items {
                        row(0).add(k).write(<$ty>::from_le(at.cast::<$ty>().add(k).read_unaligned()) as u32);
                    }
                } else {
                    for k in 0..items {
                        let at = at.offset(stride * k as isize).cast::<$ty>();
                        row(0).add(k).write(<$ty>::from_le(at.read_unaligned()) as u32);
                    }
                }
            };
        }
        match (site.width, site.signed) {
            (Width::B8, false) => words!(u8),
            (Width::B8, true) => words!(i8),
            (Width::B16, false) => words!(u16),
            (Width::B16, true) => words!(i16),
            (Width::B32, _) => words!(u32),
            (Width::B64, _) => {
                let rows = [row(0), row(1)];
                for k in 0..items {
                    let at = at.offset(stride * k as isize).cast::<u32>();
                    for (j, row) in rows.iter().enumerate() {
                        row.add(k).write(u32::from_le(at.add(j).read_unaligned()));
                    }
                }
            }
            (Width::B128, _) => {
                let rows = [row(0), row(1), row(2), row(3)];
                for k in 0..items {
                    let at = at.offset(stride * k as isize).cast::<u32>();
                    for (j, row) in rows.iter().enumerate() {
                        row.add(k).write(u32::from_le(at.add(j).read_unaligned()));
                    }
                }
            }
        }
    }
}

/// Copies rows to strided elements. The accesses cannot fault.
///
/// # Safety
/// `at` is the address of the first element and is valid for writes. `data` contains rows of at least `items` items.
pub(super) unsafe fn copy_out(items: u32, site: &Site, at: *mut u8, data: [Words; 4]) {
    let stride = site.stride as i32 as isize;
    // SAFETY: the caller guarantees that the elements and the rows are valid.
    unsafe {
        macro_rules! words {
            ($ty:ty) => {
                if stride == size_of::<$ty>() as isize && data[0].step == 1 {
                    for k in 0..items as usize {
                        at.cast::<$ty>().add(k).write_unaligned((data[0].start.add(k).read_unaligned() as $ty).to_le());
                    }
                } else {
                    for k in 0..items {
                        let at = at.offset(stride * k as isize).cast::<$ty>();
                        at.write_unaligned((data[0].get(k) as $ty).to_le());
                    }
                }
            };
        }
        match site.width {
            Width::B8 => words!(u8),
            Width::B16 => words!(u16),
            Width::B32 => words!(u32),
            Width::B64 | Width::B128 => {
                for k in 0..items {
                    let at = at.offset(stride * k as isize).cast::<u32>();
                    for (j, words) in data.iter().enumerate().take(site.width.registers().into()) {
                        at.add(j).write_unaligned(words.get(k).to_le());
                    }
                }
            }
        }
    }
}

/// Copies rows to strided elements for the items of a mask. The accesses cannot fault.
///
/// # Safety
/// As for [`copy_out`]; `mask` is a row of as many items.
pub(super) unsafe fn copy_out_masked(items: u32, site: &Site, at: *mut u8, data: [Words; 4], mask: Words) {
    let stride = site.stride as i32 as isize;
    let registers = usize::from(site.width.registers());
    // SAFETY: the caller guarantees that the elements and the rows are valid.
    unsafe {
        if site.width == Width::B32 && stride == 4 && mask.step == 1 && data[0].step == 1 {
            return anywhere::store_row(at.cast(), data[0].start, mask.start, items as usize);
        }
        for k in (0..items).filter(|&k| mask.get(k) != 0) {
            let at = at.offset(stride * k as isize);
            if site.width == Width::B32 {
                at.cast::<u32>().write_unaligned(data[0].get(k).to_le());
                continue;
            }
            let mut words = [0; 4];
            for (word, data) in words.iter_mut().zip(data).take(registers) {
                *word = data.get(k);
            }
            write(at, site.width, words);
        }
    }
}
