//! Texts that are read, and objects that are made of them.

use std::ffi::c_char;

use halfbyte::import_ptx;
use halfbyte::pipeline;
use halfbyte::{Sm, TARGETS, Target};

use crate::border::{self, Out};
use crate::error::{Error, Status};
use crate::options::Options;

/// Kernels of a text.
pub struct Module(pub(crate) halfbyte::Module);

/// Machine code of kernels, as a file has it.
pub struct Object(Vec<u8>);

/// The target of a name. `sm` chooses among those of PTX; 0 is the usual one.
fn target(name: &str, sm: u32) -> Result<Target, Error> {
    let unknown =
        || Error::new(Status::NotFound, format!("there is no target `{name}`; there are {}", TARGETS.names()));
    let target = TARGETS.named(name).ok_or_else(unknown)?;
    if sm == 0 {
        return Ok(target);
    }
    let found = u16::try_from(sm).ok().and_then(Sm::new).and_then(|sm| TARGETS.for_sm(target, sm));
    found.ok_or_else(|| Error::new(Status::NotFound, format!("target `{name}` has no sm_{sm}")))
}

impl Module {
    /// The object of all kernels.
    pub(crate) fn compile(&self, target: Target, options: &Options) -> Result<Vec<u8>, Error> {
        let options = pipeline::Options { watchdog: Some(options.watchdog()), ..pipeline::Options::new(target) };
        let binary = self.0.compile_with(&options).map_err(|error| Error::of_compile(&self.0, &error))?;
        Ok(binary.object)
    }

    /// The same for a target of that name.
    pub(crate) fn compile_for(&self, name: &str, sm: u32, options: &Options) -> Result<Vec<u8>, Error> {
        self.compile(target(name, sm)?, options)
    }
}

/// Reads a text: PTX, to be translated, where `file` ends in `.ptx`, else the IR (docs/ir.md). `file` is what errors call the text, and may
/// be null; `length` may be HALFBYTE_TO_NUL.
///
/// # Safety
/// `file` is null or ends with a zero; `text` has so many bytes, or ends with a zero; `out` and `error` may be written, `error` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_module_parse(
    file: *const c_char,
    text: *const c_char,
    length: usize,
    options: *const Options,
    out: *mut *mut Module,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's contract, here and below.
    let parse = || unsafe {
        let out = Out::new(out, "out")?;
        let (file, text) = (border::name(file, "file", "<text>")?, border::text(text, length, "text")?);
        Options::of(options).check_text(text)?;
        let module = halfbyte::Module::open(file, text, import_ptx::Options::default());
        out.give(Module(module.map_err(|report| Error::of_report(Status::Parse, &report))?));
        Ok(())
    };
    // SAFETY: the caller's contract.
    unsafe { border::enter(error, parse) }
}

/// Frees a module.
///
/// # Safety
/// `module` is null, or was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_module_free(module: *mut Module) {
    // SAFETY: the caller's contract.
    unsafe { border::free(module) };
}

/// How many kernels a module has; 0 of null.
///
/// # Safety
/// As halfbyte_module_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_module_kernels(module: *const Module) -> usize {
    // SAFETY: the caller's contract.
    unsafe { module.as_ref() }.map_or(0, |module| module.0.ir().kernels.len())
}

/// Compiles all kernels of a module for "halu", "vp1" or "ptx", there for an SM version such as 90; `sm` is 0 for the usual one.
///
/// # Safety
/// `module` was given out and has not been freed, and so were `options` where they are not null; `target` ends with a zero; `out` and
/// `error` may be written, `error` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_module_compile(
    module: *const Module,
    target: *const c_char,
    sm: u32,
    options: *const Options,
    out: *mut *mut Object,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's contract, here and below.
    let compile = || unsafe {
        let out = Out::new(out, "out")?;
        let module = border::given(module, "module")?;
        let name = border::text(target, crate::HALFBYTE_TO_NUL, "target")?;
        out.give(Object(module.compile_for(name, sm, &Options::of(options))?));
        Ok(())
    };
    // SAFETY: the caller's contract.
    unsafe { border::enter(error, compile) }
}

/// The bytes of an object, which live as long as it does; `length` becomes how many there are. Null and 0 of null.
///
/// # Safety
/// `object` is null, or was given out and has not been freed; `length` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_object_bytes(object: *const Object, length: *mut usize) -> *const u8 {
    // SAFETY: the caller's contract.
    let bytes = unsafe { object.as_ref() }.map(|Object(bytes)| bytes.as_slice());
    if !length.is_null() {
        // SAFETY: the caller's contract.
        unsafe { length.write(bytes.map_or(0, <[u8]>::len)) };
    }
    bytes.map_or(std::ptr::null(), <[u8]>::as_ptr)
}

/// Frees an object.
///
/// # Safety
/// `object` is null, or was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_object_free(object: *mut Object) {
    // SAFETY: the caller's contract.
    unsafe { border::free(object) };
}
