//! Bits, shifts and bytes; moves, which only carry bits.

use arrayvec::ArrayVec;

use super::{Context, Reader, wide};
use crate::halu::domain::Domain;
use crate::ptx::operand::Operand;
use crate::ptx::types::{Token, Type};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn logic(
        &mut self,
        truth: fn(&mut D, D::Pred, D::Pred) -> D::Pred,
        word: fn(&mut D, D::Word, D::Word) -> D::Word,
    ) {
        if self.ty(0) == Type::Pred {
            let (a, b) = (self.predicate(1), self.predicate(2));
            let result = truth(self.d, a, b);
            self.define_predicate(result);
        } else {
            let (a, b) = (self.value(1), self.value(2));
            let result = wide::bitwise(self.d, word, a, b);
            self.define(result);
        }
    }

    pub(super) fn not(&mut self) {
        if self.ty(0) == Type::Pred {
            let a = self.predicate(1);
            let result = self.d.negate(a);
            self.define_predicate(result);
        } else {
            let a = self.value(1);
            let result = wide::not(self.d, a);
            self.define(result);
        }
    }

    pub(super) fn shl(&mut self) {
        let (a, count) = (self.value(1), self.word(2));
        if self.ty(0).bits() == 64 {
            let result = wide::shl(self.d, a, count);
            self.define(result);
        } else {
            let result = wide::shl_word(self.d, a[0], count);
            self.define_word(result);
        }
    }

    pub(super) fn shr(&mut self) {
        let ty = self.ty(0);
        let count = self.word(2);
        if ty.bits() == 64 {
            let a = self.value(1);
            let result = if ty.is_signed() { wide::sar(self.d, a, count) } else { wide::shr(self.d, a, count) };
            self.define(result);
        } else {
            let a = self.narrow_int(1, ty);
            let result =
                if ty.is_signed() { wide::sar_word(self.d, a, count) } else { wide::shr_word(self.d, a, count) };
            self.define_word(result);
        }
    }

    pub(super) fn shf(&mut self) {
        let (low, high, count) = (self.word(1), self.word(2), self.word(3));
        let width = self.d.word(32);
        let count = if self.has(Token::Wrap) {
            let counts = self.d.word(31);
            self.d.and(count, counts)
        } else {
            wide::min_word(self.d, count, width)
        };
        let rest = self.d.sub(width, count);
        let (left, right) = if self.has(Token::Left) { (count, rest) } else { (rest, count) };
        let (high, low) = (wide::shl_word(self.d, high, left), wide::shr_word(self.d, low, right));
        let result = self.d.or(high, low);
        self.define_word(result);
    }

    pub(super) fn lop3(&mut self) {
        let (a, b, c) = (self.word(1), self.word(2), self.word(3));
        let lut = match self.operand(4) {
            Some(&Operand::Number(bits)) => bits as u8,
            _ => 0,
        };
        let result = self.d.lop3(lut, a, b, c);
        self.define_word(result);
    }

    pub(super) fn prmt(&mut self) {
        let (a, b, selector) = (self.word(1), self.word(2), self.word(3));
        let result = self.d.permute(a, b, selector);
        self.define_word(result);
    }

    pub(super) fn popc(&mut self) {
        let [low, high] = self.wide_int(1, self.ty(0));
        let (low, high) = (self.d.count_ones(low), self.d.count_ones(high));
        let result = self.d.add(low, high);
        self.define_word(result);
    }

    pub(super) fn clz(&mut self) {
        let [low, high] = self.wide_int(1, self.ty(0));
        let of_low = self.d.leading_zeros(low);
        let result = if self.ty(0).bits() == 64 {
            let (zero, width) = (self.d.word(0), self.d.word(32));
            let of_high = self.d.leading_zeros(high);
            let below = self.d.add(of_low, width);
            let empty = self.d.equal(high, zero);
            self.d.select(empty, below, of_high)
        } else {
            of_low
        };
        self.define_word(result);
    }

    pub(super) fn brev(&mut self) {
        let [low, high] = self.value(1);
        let [low, high] = [low, high].map(|word| self.d.reverse_bits(word));
        let result = if self.ty(0).bits() == 64 { [high, low] } else { [low, high] };
        self.define(result);
    }

    /// A word modulo 256.
    fn amount(&mut self, i: usize) -> D::Word {
        let (word, byte) = (self.word(i), self.d.word(0xFF));
        self.d.and(word, byte)
    }

    /// So many ones, from bit 0 up.
    fn ones(&mut self, count: D::Word) -> [D::Word; 2] {
        let all = wide::constant(self.d, u64::MAX);
        let above = wide::shl(self.d, all, count);
        wide::not(self.d, above)
    }

    pub(super) fn bfe(&mut self) {
        let ty = self.ty(0);
        let a = self.value(1);
        let (start, length) = (self.amount(2), self.amount(3));
        let field = self.ones(length);
        let source = wide::constant(self.d, ty.truncate(u64::MAX));
        let there = wide::shr(self.d, source, start);
        let there = wide::bitwise(self.d, D::and, field, there);
        let shifted = wide::shr(self.d, a, start);
        let mut result = wide::bitwise(self.d, D::and, shifted, there);
        if ty.is_signed() {
            let (one, zero) = (self.d.word(1), self.d.word(0));
            let end = self.d.add(start, length);
            let last = self.d.sub(end, one);
            let sign_bit = self.d.word(ty.bits() - 1);
            let last = wide::min_word(self.d, last, sign_bit);
            let [sign, _] = wide::shr(self.d, a, last);
            let sign = self.d.and(sign, one);
            let empty = self.d.equal(length, zero);
            let sign = self.d.select(empty, zero, sign);
            let copies = self.d.sub(zero, sign);
            let rest = wide::not(self.d, there);
            let rest = wide::bitwise(self.d, D::and, rest, [copies, copies]);
            result = wide::bitwise(self.d, D::or, result, rest);
        }
        self.define(result);
    }

    pub(super) fn bfi(&mut self) {
        let (a, b) = (self.value(1), self.value(2));
        let (start, length) = (self.amount(3), self.amount(4));
        let field = self.ones(length);
        let field = wide::shl(self.d, field, start);
        let shifted = wide::shl(self.d, a, start);
        let inserted = wide::bitwise(self.d, D::and, shifted, field);
        let around = wide::not(self.d, field);
        let kept = wide::bitwise(self.d, D::and, b, around);
        let result = wide::bitwise(self.d, D::or, inserted, kept);
        self.define(result);
    }

    pub(super) fn mov(&mut self) {
        if self.ty(0) == Type::Pred {
            let a = self.predicate(1);
            self.define_predicate(a);
        } else {
            self.copy();
        }
    }

    pub(super) fn copy(&mut self) {
        let a = self.value(1);
        self.define(a);
    }

    pub(super) fn mov_special(&mut self) {
        if let Some(&Operand::Special(special)) = self.operand(1) {
            let word = self.read.special(self.d, special);
            self.define_word(word);
        }
    }

    pub(super) fn pack(&mut self) {
        let inst = self.inst;
        let Some(Operand::Vector(parts)) = inst.operands.get(1) else { return };
        let zero = self.d.word(0);
        let words: ArrayVec<D::Word, 4> =
            parts.iter().map(|part| part.map_or(zero, |reg| self.read.register(self.d, reg)[0])).collect();
        let half = self.d.word(16);
        let mut join = |low: D::Word, high: D::Word| {
            let high = self.d.shl(high, half);
            self.d.or(low, high)
        };
        let result = match (words.as_slice(), self.inst.ty(0).bits()) {
            (&[low, high], 64) => [low, high],
            (&[low, high], _) => [join(low, high), zero],
            (&[a, b, c, e], _) => [join(a, b), join(c, e)],
            _ => [zero, zero],
        };
        self.define(result);
    }

    pub(super) fn unpack(&mut self) {
        let inst = self.inst;
        let Some(Operand::Vector(parts)) = inst.operands.first() else { return };
        let [low, high] = self.value(1);
        let (half, zero) = (self.d.word(16), self.d.word(0));
        let mut upper = |word: D::Word| self.d.shr(word, half);
        let words = match (parts.len(), self.inst.ty(0).bits()) {
            (2, 64) => [low, high, zero, zero],
            (2, _) => [low, upper(low), zero, zero],
            _ => [low, upper(low), high, upper(high)],
        };
        for (part, word) in parts.iter().zip(words) {
            if let Some(reg) = part {
                self.define_reg(reg, [word, zero]);
            }
        }
    }
}
