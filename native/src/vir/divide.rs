//! Division of words.
//!
//! The `f64` quotient of two words has the integer part of the exact quotient. An exact quotient
//! `a / b` below an integer differs from the integer by at least `1 / b`, which exceeds one ulp.

use halfbyte_isa::half::Compare;
use halfbyte_isa::halu::domain::Divide;

use super::lower::Lower;
use super::{Binary, Float, Half, Node, Shift, Value, Width};

/// Bits of 2^52. A word in the low bits of the significand adds its value to 2^52.
const OFFSET: u64 = 0x4330_0000_0000_0000;

impl Lower<'_> {
    /// Returns the quotients or the remainders of words.
    pub(super) fn divide(&mut self, op: Divide, [a, b]: [Value; 2]) -> Value {
        let quotient = if op.signed {
            let [(x, of_a), (y, of_b)] = [a, b].map(|word| self.magnitude(word));
            let quotient = self.quotient([x, y]);
            let signs = self.b.xor(of_a, of_b);
            self.with_signs(quotient, signs)
        } else {
            self.quotient([a, b])
        };
        let result = if op.remainder {
            let product = self.b.words(Binary::Mul, quotient, b);
            self.b.words(Binary::Sub, a, product)
        } else {
            quotient
        };
        let zero = self.b.constant(0);
        let is_zero = self.b.words(Binary::Equal, b, zero);
        self.b.or(result, is_zero)
    }

    /// Returns the magnitudes of signed words, and their signs in all bits.
    fn magnitude(&mut self, word: Value) -> (Value, Value) {
        let signs = self.b.shift_words(Shift::Arithmetic, word, 31);
        (self.with_signs(word, signs), signs)
    }

    /// Returns the words, negated in lanes whose sign is all ones.
    fn with_signs(&mut self, word: Value, signs: Value) -> Value {
        let flipped = self.b.xor(word, signs);
        self.b.words(Binary::Sub, flipped, signs)
    }

    /// Returns the quotients of unsigned words. A quotient by 0 is arbitrary.
    fn quotient(&mut self, args: [Value; 2]) -> Value {
        let offset = self.b.constant_number(OFFSET);
        let of = Half::BOTH.map(|half| {
            let [x, y] = args.map(|of| {
                let number = self.b.push(Node::Extend { signed: false, half, of });
                let raised = self.b.or(number, offset);
                self.b.push(Node::Double(Float::Sub, [raised, offset]))
            });
            let quotient = self.b.push(Node::Double(Float::Div, [x, y]));
            // The sum has the nearest integer in its low bits.
            let sum = self.b.push(Node::Double(Float::Add, [quotient, offset]));
            let nearest = self.b.push(Node::Double(Float::Sub, [sum, offset]));
            let is_above = self.b.push(Node::DoubleCompare(Compare::GT, [nearest, quotient]));
            self.b.binary(Binary::Add, Width::B64, sum, is_above)
        });
        self.low_words(of)
    }
}
