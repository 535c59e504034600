//! Places (lvalues): elements of buffers and arrays, and fields of their elements.

use halfbyte_abi::{Direction, Type};
use halfbyte_ir::{Attr, MemAttr, Op, Span, Value};

use super::operand::Operand;
use super::{Buffer, Elem, Failed, Lower, Lowering};
use crate::ast::{BinOp, ExprId, ExprKind};

/// Address of a memory access. The accessed type may not be known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lvalue {
    pub base: Value,
    index: Option<Value>,
    wide: bool,
    /// Number of bytes by which the index is multiplied; `None` for the size of the accessed type.
    scale: Option<u32>,
    /// Constant that is added to the index, before the multiplication by the scale.
    steps: i128,
    /// Constant that is added to the address, in bytes.
    bytes: i128,
    align: Option<u32>,
    /// Type of the element at the place, if known.
    pub elem: Option<Elem>,
    /// Number of elements, if the place is an array field of a structure.
    count: Option<u32>,
    pub direction: Option<Option<Direction>>,
    pub span: Span,
}

/// Index of an element: a value plus a constant.
struct Index {
    value: Option<Value>,
    steps: i128,
}

impl Lower<'_> {
    /// Lowers a load from the place that an expression denotes.
    pub(super) fn load(&mut self, id: ExprId, ty: Option<Type>) -> Lowering<Operand> {
        let span = self.ast.expr(id).span;
        let place = self.place(id)?;
        let ty = self.accessed(&place, ty)?;
        let (attr, args) = self.address(&place, ty)?;
        if args.is_none()
            && let Some(known) = self.element_of_table(&place, ty, attr)
        {
            return Ok(known);
        }
        self.at(span);
        let args = [place.base, args.unwrap_or(place.base)].into_iter().take(1 + usize::from(args.is_some()));
        let args: Vec<Value> = args.collect();
        Ok(Operand::Value(self.b.value(Op::Load, ty, Attr::Mem(attr), &args)))
    }

    /// Lowers a store of a value to a place.
    pub(super) fn store(&mut self, place: &Lvalue, value: Operand, at: Span, span: Span) -> Lowering<()> {
        if value == Operand::Never {
            return Ok(());
        }
        let ty = self.accessed(place, None)?;
        self.writable(place)?;
        let value = self.value(value, ty, at)?;
        let (attr, index) = self.address(place, ty)?;
        self.at(span);
        let args: Vec<Value> = [value, place.base].into_iter().chain(index).collect();
        self.b.inst(Op::Store, ty, Attr::Mem(attr), &args);
        Ok(())
    }

    /// Lowers the load of a place's old value for a compound assignment, such as `+=`.
    pub(super) fn load_from(&mut self, place: &Lvalue, span: Span) -> Lowering<Operand> {
        let ty = self.accessed(place, None)?;
        let (attr, index) = self.address(place, ty)?;
        self.at(span);
        let args: Vec<Value> = [place.base].into_iter().chain(index).collect();
        Ok(Operand::Value(self.b.value(Op::Load, ty, Attr::Mem(attr), &args)))
    }

    pub(super) fn writable(&mut self, place: &Lvalue) -> Lowering<()> {
        if place.direction == Some(Some(Direction::In)) {
            return Err(self.error(place.span, "cannot store to an `in` buffer", "an `out` or `inout` buffer"));
        }
        Ok(())
    }

    /// Returns the type of a memory access: `said` if it is given, else the type of the element at the place.
    pub(super) fn accessed(&mut self, place: &Lvalue, said: Option<Type>) -> Lowering<Type> {
        let span = place.span;
        match (said, place.elem, place.count) {
            (Some(ty), ..) => Ok(ty),
            (None, Some(Elem::Type(ty)), None) => Ok(ty),
            (None, Some(Elem::Type(_)), Some(count)) => {
                Err(self.error(span, format!("the field has {count} elements"), "an index: `x[i].q[j]`"))
            }
            (None, Some(Elem::Struct(number)), _) => {
                let of = self.ast.structs.get(number as usize).map_or("", |of| self.symbols.text(of.name.sym));
                Err(self.error(span, format!("`{of}` is a structure"), "one of its fields: `x[i].field`"))
            }
            (None, None, _) => Err(self.error_help(
                span,
                "the element type of an address is unknown",
                "a type",
                "as in `load.i32(p[i])` or `store.i32(v, p[i])`",
            )),
        }
    }

    /// Returns the address attribute and the index value of a memory access.
    pub(super) fn address(&mut self, place: &Lvalue, ty: Type) -> Lowering<(MemAttr, Option<Value>)> {
        let mut mem = self.b.kernel().default_mem(place.base, ty);
        let scale = place.scale.unwrap_or(mem.scale);
        let offset = place.steps.checked_mul(scale.into()).and_then(|steps| steps.checked_add(place.bytes));
        mem.offset = offset.and_then(|offset| i32::try_from(offset).ok()).ok_or(()).map_err(|()| {
            let message = "the offset is more than 2 GiB".to_owned();
            self.error(place.span, message, format!("{} to {} bytes", i32::MIN, i32::MAX))
        })?;
        mem.scale = scale;
        mem.wide = place.wide;
        mem.align = place.align.unwrap_or(mem.align);
        // The offset of an IR address must be a multiple of the scale. For any other offset of a
        // field, the index is converted to bytes.
        if mem.offset % scale.max(1) as i32 != 0 {
            let place = self.in_bytes(*place, place.span)?;
            mem.scale = 1;
            return Ok((mem, place.index));
        }
        Ok((mem, place.index))
    }

    /// Lowers an expression that denotes a place, such as `x[i].d`.
    pub(super) fn place(&mut self, id: ExprId) -> Lowering<Lvalue> {
        let expr = self.ast.expr(id);
        self.step(expr.span)?;
        match expr.kind {
            ExprKind::Access { place, step, align } => {
                let mut of = self.deeper(expr.span, |lower| lower.place(place))?;
                of.span = expr.span;
                if let Some(step) = step {
                    let at = self.ast.expr(step).span;
                    let step = self.small(step, "a number of bytes")?;
                    if !step.is_power_of_two() || step > 64 {
                        return Err(self.error(at, format!("`step` is {step} bytes"), "a power of two up to 64"));
                    }
                    of.scale = Some(step);
                }
                if let Some(align) = align {
                    let at = self.ast.expr(align).span;
                    let align = self.small(align, "an alignment in bytes")?;
                    if !align.is_power_of_two() || align > halfbyte_ir::verify::MAX_ALIGN {
                        let most = halfbyte_ir::verify::MAX_ALIGN;
                        return Err(self.error(
                            at,
                            format!("the alignment is {align} bytes"),
                            format!("a power of two up to {most}"),
                        ));
                    }
                    of.align = Some(align);
                }
                Ok(of)
            }
            ExprKind::Index { base, index, wide } => {
                let of = self.deeper(expr.span, |lower| lower.place(base))?;
                let mut at = self.index(index, wide.is_some())?;
                if let Some((minus, offset)) = wide.and_then(|wide| wide.offset) {
                    let steps = self.known_number(offset, "a number after `wide`")?;
                    at.steps = if minus { -steps } else { steps };
                }
                self.indexed(of, at, wide.map(|wide| wide.span), expr.span)
            }
            ExprKind::Field { base, field } => {
                let of = self.deeper(expr.span, |lower| lower.place(base))?;
                let Some(Elem::Struct(number)) = of.elem else {
                    let what = match of.elem {
                        Some(Elem::Type(ty)) => format!("`{ty}` has no fields"),
                        _ => "an address has no fields".into(),
                    };
                    return Err(self.error(field.span, what, "an element of a structure"));
                };
                let found = self.field_of(number, field)?;
                Ok(Lvalue {
                    bytes: of.bytes + i128::from(found.offset),
                    elem: Some(Elem::Type(found.ty)),
                    count: found.count,
                    span: expr.span,
                    ..of
                })
            }
            _ => match self.expr(id, None)? {
                Operand::Buffer(Buffer { value, elem, direction }) => {
                    let size = self.size_of(elem)?;
                    Ok(Lvalue {
                        scale: Some(size),
                        elem: Some(elem),
                        direction: Some(direction),
                        ..self.pointer(value, expr.span)
                    })
                }
                operand if self.type_of(&operand) == Some(Type::PTR) => {
                    let value = self.emit(operand, expr.span)?;
                    Ok(self.pointer(value, expr.span))
                }
                operand => {
                    let message = format!("this is {}", self.described(&operand));
                    Err(self.error_help(
                        expr.span,
                        message,
                        "a buffer or an array",
                        "`x: in f16x2` among the parameters is a buffer; `extract(v, 0)` is a lane of a vector",
                    ))
                }
            },
        }
    }

    fn pointer(&self, base: Value, span: Span) -> Lvalue {
        Lvalue {
            base,
            index: None,
            wide: false,
            scale: None,
            steps: 0,
            bytes: 0,
            align: None,
            elem: None,
            count: None,
            direction: None,
            span,
        }
    }

    /// Returns the place of an element of the buffer, array or array field at `of`.
    fn indexed(&mut self, of: Lvalue, at: Index, wide: Option<Span>, span: Span) -> Lowering<Lvalue> {
        let of = Lvalue { span, ..of };
        match (of.elem, of.count) {
            // Element of an array field.
            (Some(Elem::Type(ty)), Some(count)) => {
                let size = i128::from(ty.bytes());
                if let Some(wide) = wide {
                    return Err(self.error(
                        wide,
                        "`wide` is not supported in the index of an array field",
                        "an index without `wide`",
                    ));
                }
                let Some(value) = at.value else {
                    if !(0..i128::from(count)).contains(&at.steps) {
                        let last = count.saturating_sub(1);
                        return Err(self.error(
                            span,
                            format!("element {} of {count}", at.steps),
                            format!("0 to {last}"),
                        ));
                    }
                    return Ok(Lvalue { bytes: of.bytes + at.steps * size, count: None, ..of });
                };
                let of = self.in_bytes(of, span)?;
                let value = self.times(value, ty.bytes(), span)?;
                self.at(span);
                let index = match of.index {
                    Some(index) => self.b.op(Op::Add, Type::I32, &[index, value]),
                    None => value,
                };
                Ok(Lvalue { index: Some(index), scale: Some(1), bytes: of.bytes + at.steps * size, count: None, ..of })
            }
            _ if of.index.is_some() || of.steps != 0 || of.bytes != 0 => {
                Err(self.error(span, "the element cannot be indexed", "one index"))
            }
            (Some(Elem::Struct(number)), _) => {
                let size = self.size_of(Elem::Struct(number))?;
                let place = Lvalue { index: at.value, steps: at.steps, wide: wide.is_some(), ..of };
                if size.is_power_of_two() && size <= 64 {
                    return Ok(Lvalue { scale: Some(size), ..place });
                }
                if let Some(wide) = wide {
                    let message = format!("`wide` is not supported for structures of {size} bytes");
                    return Err(self.error(wide, message, "a structure whose size is a power of two up to 64"));
                }
                self.in_bytes(Lvalue { scale: Some(size), ..place }, span)
            }
            _ => Ok(Lvalue { index: at.value, steps: at.steps, wide: wide.is_some(), ..of }),
        }
    }

    /// Converts the index of a place to bytes, so that its scale is 1.
    fn in_bytes(&mut self, of: Lvalue, span: Span) -> Lowering<Lvalue> {
        let scale = of.scale.unwrap_or(1);
        if of.wide && scale != 1 {
            return Err(self.error(
                span,
                "`wide` is not supported for this field of a structure",
                "an index without `wide`",
            ));
        }
        let index = match of.index {
            Some(index) => Some(self.times(index, scale, span)?),
            None => None,
        };
        Ok(Lvalue { index, scale: Some(1), bytes: of.bytes + of.steps * i128::from(scale), steps: 0, ..of })
    }

    fn times(&mut self, value: Value, factor: u32, span: Span) -> Lowering<Value> {
        if factor == 1 {
            return Ok(value);
        }
        self.at(span);
        let factor = self.b.int(Type::I32, factor.into());
        Ok(self.b.op(Op::Mul, Type::I32, &[value, factor]))
    }

    /// Lowers an index. A constant term of the index becomes part of the address offset, as in `%x[%i + 3]` of the IR.
    fn index(&mut self, id: ExprId, wide: bool) -> Lowering<Index> {
        let expr = self.ast.expr(id);
        if let (ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), left, right), false) = (expr.kind, wide) {
            let ast = self.ast;
            let at = (ast.expr(left).span, ast.expr(right).span);
            self.step(expr.span)?;
            let (first, second) = self.deeper(expr.span, |lower| {
                let first = lower.expr(left, Some(Type::I32))?;
                Ok((first, lower.expr(right, Some(Type::I32))?))
            })?;
            return match (self.whole_number(&first), self.whole_number(&second)) {
                (None, Some(steps)) => {
                    let value = self.index_value(first, at.0)?;
                    Ok(Index { value: Some(value), steps: if op == BinOp::Sub { -steps } else { steps } })
                }
                (Some(steps), None) if op == BinOp::Add => {
                    let value = self.index_value(second, at.1)?;
                    Ok(Index { value: Some(value), steps })
                }
                _ => {
                    let operand = self.operate(op, first, second, at, Some(Type::I32), expr.span)?;
                    self.whole_index(operand, expr.span)
                }
            };
        }
        let operand = self.expr(id, Some(Type::I32))?;
        self.whole_index(operand, expr.span)
    }

    fn whole_index(&mut self, operand: Operand, span: Span) -> Lowering<Index> {
        match self.whole_number(&operand) {
            Some(steps) => Ok(Index { value: None, steps }),
            None => Ok(Index { value: Some(self.index_value(operand, span)?), steps: 0 }),
        }
    }

    fn index_value(&mut self, operand: Operand, span: Span) -> Lowering<Value> {
        if operand == Operand::Never {
            return Err(Failed);
        }
        self.value(operand, Type::I32, span)
    }
}
