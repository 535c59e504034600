//! What every PTX instruction does, once, over any [`Domain`].
//!
//! A file a group; this one dispatches, and reads and writes operands.

mod bits;
mod compare;
mod convert;
mod effects;
mod float;
mod half;
mod integer;
mod memory;
mod wide;

use arrayvec::ArrayVec;

pub use effects::{Access, CONST_SPACE, Effects, Location, Next, Reader, Write};

use super::Opcode;
use super::inst::{Inst, Operand, Reg};
use super::types::{Token, Type};
use crate::half::Format;
use crate::halu::domain::{Domain, HalfKind, Lanes, VideoKind};

/// The guard of an instruction: `None` if it always acts, else the truth value under which it does. Where it is false the
/// driver commits none of the effects and falls through.
pub fn guard<D: Domain>(inst: &Inst, domain: &mut D, read: &mut impl Reader<D>) -> Option<D::Pred> {
    let guard = inst.guard?;
    let p = read.predicate(domain, guard.reg);
    Some(if guard.not { domain.negate(p) } else { p })
}

/// What the instruction, which must be valid, does where its guard holds. Everything it reads, it reads through `read`
/// before it has any effect.
pub fn meaning<D: Domain>(inst: &Inst, domain: &mut D, read: &mut impl Reader<D>) -> Effects<D::Word, D::Pred> {
    let effects = Effects { writes: ArrayVec::new(), access: None, next: Next::Fall };
    let mut cx = Context { inst, d: domain, read, effects };
    cx.execute();
    cx.effects
}

/// An instruction on its way from sources to effects.
struct Context<'a, D: Domain, R: Reader<D>> {
    inst: &'a Inst,
    d: &'a mut D,
    read: &'a mut R,
    effects: Effects<D::Word, D::Pred>,
}

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Dispatches.
    #[rustfmt::skip]
    fn execute(&mut self) {
        use Opcode::*;
        match self.inst.opcode {
            ADD => self.integer(D::add, wide::add),
            SUB => self.integer(D::sub, wide::sub),
            ADD_SAT => self.saturating(false),
            SUB_SAT => self.saturating(true),
            MUL => self.mul(false),
            MAD => self.mul(true),
            MUL_WIDE => self.mul_wide(false),
            MAD_WIDE => self.mul_wide(true),
            MIN => self.extremum(true),
            MAX => self.extremum(false),
            ABS => self.abs(),
            NEG => self.neg(),
            SAD => self.sad(),
            DP4A => self.dp4a(),
            DP2A => self.dp2a(),
            ADD_X2 => self.packed(VideoKind::Add, Lanes::Two),
            MIN_X2 => self.packed(VideoKind::Min, Lanes::Two),
            MIN_RELU_X2 => self.packed_relu(VideoKind::Min),
            MAX_X2 => self.packed(VideoKind::Max, Lanes::Two),
            MAX_RELU_X2 => self.packed_relu(VideoKind::Max),
            ADD_X4 => self.packed(VideoKind::Add, Lanes::Four),
            SUB_X4 => self.packed(VideoKind::Sub, Lanes::Four),
            MIN_X4 => self.packed(VideoKind::Min, Lanes::Four),
            MAX_X4 => self.packed(VideoKind::Max, Lanes::Four),

            AND => self.logic(D::both, D::and),
            OR => self.logic(D::either, D::or),
            XOR => self.logic(D::differ, D::xor),
            NOT => self.not(),
            SHL => self.shl(),
            SHR => self.shr(),
            SHF => self.shf(),
            LOP3 => self.lop3(),
            PRMT => self.prmt(),
            BFE => self.bfe(),
            BFI => self.bfi(),

            SETP_BITS | SETP_INT | SETP_UNSIGNED => self.set_pred_int(),
            SETP_F32 => self.set_pred_float(),
            SETP_F16 => self.set_pred_half(Format::F16),
            SETP_BF16 => self.set_pred_half(Format::Bf16),
            SETP_F16X2 => self.set_pred_halves(Format::F16),
            SETP_BF16X2 => self.set_pred_halves(Format::Bf16),
            SET_BITS | SET_INT | SET_UNSIGNED => self.set_int(),
            SET_F32 => self.set_float(),
            SET_F16 => self.set_half(Format::F16),
            SET_BF16 => self.set_half(Format::Bf16),
            SET_F16X2 => self.set_halves(Format::F16),
            SET_BF16X2 => self.set_halves(Format::Bf16),
            SELP => self.selp(),
            SLCT_INT => self.slct_int(),
            SLCT_F32 => self.slct_float(),

            VADD2 => self.video(VideoKind::Add, Lanes::Two),
            VSUB2 => self.video(VideoKind::Sub, Lanes::Two),
            VAVRG2 => self.video(VideoKind::Avrg, Lanes::Two),
            VABSDIFF2 => self.video(VideoKind::AbsDiff, Lanes::Two),
            VMIN2 => self.video(VideoKind::Min, Lanes::Two),
            VMAX2 => self.video(VideoKind::Max, Lanes::Two),
            VADD4 => self.video(VideoKind::Add, Lanes::Four),
            VSUB4 => self.video(VideoKind::Sub, Lanes::Four),
            VAVRG4 => self.video(VideoKind::Avrg, Lanes::Four),
            VABSDIFF4 => self.video(VideoKind::AbsDiff, Lanes::Four),
            VMIN4 => self.video(VideoKind::Min, Lanes::Four),
            VMAX4 => self.video(VideoKind::Max, Lanes::Four),

            ADD_F16 => self.half(HalfKind::Add, Format::F16),
            ADD_BF16 => self.half(HalfKind::Add, Format::Bf16),
            SUB_F16 => self.half_sub(Format::F16),
            SUB_BF16 => self.half_sub(Format::Bf16),
            MUL_F16 => self.half(HalfKind::Mul, Format::F16),
            MUL_BF16 => self.half(HalfKind::Mul, Format::Bf16),
            FMA_F16 => self.half(HalfKind::Fma, Format::F16),
            FMA_BF16 => self.half(HalfKind::Fma, Format::Bf16),
            MIN_F16 => self.half_minmax(true, Format::F16),
            MIN_BF16 => self.half_minmax(true, Format::Bf16),
            MAX_F16 => self.half_minmax(false, Format::F16),
            MAX_BF16 => self.half_minmax(false, Format::Bf16),
            NEG_F16 => self.half_sign(true, Format::F16),
            NEG_BF16 => self.half_sign(true, Format::Bf16),
            ABS_F16 => self.half_sign(false, Format::F16),
            ABS_BF16 => self.half_sign(false, Format::Bf16),

            ADD_F32 => self.float_binary(D::fadd),
            SUB_F32 => self.float_sub(),
            MUL_F32 => self.float_binary(D::fmul),
            FMA_F32 => self.float_fma(),
            DIV_F32 => self.float_binary(D::fdiv),
            SQRT_F32 => self.float_sqrt(),
            MIN_F32 => self.float_minmax(true),
            MAX_F32 => self.float_minmax(false),
            NEG_F32 => self.float_sign(true),
            ABS_F32 => self.float_sign(false),

            CVT_INT => self.int_to_int(),
            CVT_INT_SAT => self.int_to_int_saturating(),
            CVT_PACK => self.pack_clamped(16),
            CVT_PACK_BYTES => self.pack_clamped(8),
            CVT_F32_INT => self.int_to_float(),
            CVT_F16_INT => self.int_to_half(Format::F16),
            CVT_BF16_INT => self.int_to_half(Format::Bf16),
            CVT_INT_F32 => self.float_to_int(),
            CVT_INT_F16 => self.half_to_int(Format::F16),
            CVT_INT_BF16 => self.half_to_int(Format::Bf16),
            CVT_F16_F32 | CVT_F16_F32_RELU => self.narrow(Format::F16),
            CVT_BF16_F32 => self.narrow(Format::Bf16),
            CVT_F32_F16 => self.widen(Format::F16),
            CVT_F32_BF16 => self.widen(Format::Bf16),
            CVT_F32_F32 => self.float_to_float(),
            CVT_F16_F16 => self.half_to_half(Format::F16),
            CVT_F16X2_F32 => self.narrow_pair(),

            MOV => self.mov(),
            MOV_SPECIAL => self.mov_special(),
            MOV_PACK => self.pack(),
            MOV_UNPACK => self.unpack(),
            LD_PARAM | LD_PARAM_V2 | LD_PARAM_V4 | LD | LD_V2 | LD_V4 | LD_NC | LD_NC_V2 | LD_NC_V4 => self.load(),
            ST | ST_V2 | ST_V4 => self.store(),
            CVTA => self.convert_address(),
            MOV_ADDRESS => self.address_of(true),
            CVTA_ADDRESS => self.address_of(false),
            BRA => self.branch(),
            RET | EXIT => self.effects.next = Next::Exit,
        }
    }

    fn has(&self, token: Token) -> bool {
        self.inst.has(token)
    }

    fn ty(&self, n: u8) -> Type {
        self.inst.ty(n)
    }

    fn operand(&self, i: usize) -> Option<&Operand> {
        self.inst.operands.get(i)
    }

    /// A register or a number, as 64 bits of which those beyond its width are zero.
    fn value(&mut self, i: usize) -> [D::Word; 2] {
        match self.operand(i) {
            Some(&(Operand::Register(reg) | Operand::Lanes { reg, .. })) => self.read.register(self.d, reg),
            Some(&Operand::Number(bits)) => wide::constant(self.d, bits),
            _ => wide::constant(self.d, 0),
        }
    }

    /// The low word of [`Context::value`].
    fn word(&mut self, i: usize) -> D::Word {
        let [low, _] = self.value(i);
        low
    }

    /// An integer of a type of at most 32 bits, extended to a word.
    fn narrow_int(&mut self, i: usize, ty: Type) -> D::Word {
        let word = self.word(i);
        wide::extend_word(self.d, ty.bits(), ty.is_signed(), word)
    }

    /// An integer of a type, extended to 64 bits.
    fn wide_int(&mut self, i: usize, ty: Type) -> [D::Word; 2] {
        let value = self.value(i);
        wide::extend(self.d, ty.bits(), ty.is_signed(), value)
    }

    /// A predicate, or its opposite.
    fn predicate(&mut self, i: usize) -> D::Pred {
        match self.operand(i) {
            Some(&Operand::Register(reg)) => self.read.predicate(self.d, reg),
            Some(&Operand::Not(reg)) => {
                let p = self.read.predicate(self.d, reg);
                self.d.negate(p)
            }
            Some(&Operand::Number(bits)) => self.d.truth(bits != 0),
            _ => self.d.truth(false),
        }
    }

    fn define_reg(&mut self, reg: Reg, value: [D::Word; 2]) {
        self.effects.writes.push(Write::Register(reg, value));
    }

    /// Writes the first operand.
    fn define(&mut self, value: [D::Word; 2]) {
        if let Some(&(Operand::Register(reg) | Operand::Lanes { reg, .. })) = self.operand(0) {
            self.define_reg(reg, value);
        }
    }

    /// Writes the first operand, of at most 32 bits.
    fn define_word(&mut self, word: D::Word) {
        let zero = self.d.word(0);
        self.define([word, zero]);
    }

    /// Writes the first operand, a predicate.
    fn define_predicate(&mut self, p: D::Pred) {
        if let Some(&Operand::Register(reg)) = self.operand(0) {
            self.effects.writes.push(Write::Predicate(reg, p));
        }
    }
}
