//! The files that a text is made of, and where names in them lead. Spans of all files are in one space: the text's own first, then
//! those of what it includes.

use halfbyte_ir::Span;
use halfbyte_ir::diag::position;

use crate::std_lib;

/// Where included texts come from. The library itself opens no files.
pub trait Includes {
    /// The text of `include "path"` in the file of that name, and the name by which messages call it.
    ///
    /// # Errors
    /// Why it cannot be had, as a message says it.
    fn open(&self, path: &str, from: &str) -> Result<Included, String>;
}

/// A text that another includes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Included {
    /// The file's name. Texts of one name are one, and are read once.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// Nothing but the library of functions (`std/..`) can be included.
#[derive(Clone, Copy, Debug, Default)]
pub struct StdOnly;

impl Includes for StdOnly {
    fn open(&self, _: &str, _: &str) -> Result<Included, String> {
        Err("no other file can be included in a text that is in none itself".into())
    }
}

/// A file in the space of all.
#[derive(Debug)]
struct File {
    name: String,
    text: String,
    base: u32,
    /// The `include` in the text that led to it.
    at: Span,
}

#[derive(Debug, Default)]
pub(crate) struct Files {
    main: u32,
    others: Vec<File>,
}

impl Files {
    /// The files of a text of that length.
    pub fn new(main: u32) -> Files {
        Files { main, others: Vec::new() }
    }

    /// Adds a file that the `include` there led to, and says where its spans begin; nothing where the texts are longer than spans can say.
    pub fn add(&mut self, Included { name, text }: Included, at: Span) -> Option<u32> {
        let base = match self.others.last() {
            Some(file) => file.base.checked_add(file.text.len() as u32)?.checked_add(1)?,
            None => self.main.checked_add(1)?,
        };
        base.checked_add(u32::try_from(text.len()).ok()?)?;
        self.others.push(File { name, text, base, at });
        Some(base)
    }

    /// Whether a place is in the text itself.
    pub fn is_main(&self, span: Span) -> bool {
        span.start <= self.main
    }

    fn file(&self, span: Span) -> Option<&File> {
        let before = self.others.partition_point(|file| file.base <= span.start);
        before.checked_sub(1).and_then(|at| self.others.get(at))
    }

    /// Whether a place is in the language's own library.
    pub fn is_library(&self, span: Span) -> bool {
        self.file(span).is_some_and(|file| std_lib::text(&file.name).is_some())
    }

    /// The `include` in the text itself that leads to a place in another file.
    pub fn included_at(&self, span: Span) -> Option<Span> {
        self.file(span).map(|file| file.at)
    }

    /// A place in another file as messages name it.
    pub fn place(&self, span: Span) -> String {
        match self.file(span) {
            Some(file) => {
                let at = position(&file.text, span.start - file.base);
                format!("{}:{}:{}", file.name, at.line, at.column)
            }
            None => String::new(),
        }
    }
}
