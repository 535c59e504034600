//! The instruction words of a kernel, each decoded once.

use super::Inst;
use super::fields::RZ;
use crate::row::RegFile;

/// A decoded instruction word.
#[derive(Clone, Copy, Debug)]
pub enum Word {
    /// A valid instruction.
    Inst(Inst),
    /// A 128-bit word that is not a valid instruction.
    Undefined(u128),
}

impl Word {
    /// Decodes an instruction word.
    pub fn decode(word: u128) -> Word {
        Inst::decode(word).map_or(Word::Undefined(word), Word::Inst)
    }

    /// Returns one more than the highest number of a general register that the instruction reads or writes.
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
