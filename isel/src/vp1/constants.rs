//! Constants in registers of VP1. Each constant is loaded once, before the loop over groups, and
//! all users read the same register.

use std::collections::HashMap;

use halfbyte_isa::stream::MAX_FRAME_BYTES;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst, Opcode};

use super::builder::Builder;
use super::operands::Reg;
use super::{Class, GroupRegisterPosition};
use crate::vcode::{Access, Operand, VReg};

/// Number of the `$a` that is always 0: the base address of the data image and of spill slots.
pub(crate) const A_FRAME: u8 = 31;
/// Number of the `$a` that always holds the address [`PASSED_AT`], for loads without an offset.
pub(crate) const A_PASSED: u8 = 30;
/// Address in the data image through which a value is moved to a register that only loads can write.
pub(crate) const PASSED_AT: u8 = 0;
/// Range of the immediate of a `mov` to `$r`: a signed 19-bit integer.
const IMM19_RANGE: std::ops::Range<i32> = -(1 << 18)..1 << 18;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Constant {
    Word(u32),
    Bytes([u8; 16]),
}

/// Constants that the code needs in registers, in the order of the requests.
#[derive(Default)]
pub(crate) struct Constants {
    known: HashMap<Constant, VReg>,
    order: Vec<(Constant, VReg)>,
    /// `true` if the data image reserves 16 bytes at [`PASSED_AT`].
    passes: bool,
}

impl Constants {
    /// Returns the `$r` that holds a constant word. Zero also gets a register, because `$r31`
    /// cannot be part of every tuple.
    pub(super) fn word(&mut self, out: &mut Builder, word: u32) -> Reg {
        self.get(out, Constant::Word(word), Class::R)
    }

    /// Returns the `$v` that holds 16 constant bytes.
    pub(super) fn bytes(&mut self, out: &mut Builder, bytes: [u8; 16]) -> Reg {
        self.get(out, Constant::Bytes(bytes), Class::V)
    }

    /// Reserves room in the data image for moving a value through memory.
    pub(super) fn pass_through_memory(&mut self) {
        self.passes = true;
    }

    fn get(&mut self, out: &mut Builder, constant: Constant, class: Class) -> Reg {
        let vreg = *self.known.entry(constant).or_insert_with(|| {
            let vreg = out.vreg(class);
            self.order.push((constant, vreg));
            vreg
        });
        Reg::new(vreg)
    }

    /// Emits the instructions that load the constants, and returns the data image from which they load.
    ///
    /// # Errors
    /// Fails if an immediate cannot address all of the data image.
    pub(super) fn load(self, out: &mut Builder) -> Result<Vec<u8>, String> {
        let mut image = Vec::new();
        if self.passes {
            image.extend([0; 16]);
            out.push(Inst::new(Opcode::MOV_A_R).with(DST, A_PASSED.into()));
        }
        for (constant, vreg) in self.order {
            let result = |vreg, access| Operand { place: GroupRegisterPosition::from(DST), reg: vreg, part: 0, access };
            match constant {
                Constant::Word(word) if IMM19_RANGE.contains(&(word as i32)) => {
                    out.operands.push(result(vreg, Access::Def));
                    out.push(Inst::new(Opcode::MOV_I).with(IMM19, word.into()));
                }
                Constant::Word(word) => {
                    let low = out.define(DST, Class::R);
                    out.push(Inst::new(Opcode::MOV_I).with(IMM19, (word & 0xffff).into()));
                    out.operands.push(result(vreg, Access::UpdateInPlace(low)));
                    out.push(Inst::new(Opcode::SETHI).with(IMM16, (word >> 16).into()));
                }
                Constant::Bytes([first, rest @ ..]) if rest == [first; 15] => {
                    out.operands.push(result(vreg, Access::Def));
                    out.push(Inst::new(Opcode::VMOV_I).with(BIMM, first.into()));
                }
                Constant::Bytes(bytes) => {
                    let at = image.len() as u64;
                    image.extend(bytes);
                    out.operands.push(result(vreg, Access::Def));
                    out.push(Inst::new(Opcode::LDVH).with(SRC1, A_FRAME.into()).with(IMM, at));
                }
            }
        }
        if image.len() > MAX_FRAME_BYTES as usize {
            return Err(format!("constant vectors take {} bytes; at most {MAX_FRAME_BYTES} are possible", image.len()));
        }
        Ok(image)
    }
}
