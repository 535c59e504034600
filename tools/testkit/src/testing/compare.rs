//! Runs a kernel everywhere and compares, for Rust tests.

use std::fmt::Write;
use std::path::Path;

use halfbyte::launch::Engine;
use halfbyte::report::Report;
use halfbyte::{CompileError, Module, TARGETS};
use halfbyte_abi::Target;

use crate::check::check;

/// What a kernel was run on.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The targets whose every engine gave the evaluator's bits.
    pub targets: Vec<Target>,
    /// The targets that cannot do what the text says, and why.
    pub refused: Vec<(Target, CompileError)>,
}

/// Runs a kernel of a text on the evaluator, and on every engine of every target that can do it, and compares all results bit for bit.
/// Arguments are written as on run lines: `("a", "2.0")`, `("x", "[1, 2, 3]")`, `("x", "random(64, 1)")`, `("y", "zeros(64)")`.
///
/// ```
/// use halfbyte_testkit::testing::run_and_compare;
///
/// let text = "kernel @double(%x: in i8x4, %y: out i8x4) {
///             ^entry:
///               %i = item_id
///               %v = load %x[%i]
///               %r = add_sat_u.i8x4 %v, %v
///               store %r, %y[%i]
///               ret
///             }";
/// let compared = run_and_compare(text, "double", 100, &[("x", "random(100, 1)"), ("y", "zeros(100)")])?;
/// assert_eq!(compared.targets.len(), 3);
/// # Ok::<(), halfbyte::Report>(())
/// ```
///
/// # Errors
/// What is wrong with the text or the arguments; a trap; results that differ, with the first element that does. Where every target refuses, the
/// first one's reasons.
pub fn run_and_compare(text: &str, kernel: &str, items: u32, args: &[(&str, &str)]) -> Result<Compared, Report> {
    run_all_and_compare(text, &[(kernel, items, args)])
}

/// A launch: a kernel, its items, and its arguments as run lines have them.
pub type NamedLaunch<'a> = (&'a str, u32, &'a [(&'a str, &'a str)]);

/// The same for launches one after another: kernel, items, arguments of each. A parameter without a value has what was last under its
/// name.
///
/// # Errors
/// What is wrong with the text or the arguments; a trap; results that differ after a launch, with the first lanes that do. Where every
/// target refuses, the first one's reasons.
pub fn run_all_and_compare(text: &str, launches: &[NamedLaunch<'_>]) -> Result<Compared, Report> {
    let module = Module::parse(text)?;
    let mut compared = Compared { targets: Vec::new(), refused: Vec::new() };
    for target in TARGETS.defaults() {
        match module.compile(target) {
            Ok(_) => compared.targets.push(target),
            Err(error) => compared.refused.push((target, error)),
        }
    }
    if let ([], Some((_, error))) = (compared.targets.as_slice(), compared.refused.first()) {
        return Err(module.report(error.clone()));
    }
    let names: Vec<&str> = compared.targets.iter().map(|target| target.name()).collect();
    let mut lines = format!("{text}\n");
    for (number, (kernel, items, args)) in launches.iter().enumerate() {
        let begin = if number == 0 { format!("run: {}", names.join(", ")) } else { "then".to_owned() };
        // Writing to a string succeeds.
        let _ = write!(lines, "; {begin}: @{kernel} items={items}");
        for (name, value) in *args {
            let _ = write!(lines, " {name}={value}");
        }
        lines.push('\n');
    }
    let outcome = check(module.file(), &lines, Path::new(""), &Engine::ALL);
    match outcome.failures {
        Some(report) => Err(report),
        None => Ok(compared),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const HALF: &str = "kernel @half(%x: in f16x2, %y: out f16x2) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  \
                        %r = ffma.f16x2 %v, %v, %v\n  store %r, %y[%i]\n  ret\n}\n";

    #[test]
    fn targets_that_refuse_are_named() {
        let compared = run_and_compare(HALF, "half", 7, &[("x", "random(7, 1)"), ("y", "zeros(7)")]).unwrap();
        assert_eq!(compared.targets, [halfbyte::HALU, halfbyte::ptx(halfbyte::Sm::SM_90)]);
        assert_eq!(compared.refused[0].0, halfbyte::VP1);
        assert!(compared.refused[0].1.to_string().contains("ffma.f16x2"));
    }

    #[test]
    fn launches_follow_one_another() {
        let launches: [NamedLaunch<'_>; 2] =
            [("half", 2, &[("x", "[1, 2]"), ("y", "zeros(2)")]), ("half", 3, &[("y", "zeros(3)")])];
        let report = run_all_and_compare(HALF, &launches).unwrap_err().to_string();
        assert!(report.contains("trap on ir: @half, item 2"), "{report}");
        assert_eq!(run_all_and_compare(HALF, &[launches[0], ("half", 1, &[])]).unwrap().targets.len(), 2);
    }

    #[test]
    fn what_is_wrong_with_a_launch_is_an_error() {
        for (args, message) in [
            (vec![("y", "zeros(7)")], "x"),
            (vec![("x", "zeros(7)"), ("y", "zeros(3)")], "trap on ir"),
            (vec![("z", "1")], "`z`"),
        ] {
            let report = run_and_compare(HALF, "half", 7, &args).unwrap_err().to_string();
            assert!(report.contains(message), "{message}: {report}");
        }
        assert!(run_and_compare(HALF, "whole", 7, &[]).unwrap_err().to_string().contains("no kernel `@whole`"));
    }

    /// What the text itself says of a launch is compared as well, so a wrong result is found.
    #[test]
    fn a_difference_is_an_error() {
        let text = format!("{HALF}; run: halu: @half items=1 x=[0x3c003c00] y=zeros(1) -> y=[0x3c003c00]\n");
        let report = run_and_compare(&text, "half", 1, &[("x", "zeros(1)"), ("y", "zeros(1)")]).unwrap_err();
        assert!(report.to_string().contains("expected"), "{report}");
    }

    #[test]
    fn where_all_refuse_the_reasons_are_told() {
        let text = "kernel @k(%x: in bf16x2, %y: out bf16x2) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  \
                    %w = fadd.ftz.bf16x2 %v, %v\n  store %w, %y[%i]\n  ret\n}\n";
        let report = run_and_compare(text, "k", 1, &[]).unwrap_err().to_string();
        assert!(report.contains("halu cannot do"), "{report}");
    }
}
