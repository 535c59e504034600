//! Extremum (minimum or maximum) of several words of packed halves by a chain of compares and selects.
//!
//! For a maximum, a word replaces the current maximum if the word is greater or equal. The maximum starts as minus
//! infinity, so a NaN never replaces it. Two cases need a correction. First, a lane in which no word replaced the start
//! value is NaN. Second, -0 is less than +0 but compares equal, and a later equal word replaces an earlier one. So the
//! result is negative only if all intermediate maxima were negative. Minima are symmetric.

use halfbyte_isa::ptx::types::{Token, Type};
use halfbyte_isa::ptx::{Opcode, Operand, Reg};

use super::{Extremum, Writer};

/// Canonical NaN in both halves, which is also the mask of all bits but the signs.
const NAN: u64 = 0x7fff_7fff;
/// Sign bits of both halves.
const SIGNS: u64 = 0x8000_8000;

const B32: Token = Token::Type(Type::B32);

/// LOP3 truth table of a select: B where A is 1, C where A is 0.
const A_SELECTS_B_OR_C: u64 = 0xca;
/// LOP3 truth table of `A & B & C`.
const ALL_OF_THREE: u64 = 0x80;
/// LOP3 truth table of `A | B | C`.
const ANY_OF_THREE: u64 = 0xfe;
/// LOP3 truth table of `A & (B | C)`.
const A_AND_ANY: u64 = 0xe0;
/// LOP3 truth table of `A | (B & C)`.
const A_OR_BOTH: u64 = 0xf8;

/// Returns the number of instructions of a chain over `words` words.
pub(super) fn cost(words: usize) -> usize {
    // Two instructions per word, the LOP3s that combine the masks and the intermediate extrema of
    // all words but the last, and two corrections.
    2 * words + 2 * (words.saturating_sub(1) / 2) + 2
}

/// Appends the instructions that compute the extremum of two or more words.
pub(super) fn write(writer: &mut Writer<'_>, extremum: Extremum, words: &[Reg]) {
    let is_max = extremum.opcode == Opcode::MAX_F32;
    let (compare, worst) = if is_max { (Token::Ge, 0xfc00_fc00) } else { (Token::Le, 0x7c00_7c00) };
    let (of_signs, others, table) =
        if is_max { (ALL_OF_THREE, NAN, A_AND_ANY) } else { (ANY_OF_THREE, SIGNS, A_OR_BOTH) };
    let (Some((&first, rest)), Some(&last)) = (words.split_first(), words.last()) else { return };
    let mask = writer.compare(Token::Num, first, first);
    let mut best = writer.select(mask, first, Operand::Number(worst));
    // `any` is the mask of lanes that any word but the last one replaced. `signs` combines the
    // signs of the intermediate extrema.
    let mut any = Gathered::new(ANY_OF_THREE, mask);
    let mut signs = Gathered::new(of_signs, best);
    for &word in rest.split_last().map_or(&[][..], |(_, between)| between) {
        let mask = writer.compare(compare, word, best);
        best = writer.select(mask, word, Operand::Register(best));
        any.add(writer, mask);
        signs.add(writer, best);
    }
    let mask = writer.compare(compare, last, best);
    let any = any.all(writer);
    let best = writer.select(any, best, Operand::Number(NAN));
    let best = writer.select(mask, last, Operand::Register(best));
    let signs = Operand::Register(signs.all(writer));
    writer.lop3(Some(extremum.d), best, signs, Operand::Number(others), table);
}

/// Reduction of words by LOP3, two words at a time. The truth table is idempotent, so the same word
/// may be combined twice.
struct Gathered {
    table: u64,
    all: Reg,
    /// Word that was added but not yet combined, because one LOP3 combines two words.
    waiting: Option<Reg>,
}

impl Gathered {
    fn new(table: u64, first: Reg) -> Gathered {
        Gathered { table, all: first, waiting: None }
    }

    fn add(&mut self, writer: &mut Writer<'_>, word: Reg) {
        match self.waiting.take() {
            None => self.waiting = Some(word),
            Some(other) => self.put(writer, other, word),
        }
    }

    fn put(&mut self, writer: &mut Writer<'_>, a: Reg, b: Reg) {
        self.all = writer.lop3(None, self.all, Operand::Register(a), Operand::Register(b), self.table);
    }

    fn all(mut self, writer: &mut Writer<'_>) -> Reg {
        if let Some(word) = self.waiting {
            self.put(writer, word, word);
        }
        self.all
    }
}

impl Writer<'_> {
    fn compare(&mut self, compare: Token, a: Reg, b: Reg) -> Reg {
        let words = [compare, Token::Type(Type::U32), Token::Type(Type::F16x2)];
        self.push(Opcode::SET_F16X2, &words, None, &[a, b].map(Operand::Register))
    }

    fn select(&mut self, mask: Reg, a: Reg, b: Operand) -> Reg {
        self.lop3(None, mask, Operand::Register(a), b, A_SELECTS_B_OR_C)
    }

    fn lop3(&mut self, d: Option<Reg>, a: Reg, b: Operand, c: Operand, table: u64) -> Reg {
        self.push(Opcode::LOP3, &[B32], d, &[Operand::Register(a), b, c, Operand::Number(table)])
    }
}
