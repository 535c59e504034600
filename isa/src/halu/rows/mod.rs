//! The rows of HALU, one module per group of instructions, and the operands that they share.

pub(super) mod atomic;
pub(super) mod base;
pub(super) mod collective;
pub(super) mod double;
pub(super) mod float;
pub(super) mod half;
pub(super) mod integer;
pub(super) mod memory;
pub(super) mod shared;
pub(super) mod video;

use super::fields::*;
use crate::row::{Guard, InstClass, Modifier, ModifierOrder, Operand, OperandKind, OperandRole, RegFile, Row, Suffix};
use crate::word::Field;

/// The defaults of every HALU row.
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
    class: InstClass::Compute,
    doc: "",
    examples: &[],
};

/// STYPE of a form with a GPR in the second-source slot (bits 63:32), and of a form without
/// sources.
const R: u64 = 0x2;
/// STYPE of a form with a UR in the slot as second source; the GPR at bit 64 is the third.
const U: u64 = 0xc;
/// STYPE of a form with an immediate in the slot as second source; the GPR at bit 64 is the third.
const I: u64 = 0x8;
/// STYPE of a form with constant memory in the slot as second source; the GPR at bit 64 is the
/// third.
const C: u64 = 0xa;
/// STYPE of a form with an immediate in the slot as third source; the GPR at bit 64 is the second.
const RRI: u64 = 0x4;
/// STYPE of a form with constant memory in the slot as third source; the GPR at bit 64 is the
/// second.
const RRC: u64 = 0x6;
/// STYPE of a form with a UR in the slot as third source; the GPR at bit 64 is the second.
const RRU: u64 = 0xe;

const fn def(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, OperandRole::Def, RegFile::Gpr, field)
}

const fn gpr(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, OperandRole::Use, RegFile::Gpr, field)
}

const fn ur(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, OperandRole::Use, RegFile::Ur, field)
}

const fn pred(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, OperandRole::Use, RegFile::Pred, field)
}

const fn pred_def(name: &'static str, field: Field) -> Operand {
    Operand::reg(name, OperandRole::Def, RegFile::Pred, field)
}

const fn constant(name: &'static str) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::Const { bank: CMEM_BANK, offset: CMEM_OFFSET, align: 4 })
}

const fn bits(name: &'static str, field: Field) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::Bits(field))
}

const fn f32_imm(name: &'static str) -> Operand {
    Operand::new(name, OperandRole::Use, OperandKind::F32(IMM32))
}

const fn half(op: Operand, field: Field) -> Operand {
    op.suffix(Suffix::Choice(half_select(field)))
}

/// Destination register.
const D: Operand = def("rd", RD);
/// First source register.
const A: Operand = gpr("ra", RA);
/// `{!}pp`, a mandatory predicate source.
const P: Operand = pred("pp", PP).not(PP_NOT);
/// Destination predicates of a comparison.
const DU: Operand = pred_def("pu", PU);
const DV: Operand = pred_def("pv", PV);
