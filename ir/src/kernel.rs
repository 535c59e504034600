//! Kernels: signature, blocks, instructions and values, in arenas addressed by small indices.

use std::sync::Arc;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, EntityRef, ListPool, PrimaryMap, SecondaryMap, entity_impl};
use halfbyte_abi::{Axis, ParamKind, Type};

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

/// The text of an intrinsic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IntrinsicRef(u32);
entity_impl!(IntrinsicRef, "intrinsic");

/// A list of values in a kernel's pool.
pub type ValueList = EntityList<Value>;

/// A branch target with the values for the block's parameters.
#[derive(Clone, Copy, Debug)]
pub struct BlockCall {
    /// Where to.
    pub block: Block,
    /// One value a parameter.
    pub args: ValueList,
    /// Of a `switch`: the value it is taken for. Unused elsewhere.
    pub case: u32,
}

/// Which of a kernel's block calls belong to a terminator. A switch's default comes first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CallRange {
    start: u32,
    len: u32,
}

/// What an instruction carries beside its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Attr {
    /// Nothing.
    None,
    /// Float modifiers.
    Float(FloatFlags),
    /// An integer condition.
    IntCC(IntCC),
    /// A float condition, and whether subnormal operands count as zeros.
    FloatCC {
        /// The condition.
        cc: FloatCC,
        /// Flush operands.
        ftz: bool,
    },
    /// A constant of at most 64 bits: its lanes, lane 0 lowest.
    Bits(u64),
    /// A wider constant.
    Wide(WideConst),
    /// A lane or part number.
    Lane(u8),
    /// Lane numbers of a shuffle.
    Lanes(LaneMap),
    /// An axis of the launch.
    Axis(Axis),
    /// An address.
    Mem(MemAttr),
    /// An address, and what an atomic access to it orders.
    Atomic(AtomicAttr),
    /// What a fence orders.
    Fence(FenceAttr),
    /// Of a barrier: whether all items of the group come to this one instruction together.
    Aligned(bool),
    /// Branch targets.
    Targets(CallRange),
    /// A target's instruction.
    Intrinsic(IntrinsicRef),
}

impl Attr {
    /// The axis, where there is one.
    pub const fn axis(self) -> Option<Axis> {
        if let Attr::Axis(axis) = self { Some(axis) } else { None }
    }

    /// The address, where there is one.
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
    /// The controlling type: the suffix in text. For ops without one, the result's type, or `i32` without a result.
    pub ty: Type,
    /// What else it carries.
    pub attr: Attr,
    /// Operands, in the order of the row. An access has its values, base and, if any, index.
    pub args: ValueList,
    /// Its result.
    pub result: PackedOption<Value>,
    /// Where in the text it stands.
    pub span: Span,
}

/// An access that a wider one has taken in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Bytes from the wider access's address to its own.
    pub offset: u32,
    /// Its size in bytes, and its alignment.
    pub bytes: u32,
    /// Where in the text it stands.
    pub span: Span,
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// The kernel's parameter of that number.
    Param(u32),
    /// A block's parameter of that number.
    BlockParam(Block, u32),
    /// An instruction's result.
    Result(Inst),
    /// The address of the kernel's array of that number.
    Array(u32),
}

/// A value's type and definition.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// What defines it.
    pub def: ValueDef,
}

/// A basic block.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Its parameters.
    pub params: ValueList,
    /// Its instructions in order; the last is a terminator.
    pub insts: Vec<Inst>,
    /// Where in the text its label stands.
    pub span: Span,
}

/// A kernel's parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name, without `%`.
    pub name: String,
    /// Scalar or buffer.
    pub kind: ParamKind,
    /// Its value in the kernel.
    pub value: Value,
    /// Where in the text it stands.
    pub span: Span,
    /// What an `in` buffer holds in every launch, where the kernel says so: then a launch gives no argument for it.
    pub contents: Option<Arc<[u8]>>,
}

/// An instruction of a target, by text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct IntrinsicData {
    /// The target's name: `halu`.
    pub target: String,
    /// One line of its assembly, with `$d` for the result and `$0`, `$1`, ... for operands.
    pub text: String,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name, without `@`.
    pub name: String,
    /// Where its name stands in the text.
    pub span: Span,
    /// Its parameters in order.
    pub params: Vec<Param>,
    /// The arrays that it declares, in order.
    pub arrays: Vec<Array>,
    /// Instructions.
    pub insts: PrimaryMap<Inst, InstData>,
    /// Values.
    pub values: PrimaryMap<Value, ValueData>,
    /// Blocks.
    pub blocks: PrimaryMap<Block, BlockData>,
    /// The blocks of the kernel in order, the entry first. The entry has no parameters and no predecessors.
    pub layout: Vec<Block>,
    /// Constants wider than 64 bits, lane 0 lowest.
    pub wide_consts: PrimaryMap<WideConst, [u64; 8]>,
    /// Intrinsics.
    pub intrinsics: PrimaryMap<IntrinsicRef, IntrinsicData>,
    /// How it was packed: then its last parameters are streams, and its item is a group of work items.
    pub packing: Option<Packing>,
    /// The pool of all value lists.
    pub pool: ListPool<Value>,
    calls: Vec<BlockCall>,
    /// What accesses have taken in, by access.
    parts: Vec<(Inst, Part)>,
    names: Names,
}

/// Names of values and blocks, as the text has them.
#[derive(Clone, Debug, Default)]
struct Names {
    text: String,
    /// By number of the value or block, where its name is in the text; those at the end may be missing.
    values: Vec<Span>,
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

/// What there is for a value or block, or the default.
fn entry_of<K: EntityRef>(spans: &[Span], key: K) -> Span {
    spans.get(key.index()).copied().unwrap_or_default()
}

/// Sets what there is for a value or block. Most often it is the first after those that have something.
fn set_entry<K: EntityRef>(spans: &mut Vec<Span>, key: K, span: Span) {
    if key.index() >= spans.len() {
        spans.resize(key.index(), Span::default());
        spans.push(span);
    } else {
        spans[key.index()] = span;
    }
}

/// Whether this can be a name of a kernel, block or value, or a parameter, after its sigil.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Kernel {
    /// A kernel without parameters or blocks.
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

    /// Takes out the kernel that was made here, in memory no larger than it is. What is left is good for `restart`.
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

    /// A new kernel without parameters or blocks, in the memory of this one.
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

    /// The entry block.
    #[inline]
    pub fn entry(&self) -> Option<Block> {
        self.layout.first().copied()
    }

    /// Adds a parameter and gives its value.
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

    /// Adds an array and gives its address.
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

    /// Says what the buffer added last holds, from its first byte on.
    pub fn set_contents(&mut self, contents: Arc<[u8]>) {
        if let Some(param) = self.params.last_mut() {
            param.contents = Some(contents);
        }
    }

    /// Says that the argument of the buffer added last may overlap others.
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

    /// Adds a parameter to a block. One that the kernel does not have gets none: the value then has no definition.
    pub fn add_block_param(&mut self, block: Block, ty: Type) -> Value {
        let Some(data) = self.blocks.get_mut(block) else {
            return self.values.push(ValueData { ty, def: ValueDef::BlockParam(block, 0) });
        };
        let number = data.params.len(&self.pool) as u32;
        let value = self.values.push(ValueData { ty, def: ValueDef::BlockParam(block, number) });
        data.params.push(value, &mut self.pool);
        value
    }

    /// Makes an instruction that belongs to no block yet, with a result of that type, if any.
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

    /// Makes an instruction at the end of a block; at that of one that the kernel does not have, an instruction of no block.
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

    /// Stores a terminator's targets.
    pub fn add_calls(&mut self, calls: &[BlockCall]) -> CallRange {
        let start = self.calls.len() as u32;
        self.calls.extend_from_slice(calls);
        CallRange { start, len: calls.len() as u32 }
    }

    /// Says what a load or store has taken in, in the order in which the text accesses it. Where the access traps, the first
    /// of these that cannot be made is what is reported.
    pub fn set_parts(&mut self, access: Inst, parts: impl IntoIterator<Item = Part>) {
        let start = self.parts.partition_point(|(inst, _)| *inst < access);
        let end = self.parts.partition_point(|(inst, _)| *inst <= access);
        self.parts.splice(start..end, parts.into_iter().map(|part| (access, part)));
    }

    /// What a load or store has taken in; nothing where it is one of the text.
    pub fn parts(&self, access: Inst) -> impl ExactSizeIterator<Item = Part> + '_ {
        let start = self.parts.partition_point(|(inst, _)| *inst < access);
        let rest = self.parts.get(start..).unwrap_or(&[]);
        let own = rest.get(..rest.partition_point(|(inst, _)| *inst == access)).unwrap_or(&[]);
        own.iter().map(|(_, part)| *part)
    }

    /// A terminator's targets.
    #[inline]
    pub fn calls(&self, range: CallRange) -> &[BlockCall] {
        self.calls.get(range.start as usize..(range.start + range.len) as usize).unwrap_or(&[])
    }

    /// A terminator's targets, to change.
    pub fn calls_mut(&mut self, range: CallRange) -> &mut [BlockCall] {
        self.calls.get_mut(range.start as usize..(range.start + range.len) as usize).unwrap_or(&mut [])
    }

    /// An instruction's targets; none but of a terminator.
    #[inline]
    pub fn targets(&self, inst: Inst) -> &[BlockCall] {
        match self.insts[inst].attr {
            Attr::Targets(range) => self.calls(range),
            _ => &[],
        }
    }

    /// An instruction's operands.
    #[inline]
    pub fn args(&self, inst: Inst) -> &[Value] {
        self.insts[inst].args.as_slice(&self.pool)
    }

    /// The arguments of a block call.
    #[inline]
    pub fn call_args(&self, call: &BlockCall) -> &[Value] {
        call.args.as_slice(&self.pool)
    }

    /// A block's parameters.
    #[inline]
    pub fn block_params(&self, block: Block) -> &[Value] {
        self.blocks.get(block).map_or(&[], |data| data.params.as_slice(&self.pool))
    }

    /// Gives each instruction without a place in the text that of the nearest one in its block, first before and then after it, or else that of
    /// the kernel.
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

    /// A block's last instruction, where it has one.
    #[inline]
    pub fn terminator(&self, block: Block) -> Option<Inst> {
        self.blocks[block].insts.last().copied()
    }

    /// The blocks that a block can go to, in the order of its targets.
    pub fn successors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.terminator(block).into_iter().flat_map(|inst| self.targets(inst)).map(|call| call.block)
    }

    /// An instruction's result.
    #[inline]
    pub fn result(&self, inst: Inst) -> Option<Value> {
        self.insts[inst].result.expand()
    }

    /// The instruction whose result a value is.
    #[inline]
    pub fn def_inst(&self, value: Value) -> Option<Inst> {
        match self.values[value].def {
            ValueDef::Result(inst) => Some(inst),
            _ => None,
        }
    }

    /// A value's type.
    #[inline]
    pub fn ty(&self, value: Value) -> Type {
        self.values[value].ty
    }

    /// A constant instruction's bits in 64-bit words, lane 0 lowest.
    #[inline]
    pub fn const_bits(&self, inst: Inst) -> Option<[u64; 8]> {
        match self.insts[inst].attr {
            Attr::Bits(bits) => Some([bits, 0, 0, 0, 0, 0, 0, 0]),
            Attr::Wide(wide) => self.wide_consts.get(wide).copied(),
            _ => None,
        }
    }

    /// The attribute of a constant of a type with these bits.
    pub fn const_attr(&mut self, ty: Type, bits: [u64; 8]) -> Attr {
        if ty.bits() <= 64 { Attr::Bits(bits[0]) } else { Attr::Wide(self.wide_consts.push(bits)) }
    }

    /// The kernel's parameter that a value is.
    #[inline]
    pub fn param(&self, value: Value) -> Option<&Param> {
        match self.values.get(value)?.def {
            ValueDef::Param(number) => self.params.get(number as usize),
            _ => None,
        }
    }

    /// The parameters that a launch knows: all but a packed kernel's streams.
    pub fn launch_params(&self) -> &[Param] {
        let streams = self.packing.as_ref().map_or(0, |packing| packing.streams.len());
        self.params.get(..self.params.len().saturating_sub(streams)).unwrap_or(&[])
    }

    /// The parameters that a launch gives arguments for: those that a launch knows, but for the last ones, whose contents the
    /// kernel has.
    pub fn given_params(&self) -> &[Param] {
        let all = self.launch_params();
        let given = all.iter().position(|param| param.contents.is_some()).unwrap_or(all.len());
        all.get(..given).unwrap_or(&[])
    }

    /// Whether bytes of a buffer that a launch gives may be those of another, which one of the two writes.
    pub fn may_overlap(&self, param: &Param) -> bool {
        let others = self.given_params().iter().filter(|other| other.value != param.value);
        param.contents.is_none() && others.into_iter().any(|other| param.kind.may_overlap(other.kind))
    }

    /// The number of the stream whose address a value is, in a packed kernel.
    pub fn stream(&self, value: Value) -> Option<usize> {
        match self.values.get(value)?.def {
            ValueDef::Param(number) if self.packing.is_some() && (number as usize) < self.params.len() => {
                (number as usize).checked_sub(self.launch_params().len())
            }
            _ => None,
        }
    }

    /// The place in the text of the stream of that number.
    pub fn stream_span(&self, number: usize) -> Option<Span> {
        Some(self.packing.as_ref()?.streams.get(number)?.site)
    }

    /// Whether an op names an axis that launches along x do not have, so that the kernel is meant for others.
    pub fn names_several_axes(&self) -> bool {
        let mut insts = self.layout.iter().flat_map(|&block| &self.blocks[block].insts);
        insts.any(|&inst| matches!(self.insts[inst].attr, Attr::Axis(Axis::Y | Axis::Z)))
    }

    /// What the elements of a buffer or array are and at which alignment it starts, where that is what a value is the address of.
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

    /// The address attribute of an access of a type through this base where the text adds nothing: the index steps by
    /// the element of the buffer or array, and by the accessed value where the base is neither; the address is a
    /// multiple of the value's size, as far as the alignment of the buffer or array promises it.
    pub fn default_mem(&self, base: Value, ty: Type) -> MemAttr {
        let (scale, most) = match self.elements(base) {
            Some((elem, align)) => (elem.bytes(), align),
            None => (ty.bytes(), u32::MAX),
        };
        MemAttr { scale, offset: 0, align: ty.bytes().min(most), wide: false }
    }

    /// Replaces values everywhere they are used, in one sweep. A replacement may itself be replaced.
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

    /// A value's name in text, without `%`, where it has one.
    #[inline]
    pub fn value_name(&self, value: Value) -> Option<&str> {
        self.names.get(entry_of(&self.names.values, value))
    }

    /// Names a value that the kernel has.
    pub fn set_value_name(&mut self, value: Value, name: &str) {
        if !self.values.is_valid(value) {
            return;
        }
        let span = self.names.add(name);
        set_entry(&mut self.names.values, value, span);
    }

    /// Lets a value without a name have that of another, which it stands for from now on.
    pub fn inherit_value_name(&mut self, value: Value, from: Value) {
        if self.value_name(value).is_none() {
            let span = entry_of(&self.names.values, from);
            set_entry(&mut self.names.values, value, span);
        }
    }

    /// A block's name in text, without `^`, where it has one.
    pub fn block_name(&self, block: Block) -> Option<&str> {
        self.names.get(entry_of(&self.names.blocks, block))
    }

    /// Names a block that the kernel has.
    pub fn set_block_name(&mut self, block: Block, name: &str) {
        if !self.blocks.is_valid(block) {
            return;
        }
        let span = self.names.add(name);
        set_entry(&mut self.names.blocks, block, span);
    }
}

/// Kernels that were read, or built, together.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The kernels in order.
    pub kernels: Vec<Kernel>,
}

impl Module {
    /// The kernel of that name.
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
        let part = |offset| Part { offset, bytes: 4, span: Span { start: offset, end: offset + 1 } };
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
