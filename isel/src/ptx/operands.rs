//! Types that the PTX rules use: registers, predicates, and source operands.

use halfbyte_ir::Value;
use halfbyte_isa::ptx::{self, Operand};

/// Registers of a value, lowest word first. A value of at most 32 bits, or a truth value, has one register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reg {
    words: [ptx::Reg; Reg::MOST],
}

impl Reg {
    /// Number of 32-bit words of the widest value.
    pub(super) const MOST: usize = 4;
    /// Result of an op without a result, such as a store.
    pub(super) const NONE: Reg = Reg { words: [ptx::Reg(u32::MAX); Reg::MOST] };

    pub(super) const fn new(reg: ptx::Reg) -> Reg {
        Reg { words: [reg; Reg::MOST] }
    }

    /// Creates a value from the registers of its words. Words beyond `words` must not be accessed.
    pub(super) fn of_words(words: &[ptx::Reg]) -> Reg {
        let mut all = Reg::NONE;
        all.words.iter_mut().zip(words).for_each(|(slot, &word)| *slot = word);
        all
    }

    pub(super) const fn word(self, k: u8) -> ptx::Reg {
        self.words[k as usize % Reg::MOST]
    }

    /// Returns the value that begins at word `k` of this value.
    pub(super) fn part(self, k: u8) -> Reg {
        Reg::of_words(self.words.get(usize::from(k)..).unwrap_or(&[]))
    }
}

/// Predicate register or a constant, possibly inverted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pred {
    /// Predicate register, or `None` for the constant true.
    pub reg: Option<ptx::Reg>,
    pub not: bool,
}

impl Pred {
    pub(super) const fn new(reg: ptx::Reg) -> Pred {
        Pred { reg: Some(reg), not: false }
    }

    pub(super) const fn inverted(self) -> Pred {
        Pred { reg: self.reg, not: !self.not }
    }
}

/// Source operand of 32 bits: a register or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Src {
    Reg(ptx::Reg),
    Number(u32),
}

impl Src {
    pub(crate) const fn is_zero(self) -> bool {
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

/// Index of an access: a value times a factor plus a constant, modulo 2^32.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Index {
    pub value: Value,
    pub factor: u32,
    pub plus: u32,
}
