//! Direct execution of PTX kernels by the interpreter, in native code or on a GPU. The arguments
//! are those that the imported kernel takes.

use halfbyte_abi::cooperative::Schedule;
use halfbyte_abi::{Alias, Param, Shape};
use halfbyte_import::{ParameterRange, Signature, signature, span};
use halfbyte_ir::{Diagnostic, Span};
use halfbyte_isa::ptx::text::ParsedFile;
#[cfg(feature = "cache")]
use halfbyte_isa::ptx::types::Space;
use halfbyte_runtime::ptx::{Arg, Globals, Kernel, Launch, LoadError};
use halfbyte_runtime::{LaunchError, TrapKind};
use halfbyte_runtime::{Stats, Translation};

use super::is_approximate;
use crate::Report;
use crate::launch::{
    Engine, LaunchOptions, OrderCause, OrderDependence, OrderDifference, difference, given, show_aliases,
};

/// Loads a kernel from a PTX text for direct execution: the kernel `name`, or the first kernel if
/// `name` is `None`. Errors in other kernels of the text are ignored. The kernel takes the
/// parameters of its PTX text. It shares variables with other kernels that are loaded with the same
/// `globals`.
///
/// # Errors
/// Returns the syntax errors of the text, or the errors of the kernel.
pub fn load(file: &str, text: &str, name: Option<&str>, globals: &Globals) -> Result<Kernel, Report> {
    let report = |errors: Vec<Diagnostic>| Report::new(file, text, errors);
    let read = halfbyte_import::read_each(text).map_err(report)?;
    load_of(file, text, &read, name, globals)
}

/// Loads a kernel as [`load`] does, from a text that [`read_each`](super::read_each) has parsed.
///
/// # Errors
/// Returns the errors of the kernel, or an error if the text has no such kernel.
pub fn load_of(
    file: &str,
    text: &str,
    read: &ParsedFile,
    name: Option<&str>,
    globals: &Globals,
) -> Result<Kernel, Report> {
    let report = |errors: Vec<Diagnostic>| Report::new(file, text, errors);
    let wrong = |span, message| report(vec![Diagnostic::new(span, message)]);
    let first = || {
        halfbyte_import::first_name(read).ok_or_else(|| wrong(Span::default(), "the text has no kernels".to_owned()))
    };
    let name = name.map_or_else(first, Ok)?;
    if let Some(errors) = halfbyte_import::refusal(text, read, name) {
        return Err(report(errors));
    }
    Kernel::load_with(read, name, file, globals).map_err(|error| wrong(place_of(text, &error), error.to_string()))
}

/// Returns the span of a load error in the PTX text.
fn place_of(text: &str, error: &LoadError) -> Span {
    match error {
        LoadError::Parameter { loc, .. } | LoadError::Misaligned { loc, .. } => span(text, *loc),
        LoadError::Name(_) | LoadError::Signature | LoadError::Variables { .. } => Span::default(),
    }
}

/// A PTX kernel that is executed directly, with the arguments of the imported kernel.
#[derive(Debug)]
pub struct Host {
    kernel: Kernel,
    params: Vec<Param>,
    parts: Vec<ParameterRange>,
}

impl Host {
    /// Loads the kernel `name` from a PTX text. Errors in other kernels of the text are ignored.
    ///
    /// # Errors
    /// Returns the syntax errors of the text, or the errors of the kernel, such as a parameter
    /// whose kind cannot be inferred.
    pub fn load(file: &str, text: &str, name: &str) -> Result<Host, Report> {
        Host::load_with(file, text, name, &Globals::default())
    }

    /// Loads a kernel that shares variables with other kernels of the text through `globals`. The
    /// variables keep their contents between launches.
    ///
    /// # Errors
    /// Returns the errors of the text, or an error for a parameter whose kind cannot be inferred.
    pub fn load_with(file: &str, text: &str, name: &str, globals: &Globals) -> Result<Host, Report> {
        let report = |errors: Vec<Diagnostic>| Report::new(file, text, errors);
        Host::load_of(file, text, &halfbyte_import::read_each(text).map_err(report)?, name, globals)
    }

    /// Loads a kernel as [`Host::load_with`] does, from a text that [`read_each`](super::read_each) has parsed.
    ///
    /// # Errors
    /// Returns the errors of the kernel, or an error for a parameter whose kind cannot be inferred.
    pub fn load_of(file: &str, text: &str, read: &ParsedFile, name: &str, globals: &Globals) -> Result<Host, Report> {
        let report = |errors: Vec<Diagnostic>| Report::new(file, text, errors);
        let Signature { name, kernel: declared, parts } = signature(text, read, name).map_err(report)?;
        let kernel = Kernel::load_with(read, &name, file, globals)
            .map_err(|error| report(vec![Diagnostic::new(place_of(text, &error), error.to_string())]))?;
        Ok(Host { kernel, params: given(&declared), parts })
    }

    /// Returns the parameters of the imported kernel, for which arguments are passed.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Returns `true` if the kernel has an instruction whose result GPUs approximate.
    pub fn is_approximate(&self) -> bool {
        is_approximate(self.kernel.entry())
    }

    /// Returns `true` if the kernel has variables that keep their contents between launches.
    #[cfg(feature = "cache")]
    pub(super) fn has_variables(&self) -> bool {
        self.kernel.entry().variables.iter().any(|variable| variable.space == Space::Global)
    }

    /// Returns `true` if the native engine falls back to the interpreter for this kernel.
    pub fn is_interpreted(&self) -> bool {
        self.kernel.is_interpreted()
    }

    /// Returns the statistics of the translation to native code, if it has taken place.
    pub fn translation(&self) -> Option<Translation> {
        self.kernel.translation()
    }

    /// Launches the kernel in the interpreter. `args` holds the bytes of each argument. The shape
    /// is a [`Shape`], or a number of blocks and a number of threads per block.
    ///
    /// # Errors
    /// Returns a trap, or an error if the arguments do not fit the parameters.
    pub fn launch(&self, shape: impl Into<Shape>, args: &mut [Vec<u8>]) -> Result<Stats, LaunchError> {
        self.launch_on(Engine::Interp, shape, args)
    }

    /// Launches the kernel with the given engine and options.
    ///
    /// # Errors
    /// Returns a trap, or an error if the arguments do not fit the parameters, or if the engine
    /// does not support PTX. On a GPU also returns errors of the driver.
    pub fn launch_on<'h>(
        &self,
        how: impl Into<LaunchOptions<'h>>,
        shape: impl Into<Shape>,
        args: &mut [Vec<u8>],
    ) -> Result<Stats, LaunchError> {
        // One parameter of the PTX text may correspond to several parameters of the imported kernel.
        let declared = &self.kernel.entry().params;
        let mut values: Vec<Vec<u8>> = declared.iter().map(|param| vec![0; param.bytes() as usize]).collect();
        let mut buffers: Vec<Option<&mut Vec<u8>>> = declared.iter().map(|_| None).collect();
        let LaunchOptions {
            engine, budget, watchdog, print, aliases, races, warn, schedule, trace, cooperative, ..
        } = how.into();
        // The aliases are converted to parameter indices of the PTX text.
        let place = |param: usize| self.parts.get(param).map(|part| part.param as usize);
        let placed = |alias: &Alias| Some((place(alias.param)?, place(alias.of)?, alias.offset));
        let placed: Vec<(usize, usize, u64)> = aliases.iter().filter_map(placed).collect();
        for (part, bytes) in self.parts.iter().zip(&mut *args) {
            let number = part.param as usize;
            if part.is_buffer {
                if let Some(buffer) = buffers.get_mut(number) {
                    *buffer = Some(bytes);
                }
            } else if let Some(value) = values.get_mut(number).and_then(|value| value.get_mut(part.offset as usize..)) {
                value.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
            }
        }
        let alias_of = |number: usize| placed.iter().find(|(param, ..)| *param == number);
        let mut given: Vec<Arg<'_>> = (values.iter().zip(buffers).enumerate())
            .map(|(number, (value, buffer))| match (buffer, alias_of(number)) {
                (_, Some(&(_, of, offset))) => Arg::Alias { of, offset },
                (Some(buffer), None) => Arg::Buffer(buffer),
                (None, None) => Arg::Value(value),
            })
            .collect();
        let launch = Launch::new(shape, &mut given);
        let launch = Launch { budget, engine, watchdog, print, races, warn, schedule, trace, cooperative, ..launch };
        let ran = self.kernel.launch(launch);
        drop(given);
        show_aliases(self.params.iter().map(|param| param.kind), aliases, args);
        ran
    }
}

/// Checks whether the result of a launch of a PTX kernel depends on the order of its threads.
/// `before` and `after` are the arguments before and after this launch. The check launches the
/// kernel again, with threads that run until their next barrier or collective operation: once in
/// ascending and once in descending order. `load` loads the kernel with the contents that its
/// variables had before the launch. Returns `None` if no dependence was found.
///
/// # Errors
/// Returns the limit that was exceeded.
pub fn text_order_dependence(
    load: &dyn Fn() -> Result<Host, Report>,
    how: LaunchOptions<'_>,
    shape: Shape,
    before: &[Vec<u8>],
    after: &[Vec<u8>],
) -> Result<Option<OrderDependence>, LaunchError> {
    let how = LaunchOptions { engine: Engine::Interp, print: None, warn: None, trace: None, ..how };
    // The kernel is loaded separately for each launch, because its variables persist between launches.
    let differs = |schedule: Schedule| {
        let Ok(host) = load() else { return Ok(None) };
        let mut found = before.to_vec();
        match host.launch_on(LaunchOptions { schedule, ..how }, shape, &mut found) {
            Ok(_) => Ok(difference(after, &found)),
            // A thread that spins in a loop may take more iterations in another order, so an
            // exceeded budget proves nothing.
            Err(LaunchError::Trap(trap)) if matches!(trap.kind, TrapKind::Budget { .. }) => Ok(None),
            Err(LaunchError::Trap(trap)) => Ok(Some(OrderDifference::Failure(trap.kind.to_string()))),
            Err(error) => Err(error),
        }
    };
    let Ok(strong) = load().map(|host| host.kernel.strong_accesses()) else { return Ok(None) };
    if !strong.atomic && !strong.plain {
        return Ok(None);
    }
    for schedule in Schedule::ALL.into_iter().filter(|schedule| matches!(schedule, Schedule::RunOn { .. })) {
        let Some(difference) = differs(schedule)? else { continue };
        // If the kernel has both kinds of strong accesses, a launch in lockstep in descending order
        // tells which kind is the cause.
        let of_atomics = strong.atomic && (!strong.plain || differs(Schedule::Descending)?.is_some());
        let cause = if of_atomics { OrderCause::Atomics } else { OrderCause::Lockstep };
        return Ok(Some(OrderDependence { cause, schedule, difference }));
    }
    Ok(None)
}
