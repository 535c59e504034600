//! Places in the text.

/// A place in the source text: a run of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
}

impl Span {
    /// The number of bytes.
    pub const fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there is no byte in it.
    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }
}
