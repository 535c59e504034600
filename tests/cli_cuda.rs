//! Tests of the engine `cuda`, with a driver that executes kernels on the host, and without a driver.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Called, halfbyte, halfbyte_on, halfbyte_with};

/// PTX file of kernels whose tables are variables of the module.
const TABLES: &str = "tests/ptx/data/tables.ptx";

/// Returns the path of the driver `tests/cuda/on_host.rs`, which `cargo test` builds together with the program.
fn driver() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_halfbyte")).parent().unwrap().join("examples");
    let name = format!("{}cuda_on_host{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let path = folder.join(name);
    assert!(path.exists(), "{} is not there: cargo build --example cuda_on_host", path.display());
    path
}

fn called(args: &[&str], capability: &str) -> Called {
    let driver = driver().display().to_string();
    halfbyte_with(args, &[("HALFBYTE_CUDA_LIBRARY", &driver), ("CUDA_ON_HOST_CAPABILITY", capability)])
}

fn without_driver(args: &[&str], library: &str) -> Called {
    halfbyte_with(args, &[("HALFBYTE_CUDA_LIBRARY", library)])
}

#[test]
fn examples_are_compared_with_the_device() {
    let checked = called(&["check", "examples/baseline", "examples/ptx/axpy.ptx", TABLES, "--engine", "cuda"], "90")
        .output()
        .to_owned();
    assert!(checked.ends_with("17 passed, 0 failed\n"), "{checked}");
    let files: Vec<&str> = checked.lines().filter(|line| line.starts_with("ok")).collect();
    assert!(files.len() == 17 && files.iter().all(|line| line.contains(" on ir, ptx")), "{checked}");
    // PTX for an older SM version also runs on a newer device.
    let checked = called(&["check", "examples/axpy.hb", "--engine", "cuda", "--sm", "75"], "121").output().to_owned();
    assert!(checked.ends_with("1 passed, 0 failed\n"), "{checked}");
}

/// Results that follow `~=` are compared with a tolerance.
#[test]
fn approximations_are_compared_within_a_margin() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.hb");
    let text = |result: &str| {
        format!(
            "kernel @k(%x: in f32, %y: out f32) {{\n^entry:\n  %i = item_id\n  %v = load %x[%i]\n  %r = fexp2.f32 %v\n  \
             store %r, %y[%i]\n  ret\n}}\n; run: ptx: @k items=2 x=[0.5, 1.0] -> y~={result}\n"
        )
    };
    let check = |result: &str| {
        std::fs::write(&path, text(result)).unwrap();
        called(&["check", path.to_str().unwrap(), "--engine", "cuda"], "90")
    };
    assert!(check("[1.4142137, 2.0]").output().contains("1 launch on ir, ptx"));
    check("[1.4143, 2.0]").fails(1, "outside the manual's bound, 2 ulps of `ex2.approx.f32`");
}

#[test]
fn a_launch_is_the_same_as_on_the_host() {
    let launch =
        ["run", "examples/axpy.hb", "--target", "ptx", "--items", "2", "--arg", "a=2.0", "--arg", "x=[1.0, 3.0]"];
    let launch = [&launch[..], &["--arg", "y=[1.0, 0.0]", "--engine"]].concat();
    let host = halfbyte(&[&launch[..], &["interp"]].concat()).output().to_owned();
    assert_eq!(called(&[&launch[..], &["cuda"]].concat(), "90").output(), host);
    let stats = called(&[&launch[..], &["cuda", "--stats"]].concat(), "90");
    assert!(stats.err.contains(" ms on the GPU"), "{}", stats.err);

    let text =
        ["run", "examples/ptx/axpy.ptx", "--target", "ptx", "--grid", "2", "--block", "2", "--arg", "axpy_param_0=2.0"];
    let text =
        [&text[..], &["--arg", "axpy_param_1=[1.0, 3.0, 5.0, 7.0]", "--arg", "axpy_param_2=[1.0, 0.0, 0.5, 9.0]"]];
    let text = [&text.concat()[..], &["--arg", "axpy_param_3=3", "--engine"]].concat();
    let host = halfbyte(&[&text[..], &["interp"]].concat()).output().to_owned();
    assert_eq!(called(&[&text[..], &["cuda"]].concat(), "90").output(), host);
}

#[test]
fn random_kernels_are_compared_with_the_device() {
    let args = ["random", "--engine", "cuda", "--target", "ptx", "--seed", "5", "--count", "40"];
    let said = called(&args, "90").output().to_owned();
    assert!(said.contains("on cuda") && said.contains("differences  0"), "{said}");
}

#[test]
fn without_a_driver_all_is_skipped() {
    let check = ["check", "examples/baseline", "--engine", "cuda"];
    let said = without_driver(&check, "no-such-library").output().to_owned();
    assert!(said.starts_with("skipped: cannot load the CUDA driver: "), "{said}");
    assert!(said.ends_with("\n0 passed, 0 failed, 15 skipped\n"), "{said}");
    let random = ["random", "--engine", "cuda", "--target", "ptx", "--count", "1"];
    let said = without_driver(&random, "no-such-library").output().to_owned();
    assert!(said.starts_with("skipped: cannot load the CUDA driver: "), "{said}");
    let run = ["run", "examples/axpy.hb", "--target", "ptx", "--items", "1", "--engine", "cuda"];
    without_driver(&run, "no-such-library").fails(1, "cannot load the CUDA driver");
    without_driver(&run, "no-such-library").fails(1, "`--engine interp` needs no GPU");
    let reduce = ["reduce", "examples/axpy.hb", "--engine", "cuda"];
    without_driver(&reduce, "no-such-library").fails(2, "cannot load the CUDA driver: no-such-library");
}

#[test]
fn a_device_must_run_what_the_text_is_for() {
    let check = ["check", "examples/axpy.hb", "--engine", "cuda"];
    let said = called(&check, "86").output().to_owned();
    assert!(
        said.starts_with("skipped: The host has compute capability 8.6, which does not support target sm_90"),
        "{said}"
    );
    let said = called(&[&check[..], &["--sm", "80"]].concat(), "86").output().to_owned();
    assert!(said.ends_with("1 passed, 0 failed\n"), "{said}");
    // Code for a family-specific target does not run on a device of the next family.
    let family = ["check", "examples/baseline/k10_v4_brighten.hb", "--engine", "cuda", "--sm", "120"];
    assert!(called(&family, "121").output().ends_with("1 passed, 0 failed\n"));
    called(&family, "130").fails(1, "does not support target sm_120f");
}

#[test]
fn engine_cuda_is_for_ptx() {
    let run = ["run", "examples/axpy.hb", "--items", "1", "--engine", "cuda", "--target"];
    called(&[&run[..], &["halu"]].concat(), "90").fails(2, "engine `cuda` cannot execute code for target halu");
    let step = ["step", "--target", "halu", "--engine", "cuda", "--json"];
    let line = halfbyte_on(&step, b"{\"asm\": \"IADD3 R0, R1, R2, R3\"}\n");
    assert!(line.output().contains("engine `cuda` does not support steps"), "{}", line.out);
}

/// Runs a kernel that executes one instruction on its first buffer, which has two 32-bit words.
fn store(instruction: &str, more: &[&str]) -> Called {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx").display().to_string();
    let head = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n";
    let body = ".reg .b64 %rd<3>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.b32 %r1, 5;\n";
    fs::write(&path, format!("{head}{body}{instruction}\nret;\n}}\n")).unwrap();
    let run = ["run", &path, "--target", "ptx", "--engine", "cuda", "--grid", "1", "--block", "1"];
    called(&[&run[..], more].concat(), "90")
}

#[test]
fn bad_accesses_are_noticed() {
    let words = ["--arg", "p=[1, 2]"];
    assert_eq!(store("st.global.b32 [%rd2+4], %r1;", &words).output(), "p=[1, 5]\n");
    store("st.global.b32 [%rd2+8], %r1;", &words).fails(1, "kernel `k`: the kernel stores outside of buffer `p`");
    store("st.global.b32 [%rd2+4096], %r1;", &words).fails(1, "an illegal memory access was encountered (700)");
}
