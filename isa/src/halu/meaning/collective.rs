//! Collective operations of groups and warps. The engine synchronises the participating work items
//! and supplies the results.

use halfbyte_abi::cooperative::{BarrierOp, Reduce, Shuffle, SubgroupOp, SyncOp, Vote};

use super::{Context, f};
use crate::halu::domain::{ControlFlow, Domain, Reader, Write};
use crate::halu::fields::{PT, RZ};
use crate::halu::{Inst, Opcode};
use crate::row::{Address, InstClass, OperandKind};

/// Returns the collective operation of an instruction whose effect is [`ControlFlow::Collective`],
/// or `None` for other instructions.
pub fn collective<D: Domain>(
    inst: &Inst,
    domain: &mut D,
    read: &mut impl Reader<D>,
) -> Option<SyncOp<D::Word, D::Pred>> {
    Context::new(inst, domain, read).sync_op()
}

/// Returns the register write that stores the result of a collective operation, if the instruction
/// has a destination. `number` is the first result, and `answer` is the second, a truth value.
pub fn collective_result(inst: &Inst, [number, answer]: [u64; 2]) -> Option<Write<u32, bool>> {
    use Opcode::*;
    let gpr = || Some(inst.get(f::RD) as u8).filter(|&n| n != RZ).map(|n| Write::Gpr(n, number as u32));
    let pred = |truth: u64| Some(inst.get(f::PU) as u8).filter(|&n| n != PT).map(|n| Write::Pred(n, truth != 0));
    match inst.opcode() {
        BAR_POPC_R | BAR_POPC_I | BAR_POPC_RN | BAR_POPC_IN | SHFL_R | SHFL_I | BALLOT_R | BALLOT_I | ACTIVE => gpr(),
        MATCH_R | MATCH_I | MATCH_64_R | MATCH_64_I | REDUX_R | REDUX_I => gpr(),
        BAR_RED_R | BAR_RED_I | BAR_RED_RN | BAR_RED_IN | VOTE_R | VOTE_I => pred(number),
        ELECT_R | ELECT_I => pred(answer),
        _ => None,
    }
}

/// Returns `true` if an instruction is an atomic operation or another strong access. The lanes of a warp execute such
/// an instruction one after another. No lane continues with the next instruction before the last lane has executed it.
pub fn is_strong_access(inst: &Inst) -> bool {
    is_atomic(inst) || is_strong(inst)
}

/// Returns `true` if an instruction is a strong access that writes a register.
pub fn has_strong_result(inst: &Inst) -> bool {
    let is_without_result = || inst.row().mnemonic.starts_with("ST") || is_atomic(inst) && inst.get(f::RD) as u8 == RZ;
    is_strong_access(inst) && !is_without_result()
}

/// Returns `true` if an instruction is a collective operation. If its guard holds, its effect is
/// [`ControlFlow::Collective`].
pub fn is_collective(inst: &Inst) -> bool {
    matches!(inst.row().mnemonic, "BAR" | "WARPSYNC" | "SHFL" | "VOTE" | "MATCH" | "REDUX" | "ELECT")
}

/// Returns `true` if an instruction is collective, accesses shared memory, or makes a strong access.
pub fn needs_group_execution(inst: &Inst) -> bool {
    is_collective(inst) || matches!(inst.row().mnemonic, "LDS" | "STS") || is_atomic(inst) || is_strong(inst)
}

/// Returns `true` if an instruction may access the part of local memory that the kernel declares.
pub fn may_access_scratch(inst: &Inst) -> bool {
    let is_scratch =
        |kind| matches!(kind, OperandKind::Memory { address: Address::Scratch { .. } | Address::Flat { .. }, .. });
    inst.row().operands.iter().any(|operand| is_scratch(operand.kind))
}

fn is_atomic(inst: &Inst) -> bool {
    matches!(inst.row().mnemonic, "ATOMG" | "ATOMS" | "ATOM")
}

/// Returns `true` for a strong load or store, which may race with the accesses of other work items.
fn is_strong(inst: &Inst) -> bool {
    let row = inst.row();
    // The bits of ORDER hold a comparison in instructions that access no memory.
    let has_order = row.class == InstClass::Memory && row.modifiers.iter().any(|modifier| modifier.field == f::ORDER);
    has_order && inst.get(f::ORDER) != 0
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn meet(&mut self) {
        self.effects.next = ControlFlow::Collective;
    }

    fn sync_op(&mut self) -> Option<SyncOp<D::Word, D::Pred>> {
        use Opcode::*;
        Some(match self.inst.opcode() {
            BAR_SYNC_R | BAR_SYNC_I => self.barrier(false, BarrierOp::Sync),
            BAR_SYNC_RN | BAR_SYNC_IN => self.barrier(true, BarrierOp::Sync),
            BAR_ARV_RN | BAR_ARV_IN => self.barrier(true, BarrierOp::Arrive),
            BAR_POPC_R | BAR_POPC_I => {
                let says = self.pred(f::PP, f::PP_NOT);
                self.barrier(false, BarrierOp::Count(says))
            }
            BAR_POPC_RN | BAR_POPC_IN => {
                let says = self.pred(f::PP, f::PP_NOT);
                self.barrier(true, BarrierOp::Count(says))
            }
            BAR_RED_R | BAR_RED_I => {
                let of = self.asked();
                self.barrier(false, of)
            }
            BAR_RED_RN | BAR_RED_IN => {
                let of = self.asked();
                self.barrier(true, of)
            }
            WARPSYNC_R | WARPSYNC_I => self.exchange(0, SubgroupOp::None),
            SHFL_R | SHFL_I => {
                let mode = match self.get(f::SHFL_MODE) {
                    0 => Shuffle::Index,
                    1 => Shuffle::Up,
                    2 => Shuffle::Down,
                    _ => Shuffle::Xor,
                };
                let [value, by, segment] = [0, 1, 2].map(|i| self.word(i));
                self.exchange(3, SubgroupOp::Shuffle { mode, value, by, segment })
            }
            VOTE_R | VOTE_I => {
                let vote = match self.get(f::VOTE) {
                    0 => Vote::All,
                    1 => Vote::Any,
                    _ => Vote::Uniform,
                };
                self.vote(vote)
            }
            BALLOT_R | BALLOT_I => self.vote(Vote::Ballot),
            ACTIVE => SyncOp::Subgroup { mask: self.d.word(u32::MAX), of: SubgroupOp::Active },
            MATCH_R | MATCH_I => {
                let value = [self.word(0), self.d.word(0)];
                self.exchange(1, SubgroupOp::Match { all: self.flag(f::MATCH), value })
            }
            MATCH_64_R | MATCH_64_I => {
                let value = self.pair(f::RA);
                self.exchange(1, SubgroupOp::Match { all: self.flag(f::MATCH), value })
            }
            REDUX_R | REDUX_I => {
                let signed = self.flag(f::SIGN);
                let reduce = match self.get(f::REDUX) {
                    0 => Reduce::Add,
                    1 => Reduce::Min { signed },
                    2 => Reduce::Max { signed },
                    3 => Reduce::And,
                    4 => Reduce::Or,
                    _ => Reduce::Xor,
                };
                let value = self.word(0);
                self.exchange(1, SubgroupOp::Reduce(reduce, value))
            }
            ELECT_R | ELECT_I => self.exchange(0, SubgroupOp::Elect),
            _ => return None,
        })
    }

    fn barrier(&mut self, counts: bool, of: BarrierOp<D::Pred>) -> SyncOp<D::Word, D::Pred> {
        let id = self.word(0);
        let count = counts.then(|| self.word(1));
        SyncOp::Barrier { id, count, of, aligned: !self.flag(f::UNALIGNED) }
    }

    fn asked(&mut self) -> BarrierOp<D::Pred> {
        let says = self.pred(f::PP, f::PP_NOT);
        if self.flag(f::BAR_REDUCTION) { BarrierOp::Any(says) } else { BarrierOp::All(says) }
    }

    fn vote(&mut self, vote: Vote) -> SyncOp<D::Word, D::Pred> {
        let says = self.pred(f::PP, f::PP_NOT);
        self.exchange(0, SubgroupOp::Vote(vote, says))
    }

    fn exchange(&mut self, mask: usize, of: SubgroupOp<D::Word, D::Pred>) -> SyncOp<D::Word, D::Pred> {
        SyncOp::Subgroup { mask: self.word(mask), of }
    }
}
