//! Rows of comparisons and selections.

use super::*;

const EQUALITY: ModifierSlot = ModifierSlot::one_of("compare", words!(Eq Ne));
const ORDER: ModifierSlot = ModifierSlot::one_of("compare", words!(Eq Ne Lt Le Gt Ge));
const UNSIGNED: ModifierSlot = ModifierSlot::one_of("compare", words!(Lo Ls Hi Hs));
const FLOAT: ModifierSlot =
    ModifierSlot::one_of("compare", words!(Eq Ne Lt Le Gt Ge Equ Neu Ltu Leu Gtu Geu Num IsNan));

const BITS: &[Choice] = types!(B16 B32 B64);
const INTEGERS: &[Choice] = types!(U16 U32 U64 S16 S32 S64);
const UNSIGNEDS: &[Choice] = types!(U16 U32 U64);
const F32: &[Choice] = types!(F32);
const F16: &[Choice] = types!(F16);
const F16X2: &[Choice] = types!(F16x2);
const BF16S: &[Choice] = types!(Bf16);
const BF16X2: &[Choice] = types!(Bf16x2);
/// Target requirements of `set` on halves with an integer result.
const WITH_TRUTHS: Requirements = Requirements::new(6, 5, 75);
const ONE_HALF: &[Choice] = &[
    word(Token::Type(Type::F16)),
    since(BF16, Token::Type(Type::Bf16)),
    since(WITH_TRUTHS, Token::Type(Type::U16)),
    since(WITH_TRUTHS, Token::Type(Type::S16)),
    since(WITH_TRUTHS, Token::Type(Type::U32)),
    since(WITH_TRUTHS, Token::Type(Type::S32)),
];
const TWO_HALVES: &[Choice] = &[
    word(Token::Type(Type::F16x2)),
    since(WITH_TRUTHS, Token::Type(Type::U32)),
    since(WITH_TRUTHS, Token::Type(Type::S32)),
];
/// Modifier slot for the result type of a scalar `set`.
const TRUTH: ModifierSlot = ty(&[
    word(Token::Type(Type::U32)),
    word(Token::Type(Type::S32)),
    word(Token::Type(Type::F32)),
    word(Token::Type(Type::F16)),
    since(BF16, Token::Type(Type::Bf16)),
]);

/// Invalid combination: a `set` with a bfloat16 result has no `.ftz`.
const FLUSHED_BF16: &[[&[Token]; 2]] = &[[&[Token::Ftz], &[Token::Type(Type::Bf16)]]];

const P: OperandRow = OperandRow::def("p", OperandKind::Predicates);
const SINGLE: OperandRow = OperandRow::def("p", OperandKind::Register(PRED));
const COMBINED: OperandRow = OperandRow::with(BOOL.name, "c", OperandKind::Condition);
const SETP: &[OperandRow] = &[P, value("a", T), value("b", T), COMBINED];
const SETP_HALF: &[OperandRow] = &[SINGLE, reg("a", T), reg("b", T), COMBINED];
const SETP_HALVES: &[OperandRow] = &[P, reg("a", T), reg("b", T), COMBINED];
const S: Ty = Ty::Named(1);
const SET: &[OperandRow] = &[def("d", T), value("a", S), value("b", S), COMBINED];
const SET_HALF: &[OperandRow] = &[def("d", T), reg("a", S), reg("b", S), COMBINED];

const INTO_PREDICATES: &str = "Compares two values. `p` receives the result and `q` its negation, each combined with \
    `c` if present.\n\n\
    If an operand is NaN, float comparisons without `u` are false and those with `u` are true. `.num` is true if \
    neither operand is NaN, `.nan` if either is.";
const INTO_LANES: &str = "Compares packed halves lane by lane. `p` receives the result of the low lane and `q` that of \
    the high lane, each combined with `c` if present.";
const INTO_WORD: &str = "Compares two values, combines the result with `c` if present, and writes all ones or zero, or \
    1.0 or 0.0 if the destination type is a float. Packed halves are compared lane by lane, and each lane receives its \
    own result.";

rows! {
    SETP_BITS "setp" &[EQUALITY, BOOL, ty(BITS)], SETP, Requirements::ALWAYS, INTO_PREDICATES, "setp.eq.b32 %p, %a, 0;";
    SETP_INT "setp" &[ORDER, BOOL, ty(INTEGERS)], SETP, Requirements::ALWAYS, INTO_PREDICATES, "setp.lt.s32 %p, %a, %b;";
    SETP_UNSIGNED "setp" &[UNSIGNED, BOOL, ty(UNSIGNEDS)], SETP, Requirements::ALWAYS, INTO_PREDICATES, "setp.hs.u32 %p, %a, %b;";
    SETP_F32 "setp" &[FLOAT, BOOL, FTZ, ty(F32)], SETP, Requirements::ALWAYS, INTO_PREDICATES, "setp.gtu.ftz.f32 %p|%q, %a, %b;";
    SETP_F64 "setp" &[FLOAT, BOOL, F64], SETP, Requirements::ALWAYS, INTO_PREDICATES, "setp.gtu.f64 %p|%q, %a, %b;";
    SETP_F16 "setp" &[FLOAT, BOOL, FTZ, ty(F16)], SETP_HALF, Requirements::ALWAYS, INTO_PREDICATES, "setp.gt.f16 %p, %a, %b;";
    SETP_BF16 "setp" &[FLOAT, BOOL, ty(BF16S)], SETP_HALF, BF16, INTO_PREDICATES, "setp.gt.bf16 %p, %a, %b;";
    SETP_F16X2 "setp" &[FLOAT, BOOL, FTZ, ty(F16X2)], SETP_HALVES, Requirements::ALWAYS, INTO_LANES, "setp.lt.and.ftz.f16x2 %p|%q, %a, %b, !%c;";
    SETP_BF16X2 "setp" &[FLOAT, BOOL, ty(BF16X2)], SETP_HALVES, BF16, INTO_LANES, "setp.lt.bf16x2 %p|%q, %a, %b;";

    SET_BITS "set" &[EQUALITY, BOOL, TRUTH, source_ty(BITS)], SET, Requirements::ALWAYS, INTO_WORD, "set.eq.u32.b32 %d, %a, %b;";
    SET_INT "set" &[ORDER, BOOL, TRUTH, source_ty(INTEGERS)], SET, Requirements::ALWAYS, INTO_WORD, "set.lt.u32.s32 %d, %a, %b;" "set.ge.bf16.s64 %d, %a, %b;";
    SET_UNSIGNED "set" &[UNSIGNED, BOOL, TRUTH, source_ty(UNSIGNEDS)], SET, Requirements::ALWAYS, INTO_WORD, "set.hi.u32.u32 %d, %a, %b;";
    SET_F32 exclusions FLUSHED_BF16 "set" &[FLOAT, BOOL, FTZ, TRUTH, source_ty(F32)], SET, Requirements::ALWAYS, INTO_WORD, "set.num.f32.f32 %d, %a, %b;";
    SET_F64 "set" &[FLOAT, BOOL, TRUTH, source_ty(types!(F64))], SET, Requirements::ALWAYS, INTO_WORD, "set.num.u32.f64 %d, %a, %b;";
    SET_F16 exclusions FLUSHED_BF16 "set" &[FLOAT, BOOL, FTZ, ty(ONE_HALF), source_ty(F16)], SET_HALF, Requirements::ALWAYS, INTO_WORD, "set.gt.u16.f16 %d, %a, %b;";
    SET_BF16 "set" &[FLOAT, BOOL, ty(types!(Bf16 U16 S16 U32 S32)), source_ty(BF16S)], SET_HALF, BF16, INTO_WORD, "set.gt.bf16.bf16 %d, %a, %b;";
    SET_F16X2 "set" &[FLOAT, BOOL, FTZ, ty(TWO_HALVES), source_ty(F16X2)], SET_HALF, Requirements::ALWAYS, INTO_WORD, "set.gt.u32.f16x2 %d, %a, %b;";
    SET_BF16X2 "set" &[FLOAT, BOOL, ty(types!(Bf16x2 U32 S32)), source_ty(BF16X2)], SET_HALF, BF16, INTO_WORD, "set.gt.bf16x2.bf16x2 %d, %a, %b;";

    SELP "selp" &[ty(types!(B16 B32 B64 U16 U32 U64 S16 S32 S64 F32 F64))], &[def("d", T), value("a", T), value("b", T), reg("c", PRED)],
        Requirements::ALWAYS, "Selects by a predicate: `a` if `c` is true, else `b`.", "selp.b32 %d, %a, 0, %c;";
    SLCT_INT "slct" &[ty(types!(B16 B32 B64 U16 U32 U64 S16 S32 S64 F32 F64)), source_ty(types!(S32))],
        &[def("d", T), value("a", T), value("b", T), value("c", S)],
        Requirements::ALWAYS, "Selects by a sign: `a` if `c` is at least 0, else `b`. NaN selects `b`, and -0 selects `a`.", "slct.b32.s32 %d, %a, %b, %c;";
    SLCT_F32 "slct" &[FTZ, ty(types!(B16 B32 B64 U16 U32 U64 S16 S32 S64 F32 F64)), source_ty(F32)],
        &[def("d", T), value("a", T), value("b", T), value("c", S)],
        Requirements::ALWAYS, "Selects by a sign: `a` if `c` is at least 0, else `b`. NaN selects `b`, and -0 selects `a`.", "slct.ftz.u32.f32 %d, %a, %b, %c;";
}
