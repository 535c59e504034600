//! Options of functions that load or link images: the log buffers.

use std::ffi::{c_char, c_uint, c_void};
use std::io::Write as _;

use crate::image::ImageError;
use crate::status::{Result, Status};

const INFO_LOG_BUFFER: c_uint = 3;
const INFO_LOG_BYTES: c_uint = 4;
const ERROR_LOG_BUFFER: c_uint = 5;
const ERROR_LOG_BYTES: c_uint = 6;

/// Maximum number of options.
const MAX_OPTIONS: c_uint = 256;

/// The log buffers of a call.
#[derive(Default)]
pub struct JitOptions {
    info: LogBuffer,
    error: LogBuffer,
}

/// A buffer of the caller for messages.
struct LogBuffer {
    start: *mut c_char,
    bytes: usize,
    /// The option value that receives the number of written bytes, or null.
    written: *mut *mut c_void,
}

impl Default for LogBuffer {
    fn default() -> LogBuffer {
        LogBuffer { start: std::ptr::null_mut(), bytes: 0, written: std::ptr::null_mut() }
    }
}

impl JitOptions {
    /// Reads the options of a call. Options other than the log buffers are ignored.
    ///
    /// # Safety
    /// `options` and `values` have `count` elements, and the log buffers have their declared sizes until the call ends.
    pub unsafe fn new(count: c_uint, options: *const c_uint, values: *mut *mut c_void) -> Result<JitOptions> {
        if count > MAX_OPTIONS || count != 0 && (options.is_null() || values.is_null()) {
            return Err(Status::INVALID_VALUE);
        }
        let mut read = JitOptions::default();
        for number in 0..count as usize {
            let slot = values.wrapping_add(number);
            // SAFETY: both arrays have this element.
            let (option, value) = unsafe { (options.wrapping_add(number).read(), slot.read()) };
            // A size is stored in the bits of a pointer; only its low 32 bits are defined.
            let bytes = value.addr() as u32 as usize;
            match option {
                INFO_LOG_BUFFER => read.info.start = value.cast(),
                ERROR_LOG_BUFFER => read.error.start = value.cast(),
                INFO_LOG_BYTES => (read.info.bytes, read.info.written) = (bytes, slot),
                ERROR_LOG_BYTES => (read.error.bytes, read.error.written) = (bytes, slot),
                _ => {}
            }
        }
        Ok(read)
    }

    /// Writes the error of an image, if any, to the error log and to standard error, and returns its status.
    pub fn logged<T>(&self, made: std::result::Result<T, ImageError>) -> Result<T> {
        self.info.write("");
        made.inspect(|_| self.error.write("")).map_err(|ImageError { status, message }| {
            self.error.write(&message);
            // A program may have closed standard error.
            let _ = writeln!(std::io::stderr(), "halfbyte: {message}");
            status
        })
    }
}

impl LogBuffer {
    /// Writes a text and a NUL, and stores the number of written bytes. A text that is too long is truncated.
    fn write(&self, text: &str) {
        let length = match self.bytes.checked_sub(1) {
            Some(room) if !self.start.is_null() => text.len().min(room),
            _ => return,
        };
        // SAFETY: the buffer has room for `length` bytes and a NUL by the contract of `new`.
        unsafe {
            self.start.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), length);
            self.start.add(length).write(0);
        }
        if !self.written.is_null() {
            // SAFETY: the slot is an element of the option values.
            unsafe { self.written.write(std::ptr::without_provenance_mut(length + 1)) };
        }
    }
}
