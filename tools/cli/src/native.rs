//! `halfbyte compile --target TRIPLE`: kernels as native code that C, C++ and Rust call.

use std::path::{Path, PathBuf};

use halfbyte::abi::DEFAULT_BUDGET;
use halfbyte::ir::{Diagnostic, Span};
use halfbyte::native::{self, About, Language, Machine, MachineError, symbols};
pub(super) use halfbyte::native::{TRIPLES, meant};
use halfbyte::{Program, Report};

use super::Failure;

/// Native code of a computer, which is asked for by its triple.
#[derive(clap::Args)]
#[command(next_help_heading = "Native code")]
pub(super) struct NativeArgs {
    /// Where its functions are declared: FILE.h for C and C++, FILE.rs for Rust
    #[arg(long, value_name = "FILE")]
    header: Option<PathBuf>,
    /// The processor, by Cranelift's names: x86-64-v3, or features with commas; without it code runs on all of the triple
    #[arg(long, value_name = "CPU")]
    cpu: Option<String>,
    #[arg(long, value_name = "N", help = format!("Backward branches that an item may take before it traps; {DEFAULT_BUDGET} if not given"))]
    budget: Option<u64>,
    /// Call nothing of a library, as no object does
    #[arg(long)]
    freestanding: bool,
}

/// What was made.
pub(super) struct Made {
    pub object: Vec<u8>,
    /// The header and its text.
    pub header: Option<(PathBuf, String)>,
}

impl NativeArgs {
    /// The file of the header, if one is asked for.
    pub(super) fn header(&self) -> Option<&Path> {
        self.header.as_deref()
    }

    /// An error where what is for native code is asked for of something else.
    pub(super) fn refuse_for(&self, target: &str) -> Result<(), Failure> {
        let given = [
            ("--header", self.header.is_some()),
            ("--cpu", self.cpu.is_some()),
            ("--budget", self.budget.is_some()),
            ("--freestanding", self.freestanding),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => {
                let message = format!("{option} is for native code; target `{target}` is no triple of a computer");
                Err(Failure::Call(message))
            }
            None => Ok(()),
        }
    }

    /// An error where such a call is wrong whatever the file says.
    pub(super) fn check(&self, triple: &str, is_object: bool, has_statistics: bool) -> Result<(), Failure> {
        if !is_object {
            return Err(Failure::Call(format!("--target {triple}: native code is an object; write `--emit obj`")));
        }
        if has_statistics {
            return Err(Failure::Call("--stats counts words of a target; native code has none".into()));
        }
        self.machine(triple)?;
        self.language().map(drop)
    }

    /// The computer of a triple; a wrong call where there is no native code for it.
    fn machine(&self, triple: &str) -> Result<Machine, Failure> {
        Machine::new(triple, self.cpu.as_deref()).map_err(|error| {
            let meant = meant(triple).filter(|_| matches!(error, MachineError::Triple { .. }));
            let meant = meant.map_or(String::new(), |meant| format!("; did you mean `{meant}`?"));
            Failure::Call(format!("{error}{meant}"))
        })
    }

    /// The language of the header that is asked for.
    fn language(&self) -> Result<Option<Language>, Failure> {
        let Some(path) = &self.header else { return Ok(None) };
        let language = path.to_str().and_then(Language::of_file);
        let wrong = || Failure::Call(format!("--header {}: a header is FILE.h or FILE.rs", path.display()));
        language.map(Some).ok_or_else(wrong)
    }

    /// Makes native code of the kernels of an object for HALU, which were read from a file with this text.
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

/// Why no native code is made, with the line of the text that it is about.
fn refused(error: &native::Error, file: &str, text: &str) -> Failure {
    let native::Error::Refused { kernel, line, reason } = error else { return Failure::input(error) };
    let before = text.split_inclusive('\n').take((*line as usize).saturating_sub(1)).map(str::len).sum::<usize>();
    let rest = text.get(before..).unwrap_or_default();
    let line = rest.lines().next().filter(|_| *line > 0).unwrap_or_default();
    let start = before + line.len() - line.trim_start().len();
    let span = Span { start: start as u32, end: (start + line.trim().len()) as u32 };
    Report::new(file, text, vec![Diagnostic::new(span, format!("@{kernel} cannot be native code: {reason}"))]).into()
}
