//! Semantics of branches and calls.

use smallvec::SmallVec;

use super::{Called, Context, Next, Reader, Value, wide};
use crate::halu::domain::Domain;
use crate::ptx::inst::Inst;
use crate::ptx::operand::{Callee, Operand};
use crate::ptx::row::OperandKind;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    pub(super) fn branch(&mut self) {
        if let Some(&Operand::Label(label)) = self.operand(0) {
            self.effects.next = Next::Branch(label);
        }
    }

    /// Executes `brx.idx`: branches to the label with a given index in a target list.
    pub(super) fn branch_by(&mut self) {
        let index = self.word(0);
        if let Some(&Operand::Table(table)) = self.operand(1) {
            self.effects.next = Next::Indexed { table, index };
        }
    }

    pub(super) fn call(&mut self) {
        let Some(&Operand::Call { callee, .. }) = self.operand(0) else { return };
        let called = match (callee, self.operand(1)) {
            (Callee::Function(number), _) => Called::Function(number),
            (Callee::Register(reg), Some(&Operand::Table(table))) => {
                Called::At { address: self.read.register(self.d, reg), table }
            }
            _ => return,
        };
        self.effects.next = Next::Call(called);
    }
}

/// Returns the arguments of a call, in the order of the operands.
pub fn arguments<D: Domain>(inst: &Inst, domain: &mut D, read: &mut impl Reader<D>) -> SmallVec<[Value<D::Word>; 8]> {
    let arguments = inst.operands_with_rows().filter(|(o, _)| o.shape == OperandKind::Arguments);
    let value = |(_, operand): (_, &Operand)| match *operand {
        Operand::Register(reg) => Value::Bits(read.register(domain, reg)),
        Operand::Number(bits) => Value::Bits(wide::constant(domain, bits)),
        Operand::Frame { var, .. } => Value::Frame(var.number),
        _ => Value::Bits(wide::constant(domain, 0)),
    };
    arguments.map(value).collect()
}
