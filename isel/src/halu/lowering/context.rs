//! Functions that the HALU rules call: extractors, which match values, and constructors, which emit instructions.

use halfbyte_abi::{GROUP_COUNT_OFFSET, GROUP_SIZE_OFFSET, ITEM_COUNT_OFFSET};
use halfbyte_ir::{
    AtomicAttr, Attr, Axis, Clamp, FenceAttr, FloatCC, FloatFlags, Inst, IntCC, Kernel, LaneMap, MemAttr, Op,
    ParamKind, Rounding, Type, Value, ValueDef,
};
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst as Word, Opcode};

use super::super::builder::{TwoForms, choice, rounding};
use super::super::machine::RegClass;
use super::super::operands::{Index, Lanes, Number, Pred, Reg, SourceLocation, Src};
use super::Lowering;
use super::opcode_of_type::*;
use super::sums::low_bits;
use crate::classes::type_class;
use crate::simt::{Sign, Video, const_inst, in_lanes, lane_bits, register_bits, thread_methods};
use crate::trace::{compiled_rules, trace_methods};

type Unit = ();
type FloatCond = (FloatCC, bool);
type AxisOf = Option<Axis>;
type Aligned = bool;

compiled_rules!("halu", crate::rules::HALU_RULES);

impl Lowering<'_> {
    /// Returns `true` for a nonzero constant and for a parameter. Neither of them is in a register.
    fn is_apart(&mut self, value: Value) -> bool {
        let is_param = rules::Context::param_word(self, value).is_some();
        is_param || rules::Context::const_word(self, value).is_some_and(|bits| bits != 0)
    }
}

impl rules::Context for Lowering<'_> {
    ir_methods!();
    thread_methods!(int_scalar half f16 bf16 half_pair half_scalar lanes lanes_packed lanes_scalar bits32 word halfword pair quad mask stored);

    trace_methods!();

    fn reg(&mut self, value: Value) -> Reg {
        self.value_reg(value)
    }

    fn plain_pred(&mut self, value: Value) -> Pred {
        Pred { vreg: self.value_reg(value).vreg, not: false }
    }

    fn half_inner(&mut self, value: Value) -> Src {
        self.deeper(value, rules::constructor_half_src, rules::constructor_src)
    }

    fn float_inner(&mut self, value: Value) -> Src {
        self.deeper(value, rules::constructor_float_src, rules::constructor_src)
    }

    fn int_inner(&mut self, value: Value) -> Src {
        self.deeper(value, rules::constructor_int_src, rules::constructor_src)
    }

    fn lanes_inner(&mut self, value: Value) -> Lanes {
        self.deeper(value, rules::constructor_lanes_src, |lowering, value| Lanes::plain(lowering.value_reg(value)))
    }

    fn pred_inner(&mut self, value: Value) -> Pred {
        self.deeper(value, rules::constructor_pred, rules::Context::plain_pred)
    }

    fn index_inner(&mut self, value: Value) -> Index {
        self.deeper(value, rules::constructor_index, |_, value| Index::plain(value))
    }

    fn no_reg(&mut self) -> Reg {
        Reg::ZERO
    }

    fn zero(&mut self) -> Src {
        Src::ZERO
    }

    fn zero_reg(&mut self) -> Reg {
        Reg::ZERO
    }

    fn imm(&mut self, bits: u32) -> Src {
        Src::imm(bits)
    }

    fn from_reg(&mut self, reg: Reg) -> Src {
        Src::plain(SourceLocation::Reg(reg))
    }

    fn const_mem(&mut self, offset: u16) -> Src {
        Src::plain(SourceLocation::Const(offset))
    }

    fn truth(&mut self, value: bool) -> Pred {
        Pred { vreg: None, not: !value }
    }

    fn invert(&mut self, pred: Pred) -> Pred {
        pred.inverted()
    }

    fn pred_reg(&mut self, pred: Pred) -> Reg {
        match pred {
            Pred { vreg: Some(vreg), not: false } => Reg::new(vreg),
            _ => {
                let pred = self.plop3(0xf0, pred, Pred::TRUE, Pred::TRUE);
                Reg { vreg: pred.vreg, part: 0 }
            }
        }
    }

    fn part(&mut self, reg: Reg, k: u8) -> Reg {
        reg.part(k)
    }

    fn pair_of(&mut self, low: Src, high: Src) -> Reg {
        self.out.wide(RegClass::Pair, &[low, high])
    }

    fn quad_of(&mut self, a: Src, b: Src, c: Src, d: Src) -> Reg {
        self.out.wide(RegClass::Quad, &[a, b, c, d])
    }

    // Constructors of packed-half instructions.

    fn hadd2(&mut self, ty: Type, flags: FloatFlags, a: Src, b: Src) -> Reg {
        let inst = self.out.two_commuting(HADD2, Number::Half, a, b);
        self.half_arithmetic(inst, ty, flags)
    }

    fn hmul2(&mut self, ty: Type, flags: FloatFlags, a: Src, b: Src) -> Reg {
        let inst = self.out.two_commuting(HMUL2, Number::Half, a, b);
        self.half_arithmetic(inst, ty, flags)
    }

    fn hfma2(&mut self, ty: Type, flags: FloatFlags, a: Src, b: Src, c: Src) -> Reg {
        let inst = self.out.three(HFMA2, Number::Half, a, b, c);
        self.half_arithmetic(inst, ty, flags)
    }

    fn hmin2(&mut self, ty: Type, flags: FloatFlags, a: Src, b: Src) -> Reg {
        self.half_minmax(true, ty, flags, a, b)
    }

    fn hmax2(&mut self, ty: Type, flags: FloatFlags, a: Src, b: Src) -> Reg {
        self.half_minmax(false, ty, flags, a, b)
    }

    fn hset2_mask(&mut self, ty: Type, cond: FloatCond, a: Src, b: Src) -> Reg {
        let inst = self.half_compare(HSET2, ty, cond, a, b).with(BVAL, choice!(M_BVAL, "BM"));
        self.out.word(inst)
    }

    fn hset2_one(&mut self, ty: Type, cond: FloatCond, a: Src, b: Src) -> Reg {
        let inst = self.half_compare(HSET2, ty, cond, a, b).with(BVAL, choice!(M_BVAL, "BF"));
        self.out.word(inst)
    }

    fn hsetp2(&mut self, ty: Type, cond: FloatCond, lane: u8, a: Src, b: Src) -> Pred {
        let inst = self.half_compare(HSETP2, ty, cond, a, b);
        self.out.pred(inst, if lane == 0 { PU } else { PV })
    }

    fn negate(&mut self, src: Src) -> Src {
        src.negated()
    }

    fn absolute(&mut self, src: Src) -> Src {
        src.absolute()
    }

    fn broadcast_half(&mut self, lane: u8, src: Src) -> Src {
        src.broadcast(lane)
    }

    fn half_one(&mut self, ty: Type) -> Src {
        Src::imm(if self.bf16(ty).is_some() { 0x3f80_3f80 } else { 0x3c00_3c00 })
    }

    fn zero_addend(&mut self, flags: FloatFlags) -> Src {
        Src::imm(if flags.rounding == Rounding::Rm { 0 } else { 0x8000_8000 })
    }

    fn plain_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
        (flags.clamp != Clamp::Relu).then_some(())?;
        self.fma_flags(ty, flags)
    }

    fn fma_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
        (self.f16(ty).is_some() || (!flags.ftz && flags.clamp != Clamp::Sat)).then_some(())
    }

    fn relu_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
        (flags.clamp == Clamp::Relu).then_some(())?;
        self.fma_flags(ty, flags)
    }

    fn bf16_sat_flags(&mut self, ty: Type, flags: FloatFlags) -> Option<Unit> {
        (self.bf16(ty).is_some() && !flags.ftz && flags.clamp == Clamp::Sat).then_some(())
    }

    // Constructors of video instructions.

    fn video(&mut self, op: &Video, ty: Type, sign: &Sign, a: Lanes, b: Lanes) -> Reg {
        let inst = self.video_inst(*op, ty, [*sign; 3], a, b);
        self.out.word(inst)
    }

    fn video_sat(&mut self, op: &Video, ty: Type, sign: &Sign, a: Lanes, b: Lanes) -> Reg {
        let inst = self.video_inst(*op, ty, [*sign; 3], a, b).with(VSAT, 1);
        self.out.word(inst)
    }

    fn video_sat_signed(&mut self, op: &Video, ty: Type, sign: &Sign, a: Lanes, b: Lanes) -> Reg {
        let inst = self.video_inst(*op, ty, [Sign::S, *sign, *sign], a, b).with(VSAT, 1);
        self.out.word(inst)
    }

    fn video_add(&mut self, op: &Video, ty: Type, sign: &Sign, a: Lanes, b: Lanes, acc: Reg) -> Reg {
        let inst = self.video_inst(*op, ty, [*sign; 3], a, b).with(VADD, 1);
        self.out.read(R64, acc);
        self.out.word(inst)
    }

    fn reduce(&mut self, op: &Video, ty: Type, sign: &Sign, lanes: Lanes) -> Reg {
        let pick = |from: Lanes, first: usize, step: usize| Lanes {
            reg: from.reg,
            map: std::array::from_fn(|i| from.map.get(first + step * (i % 2)).copied().unwrap_or(0)),
        };
        if ty.lanes() == 4 {
            let pairs = self.video(op, ty, sign, pick(lanes, 0, 1), pick(lanes, 2, 1));
            self.video(op, ty, sign, Lanes::plain(pairs), Lanes::plain(pairs).broadcast(1))
        } else {
            self.video(op, ty, sign, pick(lanes, 0, 0), pick(lanes, 1, 0))
        }
    }

    fn plain_lanes(&mut self, reg: Reg) -> Lanes {
        Lanes::plain(reg)
    }

    fn zero_lanes(&mut self) -> Lanes {
        Lanes::plain(Reg::ZERO)
    }

    fn map_lanes(&mut self, ty: Type, map: LaneMap, lanes: Lanes) -> Lanes {
        let from = |i: usize| lanes.map.get(map.get(i)).copied().unwrap_or(0);
        Lanes { reg: lanes.reg, map: std::array::from_fn(|i| if i < ty.lanes() { from(i) } else { 0 }) }
    }

    fn broadcast_lane(&mut self, _ty: Type, lane: u8, lanes: Lanes) -> Lanes {
        lanes.broadcast(lane)
    }

    fn first_operand_only(&mut self, ty: Type, map: LaneMap) -> Option<Unit> {
        (0..ty.lanes()).all(|i| map.get(i) < ty.lanes()).then_some(())
    }

    fn sign_mask(&mut self, ty: Type, reg: Reg) -> Reg {
        let selector = if lane_bits(ty) == 8 { 0xba98 } else { 0xbb99 };
        self.prmt(selector, Src::plain(SourceLocation::Reg(reg)), Src::ZERO)
    }

    // Constructors of integer instructions.

    fn iadd3(&mut self, a: Src, b: Src, c: Src) -> Reg {
        // All three operands commute. Only the second operand can be an immediate or constant memory.
        let [a, b, c] = if !c.is_reg() && b.is_reg() { [a, c, b] } else { [a, b, c] };
        let inst = self.out.three(IADD3, Number::Int, a, b, c);
        self.out.word(inst)
    }

    fn prefers_words(&mut self, _ty: Type) -> Option<Unit> {
        Some(())
    }

    fn word_sum(&mut self, a: Src, b: Src) -> Reg {
        self.iadd3(a, b, Src::ZERO)
    }

    fn word_difference(&mut self, a: Src, b: Src) -> Reg {
        self.iadd3(b.negated(), a, Src::ZERO)
    }

    fn word_excess(&mut self, a: Src, bias: u32, b: Src) -> Reg {
        let bias = rules::Context::imm(self, bias);
        self.iadd3(a, bias, b.negated())
    }

    fn takes_all(&mut self, a: Value, b: Value, c: Value) -> Option<Unit> {
        ([a, b, c].into_iter().filter(|&value| self.is_apart(value)).count() <= 1).then_some(())
    }

    fn sum_is_folded(&mut self, sum: Value) -> Option<Unit> {
        self.sum_uses.is_folded(self.kernel, sum).then_some(())
    }

    fn product_is_folded(&mut self, product: Value, factor: Value, addend: Value) -> Option<Unit> {
        let needs_move = self.is_apart(factor) && self.is_apart(addend);
        (!needs_move || self.sum_uses.has_single(self.kernel, product)).then_some(())
    }

    fn fills_below(&mut self, value: Value, count: u32) -> Option<Unit> {
        let fits = !count.is_multiple_of(8) && low_bits(self.kernel, value).is_some_and(|bits| bits <= count);
        fits.then_some(())
    }

    fn imad(&mut self, a: Src, b: Src, c: Src) -> Reg {
        let inst = self.out.three(IMAD, Number::Int, a, b, c);
        self.out.word(inst)
    }

    fn imad_wide(&mut self, sign: &Sign, a: Src, b: Src) -> Reg {
        let inst = self.out.three(IMAD_WIDE, Number::Int, a, b, Src::ZERO);
        let inst = inst.with(SIGN, sign_choice!(M_SIGN, *sign));
        Reg::new(self.out.put(inst, RegClass::Pair, None, 0))
    }

    fn divide(&mut self, sign: &Sign, a: Src, b: Src) -> Reg {
        self.division(Opcode::IDIV_RR, *sign, a, b)
    }

    fn remainder(&mut self, sign: &Sign, a: Src, b: Src) -> Reg {
        self.division(Opcode::IREM_RR, *sign, a, b)
    }

    fn divide_pair(&mut self, sign: &Sign, a: Reg, b: Reg) -> Reg {
        self.pair_division(Opcode::IDIV_WIDE_RR, *sign, a, b)
    }

    fn remainder_pair(&mut self, sign: &Sign, a: Reg, b: Reg) -> Reg {
        self.pair_division(Opcode::IREM_WIDE_RR, *sign, a, b)
    }

    fn add_pair(&mut self, a: Reg, b: Reg) -> Reg {
        self.add_words(a, b, false)
    }

    fn sub_pair(&mut self, a: Reg, b: Reg) -> Reg {
        self.add_words(a, b, true)
    }

    fn neg_pair(&mut self, a: Reg) -> Reg {
        self.add_words(Reg::ZERO, a, true)
    }

    fn mul_pair(&mut self, a: Reg, b: Reg) -> Reg {
        let word = |reg: Reg, part| Src::plain(SourceLocation::Reg(reg.part(part)));
        let low = self.imad_wide(&Sign::U, word(a, 0), word(b, 0));
        let sum = self.imad(word(a, 1), word(b, 0), word(low, 1));
        let inst = self.out.three(IMAD, Number::Int, word(a, 0), word(b, 1), Src::plain(SourceLocation::Reg(sum)));
        Reg::new(self.out.put(inst, RegClass::Pair, low.vreg, 1))
    }

    fn lop3(&mut self, table: u8, a: Src, b: Src, c: Src) -> Reg {
        let inst = self.out.three_in_order(LOP3, Number::Int, a, b, c).with(LUT, table.into());
        self.out.word(inst)
    }

    fn shift_left(&mut self, a: Src, count: Src) -> Reg {
        self.shift(true, Sign::U, a, count)
    }

    fn shift_right(&mut self, sign: &Sign, a: Src, count: Src) -> Reg {
        self.shift(false, *sign, a, count)
    }

    fn prmt(&mut self, selector: u16, a: Src, b: Src) -> Reg {
        let (a, b) = (self.out.reg(a), self.out.reg(b));
        let inst = Word::new(Opcode::PRMT_RIR).with(IMM16, selector.into());
        self.out.read(RA, a);
        self.out.read(R64, b);
        self.out.word(inst)
    }

    fn count_ones(&mut self, a: Src) -> Reg {
        let inst = self.out.one(Opcode::POPC_R, Number::Int, a);
        self.out.word(inst)
    }

    fn reverse_bits(&mut self, a: Src) -> Reg {
        let inst = self.out.one(Opcode::BREV_R, Number::Int, a);
        self.out.word(inst)
    }

    fn leading_one(&mut self, a: Src) -> Reg {
        let inst = self.out.one(Opcode::FLO_R, Number::Int, a);
        self.out.word(inst)
    }

    fn funnel_left(&mut self, low: Src, count: Src, high: Src) -> Reg {
        self.funnel(true, low, count, high)
    }

    fn funnel_right(&mut self, low: Src, count: Src, high: Src) -> Reg {
        self.funnel(false, low, count, high)
    }

    fn dot_bytes(&mut self, of_a: &Sign, of_b: &Sign, a: Src, b: Src, c: Src) -> Reg {
        let signs = [sign_choice!(M_BYTES_A, *of_a), sign_choice!(M_BYTES_B, *of_b)];
        self.dot(Word::new(Opcode::IDP_4A), signs, [a, b, c])
    }

    fn dot_halves(&mut self, first: u8, of_a: &Sign, of_b: &Sign, a: Src, b: Src, c: Src) -> Reg {
        let upper = if first == 0 { choice!(M_UPPER, "LO") } else { choice!(M_UPPER, "HI") };
        let signs = [sign_choice!(M_HALVES_A, *of_a), sign_choice!(M_BYTES_B, *of_b)];
        self.dot(Word::new(Opcode::IDP_2A).with(UPPER, upper), signs, [a, b, c])
    }

    fn prmt_by(&mut self, selector: Reg, a: Src, b: Src) -> Reg {
        let (a, b) = (self.out.reg(a), self.out.reg(b));
        self.out.read(RA, a);
        self.out.read(R32, selector);
        self.out.read(R64, b);
        self.out.word(Word::new(Opcode::PRMT_RRR))
    }

    fn isetp(&mut self, cc: &IntCC, a: Src, b: Src) -> Pred {
        let inst = self.int_compare(*cc, a, b);
        self.out.pred(inst, PU)
    }

    fn isetp_and(&mut self, cc: &IntCC, a: Src, b: Src, pred: Pred) -> Pred {
        let mut inst = self.int_compare(*cc, a, b);
        self.out.read_pred(&mut inst, PP, PP_NOT, pred);
        self.out.pred(inst, PU)
    }

    fn isetp_pair(&mut self, cc: &IntCC, a: Reg, b: Reg) -> Pred {
        let inst = Word::new(Opcode::ISETP_RR).with(ICMP, int_condition(*cc));
        self.out.read(RA, a);
        self.out.read(R32, b);
        let low = self.out.pred(inst.with(SIGN, sign_choice!(M_SIGN, Sign::U)), PU);
        let mut inst = inst.with(SIGN, sign_choice!(M_SIGN, Sign::of(*cc))).with(EX, 1);
        self.out.read(RA, a.part(1));
        self.out.read(R32, b.part(1));
        self.out.read_pred(&mut inst, PX, PX_NOT, low);
        self.out.pred(inst, PU)
    }

    fn select_word(&mut self, pred: Pred, a: Src, b: Src) -> Reg {
        let (pred, a, b) = if b.is_reg() && !a.is_reg() { (pred.inverted(), b, a) } else { (pred, a, b) };
        let mut inst = self.out.two(SEL, Number::Int, a, b);
        self.out.read_pred(&mut inst, PP, PP_NOT, pred);
        self.out.word(inst)
    }

    fn select_wide(&mut self, pred: Pred, ty: Type, a: Reg, b: Reg) -> Reg {
        let class = if ty.bits() == 64 { RegClass::Pair } else { RegClass::Quad };
        let mut so_far = None;
        for part in 0..(ty.bits() / 32) as u8 {
            let mut inst = Word::new(Opcode::SEL_RR);
            self.out.read(RA, a.part(part));
            self.out.read(R32, b.part(part));
            self.out.read_pred(&mut inst, PP, PP_NOT, pred);
            so_far = Some(self.out.put(inst, class, so_far, part));
        }
        so_far.map_or(Reg::ZERO, Reg::new)
    }

    fn in_register(&mut self, src: Src) -> Reg {
        self.out.reg(src)
    }

    fn both(&mut self, a: Pred, b: Pred) -> Pred {
        self.plop3(0xc0, a, b, Pred::TRUE)
    }

    fn either(&mut self, a: Pred, b: Pred) -> Pred {
        self.plop3(0xfc, a, b, Pred::TRUE)
    }

    fn differ(&mut self, a: Pred, b: Pred) -> Pred {
        self.plop3(0x3c, a, b, Pred::TRUE)
    }

    fn choose(&mut self, condition: Pred, a: Pred, b: Pred) -> Pred {
        self.plop3(0xca, condition, a, b)
    }

    fn extend(&mut self, sign: &Sign, ty: Type, src: Src) -> Src {
        let bits = ty.bits();
        match src.place {
            _ if bits >= 32 => src,
            SourceLocation::Imm(imm) => {
                let unused = 32 - bits;
                Src::imm(match sign {
                    Sign::U => imm << unused >> unused,
                    Sign::S => ((imm << unused) as i32 >> unused) as u32,
                })
            }
            _ => {
                let selector = match (sign, bits) {
                    (Sign::U, 8) => 0x4440,
                    (Sign::S, 8) => 0x8880,
                    (Sign::U, _) => 0x4410,
                    (Sign::S, _) => 0x9910,
                };
                let reg = self.prmt(selector, src, Src::ZERO);
                Src::plain(SourceLocation::Reg(reg))
            }
        }
    }

    fn count_mask(&mut self, ty: Type) -> Src {
        Src::imm(ty.elem().bits() - 1)
    }

    // Constructors of f32 instructions.

    fn fadd(&mut self, flags: FloatFlags, a: Src, b: Src) -> Reg {
        let inst = self.out.two_commuting(FADD, Number::Single, a, b);
        self.out.word(inst.with(RND, rounding(flags.rounding)))
    }

    fn fmul(&mut self, flags: FloatFlags, a: Src, b: Src) -> Reg {
        let inst = self.out.two_commuting(FMUL, Number::Single, a, b);
        self.out.word(inst.with(RND, rounding(flags.rounding)))
    }

    fn ffma(&mut self, flags: FloatFlags, a: Src, b: Src, c: Src) -> Reg {
        let inst = self.out.three(FFMA, Number::Single, a, b, c);
        self.out.word(inst.with(RND, rounding(flags.rounding)))
    }

    fn fdiv(&mut self, flags: FloatFlags, a: Src, b: Src) -> Reg {
        let b = self.out.in_reg(b.folded(Number::Single));
        let forms = TwoForms { rr: Opcode::FDIV_RR, ri: Opcode::FDIV_RR, rc: Opcode::FDIV_RR };
        let inst = self.out.two(forms, Number::Single, a, b);
        self.out.word(inst.with(RND, rounding(flags.rounding)))
    }

    fn fsqrt(&mut self, flags: FloatFlags, a: Src) -> Reg {
        let inst = self.out.one(Opcode::FSQRT_R, Number::Single, a);
        self.out.word(inst.with(RND, rounding(flags.rounding)))
    }

    // Constructors of f64 instructions.

    fn dadd(&mut self, flags: FloatFlags, a: Reg, b: Reg) -> Reg {
        self.double(Opcode::DADD_RR, flags, &[a, b])
    }

    fn dsub(&mut self, flags: FloatFlags, a: Reg, b: Reg) -> Reg {
        let inst = Word::new(Opcode::DADD_RR).with(SLOT_NEG, 1).with(RND, rounding(flags.rounding));
        self.of_pairs(inst, &[a, b])
    }

    fn dmul(&mut self, flags: FloatFlags, a: Reg, b: Reg) -> Reg {
        self.double(Opcode::DMUL_RR, flags, &[a, b])
    }

    fn dfma(&mut self, flags: FloatFlags, a: Reg, b: Reg, c: Reg) -> Reg {
        self.double(Opcode::DFMA_RRR, flags, &[a, b, c])
    }

    fn ddiv(&mut self, flags: FloatFlags, a: Reg, b: Reg) -> Reg {
        self.double(Opcode::DDIV_RR, flags, &[a, b])
    }

    fn dsqrt(&mut self, flags: FloatFlags, a: Reg) -> Reg {
        self.out.read(R32, a);
        let inst = Word::new(Opcode::DSQRT_R).with(RND, rounding(flags.rounding));
        Reg::new(self.out.put(inst, RegClass::Pair, None, 0))
    }

    fn dmin(&mut self, a: Reg, b: Reg) -> Reg {
        self.of_pairs(Word::new(Opcode::DMNMX_RR), &[a, b])
    }

    fn dmax(&mut self, a: Reg, b: Reg) -> Reg {
        self.of_pairs(Word::new(Opcode::DMNMX_RR).with(PP_NOT, 1), &[a, b])
    }

    fn dsetp(&mut self, cond: FloatCond, a: Reg, b: Reg) -> Pred {
        self.out.read(RA, a);
        self.out.read(R32, b);
        self.out.pred(Word::new(Opcode::DSETP_RR).with(CMP, float_condition(cond.0)), PU)
    }

    fn single_to_double(&mut self, a: Src) -> Reg {
        let a = self.out.reg(a);
        self.pair_of_one(Word::new(Opcode::F2F_F64_F32), a)
    }

    fn half_to_double(&mut self, a: Reg) -> Reg {
        self.pair_of_one(Word::new(Opcode::F2F_F64_F16), a)
    }

    fn double_to_single(&mut self, flags: FloatFlags, a: Reg) -> Reg {
        self.out.read(R32, a);
        self.out.word(Word::new(Opcode::F2F_F32_F64).with(RND, rounding(flags.rounding)))
    }

    fn double_to_half(&mut self, flags: FloatFlags, a: Reg) -> Reg {
        self.out.read(R32, a);
        self.out.word(Word::new(Opcode::F2F_F16_F64).with(RND, rounding(flags.rounding)))
    }

    fn word_to_double(&mut self, sign: &Sign, a: Src) -> Reg {
        let a = self.out.reg(a);
        self.pair_of_one(Word::new(Opcode::I2F_F64).with(SIGN, sign_choice!(M_SIGN, *sign)), a)
    }

    fn pair_to_double(&mut self, sign: &Sign, flags: FloatFlags, a: Reg) -> Reg {
        let inst = Word::new(Opcode::I2F_F64_WIDE).with(SIGN, sign_choice!(M_SIGN, *sign));
        self.pair_of_one(inst.with(INT_RND, rounding(flags.rounding)), a)
    }

    fn double_to_word(&mut self, sign: &Sign, a: Reg) -> Reg {
        self.out.read(R32, a);
        self.out.word(Word::new(Opcode::F2I_F64).with(SIGN, sign_choice!(M_SIGN, *sign)))
    }

    fn double_to_pair(&mut self, sign: &Sign, a: Reg) -> Reg {
        self.pair_of_one(Word::new(Opcode::F2I_F64_WIDE).with(SIGN, sign_choice!(M_SIGN, *sign)), a)
    }

    fn fexp2(&mut self, a: Src) -> Reg {
        self.mufu(choice!(M_MUFU, "EX2"), a)
    }

    fn flog2(&mut self, a: Src) -> Reg {
        self.mufu(choice!(M_MUFU, "LG2"), a)
    }

    fn frsqrt(&mut self, a: Src) -> Reg {
        self.mufu(choice!(M_MUFU, "RSQ"), a)
    }

    fn fsin(&mut self, a: Src) -> Reg {
        self.mufu(choice!(M_MUFU, "SIN"), a)
    }

    fn fcos(&mut self, a: Src) -> Reg {
        self.mufu(choice!(M_MUFU, "COS"), a)
    }

    fn ftanh(&mut self, a: Src) -> Reg {
        self.mufu(choice!(M_MUFU, "TANH"), a)
    }

    fn fmin(&mut self, flags: FloatFlags, a: Src, b: Src) -> Reg {
        self.float_minmax(true, flags, a, b)
    }

    fn fmax(&mut self, flags: FloatFlags, a: Src, b: Src) -> Reg {
        self.float_minmax(false, flags, a, b)
    }

    fn fsetp(&mut self, cond: FloatCond, a: Src, b: Src) -> Pred {
        let (cc, a, b) = if b.is_reg() && !a.is_reg() { (cond.0.swapped(), b, a) } else { (cond.0, a, b) };
        let inst = self.out.two(FSETP, Number::Single, a, b).with(CMP, float_condition(cc));
        self.out.pred(inst, PU)
    }

    fn i2f(&mut self, sign: &Sign, flags: FloatFlags, a: Src) -> Reg {
        let inst = self.out.one(Opcode::I2F_R, Number::Int, a).with(INT_RND, rounding(flags.rounding));
        self.out.word(inst.with(SIGN, sign_choice!(M_SIGN, *sign)))
    }

    fn f2i(&mut self, sign: &Sign, a: Src) -> Reg {
        let inst = self.out.one(Opcode::F2I_R, Number::Single, a);
        self.out.word(inst.with(SIGN, sign_choice!(M_SIGN, *sign)))
    }

    fn widen_half(&mut self, ty: Type, a: Src) -> Reg {
        let opcode = if self.bf16(ty).is_some() { Opcode::F2F_F32_BF16 } else { Opcode::F2F_F32_F16 };
        let inst = self.out.one_half(opcode, a);
        self.out.word(inst)
    }

    fn narrow_half(&mut self, ty: Type, flags: FloatFlags, a: Src) -> Reg {
        let opcode = if self.bf16(ty).is_some() { Opcode::F2F_BF16_F32 } else { Opcode::F2F_F16_F32 };
        let inst = self.out.one(opcode, Number::Single, a).with(RND, rounding(flags.rounding));
        self.out.word(inst)
    }

    fn pack_halves(&mut self, ty: Type, flags: FloatFlags, low: Src, high: Src) -> Reg {
        let low = self.out.in_reg(low.folded(Number::Single));
        let forms = TwoForms { rr: Opcode::F2FP_RR, ri: Opcode::F2FP_RR, rc: Opcode::F2FP_RR };
        let inst = self.out.two(forms, Number::Single, high, low);
        self.out.word(inst.with(HFMT, half_format(ty)).with(RND, rounding(flags.rounding)))
    }

    // Extractors and constructors of lane moves.

    fn broadcast_map(&mut self, map: LaneMap) -> Option<u8> {
        (map.get(0) == map.get(1) && map.get(0) < 2).then_some(map.get(0) as u8)
    }

    fn lane_down(&mut self, ty: Type, lane: u8, reg: Reg) -> Reg {
        self.down(lane_bits(ty), lane, reg)
    }

    fn extend_lane(&mut self, sign: &Sign, ty: Type, lane: u8, src: Src) -> Reg {
        let reg = self.out.reg(src);
        let down = self.lane_down(ty, lane, reg);
        let extended = self.extend(sign, ty.lane_type(), Src::plain(SourceLocation::Reg(down)));
        self.out.reg(extended)
    }

    fn part_down(&mut self, ty: Type, part: u8, reg: Reg) -> Reg {
        self.down(ty.bits(), part, reg)
    }

    fn lane_ones(&mut self, ty: Type, lane: u8) -> Src {
        let bits = lane_bits(ty);
        Src::imm((((1u64 << bits) - 1) << (bits * u32::from(lane) % 32)) as u32)
    }

    fn lanes_shl(&mut self, ty: Type, n: u32, a: Src) -> Reg {
        if n == 0 {
            return self.out.reg(a);
        }
        let width = lane_bits(ty);
        let shifted = self.shift_left(a, Src::imm(n));
        let kept = in_lanes(width, (ty.elem().mask() as u32) << n);
        self.lop3(0xc0, Src::plain(SourceLocation::Reg(shifted)), Src::imm(kept), Src::ZERO)
    }

    fn lanes_shr(&mut self, sign: &Sign, ty: Type, n: u32, a: Src) -> Reg {
        if n == 0 {
            return self.out.reg(a);
        }
        let width = lane_bits(ty);
        let shifted = self.shift_right(&Sign::U, a, Src::imm(n));
        let shifted = Src::plain(SourceLocation::Reg(shifted));
        let kept = Src::imm(in_lanes(width, ty.elem().mask() as u32 >> n));
        match sign {
            Sign::U => self.lop3(0xc0, shifted, kept, Src::ZERO),
            // Sign extension of lanes: with m = the shifted sign bit, `(x ^ m) - m` copies the sign
            // upward. The table 0x6a is `(a & b) ^ c`.
            Sign::S => {
                let m = self.out.in_reg(Src::imm(in_lanes(width, 1 << (width - 1) >> n)));
                let flipped = self.lop3(0x6a, shifted, kept, m);
                let m = self.out.reg(m);
                self.video(&Video::Sub, ty, &Sign::U, Lanes::plain(flipped), Lanes::plain(m))
            }
        }
    }

    fn sign_bits(&mut self, ty: Type) -> Src {
        Src::imm(if ty.is_half() { 0x8000_8000 } else { 0x8000_0000 })
    }

    fn magnitude_bits(&mut self, ty: Type) -> Src {
        Src::imm(if ty.is_half() { 0x7fff_7fff } else { 0x7fff_ffff })
    }

    fn constant(&mut self, ty: Type, inst: Inst) -> Reg {
        let bits = register_bits(self.kernel, inst).unwrap_or_default();
        let word = |i: u32| Src::imm((bits[(i / 2) as usize % 8] >> (32 * (i % 2))) as u32);
        match ty.bits() {
            128 => self.out.wide(RegClass::Quad, &[word(0), word(1), word(2), word(3)]),
            64 => self.out.wide(RegClass::Pair, &[word(0), word(1)]),
            _ => self.out.reg(word(0)),
        }
    }

    fn param_word(&mut self, value: Value) -> Option<u16> {
        let ValueDef::Param(number) = self.kernel.values[value].def else { return None };
        self.word(self.kernel.ty(value)).filter(|ty| !ty.is_mask())?;
        self.param_offset(number).filter(|offset| offset % 4 == 0)
    }

    fn narrow_param(&mut self, value: Value) -> Option<(Type, u16)> {
        let ValueDef::Param(number) = self.kernel.values[value].def else { return None };
        let ty = self.kernel.ty(value);
        (ty.is_int() && ty.bits() < 32).then_some((ty, self.param_offset(number)?))
    }

    fn signed_param(&mut self, ty: Type, offset: u16) -> Reg {
        let opcode = if ty.bits() == 8 { Opcode::LDC_S8 } else { Opcode::LDC_S16 };
        self.out.word(Word::new(opcode).with(CMEM_OFFSET, offset.into()))
    }

    // Constructors of loads, stores and addresses.

    fn load(&mut self, ty: Type, mem: MemAttr, base: Value) -> Reg {
        self.load_from(ty, mem, base, None)
    }

    fn plain_index(&mut self, value: Value) -> Index {
        Index::plain(value)
    }

    fn times(&mut self, index: Index, factor: u32) -> Index {
        Index { factor: index.factor.wrapping_mul(factor), ..index }
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
        self.lane_number()
    }

    fn item_id(&mut self, axis: AxisOf) -> Reg {
        self.special(choice!(M_SREG, "SR_ITEM"), axis)
    }

    fn item_count(&mut self) -> Reg {
        self.out.reg(Src::plain(SourceLocation::Const(ITEM_COUNT_OFFSET)))
    }

    fn local_id(&mut self, axis: AxisOf) -> Reg {
        self.special(choice!(M_SREG, "SR_TID"), axis)
    }

    fn group_id(&mut self, axis: AxisOf) -> Reg {
        self.special(choice!(M_SREG, "SR_CTAID"), axis)
    }

    fn group_size(&mut self, axis: AxisOf) -> Reg {
        self.count(GROUP_SIZE_OFFSET, axis)
    }

    fn group_count(&mut self, axis: AxisOf) -> Reg {
        self.count(GROUP_COUNT_OFFSET, axis)
    }
}

/// Returns `true` if a parameter is a buffer.
pub(super) fn is_buffer(kernel: &Kernel, number: u32) -> bool {
    kernel.params.get(number as usize).is_some_and(|param| matches!(param.kind, ParamKind::Buffer { .. }))
}

/// Selects an instruction by the rules; returns `None` if no rule matches.
pub(super) fn lower(lowering: &mut Lowering<'_>, inst: Inst) -> Option<Reg> {
    rules::constructor_lower(lowering, inst)
}

/// Returns a value as a source operand.
pub(super) fn src(lowering: &mut Lowering<'_>, value: Value) -> Src {
    rules::constructor_src(lowering, value)
}

/// Returns a value in a register, zero-extended to 32 bits if it is narrower.
pub(super) fn zero_extended(lowering: &mut Lowering<'_>, value: Value) -> Reg {
    let ty = lowering.kernel.ty(value);
    let reg = lowering.value_reg(value);
    if ty == Type::I1 || ty.bits() >= 32 {
        return reg;
    }
    let extended = rules::Context::extend(lowering, &Sign::U, ty, Src::plain(SourceLocation::Reg(reg)));
    lowering.out.reg(extended)
}

/// Returns an `i1` value as a predicate.
pub(super) fn pred(lowering: &mut Lowering<'_>, value: Value) -> Pred {
    rules::constructor_pred(lowering, value)
}
