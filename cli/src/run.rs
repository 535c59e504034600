//! `halfbyte run`

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use halfbyte::abi::Param;
use halfbyte::abi::{Limits, Watchdog};
use halfbyte::import_ptx::{self, Host, MAX_ITEMS, Shape, is_ptx};
use halfbyte::ir::diag::Lines;
use halfbyte::ir::eval::DEFAULT_BUDGET;
use halfbyte::ir::{Diagnostic, Span};
use halfbyte::launch::{Engine, How, evaluate_watched, execute, fault_diagnostic, given, launch_diagnostic};
use halfbyte::pipeline::{self, Options};
use halfbyte::report::Report;
use halfbyte::runtime::{Kernel, LaunchError, Stats, Translation};
use halfbyte::target::On;
use halfbyte::{Module, TARGETS};
use halfbyte_testkit::bind::bind;
use halfbyte_testkit::runlines::Name;
use halfbyte_testkit::values::{Loader, Value, list, npy};

use super::compile::no_kernel;
use super::io::{Input, print, write};
use super::limits::{LimitArgs, advice};
use super::meter::{Meter, grouped, seconds};
use super::{Done, EngineName, Failure, OnArgs, ShapeArgs, say};

/// Runs one kernel once
///
/// VALUE is a number, a [list], @FILE.npy, @FILE (its bytes), zeros:TYPE:COUNT, zeros(COUNT) or random(COUNT, SEED).
/// A number in 0x hexadecimal is the bits of a whole element; any other is the value of every lane. What --out
/// does not name is printed.
#[derive(clap::Args)]
pub(super) struct Run {
    /// The kernel file, a file in PTX (*.ptx), or an object file that compile has made; - is standard input
    file: PathBuf,
    /// The kernel; may be left out where there is one
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    #[command(flatten)]
    on: OnArgs,
    /// What executes words
    #[arg(long, value_enum, default_value = "interp")]
    engine: EngineName,
    /// The number of work items
    #[arg(long, value_name = "N", required_unless_present = "grid")]
    items: Option<u32>,
    #[command(flatten)]
    shape: ShapeArgs,
    /// Host threads at most; the interpreter takes one
    #[arg(long, value_name = "N", default_value = "1")]
    threads: NonZero<u16>,
    /// Say on standard error what the launch took
    #[arg(long)]
    stats: bool,
    /// A parameter's value
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    args: Vec<String>,
    /// Where a buffer goes afterwards: an .npy file, or its bytes
    #[arg(long = "out", value_name = "NAME=FILE")]
    outs: Vec<String>,
    #[command(flatten)]
    limits: LimitArgs,
}

/// The kernel to run, ready for its arguments.
enum Ready<'a> {
    Ir(&'a halfbyte::ir::Kernel),
    Words(&'a halfbyte::runtime::Kernel, Engine),
}

impl Run {
    pub(super) fn run(self) -> Done {
        let (on, engine) = (self.on.on(), self.engine.on_threads(self.threads));
        if let On::Words(target) = on
            && !TARGETS.runs(engine, target)
        {
            return Err(Failure::Call(format!("engine `{engine}` does not run what is for {target}; `interp` does")));
        }
        if let Some(reason) = self.engine.missing(&self.on.sm) {
            return Err(Failure::input(format!("{reason}; engine `interp` needs no GPU")));
        }
        let watchdog = self.limits.watchdog(Limits::generous());
        let done = self.run_within(&watchdog);
        if let (Err(_), Some(advice)) = (&done, watchdog.exceeded().as_ref().and_then(advice)) {
            say(&format!("help: {advice}"));
        }
        done
    }

    fn run_within(&self, watchdog: &Watchdog) -> Done {
        let (on, engine) = (self.on.on(), self.engine.on_threads(self.threads));
        let input = Input::read(&self.file)?;
        let shape = self.shape.shape()?;
        let items = self.items(&input.name, shape)?;
        if is_ptx(&input.name) && self.on.is_text() {
            return self.run_text(&input, shape, engine, watchdog);
        }
        if input.bytes.starts_with(b"\x7fELF") {
            let On::Words(target) = on else {
                return Err(Failure::Call(format!(
                    "{} is an object file; it runs on its target, not on ir",
                    input.name
                )));
            };
            let program = halfbyte::TARGETS
                .load(&input.bytes)
                .map_err(|error| Failure::input(format!("{}: {error}", input.name)))?;
            if program.header().target != target {
                return Err(Failure::Call(format!("{} is for {}", input.name, program.header().target)));
            }
            let names: Vec<&str> = program.kernels().iter().map(|kernel| kernel.signature().name()).collect();
            let name = self.name(&names, &input.name)?;
            let missing =
                || Failure::Call(format!("{} has no kernel `@{name}`; it has {}", input.name, names.join(", ")));
            let kernel = program.kernel(name).ok_or_else(missing)?;
            let params = kernel.signature().given();
            return self.launch(&Ready::Words(kernel, engine), name, params, (&input.name, ""), items, watchdog);
        }
        let text = input.text()?;
        let module = Module::open(&input.name, text, shape)?;
        let names: Vec<&str> = module.ir().kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let name = self.name(&names, &input.name)?;
        let kernels = &module.ir().kernels;
        let number = kernels.iter().position(|kernel| kernel.name == name).ok_or_else(|| no_kernel(&module, name))?;
        let kernels = kernels.get(number..=number).unwrap_or_default();
        let Some(kernel) = kernels.first() else {
            return Err(no_kernel(&module, name));
        };
        let params = given(kernel);
        let On::Words(target) = on else {
            return self.launch(&Ready::Ir(kernel), name, &params, (&input.name, text), items, watchdog);
        };
        let options = Options { watchdog: Some(watchdog.clone()), ..Options::new(target) };
        let binary = pipeline::compile(&module, kernels, &options, &mut |_| {});
        let binary = binary.map_err(|errors| Report::new(input.name.clone(), text, errors))?;
        let program = halfbyte::TARGETS.load(&binary.object).map_err(Failure::input)?;
        let loaded = program.kernel(name).ok_or_else(|| no_kernel(&module, name))?;
        self.launch(&Ready::Words(loaded, engine), name, &params, (&input.name, text), items, watchdog)
    }

    /// The kernel's name.
    fn name<'n>(&'n self, names: &[&'n str], file: &str) -> Result<&'n str, Failure> {
        match (&self.kernel, names) {
            (Some(name), _) => Ok(name.strip_prefix('@').unwrap_or(name)),
            (None, [name]) => Ok(name),
            (None, []) => Err(Failure::input(format!("{file} has no kernel"))),
            (None, _) => Err(Failure::Call(format!("say which --kernel of {file}: {}", names.join(", ")))),
        }
    }

    /// The number of work items: a kernel in PTX is launched over blocks of threads, others over items.
    fn items(&self, file: &str, shape: Shape) -> Result<u32, Failure> {
        match (self.items, shape.grid.zip(shape.block), is_ptx(file)) {
            (Some(items), _, false) => Ok(items),
            (_, Some((grid, block)), true) => grid
                .checked_mul(block)
                .filter(|&items| items <= MAX_ITEMS)
                .ok_or_else(|| Failure::Call(format!("{grid} blocks of {block} threads are more than {MAX_ITEMS}"))),
            (_, _, true) => {
                Err(Failure::Call("a kernel in PTX is launched over --grid blocks of --block threads".into()))
            }
            (None, _, false) => Err(Failure::Call("--grid and --block are for kernels in PTX; say --items".into())),
        }
    }

    /// Runs a kernel in PTX as it stands.
    fn run_text(&self, input: &Input, shape: Shape, engine: Engine, watchdog: &Watchdog) -> Done {
        let text = input.text()?;
        let read = import_ptx::read(&input.name, text)?;
        let names: Vec<&str> = read.module.entries.iter().map(|entry| entry.name.as_str()).collect();
        let name = self.name(&names, &input.name)?;
        if !names.contains(&name) {
            return Err(Failure::Call(format!("{} has no kernel `{name}`; it has {}", input.name, names.join(", "))));
        }
        let host = Host::load(&input.name, text, name)?;
        let outs = self.outs(host.params())?;
        let mut args = self.values(name, host.params(), watchdog)?;
        let start = Instant::now();
        let (grid, block) = (shape.grid.unwrap_or(1), shape.block.unwrap_or(1));
        let how = How { watchdog: Some(watchdog), ..How::from(engine) };
        let stats = host.launch_on(how, grid, block, &mut args).map_err(|error| match error {
            LaunchError::Trap(trap) => {
                let error = LaunchError::Trap(trap);
                let trap = launch_diagnostic(&error, &Lines::new(text), Span::default(), "ptx (interp)");
                Failure::from(Report::new(&*input.name, text, vec![trap]))
            }
            error @ (LaunchError::Cuda { .. } | LaunchError::Exceeded { .. }) => Failure::input(error),
            error => Failure::Call(error.to_string()),
        })?;
        if self.stats {
            say(&statistics(engine, &stats, start.elapsed(), None));
        }
        write_results(host.params(), &args, &outs)
    }

    fn launch(
        &self,
        ready: &Ready<'_>,
        name: &str,
        params: &[Param],
        (file, text): (&str, &str),
        items: u32,
        watchdog: &Watchdog,
    ) -> Done {
        let outs = self.outs(params)?;
        let mut args = self.values(name, params, watchdog)?;
        let start = Span::default();
        let failed = match ready {
            Ready::Ir(kernel) => {
                let evaluated = evaluate_watched(kernel, items, DEFAULT_BUDGET, Some(watchdog), &mut args);
                evaluated.err().map(|fault| fault_diagnostic(&fault, kernel, kernel.span))
            }
            Ready::Words(kernel, engine) => match self.execute(kernel, *engine, items, &mut args, watchdog) {
                Ok(()) => None,
                // An object has no text to show.
                Err(error @ (LaunchError::Trap(_) | LaunchError::Exceeded { .. })) if text.is_empty() => {
                    return Err(Failure::input(error));
                }
                Err(error) => Some(launch_diagnostic(
                    &error,
                    &Lines::new(text),
                    start,
                    &format!("{} ({engine})", self.target_name()),
                )),
            },
        };
        if let Some(diagnostic) = failed {
            return Err(Report::new(file, text, vec![diagnostic]).into());
        }
        write_results(params, &args, &outs)
    }

    /// Runs words, and shows how far they are where that takes long.
    fn execute(
        &self,
        kernel: &Kernel,
        engine: Engine,
        items: u32,
        args: &mut [Vec<u8>],
        watchdog: &Watchdog,
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
            let result =
                execute(kernel, How { done: Some(done), watchdog: Some(watchdog), ..How::from(engine) }, items, args);
            drop(ended);
            result
        });
        let time = start.elapsed();
        if let (true, Ok(stats)) = (self.stats, &result) {
            say(&statistics(engine, stats, time, kernel.translation()));
        }
        result.map(|_| ())
    }

    fn target_name(&self) -> &'static str {
        self.on.on().name()
    }

    /// Where buffers go, by name.
    fn outs<'s>(&'s self, params: &[Param]) -> Result<Vec<(&'s str, &'s str)>, Failure> {
        let results: Vec<&str> =
            params.iter().filter(|param| param.is_result()).map(|param| param.name.as_str()).collect();
        let out = |out: &'s String| {
            let Some((name, path)) = out.split_once('=') else {
                return Err(Failure::Call(format!("--out {out}: expected NAME=FILE")));
            };
            if results.contains(&name) {
                return Ok((name, path));
            }
            let names = if results.is_empty() { "none".into() } else { results.join(", ") };
            Err(Failure::Call(format!("--out {out}: `{name}` is no out or inout buffer; these are {names}")))
        };
        self.outs.iter().map(out).collect()
    }

    /// The arguments' bytes. Messages show the arguments, a line each, as their text.
    fn values(&self, kernel: &str, params: &[Param], watchdog: &Watchdog) -> Result<Vec<Vec<u8>>, Failure> {
        let mut shown = String::new();
        let (mut values, mut errors): (Vec<(Name, Value)>, _) = (Vec::new(), Vec::new());
        for arg in &self.args {
            let start = shown.len() as u32 + "--arg ".len() as u32;
            shown += &format!("--arg {arg}\n");
            let whole = Span { start, end: start + arg.len() as u32 };
            let Some((name, text)) = arg.split_once('=') else {
                errors.push(Diagnostic::new(whole, "this gives no value").expected("NAME=VALUE"));
                continue;
            };
            let span = Span { start, end: start + name.len() as u32 };
            if values.iter().any(|((other, _), _)| other == name) {
                errors.push(Diagnostic::new(span, format!("`{name}` is given twice")));
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
            // Files are named from where the call is made.
            let loader = Loader::anywhere(Path::new("")).watched(Some(watchdog));
            match bind(params, &values, &[], &loader, Span { start: end, end }) {
                Ok(bound) => return Ok(bound.args),
                Err(wrong) => errors = wrong,
            }
        }
        let report = Report::new(format!("arguments of @{kernel}"), shown, errors);
        Err(Failure::Call(report.render(false).trim_start_matches("error: ").to_owned()))
    }
}

/// Writes what a launch has left in its buffers, to where the call says.
fn write_results(params: &[Param], args: &[Vec<u8>], outs: &[(&str, &str)]) -> Done {
    for (param, bytes) in params.iter().zip(args).filter(|(param, _)| param.is_result()) {
        match outs.iter().find(|(name, _)| *name == param.name) {
            Some((_, path)) if Path::new(path).extension().is_some_and(|extension| extension == "npy") => {
                write(Some(Path::new(path)), &npy::write(bytes, param.ty()))?;
            }
            Some((_, path)) => write(Some(Path::new(path)), bytes)?,
            None => print(format!("{}={}\n", param.name, list(param.ty(), bytes)).as_bytes())?,
        }
    }
    Ok(())
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
