//! Register files and the roles of registers in an instruction.

use crate::word::Field;

/// A register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RegFile {
    /// 32-bit registers of a work item: `R0` to `R254` and the zero register `RZ`.
    Gpr,
    /// 32-bit registers that are uniform over the launch: `UR0` to `UR62` and the zero register `URZ`.
    Ur,
    /// Predicates of a work item: `P0` to `P6` and the constant `PT`.
    Pred,
    /// VP1: 32-bit scalar registers, `$r0` to `$r30`; number 31 is 0.
    R,
    /// VP1: vectors of 16 bytes, `$v0` to `$v31`.
    V,
    /// VP1: the extra vector `$vx`.
    Vx,
    /// VP1: the accumulator `$va`, 16 x 28 bits.
    Va,
    /// VP1: vector flags, `$vc0` to `$vc3`, with a sign flag and a zero flag per component.
    Vc,
    /// VP1: address registers, `$a0` to `$a31`.
    A,
    /// VP1: scalar flags, `$c0` to `$c3`.
    C,
    /// VP1: loop counters, `$l0` to `$l3`.
    L,
    /// VP1: method registers, `$m0` to `$m63`.
    M,
    /// VP1: extra registers, `$x0` to `$x15`.
    X,
    /// VP1: DMA objects, `$d0` to `$d7`.
    D,
    /// VP1: FIFO registers, `$f0` and `$f1`.
    F,
    /// VP1: special registers, `$sr0` to `$sr31`.
    Sr,
    /// VP1: registers `$mi0` to `$mi31`.
    Mi,
    /// VP1: registers `$uc0` to `$uc31`; `$uc16` is also named `$uccfg`.
    Uc,
}

impl RegFile {
    /// Returns the number and the spelling of the constant register of the file, if any. Reads of that register return
    /// a constant, and writes are discarded. VP1's `$r31` is spelled as its value `0x0`.
    pub const fn constant(self) -> Option<(u8, &'static str)> {
        match self {
            RegFile::Gpr => Some((255, "RZ")),
            RegFile::Ur => Some((63, "URZ")),
            RegFile::Pred => Some((7, "PT")),
            RegFile::R => Some((31, "0x0")),
            _ => None,
        }
    }

    /// Returns the registers that have a name instead of a number.
    pub const fn named(self) -> &'static [(u8, &'static str)] {
        match self {
            RegFile::Sr => &[(30, "$tick"), (31, "$csreq")],
            RegFile::Uc => &[(16, "$uccfg")],
            _ => &[],
        }
    }

    /// Returns `true` if the first register of a range must be a multiple of the range's size.
    pub const fn is_aligned(self) -> bool {
        matches!(self, RegFile::Gpr | RegFile::Ur | RegFile::Pred)
    }

    /// Returns the prefix of a register's name before its number.
    pub const fn prefix(self) -> &'static str {
        match self {
            RegFile::Gpr => "R",
            RegFile::Ur => "UR",
            RegFile::Pred => "P",
            RegFile::R => "$r",
            RegFile::V => "$v",
            RegFile::Vx => "$vx",
            RegFile::Va => "$va",
            RegFile::Vc => "$vc",
            RegFile::A => "$a",
            RegFile::C => "$c",
            RegFile::L => "$l",
            RegFile::M => "$m",
            RegFile::X => "$x",
            RegFile::D => "$d",
            RegFile::F => "$f",
            RegFile::Sr => "$sr",
            RegFile::Mi => "$mi",
            RegFile::Uc => "$uc",
        }
    }
}

/// The access of an instruction to a register operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum OperandRole {
    /// Destination: written.
    Def,
    /// Source: read.
    Use,
    /// Read, then written.
    Update,
}

/// A register operand of an instruction: the field that holds the register's number, and its use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegSlot {
    /// The field that holds the register's number.
    pub field: Field,
    /// The register file.
    pub file: RegFile,
    /// The access: written, read or both.
    pub role: OperandRole,
    /// Number of registers: 1, 2 or 4. On HALU the first register's number is a multiple of the span.
    pub span: u8,
}

/// The class of an instruction. Code quality metrics count [`InstClass::Compute`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum InstClass {
    /// Computes data, or materialises a constant.
    Compute,
    /// Accesses memory, parameters included.
    Memory,
    /// Computes an address.
    Address,
    /// Changes control flow, or does nothing.
    Control,
    /// Copies a value.
    Move,
}
