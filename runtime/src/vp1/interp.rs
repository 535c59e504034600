//! The interpreter: bundle after bundle, from the first to an exit.

use halfbyte_isa::stream::Tiles;
use halfbyte_isa::vp1::bundle::LINE;
use halfbyte_isa::vp1::domain::{Jump, Next, Target, Unknown};
use halfbyte_isa::vp1::state::State;
use halfbyte_isa::vp1::{Bundle, Slot, Unit, bundles};

use crate::trap::{Fault, TrapKind};

/// Calls within each other that are possible. No document says how many the machine has.
const MAX_CALLS: usize = 16;

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

    fn get(&self, number: usize) -> Option<&(u32, Bundle)> {
        self.bundles.get(number)
    }

    /// The address of a bundle, or where the next one would be.
    fn address(&self, number: usize) -> u32 {
        self.get(number).map_or(self.words, |(address, _)| *address)
    }

    /// The address of a unit's word in a bundle.
    fn address_of(&self, number: usize, unit: Unit) -> u32 {
        let before =
            |bundle: &Bundle| Unit::ALL.iter().filter(|&&u| u < unit && *bundle.slot(u) != Slot::Empty).count();
        self.address(number) + self.get(number).map_or(0, |(_, bundle)| before(bundle) as u32)
    }

    /// The bundle that begins a line.
    fn line(&self, line: i64) -> Result<usize, TrapKind> {
        let inside = usize::try_from(line).ok().and_then(|line| self.lines.get(line));
        let outside = TrapKind::BranchOutside { target: line * i64::from(LINE), words: self.words };
        inside.map(|&number| number as usize).ok_or(outside)
    }
}

/// A run of a program over a tile.
pub(super) struct Run<'a> {
    program: &'a Bundles,
    group_branch: Option<u32>,
    /// Groups of the tile.
    groups: u32,
    /// How often the branch to the next group was taken, and the budget begun anew: at most once a group.
    done: u32,
    /// Backward branches that a group may take.
    budget: u64,
    /// Backward branches that this one took.
    taken: u64,
    /// Return addresses, as numbers of bundles.
    calls: Vec<usize>,
    /// Bundles executed.
    pub issued: u64,
    /// Backward branches taken, of all groups.
    pub backward: u64,
}

impl<'a> Run<'a> {
    pub fn new(program: &'a Bundles, tiles: &Tiles, groups: u32, budget: u64) -> Run<'a> {
        Run {
            program,
            group_branch: tiles.group_branch,
            groups,
            done: 0,
            budget,
            taken: 0,
            calls: Vec::new(),
            issued: 0,
            backward: 0,
        }
    }

    /// The group that runs, from 0.
    pub fn group(&self) -> u32 {
        self.done.min(self.groups.saturating_sub(1))
    }

    /// Runs from the first bundle to an exit, whatever its code.
    pub fn finish(&mut self, state: &mut State) -> Result<(), Fault> {
        let program = self.program;
        // The bundle that runs, and the one after it: what a jump changes is where control goes from there.
        let (mut at, mut next) = (0, 1);
        let mut last = 0;
        loop {
            let Some((_, bundle)) = program.get(at) else {
                let address = program.address(last + 1).saturating_sub(1);
                return Err(Fault { address: address as usize, kind: TrapKind::RanPastEnd });
            };
            self.issued += 1;
            let then = match state.step(bundle, |_| {}) {
                Next::Fall | Next::Jump { taken: Some(0), .. } => next + 1,
                Next::Exit { .. } => return Ok(()),
                Next::Trap(unknown) => return Err(self.unknown(at, unknown)),
                jump => self.jump(at, next, jump).map_err(|kind| self.fault(at, Unit::Branch, kind))?,
            };
            last = at;
            (at, next) = (next, then);
        }
    }

    /// Where a taken jump of bundle `at` leads from bundle `next`, its delay slot.
    fn jump(&mut self, at: usize, next: usize, jump: Next<u32>) -> Result<usize, TrapKind> {
        let branch = self.program.address_of(at, Unit::Branch);
        let to = match jump {
            Next::Jump { kind, target, .. } => {
                let line = match target {
                    Target::Relative(lines) => i64::from(branch / LINE) + i64::from(lines),
                    Target::Absolute(line) => line.into(),
                };
                let to = self.program.line(line)?;
                if kind == Jump::Call {
                    if self.calls.len() == MAX_CALLS {
                        return Err(TrapKind::CallDepth { limit: MAX_CALLS as u32 });
                    }
                    self.calls.push(next + 1);
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
