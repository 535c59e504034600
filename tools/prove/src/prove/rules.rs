//! Checks of rules. The witness kernels of each rule are executed before and after the rule is applied.
//!
//! A selection rule is applied to its witness kernel without earlier passes, so that the rule finds its own pattern. If
//! the target packs work items, only the pass `pack` runs first. The machine code must give the evaluator's bits.
//!
//! A rule of `lower` is applied by its own pass, and the rewritten kernel must give the same results. In both cases,
//! the check also fails if the rule is not applied.
//!
//! If an item reads at most 16 bits per lane, the inputs are exhaustive. Otherwise they are edge values and random
//! values.

use halfbyte::launch::{Engine, evaluate, execute, given};
use halfbyte::{Module, TARGETS};
use halfbyte_abi::{Param, Shape, Target};
use halfbyte_emit::write_object;
use halfbyte_ir::eval::DEFAULT_BUDGET;
use halfbyte_ir::witness::{CheckError, Launch, Random, Witness, witnesses};
use halfbyte_ir::{Kernel, ParamKind, Rule, Type};
use halfbyte_isa::object::{Header, Loc};
use halfbyte_isel::regalloc::{Allocator, Options};
use halfbyte_isel::{Refusal, Request};
use halfbyte_lower::trial::{self as rule_trial, TrialError};
use halfbyte_lower::{Context, Pipeline, RuleBook};
use halfbyte_runtime::Program;

use super::{Counterexample, Effort, Reproduction, Subject};
use halfbyte_testkit::compare::compare;
use halfbyte_testkit::runlines::{binding, size};
use halfbyte_testkit::trial::{self, Trial};

/// Number of cases for a rule in a sample. The witness kernels of the rule share the cases.
const SAMPLE: u32 = 4096;
const FULL: u32 = 2_000_000;

/// Minimum number of cases for a witness kernel.
const MIN_WITNESS_CASES: u32 = 256;

/// Maximum number of cases in one launch. The data of this number of cases fit in the processor's caches.
const LAUNCH: u32 = 1 << 16;

/// Maximum number of items whose data a run line contains.
const MAX_LISTED_ITEMS: u32 = 64;

/// Returns one subject for each selection rule of every target and for each rule of `lower`.
pub(super) fn subjects(effort: Effort) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for target in TARGETS.defaults() {
        for (number, rule) in TARGETS.rules(target).iter().enumerate() {
            let place = RuleSite { part: target.name(), name: rule.name, file: rule.file, line: rule.line };
            subjects.push(place.subject(rule.checks, effort, move |kernel| {
                let mut is_taken = false;
                let mut programs = Vec::new();
                let mut lines: Vec<Vec<String>> = Vec::new();
                let mut wrong = None;
                for machine in TARGETS.representatives(target) {
                    match assemble(machine, kernel) {
                        Ok(Assembled { program, fired, text }) => {
                            is_taken |= fired.contains(&(number as u32));
                            // If two machines of a target get identical code, the code is executed
                            // for one of them only.
                            if !lines.contains(&text) {
                                lines.push(text);
                                programs.push((machine, program));
                            }
                        }
                        Err(reason) => wrong = wrong.or(Some(reason)),
                    }
                }
                match wrong {
                    Some(reason) if programs.is_empty() => Err(reason),
                    _ => Ok(Translated { after: After::Words(programs), is_taken }),
                }
            }));
        }
    }
    let of_lower = |(number, rule)| rewriting("lower", rule, effort, move |kernel| rule_trial::apply(number, kernel));
    subjects.extend(rule_trial::rules().map(of_lower));
    subjects
}

/// Returns one subject for each rule of a rule book outside of halfbyte.
pub(super) fn of_book(book: &'static dyn RuleBook, effort: Effort) -> Vec<Subject> {
    let of_book =
        |(number, rule)| rewriting(book.name(), rule, effort, move |kernel| rule_trial::apply_of(book, number, kernel));
    rule_trial::rules_of(book).map(of_book).collect()
}

/// Returns the subject for a rule of a pass. The closure `apply` applies the rule to a kernel.
fn rewriting(
    part: &'static str,
    rule: &'static Rule,
    effort: Effort,
    apply: impl Fn(&mut Kernel) -> Result<(), TrialError> + Send + Sync + 'static,
) -> Subject {
    let place = RuleSite { part, name: rule.name, file: rule.file, line: rule.line };
    place.subject(rule.checks, effort, move |kernel| {
        let mut after = kernel.clone();
        apply(&mut after).map_err(|error| error.to_string())?;
        Ok(Translated { after: After::Kernel(Box::new(after)), is_taken: true })
    })
}

/// The place where a rule is defined.
#[derive(Clone, Copy)]
struct RuleSite {
    part: &'static str,
    name: &'static str,
    file: &'static str,
    line: u32,
}

impl RuleSite {
    fn fail(&self, reason: String, reproduction: Reproduction) -> Box<Counterexample> {
        let RuleSite { part, name, file, line } = self;
        Box::new(Counterexample { subject: format!("rule {part}::{name} ({file}:{line})"), reason, reproduction })
    }

    /// Returns the subject for a rule with the given `check` lines. The closure `translate` applies
    /// the rule to a witness kernel.
    fn subject(
        self,
        checks: &[&str],
        effort: Effort,
        translate: impl Fn(&Kernel) -> Result<Translated, String> + Send + Sync + 'static,
    ) -> Subject {
        let all: Result<Vec<Vec<Witness>>, CheckError> = checks.iter().map(|check| witnesses(check)).collect();
        let all = all.map(|all| all.concat()).map_err(|error| error.to_string());
        let all = all.and_then(|all| if all.is_empty() { Err("the rule has no check".to_owned()) } else { Ok(all) });
        let count = all.as_ref().map_or(0, Vec::len);
        let share = effort.choose(SAMPLE, FULL).div_ceil(count.max(1) as u32).max(MIN_WITNESS_CASES);
        let name = format!("{}::{}", self.part, self.name);
        // A rule without witness kernels still has one piece, so that its missing check is reported.
        let run = move |piece, random: &mut Random| {
            let all = all.as_ref().map_err(|error| self.fail(error.clone(), Reproduction::None))?;
            let Some(witness) = all.get(piece) else { return Ok(0) };
            prove(witness, share, random, &translate).map_err(|wrong| {
                // The default compiler may apply another rule to this witness kernel and so hide
                // the difference. Then the other witness kernels are tried.
                let mut others = all.iter().filter(|_| !wrong.is_shown);
                let shown = others
                    .find_map(|other| prove(other, share, random, &translate).err().filter(|wrong| wrong.is_shown));
                let WitnessFailure { reason, file, .. } = shown.unwrap_or(wrong);
                self.fail(reason, Reproduction::Kernel(file))
            })
        };
        Subject { is_rule: true, ..Subject::new(self.part, name, (count, count.max(1)), run) }
    }
}

/// The translation of a witness kernel by a rule.
struct Translated {
    after: After,
    /// `true` if the rule was applied.
    is_taken: bool,
}

/// The form of a translated witness kernel.
enum After {
    Kernel(Box<Kernel>),
    /// Machine code for each machine of the target.
    Words(Vec<(Target, Program)>),
}

/// The failure of a witness kernel.
struct WitnessFailure {
    reason: String,
    /// The text of a kernel file with the witness kernel. If a launch shows the difference, the file has a run line.
    file: String,
    /// `true` if the default compiler's code also shows the difference in that launch.
    is_shown: bool,
}

/// Checks a rule on one witness kernel with about `cases` cases. Returns the number of cases.
fn prove(
    witness: &Witness,
    cases: u32,
    random: &mut Random,
    translate: impl Fn(&Kernel) -> Result<Translated, String>,
) -> Result<u64, WitnessFailure> {
    let wrong = |reason: String| WitnessFailure { reason, file: witness.text.clone(), is_shown: false };
    let module = Module::named("check", &witness.text).map_err(|report| wrong(report.to_string()))?;
    let kernel = module.ir().kernels.first().ok_or_else(|| wrong("the witness has no kernel".to_owned()))?;
    let Translated { after, is_taken } = translate(kernel).map_err(wrong)?;
    let sides = TranslationCheck { module: &module, kernel, after, params: given(kernel), output: witness.output };
    let mut run = 0;
    let mut last: Vec<Launch> = Vec::new();
    while run < u64::from(cases) {
        let launches = witness.launches(cases.min(LAUNCH), random.bits());
        // A launch whose inputs do not depend on the seed is exhaustive, so it is not repeated.
        let is_new = |(number, launch): &(usize, &Launch)| last.get(*number) != Some(*launch);
        let new: Vec<&Launch> = launches.iter().enumerate().filter(is_new).map(|(_, launch)| launch).collect();
        if new.is_empty() {
            break;
        }
        for Launch { items, args } in new {
            let found = match sides.run(*items, args) {
                Ok(None) => {
                    run += u64::from(*items);
                    continue;
                }
                Ok(Some(difference)) => difference,
                Err(reason) => Difference { item: None, reason },
            };
            return Err(sides.reproduce(*items, args, found));
        }
        last = launches;
    }
    // A rule that was not applied is reported last, because a difference in the results is more informative.
    if is_taken { Ok(run) } else { Err(wrong("the rule is not applied to its witness kernel".to_owned())) }
}

/// A difference between a witness kernel and its translation.
struct Difference {
    item: Option<u32>,
    reason: String,
}

/// A kernel and its translation. Only the buffer of the parameter with index `output` is compared.
struct TranslationCheck<'k> {
    module: &'k Module,
    kernel: &'k Kernel,
    after: After,
    params: Vec<Param>,
    output: usize,
}

impl TranslationCheck<'_> {
    /// Returns a launch shape with `items` items. The shape has several axes if the kernel reads
    /// indices along several axes and the machine code supports them.
    fn shape(&self, items: u32) -> Shape {
        let shape = Shape::from(items);
        let is_along_x = |program: &Program| program.kernels().iter().any(|kernel| kernel.info().along_x);
        let along_x = match &self.after {
            After::Kernel(_) => false,
            After::Words(programs) => programs.iter().any(|(_, program)| is_along_x(program)),
        };
        if along_x || !self.kernel.names_several_axes() {
            return shape;
        }
        let [grid, block] = [shape.grid, shape.block].map(|[x, ..]| match x {
            x if x.is_multiple_of(4) => [x / 4, 2, 2],
            x if x.is_multiple_of(2) => [x / 2, 2, 1],
            x => [1, x, 1],
        });
        Shape::from((grid, block))
    }

    fn run(&self, items: u32, args: &[Vec<u8>]) -> Result<Option<Difference>, String> {
        let name = &self.kernel.name;
        let mut expected = args.to_vec();
        let writers =
            evaluate(self.kernel, self.shape(items), &mut expected).map_err(|fault| format!("on ir: {fault}"))?;
        let differ = |on: &str, found: &[Vec<u8>]| {
            let output = self.output;
            let (param, a, b) = (self.params.get(output)?, expected.get(output)?, found.get(output)?);
            compare(name, (output, param), ("ir", a), (on, b), None, Some(&writers))
        };
        let mut found = args.to_vec();
        let difference = match &self.after {
            After::Kernel(after) => {
                evaluate(after, self.shape(items), &mut found)
                    .map_err(|fault| format!("rewritten: {fault}\n{after}"))?;
                differ("ir, rewritten", &found).map(|d| (d.first.item, format!("{d}\nrewritten:\n{after}")))
            }
            After::Words(programs) => {
                let mut run = |(target, program, engine): (&Target, &Program, Engine)| {
                    let loaded = program.kernel(name).ok_or("the object lacks the kernel")?;
                    found.clone_from_slice(args);
                    execute(loaded, engine, self.shape(items), &mut found)
                        .map_err(|error| format!("on {target}: {error}"))?;
                    Ok::<_, String>(differ(&format!("{target} ({engine})"), &found))
                };
                let engines = |target: &Target| {
                    let target = *target;
                    Engine::ALL.into_iter().filter(move |engine| TARGETS.runs(*engine, target))
                };
                let mut runs = programs
                    .iter()
                    .flat_map(|(target, program)| engines(target).map(move |engine| (target, program, engine)));
                let first = runs.find_map(|of| run(of).transpose()).transpose()?;
                first.map(|d| (d.first.item, d.to_string()))
            }
        };
        Ok(difference.map(|(item, reason)| Difference { item, reason }))
    }

    /// Reproduces a difference as a kernel file with a run line. The run line launches only the
    /// differing item if that suffices, otherwise all items.
    fn reproduce(&self, items: u32, args: &[Vec<u8>], found: Difference) -> WitnessFailure {
        if let Some(item) = found.item {
            // In the first attempt, each buffer contains only the element of the item. In the second attempt, it also
            // contains the following elements, because some items read them.
            for count in [1, 1 + Launch::SPARE] {
                let own = |(param, bytes): (&Param, &Vec<u8>)| match param.kind {
                    ParamKind::Scalar(_) => bytes.clone(),
                    ParamKind::Buffer { elem, .. } => elements(elem, bytes, item as usize, count as usize).to_vec(),
                };
                let alone: Vec<Vec<u8>> = self.params.iter().zip(args).map(own).collect();
                if let Ok(Some(difference)) = self.run(1, &alone) {
                    return self.wrong(difference.reason, 1, &alone);
                }
            }
        }
        if items > MAX_LISTED_ITEMS {
            let reason = format!("{} (in a launch of {items} items)", found.reason);
            return WitnessFailure { reason, file: self.module.text().to_owned(), is_shown: false };
        }
        self.wrong(found.reason, items, args)
    }

    /// Creates a failure with a kernel file. The run line in the file names the targets that show
    /// the difference. If no target shows the difference, the run line executes the rewritten
    /// kernel on the evaluator.
    fn wrong(&self, reason: String, items: u32, args: &[Vec<u8>]) -> WitnessFailure {
        let targets: Vec<Target> = match self.after {
            After::Words(ref programs) => programs.iter().map(|&(target, _)| target).collect(),
            After::Kernel(_) => TARGETS.defaults().collect(),
        };
        let names = |targets: &[Target]| {
            let mut names: Vec<&str> = targets.iter().map(|target| target.name()).collect();
            names.dedup();
            names.join(", ")
        };
        let shown: Vec<Target> = targets.iter().copied().filter(|&target| self.differs(target, items, args)).collect();
        let mut file = self.module.text().to_owned();
        match &self.after {
            After::Kernel(after) if shown.is_empty() => {
                let mut rewritten = after.as_ref().clone();
                rewritten.name = "rewritten".to_owned();
                file += &format!("\n{rewritten}{}", self.run_line("ir", &rewritten.name, items, args));
            }
            _ => {
                let on = if shown.is_empty() { &targets } else { &shown };
                file += &self.run_line(&names(on), &self.kernel.name, items, args);
            }
        }
        WitnessFailure { reason, file, is_shown: !shown.is_empty() }
    }

    /// Returns `true` if the default compiler's code for a target gives another result than the evaluator.
    fn differs(&self, target: Target, items: u32, args: &[Vec<u8>]) -> bool {
        let ways = [halfbyte::pipeline::Options::new(target)];
        let trial = Trial {
            options: &ways,
            engines: &[Engine::Interp],
            native_objects: false,
            budget: DEFAULT_BUDGET,
            watchdog: None,
        };
        trial
            .run(self.module, &[trial::Launch { shape: self.shape(items), args: args.to_vec(), aliases: Vec::new() }])
            .is_err()
    }

    /// Returns a launch in the syntax of run lines, with the evaluator's result as the expected result.
    fn run_line(&self, on: &str, kernel: &str, items: u32, args: &[Vec<u8>]) -> String {
        let value = |param: &Param, bytes: &[u8]| format!(" {}", binding(&param.name, param.kind, bytes));
        let mut results = args.to_vec();
        let is_run = evaluate(self.kernel, self.shape(items), &mut results).is_ok();
        let (mut given, mut expected) = (String::new(), String::new());
        for (number, ((param, before), result)) in self.params.iter().zip(args).zip(&results).enumerate() {
            if number == self.output && is_run {
                expected = format!(" ->{}", value(param, result));
            } else {
                given += &value(param, before);
            }
        }
        format!("; run: {on}: @{kernel} {}{given}{expected}\n", size(&self.shape(items)))
    }
}

fn elements(ty: Type, bytes: &[u8], first: usize, count: usize) -> &[u8] {
    let size = ty.bytes() as usize;
    bytes.get(first * size..(first + count) * size).unwrap_or(bytes)
}

/// A kernel that was compiled by a single target's selection.
struct Assembled {
    program: Program,
    /// The indices of the rules that were applied.
    fired: Vec<u32>,
    /// The assembly text, one instruction per entry.
    text: Vec<String>,
}

fn assemble(target: Target, kernel: &Kernel) -> Result<Assembled, String> {
    let texts = |refusals: Vec<Refusal>| refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let mut packed = kernel.clone();
    let pack = Pipeline::named(["pack"]).map_err(|error| error.to_string())?;
    pack.run(&mut packed, &mut Context::new(&TARGETS.legality(target)), &mut ()).map_err(|error| error.to_string())?;
    let request = Request::new(&packed, target, &|_| Loc::default());
    let mut selected = TARGETS.select(request).map_err(texts)?;
    selected.code.expand().map_err(|error| error.to_string())?;
    let func = selected.code.allocate(&mut Allocator::default(), &Options { check: true, ..Options::default() });
    let func = func.map_err(|error| error.to_string())?;
    let code = TARGETS.layout(target, func).map_err(|error| error.to_string())?;
    let text = (0..code.words.len()).map(|address| code.words.text(address)).collect();
    let header = Header { target, source: "check".to_string() };
    let object = write_object(&header, &[code]).map_err(|error| error.to_string())?;
    let program = TARGETS.load(&object).map_err(|error| error.to_string())?;
    Ok(Assembled { program, fired: selected.fired, text })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use std::path::Path;

    use halfbyte_ir::Op;

    use super::*;
    use halfbyte_testkit::check::check;

    /// Returns the subject for a made-up rule with the given `check` lines. The closure `fault`
    /// breaks the translated kernel, so the check must fail.
    fn planted(checks: &[&str], is_taken: bool, fault: fn(&mut Kernel)) -> Subject {
        let place = RuleSite { part: "halu", name: "planted", file: "planted.isle", line: 7 };
        place.subject(checks, Effort::Sample, move |kernel| {
            let mut wrong = kernel.clone();
            fault(&mut wrong);
            let Assembled { program, .. } = assemble(halfbyte::HALU, &wrong)?;
            Ok(Translated { after: After::Words(vec![(halfbyte::HALU, program)]), is_taken })
        })
    }

    fn clamps_not(kernel: &mut Kernel) {
        let wrong = kernel.insts.values_mut().filter(|inst| inst.op == Op::SubSatU);
        wrong.for_each(|inst| inst.op = Op::Sub);
    }

    const CHECK: &str = "[t: i8x4 i16x2] (%a: $t, %b: $t): %r = sub_sat_u.$t %a, %b";

    #[test]
    fn a_rule_needs_a_check_that_can_be_read() {
        for (checks, reason) in [
            (&[] as &[&str], "the rule has no check"),
            (&["(%a: i7): %r = neg.i8 %a"], "`i7` is not a type"),
            (&["(%a: i8): %r = neg.i8 %b"], "%b"),
        ] {
            let subject = planted(checks, true, |_| {});
            // The subject has a single piece, so exactly one of several shards fails.
            assert_eq!(subject.pieces, 1);
            let failure = subject.prove(0).unwrap_err();
            assert!(failure.to_string().contains(reason), "{failure}");
            assert!(failure.subject.starts_with("rule halu::planted (planted.isle:7)"));
        }
    }

    #[test]
    fn fails_if_the_rule_is_not_applied() {
        assert!(planted(&[CHECK], true, |_| {}).prove(0).is_ok_and(|cases| cases >= 4096));
        let failure = planted(&[CHECK], false, |_| {}).prove(0).unwrap_err();
        assert_eq!(failure.reason, "the rule is not applied to its witness kernel");
    }

    #[test]
    fn writes_a_difference_as_a_kernel_file() {
        for is_taken in [true, false] {
            let failure = planted(&[CHECK], is_taken, clamps_not).prove(0).unwrap_err();
            let Reproduction::Kernel(text) = &failure.reproduction else { panic!("{failure}") };
            assert!(failure.reason.contains("@witness on halu (interp): result[0]"), "{failure}");
            // The default compiler does not contain the fault, so the reported file passes there.
            let outcome = check("planted.hb", text, Path::new("."), &Engine::ALL);
            assert!(outcome.failures.is_none() && outcome.runs == 1, "{text}");
            assert!(text.contains("items=1") && text.contains(" -> result="), "{text}");
        }
    }
}
