//! Execution of PTX texts, directly or imported.

use halfbyte_abi::{ParamKind, Shape, ShapeError};
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::text::{self, Error, KernelNumber, ParsedFile, Verdict};
use halfbyte_runtime::ptx::{self, Kernel, LoadError};
use halfbyte_runtime::{LaunchError, Trap};

use super::failure::{Failure, FailureKind};
use super::ir::{ParamValue, Run};
use super::{Arg, Execution, LaunchOptions, Pointer, Request, Size, Warn, check_count, choose};
use crate::trial::reads_addresses;
use halfbyte::Module;
use halfbyte::import_ptx::{self, MAX_ITEMS, ParameterRange, import_one, is_approximate};
use halfbyte::launch::Engine;

/// The size of an address in bytes.
const ADDRESS: u64 = 8;

/// Executes a launch. `parsed` holds the parsed text after the first launch.
pub(super) fn launch(
    request: &mut Request,
    parsed: &mut Option<ParsedFile>,
    how: &LaunchOptions<'_>,
) -> Result<(), Failure> {
    if parsed.is_none() {
        *parsed = Some(read(request)?);
    }
    let no_kernel = || Failure::arguments("the text has no kernel");
    let read = parsed.as_ref().ok_or_else(no_kernel)?;
    let number = kernel_of(request, read)?;
    let entry = read.module.entries.get(number).ok_or_else(no_kernel)?;
    how.note_approximate(is_approximate(entry));
    let shape = shape(request.size)?;
    check_count(entry.params.len(), request.args.len())?;
    match how.via.unwrap_or(Execution::Ptx) {
        Execution::Ptx => execute_directly(request, how, read, entry, shape),
        via => imported(request, how, via, (read, number), shape),
    }
}

/// Returns `true` if the text of a request can be parsed and executed on the requested machine.
pub(super) fn is_read(request: &Request) -> bool {
    read(request).and_then(|read| kernel_of(request, &read)).is_ok()
}

/// Returns `true` if the kernel uses the bits of an address, so that its results depend on where
/// the buffers are. Returns `false` for a kernel that cannot be imported.
pub(super) fn takes_addresses(request: &Request) -> bool {
    let Ok(read) = read(request) else { return false };
    let Ok(number) = kernel_of(request, &read) else { return false };
    let Ok(shape) = shape(request.size) else { return false };
    let known = import_ptx::Shape { grid: Some(shape.grid), block: Some(shape.block) };
    let options = import_ptx::Options { shape: known, ..import_ptx::Options::default() };
    let imported = import_one(&request.file, &request.text, &read, number, options);
    imported.is_ok_and(|(module, _)| module.ir().kernels.iter().any(reads_addresses))
}

/// Parses the text of a request.
fn read(request: &Request) -> Result<ParsedFile, Failure> {
    let read = text::read_each(&request.text).map_err(|errors| of_errors(&errors))?;
    check_target(&read, request)?;
    Ok(read)
}

/// Returns the index of the requested kernel.
fn kernel_of(request: &Request, read: &ParsedFile) -> Result<usize, Failure> {
    let name = request.entry.as_deref().map(|name| name.strip_prefix('@').unwrap_or(name));
    match name.and_then(|name| read.kernel(name)) {
        Some(KernelNumber::Entry(number)) => return Ok(number),
        Some(KernelNumber::Refused(number)) => {
            return Err(of_errors(read.refused.get(number).map_or(&[], |refused| &refused.errors)));
        }
        None => {}
    }
    let taken = read.module.entries.iter().map(|entry| entry.name.as_str());
    let names: Vec<&str> = taken.chain(read.refused.iter().map(|refused| refused.name.as_str())).collect();
    // An error outside of all kernels may be the reason why the kernel is missing, so that error is reported first.
    let of_text = |missing| if read.unsupported.is_empty() { missing } else { of_errors(&read.unsupported) };
    let (number, _) = choose(&names, request.entry.as_deref()).map_err(of_text)?;
    if let Some(refused) = number.checked_sub(read.module.entries.len()).and_then(|number| read.refused.get(number)) {
        return Err(of_errors(&refused.errors));
    }
    Ok(number)
}

/// Creates a failure from the first error of a text. Later errors are left out, because they may be
/// consequences of the first.
fn of_errors(errors: &[Error]) -> Failure {
    let Some(error) = errors.first() else { return Failure::new(FailureKind::Parse, "the text is refused") };
    let kind = match error.kind.verdict() {
        Verdict::Wrong => FailureKind::Parse,
        Verdict::Unsupported => FailureKind::Unsupported,
        Verdict::TooLarge => FailureKind::Limit,
    };
    let remedy = error.kind.remedy().map_or_else(String::new, |remedy| format!("; {remedy}"));
    Failure::new(kind, format!("{}{remedy}", error.kind)).at(error.at)
}

/// Fails if the text's `.target` does not exist, lacks an instruction that the text uses, or does
/// not run on the requested machine.
fn check_target(text: &ParsedFile, request: &Request) -> Result<(), Failure> {
    let missing = text.missing();
    if !missing.is_empty() {
        return Err(of_errors(&missing));
    }
    let target = text.module.target;
    match request.machine {
        Some(machine) if !target.runs_on(machine) => Err(Failure::new(
            FailureKind::Refused,
            format!("the text is for {target}, which does not run on {machine}"),
        )),
        _ => Ok(()),
    }
}

/// Returns the grid and block of a launch.
fn shape(size: Size) -> Result<Shape, Failure> {
    match size {
        Size::Items(_) => {
            Err(Failure::arguments("a kernel in PTX is launched over blocks of threads; give `grid` and `block`"))
        }
        Size::Blocks { grid, block } => Ok(Shape::from((grid, block))),
    }
}

/// Executes the text directly.
fn execute_directly(
    request: &mut Request,
    how: &LaunchOptions<'_>,
    read: &ParsedFile,
    entry: &Entry,
    shape: Shape,
) -> Result<(), Failure> {
    let kernel =
        Kernel::load_with(read, &entry.name, &*request.file, &request.globals).map_err(|error| of_load(&error))?;
    let mut values = Vec::new();
    for (number, (param, arg)) in entry.params.iter().zip(&request.args).enumerate() {
        let bytes = if let Arg::Value(bytes) = arg { bytes.clone() } else { Vec::new() };
        let found = if let Arg::Value(bytes) = arg { bytes.len() as u64 } else { ADDRESS };
        check_bytes(number, arg, found, param.bytes())?;
        values.push(bytes);
    }
    let mut args: Vec<ptx::Arg<'_>> = (request.args.iter_mut().zip(&values))
        .map(|(arg, value)| match arg {
            Arg::Buffer { bytes, .. } => ptx::Arg::Buffer(bytes),
            Arg::Value(_) => ptx::Arg::Value(value),
            &mut Arg::Alias { arg, offset } => ptx::Arg::Alias { of: arg, offset },
        })
        .collect();
    let LaunchOptions { races, watchdog, print, .. } = *how;
    let (budget, engine) = (request.budget, how.engine.unwrap_or(Engine::JIT));
    let shape = Shape { shared: request.shared as u32, ..shape };
    let warn = |race: &Trap| {
        if let Some(Warn(warn)) = how.warn {
            warn(Failure::of_trap(race, Some(read)));
        }
    };
    let (warn, cooperative) = (Some(ptx::Warn(&warn)), request.cooperative);
    let launch = ptx::Launch::new(shape, &mut args);
    let launch = ptx::Launch { budget, races, warn, watchdog, print, engine, cooperative, ..launch };
    kernel.launch(launch).map(|_| ()).map_err(|error| of_launch(&error, Some(read)))
}

/// Fails if the size of an argument in bytes differs from the size of its parameter.
fn check_bytes(number: usize, arg: &Arg, found: u64, expected: u64) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let what = match arg {
        Arg::Value(_) => "gives",
        Arg::Buffer { .. } | Arg::Alias { .. } => "is an address of",
    };
    Err(Failure::arguments(format!("argument {number} {what} {found} bytes; the parameter has {expected}")))
}

fn of_load(error: &LoadError) -> Failure {
    let (kind, loc) = match error {
        LoadError::Name(_) | LoadError::Signature => (FailureKind::Arguments, Loc::default()),
        LoadError::Variables { .. } => (FailureKind::Unsupported, Loc::default()),
        LoadError::Parameter { loc, .. } | LoadError::Misaligned { loc, .. } => (FailureKind::Parse, *loc),
    };
    Failure::new(kind, error.to_string()).at(loc)
}

fn of_launch(error: &LaunchError, read: Option<&ParsedFile>) -> Failure {
    match error {
        LaunchError::Trap(trap) => Failure::of_trap(trap, read),
        LaunchError::Engine { .. } => Failure::new(FailureKind::Unsupported, error.to_string()),
        LaunchError::Shape { error: ShapeError::Items(_), .. } => Failure::new(FailureKind::Limit, error.to_string()),
        LaunchError::Count { .. }
        | LaunchError::Bytes { .. }
        | LaunchError::Shape { .. }
        | LaunchError::Blocks { .. }
        | LaunchError::Alias { .. }
        | LaunchError::Overlap { .. } => Failure::arguments(error.to_string()),
        // All other launch errors are exceeded limits on items, memory, time or the device.
        _ => Failure::new(FailureKind::Limit, error.to_string()),
    }
}

/// Fails if a buffer contains an address that the imported kernel does not have for the argument.
fn check_pointers(request: &Request, via: Execution, given: &[ParamValue], module: &Module) -> Result<(), Failure> {
    let params = module.ir().kernels.first().map_or(&[][..], |kernel| &kernel.params);
    let is_same = |pointer: &Pointer| {
        let is_buffer = params.get(pointer.arg).is_some_and(|param| matches!(param.kind, ParamKind::Buffer { .. }));
        is_buffer && matches!(given.get(pointer.arg), Some(&ParamValue::Address(arg)) if arg == pointer.arg)
    };
    let has_aliases = request.args.iter().any(|arg| matches!(arg, Arg::Alias { .. }));
    let is_numbered = matches!(via, Execution::Ir | Execution::Halu | Execution::Recompiled);
    let is_valid = |pointer: &Pointer| is_same(pointer) && !has_aliases && is_numbered;
    let mut pointers = request.args.iter().flat_map(|arg| match arg {
        Arg::Buffer { pointers, .. } => pointers.as_slice(),
        Arg::Value(_) | Arg::Alias { .. } => &[],
    });
    match pointers.find(|pointer| !is_valid(pointer)) {
        Some(pointer) => {
            let message = format!("via {} a buffer cannot contain an address of argument {}", via.name(), pointer.arg);
            Err(Failure::new(FailureKind::Unsupported, message))
        }
        None => Ok(()),
    }
}

/// Imports a PTX kernel and launches the imported kernel.
fn imported(
    request: &mut Request,
    how: &LaunchOptions<'_>,
    via: Execution,
    (read, number): (&ParsedFile, usize),
    shape: Shape,
) -> Result<(), Failure> {
    let Some(entry) = read.module.entries.get(number) else { return Ok(()) };
    let items = shape.items().map_err(|error| Failure::arguments(error.to_string()))?;
    if !entry.blocks.admits(shape.block) {
        let (kernel, expected, found) = (entry.name.clone(), entry.blocks.to_string(), shape.block);
        return Err(of_launch(&LaunchError::Blocks { kernel, expected, found }, None));
    }
    if items > MAX_ITEMS {
        let message = format!("{items} work items; via {} there are at most {MAX_ITEMS}", via.name());
        return Err(Failure::new(FailureKind::Limit, message));
    }
    let known = import_ptx::Shape { grid: Some(shape.grid), block: Some(shape.block) };
    let (may_alias, keep) = (how.may_alias, via == Execution::Recompiled);
    let known = import_ptx::Options { shape: known, may_alias, keep, ..import_ptx::Options::default() };
    let (module, parts) = import_one(&request.file, &request.text, read, number, known)
        .map_err(|report| Failure::of_report(FailureKind::Unsupported, &report, &request.text))?;
    for (number, (param, arg)) in entry.params.iter().zip(&request.args).enumerate() {
        let found = match arg {
            Arg::Value(bytes) => bytes.len() as u64,
            Arg::Buffer { .. } | Arg::Alias { .. } => ADDRESS,
        };
        check_bytes(number, arg, found, param.bytes())?;
    }
    let given = |part: &ParameterRange| match request.args.get(part.param as usize) {
        Some(Arg::Value(bytes)) => {
            let range = part.offset as usize..(part.offset + part.bytes) as usize;
            Ok(ParamValue::Value(bytes.get(range).unwrap_or_default().to_vec()))
        }
        _ => Ok(ParamValue::Address(part.param as usize)),
    };
    let given: Vec<ParamValue> = parts.iter().map(given).collect::<Result<_, Failure>>()?;
    check_pointers(request, via, &given, &module)?;
    // The size of dynamic shared memory has no effect on a kernel without shared memory.
    let shared = if entry.shared_layout().is_empty() { 0 } else { request.shared as u32 };
    let shape = Shape { shared, ..shape };
    let run = Run { module: &module, kernel: 0, given: &given, shape, via, imported: Some(read) };
    run.launch(request, how)
}
