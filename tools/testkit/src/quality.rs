//! How good the code is that kernels become: instructions, registers, bundles.

use std::collections::BTreeMap;
use std::fmt::Write;

use halfbyte::pipeline::{Compiler, Options};
use halfbyte::{Module, Target};
use halfbyte_abi::Form;
use halfbyte_isa::row::Class;

/// What a kernel became.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quality {
    /// Instructions that compute data; those that make a constant count.
    pub compute: usize,
    /// All instructions; on VP1 with the words of bundles that do nothing.
    pub words: usize,
    /// The general registers that it uses.
    pub registers: u32,
    /// Values that went to local memory.
    pub spills: u32,
    /// Of a target with bundles: those of all blocks, and the fewest that there could be.
    pub bundles: Option<Bundles>,
}

/// Bundles against the lower bound: the most words of a unit, or the longest chain of dependences.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bundles {
    /// Over all blocks, bundles and bound.
    pub all: (u32, u32),
    /// Of each loop whose iterations overlap, from one iteration to the next.
    pub loops: Vec<(u32, u32)>,
}

/// A kernel's name, and what it became or why the target refuses it.
pub type Measured = (String, Result<Quality, String>);

/// Compiles each kernel of a module as it is compiled by default.
pub fn measure(module: &Module, target: Target) -> Vec<Measured> {
    let options = Options::new(target);
    let mut compiler = Compiler::new(module, &options);
    let mut measured = Vec::with_capacity(module.ir().kernels.len());
    for kernel in &module.ir().kernels {
        let quality = match compiler.compile(kernel, &mut |_| {}) {
            Ok((code, stats)) => Ok(Quality {
                compute: code.words.count(Class::Compute),
                words: stats.words,
                registers: stats.registers,
                spills: stats.spills,
                bundles: (target.form() == Form::Tiles).then(|| {
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

/// What a target refuses: the reasons, each with the kernels.
type Refused = BTreeMap<String, Vec<String>>;

/// A page of Markdown about kernel files: a table a target, and what it refuses. PTX for several SMs is one table.
pub fn page(modules: &[Module], targets: &[Target]) -> String {
    let mut page = String::from(
        "# Quality of code\n\nWhat kernels become, by `halfbyte quality`. `compute` counts the instructions that compute data; making a constant is one of \
         them,\nfinding an address, moving, reading and writing memory are not.\n",
    );
    let is_ptx = |target: &Target| target.form() == Form::Text;
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
            Form::Tiles => {
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
    // Writing to a string succeeds.
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

/// A row a kernel that one of the SMs takes.
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
                    // Several SMs may say the same.
                    if kernels.last() != Some(&name) {
                        kernels.push(name);
                    }
                }
            }
        }
        if of_kernel.clone().any(Result::is_ok) {
            // Writing to a string succeeds.
            let _ = writeln!(rows, "| `{}` | `@{}` | {} |", module.file(), kernel.name, cells.join(" | "));
        }
    }
}

fn row(rows: &mut String, file: &str, kernel: &str, quality: &Quality) {
    let Quality { compute, words, registers, spills, bundles } = quality;
    // Writing to a string succeeds.
    let _ = write!(rows, "| `{file}` | `@{kernel}` | {compute} | {words} | {registers} | {spills} |");
    if let Some(Bundles { all, loops }) = bundles {
        let of = |&(bundles, bound): &(u32, u32)| format!("{bundles} of {bound}");
        let loops: Vec<String> = loops.iter().map(of).collect();
        let _ = write!(rows, " {} | {} |", of(all), loops.join(", "));
    }
    rows.push('\n');
}
