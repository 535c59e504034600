//! Conversion of Python numbers to the bits of scalar arguments.

use halfbyte::abi::{Elem, Type};
use halfbyte::isa::half::{Format, Rounding};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyTuple};
use rustc_apfloat::ieee::{BFloat, Double, Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use crate::array::{Array, refuse_masked};

/// Returns the bits of a scalar argument of type `ty`. A number is the value of every lane. A sequence or an array has
/// one value for each lane.
///
/// # Errors
/// Fails for values that are not numbers or do not fit the type. `what` describes the parameter in the message.
pub(crate) fn bits(value: &Bound<'_, PyAny>, ty: Type, what: &dyn Fn() -> String) -> PyResult<u128> {
    if value.is_exact_instance_of::<PyFloat>() || value.is_exact_instance_of::<PyInt>() {
        return Ok(splat(lane(value, ty, what)?, ty));
    }
    if let Some(lanes) = sequence(value)? {
        let found = lanes.len();
        if found != ty.lanes() {
            let wrong = format!("{}; {found} {} given", what(), if found == 1 { "value was" } else { "values were" });
            return Err(PyValueError::new_err(wrong));
        }
        let mut bits = 0;
        for (number, value) in lanes.iter().enumerate() {
            bits |= lane(value, ty, what)? << (number as u32 * lane_bits(ty));
        }
        return Ok(bits);
    }
    Ok(splat(lane(value, ty, what)?, ty))
}

/// Returns the values of a sequence, or of an array with dimensions. Returns `None` for other objects.
fn sequence<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return Ok(Some(value.try_iter()?.collect::<PyResult<_>>()?));
    }
    if value.hasattr(intern!(value.py(), "__array_struct__"))?
        && let Some(array) = Array::of(value)?
        && !array.is_number()
    {
        return Ok(Some(array.object().try_iter()?.collect::<PyResult<_>>()?));
    }
    Ok(None)
}

fn lane_bits(ty: Type) -> u32 {
    ty.bits() / ty.lanes() as u32
}

fn splat(lane: u128, ty: Type) -> u128 {
    (0..ty.lanes() as u32).fold(0, |bits, number| bits | lane << (number * lane_bits(ty)))
}

/// Converts a number to the bits of one lane of type `ty`.
fn lane(value: &Bound<'_, PyAny>, ty: Type, what: &dyn Fn() -> String) -> PyResult<u128> {
    refuse_masked(value, what)?;
    match ty.elem() {
        Elem::I1 => truth(value, what),
        Elem::I8 => integer(value, 8, what),
        Elem::I16 => integer(value, 16, what),
        Elem::I32 => integer(value, 32, what),
        Elem::I64 | Elem::Ptr => integer(value, 64, what),
        Elem::F64 => Ok(number(value, what)?.to_bits().into()),
        Elem::F32 => rounded::<Single>(value, what),
        Elem::F16 => half(value, Format::F16, what),
        Elem::BF16 => half(value, Format::Bf16, what),
        Elem::E4M3 => rounded::<Float8E4M3FN>(value, what),
        Elem::E5M2 => rounded::<Float8E5M2>(value, what),
    }
}

fn truth(value: &Bound<'_, PyAny>, what: &dyn Fn() -> String) -> PyResult<u128> {
    if value.is_instance_of::<PyBool>() || value.get_type().name().is_ok_and(|name| name == "bool") {
        return Ok(value.is_truthy()?.into());
    }
    match integer(value, 8, what)? {
        bits @ (0 | 1) => Ok(bits),
        _ => Err(out_of_range(value, what)),
    }
}

/// Converts an integer to its bits. The integer must fit in a signed or an unsigned integer of `bits` bits.
pub(crate) fn integer(value: &Bound<'_, PyAny>, bits: u32, what: &dyn Fn() -> String) -> PyResult<u128> {
    let mask = u128::MAX >> (128 - bits);
    if let Ok(value) = value.extract::<i64>() {
        let lowest = -1_i128 << (bits - 1);
        let fits = (lowest..=mask as i128).contains(&value.into());
        return if fits { Ok(value as u128 & mask) } else { Err(out_of_range_of(value, what)) };
    }
    match value.extract::<u64>() {
        Ok(large) if bits == 64 => Ok(large.into()),
        Err(error) if !error.is_instance_of::<PyOverflowError>(value.py()) => {
            let wrong = format!("{}, an integer; {} was given", what(), described(value));
            Err(PyTypeError::new_err(wrong))
        }
        _ => Err(out_of_range(value, what)),
    }
}

/// Converts a Python number to the nearest `f64`. The conversion is exact for numbers of narrower formats.
pub(crate) fn number(value: &Bound<'_, PyAny>, what: &dyn Fn() -> String) -> PyResult<f64> {
    // Python's conversion of a complex NumPy scalar would drop the imaginary part.
    let is_plain = value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>();
    if !is_plain && Array::of(value)?.is_some_and(|array| array.dtype().0 == b'c') {
        return Err(PyTypeError::new_err(format!("{}; {} was given", what(), described(value))));
    }
    value.extract::<f64>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            return out_of_range(value, what);
        }
        PyTypeError::new_err(format!("{}; {} was given", what(), described(value)))
    })
}

/// Converts a number to the bits of the nearest floating-point number of `bytes` bytes.
pub(crate) fn float(value: &Bound<'_, PyAny>, bytes: u32, what: &dyn Fn() -> String) -> PyResult<u128> {
    match bytes {
        2 => half(value, Format::F16, what),
        4 => rounded::<Single>(value, what),
        _ => Ok(number(value, what)?.to_bits().into()),
    }
}

fn half(value: &Bound<'_, PyAny>, format: Format, what: &dyn Fn() -> String) -> PyResult<u128> {
    let number = number(value, what)?;
    let single = number as f32;
    // Fast path for numbers that `f32` represents exactly. Any other number would be rounded twice.
    if f64::from(single) == number && single.is_finite() {
        let bits = format.narrow(single.to_bits(), Rounding::Nearest);
        let is_finite = f32::from_bits(format.widen(bits)).is_finite();
        return if is_finite { Ok(bits.into()) } else { Err(out_of_range(value, what)) };
    }
    match format {
        Format::F16 => rounded::<Half>(value, what),
        Format::Bf16 => rounded::<BFloat>(value, what),
    }
}

/// Converts a number to the bits of the nearest number of format `F`.
fn rounded<F: Float>(value: &Bound<'_, PyAny>, what: &dyn Fn() -> String) -> PyResult<u128>
where
    Double: FloatConvert<F>,
{
    let number = number(value, what)?;
    let nearest: F = Double::from_bits(number.to_bits().into()).convert(&mut false).value;
    if number.is_nan() {
        return Ok(F::NAN.to_bits());
    }
    // In a format without infinities, an infinite or too large number becomes NaN, which is rejected.
    if nearest.is_finite() || number.is_infinite() && nearest.is_infinite() {
        return Ok(nearest.to_bits());
    }
    Err(out_of_range(value, what))
}

fn out_of_range(value: &Bound<'_, PyAny>, what: &dyn Fn() -> String) -> PyErr {
    let shown = value.repr().map_or_else(|_| "the number".to_owned(), |repr| repr.to_string_lossy().into_owned());
    out_of_range_of(shown, what)
}

fn out_of_range_of(shown: impl std::fmt::Display, what: &dyn Fn() -> String) -> PyErr {
    PyValueError::new_err(format!("{}; {shown} is out of range", what()))
}

/// Describes a Python object by its type for a message, such as `a str`.
pub(crate) fn described(value: &Bound<'_, PyAny>) -> String {
    match value.get_type().name() {
        Ok(name) => {
            format!("{} {name}", if name.to_string_lossy().starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" })
        }
        Err(_) => "another object".to_owned(),
    }
}
