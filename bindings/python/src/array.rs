//! Access to Python arrays through NumPy's C array interface. The interface is a capsule that
//! contains a C structure, so the module need not be linked with NumPy.

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

/// The C structure `PyArrayInterface`, as in NumPy's documentation, "The Array Interface".
#[repr(C)]
struct Interface {
    /// Always 2, as a check that the structure is valid.
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
const WRITABLE: c_int = 0x400;

/// An array whose memory stays alive as long as this value exists.
pub(crate) struct Array<'py> {
    object: Bound<'py, PyAny>,
    /// The capsule, which keeps the array's memory alive even if `object` changes.
    _capsule: Bound<'py, PyAny>,
    data: *mut u8,
    bytes: usize,
    shape: SmallVec<[usize; 4]>,
    kind: u8,
    item_bytes: usize,
    flags: c_int,
}

impl<'py> Array<'py> {
    /// Returns the array for a Python object that is an array or implements an array protocol.
    /// Returns `None` for other objects.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
        Ok(Array::of_any(object)?.0)
    }

    /// Returns the array for a Python object as [`Array::of`] does. If the array is a copy of the
    /// object's data, also returns a Python function that writes the copy back.
    pub(crate) fn of_any(object: &Bound<'py, PyAny>) -> PyResult<(Option<Array<'py>>, Option<Bound<'py, PyAny>>)> {
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
        // Numbers and strings lack the attribute `__array_struct__`. `getattr_opt` avoids the cost of an exception.
        let Some(capsule) = object.getattr_opt(intern!(object.py(), "__array_struct__"))? else { return Ok(None) };
        // SAFETY: a capsule of `__array_struct__` has no name, so the name is null. For any other
        // object the result is null, with an exception set.
        let found = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), ptr::null()) };
        let Some(found) = NonNull::new(found.cast::<Interface>()) else { return Err(PyErr::fetch(object.py())) };
        // SAFETY: `__array_struct__` is a capsule with this structure, which lives as long as the capsule.
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
            // SAFETY: `shape` has one entry per dimension.
            _ => unsafe { slice::from_raw_parts(interface.shape, dimensions) }.iter().map(|&n| n as usize).collect(),
        };
        let bytes = shape.iter().product::<usize>() * item_bytes;
        let (data, kind) = (interface.data.cast(), interface.typekind as u8);
        let flags = interface.flags;
        Ok(Some(Array { object: object.clone(), _capsule: capsule, data, bytes, shape, kind, item_bytes, flags }))
    }

    /// Returns the array's Python object.
    pub(crate) fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// Returns `true` if the array has no dimensions, such as a NumPy scalar.
    pub(crate) fn is_number(&self) -> bool {
        self.shape.is_empty()
    }

    /// Returns the NumPy kind and the size in bytes of the elements, such as `(b'f', 2)`.
    pub(crate) fn dtype(&self) -> (u8, usize) {
        (self.kind, self.item_bytes)
    }

    /// Returns NumPy's name of the dtype.
    pub(crate) fn dtype_name(&self) -> String {
        let bits = self.item_bytes * 8;
        match self.kind {
            b'f' => format!("float{bits}"),
            b'i' => format!("int{bits}"),
            b'u' => format!("uint{bits}"),
            b'b' => "bool".to_owned(),
            _ => self.own_dtype_name().unwrap_or_else(|| "another dtype".to_owned()),
        }
    }

    /// Returns the name that the array's dtype gives itself, if any. For a dtype of another package
    /// this is a name such as `bfloat16`.
    fn own_dtype_name(&self) -> Option<String> {
        let py = self.object.py();
        let name = self.object.getattr(intern!(py, "dtype")).and_then(|dtype| dtype.getattr(intern!(py, "name")));
        Some(name.ok()?.cast_into::<PyString>().ok()?.to_string_lossy().into_owned())
    }

    /// Describes the array for a message, such as `float16 array of shape (4, 2)`.
    pub(crate) fn named(&self) -> String {
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let comma = if shape.len() == 1 { "," } else { "" };
        format!("{} array of shape ({}{comma})", self.dtype_name(), shape.join(", "))
    }

    /// Returns the array's memory for a parameter. `written` is `true` if the kernel may write the memory.
    ///
    /// # Errors
    /// Fails if the array cannot be used in place. `what` describes the parameter in the message.
    pub(crate) fn memory(&self, written: bool, what: impl Fn() -> String) -> PyResult<Memory> {
        let wrong = |reason: &str| PyValueError::new_err(format!("{}; {reason}", what()));
        // The elements are references to Python objects, which only Python may write.
        if self.has_objects() {
            return Err(PyTypeError::new_err(format!("{}; a {} of Python objects was given", what(), self.named())));
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

    /// Returns the array's size in bytes.
    pub(crate) fn byte_count(&self) -> usize {
        self.bytes
    }

    /// Returns a copy of the bytes of a C-contiguous array.
    pub(crate) fn contents(&self, what: impl Fn() -> String) -> PyResult<Vec<u8>> {
        let memory = self.memory(false, what)?;
        // SAFETY: Python keeps the array alive, and the GIL is held while the slice is in use.
        Ok(unsafe { memory.read() }.to_vec())
    }

    /// Returns the bits of an array of at most 16 bytes, such as a NumPy scalar.
    pub(crate) fn bits(&self) -> u128 {
        let memory = Memory::new(self.data, self.bytes.min(16), false);
        // SAFETY: Python keeps the array alive, and the GIL is held while the slice is in use.
        unsafe { memory.read() }.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte))
    }

    fn has_objects(&self) -> bool {
        let py = self.object.py();
        let asked = || self.object.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "hasobject"))?.is_truthy();
        !b"biufcmMSU".contains(&self.kind) && asked().unwrap_or(true)
    }

    /// Returns `true` if the array is writable.
    pub(crate) fn is_writable(&self) -> bool {
        self.flags & WRITABLE != 0
    }

    /// Returns `true` if the array has dtype bool and the type is a mask with several lanes. The
    /// lanes must then be packed to bits.
    pub(crate) fn is_unpacked_mask(&self, ty: Type) -> bool {
        ty.elem() == Elem::I1 && ty.lanes() > 1 && self.kind == b'b'
    }

    /// Checks by dtype and shape that the array's elements are lanes or whole elements of a type.
    ///
    /// # Errors
    /// Fails if the dtype or the shape does not match. `what` describes the parameter in the message.
    pub(crate) fn check(&self, ty: Type, what: impl Fn() -> String) -> PyResult<()> {
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
            let found =
                format!("{}; a {} was given, whose last axis is not a multiple of {lanes}", what(), self.named());
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

    /// Returns `true` if the array's elements are unsigned integers, each of which holds a whole
    /// element of a vector type.
    fn is_words_of(&self, ty: Type) -> bool {
        let bytes = ty.bytes() as usize;
        let is_word = self.item_bytes == bytes || self.item_bytes == 4 && bytes.is_multiple_of(4);
        ty.lanes() > 1 && self.kind == b'u' && is_word && self.bytes.is_multiple_of(bytes)
    }
}

/// Rejects a masked array of `numpy.ma`, because a kernel would treat its masked elements as numbers.
///
/// # Errors
/// Fails for a masked array; `what` describes the parameter.
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
    let reason =
        "a masked array was given, and its mask would be lost: pass `.filled(value)`, or `.data` to ignore the mask";
    Err(PyTypeError::new_err(format!("{}; {reason}", what())))
}

/// Rejects a masked array that was passed to a Python function; `what` is the function's argument.
#[pyfunction]
pub(crate) fn refuse_masked_array(value: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    refuse_masked(value, &|| what.to_owned())
}

/// Describes the arrays that a parameter of a type accepts, for a message: `float16 of shape (n, 2)
/// or (n * 2,), or uint32`.
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
