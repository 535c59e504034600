//! Predicates of comparisons of floats.

use halfbyte_isa::half::Compare;

/// Predicate of `vcmpps` and `vcmppd`. All predicates are quiet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Predicate(u8);

impl Predicate {
    pub const NAN: Predicate = Predicate(3);

    /// Predicates by the code of a comparison, whose bits are less, equal, greater and unordered.
    const ALL: [u8; 16] =
        [0x0B, 0x11, 0x00, 0x12, 0x1E, 0x0C, 0x1D, 0x07, 0x03, 0x19, 0x08, 0x1A, 0x16, 0x04, 0x15, 0x0F];

    pub fn of(compare: Compare) -> Predicate {
        Predicate(Self::ALL[usize::from(compare.code() & 15)])
    }

    /// Returns the immediate operand.
    pub fn number(self) -> u8 {
        self.0
    }
}
