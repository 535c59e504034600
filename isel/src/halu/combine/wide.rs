//! Reads of the words from which a wide register was built, in place of reads of the wide register.

use halfbyte_isa::halu::fields::R32;
use halfbyte_isa::halu::{Inst as Word, Opcode};
use rustc_hash::FxHashMap;

use super::Combiner;
use crate::halu::machine::Halu;
use crate::vcode::{Access, Operand, VInst, VReg};

/// Registers from which the words of a wide register were moved, if they are known.
type Origins = [Option<VReg>; 4];

impl Combiner<'_> {
    /// Replaces reads of single words of wide registers by reads of the registers from which these
    /// words were moved in the same block. Removes the moves if nothing else reads the wide register.
    pub(super) fn read_original_words(&mut self) {
        let mut origins: FxHashMap<VReg, Origins> = FxHashMap::default();
        for number in 0..self.code.blocks.len() {
            let Some(insts) = self.code.blocks.get(number).map(|block| block.insts.clone()) else { continue };
            self.block = number as u32;
            origins.clear();
            let mut is_changed = false;
            for at in insts.clone() {
                if let Some(&Operand { reg, part, access, .. }) = self.wide_move(at) {
                    let words = self.moved(at, part, access, &origins);
                    origins.insert(reg, words);
                } else if !origins.is_empty() && self.inst(at).is_some_and(|inst| reads_words(inst.inst.opcode())) {
                    is_changed |= self.replace_reads(at, &origins);
                }
            }
            if is_changed {
                insts.rev().for_each(|at| self.remove_unused_move(at));
            }
        }
    }

    /// If an instruction unconditionally moves a word into a wide register, returns the written operand.
    fn wide_move(&self, at: u32) -> Option<&Operand<Halu>> {
        let is_move = |inst: &&VInst<Halu>| {
            matches!(inst.inst.opcode(), Opcode::MOV_R | Opcode::MOV_I | Opcode::MOV_C) && inst.inst.is_unconditional()
        };
        let inst = self.inst(at).filter(is_move)?;
        let operands = self.code.operands(inst);
        let is_plain = operands.iter().all(|operand| operand.access != Access::Use || operand.place == R32);
        let written = operands.iter().find(|operand| operand.access != Access::Use)?;
        (is_plain && !self.is_word(written.reg)).then_some(written)
    }

    /// Returns the origins of the words of the wide register that a move writes.
    fn moved(&self, at: u32, part: u8, access: Access, origins: &FxHashMap<VReg, Origins>) -> Origins {
        let mut words = match access {
            Access::UpdateInPlace(old) => origins.get(&old).copied().unwrap_or_default(),
            _ => Origins::default(),
        };
        let is_copy = self.inst(at).is_some_and(|inst| inst.inst.word() == Word::new(Opcode::MOV_R).word());
        let source = Some(self.read(at, R32)).filter(|&source| is_copy && source.part == 0);
        // The live range of the word must not grow beyond its block, nor over an update in place.
        let source = source.filter(|&source| self.def_in_block(source).is_some() && !self.is_updated_in_place(source));
        if let Some(word) = words.get_mut(usize::from(part)) {
            *word = source.and_then(|source| source.vreg);
        }
        words
    }

    /// Lets an instruction read the original words. Returns `true` if an operand changed.
    fn replace_reads(&mut self, at: u32, origins: &FxHashMap<VReg, Origins>) -> bool {
        let Some(operands) = self.inst(at).map(|inst| inst.operands.clone()) else { return false };
        let mut is_changed = false;
        for operand in self.code.operands.get_mut(operands.start as usize..operands.end as usize).unwrap_or(&mut []) {
            let words = origins.get(&operand.reg).filter(|_| operand.access == Access::Use);
            if let Some(&Some(word)) = words.and_then(|words| words.get(usize::from(operand.part))) {
                self.known[operand.reg.0 as usize].uses -= 1;
                self.known[word.0 as usize].uses += 1;
                (operand.reg, operand.part) = (word, 0);
                is_changed = true;
            }
        }
        is_changed
    }

    /// Removes a move into a wide register that nothing reads.
    fn remove_unused_move(&mut self, at: u32) {
        let Some(&Operand { reg, access, .. }) = self.wide_move(at) else { return };
        if self.known[reg.0 as usize].uses > 0 {
            return;
        }
        if let Access::UpdateInPlace(old) = access {
            self.known[old.0 as usize].uses -= 1;
        }
        self.is_dead[at as usize] = true;
        if let Some(operands) = self.code.insts.get(at as usize).map(|inst| inst.operands.clone()) {
            self.release(operands);
        }
    }
}

/// Returns `true` if each source operand of the instruction is a single word.
fn reads_words(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        LOP3_RRR | LOP3_RIR | LOP3_RCR | SHF_RRR | SHF_RIR | PRMT_RRR | PRMT_RIR | IADD3_RRR | IADD3_RIR | IADD3_RCR
    )
}
