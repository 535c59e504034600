//! Numeric literals of PTX.

use super::error::ErrorKind;
use crate::ptx::types::{Type, TypeKind};

/// Maximum width of an integer literal in bits.
const MAX_BITS: u32 = 66;

/// A numeric constant, whose bits depend on the type of the operand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Literal<'a> {
    /// A literal, as it is written in the text.
    Written {
        /// `true` if a minus sign precedes the literal.
        negative: bool,
        /// The text of the literal without its sign.
        text: &'a str,
    },
    /// The value of a constant expression.
    Computed(Integer64),
}

/// A 64-bit integer constant, signed or unsigned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Integer64 {
    pub bits: u64,
    pub is_signed: bool,
}

/// The magnitude of a literal.
enum Value {
    /// The magnitude of an integer.
    Integer(u64),
    /// The bits of a hexadecimal f32 such as `0f3f800000`.
    Single(u32),
    /// The bits of a hexadecimal f64 such as `0d3ff0000000000000`, or of a decimal number such as `1.5`.
    Double(u64),
}

impl Literal<'_> {
    fn written(&self) -> String {
        match *self {
            Literal::Written { negative, text } => format!("{}{text}", if negative { "-" } else { "" }),
            Literal::Computed(Integer64 { bits, is_signed: true }) => bits.cast_signed().to_string(),
            Literal::Computed(Integer64 { bits, .. }) => bits.to_string(),
        }
    }

    /// Returns the sign of the constant (`true` if it is negative) and its magnitude.
    fn value(&self) -> Result<(bool, Value), ErrorKind> {
        match *self {
            Literal::Written { negative, text } => Ok((negative, self.magnitude(text)?)),
            Literal::Computed(Integer64 { bits, is_signed }) => {
                let negative = is_signed && bits.cast_signed() < 0;
                Ok((negative, Value::Integer(if negative { bits.wrapping_neg() } else { bits })))
            }
        }
    }

    /// Returns the constant as a 64-bit integer, or `None` for a floating-point literal. The
    /// integer is signed unless the literal has the suffix `U` or a magnitude of at least 2^63.
    pub(super) fn whole(&self) -> Result<Option<Integer64>, ErrorKind> {
        Ok(match self.value()? {
            (negative, Value::Integer(magnitude)) => {
                let is_signed = !self.written().ends_with('U') && magnitude >> 63 == 0;
                Some(Integer64 { bits: if negative { magnitude.wrapping_neg() } else { magnitude }, is_signed })
            }
            _ => None,
        })
    }

    fn magnitude(&self, text: &str) -> Result<Value, ErrorKind> {
        let wrong = || ErrorKind::Number(self.written());
        let bytes = text.as_bytes();
        let digits = |from: usize| text.get(from..).unwrap_or("");
        // `from_str_radix` accepts a sign, but a sign cannot occur in a token. Like `ptxas`, integers
        // slightly beyond 64 bits are accepted, and their upper bits are lost.
        let radix = |from: usize, radix: u32| {
            let digits = digits(from).trim_end_matches('U');
            let value = u128::from_str_radix(digits, radix).ok().filter(|value| value >> MAX_BITS == 0);
            value.map(|value| value as u64).ok_or_else(wrong)
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

    /// Returns the bits of the constant in the type `ty`. Integers are truncated, as in `ptxas`.
    pub(super) fn bits(&self, ty: Type) -> Result<u64, ErrorKind> {
        let (negative, value) = self.value()?;
        let sign = |width: u32| u64::from(negative) << (width - 1);
        match (value, ty.kind()) {
            (Value::Integer(magnitude), TypeKind::Bits | TypeKind::Integer) => {
                Ok(ty.truncate(if negative { magnitude.wrapping_neg() } else { magnitude }))
            }
            (Value::Single(bits), _) if matches!(ty, Type::F32 | Type::B32) => Ok(u64::from(bits) ^ sign(32)),
            (Value::Single(bits), _) if ty == Type::F64 => Ok(f64::from(f32::from_bits(bits)).to_bits() ^ sign(64)),
            (Value::Double(bits), _) if ty == Type::F32 => {
                Ok(u64::from((f64::from_bits(bits) as f32).to_bits()) ^ sign(32))
            }
            (Value::Double(bits), _) if matches!(ty, Type::B64 | Type::F64) => Ok(bits ^ sign(64)),
            (Value::Integer(magnitude), TypeKind::Predicate) => Ok((magnitude != 0).into()),
            _ => Err(self.range(ty)),
        }
    }

    /// Returns the bits of the constant in the type `ty`. Returns an error if the type cannot represent the constant.
    pub(super) fn within(&self, ty: Type) -> Result<u64, ErrorKind> {
        if let (negative, Value::Integer(magnitude)) = self.value()? {
            let limit = if negative { 1u128 << (ty.bits() - 1) } else { (1u128 << ty.bits()) - 1 };
            if u128::from(magnitude) > limit {
                return Err(self.range(ty));
            }
        }
        self.bits(ty)
    }

    /// Returns the bits of the constant in the type `ty`. Returns an error if the constant is negative,
    /// or if the type cannot represent it.
    pub(super) fn unsigned_within(&self, ty: Type) -> Result<u64, ErrorKind> {
        match self.value()? {
            (true, Value::Integer(1..)) => Err(self.range(ty)),
            _ => self.within(ty),
        }
    }

    fn range(&self, ty: Type) -> ErrorKind {
        ErrorKind::Range { number: self.written(), ty: format!("a value of type {ty}") }
    }

    /// Returns the constant as an integer for an offset or a count. The magnitude must fit in 32 bits.
    pub(super) fn integer(&self) -> Result<i64, ErrorKind> {
        let range = || ErrorKind::Range { number: self.written(), ty: "an integer that fits in 32 bits".to_owned() };
        match self.value()? {
            (negative, Value::Integer(magnitude)) => {
                let magnitude = u32::try_from(magnitude).map_err(|_| range())?;
                Ok(if negative { -i64::from(magnitude) } else { magnitude.into() })
            }
            _ => Err(ErrorKind::Number(self.written())),
        }
    }
}
