//! Calls of functions and ops, and vector constructors.

use halfbyte_abi::Type;
use halfbyte_ir::{Op, Span};

use super::operand::{Operand, conversions, of_lanes, splat};
use super::{Failed, Global, Lower, Lowering};
use crate::ast::{Arg, Ident, Range};

impl Lower<'_> {
    pub(super) fn call(
        &mut self,
        name: Ident,
        modifiers: Range,
        args: Range,
        expected: Option<Type>,
        span: Span,
    ) -> Lowering<Operand> {
        let text = self.symbols.text(name.sym);
        if let Some(&Global::Function(function)) = self.globals.get(&name.sym) {
            return self.inlined(function, modifiers, args, expected, span);
        }
        if let Some(op) = Op::from_name(text) {
            return self.op_call(op, name, modifiers, args, expected, span);
        }
        let generic = self.frames.last().and_then(|f| f.generics.iter().find(|(sym, _)| *sym == name.sym));
        match self.types.get(&name.sym).copied().or(generic.map(|(_, ty)| *ty)) {
            Some(ty) => self.made(ty, modifiers, args, span),
            None => Err(self.no_function(name)),
        }
    }

    /// Lowers a vector constructor: `i8x4(1, 2, 3, 4)` and `f16x2(a, b)` from lanes, `f16x2(a)` as
    /// a splat, `f32(1.5)` as a number of a type.
    fn made(&mut self, ty: Type, modifiers: Range, args: Range, span: Span) -> Lowering<Operand> {
        let ast = self.ast;
        if let Some(modifier) = ast.idents(modifiers).first() {
            return Err(self.error(modifier.span, format!("the constructor `{ty}` takes no modifier"), "none"));
        }
        let args = ast.args(args);
        if args.len() != 1 && args.len() != ty.lanes() {
            let message = format!("`{ty}` is given {} lanes", args.len());
            let expected =
                if ty.is_scalar() { "one".into() } else { format!("{}, or one value for all lanes", ty.lanes()) };
            return Err(self.error(span, message, expected));
        }
        let lane = ty.lane_type();
        let mut lanes = Vec::with_capacity(args.len());
        for arg in args {
            let Arg::Value(value) = *arg else {
                return Err(self.error(span, "no value", "the value of a lane"));
            };
            let at = ast.expr(value).span;
            let operand = self.expr(value, Some(lane))?;
            match &operand {
                Operand::Never => return Ok(Operand::Never),
                // A single hexadecimal number can have the bits of the whole vector.
                Operand::Number(_) if args.len() == 1 => return self.fit(operand, ty, at),
                _ => {}
            }
            if self.type_of(&operand).is_some_and(|from| from != lane) {
                let message = format!("this is {}, and `{ty}(..)` does not convert", self.described(&operand));
                let from = self.type_of(&operand).unwrap_or(lane);
                return Err(match conversions(from, lane) {
                    Some(help) => self.error_help(at, message, format!("`{lane}`"), help),
                    None => self.error(at, message, format!("`{lane}`")),
                });
            }
            lanes.push((self.fit(operand, lane, at)?, at));
        }
        let known: Option<Vec<u64>> =
            lanes.iter().map(|(operand, _)| self.constant_of(operand)?.1.first().copied()).collect();
        if let Some(bits) = known {
            let words = match bits.as_slice() {
                [only] => splat(ty, *only),
                _ => of_lanes(ty, &bits),
            };
            return Ok(Operand::Const(ty, words));
        }
        if ty.is_scalar() {
            return lanes.pop().map(|(operand, _)| operand).ok_or(Failed);
        }
        let one = lanes.len() == 1;
        let mut values = Vec::with_capacity(lanes.len());
        for (operand, at) in lanes {
            values.push(self.emit(operand, at)?);
        }
        self.at(span);
        if one {
            return Ok(Operand::Value(self.b.op(Op::Splat, ty, &values)));
        }
        if Op::Concat.row().converts(lane, ty) && lane.bits() as usize * values.len() == ty.bits() as usize {
            return Ok(Operand::Value(self.b.op(Op::Concat, ty, &values)));
        }
        // `concat` cannot produce masks and the widest vectors, so their lanes are inserted one by one.
        let zero = self.b.const_words(ty, [0; 8]);
        let mut made = zero;
        for (number, value) in values.into_iter().enumerate() {
            made = self.b.lane(Op::Insert, ty, &[made, value], number as u8);
        }
        Ok(Operand::Value(made))
    }
}
