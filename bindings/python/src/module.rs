//! Modules: the kernels of a text or of an object file, accessed by name.

use std::sync::Arc;

use halfbyte::ir::Diagnostic;
use halfbyte::launch::given;
use halfbyte::{Report, TARGETS};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyMappingProxy};

use crate::bind::Signature;
use crate::error;
use crate::kernel::{Kernel, KernelOrigin};
use crate::params::Parameter;
use crate::ptx::{PtxKernel, PtxText};
use crate::watch::{limits, watched};

/// Kernels by name, in source order: ``m["axpy"]``, ``for name in m``, ``len(m)``, ``"axpy" in m``.
#[pyclass(frozen, mapping, module = "halfbyte")]
pub(crate) struct Module {
    file: String,
    text: String,
    kernels: Py<PyDict>,
    /// Unsupported kernels of a PTX text: a dictionary from their names to the exceptions that state the reason.
    refused: Py<PyDict>,
}

#[pymethods]
impl Module {
    /// Kernels by name, in order.
    #[getter]
    fn kernels<'py>(&self, py: Python<'py>) -> Bound<'py, PyMappingProxy> {
        PyMappingProxy::new(py, self.kernels.bind(py).as_mapping())
    }

    /// Unsupported kernels of a PTX text, with the ``ParseError`` that states the reason. A lookup
    /// of such a kernel by name raises the error.
    #[getter]
    fn refused<'py>(&self, py: Python<'py>) -> Bound<'py, PyMappingProxy> {
        PyMappingProxy::new(py, self.refused.bind(py).as_mapping())
    }

    /// Name of the file in messages.
    #[getter]
    fn file(&self) -> &str {
        &self.file
    }

    /// Source text; empty for an object file.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let name = name.strip_prefix('@').unwrap_or(name);
        if let Some(kernel) = self.kernels.bind(py).get_item(name)? {
            return Ok(kernel);
        }
        if let Some(reason) = self.refused.bind(py).get_item(name)? {
            return Err(PyErr::from_value(reason));
        }
        let names: Vec<String> = self.kernels.bind(py).keys().iter().map(|name| name.to_string()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(PyKeyError::new_err(format!("{} has no kernel {name:?}; there are {names}", self.file)))
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.kernels.bind(py).contains(name)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.kernels.bind(py).try_iter()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.kernels.bind(py).len()
    }

    /// Returns the names of the kernels, in order.
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.kernels.bind(py).as_any().call_method0("keys")
    }

    /// Returns the kernels, in order.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.kernels.bind(py).as_any().call_method0("values")
    }

    /// Returns names and kernels, in order.
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.kernels.bind(py).as_any().call_method0("items")
    }

    /// Returns the kernel with a name, or ``default``.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.kernels.bind(py).get_item(name)?.or(default))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Module>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("halfbyte._html")?.getattr("of_module")?.call1((slf,))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let names: Vec<String> = self.kernels.bind(py).keys().iter().map(|name| format!("@{name}")).collect();
        format!("<halfbyte module {}: {}>", self.file, names.join(", "))
    }
}

/// Parses kernels of the IR or the language. ``file`` is the name of the text in messages.
///
/// >>> import halfbyte as hb
/// >>> m = hb.parse("kernel @nothing() {\n^entry:\n  ret\n}")
/// >>> list(m)
/// ['nothing']
#[pyfunction]
#[pyo3(signature = (text, file="<text>"))]
pub(crate) fn parse(py: Python<'_>, text: &str, file: &str) -> PyResult<Module> {
    let read = watched(py, limits(None)?, false, |watchdog| {
        halfbyte::include::ModuleReader::of(file).watched(Some(watchdog)).read(text)
    })?;
    let module = Arc::new(read.map_err(|report| error::of_report(py, &report))?);
    let kernels = PyDict::new(py);
    for (number, kernel) in module.ir().kernels.iter().enumerate() {
        let params = given(kernel).iter().map(|param| Parameter::new(py, param)).collect();
        let signature = Signature::new(kernel.name.clone(), params);
        kernels
            .set_item(&kernel.name, Py::new(py, Kernel::new(KernelOrigin::Ir(module.clone(), number), signature))?)?;
    }
    let refused = PyDict::new(py).unbind();
    Ok(Module { file: file.to_owned(), text: text.to_owned(), kernels: kernels.unbind(), refused })
}

/// Parses kernels in PTX for direct execution. Unsupported kernels are collected in ``refused``.
/// Raises ``ParseError`` if no kernel is supported.
#[pyfunction]
#[pyo3(signature = (text, file="<ptx>"))]
pub(crate) fn parse_ptx(py: Python<'_>, text: &str, file: &str) -> PyResult<Module> {
    let read = watched(py, limits(None)?, false, |_| PtxText::read(file, text))?;
    let read = Arc::new(read.map_err(|report| error::of_report(py, &report))?);
    let (kernels, refused) = (PyDict::new(py), PyDict::new(py));
    for (number, entry) in read.read.module.entries.iter().enumerate() {
        match PtxKernel::new(&read, number) {
            Ok(kernel) => {
                let signature = kernel.signature(py);
                let kernel = Py::new(py, Kernel::new(KernelOrigin::Ptx(Arc::new(kernel)), signature))?;
                kernels.set_item(&entry.name, kernel)?;
            }
            Err(reason) => refused.set_item(&entry.name, error::plain(py, "ParseError", &reason).into_value(py))?,
        }
    }
    let reports: Vec<Report> = read.read.refused.iter().map(|of| read.report(of)).collect();
    for (of, report) in read.read.refused.iter().zip(&reports) {
        refused.set_item(&of.name, error::of_report(py, report).into_value(py))?;
    }
    if kernels.is_empty() {
        let all: Vec<Diagnostic> = reports.iter().flat_map(|report| report.diagnostics().to_vec()).collect();
        let report = if all.is_empty() { read.without_kernel() } else { Report::new(file, text, all) };
        return Err(error::of_report(py, &report));
    }
    let (kernels, refused) = (kernels.unbind(), refused.unbind());
    Ok(Module { file: file.to_owned(), text: text.to_owned(), kernels, refused })
}

/// Loads the kernels of an object file, which run on the target that they were compiled for.
#[pyfunction]
pub(crate) fn load_object(py: Python<'_>, object: &[u8], file: &str) -> PyResult<Module> {
    let program = py.detach(|| TARGETS.load(object)).map_err(|error| error::of_load(py, format!("{file}: {error}")))?;
    let program = Arc::new(program);
    let kernels = PyDict::new(py);
    for (number, kernel) in program.kernels().iter().enumerate() {
        let of = kernel.signature();
        let params = of.given().iter().map(|param| Parameter::new(py, param)).collect();
        let signature = Signature::new(of.name().to_owned(), params);
        kernels
            .set_item(of.name(), Py::new(py, Kernel::new(KernelOrigin::Object(program.clone(), number), signature))?)?;
    }
    let refused = PyDict::new(py).unbind();
    Ok(Module { file: file.to_owned(), text: String::new(), kernels: kernels.unbind(), refused })
}
