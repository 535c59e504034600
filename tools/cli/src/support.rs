//! `halfbyte support`

use std::path::{Path, PathBuf};

use halfbyte::ir::Op;
use halfbyte::{TARGETS, Target};
use halfbyte_testkit::matrix::{page, table};

use super::Done;
use super::io::write;

/// Shows how each target implements each op on each type: the instruction, the number of
/// instructions, or the reason why the target refuses the op
///
/// Prints a Markdown page, or with --op the table of the given ops.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Support {
    /// Show only this target; PTX is shown for each SM version that differs from earlier ones
    #[arg(long, value_parser = super::target_name())]
    target: Option<Target>,
    /// Show only this op; may be repeated
    #[arg(long = "op", value_name = "NAME", value_parser = op)]
    ops: Vec<Op>,
    /// Output file; - is standard output
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte support --op add_sat_u --op avg_u
  halfbyte support --op fmul --target ptx";

fn op(name: &str) -> Result<Op, String> {
    // A type or modifiers after the name of the op are ignored.
    let op = name.split('.').next().unwrap_or(name);
    Op::from_name(op).ok_or_else(|| {
        let begins = |known: &&str| known.len() >= 3 && (known.contains(op) || op.contains(*known));
        let like: Vec<&str> = Op::ALL.iter().map(|op| op.name()).filter(begins).collect();
        if like.is_empty() { "unknown op".into() } else { format!("unknown op; similar ops are {}", like.join(", ")) }
    })
}

impl Support {
    pub(super) fn run(self) -> Done {
        let targets: Vec<Target> = match self.target {
            None => TARGETS.defaults().flat_map(|target| TARGETS.representatives(target)).collect(),
            Some(target) => TARGETS.representatives(target),
        };
        let text = if self.ops.is_empty() { page(&targets) } else { table(&self.ops, &targets) };
        write(self.output.as_deref().or(Some(Path::new("-"))), text.as_bytes())
    }
}
