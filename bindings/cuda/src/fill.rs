//! Fills of memory with copies of an element.

use std::ffi::{c_uint, c_void};
use std::mem::MaybeUninit;
use std::ptr::with_exposed_provenance_mut;

use crate::context;
use crate::entry::enter;
use crate::memory;
use crate::status::{Result, Status};
use crate::stream;

/// Element that a fill repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// One byte.
    D8(u8),
    /// Two bytes.
    D16(u16),
    /// Four bytes.
    D32(u32),
}

impl Element {
    /// Returns the size in bytes, which is also the alignment.
    fn bytes(self) -> u64 {
        match self {
            Element::D8(_) => 1,
            Element::D16(_) => 2,
            Element::D32(_) => 4,
        }
    }
}

/// Fill of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// Address of the first row.
    pub to: u64,
    /// Distance between rows in bytes. A single row ignores the pitch.
    pub pitch: usize,
    /// Element that is repeated.
    pub element: Element,
    /// Number of elements of a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
}

impl Fill {
    /// Returns a fill of contiguous elements.
    fn line(to: u64, element: Element, count: usize) -> Fill {
        Fill { to, pitch: 0, element, width: count, height: 1 }
    }

    /// Returns the number of bytes from the first byte of the first row to the last byte of the last row.
    fn span(&self) -> Result<u64> {
        let (size, pitch, rows) = (self.element.bytes(), self.pitch as u64, self.height as u64);
        let width = (self.width as u64).checked_mul(size).ok_or(Status::INVALID_VALUE)?;
        let is_aligned = self.to.is_multiple_of(size) && (rows <= 1 || pitch.is_multiple_of(size));
        if !is_aligned || (rows > 1 && pitch < width) {
            return Err(Status::INVALID_VALUE);
        }
        let last = rows.saturating_sub(1).checked_mul(if rows > 1 { pitch } else { 0 });
        last.and_then(|last| last.checked_add(width)).ok_or(Status::INVALID_VALUE)
    }

    /// Checks the memory, and fills it.
    ///
    /// # Safety
    /// No other code accesses the memory meanwhile.
    pub unsafe fn run(&self) -> Result<()> {
        let span = self.span()?;
        if self.width == 0 || self.height == 0 {
            return Ok(());
        }
        memory::checked(self.to, span)?;
        // SAFETY: the rows lie in a live block and are aligned. The caller ensures that no other code accesses them.
        unsafe {
            match self.element {
                Element::D8(value) => self.write(value),
                Element::D16(value) => self.write(value),
                Element::D32(value) => self.write(value),
            }
        }
        Ok(())
    }

    /// Writes a value to each element.
    ///
    /// # Safety
    /// All rows are valid for writes of values of type `T`.
    unsafe fn write<T: Copy>(&self, value: T) {
        let first = with_exposed_provenance_mut::<MaybeUninit<T>>(self.to as usize);
        for row in 0..self.height {
            // SAFETY: the caller upholds this function's contract. The rows do not overlap.
            let row = unsafe { std::slice::from_raw_parts_mut(first.byte_add(row * self.pitch), self.width) };
            row.fill(MaybeUninit::new(value));
            memory::initialise(row.as_ptr().addr() as u64, size_of_val(row) as u64);
        }
    }

    /// Fills memory of the current context.
    ///
    /// # Safety
    /// As [`Fill::run`].
    unsafe fn run_now(&self) -> Result<()> {
        context::usable()?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { self.run() }
    }

    /// Fills memory on a stream of the current context.
    ///
    /// # Safety
    /// As [`Fill::run`].
    unsafe fn run_on(&self, stream: *mut c_void) -> Result<()> {
        context::usable()?;
        stream::checked(stream)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { self.run() }
    }
}

/// Fills memory with a byte. `count` is the number of bytes.
///
/// # Safety
/// No other code accesses the memory meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8_v2(to: u64, value: u8, count: usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD8_v2", || unsafe { Fill::line(to, Element::D8(value), count).run_now() })
}

/// Fills memory with a byte, on a stream.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD8Async", || unsafe { Fill::line(to, Element::D8(value), count).run_on(stream) })
}

/// Fills memory with an element of 16 bits. `count` is the number of elements.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16_v2(to: u64, value: u16, count: usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD16_v2", || unsafe { Fill::line(to, Element::D16(value), count).run_now() })
}

/// Fills memory with an element of 16 bits, on a stream.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD16Async(to: u64, value: u16, count: usize, stream: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD16Async", || unsafe { Fill::line(to, Element::D16(value), count).run_on(stream) })
}

/// Fills memory with an element of 32 bits. `count` is the number of elements.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32_v2(to: u64, value: c_uint, count: usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD32_v2", || unsafe { Fill::line(to, Element::D32(value), count).run_now() })
}

/// Fills memory with an element of 32 bits, on a stream.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD32Async(to: u64, value: c_uint, count: usize, stream: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD32Async", || unsafe { Fill::line(to, Element::D32(value), count).run_on(stream) })
}

/// Fills rows with a byte. `pitch` is in bytes.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D8_v2(to: u64, pitch: usize, value: u8, width: usize, height: usize) -> Status {
    let fill = Fill { to, pitch, element: Element::D8(value), width, height };
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD2D8_v2", || unsafe { fill.run_now() })
}

/// Fills rows with a byte, on a stream.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D8Async(
    to: u64,
    pitch: usize,
    value: u8,
    width: usize,
    height: usize,
    stream: *mut c_void,
) -> Status {
    let fill = Fill { to, pitch, element: Element::D8(value), width, height };
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD2D8Async", || unsafe { fill.run_on(stream) })
}

/// Fills rows with an element of 16 bits. `pitch` is in bytes, and `width` in elements.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D16_v2(to: u64, pitch: usize, value: u16, width: usize, height: usize) -> Status {
    let fill = Fill { to, pitch, element: Element::D16(value), width, height };
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD2D16_v2", || unsafe { fill.run_now() })
}

/// Fills rows with an element of 16 bits, on a stream.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D16Async(
    to: u64,
    pitch: usize,
    value: u16,
    width: usize,
    height: usize,
    stream: *mut c_void,
) -> Status {
    let fill = Fill { to, pitch, element: Element::D16(value), width, height };
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD2D16Async", || unsafe { fill.run_on(stream) })
}

/// Fills rows with an element of 32 bits. `pitch` is in bytes, and `width` in elements.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D32_v2(to: u64, pitch: usize, value: c_uint, width: usize, height: usize) -> Status {
    let fill = Fill { to, pitch, element: Element::D32(value), width, height };
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD2D32_v2", || unsafe { fill.run_now() })
}

/// Fills rows with an element of 32 bits, on a stream.
///
/// # Safety
/// As [`cuMemsetD8_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemsetD2D32Async(
    to: u64,
    pitch: usize,
    value: c_uint,
    width: usize,
    height: usize,
    stream: *mut c_void,
) -> Status {
    let fill = Fill { to, pitch, element: Element::D32(value), width, height };
    // SAFETY: the caller upholds this function's contract.
    enter("cuMemsetD2D32Async", || unsafe { fill.run_on(stream) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(to: u64, pitch: usize, element: Element, width: usize, height: usize) -> Option<u64> {
        Fill { to, pitch, element, width, height }.span().ok()
    }

    #[test]
    fn a_span_ends_with_the_last_row() {
        assert_eq!(Fill::line(0x1001, Element::D8(1), 7).span(), Ok(7));
        assert_eq!(span(0x1000, 0, Element::D32(1), 7, 1), Some(28));
        assert_eq!(span(0x1000, 32, Element::D32(1), 7, 3), Some(92));
        assert_eq!(span(0x1000, 28, Element::D32(1), 7, 0), Some(28));
    }

    #[test]
    fn elements_and_rows_are_aligned() {
        assert_eq!(span(0x1001, 0, Element::D16(1), 1, 1), None);
        assert_eq!(span(0x1002, 0, Element::D32(1), 1, 1), None);
        assert_eq!(span(0x1000, 30, Element::D32(1), 7, 2), None);
        assert_eq!(span(0x1000, 31, Element::D8(1), 7, 2), Some(38));
        assert_eq!(span(0x1000, 31, Element::D32(1), 7, 1), Some(28));
    }

    #[test]
    fn rows_do_not_overlap() {
        assert_eq!(span(0x1000, 24, Element::D32(1), 7, 2), None);
        assert_eq!(span(0x1000, 28, Element::D32(1), 7, 2), Some(56));
        assert_eq!(span(0, usize::MAX, Element::D8(1), 1, 3), None);
        assert_eq!(span(0, 0, Element::D32(1), usize::MAX, 1), None);
    }
}
