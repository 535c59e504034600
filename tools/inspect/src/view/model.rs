//! The contents of the page, before they are converted to HTML.

use std::collections::BTreeSet;
use std::fmt;

use halfbyte_ir::Span;
use halfbyte_ir::diag::Lines;
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::Row;

/// A source position. An op and everything that the compiler derives from it have the same
/// position, which relates the stages on the page.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Origin {
    /// The line number, from 1.
    pub line: u32,
    /// The column number, from 1.
    pub column: u32,
}

/// A set of at most `MOST_PLACES` source positions, in the order of the source. Without the limit,
/// a value that many branches pass on would have the positions of all earlier values. The size of
/// the page would then grow with the square of the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origins(BTreeSet<Origin>);

/// Maximum number of source positions in a set.
const MOST_PLACES: usize = 32;

impl Origins {
    /// Creates an empty set.
    pub(super) fn new() -> Origins {
        Origins::default()
    }

    /// Adds source positions. Returns `true` if the set has changed.
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

    /// Returns the source positions in the order of the source.
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
    /// Returns the source position of a machine instruction's location, if the location is known.
    pub(super) fn of_loc(loc: Loc) -> Option<Origin> {
        loc.is_known().then_some(Origin { line: loc.line, column: loc.column })
    }

    /// Returns the source position at the start of a span, if the span is known.
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

/// The description of a machine instruction: the name of its opcode and its row in the instruction set.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name of the opcode, which is unique even if several rows have the same mnemonic.
    pub opcode: &'static str,
    /// The row of the instruction in the description of its instruction set.
    pub row: &'static Row,
}

/// A token of a line on the page.
pub enum Token {
    /// Text that is not a comment, an op or a name.
    Plain(String),
    /// A comment of the source.
    Comment(String),
    /// An op of the IR, or the mnemonic of a machine instruction with its description.
    Op(String, Option<Entry>),
    /// The name of a value or a register.
    Name {
        /// The text of the name.
        text: String,
        /// The source positions of the definitions of the value or register.
        defs: Origins,
        /// `true` if the line defines the value or register.
        is_def: bool,
    },
}

/// The kind of a line on the page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A comment, or another line without code.
    Other,
    /// A label, or the first line of a kernel.
    Label,
    /// An op or an instruction.
    Inst,
    /// A line in the kernel language from which ops are derived, with its indentation.
    Source,
}

/// A line of a compiler stage on the page.
pub struct Line {
    /// The kind of the line.
    pub shape: Shape,
    /// The source position, if any.
    pub place: Option<Origin>,
    /// Further source positions that belong to the line.
    pub more: Vec<Origin>,
    /// The text in the margin: the line number in the source, or the address of machine code.
    pub margin: String,
    /// The tokens of the line, in order.
    pub tokens: Vec<Token>,
    /// The instruction word in hexadecimal, on a line of machine code.
    pub digits: Option<String>,
    /// `true` if the line is the first of a VP1 bundle.
    pub opens: bool,
    /// The index of the IR instruction after the passes to which the line belongs.
    pub step: Option<u32>,
    /// The rule that selected the instruction. Only the first line of an IR instruction has it.
    pub rule: Option<&'static str>,
}

impl Line {
    /// Creates a line. The margin of an instruction shows its line number in the source.
    pub(super) fn new(shape: Shape, place: Option<Origin>, tokens: Vec<Token>) -> Line {
        let margin = place.filter(|_| shape == Shape::Inst).map_or(String::new(), |place| place.line.to_string());
        Line { shape, place, more: Vec::new(), margin, tokens, digits: None, opens: false, step: None, rule: None }
    }

    /// Returns all source positions of the line.
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
    /// The name of the pass, as the page shows it.
    pub name: String,
    /// The lines of the kernel.
    pub lines: Vec<Line>,
}
