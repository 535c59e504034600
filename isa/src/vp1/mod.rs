//! VP1, the vector processor: opcodes, instructions as 32-bit words, and bundles of up to four of them.

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

use crate::row::{Kind, RegFile, RegSlot, Row, opcode_enum};
use crate::word::Field;

pub use bundle::{Bundle, BundleError, Slot, bundles};
pub use code::{Code, TARGET, Vp1};
pub use text::{Form, Program, assemble, disassemble, forms_of, mnemonics, read_word, word_text};

use fields::OP;
use std::sync::LazyLock;

/// The unit that a word is for, in the order in which a bundle has them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unit {
    /// Loads, stores, address arithmetic.
    Address,
    /// `$r`, and moves between register files.
    Scalar,
    /// `$v`.
    Vector,
    /// Branches and loop counters.
    Branch,
}

impl Unit {
    /// Every unit, in the order of a bundle.
    pub const ALL: [Unit; 4] = [Unit::Address, Unit::Scalar, Unit::Vector, Unit::Branch];

    /// The unit of a word; every word has one, whether or not it is an instruction.
    pub const fn of_word(word: u32) -> Unit {
        match word >> 24 {
            0..=0x7f => Unit::Scalar,
            0x80..=0xbf => Unit::Vector,
            0xc0..=0xdf => Unit::Address,
            _ => Unit::Branch,
        }
    }
}

/// Lists every row once.
macro_rules! define {
    ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {
        opcode_enum! {
            /// A VP1 instruction in one form: its mnemonic; `S` or `U` where results are signed or unsigned; `R` or `I` for
            /// sources that are registers or immediates, where there are both; `VA` where only the accumulator is written;
            /// destination and source of a move.
            $($module { $($($name)+)* })*
        }
    };
}

opcodes::opcodes!(define);

/// What follows from the rows and is asked for at every word.
struct Derived {
    template: u32,
    registers: Vec<RegSlot>,
}

static DERIVED: LazyLock<Vec<Derived>> = LazyLock::new(|| {
    let derive =
        |op: &Opcode| Derived { template: op.row().template() as u32, registers: op.row().registers().collect() };
    Opcode::ALL.iter().map(derive).collect()
});

/// For each value of OP the opcodes that have it: their fixed bits as a mask and the value under it.
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

    /// The row's register positions. The same as [`Row::registers`], made once.
    pub fn registers(self) -> &'static [RegSlot] {
        &self.derived().registers
    }

    /// The opcode of a word; `None` for 0xdb, of which nothing is known.
    pub fn of_word(word: u32) -> Option<Opcode> {
        let candidates = &DECODE[(word >> 24) as usize];
        candidates.iter().find(|(mask, value, _)| word & mask == *value).map(|c| c.2)
    }

    /// The unit that the opcode is for.
    pub fn unit(self) -> Unit {
        Unit::of_word(self.derived().template)
    }

    /// Whether the text has a name for it. Without one it is `.word`, though its words have a meaning.
    pub const fn is_named(self) -> bool {
        !self.row().mnemonic.is_empty()
    }
}

/// An instruction: a word together with its row. Every word but those of OP 0xdb is one: what no field names is ignored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    opcode: Opcode,
    word: u32,
}

impl Inst {
    /// The opcode with every field at its default: `$r31`, no flags written, plain registers, always taken, all else 0.
    pub fn new(opcode: Opcode) -> Inst {
        Inst { opcode, word: opcode.derived().template }
    }

    /// The instruction of a word; `None` where the word is none.
    pub fn decode(word: u32) -> Option<Inst> {
        Some(Inst { opcode: Opcode::of_word(word)?, word })
    }

    /// A random instruction of an opcode, every value of every field within reach ([`crate::random`]).
    pub fn random(opcode: Opcode, next: &mut dyn FnMut() -> u64) -> Inst {
        Inst { opcode, word: crate::random::word(opcode.row(), u128::from(u32::MAX), next) as u32 }
    }

    /// The opcode.
    pub fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// The opcode's row.
    pub fn row(&self) -> &'static Row {
        self.opcode.row()
    }

    /// The unit that it is for.
    pub fn unit(&self) -> Unit {
        Unit::of_word(self.word)
    }

    /// The 32 bits.
    pub fn word(&self) -> u32 {
        self.word
    }

    /// The value of a field. Of one that is not the row's too: some bits act without being part of the text.
    pub fn get(&self, field: Field) -> u64 {
        field.get(self.word.into())
    }

    /// The value of a field, as two's complement.
    pub fn get_signed(&self, field: Field) -> i64 {
        field.get_signed(self.word.into())
    }

    /// Sets a field of the row to the low bits of a value.
    pub fn set(&mut self, field: Field, value: u64) {
        debug_assert!(self.row().fields().any(|f| f == field), "{} has no {field:?}", self.opcode.name());
        self.word = field.set(self.word.into(), value) as u32;
    }

    /// The instruction with a field of the row set.
    #[must_use]
    pub fn with(mut self, field: Field, value: u64) -> Inst {
        self.set(field, value);
        self
    }

    /// The register positions.
    pub fn registers(&self) -> &'static [RegSlot] {
        self.opcode.registers()
    }

    /// The condition that says what is read of a quad of `$v`, where one does: its bit of `$c`, and the place of the number of that `$c`.
    /// Bit b20 rotates the quad; any other is for one register, the first one's number xor the bit.
    pub fn quad_condition(&self) -> Option<(u64, Field)> {
        let operands = || self.row().operands.iter().map(|operand| operand.kind);
        let condition = operands().find_map(|kind| match kind {
            Kind::Condition { index, bit } => Some((self.get(bit.field), index)),
            _ => None,
        });
        condition.filter(|_| operands().any(|kind| matches!(kind, Kind::Tuple { file: RegFile::V, count: 4, .. })))
    }

    /// Whether a field of the row lies over others: what it holds is theirs too, so that one cannot be changed alone.
    pub fn shares(&self, field: Field) -> bool {
        self.row().overlaps.contains(&field)
    }
}

/// Checks the VP1 rows ([`crate::row::self_check`]).
pub fn self_check() -> Result<(), Vec<crate::row::RowError>> {
    crate::row::self_check(Opcode::ALL.iter().map(|o| (o.name(), o.row())), 32, 0)
}
