//! Tests of kernels: run lines, text tests, and test helpers for other programs.

use std::path::PathBuf;

use halfbyte::abi::Limits;
use halfbyte::import_ptx::is_ptx;
use halfbyte::ir::diag::Lines;
use halfbyte::launch::Engine;
use halfbyte::{Report, Sm};
use halfbyte_testkit::check::{Outcome, Setup, Verdict, check_with};
use halfbyte_testkit::runlines;
use halfbyte_testkit::testing::{self, SelectsError, TestFile};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::keyword::Races;
use crate::launch::machine;
use crate::watch::{limits, watched};
use crate::{error, keyword};

/// Executes the run lines of a text and compares the results. Returns a verdict for each line.
#[pyfunction]
#[pyo3(
    signature = (file, text, folder, engine=None, sm=None, races=Races::OFF, alias=false, allow=None),
    text_signature = "(file, text, folder, engine=None, sm=None, races=False, alias=False, allow=None)"
)]
#[allow(clippy::too_many_arguments)]
pub(crate) fn check_text<'py>(
    py: Python<'py>,
    file: &str,
    text: &str,
    folder: PathBuf,
    engine: Option<&str>,
    sm: Option<&Bound<'_, PyAny>>,
    races: Races,
    alias: bool,
    allow: Option<Vec<PathBuf>>,
) -> PyResult<Bound<'py, PyDict>> {
    let engines: &[Engine] = match engine {
        None => &Engine::ALL,
        Some("interp") => &[Engine::Interp],
        Some("jit") => &[Engine::JIT],
        Some("cuda") => &[Engine::Cuda],
        Some(other) => return Err(PyValueError::new_err(format!("unknown engine {other:?}"))),
    };
    let sm = sm.map_or(Ok(Sm::DEFAULT), keyword::sm)?;
    let outcome = watched(py, Limits::strict(), false, |watchdog| {
        let watchdog = Some(watchdog);
        let setup = Setup {
            sm,
            allowed: allow.as_deref().unwrap_or_default(),
            watchdog,
            may_alias: alias,
            races: races.0,
            ..Setup::new(engines)
        };
        check_with(&setup, file, text, &folder)
    })?;
    outcome_of(py, file, text, &outcome)
}

fn outcome_of<'py>(py: Python<'py>, file: &str, text: &str, outcome: &Outcome) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("runs", outcome.runs)?;
    found.set_item("refusals", outcome.refusals)?;
    found.set_item("compared", outcome.compared.iter().copied().collect::<Vec<&str>>())?;
    found.set_item("display", outcome.failures.as_ref().map(Report::to_string))?;
    let order_dependent: Vec<&str> = outcome.order_dependent.iter().map(|warning| warning.launch.as_str()).collect();
    found.set_item("order_dependent", order_dependent)?;
    found.set_item("warnings", outcome.warnings.as_ref().map(Report::to_string))?;
    let results = PyList::empty(py);
    for result in &outcome.results {
        let of = PyDict::new(py);
        of.set_item("kernel", &result.kernel)?;
        of.set_item("line", result.line)?;
        of.set_item("target", result.target)?;
        of.set_item("engine", result.engine.map(Engine::name))?;
        of.set_item("passed", result.verdict != Verdict::Failed)?;
        let display =
            (!result.failures.is_empty()).then(|| Report::new(file, text, result.failures.clone()).to_string());
        of.set_item("display", display)?;
        results.append(of)?;
    }
    found.set_item("results", results)?;
    let kernels = PyList::empty(py);
    for kernel in &outcome.kernels {
        kernels.append((&kernel.name, kernel.state()))?;
    }
    found.set_item("kernels", kernels)?;
    Ok(found)
}

/// Returns the numbers of the lines of a text that request a launch or expect a refusal, each with a title.
#[pyfunction]
pub(crate) fn run_lines(file: &str, text: &str) -> Vec<(usize, String)> {
    let read = if is_ptx(file) { runlines::read_ptx(text) } else { runlines::read(text) };
    let Ok(read) = read else { return Vec::new() };
    let places = Lines::new(text);
    let line = |start: u32| places.position(start).line;
    let launches = read
        .runs
        .iter()
        .flat_map(|run| run.launches())
        .map(|launch| (line(launch.span.start), format!("@{}", launch.kernel.0)));
    let refusals =
        read.refusals.iter().map(|refusal| (line(refusal.span.start), format!("refuse {}", refusal.target.name())));
    let mut lines: Vec<(usize, String)> = launches.chain(refusals).collect();
    lines.sort();
    lines
}

/// Tested kernel: its name, the failing line, and the report of the failure.
type Tested = (String, Option<usize>, Option<String>);

/// Runs the text tests of a file. Returns the name of each kernel, the failing line (``None`` if it
/// passes), and the report.
#[pyfunction]
pub(crate) fn test_text(py: Python<'_>, file: &str, text: &str) -> PyResult<Vec<Tested>> {
    let done = watched(py, Limits::strict(), false, |watchdog| {
        let tests = TestFile::read(file, text)?;
        let outcome = tests.run_within(Some(watchdog));
        let shown = outcome.verdicts.into_iter().map(|verdict| {
            let line = verdict.failures.first().map(|first| tests.line(first));
            let display = line.map(|_| Report::new(file, text, verdict.failures).to_string());
            (verdict.kernel, line, display)
        });
        Ok(shown.collect::<Vec<_>>())
    })?;
    done.map_err(|report: Report| error::of_report(py, &report))
}

/// Returns the reason for which a wanted instruction is not selected or an unwanted one is, or ``None``.
#[pyfunction]
#[pyo3(signature = (text, target, wanted, unwanted, sm=None))]
pub(crate) fn selects(
    py: Python<'_>,
    text: &str,
    target: &str,
    wanted: Vec<String>,
    unwanted: Vec<String>,
    sm: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<String>> {
    let target = machine(target, sm)?;
    let selected = watched(py, limits(None)?, false, |_| {
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let unwanted: Vec<&str> = unwanted.iter().map(String::as_str).collect();
        testing::selects(text, target, &wanted, &unwanted).map(drop)
    })?;
    match selected {
        Ok(()) => Ok(None),
        Err(SelectsError::Text(report)) => Err(error::of_report(py, &report)),
        Err(error @ SelectsError::Unknown { .. }) => Err(PyValueError::new_err(error.to_string())),
        Err(error) => Ok(Some(error.to_string())),
    }
}

/// Runs a kernel on all targets and engines that support it, with arguments in the format of run
/// lines. Returns the targets that match the evaluator bit for bit, or the difference.
#[pyfunction]
pub(crate) fn run_and_compare(
    py: Python<'_>,
    text: &str,
    kernel: &str,
    items: &Bound<'_, PyAny>,
    args: Vec<(String, String)>,
) -> PyResult<(Vec<&'static str>, Option<String>)> {
    let items = keyword::count(items, "items")?;
    let compared = watched(py, limits(None)?, false, |_| {
        let args: Vec<(&str, &str)> = args.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        testing::run_and_compare(text, kernel, items, &args)
    })?;
    match compared {
        Ok(compared) => Ok((compared.targets.iter().map(|target| target.name()).collect(), None)),
        Err(report) => Ok((Vec::new(), Some(report.to_string()))),
    }
}
