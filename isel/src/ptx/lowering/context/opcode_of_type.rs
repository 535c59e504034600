//! Constructors of PTX instructions that have types, conditions or modifiers in common with other
//! instructions.

use halfbyte_ir::{Clamp, Elem, FloatCC, FloatFlags, IntCC, Rounding, Type, Value};
use halfbyte_isa::ptx::types::{Token, Type as RegType};
use halfbyte_isa::ptx::{self, Opcode, Operand};

use super::super::Lowering;
use crate::ptx::operands::{Pred, Reg, Src};
use crate::simt::{Sign, Video, const_inst, in_lanes, lane_bits, register_bits};

pub(in crate::ptx::lowering) const U32: Token = Token::Type(RegType::U32);
pub(in crate::ptx::lowering) const S32: Token = Token::Type(RegType::S32);
pub(in crate::ptx::lowering) const B32: Token = Token::Type(RegType::B32);
pub(in crate::ptx::lowering) const SINGLE: Token = Token::Type(RegType::F32);
pub(in crate::ptx::lowering) const DOUBLE: Token = Token::Type(RegType::F64);
pub(in crate::ptx::lowering) const SINGLE_HALF: Token = Token::Type(RegType::F16);
pub(in crate::ptx::lowering) const PRED: Token = Token::Type(RegType::Pred);

pub(in crate::ptx::lowering) fn operand(reg: Reg) -> Operand {
    Operand::Register(reg.word(0))
}

pub(in crate::ptx) fn is_bf16(ty: Type) -> bool {
    ty.elem() == Elem::BF16
}

/// Returns the PTX type of a single f16 or bf16. The function `halves` returns the packed type, in
/// which arithmetic on single halves is also computed.
pub(in crate::ptx::lowering) fn half(ty: Type) -> Token {
    Token::Type(if is_bf16(ty) { RegType::Bf16 } else { RegType::F16 })
}

pub(in crate::ptx::lowering) fn halves(ty: Type) -> Token {
    Token::Type(if is_bf16(ty) { RegType::Bf16x2 } else { RegType::F16x2 })
}

/// Opcodes of the f16 and the bf16 variant of an instruction.
pub(in crate::ptx::lowering) type OfHalf = [Opcode; 2];

pub(in crate::ptx::lowering) const ADD: OfHalf = [Opcode::ADD_F16, Opcode::ADD_BF16];
pub(in crate::ptx::lowering) const FMA: OfHalf = [Opcode::FMA_F16, Opcode::FMA_BF16];
pub(in crate::ptx::lowering) const MIN: OfHalf = [Opcode::MIN_F16, Opcode::MIN_BF16];
pub(in crate::ptx::lowering) const SETP: OfHalf = [Opcode::SETP_F16X2, Opcode::SETP_BF16X2];
pub(in crate::ptx::lowering) const FROM_INT: OfHalf = [Opcode::CVT_F16_INT, Opcode::CVT_BF16_INT];
pub(in crate::ptx::lowering) const WIDEN: OfHalf = [Opcode::CVT_F32_F16, Opcode::CVT_F32_BF16];
pub(in crate::ptx::lowering) const NARROW: OfHalf = [Opcode::CVT_F16_F32, Opcode::CVT_BF16_F32];

pub(in crate::ptx::lowering) const NARROW_RELU: OfHalf = [Opcode::CVT_F16_F32_RELU, Opcode::CVT_BF16_F32];

pub(in crate::ptx::lowering) fn of_half([f16, bf16]: OfHalf, ty: Type) -> Opcode {
    if is_bf16(ty) { bf16 } else { f16 }
}

/// Returns the modifiers of an arithmetic instruction on packed halves.
pub(in crate::ptx::lowering) fn arithmetic_words(ty: Type, flags: FloatFlags) -> Vec<Token> {
    [&[rounding(flags.rounding)], ftz(flags.ftz), clamp(flags.clamp), &[halves(ty)]].concat()
}

/// Returns the modifiers of a conversion from f32 to one or two halves.
pub(in crate::ptx::lowering) fn narrow_words(to: Token, flags: FloatFlags) -> Vec<Token> {
    [&[rounding(flags.rounding)], clamp(flags.clamp), &[to, SINGLE]].concat()
}

const fn clamp(clamp: Clamp) -> &'static [Token] {
    match clamp {
        Clamp::None => &[],
        Clamp::Sat => &[Token::Sat],
        Clamp::Relu => &[Token::Relu],
    }
}

/// Returns the modifiers of a compare of packed halves.
pub(in crate::ptx::lowering) fn compare_words(cond: (FloatCC, bool), ty: Type) -> Vec<Token> {
    [&[float_compare(cond.0)], ftz(cond.1), &[halves(ty)]].concat()
}

pub(in crate::ptx::lowering) const fn word_type(sign: Sign) -> Token {
    match sign {
        Sign::U => U32,
        Sign::S => S32,
    }
}

pub(in crate::ptx::lowering) const fn pair_type(sign: Sign) -> Token {
    match sign {
        Sign::U => Token::Type(RegType::U64),
        Sign::S => Token::Type(RegType::S64),
    }
}

pub(in crate::ptx::lowering) const fn rounding(mode: Rounding) -> Token {
    match mode {
        Rounding::Rn => Token::Rn,
        Rounding::Rz => Token::Rz,
        Rounding::Rp => Token::Rp,
        Rounding::Rm => Token::Rm,
    }
}

pub(in crate::ptx::lowering) const fn ftz(ftz: bool) -> &'static [Token] {
    if ftz { &[Token::Ftz] } else { &[] }
}

pub(in crate::ptx::lowering) const fn nan(nan: bool) -> &'static [Token] {
    if nan { &[Token::Nan] } else { &[] }
}

pub(in crate::ptx::lowering) fn int_compare(cc: IntCC) -> (Token, Sign) {
    let compare = match cc {
        IntCC::Eq => Token::Eq,
        IntCC::Ne => Token::Ne,
        IntCC::LtS | IntCC::LtU => Token::Lt,
        IntCC::LeS | IntCC::LeU => Token::Le,
        IntCC::GtS | IntCC::GtU => Token::Gt,
        IntCC::GeS | IntCC::GeU => Token::Ge,
    };
    (compare, Sign::of(cc))
}

pub(in crate::ptx::lowering) const fn float_compare(cc: FloatCC) -> Token {
    match cc {
        FloatCC::Eq => Token::Eq,
        FloatCC::Ne => Token::Ne,
        FloatCC::Lt => Token::Lt,
        FloatCC::Le => Token::Le,
        FloatCC::Gt => Token::Gt,
        FloatCC::Ge => Token::Ge,
        FloatCC::Equ => Token::Equ,
        FloatCC::Neu => Token::Neu,
        FloatCC::Ltu => Token::Ltu,
        FloatCC::Leu => Token::Leu,
        FloatCC::Gtu => Token::Gtu,
        FloatCC::Geu => Token::Geu,
        FloatCC::Num => Token::Num,
        FloatCC::Nan => Token::IsNan,
    }
}

/// If a byte selector picks two whole halves of two words, returns the numbers of these halves: 0
/// and 1 are the halves of the first word, 2 and 3 those of the second.
pub(in crate::ptx::lowering) fn half_words(selector: u16) -> Option<[u8; 2]> {
    let half = |byte: u16| match byte {
        0x10 => Some(0),
        0x32 => Some(1),
        0x54 => Some(2),
        0x76 => Some(3),
        _ => None,
    };
    Some([half(selector & 0xff)?, half(selector >> 8)?])
}

/// Extends a constant of type `ty` to 32 bits, with the given signedness.
pub(in crate::ptx::lowering) fn extended(sign: Sign, ty: Type, bits: u32) -> u32 {
    let unused = 32 - ty.bits();
    match sign {
        Sign::U => bits << unused >> unused,
        Sign::S => ((bits << unused) as i32 >> unused) as u32,
    }
}

/// Returns the destination type and the source type of a `cvt` that extends an integer.
pub(in crate::ptx::lowering) fn extension(sign: Sign, ty: Type) -> (Token, Token) {
    let narrow = match (sign, ty.bits()) {
        (Sign::U, 8) => RegType::U8,
        (Sign::U, _) => RegType::U16,
        (Sign::S, 8) => RegType::S8,
        (Sign::S, _) => RegType::S16,
    };
    (word_type(sign), Token::Type(narrow))
}

/// Methods of the rules' `Context` for arithmetic with a rounding mode: on f32 registers, and on
/// the register pairs of f64 values.
macro_rules! rounded_methods {
    (single { $($single:ident $of_single:ident [$($a:ident)*];)* } double { $($double:ident $of_double:ident [$($b:ident)*];)* }) => {
        $(fn $single(&mut self, flags: FloatFlags, $($a: Src),*) -> Reg {
            let words = [rounding(flags.rounding), SINGLE];
            Reg::new(self.out.word(Opcode::$of_single, &words, &[$($a.into()),*]))
        })*
        $(fn $double(&mut self, flags: FloatFlags, $($b: Reg),*) -> Reg {
            self.of_pairs(Opcode::$of_double, &[rounding(flags.rounding), DOUBLE], &[$($b),*])
        })*
    };
}
pub(super) use rounded_methods;

impl Lowering<'_> {
    /// Returns `true` if the SM supports the instruction with these modifiers.
    pub(in crate::ptx::lowering) fn has(&self, opcode: Opcode, words: &[Token]) -> bool {
        let row = opcode.row();
        row.fit(words).is_ok() && row.since(words).is_supported_by(self.sm)
    }

    /// Emits an operation on two predicates that are not constant.
    pub(in crate::ptx::lowering) fn combine(&mut self, opcode: Opcode, a: Pred, b: Pred) -> Pred {
        let [a, b] = [a, b].map(|pred| {
            let reg = super::rules::Context::pred_reg(self, pred);
            operand(reg)
        });
        self.out.pred(opcode, &[PRED], &[a, b])
    }

    /// Emits the f16 or bf16 variant of an instruction, with modifiers.
    pub(in crate::ptx::lowering) fn half_arithmetic(
        &mut self,
        opcodes: OfHalf,
        ty: Type,
        flags: FloatFlags,
        sources: &[Reg],
    ) -> Reg {
        let sources: Vec<Operand> = sources.iter().copied().map(operand).collect();
        Reg::new(self.out.word(of_half(opcodes, ty), &arithmetic_words(ty, flags), &sources))
    }

    pub(in crate::ptx::lowering) fn half_extremum(
        &mut self,
        opcodes: OfHalf,
        ty: Type,
        flags: FloatFlags,
        a: Reg,
        b: Reg,
    ) -> Reg {
        let words = [ftz(flags.ftz), nan(flags.nan), &[halves(ty)]].concat();
        Reg::new(self.out.word(of_half(opcodes, ty), &words, &[operand(a), operand(b)]))
    }

    /// Succeeds if the value is a half constant, and no lane is NaN or has a magnitude below the f16 or bf16 bound.
    pub(in crate::ptx::lowering) fn magnitudes_from(&self, value: Value, [f16, bf16]: [u32; 2]) -> Option<()> {
        let ty = self.kernel.ty(value);
        let bits = register_bits(self.kernel, const_inst(self.kernel, value)?)?[0] as u32;
        let numbers = if is_bf16(ty) { bf16..=0x7f80 } else { f16..=0x7c00 };
        let mut lanes = (0..ty.lanes() as u32).map(|lane| bits >> (16 * lane) & 0x7fff);
        lanes.all(|magnitude| numbers.contains(&magnitude)).then_some(())
    }

    /// Emits a compare whose result has lanes of type `written`.
    pub(in crate::ptx::lowering) fn half_set(
        &mut self,
        ty: Type,
        written: Token,
        cond: (FloatCC, bool),
        a: Reg,
        b: Reg,
    ) -> Reg {
        let opcode = if is_bf16(ty) { Opcode::SET_BF16X2 } else { Opcode::SET_F16X2 };
        let words = [&[float_compare(cond.0)], ftz(cond.1), &[written, halves(ty)]].concat();
        Reg::new(self.out.word(opcode, &words, &[operand(a), operand(b)]))
    }

    /// Emits `neg` or `abs` for f32, f16 or bf16, which the assembler can fold into the users of
    /// the result. Emits a bitwise operation if the SM lacks the instruction.
    pub(in crate::ptx::lowering) fn sign(
        &mut self,
        [f32, f16, bf16]: [Opcode; 3],
        (bitwise, bits): (Opcode, u32),
        ty: Type,
        a: Reg,
    ) -> Reg {
        let opcode = match ty.elem() {
            Elem::F32 => f32,
            Elem::BF16 => bf16,
            _ => f16,
        };
        let words = [if opcode == f32 { SINGLE } else { halves(ty) }];
        Reg::new(if is_bf16(ty) && !self.has(opcode, &words) {
            let bits = Operand::Number(in_lanes(16, bits).into());
            self.out.word(bitwise, &[B32], &[operand(a), bits])
        } else {
            self.out.word(opcode, &words, &[operand(a)])
        })
    }

    pub(in crate::ptx::lowering) fn video_inst(
        &mut self,
        op: Video,
        ty: Type,
        sign: Sign,
        merge: &[Token],
        sources: [ptx::Reg; 3],
    ) -> Reg {
        let opcode = match (op, lane_bits(ty) == 8) {
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
        let words = [&[word_type(sign); 3], merge].concat();
        Reg::new(self.out.word(opcode, &words, &sources.map(Operand::Register)))
    }

    pub(in crate::ptx::lowering) fn pair_arithmetic(&mut self, opcode: Opcode, a: Reg, b: Reg) -> Reg {
        let sources = [self.whole(a), self.whole(b)].map(Operand::Register);
        self.pair(opcode, &[Token::Type(RegType::U64)], &sources)
    }

    /// Emits an instruction with 64-bit sources and a 64-bit result. Values are register pairs.
    pub(in crate::ptx::lowering) fn of_pairs(&mut self, opcode: Opcode, words: &[Token], sources: &[Reg]) -> Reg {
        let sources: Vec<Operand> = sources.iter().map(|&reg| Operand::Register(self.whole(reg))).collect();
        self.pair(opcode, words, &sources)
    }

    /// Emits an instruction with a 64-bit result, and returns the result as two 32-bit registers.
    pub(in crate::ptx::lowering) fn pair(&mut self, opcode: Opcode, words: &[Token], sources: &[Operand]) -> Reg {
        let result = self.out.define(RegType::B64, opcode, words, sources);
        Reg::of_words(&self.out.unpack(RegType::B64, [true; 2], result))
    }

    /// Packs two halves of two words into one word. Halves 0 and 1 are those of the first word, 2
    /// and 3 those of the second.
    pub(in crate::ptx::lowering) fn pick_halves(&mut self, picked: [u8; 2], a: Src, b: Src) -> Reg {
        let [first, second] = [a, b].map(|src| self.out.in_reg(src));
        let of = |half: u8| if half < 2 { first } else { second };
        if let [0, 1] | [2, 3] = picked {
            return Reg::new(of(picked[0]));
        }
        let halves = if of(picked[0]) == of(picked[1]) {
            let wanted = [0, 1].map(|k| picked.iter().any(|half| half % 2 == k));
            let parts = self.out.unpack(RegType::B32, wanted, of(picked[0]));
            picked.map(|half| parts[usize::from(half % 2)])
        } else {
            picked.map(|half| self.out.half(half % 2, of(half)))
        };
        Reg::new(self.out.pack(RegType::B32, &halves))
    }

    /// Moves the part number `k`, of `bits` bits each, to the low bits of a register.
    pub(in crate::ptx::lowering) fn down(&mut self, bits: u32, k: u8, reg: Reg) -> Reg {
        let offset = bits * u32::from(k);
        let part = reg.part((offset / 32) as u8);
        match (offset % 32, bits) {
            (0, _) => part,
            (16, 16) => self.pick_halves([1, 1], Src::Reg(part.word(0)), Src::Reg(part.word(0))),
            (n, _) => super::rules::Context::shift_right(self, &Sign::U, Src::Reg(part.word(0)), Src::Number(n)),
        }
    }
}
