//! Why kernels were not compiled, as data.

use std::error::Error;
use std::fmt::{self, Display};
use std::io;
use std::sync::Arc;

use halfbyte_abi::{Exceeded, Loc, Target};
use halfbyte_ir::diag::Diagnostic;
use halfbyte_ir::{Refusal, Span};

/// Where an error is.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct At {
    /// The file that the kernel was made of.
    pub file: String,
    /// The kernel, without `@`; empty where it is about all of them.
    pub kernel: String,
    /// The place as kernels have it.
    pub span: Span,
    /// The place in the file, where it is known.
    pub loc: Loc,
}

/// `k.hb:3:8`, or the file alone.
impl Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        let Loc { line, column } = self.loc;
        if self.loc.is_known() { write!(f, ":{line}:{column}") } else { Ok(()) }
    }
}

/// Why kernels were not compiled. Whose fault it is decides what to do about it: [`Invalid`](CompileError::Invalid) and
/// [`Refused`](CompileError::Refused) are for who wrote the kernel, [`TooLarge`](CompileError::TooLarge) and
/// [`Cancelled`](CompileError::Cancelled) for who set the limits, [`Pass`](CompileError::Pass) for who wrote the pass, [`Internal`](CompileError::Internal) for us.
///
/// It displays as a line for each thing that is wrong; [`Module::report`](crate::Module::report) shows them with the text.
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
    /// What is not well formed: kernels that were built, or the text.
    Invalid(Vec<Invalid>),
    /// What the target cannot do, over all kernels.
    Refused(Vec<Refused>),
    /// A kernel is larger than a limit, or than the target has room for.
    TooLarge(TooLarge),
    /// It was cancelled, or its time was up.
    Cancelled {
        /// The kernel that was being compiled.
        at: At,
        /// Which of the two.
        exceeded: Exceeded,
    },
    /// A pass of the caller's own ended the compilation.
    Pass {
        /// The kernel.
        at: At,
        /// The pass.
        pass: String,
        /// Its error.
        error: Arc<dyn Error + Send + Sync>,
    },
    /// A defect of the compiler. No kernel should cause it.
    Internal {
        /// The kernel.
        at: At,
        /// What was found.
        message: String,
    },
}

/// Why kernels were not compiled to a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// They could not be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Something that is not well formed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invalid {
    /// Where.
    pub at: At,
    /// What is wrong, and what was expected.
    pub diagnostic: Diagnostic,
}

/// Something that the target cannot do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Where.
    pub at: At,
    /// Op, type, target, and the reason where more can be said.
    pub refusal: Refusal,
}

/// A limit, and what is beyond it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// The kernel; none where it is the object.
    pub at: At,
    /// The target.
    pub target: Target,
    /// Which limit.
    pub limit: Limit,
}

/// Whose limit it is.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Limit {
    /// One that the caller has set.
    Set(Exceeded),
    /// One of the target: registers, the reach of a branch.
    Target(String),
    /// One of the object format.
    Object(String),
}

impl TooLarge {
    fn message(&self) -> String {
        let TooLarge { at: At { kernel, .. }, target, limit } = self;
        match limit {
            Limit::Set(exceeded) => format!("@{kernel}: {exceeded}"),
            Limit::Target(reason) => format!("@{kernel} is too large for {target}: {reason}"),
            Limit::Object(reason) => reason.clone(),
        }
    }

    fn help(&self) -> Option<&'static str> {
        let help = "make two kernels of it with a buffer between them, or compile it for another target";
        matches!(self.limit, Limit::Target(_)).then_some(help)
    }
}

impl CompileError {
    /// Each thing that is wrong with its place, to be shown with the text.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.list().into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }

    /// The limit of the caller's own that was met, if that is why.
    pub fn exceeded(&self) -> Option<Exceeded> {
        match self {
            CompileError::TooLarge(TooLarge { limit: Limit::Set(exceeded), .. })
            | CompileError::Cancelled { exceeded, .. } => Some(*exceeded),
            _ => None,
        }
    }

    fn list(&self) -> Vec<(&At, Diagnostic)> {
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

/// Names the kernel where no place does.
fn whole_kernel(at: &At, diagnostic: Diagnostic) -> Diagnostic {
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
