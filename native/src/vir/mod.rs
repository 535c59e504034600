//! Vector IR: a kernel as one function that runs gangs of work items.
//!
//! A gang is [`ITEMS`] work items side by side. A value is a vector with a 32-bit lane for each
//! item, or a 64-bit lane for each of four items. A truth value is a word of all ones or 0. A word
//! may hold packed bytes or halves: the element width belongs to the operation.
//!
//! [`lower`] makes a function from the dataflows of a kernel's blocks. Values live within a block.
//! Cells are vectors in memory that live across blocks. The emitter for x86-64 is
//! [`x86::emit`](crate::x86::emit).

use halfbyte_isa::half::{Compare, Rounding};

mod access;
mod builder;
mod divide;
mod fixed;
mod float;
mod gang;
mod group;
mod half;
mod lower;
mod operation;
mod prune;
#[cfg(test)]
pub(crate) mod tests;
mod video;

pub use builder::Builder;
pub use gang::function;
pub use lower::Facts;

/// Work items of a gang.
pub const ITEMS: u32 = 8;

/// Value of a block: the number of the node that computes the value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub u32);

impl Value {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Width of the elements on which an operation works.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    B8,
    B16,
    B32,
    B64,
}

/// Operation on two operands, element by element.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    Add,
    Sub,
    /// Low half of the product of 16-bit or 32-bit elements.
    Mul,
    /// 64-bit product of the even 32-bit elements.
    MulEven {
        signed: bool,
    },
    /// Saturating sum of 8-bit or 16-bit elements.
    AddSat {
        signed: bool,
    },
    SubSat {
        signed: bool,
    },
    Min {
        signed: bool,
    },
    Max {
        signed: bool,
    },
    /// Average of unsigned elements, rounded up.
    Average,
    /// All ones if the elements are equal, else 0.
    Equal,
    /// All ones if the first element is greater, else 0. The elements are signed.
    Greater,
    And,
    Or,
    Xor,
    /// Bits of the second operand that are clear in the first operand.
    AndNot,
}

/// Operation on two `f32` elements, rounded to nearest even. NaN results have any payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Float {
    Add,
    Sub,
    Mul,
    Div,
    /// The second operand if an operand is NaN or both operands are zero, else the greater operand.
    Max,
}

/// Direction of a shift.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shift {
    Left,
    Right,
    /// Right shift that copies the sign bit.
    Arithmetic,
}

/// Half of a vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Half {
    Low,
    High,
}

impl Half {
    pub const BOTH: [Half; 2] = [Half::Low, Half::High];
}

/// Number of a vector in memory that lives across blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cell(pub u32);

/// Number of an input in [`Function::inputs`], which is a word of the table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Word(pub u32);

/// Number of a row: the checked address of one element in memory per item.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Row(pub u32);

/// Conditions of a row, and the computation of its address from the offsets of the items.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RowCheck {
    /// Address of the buffer, and its size in bytes.
    pub buffer: [Word; 2],
    /// Bytes per unit of an offset, less than 2^31.
    pub scale: u32,
    /// `true` if offsets are signed.
    pub signed: bool,
    /// Displacement in bytes, which is added to each offset.
    pub displacement: i32,
    /// Bytes between the elements of consecutive items.
    pub stride: i32,
    /// Bytes that an item accesses.
    pub bytes: u8,
    /// Alignment of the element of an item in the buffer, a power of two.
    pub align: u8,
}

/// Row that is checked once for all items of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HoistedRow {
    pub row: Row,
    /// Offset of the first item. The offsets of consecutive items differ by `step`.
    pub offset: Word,
    pub step: i32,
    /// Low and high words of the address from which offsets count. `None` means the start of the buffer.
    pub base: Option<[Word; 2]>,
    pub check: RowCheck,
}

/// Limit on the items by an affine number and a bound. Before the limit, a comparison of both has one result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Limit {
    /// Affine number. The first lane counts.
    pub from: Value,
    /// Difference between the numbers of consecutive items, a power of two.
    pub step: u32,
    pub bound: Value,
    /// `true` if items whose number equals the bound are before the limit.
    pub is_inclusive: bool,
    pub signed: bool,
}

/// Node of a block: an operation that computes a value, or an effect.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// Constant word of each item.
    Constant([u32; ITEMS as usize]),
    /// Contents of a cell.
    Cell(Cell),
    /// Broadcast of a word of the table.
    Word(Word),
    /// Broadcast of a 64-bit number of the table.
    Number(Word),
    /// Broadcast of the number of the gang's first item.
    First,
    Binary(Binary, Width, [Value; 2]),
    /// Shift of elements of 16, 32 or 64 bits by a number below their width.
    Shift(Shift, Width, Value, u8),
    /// Shift of words by the words of the second operand, which are below 32.
    ShiftBy(Shift, [Value; 2]),
    /// Bytes of the second operand where the first operand, the mask, is all ones. The other bytes are those of the
    /// third operand.
    Select([Value; 3]),
    /// Words of the second operand whose bit in the number is set. The other words are those of the first operand.
    Blend(u8, [Value; 2]),
    /// Bytes of each word, by their numbers in the word. The number 0x80 stands for a zero byte.
    Bytes([u8; 4], Value),
    Float(Float, [Value; 2]),
    /// Product of the first two operands plus the third, rounded once.
    Fma([Value; 3]),
    Sqrt(Value),
    /// Comparison of floats.
    FloatCompare(Compare, [Value; 2]),
    /// Float of a signed word, rounded to nearest even.
    FloatOfInt(Value),
    /// Word of a float, rounded toward zero; 0x8000_0000 if the word cannot hold it.
    IntOfFloat(Value),
    /// Sum or product of binary16 numbers. NaN results have any payload. Needs AVX512-FP16.
    HalfFloat(Float, [Value; 2]),
    /// Product of two binary16 numbers plus the third operand, rounded once. NaN results have any payload. Needs
    /// AVX512-FP16.
    HalfFma([Value; 3]),
    /// Floats of the eight binary16 numbers in a half of a vector.
    WidenHalves(Half, Value),
    /// Binary16 numbers of 16 floats.
    NarrowHalves(Rounding, [Value; 2]),
    /// `f64` numbers of the four floats in a half of a vector.
    WidenFloats(Half, Value),
    /// Operation on `f64` numbers.
    Double(Float, [Value; 2]),
    /// Comparison of `f64` numbers.
    DoubleCompare(Compare, [Value; 2]),
    /// Floats of eight `f64` numbers, rounded to nearest even.
    NarrowDoubles([Value; 2]),
    /// Words of a half of a vector, extended to 64 bits.
    Extend {
        signed: bool,
        half: Half,
        of: Value,
    },
    /// Unsigned 16-bit elements of a half of a vector, extended to words.
    Extend16(Half, Value),
    /// Even or odd words of two vectors. With `split`, each 128 bits are handled separately.
    Every2nd {
        odd: bool,
        split: bool,
        of: [Value; 2],
    },
    /// Interleaved words of a half of two vectors: the inverse of `Every2nd`.
    Interleave(Half, [Value; 2]),
    /// Concatenation of the same half of two vectors.
    Pair(Half, [Value; 2]),
    /// Interleaved elements of two vectors, from a half of each 128 bits.
    Unpack(Half, Width, [Value; 2]),
    /// Elements of 16 or 32 bits of two vectors, saturated to half their width: the inverse of `Unpack`.
    Pack {
        signed: bool,
        width: Width,
        of: [Value; 2],
    },
    /// Sums of two products of signed 16-bit elements.
    MulAddPairs([Value; 2]),
    /// Sums of two products of unsigned bytes with signed ones, saturated to 16 bits.
    MulAddBytes([Value; 2]),
    /// Contiguous words of a row, from a number of bytes after the start of the row.
    LoadRow(Row, i32),
    /// Contiguous bytes or 16-bit elements of a row, extended to words.
    LoadNarrow {
        row: Row,
        width: Width,
        signed: bool,
    },
    /// Broadcast of the first element of a row.
    LoadSame {
        row: Row,
        displacement: i32,
        width: Width,
        signed: bool,
    },
    /// Words of a row, `stride` bytes apart.
    LoadStrided {
        row: Row,
        displacement: i32,
        stride: i32,
    },
    /// Four words of each of two items, `item` and `item + 4`, in the low and the high half.
    LoadQuads {
        row: Row,
        stride: i32,
        item: u8,
    },
    /// Gather of words at 64-bit addresses. Items whose lane of `active` is 0 get 0.
    Gather {
        addresses: [Value; 2],
        displacement: i32,
        active: Option<Value>,
    },
    /// Broadcast of the address of a row.
    Address(Row),
    /// Writes a cell.
    SetCell(Cell, Value),
    /// Checks a row, and keeps the address of the row. Gives the gang up if an access would fail.
    CheckRow {
        row: Row,
        /// Offsets of the items as words. Only the first and the last lane are read.
        offset: Value,
        /// Low and high words of the address from which offsets count. `None` means the start of the buffer.
        base: Option<[Value; 2]>,
        check: RowCheck,
    },
    /// Sets a word of the table to the first lane. Only [`Function::setup`] has this node.
    SetWord(Word, Value),
    /// Limits the items of the function, also to items whose number does not wrap. Only [`Function::setup`] has this
    /// node.
    Limit(Limit),
    /// Returns from the function with all items done if the first lane is 0. Only [`Function::setup`] has this node.
    SkipUnless(Value),
    /// Gives the gang up if the sign bit of a 64-bit element is set.
    UnlessSigns(Value),
    /// Gives the gang up if any bit is set.
    UnlessBits(Value),
    /// Counts a backward branch, and gives the gang up when the budget is spent.
    Count,
    /// Stores contiguous words, from a number of bytes after the start of a row.
    StoreRow(Row, i32, Value),
    /// Stores the low byte or the low 16 bits of each word to contiguous elements of a row.
    StoreNarrow(Row, Width, Value),
    /// Stores the four words of each half to the elements of two items, `item` and `item + 4`.
    StoreQuads {
        row: Row,
        stride: i32,
        item: u8,
        of: Value,
    },
    /// Stores elements of one to three words, or the low bytes of a word, `stride` bytes apart.
    StoreStrided {
        row: Row,
        stride: i32,
        bytes: u8,
        words: [Value; 4],
    },
    /// Scatters elements of one to four words to 64-bit addresses, for the items whose lane of `active` is all ones.
    StoreEach {
        addresses: [Value; 2],
        /// Bytes of an element.
        bytes: u8,
        words: [Value; 4],
        active: Option<Value>,
    },
}

/// Destination of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Block(u32),
    /// The gang is done.
    Done,
    /// The gang is given up. The items of the gang run one after another, from their start.
    GiveUp,
}

/// End of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Jump(Target),
    /// Branch on the words of a truth value.
    Branch {
        condition: Value,
        all: Target,
        none: Target,
        some: Target,
    },
}

/// Basic block.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    pub nodes: Vec<Node>,
    pub end: End,
}

/// Word or 64-bit number that the caller passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input {
    /// Word of constant bank 0 with this number.
    Bank(u32),
    /// Address of the buffer of a parameter.
    Start(usize),
    /// Size in bytes of the buffer of a parameter.
    Bytes(usize),
    /// Cell of the kernel, with the value of the first item.
    Cell(crate::jit::CellNumber),
    /// No input: the setup of the function sets the word.
    Own,
}

/// Function that runs gangs of items, one after another.
#[derive(Clone, PartialEq, Debug)]
pub struct Function {
    /// Nodes that run once, before the first gang.
    pub setup: Vec<Node>,
    /// Blocks. A gang begins at the first block.
    pub blocks: Vec<Block>,
    pub inputs: Vec<Input>,
    /// Number of cells.
    pub cells: u32,
    /// Number of rows.
    pub rows: u32,
    /// Rows that are checked after the setup. If an access would fail, no gang begins.
    pub hoisted: Vec<HoistedRow>,
    /// Backward branches that an item may take; `None` if there are none.
    pub budget: Option<u64>,
}

impl Function {
    /// Returns the reachable blocks, in an order in which most jumps fall through.
    pub fn order(&self) -> Vec<usize> {
        let mut is_reached = vec![false; self.blocks.len()];
        let mut open = vec![0];
        while let Some(number) = open.pop() {
            let (Some(block), Some(place)) = (self.blocks.get(number), is_reached.get_mut(number)) else { continue };
            if std::mem::replace(place, true) {
                continue;
            }
            let targets = match block.end {
                End::Jump(target) => [target; 3],
                End::Branch { all, none, some, .. } => [all, none, some],
            };
            open.extend(targets.into_iter().filter_map(|target| match target {
                Target::Block(number) => Some(number as usize),
                Target::Done | Target::GiveUp => None,
            }));
        }
        (0..self.blocks.len()).filter(|&number| is_reached.get(number) == Some(&true)).collect()
    }
}

impl Node {
    /// Calls `f` with each operand.
    pub fn operands(&self, mut f: impl FnMut(Value)) {
        match *self {
            Node::Constant(_)
            | Node::Cell(_)
            | Node::Word(_)
            | Node::Number(_)
            | Node::First
            | Node::LoadRow(..)
            | Node::LoadNarrow { .. }
            | Node::LoadSame { .. }
            | Node::LoadStrided { .. }
            | Node::LoadQuads { .. }
            | Node::Address(_)
            | Node::Count => {}
            Node::Shift(_, _, a, _)
            | Node::Bytes(_, a)
            | Node::Sqrt(a)
            | Node::FloatOfInt(a)
            | Node::IntOfFloat(a)
            | Node::WidenHalves(_, a)
            | Node::Extend16(_, a)
            | Node::WidenFloats(_, a)
            | Node::Extend { of: a, .. }
            | Node::SetCell(_, a)
            | Node::SetWord(_, a)
            | Node::SkipUnless(a)
            | Node::UnlessSigns(a)
            | Node::UnlessBits(a)
            | Node::StoreRow(_, _, a)
            | Node::StoreQuads { of: a, .. }
            | Node::StoreNarrow(_, _, a) => f(a),
            Node::Binary(_, _, args)
            | Node::ShiftBy(_, args)
            | Node::Blend(_, args)
            | Node::Float(_, args)
            | Node::HalfFloat(_, args)
            | Node::FloatCompare(_, args)
            | Node::NarrowHalves(_, args)
            | Node::Double(_, args)
            | Node::NarrowDoubles(args)
            | Node::DoubleCompare(_, args)
            | Node::Every2nd { of: args, .. }
            | Node::Interleave(_, args)
            | Node::Pair(_, args)
            | Node::Unpack(_, _, args)
            | Node::Pack { of: args, .. }
            | Node::MulAddPairs(args)
            | Node::MulAddBytes(args) => args.into_iter().for_each(f),
            Node::Select(args) | Node::Fma(args) | Node::HalfFma(args) => args.into_iter().for_each(f),
            Node::Gather { addresses, active, .. } => addresses.into_iter().chain(active).for_each(f),
            Node::CheckRow { offset, base, .. } => base.into_iter().flatten().chain([offset]).for_each(f),
            Node::Limit(Limit { from, bound, .. }) => [from, bound].into_iter().for_each(f),
            Node::StoreStrided { bytes, words, .. } => {
                words.into_iter().take(usize::from(bytes).div_ceil(4)).for_each(f);
            }
            Node::StoreEach { addresses, bytes, words, active } => {
                let count = usize::from(bytes).div_ceil(4);
                addresses.into_iter().chain(words.into_iter().take(count)).chain(active).for_each(f);
            }
        }
    }

    /// Returns `true` if the value depends on the operands only.
    pub fn is_pure(&self) -> bool {
        self.has_value()
            && !matches!(
                self,
                Node::Cell(_)
                    | Node::LoadRow(..)
                    | Node::LoadNarrow { .. }
                    | Node::LoadSame { .. }
                    | Node::LoadStrided { .. }
                    | Node::LoadQuads { .. }
                    | Node::Gather { .. }
                    | Node::Address(_)
            )
    }

    /// Returns `true` if the node computes a value.
    pub fn has_value(&self) -> bool {
        !matches!(
            self,
            Node::SetCell(..)
                | Node::SetWord(..)
                | Node::Limit(_)
                | Node::SkipUnless(_)
                | Node::CheckRow { .. }
                | Node::StoreStrided { .. }
                | Node::StoreQuads { .. }
                | Node::UnlessSigns(_)
                | Node::UnlessBits(_)
                | Node::Count
                | Node::StoreRow(..)
                | Node::StoreNarrow(..)
                | Node::StoreEach { .. }
        )
    }
}
