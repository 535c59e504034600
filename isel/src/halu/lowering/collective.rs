//! Selection of HALU instructions for collective operations (barriers, shuffles, votes), atomic operations and fences.

use halfbyte_ir::{AtomicAttr, Attr, FenceAttr, Inst, InstData, Kernel, MemOrder, Op, Scope, Type, Value};
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst as Word, Opcode};

use super::super::builder::choice;
use super::super::machine::RegClass;
use super::super::operands::{Index, Pred, Reg, SourceLocation, Src};
use super::memory::{AddressForms, Strength};
use super::{Lowering, context};

const fn scope(scope: Scope) -> u64 {
    match scope {
        Scope::Group => choice!(M_SCOPE, "CTA"),
        Scope::Device => choice!(M_SCOPE, "GPU"),
        Scope::System => choice!(M_SCOPE, "SYS"),
    }
}

/// Returns the encoding of the memory order of a strong access.
fn order(order: MemOrder) -> u64 {
    match (order.acquires(), order.releases()) {
        (true, true) => choice!(M_ATOM_ORDER, "ACQ_REL"),
        (true, false) => choice!(M_ATOM_ORDER, "ACQUIRE"),
        (false, true) => choice!(M_ATOM_ORDER, "RELEASE"),
        (false, false) => 0,
    }
}

/// Opcodes of an atomic operation for each kind of address.
macro_rules! atomic {
    ($uniform:ident $wide:ident $flat:ident $shared:ident) => {
        AddressForms {
            uniform: Opcode::$uniform,
            wide: Opcode::$wide,
            flat: Opcode::$flat,
            shared: Opcode::$shared,
            scratch: None,
        }
    };
}

/// Returns the opcodes of an atomic operation. For an integer operation, also returns the values of
/// the operation field and the sign field.
fn atomic_opcodes(op: Op, ty: Type) -> Option<(AddressForms, Option<[u64; 2]>)> {
    let integer = |change: u64, signed: bool| {
        let forms = match ty.bits() {
            64 => atomic!(ATOMG_U_64 ATOMG_W_64 ATOM_64 ATOMS_64),
            128 => return Some((atomic!(ATOMG_U_128 ATOMG_W_128 ATOM_128 ATOMS_128), None)),
            _ => atomic!(ATOMG_U_32 ATOMG_W_32 ATOM_32 ATOMS_32),
        };
        Some((forms, Some([change, signed.into()])))
    };
    match op {
        Op::AtomicAdd | Op::AtomicSub => integer(choice!(M_ATOM, "ADD"), false),
        Op::AtomicMinS => integer(choice!(M_ATOM, "MIN"), true),
        Op::AtomicMinU => integer(choice!(M_ATOM, "MIN"), false),
        Op::AtomicMaxS => integer(choice!(M_ATOM, "MAX"), true),
        Op::AtomicMaxU => integer(choice!(M_ATOM, "MAX"), false),
        Op::AtomicAnd => integer(choice!(M_ATOM, "AND"), false),
        Op::AtomicOr => integer(choice!(M_ATOM, "OR"), false),
        Op::AtomicXor => integer(choice!(M_ATOM, "XOR"), false),
        Op::AtomicInc => integer(choice!(M_ATOM, "INC"), false),
        Op::AtomicDec => integer(choice!(M_ATOM, "DEC"), false),
        Op::AtomicExchange => integer(choice!(M_ATOM, "EXCH"), false),
        Op::AtomicCompareExchange => {
            let forms = match ty.bits() {
                16 => atomic!(ATOMG_U_CAS_16 ATOMG_W_CAS_16 ATOM_CAS_16 ATOMS_CAS_16),
                64 => atomic!(ATOMG_U_CAS_64 ATOMG_W_CAS_64 ATOM_CAS_64 ATOMS_CAS_64),
                128 => atomic!(ATOMG_U_CAS_128 ATOMG_W_CAS_128 ATOM_CAS_128 ATOMS_CAS_128),
                _ => atomic!(ATOMG_U_CAS_32 ATOMG_W_CAS_32 ATOM_CAS_32 ATOMS_CAS_32),
            };
            Some((forms, None))
        }
        Op::AtomicFadd => {
            let forms = match ty {
                Type::F16 => atomic!(ATOMG_U_F16 ATOMG_W_F16 ATOM_F16 ATOMS_F16),
                Type::BF16 => atomic!(ATOMG_U_BF16 ATOMG_W_BF16 ATOM_BF16 ATOMS_BF16),
                Type::F16X2 => atomic!(ATOMG_U_F16X2 ATOMG_W_F16X2 ATOM_F16X2 ATOMS_F16X2),
                Type::BF16X2 => atomic!(ATOMG_U_BF16X2 ATOMG_W_BF16X2 ATOM_BF16X2 ATOMS_BF16X2),
                Type::F64 => atomic!(ATOMG_U_F64 ATOMG_W_F64 ATOM_F64 ATOMS_F64),
                _ => atomic!(ATOMG_U_F32 ATOMG_W_F32 ATOM_F32 ATOMS_F32),
            };
            Some((forms, None))
        }
        _ => None,
    }
}

/// Returns `true` if the kernel has memory that several items access, which a fence can order.
fn has_shared_memory(kernel: &Kernel) -> bool {
    kernel.insts.values().any(|inst| inst.op.orders_memory() && inst.op != Op::Fence)
        || kernel.arrays.iter().any(|array| array.space == halfbyte_ir::Space::Shared)
}

impl Lowering<'_> {
    /// Returns a value as an immediate if it is constant, else as a register.
    fn number_or_word(&mut self, value: Value) -> Src {
        let src = context::src(self, value);
        match src.place {
            SourceLocation::Const(_) => self.out.in_reg(src),
            _ => src,
        }
    }

    /// Starts an instruction with one operand that is a register or an immediate. Selects the
    /// opcode and sets the operand.
    fn register_or_immediate_form(&mut self, [of_register, of_number]: [Opcode; 2], src: Src) -> Word {
        match src.place {
            SourceLocation::Imm(bits) => Word::new(of_number).with(IMM32, bits.into()),
            SourceLocation::Reg(reg) => {
                self.out.read(R32, reg);
                Word::new(of_register)
            }
            SourceLocation::Const(_) => Word::new(of_register),
        }
    }

    /// Selects a collective operation.
    pub(crate) fn collective(&mut self, inst: Inst) -> Reg {
        use Opcode::*;
        let kernel = self.kernel;
        let InstData { op, ty, attr, .. } = kernel.insts[inst];
        let args = kernel.args(inst);
        match op {
            Op::Barrier | Op::BarrierArrive | Op::BarrierCount | Op::BarrierAll | Op::BarrierAny => {
                self.barrier(op, attr == Attr::Aligned(true), args)
            }
            Op::SubgroupBarrier => {
                let Some(&mask) = args.first() else { return Reg::ZERO };
                let mask = self.number_or_word(mask);
                let word = self.register_or_immediate_form([WARPSYNC_R, WARPSYNC_I], mask);
                self.out.push(word);
                Reg::ZERO
            }
            Op::SubgroupShuffle => self.shuffle(choice!(M_SHFL, "IDX"), args),
            Op::SubgroupShuffleUp => self.shuffle(choice!(M_SHFL, "UP"), args),
            Op::SubgroupShuffleDown => self.shuffle(choice!(M_SHFL, "DOWN"), args),
            Op::SubgroupShuffleXor => self.shuffle(choice!(M_SHFL, "BFLY"), args),
            Op::VoteAll => self.vote(choice!(M_VOTE, "ALL"), args),
            Op::VoteAny => self.vote(choice!(M_VOTE, "ANY"), args),
            Op::VoteUniform => self.vote(choice!(M_VOTE, "EQ"), args),
            Op::Ballot => {
                let word = self.predicate_over_lanes([BALLOT_R, BALLOT_I], args);
                self.out.word(word)
            }
            Op::MatchAny => self.match_any(choice!(M_MATCH, "ANY"), ty, args),
            Op::MatchAll => self.match_any(choice!(M_MATCH, "ALL"), ty, args),
            Op::SubgroupReduceAdd => self.reduce_lanes(choice!(M_REDUX, "SUM"), false, args),
            Op::SubgroupReduceMinS => self.reduce_lanes(choice!(M_REDUX, "MIN"), true, args),
            Op::SubgroupReduceMinU => self.reduce_lanes(choice!(M_REDUX, "MIN"), false, args),
            Op::SubgroupReduceMaxS => self.reduce_lanes(choice!(M_REDUX, "MAX"), true, args),
            Op::SubgroupReduceMaxU => self.reduce_lanes(choice!(M_REDUX, "MAX"), false, args),
            Op::SubgroupReduceAnd => self.reduce_lanes(choice!(M_REDUX, "AND"), false, args),
            Op::SubgroupReduceOr => self.reduce_lanes(choice!(M_REDUX, "OR"), false, args),
            Op::SubgroupReduceXor => self.reduce_lanes(choice!(M_REDUX, "XOR"), false, args),
            Op::Elect => {
                let Some(&mask) = args.first() else { return Reg::ZERO };
                let mask = self.number_or_word(mask);
                let word = self.register_or_immediate_form([ELECT_R, ELECT_I], mask);
                self.predicate_result(word)
            }
            _ => self.out.word(Word::new(ACTIVE)),
        }
    }

    /// Finishes an instruction whose result is a predicate, and returns the predicate.
    fn predicate_result(&mut self, word: Word) -> Reg {
        let Pred { vreg, .. } = self.out.pred(word, PU);
        Reg { vreg, part: 0 }
    }

    fn barrier(&mut self, op: Op, aligned: bool, args: &[Value]) -> Reg {
        use Opcode::*;
        let asks = matches!(op, Op::BarrierCount | Op::BarrierAll | Op::BarrierAny);
        let (says, places) = args.split_at(usize::from(asks).min(args.len()));
        let says = says.first().map(|&says| context::pred(self, says));
        let id = places.first().map(|&id| self.number_or_word(id));
        let count = places.get(1).map(|&count| self.value_or_number_in_reg(count));
        let forms = match (op, count.is_some()) {
            (Op::BarrierArrive, _) => [BAR_ARV_RN, BAR_ARV_IN],
            (Op::BarrierCount, false) => [BAR_POPC_R, BAR_POPC_I],
            (Op::BarrierCount, true) => [BAR_POPC_RN, BAR_POPC_IN],
            (Op::BarrierAll | Op::BarrierAny, false) => [BAR_RED_R, BAR_RED_I],
            (Op::BarrierAll | Op::BarrierAny, true) => [BAR_RED_RN, BAR_RED_IN],
            (_, false) => [BAR_SYNC_R, BAR_SYNC_I],
            (_, true) => [BAR_SYNC_RN, BAR_SYNC_IN],
        };
        // A barrier number of 0 must be encoded as an immediate, not as RZ.
        let id = id.filter(|id| *id != Src::ZERO).unwrap_or(Src::plain(SourceLocation::Imm(0)));
        let mut word = self.register_or_immediate_form(forms, id).with(UNALIGNED, u64::from(!aligned));
        if let Some(count) = count {
            self.out.read(R64, count);
        }
        if let Some(says) = says {
            self.out.read_pred(&mut word, PP, PP_NOT, says);
        }
        match op {
            Op::BarrierCount => self.out.word(word),
            Op::BarrierAll => self.predicate_result(word.with(BAR_REDUCTION, choice!(M_ASKED, "AND"))),
            Op::BarrierAny => self.predicate_result(word.with(BAR_REDUCTION, choice!(M_ASKED, "OR"))),
            _ => {
                self.out.push(word);
                Reg::ZERO
            }
        }
    }

    fn value_or_number_in_reg(&mut self, value: Value) -> Reg {
        let src = context::src(self, value);
        self.out.reg(src)
    }

    fn shuffle(&mut self, mode: u64, args: &[Value]) -> Reg {
        let &[value, by, segment, mask] = args else { return Reg::ZERO };
        let numbers = [by, segment, mask].map(|arg| match context::src(self, arg).place {
            SourceLocation::Imm(bits) => Some(bits),
            SourceLocation::Reg(reg) => (reg == Reg::ZERO).then_some(0),
            SourceLocation::Const(_) => None,
        });
        if let [Some(by), Some(segment), Some(mask)] = numbers {
            let value = self.value_or_number_in_reg(value);
            self.out.read(RA, value);
            // A shuffle ignores all other bits of its distance and of its segment.
            let word = Word::new(Opcode::SHFL_I)
                .with(SHFL_BY, (by & 0x1f).into())
                .with(SHFL_SEGMENT, (segment & 0x1f1f).into());
            return self.out.word(word.with(IMM32, mask.into()).with(SHFL_MODE, mode));
        }
        let sources: Vec<Reg> = args.iter().map(|&arg| self.value_or_number_in_reg(arg)).collect();
        for (field, reg) in [RA, R32, R40, R64].into_iter().zip(sources) {
            self.out.read(field, reg);
        }
        self.out.word(Word::new(Opcode::SHFL_R).with(SHFL_MODE, mode))
    }

    /// Starts an instruction that combines the predicates of the lanes in a member mask.
    fn predicate_over_lanes(&mut self, forms: [Opcode; 2], args: &[Value]) -> Word {
        let &[says, mask] = args else { return Word::new(Opcode::NOP) };
        let says = context::pred(self, says);
        let mask = self.number_or_word(mask);
        let mut word = self.register_or_immediate_form(forms, mask);
        self.out.read_pred(&mut word, PP, PP_NOT, says);
        word
    }

    fn vote(&mut self, vote: u64, args: &[Value]) -> Reg {
        let word = self.predicate_over_lanes([Opcode::VOTE_R, Opcode::VOTE_I], args).with(VOTE, vote);
        self.predicate_result(word)
    }

    fn match_any(&mut self, mode: u64, ty: Type, args: &[Value]) -> Reg {
        let &[value, mask] = args else { return Reg::ZERO };
        let (value, forms) = match ty {
            Type::I64 => (self.value_reg(value), [Opcode::MATCH_64_R, Opcode::MATCH_64_I]),
            _ => (self.value_or_number_in_reg(value), [Opcode::MATCH_R, Opcode::MATCH_I]),
        };
        let mask = self.number_or_word(mask);
        self.out.read(RA, value);
        let word = self.register_or_immediate_form(forms, mask).with(MATCH, mode);
        self.out.word(word)
    }

    fn reduce_lanes(&mut self, of: u64, signed: bool, args: &[Value]) -> Reg {
        let &[value, mask] = args else { return Reg::ZERO };
        let value = self.value_or_number_in_reg(value);
        let mask = self.number_or_word(mask);
        self.out.read(RA, value);
        let word = self
            .register_or_immediate_form([Opcode::REDUX_R, Opcode::REDUX_I], mask)
            .with(REDUX, of)
            .with(SIGN, signed.into());
        self.out.word(word)
    }

    /// Returns the lane index of the item in its warp.
    pub(crate) fn lane_number(&mut self) -> Reg {
        let item = self.out.word(Word::new(Opcode::S2R).with(SREG, choice!(M_SREG, "SR_TID")));
        self.out.read(RA, item);
        self.out.word(Word::new(Opcode::LOP3_RIR).with(IMM32, 31).with(LUT, 0xc0))
    }

    /// Selects a fence. No instruction is needed if the kernel has no shared data.
    pub(crate) fn fence_of(&mut self, fence: FenceAttr) -> Reg {
        if has_shared_memory(self.kernel) {
            let word = Word::new(Opcode::MEMBAR).with(SCOPE, scope(fence.scope));
            self.out.push(word.with(SC, u64::from(fence.order == MemOrder::SeqCst)));
        }
        Reg::ZERO
    }

    /// Selects an atomic operation, or a strong load or store.
    pub(crate) fn atomic_at(&mut self, inst: Inst) -> Reg {
        let kernel = self.kernel;
        let InstData { op, ty, attr, .. } = kernel.insts[inst];
        let Attr::Atomic(AtomicAttr { mem, order: of, scope: among }) = attr else { return Reg::ZERO };
        let (values, address) = kernel.args(inst).split_at(op.row().args.len().saturating_sub(1));
        let Some(&base) = address.first() else { return Reg::ZERO };
        let index = address.get(1).map(|&value| Index::plain(value));
        let Some((forms, fields)) = atomic_opcodes(op, ty) else {
            let is_ordered = of.acquires() || of.releases();
            let strength: Strength =
                [if is_ordered { order(of) } else { choice!(M_LOAD_ORDER, "STRONG") }, scope(among)];
            return match values {
                [value] => self.store_in(ty, mem, *value, (base, index), Some(strength)),
                _ => self.load_in(ty, mem, base, index, Some(strength)),
            };
        };
        let place = self.address(forms, mem, base, index);
        let data: Vec<Reg> = values.iter().map(|&value| self.atomic_operand(op, ty, value)).collect();
        let mut word = self.access(forms, &place, 0).with(ORDER, order(of)).with(SCOPE, scope(among));
        if let Some([change, signed]) = fields {
            word = word.with(ATOM, change).with(ATOM_SIGN, signed);
        }
        for (field, reg) in [R64, R72].into_iter().zip(data) {
            self.out.read(field, reg);
        }
        if kernel.result(inst).is_none_or(|value| self.value_regs[value].is_none()) {
            self.out.push(word);
            return Reg::ZERO;
        }
        let class = match ty.bits() {
            64 => RegClass::Pair,
            128 => RegClass::Quad,
            _ => RegClass::Word,
        };
        Reg::new(self.out.put(word, class, None, 0))
    }

    fn atomic_operand(&mut self, op: Op, ty: Type, value: Value) -> Reg {
        use super::context::rules::Context;
        match (ty.bits(), op) {
            (64, Op::AtomicSub) => {
                let value = self.value_reg(value);
                self.neg_pair(value)
            }
            (64 | 128, _) => self.value_reg(value),
            (_, Op::AtomicSub) => {
                let src = context::src(self, value);
                self.iadd3(src.negated(), Src::ZERO, Src::ZERO)
            }
            _ => self.value_or_number_in_reg(value),
        }
    }
}
