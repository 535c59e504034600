//! Code before the first gang: invariant values, limits, and checks of rows.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, InstBuilder, Value};

use super::Emitter;
use super::memory::here;
use crate::vir::{Block, End, HoistedRow, ITEMS, Limit, Node, RowCheck, Target};

impl Emitter<'_, '_> {
    pub(super) fn prologue(&mut self, table: Value, count: Value) -> Option<()> {
        let zero = self.b.ins().iconst(I64, 0);
        self.b.def_var(self.item, zero);
        self.b.def_var(self.items, count);
        for (at, &word) in (0..).step_by(8).zip(&self.words) {
            let value = self.b.ins().load(I64, here(), table, at);
            self.b.def_var(word, value);
        }
        for &row in &self.rows {
            self.b.def_var(row, zero);
        }
        let none = self.constant(0);
        for variable in self.cells.iter().flatten() {
            self.b.def_var(*variable, none);
        }
        let setup = Block { nodes: self.function.setup.clone(), end: End::Jump(Target::Done) };
        self.nodes(&setup.nodes, &setup.live())?;
        let items = self.b.use_var(self.items);
        let items = self.b.ins().band_imm_s(items, -i64::from(ITEMS));
        self.b.def_var(self.items, items);
        let is_none = self.b.ins().icmp_imm_s(IntCC::Equal, items, 0);
        self.leave_if(is_none, self.labels.give_up);
        for hoisted in &self.function.hoisted {
            self.hoist_row(hoisted)?;
        }
        self.b.ins().jump(self.labels.start, &[]);
        self.b.switch_to_block(self.labels.start);
        let budget = self.function.budget.unwrap_or_default();
        let budget = self.b.ins().iconst(I64, budget.cast_signed());
        self.b.def_var(self.budget, budget);
        let &first = self.labels.blocks.first()?;
        self.b.ins().jump(first, &[]);
        Some(())
    }

    /// Emits a node of the setup.
    pub(super) fn before(&mut self, node: &Node) -> Option<()> {
        match *node {
            Node::SetWord(word, from) => {
                let first = self.first_word(from, false)?;
                let &variable = self.words.get(word.0 as usize)?;
                self.b.def_var(variable, first);
            }
            Node::SkipUnless(holds) => {
                let holds = self.first_word(holds, false)?;
                let (skip, on) = (self.b.create_block(), self.b.create_block());
                self.b.ins().brif(holds, on, &[], skip, &[]);
                self.b.switch_to_block(skip);
                let items = self.b.use_var(self.items);
                self.b.ins().return_(&[items]);
                self.b.switch_to_block(on);
            }
            Node::Limit(Limit { from, step, bound, is_inclusive, signed }) => {
                let (from, bound) = (self.first_word(from, signed)?, self.first_word(bound, signed)?);
                // The number of the last item that does not wrap.
                let most = if signed { i64::from(i32::MAX) } else { i64::from(u32::MAX) };
                let most = self.b.ins().iconst(I64, most);
                let left = self.b.ins().isub(most, from);
                self.limit(left, step);
                // The number of the last item before the bound. The number is large if item 0 is past the bound.
                let left = self.b.ins().isub(bound, from);
                let left = if is_inclusive { left } else { self.b.ins().iadd_imm_s(left, -1) };
                self.limit(left, step);
            }
            _ => return None,
        }
        Some(())
    }

    /// Limits the number of items to `number / step + 1`. `step` is a power of two.
    fn limit(&mut self, number: Value, step: u32) {
        let last = self.b.ins().ushr_imm_s(number, i64::from(step.trailing_zeros()));
        let items = self.b.use_var(self.items);
        let is_less = self.b.ins().icmp(IntCC::UnsignedLessThan, last, items);
        let limited = self.b.ins().iadd_imm_s(last, 1);
        let items = self.b.ins().select(is_less, limited, items);
        self.b.def_var(self.items, items);
    }

    /// Checks a hoisted row, and keeps the address of the first item's element.
    fn hoist_row(&mut self, HoistedRow { row, offset, step, base, check }: &HoistedRow) -> Option<()> {
        let word = self.word(*offset)?;
        let first = self.extended(word, check.signed);
        let items = self.b.use_var(self.items);
        let others = self.b.ins().iadd_imm_s(items, -1);
        let reach = self.b.ins().imul_imm_s(others, i64::from(*step));
        let last = self.b.ins().iadd(first, reach);
        if check.stride != 0 {
            // The last offset must fit in a word.
            let held = self.extended(last, check.signed);
            let is_wrapped = self.b.ins().icmp(IntCC::NotEqual, held, last);
            self.leave_if(is_wrapped, self.labels.unbegun);
        }
        let base = match base {
            Some([low, high]) => {
                let (low, high) = (self.word(*low)?, self.word(*high)?);
                let low = self.extended(low, false);
                let high = self.b.ins().ishl_imm_s(high, 32);
                Some(self.b.ins().bor(low, high))
            }
            None => None,
        };
        let ends = [first, last].map(|number| self.offset(number, check));
        let address = self.bounds(ends, check, base, self.labels.unbegun)?;
        let row = self.row(*row)?;
        self.b.def_var(row, address);
        Some(())
    }

    /// Extends the low word of a 64-bit number.
    pub(super) fn extended(&mut self, number: Value, signed: bool) -> Value {
        let word = self.b.ins().ireduce(I32, number);
        if signed { self.b.ins().sextend(I64, word) } else { self.b.ins().uextend(I64, word) }
    }

    /// Returns the offset in bytes of a number, with the displacement.
    pub(super) fn offset(&mut self, number: Value, check: &RowCheck) -> Value {
        let bytes = self.b.ins().imul_imm_s(number, i64::from(check.scale));
        self.b.ins().iadd_imm_s(bytes, i64::from(check.displacement))
    }

    /// Checks that the elements at two offsets are in the buffer. Returns the address of the first element.
    pub(super) fn bounds(
        &mut self,
        ends: [Value; 2],
        check: &RowCheck,
        base: Option<Value>,
        fail: ir::Block,
    ) -> Option<Value> {
        let [start, bytes] = [self.word(check.buffer[0])?, self.word(check.buffer[1])?];
        let [first, last] = match base {
            Some(base) => {
                let into = self.b.ins().isub(base, start);
                ends.map(|end| self.b.ins().iadd(end, into))
            }
            None => ends,
        };
        let most = self.b.ins().iadd_imm_s(bytes, -i64::from(check.bytes));
        let is_short = self.b.ins().icmp_imm_s(IntCC::UnsignedLessThan, bytes, i64::from(check.bytes));
        let mut wrong = self.b.ins().icmp(IntCC::UnsignedGreaterThan, first, most);
        let is_after = self.b.ins().icmp(IntCC::UnsignedGreaterThan, last, most);
        wrong = self.b.ins().bor(wrong, is_short);
        wrong = self.b.ins().bor(wrong, is_after);
        if check.align > 1 {
            let rest = self.b.ins().band_imm_s(first, i64::from(check.align) - 1);
            let is_off = self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
            wrong = self.b.ins().bor(wrong, is_off);
        }
        self.leave_if(wrong, fail);
        Some(self.b.ins().iadd(start, first))
    }
}
