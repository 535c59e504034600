//! The interface of instruction semantics: the values on which semantics is computed, the state that it reads and the
//! effects that it returns.
//!
//! The semantics of an instruction is a pure function over a [`Domain`]: `u32` values in the interpreter, values of the
//! code generator in a native engine. The function reads all sources through a [`Reader`] and returns [`Effects`],
//! which the caller applies. An instruction whose destination is also a source therefore needs no special case.

mod divide;
pub(crate) mod exact;
pub(super) mod expand;
pub(crate) mod float;
pub(crate) mod wide;

pub use expand::{float_minmax, permute};
pub use float::{convert as convert_in_steps, double as double_in_steps, single as single_in_steps};

use arrayvec::ArrayVec;
use halfbyte_abi::Axis;

use super::{Inst, fields};
use crate::approx::Function;
use crate::atomic::AtomicOp;
use crate::half::{Compare, Format, HalfMode, Rounding};

/// The value types of an execution engine and the primitive operations on them. All operations are total.
///
/// An f32 is represented by a word that holds its bits. Arithmetic on f32 rounds to nearest even, keeps subnormals, and
/// returns `0x7FFF_FFFF` as the only NaN. A word with two packed halves holds lane 0 in bits 0..16 and lane 1 in bits
/// 16..32.
pub trait Domain: Sized {
    /// A 32-bit word.
    type Word: Copy;
    /// A predicate.
    type Pred: Copy;

    /// Returns a constant word.
    fn word(&mut self, value: u32) -> Self::Word;
    /// Returns a constant predicate.
    fn truth(&mut self, value: bool) -> Self::Pred;

    // Bitwise operations.
    /// Returns the bitwise and.
    fn and(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns the bitwise or.
    fn or(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns the bitwise exclusive or.
    fn xor(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns the bitwise complement.
    fn not(&mut self, a: Self::Word) -> Self::Word;

    // Shifts.
    /// Returns `a << count`, with the count modulo 32.
    fn shl(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// Returns the logical shift `a >> count`, with the count modulo 32.
    fn shr(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// Returns the arithmetic shift `a >> count`, with the count modulo 32.
    fn sar(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;

    // Integer operations.
    /// Returns `a + b` modulo 2^32.
    fn add(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a - b` modulo 2^32.
    fn sub(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a * b` modulo 2^32.
    fn mul(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns bits 32..64 of the 64-bit product.
    fn mul_high(&mut self, signed: bool, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns the quotient or the remainder of two words ([`Divide`]).
    fn divide(&mut self, op: Divide, a: Self::Word, b: Self::Word) -> Self::Word {
        divide::words(self, op, a, b)
    }
    /// Returns the quotient or the remainder of two 64-bit values, low word first.
    fn divide_wide(&mut self, op: Divide, a: [Self::Word; 2], b: [Self::Word; 2]) -> [Self::Word; 2] {
        divide::pairs(self, op, a, b)
    }
    /// Returns `a == b`.
    fn equal(&mut self, a: Self::Word, b: Self::Word) -> Self::Pred;
    /// Returns `a < b` for signed or unsigned integers.
    fn less(&mut self, signed: bool, a: Self::Word, b: Self::Word) -> Self::Pred;

    // Predicate operations.
    /// Returns `p && q`.
    fn both(&mut self, p: Self::Pred, q: Self::Pred) -> Self::Pred;
    /// Returns `p || q`.
    fn either(&mut self, p: Self::Pred, q: Self::Pred) -> Self::Pred;
    /// Returns `p != q`.
    fn differ(&mut self, p: Self::Pred, q: Self::Pred) -> Self::Pred;
    /// Returns `!p`.
    fn negate(&mut self, p: Self::Pred) -> Self::Pred;
    /// Returns `p ? a : b`.
    fn select(&mut self, p: Self::Pred, a: Self::Word, b: Self::Word) -> Self::Word;

    // Operations on f32.
    /// Returns `a + b`.
    fn fadd(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a * b`.
    fn fmul(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns `a * b + c` with one rounding.
    fn fma(&mut self, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word;
    /// Returns `a / b`, correctly rounded.
    fn fdiv(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Returns the square root of `a`, correctly rounded.
    fn fsqrt(&mut self, a: Self::Word) -> Self::Word;
    /// Returns a correctly rounded elementary function of `a`, as [`Function::single`] does.
    fn elementary(&mut self, function: Function, a: Self::Word) -> Self::Word;
    /// Compares two f32. Subnormals are not flushed.
    fn fcompare(&mut self, compare: Compare, a: Self::Word, b: Self::Word) -> Self::Pred;
    /// Converts an integer to the nearest f32.
    fn int_to_float(&mut self, signed: bool, a: Self::Word) -> Self::Word;
    /// Converts an f32 to an integer: truncates, then saturates. NaN gives 0.
    fn float_to_int(&mut self, signed: bool, a: Self::Word) -> Self::Word;
    /// Converts an f32 to a half in bits 0..16; the other bits are 0 ([`Format::narrow`]).
    fn narrow(&mut self, format: Format, rounding: Rounding, a: Self::Word) -> Self::Word;
    /// Converts the half in bits 0..16 to f32; the other bits are ignored ([`Format::widen`]).
    fn widen(&mut self, format: Format, a: Self::Word) -> Self::Word;

    // Operations on f32 with any rounding mode, on f64 as a pair of words (low word first), and conversions.
    /// Computes an operation on f32s. Operands beyond the operation's arity are ignored.
    fn single(&mut self, op: &FloatOp, operands: [Self::Word; 3]) -> Self::Word {
        float::single(self, op, operands)
    }
    /// Computes an operation on f64s. If operands are NaN, the result is the first NaN operand,
    /// made quiet. An invalid operation on numbers returns `0xFFF8_0000_0000_0000`.
    fn double(&mut self, op: &FloatOp, operands: [[Self::Word; 2]; 3]) -> [Self::Word; 2] {
        float::double(self, op, operands)
    }
    /// Compares two f64. Subnormals are not flushed.
    fn double_compare(&mut self, compare: Compare, a: [Self::Word; 2], b: [Self::Word; 2]) -> Self::Pred {
        float::double_compare(self, compare, a, b)
    }
    /// Returns the minimum or maximum of two f64, where -0 is less than +0. If one operand is NaN, the result is the
    /// other operand. If both operands are NaN, the result is the first NaN, made quiet.
    fn double_minmax(&mut self, min: Self::Pred, a: [Self::Word; 2], b: [Self::Word; 2]) -> [Self::Word; 2] {
        float::double_minmax(self, min, a, b)
    }
    /// Converts a value to another number format, as [`Conversion`] describes. The bits above the
    /// operand's width are ignored, and the bits above the result's width are zero.
    fn convert(&mut self, op: &Conversion, a: [Self::Word; 2]) -> [Self::Word; 2] {
        float::convert(self, op, a)
    }

    // Operations on packed halves. Half selection, absolute value and negation are already applied to the sources.
    /// Computes [`HalfMode::add`], [`HalfMode::mul`] or [`HalfMode::fma`] in both lanes. Only `fma` uses `c`.
    fn half(&mut self, op: &HalfOp, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word;
    /// Computes [`Format::min`] in both lanes if `min` is true, else [`Format::max`].
    fn half_minmax(&mut self, op: &HalfMinMax, min: Self::Pred, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Compares both lanes and returns the results of lane 0 and lane 1.
    fn half_compare(&mut self, op: &HalfCompare, a: Self::Word, b: Self::Word) -> [Self::Pred; 2];

    // Compound operations, which a domain may implement more efficiently.
    /// Computes an elementary function of each half: the f32 result of [`Domain::elementary`], rounded to nearest.
    fn half_elementary(&mut self, function: Function, format: Format, a: Self::Word) -> Self::Word {
        expand::half_elementary(self, function, format, a)
    }
    /// Returns the number of set bits.
    fn count_ones(&mut self, a: Self::Word) -> Self::Word {
        expand::count_ones(self, a)
    }
    /// Returns the number of zero bits above the highest set bit, or 32 for 0.
    fn leading_zeros(&mut self, a: Self::Word) -> Self::Word {
        expand::leading_zeros(self, a)
    }
    /// Reverses the order of the bits.
    fn reverse_bits(&mut self, a: Self::Word) -> Self::Word {
        expand::reverse_bits(self, a)
    }
    /// Returns the sum of `c` and of the products of elements of `a` and `b`, modulo 2^32. `op` selects the elements.
    fn dot(&mut self, op: &DotOp, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word {
        expand::dot(self, op, a, b, c)
    }
    /// Computes a video instruction on `a` and `b` and merges the result into `c` or adds it to `c`.
    fn video(&mut self, op: &VideoOp, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word {
        expand::video(self, op, a, b, c)
    }
    /// Computes PRMT. Bits 2:0 of nibble i of `selector` pick byte i of the result from the bytes
    /// of `a` (0 to 3) and `b` (4 to 7). If bit 3 is set, the result byte is eight copies of the
    /// picked byte's sign. Bits 16..32 of the selector are ignored.
    fn permute(&mut self, a: Self::Word, b: Self::Word, selector: Self::Word) -> Self::Word {
        expand::permute(self, a, b, selector)
    }
    /// Computes LOP3: bit i of the result is bit `4a + 2b + c` of `lut`, where `a`, `b` and `c` are
    /// bits i of the sources.
    fn lop3(&mut self, lut: u8, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word {
        expand::lop3(self, lut, a, b, c)
    }
}

/// An integer division, which is total as on NVIDIA GPUs. Division by 0 gives a quotient and a
/// remainder of all ones. The minimum integer divided by -1 gives itself with remainder 0.
/// Quotients round toward zero; remainders have the sign of the dividend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Divide {
    /// `true` if the integers are signed.
    pub signed: bool,
    /// `true` to compute the remainder, `false` for the quotient.
    pub remainder: bool,
}

/// An arithmetic operation on f32 or f64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatKind {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a * b + c`
    Fma,
    /// `a / b`
    Div,
    /// The square root of `a`.
    Sqrt,
}

impl FloatKind {
    /// All operations.
    pub const ALL: [FloatKind; 6] =
        [FloatKind::Add, FloatKind::Sub, FloatKind::Mul, FloatKind::Fma, FloatKind::Div, FloatKind::Sqrt];

    /// Returns the number of operands.
    pub const fn operands(self) -> usize {
        match self {
            FloatKind::Sqrt => 1,
            FloatKind::Fma => 3,
            _ => 2,
        }
    }
}

/// An operation on f32 or f64, rounded once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatOp {
    /// The operation.
    pub kind: FloatKind,
    /// The rounding mode.
    pub rounding: Rounding,
}

/// A number format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberFormat {
    /// An integer of 8 to 64 bits.
    Int {
        /// `true` if the integer is signed.
        signed: bool,
        /// Width in bits.
        bits: u32,
    },
    /// IEEE binary16.
    F16,
    /// bfloat16.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

/// A conversion with one rounding. A result that an integer type cannot hold is clamped to the range of that type.
///
/// NaN converts to the integer 0; from f64 or to 64 bits, NaN converts to the integer with only the highest bit set. A
/// NaN that converts to f64 keeps its payload, loses its sign and becomes quiet. A NaN that converts to a narrower
/// float becomes that format's canonical NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The source format.
    pub from: NumberFormat,
    /// The destination format.
    pub to: NumberFormat,
    /// The rounding mode.
    pub rounding: Rounding,
}

/// An arithmetic operation on halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfKind {
    /// `a + b`
    Add,
    /// `a * b`
    Mul,
    /// `a * b + c`
    Fma,
}

/// The operation of HADD2, HMUL2 or HFMA2, without the modifiers of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfOp {
    /// The operation.
    pub kind: HalfKind,
    /// Format, rounding mode, flushing and clamping.
    pub mode: HalfMode,
}

/// The operation of HMNMX2, without the modifiers of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfMinMax {
    /// The format of both lanes.
    pub format: Format,
    /// `true` to flush subnormal operands to zero.
    pub ftz: bool,
    /// `true` to return NaN if one operand is NaN, `false` to return the other operand.
    pub nan: bool,
}

/// The comparison of HSETP2 and HSET2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfCompare {
    /// The format of both lanes.
    pub format: Format,
    /// `true` to flush subnormal operands to zero.
    pub ftz: bool,
    /// The comparison.
    pub compare: Compare,
}

/// The operation that a video instruction performs in each lane, on exact integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoKind {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `(s + (s >= 0)) >> 1` for `s = a + b`, with an arithmetic shift.
    Avrg,
    /// `|a - b|`
    AbsDiff,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
}

/// The lanes of a video instruction. The discriminant is the number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Lanes {
    /// Two half-words.
    Two = 2,
    /// Four bytes.
    Four = 4,
}

impl Lanes {
    /// Returns the number of lanes, 2 or 4.
    pub const fn count(self) -> u32 {
        self as u32
    }

    /// Returns the width of a lane in bits, 16 or 8.
    pub const fn bits(self) -> u32 {
        32 / self as u32
    }
}

/// A bit range of a word that holds an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// The lowest bit.
    pub start: u32,
    /// The width in bits.
    pub bits: u32,
}

/// A dot product of the elements of two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DotOp {
    /// `true` to sign-extend the elements of `a`, `false` to zero-extend them.
    pub a_signed: bool,
    /// `true` to sign-extend the elements of `b`, `false` to zero-extend them.
    pub b_signed: bool,
    /// The elements that are multiplied.
    pub elements: DotElements,
}

/// The elements of a dot product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DotElements {
    /// Multiplies the four bytes of `a` by the four bytes of `b`.
    Bytes,
    /// Multiplies the two half-words of `a` by the two lower bytes of `b`.
    LowBytes,
    /// Multiplies the two half-words of `a` by the two upper bytes of `b`.
    HighBytes,
}

impl DotElements {
    /// Returns the pairs of elements of `a` and `b` that are multiplied.
    pub const fn pairs(self) -> &'static [[Element; 2]] {
        const fn byte(n: u32) -> Element {
            Element { start: 8 * n, bits: 8 }
        }
        const fn half(n: u32) -> Element {
            Element { start: 16 * n, bits: 16 }
        }
        match self {
            Self::Bytes => const { &[[byte(0); 2], [byte(1); 2], [byte(2); 2], [byte(3); 2]] },
            Self::LowBytes => const { &[[half(0), byte(0)], [half(1), byte(1)]] },
            Self::HighBytes => const { &[[half(0), byte(2)], [half(1), byte(3)]] },
        }
    }
}

/// The merge of the lane results of a video instruction with the third operand `c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoMerge {
    /// The lane results are truncated to the lane width and replace the enabled lanes of `c`.
    Wrap,
    /// `.sat`: the lane results are saturated to the destination type and replace the enabled lanes of `c`.
    Saturate,
    /// `.add`: the exact lane results are added to `c` as a 32-bit integer.
    Accumulate,
}

/// A `vop2` or `vop4` video instruction (video references, seeds 000 and 002). Lane 0 is the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoOp {
    /// The lane operation.
    pub kind: VideoKind,
    /// The number of lanes.
    pub lanes: Lanes,
    /// `true` if the destination type of `.sat` is signed.
    pub d_signed: bool,
    /// `true` to sign-extend the elements that `a_select` selects, `false` to zero-extend them.
    pub a_signed: bool,
    /// `true` to sign-extend the elements that `b_select` selects, `false` to zero-extend them.
    pub b_signed: bool,
    /// The element that each lane uses as first operand: 0 to n-1 from `a`, n to 2n-1 from `b`,
    /// where n is the number of lanes. Only the first n entries are used.
    pub a_select: [u8; 4],
    /// The element that each lane uses as second operand, with the same numbers as in `a_select`.
    pub b_select: [u8; 4],
    /// Write mask: bit i enables lane i.
    pub mask: u8,
    /// The merge of the lane results with the third operand `c`.
    pub merge: VideoMerge,
}

/// A special register, which S2R reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpecialReg {
    /// The index that the register holds: that of an item or of a group.
    pub of: IndexKind,
    /// The axis of the index, or `None` for the linear index over all axes.
    pub axis: Option<Axis>,
}

/// The index that a special register holds. The discriminant is the value of field `sr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum IndexKind {
    /// `SR_ITEM`: the work item within the launch.
    Item,
    /// `SR_TID`: the work item within its group.
    Thread = 8,
    /// `SR_CTAID`: the group within the launch.
    Block = 9,
}

impl SpecialReg {
    /// `SR_ITEM`, the linear index of the work item within the launch.
    pub const ITEM: SpecialReg = SpecialReg { of: IndexKind::Item, axis: None };

    /// Returns all special registers.
    pub fn all() -> impl Iterator<Item = SpecialReg> {
        let axes = || std::iter::once(None).chain(Axis::ALL.map(Some));
        [IndexKind::Item, IndexKind::Thread, IndexKind::Block]
            .into_iter()
            .flat_map(move |of| axes().map(move |axis| SpecialReg { of, axis }))
    }

    /// Returns the special register that an S2R instruction reads.
    pub fn read_by(inst: &Inst) -> SpecialReg {
        let axis = (inst.get(fields::AXIS) as usize).checked_sub(1).and_then(|axis| Axis::ALL.get(axis)).copied();
        let of = match inst.get(fields::SREG) {
            code if code == IndexKind::Thread as u64 => IndexKind::Thread,
            code if code == IndexKind::Block as u64 => IndexKind::Block,
            _ => IndexKind::Item,
        };
        SpecialReg { of, axis }
    }
}

/// Read access to the registers and constants before the instruction. RZ, URZ and PT are never requested.
pub trait Reader<D: Domain> {
    /// Returns R`n`, where n is below 255.
    fn gpr(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// Returns UR`n`, where n is below 63.
    fn ur(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// Returns P`n`, where n is below 7.
    fn pred(&mut self, domain: &mut D, n: u8) -> D::Pred;
    /// Returns the word at byte `offset` (a multiple of 4) of a constant bank.
    fn constant(&mut self, domain: &mut D, bank: u8, offset: u16) -> D::Word;
    /// Returns a special register.
    fn special(&mut self, domain: &mut D, register: SpecialReg) -> D::Word;
}

/// The effects of an instruction, for the values that the instruction has read.
#[derive(Clone, Debug)]
pub struct Effects<W: Copy, P: Copy> {
    /// The register writes: at most one to each register, and none to RZ, URZ or PT. R2P writes seven predicates.
    pub writes: ArrayVec<Write<W, P>, 7>,
    /// The memory access. `writes` does not include the registers that a load writes.
    pub access: Option<Access<W>>,
    /// The control flow after the instruction.
    pub next: ControlFlow,
}

/// A register write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Write<W: Copy, P: Copy> {
    /// R`n`.
    Gpr(u8, W),
    /// UR`n`.
    Ur(u8, W),
    /// P`n`.
    Pred(u8, P),
}

/// A memory access, which the caller performs.
#[derive(Clone, Debug, PartialEq)]
pub enum Access<W: Copy> {
    /// Loads into the registers from R`dst` upwards, lowest word first. A load to RZ is performed
    /// and may trap, but its value is discarded.
    Load {
        /// The address.
        address: Address<W>,
        /// The access size.
        width: Width,
        /// `true` to sign-extend 8-bit and 16-bit values, `false` to zero-extend them.
        signed: bool,
        /// The first destination register.
        dst: u8,
    },
    /// Updates memory atomically as [`apply_atomic`](crate::atomic::apply_atomic) defines. Writes
    /// the old value to the registers from R`dst` upwards.
    Atomic {
        /// The address.
        address: Address<W>,
        /// The access size.
        width: Width,
        /// The operation.
        change: AtomicOp,
        /// The operands, [`Width::registers`] 32-bit words each, lowest word first.
        operands: ArrayVec<W, 8>,
        /// The first destination register.
        dst: u8,
    },
    /// Stores 32-bit words, lowest word first. An 8-bit or 16-bit store writes the low bits of the word.
    Store {
        /// The address.
        address: Address<W>,
        /// The access size.
        width: Width,
        /// The data to store, [`Width::registers`] 32-bit words.
        data: ArrayVec<W, 4>,
    },
}

/// A byte address in one of the memory spaces. The caller checks that the access is in bounds and aligned to its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Address<W: Copy> {
    /// Global memory at `base + zero-extended offset + imm`, modulo 2^64.
    Uniform {
        /// 32-bit unsigned offset.
        offset: W,
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// Displacement in bytes.
        imm: i32,
    },
    /// Global memory at `base + imm`, modulo 2^64.
    Wide {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// Displacement in bytes.
        imm: i32,
    },
    /// Generic address `base + imm`, modulo 2^64. Local memory is mapped at [`LOCAL_WINDOW`], and
    /// shared memory at [`SHARED_WINDOW`].
    Flat {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// Displacement in bytes.
        imm: i32,
    },
    /// Shared memory of the group at `offset + imm`. The sum does not wrap.
    Shared {
        /// 32-bit unsigned offset.
        offset: W,
        /// Displacement in bytes.
        imm: i32,
    },
    /// The part of the item's local memory that the kernel declares, at `offset + imm`. The sum does not wrap.
    Scratch {
        /// 32-bit unsigned offset.
        offset: W,
        /// Displacement in bytes.
        imm: i32,
    },
    /// The item's local memory, at a constant address.
    Local {
        /// Address in bytes.
        imm: u32,
    },
    /// Constant bank `bank` at `offset + imm`, modulo 2^32.
    Constant {
        /// The bank.
        bank: u8,
        /// 32-bit unsigned offset.
        offset: W,
        /// Displacement in bytes.
        imm: u32,
    },
}

/// The size of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Width {
    /// 8 bits.
    B8,
    /// 16 bits.
    B16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
    /// 128 bits.
    B128,
}

impl Width {
    /// Returns the size in bytes, 1 to 16, which is also the required alignment.
    pub const fn bytes(self) -> u32 {
        1 << self as u32
    }

    /// Returns the number of 32-bit registers that hold the value: 1, 2 or 4.
    pub const fn registers(self) -> u8 {
        match self {
            Self::B8 | Self::B16 | Self::B32 => 1,
            Self::B64 => 2,
            Self::B128 => 4,
        }
    }
}

/// The control flow after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlFlow {
    /// Continues with the next instruction.
    Fall,
    /// Branches by this distance in instruction words, relative to the branch itself. A guard makes
    /// a branch conditional.
    Branch(i32),
    /// Ends the work item.
    Exit,
    /// Executes the collective operation that [`collective`](super::meaning::collective) returns,
    /// then continues with the next instruction.
    Collective,
}

/// Generic address at which the local memory that the kernel declares is mapped.
pub const LOCAL_WINDOW: u64 = 1 << 36;
/// Generic address at which shared memory is mapped.
pub const SHARED_WINDOW: u64 = 4 << 36;
/// Size in bytes of the generic address range of local memory, and of that of shared memory.
pub const WINDOW_BYTES: u64 = 1 << 36;
