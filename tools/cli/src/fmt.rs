//! `halfbyte fmt`

use std::path::{Path, PathBuf};

use halfbyte::abi::Limits;
use halfbyte::lang;
use halfbyte::report::Report;

use super::io::{Input, kernel_files, print, write};
use super::output::say;
use super::{Done, Failure, Message};

/// Formats files in the kernel language; kernels in the IR are left unchanged
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Fmt {
    /// Files, or folders that are searched for *.hb files; - formats standard input to standard output
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Write nothing; list the files that would change, and fail if there are any
    #[arg(long)]
    check: bool,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte fmt mine.hb
  halfbyte fmt --check examples
  halfbyte fmt - < mine.hb";

impl Fmt {
    pub(super) fn run(self) -> Done {
        let mut changed = 0;
        for file in kernel_files(&self.files)? {
            let input = file.read(Limits::generous().text_bytes)?;
            let written = formatted(&input)?;
            let is_stream = file.path == Path::new("-");
            if is_stream && !self.check {
                print(written.as_bytes())?;
            } else if written.as_bytes() != input.bytes {
                changed += 1;
                match self.check {
                    true => say(&format!("{}: the file is not formatted\n", input.name)),
                    false => write(Some(&file.path), written.as_bytes())?,
                }
            }
        }
        if self.check && changed > 0 { Err(Failure::Input(Message::Said)) } else { Ok(()) }
    }
}

fn formatted(input: &Input) -> Result<String, Failure> {
    let text = input.text()?;
    if !lang::is_language(text) {
        return Ok(text.to_owned());
    }
    lang::format(text).map_err(|errors| Report::new(input.name.as_str(), text, errors).into())
}
