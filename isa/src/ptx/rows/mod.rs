//! The rows of PTX, grouped into files, and the modifier slots and operands that several rows share.

pub(super) mod approx;
pub(super) mod atomic;
pub(super) mod bits;
pub(super) mod collective;
pub(super) mod compare;
pub(super) mod control;
pub(super) mod convert;
pub(super) mod copy;
pub(super) mod double;
pub(super) mod float;
pub(super) mod half;
pub(super) mod hints;
pub(super) mod integer;
pub(super) mod matrix;
pub(super) mod memory;
pub(super) mod scalar_video;
pub(super) mod video;
pub(super) mod warpgroup;

use super::row::{Accuracy, Carry, Choice, InstClass, Lanes, ModifierSlot, OperandKind, OperandRow, Row, Ty};
use super::types::{Requirements, Space, Suffix, Token, Type};

/// A row with the default value of each field, except for the mnemonic.
const PTX: Row = Row {
    mnemonic: "",
    slots: &[],
    exclusions: &[],
    operands: &[],
    class: InstClass::Compute,
    carry: Carry::None,
    since: Requirements::ALWAYS,
    accuracy: Accuracy::Exact,
    doc: "",
    examples: &[],
};

/// Target requirements of packed 16-bit integers.
const PACKED_16: Requirements = Requirements::new(8, 0, 90);
/// Target requirements of packed 8-bit integers.
const PACKED_8: Requirements =
    Requirements { suffix: Some(Suffix::Family), one_family: true, ..Requirements::new(9, 2, 120) };
/// Target requirements of `cvt.pack`.
const PACKING: Requirements = Requirements::new(6, 5, 75);
/// Target requirements of bfloat16 arithmetic and comparisons.
const BF16: Requirements = Requirements::new(7, 8, 90);
/// Target requirements of most bfloat16 operations, and of `min`, `max` and `.relu` on halves.
const SM_80: Requirements = Requirements::new(7, 0, 80);

const fn word(token: Token) -> Choice {
    Choice { token, since: Requirements::ALWAYS }
}

const fn since(since: Requirements, token: Token) -> Choice {
    Choice { token, since }
}

/// Expands to modifiers without target requirements.
macro_rules! words {
    ($($token:ident)*) => { &[$(word(Token::$token)),*] };
}

/// Expands to type modifiers without target requirements.
macro_rules! types {
    ($($ty:ident)*) => { &[$(word(Token::Type(Type::$ty))),*] };
}
/// Declares rows of one instruction class, one row per line: variant, mnemonic, slots, operands,
/// requirements, description and examples.
macro_rules! rows_of {
    ($class:ident: $($name:ident $(exclusions $exclusions:ident)? $mnemonic:literal $slots:expr, $operands:expr, $since:expr, $doc:expr, $($example:literal)+;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            $(exclusions: $exclusions,)?
            operands: $operands,
            class: InstClass::$class,
            since: $since,
            doc: $doc,
            examples: &[$($example),+],
            ..PTX
        };
    )* };
}
/// Declares rows of class `Compute`.
macro_rules! rows {
    ($($row:tt)*) => { rows_of! { Compute: $($row)* } };
}
/// Declares rows of class `Control`: instructions without a memory operand that control execution.
macro_rules! controls {
    ($($row:tt)*) => { rows_of! { Control: $($row)* } };
}
/// Declares rows of class `Memory`.
macro_rules! accesses {
    ($($row:tt)*) => { rows_of! { Memory: $($row)* } };
}
use {accesses, controls, rows, rows_of, types, words};

/// Target requirements of packed pairs of f32, and of f32 arithmetic with a half operand.
const MIXED: Requirements = Requirements::new(8, 6, 100);
/// Target requirements of `min` and `max` with `.xorsign`.
const XORSIGNS: Requirements = Requirements::new(7, 2, 86);

/// Target requirements of the state space `.shared::cta`.
const OF_BLOCK: Requirements = Requirements::new(7, 8, 75);
/// Target requirements of 128-bit registers.
const BYTES_16: Requirements = Requirements::new(8, 3, 75);
const BITS_128: &[Choice] = &[since(BYTES_16, Token::Type(Type::B128))];
const F64: ModifierSlot = ty(types!(F64));
/// Modifier slot for a required rounding mode.
const ROUND: ModifierSlot = ModifierSlot::one_of("rounding", words!(Rn Rz Rm Rp));
/// Modifier slot for an optional rounding mode.
const MAYBE_ROUND: ModifierSlot = ModifierSlot::optional("rounding", words!(Rn Rz Rm Rp));
const XORSIGN: ModifierSlot = ModifierSlot::one_of("sign", words!(Xorsign));
const OF_MAGNITUDES: ModifierSlot = ModifierSlot::one_of("magnitudes", words!(Abs));
const FTZ: ModifierSlot = ModifierSlot::optional("subnormals", words!(Ftz));
const SAT: ModifierSlot = ModifierSlot::optional("clamping", words!(Sat));
const NAN: ModifierSlot = ModifierSlot::optional("NaN", &[since(SM_80, Token::Nan)]);
/// Modifier slot for an optional `.rn`.
const MAYBE_RN: ModifierSlot = ModifierSlot::optional("rounding", words!(Rn));
/// Modifier slot for a required `.rn`.
const RN: ModifierSlot = ModifierSlot::one_of("rounding", words!(Rn));
const BOOL: ModifierSlot = ModifierSlot::optional("combination", words!(And Or Xor));

const fn ty(choices: &'static [Choice]) -> ModifierSlot {
    ModifierSlot::one_of("type", choices)
}

const fn source_ty(choices: &'static [Choice]) -> ModifierSlot {
    ModifierSlot::one_of("type of the source", choices)
}

const fn def(name: &'static str, ty: Ty) -> OperandRow {
    OperandRow::def(name, OperandKind::Register(ty))
}

const fn value(name: &'static str, ty: Ty) -> OperandRow {
    OperandRow::used(name, OperandKind::Value(ty))
}

const fn reg(name: &'static str, ty: Ty) -> OperandRow {
    OperandRow::used(name, OperandKind::Register(ty))
}

/// The first or only type modifier, as the type of an operand.
const T: Ty = Ty::Named(0);
const B32: Ty = Ty::Is(Type::B32);
const U32: Ty = Ty::Is(Type::U32);
const WORD: Ty = Ty::Untyped(Type::U32);
const PRED: Ty = Ty::Is(Type::Pred);

/// The operands `d, a`: a register and a register or immediate.
const D_A: &[OperandRow] = &[def("d", T), value("a", T)];
/// The operands `d, a, b`: a register and two registers or immediates.
const D_A_B: &[OperandRow] = &[def("d", T), value("a", T), value("b", T)];
/// The operands `d, a, b, c`: a register and three registers or immediates.
const D_A_B_C: &[OperandRow] = &[def("d", T), value("a", T), value("b", T), value("c", T)];
/// The operands `d, a`, which must be registers.
const REGS_1: &[OperandRow] = &[def("d", T), reg("a", T)];
const REGS_2: &[OperandRow] = &[def("d", T), reg("a", T), reg("b", T)];
const REGS_3: &[OperandRow] = &[def("d", T), reg("a", T), reg("b", T), reg("c", T)];
