//! Semantics of atomic operations.

use arrayvec::ArrayVec;

use super::{Access, Context, Reader, wide};
use crate::atomic::{self, AtomicOp};
use crate::half::Format;
use crate::halu::domain::Domain;
use crate::ptx::Vector;
use crate::ptx::inst::Inst;
use crate::ptx::operand::Operand;
use crate::ptx::row::MAX_ELEMENTS;
use crate::ptx::types::{Token, Type, TypeKind};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Executes an atomic operation. `into` is `true` if the instruction writes the old value to a register.
    pub(super) fn atomic(&mut self, into: bool) {
        let first = usize::from(into);
        let Some(place) = self.place(first) else { return };
        let into = match self.operand(0) {
            Some(&Operand::Register(reg)) if into => Vector::from_iter([Some(reg)]),
            Some(Operand::Vector(regs)) if into => regs.clone(),
            _ => Vector::from_iter([]),
        };
        let [b, c] = [first + 1, first + 2].map(|i| self.each(i));
        let none = wide::constant(self.d, 0);
        let operands = b.into_iter().zip(c.into_iter().chain(std::iter::repeat(none))).map(|(b, c)| [b, c]).collect();
        self.effects.access = Some(Access::Atomic { place, element: self.inst.element(), operands, into });
    }

    /// Returns the elements of the operand with index `i`, or no elements if the operand is missing.
    fn each(&mut self, i: usize) -> ArrayVec<[D::Word; 2], MAX_ELEMENTS> {
        let inst = self.inst;
        match inst.operands.get(i) {
            Some(Operand::Vector(regs)) => {
                let regs = regs.iter().flatten().take(MAX_ELEMENTS);
                regs.map(|reg| self.read.register(self.d, reg)).collect()
            }
            Some(_) => ArrayVec::from_iter([self.value(i)]),
            None => ArrayVec::new(),
        }
    }
}

/// Returns the new values of the memory elements that an atomic instruction updates; `old` holds
/// their old values. `flushes` is `true` for global memory, where f32 sums flush subnormals.
pub fn atomically<D: Domain>(
    inst: &Inst,
    domain: &mut D,
    old: &[[D::Word; 2]],
    operands: &[[[D::Word; 2]; 2]],
    flushes: bool,
) -> ArrayVec<[D::Word; 2], MAX_ELEMENTS> {
    atomic::apply_atomic(domain, change(inst), inst.element().bits(), old, operands, flushes)
}

/// Returns the kind of memory update that an atomic instruction performs.
pub fn change(inst: &Inst) -> AtomicOp {
    let has = |token| inst.has(token);
    let ty = inst.ty(0);
    if has(Token::Cas) {
        return AtomicOp::CompareSwap;
    }
    match ty {
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => {
            let format = if matches!(ty, Type::F16 | Type::F16x2) { Format::F16 } else { Format::Bf16 };
            return match has(Token::Add) {
                true => AtomicOp::AddHalf(format),
                false => AtomicOp::MinMaxHalf { format, min: has(Token::Min) },
            };
        }
        Type::F32 => return AtomicOp::AddSingle,
        Type::F64 => return AtomicOp::AddDouble,
        _ => {}
    }
    let signed = ty.kind() == TypeKind::Integer && ty.is_signed();
    match () {
        () if has(Token::Add) => AtomicOp::Add,
        () if has(Token::Min) => AtomicOp::Min { signed },
        () if has(Token::Max) => AtomicOp::Max { signed },
        () if has(Token::Inc) => AtomicOp::Inc,
        () if has(Token::Dec) => AtomicOp::Dec,
        () if has(Token::And) => AtomicOp::And,
        () if has(Token::Or) => AtomicOp::Or,
        () if has(Token::Xor) => AtomicOp::Xor,
        () => AtomicOp::Exchange,
    }
}
