//! `halfbyte launch`

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use halfbyte::abi::Limits;
use halfbyte::abi::cooperative::Schedule;
use halfbyte::files::{FileError, Loader};
use halfbyte::import_ptx::is_ptx;
use halfbyte::isa::ptx::module::TargetName;
use halfbyte::launch::{Engine, Print};
use halfbyte_testkit::harness::{
    self, Arg, Execution, Failure, FailureKind, Item, Language, LaunchOptions, MAX_BUFFER_BYTES, MAX_TEXT_BYTES,
    NextArg, NextLaunch, OtherAccess, Pointer, Request, Size, Warn,
};
use serde_json::{Value, json};

use super::json::{self, Members};
use super::limits::LimitArgs;
use super::races::{Strictness, race_check};
use super::{AliasArgs, Done};

/// Makes complete launches, for test harnesses in any language
///
/// Each input line is an object that describes a launch. The text is {"ptx": TEXT}, {"hb": TEXT} or {"file": PATH}.
/// "entry" is the kernel, by default the first one. "grid" and "block" are [x, y, z]; for kernels of the IR, "items"
/// may replace them. "shared" is the size of dynamic shared memory in bytes, "budget" the maximum number of backward
/// branches of an item, and "sm" the SM version. "cooperative": true makes a cooperative launch of PTX, in which blocks
/// can wait for each other.
///
/// "args" has an object for each parameter in order: {"buffer": HEX}, {"zeros": BYTES} or {"value": HEX}, low byte
/// first. {"alias": ARG, "offset": BYTES} is a pointer into the buffer of another argument, with which it shares
/// memory. "pointers": [[AT, ARG, OFFSET], ..] next to "buffer" stores the address of byte OFFSET of argument ARG in
/// the 8 bytes at AT. Other members are ignored.
///
/// "then": [{..}, ..] has further launches of the same text. Each has its own "entry", "grid" and "block" or "items",
/// "shared", "budget", "cooperative" and "args". There, {"same": I} is argument I of the first launch: the current contents of its
/// buffer, or its value.
///
/// Each input line gives one output line. {"buffers": [HEX, ..]} has the final contents of the buffers, with the
/// buffers of "then" last. {"approximate": true} is added if a kernel has an instruction that GPUs approximate;
/// halfbyte rounds its result correctly.
///
/// On failure, the output is {"error": {"kind", "message", "line", "item", "launch"}}. "line" is the line of the text,
/// "item" the block and the thread, and "launch" the number of the launch, from 0, if there are several.
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(super) struct Launch {
    /// Read and print JSON lines, the only format of this command
    #[arg(long, required = true)]
    json: bool,
    /// Engine for machine code [default: interp; jit for directly executed PTX]
    #[arg(long, value_enum)]
    engine: Option<EngineArg>,
    /// Form in which the text is executed [default: ptx for PTX; ir for kernels of the IR, or halu with --engine jit]
    #[arg(long, value_enum)]
    via: Option<ViaArg>,
    /// SM version for lines without "sm", such as 90 or 100a
    #[arg(long, value_name = "N", value_parser = machine)]
    sm: Option<TargetName>,
    /// Detect races in every form of execution
    ///
    /// Two stores of the same value by the same instruction are a warning; with --races=strict, they are an error.
    #[arg(long, value_enum, require_equals = true, value_name = "MODE")]
    races: Option<Option<Strictness>>,
    /// Make all launches cooperative, as "cooperative": true does
    #[arg(long)]
    cooperative: bool,
    #[command(flatten)]
    alias: AliasArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// File with the lines; - is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
}

const EXAMPLE: &str = "\
Example:
  $ cat launch.jsonl
  {\"file\": \"twice.hb\", \"items\": 2, \"args\": [{\"buffer\": \"003c0040\"}]}
  $ halfbyte launch --json launch.jsonl
  {\"buffers\":[\"00400044\"]}";

#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum EngineArg {
    /// Interpreter
    Interp,
    /// Native code, translated from the machine code
    Jit,
    /// GPU, for PTX, if the CUDA driver finds one
    Cuda,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum ViaArg {
    /// Direct execution of PTX; kernels of the IR are compiled to PTX first
    Ptx,
    /// Evaluator of the IR; PTX is imported first
    Ir,
    /// HALU machine code; PTX is imported first
    Halu,
    /// Native object file, compiled from HALU machine code and called in this process
    #[cfg(feature = "aot")]
    Object,
    /// PTX that is imported and compiled back to PTX
    Recompiled,
}

impl EngineArg {
    pub(super) fn engine(self) -> Engine {
        match self {
            EngineArg::Interp => Engine::Interp,
            EngineArg::Jit => Engine::JIT,
            EngineArg::Cuda => Engine::Cuda,
        }
    }
}

impl ViaArg {
    pub(super) fn via(self) -> Execution {
        match self {
            ViaArg::Ptx => Execution::Ptx,
            ViaArg::Ir => Execution::Ir,
            ViaArg::Halu => Execution::Halu,
            #[cfg(feature = "aot")]
            ViaArg::Object => Execution::Object,
            ViaArg::Recompiled => Execution::Recompiled,
        }
    }
}

impl Launch {
    pub(super) fn run(self) -> Done {
        let (engine, via, races) =
            (self.engine.map(EngineArg::engine), self.via.map(ViaArg::via), race_check(self.races));
        json::answer_each(&self.file, true, |members| {
            let watchdog = &self.limits.watchdog(Limits::generous());
            let approximate = AtomicBool::new(false);
            let print = Some(Print(&super::io::print_of_kernel));
            let warnings = Mutex::new(Vec::new());
            let warn = |warning: Failure| warnings.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
            let may_alias = self.alias.alias;
            let (watchdog, schedule) = (Some(watchdog), Schedule::default());
            let how = LaunchOptions {
                engine,
                via,
                races,
                may_alias,
                watchdog,
                approximate: Some(&approximate),
                print,
                warn: Some(Warn(&warn)),
                schedule,
            };
            let asked = members.map_err(Failure::arguments).and_then(|mut members| {
                let mut room = ArgumentBudget::of_launch();
                let then = members.remove("then");
                // The user names the input of `launch`, so a launch may read any regular file.
                let files = Loader::regular(Path::new("")).watched(watchdog);
                Ok((request(members, self.sm, &files, &mut room)?, then, room))
            });
            let several = matches!(&asked, Ok((_, Some(_), _)));
            let made = asked.map_err(|failure| (0, failure)).and_then(|(request, then, mut room)| {
                let then = then.map_or(Ok(Vec::new()), |list| launches(&list, &mut room))?;
                let request = Request { cooperative: request.cooperative || self.cooperative, ..request };
                let then = then
                    .into_iter()
                    .map(|launch| NextLaunch { cooperative: launch.cooperative || self.cooperative, ..launch });
                harness::launch_all(request, then.collect(), &how)
            });
            match made {
                Ok(buffers) => {
                    let buffers: Vec<String> = buffers.iter().map(|bytes| hexadecimal(bytes)).collect();
                    let mut answer = json!({ "buffers": buffers });
                    if approximate.into_inner() {
                        answer["approximate"] = true.into();
                    }
                    let warnings = warnings.into_inner().unwrap_or_else(PoisonError::into_inner);
                    if !warnings.is_empty() {
                        answer["warnings"] = warnings.iter().map(described).collect();
                    }
                    answer
                }
                Err((launch, failure)) => {
                    let mut error = described(&failure);
                    if several {
                        error.insert("launch".into(), launch.into());
                    }
                    json!({ "error": error })
                }
            }
        })
    }
}

fn described(failure: &Failure) -> Members {
    let Failure { kind, message, line, item, source_line, other } = failure;
    let mut error = place(*line, *item, source_line.as_deref());
    error.insert("kind".into(), kind.name().into());
    error.insert("message".into(), message.as_str().into());
    if let Some(other) = other {
        let OtherAccess { item, line, source_line } = &**other;
        error.insert("other".into(), place(*line, Some(*item), source_line.as_deref()).into());
    }
    error
}

/// Returns the JSON members `line`, `item` and `source` of an access.
fn place(line: Option<u32>, item: Option<Item>, source: Option<&str>) -> Members {
    let members =
        [("line", line.map(Value::from)), ("item", item.map(|item| json!(item))), ("source", source.map(Value::from))];
    members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Parses an SM version, such as `90` or `100a`.
fn machine(text: &str) -> Result<TargetName, String> {
    let found = TargetName::from_number(text).filter(|machine| machine.first_version().is_some());
    found.ok_or_else(|| "expected a machine such as 80, 90 or 100a".into())
}

/// Converts a JSON line to a request for a launch.
pub(super) fn request(
    mut members: Members,
    sm: Option<TargetName>,
    files: &Loader,
    room: &mut ArgumentBudget,
) -> Result<Request, Failure> {
    let size = size(&members)?;
    let args = args(&members, |(number, value)| arg(number, value, room))?;
    let (language, file, text) = text(&mut members, files)?;
    let mut request = Request { args, machine: sm, ..Request::new(language, file, text, size) };
    request.entry = entry(&members)?;
    request.shared = shared(&members)?;
    request.budget = budget(&members)?.unwrap_or(request.budget);
    request.cooperative = cooperative(&members)?;
    if let Some(sm) = members.get("sm") {
        let name = match sm {
            Value::String(name) => Some(name.clone()),
            number => whole(number).map(|number| number.to_string()),
        };
        let found = name.and_then(|name| machine(&name).ok());
        request.machine = Some(found.ok_or_else(|| wrong("sm", "a machine such as 80, 90 or \"100a\""))?);
    }
    Ok(request)
}

fn entry(members: &Members) -> Result<Option<String>, Failure> {
    let name = |entry: &Value| entry.as_str().map(str::to_owned).ok_or_else(|| wrong("entry", "the name of a kernel"));
    members.get("entry").map(name).transpose()
}

fn shared(members: &Members) -> Result<u64, Failure> {
    members.get("shared").map_or(Ok(0), |bytes| whole(bytes).ok_or_else(|| wrong("shared", "a number of bytes")))
}

fn budget(members: &Members) -> Result<Option<u64>, Failure> {
    let number = |budget: &Value| whole(budget).ok_or_else(|| wrong("budget", "a number of branches"));
    members.get("budget").map(number).transpose()
}

fn cooperative(members: &Members) -> Result<bool, Failure> {
    let flag = |flag: &Value| flag.as_bool().ok_or_else(|| wrong("cooperative", "true or false"));
    members.get("cooperative").map_or(Ok(false), flag)
}

/// Converts the launches of the member `then`. An error has the number of the launch that is invalid.
fn launches(list: &Value, room: &mut ArgumentBudget) -> Result<Vec<NextLaunch>, (usize, Failure)> {
    let list = list.as_array().ok_or_else(|| (0, wrong("then", "a list of launches")))?;
    let launches = (1..).zip(list).map(|(number, launch)| then(launch, room).map_err(|failure| (number, failure)));
    launches.collect()
}

fn then(launch: &Value, room: &mut ArgumentBudget) -> Result<NextLaunch, Failure> {
    let members = launch.as_object().ok_or_else(|| Failure::arguments("a launch of `then` is not an object"))?;
    if let Some(name) = ["ptx", "hb", "file", "sm", "then"].into_iter().find(|name| members.contains_key(*name)) {
        return Err(Failure::arguments(format!("`{name}` is only valid in the line itself, not in `then`")));
    }
    Ok(NextLaunch {
        entry: entry(members)?,
        size: size(members)?,
        shared: shared(members)?,
        args: args(members, |(number, value)| then_arg(number, value, room))?,
        budget: budget(members)?.unwrap_or(halfbyte::abi::DEFAULT_BUDGET),
        cooperative: cooperative(members)?,
    })
}

/// Converts an argument of a launch in `then`.
fn then_arg(number: usize, value: &Value, room: &mut ArgumentBudget) -> Result<NextArg, Failure> {
    let what = format!("argument {number}");
    let members = value.as_object().ok_or_else(|| wrong(&what, "an object"))?;
    let Some(same) = members.get("same") else { return arg(number, value, room).map(NextArg::New) };
    if let Some(other) =
        ["buffer", "zeros", "value", "alias", "offset"].iter().find(|name| members.contains_key(**name))
    {
        return Err(Failure::arguments(format!("{what} has both `same` and `{other}`; give one of them")));
    }
    let same = whole(same).and_then(|arg| usize::try_from(arg).ok());
    let arg =
        same.ok_or_else(|| wrong(&format!("same` of `{what}"), "the number of an argument of the first launch"))?;
    let pointers = members.get("pointers").map_or(Ok(Vec::new()), |list| pointers(list, &what))?;
    Ok(NextArg::Same { arg, pointers })
}

pub(super) fn wrong(name: &str, expected: &str) -> Failure {
    Failure::arguments(format!("`{name}` is not {expected}"))
}

/// Returns a JSON value that is a non-negative integer, otherwise `None`.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64()
}

fn small(value: &Value) -> Option<u32> {
    u32::try_from(whole(value)?).ok()
}

/// Returns the language, the file name and the text of a kernel from the members of a JSON line.
fn text(members: &mut Members, files: &Loader) -> Result<(Language, String, String), Failure> {
    let mut given = ["ptx", "hb", "file"].into_iter().filter_map(|name| Some((name, members.get_mut(name)?.take())));
    let (name, value) =
        given.next().ok_or_else(|| Failure::arguments("the text is missing; give `ptx`, `hb` or `file`"))?;
    if given.next().is_some() {
        return Err(Failure::arguments("several texts are given; give only one of `ptx`, `hb` and `file`"));
    }
    let Value::String(text) = value else { return Err(wrong(name, "a string")) };
    let (language, file, text) = match name {
        "ptx" => (Language::Ptx, "<ptx>".to_owned(), text),
        "hb" => (Language::Ir, "<hb>".to_owned(), text),
        _ => {
            let language = if is_ptx(&text) { Language::Ptx } else { Language::Ir };
            let held = read(&text, files)?;
            (language, text, held)
        }
    };
    if text.len() as u64 > MAX_TEXT_BYTES {
        return Err(too_long(text.len() as u64));
    }
    Ok((language, file, text))
}

fn too_long(bytes: u64) -> Failure {
    Failure::new(FailureKind::Limit, format!("the text has {bytes} bytes; the limit is {MAX_TEXT_BYTES}"))
}

/// Reads the text of a kernel from a file.
fn read(name: &str, loader: &Loader) -> Result<String, Failure> {
    let failed = |what: &dyn std::fmt::Display| Failure::arguments(format!("`file` {name}: {what}"));
    let bytes = loader.read_at_most(name, MAX_TEXT_BYTES).map_err(|error| match error {
        FileError::TooLarge { found, .. } if found > MAX_TEXT_BYTES => too_long(found),
        FileError::Exceeded(_) => Failure::new(FailureKind::Limit, error.to_string()),
        error => failed(&error),
    })?;
    String::from_utf8(bytes).map_err(|_| failed(&"it is not UTF-8 text"))
}

/// Returns the number of work items from the members of a JSON line.
fn size(members: &Members) -> Result<Size, Failure> {
    let axes = |name: &str| {
        let Some(value) = members.get(name) else { return Ok(None) };
        let counts: Option<Vec<u32>> = value.as_array().and_then(|counts| counts.iter().map(small).collect());
        let counts = counts.and_then(|counts| <[u32; 3]>::try_from(counts).ok());
        counts.map(Some).ok_or_else(|| wrong(name, "three numbers of 32 bits, [x, y, z]"))
    };
    match (members.get("items"), axes("grid")?, axes("block")?) {
        (Some(items), None, None) => small(items).map(Size::Items).ok_or_else(|| wrong("items", "a number of 32 bits")),
        (None, Some(grid), Some(block)) => Ok(Size::Blocks { grid, block }),
        (Some(_), ..) => Err(Failure::arguments("`items` cannot be combined with `grid` and `block`")),
        (None, ..) => Err(Failure::arguments("give both `grid` and `block`, [x, y, z] each, or `items`")),
    }
}

/// Converts the member `args` of a JSON line. The closure `read` converts each argument.
fn args<A>(members: &Members, read: impl FnMut((usize, &Value)) -> Result<A, Failure>) -> Result<Vec<A>, Failure> {
    let Some(args) = members.get("args") else { return Ok(Vec::new()) };
    let args = args.as_array().ok_or_else(|| wrong("args", "a list"))?;
    args.iter().enumerate().map(read).collect()
}

/// Number of bytes that further arguments of a launch may have.
pub(super) struct ArgumentBudget(u64);

impl ArgumentBudget {
    /// Returns the maximum number of bytes for the arguments of one launch.
    pub(super) fn of_launch() -> ArgumentBudget {
        ArgumentBudget(MAX_BUFFER_BYTES)
    }

    fn take(&mut self, bytes: u64, what: &str) -> Result<(), Failure> {
        let left = self.0.checked_sub(bytes).ok_or_else(|| {
            let message =
                format!("{what} has {bytes} bytes; the arguments of a launch have at most {MAX_BUFFER_BYTES}");
            Failure::arguments(message)
        })?;
        self.0 = left;
        Ok(())
    }
}

fn arg(number: usize, value: &Value, room: &mut ArgumentBudget) -> Result<Arg, Failure> {
    let what = format!("argument {number}");
    let members = value.as_object().ok_or_else(|| wrong(&what, "an object"))?;
    let mut given = ["buffer", "zeros", "value", "alias"].iter().filter_map(|name| Some((*name, members.get(*name)?)));
    if members.contains_key("same") {
        let message = format!("{what} has `same`, which is only valid in a launch of `then`");
        return Err(Failure::arguments(message));
    }
    let kinds = "one of `buffer`, `zeros`, `value` and `alias`";
    let (name, value) = given.next().ok_or_else(|| Failure::arguments(format!("{what} has no value; give {kinds}")))?;
    if let Some((other, _)) = given.next() {
        return Err(Failure::arguments(format!("{what} has both `{name}` and `{other}`; give {kinds}")));
    }
    let beside = |member: &str, of: &[&str]| match members.get(member) {
        Some(_) if !of.contains(&name) => Err(Failure::arguments(format!(
            "{what} has `{member}` and `{name}`; `{member}` is only valid with `{}`",
            of.join("`, `")
        ))),
        found => Ok(found),
    };
    let offset = beside("offset", &["alias"])?;
    let pointers = beside("pointers", &["buffer", "zeros"])?.map_or(Ok(Vec::new()), |list| pointers(list, &what))?;
    match name {
        "alias" => {
            let arg = whole(value).and_then(|arg| usize::try_from(arg).ok());
            let arg = arg.ok_or_else(|| wrong(&format!("alias` of `{what}"), "the number of an argument"))?;
            let offset = offset.map_or(Some(0), whole);
            let offset = offset.ok_or_else(|| wrong(&format!("offset` of `{what}"), "a number of bytes"))?;
            Ok(Arg::Alias { arg, offset })
        }
        "zeros" => {
            let bytes = whole(value).ok_or_else(|| wrong(&format!("zeros` of `{what}"), "a number of bytes"))?;
            room.take(bytes, &what)?;
            Ok(Arg::Buffer { bytes: vec![0; bytes as usize], pointers })
        }
        _ => {
            let not_hex = || {
                let member = format!("{name}` of `{what}");
                wrong(&member, "a string of two hexadecimal digits a byte")
            };
            let digits = value.as_str().ok_or_else(not_hex)?;
            room.take(digits.len() as u64 / 2, &what)?;
            let bytes = bytes(digits).ok_or_else(not_hex)?;
            Ok(if name == "value" { Arg::Value(bytes) } else { Arg::Buffer { bytes, pointers } })
        }
    }
}

/// Parses the member `pointers`: `[[AT, ARG, OFFSET], ..]`.
fn pointers(value: &Value, what: &str) -> Result<Vec<Pointer>, Failure> {
    let pointer = |value: &Value| match value.as_array()?.as_slice() {
        [at, arg, offset] => {
            Some(Pointer { at: whole(at)?, arg: usize::try_from(whole(arg)?).ok()?, offset: whole(offset)? })
        }
        _ => None,
    };
    let pointers: Option<Vec<Pointer>> = value.as_array().and_then(|list| list.iter().map(pointer).collect());
    pointers.ok_or_else(|| wrong(&format!("pointers` of `{what}"), "a list of [AT, ARG, OFFSET], numbers each"))
}

/// Parses a string of bytes, each of two hexadecimal digits.
pub(super) fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some((digit(high)? << 4 | digit(low)?) as u8)).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |number: u8| char::from(DIGITS[usize::from(number & 15)]);
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte)]).collect()
}
