//! Replaces `neg` and `abs` by bitwise operations if the sign or the payload of a NaN can be
//! observed.
//!
//! Machines implement `neg` or `abs` of floats as an addition, or as a modifier of the using
//! instruction. A modifier is free, but an addition turns every NaN into the canonical NaN; the
//! manual leaves the bits of a NaN open. So the instruction stays only if all readers of its result
//! give the same output for every NaN.

use std::convert::Infallible;

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::FxHashSet;

use super::uses::{pure, read};
use crate::Ptx;
use crate::vcode::{BlockIndex, VCode, VReg};

/// Replaces sign changes whose result is observed bit by bit.
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

/// Returns the equivalent bitwise operation, with its second operand.
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

/// Returns `true` if an instruction's result does not depend on which NaN it reads.
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use halfbyte_ir::witness::Random;
    use halfbyte_isa::halu::concrete::Concrete;
    use halfbyte_isa::ptx::meaning::{Reader, meaning};
    use halfbyte_isa::ptx::operand::Var;
    use halfbyte_isa::ptx::text::read;
    use halfbyte_isa::ptx::types::Special;

    use super::*;

    struct Machine([u32; 4]);

    impl Reader<Concrete> for Machine {
        fn register(&mut self, _: &mut Concrete, reg: Reg) -> [u32; 2] {
            [self.0[reg.0 as usize], 0]
        }

        fn predicate(&mut self, _: &mut Concrete, _: Reg) -> bool {
            true
        }

        fn special(&mut self, _: &mut Concrete, _: Special) -> [u32; 2] {
            [0; 2]
        }

        fn variable(&mut self, _: &mut Concrete, _: Var) -> [u32; 2] {
            [0; 2]
        }
    }

    fn insts(lines: &[&str]) -> Vec<Inst> {
        let text = format!(
            ".version 9.2\n.target sm_120f\n.address_size 64\n.entry k() {{\n.reg .b32 r<4>;\n.reg .pred p<2>;\n{}\n}}\n",
            lines.join("\n")
        );
        read(&text).unwrap().module.entries.remove(0).body.insts
    }

    /// Returns a word with random numbers and NaNs of random payloads, as halves or as a whole.
    fn word(random: &mut Random) -> u32 {
        let word = random.bits() as u32;
        match word >> 29 & 3 {
            0 => word,
            1 => word | 0x7c00_7c00,
            2 => word | 0x7f80_7f80,
            _ => word & 0xffff | 0x7f80_0000,
        }
    }

    #[test]
    fn bitwise_operations_have_the_same_bits() {
        let lines = [
            "neg.f32 r3, r0;",
            "neg.f16x2 r3, r0;",
            "neg.bf16x2 r3, r0;",
            "abs.f32 r3, r0;",
            "abs.f16x2 r3, r0;",
            "abs.bf16x2 r3, r0;",
        ];
        let mut random = Random(1);
        for inst in insts(&lines) {
            let (opcode, bits) = bitwise(&inst).unwrap();
            let operands =
                [inst.operands[0].clone(), inst.operands[1].clone(), Operand::Number(bits)].into_iter().collect();
            let words = [Token::Type(Type::B32)].into_iter().collect();
            let other = Inst { opcode, modifiers: words, operands, guard: None };
            for _ in 0..2000 {
                let registers = [word(&mut random), 0, 0, 0];
                let writes = |inst: &Inst| meaning(inst, &mut Concrete, &mut Machine(registers)).writes;
                assert_eq!(writes(&inst), writes(&other), "{inst:?} of {registers:08x?}");
            }
        }
    }

    /// Replaces each NaN lane of a word by another NaN. A lane has `bits` bits, of which `fraction`
    /// are the fraction.
    fn with_other_nans(word: u32, (bits, fraction): (u32, u32), random: &mut Random) -> u32 {
        (0..32 / bits).fold(0, |all, lane| {
            let mask = u32::MAX >> (32 - bits);
            let value = word >> (lane * bits) & mask;
            let infinity = (mask >> 1) & !((1 << fraction) - 1);
            let is_nan = value & (mask >> 1) > infinity;
            let other = random.bits() as u32;
            let nan = infinity | (other & ((1 << fraction) - 1)).max(1) | (other & 1 << (bits - 1));
            all | (if is_nan { nan } else { value }) << (lane * bits)
        })
    }

    #[test]
    fn results_do_not_depend_on_which_nan_is_given() {
        let of = |ty: &str, lanes: (u32, u32), forms: &[&str]| {
            let lines: Vec<String> = forms.iter().map(|form| form.replace('T', ty)).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let mut random = Random(2);
            for inst in insts(&lines) {
                assert!(is_same_for_all_nans(&inst), "{inst:?}");
                for _ in 0..4000 {
                    let registers = [0; 3].map(|_| word(&mut random));
                    let others = registers.map(|word| with_other_nans(word, lanes, &mut random));
                    let writes = |[a, b, c]: [u32; 3]| meaning(&inst, &mut Concrete, &mut Machine([a, b, c, 0])).writes;
                    assert_eq!(writes(registers), writes(others), "{inst:?} of {registers:08x?} and {others:08x?}");
                }
            }
        };
        let arithmetic = [
            "add.rn.T r3, r0, r1;",
            "sub.rn.T r3, r0, r1;",
            "mul.rn.T r3, r0, r1;",
            "fma.rn.T r3, r0, r1, r2;",
            "min.T r3, r0, r1;",
            "max.NaN.T r3, r0, r1;",
        ];
        let half = ["setp.ltu.T p0|p1, r0, r1;", "set.lt.T.T r3, r0, r1;"];
        let single =
            ["div.rn.T r3, r0, r1;", "sqrt.rn.T r3, r0;", "setp.geu.T p0, r0, r1;", "set.nan.f32.T r3, r0, r1;"];
        of("f16x2", (16, 10), &[&arithmetic[..], &half].concat());
        of("bf16x2", (16, 7), &[&arithmetic[..], &half].concat());
        of("f32", (32, 23), &[&arithmetic[..], &single].concat());
    }
}
