//! Compiler of rule files for build scripts. The rule compiler generates the ISLE declarations of
//! the IR, the compiled rules, and a table of the rules.
//!
//! A rule file is ISLE in which every rule has a name. The checks of a rule are comments above the
//! rule:
//!
//! ```text
//! ;; check [t: f16x2 bf16x2] [r: "" .rz] (%a: $t, %b: $t): %r = fadd$r.$t %a, %b
//! (rule fadd_rr (lower (Fadd (half ty) flags a b)) ...)
//! ```
//!
//! A check is a kernel that the rule matches, from which tests are generated. `[name: values]` is a
//! variable, and the check represents one kernel per combination of values. The inputs are in
//! parentheses. The instructions of the body follow, separated by `;`. The last instruction
//! computes the result.
//!
//! If a term is declared but has no rules, no extractor and no external definition, it is a
//! constructor in Rust: a method with the term's name.

mod book;
mod declare;
mod patterns;
mod table;
mod text;

pub use book::{compile_book, pass_declarations};
pub use declare::{Terms, ir_declarations, ir_methods};

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cranelift_isle::codegen::CodegenOptions;
use cranelift_isle::files::Files;
use cranelift_isle::{ast, compile, lexer, parser};

/// An error of rule compilation, as a message for the build log.
pub struct RuleError(pub String);

// A build script that returns an error prints the error's `Debug` form.
impl std::fmt::Debug for RuleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Display for RuleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RuleError {}

/// A set of rules to compile together.
pub struct Rulebook<'a> {
    /// The name of the generated files. `NAME.rs` holds the compiled rules and `NAME_rules.rs` the table of the rules.
    /// `NAME_terms.rs` holds the terms with which the patterns in the table are evaluated.
    pub name: &'a str,
    /// The crate's folder in the repository.
    pub folder: &'a str,
    /// Generated declarations, which are compiled in front of the files.
    pub declarations: String,
    /// Files of declarations and rules, in order.
    pub files: &'a [PathBuf],
    /// The directory for the generated files.
    pub out_dir: &'a Path,
    /// Returns `true` if a type belongs to a class, given the name of the class in patterns such as
    /// `(half ty)`. Returns `None` if no class has this name.
    pub type_class: &'a dyn Fn(&str, halfbyte_ir::Type) -> Option<bool>,
}

impl Rulebook<'_> {
    /// Compiles the rules. Overlapping and unreachable rules are errors. Every rule records its
    /// number in the trace when it fires.
    pub fn compile(&self) -> Result<(), RuleError> {
        self.compile_defs().map(|_| ())
    }

    /// Compiles the rules and returns the parsed definitions of all files.
    fn compile_defs(&self) -> Result<Vec<ast::Def>, RuleError> {
        let declared = self.out_dir.join(format!("{}_declarations.isle", self.name));
        write(&declared, &self.declarations)?;
        let paths: Vec<&Path> =
            std::iter::once(declared.as_path()).chain(self.files.iter().map(PathBuf::as_path)).collect();
        let files = Files::from_paths(&paths, &[])
            .map_err(|(path, e)| RuleError(format!("cannot read {}: {e}", path.display())))?;
        let files = Arc::new(files);
        let mut defs = Vec::new();
        for (number, text) in files.file_texts.iter().enumerate() {
            let parsed = lexer::Lexer::new(number, text).and_then(parser::parse);
            defs.extend(parsed.map_err(|e| RuleError(format!("{}: {e:?}", paths[number].display())))?);
        }
        defs.extend(constructors(&defs));
        let mut patterns = patterns::Patterns::new(&defs, &files);
        let rules = table::number_rules(&mut defs, &files, &paths, self.folder, &mut patterns)?;
        let table = table::render(&rules, &patterns, self.type_class)?;
        write(&self.out_dir.join(format!("{}_rules.rs", self.name)), &table)?;
        write(&self.out_dir.join(format!("{}_terms.rs", self.name)), &patterns.vocabulary()?)?;
        let code = compile::compile(
            files,
            &defs,
            &CodegenOptions { exclude_global_allow_pragmas: true, ..CodegenOptions::default() },
        )
        .map_err(|e| RuleError(format!("{e}")))?;
        write(&self.out_dir.join(format!("{}.rs", self.name)), &code)?;
        Ok(defs)
    }
}

/// Returns external constructors for the terms that are declared but have no other definition. Each
/// constructor is a Rust method with the term's name.
fn constructors(defs: &[ast::Def]) -> Vec<ast::Def> {
    let defined: HashSet<&str> = defs
        .iter()
        .filter_map(|def| match def {
            ast::Def::Rule(rule) => rule.pattern.root_term(),
            ast::Def::Extractor(extractor) => Some(&extractor.term),
            ast::Def::Extern(ast::Extern::Extractor { term, .. } | ast::Extern::Constructor { term, .. }) => Some(term),
            _ => None,
        })
        .map(|term| term.0.as_str())
        .collect();
    let declared = defs.iter().filter_map(|def| match def {
        ast::Def::Decl(decl) if !defined.contains(decl.term.0.as_str()) => Some(decl),
        _ => None,
    });
    let constructor = |decl: &ast::Decl| {
        let (term, func, pos) = (decl.term.clone(), decl.term.clone(), decl.pos);
        ast::Def::Extern(ast::Extern::Constructor { term, func, pos })
    };
    declared.map(constructor).collect()
}

/// Returns `true` for the number of the file with the generated declarations, whose rules are not traced.
fn is_generated(pos_file: usize) -> bool {
    pos_file == 0
}

fn write(path: &Path, text: &str) -> Result<(), RuleError> {
    std::fs::write(path, text).map_err(|e| RuleError(format!("cannot write {}: {e}", path.display())))
}

fn rule_mut(def: &mut ast::Def) -> Option<&mut ast::Rule> {
    match def {
        ast::Def::Rule(rule) => Some(rule),
        _ => None,
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
