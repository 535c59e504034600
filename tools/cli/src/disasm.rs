//! `halfbyte disasm`

use std::path::PathBuf;

use halfbyte::ir::{Diagnostic, Span};
use halfbyte::report::Report;
use serde_json::json;

use super::io::{Input, print};
use super::{Done, Machine, json};

/// Disassembles: prints the assembly text of each instruction word, one per line
///
/// The input has one instruction word per line: 0x and hexadecimal digits, most significant first, 32 digits for HALU
/// and 8 for VP1. An invalid instruction word becomes `.word 0x..`. `asm` turns the output back into the same words, or
/// on VP1 possibly into other encodings of the same instructions.
///
/// With --json, lines {"word", "pos"} become {"text"} or {"error"}. "pos" is the address of the instruction word in
/// hexadecimal, 0x0 if absent; the branch targets of VP1 depend on it. A line that is not a JSON object becomes
/// {"error"}. The command then exits with code 1 after the last line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Disasm {
    /// Instruction set
    #[arg(long, value_enum)]
    target: Machine,
    /// Read and print JSON lines
    #[arg(long)]
    json: bool,
    /// File with the instruction words; - is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte compile examples/axpy.hb --target halu --emit words | halfbyte disasm --target halu
  echo 0x00000000000000000000000201007230 | halfbyte disasm --target halu
  echo '{\"word\": \"0xe0000801\", \"pos\": \"0x10\"}' | halfbyte disasm --target vp1 --json";

impl Disasm {
    pub(super) fn run(self) -> Done {
        if self.json {
            return json::answer(&self.file, |members| {
                let word = json::text(members, "word")?;
                let at = if members.contains_key("pos") { json::word(json::text(members, "pos")?)? } else { 0 };
                Ok(json!({ "text": self.target.disassemble(word, at)? }))
            });
        }
        let input = Input::read(&self.file)?;
        let text = input.text()?;
        let mut lines = String::new();
        let mut errors = Vec::new();
        let (mut start, mut at) = (0, 0);
        for line in text.split_inclusive('\n') {
            let digits = line.trim();
            if !digits.is_empty() {
                match self.target.disassemble(digits, at) {
                    Ok(word) => lines = lines + &word + "\n",
                    Err(error) => {
                        let from = start + (line.len() - line.trim_start().len()) as u32;
                        let span = Span { start: from, end: from + digits.len() as u32 };
                        errors.push(Diagnostic::new(span, error));
                    }
                }
                at += 1;
            }
            start += line.len() as u32;
        }
        if errors.is_empty() {
            print(lines.as_bytes())
        } else {
            Err(Report::new(input.name.clone(), text, errors).into())
        }
    }
}
