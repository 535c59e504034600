//! Results of expressions: IR values and compile-time values. A compile-time value becomes an IR
//! value when it is used as one.

use halfbyte_abi::{Elem, Type};
use halfbyte_ir::text::{element, number};
use halfbyte_ir::{Op, Span, Value};

use super::{Buffer, Failed, Lower, Lowering};
use crate::symbols::Sym;

/// A number without a type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Number {
    /// Value of the number if it is an integer.
    pub whole: Option<i128>,
    /// Digits of the number if the integer value does not suffice: a fraction, or hexadecimal bits.
    pub text: Option<Sym>,
    pub negative: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Operand {
    Value(Value),
    Number(Number),
    /// Constant with a type; lane 0 has the lowest bits.
    Const(Type, [u64; 8]),
    Bool(bool),
    Buffer(Buffer),
    /// Results of a function that has no result or several.
    Tuple(Vec<Operand>),
    /// Value of an expression after which execution does not continue, such as `return`.
    Never,
    /// Value of an expression whose error was reported.
    Failed,
}

impl Operand {
    pub(super) const NOTHING: Operand = Operand::Tuple(Vec::new());

    pub(super) fn whole(value: i128) -> Operand {
        Operand::Number(Number { whole: Some(value), text: None, negative: false })
    }
}

/// Returns the bits of a vector with `lane` in each lane.
pub(super) fn splat(ty: Type, lane: u64) -> [u64; 8] {
    let lanes = [lane; 16];
    of_lanes(ty, lanes.get(..ty.lanes()).unwrap_or(&lanes))
}

/// Returns the bits of a vector with the given lanes, lane 0 lowest.
pub(super) fn of_lanes(ty: Type, lanes: &[u64]) -> [u64; 8] {
    let width = ty.elem().bits() as usize;
    let mut words = [0u64; 8];
    for (i, &lane) in lanes.iter().enumerate() {
        if let Some(word) = words.get_mut(i * width / 64) {
            *word |= (lane & ty.elem().mask()) << (i * width % 64);
        }
    }
    words
}

impl Lower<'_> {
    /// Returns the type of an operand, if the operand has one.
    pub(super) fn type_of(&self, operand: &Operand) -> Option<Type> {
        match operand {
            Operand::Value(value) => Some(self.b.kernel().ty(*value)),
            Operand::Const(ty, _) => Some(*ty),
            Operand::Bool(_) => Some(Type::I1),
            Operand::Buffer(_) => Some(Type::PTR),
            _ => None,
        }
    }

    /// Describes an operand for messages.
    pub(super) fn described(&self, operand: &Operand) -> String {
        match operand {
            Operand::Tuple(parts) if parts.is_empty() => "nothing".into(),
            Operand::Tuple(parts) => format!("{} values", parts.len()),
            Operand::Never => "unreachable".into(),
            Operand::Number(number) if number.whole.is_some() => "a whole number".into(),
            Operand::Number(_) => "a number with a fraction".into(),
            Operand::Buffer(_) => "a buffer".into(),
            _ => self.type_of(operand).map_or("unknown".into(), |ty| format!("`{ty}`")),
        }
    }

    /// Gives an untyped number the type `ty`. Reports an operand of another type.
    pub(super) fn fit(&mut self, operand: Operand, ty: Type, span: Span) -> Lowering<Operand> {
        match &operand {
            Operand::Failed => return Err(Failed),
            Operand::Never => return Ok(operand),
            Operand::Number(number) => {
                let words = self.bits(*number, ty, span)?;
                return Ok(Operand::Const(ty, words));
            }
            Operand::Bool(value) if ty == Type::I1 => {
                return Ok(Operand::Const(Type::I1, splat(Type::I1, u64::from(*value))));
            }
            _ => {}
        }
        if self.type_of(&operand) == Some(ty) {
            return Ok(operand);
        }
        Err(self.mismatch(&operand, ty, span))
    }

    /// Reports an operand whose type differs from `ty`.
    pub(super) fn mismatch(&mut self, operand: &Operand, ty: Type, span: Span) -> Failed {
        self.mismatch_as(operand, ty, "", span)
    }

    /// Reports an operand whose type differs from `ty`. `why` says in the message why `ty` is expected.
    pub(super) fn mismatch_as(&mut self, operand: &Operand, ty: Type, why: &str, span: Span) -> Failed {
        let message = format!("this is {}", self.described(operand));
        let expected = format!("`{ty}`{why}");
        let help = match (operand, self.type_of(operand)) {
            (Operand::Buffer(_), _) => Some("`x[i]` is an element of a buffer".to_owned()),
            (_, Some(from)) => conversions(from, ty),
            _ => taken(operand),
        };
        match help {
            Some(help) => self.error_help(span, message, expected, help),
            None => self.error(span, message, expected),
        }
    }

    /// Returns an operand as an IR value of type `ty`.
    pub(super) fn value(&mut self, operand: Operand, ty: Type, span: Span) -> Lowering<Value> {
        let operand = self.fit(operand, ty, span)?;
        self.emit(operand, span)
    }

    /// Converts a typed operand to an IR value.
    pub(super) fn emit(&mut self, operand: Operand, span: Span) -> Lowering<Value> {
        match operand {
            Operand::Value(value) => Ok(value),
            Operand::Buffer(buffer) => Ok(buffer.value),
            Operand::Const(ty, words) => {
                self.at(span);
                Ok(self.b.const_words(ty, words))
            }
            Operand::Bool(value) => {
                self.at(span);
                Ok(self.b.int(Type::I1, i64::from(value)))
            }
            Operand::Failed => Err(Failed),
            other => {
                let message = format!("this is {}", self.described(&other));
                Err(self.error(span, message, "a value of a type"))
            }
        }
    }

    /// Gives an untyped number the expected type. Without an expected type, an integer gets `i32`.
    pub(super) fn typed(&mut self, operand: Operand, expected: Option<Type>, span: Span) -> Lowering<Operand> {
        match (&operand, expected) {
            (Operand::Number(_), Some(ty)) => self.fit(operand, ty, span),
            (Operand::Number(number), None) if number.whole.is_some() => self.fit(operand, Type::I32, span),
            (Operand::Number(number), None) => {
                let text = number.text.map_or("", |text| self.symbols.text(text));
                let (expected, help) = if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    ("a type", format!("as in `f32({text})`, or `var m: f32 = -{text}`"))
                } else {
                    ("a type after it", "as in `1.5f16`, `1.5f32` or `1.5f16x2`".to_owned())
                };
                Err(self.error_help(span, "the number has no type", expected, help))
            }
            (Operand::Failed, _) => Err(Failed),
            _ => Ok(operand),
        }
    }

    /// Returns the bits of a vector of type `ty` with the number in every lane.
    fn bits(&mut self, given: Number, ty: Type, span: Span) -> Lowering<[u64; 8]> {
        let elem = ty.elem();
        if elem == Elem::Ptr {
            return Err(self.error(span, "a number", "an address"));
        }
        if let (Some(whole), true) = (given.whole, ty.is_int() && (given.text.is_none() || ty.is_scalar())) {
            let max = i128::from(elem.mask());
            let min = -(max + 1) / 2;
            if !(min..=max).contains(&whole) {
                return Err(self.error(span, format!("{whole} does not fit {ty}"), format!("{min} to {max}")));
            }
            return Ok(splat(ty, whole as u64 & elem.mask()));
        }
        let (text, negative) = match (given.text, given.whole) {
            (Some(text), _) => (self.symbols.text(text).to_owned(), given.negative),
            (None, whole) => {
                let whole = whole.unwrap_or_default();
                (whole.unsigned_abs().to_string(), whole < 0)
            }
        };
        let read = match element(&text, negative, ty) {
            Some(whole) => whole,
            None => number(&text, negative, elem).map(|lane| splat(ty, lane)),
        };
        read.map_err(|bad| {
            // The IR's parser suggests a list of lanes, which does not exist in the kernel language.
            let expected = match bad.expected.split_once(", or `[") {
                Some((bits, _)) => {
                    let each = text.strip_prefix("0x").map(|digits| format!("0x{}", digits.repeat(ty.lanes())));
                    let each = each.filter(|each| (each.len() - 2) * 4 == ty.bits() as usize);
                    let each = each.map_or(String::new(), |each| format!("`{each}` for it in every lane, "));
                    format!("{each}{bits}, or `{ty}(..)` with a number for each lane")
                }
                None => bad.expected,
            };
            self.error(span, bad.message, expected)
        })
    }
}

/// Returns a help text that shows how to bind several results to names. Returns `None` if the
/// operand does not consist of several results.
pub(super) fn taken(operand: &Operand) -> Option<String> {
    let Operand::Tuple(parts) = operand else { return None };
    let names: Vec<String> = ('a'..='z').take(parts.len()).map(String::from).collect();
    (!names.is_empty()).then(|| format!("bind all of them: `let ({}) = ..`", names.join(", ")))
}

/// Returns a help text that lists the ops that convert one type to another, or `None` if there are
/// no such ops.
pub(super) fn conversions(from: Type, to: Type) -> Option<String> {
    // A bit cast of a float vector to a float scalar is rarely intended.
    if !from.is_scalar() && to.is_scalar() && from.is_float() && to.is_float() {
        let lane = "`extract(.., 0)` is a lane".to_owned();
        return Some(if from.lane_type() == to { lane } else { format!("{lane}, and `fcvt.{to}(..)` converts it") });
    }
    let converts = |op: &&Op| {
        let row = op.row();
        row.args.len() == 1 && row.converts(from, to) && !matches!(**op, Op::Concat | Op::Split)
    };
    let mut ways: Vec<String> = Op::ALL.iter().filter(converts).map(|op| format!("`{}.{to}(..)`", op.name())).collect();
    if !to.is_scalar() && from == to.lane_type() {
        ways.push(format!("`{to}(..)`"));
    }
    ways.truncate(4);
    if ways.is_empty() {
        ways = in_two_steps(from, to);
    }
    (!ways.is_empty()).then(|| format!("{} makes it `{to}`", ways.join(" or ")))
}

/// Returns the conversions through an intermediate type with the same number of lanes, such as
/// bytes to halves through 16-bit integers.
fn in_two_steps(from: Type, to: Type) -> Vec<String> {
    let mut ways = Vec::new();
    for first in [Op::Zext, Op::Sext, Op::Fcvt] {
        let between =
            Type::ALL.iter().copied().filter(|ty| ty.lanes() == from.lanes() && first.row().converts(from, *ty));
        let mut found: Vec<(u32, String)> = Vec::new();
        for ty in between {
            for second in [Op::FcvtFromS, Op::FcvtFromU, Op::Fcvt] {
                // The second conversion must have the same signedness as the extension before it.
                let is_meant = !matches!((first, second), (Op::Zext, Op::FcvtFromS) | (Op::Sext, Op::FcvtFromU));
                if is_meant && second.row().converts(ty, to) {
                    let way = format!("`{}.{to}({}.{ty}(..))`", second.name(), first.name());
                    found.push((ty.bits(), way));
                }
            }
        }
        found.sort();
        ways.extend(found.into_iter().next().map(|(_, way)| way));
    }
    ways
}
