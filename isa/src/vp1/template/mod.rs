//! Sequences of bundles with places for values: how the IR's intrinsics name any instruction of this machine that computes.
//!
//! Many instructions of VP1 only make sense in company: a result may stay in `$va` or in flags, and what the scalar unit hands
//! to the vector unit reaches no further than their bundle. So a template is a short program. `;` ends a bundle, as it may end a
//! line of assembly, and `&` joins the words of one, as it does where selected code is printed; no instruction's text has
//! either.
//!
//! `$d` stands for the result's register, `$0`, `$1`, ... for those of the operands, `$t0`, `$t1`, ... for others, each of which
//! is in the file that its first write says. A pair `$0d` takes `$0` and `$1`, a quad `$0q` also `$2` and `$3`. Flags go by their
//! own names, `$c0` to `$c3` and `$vc0` to `$vc3`. Flags, `$va`, `$vx` and what `$t` stands for belong to the sequence: it writes
//! them before it reads them, so that it depends on nothing but its operands.
//!
//! Only loads write `$vx`, and a sequence has no memory of its own. `mov $vx $0`, which is no instruction, stands for what
//! passes a value there.

mod error;
mod parse;

use arrayvec::ArrayVec;

use super::Inst;
use crate::row::{RegFile, Role};
use crate::word::Field;

pub use error::{TemplateError, TemplateErrorKind};

/// What a place for a register's number stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placeholder {
    /// `$d`.
    Result,
    /// `$0`, `$1`, ...
    Operand(u8),
    /// `$t0`, `$t1`, ...
    Temporary(u8),
    /// `$c0` to `$c3` or `$vc0` to `$vc3`, by the file of the place. The word holds the number too.
    Flags(u8),
    /// A `$vc` as it was when all of them were copied to a temporary. The place is the number of a word of the copy, which is that
    /// of the `$vc`; the word holds it too.
    CopiedFlags {
        /// The number of the `$vc`.
        flags: u8,
        /// The number of the temporary.
        copy: u8,
    },
}

/// A place for a register. Where its field is other parts of the word too ([`Inst::shares`]), the word holds the number, and the
/// value must be in the register of this number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// In which instruction of the bundle.
    pub inst: u8,
    /// In which of its fields.
    pub field: Field,
    /// Of several registers that the field's number names, which. Those of one field stand next to each other, the first first.
    pub part: u8,
    /// The file: `$r`, `$v`, `$c` or `$vc`.
    pub file: RegFile,
    /// Written or read.
    pub role: Role,
    /// What the register holds.
    pub value: Placeholder,
}

/// A step of a template.
#[derive(Clone, Debug)]
pub enum TemplateItem {
    /// A bundle.
    Bundle(Words),
    /// `$vx` gets this value, which is in a `$v`.
    Extra(Placeholder),
}

/// The words of a bundle, whose registers are given later.
#[derive(Clone, Debug)]
pub struct Words {
    /// Its instructions: one of the scalar unit, one of the vector unit, or both.
    pub insts: ArrayVec<Inst, 2>,
    /// The places for registers, instruction by instruction. What is read is read before anything is written. Flags that a word
    /// names without reading them are not among them.
    pub slots: Vec<Slot>,
}

/// Bundles whose registers are given later.
#[derive(Clone, Debug)]
pub struct Template {
    /// In order. A bundle that reads `$va` comes right after one that writes it.
    pub steps: Vec<TemplateItem>,
    /// How many temporaries there are.
    pub temporaries: u8,
}

impl Template {
    /// The most values that a template names: its result, operands and temporaries.
    pub const MAX_VALUES: usize = 31;

    /// Reads a template for a result and operands in these files, `$r` or `$v`.
    ///
    /// # Errors
    /// Text that is no instructions, or instructions that do more than compute the result from the operands.
    pub fn parse(text: &str, result: RegFile, operands: &[RegFile]) -> Result<Template, TemplateError> {
        parse::parse(text, result, operands)
    }
}

#[cfg(test)]
mod tests;
