//! Semantics of target intrinsics. An intrinsic has the semantics of the machine instructions in its text, with the
//! operands in registers.

#[cfg(feature = "halu")]
pub(crate) mod halu;
#[cfg(feature = "ptx")]
pub(crate) mod ptx;
#[cfg(feature = "vp1")]
pub(crate) mod vp1;
