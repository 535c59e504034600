//! Register allocation for VP1, which has 31 `$r`, 32 `$v`, four `$c` and four `$vc`.
//!
//! Flags are allocated first, because they cannot be moved ([`flags`]). Then hardware registers are chosen for the
//! tuples of operands ([`tuple`]), and regalloc2 allocates all other `$r` and `$v`. Spill slots follow the data image
//! in the data store, at addresses that an immediate can reach from `$a31`, which is 0.
//!
//! Other register files are not allocated. The streams use `$a0` to `$a29`, and the spill slots use `$a30` and `$a31`.
//! There is only one `$va` and one `$vx`. Instructions that pass a value through `$va` are adjacent, and moves that are
//! inserted between them do not change `$va`.

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

/// Number of `$r` that can be allocated. `$r31` is always 0.
const R_COUNT: u8 = 31;
/// Number of `$v`, all of which can be allocated.
const V_COUNT: u8 = 32;
/// Number of 32-bit words of a `$v`.
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

/// Register banks for regalloc2: `$r` and `$v`.
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
