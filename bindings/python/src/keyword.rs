//! Keyword arguments: numbers, and the race check. The error for an invalid number names the keyword and its range.

use std::time::Duration;

use halfbyte::Sm;
use halfbyte::launch::RaceCheck;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::scalar::described;

/// Returns the integer value of a keyword argument.
///
/// # Errors
/// Fails for a value that is not an integer, including `True` and `False`, and for an integer out of range.
pub(crate) fn integer(value: &Bound<'_, PyAny>, name: &str, least: u64, most: u64) -> PyResult<u64> {
    let not_one = || {
        let given = described(value);
        PyTypeError::new_err(format!("{name} takes an integer from {least} to {most}; {given} was given"))
    };
    let outside = || PyValueError::new_err(format!("{name} is {value}; give an integer from {least} to {most}"));
    if value.is_instance_of::<PyBool>() {
        return Err(not_one());
    }
    let found = value.extract::<u64>().map_err(|error| match error.is_instance_of::<PyOverflowError>(value.py()) {
        true => outside(),
        false => not_one(),
    })?;
    if (least..=most).contains(&found) { Ok(found) } else { Err(outside()) }
}

/// Converts a keyword argument that is a count.
///
/// # Errors
/// Returns the errors of [`integer`].
pub(crate) fn count(value: &Bound<'_, PyAny>, name: &str) -> PyResult<u32> {
    Ok(integer(value, name, 0, u32::MAX.into())? as u32)
}

/// The keyword argument `races`: `False`, `True` or `"strict"`.
#[derive(Clone, Copy)]
pub(crate) struct Races(pub RaceCheck);

impl Races {
    /// The default: races are not detected.
    pub(crate) const OFF: Races = Races(RaceCheck::Off);
}

impl<'py> FromPyObject<'_, 'py> for Races {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Races> {
        if let Ok(is_on) = value.extract::<bool>() {
            return Ok(Races(if is_on { RaceCheck::On } else { RaceCheck::Off }));
        }
        match value.extract::<String>() {
            Ok(text) if text == "strict" => Ok(Races(RaceCheck::Strict)),
            Ok(text) => Err(PyValueError::new_err(format!("races is {text:?}; give True, False or \"strict\""))),
            Err(_) => {
                let given = described(&value);
                Err(PyTypeError::new_err(format!("races takes True, False or \"strict\"; {given} was given")))
            }
        }
    }
}

/// Converts the keyword argument `timeout`, a number of seconds.
///
/// # Errors
/// Fails for a value that is not a number of seconds.
pub(crate) fn timeout(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let not_one = || {
        let given = described(value);
        PyTypeError::new_err(format!("timeout takes a number of seconds, 0 or more; {given} was given"))
    };
    let outside = || PyValueError::new_err(format!("timeout is {value}; give a number of seconds, 0 or more"));
    if value.is_instance_of::<PyBool>() {
        return Err(not_one());
    }
    let seconds =
        value.extract::<f64>().map_err(|error| match error.is_instance_of::<PyOverflowError>(value.py()) {
            true => outside(),
            false => not_one(),
        })?;
    Duration::try_from_secs_f64(seconds).map_err(|_| outside())
}

/// Converts the keyword argument `sm`, such as `90` or `"sm_90"`, to an SM version.
///
/// # Errors
/// Fails for an unsupported SM version.
pub(crate) fn sm(value: &Bound<'_, PyAny>) -> PyResult<Sm> {
    let number: Option<u16> = match value.cast::<PyString>() {
        Ok(text) => {
            let text = text.to_string_lossy();
            text.strip_prefix("sm_").unwrap_or(&text).parse().ok()
        }
        Err(_) if value.is_instance_of::<PyBool>() => return Err(no_sm(value)),
        Err(_) => match value.extract::<u16>() {
            Ok(number) => Some(number),
            Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => None,
            Err(_) => return Err(no_sm(value)),
        },
    };
    let unknown = || PyValueError::new_err(format!("sm {value} is not supported; give one of {}", Sm::names()));
    number.and_then(Sm::new).ok_or_else(unknown)
}

fn no_sm(value: &Bound<'_, PyAny>) -> PyErr {
    let (names, given) = (Sm::names(), described(value));
    PyTypeError::new_err(format!("sm takes one of {names}, or a name such as \"sm_90\"; {given} was given"))
}

/// Converts a keyword argument of a Python function to an integer from `least` to `most`.
#[pyfunction]
pub(crate) fn whole_number(value: &Bound<'_, PyAny>, name: &str, least: u64, most: u64) -> PyResult<u64> {
    integer(value, name, least, most)
}

/// Converts the argument `sm` of a Python function to the number of an SM version.
#[pyfunction]
pub(crate) fn sm_number(value: &Bound<'_, PyAny>) -> PyResult<u16> {
    sm(value).map(Sm::number)
}
