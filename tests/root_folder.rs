//! Test of the names in the root folder of the repository.

use std::collections::BTreeSet;
use std::fs::read_dir;

use crate::common::root;

/// Folders of the compilation pipeline in order, followed by all other folders.
const FOLDERS: [&str; 16] = [
    "abi",
    "ir",
    "frontends",
    "lower",
    "isa",
    "isel",
    "emit",
    "native",
    "runtime",
    "halfbyte",
    "bindings",
    "tools",
    "tests",
    "benches",
    "fuzz",
    "examples",
];
const FILES: [&str; 12] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "THIRD-PARTY.md",
    "deny.toml",
    "docs",
    "rustfmt.toml",
];
/// Hidden files and folders, and the folder of build output.
const OTHERS: [&str; 6] = [".cargo", ".ci", ".git", ".github", ".gitignore", "target"];

#[test]
fn the_root_folder_has_no_stray_names() {
    let known: BTreeSet<&str> = FOLDERS.into_iter().chain(FILES).chain(OTHERS).collect();
    let names = read_dir(root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let stray: Vec<String> = names.filter(|name| !known.contains(name.as_str())).collect();
    assert!(stray.is_empty(), "stray names in the root folder: {stray:?}");
    for name in FOLDERS.into_iter().chain(FILES) {
        assert!(root().join(name).exists(), "{name} is missing");
    }
}
