//! Tests of compilation on several threads: the output and the errors must be those of one thread.

use std::fmt::Write;
use std::fs;

use halfbyte::Module;

use crate::common::{Called, halfbyte, halfbyte_on, root};

const THREADS: [&str; 3] = ["1", "2", "7"];

/// Compiles with several numbers of threads, asserts that all results are equal, and returns one of them.
fn alike(text: &str, args: &[&str]) -> Called {
    let compile = |threads| halfbyte_on(&[&["compile", "-", "--threads", threads], args].concat(), text.as_bytes());
    let mut all = THREADS.map(compile).into_iter();
    let first = all.next().unwrap();
    for other in all {
        assert_eq!((other.code, &other.out, &other.err), (first.code, &first.out, &first.err), "{args:?}");
    }
    first
}

/// Returns three copies of the kernels of every example, all with different names.
fn many() -> String {
    let mut text = String::new();
    for round in 0..3 {
        for (number, file) in fs::read_dir(root().join("examples")).unwrap().enumerate() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "hb") {
                let module = Module::parse(&fs::read_to_string(path).unwrap()).unwrap();
                for kernel in &module.ir().kernels {
                    text += &kernel.to_string().replace("kernel @", &format!("kernel @r{round}_{number}_"));
                }
            }
        }
    }
    text
}

#[test]
fn objects_are_the_same() {
    let text = many();
    for target in ["halu", "ptx"] {
        assert_eq!(alike(&text, &["--target", target]).code, 0);
    }
    let listing = alike(&text, &["--target", "halu", "--emit", "listing", "--stats"]);
    assert_eq!(listing.code, 0);
}

#[test]
fn refusals_do_not_depend_on_the_number_of_threads() {
    let refused = alike(&many(), &["--target", "vp1"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("vp1"), "{}", refused.err);
}

/// Errors in the text are reported in place of refusals, even if the invalid kernel is the last one.
#[test]
fn errors_of_the_text_are_the_same() {
    let wrong = "kernel @wrong(%x: in i32) {\n^entry:\n  %v = add %x, 1\n  ret\n}\n";
    for before in [many(), String::new()] {
        let mut text = before;
        text.write_str(wrong).unwrap();
        let wrong = alike(&text, &["--target", "vp1"]);
        assert_eq!(wrong.code, 1);
        assert!(wrong.err.contains("%x"), "{}", wrong.err);
    }
}

#[test]
fn calls_that_make_no_sense_are_refused() {
    let file = "examples/blur.hb";
    halfbyte(&["compile", file, "--threads", "0"]).fails(2, "--threads");
    halfbyte(&["compile", file, "--threads", "2", "--print-after-all"]).fails(2, "--print-after-all");
    halfbyte(&["compile", file, "--threads", "2", "--print-after", "cse"]).fails(2, "--print-after");
}
