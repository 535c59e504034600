//! What can go wrong on a GPU.

use std::time::Duration;

use halfbyte_isa::ptx::module::TargetName;
use thiserror::Error;

/// How long a kernel may run on a GPU.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Why nothing came of a launch on a GPU.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CudaError {
    /// There is none that could.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The driver does not take the text.
    #[error("the CUDA driver does not assemble it: {failed}\n{log}")]
    Assembly {
        /// The call.
        failed: Failed,
        /// What the driver says of the text.
        log: String,
    },
    /// A call failed, because of what the kernel did or before it ran.
    #[error(transparent)]
    Call(#[from] Failed),
    /// A store to no buffer.
    #[error("it stores next to buffer `{param}`")]
    Outside {
        /// The buffer.
        param: String,
    },
    /// A store to an `in` buffer.
    #[error("it stores to `{param}`, which is only read")]
    ReadOnly {
        /// The buffer.
        param: String,
    },
    /// It still runs.
    #[error("it has not ended after {} seconds on the GPU, which knows no budget", PATIENCE.as_secs())]
    Time,
}

/// Why there is no GPU to run on.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// Feature `cuda` is not on in this build.
    #[error("engine `cuda` needs feature `cuda`, which this build has not")]
    NotBuilt,
    /// The driver's library is not there, or cannot be loaded.
    #[error("there is no CUDA driver: {0}")]
    Library(String),
    /// A library that is no driver's, or an old one's.
    #[error("the CUDA driver has no function `{0}`")]
    Function(&'static str),
    /// The driver does not start, or has no device that it can use.
    #[error("the CUDA driver has no device: {0}")]
    Start(Failed),
    /// A device that does not run what is for an SM.
    #[error("{device} has compute capability {}.{}, which does not run what is for {target}", capability.0, capability.1)]
    Capability {
        /// The device's name.
        device: String,
        /// Its compute capability, major and minor.
        capability: (u16, u16),
        /// What the kernel is for.
        target: TargetName,
    },
}

/// A call to the driver that failed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{call}: {text} ({code})")]
pub struct Failed {
    /// The function.
    pub call: &'static str,
    /// What the driver says of the code.
    pub text: String,
    /// The code that it returned.
    pub code: i32,
}
