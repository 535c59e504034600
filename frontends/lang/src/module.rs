//! Parsing and lowering of a source file together with its included files.

use halfbyte_ir::diag::Note;
use halfbyte_ir::verify::MAX_DIAGNOSTICS;
use halfbyte_ir::{Diagnostic, Kernel, Module, Span};

use crate::ast::Ast;
use crate::files::{Files, Included, Includes};
use crate::lower::Lower;
use crate::parse::Parser;
use crate::std_lib;
use crate::symbols::Symbols;

/// Parses and lowers a text in the kernel language, which may also have kernels in plain IR. `file`
/// is the name of the text, relative to which `includes` may open other files.
///
/// # Errors
/// Returns the errors in source order, at most [`MAX_DIAGNOSTICS`].
pub fn read(text: &str, file: &str, includes: &dyn Includes) -> Result<Module, Vec<Diagnostic>> {
    let Ok(len) = u32::try_from(text.len()) else {
        return Err(vec![Diagnostic::new(Span::default(), "the text has 4 GiB or more").expected("a shorter text")]);
    };
    let mut files = Files::new(len);
    let mut loading = Loading {
        ast: Ast::default(),
        symbols: Symbols::default(),
        errors: Vec::new(),
        files: &mut files,
        includes,
        read: vec![file.to_owned()],
    };
    for ty in halfbyte_ir::Type::ALL {
        loading.symbols.sym(ty.name());
    }
    loading.parse(text, 0);
    loading.follow(0, file, None, &mut vec![file.to_owned()]);
    let Loading { ast, symbols, mut errors, .. } = loading;
    let mut kernels: Vec<Kernel> = plain(text, &ast, &mut errors);
    // If an item could not be parsed, lowering is skipped, because each use of the item's name would be reported.
    if !ast.lost {
        let mut lower = Lower::new(&ast, &symbols, &files, errors.is_empty());
        for number in 0..ast.kernels.len() {
            kernels.extend(lower.kernel(number));
        }
        lower.uncalled();
        errors.extend(lower.into_errors());
    }
    kernels.sort_by_key(|kernel| kernel.span.start);
    let mut named: Vec<(&str, Span)> = kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.span)).collect();
    named.sort_by_key(|(name, span)| (*name, span.start));
    for pair in named.windows(2) {
        if let [(first, at), (second, span)] = pair
            && first == second
        {
            let diagnostic = Diagnostic::new(*span, format!("kernel `{second}` is defined twice"))
                .expected("a name that is not in use");
            errors.push(diagnostic.note(Some(*at), "the first is here"));
        }
    }
    if errors.is_empty() {
        return Ok(Module { kernels });
    }
    errors.sort_by_key(|error| error.span.start);
    errors.truncate(MAX_DIAGNOSTICS);
    Err(errors)
}

/// Parses the kernels in plain IR. All other text is replaced by spaces, so that source positions stay valid.
fn plain(text: &str, ast: &Ast, errors: &mut Vec<Diagnostic>) -> Vec<Kernel> {
    if ast.plain.is_empty() {
        return Vec::new();
    }
    let mut masked = vec![b' '; text.len()];
    for (to, from) in masked.iter_mut().zip(text.bytes()).filter(|(_, from)| *from == b'\n') {
        *to = from;
    }
    for span in &ast.plain {
        let range = span.start as usize..span.end as usize;
        if let (Some(to), Some(from)) = (masked.get_mut(range.clone()), text.as_bytes().get(range)) {
            to.copy_from_slice(from);
        }
    }
    // The conversion is lossless, because the copied ranges begin and end with ASCII characters.
    match halfbyte_ir::text::read(&String::from_utf8_lossy(&masked)) {
        Ok(module) => module.kernels,
        Err(found) => {
            errors.extend(found);
            Vec::new()
        }
    }
}

/// State of the parser over a source file and its included files.
struct Loading<'a> {
    ast: Ast,
    symbols: Symbols,
    errors: Vec<Diagnostic>,
    files: &'a mut Files,
    includes: &'a dyn Includes,
    /// Names of the files that have been parsed.
    read: Vec<String>,
}

/// Maximum number of files of a module, including the main file.
const MAX_FILES: usize = 256;

impl Loading<'_> {
    fn parse(&mut self, text: &str, base: u32) {
        Parser::new(text, base, &mut self.ast, &mut self.symbols, &mut self.errors).file();
    }

    /// Parses the files that the `include` items from index `first` on refer to. `at` is the `include` in the main file
    /// that led to them. `around` holds the names of the files that include one another.
    fn follow(&mut self, first: usize, from: &str, at: Option<Span>, around: &mut Vec<String>) {
        let includes: Vec<_> = self.ast.includes.get(first..).unwrap_or_default().to_vec();
        for include in includes {
            let at = at.unwrap_or(include.span);
            let path = self.symbols.text(include.path).to_owned();
            let opened = match std_lib::text(&path) {
                Some(text) => Ok(Included { name: path.clone(), text: text.to_owned() }),
                None if path.starts_with("std/") => {
                    Err(format!("a file of the library: {}", halfbyte_ir::text::one_of(std_lib::names())))
                }
                None => self.includes.open(&path, from),
            };
            let Included { name, text } = match opened {
                Ok(included) => included,
                Err(why) => {
                    self.lost(at, format!("`{path}` cannot be included"), why);
                    continue;
                }
            };
            if around.contains(&name) {
                let chain = around.join("` includes `");
                self.lost(at, format!("`{chain}` includes `{name}`"), "files that do not include each other".into());
                continue;
            }
            if self.read.contains(&name) {
                continue;
            }
            if self.read.len() >= MAX_FILES {
                self.lost(at, format!("more than {MAX_FILES} files"), "fewer".into());
                return;
            }
            let Some(base) = self.files.add(Included { name: name.clone(), text: text.clone() }, at) else {
                self.lost(at, "the texts have 4 GiB or more".into(), "shorter ones".into());
                return;
            };
            self.read.push(name.clone());
            let (errors, next) = (self.errors.len(), self.ast.includes.len());
            let (kernels, plain) = (self.ast.kernels.len(), self.ast.plain.len());
            self.parse(&text, base);
            for error in self.errors.iter_mut().skip(errors) {
                let message = format!("the error is in {}", self.files.place(error.span));
                error.notes = vec![Note { span: None, message }];
                error.span = at;
            }
            if self.ast.kernels.len() > kernels || self.ast.plain.len() > plain {
                self.ast.kernels.truncate(kernels);
                self.ast.plain.truncate(plain);
                self.lost(at, format!("`{name}` has kernels"), "functions, constants and structures".into());
            }
            around.push(name.clone());
            self.follow(next, &name, Some(at), around);
            around.pop();
        }
    }

    fn lost(&mut self, at: Span, message: String, expected: String) {
        self.errors.push(Diagnostic::new(at, message).expected(expected));
        self.ast.lost = true;
    }
}
