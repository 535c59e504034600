//! Common subexpression elimination; constants are hoisted to the entry.

use std::hash::{Hash, Hasher};

use cranelift_entity::EntityRef;
use halfbyte_ir::flow::{Flow, Node};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use super::uses::pure;
use crate::Ptx;
use crate::vcode::{Terminator, VCode, VInst};

/// Computed value.
struct Known {
    hash: u64,
    /// Block from which on the value is available.
    block: Node,
    /// Index of the instruction.
    at: usize,
    d: Reg,
}

/// Decision about an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    /// Removed, because its value is already computed.
    Goes,
    /// Hoisted to the entry.
    Hoisted,
}

/// Maximum number of constants hoisted to the entry. No thread has more registers, and values that
/// are live in every block cost compile time in each of them.
const MOST_HOISTED: usize = 255;

/// Shares values between instructions if one dominates the other.
pub(super) fn share(code: &mut VCode<Ptx>) {
    let flow = Flow::new(code);
    let entry = Node::new(0);
    let mut known: HashTable<Known> = HashTable::with_capacity(code.insts.len());
    let mut same: FxHashMap<Reg, Reg> = FxHashMap::default();
    let mut fates = vec![Fate::Stays; code.insts.len()];
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
            let is_same = |of: &Known| {
                of.hash == hash
                    && code.vregs.get(of.d.0 as usize) == ty
                    && flow.dominates(of.block, block)
                    && insts.get(of.at).is_some_and(|other| computes_the_same(&other.inst, &inst.inst))
            };
            *fate = match known.find(hash, is_same) {
                Some(of) => {
                    same.insert(d, of.d);
                    Fate::Goes
                }
                None => {
                    known.insert_unique(hash, Known { hash, block, at, d }, |of| of.hash);
                    if is_hoisted {
                        constants.push(inst.clone());
                        Fate::Hoisted
                    } else {
                        Fate::Stays
                    }
                }
            };
        }
    }
    code.retain(|at, _| fates.get(at as usize) == Some(&Fate::Stays));
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

/// Hashes everything but the result. The type of the result is compared separately, because a value
/// may be needed in registers of several types.
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

/// Returns the source operands, with commutative operands in canonical order.
fn sources(inst: &Inst) -> impl Iterator<Item = &Operand> {
    let (first, second) = match inst.operands.get(1..) {
        Some([first, second, ..]) if commutes(inst.opcode) && rank(second) < rank(first) => (Some(second), Some(first)),
        operands => (operands.and_then(<[_]>::first), operands.and_then(|all| all.get(1))),
    };
    first.into_iter().chain(second).chain(inst.operands.iter().skip(3))
}

/// Returns `true` if the first two sources commute.
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

/// Key of an arbitrary total order of operands.
fn rank(operand: &Operand) -> (u8, u64) {
    match *operand {
        Operand::Register(reg) => (0, reg.0.into()),
        Operand::Number(bits) => (1, bits),
        _ => (2, 0),
    }
}
