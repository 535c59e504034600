//! `halfbyte compile --target TRIPLE`: native code that C, C++ and Rust programs can call.

use std::path::{Path, PathBuf};

use halfbyte::abi::DEFAULT_BUDGET;
use halfbyte::ir::{Diagnostic, Span};
use halfbyte::native::{self, About, Language, Machine, MachineError, symbols};
pub(super) use halfbyte::native::{TRIPLES, meant};
use halfbyte::{Program, Report};

use super::Failure;

/// Options of `compile` for native code.
#[derive(clap::Args)]
#[command(next_help_heading = "Native code")]
pub(super) struct NativeArgs {
    /// Write declarations of the functions: FILE.h for C and C++, FILE.rs for Rust
    #[arg(long, value_name = "FILE")]
    header: Option<PathBuf>,
    /// CPU by Cranelift's name, such as x86-64-v3, or a list of features; by default, the code runs
    /// on every CPU of the triple
    #[arg(long, value_name = "CPU")]
    cpu: Option<String>,
    #[arg(long, value_name = "N", help = format!("Backward branches that an item may take before it traps; {DEFAULT_BUDGET} if not given"))]
    budget: Option<u64>,
    /// Generate code that calls no library functions; object files never call any
    #[arg(long)]
    freestanding: bool,
}

/// Native code and its header.
pub(super) struct Made {
    pub object: Vec<u8>,
    /// The path and the text of the header, if one was requested.
    pub header: Option<(PathBuf, String)>,
}

impl NativeArgs {
    /// Returns the path of the header, if one is requested.
    pub(super) fn header(&self) -> Option<&Path> {
        self.header.as_deref()
    }

    /// Fails if an option for native code is given with another target.
    pub(super) fn refuse_for(&self, target: &str) -> Result<(), Failure> {
        let given = [
            ("--header", self.header.is_some()),
            ("--cpu", self.cpu.is_some()),
            ("--budget", self.budget.is_some()),
            ("--freestanding", self.freestanding),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                let message = format!("{option} is only valid for native code; `{target}` is not a target triple");
                Err(Failure::Call(message))
            }
            None => Ok(()),
        }
    }

    /// Checks the options as far as possible without the input file.
    pub(super) fn check(&self, triple: &str, is_object: bool, has_statistics: bool) -> Result<(), Failure> {
        if !is_object {
            return Err(Failure::Call(format!("--target {triple}: native code is an object; write `--emit obj`")));
        }
        if has_statistics {
            return Err(Failure::Call("--stats is not supported for native code".into()));
        }
        self.machine(triple)?;
        self.language().map(drop)
    }

    /// Returns the host machine for a triple. Fails if native code is not supported for it.
    fn machine(&self, triple: &str) -> Result<Machine, Failure> {
        Machine::new(triple, self.cpu.as_deref()).map_err(|error| {
            let meant = meant(triple).filter(|_| matches!(error, MachineError::Triple { .. }));
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            Failure::Call(format!("{error}{meant}"))
        })
    }

    /// Returns the programming language of the requested header, by the extension of its file name.
    fn language(&self) -> Result<Option<Language>, Failure> {
        let Some(path) = &self.header else { return Ok(None) };
        let language = path.to_str().and_then(Language::of_file);
        let wrong = || Failure::Call(format!("--header {}: a header is FILE.h or FILE.rs", path.display()));
        language.map(Some).ok_or_else(wrong)
    }

    /// Compiles the kernels of a HALU object to native code. Messages use the name `source` and the
    /// contents `text` of the source file.
    pub(super) fn make(&self, triple: &str, halu: &[u8], source: &str, text: &str) -> Result<Made, Failure> {
        let (machine, language) = (self.machine(triple)?, self.language()?);
        let program = Program::load(halu).map_err(Failure::input)?;
        let symbols = symbols(program.kernels().map(|kernel| kernel.name()));
        let kernels: Vec<_> = symbols.iter().map(String::as_str).zip(program.kernels()).collect();
        let mut options = native::Options::default();
        options.budget = self.budget.unwrap_or(options.budget);
        let made = native::object(&kernels, &machine, &options).map_err(|error| refused(&error, source, text))?;
        let header = self.header.as_ref().zip(language).map(|(path, language)| {
            let name = path.file_name().map_or("", |name| name.to_str().unwrap_or_default());
            let about = About { name, source, machine: &machine };
            (path.clone(), native::header(language, &about, &made.functions))
        });
        Ok(Made { object: made.bytes, header })
    }
}

/// Converts an error of native compilation to a message that shows the line of the source.
fn refused(error: &native::Error, file: &str, text: &str) -> Failure {
    let native::Error::Refused { kernel, line, reason } = error else { return Failure::input(error) };
    let before = text.split_inclusive('\n').take((*line as usize).saturating_sub(1)).map(str::len).sum::<usize>();
    let rest = text.get(before..).unwrap_or_default();
    let line = rest.lines().next().filter(|_| *line > 0).unwrap_or_default();
    let start = before + line.len() - line.trim_start().len();
    let span = Span { start: start as u32, end: (start + line.trim().len()) as u32 };
    Report::new(file, text, vec![Diagnostic::new(span, format!("@{kernel} cannot be native code: {reason}"))]).into()
}
