//! The rows of PTX, a file a family, and the places that they share.

pub mod approx;
pub mod atomic;
pub mod bits;
pub mod compare;
pub mod control;
pub mod convert;
pub mod copy;
pub mod double;
pub mod float;
pub mod half;
pub mod hints;
pub mod integer;
pub mod matrix;
pub mod meet;
pub mod memory;
pub mod video;
pub mod warpgroup;

use super::row::{Accuracy, Carry, Choice, Class, Lanes, OperandRow, Row, Shape, Slot, Ty};
use super::types::{Since, Space, Suffix, Token, Type};

/// What every row starts from.
const PTX: Row = Row {
    mnemonic: "",
    slots: &[],
    apart: &[],
    operands: &[],
    class: Class::Compute,
    carry: Carry::None,
    since: Since::ALWAYS,
    accuracy: Accuracy::Exact,
    doc: "",
    examples: &[],
};

/// From these on there are packed integers of 16 bits.
const PACKED_16: Since = Since::new(8, 0, 90);
/// From these on there are packed integers of 8 bits.
const PACKED_8: Since = Since { suffix: Some(Suffix::Family), one_family: true, ..Since::new(9, 2, 120) };
/// From these on integers are clamped and packed in one.
const PACKING: Since = Since::new(6, 5, 75);
/// From these on bfloat16 is added, multiplied and compared as it is.
const BF16: Since = Since::new(7, 8, 90);
/// From these on there is bfloat16, and minimum, maximum and `.relu` of halves.
const SM_80: Since = Since::new(7, 0, 80);

const fn word(token: Token) -> Choice {
    Choice { token, since: Since::ALWAYS }
}

const fn since(since: Since, token: Token) -> Choice {
    Choice { token, since }
}

/// Words without needs of their own.
macro_rules! words {
    ($($token:ident)*) => { &[$(word(Token::$token)),*] };
}

/// Types without needs of their own.
macro_rules! types {
    ($($ty:ident)*) => { &[$(word(Token::Type(Type::$ty))),*] };
}
/// Rows of a class that need something of the assembler or of the machine as a whole, one a line with its examples.
macro_rules! rows_of {
    ($class:ident: $($name:ident $(apart $apart:ident)? $mnemonic:literal $slots:expr, $operands:expr, $since:expr, $doc:expr, $($example:literal)+;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            $(apart: $apart,)?
            operands: $operands,
            class: Class::$class,
            since: $since,
            doc: $doc,
            examples: &[$($example),+],
            ..PTX
        };
    )* };
}
/// Rows of what computes.
macro_rules! rows {
    ($($row:tt)*) => { rows_of! { Compute: $($row)* } };
}
/// Rows of instructions that steer the machine and name no memory.
macro_rules! controls {
    ($($row:tt)*) => { rows_of! { Control: $($row)* } };
}
/// Rows of what accesses memory.
macro_rules! accesses {
    ($($row:tt)*) => { rows_of! { Memory: $($row)* } };
}
use {accesses, controls, rows, rows_of, types, words};

/// From these on pairs of f32, and f32 and halves together, are added and multiplied.
const MIXED: Since = Since::new(8, 6, 100);
/// From these on signs are combined by minimum and maximum.
const XORSIGNS: Since = Since::new(7, 2, 86);

/// From these on shared memory may be named as that of the block.
const OF_BLOCK: Since = Since::new(7, 8, 75);
/// From these on registers have 128 bits.
const BYTES_16: Since = Since::new(8, 3, 75);
const BITS_128: &[Choice] = &[since(BYTES_16, Token::Type(Type::B128))];
const F64: Slot = ty(types!(F64));
/// A rounding, which must be there.
const ROUND: Slot = Slot::one_of("rounding", words!(Rn Rz Rm Rp));
/// One that may be left out.
const MAYBE_ROUND: Slot = Slot::optional("rounding", words!(Rn Rz Rm Rp));
const XORSIGN: Slot = Slot::one_of("sign", words!(Xorsign));
const OF_MAGNITUDES: Slot = Slot::one_of("magnitudes", words!(Abs));
const FTZ: Slot = Slot::optional("subnormals", words!(Ftz));
const SAT: Slot = Slot::optional("clamping", words!(Sat));
const NAN: Slot = Slot::optional("NaN", &[since(SM_80, Token::Nan)]);
/// `.rn`, which may be left out.
const MAYBE_RN: Slot = Slot::optional("rounding", words!(Rn));
/// `.rn`, which may not.
const RN: Slot = Slot::one_of("rounding", words!(Rn));
const BOOL: Slot = Slot::optional("combination", words!(And Or Xor));

const fn ty(choices: &'static [Choice]) -> Slot {
    Slot::one_of("type", choices)
}

const fn source_ty(choices: &'static [Choice]) -> Slot {
    Slot::one_of("type of the source", choices)
}

const fn def(name: &'static str, ty: Ty) -> OperandRow {
    OperandRow::def(name, Shape::Register(ty))
}

const fn value(name: &'static str, ty: Ty) -> OperandRow {
    OperandRow::used(name, Shape::Value(ty))
}

const fn reg(name: &'static str, ty: Ty) -> OperandRow {
    OperandRow::used(name, Shape::Register(ty))
}

/// The only type, or the first.
const T: Ty = Ty::Named(0);
const B32: Ty = Ty::Is(Type::B32);
const U32: Ty = Ty::Is(Type::U32);
const PRED: Ty = Ty::Is(Type::Pred);

/// `d, a`
const D_A: &[OperandRow] = &[def("d", T), value("a", T)];
/// `d, a, b`
const D_A_B: &[OperandRow] = &[def("d", T), value("a", T), value("b", T)];
/// `d, a, b, c`
const D_A_B_C: &[OperandRow] = &[def("d", T), value("a", T), value("b", T), value("c", T)];
/// The same where no operand may be a number.
const REGS_1: &[OperandRow] = &[def("d", T), reg("a", T)];
const REGS_2: &[OperandRow] = &[def("d", T), reg("a", T), reg("b", T)];
const REGS_3: &[OperandRow] = &[def("d", T), reg("a", T), reg("b", T), reg("c", T)];
