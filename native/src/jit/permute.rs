//! Byte permutations by a constant selector.

use halfbyte_isa::halu::domain::Domain;

#[cfg(feature = "aot")]
use super::dataflow::Node;
use super::dataflow::{Dataflow, Id, Op};

/// Word in which every byte is 1.
const BYTE_ONES: u32 = 0x0101_0101;

impl Dataflow {
    /// Returns a word of four bytes of two words, by their numbers. If bit 3 of a number is set, the result byte
    /// consists of copies of the sign of the selected byte.
    pub(super) fn permute_by(&mut self, select: [u8; 4], words: [Id; 2]) -> Id {
        let number = select.map(|byte| byte & 7);
        if select == number {
            return self.apply(Op::Bytes(select), &words);
        }
        let [first, second, ..] = number;
        let word = words[usize::from(first / 4)];
        // A sign-extended byte or half-word.
        let extended = if select == [first, first | 8, first | 8, first | 8] {
            Some(8)
        } else if select == [first, second, second | 8, second | 8] && second == first + 1 && second != 4 {
            Some(16)
        } else {
            None
        };
        if let Some(bits) = extended {
            let (up, down) = (32 - bits - 8 * u32::from(first % 4), 32 - bits);
            let (up, down) = (self.word(up), self.word(down));
            let high = self.shl(word, up);
            return self.sar(high, down);
        }
        let is_sign = select.map(|byte| byte & 8 != 0);
        let signs = if words[0] == words[1] {
            [self.byte_signs(words[0]); 2]
        } else {
            [0, 1].map(|k| {
                let is_read = select.iter().any(|&byte| byte & 8 != 0 && usize::from(byte & 7) / 4 == k);
                if is_read { self.byte_signs(words[k]) } else { words[k] }
            })
        };
        let of_signs = self.apply(Op::Bytes(number), &signs);
        if is_sign.iter().all(|&is_sign| is_sign) {
            return of_signs;
        }
        let plain = self.apply(Op::Bytes(number), &words);
        let mask = self.word(u32::from_le_bytes(is_sign.map(|is_sign| u8::from(is_sign).wrapping_neg())));
        let others = self.not(mask);
        let (of_signs, plain) = (self.and(of_signs, mask), self.and(plain, others));
        self.or(of_signs, plain)
    }

    /// Returns a word in which each byte consists of copies of the sign of the byte in `word`.
    fn byte_signs(&mut self, word: Id) -> Id {
        let (last, ones, byte) = (self.word(7), self.word(BYTE_ONES), self.word(8));
        let signs = self.shr(word, last);
        let signs = self.and(signs, ones);
        let raised = self.shl(signs, byte);
        self.sub(raised, signs)
    }

    /// Returns the operand of [`byte_signs`](Self::byte_signs) if `id` is its result.
    #[cfg(feature = "aot")]
    pub fn signs_of(&self, id: Id) -> Option<Id> {
        let Node { op: Op::Sub, args: [raised, signs, ..], .. } = self.node(id) else { return None };
        let Node { op: Op::Shl, args: [other, by, ..], .. } = self.node(raised) else { return None };
        let Node { op: Op::And, args: [shifted, ones, ..], .. } = self.node(signs) else { return None };
        let Node { op: Op::Shr, args: [word, last, ..], .. } = self.node(shifted) else { return None };
        let constants = [by, ones, last].map(|id| self.constant(id));
        (other == signs && constants == [Some(8), Some(BYTE_ONES), Some(7)]).then_some(word)
    }
}
