//! Layout for the instruction sets of `halfbyte_isa::row_isa`: one instruction word for each
//! instruction, in the order of selection.

use halfbyte_isa::object::KernelInfo;
use halfbyte_isel::AllocatedCode;
use halfbyte_isel::straight::SingleBlockCode;

use crate::emitter::{Emitter, KernelCode, downcast};
use crate::error::LayoutError;

/// Emitter of [`SingleBlockCode`].
#[derive(Clone, Copy, Debug)]
pub struct Straight;

impl Emitter for Straight {
    fn layout(&self, func: Box<dyn AllocatedCode>) -> Result<KernelCode, LayoutError> {
        let SingleBlockCode { isa, signature, words, locs, registers } = downcast(func)?;
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
        Ok(KernelCode { info, words: isa.code(words).into(), locs, parts: Vec::new(), stats: Vec::new() })
    }
}
