//! Sets the linker options of the `halfbyte` binary.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // The tables of instructions and rules contain about 50,000 addresses. A position-independent
    // executable would relocate all of them at startup, which takes as long as compiling 2,000 ops.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
