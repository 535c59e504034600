//! The interpreter: bundle after bundle, from the first to an exit.

use std::ops::ControlFlow;

use arrayvec::ArrayVec;
use halfbyte_isa::stream::Tiles;
use halfbyte_isa::vp1::bundle::LINE;
use halfbyte_isa::vp1::domain::{Jump, Next, Target, Unknown};
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::{Bundle, Slot, Unit, bundles};

use halfbyte_abi::Work;
use halfbyte_isa::trap::{Fault, Halt, TrapKind};

/// Calls within each other that are possible. No document says how many the machine has.
pub(super) const MAX_CALLS: usize = 16;

/// A program, its bundles decoded once.
#[derive(Clone, Debug)]
pub(super) struct Bundles {
    /// Each with the address of its first word.
    bundles: Vec<(u32, Bundle)>,
    /// The number of the bundle that begins a line, by line.
    lines: Vec<u32>,
    /// How many words there are.
    words: u32,
}

impl Bundles {
    pub fn new(words: &[u32]) -> Bundles {
        let bundles: Vec<(u32, Bundle)> = bundles(words).collect();
        let begins_line = |&(_, &(address, _)): &(u32, &(u32, Bundle))| address.is_multiple_of(LINE);
        let lines = (0..).zip(&bundles).filter(begins_line).map(|(number, _)| number).collect();
        Bundles { bundles, lines, words: words.len() as u32 }
    }

    /// A program of one bundle.
    #[cfg(feature = "jit")]
    pub fn once(bundle: &Bundle) -> Bundles {
        Bundles { bundles: vec![(0, *bundle)], lines: vec![0], words: bundle.words() }
    }

    /// How many there are.
    #[cfg(feature = "jit")]
    pub fn len(&self) -> usize {
        self.bundles.len()
    }

    /// A bundle, with the address of its first word.
    pub fn get(&self, number: usize) -> Option<&(u32, Bundle)> {
        self.bundles.get(number)
    }

    /// The address of a bundle, or where the next one would be.
    fn address(&self, number: usize) -> u32 {
        self.get(number).map_or(self.words, |(address, _)| *address)
    }

    /// The address of a unit's word in a bundle.
    pub fn address_of(&self, number: usize, unit: Unit) -> u32 {
        let before =
            |bundle: &Bundle| Unit::ALL.iter().filter(|&&u| u < unit && *bundle.slot(u) != Slot::Empty).count();
        self.address(number) + self.get(number).map_or(0, |(_, bundle)| before(bundle) as u32)
    }

    /// The bundle that a jump of another one leads to.
    pub fn target(&self, from: usize, target: Target) -> Result<usize, TrapKind> {
        let line = match target {
            Target::Relative(lines) => i64::from(self.address_of(from, Unit::Branch) / LINE) + i64::from(lines),
            Target::Absolute(line) => line.into(),
        };
        let inside = usize::try_from(line).ok().and_then(|line| self.lines.get(line));
        let outside = TrapKind::BranchOutside { target: line * i64::from(LINE), words: self.words };
        inside.map(|&number| number as usize).ok_or(outside)
    }
}

/// A run of a program over a tile.
pub(super) struct Run<'a> {
    pub program: &'a Bundles,
    group_branch: Option<u32>,
    /// Groups of the tile.
    pub groups: u32,
    /// The bundle that runs next.
    pub at: usize,
    /// The one after it: what a jump changes is where control goes from there.
    pub next: usize,
    /// The one before it.
    pub last: usize,
    /// How often the branch to the next group was taken, and the budget begun anew: at most once a group.
    pub done: u32,
    /// Bundles executed. It is not beside [`Run::backward`]: a load of both at once, which were stored one by one, would fail to forward and
    /// wait for all stores before it.
    pub issued: u64,
    /// Backward branches that a group may take.
    pub budget: u64,
    /// Backward branches that this one took.
    pub taken: u64,
    /// Return addresses, as numbers of bundles.
    pub calls: ArrayVec<usize, MAX_CALLS>,
    /// Backward branches taken, of all groups.
    pub backward: u64,
    /// Where both are counted.
    pub work: Work<'a>,
}

impl<'a> Run<'a> {
    /// From the first bundle on.
    pub fn new(program: &'a Bundles, tiles: &Tiles, groups: u32, budget: u64, work: Work<'a>) -> Run<'a> {
        Run {
            program,
            group_branch: tiles.group_branch,
            groups,
            at: 0,
            next: 1,
            last: 0,
            done: 0,
            budget,
            taken: 0,
            calls: ArrayVec::new(),
            issued: 0,
            backward: 0,
            work,
        }
    }

    /// The group that runs, from 0.
    pub fn group(&self) -> u32 {
        self.done.min(self.groups.saturating_sub(1))
    }

    /// Runs to an exit, whatever its code.
    pub fn finish(&mut self, state: &mut State) -> Result<(), Halt> {
        while self.step(state)?.is_continue() {}
        Ok(())
    }

    /// Runs a bundle. Breaks at an exit.
    pub fn step(&mut self, state: &mut State) -> Result<ControlFlow<()>, Halt> {
        let (at, next) = (self.at, self.next);
        let Some((_, bundle)) = self.program.get(at) else {
            let address = self.program.address(self.last + 1).saturating_sub(1);
            return Err(Fault { address: address as usize, kind: TrapKind::RanPastEnd }.into());
        };
        self.issued += 1;
        self.work.add(1)?;
        let then = match state.step(bundle, |_| {}) {
            Next::Fall | Next::Jump { taken: Some(0), .. } => next + 1,
            Next::Exit { .. } => return Ok(ControlFlow::Break(())),
            Next::Trap(unknown) => return Err(self.unknown(at, unknown).into()),
            jump => self.jump(at, next, jump).map_err(|kind| self.fault(at, Unit::Branch, kind))?,
        };
        (self.last, self.at, self.next) = (at, next, then);
        Ok(ControlFlow::Continue(()))
    }

    /// Where a taken jump of bundle `at` leads from bundle `next`, its delay slot.
    fn jump(&mut self, at: usize, next: usize, jump: Next<u32>) -> Result<usize, TrapKind> {
        let branch = self.program.address_of(at, Unit::Branch);
        let to = match jump {
            Next::Jump { kind, target, .. } => {
                let to = self.program.target(at, target)?;
                if kind == Jump::Call {
                    let limit = MAX_CALLS as u32;
                    self.calls.try_push(next + 1).map_err(|_| TrapKind::CallDepth { limit })?;
                }
                to
            }
            _ => self.calls.pop().ok_or(TrapKind::ReturnWithoutCall)?,
        };
        let backward = to <= at;
        self.backward += u64::from(backward);
        if self.group_branch == Some(branch) && self.done < self.groups {
            self.done += 1;
            self.taken = 0;
        } else if backward {
            if self.taken == self.budget {
                return Err(TrapKind::Budget { limit: self.budget });
            }
            self.taken += 1;
        }
        Ok(to)
    }

    fn unknown(&self, at: usize, unknown: Unknown) -> Fault {
        match unknown {
            Unknown::Instruction(word) => {
                let bytes = size_of_val(&word) as u32;
                let undefined = |&&unit: &&Unit| {
                    let slot = self.program.get(at).map(|(_, bundle)| *bundle.slot(unit));
                    slot == Some(Slot::Undefined(word))
                };
                let unit = Unit::ALL.iter().find(undefined).copied().unwrap_or(Unit::Address);
                self.fault(at, unit, TrapKind::Undefined { word: word.into(), bytes })
            }
            Unknown::Dma => self.fault(at, Unit::Address, TrapKind::Unknown(unknown)),
            Unknown::RegisterFile(_) => self.fault(at, Unit::Scalar, TrapKind::Unknown(unknown)),
        }
    }

    fn fault(&self, at: usize, unit: Unit, kind: TrapKind) -> Fault {
        Fault { address: self.program.address_of(at, unit) as usize, kind }
    }
}
