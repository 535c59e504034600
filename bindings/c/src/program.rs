//! Programs (loaded objects) and launches of their kernels.

use std::ffi::{CString, c_char};

use halfbyte::abi::Watchdog;

use crate::error::{Error, Status};
use crate::ffi::{self, Out};
use crate::launch::{self, Arg, Shape, Stats};
use crate::module::Module;
use crate::options::Options;

/// Kernels of a loaded object, which can be launched.
pub struct Program {
    program: halfbyte::Program,
    names: Vec<CString>,
    /// File name and text of the source, if the program was built from a module.
    source: Option<(String, String)>,
}

impl Program {
    fn load(object: &[u8], source: Option<(String, String)>) -> Result<Program, Error> {
        let program = halfbyte::Program::load(object).map_err(|error| Error::of_load(&error))?;
        let names = program.kernels().map(|kernel| CString::new(kernel.name()).unwrap_or_default()).collect();
        Ok(Program { program, names, source })
    }

    fn launch(
        &self,
        name: &str,
        shape: Shape,
        args: Vec<launch::LaunchArg<'_>>,
        options: &Options,
    ) -> Result<halfbyte::runtime::Stats, Error> {
        let kernel = self.program.kernel(name).map_err(|error| Error::new(Status::NotFound, error.to_string()))?;
        let args: Result<Vec<_>, Error> =
            args.into_iter().enumerate().map(|(number, arg)| arg.into_arg(number)).collect();
        let kernel = kernel.raw();
        let on = kernel.words().target().to_string();
        let source = self.source.as_ref().map(|(file, text)| (file.as_str(), text.as_str()));
        let failed = |error| Error::of_launch(&error, source.map(|(file, text)| (file, text, None)), &on);
        let watchdog: Watchdog = options.watchdog();
        let mut bound = kernel.bind(args?).map_err(failed)?;
        bound.engine(options.engine).budget(options.budget).watchdog(&watchdog);
        bound.run(shape).map_err(failed)
    }
}

/// Loads an object file. Any bytes may be passed, because the library checks the contents.
///
/// # Safety
/// `length` bytes are at `object`; `out` and `error` are valid for writes, or `error` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_load(
    object: *const u8,
    length: usize,
    out: *mut *mut Program,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller upholds this function's contract, here and below.
    let load = || unsafe {
        let out = Out::new(out, "out")?;
        out.give(Program::load(ffi::slice(object, length, "object")?, None)?);
        Ok(())
    };
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::enter(error, load) }
}

/// Compiles a module and loads the object, as halfbyte_module_compile and halfbyte_program_load do. In addition, errors
/// of launches quote the source line. The module may be freed before the program.
///
/// # Safety
/// As halfbyte_module_compile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_build(
    module: *const Module,
    target: *const c_char,
    sm: u32,
    options: *const Options,
    out: *mut *mut Program,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller upholds this function's contract, here and below.
    let build = || unsafe {
        let out = Out::new(out, "out")?;
        let module = ffi::given(module, "module")?;
        let target = ffi::text(target, crate::HALFBYTE_TO_NUL, "target")?;
        let object = module.compile_for(target, sm, &Options::of(options))?;
        let source = (module.0.file().to_owned(), module.0.text().to_owned());
        out.give(Program::load(&object, Some(source))?);
        Ok(())
    };
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::enter(error, build) }
}

/// Returns the number of kernels in a program, or 0 for null.
///
/// # Safety
/// `program` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_kernels(program: *const Program) -> usize {
    // SAFETY: the caller upholds this function's contract.
    unsafe { program.as_ref() }.map_or(0, |program| program.names.len())
}

/// Returns the name of the kernel with a number, counted from 0, or null if there is no such
/// kernel. The string lives as long as the program.
///
/// # Safety
/// `program` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_kernel(program: *const Program, number: usize) -> *const c_char {
    // SAFETY: the caller upholds this function's contract.
    let name = unsafe { program.as_ref() }.and_then(|program| program.names.get(number));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Launches the kernel with the given name. The arguments are in the order of its parameters. If a launch fails after
/// it began, the contents of the memory that the kernel may write are unspecified.
///
/// # Safety
/// `program` and `options` are valid handles that have not been freed, or `options` is null; `kernel` ends with a zero
/// byte; `count` arguments are at `args`, and the bytes of each argument are valid. Until the launch ends, no other
/// code writes the bytes of an argument, or accesses the bytes of an argument that the kernel may write. `stats` and
/// `error` are null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_launch(
    program: *const Program,
    kernel: *const c_char,
    shape: Shape,
    args: *const Arg,
    count: usize,
    options: *const Options,
    stats: *mut Stats,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller upholds this function's contract, here and below.
    let launch = || unsafe {
        let program = ffi::given(program, "program")?;
        let kernel = ffi::text(kernel, crate::HALFBYTE_TO_NUL, "kernel")?;
        let args = launch::given(args, count)?;
        Stats::give(program.launch(kernel, shape, args, &Options::of(options))?, stats);
        Ok(())
    };
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::enter(error, launch) }
}

/// Frees a program.
///
/// # Safety
/// `program` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_free(program: *mut Program) {
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::free(program) };
}
