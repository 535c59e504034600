//! Rows of `wgmma`: asynchronous matrix products of a warpgroup.

use super::matrix::{
    ALIGNED, B1, BF16, BYTES, COUNTED, F16, F32, INTEGERS_8, LIMITED, OF_A, OF_B, OF_D, ONE_TYPE, S32, SYNC, TF32, of,
    shape,
};
use super::*;
use crate::ptx::matrix::MatrixOperand;
use crate::ptx::types::WarpgroupShape;

/// Target requirements of `wgmma`: only sm_90a supports it.
const HOPPER: Requirements =
    Requirements { suffix: Some(Suffix::Architecture), last_sm: Some(90), ..Requirements::new(8, 0, 90) };

/// Target requirements of products of signed with unsigned bytes.
const MIXED_BYTES: Requirements = Requirements { version: (8, 4), ..HOPPER };

/// Returns the modifiers of all 32 shapes of a `wgmma` product whose elements have `bits` bits.
const fn all(bits: u32) -> [Choice; 32] {
    let mut choices = [word(Token::Sync); 32];
    let mut i = 0;
    while i < choices.len() {
        choices[i] = word(Token::Warpgroup(WarpgroupShape::new(8 * (i as u16 + 1), bits)));
        i += 1;
    }
    choices
}

/// Returns the modifiers of the `wgmma` shapes for integers or single bits. The number of columns
/// is 8, 24 or a multiple of 16. `bits` is the size of an element.
const fn some(bits: u32) -> [Choice; 18] {
    let mut choices = [word(Token::Sync); 18];
    let columns = [8, 16, 24, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256];
    let mut i = 0;
    while i < choices.len() {
        choices[i] = word(Token::Warpgroup(WarpgroupShape::new(columns[i], bits)));
        i += 1;
    }
    choices
}

const OF_16_BITS: &[Choice] = &all(16);
const OF_32_BITS: &[Choice] = &all(32);
const OF_8_BITS: &[Choice] = &all(8);
const OF_INTEGERS: &[Choice] = &some(8);
const OF_BITS: &[Choice] = &some(1);
const F16_OR_F32: &[Choice] = types!(F16 F32);
const ASYNC: ModifierSlot = of("operation", words!(MmaAsync));
const BITWISE: ModifierSlot = of("product", words!(And));

/// Expands to the modifier slots of a `wgmma`: shape and element types.
macro_rules! product {
    ($shapes:expr, $d:expr, $ab:expr $(, $more:expr)*) => {
        &[ASYNC, SYNC, ALIGNED, shape($shapes), of(OF_D, $d), of(OF_A, $ab), of(OF_B, $ab) $(, $more)*]
    };
}

const TWO_TYPES: &[[&[Token]; 2]] = &[[&[Token::Type(Type::S8)]; 2], [&[Token::Type(Type::U8)]; 2]];

const D: OperandRow = OperandRow::updated("d", OperandKind::Fragment(MatrixOperand::D));
const FRAGMENT_A: OperandRow = OperandRow::used("a", OperandKind::Fragment(MatrixOperand::A));
const SHARED_A: OperandRow = value("a", Ty::Is(Type::U64));
const SHARED_B: OperandRow = value("b", Ty::Is(Type::U64));
const SCALE_D: OperandRow = OperandRow::used("scale_d", OperandKind::Condition);
const SIGN_A: OperandRow = OperandRow::used("scale_a", OperandKind::Sign);
const SIGN_B: OperandRow = OperandRow::used("scale_b", OperandKind::Sign);
const TRANSPOSED_A: OperandRow = OperandRow::used("trans_a", OperandKind::Flag);
const TRANSPOSED_B: OperandRow = OperandRow::used("trans_b", OperandKind::Flag);

const PLAIN: &[OperandRow] = &[D, SHARED_A, SHARED_B, SCALE_D];
const PLAIN_OF_FRAGMENT: &[OperandRow] = &[D, FRAGMENT_A, SHARED_B, SCALE_D];
const SIGNED: &[OperandRow] = &[D, SHARED_A, SHARED_B, SCALE_D, SIGN_A, SIGN_B];
const SIGNED_OF_FRAGMENT: &[OperandRow] = &[D, FRAGMENT_A, SHARED_B, SCALE_D, SIGN_A, SIGN_B];
const ANY_MAJOR: &[OperandRow] = &[D, SHARED_A, SHARED_B, SCALE_D, SIGN_A, SIGN_B, TRANSPOSED_A, TRANSPOSED_B];
const ANY_MAJOR_OF_FRAGMENT: &[OperandRow] = &[D, FRAGMENT_A, SHARED_B, SCALE_D, SIGN_A, SIGN_B, TRANSPOSED_B];

const MULTIPLIES: &str = "Computes D = A * B + D, or A * B if `scale_d` is false, for 64 rows. Each of the four warps \
    of a warpgroup computes sixteen rows. B is in shared memory, A in shared memory or registers; the operand of a \
    matrix in shared memory is a matrix descriptor. A `scale_a` or `scale_b` of -1 negates the matrix. If `trans_a` is \
    1, the columns of A are contiguous in memory; if `trans_b` is 1, the rows of B are; otherwise the inner dimension \
    is contiguous. Products are added like those of `mma`, all products of an instruction at once. For 8-bit floats, \
    13 bits of each term and of an f32 sum are kept. Hardware computes the product asynchronously: until the thread \
    has waited for its group, the registers and memory of the product must not be changed. halfbyte computes it at the \
    instruction, each warp its own rows. All threads of the warpgroup must execute it together.";
const MULTIPLIES_INTEGERS: &str =
    "Computes D = A * B + D of integers, exactly and modulo 2^32, or with `.satfinite` clamped to 32 bits.";
const MULTIPLIES_BITS: &str = "Computes D = A * B + D of single bits: adds to each element of D the number of bits \
                               that are set in both a row of A and a column of B.";
const FENCES: &str = "Orders earlier register and memory accesses of the thread before the products that follow. It \
     has no effect in halfbyte.";
const COMMITS: &str = "Commits the products that the warpgroup has started since the last commit to a group. It has no \
     effect in halfbyte.";
const AWAITS: &str = "Waits until at most the `n` most recent groups are pending. It has no effect in halfbyte, which \
     computes a product at once.";

controls! {
    WGMMA_F16 "wgmma" product!(OF_16_BITS, F16_OR_F32, F16), ANY_MAJOR, HOPPER, MULTIPLIES, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, -1, 0, 1;";
    WGMMA_F16_FRAGMENT "wgmma" product!(OF_16_BITS, F16_OR_F32, F16), ANY_MAJOR_OF_FRAGMENT, HOPPER, MULTIPLIES, "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%d0, %d1}, {%a0, %a1, %a2, %a3}, %b, %p, 1, 1, 0;";
    WGMMA_BF16 "wgmma" product!(OF_16_BITS, F32, BF16), ANY_MAJOR, HOPPER, MULTIPLIES, "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, 1, 0, 0;";
    WGMMA_BF16_FRAGMENT "wgmma" product!(OF_16_BITS, F32, BF16), ANY_MAJOR_OF_FRAGMENT, HOPPER, MULTIPLIES, "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, %p, 1, 1, 1;";
    WGMMA_TF32 "wgmma" product!(OF_32_BITS, F32, TF32), SIGNED, HOPPER, MULTIPLIES, "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, 1;";
    WGMMA_TF32_FRAGMENT "wgmma" product!(OF_32_BITS, F32, TF32), SIGNED_OF_FRAGMENT, HOPPER, MULTIPLIES, "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, !%p, -1, 1;";
    WGMMA_FP8 "wgmma" product!(OF_8_BITS, F16_OR_F32, BYTES), SIGNED, HOPPER, MULTIPLIES, "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%d0, %d1, %d2, %d3}, %a, %b, %p, 1, 1;";
    WGMMA_FP8_FRAGMENT "wgmma" product!(OF_8_BITS, F16_OR_F32, BYTES), SIGNED_OF_FRAGMENT, HOPPER, MULTIPLIES, "wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 {%d0, %d1}, {%a0, %a1, %a2, %a3}, %b, %p, 1, 1;";
    WGMMA_BYTES exclusions ONE_TYPE "wgmma" product!(OF_INTEGERS, S32, INTEGERS_8, LIMITED), PLAIN, HOPPER, MULTIPLIES_INTEGERS, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8.satfinite {%d0, %d1, %d2, %d3}, %a, %b, %p;";
    WGMMA_BYTES_FRAGMENT exclusions ONE_TYPE "wgmma" product!(OF_INTEGERS, S32, INTEGERS_8, LIMITED), PLAIN_OF_FRAGMENT, HOPPER, MULTIPLIES_INTEGERS, "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.u8 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, %p;";
    WGMMA_MIXED exclusions TWO_TYPES "wgmma" product!(OF_INTEGERS, S32, INTEGERS_8, LIMITED), PLAIN, MIXED_BYTES, MULTIPLIES_INTEGERS, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%d0, %d1, %d2, %d3}, %a, %b, %p;";
    WGMMA_MIXED_FRAGMENT exclusions TWO_TYPES "wgmma" product!(OF_INTEGERS, S32, INTEGERS_8, LIMITED), PLAIN_OF_FRAGMENT, MIXED_BYTES, MULTIPLIES_INTEGERS, "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8.satfinite {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, %p;";
    WGMMA_BITS "wgmma" product!(OF_BITS, S32, B1, BITWISE, COUNTED), PLAIN, HOPPER, MULTIPLIES_BITS, "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%d0, %d1, %d2, %d3}, %a, %b, %p;";
    WGMMA_BITS_FRAGMENT "wgmma" product!(OF_BITS, S32, B1, BITWISE, COUNTED), PLAIN_OF_FRAGMENT, HOPPER, MULTIPLIES_BITS, "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %b, %p;";
    WGMMA_FENCE "wgmma" &[of("operation", words!(WarpgroupFence)), SYNC, ALIGNED], &[], HOPPER, FENCES, "wgmma.fence.sync.aligned;";
    WGMMA_COMMIT "wgmma" &[of("operation", words!(CommitGroup)), SYNC, ALIGNED], &[], HOPPER, COMMITS, "wgmma.commit_group.sync.aligned;";
    WGMMA_WAIT "wgmma" &[of("operation", words!(WaitGroup)), SYNC, ALIGNED], &[OperandRow::used("n", OperandKind::Count)], HOPPER, AWAITS, "wgmma.wait_group.sync.aligned 1;";
}
