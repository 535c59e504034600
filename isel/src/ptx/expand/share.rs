//! Common subexpression elimination, and hoisting of constants to the entry block.

use std::hash::{Hash, Hasher};

use cranelift_entity::EntityRef;
use halfbyte_ir::flow::{Flow, Node};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use super::uses::pure;
use crate::Ptx;
use crate::vcode::{Terminator, VCode, VInst};

/// Instruction whose result later equal instructions can use.
struct AvailableValue {
    hash: u64,
    /// Block that contains the instruction. The result is available in the blocks that it dominates.
    block: Node,
    /// Index of the instruction in the code.
    at: usize,
    d: Reg,
}

/// Decision about an instruction: keep, remove or hoist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    Stays,
    /// The instruction is removed, because an earlier instruction computes the same value.
    Goes,
    /// The instruction is hoisted to the entry block.
    Hoisted,
}

/// Maximum number of constants that are hoisted to the entry block. A thread has 255 registers, and
/// registers that are live in the whole kernel slow down compilation.
const MOST_HOISTED: usize = 255;

/// Removes an instruction if an instruction that dominates it computes the same value.
pub(super) fn share(code: &mut VCode<Ptx>) {
    let flow = Flow::new(code);
    let entry = Node::new(0);
    let mut known: HashTable<AvailableValue> = HashTable::with_capacity(code.insts.len());
    let mut same: FxHashMap<Reg, Reg> = FxHashMap::default();
    let mut fates = vec![Decision::Stays; code.insts.len()];
    let mut constants: Vec<VInst<Ptx>> = Vec::new();
    for node in flow.reverse_postorder() {
        let range = code.blocks.get(node.index()).map_or(0..0, |block| block.insts.clone());
        for at in range.start as usize..range.end as usize {
            if !same.is_empty()
                && let Some(inst) = code.insts.get_mut(at)
            {
                inst.inst.rename(|_, reg| same.get(&reg).copied().unwrap_or(reg));
            }
            let (Some(inst), Some(fate)) = (code.insts.get(at), fates.get_mut(at)) else { continue };
            let Some(d) = pure(&inst.inst) else { continue };
            let is_hoisted = constants.len() < MOST_HOISTED && is_constant(&inst.inst);
            let (block, hash) = (if is_hoisted { entry } else { node }, hash(&inst.inst));
            let (insts, ty) = (&code.insts, code.vregs.get(d.0 as usize));
            let is_same = |of: &AvailableValue| {
                of.hash == hash
                    && code.vregs.get(of.d.0 as usize) == ty
                    && flow.dominates(of.block, block)
                    && insts.get(of.at).is_some_and(|other| computes_the_same(&other.inst, &inst.inst))
            };
            *fate = match known.find(hash, is_same) {
                Some(of) => {
                    same.insert(d, of.d);
                    Decision::Goes
                }
                None => {
                    known.insert_unique(hash, AvailableValue { hash, block, at, d }, |of| of.hash);
                    if is_hoisted {
                        constants.push(inst.clone());
                        Decision::Hoisted
                    } else {
                        Decision::Stays
                    }
                }
            };
        }
    }
    code.retain(|at, _| fates.get(at as usize) == Some(&Decision::Stays));
    code.prepend(constants);
    if same.is_empty() {
        return;
    }
    let name = |reg: Reg| same.get(&reg).copied().unwrap_or(reg);
    code.pool.iter_mut().for_each(|reg| *reg = name((*reg).into()).into());
    for block in &mut code.blocks {
        if let Terminator::Branch { inst, .. } = &mut block.terminator {
            inst.inst.rename(|_, reg| name(reg));
        }
    }
}

fn is_constant(inst: &Inst) -> bool {
    inst.opcode == Opcode::MOV && matches!(inst.operands.get(1), Some(Operand::Number(_)))
}

/// Hashes an instruction without its result. The result's type is compared separately, because
/// equal values may be needed in registers of different types.
fn hash(inst: &Inst) -> u64 {
    let mut hasher = FxHasher::default();
    inst.opcode.hash(&mut hasher);
    inst.modifiers.hash(&mut hasher);
    sources(inst).for_each(|source| source.hash(&mut hasher));
    hasher.finish()
}

fn computes_the_same(a: &Inst, b: &Inst) -> bool {
    a.opcode == b.opcode && a.modifiers == b.modifiers && sources(a).eq(sources(b))
}

/// Returns the source operands of an instruction. Commuting operands are in canonical order.
fn sources(inst: &Inst) -> impl Iterator<Item = &Operand> {
    let (first, second) = match inst.operands.get(1..) {
        Some([first, second, ..]) if commutes(inst.opcode) && rank(second) < rank(first) => (Some(second), Some(first)),
        operands => (operands.and_then(<[_]>::first), operands.and_then(|all| all.get(1))),
    };
    first.into_iter().chain(second).chain(inst.operands.iter().skip(3))
}

/// Returns `true` if the first two source operands commute.
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

/// Returns a sort key that gives operands an arbitrary total order.
fn rank(operand: &Operand) -> (u8, u64) {
    match *operand {
        Operand::Register(reg) => (0, reg.0.into()),
        Operand::Number(bits) => (1, bits),
        _ => (2, 0),
    }
}
