//! Launches of texts in PTX on every route, compared: direct execution by the interpreter and by native code, the evaluator on the
//! import, HALU's machine code by both engines, the function of a native object, and the recompiled PTX.
//!
//! A text that a route refuses is compared on the others. A launch whose result the manual leaves open is not compared: one that
//! races, reads memory that nobody has written, or depends on the order of its items.

mod campaign;
mod memory;
mod mutants;
mod shrink;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use halfbyte::launch::Engine;
use halfbyte_abi::meet::Schedule;
use halfbyte_abi::{CancelToken, Limits, Watchdog};
use serde_json::{Value, json};

use halfbyte_testkit::harness::{Arg, Failure, How, Item, Kind, Request, Size, Via, launch};
use halfbyte_testkit::trial::caught;

pub use campaign::{Finding, Plan, Summary, run};
pub use memory::draw as memory_kernel;
pub use mutants::{launches_of, mutant};

/// A way to execute a text in PTX.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// Route of the text.
    pub via: Via,
    /// Engine of machine code; the evaluator and objects are engines of their own.
    pub engine: Engine,
}

/// Every route of this build. The first is the reference.
pub const ROUTES: &[Route] = &[
    Route { via: Via::Ptx, engine: Engine::Interp },
    Route { via: Via::Ptx, engine: Engine::JIT },
    Route { via: Via::Ir, engine: Engine::Interp },
    Route { via: Via::Halu, engine: Engine::Interp },
    Route { via: Via::Halu, engine: Engine::JIT },
    #[cfg(feature = "aot")]
    Route { via: Via::Object, engine: Engine::JIT },
    Route { via: Via::Recompiled, engine: Engine::Interp },
];

/// The options of `halfbyte launch` for the route.
impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--via {}", self.via.name())?;
        match self.via {
            Via::Ptx | Via::Halu => write!(f, " --engine {}", self.engine.name()),
            _ => Ok(()),
        }
    }
}

/// The limits of the launches of a comparison, and what ends them early.
#[derive(Clone, Debug)]
pub struct Patience {
    /// The limits of each launch.
    pub limits: Limits,
    /// Watchdog of all launches.
    pub cancel: CancelToken,
}

impl Patience {
    /// Limits that suffice for a launch of a few thousand items.
    pub fn of_launch(cancel: CancelToken) -> Patience {
        let limits = Limits { work: 1 << 24, time: Some(Duration::from_secs(20)), ..Limits::strict() };
        // The memory of the process is that of all threads.
        Patience { limits: Limits { memory: u64::MAX, ..limits }, cancel }
    }

    fn watchdog(&self) -> Watchdog {
        Watchdog::with_token(self.limits.clone(), self.cancel.clone())
    }
}

/// The result of a launch on a route.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Outcome {
    /// The memory after it.
    Done(Vec<Vec<u8>>),
    /// The kind of the trap, and the item that traps.
    Trapped(Kind, Option<Item>),
    /// The route does not run the text.
    Refused(Kind),
    /// A panic, with its message.
    Panicked(String),
}

impl Outcome {
    fn of(result: Result<Result<Vec<Vec<u8>>, Failure>, String>) -> Outcome {
        match result {
            Ok(Ok(buffers)) => Outcome::Done(buffers),
            Ok(Err(failure)) => match failure.kind {
                Kind::Parse | Kind::Unsupported | Kind::Refused | Kind::Arguments | Kind::Limit => {
                    Outcome::Refused(failure.kind)
                }
                kind => Outcome::Trapped(kind, failure.item),
            },
            Err(said) => Outcome::Panicked(said),
        }
    }

    fn is_limit(&self) -> bool {
        matches!(self, Outcome::Trapped(Kind::Budget, _) | Outcome::Refused(Kind::Limit))
    }

    fn is_race(&self) -> bool {
        matches!(self, Outcome::Trapped(Kind::RaceGlobal | Kind::RaceShared, _))
    }

    /// Returns `true` if a route may give `self` where another gives `other`. Which of two items traps first is open where items
    /// have turns. The record of an object's trap does not name the space of an access out of bounds.
    fn agrees(&self, other: &Outcome, has_turns: bool, is_object: bool) -> bool {
        use Kind::{OutOfBoundsGlobal, OutOfBoundsLocal, OutOfBoundsShared};
        let is_of_a_space = |kind: &Kind| matches!(kind, OutOfBoundsGlobal | OutOfBoundsLocal | OutOfBoundsShared);
        match (self, other) {
            (Outcome::Trapped(..), Outcome::Trapped(..)) if has_turns => true,
            (Outcome::Trapped(a, one), Outcome::Trapped(b, other)) if is_object => {
                one == other && (a == b || is_of_a_space(a) && is_of_a_space(b))
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
                    None => "the launch has other buffers".to_owned(),
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

/// Two routes that give different results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// The route that gives another result than the reference.
    pub route: Route,
    /// The route that it is compared with.
    pub reference: Route,
    /// The results.
    pub reason: String,
    /// The memory after the launch on the reference, unless that traps.
    pub expected: Option<Vec<Vec<u8>>>,
}

impl Disagreement {
    /// Returns `true` if the same routes disagree in the same way, in whatever byte.
    fn is_like(&self, other: &Disagreement) -> bool {
        let outline = |reason: &str| -> String { reason.chars().filter(|c| !c.is_ascii_hexdigit()).collect() };
        self.route == other.route && outline(&self.reason) == outline(&other.reason)
    }
}

/// The verdict on a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The routes that run it, this many, give the same memory.
    Done(usize),
    /// The routes that run it, this many, end in the same trap.
    Trapped(usize),
    /// No route runs it.
    Refused,
    /// Its result is not defined, for this reason.
    Undefined(Undefined),
    /// Two routes give different results.
    Differs(Box<Disagreement>),
}

/// The reason why a launch has no one result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Undefined {
    /// A limit was met on one route; the number of backward branches may change from route to route.
    Limit,
    /// The watched launch finds an error that others do not look for: a race, a read of what nobody has written, an exchange with
    /// a lane that takes no part.
    Watched,
    /// Another order of the items gives another result.
    Order,
    /// The bits of an address are seen.
    Address,
    /// The text reads a clock or another register that no two launches agree on.
    Clock,
}

/// Runs a launch on every route, and compares the results.
pub fn compare(request: &Request, patience: &Patience) -> Verdict {
    let on = |route: &Route| {
        let watchdog = patience.watchdog();
        let how = How { engine: Some(route.engine), via: Some(route.via), ..how(&watchdog) };
        Outcome::of(caught(|| launch(request.clone(), &how)))
    };
    let is_run = |(_, outcome): &(Route, Outcome)| !matches!(outcome, Outcome::Refused(_));
    let (runs, refused): (Vec<_>, Vec<_>) = ROUTES.iter().map(|route| (*route, on(route))).partition(is_run);
    let Some(((reference, first), others)) = runs.split_first() else { return Verdict::Refused };
    let has_turns = TURNS.iter().any(|word| request.text.contains(word));
    let differs = |(route, outcome): &&(Route, Outcome)| {
        matches!(outcome, Outcome::Panicked(_)) || !outcome.agrees(first, has_turns, is_object(*route))
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
    // All other routes agree if only the object differs.
    let is_object_alone = is_object(route) && others.next().is_none();
    if !matches!(outcome, Outcome::Panicked(_)) {
        // The evaluator reports a race at once, others a trap behind it.
        if matches!(first, Outcome::Trapped(..)) && runs.iter().any(|(_, outcome)| outcome.is_race()) {
            return Verdict::Undefined(Undefined::Watched);
        }
        let is_limited = runs.iter().chain(&refused).any(|(_, outcome)| outcome.is_limit());
        if let Some(reason) = undefined(request, patience, is_limited, is_object_alone) {
            return Verdict::Undefined(reason);
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
    route.via == Via::Object
}

#[cfg(not(feature = "aot"))]
fn is_object(_: Route) -> bool {
    false
}

fn how(watchdog: &Watchdog) -> How<'_> {
    How { watchdog: Some(watchdog), ..How::default() }
}

/// The reason why routes may differ on a launch, if there is one. It is asked of the few launches on which they do.
fn undefined(request: &Request, patience: &Patience, is_limited: bool, is_object_alone: bool) -> Option<Undefined> {
    if is_limited {
        return Some(Undefined::Limit);
    }
    let on = |how: How<'_>| Outcome::of(caught(|| launch(request.clone(), &how)));
    let watched = patience.watchdog();
    let plain = on(How { via: Some(Via::Ptx), engine: Some(Engine::Interp), ..how(&watched) });
    let watched = patience.watchdog();
    let seen = on(How { via: Some(Via::Ptx), engine: Some(Engine::Interp), races: true, ..how(&watched) });
    if seen != plain {
        return Some(Undefined::Watched);
    }
    let orders = Schedule::ALL.map(|schedule| {
        let watchdog = patience.watchdog();
        on(How { via: Some(Via::Ir), schedule, ..how(&watchdog) })
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

/// Words of instructions behind which other items of the block have their turns.
const TURNS: [&str; 6] = ["atom.", "red.", ".volatile", ".relaxed", ".acquire", ".release"];

/// Special registers that no two launches agree on.
const CLOCKS: [&str; 5] = ["%clock", "%globaltimer", "%pm", "%smid", "%gridid"];

/// A launch as a line for `halfbyte launch --json` and, where the result is known, for `halfbyte corpus`.
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
