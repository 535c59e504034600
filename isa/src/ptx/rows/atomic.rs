//! Rows of atomic operations.

use super::*;

/// Target requirements of `add` on bfloat16.
const BFLOAT: Requirements = Requirements::new(7, 8, 90);
/// Target requirements of atomic operations on vectors.
const VECTORS: Requirements = Requirements::new(8, 1, 90);
/// Target requirements of 128-bit atomic operations.
const OF_128: Requirements = Requirements::new(8, 3, 90);
/// Target requirements of 128-bit atomic operations with the scope `.sys`.
const OF_128_OF_SYSTEM: Requirements = Requirements::new(8, 4, 90);
/// Target requirements of the scope `.cluster`.
const CLUSTERS: Requirements = Requirements::new(7, 8, 90);

const ORDER: ModifierSlot = ModifierSlot::optional("order", words!(Relaxed Acquire Release AcquireRelease));
const RED_ORDER: ModifierSlot = ModifierSlot::optional("order", words!(Relaxed Release));
const SCOPE: ModifierSlot = ModifierSlot::optional(
    "scope",
    &[word(Token::Cta), since(CLUSTERS, Token::Cluster), word(Token::Gpu), word(Token::Sys)],
);
const SPACE: ModifierSlot =
    ModifierSlot::optional("space", &[word(Token::Global), word(Token::Shared), since(OF_BLOCK, Token::SharedCta)]);
const GLOBAL: ModifierSlot = ModifierSlot::optional("space", words!(Global));
const ADD: ModifierSlot = ModifierSlot::one_of("operation", words!(Add));
const EXTREMA: ModifierSlot = ModifierSlot::one_of("operation", words!(Min Max));
const COUNTERS: ModifierSlot = ModifierSlot::one_of("operation", words!(Inc Dec));
const LOGIC: ModifierSlot = ModifierSlot::one_of("operation", words!(And Or Xor));
const EXCH: ModifierSlot = ModifierSlot::one_of("operation", words!(Exch));
const CAS: ModifierSlot = ModifierSlot::one_of("operation", words!(Cas));
const NOFTZ: ModifierSlot = ModifierSlot::one_of("subnormals", words!(Noftz));
const NUMBERS: ModifierSlot = ty(types!(U32 S32 U64 F32 F64));
const HALVES: ModifierSlot = ty(&[
    word(Token::Type(Type::F16)),
    word(Token::Type(Type::F16x2)),
    since(BFLOAT, Token::Type(Type::Bf16)),
    since(BFLOAT, Token::Type(Type::Bf16x2)),
]);
const INTEGERS: ModifierSlot = ty(types!(U32 S32 U64 S64));
const COUNTS: ModifierSlot = ty(types!(U32));
const BITS: ModifierSlot = ty(types!(B32 B64));
const COMPARED: ModifierSlot = ty(types!(B16 B32 B64));

const SCOPE_128: ModifierSlot = ModifierSlot::optional(
    "scope",
    &[word(Token::Cta), since(CLUSTERS, Token::Cluster), word(Token::Gpu), since(OF_128_OF_SYSTEM, Token::Sys)],
);
const ANY_HALVES: ModifierSlot = ModifierSlot::one_of("operation", words!(Add Min Max));
const UP_TO_4: ModifierSlot = ModifierSlot::one_of("elements", words!(V2 V4));
const UP_TO_8: ModifierSlot = ModifierSlot::one_of("elements", words!(V2 V4 V8));
const SINGLES: ModifierSlot = ty(types!(F32));
const SHORT: ModifierSlot = ty(types!(F16 F16x2 Bf16 Bf16x2));
/// Invalid combinations: an access must have at most 16 bytes.
const UP_TO_16: &[[&[Token]; 2]] = &[[&[Token::V8], &[Token::Type(Type::F16x2), Token::Type(Type::Bf16x2)]]];

const ALL_D_A_B: &[OperandRow] = &[
    OperandRow::def("d", OperandKind::Elements(T)),
    OperandRow::used("a", OperandKind::Memory),
    OperandRow::used("b", OperandKind::Elements(T)),
];
const ALL_A_B: &[OperandRow] =
    &[OperandRow::used("a", OperandKind::Memory), OperandRow::used("b", OperandKind::Elements(T))];
const D_A_REG: &[OperandRow] = &[def("d", T), OperandRow::used("a", OperandKind::Memory), reg("b", T)];
const D_A_REG_REG: &[OperandRow] = &[def("d", T), OperandRow::used("a", OperandKind::Memory), reg("b", T), reg("c", T)];
const A_REG: &[OperandRow] = &[OperandRow::used("a", OperandKind::Memory), reg("b", T)];
const D_A_B: &[OperandRow] = &[def("d", T), OperandRow::used("a", OperandKind::Memory), value("b", T)];
const D_A_B_C: &[OperandRow] = &[def("d", T), OperandRow::used("a", OperandKind::Memory), value("b", T), value("c", T)];
const A_B: &[OperandRow] = &[OperandRow::used("a", OperandKind::Memory), value("b", T)];

const ATOM: &str = "Atomically updates memory at `a` and returns the old value.";
const REDUCED: &str = "Atomically updates memory at `a`.";
const SUM: &str = "Atomically adds to memory at `a` and returns the old value. Sums of f32 in global memory flush \
                   subnormals to zero.";
const EACH: &str = "Atomically updates consecutive elements, each on its own. The vector must be aligned to its total \
                    size.";
const SWAP: &str = "Atomically stores `c` at `a` if the old value equals `b`, and returns the old value.";

const ANY: Requirements = Requirements::ALWAYS;

accesses! {
    ATOM_ADD "atom" &[ORDER, SCOPE, SPACE, ADD, NUMBERS], D_A_B, ANY, SUM, "atom.global.add.u32 %d, [%a], %b;";
    ATOM_ADD_HALF "atom" &[ORDER, SCOPE, SPACE, ADD, NOFTZ, HALVES], D_A_REG, ANY, SUM, "atom.shared.add.noftz.f16x2 %d, [%a], %b;";
    ATOM_MINMAX "atom" &[ORDER, SCOPE, SPACE, EXTREMA, INTEGERS], D_A_B, ANY, ATOM, "atom.global.min.s32 %d, [%a], %b;";
    ATOM_COUNT "atom" &[ORDER, SCOPE, SPACE, COUNTERS, COUNTS], D_A_B, ANY, ATOM, "atom.global.inc.u32 %d, [%a], 7;";
    ATOM_BITS "atom" &[ORDER, SCOPE, SPACE, LOGIC, BITS], D_A_B, ANY, ATOM, "atom.shared.or.b32 %d, [%a], %b;";
    ATOM_EXCH "atom" &[ORDER, SCOPE, SPACE, EXCH, BITS], D_A_B, ANY, ATOM, "atom.acquire.gpu.global.exch.b32 %d, [%a], %b;";
    ATOM_CAS "atom" &[ORDER, SCOPE, SPACE, CAS, COMPARED], D_A_B_C, ANY, SWAP, "atom.global.cas.b32 %d, [%a], %b, %c;";
    ATOM_EXCH_B128 "atom" &[ORDER, SCOPE_128, SPACE, EXCH, ty(BITS_128)], D_A_REG, OF_128, ATOM, "atom.global.exch.b128 %d, [%a], %b;";
    ATOM_CAS_B128 "atom" &[ORDER, SCOPE_128, SPACE, CAS, ty(BITS_128)], D_A_REG_REG, OF_128, SWAP, "atom.global.cas.b128 %d, [%a], %b, %c;";
    ATOM_VECTOR "atom" &[ORDER, SCOPE, GLOBAL, ADD, UP_TO_4, SINGLES], ALL_D_A_B, VECTORS, EACH, "atom.global.add.v2.f32 {%d, %e}, [%a], {%b, %c};";
    ATOM_VECTOR_HALF exclusions UP_TO_16 "atom" &[ORDER, SCOPE, GLOBAL, ANY_HALVES, NOFTZ, UP_TO_8, SHORT], ALL_D_A_B, VECTORS, EACH, "atom.global.max.noftz.v2.f16x2 {%d, %e}, [%a], {%b, %c};";
    RED_ADD "red" &[RED_ORDER, SCOPE, SPACE, ADD, NUMBERS], A_B, ANY, REDUCED, "red.global.add.u32 [%a], 1;";
    RED_ADD_HALF "red" &[RED_ORDER, SCOPE, SPACE, ADD, NOFTZ, HALVES], A_REG, ANY, REDUCED, "red.global.add.noftz.f16x2 [%a], %b;";
    RED_MINMAX "red" &[RED_ORDER, SCOPE, SPACE, EXTREMA, INTEGERS], A_B, ANY, REDUCED, "red.global.max.u32 [%a], %b;";
    RED_COUNT "red" &[RED_ORDER, SCOPE, SPACE, COUNTERS, COUNTS], A_B, ANY, REDUCED, "red.global.dec.u32 [%a], %b;";
    RED_BITS "red" &[RED_ORDER, SCOPE, SPACE, LOGIC, BITS], A_B, ANY, REDUCED, "red.shared.xor.b32 [%a], %b;";
    RED_VECTOR "red" &[RED_ORDER, SCOPE, GLOBAL, ADD, UP_TO_4, SINGLES], ALL_A_B, VECTORS, EACH, "red.global.add.v2.f32 [%a], {%b, %c};";
    RED_VECTOR_HALF exclusions UP_TO_16 "red" &[RED_ORDER, SCOPE, GLOBAL, ANY_HALVES, NOFTZ, UP_TO_8, SHORT], ALL_A_B, VECTORS, EACH, "red.global.add.noftz.v2.bf16x2 [%a], {%b, %c};";
}
