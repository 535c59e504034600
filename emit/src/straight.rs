//! Layout for the instruction sets of `halfbyte_isa::plain`: one word per instruction, in the order
//! of selection.

use halfbyte_isa::object::KernelInfo;
use halfbyte_isel::AllocatedCode;
use halfbyte_isel::straight::StraightCode;

use crate::emitter::{Code, Emitter, own};
use crate::error::LayoutError;

/// Emitter for [`StraightCode`].
#[derive(Clone, Copy, Debug)]
pub struct Straight;

impl Emitter for Straight {
    fn layout(&self, func: Box<dyn AllocatedCode>) -> Result<Code, LayoutError> {
        let StraightCode { isa, signature, words, locs, registers } = own(func)?;
        let info = KernelInfo {
            signature,
            local_bytes: 0,
            registers,
            tiles: None,
            max_items: u32::MAX,
            shared_bytes: None,
            scratch_bytes: 0,
            along_x: true,
        };
        Ok(Code { info, words: isa.code(words).into(), locs, parts: Vec::new(), stats: Vec::new() })
    }
}
