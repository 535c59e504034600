//! A stand-in for NVIDIA's library nvJitLink. It links PTX to PTX, and returns the PTX as the linked cubin. The CUDA
//! driver library of halfbyte loads PTX in place of a cubin.
#![allow(non_snake_case, reason = "the names are those of the library's interface")]
#![allow(unreachable_pub, reason = "exported functions are public in private modules")]

mod entry;
mod error;
mod exports;
mod input;
mod linker;
mod nvidia;
mod options;
mod status;
