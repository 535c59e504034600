//! The words of a kernel, whichever machine they are for.

use crate::ptx::module::{Kernel, Module};
use crate::ptx::text::{inst_text, read};
use crate::row::Class;
use crate::target::Target;
use crate::{halu, vp1};

/// The words of a kernel in order, by machine. An address is an index here. PTX has lines in place of words, an instruction
/// each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Words {
    /// 128 bits each.
    Halu(Vec<u128>),
    /// 32 bits each.
    Vp1(Vec<u32>),
    /// Lines of text.
    Ptx(Box<Kernel>),
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
    /// The words that these bytes are for a target, each little endian; of PTX the text of a kernel. `None` for bytes that are
    /// no whole number of words, and for text that is none for that SM, or not of one kernel.
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
            Target::Ptx { sm } => {
                let Module { version, target, entries, .. } = read(str::from_utf8(bytes).ok()?).ok()?.module;
                let [entry] = <[_; 1]>::try_from(entries).ok()?;
                (target.sm == sm).then(|| Words::Ptx(Box::new(Kernel { version, target, entry })))
            }
        }
    }

    /// The bytes of all words, each little endian; of PTX the text.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len() * self.word_bytes());
        match self {
            Words::Halu(words) => words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes())),
            Words::Vp1(words) => words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes())),
            Words::Ptx(kernel) => return kernel.to_string().into_bytes(),
        }
        bytes
    }

    /// The machine.
    pub const fn target(&self) -> Target {
        match self {
            Words::Halu(_) => Target::Halu,
            Words::Vp1(_) => Target::Vp1,
            Words::Ptx(kernel) => Target::Ptx { sm: kernel.target.sm },
        }
    }

    /// Bytes of one word; none of a line.
    pub const fn word_bytes(&self) -> usize {
        match self {
            Words::Halu(_) => size_of::<u128>(),
            Words::Vp1(_) => size_of::<u32>(),
            Words::Ptx(_) => 0,
        }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        match self {
            Words::Halu(words) => words.len(),
            Words::Vp1(words) => words.len(),
            Words::Ptx(kernel) => kernel.entry.insts.len(),
        }
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word at an address, zero-extended; a line is none.
    pub fn get(&self, address: usize) -> Option<u128> {
        match self {
            Words::Halu(words) => words.get(address).copied(),
            Words::Vp1(words) => words.get(address).copied().map(u128::from),
            Words::Ptx(_) => None,
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
            Words::Ptx(kernel) => {
                let inst = kernel.entry.insts.get(address);
                inst.map_or(String::new(), |inst| inst_text(inst, &kernel.entry))
            }
        }
    }

    /// How many of them are instructions of a class.
    pub fn count(&self, class: Class) -> usize {
        let classes: &mut dyn Iterator<Item = Option<Class>> = match self {
            Words::Halu(words) => &mut words.iter().map(|&word| Some(halu::Inst::decode(word)?.row().class)),
            Words::Vp1(words) => &mut words.iter().map(|&word| Some(vp1::Inst::decode(word)?.row().class)),
            Words::Ptx(kernel) => &mut kernel.entry.insts.iter().map(|inst| Some(inst.row().class)),
        };
        classes.filter(|&of| of == Some(class)).count()
    }

    /// The text of all words, a line a word, and labels on lines of their own where the machine's text has them.
    pub fn disassemble(&self) -> String {
        match self {
            Words::Halu(words) => halu::disassemble(words),
            Words::Vp1(words) => vp1::disassemble(words),
            Words::Ptx(kernel) => kernel.to_string(),
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
            assert_eq!(Words::from_bytes(PTX, &bytes), None);
            assert!(Words::from_bytes(words.target(), &[]).unwrap().is_empty());
        }
    }

    const PTX: Target = Target::Ptx { sm: 90 };

    #[test]
    fn lines_come_back() {
        let text = ".version 7.8\n.target sm_90\n.address_size 64\n\n.visible .entry k()\n{\n    .reg .b32 %r<1>;\n    \
                    mov.b32 %r0, 7;\n    ret;\n}\n";
        let words = Words::from_bytes(PTX, text.as_bytes()).unwrap();
        assert_eq!((words.target(), words.len(), words.text(0)), (PTX, 2, "mov.b32 %r0, 7;".into()));
        assert_eq!((words.get(0), words.count(Class::Move)), (None, 1));
        assert_eq!(words.to_bytes(), text.as_bytes());
        // For another SM, of two kernels, of none.
        assert_eq!(Words::from_bytes(Target::Ptx { sm: 80 }, text.as_bytes()), None);
        let two = format!("{text}.entry l()\n{{\n    ret;\n}}\n");
        assert_eq!(Words::from_bytes(PTX, two.as_bytes()), None);
        assert_eq!(Words::from_bytes(PTX, text.split(".visible").next().unwrap().as_bytes()), None);
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
