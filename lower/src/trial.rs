//! Application of single rules to the witness kernels of their checks, for the proofs of the rules. The module also has
//! entry points for tests of private functions.

use halfbyte_ir::{Inst, Kernel, Legality, Op, Rule, Type};

use crate::manager::LowerError;
use crate::pass::Context;
use crate::passes::{CANON, LEGALISE};
use crate::pipeline::Pipeline;
use crate::rewrite::{RULES, Rewriter, RuleBook};

/// Error of applying a rule to a witness kernel.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// No rule of [`rules`] has this number.
    #[error("rule {0} cannot be applied on its own")]
    NoRule(usize),
    /// The pass did not apply the rule to this kernel.
    #[error("the rule does not fire; the result is\n{0}")]
    Unused(Box<Kernel>),
    /// The kernel lacks the op that the rule expands.
    #[error("the kernel has no `{0}`")]
    NoRoot(String),
    /// The resulting kernel still contains the op that the rule expands.
    #[error("the expansion contains the op that it expands:\n{0}")]
    Left(Box<Kernel>),
    /// Lowering failed.
    #[error(transparent)]
    Broken(#[from] LowerError),
}

/// Returns a target that has every op on every type, except those for which `lacks` returns `true`.
pub fn target(lacks: impl Fn(Op, Type) -> bool) -> Legality {
    let all = Op::ALL.iter().flat_map(|&op| Type::ALL.iter().map(move |&ty| (op, ty)));
    let takes = |op: Op, ty| op.row().types.is_none_or(|set| set.contains(ty));
    Legality::new("test", all.filter(|&(op, ty)| takes(op, ty) && !lacks(op, ty)), |_, _| None)
}

/// Returns the built-in rules of `simplify` and `expand`, with their numbers in [`RULES`]. All
/// other rules are helpers of these rules.
pub fn rules() -> impl Iterator<Item = (usize, &'static Rule)> {
    rewriting(RULES)
}

/// Returns the rules of `simplify` and `expand` in a book, with their numbers in [`RuleBook::rules`].
pub fn rules_of(book: &'static dyn RuleBook) -> impl Iterator<Item = (usize, &'static Rule)> {
    rewriting(book.rules())
}

fn rewriting(rules: &'static [Rule]) -> impl Iterator<Item = (usize, &'static Rule)> {
    rules.iter().enumerate().filter(|(_, rule)| matches!(rule.term, "simplify" | "expand"))
}

/// Applies a rule of [`RULES`] to a witness kernel by the pass that uses the rule. `canon` applies a rule of
/// `simplify`. `legalise` applies a rule of `expand` as the only expansion, on a target that lacks only the expanded
/// op.
///
/// # Errors
/// The pass does not apply the rule, the resulting kernel is ill-formed, or an expanded op is still there.
pub fn apply(rule: usize, kernel: &mut Kernel) -> Result<(), TrialError> {
    apply_by(None, rule, kernel)
}

/// Applies a rule of an additional book, given by its number in [`RuleBook::rules`].
///
/// # Errors
/// Returns the errors of [`apply`].
pub fn apply_of(book: &'static dyn RuleBook, rule: usize, kernel: &mut Kernel) -> Result<(), TrialError> {
    apply_by(Some(book), RULES.len() + rule, kernel)
}

fn apply_by(book: Option<&'static dyn RuleBook>, rule: usize, kernel: &mut Kernel) -> Result<(), TrialError> {
    let alone = |pass| book.into_iter().fold(Pipeline::from(pass), Pipeline::with_rules);
    let (canon, legalise) = (alone(&CANON), alone(&LEGALISE));
    let row = u32::try_from(rule).ok().and_then(|number| canon.rule(number)).ok_or(TrialError::NoRule(rule))?;
    match row.term {
        "simplify" => return rewrite(rule, kernel, &canon, Context::new(&target(|_, _| false))),
        "expand" => {}
        _ => return Err(TrialError::NoRule(rule)),
    }
    let op = row.pattern.trim_start_matches(|c| c != '(').trim_start_matches('(');
    let op = op.split([' ', ')']).next().unwrap_or_default();
    // The name of an ISLE term may end in the number of its operands, but so may the name of an op.
    let is_op = Op::ALL.iter().any(|known| known.row().ident == op);
    let op = if is_op { op } else { op.trim_end_matches(['2', '4']) };
    // The op under test is the last instruction with this op, except for the instructions that the
    // witness kernel adds before and after the check.
    let of_check = |inst: Inst| {
        let name = kernel.result(inst).and_then(|value| kernel.value_name(value)).unwrap_or("");
        kernel.insts[inst].op.row().ident == op && !name.ends_with("_out") && !name.ends_with("_zero")
    };
    let root = insts(kernel).filter(|&inst| of_check(inst)).last().map(|inst| form(kernel, inst));
    let root = root.ok_or_else(|| TrialError::NoRoot(op.to_owned()))?;
    // No target converts FP8, so the op stays available for other operand types.
    let is_lacked_anyway = root.2.is_some_and(Type::is_fp8);
    let lacking = target(|op, ty| !is_lacked_anyway && (op, ty) == (root.0, root.1));
    rewrite(rule, kernel, &legalise, Context::new(&lacking).with_only_expansion(rule))?;
    let is_left = |inst| form(kernel, inst) == root;
    if insts(kernel).any(is_left) { Err(TrialError::Left(Box::new(kernel.clone()))) } else { Ok(()) }
}

/// Returns the op and the type of an instruction, and the operand type if the instruction is a conversion.
fn form(kernel: &Kernel, inst: Inst) -> (Op, Type, Option<Type>) {
    let data = &kernel.insts[inst];
    let converted = kernel.args(inst).first().filter(|_| data.op.row().convert.is_some());
    (data.op, data.ty, converted.map(|&arg| kernel.ty(arg)))
}

fn insts(kernel: &Kernel) -> impl Iterator<Item = Inst> {
    kernel.layout.iter().flat_map(|&block| kernel.blocks[block].insts.iter().copied())
}

fn rewrite(rule: usize, kernel: &mut Kernel, pipeline: &Pipeline, mut context: Context<'_>) -> Result<(), TrialError> {
    context.verify = true;
    pipeline.run(kernel, &mut context, &mut ())?;
    let fired = context.fired().get(rule).is_some_and(|&count| count > 0);
    if fired { Ok(()) } else { Err(TrialError::Unused(Box::new(kernel.clone()))) }
}

// Entry points for the tests of this crate.

/// Returns the rules of `simplify` that match an instruction completely according to the interpreter of rules, with
/// their numbers in [`RULES`]. The test `tests/trace.rs` compares them with [`applied_rule`].
pub fn matching_rules(kernel: &mut Kernel, inst: Inst) -> Vec<(u32, &'static Rule)> {
    let walks = Rewriter::new(kernel, &[]).walk_simplify(inst);
    walks.into_iter().filter(|(.., walk)| walk.miss.is_none()).map(|(number, rule, _)| (number, rule)).collect()
}

/// Returns the number of the rule of `simplify` that the compiled rules apply to an instruction, if
/// any. The test `tests/trace.rs` compares it with [`matching_rules`].
pub fn applied_rule(kernel: &mut Kernel, inst: Inst) -> Option<u32> {
    let mut rewriter = Rewriter::new(kernel, &[]);
    rewriter.simplify(inst).and_then(|_| rewriter.fired().first().copied())
}
