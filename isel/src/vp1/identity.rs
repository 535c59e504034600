//! Identity operations of VP1: operations that return one of their operands unchanged.
//!
//! Such operations need no instruction. For example, a shift by the bit position of the lowest lane, which is 0,
//! returns its operand. If the flags of an operation are used, the operation needs its instruction. Callers therefore
//! use these functions only for results.

use super::operands::{Alu, Bytes, Sign, Src};

/// If a 32-bit operation returns one of its operands unchanged, returns this operand.
pub fn of_alu(op: Alu, a: Src, b: Src) -> Option<Src> {
    match (op, a.known_word(), b.known_word()) {
        (Alu::Add | Alu::Sub | Alu::Sar | Alu::Shr, _, Some(0)) => Some(a),
        (Alu::Add, Some(0), _) => Some(b),
        (Alu::Min | Alu::Max, _, _) if a == b => Some(a),
        _ => None,
    }
}

/// If a byte operation returns one of its operands unchanged, returns this operand.
pub fn of_bytes(op: Bytes, sign: Sign, a: Src, b: Src) -> Option<Src> {
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

/// If a bitwise function returns one of its operands unchanged, returns this operand. In the truth
/// table of the function, 0xc is the table of `a`, and 0xa is that of `b`.
pub fn of_table(table: u8, a: Src, b: Src) -> Option<Src> {
    // `asked` is the set of the table's bits that the operands can select, given their known values.
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
