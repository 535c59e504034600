//! Semantics of integer arithmetic.

use super::{Context, Reader, wide};
use crate::halu::domain::{Divide, Domain, DotElements, DotOp, Lanes, VideoKind, VideoMerge, VideoOp};
use crate::ptx::types::{Token, Type};

type WordOp<D> = fn(&mut D, <D as Domain>::Word, <D as Domain>::Word) -> <D as Domain>::Word;
pub(super) type WideOp<D> = fn(&mut D, [<D as Domain>::Word; 2], [<D as Domain>::Word; 2]) -> [<D as Domain>::Word; 2];

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Executes a wrapping integer operation: `word` for up to 32 bits, `wide` for 64 bits.
    pub(super) fn integer(&mut self, word: WordOp<D>, wide: WideOp<D>) {
        let (a, b) = (self.value(1), self.value(2));
        if self.ty(0).bits() == 64 {
            let result = wide(self.d, a, b);
            self.define(result);
        } else {
            let result = word(self.d, a[0], b[0]);
            self.define_word(result);
        }
    }

    /// Executes `add.sat` or `sub.sat` on s32.
    pub(super) fn saturating(&mut self, difference: bool) {
        let (a, b) = (self.wide_int(1, Type::S32), self.wide_int(2, Type::S32));
        let exact = if difference { wide::sub(self.d, a, b) } else { wide::add(self.d, a, b) };
        let result = self.clamp(exact, Type::S64, Type::S32);
        self.define(result);
    }

    /// Clamps an integer of type `from`, which is extended to 64 bits, to the range of type `to`.
    pub(super) fn clamp(&mut self, value: [D::Word; 2], from: Type, to: Type) -> [D::Word; 2] {
        let ([lowest, highest], [least, greatest]) = (range(from), range(to));
        let mut value = value;
        if lowest < least {
            let bound = wide::constant(self.d, least as u64);
            let below = self.less(from, value, bound);
            value = wide::select(self.d, below, bound, value);
        }
        if highest > greatest {
            let bound = wide::constant(self.d, greatest as u64);
            let above = self.less(from, bound, value);
            value = wide::select(self.d, above, bound, value);
        }
        value
    }

    /// Executes `mul` or, if `add` is set, `mad`.
    pub(super) fn mul(&mut self, add: bool) {
        let result = self.half_product();
        self.define_sum(result, add);
    }

    /// Returns the low or the high half of the product of the first two source operands.
    pub(super) fn half_product(&mut self) -> [D::Word; 2] {
        let (ty, high) = (self.ty(0), self.has(Token::Hi));
        if ty.bits() == 64 {
            let (a, b) = (self.value(1), self.value(2));
            if high { wide::mul_high(self.d, ty.is_signed(), a, b) } else { wide::mul_low(self.d, a, b) }
        } else {
            let (a, b) = (self.narrow_int(1, ty), self.narrow_int(2, ty));
            let [low, upper] = wide::product(self.d, ty.is_signed(), a, b);
            let word = match (high, ty.bits()) {
                (false, _) => low,
                (true, 32) => upper,
                (true, _) => {
                    let half = self.d.word(16);
                    self.d.shr(low, half)
                }
            };
            [word, self.d.word(0)]
        }
    }

    /// Executes `mad.hi.sat.s32`: the high half of a product plus `c`, clamped to s32.
    pub(super) fn mad_saturating(&mut self) {
        let [high, _] = self.half_product();
        self.define_clamped_sum(high);
    }

    /// Writes the sum of `a` and the operand `c`, clamped to s32.
    fn define_clamped_sum(&mut self, a: D::Word) {
        let a = wide::extend(self.d, 32, true, [a, a]);
        let c = self.wide_int(3, Type::S32);
        let exact = wide::add(self.d, a, c);
        let result = self.clamp(exact, Type::S64, Type::S32);
        self.define(result);
    }

    /// Executes `mul24` or, if `add` is set, `mad24`.
    pub(super) fn mul24(&mut self, add: bool) {
        let word = self.product24();
        let zero = self.d.word(0);
        if add {
            let c = self.word(3);
            let sum = self.d.add(word, c);
            self.define([sum, zero]);
        } else {
            self.define([word, zero]);
        }
    }

    pub(super) fn mad24_saturating(&mut self) {
        let high = self.product24();
        self.define_clamped_sum(high);
    }

    /// Returns bits 0 to 31 of the 48-bit product of two 24-bit operands, or bits 16 to 47 with `.hi`.
    fn product24(&mut self) -> D::Word {
        let signed = self.ty(0).is_signed();
        let [a, b] = [1, 2].map(|i| {
            let word = self.word(i);
            wide::extend_word(self.d, 24, signed, word)
        });
        let [low, high] = wide::product(self.d, signed, a, b);
        if !self.has(Token::Hi) {
            return low;
        }
        let half = self.d.word(16);
        let (low, high) = (self.d.shr(low, half), self.d.shl(high, half));
        self.d.or(low, high)
    }

    /// Executes `div` or, if `remainder` is set, `rem` on integers.
    pub(super) fn divide(&mut self, remainder: bool) {
        let ty = self.ty(0);
        let op = Divide { signed: ty.is_signed(), remainder };
        if ty.bits() == 64 {
            let (a, b) = (self.value(1), self.value(2));
            let result = self.d.divide_wide(op, a, b);
            self.define(result);
        } else {
            let (a, b) = (self.narrow_int(1, ty), self.narrow_int(2, ty));
            let result = self.d.divide(op, a, b);
            self.define_word(result);
        }
    }

    /// Executes `mul.wide` or, if `add` is set, `mad.wide`.
    pub(super) fn mul_wide(&mut self, add: bool) {
        let ty = self.ty(0);
        let (a, b) = (self.narrow_int(1, ty), self.narrow_int(2, ty));
        let result = wide::product(self.d, ty.is_signed(), a, b);
        self.define_sum(result, add);
    }

    fn define_sum(&mut self, product: [D::Word; 2], add: bool) {
        let result = if add {
            let c = self.value(3);
            wide::add(self.d, product, c)
        } else {
            product
        };
        self.define(result);
    }

    pub(super) fn extremum(&mut self, min: bool) {
        let ty = self.ty(0);
        let (a, b) = (self.wide_int(1, ty), self.wide_int(2, ty));
        let less = self.less(ty, a, b);
        let (first, second) = if min { (a, b) } else { (b, a) };
        let result = wide::select(self.d, less, first, second);
        self.define(result);
    }

    /// Executes `min` or `max` on s32 with `.relu`, which replaces a negative result by 0.
    pub(super) fn extremum_relu(&mut self, min: bool) {
        let (a, b, zero) = (self.word(1), self.word(2), self.d.word(0));
        let less = self.d.less(true, a, b);
        let (first, second) = if min { (a, b) } else { (b, a) };
        let extremum = self.d.select(less, first, second);
        let negative = wide::is_negative(self.d, extremum);
        let result = self.d.select(negative, zero, extremum);
        self.define_word(result);
    }

    pub(super) fn abs(&mut self) {
        let a = self.wide_int(1, self.ty(0));
        let opposite = wide::neg(self.d, a);
        let negative = wide::is_negative(self.d, a[1]);
        let result = wide::select(self.d, negative, opposite, a);
        self.define(result);
    }

    pub(super) fn neg(&mut self) {
        let a = self.value(1);
        let result = wide::neg(self.d, a);
        self.define(result);
    }

    /// Executes `sad`: the absolute difference of two integers plus a third.
    pub(super) fn sad(&mut self) {
        let ty = self.ty(0);
        let (a, b, c) = (self.wide_int(1, ty), self.wide_int(2, ty), self.value(3));
        let less = self.less(ty, a, b);
        let up = wide::sub(self.d, b, a);
        let down = wide::sub(self.d, a, b);
        let distance = wide::select(self.d, less, up, down);
        let result = wide::add(self.d, distance, c);
        self.define(result);
    }

    pub(super) fn dp4a(&mut self) {
        self.dot(DotElements::Bytes);
    }

    pub(super) fn dp2a(&mut self) {
        self.dot(if self.has(Token::Hi) { DotElements::HighBytes } else { DotElements::LowBytes });
    }

    fn dot(&mut self, elements: DotElements) {
        let op = DotOp { a_signed: self.ty(0).is_signed(), b_signed: self.ty(1).is_signed(), elements };
        let (a, b, c) = (self.word(1), self.word(2), self.word(3));
        let result = self.d.dot(&op, a, b, c);
        self.define_word(result);
    }

    /// Executes an operation on packed integers, as the video instruction of kind `kind` on all lanes.
    pub(super) fn packed(&mut self, kind: VideoKind, lanes: Lanes) {
        let (a, b) = (self.word(1), self.word(2));
        let result = self.all_lanes(kind, lanes, a, b);
        self.define_word(result);
    }

    /// Executes `min` or `max` on packed s16 with `.relu`, which replaces negative results by 0.
    pub(super) fn packed_relu(&mut self, kind: VideoKind) {
        let (a, b, zero) = (self.word(1), self.word(2), self.d.word(0));
        let extremum = self.all_lanes(kind, Lanes::Two, a, b);
        let result = self.all_lanes(VideoKind::Max, Lanes::Two, extremum, zero);
        self.define_word(result);
    }

    fn all_lanes(&mut self, kind: VideoKind, lanes: Lanes, a: D::Word, b: D::Word) -> D::Word {
        let signed = self.ty(0).is_signed();
        let count = lanes.count() as u8;
        let op = VideoOp {
            kind,
            lanes,
            d_signed: signed,
            a_signed: signed,
            b_signed: signed,
            a_select: [0, 1, 2, 3],
            b_select: [0, 1, 2, 3].map(|lane| lane + count),
            mask: lanes.all() as u8,
            merge: if self.has(Token::Sat) { VideoMerge::Saturate } else { VideoMerge::Wrap },
        };
        let c = self.d.word(0);
        self.d.video(&op, a, b, c)
    }
}

/// Returns the least and the greatest integer of a type.
fn range(ty: Type) -> [i128; 2] {
    let values = 1i128 << ty.bits();
    if ty.is_signed() { [-values / 2, values / 2 - 1] } else { [0, values - 1] }
}
