//! Import of barriers, warp-level exchanges, fences, and atomic operations.

use halfbyte_abi::cooperative::Strength;
use halfbyte_ir::{AtomicAttr, Attr, FenceAttr, IntCC, MemOrder, Op, Type, Value};
use halfbyte_isa::ptx::meaning::{fence, results, strength};
use halfbyte_isa::ptx::types::{Token, TypeKind};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Reg};

use crate::address::Address;
use crate::builder::Import;
use crate::types::{integer, of_ptx};

impl Import<'_> {
    /// Imports a collective operation or a fence. Returns `false` for other instructions.
    pub(crate) fn collective(&mut self, inst: &Inst) -> bool {
        use Opcode::*;
        match inst.opcode {
            BAR_SYNC | BARRIER_SYNC => self.barrier(inst, Op::Barrier, None, 0, None),
            BAR_SYNC_OF | BARRIER_SYNC_OF => self.barrier(inst, Op::Barrier, None, 0, Some(1)),
            BAR_ARRIVE | BARRIER_ARRIVE => self.barrier(inst, Op::BarrierArrive, None, 0, Some(1)),
            BAR_POPC | BARRIER_POPC => self.barrier(inst, Op::BarrierCount, Some(2), 1, None),
            BAR_POPC_OF | BARRIER_POPC_OF => self.barrier(inst, Op::BarrierCount, Some(3), 1, Some(2)),
            BAR_RED | BARRIER_RED => self.barrier(inst, barrier_reduction(inst), Some(2), 1, None),
            BAR_RED_OF | BARRIER_RED_OF => self.barrier(inst, barrier_reduction(inst), Some(3), 1, Some(2)),
            BAR_WARP => {
                let mask = self.operand(inst, 0, Type::I32);
                self.code.builder.inst(Op::SubgroupBarrier, Type::I32, Attr::None, &[mask]);
            }
            SHFL | SHFL_ALONE | SHFL_UNSAID | SHFL_UNSAID_ALONE => self.shuffle(inst),
            VOTE_SYNC | VOTE_BALLOT | VOTE_UNSAID | VOTE_UNSAID_BALLOT => {
                let op = match () {
                    () if inst.has(Token::All) => Op::VoteAll,
                    () if inst.has(Token::Any) => Op::VoteAny,
                    () if inst.has(Token::Uni) => Op::VoteUniform,
                    () => Op::Ballot,
                };
                let args = [self.operand(inst, 1, Type::I1), self.mask(inst, 2)];
                let value = self.code.op(op, Type::I32, &args);
                self.define_results(inst, value, None);
            }
            MATCH_ANY | MATCH_ALL | MATCH_ALL_ALONE => {
                let ty = integer(inst.ty(0).bits());
                let args = [self.operand(inst, 1, ty), self.operand(inst, 2, Type::I32)];
                let op = if inst.has(Token::All) { Op::MatchAll } else { Op::MatchAny };
                let value = self.code.op(op, ty, &args);
                let zero = self.code.constant(Type::I32, 0);
                let is_any = self.code.builder.icmp(IntCC::Ne, Type::I32, value, zero);
                self.define_results(inst, value, Some(is_any));
            }
            REDUX | REDUX_BITS => {
                let signed = inst.ty(0).is_signed() && inst.ty(0).kind() == TypeKind::Integer;
                let op = match () {
                    () if inst.has(Token::Add) => Op::SubgroupReduceAdd,
                    () if inst.has(Token::Min) && signed => Op::SubgroupReduceMinS,
                    () if inst.has(Token::Min) => Op::SubgroupReduceMinU,
                    () if inst.has(Token::Max) && signed => Op::SubgroupReduceMaxS,
                    () if inst.has(Token::Max) => Op::SubgroupReduceMaxU,
                    () if inst.has(Token::And) => Op::SubgroupReduceAnd,
                    () if inst.has(Token::Or) => Op::SubgroupReduceOr,
                    () => Op::SubgroupReduceXor,
                };
                let args = [1, 2].map(|i| self.operand(inst, i, Type::I32));
                let value = self.code.op(op, Type::I32, &args);
                self.define_results(inst, value, None);
            }
            ELECT => {
                let mask = self.operand(inst, 1, Type::I32);
                let is_elected = self.code.op(Op::Elect, Type::I32, &[mask]);
                let leader = self.code.op(Op::Ctz, Type::I32, &[mask]);
                self.define_results(inst, leader, Some(is_elected));
            }
            ACTIVEMASK => {
                let value = self.code.builder.here(Op::ActiveMask);
                self.define_results(inst, value, None);
            }
            MEMBAR | FENCE_OF_ORDER => {
                let order = match () {
                    () if inst.opcode == MEMBAR || inst.has(Token::SequentiallyConsistent) => MemOrder::SeqCst,
                    () if inst.has(Token::Acquire) => MemOrder::Acquire,
                    () if inst.has(Token::Release) => MemOrder::Release,
                    () => MemOrder::AcqRel,
                };
                let scope = fence(inst).unwrap_or_default();
                self.code.builder.inst(Op::Fence, Type::I32, Attr::Fence(FenceAttr { order, scope }), &[]);
            }
            // The IR does not distinguish the memory proxies of PTX, so a proxy fence has no effect.
            FENCE_PROXY | FENCE_PROXY_ASYNC => {}
            _ => return false,
        }
        true
    }

    /// Sets the registers that receive the results of a collective operation. `answer` is the
    /// second result, a truth value.
    fn define_results(&mut self, inst: &Inst, value: Value, answer: Option<Value>) {
        let [first, second] = results(inst);
        // If the destination is a pair of registers, the first one receives the value. The text may omit it.
        if let Some(reg) = first {
            self.define(reg, value);
        }
        if let (Some(reg), Some(answer)) = (second, answer) {
            self.define(reg, answer);
        }
    }

    /// Emits a barrier. `says`, `id` and `count` are the indices of the operands with the
    /// predicate, the barrier number and the thread count.
    fn barrier(&mut self, inst: &Inst, op: Op, says: Option<usize>, id: usize, count: Option<usize>) {
        let aligned = inst.row().mnemonic == "bar" || inst.has(Token::Aligned);
        let mut args: Vec<Value> = says.map(|i| self.operand(inst, i, Type::I1)).into_iter().collect();
        let is_first = self.known(inst, id) == Some(0);
        if count.is_some() || !is_first {
            args.push(self.operand(inst, id, Type::I32));
        }
        args.extend(count.map(|i| self.operand(inst, i, Type::I32)));
        let made = self.code.builder.inst(op, Type::I32, Attr::Aligned(aligned), &args);
        if let Some(value) = self.code.builder.kernel().result(made) {
            self.define_results(inst, value, None);
        }
    }

    /// Returns the member mask: operand `i`, or the mask of the active lanes if the instruction has no such operand.
    fn mask(&mut self, inst: &Inst, i: usize) -> Value {
        if inst.has_no_member_mask() {
            self.code.builder.here(Op::ActiveMask)
        } else {
            self.operand(inst, i, Type::I32)
        }
    }

    fn shuffle(&mut self, inst: &Inst) {
        let op = match () {
            () if inst.has(Token::Up) => Op::SubgroupShuffleUp,
            () if inst.has(Token::Down) => Op::SubgroupShuffleDown,
            () if inst.has(Token::Bfly) => Op::SubgroupShuffleXor,
            () => Op::SubgroupShuffle,
        };
        let value = match inst.operands.get(1) {
            Some(&Operand::Register(reg)) => self.register(reg),
            _ => self.operand(inst, 1, Type::I32),
        };
        let ty = self.code.ty(value);
        let is_word = ty.bits() == 32 && !ty.is_mask() && ty != Type::PTR;
        let (value, ty) = if is_word { (value, ty) } else { (self.convert(value, Type::I32), Type::I32) };
        let [by, segment] = [2, 3].map(|i| self.operand(inst, i, Type::I32));
        let mask = self.mask(inst, 4);
        let given = self.code.op(op, ty, &[value, by, segment, mask]);
        let answer = results(inst)[1].map(|_| self.is_within(op, by, segment));
        self.define_results(inst, given, answer);
    }

    /// Emits the test of whether the source lane of a shuffle is in the segment of the current lane.
    fn is_within(&mut self, op: Op, by: Value, segment: Value) -> Value {
        let lane = self.code.builder.here(Op::LaneId);
        let number = |import: &mut Self, number: u64| import.code.constant(Type::I32, number);
        let two = |import: &mut Self, op: Op, a: Value, b: Value| import.code.op(op, Type::I32, &[a, b]);
        let lanes = number(self, 31);
        let eight = number(self, 8);
        let by = two(self, Op::And, by, lanes);
        let clamp = two(self, Op::And, segment, lanes);
        let kept = two(self, Op::ShrU, segment, eight);
        let kept = two(self, Op::And, kept, lanes);
        let free = two(self, Op::Xor, kept, lanes);
        let least = two(self, Op::And, lane, kept);
        let open = two(self, Op::And, clamp, free);
        let most = two(self, Op::Or, least, open);
        let (from, cc) = match op {
            Op::SubgroupShuffleUp => (two(self, Op::Sub, lane, by), IntCC::GeS),
            Op::SubgroupShuffleDown => (two(self, Op::Add, lane, by), IntCC::LeS),
            Op::SubgroupShuffleXor => (two(self, Op::Xor, lane, by), IntCC::LeS),
            _ => {
                let free = two(self, Op::And, by, free);
                (two(self, Op::Or, least, free), IntCC::LeS)
            }
        };
        self.code.builder.icmp(cc, Type::I32, from, most)
    }

    /// Imports an atomic operation.
    pub(crate) fn atomic(&mut self, inst: &Inst) {
        use Opcode::*;
        let is_signed = inst.ty(0).is_signed() && inst.ty(0).kind() == TypeKind::Integer;
        let is_float = matches!(inst.ty(0).kind(), TypeKind::Float | TypeKind::Packed);
        let op = match inst.opcode {
            ATOM_ADD | ATOM_ADD_HALF | RED_ADD | RED_ADD_HALF if is_float => Op::AtomicFadd,
            ATOM_ADD | RED_ADD => Op::AtomicAdd,
            ATOM_MINMAX | RED_MINMAX => match (inst.has(Token::Min), is_signed) {
                (true, true) => Op::AtomicMinS,
                (true, false) => Op::AtomicMinU,
                (false, true) => Op::AtomicMaxS,
                (false, false) => Op::AtomicMaxU,
            },
            ATOM_COUNT | RED_COUNT => {
                if inst.has(Token::Inc) {
                    Op::AtomicInc
                } else {
                    Op::AtomicDec
                }
            }
            ATOM_BITS | RED_BITS => match () {
                () if inst.has(Token::And) => Op::AtomicAnd,
                () if inst.has(Token::Or) => Op::AtomicOr,
                () => Op::AtomicXor,
            },
            ATOM_EXCH | ATOM_EXCH_B128 => Op::AtomicExchange,
            ATOM_CAS | ATOM_CAS_B128 => Op::AtomicCompareExchange,
            ATOM_VECTOR | ATOM_VECTOR_HALF | RED_VECTOR | RED_VECTOR_HALF if inst.has(Token::Add) => {
                return self.atomic_sums(inst);
            }
            _ => return self.atomic_loops(inst),
        };
        let ty = match inst.ty(0).bits() {
            128 => Type::I8X16,
            _ if is_float => of_ptx(inst.ty(0)).unwrap_or(Type::F32),
            bits => integer(bits),
        };
        let first = if inst.row().mnemonic == "atom" { 2 } else { 1 };
        let mut args: Vec<Value> = (first..inst.operands.len()).map(|i| self.atomic_operand(inst, i, ty)).collect();
        let Some(address) = self.access_address(inst) else { return };
        let Some(mem) = self.mem(&address, 0, ty.bytes()) else { return };
        args.push(address.base);
        args.extend(address.index);
        let Some(Strength { order, scope, .. }) = strength(inst) else { return };
        let old = self.code.builder.value(op, ty, Attr::Atomic(AtomicAttr { mem, order, scope }), &args);
        match inst.operands.first() {
            // The result of a 128-bit operation is written to two registers.
            Some(Operand::Vector(halves)) if first == 2 => {
                for (number, half) in (0..).zip(halves.iter()) {
                    let part = self.code.builder.lane(Op::Split, Type::I64, &[old], number);
                    half.into_iter().for_each(|reg| self.define(reg, part));
                }
            }
            _ if first == 2 => self.result(inst, old),
            _ => {}
        }
    }

    fn atomic_operand(&mut self, inst: &Inst, i: usize, ty: Type) -> Value {
        let Some(Operand::Vector(halves)) = inst.operands.get(i) else { return self.operand(inst, i, ty) };
        let halves: Vec<Value> = halves.iter().flatten().map(|half| self.register(half)).collect();
        let halves: Vec<Value> = halves.into_iter().map(|half| self.convert(half, Type::I64)).collect();
        self.code.op(Op::Concat, ty, &halves)
    }
}

impl Import<'_> {
    /// Returns the address of an atomic operation on several adjacent elements, which must be
    /// aligned to `bytes`, their total size. Reports an error if the alignment is not proved.
    pub(crate) fn place_of_all(&mut self, inst: &Inst, bytes: u32) -> Option<Address> {
        let address = self.access_address(inst)?;
        if address.known_align < bytes {
            self.refuse(
                "an atomic operation on several elements whose alignment is not proved has no counterpart in the IR",
                "an address that is a multiple of the access size, or direct execution with `--target ptx`",
            );
            return None;
        }
        Some(address)
    }

    /// Emits a separate atomic sum for each of several adjacent elements.
    fn atomic_sums(&mut self, inst: &Inst) {
        let (into, added) = elements(inst);
        let Some(ty) = of_ptx(inst.ty(0)) else { return };
        let Some(address) = self.place_of_all(inst, ty.bytes() * added.len() as u32) else { return };
        let Some(Strength { order, scope, .. }) = strength(inst) else { return };
        let mut into = into.into_iter();
        for (number, reg) in (0..).zip(&added) {
            let (Some(mem), Some(reg)) = (self.mem(&address, number * ty.bytes(), ty.bytes()), *reg) else { return };
            let value = self.register(reg);
            let value = self.convert(value, ty);
            let args: Vec<Value> = [value, address.base].into_iter().chain(address.index).collect();
            let attr = Attr::Atomic(AtomicAttr { mem, order, scope });
            let old = self.code.builder.value(Op::AtomicFadd, ty, attr, &args);
            if let Some(Some(to)) = into.next() {
                self.define(to, old);
            }
        }
    }
}

/// Returns the result registers and the operand registers of an atomic operation on several elements.
pub(crate) fn elements(inst: &Inst) -> (Vec<Option<Reg>>, Vec<Option<Reg>>) {
    let vector = |i: usize| match inst.operands.get(i) {
        Some(Operand::Vector(regs)) => regs.iter().collect(),
        _ => Vec::new(),
    };
    if inst.row().mnemonic == "atom" { (vector(0), vector(2)) } else { (Vec::new(), vector(1)) }
}

/// Returns the op of a barrier reduction.
fn barrier_reduction(inst: &Inst) -> Op {
    if inst.has(Token::And) { Op::BarrierAll } else { Op::BarrierAny }
}
