//! 32-bit words in native code, with their known bits and value ranges. The semantics of many instructions compute
//! single bits. The known facts let the emitter omit part of this code.

use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{InstBuilder, InstructionData, Value, ValueDef};
use halfbyte_isa::vp1::concrete::Concrete;
use halfbyte_isa::vp1::data_store::DATA_STORE_BYTES;
use halfbyte_isa::vp1::domain::{Domain, Logic};

use super::{Emitter, FLAG_GROUPS};

/// A 32-bit word.
#[derive(Clone, Copy, Debug)]
pub(in crate::vp1::jit) enum Word {
    /// A constant word.
    Const(u32),
    /// A word with a truth value in one bit. All other bits are 0.
    Truth {
        /// The truth value, an `i8` that is 1 or 0.
        value: Value,
        /// Number of the bit that holds the truth value.
        at: u8,
    },
    /// An `i32` that is computed at run time, with the facts that are known about it.
    Value(Value, ValueFacts),
    /// A data store address, held as a host pointer. The address is the pointer minus
    /// [`Emitter::machine`] plus a constant.
    StoreAddress {
        /// The pointer, as an `i64`.
        pointer: Value,
        /// The constant that is added to the pointer.
        plus: u32,
        /// Alignment of the address in bytes, a power of two.
        align: u32,
    },
    /// A condition register `$c`, shifted right. Native code reads only the groups of bits that later operations need.
    Flags {
        /// Number of the condition register `$c`.
        n: u8,
        /// Number of bits by which the register is shifted right.
        down: u8,
    },
    /// The OR of several words without common set bits. The words are a range of [`Emitter::pieces`].
    Union {
        /// Index of the first word in [`Emitter::pieces`].
        start: u32,
        /// Number of words in the union.
        len: u32,
    },
}

/// Mask of the bits of a data store address, including the address just after the end of the data store.
const PLACE: u32 = 2 * DATA_STORE_BYTES as u32 - 1;

/// The facts that are known about the value of a 32-bit word.
#[derive(Clone, Copy, Debug)]
pub(in crate::vp1::jit) struct ValueFacts {
    /// Mask of the bits that may be set; all other bits are 0.
    pub mask: u32,
    /// Minimum of the word as a signed number.
    pub low: i32,
    /// Maximum of the word as a signed number.
    pub high: i32,
}

impl ValueFacts {
    /// The facts about a word of which nothing is known.
    pub(crate) const NOTHING: ValueFacts = ValueFacts { mask: u32::MAX, low: i32::MIN, high: i32::MAX };

    /// Returns the facts of a word whose bits outside `mask` are 0.
    pub(crate) fn within(mask: u32) -> ValueFacts {
        match i32::try_from(mask) {
            Ok(high) => ValueFacts { mask, low: 0, high },
            Err(_) => ValueFacts { mask, ..ValueFacts::NOTHING },
        }
    }

    /// Returns the facts about a word in a range of signed numbers. If the range exceeds 32 bits,
    /// nothing is known about the word.
    fn between(low: i64, high: i64) -> ValueFacts {
        let (Ok(low), Ok(high)) = (i32::try_from(low), i32::try_from(high)) else { return ValueFacts::NOTHING };
        let mask = if low < 0 { u32::MAX } else { u32::MAX.checked_shr(high.leading_zeros()).unwrap_or(0) };
        ValueFacts { mask, low, high }
    }
}

/// The most recent addition to an address register: the low half of the register and the addend. A
/// later use can then compute the low half of the sum alone.
#[derive(Clone, Copy)]
pub(in crate::vp1::jit) struct LowSum {
    sum: Value,
    low: Word,
    added: Word,
}

impl Emitter<'_, '_> {
    /// Returns the word of an `i32` about which nothing is known.
    pub(crate) fn any(&self, value: Value) -> Word {
        Word::Value(value, ValueFacts::NOTHING)
    }

    /// Returns the mask of the bits of a word that may be set.
    pub(crate) fn mask_of(&self, word: Word) -> u32 {
        match word {
            Word::Const(value) => value,
            Word::Truth { at, .. } => 1 << at,
            Word::Value(_, known) => known.mask,
            Word::StoreAddress { .. } => PLACE,
            Word::Flags { down, .. } => 0xffff >> down,
            Word::Union { .. } => self.pieces_of(word).iter().fold(0, |mask, &piece| mask | self.mask_of(piece)),
        }
    }

    /// Returns the minimum and the maximum of a word as signed numbers.
    pub(crate) fn range_of(&self, word: Word) -> (i64, i64) {
        let known = match word {
            Word::Const(value) => return (i64::from(value as i32), i64::from(value as i32)),
            Word::Value(_, known) => known,
            Word::Truth { .. } | Word::StoreAddress { .. } | Word::Flags { .. } | Word::Union { .. } => {
                ValueFacts::within(self.mask_of(word))
            }
        };
        (known.low.into(), known.high.into())
    }

    /// Returns the words that a union combines. Returns an empty slice if the word is not a union.
    fn pieces_of(&self, word: Word) -> &[Word] {
        match word {
            Word::Union { start, len } => self.pieces.get(start as usize..(start + len) as usize).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// Emits the computation of a word. Returns an `i32`.
    pub(crate) fn value(&mut self, word: Word) -> Value {
        match word {
            Word::Const(value) => self.b.ins().iconst(I32, i64::from(value)),
            Word::Value(value, _) => value,
            Word::StoreAddress { pointer, plus, .. } => {
                let offset = self.b.ins().isub(pointer, self.machine);
                let offset = self.b.ins().ireduce(I32, offset);
                self.b.ins().iadd_imm_u(offset, i64::from(plus))
            }
            Word::Flags { .. } => {
                let flags = self.flags(word, u32::MAX);
                self.value(flags)
            }
            Word::Truth { value, at } => {
                let wide = self.b.ins().uextend(I32, value);
                if at == 0 { wide } else { self.b.ins().ishl_imm_u(wide, i64::from(at)) }
            }
            Word::Union { start, len } => {
                let mut all = None;
                for k in start..start + len {
                    let Some(&piece) = self.pieces.get(k as usize) else { continue };
                    let piece = self.value(piece);
                    all = Some(all.map_or(piece, |all| self.b.ins().bor(all, piece)));
                }
                all.unwrap_or_else(|| self.b.ins().iconst(I32, 0))
            }
        }
    }

    /// Returns a Cranelift value that is nonzero if and only if the word is nonzero.
    pub(crate) fn condition(&mut self, word: Word) -> Value {
        match word {
            Word::Truth { value, .. } => value,
            _ => self.value(word),
        }
    }

    /// Negates a truth value.
    pub(crate) fn not(&mut self, truth: Value) -> Value {
        let dfg = &self.b.func.dfg;
        if let ValueDef::Result(inst, _) = dfg.value_def(truth)
            && let InstructionData::IntCompare { cond, args: [a, b], .. } = dfg.insts[inst]
        {
            return self.b.ins().icmp(cond.complement(), a, b);
        }
        self.b.ins().bxor_imm_u(truth, 1)
    }

    /// Applies a function to each word of a union. Returns the union of the results.
    fn each_piece(&mut self, word: Word, f: impl Fn(&mut Self, Word) -> Word) -> Word {
        let Word::Union { start, len } = word else { return f(self, word) };
        let mut result = Word::Const(0);
        for k in start..start + len {
            let Some(&piece) = self.pieces.get(k as usize) else { continue };
            let piece = f(self, piece);
            result = self.union(result, piece);
        }
        result
    }

    /// Returns the union `a | b` of two words without common set bits.
    pub(crate) fn union(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Const(0), word) | (word, Word::Const(0)) => return word,
            (Word::Const(a), Word::Const(b)) => return Word::Const(a | b),
            _ => {}
        }
        let start = self.pieces.len() as u32;
        for word in [a, b] {
            match word {
                Word::Union { start, len } => {
                    self.pieces.extend_from_within(start as usize..(start + len) as usize);
                }
                word => self.pieces.push(word),
            }
        }
        Word::Union { start, len: self.pieces.len() as u32 - start }
    }

    /// Computes `word & mask`.
    pub(crate) fn and_mask(&mut self, word: Word, mask: u32) -> Word {
        let may = self.mask_of(word);
        if may & mask == 0 {
            return Word::Const(0);
        }
        if may & !mask == 0 {
            return word;
        }
        match word {
            Word::Flags { .. } => self.flags(word, mask),
            Word::Const(value) => Word::Const(value & mask),
            Word::Truth { .. } => word,
            Word::Union { .. } => self.each_piece(word, |e, piece| e.and_mask(piece, mask)),
            Word::StoreAddress { .. } => {
                let value = self.value(word);
                Word::Value(self.b.ins().band_imm_u(value, i64::from(mask)), ValueFacts::within(may & mask))
            }
            Word::Value(value, _) => {
                let mut value = value;
                if let Some(LowSum { sum, low, added }) = self.low_sum
                    && sum == value
                    && mask <= 0xffff
                {
                    // A pointer stays within the data store, so the sum does not carry into the high half.
                    if let (Word::StoreAddress { pointer, plus, align }, Word::Const(step), 0xffff) = (low, added, mask)
                    {
                        let align = (align | step) & (align | step).wrapping_neg();
                        return Word::StoreAddress { pointer, plus: plus + step, align };
                    }
                    let (low, added) = (self.value(low), self.value(added));
                    value = self.b.ins().iadd(low, added);
                }
                Word::Value(self.b.ins().band_imm_u(value, i64::from(mask)), ValueFacts::within(may & mask))
            }
        }
    }

    /// Reads those bits of a shifted `$c` that `mask` selects.
    fn flags(&mut self, word: Word, mask: u32) -> Word {
        let Word::Flags { n, down } = word else { return word };
        let mut all = Word::Const(0);
        for (part, bits) in self.flag_variables.get(usize::from(n & 3)).copied().into_iter().flatten().zip(FLAG_GROUPS)
        {
            if bits >> down & mask == 0 {
                continue;
            }
            let value = self.b.use_var(part);
            let part = if bits.is_power_of_two() {
                Word::Truth { value, at: bits.trailing_zeros() as u8 }
            } else {
                Word::Value(value, ValueFacts::within(bits))
            };
            let part = self.word_shr(part, Word::Const(down.into()));
            let part = self.and_mask(part, mask);
            all = self.union(all, part);
        }
        all
    }

    /// Returns the low half of an address register's value. Returns `None` if the two halves are
    /// not separate words of a union.
    fn low_half(&mut self, word: Word) -> Option<Word> {
        let apart = |&piece: &Word| {
            let mask = self.mask_of(piece);
            mask & 0xffff == 0 || mask <= 0xffff
        };
        let is_apart = matches!(word, Word::Union { .. }) && self.pieces_of(word).iter().all(apart);
        is_apart.then(|| self.and_mask(word, 0xffff))
    }

    fn shift(
        &mut self,
        a: Word,
        count: Word,
        concrete: fn(&mut Concrete, u32, u32) -> u32,
        known: impl FnOnce(&mut Self, u32) -> Word,
        other: impl FnOnce(&mut Self, Value, Value) -> Value,
    ) -> Word {
        match (a, count) {
            (Word::Const(a), Word::Const(count)) => Word::Const(concrete(&mut Concrete, a, count)),
            (a, Word::Const(count)) if count & 31 == 0 => a,
            (_, Word::Const(count)) => known(self, count & 31),
            _ => {
                let (a, count) = (self.value(a), self.value(count));
                Word::Value(other(self, a, count), ValueFacts::NOTHING)
            }
        }
    }

    pub(crate) fn word_shl(&mut self, a: Word, count: Word) -> Word {
        let by = |e: &mut Self, count: u32| {
            e.each_piece(a, |e, piece| match piece {
                Word::Const(value) => Word::Const(value << count),
                Word::Truth { value, at } if u32::from(at) + count < 32 => Word::Truth { value, at: at + count as u8 },
                Word::Truth { .. } => Word::Const(0),
                piece => {
                    let (mask, (low, high)) = (e.mask_of(piece), e.range_of(piece));
                    let value = e.value(piece);
                    let value = e.b.ins().ishl_imm_u(value, i64::from(count));
                    Word::Value(
                        value,
                        ValueFacts { mask: mask << count, ..ValueFacts::between(low << count, high << count) },
                    )
                }
            })
        };
        self.shift(a, count, Concrete::shl, by, |e, a, count| e.b.ins().ishl(a, count))
    }

    pub(crate) fn word_shr(&mut self, a: Word, count: Word) -> Word {
        let by = |e: &mut Self, count: u32| {
            e.each_piece(a, |e, piece| match (piece, e.mask_of(piece) >> count) {
                (_, 0) => Word::Const(0),
                (Word::Const(value), _) => Word::Const(value >> count),
                (Word::Flags { n, down }, _) => Word::Flags { n, down: down + count as u8 },
                (Word::Truth { value, at }, _) => Word::Truth { value, at: at - count as u8 },
                (piece, mask) => {
                    let value = e.value(piece);
                    Word::Value(e.b.ins().ushr_imm_u(value, i64::from(count)), ValueFacts::within(mask))
                }
            })
        };
        self.shift(a, count, Concrete::shr, by, |e, a, count| e.b.ins().ushr(a, count))
    }

    pub(crate) fn word_sar(&mut self, a: Word, count: Word) -> Word {
        let by = |e: &mut Self, count: u32| {
            let (low, high) = e.range_of(a);
            let value = e.value(a);
            let value = e.b.ins().sshr_imm_u(value, i64::from(count));
            Word::Value(value, ValueFacts::between(low >> count, high >> count))
        };
        self.shift(a, count, Concrete::sar, by, |e, a, count| e.b.ins().sshr(a, count))
    }

    pub(crate) fn word_add(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Const(a), Word::Const(b)) => return Word::Const(a.wrapping_add(b)),
            (word, Word::Const(0)) | (Word::Const(0), word) => return word,
            _ => {}
        }
        let ((a_low, a_high), (b_low, b_high)) = (self.range_of(a), self.range_of(b));
        let low = self.low_half(a);
        let (x, y) = (self.value(a), self.value(b));
        let sum = self.b.ins().iadd(x, y);
        if let Some(low) = low {
            self.low_sum = Some(LowSum { sum, low, added: b });
        }
        Word::Value(sum, ValueFacts::between(a_low + b_low, a_high + b_high))
    }

    pub(crate) fn word_sub(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Const(a), Word::Const(b)) => return Word::Const(a.wrapping_sub(b)),
            (word, Word::Const(0)) => return word,
            _ => {}
        }
        let ((a_low, a_high), (b_low, b_high)) = (self.range_of(a), self.range_of(b));
        let (x, y) = (self.value(a), self.value(b));
        Word::Value(self.b.ins().isub(x, y), ValueFacts::between(a_low - b_high, a_high - b_low))
    }

    pub(crate) fn word_mul(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Const(a), Word::Const(b)) => return Word::Const(a.wrapping_mul(b)),
            (_, Word::Const(0)) | (Word::Const(0), _) => return Word::Const(0),
            (word, Word::Const(1)) | (Word::Const(1), word) => return word,
            _ => {}
        }
        let mask = match (a, b) {
            // The product of a truth value and a constant is either 0 or the constant.
            (Word::Truth { at: 0, .. }, Word::Const(c)) | (Word::Const(c), Word::Truth { at: 0, .. }) => c,
            _ => u32::MAX,
        };
        let ((a_low, a_high), (b_low, b_high)) = (self.range_of(a), self.range_of(b));
        let corners = [a_low * b_low, a_low * b_high, a_high * b_low, a_high * b_high];
        let (low, high) = corners.iter().fold((i64::MAX, i64::MIN), |(low, high), &c| (low.min(c), high.max(c)));
        let (x, y) = (self.value(a), self.value(b));
        let known = ValueFacts::between(low, high);
        Word::Value(self.b.ins().imul(x, y), ValueFacts { mask: known.mask & mask, ..known })
    }

    pub(crate) fn word_equal(&mut self, a: Word, b: Word) -> Word {
        match (a, b) {
            (Word::Const(a), Word::Const(b)) => return Word::Const((a == b).into()),
            (Word::Truth { value, .. }, Word::Const(0)) | (Word::Const(0), Word::Truth { value, .. }) => {
                return Word::Truth { value: self.not(value), at: 0 };
            }
            _ => {}
        }
        let (a, b) = (self.value(a), self.value(b));
        Word::Truth { value: self.b.ins().icmp(IntCC::Equal, a, b), at: 0 }
    }

    pub(crate) fn word_less(&mut self, signed: bool, a: Word, b: Word) -> Word {
        if let (Word::Const(a), Word::Const(b)) = (a, b) {
            return Word::Const(Concrete.less(signed, a, b));
        }
        let (a, b) = (self.value(a), self.value(b));
        let less = if signed { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
        Word::Truth { value: self.b.ins().icmp(less, a, b), at: 0 }
    }

    pub(crate) fn word_select(&mut self, p: Word, a: Word, b: Word) -> Word {
        match (p, a, b) {
            (Word::Const(0), _, b) => return b,
            (Word::Const(_), a, _) => return a,
            (Word::Truth { value, .. }, Word::Const(bit), Word::Const(0)) if bit.is_power_of_two() => {
                return Word::Truth { value, at: bit.trailing_zeros() as u8 };
            }
            (Word::Truth { value, .. }, Word::Const(0), Word::Const(bit)) if bit.is_power_of_two() => {
                return Word::Truth { value: self.not(value), at: bit.trailing_zeros() as u8 };
            }
            _ => {}
        }
        let ((a_low, a_high), (b_low, b_high)) = (self.range_of(a), self.range_of(b));
        let mask = self.mask_of(a) | self.mask_of(b);
        let p = self.condition(p);
        let (x, y) = (self.value(a), self.value(b));
        let known = ValueFacts::between(a_low.min(b_low), a_high.max(b_high));
        Word::Value(self.b.ins().select(p, x, y), ValueFacts { mask, ..known })
    }

    pub(crate) fn word_logic(&mut self, table: Logic, a: Word, b: Word) -> Word {
        match (table, a, b) {
            (_, Word::Const(a), Word::Const(b)) => return Word::Const(Concrete.logic(table, a, b)),
            (Logic::AND, word, Word::Const(mask)) | (Logic::AND, Word::Const(mask), word) => {
                return self.and_mask(word, mask);
            }
            (Logic::OR, a, b) if self.mask_of(a) & self.mask_of(b) == 0 => return self.union(a, b),
            (Logic::XOR, Word::Truth { value, at }, Word::Const(c)) if c == 1 << at => {
                return Word::Truth { value: self.not(value), at };
            }
            _ => {}
        }
        let (may_a, may_b) = (self.mask_of(a), self.mask_of(b));
        let mask = match table {
            Logic::AND => may_a & may_b,
            Logic::OR | Logic::XOR => may_a | may_b,
            Logic::AND_NOT => may_a,
            _ => u32::MAX,
        };
        let (x, y) = (self.value(a), self.value(b));
        Word::Value(self.table(table, x, y), ValueFacts::within(mask))
    }
}
