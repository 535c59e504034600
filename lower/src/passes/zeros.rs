//! Analysis of the low zero bits of values, from which the alignment of addresses follows.

use halfbyte_ir::{Flow, Kernel, Op, ParamKind, Value, ValueDef};

/// Number of low zero bits of the constant 0. A block parameter that depends on itself also has
/// this number while it is analysed.
const ALL: u32 = 64;
/// Maximum number of definitions that the analysis of one address visits.
const MAX_LOOKED_AT: u32 = 64;

/// Counts the low zero bits of the values of one kernel. The control flow of the kernel must not change.
#[derive(Default)]
pub(super) struct LowZeros {
    /// Control-flow graph, which is computed when the first block parameter is analysed.
    flow: Option<Flow>,
    looked_at: u32,
    /// Block parameters that are being analysed.
    params: Vec<Value>,
}

impl LowZeros {
    /// Returns the number of low zero bits of `base + index * scale`. The result is valid whether
    /// the product has 32 or 64 bits.
    pub(super) fn of_address(&mut self, kernel: &Kernel, base: Value, index: Option<Value>, scale: u32) -> u32 {
        self.looked_at = 0;
        let base = self.of(kernel, base);
        let index = index.map_or(ALL, |index| self.of(kernel, index) + scale.trailing_zeros());
        base.min(index)
    }

    fn of(&mut self, kernel: &Kernel, value: Value) -> u32 {
        self.looked_at += 1;
        if self.looked_at > MAX_LOOKED_AT {
            return 0;
        }
        let inst = match kernel.values[value].def {
            ValueDef::Param(_) => {
                return match kernel.param(value).map(|param| param.kind) {
                    Some(ParamKind::Buffer { align, .. }) => align.trailing_zeros(),
                    _ => 0,
                };
            }
            ValueDef::Array(_) => return kernel.array(value).map_or(0, |array| array.align.trailing_zeros()),
            ValueDef::BlockParam(..) => return self.of_block_param(kernel, value),
            ValueDef::Result(inst) => inst,
        };
        match (kernel.insts[inst].op, kernel.args(inst)) {
            (Op::Const, _) => kernel.const_bits(inst).map_or(0, |[low, ..]| low.trailing_zeros()),
            (Op::Add | Op::Sub | Op::Or | Op::Xor | Op::PtrAdd, &[a, b]) | (Op::Select, &[_, a, b]) => {
                self.of(kernel, a).min(self.of(kernel, b))
            }
            (Op::And, &[a, b]) => self.of(kernel, a).max(self.of(kernel, b)),
            (Op::Mul | Op::MulWideS | Op::MulWideU, &[a, b]) => ALL.min(self.of(kernel, a) + self.of(kernel, b)),
            (Op::Shl, &[a, count]) => {
                let count = kernel.def_inst(count).and_then(|count| kernel.const_bits(count));
                let count = count.map_or(0, |[count, ..]| count as u32 % kernel.ty(a).bits());
                ALL.min(self.of(kernel, a) + count)
            }
            (Op::Neg | Op::Zext | Op::Sext | Op::Trunc, &[a]) => self.of(kernel, a),
            _ => 0,
        }
    }

    /// Returns the smallest number of low zero bits of the arguments for a block parameter. If an
    /// argument depends on the parameter itself, the parameter is ignored there: no op of the
    /// analysis has fewer low zero bits than its operands.
    fn of_block_param(&mut self, kernel: &Kernel, param: Value) -> u32 {
        let ValueDef::BlockParam(block, number) = kernel.values[param].def else { return 0 };
        if self.params.contains(&param) {
            return ALL;
        }
        let flow = self.flow.get_or_insert_with(|| Flow::new(kernel));
        let terminators = flow.predecessors(block).iter().filter_map(|&from| kernel.terminator(from));
        let calls = terminators.flat_map(|inst| kernel.targets(inst)).filter(|call| call.block == block);
        let passed: Vec<Value> =
            calls.filter_map(|call| kernel.call_args(call).get(number as usize).copied()).collect();
        self.params.push(param);
        let least = passed.into_iter().map(|value| self.of(kernel, value)).min();
        self.params.pop();
        least.unwrap_or(0)
    }
}
