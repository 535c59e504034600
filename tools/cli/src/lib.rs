//! The command line of `halfbyte`, as a function [`run`] that other programs can call. Each
//! subcommand has a file of its own.
//!
//! Data go to standard output, messages to standard error. The exit code is 0 for success, 1 if the
//! input has errors, 2 if the command line has errors, and 130 after Ctrl-C. The command `exec`
//! returns the exit code of the program that it runs.

mod asm;
mod check;
mod compile;
mod completions;
mod corpus;
mod cuda;
mod disasm;
mod exec;
mod explain;
mod fmt;
mod from_ptx;
mod interrupt;
mod io;
mod isa;
mod json;
mod json_output;
mod junit;
mod launch;
mod limits;
mod man;
mod meter;
mod names;
#[cfg_attr(not(feature = "aot"), path = "no_native.rs")]
mod native;
mod numbers;
mod output;
mod prove;
mod quality;
mod races;
mod random;
mod reduce;
mod routes;
mod run;
mod search;
mod step;
mod support;
mod target_option;
mod temporary_file;
mod test;
mod trace;
mod trace_ptx;
mod view;
mod watch;

use std::ffi::{OsStr, OsString};
use std::fmt::LowerHex;
use std::num::{NonZero, ParseIntError};
use std::sync::Arc;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Args, Parser, Subcommand, ValueEnum};
use halfbyte::abi::KernelFormat;
use halfbyte::import_ptx::{self, MAX_BLOCK, Shape, is_ptx};
use halfbyte::ir::Diagnostic;
use halfbyte::isa::docs::Set;
use halfbyte::isa::ptx::module;
use halfbyte::isa::text::{AsmError, Program};
use halfbyte::isa::{halu, vp1};
use halfbyte::launch::Engine;
use halfbyte::report::Report;
use halfbyte::runtime::ptx::device;
use halfbyte::target::Platform;
use halfbyte::{CompileError, Sm, TARGETS, Target};

use output::{OutputArgs, render, say};

/// Compiles kernels on packed half and byte vectors, and runs their machine code bit for bit.
#[derive(Parser)]
#[command(name = "halfbyte", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte check examples
  halfbyte compile examples/axpy.hb --target halu --emit asm
  halfbyte run examples/axpy.hb --target halu --items 2 --arg a=2.0 --arg 'x=[1.0, 3.0]' --arg 'y=[1.0, 0.0]'
  halfbyte explain examples/axpy.hb --at %r --target halu
  halfbyte view examples/median.hb -o page.html
  halfbyte check examples --engine cuda
  halfbyte exec --races -- python -m pytest tests
  halfbyte test tests/files --coverage
  halfbyte quality examples -o docs/quality.md
  halfbyte reduce wrong.hb -o less.hb
  halfbyte launch --json < launches.jsonl
  halfbyte completions bash > ~/.local/share/bash-completion/completions/halfbyte
  echo 'HADD2 R0, R1, R2' | halfbyte asm --target halu - | halfbyte disasm --target halu -

A file named - is standard input. Exit codes: 0 all went well, 1 the input is at fault, 2 the call is,
130 it was interrupted; exec has the exit code of its program.";

#[derive(Subcommand)]
enum Command {
    Check(check::Check),
    Run(run::Run),
    Exec(exec::Exec),
    Compile(compile::Compile),
    Completions(completions::Completions),
    Corpus(corpus::Corpus),
    Asm(asm::Asm),
    Disasm(disasm::Disasm),
    Step(step::Step),
    Isa(isa::Isa),
    Launch(launch::Launch),
    Man(man::Man),
    Explain(explain::Explain),
    Fmt(fmt::Fmt),
    Prove(prove::Prove),
    Quality(quality::Quality),
    Random(random::Random),
    Reduce(reduce::Reduce),
    Search(search::Search),
    Support(support::Support),
    Test(test::Test),
    View(view::View),
}

/// The reason why a command failed.
enum Failure {
    /// The input has errors.
    Input(Message),
    /// The command line has errors.
    Call(String),
    /// The program of `exec` failed, with the exit code for the process. Everything has been printed.
    Program(u8),
    /// The reader of standard output has closed the pipe.
    Closed,
}

/// A message about an error in the input.
enum Message {
    Report(Box<Report>),
    /// A report, with the compiler errors from which it was made.
    Compiler(Box<Report>, Vec<CompileError>),
    Text(String),
    /// The message has already been printed.
    Said,
}

impl From<Report> for Failure {
    fn from(report: Report) -> Failure {
        Failure::Input(Message::Report(Box::new(report)))
    }
}

impl Failure {
    /// Creates a failure from the compiler errors of a text.
    fn compile(file: &str, text: impl Into<Arc<str>>, errors: impl Into<Vec<CompileError>>) -> Failure {
        let errors = errors.into();
        let list: Vec<Diagnostic> = errors.iter().flat_map(CompileError::diagnostics).collect();
        Failure::Input(Message::Compiler(Box::new(Report::new(file, text, list)), errors))
    }

    fn input(text: impl ToString) -> Failure {
        Failure::Input(Message::Text(text.to_string()))
    }
}

type Done = Result<(), Failure>;

/// Runs the program and returns the exit code. The first argument is the program's name. After this
/// call, Ctrl-C ends the process.
pub fn run(args: impl IntoIterator<Item = OsString>) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    output::color_of(args.iter().cloned());
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // `error` is also the text of --help and --version. Errors of printing it are ignored.
            let _ = error.print();
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    cli.output.apply();
    match cli.command {
        Command::Exec(_) => interrupt::leave_to_children(),
        _ => interrupt::listen(),
    }
    let done = match cli.command {
        Command::Check(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Exec(command) => command.run(),
        Command::Compile(command) => command.run(),
        Command::Completions(command) => command.run(),
        Command::Corpus(command) => command.run(),
        Command::Asm(command) => command.run(),
        Command::Disasm(command) => command.run(),
        Command::Step(command) => command.run(),
        Command::Isa(command) => command.run(),
        Command::Launch(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Fmt(command) => command.run(),
        Command::Prove(command) => command.run(),
        Command::Quality(command) => command.run(),
        Command::Random(command) => command.run(),
        Command::Reduce(command) => command.run(),
        Command::Search(command) => command.run(),
        Command::Support(command) => command.run(),
        Command::Test(command) => command.run(),
        Command::View(command) => command.run(),
    };
    if interrupt::is_pending() {
        say(interrupt::MESSAGE);
        return interrupt::CODE;
    }
    done.map_or_else(complain, |()| 0)
}

/// Prints the message of a failure and returns the exit code.
fn complain(failure: Failure) -> u8 {
    match failure {
        Failure::Closed => 0,
        Failure::Program(code) => code,
        Failure::Input(message) => {
            match message {
                Message::Report(report) | Message::Compiler(report, _) => say(&render(&report)),
                Message::Text(text) => say(&format!("error: {text}")),
                Message::Said => {}
            }
            1
        }
        Failure::Call(text) => {
            say(&format!("error: {text}"));
            2
        }
    }
}

/// Disables the standard panic message. The caller catches panics and reports them itself.
fn silence_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Option `--target` of commands that run a kernel.
#[derive(Args)]
struct OnArgs {
    /// Target to run on
    #[arg(long, value_parser = on_name())]
    target: Platform,
    #[command(flatten)]
    sm: SmArgs,
}

/// Options for the grid and the block of a launch.
#[derive(Args)]
struct ShapeArgs {
    /// Number of blocks (groups) along x, or as x,y or x,y,z
    #[arg(long, value_name = "X,Y,Z", value_parser = counts)]
    grid: Option<[u32; 3]>,
    /// Number of threads (work items) per block along x, or as x,y or x,y,z
    #[arg(long, value_name = "X,Y,Z", value_parser = counts_of_block)]
    block: Option<[u32; 3]>,
    #[command(flatten)]
    alias: AliasArgs,
}

/// Option for the pointers of PTX kernels.
#[derive(Args, Clone, Copy)]
struct AliasArgs {
    /// Assume that pointer arguments of PTX kernels may overlap: every buffer becomes `may_alias`
    #[arg(long)]
    alias: bool,
}

/// Parses up to three numbers, along x, y and z. Omitted numbers are 1.
fn counts(text: &str) -> Result<[u32; 3], String> {
    let mut counts = [1; 3];
    let given: Vec<&str> = text.split(',').collect();
    if given.len() > counts.len() {
        return Err("expected at most three numbers, along x, y and z".into());
    }
    for (count, number) in counts.iter_mut().zip(given) {
        let wrong = |error: ParseIntError| format!("`{number}`: {error}; expected numbers with commas, 4 or 4,2,1");
        *count = number.parse().map_err(wrong)?;
    }
    Ok(counts)
}

fn counts_of_block(text: &str) -> Result<[u32; 3], String> {
    let counts = counts(text)?;
    if counts.contains(&0) { Err("a block has at least one item along each axis".into()) } else { Ok(counts) }
}

impl ShapeArgs {
    /// Returns the import options for a PTX file, with the grid and block of the command line.
    fn imported(&self, file: &str) -> Result<import_ptx::Options, Failure> {
        let ShapeArgs { grid, block, alias: AliasArgs { alias: may_alias } } = *self;
        if may_alias && !is_ptx(file) {
            let message = format!("--alias is only valid for PTX; in {file}, declare the parameters with `may_alias`");
            return Err(Failure::Call(message));
        }
        let threads = block.map_or(0, |block| block.into_iter().map(u64::from).product::<u64>());
        if is_ptx(file) && threads > MAX_BLOCK.into() {
            return Err(Failure::Call(format!("--block of {threads} threads: a block has at most {MAX_BLOCK}")));
        }
        Ok(import_ptx::Options { shape: Shape { grid, block }, may_alias, ..import_ptx::Options::default() })
    }

    /// Returns `true` if the grid or block of the command line extends along y or z.
    fn has_several_axes(&self) -> bool {
        let several = |counts: Option<[u32; 3]>| counts.is_some_and(|[_, y, z]| [y, z] != [1; 2]);
        several(self.grid) || several(self.block)
    }
}

impl OnArgs {
    fn is_text(&self) -> bool {
        matches!(self.target, Platform::Target(target) if target.form() == KernelFormat::Text)
    }

    fn on(&self) -> Result<Platform, Failure> {
        match (self.target, self.sm.sm) {
            (Platform::Target(target), _) => Ok(Platform::Target(self.sm.only(target)?)),
            (Platform::Ir, None) => Ok(Platform::Ir),
            (Platform::Ir, Some(sm)) => Err(without_sm(Platform::Ir.name(), sm)),
        }
    }
}

/// Returns a parser of target names.
fn target_name() -> impl TypedValueParser<Value = Target> {
    let names = TARGETS.defaults().map(|target| PossibleValue::new(target.name()).help(target.summary()));
    Named(PossibleValuesParser::new(names)).try_map(|name| TARGETS.named(&name).ok_or("no target"))
}

/// Parser of target names. For other names of PTX, such as `cuda`, its error suggests `ptx`.
#[derive(Clone)]
struct Named(PossibleValuesParser);

impl TypedValueParser for Named {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        self.0.parse_ref(command, arg, value).map_err(|mut error| {
            let name = value.to_str().unwrap_or_default().to_lowercase();
            let tip = match name.strip_prefix("sm_") {
                Some(number) => Some(format!("--target ptx --sm {number}")),
                None => PTX_TO_OTHERS.contains(&name.as_str()).then(|| "--target ptx".to_owned()),
            };
            if let Some(tip) = tip {
                let tips = vec![format!("write '{tip}'").into()];
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// Names that other tools use for PTX or for GPUs.
const PTX_TO_OTHERS: [&str; 7] = ["cuda", "nvptx", "nvptx64", "nvidia", "gpu", "sass", "nvvm"];

/// Returns a parser of target names that also accepts the evaluator (`ir`).
fn on_name() -> impl TypedValueParser<Value = Platform> {
    let evaluator = PossibleValue::new(Platform::Ir.name()).help("The evaluator of the IR");
    let targets = TARGETS.defaults().map(|target| PossibleValue::new(target.name()).help(target.summary()));
    let names: Vec<PossibleValue> = [evaluator].into_iter().chain(targets).collect();
    Named(PossibleValuesParser::new(names)).try_map(|name| Platform::from_name(&name).ok_or("no target"))
}

#[derive(Args)]
struct SmArgs {
    /// SM version for PTX [default: 90]
    #[arg(long, value_name = "N", value_parser = sm_version)]
    sm: Option<Sm>,
}

impl SmArgs {
    /// Returns the SM version for PTX: the one on the command line, or the default.
    fn version(&self) -> Sm {
        self.sm.unwrap_or(Sm::DEFAULT)
    }

    /// Returns the target with the SM version of the command line, if the target has SM versions.
    fn target(&self, target: Target) -> Target {
        TARGETS.for_sm(target, self.version()).unwrap_or(target)
    }

    /// Returns the target with the SM version of the command line. Fails if the command line has an
    /// SM version but the target has none.
    fn only(&self, target: Target) -> Result<Target, Failure> {
        match (TARGETS.for_sm(target, self.version()), self.sm) {
            (Some(versioned), _) => Ok(versioned),
            (None, None) => Ok(target),
            (None, Some(sm)) => Err(without_sm(target.name(), sm)),
        }
    }

    /// Returns the given target or all targets, each with the SM version of the command line.
    fn targets(&self, target: Option<Target>) -> Result<Vec<Target>, Failure> {
        let all = || Ok(TARGETS.defaults().map(|target| self.target(target)).collect());
        target.map_or_else(all, |target| Ok(vec![self.only(target)?]))
    }
}

fn without_sm(target: &str, sm: Sm) -> Failure {
    Failure::Call(format!(
        "--sm {} selects the SM version of PTX, but target `{target}` has no SM versions",
        sm.number()
    ))
}

/// Parses an SM version for PTX.
fn sm_version(text: &str) -> Result<Sm, String> {
    let number = text.strip_prefix("sm_").unwrap_or(text);
    number.parse().ok().and_then(Sm::new).ok_or_else(|| format!("expected one of {}", Sm::names()))
}

/// Target with machine code.
#[derive(Clone, Copy, ValueEnum)]
enum Machine {
    /// Model of a 128-bit GPU ISA
    Halu,
    /// Video vector processor of NVIDIA's NV41 to G80
    Vp1,
}

impl Machine {
    /// Returns the instruction set of the target.
    fn set(self) -> Set {
        match self {
            Machine::Halu => Set::Halu,
            Machine::Vp1 => Set::Vp1,
        }
    }

    /// Assembles a program. Returns its instruction words in hexadecimal.
    fn assemble(self, text: &str) -> Result<Vec<String>, Vec<AsmError>> {
        fn texts<W: LowerHex>(program: Program<W>) -> Vec<String> {
            program.words.into_iter().map(json::word_text).collect()
        }
        match self {
            Machine::Halu => halu::assemble(text).map(texts),
            Machine::Vp1 => vp1::assemble(text).map(texts),
        }
    }

    /// Disassembles an instruction word at the given address of a program.
    fn disassemble(self, word: &str, at: u32) -> Result<String, String> {
        match self {
            Machine::Halu => json::word(word).map(halu::word_text).map_err(String::from),
            Machine::Vp1 => json::word(word).map(|word| vp1::word_text(word, at)).map_err(String::from),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum EngineName {
    /// Interpreter
    Interp,
    /// Native code, translated from the machine code
    Jit,
    /// GPU, for PTX, if the CUDA driver finds one
    Cuda,
}

impl EngineName {
    /// Returns the engine, with one thread if it is native code.
    fn engine(self) -> Engine {
        self.on_threads(NonZero::<u16>::MIN)
    }

    fn on_threads(self, threads: NonZero<u16>) -> Engine {
        match self {
            EngineName::Interp => Engine::Interp,
            EngineName::Jit => Engine::Jit { threads },
            EngineName::Cuda => Engine::Cuda,
        }
    }

    /// Returns the reason why this engine cannot run code for the SM version on this computer, or `None` if it can.
    fn missing(self, sm: &SmArgs) -> Option<String> {
        let target = module::TargetName { sm: sm.version().number(), suffix: None };
        match self {
            EngineName::Interp | EngineName::Jit => None,
            EngineName::Cuda => device(target).err().map(|reason| reason.to_string()),
        }
    }
}
