//! Semantics of bitwise, shift and byte instructions, and of moves.

use arrayvec::ArrayVec;

use super::{Context, Reader, Write, wide};
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
        let result = self.lop3_word();
        self.define_word(result);
    }

    /// Executes `lop3` with a predicate result: tests whether the bitwise result is not 0, and
    /// combines the test with the predicate operand by `.and` or `.or`.
    pub(super) fn lop3_bool(&mut self) {
        let result = self.lop3_word();
        let (zero, q) = (self.d.word(0), self.predicate(5));
        let empty = self.d.equal(result, zero);
        let p = self.d.negate(empty);
        let p = if self.has(Token::And) { self.d.both(p, q) } else { self.d.either(p, q) };
        if let Some(&Operand::Pair([word, truth])) = self.operand(0) {
            word.into_iter().for_each(|reg| self.define_reg(reg, [result, zero]));
            self.effects.writes.extend(truth.map(|reg| Write::Predicate(reg, p)));
        }
    }

    /// Applies the truth table of `lop3` to the first three source operands.
    fn lop3_word(&mut self) -> D::Word {
        let (a, b, c) = (self.word(1), self.word(2), self.word(3));
        let lut = match self.operand(4) {
            Some(&Operand::Number(bits)) => bits as u8,
            _ => 0,
        };
        self.d.lop3(lut, a, b, c)
    }

    pub(super) fn prmt(&mut self) {
        let (a, b, selector) = (self.word(1), self.word(2), self.word(3));
        let result = self.d.permute(a, b, selector);
        self.define_word(result);
    }

    pub(super) fn prmt_mode(&mut self) {
        let (a, b, c) = (self.word(1), self.word(2), self.word(3));
        let table: [u32; 4] = match () {
            () if self.has(Token::F4e) => [0x3210, 0x4321, 0x5432, 0x6543],
            () if self.has(Token::B4e) => [0x5670, 0x6701, 0x7012, 0x0123],
            () if self.has(Token::Rc8) => [0x0000, 0x1111, 0x2222, 0x3333],
            () if self.has(Token::Ecl) => [0x3210, 0x3211, 0x3222, 0x3333],
            () if self.has(Token::Ecr) => [0x0000, 0x1110, 0x2210, 0x3210],
            () => [0x1010, 0x3232, 0x1010, 0x3232],
        };
        let zero = self.d.word(0);
        let [even, low] = [1, 2].map(|bit| {
            let bit = self.d.word(bit);
            let bit = self.d.and(c, bit);
            self.d.equal(bit, zero)
        });
        let [first, second, third, fourth] = table.map(|selector| self.d.word(selector));
        let (below, above) = (self.d.select(even, first, second), self.d.select(even, third, fourth));
        let selector = self.d.select(low, below, above);
        let result = self.d.permute(a, b, selector);
        self.define_word(result);
    }

    pub(super) fn cnot(&mut self) {
        let a = self.wide_int(1, self.ty(0));
        let zero = wide::constant(self.d, 0);
        let empty = wide::equal(self.d, a, zero);
        let result = wide::one_if(self.d, empty);
        self.define_word(result);
    }

    /// Executes `bfind`: finds the highest bit that differs from the sign. Returns the bit's position, or with
    /// `.shiftamt` the number of bits above it. Returns all ones if there is no such bit.
    pub(super) fn bfind(&mut self) {
        let ty = self.ty(0);
        let mut a = self.wide_int(1, ty);
        if ty.is_signed() {
            let last = self.d.word(31);
            let sign = self.d.sar(a[1], last);
            a = wide::bitwise(self.d, D::xor, a, [sign, sign]);
        }
        let zeros = self.zeros_above(a, ty);
        let width = self.d.word(ty.bits());
        let result = if self.has(Token::ShiftAmount) {
            let (none, all) = (self.d.equal(zeros, width), self.d.word(u32::MAX));
            self.d.select(none, all, zeros)
        } else {
            let last = self.d.word(ty.bits() - 1);
            self.d.sub(last, zeros)
        };
        self.define_word(result);
    }

    /// Executes `fns`: finds the `n`th set bit of a mask, counted from the bit position `base`,
    /// where `n` is the operand `offset`. A negative `offset` counts downward.
    pub(super) fn fns(&mut self) {
        let (mask, base, offset) = (self.word(1), self.word(2), self.word(3));
        let (zero, one, last) = (self.d.word(0), self.d.word(1), self.d.word(31));
        let downward = wide::is_negative(self.d, offset);
        let itself = self.d.equal(offset, zero);
        // A downward search is an upward search in the reversed bits. An offset of 0 tests only the bit at the base.
        let turned = self.d.reverse_bits(mask);
        let from_top = self.d.sub(last, base);
        let (up, down) = (self.d.shr(mask, base), self.d.shr(turned, from_top));
        let bits = self.d.select(downward, down, up);
        let only = self.d.and(bits, one);
        let bits = self.d.select(itself, only, bits);
        let opposite = self.d.sub(zero, offset);
        let count = self.d.select(downward, opposite, offset);
        let count = self.d.select(itself, one, count);
        let set = self.d.count_ones(bits);
        let absent = self.d.less(false, set, count);
        let (mut place, mut rest, mut left) = (zero, bits, count);
        for half in [16, 8, 4, 2, 1] {
            let low = self.d.word((1 << half) - 1);
            let low = self.d.and(rest, low);
            let below = self.d.count_ones(low);
            let beyond = self.d.less(false, below, left);
            let half = self.d.word(half);
            let (fewer, shifted, further) = (self.d.sub(left, below), self.d.shr(rest, half), self.d.add(place, half));
            left = self.d.select(beyond, fewer, left);
            rest = self.d.select(beyond, shifted, rest);
            place = self.d.select(beyond, further, place);
        }
        let (up, down) = (self.d.add(base, place), self.d.sub(base, place));
        let found = self.d.select(downward, down, up);
        let none = self.d.word(u32::MAX);
        let result = self.d.select(absent, none, found);
        // The manual allows only bases up to 31; a GPU finds no bit from a higher base.
        let outside = self.d.less(false, last, base);
        let result = self.d.select(outside, none, result);
        self.define_word(result);
    }

    /// Returns operand `i` as a bit count: clamped to 32, or taken modulo 32 with `.wrap`.
    fn counted(&mut self, i: usize) -> D::Word {
        let count = self.word(i);
        if self.has(Token::Wrap) {
            let last = self.d.word(31);
            self.d.and(count, last)
        } else {
            let width = self.d.word(32);
            wide::min_word(self.d, count, width)
        }
    }

    pub(super) fn bmsk(&mut self) {
        let (start, count) = (self.counted(1), self.counted(2));
        let all = self.d.word(u32::MAX);
        let above = wide::shl_word(self.d, all, count);
        let ones = self.d.not(above);
        let result = wide::shl_word(self.d, ones, start);
        self.define_word(result);
    }

    pub(super) fn szext(&mut self) {
        let (a, count) = (self.word(1), self.counted(2));
        let width = self.d.word(32);
        let rest = self.d.sub(width, count);
        let top = wide::shl_word(self.d, a, rest);
        let result =
            if self.ty(0).is_signed() { wide::sar_word(self.d, top, rest) } else { wide::shr_word(self.d, top, rest) };
        self.define_word(result);
    }

    pub(super) fn popc(&mut self) {
        let [low, high] = self.wide_int(1, self.ty(0));
        let (low, high) = (self.d.count_ones(low), self.d.count_ones(high));
        let result = self.d.add(low, high);
        self.define_word(result);
    }

    pub(super) fn clz(&mut self) {
        let ty = self.ty(0);
        let a = self.wide_int(1, ty);
        let result = self.zeros_above(a, ty);
        self.define_word(result);
    }

    /// Returns the number of leading zeros of an integer of type `ty`.
    fn zeros_above(&mut self, [low, high]: [D::Word; 2], ty: Type) -> D::Word {
        let of_low = self.d.leading_zeros(low);
        if ty.bits() == 64 {
            let (zero, width) = (self.d.word(0), self.d.word(32));
            let of_high = self.d.leading_zeros(high);
            let below = self.d.add(of_low, width);
            let empty = self.d.equal(high, zero);
            self.d.select(empty, below, of_high)
        } else {
            of_low
        }
    }

    pub(super) fn brev(&mut self) {
        let [low, high] = self.value(1);
        let [low, high] = [low, high].map(|word| self.d.reverse_bits(word));
        let result = if self.ty(0).bits() == 64 { [high, low] } else { [low, high] };
        self.define(result);
    }

    /// Returns operand `i` modulo 256, as `bfe` and `bfi` use positions and lengths.
    fn amount(&mut self, i: usize) -> D::Word {
        let (word, byte) = (self.word(i), self.d.word(0xFF));
        self.d.and(word, byte)
    }

    /// Returns a 64-bit mask with the low `count` bits set.
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
            let value = self.read.special(self.d, special);
            self.define(value);
        }
    }

    pub(super) fn pack(&mut self) {
        let inst = self.inst;
        let Some(Operand::Vector(parts)) = inst.operands.get(1) else { return };
        let zero = self.d.word(0);
        let words: ArrayVec<D::Word, 4> =
            parts.iter().map(|part| part.map_or(zero, |reg| self.read.register(self.d, reg)[0])).collect();
        let mut join = |low: D::Word, high: D::Word, bits: u32| {
            let bits = self.d.word(bits);
            let high = self.d.shl(high, bits);
            self.d.or(low, high)
        };
        let result = match (words.as_slice(), self.inst.ty(0).bits()) {
            (&[low, high], 64) => [low, high],
            (&[low, high], 16) => [join(low, high, 8), zero],
            (&[low, high], _) => [join(low, high, 16), zero],
            (&[a, b, c, e], 64) => [join(a, b, 16), join(c, e, 16)],
            (&[a, b, c, e], _) => {
                let (low, high) = (join(a, b, 8), join(c, e, 8));
                [join(low, high, 16), zero]
            }
            _ => [zero, zero],
        };
        self.define(result);
    }

    pub(super) fn move_elements(&mut self) {
        let inst = self.inst;
        let [Operand::Vector(to), Operand::Vector(from)] = inst.operands.as_slice() else { return };
        let zero = [self.d.word(0); 2];
        let values: ArrayVec<[D::Word; 2], 4> =
            from.iter().map(|reg| reg.map_or(zero, |reg| self.read.register(self.d, reg))).collect();
        for (reg, value) in to.iter().zip(values) {
            if let Some(reg) = reg {
                self.define_reg(reg, value);
            }
        }
    }

    /// Returns the two 64-bit halves of a 128-bit operand, low half first.
    fn pair(&mut self, i: usize) -> [[D::Word; 2]; 2] {
        let none = wide::constant(self.d, 0);
        let pair = match self.operand(i) {
            Some(Operand::Vector(regs)) => regs.pair(),
            _ => None,
        };
        pair.map_or([none; 2], |pair| pair.map(|reg| self.read.register(self.d, reg)))
    }

    fn define_halves(&mut self, halves: [[D::Word; 2]; 2]) {
        let Some(Operand::Vector(regs)) = self.operand(0) else { return };
        for (reg, half) in regs.pair().into_iter().flatten().zip(halves) {
            self.define_reg(reg, half);
        }
    }

    pub(super) fn move_pair(&mut self) {
        let pair = self.pair(1);
        self.define_halves(pair);
    }

    pub(super) fn pack_pair(&mut self) {
        let inst = self.inst;
        let Some(Operand::Vector(parts)) = inst.operands.get(1) else { return };
        let zero = self.d.word(0);
        let values: ArrayVec<[D::Word; 2], 4> =
            parts.iter().map(|part| part.map_or([zero; 2], |reg| self.read.register(self.d, reg))).collect();
        match *values.as_slice() {
            [low, high] => self.define_halves([low, high]),
            [[a, _], [b, _], [c, _], [e, _]] => self.define_halves([[a, b], [c, e]]),
            _ => {}
        }
    }

    pub(super) fn unpack_pair(&mut self) {
        let inst = self.inst;
        let Some(Operand::Vector(parts)) = inst.operands.first() else { return };
        let zero = self.d.word(0);
        let [low, high] = self.pair(1);
        let words = [low[0], low[1], high[0], high[1]].map(|word| [word, zero]);
        let halves = [low, high];
        let values = if parts.len() == 2 { &halves[..] } else { &words[..] };
        for (part, &value) in parts.iter().zip(values) {
            if let Some(reg) = part {
                self.define_reg(reg, value);
            }
        }
    }

    pub(super) fn unpack(&mut self) {
        let inst = self.inst;
        let Some(Operand::Vector(parts)) = inst.operands.first() else { return };
        let [low, high] = self.value(1);
        let zero = self.d.word(0);
        let mut above = |word: D::Word, bits: u32| {
            let bits = self.d.word(bits);
            self.d.shr(word, bits)
        };
        let words = match (parts.len(), self.inst.ty(0).bits()) {
            (2, 64) => [low, high, zero, zero],
            (2, 16) => [low, above(low, 8), zero, zero],
            (2, _) => [low, above(low, 16), zero, zero],
            (_, 64) => [low, above(low, 16), high, above(high, 16)],
            _ => [low, above(low, 8), above(low, 16), above(low, 24)],
        };
        for (part, word) in parts.iter().zip(words) {
            if let Some(reg) = part {
                self.define_reg(reg, [word, zero]);
            }
        }
    }
}
