//! Registers made anew.

use halfbyte_isa::ptx::Reg;
use halfbyte_isa::ptx::types::Type;

/// The registers of some code.
pub struct Registers<'a>(pub &'a mut Vec<Type>);

impl Registers<'_> {
    /// One more.
    pub fn fresh(&mut self, ty: Type) -> Reg {
        let reg = Reg(self.0.len() as u32);
        self.0.push(ty);
        reg
    }
}
