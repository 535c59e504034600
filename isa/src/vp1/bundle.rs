//! Bundles: groups of instruction words that execute together.

use super::{Inst, Unit};
use thiserror::Error;

/// Number of instruction words in a line, an aligned group in the program. No bundle crosses the end of a line.
pub const WORDS_PER_LINE: u32 = 4;

/// The instruction of one unit in a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitSlot {
    /// The bundle has no instruction for the unit.
    Empty,
    /// A valid instruction.
    Inst(Inst),
    /// An instruction word that cannot be decoded.
    Undefined(u32),
}

impl UnitSlot {
    /// Decodes a word.
    pub fn of_word(word: u32) -> UnitSlot {
        Inst::decode(word).map_or(UnitSlot::Undefined(word), UnitSlot::Inst)
    }

    /// Returns the instruction, or `None` if the slot is empty or holds an invalid word.
    pub fn inst(&self) -> Option<&Inst> {
        match self {
            UnitSlot::Inst(inst) => Some(inst),
            UnitSlot::Empty | UnitSlot::Undefined(_) => None,
        }
    }
}

/// The reason why a sequence of instruction words is not a bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The sequence is empty.
    #[error("a bundle must have at least one instruction")]
    Empty,
    /// The unit of an instruction word does not follow the unit of the previous word in bundle order.
    #[error(
        "word {0} of the bundle is out of order: a bundle has at most one instruction for the address, scalar, vector and branch unit, in this order"
    )]
    Order(usize),
}

/// Instruction words that execute together: at most one per unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bundle {
    slots: [UnitSlot; 4],
    words: u32,
}

impl Bundle {
    /// Creates a bundle of instruction words, which must be in bundle order.
    pub fn new(words: &[u32]) -> Result<Bundle, BundleError> {
        let mut bundle = Bundle { slots: [UnitSlot::Empty; 4], words: 0 };
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
            bundle.slots[unit as usize] = UnitSlot::of_word(word);
            bundle.words += 1;
        }
        Ok(bundle)
    }

    /// Returns the bundle that begins at address `start` of a program. The end of the program also
    /// ends the bundle. Returns `None` if the program has no instruction word at `start`.
    pub fn at(program: &[u32], start: u32) -> Option<Bundle> {
        let words = program.get(start as usize..)?;
        Bundle::new(words.get(..len(words, start))?).ok()
    }

    /// Returns the slot of a unit.
    pub fn slot(&self, unit: Unit) -> &UnitSlot {
        &self.slots[unit as usize]
    }

    /// Returns the instruction of a unit, if there is one.
    pub fn inst(&self, unit: Unit) -> Option<&Inst> {
        self.slot(unit).inst()
    }

    /// Returns the first instruction word that cannot be decoded, if any.
    pub fn undefined(&self) -> Option<u32> {
        self.slots.iter().find_map(|slot| match slot {
            UnitSlot::Undefined(word) => Some(*word),
            UnitSlot::Empty | UnitSlot::Inst(_) => None,
        })
    }

    /// Returns the number of instruction words in the bundle, 1 to 4.
    pub fn words(&self) -> u32 {
        self.words
    }
}

/// Returns the number of instruction words in the first bundle of `words`. `start` is the program address of the first
/// word. The bundle ends at the end of its line, or before a word whose unit does not follow that of the previous word.
fn len(words: &[u32], start: u32) -> usize {
    let line = (WORDS_PER_LINE - start % WORDS_PER_LINE) as usize;
    let ends = |pair: &[u32]| matches!(pair, [a, b] if Unit::of_word(*a) >= Unit::of_word(*b));
    let front = words.get(..line).unwrap_or(words);
    front.windows(2).position(ends).map_or(front.len(), |at| at + 1)
}

/// Splits a program into bundles. Returns each bundle with the address of its first instruction word.
pub fn bundles(program: &[u32]) -> impl Iterator<Item = (u32, Bundle)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let bundle = Bundle::at(program, start)?;
        let at = start;
        start = start.saturating_add(bundle.words);
        Some((at, bundle))
    })
}
