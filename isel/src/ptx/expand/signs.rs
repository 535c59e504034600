//! Signs that are changed or taken away become bitwise operations, where the sign or the payload of a NaN could be told.
//!
//! Machines make a `neg` or an `abs` of floats an addition, or a modifier of the instruction that takes it. Modifiers cost nothing, but the
//! addition makes the canonical NaN of any NaN; the manual leaves the bits of a NaN open. So the instructions stay where all that read the
//! result give the canonical NaN for any NaN, or none.

use std::convert::Infallible;

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::FxHashSet;

use super::uses::{pure, read};
use crate::Ptx;
use crate::vcode::{BlockIndex, VCode, VReg};

/// Replaces what changes a sign whose result is read bit by bit.
pub fn keep_nans(code: &mut VCode<Ptx>) {
    let changed: FxHashSet<Reg> =
        code.insts.iter().filter_map(|inst| bitwise(&inst.inst).and(pure(&inst.inst))).collect();
    if changed.is_empty() {
        return;
    }
    let mut told: FxHashSet<Reg> = FxHashSet::default();
    for inst in code.insts.iter().filter(|inst| !takes_any_nan_alike(&inst.inst)) {
        told.extend(read(&inst.inst).filter(|reg| changed.contains(reg)));
    }
    code.blocks.iter().for_each(|block| {
        code.visit_end(&block.terminator, &mut |VReg(number)| {
            told.insert(Reg(number));
        });
    });
    let in_order: Vec<BlockIndex> = (0..code.blocks.len() as BlockIndex).collect();
    let Ok(()) = code.rewrite(&in_order, |_, _, mut inst, out| {
        if let Some(d) = pure(&inst.inst).filter(|d| told.contains(d))
            && let Some((opcode, bits)) = bitwise(&inst.inst)
            && let Some(&a) = inst.inst.operands.get(1)
        {
            let words = [Token::Type(Type::B32)].into_iter().collect();
            let operands = [Operand::Register(d), a, Operand::Number(bits)].into_iter().collect();
            inst.inst = Inst { opcode, words, operands, guard: None };
        }
        out.push(inst);
        Ok::<(), Infallible>(())
    });
}

/// The bitwise operation that does the same to numbers, and its second operand.
fn bitwise(inst: &Inst) -> Option<(Opcode, u64)> {
    if inst.has(Token::Ftz) {
        return None;
    }
    Some(match inst.opcode {
        Opcode::NEG_F32 => (Opcode::XOR, 0x8000_0000),
        Opcode::NEG_F16 | Opcode::NEG_BF16 => (Opcode::XOR, 0x8000_8000),
        Opcode::ABS_F32 => (Opcode::AND, 0x7fff_ffff),
        Opcode::ABS_F16 | Opcode::ABS_BF16 => (Opcode::AND, 0x7fff_7fff),
        _ => return None,
    })
}

/// Whether an instruction's result does not tell one NaN that it is given from another.
fn takes_any_nan_alike(inst: &Inst) -> bool {
    use Opcode as Op;
    matches!(
        inst.opcode,
        Op::ADD_F32
            | Op::SUB_F32
            | Op::MUL_F32
            | Op::FMA_F32
            | Op::DIV_F32
            | Op::SQRT_F32
            | Op::MIN_F32
            | Op::MAX_F32
            | Op::SETP_F32
            | Op::SET_F32
            | Op::ADD_F16
            | Op::SUB_F16
            | Op::MUL_F16
            | Op::FMA_F16
            | Op::MIN_F16
            | Op::MAX_F16
            | Op::SETP_F16
            | Op::SETP_F16X2
            | Op::SET_F16X2
            | Op::ADD_BF16
            | Op::SUB_BF16
            | Op::MUL_BF16
            | Op::FMA_BF16
            | Op::MIN_BF16
            | Op::MAX_BF16
            | Op::SETP_BF16
            | Op::SETP_BF16X2
            | Op::SET_BF16X2
    )
}
