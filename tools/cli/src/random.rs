//! `halfbyte random`

use std::fs::create_dir_all;
use std::num::NonZero;
use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use halfbyte::Target;
use halfbyte::abi::KernelFormat;
use halfbyte::abi::Limits;
use halfbyte::ir::generate::Cooperation;
use halfbyte::launch::Engine;
use halfbyte_prove::campaign::{Difference, Mix, Plan, Summary, Targets, run};
use halfbyte_prove::prove::Shard;
use halfbyte_prove::random_code::{self, Case, Draws};
use halfbyte_prove::routes::memory_kernel;

use super::io::{print, write};
use super::limits::LimitArgs;
use super::meter::{Meter, grouped, seconds};
use super::output::{say, summarise};
use super::routes::Comparison;
use super::{Done, EngineName, Failure, Message, SmArgs, interrupt, silence_panics};

/// Engine or native object by which random kernels are executed.
#[derive(Clone, Copy)]
enum Runner {
    Engine(EngineName),
    /// Native objects, whose functions are called in this process.
    #[cfg_attr(not(feature = "aot"), allow(dead_code))]
    Ahead,
}

/// Exclusive upper bound of kernel numbers. Each thread counts a little further, which must not overflow.
const KERNEL_NUMBER_LIMIT: u64 = 1 << 63;

/// Name of [`Runner::Ahead`].
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
                let help = "Native code of object files, from HALU machine code or PTX";
                Some(PossibleValue::new(AHEAD).help(help))
            }
        }
    }
}

/// Number of differences after which the command ends.
const MAX_DIFFERENCES: usize = 10;

/// Runs random kernels, and compares the evaluator with every target and engine
///
/// The kernels are valid and free of races; some items of some kernels trap. A target may refuse a
/// kernel; the numbers of accepted kernels are printed at the end. Memory must be the same bit for
/// bit, and traps must agree in item, kind, position and line. A kernel on which results differ is
/// reduced and written to a file of its own, with a run line for `check`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Random {
    /// Seed for the generation of the kernels
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of kernels
    #[arg(long, value_name = "N", default_value_t = 1000)]
    count: u64,
    /// Number of the first kernel
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// Run only part k of n equal parts
    #[arg(long, value_name = "k/n", default_value_t = Shard::WHOLE)]
    shard: Shard,
    /// Use only this target, instead of all targets
    #[arg(long, value_parser = super::target_name())]
    target: Option<Target>,
    #[command(flatten)]
    sm: SmArgs,
    /// Use only this engine, instead of all engines
    #[arg(long, value_enum)]
    engine: Option<Runner>,
    /// Number of threads [default: number of processors]
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
    /// Folder for kernels on which results differ; created if missing
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
    /// Print the kernels instead of running them
    #[arg(long)]
    print: bool,
    /// Generate only cooperative kernels, whose work items synchronise; by default one in eight is cooperative
    #[arg(long, conflicts_with = "words")]
    meets: bool,
    /// Generate kernels with races, and test only that the evaluator detects a race in each launch
    #[arg(long, conflicts_with_all = ["words", "meets", "target", "engine"])]
    races: bool,
    /// Run random machine code of HALU and VP1 instead of kernels
    ///
    /// The interpreter is compared with native code, on one thread and on several.
    #[arg(long, conflicts_with = "engine")]
    words: bool,
    /// Run random PTX kernels that access memory, on all routes
    ///
    /// The routes are direct execution by the interpreter and by native code, the evaluator and HALU machine code after
    /// import, native objects, and recompiled PTX. A kernel on which routes differ is written as NAME.ptx, and its
    /// launch as NAME.jsonl for `halfbyte launch --json` and `halfbyte corpus`.
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
    /// Returns the kind of cooperation that the options request; `None` for a mix of kinds.
    fn cooperation(&self) -> Option<Cooperation> {
        match (self.races, self.meets) {
            (true, _) => Some(Cooperation::Racing),
            (false, true) => Some(Cooperation::Ordered),
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
                .map(|number| mix.draw(self.seed, number, self.cooperation()).0)
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
            enough: MAX_DIFFERENCES,
            cooperation: self.cooperation(),
            limits: self.limits.limits(Limits::generous()),
            cancel: interrupt::token(),
        };
        let missing =
            |engine| if let Runner::Engine(engine) = engine { EngineName::missing(engine, &self.sm) } else { None };
        if let Some(reason) = self.engine.and_then(missing) {
            return print(format!("skipped: {reason}\n").as_bytes());
        }
        // The folder is created now, so that a long run cannot fail when it writes the first kernel.
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
        summarise(&report(&plan, &summary, start.elapsed()))?;
        if summary.differences.is_empty() { Ok(()) } else { Err(Failure::Input(Message::Said)) }
    }
}

impl Random {
    fn numbers(&self) -> Result<Range<u64>, Failure> {
        let end = self.first.checked_add(self.count).filter(|&end| end <= KERNEL_NUMBER_LIMIT);
        let beyond = || Failure::Call("kernel numbers must be less than 2^63: lower --first or --count".into());
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
        let machines = |target: &Target| target.form() != KernelFormat::Text;
        let targets: Vec<Target> = self.sm.targets(self.target)?.into_iter().filter(machines).collect();
        if targets.is_empty() {
            return Err(Failure::Call("--words generates machine code, so the target must be halu or vp1".to_owned()));
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
        let plan = random_code::Plan { seed, programs, shard, targets, threads, enough: MAX_DIFFERENCES };
        let out = self.out.display();
        create_dir_all(&self.out).map_err(|error| Failure::Call(format!("{out}: {error}")))?;
        silence_panics();
        let of = self.count.div_ceil(shard.count() as u64) * plan.targets.len() as u64;
        let mut meter = Meter::new(Duration::ZERO);
        let start = Instant::now();
        let (mut written, mut unwritten) = (0, Ok(()));
        let summary = random_code::run(&plan, &mut |summary| {
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
        summarise(&text)?;
        if summary.findings.is_empty() { Ok(()) } else { Err(Failure::Input(Message::Said)) }
    }

    /// Writes a random machine program on which engines differ to a file of its own.
    fn write_words(&self, finding: &random_code::Finding) -> Done {
        let name = format!("random-{}-{}-{}.s", finding.target.name(), self.seed, finding.number);
        let path = self.out.join(name);
        say(&format!("error: {}: {}", path.display(), finding.difference));
        write(Some(&path), finding.text.as_bytes())
    }

    /// Writes a kernel on which results differ to a file of its own.
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
