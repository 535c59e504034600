//! `halfbyte compile`

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use halfbyte::abi::Form;
use halfbyte::emit::ptx_text;
use halfbyte::import_ptx::is_ptx;
use halfbyte::ir::Kernel;
use halfbyte::isa::row::Class;
use halfbyte::pipeline::{self, Compiled, Compiler, Options, PASSES, STAGES, Stage, Watch, count_rules, is_taken};
use halfbyte::report::Report;
use halfbyte::target::On;
use halfbyte::{Module, TARGETS, Target};

use super::io::{Input, write};
use super::{Done, Failure, OnArgs, ShapeArgs, say};

/// Compiles a kernel file
#[derive(clap::Args)]
pub(super) struct Compile {
    /// The kernel file, or a file in PTX (*.ptx); - is standard input
    file: PathBuf,
    #[command(flatten)]
    on: OnArgs,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Only this kernel
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// What to write
    #[arg(long, value_enum, default_value = "asm")]
    emit: Kind,
    /// In PTX text, say which line each instruction comes from (.file, .loc), for debuggers and profilers
    #[arg(short = 'g', long)]
    line_info: bool,
    /// Where to; - is standard output
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show each kernel after this step, on standard error
    #[arg(long, value_name = "STEP")]
    print_after: Vec<String>,
    /// Show each kernel after every step
    #[arg(long)]
    print_after_all: bool,
    /// Say how long each step took, over all kernels
    #[arg(long)]
    time_passes: bool,
    /// The passes over the IR in order, separated by commas; an empty list is none
    #[arg(long, value_name = "LIST")]
    passes: Option<String>,
    /// Count ops, words, bundles, registers, spills and the rules taken
    #[arg(long)]
    stats: bool,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Kind {
    /// The kernels as read
    Ir,
    /// The kernels after the passes
    Lowered,
    /// Machine instructions by blocks, with registers
    Mach,
    /// Assembly that `asm` turns into the same words; PTX text
    Asm,
    /// A word a line
    Words,
    /// Addresses, words, assembly and the text it comes from
    Listing,
    /// An ELF object file
    Obj,
    /// PTX text
    Ptx,
}

impl Compile {
    pub(super) fn run(self) -> Done {
        let On::Words(target) = self.on.on() else {
            return Err(Failure::Call("`ir` is run as it is; compile for halu".into()));
        };
        let to_ptx = target.form() == Form::Text;
        if self.emit == Kind::Ptx && !to_ptx {
            return Err(Failure::Call(format!("target `{target}` has words, not PTX text")));
        }
        if self.emit == Kind::Words && to_ptx {
            return Err(Failure::Call(format!("target `{target}` has PTX text, not words; emit ptx or asm")));
        }
        if self.line_info && !(to_ptx && matches!(self.emit, Kind::Asm | Kind::Ptx)) {
            return Err(Failure::Call("--line-info is for PTX text; objects and listings say it anyway".into()));
        }
        if self.stats && matches!(self.emit, Kind::Ir | Kind::Lowered | Kind::Mach) {
            return Err(Failure::Call("--stats counts words; emit asm, words, listing or obj with it".into()));
        }
        if self.emit == Kind::Ir && (self.print_after_all || self.time_passes || !self.print_after.is_empty()) {
            return Err(Failure::Call("no step is taken for `--emit ir`; emit anything else to see the steps".into()));
        }
        let mut options = Options::new(target);
        options.timed = self.time_passes;
        if let Some(names) = &self.passes {
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            options = options.with_passes(names).map_err(|error| Failure::Call(error.to_string()))?;
        }
        let steps = || STAGES.into_iter().filter(|step| is_taken(step, target));
        let known =
            |name: &String| options.pipeline.names().any(|pass| pass == name) || steps().any(|step| step == name);
        if let Some(unknown) = self.print_after.iter().find(|name| !known(name)) {
            let steps: Vec<&str> = options.pipeline.names().chain(steps()).collect();
            let message = format!("no step `{unknown}` is taken; the steps are {}", steps.join(", "));
            return Err(Failure::Call(message));
        }
        let input = Input::read(&self.file)?;
        let name = input.name.clone();
        let text = input.into_text()?;
        let shape = self.shape.shape()?;
        let mut times: BTreeMap<usize, (String, Duration)> = BTreeMap::new();
        let mut watch = |step: &Stage<'_>| {
            if self.print_after_all || self.print_after.iter().any(|name| name == step.name) {
                let unchanged = if step.changed { "" } else { " (unchanged)" };
                say(&format!("; @{} after {}{unchanged}\n{}", step.kernel, step.name, step.result));
            }
            if !self.time_passes {
                return;
            }
            let order = PASSES.iter().chain(&STAGES).position(|name| *name == step.name).unwrap_or(usize::MAX);
            times.entry(order).or_insert_with(|| (step.name.to_owned(), Duration::ZERO)).1 += step.time;
        };
        let mut out = Vec::new();
        // Nothing but the file is asked for, so no kernel need be kept.
        let is_alone = self.kernel.is_none() && !self.stats && !is_ptx(&name);
        match self.emit {
            Kind::Ir => {
                let module = Module::open(&name, text, shape)?;
                let kernels = select(&module, self.kernel.as_deref())?;
                let texts: Vec<String> = kernels.iter().map(ToString::to_string).collect();
                out = texts.join("\n").into_bytes();
            }
            Kind::Lowered | Kind::Mach => {
                let module = Module::open(&name, text, shape)?;
                let kernels = select(&module, self.kernel.as_deref())?;
                let mut compiler = Compiler::new(&module, &options);
                let (mut texts, mut errors) = (Vec::new(), Vec::new());
                for kernel in kernels {
                    let done = compiler.lower(kernel, &mut watch).and_then(|lowered| match self.emit {
                        Kind::Lowered => Ok(lowered.to_string()),
                        _ => Ok(compiler.machine(&lowered, &mut watch)?.func.to_string()),
                    });
                    match done {
                        Ok(text) => texts.push(text),
                        Err(refused) => errors.extend(refused.diagnostics()),
                    }
                }
                if !errors.is_empty() {
                    return Err(Report::new(name, module.text(), errors).into());
                }
                out = texts.join("\n").into_bytes();
            }
            Kind::Asm | Kind::Ptx if to_ptx && is_alone => {
                let source = self.line_info.then_some(name.as_str());
                let ptx = pipeline::compile_ptx(&text, &options, source, &mut watch);
                out = ptx.map_err(|errors| Report::new(name, text, errors))?.into_bytes();
            }
            Kind::Obj if is_alone => {
                let object = pipeline::compile_object(&name, &text, &options, &mut watch);
                out = object.map_err(|errors| Report::new(name, text, errors))?;
            }
            Kind::Asm | Kind::Words | Kind::Listing | Kind::Obj | Kind::Ptx => {
                let compiled = self.words(&name, &text, &options, &mut watch)?;
                if self.stats {
                    say(&statistics(target, &compiled));
                }
                match (self.emit, target.sm().filter(|_| to_ptx)) {
                    (Kind::Asm | Kind::Ptx, Some(sm)) => {
                        let source = self.line_info.then_some(name.as_str());
                        out = ptx_text(compiled.code, sm, source).into_bytes();
                    }
                    (Kind::Obj, _) => {
                        let object = compiled.object(&name, &options);
                        out = object.map_err(|errors| Report::new(name, text, errors))?;
                    }
                    (Kind::Words, _) => {
                        for code in &compiled.code {
                            let words = (0..code.words.len()).map(|address| code.words.digits(address) + "\n");
                            out.extend(words.flat_map(String::into_bytes));
                        }
                    }
                    (Kind::Listing, _) => {
                        let listings = compiled.code.iter().map(|code| TARGETS.listing(code, &name, Some(&text)));
                        out = listings.collect::<Vec<_>>().join("\n").into_bytes();
                    }
                    _ => {
                        for code in &compiled.code {
                            let assembly = code.words.disassemble();
                            out.extend(format!("// @{}\n{assembly}", code.info.signature.name()).bytes());
                        }
                    }
                }
            }
        }
        if self.time_passes {
            say(&timing(times.values()));
        }
        write(self.output.as_deref().or(Some(Path::new("-"))), &out)
    }

    fn words(&self, name: &str, text: &str, options: &Options, watch: &mut Watch<'_>) -> Result<Compiled, Failure> {
        let compiled = if self.kernel.is_none() && !is_ptx(name) {
            pipeline::compile_text(text, options, watch)
        } else {
            let module = Module::open(name, text, self.shape.shape()?)?;
            pipeline::compile_kernels(&module, select(&module, self.kernel.as_deref())?, options, watch)
        };
        compiled.map_err(|errors| Report::new(name, text, errors).into())
    }
}

/// All kernels, or the one of that name.
pub(super) fn select<'m>(module: &'m Module, name: Option<&str>) -> Result<&'m [Kernel], Failure> {
    let kernels = &module.ir().kernels;
    let Some(name) = name else {
        return Ok(kernels);
    };
    let name = name.strip_prefix('@').unwrap_or(name);
    let found = kernels.iter().find(|kernel| kernel.name == name).map(std::slice::from_ref);
    found.ok_or_else(|| no_kernel(module, name))
}

/// There is no kernel of that name.
pub(super) fn no_kernel(module: &Module, name: &str) -> Failure {
    let names: Vec<String> = module.ir().kernels.iter().map(|kernel| format!("@{}", kernel.name)).collect();
    Failure::Call(format!("{} has no kernel `@{name}`; it has {}", module.file(), names.join(", ")))
}

fn timing<'t>(times: impl Iterator<Item = &'t (String, Duration)> + Clone) -> String {
    let all: Duration = times.clone().map(|(_, time)| *time).sum();
    let mut text = String::new();
    for (name, time) in times {
        let share = 100.0 * time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        // Writing to a string succeeds.
        let _ = writeln!(text, "{name:<10} {:>10.1} us {share:>5.1} %", time.as_secs_f64() * 1e6);
    }
    let _ = write!(text, "{:<10} {:>10.1} us", "all", all.as_secs_f64() * 1e6);
    text
}

fn statistics(target: Target, compiled: &Compiled) -> String {
    let mut text = String::new();
    for (of, code) in compiled.stats.iter().zip(&compiled.code) {
        let compute = code.words.count(Class::Compute);
        let _ = writeln!(
            text,
            "@{}: {} ops, {} after the passes, {} words, {compute} of them compute, {} registers, {} spills, {} bytes of local memory",
            of.kernel, of.ops, of.lowered, of.words, of.registers, of.spills, of.local_bytes
        );
        for block in &of.blocks {
            let [a, s, v, b] = block.words;
            let _ = writeln!(
                text,
                "    b{}: {} bundles, at least {}; words a unit: {a} address, {s} scalar, {v} vector, {b} branch",
                block.block, block.bundles, block.bound
            );
        }
        for (rule, count) in count_rules(target, &of.rules) {
            let _ = writeln!(text, "    {count:>4} {rule}");
        }
    }
    text.trim_end().to_owned()
}
