//! Tests that the header matches the library's source, and that C and C++ programs work with it.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Generates the text of halfbyte.h with cbindgen.
fn header() -> String {
    let config = cbindgen::Config::from_file(here().join("cbindgen.toml")).unwrap();
    // cbindgen finds all modules of the crate from `lib.rs`.
    let builder = cbindgen::Builder::new().with_config(config).with_src(here().join("src/lib.rs"));
    let mut made = Vec::new();
    builder.generate().unwrap().write(&mut made);
    // The safety section of a Rust function lists the obligations of the C caller.
    String::from_utf8(made)
        .unwrap()
        .replace("// # Safety\n//\n", "// # Safety\n")
        .replace("// # Safety\n", "// The caller promises:\n")
}

#[test]
fn the_header_is_up_to_date() {
    let path = here().join("include/halfbyte.h");
    let made = header();
    if std::env::var_os("HALFBYTE_BLESS").is_some() {
        std::fs::write(path, made).unwrap();
        return;
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == made, "include/halfbyte.h is not what the source says; HALFBYTE_BLESS=1 writes it anew");
}

/// Builds the C library and returns its folder. Cargo does not build the shared library for tests.
fn library() -> &'static Path {
    static BUILT: LazyLock<PathBuf> = LazyLock::new(|| {
        let exe = std::env::current_exe().unwrap();
        let target = exe.ancestors().nth(3).unwrap();
        let built = Command::new(here().join("build")).env("CARGO_TARGET_DIR", target).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        PathBuf::from(String::from_utf8(built.stdout).unwrap().trim_end())
    });
    &BUILT
}

/// Returns `true` if the compiler is installed. In CI, a missing compiler is an error.
fn has(compiler: &str) -> bool {
    let is_there = Command::new(compiler).arg("--version").output().is_ok();
    assert!(is_there || std::env::var_os("CI").is_none(), "there is no {compiler}");
    if !is_there {
        eprintln!("skipped: there is no {compiler}");
    }
    is_there
}

/// Compiles and runs a C or C++ program. Returns its output.
fn run(compiler: &str, source: &Path, folder: &Path) -> String {
    let exe = folder.join(source.file_stem().unwrap());
    let library = library();
    let compiled = Command::new(compiler)
        .args(["-Wall", "-Wextra", "-Werror", "-O1", "-pthread"])
        .args(if compiler == "cc" { ["-std=c11"] } else { ["-std=c++17"] })
        .arg("-I")
        .arg(here().join("include"))
        .arg(source)
        .arg("-o")
        .arg(&exe)
        .arg("-L")
        .arg(library)
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .arg("-lhalfbyte")
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&exe).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{}: {}{}", source.display(), text(&ran.stdout), text(&ran.stderr));
    text(&ran.stdout)
}

#[test]
#[ignore = "it builds the library; bindings/c/ci runs it"]
fn programs_in_c_and_cpp_work() {
    let folder = tempfile::tempdir().unwrap();
    for (compiler, name) in [("cc", "interface.c"), ("c++", "handles.cpp")] {
        if has(compiler) {
            let printed = run(compiler, &here().join("tests").join(name), folder.path());
            assert!(printed.ends_with("ok\n"), "{printed}");
        }
    }
}

/// The example program in docs/c.md prints the output that the page shows.
#[test]
#[ignore = "it builds the library; bindings/c/ci runs it"]
fn the_program_of_the_manual_prints_what_it_says() {
    let page = std::fs::read_to_string(here().join("../../docs/c.md")).unwrap();
    let block = |mark: &str| {
        let rest = page.split_once(mark).unwrap().1;
        rest.split_once("```").unwrap().0.to_owned()
    };
    let (program, printed) = (block("```c\n"), block("The output of the program is:\n\n```text\n"));
    assert!(program.lines().count() <= 32, "the program of the manual has more than 32 lines");
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("scale.c");
    std::fs::write(&source, program).unwrap();
    if has("cc") {
        assert_eq!(run("cc", &source, folder.path()), printed);
    }
}
