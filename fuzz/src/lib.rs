//! Functions that the fuzz targets share.

pub mod engines;
pub mod kernels;
