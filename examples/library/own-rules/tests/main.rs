//! Tests that the custom rules are correct, and that the passes apply them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::Ordering;

use halfbyte::pipeline::{Options, compile};
use halfbyte::{HALU, Module, Target, TargetSet};
use halfbyte_inspect::explain::{Question, explain};
use halfbyte_own_rules::{Products, pipeline, rules};
use halfbyte_prove::prove::{Effort, rule_book};

/// Returns a kernel that computes `body` on three 32-bit integers for each item.
fn kernel(body: &str) -> String {
    format!(
        "kernel @f(%a: i32, %b: i32, %y: inout i32) {{\n^entry:\n  %i = item_id\n  %c = load %y[%i]\n{body}  \
         store %r, %y[%i]\n  ret\n}}\n"
    )
}

const FACTORED: &str = "  %m = mul.i32 %c, %a\n  %n = mul.i32 %c, %b\n  %r = add.i32 %m, %n\n";

/// Compiles a kernel, with or without the custom rules and pass. Returns its disassembly and the
/// number of multiplications.
fn compiled(
    body: &str,
    (target, targets): (Target, &'static TargetSet),
    is_own: bool,
) -> Result<(String, usize), String> {
    let module = Module::parse(&kernel(body)).unwrap();
    let products = Arc::new(Products { most: 1, ..Products::default() });
    let mut options = Options { targets, verify: true, ..Options::new(target) };
    if is_own {
        options.pipeline = pipeline(products.clone());
    }
    let binary = compile(&module, &module.ir().kernels, &options, &mut |_| ());
    let binary = binary.map_err(|error| error.to_string())?;
    Ok((binary.code[0].words.disassemble(), products.seen.load(Ordering::Relaxed)))
}

#[test]
fn every_rule_holds() {
    let subjects = rule_book(&rules::BOOK, Effort::Sample);
    assert_eq!(
        subjects.iter().map(|subject| subject.name.as_str()).collect::<Vec<_>>(),
        ["own::common_factor", "own::neg_by_mul", "own::mul_by_shift"]
    );
    for subject in subjects {
        let cases = subject.prove(1).unwrap_or_else(|counterexample| panic!("{counterexample}"));
        assert!(cases > 256, "{}: {cases}", subject.name);
    }
}

#[test]
fn a_rule_changes_what_is_selected() {
    let halu = (HALU, &halfbyte::TARGETS);
    let count = |text: &str| text.matches("IMAD").count() + text.matches("IMUL").count();
    let (without, _) = compiled(FACTORED, halu, false).unwrap();
    let (with, seen) = compiled(FACTORED, halu, true).unwrap();
    assert_eq!((count(&without), count(&with), seen), (2, 1, 1), "{without}\n{with}");
}

#[test]
fn an_expansion_makes_what_a_target_lacks() {
    let toy = (halfbyte_toy::isa::TARGET, &halfbyte_toy::TARGETS);
    let difference = "  %r = sub.i32 %a, %c\n";
    assert_eq!(
        compiled(difference, toy, false).unwrap_err(),
        "<text>:5:3: toy cannot do `sub.i32`: the target has no such instruction"
    );
    let (words, _) = compiled(difference, toy, true).unwrap();
    assert!(words.contains(", #65535") && words.contains("mul"), "{words}");
}

#[test]
fn an_explanation_names_the_rule_and_its_place() {
    let module = Module::parse(&kernel(FACTORED)).unwrap();
    let options = Options { pipeline: pipeline(Arc::default()), ..Options::new(HALU) };
    let explanation = explain(&module, Question { at: "%r", kernel: None, options: &options }).unwrap();
    let rule = explanation.history.iter().find_map(|change| change.rule).unwrap();
    assert_eq!((rule.name, rule.file, rule.line), ("common_factor", "rules/own.isle", 10));
}

#[test]
fn a_refusal_names_the_op() {
    let three = "  %m = mul.i32 %c, %a\n  %n = mul.i32 %m, %b\n  %r = mul.i32 %n, %n\n";
    let error = compiled(three, (HALU, &halfbyte::TARGETS), true).unwrap_err();
    assert_eq!(error, "<text>:6:3: halu cannot do `mul.i32`: a kernel may have 1");
}
