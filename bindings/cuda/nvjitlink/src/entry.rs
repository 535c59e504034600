//! Common code of the exported functions: lookup of handles, conversion of panics to result codes, and writes through
//! out-pointers.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::linker::Linker;
use crate::status::Status;

/// Handle of a link step, an `nvJitLinkHandle`. No two link steps of a process have the same handle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct Handle(usize);

impl Handle {
    pub const NULL: Handle = Handle(0);
}

/// The link steps that exist.
static LINKERS: Mutex<BTreeMap<Handle, Arc<Mutex<Linker>>>> = Mutex::new(BTreeMap::new());

/// Stores a link step, and returns its handle.
pub fn insert(linker: Linker) -> Handle {
    static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
    let handle = Handle(NEXT.fetch_add(16, Ordering::Relaxed));
    LINKERS.lock().unwrap_or_else(PoisonError::into_inner).insert(handle, Arc::new(Mutex::new(linker)));
    handle
}

/// Removes a link step.
pub fn remove(handle: Handle) -> Result<(), Error> {
    if handle == Handle::NULL {
        return Err(Error::Null("handle"));
    }
    let removed = LINKERS.lock().unwrap_or_else(PoisonError::into_inner).remove(&handle);
    removed.map(drop).ok_or(Error::Handle)
}

/// Runs the body of an exported function, and returns its result code. A panic becomes [`Status::INTERNAL`].
pub fn enter(body: impl FnOnce() -> Result<(), Error>) -> Status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Status::SUCCESS,
        Ok(Err(error)) => error.status(),
        Err(_) => Status::INTERNAL,
    }
}

/// Runs the body of an exported function on a link step, and returns its result code. The error log gets the error.
pub fn with(handle: Handle, body: impl FnOnce(&mut Linker) -> Result<(), Error>) -> Status {
    enter(|| {
        if handle == Handle::NULL {
            return Err(Error::Null("handle"));
        }
        let linker = LINKERS.lock().unwrap_or_else(PoisonError::into_inner).get(&handle).cloned();
        let linker = linker.ok_or(Error::Handle)?;
        let mut linker = linker.lock().unwrap_or_else(PoisonError::into_inner);
        body(&mut linker).inspect_err(|error| linker.log(error))
    })
}

/// Writes a value through the out-pointer `name`, unless it is null.
///
/// # Safety
/// `to` is null or valid for a write.
pub unsafe fn give<T>(to: *mut T, value: T, name: &'static str) -> Result<(), Error> {
    if to.is_null() {
        return Err(Error::Null(name));
    }
    // SAFETY: the pointer is not null, so it is valid for a write by contract.
    unsafe { to.write(value) };
    Ok(())
}

/// Copies bytes to the buffer `name`, unless it is null.
///
/// # Safety
/// `to` is null, or valid for writes of all bytes.
pub unsafe fn give_bytes(to: *mut u8, bytes: &[u8], name: &'static str) -> Result<(), Error> {
    if to.is_null() {
        return Err(Error::Null(name));
    }
    // SAFETY: the pointer is not null, so it is valid for the writes by contract. The bytes belong to this library, so
    // the ranges do not overlap.
    unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    Ok(())
}

/// Returns the C string `name`, unless it is null.
///
/// # Safety
/// `text` is null, or points to a C string that lives for `'a`.
pub unsafe fn string<'a>(text: *const c_char, name: &'static str) -> Result<&'a CStr, Error> {
    if text.is_null() {
        return Err(Error::Null(name));
    }
    // SAFETY: the pointer is not null, so it points to a C string by contract.
    Ok(unsafe { CStr::from_ptr(text) })
}
