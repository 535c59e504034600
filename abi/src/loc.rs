//! Line and column of instructions in the source text.

/// Location of an instruction in the source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Loc {
    /// Line, from 1; 0 if the location is unknown.
    pub line: u32,
    /// Column, from 1; 0 if the location is unknown.
    pub column: u32,
}

impl Loc {
    /// Size in bytes of an encoded location: the line, then the column.
    pub const BYTES: usize = 8;

    /// Returns `true` if the location is known.
    pub const fn is_known(self) -> bool {
        self.line != 0
    }

    /// Encodes the location as two little-endian 32-bit words: line, column.
    pub fn to_bytes(self) -> [u8; Loc::BYTES] {
        (u64::from(self.column) << 32 | u64::from(self.line)).to_le_bytes()
    }

    /// Decodes a location from two little-endian 32-bit words: line, column.
    pub fn from_bytes(bytes: [u8; Loc::BYTES]) -> Loc {
        let both = u64::from_le_bytes(bytes);
        Loc { line: both as u32, column: (both >> 32) as u32 }
    }
}
