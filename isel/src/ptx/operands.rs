//! What rules pass about: registers, predicates, and values as operands.

use halfbyte_ir::Value;
use halfbyte_isa::ptx::{self, Operand};

/// Where a value is: its registers, the lowest word first. One of at most 32 bits has one, and so has a truth value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reg {
    words: [ptx::Reg; Reg::MOST],
}

impl Reg {
    /// Words of the widest value.
    pub const MOST: usize = 4;
    /// What a store leaves.
    pub const NONE: Reg = Reg { words: [ptx::Reg(u32::MAX); Reg::MOST] };

    pub const fn new(reg: ptx::Reg) -> Reg {
        Reg { words: [reg; Reg::MOST] }
    }

    /// Words beyond those given are never asked for.
    pub fn of_words(words: &[ptx::Reg]) -> Reg {
        let mut all = Reg::NONE;
        all.words.iter_mut().zip(words).for_each(|(slot, &word)| *slot = word);
        all
    }

    pub const fn word(self, k: u8) -> ptx::Reg {
        self.words[k as usize % Reg::MOST]
    }

    /// From word `k` on.
    pub fn part(self, k: u8) -> Reg {
        Reg::of_words(self.words.get(usize::from(k)..).unwrap_or(&[]))
    }
}

/// A predicate, perhaps inverted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pred {
    /// `None`: true.
    pub reg: Option<ptx::Reg>,
    pub not: bool,
}

impl Pred {
    pub const fn new(reg: ptx::Reg) -> Pred {
        Pred { reg: Some(reg), not: false }
    }

    pub const fn inverted(self) -> Pred {
        Pred { reg: self.reg, not: !self.not }
    }
}

/// A word as an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Src {
    Reg(ptx::Reg),
    Number(u32),
}

impl Src {
    pub const fn is_zero(self) -> bool {
        matches!(self, Src::Number(0))
    }
}

impl From<Src> for Operand {
    fn from(src: Src) -> Operand {
        match src {
            Src::Reg(reg) => Operand::Register(reg),
            Src::Number(bits) => Operand::Number(bits.into()),
        }
    }
}

/// What an access counts in: a value times a number plus a number, modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Index {
    pub value: Value,
    pub factor: u32,
    pub plus: u32,
}
