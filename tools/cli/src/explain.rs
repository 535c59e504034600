//! `halfbyte explain`

use std::path::PathBuf;

use halfbyte::Target;
use halfbyte::include;
use halfbyte::pipeline::Options;
use halfbyte_inspect::explain::{ExplainError, Question, Text, explain};

use super::compile::select;
use super::io::{Input, print};
use super::{Done, Failure, SmArgs};

/// Explains which rules selected the instructions of an op, and which rules nearly matched
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Explain {
    /// Kernel file; - is standard input
    file: PathBuf,
    /// Name of a value, such as `%r`, or the position of an op, LINE or LINE:COLUMN
    #[arg(long, value_name = "VALUE")]
    at: String,
    /// Target
    #[arg(long, value_parser = super::target_name(), default_value = "halu")]
    target: Target,
    #[command(flatten)]
    sm: SmArgs,
    /// Kernel; required if several kernels have the value
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// IR passes to run, in order, separated by commas; an empty list runs none
    #[arg(long, value_name = "LIST")]
    passes: Option<String>,
    /// Show all rules that were tried and failed, including rules for other ops
    #[arg(long)]
    all: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte explain examples/axpy.hb --at %r
  halfbyte explain examples/brighten.hb --at 7 --target vp1
  halfbyte explain examples/axpy.hb --at %r --target ptx --sm 80 --json";

impl Explain {
    pub(super) fn run(self) -> Done {
        let mut options = Options::new(self.sm.only(self.target)?);
        if let Some(names) = &self.passes {
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            options = options.with_passes(names).map_err(|error| Failure::Call(error.to_string()))?;
        }
        let input = Input::read(&self.file)?;
        let module = include::named(&input.name, input.text()?)?;
        select(&module, self.kernel.as_deref())?;
        let question = Question { at: &self.at, kernel: self.kernel.as_deref(), options: &options };
        let explanation = explain(&module, question).map_err(|error| match error {
            ExplainError::Defect { .. } => Failure::input(error),
            error => Failure::Call(error.to_string()),
        })?;
        let text = match self.json {
            true => format!("{}\n", explanation.json()),
            false => Text { explanation: &explanation, all: self.all }.to_string(),
        };
        print(text.as_bytes())
    }
}
