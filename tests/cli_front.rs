//! Tests of behaviour that all commands share: verbosity, colours, invalid calls, help, completions and manual pages.

use std::path::Path;
use std::process::Command;

use crate::common::{Called, halfbyte, halfbyte_on, halfbyte_with};

const COMMANDS: [&str; 22] = [
    "asm",
    "check",
    "compile",
    "completions",
    "corpus",
    "disasm",
    "exec",
    "explain",
    "fmt",
    "isa",
    "launch",
    "man",
    "prove",
    "quality",
    "random",
    "reduce",
    "run",
    "search",
    "step",
    "support",
    "test",
    "view",
];

const KERNEL: &str = "; run: halu: @k items=2 x=[1, 2] -> y=[1, 2]\nkernel @k(%x: in i32, %y: out i32) {\n^entry:\n  %i = item_id\n  \
                      %v = load %x[%i]\n  store %v, %y[%i]\n  ret\n}\n";

/// Returns the kernel `KERNEL` with a wrong expected result in its run line.
fn wrong() -> String {
    KERNEL.replace("y=[1, 2]", "y=[1, 3]")
}

#[test]
fn every_command_has_examples() {
    let all = halfbyte(&["--help"]).output().to_owned();
    for command in COMMANDS {
        assert!(all.contains(&format!("\n  {command}")), "{command} is not in:\n{all}");
        let help = halfbyte(&[command, "--help"]).output().to_owned();
        let examples = help.split_once("Example").map_or("", |(_, examples)| examples);
        assert!(examples.contains(&format!("halfbyte {command}")), "{help}");
        assert!(help.contains("--quiet") && help.contains("--color"), "{help}");
    }
    let listed = all.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let listed =
        listed.filter(|line| line.starts_with("  ") && !line.starts_with("   ") && !line.starts_with("  help"));
    assert_eq!(listed.count(), COMMANDS.len(), "{all}");
}

/// Calls every example of the help texts that only needs files of this repository and writes none.
#[test]
#[cfg(unix)]
fn examples_of_the_help_can_be_called() {
    let mut called = 0;
    for command in COMMANDS {
        let help = halfbyte(&[command, "--help"]).out;
        let (_, examples) = help.split_once("Example").unwrap();
        let is_plain = |line: &&str| {
            let is_here =
                ["halfbyte isa", "halfbyte compile examples/", "halfbyte explain examples/", "halfbyte run examples/"];
            line.starts_with("echo ") || is_here.iter().any(|start| line.starts_with(start)) && !line.contains(" -o ")
        };
        for line in examples.lines().map(str::trim).filter(is_plain) {
            let call = format!("set -e; halfbyte() {{ '{}' \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_halfbyte"));
            let output = Command::new("sh").args(["-c", &call]).current_dir(crate::common::root()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !said.contains("\"error\""), "{line}\n{said}");
            called += 1;
        }
    }
    assert!(called > 15, "{called}");
}

#[test]
fn data_that_is_wrong_does_not_name_the_help() {
    for call in [
        ["compile", "no/such.hb", "--target", "halu"].as_slice(),
        &["compile", "examples/axpy.hb", "--target", "halu", "--kernel", "none"],
        &["isa", "frob"],
        &["run", "examples/axpy.hb", "--target", "ir", "--items", "1", "--arg", "q=1"],
    ] {
        let called = halfbyte(call);
        assert_eq!(called.code, 2, "{}", called.err);
        assert!(called.err.starts_with("error: ") && !called.err.contains("--help"), "{}", called.err);
    }
    halfbyte(&["compile", "--no-such"]).fails(2, "For more information, try '--help'.");
}

#[test]
fn quiet_leaves_failures() {
    for place in [["-q", "check", "-"], ["check", "-", "--quiet"]] {
        let called = halfbyte_on(&place, KERNEL.as_bytes());
        assert_eq!((called.output(), called.err.as_str()), ("", ""));
        let called = halfbyte_on(&place, wrong().as_bytes());
        assert!(called.out.starts_with("FAILED <stdin>") && called.out.lines().count() == 1, "{}", called.out);
        called.fails(1, "error: ");
    }
    assert!(halfbyte_on(&["check", "-"], KERNEL.as_bytes()).output().ends_with("1 passed, 0 failed\n"));
    let test = format!("; test: isel halu\n{KERNEL}; check: LDG\n");
    assert_eq!(halfbyte_on(&["test", "-", "--quiet"], test.as_bytes()).output(), "");
    let called = halfbyte_on(&["test", "-", "--quiet"], test.replace("LDG", "NONE").as_bytes());
    assert!(called.out.starts_with("FAILED <stdin>:") && called.out.lines().count() == 1, "{}", called.out);
    assert_eq!(halfbyte(&["prove", "-q", "assembly::undefined"]).output(), "");
    // `-q` does not suppress the requested output.
    let called = halfbyte_on(&["compile", "-", "-q", "--target", "halu", "--stats"], KERNEL.as_bytes());
    assert!(called.output().contains("EXIT ;") && called.err.starts_with("@k: "), "{}", called.err);
}

const ESCAPE: &str = "\x1b[";

#[test]
fn colours_are_on_demand() {
    let data = ["compile", "tests/cli_front.rs", "--target", "halu"];
    let call = ["compile", "--no-such"];
    let with = |args: &[&str], more: &[&str], variables: &[(&str, &str)]| {
        let called = halfbyte_with(&[args, more].concat(), variables);
        assert_ne!(called.code, 0);
        called.err.contains(ESCAPE)
    };
    for args in [data.as_slice(), &call] {
        assert!(!with(args, &[], &[]), "no terminal");
        assert!(with(args, &["--color", "always"], &[]));
        assert!(with(args, &["--color=always"], &[("NO_COLOR", "1")]), "the call is stronger");
        assert!(with(args, &[], &[("CLICOLOR_FORCE", "1")]));
        assert!(!with(args, &["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
        assert!(!with(args, &["--color", "auto"], &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
    }
    halfbyte(&["--color", "purple", "isa"]).fails(2, "[possible values: auto, always, never]");
    // Output that other programs read has no colours.
    assert!(!halfbyte(&["--color=always", "isa", "HADD2"]).output().contains(ESCAPE));
}

/// Calls the program with a terminal as its output. Returns `None` if the program `script` is missing.
fn on_terminal(call: &str) -> Option<Called> {
    let mut script = Command::new("script");
    script.args(["-qec", &format!("{} {call}", env!("CARGO_BIN_EXE_halfbyte")), "/dev/null"]);
    let Ok(output) = script.current_dir(crate::common::root()).stdin(std::process::Stdio::null()).output() else {
        assert!(std::env::var_os("CI").is_none(), "there is no `script`");
        eprintln!("skipped: there is no `script`");
        return None;
    };
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(Called { code: output.status.code().unwrap_or(-1), err: out.clone(), out })
}

#[test]
#[cfg(target_os = "linux")]
fn binary_is_not_written_to_a_terminal() {
    let Some(object) = on_terminal("compile examples/axpy.hb --target halu --emit obj") else { return };
    object.fails(
        2,
        "an object file is binary, and is not written to a terminal; name a file with -o FILE, or write it to a pipe",
    );
    let run = "run examples/axpy.hb --target halu --items 1 --arg a=2.0 --arg x=[1.0] --arg y=[0.0] --out y=-";
    on_terminal(run)
        .unwrap()
        .fails(2, "a buffer is binary, and is not written to a terminal; name a file with --out y=FILE");
    assert!(on_terminal("compile examples/axpy.hb --target halu").unwrap().output().contains("EXIT ;"));
    assert!(
        on_terminal("compile README.md --target halu").unwrap().out.contains(ESCAPE),
        "messages there have colours"
    );
    // An object can be written to a pipe.
    let object = halfbyte(&["compile", "examples/axpy.hb", "--target", "halu", "--emit", "obj", "-o", "-"]);
    assert!(object.output().starts_with("\x7fELF"));
}

#[test]
fn options_that_would_be_ignored_are_refused() {
    let sm = "selects the SM version of PTX, but target";
    let run = ["run", "examples/axpy.hb", "--items", "1", "--arg", "a=1.0", "--arg", "x=[1.0]", "--arg", "y=[1.0]"];
    for target in ["halu", "vp1", "ir"] {
        halfbyte(&[&run[..], &["--target", target, "--sm", "75"]].concat()).fails(2, sm);
    }
    for engine in ["jit", "cuda"] {
        halfbyte(&[&run[..], &["--target", "ir", "--engine", engine]].concat())
            .fails(2, &format!("--engine {engine} is not valid with target `ir`, which is always evaluated"));
    }
    halfbyte(&[&run[..], &["--target", "ir", "--engine", "interp"]].concat()).output();
    for call in [
        ["compile", "examples/axpy.hb", "--target", "halu"].as_slice(),
        &["view", "examples/axpy.hb", "--target", "vp1"],
        &["explain", "examples/axpy.hb", "--at", "%r"],
        &["reduce", "examples/axpy.hb", "--target", "vp1"],
        &["random", "--count", "1", "--target", "halu"],
    ] {
        halfbyte(&[call, &["--sm", "75"]].concat()).fails(2, sm);
    }
    // If a call has several targets, `--sm` applies to PTX.
    halfbyte(&["check", "examples/axpy.hb", "--sm", "80", "--engine", "interp"]).output();
    halfbyte(&["compile", "examples/axpy.hb", "--target", "ptx", "--sm", "80"]).output();
    halfbyte(&["compile", "examples/axpy.hb", "--target", "ir"]).fails(2, "possible values: halu, vp1, ptx");
}

#[test]
fn every_command_rejects_files_without_kernels() {
    for text in ["", "; nothing but a kernel of truth\n"] {
        for call in [
            ["compile", "-", "--target", "halu"].as_slice(),
            &["compile", "-", "--target", "halu", "--emit", "obj", "-o", "-"],
            &["compile", "-", "--target", "vp1", "--emit", "ir"],
            &["compile", "-", "--target", "vp1", "--emit", "mach"],
            &["compile", "-", "--target", "ptx"],
            &["compile", "-", "--target", "ptx", "--stats"],
            &["run", "-", "--target", "halu", "--items", "1"],
            &["view", "-"],
            &["check", "-"],
            &["explain", "-", "--at", "%r"],
            &["reduce", "-"],
        ] {
            let called = halfbyte_on(call, text.as_bytes());
            called.fails(1, "error: the file has no kernel");
        }
        halfbyte_on(&["test", "-"], text.as_bytes()).fails(1, "the file has no test");
    }
    // Every kind of output can be written for a kernel, even if no passes run.
    for kind in ["ir", "lowered", "mach", "asm", "words", "listing"] {
        let call = ["compile", "-", "--target", "halu", "--emit", kind];
        let passes: &[&str] = if kind == "ir" { &[] } else { &["--passes", ""] };
        assert!(!halfbyte_on(&[&call[..], passes].concat(), KERNEL.as_bytes()).output().is_empty());
    }
    halfbyte_on(&["compile", "-", "--target", "ptx", "--passes", ""], KERNEL.as_bytes()).output();
}

#[test]
fn names_are_suggested() {
    let compile = ["compile", "examples/axpy.hb", "--target", "halu"];
    for (more, said) in [
        (["--kernel", "axpi"], "has no kernel `@axpi`; did you mean `@axpy`? It has @axpy"),
        (["--print-after", "canom"], "there is no step `canom`; did you mean `canon`?"),
        (["--print-after", "isell"], "there is no step `isell`; did you mean `isel`?"),
        (["--passes", "gvm"], "unknown pass `gvm`, did you mean `gvn`?"),
    ] {
        halfbyte(&[&compile[..], &more].concat()).fails(2, said);
    }
    let kernel = ["--kernel", "axpi"];
    for call in [
        ["view", "examples/axpy.hb"].as_slice(),
        &["explain", "examples/axpy.hb", "--at", "%r"],
        &["reduce", "examples/axpy.hb"],
        &["run", "examples/axpy.hb", "--target", "halu", "--items", "1"],
    ] {
        halfbyte(&[call, &kernel].concat()).fails(2, "did you mean `@axpy`?");
    }
    let folder = tempfile::tempdir().unwrap();
    let ptx = folder.path().join("k.ptx");
    let text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\tretn;\n}\n";
    std::fs::write(&ptx, text).unwrap();
    let called = halfbyte(&["compile", &ptx.display().to_string(), "--target", "halu"]);
    called.fails(1, "unknown instruction `retn`");
    called.fails(1, "^^^^ expected an instruction; did you mean `ret`?");
    halfbyte(&["prove", "int_mas"]).fails(2, "no subject has int_mas in its name; did you mean `int_mad`?");
    halfbyte(&["search", "vmin4.u32.u32.u32.sot"]).fails(2, "did you mean `vmin4.u32.u32.u32.sat`?");
}

#[test]
fn shells_complete_every_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = halfbyte(&["completions", shell]).output().to_owned();
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
        assert!(script.contains("print-after-all"), "{shell}");
    }
    halfbyte(&["completions", "csh"]).fails(2, "[possible values: bash, elvish, fish, powershell, zsh]");
    if Command::new("bash").arg("--version").output().is_ok() {
        let script = halfbyte(&["completions", "bash"]).out;
        let complete =
            "COMP_WORDS=(halfbyte comp); COMP_CWORD=1; _halfbyte halfbyte comp halfbyte; echo \"${COMPREPLY[@]}\"";
        let output = Command::new("bash").args(["-c", &format!("{script}\n{complete}")]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "compile completions");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let page = halfbyte(&["man"]).output().to_owned();
    assert!(page.contains(".TH halfbyte 1") && page.contains("halfbyte\\-check(1)"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let called = halfbyte(&["man", "-o", &pages.display().to_string()]);
    assert_eq!(called.output(), "");
    assert_eq!(std::fs::read_to_string(pages.join("halfbyte.1")).unwrap(), page);
    for command in COMMANDS {
        let page = std::fs::read_to_string(pages.join(format!("halfbyte-{command}.1"))).unwrap();
        assert!(page.contains("Example"), "{page}");
        assert_eq!(halfbyte(&["man", command]).output(), page);
    }
    halfbyte(&["man", "chek"]).fails(2, "there is no command `chek`; did you mean `check`?");
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    halfbyte(&["man", "-o", &Path::new(&file).join("below").display().to_string()]).fails(2, "file/below: ");
}

/// If `--target` is a common name of a GPU target, the error suggests the correct option.
#[test]
fn suggests_ptx_for_common_gpu_names() {
    let axpy = "examples/axpy.hb";
    halfbyte(&["compile", axpy, "--target", "sm_86"]).fails(2, "write '--target ptx --sm 86'");
    halfbyte(&["compile", axpy, "--target", "CUDA"]).fails(2, "write '--target ptx'");
    halfbyte(&["run", axpy, "--target", "nvptx", "--items", "1"]).fails(2, "write '--target ptx'");
    halfbyte(&["compile", axpy, "--target", "vp2"]).fails(2, "possible values: halu, vp1, ptx");
    let [plain, named] =
        ["86", "sm_86"].map(|sm| halfbyte(&["compile", axpy, "--target", "ptx", "--sm", sm]).output().to_owned());
    assert_eq!(plain, named);
}
