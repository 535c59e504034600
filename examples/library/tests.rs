//! Tests that every example runs, and that the code on the pages of `docs/library/` comes from the examples.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "builder.rs"]
mod builder;
#[path = "compiler.rs"]
mod compiler;
#[path = "embed.rs"]
mod embed;
#[path = "layers.rs"]
mod layers;
#[path = "selects.rs"]
mod selects;
#[path = "strangers.rs"]
mod strangers;
#[path = "threads.rs"]
mod threads;

macro_rules! run {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            $name::main().unwrap();
        })*
    };
}

run! { builder compiler embed layers selects strangers threads }

/// Appends the contents of all Rust, rule and TOML files in a folder and its subfolders.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs" || end == "isle" || end == "toml") {
            found.push(lines(&fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Removes the indentation of a text's lines.
fn lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim())).collect()
}

#[test]
fn pages_show_what_stands_in_the_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for folder in ["examples/library", "isel/tests"] {
        sources(&root.join(folder), &mut all);
    }
    let pages: Vec<PathBuf> =
        fs::read_dir(root.join("docs/library")).unwrap().map(|page| page.unwrap().path()).collect();
    assert!(pages.len() >= 7, "{pages:?}");
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let mut shown = 0;
        // Splitting at code fences gives text and code in turn, so every second part is code.
        for block in text.split("```").skip(1).step_by(2) {
            let (language, code) = block.split_once('\n').unwrap();
            if ["rust", "isle", "toml"].contains(&language.trim()) {
                let code = lines(code);
                assert!(all.iter().any(|source| source.contains(&code)), "{}: no example has\n{code}", page.display());
                shown += 1;
            }
        }
        assert!(shown > 0, "{} shows no example", page.display());
    }
}
