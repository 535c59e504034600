//! Tests of the command `exec`, with shell scripts as programs. The scripts write the reports of the driver library
//! themselves, so that no test loads the library.
#![cfg(unix)]

use std::fs::{self, create_dir_all};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::Called;

/// Variables that the environment of the tests may have, and that change the environment of the program.
const VARIABLES: [&str; 15] = [
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "HALFBYTE_DRIVER",
    "LD_PRELOAD",
    "HALFBYTE_NVJITLINK",
    "TRITON_PTXAS_PATH",
    "TRITON_PTXAS_BLACKWELL_PATH",
    "CUDA_PATH",
    "CUDA_HOME",
    "HALFBYTE_RACES",
    "HALFBYTE_SM",
    "HALFBYTE_SMS",
    "HALFBYTE_MAX_MEMORY",
    "HALFBYTE_KEEP_GOING",
    "HALFBYTE_STRICT",
];

/// A folder with an empty file in place of the driver library.
struct Library(TempDir);

impl Library {
    fn new() -> Library {
        let folder = tempfile::tempdir().unwrap();
        create_library(folder.path());
        Library(folder)
    }

    /// Returns the path of the folder as the program sees it.
    fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    /// Returns a call of `exec` with options, without a program.
    fn exec(&self, options: &[&str]) -> Command {
        let mut command = without_variables(Path::new(env!("CARGO_BIN_EXE_halfbyte")));
        command.arg("exec").arg("--library").arg(self.0.path()).args(options);
        command
    }

    /// Runs a shell script under `exec`.
    fn run(&self, options: &[&str], script: &str) -> Called {
        called(self.exec(options).args(["--", "sh", "-c", script]))
    }
}

/// Creates files in place of the driver library and its link.
fn create_library(folder: &Path) {
    create_dir_all(folder).unwrap();
    for name in ["libcuda.so.1", "libcuda.so"] {
        fs::write(folder.join(name), "").unwrap();
    }
}

/// Returns a call of a program without the variables in `VARIABLES`.
fn without_variables(program: &Path) -> Command {
    let mut command = Command::new(program);
    for name in VARIABLES {
        command.env_remove(name);
    }
    command
}

fn called(command: &mut Command) -> Called {
    let output = command.stdin(Stdio::null()).output().unwrap();
    Called {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns shell commands that write the report of a process.
fn report(process: u32, report: &Value) -> String {
    format!("cat > \"$HALFBYTE_REPORT_DIR/report-{process}.json\" << 'END'\n{report}\nEND\n")
}

/// Returns the report of a process with one error.
fn with_race() -> Value {
    let race = json!({
        "kind": "race", "kernel": "add", "message": "two items store to `out`", "display": "error: ..\n  | line",
        "file": "add.py", "line": 12, "count": 3,
    });
    json!({ "launches": 2, "kernels": ["add", "mul"], "errors": [race], "warnings": [] })
}

/// Returns the report of a process with one warning.
fn with_warning() -> Value {
    let padding = json!({ "kind": "padding", "kernel": "sub", "message": "reads past its allocation", "count": 1 });
    json!({ "launches": 5, "kernels": ["sub", "add"], "warnings": [padding] })
}

#[test]
fn the_program_gets_its_arguments_and_its_exit_code_is_returned() {
    let library = Library::new();
    let echo = ["sh", "-c", "echo \"$0 $*\"", "-x", "--sm", "--", "y"];
    for separator in [["--"].as_slice(), &[]] {
        let said = called(library.exec(&["--sm", "80"]).args(separator).args(echo));
        assert_eq!(said.output(), "-x --sm -- y\n");
    }
    assert_eq!(library.run(&[], "exit 7").code, 7);
    let killed = library.run(&[], "kill -9 $$");
    killed.fails(128 + 9, "error: signal 9 ended the program");
    library.run(&[], "kill -INT $$").fails(130, "interrupted");
}

#[test]
fn the_program_finds_the_driver_library_first() {
    let library = Library::new();
    let print = "echo \"$LD_LIBRARY_PATH\"";
    let first = library.path().display().to_string();
    let said = library.run(&[], print).output().trim().to_owned();
    assert!(said == first || said.starts_with(&format!("{first}:/")), "{said}");
    let said = called(library.exec(&[]).env("LD_LIBRARY_PATH", "/own:/other").args(["--", "sh", "-c", print]));
    let said = said.output().trim();
    assert!(said.starts_with(&format!("{first}:")) && said.ends_with(":/own:/other"), "{said}");
}

/// The driver library of a Python wheel has one name, because a wheel cannot contain links.
#[test]
fn a_missing_name_of_the_driver_library_becomes_a_link() {
    let library = Library::new();
    fs::remove_file(library.path().join("libcuda.so")).unwrap();
    let script = "IFS=:; set -- $LD_LIBRARY_PATH; echo \"$1\"; readlink \"$2/libcuda.so\"; echo \"$2\"";
    let said = library.run(&[], script).output().to_owned();
    let lines: Vec<&str> = said.lines().collect();
    let [first, target, links] = lines[..] else { panic!("three lines: {said}") };
    let folder = library.path();
    assert_eq!((first, target), (folder.to_str().unwrap(), folder.join("libcuda.so.1").to_str().unwrap()));
    assert!(!Path::new(links).exists(), "{links}");
}

/// A Python program finds the plug-ins before its own modules.
#[test]
fn plug_ins_are_found_by_python() {
    let library = Library::new();
    let print = "echo \"${PYTHONPATH-none}\"; echo \"$HALFBYTE_DRIVER\"";
    let folder = library.path().display().to_string();
    assert_eq!(library.run(&[], print).output(), format!("none\n{folder}\n"));
    create_dir_all(library.path().join("python")).unwrap();
    fs::write(library.path().join("python/sitecustomize.py"), "").unwrap();
    assert_eq!(library.run(&[], print).output(), format!("{folder}/python\n{folder}\n"));
    let said = called(library.exec(&[]).env("PYTHONPATH", "/own:").args(["--", "sh", "-c", print]));
    assert_eq!(said.output(), format!("{folder}/python:/own:\n{folder}\n"));
}

/// The Python package names its driver library by a variable. `--library` has precedence.
#[test]
fn the_library_is_named_by_a_variable() {
    let [library, other] = [Library::new(), Library::new()];
    let print = "echo \"$HALFBYTE_DRIVER\"";
    let program = Path::new(env!("CARGO_BIN_EXE_halfbyte"));
    let call = |folder: &Path| {
        let mut command = without_variables(program);
        called(command.args(["exec", "--", "sh", "-c", print]).env("HALFBYTE_DRIVER", folder))
    };
    assert_eq!(call(&library.path()).output().trim(), library.path().to_str().unwrap());
    let said = called(other.exec(&[]).env("HALFBYTE_DRIVER", library.path()).args(["--", "sh", "-c", print]));
    assert_eq!(said.output().trim(), other.path().to_str().unwrap());
    let empty = tempfile::tempdir().unwrap();
    let missing = format!("error: HALFBYTE_DRIVER={}: the folder has no libcuda.so.1", empty.path().display());
    call(empty.path()).fails(2, &missing);
}

/// Creates a file that can be executed. Another process writes the file, because a file that a thread of this process
/// writes cannot be executed while other threads start programs.
fn create_script(path: &Path, text: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-c", "printf '%s' \"$1\" > \"$0\" && chmod +x \"$0\""]).arg(path).arg(text);
    assert!(shell.status().unwrap().success());
}

#[test]
fn wheels_give_their_libraries_and_headers() {
    let library = Library::new();
    let folder = tempfile::tempdir().unwrap();
    let modules = folder.path().join("modules");
    for wheel in ["cu13/lib", "cu13/include", "cuda_nvrtc/lib", "empty"] {
        create_dir_all(modules.join("nvidia").join(wheel)).unwrap();
    }
    fs::write(modules.join("nvidia/cu13/include/cuda_fp16.h"), "").unwrap();
    // This interpreter prints its folders of modules, whatever the code is.
    let bin = folder.path().join("bin");
    create_dir_all(&bin).unwrap();
    create_script(&bin.join("python3"), &format!("#!/bin/sh\necho\necho {}\n", modules.display()));
    let path = std::env::join_paths([bin.as_path(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let call = |variables: &[(&str, &str)]| {
        let print = "echo \"$LD_LIBRARY_PATH|$CUDA_PATH|$CUDA_HOME\"";
        let mut command = library.exec(&[]);
        command.env("PATH", &path).envs(variables.iter().copied()).args(["--", "sh", "-c", print]);
        called(&mut command).output().trim().to_owned()
    };
    let nvidia = modules.join("nvidia").display().to_string();
    let libraries = format!("{}:{nvidia}/cu13/lib:{nvidia}/cuda_nvrtc/lib", library.path().display());
    assert_eq!(call(&[]), format!("{libraries}|{nvidia}/cu13|{nvidia}/cu13"));
    assert_eq!(call(&[("CUDA_PATH", "/opt/cuda")]), format!("{libraries}|/opt/cuda|{nvidia}/cu13"));
}

/// The program finds the stand-ins in the folder of the driver library before the tools that they replace.
#[test]
fn stand_ins_replace_tools() {
    let library = Library::new();
    let folder = library.path();
    let print = "echo \"${TRITON_PTXAS_PATH-none}|${LD_PRELOAD-none}\"; command -v ptxas";
    let without = called(library.exec(&[]).env("PATH", "/usr/bin:/bin").args(["--", "sh", "-c", print]));
    assert!(without.out.starts_with("none|none\n"), "{}", without.out);
    create_dir_all(folder.join("bin")).unwrap();
    create_script(&folder.join("bin/ptxas"), "#!/bin/sh\necho assembled\n");
    let said = called(library.exec(&[]).env("PATH", "/usr/bin:/bin").args(["--", "sh", "-c", print]));
    let assembler = folder.join("bin/ptxas").display().to_string();
    assert_eq!(said.output(), format!("{assembler}|none\n{assembler}\n"));
    assert_eq!(called(library.exec(&[]).args(["--", "ptxas"])).output(), "assembled\n");
}

#[test]
fn options_become_variables() {
    let library = Library::new();
    let print = "env | grep '^HALFBYTE_' | grep -v '^HALFBYTE_REPORT_DIR=' | sort; test -d \"$HALFBYTE_REPORT_DIR\"";
    let options =
        ["--races", "--sm", "80", "--sms", "4", "--max-memory", "2G", "--keep-going", "--strict", "--error-exitcode=9"];
    let expected = [
        "HALFBYTE_KEEP_GOING=1",
        "HALFBYTE_MAX_MEMORY=2147483648",
        "HALFBYTE_RACES=on",
        "HALFBYTE_SM=80",
        "HALFBYTE_SMS=4",
        "HALFBYTE_STRICT=1",
    ];
    let without = library.run(&[], print).output().to_owned();
    let with = library.run(&options, print).output().to_owned();
    for line in expected {
        assert!(!without.lines().any(|said| said == line), "{line} is in:\n{without}");
        assert!(with.lines().any(|said| said == line), "{line} is not in:\n{with}");
    }
    assert!(library.run(&["--races=strict"], print).output().contains("HALFBYTE_RACES=strict\n"));
    library.run(&["--sm", "81"], "").fails(2, "expected one of 75, 80");
    library.run(&["--sms", "0"], "").fails(2, "invalid value '0' for '--sms <N>'");
    library.run(&["--max-memory", "much"], "").fails(2, "expected bytes, such as 512M or 2G");
}

#[test]
fn cache_folders_are_temporary() {
    let library = Library::new();
    let names = "PYCUDA_CACHE_DIR CUPY_CACHE_DIR NUMBA_CACHE_DIR TRITON_CACHE_DIR";
    let script = format!(
        "for name in {names}; do eval folder=\"\\$$name\"; test -d \"$folder\" || exit 3; echo \"$folder\"; done\n\
         echo kernel > \"$CACHEDB\" && echo \"$CACHEDB\"; echo \"$HALFBYTE_REPORT_DIR\""
    );
    let said = library.run(&[], &script).output().to_owned();
    let paths: Vec<&Path> = said.lines().map(Path::new).collect();
    assert_eq!(paths.len(), 6, "{said}");
    assert!(paths.iter().all(|path| path.is_absolute() && !path.exists()), "{said}");
    // Caches that have no kernels, such as those of models, stay in use.
    let said = called(library.exec(&[]).env("XDG_CACHE_HOME", "/own").args(["--", "sh", "-c", "echo $XDG_CACHE_HOME"]));
    assert_eq!(said.output(), "/own\n");
}

#[test]
fn an_error_of_a_kernel_changes_the_exit_code_of_success() {
    let library = Library::new();
    let error = report(1, &with_race());
    let failed = library.run(&[], &error);
    failed.fails(1, "error: kernel `add`: two items store to `out`; 3 times\n  --> add.py:12\n");
    failed.fails(1, "halfbyte exec: 2 launches of 2 kernels (add, mul); errors: 1 race\n");
    library.run(&["--error-exitcode", "42"], &error).fails(42, "error: kernel `add`");
    library.run(&["--error-exitcode", "0"], &error).fails(0, "error: kernel `add`");
    library.run(&[], &format!("{error}exit 5")).fails(5, "error: kernel `add`");
    // `-q` suppresses the summary only.
    let quiet = library.run(&["-q"], &error);
    quiet.fails(1, "error: kernel `add`");
    assert!(!quiet.err.contains("halfbyte exec:"), "{}", quiet.err);

    let warned = library.run(&[], &report(1, &with_warning()));
    warned.fails(0, "warning: kernel `sub`: reads past its allocation\n");
    warned.fails(0, "5 launches of 2 kernels (add, sub); no errors; warnings: 1 load past an allocation\n");
    library.run(&[], "true").fails(0, "halfbyte exec: the program did not use the driver library\n");
}

#[test]
fn the_reports_of_all_processes_are_merged() {
    let library = Library::new();
    let script =
        [report(1, &with_race()), report(2, &with_warning()), report(3, &with_race()), "echo own\n".into()].concat();
    let mut race = with_race()["errors"][0].clone();
    race["count"] = 6.into();
    let expected = json!({
        "processes": 3,
        "launches": 9,
        "kernels": ["add", "mul", "sub"],
        "errors": [race],
        "warnings": with_warning()["warnings"],
        "approximations": [],
    });
    let said = library.run(&["--report", "-"], &script);
    assert_eq!(said.code, 1, "{}", said.err);
    let (own, json) = said.out.split_once('\n').unwrap();
    assert_eq!((own, serde_json::from_str::<Value>(json).unwrap()), ("own", expected.clone()));

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let said = library.run(&["--report", file.to_str().unwrap()], &script);
    assert_eq!((said.code, said.out.as_str()), (1, "own\n"), "{}", said.err);
    assert_eq!(serde_json::from_slice::<Value>(&fs::read(&file).unwrap()).unwrap(), expected);
    // The program does not run if its report cannot be written.
    let missing = folder.path().join("missing/report.json");
    let said = library.run(&["--report", missing.to_str().unwrap()], "echo own");
    said.fails(2, "missing/report.json: ");
    assert_eq!(said.out, "");
}

/// The driver library and the Python plug-ins of a process write a report each.
#[test]
fn a_process_may_have_two_reports() {
    let library = Library::new();
    let of_python = report(1, &with_race()).replace("report-1.json", "report-1-python.json");
    let said = library.run(&["--report", "-", "-q"], &[report(1, &with_warning()), of_python].concat());
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&found["processes"], &found["launches"]), (&json!(1), &json!(7)), "{found}");
}

#[test]
fn a_malformed_report_is_ignored() {
    let library = Library::new();
    let cut = "printf '{\"launches\": 1, \"errors\": [' > \"$HALFBYTE_REPORT_DIR/report-77.json\"\n";
    // Files with other names may be unfinished reports.
    let other = "echo > \"$HALFBYTE_REPORT_DIR/report-78.json.part\"\n";
    let warned = library.run(&[], &[cut, other, &report(1, &with_warning())].concat());
    warned.fails(0, "warning: the report of process 77 is ignored: EOF while parsing");
    warned.fails(0, "halfbyte exec: 5 launches of 2 kernels");
    assert_eq!(warned.err.matches("is ignored").count(), 1, "{}", warned.err);
    // Members that are missing or unknown are no error.
    let new = json!({ "launches": 1, "kernels": ["k"], "errors": [{ "message": "m", "column": 3 }], "later": [] });
    library.run(&[], &report(1, &new)).fails(1, "error: m\n");
}

#[test]
fn the_program_and_the_library_must_exist() {
    let library = Library::new();
    let missing = called(library.exec(&[]).args(["--", "no-such-program", "x"]));
    missing.fails(2, "error: cannot start `no-such-program`: ");
    missing.fails(2, "; give the path of the program, or a program in PATH");
    let file = library.path().join("libcuda.so.1");
    called(library.exec(&[]).arg("--").arg(&file)).fails(2, "; it must be an executable file");
    called(&mut library.exec(&[])).fails(2, "<PROGRAM>...");
    called(library.exec(&["--race"]).arg("true")).fails(2, "unexpected argument '--race' found");

    let empty = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_halfbyte"));
    let said = called(command.arg("exec").arg("--library").arg(empty.path()).args(["--", "echo", "own"]));
    said.fails(2, ": the folder has no libcuda.so.1");
    assert_eq!(said.out, "");
}

/// The driver library is found in the folders near the program where an installation and a build put it.
#[test]
fn the_library_is_found_near_the_program() {
    let built = Path::new(env!("CARGO_BIN_EXE_halfbyte"));
    // A hard link is another path of the same program, in contrast to a symbolic link.
    let folder = tempfile::tempdir_in(built.parent().unwrap()).unwrap();
    let prefix = folder.path().canonicalize().unwrap();
    let bin = prefix.join("bin");
    create_dir_all(&bin).unwrap();
    let program = bin.join("halfbyte");
    fs::hard_link(built, &program).unwrap();
    let print = "echo \"${LD_LIBRARY_PATH%%:*}\"";
    let call = || called(without_variables(&program).args(["exec", "--", "sh", "-c", print]));
    let missing = call();
    missing.fails(2, "error: the driver library libcuda.so.1 is not installed; give its folder with --library DIR");
    // An earlier folder has precedence.
    for library in ["bin/halfbyte-cuda", "lib/halfbyte-cuda", "bin/lib/halfbyte-cuda"] {
        let library = prefix.join(library);
        assert!(missing.err.contains(&library.display().to_string()), "{}", missing.err);
        create_library(&library);
        assert_eq!(call().output().trim(), library.to_str().unwrap());
    }
}

/// Starts a shell script under `exec`, waits until the script prints `ready`, and sends a signal to `exec`.
fn signalled(library: &Library, script: &str, signal: &str) -> Child {
    let mut command = library.exec(&[]);
    command.args(["--", "sh", "-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    child
}

/// The report of the program is printed after the signal.
#[test]
fn signals_are_forwarded_to_the_program() {
    let library = Library::new();
    let wait = format!("{}echo ready; exec sleep 60", report(1, &with_race()));
    let output = signalled(&library, &wait, "-TERM").wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(128 + 15), "{err}");
    assert!(err.contains("error: signal 15 ended the program") && err.contains("errors: 1 race"), "{err}");
    // The program may handle the signal. The shell waits in short steps, because it handles a signal after a command.
    let handle = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    assert_eq!(signalled(&library, handle, "-TERM").wait().unwrap().code(), Some(7));
}

/// After Ctrl-C, `exec` waits until the program has ended.
#[test]
fn ctrl_c_is_left_to_the_program() {
    let library = Library::new();
    // The signal reaches only `exec` here; a terminal sends it to the program, too.
    let mut child = signalled(&library, "echo ready; read line; exit 5", "-INT");
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
}
