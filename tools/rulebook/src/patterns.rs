//! Rule patterns and guards as data. Code that evaluates a pattern step by step calls the terms by
//! number, through one generated `match`. Therefore this code calls the same methods as the
//! compiled rules.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

use cranelift_isle::ast::{Def, Expr, Extern, Ident, IfLet, Pattern, TypeValue};
use cranelift_isle::files::Files;
use cranelift_isle::lexer::Pos;

use crate::RuleError;
use crate::text::{expr_text, pattern_text};

/// The types whose values are shown to users when a rule is explained.
const DISPLAYED_TYPES: [&str; 13] =
    ["Value", "Inst", "Type", "bool", "u8", "u16", "u32", "i8", "i64", "IntCC", "FloatCond", "FloatFlags", "MemAttr"];

/// The declarations of the rule files.
#[derive(Default)]
struct Declared {
    /// Parameter types and result type of each term. The flag is `true` if the term is partial.
    terms: HashMap<String, (Vec<String>, String, bool)>,
    /// For each external extractor, the name of its method and `true` if the extractor is infallible.
    extractors: HashMap<String, (String, bool)>,
    /// Extractors that are defined by a pattern: the names of their parameters, and the pattern.
    templates: HashMap<String, (Vec<String>, Pattern)>,
    /// The name of the method of each external constructor.
    constructors: HashMap<String, String>,
    /// Enum types. ISLE passes them to methods by reference.
    enums: BTreeSet<String>,
    constants: HashMap<String, String>,
    /// The conversion term from each outer type to each inner type.
    converters: HashMap<(String, String), String>,
}

/// Builder of the patterns of a rule book.
pub(crate) struct Patterns<'f> {
    files: &'f Files,
    declared: Declared,
    /// The numbers of the terms in use. The key is the name, and `true` if the term is used as an extractor.
    terms: BTreeMap<(String, bool), usize>,
    /// The number of each literal. The key is its type and its Rust expression.
    literals: BTreeMap<(String, String), usize>,
    /// The number and the generated Rust code of each extractor in use that is defined by a pattern.
    templates: BTreeMap<String, (usize, String)>,
    types: BTreeSet<String>,
    compared: BTreeSet<String>,
}

/// The variables of a rule: the name and the type of each.
type Variables = Vec<(String, String)>;

/// The operands and guards of a rule, as Rust code of the rule table.
pub(crate) struct RuleData {
    pub operands: String,
    pub guards: String,
    /// The type of the root term's only operand, and the variable to which it is bound. `None`
    /// unless the term has one operand of type `Inst` or `Value`.
    pub at: Option<(String, Ident)>,
}

fn wrong<T>(what: impl Into<String>) -> Result<T, RuleError> {
    Err(RuleError(what.into()))
}

impl<'f> Patterns<'f> {
    pub(crate) fn new(defs: &[Def], files: &'f Files) -> Patterns<'f> {
        let mut declared = Declared::default();
        for def in defs {
            declared.add(def);
        }
        let types = ["Inst", "Value"].map(String::from);
        Patterns {
            files,
            declared,
            terms: BTreeMap::new(),
            literals: BTreeMap::new(),
            templates: BTreeMap::new(),
            types: types.into_iter().collect(),
            compared: BTreeSet::new(),
        }
    }

    /// Converts the pattern and the guards of a rule to Rust code of the rule table. Binds the root
    /// term's operand to a variable.
    pub(crate) fn rule(&mut self, pattern: &mut Pattern, guards: &[IfLet]) -> Result<RuleData, RuleError> {
        let Pattern::Term { sym, args, .. } = pattern else { return wrong("the pattern of a rule must be a term") };
        let Some((types, ..)) = self.declared.terms.get(&sym.0) else {
            return wrong(format!("term {} is not declared", sym.0));
        };
        let types = types.clone();
        let mut variables = Variables::new();
        let mut operands = String::new();
        for (arg, ty) in args.iter().zip(&types) {
            operands += &self.pattern(arg, ty, &mut variables, None)?;
            operands += ", ";
        }
        let mut conditions = String::new();
        for guard in guards {
            let (value, ty) = self.expr(&guard.expr, None, &variables)?;
            let text = match &guard.pattern {
                Pattern::Wildcard { .. } => expr_text(&guard.expr),
                pattern => format!("{} = {}", pattern_text(pattern), expr_text(&guard.expr)),
            };
            let line = self.line(guard.pos);
            let pattern = self.pattern(&guard.pattern, &ty, &mut variables, None)?;
            let _ =
                write!(conditions, "Guard {{ text: {text:?}, line: {line}, value: {value}, pattern: {pattern} }}, ");
        }
        let at = match (types.as_slice(), args.first_mut()) {
            ([ty], Some(arg)) if matches!(ty.as_str(), "Inst" | "Value") => Some((ty.clone(), bound(arg))),
            _ => None,
        };
        Ok(RuleData { operands: format!("&[{operands}]"), guards: format!("&[{conditions}]"), at })
    }

    fn line(&self, pos: Pos) -> usize {
        // The line map counts lines from 0.
        self.files.file_line_map(pos.file).map_or(0, |lines| 1 + lines.line(pos.offset))
    }

    /// Converts a pattern for a value of type `ty` to Rust code. `template` holds the parameter
    /// names if the pattern is the definition of an extractor.
    fn pattern(
        &mut self,
        pattern: &Pattern,
        ty: &str,
        variables: &mut Variables,
        template: Option<&[String]>,
    ) -> Result<String, RuleError> {
        let (text, line) = match template {
            None => (pattern_text(pattern), self.line(pattern.pos())),
            Some(_) => (String::new(), 0),
        };
        let any = |text: &str| format!("Pattern {{ text: {text:?}, line: {line}, kind: PatternKind::Any }}");
        let kind = match pattern {
            Pattern::Wildcard { .. } => "PatternKind::Any".to_string(),
            Pattern::Var { var, .. } => match (template, variables.iter().position(|(name, _)| *name == var.0)) {
                (Some(operands), _) => match operands.iter().position(|name| *name == var.0) {
                    Some(number) => format!("PatternKind::Operand({number})"),
                    None => return wrong(format!("{} is not a parameter of the extractor", var.0)),
                },
                (None, Some(number)) => {
                    self.compared.insert(ty.to_string());
                    format!("PatternKind::Same({number})")
                }
                (None, None) => {
                    variables.push((var.0.clone(), ty.to_string()));
                    format!("PatternKind::Bind({}, &{})", variables.len() - 1, any(&text))
                }
            },
            Pattern::BindPattern { var, subpat, .. } => {
                let within = self.pattern(subpat, ty, variables, template)?;
                variables.push((var.0.clone(), ty.to_string()));
                format!("PatternKind::Bind({}, &{within})", variables.len() - 1)
            }
            Pattern::ConstBool { val, .. } => format!("PatternKind::Literal({})", self.literal(ty, &val.to_string())),
            Pattern::ConstInt { val, .. } => format!("PatternKind::Literal({})", self.literal(ty, &integer(*val, ty))),
            Pattern::ConstPrim { val, .. } => format!("PatternKind::Literal({})", self.literal(ty, &val.0)),
            Pattern::And { subpats, .. } => {
                let mut all = String::new();
                for subpat in subpats {
                    all += &self.pattern(subpat, ty, variables, template)?;
                    all += ", ";
                }
                format!("PatternKind::All(&[{all}])")
            }
            Pattern::Term { sym, args, .. } => self.term(pattern, &sym.0, args, ty, variables, template)?,
            Pattern::MacroArg { .. } => return wrong("a macro argument is not valid outside of a macro"),
        };
        Ok(format!("Pattern {{ text: {text:?}, line: {line}, kind: {kind} }}"))
    }

    fn term(
        &mut self,
        pattern: &Pattern,
        name: &str,
        args: &[Pattern],
        ty: &str,
        variables: &mut Variables,
        template: Option<&[String]>,
    ) -> Result<String, RuleError> {
        if let Some((of, variant)) = name.split_once('.') {
            return Ok(format!("PatternKind::Literal({})", self.literal(ty, &format!("{of}::{variant}"))));
        }
        let Some((types, of, _)) = self.declared.terms.get(name).cloned() else {
            return wrong(format!("term {name} is not declared"));
        };
        if of != ty {
            let Some(between) = self.declared.converters.get(&(ty.to_string(), of.clone())).cloned() else {
                return wrong(format!("{name} has type {of}, expected {ty}"));
            };
            let number = self.number(&between, true);
            let within = self.pattern(pattern, &of, variables, template)?;
            return Ok(format!("PatternKind::Convert({number}, &{within})"));
        }
        let mut parts = String::new();
        for (arg, ty) in args.iter().zip(&types) {
            parts += &self.pattern(arg, ty, variables, template)?;
            parts += ", ";
        }
        if self.declared.templates.contains_key(name) {
            let number = self.template(name, ty)?;
            return Ok(format!("PatternKind::Template(&TEMPLATE_{number}, &[{parts}])"));
        }
        let number = self.number(name, true);
        Ok(format!("PatternKind::Extract({number}, &[{parts}])"))
    }

    fn template(&mut self, name: &str, ty: &str) -> Result<usize, RuleError> {
        if let Some((number, _)) = self.templates.get(name) {
            return Ok(*number);
        }
        let Some((operands, pattern)) = self.declared.templates.get(name).cloned() else {
            return wrong(format!("{name} is not an extractor"));
        };
        let data = self.pattern(&pattern, ty, &mut Variables::new(), Some(&operands))?;
        let number = self.templates.len();
        self.templates.insert(name.to_string(), (number, data));
        Ok(number)
    }

    /// Returns the number of a literal of type `ty`. `code` is the literal as a Rust expression.
    fn literal(&mut self, ty: &str, code: &str) -> usize {
        self.types.insert(ty.to_string());
        self.compared.insert(ty.to_string());
        let next = self.literals.len();
        *self.literals.entry((ty.to_string(), code.to_string())).or_insert(next)
    }

    /// Returns the number of a term. `extracts` is `true` if the term is used as an extractor.
    fn number(&mut self, name: &str, extracts: bool) -> usize {
        if let Some((types, of, _)) = self.declared.terms.get(name) {
            self.types.extend(types.iter().cloned().chain([of.clone()]));
        }
        let next = self.terms.len();
        *self.terms.entry((name.to_string(), extracts)).or_insert(next)
    }

    /// Converts the expression of a guard to Rust code. Returns the code and the type of the expression.
    fn expr(&mut self, expr: &Expr, ty: Option<&str>, variables: &Variables) -> Result<(String, String), RuleError> {
        let literal = |number: usize| format!("Expr::Literal({number})");
        match expr {
            Expr::Var { name, .. } => {
                let number = variables.iter().rposition(|(known, _)| *known == name.0);
                let Some((number, (_, ty))) = number.and_then(|number| Some((number, variables.get(number)?))) else {
                    return wrong(format!("variable {} is not bound", name.0));
                };
                Ok((format!("Expr::Variable({number}, {:?})", name.0), ty.clone()))
            }
            Expr::ConstPrim { val, .. } => {
                let ty = self.declared.constants.get(&val.0).cloned().unwrap_or_default();
                Ok((literal(self.literal(&ty, &val.0)), ty))
            }
            Expr::ConstInt { val, .. } => {
                let Some(ty) = ty else { return wrong("a number cannot be a condition") };
                Ok((literal(self.literal(ty, &integer(*val, ty))), ty.to_string()))
            }
            Expr::Term { sym, args, .. } => {
                if let Some((of, variant)) = sym.0.split_once('.') {
                    return Ok((literal(self.literal(of, &format!("{of}::{variant}"))), of.to_string()));
                }
                let Some((types, of, _)) = self.declared.terms.get(&sym.0).cloned() else {
                    return wrong(format!("term {} is not declared", sym.0));
                };
                let number = self.number(&sym.0, false);
                let mut operands = String::new();
                for (arg, ty) in args.iter().zip(&types) {
                    let (code, found) = self.expr(arg, Some(ty), variables)?;
                    if found != *ty {
                        return wrong(format!("{} expects {ty}, found {found}", sym.0));
                    }
                    operands += &code;
                    operands += ", ";
                }
                Ok((format!("Expr::Construct({number}, &[{operands}])"), of))
            }
            Expr::ConstBool { .. } | Expr::Let { .. } => {
                wrong("unsupported expression in a guard: use a term, a variable or an integer")
            }
        }
    }

    /// Generates Rust constants for the extractors that are defined by patterns. The patterns in
    /// the rule table refer to these constants.
    pub(crate) fn templates(&self) -> String {
        let mut out = String::from("use halfbyte_ir::rule::{Expr, Guard, Pattern, PatternKind};\n\n");
        for (number, data) in self.templates.values() {
            let _ = writeln!(out, "static TEMPLATE_{number}: Pattern = {data};");
        }
        out
    }

    /// Generates the types `Datum` and `Terms`. `Terms` maps the numbers of terms and literals in
    /// the rule table to methods of the rules' `Context` and to values.
    pub(crate) fn vocabulary(&self) -> Result<String, RuleError> {
        let mut out = String::from(
            "/// A value that the terms of the rules take or return.\n#[allow(non_camel_case_types)]\n#[derive(Clone)]\npub enum Datum {\n",
        );
        for ty in &self.types {
            let _ = writeln!(out, "    {ty}({ty}),");
        }
        out.push_str(
            "}\n\nimpl halfbyte_ir::rule::Datum for Datum {\n\
             fn same(&self, other: &Datum) -> bool {\nmatch (self, other) {\n",
        );
        for ty in self.compared.iter().filter(|ty| self.types.contains(*ty)) {
            let _ = writeln!(out, "(Datum::{ty}(a), Datum::{ty}(b)) => a == b,");
        }
        out.push_str("_ => false,\n}\n}\n\nfn found(&self) -> halfbyte_ir::rule::Found {\nmatch self {\n");
        for ty in DISPLAYED_TYPES.iter().filter(|ty| self.types.contains(**ty)) {
            let _ = writeln!(out, "Datum::{ty}(x) => x.clone().into(),");
        }
        out.push_str(
            "_ => halfbyte_ir::rule::Found::Text(String::new()),\n}\n}\n}\n\n\
             /// The terms of the rules, as methods of a context.\npub struct Terms<'c, C>(pub &'c mut C);\n\n\
             impl<C: Context> halfbyte_ir::rule::Vocabulary for Terms<'_, C> {\ntype Datum = Datum;\n\n\
             fn extract(&mut self, term: u16, from: &Datum) -> Option<Vec<Datum>> {\nSome(match (term, from) {\n",
        );
        for ((name, _), number) in self.terms.iter().filter(|((_, extracts), _)| *extracts) {
            let (Some((parts, of, _)), Some((method, always))) =
                (self.declared.terms.get(name), self.declared.extractors.get(name))
            else {
                return wrong(format!("{name} is used as an extractor but has no external extractor"));
            };
            let names: Vec<String> = (0..parts.len()).map(|i| format!("a{i}")).collect();
            let made: Vec<String> = names.iter().zip(parts).map(|(name, ty)| format!("Datum::{ty}({name})")).collect();
            let names = match names.as_slice() {
                [only] => only.clone(),
                _ => format!("({})", names.join(", ")),
            };
            let (operand, try_) = (self.operand(of, "x"), if *always { "" } else { "?" });
            let made = made.join(", ");
            let _ = writeln!(
                out,
                "({number}, Datum::{of}(x)) => {{ let {names} = self.0.{method}({operand}){try_}; vec![{made}] }}"
            );
        }
        out.push_str(
            "_ => return None,\n})\n}\n\n\
             fn construct(&mut self, term: u16, operands: &[Datum]) -> Option<Datum> {\nSome(match (term, operands) {\n",
        );
        for ((name, _), number) in self.terms.iter().filter(|((_, extracts), _)| !*extracts) {
            let (Some((types, of, partial)), Some(method)) =
                (self.declared.terms.get(name), self.declared.constructors.get(name))
            else {
                return wrong(format!("{name} is used as a constructor but has no external constructor"));
            };
            let operands = types.iter().enumerate();
            let met: Vec<String> = operands.clone().map(|(i, ty)| format!("Datum::{ty}(a{i})")).collect();
            let given: Vec<String> = operands.map(|(i, ty)| self.operand(ty, &format!("a{i}"))).collect();
            let (met, given, try_) = (met.join(", "), given.join(", "), if *partial { "?" } else { "" });
            let _ = writeln!(out, "({number}, [{met}]) => Datum::{of}(self.0.{method}({given}){try_}),");
        }
        out.push_str("_ => return None,\n})\n}\n\nfn literal(&self, number: u16) -> Datum {\nmatch number {\n");
        let mut last = None;
        for ((ty, code), number) in &self.literals {
            let _ = writeln!(out, "{number} => Datum::{ty}({code}),");
            last = Some(format!("Datum::{ty}({code})"));
        }
        let Some(last) = last else { return wrong("no rule has a literal") };
        let _ = write!(out, "_ => {last},\n}}\n}}\n}}\n");
        Ok(out)
    }

    /// Returns the Rust expression that passes an operand to a method.
    fn operand(&self, ty: &str, name: &str) -> String {
        if self.declared.enums.contains(ty) { name.to_string() } else { format!("{name}.clone()") }
    }
}

impl Declared {
    fn add(&mut self, def: &Def) {
        let names = |idents: &[Ident]| idents.iter().map(|ident| ident.0.clone()).collect();
        match def {
            Def::Decl(decl) => {
                let row = (names(&decl.arg_tys), decl.ret_ty.0.clone(), decl.partial);
                self.terms.insert(decl.term.0.clone(), row);
            }
            Def::Extractor(extractor) => {
                let row = (names(&extractor.args), extractor.template.clone());
                self.templates.insert(extractor.term.0.clone(), row);
            }
            Def::Extern(Extern::Extractor { term, func, infallible, .. }) => {
                self.extractors.insert(term.0.clone(), (func.0.clone(), *infallible));
            }
            Def::Extern(Extern::Constructor { term, func, .. }) => {
                self.constructors.insert(term.0.clone(), func.0.clone());
            }
            Def::Extern(Extern::Const { name, ty, .. }) => {
                self.constants.insert(name.0.clone(), ty.0.clone());
            }
            Def::Type(ty) if matches!(ty.ty, TypeValue::Enum(..)) => {
                self.enums.insert(ty.name.0.clone());
            }
            Def::Converter(converter) => {
                let types = (converter.outer_ty.0.clone(), converter.inner_ty.0.clone());
                self.converters.insert(types, converter.term.0.clone());
            }
            _ => {}
        }
    }
}

/// Returns the variable to which a pattern is bound. If there is no variable, binds the pattern to a new one.
fn bound(pattern: &mut Pattern) -> Ident {
    match pattern {
        Pattern::Var { var, .. } | Pattern::BindPattern { var, .. } => var.clone(),
        _ => {
            let pos = pattern.pos();
            let var = Ident("at_".to_string(), pos);
            let subpat = Box::new(std::mem::replace(pattern, Pattern::Wildcard { pos }));
            *pattern = Pattern::BindPattern { var: var.clone(), subpat, pos };
            var
        }
    }
}

fn integer(value: i128, ty: &str) -> String {
    format!("{value}_i128 as {ty}")
}
