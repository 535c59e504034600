//! Variables of PTX texts: their contents, which a program can read and write between launches.

use std::sync::Arc;

use halfbyte::isa::ptx::module::Variable;
use halfbyte::isa::ptx::types::Space;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

use crate::array::Array;
use crate::ptx::PtxText;

/// Global and constant variables of a PTX text by name. All kernels of the text share the variables, whose contents
/// persist between launches.
///
/// ``variables["c"]`` is a copy of the contents as a NumPy array of bytes, which ``.view(dtype)`` converts.
/// ``variables["c"] = array`` writes the contents; the array must have the size of the variable.
#[pyclass(frozen, mapping, module = "halfbyte")]
pub(crate) struct Variables(pub Arc<PtxText>);

#[pymethods]
impl Variables {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.0.globals.contents(&self.0.read, name).ok_or_else(|| self.missing(name))?;
        py.import("numpy")?.call_method1("frombuffer", (PyByteArray::new(py, &bytes), "uint8"))
    }

    fn __setitem__(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let what = || format!("variable `{name}` takes an array or bytes");
        let contents = match (value.cast::<PyBytes>(), Array::of(value)?) {
            (Ok(bytes), _) => bytes.as_bytes().to_vec(),
            (Err(_), Some(array)) => array.contents(what)?,
            (Err(_), None) => {
                let given = value.get_type().name()?;
                return Err(PyTypeError::new_err(format!("{}; a {given} was given", what())));
            }
        };
        let bytes = self.named(name).map(|of| of.bytes.len()).ok_or_else(|| self.missing(name))?;
        if contents.len() != bytes {
            let given = contents.len();
            return Err(PyValueError::new_err(format!(
                "variable `{name}` has {bytes} bytes; {given} bytes were given"
            )));
        }
        self.0.globals.write(&self.0.read, name, &contents);
        Ok(())
    }

    fn __contains__(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    fn __len__(&self) -> usize {
        self.all().count()
    }

    /// Returns the names of the variables, in order.
    fn keys(&self) -> Vec<&str> {
        self.all().map(|of| &*of.name).collect()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(self.keys().into_pyobject(py)?.try_iter()?.into_any())
    }

    fn __repr__(&self) -> String {
        let variables: Vec<String> = self.all().map(|of| format!("{} ({} bytes)", of.name, of.bytes.len())).collect();
        format!("<halfbyte variables: {}>", variables.join(", "))
    }
}

impl Variables {
    /// Returns the variables in global and constant memory.
    fn all(&self) -> impl Iterator<Item = &Variable> {
        self.0.read.module.variables.iter().filter(|of| matches!(of.space, Space::Global | Space::Const))
    }

    fn named(&self, name: &str) -> Option<&Variable> {
        self.all().find(|of| of.name == name)
    }

    fn missing(&self, name: &str) -> PyErr {
        let names = if self.all().next().is_none() { "none".to_owned() } else { self.keys().join(", ") };
        PyKeyError::new_err(format!("{} has no variable {name:?}; there are {names}", self.0.file))
    }
}
