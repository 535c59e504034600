//! Checks of the instructions and rules that the compiler selects for a kernel, for Rust tests.

use std::fmt::Write;

use halfbyte::pipeline::{Compiler, Options, Product};
use halfbyte::report::Report;
use halfbyte::{Module, TARGETS};
use halfbyte_abi::Target;

use super::coverage::{self, Coverage, RuleId};
use super::failure_report;

/// The instructions and rules that were selected for the kernels of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selection {
    /// The instructions as assembly text, before register allocation.
    pub instructions: Vec<String>,
    /// The names of the rules that were applied, by the passes and by selection.
    pub rules: Vec<&'static str>,
}

/// The reason why [`selects`] fails.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectsError {
    /// The text is invalid, or the target refuses a kernel.
    #[error(transparent)]
    Text(#[from] Report),
    /// A name is neither an instruction of the target nor a rule.
    #[error("`{name}` is neither an instruction of {target} nor a rule")]
    Unknown {
        /// The unknown name.
        name: String,
        /// The target.
        target: Target,
    },
    /// A wanted instruction or rule is not selected.
    #[error("`{name}` is not selected for {target}\n{reasons}selected instead:\n{selected}")]
    Missing {
        /// The name of the instruction or rule.
        name: String,
        /// The target.
        target: Target,
        /// The ops at which the rule nearly matched and the reasons, one per line.
        reasons: String,
        /// The selected instructions of each op.
        selected: String,
    },
    /// An unwanted instruction or rule is selected.
    #[error("`{name}` is selected for {target}\nselected instead:\n{selected}")]
    Unwanted {
        /// The name of the instruction or rule.
        name: String,
        /// The target.
        target: Target,
        /// The selected instructions of each op.
        selected: String,
    },
}

/// Selects instructions for a text's kernels, after all passes. Checks that each name in `wanted`
/// is selected and that no name in `unwanted` is. A name is a rule, such as `half_ffma` or
/// `halu::half_ffma`, or the start of an instruction: `HFMA2`, `HFMA2.RELU`, `vmul s rd`.
///
/// ```
/// use halfbyte::Target;
/// use halfbyte_testkit::testing::selects;
///
/// let text = "kernel @k(%a: i32, %x: in i32, %y: out i32) {
///             ^entry:
///               %i = item_id
///               %v = load %x[%i]
///               %m = mul.i32 %v, %a
///               %r = add.i32 %m, %v
///               store %r, %y[%i]
///               ret
///             }";
/// let selection = selects(text, halfbyte::HALU, &["IMAD", "int_mad"], &["IADD3"])?;
/// assert!(selection.rules.contains(&"store_at_index"));
/// let error = selects(text, halfbyte::HALU, &["int_add3"], &[]).unwrap_err().to_string();
/// assert!(error.contains("wanted (Add $I32 a b), found `%m = mul.i32 %v, %a`"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails if the text is invalid or a name is unknown. Otherwise fails for the first wanted name
/// that is not selected, or the first unwanted name that is. The error shows the selected
/// instructions, and for a wanted rule the ops at which it nearly matched.
pub fn selects(text: &str, target: Target, wanted: &[&str], unwanted: &[&str]) -> Result<Selection, SelectsError> {
    let names: Vec<Asked> =
        wanted.iter().chain(unwanted).map(|name| Asked::new(name, target)).collect::<Result<_, _>>()?;
    let module = Module::parse(text)?;
    let options = Options { verify: true, ..Options::new(target) };
    let mut compiler = Compiler::new(&module, &options);
    let mut instructions = Vec::new();
    let mut errors = Vec::new();
    for kernel in &module.ir().kernels {
        let compiled = compiler.compile(kernel, &mut |step| {
            if let Product::Selected(code) = step.result {
                instructions.extend(code.instructions());
            }
        });
        errors.extend(compiled.err().map(Vec::from).unwrap_or_default());
    }
    if !errors.is_empty() {
        return Err(Report::new(module.file(), module.text(), errors).into());
    }
    let mut taken = Coverage::default();
    taken.add_fired(Some(target), compiler.fired());
    for (number, asked) in names.iter().enumerate() {
        let is_wanted = number < wanted.len();
        let count: usize = asked.rules.iter().map(|&rule| taken.count(rule)).sum();
        let is_selected = count > 0 || instructions.iter().any(|inst| begins(inst, asked.name));
        if is_selected == is_wanted {
            continue;
        }
        let name = asked.name.to_owned();
        let selected = failure_report::selected(&failure_report::explanations(&module, &options));
        if !is_wanted {
            return Err(SelectsError::Unwanted { name, target, selected });
        }
        let mut reasons = String::new();
        for reason in failure_report::not_taken(&module, &options, &asked.rules) {
            // Writing to a string cannot fail.
            let _ = writeln!(reasons, "  {reason}");
        }
        return Err(SelectsError::Missing { name, target, reasons, selected });
    }
    let rules = taken.rules().filter(|row| row.count > 0).map(|row| row.rule.name).collect();
    Ok(Selection { instructions, rules })
}

/// A name that a caller of `selects` wants or does not want: the start of an instruction, or the rules with this name.
struct Asked<'n> {
    name: &'n str,
    rules: Vec<RuleId>,
}

impl<'n> Asked<'n> {
    fn new(name: &'n str, target: Target) -> Result<Asked<'n>, SelectsError> {
        let rules = coverage::find(name, Some(target)).unwrap_or_default();
        let mnemonics = TARGETS.support(target).map_or(Vec::new(), |support| support.isa.mnemonics());
        if rules.is_empty() && !mnemonics.into_iter().any(|mnemonic| begins(name, mnemonic)) {
            return Err(SelectsError::Unknown { name: name.to_owned(), target });
        }
        Ok(Asked { name, rules })
    }
}

/// Returns `true` if a text begins with `with` and a word boundary follows.
fn begins(text: &str, with: &str) -> bool {
    let rest = text.trim_start().strip_prefix(with);
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

/// Asserts that a text is selected with some instructions or rules, and without others, by
/// [`selects`](crate::testing::selects). A failure panics with the selected instructions and the reasons.
///
/// ```
/// use halfbyte::Target;
/// use halfbyte_testkit::testing::assert_selects;
///
/// const AXPY: &str = "kernel @axpy(%a: f16x2, %x: in f16x2, %y: inout f16x2) {
///                     ^entry:
///                       %i = item_id
///                       %v = load %x[%i]
///                       %w = load %y[%i]
///                       %r = ffma.f16x2 %a, %v, %w
///                       store %r, %y[%i]
///                       ret
///                     }";
/// assert_selects!(AXPY, halfbyte::HALU, "HFMA2", "half_ffma"; not "HMUL2", "HADD2");
/// ```
#[macro_export]
macro_rules! assert_selects {
    ($text:expr, $target:expr $(, $wanted:expr)* $(; not $($unwanted:expr),+)? $(,)?) => {
        if let Err(error) = $crate::testing::selects($text, $target, &[$($wanted),*], &[$($($unwanted),+)?]) {
            ::core::panic!("{error}");
        }
    };
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    const MAD: &str = "kernel @k(%a: i32, %x: in i32, %y: out i32) {\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  \
                       %m = mul.i32 %v, %a\n  %r = add.i32 %m, %v\n  store %r, %y[%i]\n  ret\n}\n";

    #[test]
    fn instructions_and_rules_are_found() {
        let selection =
            selects(MAD, halfbyte::HALU, &["IMAD", "int_mad", "halu::int_mad", "LDG"], &["IADD3", "int_add"]);
        assert!(selection.unwrap().instructions.iter().any(|inst| inst.starts_with("IMAD ")));
        assert_selects!(MAD, halfbyte::VP1, "mul", "vp1::word_mul");
        assert_selects!(MAD, halfbyte::HALU; not "HFMA2");
    }

    #[test]
    fn what_is_missing_or_unwanted_is_told_with_what_was_selected() {
        let missing = selects(MAD, halfbyte::HALU, &["IADD3"], &[]).unwrap_err().to_string();
        assert!(missing.starts_with("`IADD3` is not selected for halu\nselected instead:\n"), "{missing}");
        assert!(
            missing.contains("  %r = add.i32 %m, %v\n      by int_mad (isel/rules/halu/integer.isle:"),
            "{missing}"
        );
        let unwanted = selects(MAD, halfbyte::HALU, &[], &["int_mad"]).unwrap_err();
        assert!(matches!(unwanted, SelectsError::Unwanted { .. }), "{unwanted}");
    }

    #[test]
    fn rejects_unknown_names() {
        for name in ["IMADD", "IMA", "int_madd", "vp1::int_mad", ""] {
            for (wanted, unwanted) in [(vec![name], vec![]), (vec![], vec![name])] {
                let error = selects(MAD, halfbyte::HALU, &wanted, &unwanted).unwrap_err();
                assert!(matches!(error, SelectsError::Unknown { .. }), "{name}: {error}");
            }
        }
        assert!(matches!(selects("kernel", halfbyte::HALU, &[], &[]), Err(SelectsError::Text(_))));
    }

    #[test]
    fn a_name_ends_where_a_word_does() {
        assert!(begins("HFMA2.RELU R0, R1", "HFMA2") && begins("HFMA2.RELU R0", "HFMA2.RELU"));
        assert!(!begins("HFMA2.RELU R0", "HFMA") && !begins("IADD3 R0", "IADD"));
        assert!(begins("vmul s rd int", "vmul s") && !begins("vmul s rd", "vmul s r"));
    }

    /// A name in `selects` must be unambiguous, so no rule may have the name of an instruction of its target.
    #[test]
    fn no_rule_is_called_like_an_instruction() {
        for target in TARGETS.defaults() {
            for mnemonic in TARGETS.support(target).unwrap().isa.mnemonics() {
                assert!(coverage::find(mnemonic, Some(target)).is_err(), "{mnemonic}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "`HADD2` is not selected for halu")]
    fn the_assertion_panics() {
        assert_selects!(MAD, halfbyte::HALU, "IMAD", "HADD2");
    }
}
