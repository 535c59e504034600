//! Tests of the operations of VP1 that return one of their operands unchanged.

use halfbyte_isel::vcode::VReg;
use halfbyte_isel::vp1::identity::{of_alu, of_bytes, of_table};
use halfbyte_isel::vp1::operands::{Alu, Bytes, Reg, Sign, Src};

const X: Src = Src::Reg(Reg::new(VReg(7)));
const Y: Src = Src::Reg(Reg::new(VReg(8)));
const ONES: Src = Src::Word(u32::MAX);

#[test]
fn finds_operations_that_return_an_operand() {
    let zero = Src::Reg(Reg::ZERO);
    assert_eq!(of_alu(Alu::Shr, X, Src::Word(0)), Some(X));
    assert_eq!(of_alu(Alu::Add, zero, X), Some(X));
    assert_eq!(of_bytes(Bytes::Sub, Sign::S, X, Src::Bytes([0; 16])), Some(X));
    assert_eq!(of_bytes(Bytes::Max, Sign::S, Src::Bytes([0x80; 16]), X), Some(X));
    assert_eq!(of_table(0x8, X, ONES), Some(X));
    assert_eq!(of_table(0x6, zero, X), Some(X));
    assert_eq!(of_table(0xe, X, X), Some(X));
}

#[test]
fn rejects_operations_that_change_their_operands() {
    assert_eq!(of_alu(Alu::Sub, Src::Word(0), X), None);
    assert_eq!(of_alu(Alu::Shr, Src::Word(0), X), None);
    // The multiplier reads only the low 16 bits, so a product with 1 is not its other factor.
    assert_eq!(of_alu(Alu::Mul, X, Src::Word(1)), None);
    assert_eq!(of_bytes(Bytes::Sub, Sign::U, Src::Word(0), X), None);
    assert_eq!(of_bytes(Bytes::Max, Sign::S, X, Src::Bytes([0; 16])), None);
    assert_eq!(of_table(0x8, X, Y), None);
    assert_eq!(of_table(0x6, X, ONES), None);
    assert_eq!(of_table(0x6, X, X), None);
}

/// Checks all truth tables bit by bit, for all combinations of known and unknown operands.
#[test]
fn truth_tables_equal_the_returned_operand() {
    let (zero, words) = (Src::Word(0), [X, Y, Src::Word(0), ONES]);
    let values = |src: Src, of: [u8; 2]| match src {
        src if src == zero => 0,
        src if src == ONES => 1,
        src if src == X => of[0],
        _ => of[1],
    };
    for (table, a, b) in (0..16).flat_map(|t| words.map(|a| words.map(|b| (t, a, b))).concat()) {
        let same = of_table(table, a, b);
        let holds = |src: Src| {
            [[0, 0], [0, 1], [1, 0], [1, 1]].iter().all(|&of| {
                let index = values(a, of) << 1 | values(b, of);
                table >> index & 1 == values(src, of)
            })
        };
        assert_eq!(same.is_some(), holds(a) || holds(b), "{table:#x} {a:?} {b:?}");
        assert!(same.is_none_or(holds), "{table:#x} {a:?} {b:?}");
    }
}
