//! The Python environment of a program, and the NVIDIA wheels that are installed there.

use std::ffi::{OsStr, OsString};
use std::fs::{File, read_dir};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Python code that prints the folders of modules, one per line.
const PRINT_FOLDERS: &str = "import sys; print('\\n'.join(sys.path))";

/// Maximum length of the first line of a script, in bytes.
const MAX_LINE: u64 = 4096;

/// Returns the folders of the NVIDIA wheels that the Python of a program finds, such as `nvidia/cu13` and
/// `nvidia/cuda_nvrtc`. There are none if the program has no Python.
pub(super) fn wheels(program: &OsStr) -> Vec<PathBuf> {
    let folders = interpreters(program).iter().find_map(|python| module_folders(python)).unwrap_or_default();
    folders.iter().flat_map(|folder| wheels_in(folder)).collect()
}

/// Returns the names of the Python interpreters that a program may use: the program itself, the interpreter of a
/// script, and those in PATH.
fn interpreters(program: &OsStr) -> Vec<OsString> {
    let own = if is_python(Path::new(program)) {
        Some(program.to_owned())
    } else {
        in_path(program).and_then(|script| interpreter_of(&script))
    };
    own.into_iter().chain(["python3", "python"].map(OsString::from)).collect()
}

/// Returns `true` if a program is a Python interpreter by its name, such as `python3.12`.
fn is_python(program: &Path) -> bool {
    let name = program.file_name().and_then(OsStr::to_str);
    let version = name.and_then(|name| name.strip_prefix("python"));
    // `t` is the suffix of the free-threaded interpreter.
    version.is_some_and(|version| version.trim_end_matches('t').chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// Returns the path of a program, which is searched for in PATH if its name has no folder.
fn in_path(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if path.components().count() > 1 || path.is_absolute() {
        return Some(path.to_owned());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|path| path.is_file())
}

/// Returns the Python interpreter that the first line of a script names, if any: `#!/venv/bin/python` or
/// `#!/usr/bin/env python3`.
fn interpreter_of(script: &Path) -> Option<OsString> {
    if !script.is_file() {
        return None;
    }
    let mut line = String::new();
    // Reading fails for programs that are not text files.
    BufReader::new(File::open(script).ok()?).take(MAX_LINE).read_line(&mut line).ok()?;
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    words.find(|word| is_python(Path::new(word))).map(OsString::from)
}

/// Returns the folders in which a Python interpreter finds modules. Returns `None` if it cannot be run.
fn module_folders(python: &OsStr) -> Option<Vec<PathBuf>> {
    let mut command = Command::new(python);
    let output = command.args(["-c", PRINT_FOLDERS]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let mut folders = Vec::new();
    // The list contains the current folder as an empty line, and may contain a folder twice.
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let folder = PathBuf::from(line);
        if folder.is_absolute() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    Some(folders)
}

/// Returns the folders of the NVIDIA wheels in a folder of modules, sorted by name.
fn wheels_in(folder: &Path) -> Vec<PathBuf> {
    let entries = read_dir(folder.join("nvidia")).into_iter().flatten().flatten();
    let mut wheels: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    wheels.sort();
    wheels
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    #[test]
    fn recognises_interpreters_by_their_names() {
        for name in ["python", "python3", "/venv/bin/python3.12", "python3.13t"] {
            assert!(is_python(Path::new(name)), "{name}");
        }
        for name in ["python-config", "python_app", "ipython", "pytest", "", "/"] {
            assert!(!is_python(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn finds_the_interpreter_of_a_script() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("pytest");
        let named = |text: &[u8]| {
            write(&script, text).unwrap();
            interpreter_of(&script)
        };
        assert_eq!(named(b"#!/venv/bin/python3\nimport sys\n"), Some("/venv/bin/python3".into()));
        assert_eq!(named(b"#!/usr/bin/env -S python3.12 -u\n"), Some("python3.12".into()));
        assert_eq!(named(b"#!/bin/sh\npython3 x.py\n"), None);
        assert_eq!(named(b"\x7fELF\xff\xfe\n"), None);
        assert_eq!(named(b""), None);
        assert_eq!(interpreter_of(folder.path()), None);
        assert_eq!(interpreter_of(&folder.path().join("missing")), None);
    }

    #[test]
    fn lists_the_wheels_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let nvidia = folder.path().join("nvidia");
        assert!(wheels_in(folder.path()).is_empty());
        for name in ["cuda_nvrtc", "cu13"] {
            create_dir_all(nvidia.join(name)).unwrap();
        }
        write(nvidia.join("__init__.py"), "").unwrap();
        assert_eq!(wheels_in(folder.path()), [nvidia.join("cu13"), nvidia.join("cuda_nvrtc")]);
    }

    #[test]
    fn a_missing_interpreter_has_no_folders() {
        assert_eq!(module_folders(OsStr::new("/no/such/python")), None);
    }
}
