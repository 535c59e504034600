//! The `--json` forms: for every line of input exactly one line of output, in order, and on after a bad one.

use std::io::{BufRead, BufWriter, Read, Write, stdout};
use std::path::Path;

use serde_json::{Value, json};

use super::io::{open, unwritten};
use super::{Done, Failure};

pub(super) use halfbyte_testkit::json::{Members, text, word, word_text};

/// Bytes of a line at most.
const MAX_LINE: u64 = 1 << 31;

/// Answers each line of a file; an error is answered as `{"error": ".."}`.
pub(super) fn answer(path: &Path, mut reply: impl FnMut(&Members) -> Result<Value, String>) -> Done {
    let failed = |error| json!({ "error": error });
    answer_each(path, false, |members| members.and_then(|members| reply(&members)).unwrap_or_else(failed))
}

/// Answers each line of a file, or why it is no object. Where nothing more has come yet, answers go out at once; or always.
pub(super) fn answer_each(path: &Path, at_once: bool, mut reply: impl FnMut(Result<Members, String>) -> Value) -> Done {
    let unreadable = |error: std::io::Error| Failure::Call(format!("{}: {error}", path.display()));
    let mut input = open(path)?;
    let mut out = BufWriter::new(stdout().lock());
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(unreadable)?;
        if read == 0 {
            return out.flush().map_err(unwritten);
        }
        let is_cut = read as u64 == MAX_LINE && !line.ends_with(b"\n");
        let members = if is_cut {
            input.skip_until(b'\n').map_err(unreadable)?;
            Err(format!("the line has more than {MAX_LINE} bytes"))
        } else {
            serde_json::from_slice(&line).map_err(|error| format!("not a JSON object: {error}"))
        };
        let answer = reply(members);
        writeln!(out, "{answer}").map_err(unwritten)?;
        // Whoever asks line by line waits for the answer.
        if at_once || input.fill_buf().is_ok_and(<[u8]>::is_empty) {
            out.flush().map_err(unwritten)?;
        }
    }
}
