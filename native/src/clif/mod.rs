//! Native code: what the engines of both machines have in common.

#[cfg(feature = "jit")]
mod builder;

#[cfg(feature = "jit")]
use std::sync::OnceLock;
use std::time::Duration;

use halfbyte_abi::Exceeded;
use thiserror::Error;

#[cfg(feature = "aot")]
pub(crate) use builder::NativeModule;
#[cfg(feature = "jit")]
pub use builder::{Allocation, FunctionId, NativeBuilder, NativeCode};

/// What it took to make native code of a kernel's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Translation {
    /// From decoded words to code that can be called.
    pub time: Duration,
    /// Functions made.
    pub functions: usize,
    /// Bytes of their code.
    pub bytes: usize,
}

impl std::ops::AddAssign for Translation {
    fn add_assign(&mut self, other: Translation) {
        self.time += other.time;
        self.functions += other.functions;
        self.bytes += other.bytes;
    }
}

/// Why there is no native code.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum NativeError {
    /// Feature `jit` is not on in this build.
    #[error("engine `jit` needs feature `jit`, which is disabled in this build")]
    NotBuilt,
    /// Not for this computer.
    #[error("there is no native code for this computer: {0}")]
    Host(String),
    /// A function could not be compiled, or the host has no memory for it.
    #[error("native code generation failed: {0}")]
    Code(String),
    /// The kernel's registers and intermediate values exceed what native code can address.
    #[error("the kernel is too large for native code")]
    TooLarge,
    /// The launch that it was for was ended early.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// What there is once it is made. Making it may be ended early; that alone is not kept, so that another launch can make it.
#[cfg(feature = "jit")]
pub fn once<T>(
    made: &OnceLock<Result<T, NativeError>>,
    make: impl FnOnce() -> Result<T, NativeError>,
) -> Result<&T, NativeError> {
    let made = match made.get() {
        Some(made) => made,
        None => match make() {
            Err(NativeError::Exceeded(exceeded)) => return Err(exceeded.into()),
            // Another thread may have been faster.
            new => made.get_or_init(|| new),
        },
    };
    made.as_ref().map_err(NativeError::clone)
}
