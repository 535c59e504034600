//! Runs the text tests in `tests/files/`, and tests that they cover all rules. `HALFBYTE_BLESS=1`
//! updates complete expected outputs. `halfbyte test FILE` runs a single file.

use std::path::{Path, PathBuf};

use halfbyte_testkit::testing::{Coverage, Outcome, TestFile};
use rayon::prelude::*;

use crate::common::root;

#[test]
fn all_pass_and_take_every_rule() {
    let folder = root().join("tests/files");
    let ran: Vec<(PathBuf, Result<Coverage, String>)> = files(&folder)
        .into_par_iter()
        .map(|file| {
            let coverage = passes(&file);
            (file, coverage)
        })
        .collect();
    assert!(ran.len() > 50, "{} files", ran.len());
    let mut coverage = Coverage::default();
    let mut wrong = Vec::new();
    for (file, outcome) in ran {
        match outcome {
            Ok(of_file) => coverage.add(&of_file),
            Err(report) => wrong.push(format!("{}:\n{report}", file.display())),
        }
    }
    assert!(wrong.is_empty(), "{} files fail\n{}", wrong.len(), wrong.join("\n"));
    let never: Vec<String> = coverage.never().map(|row| row.to_string()).collect();
    assert!(never.is_empty(), "{} rules are taken by no test:\n{}", never.len(), never.join("\n"));
}

/// Returns the files in a folder and in its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(self::files(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files.sort();
    files
}

fn run(file: &Path) -> Result<(TestFile, Outcome), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let tests = TestFile::read(&file.display().to_string(), &text).map_err(|report| report.to_string())?;
    let outcome = tests.run();
    Ok((tests, outcome))
}

/// Runs the text tests of a file. Returns the rules that were applied to its kernels.
fn passes(file: &Path) -> Result<Coverage, String> {
    let (mut tests, mut outcome) = run(file)?;
    if std::env::var_os("HALFBYTE_BLESS").is_some()
        && let Some(text) = tests.updated_text(&outcome)
    {
        std::fs::write(file, text).map_err(|error| error.to_string())?;
        (tests, outcome) = run(file)?;
    }
    tests.report(&outcome).map_or(Ok(outcome.coverage), |report| Err(report.to_string()))
}
