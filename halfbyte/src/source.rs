//! What kernels were made of, and where in it their places are.

use std::fmt;
use std::sync::Arc;

use halfbyte_abi::Loc;
use halfbyte_ir::Span;
use halfbyte_ir::diag::Lines;

/// Says where in a user's own file the places of built kernels are.
///
/// A kernel's builder marks instructions with a [`Span`] ([`set_span`](halfbyte_ir::builder::Builder::set_span)), whose two numbers mean what
/// the user wants them to: byte offsets, or indices of a table of places. Messages, traps and listings then name these places.
pub trait SourceMap: Send + Sync {
    /// Line and column of a place, both from 1; [`Loc::default`] where it is not known.
    fn locate(&self, span: Span) -> Loc;
}

impl<F: Fn(Span) -> Loc + Send + Sync> SourceMap for F {
    fn locate(&self, span: Span) -> Loc {
        self(span)
    }
}

/// What the places in kernels are places of.
#[derive(Clone, Default)]
pub enum Source {
    /// Nothing: messages show the instruction itself.
    #[default]
    None,
    /// A text, which spans count the bytes of.
    Text(Arc<str>),
    /// Whatever its map says.
    Map(Arc<dyn SourceMap>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::None => f.write_str("None"),
            Source::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Source::Map(_) => f.write_str("Map(..)"),
        }
    }
}

impl Source {
    /// The text, where there is one; else an empty one.
    pub fn text(&self) -> &str {
        match self {
            Source::Text(text) => text,
            Source::None | Source::Map(_) => "",
        }
    }

    /// What finds places in it.
    pub(crate) fn locator(&self) -> Locator<'_> {
        match self {
            Source::None => Locator::None,
            Source::Text(text) => Locator::of_text(text),
            Source::Map(map) => Locator::Map(&**map),
        }
    }
}

/// Finds places in what kernels were made of.
#[derive(Clone)]
pub(crate) enum Locator<'a> {
    None,
    Text(Arc<Lines<'a>>),
    Map(&'a dyn SourceMap),
}

impl<'a> Locator<'a> {
    pub fn of_text(text: &'a str) -> Locator<'a> {
        Locator::Text(Arc::new(Lines::new(text)))
    }

    /// Line and column; found at once where it is on this line of the text or next to it.
    pub fn locate(&self, span: Span, near: u32) -> Loc {
        match self {
            Locator::None => Loc::default(),
            // What passes add has no place of its own.
            Locator::Text(_) if span == Span::default() => Loc::default(),
            Locator::Text(lines) => {
                let position = lines.position_near(span.start, near as usize);
                Loc { line: position.line as u32, column: position.column as u32 }
            }
            Locator::Map(map) => map.locate(span),
        }
    }
}
