//! Step-by-step matching of a rule, to report the pattern or guard that fails. A [`Vocabulary`]
//! provides the meaning of the terms.

use std::fmt::Write;

use halfbyte_abi::Type;

use super::{Expr, Guard, Pattern, PatternKind, Rule};
use crate::attr::{FlagKind, FloatCC, FloatFlags, IntCC, MemAttr};
use crate::kernel::{Inst, Kernel, Value, ValueDef};
use crate::text::print_inst;

/// Interpretation of the terms and literals of a set of rules, by their numbers.
pub trait Vocabulary {
    /// Type of the data that the rules match.
    type Datum: Datum;

    /// Applies the extractor of a term. Returns the extracted parts, or `None` if the extractor does not match.
    fn extract(&mut self, term: u16, from: &Self::Datum) -> Option<Vec<Self::Datum>>;

    /// Applies the constructor of a term to operands. Returns `None` if the constructor fails.
    fn construct(&mut self, term: u16, operands: &[Self::Datum]) -> Option<Self::Datum>;

    /// Returns the literal with a number.
    fn literal(&self, number: u16) -> Self::Datum;
}

/// A datum that rules match: a value, an instruction, a type, a number, or other data of the rules.
pub trait Datum: Clone {
    /// Returns `true` if two data are equal. May return `false` for data that rules never compare.
    fn same(&self, other: &Self) -> bool;

    /// Returns the description of the datum for messages.
    fn found(&self) -> Found;
}

/// Datum that a pattern was matched against, for messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// A value.
    Value(Value),
    /// An instruction.
    Inst(Inst),
    /// Any other datum as text; empty if there is no text for it.
    Text(String),
}

/// Extent to which a rule matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchExtent {
    /// Not even the op matches.
    Nothing,
    /// The op matches, but its controlling type does not.
    Op,
    /// The op and its controlling type match, but another part of the pattern does not.
    Part,
    /// The whole pattern matches, but a guard does not.
    Pattern,
}

/// The pattern or guard at which a rule fails to match.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MatchFailure {
    /// Source text of the failed pattern or guard.
    pub wanted: &'static str,
    /// Line of the failed pattern or guard in the rule's source file.
    pub line: u32,
    /// Extent to which the rule matches.
    pub depth: MatchExtent,
    /// Data involved in the failure, with variable names. For a pattern, this is the datum that did
    /// not match, and for [`PatternKind::Same`] also the earlier datum. For a guard without a
    /// value, these are the variables that the guard depends on.
    pub found: Vec<(&'static str, Found)>,
}

/// Result of matching a rule step by step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Walk {
    /// Values whose definitions the pattern has matched.
    pub through: Vec<Value>,
    /// Failed pattern or guard, if the rule does not match.
    pub miss: Option<MatchFailure>,
}

/// Matches the patterns of a rule and then its guards, in source order, up to the first failure.
pub fn walk<V: Vocabulary>(vocabulary: &mut V, rule: &Rule, operands: &[V::Datum]) -> Walk {
    let mut walker = Walker { vocabulary, variables: Vec::new(), through: Vec::new() };
    let miss = walker.rule(rule, operands).err();
    Walk { through: walker.through, miss }
}

struct Walker<'v, V: Vocabulary> {
    vocabulary: &'v mut V,
    variables: Vec<Option<V::Datum>>,
    through: Vec<Value>,
}

/// Frame of a template expansion: the use of the template, the datum it is matched against, its
/// operands, and the enclosing frame, in which the operands are matched.
struct Frame<'f, D> {
    site: &'f Pattern,
    met: &'f D,
    operands: &'f [Pattern],
    outer: Option<&'f Frame<'f, D>>,
}

impl<V: Vocabulary> Walker<'_, V> {
    fn rule(&mut self, rule: &Rule, operands: &[V::Datum]) -> Result<(), MatchFailure> {
        for (pattern, met) in rule.operands.iter().zip(operands) {
            let root = pattern.unbound();
            let depth = |miss: &MatchFailure| if miss.wanted == root.text { MatchExtent::Nothing } else { miss.depth };
            self.pattern(pattern, met, None).map_err(|miss| MatchFailure { depth: depth(&miss), ..miss })?;
        }
        rule.guards.iter().try_for_each(|guard| self.guard(guard))
    }

    fn pattern(
        &mut self,
        pattern: &Pattern,
        met: &V::Datum,
        frame: Option<&Frame<'_, V::Datum>>,
    ) -> Result<(), MatchFailure> {
        // A failure inside a template is reported at the use of the template.
        let miss = || match frame {
            Some(frame) => missed(frame.site, frame.met),
            None => missed(pattern, met),
        };
        match pattern.kind {
            PatternKind::Any => Ok(()),
            PatternKind::Bind(number, within) => {
                self.pattern(within, met, frame)?;
                self.bind(number, met.clone());
                Ok(())
            }
            PatternKind::Same(number) => {
                let known = self.variables.get(usize::from(number)).and_then(Option::as_ref);
                if known.is_some_and(|known| known.same(met)) {
                    return Ok(());
                }
                let mut miss = miss();
                miss.found.extend(known.map(|known| (pattern.text, known.found())));
                Err(miss)
            }
            PatternKind::Literal(number) => match self.vocabulary.literal(number).same(met) {
                true => Ok(()),
                false => Err(miss()),
            },
            PatternKind::Extract(term, parts) => {
                let found = self.extract(term, met).ok_or_else(miss)?;
                parts.iter().zip(&found).try_for_each(|(part, found)| self.pattern(part, found, frame))
            }
            PatternKind::Convert(term, within) => {
                let found = self.extract(term, met).ok_or_else(miss)?;
                found.iter().try_for_each(|found| self.pattern(within, found, frame))
            }
            PatternKind::Template(template, operands) => {
                let inner = Frame { site: pattern, met, operands, outer: frame };
                self.pattern(template, met, Some(&inner))
            }
            PatternKind::Operand(number) => {
                let operand = frame.and_then(|frame| Some((frame.operands.get(usize::from(number))?, frame.outer)));
                let outcome = operand.map_or(Ok(()), |(operand, outer)| self.pattern(operand, met, outer));
                // Operand 0 of an op's term is the type of the op. The pattern is still in the term
                // of the rule's outermost op if it has matched no definition of a value.
                let is_type = number == 0 && self.through.is_empty();
                outcome
                    .map_err(|miss| MatchFailure { depth: if is_type { MatchExtent::Op } else { miss.depth }, ..miss })
            }
            PatternKind::All(all) => all.iter().try_for_each(|pattern| self.pattern(pattern, met, frame)),
        }
    }

    fn extract(&mut self, term: u16, met: &V::Datum) -> Option<Vec<V::Datum>> {
        let parts = self.vocabulary.extract(term, met)?;
        if let Found::Value(value) = met.found()
            && !self.through.contains(&value)
        {
            self.through.push(value);
        }
        Some(parts)
    }

    fn bind(&mut self, number: u8, met: V::Datum) {
        let number = usize::from(number);
        if self.variables.len() <= number {
            self.variables.resize_with(number + 1, || None);
        }
        if let Some(variable) = self.variables.get_mut(number) {
            *variable = Some(met);
        }
    }

    fn guard(&mut self, guard: &Guard) -> Result<(), MatchFailure> {
        let Some(value) = self.value(&guard.value) else {
            let mut found = Vec::new();
            self.depends(&guard.value, &mut found);
            return Err(MatchFailure { wanted: guard.text, line: guard.line, depth: MatchExtent::Pattern, found });
        };
        let outcome = self.pattern(&guard.pattern, &value, None);
        outcome.map_err(|miss| MatchFailure {
            wanted: guard.text,
            line: guard.line,
            depth: MatchExtent::Pattern,
            ..miss
        })
    }

    fn value(&mut self, expr: &Expr) -> Option<V::Datum> {
        match *expr {
            Expr::Variable(number, _) => self.variables.get(usize::from(number))?.clone(),
            Expr::Literal(number) => Some(self.vocabulary.literal(number)),
            Expr::Construct(term, operands) => {
                let operands: Vec<V::Datum> =
                    operands.iter().map(|operand| self.value(operand)).collect::<Option<_>>()?;
                self.vocabulary.construct(term, &operands)
            }
        }
    }

    /// Collects the variables of an expression that can be described in messages.
    fn depends(&self, expr: &Expr, found: &mut Vec<(&'static str, Found)>) {
        match *expr {
            Expr::Variable(number, name) => {
                let known = self.variables.get(usize::from(number)).and_then(Option::as_ref).map(Datum::found);
                found.extend(known.filter(|known| *known != Found::Text(String::new())).map(|known| (name, known)));
            }
            Expr::Literal(_) => {}
            Expr::Construct(_, operands) => operands.iter().for_each(|operand| self.depends(operand, found)),
        }
    }
}

fn missed<D: Datum>(pattern: &Pattern, met: &D) -> MatchFailure {
    MatchFailure { wanted: pattern.text, line: pattern.line, depth: MatchExtent::Part, found: vec![("", met.found())] }
}

impl MatchFailure {
    /// Returns a description of the data at which the match failed, with the names of the kernel.
    pub fn found_text(&self, kernel: &Kernel) -> String {
        let mut text = String::new();
        let is_compared = self.depth != MatchExtent::Pattern && self.found.len() > 1;
        for (name, found) in &self.found {
            let found = found.text(kernel);
            // Writing to a string cannot fail.
            let _ = match (text.is_empty(), name.is_empty()) {
                (true, true) => write!(text, "{found}"),
                (true, false) => write!(text, "{name} = {found}"),
                (false, _) if is_compared => write!(text, " where {name} = {found}"),
                (false, _) => write!(text, ", {name} = {found}"),
            };
        }
        text
    }
}

impl Found {
    /// Returns the definition of a value or instruction as text, or the text of other data.
    pub fn text(&self, kernel: &Kernel) -> String {
        match self {
            Found::Text(text) => text.clone(),
            Found::Inst(inst) => format!("`{}`", print_inst(kernel, *inst)),
            Found::Value(value) => {
                let name = || kernel.value_name(*value).unwrap_or("?");
                match kernel.values.get(*value).map(|data| (data.def, data.ty)) {
                    Some((ValueDef::Result(inst), _)) => format!("`{}`", print_inst(kernel, inst)),
                    Some((ValueDef::Param(_), ty)) => format!("the parameter `%{}: {ty}`", name()),
                    Some((ValueDef::Array(_), _)) => format!("the array `%{}`", name()),
                    Some((ValueDef::BlockParam(..), ty)) => format!("the block parameter `%{}: {ty}`", name()),
                    None => String::new(),
                }
            }
        }
    }
}

macro_rules! shown {
    ($($ty:ty: |$x:ident| $text:expr;)*) => {
        $(impl From<$ty> for Found {
            fn from($x: $ty) -> Found {
                Found::Text($text)
            }
        })*
    };
}

shown! {
    Type: |ty| ty.to_string();
    bool: |truth| truth.to_string();
    u8: |number| number.to_string();
    u16: |number| number.to_string();
    u32: |number| number.to_string();
    i8: |number| number.to_string();
    i64: |number| number.to_string();
    IntCC: |cc| cc.to_string();
    (FloatCC, bool): |cond| format!("{}{}", cond.0, if cond.1 { ".ftz" } else { "" });
    FloatFlags: |flags| {
        let words: Vec<&str> = FlagKind::ALL.into_iter().filter_map(|kind| flags.word(kind)).collect();
        if words.is_empty() { "no modifiers".to_string() } else { format!(".{}", words.join(".")) }
    };
    MemAttr: |mem| {
        let wide = if mem.wide { ", wide" } else { "" };
        format!("step {}, offset {}, align {}{wide}", mem.scale, mem.offset, mem.align)
    };
}

impl From<Value> for Found {
    fn from(value: Value) -> Found {
        Found::Value(value)
    }
}

impl From<Inst> for Found {
    fn from(inst: Inst) -> Found {
        Found::Inst(inst)
    }
}
