//! A pattern evaluated step by step, to say where it fails. What terms mean is asked of the rule book that selection uses.

use std::fmt::Write;

use halfbyte_abi::Type;

use super::{Expr, Guard, Pattern, PatternKind, Rule};
use crate::attr::{FlagKind, FloatCC, FloatFlags, IntCC, MemAttr};
use crate::kernel::{Inst, Kernel, Value, ValueDef};
use crate::text::print_inst;

/// The terms and literals of a rule book, by the numbers that its table gives them.
pub trait Vocabulary {
    /// What rules pass about.
    type Datum: Datum;

    /// The parts that an extractor takes from something; none where it does not match.
    fn extract(&mut self, term: u16, from: &Self::Datum) -> Option<Vec<Self::Datum>>;

    /// What a constructor makes of its operands; none where it has no value for them.
    fn construct(&mut self, term: u16, operands: &[Self::Datum]) -> Option<Self::Datum>;

    /// A literal.
    fn literal(&self, number: u16) -> Self::Datum;
}

/// What rules pass about: a value, an instruction, a type, a number, or something of the rule book's own.
pub trait Datum: Clone {
    /// Whether two are the same; not where rules never compare such.
    fn same(&self, other: &Self) -> bool;

    /// What can be said of it.
    fn found(&self) -> Found;
}

/// What a pattern met, for messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// A value.
    Value(Value),
    /// An instruction.
    Inst(Inst),
    /// Something else, as text; empty where it has none.
    Text(String),
}

/// How much of a rule matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Nothing: the rule is for other ops.
    Nothing,
    /// The op, but not its controlling type.
    Op,
    /// The op and its type.
    Part,
    /// The whole pattern, but not the guards.
    Pattern,
}

/// Where a pattern or guard failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Miss {
    /// The pattern or guard, as it is written.
    pub wanted: &'static str,
    /// Its line in the rule's file.
    pub line: u32,
    /// How much matched.
    pub depth: Depth,
    /// What was met, and of what the rule asks to be the same as before, what that was; of a guard that has no value, the
    /// variables that it depends on, by name.
    pub found: Vec<(&'static str, Found)>,
}

/// What a rule's pattern did with what it met.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Walk {
    /// The values whose definitions the pattern looked at and found right.
    pub through: Vec<Value>,
    /// Where it failed, if it did.
    pub miss: Option<Miss>,
}

/// Matches a rule's pattern and then its guards, in the order they are written, as far as they hold.
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

/// A template at work: what it stands for, what that met, and the operands, which belong to the template around it.
struct Frame<'f, D> {
    site: &'f Pattern,
    met: &'f D,
    operands: &'f [Pattern],
    outer: Option<&'f Frame<'f, D>>,
}

impl<V: Vocabulary> Walker<'_, V> {
    fn rule(&mut self, rule: &Rule, operands: &[V::Datum]) -> Result<(), Miss> {
        for (pattern, met) in rule.operands.iter().zip(operands) {
            let root = pattern.unbound();
            let depth = |miss: &Miss| if miss.wanted == root.text { Depth::Nothing } else { miss.depth };
            self.pattern(pattern, met, None).map_err(|miss| Miss { depth: depth(&miss), ..miss })?;
        }
        rule.guards.iter().try_for_each(|guard| self.guard(guard))
    }

    fn pattern(&mut self, pattern: &Pattern, met: &V::Datum, frame: Option<&Frame<'_, V::Datum>>) -> Result<(), Miss> {
        // What fails within a template is what the template stands for.
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
                // The first operand of an op's term is its type, and no value's definition was looked at before.
                let is_type = number == 0 && self.through.is_empty();
                outcome.map_err(|miss| Miss { depth: if is_type { Depth::Op } else { miss.depth }, ..miss })
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

    fn guard(&mut self, guard: &Guard) -> Result<(), Miss> {
        let Some(value) = self.value(&guard.value) else {
            let mut found = Vec::new();
            self.depends(&guard.value, &mut found);
            return Err(Miss { wanted: guard.text, line: guard.line, depth: Depth::Pattern, found });
        };
        let outcome = self.pattern(&guard.pattern, &value, None);
        outcome.map_err(|miss| Miss { wanted: guard.text, line: guard.line, depth: Depth::Pattern, ..miss })
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

    /// The variables of an expression, as far as something can be said of them.
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

fn missed<D: Datum>(pattern: &Pattern, met: &D) -> Miss {
    Miss { wanted: pattern.text, line: pattern.line, depth: Depth::Part, found: vec![("", met.found())] }
}

impl Miss {
    /// What was found instead, in a kernel's words.
    pub fn found_text(&self, kernel: &Kernel) -> String {
        let mut text = String::new();
        let is_compared = self.depth != Depth::Pattern && self.found.len() > 1;
        for (name, found) in &self.found {
            let found = found.text(kernel);
            // Writing to a string succeeds.
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
    /// The definition of a value, or what else it is.
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
