//! Tests of the examples for build scripts and for CMake, which link kernels as native functions.

use std::fs;
use std::process::Command;

use halfbyte_build::{Build, Error};

use super::driver::HOST;
use super::has;
use crate::common::root;

/// The second output line of both example programs, in hexadecimal: the results of the kernel
/// `neuron` for two halves.
const NEURON: &str = "3c000000";

#[test]
fn a_build_script_makes_kernels_safe_functions() {
    let example = root().join("examples/native/crate");
    let made = Build::new(example.join("kernels")).make(HOST.triple, "example_").unwrap();
    let again = Build::new(example.join("kernels")).make(HOST.triple, "example_").unwrap();
    assert_eq!(made, again, "the same kernels give the same bytes");
    assert!(made.bindings.contains("#[link_name = \"example_brighten\"]"), "{}", made.bindings);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("libkernels.a"), &made.library).unwrap();
    fs::write(folder.path().join("kernels.rs"), &made.bindings).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let program = folder.path().join("main");
    let built = Command::new(rustc)
        .args(["--edition=2024", "-Dwarnings", "-Adead_code", "-lstatic=kernels", "-L"])
        .arg(folder.path())
        .arg(example.join("src/main.rs"))
        .arg("-o")
        .arg(&program)
        .env("OUT_DIR", folder.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{:.3000}", String::from_utf8_lossy(&built.stderr));
    let said = String::from_utf8(Command::new(program).output().unwrap().stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..2], ["[[40, 140, 255, 255], [255, 255, 255, 255]]", &format!("0x{NEURON}")]);
    assert!(lines[2].contains("item 1, line 4"), "{said}");
}

#[test]
fn a_folder_that_is_wrong_is_an_error_of_the_build() {
    let folder = tempfile::tempdir().unwrap();
    let make = || Build::new(folder.path()).make(HOST.triple, "");
    assert!(matches!(Build::new("/nowhere").make(HOST.triple, ""), Err(Error::File { .. })));
    assert!(matches!(make(), Err(Error::Empty(_))));
    assert!(matches!(Build::new(folder.path()).make("x86-64-linux", ""), Err(Error::Machine(_))));
    let kernel = "kernel @k(%y: out i32) {\n^entry:\n  %i = item_id\n  store %i, %y[%i]\n  ret\n}\n";
    fs::write(folder.path().join("a.hb"), kernel).unwrap();
    fs::write(folder.path().join("notes.txt"), "no kernel").unwrap();
    assert!(make().is_ok());
    fs::write(folder.path().join("b.hb"), kernel).unwrap();
    let twice = make().unwrap_err().to_string();
    assert!(twice.starts_with("kernel `k` is defined in ") && twice.contains("a.hb and in "), "{twice}");
    fs::write(folder.path().join("b.hb"), kernel.replace("store %i", "store %j")).unwrap();
    let wrong = make().unwrap_err().to_string();
    assert!(wrong.contains("b.hb:4") && wrong.contains("%j"), "{wrong}");
}

#[test]
fn cmake_builds_a_program_with_kernels() {
    if !has(&HOST) {
        return;
    }
    if Command::new("cmake").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "there is no cmake");
        println!("skipped: there is no cmake");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cmake = |more: &[&str]| {
        let output = Command::new("cmake").args(more).output().unwrap();
        assert!(output.status.success(), "{:.3000}", String::from_utf8_lossy(&output.stderr));
    };
    let (source, build) = (root().join("examples/native/cmake"), folder.path().to_str().unwrap());
    let halfbyte = format!("-DHALFBYTE={}", env!("CARGO_BIN_EXE_halfbyte"));
    cmake(&["-S", source.to_str().unwrap(), "-B", build, &halfbyte]);
    cmake(&["--build", build]);
    let said = Command::new(folder.path().join("brighten")).output().unwrap();
    assert_eq!(String::from_utf8(said.stdout).unwrap(), format!("ffff8c28 ffffffff\n0 {NEURON}\n"));
}
