//! What can be wrong with a word whose fixed bits are a row's.

use super::{EncodeError, Modifier};
use crate::word::Field;

/// Something that a word of a row must be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    /// The field holds one of the modifier's values.
    Value(Modifier),
    /// The field is a multiple of this.
    Offset { field: Field, align: u8 },
    /// The field is not 0.
    Mask(Field),
    /// The field names the first of so many registers, a multiple of that and all below `end`, or is `end`.
    Span { field: Field, span: u8, end: u64 },
    /// The field, of no more than six bits, holds one of the values whose bits are set.
    Among { field: Field, values: u64 },
}

impl Check {
    /// What is wrong with a word.
    pub(crate) fn pass(&self, word: u128) -> Result<(), EncodeError> {
        match *self {
            Check::Value(modifier) => {
                let (field, value) = (modifier.field, modifier.field.get(word));
                if modifier.admits(value) { Ok(()) } else { Err(EncodeError::Value { field, value }) }
            }
            Check::Offset { field, align } if field.get(word) % u64::from(align) != 0 => {
                Err(EncodeError::Offset { field, align })
            }
            Check::Mask(field) if field.get(word) == 0 => Err(EncodeError::EmptyMask(field)),
            Check::Span { field, span, end } => {
                let (first, count) = (field.get(word), u64::from(span));
                let fits = first == end || (first.is_multiple_of(count) && first + count <= end);
                if fits { Ok(()) } else { Err(EncodeError::Misaligned { field, span }) }
            }
            Check::Among { field, values } => {
                let value = field.get(word);
                if values >> value & 1 == 1 { Ok(()) } else { Err(EncodeError::Value { field, value }) }
            }
            Check::Offset { .. } | Check::Mask(_) => Ok(()),
        }
    }

    /// The same, made ready to be asked often: the values of a narrow field are a set of bits.
    pub(crate) fn prepared(self) -> Check {
        match self {
            Check::Value(modifier) if modifier.field.max() < u64::BITS.into() => {
                let admitted = (0..=modifier.field.max()).filter(|&value| modifier.admits(value));
                Check::Among { field: modifier.field, values: admitted.fold(0, |values, value| values | 1 << value) }
            }
            other => other,
        }
    }

    /// Whether there is a word that does not pass.
    pub(crate) fn can_fail(&self) -> bool {
        match self {
            // Of a wide field, which no modifier is, it is not worth finding out.
            Check::Value(modifier) => {
                modifier.field.width > 8 || (0..=modifier.field.max()).any(|value| !modifier.admits(value))
            }
            _ => true,
        }
    }
}
