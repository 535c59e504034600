//! Link steps: several PTX texts become one image.

use std::ffi::{CString, c_char, c_uint, c_void};
use std::sync::{Mutex, PoisonError};

use halfbyte::isa::ptx::text::link;

use crate::context;
use crate::entry::{enter, write_out};
use crate::image::{self, ImageError};
use crate::jit_options::JitOptions;
use crate::module::name;
use crate::registry::Registry;
use crate::settings::settings;
use crate::status::{Result, Status};

static LINKS: Registry<Link> = Registry::new();

/// The state of a link step.
#[derive(Default)]
struct Link {
    texts: Mutex<Vec<String>>,
    /// The linked text, which lives as long as the link step.
    linked: Mutex<Option<CString>>,
}

/// Kinds of inputs, by number.
const LIBRARY: c_uint = 4;
/// Exclusive upper bound of the numbers.
const KINDS: c_uint = 6;

/// Adds an input. Static libraries are ignored: programs usually link the device runtime, which is part of halfbyte.
fn add(state: *mut c_void, kind: c_uint, bytes: &[u8], options: &JitOptions) -> Result<()> {
    let link = LINKS.get(state).ok_or(Status::INVALID_HANDLE)?;
    if kind >= KINDS {
        return Err(Status::INVALID_VALUE);
    }
    if kind == LIBRARY {
        return Ok(());
    }
    let text = options.logged(image::ptx_of(bytes, settings().sm).map(|text| text.into_owned()))?;
    link.texts.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    Ok(())
}

/// Begins a link step. Only the log buffers of the options are used.
///
/// # Safety
/// `state` is null or valid for a write. `options` and `values` have `count` elements, and the log buffers have their
/// declared sizes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkCreate_v2(
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
    state: *mut *mut c_void,
) -> Status {
    enter("cuLinkCreate_v2", || {
        context::usable()?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { JitOptions::new(count, options, values) }?;
        if state.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe { write_out(state, LINKS.insert(Link::default())) }
    })
}

/// Adds an input in memory to a link step: PTX text, or a fatbin that contains PTX.
///
/// # Safety
/// `data` is null or has `bytes` bytes. The rest is as in [`cuLinkCreate_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddData_v2(
    state: *mut c_void,
    kind: c_uint,
    data: *const c_void,
    bytes: usize,
    _name: *const c_char,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Status {
    enter("cuLinkAddData_v2", || {
        context::usable()?;
        if data.is_null() || isize::try_from(bytes).is_err() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        let (options, data) =
            unsafe { (JitOptions::new(count, options, values)?, std::slice::from_raw_parts(data.cast(), bytes)) };
        add(state, kind, data, &options)
    })
}

/// Adds a file to a link step.
///
/// # Safety
/// `path` is null or ends with a zero byte. The rest is as in [`cuLinkCreate_v2`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkAddFile_v2(
    state: *mut c_void,
    kind: c_uint,
    path: *const c_char,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Status {
    enter("cuLinkAddFile_v2", || {
        context::usable()?;
        // SAFETY: the caller upholds this function's contract.
        let (options, path) = unsafe { (JitOptions::new(count, options, values)?, name(path)?) };
        let missing = |error| ImageError::new(Status::FILE_NOT_FOUND, format!("{path}: {error}"));
        let bytes = options.logged(std::fs::read(path).map_err(missing))?;
        add(state, kind, &bytes, &options)
    })
}

/// Links the inputs. Stores the linked image, which lives as long as the link step, and its size.
///
/// # Safety
/// `image` and `bytes` are null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLinkComplete(state: *mut c_void, image: *mut *const c_void, bytes: *mut usize) -> Status {
    enter("cuLinkComplete", || {
        context::usable()?;
        let state = LINKS.get(state).ok_or(Status::INVALID_HANDLE)?;
        let texts = state.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let linked = link(&texts).map_err(|error| ImageError::new(Status::INVALID_PTX, error.to_string()));
        let linked = CString::new(JitOptions::default().logged(linked)?).map_err(|_| Status::INVALID_PTX)?;
        let mut held = state.linked.lock().unwrap_or_else(PoisonError::into_inner);
        let linked = held.insert(linked);
        // SAFETY: the caller upholds this function's contract.
        unsafe {
            write_out(image, linked.as_ptr().cast())?;
            write_out(bytes, linked.as_bytes_with_nul().len())
        }
    })
}

/// Ends a link step.
#[unsafe(no_mangle)]
pub extern "C" fn cuLinkDestroy(state: *mut c_void) -> Status {
    enter("cuLinkDestroy", || LINKS.remove(state).map(drop).ok_or(Status::INVALID_HANDLE))
}
