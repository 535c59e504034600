//! Runs of items that are whole chunks, of kernels that stream: their accesses are checked from the ends, then loops in wide vectors do
//! what the items do. Where the items of a run diverge, or an access cannot be made, the run is not begun: its items run one after another.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, StackSlotData, StackSlotKind, Value};
use cranelift_frontend::FunctionBuilder;
use halfbyte_isa::halu::domain::{Domain, Width};

use super::item::Item;
use super::known::{Before, Flow};
use super::memory::{BufferValues, here, load};
use super::runs::Ways;
use super::scalar::Scalar;
use crate::jit::{Access, Action, Block, BlockId, Dataflow, Ends, Id, Location, Next, Run, Stream, StreamLoop, Target};

/// Offsets beyond this are in no buffer.
const MOST_BYTES: i64 = 1 << 48;

/// The memory that the items of a run access.
pub(super) struct Span {
    /// Where the first one's access goes.
    pub first: Value,
    start: Value,
    end: Value,
    run: Run,
    width: Width,
    param: usize,
    is_unique: bool,
    is_store: bool,
}

/// The parameter whose buffer an access is to go to: the one that its address comes from. That it goes there is checked.
pub(super) fn param_of(
    access: &Access,
    dataflow: &Dataflow,
    before: Before<'_>,
    pointers: &[Option<u32>],
) -> Option<usize> {
    let (Action::Load { place, .. } | Action::Store { place, .. }) = &access.action else { return None };
    let Location::Global { base: [low, _], .. } = place else { return None };
    before.origin(dataflow, *low, pointers)
}

/// Whether it is known of each access of a kernel that streams which buffer it goes to, and runs of it may be aligned.
pub(super) fn are_known(
    streams: &[Option<Stream>],
    flow: &Flow,
    pointers: &[Option<u32>],
    buffers: &[Option<BufferValues>],
) -> bool {
    streams.iter().enumerate().all(|(block, stream)| {
        let Some(Stream { unit, accesses, .. }) = stream else { return true };
        let Some(before) = flow.before(block) else { return false };
        unit.dataflow.accesses.iter().zip(accesses).all(|(access, run)| {
            let (is_store, width) = match access.action {
                Action::Load { width, .. } => (false, width),
                Action::Store { width, .. } => (true, width),
                _ => return false,
            };
            let is_even = match run {
                Run::Same => !is_store,
                Run::Each(stride) => stride % i64::from(width.bytes()) == 0,
            };
            let param = param_of(access, &unit.dataflow, before, pointers);
            let buffer = param.and_then(|param| buffers.get(param).copied().flatten());
            is_even && buffer.is_some_and(|buffer| buffer.is_written || !is_store)
        })
    })
}

impl<'f> Ends<'f> for Item<'_, '_, 'f, '_> {
    fn dataflow(&self) -> &Dataflow {
        Item::dataflow(self)
    }

    fn builder(&mut self) -> &mut FunctionBuilder<'f> {
        self.s.b
    }

    fn scalar(&mut self, id: Id) -> Value {
        self.value(id)
    }

    fn others(&mut self) -> Value {
        match self.others {
            Some(others) => others,
            None => self.s.constant(I64, 0),
        }
    }
}

impl<'a, 'b, 'f, 'm> Item<'a, 'b, 'f, 'm> {
    /// Makes all blocks for a run. The item that its cells are of is the first one; the current block of Cranelift's goes to the first
    /// block.
    pub fn emit_run(mut self, blocks: &[Block], streams: &'a [Option<Stream>], ways: Ways) -> Scalar<'b, 'f, 'm> {
        let count = self.s.b.ins().uextend(I64, ways.count);
        self.others = Some(self.s.b.ins().iadd_imm_s(count, -1));
        self.run_on(Some(Target::Block { id: BlockId(0), backward: false }), ways);
        for ((id, block), stream) in (0..).map(BlockId).zip(blocks).zip(streams) {
            let (Some(stream), Some(label)) = (stream, self.label(id)) else { continue };
            self.s.b.switch_to_block(label);
            self.enter(id, &stream.unit);
            self.run_block(block, stream, ways);
        }
        self.s
    }

    /// All items of the run go on at a target; none is their end.
    fn run_on(&mut self, target: Option<Target>, ways: Ways) {
        let to = match target {
            None => ways.done,
            Some(Target::Block { id, .. }) => self.label(id).unwrap_or(ways.failed),
            Some(_) => ways.failed,
        };
        self.s.b.ins().jump(to, &[]);
    }

    fn run_block(&mut self, block: &Block, stream: &'a Stream, ways: Ways) {
        let accesses = &stream.unit.dataflow.accesses;
        let known: Option<Vec<[Value; 2]>> =
            stream.unit.assumed.iter().map(|&guard| self.same_for_all(guard)).collect();
        let Some(known) = known else {
            self.s.b.ins().jump(ways.failed, &[]);
            return;
        };
        let for_none = known.iter().map(|[_, none]| *none).reduce(|a, b| self.s.b.ins().band(a, b));
        if let Some(for_none) = for_none.filter(|_| stream.is_idle) {
            let on = self.s.b.create_block();
            self.s.b.ins().brif(for_none, ways.done, &[], on, &[]);
            self.s.b.switch_to_block(on);
        }
        for (&guard, known) in stream.unit.assumed.iter().zip(known) {
            let on = self.s.b.create_block();
            self.ask(guard, known, [on, ways.alone], ways);
            self.s.b.switch_to_block(on);
        }
        let mut may = self.s.truth(true);
        let mut spans: Vec<Span> = Vec::new();
        for ((number, access), run) in (0..).zip(accesses).zip(&stream.accesses) {
            let Some((span, holds)) = self.span(access, *run) else {
                self.s.b.ins().jump(ways.failed, &[]);
                return;
            };
            may = self.s.b.ins().band(may, holds);
            for other in &spans {
                if let Some(holds) = self.are_apart(other, &span) {
                    may = self.s.b.ins().band(may, holds);
                }
            }
            // What all load may be a part of the addresses of other accesses.
            if let (Action::Load { width, signed, .. }, Run::Same) = (&access.action, run) {
                self.or_fail(may, ways);
                let words = load(&mut self.s, span.first, *width, *signed);
                self.keep(number, &words);
            }
            spans.push(span);
        }
        if !spans.is_empty() {
            self.or_fail(may, ways);
        }
        for of in &stream.loops {
            self.run_loop(of, &spans);
        }
        let condition = stream.unit.condition.map(|condition| (condition, self.same_for_all(condition)));
        let slots: Vec<_> = stream.slots.iter().map(|&(cell, id)| (cell, self.value(id))).collect();
        for (cell, value) in slots {
            if let Some(&variable) = self.frame.cells.get(cell.index()) {
                self.s.b.def_var(variable, value);
            }
        }
        let (taken, fall) = match block.next {
            Next::To(target) => return self.run_on(Some(target), ways),
            Next::Exit => return self.run_on(None, ways),
            Next::Branch { taken, fall } => (Some(taken), fall),
            Next::ExitIf { fall } => (None, fall),
            Next::Undefined(_) | Next::Meet { .. } => {
                self.s.b.ins().jump(ways.failed, &[]);
                return;
            }
        };
        // Without a condition the branch is always taken.
        if let Some((condition, known)) = condition {
            let Some(known) = known else {
                self.s.b.ins().jump(ways.failed, &[]);
                return;
            };
            let (yes, no) = (self.s.b.create_block(), self.s.b.create_block());
            self.ask(condition, known, [yes, no], ways);
            self.s.b.switch_to_block(no);
            self.run_on(Some(fall), ways);
            self.s.b.switch_to_block(yes);
        }
        self.run_on(taken, ways);
    }

    /// Goes on where a truth value holds; otherwise the run is not begun.
    fn or_fail(&mut self, holds: Value, ways: Ways) {
        let on = self.s.b.create_block();
        self.s.b.ins().brif(holds, on, &[], ways.failed, &[]);
        self.s.b.switch_to_block(on);
    }

    /// Goes on where a condition holds for all items, or where it holds for none.
    fn ask(&mut self, condition: Id, [all, none]: [Value; 2], [yes, no]: [ir::Block; 2], ways: Ways) {
        let (other, part) = (self.s.b.create_block(), self.s.b.create_block());
        self.s.b.ins().brif(all, yes, &[], other, &[]);
        self.s.b.switch_to_block(other);
        self.s.b.ins().brif(none, no, &[], part, &[]);
        self.s.b.set_cold_block(part);
        self.s.b.switch_to_block(part);
        let cut = self.cut(condition);
        let cut = self.s.b.ins().ireduce(I32, cut);
        self.s.b.ins().jump(ways.parted, &[cut.into()]);
    }

    /// The parameter whose buffer an access is to go to.
    pub fn param_of(&self, access: &Access) -> Option<usize> {
        param_of(access, Item::dataflow(self), self.before, &self.frame.pointers)
    }

    /// Where the accesses of a run go, and whether all may be made; none where that is never known.
    pub fn span(&mut self, access: &Access, run: Run) -> Option<(Span, Value)> {
        let (place, width, is_store) = match access.action {
            Action::Load { place, width, .. } => (place, width, false),
            Action::Store { place, width, .. } => (place, width, true),
            _ => return None,
        };
        let Location::Global { offset, base, imm, scale } = place else { return None };
        let param = self.param_of(access)?;
        let buffer = self.frame.buffers.get(param).copied().flatten()?;
        let (step, stride) = match run {
            Run::Same => (0, 0),
            Run::Each(stride) => (Item::dataflow(self).shape(offset).stride().cast_signed().into(), stride),
        };
        // How far into the buffer it is that offsets count from.
        let into = match self.param_at(base) {
            Some(of) if of == param => None,
            _ => {
                let [low, high] = base.map(|word| self.value(word));
                let [low, high] = [low, high].map(|word| self.s.b.ins().uextend(I64, word));
                let high = self.s.b.ins().ishl_imm_s(high, 32);
                let base = self.s.b.ins().bor(low, high);
                Some(self.s.b.ins().isub(base, buffer.start))
            }
        };
        let word = self.value(offset);
        let others = self.others();
        let b = &mut *self.s.b;
        let number = if scale.signed { b.ins().sextend(I64, word) } else { b.ins().uextend(I64, word) };
        // Words are offsets as far as they do not wrap.
        let grown = b.ins().imul_imm_s(others, step);
        let last = b.ins().iadd(number, grown);
        let [least, most] = if scale.signed { [i32::MIN.into(), i32::MAX.into()] } else { [0, i64::from(u32::MAX)] };
        let from = b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, last, least);
        let to = b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, last, most);
        let mut holds = b.ins().band(from, to);
        let bytes = b.ins().imul_imm_s(number, i64::from(scale.by));
        let mut first = b.ins().iadd_imm_s(bytes, i64::from(imm));
        // Nothing overflows of what may be right.
        for offset in into.into_iter().chain([bytes]) {
            let raised = b.ins().iadd_imm_s(offset, MOST_BYTES);
            let is_near = b.ins().icmp_imm_s(IntCC::UnsignedLessThan, raised, 2 * MOST_BYTES);
            holds = b.ins().band(holds, is_near);
        }
        if let Some(into) = into {
            first = b.ins().iadd(first, into);
        }
        let reach = b.ins().imul_imm_s(others, stride);
        let furthest = b.ins().iadd(first, reach);
        let (low, high) = if stride < 0 { (furthest, first) } else { (first, furthest) };
        let end = b.ins().iadd_imm_s(high, i64::from(width.bytes()));
        let is_from = b.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, low, 0);
        let is_to = b.ins().icmp(IntCC::SignedLessThanOrEqual, end, buffer.bytes);
        for is_in in [is_from, is_to] {
            holds = b.ins().band(holds, is_in);
        }
        if width != Width::B8 {
            let rest = b.ins().band_imm_s(first, i64::from(width.bytes()) - 1);
            let is_aligned = b.ins().icmp_imm_s(IntCC::Equal, rest, 0);
            holds = b.ins().band(holds, is_aligned);
        }
        let [first, start, end] = [first, low, end].map(|offset| b.ins().iadd(buffer.start, offset));
        Some((Span { first, start, end, run, width, param, is_unique: buffer.is_unique, is_store }, holds))
    }

    /// Whether no item's access touches what another's of another access does, of which one writes; none where that is known.
    fn are_apart(&mut self, a: &Span, b: &Span) -> Option<Value> {
        let is_one = a.param == b.param;
        if !(a.is_store || b.is_store) || (!is_one && (a.is_unique || b.is_unique)) {
            return None;
        }
        let before = self.s.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, a.end, b.start);
        let behind = self.s.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, b.end, a.start);
        let apart = self.s.b.ins().bor(before, behind);
        let is_item_by_item = is_one && a.run == b.run && a.run != Run::Same && a.width == b.width;
        Some(if is_item_by_item {
            // Of the same places the schedule knows what comes first.
            let same = self.s.b.ins().icmp(IntCC::Equal, a.first, b.first);
            self.s.b.ins().bor(apart, same)
        } else {
            apart
        })
    }

    fn run_loop(&mut self, of: &StreamLoop, spans: &[Span]) {
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, of.table_bytes, 3);
        let slot = self.s.b.create_sized_stack_slot(slot);
        let table = self.s.b.ins().stack_addr(I64, slot, 0);
        for &(at, access) in &of.rows {
            if let Some(span) = spans.get(access as usize) {
                self.s.b.ins().store(here(), span.first, table, at);
            }
        }
        for &(at, id) in &of.words {
            let value = self.value(id);
            let word = match self.s.b.func.dfg.value_type(value) {
                I32 => value,
                _ => {
                    let word = self.s.b.ins().uextend(I32, value);
                    self.s.b.ins().ineg(word)
                }
            };
            self.s.b.ins().store(here(), word, table, at);
        }
        let begin = self.s.constant(I64, 0);
        let others = self.others();
        let count = self.s.b.ins().iadd_imm_s(others, 1);
        let end = self.s.b.ins().ishl_imm_s(count, 2);
        self.s.call_loop(&of.code, [table, begin, end]);
    }
}
