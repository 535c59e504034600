//! HALU, the packed-half and video target: opcodes, and instructions as validated 128-bit words.

mod code;
pub mod concrete;
pub mod domain;
pub mod fields;
pub mod meaning;
mod rows;
pub mod template;
mod text;

use crate::check::Check;
use crate::row::{EncodeError, Kind, RegSlot, Row};
use crate::word::Field;
pub use code::{Code, Halu, TARGET};
pub use text::{Program, assemble, disassemble, mnemonics, opcodes_of, read_word, word_text};

use fields::{GUARD, GUARD_NOT, OPTYPE, PT, STYPE};
use std::sync::LazyLock;

/// Lists every row once: makes the [`Opcode`] enum and what maps it to its row.
macro_rules! opcodes {
    ($($module:ident: $($name:ident)*;)*) => {
        /// A HALU instruction in one form: its mnemonic, then the sources in text order, `R` a GPR, `I` an immediate,
        /// `U` a uniform register, `C` constant memory, or what else tells it apart.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u16)]
        #[allow(non_camel_case_types, missing_docs)]
        pub enum Opcode { $($($name,)*)* }

        impl Opcode {
            /// Every opcode, in order.
            pub const ALL: &'static [Opcode] = &[$($(Opcode::$name,)*)*];

            /// The opcode's name, `HADD2_RR`.
            pub const fn name(self) -> &'static str {
                const NAMES: &[&str] = &[$($(stringify!($name),)*)*];
                NAMES[self as usize]
            }

            /// The description that everything else follows from.
            pub const fn row(self) -> &'static Row {
                static ROWS: &[Row] = &[$($(rows::$module::$name,)*)*];
                &ROWS[self as usize]
            }
        }
    };
}

opcodes! {
    half:
        HADD2_RR HADD2_RU HADD2_RI HADD2_RC
        HMUL2_RR HMUL2_RU HMUL2_RI HMUL2_RC
        HFMA2_RRR HFMA2_RRI HFMA2_RIR HFMA2_RRU HFMA2_RUR HFMA2_RRC HFMA2_RCR
        HMNMX2_RR HMNMX2_RU HMNMX2_RI HMNMX2_RC
        HSETP2_RR HSETP2_RU HSETP2_RI HSETP2_RC
        HSET2_RR HSET2_RU HSET2_RI HSET2_RC;
    video:
        VADD2 VSUB2 VAVRG2 VABSDIFF2 VMIN2 VMAX2
        VADD4 VSUB4 VAVRG4 VABSDIFF4 VMIN4 VMAX4;
    base:
        MOV_R MOV_I MOV_U MOV_C SEL_RR SEL_RI SEL_RU SEL_RC S2R R2UR
        PLOP3 P2R R2P BRA EXIT NOP;
    integer:
        IADD3_RRR IADD3_RIR IADD3_RUR IADD3_RCR
        IMAD_RRR IMAD_RIR IMAD_RRI IMAD_RUR IMAD_RCR
        IMAD_WIDE_RRR IMAD_WIDE_RIR IMAD_WIDE_RUR IMAD_WIDE_RCR
        LEA LOP3_RRR LOP3_RIR LOP3_RUR LOP3_RCR
        SHF_RRR SHF_RIR PRMT_RRR PRMT_RIR
        ISETP_RR ISETP_RI ISETP_RU ISETP_RC;
    float:
        FADD_RR FADD_RI FADD_RU FADD_RC
        FMUL_RR FMUL_RI FMUL_RU FMUL_RC
        FFMA_RRR FFMA_RIR FFMA_RRI FFMA_RUR FFMA_RCR
        FSETP_RR FSETP_RI FSETP_RU FSETP_RC
        FDIV_RR FSQRT_R I2F_R F2I_R
        F2F_F16_F32 F2F_BF16_F32 F2F_F32_F16 F2F_F32_BF16 F2FP_RR;
    memory:
        LDG_U_U8 LDG_U_S8 LDG_U_U16 LDG_U_S16 LDG_U_32 LDG_U_64 LDG_U_128
        LDG_W_U8 LDG_W_S8 LDG_W_U16 LDG_W_S16 LDG_W_32 LDG_W_64 LDG_W_128
        STG_U_8 STG_U_16 STG_U_32 STG_U_64 STG_U_128
        STG_W_8 STG_W_16 STG_W_32 STG_W_64 STG_W_128
        LDL_32 LDL_64 LDL_128 STL_32 STL_64 STL_128
        LDC_U8 LDC_S8 LDC_U16 LDC_S16 LDC_32 LDC_64 ULDC_32 ULDC_64;
}

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
        checks: op.row().checks().filter(Check::can_fail).collect(),
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
        self.row().validate_by(derived.checks.iter().copied(), self.word, derived.named)
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
