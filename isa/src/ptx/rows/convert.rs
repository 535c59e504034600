//! Rows of conversions, and of moves that pack or unpack values.

use super::*;

const INTEGERS: &[Choice] = types!(U8 U16 U32 U64 S8 S16 S32 S64);
const NEAR_OR_ZERO: ModifierSlot = ModifierSlot::one_of("rounding", words!(Rn Rz));
const ROUND_INT: ModifierSlot = ModifierSlot::one_of("rounding", words!(Rni Rzi Rmi Rpi));
const MAYBE_ROUND: ModifierSlot = ModifierSlot::optional("rounding", words!(Rn Rz Rm Rp));
const MAYBE_ROUND_INT: ModifierSlot = ModifierSlot::optional("rounding", words!(Rni Rzi Rmi Rpi));
const MUST_RELU: ModifierSlot = ModifierSlot::one_of("clamping", &[since(SM_80, Token::Relu)]);
const MAYBE_RELU: ModifierSlot = ModifierSlot::optional("clamping", &[since(SM_80, Token::Relu)]);
const MUST_SAT: ModifierSlot = ModifierSlot::one_of("clamping", words!(Sat));

const PACK: ModifierSlot = ModifierSlot::one_of("packing", words!(Pack));

const S: Ty = Ty::Named(1);
/// Operands of integer conversions; both registers may be wider than their types.
const INT_INT: &[OperandRow] = &[def("d", Ty::Within(0)), value("a", Ty::Within(1))];
const FLOAT_INT: &[OperandRow] = &[def("d", Ty::Within(0)), value("a", Ty::Within(1))];
/// The integer types of conversions from and to bfloat16. The registers must not be wider than the types.
const EXACT_INTEGERS: &[Choice] = types!(U8 S8 U16 U32 U64 S16 S32 S64);
const BF16_INT: &[OperandRow] = &[def("d", T), value("a", S)];
const INT_BF16: &[OperandRow] = &[def("d", T), reg("a", S)];
const INT_FLOAT: &[OperandRow] = &[def("d", Ty::Within(0)), value("a", Ty::Within(1))];
const FLOAT_FLOAT: &[OperandRow] = &[def("d", Ty::Within(0)), value("a", Ty::Within(1))];
/// Operands of conversions whose registers must not be wider than their types.
const EXACT: &[OperandRow] = &[def("d", T), value("a", S)];
const RANDOM_PAIR: &[OperandRow] = &[def("d", T), reg("a", S), reg("b", S), reg("r", Ty::Is(Type::U16x2))];
const RANDOM_FOUR: &[OperandRow] =
    &[def("d", T), OperandRow::used("a", OperandKind::Vector(S, 4)), reg("r", Ty::Is(Type::U16x2))];
const PACKED: &[OperandRow] = &[def("d", S), value("a", Ty::Within(1)), value("b", Ty::Within(1))];
const PACKED_BYTES: &[OperandRow] =
    &[def("d", S), value("a", Ty::Within(1)), value("b", Ty::Within(1)), value("c", Ty::Named(2))];
const PAIR: &[OperandRow] = &[def("d", T), value("a", S), value("b", S)];

const TO_INT: &str = "Rounds a float to an integer: to nearest even (`.rni`), toward zero (`.rzi`), down (`.rmi`) or \
    up (`.rpi`). Values out of range saturate. NaN becomes 0, or 2^63 if the integer has 64 bits. `.ftz` flushes a \
    subnormal operand to zero.";
const TO_FLOAT: &str = "Converts an integer to a float, rounded once. `.sat` clamps to [0, 1].";
const NARROW: &str = "Rounds an f32 once to a half. `.ftz` has no effect: hardware rounds a subnormal operand like any \
    other. `.sat` clamps to [0, 1] and turns NaN and -0 into +0. `.relu` turns -0 and negative values into +0 and \
    keeps NaN. `.satfinite` clamps to the largest finite number. NaN is 0x7fff.";
const WIDEN: &str = "Converts a half exactly to f32; NaN is 0x7fffffff. `.ftz` flushes a subnormal result to a zero of \
                     its sign. `.sat` clamps to [0, 1]. A rounding has no effect.";
const SAME: &str = "Rounds a float to an integral float (`.rni` to nearest even, `.rzi` toward zero, `.rmi` down, \
    `.rpi` up), or copies it. NaN becomes canonical. `.ftz` flushes subnormals to zeros of their sign. `.sat` clamps \
    to [0, 1].";
const BOTH: &str = "Rounds two f32 once each to halves and packs them: `a` into the high half, `b` into the low half. \
    `.relu` turns -0 and negative values into +0 and keeps NaN.";

macro_rules! tokens {
    ($($ty:ident)*) => { &[$(Token::Type(Type::$ty)),*] };
}

macro_rules! convert {
    ($($name:ident $(exclusions $exclusions:ident)? $mnemonic:literal $class:ident $slots:expr, $operands:expr, $since:expr, $doc:expr, $($example:literal)*;)*) => { $(
        pub(crate) const $name: Row = Row {
            mnemonic: $mnemonic,
            slots: $slots,
            $(exclusions: $exclusions,)?
            operands: $operands,
            class: InstClass::$class,
            since: $since,
            doc: $doc,
            examples: &[$($example),*],
            ..PTX
        };
    )* };
}

const MUST_SATFINITE: ModifierSlot = ModifierSlot::one_of("limit", words!(Satfinite));
/// Optional modifier slot for the saturation of bfloat16 and half results.
const MAYBE_SATFINITE: ModifierSlot = ModifierSlot::optional("limit", &[since(LIMITED, Token::Satfinite)]);
const ANY_SATFINITE: ModifierSlot = ModifierSlot::optional("limit", words!(Satfinite));
const ANY_RELU: ModifierSlot = ModifierSlot::optional("clamping", words!(Relu));
const LIMITED: Requirements = Requirements::new(8, 1, 80);
/// Target requirements of conversions to packed 8-bit floats.
const FP8: Requirements = Requirements { earlier: Some(((7, 8), 90)), ..Requirements::new(8, 1, 89) };
/// Target requirements of 4-bit and 6-bit float formats.
const SMALL: Requirements = Requirements { suffix: Some(Suffix::Family), ..Requirements::new(8, 6, 100) };
const STOCHASTIC: Requirements =
    Requirements { suffix: Some(Suffix::Architecture), one_family: true, ..Requirements::new(8, 7, 100) };
const SMALL_OF_HALVES: Requirements = Requirements { suffix: Some(Suffix::Family), ..Requirements::new(9, 1, 100) };
const TF32_ROUNDED: Requirements = Requirements::new(7, 8, 90);
const RANDOM: ModifierSlot = ModifierSlot::one_of("rounding", words!(Rs));
const ZERO_OR_UP: ModifierSlot = ModifierSlot::one_of("rounding", words!(Rz Rp));
const DIRECTED: ModifierSlot = ModifierSlot::one_of("rounding", words!(Rm Rp));

const fn of_type(token: Type, needs: Requirements) -> Choice {
    since(needs, Token::Type(token))
}

const MINIS: ModifierSlot = ty(&[
    of_type(Type::E4m3x2, FP8),
    of_type(Type::E5m2x2, FP8),
    of_type(Type::E2m3x2, SMALL),
    of_type(Type::E3m2x2, SMALL),
    of_type(Type::E2m1x2, SMALL),
]);
const MINI_SOURCES: ModifierSlot = source_ty(MINIS.choices);
const BYTES: ModifierSlot = ty(types!(E4m3x2 E5m2x2));
const SMALLER: ModifierSlot = ty(types!(E2m3x2 E3m2x2 E2m1x2));
const HALVES: ModifierSlot = source_ty(&[word(Token::Type(Type::F16x2)), of_type(Type::Bf16x2, SMALL_OF_HALVES)]);

const TO_MINI: &str = "Rounds two numbers to nearest even in a format of 8, 6 or 4 bits and packs them: `a`, or the \
    high half of a packed operand, becomes the high one. Values beyond the largest number, including infinity, become \
    the largest number. NaN becomes 0x7f in e4m3 and e5m2, and the largest number in the other formats. An e2m3 or \
    e3m2 number takes the low six bits of a byte, an e2m1 number four bits. `.relu` turns -0 and negative values into \
    +0.";
const TO_SCALE: &str = "Rounds two numbers to powers of two, encoded as 8-bit exponents of which 255 is NaN. The high \
    byte is that of `a` or of the high half. The sign is ignored; values below 2^-127 are encoded as 0. `.rz` rounds \
    down and `.rp` up to a power of two. `.satfinite` turns infinity into 254.";
const TO_TF32: &str = "Rounds an f32 to 10 fraction bits; the low 13 bits are zero. `.rna` rounds to nearest, ties \
                       away from zero. NaN is 0x7fffffff.";
const AT_RANDOM: &str = "Rounds stochastically: adds random bits to the discarded bits, and rounds away from zero if \
    the sum has a carry. The random bits come from `r`. For a pair, `a` uses the high half and `b` the low half, with \
    13 bits for f16. For four numbers, the first two use the high half and the others the low half, with 8 bits for \
    e2m1. `.satfinite` clamps to the largest finite number.";
const DOUBLE: &str = "Rounds an f64 once. `.ftz` flushes a subnormal result to a zero of its sign. `.sat` clamps to \
    [0, 1] and turns NaN and -0 into +0. NaN is 0x7fffffff, or 0x7fff for a half.";
const TO_DOUBLE: &str = "Converts a float exactly to f64. A NaN is quieted and keeps its payload. `.ftz` flushes a \
                         subnormal operand to a zero of its sign. `.sat` clamps to [0, 1]. A rounding has no effect.";
const DOUBLE_TO_INT: &str = "Rounds an f64 to an integer: to nearest even (`.rni`), toward zero (`.rzi`), down \
    (`.rmi`) or up (`.rpi`). Values out of range saturate. NaN becomes the integer with only the highest bit set.";
const BETWEEN: &str = "Rounds a half once to the other half format, to nearest even without a rounding modifier.";

const F64S: &[Choice] = types!(F64);
const F16: &[Choice] = types!(F16);
const BF16S: &[Choice] = types!(Bf16);
const F32: &[Choice] = types!(F32);

/// Invalid combinations with `.sat`: each result type, and the source types whose values always fit.
const IN_RANGE: &[[&[Token]; 2]] = &[
    [tokens!(U8), tokens!(U8)],
    [tokens!(U16), tokens!(U8 U16)],
    [tokens!(U32), tokens!(U8 U16 U32)],
    [tokens!(U64), tokens!(U8 U16 U32 U64)],
    [tokens!(S8), tokens!(S8)],
    [tokens!(S16), tokens!(U8 S8 S16)],
    [tokens!(S32), tokens!(U8 U16 S8 S16 S32)],
    [tokens!(S64), tokens!(U8 U16 U32 S8 S16 S32 S64)],
];

/// Invalid combinations: a vector must have at most 128 bits.
const UP_TO_128: &[[&[Token]; 2]] = &[[&[Token::V4], tokens!(B64 U64 S64 F64)]];
const ELEMENTS: &[OperandRow] =
    &[OperandRow::def("d", OperandKind::Elements(T)), OperandRow::used("a", OperandKind::Elements(T))];

convert! {
    CVT_INT "cvt" Compute &[ty(INTEGERS), source_ty(INTEGERS)], INT_INT, Requirements::ALWAYS,
        "Converts an integer: extends it by the signedness of the source type, or truncates it. If the destination \
         register is wider than its type, the result is extended again.",
        "cvt.u32.u16 %d, %a;" "cvt.s64.s32 %d, %a;";
    CVT_INT_SAT exclusions IN_RANGE "cvt" Compute &[MUST_SAT, ty(INTEGERS), source_ty(INTEGERS)], INT_INT, Requirements::ALWAYS,
        "Converts an integer with saturation. The modifier is invalid if the destination type can hold every value of \
         the source type.", "cvt.sat.u8.s32 %d, %a;";
    CVT_PACK "cvt" Compute &[PACK, MUST_SAT, ty(types!(U16 S16)), source_ty(types!(S32))], PACKED, PACKING,
        "Clamps two integers to half-words and packs them: `a` into the high half, `b` into the low half.", "cvt.pack.sat.u16.s32 %d, %a, %b;";
    CVT_PACK_BYTES "cvt" Compute &[PACK, MUST_SAT, ty(types!(U8 S8 U4 S4 U2 S2)), source_ty(types!(S32)), ModifierSlot::one_of("type of c", types!(B32))], PACKED_BYTES, PACKING,
        "Clamps two integers to 8, 4 or 2 bits and packs them below the low bits of `c`: `b` is the lowest field, `a` \
         the next.", "cvt.pack.sat.u8.s32.b32 %d, %a, %b, %c;";
    CVT_F32_INT "cvt" Compute &[ROUND, FTZ, SAT, ty(F32), source_ty(INTEGERS)], FLOAT_INT, Requirements::ALWAYS, TO_FLOAT, "cvt.rn.f32.s32 %d, %a;";
    CVT_F16_INT "cvt" Compute &[ROUND, SAT, ty(F16), source_ty(INTEGERS)], FLOAT_INT, Requirements::ALWAYS, TO_FLOAT, "cvt.rn.f16.u16 %d, %a;";
    CVT_BF16_INT "cvt" Compute &[ROUND, ty(BF16S), source_ty(EXACT_INTEGERS)], BF16_INT, BF16, TO_FLOAT, "cvt.rn.bf16.s32 %d, %a;";
    CVT_INT_F32 "cvt" Compute &[ROUND_INT, FTZ, SAT, ty(INTEGERS), source_ty(F32)], INT_FLOAT, Requirements::ALWAYS, TO_INT, "cvt.rzi.s32.f32 %d, %a;";
    CVT_INT_F16 "cvt" Compute &[ROUND_INT, SAT, ty(INTEGERS), source_ty(F16)], INT_FLOAT, Requirements::ALWAYS, TO_INT, "cvt.rni.s16.f16 %d, %a;";
    CVT_INT_BF16 "cvt" Compute &[ROUND_INT, ty(EXACT_INTEGERS), source_ty(BF16S)], INT_BF16, BF16, TO_INT, "cvt.rzi.s32.bf16 %d, %a;";
    CVT_F16_F32 "cvt" Compute &[ROUND, FTZ, SAT, ty(F16), source_ty(F32)], FLOAT_FLOAT, Requirements::ALWAYS, NARROW, "cvt.rn.f16.f32 %d, %a;";
    CVT_F16_F32_RELU "cvt" Compute &[NEAR_OR_ZERO, MUST_RELU, MAYBE_SATFINITE, ty(F16), source_ty(F32)], FLOAT_FLOAT, SM_80, NARROW, "cvt.rn.relu.f16.f32 %d, %a;";
    CVT_F16_F32_LIMITED "cvt" Compute &[NEAR_OR_ZERO, MUST_SATFINITE, ty(F16), source_ty(F32)], FLOAT_FLOAT, LIMITED, NARROW, "cvt.rn.satfinite.f16.f32 %d, %a;";
    CVT_BF16_F32 "cvt" Compute &[NEAR_OR_ZERO, MAYBE_RELU, MAYBE_SATFINITE, ty(BF16S), source_ty(F32)], EXACT, SM_80, NARROW, "cvt.rn.bf16.f32 %d, %a;";
    CVT_BF16_F32_DIRECTED "cvt" Compute &[DIRECTED, ty(BF16S), source_ty(F32)], EXACT, BF16, NARROW, "cvt.rm.bf16.f32 %d, %a;";
    CVT_BF16_F16 "cvt" Compute &[MAYBE_ROUND, ty(BF16S), source_ty(F16)], EXACT, BF16, BETWEEN, "cvt.rn.bf16.f16 %d, %a;" "cvt.bf16.f16 %d, %a;";
    CVT_F16_BF16 "cvt" Compute &[MAYBE_ROUND, ty(F16), source_ty(BF16S)], EXACT, BF16, BETWEEN, "cvt.rz.f16.bf16 %d, %a;" "cvt.f16.bf16 %d, %a;";
    CVT_BF16_BF16 "cvt" Compute &[MAYBE_ROUND_INT, ty(BF16S), source_ty(BF16S)], EXACT, BF16, SAME, "cvt.rni.bf16.bf16 %d, %a;";
    CVT_F64_INT "cvt" Compute &[ROUND, SAT, ty(F64S), source_ty(INTEGERS)], FLOAT_INT, Requirements::ALWAYS, TO_FLOAT, "cvt.rn.f64.s64 %d, %a;";
    CVT_INT_F64 "cvt" Compute &[ROUND_INT, SAT, ty(INTEGERS), source_ty(F64S)], INT_FLOAT, Requirements::ALWAYS, DOUBLE_TO_INT, "cvt.rzi.s32.f64 %d, %a;";
    CVT_F32_F64_FLUSHED "cvt" Compute &[ROUND, ModifierSlot::one_of("subnormals", words!(Ftz)), SAT, ty(F32), source_ty(F64S)], EXACT, Requirements::ALWAYS, DOUBLE, "cvt.rn.ftz.f32.f64 %d, %a;";
    CVT_F32_F64 "cvt" Compute &[ROUND, SAT, ty(F32), source_ty(F64S)], FLOAT_FLOAT, Requirements::ALWAYS, DOUBLE, "cvt.rn.f32.f64 %d, %a;";
    CVT_F16_F64 "cvt" Compute &[ROUND, SAT, ty(F16), source_ty(F64S)], FLOAT_FLOAT, Requirements::ALWAYS, DOUBLE, "cvt.rn.f16.f64 %d, %a;";
    CVT_BF16_F64 "cvt" Compute &[ROUND, ty(BF16S), source_ty(F64S)], EXACT, BF16, DOUBLE, "cvt.rn.bf16.f64 %d, %a;";
    CVT_F64_F32 "cvt" Compute &[FTZ, SAT, ty(F64S), source_ty(F32)], FLOAT_FLOAT, Requirements::ALWAYS, TO_DOUBLE, "cvt.f64.f32 %d, %a;";
    CVT_F64_F16 "cvt" Compute &[SAT, ty(F64S), source_ty(F16)], FLOAT_FLOAT, Requirements::ALWAYS, TO_DOUBLE, "cvt.f64.f16 %d, %a;";
    CVT_F64_BF16 "cvt" Compute &[MAYBE_ROUND, ty(F64S), source_ty(BF16S)], EXACT, BF16, TO_DOUBLE, "cvt.f64.bf16 %d, %a;";
    CVT_F64_F64 "cvt" Compute &[MAYBE_ROUND_INT, SAT, ty(F64S), source_ty(F64S)], FLOAT_FLOAT, Requirements::ALWAYS, SAME, "cvt.rni.f64.f64 %d, %a;";
    CVT_TF32_AWAY "cvt" Compute &[ModifierSlot::one_of("rounding", words!(Rna)), MAYBE_SATFINITE, ty(types!(Tf32)), source_ty(F32)], EXACT, SM_80, TO_TF32, "cvt.rna.tf32.f32 %d, %a;";
    CVT_TF32 "cvt" Compute &[NEAR_OR_ZERO, ANY_RELU, ModifierSlot::optional("limit", &[since(MIXED, Token::Satfinite)]), ty(types!(Tf32)), source_ty(F32)], EXACT, TF32_ROUNDED, TO_TF32, "cvt.rn.tf32.f32 %d, %a;";
    CVT_MINI_F32 "cvt" Compute &[RN, MUST_SATFINITE, ANY_RELU, MINIS, source_ty(F32)], PAIR, Requirements::ALWAYS, TO_MINI, "cvt.rn.satfinite.e4m3x2.f32 %d, %a, %b;";
    CVT_MINI_HALVES "cvt" Compute &[RN, MUST_SATFINITE, ANY_RELU, BYTES, HALVES], EXACT, FP8, TO_MINI, "cvt.rn.satfinite.e5m2x2.f16x2 %d, %a;";
    CVT_SMALLER_HALVES "cvt" Compute &[RN, MUST_SATFINITE, ANY_RELU, SMALLER, source_ty(types!(F16x2 Bf16x2))], EXACT, SMALL_OF_HALVES, TO_MINI, "cvt.rn.satfinite.e2m3x2.f16x2 %d, %a;";
    CVT_HALVES_MINI "cvt" Compute &[RN, ANY_RELU, ty(types!(F16x2)), MINI_SOURCES], EXACT, Requirements::ALWAYS,
        "Converts two numbers exactly to halves. An e2m3 or e3m2 number takes six bits of a byte, an e2m1 number four \
         bits. NaN is 0x7fff. `.relu` turns -0 and negative values into +0.", "cvt.rn.f16x2.e4m3x2 %d, %a;";
    CVT_SCALE_F32 "cvt" Compute &[ZERO_OR_UP, ANY_SATFINITE, ty(types!(Ue8m0x2)), source_ty(F32)], PAIR, SMALL, TO_SCALE, "cvt.rp.satfinite.ue8m0x2.f32 %d, %a, %b;";
    CVT_SCALE_BF16X2 "cvt" Compute &[ZERO_OR_UP, ANY_SATFINITE, ty(types!(Ue8m0x2)), source_ty(types!(Bf16x2))], EXACT, SMALL, TO_SCALE, "cvt.rz.ue8m0x2.bf16x2 %d, %a;";
    CVT_BF16X2_SCALE "cvt" Compute &[RN, ty(types!(Bf16x2)), source_ty(types!(Ue8m0x2))], EXACT, SMALL, "Converts two powers of two to bfloat16; 255 is NaN, 0x7fff.", "cvt.rn.bf16x2.ue8m0x2 %d, %a;";
    CVT_RANDOM_PAIR "cvt" Compute &[RANDOM, ANY_RELU, ANY_SATFINITE, ty(types!(F16x2 Bf16x2)), source_ty(F32)], RANDOM_PAIR, STOCHASTIC, AT_RANDOM, "cvt.rs.f16x2.f32 %d, %a, %b, %r;";
    CVT_RANDOM_FOUR "cvt" Compute &[RANDOM, MUST_SATFINITE, ANY_RELU, ty(types!(E4m3x4 E5m2x4 E2m3x4 E3m2x4 E2m1x4)), source_ty(F32)], RANDOM_FOUR, STOCHASTIC, AT_RANDOM,
        "cvt.rs.relu.satfinite.e4m3x4.f32 %d, {%a, %b, %c, %e}, %r;";
    CVT_F32_F16 "cvt" Compute &[FTZ, SAT, ty(F32), source_ty(F16)], FLOAT_FLOAT, Requirements::ALWAYS, WIDEN, "cvt.f32.f16 %d, %a;";
    CVT_F32_BF16 "cvt" Compute &[MAYBE_ROUND, ModifierSlot::optional("subnormals", &[since(BF16, Token::Ftz)]), ty(F32), source_ty(BF16S)], EXACT, Requirements::new(7, 1, 80), WIDEN, "cvt.f32.bf16 %d, %a;";
    CVT_F32_F32 "cvt" Compute &[MAYBE_ROUND_INT, FTZ, SAT, ty(F32), source_ty(F32)], FLOAT_FLOAT, Requirements::ALWAYS, SAME, "cvt.rni.f32.f32 %d, %a;";
    CVT_F16_F16 "cvt" Compute &[MAYBE_ROUND_INT, SAT, ty(F16), source_ty(F16)], FLOAT_FLOAT, Requirements::ALWAYS, SAME, "cvt.rzi.f16.f16 %d, %a;";
    CVT_F16X2_F32 "cvt" Compute &[NEAR_OR_ZERO, MAYBE_RELU, MAYBE_SATFINITE, ty(types!(F16x2 Bf16x2)), source_ty(F32)], PAIR, SM_80, BOTH, "cvt.rn.f16x2.f32 %d, %a, %b;";

    MOV "mov" Move &[ty(types!(Pred B16 B32 B64 U16 U32 U64 S16 S32 S64 F32 F64))], D_A, Requirements::ALWAYS, "Copies a value.", "mov.b32 %d, 0;";
    MOV_SPECIAL "mov" Address &[ty(types!(B16 U16 B32 U32 S32 B64 U64 S64))], &[def("d", T), OperandRow::used("a", OperandKind::Special)], Requirements::ALWAYS,
        "Reads a special register, such as the index of the thread or the size of the block. If the type is narrower, \
        the result is the low bits. docs/ptx.md lists the values of the registers that describe the hardware.", "mov.u32 %d, %tid.x;" "mov.u32 %d, %laneid;" "mov.u64 %d, %clock64;";
    MOV_PACK "mov" Move &[ty(types!(B16 B32 B64))], &[def("d", T), OperandRow::used("a", OperandKind::Parts(T))], Requirements::ALWAYS,
        "Packs two or four parts into a word, the first one lowest.", "mov.b32 %d, {%a, %b};";
    MOV_UNPACK "mov" Move &[ty(types!(B16 B32 B64))], &[OperandRow::def("d", OperandKind::Parts(T)), value("a", T)], Requirements::ALWAYS,
        "Splits a word into two or four parts, the first one lowest.", "mov.b32 {%d, _}, %a;";
    MOV_VECTOR exclusions UP_TO_128 "mov" Move &[ModifierSlot::one_of("elements", words!(V2 V4)), ty(types!(B16 B32 B64 U16 U32 U64 S16 S32 S64 F32 F64))], ELEMENTS, Requirements::ALWAYS,
        "Copies a vector. The vector `%tid` and other vectors of indices have the element `.w` 0.", "mov.v2.f32 {%d, %e}, {%a, %b};" "mov.v4.u32 {%d, %e, %f, _}, {%a, %b, %c, %a};";
    MOV_B128 "mov" Move &[ty(BITS_128)], REGS_1, Requirements::ALWAYS, "Copies a 128-bit value.", "mov.b128 %d, %a;";
    MOV_PACK_B128 "mov" Move &[ty(BITS_128)], &[def("d", T), OperandRow::used("a", OperandKind::Parts(T))], Requirements::ALWAYS,
        "Packs two or four parts into a 128-bit value, the first one lowest.", "mov.b128 %d, {%a, %b};" "mov.b128 %d, {%a, %b, %c, %e};";
    MOV_UNPACK_B128 "mov" Move &[ty(BITS_128)], &[OperandRow::def("d", OperandKind::Parts(T)), reg("a", T)], Requirements::ALWAYS,
        "Splits a 128-bit value into two or four parts, the first one lowest.", "mov.b128 {%d, %e}, %a;" "mov.b128 {%d, _}, %a;";
    MOV_ADDRESS "mov" Address &[ty(types!(B64 U64 S64 B32 U32 S32))], &[def("d", T), OperandRow::used("a", OperandKind::Variable)], Requirements::ALWAYS,
        "Computes the address of a variable of the module in its state space, plus a constant offset in bytes.", "mov.u64 %d, g0;" "mov.u64 %d, c0+4;";
}
