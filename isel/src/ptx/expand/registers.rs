//! Creation of virtual registers during the expansion.

use halfbyte_isa::ptx::Reg;
use halfbyte_isa::ptx::types::Type;

/// Types of all virtual registers of the code, to which new registers are added.
pub(super) struct Registers<'a>(pub &'a mut Vec<Type>);

impl Registers<'_> {
    /// Adds a virtual register of a type, and returns it.
    pub(super) fn fresh(&mut self, ty: Type) -> Reg {
        let reg = Reg(self.0.len() as u32);
        self.0.push(ty);
        reg
    }
}
