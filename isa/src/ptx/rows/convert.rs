//! Conversions, and moves that put values together or take them apart.

use super::*;

const INTEGERS: &[Choice] = types!(U8 U16 U32 U64 S8 S16 S32 S64);
const ROUND: Slot = Slot::one_of("rounding", words!(Rn Rz Rm Rp));
const NEAR_OR_ZERO: Slot = Slot::one_of("rounding", words!(Rn Rz));
const ROUND_INT: Slot = Slot::one_of("rounding", words!(Rni Rzi Rmi Rpi));
const MAYBE_ROUND_INT: Slot = Slot::optional("rounding", words!(Rni Rzi Rmi Rpi));
const MUST_RELU: Slot = Slot::one_of("clamping", &[since(SM_80, Token::Relu)]);
const MAYBE_RELU: Slot = Slot::optional("clamping", &[since(SM_80, Token::Relu)]);
const MUST_SAT: Slot = Slot::one_of("clamping", words!(Sat));

const PACK: Slot = Slot::one_of("packing", words!(Pack));

const S: Ty = Ty::Named(1);
/// Both may be wider registers.
const INT_INT: &[OperandRow] = &[def("d", Ty::Within(0)), value("a", Ty::Within(1))];
const FLOAT_INT: &[OperandRow] = &[def("d", T), value("a", Ty::Within(1))];
/// With bfloat16 none is.
const EXACT_INTEGERS: &[Choice] = types!(U16 U32 U64 S16 S32 S64);
const BF16_INT: &[OperandRow] = &[def("d", T), value("a", S)];
const INT_BF16: &[OperandRow] = &[def("d", T), reg("a", S)];
const INT_FLOAT: &[OperandRow] = &[def("d", Ty::Within(0)), reg("a", S)];
const FLOAT_FLOAT: &[OperandRow] = &[def("d", T), reg("a", S)];
const PACKED: &[OperandRow] = &[def("d", U32), value("a", S), value("b", S)];
const PACKED_BYTES: &[OperandRow] = &[def("d", U32), value("a", S), value("b", S), value("c", U32)];
const PAIR: &[OperandRow] = &[def("d", T), reg("a", S), reg("b", S)];

const TO_INT: &str = "Rounds a float to an integer: to nearest even (`.rni`), towards zero (`.rzi`), down (`.rmi`), up (`.rpi`). What is out of \
    range becomes the nearest integer in range; NaN becomes 0, and 2^63 where the integer has 64 bits. `.ftz` takes a subnormal for zero.";
const TO_FLOAT: &str = "Rounds an integer to a float, once. `.sat` clamps to 0 to 1.";
const NARROW: &str = "Rounds an f32 once to a half. `.ftz` changes nothing: machines round a subnormal operand like any other. `.sat` clamps to 0 to 1, and NaN and \
    -0 become +0; `.relu` makes what is less than 0 +0, and leaves NaN. NaN is 0x7fff.";
const WIDEN: &str = "The f32 of the same value; NaN is 0x7fffffff. `.ftz` takes a subnormal result for the zero of its sign; `.sat` clamps to 0 to 1.";
const SAME: &str = "Rounds a float to an integer that is a float (`.rni` to nearest even, `.rzi` towards zero, `.rmi` down, `.rpi` up), or \
    leaves it as it is. NaN is canonical; `.ftz` takes subnormals for zeros of their sign; `.sat` clamps to 0 to 1.";
const BOTH: &str = "Rounds two f32 once each to halves and packs them: `a` becomes the high one, `b` the low one. `.relu` makes what is less than 0 \
    +0, and leaves NaN.";

macro_rules! convert {
    ($($name:ident $mnemonic:literal $class:ident $slots:expr, $operands:expr, $since:expr, $doc:expr, $($example:literal)*;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            operands: $operands,
            class: Class::$class,
            since: $since,
            doc: $doc,
            examples: &[$($example),*],
            ..PTX
        };
    )* };
}

const F16: &[Choice] = types!(F16);
const BF16S: &[Choice] = types!(Bf16);
const F32: &[Choice] = types!(F32);

convert! {
    CVT_INT "cvt" Compute &[ty(INTEGERS), source_ty(INTEGERS)], INT_INT, Since::ALWAYS,
        "Makes an integer of another: extended by the sign or zeros as the source's type says, or cut off. In a register that is wider than its type the result is extended again.",
        "cvt.u32.u16 %d, %a;" "cvt.s64.s32 %d, %a;";
    CVT_INT_SAT "cvt" Compute &[MUST_SAT, ty(INTEGERS), source_ty(INTEGERS)], INT_INT, Since::ALWAYS,
        "Makes an integer of another, clamped to its range. An assembler refuses `.sat` where all values of the source are in range.", "cvt.sat.u8.s32 %d, %a;";
    CVT_PACK "cvt" Compute &[PACK, MUST_SAT, ty(types!(U16 S16)), source_ty(types!(S32))], PACKED, PACKING,
        "Clamps two integers to half-words and packs them: `a` becomes the high one, `b` the low one.", "cvt.pack.sat.u16.s32 %d, %a, %b;";
    CVT_PACK_BYTES "cvt" Compute &[PACK, MUST_SAT, ty(types!(U8 S8)), source_ty(types!(S32)), Slot::one_of("type of c", types!(B32))], PACKED_BYTES, PACKING,
        "Clamps two integers to bytes and packs them below the low half of `c`: `a` becomes byte 1, `b` byte 0.", "cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;";
    CVT_F32_INT "cvt" Compute &[ROUND, FTZ, SAT, ty(F32), source_ty(INTEGERS)], FLOAT_INT, Since::ALWAYS, TO_FLOAT, "cvt.rn.f32.s32 %d, %a;";
    CVT_F16_INT "cvt" Compute &[ROUND, SAT, ty(F16), source_ty(INTEGERS)], FLOAT_INT, Since::ALWAYS, TO_FLOAT, "cvt.rn.f16.u16 %d, %a;";
    CVT_BF16_INT "cvt" Compute &[ROUND, ty(BF16S), source_ty(EXACT_INTEGERS)], BF16_INT, BF16, TO_FLOAT, "cvt.rn.bf16.s32 %d, %a;";
    CVT_INT_F32 "cvt" Compute &[ROUND_INT, FTZ, SAT, ty(INTEGERS), source_ty(F32)], INT_FLOAT, Since::ALWAYS, TO_INT, "cvt.rzi.s32.f32 %d, %a;";
    CVT_INT_F16 "cvt" Compute &[ROUND_INT, SAT, ty(INTEGERS), source_ty(F16)], INT_FLOAT, Since::ALWAYS, TO_INT, "cvt.rni.s16.f16 %d, %a;";
    CVT_INT_BF16 "cvt" Compute &[ROUND_INT, ty(EXACT_INTEGERS), source_ty(BF16S)], INT_BF16, BF16, TO_INT, "cvt.rzi.s32.bf16 %d, %a;";
    CVT_F16_F32 "cvt" Compute &[ROUND, FTZ, SAT, ty(F16), source_ty(F32)], FLOAT_FLOAT, Since::ALWAYS, NARROW, "cvt.rn.f16.f32 %d, %a;";
    CVT_F16_F32_RELU "cvt" Compute &[NEAR_OR_ZERO, MUST_RELU, ty(F16), source_ty(F32)], FLOAT_FLOAT, SM_80, NARROW, "cvt.rn.relu.f16.f32 %d, %a;";
    CVT_BF16_F32 "cvt" Compute &[NEAR_OR_ZERO, MAYBE_RELU, ty(BF16S), source_ty(F32)], FLOAT_FLOAT, SM_80, NARROW, "cvt.rn.bf16.f32 %d, %a;";
    CVT_F32_F16 "cvt" Compute &[FTZ, SAT, ty(F32), source_ty(F16)], FLOAT_FLOAT, Since::ALWAYS, WIDEN, "cvt.f32.f16 %d, %a;";
    CVT_F32_BF16 "cvt" Compute &[ty(F32), source_ty(BF16S)], FLOAT_FLOAT, Since::new(7, 1, 80), WIDEN, "cvt.f32.bf16 %d, %a;";
    CVT_F32_F32 "cvt" Compute &[MAYBE_ROUND_INT, FTZ, SAT, ty(F32), source_ty(F32)], FLOAT_FLOAT, Since::ALWAYS, SAME, "cvt.rni.f32.f32 %d, %a;";
    CVT_F16_F16 "cvt" Compute &[MAYBE_ROUND_INT, SAT, ty(F16), source_ty(F16)], FLOAT_FLOAT, Since::ALWAYS, SAME, "cvt.rzi.f16.f16 %d, %a;";
    CVT_F16X2_F32 "cvt" Compute &[NEAR_OR_ZERO, MAYBE_RELU, ty(types!(F16x2 Bf16x2)), source_ty(F32)], PAIR, SM_80, BOTH, "cvt.rn.f16x2.f32 %d, %a, %b;";

    MOV "mov" Move &[ty(types!(Pred B16 B32 B64 U16 U32 U64 S16 S32 S64 F32))], D_A, Since::ALWAYS, "Copies a value.", "mov.b32 %d, 0;";
    MOV_SPECIAL "mov" Address &[ty(types!(B16 U16 B32 U32 S32))], &[def("d", T), OperandRow::used("a", Shape::Special)], Since::ALWAYS,
        "Reads a special register, a thread's or a block's number or how many there are; its low bits where the type is narrower.", "mov.u32 %d, %tid.x;";
    MOV_PACK "mov" Move &[ty(types!(B32 B64))], &[def("d", T), OperandRow::used("a", Shape::Parts(T))], Since::ALWAYS,
        "Puts a word together from two parts or four, the first one lowest.", "mov.b32 %d, {%a, %b};";
    MOV_UNPACK "mov" Move &[ty(types!(B32 B64))], &[OperandRow::def("d", Shape::Parts(T)), value("a", T)], Since::ALWAYS,
        "Takes a word apart into two parts or four, the first one lowest.", "mov.b32 {%d, _}, %a;";
    MOV_ADDRESS "mov" Address &[ty(types!(B64 U64 S64))], &[def("d", T), OperandRow::used("a", Shape::Variable)], Since::ALWAYS,
        "The address of a variable of the module, in the space where it lies, and so many bytes on.", "mov.u64 %d, g0;" "mov.u64 %d, c0+4;";
}
