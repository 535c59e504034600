//! Comparison of PTX launches on all routes, for `halfbyte random --memory` and `halfbyte corpus --mutants`.

use std::fs::create_dir_all;
use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use halfbyte_prove::prove::Shard;
use halfbyte_prove::routes::{Finding, LaunchLimits, Plan, ROUTES, Summary, Undefined, run};
use halfbyte_testkit::harness::Request;

use super::io::write;
use super::limits::LimitArgs;
use super::meter::{Meter, grouped, seconds};
use super::output::{say, summarise};
use super::{Done, Failure, Message, interrupt, silence_panics};

/// Number of differences after which the command ends.
const ENOUGH: usize = 10;

/// The launches to compare, and the options of the comparison.
pub(super) struct Comparison<'a> {
    /// The word for the launches in the summary.
    pub name: &'a str,
    /// The prefix of the names of files that are written.
    pub prefix: &'a str,
    pub seed: u64,
    /// The numbers of the launches to compare.
    pub numbers: Range<u64>,
    pub shard: Shard,
    pub threads: Option<NonZero<usize>>,
    pub limits: &'a LimitArgs,
    /// The folder for launches on which routes differ.
    pub out: PathBuf,
}

impl Comparison<'_> {
    /// Compares the launches that the closure `draw` creates from their numbers. Writes the
    /// launches on which routes differ to files, and prints the counts.
    pub(super) fn run(&self, draw: impl Fn(u64) -> Option<Request> + Sync) -> Done {
        let out = self.out.display();
        // The folder is created now, so that a long run cannot fail when it writes the first launch.
        create_dir_all(&self.out).map_err(|error| Failure::Call(format!("{out}: {error}")))?;
        silence_panics();
        let LaunchLimits { limits, cancel } = LaunchLimits::of_launch(interrupt::token());
        let patience = LaunchLimits { limits: self.limits.limits(limits), cancel };
        let threads = self.threads.or(std::thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN);
        let (numbers, shard) = (self.numbers.clone(), self.shard);
        let of = (numbers.end - numbers.start).div_ceil(shard.count() as u64);
        let plan = Plan { numbers, shard, threads, enough: ENOUGH, patience };
        let mut meter = Meter::new(Duration::ZERO);
        let start = Instant::now();
        let (mut written, mut unwritten) = (0, Ok(()));
        let summary = run(&plan, draw, &mut |summary| {
            for finding in summary.findings.iter().skip(written) {
                meter.clear();
                unwritten = std::mem::replace(&mut unwritten, Ok(())).and_then(|()| self.write(finding));
            }
            written = summary.findings.len();
            meter.show(|time| {
                let (done, all) = (grouped(summary.launches), grouped(of));
                let percent = summary.launches * 100 / of.max(1);
                format!("{percent:>3} %  {done} of {all} {} in {}; {written} differ", self.name, seconds(time))
            });
        });
        meter.clear();
        unwritten?;
        summarise(&self.report(&summary, start.elapsed()))?;
        if summary.findings.is_empty() { Ok(()) } else { Err(Failure::Input(Message::Said)) }
    }

    /// Writes a PTX text on which routes differ to a file, and its launch to another file.
    fn write(&self, finding: &Finding) -> Done {
        let path = self.out.join(format!("{}-{}-{}.ptx", self.prefix, self.seed, finding.number));
        say(&format!("error: {}: {}", path.display(), finding.reason));
        write(Some(&path), finding.text.as_bytes())?;
        write(Some(&path.with_extension("jsonl")), format!("{}\n", finding.line).as_bytes())
    }

    fn report(&self, summary: &Summary, time: Duration) -> String {
        let Summary { launches, done, trapped, refused, undefined, results, findings } = summary;
        let mut text =
            format!("{:<12} {} of seed {}, shard {}\n", self.name, grouped(*launches), self.seed, self.shard);
        text += &format!("to the end   {}\n", grouped(*done));
        text += &format!("trapping     {}\n", grouped(*trapped));
        text += &format!("refused      {}\n", grouped(*refused));
        for (reason, count) in undefined {
            let reason = match reason {
                Undefined::Limit => "over a limit",
                Undefined::Watched => "a race or another error that --races finds",
                Undefined::Order => "the result depends on the order of threads",
                Undefined::Address => "the result depends on addresses",
                Undefined::Clock => "the kernel reads a clock",
            };
            text += &format!("undefined    {}: {reason}\n", grouped(*count));
        }
        text += &format!("results      {} on {} routes\n", grouped(*results), ROUTES.len());
        text += &format!("time         {}\n", seconds(time));
        text += &format!("differences  {}\n", findings.len());
        text
    }
}
