//! Instruction templates: sequences of bundles with placeholders, through which the IR's intrinsics
//! can use any computing instruction of this target.
//!
//! Many VP1 instructions are useful only in combination. A result may stay in `$va` or in flags,
//! and the values that the scalar unit forwards to the vector unit do not outlive their bundle. So
//! a template is a short program. `;` ends a bundle, as it may end a line of assembly. `&` joins
//! the words of a bundle, as in the printed form of selected code. Neither character occurs in the
//! text of an instruction.
//!
//! `$d` stands for the result's register, and `$0`, `$1`, ... for those of the operands. `$t0`,
//! `$t1`, ... stand for temporaries; the first write determines the register file of a temporary. A
//! pair `$0d` takes `$0` and `$1`; a quad `$0q` also takes `$2` and `$3`. Flags have their own
//! names, `$c0` to `$c3` and `$vc0` to `$vc3`. The sequence must write flags, `$va`, `$vx` and
//! temporaries before it reads them, so that the result depends only on the operands.
//!
//! Only loads write `$vx`, and a sequence cannot access memory. The pseudo-instruction `mov $vx $0`
//! stands for the store and the load that copy a value to `$vx`.

mod error;
mod parse;

use arrayvec::ArrayVec;

use super::Inst;
use crate::row::{OperandRole, RegFile};
use crate::word::Field;

pub use error::{TemplateError, TemplateErrorKind};

/// The value of a register slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placeholder {
    /// The result, `$d`.
    Result,
    /// An operand: `$0`, `$1`, ...
    Operand(u8),
    /// A temporary: `$t0`, `$t1`, ...
    Temporary(u8),
    /// A flag register: `$c0` to `$c3` or `$vc0` to `$vc3`, depending on the slot's register file.
    /// The word also holds the number.
    Flags(u8),
    /// The value of a `$vc` at the time when all `$vc` were copied to a temporary. The slot's field
    /// is the word number within the copy, which equals the number of the `$vc`. The word also
    /// holds the number.
    CopiedFlags {
        /// The number of the `$vc`.
        flags: u8,
        /// The number of the temporary.
        copy: u8,
    },
}

/// A register slot. If the slot's field overlaps other fields ([`Inst::shares`]), the word fixes
/// the register number, and the value must be assigned to that register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterSlot {
    /// Index of the instruction in the bundle.
    pub inst: u8,
    /// The field with the register number.
    pub field: Field,
    /// Index of the register if the field names a pair or quad. The slots of one field are adjacent
    /// and in ascending order.
    pub part: u8,
    /// The register file: `$r`, `$v`, `$c` or `$vc`.
    pub file: RegFile,
    /// The access: written, read or both.
    pub role: OperandRole,
    /// The value that the register holds.
    pub value: Placeholder,
}

/// A step of a template.
#[derive(Clone, Debug)]
pub enum TemplateItem {
    /// A bundle.
    Bundle(Words),
    /// A copy of this value, which is in a `$v`, to `$vx`.
    MoveToVx(Placeholder),
}

/// The words of a bundle, whose registers are assigned later.
#[derive(Clone, Debug)]
pub struct Words {
    /// The instructions: one of the scalar unit, one of the vector unit, or both.
    pub insts: ArrayVec<Inst, 2>,
    /// The register slots, in the order of the instructions. All reads happen before any write.
    /// Flags that a word names but does not read have no slot.
    pub slots: Vec<RegisterSlot>,
}

/// A sequence of bundles whose registers are assigned later.
#[derive(Clone, Debug)]
pub struct Template {
    /// The steps, in order. A bundle that reads `$va` directly follows one that writes it.
    pub steps: Vec<TemplateItem>,
    /// Number of temporaries.
    pub temporaries: u8,
}

impl Template {
    /// Maximum number of values in a template: result, operands and temporaries.
    pub const MAX_VALUES: usize = 31;

    /// Parses a template for a result and operands in these register files, `$r` or `$v`.
    ///
    /// # Errors
    /// The text is not a sequence of instructions, or the instructions do more than compute the
    /// result from the operands.
    pub fn parse(text: &str, result: RegFile, operands: &[RegFile]) -> Result<Template, TemplateError> {
        parse::parse(text, result, operands)
    }
}

#[cfg(test)]
mod tests;
