//! PTX text: [`read`] makes a [`Module`] of it, and a module prints as text that reads as the same module; a
//! [`Writer`] writes that of kernels.

mod error;
mod instruction;
mod lexer;
mod names;
mod number;
mod outside;
mod printer;
mod reader;
mod writer;

pub use error::{Error, ErrorKind, Verdict};
pub use printer::inst_text;
pub use writer::Writer;

use super::module::Module;
use crate::object::Loc;

/// What was read.
#[derive(Clone, Debug)]
pub struct Text {
    /// The file.
    pub module: Module,
    /// Where each instruction of each entry stands: its first character, columns counted in bytes from 1.
    pub locs: Vec<Vec<Loc>>,
    /// What `.loc` says each instruction of each entry comes from.
    pub sources: Vec<Vec<Source>>,
    /// The names that `.file` gives to numbers.
    pub files: Vec<(u32, String)>,
}

/// What an instruction was made from, by `.loc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Source {
    /// The number of the file.
    pub file: u32,
    /// The place in it; not known where no `.loc` stands before.
    pub loc: Loc,
}

impl Text {
    /// The name of a file by its number.
    pub fn file(&self, number: u32) -> Option<&str> {
        self.files.iter().find(|(of, _)| *of == number).map(|(_, name)| name.as_str())
    }
}

/// Reads a file.
///
/// # Errors
/// What is wrong with it, in the order of the text; after an error in an instruction or a declaration reading goes on with
/// the next.
pub fn read(text: &str) -> Result<Text, Vec<Error>> {
    reader::read(text)
}
