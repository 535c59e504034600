//! Text tests: what a stage makes of a kernel stands under it in the same file.
//!
//! The first line names the stage and the target: `; test: lower halu`; the stages are `lower`, `select`, `allocate`, `asm` and
//! `refuse`. The expectation is the lines at the end that begin with `;=`. With `HALFBYTE_BLESS=1` the
//! expectations that fail, and only those, are rewritten.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use halfbyte::Module;
use halfbyte::pipeline::{Options, compile};
use halfbyte::report::Report;
use halfbyte::target::On;
use halfbyte_isa::target::Target;
use libtest_mimic::{Arguments, Failed, Trial};

const MARK: &str = ";=";

fn main() {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "hb"));
    files.sort();
    let trial =
        |file: PathBuf| Trial::test(file.file_stem().unwrap().to_string_lossy().into_owned(), move || check(&file));
    libtest_mimic::run(&arguments, files.into_iter().map(trial).collect()).exit();
}

fn check(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let (source, expected) = match text.find(&format!("\n{MARK}")) {
        Some(end) => text.split_at(end + 1),
        None => (text.as_str(), ""),
    };
    let stage =
        source.lines().next().and_then(|line| line.strip_prefix("; test: ")).ok_or("no `; test: STAGE TARGET`")?;
    let (stage, target) = stage.split_once(' ').ok_or("no target after the stage")?;
    let target = match On::from_name(target) {
        Some(On::Words(target)) => target,
        _ => return Err(format!("no target is called `{target}`").into()),
    };
    let mut found = String::new();
    for line in run(stage, target, source)?.trim_end().lines() {
        let _ = writeln!(found, "{}", format!("{MARK} {line}").trim_end());
    }
    if found == expected {
        return Ok(());
    }
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        std::fs::write(file, format!("{source}{found}"))?;
        return Ok(());
    }
    Err(format!("expected\n{expected}found\n{found}").into())
}

/// What the stage makes of the file's kernels.
fn run(stage: &str, target: Target, source: &str) -> Result<String, Failed> {
    let module = Module::named("test.hb", source)?;
    let step = match stage {
        "lower" => None,
        "select" | "allocate" => Some(stage),
        "asm" => Some("layout"),
        "refuse" => Some(""),
        _ => return Err(format!("no stage is called `{stage}`").into()),
    };
    let options = Options::new(target);
    let mut results = String::new();
    let mut last = String::new();
    let compiled = compile(&module, &module.ir().kernels, &options, &mut |taken| {
        if taken.name == "select" && step.is_none() {
            results.push_str(&last);
        }
        if step == Some(taken.name) {
            let _ = writeln!(results, "{}", taken.result);
        } else if step.is_none() {
            last = taken.result.to_string();
        }
    });
    match compiled {
        Ok(_) if stage == "refuse" => Err("it compiles".into()),
        Ok(_) => Ok(results),
        Err(errors) if stage == "refuse" => Ok(Report::new("test.hb", source, errors).to_string()),
        Err(errors) => Err(Report::new("test.hb", source, errors).to_string().into()),
    }
}
