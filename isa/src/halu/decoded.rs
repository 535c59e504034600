//! Machine words of a kernel, decoded once.

use super::Inst;
use super::fields::RZ;
use crate::row::RegFile;

/// A decoded machine word.
#[derive(Clone, Copy, Debug)]
pub enum Word {
    /// A valid instruction.
    Inst(Inst),
    /// A word that encodes no instruction.
    Undefined(u128),
}

impl Word {
    /// Decodes a word.
    pub fn decode(word: u128) -> Word {
        Inst::decode(word).map_or(Word::Undefined(word), Word::Inst)
    }

    /// Returns one more than the highest general register that the instruction names.
    pub fn gprs(&self) -> usize {
        let Word::Inst(inst) = self else { return 0 };
        let slots = inst.registers().iter().filter(|slot| slot.file == RegFile::Gpr);
        slots
            .map(|slot| (inst.get(slot.field) as usize, usize::from(slot.span)))
            .filter(|&(first, _)| first != usize::from(RZ))
            .map(|(first, span)| first + span)
            .max()
            .unwrap_or(0)
    }
}
