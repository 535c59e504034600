//! Sets the soname of the shared library, which includes the version of its interface.
//! `capi/install` passes it in an environment variable.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HALFBYTE_SONAME");
    // Without a soname, programs find the library by its file name.
    if let Ok(name) = std::env::var("HALFBYTE_SONAME") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{name}");
    }
}
