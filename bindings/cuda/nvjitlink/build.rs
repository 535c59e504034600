//! Generates the versioned symbols of the interface, and sets the soname of the library.

#[path = "symbols.rs"]
mod symbols;

use std::env::var;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=symbols.rs");
    if var("CARGO_CFG_TARGET_OS")? == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnvJitLink.so.13");
        // `-Bsymbolic-functions` binds jumps to this library even if the process has also loaded NVIDIA's library.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,defs,-Bsymbolic-functions");
    }
    let jump = match &*var("CARGO_CFG_TARGET_ARCH")? {
        "x86_64" => "jmp {}",
        "aarch64" => "b {}",
        arch => return Err(format!("the stand-in for nvJitLink does not support the architecture {arch}").into()),
    };
    let mut code = String::new();
    for (symbol, function) in symbols::versioned() {
        write!(
            code,
            "#[unsafe(no_mangle)]\n#[unsafe(naked)]\npub extern \"C\" fn {symbol}() {{\n    \
             core::arch::naked_asm!(\"{jump}\", sym {function})\n}}\n"
        )?;
    }
    fs::write(PathBuf::from(var("OUT_DIR")?).join("versioned.rs"), code)?;
    Ok(())
}
