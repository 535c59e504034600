//! `halfbyte test`

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use halfbyte::abi::Limits;
use halfbyte_testkit::testing::{Coverage, TestFile};

use super::io::{kernel_files, print, write};
use super::limits::{LimitArgs, advice};
use super::{Done, Failure, Message, interrupt, render, say};

/// Runs text tests: kernels with what a stage of the compiler must make of them
///
/// A line `; test: STAGE TARGET` stands above the kernels. The stages are lower, isel, regalloc, asm and refuse. What is expected of a
/// kernel stands in it or below it: check lines, rules, or the whole output. docs/testing.md says more.
///
/// Prints a line a failure, then `N passed, M failed`, which counts kernels; a file that cannot be read as tests is one failure.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Test {
    /// Files of tests, and folders, of which every *.hb below is one; - is standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Rewrite whole outputs (`;=` lines) that are not what was found; check lines stay
    #[arg(long)]
    bless: bool,
    /// Say how often each rule was taken; a rule that never was is a failure
    #[arg(long)]
    coverage: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte test tests/files
  halfbyte test mine.hb --bless
  halfbyte test tests/files --coverage

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
  ; check: TEXT    some line after the last match has TEXT
  ; next: TEXT     the next line has it
  ; same: TEXT     the rest of the last match's line has it
  ; not: TEXT      no line between the matches around it has it
  ; never: TEXT    no line of the output has it
  ; rule: NAME     the rule is taken
  ; no rule: NAME  it is not
  ;= LINE          the whole output, line by line, below the kernel

In a TEXT, {{regex}} is a regular expression, and [[R:regex]] gives its match a name that [[R]] stands for later.";

impl Test {
    pub(super) fn run(self) -> Done {
        if self.bless && self.paths.iter().any(|path| path == Path::new("-")) {
            return Err(Failure::Call("standard input cannot be rewritten".into()));
        }
        let mut coverage = Coverage::default();
        let (mut passed, mut failed) = (0, 0);
        for found in kernel_files(&self.paths)? {
            if interrupt::is_pending() {
                return Ok(());
            }
            let watchdog = self.limits.watchdog(Limits::strict());
            let (path, input) = (&found.path, found.read(watchdog.limits().text_bytes)?);
            let file = match input.text().and_then(|text| TestFile::read(&input.name, text)) {
                Ok(file) => file,
                Err(report) => {
                    failed += 1;
                    print(format!("FAILED {}: no tests can be read\n", input.name).as_bytes())?;
                    say(&render(&report));
                    continue;
                }
            };
            let mut outcome = file.run_within(Some(&watchdog));
            coverage.add(&outcome.coverage);
            if self.bless
                && let Some(text) = file.blessed(&outcome)
            {
                write(Some(path), text.as_bytes())?;
                print(format!("rewritten {}\n", input.name).as_bytes())?;
                outcome = TestFile::read(&input.name, &text)?.run_within(Some(&watchdog));
            }
            for verdict in &outcome.verdicts {
                let Some(first) = verdict.failures.first() else {
                    passed += 1;
                    continue;
                };
                failed += 1;
                let line = file.line(first);
                print(format!("FAILED {}:{line} @{}: {}\n", input.name, verdict.kernel, first.message).as_bytes())?;
            }
            if let Some(report) = file.report(&outcome) {
                say(&render(&report));
                if let Some(advice) = watchdog.exceeded().as_ref().and_then(advice) {
                    say(&format!("help: {advice}"));
                }
            }
        }
        let mut never = 0;
        if self.coverage {
            print(table(&coverage).as_bytes())?;
            for row in coverage.never() {
                never += 1;
                say(&format!("error: no test takes rule {row}"));
            }
        }
        print(format!("{passed} passed, {failed} failed\n").as_bytes())?;
        if failed == 0 && never == 0 { Ok(()) } else { Err(Failure::Input(Message::Said)) }
    }
}

/// How often each rule was taken, a line a rule.
fn table(coverage: &Coverage) -> String {
    let mut text = String::new();
    for row in coverage.rules() {
        // Writing to a string succeeds.
        let _ = writeln!(text, "{:>7}  {row}", row.count);
    }
    let all = coverage.rules().count();
    let _ = writeln!(text, "{} of {all} rules taken", all - coverage.never().count());
    text
}
