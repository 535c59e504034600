//! Variables that a loop assigns. They become block parameters of the loop.

use super::{Binding, Lower};
use crate::ast::{Arg, Ast, BlockId, ExprId, ExprKind, StmtKind};
use crate::symbols::Sym;

struct Walk<'a> {
    ast: &'a Ast,
    /// Names that are declared inside the loop, and so are no variables of the loop.
    own: Vec<Sym>,
    found: Vec<Sym>,
}

impl Walk<'_> {
    fn block(&mut self, block: BlockId) {
        let own = self.own.len();
        let ast = self.ast;
        for stmt in ast.stmts(block) {
            match stmt.kind {
                StmtKind::Let { names, value, .. } => {
                    self.expr(value);
                    self.own.extend(ast.idents(names).iter().map(|name| name.sym));
                }
                StmtKind::Const { name, .. } | StmtKind::Vars { name, .. } => self.own.push(name.sym),
                StmtKind::Assign { target, value, .. } => {
                    match ast.expr(target).kind {
                        ExprKind::Name(sym) if !self.own.contains(&sym) && !self.found.contains(&sym) => {
                            self.found.push(sym);
                        }
                        ExprKind::Name(_) => {}
                        ExprKind::Index { base, index, .. } => {
                            // An assignment to one element of an array of variables counts for the whole array.
                            if let ExprKind::Name(sym) = ast.expr(base).kind
                                && !self.own.contains(&sym)
                                && !self.found.contains(&sym)
                            {
                                self.found.push(sym);
                            }
                            self.expr(base);
                            self.expr(index);
                        }
                        _ => self.expr(target),
                    }
                    self.expr(value);
                }
                StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) => self.expr(expr),
                StmtKind::For(numbers) | StmtKind::UnrollFor(numbers) => {
                    self.expr(numbers.from);
                    self.expr(numbers.to);
                    if let Some(step) = numbers.step {
                        self.expr(step);
                    }
                    self.own.push(numbers.name.sym);
                    self.block(numbers.body);
                    self.own.pop();
                }
                StmtKind::While { condition, body } | StmtKind::DoWhile { condition, body } => {
                    self.expr(condition);
                    self.block(body);
                }
                StmtKind::Array(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) => {}
            }
        }
        self.own.truncate(own);
    }

    fn expr(&mut self, expr: ExprId) {
        let ast = self.ast;
        match ast.expr(expr).kind {
            ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Name(_) | ExprKind::Failed => {}
            ExprKind::Unary(_, operand) => self.expr(operand),
            ExprKind::Binary(_, mut left, right) => {
                // Left operands are visited in a loop, because the parser limits only the nesting of right operands.
                self.expr(right);
                while let ExprKind::Binary(_, next, right) = ast.expr(left).kind {
                    self.expr(right);
                    left = next;
                }
                self.expr(left);
            }
            ExprKind::Call { args, .. } => {
                for arg in ast.args(args) {
                    match *arg {
                        Arg::Value(value) => self.expr(value),
                        Arg::List(list, _) => ast.list(list).iter().for_each(|&item| self.expr(item)),
                        Arg::Text(..) => {}
                    }
                }
            }
            ExprKind::Index { base, index, wide } => {
                self.expr(base);
                self.expr(index);
                if let Some((_, offset)) = wide.and_then(|wide| wide.offset) {
                    self.expr(offset);
                }
            }
            ExprKind::Field { base, .. } => self.expr(base),
            ExprKind::Access { place, .. } => self.expr(place),
            ExprKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.block(then);
                if let Some(otherwise) = otherwise {
                    self.expr(otherwise);
                }
            }
            ExprKind::Block(block) => self.block(block),
            ExprKind::Tuple(list) => ast.list(list).iter().for_each(|&item| self.expr(item)),
        }
    }
}

impl Lower<'_> {
    /// Returns the indices of the variables that a loop assigns, in the order of their declaration.
    /// `own` is the name of the induction variable, if any.
    pub(super) fn assigned(&self, body: BlockId, condition: Option<ExprId>, own: Option<Sym>) -> Vec<u32> {
        let mut walk = Walk { ast: self.ast, own: own.into_iter().collect(), found: Vec::new() };
        walk.block(body);
        if let Some(condition) = condition {
            walk.expr(condition);
        }
        let vars = walk.found.into_iter().flat_map(|sym| match self.binding(sym) {
            Some(&Binding::Var(var)) => var..var + 1,
            Some(&Binding::Vars(first, count)) => first..first + count,
            _ => 0..0,
        });
        let mut vars: Vec<u32> = vars.collect();
        vars.sort_unstable();
        vars
    }
}
