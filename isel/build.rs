//! Build script: compiles the selection rules of each target and writes the table of the rules.

#[path = "classes.rs"]
mod classes;

use std::error::Error;
use std::path::PathBuf;

use halfbyte_rulebook::{Rulebook, Terms, ir_declarations, ir_methods};

/// Targets whose instructions are selected by rules, each with its rule files. The files in
/// `threads` are shared by the targets that execute one thread per work item.
const TARGETS: &[(&str, &[&str])] = &[
    (
        "halu",
        &[
            "threads/machine",
            "halu/machine",
            "threads/sources",
            "halu/sources",
            "halu/half",
            "halu/video",
            "threads/integer",
            "threads/double",
            "halu/integer",
            "halu/float",
            "threads/lanes",
            "threads/ranges",
            "threads/memory",
            "threads/meet",
        ],
    ),
    (
        "ptx",
        &[
            "threads/machine",
            "ptx/machine",
            "threads/sources",
            "ptx/half",
            "ptx/bf16",
            "ptx/video",
            "threads/integer",
            "threads/double",
            "ptx/integer",
            "ptx/pack",
            "ptx/ranges",
            "ptx/float",
            "threads/lanes",
            "threads/ranges",
            "threads/memory",
            "threads/meet",
        ],
    ),
    (
        "vp1",
        &[
            "vp1/machine",
            "vp1/sources",
            "vp1/bytes",
            "vp1/ranges",
            "vp1/masks",
            "vp1/words",
            "vp1/fours",
            "vp1/lanes",
            "vp1/memory",
            "vp1/wide",
        ],
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=rules");
    println!("cargo:rerun-if-changed=classes.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("ir_methods.rs"), ir_methods(Terms::Match))?;
    for &(target, names) in TARGETS {
        let files: Vec<PathBuf> = names.iter().map(|name| PathBuf::from(format!("rules/{name}.isle"))).collect();
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
