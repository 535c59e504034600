//! JSON lines as the command line and other programs exchange them: their members, and machine code as text.

use std::fmt::LowerHex;

use serde_json::{Map, Value};
use thiserror::Error;

/// The members of a line.
pub type Members = Map<String, Value>;

/// Why a line has no answer.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct LineError {
    /// What is wrong with it.
    pub message: String,
}

impl LineError {
    /// For this reason.
    pub fn new(reason: impl ToString) -> LineError {
        LineError { message: reason.to_string() }
    }
}

impl From<LineError> for String {
    fn from(error: LineError) -> String {
        error.message
    }
}

/// A member that is a text.
///
/// # Errors
/// It is missing, or is something else.
pub fn text<'a>(members: &'a Members, name: &str) -> Result<&'a str, LineError> {
    match members.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(LineError::new(format_args!("`{name}` is not a string"))),
        None => Err(LineError::new(format_args!("there is no member `{name}`"))),
    }
}

/// A machine's word as the command line writes it.
pub fn word_text<W: LowerHex>(word: W) -> String {
    format!("{word:#0width$x}", width = 2 + 2 * size_of::<W>())
}

/// A machine's word: `0x` and at most as many hexadecimal digits as it has.
///
/// # Errors
/// Any other text.
pub fn word<W: TryFrom<u128>>(text: &str) -> Result<W, LineError> {
    let (bits, digits) = (8 * size_of::<W>(), 2 * size_of::<W>());
    let expected =
        || LineError::new(format_args!("not a {bits}-bit word; expected 0x and {digits} hexadecimal digits"));
    hexadecimal(text).ok_or_else(expected)
}

/// `0x` and hexadecimal digits, as a number that the type holds.
pub fn hexadecimal<T: TryFrom<u128>>(text: &str) -> Option<T> {
    digits(text.strip_prefix("0x")?)
}

/// Hexadecimal digits, as a number that the type holds.
pub fn digits<T: TryFrom<u128>>(digits: &str) -> Option<T> {
    // The library takes a plus before the digits.
    let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
    u128::from_str_radix(digits, 16).ok()?.try_into().ok()
}
