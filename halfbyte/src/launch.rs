//! Launches whose arguments are bytes, on the evaluator or on an engine.

use std::sync::atomic::AtomicU32;

pub use halfbyte_abi::cooperative::RaceCheck;
use halfbyte_abi::cooperative::{Schedule, SharedLocation, WaitingItems};
use halfbyte_abi::{
    Alias, DEFAULT_BUDGET, Exceeded, Limits, Param, ParamKind, Shape, Watchdog, buffer_base, buffer_near,
};
use halfbyte_ir::diag::{Diagnostic, Lines, Position};
use halfbyte_ir::eval::{self, Evaluated, Fault, Prepared, Race, TrapKind as EvaluatedTrap};
use halfbyte_ir::{AttrKind, Effect, Inst, Op, Space, Span};
use halfbyte_isa::object::Loc;
pub use halfbyte_runtime::Engine;
use halfbyte_runtime::ptx::{LoadFinding, LoadFindingKind, StrongAccesses};
pub use halfbyte_runtime::ptx::{Print, Trace, Warn};
use halfbyte_runtime::{Arg, ConflictingAccess, Launch, LaunchError, Stats, Trap, TrapKind};

use crate::targets::Meanings;
use crate::targets::TARGETS;

/// The semantics of intrinsics that the evaluator uses: those of all built-in targets.
static MEANINGS: Meanings = Meanings(&TARGETS);

/// The options of a launch on an engine.
#[derive(Clone, Copy, Debug)]
pub struct LaunchOptions<'a> {
    /// The engine that executes the launch.
    pub engine: Engine,
    /// Maximum number of backward branches that one work item may take.
    pub budget: u64,
    /// Counter of finished work items, which other threads can read during the launch.
    pub done: Option<&'a AtomicU32>,
    /// Watchdog that ends the launch when a limit is exceeded or the launch is cancelled.
    pub watchdog: Option<&'a Watchdog>,
    /// Receiver of `vprintf` output, for PTX that is executed directly.
    pub print: Option<Print<'a>>,
    /// The arguments that alias the buffers of other arguments.
    pub aliases: &'a [Alias],
    /// Detection of races and of reads of uninitialised shared memory. It applies only to PTX that
    /// is executed directly.
    pub races: RaceCheck,
    /// Receiver of the first same-value race of each instruction, after a successful launch. It
    /// applies only to PTX that is executed directly.
    pub warn: Option<Warn<'a>>,
    /// Order in which the interpreter runs the threads of a block, and the blocks. It applies only
    /// to PTX that is executed directly.
    pub schedule: Schedule,
    /// Request for the trace of one item. It applies only to PTX that is executed directly.
    pub trace: Option<Trace<'a>>,
    /// `true` for a cooperative launch, in which blocks can wait for each other. It applies only to
    /// PTX that is executed directly.
    pub cooperative: bool,
}

impl From<Engine> for LaunchOptions<'_> {
    fn from(engine: Engine) -> Self {
        LaunchOptions {
            engine,
            budget: DEFAULT_BUDGET,
            done: None,
            watchdog: None,
            print: None,
            aliases: &[],
            races: RaceCheck::Off,
            warn: None,
            schedule: Schedule::default(),
            trace: None,
            cooperative: false,
        }
    }
}

/// Returns the parameters of a kernel that take an argument at launch.
pub fn given(kernel: &halfbyte_ir::Kernel) -> Vec<Param> {
    let param = |param: &halfbyte_ir::Param| Param { name: param.name.clone(), kind: param.kind };
    kernel.given_params().iter().map(param).collect()
}

/// The options of a launch on the evaluator.
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<'a> {
    /// The number of groups and the group size.
    pub shape: Shape,
    /// Maximum number of backward branches that one work item may take.
    pub budget: u32,
    /// Watchdog that ends the launch when a limit is exceeded or the launch is cancelled.
    pub watchdog: Option<&'a Watchdog>,
    /// The arguments that alias the buffers of other arguments.
    pub aliases: &'a [Alias],
    /// Order in which the items of a cooperative kernel run.
    pub schedule: Schedule,
    /// Race check of the launch: off, on, or strict. A strict check also reports same-value races
    /// as errors.
    pub races: RaceCheck,
}

impl<S: Into<Shape>> From<S> for Evaluation<'_> {
    fn from(shape: S) -> Self {
        let (shape, budget) = (shape.into(), eval::DEFAULT_BUDGET);
        let (schedule, races) = (Schedule::Ascending, RaceCheck::On);
        Evaluation { shape, budget, watchdog: None, aliases: &[], schedule, races }
    }
}

/// Runs a kernel on the evaluator. Buffers have the same virtual addresses as on every target.
///
/// # Errors
/// Returns a trap or a race.
pub fn evaluate<'a>(
    kernel: &halfbyte_ir::Kernel,
    how: impl Into<Evaluation<'a>>,
    args: &mut [Vec<u8>],
) -> Result<Evaluated, Fault> {
    evaluate_observed(kernel, how, args, &mut ())
}

/// Evidence that the result of a launch depends on the execution order of its items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderDependence {
    /// Cause of the dependence on the order.
    pub cause: OrderCause,
    /// First tested order whose result differs from that of the ascending order.
    pub schedule: Schedule,
    /// The difference between the results of order `schedule` and of the ascending order.
    pub difference: OrderDifference,
}

/// Cause of a result's dependence on the execution order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrderCause {
    /// The result depends on the order of atomic operations.
    Atomics,
    /// The result relies on the lanes of a converged warp executing in lockstep.
    Lockstep,
}

impl std::fmt::Display for OrderCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            OrderCause::Atomics => "depends on the order of atomic operations",
            OrderCause::Lockstep => "relies on lanes of a warp in lockstep",
        })
    }
}

/// The difference between the results of the ascending order and of a second execution order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OrderDifference {
    /// A byte of a buffer differs. The fields describe the first such byte.
    Byte {
        /// Index of the buffer parameter.
        param: usize,
        /// Byte offset in the buffer.
        byte: usize,
        /// The value of the byte in the ascending order, and in the second order.
        values: [u8; 2],
    },
    /// The launch fails in the second order, with this error message.
    Failure(String),
}

impl OrderDependence {
    /// Returns `true` if every engine gives the result of the ascending order despite the dependence. This holds if the
    /// result only relies on lockstep, and the tested orders in lockstep did not change it.
    pub fn is_defined(&self) -> bool {
        self.cause == OrderCause::Lockstep && matches!(self.schedule, Schedule::RunOn { .. })
    }

    /// Returns the text of a warning about the dependence. `name` returns the name of a parameter by its index.
    pub fn message<'p>(&self, name: impl FnOnce(usize) -> &'p str) -> String {
        match self.difference {
            OrderDifference::Byte { param, .. } => format!("the result {}: `{}`: {self}", self.cause, name(param)),
            OrderDifference::Failure(_) => format!("the result {}: {self}", self.cause),
        }
    }
}

impl std::fmt::Display for OrderDependence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let order = match self.schedule {
            Schedule::Descending => "in descending order",
            Schedule::RunOn { .. } => "if each item runs on to its next barrier",
            _ => "in another order",
        };
        match &self.difference {
            OrderDifference::Byte { byte, values: [first, other], .. } => {
                write!(f, "byte {byte} is {first:#04x} if items run in ascending order, and {other:#04x} {order}")
            }
            OrderDifference::Failure(error) => {
                write!(f, "the launch succeeds in ascending order, and fails {order}: {error}")
            }
        }
    }
}

/// Returns `true` if a kernel has strong accesses. The result of such a kernel may depend on the
/// execution order of its items even without races.
pub fn may_depend_on_order(kernel: &halfbyte_ir::Kernel) -> bool {
    let StrongAccesses { atomic, plain } = strong_accesses(kernel);
    atomic || plain
}

/// Returns the kinds of strong accesses that a kernel contains.
fn strong_accesses(kernel: &halfbyte_ir::Kernel) -> StrongAccesses {
    let insts = kernel.layout.iter().filter_map(|&block| kernel.blocks.get(block)).flat_map(|block| &block.insts);
    let ops = insts.filter_map(|&inst| kernel.insts.get(inst)).map(|inst| inst.op);
    let mut all = StrongAccesses::default();
    for op in ops.filter(|op| op.row().effect == Effect::Atomic) {
        let is_plain = matches!(op, Op::AtomicLoad | Op::AtomicStore);
        all.plain |= is_plain;
        all.atomic |= !is_plain;
    }
    all
}

/// Checks whether the result of a launch depends on the execution order of its items. `before`
/// holds the arguments, and `after` the result in ascending order. The check launches the kernel in
/// the other orders of [`Schedule::ALL`]. Returns `None` if all results are equal; the result may
/// still depend on an order that was not tested.
///
/// # Errors
/// Returns a trap that occurs in another order in lockstep, or a limit that was exceeded.
pub fn order_dependence(
    kernel: &halfbyte_ir::Kernel,
    how: Evaluation<'_>,
    before: &[Vec<u8>],
    after: &[Vec<u8>],
) -> Result<Option<OrderDependence>, Fault> {
    let strong = strong_accesses(kernel);
    if !strong.atomic && !strong.plain {
        return Ok(None);
    }
    for schedule in Schedule::ALL.into_iter().filter(|&schedule| schedule != how.schedule) {
        let mut found = before.to_vec();
        let is_alone = matches!(schedule, Schedule::RunOn { .. });
        let difference = match evaluate(kernel, Evaluation { schedule, ..how }, &mut found) {
            Ok(_) => difference(after, &found),
            // An item that spins in a loop may take more iterations in another order, so an
            // exceeded budget proves nothing.
            Err(Fault::Trap(trap)) if is_alone && matches!(trap.kind, EvaluatedTrap::Budget { .. }) => None,
            Err(fault @ (Fault::Trap(_) | Fault::Race(_))) if is_alone => {
                Some(OrderDifference::Failure(fault.to_string()))
            }
            Err(fault) => return Err(fault),
        };
        if let Some(difference) = difference {
            let is_lockstep = if is_alone { strong.plain } else { !strong.atomic };
            let cause = if is_lockstep { OrderCause::Lockstep } else { OrderCause::Atomics };
            return Ok(Some(OrderDependence { cause, schedule, difference }));
        }
    }
    Ok(None)
}

/// Returns the first byte that differs between two results, if any.
pub(crate) fn difference(after: &[Vec<u8>], found: &[Vec<u8>]) -> Option<OrderDifference> {
    after.iter().zip(found).enumerate().find_map(|(param, (after, found))| {
        let (byte, (&first, &other)) = after.iter().zip(found).enumerate().find(|(_, (a, b))| a != b)?;
        Some(OrderDifference::Byte { param, byte, values: [first, other] })
    })
}

/// Runs a kernel on the evaluator with a maximum number of backward branches per item.
///
/// # Errors
/// Returns a trap or a race.
pub fn evaluate_within(
    kernel: &halfbyte_ir::Kernel,
    shape: impl Into<Shape>,
    budget: u32,
    args: &mut [Vec<u8>],
) -> Result<Evaluated, Fault> {
    evaluate(kernel, Evaluation { budget, ..Evaluation::from(shape) }, args)
}

/// Runs a kernel on the evaluator, and calls an observer for each executed step.
///
/// # Errors
/// Returns a trap, a race, or a limit that was exceeded.
pub fn evaluate_observed<'a, O: eval::Observer>(
    kernel: &halfbyte_ir::Kernel,
    how: impl Into<Evaluation<'a>>,
    args: &mut [Vec<u8>],
    observer: &mut O,
) -> Result<Evaluated, Fault> {
    let how = how.into();
    let aliases = how.aliases;
    let params = kernel.given_params();
    let mut bound: Vec<eval::Arg<'_>> = (params.iter().zip(&mut *args).enumerate())
        .map(|(number, (param, bytes))| match (param.kind, alias_of(aliases, number)) {
            (ParamKind::Scalar(_), _) => {
                let mut words = [0; 8];
                for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
                    *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                }
                eval::Arg::Scalar(words)
            }
            (ParamKind::Buffer { .. }, Some(&Alias { of, offset, .. })) => eval::Arg::Alias { of, offset },
            (ParamKind::Buffer { .. }, None) => eval::Arg::Buffer { base: buffer_base(number), bytes },
        })
        .collect();
    let done = evaluate_bound(kernel, how, &mut bound, observer);
    drop(bound);
    show_aliases(params.iter().map(|param| param.kind), aliases, args);
    done
}

fn evaluate_bound<O: eval::Observer>(
    kernel: &halfbyte_ir::Kernel,
    how: Evaluation<'_>,
    args: &mut [eval::Arg<'_>],
    observer: &mut O,
) -> Result<Evaluated, Fault> {
    let Evaluation { shape, budget, watchdog, schedule, races, .. } = how;
    if let Some(watchdog) = watchdog {
        let items = shape.items().map_err(eval::ArgError::from)?;
        let bytes =
            args.iter().map(|arg| if let eval::Arg::Buffer { bytes, .. } = arg { bytes.len() as u64 } else { 0 });
        let bytes = bytes.fold(0, u64::saturating_add);
        let Limits { items: most, buffer_bytes, .. } = *watchdog.limits();
        watchdog.check(items.into(), most, |found, limit| Exceeded::Items { found, limit })?;
        watchdog.check(bytes, buffer_bytes, |found, limit| Exceeded::Buffers { found, limit })?;
    }
    let intrinsics: Option<&dyn eval::Intrinsics> = Some(&MEANINGS);
    let launch = eval::Launch { budget, intrinsics, watchdog, schedule, races, ..eval::Launch::new(shape) };
    Prepared::new(kernel).run_observed(&launch, args, observer)
}

/// Runs a kernel on the evaluator with arguments of the runtime's type [`Arg`]. Writable buffers are used in place, and
/// read-only buffers are copied. Aliases are given by [`Arg::Alias`], so [`Evaluation::aliases`] is ignored.
///
/// ```
/// use halfbyte::Module;
/// use halfbyte::launch::evaluate_on;
/// use halfbyte::runtime::Arg;
///
/// let text = "kernel @double(%x: in i32, %y: out i32) {
///             ^entry:
///               %i = item_id
///               %v = load %x[%i]
///               %r = add.i32 %v, %v
///               store %r, %y[%i]
///               ret
///             }";
/// let module = Module::parse(text)?;
/// let mut y = [0; 8];
/// evaluate_on(&module.ir().kernels[0], 2, &mut [Arg::In(&[1, 0, 0, 0, 2, 0, 0, 0]), Arg::Buffer(&mut y)])?;
/// assert_eq!(y, [2, 0, 0, 0, 4, 0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns a trap, a race, or a limit that was exceeded.
pub fn evaluate_on<'a>(
    kernel: &halfbyte_ir::Kernel,
    how: impl Into<Evaluation<'a>>,
    args: &mut [Arg<'_>],
) -> Result<Evaluated, Fault> {
    let how = how.into();
    let lent = |arg: &Arg<'_>| if let Arg::In(bytes) = arg { bytes.to_vec() } else { Vec::new() };
    let mut copies: Vec<Vec<u8>> = args.iter().map(lent).collect();
    let mut bound: Vec<eval::Arg<'_>> = (args.iter_mut().zip(&mut copies).enumerate())
        .map(|(number, (arg, copy))| match arg {
            Arg::Scalar(bits) => eval::Arg::Scalar([*bits as u64, (*bits >> 64) as u64, 0, 0, 0, 0, 0, 0]),
            Arg::In(_) => eval::Arg::Buffer { base: buffer_base(number), bytes: copy },
            Arg::Buffer(bytes) => eval::Arg::Buffer { base: buffer_base(number), bytes },
            &mut Arg::Alias { of, offset } => eval::Arg::Alias { of, offset },
        })
        .collect();
    evaluate_bound(kernel, how, &mut bound, &mut ())
}

fn alias_of(aliases: &[Alias], param: usize) -> Option<&Alias> {
    aliases.iter().find(|alias| alias.param == param)
}

/// Sets the bytes of each alias argument to a copy of the buffer contents that it aliases, in whole elements.
pub fn show_aliases(kinds: impl Iterator<Item = ParamKind>, aliases: &[Alias], args: &mut [Vec<u8>]) {
    if aliases.is_empty() {
        return;
    }
    for (number, kind) in kinds.enumerate() {
        let Some(alias) = alias_of(aliases, number) else { continue };
        let bytes = args.get(alias.of).and_then(|bytes| bytes.get(usize::try_from(alias.offset).ok()?..));
        let bytes = bytes.unwrap_or_default();
        let whole = bytes.len() - bytes.len() % kind.ty().bytes().max(1) as usize;
        let bytes = bytes.get(..whole).unwrap_or_default().to_vec();
        if let Some(arg) = args.get_mut(number) {
            *arg = bytes;
        }
    }
}

/// Launches a loaded kernel. `args` holds the bytes of each argument.
///
/// # Errors
/// Returns a trap, or an error if the arguments do not fit the kernel.
pub fn execute<'a>(
    kernel: &halfbyte_runtime::Kernel,
    how: impl Into<LaunchOptions<'a>>,
    shape: impl Into<Shape>,
    args: &mut [Vec<u8>],
) -> Result<Stats, LaunchError> {
    let LaunchOptions { engine, budget, done, watchdog, aliases, .. } = how.into();
    let params = kernel.signature().given();
    let mut bound = runtime_args(kernel, aliases, args);
    let ran = kernel.launch(Launch { engine, budget, done, watchdog, ..Launch::new(shape, &mut bound) });
    drop(bound);
    show_aliases(params.iter().map(|param| param.kind), aliases, args);
    ran
}

/// Converts the bytes of each argument to the runtime's arguments: scalars, writable buffers and aliases.
pub fn runtime_args<'a>(kernel: &halfbyte_runtime::Kernel, aliases: &[Alias], args: &'a mut [Vec<u8>]) -> Vec<Arg<'a>> {
    let params = kernel.signature().given().iter().zip(args).enumerate();
    let arg =
        |(number, (param, bytes)): (usize, (&Param, &'a mut Vec<u8>))| match (param.kind, alias_of(aliases, number)) {
            (ParamKind::Scalar(_), _) => {
                Arg::Scalar(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte)))
            }
            (ParamKind::Buffer { .. }, Some(&Alias { of, offset, .. })) => Arg::Alias { of, offset },
            (ParamKind::Buffer { .. }, None) => Arg::Buffer(bytes),
        };
    params.map(arg).collect()
}

/// Converts a fault of the evaluator to a diagnostic. Its span is that of the faulting instruction,
/// or `place` if there is no such instruction.
pub fn fault_diagnostic(fault: &Fault, kernel: &halfbyte_ir::Kernel, shape: &Shape, place: Span) -> Diagnostic {
    let name = &kernel.name;
    match fault {
        Fault::Args(error) => Diagnostic::new(place, error.to_string()),
        Fault::Exceeded(exceeded) => Diagnostic::new(place, format!("on ir: @{name}: {exceeded}")),
        Fault::Trap(eval::Trap { item, inst, span, kind: eval::TrapKind::OutOfBounds { address, bytes } }) => {
            let access = match kernel.insts.get(*inst).map(|inst| (inst.op, inst.op.row().attr)) {
                Some((Op::Store | Op::AtomicStore, _)) => "store",
                Some((Op::AtomicLoad, _)) | None => "load",
                Some((_, AttrKind::Atomic)) => "atomic access",
                _ => "load",
            };
            if let Some(space) = eval::space_of(kernel, *inst, *address) {
                let held = kernel.placement(space).bytes + if space == Space::Shared { shape.shared.into() } else { 0 };
                let from = address.wrapping_sub(space.base()) as i64;
                let message = format!(
                    "{access} of {bytes} bytes at byte {from} of {space} memory is out of bounds: it has {held}"
                );
                return Diagnostic::new(*span, format!("trap on ir: @{name}, {}: {message}", shape.name(*item)));
            }
            let near = buffer_near(*address).and_then(|(param, offset)| {
                let buffer = kernel.params.get(param).filter(|param| matches!(param.kind, ParamKind::Buffer { .. }))?;
                let name = &buffer.name;
                let index = offset / i64::from(buffer.kind.ty().bytes().max(1));
                Some(match offset {
                    ..0 => format!(": {} bytes before buffer `{name}`", offset.unsigned_abs()),
                    0.. if (1 << 31..1 << 32).contains(&index) => {
                        let below = (1 << 32) - index;
                        format!(
                            ": byte {offset} of buffer `{name}`; indices are unsigned, and this one is 2^32 - {below}"
                        )
                    }
                    0.. => format!(": byte {offset} of buffer `{name}`"),
                })
            });
            let near = near.unwrap_or_default();
            let message = format!("{access} of {bytes} bytes at {address:#x} is out of bounds{near}");
            Diagnostic::new(*span, format!("trap on ir: @{name}, {}: {message}", shape.name(*item)))
        }
        Fault::Trap(eval::Trap { item, span, kind, .. }) => {
            let diagnostic = Diagnostic::new(*span, format!("trap on ir: @{name}, {}: {kind}", shape.name(*item)));
            let span = |party: &WaitingItems| kernel.insts.get(Inst::from_u32(party.place)).map(|data| data.span);
            let parties = kind.parties().iter().take(PARTIES);
            parties.fold(diagnostic, |diagnostic, party| diagnostic.note(span(party), party.describe(shape, *item)))
        }
        Fault::Race(race) => race_diagnostic(race, kernel, shape),
    }
}

/// Converts a race in a kernel to a diagnostic. Its span is that of the access that was executed second.
pub fn race_diagnostic(race: &Race, kernel: &halfbyte_ir::Kernel, shape: &Shape) -> Diagnostic {
    let Race { place, offset, first, second, is_same_value } = race;
    let memory = match *place {
        SharedLocation::Shared => "shared memory".to_owned(),
        SharedLocation::Process => "memory of the process".to_owned(),
        SharedLocation::Buffer(param) => {
            let buffer = kernel.params.get(param as usize).map_or("", |param| param.name.as_str());
            format!("buffer `{buffer}`")
        }
    };
    let [first_item, second_item] = [first, second].map(|access| shape.name(access.item));
    let (name, verb, first_verb, clause) = (&kernel.name, second.verb(), first.verb_after(second), race.value_clause());
    let message = format!(
        "data race on ir: @{name}, {second_item} {verb} byte {offset} of {memory}, which {first_item} {first_verb}{clause}"
    );
    let diagnostic = Diagnostic::new(second.span, message);
    same_value_note(diagnostic.note(Some(first.span), format!("{first_item} {} it", first.verb())), *is_same_value)
}

/// Converts a same-value race to a diagnostic. `on` names the target and the engine. The race
/// is a trap of kind [`TrapKind::Race`].
pub fn race_warning(race: &Trap, lines: &Lines<'_>, on: &str) -> Diagnostic {
    let diagnostic = trap_diagnostic(race, lines, Span::default(), on);
    let message = format!("on {on}: @{}, {}: {}", race.kernel, race.item_name(), race.kind);
    Diagnostic { message, ..diagnostic }
}

/// Converts a load that a launch on memory of the process reports to a diagnostic. `on` names the target and the
/// engine.
pub fn load_diagnostic(load: &LoadFinding, lines: &Lines<'_>, on: &str) -> Diagnostic {
    let span = if load.loc.is_known() { span_of(lines, load.loc) } else { Span::default() };
    let item = load.item.map_or_else(String::new, |item| format!(", {item}"));
    let mut diagnostic = Diagnostic::new(span, format!("on {on}: @{}{item}: {load}", load.kernel));
    if load.kind == LoadFindingKind::Padding {
        diagnostic.help = Some("`--strict` makes such a load an error".to_owned());
    }
    diagnostic.note(None, format!("instruction {:#x}: {}", load.address, load.instruction))
}

/// Adds a note that explains same-value races, if `is_same_value` is `true`.
fn same_value_note(diagnostic: Diagnostic, is_same_value: bool) -> Diagnostic {
    match is_same_value {
        true => {
            diagnostic.note(None, "the stores have the same value; such a race is an error only in a strict race check")
        }
        false => diagnostic,
    }
}

/// Maximum number of waiting items that a message about a deadlock lists.
const PARTIES: usize = 8;

/// Converts a launch error to a diagnostic. `on` names the target and the engine. The span is that
/// of the faulting instruction, or `place` if its location is unknown.
pub fn launch_diagnostic(error: &LaunchError, lines: &Lines<'_>, place: Span, on: &str) -> Diagnostic {
    let LaunchError::Trap(trap) = error else {
        return match error {
            LaunchError::Exceeded { kernel, exceeded } => {
                Diagnostic::new(place, format!("on {on}: @{kernel}: {exceeded}"))
            }
            error => Diagnostic::new(place, error.to_string()),
        };
    };
    trap_diagnostic(trap, lines, place, on)
}

fn trap_diagnostic(trap: &Trap, lines: &Lines<'_>, place: Span, on: &str) -> Diagnostic {
    let message = format!("trap on {on}: @{}, {}: {}", trap.kernel, trap.item_name(), trap.kind);
    let place = if trap.loc.is_known() { span_of(lines, trap.loc) } else { place };
    let mut diagnostic = Diagnostic::new(place, message);
    diagnostic.help = trap.remedy.map(|remedy| remedy.to_string());
    let diagnostic = match &trap.kind {
        TrapKind::Race { other: ConflictingAccess { item, loc, is_written, is_same_value, .. }, .. } => {
            let does = if *is_written { "writes" } else { "reads" };
            let diagnostic = match loc.filter(|loc| loc.is_known()) {
                Some(loc) => diagnostic.note(Some(span_of(lines, loc)), format!("{item} {does} it")),
                None => diagnostic,
            };
            same_value_note(diagnostic, *is_same_value)
        }
        kind => kind.parties().iter().take(PARTIES).fold(diagnostic, |diagnostic, party| {
            let span = party.loc.is_known().then(|| span_of(lines, party.loc));
            diagnostic.note(span, party.describe(&trap.shape, trap.item))
        }),
    };
    diagnostic.note(None, format!("instruction {:#x}: {}", trap.address, trap.instruction))
}

/// Returns the location of the start of a span. Returns `None` for an empty span at the start of the text, which means
/// that the location is unknown.
pub fn loc_of(lines: &Lines<'_>, span: Span) -> Option<Loc> {
    let Position { line, column } = lines.position(span.start);
    (span.end != 0).then_some(Loc { line: line as u32, column: column as u32 })
}

/// Returns the span from a location to the end of its line, without a comment.
pub fn span_of(lines: &Lines<'_>, loc: Loc) -> Span {
    let (line, column) = (loc.line as usize, loc.column as usize);
    let text = lines.text(line);
    let start = lines.start(line);
    let before = text.char_indices().nth(column.saturating_sub(1)).map_or(text.len(), |(byte, _)| byte);
    let code = text.split(';').next().unwrap_or_default().trim_end().len();
    Span { start: (start + before) as u32, end: (start + code.max(before)) as u32 }
}
