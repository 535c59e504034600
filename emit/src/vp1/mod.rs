//! Layout of VP1 code: schedules the operations of a function into bundles, and encodes the bundles
//! as instruction words.

mod builder;
mod graph;
mod head;
mod link;
mod live;
#[cfg(test)]
mod loop_tests;
mod modulo;
mod op;
mod pairs;
mod pipeline;
mod schedule;
mod shape;
#[cfg(test)]
mod tests;
mod values;
mod words;

use std::borrow::Cow;
use std::fmt::{self, Write};

use halfbyte_isa::isa::SharedCode;
use halfbyte_isa::object::KernelInfo;
use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::domain::{Jump, Next};
use halfbyte_isa::vp1::fields::R_ZERO;
use halfbyte_isa::vp1::footprint::Locations;
use halfbyte_isa::vp1::{self, bundles};
use halfbyte_isel::mach::{MachBlock, MachFunc};
use halfbyte_isel::vcode::BlockIndex;
use halfbyte_isel::{AllocatedCode, Vp1};

use crate::emitter::{Emitter, KernelCode, WORD, downcast};
use crate::error::LayoutError;
use crate::straighten::{ControlInst, lengths, straighten};

use crate::stats::BlockStats;

use builder::Builder;
use op::{Label, Op};
use pipeline::Pipelined;
use schedule::Schedule;
use words::Word;

/// Machine code of a function.
struct Assembled {
    /// Instruction words with resolved branch targets.
    words: Vec<Word>,
    /// Bundle statistics of each block.
    stats: Vec<BlockStats>,
}

/// Number of the `$a` register that addresses stack frames. The register is 0 in functions that do not write it.
const FRAME_BASE: u8 = 31;

impl Emitter for Vp1 {
    fn layout(&self, func: Box<dyn AllocatedCode>) -> Result<KernelCode, LayoutError> {
        layout(&downcast(func)?)
    }

    fn write_head(&self, out: &mut String, code: &KernelCode) -> fmt::Result {
        let Some(vp1::Vp1Code(words)) = code.words.downcast_ref() else { return Ok(()) };
        write!(out, " in {} bundles", bundles(words).count())?;
        head::write(out, &code.info)
    }

    fn lines(&self, code: &KernelCode) -> String {
        code.words.downcast_ref().map_or(String::new(), |vp1::Vp1Code(words)| in_braces(words, &code.words))
    }
}

/// Formats VP1 instruction words as assembly, one for each line, with braces around each bundle.
fn in_braces(vp1: &[u32], words: &SharedCode) -> String {
    let mut lines = String::new();
    for (start, bundle) in bundles(vp1) {
        let end = start + bundle.words();
        for address in start..end {
            let open = if address == start { '{' } else { ' ' };
            let close = if address + 1 == end { " }" } else { "" };
            lines += &format!("{WORD}{open} {}{close}\n", words.text(address as usize));
        }
    }
    lines
}

/// Schedules the operations of a machine function into bundles, and returns its machine code.
fn layout(func: &MachFunc<Vp1>) -> Result<KernelCode, LayoutError> {
    let kernel = func.signature.name();
    let mut zero = Some(FRAME_BASE);
    let mut blocks = operations(kernel, func, zero)?;
    let base = Locations::register(RegFile::A, FRAME_BASE);
    if blocks.iter().flatten().any(|op| op.footprint.writes.intersects(base)) {
        zero = None;
        blocks = operations(kernel, func, zero)?;
    }
    let Assembled { words, stats } = assemble(kernel, blocks, zero)?;

    let mut tiles = func.extra.tiles.clone();
    let address = |is: &dyn Fn(&Word) -> bool| words.iter().position(is).map(|at| at as u32);
    for (number, stream) in (0..).zip(&mut tiles.streams) {
        if let Some(site) = address(&|word| word.stream == Some(number)) {
            stream.site.word = site;
        }
    }
    tiles.group_branch = words.iter().rposition(|word| word.group).map(|at| at as u32);
    // A pipelined loop may use registers that allocation did not use.
    let named =
        words.iter().flat_map(|word| word.inst.registers().iter().map(|slot| (slot, word.inst.get(slot.field))));
    let general =
        named.filter(|&(slot, n)| slot.file == RegFile::R && n != u64::from(R_ZERO)).map(|(_, n)| n as u32 + 1);
    let info = KernelInfo {
        signature: func.signature.clone(),
        local_bytes: func.local_bytes,
        registers: general.max().unwrap_or(0).max(func.registers),
        tiles: Some(tiles),
        max_items: u32::MAX,
        shared_bytes: None,
        scratch_bytes: 0,
        along_x: true,
    };
    let locs = words.iter().map(|word| word.loc).collect();
    let words = words.iter().map(|word| word.inst.word()).collect::<Vec<u32>>();
    Ok(KernelCode { info, words: vp1::Vp1Code(words).into(), locs, parts: Vec::new(), stats })
}

/// Returns the operations of each block. `zero` is an `$a` register that always holds 0.
fn operations(kernel: &str, func: &MachFunc<Vp1>, zero: Option<u8>) -> Result<Vec<Vec<Op>>, LayoutError> {
    let block = |(index, block): (BlockIndex, &MachBlock<Vp1>)| {
        let ops = block.insts.iter().map(|inst| {
            let op = Op::new(&inst.inst.insts, inst.inst.stream, inst.target, inst.loc, zero);
            let error = |error| LayoutError::Operation { kernel: kernel.to_owned(), error, loc: inst.loc };
            let backward = inst.target.is_some_and(|target| target <= index);
            let group = backward && func.extra.group_latch == Some(index);
            op.map(|op| op.with_group(group)).map_err(error)
        });
        ops.collect()
    };
    (0..).zip(&func.blocks).map(block).collect()
}

/// Schedules the blocks of a function and encodes them. `zero` is an `$a` register that always holds 0.
///
/// # Errors
/// A branch is not at the end of its block, its target does not exist, or its distance exceeds the range of its field.
fn assemble(kernel: &str, mut blocks: Vec<Vec<Op>>, zero: Option<u8>) -> Result<Assembled, LayoutError> {
    blocks.iter().try_for_each(|block| check_block(kernel, block, blocks.len()))?;
    straighten(&mut blocks);
    let lengths = lengths(&blocks);
    for (block, length) in blocks.iter_mut().zip(lengths) {
        block.truncate(length);
    }
    shape::merge(&mut blocks);
    shape::fold_latches(&mut blocks);
    for (label, block) in (0..).zip(&mut blocks) {
        shape::branch_back_first(block, label);
    }

    let live = live::live_in(&blocks);
    let mut plain: Vec<Option<Schedule>> = Vec::with_capacity(blocks.len());
    let mut loops: Vec<Option<Pipelined>> = Vec::with_capacity(blocks.len());
    for (label, block) in (0..).zip(&blocks) {
        let schedule = is_loop(block, label).then(|| schedule::schedule(block));
        loops.push(schedule.as_ref().and_then(|plain| pipelined(block, label, &live, plain, zero)));
        plain.push(schedule);
    }
    let mut builder = Builder::new(blocks.len() as Label);
    let mut stats = Vec::new();
    for ((label, block), (looped, plain)) in (0..).zip(&blocks).zip(loops.iter().zip(plain)) {
        if block.is_empty() {
            builder.names.push(label);
            continue;
        }
        // If the next block with instructions is a pipelined loop whose first bundle is not its entry, control must not
        // fall through into this block. The block before it then jumps to the entry.
        let next =
            (label as usize + 1..blocks.len()).find(|&next| blocks.get(next).is_some_and(|block| !block.is_empty()));
        let is_apart = |next: &usize| loops.get(*next).and_then(Option::as_ref).is_some_and(Pipelined::counts);
        let enter = next.filter(is_apart).map(|next| next as Label);
        let words = schedule::pressure(block);
        let start = builder.bundles;
        match looped {
            Some(looped) => {
                let exit = exit_of(block, label);
                let falls = exit == label + 1;
                builder.add_loop(label, looped, enter.filter(|_| falls).unwrap_or(exit), falls && enter.is_none());
                stats.push(BlockStats {
                    block: label,
                    start,
                    pipelined: true,
                    bundles: looped.interval(),
                    words,
                    bound: looped.bound,
                });
            }
            None => {
                let falls = block.last().filter(|last| !last.is_final());
                let jump = enter.zip(falls).and_then(|(enter, last)| last.jump_to(enter));
                let block = match &jump {
                    Some(jump) => Cow::Owned([block, std::slice::from_ref(jump)].concat()),
                    None => Cow::Borrowed(block.as_slice()),
                };
                let schedule = plain.filter(|_| jump.is_none()).unwrap_or_else(|| schedule::schedule(&block));
                builder.add_block(label, &block, &schedule);
                let bundles = schedule.bundles.len() as u32;
                let bound = schedule.bound;
                stats.push(BlockStats { block: label, start, pipelined: false, bundles, words, bound });
            }
        }
    }
    builder.add_names();
    Ok(Assembled { words: link::link(kernel, builder.pieces)?, stats })
}

/// Returns a block without its final jump.
fn without_jump(block: &[Op]) -> &[Op] {
    block.split_last().filter(|(last, _)| last.is_jump()).map_or(block, |(_, rest)| rest)
}

/// Returns `true` if a block is a loop that may be pipelined.
fn is_loop(block: &[Op], label: Label) -> bool {
    pipeline::is_loop(without_jump(block), label)
}

/// Pipelines a loop, if an iteration then takes fewer bundles than in the schedule `plain`.
fn pipelined(block: &[Op], label: Label, live: &[Locations], plain: &Schedule, zero: Option<u8>) -> Option<Pipelined> {
    let after = live.get(exit_of(block, label) as usize).copied().unwrap_or_default();
    pipeline::pipeline(without_jump(block), after, plain.bundles.len() as u32, zero)
}

/// Returns the label of the block after a loop.
fn exit_of(block: &[Op], label: Label) -> Label {
    block.last().filter(|last| last.is_final()).and_then(|last| last.target).unwrap_or(label + 1)
}

/// Checks that all branches of a block are at its end and that their targets exist.
fn check_block(kernel: &str, block: &[Op], blocks: usize) -> Result<(), LayoutError> {
    let body = block.len() - block.iter().rev().take_while(|op| op.is_control()).count();
    for (at, op) in block.iter().enumerate() {
        let kernel = || kernel.to_owned();
        let opcode = op.insts().last().map_or("", |inst| inst.opcode().name());
        let odd = matches!(op.footprint.next, Next::Return | Next::Jump { kind: Jump::Call, .. });
        if odd || op.is_control() && at < body || op.is_final() && at + 1 < block.len() {
            return Err(LayoutError::Control { kernel: kernel(), opcode, loc: op.loc });
        }
        let expected = op.takes_target();
        if expected != op.target.is_some() {
            return Err(LayoutError::Target { kernel: kernel(), opcode, expected, loc: op.loc });
        }
        if let Some(block) = op.target.filter(|&target| target as usize >= blocks) {
            return Err(LayoutError::Block { kernel: kernel(), block, blocks });
        }
    }
    Ok(())
}

impl ControlInst for Op {
    fn target(&self) -> Option<BlockIndex> {
        self.target
    }

    fn set_target(&mut self, target: BlockIndex) {
        self.target = Some(target);
    }

    fn is_jump(&self) -> bool {
        self.target.is_some() && self.is_final() && self.has_no_effect()
    }

    fn is_end(&self) -> bool {
        self.is_final()
    }

    fn inverted(&self) -> Option<Op> {
        let conditional = matches!(self.footprint.next, Next::Jump { taken: Some(()), .. });
        conditional.then(|| self.with_opposite()).flatten()
    }

    fn pass(&mut self, jump: &Op) {
        self.target = jump.target;
        self.group |= jump.group;
    }
}
