//! The engine of a build without feature `jit`: there is no native code, and it says why.

use std::num::NonZero;

use halfbyte_isa::ptx::module::Kernel;

use super::Ended;
use super::memory::Memory;
use crate::launch::{Order, Stats};
use crate::native::{NativeError, Translation};

/// A kernel's native code, which is never made.
#[derive(Clone, Debug, Default)]
pub(super) struct Jit(());

impl Jit {
    pub fn launch(
        &self,
        _: &Kernel,
        _: &Order<'_>,
        _: &mut Memory<'_>,
        _: NonZero<u16>,
    ) -> Option<Result<Stats, Ended>> {
        Some(Err(Ended::Native(NativeError::NotBuilt)))
    }

    pub fn is_interpreted(&self, _: &Kernel) -> bool {
        false
    }

    pub fn translation(&self) -> Option<Translation> {
        None
    }
}
