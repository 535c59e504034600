//! Tests of the option `--watch`, which repeats a command whenever an input file changes.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::{halfbyte, halfbyte_on};

/// A running `--watch` command, and the lines that it has written to both output streams.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(args: &[&str]) -> Watching {
        let mut command = Command::new(env!("CARGO_BIN_EXE_halfbyte"));
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (send, lines) = channel();
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let other = send.clone();
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| send.send(line))
        });
        std::thread::spawn(move || {
            BufReader::new(err).lines().map_while(Result::ok).try_for_each(|line| other.send(line))
        });
        Watching { child, lines }
    }

    /// Waits until the output contains each of the texts `wanted`, in any order.
    #[track_caller]
    fn says(&self, wanted: &[&str]) {
        let mut left = wanted.to_vec();
        while !left.is_empty() {
            let line =
                self.lines.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("not said: {left:?}"));
            left.retain(|wanted| !line.contains(wanted));
        }
    }

    /// Ends the command with Ctrl-C and returns its exit code.
    fn interrupt(mut self) -> Option<i32> {
        Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        // If the test succeeds, the command has ended before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const RIGHT: &str = "; run: halu: @k items=2 x=[1, 2] -> y=[1, 2]\nkernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %i = item_id\n  \
                     %v = load %x[%i]\n  store %v, %y[%i]\n  ret\n}\n";

#[test]
fn check_runs_again_when_a_file_changes_comes_or_goes() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a.hb", "b.hb"].map(|name| folder.path().join(name));
    std::fs::write(&a, RIGHT).unwrap();
    let watching = Watching::start(&["check", &folder.path().display().to_string(), "--watch", "--engine", "interp"]);
    watching.says(&["1 passed, 0 failed", "watching 1 file; Ctrl-C ends it"]);
    std::fs::write(&a, RIGHT.replace("y=[1, 2]", "y=[1, 30]")).unwrap();
    watching.says(&["changed ", "0 passed, 1 failed", "watching 1 file"]);
    std::fs::write(&b, RIGHT).unwrap();
    watching.says(&["new ", "1 passed, 1 failed", "watching 2 files"]);
    std::fs::remove_file(&a).unwrap();
    watching.says(&["gone ", "1 passed, 0 failed"]);
    // The command continues if the folder contains no more kernels.
    std::fs::remove_file(&b).unwrap();
    watching.says(&["the folder has no *.hb files", "watching 0 files"]);
    std::fs::write(&b, RIGHT).unwrap();
    watching.says(&["1 passed, 0 failed", "watching 1 file"]);
    assert_eq!(watching.interrupt(), Some(130));
}

#[test]
fn test_watches_a_file_and_answers_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.hb");
    let text = format!("; test: isel halu\n{RIGHT}; check: LDG\n");
    std::fs::write(&file, &text).unwrap();
    let watching = Watching::start(&["test", &file.display().to_string(), "--watch", "--json", "--quiet"]);
    watching.says(&["\"passed\":1"]);
    std::fs::write(&file, text.replace("LDG", "NONE")).unwrap();
    watching.says(&["\"failed\":1"]);
    assert_eq!(watching.interrupt(), Some(130));
}

#[test]
fn what_does_not_change_is_not_watched() {
    halfbyte_on(&["check", "-", "--watch"], RIGHT.as_bytes()).fails(2, "standard input does not change");
    halfbyte(&["test", "no/such.hb", "--watch"]).fails(2, "no/such.hb");
}
