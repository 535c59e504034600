//! Growth of the compiler's costs with the size of its input: executed instructions and memory.
//!
//! Each kernel of [`KERNELS`] and each PTX file of [`FILES`] is generated in doubling sizes, and
//! the program `halfbyte` compiles, checks or runs it. The cost of the smallest size is subtracted.
//! The exponent is the slope of the remaining cost over the size on logarithmic scales. An exponent
//! of 1 means that twice the input costs twice as much.
#![allow(unreachable_pub)]

mod kernels;
// The throughput benchmark uses the functions of this module that are unused here.
#[allow(dead_code)]
#[path = "../throughput-code/process.rs"]
mod process;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use kernels::ptx::FILES;
use kernels::{KERNELS, Kernel};
use process::{ResourceUsage, measure as start};

const FIRST: usize = 1000;
const LAST: usize = 16_000;

/// A cost of the compiler that is measured.
struct Cost {
    name: &'static str,
    unit: &'static str,
    /// The largest exponent that is accepted.
    asked: f64,
    /// A cost below this value, in the unit of `unit`, is replaced by this value. Small costs
    /// therefore do not count as growth.
    negligible: f64,
}

const COSTS: [Cost; 2] = [
    Cost { name: "instructions", unit: "M", asked: 1.2, negligible: 5.0 },
    Cost { name: "memory", unit: "MB", asked: 1.1, negligible: 8.0 },
];

/// The workloads: names, and arguments of the program `halfbyte`. `explain` is asked about the value `%r`.
#[rustfmt::skip]
const WORKS: &[(&str, &[&str])] = &[
    ("halu",         &["compile", "--emit", "obj", "-o", "/dev/null", "--target", "halu"]),
    ("vp1",          &["compile", "--emit", "obj", "-o", "/dev/null", "--target", "vp1"]),
    ("ptx",          &["compile", "--emit", "obj", "-o", "/dev/null", "--target", "ptx"]),
    ("check",        &["check"]),
    ("run",          &["run", "--target", "ptx", "--grid", "1", "--block", "32", "--kernel", "k0"]),
    ("explain-halu", &["explain", "--at", "%r", "--target", "halu"]),
    ("explain-vp1",  &["explain", "--at", "%r", "--target", "vp1"]),
    ("explain-ptx",  &["explain", "--at", "%r", "--target", "ptx"]),
    ("view-halu",    &["view", "-o", "/dev/null", "--target", "halu"]),
    ("view-vp1",     &["view", "-o", "/dev/null", "--target", "vp1"]),
    ("view-ptx",     &["view", "-o", "/dev/null", "--target", "ptx"]),
];

const HELP: &str = "\
Measures how the costs of the compiler grow with the size of its input

Usage: cargo bench --bench growth -- [OPTIONS] [NAME]...

Arguments:
  [NAME]...  Kernels, PTX files and workloads to measure; all by default

Options:
      --last SIZE  Largest size of a kernel or of a PTX file [default: 16000]
  -h, --help       Prints this help

Each output line is for a kernel or a PTX file, and a workload. For the executed instructions and for the peak memory, the line contains the
exponent over all sizes, the exponent of the last doubling, and the cost at the largest size, minus that of size 1.
Sizes double from 1,000 to 16,000. `perf stat` counts the instructions if the machine permits it. Otherwise, valgrind's
cachegrind counts them, which takes several minutes for all kernels.

Exit codes: 0 if no exponent over all sizes exceeds its limit, which is 1.2 for instructions and 1.1 for memory; 1 if an
exponent exceeds its limit; 2 if a measurement failed.
";

fn main() -> ExitCode {
    let (mut names, mut last) = (Vec::new(), LAST);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" | "-h" => {
                print!("{HELP}");
                return ExitCode::SUCCESS;
            }
            "--last" => match args.next().and_then(|size| size.parse().ok()) {
                Some(size) if size >= 2 * FIRST => last = size,
                _ => return failed(&format!("the size after `--last` must be at least {}", 2 * FIRST)),
            },
            // Cargo passes this option to every benchmark.
            "--bench" => {}
            _ => names.push(arg),
        }
    }
    match measure(&names, last) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => failed(&error),
    }
}

fn failed(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}

/// Measures each selected kernel with each selected workload and prints a line for it. Returns
/// `true` if no exponent exceeds its limit.
fn measure(names: &[String], last: usize) -> Result<bool, String> {
    let kernels = || KERNELS.iter().chain(FILES);
    let is_kernel = |name: &String| kernels().any(|kernel| kernel.name == name);
    let is_work = |name: &String| WORKS.iter().any(|work| work.0 == name);
    if let Some(name) = names.iter().find(|name| !is_kernel(name) && !is_work(name)) {
        return Err(format!("there is no kernel or workload named `{name}`; `--help` describes the arguments"));
    }
    // If `names` contains no kernel, all kernels are selected. The same holds for workloads.
    let is_asked = |name: &str, kind: &dyn Fn(&String) -> bool| {
        let mut named = names.iter().filter(|name| kind(name)).peekable();
        named.peek().is_none() || named.any(|wanted| wanted == name)
    };
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let meter = Meter::find(folder.path());
    let mut all_grow_well = true;
    for kernel in kernels().filter(|kernel| is_asked(kernel.name, &is_kernel)) {
        for (work, args) in WORKS {
            let is_meant = kernel.works.iter().any(|&of| work.split('-').next() == Some(of));
            if is_meant && is_asked(work, &is_work) {
                let cost =
                    |size| meter.run(kernel, size, args).map_err(|error| format!("{} {work}: {error}", kernel.name));
                all_grow_well &= grows_well(&format!("{} {work}", kernel.name), last, &cost)?;
            }
        }
    }
    Ok(all_grow_well)
}

/// Prints the exponent of each cost. Returns `true` if no exponent exceeds its limit.
fn grows_well(
    name: &str,
    last: usize,
    cost: &dyn Fn(usize) -> Result<[f64; COSTS.len()], String>,
) -> Result<bool, String> {
    let base = cost(1)?;
    let sizes: Vec<usize> =
        std::iter::successors(Some(FIRST), |size| Some(2 * size)).take_while(|&size| size <= last).collect();
    let costs = sizes.iter().map(|&size| cost(size)).collect::<Result<Vec<_>, _>>()?;
    let mut line = name.to_owned();
    let mut missed = String::new();
    for (number, Cost { name: of, unit, asked, negligible: nothing }) in COSTS.iter().enumerate() {
        let points: Vec<[f64; 2]> = sizes
            .iter()
            .zip(&costs)
            .map(|(&size, cost)| [(size as f64).ln(), (cost[number] - base[number]).max(*nothing).ln()])
            .collect();
        let (all, end) = (slope(&points), slope(&points[points.len().saturating_sub(2)..]));
        let most = costs.last().map_or(0.0, |cost| cost[number] - base[number]);
        line += &format!(" {of}={all:.2} last={end:.2} most={most:.0} {unit}");
        if all > *asked {
            missed += &format!("{name}: the exponent of {of} is {all:.2}, but the limit is {asked}\n");
        }
    }
    println!("{line}\n{missed}");
    Ok(missed.is_empty())
}

/// Returns the slope of the least-squares line through the points, each with its x and its y.
fn slope(points: &[[f64; 2]]) -> f64 {
    let mean = |at: usize| points.iter().map(|point| point[at]).sum::<f64>() / points.len() as f64;
    let [x, y] = [0, 1].map(mean);
    let (mut both, mut square) = (0.0, 0.0);
    for point in points {
        both += (point[0] - x) * (point[1] - y);
        square += (point[0] - x) * (point[0] - x);
    }
    both / square
}

/// Runs a program and returns its resource usage. Exit code 1, by which the compiler rejects a kernel, is not an error.
fn run(command: &mut Command) -> Result<ResourceUsage, String> {
    let took = start(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
    match took.code {
        Some(0 | 1) => Ok(took),
        _ => Err(format!("`{}` failed", command.get_program().to_string_lossy())),
    }
}

/// Runs the program `halfbyte` and measures its costs.
struct Meter<'f> {
    folder: &'f Path,
    /// `true` if `perf stat` can count instructions on this machine.
    has_perf: bool,
}

impl Meter<'_> {
    fn find(folder: &Path) -> Meter<'_> {
        let mut meter = Meter { folder, has_perf: true };
        meter.has_perf = meter.instructions(&["--version"]).is_ok();
        meter
    }

    /// Returns the costs of the program on a kernel of the given size: millions of executed
    /// instructions, and MB of memory.
    fn run(&self, kernel: &Kernel, size: usize, args: &[&str]) -> Result<[f64; COSTS.len()], String> {
        let extension = if kernel.name.ends_with(".ptx") { "" } else { ".hb" };
        let file = self.folder.join(format!("{}{extension}", kernel.name));
        fs::write(&file, (kernel.write)(size)).map_err(|error| format!("{}: {error}", file.display()))?;
        let file = file.to_string_lossy();
        let args: Vec<&str> = args.iter().copied().chain([&*file]).collect();
        let mut program = Command::new(env!("CARGO_BIN_EXE_halfbyte"));
        let took = run(program.args(&args))?;
        Ok([self.instructions(&args)? / 1e6, took.bytes / 1e6])
    }

    /// Returns the number of instructions that the program executes with these arguments.
    fn instructions(&self, args: &[&str]) -> Result<f64, String> {
        let log = self.folder.join("instructions");
        let mut command = if self.has_perf {
            let mut perf = Command::new("perf");
            perf.args(["stat", "-x", ",", "-e", "instructions:u", "-o"]).arg(&log).arg("--");
            perf
        } else {
            let mut valgrind = Command::new("valgrind");
            valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
            valgrind.arg(format!("--log-file={}", log.display()));
            valgrind
        };
        run(command.arg(env!("CARGO_BIN_EXE_halfbyte")).args(args))?;
        let text = fs::read_to_string(&log).map_err(|error| error.to_string())?;
        let count = match self.has_perf {
            true => text.lines().find(|line| line.contains("instructions")).and_then(|line| line.split(',').next()),
            false => text.lines().find_map(|line| line.split_once("I   refs:")).map(|(_, count)| count),
        };
        let count = count.and_then(|count| count.trim().replace(',', "").parse().ok());
        count.ok_or_else(|| {
            "cannot count instructions; install valgrind, or permit `perf stat` to count them".to_owned()
        })
    }
}
