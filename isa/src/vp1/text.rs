//! VP1 assembly: conversion of instructions and programs to text and back.

use super::{Inst, Opcode};
use crate::row::{Alias, WORDS_PER_GROUP};
use crate::text::reader::{self, Candidate, Position};
use crate::text::{AsmError, Fragment, Line, LineBody, Names, Statement, Syntax, printer, program};
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::LazyLock;

/// An opcode that a mnemonic denotes, and the alias if the mnemonic is an alias of the row.
pub type EncodingForm = (Opcode, Option<&'static Alias>);

#[derive(Default)]
struct Mnemonics {
    /// The mnemonics that the printer uses, each once, in the order of the opcodes.
    order: Vec<&'static str>,
    forms: HashMap<&'static str, Vec<EncodingForm>>,
}

static MNEMONICS: LazyLock<Mnemonics> = LazyLock::new(|| {
    let mut mnemonics = Mnemonics::default();
    // An alias may have the same mnemonic as its row. Such an alias accepts the operand order of the reference.
    for &op in Opcode::ALL.iter().filter(|o| o.is_named()) {
        let row = op.row();
        let aliases = row.aliases.iter().map(|a| (a.mnemonic, Some(a)));
        for (mnemonic, alias) in std::iter::once((row.mnemonic, None)).chain(aliases) {
            let forms = mnemonics.forms.entry(mnemonic).or_default();
            let is_printed = alias.is_none_or(|a| !a.implied_fields.is_empty());
            if is_printed && forms.is_empty() {
                mnemonics.order.push(mnemonic);
            }
            forms.push((op, alias));
        }
    }
    mnemonics
});

/// Returns every mnemonic that the printer uses, in the order of the opcodes. The parser also
/// accepts the mnemonics of aliases that are never printed ([`Alias`]).
pub fn mnemonics() -> &'static [&'static str] {
    &MNEMONICS.order
}

/// Returns the opcodes and aliases of a mnemonic. Returns an empty slice if the mnemonic is unknown.
pub fn forms_of(mnemonic: &str) -> &'static [EncodingForm] {
    MNEMONICS.forms.get(mnemonic).map_or(&[], Vec::as_slice)
}

/// Returns the address of the first instruction word in the group of four that contains the address `at`.
const fn group(at: i64) -> i64 {
    at.div_euclid(WORDS_PER_GROUP) * WORDS_PER_GROUP
}

/// Writes the instruction word at address `at` of a program as text: the line of its instruction,
/// or `.word` and its digits.
fn print(out: &mut dyn Write, word: u32, at: u32) -> fmt::Result {
    let target = |out: &mut dyn Write, distance: i64| write!(out, "{:#x}", group(at.into()) + distance);
    match Opcode::of_word(word).filter(|op| op.is_named()) {
        Some(op) => printer::print_spaced(out, op.row(), word.into(), &target),
        None => write!(out, ".word {word:#010x}"),
    }
}

/// Disassembles the instruction word at address `at` of a program. The address determines the text of a branch target.
pub fn word_text(word: u32, at: u32) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = print(&mut text, word, at);
    text
}

/// Formats the canonical line of the instruction at address 0.
impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.word(), 0)
    }
}

/// Assembles one line to the instruction word at address `at` of a program. The line is an
/// instruction, or `.word` and a number.
pub fn read_word(line: &str, at: u32) -> Result<u32, AsmError> {
    let Line { label, code } = Line::parse(line, Syntax::Vp1)?;
    if let Some(label) = label {
        return Err(label.malformed("line", "an instruction, and no label"));
    }
    match code? {
        Some(code) => code_word(&code, at.into(), &|_| None),
        None => Err(Fragment { text: "", start: line.len() }.malformed("line", "an instruction")),
    }
}

fn code_word(code: &LineBody<'_>, at: i64, label: program::Label<'_>) -> Result<u32, AsmError> {
    match code {
        // The syntax limits the value to 32 bits.
        LineBody::Word(word) => Ok(*word as u32),
        LineBody::Statement(statement) => {
            instruction(statement, Position { base: group(at), label }).map(|inst| inst.word)
        }
    }
}

fn instruction(statement: &Statement<'_>, place: Position<'_>) -> Result<Inst, AsmError> {
    let candidate = |&(key, alias): &EncodingForm| Candidate { key, row: key.row(), named: u32::MAX.into(), alias };
    let candidates = forms_of(statement.mnemonic()).iter().map(candidate);
    let (opcode, word) = reader::read(statement, candidates, place)?;
    Ok(Inst { opcode, word: word as u32 })
}

/// Parses an instruction whose text may use register names that the function `names` resolves.
pub(super) fn read_named(text: Fragment<'_>, names: Names<'_>) -> Result<Inst, AsmError> {
    instruction(&Statement::parse_spaced(text, names)?, Position::SINGLE_LINE)
}

/// Parses an instruction whose last register number shares all its bits with other fields, which
/// determine the number. Returns `None` if no register number gives a valid instruction.
pub(super) fn read_sharing(text: Fragment<'_>, names: Names<'_>) -> Option<Inst> {
    let mut statement = Statement::parse_spaced(text, names).ok()?;
    // Other parts of the text set every bit of the number, so exactly one number is valid.
    (0..32).find_map(|number| {
        statement.renumber_last(number);
        instruction(&statement, Position::SINGLE_LINE).ok()
    })
}

/// An assembled program.
pub type Program = program::Program<u32>;

/// Assembles a text in which each line has at most one label and one instruction. `.word 0x...` may stand in place of
/// an instruction. `//` begins a comment, and `;` may end a line. The target of a branch must have an address that is a
/// multiple of 4. Returns the program or the errors of all lines.
pub fn assemble(text: &str) -> Result<Program, Vec<AsmError>> {
    program::assemble(text, Syntax::Vp1, code_word)
}

/// Disassembles a program, one line per instruction word. [`assemble`] converts the returned text
/// to words that disassemble to the same text.
pub fn disassemble(words: &[u32]) -> String {
    let mut text = String::new();
    for (&word, at) in words.iter().zip(0..) {
        let _ = print(&mut text, word, at);
        text.push('\n');
    }
    text
}
