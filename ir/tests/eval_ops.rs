//! Tests of every pure op on hand-computed values, and of the byte ops on all pairs of bytes.

use halfbyte_ir::eval::{Operand, fold, pack, unpack};
use halfbyte_ir::{Attr, AttrKind, Clamp, Effect, FloatCC, FloatFlags, IntCC, LaneMap, Op, Rounding, Type};

/// A type and the bits of a value; lane 0 has the lowest bits.
type Bits = (Type, u128);

fn lanes((ty, bits): Bits) -> Vec<u64> {
    let mut lanes = vec![0; ty.lanes()];
    let words = [bits as u64, (bits >> 64) as u64, 0, 0, 0, 0, 0, 0];
    unpack(ty, &words, &mut lanes);
    lanes
}

fn compute(op: Op, attr: Attr, args: &[Bits], result: Type) -> Option<u128> {
    let values: Vec<_> = args.iter().map(|&arg| lanes(arg)).collect();
    let operands: Vec<_> = (args.iter().zip(&values)).map(|(&(ty, _), lanes)| Operand { ty, lanes }).collect();
    let mut out = vec![0; result.lanes()];
    fold(op, attr, &operands, result, &mut out).then(|| {
        let words = pack(result, &out);
        u128::from(words[0]) | u128::from(words[1]) << 64
    })
}

const I1: Type = Type::I1;
const I8: Type = Type::I8;
const I16: Type = Type::I16;
const I32: Type = Type::I32;
const I64: Type = Type::I64;
const F16: Type = Type::F16;
const BF16: Type = Type::BF16;
const F32: Type = Type::F32;
const PTR: Type = Type::PTR;
const B4: Type = Type::I8X4;
const H2: Type = Type::I16X2;
const F2: Type = Type::F16X2;
const BF2: Type = Type::BF16X2;
const B16: Type = Type::I8X16;
const M2: Type = Type::I1X2;
const M4: Type = Type::I1X4;

const PLAIN: FloatFlags =
    FloatFlags { rounding: Rounding::Rn, ftz: false, clamp: Clamp::None, contract: false, nan: false };
const FTZ: Attr = Attr::Float(FloatFlags { ftz: true, ..PLAIN });
const SAT: Attr = Attr::Float(FloatFlags { clamp: Clamp::Sat, ..PLAIN });
const RELU: Attr = Attr::Float(FloatFlags { clamp: Clamp::Relu, ..PLAIN });
const NAN: Attr = Attr::Float(FloatFlags { nan: true, ..PLAIN });
const RN: Attr = Attr::Float(PLAIN);
const RZ: Attr = rounded(Rounding::Rz);
const RP: Attr = rounded(Rounding::Rp);
const RM: Attr = rounded(Rounding::Rm);
const __: Attr = Attr::None;

const fn rounded(rounding: Rounding) -> Attr {
    Attr::Float(FloatFlags { rounding, ..PLAIN })
}

const fn cc(cc: FloatCC) -> Attr {
    Attr::FloatCC { cc, ftz: false }
}

/// Test case: op, attribute, operands and result.
type Row<'a> = (Op, Attr, &'a [Bits], Bits);

#[rustfmt::skip]
const INTEGERS: &[Row] = &[
    (Op::Add, __, &[(B4, 0xff7f_8001), (B4, 0x0101_80ff)], (B4, 0x0080_0000)),
    (Op::Add, __, &[(I64, u64::MAX as u128), (I64, 2)], (I64, 1)),
    (Op::Sub, __, &[(H2, 0x0000_8000), (H2, 0x0001_0001)], (H2, 0xffff_7fff)),
    (Op::Mul, __, &[(I32, 0xffff_ffff), (I32, 0xffff_ffff)], (I32, 1)),
    (Op::Mul, __, &[(I64, 0xffff_ffff_ffff_ffff), (I64, 0x8000_0000_0000_0003)], (I64, 0x7fff_ffff_ffff_fffd)),
    (Op::MulHiS, __, &[(I32, 0x8000_0000), (I32, 0x8000_0000)], (I32, 0x4000_0000)),
    (Op::MulHiS, __, &[(I64, 0x8000_0000_0000_0000), (I64, 1)], (I64, 0xffff_ffff_ffff_ffff)),
    (Op::MulHiU, __, &[(I64, 0xffff_ffff_ffff_ffff), (I64, 0xffff_ffff_ffff_ffff)], (I64, 0xffff_ffff_ffff_fffe)),
    (Op::MulHiU, __, &[(B4, 0xff80_0210), (B4, 0xff02_8010)], (B4, 0xfe01_0101)),
    (Op::MulWideS, __, &[(I32, 0x8000_0000), (I32, 0xffff_ffff)], (I64, 0x8000_0000)),
    (Op::MulWideS, __, &[(I8, 0x80), (I8, 0x7f)], (I16, 0xc080)),
    (Op::MulWideU, __, &[(I32, 0xffff_ffff), (I32, 0xffff_ffff)], (I64, 0xffff_fffe_0000_0001)),
    (Op::DivS, __, &[(I32, 0xffff_fff9), (I32, 2)], (I32, 0xffff_fffd)),
    (Op::DivS, __, &[(I8, 0x80), (I8, 0xff)], (I8, 0x80)),
    (Op::DivS, __, &[(I64, 0x8000_0000_0000_0000), (I64, 0xffff_ffff_ffff_ffff)], (I64, 0x8000_0000_0000_0000)),
    (Op::DivS, __, &[(I16, 5), (I16, 0)], (I16, 0xffff)),
    (Op::DivU, __, &[(I32, 0xffff_fff9), (I32, 2)], (I32, 0x7fff_fffc)),
    (Op::DivU, __, &[(I64, 0xffff_ffff_ffff_ffff), (I64, 10)], (I64, 0x1999_9999_9999_9999)),
    (Op::DivU, __, &[(I32, 0), (I32, 0)], (I32, 0xffff_ffff)),
    (Op::RemS, __, &[(I32, 0xffff_fff9), (I32, 2)], (I32, 0xffff_ffff)),
    (Op::RemS, __, &[(I32, 7), (I32, 0xffff_fffe)], (I32, 1)),
    (Op::RemS, __, &[(I32, 0x8000_0000), (I32, 0xffff_ffff)], (I32, 0)),
    (Op::RemS, __, &[(I8, 5), (I8, 0)], (I8, 0xff)),
    (Op::RemU, __, &[(I64, 0xffff_ffff_ffff_ffff), (I64, 10)], (I64, 5)),
    (Op::RemU, __, &[(I16, 9), (I16, 0)], (I16, 0xffff)),
    (Op::AddSatS, __, &[(B4, 0x7f80_80ff), (B4, 0x01ff_7f01)], (B4, 0x7f80_ff00)),
    (Op::AddSatS, __, &[(I32, 0x7fff_ffff), (I32, 0x7fff_ffff)], (I32, 0x7fff_ffff)),
    (Op::AddSatU, __, &[(B4, 0xff80_fe00), (B4, 0x0180_0100)], (B4, 0xffff_ff00)),
    (Op::SubSatS, __, &[(H2, 0x8000_7fff), (H2, 0x0001_ffff)], (H2, 0x8000_7fff)),
    (Op::SubSatU, __, &[(H2, 0x0001_ffff), (H2, 0x0002_0001)], (H2, 0x0000_fffe)),
    // With the sum s, the result is (s + 1) >> 1 if s >= 0, else s >> 1: -3 gives -2, and 3 gives 2.
    (Op::AvgS, __, &[(B4, 0xff02_807f), (B4, 0xfe01_807f)], (B4, 0xfe02_807f)),
    (Op::AvgU, __, &[(B4, 0xff02_fe00), (B4, 0xff01_ff01)], (B4, 0xff02_ff01)),
    (Op::AbsDiffS, __, &[(B4, 0x807f_0500), (B4, 0x7f80_0705)], (B4, 0xffff_0205)),
    (Op::AbsDiffU, __, &[(B4, 0x00ff_0507), (B4, 0xff00_0705)], (B4, 0xffff_0202)),
    (Op::MinS, __, &[(B4, 0x80ff_0001), (B4, 0x7f00_ff02)], (B4, 0x80ff_ff01)),
    (Op::MinU, __, &[(B4, 0x80ff_0001), (B4, 0x7f00_ff02)], (B4, 0x7f00_0001)),
    (Op::MaxS, __, &[(B4, 0x80ff_0001), (B4, 0x7f00_ff02)], (B4, 0x7f00_0002)),
    (Op::MaxU, __, &[(B4, 0x80ff_0001), (B4, 0x7f00_ff02)], (B4, 0x80ff_ff02)),
    (Op::Neg, __, &[(B4, 0x8001_00ff)], (B4, 0x80ff_0001)),
    (Op::Abs, __, &[(B4, 0x8001_00ff)], (B4, 0x8001_0001)),
    (Op::Abs, __, &[(I64, 0x8000_0000_0000_0000)], (I64, 0x8000_0000_0000_0000)),
    (Op::Shl, __, &[(I32, 0x8000_0001), (I32, 33)], (I32, 2)),
    (Op::Shl, __, &[(I64, 0x8000_0000_0000_0001), (I64, 63)], (I64, 0x8000_0000_0000_0000)),
    (Op::ShrS, __, &[(B4, 0x8080_7f40), (B4, 0x0709_08ff)], (B4, 0xffc0_7f00)),
    (Op::ShrU, __, &[(B4, 0x8080_7f40), (B4, 0x0709_08ff)], (B4, 0x0140_7f00)),
    (Op::RoundShrS, __, &[(B4, 0x7ffd_fb80), (B4, 0x0101_0207)], (B4, 0x40ff_ffff)),
    (Op::RoundShrU, __, &[(B4, 0xff80_0508), (B4, 0x0107_0208)], (B4, 0x8001_0108)),
    (Op::RoundShrU, __, &[(I64, 0xffff_ffff_ffff_ffff), (I64, 63)], (I64, 2)),
    (Op::Rotl, __, &[(B4, 0x8001_f00f), (B4, 0x0907_0403)], (B4, 0x0180_0f78)),
    (Op::Rotl, __, &[(I64, 0x8000_0000_0000_0001), (I64, 4)], (I64, 0x18)),
    (Op::Rotr, __, &[(I32, 0x0000_0013), (I32, 36)], (I32, 0x3000_0001)),
    (Op::Popcount, __, &[(B4, 0xff80_0703)], (B4, 0x0801_0302)),
    (Op::Popcount, __, &[(I64, 0xffff_ffff_ffff_ffff)], (I64, 64)),
    (Op::Clz, __, &[(B4, 0x8001_0040)], (B4, 0x0007_0801)),
    (Op::Clz, __, &[(I64, 0)], (I64, 64)),
    (Op::Ctz, __, &[(B4, 0x8001_0040)], (B4, 0x0700_0806)),
    (Op::Ctz, __, &[(I32, 0)], (I32, 32)),
    (Op::BitReverse, __, &[(B4, 0x8001_f035)], (B4, 0x0180_0fac)),
    (Op::BitReverse, __, &[(I64, 3)], (I64, 0xc000_0000_0000_0000)),
    (Op::Dot4S, __, &[(B4, 0x80ff_0102), (B4, 0x8002_0304), (I32, 10)], (I32, 16384 - 2 + 3 + 8 + 10)),
    (Op::Dot4U, __, &[(B4, 0xffff_0102), (B4, 0xff02_0304), (I32, 10)], (I32, 65025 + 510 + 3 + 8 + 10)),
    (Op::Dot4SU, __, &[(B4, 0x80ff_0102), (B4, 0x8002_0304), (I32, 0)], (I32, 0xffff_c000 - 2 + 3 + 8)),
    (Op::Dot2S, __, &[(H2, 0x8000_ffff), (H2, 0x8000_0003), (I32, 7)], (I32, 0x4000_0000 - 3 + 7)),
    (Op::Dot2U, __, &[(H2, 0xffff_0002), (H2, 0xffff_0003), (I32, 7)], (I32, 0xfffe_0001 + 6 + 7)),
    (Op::Dot2SU, __, &[(H2, 0xffff_0002), (H2, 0xffff_0003), (I32, 7)], (I32, 0xffff_0001 + 6 + 7)),
    (Op::And, __, &[(I32, 0xff00_ff00), (I32, 0x0ff0_0ff0)], (I32, 0x0f00_0f00)),
    (Op::Or, __, &[(M4, 0b1010), (M4, 0b0110)], (M4, 0b1110)),
    (Op::Xor, __, &[(M4, 0b1010), (M4, 0b0110)], (M4, 0b1100)),
    (Op::Not, __, &[(M4, 0b1010)], (M4, 0b0101)),
    (Op::Not, __, &[(H2, 0x0000_ff0f)], (H2, 0xffff_00f0)),
    (Op::Icmp, Attr::IntCC(IntCC::LtS), &[(B4, 0x80ff_0102), (B4, 0x7f00_0102)], (M4, 0b1100)),
    (Op::Icmp, Attr::IntCC(IntCC::LeS), &[(B4, 0x80ff_0102), (B4, 0x7f00_0101)], (M4, 0b1110)),
    (Op::Icmp, Attr::IntCC(IntCC::GtS), &[(B4, 0x80ff_0102), (B4, 0x7ffe_0101)], (M4, 0b0101)),
    (Op::Icmp, Attr::IntCC(IntCC::GeS), &[(B4, 0x80ff_0102), (B4, 0x7ffe_0101)], (M4, 0b0111)),
    (Op::Icmp, Attr::IntCC(IntCC::LtU), &[(B4, 0x80ff_0102), (B4, 0xff00_0102)], (M4, 0b1000)),
    (Op::Icmp, Attr::IntCC(IntCC::LeU), &[(B4, 0x80ff_0102), (B4, 0xff00_0102)], (M4, 0b1011)),
    (Op::Icmp, Attr::IntCC(IntCC::GtU), &[(B4, 0x80ff_0102), (B4, 0xff00_0102)], (M4, 0b0100)),
    (Op::Icmp, Attr::IntCC(IntCC::GeU), &[(B4, 0x80ff_0102), (B4, 0xff00_0102)], (M4, 0b0111)),
    (Op::Icmp, Attr::IntCC(IntCC::Eq), &[(I64, 1 << 63), (I64, 1 << 63)], (I1, 1)),
    (Op::Icmp, Attr::IntCC(IntCC::Ne), &[(I64, 1 << 63), (I64, 1 << 63)], (I1, 0)),
    (Op::Select, __, &[(M4, 0b0110), (B4, 0x4433_2211), (B4, 0x8877_6655)], (B4, 0x8833_2255)),
    (Op::Select, __, &[(I1, 1), (B4, 0x4433_2211), (B4, 0x8877_6655)], (B4, 0x4433_2211)),
    (Op::Select, __, &[(I1, 0), (PTR, 1), (PTR, 2)], (PTR, 2)),
    (Op::SadS, __, &[(B4, 0x807f_00ff), (B4, 0x7f80_0001), (I32, 0xffff_ffff)], (I32, 0xff + 0xff + 2 - 1)),
    (Op::SadU, __, &[(B4, 0x807f_00ff), (B4, 0x7f80_0001), (I32, 10)], (I32, 1 + 1 + 0xfe + 10)),
    (Op::ReduceAddS, __, &[(B4, 0x8080_ff01)], (I32, 0xffff_ff00)),
    (Op::ReduceAddU, __, &[(B4, 0x8080_ff01)], (I32, 0x200)),
    (Op::ReduceMinS, __, &[(B4, 0x8070_ff01)], (I8, 0x80)),
    (Op::ReduceMinU, __, &[(B4, 0x8070_ff01)], (I8, 0x01)),
    (Op::ReduceMaxS, __, &[(B4, 0x8070_ff01)], (I8, 0x70)),
    (Op::ReduceMaxU, __, &[(B4, 0x8070_ff01)], (I8, 0xff)),
    (Op::Any, __, &[(M4, 0b0100)], (I1, 1)),
    (Op::Any, __, &[(M4, 0)], (I1, 0)),
    (Op::All, __, &[(M2, 0b11)], (I1, 1)),
    (Op::All, __, &[(M2, 0b10)], (I1, 0)),
    (Op::Sext, __, &[(I8, 0x80)], (I32, 0xffff_ff80)),
    (Op::Zext, __, &[(I8, 0x80)], (I64, 0x80)),
    (Op::Trunc, __, &[(I64, 0x1234_5678_9abc_def0)], (I16, 0xdef0)),
    (Op::NarrowSatS, __, &[(I16, 0xff7f)], (I8, 0x80)),
    (Op::NarrowSatS, __, &[(I32, 0x8000)], (I16, 0x7fff)),
    (Op::NarrowSatU, __, &[(I16, 0xffff)], (I8, 0)),
    (Op::NarrowSatU, __, &[(I16, 0x0100)], (I8, 0xff)),
    (Op::NarrowSatUU, __, &[(I16, 0xffff)], (I8, 0xff)),
    (Op::NarrowSatUU, __, &[(I64, 0xffff_fffe)], (I32, 0xffff_fffe)),
    (Op::MaskExpand, __, &[(M4, 0b1001)], (B4, 0xff00_00ff)),
    (Op::MaskExpand, __, &[(I1, 1)], (I64, u64::MAX as u128)),
    (Op::PtrAdd, __, &[(PTR, 0xffff_ffff_ffff_fff0), (I64, 0x18)], (PTR, 8)),
];

#[rustfmt::skip]
const LANES: &[Row] = &[
    (Op::Splat, __, &[(F16, 0x3c00)], (F2, 0x3c00_3c00)),
    (Op::Swizzle, __, &[(B16, 0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100), (B16, 0xff10_0f01_0000_0000_0000_0000_0000_000e)],
        (B16, 0x0f00_0f01_0000_0000_0000_0000_0000_000e)),
    (Op::Extract, Attr::Lane(1), &[(F2, 0x4000_3c00)], (F16, 0x4000)),
    (Op::Extract, Attr::Lane(2), &[(M4, 0b0100)], (I1, 1)),
    (Op::Insert, Attr::Lane(1), &[(B4, 0x4433_2211), (I8, 0xaa)], (B4, 0x4433_aa11)),
    (Op::Concat, __, &[(I8, 0x11), (I8, 0x22)], (I16, 0x2211)),
    (Op::Concat, __, &[(B4, 1), (B4, 2), (B4, 3), (B4, 4)], (B16, 0x0000_0004_0000_0003_0000_0002_0000_0001)),
    (Op::Concat, __, &[(F16, 0x3c00), (F16, 0x4000)], (F32, 0x4000_3c00)),
    (Op::Split, Attr::Lane(2), &[(B16, 0x0000_0004_0000_0003_0000_0002_0000_0001)], (B4, 3)),
    (Op::Split, Attr::Lane(1), &[(I64, 0x1122_3344_5566_7788)], (F2, 0x1122_3344)),
    (Op::Bitcast, __, &[(F2, 0x4000_3c00)], (B4, 0x4000_3c00)),
    (Op::Bitcast, __, &[(PTR, 1 << 63)], (I64, 1 << 63)),
];

#[rustfmt::skip]
const FLOATS: &[Row] = &[
    (Op::Fadd, RN, &[(F2, 0x3c00_3c00), (F2, 0x3c00_bc00)], (F2, 0x4000_0000)),
    // 1 - 1 is -0 only when rounding toward minus infinity. Zeros of the same sign keep the sign.
    (Op::Fadd, RM, &[(F2, 0x3c00_0000), (F2, 0xbc00_8000)], (F2, 0x8000_8000)),
    (Op::Fadd, RP, &[(F2, 0x3c00_8000), (F2, 0xbc00_8000)], (F2, 0x0000_8000)),
    (Op::Fadd, RM, &[(F2, 0x0000_8000), (F2, 0x0000_8000)], (F2, 0x0000_8000)),
    // 1 + 2^-11 and 1 + 2^-10 + 2^-11 are ties, which round to even.
    (Op::Fadd, RN, &[(F2, 0x3c00_3c01), (F2, 0x1000_1000)], (F2, 0x3c00_3c02)),
    (Op::Fadd, RP, &[(F2, 0x3c00_bc00), (F2, 0x1000_9000)], (F2, 0x3c01_bc00)),
    (Op::Fadd, RM, &[(F2, 0x3c00_bc00), (F2, 0x1000_9000)], (F2, 0x3c00_bc01)),
    (Op::Fadd, RZ, &[(F2, 0x3c00_bc00), (F2, 0x1000_9000)], (F2, 0x3c00_bc00)),
    // Overflow gives infinity, or the largest number if the mode rounds toward zero for this sign.
    (Op::Fadd, RN, &[(F2, 0x7bff_fbff), (F2, 0x7bff_fbff)], (F2, 0x7c00_fc00)),
    (Op::Fadd, RZ, &[(F2, 0x7bff_fbff), (F2, 0x7bff_fbff)], (F2, 0x7bff_fbff)),
    (Op::Fadd, RP, &[(F2, 0x7bff_fbff), (F2, 0x7bff_fbff)], (F2, 0x7c00_fbff)),
    (Op::Fadd, RM, &[(F2, 0x7bff_fbff), (F2, 0x7bff_fbff)], (F2, 0x7bff_fc00)),
    // Every NaN operand gives the canonical NaN, and so does the sum of infinities of opposite sign.
    (Op::Fadd, RN, &[(F2, 0xfe01_7c00), (F2, 0x3c00_fc00)], (F2, 0x7fff_7fff)),
    (Op::Fadd, RN, &[(BF2, 0xffc1_7f80), (BF2, 0x3f80_ff80)], (BF2, 0x7fff_7fff)),
    (Op::Fadd, RN, &[(F32, 0x7f80_0001), (F32, 0)], (F32, 0x7fff_ffff)),
    // Subnormal operands and results are unchanged without `ftz`, and flushed to zeros of the same sign with `ftz`.
    (Op::Fadd, RN, &[(F2, 0x0001_8001), (F2, 0x0001_8001)], (F2, 0x0002_8002)),
    (Op::Fadd, RN, &[(BF2, 0x0001_8001), (BF2, 0x0001_8001)], (BF2, 0x0002_8002)),
    (Op::Fadd, FTZ, &[(F2, 0x03ff_83ff), (F2, 0x03ff_83ff)], (F2, 0x0000_8000)),
    (Op::Fadd, FTZ, &[(F2, 0x0401_8401), (F2, 0x8400_0400)], (F2, 0x0000_8000)),
    (Op::Fadd, SAT, &[(F2, 0x3c00_bc00), (F2, 0x3c00_3800)], (F2, 0x3c00_0000)),
    (Op::Fadd, SAT, &[(F2, 0x7e00_8000), (F2, 0x3c00_8000)], (F2, 0x0000_0000)),
    (Op::Fadd, SAT, &[(F2, 0x7c00_3400), (F2, 0x3c00_3400)], (F2, 0x3c00_3800)),
    (Op::Fadd, RELU, &[(F2, 0xbc00_8000), (F2, 0x3800_8000)], (F2, 0x0000_8000)),
    (Op::Fadd, RELU, &[(F2, 0xfe00_fc00), (F2, 0x3c00_3c00)], (F2, 0x7fff_0000)),
    // Clamping comes before flushing: `relu` turns a negative subnormal into +0, where `ftz` alone would give -0.
    (Op::Fadd, Attr::Float(FloatFlags { ftz: true, clamp: Clamp::Relu, ..PLAIN }), &[(F2, 0x8401_8401), (F2, 0x0400_0400)], (F2, 0)),
    (Op::Fsub, RN, &[(F2, 0x3c00_0000), (F2, 0x3c00_0000)], (F2, 0x0000_0000)),
    (Op::Fsub, RM, &[(F2, 0x3c00_8000), (F2, 0x3c00_0000)], (F2, 0x8000_8000)),
    (Op::Fsub, RN, &[(F32, 0x7f80_0000), (F32, 0x7f80_0000)], (F32, 0x7fff_ffff)),
    // The sign of a zero product is the XOR of the signs, also when rounding toward minus infinity.
    (Op::Fmul, RM, &[(F2, 0x0000_8000), (F2, 0x3c00_3c00)], (F2, 0x0000_8000)),
    (Op::Fmul, RN, &[(F2, 0x0000_8000), (F2, 0x7c00_bc00)], (F2, 0x7fff_0000)),
    (Op::Fmul, RP, &[(F2, 0x0001_8001), (F2, 0x0001_0001)], (F2, 0x0001_8000)),
    (Op::Fmul, RM, &[(F2, 0x0001_8001), (F2, 0x0001_0001)], (F2, 0x0000_8001)),
    // The product rounds up to the smallest normal number. Flushing tests the rounded result, so it
    // does not flush this number.
    (Op::Fmul, FTZ, &[(F2, 0x3bff_bbff), (F2, 0x0400_0400)], (F2, 0x0400_8400)),
    (Op::Fmul, RN, &[(F2, 0x3bfe_bbfe), (F2, 0x0400_0400)], (F2, 0x03ff_83ff)),
    (Op::Fmul, FTZ, &[(F2, 0x3bfe_bbfe), (F2, 0x0400_0400)], (F2, 0x0000_8000)),
    (Op::Ffma, RN, &[(F2, 0x4000_3c00), (F2, 0x4000_3c00), (F2, 0x3c00_bc00)], (F2, 0x4500_0000)),
    (Op::Ffma, RM, &[(F2, 0x4000_3c00), (F2, 0x4000_3c00), (F2, 0xc400_bc00)], (F2, 0x8000_8000)),
    // The sum is exact before the single rounding: (1 + 2^-10)^2 - (1 + 2^-9) = 2^-20.
    (Op::Ffma, RN, &[(F16, 0x3c01), (F16, 0x3c01), (F16, 0xbc02)], (F16, 0x0010)),
    // The product overflows, but the sum does not.
    (Op::Ffma, RN, &[(F16, 0x7bff), (F16, 0x4000), (F16, 0xfbff)], (F16, 0x7bff)),
    (Op::Ffma, RN, &[(BF16, 0x7f7f), (BF16, 0x4000), (BF16, 0xff80)], (BF16, 0xff80)),
    (Op::Ffma, RN, &[(F16, 0x0000), (F16, 0x7c00), (F16, 0x3c00)], (F16, 0x7fff)),
    // A result that underflows to zero keeps the sign of the exact sum.
    (Op::Ffma, RN, &[(F2, 0x0001_8001), (F2, 0x0001_0001), (F2, 0x0000_8000)], (F2, 0x0000_8000)),
    (Op::Ffma, RN, &[(F2, 0x0001_8001), (F2, 0x0001_0001), (F2, 0x8000_0000)], (F2, 0x0000_8000)),
    (Op::Ffma, RELU, &[(F2, 0xbc00_8000), (F2, 0x3c00_3c00), (F2, 0x0000_8000)], (F2, 0x0000_8000)),
    (Op::Fneg, __, &[(F2, 0x7e01_8000)], (F2, 0xfe01_0000)),
    (Op::Fneg, __, &[(F32, 0x7fc0_0001)], (F32, 0xffc0_0001)),
    (Op::Fabs, __, &[(BF2, 0xffff_8000)], (BF2, 0x7fff_0000)),
    (Op::Fmin, RN, &[(F2, 0x0000_3c00), (F2, 0x8000_bc00)], (F2, 0x8000_bc00)),
    (Op::Fmin, RN, &[(F2, 0x7e00_3c00), (F2, 0x8001_fe00)], (F2, 0x8001_3c00)),
    (Op::Fmin, NAN, &[(F2, 0x7e00_3c00), (F2, 0x8001_fe00)], (F2, 0x7fff_7fff)),
    (Op::Fmin, FTZ, &[(F2, 0x7e00_0002), (F2, 0x8001_0001)], (F2, 0x8000_0000)),
    (Op::Fmin, RN, &[(F16, 0xfe00), (F16, 0x7c01)], (F16, 0x7fff)),
    (Op::Fmax, RN, &[(F2, 0x0000_8000), (F2, 0x8000_0000)], (F2, 0x0000_0000)),
    (Op::Fmax, RN, &[(BF2, 0x0002_ff80), (BF2, 0x0001_ff7f)], (BF2, 0x0002_ff7f)),
    (Op::Fmax, FTZ, &[(BF2, 0x0002_8002), (BF2, 0x0001_8001)], (BF2, 0x0000_8000)),
    (Op::Fcmp, cc(FloatCC::Eq), &[(F2, 0x0000_7e00), (F2, 0x8000_7e00)], (M2, 0b10)),
    (Op::Fcmp, Attr::FloatCC { cc: FloatCC::Lt, ftz: true }, &[(F2, 0x8001_8001), (F2, 0x0000_0400)], (M2, 0b01)),
    (Op::Fset, cc(FloatCC::Ltu), &[(F2, 0x3c00_7e00), (F2, 0x3c00_3c00)], (F2, 0x0000_3c00)),
    (Op::Fset, cc(FloatCC::Ge), &[(BF2, 0xff80_3f80), (BF2, 0xff80_7f80)], (BF2, 0x3f80_0000)),
    (Op::Fset, cc(FloatCC::Num), &[(F32, 0), (F32, 0)], (F32, 0x3f80_0000)),
    (Op::Fdiv, __, &[(F32, 0x3f80_0000), (F32, 0x4040_0000)], (F32, 0x3eaa_aaab)),
    (Op::Fdiv, __, &[(F32, 0xbf80_0000), (F32, 0)], (F32, 0xff80_0000)),
    (Op::Fdiv, __, &[(F32, 0), (F32, 0x8000_0000)], (F32, 0x7fff_ffff)),
    (Op::Fsqrt, __, &[(F32, 0x4000_0000)], (F32, 0x3fb5_04f3)),
    (Op::Fsqrt, __, &[(F32, 0x8000_0000)], (F32, 0x8000_0000)),
    (Op::Fsqrt, __, &[(F32, 0xbf80_0000)], (F32, 0x7fff_ffff)),
    (Op::Fsqrt, __, &[(F32, 1)], (F32, 0x1a35_04f3)),
    (Op::Fexp2, __, &[(F32, 0x3f00_0000)], (F32, 0x3fb5_04f3)),
    (Op::Fexp2, __, &[(F32, 0xff80_0000)], (F32, 0)),
    (Op::Fexp2, __, &[(F32, 0xc316_0000)], (F32, 0)),
    (Op::Fexp2, __, &[(F16, 0x11c5)], (F16, 0x3c00)),
    (Op::Flog2, __, &[(F32, 0x4040_0000)], (F32, 0x3fca_e00d)),
    (Op::Flog2, __, &[(F32, 0x8000_0000)], (F32, 0xff80_0000)),
    (Op::Flog2, __, &[(F32, 0xbf80_0000)], (F32, 0x7fff_ffff)),
    (Op::Frsqrt, __, &[(F32, 0x4000_0000)], (F32, 0x3f35_04f3)),
    (Op::Frsqrt, __, &[(F32, 0x8000_0000)], (F32, 0xff80_0000)),
    (Op::Fsin, __, &[(F32, 0x3f80_0000)], (F32, 0x3f57_6aa4)),
    (Op::Fsin, __, &[(F32, 0x8000_0000)], (F32, 0x8000_0000)),
    (Op::Fcos, __, &[(F32, 0x3f80_0000)], (F32, 0x3f0a_5140)),
    (Op::Fcos, __, &[(F32, 0x7f80_0000)], (F32, 0x7fff_ffff)),
    (Op::Ftanh, __, &[(F32, 0x3f80_0000)], (F32, 0x3f42_f7d6)),
    (Op::Ftanh, __, &[(BF16, 0xff80)], (BF16, 0xbf80)),
    (Op::Fcvt, RN, &[(F32, 0x477f_efff)], (F16, 0x7bff)),
    (Op::Fcvt, RN, &[(F32, 0x477f_f000)], (F16, 0x7c00)),
    (Op::Fcvt, RZ, &[(F32, 0xff7f_ffff)], (F16, 0xfbff)),
    (Op::Fcvt, RP, &[(F32, 0x0000_0001)], (F16, 0x0001)),
    (Op::Fcvt, RM, &[(F32, 0x3f80_8000)], (BF16, 0x3f80)),
    (Op::Fcvt, RN, &[(BF16, 0xff81)], (F32, 0x7fff_ffff)),
    (Op::Fcvt, RN, &[(F16, 0x0001)], (BF16, 0x3380)),
    (Op::Fcvt, RN, &[(BF16, 0x7f7f)], (F16, 0x7c00)),
    (Op::FcvtFromS, RN, &[(I32, 0x8000_0000)], (F32, 0xcf00_0000)),
    (Op::FcvtFromS, RM, &[(I32, 0xfeff_ffff)], (F32, 0xcb80_0001)),
    (Op::FcvtFromS, RN, &[(I32, 0)], (F16, 0)),
    (Op::FcvtFromU, RN, &[(I32, 0xffff_ffff)], (F32, 0x4f80_0000)),
    (Op::FcvtFromU, RZ, &[(I32, 0xffff_ffff)], (F16, 0x7bff)),
    (Op::FcvtToS, __, &[(F16, 0xc0ff)], (I32, 0xffff_fffe)),
    (Op::FcvtToS, __, &[(F32, 0xff80_0000)], (I32, 0x8000_0000)),
    (Op::FcvtToS, __, &[(F32, 0x4f00_0000)], (I32, 0x7fff_ffff)),
    (Op::FcvtToS, __, &[(F32, 0x7fc0_0000)], (I32, 0)),
    (Op::FcvtToU, __, &[(F32, 0xbf80_0000)], (I32, 0)),
    (Op::FcvtToU, __, &[(BF16, 0x7f80)], (I32, 0xffff_ffff)),
    (Op::FcvtToU, __, &[(F32, 0x4f7f_ffff)], (I32, 0xffff_ff00)),
];

fn rows() -> Vec<Row<'static>> {
    let map = Attr::Lanes(LaneMap::new(&[3, 7, 5, 0]));
    let shuffle: Row = (Op::Shuffle, map, &[(B4, 0x4433_2211), (B4, 0x8877_6655)], (B4, 0x1166_8844));
    [INTEGERS, LANES, FLOATS, &[shuffle]].concat()
}

#[test]
fn golden() {
    for (op, attr, args, (ty, want)) in rows() {
        let found = compute(op, attr, args, ty).unwrap();
        assert_eq!(found, want, "{op:?} {attr:?} {args:x?}: {found:#x}, not {want:#x}");
    }
}

/// Every op that `fold` evaluates must have a hand-computed row, and no other op may have one.
#[test]
fn golden_has_every_op() {
    let rows = rows();
    for &op in Op::ALL {
        let folded = op.row().effect == Effect::Pure
            && !matches!(op, Op::Const | Op::Intrinsic | Op::ItemCount | Op::SubgroupId | Op::LaneId)
            && op.row().attr != AttrKind::Axis;
        assert_eq!(rows.iter().any(|row| row.0 == op), folded, "{op:?}");
        if !folded {
            assert_eq!(compute(op, Attr::None, &[], Type::I32), None, "{op:?}");
        }
    }
}

#[test]
fn masks_and_words_pack_both_ways() {
    for &ty in Type::ALL {
        let words = [
            0x0123_4567_89ab_cdef,
            0xfedc_ba98_7654_3210,
            0x0f1e_2d3c_4b5a_6978,
            0x8796_a5b4_c3d2_e1f0,
            1,
            2,
            3,
            u64::MAX,
        ];
        let mut lanes = [0; 16];
        unpack(ty, &words, &mut lanes[..ty.lanes()]);
        let bits = ty.bits() as usize;
        let want = std::array::from_fn(|i| match bits.saturating_sub(64 * i) {
            0 => 0,
            left => words[i] & u64::MAX >> 64_usize.saturating_sub(left),
        });
        assert_eq!(pack(ty, &lanes[..ty.lanes()]), want, "{ty}");
    }
}

/// Formula for an op on two bytes. `s` holds both operands as signed bytes, and `u` as unsigned bytes.
type Formula = fn(s: [i32; 2], u: [i32; 2]) -> i32;

#[rustfmt::skip]
const BYTES: &[(Op, Attr, Formula)] = &[
    (Op::Add, __, |s, _| s[0] + s[1]),
    (Op::Sub, __, |s, _| s[0] - s[1]),
    (Op::Mul, __, |s, _| s[0] * s[1]),
    (Op::MulHiS, __, |s, _| (s[0] * s[1]) >> 8),
    (Op::MulHiU, __, |_, u| (u[0] * u[1]) >> 8),
    (Op::AddSatS, __, |s, _| (s[0] + s[1]).clamp(-128, 127)),
    (Op::AddSatU, __, |_, u| (u[0] + u[1]).min(255)),
    (Op::SubSatS, __, |s, _| (s[0] - s[1]).clamp(-128, 127)),
    (Op::SubSatU, __, |_, u| (u[0] - u[1]).max(0)),
    // Averages halfway between two integers round up for sums of at least 0, and down for negative sums.
    (Op::AvgS, __, |s, _| f64::from(s[0] + s[1]).mul_add(0.5, if s[0] + s[1] >= 0 { 0.5 } else { 0.0 }).floor() as i32),
    (Op::AvgU, __, |_, u| (u[0] + u[1]) / 2 + (u[0] + u[1]) % 2),
    (Op::AbsDiffS, __, |s, _| s[0].max(s[1]) - s[0].min(s[1])),
    (Op::AbsDiffU, __, |_, u| u[0].max(u[1]) - u[0].min(u[1])),
    (Op::MinS, __, |s, _| if s[0] < s[1] { s[0] } else { s[1] }),
    (Op::MinU, __, |_, u| if u[0] < u[1] { u[0] } else { u[1] }),
    (Op::MaxS, __, |s, _| if s[0] < s[1] { s[1] } else { s[0] }),
    (Op::MaxU, __, |_, u| if u[0] < u[1] { u[1] } else { u[0] }),
    (Op::Neg, __, |s, _| 256 - s[0]),
    (Op::Abs, __, |s, _| if s[0] < 0 { -s[0] } else { s[0] }),
    (Op::Shl, __, |_, u| u[0] * [1, 2, 4, 8, 16, 32, 64, 128][u[1] as usize % 8]),
    (Op::ShrS, __, |s, u| s[0].div_euclid(1 << (u[1] % 8))),
    (Op::ShrU, __, |_, u| u[0] / (1 << (u[1] % 8))),
    (Op::RoundShrS, __, |s, u| (f64::from(s[0]) / f64::from(1 << (u[1] % 8)) + 0.5).floor() as i32),
    (Op::RoundShrU, __, |_, u| (f64::from(u[0]) / f64::from(1 << (u[1] % 8)) + 0.5).floor() as i32),
    (Op::Rotl, __, |_, u| (u[0] << (u[1] % 8)) % 255 + if u[0] == 255 { 255 } else { 0 }),
    (Op::Rotr, __, |_, u| (u[0] << ((8 - u[1] % 8) % 8)) % 255 + if u[0] == 255 { 255 } else { 0 }),
    (Op::Popcount, __, |_, u| (0..8).map(|i| u[0] >> i & 1).sum()),
    (Op::Clz, __, |_, u| (0..8).take_while(|i| u[0] >> (7 - i) == 0).count() as i32),
    (Op::Ctz, __, |_, u| (0..8).take_while(|i| u[0] % (2 << i) == 0).count() as i32),
    (Op::BitReverse, __, |_, u| (0..8).map(|i| (u[0] >> i & 1) << (7 - i)).sum()),
    (Op::And, __, |_, u| u[0] & u[1]),
    (Op::Or, __, |_, u| u[0] | u[1]),
    (Op::Xor, __, |_, u| u[0] ^ u[1]),
    (Op::Not, __, |_, u| 255 - u[0]),
    (Op::Icmp, Attr::IntCC(IntCC::Eq), |_, u| (u[0] == u[1]).into()),
    (Op::Icmp, Attr::IntCC(IntCC::Ne), |_, u| (u[0] != u[1]).into()),
    (Op::Icmp, Attr::IntCC(IntCC::LtS), |s, _| (s[0] < s[1]).into()),
    (Op::Icmp, Attr::IntCC(IntCC::LeS), |s, _| (s[0] <= s[1]).into()),
    (Op::Icmp, Attr::IntCC(IntCC::GtS), |s, _| (s[0] > s[1]).into()),
    (Op::Icmp, Attr::IntCC(IntCC::GeS), |s, _| (s[0] >= s[1]).into()),
    (Op::Icmp, Attr::IntCC(IntCC::LtU), |_, u| (u[0] < u[1]).into()),
    (Op::Icmp, Attr::IntCC(IntCC::LeU), |_, u| (u[0] <= u[1]).into()),
    (Op::Icmp, Attr::IntCC(IntCC::GtU), |_, u| (u[0] > u[1]).into()),
    (Op::Icmp, Attr::IntCC(IntCC::GeU), |_, u| (u[0] >= u[1]).into()),
];

/// Tests all pairs of bytes in the sixteen lanes of a vector. Different values in the lanes reveal
/// interference between lanes.
#[test]
fn byte_ops_on_all_pairs() {
    for &(op, attr, formula) in BYTES {
        let result = match op {
            Op::Icmp => Type::I1X16,
            _ => Type::I8X16,
        };
        let arity = op.row().args.len();
        for a in 0..=255u64 {
            let first = [a; 16];
            for b in (0..=255u64).step_by(16) {
                let second: Vec<u64> = (b..b + 16).collect();
                let operands = [&first, second.as_slice()].map(|lanes| Operand { ty: B16, lanes });
                let mut out = [0; 16];
                assert!(fold(op, attr, &operands[..arity], result, &mut out));
                for (&b, out) in second.iter().zip(out) {
                    let s = [i32::from(a as i8), i32::from(b as i8)];
                    let u = [a as i32, b as i32];
                    let want = formula(s, u) as u64 & result.elem().mask();
                    assert_eq!(out, want, "{op:?} {attr:?} {a:#x} {b:#x}");
                }
            }
        }
    }
}

/// A condition for exchanged operands gives the same result as the original condition for the original operands.
#[test]
fn swapped_conditions() {
    let integers = [0, 1, 0x7f, 0x80, 0xff];
    for &cc in IntCC::ALL {
        for (a, b) in integers.iter().flat_map(|a| integers.map(|b| (*a, b))) {
            let here = compute(Op::Icmp, Attr::IntCC(cc), &[(I8, a), (I8, b)], I1);
            let there = compute(Op::Icmp, Attr::IntCC(cc.swapped()), &[(I8, b), (I8, a)], I1);
            assert_eq!(here, there, "{cc}");
        }
    }
    let halves = [0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0x7e00];
    for &condition in FloatCC::ALL {
        for (a, b) in halves.iter().flat_map(|a| halves.map(|b| (*a, b))) {
            let here = compute(Op::Fcmp, cc(condition), &[(F16, a), (F16, b)], I1);
            let there = compute(Op::Fcmp, cc(condition.swapped()), &[(F16, b), (F16, a)], I1);
            assert_eq!(here, there, "{condition}");
        }
    }
}
