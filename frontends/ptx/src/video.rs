//! Import of video instructions whose lanes have the same signedness. They become ops on packed
//! values, and shuffles where lanes are selected or merged.

use halfbyte_ir::{Op, Type, Value};
use halfbyte_isa::ptx::row::{Lanes, OperandKind};
use halfbyte_isa::ptx::types::Token;
use halfbyte_isa::ptx::{Inst, Opcode, Operand};

use crate::builder::Import;
use crate::integer::condition;
use crate::types::packed;

impl Import<'_> {
    /// Imports a video instruction that ops can express. Returns `false` for other instructions.
    pub(crate) fn video(&mut self, inst: &Inst) -> bool {
        let lanes = match inst.row().operands.first().map(|o| o.shape) {
            Some(OperandKind::Masked(lanes)) => lanes,
            _ => return false,
        };
        let ty = packed(lanes);
        let mask = match inst.operands.first() {
            Some(&Operand::Lanes { digits, .. }) => digits,
            _ => lanes.all(),
        };
        let sets = matches!(inst.opcode, Opcode::VSET2 | Opcode::VSET4);
        // The type of a comparison is that of its operands only.
        let signs = if sets { [0, 0, 1] } else { [0, 1, 2] }.map(|n| inst.ty(n).is_signed());
        let (a, b) = (self.operand(inst, 1, ty), self.operand(inst, 2, ty));
        let [a, b] = [1, 2].map(|i| self.selected(inst, i, lanes, [a, b]));
        if inst.has(Token::Add) {
            if mask != lanes.all() {
                return false;
            }
            let c = self.operand(inst, 3, Type::I32);
            let Some(sum) = self.accumulated(inst, signs, ty, [a, b, c]) else { return false };
            self.result(inst, sum);
            return true;
        }
        let Some(mut value) = self.lane_results(inst, signs, ty, [a, b]) else { return false };
        if mask != lanes.all() {
            let count = lanes.count() as u8;
            let merged: Vec<u8> =
                (0..count).map(|lane| if mask >> lane & 1 != 0 { lane } else { lane + count }).collect();
            let c = self.operand(inst, 3, ty);
            value = self.code.builder.shuffle(ty, value, c, &merged);
        }
        self.result(inst, value);
        true
    }

    /// Emits the shuffle that selects the lanes of operand `i` from both sources.
    fn selected(&mut self, inst: &Inst, i: usize, lanes: Lanes, sources: [Value; 2]) -> Value {
        let own = if i == 1 { sources[0] } else { sources[1] };
        let Some(&Operand::Lanes { digits, .. }) = inst.operands.get(i) else { return own };
        let bits = lanes.index_bits();
        let elements: Vec<u8> =
            (0..lanes.count()).map(|lane| (digits >> (lane * bits)) as u8 & ((1 << bits) - 1)).collect();
        self.code.builder.shuffle(packed(lanes), sources[0], sources[1], &elements)
    }

    /// Emits the lane operation and returns its results. Returns `None` if the operands have
    /// different signedness, unless the result wraps and signedness does not matter.
    fn lane_results(&mut self, inst: &Inst, [d, a, b]: [bool; 3], ty: Type, args: [Value; 2]) -> Option<Value> {
        use Opcode::*;
        let sat = inst.has(Token::Sat);
        let by_sign = |s, u| if a { s } else { u };
        let wraps = matches!(inst.opcode, VADD2 | VADD4 | VSUB2 | VSUB4) && !sat;
        if a != b && !wraps || sat && d != a {
            return None;
        }
        let op = match inst.opcode {
            VADD2 | VADD4 if sat => by_sign(Op::AddSatS, Op::AddSatU),
            VSUB2 | VSUB4 if sat => by_sign(Op::SubSatS, Op::SubSatU),
            VADD2 | VADD4 => Op::Add,
            VSUB2 | VSUB4 => Op::Sub,
            VAVRG2 | VAVRG4 => by_sign(Op::AvgS, Op::AvgU),
            VABSDIFF2 | VABSDIFF4 => by_sign(Op::AbsDiffS, Op::AbsDiffU),
            VMIN2 | VMIN4 => by_sign(Op::MinS, Op::MinU),
            VMAX2 | VMAX4 => by_sign(Op::MaxS, Op::MaxU),
            VSET2 | VSET4 => {
                let [x, y] = args;
                let holds = self.code.builder.icmp(condition(inst, a), ty, x, y);
                let all = self.code.op(Op::MaskExpand, ty, &[holds]);
                let ones = self.code.builder.constant(ty, &[1]);
                return Some(self.code.op(Op::And, ty, &[all, ones]));
            }
            _ => return None,
        };
        let value = self.code.op(op, ty, &args);
        if op == Op::AbsDiffS && sat {
            // The absolute difference of signed lanes is an unsigned number. A minimum with the
            // greatest signed value therefore saturates it.
            let greatest = self.code.builder.constant(ty, &[ty.elem().mask() >> 1]);
            return Some(self.code.op(Op::MinU, ty, &[value, greatest]));
        }
        Some(value)
    }

    /// Emits the sum of `c` and the exact lane results. Returns `None` if ops cannot express the
    /// sum.
    fn accumulated(&mut self, inst: &Inst, [_, a, b]: [bool; 3], ty: Type, [x, y, c]: [Value; 3]) -> Option<Value> {
        use Opcode::*;
        let sum = |signed| if signed { Op::ReduceAddS } else { Op::ReduceAddU };
        match inst.opcode {
            VABSDIFF2 | VABSDIFF4 if a == b => Some(self.code.op(if a { Op::SadS } else { Op::SadU }, ty, &[x, y, c])),
            VADD2 | VADD4 | VSUB2 | VSUB4 => {
                let (first, second) = (self.code.op(sum(a), ty, &[x]), self.code.op(sum(b), ty, &[y]));
                let op = if matches!(inst.opcode, VADD2 | VADD4) { Op::Add } else { Op::Sub };
                let both = self.code.op(op, Type::I32, &[first, second]);
                Some(self.code.op(Op::Add, Type::I32, &[both, c]))
            }
            VMIN2 | VMIN4 | VMAX2 | VMAX4 | VAVRG2 | VAVRG4 | VSET2 | VSET4 if a == b => {
                // The exact results of this operation fit in a lane.
                let lanes = self.lane_results(inst, [a, a, b], ty, [x, y])?;
                let is_truth = matches!(inst.opcode, VSET2 | VSET4);
                let all = self.code.op(sum(a && !is_truth), ty, &[lanes]);
                Some(self.code.op(Op::Add, Type::I32, &[all, c]))
            }
            _ => None,
        }
    }
}
