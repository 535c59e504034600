//! The text tests below `tests/files/`, a trial a file, and whether they take every rule there is. With `HALFBYTE_BLESS=1` the whole
//! outputs that differ, and only those, are rewritten.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use halfbyte::testing::{Coverage, Outcome, TestFile};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let files = files(&root);
    let trial = |file: &PathBuf| {
        let name = file.strip_prefix(&root).unwrap().with_extension("").display().to_string();
        let file = file.clone();
        Trial::test(name, move || passes(&file))
    };
    let mut trials: Vec<Trial> = files.iter().map(trial).collect();
    trials.push(Trial::test("every_rule_is_taken", move || takes_every_rule(&files)));
    libtest_mimic::run(&arguments, trials).exit();
}

/// The files of a folder and those below it.
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

fn run(file: &Path) -> Result<(TestFile, Outcome), Failed> {
    let text = std::fs::read_to_string(file)?;
    let tests = TestFile::read(&file.display().to_string(), &text)?;
    let outcome = tests.run();
    Ok((tests, outcome))
}

fn passes(file: &Path) -> Result<(), Failed> {
    let (mut tests, mut outcome) = run(file)?;
    if std::env::var_os("HALFBYTE_BLESS").is_some()
        && let Some(text) = tests.blessed(&outcome)
    {
        std::fs::write(file, text)?;
        (tests, outcome) = run(file)?;
    }
    tests.report(&outcome).map_or(Ok(()), |report| Err(report.into()))
}

fn takes_every_rule(files: &[PathBuf]) -> Result<(), Failed> {
    let mut coverage = Coverage::default();
    for file in files {
        coverage.add(&run(file)?.1.coverage);
    }
    let never: Vec<String> = coverage.never().map(|row| row.to_string()).collect();
    match never.is_empty() {
        true => Ok(()),
        false => Err(format!("{} rules are taken by no test:\n{}", never.len(), never.join("\n")).into()),
    }
}
