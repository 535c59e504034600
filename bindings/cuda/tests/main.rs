//! Tests of the driver library with C programs, and of the list of its functions.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

/// Variables of the environment that change the behaviour of the library.
const VARIABLES: [&str; 13] = [
    "CUDA_LAUNCH_BLOCKING",
    "HALFBYTE_BUDGET",
    "HALFBYTE_DEVICES",
    "HALFBYTE_KEEP_GOING",
    "HALFBYTE_MAX_MEMORY",
    "HALFBYTE_RACES",
    "HALFBYTE_REPORT_DIR",
    "HALFBYTE_SM",
    "HALFBYTE_SMS",
    "HALFBYTE_STRICT",
    "HALFBYTE_THREADS",
    "HALFBYTE_TRACE",
    "LD_PRELOAD",
];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the symbols of the list of functions, each with its implementation: `own`, `as` or `-`.
fn listed() -> Vec<(String, String)> {
    let list = fs::read_to_string(here().join("functions.txt")).unwrap();
    let rows = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        (words[2].to_owned(), words[3].to_owned())
    })
    .collect()
}

/// Returns the names that follow `before` in a text.
fn names_after<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    let name = |rest: &'a str| rest.split(|of: char| !of.is_ascii_alphanumeric() && of != '_').next().unwrap();
    text.split(before).skip(1).map(name).filter(|name| name.starts_with("cu")).collect()
}

/// Every exported function is in the list. The linker checks that every function in the list is exported.
#[test]
fn the_list_has_the_functions_of_the_source() {
    let mut exported = BTreeSet::new();
    for entry in fs::read_dir(here().join("src")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        exported.extend(names_after(&text, "extern \"C\" fn ").into_iter().map(str::to_owned));
    }
    let own: BTreeSet<String> =
        listed().into_iter().filter(|(_, how)| how == "own").map(|(symbol, _)| symbol).collect();
    assert_eq!(exported.symmetric_difference(&own).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn the_tests_call_implemented_functions() {
    let header = fs::read_to_string(here().join("tests/driver.h")).unwrap();
    let listed = listed();
    let declared = names_after(&header, "\nCUresult ");
    assert!(declared.len() > 100);
    for name in declared {
        let row = listed.iter().find(|(symbol, _)| symbol == name);
        assert!(row.is_some_and(|(_, how)| how != "-"), "{name}: {row:?}");
    }
}

/// Returns `true` if the C compiler is installed. In CI, a missing compiler is an error.
fn has_compiler() -> bool {
    let is_there = Command::new("cc").arg("--version").output().is_ok();
    assert!(is_there || std::env::var_os("CI").is_none(), "there is no cc");
    if !is_there {
        eprintln!("skipped: there is no cc");
    }
    is_there
}

/// Builds the driver library and returns its folder. Cargo does not build the shared library for tests.
fn library() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let exe = std::env::current_exe().unwrap();
        let [folder, target] = [2, 3].map(|number| exe.ancestors().nth(number).unwrap());
        let profile = folder.file_name().filter(|name| *name != "debug").unwrap_or("dev".as_ref());
        let built = Command::new(here().join("build")).arg(profile).env("CARGO_TARGET_DIR", target).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        PathBuf::from(String::from_utf8(built.stdout).unwrap().trim_end())
    });
    &BUILT
}

/// A compiled program, in a folder of its own.
struct Program {
    folder: TempDir,
    exe: PathBuf,
}

/// Output of a program.
struct Ran {
    out: String,
    err: String,
}

impl Program {
    /// Compiles a program of this folder. Returns `None` if there is no compiler.
    fn new(name: &str) -> Option<Program> {
        has_compiler().then(|| Program::compile(&here().join("tests").join(format!("{name}.c"))))
    }

    fn compile(source: &Path) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let exe = folder.path().join(source.file_stem().unwrap());
        let compiled = Command::new("cc")
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-I"])
            .arg(here().join("tests"))
            .arg(source)
            .arg("-o")
            .arg(&exe)
            .arg("-L")
            .arg(library())
            .args(["-lcuda", "-ldl"])
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        Program { folder, exe }
    }

    /// Runs the program with arguments and variables. Returns its output and its exit code.
    fn output(&self, args: &[&str], variables: &[(&str, &str)]) -> (Ran, Option<i32>) {
        let mut command = Command::new(&self.exe);
        for name in VARIABLES {
            command.env_remove(name);
        }
        let variables = variables.iter().copied();
        let output = command.args(args).env("LD_LIBRARY_PATH", library()).envs(variables).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (Ran { out: text(&output.stdout), err: text(&output.stderr) }, output.status.code())
    }

    /// Runs the program, whose checks must pass.
    fn run(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let (ran, code) = self.output(args, variables);
        let Ran { out, err } = &ran;
        assert!(code == Some(0) && out.ends_with("ok\n"), "{args:?} {variables:?}: {code:?}\n{out}{err}");
        ran
    }

    /// Returns the path of a file that the program may write.
    fn file(&self) -> String {
        self.folder.path().join("file").to_str().unwrap().to_owned()
    }
}

impl Ran {
    /// Checks that standard error contains each text in the given number of lines.
    #[track_caller]
    fn reports(&self, texts: &[(&str, usize)]) {
        for (text, count) in texts {
            let found = self.err.lines().filter(|line| line.contains(text)).count();
            assert_eq!(found, *count, "{text}\n{}", self.err);
        }
    }
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn each_listed_function_is_exported_and_found() {
    let Some(exports) = Program::new("exports") else { return };
    let list = here().join("functions.txt");
    let ran = exports.run(&[list.to_str().unwrap()], &[]);
    // A function that is not implemented is named once.
    let missing: Vec<String> = listed().into_iter().filter(|(_, how)| how == "-").map(|(symbol, _)| symbol).collect();
    let named: Vec<&str> = ran.err.lines().filter(|line| line.ends_with("is not implemented")).collect();
    assert_eq!(named.len(), missing.len(), "{}", ran.err);
    for symbol in missing {
        assert!(named.contains(&&*format!("halfbyte: the function {symbol} is not implemented")), "{symbol}");
    }
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn devices_are_those_of_the_variables() {
    let Some(devices) = Program::new("devices") else { return };
    devices.run(&[], &[]).reports(&[("warning", 0)]);
    let several =
        [("HALFBYTE_DEVICES", "2"), ("HALFBYTE_SM", "90"), ("HALFBYTE_SMS", "132"), ("HALFBYTE_MAX_MEMORY", "1G")];
    devices.run(&["several"], &several);
    devices.run(&["none"], &[("HALFBYTE_DEVICES", "0")]);
    // An invalid value is ignored with a warning.
    let ran = devices.run(&[], &[("HALFBYTE_SM", "77"), ("HALFBYTE_DEVICES", "-1")]);
    ran.reports(&[("`HALFBYTE_SM=77` is ignored", 1), ("`HALFBYTE_DEVICES=-1` is ignored", 1)]);
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn contexts_streams_memory_and_graphs_work() {
    for name in ["contexts", "streams", "graphs"] {
        let Some(program) = Program::new(name) else { return };
        program.run(&[], &[]);
    }
    let Some(memory) = Program::new("memory") else { return };
    memory.run(&[], &[("HALFBYTE_MAX_MEMORY", "16M")]);
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn kernels_are_launched() {
    let Some(launch) = Program::new("launch") else { return };
    for threads in ["1", "3"] {
        let ran = launch.run(&[], &[("HALFBYTE_THREADS", threads)]);
        let printed: String = (0..4).map(|thread| format!("thread {thread} of grid\n")).collect();
        assert_eq!(ran.out, printed + "ok\n");
        ran.reports(&[("the external function `missing` is not supported", 1)]);
    }
}

/// Reads the only report in a folder.
fn report_in(folder: &Path) -> serde_json::Value {
    let report = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    assert!(report.extension().is_some_and(|extension| extension == "json"), "{}", report.display());
    serde_json::from_slice(&fs::read(report).unwrap()).unwrap()
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn kernels_allocate_memory() {
    let Some(heap) = Program::new("heap") else { return };
    heap.run(&[], &[]).reports(&[
        ("@drop_again, item 0: `free` of the block at", 1),
        ("@drop_foreign, item 0: `free` of", 1),
        ("which is not the address of a block from `malloc`", 1),
        ("@add_freed, item 0: load of 8 bytes at global address", 1),
        (", which was freed", 2),
        ("@add_beyond, item 0: load of 8 bytes at global address", 1),
        ("byte 16 of buffer", 1),
        ("@add_destroyed, item 0: load of 8 bytes at global address", 1),
    ]);
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn errors_are_sticky_and_reported() {
    let Some(errors) = Program::new("errors") else { return };
    let reports = tempfile::tempdir().unwrap();
    let ran = errors.run(&["sticky"], &[("HALFBYTE_REPORT_DIR", reports.path().to_str().unwrap())]);
    ran.reports(&[
        ("@store, item 0: store of 4 bytes at global address", 1),
        ("@load, item 0: load of 4 bytes at global address", 1),
        ("@shared, item 0: store of 4 bytes at shared address 0x1000 is out of bounds", 1),
        ("@store_odd, item 0: store of 4 bytes at global address", 1),
        ("is misaligned", 1),
        ("@trapping, item 0: the kernel executed a trap instruction", 1),
        ("k.cu:12: k: assertion `i < 4` failed", 1),
        ("the program has freed this memory, an allocation of 64 bytes", 1),
        ("warning: on ptx: @load: load of 4 bytes at byte 64 of an allocation of 64 bytes reaches 4 bytes past its end", 1),
        ("warning: on ptx: @load_vector: load of 16 bytes at byte 32 of an allocation of 44 bytes reaches 4 bytes", 1),
        ("warning: ", 2),
    ]);
    // The report of the process contains the same errors, each with its number of occurrences.
    let report = report_in(reports.path());
    let found = report["errors"].as_array().unwrap();
    let of_kernel = |kernel: &str| found.iter().find(|error| error["kernel"] == kernel).unwrap();
    assert_eq!((&of_kernel("store")["kind"], &of_kernel("store")["count"]), (&"trap".into(), &5.into()));
    assert!(of_kernel("asserting")["message"].as_str().unwrap().contains("assertion `i < 4` failed"));
    assert!(found.iter().all(|error| error["kernel"] != "fine"));
    assert!(report["launches"].as_u64().unwrap() > 20);
    let warnings = report["warnings"].as_array().unwrap();
    let warnings: Vec<String> = warnings.iter().map(|of| format!("{} {}", of["kind"], of["count"])).collect();
    assert_eq!(warnings, [r#""padding" 2"#, r#""padding" 1"#]);
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn variables_change_the_treatment_of_errors() {
    let Some(errors) = Program::new("errors") else { return };
    let strict = errors.run(&["strict"], &[("HALFBYTE_STRICT", "1")]);
    strict.reports(&[("@load, item 0: load of 4 bytes", 1), ("@load_vector, item 0: load of", 1)]);
    errors.run(&["blocking"], &[("CUDA_LAUNCH_BLOCKING", "1")]).reports(&[("@store, item 0:", 1)]);
    let going = errors.run(&["going"], &[("HALFBYTE_KEEP_GOING", "1")]);
    going.reports(&[("@store_twice, item 0: store of 4 bytes", 1), ("@trapping, item 0:", 1)]);
    errors.run(&["budget"], &[("HALFBYTE_BUDGET", "1000")]).reports(&[("more than 1000 backward branches", 1)]);
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn errors_are_given_to_the_python_package() {
    let Some(findings) = Program::new("findings") else { return };
    findings.run(&[], &[("HALFBYTE_KEEP_GOING", "1")]).reports(&[("@store, item 0:", 1), ("@trapping, item 0:", 1)]);
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn races_are_found_on_request() {
    let Some(races) = Program::new("races") else { return };
    assert_eq!(races.run(&["off"], &[]).err, "");
    assert_eq!(races.run(&["off"], &[("HALFBYTE_RACES", "off")]).err, "");
    for mode in ["on", "strict"] {
        let ran = races.run(&[mode], &[("HALFBYTE_RACES", mode)]);
        ran.reports(&[
            ("@shift, item 1: data race: store of the byte at global address", 1),
            ("is from sum.cu:12", 1),
            ("is from sum.cu:11", 1),
            ("which is uninitialised", 1),
            ("is from sum.cu:51", 1),
            ("with the same value", 1),
            ("sum.cu:31", 1),
            ("@shift_with_barrier", 0),
            ("@count", 0),
        ]);
        ran.reports(&[("warning: on ptx: @store_equal", usize::from(mode == "on"))]);
    }
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn loads_of_uninitialised_memory_are_found_on_request() {
    let Some(program) = Program::new("uninitialised") else { return };
    assert_eq!(program.run(&[], &[]).err, "");
    let kernels = [
        "of_atomic",
        "of_copied_end",
        "of_copied_fresh",
        "of_copied_rows",
        "of_fresh",
        "of_fresh_again",
        "of_gap",
        "of_pool",
        "of_short_fill",
    ];
    for mode in ["on", "strict"] {
        let reports = tempfile::tempdir().unwrap();
        let folder = reports.path().to_str().unwrap();
        let ran = program.run(&[], &[("HALFBYTE_RACES", mode), ("HALFBYTE_REPORT_DIR", folder)]);
        ran.reports(&[
            ("error: ", kernels.len()),
            ("@of_fresh, item 0: load of 4 bytes at byte 0 of an allocation of 64 bytes reads uninitialised memory", 1),
            ("@of_gap, item 0: load of 4 bytes at byte 20 of an allocation of 64 bytes reads uninitialised memory", 1),
        ]);
        let report = report_in(reports.path());
        assert_eq!(report["warnings"], serde_json::json!([]));
        let mut found = Vec::new();
        for error in report["errors"].as_array().unwrap() {
            let kernel = error["kernel"].as_str().unwrap();
            found.push(kernel);
            let line = if kernel == "of_atomic" { 31 } else { 21 };
            let count = if kernel == "of_fresh" { 2 } else { 1 };
            let place = (&error["kind"], &error["file"], &error["line"], &error["count"]);
            assert_eq!(place, (&"uninitialised".into(), &"load.cu".into(), &line.into(), &count.into()), "{kernel}");
        }
        assert_eq!(found, kernels);
    }
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn images_are_linked_and_loaded() {
    let Some(link) = Program::new("link") else { return };
    let ran = link.run(&[&link.file()], &[]);
    ran.reports(&[
        ("the image is a cubin, machine code that needs a GPU", 2),
        ("the fatbin has only machine code for sm_80, no PTX", 1),
        ("the fatbin has PTX for compute_90, but the device is sm_80", 1),
        ("the PTX is for sm_90, but the device is sm_80", 1),
        ("help: compile to PTX: `nvcc -ptx -arch=compute_80`", 3),
        ("is defined in text 1 and in text 2", 1),
        ("unknown instruction `fnord`", 4),
    ]);
    let Some(libraries) = Program::new("libraries") else { return };
    libraries.run(&[&libraries.file()], &[]);
}

#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn calls_are_traced() {
    let Some(graphs) = Program::new("graphs") else { return };
    let ran = graphs.run(&[], &[("HALFBYTE_TRACE", "1")]);
    assert!(ran.err.lines().any(|line| line.starts_with("halfbyte: cuInit: ")), "{}", ran.err);
    assert!(ran.err.lines().filter(|line| line.starts_with("halfbyte: cuGraphLaunch: ")).count() > 3);
    assert_eq!(graphs.run(&[], &[]).err, "");
}

/// Replaces the digits of addresses, which differ from run to run.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| {
        let digits = part.chars().take_while(char::is_ascii_hexdigit).count();
        if digits < 8 { text + "0x" + part } else { text + "0x.." + &part[digits..] }
    })
}

/// The example program in docs/exec.md prints the output that the page shows.
#[test]
#[ignore = "it builds the library; bindings/cuda/ci runs it"]
fn the_program_of_the_manual_prints_what_it_says() {
    let page = fs::read_to_string(here().join("../../docs/exec.md")).unwrap();
    let block = |mark: &str| page.split_once(mark).unwrap().1.split_once("```").unwrap().0;
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("twice.c");
    fs::write(&source, block("```c\n")).unwrap();
    let (ran, code) = Program::compile(&source).output(&[], &[]);
    assert_eq!(code, Some(0));
    let shown = without_addresses(block("The program prints the following text:\n\n```text\n"));
    assert_eq!(ran.out, shown);
    // The page also shows the summary of `halfbyte exec`, which this test does not cover.
    let shown = without_addresses(block("halfbyte reports the error on standard error:\n\n```text\n"));
    let reported = without_addresses(&ran.err);
    assert!(shown.starts_with(&reported), "{reported}");
}
