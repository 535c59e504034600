//! Types that the rules use: registers, constants, flags, and operations of instruction families.

use crate::vcode::VReg;

/// Register of any file, or `$r31`, which is zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reg {
    /// `None` is `$r31`.
    pub vreg: Option<VReg>,
}

impl Reg {
    pub const ZERO: Reg = Reg { vreg: None };

    pub const fn new(vreg: VReg) -> Reg {
        Reg { vreg: Some(vreg) }
    }
}

/// Value as an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Src {
    /// Value in a register.
    Reg(Reg),
    /// Constant of a scalar register.
    Word(u32),
    /// Constant of a vector register.
    Bytes([u8; 16]),
}

impl Src {
    /// Returns the byte of a splat constant.
    pub(super) fn splat_byte(self) -> Option<u8> {
        match self {
            Src::Reg(_) => None,
            Src::Word(word) => {
                let [first, rest @ ..] = word.to_le_bytes();
                (rest == [first; 3]).then_some(first)
            }
            Src::Bytes([first, rest @ ..]) => (rest == [first; 15]).then_some(first),
        }
    }

    /// Returns the constant if it fits the signed immediate of scalar instructions.
    pub(super) fn imm11(self) -> Option<i32> {
        match self {
            Src::Word(word) if (-(1 << 10)..1 << 10).contains(&(word as i32)) => Some(word as i32),
            _ => None,
        }
    }

    pub const fn is_reg(self) -> bool {
        matches!(self, Src::Reg(_))
    }

    /// Returns the constant of a scalar register; `$r31` counts as 0.
    pub(super) const fn known_word(self) -> Option<u32> {
        match self {
            Src::Word(word) => Some(word),
            Src::Reg(Reg { vreg: None }) => Some(0),
            Src::Reg(_) | Src::Bytes(_) => None,
        }
    }

    /// Returns the byte of a splat constant; `$r31` counts as 0.
    pub(super) fn known_byte(self) -> Option<u8> {
        if self == Src::Reg(Reg::ZERO) { Some(0) } else { self.splat_byte() }
    }
}

/// Condition: constant, or in a bit of a `$c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flag {
    Known(bool),
    Bit {
        /// The `$c`.
        c: VReg,
        /// Bit number.
        bit: u8,
        /// `true` if the bit is inverted.
        not: bool,
    },
}

impl Flag {
    pub(super) const fn inverted(self) -> Flag {
        match self {
            Flag::Known(value) => Flag::Known(!value),
            Flag::Bit { c, bit, not } => Flag::Bit { c, bit, not: !not },
        }
    }
}

/// Condition per component, in one half of a `$vc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VFlag {
    /// The `$vc`.
    pub vc: VReg,
    /// `true` for the zero flags, `false` for the sign flags.
    pub zero: bool,
    /// `true` if the flags are inverted.
    pub not: bool,
}

impl VFlag {
    pub(super) const fn inverted(self) -> VFlag {
        VFlag { not: !self.not, ..self }
    }
}

/// Signedness of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    U,
    S,
}

/// Operation on bytes, four in a `$r` or sixteen in a `$v`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bytes {
    Add,
    Sub,
    Min,
    Max,
    Shr,
}

/// Operation on 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alu {
    Add,
    Sub,
    /// Product of the signed low halves.
    Mul,
    Min,
    Max,
    Sar,
    Shr,
}

/// Half of a 16-bit result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Half {
    Low,
    High,
}

/// Rounding of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// Rounds down.
    Down,
    /// Rounds to nearest, ties up.
    Nearest,
}

/// Readout of the accumulator after an integer multiplication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Readout {
    pub sign: Sign,
    pub half: Half,
    pub round: Round,
    /// The sum is scaled by two to this power.
    pub shift: i8,
}

/// Factor of a multiplication: an operand and the sign of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Factor {
    pub src: Src,
    pub sign: Sign,
}
