//! Vectorisation: turns a converted kernel of one work item into a kernel of a group of items.
//!
//! Lane-wise ops on bytes, on words of four bytes and on their masks are executed on vectors. A
//! shuffle within a word becomes a shuffle within every word of a vector. Every other op is
//! executed item by item. A uniform value is computed once.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use halfbyte_ir::{
    Attr, Block, Flow, Inst, IntCC, Kernel, LaneMap, Lanes, MemAttr, Op, Packing, ParamKind, Reason, Refusal, Type,
    Value,
};

use super::code::KernelBuilder;
use super::memory::{Access, AccessStep, refusal};
use super::streams::{AccessStreams, ConvertedKernel, Shape, Streams};
use super::values::{Items, LANES, Parts, Values, WORD, vector_type};
use super::wide_lanes::select_wide_values;
use smallvec::smallvec;

/// Refuses the accesses if they need more streams than the target has. Streams that can share an
/// address register count once.
pub(super) fn check_streams<'a>(
    kernel: &Kernel,
    accesses: impl Iterator<Item = &'a Access>,
    uniform: impl Fn(&Access) -> bool,
    lanes: Lanes,
    target: &'static str,
) -> Result<(), Vec<Refusal>> {
    let mut alone = 0;
    let mut needed: Vec<(StreamClass<'_>, Inst)> = Vec::new();
    let mut need = |stream: StreamClass<'a>, inst: Inst| {
        alone += 1;
        if !needed.iter().any(|(known, _)| *known == stream && stream.is_shared()) {
            needed.push((stream, inst));
        }
    };
    let mut windows: Vec<u32> = Vec::new();
    for access in accesses {
        if access.in_window && !windows.contains(&access.buffer) {
            windows.push(access.buffer);
            need(StreamClass::Alone, access.inst);
        }
        if !access.has_stream {
            continue;
        }
        let written = access.stores || access.in_window;
        let bytes = if access.in_window { Type::I32 } else { access.ty }.bytes();
        let is_uniform = uniform(access);
        let of = |stream| if is_uniform { StreamClass::Alone } else { stream };
        need(of(StreamClass::Of { written, in_window: access.in_window, bytes, steps: &access.steps }), access.inst);
        if access.guard.is_some() {
            need(of(StreamClass::Guard { steps: &access.steps }), access.inst);
        }
    }
    let most = lanes.max_streams;
    if alone <= most {
        return Ok(());
    }
    let Some(&(_, beyond)) = needed.get(most) else { return Ok(()) };
    let needed = needed.len();
    let reason = Reason::from(format!("the kernel needs {needed} memory streams, but the target has {most}"));
    let reason = reason.help(
        "split the kernel into several, or load more bytes at once and extract the parts with `split` and `extract`",
    );
    Err(vec![refusal(kernel, beyond, target, reason)])
}

/// Properties that two streams must have in common to share an address register.
enum StreamClass<'a> {
    /// The stream cannot share an address register with any other stream.
    Alone,
    Of {
        written: bool,
        in_window: bool,
        bytes: u32,
        steps: &'a [AccessStep],
    },
    Guard {
        steps: &'a [AccessStep],
    },
}

impl StreamClass<'_> {
    fn is_shared(&self) -> bool {
        !matches!(self, StreamClass::Alone)
    }
}

impl PartialEq for StreamClass<'_> {
    fn eq(&self, other: &StreamClass<'_>) -> bool {
        let loops =
            |a: &[AccessStep], b: &[AccessStep]| a.iter().map(|step| step.number).eq(b.iter().map(|step| step.number));
        match (self, other) {
            (
                StreamClass::Of { written, in_window, bytes, steps },
                StreamClass::Of { written: other_written, in_window: other_in, bytes: other_bytes, steps: other_steps },
            ) => (written, in_window, bytes) == (other_written, other_in, other_bytes) && loops(steps, other_steps),
            (StreamClass::Guard { steps }, StreamClass::Guard { steps: other }) => loops(steps, other),
            _ => false,
        }
    }
}

/// Returns the packed kernel.
///
/// # Errors
/// The kernel needs more streams than the target has, or a branch is divergent.
pub(super) fn vectorise(
    source: ConvertedKernel<'_>,
    lanes: Lanes,
    has_wide_lanes: bool,
    target: &'static str,
) -> Result<Kernel, Vec<Refusal>> {
    let ConvertedKernel { kernel: from, accesses, uniformity, .. } = source;
    let is_uniform = |access: &Access| from.result(access.inst).is_some_and(|result| !uniformity.varies(result));
    check_streams(from, accesses.iter(), is_uniform, lanes, target)?;
    let flow = Flow::new(from);
    let count = items(source);
    let mut to = Kernel::new(from.name.as_str());
    to.span = from.span;
    to.wide_consts = from.wide_consts.clone();
    to.intrinsics = from.intrinsics.clone();
    let mut blocks: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::new();
    for &block in &from.layout {
        let made = to.add_block();
        if let Some(name) = from.block_name(block) {
            to.set_block_name(made, name);
        }
        blocks[block] = made.into();
    }
    let Some(entry) = to.entry() else { return Ok(to) };
    let params: Vec<Value> = (from.params.iter())
        .map(|param| {
            let value = to.add_param(param.name.as_str(), param.kind, param.span);
            if let Some(contents) = &param.contents {
                to.set_contents(contents.clone());
            }
            value
        })
        .collect();
    let code = KernelBuilder { kernel: to, block: entry, span: from.span };
    let mut values = Values::new(from, &flow, code, count, has_wide_lanes);
    for (param, &value) in from.params.iter().zip(&params) {
        if matches!(param.kind, ParamKind::Scalar(_)) {
            values.set_uniform(param.value, value);
        }
    }
    let streams = Streams::new(&mut values, source);
    let mut numbers: SecondaryMap<Inst, Option<usize>> = SecondaryMap::new();
    for (number, access) in accesses.iter().enumerate() {
        numbers[access.inst] = Some(number);
    }
    let mut widener = Vectoriser { source, values, streams, numbers, group: None, refused: None };
    if has_wide_lanes {
        widener.values.kept_wide = select_wide_values(from, &widener.values, &|value| uniformity.varies(value));
    }
    // Creates the parameters of all blocks first, because branches pass arguments for them.
    for block in flow.reverse_postorder() {
        let Some(to) = blocks[block].expand() else { continue };
        widener.values.begin(block, to, &|value| uniformity.varies(value));
    }
    for block in flow.reverse_postorder() {
        let Some(to) = blocks[block].expand() else { continue };
        widener.values.at = block;
        widener.values.code.block = to;
        for &inst in &from.blocks[block].insts {
            widener.values.code.span = from.insts[inst].span;
            widener.inst(inst, &blocks);
        }
    }
    if let Some(inst) = widener.refused {
        let reason = Reason::with_help(
            "this branch is divergent: work items take different paths",
            "use `select` instead of the branch, or a uniform condition",
        );
        return Err(vec![refusal(from, inst, target, reason)]);
    }
    let Vectoriser { values: Values { code, head, .. }, streams, .. } = widener;
    let mut packed = code.kernel;
    let mut insts = std::mem::take(&mut packed.blocks[head].insts);
    insts.append(&mut packed.blocks[entry].insts);
    packed.blocks[entry].insts = insts;
    packed.packing = Some(Packing { items: count as u32, streams: streams.into_streams() });
    Ok(packed)
}

/// Chooses the number of work items in a group.
fn items(source: ConvertedKernel<'_>) -> usize {
    let ConvertedKernel { kernel, accesses, uniformity, .. } = source;
    let varies =
        |access: &Access| access.stores || kernel.result(access.inst).is_some_and(|result| uniformity.varies(result));
    // Addresses in windows, floats and whole vectors are computed item by item. If the kernel has
    // no byte ops that vectors can execute, a larger group needs more registers and saves nothing.
    let by_items = accesses.iter().any(|access| access.in_window)
        || computes(source, is_of_floats)
        || computes(source, |op, ty| ty == Type::I8X16 && op.row().lanewise);
    if by_items && !computes(source, is_of_bytes) {
        return 1;
    }
    if accesses.iter().any(|access| access.ty.bytes() == 1 && !access.in_window && varies(access)) {
        return LANES;
    }
    let words = kernel.values.iter().any(|(value, data)| data.ty == Type::I8X4 && uniformity.varies(value));
    if words { WORD } else { 1 }
}

/// Returns `true` if the kernel computes a divergent value by an op for which `is_such` returns `true`.
fn computes(source: ConvertedKernel<'_>, is_such: fn(Op, Type) -> bool) -> bool {
    let ConvertedKernel { kernel, uniformity, .. } = source;
    let computes = |inst: Inst| {
        let data = &kernel.insts[inst];
        is_such(data.op, data.ty) && kernel.result(inst).is_some_and(|result| uniformity.varies(result))
    };
    kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts).any(|&inst| computes(inst))
}

/// Returns `true` for an op on bytes that can be executed on vectors. Conversions are excluded.
fn is_of_bytes(op: Op, ty: Type) -> bool {
    let converts =
        matches!(op, Op::Zext | Op::Sext | Op::Trunc | Op::Bitcast | Op::Const | Op::Load | Op::Store | Op::Select);
    !converts && op.row().lanewise && matches!(ty, Type::I8 | Type::I8X4)
}

/// Returns `true` for arithmetic and conversions of floats.
fn is_of_floats(op: Op, ty: Type) -> bool {
    matches!(op, Op::Fadd | Op::Fsub | Op::Fmul | Op::Fcvt) && ty.is_float() || op == Op::FcvtFromS
}

/// Returns `true` if an op on pairs of half-words can also be executed on wide lanes.
const fn is_done_wide(op: Op) -> bool {
    op.row().lanewise && !matches!(op, Op::Const | Op::Bitcast) || matches!(op, Op::Shuffle)
}

/// An offset outside of every window. It replaces the offset of a store that an item must not execute.
const OUT_OF_WINDOW: u32 = i32::MAX as u32;

/// Returns the attribute of an access in a window, whose index is an offset in bytes.
fn window_mem(access: &Access) -> Attr {
    Attr::Mem(MemAttr { scale: 1, offset: 0, align: access.mem.align, wide: false })
}

/// Result of an op on wide lanes: wide lanes, or the vectors of bytes to which the op narrows them.
enum WideResult {
    Wide(Parts),
    Bytes(Parts),
}

struct Vectoriser<'a> {
    source: ConvertedKernel<'a>,
    values: Values<'a>,
    streams: Streams,
    /// Number of the access that each instruction of the converted kernel performs; `None` for other instructions.
    numbers: SecondaryMap<Inst, Option<usize>>,
    /// Value of the packed kernel that is the group index, once it has been created.
    group: Option<Value>,
    refused: Option<Inst>,
}

impl Vectoriser<'_> {
    fn code(&mut self) -> &mut KernelBuilder {
        &mut self.values.code
    }

    fn inst(&mut self, inst: Inst, blocks: &SecondaryMap<Block, PackedOption<Block>>) {
        let from = self.source.kernel;
        let data = from.insts[inst];
        if data.op.is_terminator() {
            self.branch(inst, blocks);
            return;
        }
        if let Some(number) = self.numbers[inst] {
            if let Some(access) = self.source.accesses.get(number) {
                self.access(number, access);
            }
            return;
        }
        let Some(result) = from.result(inst) else { return };
        let args = from.args(inst);
        if !self.source.uniformity.varies(result) {
            let uniform: Items = args.iter().filter_map(|&arg| self.values.uniform(arg)).collect();
            let value = self.code().value(data.op, data.ty, data.attr, &uniform);
            self.values.set_uniform(result, value);
        } else if data.op == Op::ItemId {
            let items = self.item_ids();
            self.values.set_items(result, items);
        } else if let Some(parts) = self.in_vectors(inst, args) {
            self.values.set_vector(result, parts);
        } else if let Some(made) = self.in_wide_lanes(inst, args) {
            match made {
                WideResult::Wide(parts) => self.values.set_wide(result, parts),
                WideResult::Bytes(parts) => self.values.set_vector(result, parts),
            }
        } else if let Some(items) = self.conditions(inst, args) {
            self.values.set_items(result, items);
        } else {
            let args: Vec<Items> = args.iter().map(|&arg| self.values.items(arg)).collect();
            let item = |item: usize| {
                let args: Items = args.iter().filter_map(|arg| arg.get(item)).copied().collect();
                self.values.code.value(data.op, data.ty, data.attr, &args)
            };
            let items = (0..self.values.count).map(item).collect();
            self.values.set_items(result, items);
        }
    }

    /// Returns the group index as a value of the packed kernel.
    fn group(&mut self) -> Value {
        if let Some(group) = self.group {
            return group;
        }
        let head = self.values.head;
        let block = std::mem::replace(&mut self.code().block, head);
        let group = self.code().op(Op::ItemId, Type::I32, &[]);
        self.code().block = block;
        self.group = Some(group);
        group
    }

    /// Returns the item index of each item of the group.
    fn item_ids(&mut self) -> Items {
        let group = self.group();
        let count = self.values.count;
        if count == 1 {
            return [group].into_iter().collect();
        }
        let times = self.code().word(count as u32);
        let first = self.code().op(Op::Mul, Type::I32, &[group, times]);
        let item = |number: usize| {
            if number == 0 {
                return first;
            }
            let code = &mut self.values.code;
            let number = code.word(number as u32);
            code.op(Op::Add, Type::I32, &[first, number])
        };
        (0..count).map(item).collect()
    }

    /// Executes an instruction on whole vectors of bytes, if possible.
    fn in_vectors(&mut self, inst: Inst, args: &[Value]) -> Option<Parts> {
        let data = self.source.kernel.insts[inst];
        let wide = self.values.lanes(data.ty) == Some(WORD);
        match (data.op, args) {
            (Op::Shuffle, &[x, y]) if wide => Some(self.shuffle(inst, x, y)),
            (Op::Splat, &[x]) if wide => Some(match data.ty.is_mask() {
                true => self.values.masks(x),
                false => self.values.words(x),
            }),
            (Op::Insert, &[vector, scalar]) if wide => self.insert(inst, vector, scalar),
            (Op::Extract | Op::Split, &[vector]) if self.values.count == LANES => self.extract(inst, vector),
            (Op::Concat, &[a, b, c, d]) if wide && self.values.count == LANES => self.interleave([a, b, c, d]),
            (Op::Bitcast, &[x]) if !self.is_bitcast_in_wide(inst, x) => self.bitcast(inst, x),
            (op, _) if op.row().lanewise => self.lanewise(inst, args),
            _ => None,
        }
    }

    fn lanewise(&mut self, inst: Inst, args: &[Value]) -> Option<Parts> {
        let data = self.source.kernel.insts[inst];
        let ty = self.vectors_of(inst, args)?;
        let result = self.source.kernel.result(inst)?;
        let parts = self.values.parts(self.values.ty(result));
        let mut columns: Vec<Parts> = Vec::with_capacity(args.len());
        for (number, &arg) in args.iter().enumerate() {
            let single = data.op == Op::Select && number == 0 && self.values.ty(arg) == Type::I1;
            columns.push(match self.values.uniform(arg).filter(|_| single) {
                // The same uniform condition is used for all lanes.
                Some(uniform) => std::iter::repeat_n(uniform, parts).collect(),
                None if single && self.values.parts(data.ty) * LANES == self.values.count * WORD => {
                    self.values.masks(arg)
                }
                None => self.values.vector(arg),
            });
        }
        let part = |part: usize| {
            let args: Parts = columns.iter().filter_map(|column| column.get(part)).copied().collect();
            self.values.code.value(data.op, ty, data.attr, &args)
        };
        Some((0..parts).map(part).collect())
    }

    /// Executes an instruction on wide lanes, if possible. The operands are uniform values, pairs
    /// of half-words that were made of bytes, or integers that are already in wide lanes.
    fn in_wide_lanes(&mut self, inst: Inst, args: &[Value]) -> Option<WideResult> {
        let data = self.source.kernel.insts[inst];
        let result = self.source.kernel.result(inst)?;
        let values = &mut self.values;
        if !values.has_wide_lanes || values.count < WORD {
            return None;
        }
        if let (Op::Bitcast, &[x]) = (data.op, args) {
            return self.pairs_bitcast(data.ty, x);
        }
        let is_number = |ty: Type| matches!(ty, Type::I16 | Type::I32);
        let is_kept = |arg: Value| values.kept_wide.contains(arg) || values.uniform(arg).is_some();
        let converts = matches!(data.op, Op::Trunc | Op::NarrowSatS | Op::NarrowSatU | Op::NarrowSatUU);
        let ty = match (data.ty, data.op) {
            (Type::I16X2, op) if is_done_wide(op) => Type::I16X16,
            (Type::I1X2, Op::And | Op::Or | Op::Xor | Op::Not) => Type::I1X16,
            (ty, Op::Icmp) if is_number(ty) && args.iter().all(|&arg| is_kept(arg)) => values.wide_type(ty)?,
            (Type::I8, _) if converts && args.iter().all(|&arg| values.kept_wide.contains(arg)) => Type::I8X16,
            (Type::I8, Op::MulWideS | Op::MulWideU) if values.kept_wide.contains(result) => Type::I8X16,
            (ty, _) if is_number(ty) && values.kept_wide.contains(result) => values.wide_type(ty)?,
            _ => return None,
        };
        let is_pair = !is_number(data.ty) && data.ty != Type::I8;
        if is_pair {
            let there = |&arg: &Value| values.has_wide(arg);
            let fits = |arg: &Value| {
                let is_uniform = values.uniform(*arg).is_some() && values.wide_type(values.ty(*arg)).is_some();
                there(arg) || is_uniform || values.ty(*arg) == Type::I1
            };
            if !args.iter().all(fits) || !args.iter().any(there) {
                return None;
            }
        }
        let parts = if is_pair { values.count / WORD } else { values.count / LANES };
        let mut columns: Vec<Parts> = Vec::with_capacity(args.len());
        for &arg in args {
            columns.push(match self.values.ty(arg) {
                Type::I1 => match self.values.uniform(arg) {
                    Some(uniform) => std::iter::repeat_n(uniform, parts).collect(),
                    None if is_pair => self.values.masks(arg),
                    None => self.values.vector(arg),
                },
                Type::I8 => self.values.vector(arg),
                _ => self.values.wide(arg)?,
            });
        }
        let attr = match data.attr {
            Attr::Lanes(map) => {
                // Returns the index of the source lane. A half-word occupies two lanes, and only the first one is read.
                let from = |lane: usize| match map.get(lane % WORD / 2) {
                    from @ 0..2 => lane / WORD * WORD + 2 * from,
                    from => LANES + lane / WORD * WORD + 2 * (from - 2),
                };
                let lanes: [u8; LANES] = std::array::from_fn(|lane| from(lane) as u8);
                Attr::Lanes(LaneMap::new(&lanes))
            }
            attr => attr,
        };
        let part = |part: usize| {
            let args: Parts = columns.iter().filter_map(|column| column.get(part)).copied().collect();
            self.values.code.value(data.op, ty, attr, &args)
        };
        let parts = (0..parts).map(part).collect();
        Some(if matches!(self.values.ty(result), Type::I8 | Type::I1) {
            WideResult::Bytes(parts)
        } else {
            WideResult::Wide(parts)
        })
    }

    /// Converts words whose odd bytes are zero to half-words in wide lanes, or half-words to bytes.
    fn pairs_bitcast(&mut self, ty: Type, x: Value) -> Option<WideResult> {
        let parts = match ty {
            Type::I16X2 if self.has_zeros_between(x) => {
                let vectors = self.values.vector(x);
                vectors.iter().map(|&bytes| self.code().op(Op::Zext, Type::I16X16, &[bytes])).collect()
            }
            Type::I8X4 if self.values.ty(x) == Type::I16X2 && self.values.uniform(x).is_none() => {
                self.values.wide(x)?
            }
            _ => return None,
        };
        Some(WideResult::Wide(parts))
    }

    /// Returns `true` if a bitcast between bytes and half-words can be executed on wide lanes.
    fn is_bitcast_in_wide(&self, inst: Inst, x: Value) -> bool {
        let ty = self.source.kernel.insts[inst].ty;
        let is_there = || self.values.ty(x) == Type::I16X2 && self.values.is_only_wide(x);
        self.values.has_wide_lanes
            && self.values.count >= WORD
            && (ty == Type::I16X2 && self.has_zeros_between(x) || ty == Type::I8X4 && is_there())
    }

    /// Returns `true` if bytes 1 and 3 of a 32-bit word are zero.
    fn has_zeros_between(&self, bytes: Value) -> bool {
        let from = self.source.kernel;
        let Some(inst) = from.def_inst(bytes).filter(|&inst| from.insts[inst].op == Op::Shuffle) else { return false };
        let (Attr::Lanes(map), &[x, y]) = (from.insts[inst].attr, from.args(inst)) else { return false };
        let is_zero = |lane: usize| {
            let operand = if map.get(lane) < WORD { x } else { y };
            from.def_inst(operand).and_then(|inst| from.const_bits(inst)).is_some_and(|bits| bits[0] as u32 == 0)
        };
        self.values.ty(bytes) == Type::I8X4 && is_zero(1) && is_zero(3) && self.values.has_vector(bytes)
    }

    /// Returns the type of the vectors on which a lane-wise op is executed; `None` if the op is executed item by item.
    fn vectors_of(&self, inst: Inst, args: &[Value]) -> Option<Type> {
        let data = self.source.kernel.insts[inst];
        let values = &self.values;
        let result = values.ty(self.source.kernel.result(inst)?);
        let bits_only = matches!(data.op, Op::And | Op::Or | Op::Xor | Op::Not);
        let there = |&arg: &Value| values.has_vector(arg);
        if bits_only && values.lanes(data.ty).is_none() {
            // A bitwise op on 32-bit words uses vectors only if an operand is already in vectors.
            let all = args.iter().all(|arg| there(arg) || values.uniform(*arg).is_some());
            return (values.fits(data.ty) && all && args.iter().any(there)).then_some(Type::I8X16);
        }
        let lanes = values.lanes(data.ty)?;
        let condition = |number: usize, ty: Type| data.op == Op::Select && number == 0 && ty == Type::I1;
        let fits = |(number, &arg): (usize, &Value)| {
            let ty = values.ty(arg);
            values.lanes(ty) == Some(lanes) || condition(number, ty)
        };
        if values.lanes(result) != Some(lanes) || !args.iter().enumerate().all(fits) {
            return None;
        }
        // A truth value is held in vectors only if it is computed from vectors.
        (data.ty != Type::I1 || args.iter().any(there)).then(|| vector_type(data.ty))
    }

    fn shuffle(&mut self, inst: Inst, x: Value, y: Value) -> Parts {
        let data = self.source.kernel.insts[inst];
        let Attr::Lanes(map) = data.attr else { return Parts::new() };
        let lane = |lane: usize| {
            let (word, from) = (lane / WORD * WORD, map.get(lane % WORD));
            if from < WORD { word + from } else { LANES + word + from - WORD }
        };
        let lanes: [u8; LANES] = std::array::from_fn(|i| lane(i) as u8);
        // If only low bytes of half-words in wide lanes are read, a truncation provides them.
        let is_low = |of: fn(usize) -> bool| {
            (0..WORD).map(|lane| map.get(lane)).filter(|&from| of(from)).all(|from| from % 2 == 0)
        };
        let mut bytes = |value: Value, is_low: bool| {
            let low = if is_low && data.ty == Type::I8X4 { self.values.low_bytes(value) } else { None };
            low.unwrap_or_else(|| self.values.vector(value))
        };
        let (xs, ys) = (bytes(x, is_low(|from| from < WORD)), bytes(y, is_low(|from| from >= WORD)));
        let attr = Attr::Lanes(LaneMap::new(&lanes));
        let part =
            |(&x, &y): (&Value, &Value)| self.values.code.value(Op::Shuffle, vector_type(data.ty), attr, &[x, y]);
        xs.iter().zip(&ys).map(part).collect()
    }

    fn insert(&mut self, inst: Inst, vector: Value, scalar: Value) -> Option<Parts> {
        let data = self.source.kernel.insts[inst];
        let Attr::Lane(place) = data.attr else { return None };
        let new = if data.ty.is_mask() { self.values.masks(scalar) } else { self.values.words(scalar) };
        let old = self.values.vector(vector);
        let lanes: [u8; LANES] =
            std::array::from_fn(|i| (if i % WORD == usize::from(place) { LANES + i } else { i }) as u8);
        let attr = Attr::Lanes(LaneMap::new(&lanes));
        let part = |(&old, &new): (&Value, &Value)| {
            self.values.code.value(Op::Shuffle, vector_type(data.ty), attr, &[old, new])
        };
        Some(old.iter().zip(&new).map(part).collect())
    }

    /// Extracts a byte of each item's word in a group of sixteen items. The first shuffles take the
    /// bytes from pairs of vectors, the last one combines the two results.
    fn extract(&mut self, inst: Inst, vector: Value) -> Option<Parts> {
        let data = self.source.kernel.insts[inst];
        let (Attr::Lane(place), ty) = (data.attr, vector_type(data.ty)) else { return None };
        let one_lane = data.op == Op::Extract || data.ty == Type::I8;
        if !one_lane || self.values.lanes(self.values.ty(vector)) != Some(WORD) {
            return None;
        }
        let &[a, b, c, d] = self.values.vector(vector).as_slice() else { return None };
        let gather: [u8; LANES] = std::array::from_fn(|i| ((i % 8) * WORD + usize::from(place)) as u8);
        let halves: [u8; LANES] = std::array::from_fn(|i| (if i < 8 { i } else { LANES + i - 8 }) as u8);
        let mut shuffle =
            |lanes: &[u8], x, y| self.values.code.value(Op::Shuffle, ty, Attr::Lanes(LaneMap::new(lanes)), &[x, y]);
        let (low, high) = (shuffle(&gather, a, b), shuffle(&gather, c, d));
        Some([shuffle(&halves, low, high)].into_iter().collect())
    }

    /// Assembles the words of sixteen items from four vectors of bytes: first pairs of bytes, then
    /// pairs of these pairs.
    fn interleave(&mut self, bytes: [Value; WORD]) -> Option<Parts> {
        if bytes.iter().any(|&byte| self.values.ty(byte) != Type::I8) {
            return None;
        }
        let mut vectors = Parts::new();
        for byte in bytes {
            vectors.push(*self.values.vector(byte).first()?);
        }
        let &[a, b, c, d] = vectors.as_slice() else { return None };
        let mut parts = Parts::new();
        for part in 0..WORD {
            let pairs: [u8; LANES] = std::array::from_fn(|i| (WORD * part + i / WORD + LANES * (i % 2)) as u8);
            let words: [u8; LANES] = std::array::from_fn(|i| (if i % WORD < 2 { i } else { LANES + i }) as u8);
            let mut shuffle = |lanes: &[u8], x, y| {
                self.values.code.value(Op::Shuffle, Type::I8X16, Attr::Lanes(LaneMap::new(lanes)), &[x, y])
            };
            let (low, high) = (shuffle(&pairs, a, b), shuffle(&pairs, c, d));
            parts.push(shuffle(&words, low, high));
        }
        Some(parts)
    }

    /// Executes a bitcast of 32-bit words, if the words are in vectors or an instruction needs the result in vectors.
    fn bitcast(&mut self, inst: Inst, x: Value) -> Option<Parts> {
        let ty = self.source.kernel.insts[inst].ty;
        let fits = self.values.fits(ty) && self.values.fits(self.values.ty(x));
        let wanted = self.values.lanes(ty).is_some() || self.values.has_vector(x);
        (fits && wanted).then(|| self.values.vector(x))
    }

    /// Executes `any` or `all` on the mask of each item.
    fn conditions(&mut self, inst: Inst, args: &[Value]) -> Option<Items> {
        let data = self.source.kernel.insts[inst];
        let cc = match data.op {
            Op::Any => IntCC::Ne,
            Op::All => IntCC::Eq,
            _ => return None,
        };
        let &[mask] = args else { return None };
        if self.values.lanes(data.ty) != Some(WORD) {
            return None;
        }
        let masks = self.values.vector(mask);
        let mut items = Items::new();
        for part in masks {
            let bytes = self.code().op(Op::MaskExpand, Type::I8X16, &[part]);
            for word in 0..WORD as u8 {
                let word = self.code().value(Op::Split, Type::I32, Attr::Lane(word), &[bytes]);
                let edge = self.code().word(if cc == IntCC::Ne { 0 } else { u32::MAX });
                items.push(self.code().icmp(cc, Type::I32, word, edge));
            }
        }
        Some(items)
    }

    fn branch(&mut self, inst: Inst, blocks: &SecondaryMap<Block, PackedOption<Block>>) {
        let from = self.source.kernel;
        let data = from.insts[inst];
        if data.op == Op::Ret {
            self.code().ret();
            return;
        }
        let mut condition = Items::new();
        if let Some(&arg) = from.args(inst).first() {
            match self.values.uniform(arg) {
                Some(uniform) => condition.push(uniform),
                None => {
                    if !self.source.gates.contains(&self.values.at) {
                        self.refused = Some(inst);
                    }
                    condition.push(self.any(arg));
                }
            }
        }
        let mut targets: Vec<(Block, Items)> = Vec::new();
        for call in from.targets(inst) {
            let params = from.block_params(call.block);
            let mut args = Items::new();
            for (&param, &arg) in params.iter().zip(from.call_args(call)) {
                let varies = self.source.uniformity.varies(param);
                args.extend(self.values.argument(param, varies, arg));
            }
            targets.extend(blocks[call.block].expand().map(|block| (block, args)));
        }
        let targets: Vec<(Block, &[Value])> = targets.iter().map(|(block, args)| (*block, args.as_slice())).collect();
        self.code().branch(data.op, &condition, &targets);
    }

    /// Returns a value that is `true` if the condition is true for any item of the group.
    fn any(&mut self, condition: Value) -> Value {
        if self.values.has_vector(condition)
            && let Some(&mask) = self.values.vector(condition).first()
        {
            return self.code().op(Op::Any, Type::I1X16, &[mask]);
        }
        let items = self.values.items(condition);
        let mut any: Option<Value> = None;
        for item in items {
            any = Some(match any {
                None => item,
                Some(any) => self.code().op(Op::Or, Type::I1, &[any, item]),
            });
        }
        any.unwrap_or(condition)
    }

    /// Emits the loads or stores of an access by a stream, and the stores of its guard.
    fn access(&mut self, number: usize, access: &Access) {
        let Some(place) = self.streams.place(number) else { return };
        let group = self.group();
        if let (Some(guard), Some(to)) = (access.guard, place.guard) {
            let guards: Items = match (place.uniform, place.shape) {
                (true, _) => {
                    let Some(uniform) = self.values.uniform(guard) else { return };
                    let word = self.code().op(Op::MaskExpand, Type::I32, &[uniform]);
                    [word].into_iter().collect()
                }
                (false, Shape::Vectors(Type::I8)) => {
                    let masks = self.values.vector(guard);
                    masks.iter().map(|&mask| self.values.code.op(Op::MaskExpand, Type::I8X16, &[mask])).collect()
                }
                (false, Shape::Vectors(_)) => self.values.words(guard).into_iter().collect(),
                (false, Shape::Items) => {
                    let items = self.values.items(guard);
                    items.iter().map(|&item| self.values.code.op(Op::MaskExpand, Type::I32, &[item])).collect()
                }
            };
            self.store(access, place.uniform, group, to, &guards);
        }
        if let Some(window) = place.window {
            self.access_in(window, access, place, group);
            return;
        }
        let Some(stream) = place.stream else { return };
        if access.stores {
            let Some(&value) = self.source.kernel.args(access.inst).first() else { return };
            let stored: Items = match place.shape {
                Shape::Vectors(_) => self.values.vector(value).into_iter().collect(),
                Shape::Items => self.values.items(value),
            };
            self.store(access, false, group, stream, &stored);
            return;
        }
        let Some(result) = self.source.kernel.result(access.inst) else { return };
        let (ty, loads) = match place.shape {
            _ if place.uniform => (access.ty, 1),
            Shape::Vectors(_) => (Type::I8X16, self.values.parts(access.ty)),
            Shape::Items => (access.ty, self.values.count),
        };
        let group = (!place.uniform).then_some(group);
        let index = self.streams.index(&mut self.values, access, group, loads);
        let load = |number: usize| {
            let (attr, args) = self.streams.element(&self.values, stream, ty, index, number);
            self.values.code.value(Op::Load, ty, attr, &args)
        };
        let loaded: Items = (0..loads).map(load).collect();
        match (place.shape, loaded.as_slice()) {
            (_, &[only]) if place.uniform => self.values.set_uniform(result, only),
            (Shape::Vectors(_), parts) => self.values.set_vector(result, parts.iter().copied().collect()),
            (Shape::Items, _) => self.values.set_items(result, loaded),
        }
    }

    /// Emits the loads or stores of an access in a window. The byte offsets are stored to the access's stream first.
    fn access_in(&mut self, window: Value, access: &Access, place: AccessStreams, group: Value) {
        let from = self.source.kernel;
        let args = from.args(access.inst);
        let index = args.get(usize::from(access.stores) + 1).copied();
        let index: Items = match index {
            Some(index) if place.uniform => self.values.uniform(index).into_iter().collect(),
            Some(index) => self.values.items(index),
            None => {
                let zero = self.code().word(0);
                smallvec![zero; if place.uniform { 1 } else { self.values.count }]
            }
        };
        let scale = access.mem.scale;
        let offsets: Items = index.iter().map(|&index| self.scaled(index, scale)).collect();
        if let Some(stream) = place.stream {
            self.store(access, place.uniform, group, stream, &offsets);
        }
        let offset = access.mem.offset as u32;
        let at: Items = offsets.iter().map(|&at| self.plus(at, offset)).collect();
        if access.stores {
            let Some(&value) = args.first() else { return };
            let stored = self.values.items(value);
            let guards = access.guard.map(|guard| self.values.items(guard));
            let real = (self.values.count > 1).then(|| self.items_in_launch());
            for (item, (&value, &at)) in stored.iter().zip(&at).enumerate() {
                let made =
                    [guards.as_ref(), real.as_ref()].into_iter().flatten().filter_map(|all| all.get(item).copied());
                let mut at = at;
                for made in made {
                    let code = self.code();
                    let nowhere = code.word(OUT_OF_WINDOW);
                    at = code.op(Op::Select, Type::I32, &[made, at, nowhere]);
                }
                let code = self.code();
                let (ty, attr) = (access.ty, window_mem(access));
                code.kernel.push_inst(code.block, Op::Store, ty, attr, &[value, window, at], None, code.span);
            }
            return;
        }
        let Some(result) = from.result(access.inst) else { return };
        let load = |&at: &Value| self.values.code.value(Op::Load, access.ty, window_mem(access), &[window, at]);
        let loaded: Items = at.iter().map(load).collect();
        match loaded.as_slice() {
            &[only] if place.uniform => self.values.set_uniform(result, only),
            _ => self.values.set_items(result, loaded),
        }
    }

    /// Returns a truth value for each item of the group: `true` if the item belongs to the launch.
    fn items_in_launch(&mut self) -> Items {
        let ids = self.item_ids();
        let count = self.code().op(Op::ItemCount, Type::I32, &[]);
        ids.iter().map(|&id| self.code().icmp(IntCC::LtU, Type::I32, id, count)).collect()
    }

    fn scaled(&mut self, index: Value, scale: u32) -> Value {
        let code = self.code();
        if scale == 1 {
            return index;
        }
        let (op, by) = if scale.is_power_of_two() { (Op::Shl, scale.trailing_zeros()) } else { (Op::Mul, scale) };
        let by = code.word(by);
        code.op(op, Type::I32, &[index, by])
    }

    fn plus(&mut self, value: Value, offset: u32) -> Value {
        if offset == 0 {
            return value;
        }
        let code = self.code();
        let offset = code.word(offset);
        code.op(Op::Add, Type::I32, &[value, offset])
    }

    fn store(&mut self, access: &Access, uniform: bool, group: Value, stream: Value, stored: &[Value]) {
        let group = (!uniform).then_some(group);
        let index = self.streams.index(&mut self.values, access, group, stored.len());
        for (number, &value) in stored.iter().enumerate() {
            let ty = self.values.code.kernel.ty(value);
            let (attr, place) = self.streams.element(&self.values, stream, ty, index, number);
            let args: Items = std::iter::once(value).chain(place).collect();
            let code = &mut self.values.code;
            code.kernel.push_inst(code.block, Op::Store, ty, attr, &args, None, code.span);
        }
    }
}
