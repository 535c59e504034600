//! PTX text: [`read`] makes a [`Module`] of it, and a module prints as text that reads as the same module.

mod error;
mod instruction;
mod lexer;
mod names;
mod number;
mod printer;
mod reader;

pub use error::{Error, ErrorKind};
pub use printer::inst_text;

use super::module::Module;
use crate::object::Loc;

/// What was read.
#[derive(Clone, Debug)]
pub struct Text {
    /// The file.
    pub module: Module,
    /// Where each instruction of each entry stands: its first character, columns counted in bytes from 1.
    pub locs: Vec<Vec<Loc>>,
}

/// Reads a file.
///
/// # Errors
/// What is wrong with it, in the order of the text; after an error in an instruction or a declaration reading goes on with
/// the next.
pub fn read(text: &str) -> Result<Text, Vec<Error>> {
    reader::read(text)
}
