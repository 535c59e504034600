//! `halfbyte compile`

use std::collections::BTreeMap;
use std::fmt::Write;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use halfbyte::abi::KernelFormat;
use halfbyte::emit::{BlockStats, KernelCode, ptx_text};
use halfbyte::import_ptx::{self, is_ptx};
use halfbyte::ir::{Diagnostic, Kernel, Span};
use halfbyte::isa::ptx::text::ParsedFile;
use halfbyte::isa::row::InstClass;
use halfbyte::lang::is_language;
use halfbyte::pipeline::{
    self, Compiled, Compiler, Options, PASSES, STAGES, Stage, Stats, Watch, count_rules, is_taken,
};
use halfbyte::report::Report;
use halfbyte::{HALU, Module, RefusedKernel, TARGETS, Target, WriteError};
use halfbyte_cuda_cpp::is_cuda;
use serde_json::{Value, json};

use super::cuda::{CudaArgs, compile_to_ptx};
use super::from_ptx::{
    mention_uninitialised, note_fusible_sums, open, read_ptx, recompiled_kernels, warn_of_missing_member_masks,
};
use super::io::{Input, refuse_input, to_stdout, unwritable, write};
use super::json_output::JsonOutput;
use super::names::{did_you_mean, suggestion_and_names};
use super::native::NativeArgs;
use super::output::{refuse_terminal, say};
use super::target_option::{TargetOption, target_option_parser};
use super::temporary_file::TemporaryFile;
use super::{Done, Failure, ShapeArgs, SmArgs};

/// Compiles a kernel file
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Compile {
    /// Kernel file, PTX file (*.ptx), or CUDA C++ file (*.cu); - is standard input
    file: PathBuf,
    /// Target, or the triple of a host machine, for object files with native code (docs/native.md)
    #[arg(long, value_parser = target_option_parser())]
    target: TargetOption,
    #[command(flatten)]
    sm: SmArgs,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Compile only this kernel; other kernels of a PTX file may then be unsupported
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Kind of output
    #[arg(long, value_enum, default_value = "asm")]
    emit: Emit,
    /// Emit line directives (.file, .loc) in PTX, for debuggers and profilers
    #[arg(short = 'g', long)]
    line_info: bool,
    /// Output file; - is standard output
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Fuse products and sums of PTX input where PTX permits it; by default the product and the sum are both rounded
    #[arg(long)]
    contract: bool,
    /// Print each kernel after this step, to standard error
    #[arg(long, value_name = "STEP")]
    print_after: Vec<String>,
    /// Print each kernel after every step, to standard error
    #[arg(long)]
    print_after_all: bool,
    /// Print the time of each step, summed over all kernels
    #[arg(long)]
    time_passes: bool,
    /// IR passes to run, in order, separated by commas; an empty list runs none
    #[arg(long, value_name = "LIST")]
    passes: Option<String>,
    /// Maximum number of threads; does not affect the result [default: number of processors]
    #[arg(long, value_name = "N", conflicts_with_all = ["print_after", "print_after_all"])]
    threads: Option<NonZero<u16>>,
    /// Print the numbers of ops, instructions, bundles, registers, spills and applied rules
    #[arg(long)]
    stats: bool,
    /// Print one JSON object (docs/json/compile.schema.json)
    ///
    /// The object has the diagnostics and the results of --stats and --time-passes, and without -o also the output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    native: NativeArgs,
    #[command(flatten)]
    cuda: CudaArgs,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte compile examples/axpy.hb --target halu
  halfbyte compile examples/brighten.hb --target vp1 --emit listing --stats
  halfbyte compile examples/axpy.hb --target ptx --sm 80 -o axpy.ptx
  halfbyte compile examples/axpy.hb --target halu --emit obj -o axpy.o
  halfbyte compile examples/axpy.hb --target halu --print-after canon --print-after isel
  halfbyte compile mine.hb --target vp1 --json -o mine.s
  halfbyte compile examples/axpy.hb --target native --emit obj -o axpy.o --header axpy.h
  halfbyte compile mine.hb --target aarch64-unknown-linux-gnu --emit obj -o mine.o --header mine.rs";

/// Minimum size of a source text, in bytes, for which the object file is written while kernels are still compiled.
const LONG: usize = 1 << 18;

/// Result of a compilation.
struct Product {
    bytes: Vec<u8>,
    /// The temporary output file, if the object was written incrementally.
    draft: Option<TemporaryFile>,
    /// The compiled code, if its statistics were requested.
    compiled: Option<Compiled>,
    /// Name and time of each step.
    times: Vec<(String, Duration)>,
    /// The path and the text of the header, if one was requested.
    header: Option<(PathBuf, String)>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Emit {
    /// IR before the passes
    Ir,
    /// IR after the passes
    Lowered,
    /// Machine instructions in basic blocks, after register allocation
    Mach,
    /// Assembly text; for PTX targets the PTX text
    Asm,
    /// Machine code, one instruction word per line
    Words,
    /// Addresses, machine code and assembly, with the source lines
    Listing,
    /// ELF object file
    Obj,
    /// PTX text
    Ptx,
}

impl Compile {
    pub(super) fn run(mut self) -> Done {
        for output in [self.output.as_deref(), self.native.header()] {
            refuse_input(output, [self.file.as_path()])?;
        }
        let target = self.target()?;
        if self.emit == Emit::Obj && to_stdout(self.output.as_deref()) {
            if self.json {
                return Err(Failure::Call(
                    "an object file cannot be printed as JSON; write it to a file with -o FILE".into(),
                ));
            }
            refuse_terminal("an object file", "name a file with -o FILE")?;
        }
        if self.json {
            return self.run_json(target);
        }
        let Product { bytes, draft, compiled, times, header } = self.compile_file(target)?;
        if let Some(compiled) = compiled {
            say(&statistics(target, &compiled));
        }
        if self.time_passes {
            say(&timing(times.iter()));
        }
        self.keep_header(header)?;
        self.keep(draft, &bytes)
    }

    fn keep_header(&self, header: Option<(PathBuf, String)>) -> Done {
        header.map_or(Ok(()), |(path, text)| write(Some(&path), text.as_bytes()))
    }

    /// Writes the output file, or renames the temporary file that already contains the output.
    fn keep(&self, draft: Option<TemporaryFile>, bytes: &[u8]) -> Done {
        let path = self.output.as_deref().unwrap_or(Path::new("-"));
        match draft {
            Some(draft) => draft.keep().map_err(|error| unwritable(path, &error)),
            None => write(Some(path), bytes),
        }
    }

    /// Returns the number of threads. The number is one if kernels are printed after steps, because
    /// the printed kernels must be in order.
    fn threads(&self) -> NonZero<usize> {
        if self.print_after_all || !self.print_after.is_empty() {
            return NonZero::<usize>::MIN;
        }
        let asked = self.threads.map(NonZero::from);
        asked.or(std::thread::available_parallelism().ok()).unwrap_or(NonZero::<usize>::MIN)
    }

    /// Returns the target, or an error if that target has no output of the requested kind.
    fn target(&self) -> Result<Target, Failure> {
        let target = match &self.target {
            TargetOption::Target(target) => {
                self.native.refuse_for(target.name())?;
                self.sm.only(*target)?
            }
            TargetOption::Host(triple) => {
                self.native.check(triple, self.emit == Emit::Obj, self.stats)?;
                // The kernels are first compiled to HALU machine code, from which native code is generated.
                self.sm.only(HALU)?
            }
        };
        let to_ptx = target.form() == KernelFormat::Text;
        if self.emit == Emit::Ptx && !to_ptx {
            return Err(Failure::Call(format!("target `{target}` has machine code, not PTX")));
        }
        if self.emit == Emit::Words && to_ptx {
            return Err(Failure::Call(format!("target `{target}` has PTX, not machine code; use `--emit ptx`")));
        }
        if self.line_info && !(to_ptx && matches!(self.emit, Emit::Asm | Emit::Ptx)) {
            return Err(Failure::Call(
                "--line-info is only valid for PTX; objects and listings always have line information".into(),
            ));
        }
        if self.stats && matches!(self.emit, Emit::Ir | Emit::Lowered | Emit::Mach) {
            return Err(Failure::Call(
                "--stats needs machine code; use it with --emit asm, words, listing or obj".into(),
            ));
        }
        if self.emit == Emit::Ir && (self.print_after_all || self.time_passes || !self.print_after.is_empty()) {
            return Err(Failure::Call(
                "`--emit ir` runs no compiler step; select another kind of output to print or time steps".into(),
            ));
        }
        Ok(target)
    }

    /// Returns the name of the target, or the triple of the host machine.
    fn target_text(&self) -> &str {
        match &self.target {
            TargetOption::Target(target) => target.name(),
            TargetOption::Host(triple) => triple,
        }
    }

    /// Compiles the file and prints a JSON object with the result.
    fn run_json(&mut self, target: Target) -> Done {
        let mut answer = JsonOutput::new("compile");
        answer.set("target", self.target_text());
        answer.set("emit", self.emit.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned()));
        let product = match self.compile_file(target) {
            Ok(product) => product,
            Err(failure) => return answer.finish(Err(failure)),
        };
        if let Some(compiled) = product.compiled {
            answer.set("stats", counts(target, &compiled));
        }
        if self.time_passes {
            let micros =
                |(step, time): &(String, Duration)| json!({ "step": step, "microseconds": time.as_micros() as u64 });
            answer.set("times", product.times.iter().map(micros).collect::<Vec<_>>());
        }
        self.keep_header(product.header)?;
        match &self.output {
            Some(file) if !to_stdout(Some(file)) => {
                self.keep(product.draft, &product.bytes)?;
                answer.set("output", json!({ "file": file.display().to_string() }));
            }
            _ => answer.set("output", json!({ "text": String::from_utf8_lossy(&product.bytes) })),
        }
        answer.finish(Ok(()))
    }

    /// Compiles the file, and returns its output.
    fn compile_file(&mut self, target: Target) -> Result<Product, Failure> {
        let to_ptx = target.form() == KernelFormat::Text;
        let mut options = Options::new(target);
        options.timed = self.time_passes;
        options.several_axes = self.shape.has_several_axes();
        options.block = self.shape.block;
        options.threads = self.threads();
        if let Some(names) = &self.passes {
            let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
            options = options.with_passes(names).map_err(|error| Failure::Call(error.to_string()))?;
        }
        let steps = || STAGES.into_iter().filter(|step| is_taken(step, target));
        let known =
            |name: &String| options.pipeline.names().any(|pass| pass == name) || steps().any(|step| step == name);
        if let Some(unknown) = self.print_after.iter().find(|name| !known(name)) {
            let steps: Vec<&str> = options.pipeline.names().chain(steps()).collect();
            let meant = did_you_mean(unknown, "", steps.iter().copied());
            let message = format!("there is no step `{unknown}`{meant}; the steps are {}", steps.join(", "));
            return Err(Failure::Call(message));
        }
        let mut input = Input::read(&self.file)?;
        if is_cuda(&self.file) {
            (input, self.kernel) = compile_to_ptx(input, self.kernel.as_deref(), self.sm.version(), &self.cuda)?;
        }
        let name = input.name.clone();
        if self.contract && !is_ptx(&name) {
            return Err(Failure::Call(format!("--contract is only valid for PTX input, and {name} is not PTX")));
        }
        let text = input.into_text()?;
        // For PTX output, instructions for which the IR has no op are imported as intrinsics.
        let imported = import_ptx::Options { keep: to_ptx, contract: self.contract, ..self.shape.imported(&name)? };
        let read = read_ptx(&name, &text)?;
        let mut times: BTreeMap<usize, (String, Duration)> = BTreeMap::new();
        let mut is_empty = true;
        let mut watch = |step: &Stage<'_>| {
            is_empty = false;
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
        let mut draft = None;
        let mut counted = None;
        // If only the output is needed, each kernel is parsed, compiled and dropped before the next one.
        let is_alone = self.kernel.is_none() && !self.stats && !is_ptx(&name) && !is_language(&text);
        match self.emit {
            Emit::Ir => {
                let module = open(&name, &text, read.as_ref(), imported)?;
                let kernels = select(&module, self.kernel.as_deref())?;
                is_empty = false;
                let texts: Vec<String> = kernels.iter().map(ToString::to_string).collect();
                out = texts.join("\n").into_bytes();
            }
            Emit::Lowered | Emit::Mach => {
                let module = open(&name, &text, read.as_ref(), imported)?;
                let kernels = select(&module, self.kernel.as_deref())?;
                let mut compiler = Compiler::new(&module, &options);
                let (mut texts, mut errors) = (Vec::new(), Vec::new());
                for kernel in kernels {
                    let done = compiler.lower(kernel, &mut watch).and_then(|lowered| match self.emit {
                        Emit::Lowered => Ok(lowered.to_string()),
                        _ => Ok(compiler.machine(&lowered, &mut watch)?.func.to_string()),
                    });
                    match done {
                        Ok(text) => texts.push(text),
                        Err(error) => errors.push(compiler.as_written(error, kernel)),
                    }
                }
                if !errors.is_empty() {
                    return Err(Failure::compile(&name, module.text(), errors));
                }
                // With an empty list of passes, it is not an error that no step was executed.
                is_empty = false;
                out = texts.join("\n").into_bytes();
            }
            Emit::Asm | Emit::Ptx if to_ptx && is_alone => {
                let source = self.line_info.then_some(name.as_str());
                let ptx = pipeline::compile_ptx(&text, &options, source, &mut watch);
                out = ptx.map_err(|error| Failure::compile(&name, &*text, [error]))?.into_bytes();
            }
            Emit::Obj if is_alone && let Some(mut made) = self.draft(&text) => {
                pipeline::compile_object_to(&name, &text, &options, &mut watch, &mut made.file).map_err(|error| {
                    match error {
                        WriteError::Compile(error) => Failure::compile(&name, &*text, [error]),
                        error => unwritable(self.output.as_deref().unwrap_or(Path::new("-")), &error),
                    }
                })?;
                draft = Some(made);
            }
            Emit::Obj if is_alone => {
                let object = pipeline::compile_object(&name, &text, &options, &mut watch);
                out = object.map_err(|error| Failure::compile(&name, &*text, [error]))?;
            }
            Emit::Asm | Emit::Words | Emit::Listing | Emit::Obj | Emit::Ptx => {
                let compiled = self.words(&name, &text, read.as_ref(), imported, &options, &mut watch)?;
                counted = self.stats.then(|| compiled.clone());
                match (self.emit, target.sm().filter(|_| to_ptx)) {
                    (Emit::Asm | Emit::Ptx, Some(sm)) => {
                        let source = self.line_info.then_some(name.as_str());
                        let code = match &read {
                            Some(read) if !self.contract && self.passes.is_none() => recompiled_kernels(read, compiled),
                            _ => compiled.code,
                        };
                        out = ptx_text(code, sm, source).into_bytes();
                    }
                    (Emit::Obj, _) => {
                        let object = compiled.object(&name, &options);
                        out = object.map_err(|error| Failure::compile(&name, &*text, [error]))?;
                    }
                    (Emit::Words, _) => {
                        for code in &compiled.code {
                            let words = (0..code.words.len()).map(|address| code.words.digits(address) + "\n");
                            out.extend(words.flat_map(String::into_bytes));
                        }
                    }
                    (Emit::Listing, _) => {
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
        if is_empty {
            return Err(no_kernels(&name, &text));
        }
        if let Some(read) = &read {
            warn_of_missing_member_masks(read, self.kernel.as_deref());
            mention_uninitialised(&name, &text, read);
            if !self.contract && !to_ptx {
                note_fusible_sums(read, self.kernel.as_deref());
            }
        }
        let mut header = None;
        if let TargetOption::Host(triple) = &self.target {
            let made = self.native.make(triple, &out, &name, &text)?;
            (out, header) = (made.object, made.header);
        }
        Ok(Product { bytes: out, draft, compiled: counted, times: times.into_values().collect(), header })
    }

    /// Returns a temporary output file for the object of a long text. The object is written to that
    /// file while kernels are still compiled. Returns `None` for native code and for short texts.
    fn draft(&self, text: &str) -> Option<TemporaryFile> {
        let is_whole = matches!(self.target, TargetOption::Target(_)) && text.len() >= LONG;
        let path = self.output.as_deref().filter(|&path| !to_stdout(Some(path)) && is_whole)?;
        TemporaryFile::new(path)
    }

    fn words(
        &self,
        name: &str,
        text: &str,
        read: Option<&ParsedFile>,
        imported: import_ptx::Options,
        options: &Options,
        watch: &mut Watch<'_>,
    ) -> Result<Compiled, Failure> {
        let compiled = if self.kernel.is_none() && !is_ptx(name) && !is_language(text) {
            pipeline::compile_text(text, options, watch)
        } else {
            let module = open(name, text, read, imported)?;
            pipeline::compile_kernels(&module, select(&module, self.kernel.as_deref())?, options, watch)
        };
        compiled.map_err(|error| Failure::compile(name, text, [error]))
    }
}

/// Returns the kernel with the given name, or all kernels. Fails if a requested kernel could not be
/// imported, or if there is no kernel.
pub(super) fn select<'m>(module: &'m Module, name: Option<&str>) -> Result<&'m [Kernel], Failure> {
    let kernels = &module.ir().kernels;
    if let Some(report) = refused(module, name) {
        return Err(report.into());
    }
    if kernels.is_empty() {
        return Err(no_kernels(module.file(), module.text()));
    }
    let Some(name) = name else {
        return Ok(kernels);
    };
    let name = name.strip_prefix('@').unwrap_or(name);
    let found = kernels.iter().find(|kernel| kernel.name == name).map(std::slice::from_ref);
    found.ok_or_else(|| no_kernel(module, name))
}

/// Returns the error for a text without kernels.
pub(super) fn no_kernels(file: &str, text: &str) -> Failure {
    let wrong = Diagnostic::new(Span::default(), "the file has no kernels").expected("`kernel @name(...) { ... }`");
    Report::new(file, text, vec![wrong]).into()
}

/// Returns the errors of the requested kernel, or of all kernels, that could not be imported.
pub(super) fn refused(module: &Module, name: Option<&str>) -> Option<Report> {
    let name = name.map(|name| name.strip_prefix('@').unwrap_or(name));
    let wanted = |refused: &&RefusedKernel| name.is_none_or(|name| refused.name == name);
    let mut errors: Vec<Diagnostic> =
        module.refused_kernels().iter().filter(wanted).flat_map(|refused| refused.errors.clone()).collect();
    errors.sort_by_key(|error| error.span.start);
    let first = if errors.is_empty() { return None } else { errors.remove(0) };
    let kernels = &module.ir().kernels;
    let first = if name.is_none() && !kernels.is_empty() {
        let names: Vec<String> = kernels.iter().map(|kernel| format!("@{}", kernel.name)).collect();
        first.note(None, format!("select a supported kernel with `--kernel NAME`: {}", names.join(", ")))
    } else {
        first
    };
    errors.insert(0, first);
    Some(module.report(errors))
}

/// Returns the error for an unknown kernel name.
pub(super) fn no_kernel(module: &Module, name: &str) -> Failure {
    let names = module.ir().kernels.iter().map(|kernel| kernel.name.as_str());
    let refused: Vec<&str> = module.refused_kernels().iter().map(|refused| refused.name.as_str()).collect();
    let message = format!("{} has no kernel `@{name}`{}", module.file(), suggestion_and_names(name, "@", names));
    Failure::Call(message + &and_refused(&refused))
}

/// Returns the end of a message that lists the kernels that could not be imported, or an empty string.
pub(super) fn and_refused(names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!("; refused: {}", names.join(", ")) }
}

fn timing<'t>(times: impl Iterator<Item = &'t (String, Duration)> + Clone) -> String {
    let all: Duration = times.clone().map(|(_, time)| *time).sum();
    let mut text = String::new();
    for (name, time) in times {
        let share = 100.0 * time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        // Writing to a string never fails.
        let _ = writeln!(text, "{name:<10} {:>10.1} us {share:>5.1} %", time.as_secs_f64() * 1e6);
    }
    let _ = write!(text, "{:<10} {:>10.1} us", "all", all.as_secs_f64() * 1e6);
    text
}

/// Converts the statistics of each kernel to JSON.
fn counts(target: Target, compiled: &Compiled) -> Vec<Value> {
    let kernel = |(of, code): (&Stats, &KernelCode)| {
        let block = |of: &BlockStats| {
            let [address, scalar, vector, branch] = of.words;
            json!({
                "block": of.block.to_string(),
                "bundles": of.bundles,
                "bound": of.bound,
                "words": { "address": address, "scalar": scalar, "vector": vector, "branch": branch },
            })
        };
        let rules =
            count_rules(target, &of.rules).into_iter().map(|(rule, count)| json!({ "rule": rule, "count": count }));
        json!({
            "kernel": of.kernel,
            "ops": of.ops,
            "lowered": of.lowered,
            "words": of.words,
            "compute": code.words.count(InstClass::Compute),
            "registers": of.registers,
            "spills": of.spills,
            "local_bytes": of.local_bytes,
            "blocks": of.blocks.iter().map(block).collect::<Vec<_>>(),
            "rules": rules.collect::<Vec<_>>(),
        })
    };
    compiled.stats.iter().zip(&compiled.code).map(kernel).collect()
}

fn statistics(target: Target, compiled: &Compiled) -> String {
    let mut text = String::new();
    for (of, code) in compiled.stats.iter().zip(&compiled.code) {
        let compute = code.words.count(InstClass::Compute);
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
