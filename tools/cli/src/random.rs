//! `halfbyte random`

use std::fs::create_dir_all;
use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use halfbyte::Target;
use halfbyte::abi::Form;
use halfbyte::abi::Limits;
use halfbyte::ir::generate::Meets;
use halfbyte::launch::Engine;
use halfbyte_prove::campaign::{Difference, Mix, Plan, Summary, Targets, run};
use halfbyte_prove::prove::Shard;
use halfbyte_prove::routes::memory_kernel;
use halfbyte_prove::words::{self, Case, Draws};

use super::io::{print, write};
use super::limits::LimitArgs;
use super::meter::{Meter, grouped, seconds};
use super::output::{say, summarize};
use super::routes::Comparison;
use super::{Done, EngineName, Failure, Message, SmArgs, interrupt, silence_panics};

/// What runs random kernels.
#[derive(Clone, Copy)]
enum Runner {
    Engine(EngineName),
    /// The functions that objects have of them.
    #[cfg_attr(not(feature = "aot"), allow(dead_code))]
    Ahead,
}

/// Kernels that there are: threads count on after the last one.
const MOST: u64 = 1 << 63;

/// The name of [`Runner::Ahead`].
const AHEAD: &str = "aot";

impl ValueEnum for Runner {
    fn value_variants<'a>() -> &'a [Runner] {
        const ALL: &[Runner] = &[
            Runner::Engine(EngineName::Interp),
            Runner::Engine(EngineName::Jit),
            Runner::Engine(EngineName::Cuda),
            #[cfg(feature = "aot")]
            Runner::Ahead,
        ];
        ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Runner::Engine(engine) => engine.to_possible_value(),
            Runner::Ahead => {
                let help = "Native code as an object has it, of HALU's words and PTX";
                Some(PossibleValue::new(AHEAD).help(help))
            }
        }
    }
}

/// Differences after which no more kernels are run.
const ENOUGH: usize = 10;

/// Runs random kernels, and compares the evaluator with every target and every engine
///
/// Kernels are well formed and free of races; some items of some trap. A target may refuse a kernel: how many each accepts is
/// said at the end. Memory must be the same bit for bit, and traps the same in item, kind, place and line. A kernel for
/// which they are not is shrunk and written to a file of its own, with a run line for `check`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Random {
    /// What the kernels depend on
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The number of kernels
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: u64,
    /// The number of the first kernel
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// Run one of n equal parts
    #[arg(long, value_name = "k/n", default_value_t = Shard::WHOLE)]
    shard: Shard,
    /// One target, not every target there is
    #[arg(long, value_parser = super::target_name())]
    target: Option<Target>,
    #[command(flatten)]
    sm: SmArgs,
    /// One engine, not every engine there is
    #[arg(long, value_enum)]
    engine: Option<Runner>,
    /// Threads; as many as there are processors if not given
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
    /// The folder for kernels that fail; it is made if there is none
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
    /// Print the kernels, and do not run them
    #[arg(long)]
    print: bool,
    /// Draw only kernels whose items meet; one in eight does else
    #[arg(long, conflicts_with = "words")]
    meets: bool,
    /// Draw kernels that race, and ask whether the evaluator finds it in each launch; they are not run otherwise
    #[arg(long, conflicts_with_all = ["words", "meets", "target", "engine"])]
    races: bool,
    /// Run random machine code of HALU and VP1 instead of kernels
    ///
    /// The interpreter is compared with native code, on one thread and on several.
    #[arg(long, conflicts_with = "engine")]
    words: bool,
    /// Run random kernels in PTX that access memory, on every route of PTX
    ///
    /// Direct execution by the interpreter and by native code, the import on the evaluator and as HALU's machine code, native
    /// objects and recompiled PTX are compared. A kernel on which they differ is written as NAME.ptx, and its launch as
    /// NAME.jsonl for `halfbyte launch --json` and `halfbyte corpus`.
    #[arg(long, conflicts_with_all = ["words", "meets", "races", "target", "engine"])]
    memory: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte random --count 10000 --seed 7
  halfbyte random --seed 7 --first 1234 --count 1
  halfbyte random --words --target vp1
  halfbyte random --meets --target ptx --count 500
  halfbyte random --engine aot --target halu --count 2000
  halfbyte random --races --count 500
  halfbyte random --memory --count 20000 --shard 1/2
  halfbyte random --print --count 3";

impl Random {
    /// Whether items meet, where the call says.
    fn kinds(&self) -> Option<Meets> {
        match (self.races, self.meets) {
            (true, _) => Some(Meets::Racing),
            (false, true) => Some(Meets::Ordered),
            (false, false) => None,
        }
    }

    pub(super) fn run(self) -> Done {
        if self.words {
            return self.run_words();
        }
        if self.memory {
            return self.run_memory();
        }
        let kernels = self.numbers()?;
        if self.print {
            let targets = Targets::new();
            let mut mix = Mix::new(&targets);
            let numbers = kernels.skip(self.shard.index() - 1).step_by(self.shard.count());
            return numbers
                .map(|number| mix.draw(self.seed, number, self.kinds()).0)
                .try_for_each(|text| print(text.as_bytes()));
        }
        let plan = Plan {
            seed: self.seed,
            kernels,
            shard: self.shard,
            targets: self.sm.targets(self.target)?,
            engines: match self.engine {
                Some(Runner::Engine(engine)) => vec![engine.engine()],
                Some(Runner::Ahead) => Vec::new(),
                None => Engine::ALL.to_vec(),
            },
            ahead: self.engine.is_some_and(|engine| matches!(engine, Runner::Ahead)),
            threads: self.threads(),
            enough: ENOUGH,
            meets: self.kinds(),
            limits: self.limits.limits(Limits::generous()),
            cancel: interrupt::token(),
        };
        let missing =
            |engine| if let Runner::Engine(engine) = engine { EngineName::missing(engine, &self.sm) } else { None };
        if let Some(reason) = self.engine.and_then(missing) {
            return print(format!("skipped: {reason}\n").as_bytes());
        }
        // A difference that cannot be written would end a long run.
        let out = self.out.display();
        create_dir_all(&self.out).map_err(|error| Failure::Call(format!("{out}: {error}")))?;
        silence_panics();
        let of = self.count.div_ceil(self.shard.count() as u64);
        let mut meter = Meter::new(Duration::ZERO);
        let start = Instant::now();
        let (mut written, mut unwritten) = (0, Ok(()));
        let summary = run(&plan, &mut |summary| {
            for difference in summary.differences.iter().skip(written) {
                meter.clear();
                unwritten = std::mem::replace(&mut unwritten, Ok(())).and_then(|()| self.write(difference));
            }
            written = summary.differences.len();
            meter.show(|time| {
                let (done, all) = (grouped(summary.kernels), grouped(of));
                let percent = summary.kernels * 100 / of.max(1);
                format!("{percent:>3} %  {done} of {all} kernels in {}; {written} fail", seconds(time))
            });
        });
        meter.clear();
        unwritten?;
        summarize(&report(&plan, &summary, start.elapsed()))?;
        if summary.differences.is_empty() { Ok(()) } else { Err(Failure::Input(Message::Said)) }
    }
}

impl Random {
    fn numbers(&self) -> Result<Range<u64>, Failure> {
        let end = self.first.checked_add(self.count).filter(|&end| end <= MOST);
        let beyond = || Failure::Call("the numbers of kernels are below 2^63: give a lower --first or --count".into());
        Ok(self.first..end.ok_or_else(beyond)?)
    }

    fn threads(&self) -> NonZero<usize> {
        self.threads.or(std::thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN)
    }

    fn run_memory(&self) -> Done {
        let numbers = self.numbers()?;
        if self.print {
            let mut numbers = numbers.skip(self.shard.index() - 1).step_by(self.shard.count());
            return numbers.try_for_each(|number| print(memory_kernel(self.seed, number).text.as_bytes()));
        }
        let comparison = Comparison {
            name: "kernels",
            prefix: "memory",
            seed: self.seed,
            numbers,
            shard: self.shard,
            threads: self.threads,
            limits: &self.limits,
            out: self.out.clone(),
        };
        comparison.run(|number| Some(memory_kernel(self.seed, number)))
    }

    fn run_words(&self) -> Done {
        let machines = |target: &Target| target.form() != Form::Text;
        let targets: Vec<Target> = self.sm.targets(self.target)?.into_iter().filter(machines).collect();
        if targets.is_empty() {
            return Err(Failure::Call("--words: only HALU and VP1 have words".to_owned()));
        }
        let programs = self.numbers()?;
        if self.print {
            let numbers = programs.skip(self.shard.index() - 1).step_by(self.shard.count());
            let cases = numbers.flat_map(|number| targets.iter().map(move |&target| (number, target)));
            return cases
                .filter_map(|(number, target)| Case::draw(target, &mut Draws::of_seed(self.seed, number)))
                .try_for_each(|case| print(case.to_string().as_bytes()));
        }
        let (seed, shard, threads) = (self.seed, self.shard, self.threads());
        let plan = words::Plan { seed, programs, shard, targets, threads, enough: ENOUGH };
        let out = self.out.display();
        create_dir_all(&self.out).map_err(|error| Failure::Call(format!("{out}: {error}")))?;
        silence_panics();
        let of = self.count.div_ceil(shard.count() as u64) * plan.targets.len() as u64;
        let mut meter = Meter::new(Duration::ZERO);
        let start = Instant::now();
        let (mut written, mut unwritten) = (0, Ok(()));
        let summary = words::run(&plan, &mut |summary| {
            for finding in summary.findings.iter().skip(written) {
                meter.clear();
                unwritten = std::mem::replace(&mut unwritten, Ok(())).and_then(|()| self.write_words(finding));
            }
            written = summary.findings.len();
            meter.show(|time| {
                let (done, all) = (grouped(summary.programs), grouped(of));
                let percent = summary.programs * 100 / of.max(1);
                format!("{percent:>3} %  {done} of {all} programs in {}; {written} differ", seconds(time))
            });
        });
        let summary = summary.map_err(Failure::Call)?;
        meter.clear();
        unwritten?;
        let names: Vec<&str> = plan.targets.iter().map(|target| target.name()).collect();
        let mut text = format!("programs     {} of seed {seed}, shard {shard}\n", grouped(summary.programs));
        text += &format!("machines     {}\n", names.join(", "));
        text += &format!("to the end   {}\n", grouped(summary.done));
        text += &format!("trapping     {}\n", grouped(summary.trapped));
        text += &format!("time         {}\n", seconds(start.elapsed()));
        text += &format!("differences  {}\n", summary.findings.len());
        summarize(&text)?;
        if summary.findings.is_empty() { Ok(()) } else { Err(Failure::Input(Message::Said)) }
    }

    /// Writes a program that engines do not agree on to a file of its own.
    fn write_words(&self, finding: &words::Finding) -> Done {
        let name = format!("random-{}-{}-{}.s", finding.target.name(), self.seed, finding.number);
        let path = self.out.join(name);
        say(&format!("error: {}: {}", path.display(), finding.difference));
        write(Some(&path), finding.text.as_bytes())
    }

    /// Writes a kernel that fails to a file of its own.
    fn write(&self, difference: &Difference) -> Done {
        let path = self.out.join(format!("random-{}-{}.hb", self.seed, difference.number));
        say(&format!("error: {}: {}", path.display(), difference.reason));
        write(Some(&path), difference.file.as_bytes())
    }
}

fn report(plan: &Plan, summary: &Summary, time: Duration) -> String {
    let Summary { kernels, trapping, accepted, launches, exceeded, differences } = summary;
    let share = |part: u64| format!("{} ({:.1} %)", grouped(part), part as f64 * 100.0 / (*kernels).max(1) as f64);
    let mut text = format!("kernels      {} of seed {}, shard {}\n", grouped(*kernels), plan.seed, plan.shard);
    for (target, accepted) in plan.targets.iter().zip(accepted) {
        text += &format!("on {:<9} {}\n", target.name(), share(*accepted));
    }
    let ahead = plan.ahead.then_some(AHEAD);
    let engines: Vec<&str> = plan.engines.iter().map(|engine| engine.name()).chain(ahead).collect();
    text += &format!("trapping     {}\n", share(*trapping));
    text += &format!("launches     {} on {}\n", grouped(*launches), engines.join(", "));
    if *exceeded > 0 {
        text += &format!("over a limit {}\n", share(*exceeded));
    }
    text += &format!("time         {}\n", seconds(time));
    text += &format!("differences  {}\n", differences.len());
    text
}
