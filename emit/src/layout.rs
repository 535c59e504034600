//! Gives every instruction its address and every branch its distance.

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::object::{KernelInfo, Loc, Part, Words};
use halfbyte_isel::Func;
use halfbyte_isel::mach::{BlockIndex, MachBlock, MachFunc, MachInst};
use halfbyte_isel::machine::{Halu, Machine};

use crate::error::LayoutError;
use crate::ptx;
use crate::straighten::{Step, lengths, straighten};
use crate::vp1::{self, BlockStats};

/// A kernel in words, as it stands in an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    /// What the loader must know besides the words.
    pub info: KernelInfo,
    /// The words in order. An address is an index here.
    pub words: Words,
    /// Where each word comes from.
    pub locs: Vec<Loc>,
    /// What words stand for that access more than one thing of the text, in the order of their addresses.
    pub parts: Vec<Part>,
    /// How dense the bundles of each block are; none where there are no bundles.
    pub stats: Vec<BlockStats>,
}

/// Lays a machine function out, block after block. A branch at the end of a block to what follows anyway is left out. The
/// instructions of VP1 are packed into bundles.
///
/// # Errors
/// A function that breaks the rules of [`MachFunc`].
pub fn layout(func: Func) -> Result<Code, LayoutError> {
    match func {
        Func::Halu(func) => layout_halu(func),
        Func::Vp1(func) => vp1::layout(&func),
        Func::Ptx(func) => ptx::layout(func),
    }
}

fn layout_halu(func: MachFunc<Halu>) -> Result<Code, LayoutError> {
    let MachFunc { signature, blocks, local_bytes, registers, .. } = func;
    let info = KernelInfo { signature, local_bytes, registers, tiles: None, max_items: u32::MAX };
    let kernel = || info.signature.name().to_owned();
    let split = |MachBlock { insts, parts }: MachBlock<Halu>| (insts, parts);
    let (mut blocks, parts): (Vec<_>, Vec<_>) = blocks.into_iter().map(split).unzip();
    straighten(&mut blocks);
    let lengths = lengths(&blocks);
    let mut starts = Vec::with_capacity(lengths.len());
    let mut words = 0;
    for length in &lengths {
        starts.push(words as i64);
        words += length;
    }
    if i32::try_from(words).is_err() {
        return Err(LayoutError::TooLong { kernel: kernel(), words, limit: i32::MAX as usize });
    }

    let mut locs = Vec::with_capacity(words);
    let mut all_parts = Vec::new();
    let mut halu = Vec::with_capacity(words);
    for ((block, &length), parts) in blocks.iter().zip(&lengths).zip(&parts) {
        // Only branches at the end of a block have gone.
        all_parts.extend(parts.iter().map(|part| Part { word: halu.len() as u32 + part.word, ..*part }));
        for &MachInst { mut inst, target, loc } in block.iter().take(length) {
            let opcode = inst.opcode().name();
            match (inst.opcode().target(), target) {
                (None, None) => {}
                (Some(field), Some(block)) => {
                    let Some(start) = starts.get(block as usize) else {
                        let blocks = starts.len();
                        return Err(LayoutError::Block { kernel: kernel(), block, blocks });
                    };
                    inst.set(field, (start - halu.len() as i64) as u64);
                }
                (field, _) => {
                    let expected = field.is_some();
                    return Err(LayoutError::Target { kernel: kernel(), opcode, expected, loc });
                }
            }
            if let Err(error) = inst.validate() {
                return Err(LayoutError::Invalid { kernel: kernel(), opcode, error, loc });
            }
            halu.push(inst.word());
            locs.push(loc);
        }
    }
    Ok(Code { words: Words::Halu(halu), locs, parts: all_parts, stats: Vec::new(), info })
}

impl Step for MachInst<Halu> {
    fn target(&self) -> Option<BlockIndex> {
        self.target
    }

    fn set_target(&mut self, target: BlockIndex) {
        self.target = Some(target);
    }

    fn is_jump(&self) -> bool {
        self.inst.opcode() == Opcode::BRA && self.inst.is_unconditional()
    }

    fn is_end(&self) -> bool {
        matches!(self.inst.opcode(), Opcode::BRA | Opcode::EXIT) && self.inst.is_unconditional()
    }

    fn inverted(&self) -> Option<MachInst<Halu>> {
        let conditional = self.inst.opcode() == Opcode::BRA && !self.inst.is_unconditional();
        let mut branch = *self;
        Halu::invert(&mut branch.inst);
        conditional.then_some(branch)
    }
}
