//! Conditions of a row that the first and the last item determine.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;

use super::dataflow::{Dataflow, Id, Op, Shape};
use super::split::is_told_by_ends;

/// Code generator for a row of items.
pub(crate) trait Ends<'f> {
    fn dataflow(&self) -> &Dataflow;

    fn builder(&mut self) -> &mut FunctionBuilder<'f>;

    /// Returns the value of a uniform operation, or the value of the first item.
    fn scalar(&mut self, id: Id) -> Value;

    /// Returns the number of items of the row minus one, as 64 bits.
    fn others(&mut self) -> Value;

    /// Returns two truth values: the condition holds for all items of the row, and the condition holds for no item.
    /// Both are computed from the first and the last item. A condition may be the same for all items even if both truth
    /// values are false.
    fn same_for_all(&mut self, condition: Id) -> Option<[Value; 2]> {
        if !is_told_by_ends(self.dataflow(), condition) {
            return None;
        }
        if self.dataflow().shape(condition) == Shape::Uniform {
            let holds = self.scalar(condition);
            return Some([holds, self.builder().ins().bxor_imm_s(holds, 1)]);
        }
        let args = self.dataflow().args(condition);
        let (&a, &b) = (args.first()?, args.get(1).or(args.first())?);
        match self.dataflow().op(condition) {
            Op::Negate => {
                let [all, none] = self.same_for_all(a)?;
                Some([none, all])
            }
            op @ (Op::Both | Op::Either) => {
                let ([all_a, none_a], [all_b, none_b]) = (self.same_for_all(a)?, self.same_for_all(b)?);
                let b = self.builder();
                Some(match op {
                    Op::Both => [b.ins().band(all_a, all_b), b.ins().bor(none_a, none_b)],
                    _ => [b.ins().bor(all_a, all_b), b.ins().band(none_a, none_b)],
                })
            }
            Op::Less(signed) => Some(self.less_for_all(signed, [a, b])),
            Op::Equal => Some(self.equal_for_all([a, b])),
            _ => None,
        }
    }

    /// Returns the number of items that become the first of two rows, if `same_for_all` does not decide the condition.
    fn cut(&mut self, condition: Id) -> Value {
        let mut least = self.others();
        self.least_cut(condition, &mut least);
        least
    }

    /// Reduces `least` to the smallest number of items, at least one, after which the result of a compare may change.
    fn least_cut(&mut self, condition: Id, least: &mut Value) {
        if self.dataflow().shape(condition) == Shape::Uniform {
            return;
        }
        let args = self.dataflow().args(condition);
        let (signed, is_equal) = match self.dataflow().op(condition) {
            Op::Less(signed) => (signed, false),
            Op::Equal => (false, true),
            _ => return args.iter().for_each(|&arg| self.least_cut(arg, least)),
        };
        let &[x, y] = args.as_slice() else { return };
        let ([first, _], _, limit, is_first) = self.ends(signed, [x, y]);
        let grows = if is_first { x } else { y };
        let by = i64::from(self.dataflow().shape(grows).stride());
        let most = if signed { i64::from(i32::MAX) } else { i64::from(u32::MAX) };
        let b = self.builder();
        let end = b.ins().iconst(I64, most + 1);
        let behind = b.ins().iadd_imm_s(limit, 1);
        // The results change where the affine word reaches the limit, exceeds the limit, or wraps.
        let ways = if is_equal { vec![limit, behind, end] } else { vec![if is_first { limit } else { behind }, end] };
        let (one, step) = (b.ins().iconst(I64, 1), b.ins().iconst(I64, by));
        for way in ways {
            let far = b.ins().isub(way, first);
            let far = b.ins().iadd_imm_s(far, by - 1);
            let count = if by == 1 { far } else { b.ins().sdiv(far, step) };
            let count = b.ins().smax(count, one);
            let is_less = b.ins().icmp(IntCC::SignedLessThan, count, *least);
            let is_ahead = b.ins().icmp(IntCC::SignedGreaterThan, way, first);
            let is_taken = b.ins().band(is_less, is_ahead);
            *least = b.ins().select(is_taken, count, *least);
        }
    }

    /// Returns the affine operand of a compare in 64 bits, for the first and the last item. The other results are
    /// `true` if 32 bits hold the last value, the uniform operand, and `true` if the affine operand is the first one.
    fn ends(&mut self, signed: bool, [a, b]: [Id; 2]) -> ([Value; 2], Value, Value, bool) {
        let is_first = self.dataflow().shape(a) != Shape::Uniform;
        let (grows, limit) = if is_first { (a, b) } else { (b, a) };
        let by = self.dataflow().shape(grows).stride().cast_signed();
        let [first, limit] = [grows, limit].map(|id| {
            let word = self.scalar(id);
            if signed { self.builder().ins().sextend(I64, word) } else { self.builder().ins().uextend(I64, word) }
        });
        let others = self.others();
        let b = self.builder();
        let grown = b.ins().imul_imm_s(others, i64::from(by));
        let last = b.ins().iadd(first, grown);
        // If the affine operand wraps, its value becomes less than before.
        let most = if signed { i64::from(i32::MAX) } else { i64::from(u32::MAX) };
        let is_kept = b.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, last, most);
        ([first, last], is_kept, limit, is_first)
    }

    fn less_for_all(&mut self, signed: bool, words: [Id; 2]) -> [Value; 2] {
        let ([first, last], is_kept, limit, is_first) = self.ends(signed, words);
        let b = self.builder();
        if is_first {
            let all = b.ins().icmp(IntCC::SignedLessThan, last, limit);
            let none = b.ins().icmp(IntCC::SignedGreaterThanOrEqual, first, limit);
            [all, b.ins().band(none, is_kept)]
        } else {
            let all = b.ins().icmp(IntCC::SignedLessThan, limit, first);
            let none = b.ins().icmp(IntCC::SignedLessThanOrEqual, last, limit);
            [b.ins().band(all, is_kept), none]
        }
    }

    fn equal_for_all(&mut self, words: [Id; 2]) -> [Value; 2] {
        let ([first, last], is_kept, limit, _) = self.ends(false, words);
        let b = self.builder();
        let (before, behind) =
            (b.ins().icmp(IntCC::SignedLessThan, limit, first), b.ins().icmp(IntCC::SignedGreaterThan, limit, last));
        let none = b.ins().bor(before, behind);
        let (is_one, is_it) = (b.ins().icmp(IntCC::Equal, first, last), b.ins().icmp(IntCC::Equal, first, limit));
        [b.ins().band(is_one, is_it), b.ins().band(none, is_kept)]
    }
}
