//! Writer of PTX modules, kernel by kernel.

use crate::object::Loc;
use crate::ptx::module::{Entry, Kernel, TargetName};
use crate::ptx::types::{Requirements, Suffix};
use halfbyte_abi::Sm;

use super::join::{Joined, join};
use super::printer::Printer;

/// Writes a module kernel by kernel and keeps only the text in memory. Kernels with variables or functions are written
/// last, because the names of these symbols depend on the names of all kernels.
pub struct Writer {
    sm: Sm,
    /// The name of the source file. `None` if the module gets no `.loc` directives.
    source: Option<String>,
    version: (u8, u8),
    suffix: Option<Suffix>,
    /// The text of the kernels written so far.
    text: Printer,
    /// The names of the kernels.
    names: Vec<String>,
    /// The kernels with variables or functions, which are written last.
    waiting: Vec<Waiting>,
}

/// A kernel that is written after the names of all kernels are known.
struct Waiting {
    /// Byte offset in the text at which the kernel is inserted.
    at: usize,
    entry: Entry,
    locs: Vec<Loc>,
}

impl Writer {
    /// Creates a writer of a module for an SM; `capacity` is the initial capacity of the text in bytes. If `source`
    /// names a source file, the module contains `.file` and `.loc` directives for assembler and debugger.
    pub fn new(sm: Sm, source: Option<&str>, capacity: usize) -> Writer {
        // In PTX, a string cannot contain a line break or a quote.
        let source = source.map(|name| name.replace(|c: char| c == '"' || c.is_control(), "_"));
        let text = Printer::with_capacity(capacity);
        let version = Requirements::first(sm).version;
        Writer { sm, source, version, suffix: None, text, names: Vec::new(), waiting: Vec::new() }
    }

    /// Adds a kernel. Raises the PTX version and the target to the lowest ones that support all
    /// kernels. `locs` are the source locations of the kernel's instructions.
    pub fn add(&mut self, kernel: Kernel, locs: &[Loc]) {
        self.version = self.version.max(kernel.version);
        self.suffix = self.suffix.max(kernel.target.suffix);
        let locs = if self.source.is_some() { locs } else { &[] };
        let entry = kernel.entry;
        if entry.variables.is_empty() && entry.functions.is_empty() {
            self.text.separate(&entry, locs);
            self.names.push(entry.name);
        } else {
            self.names.push(entry.name.clone());
            self.waiting.push(Waiting { at: self.text.len(), entry, locs: locs.to_vec() });
        }
    }

    /// Returns the text of the module with all kernels.
    pub fn finish(self) -> String {
        let Writer { sm, source, version, suffix, text, names, mut waiting } = self;
        let Joined { variables, functions } = join(names, waiting.iter_mut().map(|kernel| &mut kernel.entry));
        let mut head = Printer::of_head(version, TargetName { sm: sm.number(), suffix });
        if let Some(source) = source {
            head.all(&[".file 1 \"", &source, "\"\n"]);
        }
        functions.iter().for_each(|(functions, reached)| head.declare(functions, reached));
        head.variables(&variables, &[]);
        functions.iter().for_each(|(functions, reached)| head.define(functions, reached, &variables));
        let mut written = text.into_text();
        if waiting.is_empty() {
            written.insert_str(0, &head.into_text());
            return written;
        }
        let mut done = 0;
        for Waiting { at, entry, locs } in &waiting {
            head.all(&[written.get(done..*at).unwrap_or_default()]);
            head.separate(entry, locs);
            done = *at;
        }
        head.all(&[written.get(done..).unwrap_or_default()]);
        head.into_text()
    }
}
