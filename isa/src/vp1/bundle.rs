//! Bundles: how words group into what runs at once.

use super::{Inst, Unit};
use thiserror::Error;

/// The words of a line, which no bundle crosses.
pub const LINE: u32 = 4;

/// A word of a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// The unit has no word in the bundle.
    Empty,
    /// An instruction.
    Inst(Inst),
    /// A word that is no instruction.
    Undefined(u32),
}

impl Slot {
    /// What a word is.
    pub fn of_word(word: u32) -> Slot {
        Inst::decode(word).map_or(Slot::Undefined(word), Slot::Inst)
    }

    /// The instruction, if it is one.
    pub fn inst(&self) -> Option<&Inst> {
        match self {
            Slot::Inst(inst) => Some(inst),
            Slot::Empty | Slot::Undefined(_) => None,
        }
    }
}

/// Why words are no bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum BundleError {
    /// There is no word.
    #[error("a bundle has at least one word")]
    Empty,
    /// A word's unit does not come after that of the word before.
    #[error(
        "word {0} of the bundle is out of order: a bundle has at most an address, a scalar, a vector and a branch word, in this order"
    )]
    Order(usize),
}

/// What runs at once: at most a word of each unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bundle {
    slots: [Slot; 4],
    words: u32,
}

impl Bundle {
    /// The words of one bundle, in order.
    pub fn new(words: &[u32]) -> Result<Bundle, BundleError> {
        let mut bundle = Bundle { slots: [Slot::Empty; 4], words: 0 };
        if words.is_empty() {
            return Err(BundleError::Empty);
        }
        let mut last = None;
        for (i, &word) in words.iter().enumerate() {
            let unit = Unit::of_word(word);
            if last >= Some(unit) {
                return Err(BundleError::Order(i));
            }
            last = Some(unit);
            bundle.slots[unit as usize] = Slot::of_word(word);
            bundle.words += 1;
        }
        Ok(bundle)
    }

    /// The bundle that begins at word `start` of a program, which is cut off where the program ends; `None` after it.
    pub fn at(program: &[u32], start: u32) -> Option<Bundle> {
        let words = program.get(start as usize..)?;
        Bundle::new(words.get(..len(words, start))?).ok()
    }

    /// The word of a unit.
    pub fn slot(&self, unit: Unit) -> &Slot {
        &self.slots[unit as usize]
    }

    /// The instruction of a unit, if it has one.
    pub fn inst(&self, unit: Unit) -> Option<&Inst> {
        self.slot(unit).inst()
    }

    /// The first word that is no instruction.
    pub fn undefined(&self) -> Option<u32> {
        self.slots.iter().find_map(|slot| match slot {
            Slot::Undefined(word) => Some(*word),
            Slot::Empty | Slot::Inst(_) => None,
        })
    }

    /// The number of words, 1 to 4.
    pub fn words(&self) -> u32 {
        self.words
    }
}

/// The number of words of the bundle at the front of `words`, which stand at word `start` of a program. A word ends it that
/// begins a line, or whose unit does not come after that of the word before.
fn len(words: &[u32], start: u32) -> usize {
    let line = (LINE - start % LINE) as usize;
    let ends = |pair: &[u32]| matches!(pair, [a, b] if Unit::of_word(*a) >= Unit::of_word(*b));
    let front = words.get(..line).unwrap_or(words);
    front.windows(2).position(ends).map_or(front.len(), |at| at + 1)
}

/// A program as bundles: the first word of each, and the bundle.
pub fn bundles(program: &[u32]) -> impl Iterator<Item = (u32, Bundle)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let bundle = Bundle::at(program, start)?;
        let at = start;
        start = start.saturating_add(bundle.words);
        Some((at, bundle))
    })
}
