//! The rows of HALU, one module per group of instructions, and the operands that these modules share.

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
    alternative_opcodes: &[],
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

/// STYPE of an encoding with a GPR as second source in bits 63:32, and of an encoding without sources.
const R: u64 = 0x2;
/// STYPE of an encoding with a UR as second source in bits 63:32 and a GPR as third source at bit 64.
const U: u64 = 0xc;
/// STYPE of an encoding with an immediate as second source in bits 63:32 and a GPR as third source at bit 64.
const I: u64 = 0x8;
/// STYPE of an encoding with constant memory as second source in bits 63:32 and a GPR as third source at bit 64.
const C: u64 = 0xa;
/// STYPE of an encoding with a GPR as second source at bit 64 and an immediate as third source in bits 63:32.
const RRI: u64 = 0x4;
/// STYPE of an encoding with a GPR as second source at bit 64 and constant memory as third source in bits 63:32.
const RRC: u64 = 0x6;
/// STYPE of an encoding with a GPR as second source at bit 64 and a UR as third source in bits 63:32.
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
/// A mandatory predicate source, which the text may invert: `{!}pp`.
const P: Operand = pred("pp", PP).not(PP_NOT);
/// First destination predicate of a comparison.
const DU: Operand = pred_def("pu", PU);
const DV: Operand = pred_def("pv", PV);
