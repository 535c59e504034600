//! NVIDIA's nvJitLink, which compiles LTO-IR to PTX.

use std::env::var_os;
use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use libloading::Library;

use crate::error::Error;
use crate::exports::nvJitLinkVersion;
use crate::input::text;
use crate::status::Status;

/// Environment variable with the path of NVIDIA's library. `halfbyte exec` sets it.
const PATH_VARIABLE: &str = "HALFBYTE_NVJITLINK";

/// Version of the interface if there is no NVIDIA library. Clients use LTO-IR from version 12.3 on, and PTX before.
const VERSION_WITHOUT_LTO_IR: (c_uint, c_uint) = (12, 2);

/// Type of LTO-IR inputs.
const LTO_IR: c_uint = 3;

/// Handle of NVIDIA's library.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
struct Handle(usize);

macro_rules! functions {
    ($($name:ident = $symbol:literal ($($ty:ty),*);)*) => {
        /// Functions of NVIDIA's library, which is never unloaded.
        struct Functions {
            $($name: unsafe extern "C" fn($($ty),*) -> Status,)*
        }

        impl Functions {
            /// Finds the functions in a library.
            fn of(library: &Library) -> Result<Functions, libloading::Error> {
                Ok(Functions {
                    // SAFETY: the type is that of the function in `nvJitLink.h`.
                    $($name: *unsafe { library.get($symbol) }?,)*
                })
            }
        }
    };
}

functions! {
    create = "nvJitLinkCreate" (*mut Handle, u32, *const *const c_char);
    destroy = "nvJitLinkDestroy" (*mut Handle);
    add_data = "nvJitLinkAddData" (Handle, c_uint, *const c_void, usize, *const c_char);
    complete = "nvJitLinkComplete" (Handle);
    ptx_size = "nvJitLinkGetLinkedPtxSize" (Handle, *mut usize);
    ptx = "nvJitLinkGetLinkedPtx" (Handle, *mut c_void);
    error_log_size = "nvJitLinkGetErrorLogSize" (Handle, *mut usize);
    error_log = "nvJitLinkGetErrorLog" (Handle, *mut c_void);
    info_log_size = "nvJitLinkGetInfoLogSize" (Handle, *mut usize);
    info_log = "nvJitLinkGetInfoLog" (Handle, *mut c_void);
    version = "nvJitLinkVersion" (*mut c_uint, *mut c_uint);
}

/// Loads the functions of a library, or returns the reason of the failure.
fn load(path: &Path) -> Result<Functions, String> {
    // SAFETY: the user who sets the variable is responsible for the library. NVIDIA's library can be loaded at any
    // time.
    let library = unsafe { Library::new(path) }.map_err(|error| error.to_string())?;
    let functions = Functions::of(&library).map_err(|error| error.to_string())?;
    std::mem::forget(library);
    if std::ptr::eq(functions.version as *const (), nvJitLinkVersion as *const ()) {
        return Err("this is the stand-in of halfbyte".to_owned());
    }
    Ok(functions)
}

/// Returns the functions of the library that the environment variable names. The library is loaded once.
fn functions() -> Result<&'static Functions, Error> {
    static LOADED: OnceLock<Option<(PathBuf, Result<Functions, String>)>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let path = PathBuf::from(var_os(PATH_VARIABLE).filter(|path| !path.is_empty())?);
        let functions = load(&path);
        Some((path, functions))
    });
    match loaded {
        None => Err(Error::NoLibrary),
        Some((path, Err(reason))) => Err(Error::Load { path: path.clone(), reason: reason.clone() }),
        Some((_, Ok(functions))) => Ok(functions),
    }
}

/// Returns the version of the interface.
pub fn version() -> (c_uint, c_uint) {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the pointers are valid for writes.
    let is_known = functions()
        .is_ok_and(|functions| unsafe { (functions.version)(&raw mut major, &raw mut minor) == Status::SUCCESS });
    if is_known { (major, minor) } else { VERSION_WITHOUT_LTO_IR }
}

/// A link step of NVIDIA's library, from LTO-IR to PTX.
pub struct LtoLink {
    functions: &'static Functions,
    handle: Handle,
}

impl LtoLink {
    /// Begins a link step. The options contain `-ptx`.
    pub fn new(options: &[CString]) -> Result<LtoLink, Error> {
        let functions = functions()?;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = u32::try_from(pointers.len()).unwrap_or(u32::MAX);
        let mut handle = Handle(0);
        // SAFETY: there are `count` options, which are C strings. The handle is valid for a write.
        let status = unsafe { (functions.create)(&raw mut handle, count, pointers.as_ptr()) };
        let link = LtoLink { functions, handle };
        link.check(status)?;
        Ok(link)
    }

    /// Adds LTO-IR.
    pub fn add(&self, bytes: &[u8], name: &CStr) -> Result<(), Error> {
        // SAFETY: the pointer and the length are those of `bytes`, and the handle is valid.
        self.check(unsafe {
            (self.functions.add_data)(self.handle, LTO_IR, bytes.as_ptr().cast(), bytes.len(), name.as_ptr())
        })
    }

    /// Links the inputs, and returns their PTX.
    pub fn complete(&self) -> Result<String, Error> {
        // SAFETY: the handle is valid.
        self.check(unsafe { (self.functions.complete)(self.handle) })?;
        self.text(self.functions.ptx_size, self.functions.ptx)
    }

    /// Returns the information of the link step.
    pub fn info_log(&self) -> String {
        self.text(self.functions.info_log_size, self.functions.info_log).unwrap_or_default()
    }

    /// Returns the error of a result code, with the error log.
    fn check(&self, status: Status) -> Result<(), Error> {
        if status == Status::SUCCESS {
            return Ok(());
        }
        let is_created = self.handle.0 != 0;
        let log = is_created.then(|| self.text(self.functions.error_log_size, self.functions.error_log));
        let log = log.and_then(Result::ok).unwrap_or_default();
        Err(Error::Nvidia { status, log: log.trim_end().to_owned() })
    }

    /// Returns a text of the link step, by the functions that return its size and its bytes.
    fn text(
        &self,
        size: unsafe extern "C" fn(Handle, *mut usize) -> Status,
        bytes: unsafe extern "C" fn(Handle, *mut c_void) -> Status,
    ) -> Result<String, Error> {
        let check = |status: Status| match status {
            Status::SUCCESS => Ok(()),
            status => Err(Error::Nvidia { status, log: String::new() }),
        };
        let mut length = 0;
        // SAFETY: the handle is valid, and the size is valid for a write.
        check(unsafe { size(self.handle, &raw mut length) })?;
        let mut buffer = vec![0_u8; length];
        if length > 0 {
            // SAFETY: the handle is valid, and the buffer has the size that the library requires.
            check(unsafe { bytes(self.handle, buffer.as_mut_ptr().cast()) })?;
        }
        Ok(text(&buffer))
    }
}

impl Drop for LtoLink {
    fn drop(&mut self) {
        if self.handle.0 != 0 {
            // SAFETY: the handle is valid, and is not used afterwards.
            unsafe { (self.functions.destroy)(&raw mut self.handle) };
        }
    }
}
