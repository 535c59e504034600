//! The words of all items of a gang.

use cranelift_codegen::ir::types::{I8, I32, I32X4};
use cranelift_codegen::ir::{InstBuilder, Value};

use super::{Emitter, PARTS, Words};
use crate::aot::item::scalar;
use crate::jit::{
    Id, Op, Shape, cast, compute, compute_float, constant, has_any_nan, is_alone, is_of_sign, one_nan, takes_any_nan,
};

impl Emitter<'_, '_, '_, '_> {
    fn is_truth(&self, id: Id) -> bool {
        match self.item.dataflow().op(id) {
            Op::Input(cell) => self.cells.is_pred(cell),
            op => op.is_truth(),
        }
    }

    /// The word of a truth value, as vectors have it.
    fn all_ones(&mut self, truth: Value) -> Value {
        let word = self.item.s.b.ins().uextend(I32, truth);
        self.item.s.b.ins().ineg(word)
    }

    /// What all items have where the first has a value: a word, or a truth value.
    pub(super) fn grown(&mut self, first: Value, shape: Shape) -> Words {
        let first = if self.item.s.b.func.dfg.value_type(first) == I8 { self.all_ones(first) } else { first };
        let b = &mut *self.item.s.b;
        let first = b.ins().splat(I32X4, first);
        let stride = shape.stride();
        std::array::from_fn(|part| {
            if stride == 0 {
                return first;
            }
            let numbers = (4 * part as u32..).take(4).flat_map(|k| k.wrapping_mul(stride).to_le_bytes());
            let steps = b.func.dfg.constants.insert(numbers.collect::<Vec<u8>>().into());
            let steps = b.ins().vconst(I32X4, steps);
            b.ins().iadd(first, steps)
        })
    }

    /// A value of the block for all items.
    pub(super) fn vector(&mut self, id: Id) -> Words {
        if let Some(&Some(words)) = self.vectors.get(id.index()) {
            return words;
        }
        let words = self.compute(id);
        if let Some(place) = self.vectors.get_mut(id.index()) {
            *place = Some(words);
        }
        words
    }

    fn compute(&mut self, id: Id) -> Words {
        let dataflow = self.item.dataflow();
        let (op, shape) = (dataflow.op(id), dataflow.shape(id));
        if !shape.is_varying() {
            if let Some(word) = dataflow.constant(id) {
                let word = if self.is_truth(id) { word.wrapping_neg() } else { word };
                return [constant(self.item.s.b, I32X4, word); PARTS];
            }
            let first = self.item.value(id);
            return self.grown(first, shape);
        }
        match op {
            Op::Input(cell) => match self.rows.get(cell.index()) {
                Some(&row) => self.get(row),
                None => self.zeros(),
            },
            Op::Mask => self.mask.unwrap_or_else(|| [constant(self.item.s.b, I32X4, u32::MAX); PARTS]),
            Op::Loaded(number, k) => {
                let loaded = self.loaded.get(number as usize).and_then(|words| words.get(usize::from(k)).copied());
                loaded.flatten().unwrap_or_else(|| self.zeros())
            }
            Op::Access(_) => self.zeros(),
            op if is_alone(dataflow, id, self.item.s.library.features.fma) => self.each_alone(id, op),
            op if has_any_nan(op) => self.float(id).map(|word| one_nan(self.item.s.b, word)),
            Op::Shl | Op::Shr | Op::Sar => {
                let args = dataflow.args(id);
                let (Some(&x), Some(&count)) = (args.first(), args.get(1)) else { return self.zeros() };
                let (x, count) = (self.vector(x), self.item.value(count));
                let b = &mut *self.item.s.b;
                x.map(|x| match op {
                    Op::Shl => b.ins().ishl(x, count),
                    Op::Shr => b.ins().ushr(x, count),
                    _ => b.ins().sshr(x, count),
                })
            }
            op => {
                let operands = self.operands(id);
                operands.map(|operands| {
                    let words = compute(self.item.s.b, op, operands);
                    cast(self.item.s.b, I32X4, words)
                })
            }
        }
    }

    fn zeros(&mut self) -> Words {
        [constant(self.item.s.b, I32X4, 0); PARTS]
    }

    /// By part the operands of an operation.
    fn operands(&mut self, id: Id) -> [[Value; 3]; PARTS] {
        let dataflow = self.item.dataflow();
        let takes_any = takes_any_nan(dataflow.op(id));
        let each = |&arg: &Id| if takes_any { self.float(arg) } else { self.vector(arg) };
        let args: Vec<Words> = dataflow.args(id).iter().take(3).map(each).collect();
        let fill = args.first().copied().unwrap_or_else(|| self.zeros());
        let all: [Words; 3] = std::array::from_fn(|k| args.get(k).copied().unwrap_or(fill));
        std::array::from_fn(|part| all.map(|words| words[part]))
    }

    /// A value for who does the same for all NaNs.
    pub(super) fn float(&mut self, id: Id) -> Words {
        let known = |values: &[Option<Words>]| values.get(id.index()).copied().flatten();
        if let Some(words) = known(&self.floats).or_else(|| known(&self.vectors)) {
            return words;
        }
        let dataflow = self.item.dataflow();
        let (op, args) = (dataflow.op(id), dataflow.args(id));
        let words = match op {
            _ if !dataflow.shape(id).is_varying() || is_alone(dataflow, id, self.item.s.library.features.fma) => {
                return self.vector(id);
            }
            op if has_any_nan(op) => {
                let operands = self.operands(id);
                operands.map(|operands| compute_float(self.item.s.b, op, operands))
            }
            // A sign that is changed or taken away leaves NaN what it is.
            Op::Xor | Op::And
                if let &[x, bits] = args.as_slice()
                    && is_of_sign(dataflow, op, bits) =>
            {
                let (x, bits) = (self.float(x), self.vector(bits));
                std::array::from_fn(|part| {
                    let x = cast(self.item.s.b, I32X4, x[part]);
                    compute(self.item.s.b, op, [x, bits[part], bits[part]])
                })
            }
            Op::Select if let &[condition, a, b] = args.as_slice() => {
                let (condition, a, b) = (self.vector(condition), self.float(a), self.float(b));
                std::array::from_fn(|part| {
                    let [a, b] = [a, b].map(|words| cast(self.item.s.b, I32X4, words[part]));
                    compute(self.item.s.b, op, [condition[part], a, b])
                })
            }
            _ => return self.vector(id),
        };
        if let Some(place) = self.floats.get_mut(id.index()) {
            *place = Some(words);
        }
        words
    }

    /// An operation that vectors do not have, of one item after another.
    fn each_alone(&mut self, id: Id, op: Op) -> Words {
        let dataflow = self.item.dataflow();
        let args: Vec<(Words, bool)> =
            dataflow.args(id).iter().map(|&arg| (self.vector(arg), self.is_truth(arg))).collect();
        std::array::from_fn(|part| {
            let words = (0..4).map(|lane| {
                let each = args.iter().map(|&(words, is_truth)| {
                    let b = &mut *self.item.s.b;
                    let words = cast(b, I32X4, words[part]);
                    let word = b.ins().extractlane(words, lane);
                    if is_truth { b.ins().ireduce(I8, word) } else { word }
                });
                let each: Vec<Value> = each.collect();
                let each = each.into_iter().map(|value| match self.item.s.b.func.dfg.value_type(value) {
                    I8 => self.item.s.b.ins().band_imm_s(value, 1),
                    _ => value,
                });
                let each: Vec<Value> = each.collect();
                let fill = each.first().copied().unwrap_or_else(|| self.item.s.b.ins().iconst(I32, 0));
                let result =
                    scalar(&mut self.item.s, op, std::array::from_fn(|k| each.get(k).copied().unwrap_or(fill)));
                if self.item.s.b.func.dfg.value_type(result) == I8 { self.all_ones(result) } else { result }
            });
            let words: Vec<Value> = words.collect();
            let mut vector = constant(self.item.s.b, I32X4, 0);
            for (lane, word) in (0..).zip(words) {
                vector = self.item.s.b.ins().insertlane(vector, word, lane);
            }
            vector
        })
    }
}
