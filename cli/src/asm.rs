//! `halfbyte asm`

use std::path::PathBuf;

use halfbyte::ir::{Diagnostic, Span};
use halfbyte::isa::text::AsmError;
use halfbyte::report::Report;
use serde_json::json;

use super::io::{Input, print};
use super::{Done, Machine, json};

/// Assembles: a word a line, most significant digit first
///
/// The input has a line an instruction, with labels (`loop:`) where branches go; `//` begins a comment.
/// With --json, lines {"asm"} become {"words": [..]} or {"error": ".."}.
#[derive(clap::Args)]
pub(super) struct Asm {
    /// The machine
    #[arg(long, value_enum)]
    target: Machine,
    /// Answer JSON lines
    #[arg(long)]
    json: bool,
    /// The assembly; - is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
}

impl Asm {
    pub(super) fn run(self) -> Done {
        if self.json {
            return json::answer(&self.file, |members| {
                let words = self.target.assemble(json::text(members, "asm")?).map_err(|errors| joined(&errors))?;
                Ok(json!({ "words": words }))
            });
        }
        let input = Input::read(&self.file)?;
        let text = input.text()?;
        let words = self.target.assemble(text).map_err(|errors| report(&input.name, text, &errors))?;
        let lines = words.into_iter().map(|word| word + "\n");
        print(lines.collect::<String>().as_bytes())
    }
}

/// Errors in one line.
pub(super) fn joined(errors: &[AsmError]) -> String {
    errors.iter().map(text).collect::<Vec<_>>().join("; ")
}

/// The most characters of the text that an error quotes.
const QUOTED: usize = 80;

/// An error in words.
fn text(error: &AsmError) -> String {
    match error.found.char_indices().nth(QUOTED) {
        Some((end, _)) => {
            let found = format!("{}...", error.found.get(..end).unwrap_or_default());
            AsmError { found, ..error.clone() }.to_string()
        }
        None => error.to_string(),
    }
}

/// Errors at their places.
fn report(name: &str, text: &str, errors: &[AsmError]) -> Report {
    let lines = halfbyte::ir::diag::Lines::new(text);
    let diagnostic = |error: &AsmError| {
        let start = lines.start(error.line);
        let at = |byte: usize| (start + byte) as u32;
        Diagnostic::new(Span { start: at(error.span.start), end: at(error.span.end) }, self::text(error))
    };
    Report::new(name, text, errors.iter().map(diagnostic).collect::<Vec<_>>())
}
