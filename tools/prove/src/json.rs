//! JSON lines for the command line and other programs: access to members, and machine code as text.

use std::fmt::LowerHex;

use serde_json::{Map, Value};
use thiserror::Error;

/// The members of a line's object.
pub type Members = Map<String, Value>;

/// The reason why a line is invalid.
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

/// Returns a member that is a string.
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

/// Parses an instruction word: `0x` and hexadecimal digits.
///
/// # Errors
/// Fails on any other text, and on a value that does not fit the word.
pub fn word<W: TryFrom<u128>>(text: &str) -> Result<W, LineError> {
    let (bits, digits) = (8 * size_of::<W>(), 2 * size_of::<W>());
    let expected =
        || LineError::new(format_args!("not a {bits}-bit word; expected 0x and {digits} hexadecimal digits"));
    hexadecimal(text).ok_or_else(expected)
}

/// Parses a number with `0x` and hexadecimal digits. Returns `None` if the type cannot hold the
/// number.
pub fn hexadecimal<T: TryFrom<u128>>(text: &str) -> Option<T> {
    digits(text.strip_prefix("0x")?)
}

/// Parses a number of hexadecimal digits. Returns `None` if the type cannot hold the number.
pub fn digits<T: TryFrom<u128>>(digits: &str) -> Option<T> {
    // `from_str_radix` accepts a leading plus.
    let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
    u128::from_str_radix(digits, 16).ok()?.try_into().ok()
}
