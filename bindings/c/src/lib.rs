//! The C interface of halfbyte, `halfbyte.h`: texts are read, compiled and launched, and kernels in PTX run as they stand.
//!
//! Handles are boxes that C knows by their addresses. Each function checks what it is given as far as that can be checked, says what is
//! wrong as a value, and lets no panic through: what happens behind its first line happens in [`border`].

mod border;
mod error;
mod launch;
mod module;
mod options;
mod program;
mod ptx;
mod ptx_run;

use std::ffi::{CStr, c_char};

/// What a program was compiled for; `halfbyte_abi_version` says what the library is. A library serves all programs of the same number.
pub const HALFBYTE_ABI_VERSION: u32 = 1;

/// The length of a text that ends with its first byte of zero; `cbindgen.toml` says it in C.
/// cbindgen:ignore
pub const HALFBYTE_TO_NUL: usize = usize::MAX;

/// The version of the interface that the library has.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_abi_version() -> u32 {
    HALFBYTE_ABI_VERSION
}

/// The version of the library, as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}
