//! `halfbyte quality`

use std::path::{Path, PathBuf};
use std::time::Duration;

use halfbyte::abi::Limits;
use halfbyte::{Module, TARGETS, Target};
use halfbyte_testkit::quality::page;

use super::Done;
use super::io::{kernel_files, write};
use super::meter::Meter;

/// Counts what kernels become: instructions, registers, spills, bundles against the lower bound
///
/// Prints a page of Markdown with a table a target, and what each refuses with the reason.
///
/// halfbyte quality examples -o docs/quality.md
#[derive(clap::Args)]
pub(super) struct Quality {
    /// Kernel files, and folders, of which every *.hb below is measured; - is standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Only this target
    #[arg(long, value_parser = super::target_name())]
    target: Option<Target>,
    /// Where to; - is standard output
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Quality {
    pub(super) fn run(self) -> Done {
        let targets: Vec<Target> = match self.target {
            None => TARGETS.defaults().flat_map(|target| TARGETS.representatives(target)).collect(),
            Some(target) => TARGETS.representatives(target),
        };
        let files = kernel_files(&self.paths)?;
        let mut meter = Meter::new(Duration::from_secs(1));
        let mut modules = Vec::with_capacity(files.len());
        for file in &files {
            meter.show(|_| format!("reading {}", file.path.display()));
            let input = file.read(Limits::generous().text_bytes)?;
            modules.push(Module::named(&input.name, input.text()?)?);
        }
        meter.clear();
        write(self.output.as_deref().or(Some(Path::new("-"))), page(&modules, &targets).as_bytes())
    }
}
