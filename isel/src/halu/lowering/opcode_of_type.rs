//! Constructors of HALU instructions that have opcodes, conditions or modifiers in common with
//! other instructions.

use halfbyte_ir::{Clamp, FloatCC, FloatFlags, IntCC, Type};
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst as Word, Opcode};
use halfbyte_isa::row::Modifier;

use super::super::builder::{ThreeForms, TwoForms, choice, rounding, value_of};
use super::super::machine::RegClass;
use super::super::operands::{Lanes, Number, Pred, Reg, SourceLocation, Src};
use super::Lowering;
use crate::classes::type_class;
use crate::simt::{Sign, Video, lane_bits};

macro_rules! two_forms {
    ($rr:ident $ri:ident $rc:ident) => {
        TwoForms { rr: Opcode::$rr, ri: Opcode::$ri, rc: Opcode::$rc }
    };
}

macro_rules! three_forms {
    ($rrr:ident $rir:ident $rcr:ident, $rri:expr, $rrc:expr) => {
        ThreeForms { rrr: Opcode::$rrr, rir: Opcode::$rir, rcr: Opcode::$rcr, rri: $rri, rrc: $rrc }
    };
}

pub(super) const HADD2: TwoForms = two_forms!(HADD2_RR HADD2_RI HADD2_RC);
pub(super) const HMUL2: TwoForms = two_forms!(HMUL2_RR HMUL2_RI HMUL2_RC);
pub(super) const HMNMX2: TwoForms = two_forms!(HMNMX2_RR HMNMX2_RI HMNMX2_RC);
pub(super) const HSET2: TwoForms = two_forms!(HSET2_RR HSET2_RI HSET2_RC);
pub(super) const HSETP2: TwoForms = two_forms!(HSETP2_RR HSETP2_RI HSETP2_RC);
pub(super) const FADD: TwoForms = two_forms!(FADD_RR FADD_RI FADD_RC);
pub(super) const FMUL: TwoForms = two_forms!(FMUL_RR FMUL_RI FMUL_RC);
pub(super) const FMNMX: TwoForms = two_forms!(FMNMX_RR FMNMX_RI FMNMX_RC);
pub(super) const FSETP: TwoForms = two_forms!(FSETP_RR FSETP_RI FSETP_RC);
pub(super) const ISETP: TwoForms = two_forms!(ISETP_RR ISETP_RI ISETP_RC);
pub(super) const SEL: TwoForms = two_forms!(SEL_RR SEL_RI SEL_RC);
pub(super) const HFMA2: ThreeForms =
    three_forms!(HFMA2_RRR HFMA2_RIR HFMA2_RCR, Some(Opcode::HFMA2_RRI), Some(Opcode::HFMA2_RRC));
pub(super) const FFMA: ThreeForms = three_forms!(FFMA_RRR FFMA_RIR FFMA_RCR, Some(Opcode::FFMA_RRI), None);
pub(in crate::halu) const IMAD: ThreeForms = three_forms!(IMAD_RRR IMAD_RIR IMAD_RCR, Some(Opcode::IMAD_RRI), None);
pub(super) const IMAD_WIDE: ThreeForms = three_forms!(IMAD_WIDE_RRR IMAD_WIDE_RIR IMAD_WIDE_RCR, None, None);
pub(in crate::halu) const IADD3: ThreeForms = three_forms!(IADD3_RRR IADD3_RIR IADD3_RCR, None, None);
pub(in crate::halu) const LOP3: ThreeForms = three_forms!(LOP3_RRR LOP3_RIR LOP3_RCR, None, None);

/// Returns the encoding of a float condition.
pub(super) fn float_condition(cc: FloatCC) -> u64 {
    match cc {
        FloatCC::Eq => choice!(M_CMP, "EQ"),
        FloatCC::Ne => choice!(M_CMP, "NE"),
        FloatCC::Lt => choice!(M_CMP, "LT"),
        FloatCC::Le => choice!(M_CMP, "LE"),
        FloatCC::Gt => choice!(M_CMP, "GT"),
        FloatCC::Ge => choice!(M_CMP, "GE"),
        FloatCC::Equ => choice!(M_CMP, "EQU"),
        FloatCC::Neu => choice!(M_CMP, "NEU"),
        FloatCC::Ltu => choice!(M_CMP, "LTU"),
        FloatCC::Leu => choice!(M_CMP, "LEU"),
        FloatCC::Gtu => choice!(M_CMP, "GTU"),
        FloatCC::Geu => choice!(M_CMP, "GEU"),
        FloatCC::Num => choice!(M_CMP, "NUM"),
        FloatCC::Nan => choice!(M_CMP, "NAN"),
    }
}

pub(super) fn int_condition(cc: IntCC) -> u64 {
    match cc {
        IntCC::Eq => choice!(M_ICMP, "EQ"),
        IntCC::Ne => choice!(M_ICMP, "NE"),
        IntCC::LtS | IntCC::LtU => choice!(M_ICMP, "LT"),
        IntCC::LeS | IntCC::LeU => choice!(M_ICMP, "LE"),
        IntCC::GtS | IntCC::GtU => choice!(M_ICMP, "GT"),
        IntCC::GeS | IntCC::GeU => choice!(M_ICMP, "GE"),
    }
}

/// Returns the encodings of unsigned and signed for a type modifier. Type names are lower case in
/// video instructions and upper case in other instructions.
pub(super) const fn signs(modifier: &Modifier) -> [u64; 2] {
    match modifier.value("u32") {
        Some(_) => [value_of(modifier, "u32"), value_of(modifier, "s32")],
        None => match (modifier.value("U32"), modifier.value("U16")) {
            (Some(_), _) => [value_of(modifier, "U32"), value_of(modifier, "S32")],
            (_, Some(_)) => [value_of(modifier, "U16"), value_of(modifier, "S16")],
            _ => [value_of(modifier, "U8"), value_of(modifier, "S8")],
        },
    }
}

/// Encoding of a signedness in a type modifier. Both encodings are computed at compile time.
macro_rules! sign_choice {
    ($modifier:expr, $sign:expr) => {{
        let [unsigned, signed] = const { $crate::halu::lowering::opcode_of_type::signs(&$modifier) };
        match $sign {
            Sign::U => unsigned,
            Sign::S => signed,
        }
    }};
}
pub(super) use sign_choice;

pub(super) fn half_format(ty: Type) -> u64 {
    if type_class("bf16", ty) == Some(true) { choice!(M_HFMT, "BF16_V2") } else { choice!(M_HFMT, "F16_V2") }
}

impl Lowering<'_> {
    /// Emits MUFU (special function unit) with the given encoding of its function modifier.
    pub(super) fn mufu(&mut self, function: u64, a: Src) -> Reg {
        let inst = self.out.one(Opcode::MUFU_R, Number::Single, a);
        self.out.word(inst.with(MUFU, function))
    }

    pub(super) fn half_arithmetic(&mut self, mut inst: Word, ty: Type, flags: FloatFlags) -> Reg {
        inst.set(HFMT, half_format(ty));
        inst.set(RND, rounding(flags.rounding));
        inst.set(FTZ, flags.ftz.into());
        match flags.clamp {
            Clamp::None => {}
            Clamp::Sat => inst.set(SAT, 1),
            Clamp::Relu => inst.set(RELU, 1),
        }
        self.out.word(inst)
    }

    pub(super) fn half_minmax(&mut self, least: bool, ty: Type, flags: FloatFlags, a: Src, b: Src) -> Reg {
        let inst = self.out.two_commuting(HMNMX2, Number::Half, a, b);
        let inst = inst
            .with(HFMT, half_format(ty))
            .with(FTZ, flags.ftz.into())
            .with(NAN, flags.nan.into())
            .with(PP_NOT, (!least).into());
        self.out.word(inst)
    }

    pub(super) fn float_minmax(&mut self, least: bool, flags: FloatFlags, a: Src, b: Src) -> Reg {
        let inst = self.out.two_commuting(FMNMX, Number::Single, a, b);
        self.out.word(inst.with(NAN, flags.nan.into()).with(PP_NOT, (!least).into()))
    }

    /// Starts a packed-half compare. The operands are swapped if only the second one is a register.
    pub(super) fn half_compare(&mut self, forms: TwoForms, ty: Type, cond: (FloatCC, bool), a: Src, b: Src) -> Word {
        let (cc, a, b) = if b.is_reg() && !a.is_reg() { (cond.0.swapped(), b, a) } else { (cond.0, a, b) };
        let inst = self.out.two(forms, Number::Half, a, b);
        inst.with(HFMT, half_format(ty)).with(FTZ, cond.1.into()).with(CMP, float_condition(cc))
    }

    pub(super) fn video_inst(&mut self, op: Video, ty: Type, types: [Sign; 3], a: Lanes, b: Lanes) -> Word {
        let bytes = lane_bits(ty) == 8;
        let opcode = match (op, bytes) {
            (Video::Add, true) => Opcode::VADD4,
            (Video::Sub, true) => Opcode::VSUB4,
            (Video::Avrg, true) => Opcode::VAVRG4,
            (Video::AbsDiff, true) => Opcode::VABSDIFF4,
            (Video::Min, true) => Opcode::VMIN4,
            (Video::Max, true) => Opcode::VMAX4,
            (Video::Add, false) => Opcode::VADD2,
            (Video::Sub, false) => Opcode::VSUB2,
            (Video::Avrg, false) => Opcode::VAVRG2,
            (Video::AbsDiff, false) => Opcode::VABSDIFF2,
            (Video::Min, false) => Opcode::VMIN2,
            (Video::Max, false) => Opcode::VMAX2,
        };
        let (lanes, bits, asel, bsel) = if bytes { (4, 3, ASEL4, BSEL4) } else { (2, 2, ASEL2, BSEL2) };
        let selector = |map: [u8; 4], first: u8| {
            map.iter().take(lanes).enumerate().fold(0, |s, (i, &lane)| s | u64::from(lane + first) << (bits * i))
        };
        let [dtype, atype, btype] = types;
        let mut inst = Word::new(opcode);
        inst.set(DTYPE, sign_choice!(M_DTYPE, dtype));
        inst.set(ATYPE, sign_choice!(M_ATYPE, atype));
        inst.set(BTYPE, sign_choice!(M_BTYPE, btype));
        inst.set(asel, selector(a.map, 0));
        inst.set(bsel, selector(b.map, lanes as u8));
        self.out.read(RA, a.reg);
        self.out.read(R32, b.reg);
        inst
    }

    pub(super) fn int_compare(&mut self, cc: IntCC, a: Src, b: Src) -> Word {
        let (cc, a, b) = if b.is_reg() && !a.is_reg() { (cc.swapped(), b, a) } else { (cc, a, b) };
        let inst = self.out.two(ISETP, Number::Int, a, b);
        inst.with(ICMP, int_condition(cc)).with(SIGN, sign_choice!(M_SIGN, Sign::of(cc)))
    }

    pub(super) fn add_words(&mut self, a: Reg, b: Reg, subtract: bool) -> Reg {
        let inst = Word::new(Opcode::IADD3_RRR).with(SLOT_NEG, subtract.into());
        self.out.read(RA, a);
        self.out.read(R32, b);
        let carry = self.out.define(PU, RegClass::Pred);
        let low = self.out.put(inst, RegClass::Pair, None, 0);
        let mut inst = inst.with(X, 1);
        self.out.read(RA, a.part(1));
        self.out.read(R32, b.part(1));
        self.out.read_pred(&mut inst, PP, PP_NOT, Pred { vreg: Some(carry), not: false });
        Reg::new(self.out.put(inst, RegClass::Pair, Some(low), 1))
    }

    /// Emits a dot product. `of_a` and `of_b` encode the signedness of the elements of each operand.
    pub(super) fn dot(&mut self, inst: Word, [of_a, of_b]: [u64; 2], [a, b, c]: [Src; 3]) -> Reg {
        let [a, b, c] = [a, b, c].map(|src| self.out.reg(src));
        self.out.read(RA, a);
        self.out.read(R32, b);
        self.out.read(R64, c);
        self.out.word(inst.with(ATYPE, of_a).with(BTYPE, of_b))
    }

    /// Emits a funnel shift. The result is the high word of a left shift, or the low word of a right shift.
    pub(super) fn funnel(&mut self, left: bool, low: Src, count: Src, high: Src) -> Reg {
        let (low, high) = (self.out.reg(low), self.out.reg(high));
        let direction = if left { choice!(M_DIR, "L") } else { choice!(M_DIR, "R") };
        let sign = sign_choice!(M_SIGN, Sign::U);
        let set = |inst: Word| inst.with(DIR, direction).with(HI, left.into()).with(SIGN, sign);
        let inst = match count.place {
            SourceLocation::Imm(n) => set(Word::new(Opcode::SHF_RIR)).with(IMM32, (n % 32).into()),
            _ => {
                let count = self.out.reg(count);
                self.out.read(R32, count);
                set(Word::new(Opcode::SHF_RRR))
            }
        };
        self.out.read(RA, low);
        self.out.read(R64, high);
        self.out.word(inst)
    }

    /// Returns the 64-bit sum of an address and `index * scale`.
    pub(super) fn wide_sum(&mut self, base: Reg, index: Reg, scale: u32) -> Reg {
        let inst = Word::new(Opcode::IMAD_WIDE_RIR).with(IMM32, scale.into()).with(SIGN, sign_choice!(M_SIGN, Sign::U));
        self.out.read(RA, index);
        self.out.read(R64, base);
        Reg::new(self.out.put(inst, RegClass::Pair, None, 0))
    }

    pub(super) fn shift(&mut self, left: bool, sign: Sign, a: Src, count: Src) -> Reg {
        let a = self.out.reg(a);
        let count = if matches!(count.place, SourceLocation::Imm(_)) { count } else { self.out.in_reg(count) };
        // A shift of one word is a funnel shift whose other word is RZ. The result is the low word
        // of a left shift, or the high word of a right shift.
        let (direction, at) = if left { (choice!(M_DIR, "L"), RA) } else { (choice!(M_DIR, "R"), R64) };
        let form = if matches!(count.place, SourceLocation::Imm(_)) { Opcode::SHF_RIR } else { Opcode::SHF_RRR };
        let mut inst = Word::new(form).with(DIR, direction).with(HI, (!left).into());
        inst.set(SIGN, sign_choice!(M_SIGN, sign));
        match count.place {
            SourceLocation::Imm(n) => inst.set(IMM32, n.into()),
            SourceLocation::Reg(reg) => self.out.read(R32, reg),
            SourceLocation::Const(_) => {}
        }
        self.out.read(at, a);
        self.out.word(inst)
    }
}
