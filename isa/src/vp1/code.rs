//! VP1 as an implementation of [`Isa`], and its machine code.

use std::ops::Range;

use halfbyte_abi::{Descriptor, KernelFormat, Target};

use super::{Inst, Opcode, Unit, disassemble, mnemonics, word_text};
use crate::isa::{Isa, MachineCode, SharedCode};
use crate::row::InstClass;

/// The VP1 target: 32-bit words in bundles, with work items packed into lanes.
pub const TARGET: Target = Target::new(&Descriptor {
    name: "vp1",
    summary: "The video vector processor of NVIDIA's NV41 to G80",
    code: 2,
    form: KernelFormat::Tiles,
    sm: None,
});

/// The VP1 instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Vp1;

impl Isa for Vp1 {
    fn targets(&self) -> &'static [Target] {
        &[TARGET]
    }

    fn default_target(&self) -> Target {
        TARGET
    }

    fn mnemonics(&self) -> Vec<&'static str> {
        mnemonics().to_vec()
    }

    fn machine_code(&self, _: Target, bytes: &[u8]) -> Option<SharedCode> {
        let (words, rest) = bytes.as_chunks();
        rest.is_empty().then(|| Vp1Code(words.iter().map(|&word| u32::from_le_bytes(word)).collect()).into())
    }
}

/// Machine code: 32-bit instruction words in order, each a valid instruction or not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Vp1Code(pub Vec<u32>);

impl MachineCode for Vp1Code {
    fn target(&self) -> Target {
        TARGET
    }

    fn word_bytes(&self) -> usize {
        size_of::<u32>()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn get(&self, address: usize) -> Option<u128> {
        self.0.get(address).copied().map(u128::from)
    }

    fn text(&self, address: usize) -> String {
        self.0.get(address).map_or(String::new(), |&word| word_text(word, address as u32))
    }

    fn class(&self, address: usize) -> Option<InstClass> {
        self.0.get(address).and_then(|&word| Some(Inst::decode(word)?.row().class))
    }

    fn replace_with_nops(&self, addresses: Range<usize>) -> SharedCode {
        let mut words = self.0.clone();
        words.iter_mut().skip(addresses.start).take(addresses.len()).for_each(|word| {
            let opcode = match Unit::of_word(*word) {
                Unit::Address => Opcode::ANOP,
                Unit::Scalar => Opcode::SNOP,
                Unit::Vector => Opcode::VNOP,
                Unit::Branch => Opcode::BNOP,
            };
            *word = Inst::new(opcode).word();
        });
        Vp1Code(words).into()
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
        let words: SharedCode = Vp1Code(vec![7, u32::MAX, 0xdb00_0001]).into();
        let bytes = words.to_bytes();
        assert_eq!(bytes.len(), words.len() * words.word_bytes());
        assert!(Vp1.machine_code(TARGET, &bytes).unwrap() == words);
        assert!(Vp1.machine_code(TARGET, &bytes[1..]).is_none());
        assert!(Vp1.machine_code(TARGET, &[]).unwrap().is_empty());
    }

    #[test]
    fn digits_and_text_are_those_of_the_machine() {
        let words: SharedCode = Vp1Code(vec![0xdb00_0001, 0x0000_0012]).into();
        assert_eq!((words.digits(1), words.text(0)), ("0x00000012".into(), ".word 0xdb000001".into()));
    }
}
