//! Atomic operations. The meaning forms the address and says what memory becomes; the driver makes the access.

use super::{Context, f};
use crate::atomic::Change;
use crate::halu::domain::{Access, Domain, Reader, Width};
use crate::word::Field;

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// On integers, as field `atom` says.
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
        let b = self.atomic_operand(f::R64, width);
        let c = if change == Change::Swap { self.atomic_operand(f::R72, width) } else { [self.d.word(0); 2] };
        if let Some(address) = self.address() {
            self.effects.access = Some(Access::Atomic { address, width, change, operands: [b, c], dst });
        }
    }

    fn atomic_operand(&mut self, field: Field, width: Width) -> [D::Word; 2] {
        if width == Width::B64 { self.pair(field) } else { [self.gpr_after(field, 0), self.d.word(0)] }
    }
}
