//! Errors of launches on a GPU.

use std::time::Duration;

use halfbyte_isa::ptx::module::TargetName;
use thiserror::Error;

/// Timeout of a kernel on a GPU.
pub(crate) const KERNEL_TIMEOUT: Duration = Duration::from_secs(60);

/// Reason why a launch on a GPU failed.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum CudaError {
    /// No usable GPU is available.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The driver rejected the PTX text.
    #[error("the CUDA driver cannot assemble the kernel: {failed}\n{log}")]
    Assembly {
        /// The failed driver call.
        failed: DriverError,
        /// The driver's log for the PTX text.
        log: String,
    },
    /// A driver call failed, either before the kernel ran or because of a fault in the kernel.
    #[error(transparent)]
    Call(#[from] DriverError),
    /// The kernel stored to the guard area before or after a buffer.
    #[error("the kernel stores outside of buffer `{param}`")]
    Outside {
        /// Name of the buffer parameter.
        param: String,
    },
    /// The kernel stored to an `in` buffer.
    #[error("the kernel stores to `in` buffer `{param}`")]
    ReadOnly {
        /// Name of the buffer parameter.
        param: String,
    },
    /// The kernel did not end within the timeout.
    #[error("the kernel did not end within {} seconds on the GPU", KERNEL_TIMEOUT.as_secs())]
    Time,
}

/// Reason why no GPU can be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// Feature `cuda` is disabled in this build.
    #[error("engine `cuda` needs feature `cuda`, which is disabled in this build")]
    NotBuilt,
    /// The driver's library is missing or cannot be loaded.
    #[error("cannot load the CUDA driver: {0}")]
    Library(String),
    /// The library lacks the named function: it is not the CUDA driver, or the driver is too old.
    #[error("the CUDA driver has no function `{0}`")]
    Function(&'static str),
    /// The driver fails to initialise, or finds no usable device.
    #[error("the CUDA driver finds no usable device: {0}")]
    Start(DriverError),
    /// The device's compute capability does not support the kernel's target.
    #[error("{device} has compute capability {}.{}, which does not support target {target}", capability.0, capability.1)]
    Capability {
        /// The device's name.
        device: String,
        /// The device's compute capability, major and minor.
        capability: (u16, u16),
        /// The target of the kernel.
        target: TargetName,
    },
}

/// A failed call to the CUDA driver.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{call}: {text} ({code})")]
pub struct DriverError {
    /// Name of the driver function.
    pub call: &'static str,
    /// The driver's description of the error code.
    pub text: String,
    /// The returned error code.
    pub code: i32,
}
