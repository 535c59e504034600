//! Lookup of driver functions by name and version.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use crate::entry::{enter, trace, write_out};
use crate::status::{Result, Status};

/// Exported function of the driver.
pub struct Function {
    /// Name without the suffix of a version.
    name: &'static str,
    /// First CUDA version with this signature.
    version: u32,
    /// Name of the exported symbol.
    symbol: &'static str,
    /// Address. The signature of the type is a placeholder.
    address: unsafe extern "C" fn(),
    /// `true` if the default stream of the function is that of the calling thread.
    is_per_thread: bool,
}

#[allow(missing_docs, reason = "the functions are generated")]
mod generated {
    use super::Function;
    use crate::entry::not_supported;
    use crate::status::Status;

    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}

/// Flags of a lookup.
mod flags {
    /// Functions whose default stream is the legacy stream.
    pub(super) const LEGACY_STREAM: u64 = 1;
    /// Functions whose default stream is that of the calling thread, if the name has such a function.
    pub(super) const PER_THREAD_DEFAULT_STREAM: u64 = 2;
}

/// Reason why a lookup failed, a `CUdriverProcAddressQueryResult`.
#[derive(Clone, Copy)]
enum NotFound {
    /// No function has the name.
    Symbol = 1,
    /// All functions of the name are newer than the requested version.
    Version = 2,
}

/// Finds the newest function of a name that is not newer than `version`. If `per_thread` is true, prefers functions
/// that use the default stream of the calling thread.
fn find(name: &[u8], version: c_int, per_thread: bool) -> std::result::Result<&'static Function, NotFound> {
    let first = generated::FUNCTIONS.partition_point(|function| function.name.as_bytes() < name);
    let rest = generated::FUNCTIONS.get(first..).unwrap_or_default();
    let named = || rest.iter().take_while(|function| function.name.as_bytes() == name);
    let newest = |per_thread: bool| {
        let mut usable = named().filter(|function| i64::from(function.version) <= i64::from(version));
        usable.find(|function| function.is_per_thread == per_thread)
    };
    let found = if per_thread { newest(true).or_else(|| newest(false)) } else { newest(false) };
    found.ok_or(if named().next().is_none() { NotFound::Symbol } else { NotFound::Version })
}

/// Checks the arguments of a lookup, performs it, and stores the address, which is null if there is no such function.
/// The inner result is that of the lookup.
///
/// # Safety
/// `name` is null or a C string, and `address` is null or valid for a write.
unsafe fn look_up(
    name: *const c_char,
    address: *mut *mut c_void,
    version: c_int,
    flags: u64,
) -> Result<std::result::Result<(), NotFound>> {
    let known = flags::LEGACY_STREAM | flags::PER_THREAD_DEFAULT_STREAM;
    if name.is_null() || flags & !known != 0 {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the pointer is not null, so it is a C string by contract.
    let name = unsafe { CStr::from_ptr(name) };
    let found = find(name.to_bytes(), version, flags & flags::PER_THREAD_DEFAULT_STREAM != 0);
    let symbol = found.map_or("not found", |function| function.symbol);
    trace(format_args!("lookup of {}, version {version}: {symbol}", name.to_string_lossy()));
    let value = found.map_or(null_mut(), |function| function.address as *mut c_void);
    // SAFETY: the caller upholds this function's contract.
    unsafe { write_out(address, value) }?;
    Ok(found.map(|_| ()))
}

/// Looks up a driver function, with the interface of CUDA 11.3: an unknown function is an error.
///
/// # Safety
/// `name` is null or a C string, and `address` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress(
    name: *const c_char,
    address: *mut *mut c_void,
    version: c_int,
    flags: u64,
) -> Status {
    enter("cuGetProcAddress", || {
        // SAFETY: the caller upholds this function's contract.
        unsafe { look_up(name, address, version, flags) }?.map_err(|_| Status::NOT_FOUND)
    })
}

/// Looks up a driver function. An unknown function is not an error: its address is null, and `query_result`, unless
/// it is null, receives the reason.
///
/// # Safety
/// `name` is null or a C string. `address` and `query_result` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetProcAddress_v2(
    name: *const c_char,
    address: *mut *mut c_void,
    version: c_int,
    flags: u64,
    query_result: *mut c_int,
) -> Status {
    enter("cuGetProcAddress_v2", || {
        // SAFETY: the caller upholds this function's contract.
        let found = unsafe { look_up(name, address, version, flags) }?;
        if !query_result.is_null() {
            let reason = found.map_or_else(|reason| reason as c_int, |()| 0);
            // SAFETY: the pointer is not null, so it is valid for a write by contract.
            unsafe { query_result.write(reason) };
        }
        Ok(())
    })
}

/// Refuses access to the private tables of NVIDIA's driver.
///
/// # Safety
/// `table` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetExportTable(table: *mut *const c_void, _id: *const c_void) -> Status {
    enter("cuGetExportTable", || {
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(table, null()) }?;
        Err(Status::NOT_FOUND)
    })
}
