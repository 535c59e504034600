//! Stub of the native engine for builds without feature `jit`. Every launch fails with an error
//! that says so.

use std::num::NonZero;

use halfbyte_isa::ptx::module::Kernel;

use super::HostLaunchError;
use super::memory::Memory;
use halfbyte_abi::Stats;
use halfbyte_native::clif::{NativeError, Translation};
use halfbyte_native::launch::LaunchOptions;

/// Stub of a kernel's native code, which is never generated.
#[derive(Clone, Debug, Default)]
pub(super) struct Jit(());

/// Refuses a launch on native code.
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
    pub fn is_interpreted(&self, _: &Kernel) -> bool {
        false
    }

    pub fn translation(&self) -> Option<Translation> {
        None
    }
}
