//! An independent specification of the packed-half instructions: their assembly text, and their
//! results, which rustc_apfloat computes.
//!
//! The specification follows the reference listings of seed 001 (the HALU reference) step by step.
//! It shares no code with the instruction semantics in the crate `isa`.

use std::cmp::Ordering;
use std::fmt;

use rustc_apfloat::ieee::{BFloat, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// The canonical NaN of half results.
const NAN: u16 = 0x7FFF;
/// The canonical NaN of `f32` results.
const NAN_F32: u32 = 0x7FFF_FFFF;

/// A rounding mode: its modifier in assembly text, and the mode in rustc_apfloat.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Rounding(pub &'static str, pub Round);

/// All rounding modes of the packed-half instructions.
pub(super) const ROUNDINGS: [Rounding; 4] = [
    Rounding("RN", Round::NearestTiesToEven),
    Rounding("RM", Round::TowardNegative),
    Rounding("RP", Round::TowardPositive),
    Rounding("RZ", Round::TowardZero),
];

/// The range to which the rounded result is clamped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clamp {
    None,
    Relu,
    Sat,
}

/// A comparison: its modifier in assembly text, and its result for two values in the given order.
/// The order is `None` if a value is NaN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compare(pub &'static str, fn(Option<Ordering>) -> bool);

/// All comparisons of `HSET2` and `HSETP2`.
pub(super) const COMPARES: [Compare; 14] = [
    Compare("LT", |order| order == Some(Ordering::Less)),
    Compare("EQ", |order| order == Some(Ordering::Equal)),
    Compare("LE", |order| order.is_some_and(Ordering::is_le)),
    Compare("GT", |order| order == Some(Ordering::Greater)),
    Compare("NE", |order| order.is_some_and(Ordering::is_ne)),
    Compare("GE", |order| order.is_some_and(Ordering::is_ge)),
    Compare("NUM", |order| order.is_some()),
    Compare("NAN", |order| order.is_none()),
    Compare("LTU", |order| order.is_none_or(Ordering::is_lt)),
    Compare("EQU", |order| order.is_none_or(Ordering::is_eq)),
    Compare("LEU", |order| order.is_none_or(Ordering::is_le)),
    Compare("GTU", |order| order.is_none_or(Ordering::is_gt)),
    Compare("NEU", |order| order.is_none_or(Ordering::is_ne)),
    Compare("GEU", |order| order.is_none_or(Ordering::is_ge)),
];

/// A logical operation that combines the result of a comparison with the predicate source: its
/// modifier, and its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logic(pub &'static str, fn(bool, bool) -> bool);

/// All logical operations of `HSET2` and `HSETP2`.
pub(super) const LOGICS: [Logic; 3] =
    [Logic("AND", |a, b| a && b), Logic("OR", |a, b| a || b), Logic("XOR", |a, b| a != b)];

/// A packed-half operation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    /// `HADD2`. If `wide` is set, the result is an `f32`.
    Add { wide: bool },
    /// `HMUL2`.
    Mul,
    /// `HFMA2`.
    Fma,
    /// `HMNMX2`.
    MinMax { nan: bool },
    /// `HSET2`. If `float` is set, true is 1.0 instead of all ones.
    Set { compare: Compare, logic: Logic, float: bool },
    /// `HSETP2`.
    SetPred { compare: Compare, logic: Logic },
}

/// The lane selector of a source: the halves of the source register that the two lanes read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Halves {
    /// Lane 0 reads the low half, and lane 1 reads the high half.
    Both,
    /// Both lanes read the low half.
    Low,
    /// Both lanes read the high half.
    High,
}

/// The kind of a source operand. [`SourceKind::name`] returns the name of its register or constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SourceKind {
    Register,
    Uniform,
    Constant,
    Immediate(u32),
}

impl SourceKind {
    /// Returns the name of the register or constant of the source with this index, or `None` for an immediate.
    pub(super) fn name(self, number: usize) -> Option<String> {
        match self {
            SourceKind::Register => Some(format!("R{}", number + 1)),
            SourceKind::Uniform => Some(format!("UR{}", number + 1)),
            SourceKind::Constant => Some(format!("c[0x0][{:#x}]", 4 * (number + 1))),
            SourceKind::Immediate(_) => None,
        }
    }
}

/// A source operand with its modifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ModifiedSource {
    pub neg: bool,
    pub abs: bool,
    pub halves: Halves,
    pub place: SourceKind,
}

impl ModifiedSource {
    /// A register operand without modifiers.
    pub(super) const PLAIN: ModifiedSource =
        ModifiedSource { neg: false, abs: false, halves: Halves::Both, place: SourceKind::Register };

    fn text(self, number: usize) -> String {
        let Some(name) = self.place.name(number) else {
            let SourceKind::Immediate(bits) = self.place else { return String::new() };
            return format!("{:#06x}, {:#06x}", bits >> 16, bits & 0xFFFF);
        };
        let halves = match self.halves {
            Halves::Both => "",
            Halves::Low => ".H0_H0",
            Halves::High => ".H1_H1",
        };
        let (neg, bar) = (if self.neg { "-" } else { "" }, if self.abs { "|" } else { "" });
        format!("{neg}{bar}{name}{halves}{bar}")
    }

    /// Returns the halves that the two lanes read from a 32-bit word, with `abs` and `neg` applied.
    fn lanes(self, word: u32) -> [u16; 2] {
        let (low, high) = (word as u16, (word >> 16) as u16);
        let lanes = match self.halves {
            Halves::Both => [low, high],
            Halves::Low => [low; 2],
            Halves::High => [high; 2],
        };
        lanes.map(|half| {
            let half = if self.abs { half & 0x7FFF } else { half };
            if self.neg { half ^ 0x8000 } else { half }
        })
    }
}

/// A packed-half instruction. The destination is R0, or P1 and P2 for `HSETP2`. The predicate source is P0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spec {
    pub op: Op,
    pub bf16: bool,
    pub ftz: bool,
    pub clamp: Clamp,
    pub rounding: Rounding,
    /// The source operands. Only `HFMA2` uses the third one.
    pub sources: [ModifiedSource; 3],
    /// `true` if the predicate source is inverted.
    pub not: bool,
}

impl Spec {
    /// Creates an operation on `f16` registers, without modifiers.
    pub(super) fn new(op: Op) -> Spec {
        let [rounding, ..] = ROUNDINGS;
        let sources = [ModifiedSource::PLAIN; 3];
        Spec { op, bf16: false, ftz: false, clamp: Clamp::None, rounding, sources, not: false }
    }

    /// Returns the number of source operands.
    pub(super) fn arity(&self) -> usize {
        if matches!(self.op, Op::Fma) { 3 } else { 2 }
    }

    /// Returns the value of R0 after the instruction. For `HSETP2`, bit 0 of the result is P1 and bit 1 is P2.
    pub(super) fn result(&self, words: [u32; 3], p0: bool) -> u32 {
        if self.bf16 { self.result_in::<BFloat>(words, p0) } else { self.result_in::<Half>(words, p0) }
    }

    fn result_in<F: Float + FloatConvert<Single>>(&self, words: [u32; 3], p0: bool) -> u32 {
        let [a, b, c] = self.sources;
        let (a, b, c) = (a.lanes(words[0]), b.lanes(words[1]), c.lanes(words[2]));
        let pred = p0 != self.not;
        let pack = |low: u16, high: u16| u32::from(high) << 16 | u32::from(low);
        match self.op {
            Op::Add { wide: true } => widen::<F>(self.arithmetic::<F>([a[0], b[0], c[0]])),
            Op::Add { .. } | Op::Mul | Op::Fma => {
                pack(self.arithmetic::<F>([a[0], b[0], c[0]]), self.arithmetic::<F>([a[1], b[1], c[1]]))
            }
            Op::MinMax { nan } => {
                let lane = |a, b| self.min_max::<F>(nan, pred, a, b);
                pack(lane(a[0], b[0]), lane(a[1], b[1]))
            }
            Op::Set { compare, logic, float } => {
                let one = if float { F::from_u128(1).value.to_bits() as u16 } else { 0xFFFF };
                let lane = |a, b| if logic.1(self.compares::<F>(compare, a, b), pred) { one } else { 0 };
                pack(lane(a[0], b[0]), lane(a[1], b[1]))
            }
            Op::SetPred { compare, logic } => {
                let lane = |a, b| u32::from(logic.1(self.compares::<F>(compare, a, b), pred));
                lane(a[0], b[0]) | lane(a[1], b[1]) << 1
            }
        }
    }

    fn source<F: Float>(&self, bits: u16) -> F {
        flush(self.ftz, F::from_bits(bits.into()))
    }

    fn arithmetic<F: Float>(&self, lanes: [u16; 3]) -> u16 {
        let [a, b, c] = lanes.map(|bits| self.source::<F>(bits));
        let Rounding(_, round) = self.rounding;
        let d = match self.op {
            Op::Mul => a.mul_r(b, round),
            Op::Fma => a.mul_add_r(b, c, round),
            _ => a.add_r(b, round),
        };
        let d = match self.clamp {
            Clamp::None => d.value,
            Clamp::Relu => {
                if d.value < F::ZERO {
                    F::ZERO
                } else {
                    d.value
                }
            }
            Clamp::Sat if d.value > F::ZERO => d.value.minimum(F::from_u128(1).value),
            Clamp::Sat => F::ZERO,
        };
        canonical(flush(self.ftz, d))
    }

    fn min_max<F: Float>(&self, nan: bool, min: bool, a: u16, b: u16) -> u16 {
        let (a, b) = (self.source::<F>(a), self.source::<F>(b));
        canonical(match (a.is_nan(), b.is_nan()) {
            (true, false) if !nan => b,
            (false, true) if !nan => a,
            _ if min => a.minimum(b),
            _ => a.maximum(b),
        })
    }

    fn compares<F: Float>(&self, Compare(_, holds): Compare, a: u16, b: u16) -> bool {
        holds(self.source::<F>(a).partial_cmp(&self.source::<F>(b)))
    }
}

/// Formats the instruction as assembly text.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |on: bool, text: &'static str| if on { text } else { "" };
        let mnemonic = match self.op {
            Op::Add { .. } => "HADD2",
            Op::Mul => "HMUL2",
            Op::Fma => "HFMA2",
            Op::MinMax { .. } => "HMNMX2",
            Op::Set { .. } => "HSET2",
            Op::SetPred { .. } => "HSETP2",
        };
        write!(f, "{mnemonic}{}{}", flag(self.bf16, ".BF16_V2"), flag(self.ftz, ".FTZ"))?;
        match self.op {
            Op::Add { .. } | Op::Mul | Op::Fma => {
                let Rounding(rounding, _) = self.rounding;
                let wide = matches!(self.op, Op::Add { wide: true });
                let (relu, sat) = (self.clamp == Clamp::Relu, self.clamp == Clamp::Sat);
                write!(f, "{}{}.{rounding}{} R0", flag(relu, ".RELU"), flag(sat, ".SAT"), flag(wide, ".F32"))?;
            }
            Op::MinMax { nan } => write!(f, "{} R0", flag(nan, ".NAN"))?,
            Op::Set { compare, logic, float } => {
                write!(f, ".{}.{}{} R0", compare.0, logic.0, if float { ".BF" } else { ".BM" })?;
            }
            Op::SetPred { compare, logic } => write!(f, ".{}.{} P1, P2", compare.0, logic.0)?,
        }
        for (number, source) in self.sources.iter().enumerate().take(self.arity()) {
            write!(f, ", {}", source.text(number))?;
        }
        match self.op {
            Op::Add { .. } | Op::Mul | Op::Fma => f.write_str(" ;"),
            _ => write!(f, ", {}P0 ;", flag(self.not, "!")),
        }
    }
}

fn flush<F: Float>(ftz: bool, x: F) -> F {
    if ftz && x.is_denormal() { F::ZERO.copy_sign(x) } else { x }
}

fn canonical<F: Float>(x: F) -> u16 {
    if x.is_nan() { NAN } else { x.to_bits() as u16 }
}

/// Converts the bits of a half to the bits of an `f32`.
pub(super) fn widen<F: Float + FloatConvert<Single>>(bits: u16) -> u32 {
    let wide: Single = F::from_bits(bits.into()).convert(&mut false).value;
    if wide.is_nan() { NAN_F32 } else { wide.to_bits() as u32 }
}

/// Converts the bits of an `f32` to the bits of a half.
pub(super) fn narrow<F: Float>(bits: u32, Rounding(_, round): Rounding) -> u16
where
    Single: FloatConvert<F>,
{
    canonical(Single::from_bits(bits.into()).convert_r(round, &mut false).value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the specification itself on examples from seed 001 (the HALU reference).
    #[test]
    fn specification_matches_reference_examples() {
        let result = |spec: Spec, words| spec.result(words, true);
        let fma = Spec::new(Op::Fma);
        assert_eq!(result(fma, [0x3C00_4000, 0x4000_4000, 0x3C00_3C00]), 0x4200_4500);
        assert_eq!(result(Spec { clamp: Clamp::Sat, ..fma }, [0x8000_7FFF, 0x3C00_3C00, 0x8000_0000]), 0);
        assert_eq!(result(Spec { clamp: Clamp::Relu, ..fma }, [0xBC00_7FFF, 0x3C00_3C00, 0]), 0x0000_7FFF);
        let down = Spec { rounding: ROUNDINGS[1], ..Spec::new(Op::Add { wide: false }) };
        assert_eq!(result(down, [0x3C00_7BFF, 0xBC00_7BFF, 0]), 0x8000_7BFF);
        let wide = Spec::new(Op::Add { wide: true });
        assert_eq!(result(wide, [0x7FFF_3C00, 0x3C00_0000, 0]), 0x3F80_0000);
        assert_eq!(result(wide, [0xFE00, 0, 0]), 0x7FFF_FFFF);
        assert_eq!(result(Spec::new(Op::MinMax { nan: false }), [0x7E00_0000, 0x3C00_8000, 0]), 0x3C00_8000);
        let not = Spec { not: true, ..Spec::new(Op::MinMax { nan: true }) };
        assert_eq!(result(not, [0x7E00_0000, 0x3C00_8000, 0]), 0x7FFF_0000);
        assert_eq!(Spec::new(Op::Mul).to_string(), "HMUL2.RN R0, R1, R2 ;");
    }
}
