//! Constants in registers: each is loaded once, before the loop over groups, whoever needs it.

use std::collections::HashMap;

use halfbyte_isa::stream::MAX_FRAME_BYTES;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst, Opcode};

use super::builder::Builder;
use super::operands::Reg;
use super::{Class, Place};
use crate::vcode::{Access, Operand, VReg};

/// The `$a` that is 0 throughout: the image and spilled registers are reached from there.
pub(crate) const A_FRAME: u8 = 31;
/// The `$a` that is the address of [`PASSED_AT`] throughout, for loads that know no offset.
pub(crate) const A_PASSED: u8 = 30;
/// Where in the image a value lies on its way to a register that only loads write.
pub(crate) const PASSED_AT: u8 = 0;
/// What fits the immediate of `mov`.
const IMM19_RANGE: std::ops::Range<i32> = -(1 << 18)..1 << 18;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Constant {
    Word(u32),
    Bytes([u8; 16]),
}

/// The constants that were asked for, in the order in which they were.
#[derive(Default)]
pub(crate) struct Constants {
    known: HashMap<Constant, VReg>,
    order: Vec<(Constant, VReg)>,
    /// The image has room for a vector at [`PASSED_AT`].
    passes: bool,
}

impl Constants {
    /// The `$r` that holds a word. Zero too: `$r31` is not in every tuple.
    pub fn word(&mut self, out: &mut Builder, word: u32) -> Reg {
        self.get(out, Constant::Word(word), Class::R)
    }

    /// The `$v` that holds these bytes.
    pub fn bytes(&mut self, out: &mut Builder, bytes: [u8; 16]) -> Reg {
        self.get(out, Constant::Bytes(bytes), Class::V)
    }

    /// Keeps room in the image for a value on its way.
    pub fn pass_through_memory(&mut self) {
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

    /// The instructions that load them, and the data image that these need.
    ///
    /// # Errors
    /// An image larger than what is reached from address 0.
    pub fn load(self, out: &mut Builder) -> Result<Vec<u8>, String> {
        let mut image = Vec::new();
        if self.passes {
            image.extend([0; 16]);
            out.push(Inst::new(Opcode::MOV_A_R).with(DST, A_PASSED.into()));
        }
        for (constant, vreg) in self.order {
            let result = |vreg, access| Operand { place: Place::from(DST), reg: vreg, part: 0, access };
            match constant {
                Constant::Word(word) if IMM19_RANGE.contains(&(word as i32)) => {
                    out.operands.push(result(vreg, Access::Def));
                    out.push(Inst::new(Opcode::MOV_I).with(IMM19, word.into()));
                }
                Constant::Word(word) => {
                    let low = out.define(DST, Class::R);
                    out.push(Inst::new(Opcode::MOV_I).with(IMM19, (word & 0xffff).into()));
                    out.operands.push(result(vreg, Access::Replace(low)));
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
            return Err(format!("its constant vectors take {} bytes, and {MAX_FRAME_BYTES} is the most", image.len()));
        }
        Ok(image)
    }
}
