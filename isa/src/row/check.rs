//! Checks of an instruction word whose fixed bits match a row.

use super::{EncodeError, Modifier};
use crate::word::Field;

/// A constraint on the instruction words of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Constraint {
    /// The field holds one of the modifier's values.
    Value(Modifier),
    /// The field is a multiple of `align`.
    Offset { field: Field, align: u8 },
    /// The field is not 0.
    Mask(Field),
    /// The field holds the number of the first of `span` registers, or `end`. The first number is a
    /// multiple of `span`, and all numbers are below `end`.
    Span { field: Field, span: u8, end: u64 },
    /// The field, at most six bits wide, holds a value whose bit is set in `values`.
    Among { field: Field, values: u64 },
}

impl Constraint {
    /// Checks an instruction word against the constraint.
    pub(crate) fn check(&self, word: u128) -> Result<(), EncodeError> {
        match *self {
            Constraint::Value(modifier) => {
                let (field, value) = (modifier.field, modifier.field.get(word));
                if modifier.admits(value) { Ok(()) } else { Err(EncodeError::Value { field, value }) }
            }
            Constraint::Offset { field, align } if field.get(word) % u64::from(align) != 0 => {
                Err(EncodeError::Offset { field, align })
            }
            Constraint::Mask(field) if field.get(word) == 0 => Err(EncodeError::EmptyMask(field)),
            Constraint::Span { field, span, end } => {
                let (first, count) = (field.get(word), u64::from(span));
                let fits = first == end || (first.is_multiple_of(count) && first + count <= end);
                if fits { Ok(()) } else { Err(EncodeError::Misaligned { field, span }) }
            }
            Constraint::Among { field, values } => {
                let value = field.get(word);
                if values >> value & 1 == 1 { Ok(()) } else { Err(EncodeError::Value { field, value }) }
            }
            Constraint::Offset { .. } | Constraint::Mask(_) => Ok(()),
        }
    }

    /// Returns an equivalent constraint that is faster to check: the valid values of a field of at
    /// most six bits become a bit set.
    pub(crate) fn precompute(self) -> Constraint {
        match self {
            Constraint::Value(modifier) if modifier.field.max() < u64::BITS.into() => {
                let admitted = (0..=modifier.field.max()).filter(|&value| modifier.admits(value));
                Constraint::Among {
                    field: modifier.field,
                    values: admitted.fold(0, |values, value| values | 1 << value),
                }
            }
            other => other,
        }
    }

    /// Returns `true` if some instruction word may violate the constraint.
    pub(crate) fn can_fail(&self) -> bool {
        match self {
            // The function returns `true` for a field of more than eight bits, because testing all
            // its values is too slow.
            Constraint::Value(modifier) => {
                modifier.field.width > 8 || (0..=modifier.field.max()).any(|value| !modifier.admits(value))
            }
            _ => true,
        }
    }
}
