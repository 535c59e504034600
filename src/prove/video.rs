//! What video instructions are expanded to for PTX, beside the instructions' own meaning.
//!
//! Both sides run by the meanings of PTX over a domain of many words at once.

use halfbyte_ir::witness::Random;
use halfbyte_isa::abi::Signature;
use halfbyte_isa::half::{Compare, Format, Rounding};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Domain, HalfCompare, HalfMinMax, HalfOp, Lanes};
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::meaning::{Reader, Write, meaning};
use halfbyte_isa::ptx::types::{Special, Type};
use halfbyte_isa::ptx::{Inst, Operand, Reg};
use halfbyte_isel::ptx::expand::{Form, expand, sequence};
use halfbyte_isel::ptx::{Block, Code, Edge, Placed, Terminator};

use super::{Counterexample, Effort, Outcome, Reproduction, Subject};

const PART: &str = "ptx::video";
/// The SMs that differ in what they have.
const SMS: [u16; 5] = [75, 80, 90, 100, 120];
/// Words that are computed at once.
const WIDTH: usize = 64;
/// The registers of the result and of the operands.
const RESULT: Reg = Reg(0);
const OPERANDS: [Reg; 3] = [Reg(1), Reg(2), Reg(3)];

type Row = [u32; WIDTH];

/// A subject a form; its instances are the sequences that SMs have for it.
pub(super) fn subjects(effort: Effort) -> Vec<Subject> {
    Form::all().map(|form| subject(form, effort)).collect()
}

fn subject(form: Form, effort: Effort) -> Subject {
    // An SM without a sequence of its own has that of an older one.
    let mut sms: Vec<u16> = Vec::new();
    let mut found = Vec::new();
    for sm in SMS {
        let place = sequence(form, sm).map(|sequence| sequence.place);
        if !found.contains(&place) {
            found.push(place);
            sms.push(sm);
        }
    }
    let pieces = sms.len() * pieces(form, effort);
    let is_rule = true;
    let subject = Subject::new(PART, format!("{PART}::{form}"), (sms.len(), pieces), move |piece, random| {
        let Some(&sm) = sms.get(piece % sms.len().max(1)) else { return Ok(0) };
        let number = piece / sms.len().max(1);
        let cases = all_pairs(form, sm, (number, effort), random)?;
        Ok(cases + selected(form, sm, random)?)
    });
    Subject { is_rule, ..subject }
}

/// Pieces that the words of a sequence are cut into.
fn pieces(form: Form, effort: Effort) -> usize {
    match form.lanes() {
        Lanes::Two => effort.choose(1, 256),
        Lanes::Four => 1,
    }
}

/// Words whose lanes run through the pairs of values: each lane through all there are, in an order of its own, so that
/// beside each pair stand others.
fn all_pairs(form: Form, sm: u16, (piece, effort): (usize, Effort), random: &mut Random) -> Outcome {
    let lanes = form.lanes();
    let (bits, count) = (lanes.bits(), lanes.count());
    // Bytes come round several times, in other orders; a sample has some of the half-words.
    let (pairs, rounds) = match lanes {
        Lanes::Four => (1u64 << 16, effort.choose(1, 16)),
        Lanes::Two => (effort.choose(1 << 16, (1u64 << 32) / pieces(form, effort) as u64), 1),
    };
    let trial = Trial::new(form, sm, None)?;
    let mut cases = 0;
    for _ in 0..rounds {
        let base = piece as u64 * pairs;
        // An odd factor permutes the pairs. It may not depend on the piece, for together they run through all.
        let orders: Vec<(u64, u64)> = match (lanes, effort) {
            (Lanes::Two, Effort::Full) => vec![(1, 0), (0x9E37_79B1, 0x1234_5678)],
            _ => (0..count).map(|_| (random.bits() | 1, random.bits())).collect(),
        };
        for start in (0..pairs).step_by(WIDTH) {
            let mut rows = [[0; WIDTH]; 3];
            for i in 0..WIDTH {
                let number = base + start + i as u64;
                for (lane, (factor, offset)) in orders.iter().enumerate() {
                    let pair = number.wrapping_mul(*factor).wrapping_add(*offset);
                    let part =
                        |shift: u32| ((pair >> shift) as u32 & (u32::MAX >> (32 - bits))) << (lane as u32 * bits);
                    rows[0][i] |= part(0);
                    rows[1][i] |= part(bits);
                }
                rows[2][i] = random.bits() as u32;
            }
            trial.check(&rows)?;
            cases += WIDTH as u64;
        }
    }
    // Edges in every lane.
    for _ in 0..64 {
        trial.check(&[0; 3].map(|_| [0; WIDTH].map(|_| edge(lanes, random))))?;
        cases += WIDTH as u64;
    }
    Ok(cases)
}

/// With elements selected and lanes left out.
fn selected(form: Form, sm: u16, random: &mut Random) -> Outcome {
    const FORMS: usize = 8;
    let lanes = form.lanes();
    for _ in 0..FORMS {
        let bits = lanes.count() * lanes.index_bits();
        let mask = 1 + random.below(usize::from(lanes.all()) - 1) as u16;
        let selectors = [0, 1].map(|_| (random.bits() & ((1 << bits) - 1)) as u16);
        let trial = Trial::new(form, sm, Some((mask, selectors)))?;
        trial.check(&[0; 3].map(|_| [0; WIDTH].map(|_| edge(lanes, random))))?;
    }
    Ok((FORMS * WIDTH) as u64)
}

/// A word of lanes at edges, or of any.
fn edge(lanes: Lanes, random: &mut Random) -> u32 {
    let bits = lanes.bits();
    let lane = |random: &mut Random| {
        let any = random.bits();
        let near = [0, 1, 2, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1 << (bits - 1)) + 1, u64::MAX - 1, u64::MAX];
        let value = if any & 1 == 0 { near[random.below(near.len())] } else { any >> 1 };
        value as u32 & (u32::MAX >> (32 - bits))
    };
    (0..lanes.count()).fold(0, |word, i| word | lane(random) << (i * bits))
}

/// An instruction and what it becomes.
struct Trial {
    form: Form,
    sm: u16,
    plain: Inst,
    expanded: Vec<Inst>,
    result: Reg,
    registers: usize,
}

impl Trial {
    /// Of a form on an SM, with a mask and selectors or without.
    fn new(form: Form, sm: u16, lanes: Option<(u16, [u16; 2])>) -> Result<Trial, Box<Counterexample>> {
        let failed = |reason: String| {
            let subject = format!("{PART}::{form}");
            Box::new(Counterexample { subject, reason, reproduction: Reproduction::None })
        };
        let mut plain = form.inst(RESULT, OPERANDS);
        if let Some((mask, selectors)) = lanes {
            let digits = [mask, selectors[0], selectors[1]];
            for (operand, digits) in plain.operands.iter_mut().zip(digits) {
                if let Operand::Register(reg) = *operand {
                    *operand = Operand::Lanes { reg, digits };
                }
            }
        }
        let args = vec![RESULT];
        let block = Block {
            params: Vec::new(),
            insts: vec![Placed::new(plain.clone(), Loc::default())],
            // What is read at the end is kept.
            terminator: Terminator::Jump(Edge { block: 0, args }),
            loc: Loc::default(),
        };
        let signature = Signature::new("k", Vec::new()).map_err(|error| failed(error.to_string()))?;
        let registers = vec![Type::B32; 4];
        let mut code = Code { signature, sm, registers, blocks: vec![block], max_items: u64::MAX };
        expand(&mut code).map_err(|error| failed(error.to_string()))?;
        let [Block { insts, terminator: Terminator::Jump(edge), .. }] = code.blocks.as_slice() else {
            return Err(failed("it became more than a block".to_owned()));
        };
        let result = edge.args.first().copied().unwrap_or(RESULT);
        let expanded: Vec<Inst> = insts.iter().map(|placed| placed.inst.clone()).collect();
        if let Some(inst) = expanded.iter().find(|inst| inst.since().sm > sm) {
            return Err(failed(format!("sm_{sm} has no {:?}", inst.opcode)));
        }
        let registers = code.registers.len();
        Ok(Trial { form, sm, plain, expanded, result, registers })
    }

    fn check(&self, operands: &[Row; 3]) -> Result<(), Box<Counterexample>> {
        let (expected, found) =
            (self.run([&self.plain], RESULT, operands), self.run(&self.expanded, self.result, operands));
        let Some(i) = (0..WIDTH).find(|&i| expected[i] != found[i]) else { return Ok(()) };
        let [a, b, c] = operands.each_ref().map(|row| row[i]);
        let reason = format!(
            "on sm_{} {} of a={a:#010x} b={b:#010x} c={c:#010x} is {:#010x}, and the instruction's result {:#010x}",
            self.sm,
            sequence(self.form, self.sm).map_or(String::new(), |sequence| sequence.place),
            found[i],
            expected[i],
        );
        let subject = format!("{PART}::{}", self.form);
        Err(Box::new(Counterexample { subject, reason, reproduction: Reproduction::None }))
    }

    fn run<'a>(&self, insts: impl IntoIterator<Item = &'a Inst>, result: Reg, operands: &[Row; 3]) -> Row {
        let mut registers = vec![[0; WIDTH]; self.registers];
        for (reg, row) in OPERANDS.into_iter().zip(operands) {
            registers[reg.0 as usize] = *row;
        }
        let mut rows = Rows(Vec::new());
        for inst in insts {
            rows.0.clear();
            for write in meaning(inst, &mut rows, &mut Machine(&registers)).writes {
                if let Write::Register(reg, [low, _]) = write {
                    registers[reg.0 as usize] = *rows.row(low);
                }
            }
        }
        registers[result.0 as usize]
    }
}

/// The registers of an instruction.
struct Machine<'a>(&'a [Row]);

impl Reader<Rows> for Machine<'_> {
    fn register(&mut self, rows: &mut Rows, reg: Reg) -> [Number; 2] {
        let low = rows.push(self.0[reg.0 as usize]);
        [low, rows.word(0)]
    }

    fn predicate(&mut self, rows: &mut Rows, _: Reg) -> Number {
        rows.truth(false)
    }

    fn special(&mut self, rows: &mut Rows, _: Special) -> Number {
        rows.word(0)
    }
}

/// A row among those computed.
type Number = usize;

/// Words by the row; of truth values all bits are set, or none.
struct Rows(Vec<Row>);

fn mask(truth: bool) -> u32 {
    if truth { u32::MAX } else { 0 }
}

impl Rows {
    fn row(&self, number: Number) -> &Row {
        &self.0[number]
    }

    fn push(&mut self, row: Row) -> Number {
        self.0.push(row);
        self.0.len() - 1
    }

    fn map<const N: usize>(&mut self, sources: [Number; N], f: impl Fn([u32; N]) -> u32) -> Number {
        let rows = sources.map(|number| *self.row(number));
        let row = std::array::from_fn(|i| f(rows.each_ref().map(|row| row[i])));
        self.push(row)
    }
}

#[rustfmt::skip]
impl Domain for Rows {
    type Word = Number;
    type Pred = Number;

    fn word(&mut self, value: u32) -> Number { self.push([value; WIDTH]) }
    fn truth(&mut self, value: bool) -> Number { self.push([mask(value); WIDTH]) }

    fn and(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a & b) }
    fn or(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a | b) }
    fn xor(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a ^ b) }
    fn not(&mut self, a: Number) -> Number { self.map([a], |[a]| !a) }
    fn shl(&mut self, a: Number, count: Number) -> Number { self.map([a, count], |[a, n]| a.wrapping_shl(n)) }
    fn shr(&mut self, a: Number, count: Number) -> Number { self.map([a, count], |[a, n]| a.wrapping_shr(n)) }
    fn sar(&mut self, a: Number, count: Number) -> Number {
        self.map([a, count], |[a, n]| (a as i32).wrapping_shr(n) as u32)
    }
    fn add(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a.wrapping_add(b)) }
    fn sub(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a.wrapping_sub(b)) }
    fn mul(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| a.wrapping_mul(b)) }
    fn mul_high(&mut self, signed: bool, a: Number, b: Number) -> Number {
        self.map([a, b], |[a, b]| Concrete.mul_high(signed, a, b))
    }
    fn equal(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| mask(a == b)) }
    fn less(&mut self, signed: bool, a: Number, b: Number) -> Number {
        let flip = if signed { 1 << 31 } else { 0 };
        self.map([a, b], |[a, b]| mask(a ^ flip < b ^ flip))
    }
    fn both(&mut self, p: Number, q: Number) -> Number { self.and(p, q) }
    fn either(&mut self, p: Number, q: Number) -> Number { self.or(p, q) }
    fn differ(&mut self, p: Number, q: Number) -> Number { self.xor(p, q) }
    fn negate(&mut self, p: Number) -> Number { self.not(p) }
    fn select(&mut self, p: Number, a: Number, b: Number) -> Number {
        self.map([p, a, b], |[p, a, b]| p & a | !p & b)
    }

    fn fadd(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| Concrete.fadd(a, b)) }
    fn fmul(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| Concrete.fmul(a, b)) }
    fn fma(&mut self, a: Number, b: Number, c: Number) -> Number {
        self.map([a, b, c], |[a, b, c]| Concrete.fma(a, b, c))
    }
    fn fdiv(&mut self, a: Number, b: Number) -> Number { self.map([a, b], |[a, b]| Concrete.fdiv(a, b)) }
    fn fsqrt(&mut self, a: Number) -> Number { self.map([a], |[a]| Concrete.fsqrt(a)) }
    fn fcompare(&mut self, compare: Compare, a: Number, b: Number) -> Number {
        self.map([a, b], |[a, b]| mask(Concrete.fcompare(compare, a, b)))
    }
    fn int_to_float(&mut self, signed: bool, a: Number) -> Number {
        self.map([a], |[a]| Concrete.int_to_float(signed, a))
    }
    fn float_to_int(&mut self, signed: bool, a: Number) -> Number {
        self.map([a], |[a]| Concrete.float_to_int(signed, a))
    }
    fn narrow(&mut self, format: Format, rounding: Rounding, a: Number) -> Number {
        self.map([a], |[a]| Concrete.narrow(format, rounding, a))
    }
    fn widen(&mut self, format: Format, a: Number) -> Number { self.map([a], |[a]| Concrete.widen(format, a)) }
    fn half(&mut self, op: &HalfOp, a: Number, b: Number, c: Number) -> Number {
        self.map([a, b, c], |[a, b, c]| Concrete.half(op, a, b, c))
    }
    fn half_minmax(&mut self, op: &HalfMinMax, min: Number, a: Number, b: Number) -> Number {
        self.map([min, a, b], |[min, a, b]| Concrete.half_minmax(op, min != 0, a, b))
    }
    fn half_compare(&mut self, op: &HalfCompare, a: Number, b: Number) -> [Number; 2] {
        [0, 1].map(|lane: usize| self.map([a, b], |[a, b]| mask(Concrete.half_compare(op, a, b)[lane])))
    }
    fn permute(&mut self, a: Number, b: Number, selector: Number) -> Number {
        self.map([a, b, selector], |[a, b, selector]| Concrete.permute(a, b, selector))
    }
    fn lop3(&mut self, lut: u8, a: Number, b: Number, c: Number) -> Number {
        self.map([a, b, c], |[a, b, c]| Concrete.lop3(lut, a, b, c))
    }
}
