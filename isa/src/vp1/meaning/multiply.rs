//! Multiplication in the vector unit with its accumulator, and the conversion of the sum to result
//! bytes. The accumulator's value is `A + (B * C << S) + (D * E << S) + rounding` (VP1 reference,
//! seed 004, "Multiplication, accumulation, and rounding").

use super::{Context, Outcome, f};
use crate::row::ROTATE;
use crate::vp1::domain::expand::{clamp_to, splat};
use crate::vp1::domain::{Domain, Index, Logic, Reader, Write};

/// Width of a component of `$va` in bits.
const ACCUMULATOR_BITS: u32 = 28;

/// The scaling and rounding of a sum of products, and the part of the sum that becomes the result.
#[derive(Clone, Copy)]
struct Mode {
    /// `true` if the result is signed.
    signed: bool,
    /// `true` if the factors are integers, `false` if they are fractions.
    int: bool,
    /// `true` to read the low half of the 16-bit result, `false` for the high half.
    low: bool,
    /// `true` to round to nearest, `false` to round down.
    round: bool,
    /// Scales the result by 2^shift.
    shift: i32,
}

impl Mode {
    /// Returns the number of accumulator bits below the high half of the 16-bit result.
    fn readout(self) -> i32 {
        let base = match (self.int, self.signed) {
            (true, _) => 16,
            (false, true) => 9,
            (false, false) => 8,
        };
        base - self.shift
    }
}

/// The factors of a multiplication, which computes `b * c`, or `b * c + d * e` with a second pair.
struct Products<W> {
    b: W,
    c: W,
    second: Option<(W, W)>,
}

/// The inputs of a double multiplication, in addition to the factors that the scalar unit forwards.
#[derive(Clone, Copy)]
pub(super) enum Inputs {
    /// A pair of registers, and the vector in SRC2, to which the products are added.
    PairAndBase,
    /// A pair of registers, and the accumulator, to which the products are added.
    Pair,
    /// The vectors in SRC1 and SRC3, and the accumulator, to which the products are added.
    Two,
}

/// The destinations of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    /// `$va` only.
    Sum,
    /// `$v[DST]` only.
    Read,
    /// Both `$va` and `$v[DST]`.
    Both,
}

/// The value to which the products are added.
enum Base<W> {
    Zero,
    Accumulator,
    /// A value whose bits are aligned with the high half of the 16-bit result.
    Value(W),
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Returns the mode of a multiplication, from fields that are at the same bit positions in all multiplications.
    fn mode(&self, signed: bool) -> Mode {
        Mode {
            signed,
            int: self.flag(f::FRACTINT),
            low: self.flag(f::HILO),
            round: self.flag(f::RND),
            shift: self.signed(f::SHIFT),
        }
    }

    /// Returns the mode of an interpolation, which uses fractions.
    fn fraction_mode(&self, signed: bool, low: bool) -> Mode {
        Mode { int: false, low, ..self.mode(signed) }
    }

    /// Converts a vector of bytes to factors of a multiplication: integers if `int` is set, otherwise fractions.
    fn factor(&mut self, a: D::Bytes, int: bool, signed: bool) -> D::Wide {
        if int { self.d.widen(signed, a) } else { self.fraction(a, signed) }
    }

    /// Returns the new value of the accumulator before it wraps to 28 bits.
    fn accumulate(&mut self, mode: Mode, base: Base<D::Wide>, p: Products<D::Wide>) -> D::Wide {
        let mut sum = self.d.wide_mul(p.b, p.c);
        if let Some((d, e)) = p.second {
            let second = self.d.wide_mul(d, e);
            sum = self.d.wide_add(sum, second);
        }
        if mode.int {
            sum = self.d.wide_shl(sum, 8);
        }
        let base = match base {
            Base::Zero => None,
            Base::Accumulator => Some(self.read.va(self.d)),
            Base::Value(value) => Some(self.d.wide_shl(value, mode.readout() as u32)),
        };
        if let Some(base) = base {
            sum = self.d.wide_add(base, sum);
        }
        let dropped = if mode.low { mode.readout() - 8 } else { mode.readout() };
        if mode.round && dropped > 0 {
            // If bit 0 of `$uccfg` is set, ties round down.
            let (half, tie) = (self.d.word(1 << (dropped - 1)), self.read.uccfg(self.d));
            let one = self.d.word(1);
            let tie = self.d.logic(Logic::AND, tie, one);
            let half = self.d.sub(half, tie);
            let half = self.d.splat(half);
            sum = self.d.wide_add(sum, half);
        }
        sum
    }

    /// Extracts the result bytes from the sum.
    fn readout(&mut self, mode: Mode, sum: D::Wide) -> D::Bytes {
        const UNUSED: u32 = u32::BITS - ACCUMULATOR_BITS;
        let sum = self.d.wide_shl(sum, UNUSED);
        let sum = self.d.wide_sar(sum, UNUSED);
        let down = mode.readout() - 8;
        let result = match u32::try_from(down) {
            Ok(down) => self.d.wide_sar(sum, down),
            Err(_) => self.d.wide_shl(sum, down.unsigned_abs()),
        };
        let (low, high) = if mode.signed { (-0x8000, 0x7fff) } else { (0, 0xffff) };
        let result = clamp_to(self.d, result, low, high);
        let result = if mode.low { result } else { self.d.wide_sar(result, 8) };
        self.d.narrow(result)
    }

    /// Returns the writes of a multiplication: the sum, its result bytes, or both.
    fn multiplied(&mut self, mode: Mode, sum: D::Wide, results: Results) -> Outcome<D> {
        let mut outcome = Outcome::default();
        if results != Results::Read {
            outcome.writes.push(Write::Va(sum));
        }
        if results != Results::Sum {
            outcome.writes.push(Write::V(self.reg(f::DST), self.readout(mode, sum)));
        }
        outcome
    }

    /// Evaluates `vmul` and `vmac`.
    pub(super) fn multiply(&mut self, signed: bool, accumulate: bool, results: Results) -> Outcome<D> {
        let mode = self.mode(signed);
        let (src1, src2) = (self.v(f::SRC1), self.source_bytes());
        let b = self.factor(src1, mode.int, self.flag(f::SIGN1));
        let c = self.factor(src2, mode.int, self.flag(f::SIGN2));
        let base = if accumulate { Base::Accumulator } else { Base::Zero };
        let sum = self.accumulate(mode, base, Products { b, c, second: None });
        self.multiplied(mode, sum, results)
    }

    /// Evaluates `vmad2` and `vmac2`: multiplies two vectors, each by a factor or mask that the scalar unit forwards.
    pub(super) fn multiply_two(&mut self, signed: bool, inputs: Inputs, results: Results) -> Outcome<D> {
        let mode = self.mode(signed);
        let other = match inputs {
            Inputs::Two => self.reg(f::SRC3),
            Inputs::Pair | Inputs::PairAndBase => self.reg(f::SRC1) | 1,
        };
        let [b, d] = [self.reg(f::SRC1), other].map(|n| {
            let v = self.read.v(self.d, Index::Fixed(n));
            self.factor(v, mode.int, self.flag(f::SIGN1))
        });
        let base = match inputs {
            Inputs::PairAndBase => {
                let v = self.v(f::SRC2);
                Base::Value(self.factor(v, mode.int, self.flag(f::SIGN2)))
            }
            Inputs::Pair | Inputs::Two => Base::Accumulator,
        };
        let [c, e] = if self.flag(f::S2VMODE) {
            self.mask_factors()
        } else {
            let chosen = self.forwarded_flags();
            self.chosen_factors(chosen)
        };
        let sum = self.accumulate(mode, base, Products { b, c, second: Some((d, e)) });
        self.multiplied(mode, sum, results)
    }

    /// Evaluates `vlrp`: interpolates between the two registers of a pair. A third register holds the weights.
    pub(super) fn interpolate(&mut self) -> Outcome<D> {
        let mode = self.fraction_mode(false, false);
        let n = self.reg(f::SRC1);
        let [x, y] = [n, n | 1].map(|n| self.wide(Index::Fixed(n), false));
        let c = self.v(f::SRC2);
        let c = self.d.widen(false, c);
        let b = self.d.wide_sub(x, y);
        let sum = self.accumulate(mode, Base::Value(y), Products { b, c, second: None });
        self.multiplied(mode, sum, Results::Read)
    }

    /// Evaluates `vlrp2`: interpolates between registers 0, 2 and 3 of a quad with two factors as weights.
    pub(super) fn interpolate_two(&mut self) -> Outcome<D> {
        let mode = self.fraction_mode(self.flag(f::SIGND), false);
        let signed = self.flag(f::SIGNS);
        let corner = self.quad(f::SRC1, 0);
        let corner = self.read.v(self.d, corner);
        let base = if self.flag(f::LRP2X) {
            let sign = self.d.bytes([0x80; 16]);
            self.d.bytes_logic(Logic::XOR, corner, sign)
        } else {
            corner
        };
        let [corner, base] = [corner, base].map(|v| self.fraction(v, signed));
        let products = self.gradients(corner, signed);
        let sum = self.accumulate(mode, Base::Value(base), products);
        self.multiplied(mode, sum, if self.flag(f::VAWRITE) { Results::Both } else { Results::Read })
    }

    /// Evaluates `vlrp4a`, which interpolates like `vlrp2` and writes the result to the accumulator.
    pub(super) fn interpolate_first(&mut self) -> Outcome<D> {
        let mode = self.fraction_mode(false, true);
        let corner = self.quad(f::SRC1, 0);
        let corner = self.wide(corner, false);
        let products = self.gradients(corner, false);
        let sum = self.accumulate(mode, Base::Value(corner), products);
        self.multiplied(mode, sum, Results::Sum)
    }

    /// Returns the factors of two products. Each product multiplies a forwarded factor by the
    /// difference of register 2 or 3 of the quad from `corner`.
    fn gradients(&mut self, corner: D::Wide, signed: bool) -> Products<D::Wide> {
        let [b, d] = [2, 3].map(|k| {
            let n = self.quad(f::SRC1, k);
            let v = self.read.v(self.d, n);
            let end = self.fraction(v, signed);
            self.d.wide_sub(end, corner)
        });
        let [c, e] = self.factors_chosen_by_vc();
        Products { b, c, second: Some((d, e)) }
    }

    /// Evaluates `vlrpf`: interpolates between two factors with registers 2 and 3 of the quad as
    /// weights, and writes the accumulator.
    pub(super) fn interpolate_factors(&mut self) -> Outcome<D> {
        let mode = self.fraction_mode(false, true);
        let [x, y] = [2, 3].map(|k| {
            let n = self.quad(f::SRC1, k);
            self.wide(n, false)
        });
        let b = self.d.wide_sub(x, y);
        let [c, e] = self.factors_chosen_by_vc();
        let base = self.v(f::SRC2);
        let base = self.d.widen(true, base);
        let sum = self.accumulate(mode, Base::Value(base), Products { b, c, second: Some((y, e)) });
        self.multiplied(mode, sum, Results::Sum)
    }

    /// Evaluates `vlrp4b`: adds two products to the accumulator. Each product multiplies a
    /// forwarded factor by the difference of register 1 of the quad, or of `$vx`, from register 0.
    pub(super) fn interpolate_last(&mut self, signed: bool) -> Outcome<D> {
        let mode =
            Mode { round: self.flag(f::ALTRND), shift: self.signed(f::ALTSHIFT), ..self.fraction_mode(signed, false) };
        let [corner, end] = if self.get(f::SLCT) == ROTATE {
            [0, 1].map(|k| self.quad(f::SRC1, k))
        } else {
            [self.xor_selected(f::SRC1); 2]
        };
        let [corner, end] = [corner, end].map(|n| self.wide(n, false));
        let extra = self.read.vx(self.d);
        let extra = self.d.widen(false, extra);
        let (b, d) = (self.d.wide_sub(end, corner), self.d.wide_sub(extra, corner));
        let [c, e] = self.factors_chosen_by_vc();
        let sum = self.accumulate(mode, Base::Accumulator, Products { b, c, second: Some((d, e)) });
        self.multiplied(mode, sum, Results::Both)
    }

    /// Returns two factors for each component. The flags of the `$vc` register in the instruction
    /// word choose each factor from its pair.
    fn factors_chosen_by_vc(&mut self) -> [D::Wide; 2] {
        let chosen = self.read.vc(self.d, self.reg(f::VCSRC))[self.get(f::VCSEL) as usize & 1];
        self.chosen_factors(chosen)
    }

    /// Returns two factors for each component, one from each pair of factors. If the component's
    /// bit in `chosen` is set, the second factor of the pair is returned, otherwise the first.
    fn chosen_factors(&mut self, chosen: D::Mask) -> [D::Wide; 2] {
        let [a, b, c, d] = self.factors();
        [(a, b), (c, d)].map(|(first, second)| {
            let (first, second) = (self.d.splat(first), self.d.splat(second));
            self.d.wide_select(chosen, second, first)
        })
    }

    /// Converts each pair of factors to a mask of 16 bits. The factor of a component is 256 if its bit is set, else 0.
    fn mask_factors(&mut self) -> [D::Wide; 2] {
        let (zero, one) = (splat(self.d, 0), splat(self.d, 0x100));
        let [a, b, c, d] = self.factors();
        [(a, b), (c, d)].map(|(low, high)| {
            let bits = self.mask_of_factors(low, high);
            let mask = self.d.mask(bits);
            self.d.wide_select(mask, one, zero)
        })
    }
}
