//! The `--json` forms: for every line of input exactly one line of output, in order, and on after a bad one.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;

use serde_json::{Value, json};

use super::io::{open, unwritten};
use super::{Done, Failure};

pub(super) use halfbyte::json::{Members, text, word, word_text};

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
