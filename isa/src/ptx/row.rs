//! The form in which a PTX instruction is described. A [`Row`] is `const` data; the reader, the printer, operand roles, the
//! check of features, documents and random instructions all follow from it.
//!
//! PTX is text: where the rows of the other targets place bits in a word, these place words in a line.

use std::fmt;

use arrayvec::ArrayVec;

use super::matrix::{Form, Part};
use super::operand::{Base, Callee, FrameVar, Operand, Reg};
use super::types::{Since, Space, Token, Type};
pub use crate::row::{Class, Role};

/// Elements that an access of memory has at most.
pub const MAX_ELEMENTS: usize = 8;

/// Words that a mnemonic has after it at most.
pub const MAX_WORDS: usize = 12;

/// An instruction in one form.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What the line starts with, up to the first dot.
    pub mnemonic: &'static str,
    /// The words after it, in the order in which they must stand.
    pub slots: &'static [Slot],
    /// Words that do not stand together: one of the first, and after it one of the second.
    pub apart: &'static [[&'static [Token]; 2]],
    /// The operands, in order.
    pub operands: &'static [OperandRow],
    /// What it is for.
    pub class: Class,
    /// Whether it reads or writes the carry.
    pub carry: Carry,
    /// What the form needs, whatever its words.
    pub since: Since,
    /// How near the exact result a machine's is.
    pub accuracy: Accuracy,
    /// What it means, for its page.
    pub doc: &'static str,
    /// Lines that are valid.
    pub examples: &'static [&'static str],
}

/// What an instruction does with the carry flag, which no operand names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carry {
    /// Nothing.
    None,
    /// It writes the flag.
    Out,
    /// It reads the flag, and writes it where it has the word `.cc`.
    In,
}

/// How near the exact result a machine's is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Accuracy {
    /// Every bit is defined.
    Exact,
    /// It is approximated, within these bounds of the manual; where there is none the manual has none.
    Approximate(&'static [Bound]),
}

/// What the manual says of how far an approximation may be from the exact result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// The word that the instruction has, where others have other bounds.
    pub word: Option<Token>,
    /// How far.
    pub distance: Distance,
    /// Of which operands or results this is said; empty where of all.
    pub of: &'static str,
}

/// A distance from the exact result.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distance {
    /// Units in the last place.
    Ulps(u32),
    /// 2 to this power, of the result.
    Relative(f64),
    /// 2 to this power.
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

/// A place after the mnemonic for one of several words.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// What the words say.
    pub name: &'static str,
    /// The words.
    pub choices: &'static [Choice],
    /// None of them need be there.
    pub optional: bool,
    /// Whether some of them need more than every target has.
    has_needs: bool,
}

/// A word of a slot.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The word.
    pub token: Token,
    /// What it needs.
    pub since: Since,
}

const fn have_needs(choices: &[Choice]) -> bool {
    match choices {
        [first, rest @ ..] => first.since.is_more() || have_needs(rest),
        [] => false,
    }
}

impl Slot {
    /// A word that must be there.
    pub const fn one_of(name: &'static str, choices: &'static [Choice]) -> Slot {
        Slot { name, choices, optional: false, has_needs: have_needs(choices) }
    }

    /// A word that may be left out.
    pub const fn optional(name: &'static str, choices: &'static [Choice]) -> Slot {
        Slot { name, choices, optional: true, has_needs: have_needs(choices) }
    }

    /// What the slot says of a word, where it is one of its own.
    pub fn choice(&self, token: Token) -> Option<&Choice> {
        self.choices.iter().find(|c| c.token == token)
    }
}

/// The type of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ty {
    /// This one.
    Is(Type),
    /// The type that the mnemonic names first (0), second (1) or third.
    Named(u8),
    /// Of twice the width of the type named first.
    Wide,
    /// The type named so, in a register that may be wider.
    Within(u8),
}

/// A place for an operand.
#[derive(Clone, Copy, Debug)]
pub struct OperandRow {
    /// Its name in documents.
    pub name: &'static str,
    /// Written or read.
    pub role: Role,
    /// What may stand there.
    pub shape: Shape,
    /// The slot that the operand goes with: it is there where the slot has a word. One that always is there has none.
    pub with: Option<&'static str>,
}

/// What an operand may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A register.
    Register(Ty),
    /// A register or a number.
    Value(Ty),
    /// A predicate, or two: `p|q`. One of two may be `_`.
    Predicates,
    /// A register and a predicate: `d|p`.
    WithPredicate {
        /// The register's type.
        ty: Ty,
        /// Whether it may be `_`.
        blank: bool,
        /// Whether the predicate may be.
        silent: bool,
    },
    /// A predicate or its opposite: `p`, `!p`.
    Condition,
    /// A register of which some lanes are written: `r.b320`, `r.h1`.
    Masked(Lanes),
    /// A register and which element of it each lane takes: `r.b3210`, `r.h32`. What is left out is the default.
    Selected(Lanes, u16),
    /// So many registers: `{a, b}`; a written one may be `_`.
    Vector(Ty, u8),
    /// A register, or where the words say `.v2`, `.v4` or `.v8` so many: `{a, b}`; a written one may be `_`. One that is read may be
    /// a number.
    Elements(Ty),
    /// As many registers as a fragment of this matrix takes in an instruction of these words: `{a, b}`; a written one may be `_`.
    Fragment(Part),
    /// As many as matrices are moved.
    Matrices,
    /// Two or four registers that make up a value of the type together, the first one lowest.
    Parts(Ty),
    /// `[register+number]`, the register of 64 bits; or `[variable+number]` of a variable in the space that is named, `.global` where none
    /// is; with `.param` that of a parameter, or of what a call passes.
    Memory,
    /// The same in this space, whatever space the words name.
    MemoryIn(Space),
    /// `[variable+number]` of what a call passes.
    Passed,
    /// `variable+number`, of a variable or a parameter in the space that is named, if one is; where none is, or a function.
    Variable,
    /// A special register.
    Special,
    /// A number of 8 bits.
    Byte,
    /// A number of 4 bits.
    Event,
    /// The bytes that one copy takes: 4, 8 or 16; past the first level of the caches (`.cg`) 16.
    CopySize,
    /// How many of its bytes a copy takes: a register of 32 bits, or a number up to its size.
    CopyPart,
    /// A number of 32 bits, without a sign.
    Count,
    /// A power of two up to 128.
    Alignment,
    /// The bytes of a line of the caches: 128.
    LineSize,
    /// The number 1 or -1.
    Sign,
    /// The number 0 or 1.
    Flag,
    /// A register of 32 bits, or a number of 8.
    Amount,
    /// A label.
    Label,
    /// What an indirect branch or call may lead to.
    Table,
    /// What is called: a function, or a register with the address of one.
    Call,
    /// As many as the call has results: registers, variables of what it passes, or `_`.
    Results,
    /// As many as it has arguments: registers, variables of what it passes, or numbers.
    Arguments,
}

pub use crate::halu::domain::Lanes;

impl Lanes {
    /// The letter before the digits of a mask or a selector.
    pub const fn letter(self) -> char {
        match self {
            Lanes::Two => 'h',
            Lanes::Four => 'b',
        }
    }

    /// Bits of an element's number.
    pub const fn index_bits(self) -> u32 {
        match self {
            Lanes::Two => 2,
            Lanes::Four => 3,
        }
    }

    /// The mask of all lanes.
    pub const fn all(self) -> u16 {
        (1 << self.count()) - 1
    }
}

impl OperandRow {
    /// An operand that is written.
    pub const fn def(name: &'static str, shape: Shape) -> OperandRow {
        OperandRow { name, role: Role::Def, shape, with: None }
    }

    /// An operand that is read.
    pub const fn used(name: &'static str, shape: Shape) -> OperandRow {
        OperandRow { name, role: Role::Use, shape, with: None }
    }

    /// An operand that is read and then written.
    pub const fn updated(name: &'static str, shape: Shape) -> OperandRow {
        OperandRow { name, role: Role::Update, shape, with: None }
    }

    /// An operand that is read where a slot has a word.
    pub const fn with(slot: &'static str, name: &'static str, shape: Shape) -> OperandRow {
        OperandRow { name, role: Role::Use, shape, with: Some(slot) }
    }
}

/// The words of a mnemonic do not fit a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// The first word that no slot takes, by number; as many as there are words if one is missing.
    pub word: usize,
    /// The slot whose word is missing there.
    pub missing: Option<&'static str>,
}

impl Row {
    /// Whether the words fill the slots, each in its place.
    ///
    /// # Errors
    /// The first word that does not, or the first slot that stays empty.
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
        match self.apart.iter().find_map(is_apart) {
            Some(word) => Err(Mismatch { word, missing: None }),
            None => Ok(()),
        }
    }

    /// The words each in its place, where they fill the slots in another order that assemblers take too: types, and what
    /// says which instruction it is, stay in order; the other words may stand anywhere after those that must come first.
    pub fn arrange(&self, words: &[Token]) -> Option<ArrayVec<Token, MAX_WORDS>> {
        let mut rest: ArrayVec<Token, MAX_WORDS> = words.iter().copied().collect();
        let mut arranged = ArrayVec::new();
        for slot in self.slots {
            match rest.iter().position(|&token| slot.choice(token).is_some()) {
                Some(place) => arranged.push(rest.remove(place)),
                None if slot.optional => {}
                None => return None,
            }
        }
        let fixed = |token: &&Token| !self.is_free(**token);
        let keeps_order = words.iter().filter(fixed).eq(arranged.iter().filter(fixed));
        let first = arranged.iter().rposition(|&token| self.leads(token)).map_or(0, |last| last + 1);
        let keeps_first = words.get(..first) == arranged.get(..first);
        (rest.is_empty() && keeps_order && keeps_first && self.fit(&arranged).is_ok()).then_some(arranged)
    }

    /// Whether no word that belongs after this one may stand before it.
    fn leads(&self, token: Token) -> bool {
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

    /// Whether assemblers take a word anywhere after the mnemonic.
    fn is_free(&self, token: Token) -> bool {
        use Token::*;
        match token {
            Rn | Rz | Rm | Rp | Rni | Rzi | Rmi | Rpi | Rna | Rs | Ftz | Sat | Satfinite | Relu | Nan | And | Or
            | Xor | Add | Cc | Approx | ShiftAmount | Clamp | Wrap => true,
            Finite | Infinite | Number | NotANumber | Normal | Subnormal => true,
            F4e | B4e | Rc8 | Ecl | Ecr | Rc16 => true,
            Eq | Ne | Lt | Le | Gt | Ge | Ls | Hs | Equ | Neu | Ltu | Leu | Gtu | Geu | Num | IsNan => true,
            Lo | Hi => matches!(self.mnemonic, "set" | "setp"),
            Abs | Xorsign => matches!(self.mnemonic, "min" | "max"),
            Min | Max => self.mnemonic == "redux",
            Popc => matches!(self.mnemonic, "bar" | "barrier"),
            Global | Const | Local | Param | Shared | SharedCta if self.mnemonic == "cvta" => true,
            L1 | L2 | L2Last | L2Normal if matches!(self.mnemonic, "prefetch" | "applypriority" | "discard") => true,
            // Barriers say first whose they are.
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
                if self.class == Class::Control =>
            {
                true
            }
            // What a copy is between stands in this order.
            Shared | SharedCta | Global if self.mnemonic == "cp" => false,
            _ if self.class == Class::Memory => token != Param,
            _ => false,
        }
    }

    /// What an instruction of these words needs.
    pub fn since(&self, words: &[Token]) -> Since {
        if !self.slots.iter().any(|slot| slot.has_needs) {
            return self.since;
        }
        // Words stand in the order of the slots.
        let mut slots = self.slots.iter();
        let mut of_word = |&token: &Token| slots.find_map(|s| s.choice(token)).map(|choice| choice.since);
        words.iter().filter_map(&mut of_word).fold(self.since, Since::and)
    }

    /// Whether machines approximate what it gives.
    pub fn is_approximate(&self) -> bool {
        self.accuracy != Accuracy::Exact
    }

    /// The manual's bounds for an instruction of these words that machines approximate; none where it has none.
    pub fn bounds(&self, words: &[Token]) -> impl Iterator<Item = &'static Bound> {
        let all = match self.accuracy {
            Accuracy::Exact => &[],
            Accuracy::Approximate(bounds) => bounds,
        };
        all.iter().filter(move |bound| bound.word.is_none_or(|word| words.contains(&word)))
    }

    /// The operands of an instruction of these words.
    pub fn operands_with(&self, words: &[Token]) -> impl Iterator<Item = &'static OperandRow> {
        let slots = self.slots;
        let has_word = move |name: &str| {
            let mut named = slots.iter().filter(|s| s.name == name);
            named.any(|slot| words.iter().any(|&token| slot.choice(token).is_some()))
        };
        self.operands.iter().filter(move |o| o.with.is_none_or(&has_word))
    }
}

impl Ty {
    /// The type in an instruction of these words, and whether the register may be wider.
    pub fn resolve(self, words: &[Token]) -> (Type, bool) {
        let named = |n: u8| {
            let mut types = words.iter().filter_map(|t| if let Token::Type(ty) = t { Some(*ty) } else { None });
            types.nth(n.into()).unwrap_or(Type::B32)
        };
        match self {
            Ty::Is(ty) => (ty, false),
            Ty::Named(n) => (named(n), false),
            Ty::Within(n) => (named(n), true),
            Ty::Wide => {
                let wide = match named(0) {
                    Type::U16 => Type::U32,
                    Type::S16 => Type::S32,
                    Type::U32 => Type::U64,
                    _ => Type::S64,
                };
                (wide, false)
            }
        }
    }

    /// Whether a register of type `register` may stand there.
    pub fn admits(self, words: &[Token], register: Type) -> bool {
        match self.resolve(words) {
            (ty, true) => ty.fits_in(register),
            (ty, false) => ty.accepts(register),
        }
    }
}

impl Shape {
    /// Whether the operand may stand there, in an instruction of these words; `types` gives the type of a register.
    pub fn admits(self, role: Role, words: &[Token], operand: &Operand, types: &impl Fn(Reg) -> Option<Type>) -> bool {
        // What is of 128 bits stands in its own places only, by both of its numbers.
        let is = |reg: Reg, ty: Ty| types(reg).is_some_and(|found| found != Type::B128 && ty.admits(words, found));
        let is_half = |reg: &Reg| types(*reg) == Some(Type::B128);
        let predicate = |reg: Reg| is(reg, Ty::Is(Type::Pred));
        let word = |reg: Reg| is(reg, Ty::Is(Type::U32));
        let element = |reg: Option<Reg>, ty| reg.map_or(role == Role::Def, |reg| is(reg, ty));
        match (self, operand) {
            (Shape::Register(ty) | Shape::Value(ty) | Shape::Elements(ty), Operand::Vector(regs))
                if ty.resolve(words).0 == Type::B128 =>
            {
                elements(words) == 1 && regs.pair().is_some_and(|[low, high]| is_half(&low) && is_half(&high))
            }
            (Shape::Register(ty), &Operand::Register(reg)) => is(reg, ty),
            (Shape::Value(ty), &Operand::Register(reg)) => is(reg, ty),
            (Shape::Value(ty), &Operand::Number(bits)) => {
                let (ty, _) = ty.resolve(words);
                ty.truncate(bits) == bits
            }
            (Shape::Predicates | Shape::Condition, &Operand::Register(reg)) => predicate(reg),
            (Shape::Condition, &Operand::Not(reg)) => predicate(reg),
            (Shape::Predicates, Operand::Pair(both)) => {
                both.iter().flatten().all(|&reg| predicate(reg)) && both.iter().any(Option::is_some)
            }
            (Shape::WithPredicate { ty, blank, silent }, &Operand::Pair([d, p])) => {
                let has_any = d.is_some() || p.is_some();
                has_any && p.map_or(silent, predicate) && d.map_or(blank, |reg| is(reg, ty))
            }
            (Shape::Masked(_) | Shape::Selected(..), &Operand::Register(reg)) => word(reg),
            (Shape::Masked(lanes), &Operand::Lanes { reg, digits }) => word(reg) && digits != 0 && digits < lanes.all(),
            (Shape::Selected(lanes, default), &Operand::Lanes { reg, digits }) => {
                word(reg)
                    && digits != default
                    && digits != NO_SELECTOR
                    && u32::from(digits) >> (lanes.count() * lanes.index_bits()) == 0
            }
            (Shape::Vector(ty, count), Operand::Vector(regs)) => {
                regs.len() == count.into() && regs.iter().all(|reg| element(reg, ty))
            }
            (Shape::Fragment(_) | Shape::Matrices, Operand::Vector(regs)) => {
                let (ty, count) = self.vector(words).unwrap_or((Type::B32, 0));
                regs.len() == count && regs.iter().all(|reg| element(reg, Ty::Is(ty)))
            }
            (Shape::Elements(ty), Operand::Vector(regs)) => {
                elements(words) == regs.len() && regs.len() > 1 && regs.iter().all(|reg| element(reg, ty))
            }
            (Shape::Elements(ty), operand) => {
                let one = if role == Role::Def { Shape::Register(ty) } else { Shape::Value(ty) };
                elements(words) == 1 && one.admits(role, words, operand, types)
            }
            (Shape::Parts(ty), Operand::Vector(regs)) => {
                let part = part_of(ty.resolve(words).0, regs.len());
                let is_any = regs.iter().any(|reg| reg.is_some());
                is_any && part.is_some_and(|part| regs.iter().all(|reg| element(reg, Ty::Is(part))))
            }
            (Shape::Memory | Shape::MemoryIn(_), Operand::Memory(address)) => {
                let space = self.space(words).unwrap_or(Space::Global);
                match address.base {
                    Base::Register(reg) => {
                        is(reg, Ty::Is(Type::U64)) || space == Space::Shared && is(reg, Ty::Is(Type::U32))
                    }
                    Base::Variable(var) => var.space == space,
                    Base::Frame(var) => var.space == space,
                    Base::Parameter(_) => space == Space::Param,
                }
            }
            (Shape::Passed, Operand::Memory(address)) => {
                matches!(address.base, Base::Frame(FrameVar { space: Space::Param, .. }))
            }
            (Shape::Variable, operand) => {
                let named = named_space(words);
                let is_in = |space| named.is_none_or(|named| named == space);
                match operand {
                    Operand::Variable { var, .. } => {
                        is_in(var.space) && (var.space == Space::Shared || Ty::Named(0).resolve(words).0.bits() == 64)
                    }
                    Operand::Frame { var, .. } => is_in(var.space),
                    Operand::Parameter { .. } => is_in(Space::Param),
                    Operand::Function(_) => named.is_none(),
                    _ => false,
                }
            }
            (Shape::Special, Operand::Special(special)) => {
                let (ty, _) = Ty::Named(0).resolve(words);
                match ty.bits() {
                    16 => special.is_along_axes(),
                    bits => bits == special.bits(),
                }
            }
            (Shape::Label, Operand::Label(_)) | (Shape::Table, Operand::Table(_)) => true,
            (Shape::Call, &Operand::Call { callee, .. }) => match callee {
                Callee::Function(_) => true,
                Callee::Register(reg) => is(reg, Ty::Is(Type::U64)),
            },
            (Shape::Arguments, Operand::Number(_)) => true,
            (Shape::Results | Shape::Arguments, &Operand::Register(reg)) => {
                types(reg).is_some_and(|ty| ty != Type::Pred && ty != Type::B128)
            }
            (Shape::Results | Shape::Arguments, &Operand::Frame { var, offset: 0 }) => var.space == Space::Param,
            (Shape::Byte | Shape::Amount, &Operand::Number(bits)) => bits < 256,
            (Shape::Event, &Operand::Number(bits)) => bits < 16,
            (Shape::CopySize, &Operand::Number(bits)) => copy_sizes(words).contains(&bits),
            // The size itself is another operand.
            (Shape::CopyPart, &Operand::Number(bits)) => bits <= 16,
            (Shape::CopyPart, &Operand::Register(reg)) => word(reg),
            (Shape::Count, &Operand::Number(bits)) => bits <= u32::MAX.into(),
            (Shape::Alignment, &Operand::Number(bits)) => bits.is_power_of_two() && bits <= 128,
            (Shape::LineSize, &Operand::Number(bits)) => bits == LINE_SIZE,
            (Shape::Sign, &Operand::Number(bits)) => bits == 1 || bits == MINUS_ONE,
            (Shape::Flag, &Operand::Number(bits)) => bits <= 1,
            (Shape::Amount, &Operand::Register(reg)) => word(reg),
            _ => false,
        }
    }
}

impl Shape {
    /// The space of an address that stands there, where the words or the place name one.
    pub fn space(self, words: &[Token]) -> Option<Space> {
        match self {
            Shape::MemoryIn(space) => Some(space),
            _ => named_space(words),
        }
    }

    /// Of registers in braces that matrices take, the type of each and how many there are.
    pub fn vector(self, words: &[Token]) -> Option<(Type, usize)> {
        match self {
            Shape::Fragment(part) => {
                let form = Form::of(words)?;
                Some((form.held(part), form.registers(part)))
            }
            Shape::Matrices => Some((Type::B32, matrices(words))),
            _ => None,
        }
    }

    /// What may stand there, in an instruction of these words.
    pub fn describe(self, role: Role, words: &[Token]) -> String {
        let of = |ty: Ty| match ty.resolve(words) {
            (ty, false) => format!("of type {ty}"),
            (ty, true) => format!("of type {ty} or wider"),
        };
        match self {
            Shape::Register(ty) => format!("a register {}", of(ty)),
            Shape::Value(ty) => format!("a register or a number {}", of(ty)),
            Shape::Predicates => "a predicate, or two as in `p|q`".to_owned(),
            Shape::WithPredicate { ty, .. } => format!("a register {} and a predicate, as in `d|p`", of(ty)),
            Shape::Condition => "a predicate, or one as in `!p`".to_owned(),
            Shape::Masked(lanes) | Shape::Selected(lanes, _) => {
                let example = match (self, lanes) {
                    (Shape::Masked(_), Lanes::Four) => ".b320",
                    (Shape::Masked(_), Lanes::Two) => ".h1",
                    (_, Lanes::Four) => ".b7650",
                    (_, Lanes::Two) => ".h32",
                };
                format!("a register of type .b32, which may have a suffix such as `{example}`")
            }
            Shape::Vector(ty, count) => format!("{count} registers in braces, {}", of(ty)),
            Shape::Fragment(_) | Shape::Matrices => {
                let (ty, count) = self.vector(words).unwrap_or((Type::B32, 1));
                // What is no type of registers lies in those of bits.
                let ty = if ty.is_of_registers() { ty } else { Type::B32 };
                let noun = if count == 1 { "register" } else { "registers" };
                format!("{count} {noun} in braces, {}", of(Ty::Is(ty)))
            }
            Shape::Elements(ty) => match elements(words) {
                1 if role == Role::Def => format!("a register {}", of(ty)),
                1 => format!("a register or a number {}", of(ty)),
                count => format!("{count} registers in braces, {}", of(ty)),
            },
            Shape::Parts(ty) => format!("2 or 4 registers in braces that make {} bits", ty.resolve(words).0.bits()),
            Shape::Memory | Shape::MemoryIn(_) => {
                let space = self.space(words).unwrap_or(Space::Global);
                let what = match space {
                    Space::Param => "`[parameter+number]`".to_owned(),
                    space => format!("`[variable+number]` of a `.{}` variable", space.name()),
                };
                format!("an address `[register+number]`, the register of 64 bits, or {what}")
            }
            Shape::Passed => "an address `[variable+number]` of a `.param` variable of this body".to_owned(),
            Shape::Variable => match named_space(words) {
                Some(Space::Param) => "the address `parameter+number` of a parameter".to_owned(),
                Some(space) => format!("the address `variable+number` of a `.{}` variable", space.name()),
                None => "the address `variable+number` of a variable, or a function".to_owned(),
            },
            Shape::Special => "a special register".to_owned(),
            Shape::Byte => "a number of 8 bits".to_owned(),
            Shape::Event => "a number of 4 bits".to_owned(),
            Shape::CopySize => match copy_sizes(words) {
                [only] => format!("the number {only}"),
                _ => "the number 4, 8 or 16".to_owned(),
            },
            Shape::CopyPart => "a register of type .u32 or a number up to the size".to_owned(),
            Shape::Count => "a number of 32 bits".to_owned(),
            Shape::Alignment => "a power of two up to 128".to_owned(),
            Shape::LineSize => "the number 128".to_owned(),
            Shape::Sign => "the number 1 or -1".to_owned(),
            Shape::Flag => "the number 0 or 1".to_owned(),
            Shape::Amount => "a register of type .u32 or a number of 8 bits".to_owned(),
            Shape::Label => "a label".to_owned(),
            Shape::Table => "a list of targets, or a prototype".to_owned(),
            Shape::Call => "a function, or a register of 64 bits with the address of one".to_owned(),
            Shape::Results => "a register or a `.param` variable for each result".to_owned(),
            Shape::Arguments => "a register, a number or a `.param` variable for each parameter".to_owned(),
        }
    }
}

/// Bytes of a line of the caches.
pub(super) const LINE_SIZE: u64 = 128;

/// -1 as a number of 8 bits.
pub(super) const MINUS_ONE: u64 = 0xFF;

/// How many bytes one copy of these words may take.
fn copy_sizes(words: &[Token]) -> &'static [u64] {
    if words.contains(&Token::CacheGlobal) { &[16] } else { &[4, 8, 16] }
}

/// The selector `.b1024`, which assemblers take for a type of that name.
pub(super) const NO_SELECTOR: u16 = 0o1024;

/// The type of each of so many parts that make up a value together.
pub fn part_of(whole: Type, parts: usize) -> Option<Type> {
    match (whole.bits(), parts) {
        (32, 4) => Some(Type::B8),
        (32, 2) | (64, 4) => Some(Type::B16),
        (64, 2) | (128, 4) => Some(Type::B32),
        (128, 2) => Some(Type::B64),
        _ => None,
    }
}

/// How many elements words say that an access has.
pub fn elements(words: &[Token]) -> usize {
    let count = |word: &Token| match word {
        Token::V2 => Some(2),
        Token::V4 => Some(4),
        Token::V8 => Some(8),
        _ => None,
    };
    words.iter().find_map(count).unwrap_or(1)
}

/// How many matrices words say that an instruction moves.
pub fn matrices(words: &[Token]) -> usize {
    let count = |word: &Token| match word {
        Token::Two => Some(2),
        Token::Four => Some(4),
        _ => None,
    };
    words.iter().find_map(count).unwrap_or(1)
}

/// The space that an instruction names by these words.
pub fn named_space(words: &[Token]) -> Option<Space> {
    words.iter().find_map(|word| match word {
        Token::Global => Some(Space::Global),
        Token::Const => Some(Space::Const),
        Token::Local => Some(Space::Local),
        Token::Param => Some(Space::Param),
        Token::Shared | Token::SharedCta => Some(Space::Shared),
        _ => None,
    })
}
