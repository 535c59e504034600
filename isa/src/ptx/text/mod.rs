//! PTX text: [`read`] makes a [`Module`] of it, and a module prints as text that reads as the same module; a
//! [`Writer`] writes that of kernels.

mod body;
mod constant;
mod error;
mod function;
mod instruction;
mod join;
mod lexer;
mod names;
mod number;
mod outside;
mod printer;
mod reader;
mod variables;
mod writer;

pub use error::{Error, ErrorKind, Verdict};
pub use printer::{inst_text, inst_text_in};
pub use writer::Writer;

use super::module::{Missing, Module, Owner};
use super::types::Since;
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
    /// The kernels that are PTX and not taken here.
    pub refused: Vec<Refused>,
    /// Where each instruction of each function stands; none of one that is only declared.
    pub function_locs: Vec<Vec<Loc>>,
    /// What `.loc` says of these.
    pub function_sources: Vec<Vec<Source>>,
    /// What stands outside kernels and is not taken: functions, variables of shared memory. A kernel that names it is refused.
    pub outside: Vec<Error>,
}

/// A kernel that is not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Its name.
    pub name: String,
    /// Where that stands.
    pub at: Loc,
    /// Why, in the order of the text. The first one says that something is not supported; others may come of it.
    pub errors: Vec<Error>,
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
    /// All that is not taken, in the order of the text.
    pub fn not_taken(&self) -> Vec<Error> {
        let of_kernels = self.refused.iter().flat_map(|refused| &refused.errors);
        let mut errors: Vec<Error> = self.outside.iter().chain(of_kernels).cloned().collect();
        errors.sort_by_key(|error| (error.at.line, error.at.column));
        errors
    }

    /// What the text's own `.version` and `.target` do not have, an assembler's errors: each instruction of its kernels and functions that
    /// needs more; one, where all do.
    pub fn missing(&self) -> Vec<Error> {
        let Module { version, target, .. } = self.module;
        let is_older = !self.module.provides(Since::ALWAYS);
        let error = |missing: Missing| {
            let of = match missing.of {
                Owner::Entry(number) => self.locs.get(number),
                Owner::Function(number) => self.function_locs.get(number),
            };
            let at = of.and_then(|locs| locs.get(missing.inst)).copied().unwrap_or_default();
            if is_older {
                return Error { at, kind: ErrorKind::Older { version, target } };
            }
            let inst = self.module.inst(missing.of, missing.inst);
            let inst = inst.map_or_else(String::new, |(inst, scope)| inst_text_in(inst, scope));
            Error { at, kind: ErrorKind::Missing { inst, needs: missing.since, version, target } }
        };
        let most = if is_older { 1 } else { usize::MAX };
        self.module.missing().take(most).map(error).collect()
    }

    /// What `.loc` says the instruction at a place of the text comes from: the file, by its name, and the place in it. None where no
    /// instruction stands there, and where no `.loc` stands before it.
    ///
    /// ```
    /// use halfbyte_isa::object::Loc;
    ///
    /// let text = halfbyte_isa::ptx::text::read_each(
    ///     ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.loc 1 12 5\nret;\n}\n.file 1 \"k.py\"\n",
    /// )?;
    /// assert_eq!(text.source_of(Loc { line: 6, column: 1 }), Some(("k.py", Loc { line: 12, column: 5 })));
    /// assert_eq!(text.source_of(Loc { line: 5, column: 1 }), None);
    /// # Ok::<(), Vec<halfbyte_isa::ptx::text::Error>>(())
    /// ```
    pub fn source_of(&self, at: Loc) -> Option<(&str, Loc)> {
        let places = (self.locs.iter().zip(&self.sources)).chain(self.function_locs.iter().zip(&self.function_sources));
        let found = places.flat_map(|(locs, sources)| locs.iter().zip(sources)).find(|(loc, _)| **loc == at);
        let source = found.map(|(_, source)| source).filter(|source| source.loc.is_known())?;
        Some((self.file(source.file)?, source.loc))
    }

    /// The name of a file by its number.
    pub fn file(&self, number: u32) -> Option<&str> {
        self.files.iter().find(|(of, _)| *of == number).map(|(_, name)| name.as_str())
    }
}

/// Reads a file of which everything is taken.
///
/// # Errors
/// What is wrong with it or not taken, in the order of the text; after an error in an instruction or a declaration reading goes
/// on with the next.
pub fn read(text: &str) -> Result<Text, Vec<Error>> {
    let read = reader::read(text)?;
    let errors = read.not_taken();
    if errors.is_empty() { Ok(read) } else { Err(errors) }
}

/// Reads a file kernel by kernel: those that are not taken stand in [`Text::refused`].
///
/// # Errors
/// What is wrong with the file, as an assembler would say, and what is not taken beside it.
pub fn read_each(text: &str) -> Result<Text, Vec<Error>> {
    reader::read(text)
}
