//! The rows of HALU, a file a family, and the operands that they share.

pub mod atomic;
pub mod base;
pub mod double;
pub mod float;
pub mod half;
pub mod integer;
pub mod meet;
pub mod memory;
pub mod shared;
pub mod video;

use super::fields::*;
use crate::row::{Class, Guard, Kind, Modifier, ModifierOrder, Operand, RegFile, Role, Row, Suffix};
use crate::word::Field;

/// What every HALU row starts from.
const HALU: Row = Row {
    mnemonic: "",
    tags: &[],
    guard: Some(Guard { pred: GUARD, not: GUARD_NOT }),
    fixed: &[],
    twins: &[],
    modifiers: &[],
    order: ModifierOrder::Free,
    operands: &[],
    overlaps: &[],
    aliases: &[],
    defaults: &[],
    forbids: &[],
    class: Class::Compute,
    doc: "",
    examples: &[],
};

/// STYPE of a form whose source in the 32-bit slot is a GPR, and of a form without sources.
const R: u64 = 0x2;
/// A UR in the slot, before the GPR at 64.
const U: u64 = 0xc;
/// An immediate in the slot, before the GPR at 64.
const I: u64 = 0x8;
/// Constant memory in the slot, before the GPR at 64.
const C: u64 = 0xa;
/// An immediate in the slot, after the GPR at 64.
const RRI: u64 = 0x4;
/// Constant memory in the slot, after the GPR at 64.
const RRC: u64 = 0x6;
/// A UR in the slot, after the GPR at 64.
const RRU: u64 = 0xe;

const fn def(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, Role::Def, RegFile::Gpr, field)
}

const fn gpr(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, Role::Use, RegFile::Gpr, field)
}

const fn ur(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, Role::Use, RegFile::Ur, field)
}

const fn pred(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, Role::Use, RegFile::Pred, field)
}

const fn pred_def(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, Role::Def, RegFile::Pred, field)
}

const fn constant(name: &'static str) -> Operand {
    Operand::new(name, Role::Use, Kind::Const { bank: CMEM_BANK, offset: CMEM_OFFSET, align: 4 })
}

const fn bits(name: &'static str, field: Field) -> Operand {
    Operand::new(name, Role::Use, Kind::Bits(field))
}

const fn f32_imm(name: &'static str) -> Operand {
    Operand::new(name, Role::Use, Kind::F32(IMM32))
}

const fn half(op: Operand, field: Field) -> Operand {
    op.suffix(Suffix::Choice(half_select(field)))
}

/// Destination.
const D: Operand = def("rd", RD);
/// First source.
const A: Operand = gpr("ra", RA);
/// `{!}pp`, which must be written.
const P: Operand = pred("pp", PP).not(PP_NOT);
/// Destination predicates of a compare.
const DU: Operand = pred_def("pu", PU);
const DV: Operand = pred_def("pv", PV);
