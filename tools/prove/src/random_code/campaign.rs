//! Campaigns of random machine programs. Each program is drawn from the seed and its number.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;

use halfbyte_abi::Target;

use super::{Argument, Case, Difference, Draws, Outcome, Trial};
use crate::prove::Shard;

/// The configuration of a campaign.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed from which all programs are drawn.
    pub seed: u64,
    /// The numbers of the programs to run for each machine.
    pub programs: Range<u64>,
    /// The shard of the programs to run.
    pub shard: Shard,
    /// The machines for which programs are drawn.
    pub targets: Vec<Target>,
    /// The number of threads that run programs.
    pub threads: NonZero<usize>,
    /// The number of failing programs after which no further program is started.
    pub enough: usize,
}

/// The counts and failures of the programs that have finished.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// The number of programs that have finished.
    pub programs: u64,
    /// The number of programs in which all items completed.
    pub done: u64,
    /// The number of programs in which an item trapped.
    pub trapped: u64,
    /// The programs on which engines disagree, sorted by machine and number.
    pub findings: Vec<Finding>,
}

/// A program on which engines disagree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The machine for which the program was drawn.
    pub target: Target,
    /// The program's number.
    pub number: u64,
    /// The difference between the engines.
    pub difference: Difference,
    /// The assembly text of the program, reduced as far as the engines still disagree, with its launch.
    pub text: String,
}

/// Runs one shard of the programs. After each program, calls `watch` with the summary so far.
///
/// # Errors
/// Fails if the system cannot create threads.
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
                        // Sending cannot fail, because the receiver outlives all senders.
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

/// Draws and runs the program with this number.
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

/// Formats the case as assembly text, below comments that describe the launch.
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
