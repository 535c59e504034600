//! Dataflow of a block: a list of operations on rows.
//!
//! A row has one value for each of the work items that execute together. Instructions are evaluated
//! over the domain of this file. In this domain, a word is the number of an operation, and a
//! computation with words appends operations. The [`Shape`] of an operation marks results that are
//! uniform or affine.

use arrayvec::ArrayVec;
use halfbyte_isa::approx::Function;
use halfbyte_isa::atomic::AtomicOp;
use halfbyte_isa::half::{Compare, Format, Rounding};
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{
    Conversion, Divide, Domain, FloatOp, HalfCompare, HalfKind, HalfMinMax, HalfOp, VideoMerge, VideoOp, Width,
    permute, single_in_steps,
};

use super::cells::Cell;
use crate::rows::RowOp;
use halfbyte_isa::trap::{Space, TrapKind};

/// Number of an operation in the dataflow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Id(pub u32);

impl Id {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Dependence of a value on the item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Same value for all items.
    Uniform,
    /// Value that increases by this nonzero stride from each item to the next, modulo 2^32.
    Affine(u32),
    /// Value that increases by the first stride along x and by the second along y, modulo 2^32. The group has no third
    /// axis, and at least one stride is not zero.
    Grid(u32, u32),
    /// Any dependence.
    Varying,
}

impl Shape {
    /// Returns the stride of an affine value, or zero for every other shape.
    pub fn stride(self) -> u32 {
        match self {
            Shape::Affine(stride) => stride,
            Shape::Uniform | Shape::Grid(..) | Shape::Varying => 0,
        }
    }

    /// Returns the shape of a value with a given stride.
    pub fn affine(stride: u32) -> Shape {
        if stride == 0 { Shape::Uniform } else { Shape::Affine(stride) }
    }

    /// Returns the shape of a value with given strides along x and along y.
    pub fn grid([x, y]: [u32; 2]) -> Shape {
        if [x, y] == [0; 2] { Shape::Uniform } else { Shape::Grid(x, y) }
    }

    /// Returns the shape, or `None` if it is varying. Unless the shape is varying, the value of the first item
    /// determines all values.
    pub fn even(self) -> Option<Shape> {
        if self.is_varying() { None } else { Some(self) }
    }

    /// Returns the value of an item from the value of the first item, in a group with `across` items along x. The
    /// result is meaningless for a varying shape.
    pub fn at(self, first: u32, item: u32, across: u32) -> u32 {
        let by = match self {
            Shape::Uniform | Shape::Varying => 0,
            Shape::Affine(stride) => stride.wrapping_mul(item),
            Shape::Grid(x, y) => {
                let across = across.max(1);
                x.wrapping_mul(item % across).wrapping_add(y.wrapping_mul(item / across))
            }
        };
        first.wrapping_add(by)
    }

    /// Returns the shape of a result whose strides are `by` of the strides of two operands.
    fn combine(self, other: Shape, by: impl Fn(u32, u32) -> u32) -> Shape {
        let grid = |shape| match shape {
            Shape::Uniform => Some([0; 2]),
            Shape::Grid(x, y) => Some([x, y]),
            Shape::Affine(_) | Shape::Varying => None,
        };
        let stride = |shape| match shape {
            Shape::Uniform => Some(0),
            Shape::Affine(stride) => Some(stride),
            Shape::Grid(..) | Shape::Varying => None,
        };
        if let (Some(a), Some(b)) = (stride(self), stride(other)) {
            return Shape::affine(by(a, b));
        }
        match (grid(self), grid(other)) {
            (Some([ax, ay]), Some([bx, by_y])) => Shape::grid([by(ax, bx), by(ay, by_y)]),
            _ => Shape::Varying,
        }
    }

    /// Returns the shape of a value that is one of two values.
    pub fn meet(self, other: Shape) -> Shape {
        if self == other { self } else { Shape::Varying }
    }

    pub fn is_varying(self) -> bool {
        self == Shape::Varying
    }
}

/// Maximum number of operands of an operation: the words of three f64s.
pub(crate) const MOST: usize = 6;

/// Operation of a dataflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub op: Op,
    /// Operands. Entries after the arity of the operation are unused.
    pub args: [Id; MOST],
    pub shape: Shape,
    /// Bits that may be 1.
    pub bits: u32,
}

/// Computation of an operation. An operation with the name of a method of [`Domain`] computes what the method does.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Op {
    Const(u32),
    Truth(bool),
    /// Value of a cell before the block.
    Input(Cell),
    /// Truth value that is true for the items at this block.
    Mask,
    /// Bytes of constant bank 0, which are within the bank.
    Bank {
        offset: u32,
        width: Width,
        signed: bool,
    },
    And,
    Or,
    Xor,
    Not,
    Shl,
    Shr,
    Sar,
    Add,
    Sub,
    Mul,
    MulHigh(bool),
    Divide(Divide),
    Equal,
    Less(bool),
    Both,
    Either,
    Differ,
    Negate,
    /// Second operand if the first one is true, otherwise the third one; for words.
    Select,
    /// Second operand if the first one is true, otherwise the third one; for truth values.
    Choose,
    FAdd,
    FMul,
    Fma,
    FDiv,
    FSqrt,
    /// Operation on f32 that does not round to nearest.
    Single(FloatOp),
    /// One word of the result of an operation on f64s.
    Double(FloatOp, u8),
    /// One word of the result.
    Convert(Conversion, u8),
    Elementary(Function),
    FCompare(Compare),
    IntToFloat(bool),
    FloatToInt(bool),
    Narrow(Format, Rounding),
    Widen(Format),
    Half(HalfOp),
    /// Minimum or maximum. The third operand is a truth value, which is true for the minimum.
    MinMax(HalfMinMax),
    /// One lane of the result of the compare.
    HalfCompare(HalfCompare, u8),
    Video(VideoOp),
    /// Byte permutation: byte i of the result is one of the eight bytes of the two operands.
    Bytes([u8; 4]),
    /// Access to memory, by its index in `accesses`. The operation has no value.
    Access(u32),
    /// Word that an access loads.
    Loaded(u32, u8),
}

impl Op {
    /// Returns the number of operands.
    pub fn arity(self) -> usize {
        match self {
            Op::Const(_) | Op::Truth(_) | Op::Input(_) | Op::Mask | Op::Bank { .. } => 0,
            Op::Access(_) | Op::Loaded(..) => 0,
            Op::Not | Op::Negate | Op::FSqrt | Op::IntToFloat(_) | Op::FloatToInt(_) => 1,
            Op::Narrow(..) | Op::Widen(_) | Op::Elementary(_) => 1,
            Op::Single(op) => op.kind.operands(),
            Op::Double(op, _) => 2 * op.kind.operands(),
            Op::Convert(..) => 2,
            Op::And | Op::Or | Op::Xor | Op::Shl | Op::Shr | Op::Sar | Op::Add | Op::Sub | Op::Mul => 2,
            Op::MulHigh(_) | Op::Divide(_) | Op::Equal | Op::Less(_) | Op::Both | Op::Either | Op::Differ => 2,
            Op::FAdd | Op::FMul | Op::FDiv | Op::FCompare(_) | Op::HalfCompare(..) | Op::Bytes(_) => 2,
            Op::Half(HalfOp { kind: HalfKind::Add | HalfKind::Mul, .. }) => 2,
            Op::Select | Op::Choose | Op::Fma | Op::Half(_) | Op::MinMax(_) | Op::Video(_) => 3,
        }
    }

    /// Returns the operation on rows that compiled code calls for a varying result, for operands with these shapes.
    /// Returns `None` if the host has a short instruction sequence for the operation.
    pub fn row_op(self, shapes: [Shape; MOST], fma: bool) -> Option<RowOp> {
        // Host instructions shift all words by the same count.
        let by_item = shapes[1] != Shape::Uniform;
        Some(match self {
            Op::Shl if by_item => RowOp::Shl,
            Op::Shr if by_item => RowOp::Shr,
            Op::Sar if by_item => RowOp::Sar,
            Op::MulHigh(signed) => RowOp::MulHigh(signed),
            Op::Divide(op) => RowOp::Divide(op),
            Op::Fma if !fma => RowOp::Fma,
            Op::Narrow(format, rounding) => RowOp::Narrow(format, rounding),
            Op::Widen(format) => RowOp::Widen(format),
            Op::Single(op) => RowOp::Single(op),
            Op::Convert(op, part) => RowOp::Convert(op, part),
            Op::Elementary(function) => RowOp::Elementary(function),
            Op::Half(op) => RowOp::Half(op),
            Op::MinMax(op) => RowOp::MinMax(op),
            Op::HalfCompare(op, lane) => RowOp::Compare(op, lane),
            _ => return None,
        })
    }

    /// Returns the operation on rows that computes the same as compiled code, with wider vectors. A call pays off if
    /// the operation stands between buffers.
    pub fn wide_row_op(self) -> Option<RowOp> {
        if let Op::Video(op) = self { RowOp::of_video(&op) } else { None }
    }

    /// Returns `true` if the result is a truth value. Returns `false` for `Input`, whose result depends on the cell.
    pub fn is_truth(self) -> bool {
        matches!(
            self,
            Op::Truth(_)
                | Op::Mask
                | Op::Equal
                | Op::Less(_)
                | Op::Both
                | Op::Either
                | Op::Differ
                | Op::Negate
                | Op::Choose
                | Op::FCompare(_)
                | Op::HalfCompare(..)
        )
    }
}

/// Access to memory, a fence or a fault.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Address of the instruction.
    pub address: u32,
    /// Truth value that is true for the items that make the access. `None` stands for all items.
    pub guard: Option<Id>,
    pub action: Action,
    /// `true` if other items of the group run after the access.
    pub yields: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Load {
        place: Location,
        width: Width,
        signed: bool,
    },
    Store {
        place: Location,
        width: Width,
        data: ArrayVec<Id, 4>,
    },
    /// Atomic operation for each item. `returns` is `true` if the old value is used.
    Atomic {
        place: Location,
        width: Width,
        change: AtomicOp,
        /// Words of the operands. Each operand has as many words as the width has registers.
        operands: ArrayVec<Id, 8>,
        returns: bool,
    },
    /// Fence that orders memory accesses as other threads see them.
    Fence,
    Fault(TrapKind),
}

/// Memory and address of an access.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Location {
    /// Global memory at `base + offset + imm`, where `scale` applies to the offset.
    Global { offset: Id, base: [Id; 2], imm: i32, scale: Scale },
    /// Constant bank at `offset + imm`.
    Constant { bank: u8, offset: Id, imm: u32 },
    /// Memory of the group or declared memory of an item, at `offset + imm`. This sum does not wrap.
    Own { space: Space, offset: Id, imm: i32 },
    /// Memory that `reach` determines, at `base + offset + imm`.
    Flat { offset: Id, base: [Id; 2], imm: i32, reach: Reach },
}

/// Conversion of a word to a 64-bit offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Scale {
    /// Factor in bytes, less than 2^31.
    pub by: u32,
    /// `true` if the word is signed.
    pub signed: bool,
}

impl Scale {
    /// Scale of an unsigned word that counts bytes.
    pub const BYTES: Scale = Scale { by: 1, signed: false };

    /// Returns the offset that a word stands for, modulo 2^64.
    pub fn of(self, word: u32) -> u64 {
        let number = if self.signed { i64::from(word as i32) } else { word.into() };
        number.wrapping_mul(self.by.into()).cast_unsigned()
    }

    /// Returns the shape in bytes of scaled offsets, under the assumption that the offsets do not wrap.
    pub fn shape(self, shape: Shape) -> Shape {
        let scaled = |stride: u32| (stride as i32).checked_mul(self.by.cast_signed()).map(i32::cast_unsigned);
        match shape {
            Shape::Affine(stride) => scaled(stride).map_or(Shape::Varying, Shape::affine),
            Shape::Grid(x, y) => match (scaled(x), scaled(y)) {
                (Some(x), Some(y)) => Shape::grid([x, y]),
                _ => Shape::Varying,
            },
            shape => shape,
        }
    }
}

/// Memory at a 64-bit address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// Any memory, as the address says. `params` is `true` if constant bank 0 is included.
    Any { params: bool },
    /// Single space.
    In(Space),
    /// Constant buffers, at addresses that are distinct from those of global memory.
    Constants,
}

impl Location {
    /// Returns the words that the address depends on.
    pub fn words(&self) -> impl Iterator<Item = Id> + use<> {
        match *self {
            Location::Global { offset, base: [low, high], .. } | Location::Flat { offset, base: [low, high], .. } => {
                [Some(offset), Some(low), Some(high)]
            }
            Location::Constant { offset, .. } | Location::Own { offset, .. } => [Some(offset), None, None],
        }
        .into_iter()
        .flatten()
    }

    /// Replaces the words that the address depends on.
    pub fn map_words(&mut self, by: &mut impl FnMut(Id) -> Id) {
        match self {
            Location::Global { offset, base, .. } | Location::Flat { offset, base, .. } => {
                *offset = by(*offset);
                base.iter_mut().for_each(|word| *word = by(*word));
            }
            Location::Constant { offset, .. } | Location::Own { offset, .. } => *offset = by(*offset),
        }
    }

    /// Returns the shape of the offset in bytes.
    pub fn stride_shape(&self, dataflow: &Dataflow) -> Option<Shape> {
        let shape = self.words().next().map(|offset| dataflow.shape(offset))?;
        Some(if let Location::Global { scale, .. } = self { scale.shape(shape) } else { shape })
    }

    /// Returns `true` if items with the same address may access different memory.
    pub fn is_of_item(&self) -> bool {
        match self {
            Location::Own { space, .. } | Location::Flat { reach: Reach::In(space), .. } => *space == Space::Local,
            Location::Flat { reach, .. } => *reach != Reach::Constants,
            Location::Global { .. } | Location::Constant { .. } => false,
        }
    }
}

/// Operations in order. An operation uses only earlier operations.
#[derive(Debug, Default)]
pub(crate) struct Dataflow {
    pub nodes: Vec<Node>,
    pub accesses: Vec<Access>,
    /// Cache of recent constants, indexed by their lowest bits. Most constants occur again.
    constants: [Option<Id>; CONSTANTS],
}

/// Number of cached constants.
const CONSTANTS: usize = 16;

impl Dataflow {
    /// Empty dataflow.
    pub const NONE: Dataflow = Dataflow { nodes: Vec::new(), accesses: Vec::new(), constants: [None; CONSTANTS] };

    /// Returns an empty dataflow with capacity for the operations of `count` instructions.
    pub fn of_instructions(count: usize) -> Dataflow {
        /// Number of operations of a typical instruction.
        const OF_ONE: usize = 3;
        Dataflow { nodes: Vec::with_capacity(OF_ONE * count), ..Dataflow::NONE }
    }

    pub fn node(&self, id: Id) -> Node {
        // All numbers come from this dataflow.
        self.nodes[id.index()]
    }

    pub fn op(&self, id: Id) -> Op {
        self.node(id).op
    }

    pub fn shape(&self, id: Id) -> Shape {
        self.node(id).shape
    }

    /// Returns the operands of an operation.
    pub fn args(&self, id: Id) -> ArrayVec<Id, MOST> {
        let node = self.node(id);
        node.args.into_iter().take(node.op.arity()).collect()
    }

    pub fn push(&mut self, op: Op, args: &[Id], shape: Shape) -> Id {
        let mut all = [Id(0); MOST];
        all.iter_mut().zip(args).for_each(|(place, arg)| *place = *arg);
        let bits = self.bits(op, all);
        self.nodes.push(Node { op, args: all, shape, bits });
        Id(self.nodes.len() as u32 - 1)
    }

    /// Returns the bits of a word that may be 1.
    fn bits(&self, op: Op, [a, b, c, ..]: [Id; MOST]) -> u32 {
        let of = |id: Id| self.nodes.get(id.index()).map_or(u32::MAX, |node| node.bits);
        let up_to =
            |most: Option<u32>| most.map_or(u32::MAX, |most| u32::MAX.checked_shr(most.leading_zeros()).unwrap_or(0));
        match (op, self.nodes.get(b.index()).map(|node| node.op)) {
            (Op::Const(word), _) => word,
            (Op::Bank { width: Width::B8, signed: false, .. }, _) => 0xFF,
            (Op::Bank { width: Width::B16, signed: false, .. }, _) => 0xFFFF,
            (Op::And, _) => of(a) & of(b),
            (Op::Or | Op::Xor, _) => of(a) | of(b),
            (Op::Add, _) => up_to(of(a).checked_add(of(b))),
            (Op::Mul, _) => up_to(of(a).checked_mul(of(b))),
            (Op::Shl, Some(Op::Const(count))) => of(a).wrapping_shl(count),
            (Op::Shr, Some(Op::Const(count))) => of(a).wrapping_shr(count),
            (Op::Select, _) => of(b) | of(c),
            _ => u32::MAX,
        }
    }

    /// Returns `true` if an access loads the same value for all items, so that a single load is sufficient.
    pub fn is_uniform_load(&self, access: &Access) -> bool {
        let Action::Load { place, .. } = access.action else { return false };
        let is_uniform = |word| self.shape(word) == Shape::Uniform;
        access.guard.is_none() && !place.is_of_item() && place.words().all(is_uniform)
    }

    /// Appends an access, and the words that it loads.
    pub fn access(&mut self, access: Access, words: u8) -> ArrayVec<Id, 4> {
        let number = self.accesses.len() as u32;
        let shape = if self.is_uniform_load(&access) { Shape::Uniform } else { Shape::Varying };
        let bits = match access.action {
            Action::Load { width: Width::B8, signed: false, .. } => 0xFF,
            Action::Load { width: Width::B16, signed: false, .. } => 0xFFFF,
            _ => u32::MAX,
        };
        self.accesses.push(access);
        self.push(Op::Access(number), &[], Shape::Uniform);
        let word = |k| {
            let word = self.push(Op::Loaded(number, k), &[], shape);
            if let Some(node) = self.nodes.last_mut() {
                node.bits = bits;
            }
            word
        };
        (0..words).map(word).collect()
    }

    /// Returns the value of a constant. Constant truth values are 0 or 1.
    pub fn constant(&self, id: Id) -> Option<u32> {
        match self.op(id) {
            Op::Const(value) => Some(value),
            Op::Truth(truth) => Some(truth.into()),
            _ => None,
        }
    }

    /// Returns the offset in constant bank 0 of an address whose two words are loaded whole. A partial word may belong
    /// to another parameter.
    pub fn bank_address(&self, words: [Id; 2]) -> Option<u32> {
        let whole = |word: Id| match self.op(word) {
            Op::Bank { offset, width: Width::B32, .. } => Some(offset),
            _ => None,
        };
        match words.map(whole) {
            [Some(low), Some(high)] if low.checked_add(4) == Some(high) => Some(low),
            _ => None,
        }
    }

    /// Appends an operation without a special rule for its shape: the result is uniform if all operands are uniform,
    /// and varying otherwise.
    pub(super) fn apply(&mut self, op: Op, args: &[Id]) -> Id {
        let uniform = args.iter().all(|&arg| self.shape(arg) == Shape::Uniform);
        self.push(op, args, if uniform { Shape::Uniform } else { Shape::Varying })
    }

    fn binary(&mut self, op: Op, a: Id, b: Id, fold: impl FnOnce(&mut Concrete, u32, u32) -> u32) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(a), Some(b)) => self.word(fold(&mut Concrete, a, b)),
            _ => self.apply(op, &[a, b]),
        }
    }

    /// Returns the value that was shifted left by `count`, and `true` if the shift lost no bits.
    fn shifted(&self, a: Id, count: u32) -> Option<(Id, bool)> {
        let Node { op: Op::Shl, args: [x, by, ..], .. } = self.node(a) else { return None };
        let by = self.constant(by)? & 31;
        (by == count & 31).then(|| (x, self.node(x).bits.leading_zeros() >= by))
    }

    /// Appends an operation that combines strides.
    fn linear(&mut self, op: Op, a: Id, b: Id, stride: impl Fn(u32, u32) -> u32) -> Id {
        let shape = self.shape(a).combine(self.shape(b), stride);
        self.push(op, &[a, b], shape)
    }

    /// Returns `p ? a : b` for truth values.
    pub fn choose(&mut self, p: Id, a: Id, b: Id) -> Id {
        match self.constant(p) {
            Some(0) => b,
            Some(_) => a,
            None if a == b => a,
            None => self.apply(Op::Choose, &[p, a, b]),
        }
    }
}

impl Domain for Dataflow {
    type Word = Id;
    type Pred = Id;

    fn word(&mut self, value: u32) -> Id {
        let place = value as usize % CONSTANTS;
        if let Some(id) = self.constants[place].filter(|&id| self.op(id) == Op::Const(value)) {
            return id;
        }
        let id = self.push(Op::Const(value), &[], Shape::Uniform);
        self.constants[place] = Some(id);
        id
    }

    fn truth(&mut self, value: bool) -> Id {
        self.push(Op::Truth(value), &[], Shape::Uniform)
    }

    fn and(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(0), _) | (_, Some(u32::MAX)) => a,
            (_, Some(0)) | (Some(u32::MAX), _) => b,
            // The mask keeps all bits that may be 1.
            (None, Some(mask)) if self.node(a).bits & !mask == 0 => a,
            (Some(mask), None) if self.node(b).bits & !mask == 0 => b,
            _ => self.binary(Op::And, a, b, |d, a, b| d.and(a, b)),
        }
    }

    fn or(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(u32::MAX), _) | (_, Some(0)) => a,
            (_, Some(u32::MAX)) | (Some(0), _) => b,
            _ => self.binary(Op::Or, a, b, |d, a, b| d.or(a, b)),
        }
    }

    fn xor(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (_, Some(0)) => a,
            (Some(0), _) => b,
            _ => self.binary(Op::Xor, a, b, |d, a, b| d.xor(a, b)),
        }
    }

    fn not(&mut self, a: Id) -> Id {
        match self.constant(a) {
            Some(a) => self.word(!a),
            None => self.apply(Op::Not, &[a]),
        }
    }

    fn shl(&mut self, a: Id, count: Id) -> Id {
        match (self.constant(a), self.constant(count)) {
            (Some(a), Some(count)) => self.word(a.wrapping_shl(count)),
            (None, Some(count)) if count & 31 == 0 => a,
            (None, Some(by)) => self.linear(Op::Shl, a, count, |stride, _| stride.wrapping_shl(by)),
            _ => self.apply(Op::Shl, &[a, count]),
        }
    }

    fn shr(&mut self, a: Id, count: Id) -> Id {
        match self.constant(count) {
            Some(count) if count & 31 == 0 => a,
            Some(count) if let Some((x, _)) = self.shifted(a, count) => {
                let kept = self.word(u32::MAX >> (count & 31));
                self.and(x, kept)
            }
            _ => self.binary(Op::Shr, a, count, |d, a, b| d.shr(a, b)),
        }
    }

    fn sar(&mut self, a: Id, count: Id) -> Id {
        match self.constant(count) {
            Some(count) if count & 31 == 0 => a,
            Some(count)
                if self.node(a).bits >> 31 == 0
                    && let Some((x, true)) = self.shifted(a, count) =>
            {
                x
            }
            _ => self.binary(Op::Sar, a, count, |d, a, b| d.sar(a, b)),
        }
    }

    fn add(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(a), Some(b)) => self.word(a.wrapping_add(b)),
            (_, Some(0)) => a,
            (Some(0), _) => b,
            _ => self.linear(Op::Add, a, b, u32::wrapping_add),
        }
    }

    fn sub(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(a), Some(b)) => self.word(a.wrapping_sub(b)),
            (_, Some(0)) => a,
            _ => self.linear(Op::Sub, a, b, u32::wrapping_sub),
        }
    }

    fn mul(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(a), Some(b)) => self.word(a.wrapping_mul(b)),
            (Some(0), _) | (_, Some(1)) => a,
            (_, Some(0)) | (Some(1), _) => b,
            (Some(k), None) | (None, Some(k)) => self.linear(Op::Mul, a, b, |a, b| a.wrapping_add(b).wrapping_mul(k)),
            (None, None) => self.apply(Op::Mul, &[a, b]),
        }
    }

    fn mul_high(&mut self, signed: bool, a: Id, b: Id) -> Id {
        if !signed && [a, b].iter().any(|&factor| matches!(self.constant(factor), Some(0 | 1))) {
            return self.word(0);
        }
        self.binary(Op::MulHigh(signed), a, b, |d, a, b| d.mul_high(signed, a, b))
    }

    fn divide(&mut self, op: Divide, a: Id, b: Id) -> Id {
        self.binary(Op::Divide(op), a, b, |d, a, b| d.divide(op, a, b))
    }

    fn equal(&mut self, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(a), Some(b)) => self.truth(a == b),
            _ => self.apply(Op::Equal, &[a, b]),
        }
    }

    fn less(&mut self, signed: bool, a: Id, b: Id) -> Id {
        match (self.constant(a), self.constant(b)) {
            (Some(a), Some(b)) => {
                let less = Concrete.less(signed, a, b);
                self.truth(less)
            }
            (_, Some(0)) if !signed => self.truth(false),
            // The carry of `a + 0` has this form.
            _ if a == b => self.truth(false),
            _ => self.apply(Op::Less(signed), &[a, b]),
        }
    }

    fn both(&mut self, p: Id, q: Id) -> Id {
        match (self.constant(p), self.constant(q)) {
            (Some(0), _) | (_, Some(1)) => p,
            (_, Some(0)) | (Some(_), _) => q,
            _ => self.apply(Op::Both, &[p, q]),
        }
    }

    fn either(&mut self, p: Id, q: Id) -> Id {
        match (self.constant(p), self.constant(q)) {
            (Some(1), _) | (_, Some(0)) => p,
            (_, Some(1)) | (Some(_), _) => q,
            _ => self.apply(Op::Either, &[p, q]),
        }
    }

    fn differ(&mut self, p: Id, q: Id) -> Id {
        match (self.constant(p), self.constant(q)) {
            (_, Some(0)) => p,
            (Some(0), _) => q,
            (_, Some(_)) => self.negate(p),
            (Some(_), _) => self.negate(q),
            _ => self.apply(Op::Differ, &[p, q]),
        }
    }

    fn negate(&mut self, p: Id) -> Id {
        match (self.constant(p), self.op(p)) {
            (Some(p), _) => self.truth(p == 0),
            (None, Op::Negate) => self.node(p).args[0],
            _ => self.apply(Op::Negate, &[p]),
        }
    }

    fn select(&mut self, p: Id, a: Id, b: Id) -> Id {
        let same = a == b || self.constant(a).is_some() && self.constant(a) == self.constant(b);
        match self.constant(p) {
            Some(0) => b,
            Some(_) => a,
            None if same => a,
            None => {
                let shape =
                    if self.shape(p) == Shape::Uniform { self.shape(a).meet(self.shape(b)) } else { Shape::Varying };
                self.push(Op::Select, &[p, a, b], shape)
            }
        }
    }

    fn fadd(&mut self, a: Id, b: Id) -> Id {
        self.apply(Op::FAdd, &[a, b])
    }

    fn fmul(&mut self, a: Id, b: Id) -> Id {
        self.apply(Op::FMul, &[a, b])
    }

    fn fma(&mut self, a: Id, b: Id, c: Id) -> Id {
        self.apply(Op::Fma, &[a, b, c])
    }

    fn fdiv(&mut self, a: Id, b: Id) -> Id {
        self.apply(Op::FDiv, &[a, b])
    }

    fn fsqrt(&mut self, a: Id) -> Id {
        self.apply(Op::FSqrt, &[a])
    }

    fn elementary(&mut self, function: Function, a: Id) -> Id {
        self.apply(Op::Elementary(function), &[a])
    }

    fn fcompare(&mut self, compare: Compare, a: Id, b: Id) -> Id {
        self.apply(Op::FCompare(compare), &[a, b])
    }

    fn int_to_float(&mut self, signed: bool, a: Id) -> Id {
        self.apply(Op::IntToFloat(signed), &[a])
    }

    fn float_to_int(&mut self, signed: bool, a: Id) -> Id {
        self.apply(Op::FloatToInt(signed), &[a])
    }

    fn narrow(&mut self, format: Format, rounding: Rounding, a: Id) -> Id {
        self.apply(Op::Narrow(format, rounding), &[a])
    }

    fn widen(&mut self, format: Format, a: Id) -> Id {
        self.apply(Op::Widen(format), &[a])
    }

    fn single(&mut self, op: &FloatOp, [a, b, c]: [Id; 3]) -> Id {
        if op.rounding != Rounding::Nearest {
            return self.apply(Op::Single(*op), &[a, b, c][..op.kind.operands()]);
        }
        single_in_steps(self, op, [a, b, c])
    }

    fn double(&mut self, op: &FloatOp, [a, b, c]: [[Id; 2]; 3]) -> [Id; 2] {
        let words = [a[0], a[1], b[0], b[1], c[0], c[1]];
        [0, 1].map(|part| {
            let op = Op::Double(*op, part);
            self.apply(op, &words[..op.arity()])
        })
    }

    fn convert(&mut self, op: &Conversion, a: [Id; 2]) -> [Id; 2] {
        [0, 1].map(|part| self.apply(Op::Convert(*op, part), &a))
    }

    fn half(&mut self, op: &HalfOp, a: Id, b: Id, c: Id) -> Id {
        let op = Op::Half(*op);
        self.apply(op, &[a, b, c][..op.arity()])
    }

    fn half_minmax(&mut self, op: &HalfMinMax, min: Id, a: Id, b: Id) -> Id {
        self.apply(Op::MinMax(*op), &[a, b, min])
    }

    fn half_compare(&mut self, op: &HalfCompare, a: Id, b: Id) -> [Id; 2] {
        [0, 1].map(|lane| self.apply(Op::HalfCompare(*op, lane), &[a, b]))
    }

    fn video(&mut self, op: &VideoOp, a: Id, b: Id, c: Id) -> Id {
        let all = (1 << op.lanes.count()) - 1;
        let overwritten = op.merge != VideoMerge::Accumulate && op.mask & all == all;
        let c = if overwritten { self.word(0) } else { c };
        self.apply(Op::Video(*op), &[a, b, c])
    }

    fn permute(&mut self, a: Id, b: Id, selector: Id) -> Id {
        match self.constant(selector) {
            Some(selector) => self.permute_by([0, 4, 8, 12].map(|nibble| (selector >> nibble) as u8 & 15), [a, b]),
            None => permute(self, a, b, selector),
        }
    }
}
