//! Division of a PTX text into its declarations, for the linker.

use std::collections::BTreeMap;
use std::ops::Range;

use super::error::{Error, ErrorKind};
use super::lexer::{Lexer, Spanned, Token};
use crate::object::Loc;

/// A token, its location, and its byte range in the text.
#[derive(Clone, Debug)]
pub(super) struct Lexeme<'a> {
    pub token: Token<'a>,
    at: Loc,
    pub range: Range<usize>,
}

impl<'a> Lexeme<'a> {
    /// Returns the identifier, if the token is one.
    pub(super) fn name(&self) -> Option<&'a str> {
        match self.token {
            Token::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// A PTX text, divided into its declarations.
pub(super) struct SplitText<'a> {
    pub text: &'a str,
    /// The `.version`: major and minor number.
    pub version: (u32, u32),
    /// The first name of the `.target` directive.
    pub target: &'a str,
    /// The source files, by number.
    pub files: BTreeMap<u32, &'a str>,
    pub declarations: Vec<Declaration<'a>>,
    lexemes: Vec<Lexeme<'a>>,
}

/// The kind of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DeclarationKind {
    Entry,
    Function,
    Variable,
    /// A directive such as `.pragma`.
    Other,
}

/// The linkage of a declaration, from the weakest to the strongest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Linkage {
    /// The symbol belongs to its text.
    Local,
    /// The symbol is not defined here.
    Extern,
    /// `.weak` or `.common`: another definition may replace this one.
    Weak,
    /// `.visible`.
    Strong,
}

/// A declaration of a text.
#[derive(Debug)]
pub(super) struct Declaration<'a> {
    pub kind: DeclarationKind,
    linkage: Linkage,
    /// The declared symbols. Only a declaration of variables can have more than one symbol.
    pub names: Vec<&'a str>,
    /// `true` for a function or kernel with a body.
    pub has_body: bool,
    /// Byte range of the declaration, with its `;` or body.
    pub range: Range<usize>,
    /// Byte range of a function's declaration without its `;` or body.
    pub head: Range<usize>,
}

impl Declaration<'_> {
    /// Returns `true` if other texts may refer to the symbol. All kernels are external, because programs find them by
    /// name.
    pub(super) fn is_external(&self) -> bool {
        self.linkage != Linkage::Local || self.kind == DeclarationKind::Entry
    }

    /// Returns the linkage by which the linker chooses between several declarations of an external symbol.
    pub(super) fn linkage_of_definition(&self) -> Linkage {
        let is_only_declared =
            matches!(self.kind, DeclarationKind::Entry | DeclarationKind::Function) && !self.has_body;
        match self.linkage {
            _ if is_only_declared => Linkage::Extern,
            Linkage::Local => Linkage::Strong,
            linkage => linkage,
        }
    }
}

impl<'a> SplitText<'a> {
    /// Returns all tokens.
    pub(super) fn lexemes(&self) -> impl Iterator<Item = &Lexeme<'a>> {
        self.lexemes.iter()
    }

    /// Returns the tokens of a byte range.
    pub(super) fn in_range(&self, range: Range<usize>) -> &[Lexeme<'a>] {
        let start = self.lexemes.partition_point(|lexeme| lexeme.range.start < range.start);
        let end = self.lexemes.partition_point(|lexeme| lexeme.range.start < range.end);
        self.lexemes.get(start..end).unwrap_or_default()
    }

    /// Returns the SM number of the target.
    pub(super) fn target_number(&self) -> u32 {
        let digits = self.target.trim_start_matches(|c: char| !c.is_ascii_digit());
        digits.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0)
    }

    /// Returns `true` if the target has the suffix of an architecture or a family.
    pub(super) fn has_suffix(&self) -> bool {
        self.target.ends_with(['a', 'f'])
    }
}

/// Divides a text into its declarations.
///
/// # Errors
/// Returns the first lexical error, or an error for a text without `.version`.
pub(super) fn split(text: &str) -> Result<SplitText<'_>, Error> {
    let lexemes = lexemes(text)?;
    let mut split = Splitter { lexemes: &lexemes, next: 0 };
    let mut made = SplitText {
        text,
        version: (0, 0),
        target: "",
        files: BTreeMap::new(),
        declarations: Vec::new(),
        lexemes: Vec::new(),
    };
    while let Some(&Lexeme { token, at, ref range }) = split.peek() {
        match token {
            Token::Dotted("version") => made.version = split.version(),
            Token::Dotted("target") => {
                let line = split.line();
                made.target = line.iter().find_map(Lexeme::name).unwrap_or_default();
            }
            Token::Dotted("file") => {
                if let [_, Lexeme { token: Token::Number(number), .. }, Lexeme { token: Token::String(name), .. }, ..] =
                    split.line()
                    && let Ok(number) = number.parse()
                {
                    made.files.entry(number).or_insert(name);
                }
            }
            Token::Dotted("address_size" | "loc") => _ = split.line(),
            Token::Dotted("section") => split.section(),
            Token::Punct(';') => split.next += 1,
            Token::Dotted(_) => made.declarations.push(split.declaration(range.start)),
            token => {
                return Err(Error {
                    at,
                    kind: ErrorKind::Expected { expected: "a directive", found: token.describe() },
                });
            }
        }
    }
    made.lexemes = lexemes;
    Ok(made)
}

/// Returns the tokens of a text.
fn lexemes(text: &str) -> Result<Vec<Lexeme<'_>>, Error> {
    let mut lexer = Lexer::new(text);
    let mut all = Vec::new();
    loop {
        let Spanned { token, at } = lexer.next()?;
        let length = match token {
            Token::End => return Ok(all),
            Token::Name(of) | Token::Number(of) => of.len(),
            Token::Dotted(of) => of.len() + 1,
            Token::String(of) => of.len() + 2,
            Token::Punct(c) => c.len_utf8(),
        };
        let end = text.len() - lexer.rest().len();
        all.push(Lexeme { token, at, range: end - length..end });
    }
}

/// Parser of the declarations of a text.
struct Splitter<'t, 'a> {
    lexemes: &'t [Lexeme<'a>],
    /// The index of the next token.
    next: usize,
}

impl<'t, 'a> Splitter<'t, 'a> {
    fn peek(&self) -> Option<&'t Lexeme<'a>> {
        self.lexemes.get(self.next)
    }

    fn take(&mut self) -> Option<&'t Lexeme<'a>> {
        let next = self.peek()?;
        self.next += 1;
        Some(next)
    }

    /// Consumes the tokens up to the end of the line, or up to the next directive in the line.
    fn line(&mut self) -> &'t [Lexeme<'a>] {
        let all = self.lexemes.get(self.next..).unwrap_or_default();
        let line = all.first().map_or(0, |first| first.at.line);
        let is_next = |lexeme: &Lexeme<'_>| lexeme.at.line != line || matches!(lexeme.token, Token::Dotted(_));
        let length = all.iter().skip(1).position(is_next).map_or(all.len(), |place| place + 1);
        self.next += length;
        all.get(..length).unwrap_or_default()
    }

    fn version(&mut self) -> (u32, u32) {
        let line = self.line();
        let number = line.iter().find_map(|lexeme| match lexeme.token {
            Token::Number(number) => number.split_once('.'),
            _ => None,
        });
        number.map_or((0, 0), |(major, minor)| (major.parse().unwrap_or(0), minor.parse().unwrap_or(0)))
    }

    /// Consumes a debug section such as `.section .debug_str { .. }`.
    fn section(&mut self) {
        let mut depth = 0u32;
        while let Some(lexeme) = self.take() {
            match lexeme.token {
                Token::Punct('{') => depth += 1,
                Token::Punct('}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Consumes a declaration, which begins at byte `start`.
    fn declaration(&mut self, start: usize) -> Declaration<'a> {
        let mut of = Declaration {
            kind: DeclarationKind::Other,
            linkage: Linkage::Local,
            names: Vec::new(),
            has_body: false,
            range: start..start,
            head: start..start,
        };
        let (mut depth, mut is_value, mut is_named) = (0u32, false, false);
        while let Some(lexeme) = self.peek() {
            if of.kind == DeclarationKind::Function && is_named && depth == 0 && begins_declaration(lexeme.token) {
                // The `;` of a declaration may be missing.
                break;
            }
            self.next += 1;
            let is_code = matches!(of.kind, DeclarationKind::Entry | DeclarationKind::Function);
            let mut ends = false;
            match lexeme.token {
                Token::Dotted(word) if depth == 0 => of.note(word),
                Token::Name(name) if depth == 0 && !is_value && !(is_code && is_named) => {
                    of.names.push(name);
                    is_named = true;
                }
                Token::Punct('{') => {
                    of.has_body |= depth == 0 && is_code;
                    depth += 1;
                }
                Token::Punct('(' | '[') => depth += 1,
                Token::Punct('}') => {
                    depth = depth.saturating_sub(1);
                    ends = depth == 0 && of.has_body;
                }
                Token::Punct(')' | ']') => depth = depth.saturating_sub(1),
                Token::Punct('=') if depth == 0 => is_value = true,
                Token::Punct(',') if depth == 0 => is_value = false,
                Token::Punct(';') => ends = depth == 0,
                _ => {}
            }
            of.range.end = lexeme.range.end;
            let is_end = matches!(lexeme.token, Token::Punct(';')) && depth == 0;
            if !of.has_body && !is_end {
                of.head.end = lexeme.range.end;
            }
            if ends {
                break;
            }
        }
        if of.kind == DeclarationKind::Other {
            of.names.clear();
        }
        of
    }
}

impl Declaration<'_> {
    /// Records a directive of the declaration.
    fn note(&mut self, word: &str) {
        match word {
            "visible" => self.linkage = Linkage::Strong,
            "weak" | "common" => self.linkage = Linkage::Weak,
            "extern" => self.linkage = Linkage::Extern,
            "entry" => self.kind = DeclarationKind::Entry,
            "func" => self.kind = DeclarationKind::Function,
            "global" | "const" | "shared" | "local" | "tex" => self.kind = DeclarationKind::Variable,
            _ => {}
        }
    }
}

/// Returns `true` if a token is the first of a declaration.
fn begins_declaration(token: Token<'_>) -> bool {
    let words = [
        "visible", "weak", "extern", "common", "entry", "func", "global", "const", "local", "shared", "file", "section",
    ];
    matches!(token, Token::Dotted(word) if words.contains(&word))
}
