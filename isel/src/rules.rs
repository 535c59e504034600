//! The table of selection rules, made from the rule files themselves.

use halfbyte_isa::target::Target;

/// A selection rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name, unique in its target.
    pub name: &'static str,
    /// The term it defines: `lower` for ops, others for operands and sequences.
    pub term: &'static str,
    /// Its file.
    pub file: &'static str,
    /// Its line there, from 1.
    pub line: u32,
    /// The pattern it matches.
    pub pattern: &'static str,
    /// Its further conditions, in order.
    pub guards: &'static [&'static str],
    /// The kernels that prove it: see `halfbyte_ir::witness`.
    pub checks: &'static [&'static str],
}

mod halu {
    use super::Rule;
    use halfbyte_ir::{Op, Type};
    include!(concat!(env!("OUT_DIR"), "/halu_rules.rs"));
}

pub(crate) use halu::NATIVE as HALU_NATIVE;

/// The rules of a target, by the number they leave in [`crate::Selected::fired`].
pub fn rules(target: Target) -> &'static [Rule] {
    match target {
        Target::Halu => halu::RULES,
        Target::Vp1 | Target::Ptx { .. } => &[],
    }
}
