//! What a rule table says of a rule. The build scripts of the crates with rules write tables of these.

mod walk;

use crate::op::Op;

pub use walk::{Datum, Depth, Found, Miss, Vocabulary, Walk, walk};

/// A rule of a rule book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Its name.
    pub name: &'static str,
    /// The term it is a rule of: `simplify`, `lower`.
    pub term: &'static str,
    /// The file it stands in, as a path in the repository.
    pub file: &'static str,
    /// Its line there.
    pub line: u32,
    /// Of several rules that match, the one of the highest priority is taken.
    pub priority: i64,
    /// What it matches, as it is written.
    pub pattern: &'static str,
    /// The same as data: a pattern for each operand of the term.
    pub operands: &'static [Pattern],
    /// Its conditions beside the pattern, in the order they are asked.
    pub guards: &'static [Guard],
    /// The kernels that it is checked with ([`witnesses`](crate::witness::witnesses)).
    pub checks: &'static [&'static str],
}

impl Rule {
    /// The name of its file, without the folders.
    pub fn file_name(&self) -> &'static str {
        self.file.rsplit('/').next().unwrap_or(self.file)
    }

    /// Whether an operand of what it matches must be made by this op.
    pub fn looks_for(&self, op: Op) -> bool {
        self.operands.iter().any(|pattern| pattern.parts().iter().any(|part| part.names(op)))
    }
}

/// A pattern. Terms and literals are numbers that mean something to the rule book's [`Vocabulary`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// As it is written.
    pub text: &'static str,
    /// Its line in the rule's file.
    pub line: u32,
    /// What it asks.
    pub kind: PatternKind,
}

impl Pattern {
    /// The patterns within.
    fn parts(&self) -> &[Pattern] {
        match self.kind {
            PatternKind::Bind(_, within) | PatternKind::Convert(_, within) => within.parts(),
            PatternKind::Extract(_, parts) | PatternKind::Template(_, parts) | PatternKind::All(parts) => parts,
            PatternKind::Any | PatternKind::Same(_) | PatternKind::Literal(_) | PatternKind::Operand(_) => &[],
        }
    }

    /// Whether it, or a pattern within, is the term of an op.
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

    /// The pattern without the variables that it is bound to.
    fn unbound(&self) -> &Pattern {
        match self.kind {
            PatternKind::Bind(_, within) if within.kind != PatternKind::Any => within.unbound(),
            _ => self,
        }
    }
}

/// What a pattern asks of what it meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PatternKind {
    /// Nothing.
    Any,
    /// What the pattern within asks; the variable of that number is what was met.
    Bind(u8, &'static Pattern),
    /// To be what the variable of that number is.
    Same(u8),
    /// To be the literal of that number.
    Literal(u16),
    /// That the term can be taken from it, with parts that match.
    Extract(u16, &'static [Pattern]),
    /// The same of a term that is not written: a value stands for the instruction that defines it.
    Convert(u16, &'static Pattern),
    /// What the first pattern asks, in which [`PatternKind::Operand`] stands for one of the others.
    Template(&'static Pattern, &'static [Pattern]),
    /// In a template: what the operand of that number asks.
    Operand(u8),
    /// All of them.
    All(&'static [Pattern]),
}

/// A condition of a rule: the expression has a value, and that matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// As it is written, as far as it is needed: `(fits_16 a)`, `$I1 = (type_of c)`.
    pub text: &'static str,
    /// Its line in the rule's file.
    pub line: u32,
    /// What is computed.
    pub value: Expr,
    /// What that must be.
    pub pattern: Pattern,
}

/// An expression of a guard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expr {
    /// The variable of that number, by its name.
    Variable(u8, &'static str),
    /// The literal of that number.
    Literal(u16),
    /// What the term of that number makes of its operands.
    Construct(u16, &'static [Expr]),
}
