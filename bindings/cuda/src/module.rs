//! Modules: PTX texts with their variables and kernels.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_uint, c_void};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use halfbyte::Report;
use halfbyte::import_ptx::{Globals, load_of, read_each};
use halfbyte::isa::ptx::text::ParsedFile;

use crate::context::{self, Context};
use crate::entry::{enter, write_out};
use crate::function::{FUNCTIONS, Function};
use crate::image::{self, ImageError};
use crate::jit_options::JitOptions;
use crate::memory::{self, MemoryKind};
use crate::registry::Registry;
use crate::report;
use crate::settings::settings;
use crate::status::{Result, Status};

/// The modules that programs have loaded, and the modules of libraries.
static MODULES: Registry<Module> = Registry::new();

/// A loaded PTX text.
pub struct Module {
    /// Name of the text in messages.
    pub file: String,
    pub text: String,
    pub read: ParsedFile,
    globals: Globals,
    /// Identifier of the context that the module belongs to; 0 for a library, which belongs to no context.
    context: u64,
    /// The handles of the kernels that a program has requested, by name.
    functions: Mutex<HashMap<String, usize>>,
}

impl Module {
    /// Loads a PTX text. `file` is the name of the text in messages.
    pub fn new(file: &str, text: &str, context: u64) -> std::result::Result<Module, ImageError> {
        let sm = settings().sm;
        let read = read_each(file, text).map_err(|report| ImageError::new(Status::INVALID_PTX, report.to_string()))?;
        let wanted = read.module.target.sm;
        if u32::from(wanted) > sm {
            let message = format!(
                "the PTX is for sm_{wanted}, but the device is sm_{sm}\nhelp: run the program with `--sm {wanted}`, \
                 or compile it for sm_{sm}"
            );
            return Err(ImageError::new(Status::NO_BINARY_FOR_GPU, message));
        }
        let globals = Globals::on_host(&read);
        let module =
            Module { file: file.into(), text: text.into(), read, globals, context, functions: Mutex::default() };
        for (_, allocation) in module.variables() {
            // An address of a new allocation is not in the table.
            let _ = memory::add(allocation.start, allocation.bytes, MemoryKind::Variable, context);
        }
        Ok(module)
    }

    /// Loads an image, and writes an error to the log buffers and to standard error.
    ///
    /// # Safety
    /// As [`image::read`].
    unsafe fn of_image(image: *const c_void, context: u64, options: &JitOptions) -> Result<Module> {
        // SAFETY: the caller upholds this function's contract.
        let text = unsafe { image::read(image) }.and_then(|image| image.ptx(settings().sm));
        options.logged(text.and_then(|text| Module::new("<module>", &text, context)))
    }

    /// Returns the variables in global and constant memory, each with its name.
    fn variables(&self) -> impl Iterator<Item = (&str, halfbyte::runtime::ptx::Allocation)> {
        let names = self.read.module.variables.iter().map(|variable| &*variable.name);
        names.filter_map(|name| Some((name, self.globals.allocation(&self.read, name)?)))
    }

    /// Returns the address and the size of a variable.
    pub fn variable(&self, name: &str) -> Result<(u64, usize)> {
        let allocation = self.globals.allocation(&self.read, name).ok_or(Status::NOT_FOUND)?;
        Ok((allocation.start, allocation.bytes as usize))
    }

    /// Returns the names of all kernels, in the order of the text.
    pub fn kernels(&self) -> Vec<&str> {
        let read = self.read.module.entries.iter().map(|entry| &entry.name);
        read.chain(self.read.refused.iter().map(|refused| &refused.name)).map(String::as_str).collect()
    }

    /// Returns the handle of a kernel. A kernel that halfbyte does not support is reported.
    pub fn function(self: &Arc<Module>, name: &str) -> Result<*mut c_void> {
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&handle) = functions.get(name) {
            return Ok(std::ptr::without_provenance_mut(handle));
        }
        if !self.kernels().contains(&name) {
            return Err(Status::NOT_FOUND);
        }
        let unsupported = |found: Report| {
            report::unsupported(name, &found);
            Status::NOT_SUPPORTED
        };
        let kernel = load_of(&self.file, &self.text, &self.read, Some(name), &self.globals).map_err(unsupported)?;
        let handle = FUNCTIONS.insert(Function::new(self.clone(), kernel));
        functions.insert(name.to_owned(), handle.addr());
        Ok(handle)
    }

    /// Makes the handles of the kernels invalid, and removes the variables from the table of allocations.
    pub fn unload(&self) {
        for (_, handle) in self.functions.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            FUNCTIONS.remove(std::ptr::without_provenance_mut(handle));
        }
        for (_, allocation) in self.variables() {
            memory::remove(allocation.start);
        }
    }
}

/// Unloads all modules of a context.
pub fn unload_all(context: u64) {
    for (handle, module) in MODULES.all() {
        if module.context == context {
            MODULES.remove(std::ptr::without_provenance_mut(handle));
            module.unload();
        }
    }
}

/// Returns the module with the given handle.
pub fn checked(module: *mut c_void) -> Result<Arc<Module>> {
    MODULES.get(module).ok_or(Status::INVALID_HANDLE)
}

/// Returns the handle of a module, if it is loaded as a module.
pub fn handle_of(module: &Arc<Module>) -> Option<*mut c_void> {
    let found = MODULES.all().into_iter().find(|(_, of)| Arc::ptr_eq(of, module));
    found.map(|(handle, _)| std::ptr::without_provenance_mut(handle))
}

/// Adds a module to the loaded modules, and returns its handle.
pub fn insert(module: Arc<Module>) -> *mut c_void {
    MODULES.insert_arc(module)
}

/// Removes a module from the loaded modules, and unloads it.
pub fn remove(module: *mut c_void) -> Result<()> {
    MODULES.remove(module).ok_or(Status::INVALID_HANDLE)?.unload();
    Ok(())
}

/// Reads a C string.
///
/// # Safety
/// `text` is null, or ends with a zero byte and is not written meanwhile.
pub unsafe fn name<'a>(text: *const c_char) -> Result<&'a str> {
    if text.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: the caller upholds this function's contract.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| Status::NOT_FOUND)
}

/// Reads the image in a file, and returns its PTX text.
pub fn read_file(path: &str) -> std::result::Result<String, ImageError> {
    let missing = |error: std::io::Error| ImageError::new(Status::FILE_NOT_FOUND, format!("{path}: {error}"));
    let bytes = std::fs::read(Path::new(path)).map_err(missing)?;
    Ok(image::ptx_of(&bytes, settings().sm)?.into_owned())
}

fn load(module: *mut *mut c_void, make: impl FnOnce(&Context) -> Result<Module>) -> Result<()> {
    let context = context::usable()?;
    if module.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    let made = make(&context)?;
    // SAFETY: the pointer is not null, and the caller of the driver function passes a valid one.
    unsafe { write_out(module, insert(Arc::new(made))) }
}

/// Loads a module from a file with PTX or with a fatbin.
///
/// # Safety
/// `module` is null or valid for a write; `path` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoad(module: *mut *mut c_void, path: *const c_char) -> Status {
    enter("cuModuleLoad", || {
        load(module, |context| {
            // SAFETY: the caller upholds this function's contract.
            let path = unsafe { name(path) }?;
            let text = read_file(path);
            JitOptions::default().logged(text.and_then(|text| Module::new(path, &text, context.id())))
        })
    })
}

/// Loads a module from an image in memory: PTX text, or a fatbin that contains PTX.
///
/// # Safety
/// `module` is null or valid for a write; `image` is null or an image that is not written meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> Status {
    enter("cuModuleLoadData", || {
        // SAFETY: the caller upholds this function's contract.
        load(module, |context| unsafe { Module::of_image(image, context.id(), &JitOptions::default()) })
    })
}

/// Loads a module as [`cuModuleLoadData`] does. Only the log buffers of the options are used.
///
/// # Safety
/// As [`cuModuleLoadData`]. `options` and `values` have `count` elements, and the log buffers have their declared sizes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut *mut c_void,
    image: *const c_void,
    count: c_uint,
    options: *const c_uint,
    values: *mut *mut c_void,
) -> Status {
    enter("cuModuleLoadDataEx", || {
        // SAFETY: the caller upholds this function's contract.
        let options = unsafe { JitOptions::new(count, options, values) }?;
        // SAFETY: as above.
        load(module, |context| unsafe { Module::of_image(image, context.id(), &options) })
    })
}

/// Loads a module from a fatbin that contains PTX.
///
/// # Safety
/// As [`cuModuleLoadData`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadFatBinary(module: *mut *mut c_void, image: *const c_void) -> Status {
    enter("cuModuleLoadFatBinary", || {
        // SAFETY: the caller upholds this function's contract.
        load(module, |context| unsafe { Module::of_image(image, context.id(), &JitOptions::default()) })
    })
}

/// Unloads a module. Its functions become invalid.
#[unsafe(no_mangle)]
pub extern "C" fn cuModuleUnload(module: *mut c_void) -> Status {
    enter("cuModuleUnload", || {
        context::current()?;
        remove(module)
    })
}

/// Stores the loading mode: modules are loaded eagerly.
///
/// # Safety
/// `mode` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetLoadingMode(mode: *mut c_uint) -> Status {
    const EAGER: c_uint = 1;
    // SAFETY: the caller upholds this function's contract.
    enter("cuModuleGetLoadingMode", || unsafe { write_out(mode, EAGER) })
}

/// Stores the handle of a kernel.
///
/// # Safety
/// `function` is null or valid for a write; `kernel` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    kernel: *const c_char,
) -> Status {
    enter("cuModuleGetFunction", || {
        context::usable()?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { write_out(function, checked(module)?.function(name(kernel)?)?) }
    })
}

/// Stores the number of kernels of a module.
///
/// # Safety
/// `count` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunctionCount(count: *mut c_uint, module: *mut c_void) -> Status {
    // SAFETY: the caller upholds this function's contract.
    enter("cuModuleGetFunctionCount", || unsafe { write_out(count, checked(module)?.kernels().len() as c_uint) })
}

/// Stores the handles of the first `count` kernels of a module.
///
/// # Safety
/// `functions` is null or valid for `count` writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleEnumerateFunctions(
    functions: *mut *mut c_void,
    count: c_uint,
    module: *mut c_void,
) -> Status {
    enter("cuModuleEnumerateFunctions", || {
        let module = checked(module)?;
        for (number, kernel) in module.kernels().into_iter().take(count as usize).enumerate() {
            // SAFETY: the caller upholds this function's contract.
            unsafe { write_out(functions.wrapping_add(number), module.function(kernel)?) }?;
        }
        Ok(())
    })
}

/// Stores the address and the size of a variable. Each of the two pointers may be null.
///
/// # Safety
/// `address` and `bytes` are null or valid for a write; `variable` is null or ends with a zero byte.
pub unsafe fn give_variable(
    module: &Module,
    address: *mut u64,
    bytes: *mut usize,
    variable: *const c_char,
) -> Result<()> {
    // SAFETY: the caller upholds this function's contract.
    let (start, size) = module.variable(unsafe { name(variable) }?)?;
    if !address.is_null() {
        // SAFETY: as above.
        unsafe { address.write(start) };
    }
    if !bytes.is_null() {
        // SAFETY: as above.
        unsafe { bytes.write(size) };
    }
    Ok(())
}

/// Stores the address and the size of a variable of a module.
///
/// # Safety
/// As [`give_variable`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetGlobal_v2(
    address: *mut u64,
    bytes: *mut usize,
    module: *mut c_void,
    variable: *const c_char,
) -> Status {
    enter("cuModuleGetGlobal_v2", || {
        context::usable()?;
        // SAFETY: the caller upholds this function's contract.
        unsafe { give_variable(&*checked(module)?, address, bytes, variable) }
    })
}
