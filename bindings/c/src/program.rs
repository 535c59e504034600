//! Programs: objects that are loaded, and launches of their kernels.

use std::ffi::{CString, c_char};

use halfbyte::abi::Watchdog;

use crate::border::{self, Out};
use crate::error::{Error, Status};
use crate::launch::{self, Arg, Shape, Stats};
use crate::module::Module;
use crate::options::Options;

/// Kernels that can be launched.
pub struct Program {
    program: halfbyte::Program,
    names: Vec<CString>,
    /// The text that they are of, by its file, where that is known.
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
        args: Vec<launch::Given<'_>>,
        options: &Options,
    ) -> Result<halfbyte::runtime::Stats, Error> {
        let kernel = self.program.kernel(name).map_err(|error| Error::new(Status::NotFound, error.to_string()))?;
        let args: Result<Vec<_>, Error> =
            args.into_iter().enumerate().map(|(number, arg)| arg.into_arg(number)).collect();
        let kernel = kernel.raw();
        let on = kernel.words().target().to_string();
        let source = self.source.as_ref().map(|(file, text)| (file.as_str(), text.as_str()));
        let failed = |error| Error::of_launch(&error, source, &on);
        let watchdog: Watchdog = options.watchdog();
        let mut bound = kernel.bind(args?).map_err(failed)?;
        bound.engine(options.engine).budget(options.budget).watchdog(&watchdog);
        bound.run(shape).map_err(failed)
    }
}

/// Loads an object. It is checked: any bytes may be given.
///
/// # Safety
/// So many bytes are at `object`; `out` and `error` may be written, `error` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_load(
    object: *const u8,
    length: usize,
    out: *mut *mut Program,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller's contract, here and below.
    let load = || unsafe {
        let out = Out::new(out, "out")?;
        out.give(Program::load(border::slice(object, length, "object")?, None)?);
        Ok(())
    };
    // SAFETY: the caller's contract.
    unsafe { border::enter(error, load) }
}

/// Compiles a module and loads what comes of it: halfbyte_module_compile and halfbyte_program_load at once. Errors of its launches show
/// the line of the text. The module may be freed before the program is.
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
    // SAFETY: the caller's contract, here and below.
    let build = || unsafe {
        let out = Out::new(out, "out")?;
        let module = border::given(module, "module")?;
        let target = border::text(target, crate::HALFBYTE_TO_NUL, "target")?;
        let object = module.compile_for(target, sm, &Options::of(options))?;
        let source = (module.0.file().to_owned(), module.0.text().to_owned());
        out.give(Program::load(&object, Some(source))?);
        Ok(())
    };
    // SAFETY: the caller's contract.
    unsafe { border::enter(error, build) }
}

/// How many kernels a program has; 0 of null.
///
/// # Safety
/// `program` is null, or was given out and has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_kernels(program: *const Program) -> usize {
    // SAFETY: the caller's contract.
    unsafe { program.as_ref() }.map_or(0, |program| program.names.len())
}

/// The name of a kernel by its number, which lives as long as the program; null where there is none.
///
/// # Safety
/// As halfbyte_program_kernels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_kernel(program: *const Program, number: usize) -> *const c_char {
    // SAFETY: the caller's contract.
    let name = unsafe { program.as_ref() }.and_then(|program| program.names.get(number));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
}

/// Launches the kernel of a name on arguments in the order of its parameters. After an error of a launch that had begun, the memory that it
/// may write holds no result.
///
/// # Safety
/// `program` was given out and has not been freed, and so were `options` where they are not null; `kernel` ends with a zero; so many
/// arguments are at `args`, and the bytes of each are there, which nobody else touches until the launch ends where they may be written, and
/// else nobody writes; `stats` and `error` may be written, or are null.
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
    // SAFETY: the caller's contract, here and below.
    let launch = || unsafe {
        let program = border::given(program, "program")?;
        let kernel = border::text(kernel, crate::HALFBYTE_TO_NUL, "kernel")?;
        let args = launch::given(args, count)?;
        Stats::give(program.launch(kernel, shape, args, &Options::of(options))?, stats);
        Ok(())
    };
    // SAFETY: the caller's contract.
    unsafe { border::enter(error, launch) }
}

/// Frees a program.
///
/// # Safety
/// As halfbyte_program_kernels.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_program_free(program: *mut Program) {
    // SAFETY: the caller's contract.
    unsafe { border::free(program) };
}
