//! Launch overhead: typed slices compared with raw bytes, bound launches with one item, the memory
//! of loaded programs, and the latency of cancellation.
#![allow(unreachable_pub)]

mod calls;
mod cancels;
// Other benchmarks use the functions of this module that are unused here.
#[allow(dead_code)]
#[path = "../peer-code/measure.rs"]
mod measure;
mod memory;
mod texts;
mod typed;

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use measure::Rounds;

/// The system's allocator, extended by a counter of the allocations.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every method calls the same method of the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller guarantees what the method of the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller guarantees what the method of the system's allocator requires.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller guarantees what the method of the system's allocator requires.
        unsafe { System.realloc(start, layout, size) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees what the method of the system's allocator requires.
        unsafe { System.dealloc(start, layout) }
    }
}

/// Returns the number of memory allocations of this process so far.
fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// A quantity that the benchmark measures, with its limit.
struct Figure {
    name: &'static str,
    unit: &'static str,
    /// The largest value that is accepted.
    asked: f64,
    measure: fn(&Bench) -> Result<Found, String>,
}

/// A measured value with an explanation.
struct Found {
    value: f64,
    /// The explanation, which the benchmark prints after the value.
    note: String,
}

/// The number and duration of the measurements.
struct Bench {
    rounds: Rounds,
    /// The factor by which the number of programs is reduced.
    fewer: usize,
}

const fn figure(
    name: &'static str,
    unit: &'static str,
    asked: f64,
    measure: fn(&Bench) -> Result<Found, String>,
) -> Figure {
    Figure { name, unit, asked, measure }
}

#[rustfmt::skip]
const FIGURES: &[Figure] = &[
    // Time of launches with typed slices, divided by the time of the same launches with bytes.
    figure("typed_f16",         "x", 1.2,     typed::halves),
    figure("typed_u8x4",        "x", 1.2,     typed::bytes),
    figure("typed_u32",         "x", 1.2,     typed::words),
    // Bound launches with one item.
    figure("bound_halu",        "us", 0.3,    |b| calls::time(b, &texts::HALU)),
    figure("bound_halu_allocs", "allocations", 0.0, |_| calls::allocations(&texts::HALU)),
    figure("bound_vp1",         "us", 0.8,    |b| calls::time(b, &texts::VP1)),
    figure("bound_vp1_allocs",  "allocations", 0.0, |_| calls::allocations(&texts::VP1)),
    // Memory of programs after one launch on native code, without the native code.
    figure("program_halu",      "KB", 64.0,   |b| memory::program(b, &texts::HALU)),
    figure("program_vp1",       "KB", 64.0,   |b| memory::program(b, &texts::VP1)),
    figure("programs_10000",    "GB", 1.5,    memory::programs),
    figure("churn",             "MB", 16.0,   memory::churn),
    // Latency of cancellation.
    figure("cancel_launch",     "ms", 20.0,   |_| cancels::launch()),
    figure("cancel_compile",    "ms", 150.0,  |_| cancels::compile()),
];

const HELP: &str = "\
Measures the overhead of launches

Usage: cargo bench --bench launch -- [--quick] [NAME]...

Arguments:
  [NAME]...  Figures to measure, by their names or parts of the names; all by default

Options:
      --quick  Runs fewer and shorter rounds, and a tenth of the programs
      --list   Prints the names and limits of the figures
  -h, --help   Prints this help

Each output line is a figure, NAME=VALUE UNIT asked=LIMIT, with an explanation. Lower values are better. Memory is resident memory.
Exit codes: 0 if no figure exceeds its limit, 1 if a figure exceeds its limit, 2 if a measurement failed.
";

fn main() -> ExitCode {
    let mut bench = Bench { rounds: Rounds::FULL, fewer: 1 };
    let mut names = Vec::new();
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--help" | "-h" => {
                print!("{HELP}");
                return ExitCode::SUCCESS;
            }
            "--list" => {
                FIGURES.iter().for_each(|Figure { name, unit, asked, .. }| println!("{name} asked={asked} {unit}"));
                return ExitCode::SUCCESS;
            }
            "--quick" => bench = Bench { rounds: Rounds::QUICK, fewer: 10 },
            // Cargo passes this option to every benchmark.
            "--bench" => {}
            _ if arg.starts_with('-') => return failed(&format!("unknown option `{arg}`; `--help` lists the options")),
            _ => names.push(arg),
        }
    }
    if let Some(name) = names.iter().find(|name| !FIGURES.iter().any(|figure| figure.name.contains(name.as_str()))) {
        return failed(&format!("no figure has `{name}` in its name; `--list` prints the names"));
    }
    let is_wanted = |figure: &&Figure| names.is_empty() || names.iter().any(|name| figure.name.contains(name.as_str()));
    let (mut asked_for, mut missed) = (0, 0);
    for Figure { name, unit, asked, measure } in FIGURES.iter().filter(is_wanted) {
        let Found { value, note } = match measure(&bench) {
            Ok(found) => found,
            Err(error) => return failed(&format!("{name}: {error}")),
        };
        let is_missed = value > *asked;
        let mark = if is_missed { " missed" } else { "" };
        println!("{name}={value:.2} {unit} asked={asked}{mark} ({note})");
        (asked_for, missed) = (asked_for + 1, missed + usize::from(is_missed));
    }
    println!("{} of {asked_for} figures are within their limits", asked_for - missed);
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn failed(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}
