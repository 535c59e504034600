//! What an explanation says.

use halfbyte_abi::Target;
use halfbyte_ir::rule::Depth;
use halfbyte_ir::{Party, Rule};

/// What became of an op, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The op as the text has it.
    pub op: String,
    /// Where it stands: the file, and line and column where it is an op.
    pub place: String,
    /// The kernel, without `@`.
    pub kernel: String,
    /// What it was compiled for.
    pub target: Target,
    /// Which items meet at it.
    pub meets: Option<Party>,
    /// What the passes did, in order.
    pub history: Vec<Change>,
    /// What is left of it after the passes.
    pub parts: Vec<Part>,
    /// The rules that match in part: those that select it, then those of what uses it, then those of the passes.
    pub near: Vec<NearMiss>,
    /// Why the target cannot do it, or the kernel it is in.
    pub refused: Vec<String>,
}

/// Something that a pass did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The pass.
    pub pass: String,
    /// How, in words.
    pub how: String,
    /// The rule, where one did it.
    pub rule: Option<RuleAt>,
    /// What else counts: the rules for what that rule made, and what others would have cost.
    pub notes: Vec<String>,
    /// The instructions before.
    pub before: Vec<String>,
    /// And after.
    pub after: Vec<String>,
}

/// A rule and its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleAt {
    /// Its name.
    pub name: &'static str,
    /// Its file, as a path in the repository.
    pub file: &'static str,
    /// Its line there.
    pub line: u32,
    /// Its priority among the rules of its term.
    pub priority: i64,
    /// What it matches.
    pub pattern: &'static str,
}

/// An instruction that the op is, or is made of, after the passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The instruction.
    pub text: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Its words.
    pub words: Vec<Word>,
}

/// A machine word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Word {
    /// Its number in the kernel.
    pub address: usize,
    /// Its digits, as listings have them.
    pub digits: String,
    /// Its assembly.
    pub text: String,
}

/// What became of an instruction in selection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A rule made its words.
    Selected {
        /// The rule.
        rule: RuleAt,
        /// The rules for its operands, each with the operand.
        operands: Vec<(RuleAt, String)>,
    },
    /// It is an instruction of the target as it stands, or ends a block.
    AsItIs {
        /// The rules for its operands, each with the operand.
        operands: Vec<(RuleAt, String)>,
    },
    /// Instructions that use it do it as well.
    Merged(Vec<Merged>),
    /// Nothing needs it.
    Unneeded,
    /// No rule matches.
    Refused,
}

/// Where an instruction went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Merged {
    /// The instruction that does it as well.
    pub into: String,
    /// The rule that looked at it there, where one is known.
    pub rule: Option<RuleAt>,
}

/// A rule that matches in part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearMiss {
    /// The rule.
    pub rule: RuleAt,
    /// What asked it: selection, or a pass.
    pub by: &'static str,
    /// The instruction that it was asked of, if it is not the op itself.
    pub of: Option<String>,
    /// Where it failed; where it did not, a rule of a higher priority was taken.
    pub miss: Option<Missed>,
}

/// The first pattern or guard that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Missed {
    /// As it is written.
    pub wanted: &'static str,
    /// Its line in the rule's file.
    pub line: u32,
    /// What was there instead.
    pub found: String,
    /// How much of the rule matches.
    pub depth: Depth,
}

impl NearMiss {
    /// Whether it says something of the op at hand, and not only that there are rules for other types.
    pub(crate) fn is_telling(&self) -> bool {
        match self.miss.as_ref().map(|miss| miss.depth) {
            None => !self.rule.takes_anything(),
            Some(depth) => matches!(depth, Depth::Part | Depth::Pattern),
        }
    }
}

impl RuleAt {
    pub(super) fn new(rule: &Rule) -> RuleAt {
        let &Rule { name, file, line, priority, pattern, .. } = rule;
        RuleAt { name, file, line, priority, pattern }
    }

    /// Whether it takes any value as it is: the last resort for an operand.
    pub(crate) fn takes_anything(&self) -> bool {
        !self.pattern.contains(['(', ' '])
    }
}
