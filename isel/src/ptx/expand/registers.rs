//! Allocation of new virtual registers.

use halfbyte_isa::ptx::Reg;
use halfbyte_isa::ptx::types::Type;

/// Types of the virtual registers of some code.
pub(super) struct Registers<'a>(pub &'a mut Vec<Type>);

impl Registers<'_> {
    /// Adds a register.
    pub(super) fn fresh(&mut self, ty: Type) -> Reg {
        let reg = Reg(self.0.len() as u32);
        self.0.push(ty);
        reg
    }
}
