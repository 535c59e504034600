//! Proof by running: every translation rule executed on both sides, and the half arithmetic of the instructions and of the
//! engine against rustc_apfloat.
//!
//! What is to be proved is a list of [`Subject`]s, each cut into pieces that can be run in any order, on any thread and in
//! any shard. What a piece runs depends on its number and the seed alone.

mod approx;
mod assembly;
mod bundles;
mod engine;
mod halves;
mod instruction;
mod oracle;
mod rules;
mod selectors;
mod video;

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use halfbyte_ir::witness::Random;
use halfbyte_lower::RuleBook;

pub use video::check_sequence;

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// A sample, enough to notice most mistakes in a minute.
    Sample,
    /// Two million cases a rule; all pairs and 500 million triples of the half arithmetic.
    Full,
}

impl Effort {
    /// One of two amounts.
    fn choose<T>(self, sample: T, full: T) -> T {
        match self {
            Effort::Sample => sample,
            Effort::Full => full,
        }
    }
}

/// What does not hold, in a form that can be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The subject: its name, and for a rule file and line.
    pub subject: String,
    /// What is wrong.
    pub reason: String,
    /// What shows it again.
    pub reproduction: Reproduction,
}

/// What shows a difference again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reproduction {
    /// Nothing that can be run.
    None,
    /// A kernel file, with a run line for `check` where a launch shows it.
    Kernel(String),
    /// A line of JSON: for `step --target halu`, or with words.
    Line(String),
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.subject, self.reason)?;
        match &self.reproduction {
            Reproduction::None => Ok(()),
            Reproduction::Kernel(text) | Reproduction::Line(text) => write!(f, "\n{text}"),
        }
    }
}

impl std::error::Error for Counterexample {}

/// The cases of a piece that was run, or the first that fails.
type Outcome = Result<u64, Box<Counterexample>>;

/// Runs a piece, given its number, with random numbers of its own.
type Run = dyn Fn(usize, &mut Random) -> Outcome + Send + Sync;

/// Something to be proved.
pub struct Subject {
    /// What it is a part of: the rules of a target, the half arithmetic, the engine, the assembly.
    pub part: &'static str,
    /// Whether it is a rule, of which a part has many.
    pub is_rule: bool,
    /// Its name, unique.
    pub name: String,
    /// How many variants it has: witness kernels, combinations of modifiers, opcodes.
    pub instances: usize,
    /// Whether this computer cannot run what it is about, so that it has no cases.
    pub is_absent: bool,
    pieces: usize,
    run: Box<Run>,
}

impl Subject {
    /// A subject of so many instances in so many pieces, of which `run` runs one.
    fn new(
        part: &'static str,
        name: impl Into<String>,
        (instances, pieces): (usize, usize),
        run: impl Fn(usize, &mut Random) -> Outcome + Send + Sync + 'static,
    ) -> Subject {
        Subject { part, is_rule: false, name: name.into(), instances, is_absent: false, pieces, run: Box::new(run) }
    }

    /// A subject that this computer cannot run.
    fn absent(part: &'static str, name: String, instances: usize) -> Subject {
        Subject { is_absent: true, ..Subject::new(part, name, (instances, 0), |_, _| Ok(0)) }
    }

    /// Runs all of it and counts the cases.
    ///
    /// # Errors
    /// The first case that fails.
    pub fn prove(&self, seed: u64) -> Outcome {
        (0..self.pieces).map(|piece| self.run_piece(piece, seed)).sum()
    }

    fn run_piece(&self, piece: usize, seed: u64) -> Outcome {
        // FNV-1a of the name, so that what a subject runs does not depend on which others there are.
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let name = self.name.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
        let mut random = Random(Random(seed ^ name).bits() ^ piece as u64);
        let start = random.bits();
        (self.run)(piece, &mut Random(start))
    }
}

/// Everything there is to prove.
pub fn subjects(effort: Effort) -> Vec<Subject> {
    let mut subjects = rules::subjects(effort);
    subjects.extend(halves::subjects(effort));
    subjects.extend(approx::subjects(effort));
    subjects.extend(engine::subjects(effort));
    subjects.extend(selectors::subjects());
    subjects.extend(video::subjects(effort));
    subjects.extend(assembly::subjects(effort));
    subjects.extend(bundles::subjects(effort));
    subjects
}

/// The rules of a book that someone adds to those of the passes: each is to be proved by its checks, as ours are,
/// by [`prove`] or one by one ([`Subject::prove`]).
pub fn rule_book(book: &'static dyn RuleBook, effort: Effort) -> Vec<Subject> {
    rules::of_book(book, effort)
}

/// One of several equal parts of the work: `k/n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// All of it.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    /// Which part, from 1.
    pub const fn index(self) -> usize {
        self.index
    }

    /// How many parts there are.
    pub const fn count(self) -> usize {
        self.count
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
        match parts {
            Some((index, count)) if 1 <= index && index <= count => Ok(Shard { index, count }),
            _ => Err("expected k/n with 1 <= k <= n, such as 1/4".to_owned()),
        }
    }
}

/// What is run, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Which pieces of the subjects.
    pub shard: Shard,
    /// What random cases depend on.
    pub seed: u64,
    /// How many threads run pieces.
    pub threads: usize,
}

/// How far the work is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress<'a> {
    /// Pieces that are done.
    pub done: usize,
    /// Pieces of this shard.
    pub pieces: usize,
    /// Cases run so far.
    pub cases: u64,
    /// The subject of the piece just done.
    pub subject: &'a str,
}

/// What came of a subject.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Finding {
    /// Cases run.
    pub cases: u64,
    /// Time spent, added over all threads.
    pub time: Duration,
    /// Of the failures found the one of the first piece. Pieces that begin after a failure are left out.
    pub failure: Option<Box<Counterexample>>,
}

/// Runs a shard of the subjects, with a finding for each. `watch` is told after every piece.
pub fn prove(subjects: &[Subject], plan: Plan, watch: &mut dyn FnMut(&Progress<'_>)) -> Vec<Finding> {
    let pieces = subjects.iter().enumerate().flat_map(|(subject, s)| (0..s.pieces).map(move |piece| (subject, piece)));
    let pieces: Vec<(usize, usize)> = pieces.skip(plan.shard.index - 1).step_by(plan.shard.count).collect();
    let failed: Vec<AtomicBool> = subjects.iter().map(|_| AtomicBool::new(false)).collect();
    let mut findings = vec![Finding::default(); subjects.len()];
    let mut first_failed = vec![usize::MAX; subjects.len()];
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..plan.threads.max(1) {
            let sender = sender.clone();
            let (pieces, next, failed) = (&pieces, &next, &failed);
            scope.spawn(move || {
                while let Some(&(subject, piece)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let outcome = match failed[subject].load(Ordering::Relaxed) {
                        true => Ok(0),
                        false => subjects[subject].run_piece(piece, plan.seed),
                    };
                    failed[subject].fetch_or(outcome.is_err(), Ordering::Relaxed);
                    // The receiver outlives all senders.
                    let _ = sender.send((subject, piece, start.elapsed(), outcome));
                }
            });
        }
        drop(sender);
        let mut progress = Progress { done: 0, pieces: pieces.len(), cases: 0, subject: "" };
        for (subject, piece, time, outcome) in results {
            let finding = &mut findings[subject];
            finding.time += time;
            match outcome {
                Ok(cases) => {
                    finding.cases += cases;
                    progress.cases += cases;
                }
                Err(failure) if piece < first_failed[subject] => {
                    first_failed[subject] = piece;
                    finding.failure = Some(failure);
                }
                Err(_) => {}
            }
            progress.done += 1;
            watch(&Progress { subject: &subjects[subject].name, ..progress });
        }
    });
    findings
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn counting(pieces: usize) -> Subject {
        Subject::new("test", "counting", (1, pieces), |piece, random| Ok(piece as u64 + (random.bits() >> 40)))
    }

    #[test]
    fn shards_are_the_whole_whatever_the_threads() {
        let subjects = [counting(7), counting(4)];
        let cases = |shard: &str, threads| {
            let plan = Plan { shard: shard.parse().unwrap(), seed: 3, threads };
            prove(&subjects, plan, &mut |_| {}).iter().map(|finding| finding.cases).sum::<u64>()
        };
        let whole = subjects[0].prove(3).unwrap() + subjects[1].prove(3).unwrap();
        assert_eq!(cases("1/1", 1), whole);
        assert_eq!(cases("1/1", 3), whole);
        assert_eq!((1..=4).map(|k| cases(&format!("{k}/4"), 2)).sum::<u64>(), whole);
        assert_ne!(subjects[0].prove(4).unwrap(), subjects[0].prove(3).unwrap());
    }

    #[test]
    fn a_failure_is_found_and_named() {
        let fails = |piece: usize, _: &mut Random| match piece {
            5.. => Err(Box::new(Counterexample {
                subject: "s".to_owned(),
                reason: piece.to_string(),
                reproduction: Reproduction::None,
            })),
            _ => Ok(1),
        };
        let subjects = [Subject::new("test", "fails", (1, 9), fails), counting(2)];
        let plan = Plan { shard: Shard::WHOLE, seed: 0, threads: 1 };
        let mut pieces = 0;
        let findings = prove(&subjects, plan, &mut |progress| pieces = progress.done);
        assert_eq!((findings[0].cases, pieces), (5, 11));
        assert_eq!(findings[0].failure.as_ref().unwrap().to_string(), "s: 5");
        assert_eq!(findings[1].failure, None);
    }

    #[test]
    fn shards_are_read() {
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
        for text in ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
