//! Data model of rewrite rules and selection rules. Build scripts generate tables of [`Rule`] from ISLE files.

mod walk;

use crate::op::Op;

pub use walk::{Datum, Found, MatchExtent, MatchFailure, Vocabulary, Walk, walk};

/// A rewrite rule or selection rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Name of the rule.
    pub name: &'static str,
    /// ISLE term that the rule defines, such as `simplify` or `lower`.
    pub term: &'static str,
    /// Source file, as a path in the repository.
    pub file: &'static str,
    /// Line in the source file.
    pub line: u32,
    /// Priority. If several rules match, the rule with the highest priority is applied.
    pub priority: i64,
    /// Source text of the rule's pattern.
    pub pattern: &'static str,
    /// Patterns, one for each operand of the term.
    pub operands: &'static [Pattern],
    /// Guards of the rule, in the order of evaluation.
    pub guards: &'static [Guard],
    /// Checks: each describes kernels that test the rule ([`witnesses`](crate::witness::witnesses)).
    pub checks: &'static [&'static str],
}

impl Rule {
    /// Returns the name of the rule's source file without its directories.
    pub fn file_name(&self) -> &'static str {
        self.file.rsplit('/').next().unwrap_or(self.file)
    }

    /// Returns `true` if the rule's pattern contains the term of an op.
    pub fn looks_for(&self, op: Op) -> bool {
        self.operands.iter().any(|pattern| pattern.parts().iter().any(|part| part.names(op)))
    }
}

/// A pattern of a rule. Terms and literals are numbers, which a [`Vocabulary`] interprets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Source text of the pattern.
    pub text: &'static str,
    /// Line in the source file of the rule.
    pub line: u32,
    /// Kind of pattern.
    pub kind: PatternKind,
}

impl Pattern {
    /// Returns the direct subpatterns of the pattern.
    fn parts(&self) -> &[Pattern] {
        match self.kind {
            PatternKind::Bind(_, within) | PatternKind::Convert(_, within) => within.parts(),
            PatternKind::Extract(_, parts) | PatternKind::Template(_, parts) | PatternKind::All(parts) => parts,
            PatternKind::Any | PatternKind::Same(_) | PatternKind::Literal(_) | PatternKind::Operand(_) => &[],
        }
    }

    /// Returns `true` if the pattern or a subpattern is the term of an op.
    fn names(&self, op: Op) -> bool {
        let is_term = || {
            let term = self.unbound().text.strip_prefix('(').and_then(|text| text.strip_prefix(op.row().ident));
            // Some ops have several terms, which differ in a suffix: `Concat2`, `LoadIndexed`, `BarrierId`.
            let forms = ["", "Indexed", "IdCount", "Id", "2", "4"];
            let is_end = |rest: &str| rest.starts_with([' ', ')']);
            term.is_some_and(|rest| forms.iter().any(|form| rest.strip_prefix(form).is_some_and(is_end)))
        };
        is_term() || self.parts().iter().any(|part| part.names(op))
    }

    /// Returns the pattern without its enclosing variable bindings.
    fn unbound(&self) -> &Pattern {
        match self.kind {
            PatternKind::Bind(_, within) if within.kind != PatternKind::Any => within.unbound(),
            _ => self,
        }
    }
}

/// Kind of pattern, which determines the data that it matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PatternKind {
    /// Matches anything.
    Any,
    /// Matches the subpattern, and binds the variable with this number.
    Bind(u8, &'static Pattern),
    /// Matches data that equal the data to which the variable with this number is bound.
    Same(u8),
    /// Matches the literal with this number.
    Literal(u16),
    /// Matches if the extractor of the term with this number succeeds and the extracted parts match the subpatterns.
    Extract(u16, &'static [Pattern]),
    /// Matches the subpattern after an implicit conversion: for example, a value is converted to
    /// its defining instruction.
    Convert(u16, &'static Pattern),
    /// Matches the first pattern, with each [`PatternKind::Operand`] in it replaced by one of the other patterns.
    Template(&'static Pattern, &'static [Pattern]),
    /// Placeholder in a template for the operand with this number.
    Operand(u8),
    /// Matches if all subpatterns match.
    All(&'static [Pattern]),
}

/// A guard of a rule: the expression must have a value that matches the pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// Source text of the guard, shortened where possible: `(fits_16 a)`, `$I1 = (type_of c)`.
    pub text: &'static str,
    /// Line in the source file of the rule.
    pub line: u32,
    /// Expression that the guard evaluates.
    pub value: Expr,
    /// Pattern that the value must match.
    pub pattern: Pattern,
}

/// An expression in a guard of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expr {
    /// Variable of the rule: its number and its name.
    Variable(u8, &'static str),
    /// Literal with this number.
    Literal(u16),
    /// Result of the constructor whose term has this number, for the given operands.
    Construct(u16, &'static [Expr]),
}
