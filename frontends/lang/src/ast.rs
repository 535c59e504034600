//! Abstract syntax tree, before names and types are resolved. Nodes are stored in arenas and refer
//! to each other by index, so that dropping a deep tree does not recurse.

use halfbyte_abi::Direction;
use halfbyte_ir::{Space, Span};

use crate::symbols::Sym;

macro_rules! ids {
    ($($name:ident $doc:literal;)*) => {
        $(#[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) struct $name(pub u32);)*
    };
}

ids! {
    ExprId "An expression.";
    BlockId "Statements in braces.";
}

/// Identifier and its source position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ident {
    pub sym: Sym,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    /// No suffix: neither `_s` nor `_u`.
    None,
    S,
    U,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BinOp {
    Add,
    Sub,
    Mul,
    Div(Sign),
    Shl,
    Shr(Sign),
    And,
    Or,
    Xor,
    Compare(Compare, Sign),
    /// Logical and: `&&`
    Both,
    /// Logical or: `||`
    Either,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnOp {
    Neg,
    Not,
}

/// Number literal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    /// Digits of the literal, without the type suffix.
    pub text: Sym,
    /// Type suffix of the literal, if any.
    pub ty: Option<Ident>,
}

/// Argument of a call: a value, or a list or string, which some ops take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arg {
    Value(ExprId),
    /// List of values, `[3, 2, 1, 0]`, as a range of [`Ast::lists`].
    List(Range, Span),
    /// String literal `"..."`, without its quotes.
    Text(Sym, Span),
}

/// Suffix of an index that is scaled in 64 bits: `wide`, `wide + 3`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide {
    /// Position of the keyword `wide`.
    pub span: Span,
    /// The number after `wide`, and `true` if a minus sign precedes it.
    pub offset: Option<(bool, ExprId)>,
}

/// Range of indices into an arena of the syntax tree.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range {
    pub start: u32,
    pub end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ExprKind {
    Number(Number),
    Bool(bool),
    Name(Sym),
    Unary(UnOp, ExprId),
    Binary(BinOp, ExprId, ExprId),
    /// Call `name.modifier(args)`. The modifiers are a range of [`Ast::idents`], the arguments a
    /// range of [`Ast::args`].
    Call {
        name: Ident,
        modifiers: Range,
        args: Range,
    },
    /// Element: `base[index wide + offset]`
    Index {
        base: ExprId,
        index: ExprId,
        wide: Option<Wide>,
    },
    /// Field of a structure: `base.field`
    Field {
        base: ExprId,
        field: Ident,
    },
    /// Memory access with explicit scale and alignment: `place step N align N`
    Access {
        place: ExprId,
        step: Option<ExprId>,
        align: Option<ExprId>,
    },
    If {
        condition: ExprId,
        then: BlockId,
        otherwise: Option<ExprId>,
    },
    /// Block after `else`, as an expression.
    Block(BlockId),
    /// Tuple `(a, b)`, as a range of [`Ast::lists`].
    Tuple(Range),
    /// Expression that could not be parsed.
    Failed,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// `for` loop over a range of integers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct For {
    pub name: Ident,
    pub from: ExprId,
    pub to: ExprId,
    pub step: Option<ExprId>,
    pub body: BlockId,
}

/// Declaration of an array in shared or local memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrayDecl {
    pub space: Space,
    pub name: Ident,
    pub elem: Ident,
    pub count: Option<ExprId>,
    pub align: Option<ExprId>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum StmtKind {
    /// Declaration `let a: T = e` or `var a = e`. The names are a range of [`Ast::idents`].
    Let {
        names: Range,
        mutable: bool,
        ty: Option<Ident>,
        value: ExprId,
    },
    /// Declaration of an array of variables: `var v: i32[16]`
    Vars {
        name: Ident,
        ty: Ident,
        count: ExprId,
    },
    /// Declaration of a constant: `const N = e`
    Const {
        name: Ident,
        ty: Option<Ident>,
        value: ExprId,
    },
    /// Assignment: `target = e`, `target += e`
    Assign {
        target: ExprId,
        op: Option<BinOp>,
        value: ExprId,
    },
    Expr(ExprId),
    For(For),
    UnrollFor(For),
    While {
        condition: ExprId,
        body: BlockId,
    },
    DoWhile {
        body: BlockId,
        condition: ExprId,
    },
    Break,
    Continue,
    Return(Option<ExprId>),
    Array(ArrayDecl),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

/// Block of statements, as a range of [`Ast::stmts`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub stmts: Range,
    pub span: Span,
}

/// Type of a kernel's or function's parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ParamTy {
    /// A value of the named type.
    Value(Ident),
    /// A `const` parameter: a compile-time number.
    Number(Span),
    /// A buffer. A call of a function may also pass an array for it.
    Buffer {
        direction: Direction,
        may_alias: Option<Span>,
        elem: Ident,
        align: Option<ExprId>,
        /// Constant contents of the buffer, as a range of [`Ast::lists`].
        contents: Option<(Range, Span)>,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub name: Ident,
    pub ty: ParamTy,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub name: Ident,
    pub params: Vec<Param>,
    pub body: BlockId,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: Ident,
    pub generics: Vec<Ident>,
    pub params: Vec<Param>,
    pub results: Vec<Ident>,
    pub body: BlockId,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant {
    pub name: Ident,
    pub ty: Option<Ident>,
    pub value: ExprId,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    pub name: Ident,
    pub ty: Ident,
    pub count: Option<ExprId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub name: Ident,
    pub fields: Vec<Field>,
}

/// Inclusion of another file: `include "path"`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Include {
    pub path: Sym,
    pub span: Span,
}

/// Syntax tree of the source file and all included files.
#[derive(Debug, Default)]
pub(crate) struct Ast {
    pub exprs: Vec<Expr>,
    pub stmts: Vec<Stmt>,
    pub blocks: Vec<Block>,
    pub idents: Vec<Ident>,
    pub args: Vec<Arg>,
    pub lists: Vec<ExprId>,
    pub kernels: Vec<Kernel>,
    pub functions: Vec<Function>,
    pub constants: Vec<Constant>,
    pub structs: Vec<Struct>,
    pub includes: Vec<Include>,
    /// Kernels in plain IR: spans from the `kernel` keyword to the closing brace.
    pub plain: Vec<Span>,
    /// `true` if an item (such as a kernel or function) could not be parsed.
    pub lost: bool,
}

/// Expression that is returned for an index out of range, which never occurs.
const NO_EXPR: Expr = Expr { kind: ExprKind::Failed, span: Span { start: 0, end: 0 } };
const NO_BLOCK: Block = Block { stmts: Range { start: 0, end: 0 }, span: Span { start: 0, end: 0 } };

fn slice<T>(arena: &[T], range: Range) -> &[T] {
    arena.get(range.start as usize..range.end as usize).unwrap_or_default()
}

/// Appends items to an arena and returns their range.
fn extend<T>(arena: &mut Vec<T>, items: impl IntoIterator<Item = T>) -> Range {
    let start = arena.len() as u32;
    arena.extend(items);
    Range { start, end: arena.len() as u32 }
}

impl Ast {
    pub(crate) fn expr(&self, id: ExprId) -> Expr {
        self.exprs.get(id.0 as usize).copied().unwrap_or(NO_EXPR)
    }

    pub(crate) fn block(&self, id: BlockId) -> Block {
        self.blocks.get(id.0 as usize).copied().unwrap_or(NO_BLOCK)
    }

    pub(crate) fn stmts(&self, block: BlockId) -> &[Stmt] {
        slice(&self.stmts, self.block(block).stmts)
    }

    pub(crate) fn idents(&self, range: Range) -> &[Ident] {
        slice(&self.idents, range)
    }

    pub(crate) fn args(&self, range: Range) -> &[Arg] {
        slice(&self.args, range)
    }

    pub(crate) fn list(&self, range: Range) -> &[ExprId] {
        slice(&self.lists, range)
    }

    /// Returns the expressions that begin within `span`, which lies in one kernel or function. Its
    /// expressions are contiguous and ordered by position.
    pub(crate) fn exprs_in(&self, span: Span) -> impl Iterator<Item = &Expr> {
        let first = self.exprs.partition_point(|expr| expr.span.start < span.start);
        self.exprs.iter().skip(first).take_while(move |expr| expr.span.start < span.end)
    }

    /// Returns the statements within the span of a body, including those of nested blocks.
    pub(crate) fn stmts_in(&self, body: Span) -> impl Iterator<Item = &Stmt> {
        let first = self.stmts.partition_point(|stmt| stmt.span.start < body.start);
        self.stmts.iter().skip(first).take_while(move |stmt| stmt.span.start < body.end)
    }

    pub(crate) fn add_expr(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.exprs.push(Expr { kind, span });
        ExprId(self.exprs.len() as u32 - 1)
    }

    pub(crate) fn add_block(&mut self, stmts: Vec<Stmt>, span: Span) -> BlockId {
        let stmts = extend(&mut self.stmts, stmts);
        self.blocks.push(Block { stmts, span });
        BlockId(self.blocks.len() as u32 - 1)
    }

    pub(crate) fn add_idents(&mut self, idents: Vec<Ident>) -> Range {
        extend(&mut self.idents, idents)
    }

    pub(crate) fn add_args(&mut self, args: Vec<Arg>) -> Range {
        extend(&mut self.args, args)
    }

    pub(crate) fn add_list(&mut self, list: Vec<ExprId>) -> Range {
        extend(&mut self.lists, list)
    }
}
