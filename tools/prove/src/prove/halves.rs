//! Checks of the packed-half instructions in every mode, on every half, every pair of halves, and
//! random triples of halves.

use halfbyte_ir::witness::Random;
use halfbyte_isa::half::{Format, HalfMode};
use rustc_apfloat::ieee::{BFloat, Half};

use super::instruction::{Instruction, Trial};
use super::oracle::{
    COMPARES, Clamp, Compare, Halves, LOGICS, ModifiedSource, Op, ROUNDINGS, Rounding, SourceKind, Spec, narrow, widen,
};
use super::{Effort, Subject};

const PART: &str = "half";

/// Special halves of f16 and bf16: zeros, the smallest and largest subnormals, the smallest normal
/// number, 1 and its neighbours, the largest finite number, infinities and NaNs.
pub(super) const EDGES: [u16; 22] = [
    0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x8400, 0x007F, 0x0080, 0x3C00, 0xBC00, 0x3BFF, 0x3F80, 0xBF81,
    0x7BFF, 0xFBFF, 0x7C00, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FFF,
];

/// Difference between the bits of two consecutive halves in a sample.
const STRIDE: usize = 257;

/// Number of random triples of halves in a full run, for each rounding mode and format.
const TRIPLES: usize = 500_000_000;

/// Returns the subjects that check packed-half arithmetic.
pub(super) fn subjects(effort: Effort) -> Vec<Subject> {
    let mut subjects = vec![
        every_pair("HADD2.RN of every pair", Op::Add { wide: false }, effort),
        every_pair("HMUL2.RN of every pair", Op::Mul, effort),
    ];
    for bf16 in [false, true] {
        for rounding in ROUNDINGS {
            subjects.push(triples(Spec { bf16, rounding, ..Spec::new(Op::Fma) }, effort));
        }
    }
    let add = [false, true].map(|wide| arithmetic(Op::Add { wide })).concat();
    let min_max = [false, true].map(|nan| flushes(Op::MinMax { nan })).concat();
    let logic = |number: usize| LOGICS[number % LOGICS.len()];
    let set = compares(|number, compare| Op::Set { compare, logic: logic(number), float: number % 2 == 1 });
    let set_pred = compares(|number, compare| Op::SetPred { compare, logic: logic(number) });
    subjects.push(one_operand(effort));
    subjects.push(pairs("HADD2, all modes", add, effort));
    subjects.push(pairs("HMUL2, all modes", arithmetic(Op::Mul), effort));
    subjects.push(positions("HFMA2, all modes", arithmetic(Op::Fma), effort));
    subjects.push(pairs("HMNMX2, all modes", min_max, effort));
    subjects.push(pairs("HSET2, all compares", set, effort));
    subjects.push(pairs("HSETP2, all compares", set_pred, effort));
    subjects.push(any_form(effort));
    subjects.push(widening());
    subjects.push(narrowing(effort));
    subjects
}

/// Returns specifications of an arithmetic op in every mode that its instruction supports.
fn arithmetic(op: Op) -> Vec<Spec> {
    let mut specs = Vec::new();
    for rounding in ROUNDINGS {
        for clamp in [Clamp::None, Clamp::Relu, Clamp::Sat] {
            if clamp == Clamp::Relu && !matches!(op, Op::Fma) {
                continue;
            }
            let spec = Spec { rounding, clamp, ..Spec::new(op) };
            specs.extend([false, true].map(|ftz| Spec { ftz, ..spec }));
            if clamp != Clamp::Sat {
                specs.push(Spec { bf16: true, ..spec });
            }
        }
    }
    specs
}

/// Returns specifications of an op that does not round, for f16 and bf16, with and without FTZ.
fn flushes(op: Op) -> Vec<Spec> {
    let formats = [false, true];
    formats.into_iter().flat_map(|bf16| formats.map(|ftz| Spec { bf16, ftz, ..Spec::new(op) })).collect()
}

/// Returns specifications of an op with each comparison, for f16 and bf16, with and without FTZ.
/// The closure receives the comparison and its index.
fn compares(op: impl Fn(usize, Compare) -> Op) -> Vec<Spec> {
    let ops = COMPARES.into_iter().enumerate();
    ops.flat_map(|(number, compare)| flushes(op(number, compare))).collect()
}

/// Returns halves as operands: all 2^16, or a sample and the special halves in `EDGES`.
pub(super) fn operands(effort: Effort, random: &mut Random) -> impl Iterator<Item = u16> + use<> {
    let (first, stride) = effort.choose((random.below(STRIDE), STRIDE), (0, 1));
    let edges: &'static [u16] = effort.choose(&EDGES, &[]);
    (0..=u16::MAX).skip(first).step_by(stride).chain(edges.iter().copied())
}

pub(super) fn packed(low: u16, high: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

/// Checks an op on all 2^32 pairs of `f16` halves, one pair in each lane. A sample takes only some
/// first operands, but all second operands for each of them.
fn every_pair(name: &str, op: Op, effort: Effort) -> Subject {
    const PIECES: usize = 1024;
    let per_piece = (1 << 16) / PIECES;
    Subject::new(PART, format!("{PART}::{name}"), (1, effort.choose(1, PIECES)), move |piece, random| {
        let trial = Trial::new(Spec::new(op))?;
        let mut cases = 0;
        for number in 0..effort.choose(EDGES.len() + 4, per_piece) {
            let a = match effort {
                Effort::Full => (piece * per_piece + number) as u16,
                Effort::Sample => EDGES.get(number).copied().unwrap_or(random.bits() as u16),
            };
            for b in 0..0x8000 {
                trial.check([packed(a, a), packed(b, b | 0x8000), 0], false)?;
                cases += 2;
            }
        }
        Ok(cases)
    })
}

/// Checks `HFMA2` in one rounding mode and format, on random triples and on all triples of special halves.
fn triples(spec: Spec, effort: Effort) -> Subject {
    const PIECES: usize = 125;
    let words = effort.choose(50_000, TRIPLES / PIECES / 2);
    let Rounding(rounding, _) = spec.rounding;
    let name = format!("{PART}::HFMA2.{}.{rounding}, triples", if spec.bf16 { "BF16_V2" } else { "F16_V2" });
    Subject::new(PART, name, (1, effort.choose(1, PIECES)), move |piece, random| {
        let trial = Trial::new(spec)?;
        let mut cases = 0;
        if piece == 0 {
            for a in EDGES {
                for b in EDGES {
                    for pair in EDGES.chunks_exact(2) {
                        trial.check([packed(a, b), packed(b, a), packed(pair[0], pair[1])], false)?;
                        trial.check([packed(a, b), packed(b, a), packed(pair[1], pair[0])], false)?;
                        cases += 4;
                    }
                }
            }
        }
        for _ in 0..words {
            let (low, high) = (triple(spec.bf16, random), triple(spec.bf16, random));
            let [a, b, c] = [0, 1, 2].map(|i: usize| packed(low[i], high[i]));
            trial.check([a, b, c], false)?;
            cases += 2;
        }
        Ok(cases)
    })
}

/// Returns a random triple of halves that is often difficult for `fma`. The addend has about the
/// exponent of the product or nearly cancels the product, or operands are special halves.
pub(super) fn triple(bf16: bool, random: &mut Random) -> [u16; 3] {
    let bits = random.bits();
    let [a, b, c] = [bits, bits >> 16, bits >> 32].map(|bits| bits as u16);
    let (fraction, bias, most) = if bf16 { (7, 127, 254) } else { (10, 15, 30) };
    let edge = |bits: u16| EDGES[usize::from(bits) % EDGES.len()];
    match bits >> 60 {
        0..=4 => [a, b, c],
        5..=9 => {
            let exponent = |x: u16| i32::from((x & 0x7FFF) >> fraction);
            let distance = (bits >> 48 & 31) as i32 - 15;
            let near = (exponent(a) + exponent(b) - bias + distance).clamp(0, most) as u16;
            [a, b, c & !(0x7FFF >> fraction << fraction) | near << fraction]
        }
        10..=11 => {
            let format = if bf16 { Format::Bf16 } else { Format::F16 };
            let product = HalfMode::new(format, halfbyte_isa::half::Rounding::Nearest).mul(a, b);
            [a, b, (product ^ 0x8000).wrapping_add(c & 3).wrapping_sub(1)]
        }
        12 => [edge(a), b, c],
        13 => [a, b, edge(c)],
        14 => [edge(a), b, edge(c)],
        // Small exponents give subnormal results.
        _ => [a & 0xBFFF, b & 0x9FFF, c & 0x83FF],
    }
}

/// Checks each specification on pairs of halves in both orders. Every half is paired with special
/// halves, itself, its neighbours and random halves.
fn pairs(name: &str, specs: Vec<Spec>, effort: Effort) -> Subject {
    Subject::new(PART, format!("{PART}::{name}"), (specs.len(), specs.len()), move |piece, random| {
        let Some(&spec) = specs.get(piece) else { return Ok(0) };
        let trial = Trial::new(spec)?;
        let mut cases = 0;
        for a in operands(effort, random) {
            let bits = random.bits();
            let own = [a, a ^ 0x8000, a.wrapping_add(1), a.wrapping_sub(1), a.wrapping_neg(), bits as u16];
            let other = [bits >> 16, bits >> 32, bits >> 48, bits >> 5].map(|bits| bits as u16);
            let partners = EDGES.chunks_exact(2).chain(own.chunks_exact(2)).chain(other.chunks_exact(2));
            for (number, pair) in partners.enumerate() {
                let (a, b, p0) = (packed(a, a), packed(pair[0], pair[1]), bits >> number & 1 != 0);
                trial.check([a, b, 0], p0)?;
                trial.check([b, a, 0], p0)?;
                cases += 4;
            }
        }
        Ok(cases)
    })
}

/// Checks each specification with every half in each of the three operand positions. The operands
/// at the two remaining positions are special or random halves.
fn positions(name: &str, specs: Vec<Spec>, effort: Effort) -> Subject {
    const WORDS: usize = 8;
    Subject::new(PART, format!("{PART}::{name}"), (specs.len(), specs.len()), move |piece, random| {
        let Some(&spec) = specs.get(piece) else { return Ok(0) };
        let trial = Trial::new(spec)?;
        let mut cases = 0;
        for x in operands(effort, random) {
            for position in 0..3 {
                for _ in 0..WORDS {
                    let (low, high) = (triple(spec.bf16, random), triple(spec.bf16, random));
                    let mut words = [0, 1, 2].map(|i: usize| packed(low[i], high[i]));
                    words[position] = packed(x, x);
                    trial.check(words, false)?;
                    cases += 2;
                }
            }
        }
        Ok(cases)
    })
}

/// Checks how an instruction treats one operand: lane selection, `abs`, `neg`, FTZ, SAT, RELU and
/// the canonical NaN. All further operands are neutral elements such as 0 or 1.
fn one_operand(effort: Effort) -> Subject {
    let modes = |op| arithmetic(op).into_iter().filter(|spec| spec.rounding == ROUNDINGS[0]);
    let mut specs: Vec<Spec> = modes(Op::Add { wide: false }).chain(modes(Op::Mul)).chain(modes(Op::Fma)).collect();
    specs.extend(flushes(Op::MinMax { nan: false }));
    let variants = |spec: Spec| {
        (0..spec.arity() * 12).map(move |number| {
            let halves = [Halves::Both, Halves::Low, Halves::High][number % 3];
            let source =
                ModifiedSource { neg: number / 3 % 2 == 1, abs: number / 6 % 2 == 1, halves, ..ModifiedSource::PLAIN };
            let position = number / 12;
            let mut spec = spec;
            spec.sources[position] = source;
            (spec, position)
        })
    };
    let specs: Vec<(Spec, usize)> = specs.into_iter().flat_map(variants).collect();
    let name = format!("{PART}::one operand, all modifiers");
    Subject::new(PART, name, (specs.len(), specs.len()), move |piece, random| {
        let Some(&(spec, position)) = specs.get(piece) else { return Ok(0) };
        let trial = Trial::new(spec)?;
        let one = if spec.bf16 { 0x3F80_3F80 } else { 0x3C00_3C00 };
        let others = match spec.op {
            Op::Mul => [one, one, 0],
            Op::Fma => [one, one, 0x8000_8000],
            Op::MinMax { .. } => [0x7FFF_7FFF; 3],
            _ => [0x8000_8000; 3],
        };
        let mut cases = 0;
        for x in operands(effort, random) {
            // The high lane holds a different half, which also takes all 2^16 values.
            let word = packed(x, x.wrapping_mul(0x9E37).wrapping_add(0x79B9));
            let mut words = others;
            words[position] = word;
            trial.check(words, x & 1 == 0)?;
            cases += 2;
        }
        Ok(cases)
    })
}

/// Checks all 27 packed-half opcodes with random kinds of sources and random modifiers.
fn any_form(effort: Effort) -> Subject {
    const STATES: usize = 32;
    let instructions = effort.choose(500, 5_000);
    Subject::new(PART, format!("{PART}::any form"), (27, effort.choose(4, 200)), move |_, random| {
        for _ in 0..instructions {
            let trial = Trial::new(random_spec(random))?;
            for _ in 0..STATES {
                let (low, high) = (triple(trial.spec.bf16, random), triple(trial.spec.bf16, random));
                let mut words = [0, 1, 2].map(|i: usize| packed(low[i], high[i]));
                for (word, source) in words.iter_mut().zip(trial.spec.sources) {
                    if let SourceKind::Immediate(bits) = source.place {
                        *word = bits;
                    }
                }
                trial.check(words, random.below(2) == 0)?;
            }
        }
        Ok((instructions * STATES * 2) as u64)
    })
}

fn random_spec(random: &mut Random) -> Spec {
    let compare = COMPARES[random.below(COMPARES.len())];
    let logic = LOGICS[random.below(LOGICS.len())];
    let flag = random.below(2) == 0;
    let op = match random.below(6) {
        0 => Op::Add { wide: flag },
        1 => Op::Mul,
        2 => Op::Fma,
        3 => Op::MinMax { nan: flag },
        4 => Op::Set { compare, logic, float: flag },
        _ => Op::SetPred { compare, logic },
    };
    let modes = match op {
        Op::Add { .. } | Op::Mul | Op::Fma => arithmetic(op),
        _ => flushes(op),
    };
    let mut spec = modes[random.below(modes.len())];
    spec.not = random.below(2) == 0;
    let arity = spec.arity();
    for source in spec.sources.iter_mut().take(arity) {
        let halves = [Halves::Both, Halves::Low, Halves::High][random.below(3)];
        *source =
            ModifiedSource { neg: random.below(2) == 0, abs: random.below(2) == 0, halves, ..ModifiedSource::PLAIN };
    }
    // At most one source is a uniform register, a constant or an immediate, and it is not the first source.
    let outside = &mut spec.sources[1 + random.below(arity - 1)];
    match random.below(4) {
        0 => {}
        1 => outside.place = SourceKind::Uniform,
        2 => outside.place = SourceKind::Constant,
        _ => *outside = ModifiedSource { place: SourceKind::Immediate(random.bits() as u32), ..ModifiedSource::PLAIN },
    }
    spec
}

/// Checks `F2F.F32` on every half in each lane.
fn widening() -> Subject {
    let name = format!("{PART}::F2F.F32 of every half");
    Subject::new(PART, name, (16, 16), move |piece, _| {
        let flags = [1, 2, 4, 8].map(|bit| piece & bit != 0);
        let [bf16, high, neg, abs] = flags;
        let choose = |on, text: &'static str| if on { text } else { "" };
        let (minus, bar) = (choose(neg, "-"), choose(abs, "|"));
        let (format, lane) = (if bf16 { "BF16" } else { "F16" }, if high { ".H1" } else { "" });
        let text = format!("F2F.F32.{format} R0, {minus}{bar}R1{lane}{bar} ;");
        let instruction = Instruction::new(text, vec![Some("R1".to_owned())])?;
        let mut cases = 0;
        for x in 0..=u16::MAX {
            let bits = if abs { x & 0x7FFF } else { x } ^ if neg { 0x8000 } else { 0 };
            let word = if high { packed(!x, x) } else { packed(x, !x) };
            let expected = if bf16 { widen::<BFloat>(bits) } else { widen::<Half>(bits) };
            instruction.check([word, 0, 0], false, expected)?;
            cases += 1;
        }
        Ok(cases)
    })
}

/// Checks `F2F` and `F2FP` from `f32`. The operands are every half, the midpoints between halves,
/// the neighbours of both, and random numbers.
fn narrowing(effort: Effort) -> Subject {
    let name = format!("{PART}::F2F and F2FP from f32");
    Subject::new(PART, name, (8, 8), move |piece, random| {
        let (bf16, rounding) = (piece / 4 == 1, ROUNDINGS[piece % 4]);
        let (format, middle) = if bf16 { ("BF16", 0x8000) } else { ("F16", 0x1000) };
        let Rounding(modifier, _) = rounding;
        let half = |bits| if bf16 { narrow::<BFloat>(bits, rounding) } else { narrow::<Half>(bits, rounding) };
        let [one, two] = ["R1", "R2"].map(|name| Some(name.to_owned()));
        let single = Instruction::new(format!("F2F.{format}.F32.{modifier} R0, R1 ;"), vec![one.clone()])?;
        let both = Instruction::new(format!("F2FP.{format}.{modifier} R0, R1, R2 ;"), vec![one, two])?;
        let mut cases = 0;
        for x in operands(effort, random) {
            let exact = if bf16 { widen::<BFloat>(x) } else { widen::<Half>(x) };
            let near = [0, 1, middle - 1, middle, middle + 1, !0].map(|offset| exact.wrapping_add(offset));
            for a in near.into_iter().chain([(); 16].map(|()| random.bits() as u32)) {
                let b = random.bits() as u32;
                single.check([a, 0, 0], false, half(a).into())?;
                both.check([a, b, 0], false, packed(half(b), half(a)))?;
                cases += 3;
            }
        }
        Ok(cases)
    })
}
