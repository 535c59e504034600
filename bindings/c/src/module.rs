//! Modules (parsed texts) and objects (compiled modules).

use std::ffi::c_char;

use halfbyte::import_ptx;
use halfbyte::pipeline;
use halfbyte::{Sm, TARGETS, Target};

use crate::error::{Error, Status};
use crate::ffi::{self, Out};
use crate::options::Options;

/// Kernels of a parsed source text.
pub struct Module(pub(crate) halfbyte::Module);

/// Object file with the machine code of kernels.
pub struct Object(Vec<u8>);

/// Returns the target with the given name. `sm` is the SM version of PTX, such as 90, or 0 for the default.
fn target(name: &str, sm: u32) -> Result<Target, Error> {
    let unknown =
        || Error::new(Status::NotFound, format!("unknown target `{name}`; expected one of {}", TARGETS.names()));
    let target = TARGETS.named(name).ok_or_else(unknown)?;
    if sm == 0 {
        return Ok(target);
    }
    let found = u16::try_from(sm).ok().and_then(Sm::new).and_then(|sm| TARGETS.for_sm(target, sm));
    found.ok_or_else(|| Error::new(Status::NotFound, format!("target `{name}` has no sm_{sm}")))
}

impl Module {
    /// Compiles all kernels to an object file.
    pub(crate) fn compile(&self, target: Target, options: &Options) -> Result<Vec<u8>, Error> {
        let options = pipeline::Options { watchdog: Some(options.watchdog()), ..pipeline::Options::new(target) };
        let binary = self.0.compile_with(&options).map_err(|error| Error::of_compile(&self.0, &error))?;
        Ok(binary.object)
    }

    /// Compiles all kernels to an object file, for the target with the given name.
    pub(crate) fn compile_for(&self, name: &str, sm: u32, options: &Options) -> Result<Vec<u8>, Error> {
        self.compile(target(name, sm)?, options)
    }
}

/// Parses a text. If `file` ends in `.ptx`, the text is PTX, and its kernels are imported.
/// Otherwise the text is the IR or the kernel language (docs/ir.md, docs/language.md). `file` is
/// the name of the text in messages, and may be null. `length` may be HALFBYTE_TO_NUL.
///
/// # Safety
/// `file` is null or ends with a zero byte; `text` has `length` bytes, or ends with a zero byte;
/// `out` and `error` are valid for writes, or `error` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_module_parse(
    file: *const c_char,
    text: *const c_char,
    length: usize,
    options: *const Options,
    out: *mut *mut Module,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller upholds this function's contract, here and below.
    let parse = || unsafe {
        let out = Out::new(out, "out")?;
        let (file, text) = (ffi::name(file, "file", "<text>")?, ffi::text(text, length, "text")?);
        Options::of(options).check_text(text)?;
        let module = halfbyte::Module::open(file, text, import_ptx::Options::default());
        out.give(Module(module.map_err(|report| Error::of_report(Status::Parse, &report))?));
        Ok(())
    };
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::enter(error, parse) }
}

/// Frees a module.
///
/// # Safety
/// `module` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_module_free(module: *mut Module) {
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::free(module) };
}

/// Returns the number of kernels in a module, or 0 for null.
///
/// # Safety
/// `module` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_module_kernels(module: *const Module) -> usize {
    // SAFETY: the caller upholds this function's contract.
    unsafe { module.as_ref() }.map_or(0, |module| module.0.ir().kernels.len())
}

/// Compiles all kernels of a module for the target "halu", "vp1" or "ptx". `sm` is the SM version
/// of PTX, such as 90, or 0 for the default.
///
/// # Safety
/// `module` and `options` are valid handles that have not been freed, or `options` is null;
/// `target` ends with a zero byte; `out` and `error` are valid for writes, or `error` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_module_compile(
    module: *const Module,
    target: *const c_char,
    sm: u32,
    options: *const Options,
    out: *mut *mut Object,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller upholds this function's contract, here and below.
    let compile = || unsafe {
        let out = Out::new(out, "out")?;
        let module = ffi::given(module, "module")?;
        let name = ffi::text(target, crate::HALFBYTE_TO_NUL, "target")?;
        out.give(Object(module.compile_for(name, sm, &Options::of(options))?));
        Ok(())
    };
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::enter(error, compile) }
}

/// Returns the address of the bytes of an object, and stores their number in `length`. The bytes live as long as the
/// object. For null, returns null and stores 0.
///
/// # Safety
/// `object` is null, or a valid handle that has not been freed; `length` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_object_bytes(object: *const Object, length: *mut usize) -> *const u8 {
    // SAFETY: the caller upholds this function's contract.
    let bytes = unsafe { object.as_ref() }.map(|Object(bytes)| bytes.as_slice());
    if !length.is_null() {
        // SAFETY: the caller upholds this function's contract.
        unsafe { length.write(bytes.map_or(0, <[u8]>::len)) };
    }
    bytes.map_or(std::ptr::null(), <[u8]>::as_ptr)
}

/// Frees an object.
///
/// # Safety
/// `object` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_object_free(object: *mut Object) {
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::free(object) };
}
