//! Comparison of a kernel's results on all targets and engines, for Rust tests.

use std::fmt::Write;
use std::path::Path;

use halfbyte::launch::Engine;
use halfbyte::report::Report;
use halfbyte::{CompileError, Module, TARGETS};
use halfbyte_abi::Target;

use crate::check::check;

/// The targets that a comparison ran, and those that refused a kernel.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The targets that gave the evaluator's bits on all engines.
    pub targets: Vec<Target>,
    /// The targets that refused a kernel, with their errors.
    pub refused: Vec<(Target, CompileError)>,
}

/// Runs a kernel on the evaluator, and on every engine of each target that accepts it. Compares all results bit for
/// bit. Arguments have the syntax of run lines: `("a", "2.0")`, `("x", "[1, 2, 3]")`, `("x", "random(64, 1)")`, `("y",
/// "zeros(64)")`.
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
/// Fails if the text or an argument is invalid, if an item traps, or if results differ; the report names the first
/// difference. If every target refuses the kernel, fails with the first target's errors.
pub fn run_and_compare(text: &str, kernel: &str, items: u32, args: &[(&str, &str)]) -> Result<Compared, Report> {
    run_all_and_compare(text, &[(kernel, items, args)])
}

/// A launch: the kernel's name, the number of items, and the arguments in the syntax of run lines.
pub type NamedLaunch<'a> = (&'a str, u32, &'a [(&'a str, &'a str)]);

/// Runs several launches one after another, as [`run_and_compare`] does. A parameter without a value keeps the last
/// value of its name.
///
/// # Errors
/// Fails if the text or an argument is invalid, if an item traps, or if results differ after a launch; the report names
/// the first differences. If every target refuses the kernels, fails with the first target's errors.
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
        // Writing to a string cannot fail.
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

    /// Run lines in the text itself also run, and their results are compared.
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
