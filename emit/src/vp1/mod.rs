//! VP1: the operations of a function in bundles, and the bundles in words.

mod graph;
mod live;
#[cfg(test)]
mod loop_tests;
mod modulo;
mod op;
mod pairs;
mod pipeline;
mod schedule;
mod stats;
#[cfg(test)]
mod tests;
mod values;
mod words;

use halfbyte_isa::object::{KernelInfo, Words};
use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::bundle::LINE;
use halfbyte_isa::vp1::domain::{Jump, Next};
use halfbyte_isa::vp1::footprint::Locations;
use halfbyte_isa::vp1::{Inst, Opcode, Unit, bundles};
use halfbyte_isel::mach::{BlockIndex, MachBlock, MachFunc};
use halfbyte_isel::machine::Vp1;

use crate::error::LayoutError;
use crate::layout::Code;
use crate::straighten::{Step, lengths, straighten};

pub use op::OpError;
pub use stats::BlockStats;

use op::{Label, Op, target_field};
use pipeline::{Kind, Part, Pipelined};
use schedule::Members;
use words::{Packed, Planned, Word};

/// A run of bundles.
struct Piece {
    /// What branches to its start name, if any do.
    label: Option<Label>,
    /// In order.
    bundles: Vec<Planned>,
}

/// A function in words.
struct Assembled {
    /// The words, targets filled in.
    words: Vec<Word>,
    /// How dense each block became.
    stats: Vec<BlockStats>,
}

/// The `$a` that frames are addressed by: 0 where a function does not write it.
const FRAME_BASE: u8 = 31;

/// Schedules a machine function and lays it out.
pub(crate) fn layout(func: &MachFunc<Vp1>) -> Result<Code, LayoutError> {
    let kernel = func.signature.name();
    let mut blocks = operations(kernel, func, None)?;
    let base = Locations::register(RegFile::A, FRAME_BASE);
    let zero = (!blocks.iter().flatten().any(|op| op.footprint.writes.intersects(base))).then_some(FRAME_BASE);
    if zero.is_some() {
        blocks = operations(kernel, func, zero)?;
    }
    let Assembled { words, stats } = assemble(kernel, blocks, zero)?;

    let mut tiles = func.extra.tiles.clone();
    let address = |is: &dyn Fn(&Word) -> bool| words.iter().position(is).map(|at| at as u32);
    for (number, stream) in (0..).zip(&mut tiles.streams) {
        if let Some(site) = address(&|word| word.stream == Some(number)) {
            stream.site = site;
        }
    }
    tiles.group_branch = words.iter().rposition(|word| word.group).map(|at| at as u32);
    let info = KernelInfo {
        signature: func.signature.clone(),
        local_bytes: func.local_bytes,
        registers: func.registers,
        tiles: Some(tiles),
    };
    let locs = words.iter().map(|word| word.loc).collect();
    let words = words.iter().map(|word| word.inst.word()).collect::<Vec<u32>>();
    Ok(Code { info, words: Words::Vp1(words), locs, stats })
}

/// The operations of a function, by block. `zero` is an `$a` that holds 0 all the time.
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

/// Schedules the blocks of a function and gives them their words. `zero` is an `$a` that holds 0 all the time.
///
/// # Errors
/// Branches that are not at the end of a block or go nowhere; more words than a branch can cross.
fn assemble(kernel: &str, mut blocks: Vec<Vec<Op>>, zero: Option<u8>) -> Result<Assembled, LayoutError> {
    blocks.iter().try_for_each(|block| check_block(kernel, block, blocks.len()))?;
    straighten(&mut blocks);
    let lengths = lengths(&blocks);
    for (block, length) in blocks.iter_mut().zip(lengths) {
        block.truncate(length);
    }
    merge(&mut blocks);
    for (label, block) in (0..).zip(&mut blocks) {
        branch_back_first(block, label);
    }
    let live = live::live_in(&blocks);
    let mut code = Builder { pieces: Vec::new(), ends: Vec::new(), labels: blocks.len() as Label };
    let mut stats = Vec::new();
    for (label, block) in (0..).zip(&blocks) {
        let schedule = schedule::schedule(block);
        let exit = code.exit_of(block, label);
        let after = live.get(exit as usize).copied().unwrap_or_default();
        let looped = block.get(..block.len() - usize::from(block.last().is_some_and(Op::is_final)));
        let pipelined =
            looped.and_then(|looped| pipeline::pipeline(looped, label, after, schedule.bundles.len() as u32, zero));
        match pipelined {
            Some(pipelined) => {
                stats.push(BlockStats {
                    block: label,
                    pipelined: true,
                    bundles: pipelined.interval,
                    words: schedule::pressure(block),
                    bound: pipelined.bound,
                });
                code.add_loop(label, pipelined, exit);
            }
            None => {
                if !block.is_empty() {
                    stats.push(BlockStats {
                        block: label,
                        pipelined: false,
                        bundles: schedule.bundles.len() as u32,
                        words: schedule::pressure(block),
                        bound: schedule.bound,
                    });
                }
                code.add(Some(label), block, &schedule.bundles);
            }
        }
    }
    code.pieces.append(&mut code.ends);
    Ok(Assembled { words: link(kernel, code.pieces)?, stats })
}

/// Blocks that are only fallen into become part of the one before.
fn merge(blocks: &mut [Vec<Op>]) {
    let mut entered = vec![false; blocks.len()];
    for target in blocks.iter().flatten().filter_map(|op| op.target) {
        entered.get_mut(target as usize).into_iter().for_each(|entered| *entered = true);
    }
    let mut before: Option<usize> = None;
    for index in 0..blocks.len() {
        let into = before.filter(|_| entered.get(index) == Some(&false));
        let block = blocks.get_mut(index).map(|block| if into.is_some() { std::mem::take(block) } else { Vec::new() });
        let at = into.unwrap_or(index);
        let Some(merged) = blocks.get_mut(at) else { continue };
        merged.extend(block.unwrap_or_default());
        before = Some(at).filter(|_| !merged.last().is_some_and(Op::is_control));
    }
}

/// Where a block has a branch away and then one to itself: the one to itself becomes the first, so that an iteration takes but one.
fn branch_back_first(block: &mut [Op], label: Label) {
    let [.., first, second] = block else { return };
    if second.is_jump()
        && second.target == Some(label)
        && first.target != Some(label)
        && let Some(mut back) = first.inverted()
    {
        let away = first.target;
        back.pass(second);
        *first = back;
        *second = second.clone().with_group(false);
        second.target = away;
    }
}

/// The code of a function, growing.
struct Builder {
    /// In order.
    pieces: Vec<Piece>,
    /// What comes after all blocks.
    ends: Vec<Piece>,
    /// The first label that names nothing yet.
    labels: Label,
}

impl Builder {
    /// The label of what a block goes on to, if not back to itself.
    fn exit_of(&self, block: &[Op], label: Label) -> Label {
        block.last().filter(|last| last.is_final()).and_then(|last| last.target).unwrap_or(label + 1)
    }

    fn add(&mut self, label: Option<Label>, ops: &[Op], bundles: &[Members]) {
        self.pieces.push(piece(label, ops, bundles));
    }

    /// Adds a loop, after which control goes to `exit`.
    fn add_loop(&mut self, label: Label, pipelined: Pipelined, exit: Label) {
        let Pipelined { ops, parts, .. } = pipelined;
        let kernel = self.labels;
        let end = |number: u32| kernel + 1 + number;
        // The name of the block is that of the first part.
        self.add(Some(label), &[], &[]);
        for Part { kind, mut bundles } in parts {
            let mut ops = ops.clone();
            if let Some(branch) = ops.last_mut() {
                match kind {
                    Kind::Start(Some(number)) => {
                        *branch = branch.inverted().unwrap_or_else(|| branch.clone()).with_group(false);
                        branch.target = Some(end(number));
                    }
                    _ => branch.target = Some(kernel),
                }
            }
            match kind {
                Kind::Start(_) => self.add(None, &ops, &bundles),
                Kind::Kernel => self.add(Some(kernel), &ops, &bundles),
                Kind::End(None) if exit == label + 1 => self.add(None, &ops, &bundles),
                Kind::End(number) => {
                    let jump = ops.last().and_then(|branch| branch.jump_to(exit));
                    jump.into_iter().for_each(|jump| schedule::append_jump(&mut ops, &mut bundles, jump));
                    let piece = piece(number.map(end), &ops, &bundles);
                    if number.is_none() { &mut self.pieces } else { &mut self.ends }.push(piece);
                    self.labels = self.labels.max(number.map_or(0, end) + 1);
                }
            }
        }
        self.labels = self.labels.max(kernel + 1);
    }
}

/// Operations in bundles.
fn piece(label: Option<Label>, ops: &[Op], bundles: &[Members]) -> Piece {
    Piece { label, bundles: bundles.iter().map(|bundle| planned(ops, bundle)).collect() }
}

/// The words of a bundle's operations.
fn planned(ops: &[Op], members: &[u32]) -> Planned {
    let words = Unit::ALL.map(|unit| {
        let (op, inst) = schedule::words_of(ops, members, unit)?;
        let target = op.target.filter(|_| target_field(&inst).is_some());
        let access = op.stream.filter(|_| unit == Unit::Address);
        Some(Word { inst, target, stream: access, group: op.group && target.is_some(), loc: op.loc })
    });
    Planned { words, aligned: false }
}

/// Puts pieces one after the other and lets branches go to them.
fn link(kernel: &str, pieces: Vec<Piece>) -> Result<Vec<Word>, LayoutError> {
    let mut all: Vec<Planned> = Vec::new();
    // Where the piece of each label begins: the number of a bundle.
    let mut starts: Vec<Option<usize>> = Vec::new();
    for piece in pieces {
        if let Some(label) = piece.label {
            starts.resize(starts.len().max(label as usize + 1), None);
            starts.get_mut(label as usize).into_iter().for_each(|start| *start = Some(all.len()));
        }
        all.extend(piece.bundles);
    }
    let targets: Vec<Label> =
        all.iter().flat_map(|bundle| &bundle.words).flatten().filter_map(|word| word.target).collect();
    let start = |label: Label| {
        let missing = || LayoutError::Block { kernel: kernel.to_owned(), block: label, blocks: starts.len() };
        starts.get(label as usize).copied().flatten().ok_or_else(missing)
    };
    for &target in &targets {
        let at = start(target)?;
        // To branch to the end of the function is to run into nothing; there is no such function.
        let Some(bundle) = all.get_mut(at) else {
            return Err(LayoutError::Block { kernel: kernel.to_owned(), block: target, blocks: starts.len() });
        };
        bundle.aligned = true;
    }
    let mut packed = words::pack(&all);
    for at in 0..packed.words.len() {
        let Some(word) = packed.words.get_mut(at) else { continue };
        let (Some(field), Some(target)) = (target_field(&word.inst), word.target) else { continue };
        let to = start(target)?;
        let to = packed.starts.get(to).copied().unwrap_or_default();
        let distance = i64::from(to / LINE) - at as i64 / i64::from(LINE);
        word.inst.set(field, distance as u64);
        if word.inst.get_signed(field) != distance {
            let limit = (field.max() as usize / 2) * LINE as usize;
            return Err(LayoutError::TooLong { kernel: kernel.to_owned(), words: packed.words.len(), limit });
        }
    }
    check_words(kernel, &all, &packed)?;
    Ok(packed.words)
}

/// Checks that words group into the bundles that were planned.
fn check_words(kernel: &str, planned: &[Planned], packed: &Packed) -> Result<(), LayoutError> {
    let wrong = |word: usize| LayoutError::Bundle { kernel: kernel.to_owned(), word };
    let words: Vec<u32> = packed.words.iter().map(|word| word.inst.word()).collect();
    let mut found = bundles(&words);
    for (plan, &start) in planned.iter().zip(&packed.starts) {
        let (at, bundle) = found.next().ok_or_else(|| wrong(start as usize))?;
        let units = Unit::ALL.into_iter().zip(&plan.words);
        let is_nop = |inst: &Inst| matches!(inst.opcode(), Opcode::ANOP | Opcode::SNOP | Opcode::VNOP | Opcode::BNOP);
        let mut same = units.map(|(unit, word)| match (word, bundle.inst(unit)) {
            (Some(word), Some(inst)) => word.inst.opcode() == inst.opcode(),
            (Some(_), None) => false,
            (None, inst) => inst.is_none_or(is_nop),
        });
        let aligned = !plan.aligned || at.is_multiple_of(LINE);
        if at != start || !aligned || !same.all(|same| same) {
            return Err(wrong(start as usize));
        }
    }
    match found.next() {
        Some((at, _)) => Err(wrong(at as usize)),
        None => Ok(()),
    }
}

/// Checks that all branches of a block are at its end and go somewhere.
fn check_block(kernel: &str, block: &[Op], blocks: usize) -> Result<(), LayoutError> {
    let body = block.len() - block.iter().rev().take_while(|op| op.is_control()).count();
    for (at, op) in block.iter().enumerate() {
        let kernel = || kernel.to_owned();
        let opcode = op.inst(Unit::Branch).map_or("", |inst| inst.opcode().name());
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

impl Step for Op {
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
