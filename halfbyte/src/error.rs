//! Compilation errors as structured data.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;
use std::sync::Arc;

use halfbyte_abi::{Exceeded, Loc, Target};
use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::{Refusal, Span};

/// The location of a compilation error.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ErrorLocation {
    /// The source file of the kernel.
    pub file: String,
    /// Name of the kernel, without `@`; empty if the error concerns all kernels.
    pub kernel: String,
    /// Span in the source text of the kernel; `SourceText` defines its meaning.
    pub span: Span,
    /// Line and column in the file, or the default value if they are unknown.
    pub loc: Loc,
}

/// Formats the location as in `k.hb:3:8`, or as the file name alone.
impl Display for ErrorLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        let Loc { line, column } = self.loc;
        if self.loc.is_known() { write!(f, ":{line}:{column}") } else { Ok(()) }
    }
}

/// Reason why a compilation failed. The variant tells who can fix the problem: the kernel's author
/// ([`Invalid`](CompileError::Invalid) and [`Refused`](CompileError::Refused)), the person who set the limits
/// ([`TooLarge`](CompileError::TooLarge) and [`Cancelled`](CompileError::Cancelled)), the author of a custom pass
/// ([`Pass`](CompileError::Pass)), or this project ([`Internal`](CompileError::Internal)).
///
/// `Display` writes one line for each problem. [`Module::report`](crate::Module::report) also shows the source text.
///
/// ```
/// use halfbyte::{CompileError, Module, VP1};
/// let module = Module::named("k.hb", "kernel @k(%a: f32, %y: out f32) {
/// ^entry:
///   %i = item_id
///   %r = fsqrt.f32 %a
///   store %r, %y[%i]
///   ret
/// }")?;
/// let Err(CompileError::Refused(refused)) = module.compile(VP1) else { panic!() };
/// let (at, refusal) = (&refused[0].at, &refused[0].refusal);
/// assert_eq!((at.kernel.as_str(), at.loc.line, at.loc.column), ("k", 4, 3));
/// assert_eq!(refusal.op.map(|(op, ty)| (op.name(), ty.to_string())), Some(("fsqrt", "f32".to_string())));
/// # Ok::<(), halfbyte::Report>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CompileError {
    /// The kernels from a builder, or the source text, are malformed.
    Invalid(Vec<Invalid>),
    /// The target does not support some operations. The list covers all kernels.
    Refused(Vec<Refused>),
    /// A kernel exceeds a limit or the target's capacity.
    TooLarge(TooLarge),
    /// The compilation was cancelled or exceeded its time limit.
    Cancelled {
        /// Location of the kernel that was being compiled.
        at: ErrorLocation,
        /// The limit that was exceeded, or the cancellation.
        exceeded: Exceeded,
    },
    /// A custom pass returned an error, which ended the compilation.
    Pass {
        /// Location of the kernel that was being compiled.
        at: ErrorLocation,
        /// Name of the pass.
        pass: String,
        /// The error that the pass returned.
        error: Arc<dyn Error + Send + Sync>,
    },
    /// The compiler has a defect. No kernel should cause this error.
    Internal {
        /// Location of the kernel that was being compiled.
        at: ErrorLocation,
        /// Description of the defect.
        message: String,
    },
}

/// Reason why kernels could not be compiled to a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The compilation failed.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The object could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A problem in malformed kernels or source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    /// The location of the problem.
    pub at: ErrorLocation,
    /// The message, with the expected form if available.
    pub diagnostic: Diagnostic,
}

/// An operation that the target does not support.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The location of the operation.
    pub at: ErrorLocation,
    /// The operation, its type and the target, with a reason and help if available.
    pub refusal: Refusal,
}

/// A limit that a kernel or an object exceeds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// Location of the kernel, or an empty location if the whole object exceeds the limit.
    pub at: ErrorLocation,
    /// The target of the compilation.
    pub target: Target,
    /// The exceeded limit.
    pub limit: Limit,
}

/// The kind of an exceeded limit.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Limit {
    /// A limit that the caller set.
    Set(Exceeded),
    /// A limit of the target, such as the number of registers or the range of a branch.
    Target(String),
    /// A limit of the object format.
    Object(String),
}

impl TooLarge {
    fn message(&self) -> String {
        let TooLarge { at: ErrorLocation { kernel, .. }, target, limit } = self;
        match limit {
            Limit::Set(exceeded) => format!("@{kernel}: {exceeded}"),
            Limit::Target(reason) => format!("@{kernel} is too large for {target}: {reason}"),
            Limit::Object(reason) => reason.clone(),
        }
    }

    fn help(&self) -> Option<&'static str> {
        let help = "split the kernel in two with a buffer between them, or compile it for another target";
        matches!(self.limit, Limit::Target(_)).then_some(help)
    }
}

impl CompileError {
    /// Converts each problem to a diagnostic with a location, which can be shown with the source text.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.list().into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }

    /// Returns the exceeded limit or the cancellation if this is the cause of the error, otherwise `None`.
    pub fn exceeded(&self) -> Option<Exceeded> {
        match self {
            CompileError::TooLarge(TooLarge { limit: Limit::Set(exceeded), .. })
            | CompileError::Cancelled { exceeded, .. } => Some(*exceeded),
            _ => None,
        }
    }

    fn list(&self) -> Vec<(&ErrorLocation, Diagnostic)> {
        let one = |at, message| vec![(at, whole_kernel(at, Diagnostic::new(at.span, message)))];
        match self {
            CompileError::Invalid(all) => {
                all.iter().map(|Invalid { at, diagnostic }| (at, diagnostic.clone())).collect()
            }
            CompileError::Refused(all) => {
                let diagnostic = |refused: &Refusal| {
                    let help = refused.reason.as_ref().and_then(|reason| reason.help.as_deref());
                    let diagnostic = Diagnostic::new(refused.span, refused.to_string());
                    Diagnostic { help: help.map(str::to_owned), ..diagnostic }
                };
                all.iter().map(|Refused { at, refusal }| (at, whole_kernel(at, diagnostic(refusal)))).collect()
            }
            CompileError::TooLarge(too_large) => {
                let mut found = one(&too_large.at, too_large.message());
                found.iter_mut().for_each(|(_, diagnostic)| diagnostic.help = too_large.help().map(str::to_owned));
                found
            }
            CompileError::Cancelled { at, exceeded } => one(at, format!("@{}: {exceeded}", at.kernel)),
            CompileError::Pass { at, pass, error } => one(at, format!("pass `{pass}` on @{}: {error}", at.kernel)),
            CompileError::Internal { at, message } => one(at, message.clone()),
        }
    }
}

/// Adds a note with the kernel's name to a diagnostic, unless the location or the message identifies the kernel.
fn whole_kernel(at: &ErrorLocation, diagnostic: Diagnostic) -> Diagnostic {
    let is_named = at.loc.is_known() || at.kernel.is_empty() || diagnostic.message.contains(&format!("@{}", at.kernel));
    if is_named { diagnostic } else { diagnostic.note(None, format!("in @{}", at.kernel)) }
}

impl Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (at, diagnostic)) in self.list().into_iter().enumerate() {
            let line_break = if number == 0 { "" } else { "\n" };
            write!(f, "{line_break}{at}: {diagnostic}")?;
            diagnostic
                .notes
                .iter()
                .filter(|note| note.span.is_none())
                .try_for_each(|note| write!(f, "; {}", note.message))?;
        }
        Ok(())
    }
}

impl Error for CompileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            CompileError::Pass { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl From<CompileError> for Vec<Diagnostic> {
    fn from(error: CompileError) -> Vec<Diagnostic> {
        error.diagnostics()
    }
}
