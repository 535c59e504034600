//! The syntax of a line of VP1 assembly: a mnemonic and operands, separated by blanks.

use super::super::AsmError;
use super::super::number::Number;
use super::{Arg, Body, Fragment, Selected, Statement};
use crate::row::RegFile;

const FILES: [RegFile; 15] = [
    RegFile::R,
    RegFile::V,
    RegFile::Vx,
    RegFile::Va,
    RegFile::Vc,
    RegFile::A,
    RegFile::C,
    RegFile::L,
    RegFile::M,
    RegFile::X,
    RegFile::D,
    RegFile::F,
    RegFile::Sr,
    RegFile::Mi,
    RegFile::Uc,
];

/// Returns the file and the number of a register that has a name instead of a number.
fn named(name: &str) -> Option<(RegFile, u8)> {
    let number = |file: RegFile| file.named().iter().find(|named| named.1 == name).map(|named| named.0);
    FILES.into_iter().find_map(|file| number(file).map(|number| (file, number)))
}

/// A function that resolves additional register names, such as the placeholder `$0` of a template.
pub(crate) type Names<'n> = &'n dyn Fn(&str) -> Option<(RegFile, u8)>;

/// Function that resolves no additional register names.
pub(super) const NO_NAMES: Names<'static> = &|_| None;

impl<'a> Statement<'a> {
    pub(crate) fn parse_spaced(line: Fragment<'a>, names: Names<'_>) -> Result<Statement<'a>, AsmError> {
        let (mnemonic, mut rest) = token(line);
        let mut args = Vec::new();
        while !rest.text.is_empty() {
            let (piece, after) = token(rest);
            args.push(Arg { piece, bang: false, minus: false, bars: false, body: body(piece, names)?, suffix: None });
            rest = after;
        }
        Ok(Statement { line, guard: None, mnemonic, modifiers: Vec::new(), args })
    }

    /// Replaces the number of the last operand if that operand is a register.
    pub(crate) fn renumber_last(&mut self, to: u8) {
        if let Some(Body::Reg(_, number)) = self.args.last_mut().map(|arg| &mut arg.body) {
            *number = to;
        }
    }
}

/// Splits off the first token: text without blanks, or text in parentheses.
fn token(piece: Fragment<'_>) -> (Fragment<'_>, Fragment<'_>) {
    let enclosed = piece.text.starts_with('(').then(|| piece.text.find(')')).flatten();
    let (token, rest) = match enclosed {
        Some(end) => (piece.to(end + 1), piece.from(end + 1)),
        None => piece.split_while(|c| !c.is_whitespace()),
    };
    (token, rest.trim())
}

fn body<'a>(piece: Fragment<'a>, names: Names<'_>) -> Result<Body<'a>, AsmError> {
    if piece.text.starts_with('(') {
        return selected(piece, names).map(Body::Selected);
    }
    if piece.text.starts_with('$') {
        return register(piece, names);
    }
    Ok(Number::parse(piece.text).map_or(Body::Name(piece.text), Body::Number))
}

/// Parses `$r5`, `$v2d`, `$v4q` or `$vc`.
fn register<'a>(piece: Fragment<'a>, names: Names<'_>) -> Result<Body<'a>, AsmError> {
    let (name, count) = tuple(piece.text);
    if let Some((file, number)) = names(name) {
        return Ok(if count == 1 { Body::Reg(file, number) } else { Body::Tuple(file, number, count) });
    }
    if let Some((file, number)) = named(piece.text) {
        return Ok(Body::Reg(file, number));
    }
    let malformed =
        || piece.malformed("register", "`$`, the name of a file, a number, and `d` of a pair or `q` of a quad");
    let end = piece.text.find(|c: char| c.is_ascii_digit()).unwrap_or(piece.text.len());
    let prefix = piece.to(end).text;
    let file = FILES.into_iter().find(|f| f.prefix() == prefix).ok_or_else(malformed)?;
    let (digits, suffix) = piece.from(end).split_while(|c| c.is_ascii_digit());
    if digits.text.is_empty() {
        return Ok(Body::Whole(file));
    }
    // A number that overflows `u8` exceeds the last register of every file, as `u8::MAX` does.
    let number = digits.text.parse().unwrap_or(u8::MAX);
    match suffix.text {
        "" => Ok(Body::Reg(file, number)),
        "d" => Ok(Body::Tuple(file, number, 2)),
        "q" => Ok(Body::Tuple(file, number, 4)),
        _ => Err(malformed()),
    }
}

/// Removes the `d` of a pair or the `q` of a quad after the digits of a name. Also returns the number of registers.
pub(crate) fn tuple(name: &str) -> (&str, u8) {
    let first = |suffix| name.strip_suffix(suffix).filter(|first: &&str| first.ends_with(|c: char| c.is_ascii_digit()));
    let pair = first('d').map(|first| (first, 2));
    pair.or_else(|| first('q').map(|first| (first, 4))).unwrap_or((name, 1))
}

/// Parses `(slct $c2 lzf $r4d)`.
fn selected<'a>(piece: Fragment<'a>, names: Names<'_>) -> Result<Selected<'a>, AsmError> {
    let malformed = || piece.malformed("operand", "`(slct $cN bit $rNd)`");
    let inside = piece.text.strip_suffix(')').map(|t| piece.to(t.len()).from(1).trim()).ok_or_else(malformed)?;
    let (word, rest) = token(inside);
    let (flags, rest) = token(rest);
    let (bit, tuple) = token(rest);
    match (word.text, register(flags, NO_NAMES), register(tuple, names)) {
        ("slct", Ok(Body::Reg(RegFile::C, index)), Ok(Body::Tuple(file, number, count))) => {
            Ok(Selected { index, bit: bit.text, file, number, count })
        }
        _ => Err(malformed()),
    }
}
