//! Types that the VP1 rules use: registers, constants, flags, and the operations of similar instructions.

use crate::vcode::VReg;

/// Register of any file, or `$r31`, which is always 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reg {
    /// The virtual register, or `None` for `$r31`.
    pub vreg: Option<VReg>,
}

impl Reg {
    pub const ZERO: Reg = Reg { vreg: None };

    pub const fn new(vreg: VReg) -> Reg {
        Reg { vreg: Some(vreg) }
    }
}

/// Source operand: a register or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Src {
    /// Value in a register.
    Reg(Reg),
    /// 32-bit constant for a scalar register.
    Word(u32),
    /// 16-byte constant for a vector register.
    Bytes([u8; 16]),
}

impl Src {
    /// If the operand is a vector constant whose bytes are equal, returns this byte.
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

    /// If the operand is a word constant that fits the signed 11-bit immediate of scalar instructions, returns it.
    pub(super) fn imm11(self) -> Option<i32> {
        match self {
            Src::Word(word) if (-(1 << 10)..1 << 10).contains(&(word as i32)) => Some(word as i32),
            _ => None,
        }
    }

    pub const fn is_reg(self) -> bool {
        matches!(self, Src::Reg(_))
    }

    /// If the operand is a word constant, returns its value. `$r31` counts as the constant 0.
    pub(super) const fn known_word(self) -> Option<u32> {
        match self {
            Src::Word(word) => Some(word),
            Src::Reg(Reg { vreg: None }) => Some(0),
            Src::Reg(_) | Src::Bytes(_) => None,
        }
    }

    /// If all bytes of the operand are a known byte, returns this byte. `$r31` counts as bytes of 0.
    pub(super) fn known_byte(self) -> Option<u8> {
        if self == Src::Reg(Reg::ZERO) { Some(0) } else { self.splat_byte() }
    }
}

/// Condition of a select or a branch: a constant, or a bit of a `$c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flag {
    Known(bool),
    Bit {
        /// Flags register that holds the bit.
        c: VReg,
        /// Number of the bit in the `$c`.
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

/// Condition for each byte of a vector: the sign flags or the zero flags of a `$vc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VFlag {
    /// Flags register that holds the flags of all bytes.
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

/// Signedness with which numbers are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    U,
    S,
}

/// Operation on bytes: the four bytes of a `$r`, or the sixteen bytes of a `$v`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bytes {
    Add,
    Sub,
    Min,
    Max,
    Shr,
}

/// Operation on 32-bit words in `$r`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alu {
    Add,
    Sub,
    /// Product of the low 16 bits of both operands, which are signed.
    Mul,
    Min,
    Max,
    Sar,
    Shr,
}

/// Low or high byte of a 16-bit result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Half {
    Low,
    High,
}

/// Rounding of the bits that a readout drops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// Rounds down.
    Down,
    /// Rounds to nearest, ties up.
    Nearest,
}

/// Byte that an instruction reads from the accumulator after an integer multiplication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Readout {
    pub sign: Sign,
    pub half: Half,
    pub round: Round,
    /// The sum in the accumulator is multiplied by 2 to the power of this number.
    pub shift: i8,
}

/// Factor of a multiplication: an operand and the signedness of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Factor {
    pub src: Src,
    pub sign: Sign,
}
