//! The `--json` forms: for every line of input exactly one line of output, in order, and on after a bad one.

use std::fmt::LowerHex;
use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::io::{open, unwritten};
use super::{Done, Failure};

/// The members of a line.
pub(super) type Members = Map<String, Value>;

/// Answers each line of a file; an error is answered as `{"error": ".."}`.
pub(super) fn answer(path: &Path, mut reply: impl FnMut(&Members) -> Result<Value, String>) -> Done {
    let mut input = open(path)?;
    let mut out = BufWriter::new(stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|error| Failure::Call(format!("{}: {error}", path.display())))? == 0 {
            return out.flush().map_err(unwritten);
        }
        let members = serde_json::from_slice(&line).map_err(|error| format!("not a JSON object: {error}"));
        let answer = members.and_then(|members| reply(&members));
        let answer = answer.unwrap_or_else(|error| json!({ "error": error }));
        writeln!(out, "{answer}").map_err(unwritten)?;
        // Whoever asks line by line waits for the answer.
        if input.fill_buf().is_ok_and(<[u8]>::is_empty) {
            out.flush().map_err(unwritten)?;
        }
    }
}

/// A member that is a text.
pub(super) fn text<'a>(members: &'a Members, name: &str) -> Result<&'a str, String> {
    match members.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("`{name}` is not a string")),
        None => Err(format!("there is no member `{name}`")),
    }
}

/// A machine's word as the command line writes it.
pub(super) fn word_text<W: LowerHex>(word: W) -> String {
    format!("{word:#0width$x}", width = 2 + 2 * size_of::<W>())
}

/// A machine's word: `0x` and at most as many hexadecimal digits as it has.
pub(super) fn word<W: TryFrom<u128>>(text: &str) -> Result<W, String> {
    let bytes = size_of::<W>();
    hexadecimal(text)
        .ok_or_else(|| format!("not a {}-bit word; expected 0x and {} hexadecimal digits", 8 * bytes, 2 * bytes))
}

/// `0x` and hexadecimal digits, as a number that the type holds.
pub(super) fn hexadecimal<T: TryFrom<u128>>(text: &str) -> Option<T> {
    digits(text.strip_prefix("0x")?)
}

/// Hexadecimal digits, as a number that the type holds.
pub(super) fn digits<T: TryFrom<u128>>(digits: &str) -> Option<T> {
    // The library takes a plus before the digits.
    let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
    u128::from_str_radix(digits, 16).ok()?.try_into().ok()
}
