//! Engine `cuda` of a build without feature `cuda`: it reaches no GPU and says why.

use halfbyte_abi::Shape;
use halfbyte_isa::ptx::module::{Kernel, TargetName};

use super::memory::Memory;
use crate::device::{CudaError, Unavailable};

/// What GPU there is for kernels that are for an SM.
///
/// # Errors
/// [`Unavailable::NotBuilt`].
pub fn device(_: TargetName) -> Result<String, Unavailable> {
    Err(Unavailable::NotBuilt)
}

/// Runs nothing.
pub(super) fn run(_: &Kernel, _: &Shape, _: &mut Memory<'_>) -> Result<(), CudaError> {
    Err(Unavailable::NotBuilt.into())
}
