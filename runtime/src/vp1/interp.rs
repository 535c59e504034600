//! Interpreter of VP1 code, which runs bundles from the first one to an exit.

use std::ops::ControlFlow;

use arrayvec::ArrayVec;
use halfbyte_isa::stream::Tiles;
use halfbyte_isa::vp1::bundle::WORDS_PER_LINE;
use halfbyte_isa::vp1::domain::{Jump, Next, Target, Unknown};
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::{Bundle, Unit, UnitSlot, bundles};

use halfbyte_abi::Work;
use halfbyte_isa::trap::{Fault, Halt, TrapKind};

/// Maximum call depth. The limit of the machine is undocumented.
pub(super) const MAX_CALLS: usize = 16;

/// A program whose bundles are decoded once.
#[derive(Clone, Debug)]
pub(super) struct Bundles {
    /// The bundles, each with the address of its first instruction word.
    bundles: Vec<(u32, Bundle)>,
    /// For each line of instruction memory, the number of the bundle that begins at the line.
    lines: Vec<u32>,
    /// Number of instruction words in the program.
    words: u32,
}

impl Bundles {
    pub(super) fn new(words: &[u32]) -> Bundles {
        let bundles: Vec<(u32, Bundle)> = bundles(words).collect();
        let begins_line = |&(_, &(address, _)): &(u32, &(u32, Bundle))| address.is_multiple_of(WORDS_PER_LINE);
        let lines = (0..).zip(&bundles).filter(begins_line).map(|(number, _)| number).collect();
        Bundles { bundles, lines, words: words.len() as u32 }
    }

    /// Creates a program that consists of a single bundle.
    #[cfg(feature = "jit")]
    pub(super) fn once(bundle: &Bundle) -> Bundles {
        Bundles { bundles: vec![(0, *bundle)], lines: vec![0], words: bundle.words() }
    }

    /// Returns the number of bundles.
    #[cfg(feature = "jit")]
    pub(super) fn len(&self) -> usize {
        self.bundles.len()
    }

    /// Returns a bundle with the address of its first instruction word, if there is such a bundle.
    pub(super) fn get(&self, number: usize) -> Option<&(u32, Bundle)> {
        self.bundles.get(number)
    }

    /// Returns the address of a bundle, or the end address of the program if there is no such bundle.
    fn address(&self, number: usize) -> u32 {
        self.get(number).map_or(self.words, |(address, _)| *address)
    }

    /// Returns the address of the instruction word of a unit in a bundle.
    pub(super) fn address_of(&self, number: usize, unit: Unit) -> u32 {
        let before =
            |bundle: &Bundle| Unit::ALL.iter().filter(|&&u| u < unit && *bundle.slot(u) != UnitSlot::Empty).count();
        self.address(number) + self.get(number).map_or(0, |(_, bundle)| before(bundle) as u32)
    }

    /// Returns the number of the bundle that a jump in bundle `from` leads to.
    pub(super) fn target(&self, from: usize, target: Target) -> Result<usize, TrapKind> {
        let line = match target {
            Target::Relative(lines) => {
                i64::from(self.address_of(from, Unit::Branch) / WORDS_PER_LINE) + i64::from(lines)
            }
            Target::Absolute(line) => line.into(),
        };
        let inside = usize::try_from(line).ok().and_then(|line| self.lines.get(line));
        let outside = TrapKind::BranchOutside { target: line * i64::from(WORDS_PER_LINE), words: self.words };
        inside.map(|&number| number as usize).ok_or(outside)
    }
}

/// The state of a program that runs on a tile, without registers and memory.
pub(super) struct ProgramRun<'a> {
    pub program: &'a Bundles,
    group_branch: Option<u32>,
    /// Number of groups in the tile.
    pub groups: u32,
    /// Number of the next bundle.
    pub at: usize,
    /// Number of the bundle after `at`. If bundle `at` jumps, bundle `next` is the delay slot, and
    /// the jump's target follows it.
    pub next: usize,
    /// Number of the previously executed bundle.
    pub last: usize,
    /// Number of times that the branch to the next group was taken. The branch counts at most once
    /// for each group, and each counted branch resets the budget.
    pub done: u32,
    /// Number of executed bundles. The field is not adjacent to [`ProgramRun::backward`], because
    /// both are stored separately. A combined load of adjacent fields would miss store forwarding
    /// and wait for all previous stores.
    pub issued: u64,
    /// Maximum number of backward branches per group.
    pub budget: u64,
    /// Number of backward branches that the current group has taken.
    pub taken: u64,
    /// Return addresses, as bundle numbers.
    pub calls: ArrayVec<usize, MAX_CALLS>,
    /// Number of backward branches that all groups have taken.
    pub backward: u64,
    /// Counter of executed work, which the watchdog limits.
    pub work: Work<'a>,
}

impl<'a> ProgramRun<'a> {
    /// Creates a run that starts at the first bundle.
    pub(super) fn new(program: &'a Bundles, tiles: &Tiles, groups: u32, budget: u64, work: Work<'a>) -> ProgramRun<'a> {
        ProgramRun {
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

    /// Returns the number of the current group, counted from 0.
    pub(super) fn group(&self) -> u32 {
        self.done.min(self.groups.saturating_sub(1))
    }

    /// Runs the program until an exit instruction, regardless of its exit code.
    pub(super) fn finish(&mut self, state: &mut State) -> Result<(), Halt> {
        while self.step(state)?.is_continue() {}
        Ok(())
    }

    /// Runs one bundle. Returns `Break` if the bundle exits.
    pub(super) fn step(&mut self, state: &mut State) -> Result<ControlFlow<()>, Halt> {
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

    /// Returns the number of the bundle that follows the delay slot of a jump. `at` is the bundle
    /// of the jump, and `next` is the delay slot.
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
                    slot == Some(UnitSlot::Undefined(word))
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
