//! Extension module of the Python package `halfbyte`: kernels and launches as Python objects.
//!
//! This module exposes the library to Python. Functions that need no Rust are in the Python files
//! of the package. [`array`] and [`scalar`] convert Python objects, [`bind`] binds arguments to
//! parameters, and [`watch`] handles Ctrl-C during a launch.

mod array;
mod bind;
mod check;
mod compiled;
mod cuda_names;
mod error;
mod host;
mod kernel;
mod keyword;
mod launch;
mod memory;
mod module;
mod nvrtc;
mod params;
mod ptx;
mod run;
mod scalar;
mod variables;
mod watch;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command-line program with the given arguments, the first of which is the program's
/// name, and returns the exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| halfbyte_cli::run(args))
}

#[pymodule]
fn _halfbyte(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<module::Module>()?;
    module.add_class::<kernel::Kernel>()?;
    module.add_class::<host::HostKernel>()?;
    module.add_class::<variables::Variables>()?;
    module.add_class::<params::Param>()?;
    module.add_class::<compiled::Compiled>()?;
    module.add_class::<compiled::Program>()?;
    module.add_function(wrap_pyfunction!(module::parse, module)?)?;
    module.add_function(wrap_pyfunction!(module::parse_ptx, module)?)?;
    module.add_function(wrap_pyfunction!(module::load_object, module)?)?;
    module.add_function(wrap_pyfunction!(nvrtc::compile_cuda, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_names::name_parts, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_names::plain_name, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_names::is_expression, module)?)?;
    module.add_function(wrap_pyfunction!(cuda_names::parameter_names, module)?)?;
    module.add_function(wrap_pyfunction!(run::run_ptx, module)?)?;
    module.add_function(wrap_pyfunction!(check::check_text, module)?)?;
    module.add_function(wrap_pyfunction!(check::run_lines, module)?)?;
    module.add_function(wrap_pyfunction!(check::test_text, module)?)?;
    module.add_function(wrap_pyfunction!(check::selects, module)?)?;
    module.add_function(wrap_pyfunction!(check::run_and_compare, module)?)?;
    module.add_function(wrap_pyfunction!(keyword::whole_number, module)?)?;
    module.add_function(wrap_pyfunction!(keyword::sm_number, module)?)?;
    module.add_function(wrap_pyfunction!(array::refuse_masked_array, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)
}
