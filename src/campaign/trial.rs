//! A kernel's trial: the evaluator against the words, and the engines against each other.

use std::fmt;

use halfbyte_ir::diag::Lines;
use halfbyte_ir::eval::{Fault, Writers};
use halfbyte_ir::witness::Random;
use halfbyte_ir::{Kernel, ParamKind, eval};
use halfbyte_isa::target::Target;
use halfbyte_runtime::{LaunchError, Program, Stats, Trap, TrapKind};

use crate::Module;
use crate::compare::compare;
use crate::generate::arguments;
use crate::launch::{Engine, How, Param, evaluate_within, execute};
use crate::pipeline::{Options, compile};
use crate::report::Report;

/// Backward branches that an item may take: more than a drawn kernel takes unless one of its loops has no end.
const BUDGET: u32 = 10_000;

/// The most work items that share a run of VP1's words, and the budget.
const GROUP: u32 = 16;

/// Random launches of each kernel: of few items, and of more than engines do at once.
const ITEMS: [[u32; 8]; 2] = [[1, 2, 3, 4, 4, 5, 6, 8], [0, 9, 15, 16, 17, 24, 33, 40]];

/// How a kernel is tried.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    /// The ways to compile it.
    pub ways: &'a [Options],
    /// What executes the words.
    pub engines: &'a [Engine],
}

/// A launch of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The number of work items.
    pub items: u32,
    /// By parameter, a scalar's bytes or a buffer's.
    pub args: Vec<Vec<u8>>,
}

/// What came of a kernel that does not fail.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Whether an item traps.
    pub traps: bool,
    /// By way to compile it, whether it can be compiled.
    pub accepted: Vec<bool>,
    /// Launches of words.
    pub launches: u64,
}

/// How a kernel fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It is not well formed, does not print as it reads, or its items are not independent.
    Malformed(String),
    /// It is refused for no reason of its own.
    Defect(String),
    /// The words do not do what the evaluator does, or what another engine makes of them.
    Differs {
        /// How.
        reason: String,
        /// In which launch.
        launch: Box<Launch>,
    },
}

impl Failure {
    /// Whether the other is a failure of the same kind.
    pub fn is_like(&self, other: &Failure) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Malformed(reason) | Failure::Defect(reason) | Failure::Differs { reason, .. }) = self;
        f.write_str(reason)
    }
}

/// Random launches of a kernel, now and then with a buffer that is too short.
pub fn launches(kernel: &Kernel, random: &mut Random) -> Vec<Launch> {
    let launch = |items: &[u32; 8]| {
        let items = items.get(random.below(items.len())).copied().unwrap_or(1);
        let mut args = arguments(kernel, items, random);
        let number = random.below(8 * args.len());
        if let (Some(arg), Some(param)) = (args.get_mut(number), kernel.params.get(number))
            && let ParamKind::Buffer { elem, .. } = param.kind
        {
            let bytes = elem.bytes() as usize;
            arg.truncate(random.below(arg.len() / bytes) * bytes);
        }
        Launch { items, args }
    };
    ITEMS.iter().map(launch).collect()
}

impl Trial<'_> {
    /// Tries a kernel, as it was printed, on random launches.
    ///
    /// # Errors
    /// How it fails.
    pub fn run_random(&self, text: &str, random: &mut Random) -> Result<Tally, Failure> {
        let module = read(text)?;
        if module.ir().to_string() != text {
            return Err(Failure::Malformed("it does not print as it reads".into()));
        }
        let launches = module.ir().kernels.first().map(|kernel| launches(kernel, random)).unwrap_or_default();
        self.run_module(&module, &launches)
    }

    /// Tries a kernel on these launches.
    ///
    /// # Errors
    /// How it fails.
    pub fn run(&self, text: &str, launches: &[Launch]) -> Result<Tally, Failure> {
        self.run_module(&read(text)?, launches)
    }

    fn run_module(&self, module: &Module, launches: &[Launch]) -> Result<Tally, Failure> {
        let [kernel] = module.ir().kernels.as_slice() else {
            return Err(Failure::Malformed("one kernel is tried at a time".into()));
        };
        let mut tally = Tally::default();
        let mut expected = Vec::with_capacity(launches.len());
        for launch in launches {
            let mut args = launch.args.clone();
            let outcome = match evaluate_within(kernel, launch.items, BUDGET, &mut args) {
                Err(fault @ (Fault::Race(_) | Fault::Args(_))) => {
                    return Err(Failure::Malformed(format!("on ir: {fault}")));
                }
                outcome => outcome,
            };
            tally.traps |= outcome.is_err();
            expected.push((args, outcome));
        }
        let params = Param::of_kernel(kernel);
        for options in self.ways {
            let program = self.compile(module, options)?;
            tally.accepted.push(program.is_some());
            let Some(program) = program else { continue };
            let loaded = program.kernel(&kernel.name);
            let loaded = loaded.ok_or_else(|| Failure::Defect("the object lacks the kernel".into()))?;
            for (launch, (args, outcome)) in launches.iter().zip(&expected) {
                let reference = Reference { module, params: &params, launch, args, outcome, target: options.target };
                tally.launches += self.engines.len() as u64;
                reference.check(loaded, self.engines).map_err(|mut reason| {
                    if options.passes.len() != Options::new(options.target).passes.len() {
                        let passes: Vec<&str> = options.passes.iter().map(|pass| pass.name).collect();
                        reason += &format!(" (with passes {passes:?})");
                    }
                    Failure::Differs { reason, launch: Box::new(launch.clone()) }
                })?;
            }
        }
        Ok(tally)
    }

    /// The kernel's words; none where the target refuses it. A refusal names what the target cannot do; what is said about
    /// the whole kernel is a defect of the compiler.
    fn compile(&self, module: &Module, options: &Options) -> Result<Option<Program>, Failure> {
        match compile(module, &module.ir().kernels, options, &mut |_| {}) {
            Ok(binary) => match Program::load(&binary.object) {
                Ok(program) => Ok(Some(program)),
                Err(error) => Err(Failure::Defect(format!("on {}: {error}", options.target))),
            },
            Err(errors) => match errors.iter().any(|error| error.message.starts_with("cannot compile")) {
                true => {
                    let report = Report::new(module.file(), module.text(), errors);
                    Err(Failure::Defect(format!("on {}: {report}", options.target)))
                }
                false => Ok(None),
            },
        }
    }
}

fn read(text: &str) -> Result<Module, Failure> {
    Module::parse(text).map_err(|report| Failure::Malformed(report.to_string()))
}

/// A launch as the evaluator made it.
struct Reference<'a> {
    module: &'a Module,
    params: &'a [Param],
    launch: &'a Launch,
    /// The arguments after it.
    args: &'a [Vec<u8>],
    outcome: &'a Result<Writers, Fault>,
    target: Target,
}

/// What a launch of words came to.
type Outcome = Result<Stats, LaunchError>;

impl Reference<'_> {
    /// Makes the launch on every engine.
    fn check(&self, kernel: &halfbyte_runtime::Kernel, engines: &[Engine]) -> Result<(), String> {
        let mut first: Option<(Engine, Outcome, Vec<Vec<u8>>)> = None;
        for &engine in engines {
            let mut args = self.launch.args.clone();
            let how = How { budget: BUDGET.into(), ..How::from(engine) };
            let outcome = execute(kernel, how, self.launch.items, &mut args);
            match &first {
                None => {
                    self.agrees(&format!("{} ({engine})", self.target), &outcome, &args)?;
                    first = Some((engine, outcome, args));
                }
                Some((other, expected, buffers)) => {
                    if *expected != outcome || outcome.is_ok() && *buffers != args {
                        return Err(format!(
                            "on {} {engine} and {other} do not agree: {} and {}",
                            self.target,
                            shown(&outcome),
                            shown(expected)
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// Compares an engine's outcome with the evaluator's.
    fn agrees(&self, on: &str, outcome: &Result<Stats, LaunchError>, args: &[Vec<u8>]) -> Result<(), String> {
        match (self.outcome, outcome) {
            // A launch that a machine has no room for.
            (_, Err(LaunchError::Tile(_))) => Ok(()),
            (Ok(writers), Ok(_)) => {
                let kernel = self.module.ir().kernels.first().map_or("", |kernel| kernel.name.as_str());
                for (param, (expected, found)) in self.params.iter().enumerate().zip(self.args.iter().zip(args)) {
                    if let Some(difference) = compare(kernel, param, ("ir", expected), (on, found), writers) {
                        return Err(difference.to_string());
                    }
                }
                Ok(())
            }
            (Err(Fault::Trap(expected)), Err(LaunchError::Trap(found))) => match self.is_same_trap(expected, found) {
                true => Ok(()),
                false => Err(format!("on {on}: {found}; on ir line {}, {expected}", self.line(expected))),
            },
            (Ok(_), Err(error)) => Err(format!("on {on}: {error}; on ir there is no trap")),
            (Err(fault), Ok(_)) => Err(format!("on {on} there is no trap; on ir: {fault}")),
            (Err(fault), Err(error)) => Err(format!("on {on}: {error}; on ir: {fault}")),
        }
    }

    fn line(&self, trap: &eval::Trap) -> u32 {
        Lines::new(self.module.text()).position(trap.span.start).line as u32
    }

    /// Whether words trap where the text does. An access may be made in parts. Items that share words share a budget, and what
    /// the first of them accesses behind a loop without end comes before that.
    fn is_same_trap(&self, expected: &eval::Trap, found: &Trap) -> bool {
        let is_budget =
            matches!(expected.kind, eval::TrapKind::Budget { .. }) || matches!(found.kind, TrapKind::Budget { .. });
        if self.target == Target::Vp1 && is_budget {
            return (found.item..found.item.saturating_add(GROUP)).contains(&expected.item);
        }
        let same_kind = match (&expected.kind, &found.kind) {
            (
                &eval::TrapKind::OutOfBounds { address, bytes },
                &TrapKind::OutOfBounds { address: at, bytes: part, .. },
            ) => at.wrapping_sub(address) + u64::from(part) <= u64::from(bytes),
            (eval::TrapKind::Misaligned { address, .. }, TrapKind::Misaligned { address: at, .. })
            | (eval::TrapKind::ReadOnly { address, .. }, TrapKind::ReadOnly { address: at, .. }) => address == at,
            (eval::TrapKind::Budget { .. }, TrapKind::Budget { .. }) => true,
            _ => false,
        };
        same_kind && expected.item == found.item && self.line(expected) == found.loc.line
    }
}

fn shown(outcome: &Result<Stats, LaunchError>) -> String {
    match outcome {
        Ok(stats) => format!("{stats:?}"),
        Err(error) => error.to_string(),
    }
}
