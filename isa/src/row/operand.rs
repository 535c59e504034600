//! Operands: their kinds, their fields in the instruction word and their syntax.

use super::{Modifier, OperandRole, RegFile, RegSlot};
use crate::word::Field;

/// The suffix that an operand may have after a dot.
#[derive(Clone, Copy, Debug)]
pub enum Suffix {
    /// No suffix.
    None,
    /// A name from a short list. The printer writes the suffix inside the bars of an absolute
    /// value.
    Choice(Modifier),
    /// A source element for each lane, digits in descending lane order: `.b7654`, `.h10`.
    Lanes {
        /// `bits` bits per lane, lane 0 lowest.
        field: Field,
        /// `b` or `h`.
        letter: char,
        /// Number of lanes.
        lanes: u8,
        /// Width of a lane's element number in bits.
        bits: u8,
        /// The selector that applies if the text has no suffix.
        default: u64,
    },
    /// A non-empty set of lanes, digits in descending order: `.b320`, `.h1`. Without a suffix, all lanes are selected.
    Mask {
        /// One bit per lane.
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
    /// `[Ra.64+imm]`: 64-bit global address in a GPR pair, signed displacement in bytes.
    Wide {
        /// First of the GPR pair.
        base: Field,
        /// Signed displacement.
        imm: Field,
    },
    /// `[Ra.64+imm]`: 64-bit generic address in a GPR pair, signed displacement in bytes.
    Flat {
        /// First of the GPR pair.
        base: Field,
        /// Signed displacement.
        imm: Field,
    },
    /// `[Ra+imm]`: address in shared memory; zero-extended GPR plus signed displacement in bytes.
    Shared {
        /// The 32-bit offset.
        offset: Field,
        /// Signed displacement.
        imm: Field,
    },
    /// `[Ra+imm]`: address in the local memory that the kernel declares; zero-extended GPR plus
    /// signed displacement in bytes.
    Scratch {
        /// The 32-bit offset.
        offset: Field,
        /// Signed displacement.
        imm: Field,
    },
    /// `[imm]`: unsigned byte address in the work item's local memory.
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

/// VP1: the number of instruction words in a group, which is the unit of a branch distance.
pub const WORDS_PER_GROUP: i64 = 4;
/// VP1: the greatest valid number of a flag register.
pub const LAST_FLAGS: u64 = 3;
/// VP1: the value of the `$c` bit selector that rotates a quad instead of choosing from a pair.
pub const ROTATE: u64 = 4;

/// The kind of an operand and the fields that encode it.
#[derive(Clone, Copy, Debug)]
pub enum OperandKind {
    /// `span` consecutive registers.
    Reg {
        /// The register file.
        file: RegFile,
        /// The register number.
        field: Field,
        /// Number of 32-bit registers: 1, 2 or 4.
        span: u8,
    },
    /// All predicates of the work item at once: `PR`.
    AllPreds,
    /// `c[bank][offset]`, a byte offset that is a multiple of `align`.
    Const {
        /// Bank number.
        bank: Field,
        /// Byte offset.
        offset: Field,
        /// Alignment of the offset: 4, or 8 for a 64-bit value.
        align: u8,
    },
    /// Two 16-bit floats, the high half first in text; `format` holds 0 for f16, 1 for bf16.
    HalfPair {
        /// 32 bits, lane 0 lowest.
        field: Field,
        /// The field that selects the format.
        format: Field,
    },
    /// An f32 immediate, as its bit pattern.
    F32(Field),
    /// A bit pattern, printed in hexadecimal.
    Bits(Field),
    /// A name from a list, such as the name of a special register.
    Name(Modifier),
    /// A memory address of an access of `size` bytes.
    Memory {
        /// The addressing mode.
        address: Address,
        /// Bytes accessed; the address must be a multiple of this size.
        size: u8,
    },
    /// A branch target: the signed distance in instruction words from this instruction. Text: a label, or `.+N`.
    Target(Field),
    /// VP1: a pair or a quad of registers, given by the number n of one of them. The pair holds registers n and n | 1.
    /// The quad holds the four registers whose numbers equal n except for the low two bits.
    Tuple {
        /// The register file.
        file: RegFile,
        /// The register number.
        field: Field,
        /// Number of registers: 2 or 4.
        count: u8,
    },
    /// VP1: a register whose number is split between two fields, so that it has no [`RegSlot`].
    SplitReg {
        /// The register file.
        file: RegFile,
        /// Low bits of the number.
        low: Field,
        /// High bits of the number.
        high: Field,
    },
    /// VP1: a register file as a whole, or the only register of its file.
    Whole(RegFile),
    /// VP1: a flag register that is written. Numbers from 4 upwards mean that no flags are written,
    /// and the printer omits them.
    FlagDef {
        /// The register file.
        file: RegFile,
        /// The register number.
        field: Field,
    },
    /// VP1: a condition, which is a bit of a `$c` register: `$c2 lzf`.
    Condition {
        /// The number of the `$c` register.
        index: Field,
        /// The bit.
        bit: Modifier,
    },
    /// VP1: a register that is selected at run time. Its number is XORed with a bit of `$c`, or two
    /// bits of `$c` rotate the numbers within its quad. Text: `(slct $c2 lzf $r4d)`, or the plain
    /// register if the selected bit is the constant false.
    Selected {
        /// The register file.
        file: RegFile,
        /// The register number.
        field: Field,
        /// The number of the `$c` register.
        index: Field,
        /// The bit of the `$c` register.
        bit: Modifier,
    },
    /// VP1: an immediate, two's complement if `signed`, multiplied by `1 << shift`.
    Number {
        /// The field.
        field: Field,
        /// `true` if the field is two's complement.
        signed: bool,
        /// Left shift of the field's value, in bits.
        shift: u8,
    },
    /// VP1: an unsigned immediate that is split between two fields, multiplied by `1 << shift`.
    SplitNumber {
        /// Low bits.
        low: Field,
        /// High bits.
        high: Field,
        /// Left shift of the value, in bits.
        shift: u8,
    },
    /// VP1: a fixed token of the assembly text.
    Word(&'static str),
    /// VP1: a branch target as a number of groups of four instruction words. The number is a signed
    /// distance from the group of this instruction, or counts from the group of instruction word 0.
    /// Text: a label, or the address of the target in instruction words.
    Group {
        /// The distance or the group number.
        field: Field,
        /// `true` if the number is a distance from the group of this instruction.
        relative: bool,
    },
}

/// An operand of an instruction, with its syntax.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Name in documentation and errors.
    pub name: &'static str,
    /// The access: written, read or both. Both the address and the data of a store are read.
    pub role: OperandRole,
    /// The kind and the fields.
    pub kind: OperandKind,
    /// The field that a `-` prefix sets.
    pub neg: Option<Field>,
    /// The field that absolute-value bars set. A negation applies after the absolute value.
    pub abs: Option<Field>,
    /// The field that a `!` prefix sets.
    pub not: Option<Field>,
    /// The suffix after a dot.
    pub suffix: Suffix,
    /// `true` if the text may omit the operand. An omitted operand has the row's default.
    pub optional: bool,
    /// `true` if the text never contains the operand. The parser sets the operand to the row's
    /// default.
    pub silent: bool,
}

impl Operand {
    /// Creates an operand without prefixes or suffixes.
    pub const fn new(name: &'static str, role: OperandRole, kind: OperandKind) -> Operand {
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

    /// Creates an operand that is one register.
    pub const fn reg(name: &'static str, role: OperandRole, file: RegFile, field: Field) -> Operand {
        Operand::new(name, role, OperandKind::Reg { file, field, span: 1 })
    }

    /// Makes a register operand `span` registers wide. Has no effect on other kinds.
    pub const fn span(mut self, span: u8) -> Operand {
        if let OperandKind::Reg { file, field, .. } = self.kind {
            self.kind = OperandKind::Reg { file, field, span };
        }
        self
    }

    /// Allows a `-` prefix.
    pub const fn neg(mut self, neg: Field) -> Operand {
        self.neg = Some(neg);
        self
    }

    /// Allows a `-` prefix and absolute-value bars.
    pub const fn sign(mut self, neg: Field, abs: Field) -> Operand {
        self.neg = Some(neg);
        self.abs = Some(abs);
        self
    }

    /// Allows a `!` prefix.
    pub const fn not(mut self, not: Field) -> Operand {
        self.not = Some(not);
        self
    }

    /// Sets the allowed suffix.
    pub const fn suffix(mut self, suffix: Suffix) -> Operand {
        self.suffix = suffix;
        self
    }

    /// Makes the operand optional in the text.
    pub const fn optional(mut self) -> Operand {
        self.optional = true;
        self
    }

    /// Removes the operand from the text.
    pub const fn silent(mut self) -> Operand {
        self.silent = true;
        self
    }

    /// Returns every field of the operand.
    pub fn fields(&self) -> impl Iterator<Item = Field> {
        let kind = match self.kind {
            OperandKind::Reg { field, .. }
            | OperandKind::HalfPair { field, .. }
            | OperandKind::F32(field)
            | OperandKind::Bits(field)
            | OperandKind::Target(field)
            | OperandKind::Tuple { field, .. }
            | OperandKind::FlagDef { field, .. }
            | OperandKind::Number { field, .. }
            | OperandKind::Group { field, .. } => [Some(field), None, None],
            OperandKind::Name(m) => [Some(m.field), None, None],
            OperandKind::AllPreds | OperandKind::Whole(_) | OperandKind::Word(_) => [None; 3],
            OperandKind::SplitReg { low, high, .. } | OperandKind::SplitNumber { low, high, .. } => {
                [Some(low), Some(high), None]
            }
            OperandKind::Condition { index, bit } => [Some(index), Some(bit.field), None],
            OperandKind::Selected { field, index, bit, .. } => [Some(field), Some(index), Some(bit.field)],
            OperandKind::Const { bank, offset, .. } => [Some(offset), Some(bank), None],
            OperandKind::Memory { address, .. } => match address {
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

    /// Returns the register slots of the operand.
    pub fn registers(&self) -> impl Iterator<Item = RegSlot> {
        let slot = |field, file, role, span| Some(RegSlot { field, file, role, span });
        let slots = match self.kind {
            OperandKind::Reg { file, field, span } => [slot(field, file, self.role, span), None],
            OperandKind::FlagDef { file, field } => [slot(field, file, self.role, 1), None],
            OperandKind::Tuple { file, field, count } => [slot(field, file, self.role, count), None],
            OperandKind::Condition { index, .. } => [slot(index, RegFile::C, OperandRole::Use, 1), None],
            OperandKind::Selected { file, field, index, .. } => {
                [slot(field, file, self.role, 1), slot(index, RegFile::C, OperandRole::Use, 1)]
            }
            OperandKind::Memory { address, .. } => match address {
                Address::Uniform { offset, base, .. } => {
                    [slot(offset, RegFile::Gpr, OperandRole::Use, 1), slot(base, RegFile::Ur, OperandRole::Use, 2)]
                }
                Address::Wide { base, .. } | Address::Flat { base, .. } => {
                    [slot(base, RegFile::Gpr, OperandRole::Use, 2), None]
                }
                Address::Shared { offset, .. } | Address::Scratch { offset, .. } => {
                    [slot(offset, RegFile::Gpr, OperandRole::Use, 1), None]
                }
                Address::Constant { index, .. } => [slot(index, RegFile::Gpr, OperandRole::Use, 1), None],
                Address::Local { .. } => [None; 2],
            },
            _ => [None; 2],
        };
        slots.into_iter().flatten()
    }
}
