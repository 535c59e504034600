//! Machine instructions that `ptxas` generates for the baseline kernels: from our IR, compared with hand-written PTX.
//!
//! `cargo bench --bench ptx` counts machine instructions; with `-- --write` it writes the counts to `docs/ptx/sass.md`.
//! With `-- --time` it measures the time from text to machine code: halfbyte followed by `ptxas`, compared with `ptxas`
//! alone on hand-written PTX. `-- --time k11` measures the kernels whose names begin with `k11`. `-- --groups` counts
//! the instructions of `examples/groups`, compared with the code of NVRTC for the same algorithms in CUDA.
#![allow(unreachable_pub)]

mod back;
mod groups;
mod sass;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use halfbyte::pipeline::{Options, compile_ptx};
use halfbyte::{Module, Sm};
use sass::{Sass, Tools};

const SMS: [Sm; 5] = [Sm::SM_75, Sm::SM_80, Sm::SM_90, Sm::SM_100, Sm::SM_120];
const KERNELS: [&str; 14] = [
    "k01_h2_axpy",
    "k02_h2_gelu_poly",
    "k03_h2_relu_fma",
    "k04_h2_clamp01",
    "k05_h2_leaky_relu",
    "k06_h2_max8",
    "k07_h2_cmul",
    "k08_bf2_axpy",
    "k09_h2_dot4x4",
    "k10_v4_brighten",
    "k11_v4_sad16",
    "k12_v4_bilinear",
    "k13_v2_smith_waterman",
    "k14_v4_median9",
];

/// The kernels whose compile time is measured, all with video instructions.
const TIMED: [&str; 5] =
    ["k10_v4_brighten", "k11_v4_sad16", "k12_v4_bilinear", "k13_v2_smith_waterman", "k14_v4_median9"];
/// Number of copies of a kernel in a file whose compile time is measured.
const COPIES: usize = 200;
/// Number of times that each side is measured. The two sides run alternately, and every second round swaps their order.
const ROUNDS: usize = 31;
const TIMED_SM: Sm = Sm::SM_90;

const HEAD: &str = "# Baseline kernels in machine instructions

This page compares the code size of halfbyte with that of PTX written by hand. Each cell of the
tables is `total / compute (total / compute)`, in machine instructions of ptxas 13.5, up to the last
`EXIT`. The first pair of a cell is for a kernel of `examples/baseline`, compiled by halfbyte. The
second pair of a cell is for the same kernel written in PTX (`tests/ptx/baseline`). Below sm_90, the
second pair is for the PTX file for sm_75; from sm_90 on, the second pair is for the PTX file for
sm_90. A cell `-` means that the kernel is refused, or that ptxas cannot assemble it for the SM. The
command `cargo bench --bench ptx -- --write` writes this page.

The SM version sm_75 has no maximum instruction for halves. Therefore the two versions of
`k06_h2_max8` for sm_75 compare and select (`examples/baseline/sm75`).

";

/// Name of the kernel that has a separate variant for sm_75.
const EXACT: &str = "k06_h2_max8";

const EXACTLY: &str = "
For a number and NaN, the compare and select of `k06_h2_max8` return NaN. For -0 and +0, the compare
and select return either zero. The op `fmax` of the IR handles NaN and -0, and takes more
instructions on an SM without a maximum instruction. The following table is for `k06_h2_max8` with
`fmax` on every SM, compared with the same PTX files:

";

const READ_IN: &str = "
The following table is for the PTX files, [imported](../ptx.md#import) by halfbyte and compiled to
PTX for the SM:

";

fn main() -> ExitCode {
    let has = |flag: &str| std::env::args().any(|arg| arg == flag);
    let back: Vec<String> = std::env::args().skip_while(|arg| arg != "--back").skip(1).collect();
    let done = Tools::find().and_then(|tools| match () {
        () if has("--back") => back::compare(&tools, &back),
        () if has("--groups") => groups::compare(&tools, has("--write")),
        () if has("--time") => times(&tools),
        () => counts(&tools, has("--write")),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads the file of a kernel. If `is_older` is `true` and the kernel has a variant for sm_75,
/// reads this variant.
fn file(folder: &str, name: &str, is_older: bool) -> Result<String, String> {
    let folder = root().join(folder);
    let older = folder.join("sm75").join(name);
    if is_older && older.exists() { read(&older) } else { read(&folder.join(name)) }
}

/// Returns the IR text of a kernel, in the variant for an SM.
fn source(name: &str, sm: Sm) -> Result<String, String> {
    file("examples/baseline", &format!("{name}.hb"), sm < Sm::SM_80)
}

/// Returns the IR text of a kernel, in the variant that is valid for all SMs.
fn exact(name: &str) -> Result<String, String> {
    file("examples/baseline", &format!("{name}.hb"), false)
}

/// Returns the hand-written PTX of a kernel, in the variant for an SM.
fn plain(name: &str, sm: Sm) -> Result<String, String> {
    file("tests/ptx/baseline", &format!("{name}.ptx"), sm < Sm::SM_90)
}

/// Compiles the kernels of an IR text to PTX for an SM.
fn ours(text: &str, sm: Sm) -> Result<String, String> {
    let ptx = compile_ptx(text, &Options::new(halfbyte::ptx(sm)), None, &mut |_| {});
    ptx.map_err(|error| error.to_string())
}

/// Imports a PTX text, compiles it to PTX for an SM, and returns the new text.
fn read_in(text: &str, sm: Sm) -> Result<String, String> {
    back::recompile(text, None, sm).map(|(text, _)| text)
}

/// Assembles a text for an SM and returns the machine code of its only kernel.
fn assembled(tools: &Tools, sm: Sm, text: &str) -> Result<Sass, String> {
    let arch = text.lines().find_map(|line| line.strip_prefix(".target ")).map_or("", str::trim);
    let arch = if arch.ends_with(['a', 'f']) { arch.to_owned() } else { sm.to_string() };
    let kernels = tools.kernels(&arch, text)?;
    kernels.into_values().next().ok_or_else(|| "there is no kernel".to_owned())
}

fn counts(tools: &Tools, write: bool) -> Result<(), String> {
    let compiled = table(tools, &KERNELS, |name, sm| ours(&source(name, sm)?, sm));
    let exact = table(tools, &[EXACT], |name, sm| ours(&exact(name)?, sm));
    let read_in = table(tools, &KERNELS, |name, sm| read_in(&plain(name, sm)?, sm));
    let page = [HEAD, &compiled, EXACTLY, &exact, READ_IN, &read_in].concat();
    if !write {
        print!("{page}");
        return Ok(());
    }
    let path = root().join("docs/ptx/sass.md");
    fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns a Markdown table of instruction counts, of the PTX that `make` returns and of the
/// hand-written PTX.
fn table(tools: &Tools, kernels: &[&str], make: impl Fn(&str, Sm) -> Result<String, String>) -> String {
    let heads = SMS.map(|sm| sm.to_string()).join(" | ");
    let mut table = format!("| kernel | {heads} |\n|---|{}\n", "---|".repeat(SMS.len()));
    for &name in kernels {
        let cells = SMS.map(|sm| {
            let shown = |sass: Result<Sass, String>| {
                sass.map_or("-".to_owned(), |sass| format!("{} / {}", sass.insts.len(), sass.compute().count()))
            };
            let ours = make(name, sm).and_then(|text| assembled(tools, sm, &text));
            let theirs = plain(name, sm).and_then(|text| assembled(tools, sm, &text));
            if let (Ok(ours), Ok(theirs)) = (&ours, &theirs)
                && ours.insts.len() > theirs.insts.len()
            {
                println!("@{name} on {sm} takes more than theirs");
            }
            format!("{} ({})", shown(ours), shown(theirs))
        });
        // The result can be ignored, because writing to a string cannot fail.
        let _ = writeln!(table, "| `{name}` | {} |", cells.join(" | "));
    }
    table
}

/// Returns a text with [`COPIES`] copies of its kernel. `marker` is the text at which the kernel begins.
fn copies(text: &str, name: &str, marker: &str) -> String {
    let head = text.find(marker).unwrap_or(0);
    let (head, kernel) = text.split_at(head);
    let numbered = (0..COPIES).map(|number| kernel.replacen(name, &format!("{name}_{number}"), 1));
    std::iter::once(head.to_owned()).chain(numbered).collect()
}

/// Returns [`COPIES`] copies of the kernel of an IR file, without its run lines.
fn ir_copies(text: &str) -> Result<String, String> {
    let module = Module::parse(text).map_err(|report| report.to_string())?;
    let mut kernel = module.ir().kernels.first().cloned().ok_or("there is no kernel")?;
    let name = kernel.name.clone();
    let texts = (0..COPIES).map(|number| {
        kernel.name = format!("{name}_{number}");
        format!("{kernel}\n")
    });
    Ok(texts.collect())
}

fn times(tools: &Tools) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("halfbyte-times-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let [source_path, cubin] = ["k.ptx", "k.cubin"].map(|name| folder.join(name));
    let arch = TIMED_SM.to_string();
    let assemble = |text: &str| {
        fs::write(&source_path, text).map_err(|error| error.to_string())?;
        tools.assemble(&arch, &source_path, &cubin)
    };
    println!(
        "{COPIES} copies, ms, the least of {ROUNDS}: text to PTX, and assembled; theirs assembled; ratio, and the median of all"
    );
    let wanted: Vec<String> = std::env::args().filter(|arg| arg.starts_with('k')).collect();
    let is_wanted = |name: &&str| wanted.is_empty() || wanted.iter().any(|wanted| name.starts_with(wanted.as_str()));
    for name in TIMED.into_iter().filter(is_wanted) {
        let ir = ir_copies(&source(name, TIMED_SM)?)?;
        let text = plain(name, TIMED_SM)?;
        let entry = text.split(".entry").nth(1).and_then(|rest| rest.trim_start().split(['(', ' ']).next());
        let theirs = copies(&text, entry.unwrap_or(name), ".visible");
        let [mut compiled, mut both, mut alone] = [Duration::MAX; 3];
        let mut ratios = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS {
            let first = if round % 2 == 1 { Some(assemble(&theirs)?) } else { None };
            let start = Instant::now();
            let ptx = ours(&ir, TIMED_SM)?;
            let time = start.elapsed();
            let with_ours = time + assemble(&ptx)?;
            let with_theirs = first.map_or_else(|| assemble(&theirs), Ok)?;
            ratios.push(with_ours.as_secs_f64() / with_theirs.as_secs_f64());
            (compiled, both, alone) = (compiled.min(time), both.min(with_ours), alone.min(with_theirs));
        }
        ratios.sort_by(f64::total_cmp);
        let median = ratios.get(ROUNDS / 2).copied().unwrap_or(f64::NAN);
        let [compiled, both, alone] = [compiled, both, alone].map(|time| time.as_secs_f64() * 1e3);
        println!("{name:<24} {compiled:>6.1} {both:>8.1} {alone:>8.1} {:>6.3} {median:>6.3}", both / alone);
    }
    fs::remove_dir_all(&folder).map_err(|error| error.to_string())
}
