//! Helpers for the tests of this crate: a parser of single kernels, and test targets.

pub mod pack;

use halfbyte_ir::Kernel;
use halfbyte_ir::text::read;

/// Parses a text that contains exactly one kernel.
pub fn kernel(text: &str) -> Kernel {
    match read(text) {
        Ok(mut module) if module.kernels.len() == 1 => module.kernels.remove(0),
        Ok(_) => panic!("one kernel is wanted:\n{text}"),
        Err(errors) => panic!("{}\n{text}", errors.first().map_or(String::new(), |e| e.message.clone())),
    }
}
