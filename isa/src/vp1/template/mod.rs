//! Instruction templates: sequences of bundles with placeholders. Intrinsics of the IR can use every computing
//! instruction of VP1 through a template.
//!
//! Many VP1 instructions are useful only in combination. A result may stay in `$va` or in flags, and the values that
//! the scalar unit forwards to the vector unit are available only in the same bundle. So a template is a short program.
//! `;` ends a bundle, as it may end a line of assembly. `&` joins the instructions of a bundle, as in the printed form
//! of selected code. Neither character occurs in the text of an instruction.
//!
//! `$d` stands for the register of the result, and `$0`, `$1`, ... for the registers of the operands. `$t0`, `$t1`, ...
//! stand for temporaries; the first write determines the register file of a temporary. A pair `$0d` consists of `$0`
//! and `$1`; a quad `$0q` also contains `$2` and `$3`. Flags are written by their register names, `$c0` to `$c3` and
//! `$vc0` to `$vc3`. The sequence must write flags, `$va`, `$vx` and temporaries before it reads them, so that the
//! result depends only on the operands.
//!
//! Only loads write `$vx`, and a sequence cannot access memory. The pseudo-instruction `mov $vx $0` stands for the
//! store and the load that copy a value to `$vx`.

mod error;
mod parse;

use arrayvec::ArrayVec;

use super::Inst;
use crate::row::{OperandRole, RegFile};
use crate::word::Field;

pub use error::{TemplateError, TemplateErrorKind};

/// The value for which a register operand of a template stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placeholder {
    /// The result, `$d`.
    Result,
    /// An operand: `$0`, `$1`, ...
    Operand(u8),
    /// A temporary: `$t0`, `$t1`, ...
    Temporary(u8),
    /// A flag register: `$c0` to `$c3` or `$vc0` to `$vc3`, depending on the register file of the
    /// operand. The instruction word also encodes the number of the register.
    Flags(u8),
    /// A 32-bit word of a temporary to which all `$vc` registers were copied. The word is the value
    /// of one `$vc` register at the time of the copy. The number of that register is also the index
    /// of the word, which the instruction word encodes.
    CopiedFlags {
        /// The number of the `$vc` register.
        flags: u8,
        /// The number of the temporary.
        copy: u8,
    },
}

/// A register operand of an instruction in a bundle. If its field shares bits with other fields ([`Inst::shares`]), the
/// instruction word fixes the register number. The value must then be assigned to that register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterSlot {
    /// Index of the instruction in the bundle.
    pub inst: u8,
    /// The field with the register number.
    pub field: Field,
    /// Index of the register in its pair or quad, or 0 for a single register. The entries of one
    /// field are adjacent and in ascending order.
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
    /// A copy of a value, which is in a `$v` register, to `$vx`.
    MoveToVx(Placeholder),
}

/// The instructions of a bundle, whose registers are assigned later.
#[derive(Clone, Debug)]
pub struct Words {
    /// The instructions: one of the scalar unit, one of the vector unit, or one of each.
    pub insts: ArrayVec<Inst, 2>,
    /// The register operands, in the order of the instructions. All reads happen before any write.
    /// Flags that an instruction word names but does not read have no entry.
    pub slots: Vec<RegisterSlot>,
}

/// A sequence of bundles, whose registers are assigned later.
#[derive(Clone, Debug)]
pub struct Template {
    /// The steps, in order. A bundle that reads `$va` directly follows a bundle that writes `$va`.
    pub steps: Vec<TemplateItem>,
    /// Number of temporaries.
    pub temporaries: u8,
}

impl Template {
    /// Maximum number of values in a template: result, operands and temporaries.
    pub const MAX_VALUES: usize = 31;

    /// Parses a template. The result and the operands are in the given register files, `$r` or `$v`.
    ///
    /// # Errors
    /// The text is not a sequence of instructions, or the instructions do more than compute the result from the
    /// operands.
    pub fn parse(text: &str, result: RegFile, operands: &[RegFile]) -> Result<Template, TemplateError> {
        parse::parse(text, result, operands)
    }
}

#[cfg(test)]
mod tests;
