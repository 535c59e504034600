//! The data of an explanation.

use halfbyte_abi::Target;
use halfbyte_ir::rule::MatchExtent;
use halfbyte_ir::{ConvergenceScope, Rule};

/// The explanation of an op: the effects of the passes and of selection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The text of the op.
    pub op: String,
    /// The file, and for an op its line and column.
    pub place: String,
    /// The kernel's name, without `@`.
    pub kernel: String,
    /// The target that the kernel is compiled for.
    pub target: Target,
    /// The group of items that synchronise at the op, if it is a collective operation.
    pub collective: Option<ConvergenceScope>,
    /// The changes by passes, in order.
    pub history: Vec<Change>,
    /// The instructions that replace the op after the passes.
    pub parts: Vec<ReplacementInst>,
    /// The rules that match in part: those that could select the op, then those for its users, then
    /// those of the passes.
    pub near: Vec<NearMiss>,
    /// The reasons why the target refuses the op or its kernel.
    pub refused: Vec<String>,
}

/// A change by a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The name of the pass.
    pub pass: String,
    /// The description of the change.
    pub how: String,
    /// The rule that was applied, if any.
    pub rule: Option<RuleAt>,
    /// Notes: the rules applied to the rule's result, and the costs of the alternatives.
    pub notes: Vec<String>,
    /// The instructions before the change.
    pub before: Vec<String>,
    /// The instructions after the change.
    pub after: Vec<String>,
}

/// A rule with its definition site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleAt {
    /// The rule's name.
    pub name: &'static str,
    /// The file, as a path in the repository.
    pub file: &'static str,
    /// The line in the file.
    pub line: u32,
    /// The priority among the rules of its term.
    pub priority: i64,
    /// The pattern that the rule matches.
    pub pattern: &'static str,
}

/// An instruction that replaces the op after the passes, or the op itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplacementInst {
    /// The text of the instruction.
    pub text: String,
    /// The outcome of selection.
    pub outcome: Outcome,
    /// The machine code of the instruction.
    pub words: Vec<Word>,
}

/// An instruction word of machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// The word's address in the kernel.
    pub address: usize,
    /// The hexadecimal digits, as in listings.
    pub digits: String,
    /// The assembly text.
    pub text: String,
}

/// The outcome of selection for an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A rule selected the instruction.
    Selected {
        /// The rule.
        rule: RuleAt,
        /// The rules for its operands, each with the operand.
        operands: Vec<(RuleAt, String)>,
    },
    /// The instruction needs no rule: it is an instruction of the target already, or a terminator.
    Native {
        /// The rules for its operands, each with the operand.
        operands: Vec<(RuleAt, String)>,
    },
    /// The instruction is merged into its users.
    Merged(Vec<Merged>),
    /// The result of the instruction is unused.
    Unneeded,
    /// No rule matches the instruction.
    Refused,
}

/// A user that an instruction is merged into.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merged {
    /// The text of the user.
    pub into: String,
    /// The rule that merged the instruction, if known.
    pub rule: Option<RuleAt>,
}

/// A rule that matches in part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearMiss {
    /// The rule.
    pub rule: RuleAt,
    /// The phase that tried the rule: selection, or a pass.
    pub by: &'static str,
    /// The instruction that the rule was tried on, if it is not the op itself.
    pub of: Option<String>,
    /// The mismatch, or `None` if the rule matches but a rule of a higher priority was applied.
    pub miss: Option<Missed>,
}

/// The first pattern or guard that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missed {
    /// The text of the pattern or guard.
    pub wanted: &'static str,
    /// The line in the rule's file.
    pub line: u32,
    /// The text that was found instead.
    pub found: String,
    /// The depth of the match.
    pub depth: MatchExtent,
}

impl NearMiss {
    /// Returns `true` if the near miss is about this op, and not just a rule for another type.
    pub(crate) fn is_telling(&self) -> bool {
        match self.miss.as_ref().map(|miss| miss.depth) {
            None => !self.rule.takes_anything(),
            Some(depth) => matches!(depth, MatchExtent::Part | MatchExtent::Pattern),
        }
    }
}

impl RuleAt {
    pub(super) fn new(rule: &Rule) -> RuleAt {
        let &Rule { name, file, line, priority, pattern, .. } = rule;
        RuleAt { name, file, line, priority, pattern }
    }

    /// Returns `true` if the rule's pattern is a bare variable, which matches any value.
    pub(crate) fn takes_anything(&self) -> bool {
        !self.pattern.contains(['(', ' '])
    }
}
