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

use crate::row::Constraint;
use crate::row::{EncodeError, OperandKind, RegSlot, Row, opcode_enum};
use crate::word::Field;
pub use code::{Halu, HaluCode, TARGET};
pub use decoded::Word;
pub use text::{Program, assemble, disassemble, mnemonics, opcodes_of, read_word, word_text};

use fields::{GUARD, GUARD_NOT, OPTYPE, PT, STYPE};
use std::sync::LazyLock;

/// Defines `Opcode` from the opcode list.
macro_rules! define {
    ($m:ident: $($module:ident { $($($name:ident)+ => $meaning:expr;)* })*) => {
        opcode_enum! {
            /// An encoding form of a HALU instruction. The name is the mnemonic followed by the
            /// kinds of the sources in text order: `R` a GPR, `I` an immediate, `U` a uniform
            /// register, `C` constant memory. Other suffixes distinguish forms by width or type.
            $($module { $($($name)+)* })*
        }
    };
}

opcodes::opcodes!(define);

/// Data that is derived from a row. The data is computed once, because encoding and decoding of
/// every instruction word need the data.
struct Derived {
    template: u128,
    named: u128,
    registers: Vec<RegSlot>,
    /// The constraints of the row that an instruction word may violate.
    checks: Vec<Constraint>,
    target: Option<Field>,
    has_all_preds: bool,
}

static DERIVED: LazyLock<Vec<Derived>> = LazyLock::new(|| {
    let derive = |op: &Opcode| Derived {
        template: op.row().template(),
        named: op.row().fields().fold(0, |m, f| m | f.mask()),
        registers: op.row().registers().collect(),
        checks: op.row().checks().filter(Constraint::can_fail).map(Constraint::precompute).collect(),
        target: op.row().operands.iter().find_map(|operand| match operand.kind {
            OperandKind::Target(field) => Some(field),
            _ => None,
        }),
        has_all_preds: op.row().operands.iter().any(|operand| matches!(operand.kind, OperandKind::AllPreds)),
    };
    Opcode::ALL.iter().map(derive).collect()
});

/// The opcode of each combination of STYPE and OPTYPE. The index is the low 12 bits of the instruction word.
static DECODE: LazyLock<Box<[Option<Opcode>; 1 << 12]>> = LazyLock::new(|| {
    let mut table = Box::new([None; 1 << 12]);
    for &op in Opcode::ALL {
        table[decode_index(op.derived().template)] = Some(op);
    }
    table
});

/// Returns the low 12 bits of an instruction word, which hold OPTYPE and STYPE.
const fn decode_index(word: u128) -> usize {
    (word & (OPTYPE.mask() | STYPE.mask())) as usize
}

impl Opcode {
    fn derived(self) -> &'static Derived {
        &DERIVED[self as usize]
    }

    /// Returns the register operands of the row, the guard first. The result equals
    /// [`Row::registers`], but is computed only once.
    pub fn registers(self) -> &'static [RegSlot] {
        &self.derived().registers
    }

    /// Returns the field with the distance of a branch. The distance is signed and counts
    /// instruction words from the branch itself. Returns `None` for other instructions.
    pub fn target(self) -> Option<Field> {
        self.derived().target
    }

    /// Returns `true` if the instruction reads or writes all predicates implicitly.
    pub fn has_all_preds(self) -> bool {
        self.derived().has_all_preds
    }

    /// Returns the opcode that the OPTYPE and STYPE of an instruction word encode. The other bits are not checked.
    pub fn of_word(word: u128) -> Option<Opcode> {
        DECODE[decode_index(word)]
    }
}

/// An instruction: an instruction word together with its opcode. Setting fields may make the word
/// invalid; [`Inst::validate`] checks the word. [`Inst::decode`] accepts only a valid word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Inst {
    opcode: Opcode,
    word: u128,
}

impl Inst {
    /// Creates an instruction with every field at its default: guard PT, registers RZ, URZ and PT,
    /// immediates 0. A modifier without a default has its first choice. The result is valid.
    pub fn new(opcode: Opcode) -> Inst {
        Inst { opcode, word: opcode.derived().template }
    }

    /// Decodes a word. Returns `None` if the word is not a valid instruction.
    pub fn decode(word: u128) -> Option<Inst> {
        let inst = Inst { opcode: Opcode::of_word(word)?, word };
        inst.is_valid().then_some(inst)
    }

    /// Generates a random valid instruction of an opcode. Every valid value of every field can
    /// occur ([`crate::random`]).
    pub fn random(opcode: Opcode, next: &mut dyn FnMut() -> u64) -> Inst {
        let word = crate::random::word(opcode.row(), opcode.derived().named, next);
        Inst { opcode, word }
    }

    /// Returns the opcode.
    pub fn opcode(&self) -> Opcode {
        self.opcode
    }

    /// Returns the opcode's row.
    pub fn row(&self) -> &'static Row {
        self.opcode.row()
    }

    /// Returns the 128-bit word.
    pub fn word(&self) -> u128 {
        self.word
    }

    /// Returns the value of a field of the row.
    pub fn get(&self, field: Field) -> u64 {
        debug_assert!(self.has(field), "{} has no {field:?}", self.opcode.name());
        field.get(self.word)
    }

    /// Returns the value of a field of the row, sign-extended as two's complement.
    pub fn get_signed(&self, field: Field) -> i64 {
        debug_assert!(self.has(field), "{} has no {field:?}", self.opcode.name());
        field.get_signed(self.word)
    }

    /// Sets a field of the row to the low bits of a value.
    pub fn set(&mut self, field: Field, value: u64) {
        debug_assert!(self.has(field), "{} has no {field:?}", self.opcode.name());
        self.word = field.set(self.word, value);
    }

    /// Returns the instruction with a field of the row set.
    #[must_use]
    pub fn with(mut self, field: Field, value: u64) -> Inst {
        self.set(field, value);
        self
    }

    /// Returns the instruction with a guard. If `not` is set, the instruction executes if the predicate is false.
    #[must_use]
    pub fn guarded(self, pred: u8, not: bool) -> Inst {
        self.with(GUARD, pred.into()).with(GUARD_NOT, not.into())
    }

    /// Returns `true` if the guard is PT, so that the instruction always executes.
    pub fn is_unconditional(&self) -> bool {
        self.get(GUARD) == u64::from(PT) && self.get(GUARD_NOT) == 0
    }

    /// Returns the register operands of the row, the guard first.
    pub fn registers(&self) -> &'static [RegSlot] {
        self.opcode.registers()
    }

    /// Checks that every field holds a valid value and that the combination is allowed.
    pub fn validate(&self) -> Result<(), EncodeError> {
        let derived = self.opcode.derived();
        self.row().validate_by(derived.checks.iter(), self.word, derived.named)
    }

    /// Returns `true` if [`Inst::validate`] succeeds.
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
