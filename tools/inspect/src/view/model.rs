//! What a page shows, before it is HTML.

use std::collections::BTreeSet;
use std::fmt;

use halfbyte_ir::Span;
use halfbyte_ir::diag::Lines;
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::Row;

/// A place in the text. It is what things of different stages have in common: an op and all that was made of it carry one place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Origin {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// Several places, in the order of the text: where something comes from. Of what may come from a great many, some; else a value
/// that is handed on from branch to branch would come from all that was before, and a page grow as the square of its text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Origins(BTreeSet<Origin>);

/// So many places are named of one thing.
const MOST_PLACES: usize = 32;

impl Origins {
    /// None.
    pub fn new() -> Origins {
        Origins::default()
    }

    /// Adds places; whether any was new.
    pub fn add<'p>(&mut self, places: impl IntoIterator<Item = &'p Origin>) -> bool {
        let before = self.0.len();
        for &place in places {
            if self.0.len() < MOST_PLACES {
                self.0.insert(place);
            }
        }
        self.0.len() > before
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Origin> {
        self.0.iter()
    }
}

impl FromIterator<Origin> for Origins {
    fn from_iter<I: IntoIterator<Item = Origin>>(places: I) -> Origins {
        let mut all = Origins::new();
        for place in places {
            all.add([&place]);
        }
        all
    }
}

impl<'p> IntoIterator for &'p Origins {
    type Item = &'p Origin;
    type IntoIter = std::collections::btree_set::Iter<'p, Origin>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl Origin {
    /// Where an instruction comes from, if that is known.
    pub fn of_loc(loc: Loc) -> Option<Origin> {
        loc.is_known().then_some(Origin { line: loc.line, column: loc.column })
    }

    /// Returns the start of an origin in the text, if it has one.
    pub fn of_span(lines: &Lines<'_>, span: Span) -> Option<Origin> {
        let position = lines.position(span.start);
        (span != Span::default()).then_some(Origin { line: position.line as u32, column: position.column as u32 })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// An instruction of a machine that the page describes: the opcode's name, and its row.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    /// The name of the opcode, which differs where rows share a mnemonic.
    pub opcode: &'static str,
    /// Its row.
    pub row: &'static Row,
}

/// A part of a line.
pub(super) enum Token {
    /// Anything else.
    Plain(String),
    /// A comment of the text.
    Comment(String),
    /// An op of the IR, or an instruction's mnemonic with its description.
    Op(String, Option<Entry>),
    /// A value or a register.
    Name {
        /// As it is written.
        text: String,
        /// Where what it holds comes from.
        defs: Origins,
        /// It gets its value here.
        is_def: bool,
    },
}

/// What a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A comment, or another line that nothing comes of.
    Other,
    /// A label, or the head of a kernel.
    Label,
    /// An op or an instruction.
    Inst,
    /// A line of the language that ops come from, with its indentation.
    Source,
}

/// A line of a stage.
pub(super) struct Line {
    /// What it is.
    pub shape: Shape,
    /// Where it comes from.
    pub place: Option<Origin>,
    /// Further origins on the same line of the source.
    pub more: Vec<Origin>,
    /// What stands in the margin: the line of the text, or a word's address.
    pub margin: String,
    /// Its parts.
    pub tokens: Vec<Token>,
    /// The digits of a word.
    pub digits: Option<String>,
    /// It begins a bundle.
    pub opens: bool,
    /// The instruction after the passes that it is, or is made of: its number.
    pub step: Option<u32>,
    /// The rule that made it and the instructions of the same step after it.
    pub rule: Option<&'static str>,
}

impl Line {
    /// An instruction or a label, with the line of the text in its margin.
    pub fn new(shape: Shape, place: Option<Origin>, tokens: Vec<Token>) -> Line {
        let margin = place.filter(|_| shape == Shape::Inst).map_or(String::new(), |place| place.line.to_string());
        Line { shape, place, more: Vec::new(), margin, tokens, digits: None, opens: false, step: None, rule: None }
    }

    /// All places that it comes from.
    pub fn places(&self) -> impl Iterator<Item = &Origin> {
        self.place.iter().chain(&self.more)
    }

    /// Its parts as one text.
    pub fn text(&self) -> String {
        let text = |token: &Token| match token {
            Token::Plain(text) | Token::Comment(text) | Token::Op(text, _) | Token::Name { text, .. } => text.clone(),
        };
        self.tokens.iter().map(text).collect()
    }
}

/// The kernel after a pass that changed it.
pub(super) struct Snapshot {
    /// The pass, as the page names it.
    pub name: String,
    /// Its lines.
    pub lines: Vec<Line>,
}
