//! Tests of the symbolic bytes and of the combination of LOP3 instructions for HALU.

use halfbyte_isel::halu::combine::bytes::{Bits, Byte, byte_of_function, byte_of_register};
use halfbyte_isel::halu::combine::logic::{Words, apply};
use halfbyte_isel::halu::operands::{Reg, SourceLocation, Src};
use halfbyte_isel::vcode::VReg;

/// Tests all truth tables over a byte, another byte, ones, zeros and an arbitrary constant. If the
/// function finds one byte as the result, every bit of this byte agrees with the truth table.
#[test]
fn byte_of_function_agrees_with_the_truth_table() {
    let [x, y] = [0, 1].map(|byte| byte_of_register(Reg::new(VReg(7)), byte));
    let kinds =
        [Bits::All(false), Bits::All(true), Bits::Unknown(Some(x)), Bits::Unknown(Some(y)), Bits::Unknown(None)];
    let value = |bits: Bits| match bits {
        Bits::All(bit) => 0u8.wrapping_sub(bit.into()),
        Bits::Unknown(Some(byte)) if byte == x => 0b0000_1111,
        Bits::Unknown(Some(_)) => 0b0011_0011,
        Bits::Unknown(None) => 0b0101_0101,
    };
    for table in 0..=u8::MAX {
        for (a, b, c) in kinds.iter().flat_map(|&a| kinds.iter().flat_map(move |&b| kinds.map(|c| (a, b, c)))) {
            let Some(byte) = byte_of_function(table, [a, b, c]) else { continue };
            let [p, q, r] = [a, b, c].map(value);
            let bit = |n: u8| table >> ((p >> n & 1) << 2 | (q >> n & 1) << 1 | r >> n & 1) & 1;
            let made = (0..8).fold(0, |made, n| made | bit(n) << n);
            let expected = if byte == Byte::Zero { 0 } else { value(Bits::Unknown(Some(byte))) };
            assert_eq!(made, expected, "{table:#x}");
        }
    }
}

fn reg(number: u32) -> Src {
    Src::plain(SourceLocation::Reg(Reg::new(VReg(number))))
}

/// Tests all pairs of truth tables, one inlined into the other at each operand, over equal and different registers,
/// constants and complements. A combined LOP3 must compute the same bits as the pair.
#[test]
fn combined_lop3_equals_the_pair() {
    let values = |source: Src| match source.place {
        SourceLocation::Reg(Reg { vreg: Some(VReg(number)), .. }) => {
            [0x8c4e_31f5u32, 0x5a93_d06e, 0x39c5_a71b][number as usize]
        }
        SourceLocation::Imm(bits) => bits,
        _ => 0,
    };
    let run = |table: u8, sources: [Src; 3]| apply(table, sources.map(values));
    let number = Src::imm(0x00ff_0ff0);
    for (of, others) in [
        ([reg(0), reg(1), Src::ZERO], [reg(2), Src::ZERO]),
        ([reg(0), reg(1), Src::ZERO], [reg(1), reg(0)]),
        ([reg(0), number, Src::ZERO], [reg(2), Src::ZERO]),
        ([reg(0), number, Src::ZERO], [Src::imm(!0x00ff_0ff0), reg(1)]),
        ([reg(0), reg(1), reg(2)], [reg(2), number]),
    ] {
        let mut ones = 0;
        for (inner, table) in (0..=u8::MAX).flat_map(|inner| (0..=u8::MAX).map(move |table| (inner, table))) {
            let mut words = Words::default();
            let [a, b, c] = of.map(|source| words.add(source).unwrap());
            let taken = apply(inner, [a, b, c]);
            let [d, e] = others.map(|source| words.add(source).unwrap());
            let Some((one, sources)) = words.one(apply(table, [taken, d, e])) else { continue };
            ones += 1;
            assert!(sources[0].is_reg() && sources[2].is_reg());
            let [x, y] = others.map(values);
            assert_eq!(run(one, sources), apply(table, [run(inner, of), x, y]), "{inner:#x} in {table:#x}");
        }
        assert!(ones > 10_000, "{of:?} in {others:?}: {ones}");
    }
}
