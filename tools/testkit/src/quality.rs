//! Measures of code quality: the instructions, registers and bundles of compiled kernels.

use std::collections::BTreeMap;
use std::fmt::Write;

use halfbyte::pipeline::{Compiler, Options};
use halfbyte::{Module, Target};
use halfbyte_abi::KernelFormat;
use halfbyte_isa::row::InstClass;

/// The quality of a compiled kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quality {
    /// The number of instructions that compute data, including the instructions that load constants into registers.
    pub compute: usize,
    /// The number of instruction words; on VP1 including no-ops in bundles.
    pub words: usize,
    /// The number of general-purpose registers that the kernel uses.
    pub registers: u32,
    /// The number of spilled values.
    pub spills: u32,
    /// The numbers of bundles; `None` for a target without bundles.
    pub bundles: Option<Bundles>,
}

/// The number of VP1 bundles, each with a lower bound. The bound is the larger of two numbers: the
/// instructions of the busiest unit, and the length of the longest dependence chain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bundles {
    /// The number of bundles in all blocks, and its lower bound.
    pub all: (u32, u32),
    /// The initiation interval of each software-pipelined loop, and its lower bound.
    pub loops: Vec<(u32, u32)>,
}

/// A kernel's name, and the quality of its code or the reason why the target refuses the kernel.
pub type Measured = (String, Result<Quality, String>);

/// Compiles each kernel of a module with default options, and measures the code.
pub fn measure(module: &Module, target: Target) -> Vec<Measured> {
    let options = Options::new(target);
    let mut compiler = Compiler::new(module, &options);
    let mut measured = Vec::with_capacity(module.ir().kernels.len());
    for kernel in &module.ir().kernels {
        let quality = match compiler.compile(kernel, &mut |_| {}) {
            Ok((code, stats)) => Ok(Quality {
                compute: code.words.count(InstClass::Compute),
                words: stats.words,
                registers: stats.registers,
                spills: stats.spills,
                bundles: (target.form() == KernelFormat::Tiles).then(|| {
                    let mut bundles = Bundles::default();
                    for block in &stats.blocks {
                        bundles.all.0 += block.bundles;
                        bundles.all.1 += block.bound;
                        bundles.loops.extend(block.pipelined.then_some((block.bundles, block.bound)));
                    }
                    bundles
                }),
            }),
            Err(error) => {
                let first = error.diagnostics().into_iter().next();
                Err(first.map_or("refused".to_owned(), |diagnostic| diagnostic.message))
            }
        };
        measured.push((kernel.name.clone(), quality));
    }
    measured
}

/// The reasons of refusals, each with the names of the refused kernels.
type Refused = BTreeMap<String, Vec<String>>;

/// Returns a Markdown page about the code quality of some modules: one table for each target, and
/// the refusals. All SM versions of PTX share one table.
pub fn page(modules: &[Module], targets: &[Target]) -> String {
    let mut page = String::from(
        "# Quality of code\n\nThe code of compiled kernels, by `halfbyte quality`. `compute` counts the instructions that compute data; making a constant is one of \
         them,\nfinding an address, moving, reading and writing memory are not.\n",
    );
    let is_ptx = |target: &Target| target.form() == KernelFormat::Text;
    for &target in targets.iter().filter(|target| !is_ptx(target)) {
        let mut refused = Refused::new();
        let mut rows = String::new();
        for module in modules {
            for (kernel, quality) in measure(module, target) {
                match quality {
                    Ok(quality) => row(&mut rows, module.file(), &kernel, &quality),
                    Err(reason) => refused.entry(reason).or_default().push(format!("`@{kernel}`")),
                }
            }
        }
        let head = match target.form() {
            KernelFormat::Tiles => {
                "`bundles` is over all blocks, with the fewest that there could be: the most words of a unit, or the longest chain of\n\
                 dependences. `loops` has the same of each loop whose iterations overlap, from one to the next.\n\n\
                 | file | kernel | compute | words | registers | spills | bundles | loops |\n|---|---|---|---|---|---|---|---|\n"
            }
            _ => "| file | kernel | compute | words | registers | spills |\n|---|---|---|---|---|---|\n",
        };
        section(&mut page, target.name(), head, &rows, refused);
    }
    let sms: Vec<Target> = targets.iter().copied().filter(is_ptx).collect();
    if let Some(target) = sms.first() {
        let (mut rows, mut refused) = (String::new(), Refused::new());
        modules.iter().for_each(|module| ptx_rows(&mut rows, &mut refused, module, &sms));
        let names: Vec<String> = sms.iter().map(|target| format!("sm_{}", target.code().1)).collect();
        let head = format!(
            "For each SM the instructions that compute data, and all; `-` where it refuses the kernel.\n\n\
             | file | kernel | {} |\n|---|---|{}\n",
            names.join(" | "),
            "---|".repeat(sms.len())
        );
        section(&mut page, target.name(), &head, &rows, refused);
    }
    page
}

fn section(page: &mut String, name: &str, head: &str, rows: &str, refused: Refused) {
    // Writing to a string cannot fail.
    let _ = write!(page, "\n## {}\n\n", name.to_uppercase());
    if !rows.is_empty() {
        *page += head;
        *page += rows;
    }
    if !refused.is_empty() {
        *page += "\nRefused:\n\n";
        for (reason, kernels) in refused {
            let _ = writeln!(page, "* {reason}: {}", kernels.join(", "));
        }
    }
}

/// Writes one table row for each kernel that at least one SM version accepts.
fn ptx_rows(rows: &mut String, refused: &mut Refused, module: &Module, sms: &[Target]) {
    let by_sm: Vec<Vec<Measured>> = sms.iter().map(|&target| measure(module, target)).collect();
    for (number, kernel) in module.ir().kernels.iter().enumerate() {
        let of_kernel = by_sm.iter().filter_map(|measured| measured.get(number)).map(|(_, quality)| quality);
        let mut cells = Vec::with_capacity(sms.len());
        for quality in of_kernel.clone() {
            match quality {
                Ok(Quality { compute, words, .. }) => cells.push(format!("{compute} of {words}")),
                Err(reason) => {
                    cells.push("-".to_owned());
                    let (kernels, name) = (refused.entry(reason.clone()).or_default(), format!("`@{}`", kernel.name));
                    // Several SM versions may refuse the same kernel for the same reason.
                    if kernels.last() != Some(&name) {
                        kernels.push(name);
                    }
                }
            }
        }
        if of_kernel.clone().any(Result::is_ok) {
            // Writing to a string cannot fail.
            let _ = writeln!(rows, "| `{}` | `@{}` | {} |", module.file(), kernel.name, cells.join(" | "));
        }
    }
}

fn row(rows: &mut String, file: &str, kernel: &str, quality: &Quality) {
    let Quality { compute, words, registers, spills, bundles } = quality;
    // Writing to a string cannot fail.
    let _ = write!(rows, "| `{file}` | `@{kernel}` | {compute} | {words} | {registers} | {spills} |");
    if let Some(Bundles { all, loops }) = bundles {
        let of = |&(bundles, bound): &(u32, u32)| format!("{bundles} of {bound}");
        let loops: Vec<String> = loops.iter().map(of).collect();
        let _ = write!(rows, " {} | {} |", of(all), loops.join(", "));
    }
    rows.push('\n');
}
