//! Creation of the packed instructions, and removal of the scalar ones.

use cranelift_entity::EntitySet;
use halfbyte_ir::{Attr, Block, Inst, Kernel, LaneMap, MemAttr, Op, Span, Type, Value, ValueList};
use smallvec::SmallVec;

use super::group::{LaneGroup, Register, WordSource};
use super::lane_op::Kind;
use super::slice::Slice;
use super::sum::LaneSum;
use super::{Lanes, Root, Search, Word};
use crate::passes::accesses::{address, record_parts};
use crate::trace::{ChangeKind, Report, Trace};

/// The change that the trace records.
const PACKED: ChangeKind = ChangeKind::Told("packed with neighbouring scalars into a word");

/// New instructions of a block, each with the index of the instruction before which it is inserted.
#[derive(Default)]
struct Made {
    insts: Vec<(u32, Inst)>,
}

impl Made {
    fn push(&mut self, kernel: &mut Kernel, place: u32, form: Form, span: Span) -> Inst {
        let result = if form.result.bits() == 0 { None } else { Some(form.result) };
        let inst = kernel.make_inst(form.op, form.ty, form.attr, &form.args, result, span);
        self.insts.push((place, inst));
        inst
    }

    /// Creates an instruction and returns its result.
    fn value(&mut self, kernel: &mut Kernel, place: u32, form: Form, span: Span) -> Option<Value> {
        let inst = self.push(kernel, place, form, span);
        kernel.result(inst)
    }
}

/// An instruction that is not created yet.
struct Form {
    op: Op,
    ty: Type,
    attr: Attr,
    args: SmallVec<[Value; 4]>,
    result: Type,
}

impl Form {
    fn new(op: Op, ty: Type, args: &[Value]) -> Form {
        Form { op, ty, attr: Attr::None, args: SmallVec::from_slice(args), result: ty }
    }
}

/// The value of a lane group, and the index of the instruction before which it is available.
#[derive(Clone, Copy)]
struct Placed {
    value: Value,
    place: u32,
}

impl Search<'_> {
    /// Creates the packed instructions of words and removes the scalar ones.
    pub(super) fn rewrite(&self, kernel: &mut Kernel, block: Block, words: &[Word], trace: &mut Option<Trace>) {
        let mut removed = EntitySet::new();
        let mut made = Made::default();
        for word in words {
            self.make(kernel, word, &mut made, &mut removed, trace);
        }
        // The sort is stable, so instructions with the same index keep their order.
        let mut made = made.insts;
        made.sort_by_key(|&(at, _)| at);
        let mut made = made.into_iter().peekable();
        let mut insts = Vec::with_capacity(self.insts.len());
        for (at, &inst) in (0..).zip(&self.insts) {
            while let Some((_, new)) = made.next_if(|&(before, _)| before <= at) {
                insts.push(new);
            }
            if !removed.contains(inst) {
                insts.push(inst);
            }
        }
        kernel.blocks[block].insts = insts;
    }

    fn make(
        &self,
        kernel: &mut Kernel,
        word: &Word,
        made: &mut Made,
        removed: &mut EntitySet<Inst>,
        trace: &mut Option<Trace>,
    ) {
        removed.extend(word.removed.iter().copied());
        let root_span = word.span(kernel);
        let mut placed: Vec<Placed> = Vec::with_capacity(word.groups.len());
        for (number, group) in word.groups.iter().enumerate() {
            let taken = group.how.insts();
            let span = taken.first().map_or(root_span, |&first| kernel.insts[first].span);
            let before: Lanes<_> = taken.iter().map(|&inst| trace.before(kernel, inst)).collect();
            let Some((place, form)) = self.form(kernel, group, &placed, made, span) else { return };
            let form = match form {
                Ready::Value(value) => {
                    placed.push(Placed { value, place });
                    continue;
                }
                Ready::Load(inst) => {
                    made.insts.push((place, inst));
                    placed.extend(kernel.result(inst).map(|value| Placed { value, place }));
                    for before in before {
                        trace.joined(before, PACKED, kernel, &[inst]);
                    }
                    continue;
                }
                Ready::Form(form) => form,
            };
            let inst = match word.begin {
                // The root becomes the packed op.
                Root::Joined(inst)
                    if word.tops[..] == [number]
                        && kernel.insts[inst]
                            .result
                            .expand()
                            .is_some_and(|result| kernel.ty(result) == form.result) =>
                {
                    let mut before = before;
                    before.push(trace.before(kernel, inst));
                    become_form(kernel, inst, &form, span);
                    for before in before {
                        trace.joined(before, PACKED, kernel, &[inst]);
                    }
                    return;
                }
                _ => made.push(kernel, place, form, span),
            };
            placed.extend(kernel.result(inst).map(|value| Placed { value, place }));
            for before in before {
                trace.joined(before, PACKED, kernel, &[inst]);
            }
        }
        let tops: SmallVec<[Placed; 4]> = word.tops.iter().filter_map(|&top| placed.get(top).copied()).collect();
        match &word.begin {
            Root::Stores(stores) => {
                let Some(&top) = tops.first() else { return };
                let value = self.typed(kernel, top, word.ty, made, root_span);
                removed.extend(stores.iter().rev().skip(1).copied());
                store(kernel, word.ty, stores, value, trace);
            }
            Root::Sum { inst, sums, rest } => {
                let before = trace.before(kernel, *inst);
                if let Some(form) = self.sum(kernel, *inst, sums, rest, &placed, made) {
                    become_form(kernel, *inst, &form, root_span);
                    trace.joined(before, PACKED, kernel, &[*inst]);
                }
            }
            &Root::Joined(inst) => {
                let before = trace.before(kernel, inst);
                let Some(ty) = kernel.result(inst).map(|result| kernel.ty(result)) else { return };
                let form = match tops[..] {
                    [top] => Form::new(Op::Bitcast, ty, &[top.value]),
                    _ => {
                        let words: SmallVec<[Value; 4]> =
                            tops.iter().map(|&top| self.typed(kernel, top, Type::I32, made, root_span)).collect();
                        Form::new(Op::Concat, ty, &words)
                    }
                };
                become_form(kernel, inst, &form, root_span);
                trace.joined(before, PACKED, kernel, &[inst]);
            }
        }
    }

    /// Returns the instruction that computes the word of a group from the words before, and the index of the instruction
    /// before which it is inserted.
    fn form(
        &self,
        kernel: &mut Kernel,
        group: &LaneGroup,
        placed: &[Placed],
        made: &mut Made,
        span: Span,
    ) -> Option<(u32, Ready)> {
        let ty = group.ty;
        Some(match &group.how {
            WordSource::Whole(whole) => (self.after(kernel, &[*whole]), Ready::Value(*whole)),
            WordSource::Op { kind, of, insts, args } => {
                let args: SmallVec<[Placed; 3]> = args.iter().filter_map(|&arg| placed.get(arg).copied()).collect();
                let defs = insts.iter().map(|&inst| self.places[inst].at.saturating_sub(1));
                let place = defs.chain(args.iter().map(|arg| arg.place)).max().unwrap_or(0);
                let args: SmallVec<[Placed; 3]> = args.iter().map(|arg| Placed { place, ..*arg }).collect();
                (place, Ready::Form(self.packed(kernel, *kind, *of, ty, &args, made, span)?))
            }
            WordSource::Load { insts } => {
                let &first = insts.first()?;
                (self.places[first].at.saturating_sub(1), Ready::Load(load(kernel, insts, span)?))
            }
            WordSource::Part(register) => {
                let form = Form { attr: Attr::Lane(register.number), ..Form::new(Op::Split, ty, &[register.of]) };
                (self.after(kernel, &[register.of]), Ready::Form(form))
            }
            WordSource::Const(bits) => {
                let attr = kernel.const_attr(ty, [*bits, 0, 0, 0, 0, 0, 0, 0]);
                (0, Ready::Form(Form { attr, ..Form::new(Op::Const, ty, &[]) }))
            }
            WordSource::Shuffle { registers, constant, map } => {
                let values: SmallVec<[Value; 2]> = registers.iter().map(|register| register.of).collect();
                let place = self.after(kernel, &values);
                let mut words: SmallVec<[Value; 2]> = SmallVec::new();
                for &register in registers {
                    words.push(self.register(kernel, register, ty, place, made, span)?);
                }
                if let Some(bits) = *constant {
                    let attr = kernel.const_attr(ty, [bits, 0, 0, 0, 0, 0, 0, 0]);
                    let form = Form { attr, ..Form::new(Op::Const, ty, &[]) };
                    words.push(made.value(kernel, 0, form, span)?);
                }
                let (&first, &last) = words.first().zip(words.last())?;
                let attr = Attr::Lanes(LaneMap::new(map));
                (place, Ready::Form(Form { attr, ..Form::new(Op::Shuffle, ty, &[first, last]) }))
            }
            WordSource::Splat | WordSource::Concat => {
                let ends = group.ends(kernel);
                let values: SmallVec<[Value; 4]> = ends
                    .iter()
                    .filter_map(|end| match *end {
                        Slice::Bits { of, .. } => Some(of),
                        Slice::Known(_) => None,
                    })
                    .collect();
                let place = self.after(kernel, &values);
                let is_splat = matches!(group.how, WordSource::Splat);
                let taken = if is_splat { ends.get(..1)? } else { &ends[..] };
                let mut lanes: SmallVec<[Value; 4]> = SmallVec::new();
                for &end in taken {
                    lanes.push(self.scalar(kernel, end, ty.lane_type(), place, made, span)?);
                }
                (place, Ready::Form(Form::new(if is_splat { Op::Splat } else { Op::Concat }, ty, &lanes)))
            }
        })
    }

    /// Creates the ops of a sum of lanes and of further terms, except the last op. Returns the last op.
    fn sum(
        &self,
        kernel: &mut Kernel,
        inst: Inst,
        sums: &[LaneSum],
        rest: &[Value],
        placed: &[Placed],
        made: &mut Made,
    ) -> Option<Form> {
        let (place, span) = (self.places[inst].at.saturating_sub(1), kernel.insts[inst].span);
        let mut last: Option<Form> = None;
        let mut total: Option<Value> = None;
        let separate = sums.iter().filter(|sum| !sum.accumulates());
        for &term in rest {
            total = Some(match total {
                Some(total) => made.value(kernel, place, Form::new(Op::Add, Type::I32, &[total, term]), span)?,
                None => term,
            });
        }
        for sum in separate.chain(sums.iter().filter(|sum| sum.accumulates())) {
            // The previous op is not the last one, so it is created now.
            if let Some(form) = last.take() {
                total = Some(made.value(kernel, place, form, span)?);
            }
            let mut args: SmallVec<[Value; 4]> = SmallVec::new();
            for arg in sum.args {
                let word = Placed { place, ..*placed.get(arg)? };
                args.push(self.typed(kernel, word, sum.ty, made, span));
            }
            let op =
                |args: SmallVec<[Value; 4]>| Form { op: sum.op, ty: sum.ty, attr: Attr::None, args, result: Type::I32 };
            last = Some(if sum.accumulates() {
                let addend = match total {
                    Some(total) => total,
                    None => {
                        let attr = kernel.const_attr(Type::I32, [0; 8]);
                        made.value(kernel, place, Form { attr, ..Form::new(Op::Const, Type::I32, &[]) }, span)?
                    }
                };
                args.push(addend);
                op(args)
            } else {
                args.truncate(1);
                match total {
                    Some(total) => {
                        let lanes = made.value(kernel, place, op(args), span)?;
                        Form::new(Op::Add, Type::I32, &[total, lanes])
                    }
                    None => op(args),
                }
            });
        }
        last
    }

    /// Returns the packed op for words that are its operands. Creates the further instructions that this op needs.
    #[expect(clippy::too_many_arguments, reason = "the arguments are those of an instruction and its place")]
    fn packed(
        &self,
        kernel: &mut Kernel,
        kind: Kind,
        of: Type,
        result: Type,
        args: &[Placed],
        made: &mut Made,
        span: Span,
    ) -> Option<Form> {
        let place = args.first().map_or(0, |arg| arg.place);
        let mut words: SmallVec<[Value; 4]> = SmallVec::new();
        for arg in args {
            let is_truth = kernel.ty(arg.value).is_mask();
            words.push(if is_truth { arg.value } else { self.typed(kernel, *arg, of, made, span) });
        }
        if let (Kind::Op(Op::Select, _), &[mask, bits, zero]) = (kind, &words[..])
            && !kernel.ty(mask).is_scalar()
            && of.is_int()
            && word_bits(kernel, zero) == Some(0)
        {
            let form = Form { result, ..Form::new(Op::MaskExpand, of, &[mask]) };
            if word_bits(kernel, bits) == Some(0xffff_ffff) {
                return Some(form);
            }
            let lanes = made.value(kernel, place, form, span)?;
            return Some(Form::new(Op::And, of, &[lanes, bits]));
        }
        match kind {
            Kind::Op(op, attr) => Some(Form { op, ty: of, attr, args: words, result }),
            Kind::FloorAverage => {
                // The average is `(a & b) + ((a ^ b) >> 1)`. The mask clears the bits that the shift would move into
                // the next lane.
                let word: SmallVec<[Value; 2]> =
                    args.iter().map(|&arg| self.typed(kernel, arg, Type::I32, made, span)).collect();
                let &[a, b] = &word[..] else { return None };
                let mask = if of == Type::I8X4 { 0xfefe_fefe } else { 0xfffe_fffe };
                let attrs = [mask, 1].map(|bits| kernel.const_attr(Type::I32, [bits, 0, 0, 0, 0, 0, 0, 0]));
                let [mask, one] = attrs
                    .map(|attr| made.value(kernel, place, Form { attr, ..Form::new(Op::Const, Type::I32, &[]) }, span));
                let mut word =
                    |op: Op, a: Value, b: Value| made.value(kernel, place, Form::new(op, Type::I32, &[a, b]), span);
                let unlike = word(Op::Xor, a, b)?;
                let unlike = word(Op::And, unlike, mask?)?;
                let half = word(Op::ShrU, unlike, one?)?;
                let both = word(Op::And, a, b)?;
                let sum = word(Op::Add, both, half)?;
                Some(Form::new(Op::Bitcast, of, &[sum]))
            }
        }
    }

    /// Casts a word to the type `ty`.
    fn typed(&self, kernel: &mut Kernel, word: Placed, ty: Type, made: &mut Made, span: Span) -> Value {
        if kernel.ty(word.value) == ty {
            return word.value;
        }
        let cast = made.value(kernel, word.place, Form::new(Op::Bitcast, ty, &[word.value]), span);
        cast.unwrap_or(word.value)
    }

    /// Returns a register as a word of the type `ty`.
    fn register(
        &self,
        kernel: &mut Kernel,
        register: Register,
        ty: Type,
        place: u32,
        made: &mut Made,
        span: Span,
    ) -> Option<Value> {
        if kernel.ty(register.of).bits() == 32 {
            return Some(self.typed(kernel, Placed { value: register.of, place }, ty, made, span));
        }
        let form = Form { attr: Attr::Lane(register.number), ..Form::new(Op::Split, ty, &[register.of]) };
        made.value(kernel, place, form, span)
    }

    /// Returns a slice as a scalar.
    fn scalar(
        &self,
        kernel: &mut Kernel,
        slice: Slice,
        ty: Type,
        place: u32,
        made: &mut Made,
        span: Span,
    ) -> Option<Value> {
        let form = match slice {
            Slice::Known(bits) => {
                let attr = kernel.const_attr(ty, [bits, 0, 0, 0, 0, 0, 0, 0]);
                Form { attr, ..Form::new(Op::Const, ty, &[]) }
            }
            Slice::Bits { of, .. } if kernel.ty(of) == ty => return Some(of),
            Slice::Bits { of, .. } if kernel.ty(of).bits() == ty.bits() => Form::new(Op::Bitcast, ty, &[of]),
            Slice::Bits { of, low: 0 } if kernel.ty(of).is_scalar() && kernel.ty(of).is_int() && ty.is_int() => {
                Form::new(Op::Trunc, ty, &[of])
            }
            Slice::Bits { of, low } => {
                let attr = Attr::Lane((low / ty.bits()) as u8);
                Form { attr, ..Form::new(Op::Split, ty, &[of]) }
            }
        };
        made.value(kernel, place, form, span)
    }

    /// Returns the first position in the block at which all of `values` are available.
    fn after(&self, kernel: &Kernel, values: &[Value]) -> u32 {
        let defs = values.iter().filter_map(|&value| kernel.def_inst(value));
        defs.map(|def| self.places[def].at).max().unwrap_or(0)
    }
}

/// Result of `Search::form`: an existing value, a created load, or an instruction to create.
enum Ready {
    Value(Value),
    Load(Inst),
    Form(Form),
}

impl WordSource {
    /// Returns the scalar instructions that the packed instruction replaces.
    fn insts(&self) -> &[Inst] {
        match self {
            WordSource::Op { insts, .. } | WordSource::Load { insts } => insts,
            _ => &[],
        }
    }
}

/// Returns the bits of a constant word.
fn word_bits(kernel: &Kernel, word: Value) -> Option<u64> {
    let [bits, ..] = kernel.const_bits(kernel.def_inst(word)?)?;
    Some(bits)
}

/// Replaces an instruction by another one with a result of the same type.
fn become_form(kernel: &mut Kernel, inst: Inst, form: &Form, span: Span) {
    let args = ValueList::from_slice(&form.args, &mut kernel.pool);
    let data = &mut kernel.insts[inst];
    (data.op, data.ty, data.attr, data.args, data.span) = (form.op, form.ty, form.attr, args, span);
}

/// Creates a packed load in place of scalar loads.
fn load(kernel: &mut Kernel, insts: &[Inst], span: Span) -> Option<Inst> {
    let &first = insts.first()?;
    let ty = super::word_of(kernel.insts[first].ty)?;
    let from = address(kernel, first).to_vec();
    let attr = aligned(kernel.insts[first].attr, ty);
    let load = kernel.make_inst(Op::Load, ty, attr, &from, Some(ty), span);
    let taken: Lanes<(Inst, Span)> = insts.iter().map(|&inst| (inst, kernel.insts[inst].span)).collect();
    record_parts(kernel, load, ty.lane_type().bytes(), &taken);
    Some(load)
}

/// Turns the last scalar store into the packed store.
fn store(kernel: &mut Kernel, ty: Type, stores: &[Inst], stored: Value, trace: &mut Option<Trace>) {
    let before: Vec<_> = stores.iter().map(|&inst| trace.before(kernel, inst)).collect();
    let taken: Lanes<(Inst, Span)> = stores.iter().map(|&inst| (inst, kernel.insts[inst].span)).collect();
    let (Some(&(first, span)), Some(&last)) = (taken.first(), stores.last()) else { return };
    let args: Vec<Value> = std::iter::once(stored).chain(address(kernel, first).iter().copied()).collect();
    let args = ValueList::from_slice(&args, &mut kernel.pool);
    let attr = aligned(kernel.insts[first].attr, ty);
    let data = &mut kernel.insts[last];
    (data.ty, data.attr, data.args, data.span) = (ty, attr, args, span);
    record_parts(kernel, last, ty.lane_type().bytes(), &taken);
    for before in before {
        trace.joined(before, PACKED, kernel, &[last]);
    }
}

/// Returns an access attribute with the alignment of a type.
fn aligned(attr: Attr, ty: Type) -> Attr {
    match attr {
        Attr::Mem(mem) => Attr::Mem(MemAttr { align: ty.bytes(), ..mem }),
        other => other,
    }
}
