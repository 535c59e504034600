//! Atomic operations. The semantics compute the address and the operands; the caller performs the memory access.

use arrayvec::ArrayVec;

use super::{Context, f};
use crate::atomic::AtomicOp;
use crate::halu::domain::{Access, Domain, Reader, Width};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Evaluates an integer atomic, whose operation is in field `atom`.
    pub(super) fn integer_atomic(&mut self, width: Width) {
        let signed = self.flag(f::ATOM_SIGN);
        let change = match self.get(f::ATOM) {
            0 => AtomicOp::Add,
            1 => AtomicOp::Min { signed },
            2 => AtomicOp::Max { signed },
            3 => AtomicOp::Inc,
            4 => AtomicOp::Dec,
            5 => AtomicOp::And,
            6 => AtomicOp::Or,
            7 => AtomicOp::Xor,
            _ => AtomicOp::Exchange,
        };
        self.atomic(width, change);
    }

    pub(super) fn atomic(&mut self, width: Width, change: AtomicOp) {
        let dst = self.get(f::RD) as u8;
        let fields = if change == AtomicOp::CompareSwap { &[f::R64, f::R72][..] } else { &[f::R64] };
        let places = fields.iter().flat_map(|&field| (0..width.registers()).map(move |i| (field, i)));
        let operands: ArrayVec<_, 8> = places.map(|(field, i)| self.gpr_after(field, i)).collect();
        if let Some(address) = self.address() {
            self.effects.access = Some(Access::Atomic { address, width, change, operands, dst });
        }
    }
}
