//! Names of kernels and of their parameters in CUDA C++.

use pyo3::prelude::*;

/// Returns the namespaces and the function of a mangled C++ name. A name that is not mangled has no parts.
#[pyfunction]
pub(crate) fn name_parts(mangled: &str) -> Vec<&str> {
    halfbyte_cuda_cpp::name_parts(mangled)
}

/// Returns the C++ name of a mangled name, such as `of::axpy`. Returns other names unchanged.
#[pyfunction]
pub(crate) fn plain_name(mangled: &str) -> String {
    halfbyte_cuda_cpp::plain_name(mangled)
}

/// Returns `true` if only the compiler can resolve the name of a kernel.
#[pyfunction]
pub(crate) fn is_expression(name: &str) -> bool {
    halfbyte_cuda_cpp::is_expression(name)
}

/// Returns the parameter names of a kernel, if the source text has one definition with `count` parameters. A parameter
/// without a name has an empty name.
#[pyfunction]
pub(crate) fn parameter_names(source: &str, kernel: &str, count: usize) -> Option<Vec<String>> {
    halfbyte_cuda_cpp::parameter_names(source, kernel, count)
}
