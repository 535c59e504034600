//! Places in texts.

/// Where in the source text an instruction comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Loc {
    /// Line, from 1; 0 where the place is not known.
    pub line: u32,
    /// Column, from 1; 0 where the place is not known.
    pub column: u32,
}

impl Loc {
    /// Bytes of the record: line, column.
    pub const BYTES: usize = 8;

    /// Whether there is a place.
    pub const fn is_known(self) -> bool {
        self.line != 0
    }

    /// The record.
    pub fn to_bytes(self) -> [u8; Loc::BYTES] {
        (u64::from(self.column) << 32 | u64::from(self.line)).to_le_bytes()
    }

    /// The place of a record.
    pub fn from_bytes(bytes: [u8; Loc::BYTES]) -> Loc {
        let both = u64::from_le_bytes(bytes);
        Loc { line: both as u32, column: (both >> 32) as u32 }
    }
}
