//! Tests of rules and instructions by execution. Both sides of every rule are executed and compared. The half
//! arithmetic of the instructions and of the native engine is compared with rustc_apfloat.
//!
//! The work is a list of [`Subject`]s. Each subject is divided into pieces, which can run in any order, on any thread
//! and in any shard. The cases of a piece depend only on the seed, the subject's name and the piece's number.

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

/// The amount of testing in a run of `prove`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effort {
    /// A sample that finds most mistakes within a minute.
    Sample,
    /// Two million cases per rule; all pairs and 500 million triples of the half arithmetic.
    Full,
}

impl Effort {
    /// Returns `sample` or `full`, depending on the effort.
    fn choose<T>(self, sample: T, full: T) -> T {
        match self {
            Effort::Sample => sample,
            Effort::Full => full,
        }
    }
}

/// An input on which the two sides of a claim differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The name of the subject; for a rule also the rule's file and line.
    pub subject: String,
    /// The difference between the two sides.
    pub reason: String,
    /// The input, in a form that a command of halfbyte accepts.
    pub reproduction: Reproduction,
}

/// An input that reproduces a difference with a command of halfbyte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reproduction {
    /// No command can reproduce the difference.
    None,
    /// A kernel file. If a launch shows the difference, the file has a run line for `halfbyte check`.
    Kernel(String),
    /// A JSON line: input for `halfbyte step --target halu`, or the instruction words of an instruction or a bundle.
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

/// The number of cases that a piece has checked, or its first counterexample.
type Outcome = Result<u64, Box<Counterexample>>;

/// A function that runs the piece with the given number, with its own random generator.
type Run = dyn Fn(usize, &mut Random) -> Outcome + Send + Sync;

/// A claim that is checked, such as the equality of the two sides of a rule.
pub struct Subject {
    /// The group of the subject, such as the rules of a target, the half arithmetic, the engine or the assembly.
    pub part: &'static str,
    /// `true` if the subject is a rule.
    pub is_rule: bool,
    /// The unique name of the subject.
    pub name: String,
    /// The number of variants that the subject checks: witness kernels, combinations of modifiers, or opcodes.
    pub instances: usize,
    /// `true` if this computer cannot run the subject, which then has no cases.
    pub is_absent: bool,
    pieces: usize,
    run: Box<Run>,
}

impl Subject {
    /// Creates a subject. The pair holds the numbers of variants and of pieces. The closure `run` runs one piece.
    fn new(
        part: &'static str,
        name: impl Into<String>,
        (instances, pieces): (usize, usize),
        run: impl Fn(usize, &mut Random) -> Outcome + Send + Sync + 'static,
    ) -> Subject {
        Subject { part, is_rule: false, name: name.into(), instances, is_absent: false, pieces, run: Box::new(run) }
    }

    /// Creates a subject that this computer cannot run.
    fn absent(part: &'static str, name: String, instances: usize) -> Subject {
        Subject { is_absent: true, ..Subject::new(part, name, (instances, 0), |_, _| Ok(0)) }
    }

    /// Runs all pieces of the subject on this thread. Returns the number of cases.
    ///
    /// # Errors
    /// Fails with the first counterexample.
    pub fn prove(&self, seed: u64) -> Outcome {
        (0..self.pieces).map(|piece| self.run_piece(piece, seed)).sum()
    }

    fn run_piece(&self, piece: usize, seed: u64) -> Outcome {
        // The seed of a piece includes the FNV-1a hash of the subject's name. Therefore the cases
        // of a subject do not change if other subjects are added.
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        let name = self.name.bytes().fold(0xcbf2_9ce4_8422_2325, hash);
        let mut random = Random(Random(seed ^ name).bits() ^ piece as u64);
        let start = random.bits();
        (self.run)(piece, &mut Random(start))
    }
}

/// Returns all subjects: rules, instructions, engine operations and assembly.
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

/// Returns one subject for each rule of a rule book outside of halfbyte. Run the subjects with
/// [`prove`], or one by one with [`Subject::prove`].
pub fn rule_book(book: &'static dyn RuleBook, effort: Effort) -> Vec<Subject> {
    rules::of_book(book, effort)
}

/// A shard: one of `n` equal parts of the work, written `k/n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: usize,
    count: usize,
}

impl Shard {
    /// The whole work as a single shard.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    /// Returns the number of the shard, from 1.
    pub const fn index(self) -> usize {
        self.index
    }

    /// Returns the number of shards.
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

/// The configuration of a run of `prove`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The shard of the pieces that is run.
    pub shard: Shard,
    /// The seed of the random cases.
    pub seed: u64,
    /// The number of threads that run pieces.
    pub threads: usize,
}

/// The progress of a run, reported after each piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress<'a> {
    /// The number of pieces that have finished.
    pub done: usize,
    /// The number of pieces in this shard.
    pub pieces: usize,
    /// The number of cases that have been checked so far.
    pub cases: u64,
    /// The name of the subject whose piece has just finished.
    pub subject: &'a str,
}

/// The result of checking one subject.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SubjectResult {
    /// The number of cases that were checked.
    pub cases: u64,
    /// The time spent, summed over all threads.
    pub time: Duration,
    /// The counterexample of the failing piece with the lowest number. After a failure, no further
    /// piece of the subject is started.
    pub failure: Option<Box<Counterexample>>,
}

/// Runs one shard of the subjects on several threads. Returns one result for each subject. Calls
/// `watch` after every piece.
pub fn prove(subjects: &[Subject], plan: Plan, watch: &mut dyn FnMut(&Progress<'_>)) -> Vec<SubjectResult> {
    let pieces = subjects.iter().enumerate().flat_map(|(subject, s)| (0..s.pieces).map(move |piece| (subject, piece)));
    let pieces: Vec<(usize, usize)> = pieces.skip(plan.shard.index - 1).step_by(plan.shard.count).collect();
    let failed: Vec<AtomicBool> = subjects.iter().map(|_| AtomicBool::new(false)).collect();
    let mut findings = vec![SubjectResult::default(); subjects.len()];
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
                    // Sending cannot fail, because the receiver outlives all senders.
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
    fn shards_cover_all_pieces_with_any_thread_count() {
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
