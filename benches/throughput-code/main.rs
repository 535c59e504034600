//! Compile-time benchmark against LLVM: 2,000 functions of about 40 packed ops, from text to a
//! file, measured alternately in one run.
//!
//! `benches/throughput` installs LLVM and runs this benchmark. Each figure prints a line;
//! [`FIGURES`] contains the required ratios.
#![allow(unreachable_pub)]

mod clif;
mod functions;
mod process;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use functions::{Texts, functions};
use halfbyte::Module;
use halfbyte::pipeline::{Options, PASSES, compile_object};
use process::{Took, run};

/// The allocator of the `halfbyte` program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FUNCTIONS: usize = 2000;
/// Number of functions of the larger text.
const MANY: usize = 10 * FUNCTIONS;

/// Minimum number of rounds; [`AT_LEAST`] is the minimum duration. The minimum time of all rounds
/// counts.
const ROUNDS: usize = 5;
const AT_LEAST: Duration = Duration::from_secs(4);

/// The result of a comparison.
struct Sample {
    ours: f64,
    peer: f64,
    /// The factor by which our value is better.
    ratio: f64,
}

impl Sample {
    /// Creates a sample of values for which higher is better.
    fn more(ours: f64, peer: f64) -> Sample {
        Sample { ours, peer, ratio: ours / peer }
    }

    /// Creates a sample of values for which lower is better.
    fn less(ours: f64, peer: f64) -> Sample {
        Sample { ours, peer, ratio: peer / ours }
    }
}

/// A comparison with a peer, or with a limit.
struct Figure {
    name: &'static str,
    /// The unit of both values.
    unit: &'static str,
    peer: &'static str,
    /// The minimum ratio.
    asked: f64,
    measure: fn(&Bench) -> Result<Sample, String>,
}

/// Passes that cost compile time and improve the code: common subexpression elimination,
/// loop-invariant code motion and unrolling.
const SLOW: &[&str] = &["gvn", "licm", "unroll"];

/// Minimum Mops/s with the default passes.
const DEFAULT: f64 = 0.5;
/// Minimum Mops/s without the passes in [`SLOW`].
const PLAIN: f64 = 0.7;
/// Minimum Mops/s of parsing alone.
const READ: f64 = 2.5;
/// Maximum bytes of memory per op.
const MEMORY: f64 = 300.0;
/// Maximum factor by which the time per op may grow with the number of functions.
const GROWTH: f64 = 1.2;

#[rustfmt::skip]
const FIGURES: &[Figure] = &[
    Figure { name: "compile",         unit: "Mops/s", peer: "llc-19", asked: 50.0,         measure: Bench::against_llvm },
    Figure { name: "cranelift",       unit: "Mops/s", peer: "cranelift", asked: 3.0,       measure: Bench::against_cranelift },
    Figure { name: "cores",           unit: "Mops/s", peer: "programs", asked: 0.9,        measure: Bench::cores },
    Figure { name: "compile_default", unit: "Mops/s", peer: "limit",  asked: 1.0,          measure: |b| b.speed(&[], DEFAULT) },
    Figure { name: "compile_plain",   unit: "Mops/s", peer: "limit",  asked: 1.0,          measure: |b| b.speed(SLOW, PLAIN) },
    Figure { name: "read",            unit: "Mops/s", peer: "limit",  asked: 1.0,          measure: Bench::read },
    Figure { name: "memory",          unit: "B/op",   peer: "limit",  asked: 1.0,          measure: Bench::memory },
    Figure { name: "growth",          unit: "us/op",  peer: "2000",   asked: 1.0 / GROWTH, measure: Bench::growth },
];

const HELP: &str = "\
Measures the compiler against LLVM's on the same functions, in turn in one run

Usage: benches/throughput [NAME]...

Arguments:
  [NAME]...  Only figures of these names

Options:
  -h, --help  Prints this

A line is a figure: NAME ours=VALUE UNIT peer=PEER VALUE ratio=R. The ratio is that of the speeds, so that more is better, of
times and memory too. Both compilers are run as programs on one thread, and read and write files. Times are of the processor,
the least of several runs.

  compile          2,000 functions of about 40 packed ops; ours counts our ops a second, and so does the peer
  cranelift        the same from text in memory to code there, beside Cranelift's reader and compiler (opt_level=speed, its own
                   vector types); both in this program
  cores            20,000 functions on two threads, beside two programs at once that compile as many each on one; by the clock
  compile_default  the first alone, beside what is asked
  compile_plain    the same without gvn, licm and unroll
  read             reading and verifying the text, in this program
  memory           the most that was resident, of 20,000 functions
  growth           the time an op takes of 20,000 functions, beside that of 2,000

Exit codes: 0 every figure reaches what is asked, 1 one does not, 2 it could not be measured.
";

/// The option with which the benchmark starts itself to write functions. It takes the number of
/// functions and a folder. A separate process is necessary because the memory of this process would
/// count for the peak of every child process.
const WRITE: &str = "--write";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [WRITE, count, folder] = args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return match count.parse().map_err(|_| count.to_owned()).and_then(|count| write(Path::new(folder), count)) {
            Ok(ops) => {
                println!("{ops}");
                ExitCode::SUCCESS
            }
            Err(error) => failed(&error),
        };
    }
    let mut names = Vec::new();
    for arg in args {
        match arg.as_str() {
            "--help" | "-h" => {
                print!("{HELP}");
                return ExitCode::SUCCESS;
            }
            // Cargo passes this option to every benchmark.
            "--bench" => {}
            _ => names.push(arg),
        }
    }
    if let Some(name) = names.iter().find(|name| !FIGURES.iter().any(|figure| figure.name == name.as_str())) {
        return failed(&format!("no figure has the name `{name}`; see --help"));
    }
    match Bench::new().and_then(|bench| figures(&bench, &names)) {
        Ok(code) => code,
        Err(error) => failed(&error),
    }
}

fn failed(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}

fn figures(bench: &Bench, names: &[String]) -> Result<ExitCode, String> {
    println!("functions ours={FUNCTIONS} of {:.1} ops", bench.few.ops / FUNCTIONS as f64);
    let mut missed = Vec::new();
    for Figure { name, unit, peer, asked, measure } in FIGURES {
        if !names.is_empty() && !names.iter().any(|wanted| wanted == name) {
            continue;
        }
        let Sample { ours, peer: value, ratio } = measure(bench).map_err(|error| format!("{name}: {error}"))?;
        println!("{name} ours={ours:.3} {unit} peer={peer} {value:.3} ratio={ratio:.2}");
        if ratio < *asked {
            missed.push(format!("{name} has ratio {ratio:.2}; asked are {asked:.2}"));
        }
    }
    missed.iter().for_each(|missed| println!("{missed}"));
    Ok(if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the paths of the files with `count` functions in a folder.
fn files(folder: &Path, count: usize) -> [PathBuf; 2] {
    ["hb", "ll"].map(|extension| folder.join(format!("functions-{count}.{extension}")))
}

/// Writes the files with `count` functions, and returns the number of ops.
fn write(folder: &Path, count: usize) -> Result<usize, String> {
    let Texts { ours, llvm } = functions(count);
    for (path, text) in files(folder, count).iter().zip([&ours, &llvm]) {
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let module = Module::parse(&ours).map_err(|errors| errors.to_string())?;
    let blocks = module.ir().kernels.iter().flat_map(|kernel| kernel.layout.iter().map(|&block| &kernel.blocks[block]));
    Ok(blocks.map(|block| block.insts.len()).sum())
}

/// Files with functions, and the number of their ops.
struct Input {
    ops: f64,
    ours: PathBuf,
    llvm: PathBuf,
}

impl Input {
    fn new(folder: &Path, count: usize) -> Result<Input, String> {
        let bench = std::env::current_exe().map_err(|error| error.to_string())?;
        let written = Command::new(bench).args([WRITE, &count.to_string()]).arg(folder).output();
        let written = written.map_err(|error| error.to_string())?;
        let ops = String::from_utf8_lossy(&written.stdout).trim().parse();
        let ops = ops.map_err(|_| String::from_utf8_lossy(&written.stderr).trim().to_owned())?;
        let [ours, llvm] = files(folder, count);
        Ok(Input { ours, llvm, ops })
    }
}

/// The context of all measurements.
struct Bench {
    /// The folder with the files, which is deleted on drop.
    folder: tempfile::TempDir,
    few: Input,
    many: Input,
}

impl Bench {
    fn new() -> Result<Bench, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let [few, many] = [FUNCTIONS, MANY].map(|count| Input::new(folder.path(), count));
        Ok(Bench { few: few?, many: many?, folder })
    }

    fn ours(&self, input: &Input, without: &[&str]) -> Result<Took, String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halfbyte"));
        command
            .args(["compile", "--threads", "1", "--target", "halu", "--emit", "obj", "-o"])
            .arg(self.folder.path().join("out.o"));
        let passes: Vec<&str> = PASSES.iter().copied().filter(|pass| !without.contains(pass)).collect();
        run(command.arg("--passes").arg(passes.join(",")).arg(&input.ours))
    }

    fn llvm(&self, input: &Input) -> Result<Took, String> {
        let mut command = Command::new("llc-19");
        command.args(["-march=nvptx64", "-mcpu=sm_90", "-O2", "-o"]).arg(self.folder.path().join("out.ptx"));
        run(command.arg(&input.llvm))
    }

    fn against_llvm(&self) -> Result<Sample, String> {
        let [ours, peer] = least(|| Ok([self.ours(&self.few, &[])?.seconds, self.llvm(&self.few)?.seconds]))?;
        Ok(Sample::more(self.few.ops / 1e6 / ours, self.few.ops / 1e6 / peer))
    }

    fn against_cranelift(&self) -> Result<Sample, String> {
        let text = std::fs::read_to_string(&self.few.ours).map_err(|error| error.to_string())?;
        let (theirs, isa) = (clif::clif(&text)?, clif::isa()?);
        let options = Options::new(halfbyte::HALU);
        let [ours, peer] = least(|| {
            let ours = timed(|| {
                compile_object("functions.hb", &text, &options, &mut |_| {}).map_err(|error| error.to_string())
            })?;
            Ok([ours, timed(|| clif::compile(&theirs, &isa))?])
        })?;
        Ok(Sample::more(self.few.ops / 1e6 / ours, self.few.ops / 1e6 / peer))
    }

    /// Compares one process on two threads with two processes on one thread each.
    fn cores(&self) -> Result<Sample, String> {
        let start = |threads: &str, object: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_halfbyte"));
            command.args(["compile", "--target", "halu", "--emit", "obj", "--threads", threads, "-o"]);
            command.arg(self.folder.path().join(object)).arg(&self.many.ours);
            command.spawn().map_err(|error| error.to_string())
        };
        let wait = |mut child: Child| match child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("halfbyte ends with {status}")),
            Err(error) => Err(error.to_string()),
        };
        let [ours, peer] = least(|| {
            let ours = timed(|| wait(start("2", "out.o")?))?;
            let peer = timed(|| {
                let both = [start("1", "first.o")?, start("1", "second.o")?];
                both.into_iter().try_for_each(wait)
            })?;
            Ok([ours, peer / 2.0])
        })?;
        Ok(Sample::more(self.many.ops / 1e6 / ours, self.many.ops / 1e6 / peer))
    }

    fn speed(&self, without: &[&str], limit: f64) -> Result<Sample, String> {
        let [seconds] = least(|| Ok([self.ours(&self.few, without)?.seconds]))?;
        Ok(Sample::more(self.few.ops / 1e6 / seconds, limit))
    }

    fn read(&self) -> Result<Sample, String> {
        let text = std::fs::read_to_string(&self.few.ours).map_err(|error| error.to_string())?;
        let [seconds] = least(|| Ok([timed(|| Module::parse(&text).map_err(|errors| errors.to_string()))?]))?;
        Ok(Sample::more(self.few.ops / 1e6 / seconds, READ))
    }

    fn memory(&self) -> Result<Sample, String> {
        let took = self.ours(&self.many, &[])?;
        Ok(Sample::less(took.bytes / self.many.ops, MEMORY))
    }

    fn growth(&self) -> Result<Sample, String> {
        let [many, few] = least(|| Ok([self.ours(&self.many, &[])?.seconds, self.ours(&self.few, &[])?.seconds]))?;
        Ok(Sample::less(many / self.many.ops * 1e6, few / self.few.ops * 1e6))
    }
}

/// Returns the wall-clock time of `work` in seconds, without the time to drop the result.
fn timed<T>(work: impl FnOnce() -> Result<T, String>) -> Result<f64, String> {
    let start = Instant::now();
    let made = work()?;
    let seconds = start.elapsed().as_secs_f64();
    drop(std::hint::black_box(made));
    Ok(seconds)
}

/// Returns the minimum time of each side over several rounds, in which the sides alternate.
fn least<const SIDES: usize>(round: impl Fn() -> Result<[f64; SIDES], String>) -> Result<[f64; SIDES], String> {
    let mut least = [f64::INFINITY; SIDES];
    let (start, mut rounds) = (Instant::now(), 0);
    while rounds < ROUNDS || start.elapsed() < AT_LEAST {
        least.iter_mut().zip(round()?).for_each(|(least, seconds)| *least = seconds.min(*least));
        rounds += 1;
    }
    Ok(least)
}
