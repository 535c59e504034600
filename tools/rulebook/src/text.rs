//! Conversion of patterns and expressions back to ISLE text.

use cranelift_isle::ast::{Expr, Pattern};

pub(crate) fn pattern_text(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Var { var, .. } => var.0.clone(),
        Pattern::BindPattern { var, subpat, .. } => format!("{} @ {}", var.0, pattern_text(subpat)),
        Pattern::ConstBool { val, .. } => format!("#{val}"),
        Pattern::ConstInt { val, .. } => val.to_string(),
        Pattern::ConstPrim { val, .. } => format!("${}", val.0),
        Pattern::Term { sym, args, .. } => joined(&sym.0, args.iter().map(pattern_text)),
        Pattern::Wildcard { .. } => "_".to_string(),
        Pattern::And { subpats, .. } => joined("and", subpats.iter().map(pattern_text)),
        Pattern::MacroArg { index, .. } => format!("#{index}"),
    }
}

pub(crate) fn expr_text(expr: &Expr) -> String {
    match expr {
        Expr::Term { sym, args, .. } => joined(&sym.0, args.iter().map(expr_text)),
        Expr::Var { name, .. } => name.0.clone(),
        Expr::ConstBool { val, .. } => format!("#{val}"),
        Expr::ConstInt { val, .. } => val.to_string(),
        Expr::ConstPrim { val, .. } => format!("${}", val.0),
        Expr::Let { body, .. } => expr_text(body),
    }
}

fn joined(head: &str, parts: impl Iterator<Item = String>) -> String {
    let mut text = format!("({head}");
    for part in parts {
        text.push(' ');
        text.push_str(&part);
    }
    text.push(')');
    text
}
