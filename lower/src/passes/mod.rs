//! The built-in passes, one file each, and their table.

mod accesses;
mod axes;
mod canon;
mod contract;
mod dce;
mod fold;
mod gvn;
mod if_convert;
mod index;
mod legalise;
mod licm;
mod loops;
mod merge;
mod pack;
mod schedule;
mod slp;
mod swar_add;
mod switch;
mod unroll;
mod widen;
mod zeros;

use std::fmt::Write;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Inst, Kernel, Value};

pub(crate) use canon::PASS as CANON;
pub(crate) use contract::{PASS as CONTRACT, is_needed as needs_contraction};
pub(crate) use dce::PASS as DCE;
pub(crate) use gvn::PASS as GVN;
pub(crate) use legalise::PASS as LEGALISE;

use crate::pass::BuiltIn;
use crate::rewrite::RULES;

/// All built-in passes.
pub const PASSES: &[BuiltIn] = &[
    contract::PASS,
    axes::PASS,
    fold::PASS,
    canon::PASS,
    gvn::PASS,
    dce::PASS,
    if_convert::PASS,
    licm::PASS,
    unroll::PASS,
    merge::PASS,
    index::PASS,
    pack::PASS,
    slp::PASS,
    widen::PASS,
    swar_add::PASS,
    legalise::PASS,
    schedule::PASS,
];

/// Default order of the passes. Some passes run more than once. The order satisfies the ordering
/// constraints of all passes ([`Pass::order`](crate::Pass::order)).
#[rustfmt::skip]
pub const ORDER: &[&str] = &[
    "contract", "axes", "fold", "canon", "unroll", "gvn", "if_convert", "canon", "merge", "licm", "dce", "index",
    "pack", "slp", "widen", "swar_add", "legalise",
    "gvn", "licm", "schedule", "dce",
];

/// Replaces each operand of an instruction that has a replacement in `replaced`.
fn resolve(kernel: &mut Kernel, inst: Inst, replaced: &SecondaryMap<Value, PackedOption<Value>>) {
    let mut args = kernel.insts[inst].args;
    for arg in args.as_mut_slice(&mut kernel.pool) {
        while let Some(next) = replaced[*arg].expand() {
            *arg = next;
        }
    }
}

/// Returns `docs/passes.md`, the reference of passes and rules.
pub fn documentation() -> String {
    let mut out = String::from(
        "# Passes\n\n\
         The passes over the IR and their rules, generated from both. `--passes` accepts the names in any order; without it a\n\
         compilation runs the passes in the order below. If an op has the modifier `contract`, that pass runs first, named or\n\
         not. `if_convert` does not convert branches around loads and stores: on HALU, selection predicates such\n\
         instructions.\n\n\
         | pass | purpose | order |\n|---|---|---|\n",
    );
    for pass in PASSES {
        let order: Vec<String> = pass.order.iter().map(|(order, reason)| format!("{order}: {reason}")).collect();
        let _ = writeln!(out, "| `{}` | {} | {} |", pass.name, pass.description, order.join("; "));
    }
    let _ = writeln!(out, "\nThe order: `{}`.", ORDER.join("`, `"));
    for (term, title, lead) in [
        ("simplify", "Algebra", "Rules of `canon`. Every rule is valid bit for bit for all inputs."),
        ("expand", "Expansions", "Expansions by which `legalise` replaces an op that the target lacks."),
    ] {
        let rules: Vec<_> = RULES.iter().filter(|rule| rule.term == term).collect();
        let _ =
            write!(out, "\n## {title}\n\n{lead} {} rules.\n\n| rule | pattern | line |\n|---|---|---|\n", rules.len());
        for rule in rules {
            let _ = writeln!(out, "| {} | `{}` | {}:{} |", rule.name, rule.pattern, rule.file_name(), rule.line);
        }
    }
    out
}
