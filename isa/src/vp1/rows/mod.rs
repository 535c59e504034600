//! The rows of VP1, a file a unit and one for the moves between register files, and the operands that they share.

pub mod address;
pub mod branch;
pub mod scalar;
pub mod transfer;
pub mod vector;

use super::fields::*;
use crate::row::{Alias, Class, Kind, Modifier, ModifierOrder, Operand, RegFile, Role, Row};
use crate::word::Field;

/// What every VP1 row starts from.
const VP1: Row = Row {
    mnemonic: "",
    tags: &[],
    guard: None,
    fixed: &[],
    twins: &[],
    modifiers: &[],
    order: ModifierOrder::Fixed,
    operands: &[],
    overlaps: &[],
    aliases: &[],
    defaults: &[],
    forbids: &[],
    class: Class::Compute,
    doc: "",
    examples: &[],
};

const MOVE: Row = Row { class: Class::Move, ..VP1 };
const MEMORY: Row = Row { class: Class::Memory, ..VP1 };
const ADDRESS: Row = Row { class: Class::Address, ..VP1 };
const CONTROL: Row = Row { class: Class::Control, ..VP1 };

/// The rest of its word is ignored; in the canonical one it is all ones.
const NOP: Row =
    Row { operands: &[ignored(IGNORED)], defaults: &[(IGNORED, 0xff_ffff)], doc: "Does nothing.", ..CONTROL };

/// Rows, one a line or two: base, name, opcode, its twins, other fixed bits, mnemonic, operands, example, meaning.
macro_rules! rows {
    ($($base:ident $name:ident = $op:literal $(/ $twin:literal)* $(, $field:ident = $value:literal)*;
       $mnemonic:literal [$($operand:expr),* $(,)?] $example:literal, $doc:expr;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            fixed: &[(OP, $op), $(($field, $value)),*],
            twins: &[$($twin),*],
            operands: &[$($operand),*],
            doc: $doc,
            examples: &[$example],
            ..$base
        };
    )* };
}
use rows;

/// Rows of opcodes that the text has no name for.
macro_rules! unnamed {
    ($($name:ident = $op:literal $(, $field:ident = $value:literal)* $(/ $twin:literal)*; [$($operand:expr),*] $doc:literal;)*) => { $(
        pub(crate) const $name: Row = Row {
            fixed: &[(OP, $op), $(($field, $value)),*],
            twins: &[$($twin),*],
            operands: &[$($operand),*],
            doc: $doc,
            ..CONTROL
        };
    )* };
}
use unnamed;

/// Bits that are part of the instruction and do nothing.
const fn ignored(field: Field) -> Operand {
    Operand::new("ignored", Role::Use, Kind::Bits(field)).silent()
}

const fn def(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::reg(name, Role::Def, file, field)
}

const fn reg(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::reg(name, Role::Use, file, field)
}

/// A register that is read and then written.
const fn update(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::reg(name, Role::Update, file, field)
}

const fn pair(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::new(name, Role::Use, Kind::Tuple { file, field, count: 2 })
}

const fn quad(name: &'static str, file: RegFile, field: Field) -> Operand {
    Operand::new(name, Role::Use, Kind::Tuple { file, field, count: 4 })
}

const fn selected(name: &'static str, file: RegFile) -> Operand {
    Operand::new(name, Role::Use, Kind::Selected { file, field: SRC2, index: COND, bit: M_CHOOSE })
}

/// A register that the text does not name.
const fn implicit(name: &'static str, role: Role, file: RegFile) -> Operand {
    Operand::new(name, role, Kind::Whole(file)).silent()
}

const fn word(text: &'static str) -> Operand {
    Operand::new("this word", Role::Use, Kind::Word(text))
}

const fn choice(name: &'static str, modifier: Modifier) -> Operand {
    Operand::new(name, Role::Use, Kind::Name(modifier))
}

/// A word that may be missing.
const fn mark(name: &'static str, modifier: Modifier) -> Operand {
    choice(name, modifier).optional()
}

const fn unsigned(name: &'static str, field: Field) -> Operand {
    Operand::new(name, Role::Use, Kind::Number { field, signed: false, shift: 0 })
}

const fn signed(name: &'static str, field: Field) -> Operand {
    Operand::new(name, Role::Use, Kind::Number { field, signed: true, shift: 0 })
}

/// The immediate of a multiplier, a multiple of 4.
const BIMMMUL: Operand =
    Operand::new("imm", Role::Use, Kind::SplitNumber { low: BIMMMUL_LOW, high: BIMMMUL_HIGH, shift: 2 });
const BIMM8: Operand = unsigned("imm", BIMM);
/// Half a register, printed where it goes.
const HIGH16: Operand = Operand::new("imm", Role::Use, Kind::Number { field: IMM16, signed: false, shift: 16 });

const S: Operand = word("s");
const U: Operand = word("u");
const NOT: Operand = word("not");
/// Stands for a destination that is not there.
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
    Operand::new(name, Role::Def, Kind::FlagDef { file, field: CDST }).optional()
}

/// `$c` that the result's flags go to, if any.
const C_D: Operand = flags("cd", RegFile::C);
/// `$vc` that the result's flags go to, if any.
const VC_D: Operand = flags("vcd", RegFile::Vc);
/// `$c` that the text does not name, but the instruction writes.
const C_SILENT: Operand = C_D.silent();
/// A bit of `$c`; left out it is `$c0 true`.
const PREDICATE: Operand = Operand::new("pred", Role::Use, Kind::Condition { index: COND, bit: M_SLCT });
/// `$c` whose bits 4 and 5 rotate a quad.
const C_ROTATE: Operand = reg("cs", RegFile::C, COND);

/// The names of truth tables, for a row with these operands before the sources, and the prefix of the names.
macro_rules! bitop_names {
    ($nor:literal $and:literal $xor:literal $nand:literal $nxor:literal $or:literal, [$($lead:expr),*], $s1:expr, $s2:expr) => {
        &[
            Alias { mnemonic: $nor, when: &[(BITOP, 0x1)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $and, when: &[(BITOP, 0x2)], operands: &[$($lead,)* NOT, $s1, $s2] },
            Alias { mnemonic: $and, when: &[(BITOP, 0x4)], operands: &[$($lead,)* $s1, NOT, $s2] },
            Alias { mnemonic: $xor, when: &[(BITOP, 0x6)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $nand, when: &[(BITOP, 0x7)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $and, when: &[(BITOP, 0x8)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $nxor, when: &[(BITOP, 0x9)], operands: &[$($lead,)* $s1, $s2] },
            Alias { mnemonic: $or, when: &[(BITOP, 0xb)], operands: &[$($lead,)* NOT, $s1, $s2] },
            Alias { mnemonic: $or, when: &[(BITOP, 0xd)], operands: &[$($lead,)* $s1, NOT, $s2] },
            Alias { mnemonic: $or, when: &[(BITOP, 0xe)], operands: &[$($lead,)* $s1, $s2] },
        ]
    };
}
use bitop_names;

macro_rules! bitop_doc {
    () => {
        "Bit operation on two registers, by truth table: bit i of the result is bit `2 * s1 + s2` of the table, s1 and s2 being bit i of the sources."
    };
}
use bitop_doc;

const TABLE: Operand = unsigned("table", BITOP);
