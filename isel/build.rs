//! Compiles the selection rules of each target and writes the table of them.

#[path = "classes.rs"]
mod classes;

use std::error::Error;
use std::path::PathBuf;

use halfbyte_rulebook::{Rulebook, Terms, ir_declarations, ir_methods};

const HALU: &[&str] = &["machine", "sources", "half", "video", "integer", "float", "lanes", "memory"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=rules");
    println!("cargo:rerun-if-changed=classes.rs");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("ir_methods.rs"), ir_methods(Terms::Match))?;
    let files: Vec<PathBuf> = HALU.iter().map(|name| PathBuf::from(format!("rules/halu/{name}.isle"))).collect();
    Rulebook {
        name: "halu",
        declarations: ir_declarations(Terms::Match),
        files: &files,
        out_dir: &out,
        type_class: &classes::type_class,
    }
    .compile()?;
    Ok(())
}
