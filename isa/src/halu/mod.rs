//! HALU, the packed-half and video target: opcodes, and instructions as validated 128-bit words.

mod code;
pub mod concrete;
mod decoded;
pub mod domain;
pub mod fields;
pub mod meaning;
pub(crate) mod opcodes;
mod rows;
pub mod special;
pub mod template;
mod text;

use crate::row::Check;
use crate::row::{EncodeError, Kind, RegSlot, Row, opcode_enum};
use crate::word::Field;
pub use code::{Code, Halu, TARGET};
pub use decoded::Word;
pub use text::{Program, assemble, disassemble, mnemonics, opcodes_of, read_word, word_text};

use fields::{GUARD, GUARD_NOT, OPTYPE, PT, STYPE};
use std::sync::LazyLock;

/// Lists every row once.
macro_rules! define {
    ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {
        opcode_enum! {
            /// A HALU instruction in one form: its mnemonic, then the sources in text order, `R` a GPR, `I` an immediate,
            /// `U` a uniform register, `C` constant memory, or what else tells it apart.
            $($module { $($($name)+)* })*
        }
    };
}

opcodes::opcodes!(define);

/// What follows from the rows and is asked for at every word.
struct Derived {
    template: u128,
    named: u128,
    registers: Vec<RegSlot>,
    /// Those that can fail.
    checks: Vec<Check>,
    target: Option<Field>,
    has_all_preds: bool,
}

static DERIVED: LazyLock<Vec<Derived>> = LazyLock::new(|| {
    let derive = |op: &Opcode| Derived {
        template: op.row().template(),
        named: op.row().fields().fold(0, |m, f| m | f.mask()),
        registers: op.row().registers().collect(),
        checks: op.row().checks().filter(Check::can_fail).map(Check::prepared).collect(),
        target: op.row().operands.iter().find_map(|operand| match operand.kind {
            Kind::Target(field) => Some(field),
            _ => None,
        }),
        has_all_preds: op.row().operands.iter().any(|operand| matches!(operand.kind, Kind::AllPreds)),
    };
    Opcode::ALL.iter().map(derive).collect()
});

/// The opcode of each pair of stype and optype.
static DECODE: LazyLock<Box<[Option<Opcode>; 1 << 12]>> = LazyLock::new(|| {
    let mut table = Box::new([None; 1 << 12]);
    for &op in Opcode::ALL {
        table[decode_index(op.derived().template)] = Some(op);
    }
    table
});

/// OPTYPE and STYPE are the low 12 bits, together.
const fn decode_index(word: u128) -> usize {
    (word & (OPTYPE.mask() | STYPE.mask())) as usize
}

impl Opcode {
    fn derived(self) -> &'static Derived {
        &DERIVED[self as usize]
    }

    /// The row's register positions, the guard first. The same as [`Row::registers`], made once.
    pub fn registers(self) -> &'static [RegSlot] {
        &self.derived().registers
    }

    /// Of a branch: the field of its distance, signed and in words from the branch itself.
    pub fn target(self) -> Option<Field> {
        self.derived().target
    }

    /// Whether it reads or writes all predicates, by no number.
    pub fn has_all_preds(self) -> bool {
        self.derived().has_all_preds
    }

    /// The opcode that a word's optype and stype name, whatever its other bits.
    pub fn of_word(word: u128) -> Option<Opcode> {
        DECODE[decode_index(word)]
    }
}

/// An instruction: a word together with its row. Setting fields can make it invalid; [`Inst::validate`] tells, and only a
/// valid one decodes again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    opcode: Opcode,
    word: u128,
}

impl Inst {
    /// The opcode with every field at its default: guard PT, registers RZ, URZ and PT, immediates 0, and the first choice of
    /// a modifier that has no default. Valid.
    pub fn new(opcode: Opcode) -> Inst {
        Inst { opcode, word: opcode.derived().template }
    }

    /// The instruction of a word; `None` where the word is no instruction.
    pub fn decode(word: u128) -> Option<Inst> {
        let inst = Inst { opcode: Opcode::of_word(word)?, word };
        inst.is_valid().then_some(inst)
    }

    /// A random instruction of an opcode, every valid value of every field within reach ([`crate::random`]).
    pub fn random(opcode: Opcode, next: &mut dyn FnMut() -> u64) -> Inst {
        let word = crate::random::word(opcode.row(), opcode.derived().named, next);
        Inst { opcode, word }
    }

    /// The opcode.
    pub fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// The opcode's row.
    pub fn row(&self) -> &'static Row {
        self.opcode.row()
    }

    /// The 128 bits.
    pub fn word(&self) -> u128 {
        self.word
    }

    /// The value of a field of the row.
    pub fn get(&self, field: Field) -> u64 {
        debug_assert!(self.has(field), "{} has no {field:?}", self.opcode.name());
        field.get(self.word)
    }

    /// The value of a field of the row, as two's complement.
    pub fn get_signed(&self, field: Field) -> i64 {
        debug_assert!(self.has(field), "{} has no {field:?}", self.opcode.name());
        field.get_signed(self.word)
    }

    /// Sets a field of the row to the low bits of a value.
    pub fn set(&mut self, field: Field, value: u64) {
        debug_assert!(self.has(field), "{} has no {field:?}", self.opcode.name());
        self.word = field.set(self.word, value);
    }

    /// The instruction with a field of the row set.
    #[must_use]
    pub fn with(mut self, field: Field, value: u64) -> Inst {
        self.set(field, value);
        self
    }

    /// The instruction under a guard: the predicate's number, and whether it acts where the predicate is false.
    #[must_use]
    pub fn guarded(self, pred: u8, not: bool) -> Inst {
        self.with(GUARD, pred.into()).with(GUARD_NOT, not.into())
    }

    /// Whether the guard is PT, so that the instruction always acts.
    pub fn is_unconditional(&self) -> bool {
        self.get(GUARD) == u64::from(PT) && self.get(GUARD_NOT) == 0
    }

    /// The register positions, the guard first.
    pub fn registers(&self) -> &'static [RegSlot] {
        self.opcode.registers()
    }

    /// Whether every field holds a value that means something, in an allowed combination.
    pub fn validate(&self) -> Result<(), EncodeError> {
        let derived = self.opcode.derived();
        self.row().validate_by(derived.checks.iter(), self.word, derived.named)
    }

    /// Whether [`Inst::validate`] succeeds.
    pub fn is_valid(&self) -> bool {
        self.validate().is_ok()
    }

    fn has(&self, field: Field) -> bool {
        self.opcode.derived().named & field.mask() == field.mask()
    }
}

/// Checks the HALU rows ([`crate::row::self_check`]).
pub fn self_check() -> Result<(), Vec<crate::row::RowError>> {
    crate::row::self_check(Opcode::ALL.iter().map(|o| (o.name(), o.row())), 128, fields::SCHED_REQ.mask())
}
