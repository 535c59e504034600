//! Semantics of conversions from and to floating-point formats of at most 19 bits.

use super::double::float_of;
use super::exact::{self, Finish, Float, RoundingMode};
use super::{Context, Reader, wide};
use crate::half::{Format, Rounding};
use crate::halu::domain::Domain;
use crate::ptx::operand::Operand;
use crate::ptx::types::{Token, Type};

/// The layout of packed numbers of one format in a 32-bit word.
#[derive(Clone, Copy)]
struct Packing {
    format: Float,
    /// Distance between consecutive numbers in the word, in bits.
    stride: u32,
    /// Number of random bits with which stochastic rounding rounds each number.
    random_bits: u32,
}

impl Packing {
    fn of(ty: Type) -> Packing {
        let (format, stride, random_bits) = match ty {
            Type::E4m3x2 | Type::E4m3x4 => (Float::E4M3, 8, 16),
            Type::E5m2x2 | Type::E5m2x4 => (Float::E5M2, 8, 16),
            Type::E2m3x2 | Type::E2m3x4 => (Float::E2M3, 8, 16),
            Type::E3m2x2 | Type::E3m2x4 => (Float::E3M2, 8, 16),
            Type::E2m1x2 | Type::E2m1x4 => (Float::E2M1, 4, 8),
            Type::F16x2 => (Float::F16, 16, 13),
            _ => (float_of(ty), 16, 16),
        };
        Packing { format, stride, random_bits }
    }
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn narrow_tf32(&mut self) {
        let a = self.word(1);
        let towards = if self.has(Token::Rna) { RoundingMode::Away } else { RoundingMode::Rounding(self.rounding()) };
        let short = self.rounded(Float::F32, Float::TF32, a, towards);
        let unused = self.d.word(13);
        let result = self.d.shl(short, unused);
        let nan = self.d.fcompare(crate::half::Compare::NAN, a, a);
        let canonical = self.d.word(crate::half::NAN_F32);
        let result = self.d.select(nan, canonical, result);
        self.define_word(result);
    }

    /// Rounds a number to another format, with `.satfinite` and `.relu` if the modifiers name them.
    fn rounded(&mut self, from: Float, to: Float, a: D::Word, towards: RoundingMode<D::Word>) -> D::Word {
        let zero = self.d.word(0);
        let number = exact::unpack(self.d, from, [a, zero]);
        let (finite, relu) = (self.has(Token::Satfinite), self.has(Token::Relu));
        let finish = Finish { finite, relu, ..Finish::default() };
        exact::round(self.d, to, number, towards, finish, None)[0]
    }

    /// Rounds two or four f32 to a smaller format and packs them, the first number highest.
    pub(super) fn minis_of_floats(&mut self) {
        let packing = Packing::of(self.ty(0));
        let last = self.inst.operands.len().saturating_sub(1);
        let inst = self.inst;
        let floats: arrayvec::ArrayVec<D::Word, 4> = match inst.operands.get(1) {
            Some(Operand::Vector(regs)) => {
                regs.iter().flatten().map(|reg| self.read.register(self.d, reg)[0]).collect()
            }
            _ => [1, 2].into_iter().map(|i| self.word(i)).collect(),
        };
        let random = if self.has(Token::Rs) { Some(self.word(last)) } else { None };
        let count = floats.len();
        let mut result = self.d.word(0);
        for (i, a) in floats.into_iter().enumerate() {
            let towards = match random {
                Some(bits) => RoundingMode::Random(self.random_bits(packing, bits, 2 * i < count)),
                None => RoundingMode::Rounding(self.rounding()),
            };
            let part = self.rounded(Float::F32, packing.format, a, towards);
            result = self.put_below(result, packing.stride, part);
        }
        self.define_word(result);
    }

    /// Returns the random bits in the high or the low half of `bits`, shifted to the top of a word.
    fn random_bits(&mut self, packing: Packing, bits: D::Word, high: bool) -> D::Word {
        let (half, top) = (self.d.word(16), self.d.word(32 - packing.random_bits));
        let bits = if high { self.d.shr(bits, half) } else { bits };
        self.d.shl(bits, top)
    }

    fn put_below(&mut self, word: D::Word, bits: u32, part: D::Word) -> D::Word {
        let count = self.d.word(bits);
        let above = self.d.shl(word, count);
        self.d.or(above, part)
    }

    /// Converts a packed pair of numbers to another packed format.
    pub(super) fn convert_packed(&mut self) {
        let (to, from) = (Packing::of(self.ty(0)), Packing::of(self.ty(1)));
        let a = self.word(1);
        let count = self.d.word(from.stride);
        let high = self.d.shr(a, count);
        let mut result = self.d.word(0);
        for part in [high, a] {
            let part = self.rounded(from.format, to.format, part, RoundingMode::Rounding(Rounding::Nearest));
            result = self.put_below(result, to.stride, part);
        }
        self.define_word(result);
    }

    pub(super) fn scales_of_floats(&mut self) {
        let both = [1, 2].map(|i| self.word(i));
        self.define_scales(both);
    }

    pub(super) fn scales_of_halves(&mut self) {
        let a = self.word(1);
        let half = self.d.word(16);
        let high = self.d.shr(a, half);
        let both = [high, a].map(|half| self.d.widen(Format::Bf16, half));
        self.define_scales(both);
    }

    fn define_scales(&mut self, floats: [D::Word; 2]) {
        let mut result = self.d.word(0);
        for a in floats {
            let scale = self.scale_of(a);
            result = self.put_below(result, 8, scale);
        }
        self.define_word(result);
    }

    /// Converts an f32 to a scale factor `ue8m0`: a power of two, represented by its biased exponent.
    fn scale_of(&mut self, a: D::Word) -> D::Word {
        let (magnitudes, position) = (self.d.word(0x7FFF_FFFF), self.d.word(23));
        let magnitude = self.d.and(a, magnitudes);
        let mut scale = self.d.shr(magnitude, position);
        let infinity = self.d.word(0x7F80_0000);
        if self.has(Token::Rp) {
            // The scale of a subnormal f32 is 2^-127; only numbers above 2^-127 round up to 2^-126.
            let (fractions, zero, least) = (self.d.word(0x7F_FFFF), self.d.word(0), self.d.word(0x40_0000));
            let fraction = self.d.and(magnitude, fractions);
            let small = self.d.equal(scale, zero);
            let limit = self.d.select(small, least, zero);
            let up = self.d.less(false, limit, fraction);
            let finite = self.d.less(false, magnitude, infinity);
            let up = self.d.both(up, finite);
            let up = wide::one_if(self.d, up);
            scale = self.d.add(scale, up);
        }
        if self.has(Token::Satfinite) {
            let (nan, greatest) = (self.d.less(false, infinity, magnitude), self.d.word(254));
            let limited = wide::min_word(self.d, scale, greatest);
            scale = self.d.select(nan, scale, limited);
        }
        scale
    }

    pub(super) fn halves_of_scales(&mut self) {
        let a = self.word(1);
        let (byte, eight, seven, zero) = (self.d.word(0xFF), self.d.word(8), self.d.word(7), self.d.word(0));
        let (nan, least) = (self.d.word(crate::half::NAN.into()), self.d.word(0x40));
        let high = self.d.shr(a, eight);
        let mut result = zero;
        for part in [high, a] {
            let scale = self.d.and(part, byte);
            let (is_nan, is_least) = (self.d.equal(scale, byte), self.d.equal(scale, zero));
            let half = self.d.shl(scale, seven);
            let half = self.d.select(is_least, least, half);
            let half = self.d.select(is_nan, nan, half);
            result = self.put_below(result, 16, half);
        }
        self.define_word(result);
    }
}
