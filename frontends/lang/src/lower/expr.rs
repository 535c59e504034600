//! Lowering of expressions: names, operators and numbers.

use halfbyte_abi::Type;
use halfbyte_ir::{Attr, AttrKind, FloatCC, FloatFlags, IntCC, Op, Span};

use super::operand::{Number, Operand};
use super::{Binding, ConstantState, Failed, Global, Lower, Lowering};
use crate::ast::{BinOp, Compare, ExprId, ExprKind, Sign, UnOp};
use crate::symbols::Sym;

impl Lower<'_> {
    /// Lowers an expression. Untyped numbers in it get the type `expected`; values with a type are not converted.
    pub(super) fn expr(&mut self, id: ExprId, expected: Option<Type>) -> Lowering<Operand> {
        let expr = self.ast.expr(id);
        self.step(expr.span)?;
        match expr.kind {
            ExprKind::Number(number) => self.number(number, expr.span),
            ExprKind::Bool(value) => Ok(Operand::Bool(value)),
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Binary(..) => self.binary(id, expected),
            ExprKind::Failed => Err(Failed),
            _ => self.deeper(expr.span, |lower| lower.nested(id, expected)),
        }
    }

    fn nested(&mut self, id: ExprId, expected: Option<Type>) -> Lowering<Operand> {
        let expr = self.ast.expr(id);
        match expr.kind {
            ExprKind::Unary(op, operand) => self.unary(op, operand, expected, expr.span),
            ExprKind::Call { name, modifiers, args } => self.call(name, modifiers, args, expected, expr.span),
            ExprKind::Index { base, index, wide } => match self.element(base, index, wide, expr.span)? {
                Some(var) => self.vars.get(var as usize).map(|var| Operand::Value(var.value)).ok_or(Failed),
                None => self.load(id, None),
            },
            ExprKind::Field { .. } | ExprKind::Access { .. } => self.load(id, None),
            ExprKind::If { condition, then, otherwise } => {
                self.choice(condition, then, otherwise, expected, true, expr.span)
            }
            ExprKind::Block(block) => self.block(block, expected, true),
            ExprKind::Tuple(list) => {
                let ast = self.ast;
                let parts: Lowering<Vec<Operand>> = ast.list(list).iter().map(|&part| self.expr(part, None)).collect();
                parts.map(Operand::Tuple)
            }
            _ => self.expr(id, expected),
        }
    }

    fn number(&mut self, written: crate::ast::Number, span: Span) -> Lowering<Operand> {
        let text = self.symbols.text(written.text);
        let is_hex = text.starts_with("0x");
        let is_whole = is_hex || text.bytes().all(|byte| byte.is_ascii_digit());
        let whole = halfbyte_ir::text::magnitude(text).map(i128::from);
        if is_whole && !is_hex && whole.is_none() {
            let what = format!("`{}` is not an integer of at most 64 bits", shortened(text));
            return Err(self.error(span, what, "fewer digits"));
        }
        let kept = (is_hex || !is_whole).then_some(written.text);
        let number = Operand::Number(Number { whole: whole.filter(|_| is_whole), text: kept, negative: false });
        match written.ty {
            None => Ok(number),
            Some(ty) => {
                let ty = self.ty(ty)?;
                self.fit(number, ty, span)
            }
        }
    }

    fn name(&mut self, name: Sym, span: Span) -> Lowering<Operand> {
        match self.binding(name) {
            Some(Binding::Fixed(Operand::Failed)) => return Err(Failed),
            Some(Binding::Fixed(operand)) => return Ok(operand.clone()),
            Some(&Binding::Var(var)) => {
                return self.vars.get(var as usize).map(|var| Operand::Value(var.value)).ok_or(Failed);
            }
            Some(&Binding::Vars(_, count)) => {
                let text = self.symbols.text(name);
                let message = format!("`{text}` is {count} variables");
                return Err(self.error(span, message, format!("one of them: `{text}[0]`")));
            }
            None => {}
        }
        let text = self.symbols.text(name);
        match self.globals.get(&name) {
            Some(&Global::Constant(number)) => return self.constant_named(number),
            Some(Global::Function(_)) => {
                return Err(self.error(span, format!("`{text}` is a function"), format!("a call: `{text}(..)`")));
            }
            Some(Global::Struct(_)) => {
                return Err(self.error(span, format!("`{text}` is a structure"), "a value"));
            }
            None => {}
        }
        if let Some(op) = Op::from_name(text) {
            return Err(self.error(span, format!("`{text}` is an op"), format!("a call: `{}(..)`", op.name())));
        }
        if self.types.contains_key(&name) {
            return Err(self.error(span, format!("`{text}` is a type"), format!("a value, such as `{text}(..)`")));
        }
        let of_cuda = match text {
            "threadIdx" => Some("local_id.x()"),
            "blockIdx" => Some("group_id.x()"),
            "blockDim" => Some("group_size.x()"),
            "gridDim" => Some("group_count.x()"),
            _ => None,
        };
        let near = of_cuda.map(str::to_owned).or_else(|| self.near(name));
        let expected =
            near.map_or("the name of a value".into(), |near| format!("the name of a value; did you mean `{near}`?"));
        Err(self.error(span, format!("`{text}` is not defined"), expected))
    }

    fn constant_named(&mut self, number: u32) -> Lowering<Operand> {
        if let Some(ConstantState::Is(operand)) = self.constants.get(number as usize) {
            return Ok(operand.clone());
        }
        self.constant(number)
    }

    fn unary(&mut self, op: UnOp, operand: ExprId, expected: Option<Type>, span: Span) -> Lowering<Operand> {
        let inner = self.expr(operand, expected)?;
        match (op, &inner) {
            (_, Operand::Never) => return Ok(Operand::Never),
            (UnOp::Neg, Operand::Number(number)) => {
                return Ok(Operand::Number(Number {
                    whole: number.whole.map(|whole| -whole),
                    text: number.text,
                    negative: !number.negative,
                }));
            }
            (UnOp::Not, Operand::Number(number)) if number.whole.is_some() && expected.is_none() => {
                return Ok(Operand::whole(!number.whole.unwrap_or_default()));
            }
            _ => {}
        }
        let at = self.ast.expr(operand).span;
        let inner = self.typed(inner, expected, at)?;
        let ty = self.type_of(&inner).unwrap_or(Type::I32);
        let chosen = match op {
            UnOp::Neg if ty.is_float() => Op::Fneg,
            UnOp::Neg => Op::Neg,
            UnOp::Not => Op::Not,
        };
        self.check_type(chosen, ty, span)?;
        self.instruction((chosen, ty, plain(chosen)), vec![(inner, at)], span)
    }

    /// Lowers a left-associative chain of binary operators iteratively, so that a long chain does
    /// not overflow the stack.
    fn binary(&mut self, id: ExprId, expected: Option<Type>) -> Lowering<Operand> {
        let ast = self.ast;
        let mut spine = Vec::new();
        let mut left = id;
        while let ExprKind::Binary(op, next, right) = ast.expr(left).kind {
            spine.push((op, next, right, ast.expr(left).span));
            left = next;
        }
        // The expected type does not apply to the operands of a comparison.
        let mut wanted = Vec::with_capacity(spine.len());
        let mut at_op = expected;
        for (op, ..) in &spine {
            at_op = match op {
                BinOp::Compare(..) => None,
                BinOp::Both | BinOp::Either => Some(Type::I1),
                _ => at_op,
            };
            wanted.push(at_op);
        }
        let mut value = self.expr(left, at_op)?;
        for ((op, next, right, span), want) in spine.into_iter().zip(wanted).rev() {
            self.step(span)?;
            value = self.deeper(span, |lower| match op {
                BinOp::Both | BinOp::Either => lower.short_circuit(op == BinOp::Both, value, next, right, span),
                _ => {
                    let right_value = lower.expr(right, want)?;
                    lower.operate(op, value, right_value, (ast.expr(next).span, ast.expr(right).span), want, span)
                }
            })?;
        }
        Ok(value)
    }

    /// Lowers a binary operator on two lowered operands.
    pub(super) fn operate(
        &mut self,
        op: BinOp,
        left: Operand,
        right: Operand,
        at: (Span, Span),
        expected: Option<Type>,
        span: Span,
    ) -> Lowering<Operand> {
        if left == Operand::Never || right == Operand::Never {
            return Ok(Operand::Never);
        }
        if let Some(folded) = self.folded(op, (&left, &right), at, expected, span)? {
            return Ok(folded);
        }
        let ty = self.type_of(&left).or(self.type_of(&right));
        // If only the context determines a type, the left number gets this type.
        let (left, right, ty) = match ty {
            Some(ty) => (left, right, ty),
            None => {
                let left = self.typed(left, expected, at.0)?;
                let ty = self.type_of(&left).unwrap_or(Type::I32);
                (left, right, ty)
            }
        };
        let (chosen, attr) = self.operator(op, ty, span)?;
        self.check_type(chosen, ty, span)?;
        if let (Some(a), Some(b)) = (self.type_of(&left), self.type_of(&right))
            && a != b
        {
            let mismatch = format!("this is {}", self.described(&right));
            let expected = format!("`{a}`, as the left operand");
            let is_of_bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
            if is_of_bits && a.is_mask() != b.is_mask() {
                let help = "`&`, `^` and `|` bind tighter than comparisons: `(a <_s b) & c`";
                return Err(self.error_help(at.1, mismatch, expected, help));
            }
            return Err(match super::operand::conversions(b, a) {
                Some(help) => self.error_help(at.1, mismatch, expected, help),
                None => self.error(at.1, mismatch, expected),
            });
        }
        let left = self.fit(left, ty, at.0)?;
        let right = self.fit(right, ty, at.1)?;
        self.instruction((chosen, ty, attr), vec![(left, at.0), (right, at.1)], span)
    }

    /// Returns the op and the attribute that an operator means for a type.
    fn operator(&mut self, op: BinOp, ty: Type, span: Span) -> Lowering<(Op, Attr)> {
        let float = ty.is_float() || ty.is_fp8();
        let compared = |cc| Ok((Op::Fcmp, Attr::FloatCC { cc, ftz: false }));
        let plain = |op| Ok((op, plain(op)));
        match (op, float) {
            (BinOp::Add, false) if ty == Type::PTR => Err(self.error_help(
                span,
                "cannot calculate with an address",
                "numbers",
                "use `ptr_add(p, n)` to add n bytes to an address",
            )),
            (BinOp::Add, false) => plain(Op::Add),
            (BinOp::Add, true) => plain(Op::Fadd),
            (BinOp::Sub, false) => plain(Op::Sub),
            (BinOp::Sub, true) => plain(Op::Fsub),
            (BinOp::Mul, false) => plain(Op::Mul),
            (BinOp::Mul, true) => plain(Op::Fmul),
            (BinOp::Div(Sign::None), true) => plain(Op::Fdiv),
            (BinOp::Div(Sign::S), false) => plain(Op::DivS),
            (BinOp::Div(Sign::U), false) => plain(Op::DivU),
            (BinOp::Div(_), _) => Err(self.sign(span, "/", float)),
            (BinOp::Shl, _) => plain(Op::Shl),
            (BinOp::Shr(Sign::S), _) => plain(Op::ShrS),
            (BinOp::Shr(Sign::U), _) => plain(Op::ShrU),
            (BinOp::Shr(Sign::None), _) => Err(self.sign(span, ">>", false)),
            (BinOp::And, _) => plain(Op::And),
            (BinOp::Or, _) => plain(Op::Or),
            (BinOp::Xor, _) => plain(Op::Xor),
            (BinOp::Compare(compare, sign), true) => match (compare, sign) {
                // As in IEEE 754, `!=` is the negation of `==`, so that it is true if one operand is NaN.
                (Compare::Eq, _) => compared(FloatCC::Eq),
                (Compare::Ne, _) => compared(FloatCC::Neu),
                (_, Sign::S | Sign::U) => Err(self.sign(span, spelt(compare), true)),
                (Compare::Lt, _) => compared(FloatCC::Lt),
                (Compare::Le, _) => compared(FloatCC::Le),
                (Compare::Gt, _) => compared(FloatCC::Gt),
                (Compare::Ge, _) => compared(FloatCC::Ge),
            },
            (BinOp::Compare(Compare::Eq, _), false) if ty.is_mask() => Err(self.error_help(
                span,
                "`==` does not take masks",
                "integers or floats",
                "write `!(a ^ b)` for the lanes in which the masks are equal",
            )),
            (BinOp::Compare(Compare::Ne, _), false) if ty.is_mask() => Err(self.error_help(
                span,
                "`!=` does not take masks",
                "integers or floats",
                "write `a ^ b` for the lanes in which the masks differ",
            )),
            (BinOp::Compare(compare, sign), false) => {
                let cc = match (compare, sign) {
                    (Compare::Eq, _) => IntCC::Eq,
                    (Compare::Ne, _) => IntCC::Ne,
                    (Compare::Lt, Sign::S) => IntCC::LtS,
                    (Compare::Le, Sign::S) => IntCC::LeS,
                    (Compare::Gt, Sign::S) => IntCC::GtS,
                    (Compare::Ge, Sign::S) => IntCC::GeS,
                    (Compare::Lt, Sign::U) => IntCC::LtU,
                    (Compare::Le, Sign::U) => IntCC::LeU,
                    (Compare::Gt, Sign::U) => IntCC::GtU,
                    (Compare::Ge, Sign::U) => IntCC::GeU,
                    (_, Sign::None) => return Err(self.sign(span, spelt(compare), false)),
                };
                Ok((Op::Icmp, Attr::IntCC(cc)))
            }
            (BinOp::Both | BinOp::Either, _) => Err(Failed),
        }
    }

    /// Reports an operator whose suffix `_s` or `_u` is missing or superfluous.
    fn sign(&mut self, span: Span, mark: &str, float: bool) -> Failed {
        if float {
            return self.error(span, format!("`{mark}` on floats takes no signedness suffix"), format!("`{mark}`"));
        }
        let expected = format!("`{mark}_s` (signed) or `{mark}_u` (unsigned)");
        self.error(span, format!("`{mark}` on integers needs a signedness suffix"), expected)
    }

    /// Computes an operator on two untyped integers at compile time. Returns `None` for other
    /// operands.
    fn folded(
        &mut self,
        op: BinOp,
        (left, right): (&Operand, &Operand),
        at: (Span, Span),
        expected: Option<Type>,
        span: Span,
    ) -> Lowering<Option<Operand>> {
        let (Operand::Number(left), Operand::Number(right)) = (left, right) else { return Ok(None) };
        let (Some(a), Some(b)) = (left.whole, right.whole) else { return Ok(None) };
        let (a, b) = match op {
            BinOp::Div(sign) | BinOp::Compare(Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge, sign) => {
                (self.of_sign(a, sign, expected, at.0)?, self.of_sign(b, sign, expected, at.1)?)
            }
            BinOp::Shr(sign) => (self.of_sign(a, sign, expected, at.0)?, b),
            _ => (a, b),
        };
        if b == 0 && matches!(op, BinOp::Div(_)) {
            return Err(self.error(at.1, "division by 0", "a number other than 0"));
        }
        let count = || u32::try_from(b).ok().filter(|&count| count < 64);
        let value = match op {
            BinOp::Add => a.checked_add(b),
            BinOp::Sub => a.checked_sub(b),
            BinOp::Mul => a.checked_mul(b),
            BinOp::Div(Sign::None) | BinOp::Shr(Sign::None) => {
                let mark = if matches!(op, BinOp::Div(_)) { "/" } else { ">>" };
                return Err(self.sign(span, mark, false));
            }
            BinOp::Div(_) => a.checked_div(b),
            BinOp::Shl => count().and_then(|count| a.checked_mul(1 << count)),
            BinOp::Shr(_) => count().map(|count| a >> count),
            BinOp::And => Some(a & b),
            BinOp::Or => Some(a | b),
            BinOp::Xor => Some(a ^ b),
            BinOp::Compare(compare, _) => {
                return Ok(Some(Operand::Bool(match compare {
                    Compare::Eq => a == b,
                    Compare::Ne => a != b,
                    Compare::Lt => a < b,
                    Compare::Le => a <= b,
                    Compare::Gt => a > b,
                    Compare::Ge => a >= b,
                })));
            }
            BinOp::Both | BinOp::Either => None,
        };
        // A result too large for every type is an error, so that repeated folding cannot overflow `i128`.
        match value.filter(|value| (-(1i128 << 65)..1i128 << 65).contains(value)) {
            Some(value) => Ok(Some(Operand::whole(value))),
            None => Err(self.error(span, "the result of this operation overflows", "a result of at most 64 bits")),
        }
    }

    /// Converts an untyped integer to a signed or unsigned integer of the expected type. Without an
    /// expected type, reports an integer whose result would depend on the type.
    fn of_sign(&mut self, number: i128, sign: Sign, expected: Option<Type>, span: Span) -> Lowering<i128> {
        let signed = match sign {
            Sign::None => return Ok(number),
            Sign::S => true,
            Sign::U => false,
        };
        if let Some(ty) = expected.filter(|ty| ty.is_int()) {
            let values = 1i128 << ty.elem().bits();
            return Ok(match number {
                _ if !(-values / 2..values).contains(&number) => number,
                _ if signed && number >= values / 2 => number - values,
                _ if !signed && number < 0 => number + values,
                _ => number,
            });
        }
        let is_other = if signed { (1 << 31..1 << 32).contains(&number) } else { number < 0 };
        if !is_other {
            return Ok(number);
        }
        let help = match signed {
            true => format!("`{}i32` or `{number}i64`", number - (1 << 32)),
            false => format!("`{number}i32` or `{number}i64`"),
        };
        Err(self.error_help(
            span,
            format!("cannot infer the type of {number}"),
            "a number with a type, because its signedness matters here",
            &help,
        ))
    }

    /// Reports a controlling type that the op does not accept.
    pub(super) fn check_type(&mut self, op: Op, ty: Type, span: Span) -> Lowering<()> {
        let row = op.row();
        match row.types {
            Some(types) if !types.contains(ty) => {
                let message = format!("`{}` does not take `{ty}`", row.name);
                Err(self.error(span, message, types.name))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the attribute of an op that has no modifiers.
fn plain(op: Op) -> Attr {
    match op.row().attr {
        AttrKind::Float(_) => Attr::Float(FloatFlags::default()),
        _ => Attr::None,
    }
}

fn spelt(compare: Compare) -> &'static str {
    match compare {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}

/// Truncates a text to 40 characters for a message.
fn shortened(text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    if shown.len() < text.len() { format!("{shown}...") } else { shown }
}
