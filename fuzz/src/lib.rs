//! What the targets share.

pub mod engines;
pub mod kernels;
