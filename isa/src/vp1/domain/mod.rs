//! The interface of bundle semantics: the values on which semantics is computed, the state that it
//! reads and the effects that it returns.
//!
//! As on HALU, the semantics is a pure function over a [`Domain`]: plain integers in the
//! interpreter, values of the code generator in a native engine. The function covers a whole
//! bundle, because all instructions of a bundle read the state before any of them changes it.

pub(super) mod expand;

pub use expand::components;

use arrayvec::ArrayVec;

/// The value types of an execution engine and the primitive operations on them. All operations are total.
///
/// Component 0 of a vector is the lowest byte of the register. A single predicate is a word that is 0 or 1.
pub trait Domain: Sized {
    /// A 32-bit word: the value of an `$r`, `$a`, `$m` or `$x` register, or the zero-extended value
    /// of a `$c` or `$l` register.
    type Word: Copy;
    /// Sixteen bytes: the value of a `$v` register or of `$vx`.
    type Bytes: Copy;
    /// Sixteen 32-bit integers, one per component: `$va`, and intermediate values of vector instructions.
    type Wide: Copy;
    /// Sixteen predicates, one per component: the sign flags or the zero flags of a `$vc` register.
    type Mask: Copy;

    // Operations on words.
    /// Returns a constant.
    fn word(&mut self, value: u32) -> Self::Word;
    /// Applies a truth table to each bit of `a` and `b`.
    fn logic(&mut self, table: Logic, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a << count`, with the count modulo 32.
    fn shl(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// Returns the logical shift `a >> count`, with the count modulo 32.
    fn shr(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// Returns the arithmetic shift `a >> count`, with the count modulo 32.
    fn sar(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// Returns `a + b` modulo 2^32.
    fn add(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a - b` modulo 2^32.
    fn sub(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a * b` modulo 2^32.
    fn mul(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns 1 if `a == b`, else 0.
    fn equal(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns 1 if `a < b` for signed or unsigned integers, else 0.
    fn less(&mut self, signed: bool, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `p ? a : b`.
    fn select(&mut self, p: Self::Word, a: Self::Word, b: Self::Word) -> Self::Word;

    // Operations on byte vectors.
    /// Returns a constant.
    fn bytes(&mut self, value: [u8; 16]) -> Self::Bytes;
    /// Concatenates four little-endian words, the first in bytes 0 to 3.
    fn bytes_of_words(&mut self, words: [Self::Word; 4]) -> Self::Bytes;
    /// Returns word `k`, 0 to 3, of a vector.
    fn word_of(&mut self, a: Self::Bytes, k: u8) -> Self::Word;
    /// Returns `a` with word `k`, 0 to 3, replaced.
    fn with_word(&mut self, a: Self::Bytes, k: u8, word: Self::Word) -> Self::Bytes;
    /// Applies a truth table to each bit of `a` and `b`.
    fn bytes_logic(&mut self, table: Logic, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    /// Selects bytes. The low 5 bits of byte i of `index` give the number of the byte that becomes
    /// byte i of the result. Numbers 0 to 15 are the bytes of `a`, and 16 to 31 those of `b`.
    fn swizzle(&mut self, a: Self::Bytes, b: Self::Bytes, index: Self::Bytes) -> Self::Bytes;
    /// Truncates each component to 8 bits.
    fn narrow(&mut self, a: Self::Wide) -> Self::Bytes;

    // Operations on wide vectors.
    /// Broadcasts a word to all components.
    fn splat(&mut self, a: Self::Word) -> Self::Wide;
    /// Sign-extends or zero-extends each byte.
    fn widen(&mut self, signed: bool, a: Self::Bytes) -> Self::Wide;
    /// Returns `a + b` modulo 2^32.
    fn wide_add(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Returns `a - b` modulo 2^32.
    fn wide_sub(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Returns `a * b` modulo 2^32.
    fn wide_mul(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Returns `a << count`, for a count from 0 to 31.
    fn wide_shl(&mut self, a: Self::Wide, count: u32) -> Self::Wide;
    /// Returns the arithmetic shift `a >> count`, for a count from 0 to 31.
    fn wide_sar(&mut self, a: Self::Wide, count: u32) -> Self::Wide;
    /// Returns the arithmetic shift `a >> counts`, where each component has its own count from 0 to 15.
    fn wide_sar_each(&mut self, a: Self::Wide, counts: Self::Wide) -> Self::Wide;
    /// Returns the minimum of signed components.
    fn wide_min(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Returns the maximum of signed components.
    fn wide_max(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Returns `p ? a : b`.
    fn wide_select(&mut self, p: Self::Mask, a: Self::Wide, b: Self::Wide) -> Self::Wide;

    // Operations on masks.
    /// Compares components: `a == b`.
    fn wide_equal(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Mask;
    /// Compares signed components: `a < b`.
    fn wide_less(&mut self, a: Self::Wide, b: Self::Wide) -> Self::Mask;
    /// Applies a truth table to each predicate of `a` and `b`.
    fn mask_logic(&mut self, table: Logic, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Selects predicates: predicate i of the result is number `index[i]` among the predicates of
    /// `a` (0 to 15) and `b` (16 to 31).
    fn mask_shuffle(&mut self, a: Self::Mask, b: Self::Mask, index: &[u8; 16]) -> Self::Mask;
    /// Converts bits 0 to 15 of a word to a mask; the other bits are ignored.
    fn mask(&mut self, bits: Self::Word) -> Self::Mask;
    /// Converts a mask to bits 0 to 15 of a word; the other bits are 0.
    fn mask_bits(&mut self, a: Self::Mask) -> Self::Word;

    // Compound operations, which a domain may implement more efficiently.
    /// Applies a byte operation to each component. Also returns the sign flags ([`ByteOp`]).
    fn byte_op(&mut self, op: ByteOp, a: Self::Bytes, b: Self::Bytes) -> (Self::Bytes, Self::Mask) {
        expand::components(self, op, a, b)
    }
}

/// A Boolean function of two inputs `a` and `b`, as a truth table: the result is bit `2a + b` of the table.
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

    /// Returns the function with the truth table in the low four bits of `table`. Fields BITOP and
    /// CMPOP have the same encoding.
    pub const fn of_table(table: u8) -> Logic {
        Logic(table & 0xf)
    }

    /// Returns the truth table, which is below 16.
    pub const fn table(self) -> u8 {
        self.0
    }
}

/// An operation on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteKind {
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// `|a|`
    Abs,
    /// `-a`
    Neg,
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a >> n`, or `a << -n` if n is negative, where n is the signed low nibble of `b`, -8 to 7.
    ShiftRight,
}

/// An operation on signed or unsigned bytes. The exact result is saturated to the range of the bytes, except that the
/// result of a shift is truncated to 8 bits.
///
/// The sign flag of a signed operation is the sign of the result. The sign flag of an unsigned operation is set if the
/// exact result was out of range. The sign flag of a shift is bit 7 of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteOp {
    /// The operation.
    pub kind: ByteKind,
    /// `true` if the bytes are signed.
    pub signed: bool,
}

/// A register number, which may depend on the flags of a `$c` register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Index<W> {
    /// A number encoded in the instruction.
    Fixed(u8),
    /// The number `first + element`, where `first` is a multiple of 4 and `element` is below 4.
    InQuad {
        /// The first register of the quad.
        first: u8,
        /// The index within the quad.
        element: W,
    },
}

/// The layout of a vector's sixteen components in the data store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// A row: the aligned 16 bytes that contain the byte address.
    Horizontal,
    /// A column: one byte in each of sixteen rows. The stride code determines the distance of the rows.
    Vertical,
    /// One byte from each bank of the address's row: component i is in bank i. The stride code is ignored.
    Banks,
}

/// Read access to the state before the bundle.
///
/// An address is a 32-bit word in the layout of `$a`: the byte address in bits 0 to 12 and the
/// stride code in bits 30 and 31. The other bits are ignored.
pub trait Reader<D: Domain> {
    /// Returns the value of an `$r` register; `$r31` is 0.
    fn r(&mut self, domain: &mut D, n: Index<D::Word>) -> D::Word;
    /// Returns the value of a `$v` register.
    fn v(&mut self, domain: &mut D, n: Index<D::Word>) -> D::Bytes;
    /// Returns `$vx`.
    fn vx(&mut self, domain: &mut D) -> D::Bytes;
    /// Returns the components of `$va` modulo 2^28. An implementation may return any integers that
    /// wrap to the accumulator's 28-bit values.
    fn va(&mut self, domain: &mut D) -> D::Wide;
    /// Returns the sign flags and the zero flags of `$vc` register `n`, 0 to 3.
    fn vc(&mut self, domain: &mut D, n: u8) -> [D::Mask; 2];
    /// Returns the value of an `$a` register.
    fn a(&mut self, domain: &mut D, n: Index<D::Word>) -> D::Word;
    /// Returns the value of `$c` register `n`, 0 to 3.
    fn c(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// Returns the value of `$l` register `n`, 0 to 3.
    fn l(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// Returns the value of `$m` register `n`, 0 to 63.
    fn m(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// Returns the value of `$x` register `n`, 0 to 15.
    fn x(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// Returns `$uccfg`.
    fn uccfg(&mut self, domain: &mut D) -> D::Word;
    /// Loads a vector from the data store.
    fn load(&mut self, domain: &mut D, shape: Shape, address: D::Word) -> D::Bytes;
    /// Loads the aligned word of the data store that contains an address.
    fn load_word(&mut self, domain: &mut D, address: D::Word) -> D::Word;
    /// Loads component i from bank i. The row number is that of the address, ORed with component i of `rows`.
    fn gather(&mut self, domain: &mut D, address: D::Word, rows: D::Bytes) -> D::Bytes;
}

/// The effects of a bundle, for the values that the bundle has read.
pub struct Effects<D: Domain> {
    /// The writes, in order. If two writes are to the same register, the later one takes effect.
    pub writes: ArrayVec<Write<D>, MAX_WRITES>,
    /// The control flow after the bundle.
    pub next: Next<D::Word>,
}

/// Maximum number of writes of a bundle: three of the address unit, one of the scalar unit, two of
/// the vector unit, one of the branch unit, and three writes of flags to `$c`.
pub const MAX_WRITES: usize = 10;

/// A write to the state.
pub enum Write<D: Domain> {
    /// The new value of an `$r` register, never of `$r31`.
    R(u8, D::Word),
    /// The new value of a `$v` register.
    V(u8, D::Bytes),
    /// The new value of a `$v` register, which is written only if `when` is true.
    ConditionalV {
        /// The condition.
        when: D::Word,
        /// The register.
        index: Index<D::Word>,
        /// The new value.
        value: D::Bytes,
    },
    /// The new value of `$vx`.
    Vx(D::Bytes),
    /// The new value of `$va`. Each component wraps to a signed 28-bit integer.
    Va(D::Wide),
    /// The new sign flags and zero flags of a `$vc` register.
    Vc(u8, [D::Mask; 2]),
    /// The new value of an `$a` register.
    A(u8, D::Word),
    /// New values for the bits of a `$c` register that one unit writes; the other bits are unchanged.
    C {
        /// The number of the `$c` register.
        n: u8,
        /// The mask of the bits.
        group: u32,
        /// The new values of the bits; all other bits are 0.
        bits: D::Word,
    },
    /// The new value of an `$l` register in bits 0 to 15 of the word; the other bits are 0.
    L(u8, D::Word),
    /// The new value of an `$m` register.
    M(u8, D::Word),
    /// The new value of an `$x` register.
    X(u8, D::Word),
    /// The new value of `$uccfg`.
    Uccfg(D::Word),
    /// A store of a vector to the data store: its shape, its address and its value.
    Store(Shape, D::Word, D::Bytes),
    /// A store of an aligned 32-bit word to the data store: an address in the word, and the word's value.
    StoreWord(D::Word, D::Word),
}

/// The control flow after a bundle. A jump has one delay slot: the bundle that begins directly
/// after the instruction word of the jump. The reference does not say whether returns and exits
/// have a delay slot. In this model, a return has a delay slot, and an exit has no delay slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next<W> {
    /// Continues with the next bundle.
    Fall,
    /// Jumps to the target if the condition is true or absent.
    Jump {
        /// Branch or call.
        kind: Jump,
        /// The condition, or `None` if the jump is unconditional.
        taken: Option<W>,
        /// The target.
        target: Target,
    },
    /// Returns to the address on top of the call stack.
    Return,
    /// Ends the program, without a delay slot.
    Exit {
        /// The exit code.
        code: u16,
        /// `true` if the exit raises an interrupt.
        interrupt: bool,
    },
    /// Traps because the bundle has an instruction whose effect is unknown. The bundle has no writes.
    Trap(Unknown),
}

/// A kind of jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Jump {
    /// A branch.
    Branch,
    /// A call, which pushes the address of the word after the delay slot if the jump is taken.
    Call,
}

/// A branch target in lines. A line is an aligned group of four instruction words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A number of lines, relative to the line that contains the branch.
    Relative(i32),
    /// A line number.
    Absolute(u32),
}

/// Behaviour of the hardware that is unknown and therefore traps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// An instruction word with opcode 0xdb, whose effect is unknown.
    #[error("the effect of instruction word {0:#010x} is unknown")]
    Instruction(u32),
    /// A DMA instruction.
    #[error("the effect of DMA instructions is unknown")]
    Dma,
    /// A move from or to a register file that is not part of the modelled processor.
    #[error("the effect of a move from or to this register of register file {0} is unknown")]
    RegisterFile(u8),
}
