//! Byte ranges in source text.

/// A range of bytes in the source text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset of the byte after the last.
    pub end: u32,
}

impl Span {
    /// Returns the size of the span in bytes.
    pub const fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Returns `true` if the span has no bytes.
    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }
}
