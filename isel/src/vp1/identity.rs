//! Identity operations, which return one of their operands and need no instruction.
//!
//! For example, rules shift by the position of a lane, which is 0 for the lowest lane; the result
//! is the operand itself. If the flags of such an operation are used, the instruction is needed, so
//! callers only ask about results.

use super::operands::{Alu, Bytes, Sign, Src};

/// Returns the operand that a 32-bit operation returns unchanged, if any.
pub(super) fn of_alu(op: Alu, a: Src, b: Src) -> Option<Src> {
    match (op, a.known_word(), b.known_word()) {
        (Alu::Add | Alu::Sub | Alu::Sar | Alu::Shr, _, Some(0)) => Some(a),
        (Alu::Add, Some(0), _) => Some(b),
        (Alu::Min | Alu::Max, _, _) if a == b => Some(a),
        _ => None,
    }
}

/// Returns the operand that a byte operation returns unchanged, if any.
pub(super) fn of_bytes(op: Bytes, sign: Sign, a: Src, b: Src) -> Option<Src> {
    let (least, most) = match sign {
        Sign::U => (0, u8::MAX),
        Sign::S => (i8::MIN as u8, i8::MAX as u8),
    };
    let (first, second) = (a.known_byte(), b.known_byte());
    match op {
        Bytes::Add | Bytes::Sub | Bytes::Shr if second == Some(0) => Some(a),
        Bytes::Add if first == Some(0) => Some(b),
        Bytes::Min if second == Some(most) => Some(a),
        Bytes::Min if first == Some(most) => Some(b),
        Bytes::Max if second == Some(least) => Some(a),
        Bytes::Max if first == Some(least) => Some(b),
        Bytes::Min | Bytes::Max if a == b => Some(a),
        _ => None,
    }
}

/// Returns the operand that a bitwise function returns unchanged, if any. In its truth table, 0xc
/// stands for `a` and 0xa for `b`.
pub(super) fn of_table(table: u8, a: Src, b: Src) -> Option<Src> {
    // Bits of the table that can be selected.
    let zeros = |src: Src| src.known_byte() == Some(0);
    let ones = |src: Src| src.known_byte() == Some(u8::MAX);
    let mut asked = 0xf;
    for (src, set) in [(a, 0xc), (b, 0xa)] {
        if zeros(src) {
            asked &= !set;
        } else if ones(src) {
            asked &= set;
        }
    }
    if a == b {
        asked &= 0x9;
    }
    let gives = |set: u8| (table ^ set) & asked == 0;
    if gives(0xc) { Some(a) } else { gives(0xa).then_some(b) }
}

#[cfg(test)]
mod tests {
    use super::super::operands::Reg;
    use super::*;
    use crate::vcode::VReg;

    const X: Src = Src::Reg(Reg::new(VReg(7)));
    const Y: Src = Src::Reg(Reg::new(VReg(8)));
    const ONES: Src = Src::Word(u32::MAX);

    #[test]
    fn what_gives_an_operand_back() {
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
    fn what_computes_something() {
        assert_eq!(of_alu(Alu::Sub, Src::Word(0), X), None);
        assert_eq!(of_alu(Alu::Shr, Src::Word(0), X), None);
        // The multiplier only uses the low halves.
        assert_eq!(of_alu(Alu::Mul, X, Src::Word(1)), None);
        assert_eq!(of_bytes(Bytes::Sub, Sign::U, Src::Word(0), X), None);
        assert_eq!(of_bytes(Bytes::Max, Sign::S, X, Src::Bytes([0; 16])), None);
        assert_eq!(of_table(0x8, X, Y), None);
        assert_eq!(of_table(0x6, X, ONES), None);
        assert_eq!(of_table(0x6, X, X), None);
    }

    /// Checks every table bit by bit, over all combinations of known and unknown operands.
    #[test]
    fn tables_give_what_they_are_said_to() {
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
}
