//! Widening of memory accesses: replaces several accesses to consecutive addresses by one wide access.
//!
//! Four consecutive 32-bit words take four load instructions, or one if the target can load 16 bytes at once. This pays
//! only if the words can be extracted from the wide register without instructions. The pass therefore runs only for
//! targets whose wide registers consist of 32-bit registers.
//!
//! The pass combines loads or stores of one block with the same base and index and with consecutive ascending offsets.
//! No other access may lie between them, so traps keep their order. The first address must be a multiple of the size of
//! the wide access, which follows from the alignment of the buffer and the low zero bits of the index.
//!
//! A wide load replaces the first of the loads, and a wide store the last of the stores. The wide access records the
//! original accesses, so that a trap is reported at the right one.

use std::ops::Range;

use halfbyte_ir::{Attr, Block, Inst, Kernel, Legality, MemAttr, Op, Span, Type, Value, ValueList};

use super::accesses::{address, record_parts, value_type};
use super::zeros::LowZeros;
use crate::pass::{BuiltIn, Context, Order};
use crate::trace::{ChangeKind, Report, Trace};

/// The `widen` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "widen",
    description: "combines neighbouring loads or stores into wide accesses, if parts of a wide register are free",
    order: &[
        (Order::After("slp"), "it widens the word accesses that `slp` creates"),
        (Order::Before("legalise"), "the target may lack the op that splits a wide value"),
    ],
    run,
};

/// Types of wide accesses, widest first.
const WIDE: [Type; 2] = [Type::I8X16, Type::I64];

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let Some(part_bytes) = context.legality.free_part_bytes() else { return false };
    let legality = context.legality;
    let mut search = Search { legality, part_bytes, zeros: LowZeros::default(), narrow: Vec::new(), wide: Vec::new() };
    let mut changed = false;
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { break };
        search.block(kernel, block);
        if !search.wide.is_empty() {
            search.rewrite(kernel, block, &mut context.trace);
            changed = true;
        }
    }
    changed
}

/// An access that may become part of a wide access, and its index in the block.
#[derive(Clone, Copy)]
struct NarrowAccess {
    inst: Inst,
    at: usize,
    mem: MemAttr,
    span: Span,
}

/// A wide access and the narrow accesses that it replaces.
struct WideAccess {
    op: Op,
    ty: Type,
    /// The first narrow access.
    first: Inst,
    /// Address of the first narrow access.
    mem: MemAttr,
    /// The last narrow access.
    last: Inst,
    /// Indices of the narrow accesses in [`Search::narrow`].
    narrow: Range<usize>,
}

impl WideAccess {
    fn attr(&self) -> Attr {
        Attr::Mem(MemAttr { align: self.ty.bytes(), ..self.mem })
    }
}

/// Search for consecutive accesses in a block.
struct Search<'l> {
    legality: &'l Legality,
    part_bytes: u32,
    zeros: LowZeros,
    /// Narrow accesses of the wide accesses in `wide`, followed by the consecutive accesses that have been found since.
    narrow: Vec<NarrowAccess>,
    /// Wide accesses found so far, in the order of the block.
    wide: Vec<WideAccess>,
}

impl Search<'_> {
    /// Finds the wide accesses of a block.
    fn block(&mut self, kernel: &Kernel, block: Block) {
        self.narrow.clear();
        self.wide.clear();
        let mut start = 0;
        for (at, &inst) in kernel.blocks[block].insts.iter().enumerate() {
            if kernel.insts[inst].op.is_pure() {
                continue;
            }
            let narrow = self.narrow(kernel, inst, at);
            let run = self.narrow.get(start..).and_then(<[NarrowAccess]>::last);
            if !run.zip(narrow).is_some_and(|(&last, next)| self.is_next(kernel, last, next)) {
                self.end_run(kernel, start);
                start = self.narrow.len();
            }
            self.narrow.extend(narrow);
        }
        self.end_run(kernel, start);
    }

    /// Returns an instruction as a narrow access, if it may become part of a wide access.
    fn narrow(&self, kernel: &Kernel, inst: Inst, at: usize) -> Option<NarrowAccess> {
        let Attr::Mem(mem) = kernel.insts[inst].attr else { return None };
        let bytes = value_type(kernel, inst)?.bytes();
        let span = kernel.insts[inst].span;
        (bytes == self.part_bytes && mem.align == bytes).then_some(NarrowAccess { inst, at, mem, span })
    }

    /// Returns `true` if `next` accesses the bytes that directly follow those of `last`.
    fn is_next(&self, kernel: &Kernel, last: NarrowAccess, next: NarrowAccess) -> bool {
        let (before, data) = (&kernel.insts[last.inst], &kernel.insts[next.inst]);
        let same_type = data.op == Op::Load || value_type(kernel, last.inst) == value_type(kernel, next.inst);
        before.op == data.op
            && same_type
            && last.mem.offset.checked_add_unsigned(self.part_bytes) == Some(next.mem.offset)
            && (last.mem.scale, last.mem.wide) == (next.mem.scale, next.mem.wide)
            && address(kernel, last.inst) == address(kernel, next.inst)
    }

    /// Ends a sequence of consecutive accesses, which begins at index `start` of
    /// [`Search::narrow`]. Removes the accesses that cannot be widened.
    fn end_run(&mut self, kernel: &Kernel, start: usize) {
        let mut kept = start;
        if let Some(&[first, _, ..]) = self.narrow.get(start..) {
            let zeros = match address(kernel, first.inst) {
                &[base, ref index @ ..] => self.zeros.of_address(kernel, base, index.first().copied(), first.mem.scale),
                [] => 0,
            };
            let mut next = start;
            while let Some(&first) = self.narrow.get(next) {
                match self.widest(kernel, zeros, next) {
                    Some((ty, taken)) => {
                        let narrow = kept..kept + taken.len();
                        self.narrow.copy_within(taken.clone(), kept);
                        (kept, next) = (narrow.end, taken.end);
                        let last = self.narrow.get(kept - 1).map_or(first.inst, |last| last.inst);
                        let op = kernel.insts[first.inst].op;
                        self.wide.push(WideAccess { op, ty, first: first.inst, mem: first.mem, last, narrow });
                    }
                    None => next += 1,
                }
            }
        }
        self.narrow.truncate(kept);
    }

    /// Returns the type of the widest access that can begin with the narrow access at index `next`, and the narrow
    /// accesses that it replaces. `zeros` is the number of low zero bits of the address without the offset.
    fn widest(&self, kernel: &Kernel, zeros: u32, next: usize) -> Option<(Type, Range<usize>)> {
        let first = self.narrow.get(next)?;
        let zeros = zeros.min(first.mem.offset.trailing_zeros());
        WIDE.into_iter().find_map(|ty| {
            let taken = next..next + (ty.bytes() / self.part_bytes) as usize;
            let narrow = self.narrow.get(taken.clone())?;
            let fits = taken.len() > 1 && ty.bytes().trailing_zeros() <= zeros && self.has(kernel, ty, narrow);
            fits.then_some((ty, taken))
        })
    }

    /// Returns `true` if the target has the wide access, and the ops that split or assemble its value.
    fn has(&self, kernel: &Kernel, ty: Type, narrow: &[NarrowAccess]) -> bool {
        narrow.iter().all(|narrow| match (kernel.insts[narrow.inst].op, value_type(kernel, narrow.inst)) {
            (Op::Load, Some(part)) => self.legality.is_native(Op::Load, ty) && self.legality.is_native(Op::Split, part),
            _ => self.legality.is_native(Op::Store, ty) && self.legality.is_native(Op::Concat, ty),
        })
    }

    fn rewrite(&self, kernel: &mut Kernel, block: Block, trace: &mut Option<Trace>) {
        let old = std::mem::take(&mut kernel.blocks[block].insts);
        let mut new = Vec::with_capacity(old.len() + self.wide.len());
        let parts = self.wide.iter().flat_map(|wide| (0..).zip(self.taken(wide)).map(move |part| (wide, part)));
        let mut parts = parts.peekable();
        let mut load = None;
        for (at, inst) in old.into_iter().enumerate() {
            match parts.next_if(|(_, (_, narrow))| narrow.at == at) {
                None => new.push(inst),
                Some((wide, (number, _))) if wide.op == Op::Load => {
                    if number == 0 {
                        let made = self.load(kernel, wide);
                        load = Some(made);
                        new.push(made);
                    }
                    if let Some(load) = load {
                        split(kernel, inst, load, number, trace);
                    }
                    new.push(inst);
                }
                Some((wide, _)) if wide.last == inst => self.store(kernel, wide, &mut new, trace),
                Some(_) => {}
            }
        }
        kernel.blocks[block].insts = new;
    }

    /// Returns the narrow accesses that a wide access replaces.
    fn taken(&self, wide: &WideAccess) -> &[NarrowAccess] {
        self.narrow.get(wide.narrow.clone()).unwrap_or(&[])
    }

    /// Creates a wide load that replaces narrow loads.
    fn load(&self, kernel: &mut Kernel, wide: &WideAccess) -> Inst {
        let address = kernel.insts[wide.first].args.deep_clone(&mut kernel.pool);
        let load = kernel.make_inst(Op::Load, wide.ty, wide.attr(), &[], Some(wide.ty), kernel.insts[wide.first].span);
        kernel.insts[load].args = address;
        self.note(kernel, load, wide);
        load
    }

    /// Turns the last narrow store into a wide store.
    fn store(&self, kernel: &mut Kernel, wide: &WideAccess, new: &mut Vec<Inst>, trace: &mut Option<Trace>) {
        let taken = self.taken(wide);
        let before: Vec<_> = taken.iter().map(|narrow| trace.before(kernel, narrow.inst)).collect();
        let span = kernel.insts[wide.first].span;
        let values: Vec<Value> = taken.iter().filter_map(|narrow| kernel.args(narrow.inst).first().copied()).collect();
        let whole = whole_of(kernel, wide.ty, &values);
        let value = whole.or_else(|| {
            let concat = kernel.make_inst(Op::Concat, wide.ty, Attr::None, &values, Some(wide.ty), span);
            new.push(concat);
            kernel.result(concat)
        });
        let mut args: Vec<Value> = value.into_iter().collect();
        args.extend(address(kernel, wide.first));
        let args = ValueList::from_slice(&args, &mut kernel.pool);
        let store = &mut kernel.insts[wide.last];
        (store.ty, store.attr, store.args, store.span) = (wide.ty, wide.attr(), args, span);
        new.push(wide.last);
        self.note(kernel, wide.last, wide);
        for before in before {
            trace.joined(before, ChangeKind::Told("combined with neighbouring accesses"), kernel, &[wide.last]);
        }
    }

    /// Records the narrow accesses in the wide access that replaces them. The last narrow store has
    /// already become the wide store, so its span is taken from `wide`.
    fn note(&self, kernel: &mut Kernel, access: Inst, wide: &WideAccess) {
        let taken: Vec<(Inst, Span)> = self.taken(wide).iter().map(|narrow| (narrow.inst, narrow.span)).collect();
        record_parts(kernel, access, self.part_bytes, &taken);
    }
}

/// Turns a narrow load into an instruction that extracts part `number` of a wide load.
fn split(kernel: &mut Kernel, narrow: Inst, load: Inst, number: u8, trace: &mut Option<Trace>) {
    let before = trace.before(kernel, narrow);
    let args: ValueList = ValueList::from_iter(kernel.result(load), &mut kernel.pool);
    let data = &mut kernel.insts[narrow];
    (data.op, data.attr, data.args) = (Op::Split, Attr::Lane(number), args);
    trace.joined(before, ChangeKind::Told("combined with neighbouring accesses"), kernel, &[load, narrow]);
}

/// Returns the value whose parts are `values` in order, if there is one.
fn whole_of(kernel: &Kernel, ty: Type, values: &[Value]) -> Option<Value> {
    let part_of = |number: u8, value: Value| {
        let split = kernel.def_inst(value)?;
        let is_split = kernel.insts[split].op == Op::Split && kernel.insts[split].attr == Attr::Lane(number);
        kernel.args(split).first().copied().filter(|&whole| is_split && kernel.ty(whole) == ty)
    };
    let first = part_of(0, *values.first()?)?;
    (0..).zip(values).all(|(number, &value)| part_of(number, value) == Some(first)).then_some(first)
}
