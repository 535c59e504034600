//! Every rule is executed both sides: the kernels of its checks before and after the pass that applies it.

use crate::common::{kernel, same_output};
use halfbyte_ir::Rule;
use halfbyte_ir::witness::{Witness, witnesses};
use halfbyte_lower::trial;

/// Cases a rule, shared among the kernels of its checks; each has at least [`LEAST`], and all byte pairs where it can.
const CASES: u32 = 50_000;
const LEAST: u32 = 256;

fn cases() -> u32 {
    std::env::var("HALFBYTE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

fn of_term(term: &str) -> impl Iterator<Item = (usize, &'static Rule)> {
    trial::rules().filter(move |(_, rule)| rule.term == term)
}

fn all_witnesses(rule: &Rule) -> Vec<Witness> {
    rule.checks.iter().flat_map(|check| witnesses(check).unwrap_or_else(|e| panic!("{}: {e}", rule.name))).collect()
}

/// Runs each witness before and after the pass that applies the rule.
fn check(number: usize, rule: &Rule) {
    let witnesses = all_witnesses(rule);
    let share = (cases() / witnesses.len() as u32).max(LEAST);
    for witness in &witnesses {
        let before = kernel(&witness.text);
        let mut after = before.clone();
        trial::apply(number, &mut after).unwrap_or_else(|error| panic!("{}: {error}\nof\n{before}", rule.name));
        for launch in witness.launches(share, number as u64) {
            same_output(&before, &after, witness, &launch);
        }
    }
}

/// Checks every second rule of a term, so that two tests share the work, and tells of all that fail.
fn check_half(term: &str, odd: usize) {
    let rules = of_term(term).filter(|(number, _)| number % 2 == odd);
    let failed: Vec<&str> = rules
        .filter(|&(number, rule)| std::panic::catch_unwind(|| check(number, rule)).is_err())
        .map(|(_, rule)| rule.name)
        .collect();
    assert!(failed.is_empty(), "these rules fail: {}", failed.join(", "));
}

#[test]
fn simplifications_hold_even() {
    check_half("simplify", 0);
}

#[test]
fn simplifications_hold_odd() {
    check_half("simplify", 1);
}

#[test]
fn expansions_hold_even() {
    check_half("expand", 0);
}

#[test]
fn expansions_hold_odd() {
    check_half("expand", 1);
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
