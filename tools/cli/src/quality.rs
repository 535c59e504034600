//! `halfbyte quality`

use std::path::PathBuf;
use std::time::Duration;

use halfbyte::abi::Limits;
use halfbyte::include;
use halfbyte::{Module, TARGETS, Target};
use halfbyte_testkit::quality::{Quality as Measure, measure, page};
use halfbyte_testkit::spare_words;
use serde_json::{Value, json};

use super::compile::no_kernels;
use super::io::{kernel_files, refuse_input, write};
use super::json_output::JsonOutput;
use super::meter::Meter;
use super::{Done, Failure};

/// Reports code quality: instructions, registers, spills, and bundles compared with their lower bound
///
/// Prints a Markdown page with a table per target, and the kernels that a target rejects, with the reason.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Quality {
    /// Kernel files, or folders that are searched for *.hb files; - is standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Report only this target
    #[arg(long, value_parser = super::target_name())]
    target: Option<Target>,
    /// Output file; - is standard output
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Count HALU instructions that better code might save, by pattern, with their addresses
    ///
    /// A match is a hint, not a proof.
    #[arg(long, conflicts_with_all = ["target", "json"])]
    spare: bool,
    /// Print one JSON object instead of a page (docs/json/quality.schema.json)
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte quality examples -o docs/quality.md
  halfbyte quality examples/brighten.hb --target vp1
  halfbyte quality examples --spare
  halfbyte quality examples --json | jq '.measured[] | select(.spills > 0)'";

impl Quality {
    pub(super) fn run(self) -> Done {
        if self.spare {
            return write(self.output.as_deref(), spare_words::page(&self.modules()?).as_bytes());
        }
        let targets: Vec<Target> = match self.target {
            None => TARGETS.defaults().flat_map(|target| TARGETS.representatives(target)).collect(),
            Some(target) => TARGETS.representatives(target),
        };
        if !self.json {
            return write(self.output.as_deref(), page(&self.modules()?, &targets).as_bytes());
        }
        let mut answer = JsonOutput::new("quality");
        let modules = match self.modules() {
            Ok(modules) => modules,
            Err(failure) => return answer.finish(Err(failure)),
        };
        let (mut taken, mut refused) = (Vec::new(), Vec::new());
        for (module, &target) in modules.iter().flat_map(|module| targets.iter().map(move |target| (module, target))) {
            for (kernel, quality) in measure(module, target) {
                let mut object = json!({ "file": module.file(), "kernel": kernel, "target": target.name() });
                if let Some(sm) = target.sm() {
                    object["sm"] = sm.number().into();
                }
                match quality {
                    Ok(quality) => taken.push(counted(object, &quality)),
                    Err(reason) => {
                        object["reason"] = reason.into();
                        refused.push(object);
                    }
                }
            }
        }
        answer.set("measured", taken);
        answer.set("refused", refused);
        answer.finish_to(self.output.as_deref(), Ok(()))
    }

    fn modules(&self) -> Result<Vec<Module>, Failure> {
        let files = kernel_files(&self.paths)?;
        refuse_input(self.output.as_deref(), files.iter().map(|file| file.path.as_path()))?;
        let mut meter = Meter::new(Duration::from_secs(1));
        let mut modules = Vec::with_capacity(files.len());
        for file in &files {
            meter.show(|_| format!("reading {}", file.path.display()));
            let input = file.read(Limits::generous().text_bytes)?;
            modules.push(include::named(&input.name, input.text()?)?);
        }
        meter.clear();
        match modules.first() {
            Some(first) if modules.iter().all(|module| module.ir().kernels.is_empty()) => {
                Err(no_kernels(first.file(), first.text()))
            }
            _ => Ok(modules),
        }
    }
}

fn pair(&(count, bound): &(u32, u32)) -> Value {
    json!({ "count": count, "bound": bound })
}

/// Adds the code quality of a kernel to a JSON object.
fn counted(mut object: Value, quality: &Measure) -> Value {
    let Measure { compute, words, registers, spills, bundles } = quality;
    object["compute"] = (*compute).into();
    object["words"] = (*words).into();
    object["registers"] = (*registers).into();
    object["spills"] = (*spills).into();
    if let Some(bundles) = bundles {
        object["bundles"] = pair(&bundles.all);
        object["loops"] = bundles.loops.iter().map(pair).collect();
    }
    object
}
