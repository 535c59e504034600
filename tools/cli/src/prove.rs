//! `halfbyte prove`

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use halfbyte_prove::prove::{
    Counterexample, Effort, Plan, Progress, Reproduction, Shard, Subject, SubjectResult, prove, subjects,
};

use serde_json::{Value, json};

use super::io::write;
use super::json_output::JsonOutput;
use super::meter::{Meter, grouped, seconds};
use super::names::closest_name;
use super::output::{say, summarise};
use super::{Done, Failure, Message};

/// Tests rules, half-precision arithmetic and machine code on many cases
///
/// Both sides of each rule are executed and compared. The half arithmetic is compared with rustc_apfloat, and machine
/// code with its assembly text. Prints a line per subject; without a filter, the rules of a target share one line.
///
/// A counterexample of a rule is a kernel with a run line for `check`, which is printed and written to a file of its
/// own. Other counterexamples are a line for `step --target halu --json`. Instruction-set variants of the engine that
/// this computer cannot run are skipped.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Prove {
    /// Run all cases: two million per rule, every pair of halves, 500 million triples per rounding mode and format
    #[arg(long)]
    full: bool,
    /// Run only part k of n equal parts
    #[arg(long, value_name = "k/n", default_value_t = Shard::WHOLE)]
    shard: Shard,
    /// Seed of the random cases
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Number of threads [default: number of processors]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Folder for counterexamples of rules
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
    /// Run only subjects whose name contains one of these texts, such as `halu::`, `HFMA2` or a rule's name
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// Print one JSON object (docs/json/prove.schema.json)
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  halfbyte prove
  halfbyte prove halu:: --threads 2
  halfbyte prove HFMA2 int_mad --json
  halfbyte prove --full --shard 3/16 --seed 7";

impl Prove {
    pub(super) fn run(self) -> Done {
        let effort = if self.full { Effort::Full } else { Effort::Sample };
        let mut subjects = subjects(effort);
        subjects.retain(|s| self.filters.is_empty() || self.filters.iter().any(|filter| s.name.contains(filter)));
        if subjects.is_empty() {
            return Err(self.unknown(effort));
        }
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let plan = Plan { shard: self.shard, seed: self.seed, threads: self.threads.unwrap_or(processors) };
        let mut meter = Meter::new(Duration::from_millis(100));
        let start = Instant::now();
        let findings = prove(&subjects, plan, &mut |progress| meter.show(|time| progress_line(progress, time)));
        meter.clear();
        let failures = || {
            let all = subjects.iter().zip(&findings);
            all.filter_map(|(subject, finding)| Some((subject.name.as_str(), finding.failure.as_deref()?)))
        };
        let cases: u64 = findings.iter().map(|finding| finding.cases).sum();
        let failed = failures().count();
        if !self.json {
            let verdict = format!(
                "shard {} with seed {}: {} cases in {}, {failed} of {} subjects failed\n",
                self.shard,
                self.seed,
                grouped(cases),
                seconds(start.elapsed()),
                subjects.len(),
            );
            summarise(&(table(&subjects, &findings, !self.filters.is_empty()) + &verdict))?;
        }
        let mut done = if failed == 0 { Ok(()) } else { Err(Failure::Input(Message::Said)) };
        let mut objects = Vec::new();
        for (name, failure) in failures() {
            let mut object = json!({ "subject": failure.subject, "reason": failure.reason });
            if !self.json {
                say(&format!("error: {failure}"));
            }
            match &failure.reproduction {
                Reproduction::None => {}
                Reproduction::Line(line) => object["line"] = line.as_str().into(),
                Reproduction::Kernel(text) => match self.keep(name, failure, text) {
                    Ok(path) if self.json => object["file"] = path.display().to_string().into(),
                    Ok(path) => say(&format!("note: written to {}", path.display())),
                    Err(unwritten) => done = Err(unwritten),
                },
            }
            objects.push(object);
        }
        if !self.json {
            return done;
        }
        let mut answer = JsonOutput::new("prove");
        answer.set("shard", self.shard.to_string());
        answer.set("seed", self.seed);
        answer.set("cases", cases);
        answer.set("seconds", start.elapsed().as_secs_f64());
        answer.set("subjects", subjects.iter().zip(&findings).map(proved).collect::<Vec<_>>());
        answer.set("failures", objects);
        answer.finish(done)
    }

    /// Returns the error for filters that match no subject. The error suggests a similar name of a
    /// subject, or a part of a name between `::`.
    fn unknown(&self, effort: Effort) -> Failure {
        let all = subjects(effort);
        let names = all.iter().flat_map(|subject| subject.name.split("::").chain([subject.name.as_str()]));
        let names: Vec<&str> = names.collect();
        let near = self.filters.iter().find_map(|filter| closest_name(filter, names.iter().copied()));
        let meant = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Failure::Call(format!("no subject has {} in its name{meant}", self.filters.join(" or ")))
    }

    /// Writes the counterexample of a rule to a file, and returns the path of the file.
    fn keep(&self, subject: &str, failure: &Counterexample, text: &str) -> Result<PathBuf, Failure> {
        let path = self.out.join(format!("prove-{}.hb", subject.replace("::", "-")));
        let said = format!("{}: {}", failure.subject, failure.reason);
        let comment: String = said.lines().map(|line| format!("; {line}\n")).collect();
        write(Some(&path), (comment + text).as_bytes())?;
        Ok(path)
    }
}

const FAILED: &str = "FAILED";

fn verdict(subject: &Subject, finding: &SubjectResult) -> &'static str {
    match finding.failure {
        Some(_) => FAILED,
        None if subject.is_absent => "absent",
        None => "ok",
    }
}

/// Converts a subject with its result to JSON.
fn proved((subject, finding): (&Subject, &SubjectResult)) -> Value {
    json!({
        "name": subject.name,
        "part": subject.part,
        "is_rule": subject.is_rule,
        "verdict": verdict(subject, finding).to_lowercase(),
        "instances": subject.instances,
        "cases": finding.cases,
        "seconds": finding.time.as_secs_f64(),
    })
}

/// Formats a table of the results. If `each` is set, every subject has a line; otherwise all rules
/// of a target share one line.
fn table(subjects: &[Subject], findings: &[SubjectResult], each: bool) -> String {
    let mut rows: Vec<(String, usize, u64, Duration, &str)> = Vec::new();
    let mut summed = "";
    let mut rules = 0;
    for (subject, finding) in subjects.iter().zip(findings) {
        let verdict = verdict(subject, finding);
        let row = (subject.name.clone(), subject.instances, finding.cases, finding.time, verdict);
        match rows.last_mut() {
            Some(last) if !each && subject.is_rule && summed == subject.part => {
                rules += 1;
                *last = (
                    format!("{}::, {rules} rules", subject.part),
                    last.1 + row.1,
                    last.2 + row.2,
                    last.3 + row.3,
                    if row.4 == FAILED { FAILED } else { last.4 },
                );
            }
            _ => {
                (summed, rules) = (subject.part, 1);
                rows.push(row);
            }
        }
    }
    let width = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let mut text = format!("{:<6} {:<width$}  {:>9}  {:>15}  {:>9}\n", "", "subject", "instances", "cases", "time");
    for (name, instances, cases, time, verdict) in rows {
        let (instances, cases, time) = (grouped(instances as u64), grouped(cases), seconds(time));
        // Writing to a string never fails.
        let _ = writeln!(text, "{verdict:<6} {name:<width$}  {instances:>9}  {cases:>15}  {time:>9}");
    }
    text
}

fn progress_line(progress: &Progress<'_>, time: Duration) -> String {
    let &Progress { done, pieces, cases, subject } = progress;
    let percent = done * 100 / pieces.max(1);
    format!("{percent:>3} %  {done} of {pieces} pieces, {} cases in {}; {subject}", grouped(cases), seconds(time))
}
