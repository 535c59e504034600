//! `halfbyte test`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use halfbyte::abi::{Limits, Watchdog};
use halfbyte::report::Report;
use halfbyte_testkit::testing::{Coverage, RuleCount, TestFile, Verdict};
use serde_json::{Value, json};

use super::io::{Input, kernel_files, print, refuse_input, to_stdout, write};
use super::json_output::{JsonOutput, of_report};
use super::junit::{self, Case, Suite};
use super::limits::{LimitArgs, advice};
use super::output::{render, say, summarise};
use super::{Done, Failure, Message, interrupt, watch};

/// Runs text tests: kernels with the expected output of a compiler stage
///
/// A line `; test: STAGE TARGET` precedes the kernels. The stages are lower, isel, regalloc, asm and refuse. The
/// expectations are in or below each kernel: check lines, rules, or the whole output. See docs/testing.md.
///
/// Prints a line per failure, then `N passed, M failed`, counted in kernels. A file that cannot be parsed as tests
/// counts as one failure.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Test {
    /// Test files, or folders that are searched for *.hb files; - is standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Rewrite the expected outputs (`;=` lines) that differ; check lines are not changed
    #[arg(long)]
    bless: bool,
    /// Print how often each rule was applied, and fail if a rule was never applied
    #[arg(long)]
    coverage: bool,
    /// Write a JUnit report for CI systems; with -, standard output has only the report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print one JSON object (docs/json/test.schema.json)
    #[arg(long)]
    json: bool,
    /// Run again whenever one of the files or folders changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte test tests/files
  halfbyte test mine.hb --bless
  halfbyte test tests/files --coverage
  halfbyte test mine.hb --watch
  halfbyte test tests/files --junit report.xml
  halfbyte test tests/files --json | jq '.files[] | select(.failed > 0).file'

A test:
  ; test: isel halu
  kernel @fused(%a: i32, %x: in i32, %y: inout i32) {
  ^entry:
    %i = item_id
    %v = load %x[%i]
    %w = load %y[%i]
    %m = mul.i32 %a, %v
    %r = add.i32 %m, %w       ; check: IMAD
    store %r, %y[%i]          ; next: STG
    ret
  }
  ; rule: int_mad

Check lines, each at the end of a line or alone:
  ; check: TEXT          some line after the last match has TEXT
  ; check-count-N: TEXT  what N lines of check say
  ; check-dag: TEXT      what check says, but successive lines match in any order
  ; next: TEXT           the next line has it
  ; same: TEXT           the rest of the last match's line has it
  ; not: TEXT            no line between the matches around it has it
  ; never: TEXT          no line of the output has it
  ; rule: NAME           the rule is taken
  ; no rule: NAME        it is not
  ;= LINE                the whole output, line by line, below the kernel

A comment that is meant as one of these and is spelt otherwise, such as `; CHECK-NOT:`, is an error.

In a TEXT, {{regex}} is a regular expression, and [[R:regex]] gives its match a name that [[R]] stands for later.";

impl Test {
    pub(super) fn run(self) -> Done {
        if self.watch { watch::each_change(&self.paths, || self.once()) } else { self.once() }
    }

    fn once(&self) -> Done {
        let to_stdin = |path: &PathBuf| path == Path::new("-");
        if self.bless && self.paths.iter().any(to_stdin) {
            return Err(Failure::Call("standard input cannot be rewritten".into()));
        }
        let has_stdout = self.junit.as_deref().is_some_and(|path| to_stdout(Some(path)));
        if self.json && has_stdout {
            let message = "--json and `--junit -` both write to standard output; name a file with --junit FILE";
            return Err(Failure::Call(message.into()));
        }
        let mut results = Results::default();
        // If standard output has a JSON object or a JUnit report, nothing else is printed there.
        let is_shown = !self.json && !has_stdout;
        let done = self.run_files(&mut results, is_shown);
        if interrupt::is_pending() {
            return Ok(());
        }
        let never = if self.coverage { results.coverage.never().count() } else { 0 };
        let is_good = never == 0 && results.failed() == 0;
        let done = done.and_then(|()| if is_good { Ok(()) } else { Err(Failure::Input(Message::Said)) });
        if let (Some(path), Ok(()) | Err(Failure::Input(Message::Said))) = (&self.junit, &done) {
            junit::report(path, "test", &results.suites())?;
        }
        if self.json {
            return results.answer(self.coverage).finish(done);
        }
        if let Err(Failure::Input(Message::Said)) | Ok(()) = done {
            if self.coverage && is_shown {
                print(table(&results.coverage).as_bytes())?;
            }
            for row in results.coverage.never().take(never) {
                say(&format!("error: no test applies rule {row}"));
            }
            if is_shown {
                summarise(&format!("{} passed, {} failed\n", results.passed(), results.failed()))?;
            }
        }
        done
    }

    fn run_files(&self, results: &mut Results, is_shown: bool) -> Done {
        let files = kernel_files(&self.paths)?;
        refuse_input(self.junit.as_deref(), files.iter().map(|file| file.path.as_path()))?;
        for found in files {
            if interrupt::is_pending() {
                return Ok(());
            }
            let watchdog = self.limits.watchdog(Limits::strict());
            let input = found.read(watchdog.limits().text_bytes)?;
            let tested = self.run_file(&found.path, &input, &watchdog, &mut results.coverage)?;
            if is_shown {
                tested.show()?;
            }
            results.files.push(tested);
        }
        Ok(())
    }

    fn run_file(
        &self,
        path: &Path,
        input: &Input,
        watchdog: &Watchdog,
        coverage: &mut Coverage,
    ) -> Result<Tested, Failure> {
        let start = Instant::now();
        let name = input.name.clone();
        let mut file = match input.text().and_then(|text| TestFile::read_within(&name, text, Some(watchdog))) {
            Ok(file) => file,
            Err(report) => {
                let (time, report) = (start.elapsed(), Some(report));
                return Ok(Tested { name, tests: None, report, time, advice: None, is_rewritten: false });
            }
        };
        let mut outcome = file.run_within(Some(watchdog));
        coverage.add(&outcome.coverage);
        let mut is_rewritten = false;
        if self.bless
            && let Some(text) = file.updated_text(&outcome)
        {
            write(Some(path), text.as_bytes())?;
            is_rewritten = true;
            file = TestFile::read_within(&name, &text, Some(watchdog))?;
            outcome = file.run_within(Some(watchdog));
        }
        let report = file.report(&outcome);
        let advice = report.as_ref().and_then(|_| watchdog.exceeded().as_ref().and_then(advice));
        let tests = outcome.verdicts.into_iter().map(|verdict| {
            let line = verdict.failures.first().map(|first| file.line(first));
            (line, verdict)
        });
        let tests = Some(tests.collect());
        Ok(Tested { name, tests, report, time: start.elapsed(), advice, is_rewritten })
    }
}

/// The results of the tests in a file.
struct Tested {
    name: String,
    /// Each test with the line of its first failure; `None` if the file cannot be parsed.
    tests: Option<Vec<(Option<usize>, Verdict)>>,
    /// The report of all errors in the file.
    report: Option<Report>,
    time: Duration,
    /// The help text for an exceeded limit.
    advice: Option<&'static str>,
    is_rewritten: bool,
}

impl Tested {
    /// Prints one line for each failed test, and the errors of the file.
    fn show(&self) -> Done {
        let name = &self.name;
        if self.is_rewritten {
            print(format!("rewritten {name}\n").as_bytes())?;
        }
        let Some(tests) = &self.tests else {
            print(format!("FAILED {name}: no tests can be read\n").as_bytes())?;
            self.report.iter().for_each(|report| say(&render(report)));
            return Ok(());
        };
        for (line, verdict) in tests {
            if let (Some(line), Some(first)) = (line, verdict.failures.first()) {
                print(format!("FAILED {name}:{line} @{}: {}\n", verdict.kernel, first.message).as_bytes())?;
            }
        }
        self.report.iter().for_each(|report| say(&render(report)));
        if let Some(advice) = self.advice {
            say(&format!("help: {advice}"));
        }
        Ok(())
    }

    /// Returns the number of tests that passed (`passes`) or failed. A file that cannot be parsed
    /// counts as one failure.
    fn count(&self, passes: bool) -> usize {
        match &self.tests {
            None => usize::from(!passes),
            Some(tests) => tests.iter().filter(|(_, verdict)| verdict.failures.is_empty() == passes).count(),
        }
    }

    /// Returns the error report of one failed test, or `None` if the test passed.
    fn report_of(&self, verdict: &Verdict) -> Option<Report> {
        let text = self.report.as_ref()?.text();
        (!verdict.failures.is_empty()).then(|| Report::new(&*self.name, text, verdict.failures.clone()))
    }

    fn suite(&self) -> Suite {
        let cases = match &self.tests {
            None => {
                let text = self.report.as_ref().map_or(String::new(), |report| report.render(false));
                let verdict = junit::Verdict::Error { message: "no tests can be read".into(), text };
                vec![Case { name: self.name.clone(), line: None, time: None, verdict }]
            }
            Some(tests) => tests.iter().map(|(line, verdict)| self.case(*line, verdict)).collect(),
        };
        Suite { name: self.name.clone(), time: Some(self.time), cases }
    }

    fn case(&self, line: Option<usize>, verdict: &Verdict) -> Case {
        let failed = verdict.failures.first().map(|first| junit::Verdict::Failed {
            message: first.message.clone(),
            text: self.report_of(verdict).map_or(String::new(), |report| report.render(false)),
        });
        Case {
            name: format!("@{}", verdict.kernel),
            line,
            time: None,
            verdict: failed.unwrap_or(junit::Verdict::Passed),
        }
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "file": self.name,
            "passed": self.count(true),
            "failed": self.count(false),
            "seconds": self.time.as_secs_f64(),
            "rewritten": self.is_rewritten,
        });
        let tests = self.tests.iter().flatten().map(|(line, verdict)| {
            let report = self.report_of(verdict);
            let failures = report.map_or(Vec::new(), |report| of_report(&report, &[]));
            let mut test = json!({ "kernel": verdict.kernel, "ok": verdict.failures.is_empty(), "failures": failures });
            if let (Some(line), Some(test)) = (line, test.as_object_mut()) {
                test.insert("line".into(), (*line).into());
            }
            test
        });
        object["tests"] = tests.collect();
        object
    }
}

/// The results of the tests in all files.
#[derive(Default)]
struct Results {
    files: Vec<Tested>,
    coverage: Coverage,
}

impl Results {
    fn passed(&self) -> usize {
        self.files.iter().map(|file| file.count(true)).sum()
    }

    fn failed(&self) -> usize {
        self.files.iter().map(|file| file.count(false)).sum()
    }

    fn suites(&self) -> Vec<Suite> {
        self.files.iter().map(Tested::suite).collect()
    }

    fn answer(&self, with_coverage: bool) -> JsonOutput {
        let mut answer = JsonOutput::new("test");
        answer.set("passed", self.passed());
        answer.set("failed", self.failed());
        answer.set("files", self.files.iter().map(Tested::json).collect::<Vec<_>>());
        for file in self.files.iter().filter(|file| file.tests.is_none()) {
            file.report.iter().for_each(|report| answer.report(report));
        }
        if with_coverage {
            let rule = |row: RuleCount| json!({ "rule": row.to_string(), "count": row.count });
            answer.set("rules", self.coverage.rules().map(rule).collect::<Vec<_>>());
        }
        answer
    }
}

/// Formats a table of the rules, with the number of times that each rule was applied.
fn table(coverage: &Coverage) -> String {
    let mut text = String::new();
    for row in coverage.rules() {
        // Writing to a string never fails.
        let _ = writeln!(text, "{:>7}  {row}", row.count);
    }
    let all = coverage.rules().count();
    let _ = writeln!(text, "{} of {all} rules applied", all - coverage.never().count());
    text
}
