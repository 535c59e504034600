//! Writes a file kernel by kernel.

use crate::object::Loc;
use crate::ptx::module::{Entry, Kernel, TargetName};
use crate::ptx::types::{Since, Suffix};
use halfbyte_abi::Sm;

use super::join::{Joined, join};
use super::printer::Printer;

/// Writes a file kernel by kernel, of which it keeps nothing but the text. Only kernels with variables or functions wait: what these
/// are called hangs on the names of all kernels.
pub struct Writer {
    sm: Sm,
    /// The name of the source text, where the lines of it are to be said.
    source: Option<String>,
    version: (u8, u8),
    suffix: Option<Suffix>,
    /// What was written of the kernels so far.
    text: Printer,
    /// The kernels' names.
    names: Vec<String>,
    /// Those that wait, in order.
    waiting: Vec<Waiting>,
}

/// A kernel that is written when all others are.
struct Waiting {
    /// Where in the text.
    at: usize,
    entry: Entry,
    locs: Vec<Loc>,
}

impl Writer {
    /// A file for an SM without kernels so far, with room for so many bytes before it has to grow. With the name of the source
    /// text, the file tells assembler and debugger which place in that each instruction comes from.
    pub fn new(sm: Sm, source: Option<&str>, capacity: usize) -> Writer {
        // A string ends at its line's end, and nothing stands for a quote in it.
        let source = source.map(|name| name.replace(|c: char| c == '"' || c.is_control(), "_"));
        let text = Printer::with_capacity(capacity);
        let version = Since::first(sm).version;
        Writer { sm, source, version, suffix: None, text, names: Vec::new(), waiting: Vec::new() }
    }

    /// Adds a kernel. The file gets the least version and the target that have what the kernels need together. `locs` are the
    /// places of its instructions in the source text.
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

    /// The text.
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
