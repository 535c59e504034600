//! Outline of a text: its kernels and functions with their statements and names.

use halfbyte_ir::Span;

use crate::ast::{Ast, BlockId, ExprKind, Ident, Param, StmtKind};
use crate::parse::Parser;
use crate::symbols::{Sym, Symbols};

/// A kernel or function of a text.
#[derive(Clone, Debug)]
pub struct Item {
    /// Name of the kernel or function.
    pub name: String,
    /// Position of the name.
    pub at: Span,
    /// Source range from the name to the end of the body.
    pub span: Span,
    /// `true` for a kernel, `false` for a function.
    pub is_kernel: bool,
    /// Functions that the body calls, as indices into the list of items.
    pub calls: Vec<usize>,
    /// Source ranges of the statements, without the statements nested in them, in source order.
    pub statements: Vec<Span>,
    /// Occurrences of the names of values, in source order.
    pub names: Vec<Name>,
}

/// Occurrence of a value's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    /// Position of the name.
    pub span: Span,
    /// `true` if this occurrence declares the name.
    pub is_declared: bool,
    /// The statement, loop header or parameter that assigns the value, if this occurrence is assigned.
    pub set_by: Option<Span>,
}

/// Returns the kernels and functions of a text in the kernel language, in source order. Items that
/// cannot be parsed are omitted.
///
/// ```
/// let items = halfbyte_lang::outline("fn f(a: i32) -> i32 { a + 1 }\nkernel k(y: out i32) { y[0] = f(2) }\n");
/// assert_eq!(items[1].name, "k");
/// assert_eq!(items[1].calls, [0]);
/// ```
pub fn outline(text: &str) -> Vec<Item> {
    if u32::try_from(text.len()).is_err() {
        return Vec::new();
    }
    let (mut ast, mut symbols, mut errors) = (Ast::default(), Symbols::default(), Vec::new());
    Parser::new(text, 0, &mut ast, &mut symbols, &mut errors).file();
    let kernels = ast.kernels.iter().map(|kernel| (kernel.name, kernel.params.as_slice(), kernel.body, true));
    let functions = ast.functions.iter().map(|of| (of.name, of.params.as_slice(), of.body, false));
    let mut declared: Vec<_> = kernels.chain(functions).collect();
    declared.sort_by_key(|(name, ..)| name.span.start);
    let called: Vec<Option<Sym>> = declared.iter().map(|(name, _, _, kernel)| (!kernel).then_some(name.sym)).collect();
    let item = |&(name, params, body, is_kernel): &(Ident, &[Param], BlockId, bool)| Item {
        name: symbols.text(name.sym).to_owned(),
        at: name.span,
        span: Span { start: name.span.start, end: ast.block(body).span.end },
        is_kernel,
        calls: calls(&ast, ast.block(body).span, &called),
        statements: statements(&ast, ast.block(body).span),
        names: names(&ast, params, ast.block(body).span),
    };
    declared.iter().map(item).collect()
}

fn calls(ast: &Ast, body: Span, called: &[Option<Sym>]) -> Vec<usize> {
    let mut found: Vec<usize> = ast
        .exprs_in(body)
        .filter_map(|expr| match expr.kind {
            ExprKind::Call { name, .. } => called.iter().position(|sym| *sym == Some(name.sym)),
            _ => None,
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn statements(ast: &Ast, body: Span) -> Vec<Span> {
    let mut all: Vec<Span> = ast.stmts_in(body).map(|stmt| stmt.span).collect();
    // A statement sorts before the statements nested in it.
    all.sort_unstable_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let inner = |at: usize, span: &Span| all.get(at + 1).is_some_and(|next| next.start < span.end);
    all.iter().enumerate().filter(|&(at, span)| !inner(at, span)).map(|(_, span)| *span).collect()
}

fn names(ast: &Ast, params: &[Param], body: Span) -> Vec<Name> {
    let declared = |name: &Ident, by: Span| Name { span: name.span, is_declared: true, set_by: Some(by) };
    let mut found: Vec<Name> = params.iter().map(|param| declared(&param.name, param.span)).collect();
    let mut targets = Vec::new();
    for stmt in ast.stmts_in(body) {
        match stmt.kind {
            StmtKind::Let { names, .. } => {
                found.extend(ast.idents(names).iter().map(|name| declared(name, stmt.span)));
            }
            StmtKind::Vars { name, .. } | StmtKind::Const { name, .. } => found.push(declared(&name, stmt.span)),
            StmtKind::Array(array) => found.push(declared(&array.name, stmt.span)),
            StmtKind::For(numbers) | StmtKind::UnrollFor(numbers) => {
                let head = Span { start: stmt.span.start, end: ast.block(numbers.body).span.start };
                found.push(declared(&numbers.name, head));
            }
            StmtKind::Assign { target, .. } => {
                let mut target = ast.expr(target);
                if let ExprKind::Index { base, .. } = target.kind {
                    target = ast.expr(base);
                }
                targets.push((target.span, stmt.span));
            }
            _ => {}
        }
    }
    targets.sort_unstable_by_key(|(target, _)| target.start);
    for expr in ast.exprs_in(body) {
        if let ExprKind::Name(_) = expr.kind {
            let set_by = targets.binary_search_by_key(&expr.span.start, |(target, _)| target.start);
            let set_by = set_by.ok().and_then(|at| targets.get(at)).filter(|(target, _)| *target == expr.span);
            found.push(Name { span: expr.span, is_declared: false, set_by: set_by.map(|(_, by)| *by) });
        }
    }
    found.sort_unstable_by_key(|name| name.span.start);
    found.dedup_by_key(|name| name.span.start);
    found
}
