//! Comparison of the machine code of cooperative kernels. Our PTX, generated from IR, is compared
//! with the same algorithms in CUDA, compiled by NVRTC.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use halfbyte::emit::ptx_text;
use halfbyte::pipeline::Options;
use halfbyte::{Module, Sm};

use crate::sass::{Sass, Tools, output};
use crate::{read, root};

const SMS: [Sm; 4] = [Sm::SM_80, Sm::SM_90, Sm::SM_100, Sm::SM_120];
/// The kernel files, each with the block size if the CUDA code has a fixed one.
const KERNELS: [(&str, Option<[u32; 3]>); 13] = [
    ("block_sum_shuffle", None),
    ("block_sum_tree", None),
    ("prefix_sum", None),
    ("histogram", None),
    ("transpose", Some([16, 16, 1])),
    ("tiled_product", Some([16, 16, 1])),
    ("softmax_row", None),
    ("layernorm", None),
    ("top_k", None),
    ("box_filter", Some([16, 8, 1])),
    ("queue", None),
    ("bitonic_sort", None),
    ("smith_waterman", None),
];
/// A ratio of instruction counts above this value is reported.
const MOST: f64 = 1.05;

const HEAD: &str = "# Cooperative kernels in machine instructions

This page compares the code size of cooperative kernels of halfbyte with that of CUDA. Each cell of
the table is `halfbyte (CUDA)`, in machine instructions of ptxas 13.5, up to the last `EXIT`. The
first number of a cell is for a kernel of `examples/groups`, compiled by halfbyte. The second number
is for the same algorithm in CUDA C++ (`examples/groups/cuda`), compiled by NVRTC 13.5. If the CUDA
kernel has a fixed block size, `--block` compiles the halfbyte kernel for the same block size. The
command `cargo bench --bench ptx -- --groups --write` writes this page.

";

/// Prints the instruction counts of all kernels, and writes the documentation page if `write` is set.
pub fn compare(tools: &Tools, write: bool) -> Result<(), String> {
    let heads = SMS.map(|sm| sm.to_string()).join(" | ");
    let mut page = format!("{HEAD}| kernel | {heads} |\n|---|{}\n", "---|".repeat(SMS.len()));
    for (file, block) in KERNELS {
        let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for sm in SMS {
            let arch = sm.to_string();
            let ours = tools.kernels(&arch, &ours(file, block, sm)?)?;
            let theirs = tools.kernels(&arch, &theirs(file, sm)?)?;
            for (name, theirs) in theirs {
                let none = Sass::default();
                let [ours, theirs] = [ours.get(&name).unwrap_or(&none), &theirs].map(|sass| sass.insts.len());
                if ours == 0 || ours as f64 > MOST * theirs as f64 {
                    println!("@{name} on {sm} takes {ours}, theirs {theirs}");
                }
                rows.entry(name).or_default().push(format!("{ours} ({theirs})"));
            }
        }
        for (name, cells) in rows {
            // The result can be ignored, because writing to a string cannot fail.
            let _ = writeln!(page, "| `{file}`: `{name}` | {} |", cells.join(" | "));
        }
    }
    if !write {
        print!("{page}");
        return Ok(());
    }
    let path = root().join("docs/ptx/groups-sass.md");
    std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))
}

fn ours(file: &str, block: Option<[u32; 3]>, sm: Sm) -> Result<String, String> {
    let text = read(&root().join("examples/groups").join(file).with_extension("hb"))?;
    let module = Module::named(file, text).map_err(|error| error.to_string())?;
    let several_axes = block.is_some();
    let options = Options { block, several_axes, ..Options::new(halfbyte::ptx(sm)) };
    let binary = module.compile_with(&options).map_err(|error| error.to_string())?;
    Ok(ptx_text(binary.code, sm, None))
}

fn theirs(file: &str, sm: Sm) -> Result<String, String> {
    let folder = root().join("examples/groups/cuda");
    let arch = sm.to_string().replace("sm_", "compute_");
    let source = folder.join(Path::new(file).with_extension("cu"));
    output(Command::new(folder.join("compile")).args(["--arch", &arch, "--print"]).arg(source))
}
