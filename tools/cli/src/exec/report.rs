//! The reports of the driver library and of the Python plug-ins. Each of these two writes at most
//! one file per process, when the process exits and after each error.

use std::collections::BTreeSet;
use std::fs::{read, read_dir};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::meter::grouped;
use crate::output::{mention, say};

/// Maximum number of errors, and of warnings, that are printed.
const MAX_PRINTED: usize = 50;

/// Maximum number of kernels that the summary names.
const MAX_NAMED: usize = 6;

/// The report of a process, or of all processes of a program.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Report {
    /// The number of processes that wrote a report.
    #[serde(skip_deserializing)]
    processes: u64,
    /// The number of launches.
    launches: u64,
    /// The names of the launched kernels.
    kernels: BTreeSet<String>,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    /// The instructions of launched kernels that a GPU approximates.
    approximations: Vec<Finding>,
}

/// An error, a warning or an approximation in a kernel.
#[derive(Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
struct Finding {
    /// The kind, such as `race`.
    kind: String,
    kernel: String,
    /// The message, in one line.
    message: String,
    /// The message with source lines, for a terminal. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    display: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The number of occurrences.
    #[serde(default = "once")]
    count: u64,
}

/// Returns the number of occurrences of a finding without `count`.
fn once() -> u64 {
    1
}

impl Report {
    /// Reads the reports in a folder, and merges them. A file that is not a report is ignored with a warning, because a
    /// process may have been killed while it wrote the file.
    pub(super) fn read(folder: &Path) -> Report {
        let entries = read_dir(folder).into_iter().flatten().flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_report(path)).collect();
        files.sort();
        let mut merged = Report::default();
        let mut processes = BTreeSet::new();
        for file in files {
            let text = read(&file).map_err(|error| error.to_string());
            match text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string())) {
                Ok(report) => {
                    merged.add(report);
                    processes.insert(process_of(&file));
                }
                Err(error) => say(&format!("warning: the report of {} is ignored: {error}", process_of(&file))),
            }
        }
        // The driver library and the plug-ins of one process each write a file.
        merged.processes = processes.len() as u64;
        merged
    }

    /// Adds the report of one process.
    fn add(&mut self, other: Report) {
        self.processes += 1;
        self.launches = self.launches.saturating_add(other.launches);
        self.kernels.extend(other.kernels);
        merge(&mut self.errors, other.errors);
        merge(&mut self.warnings, other.warnings);
        merge(&mut self.approximations, other.approximations);
    }

    /// Returns `true` if a kernel had an error.
    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns the report as one line of JSON.
    pub(super) fn json(&self) -> Result<String, Failure> {
        serde_json::to_string(self).map(|text| text + "\n").map_err(Failure::input)
    }

    /// Prints the errors, the warnings and a summary to standard error.
    pub(super) fn print(&self) {
        for (severity, findings) in [("error", &self.errors), ("warning", &self.warnings)] {
            for finding in findings.iter().take(MAX_PRINTED) {
                say(&finding.text(severity));
            }
            let more = findings.len().saturating_sub(MAX_PRINTED);
            if more > 0 {
                let more = counted(more as u64, &format!("more {severity}"), &format!("more {severity}s"));
                say(&format!("{more}; --report FILE lists all"));
            }
        }
        mention(&format!("halfbyte exec: {}", self.summary()));
    }

    /// Returns the numbers of launches, kernels, errors and warnings, in one line.
    fn summary(&self) -> String {
        if self.processes == 0 {
            return "the program did not use the driver library".into();
        }
        let launches = match self.launches {
            0 => "no launches".to_owned(),
            launches => {
                let launches = counted(launches, "launch", "launches");
                let kernels = counted(self.kernels.len() as u64, "kernel", "kernels");
                format!("{launches} of {kernels} ({})", self.kernel_names())
            }
        };
        let errors = match self.errors.as_slice() {
            [] => "no errors".to_owned(),
            errors => format!("errors: {}", kinds(errors)),
        };
        let warnings = match self.warnings.as_slice() {
            [] => String::new(),
            warnings => format!("; warnings: {}", kinds(warnings)),
        };
        let approximations = match self.approximations.len() {
            0 => String::new(),
            number => {
                format!("; {}", counted(number as u64, "approximate instruction", "approximate instructions"))
            }
        };
        format!("{launches}; {errors}{warnings}{approximations}")
    }

    /// Returns the names of the first kernels, separated by commas.
    fn kernel_names(&self) -> String {
        let named: Vec<&str> = self.kernels.iter().take(MAX_NAMED).map(String::as_str).collect();
        match self.kernels.len() - named.len() {
            0 => named.join(", "),
            more => format!("{}, and {more} more", named.join(", ")),
        }
    }
}

/// Adds findings to a list. If the list has an equal finding, adds the numbers of occurrences.
fn merge(list: &mut Vec<Finding>, more: Vec<Finding>) {
    for finding in more {
        match list.iter_mut().find(|known| known.identity() == finding.identity()) {
            Some(known) => known.count = known.count.saturating_add(finding.count),
            None => list.push(finding),
        }
    }
}

/// Returns the number of findings of each kind, in the order of their first occurrences.
fn kinds(findings: &[Finding]) -> String {
    let mut numbers: Vec<(&str, u64)> = Vec::new();
    for finding in findings {
        match numbers.iter_mut().find(|(kind, _)| *kind == finding.kind) {
            Some((_, number)) => *number += 1,
            None => numbers.push((finding.kind.as_str(), 1)),
        }
    }
    let texts = numbers.into_iter().map(|(kind, number)| match kind {
        "trap" => counted(number, "trap", "traps"),
        "race" => counted(number, "race", "races"),
        "uninitialised" => counted(number, "uninitialised read", "uninitialised reads"),
        "unsupported" => counted(number, "unsupported operation", "unsupported operations"),
        "padding" => counted(number, "load past an allocation", "loads past an allocation"),
        "approximate" => counted(number, "approximation", "approximations"),
        other => counted(number, other, other),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// Returns a number and a noun in the form for this number.
fn counted(number: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { singular } else { plural })
}

impl Finding {
    /// Returns the members that are equal for two occurrences of the same finding.
    fn identity(&self) -> (&str, &str, &str, Option<&str>, Option<u64>) {
        (&self.kind, &self.kernel, &self.message, self.file.as_deref(), self.line)
    }

    /// Returns the message, with the kernel, the number of occurrences and the source line.
    fn text(&self, severity: &str) -> String {
        let kernel = if self.kernel.is_empty() { String::new() } else { format!("kernel `{}`: ", self.kernel) };
        let times = if self.count > 1 { format!("; {} times", grouped(self.count)) } else { String::new() };
        let place = match (self.file.as_deref(), self.line) {
            (Some(file), Some(line)) => format!("\n  --> {file}:{line}"),
            (Some(file), None) => format!("\n  --> {file}"),
            (None, _) => String::new(),
        };
        format!("{severity}: {kernel}{}{times}{place}", self.message)
    }
}

/// Returns `true` if a file is the report of a process by its name.
fn is_report(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("report-") && name.ends_with(".json"))
}

/// Returns the name of the process that wrote a report, `report-PROCESS.json` of the driver library or
/// `report-PROCESS-python.json` of the plug-ins.
fn process_of(file: &Path) -> String {
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let rest = stem.and_then(|stem| stem.strip_prefix("report-"));
    let number = rest.and_then(|rest| rest.split('-').next());
    number.map_or("a process".to_owned(), |number| format!("process {number}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn merged(texts: &[&str]) -> Report {
        let mut merged = Report::default();
        texts.iter().for_each(|text| merged.add(serde_json::from_str(text).unwrap()));
        merged
    }

    #[test]
    fn merges_reports_of_several_processes() {
        let race = r#"{"kind": "race", "kernel": "add", "message": "m", "file": "add.py", "line": 3, "count": 2}"#;
        let other = r#"{"kind": "race", "kernel": "add", "message": "m", "file": "add.py", "line": 4}"#;
        let report = merged(&[
            &format!(r#"{{"launches": 5, "kernels": ["add", "mul"], "errors": [{race}], "new": 1}}"#),
            &format!(r#"{{"launches": 1, "kernels": ["add"], "errors": [{race}, {other}], "warnings": [{other}]}}"#),
        ]);
        assert_eq!((report.processes, report.launches, report.kernels.len()), (2, 6, 2));
        let counts: Vec<u64> = report.errors.iter().map(|error| error.count).collect();
        assert_eq!((counts, report.warnings.len()), (vec![4, 1], 1));
        assert!(report.has_errors());
        let text = report.errors.first().unwrap().text("error");
        assert_eq!(text, "error: kernel `add`: m; 4 times\n  --> add.py:3");
    }

    #[test]
    fn summarises_in_one_line() {
        let finding = |kind: &str| format!(r#"{{"kind": "{kind}", "message": "{kind}"}}"#);
        assert_eq!(merged(&[]).summary(), "the program did not use the driver library");
        assert_eq!(merged(&["{}"]).summary(), "no launches; no errors");
        let plain = merged(&[r#"{"launches": 1, "kernels": ["add"]}"#]);
        assert_eq!(plain.summary(), "1 launch of 1 kernel (add); no errors");
        let approximate = finding("approximation");
        let with_approximation =
            merged(&[&format!(r#"{{"launches": 1, "kernels": ["add"], "approximations": [{approximate}]}}"#)]);
        assert_eq!(with_approximation.summary(), "1 launch of 1 kernel (add); no errors; 1 approximate instruction");
        assert!(!with_approximation.has_errors());
        let [race, trap, read, padding, new] = ["race", "trap", "uninitialised", "padding", "new"].map(finding);
        let kernels = (0..8).map(|number| format!("\"k{number}\"")).collect::<Vec<_>>().join(", ");
        let all = merged(&[&format!(
            r#"{{"launches": 1000, "kernels": [{kernels}], "errors": [{race}, {trap}, {read}, {new}], "warnings": [{race}, {padding}]}}"#
        )]);
        let expected = "1,000 launches of 8 kernels (k0, k1, k2, k3, k4, k5, and 2 more); \
                        errors: 1 race, 1 trap, 1 uninitialised read, 1 new; warnings: 1 race, 1 load past an allocation";
        assert_eq!(all.summary(), expected);
    }

    #[test]
    fn json_can_be_read_again() {
        let text = r#"{"launches": 1, "errors": [{"kind": "trap", "message": "m", "display": "d"}]}"#;
        let report = merged(&[text]);
        assert_eq!(merged(&[&report.json().ok().unwrap()]), report);
    }
}
