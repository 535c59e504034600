//! Collective operations of the threads of a block, and the memory ordering of accesses. The engine
//! brings the threads together and returns the results.

use halfbyte_abi::cooperative::{BarrierOp, MemOrder, Reduce, Scope, Shuffle, Strength, SubgroupOp, SyncOp, Vote};

use super::{Context, Effects, Next, Reader, Type};
use crate::halu::domain::Domain;
use crate::ptx::Opcode;
use crate::ptx::inst::Inst;
use crate::ptx::operand::Operand;
use crate::ptx::types::Token;
use crate::row::InstClass;

/// Returns the collective operation of an instruction whose effect is [`Next::Collective`], or
/// `None` for any other instruction.
pub fn collective<D: Domain>(
    inst: &Inst,
    domain: &mut D,
    read: &mut impl Reader<D>,
) -> Option<SyncOp<D::Word, D::Pred>> {
    let effects = Effects { writes: Default::default(), access: None, next: Next::Fall };
    let mut cx = Context { inst, d: domain, read, effects };
    cx.sync_op()
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    fn sync_op(&mut self) -> Option<SyncOp<D::Word, D::Pred>> {
        use Opcode::*;
        Some(match self.inst.opcode {
            BAR_SYNC | BARRIER_SYNC => self.barrier(0, None, BarrierOp::Sync),
            BAR_SYNC_OF | BARRIER_SYNC_OF => self.barrier(0, Some(1), BarrierOp::Sync),
            BAR_ARRIVE | BARRIER_ARRIVE => self.barrier(0, Some(1), BarrierOp::Arrive),
            BAR_POPC | BARRIER_POPC | BAR_RED | BARRIER_RED => {
                let of = self.reduction(2);
                self.barrier(1, None, of)
            }
            BAR_POPC_OF | BARRIER_POPC_OF | BAR_RED_OF | BARRIER_RED_OF => {
                let of = self.reduction(3);
                self.barrier(1, Some(2), of)
            }
            BAR_WARP => self.exchange(0, SubgroupOp::None),
            SHFL | SHFL_ALONE | SHFL_UNSAID | SHFL_UNSAID_ALONE => {
                let mode = match () {
                    () if self.has(Token::Up) => Shuffle::Up,
                    () if self.has(Token::Down) => Shuffle::Down,
                    () if self.has(Token::Bfly) => Shuffle::Xor,
                    () => Shuffle::Index,
                };
                let [value, by, segment] = [1, 2, 3].map(|i| self.word(i));
                self.exchange_among(4, SubgroupOp::Shuffle { mode, value, by, segment })
            }
            VOTE_SYNC | VOTE_BALLOT | VOTE_UNSAID | VOTE_UNSAID_BALLOT => {
                let vote = match () {
                    () if self.has(Token::All) => Vote::All,
                    () if self.has(Token::Any) => Vote::Any,
                    () if self.has(Token::Uni) => Vote::Uniform,
                    () => Vote::Ballot,
                };
                let says = self.predicate(1);
                self.exchange_among(2, SubgroupOp::Vote(vote, says))
            }
            MATCH_ANY | MATCH_ALL | MATCH_ALL_ALONE => {
                let value = self.value(1);
                let all = self.has(Token::All);
                self.exchange(2, SubgroupOp::Match { all, value })
            }
            REDUX | REDUX_BITS => {
                let signed = self.ty(0) == Type::S32;
                let reduce = match () {
                    () if self.has(Token::Add) => Reduce::Add,
                    () if self.has(Token::Min) => Reduce::Min { signed },
                    () if self.has(Token::Max) => Reduce::Max { signed },
                    () if self.has(Token::And) => Reduce::And,
                    () if self.has(Token::Or) => Reduce::Or,
                    () => Reduce::Xor,
                };
                let value = self.word(1);
                self.exchange(2, SubgroupOp::Reduce(reduce, value))
            }
            REDUX_F32 => {
                let (abs, nan) = (self.has(Token::Abs), self.has(Token::Nan));
                let value = self.word(1);
                self.exchange(2, SubgroupOp::Reduce(Reduce::Extremum { min: self.has(Token::Min), abs, nan }, value))
            }
            ELECT => self.exchange(1, SubgroupOp::Elect),
            ACTIVEMASK => SyncOp::Subgroup { mask: self.d.word(u32::MAX), of: SubgroupOp::Active },
            _ if self.inst.is_warp_level() => {
                SyncOp::Subgroup { mask: self.d.word(u32::MAX), of: SubgroupOp::Collective }
            }
            _ => return None,
        })
    }

    fn barrier(&mut self, id: usize, count: Option<usize>, of: BarrierOp<D::Pred>) -> SyncOp<D::Word, D::Pred> {
        let aligned = self.inst.row().mnemonic == "bar" || self.has(Token::Aligned);
        let id = self.word(id);
        let count = count.map(|i| self.word(i));
        SyncOp::Barrier { id, count, of, aligned }
    }

    fn reduction(&mut self, i: usize) -> BarrierOp<D::Pred> {
        let says = self.predicate(i);
        match () {
            () if self.has(Token::Popc) => BarrierOp::Count(says),
            () if self.has(Token::And) => BarrierOp::All(says),
            () => BarrierOp::Any(says),
        }
    }

    fn exchange(&mut self, mask: usize, of: SubgroupOp<D::Word, D::Pred>) -> SyncOp<D::Word, D::Pred> {
        SyncOp::Subgroup { mask: self.word(mask), of }
    }

    /// Returns a subgroup operation of the lanes in the member mask, which is operand `mask`.
    /// Without a member mask, the lanes that execute the instruction together take part.
    fn exchange_among(&mut self, mask: usize, of: SubgroupOp<D::Word, D::Pred>) -> SyncOp<D::Word, D::Pred> {
        if self.inst.has_no_member_mask() { SyncOp::Converged { of } } else { self.exchange(mask, of) }
    }
}

/// Returns the ordering, scope and size of a strong memory access, or `None` if the access is weak.
pub fn strength(inst: &Inst) -> Option<Strength> {
    // Accesses of local memory are weak, because local memory is private to a thread.
    if inst.row().class != InstClass::Memory || inst.has(Token::Local) {
        return None;
    }
    let has = |token| inst.has(token);
    let is_atomic = matches!(inst.row().mnemonic, "atom" | "red");
    let order = match () {
        () if has(Token::Acquire) => MemOrder::Acquire,
        () if has(Token::Release) => MemOrder::Release,
        () if has(Token::AcquireRelease) && is_atomic => MemOrder::AcqRel,
        () if is_atomic || has(Token::Relaxed) || has(Token::Volatile) => MemOrder::Relaxed,
        () => return None,
    };
    // The default scope of an atomic operation is the device.
    let scope = scope(inst).unwrap_or(if is_atomic { Scope::Device } else { Scope::System });
    let bytes = match inst.ty(0) {
        // An atomic operation updates the two halves independently of each other.
        Type::F16x2 | Type::Bf16x2 if is_atomic => 2,
        ty => ty.bits() / 8,
    };
    Some(Strength { order, scope, bytes })
}

/// Returns the scope of a fence or memory barrier, or `None` if the instruction is neither.
pub fn fence(inst: &Inst) -> Option<Scope> {
    let is_fence = matches!(inst.opcode, Opcode::MEMBAR | Opcode::FENCE_OF_ORDER);
    is_fence.then(|| scope(inst).unwrap_or(Scope::Device))
}

/// Returns the scope that the modifiers name, if any. The scope `.cluster` is that of a block,
/// because a cluster consists of one block.
fn scope(inst: &Inst) -> Option<Scope> {
    match () {
        () if inst.has(Token::Cta) || inst.has(Token::Cluster) => Some(Scope::Group),
        () if inst.has(Token::Gpu) || inst.has(Token::GlobalLevel) => Some(Scope::Device),
        () if inst.has(Token::Sys) => Some(Scope::System),
        () => None,
    }
}

/// Returns all registers that a collective operation writes.
pub fn written_registers(inst: &Inst) -> impl Iterator<Item = crate::ptx::Reg> {
    inst.registers().filter(|(role, _)| *role != crate::row::OperandRole::Use).map(|(_, reg)| reg)
}

/// Returns the result registers of a collective operation. The first register receives a number or
/// a predicate. The second one receives the predicate of a pair such as `d|p`.
pub fn results(inst: &Inst) -> [Option<crate::ptx::Reg>; 2] {
    match inst.operands.first() {
        Some(&Operand::Register(reg))
            if inst.operands_with_rows().next().is_some_and(|(o, _)| o.role == crate::row::OperandRole::Def) =>
        {
            [Some(reg), None]
        }
        Some(&Operand::Pair(pair)) => pair,
        _ => [None; 2],
    }
}

/// Returns `true` if a thread yields after the instruction, because the instruction is a strong access. The lanes of a
/// warp execute such an access one after another, and no lane continues before the last lane has executed it. A lane
/// whose guard is false yields, too, because a guard does not diverge the warp.
pub fn yields(inst: &Inst) -> bool {
    strength(inst).is_some()
}
