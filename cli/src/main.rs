//! The command line, a file a subcommand. Data go to standard output, messages to standard error. Exit codes: 0 all went
//! well, 1 the input is at fault, 2 the call is, 130 Ctrl-C has ended it.

mod asm;
mod check;
mod compile;
mod disasm;
mod explain;
mod interrupt;
mod io;
mod isa;
mod json;
mod launch;
mod limits;
mod meter;
mod prove;
mod quality;
mod random;
mod reduce;
mod run;
mod search;
mod step;
mod test;
mod view;

use std::fmt::LowerHex;
use std::io::IsTerminal;
use std::num::{NonZero, ParseIntError};
use std::process::ExitCode;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use halfbyte::abi::Form;
use halfbyte::import_ptx::{MAX_BLOCK, Shape};
use halfbyte::isa::ptx::module;
use halfbyte::isa::text::{AsmError, Program};
use halfbyte::isa::{halu, vp1};
use halfbyte::launch::Engine;
use halfbyte::report::Report;
use halfbyte::runtime::ptx::device;
use halfbyte::target::On;
use halfbyte::{Sm, TARGETS, Target};

/// Kernels are many small lists, and the time that it takes to allocate them counts.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compiles kernels on packed half and byte vectors, and runs their machine words bit for bit.
#[derive(Parser)]
#[command(name = "halfbyte", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte check examples
  halfbyte compile examples/axpy.hb --target halu --emit asm
  halfbyte run examples/axpy.hb --target halu --items 2 --arg a=2.0 --arg 'x=[1.0, 3.0]' --arg 'y=[1.0, 0.0]'
  halfbyte explain examples/axpy.hb --at %r --target halu
  halfbyte view examples/median.hb -o page.html
  halfbyte check examples --engine cuda
  halfbyte test tests/files --coverage
  halfbyte quality examples -o docs/quality.md
  halfbyte reduce wrong.hb -o less.hb
  halfbyte launch --json < launches.jsonl
  echo 'HADD2 R0, R1, R2' | halfbyte asm --target halu - | halfbyte disasm --target halu -

A file named - is standard input. Exit codes: 0 all went well, 1 the input is at fault, 2 the call is,
130 it was interrupted.";

#[derive(Subcommand)]
enum Command {
    Check(check::Check),
    Run(run::Run),
    Compile(compile::Compile),
    Asm(asm::Asm),
    Disasm(disasm::Disasm),
    Step(step::Step),
    Isa(isa::Isa),
    Launch(launch::Launch),
    Explain(explain::Explain),
    Prove(prove::Prove),
    Quality(quality::Quality),
    Random(random::Random),
    Reduce(reduce::Reduce),
    Search(search::Search),
    Test(test::Test),
    View(view::View),
}

/// Why a call did not go well.
enum Failure {
    /// The input is at fault; the message has been made.
    Input(Message),
    /// The call is at fault.
    Call(String),
    /// Nobody reads on.
    Closed,
}

/// What is said about the input.
enum Message {
    Report(Box<Report>),
    Text(String),
    /// It has been said.
    Said,
}

impl From<Report> for Failure {
    fn from(report: Report) -> Failure {
        Failure::Input(Message::Report(Box::new(report)))
    }
}

impl Failure {
    fn input(text: impl ToString) -> Failure {
        Failure::Input(Message::Text(text.to_string()))
    }
}

type Done = Result<(), Failure>;

/// Runs the program.
fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors, and a reader that leaves early is none.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    interrupt::listen();
    let done = match cli.command {
        Command::Check(command) => command.run(),
        Command::Run(command) => command.run(),
        Command::Compile(command) => command.run(),
        Command::Asm(command) => command.run(),
        Command::Disasm(command) => command.run(),
        Command::Step(command) => command.run(),
        Command::Isa(command) => command.run(),
        Command::Launch(command) => command.run(),
        Command::Explain(command) => command.run(),
        Command::Prove(command) => command.run(),
        Command::Quality(command) => command.run(),
        Command::Random(command) => command.run(),
        Command::Reduce(command) => command.run(),
        Command::Search(command) => command.run(),
        Command::Test(command) => command.run(),
        Command::View(command) => command.run(),
    };
    if interrupt::is_pending() {
        say(interrupt::MESSAGE);
        return ExitCode::from(interrupt::CODE);
    }
    match done {
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(Failure::Input(message)) => {
            match message {
                Message::Report(report) => say(&render(&report)),
                Message::Text(text) => say(&format!("error: {text}")),
                Message::Said => {}
            }
            ExitCode::from(1)
        }
        Err(Failure::Call(text)) => {
            say(&format!("error: {text}\n\nFor more information, try '--help'."));
            ExitCode::from(2)
        }
    }
}

/// A report, with colours if it goes to a terminal.
fn render(report: &Report) -> String {
    let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    report.render(colours)
}

/// Writes a message; where nobody listens, it is lost.
fn say(text: &str) {
    let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), format!("{text}\n").as_bytes());
}

/// Says nothing of panics from now on, for who catches them says what they are about.
fn silence_panics() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// What a kernel runs on.
#[derive(Args)]
struct OnArgs {
    /// What to run on
    #[arg(long, value_parser = on_name())]
    target: On,
    #[command(flatten)]
    sm: SmArgs,
}

/// How a kernel in PTX is launched.
#[derive(Args)]
struct ShapeArgs {
    /// Of a kernel in PTX: the number of blocks
    #[arg(long, value_name = "N", value_parser = one_axis::<u32>)]
    grid: Option<u32>,
    /// Of a kernel in PTX: the threads of a block
    #[arg(long, value_name = "N", value_parser = one_axis::<NonZero<u32>>)]
    block: Option<NonZero<u32>>,
}

/// A number of blocks or threads.
fn one_axis<N: FromStr<Err = ParseIntError>>(text: &str) -> Result<N, String> {
    if text.contains([',', 'x', 'X', ' ']) {
        return Err("expected one number: only the x axis is run".into());
    }
    text.parse().map_err(|error: ParseIntError| error.to_string())
}

impl ShapeArgs {
    fn shape(&self) -> Result<Shape, Failure> {
        let block = self.block.map(NonZero::get);
        match block.filter(|&block| block > MAX_BLOCK) {
            Some(block) => Err(Failure::Call(format!("--block {block}: a block has at most {MAX_BLOCK} threads"))),
            None => Ok(Shape { grid: self.grid, block }),
        }
    }
}

impl OnArgs {
    fn is_text(&self) -> bool {
        matches!(self.target, On::Words(target) if target.form() == Form::Text)
    }

    fn on(&self) -> On {
        match self.target {
            On::Ir => On::Ir,
            On::Words(target) => On::Words(self.sm.target(target)),
        }
    }
}

/// Reads the name of a target.
fn target_name() -> impl TypedValueParser<Value = Target> {
    let names = TARGETS.defaults().map(|target| PossibleValue::new(target.name()).help(target.summary()));
    PossibleValuesParser::new(names).try_map(|name| TARGETS.named(&name).ok_or("no target"))
}

/// Reads the name of a target or of the evaluator.
fn on_name() -> impl TypedValueParser<Value = On> {
    let evaluator = PossibleValue::new(On::Ir.name()).help("The evaluator of the IR");
    let targets = TARGETS.defaults().map(|target| PossibleValue::new(target.name()).help(target.summary()));
    let names: Vec<PossibleValue> = [evaluator].into_iter().chain(targets).collect();
    PossibleValuesParser::new(names).try_map(|name| On::from_name(&name).ok_or("no target"))
}

#[derive(Args)]
struct SmArgs {
    /// The SM version that PTX is for
    #[arg(long, value_name = "N", default_value = "90", value_parser = sm_version)]
    sm: Sm,
}

impl SmArgs {
    fn target(&self, target: Target) -> Target {
        TARGETS.for_sm(target, self.sm).unwrap_or(target)
    }

    /// One target, or every one there is.
    fn targets(&self, target: Option<Target>) -> Vec<Target> {
        let all = || TARGETS.defaults().map(|target| self.target(target)).collect();
        target.map_or_else(all, |target| vec![self.target(target)])
    }
}

/// The number of an SM version that PTX is made for.
fn sm_version(text: &str) -> Result<Sm, String> {
    text.parse().ok().and_then(Sm::new).ok_or_else(|| format!("expected one of {}", Sm::names()))
}

/// A machine with words.
#[derive(Clone, Copy, ValueEnum)]
enum Machine {
    /// 128-bit words
    Halu,
    /// 32-bit words in bundles
    Vp1,
}

impl Machine {
    /// The words of a program, as the command line writes them.
    fn assemble(self, text: &str) -> Result<Vec<String>, Vec<AsmError>> {
        fn texts<W: LowerHex>(program: Program<W>) -> Vec<String> {
            program.words.into_iter().map(json::word_text).collect()
        }
        match self {
            Machine::Halu => halu::assemble(text).map(texts),
            Machine::Vp1 => vp1::assemble(text).map(texts),
        }
    }

    /// The line of a word that the command line was given, as it stands at word `at` of a program.
    fn disassemble(self, word: &str, at: u32) -> Result<String, String> {
        match self {
            Machine::Halu => json::word(word).map(halu::word_text).map_err(String::from),
            Machine::Vp1 => json::word(word).map(|word| vp1::word_text(word, at)).map_err(String::from),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum EngineName {
    /// The interpreter
    Interp,
    /// Native code, made from the words
    Jit,
    /// The GPU, for PTX, where the CUDA driver has one
    Cuda,
}

impl EngineName {
    /// On one thread.
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

    /// Why nothing for an SM runs on it here; none where it does.
    fn missing(self, sm: &SmArgs) -> Option<String> {
        let target = module::TargetName { sm: sm.sm.number(), suffix: None };
        match self {
            EngineName::Interp | EngineName::Jit => None,
            EngineName::Cuda => device(target).err().map(|reason| reason.to_string()),
        }
    }
}
