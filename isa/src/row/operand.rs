//! Operands: what they are, where they stand in the word and how they are written.

use super::{Modifier, RegFile, RegSlot, Role};
use crate::word::Field;

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
    /// `[Ra.64+imm]`: 64-bit address of any memory in a GPR pair, signed displacement in bytes.
    Flat {
        /// First of the GPR pair.
        base: Field,
        /// Signed displacement.
        imm: Field,
    },
    /// `[Ra+imm]`: zero-extended GPR and signed displacement in shared memory, in bytes.
    Shared {
        /// The 32-bit offset.
        offset: Field,
        /// Signed displacement.
        imm: Field,
    },
    /// `[Ra+imm]`: the same in what of its local memory the kernel declares.
    Scratch {
        /// The 32-bit offset.
        offset: Field,
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
                Address::Wide { base, imm } | Address::Flat { base, imm } => [Some(base), Some(imm), None],
                Address::Shared { offset, imm } | Address::Scratch { offset, imm } => [Some(offset), Some(imm), None],
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
                Address::Wide { base, .. } | Address::Flat { base, .. } => {
                    [slot(base, RegFile::Gpr, Role::Use, 2), None]
                }
                Address::Shared { offset, .. } | Address::Scratch { offset, .. } => {
                    [slot(offset, RegFile::Gpr, Role::Use, 1), None]
                }
                Address::Constant { index, .. } => [slot(index, RegFile::Gpr, Role::Use, 1), None],
                Address::Local { .. } => [None; 2],
            },
            _ => [None; 2],
        };
        slots.into_iter().flatten()
    }
}
