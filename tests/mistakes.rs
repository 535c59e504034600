//! Tests of complete error messages: `tests/mistakes/*.txt` contains deliberate mistakes with the messages that they
//! cause. `HALFBYTE_BLESS=1` updates the messages.
//!
//! A mistake begins with `## ` and a description. A line that begins with `$ ` is the command, which runs in a folder
//! with the text as `k.hb`. Without such a line, the text is compiled for HALU. If the text is no complete kernel, the
//! test places it in one ([`AROUND`]). The expected output follows `----`.

use std::fmt::Write;
use std::process::Command;

use crate::common::root;

/// The lines before and after a text that is no complete kernel.
const AROUND: [&str; 2] =
    ["kernel @k(%a: f16x2, %b: i8x4, %n: i32, %x: in f16x2, %y: out f16x2) {\n^entry:\n  %i = item_id\n", "  ret\n}\n"];

struct Mistake<'t> {
    name: &'t str,
    call: Option<&'t str>,
    text: String,
    said: String,
}

fn read(file: &str) -> Vec<Mistake<'_>> {
    let mistakes = file.split("## ").skip(1).map(|mistake| {
        let (input, said) = mistake.split_once("----\n").unwrap_or((mistake, ""));
        let (name, text) = input.split_once('\n').unwrap();
        let (call, text) = match text.strip_prefix("$ ") {
            Some(rest) => rest.split_once('\n').map(|(call, text)| (Some(call), text)).unwrap(),
            None => (None, text),
        };
        Mistake { name, call, text: text.trim_end().to_owned(), said: said.trim_end().to_owned() }
    });
    mistakes.collect()
}

impl Mistake<'_> {
    /// Returns the present output of the program for the mistake.
    fn answer(&self) -> String {
        let folder = tempfile::tempdir().unwrap();
        let is_whole = self.text.split('\n').any(|line| line.starts_with("kernel") || line.starts_with('!'));
        let text = match (self.text.as_str(), is_whole) {
            ("", _) => format!("{}{}", AROUND[0], AROUND[1]),
            (text, true) => text.replace("!", "") + "\n",
            (text, false) => format!("{}{text}\n{}", AROUND[0], AROUND[1]),
        };
        std::fs::write(folder.path().join("k.hb"), text).unwrap();
        let call = self.call.unwrap_or("compile k.hb --target halu");
        let output = Command::new(env!("CARGO_BIN_EXE_halfbyte"))
            .args(call.split(' '))
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_ne!(output.status.code(), Some(0), "{}: it is no mistake", self.name);
        // Standard output comes last, because `check` prints its result for each file there.
        let said = [output.stderr, output.stdout].concat();
        String::from_utf8(said)
            .unwrap()
            .lines()
            .map(|line| line.trim_end().to_owned() + "\n")
            .collect::<String>()
            .trim_end()
            .to_owned()
    }
}

#[test]
fn each_message_names_the_place_and_says_what_to_write() {
    let bless = std::env::var_os("HALFBYTE_BLESS").is_some();
    let (mut names, mut wrong) = (Vec::new(), String::new());
    for (file, has_places) in [("text", true), ("targets", true), ("run-lines", true), ("calls", false)] {
        let path = root().join(format!("tests/mistakes/{file}.txt"));
        let before = std::fs::read_to_string(&path).unwrap();
        let mut after = before.split("## ").next().unwrap().to_owned();
        for mistake in read(&before) {
            let answer = mistake.answer();
            let says_what = ["help:", "did you mean", "expected ", "tip:", "possible values", "Usage: "]
                .iter()
                .any(|word| answer.contains(word));
            let marks = answer.contains("k.hb:") && answer.lines().any(|line| line.contains('|') && line.contains('^'));
            if !says_what || has_places && !marks {
                let _ = writeln!(wrong, "{}: no place, or nothing to write instead:\n{answer}", mistake.name);
            }
            if !bless && answer != mistake.said {
                let _ = writeln!(wrong, "{} ({file}.txt):\n{answer}\n-- in place of\n{}", mistake.name, mistake.said);
            }
            let call = mistake.call.map_or(String::new(), |call| format!("$ {call}\n"));
            let text = if mistake.text.is_empty() { String::new() } else { format!("{}\n", mistake.text) };
            let _ = write!(after, "## {}\n{call}{text}----\n{answer}\n\n", mistake.name);
            names.push(mistake.name.to_owned());
        }
        if bless {
            std::fs::write(&path, after.trim_end().to_owned() + "\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(names.len() >= 60, "{} mistakes", names.len());
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count, "two mistakes have one name");
}
