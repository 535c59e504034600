//! Comparison of PTX launches on every route, that is, in every form of execution. The interpreter and native code
//! execute PTX directly. The imported kernel runs on the evaluator, as HALU machine code on both engines, as a native
//! object, and as recompiled PTX.
//!
//! If some routes refuse a text, the remaining routes are compared. A launch is not compared if its result is not
//! defined: if it has a race, reads uninitialised memory, or depends on the order of its items.

mod campaign;
mod memory;
mod mutants;
mod shrink;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use halfbyte::launch::{Engine, RaceCheck};
use halfbyte_abi::cooperative::Schedule;
use halfbyte_abi::{CancelToken, Limits, Watchdog};
use serde_json::{Value, json};

use halfbyte_testkit::harness::{Arg, Execution, Failure, FailureKind, Item, LaunchOptions, Request, Size, launch};
use halfbyte_testkit::trial::caught;

pub use campaign::{Finding, Plan, Summary, run};
pub use memory::draw as memory_kernel;
pub use mutants::{launches_of, mutant};

/// A route: a form of execution of a PTX text, with an engine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// The form in which the kernel is executed.
    pub via: Execution,
    /// The engine that executes the machine code. The evaluator and native objects ignore it.
    pub engine: Engine,
}

/// Every route that this build supports. The first route is the reference.
pub const ROUTES: &[Route] = &[
    Route { via: Execution::Ptx, engine: Engine::Interp },
    Route { via: Execution::Ptx, engine: Engine::JIT },
    Route { via: Execution::Ir, engine: Engine::Interp },
    Route { via: Execution::Halu, engine: Engine::Interp },
    Route { via: Execution::Halu, engine: Engine::JIT },
    #[cfg(feature = "aot")]
    Route { via: Execution::Object, engine: Engine::JIT },
    Route { via: Execution::Recompiled, engine: Engine::Interp },
];

/// Formats the route as options of `halfbyte launch`.
impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--via {}", self.via.name())?;
        match self.via {
            Execution::Ptx | Execution::Halu => write!(f, " --engine {}", self.engine.name()),
            _ => Ok(()),
        }
    }
}

/// The limits of the launches in a comparison, and the token that cancels them.
#[derive(Clone, Debug)]
pub struct LaunchLimits {
    /// The limits of each launch.
    pub limits: Limits,
    /// The token that cancels all launches.
    pub cancel: CancelToken,
}

impl LaunchLimits {
    /// Returns limits that suffice for a launch of a few thousand items.
    pub fn of_launch(cancel: CancelToken) -> LaunchLimits {
        let limits = Limits { work: 1 << 24, time: Some(Duration::from_secs(20)), ..Limits::strict() };
        // There is no limit on memory: the memory of the process is shared by all threads, so it
        // cannot be attributed to one launch.
        LaunchLimits { limits: Limits { memory: u64::MAX, ..limits }, cancel }
    }

    fn watchdog(&self) -> Watchdog {
        Watchdog::with_token(self.limits.clone(), self.cancel.clone())
    }
}

/// The result of a launch on a route.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Outcome {
    /// The contents of the buffers after the launch.
    Done(Vec<Vec<u8>>),
    /// The kind of the trap, and the trapping item.
    Trapped(FailureKind, Option<Item>),
    /// The route refuses the text; the kind tells why.
    Refused(FailureKind),
    /// The route panics with this message.
    Panicked(String),
}

impl Outcome {
    fn of(result: Result<Result<Vec<Vec<u8>>, Failure>, String>) -> Outcome {
        match result {
            Ok(Ok(buffers)) => Outcome::Done(buffers),
            Ok(Err(failure)) => match failure.kind {
                FailureKind::Parse
                | FailureKind::Unsupported
                | FailureKind::Refused
                | FailureKind::Arguments
                | FailureKind::Limit => Outcome::Refused(failure.kind),
                kind => Outcome::Trapped(kind, failure.item),
            },
            Err(said) => Outcome::Panicked(said),
        }
    }

    fn is_limit(&self) -> bool {
        matches!(self, Outcome::Trapped(FailureKind::Budget, _) | Outcome::Refused(FailureKind::Limit))
    }

    fn is_out_of_bounds(&self) -> bool {
        use FailureKind::{OutOfBoundsGlobal, OutOfBoundsLocal, OutOfBoundsShared};
        matches!(self, Outcome::Trapped(OutOfBoundsGlobal | OutOfBoundsLocal | OutOfBoundsShared, _))
    }

    fn is_race(&self) -> bool {
        matches!(self, Outcome::Trapped(FailureKind::RaceGlobal | FailureKind::RaceShared, _))
    }

    /// Returns `true` if the outcomes of two routes are compatible. If items interleave
    /// (`has_turns`), any two traps are compatible. If `is_space_unknown` is set, out-of-bounds
    /// traps of the same item in different address spaces are compatible. The trap record of a
    /// native object does not name the space, and a generic address outside of all spaces has no
    /// space.
    fn agrees(&self, other: &Outcome, has_turns: bool, is_space_unknown: bool) -> bool {
        match (self, other) {
            (Outcome::Trapped(..), Outcome::Trapped(..)) if has_turns => true,
            (Outcome::Trapped(_, one), Outcome::Trapped(_, two))
                if is_space_unknown && self.is_out_of_bounds() && other.is_out_of_bounds() =>
            {
                one == two
            }
            _ => self == other,
        }
    }

    fn describe(&self, reference: &Outcome) -> String {
        match (self, reference) {
            (Outcome::Done(found), Outcome::Done(expected)) => {
                let differs = |(number, (found, expected)): (usize, (&Vec<u8>, &Vec<u8>))| {
                    let byte = found.iter().zip(expected).position(|(a, b)| a != b)?;
                    Some((number, byte, found[byte], expected[byte]))
                };
                match found.iter().zip(expected).enumerate().find_map(differs) {
                    Some((number, byte, found, expected)) => {
                        format!("byte {byte} of buffer {number} is {found:#04x}, expected {expected:#04x}")
                    }
                    None => "the number or size of the buffers differs".to_owned(),
                }
            }
            (Outcome::Done(_), _) => "the launch succeeds".to_owned(),
            (Outcome::Trapped(kind, Some([block, thread])), _) => {
                format!("thread {thread:?} of block {block:?} traps: {}", kind.name())
            }
            (Outcome::Trapped(kind, None), _) => format!("the launch traps: {}", kind.name()),
            (Outcome::Refused(kind), _) => format!("the text is refused: {}", kind.name()),
            (Outcome::Panicked(said), _) => format!("panic: {}", said.lines().next().unwrap_or_default()),
        }
    }
}

/// A difference between the results of two routes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// The route whose result differs from the reference.
    pub route: Route,
    /// The route with which it is compared.
    pub reference: Route,
    /// The difference of the results.
    pub reason: String,
    /// The contents of the buffers after the launch on the reference route; `None` if the launch traps there.
    pub expected: Option<Vec<Vec<u8>>>,
}

impl Disagreement {
    /// Returns `true` if both differences are of the same kind and on the same route. Buffer
    /// numbers, byte offsets and values may be different.
    fn is_like(&self, other: &Disagreement) -> bool {
        let outline = |reason: &str| -> String { reason.chars().filter(|c| !c.is_ascii_hexdigit()).collect() };
        self.route == other.route && outline(&self.reason) == outline(&other.reason)
    }
}

/// The result of comparing a launch on all routes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All routes that run the launch give the same memory. The number counts these routes.
    Done(usize),
    /// All routes that run the launch end in the same trap. The number counts these routes.
    Trapped(usize),
    /// All routes refuse the launch.
    Refused,
    /// The routes differ, but the result of the launch is not defined, for this reason.
    Undefined(Undefined),
    /// Two routes give different results.
    Differs(Box<Disagreement>),
}

/// The reason why the result of a launch is not defined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Undefined {
    /// A limit was exceeded on a route. The number of backward branches of a kernel may differ between routes.
    Limit,
    /// The launch has an error that only a launch with race detection reports: a race, a read of
    /// uninitialised memory, or a shuffle from an inactive lane.
    Watched,
    /// The result depends on the order in which the items run.
    Order,
    /// The result depends on the bits of an address.
    Address,
    /// The text reads a clock or another special register that differs between launches.
    Clock,
}

/// Runs a launch on every route, and compares the results.
pub fn compare(request: &Request, patience: &LaunchLimits) -> Verdict {
    let on = |route: &Route| {
        let watchdog = patience.watchdog();
        let how = LaunchOptions { engine: Some(route.engine), via: Some(route.via), ..how(&watchdog) };
        Outcome::of(caught(|| launch(request.clone(), &how)))
    };
    let is_run = |(_, outcome): &(Route, Outcome)| !matches!(outcome, Outcome::Refused(_));
    let (runs, refused): (Vec<_>, Vec<_>) = ROUTES.iter().map(|route| (*route, on(route))).partition(is_run);
    let Some(((reference, first), others)) = runs.split_first() else { return Verdict::Refused };
    let has_turns = INTERLEAVING_TOKENS.iter().any(|word| request.text.contains(word));
    let is_generic = has_generic_access(&request.text);
    let differs = |(route, outcome): &&(Route, Outcome)| {
        let is_space_unknown = is_generic || is_object(*route);
        matches!(outcome, Outcome::Panicked(_)) || !outcome.agrees(first, has_turns, is_space_unknown)
    };
    let mut others = others.iter().filter(differs).map(|(route, outcome)| (*route, outcome));
    let panics = matches!(first, Outcome::Panicked(_)).then_some((*reference, first));
    let Some((route, outcome)) = panics.or_else(|| others.next()) else {
        return if matches!(first, Outcome::Done(_)) {
            Verdict::Done(runs.len())
        } else {
            Verdict::Trapped(runs.len())
        };
    };
    let reference = *reference;
    // `true` if only the native object differs and all other routes agree.
    let is_object_alone = is_object(route) && others.next().is_none();
    if !matches!(outcome, Outcome::Panicked(_)) {
        // The evaluator reports a race at once. Routes that do not detect races may continue to a later trap.
        if matches!(first, Outcome::Trapped(..)) && runs.iter().any(|(_, outcome)| outcome.is_race()) {
            return Verdict::Undefined(Undefined::Watched);
        }
        let is_limited = runs.iter().chain(&refused).any(|(_, outcome)| outcome.is_limit());
        if let Some(reason) = undefined(request, patience, is_limited, is_object_alone) {
            return Verdict::Undefined(reason);
        }
        // A native object places variables and buffers at other addresses. An out-of-bounds access
        // may therefore hit another variable there, and a later item traps.
        if is_object_alone && outcome.is_out_of_bounds() && first.is_out_of_bounds() {
            return Verdict::Undefined(Undefined::Address);
        }
    }
    let expected = if let Outcome::Done(buffers) = first { Some(buffers.clone()) } else { None };
    let reason = match outcome {
        Outcome::Done(_) if expected.is_none() => {
            format!("{}, but with {reference} {}", outcome.describe(first), first.describe(outcome))
        }
        Outcome::Trapped(..) => {
            format!("{}, but with {reference} {}", outcome.describe(first), first.describe(outcome))
        }
        _ => outcome.describe(first),
    };
    Verdict::Differs(Box::new(Disagreement { route, reference, reason, expected }))
}

#[cfg(feature = "aot")]
fn is_object(route: Route) -> bool {
    route.via == Execution::Object
}

#[cfg(not(feature = "aot"))]
fn is_object(_: Route) -> bool {
    false
}

fn how(watchdog: &Watchdog) -> LaunchOptions<'_> {
    LaunchOptions { watchdog: Some(watchdog), ..LaunchOptions::default() }
}

/// Returns `true` if a PTX text accesses memory by a generic address.
fn has_generic_access(text: &str) -> bool {
    const SPACES: [&str; 5] = ["global", "local", "shared", "param", "const"];
    let is_generic = |word: &str| {
        let mut parts = word.split(['.', ':']);
        matches!(parts.next(), Some("ld" | "st" | "atom" | "red")) && !parts.any(|part| SPACES.contains(&part))
    };
    text.split(|c: char| c.is_whitespace() || c == ';').any(is_generic)
}

/// Returns the reason why the result of a launch is not defined, if any. The function is called
/// only if the results of two routes differ.
fn undefined(request: &Request, patience: &LaunchLimits, is_limited: bool, is_object_alone: bool) -> Option<Undefined> {
    if is_limited {
        return Some(Undefined::Limit);
    }
    let on = |how: LaunchOptions<'_>| Outcome::of(caught(|| launch(request.clone(), &how)));
    let watched = patience.watchdog();
    let plain = on(LaunchOptions { via: Some(Execution::Ptx), engine: Some(Engine::Interp), ..how(&watched) });
    let watched = patience.watchdog();
    let seen = on(LaunchOptions {
        via: Some(Execution::Ptx),
        engine: Some(Engine::Interp),
        races: RaceCheck::On,
        ..how(&watched)
    });
    if seen != plain {
        return Some(Undefined::Watched);
    }
    let orders = Schedule::ALL.map(|schedule| {
        let watchdog = patience.watchdog();
        on(LaunchOptions { via: Some(Execution::Ir), schedule, ..how(&watchdog) })
    });
    let [first, rest @ ..] = &orders;
    let changes_memory = || ["atom.", "red."].iter().any(|word| request.text.contains(word));
    if rest.iter().any(|other| other != first) || matches!(first, Outcome::Refused(_)) && changes_memory() {
        return Some(Undefined::Order);
    }
    if CLOCKS.iter().any(|name| request.text.contains(name)) {
        return Some(Undefined::Clock);
    }
    (is_object_alone && request.takes_addresses()).then_some(Undefined::Address)
}

/// Parts of PTX mnemonics at which an item may wait while other items of the block run.
const INTERLEAVING_TOKENS: [&str; 6] = ["atom.", "red.", ".volatile", ".relaxed", ".acquire", ".release"];

/// Parts of the names of special registers whose values differ between launches.
const CLOCKS: [&str; 5] = ["%clock", "%globaltimer", "%pm", "%smid", "%gridid"];

/// Returns a launch as a JSON line for `halfbyte launch --json`. With the expected results,
/// `halfbyte corpus` accepts the line too.
pub fn line(request: &Request, name: &str, expected: Option<&[Vec<u8>]>) -> Value {
    let args: Vec<Value> = request
        .args
        .iter()
        .map(|arg| match arg {
            Arg::Buffer { bytes, pointers } => {
                let mut object = json!({ "buffer": hexadecimal(bytes) });
                if !pointers.is_empty() {
                    let pointers: Vec<Value> =
                        pointers.iter().map(|pointer| json!([pointer.at, pointer.arg, pointer.offset])).collect();
                    object["pointers"] = pointers.into();
                }
                object
            }
            Arg::Value(bytes) => json!({ "value": hexadecimal(bytes) }),
            Arg::Alias { arg, offset } => json!({ "alias": arg, "offset": offset }),
        })
        .collect();
    let mut line = json!({ "name": name, "ptx": request.text, "args": args, "budget": request.budget });
    if let Size::Blocks { grid, block } = request.size {
        line["grid"] = json!(grid);
        line["block"] = json!(block);
    }
    if request.shared > 0 {
        line["shared"] = request.shared.into();
    }
    if let Some(entry) = &request.entry {
        line["entry"] = entry.as_str().into();
    }
    if let Some(machine) = request.machine {
        line["sm"] = machine.to_string().trim_start_matches("sm_").into();
    }
    if let Some(expected) = expected {
        line["expect"] = expected.iter().map(|bytes| hexadecimal(bytes)).collect::<Vec<_>>().into();
    }
    line
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
