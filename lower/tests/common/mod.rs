//! What the tests of lowering share: reading kernels, and targets made up for a test.

pub mod pack;

use halfbyte_ir::Kernel;
use halfbyte_ir::text::read;

/// The one kernel of a text.
pub fn kernel(text: &str) -> Kernel {
    match read(text) {
        Ok(mut module) if module.kernels.len() == 1 => module.kernels.remove(0),
        Ok(_) => panic!("one kernel is wanted:\n{text}"),
        Err(errors) => panic!("{}\n{text}", errors.first().map_or(String::new(), |e| e.message.clone())),
    }
}
