//! Tests of the command `view`: the page, and its behaviour in a browser. Tests that need Chromium
//! are skipped if it is missing.

mod browser;
mod layout;
mod light;
mod screenshots;
mod tools;

use std::fs;

use crate::common::{halfbyte, halfbyte_on, root};

/// Returns the page that `view` prints for an example.
fn page_of(name: &str) -> String {
    halfbyte(&["view", &format!("examples/{name}.hb")]).output().to_owned()
}

#[test]
fn every_example_has_its_page() {
    for example in fs::read_dir(root().join("examples")).unwrap() {
        let path = example.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "hb") {
            let page = halfbyte(&["view", &path.display().to_string()]);
            assert!(page.output().starts_with("<!doctype html>"), "{}", path.display());
            assert!(page.out.ends_with("</html>\n"), "{}", path.display());
        }
    }
}

#[test]
fn pages_go_where_they_are_asked_to_and_are_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html").display().to_string();
    assert_eq!(halfbyte(&["view", "examples/median.hb", "-o", &file]).output(), "");
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(halfbyte(&["view", "examples/median.hb", "-o", "-"]).output(), page);
    let median = fs::read(root().join("examples/median.hb")).unwrap();
    let named = page.replace("median.hb", "&lt;stdin&gt;");
    assert_eq!(halfbyte_on(&["view", "-"], &median).output(), named);
    let halu = halfbyte(&["view", "examples/median.hb", "--target", "halu", "--kernel", "@median"]);
    let shows = |target: &str| halu.out.contains(&format!("data-kernel=\"median\" data-target=\"{target}\">"));
    assert!(shows("halu") && !shows("vp1"), "{}", halu.err);
    // The page shows the address, the digits and the assembly of an instruction. A register has the
    // source location of its value.
    assert!(halu.out.contains("<i>0036</i>") && halu.out.contains("0x0000000000000000000000000000724d"));
    assert!(
        halu.out.contains("<b data-m=\"halu.STG_U_32\">STG</b> [<span class=\"n\" data-d=\"10:3\">R0</span>"),
        "{}",
        halu.out
    );
}

#[test]
fn what_cannot_be_shown_is_told() {
    halfbyte(&["view", "examples/median.hb", "--kernel", "none"]).fails(2, "has no kernel `@none`; it has @median");
    halfbyte(&["view", "examples/axpy.hb", "--target", "vp1"]).fails(1, "examples/axpy.hb:");
    halfbyte(&["view", "examples/axpy.hb", "--target", "gpu"]).fails(2, "gpu");
    halfbyte(&["view", "no-such.hb"]).fails(2, "no-such.hb");
    halfbyte_on(&["view", "-"], b"kernel").fails(1, "<stdin>:1:");
    halfbyte_on(&["view", "-"], b"; nothing\n").fails(1, "the file has no kernels");
}
