//! Checks of the instruction sequences by which PTX code generation replaces video instructions
//! such as `vadd4`. The sequence must compute the same result as the instruction itself.
//!
//! Both sides are executed by the semantics of PTX instructions, on many operand values at once.

use halfbyte::Sm;
use halfbyte_abi::Signature;
use halfbyte_ir::witness::Random;
use halfbyte_isa::halu::domain::Lanes;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::types::Type;
use halfbyte_isa::ptx::{Inst, Operand, Reg};
use halfbyte_isel::ptx::expand::{D, OPERANDS, VideoForm, expand, sequence};
use halfbyte_isel::vcode::{Edge, Terminator, VCode, VInst};
use halfbyte_isel::{Ptx, PtxExtra};

use crate::ptx_vectors::{Row, execute};

use super::{Counterexample, Effort, Outcome, Reproduction, Subject};

const PART: &str = "ptx::video";
/// Number of operand values for which a sequence is executed at once.
const WIDTH: usize = 64;
/// Register for the result of the instruction.
const RESULT: Reg = D;

/// Returns one subject for each form of a video instruction. A subject checks every distinct
/// sequence among the SM versions.
pub(super) fn subjects(effort: Effort) -> Vec<Subject> {
    VideoForm::all().map(|form| subject(form, effort)).collect()
}

fn subject(form: VideoForm, effort: Effort) -> Subject {
    // An SM version without its own sequence uses the sequence of an older SM version.
    let mut sms: Vec<u16> = Vec::new();
    let mut found = Vec::new();
    for sm in Sm::ALL.map(Sm::number) {
        let place = sequence(form, sm).map(|sequence| sequence.place.clone());
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
        let cases = all_pairs(&Trial::new(form, sm, None)?, number, effort, random)?;
        Ok(cases + selected(form, sm, random)?)
    });
    Subject { is_rule, ..subject }
}

/// Checks a sequence for a video instruction against the semantics of the instruction. Both use the
/// registers of the sequence table.
///
/// # Errors
/// Fails with the first operands for which the results differ.
pub fn check_sequence(form: VideoForm, insts: &[Inst], effort: Effort, seed: u64) -> Result<u64, Box<Counterexample>> {
    let named = insts.iter().flat_map(Inst::registers).map(|(_, reg)| reg.0 as usize + 1);
    let registers = named.max().unwrap_or(0).max(OPERANDS.len() + 1);
    let plain = form.inst(RESULT, OPERANDS);
    let trial = Trial { form, sm: 0, plain, expanded: insts.to_vec(), result: RESULT, registers };
    (0..pieces(form, effort)).map(|piece| all_pairs(&trial, piece, effort, &mut Random(seed ^ piece as u64))).sum()
}

/// Returns the number of pieces into which the cases of one sequence are divided.
fn pieces(form: VideoForm, effort: Effort) -> usize {
    match form.lanes() {
        Lanes::Two => effort.choose(1, 256),
        Lanes::Four => 1,
    }
}

/// Checks operands whose lanes take all pairs of values. Each lane takes the pairs in a different
/// order, so that the lanes of one word hold different pairs.
fn all_pairs(trial: &Trial, piece: usize, effort: Effort, random: &mut Random) -> Outcome {
    let lanes = trial.form.lanes();
    let (bits, count) = (lanes.bits(), lanes.count());
    // A sample checks all pairs of bytes once, and a full run checks them in 16 different orders. A
    // sample checks only some pairs of half-words.
    let (pairs, rounds) = match lanes {
        Lanes::Four => (1u64 << 16, effort.choose(1, 16)),
        Lanes::Two => (effort.choose(1 << 16, (1u64 << 32) / pieces(trial.form, effort) as u64), 1),
    };
    let mut cases = 0;
    for _ in 0..rounds {
        let base = piece as u64 * pairs;
        // Multiplication by an odd factor permutes the pairs. In a full run of half-words, all
        // pieces use the same factors and together cover all pairs.
        let orders: Vec<(u64, u64)> = match (lanes, effort) {
            (Lanes::Two, Effort::Full) => vec![(1, 0), (0x9E37_79B1, 0x1234_5678)],
            _ => (0..count).map(|_| (random.bits() | 1, random.bits())).collect(),
        };
        for start in (0..pairs).step_by(WIDTH) {
            let words: [[u32; 3]; WIDTH] = std::array::from_fn(|i| {
                let number = base + start + i as u64;
                let mut words = [0, 0, random.bits() as u32];
                for (lane, (factor, offset)) in orders.iter().enumerate() {
                    let pair = number.wrapping_mul(*factor).wrapping_add(*offset);
                    let part = |shift| ((pair >> shift) as u32 & (u32::MAX >> (32 - bits))) << (lane as u32 * bits);
                    words[0] |= part(0);
                    words[1] |= part(bits);
                }
                words
            });
            let rows = [0, 1, 2].map(|n: usize| words.map(|words| words[n]));
            trial.check(&rows)?;
            cases += WIDTH as u64;
        }
    }
    // Operands with edge values in every lane.
    for _ in 0..64 {
        trial.check(&[0; 3].map(|_| [0; WIDTH].map(|_| edge(lanes, random))))?;
        cases += WIDTH as u64;
    }
    Ok(cases)
}

/// Checks a video instruction with random selectors and masks.
fn selected(form: VideoForm, sm: u16, random: &mut Random) -> Outcome {
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

/// Returns a 32-bit word with an edge value or a random value in each lane.
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

/// A video instruction and the sequence that replaces it.
struct Trial {
    form: VideoForm,
    sm: u16,
    plain: Inst,
    expanded: Vec<Inst>,
    result: Reg,
    registers: usize,
}

impl Trial {
    /// Expands a video instruction for an SM version, optionally with a mask and two selectors.
    fn new(form: VideoForm, sm: u16, lanes: Option<(u16, [u16; 2])>) -> Result<Trial, Box<Counterexample>> {
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
        let signature = Signature::new("k", Vec::new()).map_err(|error| failed(error.to_string()))?;
        let known = Sm::new(sm).ok_or_else(|| failed(format!("there is no sm_{sm}")))?;
        let mut code = VCode::<Ptx>::new(
            signature,
            PtxExtra {
                sm: known,
                max_items: u64::MAX,
                along_x: false,
                block: None,
                types: Vec::new(),
                arrays: Vec::new(),
            },
        );
        code.vregs = vec![Type::B32; 4];
        // The branch passes the result to a block, so the result is not removed as dead code.
        let end = Terminator::Jump(Edge { block: 0, args: code.add_list([RESULT.into()]) });
        code.add_block([], [VInst::alone(plain.clone(), Loc::default())], end, Loc::default());
        expand(&mut code).map_err(|error| failed(error.to_string()))?;
        let result = code.pool.first().map_or(RESULT, |&reg| reg.into());
        let expanded: Vec<Inst> = code.insts.iter().map(|inst| inst.inst.clone()).collect();
        if let Some(inst) = expanded.iter().find(|inst| inst.since().sm > sm) {
            return Err(failed(format!("sm_{sm} has no {:?}", inst.opcode)));
        }
        let registers = code.vregs.len();
        Ok(Trial { form, sm, plain, expanded, result, registers })
    }

    fn check(&self, operands: &[Row<WIDTH>; 3]) -> Result<(), Box<Counterexample>> {
        let (expected, found) =
            (self.run([&self.plain], RESULT, operands), self.run(&self.expanded, self.result, operands));
        let Some(i) = (0..WIDTH).find(|&i| expected[i] != found[i]) else { return Ok(()) };
        let [a, b, c] = operands.each_ref().map(|row| row[i]);
        let reason = format!(
            "on sm_{} {} of a={a:#010x} b={b:#010x} c={c:#010x} is {:#010x}, and the instruction's result {:#010x}",
            self.sm,
            sequence(self.form, self.sm).map_or(String::new(), |sequence| sequence.place.clone()),
            found[i],
            expected[i],
        );
        let subject = format!("{PART}::{}", self.form);
        Err(Box::new(Counterexample { subject, reason, reproduction: Reproduction::None }))
    }

    fn run<'a>(
        &self,
        insts: impl IntoIterator<Item = &'a Inst>,
        result: Reg,
        operands: &[Row<WIDTH>; 3],
    ) -> Row<WIDTH> {
        let mut registers = vec![[0; WIDTH]; self.registers];
        for (reg, row) in OPERANDS.into_iter().zip(operands) {
            registers[reg.0 as usize] = *row;
        }
        execute(insts, &mut registers);
        registers[result.0 as usize]
    }
}
