//! The syntax of a line of assembly, independent of the instruction: guard, mnemonic, modifiers, operands.

pub(crate) mod spaced;

use super::number::Number;
use super::{AsmError, AsmErrorKind};
use crate::row::RegFile;
use spaced::NO_NAMES;
use std::ops::Range;

/// A substring of a line, with its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment<'a> {
    /// The substring.
    pub text: &'a str,
    /// The offset in bytes of the substring's start in the line.
    pub start: usize,
}

impl<'a> Fragment<'a> {
    /// Returns the byte range of the substring in the line.
    pub fn span(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Creates an error at the position of the substring.
    pub fn error(self, kind: AsmErrorKind) -> AsmError {
        AsmError { line: 1, span: self.span(), found: self.text.to_owned(), kind }
    }

    pub(crate) fn malformed(self, what: &'static str, expected: &'static str) -> AsmError {
        self.error(AsmErrorKind::Malformed { what, expected })
    }

    pub(super) fn from(self, offset: usize) -> Fragment<'a> {
        Fragment { text: self.text.get(offset..).unwrap_or(""), start: self.start + offset }
    }

    pub(super) fn to(self, end: usize) -> Fragment<'a> {
        Fragment { text: self.text.get(..end).unwrap_or(self.text), start: self.start }
    }

    pub(crate) fn trim(self) -> Fragment<'a> {
        let text = self.text.trim_start();
        Fragment { text: text.trim_end(), start: self.start + self.text.len() - text.len() }
    }

    /// Removes a leading character and the blanks after it. Returns `None` if the substring does
    /// not start with that character.
    pub(super) fn strip(self, lead: char) -> Option<Fragment<'a>> {
        let rest = self.text.strip_prefix(lead)?;
        Some(self.from(self.text.len() - rest.len()).trim())
    }

    /// Returns the text before and after the first occurrence of a character.
    pub(super) fn split_at(self, separator: char) -> Option<(Fragment<'a>, Fragment<'a>)> {
        let at = self.text.find(separator)?;
        Some((self.to(at), self.from(at + separator.len_utf8())))
    }

    /// Splits off the longest prefix of characters that satisfy `keep`.
    pub(super) fn split_while(self, keep: impl Fn(char) -> bool) -> (Fragment<'a>, Fragment<'a>) {
        let end = self.text.find(|c| !keep(c)).unwrap_or(self.text.len());
        (self.to(end), self.from(end))
    }
}

/// The assembly syntax of an instruction set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `@P0 HADD2.SAT R0, R1, R2 ;`
    Halu,
    /// `vadd s $v0 $vc1 $v2 $v3`
    Vp1,
}

/// A line of a program: at most one label, followed by at most one instruction or `.word` directive.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// The label before the colon.
    pub label: Option<Fragment<'a>>,
    /// The instruction or directive, or `None` if the line has neither. The label is valid even if
    /// this part is malformed.
    pub code: Result<Option<LineBody<'a>>, AsmError>,
}

/// The part of a line that defines an instruction word.
#[derive(Clone, Debug)]
pub enum LineBody<'a> {
    /// A `.word` directive with its value.
    Word(u128),
    /// An instruction.
    Statement(Statement<'a>),
}

impl<'a> Line<'a> {
    /// Parses a line of assembly. `//` begins a comment, and `;` may end an instruction or directive.
    pub fn parse(line: &'a str, syntax: Syntax) -> Result<Line<'a>, AsmError> {
        let whole = Fragment { text: line, start: 0 };
        let code = whole.to(line.find("//").unwrap_or(line.len())).trim();
        let (label, code) = match code.split_at(':') {
            None => (None, code),
            Some((label, code)) => (Some(label.trim()), code.trim()),
        };
        if let Some(label) = label.filter(|l| !is_label(l.text, syntax)) {
            const EXPECTED: &str = "letters, digits, `_` and `$`, not beginning with a digit, and no register";
            return Err(label.malformed("label", EXPECTED));
        }
        let code = LineBody::parse(code, syntax);
        Ok(Line { label, code })
    }
}

impl<'a> LineBody<'a> {
    fn parse(code: Fragment<'a>, syntax: Syntax) -> Result<Option<LineBody<'a>>, AsmError> {
        if code.text.is_empty() {
            return Ok(None);
        }
        let (line, after) = code.split_while(|c| c != ';');
        if let Some(rest) = after.strip(';').filter(|p| !p.text.is_empty()) {
            return Err(rest.malformed("line", "nothing after the `;`"));
        }
        let line = line.trim();
        let Some(number) = line.text.strip_prefix(".word") else {
            let statement = match syntax {
                Syntax::Halu => Statement::parse(line),
                Syntax::Vp1 => Statement::parse_spaced(line, NO_NAMES),
            };
            return statement.map(|s| Some(LineBody::Statement(s)));
        };
        let number = line.from(line.text.len() - number.len()).trim();
        let digits = number.text.strip_prefix("0x").unwrap_or("");
        let word =
            if digits.bytes().all(|b| b.is_ascii_hexdigit()) { u128::from_str_radix(digits, 16).ok() } else { None };
        let (bits, expected) = match syntax {
            Syntax::Halu => (u128::BITS, "0x and at most 32 hexadecimal digits"),
            Syntax::Vp1 => (u32::BITS, "0x and at most 8 hexadecimal digits"),
        };
        let malformed = || number.malformed("word", expected);
        let word = word.filter(|w| w.leading_zeros() >= u128::BITS - bits);
        word.map(|w| Some(LineBody::Word(w))).ok_or_else(malformed)
    }
}

/// A parsed line of assembly with one instruction.
#[derive(Clone, Debug)]
pub struct Statement<'a> {
    /// The whole line, without comment, label and terminator.
    pub(super) line: Fragment<'a>,
    pub(super) guard: Option<(u8, bool)>,
    pub(super) mnemonic: Fragment<'a>,
    pub(super) modifiers: Vec<Fragment<'a>>,
    pub(super) args: Vec<Arg<'a>>,
}

/// An operand as written in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arg<'a> {
    pub piece: Fragment<'a>,
    pub bang: bool,
    pub minus: bool,
    pub bars: bool,
    pub body: Body<'a>,
    pub suffix: Option<Fragment<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Body<'a> {
    Reg(RegFile, u8),
    AllPreds,
    Number(Number<'a>),
    /// `[...]`
    Memory(Terms<'a>),
    /// `c[...][...]`
    Const(Number<'a>, Terms<'a>),
    /// `.+3`
    Relative(Number<'a>),
    Name(&'a str),
    /// `$v2d`, `$v4q`
    Tuple(RegFile, u8, u8),
    /// `$vc`
    Whole(RegFile),
    /// `(slct $c2 lzf $r4d)`
    Selected(Selected<'a>),
}

/// `(slct $c2 lzf $r4d)`
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected<'a> {
    /// The number of the `$c` register.
    pub index: u8,
    pub bit: &'a str,
    pub file: RegFile,
    pub number: u8,
    pub count: u8,
}

/// The terms between the brackets of an address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms<'a> {
    pub gpr: Option<(u8, Option<Fragment<'a>>)>,
    pub ur: Option<u8>,
    pub imm: Option<Number<'a>>,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// Returns `true` if the text is a valid label: letters, digits, `_` and `$`, not beginning with a
/// digit, and no register name.
fn is_label(text: &str, syntax: Syntax) -> bool {
    let shaped = text.chars().all(is_word) && text.starts_with(|c: char| !c.is_ascii_digit());
    shaped
        && match syntax {
            Syntax::Halu => matches!(name(Fragment { text, start: 0 }), Ok(Body::Name(_))),
            Syntax::Vp1 => !text.starts_with('$'),
        }
}

/// Classifies an identifier: a register, all predicates together (`PR`), or a name whose meaning the row defines.
fn name(word: Fragment<'_>) -> Result<Body<'_>, AsmError> {
    const FILES: [(RegFile, &str); 3] = [
        (RegFile::Ur, "register number above 62: UR0 to UR62, or URZ"),
        (RegFile::Gpr, "register number above 254: R0 to R254, or RZ"),
        (RegFile::Pred, "not a predicate: P0 to P6, or PT"),
    ];
    if word.text.eq_ignore_ascii_case("PR") {
        return Ok(Body::AllPreds);
    }
    for (file, allowed) in FILES {
        let Some((constant, name)) = file.constant() else { continue };
        if word.text.eq_ignore_ascii_case(name) {
            return Ok(Body::Reg(file, constant));
        }
        let prefix = file.prefix();
        let lead = word.text.get(..prefix.len()).unwrap_or("");
        let digits = word.from(prefix.len()).text;
        if lead.eq_ignore_ascii_case(prefix) && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
            return match digits.parse::<u8>() {
                Ok(n) if n < constant => Ok(Body::Reg(file, n)),
                _ => Err(word.error(AsmErrorKind::Register { allowed })),
            };
        }
    }
    Ok(Body::Name(word.text))
}

impl<'a> Statement<'a> {
    /// Returns the mnemonic as written in the text.
    pub fn mnemonic(&self) -> &'a str {
        self.mnemonic.text
    }

    fn parse(line: Fragment<'a>) -> Result<Statement<'a>, AsmError> {
        let (guard, rest) = match line.strip('@') {
            None => (None, line),
            Some(rest) => {
                let (not, rest) = match rest.strip('!') {
                    Some(rest) => (true, rest),
                    None => (false, rest),
                };
                let (word, rest) = rest.split_while(is_word);
                match name(word)? {
                    Body::Reg(RegFile::Pred, n) => (Some((n, not)), rest.trim()),
                    _ => return Err(word.malformed("guard", "a predicate")),
                }
            }
        };
        let (mnemonic, rest) = rest.split_while(is_word);
        if mnemonic.text.is_empty() {
            let (found, _) = rest.split_while(|c| !c.is_whitespace());
            return Err(found.malformed("instruction", "a mnemonic"));
        }
        let (modifiers, rest) = rest.split_while(|c| !c.is_whitespace());
        let modifiers = match modifiers.strip('.') {
            None if modifiers.text.is_empty() => Vec::new(),
            None => return Err(modifiers.malformed("modifier", "a dot and a name")),
            Some(dotted) => split(dotted, '.').collect(),
        };
        if let Some(bad) = modifiers.iter().find(|m| m.text.is_empty() || !m.text.chars().all(is_word)) {
            return Err(bad.malformed("modifier", "a name after the dot"));
        }
        let rest = rest.trim();
        let args = if rest.text.is_empty() {
            Vec::new()
        } else {
            split(rest, ',').map(|p| argument(p.trim())).collect::<Result<_, _>>()?
        };
        Ok(Statement { line, guard, mnemonic, modifiers, args })
    }
}

/// Splits a substring at every occurrence of a separator.
pub(crate) fn split(piece: Fragment<'_>, separator: char) -> impl Iterator<Item = Fragment<'_>> {
    let mut start = piece.start;
    piece.text.split(separator).map(move |text| {
        let part = Fragment { text, start };
        start += text.len() + separator.len_utf8();
        part
    })
}

fn argument(piece: Fragment<'_>) -> Result<Arg<'_>, AsmError> {
    let malformed = || piece.malformed("operand", "a register, a number, an address or a name");
    let plain = |body| Ok(Arg { piece, bang: false, minus: false, bars: false, body, suffix: None });
    if let Some(number) = Number::parse(piece.text) {
        return plain(Body::Number(number));
    }
    if let Some(distance) = piece.text.strip_prefix('.') {
        let number = Number::parse(distance).filter(|_| distance.starts_with(['+', '-']));
        return plain(Body::Relative(number.ok_or_else(malformed)?));
    }
    let (bang, rest) = piece.strip('!').map_or((false, piece), |p| (true, p));
    let (minus, rest) = rest.strip('-').map_or((false, rest), |p| (true, p));
    let (bars, rest) = rest.strip('|').map_or((false, rest), |p| (true, p));
    let (word, rest) = rest.split_while(is_word);
    let (body, rest) = if let Some(inside) = rest.strip('[') {
        let (first, rest) = inside.split_at(']').ok_or_else(malformed)?;
        match word.text {
            "" => (Body::Memory(terms(first)?), rest),
            "c" | "C" => {
                let bank = Number::parse(first.text.trim()).ok_or_else(malformed)?;
                let inside = rest.trim().strip('[').ok_or_else(malformed)?;
                let (second, rest) = inside.split_at(']').ok_or_else(malformed)?;
                (Body::Const(bank, terms(second)?), rest)
            }
            _ => return Err(malformed()),
        }
    } else if word.text.is_empty() || word.text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(malformed());
    } else {
        (name(word)?, rest)
    };
    let (inner, rest) = take_suffix(rest.trim());
    let (outer, rest) = match (bars, rest.strip('|')) {
        (true, Some(rest)) => take_suffix(rest),
        (false, None) => (None, rest),
        _ => return Err(malformed()),
    };
    if !rest.text.is_empty() || inner.is_some() && outer.is_some() {
        return Err(malformed());
    }
    Ok(Arg { piece, bang, minus, bars, body, suffix: inner.or(outer) })
}

/// Splits off a leading dot and the name after it, if present.
fn take_suffix(piece: Fragment<'_>) -> (Option<Fragment<'_>>, Fragment<'_>) {
    match piece.text.strip_prefix('.') {
        None => (None, piece),
        Some(_) => {
            let (name, rest) = piece.from(1).split_while(is_word);
            (Some(name), rest.trim())
        }
    }
}

/// Parses the terms of an address, such as `R1.U32+UR4+0x10`, `R2.64-0x8` or `0x10`. Each term
/// occurs at most once and in this order.
fn terms(piece: Fragment<'_>) -> Result<Terms<'_>, AsmError> {
    let malformed = || piece.malformed("address", "a GPR, a UR and a number, in this order, any of them left out");
    let mut terms = Terms::default();
    let mut rest = piece.trim();
    let mut first = true;
    while first || !rest.text.is_empty() {
        let term = match rest.strip('+') {
            Some(term) if !first => term,
            None if first || rest.text.starts_with('-') => rest,
            _ => return Err(malformed()),
        };
        first = false;
        if let Some(number) = Number::parse(term.text) {
            terms.imm = Some(number);
            return Ok(terms);
        }
        let (word, after) = term.split_while(is_word);
        let (suffix, after) = take_suffix(after);
        match name(word)? {
            Body::Reg(RegFile::Gpr, n) if terms.gpr.is_none() && terms.ur.is_none() => terms.gpr = Some((n, suffix)),
            Body::Reg(RegFile::Ur, n) if terms.ur.is_none() && suffix.is_none() => terms.ur = Some(n),
            _ => return Err(malformed()),
        }
        rest = after.trim();
    }
    Ok(terms)
}
