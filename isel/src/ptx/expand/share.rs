//! What is computed twice of the same operands is computed once; constants are written in the entry.

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::flow::{Dominators, pure};
use crate::ptx::{Code, Placed};

/// An instruction without its result.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    opcode: Opcode,
    words: SmallVec<[Token; 4]>,
    sources: SmallVec<[Operand; 4]>,
}

/// Shares values between instructions of which one is on all ways to the other.
pub fn share(code: &mut Code) {
    let dominators = Dominators::of(code);
    let mut known: FxHashMap<Key, SmallVec<[(u32, Reg); 1]>> = FxHashMap::default();
    let mut same: FxHashMap<Reg, Reg> = FxHashMap::default();
    let mut constants: Vec<Placed> = Vec::new();
    for &number in &dominators.order {
        let Some(block) = code.blocks.get_mut(number as usize) else { continue };
        let mut kept = Vec::with_capacity(block.insts.len());
        for mut placed in block.insts.drain(..) {
            placed.inst.rename(|_, reg| same.get(&reg).copied().unwrap_or(reg));
            let Some(d) = pure(&placed.inst) else {
                kept.push(placed);
                continue;
            };
            let constant = is_constant(&placed.inst);
            let place = if constant { 0 } else { number };
            let values = known.entry(key(&placed.inst, &code.registers)).or_default();
            match values.iter().find(|&&(over, _)| dominators.dominates(over, place)) {
                Some(&(_, value)) => {
                    same.insert(d, value);
                }
                None => {
                    values.push((place, d));
                    if constant { constants.push(placed) } else { kept.push(placed) }
                }
            }
        }
        block.insts = kept;
    }
    if let Some(entry) = code.blocks.first_mut() {
        entry.insts.splice(0..0, constants);
    }
    for block in &mut code.blocks {
        block.terminator.registers_mut(|reg| *reg = same.get(reg).copied().unwrap_or(*reg));
    }
}

fn is_constant(inst: &Inst) -> bool {
    inst.opcode == Opcode::MOV && matches!(inst.operands.get(1), Some(Operand::Number(_)))
}

fn key(inst: &Inst, registers: &[Type]) -> Key {
    let mut sources: SmallVec<[Operand; 4]> = inst.operands.iter().skip(1).cloned().collect();
    if commutes(inst.opcode)
        && let [first, second, ..] = sources.as_mut_slice()
        && rank(second) < rank(first)
    {
        std::mem::swap(first, second);
    }
    let mut words: SmallVec<[Token; 4]> = inst.words.iter().copied().collect();
    // A value may be wanted in a register of another type.
    let d = inst.operands.first().and_then(|d| d.registers().first().copied());
    words.extend(d.and_then(|d| registers.get(d.0 as usize)).map(|&ty| Token::Type(ty)));
    Key { opcode: inst.opcode, words, sources }
}

/// Whether the first two operands may be exchanged.
fn commutes(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        ADD | MUL
            | MUL_WIDE
            | MAD
            | MAD_WIDE
            | MIN
            | MAX
            | SAD
            | AND
            | OR
            | XOR
            | ADD_X2
            | MIN_X2
            | MAX_X2
            | MIN_RELU_X2
            | MAX_RELU_X2
            | ADD_X4
            | MIN_X4
            | MAX_X4
    )
}

/// An order of operands, whichever.
fn rank(operand: &Operand) -> (u8, u64) {
    match *operand {
        Operand::Register(reg) => (0, reg.0.into()),
        Operand::Number(bits) => (1, bits),
        _ => (2, 0),
    }
}
