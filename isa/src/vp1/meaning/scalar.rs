//! The scalar unit: arithmetic on `$r` registers, and the flags of the results.

use super::{Context, Outcome, f};
use crate::vp1::domain::{ByteKind, Domain, Logic, Reader};

/// Mask of the bits of a `$c` register that the scalar unit writes.
const SCALAR_FLAGS: u32 = 0xff;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Writes a result to `$r[DST]` without flags.
    fn plain(&mut self, result: D::Word) -> Outcome<D> {
        Outcome::writes(self.define(f::DST, result))
    }

    /// Writes a result to `$r[DST]` with its flags. The flags sf and b20d are computed only if
    /// `compared` is given, the value with which the result is compared. Otherwise they are 0.
    fn result(&mut self, result: D::Word, compared: Option<D::Word>) -> Outcome<D> {
        let flags = self.result_flags(result, compared);
        self.plain(result).with_flags(self.flags(SCALAR_FLAGS, flags))
    }

    /// Writes a result to `$r[DST]` and clears the flags.
    fn unflagged(&mut self, result: D::Word) -> Outcome<D> {
        Outcome { writes: self.define(f::DST, result).into_iter().collect(), ..self.clear_flags() }
    }

    /// Clears the flags without writing a result.
    pub(super) fn clear_flags(&mut self) -> Outcome<D> {
        let zero = self.d.word(0);
        Outcome::default().with_flags(self.flags(SCALAR_FLAGS, zero))
    }

    /// Applies an operation to the word in `$r[SRC1]` and the last source.
    pub(super) fn arithmetic(&mut self, operation: impl FnOnce(&mut D, D::Word, D::Word) -> D::Word) -> Outcome<D> {
        let (a, b) = (self.r(f::SRC1), self.source_word());
        let result = operation(self.d, a, b);
        self.result(result, Some(a))
    }

    /// Evaluates `mul`, which multiplies the low 16 bits of both sources.
    pub(super) fn multiply_low(&mut self) -> Outcome<D> {
        self.arithmetic(|d, a, b| {
            let (a, b) = (sign_extend_low(d, a), sign_extend_low(d, b));
            d.mul(a, b)
        })
    }

    /// Evaluates `mov` of a constant.
    pub(super) fn load_constant(&mut self) -> Outcome<D> {
        let value = self.source_word();
        self.plain(value)
    }

    /// Evaluates `neg`. The flag b20d compares the result with 0.
    pub(super) fn negate(&mut self) -> Outcome<D> {
        let (zero, a) = (self.d.word(0), self.r(f::SRC1));
        let result = self.d.sub(zero, a);
        self.result(result, Some(zero))
    }

    /// Applies a bitwise operation to `$r[SRC1]` and the last source.
    pub(super) fn bitwise(&mut self, logic: Logic) -> Outcome<D> {
        let (a, b) = (self.r(f::SRC1), self.source_word());
        let result = self.d.logic(logic, a, b);
        self.result(result, None)
    }

    /// Applies an operation to the bytes of `$r[SRC1]` and the last source.
    pub(super) fn bytewise(&mut self, kind: ByteKind, signed: bool) -> Outcome<D> {
        let (a, b) = (self.r(f::SRC1), self.source_bytes());
        let result = self.byte_op(kind, signed, a, b);
        self.unflagged(result)
    }

    /// Applies a bitwise operation to `$r[SRC1]` and a byte that is repeated four times.
    pub(super) fn bytewise_logic(&mut self, logic: Logic) -> Outcome<D> {
        let (a, b) = (self.r(f::SRC1), self.source_bytes());
        let b = self.d.word_of(b, 0);
        let result = self.d.logic(logic, a, b);
        self.unflagged(result)
    }

    /// Evaluates `bmul`.
    pub(super) fn byte_multiply(&mut self, signed: bool) -> Outcome<D> {
        let (a, b) = (self.r(f::SRC1), self.source_bytes());
        let result = self.byte_product(signed, a, b);
        self.plain(result)
    }

    /// Evaluates `sethi`.
    pub(super) fn set_high(&mut self) -> Outcome<D> {
        let low = self.r(f::DST);
        let (low, high) = (self.and(low, 0xffff), self.source_word());
        let result = self.or(low, high);
        self.plain(result)
    }

    /// Returns the scalar flags in the order of their bits: sf, zf, b19, b20d, b20, b21, b19a, b18.
    fn result_flags(&mut self, result: D::Word, compared: Option<D::Word>) -> D::Word {
        let zero = self.d.word(0);
        let mut flags = self.d.equal(result, zero);
        let one = self.d.word(1);
        flags = self.d.shl(flags, one);
        for (down, mask) in [(17, 1 << 2), (16, 3 << 4), (13, 1 << 6), (11, 1 << 7)] {
            let bits = self.bits(result, down, mask);
            flags = self.or(flags, bits);
        }
        if let Some(other) = compared {
            let sign = self.bits(result, 31, 1);
            let difference = self.d.logic(Logic::XOR, result, other);
            let difference = self.bits(difference, 17, 1 << 3);
            flags = self.or(flags, sign);
            flags = self.or(flags, difference);
        }
        flags
    }
}

/// Returns the signed minimum.
pub(super) fn min<D: Domain>(d: &mut D, a: D::Word, b: D::Word) -> D::Word {
    let less = d.less(true, a, b);
    d.select(less, a, b)
}

/// Returns the signed maximum.
pub(super) fn max<D: Domain>(d: &mut D, a: D::Word, b: D::Word) -> D::Word {
    let less = d.less(true, a, b);
    d.select(less, b, a)
}

/// Returns the absolute value. The absolute value of the minimum integer is that integer.
pub(super) fn abs<D: Domain>(d: &mut D, a: D::Word, _: D::Word) -> D::Word {
    let zero = d.word(0);
    let opposite = d.sub(zero, a);
    max(d, a, opposite)
}

/// Shifts right by the signed low 6 bits of `n`. A negative count shifts left by -n, except that -32 does not shift.
pub(super) fn shift_right<D: Domain>(
    d: &mut D,
    right: impl FnOnce(&mut D, D::Word, D::Word) -> D::Word,
    a: D::Word,
    n: D::Word,
) -> D::Word {
    let (zero, sign) = (d.word(0), d.word(1 << 5));
    // The shift count is taken modulo 32, so -32 shifts by 0.
    let opposite = d.sub(zero, n);
    let (left, right) = (d.shl(a, opposite), right(d, a, n));
    let negative = d.logic(Logic::AND, n, sign);
    let positive = d.equal(negative, zero);
    d.select(positive, right, left)
}

/// Returns the low 16 bits of a word, sign-extended.
fn sign_extend_low<D: Domain>(d: &mut D, a: D::Word) -> D::Word {
    let sixteen = d.word(16);
    let a = d.shl(a, sixteen);
    d.sar(a, sixteen)
}
