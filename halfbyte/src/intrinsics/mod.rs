//! Semantics of target intrinsics: those of the machine instructions, applied to registers that hold the operands.

#[cfg(feature = "halu")]
pub(crate) mod halu;
#[cfg(feature = "ptx")]
pub(crate) mod ptx;
#[cfg(feature = "vp1")]
pub(crate) mod vp1;
