//! Loads and stores. The semantics compute the address; the caller performs the memory access.

use arrayvec::ArrayVec;

use super::{Context, f};
use crate::halu::domain::{Access, Address, Domain, Reader, Width};
use crate::row::{self, OperandKind};

impl<D: Domain, R: Reader<D>> Context<'_, D, R> {
    /// Evaluates LDG, LDS, LD, LDL and LDC.
    pub(super) fn load(&mut self, width: Width, signed: bool) {
        let dst = self.get(f::RD) as u8;
        if let Some(address) = self.address() {
            self.effects.access = Some(Access::Load { address, width, signed, dst });
        }
    }

    /// Evaluates STG, STS, ST and STL.
    pub(super) fn store(&mut self, width: Width) {
        if let Some(address) = self.address() {
            let data: ArrayVec<_, 4> = (0..width.registers()).map(|i| self.gpr_after(f::R64, i)).collect();
            self.effects.access = Some(Access::Store { address, width, data });
        }
    }

    pub(super) fn address(&mut self) -> Option<Address<D::Word>> {
        let form = self.inst.row().operands.iter().find_map(|operand| match operand.kind {
            OperandKind::Memory { address, .. } => Some(address),
            _ => None,
        })?;
        let word = self.inst.word();
        Some(match form {
            row::Address::Uniform { offset, base, imm } => Address::Uniform {
                offset: self.gpr_after(offset, 0),
                base: self.urs(base),
                imm: imm.get_signed(word) as i32,
            },
            row::Address::Wide { base, imm } => {
                Address::Wide { base: self.pair(base), imm: imm.get_signed(word) as i32 }
            }
            row::Address::Flat { base, imm } => {
                Address::Flat { base: self.pair(base), imm: imm.get_signed(word) as i32 }
            }
            row::Address::Shared { offset, imm } => {
                Address::Shared { offset: self.gpr_after(offset, 0), imm: imm.get_signed(word) as i32 }
            }
            row::Address::Scratch { offset, imm } => {
                Address::Scratch { offset: self.gpr_after(offset, 0), imm: imm.get_signed(word) as i32 }
            }
            row::Address::Local { imm } => Address::Local { imm: imm.get(word) as u32 },
            row::Address::Constant { bank, index, imm } => {
                let bank = bank.get(word) as u8;
                Address::Constant { bank, offset: self.gpr_after(index, 0), imm: imm.get(word) as u32 }
            }
        })
    }

    /// Evaluates ULDC.
    pub(super) fn uldc<const N: usize>(&mut self) {
        let words = std::array::from_fn::<_, N, _>(|i| self.constant(f::CMEM_BANK, f::CMEM_OFFSET, i as u16));
        self.define_ur(f::URD, words);
    }
}
