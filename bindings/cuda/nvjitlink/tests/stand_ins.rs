//! Tests of the stand-ins for programs: ptxas, nvcc and nvidia-smi.

use std::fs::{create_dir, read_to_string, write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Folders of the system's programs.
const SYSTEM: &str = "/usr/bin:/bin";

/// Returns the folder of the stand-ins.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../stand-ins").canonicalize().unwrap()
}

/// A call of a stand-in.
struct Called {
    code: i32,
    out: String,
    err: String,
}

impl Called {
    /// Returns the output of a successful call.
    fn output(&self) -> &str {
        assert_eq!(self.code, 0, "{}", self.err);
        &self.out
    }

    /// Checks the exit code and the messages of a failed call.
    fn fails(&self, code: i32, message: &str) {
        assert!(self.code == code && self.err.contains(message), "{}: {}", self.code, self.err);
        assert!(self.err.contains("\nhelp: "), "{}", self.err);
    }
}

/// Returns a call of a stand-in without the variables of halfbyte.
fn command(program: &str, current: &Path) -> Command {
    let mut command = Command::new(folder().join(program));
    for name in ["HALFBYTE_SM", "HALFBYTE_DEVICES", "HALFBYTE_MAX_MEMORY"] {
        command.env_remove(name);
    }
    command.current_dir(current).env("PATH", SYSTEM).stdin(Stdio::null());
    command
}

fn called(command: &mut Command) -> Called {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Called { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

#[test]
fn ptxas_copies_ptx() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let call = |args: &[&str]| called(command("ptxas", folder.path()).args(args));
    write(path("kernel.ptx"), "// a\n.version 8.0\n").unwrap();
    write(path("kernel"), ".version 8.1\n").unwrap();
    write(path("cubin"), b"\x7fELF\0\x01").unwrap();
    for args in [
        // As Triton calls it.
        &["-lineinfo", "-v", "--opt-level", "0", "--gpu-name=sm_80", "kernel.ptx", "-o", "kernel.o"][..],
        &["--gpu-name", "sm_80", "--output-file", "kernel.o", "kernel.ptx"],
        &["--output-file=kernel.o", "kernel.ptx"],
    ] {
        let _ = std::fs::remove_file(path("kernel.o"));
        assert_eq!(call(args).output(), "");
        assert_eq!(read_to_string(path("kernel.o")).unwrap(), "// a\n.version 8.0\n");
    }
    call(&["kernel", "-arch", "sm_80"]).output();
    assert_eq!(read_to_string(path("elf.o")).unwrap(), ".version 8.1\n");
    call(&[]).fails(1, "error: there is no input file");
    call(&["missing.ptx"]).fails(1, "error: cannot read missing.ptx");
    call(&["cubin", "-o", "x"]).fails(1, "error: cubin is not PTX");
    call(&["kernel.ptx", "kernel"]).fails(1, "error: there are two input files");
    call(&["kernel.ptx", "-o"]).fails(1, "error: the option -o has no value");
    call(&["kernel.ptx", "-o", "missing/x"]).fails(1, "error: cannot write missing/x");
}

#[test]
fn ptxas_has_a_version() {
    let said = called(command("ptxas", Path::new("/")).arg("--version"));
    // Triton searches for `release (\d+\.\d+)`.
    let release = said.output().lines().find_map(|line| line.split_once("release ")).unwrap().1;
    let number = release.split(',').next().unwrap();
    assert!(number.parse::<f32>().is_ok_and(|number| number >= 13.0), "{release}");
    assert!(called(command("ptxas", Path::new("/")).arg("--help")).output().starts_with("Usage: ptxas"));
}

/// Creates a program that prints its arguments. Another process writes the file, because a file that a thread of this
/// process writes cannot be executed while other threads start programs.
fn create_program(path: &Path) {
    let print = "#!/bin/sh\nfor argument do printf '[%s]' \"$argument\"; done\n";
    let mut shell = Command::new("sh");
    shell.args(["-c", "printf %s \"$1\" > \"$0\" && chmod +x \"$0\""]).arg(path).arg(print);
    assert!(shell.status().unwrap().success());
}

#[test]
fn nvcc_runs_the_next_nvcc_with_ptx() {
    let place = tempfile::tempdir().unwrap();
    let next = place.path().join("next");
    create_dir(&next).unwrap();
    create_program(&next.join("nvcc"));
    let own = folder();
    // A second folder with stand-ins, as in PATH when `exec` runs within `exec`.
    let other = place.path().join("other");
    create_dir(&other).unwrap();
    assert!(Command::new("cp").arg(own.join("nvcc")).arg(&other).status().unwrap().success());
    let [own, other, next] = [&own, &other, &next].map(|folder| folder.display().to_string());
    for path in [format!("{own}:{next}"), next.clone(), format!("{own}:{other}:{own}:{next}:/none")] {
        let call = |args: &[&str]| {
            let path = format!("{path}:{SYSTEM}");
            called(command("nvcc", place.path()).env("PATH", path).args(args)).output().to_owned()
        };
        let calls = [
            // As PyCUDA calls it.
            ("--cubin -arch sm_80 -I/x kernel.cu", "[-ptx][-arch][sm_80][-I/x][kernel.cu][-o][kernel.cubin]"),
            ("-cubin -o out.cubin a/b.cu", "[-ptx][-o][out.cubin][a/b.cu]"),
            ("--cubin --output-file=c a.cu", "[-ptx][--output-file=c][a.cu]"),
            ("-odir d --cubin a/b.c.cu", "[-odir][d][-ptx][a/b.c.cu][-o][d/b.c.cubin]"),
            ("a.cu -o a", "[a.cu][-o][a]"),
            ("--version", "[--version]"),
        ];
        for (args, expected) in calls {
            assert_eq!(call(&args.split(' ').collect::<Vec<_>>()), expected, "{path}");
        }
        assert_eq!(call(&["--cubin", "a b.cu"]), "[-ptx][a b.cu][-o][a b.cubin]");
        write(place.path().join("k.ptx"), ".version 8.0\n").unwrap();
        assert_eq!(call(&["--cubin", "k.ptx"]), "");
        assert_eq!(read_to_string(place.path().join("k.cubin")).unwrap(), ".version 8.0\n");
    }
    let mut two = command("nvcc", place.path());
    called(two.env("PATH", format!("{next}:{SYSTEM}")).args(["--cubin", "a.cu", "b.cu"])).fails(1, "has 2 input files");
}

#[test]
fn nvcc_needs_another_nvcc() {
    let place = tempfile::tempdir().unwrap();
    let own = folder().display().to_string();
    for path in [own.clone(), format!("{own}:{}", place.path().display())] {
        let mut missing = command("nvcc", place.path());
        called(missing.env("PATH", path).args(["--cubin", "a.cu"])).fails(1, "PATH contains no other nvcc");
    }
}

#[test]
fn nvidia_smi_describes_the_devices() {
    let call = |args: &[&str], variables: &[(&str, &str)]| {
        called(command("nvidia-smi", Path::new("/")).args(args).envs(variables.iter().copied()))
    };
    let device = "GPU 0: halfbyte sm_80 (UUID: GPU-68616c66-6279-7465-0000-005000000001)\n";
    assert_eq!(call(&["-L"], &[]).output(), device);
    assert!(call(&[], &[]).output().ends_with(device));
    let query = "--query-gpu=name,compute_cap,driver_version,memory.total";
    let said = call(&[query, "--format=csv"], &[]);
    assert_eq!(
        said.output(),
        "name, compute_cap, driver_version, memory.total [MiB]\nhalfbyte sm_80, 8.0, 610.00, 4096 MiB\n"
    );
    let set = [("HALFBYTE_SM", "sm_103"), ("HALFBYTE_DEVICES", "2"), ("HALFBYTE_MAX_MEMORY", "08g")];
    let rows = "halfbyte sm_103, 10.3, 610.00, 8192 MiB\n".repeat(2);
    assert_eq!(call(&[query, "--format=csv,noheader"], &set).output(), rows);
    let one = ["--query-gpu=index,memory.total,count,uuid", "--format=csv,noheader,nounits", "-i", "1"];
    assert_eq!(call(&one, &set).output(), "1, 8192, 2, GPU-68616c66-6279-7465-0000-006700000002\n");
}

#[test]
fn nvidia_smi_reports_mistakes() {
    let call = |args: &[&str], variables: &[(&str, &str)]| {
        called(command("nvidia-smi", Path::new("/")).args(args).envs(variables.iter().copied()))
    };
    call(&["-q"], &[]).fails(2, "error: the option -q is not supported");
    call(&["--query-gpu=name"], &[]).fails(2, "error: the format is missing");
    call(&["--query-gpu=name", "--format=xml"], &[]).fails(2, "error: the format xml is not supported");
    call(&["--query-gpu=name,*", "--format=csv"], &[]).fails(2, "error: the field * is not supported");
    call(&["--query-gpu=", "--format=csv"], &[]).fails(2, "error: the query is empty");
    call(&["--query-gpu=name", "--format=csv", "-i", "1"], &[]).fails(6, "error: there is no device 1");
    call(&["-L"], &[("HALFBYTE_DEVICES", "0")]).fails(6, "error: there are no devices");
    for (name, value) in [
        ("HALFBYTE_SM", "70"),
        ("HALFBYTE_DEVICES", "65"),
        ("HALFBYTE_DEVICES", "-1"),
        ("HALFBYTE_MAX_MEMORY", "4T"),
        ("HALFBYTE_MAX_MEMORY", "0"),
        ("HALFBYTE_MAX_MEMORY", "99999999999G"),
    ] {
        let said = call(&["-L"], &[(name, value)]);
        said.fails(0, &format!("warning: `{name}={value}` is ignored"));
        assert!(said.out.contains("GPU 0: halfbyte sm_80 "), "{}", said.out);
    }
}
