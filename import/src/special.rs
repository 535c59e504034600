//! Where an item is: threads and blocks as the number of the work item.

use halfbyte_ir::{Attr, Op, Type, Value};
use halfbyte_isa::ptx::types::{Special, SpecialGroup, Token};
use halfbyte_isa::ptx::{Inst, Opcode, Operand, Var};

use crate::emit::Import;

impl Import<'_> {
    /// Imports what reads a special register, or computes the number of the item, or of all items; and addresses of variables.
    pub fn special_inst(&mut self, inst: &Inst) -> bool {
        let value = if self.makes_item(self.number, inst) {
            self.code.builder.here(Op::ItemId)
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

    /// The address of a variable and so many bytes on.
    fn address_of(&mut self, var: Var, offset: i32) -> Value {
        let source = self.parameters.variable(var);
        let Some(&base) = source.and_then(|source| self.params.get(source as usize)) else {
            self.refuse("this address is of no variable", "a variable of the module");
            return self.code.constant(Type::I64, 0);
        };
        if offset == 0 {
            return base;
        }
        let offset = self.code.constant(Type::I64, i64::from(offset).cast_unsigned());
        self.code.builder.value(Op::PtrAdd, Type::PTR, Attr::None, &[base, offset])
    }

    /// Whether it multiplies the number of blocks by the threads of a block.
    fn makes_count(&self, inst: &Inst) -> bool {
        let special = |i: usize| self.operand_val(inst, i).and_then(|val| self.special_of(val));
        let both = [special(1), special(2)];
        matches!(inst.opcode, Opcode::MUL if inst.has(Token::Lo) && inst.ty(0).bits() == 32)
            && both.contains(&Some(SpecialGroup::BlockSize))
            && both.contains(&Some(SpecialGroup::GridSize))
    }

    fn special(&mut self, special: Special) -> Value {
        let number = |import: &mut Self, number: u32| import.code.constant(Type::I32, number.into());
        let (grid, block) = (self.shape.grid, self.shape.block);
        // Of axis x: others are refused before anything is imported.
        match special.group {
            SpecialGroup::BlockSize => match block {
                Some(block) => number(self, block),
                None => self.code.builder.here(Op::GroupSize),
            },
            SpecialGroup::GridSize => match grid {
                Some(grid) => number(self, grid),
                None => {
                    self.refuse("how many blocks there are is not known here", "a number of blocks, `--grid N`");
                    number(self, 1)
                }
            },
            SpecialGroup::Thread => match (grid, block) {
                (_, Some(1)) => number(self, 0),
                (Some(1), _) => self.code.builder.here(Op::ItemId),
                (_, Some(block)) => {
                    let (item, start) = self.block_of_item(block);
                    let size = number(self, block);
                    let start = self.code.op(Op::Mul, Type::I32, &[start, size]);
                    self.code.op(Op::Sub, Type::I32, &[item, start])
                }
                _ => self.code.builder.here(Op::LocalId),
            },
            SpecialGroup::Block => match (grid, block) {
                (Some(1), _) => number(self, 0),
                (_, Some(1)) => self.code.builder.here(Op::ItemId),
                (_, Some(block)) => self.block_of_item(block).1,
                _ => self.code.builder.here(Op::GroupId),
            },
        }
    }

    /// The number of the item, and of its block: the quotient by a number of threads.
    fn block_of_item(&mut self, block: u32) -> (Value, Value) {
        let item = self.code.builder.here(Op::ItemId);
        if block.is_power_of_two() {
            let count = self.code.constant(Type::I32, block.trailing_zeros().into());
            return (item, self.code.op(Op::ShrU, Type::I32, &[item, count]));
        }
        // With 2^32 * 2^s / block rounded up as the factor, the product is too large by less than item * block, which of
        // items up to 2^26 and blocks up to 2^10 threads is less than 2^32 * 2^s: the quotient is that of the item.
        let shift = if block < 16 { 0 } else { 4 };
        let factor = (1u64 << (32 + shift)).div_ceil(block.into());
        let factor = self.code.constant(Type::I32, factor);
        let high = self.code.op(Op::MulHiU, Type::I32, &[item, factor]);
        let count = self.code.constant(Type::I32, shift);
        (item, if shift == 0 { high } else { self.code.op(Op::ShrU, Type::I32, &[high, count]) })
    }
}
