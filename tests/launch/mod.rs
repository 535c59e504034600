//! Tests of the command `launch`, as test harnesses call it. `tests/launch/lines.jsonl` contains
//! launches with their expected results.

mod aliases;
mod memory;
mod races;
mod same_value;
mod then;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{halfbyte, halfbyte_on, root};

/// Options of `launch` that select each form of execution.
const WAYS: [&[&str]; 5] = [
    &["--via", "ptx"],
    &["--via", "ptx", "--engine", "jit"],
    &["--via", "ir"],
    &["--via", "halu"],
    &["--via", "halu", "--engine", "jit"],
];

/// Returns the JSON object that `launch` prints for each input line.
fn answers(args: &[&str], lines: &[String]) -> Vec<Value> {
    let called = halfbyte_on(&[&["launch", "--json"], args].concat(), (lines.join("\n") + "\n").as_bytes());
    let is_object = |line: &String| serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object());
    assert_eq!(called.code, i32::from(!lines.iter().all(is_object)), "{}", called.err);
    let answers: Vec<Value> = called.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), lines.len(), "{args:?}");
    answers
}

/// Returns `true` if the printed object has the results that its input line expects.
fn agrees(line: &Value, answer: &Value) -> bool {
    let error = &answer["error"];
    let Some(kind) = line.get("error") else { return answer["buffers"] == line["expect"] && line["expect"].is_array() };
    let says = line.get("says").is_none_or(|says| error["message"].as_str().unwrap().contains(says.as_str().unwrap()));
    let is_same = |name: &str| line.get(name).is_none_or(|expected| error.get(name) == Some(expected));
    error["kind"] == *kind && says && is_same("line") && is_same("item") && answer.get("buffers").is_none()
}

#[test]
fn launches_give_what_their_lines_say() {
    let text = fs::read_to_string(root().join("tests/launch/lines.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut wrong = Vec::new();
    for (via, engine) in [("ptx", "interp"), ("ptx", "jit"), ("ir", "interp"), ("halu", "interp"), ("halu", "jit")] {
        for races in [false, true] {
            let is_here = |line: &&Value| {
                let on = line.get("on").is_none_or(|on| on.as_array().unwrap().contains(&via.into()));
                on && line.get("races").is_some() == races
            };
            let chosen: Vec<&Value> = lines.iter().filter(is_here).collect();
            assert!(!chosen.is_empty());
            let args = [&["--via", via, "--engine", engine][..], if races { &["--races"] } else { &[] }].concat();
            let texts: Vec<String> = chosen.iter().map(|line| line.to_string()).collect();
            for (line, answer) in chosen.iter().zip(answers(&args, &texts)) {
                if !agrees(line, &answer) {
                    wrong.push(format!("{} on {via} ({engine}): {answer}", line["name"]));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let kinds = [
        "parse",
        "unsupported",
        "refused",
        "arguments",
        "out-of-bounds-global",
        "misaligned",
        "read-only",
        "race-global",
        "budget",
        "limit",
    ];
    for kind in kinds {
        assert!(lines.iter().any(|line| line["error"] == kind), "{kind}");
    }
}

#[test]
fn what_is_no_line_is_answered_too() {
    let deep = "[".repeat(100_000);
    let lines = ["", "{", "[]", "nonsense", r#"{"items": 1e999}"#, "{}", &deep, "\"\u{0}\"", r#"{"hb":"","items":1}"#];
    let answers = answers(&[], &lines.map(str::to_owned));
    for (line, answer) in lines.iter().zip(&answers) {
        assert_eq!(answer["error"]["kind"], "arguments", "{line}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().len() < 200, "{answer}");
    }
    let called = halfbyte_on(&["launch", "--json"], b"\xff\xfe\n{}");
    called.fails(1, "error: line 1: not a JSON object: ");
    assert_eq!(called.out.lines().count(), 2);
}

#[test]
fn each_line_is_answered_before_the_next_comes() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_halfbyte"))
        .args(["launch", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..3 {
        writeln!(input, "{{}}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert!(answer.starts_with(r#"{"error":"#) && answer.ends_with("}\n"), "{answer}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn calls_that_are_wrong_are_refused() {
    halfbyte(&["launch"]).fails(2, "--json");
    halfbyte(&["launch", "--json", "--sm", "81"]).fails(2, "expected a machine such as 80");
    halfbyte(&["launch", "--json", "--via", "vp1"]).fails(2, "ptx, ir, halu");
    halfbyte(&["launch", "--json", "--engine", "gpu"]).fails(2, "interp, jit, cuda");
    halfbyte(&["launch", "--json", "tests/none.jsonl"]).fails(2, "tests/none.jsonl");
}

/// A target or engine in an input line overrides that of the command line.
#[test]
fn the_call_says_what_lines_leave_open() {
    let text = fs::read_to_string(root().join("tests/launch/lines.jsonl")).unwrap();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let mut newer = first.clone();
    newer["sm"] = 80.into();
    let lines = [first.to_string(), newer.to_string()];
    let kinds = |args: &[&str]| answers(args, &lines).iter().map(|answer| answer["error"]["kind"].clone()).collect();
    let found: Vec<Value> = kinds(&["--sm", "75"]);
    assert_eq!(found, [Value::from("refused"), Value::Null]);
}
