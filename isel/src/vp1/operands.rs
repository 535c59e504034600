//! What rules pass about: registers, constants in place of registers, flags, and the operations of instruction families.

use crate::vcode::VReg;

/// A register of any file, or `$r31`, which is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reg {
    /// `None`: `$r31`.
    pub vreg: Option<VReg>,
}

impl Reg {
    pub const ZERO: Reg = Reg { vreg: None };

    pub const fn new(vreg: VReg) -> Reg {
        Reg { vreg: Some(vreg) }
    }
}

/// A value as an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Src {
    /// In a register.
    Reg(Reg),
    /// A constant of a scalar register.
    Word(u32),
    /// A constant of a vector register.
    Bytes([u8; 16]),
}

impl Src {
    /// The byte that it has everywhere.
    pub fn splat_byte(self) -> Option<u8> {
        match self {
            Src::Reg(_) => None,
            Src::Word(word) => {
                let [first, rest @ ..] = word.to_le_bytes();
                (rest == [first; 3]).then_some(first)
            }
            Src::Bytes([first, rest @ ..]) => (rest == [first; 15]).then_some(first),
        }
    }

    /// The constant, where it fits the signed immediate of scalar instructions.
    pub fn imm11(self) -> Option<i32> {
        match self {
            Src::Word(word) if (-(1 << 10)..1 << 10).contains(&(word as i32)) => Some(word as i32),
            _ => None,
        }
    }

    pub const fn is_reg(self) -> bool {
        matches!(self, Src::Reg(_))
    }

    /// The constant of a scalar register, which `$r31` has too.
    pub const fn known_word(self) -> Option<u32> {
        match self {
            Src::Word(word) => Some(word),
            Src::Reg(Reg { vreg: None }) => Some(0),
            Src::Reg(_) | Src::Bytes(_) => None,
        }
    }

    /// The byte that it is known to have everywhere.
    pub fn known_byte(self) -> Option<u8> {
        if self == Src::Reg(Reg::ZERO) { Some(0) } else { self.splat_byte() }
    }
}

/// A condition in a bit of a `$c`, or known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flag {
    Known(bool),
    Bit {
        /// The `$c`.
        c: VReg,
        /// Which bit of it.
        bit: u8,
        /// Inverted.
        not: bool,
    },
}

impl Flag {
    pub const fn inverted(self) -> Flag {
        match self {
            Flag::Known(value) => Flag::Known(!value),
            Flag::Bit { c, bit, not } => Flag::Bit { c, bit, not: !not },
        }
    }
}

/// A condition a component in one half of a `$vc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VFlag {
    /// The `$vc`.
    pub vc: VReg,
    /// The zero flags, not the sign flags.
    pub zero: bool,
    /// Inverted.
    pub not: bool,
}

impl VFlag {
    pub const fn inverted(self) -> VFlag {
        VFlag { not: !self.not, ..self }
    }
}

/// Signedness.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    U,
    S,
}

/// An operation on bytes, four in a `$r` or sixteen in a `$v`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bytes {
    Add,
    Sub,
    Min,
    Max,
    Shr,
}

/// An operation on 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Alu {
    Add,
    Sub,
    /// Of the signed low halves.
    Mul,
    Min,
    Max,
    Sar,
    Shr,
}

/// Which half of a 16-bit result is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Half {
    Low,
    High,
}

/// How results are rounded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// Down.
    Down,
    /// To nearest, ties up.
    Nearest,
}

/// How the accumulator is read after a multiplication of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Readout {
    pub sign: Sign,
    pub half: Half,
    pub round: Round,
    /// The sum is scaled by two to this power.
    pub shift: i8,
}

/// A factor of a multiplication: an operand and how its bytes count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Factor {
    pub src: Src,
    pub sign: Sign,
}
