//! Target-independent interface of an instruction set and of its machine code.

use std::any::Any;
use std::fmt::Debug;
use std::ops::{Deref, Range};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use halfbyte_abi::Target;

use crate::row::InstClass;

/// An instruction set: decodes the kernels of an object. Its targets may support different subsets of its instructions.
pub trait Isa: Debug + Sync + RefUnwindSafe {
    /// Returns the targets that use this instruction set.
    fn targets(&self) -> &[Target];

    /// Returns the target to use if no SM version is given.
    fn default_target(&self) -> Target;

    /// Returns a subset of the targets that covers every distinct set of supported instructions. A
    /// property that holds on these targets holds on all targets.
    fn representatives(&self) -> Vec<Target> {
        self.targets().to_vec()
    }

    /// Returns the mnemonics of the instructions.
    fn mnemonics(&self) -> Vec<&'static str>;

    /// Decodes the bytes of a kernel in an object as machine code of `target`. Returns `None` if
    /// the bytes are not a whole number of instruction words. For a target in text form, returns
    /// `None` if the text is invalid for the target or does not hold exactly one kernel.
    fn machine_code(&self, target: Target, bytes: &[u8]) -> Option<SharedCode>;
}

/// The machine code of a kernel, of any target. Clones share the code.
#[derive(Clone, Debug)]
pub struct SharedCode(Arc<dyn MachineCode>);

impl SharedCode {
    /// Converts the code to the concrete type of its target, or returns `None` if its type differs.
    pub fn downcast<C: MachineCode + Clone>(self) -> Option<C> {
        let any: Arc<dyn Any + Send + Sync> = self.0;
        any.downcast().ok().map(Arc::unwrap_or_clone)
    }
}

impl<C: MachineCode> From<C> for SharedCode {
    fn from(code: C) -> SharedCode {
        SharedCode(Arc::new(code))
    }
}

impl Deref for SharedCode {
    type Target = dyn MachineCode;

    fn deref(&self) -> &dyn MachineCode {
        &*self.0
    }
}

impl PartialEq for SharedCode {
    fn eq(&self, other: &SharedCode) -> bool {
        self.target() == other.target() && self.to_bytes() == other.to_bytes()
    }
}

impl Eq for SharedCode {}

/// The machine code of a kernel: a sequence of instruction words or of lines of text. An address is
/// an index into that sequence.
pub trait MachineCode: Any + Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Returns the target.
    fn target(&self) -> Target;

    /// Returns the size of one instruction word in bytes, or 0 for a target in text form.
    fn word_bytes(&self) -> usize;

    /// Returns the number of instruction words, or of lines for a target in text form.
    fn len(&self) -> usize;

    /// Returns `true` if the code has no instruction words or lines.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the instruction word at an address, zero-extended to 128 bits. Returns `None` for a
    /// target in text form and past the end of the code.
    fn get(&self, address: usize) -> Option<u128>;

    /// Disassembles the instruction word at an address. The returned line assembles to the same
    /// instruction word at that address. Returns an empty string past the end of the code.
    fn text(&self, address: usize) -> String;

    /// Returns the class of the instruction at an address, or `None` if the instruction word is invalid.
    fn class(&self, address: usize) -> Option<InstClass>;

    /// Returns a copy of the code in which no-ops replace the instruction words at these addresses.
    /// Each no-op is of the same execution unit as the instruction that it replaces.
    fn replace_with_nops(&self, addresses: Range<usize>) -> SharedCode;

    /// Disassembles the whole code, one line per instruction word. Labels have lines of their own
    /// if the target's syntax has labels.
    fn disassemble(&self) -> String;

    /// Returns the bytes that an object stores: the instruction words in little-endian order, or the text.
    fn to_bytes(&self) -> Vec<u8>;
}

impl dyn MachineCode {
    /// Returns the instruction words in order, zero-extended to 128 bits.
    pub fn iter(&self) -> impl Iterator<Item = u128> {
        (0..self.len()).filter_map(|address| self.get(address))
    }

    /// Formats the instruction word at an address with all its hexadecimal digits. Returns an empty
    /// string if there is no instruction word at the address.
    pub fn digits(&self, address: usize) -> String {
        self.get(address).map_or(String::new(), |word| digits(word, self.word_bytes() as u32))
    }

    /// Counts the instructions of a class.
    pub fn count(&self, class: InstClass) -> usize {
        (0..self.len()).filter(|&address| self.class(address) == Some(class)).count()
    }

    /// Borrows the code as the concrete type of its target, or returns `None` if its type differs.
    pub fn downcast_ref<C: MachineCode>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }
}

/// Formats an instruction word of `bytes` bytes with all its hexadecimal digits.
pub fn digits(word: u128, bytes: u32) -> String {
    let width = 2 + 2 * bytes as usize;
    format!("{word:#0width$x}")
}
