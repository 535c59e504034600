//! Numbers in PTX text.

use super::error::ErrorKind;
use crate::ptx::types::{Kind, Type};

/// A number as written: what it is depends on where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Literal<'a> {
    /// As it stands.
    Written {
        /// A minus stands before it.
        negative: bool,
        /// Its digits.
        text: &'a str,
    },
    /// The value of an expression.
    Computed(Whole),
}

/// An integer of 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub bits: u64,
    pub is_signed: bool,
}

/// The value of a literal.
enum Value {
    /// An integer, by its magnitude.
    Integer(u64),
    /// `0f3f800000`, by its bits.
    Single(u32),
    /// `0d3ff0000000000000`, by its bits; or `1.5`.
    Double(u64),
}

impl Literal<'_> {
    fn written(&self) -> String {
        match *self {
            Literal::Written { negative, text } => format!("{}{text}", if negative { "-" } else { "" }),
            Literal::Computed(Whole { bits, is_signed: true }) => bits.cast_signed().to_string(),
            Literal::Computed(Whole { bits, .. }) => bits.to_string(),
        }
    }

    /// Whether it is below zero, and its magnitude or its bits.
    fn value(&self) -> Result<(bool, Value), ErrorKind> {
        match *self {
            Literal::Written { negative, text } => Ok((negative, self.magnitude(text)?)),
            Literal::Computed(Whole { bits, is_signed }) => {
                let negative = is_signed && bits.cast_signed() < 0;
                Ok((negative, Value::Integer(if negative { bits.wrapping_neg() } else { bits })))
            }
        }
    }

    /// Its value as an integer of 64 bits, signed where it has room for the sign; none of a float.
    pub(super) fn whole(&self) -> Result<Option<Whole>, ErrorKind> {
        Ok(match self.value()? {
            (negative, Value::Integer(magnitude)) => {
                let is_signed = !self.written().ends_with('U') && magnitude >> 63 == 0;
                Some(Whole { bits: if negative { magnitude.wrapping_neg() } else { magnitude }, is_signed })
            }
            _ => None,
        })
    }

    fn magnitude(&self, text: &str) -> Result<Value, ErrorKind> {
        let wrong = || ErrorKind::Number(self.written());
        let bytes = text.as_bytes();
        let digits = |from: usize| text.get(from..).unwrap_or("");
        // `from_str_radix` would take a sign.
        let radix = |from: usize, radix: u32| {
            let digits = digits(from).trim_end_matches('U');
            u64::from_str_radix(digits, radix).map_err(|_| wrong())
        };
        match bytes {
            [b'0', b'x' | b'X', ..] => radix(2, 16).map(Value::Integer),
            [b'0', b'b' | b'B', ..] => radix(2, 2).map(Value::Integer),
            [b'0', b'f' | b'F', ..] if bytes.len() == 10 => radix(2, 16).map(|bits| Value::Single(bits as u32)),
            [b'0', b'd' | b'D', ..] if bytes.len() == 18 => radix(2, 16).map(Value::Double),
            _ if bytes.iter().any(|b| matches!(b, b'.' | b'e' | b'E')) => {
                let value: f64 = text.parse().map_err(|_| wrong())?;
                Ok(Value::Double(value.to_bits()))
            }
            [b'0', b'0'..=b'9', ..] => radix(1, 8).map(Value::Integer),
            _ => radix(0, 10).map(Value::Integer),
        }
    }

    /// The bits of the number taken for the type: of an integer the lower ones, as assemblers take them.
    pub(super) fn bits(&self, ty: Type) -> Result<u64, ErrorKind> {
        let (negative, value) = self.value()?;
        let sign = |width: u32| u64::from(negative) << (width - 1);
        match (value, ty.kind()) {
            (Value::Integer(magnitude), Kind::Bits | Kind::Integer) => {
                Ok(ty.truncate(if negative { magnitude.wrapping_neg() } else { magnitude }))
            }
            (Value::Single(bits), _) if matches!(ty, Type::F32 | Type::B32) => Ok(u64::from(bits) ^ sign(32)),
            (Value::Double(bits), _) if ty == Type::F32 => {
                Ok(u64::from((f64::from_bits(bits) as f32).to_bits()) ^ sign(32))
            }
            (Value::Double(bits), _) if matches!(ty, Type::B64 | Type::F64) => Ok(bits ^ sign(64)),
            (Value::Integer(magnitude @ 0..=1), Kind::Predicate) => Ok(magnitude),
            _ => Err(self.range(ty)),
        }
    }

    /// The same, where the number must be one that the type has.
    pub(super) fn within(&self, ty: Type) -> Result<u64, ErrorKind> {
        if let (negative, Value::Integer(magnitude)) = self.value()? {
            let limit = if negative { 1u128 << (ty.bits() - 1) } else { (1u128 << ty.bits()) - 1 };
            if u128::from(magnitude) > limit {
                return Err(self.range(ty));
            }
        }
        self.bits(ty)
    }

    fn range(&self, ty: Type) -> ErrorKind {
        ErrorKind::Range { number: self.written(), ty: ty.to_string() }
    }

    /// The number as an offset or a count.
    pub(super) fn integer(&self) -> Result<i64, ErrorKind> {
        let range = || ErrorKind::Range { number: self.written(), ty: "an integer of 32 bits".to_owned() };
        match self.value()? {
            (negative, Value::Integer(magnitude)) => {
                let magnitude = u32::try_from(magnitude).map_err(|_| range())?;
                Ok(if negative { -i64::from(magnitude) } else { magnitude.into() })
            }
            _ => Err(ErrorKind::Number(self.written())),
        }
    }
}
