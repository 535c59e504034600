//! Inlining of function calls.

use halfbyte_abi::{Direction, Type};
use halfbyte_ir::{Diagnostic, Span, Value};

use super::operand::Operand;
use super::{Binding, Elem, Failed, Frame, Lower, Lowering};
use crate::ast::{Arg, ParamTy, Range};
use crate::symbols::Sym;

impl Lower<'_> {
    pub(super) fn inlined(
        &mut self,
        number: u32,
        modifiers: Range,
        args: Range,
        expected: Option<Type>,
        span: Span,
    ) -> Lowering<Operand> {
        let ast = self.ast;
        let Some(function) = ast.functions.get(number as usize) else { return Err(Failed) };
        let name = self.symbols.text(function.name.sym);
        let args = ast.args(args);
        if self.frames.iter().any(|frame| frame.function == number) {
            let message = format!("`{name}` calls itself");
            let help = "calls are inlined, so a function cannot be recursive: use `for` or `while`";
            let diagnostic = Diagnostic::new(span, message).expected("a call of another function").help(help);
            return Err(self.report(diagnostic));
        }
        if args.len() != function.params.len() {
            let plural = if args.len() == 1 { "" } else { "s" };
            let message = format!("`{name}` has {} operand{plural}", args.len());
            let diagnostic = Diagnostic::new(span, message).expected(function.params.len().to_string());
            let params: Vec<&str> = function.params.iter().map(|param| self.symbols.text(param.name.sym)).collect();
            let diagnostic = diagnostic.help(format!("call it as `{name}({})`", params.join(", ")));
            return Err(self.report(diagnostic.note(Some(function.name.span), "it is here")));
        }
        let mut generics: Vec<(Sym, Option<Type>)> = function.generics.iter().map(|name| (name.sym, None)).collect();
        for (at, modifier) in ast.idents(modifiers).iter().enumerate() {
            let ty = self.ty(*modifier)?;
            match generics.get_mut(at) {
                Some(slot) => slot.1 = Some(ty),
                None => {
                    let count = function.generics.len();
                    let message = format!("`{name}` takes {count} type{}", if count == 1 { "" } else { "s" });
                    return Err(self.error(modifier.span, message, "fewer types after its name"));
                }
            }
        }
        // Returns the type of a parameter, if it is already known.
        let wanted = |lower: &Self, generics: &[(Sym, Option<Type>)], sym: Sym| {
            let generic = generics.iter().find(|(name, _)| *name == sym);
            generic.map_or_else(|| lower.types.get(&sym).copied(), |(_, ty)| *ty)
        };
        let mut given = Vec::with_capacity(args.len());
        for (param, arg) in function.params.iter().zip(args) {
            let (value, at) = match *arg {
                Arg::Value(value) => (value, ast.expr(value).span),
                Arg::List(_, at) | Arg::Text(_, at) => return Err(self.error(at, "no value", "a value")),
            };
            let operand = match param.ty {
                ParamTy::Value(ty) => {
                    let known = wanted(self, &generics, ty.sym);
                    self.expr(value, known)?
                }
                _ => self.expr(value, None)?,
            };
            if operand == Operand::Never {
                return Ok(Operand::Never);
            }
            let of = match (param.ty, &operand) {
                (ParamTy::Value(ty), operand) => Some((ty.sym, self.type_of(operand))),
                (ParamTy::Buffer { elem, .. }, Operand::Buffer(buffer)) => match buffer.elem {
                    Elem::Type(ty) => Some((elem.sym, Some(ty))),
                    Elem::Struct(_) => None,
                },
                _ => None,
            };
            if let Some((sym, Some(ty))) = of
                && let Some(slot) = generics.iter_mut().find(|(name, _)| *name == sym)
            {
                slot.1 = slot.1.or(Some(ty));
            }
            given.push((operand, at));
        }
        // If no typed argument determines a generic type, the expected result determines the type.
        // Without an expected result, untyped numbers among the arguments determine it.
        if let ([result], Some(ty)) = (function.results.as_slice(), expected)
            && let Some(slot) = generics.iter_mut().find(|(name, _)| *name == result.sym)
        {
            slot.1 = slot.1.or(Some(ty));
        }
        for (param, (operand, at)) in function.params.iter().zip(&given) {
            if let ParamTy::Value(ty) = param.ty
                && let Some(at_generic) = generics.iter().position(|(name, ty_of)| *name == ty.sym && ty_of.is_none())
            {
                let typed = self.typed(operand.clone(), None, *at)?;
                let ty = self.type_of(&typed);
                if let Some(slot) = generics.get_mut(at_generic) {
                    slot.1 = ty;
                }
            }
        }
        let mut known = Vec::with_capacity(generics.len());
        for (sym, ty) in generics {
            match ty {
                Some(ty) => known.push((sym, ty)),
                None => {
                    let message = format!("cannot infer type `{}` of `{name}`", self.symbols.text(sym));
                    return Err(self.error(span, message, format!("a type after its name: `{name}.i32(..)`")));
                }
            }
        }
        self.enter(number, known, given, span)
    }

    /// Lowers the body of a called function. `given` are the values of its parameters, and
    /// `generics` its generic types.
    pub(super) fn enter(
        &mut self,
        number: u32,
        generics: Vec<(Sym, Type)>,
        given: Vec<(Operand, Span)>,
        span: Span,
    ) -> Lowering<Operand> {
        let ast = self.ast;
        let Some(function) = ast.functions.get(number as usize) else { return Err(Failed) };
        // Arguments are checked in the context of the caller, so that messages point at the call.
        let ty_of = |lower: &mut Self, name: crate::ast::Ident| {
            generics.iter().find(|(sym, _)| *sym == name.sym).map_or_else(|| lower.ty(name), |(_, ty)| Ok(*ty))
        };
        let mut bound = Vec::with_capacity(given.len());
        for (param, (operand, at)) in function.params.iter().zip(given) {
            let name = self.symbols.text(param.name.sym);
            let operand = match param.ty {
                ParamTy::Value(ty) => {
                    let ty = ty_of(self, ty)?;
                    if matches!(operand, Operand::Tuple(_)) || self.type_of(&operand).is_some_and(|of| of != ty) {
                        let why = format!(", as `{name}` of `{}` is", self.symbols.text(function.name.sym));
                        return Err(self.mismatch_as(&operand, ty, &why, at));
                    }
                    let fits = self.fit(operand, ty, at)?;
                    match fits {
                        Operand::Buffer(_) => Operand::Value(self.emit(fits, at)?),
                        fits => fits,
                    }
                }
                ParamTy::Number(_) => match self.whole_number(&operand) {
                    Some(number) => Operand::whole(number),
                    None => {
                        let expected = format!("a number, because `{name}` is a `const` parameter");
                        if self.type_of(&operand) == Some(Type::I1) || matches!(operand, Operand::Bool(_)) {
                            let help = format!("give 0 or 1, and compare: `if {name} == 1 {{ .. }}`");
                            return Err(self.error_help(at, "this is a truth value, not a number", expected, help));
                        }
                        return Err(self.not_known(&operand, at, expected));
                    }
                },
                ParamTy::Buffer { direction, may_alias, elem, align, contents } => {
                    if let Some(span) =
                        may_alias.or(contents.map(|(_, span)| span)).or(align.map(|align| ast.expr(align).span))
                    {
                        let help = "a function's buffer parameter has only a direction and a type";
                        return Err(self.error_help(
                            span,
                            "the parameter has more than a direction and a type",
                            "`,` or `)`",
                            help,
                        ));
                    }
                    let Operand::Buffer(buffer) = operand else {
                        let message = format!("this is {}", self.described(&operand));
                        return Err(self.error(at, message, format!("a buffer or array for `{name}`")));
                    };
                    let wanted = match generics.iter().find(|(sym, _)| *sym == elem.sym) {
                        Some((_, ty)) => Elem::Type(*ty),
                        None => self.elem(elem)?,
                    };
                    if buffer.elem != wanted {
                        let named = |of: Elem| match of {
                            Elem::Type(ty) => ty.name(),
                            Elem::Struct(number) => {
                                self.ast.structs.get(number as usize).map_or("", |of| self.symbols.text(of.name.sym))
                            }
                        };
                        let message = format!("the argument is a buffer or array of `{}`", named(buffer.elem));
                        let expected = format!("a buffer or array of `{}`", named(wanted));
                        return Err(self.error(at, message, expected));
                    }
                    if direction != Direction::In && buffer.direction == Some(Direction::In) {
                        return Err(self.error(
                            at,
                            "the argument is an `in` buffer",
                            format!("an `out` or `inout` buffer, because `{name}` is written"),
                        ));
                    }
                    let direction = match (buffer.direction, direction) {
                        (_, Direction::In) => Some(Direction::In),
                        (own, _) => own,
                    };
                    Operand::Buffer(super::Buffer { direction, ..buffer })
                }
            };
            bound.push((param.name.sym, operand));
        }
        let mut results = Vec::with_capacity(function.results.len());
        for &result in &function.results {
            results.push(ty_of(self, result)?);
        }
        let scopes = self.scopes.len();
        let frame = Frame {
            function: number,
            call: Some(span).filter(|_| self.uncalled_step_limit.is_none() || !self.frames.is_empty()),
            results: results.clone(),
            returns: Vec::new(),
            loops: self.loops.len(),
            scopes,
            generics,
        };
        let outside = self.outermost_call;
        if self.files.is_main(span) {
            self.outermost_call = Some(span);
        }
        self.frames.push(frame);
        if let Some(entered) = self.entered.get_mut(number as usize) {
            *entered = true;
        }
        let operands: Vec<Operand> = bound.iter().map(|(_, operand)| operand.clone()).collect();
        let is_evaluated = !results.is_empty() && self.is_to_evaluate(number, &operands);
        for (name, operand) in bound {
            let operand = match self.constant_of(&operand) {
                // The function is evaluated in a separate kernel, which cannot refer to this kernel's values.
                Some((ty, words)) if is_evaluated => Operand::Const(ty, words),
                _ => operand,
            };
            self.scopes.push((name, Binding::Fixed(operand)));
        }
        let expected = match results.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let wanted = !results.is_empty();
        let vars = self.vars.len();
        let body = |lower: &mut Self| {
            let value = lower.deeper(span, |lower| lower.block(function.body, expected, wanted))?;
            lower.finish(value, &results, function.body, span)
        };
        let name = self.symbols.text(function.name.sym);
        let known = if is_evaluated { self.evaluated(name, body) } else { Ok(None) };
        let value = match known {
            Ok(Some(known)) => Ok(known),
            Ok(None) => body(self).inspect(|made| {
                if is_evaluated {
                    self.not_evaluated(name, made, span);
                }
            }),
            Err(failed) => Err(failed),
        };
        self.vars.truncate(vars);
        self.scopes.truncate(scopes);
        self.frames.pop();
        self.outermost_call = outside;
        value
    }

    /// Returns the results of a function: the values at the end of its body joined with those of
    /// all `return` statements.
    fn finish(&mut self, value: Operand, results: &[Type], body: crate::ast::BlockId, span: Span) -> Lowering<Operand> {
        let ast = self.ast;
        let last = ast.stmts(body).last().map_or(ast.block(body).span, |stmt| stmt.span);
        let values = if self.here.is_some() { Some(self.results(value, results, last)?) } else { None };
        let mut returns = self.frames.last_mut().map(|frame| std::mem::take(&mut frame.returns)).unwrap_or_default();
        if let (Some(values), true) = (&values, returns.is_empty()) {
            return Ok(tuple(values));
        }
        if let (Some(here), Some(values)) = (self.here, values) {
            returns.push((here, values, last));
        }
        if let [(from, values, _)] = returns.as_slice() {
            self.b.go_to(*from);
            self.here = Some(*from);
            return Ok(tuple(values));
        }
        if returns.is_empty() {
            return Ok(Operand::Never);
        }
        self.at(span);
        let join = self.b.block("returned", results);
        for (from, values, at) in returns {
            self.b.go_to(from);
            let values: Lowering<Vec<Value>> = values.into_iter().map(|value| self.emit(value, at)).collect();
            self.at(span);
            self.b.br(join, &values?);
        }
        self.b.go_to(join);
        self.here = Some(join);
        let params: Vec<Operand> = self.b.params(join).iter().copied().map(Operand::Value).collect();
        Ok(tuple(&params))
    }

    /// Converts the value of a function's body or `return` to operands of the result types.
    fn results(&mut self, value: Operand, results: &[Type], span: Span) -> Lowering<Vec<Operand>> {
        let parts = match (value, results.len()) {
            (Operand::Tuple(parts), count) if parts.len() == count => parts,
            (value, 1) if !matches!(value, Operand::Tuple(_)) => vec![value],
            (_, 0) => Vec::new(),
            (value, count) => {
                let message = format!("the function gives {}", self.described(&value));
                let expected = if count == 1 {
                    format!("`{}`", results.first().map_or("", |ty| ty.name()))
                } else {
                    format!("{count} values")
                };
                return Err(self.error_help(
                    span,
                    message,
                    expected,
                    "write the result as the last line of the body, or after `return`",
                ));
            }
        };
        let mut values = Vec::with_capacity(parts.len());
        for (part, &ty) in parts.into_iter().zip(results) {
            values.push(match self.fit(part, ty, span)? {
                buffer @ Operand::Buffer(_) => Operand::Value(self.emit(buffer, span)?),
                value => value,
            });
        }
        Ok(values)
    }

    /// Lowers a `return` of a kernel or function.
    pub(super) fn leave_function(&mut self, value: Option<crate::ast::ExprId>, span: Span) -> Lowering<()> {
        let Some(results) = self.frames.last().map(|frame| frame.results.clone()) else {
            if let Some(value) = value {
                let at = self.ast.expr(value).span;
                return Err(self.error_help(
                    at,
                    "a kernel cannot return a value",
                    "`return` without a value",
                    "store the results in an `out` buffer",
                ));
            }
            self.at(span);
            if self.here.take().is_some() {
                self.b.ret();
            }
            return Ok(());
        };
        let expected = match results.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let (operand, at) = match value {
            Some(value) => (self.expr(value, expected)?, self.ast.expr(value).span),
            None => (Operand::NOTHING, span),
        };
        if value.is_some() && results.is_empty() {
            return Err(self.error_help(
                at,
                "the function returns no value",
                "`return` without a value",
                "declare the type of the result after `->`",
            ));
        }
        let values = self.results(operand, &results, at)?;
        if let (Some(here), Some(frame)) = (self.here.take(), self.frames.last_mut()) {
            frame.returns.push((here, values, at));
        }
        Ok(())
    }
}

fn tuple(values: &[Operand]) -> Operand {
    match values {
        [only] => only.clone(),
        _ => Operand::Tuple(values.to_vec()),
    }
}
