//! Control flow graph of a kernel: basic blocks and their successors.

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::halu::fields::IMM32;
use halfbyte_isa::halu::meaning::{is_collective, is_strong_access};

use halfbyte_isa::halu::Word;

/// Number of a block. Blocks are numbered by address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BlockId(pub u32);

impl BlockId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Instructions that are executed one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// Address of the first instruction.
    pub start: u32,
    /// Address after the last instruction, which is the branch or exit if there is one.
    pub end: u32,
    /// Control transfer at the end of the block.
    pub next: Next,
    /// `true` if other items of the group run after one of the instructions.
    pub yields: bool,
}

/// Control transfer at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Unconditional transfer to a target.
    To(Target),
    /// Branch with a guard, to `taken` if the guard holds.
    Branch { taken: Target, fall: Target },
    /// End of the item.
    Exit,
    /// End of the item if the guard holds.
    ExitIf { fall: Target },
    /// Collective operation. The block is this single instruction, which applies to the items whose guard holds.
    Meet { then: Target },
    /// Undefined instruction word, which is the only word of the block.
    Undefined(u128),
}

/// Target of a control transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Block {
        id: BlockId,
        /// `true` for a branch to the same or an earlier address. Such a branch counts against the budget.
        backward: bool,
    },
    /// Address that is not in the kernel.
    Outside(i64),
    /// Address after the last instruction.
    PastEnd,
}

impl Target {
    pub fn block(self) -> Option<BlockId> {
        match self {
            Target::Block { id, .. } => Some(id),
            Target::Outside(_) | Target::PastEnd => None,
        }
    }
}

impl Block {
    /// Returns the successors of the block.
    pub fn successors(&self) -> impl Iterator<Item = BlockId> + use<> {
        let (a, b) = match self.next {
            Next::To(a) | Next::ExitIf { fall: a } | Next::Meet { then: a } => (Some(a), None),
            Next::Branch { taken, fall } => (Some(fall), Some(taken)),
            Next::Exit | Next::Undefined(_) => (None, None),
        };
        a.into_iter().chain(b).filter_map(Target::block)
    }

    /// Returns `true` if the block ends with a backward branch.
    pub fn goes_back(&self) -> bool {
        matches!(
            self.next,
            Next::To(Target::Block { backward: true, .. })
                | Next::Branch { taken: Target::Block { backward: true, .. }, .. }
        )
    }

    /// Returns the address of the branch or exit at the end of the block.
    pub fn last(&self) -> u32 {
        self.end.saturating_sub(1)
    }
}

/// Control transfer of an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leads {
    /// Continues with the next instruction.
    On,
    /// Branches to another address, which may be outside the kernel.
    Branch { target: i64, always: bool },
    /// Ends the item.
    Exit { always: bool },
    /// Executes a collective operation.
    Meet,
    /// Undefined instruction word.
    Undefined(u128),
    /// End of the kernel instead of an instruction. The item ends before it.
    End,
}

/// Returns the blocks of a kernel, by address. Each instruction is given by its control transfer, and by `true` if
/// other items of the group run after it. Blocks of more than `most` instructions are split.
pub(crate) fn blocks(all: &[(Leads, bool)], most: u32) -> Vec<Block> {
    let count = all.len() as u32;
    let mut leader = vec![false; all.len() + 1];
    let mut mark = |address: i64| {
        if let Some(leader) = usize::try_from(address).ok().and_then(|address| leader.get_mut(address)) {
            *leader = true;
        }
    };
    mark(0);
    for (address, (leads, _)) in (0..).zip(all) {
        match leads {
            Leads::On => {}
            Leads::Branch { target, .. } => {
                mark(*target);
                mark(address + 1);
            }
            Leads::Exit { .. } => mark(address + 1),
            Leads::Meet | Leads::Undefined(_) | Leads::End => {
                mark(address);
                mark(address + 1);
            }
        }
    }
    let mut run = 0;
    let mut ids = Vec::with_capacity(all.len());
    let mut starts = Vec::new();
    for (address, &leader) in (0..count).zip(&leader) {
        run += 1;
        if leader || run > most {
            starts.push(address);
            run = 1;
        }
        ids.push(BlockId(starts.len() as u32 - 1));
    }
    let at = |address: u32| match ids.get(address as usize) {
        Some(&id) => Target::Block { id, backward: false },
        None => Target::PastEnd,
    };
    let branch = |address: u32, target: i64| match usize::try_from(target).ok().and_then(|target| ids.get(target)) {
        Some(&id) => Target::Block { id, backward: target <= i64::from(address) },
        None => Target::Outside(target),
    };
    let ends = starts.iter().copied().skip(1).chain([count]);
    let block = |(&start, end): (&u32, u32)| {
        let fall = at(end);
        let within = all.get(start as usize..end as usize).unwrap_or_default();
        let yields = within.iter().any(|(_, yields)| *yields);
        let (end, next) = match within.last().map_or(Leads::On, |(leads, _)| *leads) {
            Leads::On => (end, Next::To(fall)),
            Leads::Branch { target, always: true } => (end, Next::To(branch(end - 1, target))),
            Leads::Branch { target, always: false } => (end, Next::Branch { taken: branch(end - 1, target), fall }),
            Leads::Exit { always: true } => (end, Next::Exit),
            Leads::Exit { always: false } => (end, Next::ExitIf { fall }),
            Leads::Meet => (end, Next::Meet { then: fall }),
            Leads::Undefined(word) => (end, Next::Undefined(word)),
            Leads::End => (start, Next::Exit),
        };
        Block { start, end, next, yields }
    };
    starts.iter().zip(ends).map(block).collect()
}

/// Returns the control transfer of a HALU instruction, and `true` if other items run after it.
pub(super) fn leads(address: i64, word: &Word) -> (Leads, bool) {
    let inst = match word {
        Word::Inst(inst) => inst,
        Word::Undefined(word) => return (Leads::Undefined(*word), false),
    };
    let always = inst.is_unconditional();
    let leads = match inst.opcode() {
        Opcode::BRA => Leads::Branch { target: address + inst.get_signed(IMM32), always },
        Opcode::EXIT => Leads::Exit { always },
        _ if is_collective(inst) => Leads::Meet,
        _ => Leads::On,
    };
    (leads, is_strong_access(inst))
}
