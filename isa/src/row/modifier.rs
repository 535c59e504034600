//! Modifiers: names that follow the mnemonic or an operand after a dot.

use crate::word::Field;

/// A modifier or operand suffix: a field whose values are written as names after a dot.
#[derive(Clone, Copy, Debug)]
pub struct Modifier {
    /// The field that the modifier sets.
    pub field: Field,
    /// Spellings and their values. A value without a spelling is invalid unless it is the default.
    pub choices: &'static [(&'static str, u64)],
    /// The value if the text omits the modifier; `None` if the modifier is mandatory.
    pub default: Option<u64>,
}

impl Modifier {
    /// Returns the spelling of a value, if it has one.
    pub fn text(&self, value: u64) -> Option<&'static str> {
        self.choices.iter().find(|c| c.1 == value).map(|c| c.0)
    }

    /// Returns the value of a spelling. The function is `const`, so that code can resolve a spelling at compile time.
    pub const fn value(&self, text: &str) -> Option<u64> {
        let mut choices = self.choices;
        while let [(spelling, value), rest @ ..] = choices {
            if is_same(spelling.as_bytes(), text.as_bytes()) {
                return Some(*value);
            }
            choices = rest;
        }
        None
    }

    /// Returns `true` if the modifier's field may hold the value: the value has a spelling or is the default.
    pub fn admits(&self, value: u64) -> bool {
        self.default == Some(value) || self.text(value).is_some()
    }

    /// Returns the value of the modifier in the row's template: the default, or the first choice if
    /// there is no default.
    pub const fn initial(&self) -> u64 {
        match self.default {
            Some(v) => v,
            None => self.choices[0].1,
        }
    }
}

/// Returns `true` if two byte strings are equal. `==` on slices cannot be called in a `const fn`.
const fn is_same(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([first, a_rest @ ..], [other, b_rest @ ..]) = (a, b) {
        if *first != *other {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

/// The order in which assembly text may give the modifiers of a mnemonic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModifierOrder {
    /// Any order.
    Free,
    /// Modifiers without a default come first, in the row's order; the others follow.
    Fixed,
}
