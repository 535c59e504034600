//! The extremum of several words of halves by compares and selections, one word after another.
//!
//! For a maximum a word is taken where it is at least the greatest so far, which begins as minus infinity: no NaN is ever
//! taken. Two things are left to mend. A lane that took none is NaN. And -0 is below +0, but a compare has them equal: the
//! greatest is negative only if all were that have ever been the greatest, for of equal ones the later is taken. Minima are
//! the same from the other side.

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Opcode, Operand, Reg};

use super::{Extremum, Writer};

/// The one NaN in both halves, and so all bits but the signs.
const NAN: u64 = 0x7fff_7fff;
/// The signs of both halves.
const SIGNS: u64 = 0x8000_8000;

const B32: Token = Token::Type(Type::B32);

/// Tables of three inputs.
const A_SELECTS_B_OR_C: u64 = 0xca;
const ALL_OF_THREE: u64 = 0x80;
const ANY_OF_THREE: u64 = 0xfe;
const A_AND_ANY: u64 = 0xe0;
const A_OR_BOTH: u64 = 0xf8;

/// What an extremum of so many words takes.
pub(super) fn cost(words: usize) -> usize {
    // Two a word, all but the last word's masks and extrema put together, and one each for what these mend.
    2 * words + 2 * (words.saturating_sub(1) / 2) + 2
}

/// Writes the extremum of words, two or more.
pub(super) fn write(writer: &mut Writer<'_, '_>, extremum: Extremum, words: &[Reg]) {
    let is_max = extremum.opcode == Opcode::MAX_F32;
    let (compare, worst) = if is_max { (Token::Ge, 0xfc00_fc00) } else { (Token::Le, 0x7c00_7c00) };
    let mut so_far = Operand::Number(worst);
    // The masks of the lanes that each word but the last is taken in, and the extrema then.
    let (mut masks, mut extrema) = (Vec::with_capacity(words.len()), Vec::with_capacity(words.len()));
    for (number, &word) in words.iter().enumerate() {
        let mask = match extrema.last() {
            None => writer.compare(Token::Num, word, word),
            Some(&best) => writer.compare(compare, word, best),
        };
        if number + 1 == words.len() {
            // Here the lanes that have taken none are NaN.
            let any = writer.all_in_one(&masks, ANY_OF_THREE);
            so_far = Operand::Register(writer.lop3(None, any, so_far, Operand::Number(NAN), A_SELECTS_B_OR_C));
        }
        let best = writer.lop3(None, mask, Operand::Register(word), so_far, A_SELECTS_B_OR_C);
        so_far = Operand::Register(best);
        masks.push(mask);
        extrema.push(best);
    }
    let Some((&best, before)) = extrema.split_last() else { return };
    let (of_signs, others, table) =
        if is_max { (ALL_OF_THREE, NAN, A_AND_ANY) } else { (ANY_OF_THREE, SIGNS, A_OR_BOTH) };
    let signs = Operand::Register(writer.all_in_one(before, of_signs));
    writer.lop3(Some(extremum.d), best, signs, Operand::Number(others), table);
}

impl Writer<'_, '_> {
    fn compare(&mut self, compare: Token, a: Reg, b: Reg) -> Reg {
        let words = [compare, Token::Type(Type::U32), Token::Type(Type::F16x2)];
        self.push(Opcode::SET_F16X2, &words, None, &[a, b].map(Operand::Register))
    }

    fn lop3(&mut self, d: Option<Reg>, a: Reg, b: Operand, c: Operand, table: u64) -> Reg {
        self.push(Opcode::LOP3, &[B32], d, &[Operand::Register(a), b, c, Operand::Number(table)])
    }

    /// Words put together, by a table of which it makes no difference that an input stands twice.
    fn all_in_one(&mut self, words: &[Reg], table: u64) -> Reg {
        let Some((&first, rest)) = words.split_first() else { return Reg(u32::MAX) };
        rest.chunks(2).fold(first, |all, pair| {
            let [b, c] = match *pair {
                [b, c] => [b, c],
                [b] => [b, b],
                _ => [all, all],
            };
            self.lop3(None, all, Operand::Register(b), Operand::Register(c), table)
        })
    }
}
