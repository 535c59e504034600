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
