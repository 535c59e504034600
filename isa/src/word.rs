//! Bit fields of a machine word. Words of every width travel in a `u128`.

use std::fmt;

/// A named run of bits of a word: `width` bits from bit `lo` up.
#[derive(Clone, Copy)]
pub struct Field {
    /// Lowest bit.
    pub lo: u8,
    /// Number of bits, 1 to 64.
    pub width: u8,
    /// Name in documents and errors, as the instruction's reference spells it.
    pub name: &'static str,
}

impl Field {
    /// A field of `width` bits from bit `lo`.
    pub const fn new(lo: u8, width: u8, name: &'static str) -> Field {
        Field { lo, width, name }
    }

    /// The largest value that the field holds.
    pub const fn max(self) -> u64 {
        u64::MAX >> (64 - self.width as u32)
    }

    /// The field's bits within the word.
    pub const fn mask(self) -> u128 {
        (self.max() as u128) << self.lo
    }

    /// The field's value in `word`.
    pub const fn get(self, word: u128) -> u64 {
        ((word >> self.lo) as u64) & self.max()
    }

    /// The field's value in `word`, read as two's complement.
    pub const fn get_signed(self, word: u128) -> i64 {
        let unused = 64 - self.width as u32;
        ((self.get(word) << unused) as i64) >> unused
    }

    /// `word` with the field holding the low bits of `value`.
    #[must_use]
    pub const fn set(self, word: u128, value: u64) -> u128 {
        (word & !self.mask()) | (((value & self.max()) as u128) << self.lo)
    }
}

/// Two fields are one when they are the same bits, whatever each row calls them.
impl PartialEq for Field {
    fn eq(&self, other: &Field) -> bool {
        (self.lo, self.width) == (other.lo, other.width)
    }
}

impl Eq for Field {}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}+{}", self.name, self.lo, self.width)
    }
}
