//! The exported functions.

use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::path::PathBuf;

use crate::entry::{Handle, enter, give, give_bytes, insert, remove, string, with};
use crate::error::Error;
use crate::linker::Linker;
use crate::nvidia;
use crate::options::Options;
use crate::status::Status;

// Each versioned symbol is a jump to a function of this file.
include!(concat!(env!("OUT_DIR"), "/versioned.rs"));

/// Begins a link step. The handle is valid even after an error, so that the caller can read the error log.
///
/// # Safety
/// `handle` is null or valid for a write. `options` is null or has `count` elements, each of which is null or a C
/// string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkCreate(handle: *mut Handle, count: u32, options: *const *const c_char) -> Status {
    enter(|| {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if handle.is_null() {
            return Err(Error::Null("handle"));
        }
        if options.is_null() && count > 0 {
            return Err(Error::Null("options"));
        }
        // SAFETY: `options` has `count` elements by contract.
        let options = (0..count).map(|index| unsafe { string(*options.add(index), "options") }.map(CStr::to_owned));
        let parsed = options.collect::<Result<Vec<CString>, Error>>().and_then(Options::parse);
        let (linker, result) = match parsed {
            Ok(options) => (Linker::new(options), Ok(())),
            Err(error) => {
                let mut linker = Linker::default();
                linker.log(&error);
                (linker, Err(error))
            }
        };
        // SAFETY: the caller upholds this function's contract.
        unsafe { give(handle, insert(linker), "handle") }?;
        result
    })
}

/// Ends a link step, and sets its handle to null.
///
/// # Safety
/// `handle` is null or valid for a read and a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkDestroy(handle: *mut Handle) -> Status {
    enter(|| {
        if handle.is_null() {
            return Err(Error::Null("handle"));
        }
        // SAFETY: the pointer is not null, so it is valid for a read by contract.
        remove(unsafe { handle.read() })?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { give(handle, Handle::NULL, "handle") }
    })
}

/// Adds an input in memory. The name is shown in messages, and may be null.
///
/// # Safety
/// `data` is null or has `size` bytes. `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkAddData(
    handle: Handle,
    kind: c_uint,
    data: *const c_void,
    size: usize,
    name: *const c_char,
) -> Status {
    with(handle, |linker| {
        // SAFETY: the caller upholds this function's contract.
        let name = unsafe { string(name, "name") }.unwrap_or(c"");
        if data.is_null() || isize::try_from(size).is_err() {
            return Err(Error::Empty { name: name.to_string_lossy().into_owned() });
        }
        // SAFETY: `data` is not null, so it has `size` bytes by contract.
        linker.add(kind, unsafe { std::slice::from_raw_parts(data.cast(), size) }, name)
    })
}

/// Adds a file.
///
/// # Safety
/// `path` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkAddFile(handle: Handle, kind: c_uint, path: *const c_char) -> Status {
    with(handle, |linker| {
        // SAFETY: the caller upholds this function's contract.
        let name = unsafe { string(path, "fileName") }?;
        let path = PathBuf::from(&*name.to_string_lossy());
        let bytes = std::fs::read(&path).map_err(|error| Error::File { path, error })?;
        linker.add(kind, &bytes, name)
    })
}

/// Links the inputs.
#[unsafe(no_mangle)]
pub extern "C" fn nvJitLinkComplete(handle: Handle) -> Status {
    with(handle, Linker::complete)
}

/// Stores the size of a text with its NUL.
///
/// # Safety
/// `size` is null or valid for a write.
unsafe fn give_size(size: *mut usize, text: &CStr) -> Result<(), Error> {
    // SAFETY: the caller upholds this function's contract.
    unsafe { give(size, text.to_bytes_with_nul().len(), "size") }
}

/// Stores the size of the linked PTX with its NUL.
///
/// # Safety
/// `size` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkGetLinkedCubinSize(handle: Handle, size: *mut usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    with(handle, |linker| unsafe { give_size(size, linker.linked()?) })
}

/// Copies the linked PTX and its NUL.
///
/// # Safety
/// `cubin` is null or a buffer of the size of the linked PTX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkGetLinkedCubin(handle: Handle, cubin: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    with(handle, |linker| unsafe { give_bytes(cubin.cast(), linker.linked()?.to_bytes_with_nul(), "cubin") })
}

/// Stores the size of the linked PTX with its NUL.
///
/// # Safety
/// `size` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkGetLinkedPtxSize(handle: Handle, size: *mut usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    with(handle, |linker| unsafe { give_size(size, linker.linked()?) })
}

/// Copies the linked PTX and its NUL.
///
/// # Safety
/// `ptx` is null or a buffer of the size of the linked PTX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkGetLinkedPtx(handle: Handle, ptx: *mut c_char) -> Status {
    // SAFETY: the caller upholds this function's contract.
    with(handle, |linker| unsafe { give_bytes(ptx.cast(), linker.linked()?.to_bytes_with_nul(), "ptx") })
}

/// Reports that linked LTO-IR is not available.
#[unsafe(no_mangle)]
pub extern "C" fn nvJitLinkGetLinkedLTOIRSize(handle: Handle, _size: *mut usize) -> Status {
    with(handle, |_| Err(Error::NoLinkedLtoIr))
}

/// Reports that linked LTO-IR is not available.
#[unsafe(no_mangle)]
pub extern "C" fn nvJitLinkGetLinkedLTOIR(handle: Handle, _lto_ir: *mut c_void) -> Status {
    with(handle, |_| Err(Error::NoLinkedLtoIr))
}

/// Returns a log with its NUL. An empty log has no NUL, because callers allocate no buffer for an empty log.
fn log(text: &str) -> Vec<u8> {
    if text.is_empty() { Vec::new() } else { [text.as_bytes(), b"\0"].concat() }
}

/// Stores the size of the error log with its NUL. The size of an empty log is 0.
///
/// # Safety
/// `size` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkGetErrorLogSize(handle: Handle, size: *mut usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    with(handle, |linker| unsafe { give(size, log(&linker.error_log).len(), "size") })
}

/// Copies the error log and its NUL.
///
/// # Safety
/// `text` is null or a buffer of the size of the error log.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkGetErrorLog(handle: Handle, text: *mut c_char) -> Status {
    // SAFETY: the caller upholds this function's contract.
    with(handle, |linker| unsafe { give_bytes(text.cast(), &log(&linker.error_log), "log") })
}

/// Stores the size of the information log with its NUL. The size of an empty log is 0.
///
/// # Safety
/// `size` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkGetInfoLogSize(handle: Handle, size: *mut usize) -> Status {
    // SAFETY: the caller upholds this function's contract.
    with(handle, |linker| unsafe { give(size, log(&linker.info_log).len(), "size") })
}

/// Copies the information log and its NUL.
///
/// # Safety
/// `text` is null or a buffer of the size of the information log.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkGetInfoLog(handle: Handle, text: *mut c_char) -> Status {
    // SAFETY: the caller upholds this function's contract.
    with(handle, |linker| unsafe { give_bytes(text.cast(), &log(&linker.info_log), "log") })
}

/// Stores the version of the interface, which is that of NVIDIA's library if there is one.
///
/// # Safety
/// `major` and `minor` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkVersion(major: *mut c_uint, minor: *mut c_uint) -> Status {
    enter(|| {
        let version = nvidia::version();
        // SAFETY: the caller upholds this function's contract.
        unsafe {
            give(major, version.0, "major")?;
            give(minor, version.1, "minor")
        }
    })
}
