//! Tests of the kernel language on the command line: source locations in listings and traps,
//! includes of files in the same folder, and `fmt`.

use std::path::{Path, PathBuf};

use crate::common::halfbyte;

/// Creates files in a new temporary folder. Returns the folder, and a closure that returns the path of a file.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, impl Fn(&str) -> String + use<>) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().to_owned();
    for (name, text) in files {
        std::fs::write(path.join(name), text).unwrap();
    }
    (folder, move |name: &str| path.join(name).display().to_string())
}

const TEXT: &str = "include \"mine.hb\"\n\nfn at(x: in i32, i: i32) -> i32 { x[i * 1000] }\n\nkernel k(x: in i32, y: out i32) {\n  let i = item_id()\n  let r = twice(at(x, i))\n  y[i] = r\n}\n";
const MINE: &str = "fn twice(a: i32) -> i32 { a * 2 }\n";

#[test]
fn places_go_through_functions_to_words_and_traps() {
    let (_folder, path) = folder(&[("k.hb", TEXT), ("mine.hb", MINE)]);
    let file = path("k.hb");
    let call = ["run", &file, "--target", "halu", "--items", "2", "--arg", "x=[1, 2]", "--arg", "y=zeros(2)"];
    halfbyte(&call).fails(1, "k.hb:3:35");
    let listing = halfbyte(&["compile", &file, "--target", "halu", "--emit", "listing"]);
    // The multiplication is in the included file, so its source location is that of the call.
    assert!(listing.output().contains("7:11  let r = twice(at(x, i))"), "{}", listing.output());
    assert!(listing.output().contains("3:35  fn at("), "{}", listing.output());
    let plain = halfbyte(&["compile", &file, "--target", "halu", "--emit", "ir"]);
    assert!(plain.output().starts_with("kernel @k(%x: in i32, %y: out i32) {\n^entry:\n"), "{}", plain.output());
    let why = halfbyte(&["explain", &file, "--at", "%r", "--target", "ptx"]);
    assert!(why.output().contains("k.hb:7:11, @k, for ptx"), "{}", why.output());
}

#[test]
fn files_are_included_from_beside_and_from_no_other_place() {
    let (_folder, path) = folder(&[("k.hb", TEXT)]);
    let check = |name: &str| halfbyte(&["compile", &path(name), "--target", "ptx"]);
    check("k.hb").fails(1, "`mine.hb` cannot be included");
    std::fs::write(path("k.hb"), TEXT.replace("mine.hb", "../mine.hb")).unwrap();
    check("k.hb").fails(1, "without `..`");
    std::fs::write(path("k.hb"), TEXT.replace("mine.hb", &path("mine.hb"))).unwrap();
    check("k.hb").fails(1, "expected a path relative to the folder of this file, without `..`");
}

#[test]
fn tests_of_stages_are_of_kernels_in_the_language_too() {
    let text = "include \"std/pixel\"\n\n; test: lower halu\nkernel mix(x: in i8x4, y: out i16x2) {\n  let i = item_id()\n  y[i] = low(x[i])\n}\n; check: shuffle.i8x4\n";
    let (_folder, path) = folder(&[("t.hb", text)]);
    assert!(halfbyte(&["test", &path("t.hb")]).output().contains("1 passed"));
}

#[test]
fn fmt_writes_files_and_says_which_would_change() {
    let (_folder, path) = folder(&[
        ("k.hb", "kernel  k( y:out i32 ){\ny[ 0 ]=1 ; one\n}\n"),
        ("plain.hb", "kernel @k( ) {\n^e:\n  ret\n}\n"),
    ]);
    let (file, plain) = (path("k.hb"), path("plain.hb"));
    halfbyte(&["fmt", "--check", &file, &plain]).fails(1, "k.hb: the file is not formatted");
    halfbyte(&["fmt", &file, &plain]).output();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kernel k(y: out i32) {\n  y[0] = 1 ; one\n}\n");
    assert_eq!(std::fs::read_to_string(&plain).unwrap(), "kernel @k( ) {\n^e:\n  ret\n}\n");
    halfbyte(&["fmt", "--check", &file]).output();
    assert!(Path::new(&file).exists());
}

#[test]
fn our_examples_are_formatted() {
    halfbyte(&["fmt", "--check", "examples"]).output();
}
