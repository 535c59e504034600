//! Types that the HALU rules use: registers, predicates, and source operands.

use halfbyte_ir::Value;

use crate::vcode::VReg;

/// General register, one 32-bit word of a wide register, or RZ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reg {
    /// The virtual register, or `None` for RZ. If the result is a predicate, `None` is PT.
    pub vreg: Option<VReg>,
    /// Number of the first word that is used of a wide register.
    pub part: u8,
}

impl Reg {
    pub const ZERO: Reg = Reg { vreg: None, part: 0 };

    pub const fn new(vreg: VReg) -> Reg {
        Reg { vreg: Some(vreg), part: 0 }
    }

    /// Returns the word that is `k` words after this word in a wide register.
    pub(super) const fn part(self, k: u8) -> Reg {
        match self.vreg {
            Some(_) => Reg { vreg: self.vreg, part: self.part + k },
            None => Reg::ZERO,
        }
    }
}

/// Predicate register or PT, possibly inverted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pred {
    /// The virtual register, or `None` for PT.
    pub vreg: Option<VReg>,
    pub not: bool,
}

impl Pred {
    pub(super) const TRUE: Pred = Pred { vreg: None, not: false };

    pub(super) const fn inverted(self) -> Pred {
        Pred { vreg: self.vreg, not: !self.not }
    }
}

/// Index of an access: a value times a factor modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Index {
    pub value: Value,
    pub factor: u32,
}

impl Index {
    pub(super) const fn plain(value: Value) -> Index {
        Index { value, factor: 1 }
    }
}

/// Location of a source word: a register, an immediate or constant memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SourceLocation {
    Reg(Reg),
    Imm(u32),
    /// Word at this byte offset in constant bank 0.
    Const(u16),
}

/// Half selector of a packed-half operand: the halves of the register that the two lanes read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Half {
    Both,
    Low,
    High,
}

/// Number format of an operand, which determines the bits that negation and absolute value change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    Half,
    Single,
    Int,
}

/// Source operand. Its modifiers apply in this order: half selector, absolute value, negation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Src {
    pub place: SourceLocation,
    pub neg: bool,
    pub abs: bool,
    pub half: Half,
}

impl Src {
    pub const ZERO: Src = Src::plain(SourceLocation::Reg(Reg::ZERO));

    pub const fn plain(place: SourceLocation) -> Src {
        Src { place, neg: false, abs: false, half: Half::Both }
    }

    /// Returns an immediate operand. Zero becomes RZ, which every source field accepts.
    pub const fn imm(bits: u32) -> Src {
        match bits {
            0 => Src::ZERO,
            _ => Src::plain(SourceLocation::Imm(bits)),
        }
    }

    pub const fn is_reg(self) -> bool {
        matches!(self.place, SourceLocation::Reg(_))
    }

    pub(super) const fn negated(self) -> Src {
        Src { neg: !self.neg, ..self }
    }

    pub(super) const fn absolute(self) -> Src {
        Src { abs: true, neg: false, ..self }
    }

    /// Returns the operand with lane `lane` in both lanes.
    pub(super) const fn broadcast(self, lane: u8) -> Src {
        let half = match (self.half, lane) {
            (Half::Both, 0) => Half::Low,
            (Half::Both, _) => Half::High,
            (same, _) => same,
        };
        Src { half, ..self }
    }

    /// Applies the modifiers of an immediate to its bits, because an instruction with an immediate
    /// has no modifiers for it.
    pub(super) fn folded(self, number: Number) -> Src {
        let SourceLocation::Imm(bits) = self.place else {
            return self;
        };
        let bits = match self.half {
            Half::Both => bits,
            Half::Low => (bits & 0xffff) * 0x1_0001,
            Half::High => (bits >> 16) * 0x1_0001,
        };
        let sign = match number {
            Number::Half => 0x8000_8000,
            Number::Single => 0x8000_0000,
            Number::Int => 0,
        };
        let bits = if self.abs { bits & !sign } else { bits };
        let bits = match (self.neg, number) {
            (false, _) => bits,
            (true, Number::Int) => bits.wrapping_neg(),
            (true, _) => bits ^ sign,
        };
        Src::imm(bits)
    }
}

/// Register operand of a video instruction, with an element selector: the source lane of each lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lanes {
    pub reg: Reg,
    pub map: [u8; 4],
}

impl Lanes {
    pub(super) const fn plain(reg: Reg) -> Lanes {
        Lanes { reg, map: [0, 1, 2, 3] }
    }

    /// Returns the operand with lane `lane` in every lane.
    pub(super) fn broadcast(self, lane: u8) -> Lanes {
        let from = self.map.get(usize::from(lane)).copied().unwrap_or(0);
        Lanes { reg: self.reg, map: [from; 4] }
    }
}
