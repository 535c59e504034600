//! `halfbyte asm`

use std::path::PathBuf;

use halfbyte::ir::{Diagnostic, Span};
use halfbyte::isa::text::{AsmError, AsmErrorKind};
use halfbyte::report::Report;
use serde_json::json;

use super::io::{Input, print};
use super::names::closest_name;
use super::{Done, Machine, json};

/// Assembles: prints one instruction word per line, as 0x and hexadecimal digits
///
/// The input has one instruction per line. Branch targets are labels (`loop:`), and `//` begins a
/// comment. The digits are printed most significant first.
///
/// With --json, each line {"asm"} becomes {"words": [..]} or {"error": ".."}. A line that is not a
/// JSON object also becomes {"error"}. The command then exits with code 1 after the last line.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Asm {
    /// Instruction set
    #[arg(long, value_enum)]
    target: Machine,
    /// Read and print JSON lines
    #[arg(long)]
    json: bool,
    /// Assembly file; - is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  echo 'HADD2 R0, R1, R2 ;' | halfbyte asm --target halu
  halfbyte asm --target vp1 kernel.s | halfbyte disasm --target vp1
  echo '{\"asm\": \"vadd u $v1 $v2 $v3\"}' | halfbyte asm --target vp1 --json";

impl Asm {
    pub(super) fn run(self) -> Done {
        if self.json {
            return json::answer(&self.file, |members| {
                let words =
                    self.target.assemble(json::text(members, "asm")?).map_err(|errors| joined(self.target, &errors))?;
                Ok(json!({ "words": words }))
            });
        }
        let input = Input::read(&self.file)?;
        let text = input.text()?;
        let words = self.target.assemble(text).map_err(|errors| report(self.target, &input.name, text, &errors))?;
        let lines = words.into_iter().map(|word| word + "\n");
        print(lines.collect::<String>().as_bytes())
    }
}

/// Joins assembler errors into one line of text.
fn joined(machine: Machine, errors: &[AsmError]) -> String {
    errors.iter().map(|error| text(machine, error)).collect::<Vec<_>>().join("; ")
}

/// Maximum number of characters that an error quotes.
const QUOTED: usize = 80;

/// Formats an assembler error, with a suggestion for an unknown mnemonic.
fn text(machine: Machine, error: &AsmError) -> String {
    let text = match error.found.char_indices().nth(QUOTED) {
        Some((end, _)) => {
            let found = format!("{}...", error.found.get(..end).unwrap_or_default());
            AsmError { found, ..error.clone() }.to_string()
        }
        None => error.to_string(),
    };
    match error.kind {
        AsmErrorKind::UnknownMnemonic => text + &meant(machine, &error.found),
        _ => text,
    }
}

/// Returns `; did you mean ..?` with the most similar mnemonic and the modifiers of the input.
/// Returns an empty string if no mnemonic is similar.
fn meant(machine: Machine, found: &str) -> String {
    let (mnemonic, modifiers) = found.find('.').map_or((found, ""), |dot| found.split_at(dot));
    let near = closest_name(mnemonic, machine.set().mnemonics());
    near.map_or(String::new(), |near| format!("; did you mean `{near}{modifiers}`?"))
}

/// Creates a report with the errors at their source positions.
fn report(machine: Machine, name: &str, text: &str, errors: &[AsmError]) -> Report {
    let lines = halfbyte::ir::diag::Lines::new(text);
    let diagnostic = |error: &AsmError| {
        let start = lines.start(error.line);
        let at = |byte: usize| (start + byte) as u32;
        Diagnostic::new(Span { start: at(error.span.start), end: at(error.span.end) }, self::text(machine, error))
    };
    Report::new(name, text, errors.iter().map(diagnostic).collect::<Vec<_>>())
}
