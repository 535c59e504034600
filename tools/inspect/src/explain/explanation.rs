//! The data of an explanation of an op.

use halfbyte_abi::Target;
use halfbyte_ir::rule::MatchExtent;
use halfbyte_ir::{ConvergenceScope, Rule};

/// The explanation of an op: the effects of the passes and of selection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The text of the op.
    pub op: String,
    /// The file name. For an op, its line and column follow.
    pub place: String,
    /// The kernel's name, without `@`.
    pub kernel: String,
    /// The target for which the kernel is compiled.
    pub target: Target,
    /// The group of items that synchronise at the op, if it is a collective operation.
    pub collective: Option<ConvergenceScope>,
    /// The changes of the op by the passes, in order.
    pub history: Vec<Change>,
    /// The instructions that replace the op after the passes.
    pub parts: Vec<ReplacementInst>,
    /// The rules that nearly match. Rules that could select the op come first, then the rules for
    /// its users, then the rules of the passes.
    pub near: Vec<NearMiss>,
    /// The reasons why the target refuses the op or its kernel.
    pub refused: Vec<String>,
}

/// A change of an op by a pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The name of the pass.
    pub pass: String,
    /// The description of the change, such as `rewritten by`.
    pub how: String,
    /// The rule that was applied, if any.
    pub rule: Option<RuleAt>,
    /// Further notes: the rules that were applied to the result of the rule, and the costs of alternative rules.
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
    /// The path of the rule's file in the repository.
    pub file: &'static str,
    /// The line in the file.
    pub line: u32,
    /// The priority of the rule among the rules of its term.
    pub priority: i64,
    /// The pattern that the rule matches.
    pub pattern: &'static str,
}

/// An instruction that replaces the op after the passes, or the op itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplacementInst {
    /// The text of the instruction.
    pub text: String,
    /// The outcome of selection for the instruction.
    pub outcome: Outcome,
    /// The machine code of the instruction, one entry for each instruction word.
    pub words: Vec<Word>,
}

/// An instruction word of machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// The address of the instruction word in the kernel, counted in instruction words.
    pub address: usize,
    /// The instruction word in hexadecimal, as in listings.
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
        /// The rules that were applied to the operands, each with the operand's name.
        operands: Vec<(RuleAt, String)>,
    },
    /// The instruction needs no rule, because it is a terminator or names an instruction of the target.
    Native {
        /// The rules that were applied to the operands, each with the operand's name.
        operands: Vec<(RuleAt, String)>,
    },
    /// The instruction is merged into its users.
    Merged(Vec<Merged>),
    /// The result of the instruction is unused.
    Unneeded,
    /// No rule matches the instruction.
    Refused,
}

/// A user into which an instruction is merged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merged {
    /// The text of the user.
    pub into: String,
    /// The rule that merged the instruction, if known.
    pub rule: Option<RuleAt>,
}

/// A rule that nearly matches: a part of its pattern matches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearMiss {
    /// The rule.
    pub rule: RuleAt,
    /// The phase of the compiler that tried the rule: selection, or the name of a pass.
    pub by: &'static str,
    /// The instruction on which the rule was tried, unless it is the op itself.
    pub of: Option<String>,
    /// The part of the rule that failed. `None` means that the rule matches, but a rule of a higher
    /// priority was applied.
    pub miss: Option<Missed>,
}

/// The first pattern or guard of a rule that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missed {
    /// The text of the pattern or guard.
    pub wanted: &'static str,
    /// The line of the pattern or guard in the rule's file.
    pub line: u32,
    /// The text of the op or value that was found instead.
    pub found: String,
    /// The part of the rule that matched.
    pub depth: MatchExtent,
}

impl NearMiss {
    /// Returns `true` if the near miss says something about this op. A rule that only fails because
    /// it is for another type does not.
    pub(crate) fn is_relevant(&self) -> bool {
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
