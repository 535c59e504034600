//! Build script: compiles the built-in rewrite rules in `rules/`.

use std::error::Error;
use std::path::{Path, PathBuf};

use halfbyte_rulebook::{Rulebook, Terms, ir_methods, pass_declarations};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=rules");
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("ir_methods.rs"), ir_methods(Terms::Construct))?;
    let files = ["simplify", "idioms", "ranges", "word_lanes", "divide", "expand", "bits", "fp8", "soft"]
        .map(|name| Path::new("rules").join(name).with_extension("isle"));
    Rulebook {
        name: "lower",
        folder: "lower",
        declarations: pass_declarations(),
        files: &files,
        out_dir: &out,
        type_class: &|_, _| None,
    }
    .compile()?;
    Ok(())
}
