//! Conversion of errors to Python exceptions. The package's `_errors.py` defines the exception classes.

use halfbyte::abi::{Exceeded, Shape, buffer_near};
use halfbyte::import_ptx::with_sources;
use halfbyte::ir::diag::{Diagnostic, Lines};
use halfbyte::ir::eval::{self, Fault};
use halfbyte::ir::{Kernel, Span};
use halfbyte::isa::object::Loc;
use halfbyte::isa::ptx::text::ParsedFile;
use halfbyte::launch::{fault_diagnostic, launch_diagnostic, race_diagnostic, race_warning};
use halfbyte::runtime::{ConflictingAccess, LaunchError, Trap, TrapKind};
use halfbyte::{CompileError, Module, Report};
use halfbyte_testkit::harness::FailureKind;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::bind::Signature;
use crate::launch::Launch;

/// Creates an exception of the package, given its class name, message and attributes.
fn raise(py: Python<'_>, class: &str, message: &str, attributes: &Bound<'_, PyDict>) -> PyErr {
    let made =
        py.import("halfbyte._errors").and_then(|errors| errors.getattr(class)?.call((message,), Some(attributes)));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Creates an exception of the package that has a message but no attributes.
pub(crate) fn plain(py: Python<'_>, class: &str, message: &str) -> PyErr {
    raise(py, class, message, &PyDict::new(py))
}

/// Creates a dictionary with the attributes of an exception. If memory is exhausted, the resulting
/// exception is returned instead.
macro_rules! attributes {
    ($py:expr, $($name:ident = $value:expr),* $(,)?) => {{
        let attributes = PyDict::new($py);
        $(if let Err(error) = attributes.set_item(stringify!($name), $value) { return error; })*
        attributes
    }};
}

/// Converts a report of errors in a text to an exception.
pub(crate) fn of_report(py: Python<'_>, report: &Report) -> PyErr {
    let lines = report.lines();
    let all = PyList::empty(py);
    let one = |diagnostic: &Diagnostic| report.with([diagnostic.clone()]);
    for diagnostic in report.diagnostics() {
        let error = of_diagnostic(py, report.file(), &lines, diagnostic, &one(diagnostic).to_string(), None);
        if let Err(error) = all.append(error.into_value(py)) {
            return error;
        }
    }
    let nothing = Diagnostic::new(Span::default(), "the text is refused");
    let first = report.diagnostics().first().unwrap_or(&nothing);
    of_diagnostic(py, report.file(), &lines, first, &report.to_string(), Some(all))
}

fn of_diagnostic(
    py: Python<'_>,
    file: &str,
    lines: &Lines<'_>,
    diagnostic: &Diagnostic,
    shown: &str,
    all: Option<Bound<'_, PyList>>,
) -> PyErr {
    let place = lines.position(diagnostic.span.start);
    let message = diagnostic.to_string();
    let attributes =
        attributes!(py, file = file, line = place.line, column = place.column, message = message, all = all);
    raise(py, "ParseError", shown, &attributes)
}

/// Converts an error of the compiler to an exception.
pub(crate) fn of_compile(py: Python<'_>, module: &Module, error: CompileError) -> PyErr {
    let shown = module.report(error.clone()).to_string();
    let refused = |items: Vec<(Option<String>, Loc, String, String)>| {
        let list = PyList::empty(py);
        for (op, loc, target, reason) in items {
            let line = loc.is_known().then_some(loc.line);
            let attributes = attributes!(py, op = op, line = line, target = target, reason = reason);
            let made = py
                .import("halfbyte._errors")
                .and_then(|errors| errors.getattr("RefusedItem")?.call((), Some(&attributes)));
            if let Err(error) = made.and_then(|item| list.append(item)) {
                return error;
            }
        }
        raise(py, "Refused", &shown, &attributes!(py, items = list))
    };
    match error {
        CompileError::Refused(all) => refused(
            all.into_iter()
                .map(|of| {
                    let op = of.refusal.op.map(|(op, ty)| format!("{}.{ty}", op.name()));
                    let reason =
                        of.refusal.reason.as_ref().map_or_else(|| of.refusal.to_string(), |why| why.why.to_string());
                    (op, of.at.loc, of.refusal.target.to_owned(), reason)
                })
                .collect(),
        ),
        CompileError::TooLarge(of) => {
            let reason = CompileError::TooLarge(of.clone()).to_string();
            refused(vec![(None, of.at.loc, of.target.name().to_owned(), reason)])
        }
        CompileError::Invalid(_) => of_report(py, &module.report(error)),
        CompileError::Cancelled { .. } => plain(py, "Cancelled", &shown),
        _ => plain(py, "Error", &shown),
    }
}

/// Facts about a launch that its error messages show.
pub(crate) struct Launched<'a> {
    pub file: &'a str,
    /// Source text of the kernel; empty if the kernel was loaded from an object file.
    pub text: &'a str,
    /// Name of the target and the engine, such as `halu (jit)`.
    pub on: String,
    pub shape: Shape,
    /// Parsed PTX text, whose `.loc` directives give source locations.
    pub read: Option<&'a ParsedFile>,
    /// Signature of the kernel, if messages use other names than the kernel's text.
    pub signature: Option<&'a Signature>,
    /// Function that describes a parameter with its array, given its index and its name.
    pub given: &'a dyn Fn(usize, &str) -> Option<String>,
}

/// Returns `None` for every parameter. Used for launches whose arguments are not known.
pub(crate) fn nothing_given(_: usize, _: &str) -> Option<String> {
    None
}

impl<'a> Launched<'a> {
    /// Creates the facts about a launch of a kernel in the IR.
    pub(crate) fn of_module(
        module: &'a Module,
        on: String,
        launch: &Launch,
        given: &'a dyn Fn(usize, &str) -> Option<String>,
    ) -> Launched<'a> {
        let (file, text, shape) = (module.file(), module.text(), launch.shape);
        Launched { file, text, on, shape, read: None, signature: None, given }
    }

    fn relabelled(&self, message: &str) -> String {
        self.signature.map_or_else(|| message.to_owned(), |signature| signature.relabelled(message))
    }

    fn diagnostic(&self, error: &LaunchError, lines: &Lines<'_>) -> Diagnostic {
        self.completed(launch_diagnostic(error, lines, Span::default(), &self.on), lines)
    }

    /// Replaces the names in a diagnostic by the names for messages, and adds the source locations
    /// of PTX lines.
    fn completed(&self, mut diagnostic: Diagnostic, lines: &Lines<'_>) -> Diagnostic {
        diagnostic.message = self.relabelled(&diagnostic.message);
        for note in &mut diagnostic.notes {
            note.message = self.relabelled(&note.message);
        }
        self.with_sources(diagnostic, lines)
    }

    fn with_sources(&self, diagnostic: Diagnostic, lines: &Lines<'_>) -> Diagnostic {
        match self.read {
            Some(read) => with_sources(diagnostic, lines, read),
            None => diagnostic,
        }
    }

    fn shown(&self, diagnostic: Diagnostic) -> String {
        match self.text.is_empty() {
            true => diagnostic.to_string(),
            false => Report::new(self.file, self.text, vec![diagnostic]).to_string(),
        }
    }

    /// Issues a Python warning about a same-value race that a launch of PTX has found.
    pub(crate) fn warn_of_trap(&self, py: Python<'_>, race: &Trap) -> PyResult<()> {
        let lines = Lines::new(self.text);
        let diagnostic = self.completed(race_warning(race, &lines, &self.on), &lines);
        self.warn(py, self.trap(py, race, diagnostic.clone()), diagnostic)
    }

    /// Issues a Python warning about a same-value race that the evaluator has found.
    pub(crate) fn warn_of_race(&self, py: Python<'_>, race: &eval::Race, kernel: &Kernel) -> PyResult<()> {
        let diagnostic = self.completed(race_diagnostic(race, kernel, &self.shape), &Lines::new(self.text));
        self.warn(py, self.fault(py, &Fault::Race(race.clone()), kernel), diagnostic)
    }

    fn warn(&self, py: Python<'_>, race: PyErr, diagnostic: Diagnostic) -> PyResult<()> {
        let display = Report::warnings(self.file, self.text, vec![diagnostic]).to_string();
        let class = py.import("halfbyte._errors")?.getattr("RaceWarning")?;
        let warning = class.call1((display, race.into_value(py)))?;
        py.import("warnings")?.call_method1("warn", (warning,)).map(drop)
    }

    /// Returns the name of the exception class for a kind of trap.
    const fn class(kind: FailureKind) -> &'static str {
        match kind {
            FailureKind::Budget => "Budget",
            FailureKind::RaceGlobal | FailureKind::RaceShared => "Race",
            FailureKind::OutOfBoundsGlobal => "OutOfBounds",
            _ => "Trap",
        }
    }

    /// Converts an error of a launch of machine code or PTX to an exception.
    pub(crate) fn error(&self, py: Python<'_>, error: &LaunchError) -> PyErr {
        let lines = Lines::new(self.text);
        match error {
            LaunchError::Trap(trap) => self.trap(py, trap, self.diagnostic(error, &lines)),
            LaunchError::Exceeded { exceeded, .. } => {
                exceeded_error(py, *exceeded, &self.relabelled(&format!("on {}: {error}", self.on)))
            }
            LaunchError::Tile(_) => {
                let shown = self.shown(self.diagnostic(error, &lines));
                plain(py, "Refused", &shown)
            }
            LaunchError::Count { .. } | LaunchError::Kind { .. } => {
                PyTypeError::new_err(self.relabelled(&error.to_string()))
            }
            LaunchError::Native { .. } | LaunchError::Cuda { .. } | LaunchError::Resident { .. } => {
                plain(py, "Error", &self.relabelled(&error.to_string()))
            }
            error => PyValueError::new_err(self.relabelled(&error.to_string())),
        }
    }

    fn trap(&self, py: Python<'_>, trap: &Trap, diagnostic: Diagnostic) -> PyErr {
        let kind = FailureKind::of_trap(&trap.kind);
        let source = self.source(trap.loc);
        let near = match &trap.kind {
            TrapKind::OutOfBounds { near: Some(near), .. } => (self.given)(usize::MAX, &near.buffer),
            _ => None,
        };
        let diagnostic = near.into_iter().fold(diagnostic, |diagnostic, near| diagnostic.note(None, near));
        let (mut items, mut at) = (vec![trap.item], vec![trap.loc]);
        if let TrapKind::Race { other: ConflictingAccess { item, loc, .. }, .. } = &trap.kind {
            items.insert(0, item.number());
            at.insert(0, loc.unwrap_or_default());
        }
        let first = |source: Vec<(String, u32)>| source.into_iter().next();
        let sources: Vec<_> = at.iter().map(|&loc| first(self.source(loc))).collect();
        let lines: Vec<_> = at.iter().map(|loc| loc.is_known().then_some(loc.line)).collect();
        let place = trap.shape.place(trap.item);
        let attributes = attributes!(
            py,
            kind = kind.name(),
            item = trap.item,
            block = (place.group[0], place.group[1], place.group[2]),
            thread = (place.local[0], place.local[1], place.local[2]),
            line = trap.loc.is_known().then_some(trap.loc.line),
            instruction = trap.instruction.as_str(),
            source = source.first(),
            inlined_at = source.get(1..).unwrap_or_default(),
            items = items,
            lines = lines,
            sources = sources,
        );
        raise(py, Launched::class(kind), &self.shown(diagnostic), &attributes)
    }

    /// Returns the source file and line that the `.loc` directives give for a location in the PTX
    /// text, followed by those of the calls that the location is inlined into.
    fn source(&self, loc: Loc) -> Vec<(String, u32)> {
        let origin = self.read.and_then(|read| read.source_of(loc));
        let places = origin.map_or_else(Vec::new, |origin| origin.0);
        places.into_iter().map(|(file, from)| (file.to_owned(), from.line)).collect()
    }

    /// Converts a fault of the evaluator to an exception.
    pub(crate) fn fault(&self, py: Python<'_>, fault: &Fault, kernel: &Kernel) -> PyErr {
        let diagnostic = fault_diagnostic(fault, kernel, &self.shape, kernel.span);
        let text = Lines::new(self.text);
        let line = |span: Span| (span.end != 0).then(|| text.position(span.start).line);
        let (item, span, items, lines) = match fault {
            Fault::Args(error) => return PyValueError::new_err(error.to_string()),
            Fault::Exceeded(exceeded) => {
                return exceeded_error(py, *exceeded, &format!("on ir: @{}: {exceeded}", kernel.name));
            }
            Fault::Trap(eval::Trap { item, span, .. }) => (*item, *span, vec![*item], vec![line(*span)]),
            Fault::Race(race) => {
                let [first, second] = [&race.first, &race.second];
                (second.item, second.span, vec![first.item, second.item], vec![line(first.span), line(second.span)])
            }
        };
        let kind = FailureKind::of_fault(fault, kernel);
        let near = match fault {
            Fault::Trap(eval::Trap { kind: eval::TrapKind::OutOfBounds { address, .. }, .. }) => buffer_near(*address),
            _ => None,
        };
        let near = near.and_then(|(param, _)| (self.given)(param, ""));
        let diagnostic = self.with_sources(diagnostic, &text);
        let diagnostic = near.into_iter().fold(diagnostic, |diagnostic, near| diagnostic.note(None, near));
        let place = self.shape.place(item);
        // On the evaluator, the faulting instruction is an op of the source text.
        let of_text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let attributes = attributes!(
            py,
            kind = kind.name(),
            item = item,
            block = (place.group[0], place.group[1], place.group[2]),
            thread = (place.local[0], place.local[1], place.local[2]),
            line = line(span),
            instruction = of_text,
            items = items,
            lines = lines,
        );
        raise(py, Launched::class(kind), &self.shown(diagnostic), &attributes)
    }
}

fn exceeded_error(py: Python<'_>, exceeded: Exceeded, message: &str) -> PyErr {
    match exceeded {
        Exceeded::Cancelled | Exceeded::Time { .. } => plain(py, "Cancelled", message),
        _ => plain(py, "Error", message),
    }
}

/// Converts the error for an invalid object file to an exception.
pub(crate) fn of_load(py: Python<'_>, error: impl std::fmt::Display) -> PyErr {
    plain(py, "Error", &error.to_string())
}

/// Creates the exception for an internal error of the extension module.
pub(crate) fn defect(what: &str) -> PyErr {
    PyRuntimeError::new_err(what.to_owned())
}
