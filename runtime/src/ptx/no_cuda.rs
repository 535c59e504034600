//! Stub of engine `cuda` for builds without feature `cuda`. Every use fails with [`Unavailable::NotBuilt`].

use halfbyte_abi::Shape;
use halfbyte_isa::ptx::module::{Kernel, TargetName};

use super::memory::Memory;
use crate::device::{CudaError, Unavailable};

/// Returns the GPU that runs kernels for a target.
///
/// # Errors
/// Always returns [`Unavailable::NotBuilt`].
pub fn device(_: TargetName) -> Result<String, Unavailable> {
    Err(Unavailable::NotBuilt)
}

/// Always returns an error.
pub(super) fn run(_: &Kernel, _: &Shape, _: &mut Memory<'_>) -> Result<(), CudaError> {
    Err(Unavailable::NotBuilt.into())
}
