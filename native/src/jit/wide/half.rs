//! Arithmetic on halves with AVX-512: the sixteen of eight words, as f32s in one register. It is the arithmetic of
//! [`rows`](crate::rows), and has its reasons there.

use halfbyte_isa::half::{Clamp, Format, HalfMode, Rounding};
use halfbyte_isa::halu::domain::{HalfKind, HalfOp};

use super::encode::{Code, MAP_0F, MAP_0F3A, MAP_0F38, NO_PREFIX, PREFIX_66, PREFIX_F2, PREFIX_F3, Predicate};

/// An operation that there is code for: one on binary16 that neither flushes nor clamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::jit) struct HalfStep {
    pub kind: HalfKind,
    rounding: Rounding,
}

impl HalfStep {
    /// None where there is no code for it.
    pub fn of(op: &HalfOp) -> Option<HalfStep> {
        let HalfMode { format, rounding, ftz, clamp } = op.mode;
        let is_plain = format == Format::F16 && !ftz && clamp == Clamp::None;
        is_plain.then_some(HalfStep { kind: op.kind, rounding })
    }
}

/// Registers that no value is held in, as instructions with VEX prefixes have not got them.
const A: u8 = 16;
const B: u8 = 17;
const C: u8 = 18;
const BELOW: u8 = 19;

/// Masks.
const IS_ODD: u8 = 1;
const IS_NAN: u8 = 2;

/// The length of vectors, or a rounding with that of 512 bits.
#[derive(Clone, Copy)]
enum Length {
    L256,
    L512,
    Rounded(Rounding),
}

/// A rounding as instructions have it.
fn number(rounding: Rounding) -> u8 {
    match rounding {
        Rounding::Nearest => 0,
        Rounding::Down => 1,
        Rounding::Up => 2,
        Rounding::Zero => 3,
    }
}

/// An opcode, its map and its prefix.
type Opcode = (u8, u8, u8);

const CONVERT_FROM: Opcode = (MAP_0F38, PREFIX_66, 0x13);
const CONVERT_TO: Opcode = (MAP_0F3A, PREFIX_66, 0x1D);
const ADD: Opcode = (MAP_0F, NO_PREFIX, 0x58);
const MULTIPLY: Opcode = (MAP_0F, NO_PREFIX, 0x59);
const MULTIPLY_ADD_213: Opcode = (MAP_0F38, PREFIX_66, 0xA8);
const MOVE: Opcode = (MAP_0F, NO_PREFIX, 0x28);
const SHIFT: Opcode = (MAP_0F, PREFIX_66, 0x72);
const SIGNS: Opcode = (MAP_0F38, PREFIX_F3, 0x39);
const COMPARE: Opcode = (MAP_0F, NO_PREFIX, 0xC2);
/// Of halves; it has the bit that widens elements.
const MOVE_HALVES: Opcode = (MAP_0F, PREFIX_F2, 0x6F);

impl Code {
    /// An instruction with an EVEX prefix on registers, but for an immediate. Elements of the result that its mask leaves out stay.
    fn evex(&mut self, (map, prefix, byte): Opcode, length: Length, mask: u8, [result, second, last]: [u8; 3]) {
        let (length, is_rounded) = match length {
            Length::L256 => (1, 0),
            Length::L512 => (2, 0),
            Length::Rounded(rounding) => (number(rounding), 1),
        };
        let is_wide = u8::from(prefix == PREFIX_F2);
        // Bits of registers are inverted here.
        let bit = |register: u8, bit: u8, at: u8| (!register >> bit & 1) << at;
        self.put(&[
            0x62,
            bit(result, 3, 7) | bit(last, 4, 6) | bit(last, 3, 5) | bit(result, 4, 4) | map,
            is_wide << 7 | (!second & 0xF) << 3 | 1 << 2 | prefix,
            length << 5 | is_rounded << 4 | bit(second, 4, 3) | mask,
            byte,
            0b11 << 6 | (result & 7) << 3 | last & 7,
        ]);
    }

    /// An operation on the halves of words; NaNs become the halves of another register.
    pub(super) fn half(&mut self, HalfStep { kind, rounding }: HalfStep, result: u8, [a, b, c, nan]: [u8; 4]) {
        let rounded = Length::Rounded(rounding);
        let operands = [(A, a), (B, b), (C, c)];
        for (to, from) in operands.into_iter().take(if kind == HalfKind::Fma { 3 } else { 2 }) {
            self.evex(CONVERT_FROM, Length::L512, 0, [to, 0, from]);
        }
        match (kind, rounding) {
            // An f32 has more than twice the bits of a half, so that rounding twice is rounding once.
            (HalfKind::Add, _) => self.evex(ADD, rounded, 0, [A, A, B]),
            // The product is an f32.
            (HalfKind::Mul, _) => self.evex(MULTIPLY, rounded, 0, [A, A, B]),
            (HalfKind::Fma, Rounding::Nearest) => {
                self.evex(MOVE, Length::L512, 0, [BELOW, 0, A]);
                self.evex(MULTIPLY_ADD_213, Length::Rounded(Rounding::Down), 0, [BELOW, B, C]);
                self.evex(MULTIPLY_ADD_213, Length::Rounded(Rounding::Up), 0, [A, B, C]);
                // The last bits, where signs are.
                self.evex(SHIFT, Length::L512, 0, [6, B, BELOW]);
                self.put(&[31]);
                self.evex(SIGNS, Length::L512, 0, [IS_ODD, 0, B]);
                self.evex(MOVE, Length::L512, IS_ODD, [A, 0, BELOW]);
            }
            (HalfKind::Fma, _) => self.evex(MULTIPLY_ADD_213, rounded, 0, [A, B, C]),
        }
        self.evex(COMPARE, Length::L512, 0, [IS_NAN, A, A]);
        self.put(&[Predicate::NAN.number()]);
        self.evex(CONVERT_TO, Length::L512, 0, [A, 0, result]);
        self.put(&[number(rounding)]);
        self.evex(MOVE_HALVES, Length::L256, IS_NAN, [result, 0, nan]);
    }
}
