//! Calls of ops by name. The op table determines the modifiers, operands and types that an op takes.

use halfbyte_abi::{Axis, Type};
use halfbyte_ir::op::{ArgType, AttrKind, OpRow, ResultType};
use halfbyte_ir::text::{UNALIGNED, no_op, one_of, op_meant, refused_flag, suffix_meant, suffix_words};
use halfbyte_ir::{
    AtomicAttr, Attr, FenceAttr, FlagKind, FloatCC, FloatFlags, IntCC, LaneMap, MemOrder, Op, Scope, Span,
};

use super::operand::{Operand, conversions};
use super::{Failed, Lower, Lowering};
use crate::ast::{Arg, ExprKind, Ident, Range};
use crate::std_lib;

/// Modifiers and type suffix between an op's name and its operands.
#[derive(Default)]
struct Suffix {
    int_cc: Option<IntCC>,
    float_cc: Option<FloatCC>,
    axis: Option<Axis>,
    order: Option<MemOrder>,
    scope: Option<Scope>,
    unaligned: bool,
    flags: FloatFlags,
    ty: Option<Type>,
}

impl Lower<'_> {
    /// Reports a call whose name is neither that of a function nor that of an op.
    pub(super) fn no_function(&mut self, name: Ident) -> Failed {
        let text = self.symbols.text(name.sym);
        if let Some(why) = no_op(text) {
            return self.error_help(
                name.span,
                format!("`{text}` is neither a function nor an op"),
                "a function or op",
                why,
            );
        }
        if let Some(file) = std_lib::file_of(text) {
            let help = format!("add `include \"{file}\"`, a file of the standard library");
            return self.error_help(
                name.span,
                format!("`{text}` is neither a function nor an op"),
                "a function or op",
                help,
            );
        }
        let near = self.near(name.sym).map(|near| format!("`{near}`")).or_else(|| op_meant(text));
        let expected = near.map_or("a function or op".into(), |near| format!("a function or op; did you mean {near}?"));
        self.error(name.span, format!("`{text}` is neither a function nor an op"), expected)
    }

    /// Lowers the call of an op.
    pub(super) fn op_call(
        &mut self,
        op: Op,
        name: Ident,
        modifiers: Range,
        args: Range,
        expected: Option<Type>,
        span: Span,
    ) -> Lowering<Operand> {
        let row = op.row();
        let refused = match row.attr {
            AttrKind::Targets => Some("use `if`, `while`, `for`, `break` and `return` for control flow"),
            AttrKind::Const => Some("write a constant with a type as `3i32`, `1.5f16x2` or `i8x4(1, 2, 3, 4)`"),
            _ if op == Op::Ret => Some("`return` ends the work item"),
            _ => None,
        };
        if let Some(help) = refused {
            return Err(self.error_help(name.span, format!("`{}` is not called", row.name), "a statement", help));
        }
        let suffix = self.suffix(row, modifiers, name.span)?;
        let ast = self.ast;
        let args = ast.args(args);
        match row.attr {
            AttrKind::Mem | AttrKind::Atomic => self.memory(row, &suffix, args, expected, span),
            AttrKind::Intrinsic => self.intrinsic(&suffix, args, expected, span),
            _ => self.plain_op(row, &suffix, args, expected, span),
        }
    }

    fn suffix(&mut self, row: &OpRow, modifiers: Range, name: Span) -> Lowering<Suffix> {
        let mut suffix = Suffix::default();
        let mut flags: Vec<(FlagKind, &str, Span)> = Vec::new();
        let ast = self.ast;
        let has_order = matches!(row.attr, AttrKind::Atomic | AttrKind::Fence);
        for &modifier in ast.idents(modifiers) {
            let (word, span) = (self.symbols.text(modifier.sym), modifier.span);
            if suffix.ty.is_some() {
                return Err(self.error(span, format!("`{word}` after the type"), "the type as the last suffix"));
            }
            let generic = || self.frames.last().and_then(|f| f.generics.iter().find(|(sym, _)| *sym == modifier.sym));
            let again = if let Some(ty) = self.types.get(&modifier.sym).copied().or(generic().map(|(_, ty)| *ty)) {
                if row.types.is_none() {
                    return Err(self.error(span, format!("`{}` takes no type", row.name), "no suffix"));
                }
                suffix.ty.replace(ty).map(|_| "another")
            } else if let Some(cc) = IntCC::from_name(word).filter(|_| row.attr == AttrKind::IntCC) {
                suffix.int_cc.replace(cc).map(IntCC::name)
            } else if let Some(cc) = FloatCC::from_name(word).filter(|_| row.attr == AttrKind::FloatCC) {
                suffix.float_cc.replace(cc).map(FloatCC::name)
            } else if let Some(axis) = Axis::from_name(word).filter(|_| row.attr == AttrKind::Axis) {
                suffix.axis.replace(axis).map(Axis::name)
            } else if let Some(order) = MemOrder::from_name(word).filter(|_| has_order) {
                if !row.op.orders().contains(&order) {
                    let expected = one_of(row.op.orders());
                    return Err(self.error(span, format!("`{}` does not take `{word}`", row.name), expected));
                }
                suffix.order.replace(order).map(MemOrder::name)
            } else if let Some(scope) = Scope::from_name(word).filter(|_| has_order) {
                suffix.scope.replace(scope).map(Scope::name)
            } else if word == UNALIGNED && row.attr == AttrKind::Barrier {
                std::mem::replace(&mut suffix.unaligned, true).then_some(UNALIGNED)
            } else if let Some(kind) = FlagKind::of(word) {
                let before = flags.iter().find(|&&(other, ..)| other == kind).map(|&(_, word, _)| word);
                flags.push((kind, word, span));
                suffix.flags.set(word);
                before
            } else {
                return Err(self.unknown_suffix(row, word, span));
            };
            if let Some(other) = again {
                return Err(self.error(span, format!("`{word}` after `{other}`"), "one of them"));
            }
        }
        for (kind, word, span) in flags {
            if let Some((message, expected)) = refused_flag(row, suffix.ty, kind, word) {
                return Err(self.error(span, message, expected));
            }
        }
        let without = |what: &str| format!("`{}` without {what}", row.name);
        match row.attr {
            AttrKind::IntCC if suffix.int_cc.is_none() => {
                Err(self.error(name, without("a condition"), one_of(IntCC::ALL)))
            }
            AttrKind::FloatCC if suffix.float_cc.is_none() => {
                Err(self.error(name, without("a condition"), one_of(FloatCC::ALL)))
            }
            AttrKind::Fence if suffix.order.is_none() => {
                Err(self.error(name, without("a memory order"), one_of(row.op.orders())))
            }
            AttrKind::Fence if suffix.scope.is_none() => Err(self.error(name, without("a scope"), one_of(Scope::ALL))),
            _ => Ok(suffix),
        }
    }

    fn unknown_suffix(&mut self, row: &OpRow, word: &str, span: Span) -> Failed {
        let words = suffix_words(row);
        let expected = match suffix_meant(row, word, &words) {
            Some(meant) => format!("a type or modifier; did you mean {meant}?"),
            None if words.is_empty() => row.types.map_or("no suffix".into(), |types| types.name.into()),
            None => format!("{} and {}", one_of(words), row.types.map_or("no type", |types| types.name)),
        };
        self.error(span, format!("`{word}` is neither a type nor a modifier of `{}`", row.name), expected)
    }

    /// Returns the source position of an argument.
    fn span_of(&self, arg: &Arg) -> Span {
        match arg {
            Arg::Value(value) => self.ast.expr(*value).span,
            Arg::List(_, span) | Arg::Text(_, span) => *span,
        }
    }

    /// Lowers an argument that must be a value.
    fn operand(&mut self, arg: &Arg, expected: Option<Type>) -> Lowering<Operand> {
        match arg {
            Arg::Value(value) => self.expr(*value, expected),
            Arg::List(_, span) => Err(self.error_help(
                *span,
                "a list",
                "a value",
                "write a vector as a call of its type: `i8x4(1, 2, 3, 4)`",
            )),
            Arg::Text(_, span) => Err(self.error(*span, "a text", "a value")),
        }
    }

    /// Reports a wrong number of operands.
    fn count(&mut self, row: &OpRow, given: usize, extra: usize, span: Span) -> Lowering<()> {
        let arity = row.arity();
        let wanted = arity.start() + extra..=arity.end().saturating_add(extra);
        if wanted.contains(&given) {
            return Ok(());
        }
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        let expected = match (*wanted.start(), *wanted.end()) {
            (least, usize::MAX) => format!("at least {least}"),
            (least, most) if least == most => least.to_string(),
            (least, most) => format!("{least} to {most}"),
        };
        let message = format!("`{}` has {given} operand{}", row.name, plural(given));
        Err(self.error_help(span, message, expected, format!("in plain IR it is `{}`", row.example)))
    }

    fn plain_op(
        &mut self,
        row: &OpRow,
        suffix: &Suffix,
        args: &[Arg],
        expected: Option<Type>,
        span: Span,
    ) -> Lowering<Operand> {
        let extra = usize::from(matches!(row.attr, AttrKind::Lane | AttrKind::Lanes));
        self.count(row, args.len(), extra, span)?;
        let (values, carried) = args.split_at(args.len().saturating_sub(extra));
        let mut ty = suffix.ty.or(row.fixed_type());
        // If the operands of the op have the type of its result, the expected type of the result
        // applies to the operands.
        let hint = ty.or(match row.result {
            ResultType::Same if row.convert.is_none() => expected,
            _ => None,
        });
        let mut operands = Vec::with_capacity(values.len());
        for (number, arg) in values.iter().enumerate() {
            let wanted = match (row.arg(number), ty.or(hint)) {
                (Some(ArgType::Exactly(ty)), _) => Some(ty),
                (Some(ArgType::Same), Some(ty)) => Some(ty),
                (Some(ArgType::Lane), Some(ty)) => Some(ty.lane_type()),
                (Some(ArgType::Mask), Some(ty)) => ty.mask_type(),
                _ => None,
            };
            let operand = self.operand(arg, wanted)?;
            if operand == Operand::Never {
                return Ok(Operand::Never);
            }
            if ty.is_none() && row.arg(number) == Some(ArgType::Same) {
                ty = self.type_of(&operand);
            }
            operands.push(operand);
        }
        let controlling = match ty {
            Some(ty) => ty,
            None => self.controlling(row, &operands, values, expected, span)?,
        };
        if let Some(types) = row.types.filter(|types| !types.contains(controlling)) {
            let message = format!("`{}` does not take `{controlling}`", row.name);
            return Err(self.error(span, message, types.name));
        }
        let flags: Vec<&str> = FlagKind::ALL.into_iter().filter_map(|kind| suffix.flags.word(kind)).collect();
        for word in flags {
            if let Some(kind) = FlagKind::of(word)
                && let Some((message, expected)) = refused_flag(row, Some(controlling), kind, word)
            {
                return Err(self.error(span, message, expected));
            }
        }
        let mut given = Vec::with_capacity(operands.len());
        let mut parts = None;
        for (number, (operand, arg)) in operands.into_iter().zip(values).enumerate() {
            let at = self.span_of(arg);
            let wanted = row.arg(number).unwrap_or(ArgType::Same);
            let operand = self.argument(row, controlling, wanted, operand, &mut parts, at)?;
            given.push((operand, at));
        }
        if let (Op::Concat, Some(part)) = (row.op, parts) {
            let bits = part.bits() as usize * given.len();
            if bits != controlling.bits() as usize {
                let message = format!("{} parts of `{part}` have {bits} bits", given.len());
                return Err(self.error(span, message, format!("{} for `{controlling}`", controlling.bits())));
            }
        }
        let attr = match (row.attr, carried.first()) {
            (AttrKind::Lane, Some(arg)) => self.lane(row, controlling, parts, arg)?,
            (AttrKind::Lanes, Some(arg)) => self.lanes(controlling, arg)?,
            (AttrKind::Float(_), _) => Attr::Float(suffix.flags),
            (AttrKind::IntCC, _) => suffix.int_cc.map_or(Attr::None, Attr::IntCC),
            (AttrKind::FloatCC, _) => {
                suffix.float_cc.map_or(Attr::None, |cc| Attr::FloatCC { cc, ftz: suffix.flags.ftz })
            }
            (AttrKind::Axis, _) => suffix.axis.map_or(Attr::None, Attr::Axis),
            (AttrKind::Barrier, _) => Attr::Aligned(!suffix.unaligned),
            (AttrKind::Fence, _) => {
                let (order, scope) = (suffix.order.unwrap_or_default(), suffix.scope.unwrap_or_default());
                Attr::Fence(FenceAttr { order, scope })
            }
            _ => Attr::None,
        };
        self.instruction((row.op, controlling, attr), given, span)
    }

    /// Infers the controlling type of an op from its operands, if the op has no type suffix.
    fn controlling(
        &mut self,
        row: &OpRow,
        operands: &[Operand],
        args: &[Arg],
        expected: Option<Type>,
        span: Span,
    ) -> Lowering<Type> {
        let takes = |ty: &Type| row.types.is_none_or(|types| types.contains(*ty));
        let of_result = match row.result {
            ResultType::Same => expected.filter(takes),
            _ => None,
        };
        if let Some(ty) = of_result {
            return Ok(ty);
        }
        // If all operands of the controlling type are untyped numbers, the first operand gets the type `i32`.
        let first = operands.iter().zip(args).enumerate().find(|(number, _)| row.arg(*number) == Some(ArgType::Same));
        if let Some((_, (operand, arg))) = first {
            let at = self.span_of(arg);
            let typed = self.typed(operand.clone(), None, at)?;
            return self.type_of(&typed).ok_or(Failed).map_err(|_| self.mismatch(&typed, Type::I32, at));
        }
        let types = row.types.map_or("", |types| types.name);
        let expected = format!("`{}.TYPE(..)`, {types}", row.name);
        let help = format!("as in `let r: {} = {}(..)`, or with the type after the op", first_type(row), row.name);
        Err(self.error_help(span, format!("`{}` needs a type suffix", row.name), expected, help))
    }

    /// Checks that an operand of an op has the required type.
    fn argument(
        &mut self,
        row: &OpRow,
        ty: Type,
        wanted: ArgType,
        operand: Operand,
        parts: &mut Option<Type>,
        span: Span,
    ) -> Lowering<Operand> {
        let exactly = match wanted {
            ArgType::Same => Some(ty),
            ArgType::Lane => Some(ty.lane_type()),
            ArgType::Mask => ty.mask_type(),
            ArgType::Exactly(ty) => Some(ty),
            ArgType::Condition => match self.type_of(&operand) {
                Some(given) if Some(given) == ty.mask_type() => Some(given),
                _ => Some(Type::I1),
            },
            ArgType::Converted => None,
        };
        if let Some(exactly) = exactly {
            return self.fit(operand, exactly, span);
        }
        let operand = match (&operand, *parts) {
            (Operand::Number(_), Some(part)) => self.fit(operand, part, span)?,
            _ => self.typed(operand, None, span)?,
        };
        let Some(from) = self.type_of(&operand) else { return Err(self.mismatch(&operand, ty, span)) };
        if !row.converts(from, ty) {
            let sources: Vec<Type> = row.sources(ty).collect();
            let message = format!("`{}.{ty}` does not take `{from}`", row.name);
            let expected = if sources.is_empty() { "another op".into() } else { one_of(sources) };
            return Err(match conversions(from, ty) {
                Some(help) => self.error_help(span, message, expected, help),
                None => self.error(span, message, expected),
            });
        }
        if let Some(part) = parts.filter(|part| *part != from) {
            return Err(self.error(
                span,
                format!("the parts have the types `{part}` and `{from}`"),
                "parts of one type",
            ));
        }
        *parts = Some(from);
        Ok(operand)
    }

    /// Evaluates a lane number or part number at compile time.
    fn lane(&mut self, row: &OpRow, ty: Type, whole: Option<Type>, arg: &Arg) -> Lowering<Attr> {
        let at = self.span_of(arg);
        let Arg::Value(value) = *arg else {
            return Err(self.error(at, "a list", "a lane number"));
        };
        let number = self.known_number(value, "a lane number")?;
        let count = match (row.op, whole) {
            (Op::Split, Some(whole)) => (whole.bits() / ty.bits().max(1)) as usize,
            _ => ty.lanes(),
        };
        match u8::try_from(number).ok().filter(|&lane| usize::from(lane) < count) {
            Some(lane) => Ok(Attr::Lane(lane)),
            None => {
                Err(self.error(at, format!("lane {number} of {count}"), format!("0 to {}", count.saturating_sub(1))))
            }
        }
    }

    /// Evaluates the list of source lanes of a shuffle at compile time.
    fn lanes(&mut self, ty: Type, arg: &Arg) -> Lowering<Attr> {
        let at = self.span_of(arg);
        let Arg::List(list, _) = *arg else {
            return Err(self.error(at, "a value", format!("a list of {} lane numbers: `[0, 1]`", ty.lanes())));
        };
        let ast = self.ast;
        let mut lanes = Vec::new();
        for &item in ast.list(list) {
            let number = self.known_number(item, "a lane number")?;
            match u8::try_from(number).ok().filter(|&lane| usize::from(lane) < 2 * ty.lanes()) {
                Some(lane) => lanes.push(lane),
                None => {
                    let message = format!("lane {number} of two operands of {} lanes each", ty.lanes());
                    return Err(self.error(ast.expr(item).span, message, format!("0 to {}", 2 * ty.lanes() - 1)));
                }
            }
        }
        if lanes.len() != ty.lanes() {
            let message = format!("{} lane numbers", lanes.len());
            return Err(self.error(at, message, format!("{}, one for each lane of `{ty}`", ty.lanes())));
        }
        Ok(Attr::Lanes(LaneMap::new(&lanes)))
    }

    /// Lowers a memory access. Its arguments are values, followed by the accessed place, such as `x[i]`.
    fn memory(
        &mut self,
        row: &OpRow,
        suffix: &Suffix,
        args: &[Arg],
        _expected: Option<Type>,
        span: Span,
    ) -> Lowering<Operand> {
        // The accessed place, together with its index, is one argument.
        if args.len() != row.args.len() {
            let wanted = row.args.len();
            let message =
                format!("`{}` has {} operand{}", row.name, args.len(), if args.len() == 1 { "" } else { "s" });
            let help = if wanted == 1 {
                format!("as in `{}(x[i])`", row.name)
            } else {
                format!("the value comes first: `{}(v, x[i])`", row.name)
            };
            return Err(self.error_help(span, message, wanted.to_string(), help));
        }
        let Some((last, values)) = args.split_last() else { return Err(Failed) };
        let mut operands = Vec::new();
        for arg in values {
            let operand = self.operand(arg, suffix.ty)?;
            if operand == Operand::Never {
                return Ok(operand);
            }
            operands.push(operand);
        }
        let Arg::Value(at) = *last else {
            return Err(self.error(self.span_of(last), "no place", "a place: `x[i]`"));
        };
        let is_place = matches!(
            self.ast.expr(at).kind,
            ExprKind::Name(_)
                | ExprKind::Index { .. }
                | ExprKind::Field { .. }
                | ExprKind::Access { .. }
                | ExprKind::Call { .. }
        );
        if !is_place {
            let span = self.ast.expr(at).span;
            return Err(self.error(span, "a value", "a place: `x[i]`"));
        }
        let place = self.place(at)?;
        let of_value = operands.iter().find_map(|operand| self.type_of(operand));
        let known = suffix.ty.or_else(|| if place.elem.is_none() { of_value } else { None });
        let ty = self.accessed(&place, known)?;
        if let Some(types) = row.types.filter(|types| !types.contains(ty)) {
            return Err(self.error(span, format!("`{}` does not take `{ty}`", row.name), types.name));
        }
        let is_read = matches!(row.op, Op::Load | Op::AtomicLoad);
        if !is_read {
            self.writable(&place)?;
        }
        let mut given = Vec::new();
        for (operand, arg) in operands.into_iter().zip(values) {
            let at = self.span_of(arg);
            given.push(self.value(operand, ty, at)?);
        }
        let is_aligned = matches!(self.ast.expr(at).kind, ExprKind::Access { align: Some(_), .. });
        let (mut mem, index) = self.address(&place, ty)?;
        let attr = match row.attr {
            AttrKind::Atomic => {
                if !is_aligned {
                    mem.align = ty.bytes();
                }
                let (order, scope) = (suffix.order.unwrap_or_default(), suffix.scope.unwrap_or_default());
                Attr::Atomic(AtomicAttr { mem, order, scope })
            }
            _ => Attr::Mem(mem),
        };
        given.push(place.base);
        given.extend(index);
        self.at(span);
        let inst = self.b.inst(row.op, ty, attr, &given);
        Ok(self.b.kernel().result(inst).map_or(Operand::NOTHING, Operand::Value))
    }

    /// Lowers a target instruction: `intrinsic.i8x4(halu, "text", a, b)`.
    fn intrinsic(&mut self, suffix: &Suffix, args: &[Arg], expected: Option<Type>, span: Span) -> Lowering<Operand> {
        let help = "as in `intrinsic.i8x4(halu, \"vadd4 ..\", a, b)`";
        let (Some(&Arg::Value(target)), Some(&Arg::Text(text, _))) = (args.first(), args.get(1)) else {
            return Err(self.error_help(span, "the intrinsic has no target or no text", "both", help));
        };
        let ExprKind::Name(target) = self.ast.expr(target).kind else {
            return Err(self.error_help(
                self.ast.expr(target).span,
                "the target is not a name",
                "a target's name",
                help,
            ));
        };
        let Some(ty) = suffix.ty.or(expected) else {
            return Err(self.error_help(span, "`intrinsic` needs a type suffix", "`intrinsic.TYPE(..)`", help));
        };
        let mut given = Vec::new();
        for arg in args.iter().skip(2) {
            let at = self.span_of(arg);
            let operand = self.operand(arg, None)?;
            let operand = self.typed(operand, None, at)?;
            given.push(self.emit(operand, at)?);
        }
        self.at(span);
        let (target, text) = (self.symbols.text(target), self.symbols.text(text));
        Ok(Operand::Value(self.b.intrinsic(ty, target, text, &given)))
    }
}

/// Returns an example of a type that the op takes.
fn first_type(row: &OpRow) -> &'static str {
    let wide = [Type::I32, Type::F32, Type::F16X2, Type::I8X4, Type::I8X16];
    let all = wide.iter().chain(Type::ALL);
    let fits = |ty: &&Type| row.types.is_none_or(|types| types.contains(**ty));
    all.copied().find(|ty| fits(&ty)).map_or("i32", |ty| ty.name())
}
