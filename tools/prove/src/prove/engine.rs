//! Checks of the native engine's operations on rows of items. Each operation is compared with rustc_apfloat in every
//! mode, for each instruction-set variant of the engine that this computer can run.

use halfbyte_abi::Elem;
use halfbyte_ir::witness::Random;
use halfbyte_isa::half;
use halfbyte_isa::half::Format;
use halfbyte_isa::halu::domain::{
    Conversion, Divide, FloatKind, FloatOp, HalfCompare, HalfKind, HalfMinMax, HalfOp, NumberFormat, VideoKind,
};
use halfbyte_runtime::rows::{Operand, RowOp, Variant, apply};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::halves::{EDGES, operands, packed, triple};
use super::oracle::{COMPARES, Clamp, LOGICS, Op, ROUNDINGS, Rounding, Spec, narrow, widen};
use super::{Counterexample, Effort, Outcome, Reproduction, Subject};

const PART: &str = "engine";

/// Number of items in one call of an operation, each with one 32-bit word per operand.
const ROW: usize = 64;

/// Number of random cases for each mode in a full run. The cases in which one operand takes every half are additional.
const CASES: usize = 2_000_000;

/// Returns the subjects that check the operations on rows of items.
pub(super) fn subjects(effort: Effort) -> Vec<Subject> {
    Variant::ALL.into_iter().flat_map(|variant| variant_subjects(variant, effort)).collect()
}

fn variant_subjects(variant: Variant, effort: Effort) -> Vec<Subject> {
    let groups = [
        ("add", arithmetic(HalfKind::Add)),
        ("mul", arithmetic(HalfKind::Mul)),
        ("fma", arithmetic(HalfKind::Fma)),
        ("min and max", min_max()),
        ("compares", compares()),
        ("conversions", conversions()),
        ("f32 fma", vec![(RowOp::Fma, Specification::Singles)]),
        ("f32 not to nearest", singles()),
        ("f64 to f32 and f16, integers to f32", wide_conversions()),
        ("shifts, high products and quotients", integers()),
        ("bytes", bytes()),
    ];
    let subject = |(name, laws): (&str, Vec<(RowOp, Specification)>)| {
        let name = format!("{PART}::{variant}, {name}");
        if !variant.is_here() {
            return Subject::absent(PART, name, laws.len());
        }
        Subject::new(PART, name.clone(), (laws.len(), laws.len()), move |piece, random| {
            laws.get(piece).map_or(Ok(0), |&(op, law)| Trial { name: &name, variant, op, law }.run(effort, random))
        })
    };
    groups.into_iter().map(subject).collect()
}

/// The specification of an operation on rows: its operand types and its exact result.
#[derive(Clone, Copy)]
enum Specification {
    /// Both lanes of a packed-half instruction. For `HMNMX2`, the third operand selects minimum or maximum.
    Lanes(Spec),
    /// The lane of `HSETP2` with this index; the result is a mask.
    Lane(Spec, u8),
    /// Conversion from `f32` to a half.
    Narrow { bf16: bool, rounding: Rounding },
    /// Conversion from a half to `f32`.
    Widen { bf16: bool },
    /// Fused multiply-add of `f32`, rounded to nearest.
    Singles,
    /// Arithmetic on `f32`.
    Single(FloatKind, Round),
    /// Conversion from `f64` to `f32` or `f16`.
    OfDouble { half: bool, round: Round },
    /// Conversion from a 32-bit integer to `f32`.
    OfInt { signed: bool, round: Round },
    /// An integer operation. The function returns the exact result, which is truncated to 32 bits.
    Words(fn(u32, u32) -> i128),
}

impl Specification {
    fn result(&self, [a, b, c]: [u32; 3]) -> u32 {
        match *self {
            Specification::Lanes(spec) => spec.result([a, b, c], c != 0),
            Specification::Lane(spec, lane) => (spec.result([a, b, 0], true) >> lane & 1).wrapping_neg(),
            Specification::Narrow { bf16: false, rounding } => narrow::<Half>(a, rounding).into(),
            Specification::Narrow { bf16: true, rounding } => narrow::<BFloat>(a, rounding).into(),
            Specification::Widen { bf16: false } => widen::<Half>(a as u16),
            Specification::Widen { bf16: true } => widen::<BFloat>(a as u16),
            Specification::Singles => Specification::Single(FloatKind::Fma, Round::NearestTiesToEven).result([a, b, c]),
            Specification::Single(kind, round) => {
                let [a, b, c] = [a, b, c].map(|bits| Single::from_bits(bits.into()));
                let result = match kind {
                    FloatKind::Add => a.add_r(b, round).value,
                    FloatKind::Sub => a.sub_r(b, round).value,
                    FloatKind::Mul => a.mul_r(b, round).value,
                    FloatKind::Div => a.div_r(b, round).value,
                    FloatKind::Fma | FloatKind::Sqrt => a.mul_add_r(b, c, round).value,
                };
                if result.is_nan() { 0x7FFF_FFFF } else { result.to_bits() as u32 }
            }
            Specification::OfDouble { half, round } => {
                let a = Double::from_bits(u128::from(b) << 32 | u128::from(a));
                match half {
                    _ if a.is_nan() => u32::MAX >> if half { 17 } else { 1 },
                    true => FloatConvert::<Half>::convert_r(a, round, &mut false).value.to_bits() as u32,
                    false => FloatConvert::<Single>::convert_r(a, round, &mut false).value.to_bits() as u32,
                }
            }
            Specification::OfInt { signed, round } => {
                let a = if signed { i128::from(a as i32) } else { a.into() };
                Single::from_i128_r(a, round).value.to_bits() as u32
            }
            Specification::Words(result) => result(a, b) as u32,
        }
    }

    /// Returns random operands. If `x` is a half and an operand index, that operand contains the half.
    fn words(&self, x: Option<(u16, usize)>, random: &mut Random) -> [u32; 3] {
        let bits = random.bits();
        match *self {
            Specification::Lanes(Spec { bf16, op, .. }) | Specification::Lane(Spec { bf16, op, .. }, _) => {
                let lane = |random: &mut Random| match random.below(4) {
                    0 => rounding_boundary(bf16, random),
                    _ => triple(bf16, random),
                };
                let (low, high) = (lane(random), if bits >> 62 == 0 { ORDINARY } else { lane(random) });
                let mut words = [0, 1, 2].map(|i: usize| packed(low[i], high[i]));
                if let Some((x, position)) = x {
                    words[position] = packed(x, x);
                }
                if matches!(op, Op::MinMax { .. }) {
                    words[2] = (bits as u32 & 1).wrapping_neg();
                }
                words
            }
            Specification::Narrow { bf16, .. } => {
                // The operand is a half, the midpoint between two halves, a neighbour of either, or any number.
                let half = x.map_or(bits as u16, |(x, _)| x);
                let (exact, middle) =
                    if bf16 { (widen::<BFloat>(half), 0x8000) } else { (widen::<Half>(half), 0x1000) };
                let near = [0, 1, middle - 1, middle, middle + 1, !0].map(|offset| exact.wrapping_add(offset));
                [near.get((bits >> 60) as usize).copied().unwrap_or((bits >> 16) as u32), 0, 0]
            }
            Specification::Widen { .. } => [packed(x.map_or(bits as u16, |(x, _)| x), (bits >> 16) as u16), 0, 0],
            Specification::Singles => {
                let [a, b, c] = [bits as u32, (bits >> 32) as u32, random.bits() as u32];
                let nearly = (f32::from_bits(a) * f32::from_bits(b)).to_bits() ^ 0x8000_0000;
                [a, b, if c & 1 == 0 { c } else { nearly.wrapping_add(c >> 1 & 7) }]
            }
            Specification::Single(..) => [(); 3].map(|()| random.lane(Elem::F32, bits) as u32),
            Specification::OfDouble { .. } => {
                let double = random.lane(Elem::F64, bits);
                [double as u32, (double >> 32) as u32, 0]
            }
            Specification::OfInt { .. } => [random.lane(Elem::I32, bits) as u32, 0, 0],
            Specification::Words(_) => [bits as u32, (bits >> 32) as u32, 0],
        }
    }
}

/// Operands of an ordinary lane. The sum, the product and the `fma` of the operands are not close
/// to any f16 or bf16 value, nor to the midpoint of two neighbouring values.
const ORDINARY: [u16; 3] = [0x3F81, 0x3981, 0x3F81];

/// Returns operands whose product is a half or the midpoint of two halves. The third operand, which
/// is added to the product, is much smaller. In some cases it is too small to change an `f32`.
fn rounding_boundary(bf16: bool, random: &mut Random) -> [u16; 3] {
    let (fraction, bias) = if bf16 { (7, 127) } else { (10, 15) };
    // The significands of the two factors share the fraction bits of a half, so the product needs
    // only one or two more bits.
    let first = random.below(fraction + 1);
    let mut factor = |bits: usize| {
        let exponent = bias - 4 + random.below(8);
        let odd = (random.below(1 << bits) | 1) & ((1 << bits) - 1);
        (exponent, (exponent << fraction | odd << (fraction - bits)) as u16)
    };
    let ((one, a), (other, b)) = (factor(first), factor(fraction - first));
    let exponent = (one + other).saturating_sub(bias + 6 + random.below(34)).max(1);
    let bits = random.bits();
    let c = exponent << fraction | bits as usize & ((1 << fraction) - 1);
    let sign = |bit: u64, half: u16| half ^ ((bits >> bit) as u16 & 0x8000);
    [sign(16, a), sign(24, b), sign(32, c as u16)]
}

/// A check of one operation in one instruction-set variant of the engine.
struct Trial<'a> {
    name: &'a str,
    variant: Variant,
    op: RowOp,
    law: Specification,
}

impl Trial<'_> {
    /// Checks every half in each operand position, all triples of edge values, and random operands.
    fn run(&self, effort: Effort, random: &mut Random) -> Outcome {
        let mut row = Vec::with_capacity(ROW);
        let mut rows = 0;
        let mut add = |words: [u32; 3], random: &mut Random| {
            row.push(words);
            if row.len() == ROW {
                self.check(&row, random)?;
                rows += 1;
                row.clear();
            }
            Ok::<(), Box<Counterexample>>(())
        };
        for x in operands(effort, random) {
            for position in 0..3 {
                add(self.law.words(Some((x, position)), random), random)?;
            }
        }
        if let Specification::Lanes(Spec { op: Op::Add { .. } | Op::Mul | Op::Fma, .. }) | Specification::Lane(..) =
            self.law
        {
            for a in EDGES {
                for b in EDGES {
                    for c in EDGES {
                        add([packed(a, b), packed(b, c), packed(c, a)], random)?;
                    }
                }
            }
        }
        // The engine computes several items with one instruction. An item with special operands may
        // give a wrong result only if the items next to it are ordinary.
        let calm = ORDINARY.map(|half| packed(half, half));
        for number in 0..effort.choose(4096, CASES / 2) {
            let is_calm = number / ROW % 2 == 1 && number % 8 != number / 8 % 8;
            add(if is_calm { calm } else { self.law.words(None, random) }, random)?;
        }
        self.check(&row, random)?;
        let lanes = if matches!(self.law, Specification::Lanes(_)) { 2 } else { 1 };
        Ok((rows * ROW + row.len()) as u64 * lanes)
    }

    /// Checks the operation on one row of items. An operand has one word for each item, or for some
    /// operands a single word for all items.
    fn check(&self, row: &[[u32; 3]], random: &mut Random) -> Result<(), Box<Counterexample>> {
        let single = if random.below(4) == 0 { random.below(8) } else { 0 };
        let rows = [0, 1, 2].map(|k: usize| row.iter().map(|words| words[k]).collect::<Vec<u32>>());
        let first = row.first().copied().unwrap_or_default();
        let word = |k: usize, n: usize| if single >> k & 1 == 0 { rows[k][n] } else { first[k] };
        let operand = |k: usize| if single >> k & 1 == 0 { Operand::Row(&rows[k]) } else { Operand::Word(first[k]) };
        let mut results = vec![0; row.len()];
        if let Err(error) = apply(self.variant, &self.op, [0, 1, 2].map(operand), &mut results) {
            return Err(self.counterexample(error.to_string()));
        }
        for (n, &found) in results.iter().enumerate() {
            let words = [0, 1, 2].map(|k| word(k, n));
            let expected = self.law.result(words);
            if found != expected {
                let [a, b, c] = words;
                return Err(self.counterexample(format!(
                    "{:?} of {a:#010x}, {b:#010x}, {c:#010x}: expected {expected:#010x}, found {found:#010x}",
                    self.op
                )));
            }
        }
        Ok(())
    }

    #[cold]
    fn counterexample(&self, reason: String) -> Box<Counterexample> {
        Box::new(Counterexample { subject: self.name.to_owned(), reason, reproduction: Reproduction::None })
    }
}

/// Returns f16 and bf16, each with and without FTZ.
fn formats() -> impl Iterator<Item = (Format, bool)> {
    Format::ALL.into_iter().flat_map(|format| [(format, false), (format, true)])
}

fn is_bf16(format: Format) -> bool {
    format == Format::Bf16
}

/// Returns the rounding modes of the engine, paired with those of the oracle.
fn roundings() -> impl Iterator<Item = (half::Rounding, Rounding)> + Clone {
    half::Rounding::ALL.into_iter().zip(ROUNDINGS)
}

/// Returns an arithmetic operation on halves in all combinations of modes, including combinations
/// that no instruction supports.
fn arithmetic(kind: HalfKind) -> Vec<(RowOp, Specification)> {
    let op = match kind {
        HalfKind::Add => Op::Add { wide: false },
        HalfKind::Mul => Op::Mul,
        HalfKind::Fma => Op::Fma,
    };
    let clamps = [(half::Clamp::None, Clamp::None), (half::Clamp::Sat, Clamp::Sat), (half::Clamp::Relu, Clamp::Relu)];
    let mut laws = Vec::new();
    for (format, ftz) in formats() {
        for (mode_rounding, rounding) in roundings() {
            for (mode_clamp, clamp) in clamps {
                let mode = half::HalfMode { format, rounding: mode_rounding, ftz, clamp: mode_clamp };
                let spec = Spec { bf16: is_bf16(format), ftz, clamp, rounding, ..Spec::new(op) };
                laws.push((RowOp::Half(HalfOp { kind, mode }), Specification::Lanes(spec)));
            }
        }
    }
    laws
}

fn min_max() -> Vec<(RowOp, Specification)> {
    let law = |nan: bool, (format, ftz): (Format, bool)| {
        let spec = Spec { bf16: is_bf16(format), ftz, ..Spec::new(Op::MinMax { nan }) };
        (RowOp::MinMax(HalfMinMax { format, ftz, nan }), Specification::Lanes(spec))
    };
    [false, true].into_iter().flat_map(|nan| formats().map(move |format| law(nan, format))).collect()
}

fn compares() -> Vec<(RowOp, Specification)> {
    let mut laws = Vec::new();
    for (format, ftz) in formats() {
        for (compare, of_oracle) in half::Compare::ALL.into_iter().zip(COMPARES) {
            let op = Op::SetPred { compare: of_oracle, logic: LOGICS[0] };
            let spec = Spec { bf16: is_bf16(format), ftz, ..Spec::new(op) };
            let op = HalfCompare { format, ftz, compare };
            laws.extend([0, 1].map(|lane| (RowOp::Compare(op, lane), Specification::Lane(spec, lane))));
        }
    }
    laws
}

fn conversions() -> Vec<(RowOp, Specification)> {
    let of_format = |format: Format| {
        let bf16 = is_bf16(format);
        let narrow = move |(mode, rounding)| (RowOp::Narrow(format, mode), Specification::Narrow { bf16, rounding });
        roundings().map(narrow).chain([(RowOp::Widen(format), Specification::Widen { bf16 })])
    };
    Format::ALL.into_iter().flat_map(of_format).collect()
}

/// Returns all arithmetic operations on `f32` except the square root, which rustc_apfloat does not have.
fn singles() -> Vec<(RowOp, Specification)> {
    let kinds = FloatKind::ALL.into_iter().filter(|&kind| kind != FloatKind::Sqrt);
    let of = |kind| {
        let law = move |(rounding, Rounding(_, round))| {
            (RowOp::Single(FloatOp { kind, rounding }), Specification::Single(kind, round))
        };
        roundings().map(law)
    };
    kinds.flat_map(of).collect()
}

fn wide_conversions() -> Vec<(RowOp, Specification)> {
    let of = |(rounding, Rounding(_, round))| {
        let convert = move |from, to| RowOp::Convert(Conversion { from, to, rounding }, 0);
        let of_double = move |to| {
            (convert(NumberFormat::F64, to), Specification::OfDouble { half: to == NumberFormat::F16, round })
        };
        let of_int = move |signed| {
            (convert(NumberFormat::Int { signed, bits: 32 }, NumberFormat::F32), Specification::OfInt { signed, round })
        };
        [of_double(NumberFormat::F32), of_double(NumberFormat::F16), of_int(false), of_int(true)]
    };
    roundings().flat_map(of).collect()
}

const fn divide(signed: bool, remainder: bool) -> RowOp {
    RowOp::Divide(Divide { signed, remainder })
}

fn integers() -> Vec<(RowOp, Specification)> {
    vec![
        (RowOp::Shl, Specification::Words(|a, count| i128::from(a) * two_to(count))),
        (RowOp::Shr, Specification::Words(|a, count| i128::from(a) / two_to(count))),
        (RowOp::Sar, Specification::Words(|a, count| i128::from(a as i32).div_euclid(two_to(count)))),
        (RowOp::MulHigh(false), Specification::Words(|a, b| (i128::from(a) * i128::from(b)).div_euclid(1 << 32))),
        (
            RowOp::MulHigh(true),
            Specification::Words(|a, b| (i128::from(a as i32) * i128::from(b as i32)).div_euclid(1 << 32)),
        ),
        (divide(false, false), Specification::Words(|a, b| a.checked_div(b).map_or(-1, i128::from))),
        (divide(false, true), Specification::Words(|a, b| a.checked_rem(b).map_or(-1, i128::from))),
        (
            divide(true, false),
            Specification::Words(|a, b| if b == 0 { -1 } else { (a as i32).wrapping_div(b as i32).into() }),
        ),
        (
            divide(true, true),
            Specification::Words(|a, b| if b == 0 { -1 } else { (a as i32).wrapping_rem(b as i32).into() }),
        ),
    ]
}

/// Returns the operations on packed bytes. Each lane is computed exactly and then saturated.
fn bytes() -> Vec<(RowOp, Specification)> {
    fn each(a: u32, b: u32, lane: impl Fn(i32, i32) -> i32) -> i128 {
        let lanes = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        let lanes = lanes.map(|(a, b)| lane(a.into(), b.into()).clamp(0, 255).into());
        lanes.rev().fold(0, |word, lane: i128| word << 8 | lane)
    }
    vec![
        (RowOp::Bytes(VideoKind::Add), Specification::Words(|a, b| each(a, b, |a, b| a + b))),
        (RowOp::Bytes(VideoKind::Sub), Specification::Words(|a, b| each(a, b, |a, b| a - b))),
        (RowOp::Bytes(VideoKind::Avrg), Specification::Words(|a, b| each(a, b, |a, b| (a + b + 1) / 2))),
        (RowOp::Bytes(VideoKind::AbsDiff), Specification::Words(|a, b| each(a, b, |a, b| (a - b).abs()))),
        (RowOp::Bytes(VideoKind::Min), Specification::Words(|a, b| each(a, b, |a, b| a.min(b)))),
        (RowOp::Bytes(VideoKind::Max), Specification::Words(|a, b| each(a, b, |a, b| a.max(b)))),
    ]
}

fn two_to(count: u32) -> i128 {
    1 << (count % 32)
}
