//! Code generation domain: evaluating an instruction's semantics on an [`Emitter`] emits Cranelift instructions.

mod access;
mod masks;
pub(super) mod registers;
pub(super) mod wide;
mod words;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8X16, I16X8, I32, I32X4};
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, SigRef, Type, Value};
use cranelift_frontend::{FunctionBuilder, Variable};
use halfbyte_isa::vp1::concrete::Concrete;
use halfbyte_isa::vp1::domain::{ByteKind, ByteOp, Domain, Logic};

use super::host::HostFunctions;
use masks::Mask;
use wide::Wide;
use words::{LowSum, Word};

/// Bit masks of a condition register `$c`. Native code writes and tests the bits of a group
/// together. A group of one bit is held as a truth value.
const FLAG_GROUPS: [u32; 12] =
    [1 << 0, 1 << 1, 1 << 2, 1 << 3, 3 << 4, 1 << 6, 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 13, 0xd800];

/// The function under construction, and the state of the current bundle.
pub(super) struct Emitter<'a, 'f> {
    pub b: &'a mut FunctionBuilder<'f>,
    /// Address of the machine state.
    pub machine: Value,
    pub host: &'static HostFunctions,
    /// Cranelift signature of the host functions, imported on first use.
    pub host_signature: Option<SigRef>,
    /// Cranelift variables of the bit groups of each `$c`.
    pub flag_variables: [[Variable; FLAG_GROUPS.len()]; 4],
    /// The 32-bit words that deferred unions combine by OR. The words are valid until the next
    /// bundle.
    pub pieces: Vec<Word>,
    pub low_sum: Option<LowSum>,
}

/// A vector of sixteen bytes.
#[derive(Clone, Copy)]
pub(super) enum Bytes {
    /// A vector of constant bytes.
    Const([u8; 16]),
    /// An `i8x16` value, which is computed at run time.
    Value(Value),
}

impl<'a, 'f> Emitter<'a, 'f> {
    pub(super) fn new(b: &'a mut FunctionBuilder<'f>, machine: Value, host: &'static HostFunctions) -> Emitter<'a, 'f> {
        Emitter {
            b,
            machine,
            host,
            host_signature: None,
            flag_variables: [[Variable::from_u32(0); FLAG_GROUPS.len()]; 4],
            pieces: Vec::new(),
            low_sum: None,
        }
    }

    /// Starts a bundle: discards the deferred unions of the previous bundle.
    pub(super) fn start_bundle(&mut self) {
        self.pieces.clear();
        self.low_sum = None;
    }

    /// Emits a constant vector of type `ty`.
    pub(super) fn vector(&mut self, ty: Type, bytes: [u8; 16]) -> Value {
        let constant = self.b.func.dfg.constants.insert(bytes.as_slice().into());
        self.b.ins().vconst(ty, constant)
    }

    /// Emits a constant vector of type `ty` with `number` in every component.
    pub(super) fn vector_of(&mut self, ty: Type, number: i64) -> Value {
        let lane = ty.lane_type().bytes() as usize;
        let number = number.to_le_bytes();
        self.vector(ty, std::array::from_fn(|i| number.get(i % lane).copied().unwrap_or(0)))
    }

    /// Reinterprets the bits of a 128-bit value as another type.
    pub(super) fn cast(&mut self, ty: Type, value: Value) -> Value {
        if self.b.func.dfg.value_type(value) == ty {
            return value;
        }
        self.b.ins().bitcast(ty, MemFlagsData::new().with_endianness(Endianness::Little), value)
    }

    /// Returns the bytes as an `i8x16`.
    pub(super) fn bytes_value(&mut self, bytes: Bytes) -> Value {
        match bytes {
            Bytes::Const(bytes) => self.vector(I8X16, bytes),
            Bytes::Value(value) => value,
        }
    }

    /// Applies a truth table of two inputs to each pair of bits.
    pub(super) fn table(&mut self, table: Logic, x: Value, y: Value) -> Value {
        let negated = table.table() & 1 != 0;
        let value = match if negated { !table.table() & 0xf } else { table.table() } {
            0b0010 => self.b.ins().band_not(y, x),
            0b0100 => self.b.ins().band_not(x, y),
            0b0110 => self.b.ins().bxor(x, y),
            0b1000 => self.b.ins().band(x, y),
            0b1010 => y,
            0b1100 => x,
            0b1110 => self.b.ins().bor(x, y),
            _ => self.b.ins().bxor(x, x),
        };
        if negated { self.b.ins().bnot(value) } else { value }
    }

    /// Selects bytes of two vectors by constant indices. The indices are those of [`Domain::swizzle`].
    pub(super) fn shuffle(&mut self, a: Value, b: Value, index: [u8; 16]) -> Value {
        let (a, b) = (self.cast(I8X16, a), self.cast(I8X16, b));
        let index = index.map(|i| i & 31);
        let index = self.b.func.dfg.immediates.push(index.as_slice().into());
        self.b.ins().shuffle(a, b, index)
    }

    fn compare_bytes(&mut self, cond: IntCC, a: Value, b: Value) -> Mask {
        Mask::Bytes(self.b.ins().icmp(cond, a, b))
    }
}

const NONE: Mask = Mask::Bits(Word::Const(0));

#[rustfmt::skip]
impl Domain for Emitter<'_, '_> {
    type Word = Word;
    type Bytes = Bytes;
    type Wide = Wide;
    type Mask = Mask;

    fn word(&mut self, value: u32) -> Word { Word::Const(value) }
    fn logic(&mut self, table: Logic, a: Word, b: Word) -> Word { self.word_logic(table, a, b) }
    fn shl(&mut self, a: Word, count: Word) -> Word { self.word_shl(a, count) }
    fn shr(&mut self, a: Word, count: Word) -> Word { self.word_shr(a, count) }
    fn sar(&mut self, a: Word, count: Word) -> Word { self.word_sar(a, count) }
    fn add(&mut self, a: Word, b: Word) -> Word { self.word_add(a, b) }
    fn sub(&mut self, a: Word, b: Word) -> Word { self.word_sub(a, b) }
    fn mul(&mut self, a: Word, b: Word) -> Word { self.word_mul(a, b) }
    fn equal(&mut self, a: Word, b: Word) -> Word { self.word_equal(a, b) }
    fn less(&mut self, signed: bool, a: Word, b: Word) -> Word { self.word_less(signed, a, b) }
    fn select(&mut self, p: Word, a: Word, b: Word) -> Word { self.word_select(p, a, b) }

    fn bytes(&mut self, value: [u8; 16]) -> Bytes { Bytes::Const(value) }
    fn bytes_of_words(&mut self, words: [Word; 4]) -> Bytes {
        let known = words.map(|word| if let Word::Const(value) = word { Some(value) } else { None });
        if let [Some(a), Some(b), Some(c), Some(d)] = known {
            return Bytes::Const(Concrete.bytes_of_words([a, b, c, d]));
        }
        let [first, rest @ ..] = words;
        let first = self.value(first);
        let mut vector = self.b.ins().scalar_to_vector(I32X4, first);
        for (k, word) in (1u8..).zip(rest) {
            if let Word::Const(0) = word {
                continue;
            }
            let word = self.value(word);
            vector = self.b.ins().insertlane(vector, word, k);
        }
        Bytes::Value(self.cast(I8X16, vector))
    }
    fn word_of(&mut self, a: Bytes, k: u8) -> Word {
        match a {
            Bytes::Const(bytes) => Word::Const(Concrete.word_of(bytes, k)),
            Bytes::Value(value) => {
                let words = self.cast(I32X4, value);
                let word = self.b.ins().extractlane(words, k & 3);
                self.any(word)
            }
        }
    }
    fn with_word(&mut self, a: Bytes, k: u8, word: Word) -> Bytes {
        let (a, word) = (self.bytes_value(a), self.value(word));
        let words = self.cast(I32X4, a);
        let words = self.b.ins().insertlane(words, word, k & 3);
        Bytes::Value(self.cast(I8X16, words))
    }
    fn bytes_logic(&mut self, table: Logic, a: Bytes, b: Bytes) -> Bytes {
        if let (Bytes::Const(a), Bytes::Const(b)) = (a, b) {
            return Bytes::Const(Concrete.bytes_logic(table, a, b));
        }
        let (a, b) = (self.bytes_value(a), self.bytes_value(b));
        Bytes::Value(self.table(table, a, b))
    }
    fn swizzle(&mut self, a: Bytes, b: Bytes, index: Bytes) -> Bytes {
        let (a, b) = (self.bytes_value(a), self.bytes_value(b));
        let index = match index {
            Bytes::Const(index) => return Bytes::Value(self.shuffle(a, b, index)),
            Bytes::Value(index) => index,
        };
        // Cranelift's `swizzle` gives 0 for an index out of range, so the OR of the results for
        // both vectors is the swizzle of the pair.
        let (low, sixteen) = (self.vector_of(I8X16, 31), self.vector_of(I8X16, 16));
        let first = self.b.ins().band(index, low);
        let second = self.b.ins().isub(first, sixteen);
        let (a, b) = (self.b.ins().swizzle(a, first), self.b.ins().swizzle(b, second));
        Bytes::Value(self.b.ins().bor(a, b))
    }
    fn narrow(&mut self, a: Wide) -> Bytes { self.wide_narrow(a) }

    fn splat(&mut self, a: Word) -> Wide { self.wide_splat(a) }
    fn widen(&mut self, signed: bool, a: Bytes) -> Wide { self.wide_of_bytes(signed, a) }
    fn wide_add(&mut self, a: Wide, b: Wide) -> Wide { self.add_wide(a, b) }
    fn wide_sub(&mut self, a: Wide, b: Wide) -> Wide { self.sub_wide(a, b) }
    fn wide_mul(&mut self, a: Wide, b: Wide) -> Wide { self.mul_wide(a, b) }
    fn wide_shl(&mut self, a: Wide, count: u32) -> Wide { self.shl_wide(a, count) }
    fn wide_sar(&mut self, a: Wide, count: u32) -> Wide { self.sar_wide(a, count) }
    fn wide_sar_each(&mut self, a: Wide, counts: Wide) -> Wide { self.sar_wide_each(a, counts) }
    fn wide_min(&mut self, a: Wide, b: Wide) -> Wide { self.min_wide(a, b) }
    fn wide_max(&mut self, a: Wide, b: Wide) -> Wide { self.max_wide(a, b) }
    fn wide_select(&mut self, p: Mask, a: Wide, b: Wide) -> Wide { self.select_wide(p, a, b) }

    fn wide_equal(&mut self, a: Wide, b: Wide) -> Mask { self.compare_wide(IntCC::Equal, a, b) }
    fn wide_less(&mut self, a: Wide, b: Wide) -> Mask { self.compare_wide(IntCC::SignedLessThan, a, b) }
    fn mask_logic(&mut self, table: Logic, a: Mask, b: Mask) -> Mask { self.logic_masks(table, a, b) }
    fn mask_shuffle(&mut self, a: Mask, b: Mask, index: &[u8; 16]) -> Mask { self.shuffle_masks(a, b, index) }
    fn mask(&mut self, bits: Word) -> Mask { Mask::Bits(bits) }
    fn mask_bits(&mut self, a: Mask) -> Word { self.bits_of_mask(a) }

    fn byte_op(&mut self, op: ByteOp, a: Bytes, b: Bytes) -> (Bytes, Mask) {
        let ByteOp { kind, signed } = op;
        if kind == ByteKind::ShiftRight {
            return halfbyte_isa::vp1::domain::components(self, op, a, b);
        }
        let (x, y) = (self.bytes_value(a), self.bytes_value(b));
        let zero = self.vector_of(I8X16, 0);
        let negative = |e: &mut Self, result: Value| e.compare_bytes(IntCC::SignedLessThan, result, zero);
        let (result, sign) = match (kind, signed) {
            (ByteKind::Min, true) => {
                let result = self.b.ins().smin(x, y);
                (result, negative(self, result))
            }
            (ByteKind::Max, true) => {
                let result = self.b.ins().smax(x, y);
                (result, negative(self, result))
            }
            (ByteKind::Min, false) => (self.b.ins().umin(x, y), NONE),
            (ByteKind::Max, false) => (self.b.ins().umax(x, y), NONE),
            (ByteKind::Abs, true) => {
                let (result, most) = (self.b.ins().iabs(x), self.vector_of(I8X16, 0x7f));
                (self.b.ins().umin(result, most), NONE)
            }
            (ByteKind::Abs, false) => (x, NONE),
            (ByteKind::Neg, true) => (self.b.ins().ssub_sat(zero, x), self.compare_bytes(IntCC::SignedGreaterThan, x, zero)),
            (ByteKind::Neg, false) => (zero, self.compare_bytes(IntCC::NotEqual, x, zero)),
            (ByteKind::Add, true) => {
                let result = self.b.ins().sadd_sat(x, y);
                (result, negative(self, result))
            }
            (ByteKind::Add, false) => {
                let (result, sum) = (self.b.ins().uadd_sat(x, y), self.b.ins().iadd(x, y));
                (result, self.compare_bytes(IntCC::NotEqual, result, sum))
            }
            (ByteKind::Sub, true) => {
                let result = self.b.ins().ssub_sat(x, y);
                (result, negative(self, result))
            }
            (ByteKind::Sub | ByteKind::ShiftRight, false) | (ByteKind::ShiftRight, true) => {
                let result = self.b.ins().usub_sat(x, y);
                (result, self.compare_bytes(IntCC::UnsignedLessThan, x, y))
            }
        };
        (Bytes::Value(result), sign)
    }
}

/// The vector type of eight 16-bit components. `WORDS` is that of four 32-bit components.
pub(super) const HALVES: Type = I16X8;
pub(super) const WORDS: Type = I32X4;
pub(super) const WORD: Type = I32;
