//! What an instruction set is to everyone who does not care which: the same questions, answered by each.

use std::any::Any;
use std::fmt::Debug;
use std::ops::{Deref, Range};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use halfbyte_abi::Target;

use crate::row::Class;

/// An instruction set: how the kernels of an object are read. Its targets differ in which of its instructions they have.
pub trait Isa: Debug + Sync + RefUnwindSafe {
    /// The targets whose instruction set it is.
    fn targets(&self) -> &[Target];

    /// The one that is meant where no SM version is given.
    fn default_target(&self) -> Target;

    /// Targets that together have every set of instructions that one of them has: what holds on these holds on all.
    fn representatives(&self) -> Vec<Target> {
        self.targets().to_vec()
    }

    /// The mnemonics of its instructions.
    fn mnemonics(&self) -> Vec<&'static str>;

    /// The machine code that these bytes of an object are, for one of its targets. `None` for bytes that are no whole number of
    /// words, and for text that is none for that target, or not of one kernel.
    fn machine_code(&self, target: Target, bytes: &[u8]) -> Option<Words>;
}

/// The machine code of a kernel, of any target. Clones share it.
#[derive(Clone, Debug)]
pub struct Words(Arc<dyn MachineCode>);

impl Words {
    /// The code as what its target's own rooms know it as, to keep.
    pub fn downcast<C: MachineCode + Clone>(self) -> Option<C> {
        let any: Arc<dyn Any + Send + Sync> = self.0;
        any.downcast().ok().map(Arc::unwrap_or_clone)
    }
}

impl<C: MachineCode> From<C> for Words {
    fn from(code: C) -> Words {
        Words(Arc::new(code))
    }
}

impl Deref for Words {
    type Target = dyn MachineCode;

    fn deref(&self) -> &dyn MachineCode {
        &*self.0
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Words) -> bool {
        self.target() == other.target() && self.to_bytes() == other.to_bytes()
    }
}

impl Eq for Words {}

/// The machine code of a kernel: words in order, or lines of text, an instruction each. An address is a place in that order.
pub trait MachineCode: Any + Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// The target.
    fn target(&self) -> Target;

    /// Bytes of one word; none of a line.
    fn word_bytes(&self) -> usize;

    /// How many words or lines there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word at an address, zero-extended; a line is none.
    fn get(&self, address: usize) -> Option<u128>;

    /// The word at an address as a line of assembly, which reads back to it at that address; empty where there is none.
    fn text(&self, address: usize) -> String;

    /// What sort of instruction the word at an address is, where it is one.
    fn class(&self, address: usize) -> Option<Class>;

    /// The same code where the words at these addresses do nothing, in whatever unit they are for.
    fn idle(&self, addresses: Range<usize>) -> Words;

    /// The text of all words, a line a word, and labels on lines of their own where the machine's text has them.
    fn disassemble(&self) -> String;

    /// The bytes in an object: words little endian, or the text.
    fn to_bytes(&self) -> Vec<u8>;
}

impl dyn MachineCode {
    /// The words in order, zero-extended.
    pub fn iter(&self) -> impl Iterator<Item = u128> {
        (0..self.len()).filter_map(|address| self.get(address))
    }

    /// The word at an address in hexadecimal, all its digits; empty where there is none.
    pub fn digits(&self, address: usize) -> String {
        self.get(address).map_or(String::new(), |word| digits(word, self.word_bytes() as u32))
    }

    /// How many of the words are instructions of a class.
    pub fn count(&self, class: Class) -> usize {
        (0..self.len()).filter(|&address| self.class(address) == Some(class)).count()
    }

    /// The code as what its target's own rooms know it as.
    pub fn downcast_ref<C: MachineCode>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A word of so many bytes in hexadecimal, all its digits.
pub fn digits(word: u128, bytes: u32) -> String {
    let width = 2 + 2 * bytes as usize;
    format!("{word:#0width$x}")
}
