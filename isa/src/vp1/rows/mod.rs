//! The rows of VP1, one module per unit and one for the moves between register files, and the
//! operands that these modules share.

pub(super) mod address;
pub(super) mod branch;
pub(super) mod scalar;
pub(super) mod transfer;
pub(super) mod vector;

use super::fields::*;
use crate::row::{Alias, InstClass, Modifier, ModifierOrder, Operand, OperandKind, OperandRole, RegFile, Row};
use crate::word::Field;

/// The defaults of every VP1 row.
const VP1: Row = Row {
    mnemonic: "",
    tags: &[],
    guard: None,
    fixed: &[],
    alternative_opcodes: &[],
    modifiers: &[],
    order: ModifierOrder::Fixed,
    operands: &[],
    overlaps: &[],
    aliases: &[],
    defaults: &[],
    forbids: &[],
    class: InstClass::Compute,
    doc: "",
    examples: &[],
};

const MOVE: Row = Row { class: InstClass::Move, ..VP1 };
const MEMORY: Row = Row { class: InstClass::Memory, ..VP1 };
const ADDRESS: Row = Row { class: InstClass::Address, ..VP1 };
const CONTROL: Row = Row { class: InstClass::Control, ..VP1 };

/// The defaults of a no-op. The processor ignores all bits below the opcode; in the canonical
/// instruction word they are 1.
const NOP: Row =
    Row { operands: &[ignored(IGNORED)], defaults: &[(IGNORED, 0xff_ffff)], doc: "Does nothing.", ..CONTROL };

/// Defines rows. Each row is given by its base row, name, opcode, alternative opcodes, other fixed
/// bits, mnemonic, operands, example and description.
macro_rules! rows {
    ($($base:ident $name:ident = $op:literal $(/ $twin:literal)* $(, $field:ident = $value:literal)*;
       $mnemonic:literal [$($operand:expr),* $(,)?] $example:literal, $doc:expr;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            fixed: &[(OP, $op), $(($field, $value)),*],
            alternative_opcodes: &[$($twin),*],
            operands: &[$($operand),*],
            doc: $doc,
            examples: &[$example],
            ..$base
        };
    )* };
}
use rows;

/// Defines rows of opcodes that have no mnemonic in the assembly syntax.
macro_rules! unnamed {
    ($($name:ident = $op:literal $(, $field:ident = $value:literal)* $(/ $twin:literal)*; [$($operand:expr),*] $doc:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            fixed: &[(OP, $op), $(($field, $value)),*],
            alternative_opcodes: &[$($twin),*],
            operands: &[$($operand),*],
            doc: $doc,
            ..CONTROL
        };
    )* };
}
use unnamed;

/// Creates an operand for bits that the processor ignores. The operand does not occur in the text.
const fn ignored(field: Field) -> Operand {
    Operand::new("ignored", OperandRole::Use, OperandKind::Bits(field)).silent()
}

const fn def(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::reg(name, OperandRole::Def, file, field)
}

const fn reg(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::reg(name, OperandRole::Use, file, field)
}

/// Creates a register operand that is read and then written.
const fn update(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::reg(name, OperandRole::Update, file, field)
}

const fn pair(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::Tuple { file, field, count: 2 })
}

const fn quad(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::Tuple { file, field, count: 4 })
}

const fn selected(name: &'static str, file: RegFile) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::Selected { file, field: SRC2, index: COND, bit: M_CHOOSE })
}

/// Creates an implicit register operand, which is not in the text.
const fn implicit(name: &'static str, role: OperandRole, file: RegFile) -> Operand {
    Operand::new(name, role, OperandKind::Whole(file)).silent()
}

const fn word(text: &'static str) -> Operand {
    Operand::new("this word", OperandRole::Use, OperandKind::Word(text))
}

const fn choice(name: &'static str, modifier: Modifier) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::Name(modifier))
}

/// Creates an operand that is an optional keyword in the text.
const fn mark(name: &'static str, modifier: Modifier) -> Operand {
    choice(name, modifier).optional()
}

const fn unsigned(name: &'static str, field: Field) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::Number { field, signed: false, shift: 0 })
}

const fn signed(name: &'static str, field: Field) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::Number { field, signed: true, shift: 0 })
}

/// The byte immediate of a multiplication, a multiple of 4.
const BIMMMUL: Operand =
    Operand::new("imm", OperandRole::Use, OperandKind::SplitNumber { low: BIMMMUL_LOW, high: BIMMMUL_HIGH, shift: 2 });
const BIMM8: Operand = unsigned("imm", BIMM);
/// An immediate for the upper 16 bits of a register, printed as a multiple of 2^16.
const HIGH16: Operand =
    Operand::new("imm", OperandRole::Use, OperandKind::Number { field: IMM16, signed: false, shift: 16 });

const S: Operand = word("s");
const U: Operand = word("u");
const NOT: Operand = word("not");
/// The token `#`, which the text contains in place of an absent destination.
const NONE: Operand = word("#");

const R_D: Operand = def("rd", RegFile::R, DST);
const R_1: Operand = reg("r1", RegFile::R, SRC1);
const R_2: Operand = reg("r2", RegFile::R, SRC2);
const R_S: Operand = selected("r2", RegFile::R);
const V_D: Operand = def("vd", RegFile::V, DST);
const V_1: Operand = reg("v1", RegFile::V, SRC1);
const V_2: Operand = reg("v2", RegFile::V, SRC2);
const V_3: Operand = reg("v3", RegFile::V, SRC3);
const A_D: Operand = def("ad", RegFile::A, DST);
const A_1: Operand = reg("a1", RegFile::A, SRC1);
const A_2: Operand = reg("a2", RegFile::A, SRC2);
const A_S: Operand = selected("a2", RegFile::A);

const fn flags(name: &'static str, file: RegFile) -> Operand {
    Operand::new(name, OperandRole::Def, OperandKind::FlagDef { file, field: CDST }).optional()
}

/// The `$c` register that receives the flags of the result, if any.
const C_D: Operand = flags("cd", RegFile::C);
/// The `$vc` register that receives the flags of the result, if any.
const VC_D: Operand = flags("vcd", RegFile::Vc);
/// A `$c` register that the instruction writes but that does not occur in the text.
const C_SILENT: Operand = C_D.silent();
/// A condition: a bit of a `$c` register. The default is bit `true` of `$c0`.
const PREDICATE: Operand = Operand::new("pred", OperandRole::Use, OperandKind::Condition { index: COND, bit: M_SLCT });
/// The `$c` register whose bits 4 and 5 rotate the registers of a quad.
const C_ROTATE: Operand = reg("cs", RegFile::C, COND);

/// Defines the aliases for common truth tables. The arguments are the mnemonics, the operands
/// before the sources, and the sources.
macro_rules! bitop_names {
    ($nor:literal $and:literal $xor:literal $nand:literal $nxor:literal $or:literal, [$($lead:expr),*], $s1:expr, $s2:expr) => {
        &[
            Alias { mnemonic: $nor, implied_fields: &[(BITOP, 0x1)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $and, implied_fields: &[(BITOP, 0x2)], operands: &[$($lead,)* NOT, $s1, $s2] },
            Alias { mnemonic: $and, implied_fields: &[(BITOP, 0x4)], operands: &[$($lead,)* $s1, NOT, $s2] },
            Alias { mnemonic: $xor, implied_fields: &[(BITOP, 0x6)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $nand, implied_fields: &[(BITOP, 0x7)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $and, implied_fields: &[(BITOP, 0x8)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $nxor, implied_fields: &[(BITOP, 0x9)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $or, implied_fields: &[(BITOP, 0xb)], operands: &[$($lead,)* NOT, $s1, $s2] },
            Alias { mnemonic: $or, implied_fields: &[(BITOP, 0xd)], operands: &[$($lead,)* $s1, NOT, $s2] },
            Alias { mnemonic: $or, implied_fields: &[(BITOP, 0xe)], operands: &[$($lead,)* $s1, $s2] },
        ]
    };
}
use bitop_names;

macro_rules! bitop_doc {
    () => {
        "Bitwise operation on two registers, by truth table: bit i of the result is bit `2 * s1 + s2` of the table, \
         where s1 and s2 are bit i of the sources."
    };
}
use bitop_doc;

const TABLE: Operand = unsigned("table", BITOP);
