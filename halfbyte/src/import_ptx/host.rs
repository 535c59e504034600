//! A kernel in PTX run as it stands, by the interpreter of its text, as native code or on a GPU, on arguments as its import has them.

use halfbyte_abi::meet::Schedule;
use halfbyte_abi::{Alias, Param, Shape};
use halfbyte_import::{Part, Signature, signature, span};
use halfbyte_ir::{Diagnostic, Span};
use halfbyte_isa::ptx::text::Text;
#[cfg(feature = "cache")]
use halfbyte_isa::ptx::types::Space;
use halfbyte_runtime::ptx::{Arg, Globals, Kernel, Launch, LoadError};
use halfbyte_runtime::{LaunchError, TrapKind};
use halfbyte_runtime::{Stats, Translation};

use super::is_approximate;
use crate::Report;
use crate::launch::{Engine, How, OrderCause, OrderDependence, OrderDifference, difference, given, show_aliases};

/// Takes a kernel from a text as it stands, for launches on arguments of the text's own: by its name, or the first one. What other kernels
/// of the text lack does not matter. It shares variables with the other kernels that are loaded with these.
///
/// # Errors
/// What is wrong with the text as an assembler would say, or with the kernel.
pub fn load(file: &str, text: &str, name: Option<&str>, globals: &Globals) -> Result<Kernel, Report> {
    let report = |errors: Vec<Diagnostic>| Report::new(file, text, errors);
    let read = halfbyte_import::read_each(text).map_err(report)?;
    load_of(file, text, &read, name, globals)
}

/// The same of a text that was [read](super::read_each) before.
///
/// # Errors
/// What is wrong with the kernel; there is none.
pub fn load_of(file: &str, text: &str, read: &Text, name: Option<&str>, globals: &Globals) -> Result<Kernel, Report> {
    let report = |errors: Vec<Diagnostic>| Report::new(file, text, errors);
    let wrong = |span, message| report(vec![Diagnostic::new(span, message)]);
    let first =
        || halfbyte_import::first_name(read).ok_or_else(|| wrong(Span::default(), "there is no kernel".to_owned()));
    let name = name.map_or_else(first, Ok)?;
    if let Some(errors) = halfbyte_import::refusal(text, read, name) {
        return Err(report(errors));
    }
    Kernel::load_with(read, name, file, globals).map_err(|error| wrong(place_of(text, &error), error.to_string()))
}

/// Where it stands in a text why a kernel cannot be loaded.
fn place_of(text: &str, error: &LoadError) -> Span {
    match error {
        LoadError::Parameter { loc, .. } | LoadError::Misaligned { loc, .. } => span(text, *loc),
        LoadError::Name(_) | LoadError::Signature | LoadError::Variables { .. } => Span::default(),
    }
}

/// A kernel that can be launched.
#[derive(Debug)]
pub struct Host {
    kernel: Kernel,
    params: Vec<Param>,
    parts: Vec<Part>,
}

impl Host {
    /// Takes the kernel of that name from a text. What other kernels of the text lack does not matter.
    ///
    /// # Errors
    /// What is wrong with the text as an assembler would say, or with the kernel; a parameter of which it is not known what it is.
    pub fn load(file: &str, text: &str, name: &str) -> Result<Host, Report> {
        Host::load_with(file, text, name, &Globals::default())
    }

    /// The same with variables that other kernels of the text have, too: what one launch writes to them the next one finds.
    ///
    /// # Errors
    /// All that is wrong with the text; a parameter of which it is not known what it is.
    pub fn load_with(file: &str, text: &str, name: &str, globals: &Globals) -> Result<Host, Report> {
        let report = |errors: Vec<Diagnostic>| Report::new(file, text, errors);
        let read = halfbyte_import::read_each(text).map_err(report)?;
        let Signature { name, kernel: declared, parts } = signature(text, &read, name).map_err(report)?;
        let kernel = Kernel::load_with(&read, &name, file, globals)
            .map_err(|error| report(vec![Diagnostic::new(place_of(text, &error), error.to_string())]))?;
        Ok(Host { kernel, params: given(&declared), parts })
    }

    /// The parameters, as the import has them.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Whether it has an instruction that GPUs approximate.
    pub fn is_approximate(&self) -> bool {
        is_approximate(self.kernel.entry())
    }

    /// Whether it has variables that a launch may write, and the next one read.
    #[cfg(feature = "cache")]
    pub(super) fn has_variables(&self) -> bool {
        self.kernel.entry().variables.iter().any(|variable| variable.space == Space::Global)
    }

    /// Whether the interpreter runs it where native code is asked for.
    pub fn is_interpreted(&self) -> bool {
        self.kernel.is_interpreted()
    }

    /// What it took to make native code of it; none where none was made.
    pub fn translation(&self) -> Option<Translation> {
        self.kernel.translation()
    }

    /// Runs the kernel's work items on the interpreter, on the bytes of each parameter: over a [`Shape`], or so many blocks of so many
    /// threads.
    ///
    /// # Errors
    /// A trap; arguments that do not fit the parameters.
    pub fn launch(&self, shape: impl Into<Shape>, args: &mut [Vec<u8>]) -> Result<Stats, LaunchError> {
        self.launch_on(Engine::Interp, shape, args)
    }

    /// The same, on another engine or with another budget.
    ///
    /// # Errors
    /// A trap; arguments that do not fit the parameters; an engine that does not run PTX, or a GPU's errors.
    pub fn launch_on<'h>(
        &self,
        how: impl Into<How<'h>>,
        shape: impl Into<Shape>,
        args: &mut [Vec<u8>],
    ) -> Result<Stats, LaunchError> {
        // Each parameter of the text is put together of those of the import.
        let declared = &self.kernel.entry().params;
        let mut values: Vec<Vec<u8>> = declared.iter().map(|param| vec![0; param.bytes() as usize]).collect();
        let mut buffers: Vec<Option<&mut Vec<u8>>> = declared.iter().map(|_| None).collect();
        let How { engine, budget, watchdog, print, aliases, races, schedule, .. } = how.into();
        // By number of the text's own parameters.
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
        let launch = Launch { budget, engine, watchdog, print, races, schedule, ..Launch::new(shape, &mut given) };
        let ran = self.kernel.launch(launch);
        drop(given);
        show_aliases(self.params.iter().map(|param| param.kind), aliases, args);
        ran
    }
}

/// Whether the result of a kernel's only launch, which `after` is, depends on the order of its threads: they are run on to their next barrier or
/// collective operation, the lowest first and the highest first.
///
/// # Errors
/// A limit that was met.
pub fn text_order_dependence(
    (file, text, name): (&str, &str, &str),
    how: How<'_>,
    shape: Shape,
    before: &[Vec<u8>],
    after: &[Vec<u8>],
) -> Result<Option<OrderDependence>, LaunchError> {
    let how = How { engine: Engine::Interp, print: None, ..how };
    // Variables that a launch has written would be found by the next one.
    let differs = |schedule: Schedule| {
        let Ok(host) = Host::load(file, text, name) else { return Ok(None) };
        let mut found = before.to_vec();
        match host.launch_on(How { schedule, ..how }, shape, &mut found) {
            Ok(_) => Ok(difference(after, &found)),
            // Threads that wait in loops take more iterations there.
            Err(LaunchError::Trap(trap)) if matches!(trap.kind, TrapKind::Budget { .. }) => Ok(None),
            Err(LaunchError::Trap(trap)) => Ok(Some(OrderDifference::Failure(trap.kind.to_string()))),
            Err(error) => Err(error),
        }
    };
    let Ok(strong) = Host::load(file, text, name).map(|host| host.kernel.strong_accesses()) else { return Ok(None) };
    if !strong.atomic && !strong.plain {
        return Ok(None);
    }
    for schedule in Schedule::ALL.into_iter().filter(|schedule| matches!(schedule, Schedule::RunOn { .. })) {
        let Some(difference) = differs(schedule)? else { continue };
        // Where it has both, the order of accesses in lockstep tells them apart.
        let of_atomics = strong.atomic && (!strong.plain || differs(Schedule::Descending)?.is_some());
        let cause = if of_atomics { OrderCause::Atomics } else { OrderCause::Lockstep };
        return Ok(Some(OrderDependence { cause, schedule, difference }));
    }
    Ok(None)
}
