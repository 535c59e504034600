//! Layout of HALU code: one instruction word for each instruction. A branch at the end of a block
//! to the following block is omitted.

use std::fmt::{self, Write};

use halfbyte_isa::halu;
use halfbyte_isa::halu::Opcode;
use halfbyte_isa::object::{KernelInfo, PartialAccess};
use halfbyte_isa::row::{OperandRole, RegFile};
use halfbyte_isel::mach::{MachBlock, MachFunc, MachInst};
use halfbyte_isel::vcode::{BlockIndex, Machine};
use halfbyte_isel::{AllocatedCode, Halu, HaluExtra};

use crate::emitter::{Emitter, KernelCode, downcast};
use crate::error::LayoutError;
use crate::latch_copies::{RegisterInst, hoist_latch_copies};
use crate::straighten::{ControlInst, lengths, straighten, turn_latches};

impl Emitter for Halu {
    fn layout(&self, func: Box<dyn AllocatedCode>) -> Result<KernelCode, LayoutError> {
        layout(downcast(func)?)
    }

    fn write_head(&self, out: &mut String, code: &KernelCode) -> fmt::Result {
        let KernelInfo { registers, local_bytes, shared_bytes, signature, .. } = &code.info;
        write!(out, ", {registers} registers, {local_bytes} bytes of local memory")?;
        if let Some(shared_bytes) = shared_bytes {
            write!(out, ", {shared_bytes} of shared memory")?;
        }
        writeln!(out)?;
        for (param, offset) in signature.params().iter().zip(signature.offsets()) {
            writeln!(out, "// c[0x0][{offset:#x}] {}: {}", param.name, param.kind)?;
        }
        Ok(())
    }
}

fn layout(func: MachFunc<Halu>) -> Result<KernelCode, LayoutError> {
    let MachFunc { signature, blocks, local_bytes, registers, extra, .. } = func;
    let HaluExtra { shared_bytes, scratch_bytes } = extra;
    let info = KernelInfo {
        signature,
        local_bytes,
        registers,
        shared_bytes,
        scratch_bytes,
        tiles: None,
        max_items: u32::MAX,
        along_x: false,
    };
    let kernel = || info.signature.name().to_owned();
    let split = |MachBlock { insts, parts }: MachBlock<Halu>| (insts, parts);
    let (mut blocks, parts): (Vec<_>, Vec<_>) = blocks.into_iter().map(split).unzip();
    hoist_latch_copies(&mut blocks);
    straighten(&mut blocks);
    turn_latches(&mut blocks);
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
    let mut laid_out = Vec::with_capacity(words);
    for ((block, &length), parts) in blocks.iter().zip(&lengths).zip(&parts) {
        // Only branches at the end of a block are omitted, so the indices of the instruction words
        // before the omitted branches stay valid.
        all_parts.extend(parts.iter().map(|part| PartialAccess { word: laid_out.len() as u32 + part.word, ..*part }));
        for &MachInst { mut inst, target, loc } in block.iter().take(length) {
            let opcode = inst.opcode().name();
            match (inst.opcode().target(), target) {
                (None, None) => {}
                (Some(field), Some(block)) => {
                    let Some(start) = starts.get(block as usize) else {
                        let blocks = starts.len();
                        return Err(LayoutError::Block { kernel: kernel(), block, blocks });
                    };
                    inst.set(field, (start - laid_out.len() as i64) as u64);
                }
                (field, _) => {
                    let expected = field.is_some();
                    return Err(LayoutError::Target { kernel: kernel(), opcode, expected, loc });
                }
            }
            if let Err(error) = inst.validate() {
                return Err(LayoutError::Invalid { kernel: kernel(), opcode, error, loc });
            }
            laid_out.push(inst.word());
            locs.push(loc);
        }
    }
    Ok(KernelCode { words: halu::HaluCode(laid_out).into(), locs, parts: all_parts, stats: Vec::new(), info })
}

impl ControlInst for MachInst<Halu> {
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

impl RegisterInst for MachInst<Halu> {
    type Register = (RegFile, u64);

    fn is_copy(&self) -> bool {
        matches!(self.inst.opcode(), Opcode::MOV_R | Opcode::MOV_I) && self.is_unguarded()
    }

    fn is_unguarded(&self) -> bool {
        self.inst.is_unconditional()
    }

    fn visit_registers(&self, mut each: impl FnMut(OperandRole, (RegFile, u64))) {
        for slot in self.inst.registers() {
            let first = self.inst.get(slot.field);
            (first..first + u64::from(slot.span)).for_each(|number| each(slot.role, (slot.file, number)));
        }
    }
}
