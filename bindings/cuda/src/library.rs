//! Libraries: modules that are loaded without a context, and their kernels.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use crate::context;
use crate::entry::{enter, write_out};
use crate::function;
use crate::image;
use crate::init::initialised;
use crate::jit_options::JitOptions;
use crate::module::{self, Module, give_variable, name, read_file};
use crate::registry::Registry;
use crate::settings::settings;
use crate::status::{Result, Status};

static LIBRARIES: Registry<Library> = Registry::new();

/// A loaded library.
struct Library {
    module: Arc<Module>,
    /// The handle of the module. The handle is 0 until a program requests it.
    handle: Mutex<usize>,
}

/// Context identifier of a library's variables, which belong to no context.
const NO_CONTEXT: u64 = 0;

fn checked(library: *mut c_void) -> Result<Arc<Library>> {
    LIBRARIES.get(library).ok_or(Status::INVALID_HANDLE)
}

fn insert(made: Module) -> *mut c_void {
    LIBRARIES.insert(Library { module: Arc::new(made), handle: Mutex::new(0) })
}

/// Loads a library from an image in memory: PTX text, or a fatbin that contains PTX. The library options are ignored.
///
/// # Safety
/// As `cuModuleLoadDataEx`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryLoadData(
    library: *mut *mut c_void,
    image: *const c_void,
    options: *const c_uint,
    values: *mut *mut c_void,
    count: c_uint,
    _library_options: *const c_uint,
    _library_values: *mut *mut c_void,
    _library_count: c_uint,
) -> Status {
    enter("cuLibraryLoadData", || {
        initialised()?;
        if library.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        let (options, image) = unsafe { (JitOptions::new(count, options, values)?, image::read(image)) };
        let text = image.and_then(|image| image.ptx(settings().sm));
        let made = options.logged(text.and_then(|text| Module::new("<library>", &text, NO_CONTEXT)))?;
        // SAFETY: as above.
        unsafe { write_out(library, insert(made)) }
    })
}

/// Loads a library from a file with PTX or with a fatbin. The library options are ignored.
///
/// # Safety
/// As `cuModuleLoadDataEx`; `path` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryLoadFromFile(
    library: *mut *mut c_void,
    path: *const c_char,
    options: *const c_uint,
    values: *mut *mut c_void,
    count: c_uint,
    _library_options: *const c_uint,
    _library_values: *mut *mut c_void,
    _library_count: c_uint,
) -> Status {
    enter("cuLibraryLoadFromFile", || {
        initialised()?;
        if library.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: the caller upholds this function's contract.
        let (options, path) = unsafe { (JitOptions::new(count, options, values)?, name(path)?) };
        let text = read_file(path);
        let made = options.logged(text.and_then(|text| Module::new(path, &text, NO_CONTEXT)))?;
        // SAFETY: as above.
        unsafe { write_out(library, insert(made)) }
    })
}

/// Unloads a library. Its kernels become invalid.
#[unsafe(no_mangle)]
pub extern "C" fn cuLibraryUnload(library: *mut c_void) -> Status {
    enter("cuLibraryUnload", || {
        let library = LIBRARIES.remove(library).ok_or(Status::INVALID_HANDLE)?;
        match *library.handle.lock().unwrap_or_else(PoisonError::into_inner) {
            0 => library.module.unload(),
            handle => module::remove(std::ptr::without_provenance_mut(handle))?,
        }
        Ok(())
    })
}

/// Stores the handle of a kernel of a library.
///
/// # Safety
/// `to` is null or valid for a write; `kernel` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetKernel(
    to: *mut *mut c_void,
    library: *mut c_void,
    kernel: *const c_char,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuLibraryGetKernel", || unsafe { write_out(to, checked(library)?.module.function(name(kernel)?)?) })
}

/// Stores the number of kernels of a library.
///
/// # Safety
/// `count` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetKernelCount(count: *mut c_uint, library: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuLibraryGetKernelCount", || unsafe { write_out(count, checked(library)?.module.kernels().len() as c_uint) })
}

/// Stores the handles of the first `count` kernels of a library.
///
/// # Safety
/// `kernels` is null or valid for `count` writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryEnumerateKernels(
    kernels: *mut *mut c_void,
    count: c_uint,
    library: *mut c_void,
) -> Status {
    enter("cuLibraryEnumerateKernels", || {
        let library = checked(library)?;
        for (number, kernel) in library.module.kernels().into_iter().take(count as usize).enumerate() {
            // SAFETY: the caller upholds this function's contract.
            unsafe { write_out(kernels.wrapping_add(number), library.module.function(kernel)?) }?;
        }
        Ok(())
    })
}

/// Stores the module of a library in the current context.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetModule(to: *mut *mut c_void, library: *mut c_void) -> Status {
    enter("cuLibraryGetModule", || {
        context::usable()?;
        let library = checked(library)?;
        let mut handle = library.handle.lock().unwrap_or_else(PoisonError::into_inner);
        if *handle == 0 {
            *handle = module::insert(library.module.clone()).addr();
        }
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(to, std::ptr::without_provenance_mut(*handle)) }
    })
}

/// Stores the address and the size of a variable of a library.
///
/// # Safety
/// `address` and `bytes` are null or valid for a write; `variable` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetGlobal(
    address: *mut u64,
    bytes: *mut usize,
    library: *mut c_void,
    variable: *const c_char,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuLibraryGetGlobal", || unsafe { give_variable(&checked(library)?.module, address, bytes, variable) })
}

/// Stores the address and the size of a managed variable of a library. All variables are managed.
///
/// # Safety
/// As [`cuLibraryGetGlobal`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLibraryGetManaged(
    address: *mut u64,
    bytes: *mut usize,
    library: *mut c_void,
    variable: *const c_char,
) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuLibraryGetManaged", || unsafe { give_variable(&checked(library)?.module, address, bytes, variable) })
}

/// Stores the function handle of a kernel, which equals the kernel's handle.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetFunction(to: *mut *mut c_void, kernel: *mut c_void) -> Status {
    enter("cuKernelGetFunction", || {
        context::usable()?;
        function::checked(kernel)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(to, kernel) }
    })
}

/// Stores the library of a kernel.
///
/// # Safety
/// `to` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuKernelGetLibrary(to: *mut *mut c_void, kernel: *mut c_void) -> Status {
    enter("cuKernelGetLibrary", || {
        let kernel = function::checked(kernel)?;
        let found = LIBRARIES.all().into_iter().find(|(_, library)| Arc::ptr_eq(&library.module, &kernel.module));
        let (handle, _) = found.ok_or(Status::INVALID_HANDLE)?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(to, std::ptr::without_provenance_mut(handle)) }
    })
}
