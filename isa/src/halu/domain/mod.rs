//! What a meaning is made of: the values it computes with, the state it reads, and the effects it returns.
//!
//! A meaning is a pure function over a [`Domain`]: `u32` for the interpreter, values of a code generator for an engine. It
//! reads all its sources through a [`Reader`] and returns [`Effects`]; the driver commits them, so an instruction whose
//! destination is among its sources needs no special case.

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
use crate::atomic::Change;
use crate::half::{Compare, Format, Mode, Rounding};

/// The values of a machine and the primitive operations on them. Everything is total.
///
/// An f32 is the word of its bits; arithmetic on it rounds to nearest even, keeps subnormals, and returns the one NaN
/// `0x7FFF_FFFF`. A packed half word holds lane 0 in bits 0..16 and lane 1 in bits 16..32.
pub trait Domain: Sized {
    /// A 32-bit word.
    type Word: Copy;
    /// A truth value.
    type Pred: Copy;

    /// A constant.
    fn word(&mut self, value: u32) -> Self::Word;
    /// A constant.
    fn truth(&mut self, value: bool) -> Self::Pred;

    // Bits.
    /// Bitwise `a & b`.
    fn and(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Bitwise `a | b`.
    fn or(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Bitwise `a ^ b`.
    fn xor(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Bitwise `!a`.
    fn not(&mut self, a: Self::Word) -> Self::Word;

    // Shifts.
    /// `a << count`, the count modulo 32.
    fn shl(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// `a >> count` bringing in zeros, the count modulo 32.
    fn shr(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;
    /// `a >> count` bringing in copies of the sign, the count modulo 32.
    fn sar(&mut self, a: Self::Word, count: Self::Word) -> Self::Word;

    // Integers.
    /// `a + b` modulo 2^32.
    fn add(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a - b` modulo 2^32.
    fn sub(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a * b` modulo 2^32.
    fn mul(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// Bits 32..64 of the product.
    fn mul_high(&mut self, signed: bool, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The quotient or the remainder of words: [`Divide`].
    fn divide(&mut self, op: Divide, a: Self::Word, b: Self::Word) -> Self::Word {
        divide::words(self, op, a, b)
    }
    /// The same of pairs of words, the low one first.
    fn divide_wide(&mut self, op: Divide, a: [Self::Word; 2], b: [Self::Word; 2]) -> [Self::Word; 2] {
        divide::pairs(self, op, a, b)
    }
    /// `a == b`
    fn equal(&mut self, a: Self::Word, b: Self::Word) -> Self::Pred;
    /// `a < b`, as signed or as unsigned integers.
    fn less(&mut self, signed: bool, a: Self::Word, b: Self::Word) -> Self::Pred;

    // Truth values.
    /// `p && q`
    fn both(&mut self, p: Self::Pred, q: Self::Pred) -> Self::Pred;
    /// `p || q`
    fn either(&mut self, p: Self::Pred, q: Self::Pred) -> Self::Pred;
    /// `p != q`
    fn differ(&mut self, p: Self::Pred, q: Self::Pred) -> Self::Pred;
    /// `!p`
    fn negate(&mut self, p: Self::Pred) -> Self::Pred;
    /// `p ? a : b`
    fn select(&mut self, p: Self::Pred, a: Self::Word, b: Self::Word) -> Self::Word;

    // f32.
    /// `a + b`
    fn fadd(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a * b`
    fn fmul(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// `a * b + c`, rounded once.
    fn fma(&mut self, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word;
    /// `a / b`, correctly rounded.
    fn fdiv(&mut self, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The square root of `a`, correctly rounded.
    fn fsqrt(&mut self, a: Self::Word) -> Self::Word;
    /// A function of `a`, correctly rounded: [`Function::single`].
    fn elementary(&mut self, function: Function, a: Self::Word) -> Self::Word;
    /// `a compare b`; subnormals count as what they are.
    fn fcompare(&mut self, compare: Compare, a: Self::Word, b: Self::Word) -> Self::Pred;
    /// The f32 nearest to an integer.
    fn int_to_float(&mut self, signed: bool, a: Self::Word) -> Self::Word;
    /// The integer of an f32, truncated and then saturated; NaN gives 0.
    fn float_to_int(&mut self, signed: bool, a: Self::Word) -> Self::Word;
    /// The half of an f32, in bits 0..16, the others 0: [`Format::narrow`].
    fn narrow(&mut self, format: Format, rounding: Rounding, a: Self::Word) -> Self::Word;
    /// The f32 of the half in bits 0..16, whatever the others are: [`Format::widen`].
    fn widen(&mut self, format: Format, a: Self::Word) -> Self::Word;

    // f32 in any rounding, f64 as a pair of words, the low one first, and conversions.
    /// An operation on f32s. Operands that it does not have do not count.
    fn single(&mut self, op: &FloatOp, operands: [Self::Word; 3]) -> Self::Word {
        float::single(self, op, operands)
    }
    /// An operation on f64s. Of NaN operands the first is the result, quiet; a NaN of numbers is `0xFFF8_0000_0000_0000`.
    fn double(&mut self, op: &FloatOp, operands: [[Self::Word; 2]; 3]) -> [Self::Word; 2] {
        float::double(self, op, operands)
    }
    /// `a compare b` of f64s; subnormals count as what they are.
    fn double_compare(&mut self, compare: Compare, a: [Self::Word; 2], b: [Self::Word; 2]) -> Self::Pred {
        float::double_compare(self, compare, a, b)
    }
    /// The lesser or the greater f64, -0 below +0; of a NaN and a number the number, of two NaNs the first, quiet.
    fn double_minmax(&mut self, min: Self::Pred, a: [Self::Word; 2], b: [Self::Word; 2]) -> [Self::Word; 2] {
        float::double_minmax(self, min, a, b)
    }
    /// A number in another form: [`Conversion`]. What is narrower than a pair of words has zeros above it, and bits above the
    /// operand do not matter.
    fn convert(&mut self, op: &Conversion, a: [Self::Word; 2]) -> [Self::Word; 2] {
        float::convert(self, op, a)
    }

    // Packed halves; sources come selected, with abs and neg applied.
    /// Both lanes of [`Mode::add`], [`Mode::mul`] or [`Mode::fma`]; `c` counts for the fma only.
    fn half(&mut self, op: &HalfOp, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word;
    /// Both lanes of [`Function::half`].
    fn half_elementary(&mut self, function: Function, format: Format, a: Self::Word) -> Self::Word;
    /// Both lanes of `min ?` [`Format::min`] `:` [`Format::max`].
    fn half_minmax(&mut self, op: &HalfMinMax, min: Self::Pred, a: Self::Word, b: Self::Word) -> Self::Word;
    /// The compare in lane 0 and in lane 1.
    fn half_compare(&mut self, op: &HalfCompare, a: Self::Word, b: Self::Word) -> [Self::Pred; 2];

    // Whole instructions that a domain may have a shorter way to say.
    /// The number of bits that are set.
    fn count_ones(&mut self, a: Self::Word) -> Self::Word {
        expand::count_ones(self, a)
    }
    /// The number of zeros above the highest bit that is set; of 0 it is 32.
    fn leading_zeros(&mut self, a: Self::Word) -> Self::Word {
        expand::leading_zeros(self, a)
    }
    /// Bit i is bit 31 - i.
    fn reverse_bits(&mut self, a: Self::Word) -> Self::Word {
        expand::reverse_bits(self, a)
    }
    /// `c` and the products of elements of `a` and of `b`, modulo 2^32.
    fn dot(&mut self, op: &DotOp, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word {
        expand::dot(self, op, a, b, c)
    }
    /// A video instruction on `a` and `b`, merged into or added to `c`.
    fn video(&mut self, op: &VideoOp, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word {
        expand::video(self, op, a, b, c)
    }
    /// PRMT: byte i of the result is picked from the bytes of `a` (0 to 3) and `b` (4 to 7) by bits 0..3 of nibble i of
    /// `selector`; bit 3 asks for eight copies of that byte's sign instead. Bits 16..32 of the selector do not matter.
    fn permute(&mut self, a: Self::Word, b: Self::Word, selector: Self::Word) -> Self::Word {
        expand::permute(self, a, b, selector)
    }
    /// LOP3: bit i of the result is bit `4a + 2b + c` of `lut`, of bits i of the sources.
    fn lop3(&mut self, lut: u8, a: Self::Word, b: Self::Word, c: Self::Word) -> Self::Word {
        expand::lop3(self, lut, a, b, c)
    }
}

/// A division of integers, which is total as on NVIDIA's machines: by 0 quotient and remainder are all ones, and the least
/// integer by -1 is itself, without remainder. Quotients are rounded toward zero; remainders have the sign of the dividend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Divide {
    /// Of signed integers.
    pub signed: bool,
    /// The remainder, not the quotient.
    pub remainder: bool,
}

/// Which of the operations on f32 or f64.
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
    /// All of them.
    pub const ALL: [FloatKind; 6] =
        [FloatKind::Add, FloatKind::Sub, FloatKind::Mul, FloatKind::Fma, FloatKind::Div, FloatKind::Sqrt];

    /// The number of operands.
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
    /// How its result is rounded.
    pub rounding: Rounding,
}

/// What a number is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// An integer of 8 to 64 bits.
    Int {
        /// Whether it has a sign.
        signed: bool,
        /// How many.
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

/// A conversion, rounded once. Integers are clamped to their range; NaN gives 0, but of an f64, and in 64 bits, the integer whose
/// highest bit alone is set. In f64 a NaN keeps its payload without its sign and is quiet; in narrower floats it is their NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversion {
    /// The operand's form.
    pub from: Form,
    /// The result's form.
    pub to: Form,
    /// How it is rounded.
    pub rounding: Rounding,
}

/// Which of the rounded half operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfKind {
    /// `a + b`
    Add,
    /// `a * b`
    Mul,
    /// `a * b + c`
    Fma,
}

/// HADD2, HMUL2, HFMA2 without their source modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfOp {
    /// The operation.
    pub kind: HalfKind,
    /// Format, rounding, flushing and clamping.
    pub mode: Mode,
}

/// HMNMX2 without its source modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfMinMax {
    /// The format of both lanes.
    pub format: Format,
    /// Subnormal operands become zeros first.
    pub ftz: bool,
    /// A NaN beside a number gives NaN.
    pub nan: bool,
}

/// HSETP2 and HSET2: the compare alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfCompare {
    /// The format of both lanes.
    pub format: Format,
    /// Subnormal operands become zeros first.
    pub ftz: bool,
    /// The compare.
    pub compare: Compare,
}

/// The lane operation of a video instruction, on exact integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoKind {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `(s + (s >= 0)) >> 1` of `s = a + b`, the shift being arithmetic.
    Avrg,
    /// `|a - b|`
    AbsDiff,
    /// The lesser.
    Min,
    /// The greater.
    Max,
}

/// The lanes of a video instruction. The discriminant is their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Lanes {
    /// Two halfwords.
    Two = 2,
    /// Four bytes.
    Four = 4,
}

impl Lanes {
    /// 2 or 4.
    pub const fn count(self) -> u32 {
        self as u32
    }

    /// 16 or 8.
    pub const fn bits(self) -> u32 {
        32 / self as u32
    }
}

/// Some bits of a word, as an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Element {
    /// The lowest.
    pub start: u32,
    /// How many.
    pub bits: u32,
}

/// A dot product: which elements are multiplied, the first of one with the first of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DotOp {
    /// Elements of `a` are sign-extended.
    pub a_signed: bool,
    /// Likewise of `b`.
    pub b_signed: bool,
    /// Bytes or halfwords of a word.
    pub elements: DotElements,
}

/// What a dot product multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DotElements {
    /// Four bytes by four bytes.
    Bytes,
    /// Two halfwords of `a` by the two lower bytes of `b`.
    LowBytes,
    /// Two halfwords of `a` by the two upper bytes of `b`.
    HighBytes,
}

impl DotElements {
    /// The elements of `a` and of `b`, in pairs.
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

/// What becomes of the lane results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VideoMerge {
    /// They wrap to their lane, over the lanes of `c`.
    Wrap,
    /// `.sat`: they are clamped to the destination type, over the lanes of `c`.
    Saturate,
    /// `.add`: they are added, exact, to the whole of `c`.
    Accumulate,
}

/// A vop2 or vop4 (seeds 000 and 002). Lane 0 is the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VideoOp {
    /// The lane operation.
    pub kind: VideoKind,
    /// The lanes of a word.
    pub lanes: Lanes,
    /// The type `.sat` clamps to is signed.
    pub d_signed: bool,
    /// Elements picked by `a_select` are sign-extended, whichever register they come from.
    pub a_signed: bool,
    /// Likewise for `b_select`.
    pub b_signed: bool,
    /// For each lane its element: 0 to n-1 of a, n to 2n-1 of b. As many entries count as there are lanes.
    pub a_select: [u8; 4],
    /// Likewise.
    pub b_select: [u8; 4],
    /// Bit i: lane i takes part.
    pub mask: u8,
    /// What becomes of the results.
    pub merge: VideoMerge,
}

/// A register of the machine that S2R reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpecialReg {
    /// What is numbered.
    pub of: Numbered,
    /// The axis along which it is; in all, if none.
    pub axis: Option<Axis>,
}

/// What special registers number. The discriminant is the code of field `sr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Numbered {
    /// `SR_ITEM`: the work item in the launch.
    Item,
    /// `SR_TID`: the work item in its group.
    Thread = 8,
    /// `SR_CTAID`: the group.
    Block = 9,
}

impl SpecialReg {
    /// `SR_ITEM`.
    pub const ITEM: SpecialReg = SpecialReg { of: Numbered::Item, axis: None };

    /// Every one.
    pub fn all() -> impl Iterator<Item = SpecialReg> {
        let axes = || std::iter::once(None).chain(Axis::ALL.map(Some));
        [Numbered::Item, Numbered::Thread, Numbered::Block]
            .into_iter()
            .flat_map(move |of| axes().map(move |axis| SpecialReg { of, axis }))
    }

    /// The register that an S2R reads, by its fields.
    pub fn read_by(inst: &Inst) -> SpecialReg {
        let axis = (inst.get(fields::AXIS) as usize).checked_sub(1).and_then(|axis| Axis::ALL.get(axis)).copied();
        let of = match inst.get(fields::SREG) {
            code if code == Numbered::Thread as u64 => Numbered::Thread,
            code if code == Numbered::Block as u64 => Numbered::Block,
            _ => Numbered::Item,
        };
        SpecialReg { of, axis }
    }
}

/// The state before the instruction. RZ, URZ and PT are never asked for.
pub trait Reader<D: Domain> {
    /// R`n`, n below 255.
    fn gpr(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// UR`n`, n below 63.
    fn ur(&mut self, domain: &mut D, n: u8) -> D::Word;
    /// P`n`, n below 7.
    fn pred(&mut self, domain: &mut D, n: u8) -> D::Pred;
    /// The word at byte `offset` (a multiple of 4) of constant bank `bank`.
    fn constant(&mut self, domain: &mut D, bank: u8, offset: u16) -> D::Word;
    /// A special register.
    fn special(&mut self, domain: &mut D, register: SpecialReg) -> D::Word;
}

/// What an instruction does, given what it read.
#[derive(Clone, Debug)]
pub struct Effects<W: Copy, P: Copy> {
    /// The registers written: at most one write to each, and none to RZ, URZ or PT. R2P makes seven.
    pub writes: ArrayVec<Write<W, P>, 7>,
    /// The memory access. The registers of a load are not among the writes.
    pub access: Option<Access<W>>,
    /// Where control goes.
    pub next: Next,
}

/// A register and what it becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Write<W: Copy, P: Copy> {
    /// R`n`.
    Gpr(u8, W),
    /// UR`n`.
    Ur(u8, W),
    /// P`n`.
    Pred(u8, P),
}

/// An access to memory, which the driver makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Access<W: Copy> {
    /// Registers from R`dst` up become memory's contents, lowest word first. A load to RZ is made (and may trap) but kept
    /// nowhere.
    Load {
        /// Where.
        address: Address<W>,
        /// How much.
        width: Width,
        /// 8 and 16 bits are sign-extended, not zero-extended.
        signed: bool,
        /// The first register.
        dst: u8,
    },
    /// Memory becomes what [`atomically`](crate::atomic::atomically) says, and registers from R`dst` up what was there.
    Atomic {
        /// Where.
        address: Address<W>,
        /// How much.
        width: Width,
        /// What it becomes.
        change: Change,
        /// The words of its operands, each [`Width::registers`], the lowest first.
        operands: ArrayVec<W, 8>,
        /// The first register.
        dst: u8,
    },
    /// Memory becomes the words, lowest first; of 8 and 16 bits the low ones of a word.
    Store {
        /// Where.
        address: Address<W>,
        /// How much.
        width: Width,
        /// As many as [`Width::registers`].
        data: ArrayVec<W, 4>,
    },
}

/// A byte address in the space it names. The driver checks bounds and alignment to the width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Address<W: Copy> {
    /// Global memory at `base + zero-extended offset + imm`, modulo 2^64.
    Uniform {
        /// 32 bits, unsigned.
        offset: W,
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// In bytes.
        imm: i32,
    },
    /// Global memory at `base + imm`, modulo 2^64.
    Wide {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// In bytes.
        imm: i32,
    },
    /// Any memory at `base + imm`, modulo 2^64: [`LOCAL_WINDOW`], [`SHARED_WINDOW`].
    Flat {
        /// A 64-bit address, low word first.
        base: [W; 2],
        /// In bytes.
        imm: i32,
    },
    /// The shared memory of the group at `offset + imm`, the sum being exact.
    Shared {
        /// 32 bits, unsigned.
        offset: W,
        /// In bytes.
        imm: i32,
    },
    /// What of the item's local memory the kernel declares, likewise.
    Scratch {
        /// 32 bits, unsigned.
        offset: W,
        /// In bytes.
        imm: i32,
    },
    /// The item's own local memory.
    Local {
        /// In bytes.
        imm: u32,
    },
    /// Constant bank `bank` at `offset + imm`, modulo 2^32.
    Constant {
        /// The bank.
        bank: u8,
        /// 32 bits, unsigned.
        offset: W,
        /// In bytes.
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
    /// 1 to 16; also the alignment that the address must have.
    pub const fn bytes(self) -> u32 {
        1 << self as u32
    }

    /// 32-bit registers that hold it: 1, 2 or 4.
    pub const fn registers(self) -> u8 {
        match self {
            Self::B8 | Self::B16 | Self::B32 => 1,
            Self::B64 => 2,
            Self::B128 => 4,
        }
    }
}

/// Where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To the following word.
    Fall,
    /// To the word this many words after the branch itself. A guard makes a branch conditional, as it does any instruction.
    Branch(i32),
    /// The item is done.
    Exit,
    /// It meets other items of its group, as [`meeting`](super::meaning::meeting) says, and then to the following word.
    Meet,
}

/// Where what of local memory a kernel declares lies among addresses without a space.
pub const LOCAL_WINDOW: u64 = 1 << 36;
/// Where shared memory lies there.
pub const SHARED_WINDOW: u64 = 4 << 36;
/// How many bytes each of these has.
pub const WINDOW_BYTES: u64 = 1 << 36;
