//! Arrays of Python as memory: by the array interface that NumPy has for C, a capsule with a structure, so that NumPy is not linked with.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::slice;

use halfbyte::abi::{Elem, Type};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyFloat, PyInt, PyString, PyType};
use pyo3::{ffi, intern};
use smallvec::SmallVec;

use crate::memory::Memory;

/// `PyArrayInterface` of NumPy's documentation, "The Array Interface".
#[repr(C)]
struct Interface {
    /// 2, as a check.
    two: c_int,
    nd: c_int,
    typekind: c_char,
    itemsize: c_int,
    flags: c_int,
    shape: *const isize,
    strides: *const isize,
    data: *mut c_void,
    descr: *mut ffi::PyObject,
}

const C_CONTIGUOUS: c_int = 0x1;
const NATIVE_BYTE_ORDER: c_int = 0x200;
const WRITEABLE: c_int = 0x400;

/// An array that Python keeps alive as long as this is.
pub(crate) struct Array<'py> {
    object: Bound<'py, PyAny>,
    /// Holds the array, whatever becomes of `object`.
    _capsule: Bound<'py, PyAny>,
    data: *mut u8,
    bytes: usize,
    shape: SmallVec<[usize; 4]>,
    kind: u8,
    item_bytes: usize,
    flags: c_int,
}

impl<'py> Array<'py> {
    /// The array that an object is, or has by one of the protocols for arrays; none of what is no array.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
        Ok(Array::of_any(object)?.0)
    }

    /// The same, with what is to be called once the array has been written, where it is a copy of what the object has elsewhere.
    pub fn of_any(object: &Bound<'py, PyAny>) -> PyResult<(Option<Array<'py>>, Option<Bound<'py, PyAny>>)> {
        if let Some(array) = Array::by_interface(object)? {
            return Ok((Some(array), None));
        }
        static VIEW: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let view = VIEW.import(object.py(), "halfbyte._arrays", "view")?.call1((object,))?;
        let (view, after): (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>) = view.extract()?;
        let array = view.map(|view| Array::by_interface(&view)).transpose()?.flatten();
        Ok((array, after))
    }

    fn by_interface(object: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
        // Of a number or a text this is asked in vain, which an exception would make dear.
        let Some(capsule) = object.getattr_opt(intern!(object.py(), "__array_struct__"))? else { return Ok(None) };
        // SAFETY: the pointer is asked for by the name that such capsules have, none; of what is no capsule it is null, with an exception.
        let found = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), ptr::null()) };
        let Some(found) = NonNull::new(found.cast::<Interface>()) else { return Err(PyErr::fetch(object.py())) };
        // SAFETY: an object that has `__array_struct__` gives a capsule of this structure, which lives as long as the capsule.
        let interface = unsafe { found.as_ref() };
        let (Ok(dimensions), Ok(item_bytes)) = (usize::try_from(interface.nd), usize::try_from(interface.itemsize))
        else {
            return Ok(None);
        };
        if interface.two != 2 {
            return Ok(None);
        }
        let shape: SmallVec<[usize; 4]> = match dimensions {
            0 => SmallVec::new(),
            // SAFETY: `shape` has as many entries as there are dimensions.
            _ => unsafe { slice::from_raw_parts(interface.shape, dimensions) }.iter().map(|&n| n as usize).collect(),
        };
        let bytes = shape.iter().product::<usize>() * item_bytes;
        let (data, kind) = (interface.data.cast(), interface.typekind as u8);
        let flags = interface.flags;
        Ok(Some(Array { object: object.clone(), _capsule: capsule, data, bytes, shape, kind, item_bytes, flags }))
    }

    /// The array, as Python has it.
    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// Whether it is a number, as NumPy's scalars are.
    pub fn is_number(&self) -> bool {
        self.shape.is_empty()
    }

    /// Kind and size of its elements: `(b'f', 2)`.
    pub fn dtype(&self) -> (u8, usize) {
        (self.kind, self.item_bytes)
    }

    /// The name of its dtype, as NumPy has it.
    pub fn dtype_name(&self) -> String {
        let bits = self.item_bytes * 8;
        match self.kind {
            b'f' => format!("float{bits}"),
            b'i' => format!("int{bits}"),
            b'u' => format!("uint{bits}"),
            b'b' => "bool".to_owned(),
            _ => self.own_dtype_name().unwrap_or_else(|| "another dtype".to_owned()),
        }
    }

    /// The name that dtypes of other packages have: `bfloat16`.
    fn own_dtype_name(&self) -> Option<String> {
        let py = self.object.py();
        let name = self.object.getattr(intern!(py, "dtype")).and_then(|dtype| dtype.getattr(intern!(py, "name")));
        Some(name.ok()?.cast_into::<PyString>().ok()?.to_string_lossy().into_owned())
    }

    /// `float16 array of shape (4, 2)`, for messages.
    pub fn named(&self) -> String {
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        format!("{} array of shape ({}{comma})", self.dtype_name(), shape.join(", "))
    }

    /// Its memory, as that of a parameter that may be written or not.
    ///
    /// # Errors
    /// What keeps it from being used in place; `what` names the parameter and what it takes.
    pub fn memory(&self, written: bool, what: impl Fn() -> String) -> PyResult<Memory> {
        let wrong = |reason: &str| PyValueError::new_err(format!("{}; {reason}", what()));
        // Their bytes are references, which nothing but Python may write.
        if self.has_objects() {
            return Err(PyTypeError::new_err(format!("{}; a {} has objects of Python", what(), self.named())));
        }
        if self.flags & C_CONTIGUOUS == 0 {
            return Err(wrong(&format!(
                "the {} is not C-contiguous, so it cannot be used in place: give np.ascontiguousarray(...)",
                self.named()
            )));
        }
        if self.flags & NATIVE_BYTE_ORDER == 0 && self.item_bytes > 1 {
            let found = format!("{}; the {} has another byte order", what(), self.named());
            return Err(PyTypeError::new_err(found));
        }
        if written && !self.is_writable() {
            return Err(wrong(&format!("the {} is read-only", self.named())));
        }
        Ok(Memory::new(self.data, self.bytes, written))
    }

    /// How many bytes it has.
    pub fn byte_count(&self) -> usize {
        self.bytes
    }

    /// Its bytes, copied, where they lie in order.
    pub fn contents(&self, what: impl Fn() -> String) -> PyResult<Vec<u8>> {
        let memory = self.memory(false, what)?;
        // SAFETY: Python keeps the array, and the GIL is held while the slice is in use.
        Ok(unsafe { memory.read() }.to_vec())
    }

    /// The bits of a number of at most 16 bytes.
    pub fn bits(&self) -> u128 {
        let memory = Memory::new(self.data, self.bytes.min(16), false);
        // SAFETY: as of `contents`.
        unsafe { memory.read() }.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte))
    }

    fn has_objects(&self) -> bool {
        let py = self.object.py();
        let asked = || self.object.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "hasobject"))?.is_truthy();
        !b"biufcmMSU".contains(&self.kind) && asked().unwrap_or(true)
    }

    /// Whether Python lets it be written.
    pub fn is_writable(&self) -> bool {
        self.flags & WRITEABLE != 0
    }

    /// Whether it is a bool a lane for a mask of several lanes, whose lanes are bits in memory.
    pub fn is_unpacked_mask(&self, ty: Type) -> bool {
        ty.elem() == Elem::I1 && ty.lanes() > 1 && self.kind == b'b'
    }

    /// Whether its elements are lanes, or whole elements, of a type, by dtype and by shape.
    ///
    /// # Errors
    /// That they are not.
    pub fn check(&self, ty: Type, what: impl Fn() -> String) -> PyResult<()> {
        if self.is_words_of(ty) {
            return Ok(());
        }
        if !self.is_lanes_of(ty) {
            let found = format!("{}; a {} was given", what(), self.named());
            return Err(PyTypeError::new_err(found));
        }
        let lanes = ty.lanes();
        let along = self.shape.last().copied().unwrap_or(1);
        if along % lanes != 0 {
            let found = format!("{}; a {} was given, whose last axis is no multiple of {lanes}", what(), self.named());
            return Err(PyValueError::new_err(found));
        }
        Ok(())
    }

    fn is_lanes_of(&self, ty: Type) -> bool {
        let is_named = |kinds: &[u8], bytes, name| {
            self.item_bytes == bytes && (kinds.contains(&self.kind) || self.own_dtype_name().as_deref() == Some(name))
        };
        match (ty.elem(), self.dtype()) {
            (Elem::I8, (b'i' | b'u', 1)) | (Elem::I16, (b'i' | b'u', 2)) => true,
            (Elem::I32, (b'i' | b'u', 4)) | (Elem::I64, (b'i' | b'u', 8)) | (Elem::Ptr, (b'u', 8)) => true,
            (Elem::F16, (b'f', 2)) | (Elem::F32, (b'f', 4)) | (Elem::F64, (b'f', 8)) | (Elem::I1, (b'b', 1)) => true,
            (Elem::BF16, _) => is_named(b"u", 2, "bfloat16"),
            (Elem::E4M3, _) => is_named(b"u", 1, "float8_e4m3fn"),
            (Elem::E5M2, _) => is_named(b"u", 1, "float8_e5m2"),
            _ => false,
        }
    }

    /// Whether its elements are unsigned words for a type of several lanes.
    fn is_words_of(&self, ty: Type) -> bool {
        let bytes = ty.bytes() as usize;
        let is_word = self.item_bytes == bytes || self.item_bytes == 4 && bytes.is_multiple_of(4);
        ty.lanes() > 1 && self.kind == b'u' && is_word && self.bytes.is_multiple_of(bytes)
    }
}

/// Refuses an array of `numpy.ma`, also one without a dimension: a kernel would take what the mask hides for numbers.
///
/// # Errors
/// That it is one; `what` names the parameter and what it takes.
pub(crate) fn refuse_masked(object: &Bound<'_, PyAny>, what: &dyn Fn() -> String) -> PyResult<()> {
    if object.is_exact_instance_of::<PyFloat>() || object.is_exact_instance_of::<PyInt>() {
        return Ok(());
    }
    static PLAIN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static MASKED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = object.py();
    if object.is_exact_instance(PLAIN.import(py, "numpy", "ndarray")?)
        || !object.is_instance(MASKED.import(py, "numpy.ma", "MaskedArray")?)?
    {
        return Ok(());
    }
    let reason = "a masked array was given, whose mask would be lost: give `.filled(value)` of it, or `.data` to use what is masked";
    Err(PyTypeError::new_err(format!("{}; {reason}", what())))
}

/// Refuses a masked array that a Python function is given.
#[pyfunction]
pub(crate) fn refuse_masked_array(value: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    refuse_masked(value, &|| what.to_owned())
}

/// What an array for elements of a type is, for messages: `float16 of shape (n, 2) or (n * 2,), or uint32`.
pub(crate) fn taken(ty: Type) -> String {
    let of = match ty.elem() {
        Elem::I1 => "bool",
        Elem::I8 => "int8 or uint8",
        Elem::I16 => "int16 or uint16",
        Elem::I32 => "int32 or uint32",
        Elem::I64 => "int64 or uint64",
        Elem::F16 => "float16",
        Elem::BF16 => "ml_dtypes.bfloat16 or uint16",
        Elem::F32 => "float32",
        Elem::F64 => "float64",
        Elem::E4M3 => "ml_dtypes.float8_e4m3fn or uint8",
        Elem::E5M2 => "ml_dtypes.float8_e5m2 or uint8",
        Elem::Ptr => "uint64",
    };
    let lanes = ty.lanes();
    if lanes == 1 {
        return of.to_owned();
    }
    let words = match ty.bytes() {
        1 => ", or uint8 words",
        2 => ", or uint16 words",
        _ => ", or uint32 words",
    };
    format!("{of} of shape (n, {lanes}) or (n*{lanes},){words}")
}
