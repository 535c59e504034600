//! Search for short sequences of PTX instructions that compute a video instruction.
//!
//! All sequences of one instruction are tried, then of two, and so on, on a few operand values. A
//! sequence that gives the right results is then tested on all pairs of lanes.
//!
//! A final LOP3 is not enumerated but solved for: each bit of the three inputs and the wanted
//! result determines one entry of its table.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use halfbyte_ir::witness::Random;
use halfbyte_isa::ptx::types::Token;
use halfbyte_isa::ptx::{Inst, Operand, Reg};
use halfbyte_isel::ptx::expand::{D, OPERANDS, VideoForm, assemble};

use super::templates::{Template, ones, templates, tops};
use halfbyte_prove::prove::{Effort, check_sequence};
use halfbyte_prove::ptx_vectors::{Row, execute};

/// Number of operand values on which sequences are tried.
const WIDTH: usize = 16;
/// Number of registers of a sequence: the result, the operands, `zero`, two constants, and temporary registers.
const REGISTERS: usize = 7 + 16;
const ZERO: Reg = Reg(4);
const TEMPORARY: u32 = 7;

/// Parameters of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Form of the video instruction.
    pub form: VideoForm,
    /// The SM version, which determines the available instructions.
    pub sm: u16,
    /// The maximum number of instructions. Two instructions that the assembler fuses count as one.
    pub at_most: usize,
    /// Number of threads.
    pub threads: usize,
}

/// The source of a value in a sequence.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StepOperand {
    Register(Reg),
    Number(u32),
    /// The result of the step with this index.
    Application(usize),
}

#[derive(Clone)]
struct Value {
    source: StepOperand,
    row: Row<WIDTH>,
}

/// A step of a sequence: a template with its operands.
#[derive(Clone, Copy)]
struct Application<'a> {
    template: &'a Template,
    /// The index of the template and the indices of its operands. Steps that do not depend on each
    /// other must be sorted by this key, so that no permutation of them is tried twice.
    key: (usize, [usize; 3]),
}

struct Search<'a> {
    form: VideoForm,
    templates: &'a [Template],
    /// Templates of LOP3, one for each of the 256 tables.
    tables: &'a [Template],
    target: Row<WIDTH>,
}

/// Returns the shortest sequence that is correct on all pairs of lanes. Returns `None` if there is none within the
/// limit. Calls `watch` with the length of the sequences before each length is searched.
///
/// # Errors
/// Returns an error if a template is invalid, which does not occur.
pub(super) fn search(plan: Plan, mut watch: impl FnMut(usize)) -> Result<Option<Vec<Inst>>, String> {
    let mut random = Random(1);
    let form = plan.form;
    let operands: [Row<WIDTH>; 3] = [0; 3].map(|_| [0; WIDTH].map(|_| random.bits() as u32));
    let templates = templates(form, plan.sm)?;
    let tables = (0..=u8::MAX).map(Template::lop3).collect::<Result<Vec<_>, _>>()?;
    let mut registers = [[0; WIDTH]; REGISTERS];
    for (reg, row) in OPERANDS.into_iter().zip(operands) {
        registers[reg.0 as usize] = row;
    }
    execute([&form.inst(D, OPERANDS)], &mut registers);
    let search = Search { form, templates: &templates, tables: &tables, target: registers[D.0 as usize] };

    let count = if form.merge == Some(Token::Add) { 3 } else { 2 };
    let mut pool: Vec<Value> = OPERANDS
        .into_iter()
        .zip(operands)
        .take(count)
        .map(|(reg, row)| Value { source: StepOperand::Register(reg), row })
        .collect();
    let [one, top] = [ones(form.lanes()), tops(form.lanes())];
    for number in [0, one, top, !top] {
        pool.push(Value { source: StepOperand::Number(number), row: [number; WIDTH] });
    }
    for length in 1..=plan.at_most {
        watch(length);
        if let Some(found) = search.of_length(length, &pool, plan.threads) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

impl Search<'_> {
    /// Returns a sequence of exactly `length` instructions, or `None` if no sequence is found. If
    /// there are several, the result has the earliest first step in the order of `steps`.
    fn of_length(&self, length: usize, pool: &[Value], threads: usize) -> Option<Vec<Inst>> {
        if length == 1 {
            return self.last(pool, &[]);
        }
        let firsts = self.steps(pool, &[]);
        let next = AtomicUsize::new(0);
        let best: Mutex<Option<(usize, Vec<Inst>)>> = Mutex::new(None);
        let is_beaten =
            |number: usize| best.lock().is_ok_and(|best| best.as_ref().is_some_and(|&(found, _)| found < number));
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&first) = firsts.get(number) else { return };
                        if is_beaten(number) {
                            return;
                        }
                        let (mut pool, mut steps) = (pool.to_vec(), Vec::new());
                        let found = self.with(first, length, &mut pool, &mut steps);
                        if let (Some(found), Ok(mut best)) = (found, best.lock())
                            && best.as_ref().is_none_or(|&(other, _)| number < other)
                        {
                            *best = Some((number, found));
                        }
                    }
                });
            }
        });
        best.into_inner().ok()?.map(|(_, insts)| insts)
    }

    /// Searches the sequences that continue with `step`. `left` is the number of instructions that
    /// may follow, including `step`.
    fn with<'a>(
        &'a self,
        step: Application<'a>,
        left: usize,
        pool: &mut Vec<Value>,
        steps: &mut Vec<Application<'a>>,
    ) -> Option<Vec<Inst>> {
        let row = self.row(step, pool);
        if pool.iter().any(|value| value.row == row) {
            return None;
        }
        pool.push(Value { source: StepOperand::Application(steps.len()), row });
        steps.push(step);
        // The search stops here if too many values have no use. Each further instruction reads at
        // most three values and adds one, so the number of unused values falls by at most two.
        let fits = unused(pool, steps).count() <= 1 + 2 * (left - 1);
        let found = match left - 1 {
            _ if !fits => None,
            1 => self.last(pool, steps),
            left => self.steps(pool, steps).into_iter().find_map(|step| self.with(step, left, pool, steps)),
        };
        steps.pop();
        pool.pop();
        found
    }

    /// Returns the possible next steps of a sequence.
    fn steps<'a>(&'a self, pool: &[Value], steps: &[Application<'a>]) -> Vec<Application<'a>> {
        let mut next = Vec::new();
        let last = steps.last().map(|step| (step.key, pool.len() - 1));
        for (number, template) in self.templates.iter().enumerate() {
            for operands in choices(template, pool) {
                let step = Application { template, key: (number, operands) };
                let needs_last = |last: usize| operands[..template.arity].contains(&last);
                if last.is_none_or(|(key, value)| needs_last(value) || key < step.key) {
                    next.push(step);
                }
            }
        }
        // LOP3 with every table, on two of the operands and the result of the last step.
        if let Some((_, value)) = last {
            let tables = self.tables.iter().enumerate();
            next.extend(
                tables.map(|(table, template)| Application {
                    template,
                    key: (self.templates.len() + table, [0, 1, value]),
                }),
            );
        }
        next
    }

    /// Returns the sequence with one more instruction, if that instruction computes the wanted result.
    fn last<'a>(&'a self, pool: &[Value], steps: &[Application<'a>]) -> Option<Vec<Inst>> {
        let wanted: Vec<usize> = unused(pool, steps).collect();
        let covers = |operands: &[usize]| wanted.iter().all(|value| operands.contains(value));
        let mut found = None;
        if wanted.len() <= 3 {
            for x in 0..pool.len() {
                for y in x..pool.len() {
                    for z in y..pool.len() {
                        let mut operands = [x, y, z];
                        // The assembler accepts at most one constant operand, which must be the last.
                        operands.sort_by_key(|&value| is_number(pool, value));
                        if !covers(&operands) || is_number(pool, operands[1]) {
                            continue;
                        }
                        let table = table(operands.map(|value| &pool[value].row), &self.target);
                        let template = table.and_then(|table| self.tables.get(usize::from(table)));
                        let step = template.map(|template| Application { template, key: (0, operands) });
                        found = found.or_else(|| self.accept(pool, steps, step?));
                    }
                }
            }
        }
        found.or_else(|| {
            self.templates.iter().filter(|template| wanted.len() <= template.arity).find_map(|template| {
                choices(template, pool).find_map(|operands| {
                    let step = Application { template, key: (0, operands) };
                    let fits = covers(&operands[..template.arity]) && self.row(step, pool) == self.target;
                    if fits { self.accept(pool, steps, step) } else { None }
                })
            })
        })
    }

    /// Returns the sequence in the format of the sequence table, if it is correct on all pairs of lanes.
    fn accept<'a>(&'a self, pool: &[Value], steps: &[Application<'a>], last: Application<'a>) -> Option<Vec<Inst>> {
        let mut program = Vec::new();
        let mut next = TEMPORARY;
        let mut results: Vec<Reg> = Vec::new();
        let all: Vec<Application<'_>> = steps.iter().copied().chain([last]).collect();
        for (number, step) in all.iter().enumerate() {
            let mut fresh = || {
                next += 1;
                Reg(next - 1)
            };
            let d = if number + 1 == all.len() { D } else { fresh() };
            let inner = if step.template.insts.len() > 1 { fresh() } else { d };
            let operands = step.key.1.map(|value| match pool.get(value).map(|value| value.source) {
                Some(StepOperand::Register(reg)) => Operand::Register(reg),
                Some(StepOperand::Number(bits)) => Operand::Number(bits.into()),
                Some(StepOperand::Application(step)) => Operand::Register(results.get(step).copied().unwrap_or(D)),
                None => Operand::Number(0),
            });
            for inst in &step.template.insts {
                let mut inst = inst.clone();
                for operand in &mut inst.operands {
                    let Operand::Register(reg) = *operand else { continue };
                    *operand = match OPERANDS.iter().position(|&o| o == reg) {
                        Some(n) => operands[n].clone(),
                        None if reg == D => Operand::Register(d),
                        None if reg == ZERO => Operand::Register(ZERO),
                        None => Operand::Register(inner),
                    };
                }
                program.push(inst);
            }
            results.push(d);
        }
        let reads_zero = program.iter().any(|inst| inst.registers().any(|(_, reg)| reg == ZERO));
        if reads_zero {
            program.splice(0..0, assemble("mov.b32 zero, 0;").ok()?);
        }
        check_sequence(self.form, &program, Effort::Sample, 1).ok()?;
        check_sequence(self.form, &program, Effort::Full, 1).ok()?;
        Some(program)
    }

    /// Computes the result of a step.
    fn row(&self, step: Application<'_>, pool: &[Value]) -> Row<WIDTH> {
        let mut registers = [[0; WIDTH]; REGISTERS];
        for (reg, value) in OPERANDS.into_iter().zip(step.key.1) {
            registers[reg.0 as usize] = pool[value].row;
        }
        execute(&step.template.insts, &mut registers);
        registers[D.0 as usize]
    }
}

/// Returns the indices of the computed values that no step uses.
fn unused<'a>(pool: &'a [Value], steps: &'a [Application<'_>]) -> impl Iterator<Item = usize> + 'a {
    let read: BTreeSet<usize> =
        steps.iter().flat_map(|step| step.key.1[..step.template.arity].iter().copied()).collect();
    (0..pool.len())
        .filter(move |&value| matches!(pool[value].source, StepOperand::Application(_)) && !read.contains(&value))
}

fn is_number(pool: &[Value], value: usize) -> bool {
    matches!(pool[value].source, StepOperand::Number(_))
}

/// Returns the possible operands of a template, as indices of values. A template with fewer than
/// three operands gets index 0 for the missing ones.
fn choices<'a>(template: &'a Template, pool: &'a [Value]) -> impl Iterator<Item = [usize; 3]> + 'a {
    let count = |n: usize| if n < template.arity { pool.len() } else { 1 };
    let all = (0..count(0)).flat_map(move |x| (0..count(1)).flat_map(move |y| (0..count(2)).map(move |z| [x, y, z])));
    all.filter(move |operands| {
        let used = &operands[..template.arity];
        let ordered = !template.commutes || operands[0] <= operands[1];
        let numbers = used.iter().zip(template.takes_number).all(|(&value, takes)| takes || !is_number(pool, value));
        ordered && numbers && !used.iter().all(|&value| is_number(pool, value))
    })
}

/// Returns the LOP3 table that computes `target` from three rows of words, or `None` if no table
/// does. Entries of the table that no bit determines are 0.
fn table(words: [&Row<WIDTH>; 3], target: &Row<WIDTH>) -> Option<u8> {
    let mut set = [0; 8];
    let mut clear = [0; 8];
    for (i, &target) in target.iter().enumerate() {
        for (entry, (set, clear)) in set.iter_mut().zip(&mut clear).enumerate() {
            let bits = [4, 2, 1].iter().zip(words).map(|(bit, row)| if entry & bit == 0 { !row[i] } else { row[i] });
            let meets = bits.fold(u32::MAX, |all, bits| all & bits);
            *set |= meets & target;
            *clear |= meets & !target;
            if *set != 0 && *clear != 0 {
                return None;
            }
        }
    }
    Some(set.iter().enumerate().map(|(entry, &bits)| u8::from(bits != 0) << entry).sum())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn found(form: &str, sm: u16, at_most: usize) -> Option<Vec<Inst>> {
        let form = VideoForm::all().find(|f| f.to_string() == form).unwrap();
        search(Plan { form, sm, at_most, threads: 2 }, |_| {}).unwrap()
    }

    #[test]
    fn finds_the_shortest_sequence() {
        let one = found("vmin4.s32.s32.s32", 120, 2).unwrap();
        assert_eq!(halfbyte_isel::ptx::expand::lines(&one).unwrap(), ["min.s8x4 d, a, b;"]);
        // For all other types, and without saturation, the absolute difference has the same bits.
        let distance = found("vabsdiff4.s32.s32.s32", 75, 1).unwrap();
        assert_eq!(distance.len(), 2);
        assert_eq!(found("vabsdiff4.s32.u32.s32", 75, 1), None);
    }

    #[test]
    fn solves_for_the_lop3_table() {
        let mut random = Random(1);
        let [a, b, c] = [0; 3].map(|_| [0; WIDTH].map(|_| random.bits() as u32));
        let select: Row<WIDTH> = std::array::from_fn(|i| a[i] & b[i] | !a[i] & c[i]);
        assert_eq!(table([&a, &b, &c], &select), Some(0xCA));
        let sum: Row<WIDTH> = std::array::from_fn(|i| a[i].wrapping_add(b[i]));
        assert_eq!(table([&a, &b, &c], &sum), None);
    }
}
