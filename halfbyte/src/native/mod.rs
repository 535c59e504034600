//! Kernels as native objects with a C interface, for this computer and others. They run without a
//! GPU and without any halfbyte library.
//!
//! ```
//! use halfbyte::native::{self, Machine, Options};
//! use halfbyte::{HALU, Module, Program};
//!
//! let module = Module::parse(
//!     "kernel @scale(%a: f16x2, %x: inout f16x2) {
//!      ^entry:
//!        %i = item_id
//!        %v = load %x[%i]
//!        %r = fmul.f16x2 %a, %v
//!        store %r, %x[%i]
//!        ret
//!      }",
//! )?;
//! let program = Program::load(&module.compile(HALU)?.object)?;
//! let machine = Machine::new("aarch64-unknown-linux-gnu", None)?;
//! let object = native::object(&[("scale", program.kernel("scale")?)], &machine, &Options::default())?;
//! assert!(object.bytes.starts_with(b"\x7FELF"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod header;
mod names;
mod triples;

use halfbyte_runtime::aot;
pub use halfbyte_runtime::aot::{
    Error, Function, Loaded, Machine, MachineError, Object, Options, Refusal, Status, Trapped, Vectorized,
};
pub use header::{About, Language, header};

use crate::program::Kernel;
pub use names::symbols;
pub use triples::{TRIPLES, meant};

/// Compiles kernels to a native object. Each kernel is given with the name of its function. The
/// functions share support code.
///
/// # Errors
/// Returns an error if a kernel uses a feature that native objects do not support, or if two
/// functions have the same name.
pub fn object(kernels: &[(&str, Kernel<'_>)], machine: &Machine, options: &Options) -> Result<Object, Error> {
    aot::object(&raw(kernels), machine, options)
}

/// Compiles kernels to native functions in the memory of this process. Each kernel is given with
/// the name of its function.
///
/// # Errors
/// Returns the errors of [`object()`].
pub fn load(kernels: &[(&str, Kernel<'_>)], options: &Options) -> Result<Loaded, Error> {
    aot::load(&raw(kernels), options)
}

fn raw<'a>(kernels: &[(&'a str, Kernel<'a>)]) -> Vec<(&'a str, &'a halfbyte_runtime::Kernel)> {
    kernels.iter().map(|&(name, kernel)| (name, kernel.raw())).collect()
}
