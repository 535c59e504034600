//! The words of a kernel, whichever machine they are for.

use crate::row::Class;
use crate::target::Target;
use crate::{halu, vp1};

/// The words of a kernel in order, by machine. An address is an index here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Words {
    /// 128 bits each.
    Halu(Vec<u128>),
    /// 32 bits each.
    Vp1(Vec<u32>),
}

impl From<Vec<u128>> for Words {
    fn from(words: Vec<u128>) -> Words {
        Words::Halu(words)
    }
}

impl From<Vec<u32>> for Words {
    fn from(words: Vec<u32>) -> Words {
        Words::Vp1(words)
    }
}

impl Words {
    /// The words that these bytes are for a target, each little endian; `None` for a target without words, and for bytes that
    /// are no whole number of them.
    pub fn from_bytes(target: Target, bytes: &[u8]) -> Option<Words> {
        match target {
            Target::Halu => {
                let (words, rest) = bytes.as_chunks();
                rest.is_empty().then(|| Words::Halu(words.iter().map(|&word| u128::from_le_bytes(word)).collect()))
            }
            Target::Vp1 => {
                let (words, rest) = bytes.as_chunks();
                rest.is_empty().then(|| Words::Vp1(words.iter().map(|&word| u32::from_le_bytes(word)).collect()))
            }
            Target::Ptx { .. } => None,
        }
    }

    /// The bytes of all words, each little endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len() * self.word_bytes());
        match self {
            Words::Halu(words) => words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes())),
            Words::Vp1(words) => words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes())),
        }
        bytes
    }

    /// The machine.
    pub const fn target(&self) -> Target {
        match self {
            Words::Halu(_) => Target::Halu,
            Words::Vp1(_) => Target::Vp1,
        }
    }

    /// Bytes of one word.
    pub const fn word_bytes(&self) -> usize {
        match self {
            Words::Halu(_) => size_of::<u128>(),
            Words::Vp1(_) => size_of::<u32>(),
        }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        match self {
            Words::Halu(words) => words.len(),
            Words::Vp1(words) => words.len(),
        }
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word at an address, zero-extended.
    pub fn get(&self, address: usize) -> Option<u128> {
        match self {
            Words::Halu(words) => words.get(address).copied(),
            Words::Vp1(words) => words.get(address).copied().map(u128::from),
        }
    }

    /// The words in order, zero-extended.
    pub fn iter(&self) -> impl Iterator<Item = u128> {
        (0..self.len()).filter_map(|address| self.get(address))
    }

    /// The word at an address in hexadecimal, all its digits; empty where there is none.
    pub fn digits(&self, address: usize) -> String {
        self.get(address).map_or(String::new(), |word| digits(word, self.word_bytes() as u32))
    }

    /// The word at an address as a line of assembly, which reads back to it at that address; empty where there is none.
    pub fn text(&self, address: usize) -> String {
        match self {
            Words::Halu(words) => words.get(address).map_or(String::new(), |&word| halu::word_text(word)),
            Words::Vp1(words) => words.get(address).map_or(String::new(), |&word| vp1::word_text(word, address as u32)),
        }
    }

    /// How many of them are instructions of a class.
    pub fn count(&self, class: Class) -> usize {
        let classes: &mut dyn Iterator<Item = Option<Class>> = match self {
            Words::Halu(words) => &mut words.iter().map(|&word| Some(halu::Inst::decode(word)?.row().class)),
            Words::Vp1(words) => &mut words.iter().map(|&word| Some(vp1::Inst::decode(word)?.row().class)),
        };
        classes.filter(|&of| of == Some(class)).count()
    }

    /// The text of all words, a line a word, and labels on lines of their own where the machine's text has them.
    pub fn disassemble(&self) -> String {
        match self {
            Words::Halu(words) => halu::disassemble(words),
            Words::Vp1(words) => vp1::disassemble(words),
        }
    }
}

/// A word of so many bytes in hexadecimal, all its digits.
pub fn digits(word: u128, bytes: u32) -> String {
    let width = 2 + 2 * bytes as usize;
    format!("{word:#0width$x}")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn bytes_come_back() {
        for words in [Words::Halu(vec![1, u128::MAX, 0x123 << 100]), Words::Vp1(vec![7, u32::MAX, 0xdb00_0001])] {
            let bytes = words.to_bytes();
            assert_eq!(bytes.len(), words.len() * words.word_bytes());
            assert_eq!(Words::from_bytes(words.target(), &bytes), Some(words.clone()));
            assert_eq!(Words::from_bytes(words.target(), &bytes[1..]), None);
            assert_eq!(Words::from_bytes(Target::Ptx { sm: 90 }, &bytes), None);
            assert!(Words::from_bytes(words.target(), &[]).unwrap().is_empty());
        }
    }

    #[test]
    fn digits_and_text_are_those_of_the_machine() {
        let words = Words::Vp1(vec![0xdb00_0001, 0x0000_0012]);
        assert_eq!((words.digits(1), words.text(0)), ("0x00000012".into(), ".word 0xdb000001".into()));
        let words = Words::Halu(vec![0]);
        assert_eq!(words.digits(0), format!("0x{}", "0".repeat(32)));
        assert_eq!((words.digits(1), words.text(1), words.get(1)), (String::new(), String::new(), None));
    }
}
