//! Replacement of `neg` and `abs` by bitwise operations where the bits of a NaN are observable.
//!
//! Machines implement `neg` and `abs` of floats as a modifier of the using instruction, or as an addition. The modifier
//! is free, but the addition makes every NaN canonical. The PTX manual leaves the bits of a NaN open. So `neg` or `abs`
//! is kept only if each instruction that reads its result gives the same output for every NaN.

use std::convert::Infallible;

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::FxHashSet;

use super::uses::{pure, read};
use crate::Ptx;
use crate::vcode::{BlockIndex, VCode, VReg};

/// Replaces `neg` and `abs` by bitwise operations if an instruction can observe which NaN they return.
pub(super) fn keep_nans(code: &mut VCode<Ptx>) {
    let changed: FxHashSet<Reg> =
        code.insts.iter().filter_map(|inst| bitwise(&inst.inst).and(pure(&inst.inst))).collect();
    if changed.is_empty() {
        return;
    }
    let mut observed: FxHashSet<Reg> = FxHashSet::default();
    for inst in code.insts.iter().filter(|inst| !is_same_for_all_nans(&inst.inst)) {
        observed.extend(read(&inst.inst).filter(|reg| changed.contains(reg)));
    }
    code.blocks.iter().for_each(|block| {
        code.visit_end(&block.terminator, &mut |VReg(number)| {
            observed.insert(Reg(number));
        });
    });
    let in_order: Vec<BlockIndex> = (0..code.blocks.len() as BlockIndex).collect();
    let Ok(()) = code.rewrite(&in_order, |_, _, mut inst, out| {
        if let Some(d) = pure(&inst.inst).filter(|d| observed.contains(d))
            && let Some((opcode, bits)) = bitwise(&inst.inst)
            && let Some(a) = inst.inst.operands.get(1).cloned()
        {
            let words = [Token::Type(Type::B32)].into_iter().collect();
            let operands = [Operand::Register(d), a, Operand::Number(bits)].into_iter().collect();
            inst.inst = Inst { opcode, modifiers: words, operands, guard: None };
        }
        out.push(inst);
        Ok::<(), Infallible>(())
    });
}

/// Returns the bitwise operation that equals a `neg` or `abs`, with its constant operand.
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

/// Returns `true` if the result of an instruction is the same for every NaN that it reads.
fn is_same_for_all_nans(inst: &Inst) -> bool {
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
