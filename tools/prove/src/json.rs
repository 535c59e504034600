//! JSON lines on the command line: access to the members of objects, and instruction words as text.

use std::fmt::LowerHex;

use serde_json::{Map, Value};
use thiserror::Error;

/// The members of the JSON object on one line.
pub type Members = Map<String, Value>;

/// The reason why a JSON line is invalid.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{message}")]
pub struct LineError {
    /// The message.
    pub message: String,
}

impl LineError {
    /// Creates an error with the given message.
    pub fn new(reason: impl ToString) -> LineError {
        LineError { message: reason.to_string() }
    }
}

impl From<LineError> for String {
    fn from(error: LineError) -> String {
        error.message
    }
}

/// Returns the string value of a member.
///
/// # Errors
/// Fails if the member is missing or is not a string.
pub fn text<'a>(members: &'a Members, name: &str) -> Result<&'a str, LineError> {
    match members.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(LineError::new(format_args!("`{name}` is not a string"))),
        None => Err(LineError::new(format_args!("there is no member `{name}`"))),
    }
}

/// Formats an instruction word in hexadecimal, as the command line prints it.
pub fn word_text<W: LowerHex>(word: W) -> String {
    format!("{word:#0width$x}", width = 2 + 2 * size_of::<W>())
}

/// Parses an instruction word, which is `0x` followed by hexadecimal digits.
///
/// # Errors
/// Fails on any other text, and on a number that is too large for the instruction word.
pub fn word<W: TryFrom<u128>>(text: &str) -> Result<W, LineError> {
    let (bits, digits) = (8 * size_of::<W>(), 2 * size_of::<W>());
    let expected =
        || LineError::new(format_args!("not a {bits}-bit word; expected 0x and {digits} hexadecimal digits"));
    hexadecimal(text).ok_or_else(expected)
}

/// Parses `0x` followed by hexadecimal digits. Returns `None` for any other text, or if the type
/// cannot hold the number.
pub fn hexadecimal<T: TryFrom<u128>>(text: &str) -> Option<T> {
    digits(text.strip_prefix("0x")?)
}

/// Parses hexadecimal digits without a prefix. Returns `None` for any other text, or if the type
/// cannot hold the number.
pub fn digits<T: TryFrom<u128>>(digits: &str) -> Option<T> {
    // `from_str_radix` accepts a leading plus sign, but this function does not.
    let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
    u128::from_str_radix(digits, 16).ok()?.try_into().ok()
}
