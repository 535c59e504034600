//! VP1, the vector processor: opcodes, instructions as 32-bit words, and bundles of up to four instruction words.

pub mod bundle;
mod code;
pub mod concrete;
pub mod data_store;
pub mod domain;
pub mod fields;
pub mod footprint;
pub mod meaning;
pub(crate) mod opcodes;
mod rows;
pub mod state;
pub mod template;
mod text;

use crate::row::{OperandKind, RegFile, RegSlot, Row, opcode_enum};
use crate::word::Field;

pub use bundle::{Bundle, BundleError, UnitSlot, bundles};
pub use code::{TARGET, Vp1, Vp1Code};
pub use text::{EncodingForm, Program, assemble, disassemble, forms_of, mnemonics, read_word, word_text};

use fields::OP;
use std::sync::LazyLock;

/// The unit that executes an instruction. The variants are in bundle order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unit {
    /// Address unit: loads, stores and address arithmetic.
    Address,
    /// Scalar unit: `$r` arithmetic and moves between register files.
    Scalar,
    /// Vector unit: `$v` arithmetic.
    Vector,
    /// Branch unit: branches and loop counters.
    Branch,
}

impl Unit {
    /// All units, in bundle order.
    pub const ALL: [Unit; 4] = [Unit::Address, Unit::Scalar, Unit::Vector, Unit::Branch];

    /// Returns the unit of an instruction word. The opcode determines the unit even if the word is
    /// not a valid instruction.
    pub const fn of_word(word: u32) -> Unit {
        match word >> 24 {
            0..=0x7f => Unit::Scalar,
            0x80..=0xbf => Unit::Vector,
            0xc0..=0xdf => Unit::Address,
            _ => Unit::Branch,
        }
    }
}

/// Defines `Opcode` from the opcode list.
macro_rules! define {
    ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {
        opcode_enum! {
            /// An opcode of VP1. The name is the mnemonic, followed by these suffixes if several opcodes share the
            /// mnemonic: `S` or `U` for signed or unsigned results; `R` or `I` for register or immediate sources; `VA`
            /// if only the accumulator is written; the destination and source of a move.
            $($module { $($($name)+)* })*
        }
    };
}

opcodes::opcodes!(define);

/// Data that is derived from a row. The data is computed once, because encoding and decoding of
/// every instruction word need the data.
struct Derived {
    template: u32,
    registers: Vec<RegSlot>,
}

static DERIVED: LazyLock<Vec<Derived>> = LazyLock::new(|| {
    let derive =
        |op: &Opcode| Derived { template: op.row().template() as u32, registers: op.row().registers().collect() };
    Opcode::ALL.iter().map(derive).collect()
});

/// For each value of field OP, the opcodes with this value. Each entry holds the mask and the value
/// of the fixed bits, and the opcode.
type Decode = [Vec<(u32, u32, Opcode)>; 256];

static DECODE: LazyLock<Decode> = LazyLock::new(|| {
    let mut table = Decode::from([const { Vec::new() }; 256]);
    for &op in Opcode::ALL {
        for (mask, value) in op.row().patterns() {
            table[OP.get(value) as usize].push((mask as u32, value as u32, op));
        }
    }
    table
});

impl Opcode {
    fn derived(self) -> &'static Derived {
        &DERIVED[self as usize]
    }

    /// Returns the register operands of the row. The result equals [`Row::registers`], but is computed only once.
    pub fn registers(self) -> &'static [RegSlot] {
        &self.derived().registers
    }

    /// Returns the opcode of an instruction word. Returns `None` if field OP is 0xdb, because the
    /// effect of that opcode is unknown.
    pub fn of_word(word: u32) -> Option<Opcode> {
        let candidates = &DECODE[(word >> 24) as usize];
        candidates.iter().find(|(mask, value, _)| word & mask == *value).map(|c| c.2)
    }

    /// Returns the unit that executes the opcode.
    pub fn unit(self) -> Unit {
        Unit::of_word(self.derived().template)
    }

    /// Returns `true` if the opcode has a mnemonic. The interpreter executes an opcode without a
    /// mnemonic, but its assembly text is `.word`.
    pub const fn is_named(self) -> bool {
        !self.row().mnemonic.is_empty()
    }
}

/// An instruction: an instruction word together with its opcode. Every word is a valid instruction
/// unless field OP is 0xdb. Bits outside all fields are ignored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    opcode: Opcode,
    word: u32,
}

impl Inst {
    /// Creates an instruction with every field at its default. Register fields hold `$r31`, no flags are written, no
    /// register is selected at run time, and a branch is always taken. All other fields are 0.
    pub fn new(opcode: Opcode) -> Inst {
        Inst { opcode, word: opcode.derived().template }
    }

    /// Decodes an instruction word. Returns `None` if the word is not a valid instruction.
    pub fn decode(word: u32) -> Option<Inst> {
        Some(Inst { opcode: Opcode::of_word(word)?, word })
    }

    /// Generates a random instruction of an opcode. Every value of every field can occur ([`crate::random`]).
    pub fn random(opcode: Opcode, next: &mut dyn FnMut() -> u64) -> Inst {
        Inst { opcode, word: crate::random::word(opcode.row(), u128::from(u32::MAX), next) as u32 }
    }

    /// Returns the opcode.
    pub fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// Returns the opcode's row.
    pub fn row(&self) -> &'static Row {
        self.opcode.row()
    }

    /// Returns the unit that executes the instruction.
    pub fn unit(&self) -> Unit {
        Unit::of_word(self.word)
    }

    /// Returns the 32-bit word.
    pub fn word(&self) -> u32 {
        self.word
    }

    /// Returns the value of a field. The field may be missing in the row, because some bits have an
    /// effect without being part of the text.
    pub fn get(&self, field: Field) -> u64 {
        field.get(self.word.into())
    }

    /// Returns the value of a field, sign-extended as two's complement.
    pub fn get_signed(&self, field: Field) -> i64 {
        field.get_signed(self.word.into())
    }

    /// Sets a field of the row to the low bits of a value.
    pub fn set(&mut self, field: Field, value: u64) {
        debug_assert!(self.row().fields().any(|f| f == field), "{} has no {field:?}", self.opcode.name());
        self.word = field.set(self.word.into(), value) as u32;
    }

    /// Returns the instruction with a field of the row set.
    #[must_use]
    pub fn with(mut self, field: Field, value: u64) -> Inst {
        self.set(field, value);
        self
    }

    /// Returns the register operands of the row.
    pub fn registers(&self) -> &'static [RegSlot] {
        self.opcode.registers()
    }

    /// Returns the condition that determines which registers of a `$v` quad are read, if the
    /// instruction has such a condition. The condition is a bit number of a `$c` register, and the
    /// field with the number of that register. Bit b20 rotates the numbers within the quad. Any
    /// other bit selects one register: the bit is XORed with the first register number.
    pub fn quad_condition(&self) -> Option<(u64, Field)> {
        let operands = || self.row().operands.iter().map(|operand| operand.kind);
        let condition = operands().find_map(|kind| match kind {
            OperandKind::Condition { index, bit } => Some((self.get(bit.field), index)),
            _ => None,
        });
        condition
            .filter(|_| operands().any(|kind| matches!(kind, OperandKind::Tuple { file: RegFile::V, count: 4, .. })))
    }

    /// Returns `true` if a field of the row shares bits with other fields, so that changing the
    /// field also changes other fields.
    pub fn shares(&self, field: Field) -> bool {
        self.row().overlaps.contains(&field)
    }
}

/// Checks the VP1 rows ([`crate::row::self_check`]).
pub fn self_check() -> Result<(), Vec<crate::row::RowError>> {
    crate::row::self_check(Opcode::ALL.iter().map(|o| (o.name(), o.row())), 32, 0)
}
