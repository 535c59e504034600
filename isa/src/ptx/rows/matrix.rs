//! Rows of warp-level matrix instructions: products, and moves between registers and memory.

use super::*;
use crate::ptx::matrix::MatrixOperand;

/// Target requirements of `.m8n8k4` on f16. SMs after sm_75 emulate the product with other instructions.
const QUADS: Requirements = Requirements { last_sm: Some(75), ..Requirements::new(6, 4, 75) };
const SM_75: Requirements = Requirements::new(6, 5, 75);
/// Target requirements of products of single bits.
const BITS: Requirements = Requirements::new(7, 0, 75);
/// Target requirements of products of single bits with `.and`.
const BITS_AND: Requirements = Requirements::new(7, 1, 80);
/// Target requirements of products of 8-bit floats.
const FP8: Requirements = Requirements::new(8, 4, 89);
/// Target requirements of products of 8-bit floats with `k` = 16 or an f16 result.
const FP8_MORE: Requirements = Requirements::new(8, 7, 89);
/// Target requirements of `stmatrix`.
const STORES: Requirements = Requirements::new(7, 8, 90);
/// Target requirements of `movmatrix`.
const MOVES: Requirements = Requirements::new(7, 8, 75);

pub(super) const SYNC: ModifierSlot = ModifierSlot::one_of("operation", words!(Sync));
pub(super) const ALIGNED: ModifierSlot = ModifierSlot::one_of("aligned", words!(Aligned));
const ROW: ModifierSlot = ModifierSlot::one_of("layout of A", words!(Row));
const COLUMN: ModifierSlot = ModifierSlot::one_of("layout of B", words!(Column));
const LAYOUT_A: ModifierSlot = ModifierSlot::one_of("layout of A", words!(Row Column));
const LAYOUT_B: ModifierSlot = ModifierSlot::one_of("layout of B", words!(Row Column));
pub(super) const LIMITED: ModifierSlot = ModifierSlot::optional("clamping", words!(Satfinite));
pub(super) const OF_D: &str = "type of D";
pub(super) const OF_A: &str = "type of A";
pub(super) const OF_B: &str = "type of B";
const OF_C: &str = "type of C";

pub(super) const fn shape(choices: &'static [Choice]) -> ModifierSlot {
    ModifierSlot::one_of("shape", choices)
}

pub(super) const fn of(name: &'static str, choices: &'static [Choice]) -> ModifierSlot {
    ModifierSlot::one_of(name, choices)
}

pub(super) const F16: &[Choice] = types!(F16);
pub(super) const F32: &[Choice] = types!(F32);
pub(super) const BF16: &[Choice] = types!(Bf16);
pub(super) const TF32: &[Choice] = types!(Tf32);
pub(super) const BYTES: &[Choice] = types!(E4m3 E5m2);
pub(super) const INTEGERS_8: &[Choice] = types!(S8 U8);
const INTEGERS_4: &[Choice] = types!(S4 U4);
pub(super) const B1: &[Choice] = types!(B1);
pub(super) const S32: &[Choice] = types!(S32);

const D_A_B_C: &[OperandRow] = &[
    OperandRow::def("d", OperandKind::Fragment(MatrixOperand::D)),
    OperandRow::used("a", OperandKind::Fragment(MatrixOperand::A)),
    OperandRow::used("b", OperandKind::Fragment(MatrixOperand::B)),
    OperandRow::used("c", OperandKind::Fragment(MatrixOperand::C)),
];

/// Expands to the modifier slots of an `mma`: shape, layouts of A and B, and element types.
macro_rules! product {
    ($shapes:expr, $d:expr, $a:expr, $b:expr, $c:expr) => {
        &[SYNC, ALIGNED, shape($shapes), ROW, COLUMN, of(OF_D, $d), of(OF_A, $a), of(OF_B, $b), of(OF_C, $c)]
    };
    (limited $shapes:expr, $of:expr) => {
        &[
            SYNC,
            ALIGNED,
            shape($shapes),
            ROW,
            COLUMN,
            LIMITED,
            of(OF_D, S32),
            of(OF_A, $of),
            of(OF_B, $of),
            of(OF_C, S32),
        ]
    };
    (quads $d:expr, $c:expr) => {
        &[
            SYNC,
            ALIGNED,
            shape(words!(M8n8k4)),
            LAYOUT_A,
            LAYOUT_B,
            of(OF_D, $d),
            of(OF_A, F16),
            of(OF_B, F16),
            of(OF_C, $c),
        ]
    };
}

/// Modifier slot for the bitwise operation of a product of single bits.
const BITWISE: ModifierSlot = ModifierSlot::one_of("product", &[word(Token::Xor), since(BITS_AND, Token::And)]);
pub(super) const COUNTED: ModifierSlot = ModifierSlot::one_of("sum", words!(Popc));
const OF_K8_K16: &[Choice] = &[word(Token::M16n8k8), since(SM_80, Token::M16n8k16)];
const BIT_SLOTS: &[ModifierSlot] = &[
    SYNC,
    ALIGNED,
    shape(&[word(Token::M8n8k128), since(SM_80, Token::M16n8k128), since(SM_80, Token::M16n8k256)]),
    ROW,
    COLUMN,
    of(OF_D, S32),
    of(OF_A, B1),
    of(OF_B, B1),
    of(OF_C, S32),
    BITWISE,
    COUNTED,
];

const COUNT: ModifierSlot = ModifierSlot::one_of("matrices", words!(One Two Four));
const SIZE: ModifierSlot = shape(words!(M8n8));
const MAYBE_TRANSPOSED: ModifierSlot = ModifierSlot::optional("transposed", words!(Transposed));
const TRANSPOSED: ModifierSlot = ModifierSlot::one_of("transposed", words!(Transposed));
const SHARED: ModifierSlot = ModifierSlot::optional("space", &[word(Token::Shared), since(OF_BLOCK, Token::SharedCta)]);
const HALVES: ModifierSlot = ty(types!(B16));

const FLOATS: &str = "Computes D = A * B + C. Each thread of a warp holds a fragment of each matrix. The shape, such \
    as `.m16n8k16`, gives the number of rows (m) and columns (n) and the inner dimension (k). All threads of a warp \
    must execute it together. Products are exact. The products that the hardware adds at once and the accumulator are \
    aligned to the largest exponent, truncated some bits below it, added exactly and rounded once: to f32 toward zero, \
    to f16 to nearest even. The result is bit-identical to that of the SM that `.target` names. NaN is 0x7fffffff, or \
    0x7fff for f16.";
const OF_QUADS: &str = "Computes four products D = A * B + C at once, each in eight lanes: 4q to 4q + 3 and 16 + 4q to \
                        19 + 4q. Later SMs emulate it with other instructions, whose results differ in some bits. All \
                        threads of a warp must execute it together.";
const INTEGERS: &str = "Computes D = A * B + C of integers, exactly and modulo 2^32, or with `.satfinite` clamped to \
    32 bits. All threads of a warp must execute it together.";
const OF_BITS: &str = "Computes D = A * B + C of single bits. Each element of D is that of C plus the number of bits \
    that are set in both a row of A and a column of B (`.and`), or in which they differ (`.xor`), modulo 2^32. All \
    threads of a warp must execute it together.";
const LOADS: &str = "Loads matrices of 8 rows of 16 bytes from shared memory. Thread 8q + r supplies the address of \
    row r of matrix q, a multiple of 16. Thread 4g + t receives bytes 4t to 4t + 3 of row g, of each matrix in its own \
    register. With `.trans` the halves of the register are the elements of rows 2t and 2t + 1 in column g. Addresses \
    beyond the number of rows are ignored. All threads of a warp must execute it together.";
const STORES_THEM: &str = "Stores matrices to shared memory, the reverse of `ldmatrix`: thread 8q + r supplies the \
    address of row r of matrix q, and the elements come from the registers of all threads. All threads of a warp must \
    execute it together.";
const TRANSPOSES: &str = "Transposes a matrix of 8 rows of 8 halves in registers: thread 4g + t holds columns 2t and \
    2t + 1 of row g, and receives rows 2t and 2t + 1 of column g. All threads of a warp must execute it together.";

const LOAD: ModifierSlot = of("operation", words!(Load));
const STORE: ModifierSlot = of("operation", words!(Store));
const MMA: ModifierSlot = of("operation", words!(Mma));
const OF_FRAGMENTS: &[Choice] = words!(M16n16k16 M8n32k16 M32n8k16);
const ALL_SHAPES: &[Choice] = &[
    word(Token::M16n16k16),
    word(Token::M8n32k16),
    word(Token::M32n8k16),
    since(SM_80, Token::M16n16k8),
    word(Token::M8n8k32),
    word(Token::M8n8k128),
];
const ELEMENTS: &[Choice] = &[
    word(Token::Type(Type::F16)),
    since(SM_80, Token::Type(Type::Bf16)),
    word(Token::Type(Type::S8)),
    word(Token::Type(Type::U8)),
    since(SM_80, Token::Type(Type::Tf32)),
    word(Token::Type(Type::S4)),
    word(Token::Type(Type::U4)),
    word(Token::Type(Type::B1)),
];
const SUMS: &[Choice] = types!(F16 F32 S32);
const ANYWHERE: ModifierSlot =
    ModifierSlot::optional("space", &[word(Token::Global), word(Token::Shared), since(OF_BLOCK, Token::SharedCta)]);

const fn these<const N: usize>(types: [Type; N]) -> [Token; N] {
    let mut tokens = [Token::Row; N];
    let mut i = 0;
    while i < N {
        tokens[i] = Token::Type(types[i]);
        i += 1;
    }
    tokens
}

const NO_TF32: &[Token] = &these([Type::F16, Type::Bf16, Type::S8, Type::U8, Type::S4, Type::U4, Type::B1]);
const NO_NIBBLES: &[Token] = &these([Type::F16, Type::Bf16, Type::S8, Type::U8, Type::Tf32, Type::B1]);
const NO_BITS: &[Token] = &these([Type::F16, Type::Bf16, Type::S8, Type::U8, Type::Tf32, Type::S4, Type::U4]);
const SMALL: &[Token] = &these([Type::Tf32, Type::S4, Type::U4, Type::B1]);
const LARGE: &[Token] = &[Token::M16n16k16, Token::M8n32k16, Token::M32n8k16];
const LEAST: &[Token] = &[Token::M8n8k32, Token::M8n8k128];
/// Invalid combinations for a matrix load. Some shapes require certain element types. Elements
/// narrower than a byte require row-major A and column-major B.
const IN_A: &[[&[Token]; 2]] = &[
    [LARGE, SMALL],
    [&[Token::M16n16k8], NO_TF32],
    [&[Token::M8n8k32], NO_NIBBLES],
    [&[Token::M8n8k128], NO_BITS],
    [&[Token::Column], LEAST],
];
const IN_B: &[[&[Token]; 2]] = &[
    [LARGE, SMALL],
    [&[Token::M16n16k8], NO_TF32],
    [&[Token::M8n8k32], NO_NIBBLES],
    [&[Token::M8n8k128], NO_BITS],
    [&[Token::Row], LEAST],
];
const IN_SUMS: &[[&[Token]; 2]] =
    &[[&[Token::M16n16k8], &these([Type::F16, Type::S32])], [LEAST, &these([Type::F16, Type::F32])]];
/// Invalid combinations: A and B must have the same type.
pub(super) const ONE_TYPE: &[[&[Token]; 2]] = &[
    [&these([Type::S8]), &these([Type::U8])],
    [&these([Type::U8]), &these([Type::S8])],
    [&these([Type::S4]), &these([Type::U4])],
    [&these([Type::U4]), &these([Type::S4])],
];

/// Expands to the modifier slots of a matrix load or store.
macro_rules! moved {
    ($operation:ident $part:ident, $types:expr) => {
        &[$operation, of("matrix", words!($part)), SYNC, ALIGNED, of("layout", words!(Row Column)), shape(ALL_SHAPES), ANYWHERE, ty($types)]
    };
}

/// Expands to the modifier slots of a `wmma.mma`.
macro_rules! fragments {
    ($layouts:expr, $shapes:expr, $($of:expr),+) => {
        &[MMA, SYNC, ALIGNED, $layouts.0, $layouts.1, shape($shapes), $($of),+]
    };
}

const ANY_LAYOUT: (ModifierSlot, ModifierSlot) = (LAYOUT_A, LAYOUT_B);
const ONE_LAYOUT: (ModifierSlot, ModifierSlot) = (ROW, COLUMN);
const STRIDE: OperandRow = value("stride", U32);
const AT: OperandRow = OperandRow::used("a", OperandKind::Memory);

const LOADS_FRAGMENT: &str = "Loads a matrix; each thread of the warp receives a fragment. Consecutive rows (`.row`) \
    or columns (`.col`) are `stride` elements apart; the default is the length of a row or column. The assignment of \
    elements to threads is unspecified. The PTX manual requires address and stride to be multiples of 16 bytes; \
    halfbyte requires only that elements are aligned to their size. All threads of a warp must execute it together.";
const STORES_FRAGMENT: &str = "Stores a matrix from the fragments of the threads of a warp, the reverse of \
                               `wmma.load`. All threads of a warp must execute it together.";
const MULTIPLIES: &str = "Computes D = A * B + C of fragments that `wmma.load` has loaded. The result is bit-identical \
                          to that of two `mma`, each with half of the columns or rows; for tf32, four products are \
                          added at a time. All threads of a warp must execute it together.";

controls! {
    MMA_QUADS "mma" product!(quads F32, types!(F32 F16)), D_A_B_C, QUADS, OF_QUADS, "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};";
    MMA_QUADS_HALVES "mma" product!(quads F16, F16), D_A_B_C, QUADS, OF_QUADS, "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3};";
    MMA_F16 "mma" product!(OF_K8_K16, F32, F16, F16, F32), D_A_B_C, SM_75, FLOATS, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};";
    MMA_F16_HALVES "mma" product!(OF_K8_K16, F16, F16, F16, F16), D_A_B_C, SM_75, FLOATS, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};";
    MMA_BF16 "mma" product!(words!(M16n8k8 M16n8k16), F32, BF16, BF16, F32), D_A_B_C, SM_80, FLOATS, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};";
    MMA_TF32 "mma" product!(words!(M16n8k4 M16n8k8), F32, TF32, TF32, F32), D_A_B_C, SM_80, FLOATS, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};";
    MMA_FP8 "mma" product!(&[since(FP8_MORE, Token::M16n8k16), word(Token::M16n8k32)], F32, BYTES, BYTES, F32), D_A_B_C, FP8, FLOATS, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};";
    MMA_FP8_HALVES "mma" product!(words!(M16n8k16 M16n8k32), F16, BYTES, BYTES, F16), D_A_B_C, FP8_MORE, FLOATS, "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e4m3.f16 {%d0, %d1}, {%a0, %a1}, {%b0}, {%c0, %c1};";
    MMA_BYTES "mma" product!(limited &[word(Token::M8n8k16), since(SM_80, Token::M16n8k16), since(SM_80, Token::M16n8k32)], INTEGERS_8), D_A_B_C, SM_75, INTEGERS, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};";
    MMA_NIBBLES "mma" product!(limited &[word(Token::M8n8k32), since(SM_80, Token::M16n8k32), since(SM_80, Token::M16n8k64)], INTEGERS_4), D_A_B_C, SM_75, INTEGERS, "mma.sync.aligned.m8n8k32.row.col.s32.u4.s4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};";
    MMA_BITS "mma" BIT_SLOTS, D_A_B_C, BITS, OF_BITS, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%b0}, {%c0, %c1, %c2, %c3};";
    MOVMATRIX "movmatrix" &[SYNC, ALIGNED, SIZE, TRANSPOSED, HALVES], &[def("d", B32), reg("a", B32)], MOVES, TRANSPOSES, "movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;";
    WMMA_F16 "wmma" fragments!(ANY_LAYOUT, OF_FRAGMENTS, of(OF_D, F32), of(OF_C, types!(F32 F16))), D_A_B_C, Requirements::ALWAYS, MULTIPLIES, "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3};";
    WMMA_F16_HALVES "wmma" fragments!(ANY_LAYOUT, OF_FRAGMENTS, of(OF_D, F16), of(OF_C, F16)), D_A_B_C, Requirements::ALWAYS, MULTIPLIES, "wmma.mma.sync.aligned.row.row.m8n32k16.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, {%c0, %c1, %c2, %c3};";
    WMMA_BF16 "wmma" fragments!(ANY_LAYOUT, OF_FRAGMENTS, of(OF_D, F32), of(OF_A, BF16), of(OF_B, BF16), of(OF_C, F32)), D_A_B_C, SM_80, MULTIPLIES, "wmma.mma.sync.aligned.col.row.m32n8k16.f32.bf16.bf16.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};";
    WMMA_TF32 "wmma" fragments!(ANY_LAYOUT, words!(M16n16k8), of(OF_D, F32), of(OF_A, TF32), of(OF_B, TF32), of(OF_C, F32)), D_A_B_C, SM_80, MULTIPLIES, "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1, %a2, %a3}, {%b0, %b1, %b2, %b3}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};";
    WMMA_BYTES exclusions ONE_TYPE "wmma" fragments!(ANY_LAYOUT, OF_FRAGMENTS, of(OF_D, S32), of(OF_A, INTEGERS_8), of(OF_B, INTEGERS_8), of(OF_C, S32), LIMITED), D_A_B_C, Requirements::ALWAYS, MULTIPLIES, "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32.satfinite {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, {%a0, %a1}, {%b0, %b1}, {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};";
    WMMA_NIBBLES exclusions ONE_TYPE "wmma" fragments!(ONE_LAYOUT, words!(M8n8k32), of(OF_D, S32), of(OF_A, INTEGERS_4), of(OF_B, INTEGERS_4), of(OF_C, S32), LIMITED), D_A_B_C, Requirements::ALWAYS, MULTIPLIES, "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};";
    WMMA_BITS "wmma" &[MMA, BITWISE, COUNTED, SYNC, ALIGNED, ROW, COLUMN, shape(words!(M8n8k128)), of(OF_D, S32), of(OF_A, B1), of(OF_B, B1), of(OF_C, S32)], D_A_B_C, Requirements::ALWAYS, MULTIPLIES, "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%d0, %d1}, {%a0}, {%b0}, {%c0, %c1};";
}

accesses! {
    LDMATRIX "ldmatrix" &[SYNC, ALIGNED, SIZE, COUNT, MAYBE_TRANSPOSED, SHARED, HALVES], &[OperandRow::def("d", OperandKind::Matrices), OperandRow::used("a", OperandKind::MemoryIn(Space::Shared))], SM_75, LOADS, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%d0, %d1, %d2, %d3}, [%a];";
    STMATRIX "stmatrix" &[SYNC, ALIGNED, SIZE, COUNT, MAYBE_TRANSPOSED, SHARED, HALVES], &[OperandRow::used("a", OperandKind::MemoryIn(Space::Shared)), OperandRow::used("b", OperandKind::Matrices)], STORES, STORES_THEM, "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%a], {%b0, %b1};";
    WMMA_LOAD_A exclusions IN_A "wmma" moved!(LOAD MatrixA, ELEMENTS), &[OperandRow::def("d", OperandKind::Fragment(MatrixOperand::A)), AT, STRIDE], Requirements::ALWAYS, LOADS_FRAGMENT, "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7}, [%a], %stride;";
    WMMA_LOAD_A_DENSE exclusions IN_A "wmma" moved!(LOAD MatrixA, ELEMENTS), &[OperandRow::def("d", OperandKind::Fragment(MatrixOperand::A)), AT], Requirements::ALWAYS, LOADS_FRAGMENT, "wmma.load.a.sync.aligned.row.m8n8k32.s4 {%d0}, [%a];";
    WMMA_LOAD_B exclusions IN_B "wmma" moved!(LOAD MatrixB, ELEMENTS), &[OperandRow::def("d", OperandKind::Fragment(MatrixOperand::B)), AT, STRIDE], Requirements::ALWAYS, LOADS_FRAGMENT, "wmma.load.b.sync.aligned.col.m32n8k16.shared.s8 {%d0}, [%a], 16;";
    WMMA_LOAD_B_DENSE exclusions IN_B "wmma" moved!(LOAD MatrixB, ELEMENTS), &[OperandRow::def("d", OperandKind::Fragment(MatrixOperand::B)), AT], Requirements::ALWAYS, LOADS_FRAGMENT, "wmma.load.b.sync.aligned.row.m16n16k8.tf32 {%d0, %d1, %d2, %d3}, [%a];";
    WMMA_LOAD_C exclusions IN_SUMS "wmma" moved!(LOAD MatrixC, SUMS), &[OperandRow::def("d", OperandKind::Fragment(MatrixOperand::C)), AT, STRIDE], Requirements::ALWAYS, LOADS_FRAGMENT, "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%d0, %d1, %d2, %d3}, [%a], %stride;";
    WMMA_LOAD_C_DENSE exclusions IN_SUMS "wmma" moved!(LOAD MatrixC, SUMS), &[OperandRow::def("d", OperandKind::Fragment(MatrixOperand::C)), AT], Requirements::ALWAYS, LOADS_FRAGMENT, "wmma.load.c.sync.aligned.col.m8n8k128.s32 {%d0, %d1}, [%a];";
    WMMA_STORE exclusions IN_SUMS "wmma" moved!(STORE MatrixD, SUMS), &[AT, OperandRow::used("b", OperandKind::Fragment(MatrixOperand::D)), STRIDE], Requirements::ALWAYS, STORES_FRAGMENT, "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%a], {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, %stride;";
    WMMA_STORE_DENSE exclusions IN_SUMS "wmma" moved!(STORE MatrixD, SUMS), &[AT, OperandRow::used("b", OperandKind::Fragment(MatrixOperand::D))], Requirements::ALWAYS, STORES_FRAGMENT, "wmma.store.d.sync.aligned.col.m8n32k16.shared.f16 [%a], {%b0, %b1, %b2, %b3};";
}
