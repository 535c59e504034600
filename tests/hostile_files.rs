//! Tests of commands that open files, with folders that contain hostile files. Also tests that
//! outputs do not overwrite inputs.
#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Called, halfbyte, halfbyte_on};

const LIB: &str = "fn one() -> i32 { 1 }\n";
const KERNEL: &str = "kernel k(y: out i32) {\n  y[item_id()] = 1\n}\n; run: halu: @k items=1 -> y=[1]\n";

/// Names of the hostile files, and the message that each of them must cause.
const HOSTILE: [(&str, &str); 9] = [
    ("out", "outside"),
    ("passwd", "outside"),
    ("zero", "outside"),
    ("loop", "symbolic links"),
    ("dangling", "No such file"),
    ("pipe", "regular file"),
    ("socket", "regular file"),
    ("sparse", "at most"),
    ("bytes", "UTF-8"),
];

/// Creates a folder `in` with hostile files of the given extension. Returns the folder that
/// contains `in`, and the socket that is one of the files.
fn tree(extension: &str) -> (tempfile::TempDir, UnixListener) {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    fs::create_dir(&inside).unwrap();
    fs::write(folder.path().join("secret"), LIB).unwrap();
    let at = |name: &str| inside.join(format!("{name}.{extension}"));
    symlink("../secret", at("out")).unwrap();
    symlink("/etc/passwd", at("passwd")).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    symlink(at("loop"), at("loop")).unwrap();
    symlink("nothing", at("dangling")).unwrap();
    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let socket = UnixListener::bind(at("socket")).unwrap();
    fs::File::create(at("sparse")).unwrap().set_len(1 << 42).unwrap();
    fs::write(at("bytes"), [0xff, 0xfe, 0x00]).unwrap();
    (folder, socket)
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Calls the program, and asserts that it ends soon and without a panic.
#[track_caller]
fn ends(args: &[&str], input: &str) -> Called {
    let start = Instant::now();
    let called = halfbyte_on(args, input.as_bytes());
    assert!(start.elapsed() < Duration::from_secs(20), "{args:?} took {:?}", start.elapsed());
    assert!((0..=2).contains(&called.code) && !called.err.contains("panicked"), "{args:?}: {}", called.err);
    called
}

#[test]
fn no_include_leaves_the_folder_or_waits() {
    let (folder, _socket) = tree("hb");
    let inside = folder.path().join("in");
    let kernel = inside.join("k.hb");
    let commands: [&[&str]; 7] = [
        &["check"],
        &["test"],
        &["compile", "--target", "halu"],
        &["explain", "--at", "2"],
        &["view"],
        &["quality"],
        &["run", "--target", "halu", "--items", "1", "--timeout", "2", "--max-memory", "300M"],
    ];
    for (name, said) in HOSTILE {
        fs::write(&kernel, format!("include \"{name}.hb\"\n{KERNEL}")).unwrap();
        let said = match said {
            "outside" => "a file in the folder of this text, after symbolic links are resolved",
            said => said,
        };
        for command in commands {
            let called = ends(&[command, &[text(&kernel)]].concat(), "");
            let message = called.err.clone() + &called.out;
            let is_said = message.contains(&format!("`{name}.hb` cannot be included")) && message.contains(said);
            assert!(called.code != 0 && is_said, "{command:?} {name}: {message}");
            assert!(!message.contains("root:"), "{message}");
        }
    }
}

#[test]
fn no_value_leaves_the_folder_or_waits() {
    let (folder, _socket) = tree("bin");
    let kernel = folder.path().join("in/k.hb");
    for (name, said) in HOSTILE.iter().filter(|(name, _)| *name != "bytes") {
        let run = format!("; run: halu: @k items=1 x=@{name}.bin -> y=[1]\n");
        fs::write(&kernel, format!("kernel k(x: in i8, y: out i32) {{\n  y[item_id()] = 1\n}}\n{run}")).unwrap();
        for command in [&["check"][..], &["reduce", "--time", "5"]] {
            let called = ends(&[command, &[text(&kernel)]].concat(), "");
            let message = called.err.clone() + &called.out;
            assert!(called.code == 1 && message.contains(said), "{command:?} {name}: {message}");
        }
    }
}

#[test]
fn folders_of_hostile_files_are_refused_file_by_file() {
    for (name, said) in HOSTILE {
        let (folder, _socket) = tree("hb");
        let inside = folder.path().join("in");
        for (other, _) in HOSTILE.iter().filter(|(other, _)| *other != name) {
            fs::remove_file(inside.join(format!("{other}.hb"))).unwrap();
        }
        for command in [&["check"][..], &["test"], &["quality"], &["fmt", "--check"]] {
            let called = ends(&[command, &[text(&inside)]].concat(), "");
            let message = called.err.clone() + &called.out;
            let is_said = message.contains(&format!("{name}.hb")) && message.contains(said);
            assert!(called.code != 0 && is_said, "{command:?} {name}: {message}");
        }
    }
}

#[test]
fn trees_with_strange_names_end() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("in");
    fs::create_dir_all(inside.join("folder.hb/below")).unwrap();
    symlink("..", inside.join("folder.hb/below/up")).unwrap();
    symlink(&inside, inside.join("folder.hb/again.hb")).unwrap();
    fs::write(inside.join(OsStr::from_bytes(b"\xff\xfe.hb")), KERNEL).unwrap();
    fs::write(inside.join("new\nline.hb"), KERNEL).unwrap();
    for command in [&["check"][..], &["quality"], &["fmt", "--check"]] {
        let called = ends(&[command, &[text(&inside)]].concat(), "");
        // A link to a folder is not a regular file.
        assert!(called.code != 0 && (called.err + &called.out).contains("regular file"), "{command:?}");
    }
    fs::remove_file(inside.join("folder.hb/again.hb")).unwrap();
    assert_eq!(ends(&["check", text(&inside)], "").code, 0);
    fs::set_permissions(inside.join("folder.hb/below"), fs::Permissions::from_mode(0o0)).unwrap();
    let called = ends(&["check", text(&inside)], "");
    // The superuser can read the folder in spite of its permissions.
    assert!(called.code == 0 || called.err.contains("folder.hb/below: Permission denied"), "{}", called.err);
    fs::set_permissions(inside.join("folder.hb/below"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn lines_of_launches_name_regular_files() {
    let (folder, _socket) = tree("ptx");
    let inside = folder.path().join("in");
    let line = |path: &Path| format!("{{\"file\": \"{}\", \"items\": 1, \"args\": [], \"expect\": []}}\n", text(path));
    for (name, said) in HOSTILE {
        let path = inside.join(format!("{name}.ptx"));
        let launched = ends(&["launch", "--json", "--timeout", "2"], &line(&path)).out;
        let is_text = matches!(name, "out" | "passwd");
        let said = match said {
            "outside" => "regular file",
            "at most" => "the limit is 67108864",
            said => said,
        };
        assert!(launched.contains(if is_text { "\"parse\"" } else { said }), "{name}: {launched}");
        // The lines of a corpus may come from an untrusted source, so they may only name files in
        // the folder of the corpus.
        let corpus = inside.join("lines.jsonl");
        fs::write(&corpus, line(&path)).unwrap();
        let counted = ends(&["corpus", text(&corpus)], "");
        assert_eq!(counted.code, 1, "{name}: {}", counted.out);
        assert!(!counted.out.contains("root:"), "{}", counted.out);
    }
    let corpus = inside.join("lines.jsonl");
    for name in ["out", "passwd", "zero"] {
        fs::write(&corpus, line(&inside.join(format!("{name}.ptx")))).unwrap();
        let counted = ends(&["corpus", text(&corpus)], "").out;
        assert!(counted.contains("the file is outside of"), "{name}: {counted}");
    }
}

/// Creates a file, a symbolic link to it, and a hard link to it.
fn names(folder: &Path) -> [PathBuf; 3] {
    let [file, link, other] = ["k.hb", "link.o", "other.o"].map(|name| folder.join(name));
    fs::write(&file, KERNEL).unwrap();
    symlink("k.hb", &link).unwrap();
    fs::hard_link(&file, &other).unwrap();
    [file, link, other]
}

#[test]
fn no_output_destroys_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let names = names(folder.path());
    let file = text(&names[0]);
    let object = folder.path().join("k.o");
    let values = folder.path().join("x.bin");
    fs::write(&values, [1, 0, 0, 0]).unwrap();
    for output in &names {
        let output = text(output);
        let out = format!("y={output}");
        let calls: [&[&str]; 8] = [
            &["compile", file, "--target", "halu", "-o", output],
            &["compile", file, "--target", "halu", "--emit", "obj", "-o", output],
            &["compile", file, "--target", "native", "--emit", "obj", "-o", text(&object), "--header", output],
            &["view", file, "-o", output],
            &["quality", file, "-o", output],
            &["reduce", file, "-o", output],
            &["check", file, "--junit", output],
            &["test", file, "--junit", output],
        ];
        for call in calls {
            halfbyte(call).fails(2, "; write the output to another file");
            assert_eq!(fs::read_to_string(file).unwrap(), KERNEL, "{call:?}");
        }
        // `--out` must not be a file with the extension of a kernel, nor any other file that the call reads.
        let called = halfbyte(&["run", file, "--target", "halu", "--items", "1", "--out", &out]);
        called.fails(
            2,
            if output.ends_with(".hb") { "a kernel's text is not written" } else { "the output would overwrite" },
        );
        assert_eq!(fs::read_to_string(file).unwrap(), KERNEL);
    }
    let inout = folder.path().join("x.hb");
    fs::write(&inout, "kernel k(x: inout i32) {\n  x[item_id()] = 1\n}\n").unwrap();
    let (arg, out) = (format!("x=@{}", text(&values)), format!("x={}", text(&values)));
    let call = ["run", text(&inout), "--target", "halu", "--items", "1", "--arg", &arg, "--out", &out];
    halfbyte(&call).fails(2, "the output would overwrite");
    assert_eq!(fs::read(&values).unwrap(), [1, 0, 0, 0]);
    // Any other file may be overwritten, as may a device that is both input and output.
    let listing = folder.path().join("k.s");
    fs::write(&listing, "old").unwrap();
    halfbyte(&["compile", file, "--target", "halu", "-o", text(&listing)]).output();
    assert_ne!(fs::read_to_string(&listing).unwrap(), "old");
    halfbyte(&["compile", file, "--target", "halu", "-o", "/dev/null"]).output();
}
