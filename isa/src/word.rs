//! Bit fields of an instruction word. A `u128` holds instruction words of every width.

use std::fmt;

/// A named range of bits of an instruction word: `width` bits from bit `lo` upwards.
#[derive(Clone, Copy)]
pub struct Field {
    /// Lowest bit.
    pub lo: u8,
    /// Number of bits, 1 to 64.
    pub width: u8,
    /// Name in documentation and errors. The reference manual of the instruction set uses the same name.
    pub name: &'static str,
}

impl Field {
    /// Creates a field of `width` bits from bit `lo`.
    pub const fn new(lo: u8, width: u8, name: &'static str) -> Field {
        Field { lo, width, name }
    }

    /// Returns the largest value that the field holds.
    pub const fn max(self) -> u64 {
        u64::MAX >> (64 - self.width as u32)
    }

    /// Returns the mask of the field's bits within the instruction word.
    pub const fn mask(self) -> u128 {
        (self.max() as u128) << self.lo
    }

    /// Returns the field's value in `word`.
    pub const fn get(self, word: u128) -> u64 {
        ((word >> self.lo) as u64) & self.max()
    }

    /// Returns the field's value in `word`, sign-extended as two's complement.
    pub const fn get_signed(self, word: u128) -> i64 {
        let unused = 64 - self.width as u32;
        ((self.get(word) << unused) as i64) >> unused
    }

    /// Returns `word` with the field set to the low bits of `value`.
    #[must_use]
    pub const fn set(self, word: u128, value: u64) -> u128 {
        (word & !self.mask()) | (((value & self.max()) as u128) << self.lo)
    }
}

/// Two fields are equal if they have the same position and width; the name is ignored.
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
