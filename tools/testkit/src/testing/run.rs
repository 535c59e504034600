//! Execution of text tests: each kernel is compiled up to its stage, and the output is checked.

use std::fmt::Write;
use std::ops::Range;

use halfbyte::pipeline::{Compiler, Options};
use halfbyte::report::Report;
use halfbyte::{CompileError, Module, lang};
use halfbyte_abi::{Target, Watchdog};
use halfbyte_ir::diag::{Diagnostic, Lines};
use halfbyte_ir::{Kernel, Op, Span, Type};
use halfbyte_lower::trial;

use super::checks;
use super::coverage::Coverage;
use super::failure_report;
use super::file::{ExpectedOutput, MARK, Stage, Test, TestFile};
use halfbyte::include::ModuleReader;

/// Number of output lines that a failure shows before and after the first difference.
const SHOWN: usize = 5;

/// Returns a module with only the named kernel, but with the whole text, so that spans stay valid.
fn alone(module: &Module, kernel: &str) -> Module {
    Module::from_kernels(module.ir().kernel(kernel).cloned()).with_text(module.file(), module.text())
}

/// The results of the tests in a file.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One verdict for each kernel, in the order of the file.
    pub verdicts: Vec<Verdict>,
    /// The number of times that the tests applied each rule.
    pub coverage: Coverage,
}

/// The result of one test.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The kernel's name, without `@`.
    pub kernel: String,
    /// The failures with their spans in the file; empty if the test passes.
    pub failures: Vec<Diagnostic>,
    /// The byte range of the expected output in the file and its replacement, if the output differs.
    renewal: Option<(Range<usize>, String)>,
}

impl TestFile {
    /// Runs the tests.
    pub fn run(&self) -> Outcome {
        self.run_within(None)
    }

    /// Runs the tests within the limits of a watchdog. After a limit is exceeded, all further tests fail.
    pub fn run_within(&self, watchdog: Option<&Watchdog>) -> Outcome {
        let mut coverage = Coverage::default();
        let verdicts = self.tests.iter().map(|test| self.verdict(test, &mut coverage, watchdog)).collect();
        Outcome { verdicts, coverage }
    }

    /// Returns the failures of the tests as a report, or `None` if all tests pass.
    pub fn report(&self, outcome: &Outcome) -> Option<Report> {
        let failures: Vec<Diagnostic> = outcome.verdicts.iter().flat_map(|verdict| verdict.failures.clone()).collect();
        (!failures.is_empty()).then(|| Report::new(self.file.clone(), self.text.clone(), failures))
    }

    /// Returns the line number of a failure in the file.
    pub fn line(&self, failure: &Diagnostic) -> usize {
        Lines::new(&self.text).position(failure.span.start).line
    }

    /// Returns the file's text, in which each expected output that differs is replaced by the
    /// actual output. Check lines are not changed. Returns `None` if no output differs.
    pub fn updated_text(&self, outcome: &Outcome) -> Option<String> {
        let mut text = self.text.clone();
        // Replacing from the end of the file keeps the earlier byte ranges valid.
        for verdict in outcome.verdicts.iter().rev() {
            if let Some((range, renewed)) = &verdict.renewal {
                text.replace_range(range.clone(), renewed);
            }
        }
        (text != self.text).then_some(text)
    }

    fn verdict(&self, test: &Test, coverage: &mut Coverage, watchdog: Option<&Watchdog>) -> Verdict {
        let mut verdict = Verdict { kernel: test.kernel.clone(), failures: Vec::new(), renewal: None };
        if let Some(exceeded) = watchdog.and_then(|watchdog| watchdog.poll().err()) {
            verdict.failures.push(Diagnostic::new(test.name, exceeded.to_string()));
            return verdict;
        }
        let text = self.text.get(test.text.clone()).unwrap_or_default();
        // A kernel in the IR is parsed as a separate text, so that line numbers in the output count from the kernel.
        let is_language = lang::is_language(&self.text);
        let start = if is_language { 0 } else { test.text.start };
        let read = match is_language {
            false => Module::named(&self.file, text),
            // A kernel in the kernel language may call functions elsewhere in the file, so the whole file is parsed.
            true => ModuleReader::of(&self.file)
                .watched(watchdog)
                .read(self.text.as_str())
                .map(|module| alone(&module, &test.kernel)),
        };
        let module = match read {
            Ok(module) => module,
            Err(report) => {
                verdict.failures = moved(report.diagnostics().to_vec(), start);
                return verdict;
            }
        };
        let Some(kernel) = module.ir().kernels.first() else { return verdict };
        let mut taken = Coverage::default();
        let found = output(test, &module, kernel, &mut taken, watchdog);
        coverage.add(&taken);
        let output = match found {
            Ok(output) => output,
            Err(Failed::Compiled) => {
                let target = test.header.target.map_or("", Target::name);
                let wrong = Diagnostic::new(test.name, format!("{target} does not refuse @{}", test.kernel));
                verdict.failures.push(wrong);
                return verdict;
            }
            Err(Failed::Refused(errors)) => {
                verdict.failures = moved(errors, start);
                return verdict;
            }
        };
        verdict.failures.extend(checks::check(&test.checks, &output));
        for check in &test.rules {
            let count: usize = check.rules.iter().map(|&rule| taken.count(rule)).sum();
            let name = &check.name;
            if check.is_wanted && count == 0 {
                let mut wrong = Diagnostic::new(check.span, format!("rule `{name}` is not applied"));
                if let Some(target) = test.header.target {
                    for reason in failure_report::not_taken(&module, &options(test, target, watchdog), &check.rules) {
                        wrong = wrong.note(None, reason);
                    }
                }
                verdict.failures.push(wrong);
            } else if !check.is_wanted && count > 0 {
                verdict.failures.push(Diagnostic::new(check.span, format!("rule `{name}` is applied")));
            }
        }
        if let Some(whole) = &test.whole
            && let Some((wrong, renewed)) = differs(whole, &output)
        {
            verdict.failures.push(wrong);
            verdict.renewal = Some((whole.range.clone(), renewed));
        }
        verdict
    }
}

/// Returns the compiler options of a test.
fn options(test: &Test, target: Target, watchdog: Option<&Watchdog>) -> Options {
    let watchdog = watchdog.cloned();
    let block = test.header.block;
    Options { pipeline: test.header.pipeline(), block, verify: true, watchdog, ..Options::new(target) }
}

/// The reason why a test has no output.
enum Failed {
    Refused(Vec<Diagnostic>),
    /// The kernel compiled, although the test expects a refusal.
    Compiled,
}

impl Failed {
    fn of(error: CompileError) -> Failed {
        Failed::Refused(error.into())
    }
}

/// Returns the output of the tested stage for a kernel.
fn output(
    test: &Test,
    module: &Module,
    kernel: &Kernel,
    taken: &mut Coverage,
    watchdog: Option<&Watchdog>,
) -> Result<String, Failed> {
    let header = &test.header;
    let Some(target) = header.target else {
        // The tested passes generate no machine code, so the target does not matter.
        let options = options(test, halfbyte::HALU, watchdog);
        let is_missing =
            |op: Op, ty: Type| header.without.iter().any(|&(of, on)| of == op && on.is_none_or(|on| on == ty));
        let mut compiler = Compiler::with_legality(module, &options, trial::target(is_missing));
        let lowered = compiler.lower(kernel, &mut |_| {});
        taken.add_fired(None, compiler.fired());
        return Ok(lowered.map_err(Failed::of)?.to_string());
    };
    let options = options(test, target, watchdog);
    let mut compiler = Compiler::new(module, &options);
    let step = match header.stage {
        Stage::Lower => {
            let lowered = compiler.lower(kernel, &mut |_| {});
            taken.add_fired(None, compiler.fired());
            return Ok(lowered.map_err(Failed::of)?.to_string());
        }
        Stage::Isel => "isel",
        Stage::Expand => "expand",
        Stage::Regalloc => "regalloc",
        Stage::Asm | Stage::Refuse => "layout",
    };
    let mut output = String::new();
    let compiled = compiler.compile(kernel, &mut |taken| {
        if taken.name == step {
            output = taken.result.to_string();
        }
    });
    taken.add_fired(Some(target), compiler.fired());
    match (header.stage, compiled) {
        (Stage::Refuse, Ok(_)) => Err(Failed::Compiled),
        (Stage::Refuse, Err(refused)) => Ok(refusals(module.text(), &refused.diagnostics())),
        (_, Ok(_)) => Ok(output),
        (_, Err(error)) => Err(Failed::of(error)),
    }
}

/// Formats refusals as the output of a test: the text of each refused op, and the reason below it.
fn refusals(text: &str, refused: &[Diagnostic]) -> String {
    let mut output = String::new();
    for refusal in refused {
        let Span { start, end } = refusal.span;
        let op = text.get(start as usize..end as usize).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(output, "{}\n    {refusal}", op.lines().next().unwrap_or_default());
        for note in &refusal.notes {
            let _ = writeln!(output, "    {}", note.message);
        }
    }
    output
}

/// Moves the spans of errors by the byte offset of a kernel's text in the file.
fn moved(errors: Vec<Diagnostic>, by: usize) -> Vec<Diagnostic> {
    let moved = |span: Span| Span { start: span.start + by as u32, end: span.end + by as u32 };
    let whole = |mut error: Diagnostic| {
        error.span = moved(error.span);
        for note in &mut error.notes {
            note.span = note.span.map(moved);
        }
        error
    };
    errors.into_iter().map(whole).collect()
}

/// Compares an output with the expected output. Returns the first difference and the new lines for
/// the file, or `None` if they are equal.
fn differs(whole: &ExpectedOutput, output: &str) -> Option<(Diagnostic, String)> {
    let found: Vec<String> =
        output.trim_end().lines().map(|line| format!("{MARK} {line}").trim_end().to_owned()).collect();
    let expected: Vec<&str> = whole.lines.iter().map(|(_, line)| line.as_str()).collect();
    if expected == found {
        return None;
    }
    let same = expected.iter().zip(&found).take_while(|(expected, found)| *expected == found).count();
    let (place, _) = whole.lines.get(same).or(whole.lines.last())?;
    let rest = found.get(same..).unwrap_or_default();
    let mut note = match rest.len() {
        0 => format!("the output ends after {}", lines(found.len())),
        _ => format!("found, from line {} of {} on:", same + 1, found.len()),
    };
    for line in rest.iter().take(SHOWN) {
        // Writing to a string cannot fail.
        let _ = write!(note, "\n{line}");
    }
    if rest.len() > SHOWN {
        let _ = write!(note, "\nand {} more", lines(rest.len() - SHOWN));
    }
    let message =
        if same < expected.len() { "the output differs from here on" } else { "the output continues after this" };
    let renewed = found.join("\n") + "\n";
    Some((Diagnostic::new(*place, message).note(None, note), renewed))
}

fn lines(count: usize) -> String {
    format!("{count} line{}", if count == 1 { "" } else { "s" })
}
