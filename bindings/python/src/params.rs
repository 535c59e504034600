//! Parameters of kernels, for Python and for calls.

use halfbyte::abi::{Param as Declared, ParamKind, Type};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::array::taken;
use crate::ptx::{ParamContents, PtxParam};

/// Parameter of a kernel.
///
/// >>> import halfbyte as hb
/// >>> m = hb.parse("kernel @k(%a: f16x2, %y: out f16x2) {\n^entry:\n  %i = item_id\n  store %a, %y[%i]\n  ret\n}")
/// >>> m["k"].params
/// [Param(a: f16x2), Param(y: out f16x2)]
/// >>> m["k"].params[1].name, m["k"].params[1].type, m["k"].params[1].direction
/// ('y', 'f16x2', 'out')
#[pyclass(frozen, get_all, module = "halfbyte")]
#[derive(Clone, Debug)]
pub(crate) struct Param {
    /// Name of the parameter, without ``%``.
    name: String,
    /// Type of a scalar, or element type of a buffer.
    r#type: String,
    /// ``"in"``, ``"out"`` or ``"inout"``; ``None`` for a scalar.
    direction: Option<&'static str>,
    /// Number of lanes of an element.
    lanes: usize,
    /// Description of the accepted arrays and numbers.
    dtype: String,
    /// Alignment of a buffer in bytes; ``None`` for a scalar.
    align: Option<u32>,
    /// ``True`` if the buffer may overlap other arguments although the kernel writes it.
    may_alias: bool,
}

#[pymethods]
impl Param {
    fn __repr__(&self) -> String {
        format!("Param({})", self.declaration())
    }
}

impl Param {
    /// Formats the parameter as in the declaration of a kernel, such as `x: in f16x2`.
    pub(crate) fn declaration(&self) -> String {
        let direction = self.direction.map_or(String::new(), |direction| format!("{direction} "));
        let may_alias = if self.may_alias { "may_alias " } else { "" };
        format!("{}: {direction}{may_alias}{}", self.name, self.r#type)
    }
}

/// The kind of a parameter, for IR kernels and for PTX kernels.
#[derive(Clone, Debug)]
pub(crate) enum ParamClass {
    /// A parameter of an IR kernel, with the declared kind.
    Declared(ParamKind),
    /// A parameter of a PTX kernel.
    Ptx(PtxParam),
}

/// A parameter of a kernel, with data that is cached for calls.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: String,
    /// Name of the parameter in messages, if it differs from the name in the kernel's text. It is
    /// the argument's name in the function from which the kernel was compiled.
    label: Option<String>,
    /// Name of the parameter as a Python string, by which keyword arguments are looked up.
    pub key: Py<PyString>,
    pub kind: ParamClass,
}

impl Parameter {
    pub(crate) fn new(py: Python<'_>, declared: &Declared) -> Parameter {
        Parameter::of(py, &declared.name, ParamClass::Declared(declared.kind))
    }

    pub(crate) fn of(py: Python<'_>, name: &str, kind: ParamClass) -> Parameter {
        Parameter { name: name.to_owned(), label: None, key: PyString::intern(py, name).unbind(), kind }
    }

    /// Returns the parameter with another name for messages.
    pub(crate) fn labelled(&self, py: Python<'_>, label: Option<String>) -> Parameter {
        Parameter { label, ..Parameter::of(py, &self.name, self.kind.clone()) }
    }

    /// Returns the parameter's name in messages.
    pub(crate) fn shown_name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.name)
    }

    /// Returns the keyword argument for the parameter, if any. Both the name in the text and the
    /// name in messages are valid.
    pub(crate) fn keyword<'py>(&self, keywords: &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match (keywords.get_item(&self.key)?, &self.label) {
            (None, Some(label)) => keywords.get_item(label),
            (found, _) => Ok(found),
        }
    }

    /// Describes the parameter and the arguments that it accepts, for a message.
    pub(crate) fn described(&self, kernel: &str) -> String {
        let name = self.shown_name();
        match &self.kind {
            ParamClass::Declared(ParamKind::Buffer { direction, elem, .. }) => {
                let (direction, takes) = (direction.name(), taken(*elem));
                format!("`{name}` of @{kernel} is an `{direction}` buffer of {elem}: it takes {takes}")
            }
            ParamClass::Declared(ParamKind::Scalar(ty)) => {
                let sequence = match ty.lanes() {
                    1 => String::new(),
                    lanes => format!(" or a sequence of {lanes}"),
                };
                format!("`{name}` of @{kernel} is a scalar {ty}: it takes a number{sequence}")
            }
            ParamClass::Ptx(PtxParam { declared, bytes, holds, .. }) => {
                let takes = match (holds, bytes) {
                    (ParamContents::Bytes, bytes) => format!("{bytes} bytes"),
                    (_, 8) => "an array of any dtype, or a number".to_owned(),
                    _ => "a number".to_owned(),
                };
                format!("`{name}` of @{kernel} is a .{declared}: it takes {takes}")
            }
        }
    }

    /// Converts the parameter to a Python object.
    pub(crate) fn shown(&self) -> Param {
        let used = match &self.kind {
            ParamClass::Declared(kind) => Some(*kind),
            ParamClass::Ptx(param) => param.used,
        };
        let (direction, align, may_alias) = match used {
            Some(ParamKind::Buffer { direction, align, may_alias, .. }) => {
                (Some(direction.name()), Some(align), may_alias)
            }
            Some(ParamKind::Scalar(_)) | None => (None, None, false),
        };
        let ty = used.map(ParamKind::ty);
        let (r#type, dtype) = match (&self.kind, ty) {
            (ParamClass::Declared(_), Some(ty)) => (ty.to_string(), taken(ty)),
            (ParamClass::Ptx(_), Some(ty)) if direction.is_some() => (ty.to_string(), "any".to_owned()),
            (ParamClass::Ptx(param), _) => (param.declared.clone(), param.declared.clone()),
            (ParamClass::Declared(_), None) => (String::new(), String::new()),
        };
        let lanes = ty.map_or(1, Type::lanes);
        Param { name: self.name.clone(), r#type, direction, lanes, dtype, align, may_alias }
    }
}
