//! Register files, and how an instruction touches a register.

use crate::word::Field;

/// A register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RegFile {
    /// 32-bit registers of a work item, `R0` to `R254` and `RZ`.
    Gpr,
    /// 32-bit registers uniform over the launch, `UR0` to `UR62` and `URZ`.
    Ur,
    /// Predicates of a work item, `P0` to `P6` and `PT`.
    Pred,
    /// VP1: 32-bit scalar registers, `$r0` to `$r30`; number 31 is 0.
    R,
    /// VP1: vectors of 16 bytes, `$v0` to `$v31`.
    V,
    /// VP1: the extra vector `$vx`.
    Vx,
    /// VP1: the accumulator `$va`, 16 x 28 bits.
    Va,
    /// VP1: flags of vectors, `$vc0` to `$vc3`, a sign and a zero flag a component.
    Vc,
    /// VP1: addresses, `$a0` to `$a31`.
    A,
    /// VP1: flags, `$c0` to `$c3`.
    C,
    /// VP1: loop counters, `$l0` to `$l3`.
    L,
    /// VP1: method registers, `$m0` to `$m63`.
    M,
    /// VP1: extra storage, `$x0` to `$x15`.
    X,
    /// VP1: DMA objects, `$d0` to `$d7`.
    D,
    /// VP1: FIFO registers, `$f0` and `$f1`.
    F,
    /// VP1: special registers, `$sr0` to `$sr31`.
    Sr,
    /// VP1: `$mi0` to `$mi31`.
    Mi,
    /// VP1: `$uc0` to `$uc31`.
    Uc,
}

impl RegFile {
    /// The number that reads as a constant and swallows writes, and how it is written; VP1's `$r31` is written as what it is.
    pub const fn constant(self) -> Option<(u8, &'static str)> {
        match self {
            RegFile::Gpr => Some((255, "RZ")),
            RegFile::Ur => Some((63, "URZ")),
            RegFile::Pred => Some((7, "PT")),
            RegFile::R => Some((31, "0x0")),
            _ => None,
        }
    }

    /// The registers that go by a name, and are written by it.
    pub const fn named(self) -> &'static [(u8, &'static str)] {
        match self {
            RegFile::Sr => &[(30, "$tick"), (31, "$csreq")],
            RegFile::Uc => &[(16, "$uccfg")],
            _ => &[],
        }
    }

    /// Whether the first of several registers must be a multiple of their number.
    pub const fn is_aligned(self) -> bool {
        matches!(self, RegFile::Gpr | RegFile::Ur | RegFile::Pred)
    }

    /// What stands before the number in the name of a register.
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

/// Whether an operand is written or read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Role {
    /// Written.
    Def,
    /// Read.
    Use,
    /// Read, and then written.
    Update,
}

/// A register position of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegSlot {
    /// Where the register number stands.
    pub field: Field,
    /// The file it indexes.
    pub file: RegFile,
    /// Written or read.
    pub role: Role,
    /// Number of registers, 1, 2 or 4. Of HALU the first is a multiple of it.
    pub span: u8,
}

/// What an instruction is for; code quality counts [`Class::Compute`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Class {
    /// Computes data; making a constant counts.
    Compute,
    /// Reads or writes memory, parameters included.
    Memory,
    /// Finds where data lies.
    Address,
    /// Steers, or does nothing.
    Control,
    /// Carries a value from one place to another.
    Move,
}
