//! Descriptions of PTX instructions. A [`Row`] is `const` data. The parser, the printer, operand roles, target
//! requirements, the documentation and random instructions are all derived from the rows.
//!
//! PTX is text. Rows of other targets describe bit fields of an instruction word; rows of PTX describe the modifiers
//! and operands in a line.

use std::fmt;

use arrayvec::ArrayVec;

pub use super::operand_kind::*;
use super::types::{Requirements, Token};
pub use crate::row::{InstClass, OperandRole};

/// Maximum number of modifiers of an instruction.
pub const MAX_MODIFIERS: usize = 12;

/// Description of one instruction variant.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The mnemonic: the text of the line up to the first dot.
    pub mnemonic: &'static str,
    /// The modifier slots after the mnemonic, in canonical order.
    pub slots: &'static [ModifierSlot],
    /// Combinations that are invalid: a modifier of the first list followed by a modifier of the second list.
    pub exclusions: &'static [[&'static [Token]; 2]],
    /// The operands, in order.
    pub operands: &'static [OperandRow],
    /// The class of the instruction.
    pub class: InstClass,
    /// Effect on the carry flag.
    pub carry: Carry,
    /// Target requirements that the instruction has with any modifiers.
    pub since: Requirements,
    /// Accuracy of the result on hardware.
    pub accuracy: Accuracy,
    /// Description of the semantics, for the instruction's page in the documentation.
    pub doc: &'static str,
    /// Examples of the instruction: valid lines of PTX.
    pub examples: &'static [&'static str],
}

/// Effect of an instruction on the carry flag, which is an implicit operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carry {
    /// Neither reads nor writes the carry flag.
    None,
    /// Writes the carry flag.
    Out,
    /// Reads the carry flag, and also writes it if the modifier `.cc` is present.
    In,
}

/// Accuracy of an instruction's result on hardware.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Accuracy {
    /// Every bit of the result is defined.
    Exact,
    /// The result is approximate, with an error within these bounds of the PTX manual. The list is
    /// empty if the manual states no bounds.
    Approximate(&'static [Bound]),
}

/// A bound that the PTX manual states on the error of an approximation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// The modifier with which the bound applies; `None` if it applies with all modifiers.
    pub word: Option<Token>,
    /// The maximum error.
    pub distance: Distance,
    /// The operands or results for which the bound holds, in words; empty if it holds for all.
    pub of: &'static str,
}

/// Maximum distance of an approximate result from the exact result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distance {
    /// A number of units in the last place.
    Ulps(u32),
    /// Base-2 logarithm of the maximum relative error.
    Relative(f64),
    /// Base-2 logarithm of the maximum absolute error.
    Absolute(f64),
}

impl Bound {
    pub(super) const fn new(distance: Distance, of: &'static str) -> Bound {
        Bound { word: None, distance, of }
    }

    pub(super) const fn with(word: Token, distance: Distance, of: &'static str) -> Bound {
        Bound { word: Some(word), distance, of }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.distance {
            Distance::Ulps(1) => write!(f, "1 ulp")?,
            Distance::Ulps(ulps) => write!(f, "{ulps} ulps")?,
            Distance::Relative(power) => write!(f, "2^{power} of the result")?,
            Distance::Absolute(power) => write!(f, "2^{power}")?,
        }
        if self.of.is_empty() { Ok(()) } else { write!(f, " for {}", self.of) }
    }
}

/// A position after the mnemonic at which one of several modifiers is written.
#[derive(Clone, Copy, Debug)]
pub struct ModifierSlot {
    /// Name of the property that the modifiers select, such as `rounding`.
    pub name: &'static str,
    /// The modifiers that the slot accepts.
    pub choices: &'static [Choice],
    /// `true` if the slot may be empty.
    pub optional: bool,
    /// `true` if one of the modifiers has requirements that not every supported target meets.
    has_needs: bool,
}

/// A modifier that a slot accepts, with its target requirements.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The modifier.
    pub token: Token,
    /// Target requirements of the modifier.
    pub since: Requirements,
}

const fn have_needs(choices: &[Choice]) -> bool {
    match choices {
        [first, rest @ ..] => first.since.is_more() || have_needs(rest),
        [] => false,
    }
}

impl ModifierSlot {
    /// Creates a modifier slot that must not be empty.
    pub const fn one_of(name: &'static str, choices: &'static [Choice]) -> ModifierSlot {
        ModifierSlot { name, choices, optional: false, has_needs: have_needs(choices) }
    }

    /// Creates a modifier slot that may be empty.
    pub const fn optional(name: &'static str, choices: &'static [Choice]) -> ModifierSlot {
        ModifierSlot { name, choices, optional: true, has_needs: have_needs(choices) }
    }

    /// Returns the slot's entry for a modifier, or `None` if the slot does not accept the modifier.
    pub fn choice(&self, token: Token) -> Option<&Choice> {
        self.choices.iter().find(|c| c.token == token)
    }
}

/// Description of an operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandRow {
    /// The operand's name in the documentation.
    pub name: &'static str,
    /// `Def`, `Use` or `Update`: the operand is written, read, or read and written.
    pub role: OperandRole,
    /// The kind of operand, such as a register or an address.
    pub shape: OperandKind,
    /// Name of the modifier slot on which the operand depends: the operand is present only if the
    /// slot holds a modifier. `None` if the operand is always present.
    pub with: Option<&'static str>,
}

impl OperandRow {
    /// Creates the description of an operand that is written.
    pub const fn def(name: &'static str, shape: OperandKind) -> OperandRow {
        OperandRow { name, role: OperandRole::Def, shape, with: None }
    }

    /// Creates the description of an operand that is read.
    pub const fn used(name: &'static str, shape: OperandKind) -> OperandRow {
        OperandRow { name, role: OperandRole::Use, shape, with: None }
    }

    /// Creates the description of an operand that is read and then written.
    pub const fn updated(name: &'static str, shape: OperandKind) -> OperandRow {
        OperandRow { name, role: OperandRole::Update, shape, with: None }
    }

    /// Creates the description of an operand that is read, and that is present only if the modifier
    /// slot `slot` holds a modifier.
    pub const fn with(slot: &'static str, name: &'static str, shape: OperandKind) -> OperandRow {
        OperandRow { name, role: OperandRole::Use, shape, with: Some(slot) }
    }
}

/// The reason why the modifiers of an instruction do not match a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// Index of the first modifier that no slot accepts, or of the second modifier of an excluded
    /// combination. If a modifier is missing at the end, the number of modifiers.
    pub word: usize,
    /// Name of the slot whose modifier is missing at the index `word`, if one is missing.
    pub missing: Option<&'static str>,
}

impl Row {
    /// Checks that the modifiers fill the slots of the row, in canonical order, and are not an
    /// excluded combination.
    ///
    /// # Errors
    /// Returns the first modifier that no slot accepts, the first required slot that stays empty,
    /// or the second modifier of an excluded combination.
    pub fn fit(&self, words: &[Token]) -> Result<(), Mismatch> {
        let mut rest = words.iter();
        for slot in self.slots {
            match rest.as_slice().first() {
                Some(&token) if slot.choice(token).is_some() => {
                    rest.next();
                }
                _ if slot.optional => {}
                _ => return Err(Mismatch { word: words.len() - rest.len(), missing: Some(slot.name) }),
            }
        }
        if !rest.as_slice().is_empty() {
            return Err(Mismatch { word: words.len() - rest.len(), missing: None });
        }
        let is_apart = |[first, second]: &[&[Token]; 2]| {
            let from = words.iter().position(|word| first.contains(word))?;
            let last = words.iter().rposition(|word| second.contains(word))?;
            (from < last).then_some(last)
        };
        match self.exclusions.iter().find_map(is_apart) {
            Some(word) => Err(Mismatch { word, missing: None }),
            None => Ok(()),
        }
    }

    /// Returns the modifiers in canonical order. Returns `None` if they do not match the row, or if
    /// `ptxas` does not accept their order. `ptxas` requires a fixed order for types and for
    /// modifiers that select the instruction variant.
    pub fn canonicalize(&self, words: &[Token]) -> Option<ArrayVec<Token, MAX_MODIFIERS>> {
        let mut rest: ArrayVec<Token, MAX_MODIFIERS> = words.iter().copied().collect();
        let mut arranged = ArrayVec::new();
        for slot in self.slots {
            match rest.iter().position(|&token| slot.choice(token).is_some()) {
                Some(place) => arranged.push(rest.remove(place)),
                None if slot.optional => {}
                None => return None,
            }
        }
        let fixed = |token: &&Token| !self.is_movable(**token);
        let keeps_order = words.iter().filter(fixed).eq(arranged.iter().filter(fixed));
        let first = arranged.iter().rposition(|&token| self.must_come_first(token)).map_or(0, |last| last + 1);
        let keeps_first = words.get(..first) == arranged.get(..first);
        (rest.is_empty() && keeps_order && keeps_first && self.fit(&arranged).is_ok()).then_some(arranged)
    }

    /// Returns `true` if a modifier with a later slot cannot be written before this modifier.
    fn must_come_first(&self, token: Token) -> bool {
        use Token::*;
        match token {
            Hi | Lo => matches!(self.mnemonic, "mad" | "madc" | "mad24"),
            Full => self.mnemonic == "div",
            Pack => self.mnemonic == "cvt",
            To => self.mnemonic == "cvta",
            Left | Right => self.mnemonic == "shf",
            Indexed => self.mnemonic == "brx",
            Async => self.mnemonic == "cp",
            Cta | Arrive | Red => matches!(self.mnemonic, "bar" | "barrier"),
            _ => false,
        }
    }

    /// Returns `true` if `ptxas` accepts this modifier at any position after the mnemonic.
    fn is_movable(&self, token: Token) -> bool {
        use Token::*;
        match token {
            Rn | Rz | Rm | Rp | Rni | Rzi | Rmi | Rpi | Rna | Rs | Ftz | Sat | Satfinite | Relu | Nan | And | Or
            | Xor | Add | Cc | Approx | ShiftAmount | Clamp | Wrap => true,
            Finite | Infinite | Number | NotANumber | Normal | Subnormal => true,
            F4e | B4e | Rc8 | Ecl | Ecr | Rc16 => true,
            Eq | Ne | Lt | Le | Gt | Ge | Ls | Hs | Equ | Neu | Ltu | Leu | Gtu | Geu | Num | IsNan => true,
            Lo | Hi => matches!(self.mnemonic, "set" | "setp"),
            Abs | Xorsign => matches!(self.mnemonic, "min" | "max"),
            Min | Max => self.mnemonic == "redux" || self.is_scalar_video(),
            V2 | V4 if self.mnemonic == "mov" => true,
            PlusOne | ShiftRight7 | ShiftRight15 => true,
            Popc => matches!(self.mnemonic, "bar" | "barrier"),
            Global | Const | Local | Param | Shared | SharedCta if self.mnemonic == "cvta" => true,
            L1 | L2 | L2Last | L2Normal if matches!(self.mnemonic, "prefetch" | "applypriority" | "discard") => true,
            // The modifiers `.cta` and `.sync` of a barrier have a fixed order.
            Sync | Cta if matches!(self.mnemonic, "bar" | "barrier") => false,
            Sync
            | Aligned
            | Any
            | All
            | Uni
            | Ballot
            | Indexed
            | Up
            | Down
            | Bfly
            | Cta
            | Cluster
            | Gpu
            | Sys
            | AcquireRelease
            | Acquire
            | Release
            | SequentiallyConsistent
                if self.class == InstClass::Control =>
            {
                true
            }
            // The destination and source state spaces of a copy have a fixed order.
            Shared | SharedCta | Global if self.mnemonic == "cp" => false,
            _ if self.class == InstClass::Memory => token != Param,
            _ => false,
        }
    }

    /// Returns `true` if the row describes a scalar video instruction, whose operands are parts of registers.
    fn is_scalar_video(&self) -> bool {
        self.operands.iter().any(|o| matches!(o.shape, OperandKind::Part { .. }))
    }

    /// Returns the target requirements of an instruction with these modifiers.
    pub fn since(&self, words: &[Token]) -> Requirements {
        if !self.slots.iter().any(|slot| slot.has_needs) {
            return self.since;
        }
        // Modifiers have the order of the slots, so each search continues after the slot of the previous modifier.
        let mut slots = self.slots.iter();
        let mut of_word = |&token: &Token| slots.find_map(|s| s.choice(token)).map(|choice| choice.since);
        words.iter().filter_map(&mut of_word).fold(self.since, Requirements::and)
    }

    /// Returns `true` if `ptxas` accepts a sum such as `%r1+4` as the operand `o`. `ptxas` rejects
    /// a sum in an operand that may have a selector, and as a saved stack pointer.
    pub(super) fn takes_sum(&self, o: &OperandRow) -> bool {
        let is_packed = |o: &OperandRow| matches!(o.shape, OperandKind::Masked(_) | OperandKind::Selected(..));
        o.role == OperandRole::Use
            && self.mnemonic != "stackrestore"
            && !matches!(o.shape, OperandKind::Part { takes_selector: true, .. })
            && !self.operands.iter().any(is_packed)
    }

    /// Returns `true` if hardware approximates the result of the instruction.
    pub fn is_approximate(&self) -> bool {
        self.accuracy != Accuracy::Exact
    }

    /// Returns the error bounds of the PTX manual for an instruction with the modifiers `words`.
    /// The iterator is empty if the instruction is exact or the manual states no bounds.
    pub fn bounds(&self, words: &[Token]) -> impl Iterator<Item = &'static Bound> {
        let all = match self.accuracy {
            Accuracy::Exact => &[],
            Accuracy::Approximate(bounds) => bounds,
        };
        all.iter().filter(move |bound| bound.word.is_none_or(|word| words.contains(&word)))
    }

    /// Returns the operand descriptions of an instruction with the modifiers `words`.
    pub fn operands_with(&self, words: &[Token]) -> impl Iterator<Item = &'static OperandRow> {
        let slots = self.slots;
        let has_word = move |name: &str| {
            let mut named = slots.iter().filter(|s| s.name == name);
            named.any(|slot| words.iter().any(|&token| slot.choice(token).is_some()))
        };
        self.operands.iter().filter(move |o| o.with.is_none_or(&has_word))
    }
}
