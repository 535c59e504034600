//! What crosses between C and Rust: pointers that may be null, lengths, and panics, which must not.

use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::HALFBYTE_TO_NUL;
use crate::error::{Error, Status};

/// Does what a function of C does. Its error is given to `error`, where that is wanted. Panics are defects; one that happens is an error
/// all the same, as unwinding into C is not defined.
///
/// # Safety
/// `error` is null or points to where an address may be written.
pub unsafe fn enter(error: *mut *mut Error, what: impl FnOnce() -> Result<(), Error>) -> Status {
    let done = caught(what);
    let status = done.as_ref().map_or_else(|error| error.status, |()| Status::Ok);
    if !error.is_null() {
        let made = done.err().map_or(std::ptr::null_mut(), |error| Box::into_raw(Box::new(error)));
        // SAFETY: it is not null, so by contract it may be written.
        unsafe { error.write(made) };
    }
    status
}

/// Does something that must not unwind.
pub fn caught(what: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    // What a panic leaves half done is not looked at again: results are given out last.
    catch_unwind(AssertUnwindSafe(what)).unwrap_or_else(|panic| {
        let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(message), _) => message,
            (_, Some(message)) => message.as_str(),
            _ => "something unknown",
        };
        Err(Error::new(Status::Internal, format!("a defect of halfbyte, please report it: {message}")))
    })
}

fn null(name: &str) -> Error {
    Error::new(Status::InvalidArgument, format!("`{name}` is null"))
}

/// What a pointer points to.
///
/// # Safety
/// It is null, or that lives until the function of C returns and nobody writes it meanwhile.
pub unsafe fn given<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Error> {
    // SAFETY: the caller's contract.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(name))
}

/// The same of what is changed.
///
/// # Safety
/// As [`given`]; and nobody else touches it meanwhile.
pub unsafe fn given_mut<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Error> {
    // SAFETY: the caller's contract.
    unsafe { pointer.as_mut() }.ok_or_else(|| null(name))
}

/// Where a handle is given out. It is null until that is made.
pub struct Out<T>(*mut *mut T);

impl<T> Out<T> {
    /// # Safety
    /// The pointer is null or points to where an address may be written.
    pub unsafe fn new(pointer: *mut *mut T, name: &str) -> Result<Out<T>, Error> {
        if pointer.is_null() {
            return Err(null(name));
        }
        // SAFETY: it is not null, so by contract it may be written.
        unsafe { pointer.write(std::ptr::null_mut()) };
        Ok(Out(pointer))
    }

    /// Gives it out.
    pub fn give(self, made: T) {
        // SAFETY: it was not null when this was made of it.
        unsafe { self.0.write(Box::into_raw(Box::new(made))) };
    }
}

/// Takes a handle back. Null is none.
///
/// # Safety
/// It is null, or was given out by [`Out::give`] and not been taken back yet.
pub unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: the caller's contract.
        let handle = unsafe { Box::from_raw(handle) };
        // A panic here would be one too many.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }
}

/// Elements behind each other. There may be none, at any address.
///
/// # Safety
/// The pointer is null, or so many elements are there, as [`given`] says.
pub unsafe fn slice<'a, T>(pointer: *const T, count: usize, name: &str) -> Result<&'a [T], Error> {
    check(pointer, count, name)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: it is neither null nor longer than memory; the rest is the caller's contract.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// The same of what is written.
///
/// # Safety
/// As [`slice`] and [`given_mut`].
pub unsafe fn slice_mut<'a, T>(pointer: *mut T, count: usize, name: &str) -> Result<&'a mut [T], Error> {
    check(pointer, count, name)?;
    if count == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as in `slice`.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) })
}

fn check<T>(pointer: *const T, count: usize, name: &str) -> Result<(), Error> {
    let wrong = |message| Err(Error::new(Status::InvalidArgument, message));
    let bytes = count.checked_mul(size_of::<T>().max(1));
    match bytes.and_then(|bytes| pointer.addr().checked_add(bytes).filter(|_| isize::try_from(bytes).is_ok())) {
        _ if count == 0 => Ok(()),
        _ if pointer.is_null() => Err(null(name)),
        None => wrong(format!("`{name}` has {count} elements, which is more than memory has")),
        Some(_) if !pointer.is_aligned() => wrong(format!("`{name}` is not aligned")),
        Some(_) => Ok(()),
    }
}

/// A text of so many bytes, or one that ends with its first zero. A byte-order mark is none of it.
///
/// # Safety
/// As [`slice`]; of one that ends with a zero, there is one.
pub unsafe fn text<'a>(pointer: *const c_char, length: usize, name: &str) -> Result<&'a str, Error> {
    let bytes = if length == HALFBYTE_TO_NUL {
        if pointer.is_null() {
            return Err(null(name));
        }
        // SAFETY: the caller's contract.
        unsafe { CStr::from_ptr(pointer) }.to_bytes()
    } else {
        // SAFETY: the caller's contract.
        unsafe { slice(pointer.cast::<u8>(), length, name) }?
    };
    str::from_utf8(bytes).map_err(|error| {
        let message = format!("`{name}` is no UTF-8 from byte {} on", error.valid_up_to());
        Error::new(Status::InvalidArgument, message)
    })
}

/// A name, which ends with a zero; what is to be called so where it is null.
///
/// # Safety
/// As [`text`].
pub unsafe fn name<'a>(pointer: *const c_char, name: &str, otherwise: &'a str) -> Result<&'a str, Error> {
    if pointer.is_null() {
        return Ok(otherwise);
    }
    // SAFETY: the caller's contract.
    unsafe { text(pointer, HALFBYTE_TO_NUL, name) }
}
