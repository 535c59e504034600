//! What an op carries beside its operands: float modifiers, conditions, constants, lanes, addresses, targets.

/// How a floating-point result is rounded to its format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Rounding {
    /// To nearest, ties to even.
    #[default]
    Rn,
    /// Toward zero.
    Rz,
    /// Toward plus infinity.
    Rp,
    /// Toward minus infinity.
    Rm,
}

impl Rounding {
    /// Every mode.
    pub const ALL: [Rounding; 4] = [Rounding::Rn, Rounding::Rz, Rounding::Rp, Rounding::Rm];

    /// The name in text: `rn`.
    pub const fn name(self) -> &'static str {
        match self {
            Rounding::Rn => "rn",
            Rounding::Rz => "rz",
            Rounding::Rp => "rp",
            Rounding::Rm => "rm",
        }
    }
}

/// What becomes of a finite or infinite result outside the wanted range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Clamp {
    /// Nothing.
    #[default]
    None,
    /// To [+0, 1]; NaN and -0 become +0.
    Sat,
    /// Negative numbers become +0; -0 and NaN stay.
    Relu,
}

/// The modifiers of a floating-point op. Which of them an op takes is in its row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FloatFlags {
    /// Rounding of the one result.
    pub rounding: Rounding,
    /// Subnormal inputs and results become zeros of their sign.
    pub ftz: bool,
    /// Saturation, or the linear rectifier.
    pub clamp: Clamp,
    /// Of a sum or difference and of a product that is its operand: the two are computed in one rounding.
    pub contract: bool,
    /// Of a minimum or maximum: any NaN operand makes the result NaN.
    pub nan: bool,
}

/// A kind of float modifier; of each kind a text has at most one word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FlagKind {
    /// `rn rz rp rm`
    Rounding,
    /// `ftz`
    Ftz,
    /// `sat relu`
    Clamp,
    /// `contract`
    Contract,
    /// `nan`
    Nan,
}

impl FlagKind {
    /// Every kind, in the order that modifiers are printed in.
    pub const ALL: [FlagKind; 5] =
        [FlagKind::Rounding, FlagKind::Ftz, FlagKind::Clamp, FlagKind::Contract, FlagKind::Nan];

    /// The words of this kind.
    pub const fn words(self) -> &'static [&'static str] {
        match self {
            FlagKind::Rounding => &["rn", "rz", "rp", "rm"],
            FlagKind::Ftz => &["ftz"],
            FlagKind::Clamp => &["sat", "relu"],
            FlagKind::Contract => &["contract"],
            FlagKind::Nan => &["nan"],
        }
    }

    /// The kind of a word.
    pub fn of(word: &str) -> Option<FlagKind> {
        FlagKind::ALL.into_iter().find(|kind| kind.words().contains(&word))
    }
}

impl FloatFlags {
    /// The modifier of a kind as text has it; none where it is the default.
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

    /// Sets the modifier that a word of text stands for; any other word changes nothing.
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
    /// An integer comparison.
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
    /// A floating-point comparison. +0 equals -0. Ordered forms are false where an operand is NaN, the `u` forms true.
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
    /// The condition that holds of (b, a) exactly when this holds of (a, b).
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
    /// The condition that holds exactly where this one does not.
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
    /// The condition that holds exactly where this one does not: ordered and unordered forms exchanged.
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

    /// The condition that holds of (b, a) exactly when this holds of (a, b).
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

/// The constant lane numbers of a shuffle, one a result lane; n and above name the second operand's lanes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LaneMap([u8; 16]);

impl LaneMap {
    /// From lane numbers below 256; lanes after the sixteenth are passed over.
    pub fn new(lanes: &[u8]) -> LaneMap {
        let mut map = [0; 16];
        map.iter_mut().zip(lanes).for_each(|(slot, &lane)| *slot = lane);
        LaneMap(map)
    }

    /// The source lane of result lane `i`.
    pub const fn get(self, i: usize) -> usize {
        self.0[i & 15] as usize
    }
}

/// The address of a load or store: `%base[%index + offset]`.
///
/// In bytes it is base + ((index * scale) modulo 2^32, unsigned) + offset, in 64 bits; where it is [`wide`](MemAttr::wide), base +
/// index * scale + offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemAttr {
    /// Bytes that one step of the index is worth: the element size of the buffer.
    pub scale: u32,
    /// Bytes added, of either sign.
    pub offset: i32,
    /// The address is a multiple of this power of two; an access that is not traps.
    pub align: u32,
    /// The index is scaled in 64 bits, so that no product wraps. Only of an access with an index.
    pub wide: bool,
}

impl MemAttr {
    /// Bytes from the base, but for the offset, at an index.
    pub const fn scaled(self, index: u32) -> u64 {
        if self.wide { index as u64 * self.scale as u64 } else { index.wrapping_mul(self.scale) as u64 }
    }
}
