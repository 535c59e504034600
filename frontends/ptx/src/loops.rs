//! Emission of compare-and-swap loops for atomic operations that have no corresponding op.

use halfbyte_abi::cooperative::Strength;
use halfbyte_ir::{AtomicAttr, Attr, Block, IntCC, MemOrder, Op, Type, Value};
use halfbyte_isa::ptx::Inst;
use halfbyte_isa::ptx::meaning::{atomically, strength};

use crate::builder::Import;
use crate::collective::elements;
use crate::types::integer;

impl Import<'_> {
    /// Emits a separate compare-and-swap loop for each element of 16 or 32 bits.
    pub(crate) fn atomic_loops(&mut self, inst: &Inst) {
        let (into, operands) = elements(inst);
        let ty = integer(inst.element().bits());
        let Some(address) = self.place_of_all(inst, ty.bytes() * operands.len() as u32) else { return };
        let Some(Strength { order, scope, .. }) = strength(inst) else { return };
        let mut into = into.into_iter();
        for (number, reg) in (0..).zip(&operands) {
            let (Some(mem), Some(reg)) = (self.mem(&address, number * ty.bytes(), ty.bytes()), *reg) else { return };
            let place: Vec<Value> = [address.base].into_iter().chain(address.index).collect();
            let operand = self.register(reg);
            let operand = self.code.cast(operand, ty);
            let operand = self.word_of(operand);
            let [again, after] = ["again", "after"].map(|name| self.block_of(name, number));
            self.code.builder.br(again, &[]);
            self.code.go_to(again);
            let loads = Attr::Atomic(AtomicAttr { mem, order: MemOrder::Relaxed, scope });
            let old = self.code.builder.value(Op::AtomicLoad, ty, loads, &place);
            let (word, zero) = (self.word_of(old), self.code.constant(Type::I32, 0));
            let operands = [[[operand, zero], [zero; 2]]];
            let [new, _] =
                atomically(inst, &mut self.code, &[[word, zero]], &operands, false).pop().unwrap_or([zero; 2]);
            let new = if ty == Type::I32 { self.code.cast(new, ty) } else { self.code.op(Op::Trunc, ty, &[new]) };
            let args: Vec<Value> = [old, new].into_iter().chain(place).collect();
            let swaps = Attr::Atomic(AtomicAttr { mem, order, scope });
            let found = self.code.builder.value(Op::AtomicCompareExchange, ty, swaps, &args);
            let differs = self.code.builder.icmp(IntCC::Ne, ty, found, old);
            self.code.builder.br_if(differs, (again, &[]), (after, &[]));
            self.code.go_to(after);
            if let Some(Some(to)) = into.next() {
                self.define(to, found);
            }
        }
    }

    /// Zero-extends an integer of at most 32 bits to an `i32`.
    fn word_of(&mut self, value: Value) -> Value {
        if self.code.ty(value) == Type::I32 { value } else { self.code.op(Op::Zext, Type::I32, &[value]) }
    }

    /// Creates a block for the current instruction. The block's name is unique in the kernel.
    fn block_of(&mut self, name: &str, number: u32) -> Block {
        let mut name = format!("{name}{}_{number}", self.number);
        while !self.block_names.insert(name.clone()) {
            name.push('_');
        }
        self.code.builder.block(&name, &[])
    }
}
