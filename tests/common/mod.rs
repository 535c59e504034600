//! Helpers that call the program under test.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Returns the root folder of the repository. Tests themselves run in the folder of their package.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The exit code and the output of a call of the program.
pub struct Called {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Calls `halfbyte` in the root folder of the repository.
pub fn halfbyte(args: &[&str]) -> Called {
    halfbyte_on(args, b"")
}

/// Calls `halfbyte` with the given standard input.
pub fn halfbyte_on(args: &[&str], input: &[u8]) -> Called {
    call(args, input, &[])
}

/// Calls `halfbyte` with additional environment variables.
pub fn halfbyte_with(args: &[&str], variables: &[(&str, &str)]) -> Called {
    call(args, b"", variables)
}

fn call(args: &[&str], input: &[u8], variables: &[(&str, &str)]) -> Called {
    let mut child = Command::new(env!("CARGO_BIN_EXE_halfbyte"))
        .args(args)
        .envs(variables.iter().copied())
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program may exit before it has read all input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Called {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Called {
    /// Asserts that the call failed with an exit code and a message on standard error, and without a panic.
    #[track_caller]
    pub fn fails(&self, code: i32, message: &str) {
        assert_eq!(self.code, code, "{}", self.err);
        assert!(self.err.contains(message), "{message:?} is not in:\n{}", self.err);
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }

    /// Asserts that the call succeeded, and returns its standard output.
    #[track_caller]
    pub fn output(&self) -> &str {
        assert_eq!(self.code, 0, "{}", self.err);
        &self.out
    }
}
