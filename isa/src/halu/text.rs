//! HALU assembly: conversion of instructions and programs to text and back.

use super::{Inst, Opcode};
use crate::text::reader::{self, Candidate, Position};
use crate::text::{AsmError, Fragment, Line, LineBody, Syntax, printer, program};
use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Write};
use std::sync::LazyLock;

/// The opcodes of each mnemonic, in order.
static MNEMONICS: LazyLock<HashMap<&'static str, Vec<Opcode>>> = LazyLock::new(|| {
    let mut map: HashMap<_, Vec<_>> = HashMap::new();
    for &op in Opcode::ALL {
        map.entry(op.row().mnemonic).or_default().push(op);
    }
    map
});

/// Returns every mnemonic once, in the order of the opcodes.
pub fn mnemonics() -> impl Iterator<Item = &'static str> {
    let mut last = "";
    let names = Opcode::ALL.iter().map(|o| o.row().mnemonic);
    names.filter(move |&m| std::mem::replace(&mut last, m) != m)
}

/// Returns the opcodes of a mnemonic. Returns an empty slice if the mnemonic is unknown.
pub fn opcodes_of(mnemonic: &str) -> &'static [Opcode] {
    MNEMONICS.get(mnemonic).map_or(&[], Vec::as_slice)
}

/// Formats the canonical line, with branch targets as `.+N`. The text of an invalid instruction may fail to assemble.
impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        printer::print(f, self.row(), self.word, &relative)
    }
}

fn relative(out: &mut dyn Write, distance: i64) -> fmt::Result {
    write!(out, ".{distance:+}")
}

/// Writes a 128-bit word as assembly text: the instruction, or `.word` with hexadecimal digits if
/// the word is not a valid instruction.
fn print_word(out: &mut dyn Write, word: u128, target: &dyn Fn(&mut dyn Write, i64) -> fmt::Result) -> fmt::Result {
    match Inst::decode(word) {
        Some(inst) => printer::print(out, inst.row(), word, target),
        None => write!(out, ".word {word:#034x}"),
    }
}

/// Disassembles any 128-bit word to a line of assembly. The line assembles to the same word.
pub fn word_text(word: u128) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = print_word(&mut text, word, &relative);
    text
}

/// Assembles one line to a 128-bit word. The line is an instruction with branch targets as `.+N`,
/// or `.word` and a number.
pub fn read_word(line: &str) -> Result<u128, AsmError> {
    let Line { label, code } = Line::parse(line, Syntax::Halu)?;
    if let Some(label) = label {
        return Err(label.malformed("line", "an instruction, and no label"));
    }
    match code? {
        Some(code) => code_word(&code, Position::SINGLE_LINE),
        None => {
            let end = Fragment { text: "", start: line.len() };
            Err(end.malformed("line", "an instruction"))
        }
    }
}

impl std::str::FromStr for Inst {
    type Err = AsmError;

    /// Parses one instruction, with branch targets as `.+N`.
    fn from_str(line: &str) -> Result<Inst, AsmError> {
        let whole = Fragment { text: line, start: 0 };
        Inst::decode(read_word(line)?).ok_or_else(|| whole.malformed("instruction", "a word that decodes"))
    }
}

fn code_word(code: &LineBody<'_>, place: Position<'_>) -> Result<u128, AsmError> {
    match code {
        LineBody::Word(word) => Ok(*word),
        LineBody::Statement(statement) => {
            let candidate = |&key: &Opcode| Candidate { key, row: key.row(), named: key.derived().named, alias: None };
            let candidates = opcodes_of(statement.mnemonic()).iter().map(candidate);
            reader::read(statement, candidates, place).map(|(_, word)| word)
        }
    }
}

/// An assembled program.
pub type Program = program::Program<u128>;

/// Assembles a text in which each line has at most one label and one instruction. `.word 0x...` may stand in place of
/// an instruction. `//` begins a comment, and `;` may end a line. Returns the program or the errors of all lines.
pub fn assemble(text: &str) -> Result<Program, Vec<AsmError>> {
    program::assemble(text, Syntax::Halu, |code, at, label| code_word(code, Position { base: at, label }))
}

/// Disassembles a program, one line per instruction word, with labels at the branch targets.
/// [`assemble`] converts the returned text to the same words.
pub fn disassemble(words: &[u128]) -> String {
    let target = |at: usize, word: u128| {
        let inst = Inst::decode(word).filter(|i| i.opcode() == Opcode::BRA)?;
        let target = at as i64 + inst.get_signed(super::fields::IMM32);
        usize::try_from(target).ok().filter(|&t| t <= words.len())
    };
    let targets: BTreeSet<usize> = words.iter().enumerate().filter_map(|(at, &w)| target(at, w)).collect();
    let mut text = String::new();
    for at in 0..=words.len() {
        if targets.contains(&at) {
            let _ = writeln!(text, "L{at}:");
        }
        let Some(&word) = words.get(at) else { break };
        text.push_str("    ");
        let branch = |out: &mut dyn Write, distance: i64| match target(at, word) {
            Some(to) => write!(out, "L{to}"),
            None => relative(out, distance),
        };
        let _ = print_word(&mut text, word, &branch);
        text.push('\n');
    }
    text
}
