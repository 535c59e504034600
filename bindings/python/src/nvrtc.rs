//! Compilation of CUDA C++ to PTX by NVRTC, nvcc or clang.

use std::path::PathBuf;

use halfbyte_cuda_cpp::{
    Cache, Compiled, CompilerKind, Diagnostic, Error, Rejection, Request, SearchPath, Severity, Source, compile,
};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error;

/// Compiles CUDA C++. Returns the PTX text, and the PTX names of `names`, which are names that only the compiler can
/// resolve. `line` is the number of the first line of the text in the file. `modules` are the folders of Python modules
/// in which the compiler and the CUDA headers are searched for.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn compile_cuda<'py>(
    py: Python<'py>,
    source: &str,
    file: &str,
    line: u32,
    sm: u16,
    options: Vec<String>,
    names: Vec<String>,
    include: Vec<PathBuf>,
    modules: Vec<PathBuf>,
    compiler: Option<&str>,
) -> PyResult<(String, Bound<'py, PyDict>)> {
    let unknown = |name: &str| PyValueError::new_err(format!("compiler is {name:?}; give nvrtc, nvcc or clang"));
    let compiler = compiler.map(|name| CompilerKind::from_name(name).ok_or_else(|| unknown(name))).transpose()?;
    let compiled = py.detach(|| {
        let request = Request {
            source: Source { text: source, file, line },
            sm,
            options: &options,
            names: &names,
            include: &include,
            compiler,
            search: &SearchPath::of_computer(&modules),
            cache: &Cache::of_environment(),
        };
        compile(&request)
    });
    let Compiled { ptx, names: lowered, .. } = compiled.map_err(|error| raised(py, file, &error))?;
    let found = PyDict::new(py);
    for (name, lowered) in names.iter().zip(lowered) {
        found.set_item(name, lowered)?;
    }
    Ok((ptx, found))
}

/// Converts an error of a compilation to an exception.
fn raised(py: Python<'_>, file: &str, error: &Error) -> PyErr {
    let message = error.to_string();
    match error {
        Error::Rejected(rejection) => parse_error(py, file, rejection).unwrap_or_else(|error| error),
        Error::Name { .. } => PyKeyError::new_err(message),
        Error::Sm { .. } | Error::Nul { .. } => PyValueError::new_err(message),
        error if error.is_missing_compiler() => missing_package(py, &message).unwrap_or_else(|error| error),
        _ => error::plain(py, "Error", &message),
    }
}

/// Creates the exception for a missing compiler.
fn missing_package(py: Python<'_>, message: &str) -> PyResult<PyErr> {
    let made = py.import("halfbyte._compilers")?.getattr("MissingPackage")?.call1((message,))?;
    made.setattr("name", "NVRTC")?;
    Ok(PyErr::from_value(made))
}

/// Creates the exception for a rejected source text, with an exception for each error in its attribute `all`.
fn parse_error(py: Python<'_>, file: &str, rejection: &Rejection) -> PyResult<PyErr> {
    let class = py.import("halfbyte._errors")?.getattr("ParseError")?;
    let all = PyList::empty(py);
    for error in rejection.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error) {
        let shown = format!("{}({}): error: {}", error.file, error.line, error.message);
        all.append(exception(&class, file, &shown, Some(error), None)?)?;
    }
    let all = if all.is_empty() { None } else { Some(all) };
    let first = rejection.first_error();
    Ok(PyErr::from_value(exception(&class, file, &rejection.to_string(), first, all)?))
}

/// Creates an object of the class `ParseError`, at the location of a message.
fn exception<'py>(
    class: &Bound<'py, PyAny>,
    file: &str,
    shown: &str,
    at: Option<&Diagnostic>,
    all: Option<Bound<'py, PyList>>,
) -> PyResult<Bound<'py, PyAny>> {
    let attributes = PyDict::new(class.py());
    attributes.set_item("file", at.map_or(file, |at| at.file.as_str()))?;
    attributes.set_item("line", at.map_or(1, |at| at.line))?;
    attributes.set_item("column", at.and_then(|at| at.column).unwrap_or(1))?;
    attributes.set_item("message", at.map(|at| at.message.as_str()))?;
    attributes.set_item("all", all)?;
    class.call((shown,), Some(&attributes))
}
