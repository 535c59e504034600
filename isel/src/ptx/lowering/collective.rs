//! Selection of PTX instructions for collective operations (barriers, shuffles, votes), atomic operations and fences.

use halfbyte_ir::{AtomicAttr, Attr, FenceAttr, Inst, InstData, MemOrder, Op, Scope, Type, Value};
use halfbyte_isa::ptx::row::OperandKind;
use halfbyte_isa::ptx::types::{Token, Type as RegType};
use halfbyte_isa::ptx::{self, Opcode, Operand};

use super::super::operands::{Index, Pred, Reg};
use super::{Lowering, context};

const B32: Token = Token::Type(RegType::B32);
const U32: Token = Token::Type(RegType::U32);
const PRED: Token = Token::Type(RegType::Pred);

fn scope(scope: Scope) -> Token {
    match scope {
        Scope::Group => Token::Cta,
        Scope::Device => Token::Gpu,
        Scope::System => Token::Sys,
    }
}

fn order(order: MemOrder) -> Token {
    match order {
        MemOrder::Relaxed => Token::Relaxed,
        MemOrder::Acquire => Token::Acquire,
        MemOrder::Release => Token::Release,
        MemOrder::AcqRel => Token::AcquireRelease,
        MemOrder::SeqCst => Token::SequentiallyConsistent,
    }
}

/// PTX instructions of an atomic operation.
struct AtomicInstruction {
    atom: Opcode,
    /// Opcode of the variant without a result (`red`), if there is one.
    red: Option<Opcode>,
    words: &'static [Token],
    ty: RegType,
}

fn does(op: Op, ty: Type) -> Option<AtomicInstruction> {
    use Opcode::ATOM_MINMAX;
    use Opcode::{ATOM_ADD, ATOM_ADD_HALF, ATOM_BITS, ATOM_CAS, ATOM_CAS_B128, ATOM_COUNT, ATOM_EXCH, ATOM_EXCH_B128};
    use Opcode::{RED_ADD, RED_ADD_HALF, RED_BITS, RED_COUNT, RED_MINMAX};
    use RegType::{B16, B64, B128, Bf16, Bf16x2, F16, F16x2, F32, F64, S32, S64, U64};
    let wide = ty.bits() == 64;
    let of = |atom, red, words: &'static [Token], [narrow, broad]: [RegType; 2]| {
        Some(AtomicInstruction { atom, red, words, ty: if wide { broad } else { narrow } })
    };
    let (unsigned, signed, bits) = ([RegType::U32, U64], [S32, S64], [RegType::B32, B64]);
    match op {
        Op::AtomicAdd | Op::AtomicSub => of(ATOM_ADD, Some(RED_ADD), &[Token::Add], unsigned),
        Op::AtomicMinS => of(ATOM_MINMAX, Some(RED_MINMAX), &[Token::Min], signed),
        Op::AtomicMinU => of(ATOM_MINMAX, Some(RED_MINMAX), &[Token::Min], unsigned),
        Op::AtomicMaxS => of(ATOM_MINMAX, Some(RED_MINMAX), &[Token::Max], signed),
        Op::AtomicMaxU => of(ATOM_MINMAX, Some(RED_MINMAX), &[Token::Max], unsigned),
        Op::AtomicAnd => of(ATOM_BITS, Some(RED_BITS), &[Token::And], bits),
        Op::AtomicOr => of(ATOM_BITS, Some(RED_BITS), &[Token::Or], bits),
        Op::AtomicXor => of(ATOM_BITS, Some(RED_BITS), &[Token::Xor], bits),
        Op::AtomicInc => of(ATOM_COUNT, Some(RED_COUNT), &[Token::Inc], unsigned),
        Op::AtomicDec => of(ATOM_COUNT, Some(RED_COUNT), &[Token::Dec], unsigned),
        Op::AtomicExchange if ty.bits() == 128 => of(ATOM_EXCH_B128, None, &[Token::Exch], [B128; 2]),
        Op::AtomicExchange => of(ATOM_EXCH, None, &[Token::Exch], bits),
        Op::AtomicCompareExchange if ty.bits() == 128 => of(ATOM_CAS_B128, None, &[Token::Cas], [B128; 2]),
        Op::AtomicCompareExchange if ty == Type::I16 => of(ATOM_CAS, None, &[Token::Cas], [B16; 2]),
        Op::AtomicCompareExchange => of(ATOM_CAS, None, &[Token::Cas], bits),
        Op::AtomicFadd => match ty {
            Type::F32 | Type::F64 => of(ATOM_ADD, Some(RED_ADD), &[Token::Add], [F32, F64]),
            _ => {
                let of_type = match ty {
                    Type::F16 => F16,
                    Type::BF16 => Bf16,
                    Type::F16X2 => F16x2,
                    _ => Bf16x2,
                };
                of(ATOM_ADD_HALF, Some(RED_ADD_HALF), &[Token::Add, Token::Noftz], [of_type; 2])
            }
        },
        _ => None,
    }
}

impl Lowering<'_> {
    /// Returns an i1 value as a predicate operand, possibly inverted.
    fn predicate_operand(&mut self, value: Value) -> Operand {
        match context::pred(self, value) {
            Pred { reg: Some(reg), not: false } => Operand::Register(reg),
            Pred { reg: Some(reg), not: true } => Operand::Not(reg),
            Pred { reg: None, not } => {
                let truth = Operand::Number((!not).into());
                Operand::Register(self.out.define(RegType::Pred, Opcode::MOV, &[PRED], &[truth]))
            }
        }
    }

    fn number_or_word(&mut self, value: Value) -> Operand {
        context::src(self, value).into()
    }

    /// Selects a collective operation.
    pub(crate) fn collective(&mut self, inst: Inst) -> Reg {
        let kernel = self.kernel;
        let InstData { op, ty, attr, .. } = kernel.insts[inst];
        let args = kernel.args(inst);
        match op {
            Op::Barrier | Op::BarrierArrive | Op::BarrierCount | Op::BarrierAll | Op::BarrierAny => {
                self.barrier(op, attr == Attr::Aligned(true), args)
            }
            Op::SubgroupBarrier => {
                let mask = self.words_of(args);
                self.out.push(Opcode::BAR_WARP, &[Token::Warp, Token::Sync], &mask);
                Reg::NONE
            }
            Op::SubgroupShuffle => self.shuffle(Token::Indexed, args),
            Op::SubgroupShuffleUp => self.shuffle(Token::Up, args),
            Op::SubgroupShuffleDown => self.shuffle(Token::Down, args),
            Op::SubgroupShuffleXor => self.shuffle(Token::Bfly, args),
            Op::VoteAll => self.vote(Token::All, args),
            Op::VoteAny => self.vote(Token::Any, args),
            Op::VoteUniform => self.vote(Token::Uni, args),
            Op::Ballot => {
                let operands = self.vote_operands(args);
                Reg::new(self.out.word(Opcode::VOTE_BALLOT, &[Token::Sync, Token::Ballot, B32], &operands))
            }
            Op::MatchAny => self.alike(Opcode::MATCH_ANY, Token::Any, ty, args),
            Op::MatchAll => self.alike(Opcode::MATCH_ALL_ALONE, Token::All, ty, args),
            Op::SubgroupReduceAdd => self.reduce_lanes(Token::Add, RegType::U32, args),
            Op::SubgroupReduceMinS => self.reduce_lanes(Token::Min, RegType::S32, args),
            Op::SubgroupReduceMinU => self.reduce_lanes(Token::Min, RegType::U32, args),
            Op::SubgroupReduceMaxS => self.reduce_lanes(Token::Max, RegType::S32, args),
            Op::SubgroupReduceMaxU => self.reduce_lanes(Token::Max, RegType::U32, args),
            Op::SubgroupReduceAnd => self.reduce_lanes(Token::And, RegType::B32, args),
            Op::SubgroupReduceOr => self.reduce_lanes(Token::Or, RegType::B32, args),
            Op::SubgroupReduceXor => self.reduce_lanes(Token::Xor, RegType::B32, args),
            Op::Elect => {
                let answer = self.out.reg(RegType::Pred);
                let mask = self.words_of(args);
                let results = Operand::Pair([None, Some(answer)]);
                self.out.push(Opcode::ELECT, &[Token::Sync], &[&[results], mask.as_slice()].concat());
                Reg::new(answer)
            }
            _ => Reg::new(self.out.word(Opcode::ACTIVEMASK, &[B32], &[])),
        }
    }

    fn words_of(&mut self, args: &[Value]) -> Vec<Operand> {
        args.iter().map(|&arg| self.number_or_word(arg)).collect()
    }

    /// Returns the operands of a vote: the predicate, and then the words, such as the member mask.
    fn vote_operands(&mut self, args: &[Value]) -> Vec<Operand> {
        let Some((&says, rest)) = args.split_first() else { return Vec::new() };
        let says = self.predicate_operand(says);
        [vec![says], self.words_of(rest)].concat()
    }

    fn barrier(&mut self, op: Op, aligned: bool, args: &[Value]) -> Reg {
        use Opcode::{BAR_ARRIVE, BAR_POPC, BAR_POPC_OF, BAR_RED, BAR_RED_OF, BAR_SYNC, BAR_SYNC_OF};
        use Opcode::{BARRIER_ARRIVE, BARRIER_POPC, BARRIER_POPC_OF, BARRIER_RED, BARRIER_RED_OF};
        use Opcode::{BARRIER_SYNC, BARRIER_SYNC_OF};
        let asks = matches!(op, Op::BarrierCount | Op::BarrierAll | Op::BarrierAny);
        let (says, places) = args.split_at(usize::from(asks).min(args.len()));
        let mut operands = self.words_of(places);
        if operands.is_empty() {
            operands.push(Operand::Number(0));
        }
        // PTX rejects an invalid barrier number or thread count as an immediate. In a register, the
        // number makes the kernel trap when it executes the barrier.
        let kinds = [OperandKind::BarrierId, OperandKind::ThreadCount { zero: op != Op::BarrierArrive }];
        for ((operand, kind), &place) in operands.iter_mut().zip(kinds).zip(places) {
            if matches!(operand, Operand::Number(bits) if !kind.is_allowed_in_text(*bits)) {
                *operand = Operand::Register(self.value_reg(place).word(0));
            }
        }
        let counts = operands.len() > 1;
        if let Some(&says) = says.first() {
            operands.push(self.predicate_operand(says));
        }
        let pick = |[of_all, of_some]: [[Opcode; 2]; 2]| {
            let [bar, barrier] = if counts { of_some } else { of_all };
            if aligned { bar } else { barrier }
        };
        match op {
            Op::BarrierArrive => {
                let opcode = pick([[BAR_ARRIVE, BARRIER_ARRIVE]; 2]);
                self.out.push(opcode, &[Token::Arrive], &operands);
                Reg::NONE
            }
            Op::BarrierCount => {
                let opcode = pick([[BAR_POPC, BARRIER_POPC], [BAR_POPC_OF, BARRIER_POPC_OF]]);
                Reg::new(self.out.word(opcode, &[Token::Red, Token::Popc, U32], &operands))
            }
            Op::BarrierAll | Op::BarrierAny => {
                let opcode = pick([[BAR_RED, BARRIER_RED], [BAR_RED_OF, BARRIER_RED_OF]]);
                let reduction = if op == Op::BarrierAll { Token::And } else { Token::Or };
                Reg::new(self.out.define(RegType::Pred, opcode, &[Token::Red, reduction, PRED], &operands))
            }
            _ => {
                let opcode = pick([[BAR_SYNC, BARRIER_SYNC], [BAR_SYNC_OF, BARRIER_SYNC_OF]]);
                self.out.push(opcode, &[Token::Sync], &operands);
                Reg::NONE
            }
        }
    }

    fn shuffle(&mut self, mode: Token, args: &[Value]) -> Reg {
        let Some((&value, rest)) = args.split_first() else { return Reg::NONE };
        let value = Operand::Register(self.value_reg(value).word(0));
        let operands = [vec![value], self.words_of(rest)].concat();
        Reg::new(self.out.word(Opcode::SHFL_ALONE, &[Token::Sync, mode, B32], &operands))
    }

    fn vote(&mut self, vote: Token, args: &[Value]) -> Reg {
        let operands = self.vote_operands(args);
        Reg::new(self.out.define(RegType::Pred, Opcode::VOTE_SYNC, &[Token::Sync, vote, PRED], &operands))
    }

    fn alike(&mut self, opcode: Opcode, mode: Token, ty: Type, args: &[Value]) -> Reg {
        let Some((&value, rest)) = args.split_first() else { return Reg::NONE };
        let (value, of) = match ty {
            Type::I64 => {
                let pair = self.value_reg(value);
                (Operand::Register(self.whole(pair)), RegType::B64)
            }
            _ => (self.number_or_word(value), RegType::B32),
        };
        let operands = [vec![value], self.words_of(rest)].concat();
        Reg::new(self.out.word(opcode, &[mode, Token::Sync, Token::Type(of)], &operands))
    }

    fn reduce_lanes(&mut self, of: Token, ty: RegType, args: &[Value]) -> Reg {
        let operands = self.words_of(args);
        let opcode = if ty == RegType::B32 { Opcode::REDUX_BITS } else { Opcode::REDUX };
        Reg::new(self.out.word(opcode, &[Token::Sync, of, Token::Type(ty)], &operands))
    }

    pub(crate) fn fence_of(&mut self, fence: FenceAttr) -> Reg {
        self.out.push(Opcode::FENCE_OF_ORDER, &[order(fence.order), scope(fence.scope)], &[]);
        Reg::NONE
    }

    /// Selects an atomic operation, or a strong load or store.
    pub(crate) fn atomic_at(&mut self, inst: Inst) -> Reg {
        let kernel = self.kernel;
        let InstData { op, ty, attr, .. } = kernel.insts[inst];
        let Attr::Atomic(AtomicAttr { mem, order: of, scope: among }) = attr else { return Reg::NONE };
        let (values, address) = kernel.args(inst).split_at(op.row().args.len().saturating_sub(1));
        let Some(&base) = address.first() else { return Reg::NONE };
        let index = address.get(1).map(|&value| Index { value, factor: 1, plus: 0 });
        let mut data: Vec<Operand> = Vec::new();
        let does = does(op, ty);
        for &value in values {
            let value = self.atomic_operand(ty, does.as_ref().map(|does| does.ty), value);
            let negated = if op == Op::AtomicSub { self.negated(ty, value) } else { value };
            data.push(negated);
        }
        let place = self.address(mem, base, index);
        let at = self.operand(place, 0);
        let space = self.space(base);
        let Some(AtomicInstruction { atom, red, words, ty: of_type }) = does else {
            return self.ordered(op, ty, [order(of), scope(among)], space, at, data);
        };
        let is_default = (of, among) == Default::default();
        let ordering: &[Token] = if is_default { &[] } else { &[order(of), scope(among)] };
        let words = [ordering, space, words, &[Token::Type(of_type)]].concat();
        let operands = [vec![at], data].concat();
        let is_used = kernel.result(inst).is_some_and(|value| self.value_regs[value].is_some());
        let is_plain = matches!(of, MemOrder::Relaxed | MemOrder::Release);
        if let (Some(red), false, true) = (red, is_used, is_plain) {
            self.out.push(red, &words, &operands);
            return Reg::NONE;
        }
        if of_type == RegType::B128 {
            let old = self.out.reg_of_128_bits();
            self.out.push(atom, &words, &[std::slice::from_ref(&old), operands.as_slice()].concat());
            return self.parts_of(old);
        }
        let old = self.out.define(register_of(of_type), atom, &words, &operands);
        self.in_words(of_type, old)
    }

    /// Emits a strong load or store.
    fn ordered(
        &mut self,
        op: Op,
        ty: Type,
        ordering: [Token; 2],
        space: &[Token],
        at: Operand,
        data: Vec<Operand>,
    ) -> Reg {
        let of = match ty.bits() {
            ..=8 => RegType::U8,
            16 => RegType::U16,
            64 => RegType::B64,
            _ => RegType::B32,
        };
        let words = [&ordering, space, &[Token::Type(of)]].concat();
        if op == Op::AtomicStore {
            self.out.push(Opcode::ST_ORDERED, &words, &[vec![at], data].concat());
            return Reg::NONE;
        }
        let register = if of == RegType::B64 { of } else { RegType::B32 };
        let loaded = self.out.define(register, Opcode::LD_ORDERED, &words, &[at]);
        self.in_words(register, loaded)
    }

    /// Returns a value of type `ty` as an operand of an atomic instruction of type `of`. For a store, `of` is `None`.
    fn atomic_operand(&mut self, ty: Type, of: Option<RegType>, value: Value) -> Operand {
        let reg = self.value_reg(value);
        match (ty.bits(), of.map(register_of)) {
            (128, _) => self.of_128_bits(reg),
            (64, _) => Operand::Register(self.whole(reg)),
            (_, Some(RegType::B16)) => Operand::Register(self.out.half(0, reg.word(0))),
            (_, Some(_)) if !matches!(ty, Type::F16X2 | Type::BF16X2 | Type::F32) => self.number_or_word(value),
            _ => Operand::Register(reg.word(0)),
        }
    }

    /// Packs four 32-bit registers into a 128-bit register.
    fn of_128_bits(&mut self, reg: Reg) -> Operand {
        let (whole, words) = (self.out.reg_of_128_bits(), [0, 1, 2, 3].map(|k| Some(reg.word(k))));
        let words = Operand::Vector(words.into_iter().collect());
        self.out.push(Opcode::MOV_PACK_B128, &[Token::Type(RegType::B128)], &[whole.clone(), words]);
        whole
    }

    /// Unpacks a 128-bit register into four 32-bit registers.
    fn parts_of(&mut self, whole: Operand) -> Reg {
        let words = [(); 4].map(|()| self.out.reg(RegType::B32));
        let parts = Operand::Vector(words.into_iter().map(Some).collect());
        self.out.push(Opcode::MOV_UNPACK_B128, &[Token::Type(RegType::B128)], &[parts, whole]);
        Reg::of_words(&words)
    }

    /// Negates an integer operand of 32 or 64 bits.
    fn negated(&mut self, ty: Type, value: Operand) -> Operand {
        if let Operand::Number(bits) = value {
            return Operand::Number((bits as u32).wrapping_neg().into());
        }
        let [register, of] = if ty == Type::I64 { [RegType::B64, RegType::S64] } else { [RegType::B32, RegType::S32] };
        Operand::Register(self.out.define(register, Opcode::NEG, &[Token::Type(of)], &[value]))
    }

    /// Converts a register of type `ty` to the 32-bit registers in which values are held.
    fn in_words(&mut self, ty: RegType, reg: ptx::Reg) -> Reg {
        match register_of(ty) {
            RegType::B64 => Reg::of_words(&self.out.unpack(RegType::B64, [true; 2], reg)),
            RegType::B16 => Reg::new(self.out.pack(RegType::B32, &[reg, reg])),
            _ => Reg::new(reg),
        }
    }
}

/// Returns the untyped register type (`.b16`, `.b32` or `.b64`) with the width of a type.
fn register_of(ty: RegType) -> RegType {
    match ty.bits() {
        64 => RegType::B64,
        16 => RegType::B16,
        _ => RegType::B32,
    }
}
