//! `halfbyte run`

mod results;

use std::cell::{Cell, RefCell};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use halfbyte::Shape;
use halfbyte::TARGETS;
use halfbyte::abi::Param;
use halfbyte::abi::{Alias, Limits, Watchdog};
use halfbyte::args::array::dtype_lines;
use halfbyte::args::bind::{Bound, bind};
use halfbyte::args::print::Sign;
use halfbyte::args::{Loader, Value, is_like_file};
use halfbyte::import_ptx::{self, Globals, Host, MAX_ITEMS, is_ptx, text_order_dependence, with_sources};
use halfbyte::include::ModuleReader;
use halfbyte::ir::diag::Lines;
use halfbyte::ir::eval::{Evaluated, Fault};
use halfbyte::ir::{Diagnostic, Space, Span};
use halfbyte::launch::{
    Engine, Evaluation, LaunchOptions, OrderDependence, Print, RaceCheck, Warn, evaluate, execute, fault_diagnostic,
    given, launch_diagnostic, may_depend_on_order, order_dependence, race_diagnostic, race_warning,
};
use halfbyte::pipeline::{self, Options};
use halfbyte::report::Report;
use halfbyte::runtime::ptx::{Step, Trace};
use halfbyte::runtime::{Kernel, LaunchError, Stats, Translation, Trap};
use halfbyte::target::Platform;
use halfbyte_cuda_cpp::is_cuda;
use halfbyte_testkit::approximate::approximations;
use halfbyte_testkit::harness::FailureKind;
use halfbyte_testkit::runlines::Name;
use serde_json::json;

use self::results::{Out, PrintFormat, results_json, write_results};
use super::compile::{and_refused, no_kernel, no_kernels, refused};
use super::cuda::{CudaArgs, compile_to_ptx};
use super::from_ptx::{mention_uninitialised, note_fusible_sums, read_ptx, warn_of_missing_member_masks};
use super::io::{Input, refuse_input};
use super::json_output::JsonOutput;
use super::limits::{LimitArgs, advice};
use super::meter::{Meter, grouped, seconds};
use super::names::suggestion_and_names;
use super::output::{mention, render, say};
use super::races::{Strictness, race_check};
use super::trace::{self, evaluate_traced};
use super::trace_ptx::StepPrinter;
use super::{Done, EngineName, Failure, OnArgs, ShapeArgs};

/// Runs a kernel once
///
/// VALUE is a number, a [list], @FILE.npy, @FILE.png, @FILE:DTYPE:SHAPE (a file without a header),
/// @FILE (raw bytes), zeros:TYPE:COUNT, zeros(COUNT) or random(COUNT, SEED). A hexadecimal number
/// (0x) gives the bits of a whole element; any other number is the value of every lane. &NAME or
/// &NAME+BYTES is an address in the buffer of another parameter, if the two may alias.
///
/// Buffers without --out are printed, in a form that is a valid VALUE.
///
/// An `out` buffer without a value gets as many elements as the launch accesses, initially zero.
///
/// A picture is 8-bit grey, RGB or RGBA; its bytes, row by row, fill the lanes. For example, an
/// i8x4 element is one pixel of an RGBA picture, or four pixels of a grey one.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{}", files()))]
pub(super) struct Run {
    /// Kernel file, PTX file (*.ptx), CUDA C++ file (*.cu), or object file written by compile; - is standard input
    file: PathBuf,
    /// Kernel; may be omitted if there is only one. Other kernels of a PTX file may be unsupported
    ///
    /// A kernel in CUDA C++ may have a namespace, template arguments or parameters: of::scale, scale<float>,
    /// scale(float *).
    #[arg(long, visible_alias = "entry", value_name = "NAME")]
    kernel: Option<String>,
    #[command(flatten)]
    on: OnArgs,
    /// Engine for machine code [default: interp; jit for directly executed PTX]
    #[arg(long, value_enum)]
    engine: Option<EngineName>,
    /// Number of work items along x; alternatively use --grid and --block
    #[arg(long, value_name = "N", required_unless_present = "grid")]
    items: Option<u32>,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Dynamic shared memory per block, in bytes
    #[arg(long, value_name = "BYTES", default_value = "0")]
    shared: u32,
    /// Make a cooperative launch: keep all blocks resident, so that blocks can wait for each other, as a barrier of
    /// the grid does
    ///
    /// Requires PTX and --target ptx. The launch runs in the interpreter, except with --engine cuda.
    #[arg(long)]
    cooperative: bool,
    /// Detect races and reads of uninitialised shared memory
    ///
    /// In directly executed PTX, they are detected during the launch. Otherwise, the evaluator runs
    /// the launch first. With --target ir, they are always detected. Two stores of the same value by
    /// the same instruction are a warning; with --races=strict, they are an error.
    #[arg(long, value_enum, require_equals = true, value_name = "MODE")]
    races: Option<Option<Strictness>>,
    /// Fuse products and sums of imported PTX where PTX permits it; by default the product and the sum are both rounded
    #[arg(long)]
    contract: bool,
    /// Maximum number of host threads; the interpreter uses one
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZero<u16>,
    /// Print the statistics of the launch to standard error
    #[arg(long)]
    stats: bool,
    /// Print each value that this work item computes, with its line, in execution order
    ///
    /// Requires --target ir, or PTX and --target ptx. For PTX, each executed instruction is printed with the registers
    /// that it writes, its memory accesses, and the targets of branches.
    #[arg(long, value_name = "ITEM")]
    trace: Option<u32>,
    /// Value of a parameter
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    args: Vec<String>,
    /// Output file of a buffer: FILE.npy, FILE.png, or any other file for raw bytes
    ///
    /// An .npy file has the dtype and shape of the buffer's own input array, or of another input with the same element
    /// type. A picture has the size of the input picture, unless FILE.png:WIDTHxHEIGHT specifies another size.
    #[arg(long = "out", value_name = "NAME=FILE")]
    outs: Vec<String>,
    /// Format in which buffers are printed
    #[arg(long, value_enum, default_value = "values")]
    print: PrintFormat,
    /// Print one JSON object (docs/json/run.schema.json), with buffers as values and as bits
    #[arg(long)]
    json: bool,
    /// Print and write integers as signed
    ///
    /// By default, the integers of a type are signed if an input of that type has a negative value
    /// or is a file of signed integers.
    #[arg(long, overrides_with = "unsigned")]
    signed: bool,
    /// Print and write integers as unsigned
    #[arg(long)]
    unsigned: bool,
    #[command(flatten)]
    cuda: CudaArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte run examples/axpy.hb --target halu --items 2 --arg a=2.0 --arg 'x=[1.0, 3.0]' --arg 'y=[1.0, 0.0]'
  halfbyte run mine.hb --kernel blur --target vp1 --items 4096 --arg x=@in.npy --arg y=zeros(4096) --out y=out.npy
  halfbyte run saxpy.ptx --target ptx --grid 4 --block 256 --arg n=1000 --arg x=@in.bin
  halfbyte run saxpy.ptx --target ptx --grid 4 --block 256 --arg n=1000 --arg x=@in.bin --trace 300
  halfbyte run scale.cu --target ptx --entry 'scale<float>' --grid 1 --block 4 --arg a=2.0 --arg 'x=[1.0, 2.0, 3.0, 4.0]'";

/// Note for a kernel with approximate instructions, whose results may differ on a GPU.
const APPROXIMATE: &str = "note: the kernel has an instruction that GPUs approximate: the result here is correctly rounded, but on a GPU only within the bound of the PTX manual";

/// Returns the part of the help text that lists the dtypes of files.
fn files() -> String {
    format!("Elements, and NumPy's dtypes of the files that they are read from and written to:\n{}", dtype_lines())
}

/// State that is shared by all steps of a launch.
struct LaunchContext<'a> {
    watchdog: &'a Watchdog,
    /// The JSON object for `--json`.
    answer: RefCell<JsonOutput>,
    /// `true` if the kernel has an instruction that GPUs approximate.
    approximate: Cell<bool>,
}

impl LaunchContext<'_> {
    fn set(&self, name: &str, value: impl Into<serde_json::Value>) {
        self.answer.borrow_mut().set(name, value);
    }

    /// Records the trap of a failed launch for `--json`.
    fn set_trap(&self, kind: FailureKind, item: Option<u32>, line: usize) {
        let mut trap = json!({ "kind": kind.name() });
        if let Some(item) = item {
            trap["item"] = item.into();
        }
        if line > 0 {
            trap["line"] = line.into();
        }
        self.set("trap", trap);
    }

    fn set_launch_error(&self, error: &LaunchError) {
        if let LaunchError::Trap(trap) = error {
            self.set_trap(FailureKind::of_trap(&trap.kind), Some(trap.item), trap.loc.line as usize);
        }
    }

    fn set_stats(&self, stats: &Stats, time: Duration) {
        let Stats { issued, backward_branches, tiles, bytes_in, bytes_out } = *stats;
        let seconds = time.as_secs_f64();
        self.set(
            "stats",
            json!({
                "instructions": issued, "backward_branches": backward_branches, "tiles": tiles, "bytes_in": bytes_in,
                "bytes_out": bytes_out, "seconds": seconds,
            }),
        );
    }
}

/// A compiled or parsed kernel that waits for its arguments.
enum Ready<'a> {
    Ir(&'a halfbyte::ir::Kernel),
    Words(&'a halfbyte::runtime::Kernel, Engine),
}

impl Run {
    fn races(&self) -> RaceCheck {
        race_check(self.races)
    }

    fn engine(&self) -> EngineName {
        let is_native = is_ptx(&self.file.to_string_lossy()) || is_cuda(&self.file);
        let is_native = is_native && self.on.is_text();
        let is_native = is_native && !self.races().is_on() && self.trace.is_none() && !self.cooperative;
        self.engine.unwrap_or(if is_native { EngineName::Jit } else { EngineName::Interp })
    }

    pub(super) fn run(mut self) -> Done {
        let (on, engine) = (self.on.on()?, self.engine().on_threads(self.threads));
        if on == Platform::Ir && engine != Engine::Interp {
            return Err(Failure::Call(format!(
                "--engine {engine} is not valid with target `ir`, which is always evaluated"
            )));
        }
        if let Platform::Target(target) = on
            && !TARGETS.runs(engine, target)
        {
            return Err(Failure::Call(format!(
                "engine `{engine}` cannot execute code for target {target}; use `--engine interp`"
            )));
        }
        if self.trace.is_some() && engine == Engine::Cuda {
            return Err(Failure::Call("--trace cannot trace a GPU; use `--engine interp`".into()));
        }
        if let Some(reason) = self.engine().missing(&self.on.sm) {
            return Err(Failure::input(format!("{reason}; `--engine interp` needs no GPU")));
        }
        let watchdog = self.limits.watchdog(Limits::generous());
        let answer = RefCell::new(JsonOutput::new("run"));
        let within = LaunchContext { watchdog: &watchdog, answer, approximate: Cell::new(false) };
        let done = self.run_within(&within);
        if let (Err(_), Some(advice)) = (&done, watchdog.exceeded().as_ref().and_then(advice)) {
            say(&format!("help: {advice}"));
        }
        if self.json { within.answer.into_inner().finish(done) } else { done }
    }

    fn run_within(&mut self, within: &LaunchContext<'_>) -> Done {
        let mut input = Input::read_at_most(&self.file, within.watchdog.limits().text_bytes)?;
        if is_cuda(&self.file) {
            (input, self.kernel) = compile_to_ptx(input, self.kernel.as_deref(), self.on.sm.version(), &self.cuda)?;
        }
        self.run_input(&input, within)
    }

    /// Runs a kernel of the input, which is PTX if the file is CUDA C++.
    fn run_input(&self, input: &Input, within: &LaunchContext<'_>) -> Done {
        let (on, engine) = (self.on.on()?, self.engine().on_threads(self.threads));
        let imported = import_ptx::Options { contract: self.contract, ..self.shape.imported(&input.name)? };
        let (shape, items) = self.launched(&input.name)?;
        trace::check(self.trace, on, is_ptx(&input.name) && self.on.is_text(), items)?;
        if self.contract && !is_ptx(&input.name) {
            return Err(Failure::Call(format!(
                "--contract is only valid for PTX input, and {} is not PTX",
                input.name
            )));
        }
        if self.contract && self.on.is_text() {
            let message = "--contract is only valid for imported PTX; direct execution rounds each product and sum";
            return Err(Failure::Call(format!("{message}; use --target ir, halu or vp1")));
        }
        let is_direct = is_ptx(&input.name) && self.on.is_text();
        if self.cooperative && !is_direct {
            let message = "--cooperative is only valid for directly executed PTX; use a PTX file with --target ptx";
            return Err(Failure::Call(message.into()));
        }
        if is_direct {
            return self.run_text(input, shape, engine, within);
        }
        if input.bytes.starts_with(b"\x7fELF") {
            let Platform::Target(target) = on else {
                return Err(Failure::Call(format!(
                    "{} is an object file, which has no IR; use --target with the target of the object",
                    input.name
                )));
            };
            let program = halfbyte::TARGETS
                .load(&input.bytes)
                .map_err(|error| Failure::input(format!("{}: {error}", input.name)))?;
            if program.header().target != target {
                return Err(Failure::Call(format!(
                    "{0} is an object file for {1}; use `--target {1}`",
                    input.name,
                    program.header().target
                )));
            }
            let names: Vec<&str> = program.kernels().iter().map(|kernel| kernel.signature().name()).collect();
            let name = self.name(&names, &[], &input.name, "")?;
            let missing =
                || Failure::Call(format!("{} has no kernel `@{name}`; it has {}", input.name, names.join(", ")));
            let kernel = program.kernel(name).ok_or_else(missing)?;
            let params = kernel.signature().given();
            let ready = Ready::Words(kernel, engine);
            return self.launch(&ready, None, name, params, (&input.name, ""), (shape, items), within);
        }
        let text = input.text()?;
        let read = read_ptx(&input.name, text)?;
        let module = match &read {
            Some(read) => import_ptx::import_read(&input.name, text, read, imported)?,
            None => ModuleReader::of(&input.name).watched(Some(within.watchdog)).read(text)?,
        };
        let names: Vec<&str> = module.ir().kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let unread: Vec<&str> = module.refused_kernels().iter().map(|refused| refused.name.as_str()).collect();
        if let Some(report) =
            refused(&module, self.kernel.as_deref()).filter(|_| self.kernel.is_some() || names.is_empty())
        {
            return Err(report.into());
        }
        let name = self.name(&names, &unread, &input.name, text)?;
        let kernels = &module.ir().kernels;
        let number = kernels.iter().position(|kernel| kernel.name == name).ok_or_else(|| no_kernel(&module, name))?;
        let kernels = kernels.get(number..=number).unwrap_or_default();
        let Some(kernel) = kernels.first() else {
            return Err(no_kernel(&module, name));
        };
        let params = given(kernel);
        if let Some(read) = &read {
            warn_of_missing_member_masks(read, Some(name));
            mention_uninitialised(&input.name, text, read);
            if !self.contract {
                note_fusible_sums(read, Some(name));
            }
        }
        within.approximate.set(approximations(&module, read.as_ref()).contains_key(name));
        let Platform::Target(target) = on else {
            let ready = Ready::Ir(kernel);
            return self.launch(&ready, Some(kernel), name, &params, (&input.name, text), (shape, items), within);
        };
        let (watchdog, several_axes) = (Some(within.watchdog.clone()), !shape.is_along_x());
        let options = Options { watchdog, several_axes, ..Options::new(target) };
        let binary = pipeline::compile(&module, kernels, &options, &mut |_| {});
        let binary = binary.map_err(|errors| Report::new(input.name.clone(), text, errors))?;
        let program = halfbyte::TARGETS.load(&binary.object).map_err(Failure::input)?;
        let loaded = program.kernel(name).ok_or_else(|| no_kernel(&module, name))?;
        let ready = Ready::Words(loaded, engine);
        self.launch(&ready, Some(kernel), name, &params, (&input.name, text), (shape, items), within)
    }

    /// Returns the name of the kernel to run. The name may be omitted only if the file has a single kernel. Unsupported
    /// kernels count too, so that the choice does not depend on which kernels can be imported.
    fn name<'n>(&'n self, names: &[&'n str], refused: &[&str], file: &str, text: &str) -> Result<&'n str, Failure> {
        match (&self.kernel, names, refused) {
            (Some(name), ..) => Ok(name.strip_prefix('@').unwrap_or(name)),
            (None, [name], []) => Ok(name),
            (None, [], []) => Err(no_kernels(file, text)),
            (None, ..) => {
                let message = format!("{file} has several kernels; select one with --kernel: {}", names.join(", "));
                Err(Failure::Call(message + &and_refused(refused)))
            }
        }
    }

    /// Returns the shape of the launch and its number of items. A PTX kernel needs a grid and a
    /// block; other kernels also accept a number of items.
    fn launched(&self, file: &str) -> Result<(Shape, u32), Failure> {
        let wrong = |message: String| Err(Failure::Call(message));
        let shape = match (self.items, self.shape.grid, self.shape.block) {
            (Some(items), None, None) if !is_ptx(file) => {
                return Ok((Shape { shared: self.shared, ..Shape::from(items) }, items));
            }
            (None, Some(grid), Some(block)) => Shape { shared: self.shared, ..Shape::from((grid, block)) },
            _ if is_ptx(file) => {
                return wrong("a PTX kernel needs both --grid (blocks) and --block (threads)".into());
            }
            (Some(_), ..) => return wrong("--items cannot be combined with --grid and --block".into()),
            (None, ..) => return wrong("give both --grid and --block, or --items".into()),
        };
        match shape.items() {
            Err(error) => wrong(error.to_string()),
            Ok(items) if is_ptx(file) && items > MAX_ITEMS => {
                wrong(format!("{shape} are {items} work items, more than {MAX_ITEMS}"))
            }
            Ok(items) => Ok((shape, items)),
        }
    }

    /// Executes a PTX kernel directly.
    fn run_text(&self, input: &Input, shape: Shape, engine: Engine, within: &LaunchContext<'_>) -> Done {
        let text = input.text()?;
        let read = import_ptx::read_each(&input.name, text)?;
        let names: Vec<&str> = read.module.entries.iter().map(|entry| entry.name.as_str()).collect();
        let unread: Vec<&str> = read.refused.iter().map(|refused| refused.name.as_str()).collect();
        if names.is_empty() && self.kernel.is_none() {
            // If no kernel of the text can run, all errors of the text are reported.
            import_ptx::read(&input.name, text)?;
        }
        let name = self.name(&names, &unread, &input.name, text)?;
        if read.kernel_by_ir_name(name).is_none() {
            let message = format!("{} has no kernel `{name}`{}", input.name, suggestion_and_names(name, "", names));
            return Err(Failure::Call(message + &and_refused(&unread)));
        }
        let load = || Host::load_of(&input.name, text, &read, name, &Globals::default());
        let host = load()?;
        warn_of_missing_member_masks(&read, Some(name));
        mention_uninitialised(&input.name, text, &read);
        within.approximate.set(host.is_approximate());
        let outs = self.outs(host.params())?;
        let mut bound = self.values(name, host.params(), None, within.watchdog)?;
        let start = Instant::now();
        self.describe(within, name, engine, shape.items().unwrap_or(0));
        let print = Some(Print(&super::io::print_of_kernel));
        let Bound { args, aliases, .. } = &mut bound;
        let (races, cooperative, watchdog) = (self.races(), self.cooperative, Some(within.watchdog));
        let warnings = Mutex::new(Vec::new());
        let lines = Lines::new(text);
        let on = format!("ptx ({engine})");
        let warn = |race: &Trap| {
            let warning = with_sources(race_warning(race, &lines, &on), &lines, &read);
            warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
        };
        let warn = Some(Warn(&warn));
        let printer = StepPrinter::new(self.sign().unwrap_or_default());
        let step = |step: &Step| printer.print(step);
        let trace = self.trace.map(|item| Trace { item, step: &step });
        let how = LaunchOptions { watchdog, print, aliases, races, warn, trace, ..LaunchOptions::from(engine) };
        let how = LaunchOptions { cooperative, ..how };
        let before = races.is_on().then(|| args.clone());
        let failure = |error| match error {
            LaunchError::Trap(trap) => {
                let error = LaunchError::Trap(trap);
                within.set_launch_error(&error);
                let trap = launch_diagnostic(&error, &lines, Span::default(), &on);
                Failure::from(Report::new(&*input.name, text, vec![with_sources(trap, &lines, &read)]))
            }
            error @ (LaunchError::Cuda { .. } | LaunchError::Exceeded { .. }) => Failure::input(error),
            error => Failure::Call(error.to_string()),
        };
        let launched = host.launch_on(how, shape, args);
        if self.trace.is_some() {
            printer.end();
        }
        let stats = launched.map_err(failure)?;
        within.set_stats(&stats, start.elapsed());
        let warnings = std::mem::take(&mut *warnings.lock().unwrap_or_else(PoisonError::into_inner));
        self.warn(within, (&input.name, text), warnings);
        if let Some(before) = before {
            let found = text_order_dependence(&load, how, shape, &before, args).map_err(failure)?;
            found.iter().for_each(|found| warn_of_order(found, host.params()));
        }
        if self.stats && !self.json {
            let mut text = statistics(engine, &stats, start.elapsed(), host.translation());
            let why = match () {
                () if races.is_on() => Some("race detection is on"),
                () if self.trace.is_some() => Some("the launch is traced"),
                () if self.cooperative => Some("the launch is cooperative"),
                () if !bound.aliases.is_empty() => Some("arguments overlap"),
                () if host.is_interpreted() => Some("native code does not support the kernel"),
                () => None,
            };
            if let (Engine::Jit { .. }, Some(why)) = (engine, why) {
                text += &format!("; the interpreter ran it: {why}");
            }
            say(&text);
        }
        self.write_results(within, host.params(), &bound, &outs)
    }

    /// Prints warnings about a launch, or records them for `--json`.
    fn warn(&self, within: &LaunchContext<'_>, (file, text): (&str, &str), warnings: Vec<Diagnostic>) {
        if warnings.is_empty() {
            return;
        }
        let warnings = Report::warnings(file, text, warnings);
        match self.json {
            true => within.answer.borrow_mut().report(&warnings),
            false => mention(&render(&warnings)),
        }
    }

    /// Returns the signedness of printed integers that the command line requests, if any.
    fn sign(&self) -> Option<Sign> {
        (self.signed || self.unsigned).then_some(Sign::signed(self.signed))
    }

    /// Runs the launch on machine code. `kernel` is the IR of the kernel, if available. The
    /// evaluator uses it to find the sizes of buffers without a value.
    #[allow(clippy::too_many_arguments)]
    fn launch(
        &self,
        ready: &Ready<'_>,
        kernel: Option<&halfbyte::ir::Kernel>,
        name: &str,
        params: &[Param],
        (file, text): (&str, &str),
        (shape, items): (Shape, u32),
        within: &LaunchContext<'_>,
    ) -> Done {
        let outs = self.outs(params)?;
        let mut bound = self.values(name, params, kernel.map(|kernel| (kernel, shape)), within.watchdog)?;
        let signs = bound.signs();
        let sign = |elem| self.sign().unwrap_or_else(|| signs(elem));
        let Bound { args, aliases, .. } = &mut bound;
        let (watchdog, races) = (Some(within.watchdog), self.races().max(RaceCheck::On));
        let how = Evaluation { watchdog, aliases, races, ..Evaluation::from(shape) };
        let (start, lines) = (Span::default(), Lines::new(text));
        if self.items.is_some() && kernel.is_some_and(depends_on_groups) {
            let [size, ..] = shape.block;
            let groups = match items / size.max(1) {
                1 => format!("a group of {size}"),
                groups => format!("{groups} groups of {size}"),
            };
            mention(&format!("note: {items} items run as {groups}; use --grid and --block for other groups"));
        }
        self.describe(within, name, self.engine().on_threads(self.threads), items);
        let of_fault = |kernel: &halfbyte::ir::Kernel, fault: &Fault| {
            let diagnostic = fault_diagnostic(fault, kernel, &shape, kernel.span);
            let item = if let Fault::Trap(trap) = fault { Some(trap.item) } else { None };
            if let Fault::Trap(_) | Fault::Race(_) = fault {
                within.set_trap(FailureKind::of_fault(fault, kernel), item, lines.position(diagnostic.span.start).line);
            }
            diagnostic
        };
        let sourced = |diagnostic: Diagnostic| {
            let read = if is_ptx(file) { import_ptx::read_each(file, text).ok() } else { None };
            read.map_or_else(|| diagnostic.clone(), |read| with_sources(diagnostic.clone(), &lines, &read))
        };
        let report = |diagnostic| Failure::from(Report::new(file, text, vec![sourced(diagnostic)]));
        let warn = |kernel, evaluated: &Evaluated| {
            let races = evaluated.same_value_races().iter();
            let warnings = races.map(|race| sourced(race_diagnostic(race, kernel, &shape))).collect();
            self.warn(within, (file, text), warnings);
        };
        if let (Ready::Words(..), true) = (ready, self.races().is_on()) {
            let Some(kernel) = kernel else {
                return Err(Failure::Call("--races needs a source text; an object file has none".into()));
            };
            let mut after = args.clone();
            let evaluated = evaluate(kernel, how, &mut after);
            let checked = evaluated.and_then(|evaluated| {
                warn(kernel, &evaluated);
                order_dependence(kernel, how, args, &after)
            });
            match checked {
                Ok(found) => found.iter().for_each(|found| warn_of_order(found, params)),
                Err(fault) => return Err(report(of_fault(kernel, &fault))),
            }
        }
        let failed = match ready {
            Ready::Ir(kernel) => {
                let before = may_depend_on_order(kernel).then(|| args.clone());
                let evaluated = match self.trace {
                    Some(item) => evaluate_traced(kernel, text, item, how, args, &sign),
                    None => evaluate(kernel, how, args),
                };
                if let Ok(evaluated) = &evaluated {
                    warn(kernel, evaluated);
                }
                let dependence = match (&evaluated, before) {
                    (Ok(_), Some(before)) => order_dependence(kernel, how, &before, args),
                    _ => Ok(None),
                };
                if let Ok(Some(found)) = &dependence {
                    warn_of_order(found, params);
                }
                evaluated.and(dependence.map(drop)).err().map(|fault| of_fault(kernel, &fault))
            }
            Ready::Words(kernel, engine) => {
                match self.execute(kernel, *engine, (shape, items), (args, aliases), within) {
                    Ok(()) => None,
                    // An object file has no source text that the message could show.
                    Err(error @ (LaunchError::Trap(_) | LaunchError::Exceeded { .. })) if text.is_empty() => {
                        return Err(Failure::input(error));
                    }
                    Err(error) => {
                        Some(launch_diagnostic(&error, &lines, start, &format!("{} ({engine})", self.target_name())))
                    }
                }
            }
        };
        if let Some(diagnostic) = failed {
            return Err(report(diagnostic));
        }
        self.write_results(within, params, &bound, &outs)
    }

    /// Executes machine code, and shows the progress of a long launch.
    fn execute(
        &self,
        kernel: &Kernel,
        engine: Engine,
        (shape, items): (Shape, u32),
        (args, aliases): (&mut [Vec<u8>], &[Alias]),
        within: &LaunchContext<'_>,
    ) -> Result<(), LaunchError> {
        let done = AtomicU32::new(0);
        let mut meter = Meter::new(Duration::from_secs(1));
        let start = Instant::now();
        let result = std::thread::scope(|scope| {
            let (ended, end) = mpsc::channel::<()>();
            let done = &done;
            scope.spawn(move || {
                while end.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                    let done = done.load(Ordering::Relaxed);
                    meter.show(|time| {
                        let percent = u64::from(done) * 100 / u64::from(items.max(1));
                        let (done, items) = (grouped(done.into()), grouped(items.into()));
                        format!("{percent:>3} %  {done} of {items} items in {}", seconds(time))
                    });
                }
                meter.clear();
            });
            let result = execute(
                kernel,
                LaunchOptions {
                    done: Some(done),
                    watchdog: Some(within.watchdog),
                    aliases,
                    ..LaunchOptions::from(engine)
                },
                shape,
                args,
            );
            drop(ended);
            result
        });
        let time = start.elapsed();
        match &result {
            Ok(stats) => within.set_stats(stats, time),
            Err(error) => within.set_launch_error(error),
        }
        if let (true, Ok(stats)) = (self.stats && !self.json, &result) {
            let mut text = statistics(engine, stats, time, kernel.translation());
            if matches!(engine, Engine::Jit { .. }) && kernel.is_interpreted() {
                text += match self.on.target {
                    Platform::Target(target) if target == halfbyte::HALU => {
                        "; the interpreter ran it, because its items may poll memory that other items write"
                    }
                    _ => "; native code does not support the kernel, so the interpreter ran it",
                };
            }
            say(&text);
        }
        result.map(|_| ())
    }

    /// Records the kernel, the target and the engine for `--json`.
    fn describe(&self, within: &LaunchContext<'_>, kernel: &str, engine: Engine, items: u32) {
        within.set("kernel", kernel);
        within.set("target", self.target_name());
        if !matches!(self.on.target, Platform::Ir) {
            within.set("engine", engine.to_string());
        }
        within.set("items", items);
    }

    fn write_results(&self, within: &LaunchContext<'_>, params: &[Param], bound: &Bound, outs: &[Out<'_>]) -> Done {
        let approximate = within.approximate.get();
        if !self.json {
            write_results(params, bound, outs, self.print, self.sign())?;
            if approximate {
                mention(APPROXIMATE);
            }
            return Ok(());
        }
        if approximate {
            within.set("approximate", true);
        }
        let buffers = results_json(params, bound, outs, self.sign())?;
        within.set("buffers", buffers);
        Ok(())
    }

    fn target_name(&self) -> &'static str {
        self.on.target.name()
    }

    /// Parses the options `--out`.
    fn outs(&self, params: &[Param]) -> Result<Vec<Out<'_>>, Failure> {
        let results: Vec<&str> =
            params.iter().filter(|param| param.is_result()).map(|param| param.name.as_str()).collect();
        // The input files of the arguments `NAME=@FILE`; a dtype and a shape may follow the file name.
        let files = self.args.iter().filter_map(|arg| arg.split_once("=@").map(|(_, file)| file));
        let files = files.flat_map(|file| [file, file.split(':').next().unwrap_or(file)]).map(Path::new);
        let inputs: Vec<&Path> = std::iter::once(self.file.as_path()).chain(files).collect();
        let mut outs = Vec::new();
        for text in &self.outs {
            let out = Out::parse(text)?;
            refuse_input(Some(out.path), inputs.iter().copied())?;
            if !results.contains(&out.name) {
                let names = if results.is_empty() { "none".into() } else { results.join(", ") };
                let name = out.name;
                let wrong = format!(
                    "--out {text}: `{name}` is not an out or inout buffer; the out and inout buffers are: {names}"
                );
                return Err(Failure::Call(wrong));
            }
            outs.push(out);
        }
        Ok(outs)
    }

    /// Parses the arguments and binds them to parameters. Error messages show the arguments as a
    /// text with one argument per line.
    fn values(
        &self,
        name: &str,
        params: &[Param],
        launched: Option<(&halfbyte::ir::Kernel, Shape)>,
        watchdog: &Watchdog,
    ) -> Result<Bound, Failure> {
        let mut shown = String::new();
        let (mut values, mut errors): (Vec<(Name, Value)>, _) = (Vec::new(), Vec::new());
        for arg in &self.args {
            let start = shown.len() as u32 + "--arg ".len() as u32;
            shown += &format!("--arg {arg}\n");
            let whole = Span { start, end: start + arg.len() as u32 };
            let Some((name, text)) = arg.split_once('=') else {
                errors.push(Diagnostic::new(whole, "the argument has no value").expected("NAME=VALUE"));
                continue;
            };
            let span = Span { start, end: start + name.len() as u32 };
            if values.iter().any(|((other, _), _)| other == name) {
                errors.push(Diagnostic::new(span, format!("`{name}` is given twice")));
                continue;
            }
            if is_like_file(text) {
                let place = Span { start: span.end + 1, end: whole.end };
                let message = format!("`{text}` is not a value; did you mean `@{text}`?");
                errors.push(Diagnostic::new(place, message).expected("`@` before the name of a file"));
                continue;
            }
            match Value::parse(text) {
                Ok(mut value) => {
                    value.shift(span.end + 1);
                    values.push(((name.to_owned(), span), value));
                }
                Err(mut error) => {
                    error.span.start += span.end + 1;
                    error.span.end += span.end + 1;
                    errors.push(error);
                }
            }
        }
        let end = shown.trim_end().len() as u32;
        if errors.is_empty() {
            // Relative file names refer to the current directory.
            let loader = Loader::unrestricted(Path::new("")).watched(Some(watchdog));
            let place = Span { start: end, end };
            let bound = bind(params, &values, &[], &loader, place).and_then(|mut bound| match launched {
                Some((kernel, shape)) => {
                    bound.size_open_buffers(kernel, shape, Some(watchdog));
                    Ok(bound)
                }
                None => bound.require_sizes(params, place),
            });
            match bound {
                Ok(bound) => return Ok(bound),
                Err(wrong) => errors = wrong,
            }
        }
        let report = Report::new(format!("arguments of @{name}"), shown, errors);
        Err(Failure::Call(report.render(false).trim_start_matches("error: ").to_owned()))
    }
}

fn statistics(engine: Engine, stats: &Stats, time: Duration, translation: Option<Translation>) -> String {
    if engine == Engine::Cuda {
        return format!("{:.3} ms on the GPU, assembling and copying included", time.as_secs_f64() * 1e3);
    }
    let Stats { issued, backward_branches, tiles, bytes_in, bytes_out } = *stats;
    let mut text = format!(
        "{} instructions and {} backward branches in {:.3} ms",
        grouped(issued),
        grouped(backward_branches),
        time.as_secs_f64() * 1e3
    );
    if tiles > 0 {
        let [tiles, bytes_in, bytes_out] = [tiles, bytes_in, bytes_out].map(grouped);
        text += &format!("; {tiles} tiles, {bytes_in} bytes copied in, {bytes_out} out");
    }
    if let Some(Translation { time, functions, bytes }) = translation {
        let ([functions, bytes], time) = ([functions, bytes].map(|n| grouped(n as u64)), time.as_secs_f64() * 1e3);
        text += &format!("; of that {time:.3} ms to make native code, {functions} functions of {bytes} bytes");
    }
    text
}

/// Returns `true` if the kernel's results may depend on how items are assigned to groups.
fn depends_on_groups(kernel: &halfbyte::ir::Kernel) -> bool {
    kernel.insts.values().any(|inst| inst.op.is_convergent() || inst.op.tells_group())
        || kernel.arrays.iter().any(|array| array.space == Space::Shared)
}

/// Warns that a result depends on the execution order of the items.
fn warn_of_order(found: &OrderDependence, params: &[Param]) {
    let name = |param: usize| params.get(param).map_or("", |param| param.name.as_str());
    say(&format!("warning: {}", found.message(name)));
}
