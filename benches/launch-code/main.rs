//! Launch overhead: typed slices compared with raw bytes, bound launches with one item, the memory
//! of loaded programs, and the latency of cancellation.
#![allow(unreachable_pub)]

mod calls;
mod cancels;
// Some comparisons in this file serve other benchmarks.
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

/// The system's allocator with a counter of the allocations.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for this.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for this.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for this.
        unsafe { System.realloc(start, layout, size) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as for this.
        unsafe { System.dealloc(start, layout) }
    }
}

/// Returns the number of allocations of the process so far.
fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// A figure to measure.
struct Figure {
    name: &'static str,
    unit: &'static str,
    /// The maximum acceptable value.
    asked: f64,
    measure: fn(&Bench) -> Result<Found, String>,
}

/// A measured value.
struct Found {
    value: f64,
    /// An explanation for readers.
    note: String,
}

/// The extent of the measurements.
struct Bench {
    rounds: Rounds,
    /// The number of programs is divided by this factor.
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
    // Typed slices compared with bytes: bound and run once.
    figure("typed_f16",         "x", 1.2,     typed::halves),
    figure("typed_u8x4",        "x", 1.2,     typed::bytes),
    figure("typed_u32",         "x", 1.2,     typed::words),
    // Bound launches with one item.
    figure("bound_halu",        "us", 0.3,    |b| calls::time(b, &texts::HALU)),
    figure("bound_halu_allocs", "allocations", 0.0, |_| calls::allocations(&texts::HALU)),
    figure("bound_vp1",         "us", 0.8,    |b| calls::time(b, &texts::VP1)),
    figure("bound_vp1_allocs",  "allocations", 0.0, |_| calls::allocations(&texts::VP1)),
    // Memory of programs after one launch on native code, not counting that code.
    figure("program_halu",      "KB", 64.0,   |b| memory::program(b, &texts::HALU)),
    figure("program_vp1",       "KB", 64.0,   |b| memory::program(b, &texts::VP1)),
    figure("programs_10000",    "GB", 1.5,    memory::programs),
    figure("churn",             "MB", 16.0,   memory::churn),
    // Latency of cancellation.
    figure("cancel_launch",     "ms", 20.0,   |_| cancels::launch()),
    figure("cancel_compile",    "ms", 150.0,  |_| cancels::compile()),
];

const HELP: &str = "\
Measures what a launch costs besides its kernel

Usage: cargo bench --bench launch -- [--quick] [NAME]...

Arguments:
  [NAME]...  Only figures of these names, or of names that contain them

Options:
      --quick  Fewer and shorter rounds, a tenth of the programs
      --list   Prints the names of the figures, and what is asked of them
  -h, --help   Prints this

A line is a figure: NAME=VALUE UNIT asked=VALUE, and how it came about. Less is better. Memory is what is resident, as Linux has it.
Exit codes: 0 no figure is above what is asked, 1 one is, 2 it could not be measured.
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
            _ if arg.starts_with('-') => return failed(&format!("unknown option `{arg}`; see --help")),
            _ => names.push(arg),
        }
    }
    if let Some(name) = names.iter().find(|name| !FIGURES.iter().any(|figure| figure.name.contains(name.as_str()))) {
        return failed(&format!("no figure has `{name}` in its name; see --list"));
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
    println!("{} of {asked_for} figures are as asked", asked_for - missed);
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn failed(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}
