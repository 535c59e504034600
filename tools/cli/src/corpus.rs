//! `halfbyte corpus`

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::io::{BufRead, BufReader, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::bufread::MultiGzDecoder;
use halfbyte::abi::Limits;
use halfbyte::files::Loader;
use halfbyte_ir::witness::Random;
use halfbyte_prove::prove::Shard;
use halfbyte_prove::routes::{launches_of, mutant};
use halfbyte_testkit::harness::Request;
use halfbyte_testkit::harness::{self, Failure as Failed, FailureKind, LaunchOptions};
use halfbyte_testkit::tolerance::{Expected, Format, Margin, Tolerance};
use serde_json::{Value, json};

use super::io::{open, print};
use super::json::Members;
use super::json_output::JsonOutput;
use super::launch::{ArgumentBudget, EngineArg, ViaArg, bytes, request, wrong};
use super::limits::LimitArgs;
use super::meter::{Meter, grouped};
use super::output::say;
use super::races::{Strictness, race_check};
use super::routes::Comparison;
use super::{AliasArgs, Done, Failure, Message, interrupt};

/// Runs the launches of a file, and counts the launches that can be read, that run, and that give the expected results
///
/// Each line is a launch in the format of `halfbyte launch --json`, with its expected result. "expect" has the bytes of
/// each buffer in hexadecimal digits, in the order of the arguments, or null for a buffer that is not compared. "error"
/// has the kind of the error with which the launch must end.
///
/// Results are compared bit for bit unless the line gives a tolerance. "tol" has {"rel": R, "abs": A} or null for each
/// buffer, and "dtype" its element type (f16, bf16, f32, f64, ...). Alternatively, "out_format" is the element type of
/// all buffers. With it, "ulp" is the tolerance in units in the last place, "abs" the absolute tolerance, and "nan_any"
/// accepts any NaN for a NaN. "kernel" or "name" is the name of the line. Other members are ignored.
///
/// Launches that cannot be read, do not run or differ are counted by reason, most frequent first, each with an example.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Corpus {
    /// JSON Lines files, which may be compressed (FILE.gz); - is standard input
    #[arg(required = true, value_name = "FILE")]
    paths: Vec<PathBuf>,
    /// Engine for machine code [default: interp; jit for directly executed PTX]
    #[arg(long, value_enum)]
    engine: Option<EngineArg>,
    /// Form in which texts are executed [default: ptx for PTX; ir for kernels of the IR, or halu with --engine jit]
    #[arg(long, value_enum)]
    via: Option<ViaArg>,
    /// Detect races in every form of execution
    ///
    /// Two stores of the same value by the same instruction are a warning; with --races=strict, they are an error.
    #[arg(long, value_enum, require_equals = true, value_name = "MODE")]
    races: Option<Option<Strictness>>,
    #[command(flatten)]
    alias: AliasArgs,
    /// Count a launch whose text cannot be read as failed
    #[arg(long)]
    strict: bool,
    /// Maximum number of reasons to show for each outcome
    #[arg(long, value_name = "N", default_value_t = 20)]
    show: usize,
    /// Print one JSON object (docs/json/corpus.schema.json)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    mutants: MutantArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Options for comparing random mutants of the texts.
#[derive(clap::Args)]
#[command(next_help_heading = "Mutants")]
struct MutantArgs {
    /// Compare N mutants of the launches' PTX on all routes, and ignore the expected results
    ///
    /// A mutant differs from its text in a few registers, constants, types, modifiers, guards or statements. It is
    /// executed on six routes: directly by the interpreter and by native code, on the evaluator and as HALU machine
    /// code after import, as a native object, and as recompiled PTX. A route may refuse a mutant. A mutant whose result
    /// is undefined, for example because of a race, is not compared.
    ///
    /// A mutant on which routes differ is written as NAME.ptx, and its launch as NAME.jsonl. FILE may be a PTX file,
    /// NAME.ptx: its kernels get random arguments.
    #[arg(
        id = "mutants",
        long = "mutants",
        value_name = "N",
        conflicts_with_all = ["engine", "via", "races", "alias", "strict", "json"]
    )]
    count: Option<u64>,
    /// Seed for the random choice of the mutants
    #[arg(long, value_name = "N", default_value_t = 0, requires = "mutants")]
    seed: u64,
    /// Number of the first mutant
    #[arg(long, value_name = "N", default_value_t = 0, requires = "mutants")]
    first: u64,
    /// Run part k of n equal parts
    #[arg(long, value_name = "k/n", default_value_t = Shard::WHOLE, requires = "mutants")]
    shard: Shard,
    /// Number of threads [default: number of processors]
    #[arg(long, value_name = "N", requires = "mutants")]
    threads: Option<NonZero<usize>>,
    /// Folder for mutants on which routes differ
    #[arg(long, value_name = "FOLDER", default_value = ".", requires = "mutants")]
    out: PathBuf,
}

/// Exclusive upper bound of the numbers of mutants.
const MOST_MUTANTS: u64 = 1 << 63;

/// Maximum number of attempts to create the mutant with a number. Afterwards the number is skipped.
const DRAWS: usize = 8;

/// Maximum number of backward branches that an item of a mutant may take.
const BUDGET: u64 = 1 << 14;

const EXAMPLES: &str = "\
Examples:
  halfbyte corpus launches.jsonl
  halfbyte corpus launches.jsonl.gz --via halu --engine jit
  grep '\"atomics\"' launches.jsonl | halfbyte corpus -
  halfbyte corpus launches.jsonl.gz kernels.ptx --mutants 20000 --seed 7 --shard 1/2

Exit codes: 0 all launches are as expected, 1 a launch failed or differs, or a line is invalid, 2 the call is wrong.";

/// Outcome of a launch, from the earliest failure to success.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The line is not a valid launch.
    NoLaunch,
    /// The text could not be read.
    NotRead,
    /// The text was read, but the launch failed.
    NotRun,
    /// The result differs from the expected one.
    Different,
    /// The result is as expected.
    Equal,
}

impl Outcome {
    /// Outcomes for which reasons are counted, with their names in the output.
    const OUTCOMES_WITH_REASONS: [(Outcome, &str); 4] = [
        (Outcome::NoLaunch, "no launch"),
        (Outcome::NotRead, "not read"),
        (Outcome::NotRun, "not run"),
        (Outcome::Different, "not equal"),
    ];
}

/// The launches of a file that have the same outcome for the same reason.
#[derive(Default)]
struct Group {
    count: u64,
    /// The name of the first of these launches, and the line of its text to which the reason refers.
    example: String,
    line: Option<u32>,
}

/// The outcomes of all launches of a file.
#[derive(Default)]
struct Found {
    counts: BTreeMap<Outcome, u64>,
    kernels: BTreeSet<String>,
    groups: BTreeMap<(Outcome, String), Group>,
}

impl Found {
    fn add(&mut self, kernel: String, outcome: Outcome, why: Option<(String, Option<u32>)>) {
        *self.counts.entry(outcome).or_default() += 1;
        if let Some((reason, line)) = why {
            let group = self.groups.entry((outcome, reason)).or_default();
            group.count += 1;
            if group.count == 1 {
                (group.example, group.line) = (kernel.clone(), line);
            }
        }
        self.kernels.insert(kernel);
    }

    /// Returns the number of launches with the given outcome or a better one.
    fn reached(&self, outcome: Outcome) -> u64 {
        self.counts.range(outcome..).map(|(_, count)| count).sum()
    }

    fn has_failed(&self, strict: bool) -> bool {
        let fails = |outcome: &Outcome| match outcome {
            Outcome::NoLaunch | Outcome::NotRun | Outcome::Different => true,
            Outcome::NotRead => strict,
            Outcome::Equal => false,
        };
        self.counts.keys().any(fails)
    }

    /// Returns the reasons for an outcome, most frequent first.
    fn reasons(&self, of: Outcome) -> Vec<(&str, &Group)> {
        let groups = self.groups.iter().filter(|((outcome, _), _)| *outcome == of);
        let mut reasons: Vec<_> = groups.map(|((_, reason), group)| (reason.as_str(), group)).collect();
        reasons.sort_by_key(|(_, group)| std::cmp::Reverse(group.count));
        reasons
    }

    fn text(&self, file: &str, show: usize) -> String {
        let (launches, kernels) = (self.reached(Outcome::NoLaunch), self.kernels.len() as u64);
        let [read, run, equal] = [Outcome::NotRun, Outcome::Different, Outcome::Equal].map(|from| self.reached(from));
        let counted = |count, one, many| format!("{} {}", grouped(count), if count == 1 { one } else { many });
        let (launches, kernels) = (counted(launches, "launch", "launches"), counted(kernels, "kernel", "kernels"));
        let [read, run, equal] = [read, run, equal].map(grouped);
        let mut text = format!("{file}: {launches} of {kernels}: {read} read, {run} run, {equal} equal\n");
        for (outcome, name) in Outcome::OUTCOMES_WITH_REASONS {
            let reasons = self.reasons(outcome);
            if !reasons.is_empty() {
                let _ = writeln!(text, "  {name}");
            }
            for (reason, Group { count, example, line }) in reasons.iter().take(show) {
                let line = line.map_or(String::new(), |line| format!(", line {line}"));
                let _ = writeln!(text, "  {:>6}  {reason}: {example}{line}", grouped(*count));
            }
            if let Some(more @ 1..) = reasons.len().checked_sub(show) {
                let _ = writeln!(text, "          and {more} more reasons; --show N shows more");
            }
        }
        text
    }

    fn json(&self, file: &str) -> Value {
        let reasons = Outcome::OUTCOMES_WITH_REASONS.iter().flat_map(|&(outcome, name)| {
            let reason = move |(reason, group): (&str, &Group)| {
                let mut object =
                    json!({ "outcome": name, "reason": reason, "count": group.count, "example": group.example });
                if let Some(line) = group.line {
                    object["line"] = line.into();
                }
                object
            };
            self.reasons(outcome).into_iter().map(reason)
        });
        json!({
            "file": file,
            "launches": self.reached(Outcome::NoLaunch),
            "kernels": self.kernels.len(),
            "read": self.reached(Outcome::NotRun),
            "run": self.reached(Outcome::Different),
            "equal": self.reached(Outcome::Equal),
            "reasons": reasons.collect::<Vec<_>>(),
        })
    }
}

impl Corpus {
    pub(super) fn run(self) -> Done {
        if let Some(count) = self.mutants.count {
            return self.run_mutants(count);
        }
        let (mut files, mut has_failed) = (Vec::new(), false);
        for path in &self.paths {
            let (name, found) = (path.display().to_string(), self.file(path)?);
            if interrupt::is_pending() {
                return Ok(());
            }
            has_failed |= found.has_failed(self.strict);
            if !self.json {
                print(found.text(&name, self.show).as_bytes())?;
            }
            files.push(found.json(&name));
        }
        let done = if has_failed { Err(Failure::Input(Message::Said)) } else { Ok(()) };
        if !self.json {
            return done;
        }
        let mut answer = JsonOutput::new("corpus");
        answer.set("files", files);
        answer.finish(done)
    }

    /// Compares mutants of the launches' texts on all routes.
    fn run_mutants(&self, count: u64) -> Done {
        let MutantArgs { seed, first, shard, threads, .. } = self.mutants;
        let mut launches = Vec::new();
        let files = Loader::within(Path::new(""));
        for path in &self.paths {
            if path.extension().is_some_and(|extension| extension == "ptx") {
                let mut text = String::new();
                let unreadable = |error: std::io::Error| Failure::Call(format!("{}: {error}", path.display()));
                open(path)?.take(MAX_LINE).read_to_string(&mut text).map_err(unreadable)?;
                launches.extend(launches_of(&path.display().to_string(), &text, &mut Random(seed)));
                continue;
            }
            self.each_line(path, |_, line| {
                let Ok(members) = serde_json::from_slice::<Members>(line) else { return };
                let is_one = members.contains_key("ptx") && !members.contains_key("then");
                let request = is_one.then(|| request(members, None, &files, &mut ArgumentBudget::of_launch()));
                launches.extend(request.and_then(Result::ok).map(|request| Request { budget: BUDGET, ..request }));
            })?;
        }
        if launches.is_empty() {
            return Err(Failure::input("the files contain no launch of a PTX kernel".to_owned()));
        }
        let end = first.checked_add(count).filter(|&end| end <= MOST_MUTANTS);
        let beyond = || Failure::Call("mutant numbers must be less than 2^63: lower --first or --mutants".into());
        let comparison = Comparison {
            name: "mutants",
            prefix: "mutant",
            seed,
            numbers: first..end.ok_or_else(beyond)?,
            shard,
            threads,
            limits: &self.limits,
            out: self.mutants.out.clone(),
        };
        comparison.run(|number| {
            let mut random = Random(Random(Random(seed).bits() ^ number).bits());
            // A text may have no valid mutant, so several texts are tried.
            (0..DRAWS).find_map(|_| mutant(launches.get(random.below(launches.len()))?, &mut random))
        })
    }

    fn file(&self, path: &Path) -> Result<Found, Failure> {
        let (mut found, mut meter) = (Found::default(), Meter::new(Duration::from_secs(1)));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        self.each_line(path, |number, line| {
            meter.show(|_| format!("{}: {} launches", path.display(), grouped(number - 1)));
            self.line(number, line, folder, &mut found);
        })?;
        meter.clear();
        if found.counts.is_empty() && !interrupt::is_pending() {
            say(&format!("warning: {}: the file has no launches", path.display()));
        }
        Ok(found)
    }

    /// Calls `each` with every line of a file and its number.
    fn each_line(&self, path: &Path, mut each: impl FnMut(u64, &[u8])) -> Done {
        let unreadable = |error: std::io::Error| Failure::Call(format!("{}: {error}", path.display()));
        let compressed = path.extension().is_some_and(|extension| extension == "gz");
        let mut input: Box<dyn BufRead> = match compressed {
            true => Box::new(BufReader::new(MultiGzDecoder::new(open(path)?))),
            false => open(path)?,
        };
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            // The length of a line is limited, because a compressed file may decompress to an endless line.
            let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(unreadable)?;
            if read == 0 || interrupt::is_pending() {
                break;
            }
            if read as u64 == MAX_LINE && !line.ends_with(b"\n") {
                return Err(Failure::input(format!(
                    "{}: line {number} has more than {MAX_LINE} bytes",
                    path.display()
                )));
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            each(number, &line);
        }
        Ok(())
    }

    /// Runs the launch of a line, and adds its outcome to `found`.
    fn line(&self, number: u64, line: &[u8], folder: &Path, found: &mut Found) {
        let members: Result<Members, _> = serde_json::from_slice(line);
        let members = match members {
            Ok(members) => members,
            Err(error) => {
                let why = (format!("not a JSON object: {error}"), None);
                return found.add(format!("line {number} of the file"), Outcome::NoLaunch, Some(why));
            }
        };
        let name = ["kernel", "name"].iter().find_map(|name| members.get(*name)?.as_str().map(str::to_owned));
        let name = name.unwrap_or_else(|| format!("line {number} of the file"));
        let (outcome, why) = match self.outcome(members, folder) {
            Ok(()) => (Outcome::Equal, None),
            Err((outcome, failed)) => (outcome, Some((failed.message, failed.line))),
        };
        found.add(name, outcome, why);
    }

    fn outcome(&self, mut members: Members, folder: &Path) -> Result<(), (Outcome, Failed)> {
        let no_launch = |failed| (Outcome::NoLaunch, failed);
        if members.contains_key("then") {
            return Err(no_launch(Failed::arguments("`then` is for `halfbyte launch --json`")));
        }
        let wanted = wanted(&mut members).map_err(no_launch)?;
        let watchdog = &self.limits.watchdog(Limits::generous());
        // The corpus file is not trusted, so its launches may read only files in the folder of the corpus file.
        let files = Loader::within(Path::new("")).allow(&[folder.to_owned()]).watched(Some(watchdog));
        let request = request(members, None, &files, &mut ArgumentBudget::of_launch()).map_err(no_launch)?;
        let how = LaunchOptions {
            engine: self.engine.map(EngineArg::engine),
            via: self.via.map(ViaArg::via),
            races: race_check(self.races),
            may_alias: self.alias.alias,
            watchdog: Some(watchdog),
            ..LaunchOptions::default()
        };
        let different = |message: String| (Outcome::Different, Failed::new(FailureKind::Arguments, message));
        match (harness::launch(request, &how), wanted) {
            (Ok(buffers), Wanted::Buffers(expected)) => is_as_expected(&buffers, &expected).map_err(different),
            (Ok(_), Wanted::Error(kind)) => Err(different(format!("no error; expected `{kind}`"))),
            (Err(failed), Wanted::Error(kind)) if is_kind(&kind, failed.kind) => Ok(()),
            (Err(failed), wanted) => {
                let outcome = match failed.kind {
                    FailureKind::Unsupported | FailureKind::Refused => Outcome::NotRead,
                    FailureKind::Parse if matches!(wanted, Wanted::Buffers(_)) => Outcome::NotRead,
                    _ => Outcome::NotRun,
                };
                let said = format!("{}: {}", failed.kind.name(), failed.message);
                let message = match wanted {
                    Wanted::Error(kind) if outcome == Outcome::NotRun => format!("error `{kind}` is expected; {said}"),
                    _ if outcome == Outcome::NotRun => said,
                    _ => failed.message.clone(),
                };
                Err((outcome, Failed { message, ..failed }))
            }
        }
    }
}

/// Maximum length of a line, in bytes.
const MAX_LINE: u64 = 1 << 31;

/// Expected result of a launch.
enum Wanted {
    /// Expected contents of each buffer; `None` for a buffer that is not compared.
    Buffers(Vec<Option<Expected>>),
    /// The launch must fail with an error of this kind.
    Error(String),
}

/// Kinds of errors that occur during a launch. Any other expected kind means that the text is invalid.
const LAUNCH_ERROR_KINDS: &[&str] = &[
    "race-shared",
    "race-global",
    "barrier-divergence",
    "barrier-argument",
    "misaligned",
    "out-of-bounds-global",
    "out-of-bounds-shared",
    "out-of-bounds-local",
    "uninitialised-shared",
    "uninitialised-register",
    "uninitialised-carry",
    "membermask",
    "inactive-source",
    "warp-divergence",
    "read-only",
    "trap",
    "budget",
    "deadlock",
];

/// Returns `true` if a failure is of the expected kind. If the expected kind is not in [`LAUNCH_ERROR_KINDS`], the text
/// is invalid: a parse error is also of the expected kind, but an unsupported feature or a wrong argument is not.
fn is_kind(expected: &str, found: FailureKind) -> bool {
    expected == found.name() || (!LAUNCH_ERROR_KINDS.contains(&expected) && found == FailureKind::Parse)
}

fn is_as_expected(buffers: &[Vec<u8>], expected: &[Option<Expected>]) -> Result<(), String> {
    if buffers.len() != expected.len() {
        let (found, expected) = (buffers.len(), expected.len());
        return Err(format!("the launch has {found} buffers, and `expect` has {expected}"));
    }
    let differs = |(found, expected): (&Vec<u8>, &Option<Expected>)| expected.as_ref()?.differs_at(found);
    match buffers.iter().zip(expected).map(differs).enumerate().find_map(|(number, at)| Some((number, at?))) {
        Some((number, at)) => Err(format!("buffer {number} differs at byte {at}")),
        None => Ok(()),
    }
}

/// Removes the expected result from the members of a line.
fn wanted(members: &mut Members) -> Result<Wanted, Failed> {
    match (members.remove("error"), members.remove("expect")) {
        (Some(Value::String(kind)), None) => Ok(Wanted::Error(kind)),
        (Some(_), None) => Err(wrong("error", "the name of a kind of errors")),
        (None, Some(Value::Array(buffers))) => {
            let list = |name: &str| match members.get(name) {
                None | Some(Value::Null) => Ok(&[][..]),
                Some(Value::Array(list)) => Ok(list.as_slice()),
                Some(_) => Err(wrong(name, "a list with an entry for each buffer")),
            };
            let (types, margins, all) = (list("dtype")?, list("tol")?, units(members)?);
            let buffer = |(number, bytes): (usize, Value)| {
                let Value::String(digits) = bytes else {
                    return bytes
                        .is_null()
                        .then_some(None)
                        .ok_or_else(|| wrong("expect", "a list of strings and nulls"));
                };
                let not_hex = || wrong("expect", "of strings of two hexadecimal digits a byte");
                let bytes = self::bytes(&digits).ok_or_else(not_hex)?;
                let margin = match margins.get(number).filter(|margin| !margin.is_null()) {
                    Some(margin) => Some((format_of(types.get(number), "dtype")?, distance(margin)?)),
                    None => all,
                };
                let near = margin.map(|(format, margin)| Tolerance::new(format, vec![margin], "the line's margin"));
                Ok(Some(Expected { bytes, near }))
            };
            buffers.into_iter().enumerate().map(buffer).collect::<Result<_, _>>().map(Wanted::Buffers)
        }
        (None, Some(_)) => Err(wrong("expect", "a list with an entry for each buffer")),
        (Some(_), Some(_)) => Err(Failed::arguments("there are both `expect` and `error`; give one of them")),
        (None, None) => Err(Failed::arguments("the expected result is missing; give `expect` or `error`")),
    }
}

fn format_of(name: Option<&Value>, member: &str) -> Result<Format, Failed> {
    let format = name.and_then(Value::as_str).and_then(Format::from_name);
    format.ok_or_else(|| wrong(member, "a format with margins: f16, bf16, f32, tf32, f64, e4m3 or e5m2"))
}

/// Parses a tolerance, `{"rel": R, "abs": A}`.
fn distance(margin: &Value) -> Result<Margin, Failed> {
    let part = |name: &str| match margin.get(name) {
        None | Some(Value::Null) => Some(0.0),
        Some(part) => part.as_f64().filter(|part| *part >= 0.0),
    };
    let parts = margin.is_object().then(|| Some((part("abs")?, part("rel")?))).flatten();
    let (absolute, relative) = parts.ok_or_else(|| wrong("tol", "a list of {\"rel\": R, \"abs\": A} and null"))?;
    Ok(Margin::Distance { absolute, relative, ulps: 0.0 })
}

/// Returns the format and the tolerance in units in the last place that apply to all buffers.
/// Returns `None` if the line has none.
fn units(members: &Members) -> Result<Option<(Format, Margin)>, Failed> {
    let Some(name) = members.get("out_format").filter(|name| !name.is_null()) else { return Ok(None) };
    let member = |name: &str| members.get(name).filter(|value| !value.is_null());
    let any_nan = member("nan_any").is_some_and(|any| any.as_bool() != Some(false));
    if !any_nan && member("ulp").is_none() && member("abs").is_none() {
        return Ok(None);
    }
    let units = || wrong("ulp", "a number of units in the last place");
    let ulps = member("ulp").map_or(Ok(0), |ulps| ulps.as_u64().ok_or_else(units))?;
    let absolute = member("abs").map_or(Some(0.0), |abs| abs.as_f64().filter(|abs| *abs >= 0.0));
    let absolute = absolute.ok_or_else(|| wrong("abs", "a distance"))?;
    Ok(Some((format_of(Some(name), "out_format")?, Margin::Ulps { ulps, absolute, any_nan })))
}
