//! Kernels: signatures, blocks, instructions and values, stored in entity maps.

use std::sync::Arc;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, EntityRef, ListPool, PrimaryMap, SecondaryMap, entity_impl};
use halfbyte_abi::{Axis, Direction, ParamKind, Type};

use crate::array::{Array, Space};
use crate::attr::{FloatCC, FloatFlags, IntCC, LaneMap, MemAttr};
use crate::op::Op;
use crate::order::{AtomicAttr, FenceAttr};
use crate::span::Span;
use crate::stream::Packing;

/// An SSA value of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(u32);
entity_impl!(Value, "v");

/// An instruction of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Inst(u32);
entity_impl!(Inst, "inst");

/// A basic block of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block(u32);
entity_impl!(Block, "block");

/// A constant wider than 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WideConst(u32);
entity_impl!(WideConst, "const");

/// Reference to the text of an intrinsic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntrinsicRef(u32);
entity_impl!(IntrinsicRef, "intrinsic");

/// A list of values, stored in the kernel's pool.
pub type ValueList = EntityList<Value>;

/// A branch target, with the arguments for the parameters of the target block.
#[derive(Clone, Copy, Debug)]
pub struct BlockCall {
    /// Target block.
    pub block: Block,
    /// Arguments, one per parameter of the block.
    pub args: ValueList,
    /// Case value of a `switch` target. Other terminators do not use it.
    pub case: u32,
}

/// Range of a terminator's targets in the kernel's list of block calls. The default of a switch comes first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CallRange {
    start: u32,
    len: u32,
}

/// Attribute of an instruction: its data besides the operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Attr {
    /// No attribute.
    None,
    /// Float modifiers.
    Float(FloatFlags),
    /// Integer comparison condition.
    IntCC(IntCC),
    /// Floating-point comparison condition.
    FloatCC {
        /// The condition.
        cc: FloatCC,
        /// `true` if subnormal operands are flushed to zero.
        ftz: bool,
    },
    /// Constant of at most 64 bits; lane 0 has the lowest bits.
    Bits(u64),
    /// Constant of more than 64 bits.
    Wide(WideConst),
    /// Lane number or part number.
    Lane(u8),
    /// Source lanes of a shuffle.
    Lanes(LaneMap),
    /// Axis of the launch.
    Axis(Axis),
    /// Address of a load or store.
    Mem(MemAttr),
    /// Address, memory order and scope of an atomic access.
    Atomic(AtomicAttr),
    /// Memory order and scope of a fence.
    Fence(FenceAttr),
    /// `true` for an aligned barrier: all items of a subgroup execute the same barrier instruction.
    Aligned(bool),
    /// Targets of a branch.
    Targets(CallRange),
    /// Target instruction, as assembly text.
    Intrinsic(IntrinsicRef),
}

impl Attr {
    /// Returns the axis in the attribute, if any.
    pub const fn axis(self) -> Option<Axis> {
        if let Attr::Axis(axis) = self { Some(axis) } else { None }
    }

    /// Returns the address in the attribute, if any.
    pub const fn mem(self) -> Option<MemAttr> {
        match self {
            Attr::Mem(mem) | Attr::Atomic(AtomicAttr { mem, .. }) => Some(mem),
            _ => None,
        }
    }
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub struct InstData {
    /// The operation.
    pub op: Op,
    /// Controlling type, which is the suffix in text. For an op without a suffix, it is the result
    /// type, or `i32` if there is no result.
    pub ty: Type,
    /// Attribute: the data of the instruction besides its operands.
    pub attr: Attr,
    /// Operands, in the order of the op's description. A memory access has the values, then the
    /// base, then the index if any.
    pub args: ValueList,
    /// Result of the instruction, if any.
    pub result: PackedOption<Value>,
    /// Source span of the instruction.
    pub span: Span,
}

/// A load or store of the source text that was merged into a wider one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MergedAccess {
    /// Byte offset from the address of the wider access.
    pub offset: u32,
    /// Size of the original access in bytes, which is also its alignment.
    pub bytes: u32,
    /// Source span of the original access.
    pub span: Span,
}

/// Definition of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// Kernel parameter, by number.
    Param(u32),
    /// Block parameter, by number.
    BlockParam(Block, u32),
    /// Result of an instruction.
    Result(Inst),
    /// Address of an array of the kernel, by number.
    Array(u32),
}

/// Type and definition of a value.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Type of the value.
    pub ty: Type,
    /// Definition of the value.
    pub def: ValueDef,
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Parameters of the block.
    pub params: ValueList,
    /// Instructions of the block in order. The last one is a terminator.
    pub insts: Vec<Inst>,
    /// Source span of the block's label.
    pub span: Span,
}

/// Parameter of a kernel.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name of the parameter, without `%`.
    pub name: String,
    /// Kind of the parameter: scalar or buffer.
    pub kind: ParamKind,
    /// Value of the parameter in the kernel.
    pub value: Value,
    /// Source span of the parameter.
    pub span: Span,
    /// Constant contents of an `in` buffer, if the kernel declares them. A launch takes no argument
    /// for a parameter with contents.
    pub contents: Option<Arc<[u8]>>,
}

/// A target instruction as assembly text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IntrinsicData {
    /// Name of the target, such as `halu`.
    pub target: String,
    /// One line of assembly, with `$d` for the result and `$0`, `$1`, ... for the operands.
    pub text: String,
}

/// A kernel of the IR.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name of the kernel, without `@`.
    pub name: String,
    /// Source span of the name.
    pub span: Span,
    /// Parameters, in the order of their declaration.
    pub params: Vec<Param>,
    /// Arrays, in the order of their declaration.
    pub arrays: Vec<Array>,
    /// Instructions of all blocks.
    pub insts: PrimaryMap<Inst, InstData>,
    /// Type and definition of each value.
    pub values: PrimaryMap<Value, ValueData>,
    /// Basic blocks.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// Order of the blocks, the entry first. The entry has no parameters and no predecessors.
    pub layout: Vec<Block>,
    /// Constants of more than 64 bits; lane 0 has the lowest bits.
    pub wide_consts: PrimaryMap<WideConst, [u64; 8]>,
    /// Target and assembly text of each intrinsic.
    pub intrinsics: PrimaryMap<IntrinsicRef, IntrinsicData>,
    /// Streams and group size of a packed kernel. The last parameters of a packed kernel are
    /// streams, and one item of the packed kernel is a group of work items.
    pub packing: Option<Packing>,
    /// Pool that holds all value lists of the kernel.
    pub pool: ListPool<Value>,
    calls: Vec<BlockCall>,
    /// Original accesses from which a pass merged wider accesses, sorted by the merged instruction.
    parts: Vec<(Inst, MergedAccess)>,
    names: Names,
}

/// Names of values and blocks in the IR text.
#[derive(Clone, Debug, Default)]
struct Names {
    text: String,
    /// Span in `text` of the name of each value, by the number of the value. Entries at the end may be missing.
    values: Vec<Span>,
    /// Span in `text` of the name of each block, by the number of the block. Entries at the end may be missing.
    blocks: Vec<Span>,
}

impl Names {
    fn add(&mut self, name: &str) -> Span {
        let start = self.text.len() as u32;
        self.text.push_str(name);
        Span { start, end: self.text.len() as u32 }
    }

    fn get(&self, span: Span) -> Option<&str> {
        self.text.get(span.start as usize..span.end as usize).filter(|name| !name.is_empty())
    }
}

/// Returns the span of a value's or block's name; empty if it has no name.
fn entry_of<K: EntityRef>(spans: &[Span], key: K) -> Span {
    spans.get(key.index()).copied().unwrap_or_default()
}

/// Sets the span of the name of a value or a block. Extends `spans` if the entry does not exist.
fn set_entry<K: EntityRef>(spans: &mut Vec<Span>, key: K, span: Span) {
    if key.index() >= spans.len() {
        spans.resize(key.index(), Span::default());
        spans.push(span);
    } else {
        spans[key.index()] = span;
    }
}

/// Returns `true` if a string is a valid name of a kernel, block, value or parameter, without its sigil.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Kernel {
    /// Creates a kernel without parameters or blocks.
    pub fn new(name: impl Into<String>) -> Kernel {
        Kernel {
            name: name.into(),
            span: Span::default(),
            params: Vec::new(),
            arrays: Vec::new(),
            insts: PrimaryMap::new(),
            values: PrimaryMap::new(),
            blocks: PrimaryMap::new(),
            layout: Vec::new(),
            wide_consts: PrimaryMap::new(),
            intrinsics: PrimaryMap::new(),
            packing: None,
            pool: ListPool::new(),
            calls: Vec::new(),
            parts: Vec::new(),
            names: Names::default(),
        }
    }

    /// Moves the kernel out, into memory of exactly its size. [`Kernel::restart`] can then reuse the memory of `self`.
    pub(crate) fn take(&mut self) -> Kernel {
        Kernel {
            name: self.name.clone(),
            span: self.span,
            params: self.params.drain(..).collect(),
            arrays: std::mem::take(&mut self.arrays),
            insts: self.insts.clone(),
            values: self.values.clone(),
            blocks: self.blocks.values_mut().map(std::mem::take).collect(),
            layout: self.layout.clone(),
            wide_consts: self.wide_consts.clone(),
            intrinsics: self.intrinsics.values_mut().map(std::mem::take).collect(),
            packing: self.packing.take(),
            pool: self.pool.clone(),
            calls: self.calls.clone(),
            parts: self.parts.clone(),
            names: self.names.clone(),
        }
    }

    /// Clears the kernel, keeps its allocated memory, and sets a new name.
    pub(crate) fn restart(&mut self, name: &str, span: Span) {
        let Names { text, values, blocks } = &mut self.names;
        text.clear();
        values.clear();
        blocks.clear();
        self.name.clear();
        self.name.push_str(name);
        self.span = span;
        self.params.clear();
        self.arrays.clear();
        self.insts.clear();
        self.values.clear();
        self.blocks.clear();
        self.layout.clear();
        self.wide_consts.clear();
        self.intrinsics.clear();
        self.packing = None;
        self.pool.clear();
        self.calls.clear();
        self.parts.clear();
    }

    /// Returns the entry block.
    #[inline]
    pub fn entry(&self) -> Option<Block> {
        self.layout.first().copied()
    }

    /// Adds a parameter and returns its value.
    pub fn add_param(&mut self, name: impl Into<String>, kind: ParamKind, span: Span) -> Value {
        let name = name.into();
        let ty = match kind {
            ParamKind::Scalar(ty) => ty,
            ParamKind::Buffer { .. } => Type::PTR,
        };
        let value = self.values.push(ValueData { ty, def: ValueDef::Param(self.params.len() as u32) });
        self.set_value_name(value, &name);
        self.params.push(Param { name, kind, value, span, contents: None });
        value
    }

    /// Adds an array and returns its address.
    pub fn add_array(
        &mut self,
        name: impl Into<String>,
        space: Space,
        elem: Type,
        count: Option<u32>,
        align: u32,
        span: Span,
    ) -> Value {
        let name = name.into();
        let value = self.values.push(ValueData { ty: Type::PTR, def: ValueDef::Array(self.arrays.len() as u32) });
        self.set_value_name(value, &name);
        self.arrays.push(Array { name, value, space, elem, count, align, span });
        value
    }

    /// Sets the constant contents of the last added buffer.
    pub fn set_contents(&mut self, contents: Arc<[u8]>) {
        if let Some(param) = self.params.last_mut() {
            param.contents = Some(contents);
        }
    }

    /// Returns `true` if an instruction loads from a buffer that no item of the launch writes.
    pub fn reads_unwritten(&self, inst: Inst) -> bool {
        let base = self.args(inst).first().filter(|_| self.insts[inst].op == Op::Load && self.packing.is_none());
        base.and_then(|&base| self.param(base)).is_some_and(|param| {
            matches!(param.kind, ParamKind::Buffer { direction: Direction::In, .. }) && !self.may_overlap(param)
        })
    }

    /// Marks the last added buffer as `may_alias`: its argument may overlap other buffers.
    pub fn set_may_alias(&mut self) {
        if let Some(Param { kind: ParamKind::Buffer { may_alias, .. }, .. }) = self.params.last_mut() {
            *may_alias = true;
        }
    }

    /// Adds an empty block at the end of the layout.
    pub fn add_block(&mut self) -> Block {
        let block = self.blocks.push(BlockData::default());
        self.layout.push(block);
        block
    }

    /// Adds a parameter to a block. If the kernel has no such block, the new value has no definition.
    pub fn add_block_param(&mut self, block: Block, ty: Type) -> Value {
        let Some(data) = self.blocks.get_mut(block) else {
            return self.values.push(ValueData { ty, def: ValueDef::BlockParam(block, 0) });
        };
        let number = data.params.len(&self.pool) as u32;
        let value = self.values.push(ValueData { ty, def: ValueDef::BlockParam(block, number) });
        data.params.push(value, &mut self.pool);
        value
    }

    /// Creates an instruction that belongs to no block yet. The instruction has a result if `result` is a type.
    #[inline]
    pub fn make_inst(
        &mut self,
        op: Op,
        ty: Type,
        attr: Attr,
        args: &[Value],
        result: Option<Type>,
        span: Span,
    ) -> Inst {
        let args = ValueList::from_slice(args, &mut self.pool);
        let inst = self.insts.push(InstData { op, ty, attr, args, result: None.into(), span });
        if let Some(ty) = result {
            let value = self.values.push(ValueData { ty, def: ValueDef::Result(inst) });
            self.insts[inst].result = value.into();
        }
        inst
    }

    /// Appends an instruction to a block. If the kernel has no such block, the instruction belongs to no block.
    #[allow(clippy::too_many_arguments)]
    pub fn push_inst(
        &mut self,
        block: Block,
        op: Op,
        ty: Type,
        attr: Attr,
        args: &[Value],
        result: Option<Type>,
        span: Span,
    ) -> Inst {
        let inst = self.make_inst(op, ty, attr, args, result, span);
        if let Some(data) = self.blocks.get_mut(block) {
            data.insts.push(inst);
        }
        inst
    }

    /// Stores the branch targets of a terminator, and returns their range.
    pub fn add_calls(&mut self, calls: &[BlockCall]) -> CallRange {
        let start = self.calls.len() as u32;
        self.calls.extend_from_slice(calls);
        CallRange { start, len: calls.len() as u32 }
    }

    /// Sets the original accesses that were merged into a load or store, in source order. If the
    /// merged access traps, the error reports the first original access that is invalid.
    pub fn set_parts(&mut self, access: Inst, parts: impl IntoIterator<Item = MergedAccess>) {
        let start = self.parts.partition_point(|(inst, _)| *inst < access);
        let end = self.parts.partition_point(|(inst, _)| *inst <= access);
        self.parts.splice(start..end, parts.into_iter().map(|part| (access, part)));
    }

    /// Returns the original accesses that were merged into a load or store. The result is empty for
    /// an access that was not merged.
    pub fn parts(&self, access: Inst) -> impl ExactSizeIterator<Item = MergedAccess> + '_ {
        let start = self.parts.partition_point(|(inst, _)| *inst < access);
        let rest = self.parts.get(start..).unwrap_or(&[]);
        let own = rest.get(..rest.partition_point(|(inst, _)| *inst == access)).unwrap_or(&[]);
        own.iter().map(|(_, part)| *part)
    }

    /// Returns the branch targets in a range.
    #[inline]
    pub fn calls(&self, range: CallRange) -> &[BlockCall] {
        self.calls.get(range.start as usize..(range.start + range.len) as usize).unwrap_or(&[])
    }

    /// Returns the branch targets in a range, for modification.
    pub fn calls_mut(&mut self, range: CallRange) -> &mut [BlockCall] {
        self.calls.get_mut(range.start as usize..(range.start + range.len) as usize).unwrap_or(&mut [])
    }

    /// Returns the branch targets of an instruction; empty unless the instruction is a terminator.
    #[inline]
    pub fn targets(&self, inst: Inst) -> &[BlockCall] {
        match self.insts[inst].attr {
            Attr::Targets(range) => self.calls(range),
            _ => &[],
        }
    }

    /// Returns the operands of an instruction.
    #[inline]
    pub fn args(&self, inst: Inst) -> &[Value] {
        self.insts[inst].args.as_slice(&self.pool)
    }

    /// Returns the arguments that a branch passes to a target block.
    #[inline]
    pub fn call_args(&self, call: &BlockCall) -> &[Value] {
        call.args.as_slice(&self.pool)
    }

    /// Returns the parameters of a block.
    #[inline]
    pub fn block_params(&self, block: Block) -> &[Value] {
        self.blocks.get(block).map_or(&[], |data| data.params.as_slice(&self.pool))
    }

    /// Gives each instruction without a source span the span of the nearest instruction in its
    /// block: an earlier instruction if possible, else a later one. If no instruction of the block
    /// has a span, the span of the kernel is used.
    pub fn locate(&mut self) {
        let is_known = |span: &Span| span.end != 0;
        for &block in &self.layout {
            let insts = &self.blocks[block].insts;
            let mut near = insts.iter().map(|&inst| self.insts[inst].span).find(is_known).unwrap_or(self.span);
            for &inst in insts {
                let span = &mut self.insts[inst].span;
                if is_known(span) { near = *span } else { *span = near }
            }
        }
    }

    /// Returns a block's last instruction, if any.
    #[inline]
    pub fn terminator(&self, block: Block) -> Option<Inst> {
        self.blocks[block].insts.last().copied()
    }

    /// Returns the successors of a block, in the order of the terminator's targets.
    pub fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.terminator(block).into_iter().flat_map(|inst| self.targets(inst)).map(|call| call.block)
    }

    /// Returns the result of an instruction, if it has one.
    #[inline]
    pub fn result(&self, inst: Inst) -> Option<Value> {
        self.insts[inst].result.expand()
    }

    /// Returns the instruction that defines a value, if any.
    #[inline]
    pub fn def_inst(&self, value: Value) -> Option<Inst> {
        match self.values[value].def {
            ValueDef::Result(inst) => Some(inst),
            _ => None,
        }
    }

    /// Returns a value's type.
    #[inline]
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// Returns the bits of a constant instruction in 64-bit words; lane 0 has the lowest bits.
    /// Returns `None` for other instructions.
    #[inline]
    pub fn const_bits(&self, inst: Inst) -> Option<[u64; 8]> {
        match self.insts[inst].attr {
            Attr::Bits(bits) => Some([bits, 0, 0, 0, 0, 0, 0, 0]),
            Attr::Wide(wide) => self.wide_consts.get(wide).copied(),
            _ => None,
        }
    }

    /// Creates the attribute of a constant of type `ty`.
    pub fn const_attr(&mut self, ty: Type, bits: [u64; 8]) -> Attr {
        if ty.bits() <= 64 { Attr::Bits(bits[0]) } else { Attr::Wide(self.wide_consts.push(bits)) }
    }

    /// Returns the kernel parameter that defines a value, if any.
    #[inline]
    pub fn param(&self, value: Value) -> Option<&Param> {
        match self.values.get(value)?.def {
            ValueDef::Param(number) => self.params.get(number as usize),
            _ => None,
        }
    }

    /// Returns the parameters that are visible to a launch: all except the streams of a packed kernel.
    pub fn launch_params(&self) -> &[Param] {
        let streams = self.packing.as_ref().map_or(0, |packing| packing.streams.len());
        self.params.get(..self.params.len().saturating_sub(streams)).unwrap_or(&[])
    }

    /// Returns the parameters that take an argument at launch: the parameters visible to a launch,
    /// except the last ones, which have constant contents.
    pub fn given_params(&self) -> &[Param] {
        let all = self.launch_params();
        let given = all.iter().position(|param| param.contents.is_some()).unwrap_or(all.len());
        all.get(..given).unwrap_or(&[])
    }

    /// Returns `true` if the buffer of a parameter may overlap another buffer, even if the kernel
    /// writes one of the two.
    pub fn may_overlap(&self, param: &Param) -> bool {
        let others = self.given_params().iter().filter(|other| other.value != param.value);
        param.contents.is_none() && others.into_iter().any(|other| param.kind.may_overlap(other.kind))
    }

    /// Returns the number of the stream whose address is `value`, if the kernel is packed and there is one.
    pub fn stream(&self, value: Value) -> Option<usize> {
        match self.values.get(value)?.def {
            ValueDef::Param(number) if self.packing.is_some() && (number as usize) < self.params.len() => {
                (number as usize).checked_sub(self.launch_params().len())
            }
            _ => None,
        }
    }

    /// Returns the source span of the stream with number `number`.
    pub fn stream_span(&self, number: usize) -> Option<Span> {
        Some(self.packing.as_ref()?.streams.get(number)?.site)
    }

    /// Returns `true` if an op uses axis y or z. The kernel is then intended for launches along several axes.
    pub fn names_several_axes(&self) -> bool {
        let mut insts = self.layout.iter().flat_map(|&block| &self.blocks[block].insts);
        insts.any(|&inst| matches!(self.insts[inst].attr, Attr::Axis(Axis::Y | Axis::Z)))
    }

    /// Returns the element type and the alignment in bytes of the buffer or array whose address is `base`.
    pub fn elements(&self, base: Value) -> Option<(Type, u32)> {
        match self.values.get(base)?.def {
            ValueDef::Param(number) => match self.params.get(number as usize)?.kind {
                ParamKind::Buffer { elem, align, .. } => Some((elem, align)),
                ParamKind::Scalar(_) => None,
            },
            ValueDef::Array(number) => self.arrays.get(number as usize).map(|array| (array.elem, array.align)),
            _ => None,
        }
    }

    /// Returns the default address attribute of an access of type `ty` through a base. The scale is
    /// the element size of the buffer or array, or else the size of the accessed value. The
    /// alignment is the size of the value, limited by the alignment of the buffer or array.
    pub fn default_mem(&self, base: Value, ty: Type) -> MemAttr {
        let (scale, most) = match self.elements(base) {
            Some((elem, align)) => (elem.bytes(), align),
            None => (ty.bytes(), u32::MAX),
        };
        MemAttr { scale, offset: 0, align: ty.bytes().min(most), wide: false }
    }

    /// Replaces all uses of values in one pass. A replacement may itself have a replacement.
    pub fn replace_uses(&mut self, with: &SecondaryMap<Value, PackedOption<Value>>) {
        let resolve = |value: &mut Value| {
            while let Some(next) = with[*value].expand() {
                *value = next;
            }
        };
        for &block in &self.layout {
            for &inst in &self.blocks[block].insts {
                let data = self.insts[inst];
                let mut args = data.args;
                args.as_mut_slice(&mut self.pool).iter_mut().for_each(resolve);
                if let Attr::Targets(range) = data.attr {
                    for i in range.start..range.start + range.len {
                        let mut args = self.calls[i as usize].args;
                        args.as_mut_slice(&mut self.pool).iter_mut().for_each(resolve);
                    }
                }
            }
        }
    }

    /// Returns the name of a value in the IR text, without `%`, if it has one.
    #[inline]
    pub fn value_name(&self, value: Value) -> Option<&str> {
        self.names.get(entry_of(&self.names.values, value))
    }

    /// Sets the name of a value. Invalid values are ignored.
    pub fn set_value_name(&mut self, value: Value, name: &str) {
        if !self.values.is_valid(value) {
            return;
        }
        let span = self.names.add(name);
        set_entry(&mut self.names.values, value, span);
    }

    /// Gives an unnamed value the name of the value that it replaces.
    pub fn inherit_value_name(&mut self, value: Value, from: Value) {
        if self.value_name(value).is_none() {
            let span = entry_of(&self.names.values, from);
            set_entry(&mut self.names.values, value, span);
        }
    }

    /// Returns the name of a block in the IR text, without `^`, if it has one.
    pub fn block_name(&self, block: Block) -> Option<&str> {
        self.names.get(entry_of(&self.names.blocks, block))
    }

    /// Sets the name of a block. Invalid blocks are ignored.
    pub fn set_block_name(&mut self, block: Block, name: &str) {
        if !self.blocks.is_valid(block) {
            return;
        }
        let span = self.names.add(name);
        set_entry(&mut self.names.blocks, block, span);
    }
}

/// Kernels that were parsed or built together.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The kernels, in the order of their definition.
    pub kernels: Vec<Kernel>,
}

impl Module {
    /// Returns the kernel with a name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn accesses_have_their_own_parts() {
        let mut kernel = Kernel::new("k");
        let mut access = || kernel.make_inst(Op::Load, Type::I64, Attr::None, &[], Some(Type::I64), Span::default());
        let [first, second, third] = [access(), access(), access()];
        let part = |offset| MergedAccess { offset, bytes: 4, span: Span { start: offset, end: offset + 1 } };
        kernel.set_parts(third, [part(0), part(4)]);
        kernel.set_parts(first, [part(8)]);
        assert_eq!(kernel.parts(first).collect::<Vec<_>>(), [part(8)]);
        assert_eq!(kernel.parts(second).len(), 0);
        assert_eq!(kernel.parts(third).collect::<Vec<_>>(), [part(0), part(4)]);
        kernel.set_parts(third, [part(12)]);
        kernel.set_parts(first, []);
        assert_eq!(kernel.parts(first).len(), 0);
        assert_eq!(kernel.parts(third).collect::<Vec<_>>(), [part(12)]);
    }
}
