//! Modifiers: words after a dot.

use crate::word::Field;

/// One choice among the spellings of a modifier or an operand suffix, written after a dot.
#[derive(Clone, Copy, Debug)]
pub struct Modifier {
    /// The bits it sets.
    pub field: Field,
    /// Spelling and value. A value without a spelling here is no value of the field, the default excepted.
    pub choices: &'static [(&'static str, u64)],
    /// The value of a text without the modifier; `None` where one must be written.
    pub default: Option<u64>,
}

impl Modifier {
    /// How the value is spelled, if it is.
    pub fn text(&self, value: u64) -> Option<&'static str> {
        self.choices.iter().find(|c| c.1 == value).map(|c| c.0)
    }

    /// The value of a spelling. Can be asked when this is compiled: a spelling that code names costs nothing then.
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

    /// Whether the field may hold the value.
    pub fn admits(&self, value: u64) -> bool {
        self.default == Some(value) || self.text(value).is_some()
    }

    /// What a fresh instruction holds: the default, or the first choice where there is none.
    pub const fn initial(&self) -> u64 {
        match self.default {
            Some(v) => v,
            None => self.choices[0].1,
        }
    }
}

/// What `==` says of texts, and cannot yet where constants are computed.
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
    /// Any.
    Free,
    /// Those without a default first and in the row's order, then the others.
    Fixed,
}
