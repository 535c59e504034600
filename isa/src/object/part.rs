//! Parts of merged memory accesses: the source-level accesses that one load or store instruction combines.

use super::{Loc, RecordError};

/// A source-level access that a wider load or store includes. If the wide access fails, the trap
/// names the first partial access that would fail as an access of its own size.
///
/// The record holds the address of the instruction word in 32 bits, the offset and the size in 16
/// bits each, and the [`Loc`]. The partial accesses of an instruction are in source order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PartialAccess {
    /// The address of the instruction word. Before the machine code is emitted, the index of the
    /// instruction in the machine IR.
    pub word: u32,
    /// Offset in bytes of the partial access from the start of the wide access.
    pub offset: u16,
    /// Size of the partial access in bytes, a power of two.
    pub bytes: u16,
    /// Source location of the access.
    pub loc: Loc,
}

impl PartialAccess {
    /// Size of the record in bytes.
    pub const BYTES: usize = 8 + Loc::BYTES;
    /// Maximum number of bytes that an instruction accesses.
    pub const MAX_ACCESS_BYTES: u16 = 16;

    /// Encodes the record.
    pub fn to_bytes(self) -> [u8; PartialAccess::BYTES] {
        let place = u64::from_le_bytes(self.loc.to_bytes());
        let head = u64::from(self.bytes) << 48 | u64::from(self.offset) << 32 | u64::from(self.word);
        (u128::from(place) << 64 | u128::from(head)).to_le_bytes()
    }

    /// Decodes a record.
    ///
    /// # Errors
    /// The size is not a power of two, or the end of the partial access exceeds [`PartialAccess::MAX_ACCESS_BYTES`].
    pub fn from_bytes(bytes: [u8; PartialAccess::BYTES]) -> Result<PartialAccess, RecordError> {
        let all = u128::from_le_bytes(bytes);
        let loc = Loc::from_bytes(((all >> 64) as u64).to_le_bytes());
        let part = PartialAccess { word: all as u32, offset: (all >> 32) as u16, bytes: (all >> 48) as u16, loc };
        let end = u32::from(part.offset) + u32::from(part.bytes);
        if !part.bytes.is_power_of_two() || end > PartialAccess::MAX_ACCESS_BYTES.into() {
            return Err(RecordError::Part { word: part.word, offset: part.offset, bytes: part.bytes });
        }
        Ok(part)
    }

    /// Returns the partial accesses of an instruction word. `parts` holds all partial accesses of
    /// the kernel, sorted by the address of the instruction word.
    pub fn of_word(parts: &[PartialAccess], word: u32) -> &[PartialAccess] {
        let start = parts.partition_point(|part| part.word < word);
        let rest = parts.get(start..).unwrap_or(&[]);
        rest.get(..rest.partition_point(|part| part.word == word)).unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn part(word: u32, offset: u16, bytes: u16) -> PartialAccess {
        PartialAccess { word, offset, bytes, loc: Loc { line: 9, column: u32::MAX } }
    }

    #[test]
    fn records_come_back() {
        for part in [part(u32::MAX, 12, 4), part(0, 0, 16), part(7, 15, 1)] {
            assert_eq!(PartialAccess::from_bytes(part.to_bytes()), Ok(part));
        }
        let bytes = [2, 1, 0, 0, 8, 0, 4, 0, 9, 0, 0, 0, 255, 255, 255, 255];
        assert_eq!(part(0x102, 8, 4).to_bytes(), bytes);
    }

    #[test]
    fn what_is_no_part_of_an_access_is_refused() {
        for (offset, bytes) in [(0, 0), (0, 3), (16, 1), (12, 8), (u16::MAX, 1), (0, 32), (0, 1 << 15)] {
            let error = PartialAccess::from_bytes(part(5, offset, bytes).to_bytes()).unwrap_err();
            assert_eq!(error, RecordError::Part { word: 5, offset, bytes });
        }
        let error = RecordError::Part { word: 5, offset: 16, bytes: 1 };
        assert_eq!(error.to_string(), "invalid partial access of word 5: 1 bytes at offset 16");
    }

    #[test]
    fn a_word_has_its_own_parts_only() {
        let parts = [part(2, 0, 4), part(2, 4, 4), part(5, 0, 8), part(5, 8, 8)];
        assert_eq!(PartialAccess::of_word(&parts, 2), &parts[..2]);
        assert_eq!(PartialAccess::of_word(&parts, 5), &parts[2..]);
        for word in [0, 3, 6] {
            assert_eq!(PartialAccess::of_word(&parts, word), &[]);
        }
        assert_eq!(PartialAccess::of_word(&[], 0), &[]);
    }
}
