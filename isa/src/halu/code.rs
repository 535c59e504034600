//! HALU as an implementation of [`Isa`], and its machine code.

use std::ops::Range;

use halfbyte_abi::{Descriptor, KernelFormat, Target};

use super::{Inst, Opcode, disassemble, mnemonics, word_text};
use crate::isa::{Isa, MachineCode, SharedCode};
use crate::row::InstClass;

/// The HALU target for packed-half and video kernels: 128-bit words, one thread per work item.
pub const TARGET: Target = Target::new(&Descriptor {
    name: "halu",
    summary: "A model of a 128-bit GPU ISA",
    code: 1,
    form: KernelFormat::Threads,
    sm: None,
});

/// The HALU instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Halu;

impl Isa for Halu {
    fn targets(&self) -> &'static [Target] {
        &[TARGET]
    }

    fn default_target(&self) -> Target {
        TARGET
    }

    fn mnemonics(&self) -> Vec<&'static str> {
        mnemonics().collect()
    }

    fn machine_code(&self, _: Target, bytes: &[u8]) -> Option<SharedCode> {
        let (words, rest) = bytes.as_chunks();
        rest.is_empty().then(|| HaluCode(words.iter().map(|&word| u128::from_le_bytes(word)).collect()).into())
    }
}

/// Machine code: 128-bit words in order, each a valid instruction or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HaluCode(pub Vec<u128>);

impl MachineCode for HaluCode {
    fn target(&self) -> Target {
        TARGET
    }

    fn word_bytes(&self) -> usize {
        size_of::<u128>()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, address: usize) -> Option<u128> {
        self.0.get(address).copied()
    }

    fn text(&self, address: usize) -> String {
        self.0.get(address).map_or(String::new(), |&word| word_text(word))
    }

    fn class(&self, address: usize) -> Option<InstClass> {
        self.0.get(address).and_then(|&word| Some(Inst::decode(word)?.row().class))
    }

    fn replace_with_nops(&self, addresses: Range<usize>) -> SharedCode {
        let mut words = self.0.clone();
        words
            .iter_mut()
            .skip(addresses.start)
            .take(addresses.len())
            .for_each(|word| *word = Inst::new(Opcode::NOP).word());
        HaluCode(words).into()
    }

    fn disassemble(&self) -> String {
        disassemble(&self.0)
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn bytes_come_back() {
        let words: SharedCode = HaluCode(vec![1, u128::MAX, 0x123 << 100]).into();
        let bytes = words.to_bytes();
        assert_eq!(bytes.len(), words.len() * words.word_bytes());
        assert!(Halu.machine_code(TARGET, &bytes).unwrap() == words);
        assert!(Halu.machine_code(TARGET, &bytes[1..]).is_none());
        assert!(Halu.machine_code(TARGET, &[]).unwrap().is_empty());
    }

    #[test]
    fn all_digits_are_shown() {
        let words: SharedCode = HaluCode(vec![0]).into();
        assert_eq!(words.digits(0), format!("0x{}", "0".repeat(32)));
        assert_eq!((words.digits(1), words.text(1), words.get(1)), (String::new(), String::new(), None));
    }
}
