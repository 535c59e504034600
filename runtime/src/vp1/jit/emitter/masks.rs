//! Masks of sixteen truth values in native code.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8X16, I32X4};
use cranelift_codegen::ir::{InstBuilder, Value};
use halfbyte_isa::vp1::concrete::Concrete;
use halfbyte_isa::vp1::domain::{Domain, Logic};

use super::Emitter;
use super::words::{ValueFacts, Word};

/// A mask of sixteen truth values, in one of four representations. In the three vector
/// representations, a component is -1 for true and 0 for false.
#[derive(Clone, Copy, Debug)]
pub(in crate::vp1::jit) enum Mask {
    /// Bits 0 to 15 of a 32-bit word, one for each truth value.
    Bits(Word),
    /// One `i8x16`.
    Bytes(Value),
    /// Two `i16x8`, lower components first.
    Halves([Value; 2]),
    /// Four `i32x4`, lower components first.
    Words([Value; 4]),
}

impl Emitter<'_, '_> {
    /// Converts the mask to one `i8x16`.
    pub(crate) fn mask_bytes(&mut self, mask: Mask) -> Value {
        match mask {
            Mask::Bits(Word::Const(bits)) => {
                self.vector(I8X16, std::array::from_fn(|i| if bits >> i & 1 != 0 { 0xff } else { 0 }))
            }
            Mask::Bits(bits) => {
                let bits = self.value(bits);
                let bits = self.b.ins().scalar_to_vector(I32X4, bits);
                let spread = self.shuffle(bits, bits, [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
                let places = self.vector(I8X16, std::array::from_fn(|i| 1 << (i & 7)));
                let set = self.b.ins().band(spread, places);
                self.b.ins().icmp(IntCC::Equal, set, places)
            }
            Mask::Bytes(bytes) => bytes,
            Mask::Halves([a, b]) => self.b.ins().snarrow(a, b),
            Mask::Words([a, b, c, d]) => {
                let (low, high) = (self.b.ins().snarrow(a, b), self.b.ins().snarrow(c, d));
                self.b.ins().snarrow(low, high)
            }
        }
    }

    /// Converts the mask to two `i16x8`.
    pub(crate) fn mask_halves(&mut self, mask: Mask) -> [Value; 2] {
        match mask {
            Mask::Halves(halves) => halves,
            Mask::Words([a, b, c, d]) => [self.b.ins().snarrow(a, b), self.b.ins().snarrow(c, d)],
            mask => {
                let bytes = self.mask_bytes(mask);
                [self.b.ins().swiden_low(bytes), self.b.ins().swiden_high(bytes)]
            }
        }
    }

    /// Converts the mask to four `i32x4`.
    pub(crate) fn mask_words(&mut self, mask: Mask) -> [Value; 4] {
        if let Mask::Words(words) = mask {
            return words;
        }
        let [a, b] = self.mask_halves(mask);
        [
            self.b.ins().swiden_low(a),
            self.b.ins().swiden_high(a),
            self.b.ins().swiden_low(b),
            self.b.ins().swiden_high(b),
        ]
    }

    pub(crate) fn bits_of_mask(&mut self, mask: Mask) -> Word {
        match mask {
            Mask::Bits(bits) => self.and_mask(bits, 0xffff),
            mask => {
                let bytes = self.mask_bytes(mask);
                Word::Value(self.b.ins().vhigh_bits(super::WORD, bytes), ValueFacts::within(0xffff))
            }
        }
    }

    pub(crate) fn logic_masks(&mut self, table: Logic, a: Mask, b: Mask) -> Mask {
        match (a, b) {
            (Mask::Bits(Word::Const(a)), Mask::Bits(Word::Const(b))) => {
                Mask::Bits(Word::Const(Concrete.mask_logic(table, a as u16, b as u16).into()))
            }
            (Mask::Words(a), Mask::Words(b)) => {
                let mut pairs = a.into_iter().zip(b);
                Mask::Words(a.map(|x| pairs.next().map_or(x, |(x, y)| self.table(table, x, y))))
            }
            (Mask::Halves(a), Mask::Halves(b)) => {
                let ([a, b], [x, y]) = (a, b);
                Mask::Halves([self.table(table, a, x), self.table(table, b, y)])
            }
            (a, b) => {
                let (a, b) = (self.mask_bytes(a), self.mask_bytes(b));
                Mask::Bytes(self.table(table, a, b))
            }
        }
    }

    pub(crate) fn shuffle_masks(&mut self, a: Mask, b: Mask, index: &[u8; 16]) -> Mask {
        if index.iter().zip(0..).all(|(&i, k): (&u8, u8)| i == k) {
            return a;
        }
        if let (Mask::Bits(Word::Const(a)), Mask::Bits(Word::Const(b))) = (a, b) {
            return Mask::Bits(Word::Const(Concrete.mask_shuffle(a as u16, b as u16, index).into()));
        }
        let (a, b) = (self.mask_bytes(a), self.mask_bytes(b));
        Mask::Bytes(self.shuffle(a, b, *index))
    }
}
