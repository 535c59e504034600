//! Attributes of ops: float modifiers, conditions, constants, lane numbers, addresses and branch targets.

/// Rounding mode of a floating-point result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rounding {
    /// Rounding to nearest, ties to even.
    #[default]
    Rn,
    /// Rounding toward zero.
    Rz,
    /// Rounding toward plus infinity.
    Rp,
    /// Rounding toward minus infinity.
    Rm,
}

impl Rounding {
    /// All rounding modes.
    pub const ALL: [Rounding; 4] = [Rounding::Rn, Rounding::Rz, Rounding::Rp, Rounding::Rm];

    /// Returns the modifier of the rounding mode in text, such as `rn`.
    pub const fn name(self) -> &'static str {
        match self {
            Rounding::Rn => "rn",
            Rounding::Rz => "rz",
            Rounding::Rp => "rp",
            Rounding::Rm => "rm",
        }
    }
}

/// Clamping of a floating-point result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Clamp {
    /// No clamping.
    #[default]
    None,
    /// Clamps the result to [+0, 1]; NaN and -0 become +0.
    Sat,
    /// Replaces negative results by +0; -0 and NaN are unchanged.
    Relu,
}

/// Modifiers of a floating-point op. Each op accepts only some of the modifiers
/// ([`OpRow::flags`](crate::OpRow::flags)).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FloatFlags {
    /// Rounding mode of the result.
    pub rounding: Rounding,
    /// Flushes subnormal inputs and results to zeros of the same sign.
    pub ftz: bool,
    /// Saturation or ReLU of the result.
    pub clamp: Clamp,
    /// Contraction: a sum or difference and the product that is its operand are computed with one
    /// rounding. Both ops must have this modifier.
    pub contract: bool,
    /// NaN propagation of a minimum or maximum: any NaN operand makes the result NaN.
    pub nan: bool,
}

/// A kind of float modifier. An op has at most one modifier of each kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FlagKind {
    /// Rounding modes: `rn rz rp rm`
    Rounding,
    /// Flushing of subnormal numbers: `ftz`
    Ftz,
    /// Saturation and ReLU of the result: `sat relu`
    Clamp,
    /// Contraction of a product with a sum: `contract`
    Contract,
    /// NaN propagation of a minimum or maximum: `nan`
    Nan,
}

impl FlagKind {
    /// All kinds, in the order in which modifiers are printed.
    pub const ALL: [FlagKind; 5] =
        [FlagKind::Rounding, FlagKind::Ftz, FlagKind::Clamp, FlagKind::Contract, FlagKind::Nan];

    /// Returns the modifiers of this kind.
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            FlagKind::Rounding => &["rn", "rz", "rp", "rm"],
            FlagKind::Ftz => &["ftz"],
            FlagKind::Clamp => &["sat", "relu"],
            FlagKind::Contract => &["contract"],
            FlagKind::Nan => &["nan"],
        }
    }

    /// Returns the kind to which a modifier belongs, or `None` for an unknown word.
    pub fn of(word: &str) -> Option<FlagKind> {
        FlagKind::ALL.into_iter().find(|kind| kind.words().contains(&word))
    }
}

impl FloatFlags {
    /// Returns the modifier of a kind as text, or `None` if it is the default.
    pub fn word(&self, kind: FlagKind) -> Option<&'static str> {
        match kind {
            FlagKind::Rounding => (self.rounding != Rounding::Rn).then(|| self.rounding.name()),
            FlagKind::Ftz => self.ftz.then_some("ftz"),
            FlagKind::Clamp => match self.clamp {
                Clamp::None => None,
                Clamp::Sat => Some("sat"),
                Clamp::Relu => Some("relu"),
            },
            FlagKind::Contract => self.contract.then_some("contract"),
            FlagKind::Nan => self.nan.then_some("nan"),
        }
    }

    /// Sets a modifier by its name in text. Unknown names are ignored.
    pub fn set(&mut self, word: &str) {
        match word {
            "ftz" => self.ftz = true,
            "sat" => self.clamp = Clamp::Sat,
            "relu" => self.clamp = Clamp::Relu,
            "contract" => self.contract = true,
            "nan" => self.nan = true,
            _ => {
                let rounding = Rounding::ALL.into_iter().find(|mode| mode.name() == word);
                self.rounding = rounding.unwrap_or(self.rounding);
            }
        }
    }
}

halfbyte_abi::words! {
    /// Integer comparison condition.
    IntCC {
        Eq "eq" "Equal.",
        Ne "ne" "Not equal.",
        LtS "lt_s" "Less, signed.",
        LeS "le_s" "Less or equal, signed.",
        GtS "gt_s" "Greater, signed.",
        GeS "ge_s" "Greater or equal, signed.",
        LtU "lt_u" "Less, unsigned.",
        LeU "le_u" "Less or equal, unsigned.",
        GtU "gt_u" "Greater, unsigned.",
        GeU "ge_u" "Greater or equal, unsigned.",
    }
}

halfbyte_abi::words! {
    /// Floating-point comparison condition. +0 equals -0. If an operand is NaN, ordered conditions
    /// are false and unordered (`u`) conditions are true.
    FloatCC {
        Eq "eq" "Ordered and equal.",
        Ne "ne" "Ordered and not equal.",
        Lt "lt" "Ordered and less.",
        Le "le" "Ordered and less or equal.",
        Gt "gt" "Ordered and greater.",
        Ge "ge" "Ordered and greater or equal.",
        Equ "equ" "Unordered or equal.",
        Neu "neu" "Unordered or not equal.",
        Ltu "ltu" "Unordered or less.",
        Leu "leu" "Unordered or less or equal.",
        Gtu "gtu" "Unordered or greater.",
        Geu "geu" "Unordered or greater or equal.",
        Num "num" "Neither operand is NaN.",
        Nan "nan" "An operand is NaN.",
    }
}

impl IntCC {
    /// Returns the condition for exchanged operands: it is true for (b, a) exactly if this
    /// condition is true for (a, b).
    pub const fn swapped(self) -> IntCC {
        match self {
            IntCC::Eq => IntCC::Eq,
            IntCC::Ne => IntCC::Ne,
            IntCC::LtS => IntCC::GtS,
            IntCC::LeS => IntCC::GeS,
            IntCC::GtS => IntCC::LtS,
            IntCC::GeS => IntCC::LeS,
            IntCC::LtU => IntCC::GtU,
            IntCC::LeU => IntCC::GeU,
            IntCC::GtU => IntCC::LtU,
            IntCC::GeU => IntCC::LeU,
        }
    }
}

impl IntCC {
    /// Returns the negated condition.
    pub const fn inverted(self) -> IntCC {
        match self {
            IntCC::Eq => IntCC::Ne,
            IntCC::Ne => IntCC::Eq,
            IntCC::LtS => IntCC::GeS,
            IntCC::LeS => IntCC::GtS,
            IntCC::GtS => IntCC::LeS,
            IntCC::GeS => IntCC::LtS,
            IntCC::LtU => IntCC::GeU,
            IntCC::LeU => IntCC::GtU,
            IntCC::GtU => IntCC::LeU,
            IntCC::GeU => IntCC::LtU,
        }
    }
}

impl FloatCC {
    /// Returns the negated condition. The negation of an ordered condition is unordered, and vice versa.
    pub const fn inverted(self) -> FloatCC {
        match self {
            FloatCC::Eq => FloatCC::Neu,
            FloatCC::Ne => FloatCC::Equ,
            FloatCC::Lt => FloatCC::Geu,
            FloatCC::Le => FloatCC::Gtu,
            FloatCC::Gt => FloatCC::Leu,
            FloatCC::Ge => FloatCC::Ltu,
            FloatCC::Equ => FloatCC::Ne,
            FloatCC::Neu => FloatCC::Eq,
            FloatCC::Ltu => FloatCC::Ge,
            FloatCC::Leu => FloatCC::Gt,
            FloatCC::Gtu => FloatCC::Le,
            FloatCC::Geu => FloatCC::Lt,
            FloatCC::Num => FloatCC::Nan,
            FloatCC::Nan => FloatCC::Num,
        }
    }

    /// Returns the condition for exchanged operands: it is true for (b, a) exactly if this
    /// condition is true for (a, b).
    pub const fn swapped(self) -> FloatCC {
        match self {
            FloatCC::Lt => FloatCC::Gt,
            FloatCC::Le => FloatCC::Ge,
            FloatCC::Gt => FloatCC::Lt,
            FloatCC::Ge => FloatCC::Le,
            FloatCC::Ltu => FloatCC::Gtu,
            FloatCC::Leu => FloatCC::Geu,
            FloatCC::Gtu => FloatCC::Ltu,
            FloatCC::Geu => FloatCC::Leu,
            same => same,
        }
    }
}

/// Constant source lanes of a shuffle, one per result lane. For vectors of n lanes, the numbers 0 to n - 1 select lanes
/// of the first operand, and higher numbers select lanes of the second operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LaneMap([u8; 16]);

impl LaneMap {
    /// Creates a lane map. Entries after the sixteenth are ignored.
    pub fn new(lanes: &[u8]) -> LaneMap {
        let mut map = [0; 16];
        map.iter_mut().zip(lanes).for_each(|(slot, &lane)| *slot = lane);
        LaneMap(map)
    }

    /// Returns the source lane of result lane `i`.
    pub const fn get(self, i: usize) -> usize {
        self.0[i & 15] as usize
    }
}

/// Address of a load or store: `%base[%index + offset]`.
///
/// The byte address is base + ((index * scale) modulo 2^32, unsigned) + offset, computed in 64
/// bits. If [`wide`](MemAttr::wide), the address is base + index * scale + offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemAttr {
    /// Scale of the index in bytes: the element size of the buffer.
    pub scale: u32,
    /// Signed offset in bytes.
    pub offset: i32,
    /// Alignment of the address in bytes, a power of two. A misaligned access traps.
    pub align: u32,
    /// `true` if the index is scaled in 64 bits, so that the product does not wrap. Only valid for
    /// an access with an index.
    pub wide: bool,
}

impl MemAttr {
    /// Returns the product of index and scale in bytes, without the offset.
    pub const fn scaled(self, index: u32) -> u64 {
        if self.wide { index as u64 * self.scale as u64 } else { index.wrapping_mul(self.scale) as u64 }
    }
}
