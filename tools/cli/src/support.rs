//! `halfbyte support`

use std::path::{Path, PathBuf};

use halfbyte::ir::Op;
use halfbyte::{TARGETS, Target};
use halfbyte_testkit::matrix::{page, table};

use super::Done;
use super::io::write;

/// Says what each target makes of each op on each type: which instruction, how many, or why it refuses
///
/// Prints a page of Markdown; with --op, the table of those ops.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Support {
    /// Only this target; PTX is asked for every SM version that differs from those before it
    #[arg(long, value_parser = super::target_name())]
    target: Option<Target>,
    /// Only this op; may be given several times
    #[arg(long = "op", value_name = "NAME", value_parser = op)]
    ops: Vec<Op>,
    /// Where to; - is standard output
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte support --op add_sat_u --op avg_u
  halfbyte support --op fmul --target ptx";

fn op(name: &str) -> Result<Op, String> {
    // A name with its type or modifiers means the op.
    let op = name.split('.').next().unwrap_or(name);
    Op::from_name(op).ok_or_else(|| {
        let begins = |known: &&str| known.len() >= 3 && (known.contains(op) || op.contains(*known));
        let like: Vec<&str> = Op::ALL.iter().map(|op| op.name()).filter(begins).collect();
        if like.is_empty() { "no op".into() } else { format!("no op; there are {}", like.join(", ")) }
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
