//! Assembly of whole programs, with labels and with the errors of all lines.

use super::{AsmError, AsmErrorKind, Line, LineBody, Syntax};
use std::collections::HashMap;

/// An assembled program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program<W> {
    /// The instruction words, in order.
    pub words: Vec<W>,
    /// For each instruction word, the line of the source text that defines it, from 1.
    pub lines: Vec<usize>,
}

/// A function that resolves a label to the index of its instruction word.
pub(crate) type Label<'a> = &'a dyn Fn(&str) -> Option<i64>;

/// Assembles a text with at most one label and one instruction word per line. The function `word` encodes a line, given
/// the index of its instruction word. Returns the program or the errors of all lines.
pub(crate) fn assemble<W>(
    text: &str,
    syntax: Syntax,
    word: impl Fn(&LineBody<'_>, i64, Label<'_>) -> Result<W, AsmError>,
) -> Result<Program<W>, Vec<AsmError>> {
    let mut errors = Vec::new();
    let mut labels: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut code = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut fail = |e: AsmError| errors.push(AsmError { line: number, ..e });
        let line = match Line::parse(line, syntax) {
            Ok(line) => line,
            Err(e) => {
                fail(e);
                continue;
            }
        };
        if let Some(label) = line.label {
            let (first, _) = *labels.entry(label.text).or_insert((number, code.len()));
            if first != number {
                fail(label.error(AsmErrorKind::DuplicateLabel { first }));
            }
        }
        match line.code {
            Ok(word) => code.extend(word.map(|c| (number, c))),
            Err(e) => fail(e),
        }
    }
    let label = |label: &str| labels.get(label).map(|&(_, index)| index as i64);
    let mut program = Program { words: Vec::with_capacity(code.len()), lines: Vec::with_capacity(code.len()) };
    for (at, (number, code)) in code.iter().enumerate() {
        match word(code, at as i64, &label) {
            Ok(word) => {
                program.words.push(word);
                program.lines.push(*number);
            }
            Err(e) => errors.push(AsmError { line: *number, ..e }),
        }
    }
    errors.sort_by_key(|e| (e.line, e.span.start));
    if errors.is_empty() { Ok(program) } else { Err(errors) }
}
