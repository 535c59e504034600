//! Builder with which Rust code creates kernels.
//!
//! The builder checks nothing; [`verify`](crate::verify()) checks the finished kernel. The caller
//! selects an op by its [`Op`]. The description of the op ([`OpRow`](crate::OpRow)) determines the
//! result type, so most ops need no method of their own.
//!
//! ```
//! use halfbyte_ir::{builder::Builder, Direction, FloatFlags, Op, Type};
//! let mut b = Builder::new("axpy");
//! let a = b.scalar("a", Type::F16X2);
//! let x = b.buffer("x", Direction::In, Type::F16X2);
//! let y = b.buffer("y", Direction::InOut, Type::F16X2);
//! b.begin("entry", &[]);
//! let i = b.here(Op::ItemId);
//! let xi = b.load(Type::F16X2, x, i);
//! let yi = b.load(Type::F16X2, y, i);
//! let r = b.float(Op::Ffma, Type::F16X2, FloatFlags::default(), &[a, xi, yi]);
//! b.store(Type::F16X2, r, y, i);
//! b.ret();
//! let kernel = b.finish();
//! assert!(halfbyte_ir::verify(&kernel).is_ok());
//! ```

use std::sync::Arc;

use cranelift_entity::packed_option::ReservedValue;
use halfbyte_abi::{Axis, Direction, ParamKind, Type};

use crate::array::Space;
use crate::attr::{FloatCC, FloatFlags, IntCC, LaneMap, MemAttr};
use crate::kernel::{Attr, Block, BlockCall, Inst, IntrinsicData, Kernel, Value, ValueList};
use crate::op::{AttrKind, Op};
use crate::order::{AtomicAttr, FenceAttr, MemOrder, Scope};
use crate::span::Span;

/// A kernel under construction. New instructions are appended to the current block.
#[derive(Clone, Debug)]
pub struct Builder {
    kernel: Kernel,
    block: Option<Block>,
    span: Span,
}

/// Index of a load or store: a value, a constant, or their sum, in elements of the buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Index {
    /// Variable part of the index, an `i32` value.
    pub value: Option<Value>,
    /// Constant part of the index, in elements.
    pub steps: i32,
}

impl From<Value> for Index {
    fn from(value: Value) -> Index {
        Index { value: Some(value), steps: 0 }
    }
}

impl From<i32> for Index {
    fn from(steps: i32) -> Index {
        Index { value: None, steps }
    }
}

impl From<(Value, i32)> for Index {
    fn from((value, steps): (Value, i32)) -> Index {
        Index { value: Some(value), steps }
    }
}

impl Builder {
    /// Starts a kernel with the given name.
    pub fn new(name: impl Into<String>) -> Builder {
        Builder { kernel: Kernel::new(name), block: None, span: Span::default() }
    }

    /// Returns the finished kernel.
    pub fn finish(self) -> Kernel {
        self.kernel
    }

    /// Returns the unfinished kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Sets the source span of the instructions that follow.
    pub fn set_span(&mut self, span: Span) {
        self.span = span;
    }

    /// Adds a scalar parameter.
    pub fn scalar(&mut self, name: &str, ty: Type) -> Value {
        self.kernel.add_param(name, ParamKind::Scalar(ty), self.span)
    }

    /// Adds a buffer parameter with the natural alignment of its elements.
    pub fn buffer(&mut self, name: &str, direction: Direction, elem: Type) -> Value {
        self.buffer_aligned(name, direction, elem, elem.bytes())
    }

    /// Adds a buffer parameter with an alignment of `align` bytes.
    pub fn buffer_aligned(&mut self, name: &str, direction: Direction, elem: Type, align: u32) -> Value {
        self.kernel.add_param(name, ParamKind::Buffer { direction, elem, align, may_alias: false }, self.span)
    }

    /// Marks the last added buffer as `may_alias`: its argument may overlap other buffers although
    /// the kernel writes it.
    pub fn may_alias(&mut self) {
        self.kernel.set_may_alias();
    }

    /// Adds a buffer parameter with constant contents, a whole number of elements, and an alignment
    /// of `align` bytes. Parameters with constant contents must come after all others.
    pub fn data(&mut self, name: &str, elem: Type, align: u32, contents: impl Into<Arc<[u8]>>) -> Value {
        let value = self.buffer_aligned(name, Direction::In, elem, align);
        self.kernel.set_contents(contents.into());
        value
    }

    /// Sets the constant contents of the last added buffer, like [`Builder::data`].
    pub fn contents(&mut self, contents: impl Into<Arc<[u8]>>) {
        self.kernel.set_contents(contents.into());
    }

    /// Declares an array in shared or local memory, with the natural alignment of its elements. If
    /// `count` is `None`, the launch determines the size of the array.
    pub fn array(&mut self, name: &str, space: Space, elem: Type, count: impl Into<Option<u32>>) -> Value {
        self.array_aligned(name, space, elem, count, elem.bytes())
    }

    /// Declares an array in shared or local memory, with an alignment of `align` bytes.
    pub fn array_aligned(
        &mut self,
        name: &str,
        space: Space,
        elem: Type,
        count: impl Into<Option<u32>>,
        align: u32,
    ) -> Value {
        self.kernel.add_array(name, space, elem, count.into(), align, self.span)
    }

    /// Adds a block with parameters of the given types. [`Builder::params`] returns their values.
    pub fn block(&mut self, name: &str, params: &[Type]) -> Block {
        let block = self.kernel.add_block();
        self.kernel.set_block_name(block, name);
        for &ty in params {
            self.kernel.add_block_param(block, ty);
        }
        block
    }

    /// Adds a block and makes it the current block.
    pub fn begin(&mut self, name: &str, params: &[Type]) -> Block {
        let block = self.block(name, params);
        self.go_to(block);
        block
    }

    /// Makes a block the current block, to which new instructions are appended.
    pub fn go_to(&mut self, block: Block) {
        self.block = Some(block);
    }

    /// Returns the values of a block's parameters.
    pub fn params(&self, block: Block) -> &[Value] {
        self.kernel.block_params(block)
    }

    /// Sets the name of a value in the IR text.
    pub fn name(&mut self, value: Value, name: &str) -> Value {
        self.kernel.set_value_name(value, name);
        value
    }

    /// Adds an instruction with any op. Without a current block, the instruction belongs to no block.
    pub fn inst(&mut self, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Inst {
        let row = op.row();
        let ty = row.fixed_type().unwrap_or(ty);
        let result = row.result_type(ty);
        match self.block {
            Some(block) => self.kernel.push_inst(block, op, ty, attr, args, result, self.span),
            None => self.kernel.make_inst(op, ty, attr, args, result, self.span),
        }
    }

    /// Adds an instruction with any op and returns its result. If the op has no result, returns an invalid value.
    pub fn value(&mut self, op: Op, ty: Type, attr: Attr, args: &[Value]) -> Value {
        let inst = self.inst(op, ty, attr, args);
        self.kernel.result(inst).unwrap_or(Value::reserved_value())
    }

    /// Adds an op with the controlling type `ty` and without attributes. Float modifiers have their
    /// defaults, and a barrier is aligned.
    pub fn op(&mut self, op: Op, ty: Type, args: &[Value]) -> Value {
        let attr = match op.row().attr {
            AttrKind::Float(_) => Attr::Float(FloatFlags::default()),
            AttrKind::Barrier => Attr::Aligned(true),
            _ => Attr::None,
        };
        self.value(op, ty, attr, args)
    }

    /// Adds an op that returns a position or size along one axis, such as [`Op::ItemId`]. Use
    /// [`here`](Builder::here) for the position over all axes.
    pub fn along(&mut self, op: Op, axis: Axis) -> Value {
        self.value(op, Type::I32, Attr::Axis(axis), &[])
    }

    /// Adds an op without operands and without a type suffix, such as [`Op::ItemId`].
    pub fn here(&mut self, op: Op) -> Value {
        self.op(op, Type::I32, &[])
    }

    /// Adds a floating-point op with modifiers.
    pub fn float(&mut self, op: Op, ty: Type, flags: FloatFlags, args: &[Value]) -> Value {
        self.value(op, ty, Attr::Float(flags), args)
    }

    /// Adds an integer comparison.
    pub fn icmp(&mut self, cc: IntCC, ty: Type, a: Value, b: Value) -> Value {
        self.value(Op::Icmp, ty, Attr::IntCC(cc), &[a, b])
    }

    /// Adds a floating-point comparison: [`Op::Fcmp`] or [`Op::Fset`].
    pub fn fcmp(&mut self, op: Op, cc: FloatCC, ftz: bool, ty: Type, a: Value, b: Value) -> Value {
        self.value(op, ty, Attr::FloatCC { cc, ftz }, &[a, b])
    }

    /// Adds a constant from the bits of its lanes, lane 0 first. A single entry applies to all lanes.
    pub fn constant(&mut self, ty: Type, lanes: &[u64]) -> Value {
        let width = ty.elem().bits() as usize;
        let mut words = [0; 8];
        for i in 0..ty.lanes() {
            let lane = if let [all] = lanes { Some(all) } else { lanes.get(i) };
            if let (Some(lane), Some(word)) = (lane, words.get_mut(i * width / 64)) {
                *word |= (lane & ty.elem().mask()) << (i * width % 64);
            }
        }
        self.const_words(ty, words)
    }

    /// Adds a constant from 64-bit words. Lane 0 has the lowest bits.
    pub fn const_words(&mut self, ty: Type, words: [u64; 8]) -> Value {
        let attr = self.kernel.const_attr(ty, words);
        self.value(Op::Const, ty, attr, &[])
    }

    /// Adds an integer constant with the same value in all lanes.
    pub fn int(&mut self, ty: Type, value: i64) -> Value {
        self.constant(ty, &[value as u64])
    }

    /// Adds an op with a lane number or part number: [`Op::Extract`], [`Op::Insert`], [`Op::Split`].
    pub fn lane(&mut self, op: Op, ty: Type, args: &[Value], lane: u8) -> Value {
        self.value(op, ty, Attr::Lane(lane), args)
    }

    /// Adds a shuffle with the given source lanes, one per result lane.
    pub fn shuffle(&mut self, ty: Type, a: Value, b: Value, lanes: &[u8]) -> Value {
        self.value(Op::Shuffle, ty, Attr::Lanes(LaneMap::new(lanes)), &[a, b])
    }

    /// Adds a target instruction, given as assembly text; see [`Op::Intrinsic`].
    pub fn intrinsic(&mut self, ty: Type, target: &str, text: &str, args: &[Value]) -> Value {
        let data = IntrinsicData { target: target.into(), text: text.into() };
        let attr = Attr::Intrinsic(self.kernel.intrinsics.push(data));
        self.value(Op::Intrinsic, ty, attr, args)
    }

    /// Adds a load with the default scale and alignment.
    pub fn load(&mut self, ty: Type, base: Value, index: impl Into<Index>) -> Value {
        let index = index.into();
        let attr = self.address(ty, base, index);
        let args = [base, index.value.unwrap_or(base)];
        self.value(Op::Load, ty, attr, args.get(..1 + usize::from(index.value.is_some())).unwrap_or(&args))
    }

    /// Adds a store with the default scale and alignment.
    pub fn store(&mut self, ty: Type, value: Value, base: Value, index: impl Into<Index>) -> Inst {
        let index = index.into();
        let attr = self.address(ty, base, index);
        let args = [value, base, index.value.unwrap_or(base)];
        self.inst(Op::Store, ty, attr, args.get(..2 + usize::from(index.value.is_some())).unwrap_or(&args))
    }

    /// Adds an atomic access. `values` are the operands before the address. Returns the result, if the op has one.
    pub fn atomic(
        &mut self,
        op: Op,
        ty: Type,
        (order, scope): (MemOrder, Scope),
        values: &[Value],
        base: Value,
        index: impl Into<Index>,
    ) -> Option<Value> {
        let index = index.into();
        let Attr::Mem(mem) = self.address(ty, base, index) else { return None };
        let attr = Attr::Atomic(AtomicAttr { mem: MemAttr { align: ty.bytes(), ..mem }, order, scope });
        let args: Vec<Value> = values.iter().copied().chain([base]).chain(index.value).collect();
        let inst = self.inst(op, ty, attr, &args);
        self.kernel.result(inst)
    }

    /// Adds a barrier for all items of the group.
    pub fn barrier(&mut self) -> Inst {
        self.inst(Op::Barrier, Type::I32, Attr::Aligned(true), &[])
    }

    /// Adds a memory fence.
    pub fn fence(&mut self, order: MemOrder, scope: Scope) -> Inst {
        self.inst(Op::Fence, Type::I32, Attr::Fence(FenceAttr { order, scope }), &[])
    }

    fn address(&self, ty: Type, base: Value, index: Index) -> Attr {
        let mut mem = self.kernel.default_mem(base, ty);
        mem.offset = index.steps.saturating_mul(mem.scale as i32);
        Attr::Mem(mem)
    }

    /// Ends the current block with an unconditional branch.
    pub fn br(&mut self, to: Block, args: &[Value]) -> Inst {
        self.branch(Op::Br, &[], &[(0, to, args)])
    }

    /// Ends the current block with a conditional branch: to the first target if the condition is
    /// true, else to the second.
    pub fn br_if(&mut self, condition: Value, then: (Block, &[Value]), otherwise: (Block, &[Value])) -> Inst {
        self.branch(Op::BrIf, &[condition], &[(0, then.0, then.1), (0, otherwise.0, otherwise.1)])
    }

    /// Ends the current block with a switch: a branch to the target of the case that equals the
    /// value, else to `default`.
    pub fn switch(&mut self, on: Value, default: (Block, &[Value]), cases: &[(u32, Block, &[Value])]) -> Inst {
        let mut targets = vec![(0, default.0, default.1)];
        targets.extend_from_slice(cases);
        self.branch(Op::Switch, &[on], &targets)
    }

    fn branch(&mut self, op: Op, args: &[Value], targets: &[(u32, Block, &[Value])]) -> Inst {
        let pool = &mut self.kernel.pool;
        let calls: Vec<BlockCall> = targets
            .iter()
            .map(|&(case, block, args)| BlockCall { block, args: ValueList::from_slice(args, pool), case })
            .collect();
        let attr = Attr::Targets(self.kernel.add_calls(&calls));
        self.inst(op, Type::I32, attr, args)
    }

    /// Ends the current block with the end of the work item.
    pub fn ret(&mut self) -> Inst {
        self.inst(Op::Ret, Type::I32, Attr::None, &[])
    }
}
