//! Atomic operations. The meaning computes the address and the operands; the driver performs the
//! access.

use arrayvec::ArrayVec;

use super::{Context, f};
use crate::atomic::Change;
use crate::halu::domain::{Access, Domain, Reader, Width};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Evaluates an integer atomic, whose operation is in field `atom`.
    pub(super) fn integer_atomic(&mut self, width: Width) {
        let signed = self.flag(f::ATOM_SIGN);
        let change = match self.get(f::ATOM) {
            0 => Change::Add,
            1 => Change::Min { signed },
            2 => Change::Max { signed },
            3 => Change::Inc,
            4 => Change::Dec,
            5 => Change::And,
            6 => Change::Or,
            7 => Change::Xor,
            _ => Change::Exchange,
        };
        self.atomic(width, change);
    }

    pub(super) fn atomic(&mut self, width: Width, change: Change) {
        let dst = self.get(f::RD) as u8;
        let fields = if change == Change::Swap { &[f::R64, f::R72][..] } else { &[f::R64] };
        let places = fields.iter().flat_map(|&field| (0..width.registers()).map(move |i| (field, i)));
        let operands: ArrayVec<_, 8> = places.map(|(field, i)| self.gpr_after(field, i)).collect();
        if let Some(address) = self.address() {
            self.effects.access = Some(Access::Atomic { address, width, change, operands, dst });
        }
    }
}
