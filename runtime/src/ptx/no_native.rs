//! Stub of the native engine for builds without feature `jit`. Every launch in native code fails with an error.

use std::num::NonZero;

use halfbyte_isa::ptx::module::Kernel;

use super::HostLaunchError;
use super::memory::Memory;
use halfbyte_abi::Stats;
use halfbyte_native::clif::{NativeError, Translation};
use halfbyte_native::launch::LaunchOptions;

/// Stub of a kernel's native code. Code is never generated in this build.
#[derive(Clone, Debug, Default)]
pub(super) struct Jit(());

/// Returns the error that native code is not available in this build.
pub(super) fn launch(
    _: &Jit,
    _: &Kernel,
    _: &LaunchOptions<'_>,
    _: &mut Memory<'_>,
    _: NonZero<u16>,
) -> Option<Result<Stats, HostLaunchError>> {
    Some(Err(HostLaunchError::Native(NativeError::NotBuilt)))
}

impl Jit {
    pub(super) fn is_interpreted(&self, _: &Kernel) -> bool {
        false
    }

    pub(super) fn translation(&self) -> Option<Translation> {
        None
    }
}
