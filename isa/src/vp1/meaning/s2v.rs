//! Values that the scalar unit forwards to the vector unit of the same bundle.

use super::{Bit, Context, Outcome, f};
use crate::row::ROTATE;
use crate::vp1::Unit;
use crate::vp1::domain::{Domain, Index, Reader};

/// The values that one scalar instruction forwards to the vector unit.
#[derive(Clone, Copy)]
pub(super) struct Forwarded<W> {
    /// Four signed 10-bit factors.
    pub factors: [W; 4],
    /// The flags that choose one factor of each pair for each component.
    pub choice: FlagDistribution,
}

/// The choice of sixteen flags of `$vc` registers, one for each component of a vector.
#[derive(Clone, Copy)]
pub(super) struct FlagDistribution {
    /// The number of the `$vc` register. Distribution 7 also uses `$vc` register `vc | 1`.
    pub vc: u8,
    /// The kind of the flags: 0 for sign flags, 1 for zero flags.
    pub half: usize,
    /// The number of the distribution, an index into [`SPREAD`].
    pub spread: usize,
}

/// The distributions of flags. Each gives the number of the flag for each component: 0 to 15 in the
/// first `$vc` register of the pair, 16 to 31 in the second.
const SPREAD: [[u8; 16]; 8] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10, 10, 14, 14, 14, 14],
    [4, 5, 4, 5, 4, 5, 4, 5, 12, 13, 12, 13, 12, 13, 12, 13],
    [0, 0, 2, 0, 4, 4, 6, 4, 8, 8, 10, 8, 12, 12, 14, 12],
    [1, 1, 1, 3, 5, 5, 5, 7, 9, 9, 9, 11, 13, 13, 13, 15],
    [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14],
    [1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13],
    [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30],
];

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Forwards factors, and the choice of flags that the instruction word encodes.
    fn forward(&self, factors: [D::Word; 4]) -> Outcome<D> {
        let choice = FlagDistribution {
            vc: self.reg(f::VCIDX),
            half: self.get(f::VCFLAG) as usize,
            spread: self.split(f::VCXFRM_LOW, f::VCXFRM_HIGH) as usize,
        };
        Outcome { forwarded: Some(Forwarded { factors, choice }), ..Outcome::default() }
    }

    /// Evaluates `vec`: forwards two constants as the factors `[a, a, b, b]`.
    pub(super) fn forward_constants(&mut self) -> Outcome<D> {
        let [a, b] = [f::FACTOR1, f::FACTOR2].map(|field| self.d.word(self.signed(field) as u32));
        self.forward([a, a, b, b])
    }

    /// Evaluates `bvec`: forwards the four signed bytes of a register, multiplied by 2.
    pub(super) fn forward_bytes(&mut self) -> Outcome<D> {
        let word = self.r(f::SRC1);
        let factors = [0, 1, 2, 3].map(|i| self.signed_byte(word, i, 1));
        self.forward(factors)
    }

    /// Evaluates `vecms`: forwards the low four bits of a register as factors, and shifts the register right by four.
    pub(super) fn forward_bits(&mut self) -> Outcome<D> {
        let (bits, four) = (self.r(f::SRC1), self.d.word(4));
        let rest = self.d.sar(bits, four);
        let factors = self.bit_factors(bits);
        Outcome { writes: self.define(f::SRC1, rest).into_iter().collect(), ..self.forward(factors) }
    }

    /// Evaluates `bvecmad`: forwards the sums of the bytes of one register and the scaled bytes of
    /// another register.
    pub(super) fn forward_positioned(&mut self) -> Outcome<D> {
        let factors = self.positioned_factors(8);
        self.forward(factors)
    }

    /// Evaluates `bvecmadsel`. The factors are computed as for `bvecmad`, but one factor of each pair replaces both.
    pub(super) fn forward_selected(&mut self) -> Outcome<D> {
        let [a, b, c, d] = self.positioned_factors(7);
        // If the condition is flag b19, which selects the registers with the bytes, then flag b18
        // selects the factor of each pair.
        let [first, second] = if self.get(f::SLCT) == 2 {
            let flags = self.c();
            let second = self.bits(flags, 7, 1);
            [(a, b), (c, d)].map(|(x, y)| self.d.select(second, y, x))
        } else {
            [a, c]
        };
        self.forward([first, first, second, second])
    }

    /// Returns the factors of `vecms`. Bits 0 and 1 of the word determine factor 0, bits 2 and 3
    /// determine factor 1, and the other factors are 0.
    pub(super) fn bit_factors(&mut self, word: D::Word) -> [D::Word; 4] {
        let zero = self.d.word(0);
        let [a, b] = [0, 2].map(|low| {
            let (first, second) = (self.bits(word, low, 1), self.bits(word, low + 1, 1));
            let (x, y) = (self.d.word(0x1e), self.d.word(0x1e0));
            let (first, second) = (self.d.mul(first, x), self.d.mul(second, y));
            self.or(first, second)
        });
        [a, b, zero, zero]
    }

    /// Returns the four factors of `bvecmad` or `bvecmadsel`: `(256 * x + position * y + 64) >> 7`,
    /// where x and y are signed bytes of two registers. The position is `bits` bits of `$r[SRC1]`
    /// from bit 11 upwards.
    fn positioned_factors(&mut self, bits: u32) -> [D::Word; 4] {
        let [x, y] = [0, 2].map(|element| {
            let n = self.second_of_quad(element);
            self.read.r(self.d, n)
        });
        let position = self.r(f::SRC1);
        let position = self.bits(position, 11, (1 << bits) - 1);
        [0, 1, 2, 3].map(|i| {
            let (x, y) = (self.signed_byte(x, i, 8), self.signed_byte(y, i, 0));
            let y = self.d.mul(position, y);
            let (half, seven) = (self.d.word(0x40), self.d.word(7));
            let sum = self.d.add(x, y);
            let sum = self.d.add(sum, half);
            self.d.sar(sum, seven)
        })
    }

    /// Returns the number of a register that `bvecmad` reads: SRC2 ORed with `element` and with the
    /// bits that the condition selects.
    pub(super) fn second_of_quad(&mut self, element: u8) -> Index<D::Word> {
        let n = self.reg(f::SRC2) | element;
        let condition = if self.get(f::SLCT) == ROTATE {
            let c = self.c();
            Bit::Word(self.bits(c, 4, 3))
        } else {
            self.condition()
        };
        match condition {
            Bit::Known(bit) => Index::Fixed(n | u8::from(bit)),
            Bit::Word(bits) => {
                let start = self.d.word((n & 3).into());
                Index::InQuad { first: n & !3, element: self.or(start, bits) }
            }
        }
    }

    /// Returns signed byte `i` of a word times 2^scale.
    fn signed_byte(&mut self, word: D::Word, i: u32, scale: u32) -> D::Word {
        let (up, down, scale) = (self.d.word(24 - 8 * i), self.d.word(24), self.d.word(scale));
        let word = self.d.shl(word, up);
        let word = self.d.sar(word, down);
        self.d.shl(word, scale)
    }

    /// Returns the mask that a pair of factors encodes. The low byte is bits 1 to 8 of the first
    /// factor, and the high byte is bits 1 to 8 of the second factor.
    pub(super) fn mask_of_factors(&mut self, low: D::Word, high: D::Word) -> D::Word {
        let (low, high) = (self.bits(low, 1, 0xff), self.bits(high, 1, 0xff));
        let eight = self.d.word(8);
        let high = self.d.shl(high, eight);
        self.or(low, high)
    }

    /// Returns the four factors that the vector unit reads.
    pub(super) fn factors(&mut self) -> [D::Word; 4] {
        match (self.forwarded, self.bundle.inst(Unit::Scalar)) {
            (Some(forwarded), _) => forwarded.factors,
            (None, Some(inst)) => self.for_unit(inst).leftover_factors(),
            (None, None) => [self.d.word(0); 4],
        }
    }

    /// Returns the flags that the scalar unit forwards. If the scalar unit forwards no flags,
    /// returns those of the `$vc` register in the vector instruction's own word.
    pub(super) fn forwarded_flags(&mut self) -> D::Mask {
        let FlagDistribution { vc, half, spread } = match self.forwarded {
            Some(forwarded) => forwarded.choice,
            None => FlagDistribution { vc: self.reg(f::VCSRC), half: self.get(f::VCSEL) as usize, spread: 0 },
        };
        let spread = &SPREAD[spread & 7];
        let first = self.read.vc(self.d, vc)[half & 1];
        let second = if spread.iter().any(|&i| i > 15) { self.read.vc(self.d, vc | 1)[half & 1] } else { first };
        self.d.mask_shuffle(first, second, spread)
    }
}
