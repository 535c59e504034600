//! Stub of the native engine for builds without feature `jit`. Every launch in native code fails
//! with [`NativeError::NotBuilt`].

use std::num::NonZero;

use halfbyte_isa::halu::Inst;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Effects, Reader, SpecialReg};

use super::memory::Memory;
use halfbyte_abi::Stats;
use halfbyte_isa::halu::Word;
use halfbyte_isa::trap::Fault;
use halfbyte_native::clif::{NativeError, Translation};
use halfbyte_native::launch::LaunchOptions;
use halfbyte_native::launch::Pointer;

/// Stub of a kernel's native code. Code is never generated in this build.
#[derive(Clone, Debug, Default)]
pub(super) struct Jit(());

/// Stub of the state of a relaunch in native code. No value of this type exists.
pub(super) enum Repeat {}

impl Repeat {
    pub(super) fn is(&self, _: &mut Memory<'_>, _: &LaunchOptions<'_>, _: NonZero<u16>) -> bool {
        match *self {}
    }

    pub(super) fn run(&mut self, _: &mut Memory<'_>, _: &LaunchOptions<'_>) -> Result<Stats, Stop> {
        match *self {}
    }
}

/// Stub of the description of a kernel for the native engine.
#[expect(dead_code, reason = "nothing is made of it")]
pub(super) struct Kernel<'a> {
    pub words: &'a [Word],
    pub constant_bytes: u32,
    pub local_bytes: u32,
    pub scratch_bytes: u32,
    pub pointers: &'a [Pointer],
    pub specials: &'a [SpecialReg],
}

/// Stub of the group counts of a launch for the native engine.
#[expect(dead_code, reason = "nothing is launched")]
pub(super) struct Groups<'a> {
    pub items: Option<u32>,
    pub shared_bytes: usize,
    pub sizes: &'a [(u32, u32)],
}

/// Reason why a launch in native code failed.
#[expect(dead_code, reason = "there is no such launch")]
pub(super) enum Stop {
    Fault(u32, Fault),
    Native(NativeError),
}

impl Jit {
    pub(super) fn launch(
        &self,
        _: &Kernel<'_>,
        _: Groups<'_>,
        _: &mut Memory<'_>,
        _: LaunchOptions<'_>,
        _: NonZero<u16>,
        _: &mut Option<Box<Repeat>>,
    ) -> Option<Result<Stats, Stop>> {
        Some(Err(Stop::Native(NativeError::NotBuilt)))
    }

    pub(super) fn is_of(&self, repeat: &Repeat) -> bool {
        match *repeat {}
    }

    pub(super) fn translation(&self) -> Option<Translation> {
        None
    }
}

/// Computes the effects of an instruction with native code.
///
/// # Errors
/// Always returns [`NativeError::NotBuilt`].
pub fn native_effects(_: &Inst, _: &mut impl Reader<Concrete>) -> Result<Option<Effects<u32, bool>>, NativeError> {
    Err(NativeError::NotBuilt)
}
