//! Compiles the selection rules of each target and writes the table of them.

#[path = "classes.rs"]
mod classes;

use std::error::Error;
use std::path::PathBuf;

use halfbyte_rulebook::{Rulebook, Terms, ir_declarations, ir_methods};

/// Targets with rules, and the files that these are in.
const TARGETS: &[(&str, &[&str])] = &[
    ("halu", &["machine", "sources", "half", "video", "integer", "float", "lanes", "memory"]),
    ("vp1", &["machine", "sources", "bytes", "masks", "words", "fours", "lanes", "memory", "wide"]),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=rules");
    println!("cargo:rerun-if-changed=classes.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("ir_methods.rs"), ir_methods(Terms::Match))?;
    for &(target, names) in TARGETS {
        let files: Vec<PathBuf> =
            names.iter().map(|name| PathBuf::from(format!("rules/{target}/{name}.isle"))).collect();
        Rulebook {
            name: target,
            folder: "isel",
            declarations: ir_declarations(Terms::Match),
            files: &files,
            out_dir: &out,
            type_class: &classes::type_class,
        }
        .compile()?;
    }
    Ok(())
}
