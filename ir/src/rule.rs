//! Data model of rewrite and selection rules. The build scripts of the crates with rules generate
//! tables of [`Rule`].

mod walk;

use crate::op::Op;

pub use walk::{Datum, Found, MatchExtent, MatchFailure, Vocabulary, Walk, walk};

/// A rule of a rule book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Name of the rule.
    pub name: &'static str,
    /// Term that the rule defines, such as `simplify` or `lower`.
    pub term: &'static str,
    /// Source file, as a path in the repository.
    pub file: &'static str,
    /// Line in the source file.
    pub line: u32,
    /// Priority. If several rules match, the one with the highest priority applies.
    pub priority: i64,
    /// Source text of the pattern.
    pub pattern: &'static str,
    /// Patterns as data, one for each operand of the term.
    pub operands: &'static [Pattern],
    /// Guards, in the order of evaluation.
    pub guards: &'static [Guard],
    /// Checks: specifications of the kernels that test the rule
    /// ([`witnesses`](crate::witness::witnesses)).
    pub checks: &'static [&'static str],
}

impl Rule {
    /// Returns the file name without its directories.
    pub fn file_name(&self) -> &'static str {
        self.file.rsplit('/').next().unwrap_or(self.file)
    }

    /// Returns `true` if the pattern contains the term of an op.
    pub fn looks_for(&self, op: Op) -> bool {
        self.operands.iter().any(|pattern| pattern.parts().iter().any(|part| part.names(op)))
    }
}

/// A pattern. Terms and literals are numbers, which the rule book's [`Vocabulary`] interprets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// Source text.
    pub text: &'static str,
    /// Line in the rule's file.
    pub line: u32,
    /// Kind of pattern.
    pub kind: PatternKind,
}

impl Pattern {
    /// Returns the direct subpatterns.
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
            // Some ops have several terms: `Concat2`, `LoadIndexed`, `BarrierId`.
            let forms = ["", "Indexed", "IdCount", "Id", "2", "4"];
            let is_end = |rest: &str| rest.starts_with([' ', ')']);
            term.is_some_and(|rest| forms.iter().any(|form| rest.strip_prefix(form).is_some_and(is_end)))
        };
        is_term() || self.parts().iter().any(|part| part.names(op))
    }

    /// Returns the pattern without the variable bindings around it.
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
    /// Matches the same datum as the variable with this number.
    Same(u8),
    /// Matches the literal with this number.
    Literal(u16),
    /// Matches if the extractor of the term succeeds and the extracted parts match the subpatterns.
    Extract(u16, &'static [Pattern]),
    /// Matches through an implicit conversion: for example, a value is converted to its defining
    /// instruction.
    Convert(u16, &'static Pattern),
    /// Matches the first pattern, with each [`PatternKind::Operand`] in it replaced by one of the
    /// other patterns.
    Template(&'static Pattern, &'static [Pattern]),
    /// Placeholder in a template for the operand with this number.
    Operand(u8),
    /// Matches if all subpatterns match.
    All(&'static [Pattern]),
}

/// A guard of a rule: the expression must have a value that matches the pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// Source text, shortened where possible: `(fits_16 a)`, `$I1 = (type_of c)`.
    pub text: &'static str,
    /// Line in the rule's file.
    pub line: u32,
    /// Expression to evaluate.
    pub value: Expr,
    /// Pattern that the value must match.
    pub pattern: Pattern,
}

/// An expression of a guard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expr {
    /// Result of a constructor, by the number of its term, for the given operands.
    Variable(u8, &'static str),
    /// Literal, by number.
    Literal(u16),
    /// Result of a constructor, by the number of its term, for the given operands.
    Construct(u16, &'static [Expr]),
}
