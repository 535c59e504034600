//! Every rule is executed both sides: the kernels of its checks before and after the pass that applies it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{kernel, lower, same_output, target};
use halfbyte_ir::witness::{Witness, witnesses};
use halfbyte_ir::{Inst, Kernel, Rule};
use halfbyte_lower::{Context, RULES};

/// Cases a rule, shared among the kernels of its checks; each has at least [`LEAST`], and all byte pairs where it can.
const CASES: u32 = 50_000;
const LEAST: u32 = 256;

fn cases() -> u32 {
    std::env::var("HALFBYTE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

fn of_term(term: &str) -> impl Iterator<Item = (usize, &'static Rule)> {
    RULES.iter().enumerate().filter(move |(_, rule)| rule.term == term)
}

fn all_witnesses(rule: &Rule) -> Vec<Witness> {
    rule.checks.iter().flat_map(|check| witnesses(check).unwrap_or_else(|e| panic!("{}: {e}", rule.name))).collect()
}

/// Runs each witness before and after `rewrite`, which must have applied the rule.
fn check(number: usize, rule: &Rule, rewrite: impl Fn(&mut Kernel) -> Vec<u32>) {
    let witnesses = all_witnesses(rule);
    let share = (cases() / witnesses.len() as u32).max(LEAST);
    for witness in &witnesses {
        let before = kernel(&witness.text);
        let mut after = before.clone();
        let fired = rewrite(&mut after);
        assert!(fired[number] > 0, "{} did not fire on\n{before}\nwhich became\n{after}", rule.name);
        for launch in witness.launches(share, number as u64) {
            same_output(&before, &after, witness, &launch);
        }
    }
}

/// Checks every second rule of a term, so that two tests share the work, and tells of all that fail.
fn check_half(term: &str, odd: usize, check: fn(usize, &'static Rule)) {
    let rules = of_term(term).filter(|(number, _)| number % 2 == odd);
    let failed: Vec<&str> = rules
        .filter(|&(number, rule)| std::panic::catch_unwind(|| check(number, rule)).is_err())
        .map(|(_, rule)| rule.name)
        .collect();
    assert!(failed.is_empty(), "these rules fail: {}", failed.join(", "));
}

fn check_simplify(number: usize, rule: &'static Rule) {
    let legality = target(|_, _| false);
    check(number, rule, |kernel| {
        let mut context = Context::new(&legality);
        lower(kernel, &["canon"], &mut context);
        context.fired().to_vec()
    });
}

/// On a target that lacks just what the rule expands.
fn check_expand(number: usize, rule: &'static Rule) {
    let op = rule.pattern.trim_start_matches(|c| c != '(').trim_start_matches('(');
    let op = op.split([' ', ')']).next().unwrap().trim_end_matches(['2', '4']);
    let all = all_witnesses(rule);
    assert!(!all.is_empty());
    check(number, rule, |kernel| {
        // Of the check's instructions of that op the last is the one checked.
        let of_check = |inst: Inst| {
            let name = kernel.result(inst).and_then(|value| kernel.value_name(value)).unwrap_or("");
            kernel.insts[inst].op.row().ident == op && !name.ends_with("_out") && !name.ends_with("_zero")
        };
        let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
        let root = insts.rfind(|&&inst| of_check(inst)).map(|&inst| kernel.insts[inst]);
        let root = root.unwrap_or_else(|| panic!("{}: no {op} in\n{kernel}", rule.name));
        let legality = target(|op, ty| (op, ty) == (root.op, root.ty));
        let mut context = Context::new(&legality).with_only_expansion(number);
        lower(kernel, &["legalise"], &mut context);
        let mut left = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
        let is_left = left.any(|&inst| (kernel.insts[inst].op, kernel.insts[inst].ty) == (root.op, root.ty));
        assert!(!is_left, "{} leaves the op:\n{kernel}", rule.name);
        context.fired().to_vec()
    });
}

#[test]
fn simplifications_hold_even() {
    check_half("simplify", 0, check_simplify);
}

#[test]
fn simplifications_hold_odd() {
    check_half("simplify", 1, check_simplify);
}

#[test]
fn expansions_hold_even() {
    check_half("expand", 0, check_expand);
}

#[test]
fn expansions_hold_odd() {
    check_half("expand", 1, check_expand);
}

#[test]
fn no_rule_without_a_check() {
    for term in ["simplify", "expand"] {
        assert!(of_term(term).count() > 40);
        for (_, rule) in of_term(term) {
            assert!(!rule.checks.is_empty(), "{} at {}:{}", rule.name, rule.file, rule.line);
        }
    }
}
