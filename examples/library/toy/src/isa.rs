//! The instruction set of the toy target, with one row for each instruction.

use halfbyte_abi::{Descriptor, KernelFormat, Target};
use halfbyte_isa::row::InstClass;
use halfbyte_isa::row_isa::{Field, Role, Row, RowIsa};

/// Description of the toy target.
pub const TARGET: Target = Target::new(&Descriptor {
    name: "toy",
    summary: "eight instructions",
    code: 0x70,
    form: KernelFormat::Threads,
    sm: None,
});

/// Number of registers. No instruction reads the last register.
pub const REGISTERS: u32 = 16;

/// Reads the item index.
pub const ITEM: u8 = 0;
/// Loads a sign-extended constant.
pub const CONST: u8 = 1;
/// Reads a scalar parameter, given by its number.
pub const ARG: u8 = 2;
/// Adds two registers, with wraparound.
pub const ADD: u8 = 3;
/// Multiplies two registers, with wraparound.
pub const MUL: u8 = 4;
/// Loads a 32-bit element of a buffer. The buffer is given by its parameter number, the element by its index.
pub const LOAD: u8 = 5;
/// Stores a register to a 32-bit element of a buffer.
pub const STORE: u8 = 6;
/// Ends the execution of the work item.
pub const EXIT: u8 = 7;

const DEF: Field = Field { role: Role::Def, low: 20, bits: 4 };
const A: Field = Field { role: Role::Use, low: 16, bits: 4 };
const B: Field = Field { role: Role::Use, low: 12, bits: 4 };
const VALUE: Field = Field { role: Role::Use, low: 20, bits: 4 };
const IMM: Field = Field { role: Role::Imm, low: 0, bits: 16 };

/// The instruction set. Its nop writes the last register.
pub static ISA: RowIsa = RowIsa {
    target: TARGET,
    rows: &[
        Row { name: "item", class: InstClass::Compute, fields: &[DEF] },
        Row { name: "const", class: InstClass::Compute, fields: &[DEF, IMM] },
        Row { name: "arg", class: InstClass::Memory, fields: &[DEF, IMM] },
        Row { name: "add", class: InstClass::Compute, fields: &[DEF, A, B] },
        Row { name: "mul", class: InstClass::Compute, fields: &[DEF, A, B] },
        Row { name: "load", class: InstClass::Memory, fields: &[DEF, IMM, A] },
        Row { name: "store", class: InstClass::Memory, fields: &[IMM, A, VALUE] },
        Row { name: "exit", class: InstClass::Control, fields: &[] },
    ],
    nop: (CONST as u32) << 24 | (REGISTERS - 1) << 20,
};
