//! Control flow, recovered from the words: blocks, and where each of them leads.

use halfbyte_isa::halu::Opcode;
use halfbyte_isa::halu::fields::IMM32;
use halfbyte_isa::halu::meaning::{is_collective, is_strong_access};

use halfbyte_isa::halu::Word;

/// The number of a block; blocks are numbered by address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct BlockId(pub u32);

impl BlockId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Words that are executed one after another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    /// The first word.
    pub start: u32,
    /// After the last word, which is the branch or exit if there is one.
    pub end: u32,
    /// What comes after.
    pub next: Next,
    /// Whether others of the group run behind one of its words.
    pub yields: bool,
}

/// Where a block leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// On, always.
    To(Target),
    /// A branch with a guard: `taken` where it holds.
    Branch { taken: Target, fall: Target },
    /// The item is done.
    Exit,
    /// Done where the guard holds.
    ExitIf { fall: Target },
    /// The block is one word, at which items meet where its guard holds.
    Meet { then: Target },
    /// The block is one word, which is no instruction.
    Undefined(u128),
}

/// A place to go on at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Block {
        id: BlockId,
        /// By a branch to the same or an earlier address, which counts against the budget.
        backward: bool,
    },
    /// A branch to no word of the kernel.
    Outside(i64),
    /// After the last word.
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
    /// The blocks that may come next.
    pub fn successors(&self) -> impl Iterator<Item = BlockId> + use<> {
        let (a, b) = match self.next {
            Next::To(a) | Next::ExitIf { fall: a } | Next::Meet { then: a } => (Some(a), None),
            Next::Branch { taken, fall } => (Some(fall), Some(taken)),
            Next::Exit | Next::Undefined(_) => (None, None),
        };
        a.into_iter().chain(b).filter_map(Target::block)
    }

    /// Whether it ends with a backward branch.
    pub fn goes_back(&self) -> bool {
        matches!(
            self.next,
            Next::To(Target::Block { backward: true, .. })
                | Next::Branch { taken: Target::Block { backward: true, .. }, .. }
        )
    }

    /// The address of the branch or exit at its end.
    pub fn last(&self) -> u32 {
        self.end.saturating_sub(1)
    }
}

/// A block is cut where it gets longer, so that what is kept of one at a time stays small.
const MAX_WORDS: u32 = 64;

/// Where an instruction leads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Leads {
    /// To the one that follows.
    On,
    /// To another one, at an address that there need not be.
    Branch { target: i64, always: bool },
    /// To the end of the item.
    Exit { always: bool },
    /// Items meet at it.
    Meet,
    /// It is none.
    Undefined(u128),
    /// It is none: the item ends before it.
    End,
}

/// The blocks of a kernel, by address: of instructions by where they lead, and whether others of the group run behind them.
pub(crate) fn blocks(all: &[(Leads, bool)]) -> Vec<Block> {
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
        if leader || run > MAX_WORDS {
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

/// Where a word of HALU leads, and whether others run behind it.
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
