//! The form in which an instruction is described. A [`Row`] is `const` data; encoding, decoding, assembly text, register
//! roles, documents and random instructions all follow from it.

use crate::check::Check;
use crate::word::Field;
use thiserror::Error;

/// A register file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum RegFile {
    /// 32-bit registers of a work item, `R0` to `R254` and `RZ`.
    Gpr,
    /// 32-bit registers uniform over the launch, `UR0` to `UR62` and `URZ`.
    Ur,
    /// Predicates of a work item, `P0` to `P6` and `PT`.
    Pred,
    /// VP1: 32-bit scalar registers, `$r0` to `$r30`; number 31 is 0.
    R,
    /// VP1: vectors of 16 bytes, `$v0` to `$v31`.
    V,
    /// VP1: the extra vector `$vx`.
    Vx,
    /// VP1: the accumulator `$va`, 16 x 28 bits.
    Va,
    /// VP1: flags of vectors, `$vc0` to `$vc3`, a sign and a zero flag a component.
    Vc,
    /// VP1: addresses, `$a0` to `$a31`.
    A,
    /// VP1: flags, `$c0` to `$c3`.
    C,
    /// VP1: loop counters, `$l0` to `$l3`.
    L,
    /// VP1: method registers, `$m0` to `$m63`.
    M,
    /// VP1: extra storage, `$x0` to `$x15`.
    X,
    /// VP1: DMA objects, `$d0` to `$d7`.
    D,
    /// VP1: FIFO registers, `$f0` and `$f1`.
    F,
    /// VP1: special registers, `$sr0` to `$sr31`.
    Sr,
    /// VP1: `$mi0` to `$mi31`.
    Mi,
    /// VP1: `$uc0` to `$uc31`.
    Uc,
}

impl RegFile {
    /// The number that reads as a constant and swallows writes, and how it is written; VP1's `$r31` is written as what it is.
    pub const fn constant(self) -> Option<(u8, &'static str)> {
        match self {
            RegFile::Gpr => Some((255, "RZ")),
            RegFile::Ur => Some((63, "URZ")),
            RegFile::Pred => Some((7, "PT")),
            RegFile::R => Some((31, "0x0")),
            _ => None,
        }
    }

    /// The registers that go by a name, and are written by it.
    pub const fn named(self) -> &'static [(u8, &'static str)] {
        match self {
            RegFile::Sr => &[(30, "$tick"), (31, "$csreq")],
            RegFile::Uc => &[(16, "$uccfg")],
            _ => &[],
        }
    }

    /// Whether the first of several registers must be a multiple of their number.
    pub const fn is_aligned(self) -> bool {
        matches!(self, RegFile::Gpr | RegFile::Ur | RegFile::Pred)
    }

    /// What stands before the number in the name of a register.
    pub const fn prefix(self) -> &'static str {
        match self {
            RegFile::Gpr => "R",
            RegFile::Ur => "UR",
            RegFile::Pred => "P",
            RegFile::R => "$r",
            RegFile::V => "$v",
            RegFile::Vx => "$vx",
            RegFile::Va => "$va",
            RegFile::Vc => "$vc",
            RegFile::A => "$a",
            RegFile::C => "$c",
            RegFile::L => "$l",
            RegFile::M => "$m",
            RegFile::X => "$x",
            RegFile::D => "$d",
            RegFile::F => "$f",
            RegFile::Sr => "$sr",
            RegFile::Mi => "$mi",
            RegFile::Uc => "$uc",
        }
    }
}

/// Whether an operand is written or read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Role {
    /// Written.
    Def,
    /// Read.
    Use,
    /// Read, and then written.
    Update,
}

/// A register position of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegSlot {
    /// Where the register number stands.
    pub field: Field,
    /// The file it indexes.
    pub file: RegFile,
    /// Written or read.
    pub role: Role,
    /// Number of registers, 1, 2 or 4. Of HALU the first is a multiple of it.
    pub span: u8,
}

/// What an instruction is for; code quality counts [`Class::Compute`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Class {
    /// Computes data; making a constant counts.
    Compute,
    /// Reads or writes memory, parameters included.
    Memory,
    /// Finds where data lies.
    Address,
    /// Steers, or does nothing.
    Control,
    /// Carries a value from one place to another.
    Move,
}

/// One choice among the spellings of a modifier or an operand suffix, written after a dot.
#[derive(Clone, Copy, Debug)]
pub struct Modifier {
    /// The bits it sets.
    pub field: Field,
    /// Spelling and value. A value without a spelling here is no value of the field, the default excepted.
    pub choices: &'static [(&'static str, u64)],
    /// The value of a text without the modifier; `None` where one must be written.
    pub default: Option<u64>,
}

impl Modifier {
    /// How the value is spelled, if it is.
    pub fn text(&self, value: u64) -> Option<&'static str> {
        self.choices.iter().find(|c| c.1 == value).map(|c| c.0)
    }

    /// The value of a spelling. Can be asked when this is compiled: a spelling that code names costs nothing then.
    pub const fn value(&self, text: &str) -> Option<u64> {
        let mut choices = self.choices;
        while let [(spelling, value), rest @ ..] = choices {
            if is_same(spelling.as_bytes(), text.as_bytes()) {
                return Some(*value);
            }
            choices = rest;
        }
        None
    }

    /// Whether the field may hold the value.
    pub fn admits(&self, value: u64) -> bool {
        self.default == Some(value) || self.text(value).is_some()
    }

    /// What a fresh instruction holds: the default, or the first choice where there is none.
    pub const fn initial(&self) -> u64 {
        match self.default {
            Some(v) => v,
            None => self.choices[0].1,
        }
    }
}

/// What `==` says of texts, and cannot yet where constants are computed.
const fn is_same(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([first, a_rest @ ..], [other, b_rest @ ..]) = (a, b) {
        if *first != *other {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

/// The order in which assembly text may give the modifiers of a mnemonic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModifierOrder {
    /// Any.
    Free,
    /// Those without a default first and in the row's order, then the others.
    Fixed,
}

/// What may follow an operand's name after a dot.
#[derive(Clone, Copy, Debug)]
pub enum Suffix {
    /// Nothing.
    None,
    /// One of a few spellings; inside the bars of an absolute value when printed.
    Choice(Modifier),
    /// A source element for each lane, the lane 0 digit last: `.b7654`, `.h10`.
    Lanes {
        /// `bits` bits a lane, lane 0 lowest.
        field: Field,
        /// `b` or `h`.
        letter: char,
        /// Number of lanes.
        lanes: u8,
        /// Bits of a lane's element number.
        bits: u8,
        /// The selector of a text without one.
        default: u64,
    },
    /// A set of lanes, digits descending: `.b320`, `.h1`. Never empty; all lanes is the default.
    Mask {
        /// A bit a lane.
        field: Field,
        /// `b` or `h`.
        letter: char,
        /// Number of lanes.
        lanes: u8,
    },
}

/// A memory address.
#[derive(Clone, Copy, Debug)]
pub enum Address {
    /// `[Ra.U32+URb+imm]`: zero-extended GPR, 64-bit base in a UR pair, signed displacement in bytes.
    Uniform {
        /// The 32-bit offset.
        offset: Field,
        /// First of the UR pair.
        base: Field,
        /// Signed displacement.
        imm: Field,
    },
    /// `[Ra.64+imm]`: 64-bit base in a GPR pair, signed displacement in bytes.
    Wide {
        /// First of the GPR pair.
        base: Field,
        /// Signed displacement.
        imm: Field,
    },
    /// `[imm]`: unsigned byte address in the item's local memory.
    Local {
        /// Unsigned byte address.
        imm: Field,
    },
    /// `c[bank][Ra+imm]`: 32-bit GPR index and unsigned displacement in a constant bank, in bytes.
    Constant {
        /// Bank number.
        bank: Field,
        /// The 32-bit index.
        index: Field,
        /// Unsigned displacement.
        imm: Field,
    },
}

/// VP1: the words of a group, which a branch counts in.
pub const GROUP: i64 = 4;
/// VP1: the greatest number of a flag register that is one.
pub const LAST_FLAGS: u64 = 3;
/// VP1: the bit of `$c` that rotates a quad instead of choosing from a pair.
pub const ROTATE: u64 = 4;

/// What an operand is, and the bits that hold it.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A register, or `span` registers from it on.
    Reg {
        /// The file.
        file: RegFile,
        /// The register number.
        field: Field,
        /// Number of 32-bit registers: 1, 2 or 4.
        span: u8,
    },
    /// All predicates of the item at once: `PR`.
    AllPreds,
    /// `c[bank][offset]`, the offset in bytes and a multiple of `align`.
    Const {
        /// Bank number.
        bank: Field,
        /// Byte offset.
        offset: Field,
        /// 4, or 8 for a 64-bit value.
        align: u8,
    },
    /// Two 16-bit floats, the high half first in text; `format` holds 0 for f16, 1 for bf16.
    HalfPair {
        /// 32 bits, lane 0 lowest.
        field: Field,
        /// The field that says which format.
        format: Field,
    },
    /// An f32, by its bits.
    F32(Field),
    /// A bit pattern, printed in hexadecimal.
    Bits(Field),
    /// One of a few names.
    Name(Modifier),
    /// A memory address, `size` bytes accessed.
    Memory {
        /// How it is formed.
        address: Address,
        /// Bytes accessed, which the address must be a multiple of.
        size: u8,
    },
    /// A branch target: signed distance in words from this word. Text: a label, or `.+N`.
    Target(Field),
    /// VP1: registers that belong to one number n: the pair n, n | 1, or the quad that agrees with n but for two bits.
    Tuple {
        /// The file.
        file: RegFile,
        /// The register number.
        field: Field,
        /// 2 or 4.
        count: u8,
    },
    /// VP1: a register whose number lies in two fields, and so is no [`RegSlot`].
    SplitReg {
        /// The file.
        file: RegFile,
        /// Low bits of the number.
        low: Field,
        /// High bits of the number.
        high: Field,
    },
    /// VP1: all registers of a file, or its only one.
    Whole(RegFile),
    /// VP1: flags that the result may go to: numbers from 4 on name none, and are left out.
    FlagDef {
        /// The file.
        file: RegFile,
        /// The register number.
        field: Field,
    },
    /// VP1: a bit of `$c`: `$c2 lzf`.
    Condition {
        /// The register number.
        index: Field,
        /// The bit.
        bit: Modifier,
    },
    /// VP1: a register chosen when the word runs: its number xor a bit of `$c`, or its quad rotated by two bits of it.
    /// Text: `(slct $c2 lzf $r4d)`, or the register alone where the bit is the one that is always false.
    Selected {
        /// The file.
        file: RegFile,
        /// The register number.
        field: Field,
        /// The number of `$c`.
        index: Field,
        /// The bit.
        bit: Modifier,
    },
    /// VP1: a number, two's complement if `signed`, times `1 << shift`.
    Number {
        /// The bits.
        field: Field,
        /// Whether they are two's complement.
        signed: bool,
        /// The power of two.
        shift: u8,
    },
    /// VP1: an unsigned number whose bits lie in two fields, times `1 << shift`.
    SplitNumber {
        /// Low bits.
        low: Field,
        /// High bits.
        high: Field,
        /// The power of two.
        shift: u8,
    },
    /// VP1: a fixed word of the text.
    Word(&'static str),
    /// VP1: a branch target in groups of four words: signed, from the group of this word, or from word 0.
    /// Text: a label, or the address of the target in words.
    Group {
        /// The distance.
        field: Field,
        /// Whether it is from the group of this word.
        relative: bool,
    },
}

/// An operand, at its place in the text.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Name in documents and errors.
    pub name: &'static str,
    /// Written or read. A store's address is read, and so is its data.
    pub role: Role,
    /// What it is.
    pub kind: Kind,
    /// The bit of a `-` prefix.
    pub neg: Option<Field>,
    /// The bit of bars around it; negation is outside.
    pub abs: Option<Field>,
    /// The bit of a `!` prefix.
    pub not: Option<Field>,
    /// What may follow after a dot.
    pub suffix: Suffix,
    /// May be left out, and then holds the row's default.
    pub optional: bool,
    /// Never in the text; a word that is read from text holds the row's default.
    pub silent: bool,
}

impl Operand {
    /// An operand without prefixes or suffixes.
    pub const fn new(name: &'static str, role: Role, kind: Kind) -> Operand {
        Operand {
            name,
            role,
            kind,
            neg: None,
            abs: None,
            not: None,
            suffix: Suffix::None,
            optional: false,
            silent: false,
        }
    }

    /// A register.
    pub const fn reg(name: &'static str, role: Role, file: RegFile, field: Field) -> Operand {
        Operand::new(name, role, Kind::Reg { file, field, span: 1 })
    }

    /// `span` registers; only for registers.
    pub const fn span(mut self, span: u8) -> Operand {
        if let Kind::Reg { file, field, .. } = self.kind {
            self.kind = Kind::Reg { file, field, span };
        }
        self
    }

    /// Takes a `-`.
    pub const fn neg(mut self, neg: Field) -> Operand {
        self.neg = Some(neg);
        self
    }

    /// Takes a `-` and bars.
    pub const fn sign(mut self, neg: Field, abs: Field) -> Operand {
        self.neg = Some(neg);
        self.abs = Some(abs);
        self
    }

    /// Takes a `!`.
    pub const fn not(mut self, not: Field) -> Operand {
        self.not = Some(not);
        self
    }

    /// Takes a suffix.
    pub const fn suffix(mut self, suffix: Suffix) -> Operand {
        self.suffix = suffix;
        self
    }

    /// May be left out.
    pub const fn optional(mut self) -> Operand {
        self.optional = true;
        self
    }

    /// Is never in the text.
    pub const fn silent(mut self) -> Operand {
        self.silent = true;
        self
    }

    /// Every field of the operand.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        let kind = match self.kind {
            Kind::Reg { field, .. }
            | Kind::HalfPair { field, .. }
            | Kind::F32(field)
            | Kind::Bits(field)
            | Kind::Target(field)
            | Kind::Tuple { field, .. }
            | Kind::FlagDef { field, .. }
            | Kind::Number { field, .. }
            | Kind::Group { field, .. } => [Some(field), None, None],
            Kind::Name(m) => [Some(m.field), None, None],
            Kind::AllPreds | Kind::Whole(_) | Kind::Word(_) => [None; 3],
            Kind::SplitReg { low, high, .. } | Kind::SplitNumber { low, high, .. } => [Some(low), Some(high), None],
            Kind::Condition { index, bit } => [Some(index), Some(bit.field), None],
            Kind::Selected { field, index, bit, .. } => [Some(field), Some(index), Some(bit.field)],
            Kind::Const { bank, offset, .. } => [Some(offset), Some(bank), None],
            Kind::Memory { address, .. } => match address {
                Address::Uniform { offset, base, imm } => [Some(offset), Some(base), Some(imm)],
                Address::Wide { base, imm } => [Some(base), Some(imm), None],
                Address::Local { imm } => [Some(imm), None, None],
                Address::Constant { bank, index, imm } => [Some(index), Some(imm), Some(bank)],
            },
        };
        let suffix = match self.suffix {
            Suffix::None => None,
            Suffix::Choice(m) => Some(m.field),
            Suffix::Lanes { field, .. } | Suffix::Mask { field, .. } => Some(field),
        };
        kind.into_iter().chain([self.neg, self.abs, self.not, suffix]).flatten()
    }

    /// The register positions of the operand.
    pub fn registers(&self) -> impl Iterator<Item = RegSlot> {
        let slot = |field, file, role, span| Some(RegSlot { field, file, role, span });
        let slots = match self.kind {
            Kind::Reg { file, field, span } => [slot(field, file, self.role, span), None],
            Kind::FlagDef { file, field } => [slot(field, file, self.role, 1), None],
            Kind::Tuple { file, field, count } => [slot(field, file, self.role, count), None],
            Kind::Condition { index, .. } => [slot(index, RegFile::C, Role::Use, 1), None],
            Kind::Selected { file, field, index, .. } => {
                [slot(field, file, self.role, 1), slot(index, RegFile::C, Role::Use, 1)]
            }
            Kind::Memory { address, .. } => match address {
                Address::Uniform { offset, base, .. } => {
                    [slot(offset, RegFile::Gpr, Role::Use, 1), slot(base, RegFile::Ur, Role::Use, 2)]
                }
                Address::Wide { base, .. } => [slot(base, RegFile::Gpr, Role::Use, 2), None],
                Address::Constant { index, .. } => [slot(index, RegFile::Gpr, Role::Use, 1), None],
                Address::Local { .. } => [None; 2],
            },
            _ => [None; 2],
        };
        slots.into_iter().flatten()
    }
}

/// A test of one field's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Is {
    /// Holds this value.
    Eq(u64),
    /// Holds another value.
    Not(u64),
    /// Holds what this other field holds.
    Same(Field),
}

/// A combination of values that is no instruction: all of the tests hold at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Forbid {
    /// The tests; an error points at the first of their fields that the text gives.
    pub all: &'static [(Field, Is)],
    /// Why.
    pub why: &'static str,
}

/// The predicate under which an instruction acts: `@P0`, `@!P0`.
#[derive(Clone, Copy, Debug)]
pub struct Guard {
    /// Predicate number; PT is always.
    pub pred: Field,
    /// Acts where the predicate is false.
    pub not: Field,
}

/// Another way to write an instruction, or a special case of it.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The name that it goes by.
    pub mnemonic: &'static str,
    /// The values that it stands for. Where they hold the instruction is printed so; without any it is only read.
    pub when: &'static [(Field, u64)],
    /// Operands, in the order of the text.
    pub operands: &'static [Operand],
}

/// One instruction in one form. One row, one way to lay out the bits.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name it goes by in text. Several rows may share it. Empty where the set's text has no name for it.
    pub mnemonic: &'static str,
    /// Fixed words after the mnemonic, which tell this row from others of the mnemonic: `U8` in `LDG.U8`.
    pub tags: &'static [&'static str],
    /// The guard, where the instruction set has one.
    pub guard: Option<Guard>,
    /// Bits that make a word this instruction.
    pub fixed: &'static [(Field, u64)],
    /// Other values of the last fixed field that make the same instruction.
    pub twins: &'static [u64],
    /// Modifiers, in the order in which they are printed.
    pub modifiers: &'static [Modifier],
    /// The order in which they may be read.
    pub order: ModifierOrder,
    /// Operands, in the order of the text.
    pub operands: &'static [Operand],
    /// Fields that lie over others: both act.
    pub overlaps: &'static [Field],
    /// Other ways to write the instruction.
    pub aliases: &'static [Alias],
    /// Defaults that differ from the usual: zero registers, PT, 0.
    pub defaults: &'static [(Field, u64)],
    /// Combinations that are no instruction.
    pub forbids: &'static [Forbid],
    /// What it is for.
    pub class: Class,
    /// Its meaning, in words; Markdown.
    pub doc: &'static str,
    /// Lines of assembly.
    pub examples: &'static [&'static str],
}

/// Why a word is not an instruction of its row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum EncodeError {
    /// A bit that no field names is 1.
    #[error("bit {0} is reserved and must be 0")]
    Reserved(u8),
    /// A field holds a value that means nothing.
    #[error("{} does not take the value {value}", field.name)]
    Value {
        /// The field.
        field: Field,
        /// Its value.
        value: u64,
    },
    /// A mask selects no lane.
    #[error("{} selects no lane", .0.name)]
    EmptyMask(Field),
    /// The first of several registers is not a multiple of their number, or they run into the constant register.
    #[error("{} is the first of {span} registers: it must be a multiple of {span}, all of them below the constant register", field.name)]
    Misaligned {
        /// The register field.
        field: Field,
        /// The number of registers.
        span: u8,
    },
    /// A constant offset is not a multiple of its size.
    #[error("{} must be a multiple of {align}", field.name)]
    Offset {
        /// The offset field.
        field: Field,
        /// What it must be a multiple of.
        align: u8,
    },
    /// The row forbids the combination.
    #[error("{}", .0.why)]
    Forbidden(&'static Forbid),
}

impl Row {
    /// Every field of the row: fixed ones, guard, modifiers, operands. A field that two operands share is named twice.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        self.fixed
            .iter()
            .map(|f| f.0)
            .chain(self.guard.into_iter().flat_map(|g| [g.pred, g.not]))
            .chain(self.modifiers.iter().map(|m| m.field))
            .chain(self.operands.iter().flat_map(Operand::fields))
    }

    /// What makes a word this instruction, as masks and the values under them: the fixed bits, once for each twin.
    pub fn patterns(&self) -> impl Iterator<Item = (u128, u128)> {
        let set =
            |(mask, word): (u128, u128), &(field, value): &(Field, u64)| (mask | field.mask(), field.set(word, value));
        let first = self.fixed.iter().fold((0, 0), set);
        let last = self.fixed.last().map(|f| f.0);
        let twin = move |&value: &u64| Some(set(first, &(last?, value)));
        std::iter::once(first).chain(self.twins.iter().filter_map(twin))
    }

    /// Every register position of the row, the guard first.
    pub fn registers(&self) -> impl Iterator<Item = RegSlot> {
        let guard = self.guard.map(|g| RegSlot { field: g.pred, file: RegFile::Pred, role: Role::Use, span: 1 });
        guard.into_iter().chain(self.operands.iter().flat_map(Operand::registers))
    }

    /// The word of a fresh instruction: fixed bits, constant registers, default modifiers.
    pub fn template(&self) -> u128 {
        let mut word = 0;
        for slot in self.registers() {
            word = slot.field.set(word, slot.file.constant().map_or(0, |c| c.0).into());
        }
        for m in self.modifiers {
            word = m.field.set(word, m.initial());
        }
        for op in self.operands {
            match op.kind {
                Kind::Name(m) | Kind::Condition { bit: m, .. } | Kind::Selected { bit: m, .. } => {
                    word = m.field.set(word, m.initial());
                }
                Kind::FlagDef { field, .. } => word = field.set(word, field.max()),
                _ => {}
            }
            word = match op.suffix {
                Suffix::None => word,
                Suffix::Choice(m) => m.field.set(word, m.initial()),
                Suffix::Lanes { field, default, .. } => field.set(word, default),
                Suffix::Mask { field, .. } => field.set(word, field.max()),
            };
        }
        for &(field, value) in self.fixed.iter().chain(self.defaults) {
            word = field.set(word, value);
        }
        word
    }

    /// What a word of the row must be, in the order in which it is found out.
    pub(crate) fn checks(&self) -> impl Iterator<Item = Check> {
        let of_operand = |op: &'static Operand| {
            let kind = match op.kind {
                Kind::Name(m) => Some(Check::Value(m)),
                Kind::Const { offset, align, .. } => Some(Check::Offset { field: offset, align }),
                _ => None,
            };
            let suffix = match op.suffix {
                Suffix::Choice(m) => Some(Check::Value(m)),
                Suffix::Mask { field, .. } => Some(Check::Mask(field)),
                _ => None,
            };
            let spans = op.registers().filter_map(|RegSlot { field, file, span, .. }| {
                let end = file.constant().filter(|_| file.is_aligned() && span > 1)?;
                Some(Check::Span { field, span, end: end.0.into() })
            });
            kind.into_iter().chain(suffix).chain(spans)
        };
        self.modifiers.iter().copied().map(Check::Value).chain(self.operands.iter().flat_map(of_operand))
    }

    /// Whether `word`, which holds the row's fixed bits, is an instruction of the row. `named` is the union of the row's fields.
    pub fn validate(&self, word: u128, named: u128) -> Result<(), EncodeError> {
        self.validate_by(self.checks(), word, named)
    }

    /// The same with those of the row's checks that can fail.
    pub(crate) fn validate_by(
        &self,
        mut checks: impl Iterator<Item = Check>,
        word: u128,
        named: u128,
    ) -> Result<(), EncodeError> {
        let stray = word & !named;
        if stray != 0 {
            return Err(EncodeError::Reserved(stray.trailing_zeros() as u8));
        }
        checks.try_for_each(|check| check.pass(word))?;
        let broken = |f: &&Forbid| {
            f.all.iter().all(|&(field, is)| match is {
                Is::Eq(v) => field.get(word) == v,
                Is::Not(v) => field.get(word) != v,
                Is::Same(other) => field.get(word) == other.get(word),
            })
        };
        match self.forbids.iter().find(broken) {
            None => Ok(()),
            Some(forbid) => Err(EncodeError::Forbidden(forbid)),
        }
    }
}

/// A mistake in the description of an instruction set.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{row}: {mistake}")]
pub struct RowError {
    /// The row's name.
    pub row: String,
    /// What is wrong with it.
    pub mistake: String,
}

/// Checks the description of an instruction set of `width`-bit words whose `reserved` bits must be 0: no two fields of a row
/// share a bit unless declared, none reaches into the reserved bits or past the word, no word is of two rows, every template is an
/// instruction, no two modifiers of a row share a spelling unless their order is fixed, and forbidden combinations and aliases
/// speak of fields of the row.
pub fn self_check<'a>(
    rows: impl Iterator<Item = (&'a str, &'static Row)> + Clone,
    width: u8,
    reserved: u128,
) -> Result<(), Vec<RowError>> {
    let mut errors = Vec::new();
    let mut wrong = |row: &str, mistake: String| errors.push(RowError { row: row.to_owned(), mistake });
    for (name, row) in rows.clone() {
        let mut named = 0;
        for field in row.fields() {
            if field.width == 0 || u16::from(field.lo) + u16::from(field.width) > u16::from(width) {
                wrong(name, format!("{field:?} does not lie in the word"));
                continue;
            }
            if named & field.mask() != 0 && !row.overlaps.contains(&field) {
                wrong(name, format!("{field:?} overlaps another field"));
            }
            if reserved & field.mask() != 0 {
                wrong(name, format!("{field:?} reaches into reserved bits"));
            }
            named |= field.mask();
        }
        if let Err(e) = row.validate(row.template(), named) {
            wrong(name, format!("its template is no instruction: {e}"));
        }
        let tested = row.forbids.iter().flat_map(|f| f.all);
        for &(field, is) in tested {
            let other = if let Is::Same(o) = is { o } else { field };
            if row.fields().all(|f| f != field) || row.fields().all(|f| f != other) {
                wrong(name, format!("a forbidden combination tests {field:?}, which the row does not have"));
            }
        }
        for alias in row.aliases {
            let given = alias.when.iter().map(|w| w.0).chain(alias.operands.iter().flat_map(Operand::fields));
            for field in given.filter(|&f| row.fields().all(|g| g != f)) {
                wrong(name, format!("its alias {} has {field:?}, which the row does not have", alias.mnemonic));
            }
        }
        if row.order == ModifierOrder::Free {
            let mut texts: Vec<_> = row.modifiers.iter().flat_map(|m| m.choices).map(|c| c.0).collect();
            texts.extend(row.tags);
            texts.sort_unstable();
            if let Some(pair) = texts.windows(2).find(|p| p[0] == p[1]) {
                wrong(name, format!(".{} is spelled twice", pair[0]));
            }
        }
        if row.doc.is_empty() || row.examples.is_empty() && !row.mnemonic.is_empty() {
            wrong(name, "it has no meaning text or no example".to_owned());
        }
    }
    for (i, (name, row)) in rows.clone().enumerate() {
        for (other, second) in rows.clone().skip(i + 1) {
            let meet = |a: (u128, u128)| second.patterns().any(|b| (a.1 ^ b.1) & a.0 & b.0 == 0);
            if row.patterns().any(meet) {
                wrong(name, format!("its words are {other}'s too"));
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const CODE: Field = Field::new(0, 4, "code");
    const D: Field = Field::new(4, 8, "rd");
    const GOOD: Row = Row {
        mnemonic: "OP",
        tags: &[],
        guard: None,
        fixed: &[(CODE, 1)],
        twins: &[],
        modifiers: &[Modifier { field: Field::new(12, 1, "m"), choices: &[("M", 1)], default: Some(0) }],
        order: ModifierOrder::Free,
        operands: &[Operand::reg("rd", Role::Def, RegFile::Gpr, D)],
        overlaps: &[],
        aliases: &[],
        defaults: &[],
        forbids: &[],
        class: Class::Compute,
        doc: "Does.",
        examples: &["OP R0"],
    };

    fn mistakes(rows: &[(&'static str, &'static Row)]) -> Vec<String> {
        let errors = self_check(rows.iter().copied(), 16, 1 << 15).err().unwrap_or_default();
        errors.into_iter().map(|e| e.to_string()).collect()
    }

    #[test]
    fn mistakes_in_a_description_are_found() {
        const OTHER: Row = Row { fixed: &[(CODE, 2)], ..GOOD };
        assert_eq!(mistakes(&[("A", &GOOD), ("B", &OTHER)]), [""; 0]);
        assert_eq!(mistakes(&[("A", &GOOD), ("B", &GOOD)]), ["A: its words are B's too"]);
        const OVERLAP: Row = Row {
            operands: &[GOOD.operands[0], Operand::new("i", Role::Use, Kind::Bits(Field::new(11, 1, "i")))],
            ..GOOD
        };
        assert_eq!(mistakes(&[("A", &OVERLAP)]), ["A: i@11+1 overlaps another field"]);
        const RESERVED: Row =
            Row { operands: &[Operand::new("i", Role::Use, Kind::Bits(Field::new(14, 2, "i")))], ..GOOD };
        assert_eq!(mistakes(&[("A", &RESERVED)]), ["A: i@14+2 reaches into reserved bits"]);
        const OUTSIDE: Row =
            Row { operands: &[Operand::new("i", Role::Use, Kind::Bits(Field::new(13, 8, "i")))], ..GOOD };
        assert!(mistakes(&[("A", &OUTSIDE)])[0].ends_with("does not lie in the word"));
        const UNDEFINED: Row =
            Row { defaults: &[(D, 0)], forbids: &[Forbid { all: &[(D, Is::Eq(0))], why: "zero" }], ..GOOD };
        assert_eq!(mistakes(&[("A", &UNDEFINED)]), ["A: its template is no instruction: zero"]);
        const STRAY: Row = Row { forbids: &[Forbid { all: &[(Field::new(13, 1, "x"), Is::Eq(1))], why: "x" }], ..GOOD };
        assert_eq!(
            mistakes(&[("A", &STRAY)]),
            ["A: a forbidden combination tests x@13+1, which the row does not have"]
        );
        const ALIAS: Row =
            Row { aliases: &[Alias { mnemonic: "ALSO", when: &[(Field::new(13, 1, "x"), 1)], operands: &[] }], ..GOOD };
        assert_eq!(mistakes(&[("A", &ALIAS)]), ["A: its alias ALSO has x@13+1, which the row does not have"]);
        const TWIN: Row = Row { twins: &[3, 2], ..GOOD };
        assert_eq!(mistakes(&[("A", &TWIN), ("B", &OTHER)]), ["A: its words are B's too"]);
        const OVER: Row = Row { overlaps: &[Field::new(11, 1, "i")], ..OVERLAP };
        assert_eq!(mistakes(&[("A", &OVER)]), [""; 0]);
        const TWICE: Row = Row { tags: &["M"], ..GOOD };
        assert_eq!(mistakes(&[("A", &TWICE)]), ["A: .M is spelled twice"]);
    }
}
