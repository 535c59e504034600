//! What is computed twice of the same operands is computed once; constants are written in the entry.

use std::hash::{Hash, Hasher};

use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use super::flow::{Dominators, pure};
use crate::ptx::{Code, Placed};

/// A value that was computed.
struct Known {
    hash: u64,
    /// The block that it is known from.
    block: u32,
    /// Where it stands: the block, and the number in it.
    place: (u32, usize),
    d: Reg,
}

/// What becomes of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Stays,
    /// Its value is known.
    Goes,
    /// It goes to the entry.
    Rises,
}

/// So many constants are written in the entry: no thread has more registers, and what is live in every block takes its time in
/// each of them.
const MOST_RISEN: usize = 255;

/// Shares values between instructions of which one is on all ways to the other.
pub fn share(code: &mut Code) {
    let dominators = Dominators::of(code);
    let Code { blocks, registers, .. } = code;
    let count = blocks.iter().map(|block| block.insts.len()).sum();
    let mut known: HashTable<Known> = HashTable::with_capacity(count);
    let mut same: FxHashMap<Reg, Reg> = FxHashMap::default();
    // Of the instructions of the blocks in that order.
    let mut fates = Vec::with_capacity(count);
    let mut risen = 0;
    for &number in &dominators.order {
        for at in 0..blocks.get(number as usize).map_or(0, |block| block.insts.len()) {
            fates.push(Fate::Stays);
            if !same.is_empty()
                && let Some(placed) = blocks.get_mut(number as usize).and_then(|block| block.insts.get_mut(at))
            {
                placed.inst.rename(|_, reg| same.get(&reg).copied().unwrap_or(reg));
            }
            let inst = |(block, at): (u32, usize)| Some(&blocks.get(block as usize)?.insts.get(at)?.inst);
            let Some((inst_at, d)) = inst((number, at)).and_then(|inst| Some((inst, pure(inst)?))) else { continue };
            let rises = risen < MOST_RISEN && is_constant(inst_at);
            let block = if rises { 0 } else { number };
            let (ty, hash) = (registers.get(d.0 as usize), hash(inst_at));
            let is_same = |of: &Known| {
                of.hash == hash
                    && registers.get(of.d.0 as usize) == ty
                    && dominators.dominates(of.block, block)
                    && inst(of.place).is_some_and(|other| computes_the_same(other, inst_at))
            };
            let fate = match known.find(hash, is_same) {
                Some(of) => {
                    same.insert(d, of.d);
                    Fate::Goes
                }
                None => {
                    known.insert_unique(hash, Known { hash, block, place: (number, at), d }, |of| of.hash);
                    risen += usize::from(rises);
                    if rises { Fate::Rises } else { Fate::Stays }
                }
            };
            fates.last_mut().into_iter().for_each(|last| *last = fate);
        }
    }
    let mut fates = fates.into_iter();
    let mut constants: Vec<Placed> = Vec::new();
    for &number in &dominators.order {
        let Some(block) = blocks.get_mut(number as usize) else { continue };
        let gone = block.insts.extract_if(.., |placed| match fates.next() {
            Some(Fate::Rises) => {
                constants.push(placed.clone());
                true
            }
            fate => fate == Some(Fate::Goes),
        });
        gone.for_each(drop);
    }
    if let Some(entry) = blocks.first_mut() {
        entry.insts.splice(0..0, constants);
    }
    if same.is_empty() {
        return;
    }
    for block in blocks {
        block.terminator.registers_mut(|reg| *reg = same.get(reg).copied().unwrap_or(*reg));
    }
}

fn is_constant(inst: &Inst) -> bool {
    inst.opcode == Opcode::MOV && matches!(inst.operands.get(1), Some(Operand::Number(_)))
}

/// All but the result, of which the type counts too: a value may be wanted in registers of several types.
fn hash(inst: &Inst) -> u64 {
    let mut hasher = FxHasher::default();
    inst.opcode.hash(&mut hasher);
    inst.words.hash(&mut hasher);
    sources(inst).for_each(|source| source.hash(&mut hasher));
    hasher.finish()
}

fn computes_the_same(a: &Inst, b: &Inst) -> bool {
    a.opcode == b.opcode && a.words == b.words && sources(a).eq(sources(b))
}

/// What is read, in an order of its own where the order makes no difference.
fn sources(inst: &Inst) -> impl Iterator<Item = &Operand> {
    let (first, second) = match inst.operands.get(1..) {
        Some([first, second, ..]) if commutes(inst.opcode) && rank(second) < rank(first) => (Some(second), Some(first)),
        operands => (operands.and_then(<[_]>::first), operands.and_then(|all| all.get(1))),
    };
    first.into_iter().chain(second).chain(inst.operands.iter().skip(3))
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
