//! The contents of a page, before the conversion to HTML.

use std::collections::BTreeSet;
use std::fmt;

use halfbyte_ir::Span;
use halfbyte_ir::diag::Lines;
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::Row;

/// A position in the text. It relates the stages: an op and everything derived from it carry the
/// same position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Origin {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// A bounded set of origins, in the order of the text. Without the bound, a value that is passed
/// along many branches would have all earlier positions as origins, and the page would grow
/// quadratically with the text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origins(BTreeSet<Origin>);

/// The largest number of origins in a set.
const MOST_PLACES: usize = 32;

impl Origins {
    /// Creates an empty set.
    pub(super) fn new() -> Origins {
        Origins::default()
    }

    /// Adds origins. Returns `true` if the set has changed.
    pub(super) fn add<'p>(&mut self, places: impl IntoIterator<Item = &'p Origin>) -> bool {
        let before = self.0.len();
        for &place in places {
            if self.0.len() < MOST_PLACES {
                self.0.insert(place);
            }
        }
        self.0.len() > before
    }

    /// Returns `true` if the set is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the origins in the order of the text.
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
    /// Returns the origin of a source location, if the location is known.
    pub(super) fn of_loc(loc: Loc) -> Option<Origin> {
        loc.is_known().then_some(Origin { line: loc.line, column: loc.column })
    }

    /// Returns the origin at the start of a span, if the span is known.
    pub(super) fn of_span(lines: &Lines<'_>, span: Span) -> Option<Origin> {
        let position = lines.position(span.start);
        (span != Span::default()).then_some(Origin { line: position.line as u32, column: position.column as u32 })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The description of a machine instruction: the opcode's name and its row.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The opcode's name, which is unique even if rows share a mnemonic.
    pub opcode: &'static str,
    /// The row.
    pub row: &'static Row,
}

/// A token of a line.
pub enum Token {
    /// Any other text.
    Plain(String),
    /// A comment of the text.
    Comment(String),
    /// An op of the IR, or an instruction's mnemonic with its description.
    Op(String, Option<Entry>),
    /// A value or a register.
    Name {
        /// The text of the name.
        text: String,
        /// The origins of the value.
        defs: Origins,
        /// `true` if the name is defined here.
        is_def: bool,
    },
}

/// The kind of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A comment, or another line without code.
    Other,
    /// A label, or the head of a kernel.
    Label,
    /// An op or an instruction.
    Inst,
    /// A line in the kernel language that ops originate from, with its indentation.
    Source,
}

/// A line of a stage.
pub struct Line {
    /// The kind.
    pub shape: Shape,
    /// The origin, if any.
    pub place: Option<Origin>,
    /// Further origins on the same line of the source.
    pub more: Vec<Origin>,
    /// The text in the margin: the line number of the source, or the address of machine code.
    pub margin: String,
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The hexadecimal digits of machine code.
    pub digits: Option<String>,
    /// `true` if the line starts a bundle.
    pub opens: bool,
    /// The number of the instruction after the passes that the line belongs to.
    pub step: Option<u32>,
    /// The rule that selected the instruction, on the first line of a step.
    pub rule: Option<&'static str>,
}

impl Line {
    /// Creates a line. The margin of an instruction shows the line number of the source.
    pub(super) fn new(shape: Shape, place: Option<Origin>, tokens: Vec<Token>) -> Line {
        let margin = place.filter(|_| shape == Shape::Inst).map_or(String::new(), |place| place.line.to_string());
        Line { shape, place, more: Vec::new(), margin, tokens, digits: None, opens: false, step: None, rule: None }
    }

    /// Returns all origins of the line.
    pub(super) fn places(&self) -> impl Iterator<Item = &Origin> {
        self.place.iter().chain(&self.more)
    }

    /// Returns the text of the line.
    pub(super) fn text(&self) -> String {
        let text = |token: &Token| match token {
            Token::Plain(text) | Token::Comment(text) | Token::Op(text, _) | Token::Name { text, .. } => text.clone(),
        };
        self.tokens.iter().map(text).collect()
    }
}

/// The kernel after a pass that changed it.
pub(super) struct Snapshot {
    /// The name of the pass on the page.
    pub name: String,
    /// The lines of the kernel.
    pub lines: Vec<Line>,
}
