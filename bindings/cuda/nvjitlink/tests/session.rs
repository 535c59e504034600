//! The library under test, and its link steps.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::{CStr, CString, c_char, c_uint, c_void};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::LazyLock;

use libloading::Library;

/// Returns the library, which Cargo builds in the folder of the test.
pub fn library() -> &'static Library {
    static LOADED: LazyLock<Library> = LazyLock::new(|| {
        let test = std::env::current_exe().unwrap();
        let path = test.parent().unwrap().join(format!("{DLL_PREFIX}nvJitLink{DLL_SUFFIX}"));
        // SAFETY: the library can be loaded at any time.
        unsafe { Library::new(&path) }.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    });
    &LOADED
}

/// Returns a function of the library, by its type or as a pointer.
pub fn function<T: Copy>(name: &str) -> T {
    // SAFETY: the callers give the type of the function.
    *unsafe { library().get::<T>(name) }.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A link step.
#[derive(Debug)]
pub struct Session {
    handle: *mut c_void,
}

impl Session {
    /// Begins a link step. After an error, the link step is returned with the result code.
    pub fn new(options: &[&CStr]) -> Result<Session, (Session, u32)> {
        type Create = unsafe extern "C" fn(*mut *mut c_void, u32, *const *const c_char) -> u32;
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let mut handle = null_mut();
        let create = function::<Create>("nvJitLinkCreate");
        // SAFETY: the options are C strings, and the handle is valid for a write.
        let code = unsafe { create(&raw mut handle, pointers.len().try_into().unwrap(), pointers.as_ptr()) };
        assert!(!handle.is_null());
        let session = Session { handle };
        if code == 0 { Ok(session) } else { Err((session, code)) }
    }

    pub fn handle(&self) -> *mut c_void {
        self.handle
    }

    /// Adds an input in memory, and returns the result code.
    pub fn add(&mut self, kind: c_uint, bytes: &[u8], name: &CStr) -> u32 {
        type Add = unsafe extern "C" fn(*mut c_void, c_uint, *const c_void, usize, *const c_char) -> u32;
        let add = function::<Add>("nvJitLinkAddData");
        // SAFETY: the handle, the bytes and the name are valid.
        unsafe { add(self.handle, kind, bytes.as_ptr().cast(), bytes.len(), name.as_ptr()) }
    }

    /// Adds a file, and returns the result code.
    pub fn add_file(&mut self, kind: c_uint, path: &Path) -> u32 {
        type AddFile = unsafe extern "C" fn(*mut c_void, c_uint, *const c_char) -> u32;
        let path = CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the handle and the path are valid.
        unsafe { function::<AddFile>("nvJitLinkAddFile")(self.handle, kind, path.as_ptr()) }
    }

    /// Links the inputs, and returns the result code.
    pub fn complete(&mut self) -> u32 {
        type Complete = unsafe extern "C" fn(*mut c_void) -> u32;
        // SAFETY: the handle is valid.
        unsafe { function::<Complete>("nvJitLinkComplete")(self.handle) }
    }

    /// Returns a linked result, such as `Cubin`, or the result code of a function that fails.
    pub fn linked(&self, what: &str) -> Result<Vec<u8>, u32> {
        self.bytes(&format!("nvJitLinkGetLinked{what}"))
    }

    /// Returns a log, `Error` or `Info`, without its NUL.
    pub fn log(&self, what: &str) -> String {
        let bytes = self.bytes(&format!("nvJitLinkGet{what}Log")).unwrap();
        if bytes.is_empty() {
            return String::new();
        }
        CStr::from_bytes_with_nul(&bytes).unwrap().to_str().unwrap().to_owned()
    }

    /// Returns the bytes that a function copies. Another function returns their number.
    fn bytes(&self, name: &str) -> Result<Vec<u8>, u32> {
        type Size = unsafe extern "C" fn(*mut c_void, *mut usize) -> u32;
        type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void) -> u32;
        let mut size = 0;
        // SAFETY: the handle is valid, and the size is valid for a write.
        match unsafe { function::<Size>(&format!("{name}Size"))(self.handle, &raw mut size) } {
            0 => {}
            code => return Err(code),
        }
        let mut bytes = vec![0x5a_u8; size];
        // SAFETY: the handle is valid, and the buffer has the required size.
        match unsafe { function::<Copy>(name)(self.handle, bytes.as_mut_ptr().cast()) } {
            0 => Ok(bytes),
            code => Err(code),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        type Destroy = unsafe extern "C" fn(*mut *mut c_void) -> u32;
        // SAFETY: the handle is valid.
        let code = unsafe { function::<Destroy>("nvJitLinkDestroy")(&raw mut self.handle) };
        assert!(code == 0 && self.handle.is_null());
    }
}
