//! Native code: the parts that the engines of both machines share.

#[cfg(feature = "jit")]
mod builder;
#[cfg(feature = "aot")]
pub(crate) mod emit;

#[cfg(feature = "jit")]
use std::sync::OnceLock;
use std::time::Duration;

use halfbyte_abi::Exceeded;
use thiserror::Error;

#[cfg(feature = "aot")]
pub(crate) use builder::NativeModule;
#[cfg(feature = "jit")]
pub use builder::{Allocation, FunctionId, NativeBuilder, NativeCode};

/// Cost of the translation of a kernel's machine code to native code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Translation {
    /// Time from decoded instructions to callable code.
    pub time: Duration,
    /// Number of functions made.
    pub functions: usize,
    /// Number of bytes of their code.
    pub bytes: usize,
}

impl std::ops::AddAssign for Translation {
    fn add_assign(&mut self, other: Translation) {
        self.time += other.time;
        self.functions += other.functions;
        self.bytes += other.bytes;
    }
}

/// Reason why there is no native code.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum NativeError {
    /// Feature `jit` is disabled in this build.
    #[error("engine `jit` needs feature `jit`, which is disabled in this build")]
    NotBuilt,
    /// The native engine does not support this host.
    #[error("there is no native code for this computer: {0}")]
    Host(String),
    /// A function could not be compiled, or the host has no memory for it.
    #[error("native code generation failed: {0}")]
    Code(String),
    /// The kernel's registers and intermediate values exceed what native code can address.
    #[error("the kernel is too large for native code")]
    TooLarge,
    /// The launch that requested the code was ended early.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// Returns a value that is made at most once. A launch may end early while it makes the value; this error is not kept,
/// so that another launch can make the value.
#[cfg(feature = "jit")]
pub fn once<T>(
    made: &OnceLock<Result<T, NativeError>>,
    make: impl FnOnce() -> Result<T, NativeError>,
) -> Result<&T, NativeError> {
    let made = match made.get() {
        Some(made) => made,
        None => match make() {
            Err(NativeError::Exceeded(exceeded)) => return Err(exceeded.into()),
            // Another thread may have set the value in the meantime.
            new => made.get_or_init(|| new),
        },
    };
    made.as_ref().map_err(NativeError::clone)
}
