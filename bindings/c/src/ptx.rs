//! Direct execution of PTX kernels.

use std::collections::HashMap;
use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

use halfbyte::Report;
use halfbyte::import_ptx::{self, Globals, with_sources};
use halfbyte::ir::diag::{Diagnostic, Lines};
use halfbyte::isa::ptx::text::ParsedFile;
use halfbyte::launch::race_warning;
use halfbyte::runtime::{self, LaunchError, Trap, ptx};

use crate::error::{Error, Status};
use crate::ffi::{self, Out};
use crate::launch::{self, Arg, Shape, Stats};
use crate::options::Options;

/// Parsed PTX text with the contents of its variables.
pub struct Ptx {
    file: String,
    text: String,
    read: ParsedFile,
    globals: Globals,
    /// Kernels that have been launched, by name. The empty name is that of the first kernel.
    kernels: Mutex<HashMap<String, ptx::Kernel>>,
}

impl Ptx {
    /// Parses a PTX text. `globals` creates its variables.
    pub(crate) fn new(file: &str, text: &str, globals: impl FnOnce(&ParsedFile) -> Globals) -> Result<Ptx, Error> {
        let read = import_ptx::read_each(file, text).map_err(|report| Error::of_report(Status::Parse, &report))?;
        let (file, text, globals) = (file.to_owned(), text.to_owned(), globals(&read));
        Ok(Ptx { file, text, read, globals, kernels: Mutex::default() })
    }

    /// Returns the kernel of the text with the given name, or the first kernel if the name is empty.
    pub(crate) fn kernel(&self, name: &str) -> Result<ptx::Kernel, Error> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(name) {
            return Ok(kernel.clone());
        }
        let is_there = name.is_empty()
            || self.read.module.entries.iter().any(|entry| entry.name == name)
            || self.read.refused.iter().any(|refused| refused.name == name);
        let wanted = Some(name).filter(|name| !name.is_empty());
        let status = if is_there { Status::Parse } else { Status::NotFound };
        let kernel = import_ptx::load_of(&self.file, &self.text, &self.read, wanted, &self.globals)
            .map_err(|report| Error::of_report(status, &report))?;
        kernels.insert(name.to_owned(), kernel.clone());
        Ok(kernel)
    }

    /// Returns `true` if a launch has changed the contents of a variable.
    pub(crate) fn is_written(&self) -> bool {
        self.globals.are_written(&self.read)
    }

    /// Creates the error of a failed launch, with the quoted source line.
    pub(crate) fn failed(&self, error: &LaunchError) -> Error {
        Error::of_launch(error, Some((&self.file, &self.text, Some(&self.read))), "ptx")
    }

    fn launch(
        &self,
        name: &str,
        shape: Shape,
        args: Vec<launch::LaunchArg<'_>>,
        options: &Options,
    ) -> Result<runtime::Stats, Error> {
        let kernel = self.kernel(name)?;
        let mut args: Vec<ptx::Arg<'_>> = args.into_iter().map(launch::LaunchArg::into_ptx).collect();
        let watchdog = options.watchdog();
        self.reporting(options, |print, warn| {
            let launch = ptx::Launch {
                budget: options.budget,
                engine: options.engine,
                watchdog: Some(&watchdog),
                races: options.races,
                warn: Some(warn),
                cooperative: options.cooperative,
                print,
                ..ptx::Launch::new(shape, &mut args)
            };
            kernel.launch(launch)
        })
    }

    /// Calls `launch` with the receivers of the kernel's output and of its warnings. Passes the warnings to the
    /// callback of the options, and quotes the source line in an error.
    pub(crate) fn reporting<T>(
        &self,
        options: &Options,
        launch: impl FnOnce(Option<ptx::Print<'_>>, ptx::Warn<'_>) -> Result<T, LaunchError>,
    ) -> Result<T, Error> {
        let warnings = Mutex::new(Vec::new());
        let warn = |race: &Trap| warnings.lock().unwrap_or_else(PoisonError::into_inner).push(self.warning(race));
        let ran = options.printing(|print| launch(print, ptx::Warn(&warn)).map_err(|error| self.failed(&error)));
        let warnings = warnings.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !warnings.is_empty() {
            options.warn(&Report::warnings(&*self.file, &*self.text, warnings));
        }
        ran
    }

    fn warning(&self, race: &Trap) -> Diagnostic {
        let lines = Lines::new(&self.text);
        with_sources(race_warning(race, &lines, "ptx"), &lines, &self.read)
    }
}

/// Parses a PTX text for direct execution. An error in one kernel does not affect the other
/// kernels; it is reported when the kernel is launched. `file` is the name of the text in messages,
/// and may be null. `length` may be HALFBYTE_TO_NUL.
///
/// # Safety
/// As halfbyte_module_parse.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_load(
    file: *const c_char,
    text: *const c_char,
    length: usize,
    options: *const Options,
    out: *mut *mut Ptx,
    error: *mut *mut Error,
) -> Status {
    // SAFETY: the caller upholds this function's contract, here and below.
    let load = || unsafe {
        let out = Out::new(out, "out")?;
        let (file, text) = (ffi::name(file, "file", "<ptx>")?, ffi::text(text, length, "text")?);
        Options::of(options).check_text(text)?;
        out.give(Ptx::new(file, text, |_| Globals::default())?);
        Ok(())
    };
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::enter(error, load) }
}

/// Launches the kernel with the given name, or the first kernel if `kernel` is null. The arguments
/// are in the order of the kernel's parameters: memory or an alias for each pointer, and a value
/// for each other parameter. Variables of the text keep their values between launches. If a launch
/// fails after it began, the contents of the memory that the kernel may write are unspecified.
///
/// # Safety
/// As halfbyte_program_launch; `kernel` may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_launch(
    ptx: *const Ptx,
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
        let ptx = ffi::given(ptx, "ptx")?;
        let kernel = ffi::name(kernel, "kernel", "")?;
        let args = launch::given(args, count)?;
        Stats::give(ptx.launch(kernel, shape, args, &Options::of(options))?, stats);
        Ok(())
    };
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::enter(error, launch) }
}

/// Frees a PTX text.
///
/// # Safety
/// `ptx` is null, or a valid handle that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halfbyte_ptx_free(ptx: *mut Ptx) {
    // SAFETY: the caller upholds this function's contract.
    unsafe { ffi::free(ptx) };
}
