//! Lowering of the operations of a dataflow to nodes.

use halfbyte_isa::half::Compare;
use smallvec::SmallVec;

use super::lower::Lower;
use super::{Binary, Float, Node, Shift, Value, Width};
use crate::jit::{Id, Op};

impl Lower<'_> {
    /// Returns the values of the first three operands of an operation.
    fn operands(&mut self, id: Id) -> Option<SmallVec<[Value; 3]>> {
        self.dataflow().args(id).into_iter().take(3).map(|arg| self.value(arg)).collect()
    }

    /// Returns the result of an operation that is not a leaf.
    pub(super) fn operation(&mut self, id: Id, op: Op) -> Option<Value> {
        let args = self.dataflow().args(id);
        let args = args.as_slice();
        let binary = match op {
            Op::And | Op::Both => Some(Binary::And),
            Op::Or | Op::Either => Some(Binary::Or),
            Op::Xor | Op::Differ => Some(Binary::Xor),
            Op::Add => Some(Binary::Add),
            Op::Sub => Some(Binary::Sub),
            Op::Mul => Some(Binary::Mul),
            Op::Equal => Some(Binary::Equal),
            _ => None,
        };
        if let Some(word) = self.dataflow().signs_of(id) {
            let (zero, word) = (self.b.constant(0), self.value(word)?);
            return Some(self.b.binary(Binary::Greater, Width::B8, zero, word));
        }
        if let Some(binary) = binary {
            let &[a, b] = args else { return None };
            let (a, b) = (self.value(a)?, self.value(b)?);
            return Some(self.b.words(binary, a, b));
        }
        Some(match (op, args) {
            (Op::Not | Op::Negate, &[a]) => {
                let a = self.value(a)?;
                self.b.not(a)
            }
            (Op::Shl, &[a, count]) => self.shift_by(Shift::Left, a, count)?,
            (Op::Shr, &[a, count]) => self.shift_by(Shift::Right, a, count)?,
            (Op::Sar, &[a, count]) => self.shift_by(Shift::Arithmetic, a, count)?,
            (Op::MulHigh(signed), &[a, b]) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.b.mul_high(signed, a, b)
            }
            (Op::Divide(op), &[a, b]) => {
                let args = [self.value(a)?, self.value(b)?];
                self.divide(op, args)
            }
            (Op::Less(true), &[a, b]) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.b.words(Binary::Greater, b, a)
            }
            (Op::Less(false), &[a, b]) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.b.less_unsigned(Width::B32, a, b)
            }
            (Op::Select | Op::Choose, &[holds, a, b]) => {
                let (holds, a, b) = (self.value(holds)?, self.value(a)?, self.value(b)?);
                self.b.select(holds, a, b)
            }
            (Op::FAdd | Op::FMul | Op::Fma | Op::FDiv | Op::FSqrt, _) => {
                let float = self.float(id)?;
                self.b.canonical(float)
            }
            (Op::FCompare(compare), &[a, b]) => {
                let (a, b) = (self.float(a)?, self.float(b)?);
                self.b.compare(compare, a, b)
            }
            (Op::IntToFloat(true), &[a]) => {
                let a = self.value(a)?;
                self.b.push(Node::FloatOfInt(a))
            }
            (Op::IntToFloat(false), &[a]) => {
                let a = self.value(a)?;
                self.float_of_unsigned(a)
            }
            (Op::FloatToInt(signed), &[a]) => {
                let a = self.float(a)?;
                if signed { self.saturated(a) } else { self.saturated_unsigned(a) }
            }
            (Op::Narrow(format, rounding), &[a]) => {
                let a = self.float(a)?;
                self.narrow(format, rounding, a)?
            }
            (Op::Widen(format), &[a]) => {
                let a = self.value(a)?;
                let float = self.widen(format, a);
                self.b.canonical(float)
            }
            (Op::Half(half), _) => {
                let rounded = self.rounded_half(id, &half)?;
                self.finished(&half, rounded)
            }
            (Op::MinMax(op), &[a, b, min]) => {
                let (a, b, min) = (self.any_half(a)?, self.any_half(b)?, self.value(min)?);
                self.half_minmax(&op, min, [a, b])?
            }
            (Op::HalfCompare(op, lane), &[a, b]) => {
                let (a, b) = (self.any_half(a)?, self.any_half(b)?);
                self.half_compare(&op, lane, [a, b])?
            }
            (Op::Video(video), _) => {
                let &[a, b, c] = self.operands(id)?.as_slice() else { return None };
                self.video(&video, [a, b, c])
            }
            (Op::Bytes(select), &[a, b]) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                self.bytes(select, [a, b])
            }
            _ => return None,
        })
    }

    /// Returns the float of an operation, with NaNs of any payload. Returns `Some(None)` if there is no such form.
    #[expect(clippy::option_option, reason = "no form in vectors, or no such form")]
    pub(super) fn any_nan(&mut self, id: Id) -> Option<Option<Value>> {
        let dataflow = self.dataflow();
        let (op, args) = (dataflow.op(id), dataflow.args(id));
        let float = match op {
            Op::FAdd => Float::Add,
            Op::FMul => Float::Mul,
            Op::FDiv => Float::Div,
            _ => {
                return Some(match (op, args.as_slice()) {
                    (Op::Fma, &[a, b, c]) => {
                        let args = [self.float(a)?, self.float(b)?, self.float(c)?];
                        Some(self.b.push(Node::Fma(args)))
                    }
                    (Op::FSqrt, &[a]) => {
                        let a = self.float(a)?;
                        Some(self.b.push(Node::Sqrt(a)))
                    }
                    (Op::Widen(format), &[a]) => {
                        let a = self.value(a)?;
                        Some(self.widen(format, a))
                    }
                    // A NaN with a changed or cleared sign is still NaN.
                    (Op::Xor | Op::And, &[a, bits]) if crate::jit::is_of_sign(dataflow, op, bits) => {
                        let (a, bits) = (self.float(a)?, self.value(bits)?);
                        let binary = if op == Op::Xor { Binary::Xor } else { Binary::And };
                        Some(self.b.words(binary, a, bits))
                    }
                    (Op::Select, &[holds, a, b]) => {
                        let (holds, a, b) = (self.value(holds)?, self.float(a)?, self.float(b)?);
                        Some(self.b.select(holds, a, b))
                    }
                    _ => None,
                });
            }
        };
        let &[a, b] = args.as_slice() else { return Some(None) };
        let (a, b) = (self.float(a)?, self.float(b)?);
        Some(Some(self.b.float(float, a, b)))
    }

    /// Converts floats to signed words, rounded toward zero and saturated. Converts NaN to 0.
    fn saturated(&mut self, float: Value) -> Value {
        let word = self.b.push(Node::IntOfFloat(float));
        let limit = self.b.constant(0x4F00_0000);
        let is_large = self.b.compare(Compare::GE, float, limit);
        let word = self.b.xor(word, is_large);
        let is_number = self.b.compare(Compare::NUM, float, float);
        self.b.and(word, is_number)
    }

    /// Converts floats to unsigned words, rounded toward zero and saturated. Converts NaN to 0.
    fn saturated_unsigned(&mut self, float: Value) -> Value {
        let (zero, half, whole) = (self.b.constant(0), self.b.constant(0x4F00_0000), self.b.constant(0x4F80_0000));
        let float = self.b.float(Float::Max, float, zero);
        let is_large = self.b.compare(Compare::GE, float, half);
        let taken = self.b.and(is_large, half);
        let rest = self.b.float(Float::Sub, float, taken);
        let word = self.b.push(Node::IntOfFloat(rest));
        let sign = self.b.and_constant(is_large, 1 << 31);
        let word = self.b.xor(word, sign);
        let is_beyond = self.b.compare(Compare::GE, float, whole);
        self.b.or(word, is_beyond)
    }

    /// Returns the floats of unsigned words. A float holds each 16-bit half of a word exactly.
    fn float_of_unsigned(&mut self, word: Value) -> Value {
        let low = self.b.and_constant(word, 0xFFFF);
        let low_offset = self.b.constant(0x4B00_0000);
        let low = self.b.or(low, low_offset);
        let high = self.b.shift_words(Shift::Right, word, 16);
        let high_offset = self.b.constant(0x5300_0000);
        let high = self.b.or(high, high_offset);
        // 2^39 + 2^23
        let offsets = self.b.constant(0x5300_0080);
        let high = self.b.float(Float::Sub, high, offsets);
        self.b.float(Float::Add, high, low)
    }
}
