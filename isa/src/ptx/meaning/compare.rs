//! Semantics of comparisons and selections.

use super::{Context, Reader, Write, wide};
use crate::half::{Compare, Format};
use crate::halu::domain::{Domain, HalfCompare};
use crate::ptx::operand::Operand;
use crate::ptx::types::{Token, Type, TypeKind};

const ONE: u32 = 0x3F80_0000;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn set_pred_int(&mut self) {
        let p = self.compare_int(self.ty(0));
        self.define_both(p);
    }

    pub(super) fn set_pred_float(&mut self) {
        let p = self.compare_float();
        self.define_both(p);
    }

    pub(super) fn set_pred_half(&mut self, format: Format) {
        let [p, _] = self.compare_half(format);
        let p = self.combine(p);
        self.define_predicate(p);
    }

    pub(super) fn set_pred_halves(&mut self, format: Format) {
        let both = self.compare_half(format).map(|p| self.combine(p));
        self.define_pair(both);
    }

    pub(super) fn set_int(&mut self) {
        let p = self.compare_int(self.ty(1));
        let p = self.combine(p);
        self.define_truth(p);
    }

    pub(super) fn set_float(&mut self) {
        let p = self.compare_float();
        let p = self.combine(p);
        self.define_truth(p);
    }

    pub(super) fn set_pred_double(&mut self) {
        let p = self.compare_double();
        self.define_both(p);
    }

    pub(super) fn set_double(&mut self) {
        let p = self.compare_double();
        let p = self.combine(p);
        self.define_truth(p);
    }

    pub(super) fn set_half(&mut self, format: Format) {
        let [p, _] = self.compare_half(format);
        let p = self.combine(p);
        self.define_truth(p);
    }

    pub(super) fn set_halves(&mut self, format: Format) {
        let lanes = self.compare_half(format).map(|p| self.combine(p));
        let truth = if self.ty(0).kind() == TypeKind::Float { format.one() } else { 0xFFFF };
        let zero = self.d.word(0);
        let [low, high] = [0, 16].map(|position| self.d.word(u32::from(truth) << position));
        let low = self.d.select(lanes[0], low, zero);
        let high = self.d.select(lanes[1], high, zero);
        let result = self.d.or(low, high);
        self.define_word(result);
    }

    pub(super) fn selp(&mut self) {
        let (a, b, p) = (self.value(1), self.value(2), self.predicate(3));
        let result = wide::select(self.d, p, a, b);
        self.define(result);
    }

    pub(super) fn slct_int(&mut self) {
        let (a, b, c) = (self.value(1), self.value(2), self.word(3));
        let negative = wide::is_negative(self.d, c);
        let result = wide::select(self.d, negative, b, a);
        self.define(result);
    }

    pub(super) fn slct_float(&mut self) {
        let (a, b, c) = (self.value(1), self.value(2), self.word(3));
        let c = self.flushed(c);
        let zero = self.d.word(0);
        let positive = self.d.fcompare(Compare::GE, c, zero);
        let result = wide::select(self.d, positive, a, b);
        self.define(result);
    }

    fn compare_int(&mut self, ty: Type) -> D::Pred {
        let (a, b) = (self.wide_int(1, ty), self.wide_int(2, ty));
        self.compare_ints(ty, a, b)
    }

    /// Compares two integers of a type by the comparison operator among the modifiers. Returns the predicate.
    pub(super) fn compare_ints(&mut self, ty: Type, a: [D::Word; 2], b: [D::Word; 2]) -> D::Pred {
        let has = |tokens: [Token; 2]| tokens.iter().any(|&token| self.inst.has(token));
        // For unsigned integers, the operators `lo`, `ls`, `hi` and `hs` are `lt`, `le`, `gt` and `ge`.
        let (swapped, negated) = match () {
            () if has([Token::Eq, Token::Ne]) => {
                let equal = self.equal(ty, a, b);
                return if self.has(Token::Ne) { self.d.negate(equal) } else { equal };
            }
            () if has([Token::Lt, Token::Lo]) => (false, false),
            () if has([Token::Ge, Token::Hs]) => (false, true),
            () if has([Token::Gt, Token::Hi]) => (true, false),
            () => (true, true),
        };
        let (first, second) = if swapped { (b, a) } else { (a, b) };
        let less = self.less(ty, first, second);
        if negated { self.d.negate(less) } else { less }
    }

    fn compare_float(&mut self) -> D::Pred {
        let (a, b) = (self.operand_float(1), self.operand_float(2));
        self.d.fcompare(compare(&self.inst.modifiers), a, b)
    }

    fn compare_double(&mut self) -> D::Pred {
        let (a, b) = (self.value(1), self.value(2));
        self.d.double_compare(compare(&self.inst.modifiers), a, b)
    }

    fn compare_half(&mut self, format: Format) -> [D::Pred; 2] {
        let op = HalfCompare { format, ftz: self.has(Token::Ftz), compare: compare(&self.inst.modifiers) };
        let (a, b) = (self.word(1), self.word(2));
        self.d.half_compare(&op, a, b)
    }

    /// Returns `p`, combined with the last operand if the instruction has `.and`, `.or` or `.xor`.
    fn combine(&mut self, p: D::Pred) -> D::Pred {
        let gate = match () {
            () if self.has(Token::And) => D::both,
            () if self.has(Token::Or) => D::either,
            () if self.has(Token::Xor) => D::differ,
            () => return p,
        };
        let c = self.predicate(3);
        gate(self.d, p, c)
    }

    /// Writes `p` and its negation, each combined with the last operand if the instruction has `.and`, `.or` or `.xor`.
    fn define_both(&mut self, p: D::Pred) {
        let opposite = self.d.negate(p);
        let both = [p, opposite].map(|p| self.combine(p));
        self.define_pair(both);
    }

    fn define_pair(&mut self, both: [D::Pred; 2]) {
        match self.operand(0) {
            Some(&Operand::Pair(regs)) => {
                let writes = regs.into_iter().zip(both);
                self.effects.writes.extend(writes.filter_map(|(reg, p)| Some(Write::Predicate(reg?, p))));
            }
            _ => self.define_predicate(both[0]),
        }
    }

    /// Writes the result of `set`: all ones or zero for an integer type, 1.0 or 0.0 for a float type.
    fn define_truth(&mut self, p: D::Pred) {
        let truth = match self.ty(0) {
            Type::F32 => ONE,
            Type::F16 => Format::F16.one().into(),
            Type::Bf16 => Format::Bf16.one().into(),
            _ => u32::MAX,
        };
        let (truth, zero) = (self.d.word(truth), self.d.word(0));
        let result = self.d.select(p, truth, zero);
        self.define_word(result);
    }
}

/// Returns the floating-point comparison that the modifiers name.
fn compare(words: &[Token]) -> Compare {
    let named = |token: &Token| {
        Some(match token {
            Token::Eq => Compare::EQ,
            Token::Ne => Compare::NE,
            Token::Lt => Compare::LT,
            Token::Le => Compare::LE,
            Token::Gt => Compare::GT,
            Token::Ge => Compare::GE,
            Token::Equ => Compare::EQU,
            Token::Neu => Compare::NEU,
            Token::Ltu => Compare::LTU,
            Token::Leu => Compare::LEU,
            Token::Gtu => Compare::GTU,
            Token::Geu => Compare::GEU,
            Token::Num => Compare::NUM,
            _ => return None,
        })
    };
    words.iter().find_map(named).unwrap_or(Compare::NAN)
}
