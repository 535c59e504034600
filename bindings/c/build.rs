//! Sets the soname of the shared library. `bindings/c/install` passes the soname, which includes
//! the version of the C interface, in the environment variable HALFBYTE_SONAME.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=HALFBYTE_SONAME");
    // Without a soname, programs that link the library refer to it by its file name.
    if let Ok(name) = std::env::var("HALFBYTE_SONAME") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,{name}");
    }
}
