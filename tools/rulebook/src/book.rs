//! User-defined rule books for the passes of `halfbyte-lower`. Each rule book is compiled to one
//! file, which the user's crate includes.
//!
//! ISLE generates a trait `Context` from the rule files, with one method for each external term.
//! The methods for terms of the IR and of the prelude call the pass's own `Context`. Terms that the
//! files of the rule book declare become methods of the trait `Terms`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use cranelift_isle::ast::{Decl, Def, Extern};

use crate::declare::{Terms, ir_declarations};
use crate::{RuleError, Rulebook, is_generated, write};
use halfbyte_ir::Type;

/// The terms that rules of passes can use besides the ops of the IR.
const PRELUDE: &str = include_str!("../rules/prelude.isle");

/// Returns the declarations of the IR and of the prelude for rules of passes.
pub fn pass_declarations() -> String {
    ir_declarations(Terms::Construct) + PRELUDE
}

/// Compiles a rule book of the calling package, for use in a build script. The output is `NAME_book.rs` in `OUT_DIR`,
/// which `halfbyte_lower::rule_book!("NAME")` includes. The file paths are relative to the package.
///
/// The rules belong to `simplify`, which the pass `canon` applies, or to `expand`, which the pass `legalise` applies.
/// The files declare the terms for which they have rules: `(decl partial simplify (Inst) Value)`, `(decl multi expand
/// (Inst) Value)`.
///
/// # Errors
/// A file cannot be read or written or is not valid ISLE, a rule has no name, rules overlap, or a rule is unreachable.
pub fn compile_book(name: &str, files: &[&str]) -> Result<(), RuleError> {
    files.iter().for_each(|file| println!("cargo:rerun-if-changed={file}"));
    let out_dir = std::env::var_os("OUT_DIR").map(PathBuf::from);
    let out_dir =
        out_dir.ok_or_else(|| RuleError("OUT_DIR is not set: call `compile_book` from a build script".to_string()))?;
    let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    let book = Rulebook {
        name,
        folder: "",
        declarations: pass_declarations(),
        files: &files,
        out_dir: &out_dir,
        type_class: &|_, _| None,
    };
    let defs = book.compile_defs()?;
    write(&out_dir.join(format!("{name}_book.rs")), &render(name, &out_dir, &defs)?)
}

/// Generates the file that the user's crate includes: the compiled rules, their table, and the static `BOOK`.
fn render(name: &str, out_dir: &Path, defs: &[Def]) -> Result<String, RuleError> {
    let part = |suffix: &str| {
        let path = out_dir.join(format!("{name}{suffix}.rs"));
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|e| RuleError(format!("cannot read {}: {e}", path.display())))?;
        // The including crate may not depend on the crate `halfbyte_ir` directly.
        Ok(text.replace("halfbyte_ir::", "ir::"))
    };
    let (rules, terms, table) = (part("")?, part("_terms")?, part("_rules")?);
    let (leads, own) = methods(defs)?;
    let allow = "#[allow(dead_code, unused_imports, unused_variables, unused_mut, unused_assignments, unreachable_code, \
                 unreachable_patterns, irrefutable_let_patterns, non_snake_case, non_camel_case_types, missing_docs, unreachable_pub, clippy::all, \
                 clippy::pedantic)]";
    let mut out = format!(
        "{allow}\nmod generated {{\nuse ::halfbyte_lower::terms::*;\nuse super::*;\n\n{}\n{rules}\n{terms}\n}}\n\n\
         {allow}\nmod table {{\nuse ::halfbyte_lower::terms::*;\n{table}\n}}\n\n",
        types(),
    );
    let (bound, trait_of_own) = match own.is_empty() {
        true => ("", String::new()),
        false => {
            ("Terms", format!("/// The terms that the book's own files declare.\npub trait Terms {{\n{own}}}\n\n"))
        }
    };
    let _ = write!(
        out,
        "{trait_of_own}const _: () = {{\n{allow}\nmod context {{\nuse ::halfbyte_lower::terms::*;\n{} \
         impl super::generated::Context for Rewriter<'_> {{\n{leads}}}\n}}\n}};\n",
        if bound.is_empty() { "" } else { "use super::Terms;" },
    );
    let defines = |term: &str| defs.iter().any(|def| matches!(def, Def::Decl(decl) if decl.term.0 == term));
    let _ = write!(
        out,
        "/// The rules of `{name}`.\n#[derive(Clone, Copy, PartialEq, Eq, Debug)]\npub struct Book;\n\n\
         /// The rules of `{name}`.\npub static BOOK: Book = Book;\n\n\
         impl ::halfbyte_lower::RuleBook for Book {{\n\
         fn name(&self) -> &'static str {{ {name:?} }}\n\
         fn rules(&self) -> &'static [::halfbyte_lower::terms::Rule] {{ table::RULES }}\n\
         fn walk(&self, rewriter: &mut ::halfbyte_lower::Rewriter<'_>, rule: &::halfbyte_lower::terms::Rule, \
         inst: ::halfbyte_lower::terms::Inst) -> ::halfbyte_lower::terms::Walk {{\n\
         ::halfbyte_lower::terms::walk(&mut generated::Terms(rewriter), rule, &[generated::Datum::Inst(inst)])\n}}\n"
    );
    if defines("simplify") {
        out.push_str(
            "fn simplify(&self, rewriter: &mut ::halfbyte_lower::Rewriter<'_>, inst: ::halfbyte_lower::terms::Inst) \
             -> Option<::halfbyte_lower::terms::Value> {\ngenerated::constructor_simplify(rewriter, inst)\n}\n",
        );
    }
    if defines("expand") {
        out.push_str(
            "fn expand(&self, rewriter: &mut ::halfbyte_lower::Rewriter<'_>, inst: ::halfbyte_lower::terms::Inst) \
             -> Vec<::halfbyte_lower::terms::Value> {\nlet mut values = Vec::new();\n\
             generated::constructor_expand(rewriter, inst, &mut values);\nvalues\n}\n",
        );
    }
    out.push_str("}\n");
    Ok(out)
}

/// Generates constants for the types, by the names that patterns use.
fn types() -> String {
    let constant = |ty: &Type| format!("const {0}: Type = Type::{0};\n", ty.ident());
    Type::ALL.iter().map(constant).collect()
}

/// Returns two texts of Rust methods: those of `Context`, which call the pass or the rule book's
/// `Terms`, and the declarations of `Terms`.
fn methods(defs: &[Def]) -> Result<(String, String), RuleError> {
    let (mut leads, mut own) = (String::new(), String::new());
    for def in defs {
        let (term, func, extracts) = match def {
            Def::Extern(Extern::Extractor { term, func, infallible, .. }) => (term, func, Some(*infallible)),
            Def::Extern(Extern::Constructor { term, func, .. }) => (term, func, None),
            _ => continue,
        };
        let decl = defs.iter().find_map(|def| match def {
            Def::Decl(decl) if decl.term.0 == term.0 => Some(decl),
            _ => None,
        });
        let decl = decl.ok_or_else(|| RuleError(format!("term {} is not declared", term.0)))?;
        let (operands, given) = operands(decl, extracts.is_some());
        let result = result(decl, extracts);
        let name = &func.0;
        let of = if is_generated(decl.pos.file) { "Prelude" } else { "Terms" };
        let signature = format!("fn {name}(&mut self, {operands}) -> {result}");
        let _ = writeln!(leads, "{signature} {{ {of}::{name}(self, {given}) }}");
        if of == "Terms" {
            let _ = writeln!(own, "/// `{}`.\n{};", term.0, qualified(&signature));
        }
    }
    Ok((leads, own))
}

/// Returns the parameters of a method, and the arguments with which it calls another method. ISLE
/// passes enums by reference.
fn operands(decl: &Decl, extracts: bool) -> (String, String) {
    let types = if extracts { std::slice::from_ref(&decl.ret_ty) } else { &decl.arg_tys };
    let operand = |(n, ty): (usize, &cranelift_isle::ast::Ident)| {
        let reference = if matches!(ty.0.as_str(), "Op" | "IntCC" | "FloatCC") { "&" } else { "" };
        format!("a{n}: {reference}{}, ", ty.0)
    };
    let given = (0..types.len()).map(|n| format!("a{n}, ")).collect();
    (types.iter().enumerate().map(operand).collect(), given)
}

/// Returns the Rust result type of a term's method.
fn result(decl: &Decl, extracts: Option<bool>) -> String {
    let (whole, is_partial) = match extracts {
        None => (decl.ret_ty.0.clone(), decl.partial),
        Some(infallible) => {
            let parts: Vec<&str> = decl.arg_tys.iter().map(|ty| ty.0.as_str()).collect();
            let whole =
                if let [only] = parts.as_slice() { (*only).to_string() } else { format!("({})", parts.join(", ")) };
            (whole, !infallible)
        }
    };
    if is_partial { format!("Option<{whole}>") } else { whole }
}

/// Adds the path of the IR to the type names in a signature, for code that does not import these types.
fn qualified(signature: &str) -> String {
    const NAMES: [&str; 12] = [
        "Unit",
        "Type",
        "Value",
        "Inst",
        "FloatFlags",
        "LaneMap",
        "MemAttr",
        "FloatCond",
        "AxisOf",
        "Op",
        "IntCC",
        "FloatCC",
    ];
    let mut out = String::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for piece in signature.split_inclusive(|c| !is_word(c)) {
        let word = piece.trim_end_matches(|c| !is_word(c));
        if NAMES.contains(&word) {
            out.push_str("::halfbyte_lower::terms::");
        }
        out.push_str(piece);
    }
    out
}
