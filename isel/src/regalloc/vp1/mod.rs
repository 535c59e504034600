//! VP1: 31 `$r`, 32 `$v`, four `$c` and four `$vc`.
//!
//! Flags are allocated first, because they cannot be moved ([`flags`]). Then registers for tuples
//! are chosen ([`tuple`]), and regalloc2 allocates the rest of `$r` and `$v`. Spill slots are in
//! the data store after the image, at addresses that an immediate reaches from `$a31`, which is 0.
//!
//! Other files are not allocated: `$a0` to `$a29` belong to the streams, and `$a30` and `$a31` to
//! the frame. There is only one `$va` and one `$vx`. Instructions that pass a value through `$va`
//! are adjacent, and moves between them do not change `$va`.

mod check;
mod flags;
mod rewrite;
mod shape;
mod tuple;

use super::adapter::{BankAssignment, RegisterBank};
use super::allocate::Allocate;
use super::{AllocError, Allocator, Options};
use crate::mach::MachFunc;
use crate::vcode::{BlockIndex, VBlock, VCode, VInst, VReg};
use crate::vp1::machine::Vp1;
use crate::vp1::{Class, is_branch};
use rewrite::{Written, write};
use shape::slots;
use tuple::Fixed;

/// Number of allocatable `$r`; `$r31` is 0.
const R_COUNT: u8 = 31;
/// Number of `$v`, all of which are allocatable.
const V_COUNT: u8 = 32;
/// Words of a vector register.
const V_WORDS: u32 = 4;

impl Allocate for Vp1 {
    fn check(code: &VCode<Vp1>, block: &VBlock<Vp1>) -> Result<(), AllocError> {
        check::check(code, block)
    }

    fn check_branch(code: &VCode<Vp1>, block: BlockIndex, branch: &VInst<Vp1>) -> Result<(), AllocError> {
        let is_one = matches!(branch.inst.insts.as_slice(), [inst] if is_branch(inst.opcode()));
        let clobbers = branch.inst.insts.iter().flat_map(slots).any(|slot| check::is_clobber(&slot));
        if !is_one || clobbers || check::check_operands(code, branch).is_err() {
            return Err(AllocError::Branch(block));
        }
        Ok(())
    }

    fn allocate(allocator: &mut Allocator, code: VCode<Vp1>, options: &Options) -> Result<MachFunc<Vp1>, AllocError> {
        let Allocator { flow, liveness, main, .. } = allocator;
        let flags = flags::place(&code, flow, liveness)?;
        let files =
            Files { classes: &code.vregs, fixed: tuple::fix(&code, flow, liveness)?, memory: rewrite::room(&code) };
        main.allocate(&code, flow, liveness, &files, options)?;
        let Written { blocks, frame_bytes, registers, spills } = write(&code, flow, main, &flags, &files)?;
        let VCode { signature, extra, .. } = code;
        Ok(MachFunc { signature, blocks, local_bytes: frame_bytes, registers, spills, extra })
    }
}

/// Files that regalloc2 allocates: `$r` and `$v`.
struct Files<'a> {
    classes: &'a [Class],
    fixed: Fixed,
    memory: u64,
}

impl BankAssignment for Files<'_> {
    fn offers(&self) -> [Option<RegisterBank>; 3] {
        let r = RegisterBank { registers: R_COUNT.into(), words: 1 };
        let v = RegisterBank { registers: V_COUNT.into(), words: V_WORDS };
        [Some(r), Some(v), None]
    }

    fn bank_of(&self, reg: VReg) -> Option<usize> {
        match self.classes.get(reg.0 as usize)? {
            Class::R => Some(0),
            Class::V => Some(1),
            Class::C | Class::Vc => None,
        }
    }

    fn fixed(&self, operand: u32) -> Option<u8> {
        self.fixed.get(operand)
    }

    fn memory(&self) -> u64 {
        self.memory
    }
}
