//! The instructions, a row each.

use halfbyte_abi::{Descriptor, Form, Target};
use halfbyte_isa::plain::{Field, Plain, Role, Row};
use halfbyte_isa::row::Class;

/// The target.
pub const TARGET: Target =
    Target::new(&Descriptor { name: "toy", summary: "eight instructions", code: 0x70, form: Form::Threads, sm: None });

/// How many registers there are; the last is one that nobody reads.
pub const REGISTERS: u32 = 16;

/// The item's number.
pub const ITEM: u8 = 0;
/// A constant, sign-extended.
pub const CONST: u8 = 1;
/// A scalar parameter, by its number.
pub const ARG: u8 = 2;
/// The sum, wrapping.
pub const ADD: u8 = 3;
/// The product, wrapping.
pub const MUL: u8 = 4;
/// The word of a buffer, by the number of its parameter, at an index.
pub const LOAD: u8 = 5;
/// Writes it.
pub const STORE: u8 = 6;
/// The item is done.
pub const EXIT: u8 = 7;

const DEF: Field = Field { role: Role::Def, low: 20, bits: 4 };
const A: Field = Field { role: Role::Use, low: 16, bits: 4 };
const B: Field = Field { role: Role::Use, low: 12, bits: 4 };
const VALUE: Field = Field { role: Role::Use, low: 20, bits: 4 };
const IMM: Field = Field { role: Role::Imm, low: 0, bits: 16 };

/// The instruction set. What does nothing writes the last register.
pub static ISA: Plain = Plain {
    target: TARGET,
    rows: &[
        Row { name: "item", class: Class::Compute, fields: &[DEF] },
        Row { name: "const", class: Class::Compute, fields: &[DEF, IMM] },
        Row { name: "arg", class: Class::Memory, fields: &[DEF, IMM] },
        Row { name: "add", class: Class::Compute, fields: &[DEF, A, B] },
        Row { name: "mul", class: Class::Compute, fields: &[DEF, A, B] },
        Row { name: "load", class: Class::Memory, fields: &[DEF, IMM, A] },
        Row { name: "store", class: Class::Memory, fields: &[IMM, A, VALUE] },
        Row { name: "exit", class: Class::Control, fields: &[] },
    ],
    idle: (CONST as u32) << 24 | (REGISTERS - 1) << 20,
};
