//! Sources of kernels, and conversion of spans to lines and columns.

use std::fmt;
use std::sync::{Arc, OnceLock};

use halfbyte_abi::Loc;
use halfbyte_ir::Span;
use halfbyte_ir::diag::{LineIndex, Lines};

/// A map from the spans of built kernels to locations in a user's file.
///
/// A builder assigns a [`Span`] to instructions ([`set_span`](halfbyte_ir::builder::Builder::set_span)). The user
/// decides what its two numbers mean, for example byte offsets or indices into a table. Messages, traps and listings
/// show the mapped locations.
pub trait SourceMap: Send + Sync {
    /// Returns the line and column of a span, both counted from 1, or [`Loc::default`] if the location is unknown.
    fn locate(&self, span: Span) -> Loc;
}

impl<F: Fn(Span) -> Loc + Send + Sync> SourceMap for F {
    fn locate(&self, span: Span) -> Loc {
        self(span)
    }
}

/// A source text with an index of its lines, which is built on first use.
#[derive(Clone, Debug)]
pub struct IndexedText {
    text: Arc<str>,
    index: Arc<OnceLock<LineIndex>>,
}

impl<T: Into<Arc<str>>> From<T> for IndexedText {
    fn from(text: T) -> IndexedText {
        IndexedText { text: text.into(), index: Arc::default() }
    }
}

impl IndexedText {
    /// Returns the text with the index of its lines.
    pub fn lines(&self) -> Lines<'_> {
        Lines::with_index(&self.text, self.index.get_or_init(|| LineIndex::new(&self.text)))
    }
}

/// The source to which the spans of kernels refer.
#[derive(Clone, Default)]
pub enum SourceText {
    /// No source. Messages show the instruction in place of a location.
    #[default]
    None,
    /// A source text. Spans are byte offsets in the text.
    Text(IndexedText),
    /// A user-defined map from spans to lines and columns.
    Map(Arc<dyn SourceMap>),
}

impl fmt::Debug for SourceText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceText::None => f.write_str("None"),
            SourceText::Text(text) => f.debug_tuple("Text").field(&text.text).finish(),
            SourceText::Map(_) => f.write_str("Map(..)"),
        }
    }
}

impl SourceText {
    /// Returns the source text, or an empty string if there is none.
    pub fn text(&self) -> &str {
        match self {
            SourceText::Text(text) => &text.text,
            SourceText::None | SourceText::Map(_) => "",
        }
    }

    /// Creates a converter of spans to lines and columns.
    pub(crate) fn locator(&self) -> Locator<'_> {
        match self {
            SourceText::None => Locator::None,
            SourceText::Text(text) => Locator::Text(Arc::new(text.lines())),
            SourceText::Map(map) => Locator::Map(&**map),
        }
    }
}

/// A converter of spans to lines and columns.
#[derive(Clone)]
pub(crate) enum Locator<'a> {
    None,
    Text(Arc<Lines<'a>>),
    Map(&'a dyn SourceMap),
}

impl Locator<'_> {
    /// Returns the line and column of a span. The lookup is fast if the span is on line `near` of
    /// the text or on an adjacent line.
    pub(crate) fn locate(&self, span: Span, near: u32) -> Loc {
        match self {
            Locator::None => Loc::default(),
            // Instructions that passes insert have no location.
            Locator::Text(_) if span == Span::default() => Loc::default(),
            Locator::Text(lines) => {
                let position = lines.position_near(span.start, near as usize);
                Loc { line: position.line as u32, column: position.column as u32 }
            }
            Locator::Map(map) => map.locate(span),
        }
    }
}
