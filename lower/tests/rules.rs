//! Tests of the rules: each rule has a check. `halfbyte prove` proves the rules by these checks, and
//! the workspace tests run a sample of the proofs.

use halfbyte_ir::Rule;
use halfbyte_lower::trial;

fn of_term(term: &str) -> impl Iterator<Item = (usize, &'static Rule)> {
    trial::rules().filter(move |(_, rule)| rule.term == term)
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
