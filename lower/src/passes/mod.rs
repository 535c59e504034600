//! The passes, a file each, and their table.

mod accesses;
mod canon;
mod contract;
mod dce;
mod fold;
mod gvn;
mod if_convert;
mod legalise;
mod licm;
mod loops;
mod merge;
mod pack;
mod slp;
mod switch;
mod unroll;
mod widen;
mod words;
mod zeros;

use std::fmt::Write;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{Inst, Kernel, Value};

pub(crate) use contract::is_needed as needs_contraction;

use crate::pass::Pass;
use crate::rewrite::RULES;

/// What comes before all others where an op says `contract`, asked for or not: only without the modifier do they keep what a
/// kernel means.
pub(crate) const CONTRACT: Pass = Pass {
    name: "contract",
    description: "makes sums and the products in them one op, where both say `contract`",
    run: contract::run,
};

/// Every pass.
pub const PASSES: &[Pass] = &[
    CONTRACT,
    Pass { name: "fold", description: "computes what depends on constants alone, branches too", run: fold::run },
    Pass {
        name: "canon",
        description: "brings instructions and branches to one form and applies the algebra of `simplify.isle` and `idioms.isle`",
        run: canon::run,
    },
    Pass {
        name: "gvn",
        description: "shares what is computed twice, loads that nothing can have changed, and equal block parameters",
        run: gvn::run,
    },
    Pass {
        name: "dce",
        description: "removes unused instructions, unused block parameters and unreachable blocks",
        run: dce::run,
    },
    Pass { name: "if_convert", description: "makes selects of a branch whose ways do little", run: if_convert::run },
    Pass { name: "licm", description: "computes what is the same in every turn of a loop before it", run: licm::run },
    Pass {
        name: "unroll",
        description: "writes down loops turn by turn that take a few turns, as many as constants say",
        run: unroll::run,
    },
    Pass { name: "merge", description: "joins a block to the only one that goes to it", run: merge::run },
    Pass {
        name: "pack",
        description: "makes a kernel one of several work items that share vectors, on targets where they do",
        run: pack::run,
    },
    Pass {
        name: "slp",
        description: "makes what is done alike to neighbouring scalars an op on the lanes of a word",
        run: slp::run,
    },
    Pass {
        name: "widen",
        description: "makes neighbouring loads one, and neighbouring stores, where parts of a wide register cost nothing",
        run: widen::run,
    },
    Pass {
        name: "legalise",
        description: "makes ops that the target lacks out of those it has, by the rules of `expand.isle`",
        run: legalise::run,
    },
];

/// Gives an instruction the operands that stand for its own now.
fn resolve(kernel: &mut Kernel, inst: Inst, replaced: &SecondaryMap<Value, PackedOption<Value>>) {
    let mut args = kernel.insts[inst].args;
    for arg in args.as_mut_slice(&mut kernel.pool) {
        while let Some(next) = replaced[*arg].expand() {
            *arg = next;
        }
    }
}

/// The reference of passes and rules, `docs/passes.md`.
pub fn documentation() -> String {
    let mut out = String::from(
        "# Passes\n\n\
         Generated from the table of passes and the rule books of `lower/`. `--passes` takes these names in any order; the\n\
         order the compiler uses is in `halfbyte/src/pipeline.rs`. `fold` and `canon` may bring back what `legalise` has expanded, so they\n\
         come before it; after it there is something for `gvn` and `dce`. `pack` comes before it too, for what is done item by\n\
         item may need expanding. `contract` runs before all others in any case, named or not, where an op says `contract`:\n\
         they keep what a kernel means only where none does. `slp` and `widen` come after all that moves, copies or removes accesses.\n\
         Branches around loads and stores are none of `if_convert`: selection guards such instructions of HALU instead\n\
         (`isel/src/halu/predicate.rs`).\n\n\
         | pass | what it does |\n|---|---|\n",
    );
    for pass in PASSES {
        let _ = writeln!(out, "| `{}` | {} |", pass.name, pass.description);
    }
    for (term, title, lead) in [
        (
            "simplify",
            "Algebra",
            "What `canon` replaces an instruction by, always. Every rule holds bit for bit of all inputs.",
        ),
        ("expand", "Expansions", "What `legalise` can make of an op that the target lacks."),
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
