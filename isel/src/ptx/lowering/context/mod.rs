//! Functions that the PTX rules call: extractors, which match values, and constructors, which emit instructions.

mod constructors;
mod lanes;
mod modifiers;
pub(crate) mod opcode_of_type;
mod special_registers;

use halfbyte_ir::{
    AtomicAttr, Attr, Axis, Clamp, Elem, FenceAttr, FloatCC, FloatFlags, Inst, IntCC, Kernel, LaneMap, MemAttr, Op,
    Rounding, Type, Value,
};
use halfbyte_isa::ptx::types::{SpecialGroup, Token, Type as RegType};
use halfbyte_isa::ptx::{Opcode, Operand};

use super::Lowering;
use crate::classes::type_class;
use crate::ptx::operands::{Index, Pred, Reg, Src};
use crate::simt::{Sign, Video, const_inst, in_lanes, lane_bits, register_bits, thread_methods};
use crate::trace::{compiled_rules, trace_methods};
pub(super) use constructors::{lower, opposite, pred, src};
use modifiers::modifier_methods;
use opcode_of_type::*;

type Unit = ();
type FloatCond = (FloatCC, bool);
type AxisOf = Option<Axis>;
type Aligned = bool;

compiled_rules!("ptx", crate::rules::PTX_RULES);

impl Lowering<'_> {
    fn pair_division(&mut self, opcode: Opcode, sign: Sign, a: Reg, b: Reg) -> Reg {
        let ty = if sign == Sign::S { RegType::S64 } else { RegType::U64 };
        let sources = [self.whole(a), self.whole(b)].map(Operand::Register);
        self.pair(opcode, &[Token::Type(ty)], &sources)
    }
}

impl rules::Context for Lowering<'_> {
    ir_methods!();
    thread_methods!(int_scalar half f16 bf16 half_pair half_scalar lanes_packed lanes_scalar bits32 word halfword pair quad mask stored);
    trace_methods!();
    modifier_methods!();

    fn adds_halfwords(&mut self) -> Option<Unit> {
        self.has(Opcode::ADD_X2, &[Token::Type(RegType::U16x2)]).then_some(())
    }

    fn reg(&mut self, value: Value) -> Reg {
        self.value_reg(value)
    }

    fn plain_pred(&mut self, value: Value) -> Pred {
        Pred::new(self.value_reg(value).word(0))
    }

    fn pred_inner(&mut self, value: Value) -> Pred {
        self.deeper(value, rules::constructor_pred, rules::Context::plain_pred)
    }

    fn index_inner(&mut self, value: Value) -> Index {
        self.deeper(value, rules::constructor_index, rules::Context::plain_index)
    }

    fn signs_inner(&mut self, value: Value) -> Reg {
        self.deeper(value, rules::constructor_signs, |lowering, value| lowering.value_reg(value))
    }

    fn joined_lanes(&mut self, a: Value, b: Value) -> Option<Type> {
        self.lanes_of_joined(a, b)
    }

    fn zero(&mut self) -> Src {
        Src::Number(0)
    }

    fn zero_reg(&mut self) -> Reg {
        Reg::new(self.out.constant_reg(0))
    }

    fn imm(&mut self, bits: u32) -> Src {
        Src::Number(bits)
    }

    fn from_reg(&mut self, reg: Reg) -> Src {
        Src::Reg(reg.word(0))
    }

    fn in_register(&mut self, src: Src) -> Reg {
        Reg::new(self.out.in_reg(src))
    }

    fn part(&mut self, reg: Reg, k: u8) -> Reg {
        reg.part(k)
    }

    fn pair_of(&mut self, low: Src, high: Src) -> Reg {
        Reg::of_words(&[low, high].map(|word| self.out.in_reg(word)))
    }

    fn quad_of(&mut self, a: Src, b: Src, c: Src, d: Src) -> Reg {
        Reg::of_words(&[a, b, c, d].map(|word| self.out.in_reg(word)))
    }

    // Extractors and constructors of predicates.

    fn truth(&mut self, value: bool) -> Pred {
        Pred { reg: None, not: !value }
    }

    fn invert(&mut self, pred: Pred) -> Pred {
        pred.inverted()
    }

    fn pred_reg(&mut self, pred: Pred) -> Reg {
        let Pred { reg, not } = pred;
        Reg::new(match (reg, not) {
            (Some(reg), false) => reg,
            (Some(reg), true) => self.out.define(RegType::Pred, Opcode::NOT, &[PRED], &[Operand::Register(reg)]),
            (None, not) => self.out.define(RegType::Pred, Opcode::MOV, &[PRED], &[Operand::Number((!not).into())]),
        })
    }

    fn both(&mut self, a: Pred, b: Pred) -> Pred {
        match (a, b) {
            (Pred { reg: None, not }, other) | (other, Pred { reg: None, not }) => {
                if not {
                    self.truth(false)
                } else {
                    other
                }
            }
            _ => self.combine(Opcode::AND, a, b),
        }
    }

    fn either(&mut self, a: Pred, b: Pred) -> Pred {
        self.both(a.inverted(), b.inverted()).inverted()
    }

    fn differ(&mut self, a: Pred, b: Pred) -> Pred {
        match (a, b) {
            (Pred { reg: None, not }, other) | (other, Pred { reg: None, not }) => {
                if not {
                    other
                } else {
                    other.inverted()
                }
            }
            _ => {
                let plain = |pred: Pred| Pred { not: false, ..pred };
                let differ = self.combine(Opcode::XOR, plain(a), plain(b));
                Pred { not: a.not != b.not, ..differ }
            }
        }
    }

    fn choose(&mut self, condition: Pred, a: Pred, b: Pred) -> Pred {
        let first = self.both(condition, a);
        let second = self.both(condition.inverted(), b);
        self.either(first, second)
    }

    fn isetp(&mut self, cc: &IntCC, a: Src, b: Src) -> Pred {
        let (compare, sign) = int_compare(*cc);
        let ty = if sign == Sign::S { S32 } else { U32 };
        self.out.pred(Opcode::SETP_INT, &[compare, ty], &[a.into(), b.into()])
    }

    fn isetp_pair(&mut self, cc: &IntCC, a: Reg, b: Reg) -> Pred {
        let (compare, sign) = int_compare(*cc);
        let ty = Token::Type(if sign == Sign::S { RegType::S64 } else { RegType::U64 });
        let (a, b) = (self.whole(a), self.whole(b));
        self.out.pred(Opcode::SETP_INT, &[compare, ty], &[a, b].map(Operand::Register))
    }

    fn fsetp(&mut self, (cc, _): FloatCond, a: Src, b: Src) -> Pred {
        self.out.pred(Opcode::SETP_F32, &[float_compare(cc), SINGLE], &[a.into(), b.into()])
    }

    fn hsetp2(&mut self, ty: Type, cond: FloatCond, lane: u8, a: Reg, b: Reg) -> Pred {
        let reg = self.out.reg(RegType::Pred);
        let lanes = Operand::Pair([0, 1].map(|k| (k == lane).then_some(reg)));
        self.out.push(of_half(SETP, ty), &compare_words(cond, ty), &[lanes, operand(a), operand(b)]);
        Pred::new(reg)
    }

    fn select_word(&mut self, pred: Pred, a: Src, b: Src) -> Reg {
        let (a, b) = if pred.not { (b, a) } else { (a, b) };
        match pred.reg {
            Some(reg) => Reg::new(self.out.word(Opcode::SELP, &[B32], &[a.into(), b.into(), Operand::Register(reg)])),
            None => self.in_register(a),
        }
    }

    fn select_wide(&mut self, pred: Pred, ty: Type, a: Reg, b: Reg) -> Reg {
        let words: Vec<_> = (0..(ty.bits() / 32) as u8)
            .map(|k| self.select_word(pred, Src::Reg(a.word(k)), Src::Reg(b.word(k))).word(0))
            .collect();
        Reg::of_words(&words)
    }

    // Constructors of packed-half instructions.

    fn hadd2(&mut self, ty: Type, flags: FloatFlags, a: Reg, b: Reg) -> Reg {
        self.half_arithmetic(ADD, ty, flags, &[a, b])
    }

    fn hsub2(&mut self, ty: Type, flags: FloatFlags, a: Reg, b: Reg) -> Reg {
        self.half_arithmetic([Opcode::SUB_F16, Opcode::SUB_BF16], ty, flags, &[a, b])
    }

    fn hmul2(&mut self, ty: Type, flags: FloatFlags, a: Reg, b: Reg) -> Reg {
        self.half_arithmetic([Opcode::MUL_F16, Opcode::MUL_BF16], ty, flags, &[a, b])
    }

    fn hfma2(&mut self, ty: Type, flags: FloatFlags, a: Reg, b: Reg, c: Reg) -> Reg {
        self.half_arithmetic(FMA, ty, flags, &[a, b, c])
    }

    fn hmin2(&mut self, ty: Type, flags: FloatFlags, a: Reg, b: Reg) -> Reg {
        self.half_extremum(MIN, ty, flags, a, b)
    }

    fn hmax2(&mut self, ty: Type, flags: FloatFlags, a: Reg, b: Reg) -> Reg {
        self.half_extremum([Opcode::MAX_F16, Opcode::MAX_BF16], ty, flags, a, b)
    }

    fn hset2_mask(&mut self, ty: Type, cond: FloatCond, a: Reg, b: Reg) -> Reg {
        self.half_set(ty, U32, cond, a, b)
    }

    fn hset2_one(&mut self, ty: Type, cond: FloatCond, a: Reg, b: Reg) -> Reg {
        self.half_set(ty, halves(ty), cond, a, b)
    }

    fn negative(&mut self, ty: Type, a: Reg) -> Reg {
        self.sign([Opcode::NEG_F32, Opcode::NEG_F16, Opcode::NEG_BF16], (Opcode::XOR, 0x8000), ty, a)
    }

    fn magnitude(&mut self, ty: Type, a: Reg) -> Reg {
        self.sign([Opcode::ABS_F32, Opcode::ABS_F16, Opcode::ABS_BF16], (Opcode::AND, 0x7fff), ty, a)
    }

    fn half_one(&mut self, ty: Type) -> Reg {
        Reg::new(self.out.constant_reg(if is_bf16(ty) { 0x3f80_3f80 } else { 0x3c00_3c00 }))
    }

    fn half_minus_one(&mut self, ty: Type) -> Reg {
        Reg::new(self.out.constant_reg(if is_bf16(ty) { 0xbf80_bf80 } else { 0xbc00_bc00 }))
    }

    fn half_minus_zero(&mut self) -> Reg {
        Reg::new(self.out.constant_reg(0x8000_8000))
    }

    fn half_zero_addend(&mut self, flags: FloatFlags) -> Reg {
        if flags.rounding == Rounding::Rm { self.zero_reg() } else { self.half_minus_zero() }
    }

    fn saturates(&mut self, flags: FloatFlags) -> Option<Unit> {
        (flags.clamp == Clamp::Sat).then_some(())
    }

    fn rectifies(&mut self, flags: FloatFlags) -> Option<Unit> {
        (flags.clamp == Clamp::Relu).then_some(())
    }

    fn keeps_nan(&mut self, flags: FloatFlags) -> Option<Unit> {
        flags.nan.then_some(())
    }

    fn extremum_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
        let (opcode, of) = match ty.elem() {
            Elem::F32 => (Opcode::MIN_F32, SINGLE),
            _ => (of_half(MIN, ty), halves(ty)),
        };
        self.has(opcode, &[ftz(flags.ftz), nan(flags.nan), &[of]].concat()).then_some(())
    }

    fn plain_extremum(&mut self, flags: FloatFlags) -> Option<Unit> {
        (!flags.ftz && !flags.nan).then_some(())
    }

    fn compare_flags(&mut self, ty: Type, cond: FloatCond) -> Option<Unit> {
        self.has(of_half(SETP, ty), &compare_words(cond, ty)).then_some(())
    }

    fn float_cond(&mut self, cc: &FloatCC) -> FloatCond {
        (*cc, false)
    }

    fn half_plus_zero(&mut self, value: Value) -> Option<Unit> {
        let bits = register_bits(self.kernel, const_inst(self.kernel, value)?)?;
        bits.iter().all(|&word| word == 0).then_some(())
    }

    fn flushed(&mut self, ty: Type, flags: FloatFlags, a: Reg) -> Reg {
        if !flags.ftz {
            return a;
        }
        let one = self.half_one(ty);
        self.hmul2(ty, FloatFlags { ftz: true, ..FloatFlags::default() }, a, one)
    }

    fn with_nan(&mut self, flags: FloatFlags, a: Reg, nan: Reg) -> Reg {
        if !flags.nan {
            return a;
        }
        self.lop3(0xfc, Src::Reg(a.word(0)), Src::Reg(nan.word(0)), Src::Number(0))
    }

    // Constructors of video instructions.

    fn video(&mut self, op: &Video, ty: Type, sign: &Sign, a: Reg, b: Reg) -> Reg {
        let zero = self.out.constant_reg(0);
        self.video_inst(*op, ty, *sign, &[], [a.word(0), b.word(0), zero])
    }

    fn video_sat(&mut self, op: &Video, ty: Type, sign: &Sign, a: Reg, b: Reg) -> Reg {
        let zero = self.out.constant_reg(0);
        self.video_inst(*op, ty, *sign, &[Token::Sat], [a.word(0), b.word(0), zero])
    }

    fn video_add(&mut self, op: &Video, ty: Type, sign: &Sign, a: Reg, b: Reg, sum: Reg) -> Reg {
        self.video_inst(*op, ty, *sign, &[Token::Add], [a, b, sum].map(|reg| reg.word(0)))
    }

    fn reduce(&mut self, op: &Video, ty: Type, sign: &Sign, a: Reg) -> Reg {
        let word = Src::Reg(a.word(0));
        let upper = self.prmt(0x3232, word, Src::Number(0));
        let halves = self.video(op, ty, sign, a, upper);
        if ty.lanes() == 2 {
            return halves;
        }
        let second = self.prmt(0x1111, Src::Reg(halves.word(0)), Src::Number(0));
        self.video(op, ty, sign, halves, second)
    }

    fn lane_sum(&mut self, ty: Type, sign: &Sign, a: Reg, sum: Src) -> Reg {
        let ty_of_a = if *sign == Sign::S { S32 } else { U32 };
        let ones = |bits: u64| [operand(a), Operand::Number(bits), sum.into()];
        Reg::new(match lane_bits(ty) {
            8 => self.out.word(Opcode::DP4A, &[ty_of_a, U32], &ones(0x0101_0101)),
            _ => self.out.word(Opcode::DP2A, &[Token::Lo, ty_of_a, U32], &ones(0x0101)),
        })
    }

    fn opposite(&mut self, value: Value) -> Reg {
        self.opposite_of(value)
    }

    fn add_halfwords(&mut self, a: Reg, b: Src) -> Reg {
        let b = self.out.in_reg(b);
        let halfwords = Token::Type(RegType::U16x2);
        Reg::new(self.out.word(Opcode::ADD_X2, &[halfwords], &[operand(a), Operand::Register(b)]))
    }

    fn sign_mask(&mut self, ty: Type, reg: Reg) -> Reg {
        let selector = if lane_bits(ty) == 8 { 0xba98 } else { 0xbb99 };
        self.prmt(selector, Src::Reg(reg.word(0)), Src::Number(0))
    }

    fn lane_units(&mut self, ty: Type) -> Src {
        Src::Number(in_lanes(lane_bits(ty), 1))
    }

    fn lane_magnitudes(&mut self, ty: Type) -> Src {
        let bits = lane_bits(ty);
        Src::Number(in_lanes(bits, (1 << (bits - 1)) - 1))
    }

    // Constructors of integer instructions.

    fn add(&mut self, a: Src, b: Src) -> Reg {
        Reg::new(self.out.word(Opcode::ADD, &[U32], &[a.into(), b.into()]))
    }

    fn sub(&mut self, a: Src, b: Src) -> Reg {
        Reg::new(self.out.word(Opcode::SUB, &[U32], &[a.into(), b.into()]))
    }

    fn prefers_words(&mut self, ty: Type) -> Option<Unit> {
        // A sum of half-words fuses with a following minimum or maximum.
        (ty != Type::I16X2 || self.adds_halfwords().is_none()).then_some(())
    }

    fn pack_clamped(&mut self, sign: &Sign, high: Src, low: Src) -> Reg {
        let ty = Token::Type(if *sign == Sign::S { RegType::S16 } else { RegType::U16 });
        Reg::new(self.out.word(Opcode::CVT_PACK, &[Token::Pack, Token::Sat, ty, S32], &[high.into(), low.into()]))
    }

    fn word_sum(&mut self, a: Src, b: Src) -> Reg {
        self.add(a, b)
    }

    fn word_difference(&mut self, a: Src, b: Src) -> Reg {
        self.sub(a, b)
    }

    fn word_excess(&mut self, a: Src, bias: u32, b: Src) -> Reg {
        let biased = self.add(a, Src::Number(bias));
        self.sub(Src::Reg(biased.word(0)), b)
    }

    fn neg(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::NEG, &[S32], &[a.into()]))
    }

    fn abs(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::ABS, &[S32], &[a.into()]))
    }

    fn min(&mut self, sign: &Sign, a: Src, b: Src) -> Reg {
        Reg::new(self.out.word(Opcode::MIN, &[word_type(*sign)], &[a.into(), b.into()]))
    }

    fn max(&mut self, sign: &Sign, a: Src, b: Src) -> Reg {
        Reg::new(self.out.word(Opcode::MAX, &[word_type(*sign)], &[a.into(), b.into()]))
    }

    fn add_sat(&mut self, a: Src, b: Src) -> Reg {
        Reg::new(self.out.word(Opcode::ADD_SAT, &[Token::Sat, S32], &[a.into(), b.into()]))
    }

    fn sub_sat(&mut self, a: Src, b: Src) -> Reg {
        Reg::new(self.out.word(Opcode::SUB_SAT, &[Token::Sat, S32], &[a.into(), b.into()]))
    }

    fn clamp(&mut self, sign: &Sign, ty: Type, a: Src) -> Reg {
        let bits = ty.bits();
        let (least, greatest) = match sign {
            Sign::S => ((u32::MAX << (bits - 1)), (1 << (bits - 1)) - 1),
            Sign::U => (0, (1 << bits) - 1),
        };
        let raised = self.max(&Sign::S, a, Src::Number(least));
        self.min(&Sign::S, Src::Reg(raised.word(0)), Src::Number(greatest))
    }

    fn imad(&mut self, a: Src, b: Src, c: Src) -> Reg {
        let product = [a.into(), b.into()];
        Reg::new(match c.is_zero() {
            true => self.out.word(Opcode::MUL, &[Token::Lo, U32], &product),
            false => self.out.word(Opcode::MAD, &[Token::Lo, U32], &[&product[..], &[c.into()]].concat()),
        })
    }

    fn imad_wide(&mut self, sign: &Sign, a: Src, b: Src) -> Reg {
        let words = [Token::Wide, word_type(*sign)];
        let product = self.out.define(RegType::B64, Opcode::MUL_WIDE, &words, &[a.into(), b.into()]);
        Reg::of_words(&self.out.unpack(RegType::B64, [true; 2], product))
    }

    fn divide(&mut self, sign: &Sign, a: Src, b: Src) -> Reg {
        Reg::new(self.out.word(Opcode::DIV, &[word_type(*sign)], &[a.into(), b.into()]))
    }

    fn remainder(&mut self, sign: &Sign, a: Src, b: Src) -> Reg {
        Reg::new(self.out.word(Opcode::REM, &[word_type(*sign)], &[a.into(), b.into()]))
    }

    fn divide_pair(&mut self, sign: &Sign, a: Reg, b: Reg) -> Reg {
        self.pair_division(Opcode::DIV, *sign, a, b)
    }

    fn remainder_pair(&mut self, sign: &Sign, a: Reg, b: Reg) -> Reg {
        self.pair_division(Opcode::REM, *sign, a, b)
    }

    fn add_pair(&mut self, a: Reg, b: Reg) -> Reg {
        self.pair_arithmetic(Opcode::ADD, a, b)
    }

    fn sub_pair(&mut self, a: Reg, b: Reg) -> Reg {
        self.pair_arithmetic(Opcode::SUB, a, b)
    }

    fn neg_pair(&mut self, a: Reg) -> Reg {
        let a = self.whole(a);
        self.pair(Opcode::NEG, &[Token::Type(RegType::S64)], &[Operand::Register(a)])
    }

    fn mul_pair(&mut self, a: Reg, b: Reg) -> Reg {
        let sources = [self.whole(a), self.whole(b)].map(Operand::Register);
        self.pair(Opcode::MUL, &[Token::Lo, Token::Type(RegType::U64)], &sources)
    }

    fn mul_high_pair(&mut self, sign: &Sign, a: Reg, b: Reg) -> Reg {
        let ty = if *sign == Sign::S { RegType::S64 } else { RegType::U64 };
        let sources = [self.whole(a), self.whole(b)].map(Operand::Register);
        self.pair(Opcode::MUL, &[Token::Hi, Token::Type(ty)], &sources)
    }

    fn shift_pair_left(&mut self, a: Reg, count: Src) -> Reg {
        let a = self.whole(a);
        self.pair(Opcode::SHL, &[Token::Type(RegType::B64)], &[Operand::Register(a), count.into()])
    }

    fn shift_pair_right(&mut self, sign: &Sign, a: Reg, count: Src) -> Reg {
        let (a, ty) = (self.whole(a), if *sign == Sign::S { RegType::S64 } else { RegType::U64 });
        self.pair(Opcode::SHR, &[Token::Type(ty)], &[Operand::Register(a), count.into()])
    }

    fn lop3(&mut self, table: u8, a: Src, b: Src, c: Src) -> Reg {
        let two = match (table, c.is_zero()) {
            (0xc0, true) => Some(Opcode::AND),
            (0xfc, true) => Some(Opcode::OR),
            (0x3c, true) => Some(Opcode::XOR),
            _ => None,
        };
        Reg::new(match two {
            Some(opcode) => self.out.word(opcode, &[B32], &[a.into(), b.into()]),
            None if table == 0x0f => self.out.word(Opcode::NOT, &[B32], &[a.into()]),
            None => {
                let table = Operand::Number(table.into());
                self.out.word(Opcode::LOP3, &[B32], &[a.into(), b.into(), c.into(), table])
            }
        })
    }

    fn shift_left(&mut self, a: Src, count: Src) -> Reg {
        // Only funnel shifts take the count modulo 32, so shift a 64-bit pair of the word and zero.
        Reg::new(match count {
            Src::Number(n) => self.out.word(Opcode::SHL, &[B32], &[a.into(), Operand::Number((n % 32).into())]),
            Src::Reg(_) => {
                let words = [Token::Left, Token::Wrap, B32];
                self.out.word(Opcode::SHF, &words, &[Operand::Number(0), a.into(), count.into()])
            }
        })
    }

    fn shift_right(&mut self, sign: &Sign, a: Src, count: Src) -> Reg {
        let count = match (sign, count) {
            (_, Src::Number(n)) => Src::Number(n % 32),
            (Sign::S, Src::Reg(_)) => Src::Reg(self.lop3(0xc0, count, Src::Number(31), Src::Number(0)).word(0)),
            (Sign::U, Src::Reg(_)) => {
                let words = [Token::Right, Token::Wrap, B32];
                return Reg::new(self.out.word(Opcode::SHF, &words, &[a.into(), Operand::Number(0), count.into()]));
            }
        };
        Reg::new(self.out.word(Opcode::SHR, &[word_type(*sign)], &[a.into(), count.into()]))
    }

    fn prmt(&mut self, selector: u16, a: Src, b: Src) -> Reg {
        // If the permutation moves whole halves, use the halves directly, because NVIDIA's
        // assembler can often fold them into the using instruction.
        if let Some(halves) = half_words(selector) {
            return self.pick_halves(halves, a, b);
        }
        let selector = Operand::Number(selector.into());
        Reg::new(self.out.word(Opcode::PRMT, &[B32], &[a.into(), b.into(), selector]))
    }

    fn prmt_by(&mut self, selector: Reg, a: Src, b: Src) -> Reg {
        Reg::new(self.out.word(Opcode::PRMT, &[B32], &[a.into(), b.into(), operand(selector)]))
    }

    fn count_ones(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::POPC, &[B32], &[a.into()]))
    }

    fn reverse_bits(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::BREV, &[B32], &[a.into()]))
    }

    fn leading_zeros(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::CLZ, &[B32], &[a.into()]))
    }

    fn funnel_left(&mut self, low: Src, count: Src, high: Src) -> Reg {
        Reg::new(self.out.word(Opcode::SHF, &[Token::Left, Token::Wrap, B32], &[low, high, count].map(Operand::from)))
    }

    fn funnel_right(&mut self, low: Src, count: Src, high: Src) -> Reg {
        Reg::new(self.out.word(Opcode::SHF, &[Token::Right, Token::Wrap, B32], &[low, high, count].map(Operand::from)))
    }

    fn dot_bytes(&mut self, of_a: &Sign, of_b: &Sign, a: Src, b: Src, c: Src) -> Reg {
        let words = [word_type(*of_a), word_type(*of_b)];
        Reg::new(self.out.word(Opcode::DP4A, &words, &[a, b, c].map(Operand::from)))
    }

    fn dot_halves(&mut self, first: u8, of_a: &Sign, of_b: &Sign, a: Src, b: Src, c: Src) -> Reg {
        let half = if first == 0 { Token::Lo } else { Token::Hi };
        let words = [half, word_type(*of_a), word_type(*of_b)];
        Reg::new(self.out.word(Opcode::DP2A, &words, &[a, b, c].map(Operand::from)))
    }

    fn extend(&mut self, sign: &Sign, ty: Type, src: Src) -> Src {
        match src {
            _ if ty.bits() >= 32 => src,
            Src::Number(bits) => Src::Number(extended(*sign, ty, bits)),
            Src::Reg(_) => {
                let (wide, narrow) = extension(*sign, ty);
                Src::Reg(self.out.word(Opcode::CVT_INT, &[wide, narrow], &[src.into()]))
            }
        }
    }

    fn extend_lane(&mut self, sign: &Sign, ty: Type, lane: u8, src: Src) -> Reg {
        self.extended_lane(*sign, ty, lane, src)
    }

    fn part_at(&mut self, ty: Type, bit: u32) -> Option<u8> {
        let is_part = matches!(ty, Type::I8 | Type::I16) && bit < 32 && bit.is_multiple_of(ty.bits());
        is_part.then(|| (bit / ty.bits()) as u8)
    }

    fn signed_part(&mut self, ty: Type, part: u8, src: Src) -> Reg {
        let lanes = if ty == Type::I8 { Type::I8X4 } else { Type::I16X2 };
        self.extended_lane(Sign::S, lanes, part, src)
    }

    fn kept_type(&mut self, count: u32) -> Option<Type> {
        match count {
            24 => Some(Type::I8),
            16 => Some(Type::I16),
            _ => None,
        }
    }

    fn count_less(&mut self, count: u32, less: u32) -> Option<u32> {
        count.checked_sub(less)
    }

    fn count_mask(&mut self, ty: Type) -> Src {
        Src::Number(ty.elem().bits() - 1)
    }

    // Constructors of f32 and f64 instructions.

    rounded_methods! {
        single {
            fadd ADD_F32 [a b]; fsub SUB_F32 [a b]; fmul MUL_F32 [a b]; ffma FMA_F32 [a b c]; fdiv DIV_F32 [a b];
            fsqrt SQRT_F32 [a];
        }
        double {
            dadd ADD_F64 [a b]; dsub SUB_F64 [a b]; dmul MUL_F64 [a b]; dfma FMA_F64 [a b c]; ddiv DIV_F64 [a b];
            dsqrt SQRT_F64 [a];
        }
    }

    fn dmin(&mut self, a: Reg, b: Reg) -> Reg {
        self.of_pairs(Opcode::MIN_F64, &[DOUBLE], &[a, b])
    }

    fn dmax(&mut self, a: Reg, b: Reg) -> Reg {
        self.of_pairs(Opcode::MAX_F64, &[DOUBLE], &[a, b])
    }

    fn dsetp(&mut self, cond: FloatCond, a: Reg, b: Reg) -> Pred {
        let sources = [a, b].map(|reg| Operand::Register(self.whole(reg)));
        self.out.pred(Opcode::SETP_F64, &[float_compare(cond.0), DOUBLE], &sources)
    }

    fn single_to_double(&mut self, a: Src) -> Reg {
        let a = self.in_register(a);
        self.pair(Opcode::CVT_F64_F32, &[DOUBLE, SINGLE], &[operand(a)])
    }

    fn half_to_double(&mut self, a: Reg) -> Reg {
        let half = Operand::Register(self.out.half(0, a.word(0)));
        self.pair(Opcode::CVT_F64_F16, &[DOUBLE, SINGLE_HALF], &[half])
    }

    fn double_to_single(&mut self, flags: FloatFlags, a: Reg) -> Reg {
        let whole = Operand::Register(self.whole(a));
        Reg::new(self.out.word(Opcode::CVT_F32_F64, &[rounding(flags.rounding), SINGLE, DOUBLE], &[whole]))
    }

    fn double_to_half(&mut self, flags: FloatFlags, a: Reg) -> Reg {
        let whole = Operand::Register(self.whole(a));
        let words = [rounding(flags.rounding), SINGLE_HALF, DOUBLE];
        let half = self.out.define(RegType::B16, Opcode::CVT_F16_F64, &words, &[whole]);
        Reg::new(self.out.pack(RegType::B32, &[half, half]))
    }

    fn word_to_double(&mut self, sign: &Sign, a: Src) -> Reg {
        self.pair(Opcode::CVT_F64_INT, &[Token::Rn, DOUBLE, word_type(*sign)], &[a.into()])
    }

    fn pair_to_double(&mut self, sign: &Sign, flags: FloatFlags, a: Reg) -> Reg {
        let words = [rounding(flags.rounding), DOUBLE, pair_type(*sign)];
        self.of_pairs(Opcode::CVT_F64_INT, &words, &[a])
    }

    fn double_to_word(&mut self, sign: &Sign, a: Reg) -> Reg {
        let whole = Operand::Register(self.whole(a));
        Reg::new(self.out.word(Opcode::CVT_INT_F64, &[Token::Rzi, word_type(*sign), DOUBLE], &[whole]))
    }

    fn double_to_pair(&mut self, sign: &Sign, a: Reg) -> Reg {
        self.of_pairs(Opcode::CVT_INT_F64, &[Token::Rzi, pair_type(*sign), DOUBLE], &[a])
    }

    fn fexp2(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::EX2_F32, &[Token::Approx, SINGLE], &[a.into()]))
    }

    fn flog2(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::LG2_F32, &[Token::Approx, SINGLE], &[a.into()]))
    }

    fn frsqrt(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::RSQRT_F32, &[Token::Approx, SINGLE], &[a.into()]))
    }

    fn fsin(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::SIN_F32, &[Token::Approx, SINGLE], &[a.into()]))
    }

    fn fcos(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::COS_F32, &[Token::Approx, SINGLE], &[a.into()]))
    }

    fn ftanh(&mut self, a: Src) -> Reg {
        Reg::new(self.out.word(Opcode::TANH_F32, &[Token::Approx, SINGLE], &[a.into()]))
    }

    fn fmin(&mut self, flags: FloatFlags, a: Src, b: Src) -> Reg {
        let words = [nan(flags.nan), &[SINGLE]].concat();
        Reg::new(self.out.word(Opcode::MIN_F32, &words, &[a.into(), b.into()]))
    }

    fn fmax(&mut self, flags: FloatFlags, a: Src, b: Src) -> Reg {
        let words = [nan(flags.nan), &[SINGLE]].concat();
        Reg::new(self.out.word(Opcode::MAX_F32, &words, &[a.into(), b.into()]))
    }

    fn i2f(&mut self, sign: &Sign, flags: FloatFlags, a: Src) -> Reg {
        let words = [rounding(flags.rounding), SINGLE, word_type(*sign)];
        Reg::new(self.out.word(Opcode::CVT_F32_INT, &words, &[a.into()]))
    }

    fn f2i(&mut self, sign: &Sign, a: Reg) -> Reg {
        Reg::new(self.out.word(Opcode::CVT_INT_F32, &[Token::Rzi, word_type(*sign), SINGLE], &[operand(a)]))
    }

    fn i2h(&mut self, ty: Type, flags: FloatFlags, sign: &Sign, a: Src) -> Reg {
        let words = [rounding(flags.rounding), half(ty), word_type(*sign)];
        let half = self.out.define(RegType::B16, of_half(FROM_INT, ty), &words, &[a.into()]);
        Reg::new(self.out.pack(RegType::B32, &[half, half]))
    }

    fn of_integers(&mut self, ty: Type) -> Option<Unit> {
        self.has(of_half(FROM_INT, ty), &[Token::Rn, half(ty), U32]).then_some(())
    }

    fn h2i(&mut self, sign: &Sign, a: Reg) -> Reg {
        let half = Operand::Register(self.out.half(0, a.word(0)));
        Reg::new(self.out.word(Opcode::CVT_INT_F16, &[Token::Rzi, word_type(*sign), SINGLE_HALF], &[half]))
    }

    fn widen_half(&mut self, ty: Type, a: Reg) -> Reg {
        let (opcode, words) = (of_half(WIDEN, ty), [SINGLE, half(ty)]);
        if !self.has(opcode, &words) {
            // A bf16 is the upper half of an f32. The product with 1.0 makes every NaN canonical.
            let single = self.shift_left(Src::Reg(a.word(0)), Src::Number(16));
            return self.fmul(FloatFlags::default(), Src::Reg(single.word(0)), Src::Number(0x3f80_0000));
        }
        let source = Operand::Register(self.out.half(0, a.word(0)));
        Reg::new(self.out.word(opcode, &words, &[source]))
    }

    fn narrow_half(&mut self, ty: Type, flags: FloatFlags, a: Reg) -> Reg {
        let opcode = if flags.clamp == Clamp::Relu { NARROW_RELU } else { NARROW };
        let half = self.out.define(RegType::B16, of_half(opcode, ty), &narrow_words(half(ty), flags), &[operand(a)]);
        Reg::new(self.out.pack(RegType::B32, &[half, half]))
    }

    fn pack_halves(&mut self, ty: Type, flags: FloatFlags, low: Reg, high: Reg) -> Reg {
        let words = narrow_words(halves(ty), flags);
        Reg::new(self.out.word(Opcode::CVT_F16X2_F32, &words, &[operand(high), operand(low)]))
    }

    fn narrow_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
        let opcode = if flags.clamp == Clamp::Relu { NARROW_RELU } else { NARROW };
        self.has(of_half(opcode, ty), &narrow_words(half(ty), flags)).then_some(())
    }

    fn rounds_or_truncates(&mut self, flags: FloatFlags) -> Option<Unit> {
        matches!(flags.rounding, Rounding::Rn | Rounding::Rz).then_some(())
    }

    fn pack_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
        self.has(Opcode::CVT_F16X2_F32, &narrow_words(halves(ty), flags)).then_some(())
    }

    // Constructors of lane moves.

    fn lane_down(&mut self, ty: Type, lane: u8, reg: Reg) -> Reg {
        self.down(lane_bits(ty), lane, reg)
    }

    fn part_down(&mut self, ty: Type, part: u8, reg: Reg) -> Reg {
        self.down(ty.bits(), part, reg)
    }

    fn lane_ones(&mut self, ty: Type, lane: u8) -> Src {
        let bits = lane_bits(ty);
        Src::Number((((1u64 << bits) - 1) << (bits * u32::from(lane) % 32)) as u32)
    }

    fn lanes_shl(&mut self, ty: Type, n: u32, a: Src) -> Reg {
        self.lanes_shifted_left(ty, n, a)
    }

    fn lanes_shr(&mut self, sign: &Sign, ty: Type, n: u32, a: Src) -> Reg {
        self.lanes_shifted_right(*sign, ty, n, a)
    }

    fn constant(&mut self, _: Type, inst: Inst) -> Reg {
        self.constant_words(inst)
    }

    // Constructors of indices, loads, stores and item numbers.

    fn plain_index(&mut self, value: Value) -> Index {
        Index { value, factor: 1, plus: 0 }
    }

    fn times(&mut self, index: Index, n: u32) -> Index {
        Index { factor: index.factor.wrapping_mul(n), plus: index.plus.wrapping_mul(n), ..index }
    }

    fn plus(&mut self, index: Index, n: u32) -> Index {
        Index { plus: index.plus.wrapping_add(n), ..index }
    }

    fn load(&mut self, ty: Type, mem: MemAttr, base: Value) -> Reg {
        self.load_from(ty, mem, base, None)
    }

    fn load_indexed(&mut self, ty: Type, mem: MemAttr, base: Value, index: Index) -> Reg {
        self.load_from(ty, mem, base, Some(index))
    }

    fn store(&mut self, ty: Type, mem: MemAttr, value: Value, base: Value) -> Reg {
        self.store_to(ty, mem, value, base, None)
    }

    fn store_indexed(&mut self, ty: Type, mem: MemAttr, value: Value, base: Value, index: Index) -> Reg {
        self.store_to(ty, mem, value, base, Some(index))
    }

    fn meet(&mut self, inst: Inst) -> Reg {
        self.collective(inst)
    }

    fn fence(&mut self, fence: FenceAttr) -> Reg {
        self.fence_of(fence)
    }

    fn atomic(&mut self, inst: Inst) -> Reg {
        self.atomic_at(inst)
    }

    fn lane(&mut self) -> Reg {
        Reg::new(self.lane_reg())
    }

    fn item_id(&mut self, axis: AxisOf) -> Reg {
        let groups = [SpecialGroup::Block, SpecialGroup::BlockSize, SpecialGroup::Thread];
        let [block, size, thread] = groups.map(|group| self.special(group, axis));
        Reg::new(self.out.word(Opcode::MAD, &[Token::Lo, U32], &[block, size, thread]))
    }

    fn item_count(&mut self) -> Reg {
        let [blocks, size] = [SpecialGroup::GridSize, SpecialGroup::BlockSize].map(|group| self.special(group, None));
        Reg::new(self.out.word(Opcode::MUL, &[Token::Lo, U32], &[blocks, size]))
    }

    fn local_id(&mut self, axis: AxisOf) -> Reg {
        Reg::new(self.special_reg(SpecialGroup::Thread, axis))
    }

    fn group_id(&mut self, axis: AxisOf) -> Reg {
        Reg::new(self.special_reg(SpecialGroup::Block, axis))
    }

    fn group_size(&mut self, axis: AxisOf) -> Reg {
        Reg::new(self.special_reg(SpecialGroup::BlockSize, axis))
    }

    fn group_count(&mut self, axis: AxisOf) -> Reg {
        Reg::new(self.special_reg(SpecialGroup::GridSize, axis))
    }
}
