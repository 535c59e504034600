//! What rules pass about: registers, predicates, and values as operands.

use halfbyte_ir::Value;

use crate::vcode::VReg;

/// A general register, or one word of a wide one, or RZ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reg {
    /// `None`: RZ, or PT where a predicate is meant.
    pub vreg: Option<VReg>,
    /// The word of a wide register from which on it counts.
    pub part: u8,
}

impl Reg {
    pub const ZERO: Reg = Reg { vreg: None, part: 0 };

    pub const fn new(vreg: VReg) -> Reg {
        Reg { vreg: Some(vreg), part: 0 }
    }

    /// The word `k` further on.
    pub const fn part(self, k: u8) -> Reg {
        match self.vreg {
            Some(_) => Reg { vreg: self.vreg, part: self.part + k },
            None => Reg::ZERO,
        }
    }
}

/// A predicate, perhaps inverted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pred {
    /// `None`: PT.
    pub vreg: Option<VReg>,
    pub not: bool,
}

impl Pred {
    pub const TRUE: Pred = Pred { vreg: None, not: false };

    pub const fn inverted(self) -> Pred {
        Pred { vreg: self.vreg, not: !self.not }
    }
}

/// What an access counts in: a value, multiplied by a number modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Index {
    pub value: Value,
    pub factor: u32,
}

impl Index {
    pub const fn plain(value: Value) -> Index {
        Index { value, factor: 1 }
    }
}

/// Where a word comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Source {
    Reg(Reg),
    Imm(u32),
    /// Constant bank 0, byte offset.
    Const(u16),
}

/// Which halves of a register the two lanes take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Half {
    Both,
    Low,
    High,
}

/// What a sign means to an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Number {
    Half,
    Single,
    Int,
}

/// A word as an operand: selected, then its absolute value, then negated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Src {
    pub place: Source,
    pub neg: bool,
    pub abs: bool,
    pub half: Half,
}

impl Src {
    pub const ZERO: Src = Src::plain(Source::Reg(Reg::ZERO));

    pub const fn plain(place: Source) -> Src {
        Src { place, neg: false, abs: false, half: Half::Both }
    }

    /// An immediate; zero is RZ, which every source can be.
    pub const fn imm(bits: u32) -> Src {
        match bits {
            0 => Src::ZERO,
            _ => Src::plain(Source::Imm(bits)),
        }
    }

    pub const fn is_reg(self) -> bool {
        matches!(self.place, Source::Reg(_))
    }

    pub const fn negated(self) -> Src {
        Src { neg: !self.neg, ..self }
    }

    pub const fn absolute(self) -> Src {
        Src { abs: true, neg: false, ..self }
    }

    /// Both lanes from lane `lane` of this.
    pub const fn broadcast(self, lane: u8) -> Src {
        let half = match (self.half, lane) {
            (Half::Both, 0) => Half::Low,
            (Half::Both, _) => Half::High,
            (same, _) => same,
        };
        Src { half, ..self }
    }

    /// The same with the modifiers of an immediate worked into its bits: no instruction has both.
    pub fn folded(self, number: Number) -> Src {
        let Source::Imm(bits) = self.place else {
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

/// A register as a source of a video instruction: the lane each lane takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lanes {
    pub reg: Reg,
    pub map: [u8; 4],
}

impl Lanes {
    pub const fn plain(reg: Reg) -> Lanes {
        Lanes { reg, map: [0, 1, 2, 3] }
    }

    /// Every lane from lane `lane` of this.
    pub fn broadcast(self, lane: u8) -> Lanes {
        let from = self.map.get(usize::from(lane)).copied().unwrap_or(0);
        Lanes { reg: self.reg, map: [from; 4] }
    }
}
