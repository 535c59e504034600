//! PTX source text. [`read`] parses a [`Module`], and the text of a printed module parses to the
//! same module. A [`Writer`] writes modules kernel by kernel. [`link`] merges several texts.

mod approximations;
mod body;
mod constant;
mod error;
mod function;
mod instruction;
mod join;
mod lexer;
mod link;
mod names;
mod number;
mod operand;
mod printer;
mod reader;
mod split;
mod unsupported;
mod variables;
mod writer;

pub use approximations::Approximation;
pub use error::{Error, ErrorKind, Verdict};
pub use link::{LinkError, link};
pub use printer::{inst_text, inst_text_in};
pub use writer::Writer;

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use super::module::{Module, Owner, UnsupportedInst};
use super::names::ir_name;
use crate::object::Loc;

/// A parsed PTX file.
#[derive(Clone, Debug)]
pub struct ParsedFile {
    /// The module.
    pub module: Module,
    /// For each kernel, the location of the first character of each instruction; columns count bytes from 1.
    pub locs: Vec<Vec<Loc>>,
    /// For each kernel, the source location of each instruction, from `.loc` directives.
    pub sources: Vec<Vec<SourceLocation>>,
    /// The source files that `.file` directives declare, by their indices.
    pub files: BTreeMap<u32, String>,
    /// The call sites that `.loc` directives declare after `inlined_at`.
    /// [`SourceLocation::inlined_at`] is an index in this list.
    pub call_sites: Vec<SourceLocation>,
    /// The kernels that are rejected because they use unsupported features.
    pub refused: Vec<RejectedKernel>,
    /// For each function, the location of the first character of each instruction. Empty for a
    /// function without a definition.
    pub function_locs: Vec<Vec<Loc>>,
    /// For each function, the source location of each instruction, from `.loc` directives.
    pub function_sources: Vec<Vec<SourceLocation>>,
    /// Errors about unsupported features outside kernels, such as unsupported functions. A kernel
    /// that uses such a feature is rejected.
    pub unsupported: Vec<Error>,
    names: KernelNames,
    most_params: usize,
}

/// The names of the kernels of a file.
#[derive(Clone, Default, Debug)]
struct KernelNames {
    by_name: HashMap<String, KernelNumber>,
    by_ir_name: HashMap<String, KernelNumber>,
}

/// The position of a kernel among the supported or the rejected kernels of a PTX file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelNumber {
    /// Index in [`Module::entries`].
    Entry(usize),
    /// Index in [`ParsedFile::refused`].
    Refused(usize),
}

/// A kernel that is rejected because it uses an unsupported feature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RejectedKernel {
    /// Name of the kernel.
    pub name: String,
    /// The location of the kernel's name in the PTX text.
    pub at: Loc,
    /// The errors of the kernel, in the order of the text. The first error is about the unsupported
    /// feature; the errors after it may be consequences.
    pub errors: Vec<Error>,
}

/// The source location of an instruction, from `.loc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceLocation {
    /// The index of the source file, as `.file` declares it.
    pub file: u32,
    /// The line and column in the source file. Unknown if no `.loc` precedes the instruction.
    pub loc: Loc,
    /// Call site of the inlined function that contains this location, as an index in [`ParsedFile::call_sites`].
    pub inlined_at: Option<u32>,
}

/// The source location of an instruction, followed by the call sites at which its function is inlined,
/// innermost first. Each location has the name of its file. The list is never empty.
///
/// `Display` writes `k.py:12, inlined at k.py:30`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin<'a>(pub Vec<(&'a str, Loc)>);

/// Maximum number of locations of an [`Origin`].
const MAX_ORIGIN: usize = 8;

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(depth, (file, loc))| {
            write!(f, "{}{file}:{}", if depth == 0 { "" } else { ", inlined at " }, loc.line)
        })
    }
}

impl ParsedFile {
    /// Collects the names of the kernels.
    fn with_names(mut self) -> ParsedFile {
        let entries = self.module.entries.iter().map(|entry| &entry.name).zip((0..).map(KernelNumber::Entry));
        let refused = self.refused.iter().map(|refused| &refused.name).zip((0..).map(KernelNumber::Refused));
        self.most_params = self.module.entries.iter().map(|entry| entry.params.len()).max().unwrap_or(0);
        for (name, number) in entries.chain(refused) {
            self.names.by_name.insert(name.clone(), number);
            self.names.by_ir_name.entry(ir_name(name)).or_insert(number);
        }
        self
    }

    /// Returns the kernel with this name in the PTX text.
    pub fn kernel(&self, name: &str) -> Option<KernelNumber> {
        self.names.by_name.get(name).copied()
    }

    /// Returns the kernel with this name in the PTX text or, if there is none, the first kernel with the same
    /// [IR name](ir_name).
    pub fn kernel_by_ir_name(&self, name: &str) -> Option<KernelNumber> {
        self.kernel(name).or_else(|| self.names.by_ir_name.get(&ir_name(name)).copied())
    }

    /// Returns the maximum number of parameters of a kernel.
    pub fn most_params(&self) -> usize {
        self.most_params
    }

    /// Returns all errors about unsupported features, in the order of the text.
    pub fn unsupported_errors(&self) -> Vec<Error> {
        let of_kernels = self.refused.iter().flat_map(|refused| &refused.errors);
        let mut errors: Vec<Error> = self.unsupported.iter().chain(of_kernels).cloned().collect();
        errors.sort_by_key(|error| (error.at.line, error.at.column));
        errors
    }

    /// Returns an error for each instruction that the `.version` and `.target` of the module do not support, as an
    /// assembler does.
    pub fn missing(&self) -> Vec<Error> {
        let Module { version, target, .. } = self.module;
        let error = |missing: UnsupportedInst| {
            let of = match missing.of {
                Owner::Entry(number) => self.locs.get(number),
                Owner::Function(number) => self.function_locs.get(number),
            };
            let at = of.and_then(|locs| locs.get(missing.inst)).copied().unwrap_or_default();
            let inst = self.module.inst(missing.of, missing.inst);
            let inst = inst.map_or_else(String::new, |(inst, scope)| inst_text_in(inst, scope));
            Error { at, kind: ErrorKind::Missing { inst, needs: missing.since, version, target } }
        };
        self.module.missing().map(error).collect()
    }

    /// Returns the source location of the instruction at the location `at` of the PTX text. Returns
    /// `None` if no instruction begins at `at`, or if no `.loc` precedes the instruction.
    ///
    /// ```
    /// use halfbyte_isa::object::Loc;
    ///
    /// let text = halfbyte_isa::ptx::text::read_each(
    ///     ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.loc 1 30 3\nret;\n\
    ///      .loc 1 12 5, function_name $L0, inlined_at 1 30 3\nret;\n}\n.file 1 \"k.py\"\n",
    /// )?;
    /// let origin = |line| text.source_of(Loc { line, column: 1 }).map(|origin| origin.to_string());
    /// assert_eq!(origin(6).as_deref(), Some("k.py:30"));
    /// assert_eq!(origin(8).as_deref(), Some("k.py:12, inlined at k.py:30"));
    /// assert_eq!(origin(5), None);
    /// # Ok::<(), Vec<halfbyte_isa::ptx::text::Error>>(())
    /// ```
    pub fn source_of(&self, at: Loc) -> Option<Origin<'_>> {
        let mut bodies =
            (self.locs.iter().zip(&self.sources)).chain(self.function_locs.iter().zip(&self.function_sources));
        // The instructions of a body are in the order of the text.
        let place = |loc: &Loc| (loc.line, loc.column);
        let found = bodies.find_map(|(locs, sources)| sources.get(locs.binary_search_by_key(&place(&at), place).ok()?));
        let first = found.filter(|source| source.loc.is_known())?;
        let outer = |of: &&SourceLocation| self.call_sites.get(of.inlined_at? as usize);
        let all = std::iter::successors(Some(first), outer).take(MAX_ORIGIN);
        let all: Vec<(&str, Loc)> = all.map_while(|of| Some((self.file(of.file)?, of.loc))).collect();
        (!all.is_empty()).then_some(Origin(all))
    }

    /// Returns the name of the source file with this index, if `.file` declares it.
    pub fn file(&self, number: u32) -> Option<&str> {
        self.files.get(&number).map(String::as_str)
    }
}

/// Parses a PTX file. An unsupported feature anywhere in the file is an error.
///
/// # Errors
/// Returns the errors, including those about unsupported features, in the order of the text. After
/// an error in an instruction or declaration, parsing continues with the next one.
pub fn read(text: &str) -> Result<ParsedFile, Vec<Error>> {
    let read = reader::read(text)?;
    let errors = read.unsupported_errors();
    if errors.is_empty() { Ok(read) } else { Err(errors) }
}

/// Parses a PTX file kernel by kernel. Kernels with unsupported features are listed in [`ParsedFile::refused`].
///
/// # Errors
/// If an assembler would reject the file, returns its errors and those about unsupported features.
pub fn read_each(text: &str) -> Result<ParsedFile, Vec<Error>> {
    reader::read(text)
}
