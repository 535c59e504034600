//! Import of special registers. Thread numbers and block numbers become functions of the work item's number.

use halfbyte_ir::{Attr, Axis, Op, Type, Value};
use halfbyte_isa::ptx::types::{Special, SpecialGroup, Token};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Var};

use crate::builder::Import;

/// Number of threads in a warp.
const WARP: u32 = 32;

impl Import<'_> {
    /// Imports instructions that read special registers, compute the item number or the item count,
    /// or compute the address of a variable. Returns `false` for other instructions.
    pub(crate) fn special_inst(&mut self, inst: &Inst) -> bool {
        let value = if let Some(axis) = self.makes_item(self.number, inst) {
            self.item(axis)
        } else if self.makes_count(inst) {
            self.code.builder.here(Op::ItemCount)
        } else if let (Opcode::MOV_SPECIAL, Some(&Operand::Special(special))) = (inst.opcode, inst.operands.get(1)) {
            self.special(special)
        } else if let Some(&Operand::Variable { var, offset }) = inst.operands.get(1) {
            self.address_of(var, offset)
        } else {
            return false;
        };
        self.result(inst, value);
        true
    }

    /// Emits the sum of a variable's address and a byte offset.
    fn address_of(&mut self, var: Var, offset: i32) -> Value {
        let source = self.parameters.variable(var);
        let Some(&base) = source.and_then(|source| self.params.get(source as usize)) else {
            self.refuse("this is not the address of a variable", "a variable of the module");
            return self.code.constant(Type::I64, 0);
        };
        if offset == 0 {
            return base;
        }
        let offset = self.code.constant(Type::I64, i64::from(offset).cast_unsigned());
        self.code.builder.value(Op::PtrAdd, Type::PTR, Attr::None, &[base, offset])
    }

    /// Returns `true` if all items lie along the x axis and the instruction computes their number,
    /// as the product of block count and block size.
    fn makes_count(&self, inst: &Inst) -> bool {
        let special = |i: usize| self.operand_val(inst, i).and_then(|val| self.special_of(val));
        let both = [special(1), special(2)];
        let has = |group| both.contains(&Some(Special { group, axis: Axis::X }));
        let is_product = matches!(inst.opcode, Opcode::MUL if inst.has(Token::Lo) && inst.ty(0).bits() == 32);
        is_product && has(SpecialGroup::BlockSize) && has(SpecialGroup::GridSize) && self.shape.is_along_x()
    }

    fn number(&mut self, number: u32) -> Value {
        self.code.constant(Type::I32, number.into())
    }

    /// Emits the number of the work item along an axis.
    fn item(&mut self, axis: Axis) -> Value {
        match axis {
            Axis::X if self.shape.is_along_x() => self.code.builder.here(Op::ItemId),
            _ => self.code.builder.along(Op::ItemId, axis),
        }
    }

    fn special(&mut self, Special { group, axis }: Special) -> Value {
        let [grid, block] = [self.shape.grid, self.shape.block].map(|counts| counts.map(|counts| axis.of(counts)));
        // Along x, the thread number and the block number are computed by dividing the item number
        // by the block size. This works on targets that have no groups.
        let divisor = match (axis, self.shape.block) {
            (Axis::X, Some([block, 1, 1])) if self.shape.grid.is_none_or(|[_, y, z]| [y, z] == [1; 2]) => Some(block),
            _ => None,
        };
        match group {
            SpecialGroup::BlockSize => match block {
                Some(block) => self.number(block),
                None => self.code.builder.along(Op::GroupSize, axis),
            },
            SpecialGroup::GridSize => match grid {
                Some(grid) => self.number(grid),
                None => self.code.builder.along(Op::GroupCount, axis),
            },
            SpecialGroup::Thread => match (grid, block, divisor) {
                (_, Some(1), _) => self.number(0),
                (Some(1), ..) => self.item(axis),
                (.., Some(block)) => {
                    let (item, start) = self.block_of_item(block);
                    let size = self.number(block);
                    let start = self.code.op(Op::Mul, Type::I32, &[start, size]);
                    self.code.op(Op::Sub, Type::I32, &[item, start])
                }
                _ => self.code.builder.along(Op::LocalId, axis),
            },
            SpecialGroup::Block => match (grid, block, divisor) {
                (Some(1), ..) => self.number(0),
                (_, Some(1), _) => self.item(axis),
                (.., Some(block)) => self.block_of_item(block).1,
                _ => self.code.builder.along(Op::GroupId, axis),
            },
            group => self.of_warp(group),
        }
    }

    /// Emits the linear number of the thread in its block. The number grows along x first, then y, then z.
    fn thread(&mut self) -> Value {
        let axes = match self.shape.block {
            Some([_, 1, 1]) => 1,
            Some([_, _, 1]) => 2,
            _ => 3,
        };
        let along = |import: &mut Self, group, axis| import.special(Special { group, axis });
        let mut number: Option<Value> = None;
        for &axis in Axis::ALL[..axes].iter().rev() {
            let own = along(self, SpecialGroup::Thread, axis);
            number = Some(match number {
                None => own,
                Some(outer) => {
                    let size = along(self, SpecialGroup::BlockSize, axis);
                    let start = self.code.op(Op::Mul, Type::I32, &[outer, size]);
                    self.code.op(Op::Add, Type::I32, &[start, own])
                }
            });
        }
        number.unwrap_or_else(|| self.number(0))
    }

    /// Emits the value of a special register that concerns the warp, such as the lane number.
    fn of_warp(&mut self, group: SpecialGroup) -> Value {
        match group {
            SpecialGroup::Lane if self.keeps_intrinsics => return self.code.builder.here(Op::LaneId),
            SpecialGroup::Warp if self.keeps_intrinsics => return self.code.builder.here(Op::SubgroupId),
            _ => {}
        }
        if group == SpecialGroup::Warps {
            let sizes = Axis::ALL.map(|axis| self.special(Special { group: SpecialGroup::BlockSize, axis }));
            let [x, y, z] = sizes;
            let layer = self.code.op(Op::Mul, Type::I32, &[x, y]);
            let all = self.code.op(Op::Mul, Type::I32, &[layer, z]);
            let most = self.number(WARP - 1);
            let above = self.code.op(Op::Add, Type::I32, &[all, most]);
            let count = self.number(WARP.trailing_zeros());
            return self.code.op(Op::ShrU, Type::I32, &[above, count]);
        }
        let thread = self.thread();
        if group == SpecialGroup::Warp {
            let count = self.number(WARP.trailing_zeros());
            return self.code.op(Op::ShrU, Type::I32, &[thread, count]);
        }
        let most = self.number(WARP - 1);
        let lane = self.code.op(Op::And, Type::I32, &[thread, most]);
        let shifted = |import: &mut Self, bits: u32| {
            let bits = import.number(bits);
            import.code.op(Op::Shl, Type::I32, &[bits, lane])
        };
        let one = self.number(1);
        match group {
            SpecialGroup::LanesEqual => shifted(self, 1),
            SpecialGroup::LanesBelow => {
                let bit = shifted(self, 1);
                self.code.op(Op::Sub, Type::I32, &[bit, one])
            }
            // For the last lane, the shift drops the set bit and gives zero. The complement of zero
            // is the mask of all lanes.
            SpecialGroup::LanesUpTo => {
                let above = shifted(self, u32::MAX - 1);
                self.code.op(Op::Not, Type::I32, &[above])
            }
            SpecialGroup::LanesAbove => shifted(self, u32::MAX - 1),
            SpecialGroup::LanesFrom => shifted(self, u32::MAX),
            _ => lane,
        }
    }

    /// Emits the item number along x, and the block number as the quotient of the item number and the block size.
    fn block_of_item(&mut self, block: u32) -> (Value, Value) {
        let item = self.item(Axis::X);
        if block.is_power_of_two() {
            let count = self.code.constant(Type::I32, block.trailing_zeros().into());
            return (item, self.code.op(Op::ShrU, Type::I32, &[item, count]));
        }
        // A multiplication and a shift compute the exact quotient. The factor is 2^(32 + s) / block rounded up, where s
        // is the shift. The product is therefore too large, by less than item * block. This error does not change the
        // quotient, because it is below 2^(32 + s) for items below 2^26 and blocks of at most 2^10 threads.
        let shift = if block < 16 { 0 } else { 4 };
        let factor = (1u64 << (32 + shift)).div_ceil(block.into());
        let factor = self.code.constant(Type::I32, factor);
        let high = self.code.op(Op::MulHiU, Type::I32, &[item, factor]);
        let count = self.code.constant(Type::I32, shift);
        (item, if shift == 0 { high } else { self.code.op(Op::ShrU, Type::I32, &[high, count]) })
    }
}
