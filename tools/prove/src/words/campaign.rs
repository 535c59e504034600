//! Many programs, by number.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;

use halfbyte_abi::Target;

use super::{Argument, Case, Difference, Draws, Outcome, Trial};
use crate::prove::Shard;

/// What is run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the programs depend on.
    pub seed: u64,
    /// The programs of each machine, by number.
    pub programs: Range<u64>,
    /// Which part of them.
    pub shard: Shard,
    /// The machines.
    pub targets: Vec<Target>,
    /// How many threads run programs.
    pub threads: NonZero<usize>,
    /// Differences after which no more programs are begun.
    pub enough: usize,
}

/// What came of the programs that are done.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The programs.
    pub programs: u64,
    /// Those whose items all ran to their end.
    pub done: u64,
    /// Those with an item that trapped.
    pub trapped: u64,
    /// What engines do not agree on, by machine and number.
    pub findings: Vec<Finding>,
}

/// A program that engines do not agree on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The machine.
    pub target: Target,
    /// Its number.
    pub number: u64,
    /// What differs.
    pub difference: Difference,
    /// The least of it that differs, as assembly, with the launch.
    pub text: String,
}

/// Runs a shard of the programs. `watch` is told now and then how far the work is.
///
/// # Errors
/// If the system gives no threads.
pub fn run(plan: &Plan, watch: &mut dyn FnMut(&Summary)) -> Result<Summary, String> {
    let next = AtomicU64::new(plan.programs.start + plan.shard.index() as u64 - 1);
    let found = AtomicUsize::new(0);
    let trials: Vec<Trial> = (0..plan.threads.get()).map_while(|_| Trial::new()).collect();
    if trials.is_empty() {
        return Err("the system gives no threads".to_owned());
    }
    let mut summary = Summary::default();
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for trial in trials {
            let (sender, next, found) = (sender.clone(), &next, &found);
            scope.spawn(move || {
                while found.load(Ordering::Relaxed) < plan.enough {
                    let number = next.fetch_add(plan.shard.count() as u64, Ordering::Relaxed);
                    if number >= plan.programs.end {
                        break;
                    }
                    for &target in &plan.targets {
                        let Some(outcome) = one(plan.seed, target, number, &trial) else { continue };
                        found.fetch_add(usize::from(outcome.is_err()), Ordering::Relaxed);
                        // The receiver outlives all senders.
                        let _ = sender.send(outcome);
                    }
                }
            });
        }
        drop(sender);
        for outcome in results {
            summary.add(outcome);
            watch(&summary);
        }
    });
    summary.findings.sort_by_key(|finding| (finding.target.name(), finding.number));
    Ok(summary)
}

/// Runs the program of a number.
fn one(seed: u64, target: Target, number: u64, trial: &Trial) -> Option<Result<Outcome, Box<Finding>>> {
    let case = Case::draw(target, &mut Draws::of_seed(seed, number))?;
    Some(trial.run(&case).map_err(|difference| {
        let least = trial.reduce(&case);
        let difference = trial.run(&least).err().unwrap_or(difference);
        let text = format!("; Program {number} of seed {seed}: {}\n{least}", difference.reason.replace('\n', "\n; "));
        Box::new(Finding { target, number, difference, text })
    }))
}

impl Summary {
    fn add(&mut self, outcome: Result<Outcome, Box<Finding>>) {
        self.programs += 1;
        match outcome {
            Ok(Outcome::Done) => self.done += 1,
            Ok(Outcome::Trapped) => self.trapped += 1,
            Ok(Outcome::Refused) => {}
            Err(finding) => self.findings.push(*finding),
        }
    }
}

/// The assembly, after comments that say how it is launched.
impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "; {} items, budget {}", self.items, self.budget)?;
        let params = self.info.signature.params().iter().zip(self.info.signature.offsets());
        for ((param, offset), arg) in params.zip(&self.args) {
            match arg {
                Argument::Scalar(bits) => writeln!(f, "; {offset:#x} {}: {} = {bits:#x}", param.name, param.kind)?,
                Argument::Buffer(bytes) => {
                    writeln!(f, "; {offset:#x} {}: {} of {} bytes", param.name, param.kind, bytes.len())?;
                }
            }
        }
        f.write_str(&self.words.disassemble())?;
        Ok(())
    }
}
