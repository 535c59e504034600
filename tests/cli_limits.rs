//! Tests of limits, of access to files, and of Ctrl-C on the command line.

use std::path::Path;
use std::process::Command;

use crate::common::{Called, halfbyte, halfbyte_on};

/// A kernel in which each item executes a million iterations of a loop, which the budget permits.
const LONG: &str = "kernel @long(%y: out i32) {
^entry:
  %i = item_id
  %0 = const.i32 0
  %1 = const.i32 1
  %n = const.i32 1000000
  br ^l(%0, %i)
^l(%k: i32, %s: i32):
  %s1 = add.i32 %s, %i
  %k1 = add.i32 %k, %1
  %more = icmp.ne.i32 %k1, %n
  br_if %more, ^l(%k1, %s1), ^done
^done:
  store %s1, %y[%i]
  ret
}
";

const EMPTY: &str = "kernel @k(%y: inout i8) {\n^entry:\n  ret\n}\n";

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

#[test]
fn a_hostile_folder_ends_within_its_limits_and_says_which() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    std::fs::create_dir(&inside).unwrap();
    write(folder.path(), "secret", "this is a secret");
    write(&inside, "a-items.hb", &format!("{LONG}; run: halu: @long items=1000000 y=zeros(1000000)\n"));
    write(&inside, "b-buffers.hb", &format!("{EMPTY}; run: halu: @k items=1 y=zeros(200000000)\n"));
    write(&inside, "c-files.hb", &format!("{EMPTY}; run: halu: @k items=1 y=@../secret -> y=[1]\n"));
    write(&inside, "d-items.hb", &format!("{EMPTY}; run: halu: @k items=4294967295 y=zeros(1)\n"));
    write(&inside, "e-good.hb", &format!("{EMPTY}; run: halu: @k items=1 y=[7] -> y=[7]\n"));
    write(&inside, "g-zeros.hb", &" ".repeat((16 << 20) + 1));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret", inside.join("f-link.hb")).unwrap();
        assert!(Command::new("mkfifo").arg(inside.join("h-pipe.hb")).status().unwrap().success());
    }
    let checked = halfbyte(&["check", inside.to_str().unwrap(), "--timeout", "0.2"]);
    for message in [
        "@long: not done after 0.2 s",
        "--timeout SECONDS sets this limit",
        "200000000 elements of i8 are too many",
        "../secret: the file is outside of",
        "the launch has 4294967295 work items; the limit is 268435456",
        "g-zeros.hb: the file has at least 16777217 bytes; at most 16777216 are allowed",
    ] {
        checked.fails(1, message);
    }
    let files = if cfg!(unix) { 7 } else { 5 };
    assert!(checked.out.ends_with(&format!("1 passed, {files} failed\n")), "{}", checked.out);
    if cfg!(unix) {
        checked.fails(1, "f-link.hb is a link to a file outside the folder");
        checked.fails(1, "h-pipe.hb: not a regular file");
    }
    assert!(!checked.err.contains("this is a secret") && !checked.out.contains("this is a secret"));
}

#[test]
fn run_lines_read_other_folders_where_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    std::fs::create_dir(&inside).unwrap();
    write(folder.path(), "data", "x");
    write(&inside, "k.hb", &format!("{EMPTY}; run: halu: @k items=1 y=@../data -> y=[120]\n"));
    let (file, outside) = (inside.join("k.hb"), folder.path().to_str().unwrap());
    let file = file.to_str().unwrap();
    halfbyte(&["check", file]).fails(1, "the file is outside of");
    assert!(halfbyte(&["check", file, "--allow", outside]).output().ends_with("1 passed, 0 failed\n"));
}

fn run(limits: &[&str]) -> Called {
    let args = ["run", "-", "--items", "1000000", "--target", "halu", "--engine", "jit", "--arg", "y=zeros(1000000)"];
    halfbyte_on(&[&args, limits].concat(), LONG.as_bytes())
}

#[test]
fn a_run_ends_at_the_limits_that_it_is_given() {
    let ended = run(&["--max-work", "2M"]);
    ended.fails(1, "on halu (jit): @long: more than 2000000 instructions and backward branches");
    ended.fails(1, "help: --max-work N sets this limit");
    assert_eq!(ended.out, "");
    run(&["--timeout", "0.1"]).fails(1, "not done after 0.1 s");
    // The limit is larger than the memory of the program itself; otherwise, the watchdog would
    // report the program's memory first.
    let args = ["run", "-", "--items", "1", "--target", "halu", "--arg", "y=zeros(1000000000)", "--max-memory", "1G"];
    halfbyte_on(&args, LONG.as_bytes()).fails(2, "1000000000 elements of i32 are too many");
    run(&["--max-memory", "2x"]).fails(2, "expected bytes, such as 512M or 2G");
    run(&["--timeout=-1"]).fails(2, "--timeout");
}

#[test]
fn a_reduction_ends_whatever_a_trial_does() {
    let text = format!("{LONG}; run: halu: @long items=1000000 y=zeros(1000000)\n");
    let reduced = halfbyte_on(&["reduce", "-", "--time", "2", "--patience", "1"], text.as_bytes());
    assert_eq!(reduced.code, 0, "{}", reduced.err);
    assert!(reduced.out.starts_with("; on halu: check does not end within 1.0 s\n"), "{}", reduced.out);
    let cut = halfbyte_on(&["reduce", "-", "--time", "0", "--patience", "1"], text.as_bytes());
    cut.fails(1, "no failure was found in 0 s; use --time to search longer");
}

/// Waits until a process has installed a handler for SIGINT, on systems that show this in `/proc`.
#[cfg(unix)]
fn await_handler(process: u32) {
    let catches = |status: &str| {
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
    };
    while !std::fs::read_to_string(format!("/proc/{process}/status")).is_ok_and(|status| catches(&status)) {
        std::thread::sleep(std::time::Duration::from_millis(20));
        if !Path::new("/proc/self/status").exists() {
            return std::thread::sleep(std::time::Duration::from_secs(2));
        }
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_launch_with_130() {
    use std::io::Write;
    use std::process::Stdio;

    for target in ["ir", "halu", "ptx", "vp1"] {
        for engine in ["interp", "jit"] {
            if matches!((target, engine), ("ptx" | "ir", "jit")) {
                continue;
            }
            let mut child = Command::new(env!("CARGO_BIN_EXE_halfbyte"))
                .args([
                    "run",
                    "-",
                    "--target",
                    target,
                    "--engine",
                    engine,
                    "--items",
                    "1000000",
                    "--arg",
                    "y=zeros(1000000)",
                ])
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            child.stdin.take().unwrap().write_all(LONG.as_bytes()).unwrap();
            await_handler(child.id());
            std::thread::sleep(std::time::Duration::from_millis(100));
            assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(130), "{target} {engine}: {said}");
            assert_eq!(said, "interrupted\n", "{target} {engine}");
        }
    }
}
