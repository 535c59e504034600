//! Failures of launches: the kind, the message, the source line and the work item.

use halfbyte_abi::{ItemPosition, Shape, ShapeError};
use halfbyte_ir::diag::{Diagnostic, Lines};
use halfbyte_ir::eval::{self, Fault};
use halfbyte_ir::op::AttrKind;
use halfbyte_isa::halu::domain::{LOCAL_WINDOW, SHARED_WINDOW};
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::text::ParsedFile;
#[cfg(feature = "aot")]
use halfbyte_runtime::aot;
use halfbyte_runtime::{LaunchError, Space, Trap, TrapKind};

pub use halfbyte::FailureKind;
use halfbyte::Report;
use halfbyte::launch::{fault_diagnostic, loc_of};

/// Position of a work item: the coordinates of its block in the grid, and of its thread in the block, along x, y and z.
pub type Item = [[u32; 3]; 2];

/// Returns the position of item `number` in a launch.
fn item(number: u32, shape: &Shape) -> Item {
    let ItemPosition { group, local } = shape.place(number);
    [group, local]
}

/// Returns the address space of the arrays that a source line accesses. Returns `None` unless all accesses of the line
/// are to arrays of one space.
///
/// The trap itself does not tell the space: in machine code, arrays share an address space with other memory.
fn array_on(kernel: &halfbyte_ir::Kernel, text: &str, line: u32) -> Option<halfbyte_ir::Space> {
    let lines = Lines::new(text);
    let insts = kernel.insts.iter().filter(|(_, inst)| matches!(inst.op.row().attr, AttrKind::Mem | AttrKind::Atomic));
    let on_line = insts.filter(|(_, inst)| inst.span.end != 0 && lines.position(inst.span.start).line == line as usize);
    let mut spaces = on_line.map(|(number, _)| eval::array_space(kernel, number));
    let first = spaces.next()??;
    spaces.all(|space| space == Some(first)).then_some(first)
}

/// The reason why a launch gave no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {message}", kind.name())]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The message, followed by a suggested remedy, if any.
    pub message: String,
    /// The line number in the text, from 1.
    pub line: Option<u32>,
    /// The work item that failed, if known.
    pub item: Option<Item>,
    /// For PTX, the source location of the line, from a `.loc` directive.
    pub source_line: Option<String>,
    /// For a race, the access that was executed first.
    pub other: Option<Box<OtherAccess>>,
}

/// The first of two accesses that race.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OtherAccess {
    /// The work item.
    pub item: Item,
    /// The line number in the text, from 1.
    pub line: Option<u32>,
    /// For PTX, the source location of the line, from a `.loc` directive.
    pub source_line: Option<String>,
}

/// Returns the source location of a line of PTX, if a `.loc` directive gives it.
fn source_line(read: Option<&ParsedFile>, loc: Loc) -> Option<String> {
    read?.source_of(loc).map(|origin| origin.to_string())
}

fn line(loc: Loc) -> Option<u32> {
    loc.is_known().then_some(loc.line)
}

impl Failure {
    /// Creates a failure without a line number or a work item.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), line: None, item: None, source_line: None, other: None }
    }

    /// Creates a failure for invalid arguments.
    pub fn arguments(message: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Arguments, message)
    }

    /// Returns the failure with the line number of a source location, if the location is known.
    pub(super) fn at(self, loc: Loc) -> Failure {
        Failure { line: line(loc), ..self }
    }

    /// Creates a failure from the first diagnostic of a report.
    pub(super) fn of_report(kind: FailureKind, report: &Report, text: &str) -> Failure {
        match report.diagnostics().first() {
            Some(diagnostic) => Failure::of_diagnostic(kind, diagnostic, text),
            None => Failure::new(kind, "the text is refused"),
        }
    }

    pub(super) fn of_diagnostic(kind: FailureKind, diagnostic: &Diagnostic, text: &str) -> Failure {
        let line = (diagnostic.span.end != 0).then(|| Lines::new(text).position(diagnostic.span.start).line as u32);
        Failure { line, ..Failure::new(kind, diagnostic.to_string()) }
    }

    /// Creates a failure from a trap. `read` is the parsed text of a PTX kernel.
    pub(super) fn of_trap(trap: &Trap, read: Option<&ParsedFile>) -> Failure {
        let remedy = trap.remedy.map_or_else(String::new, |remedy| format!("; {remedy}"));
        let message = format!("`{}`: {}{remedy}", trap.instruction, trap.kind);
        let failure = Failure::new(FailureKind::of_trap(&trap.kind), message).at(trap.loc);
        let other = match &trap.kind {
            TrapKind::Race { other, .. } => {
                let loc = other.loc.unwrap_or_default();
                let item = item(other.item.number(), &trap.shape);
                Some(Box::new(OtherAccess { item, line: line(loc), source_line: source_line(read, loc) }))
            }
            _ => None,
        };
        Failure { item: Some(item(trap.item, &trap.shape)), source_line: source_line(read, trap.loc), other, ..failure }
    }

    /// Creates a failure from the error of a launch of a compiled kernel. `read` is the parsed text of a PTX kernel.
    pub(super) fn of_launch(
        error: &LaunchError,
        kernel: &halfbyte_ir::Kernel,
        text: &str,
        read: Option<&ParsedFile>,
    ) -> Failure {
        let kind = match error {
            LaunchError::Trap(trap) => {
                let mut trap = Trap::clone(trap);
                if let TrapKind::OutOfBounds { space: space @ Space::Global, address, near, .. } = &mut trap.kind
                    && let Some(array) = array_on(kernel, text, trap.loc.line)
                {
                    let (own, window) = match array {
                        halfbyte_ir::Space::Scratch => (Space::Local, LOCAL_WINDOW),
                        halfbyte_ir::Space::Shared => (Space::Shared, SHARED_WINDOW),
                    };
                    (*space, *address, *near) = (own, address.wrapping_sub(window), None);
                }
                return Failure::of_trap(&trap, read);
            }
            LaunchError::Engine { .. } => FailureKind::Unsupported,
            LaunchError::Tile(_) => FailureKind::Refused,
            LaunchError::Shape { error: ShapeError::Items(_), .. } => FailureKind::Limit,
            LaunchError::Count { .. }
            | LaunchError::Kind { .. }
            | LaunchError::Scalar { .. }
            | LaunchError::Size { .. }
            | LaunchError::Shape { .. }
            | LaunchError::Unique { .. }
            | LaunchError::Alias { .. }
            | LaunchError::Overlap { .. } => FailureKind::Arguments,
            // All other launch errors are exceeded limits on items, memory, time or the device.
            _ => FailureKind::Limit,
        };
        Failure::new(kind, error.to_string())
    }

    /// Creates a failure from the error of compiling a kernel to a native object.
    #[cfg(feature = "aot")]
    pub(super) fn of_object(error: &aot::Error) -> Failure {
        let line = match error {
            aot::Error::Refused { line, .. } => Some(*line).filter(|&line| line != 0),
            _ => None,
        };
        Failure { line, ..Failure::new(FailureKind::Unsupported, error.to_string()) }
    }

    /// Creates a failure from the trap of a native object's function. For an out-of-bounds access, the trap record does
    /// not name the address space, so the space is derived from the source line.
    #[cfg(feature = "aot")]
    pub(super) fn of_stop(stop: &aot::Trapped, shape: &Shape, kernel: &halfbyte_ir::Kernel, text: &str) -> Failure {
        let kind = match stop.status {
            aot::Status::OutOfBounds => match array_on(kernel, text, stop.line) {
                Some(halfbyte_ir::Space::Scratch) => FailureKind::OutOfBoundsLocal,
                Some(halfbyte_ir::Space::Shared) => FailureKind::OutOfBoundsShared,
                None => FailureKind::OutOfBoundsGlobal,
            },
            aot::Status::Misaligned => FailureKind::Misaligned,
            aot::Status::ReadOnly => FailureKind::ReadOnly,
            aot::Status::Budget => FailureKind::Budget,
            status if status.is_of_arguments() => return Failure::arguments(stop.to_string()),
            _ => FailureKind::Trap,
        };
        let line = Some(stop.line).filter(|&line| line != 0);
        Failure { line, item: Some(item(stop.item, shape)), ..Failure::new(kind, stop.status.summary()) }
    }

    /// Creates a failure from a fault of the evaluator. `read` is the parsed text of a PTX kernel.
    pub(super) fn of_fault(
        fault: &Fault,
        kernel: &halfbyte_ir::Kernel,
        shape: &Shape,
        text: &str,
        read: Option<&ParsedFile>,
    ) -> Failure {
        let diagnostic = fault_diagnostic(fault, kernel, shape, kernel.span);
        let lines = Lines::new(text);
        let loc = |span| loc_of(&lines, span).unwrap_or_default();
        let (at_fault, other) = match fault {
            Fault::Args(_) | Fault::Exceeded(_) => (None, None),
            Fault::Trap(trap) => (Some(trap.item), None),
            Fault::Race(race) => {
                let (item, loc) = (item(race.first.item, shape), loc(race.first.span));
                let other = OtherAccess { item, line: line(loc), source_line: source_line(read, loc) };
                (Some(race.second.item), Some(Box::new(other)))
            }
        };
        let failure = Failure::of_diagnostic(FailureKind::of_fault(fault, kernel), &diagnostic, text);
        let source_line = source_line(read, loc(diagnostic.span));
        Failure { item: at_fault.map(|number| item(number, shape)), source_line, other, ..failure }
    }
}
