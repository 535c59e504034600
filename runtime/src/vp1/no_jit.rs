//! Stub of the native engine for builds without feature `jit`. Every launch in native code fails
//! with [`NativeError::NotBuilt`].

use std::sync::Arc;

use halfbyte_isa::vp1::Bundle;
use halfbyte_isa::vp1::state::State;

use super::StepError;
use super::interp::{Bundles, ProgramRun};
use halfbyte_abi::Work;
use halfbyte_isa::trap::Halt;
use halfbyte_native::clif::{NativeError, Translation};

/// Stub of a program's native code. Code is never generated in this build.
#[derive(Clone, Debug, Default)]
pub(super) struct Jit(());

/// Stub of generated native code. No value of this type exists.
pub(super) enum Compiled {}

/// Stub of the machine state for native code. No value of this type exists.
pub(super) enum Machine {}

impl Jit {
    pub(super) fn get(&self, _: &Bundles, _: Option<u32>, _: &mut Work<'_>) -> Result<&Arc<Compiled>, NativeError> {
        Err(NativeError::NotBuilt)
    }

    pub(super) fn translation(&self) -> Option<Translation> {
        None
    }
}

impl Compiled {
    pub(super) fn machine(&self) -> Box<Machine> {
        match *self {}
    }

    pub(super) fn spare(&self, _: Box<Machine>) {
        match *self {}
    }

    pub(super) fn finish(&self, _: &mut Machine, _: &mut ProgramRun<'_>) -> Result<(), Halt> {
        match *self {}
    }
}

impl Machine {
    pub(super) fn data(&mut self) -> &mut [u8] {
        match *self {}
    }

    pub(super) fn cursors(&self) -> &[u32; 32] {
        match *self {}
    }

    pub(super) fn reset(&mut self, _: impl FnOnce(&mut [u32; 64])) {
        match *self {}
    }
}

/// Executes one bundle in native code.
///
/// # Errors
/// Always returns [`NativeError::NotBuilt`].
pub fn step_bundle(_: &Bundle, _: &mut State) -> Result<(), StepError> {
    Err(NativeError::NotBuilt.into())
}
