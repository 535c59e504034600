//! Semantics of f32 arithmetic.

use super::exact::Finish;
use super::{Context, Reader, wide};
use crate::half::{Compare, Format, Rounding};
use crate::halu::domain::float::rounded_single;
use crate::halu::domain::{Domain, FloatKind, FloatOp, float_minmax};
use crate::ptx::types::{Token, Type};

/// An f32 operation. A reciprocal is computed as the quotient 1 / a.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Arith {
    kind: FloatKind,
    reciprocal: bool,
}

impl Arith {
    pub(super) const ADD: Arith = Arith::new(FloatKind::Add);
    pub(super) const SUB: Arith = Arith::new(FloatKind::Sub);
    pub(super) const MUL: Arith = Arith::new(FloatKind::Mul);
    pub(super) const FMA: Arith = Arith::new(FloatKind::Fma);
    pub(super) const DIV: Arith = Arith::new(FloatKind::Div);
    pub(super) const SQRT: Arith = Arith::new(FloatKind::Sqrt);
    pub(super) const RCP: Arith = Arith { kind: FloatKind::Div, reciprocal: true };

    const fn new(kind: FloatKind) -> Arith {
        Arith { kind, reciprocal: false }
    }
}

const SIGN: u32 = 0x8000_0000;
const EXPONENT: u32 = 0x7F80_0000;
/// Mask of the exponent field in the high word of an f64.
const DOUBLE_EXPONENT: u32 = 0x7FF0_0000;
const ONE: u32 = 0x3F80_0000;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Returns the f32 operand with index `i`. With `.ftz`, a subnormal operand is flushed to zero.
    pub(super) fn operand_float(&mut self, i: usize) -> D::Word {
        let word = self.word(i);
        self.flushed(word)
    }

    /// Replaces a subnormal f32 by the zero of its sign if the instruction has `.ftz`. Returns any
    /// other f32 unchanged.
    pub(super) fn flushed(&mut self, a: D::Word) -> D::Word {
        if !self.has(Token::Ftz) {
            return a;
        }
        let (exponent, sign, zero) = (self.d.word(EXPONENT), self.d.word(SIGN), self.d.word(0));
        let found = self.d.and(a, exponent);
        let small = self.d.equal(found, zero);
        let flushed = self.d.and(a, sign);
        self.d.select(small, flushed, a)
    }

    /// Clamps an f32 to the range 0 to 1 if the instruction has `.sat`; NaN and -0 then become +0.
    /// Without `.sat`, returns the f32 unchanged.
    pub(super) fn saturated(&mut self, a: D::Word) -> D::Word {
        if !self.has(Token::Sat) {
            return a;
        }
        let (one, zero) = (self.d.word(ONE), self.d.word(0));
        let (positive, above) = (self.d.fcompare(Compare::GT, a, zero), self.d.fcompare(Compare::GT, a, one));
        let clamped = self.d.select(above, one, a);
        self.d.select(positive, clamped, zero)
    }

    /// Returns the operation of the domain, with the rounding mode that the modifiers name.
    pub(super) fn operation(&self, arith: Arith) -> FloatOp {
        FloatOp { kind: arith.kind, rounding: self.rounding() }
    }

    /// Computes an operation on f32 operands, with the rounding, flushing and clamping that the modifiers name.
    fn single(&mut self, arith: Arith, operands: [D::Word; 3]) -> D::Word {
        let [a, b, c] = operands.map(|operand| self.flushed(operand));
        let operands = if arith.reciprocal { [self.d.word(ONE), a, c] } else { [a, b, c] };
        let op = self.operation(arith);
        let result = if self.has(Token::Ftz) && op.rounding != Rounding::Nearest {
            rounded_single(self.d, &op, operands, Finish { ftz: true, ..Finish::default() })
        } else {
            let result = self.d.single(&op, operands);
            self.flushed(result)
        };
        self.saturated(result)
    }

    pub(super) fn float(&mut self, arith: Arith) {
        let operands = [1, 2, 3].map(|i| self.word(i));
        let result = self.single(arith, operands);
        self.define_word(result);
    }

    pub(super) fn define_float(&mut self, a: D::Word) {
        let flushed = self.flushed(a);
        let result = self.saturated(flushed);
        self.define_word(result);
    }

    /// Executes an f32 operation in which all operands but the last are halves.
    pub(super) fn float_of_half(&mut self, arith: Arith) {
        let format = if self.ty(1) == Type::F16 { Format::F16 } else { Format::Bf16 };
        let last = if arith == Arith::FMA { 3 } else { 2 };
        let operands = [1, 2, 3].map(|i| {
            let word = self.word(i);
            if i < last { self.d.widen(format, word) } else { word }
        });
        let result = self.single(arith, operands);
        self.define_word(result);
    }

    /// Executes an operation on a packed pair of f32, with the first f32 in the low word.
    pub(super) fn float_pair(&mut self, arith: Arith) {
        let [a, b, c] = [1, 2, 3].map(|i| self.value(i));
        let result = [self.single(arith, [a[0], b[0], c[0]]), self.single(arith, [a[1], b[1], c[1]])];
        self.define(result);
    }

    pub(super) fn float_minmax(&mut self, min: bool) {
        let (a, b) = (self.operand_float(1), self.operand_float(2));
        let result = self.minmax(min, a, b);
        self.define_word(result);
    }

    pub(super) fn float_minmax_of_three(&mut self, min: bool) {
        let [a, b, c] = [1, 2, 3].map(|i| {
            let float = self.operand_float(i);
            if self.has(Token::Abs) { self.magnitude(float) } else { float }
        });
        let first = self.minmax(min, a, b);
        let result = self.minmax(min, first, c);
        self.define_word(result);
    }

    pub(super) fn float_minmax_signed(&mut self, min: bool) {
        let (a, b, sign) = (self.operand_float(1), self.operand_float(2), self.d.word(SIGN));
        let signs = self.d.xor(a, b);
        let signs = self.d.and(signs, sign);
        let (a, b) = (self.magnitude(a), self.magnitude(b));
        let result = self.minmax(min, a, b);
        let signed = self.d.or(result, signs);
        let nan = self.d.fcompare(Compare::NAN, result, result);
        let result = self.d.select(nan, result, signed);
        self.define_word(result);
    }

    fn minmax(&mut self, min: bool, a: D::Word, b: D::Word) -> D::Word {
        let (min, nan) = (self.d.truth(min), self.has(Token::Nan));
        float_minmax(self.d, min, nan, a, b)
    }

    fn magnitude(&mut self, a: D::Word) -> D::Word {
        let magnitudes = self.d.word(!SIGN);
        self.d.and(a, magnitudes)
    }

    /// Executes `copysign`: returns the second operand with the sign of the first operand.
    pub(super) fn copy_sign(&mut self) {
        let (a, b, sign) = (self.value(1), self.value(2), self.d.word(SIGN));
        let top = if self.ty(0) == Type::F64 { 1 } else { 0 };
        let sign = self.d.and(a[top], sign);
        let magnitude = self.magnitude(b[top]);
        let signed = self.d.or(magnitude, sign);
        let result = if top == 1 { [b[0], signed] } else { [signed, b[1]] };
        self.define(result);
    }

    /// Executes `testp`: tests the property that the modifiers name.
    pub(super) fn test_property(&mut self) {
        let a = self.value(1);
        let zero = self.d.word(0);
        // An f64 is represented by its high word, whose lowest bit becomes a sticky bit for the low word.
        let (word, exponent) = if self.ty(0) == Type::F64 {
            let empty = self.d.equal(a[0], zero);
            let any = self.d.negate(empty);
            let any = wide::one_if(self.d, any);
            (self.d.or(a[1], any), DOUBLE_EXPONENT)
        } else {
            (a[0], EXPONENT)
        };
        let magnitude = self.magnitude(word);
        let (infinity, unit) = (self.d.word(exponent), self.d.word(exponent & exponent.wrapping_neg()));
        let finite = self.d.less(false, magnitude, infinity);
        let infinite = self.d.equal(magnitude, infinity);
        let number = self.d.either(finite, infinite);
        let small = self.d.less(false, magnitude, unit);
        let nothing = self.d.equal(magnitude, zero);
        let something = self.d.negate(nothing);
        let subnormal = self.d.both(small, something);
        let result = match () {
            () if self.has(Token::Finite) => finite,
            () if self.has(Token::Infinite) => infinite,
            () if self.has(Token::Number) => number,
            () if self.has(Token::NotANumber) => self.d.negate(number),
            () if self.has(Token::Subnormal) => subnormal,
            () => {
                let usual = self.d.negate(subnormal);
                self.d.both(finite, usual)
            }
        };
        self.define_predicate(result);
    }

    /// Executes `neg.f32` or, if `neg` is false, `abs.f32`.
    pub(super) fn float_sign(&mut self, neg: bool) {
        let (a, sign) = (self.operand_float(1), self.d.word(SIGN));
        let result = if neg { self.d.xor(a, sign) } else { self.magnitude(a) };
        self.define_word(result);
    }
}
