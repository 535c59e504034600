//! Benchmark of native code against peers. The same work is done by kernels on the native engine
//! and by C code, which are measured alternately in one run.
//!
//! `benches/peers` builds the peers and runs this benchmark. Each comparison prints a line;
//! [`FIGURES`] contains the required ratios.
#![allow(unreachable_pub)]

mod assembly;
mod bytes;
mod data;
mod groups;
mod halves;
mod launches;
mod measure;
mod native;
mod processes;
mod ptx;
mod translation;
mod vp1;

use std::process::ExitCode;

use measure::{Rounds, Sample};
use native::Compiler::{Clang, Clang128};
use native::Peers;
use ptx::LaunchSize::{Few, Many};

/// A comparison of our code with a peer.
struct Figure {
    name: &'static str,
    /// The unit of our value and of the peer's value.
    unit: &'static str,
    peer: &'static str,
    /// The minimum ratio of our speed to the peer's, if one is required.
    asked: Option<f64>,
    measure: fn(&Bench) -> Result<Sample, String>,
}

/// The settings and the C functions that all measurements share.
struct Bench {
    rounds: Rounds,
    peers: Peers,
}

const LANE_OPS: &str = "Mlane-ops/s";
const BYTES: &str = "GB/s";
const VECTORS: &str = "Mvectors/s";
const ITEMS: &str = "Mitems/s";

/// Minimum ratio of the speed of a PTX kernel to that of C code with 128-bit vectors. [`MIN_RATIO_V3`]
/// is the minimum ratio to C code with vectors of any width. [`MIN_MEAN_RATIO`] is the minimum geometric mean
/// of the ratios to C code with 128-bit vectors.
const MIN_RATIO_V2: f64 = 0.6;
const MIN_RATIO_V3: f64 = 0.35;
const MIN_MEAN_RATIO: f64 = 0.8;

/// Minimum ratio of the speed of a function in a native object to that of native code in memory.
const AHEAD: f64 = 0.95;

/// Minimum ratio of the speed with directed rounding to that with rounding to nearest.
const DIRECTED: f64 = 0.5;
/// Minimum ratio at which the translation time per instruction counts as independent of the kernel's size.
const LINEAR: f64 = 0.67;

const fn figure(
    name: &'static str,
    unit: &'static str,
    peer: &'static str,
    asked: Option<f64>,
    measure: fn(&Bench) -> Result<Sample, String>,
) -> Figure {
    Figure { name, unit, peer, asked, measure }
}

#[rustfmt::skip]
const FIGURES: &[Figure] = &[
    // Operations on packed halves. A lane operation is one multiply-add of one half.
    figure("half2_axpy",                LANE_OPS,  "avx2",        Some(0.8),      |b| halves::axpy(b, c"axpy_f16")),
    figure("half2_axpy_twosum",         LANE_OPS,  "twosum",      None,           |b| halves::axpy(b, c"axpy_f16_by_error")),
    figure("half2_axpy_naive",          LANE_OPS,  "naive",       Some(40.0),     halves::axpy_naive),
    figure("half2_axpy_any_bits",       LANE_OPS,  "avx2",        None,           |b| halves::axpy_any_bits(b, c"axpy_f16")),
    figure("half2_axpy_rm",             LANE_OPS,  "rn",          Some(DIRECTED), |b| halves::axpy_directed(b, "rm")),
    figure("half2_axpy_rp",             LANE_OPS,  "rn",          Some(DIRECTED), |b| halves::axpy_directed(b, "rp")),
    figure("half2_axpy_rz",             LANE_OPS,  "rn",          Some(DIRECTED), |b| halves::axpy_directed(b, "rz")),
    figure("half2_poly16",              LANE_OPS,  "avx2",        Some(1.0),      |b| halves::polynomial(b, c"polynomial_f16")),
    figure("half2_poly16_unrolled",     LANE_OPS,  "unrolled",    None,           |b| halves::polynomial(b, c"polynomial_f16_unrolled")),
    figure("bf16x2_axpy",               LANE_OPS,  "avx2",        None,           |b| halves::axpy_bf16(b, c"axpy_bf16")),
    // Operations on bytes. The unit counts the bytes that are read and those that are written.
    figure("vadd4_sat",                 BYTES,     "gcc",         Some(1.5),      |b| bytes::add_sat(b, bytes::CACHED, c"add_sat")),
    figure("vadd4_sat_intrinsics",      BYTES,     "avx2",        Some(0.9),      |b| bytes::add_sat(b, bytes::CACHED, c"add_sat_avx2")),
    figure("vadd4_sat_bound",           BYTES,     "avx2",        Some(0.9),      |b| bytes::add_sat_bound(b, bytes::CACHED, c"add_sat_avx2")),
    figure("vadd4_sat_small",           BYTES,     "gcc",         None,           |b| bytes::add_sat(b, bytes::SMALL, c"add_sat")),
    figure("vadd4_sat_dram",            BYTES,     "gcc",         Some(0.9),      |b| bytes::add_sat(b, bytes::LARGE, c"add_sat")),
    figure("vadd4_sat_dram_intrinsics", BYTES,     "avx2",        Some(0.9),      |b| bytes::add_sat(b, bytes::LARGE, c"add_sat_avx2")),
    figure("vadd4_sat_out",             BYTES,     "inout",       Some(1.0),      bytes::out),
    figure("vavrg4_vabsdiff4_vmax4",    BYTES,     "gcc",         Some(1.0),      |b| bytes::video(b, c"video")),
    // VP1 kernels. A vector is one `vmac` or `vadd` on data in the data store.
    figure("vp1_vmac",                  VECTORS,   "clang",       Some(0.8),      |b| vp1::vmac(b, c"vmac")),
    figure("vp1_vadd",                  VECTORS,   "clang",       Some(2.0),      |b| vp1::vadd(b, c"vadd")),
    figure("vp1_copies",                BYTES,     "memcpy",      Some(0.5),      vp1::copies),
    // Cost of control flow, and speedup by threads.
    figure("divergent",                 ITEMS,     "uniform",     Some(0.25),     launches::divergent),
    figure("two_threads",               LANE_OPS,  "one",         Some(1.8),      launches::threads),
    figure("two_threads_avx2",          LANE_OPS,  "one",         None,           |b| launches::native_threads(b, c"polynomial_f16")),
    // Cooperative kernels, compared with loops in C and with the interpreter.
    figure("groups_block_sum",          ITEMS,     "clang",       Some(0.5),      |b| groups::native(b, &groups::BLOCK_SUM)),
    figure("groups_histogram",          ITEMS,     "clang",       Some(0.5),      |b| groups::native(b, &groups::HISTOGRAM)),
    figure("groups_transpose",          ITEMS,     "clang",       Some(0.5),      |b| groups::native(b, &groups::TRANSPOSE)),
    figure("groups_tiled_product",      ITEMS,     "clang",       Some(0.5),      |b| groups::native(b, &groups::TILED_PRODUCT)),
    figure("interp_block_sum",          ITEMS,     "interp",      None,           |b| groups::interpreted(b, &groups::BLOCK_SUM)),
    figure("interp_histogram",          ITEMS,     "interp",      None,           |b| groups::interpreted(b, &groups::HISTOGRAM)),
    figure("interp_transpose",          ITEMS,     "interp",      None,           |b| groups::interpreted(b, &groups::TRANSPOSE)),
    figure("interp_tiled_product",      ITEMS,     "interp",      None,           |b| groups::interpreted(b, &groups::TILED_PRODUCT)),
    // PTX kernels as compilers generate them, executed directly. Launches with a hundred thousand
    // items are compared with C code of 128-bit vectors and with C code of any vectors. Launches
    // with few items are compared only with C code of 128-bit vectors.
    figure("ptx_saxpy",                 ITEMS,     "clang128",    Some(MIN_RATIO_V2),    |b| ptx::native(b, "saxpy", Clang128, Many)),
    figure("ptx_saxpy_v3",              ITEMS,     "clang",       Some(MIN_RATIO_V3), |b| ptx::native(b, "saxpy", Clang, Many)),
    figure("ptx_saxpy_few",             ITEMS,     "clang128",    None,           |b| ptx::native(b, "saxpy", Clang128, Few)),
    figure("ptx_polynomial",            ITEMS,     "clang128",    Some(MIN_RATIO_V2),    |b| ptx::native(b, "polynomial", Clang128, Many)),
    figure("ptx_polynomial_v3",         ITEMS,     "clang",       Some(MIN_RATIO_V3), |b| ptx::native(b, "polynomial", Clang, Many)),
    figure("ptx_polynomial_few",        ITEMS,     "clang128",    None,           |b| ptx::native(b, "polynomial", Clang128, Few)),
    figure("ptx_mandelbrot",            ITEMS,     "clang128",    Some(MIN_RATIO_V2),    |b| ptx::native(b, "mandelbrot", Clang128, Many)),
    figure("ptx_mandelbrot_v3",         ITEMS,     "clang",       Some(MIN_RATIO_V3), |b| ptx::native(b, "mandelbrot", Clang, Many)),
    figure("ptx_mandelbrot_few",        ITEMS,     "clang128",    None,           |b| ptx::native(b, "mandelbrot", Clang128, Few)),
    figure("ptx_hash",                  ITEMS,     "clang128",    Some(MIN_RATIO_V2),    |b| ptx::native(b, "hash", Clang128, Many)),
    figure("ptx_hash_v3",               ITEMS,     "clang",       Some(MIN_RATIO_V3), |b| ptx::native(b, "hash", Clang, Many)),
    figure("ptx_hash_few",              ITEMS,     "clang128",    None,           |b| ptx::native(b, "hash", Clang128, Few)),
    figure("ptx_stencil",               ITEMS,     "clang128",    Some(MIN_RATIO_V2),    |b| ptx::native(b, "stencil", Clang128, Many)),
    figure("ptx_stencil_v3",            ITEMS,     "clang",       Some(MIN_RATIO_V3), |b| ptx::native(b, "stencil", Clang, Many)),
    figure("ptx_stencil_few",           ITEMS,     "clang128",    None,           |b| ptx::native(b, "stencil", Clang128, Few)),
    figure("ptx_half2_axpy",            ITEMS,     "clang128",    Some(MIN_RATIO_V2),    |b| ptx::native(b, "half2_axpy", Clang128, Many)),
    figure("ptx_half2_axpy_v3",         ITEMS,     "clang",       Some(MIN_RATIO_V3), |b| ptx::native(b, "half2_axpy", Clang, Many)),
    figure("ptx_half2_axpy_few",        ITEMS,     "clang128",    None,           |b| ptx::native(b, "half2_axpy", Clang128, Few)),
    figure("ptx_gemv",                  ITEMS,     "clang128",    Some(MIN_RATIO_V2),    |b| ptx::native(b, "gemv", Clang128, Many)),
    figure("ptx_gemv_v3",               ITEMS,     "clang",       Some(MIN_RATIO_V3), |b| ptx::native(b, "gemv", Clang, Many)),
    figure("ptx_gemv_few",              ITEMS,     "clang128",    None,           |b| ptx::native(b, "gemv", Clang128, Few)),
    figure("ptx_dequantize",            ITEMS,     "clang128",    Some(MIN_RATIO_V2),    |b| ptx::native(b, "dequantize", Clang128, Many)),
    figure("ptx_dequantize_v3",         ITEMS,     "clang",       Some(MIN_RATIO_V3), |b| ptx::native(b, "dequantize", Clang, Many)),
    figure("ptx_dequantize_few",        ITEMS,     "clang128",    None,           |b| ptx::native(b, "dequantize", Clang128, Few)),
    figure("ptx_blend",                 ITEMS,     "clang128",    Some(MIN_RATIO_V2),    |b| ptx::native(b, "blend", Clang128, Many)),
    figure("ptx_blend_v3",              ITEMS,     "clang",       Some(MIN_RATIO_V3), |b| ptx::native(b, "blend", Clang, Many)),
    figure("ptx_blend_few",             ITEMS,     "clang128",    None,           |b| ptx::native(b, "blend", Clang128, Few)),
    // The same PTX kernels as functions of native objects, compared with native code in memory.
    figure("ahead_saxpy",                ITEMS,     "memory",      Some(AHEAD),    |b| ptx::ahead(b, "saxpy")),
    figure("ahead_polynomial",           ITEMS,     "memory",      Some(AHEAD),    |b| ptx::ahead(b, "polynomial")),
    figure("ahead_mandelbrot",           ITEMS,     "memory",      Some(AHEAD),    |b| ptx::ahead(b, "mandelbrot")),
    figure("ahead_hash",                 ITEMS,     "memory",      Some(AHEAD),    |b| ptx::ahead(b, "hash")),
    figure("ahead_stencil",              ITEMS,     "memory",      Some(AHEAD),    |b| ptx::ahead(b, "stencil")),
    figure("ahead_half2_axpy",           ITEMS,     "memory",      Some(AHEAD),    |b| ptx::ahead(b, "half2_axpy")),
    figure("ahead_gemv",                 ITEMS,     "memory",      Some(AHEAD),    |b| ptx::ahead(b, "gemv")),
    figure("ahead_dequantize",           ITEMS,     "memory",      Some(AHEAD),    |b| ptx::ahead(b, "dequantize")),
    figure("ahead_blend",                ITEMS,     "memory",      Some(AHEAD),    |b| ptx::ahead(b, "blend")),
    // Translation time, from the bytes of an object to the end of a launch with one item.
    figure("load_halu_100",             "ms",      "limit",       Some(1.0),      |b| translation::halu_time(b, 100)),
    figure("threads_ptx_polynomial",    ITEMS,     "processes",   Some(0.9),      processes::threads),
    figure("load_ptx_100",              "ms",      "limit",       Some(1.0),      |b| translation::ptx_time(b, 100)),
    figure("load_vp1_100",              "ms",      "limit",       Some(1.0),      |b| translation::vp1_time(b, 100)),
    figure("translate_halu_100",        "us/inst", "limit",       Some(1.0),      |b| translation::halu_each(b, 100)),
    figure("translate_halu_1000",       "us/inst", "limit",       Some(1.0),      |b| translation::halu_each(b, 1000)),
    figure("translate_ptx_100",         "us/inst", "limit",       Some(1.0),      |b| translation::ptx_each(b, 100)),
    figure("translate_ptx_1000",        "us/inst", "limit",       Some(1.0),      |b| translation::ptx_each(b, 1000)),
    figure("load_halu_10000",           "us/inst", "1000",        Some(LINEAR),   |b| translation::halu_growth(b, 10_000)),
    figure("load_halu_100000",          "us/inst", "1000",        Some(LINEAR),   |b| translation::halu_growth(b, 100_000)),
    figure("load_vp1_10000",            "us/inst", "1000",        Some(LINEAR),   |b| translation::vp1_growth(b, 10_000)),
    figure("load_vp1_100000",           "us/inst", "1000",        Some(LINEAR),   |b| translation::vp1_growth(b, 100_000)),
];

const HELP: &str = "\
Compares kernels on the native engine with C code and other peers, alternately in one run

Usage: benches/peers [--quick] [NAME]...

Arguments:
  [NAME]...  Figures to measure, by their names or parts of the names; all by default

Options:
      --quick  Runs fewer and shorter rounds
      --list   Prints the names of the figures and the required ratios
  -h, --help   Prints this help

Each output line is a figure: NAME ours=VALUE UNIT peer=PEER VALUE ratio=R. Values are medians. The ratio is our speed divided
by the peer's, so higher is better, also for times. `ptx_mean` is the geometric mean of the ratios to `clang128`. Before the
measurement, both sides run once and must give the same bytes.
Pin the benchmark to one core, except for `two_threads` and `threads_ptx`, which need two cores.
Exit codes: 0 if every figure reaches its required ratio, 1 if a figure does not, 2 if a measurement failed.
";

fn main() -> ExitCode {
    let mut rounds = Rounds::FULL;
    let mut names = Vec::new();
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--help" | "-h" => {
                print!("{HELP}");
                return ExitCode::SUCCESS;
            }
            "--list" => {
                for Figure { name, asked, .. } in FIGURES {
                    println!("{name} {}", asked.map_or("reported".into(), |asked| format!("asked={asked}")));
                }
                return ExitCode::SUCCESS;
            }
            "--quick" => rounds = Rounds::QUICK,
            // To compare two threads with two processes, the benchmark starts itself with this option.
            processes::ALONE => return ended(processes::alone()),
            // Cargo passes this option to every benchmark.
            "--bench" => {}
            _ if arg.starts_with('-') => return failed(&format!("unknown option `{arg}`; `--help` lists the options")),
            _ => names.push(arg),
        }
    }
    if let Some(name) = names.iter().find(|name| !FIGURES.iter().any(|figure| figure.name.contains(name.as_str()))) {
        return failed(&format!("no figure has `{name}` in its name; `--list` prints the names"));
    }
    let is_whole = |name: &str| FIGURES.iter().any(|figure| figure.name == name);
    let selects = |name: &str, figure: &Figure| match is_whole(name) {
        true => figure.name == name,
        false => figure.name.contains(name),
    };
    let wanted = |figure: &&Figure| names.is_empty() || names.iter().any(|name| selects(name, figure));
    let peers = match Peers::beside_this_program() {
        Ok(peers) => peers,
        Err(error) => return failed(&error),
    };
    run(&Bench { rounds, peers }, &FIGURES.iter().filter(wanted).collect::<Vec<_>>())
}

fn ended(outcome: Result<(), String>) -> ExitCode {
    outcome.map_or_else(|error| failed(&error), |()| ExitCode::SUCCESS)
}

fn failed(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(2)
}

fn run(bench: &Bench, figures: &[&Figure]) -> ExitCode {
    let mut missed = Vec::new();
    let mut asked_for = 0;
    let [mut many, mut few] = [Vec::new(), Vec::new()];
    for &Figure { name, unit, peer, asked, measure } in figures {
        let Sample { ours, peer: value, ratio } = match measure(bench) {
            Ok(sample) => sample,
            Err(error) => return failed(&format!("{name}: {error}")),
        };
        println!("{name} ours={} {unit} peer={peer} {} ratio={ratio:.2}", brief(ours), brief(value));
        if name.starts_with("ptx_") && *peer == "clang128" {
            let means = if asked.is_some() { &mut many } else { &mut few };
            means.push(ratio.ln());
        }
        let Some(asked) = *asked else { continue };
        asked_for += 1;
        if ratio < asked {
            missed.push(format!("{name}: the ratio is {ratio:.2}, but {asked} is required"));
        }
    }
    for (name, asked, logarithms) in [("ptx_mean", Some(MIN_MEAN_RATIO), many), ("ptx_mean_few", None, few)] {
        if logarithms.len() != ptx::CASES.len() {
            continue;
        }
        let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        println!("{name} ratio={mean:.2}");
        let Some(asked) = asked else { continue };
        asked_for += 1;
        if mean < asked {
            missed.push(format!("{name}: the mean ratio is {mean:.2}, but {asked} is required"));
        }
    }
    missed.iter().for_each(|missed| println!("{missed}"));
    println!("{} of {asked_for} figures reach their required ratios", asked_for - missed.len());
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Formats a number with at least three digits.
fn brief(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}
