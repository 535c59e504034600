//! Names and descriptions of result codes.

use std::ffi::{CStr, c_char};
use std::ptr::null;

use crate::entry::{enter, write_out};
use crate::status::{Result, Status};

/// Stores the text for a result code. For an unknown code, stores null and returns [`Status::INVALID_VALUE`].
///
/// # Safety
/// `to` is null or valid for a write.
unsafe fn write_out_text(to: *mut *const c_char, text: Option<&'static CStr>) -> Result<()> {
    // SAFETY: the caller upholds this function's contract.
    unsafe { write_out(to, text.map_or(null(), CStr::as_ptr)) }?;
    text.map(|_| ()).ok_or(Status::INVALID_VALUE)
}

/// Returns the name of a result code.
///
/// # Safety
/// `name` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(error: Status, name: *mut *const c_char) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGetErrorName", || unsafe { write_out_text(name, error.name()) })
}

/// Returns a description of a result code.
///
/// # Safety
/// `description` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(error: Status, description: *mut *const c_char) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuGetErrorString", || unsafe { write_out_text(description, error.description()) })
}
