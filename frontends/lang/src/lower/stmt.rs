//! Lowering of statements and blocks, and of the scopes of names.

use halfbyte_abi::Type;
use halfbyte_ir::{Diagnostic, Op, Span, Value};

use super::operand::{Operand, taken};
use super::{Binding, Buffer, Failed, Lower, Lowering, Var};
use crate::ast::{ArrayDecl, BinOp, BlockId, ExprId, ExprKind, Ident, Range, Stmt, StmtKind};

/// Maximum number of variables in an array of variables.
const MAX_VARIABLES: u32 = 1024;

impl Lower<'_> {
    /// Lowers a block in a new scope. If `wanted` is `true`, the value of the block is that of its last expression.
    pub(super) fn block(&mut self, block: BlockId, expected: Option<Type>, wanted: bool) -> Lowering<Operand> {
        let span = self.ast.block(block).span;
        let (scopes, vars) = (self.scopes.len(), self.vars.len());
        let value = self.deeper(span, |lower| lower.lines(block, expected, wanted));
        self.scopes.truncate(scopes);
        self.vars.truncate(vars);
        value
    }

    /// Lowers the statements of a block.
    pub(super) fn statements(&mut self, block: BlockId) -> Lowering<Operand> {
        self.lines(block, None, false)
    }

    fn lines(&mut self, block: BlockId, expected: Option<Type>, wanted: bool) -> Lowering<Operand> {
        let ast = self.ast;
        let stmts = ast.stmts(block);
        let mut failed = false;
        let mut value = Operand::NOTHING;
        let mut is_cut = self.is_unreachable_by_constant;
        for (number, stmt) in stmts.iter().enumerate() {
            self.step(stmt.span)?;
            is_cut |= self.is_unreachable_by_constant;
            if self.here.is_none() {
                // A constant condition made this statement unreachable. This is no error, because
                // other calls of the function may reach the statement.
                if self.is_unreachable_by_constant && !failed {
                    break;
                }
                if !failed {
                    self.error(
                        stmt.span,
                        "this statement is unreachable",
                        "no statement after `return`, `break` or `continue`",
                    );
                }
                return Err(Failed);
            }
            self.is_unreachable_by_constant = false;
            let is_last = number + 1 == stmts.len();
            let read = match stmt.kind {
                StmtKind::Expr(expr) if is_last && wanted => match self.expr(expr, expected) {
                    Ok(last) => {
                        value = last;
                        Ok(())
                    }
                    Err(failed) => Err(failed),
                },
                _ => self.statement(stmt),
            };
            failed |= read.is_err();
        }
        self.is_unreachable_by_constant |= is_cut;
        match (failed, self.here) {
            (true, _) => Err(Failed),
            (false, None) => Ok(Operand::Never),
            (false, Some(_)) => Ok(value),
        }
    }

    fn statement(&mut self, stmt: &Stmt) -> Lowering<()> {
        match stmt.kind {
            StmtKind::Let { names, mutable, ty, value } => self.binding_of(names, mutable, ty, value),
            StmtKind::Const { name, ty, value } => {
                let constant = crate::ast::Constant { name, ty, value };
                let known = self.known_value(constant);
                let operand = known.as_ref().map_or(Operand::Failed, Clone::clone);
                self.scopes.push((name.sym, Binding::Fixed(operand)));
                known.map(|_| ())
            }
            StmtKind::Vars { name, ty, count } => self.array_of_variables(name, ty, count, stmt.span),
            StmtKind::Assign { target, op, value } => self.assign(target, op, value, stmt.span),
            StmtKind::Expr(expr) => self.effect(expr),
            StmtKind::For(numbers) => self.deeper(stmt.span, |lower| lower.counted(numbers, stmt.span)),
            StmtKind::UnrollFor(numbers) => self.deeper(stmt.span, |lower| lower.unrolled(numbers)),
            StmtKind::While { condition, body } => {
                self.deeper(stmt.span, |lower| lower.tested(condition, body, stmt.span))
            }
            StmtKind::DoWhile { body, condition } => {
                self.deeper(stmt.span, |lower| lower.repeated(body, condition, stmt.span))
            }
            StmtKind::Break => self.jump(true, stmt.span),
            StmtKind::Continue => self.jump(false, stmt.span),
            StmtKind::Return(value) => self.leave_function(value, stmt.span),
            StmtKind::Array(array) => self.array(array, stmt.span),
        }
    }

    /// Lowers an expression as a statement, for its side effects.
    fn effect(&mut self, expr: ExprId) -> Lowering<()> {
        let node = self.ast.expr(expr);
        let operand = match node.kind {
            ExprKind::If { condition, then, otherwise } => {
                self.step(node.span)?;
                self.deeper(node.span, |lower| lower.choice(condition, then, otherwise, None, false, node.span))?;
                return Ok(());
            }
            _ => self.expr(expr, None)?,
        };
        let may_drop = match node.kind {
            ExprKind::Call { name, .. } => Op::from_name(self.symbols.text(name.sym)).is_some_and(Op::may_drop_result),
            _ => false,
        };
        match operand {
            Operand::Never => Ok(()),
            Operand::Tuple(parts) if parts.is_empty() => Ok(()),
            _ if may_drop => Ok(()),
            _ => {
                let help = match node.kind {
                    ExprKind::Binary(BinOp::Compare(crate::ast::Compare::Eq, _), ..) => {
                        "use `=` to assign to a variable"
                    }
                    ExprKind::Binary(..) | ExprKind::Name(_) | ExprKind::Number(_) => {
                        "give the value a name: `let a = ..`"
                    }
                    _ => "use `let _ = ..` to discard a value",
                };
                Err(self.error_help(node.span, "unused value", "a statement", help))
            }
        }
    }

    /// Lowers `let` and `var`.
    fn binding_of(&mut self, names: Range, mutable: bool, ty: Option<Ident>, value: ExprId) -> Lowering<()> {
        let ast = self.ast;
        let names = ast.idents(names);
        let at = ast.expr(value).span;
        let read = self.bound(names, mutable, ty, value, at);
        match read {
            Ok(operands) => {
                for (name, operand) in names.iter().zip(operands) {
                    if mutable {
                        let value = self.emit(operand, at)?;
                        self.declare_var(*name, value);
                    } else {
                        self.bind(name.sym, operand);
                    }
                }
                Ok(())
            }
            Err(failed) => {
                // The names are bound to `Failed`, so that their uses report no further errors.
                for name in names {
                    self.scopes.push((name.sym, Binding::Fixed(Operand::Failed)));
                }
                Err(failed)
            }
        }
    }

    fn bound(
        &mut self,
        names: &[Ident],
        mutable: bool,
        ty: Option<Ident>,
        value: ExprId,
        at: Span,
    ) -> Lowering<Vec<Operand>> {
        let ty = ty.map(|ty| self.ty(ty)).transpose()?;
        let operand = self.expr(value, ty)?;
        let operands = match operand {
            Operand::Never => return Ok(Vec::new()),
            Operand::Tuple(parts) if parts.len() == names.len() && names.len() != 1 => parts,
            operand if names.len() == 1 && !matches!(operand, Operand::Tuple(_)) => vec![operand],
            operand => {
                let message = format!("this is {}", self.described(&operand));
                let count = names.len();
                let expected = if count == 1 { "one value".into() } else { format!("{count} values") };
                return Err(match taken(&operand) {
                    Some(help) => self.error_help(at, message, expected, help),
                    None => self.error(at, message, expected),
                });
            }
        };
        let mut fitted = Vec::with_capacity(operands.len());
        for operand in operands {
            fitted.push(match (ty, &operand) {
                (Some(ty), _) => self.fit(operand, ty, at)?,
                (None, Operand::Number(_)) => self.typed(operand, None, at)?,
                (None, Operand::Buffer(_)) if mutable => {
                    return Err(self.error(at, "a buffer cannot be a variable", "`let`"));
                }
                _ => operand,
            });
        }
        Ok(fitted)
    }

    fn declare_var(&mut self, name: Ident, value: Value) {
        let number = self.vars.len() as u32;
        if self.b.kernel().value_name(value).is_none() {
            self.b.name(value, self.symbols.text(name.sym));
        }
        self.vars.push(Var { name: name.sym, ty: self.b.kernel().ty(value), value });
        self.scopes.push((name.sym, Binding::Var(number)));
    }

    /// Lowers an assignment: `a = e`, `a += e`, `x[i] = e`.
    fn assign(&mut self, target: ExprId, op: Option<BinOp>, value: ExprId, span: Span) -> Lowering<()> {
        let ast = self.ast;
        let (node, at) = (ast.expr(target), ast.expr(value).span);
        let var = match node.kind {
            ExprKind::Name(name) => Some(match self.binding(name) {
                Some(&Binding::Var(var)) => var,
                Some(&Binding::Vars(_, count)) => {
                    let text = self.symbols.text(name);
                    let message = format!("`{text}` is {count} variables");
                    return Err(self.error(node.span, message, format!("one of them: `{text}[0]`")));
                }
                Some(Binding::Fixed(Operand::Failed)) => return Err(Failed),
                Some(Binding::Fixed(Operand::Buffer(_))) => {
                    let text = self.symbols.text(name);
                    return Err(self.error(
                        node.span,
                        format!("`{text}` is a buffer"),
                        format!("an element: `{text}[i] = ..`"),
                    ));
                }
                Some(Binding::Fixed(_)) => {
                    let text = self.symbols.text(name);
                    let help = format!("declare a variable: `var {text} = ..`");
                    return Err(self.error_help(
                        node.span,
                        format!("cannot assign to `{text}`, which is not a variable"),
                        "a variable",
                        help,
                    ));
                }
                None => {
                    let text = self.symbols.text(name);
                    let near = self.near(name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                    let help = format!("declare it first: `let {text} = ..`");
                    return Err(self.error_help(
                        node.span,
                        format!("`{text}` is not defined"),
                        format!("a variable{near}"),
                        help,
                    ));
                }
            }),
            ExprKind::Index { base, index, wide } => self.element(base, index, wide, node.span)?,
            _ => None,
        };
        if let Some(var) = var {
            let Some(&Var { name, ty, value: before }) = self.vars.get(var as usize) else { return Err(Failed) };
            let mut operand = self.expr(value, Some(ty))?;
            if let Some(op) = op {
                // The left operand is the value that the variable has before the right side is
                // evaluated, because the right side may assign the variable.
                operand = self.operate(op, Operand::Value(before), operand, (node.span, at), Some(ty), span)?;
            }
            if operand == Operand::Never {
                return Ok(());
            }
            let value = self.value(operand, ty, at)?;
            if self.b.kernel().value_name(value).is_none() {
                self.b.name(value, self.symbols.text(name));
            }
            if let Some(var) = self.vars.get_mut(var as usize) {
                var.value = value;
            }
            return Ok(());
        }
        if !matches!(node.kind, ExprKind::Index { .. } | ExprKind::Field { .. } | ExprKind::Access { .. }) {
            return Err(self.error(node.span, "a value", "a variable, or an element: `x[i] = ..`"));
        }
        match op {
            None => {
                let expected = self.stored_type(target);
                let operand = self.expr(value, expected)?;
                let place = self.place(target)?;
                self.store(&place, operand, at, span)
            }
            Some(op) => {
                let place = self.place(target)?;
                let before = self.load_from(&place, node.span)?;
                let ty = self.type_of(&before);
                let operand = self.expr(value, ty)?;
                let operand = self.operate(op, before, operand, (node.span, at), ty, span)?;
                self.store(&place, operand, at, span)
            }
        }
    }

    /// Returns the type of an element of a buffer or array without lowering the place. Untyped
    /// numbers that are stored there get this type. Returns `None` for other places.
    fn stored_type(&self, target: ExprId) -> Option<Type> {
        let ast = self.ast;
        let mut id = target;
        let mut field = None;
        for _ in 0..super::MAX_NESTING {
            match ast.expr(id).kind {
                ExprKind::Index { base, .. } => id = base,
                ExprKind::Access { place, .. } => id = place,
                ExprKind::Field { base, field: name } => (id, field) = (base, Some(name.sym)),
                ExprKind::Name(name) => {
                    let Some(Binding::Fixed(Operand::Buffer(buffer))) = self.binding(name) else { return None };
                    return match (buffer.elem, field) {
                        (super::Elem::Type(ty), _) => Some(ty),
                        (super::Elem::Struct(number), Some(field)) => {
                            let layout = self.layout(number).ok()?;
                            layout.fields.iter().find(|of| of.name == field).map(|of| of.ty)
                        }
                        _ => None,
                    };
                }
                _ => return None,
            }
        }
        None
    }

    /// Lowers the declaration of an array of variables (`var v: i32[16]`), which are all initialised to zero.
    fn array_of_variables(&mut self, name: Ident, ty: Ident, count: ExprId, span: Span) -> Lowering<()> {
        let at = self.ast.expr(count).span;
        let made = self.ty(ty).and_then(|of| Ok((of, self.small(count, "a number of variables")?)));
        let (of, count) = made.inspect_err(|_| self.scopes.push((name.sym, Binding::Fixed(Operand::Failed))))?;
        if count == 0 || count > MAX_VARIABLES || of == Type::PTR {
            self.scopes.push((name.sym, Binding::Fixed(Operand::Failed)));
            let what =
                if of == Type::PTR { "addresses that are zero".to_owned() } else { format!("{count} variables") };
            return Err(self.error_help(
                at,
                what,
                format!("1 to {MAX_VARIABLES} values"),
                "`scratch` is memory of the item",
            ));
        }
        self.at(span);
        let value = self.b.const_words(of, [0; 8]);
        let first = self.vars.len() as u32;
        self.vars.extend((0..count).map(|_| Var { name: name.sym, ty: of, value }));
        self.scopes.push((name.sym, Binding::Vars(first, count)));
        Ok(())
    }

    /// Returns the variable that an index selects from an array of variables, or `None` if the base
    /// is no array of variables.
    pub(super) fn element(
        &mut self,
        base: ExprId,
        index: ExprId,
        wide: Option<crate::ast::Wide>,
        span: Span,
    ) -> Lowering<Option<u32>> {
        let ExprKind::Name(name) = self.ast.expr(base).kind else { return Ok(None) };
        let Some(&Binding::Vars(first, count)) = self.binding(name) else { return Ok(None) };
        if let Some(wide) = wide {
            return Err(self.error(
                wide.span,
                "`wide` is not supported in the index of a variable",
                "an index without `wide`",
            ));
        }
        let number = self.known_number(index, "the number of a variable")?;
        match u32::try_from(number).ok().filter(|number| *number < count) {
            Some(number) => Ok(Some(first + number)),
            None => Err(self.error(span, format!("variable {number} of {count}"), format!("0 to {}", count - 1))),
        }
    }

    /// Lowers the declaration of an array in memory: `shared tile: i32[256]`.
    fn array(&mut self, array: ArrayDecl, span: Span) -> Lowering<()> {
        let made = self.array_of(array, span);
        let operand = made.as_ref().map_or(Operand::Failed, |buffer| Operand::Buffer(*buffer));
        self.scopes.push((array.name.sym, Binding::Fixed(operand)));
        made.map(|_| ())
    }

    fn array_of(&mut self, array: ArrayDecl, span: Span) -> Lowering<Buffer> {
        if !self.frames.is_empty() || !self.loops.is_empty() {
            let message = format!("`{}` in a function or loop", array.space);
            let help = "a function takes an array as a buffer: `tile: inout i32`";
            return Err(
                self.report(Diagnostic::new(span, message).expected("a declaration in the kernel's body").help(help))
            );
        }
        let elem = self.elem(array.elem)?;
        let size = self.size_of(elem)?;
        let stored = self.stored(elem);
        let count = match array.count {
            None => None,
            Some(count) => {
                let at = self.ast.expr(count).span;
                let count = self.small(count, "a number of elements")?;
                let units = u64::from(count) * u64::from(size) / u64::from(stored.bytes().max(1));
                let units = u32::try_from(units);
                Some(units.map_err(|_| self.error(at, format!("{count} elements"), "fewer"))?)
            }
        };
        let align = match array.align {
            Some(align) => self.small(align, "an alignment in bytes")?,
            None => self.alignment_of(elem),
        };
        self.at(span);
        let value = self.b.array_aligned(self.symbols.text(array.name.sym), array.space, stored, count, align);
        Ok(Buffer { value, elem, direction: None })
    }
}
