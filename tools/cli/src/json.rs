//! Commands that read and write JSON lines. Each input line gives exactly one output line, in
//! order. An invalid line does not end the command.

use std::io::{BufRead, BufWriter, Read, Write, stdout};
use std::path::Path;

use serde_json::{Value, json};

use super::io::{open, unwritten};
use super::output::say;
use super::{Done, Failure, Message};

pub(super) use halfbyte_prove::json::{Members, text, word, word_text};

/// Maximum length of a line, in bytes.
const MAX_LINE: u64 = 1 << 31;

/// Prints one JSON line for each line of a file. An error of the closure `reply` becomes `{"error": ".."}`.
pub(super) fn answer(path: &Path, mut reply: impl FnMut(&Members) -> Result<Value, String>) -> Done {
    let failed = |error| json!({ "error": error });
    answer_each(path, false, |members| members.and_then(|members| reply(&members)).unwrap_or_else(failed))
}

/// Prints one JSON line for each line of a file. The closure `reply` receives an error for a line
/// that is not a JSON object, and the command then fails after the last line. The output is flushed
/// when no further input is available, or after every line if `at_once` is set.
pub(super) fn answer_each(path: &Path, at_once: bool, mut reply: impl FnMut(Result<Members, String>) -> Value) -> Done {
    let unreadable = |error: std::io::Error| Failure::Call(format!("{}: {error}", path.display()));
    let mut input = open(path)?;
    let mut out = BufWriter::new(stdout().lock());
    let mut line = Vec::new();
    let (mut number, mut bad, mut first) = (0_u64, 0_u64, String::new());
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(unreadable)?;
        if read == 0 {
            out.flush().map_err(unwritten)?;
            if bad == 0 {
                return Ok(());
            }
            let more = match bad - 1 {
                0 => String::new(),
                1 => "; 1 more line is bad".to_owned(),
                more => format!("; {more} more lines are bad"),
            };
            say(&format!("error: {first}{more}"));
            return Err(Failure::Input(Message::Said));
        }
        number += 1;
        let is_cut = read as u64 == MAX_LINE && !line.ends_with(b"\n");
        let members = if is_cut {
            input.skip_until(b'\n').map_err(unreadable)?;
            Err(format!("the line has more than {MAX_LINE} bytes"))
        } else {
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            serde_json::from_slice(text).map_err(|error| format!("not a JSON object: {error}"))
        };
        if let Err(reason) = &members {
            if bad == 0 {
                first = format!("line {number}: {reason}");
            }
            bad += 1;
        }
        let answer = reply(members);
        writeln!(out, "{answer}").map_err(unwritten)?;
        // A client may wait for the output of a line before it sends the next line.
        if at_once || input.fill_buf().is_ok_and(<[u8]>::is_empty) {
            out.flush().map_err(unwritten)?;
        }
    }
}
