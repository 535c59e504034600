//! What the meaning of a bundle is made of: the values it computes with, the state it reads, and the effects it returns.
//!
//! As on HALU, a meaning is a pure function over a [`Domain`]: plain integers for the interpreter, values of a code generator
//! for an engine. Its unit is the bundle, all of whose instructions read the state before any of them changes it.

pub(super) mod expand;

pub use expand::components;

use arrayvec::ArrayVec;

/// The values of a machine and the primitive operations on them. Everything is total.
///
/// Component 0 of a vector is the lowest byte of the register. A truth value is the word 1 or 0.
pub trait Domain: Sized {
    /// A 32-bit word: `$r`, `$a`, `$m`, `$x`; and, zero-extended, `$c` and `$l`.
    type Word: Copy;
    /// Sixteen bytes: `$v`, `$vx`.
    type Bytes: Copy;
    /// Sixteen 32-bit integers, one a component: `$va`, and what vector instructions compute on the way.
    type Wide: Copy;
    /// Sixteen truth values, one a component: half of a `$vc`.
    type Mask: Copy;

    // Words.
    /// A constant.
    fn word(&mut self, value: u32) -> Self::Word;
    /// Each bit of `a` and `b` through a truth table.
    fn logic(&mut self, table: Logic, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a << count`, the count modulo 32.
    fn shl(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// `a >> count` bringing in zeros, the count modulo 32.
    fn shr(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// `a >> count` bringing in copies of the sign, the count modulo 32.
    fn sar(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// `a + b` modulo 2^32.
    fn add(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a - b` modulo 2^32.
    fn sub(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a * b` modulo 2^32.
    fn mul(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Whether `a == b`.
    fn equal(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Whether `a < b`, as signed or as unsigned integers.
    fn less(&mut self, signed: bool, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `p ? a : b`
    fn select(&mut self, p: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    // Bytes.
    /// A constant.
    fn bytes(&mut self, value: [u8; 16]) -> Self::Bytes;
    /// Four words, the first in bytes 0 to 3, little endian.
    fn bytes_of_words(&mut self, words: [Self::Word; 4]) -> Self::Bytes;
    /// Word `k`, 0 to 3, of a vector.
    fn word_of(&mut self, a: Self::Bytes, k: u8) -> Self::Word;
    /// `a` with its word `k`, 0 to 3, replaced.
    fn with_word(&mut self, a: Self::Bytes, k: u8, word: Self::Word) -> Self::Bytes;
    /// Each bit of `a` and `b` through a truth table.
    fn bytes_logic(&mut self, table: Logic, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    /// Byte i is the one that the low 5 bits of byte i of `index` number, among those of `a` (0 to 15) and `b` (16 to 31).
    fn swizzle(&mut self, a: Self::Bytes, b: Self::Bytes, index: Self::Bytes) -> Self::Bytes;
    /// The low 8 bits of each component.
    fn narrow(&mut self, a: Self::Wide) -> Self::Bytes;

    // Wide.
    /// The word in every component.
    fn splat(&mut self, a: Self::Word) -> Self::Wide;
    /// Each byte, sign- or zero-extended.
    fn widen(&mut self, signed: bool, a: Self::Bytes) -> Self::Wide;
    /// `a + b` modulo 2^32.
    fn wide_add(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// `a - b` modulo 2^32.
    fn wide_sub(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// `a * b` modulo 2^32.
    fn wide_mul(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// `a << count`, the count 0 to 31.
    fn wide_shl(&mut self, a: Self::Wide, count: u32) -> Self::Wide;
    /// `a >> count` bringing in copies of the sign, the count 0 to 31.
    fn wide_sar(&mut self, a: Self::Wide, count: u32) -> Self::Wide;
    /// `a >> counts` bringing in copies of the sign, each component by its own count, 0 to 15.
    fn wide_sar_each(&mut self, a: Self::Wide, counts: Self::Wide) -> Self::Wide;
    /// The lesser, as signed integers.
    fn wide_min(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// The greater, as signed integers.
    fn wide_max(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// `p ? a : b`
    fn wide_select(&mut self, p: Self::Mask, a: Self::Wide, b: Self::Wide) -> Self::Wide;

    // Masks.
    /// Whether `a == b`.
    fn wide_equal(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Mask;
    /// Whether `a < b`, as signed integers.
    fn wide_less(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Mask;
    /// Each truth value of `a` and `b` through a truth table.
    fn mask_logic(&mut self, table: Logic, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Truth value i is number `index[i]` of those of `a` (0 to 15) and `b` (16 to 31).
    fn mask_shuffle(&mut self, a: Self::Mask, b: Self::Mask, index: &[u8; 16]) -> Self::Mask;
    /// Bits 0 to 15 of a word; the others do not matter.
    fn mask(&mut self, bits: Self::Word) -> Self::Mask;
    /// The truth values as bits 0 to 15 of a word, the others 0.
    fn mask_bits(&mut self, a: Self::Mask) -> Self::Word;

    // What a domain may have a shorter way to say.
    /// A byte operation on each component, and the sign flags that it gives ([`ByteOp`]).
    fn byte_op(&mut self, op: ByteOp, a: Self::Bytes, b: Self::Bytes) -> (Self::Bytes, Self::Mask) {
        expand::components(self, op, a, b)
    }
}

/// A function of two truth values `a` and `b`: bit `2a + b` is its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Logic(u8);

impl Logic {
    /// `a & b`
    pub const AND: Logic = Logic(0b1000);
    /// `a | b`
    pub const OR: Logic = Logic(0b1110);
    /// `a ^ b`
    pub const XOR: Logic = Logic(0b0110);
    /// `a & !b`
    pub const AND_NOT: Logic = Logic(0b0100);
    /// `!(a & b)`
    pub const NAND: Logic = Logic(0b0111);
    /// `!a`
    pub const NOT: Logic = Logic(0b0011);

    /// The function of the table in the low four bits, as the fields BITOP and CMPOP encode it.
    pub const fn of_table(table: u8) -> Logic {
        Logic(table & 0xf)
    }

    /// The table, below 16.
    pub const fn table(self) -> u8 {
        self.0
    }
}

/// Which operation on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteKind {
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// `|a|`
    Abs,
    /// `-a`
    Neg,
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a >> n`, or `a << -n` where n is negative, n being the low nibble of `b`, -8 to 7.
    ShiftRight,
}

/// An operation on signed or unsigned bytes. Its exact result is clamped to their range, but for a shift's, which is truncated
/// to 8 bits. The sign flag is the sign of a signed result, whether the exact result of an unsigned one is out of range, and bit
/// 7 of a shift's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteOp {
    /// The operation.
    pub kind: ByteKind,
    /// The bytes are signed.
    pub signed: bool,
}

/// A register's number, which may depend on the flags of a `$c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index<W> {
    /// Written in the instruction.
    Fixed(u8),
    /// `first`, a multiple of 4, plus a word below 4.
    InQuad {
        /// The first register of the quad.
        first: u8,
        /// Which of its four.
        element: W,
    },
}

/// How the sixteen components of a vector lie in the data store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// In the 16 bytes around the address.
    Horizontal,
    /// In one column of the sixteen rows of a block, whose pitch is the stride.
    Vertical,
    /// Component i in bank i of the address's row; the stride does not count.
    Banks,
}

/// The state before the bundle.
///
/// An address is a word in the layout of `$a`: the byte address in bits 0 to 12 and the stride code in bits 30 and 31, the rest
/// not counting.
pub trait Reader<D: Domain> {
    /// A `$r`; `$r31` is 0.
    fn r(&mut self, domain: &mut D, n: Index<D::Word>) -> D::Word;
    /// A `$v`.
    fn v(&mut self, domain: &mut D, n: Index<D::Word>) -> D::Bytes;
    /// `$vx`.
    fn vx(&mut self, domain: &mut D) -> D::Bytes;
    /// `$va`, modulo 2^28: any integer that wraps to the accumulator will do.
    fn va(&mut self, domain: &mut D) -> D::Wide;
    /// The sign flags and the zero flags of `$vc0` to `$vc3`.
    fn vc(&mut self, domain: &mut D, n: u8) -> [D::Mask; 2];
    /// A `$a`.
    fn a(&mut self, domain: &mut D, n: Index<D::Word>) -> D::Word;
    /// `$c0` to `$c3`.
    fn c(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// `$l0` to `$l3`.
    fn l(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// `$m0` to `$m63`.
    fn m(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// `$x0` to `$x15`.
    fn x(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// `$uccfg`.
    fn uccfg(&mut self, domain: &mut D) -> D::Word;
    /// A vector of the data store.
    fn load(&mut self, domain: &mut D, shape: Shape, address: D::Word) -> D::Bytes;
    /// The word of the data store around an address.
    fn load_word(&mut self, domain: &mut D, address: D::Word) -> D::Word;
    /// Component i from bank i of the row that is the address's, its number or-ed with component i of `rows`.
    fn gather(&mut self, domain: &mut D, address: D::Word, rows: D::Bytes) -> D::Bytes;
}

/// What a bundle does, given what it read.
pub struct Effects<D: Domain> {
    /// The writes, to be made in order: where two go to one register, the later one wins.
    pub writes: ArrayVec<Write<D>, MAX_WRITES>,
    /// Where control goes.
    pub next: Next<D::Word>,
}

/// The most that a bundle writes: the address unit three places, the scalar unit one, the vector unit two, the branch unit one, and
/// three `$c`.
pub const MAX_WRITES: usize = 10;

/// A place and what it becomes.
pub enum Write<D: Domain> {
    /// A `$r`, never `$r31`.
    R(u8, D::Word),
    /// A `$v`.
    V(u8, D::Bytes),
    /// A `$v`, where `when` is true.
    VWhere {
        /// Whether.
        when: D::Word,
        /// Which.
        index: Index<D::Word>,
        /// What it becomes.
        value: D::Bytes,
    },
    /// `$vx`.
    Vx(D::Bytes),
    /// `$va`: each component is to wrap to a signed 28-bit integer.
    Va(D::Wide),
    /// A `$vc`: its sign flags and its zero flags.
    Vc(u8, [D::Mask; 2]),
    /// A `$a`.
    A(u8, D::Word),
    /// Bits of a `$c`, a unit's own; the others are kept.
    C {
        /// The number of the `$c`.
        n: u8,
        /// The bits, as a mask.
        group: u32,
        /// What they become; no other bits are set.
        bits: D::Word,
    },
    /// A `$l`: bits 0 to 15 of the word, the others 0.
    L(u8, D::Word),
    /// A `$m`.
    M(u8, D::Word),
    /// A `$x`.
    X(u8, D::Word),
    /// `$uccfg`.
    Uccfg(D::Word),
    /// A vector of the data store.
    Store(Shape, D::Word, D::Bytes),
    /// The word of the data store around an address.
    StoreWord(D::Word, D::Word),
}

/// Where control goes. Jumps leave after one more bundle, which begins right after their own word: the delay slot. No document says
/// whether returns and exits have one; here returns have, and exits do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<W> {
    /// To the following word.
    Fall,
    /// To the target, if the condition is true or there is none.
    Jump {
        /// Whether it comes back.
        kind: Jump,
        /// Under which condition.
        taken: Option<W>,
        /// To where.
        target: Target,
    },
    /// To the address popped.
    Return,
    /// The program is done, without a delay slot.
    Exit {
        /// The exit code.
        code: u16,
        /// An interrupt is asked for.
        interrupt: bool,
    },
    /// The bundle has an instruction whose effect is not known. It has no writes.
    Trap(Unknown),
}

/// Kinds of jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Jump {
    /// Does not come back.
    Branch,
    /// Pushes the address of the word after the delay slot, if taken.
    Call,
}

/// A branch target. A line is four words, aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The line this many lines after the one that holds the branch.
    Relative(i32),
    /// The line of this number.
    Absolute(u32),
}

/// What is not known about the machine, and so cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// A word of the one opcode that nothing is known of.
    #[error("what the word {0:#010x} does is not known")]
    Instruction(u32),
    /// DMA.
    #[error("what DMA instructions do is not known")]
    Dma,
    /// A register outside the processor.
    #[error("what a move from or to this register of register file {0} does is not known")]
    RegisterFile(u8),
}
