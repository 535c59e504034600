//! Compile-time benchmark against LLVM. Both compile 2,000 functions of about 40 packed ops, from
//! text to a file, and are measured alternately in one run.
//!
//! `benches/throughput` installs LLVM and runs this benchmark. Each comparison prints a line;
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
use process::{ResourceUsage, run};

/// The allocator that the program `halfbyte` uses, too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const FUNCTIONS: usize = 2000;
/// Number of functions in the larger of the two inputs.
const MANY: usize = 10 * FUNCTIONS;

/// Minimum number of rounds. The rounds also take at least [`AT_LEAST`] together. The minimum time
/// of all rounds is reported.
const ROUNDS: usize = 5;
const AT_LEAST: Duration = Duration::from_secs(4);

/// The result of a comparison of our compiler with a peer.
struct Sample {
    ours: f64,
    peer: f64,
    /// The factor by which our value is better than the peer's.
    ratio: f64,
}

impl Sample {
    /// Creates a result whose values are better if they are higher.
    fn more(ours: f64, peer: f64) -> Sample {
        Sample { ours, peer, ratio: ours / peer }
    }

    /// Creates a result whose values are better if they are lower.
    fn less(ours: f64, peer: f64) -> Sample {
        Sample { ours, peer, ratio: peer / ours }
    }
}

/// A comparison of our compiler with a peer, or with a limit.
struct Figure {
    name: &'static str,
    /// The unit of our value and of the peer's value.
    unit: &'static str,
    peer: &'static str,
    /// The minimum ratio that is accepted.
    asked: f64,
    measure: fn(&Bench) -> Result<Sample, String>,
}

/// Passes that cost compile time and improve the code: common subexpression elimination,
/// loop-invariant code motion and unrolling.
const SLOW: &[&str] = &["gvn", "licm", "unroll"];

/// Minimum speed with the default passes, in millions of ops per second.
const DEFAULT: f64 = 0.5;
/// Minimum speed without the passes in [`SLOW`], in millions of ops per second.
const PLAIN: f64 = 0.7;
/// Minimum speed of parsing alone, in millions of ops per second.
const READ: f64 = 2.5;
/// Maximum peak memory of the compiler, in bytes per op.
const MEMORY: f64 = 300.0;
/// Maximum ratio of the time per op with 20,000 functions to the time per op with 2,000 functions.
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
Compares the speed of the compiler with that of LLVM on the same functions, alternately in one run

Usage: benches/throughput [NAME]...

Arguments:
  [NAME]...  Figures to measure; all by default

Options:
  -h, --help  Prints this help

Each output line is a figure: NAME ours=VALUE UNIT peer=PEER VALUE ratio=R. A higher ratio is better, also for times and memory.
Both compilers run as programs on one thread, and read and write files. Times are processor times, the minimum of several runs.

  compile          speed on 2,000 functions of about 40 packed ops, compared with llc; both speeds count the ops of our IR
  cranelift        the same from text to code in memory, compared with Cranelift's parser and compiler (opt_level=speed, its own
                   vector types); both run in the process of the benchmark
  cores            wall-clock speed on 20,000 functions with two threads, compared with two processes that each compile 20,000
                   functions on one thread at the same time
  compile_default  speed on 2,000 functions, compared with its limit
  compile_plain    the same without the passes gvn, licm and unroll
  read             speed of parsing and verification in the process of the benchmark
  memory           peak resident memory per op for 20,000 functions
  growth           time per op for 20,000 functions, compared with that for 2,000 functions

Exit codes: 0 if every figure reaches its required ratio, 1 if a figure does not, 2 if a measurement failed.
";

/// The option with which the benchmark starts itself to write functions. The option takes the
/// number of functions and a folder. Linux adds the peak memory of this process to that of each
/// child process, so the functions are generated in a separate process.
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
        return failed(&format!("there is no figure named `{name}`; `--help` lists the names"));
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
            missed.push(format!("{name}: the ratio is {ratio:.2}, but {asked:.2} is required"));
        }
    }
    missed.iter().for_each(|missed| println!("{missed}"));
    Ok(if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns the paths of the two files with `count` functions: our IR and LLVM IR.
fn files(folder: &Path, count: usize) -> [PathBuf; 2] {
    ["hb", "ll"].map(|extension| folder.join(format!("functions-{count}.{extension}")))
}

/// Writes the two files with `count` functions, and returns the number of ops in our IR.
fn write(folder: &Path, count: usize) -> Result<usize, String> {
    let Texts { ours, llvm } = functions(count);
    for (path, text) in files(folder, count).iter().zip([&ours, &llvm]) {
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let module = Module::parse(&ours).map_err(|errors| errors.to_string())?;
    let blocks = module.ir().kernels.iter().flat_map(|kernel| kernel.layout.iter().map(|&block| &kernel.blocks[block]));
    Ok(blocks.map(|block| block.insts.len()).sum())
}

/// The files with generated functions in our IR and in LLVM IR, with the number of ops.
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

/// The inputs that all measurements share.
struct Bench {
    /// The temporary folder of the input files, which is deleted when this value is dropped.
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

    fn ours(&self, input: &Input, without: &[&str]) -> Result<ResourceUsage, String> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halfbyte"));
        command
            .args(["compile", "--threads", "1", "--target", "halu", "--emit", "obj", "-o"])
            .arg(self.folder.path().join("out.o"));
        let passes: Vec<&str> = PASSES.iter().copied().filter(|pass| !without.contains(pass)).collect();
        run(command.arg("--passes").arg(passes.join(",")).arg(&input.ours))
    }

    fn llvm(&self, input: &Input) -> Result<ResourceUsage, String> {
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

    /// Compares one compilation on two threads with two compilations that run at the same time, each on one thread.
    fn cores(&self) -> Result<Sample, String> {
        let start = |threads: &str, object: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_halfbyte"));
            command.args(["compile", "--target", "halu", "--emit", "obj", "--threads", threads, "-o"]);
            command.arg(self.folder.path().join(object)).arg(&self.many.ours);
            command.spawn().map_err(|error| error.to_string())
        };
        let wait = |mut child: Child| match child.wait() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("halfbyte failed: {status}")),
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

/// Returns the minimum time of each side over several rounds. In each round, the sides run one after the other.
fn least<const SIDES: usize>(round: impl Fn() -> Result<[f64; SIDES], String>) -> Result<[f64; SIDES], String> {
    let mut least = [f64::INFINITY; SIDES];
    let (start, mut rounds) = (Instant::now(), 0);
    while rounds < ROUNDS || start.elapsed() < AT_LEAST {
        least.iter_mut().zip(round()?).for_each(|(least, seconds)| *least = seconds.min(*least));
        rounds += 1;
    }
    Ok(least)
}
