//! `halfbyte view`

use std::path::{Path, PathBuf};

use halfbyte::Target;
use halfbyte::include;
use halfbyte::report::Report;
use halfbyte_inspect::view::page;

use super::compile::select;
use super::io::{Input, refuse_input, write};
use super::{Done, SmArgs};

/// Shows how kernels become machine code, as an HTML page
///
/// The page shows the compiler stages side by side. It highlights everything that the compiler
/// derives from one op of the source together.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct View {
    /// Kernel file; - is standard input
    file: PathBuf,
    /// Show only this target, instead of every target that accepts the kernel
    #[arg(long, value_parser = super::target_name())]
    target: Option<Target>,
    #[command(flatten)]
    sm: SmArgs,
    /// Show only this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Output file; - is standard output
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte view examples/median.hb -o median.html
  halfbyte view examples/median.hb --target vp1 --kernel median -o median.html";

impl View {
    pub(super) fn run(self) -> Done {
        refuse_input(self.output.as_deref(), [self.file.as_path()])?;
        let input = Input::read(&self.file)?;
        let text = input.text()?;
        let module = include::named(&input.name, text)?;
        let kernels = select(&module, self.kernel.as_deref())?;
        let targets = self.sm.targets(self.target)?;
        let page = page(&module, kernels, &targets).map_err(|errors| Report::new(input.name.clone(), text, errors))?;
        write(self.output.as_deref().or(Some(Path::new("-"))), page.as_bytes())
    }
}
