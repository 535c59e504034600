//! Source files of a module. The positions of all files are numbered consecutively: first those of
//! the main file, then those of the included files.

use halfbyte_ir::Span;
use halfbyte_ir::diag::position;

use crate::std_lib;

/// Loader of included files. The crate itself opens no files.
pub trait Includes {
    /// Returns the text of the file that `include "path"` in the file `from` refers to, and the
    /// file's name for messages.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be included, as the message states it.
    fn open(&self, path: &str, from: &str) -> Result<Included, String>;
}

/// An included file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Included {
    /// Name of the file. Files of the same name are the same file, which is read once.
    pub name: String,
    /// Text of the file.
    pub text: String,
}

/// Loader that finds only the files of the standard library (`std/..`).
#[derive(Clone, Copy, Debug, Default)]
pub struct StdOnly;

impl Includes for StdOnly {
    fn open(&self, _: &str, _: &str) -> Result<Included, String> {
        Err("a text without a file cannot include other files".into())
    }
}

/// Included file, with the number of its first position.
#[derive(Debug)]
struct File {
    name: String,
    text: String,
    base: u32,
    /// The `include` in the main file that led to this file, directly or through other files.
    at: Span,
}

#[derive(Debug, Default)]
pub(crate) struct Files {
    main: u32,
    others: Vec<File>,
}

impl Files {
    /// Creates the set of files for a main file of `main` bytes.
    pub(crate) fn new(main: u32) -> Files {
        Files { main, others: Vec::new() }
    }

    /// Adds a file to which the `include` at `at` led, and returns the number of the file's first
    /// position. Returns `None` if a position would not fit in 32 bits.
    pub(crate) fn add(&mut self, Included { name, text }: Included, at: Span) -> Option<u32> {
        let base = match self.others.last() {
            Some(file) => file.base.checked_add(file.text.len() as u32)?.checked_add(1)?,
            None => self.main.checked_add(1)?,
        };
        base.checked_add(u32::try_from(text.len()).ok()?)?;
        self.others.push(File { name, text, base, at });
        Some(base)
    }

    /// Returns `true` if `span` is in the main file.
    pub(crate) fn is_main(&self, span: Span) -> bool {
        span.start <= self.main
    }

    fn file(&self, span: Span) -> Option<&File> {
        let before = self.others.partition_point(|file| file.base <= span.start);
        before.checked_sub(1).and_then(|at| self.others.get(at))
    }

    /// Returns `true` if `span` is in the standard library.
    pub(crate) fn is_library(&self, span: Span) -> bool {
        self.file(span).is_some_and(|file| std_lib::text(&file.name).is_some())
    }

    /// Returns the `include` in the main file that led to the file that contains `span`. Returns
    /// `None` if that file is the main file.
    pub(crate) fn included_at(&self, span: Span) -> Option<Span> {
        self.file(span).map(|file| file.at)
    }

    /// Formats a position in an included file for messages: `file:line:column`.
    pub(crate) fn place(&self, span: Span) -> String {
        match self.file(span) {
            Some(file) => {
                let at = position(&file.text, span.start - file.base);
                format!("{}:{}:{}", file.name, at.line, at.column)
            }
            None => String::new(),
        }
    }
}
