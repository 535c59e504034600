//! C interface of halfbyte, `halfbyte.h`: compilation and launches of kernels, and direct execution of PTX.
//!
//! A handle is the address of a Rust box. Each function checks its arguments as far as possible, returns errors as
//! values, and catches panics (see [`ffi`]).

// cbindgen reads only public functions.
#![allow(unreachable_pub)]

mod error;
mod ffi;
mod launch;
mod module;
mod options;
mod program;
mod ptx;
mod ptx_run;

use std::ffi::{CStr, c_char};

/// Version of the interface in this header. `halfbyte_abi_version` returns the version of the
/// library. A library supports all programs that were compiled with a header of the same version.
pub const HALFBYTE_ABI_VERSION: u32 = 1;

/// Length of a text that ends before its first zero byte. `cbindgen.toml` defines the constant for
/// C. cbindgen:ignore
pub const HALFBYTE_TO_NUL: usize = usize::MAX;

/// Returns the version of the library's interface, to be compared with HALFBYTE_ABI_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_abi_version() -> u32 {
    HALFBYTE_ABI_VERSION
}

/// Returns the version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn halfbyte_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}
