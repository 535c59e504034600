//! The name by which programs find the shared library where it is installed, which `bindings/c/install` gives: with the number of its interface.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HALFBYTE_SONAME");
    // A library that is not installed is found by its file.
    if let Ok(name) = std::env::var("HALFBYTE_SONAME") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{name}");
    }
}
