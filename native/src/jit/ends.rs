//! Conditions of rows, told by the first item and the last.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;

use super::dataflow::{Dataflow, Id, Op, Shape};
use super::split::is_told_by_ends;

/// Code for a row of items on its way.
pub(crate) trait Ends<'f> {
    fn dataflow(&self) -> &Dataflow;

    fn builder(&mut self) -> &mut FunctionBuilder<'f>;

    /// What all items of the row have, or what the first has.
    fn scalar(&mut self, id: Id) -> Value;

    /// Items of the row but for the first, in 64 bits.
    fn others(&mut self) -> Value;

    /// Whether a condition is seen to hold for all items of the row, and whether for none, by those of the first and the last. Where
    /// neither is seen, it may yet be so.
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

    /// How many of the first items are a row of their own, where a condition is not seen to be the same for all.
    fn cut(&mut self, condition: Id) -> Value {
        let mut least = self.others();
        self.least_cut(condition, &mut least);
        least
    }

    /// The least number of items, one at least, behind which a compare may turn out otherwise, if it is less.
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
        // Where it is no less than the limit, where it is more, and where it wraps.
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

    /// What grows of two words, in 64 bits: of the first item and of the last one, whether it is kept by 32 bits; the other one, and
    /// whether what grows is the first.
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
        // Where what grows wraps it is less than what it was.
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
