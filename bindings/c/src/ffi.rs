//! Conversions between C and Rust: pointers that may be null, lengths, and panics, which must not unwind into C.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::HALFBYTE_TO_NUL;
use crate::error::{Error, Status};

/// Runs the body `what` of a C function and stores its error in `error`, unless `error` is null. Returns the status. A
/// panic is a defect and becomes an error, because unwinding into C is undefined.
///
/// # Safety
/// `error` is null or valid for a write.
pub unsafe fn enter(error: *mut *mut Error, what: impl FnOnce() -> Result<(), Error>) -> Status {
    let done = caught(what);
    let status = done.as_ref().map_or_else(|error| error.status, |()| Status::Ok);
    if !error.is_null() {
        let made = done.err().map_or(std::ptr::null_mut(), |error| Box::into_raw(Box::new(error)));
        // SAFETY: the pointer is not null, so it is valid for a write by contract.
        unsafe { error.write(made) };
    }
    status
}

/// Runs `what`, and converts a panic to an error.
pub fn caught(what: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    // After a panic no caller sees an inconsistent state, because `what` stores its results last.
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|panic| {
        let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(message), _) => message,
            (_, Some(message)) => message.as_str(),
            _ => "unknown panic",
        };
        Err(Error::new(Status::Internal, format!("internal error (please report this bug): {message}")))
    })
}

fn null(name: &str) -> Error {
    Error::new(Status::InvalidArgument, format!("`{name}` is null"))
}

/// Converts a pointer from C to a reference. `name` is the argument's name in the error for null.
///
/// # Safety
/// The pointer is null, or its target lives until the C function returns and is not written meanwhile.
pub unsafe fn given<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Error> {
    // SAFETY: the caller upholds this function's contract.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// Converts a pointer from C to a mutable reference. `name` is the argument's name in the error for null.
///
/// # Safety
/// As [`given`]. In addition, no other code accesses the target meanwhile.
pub unsafe fn given_mut<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Error> {
    // SAFETY: the caller upholds this function's contract.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(name))
}

/// Output parameter of a C function for a handle. The handle is null until it is created.
pub struct Out<T>(*mut *mut T);

impl<T> Out<T> {
    /// Checks an output parameter, and stores null in it.
    ///
    /// # Safety
    /// The pointer is null or valid for a write.
    pub unsafe fn new(pointer: *mut *mut T, name: &str) -> Result<Out<T>, Error> {
        if pointer.is_null() {
            return Err(null(name));
        }
        // SAFETY: the pointer is not null, so it is valid for a write by contract.
        unsafe { pointer.write(std::ptr::null_mut()) };
        Ok(Out(pointer))
    }

    /// Moves `made` to the heap, and stores its handle in the output parameter.
    pub fn give(self, made: T) {
        // SAFETY: `new` checked that the pointer is not null.
        unsafe { self.0.write(Box::into_raw(Box::new(made))) };
    }
}

/// Frees a handle. Null is ignored.
///
/// # Safety
/// The handle is null, or was stored by [`Out::give`] and has not been freed.
pub unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: the caller upholds this function's contract.
        let handle = unsafe { Box::from_raw(handle) };
        // A panic of the destructor must not unwind into C.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }
}

/// Converts a pointer and an element count to a slice. The pointer is ignored if the count is 0.
///
/// # Safety
/// The pointer is null, or `count` elements at it are valid as [`given`] requires.
pub unsafe fn slice<'a, T>(pointer: *const T, count: usize, name: &str) -> Result<&'a [T], Error> {
    check(pointer, count, name)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: `check` has excluded null and lengths beyond memory. The caller upholds all other
    // requirements.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Converts a pointer and an element count to a mutable slice. The pointer is ignored if the count is 0.
///
/// # Safety
/// As [`slice`] and [`given_mut`].
pub unsafe fn slice_mut<'a, T>(pointer: *mut T, count: usize, name: &str) -> Result<&'a mut [T], Error> {
    check(pointer, count, name)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: `check` has excluded null and lengths beyond memory. The caller upholds all other
    // requirements.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) })
}

fn check<T>(pointer: *const T, count: usize, name: &str) -> Result<(), Error> {
    let wrong = |message| Err(Error::new(Status::InvalidArgument, message));
    let bytes = count.checked_mul(size_of::<T>().max(1));
    match bytes.and_then(|bytes| pointer.addr().checked_add(bytes).filter(|_| isize::try_from(bytes).is_ok())) {
        _ if count == 0 => Ok(()),
        _ if pointer.is_null() => Err(null(name)),
        None => wrong(format!("`{name}` has {count} elements, which exceeds the address space")),
        Some(_) if !pointer.is_aligned() => wrong(format!("`{name}` is not aligned")),
        Some(_) => Ok(()),
    }
}

/// Converts a pointer and a length in bytes to a text. HALFBYTE_TO_NUL means that the text ends
/// before its first zero byte.
///
/// # Safety
/// As [`slice`]; a text with the length HALFBYTE_TO_NUL ends with a zero byte.
pub unsafe fn text<'a>(pointer: *const c_char, length: usize, name: &str) -> Result<&'a str, Error> {
    let bytes = if length == HALFBYTE_TO_NUL {
        if pointer.is_null() {
            return Err(null(name));
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { CStr::from_ptr(pointer) }.to_bytes()
    } else {
        // SAFETY: the caller upholds this function's contract.
        unsafe { slice(pointer.cast::<u8>(), length, name) }?
    };
    str::from_utf8(bytes).map_err(|error| {
        let message = format!("`{name}` is not valid UTF-8 at byte {}", error.valid_up_to());
        Error::new(Status::InvalidArgument, message)
    })
}

/// Converts a zero-terminated text. Returns `otherwise` if the pointer is null.
///
/// # Safety
/// As [`text`].
pub unsafe fn name<'a>(pointer: *const c_char, name: &str, otherwise: &'a str) -> Result<&'a str, Error> {
    if pointer.is_null() {
        return Ok(otherwise);
    }
    // SAFETY: the caller upholds this function's contract.
    unsafe { text(pointer, HALFBYTE_TO_NUL, name) }
}
