//! The table of rules: for each rule its name, its location, its pattern, its checks, and the ops
//! and types that it selects.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use cranelift_isle::ast::{Def, Expr, Ident, LetDef, Pattern};
use cranelift_isle::files::Files;
use halfbyte_ir::{Op, Type};

use crate::patterns::{Patterns, RuleData};
use crate::text::pattern_text;
use crate::{RuleError, is_generated, rule_mut};

/// An entry of the rule table.
pub(crate) struct RuleEntry {
    name: String,
    term: String,
    file: String,
    line: usize,
    priority: i64,
    pattern: Pattern,
    data: RuleData,
    checks: Vec<String>,
}

/// Numbers the rules and returns the entries of the rule table. Each rule is changed so that it records its number and
/// its root operand in the trace when it fires. `folder` is the folder of the files in the repository.
pub(crate) fn number_rules(
    defs: &mut [Def],
    files: &Files,
    paths: &[&Path],
    folder: &str,
    patterns: &mut Patterns<'_>,
) -> Result<Vec<RuleEntry>, RuleError> {
    let mut rules = Vec::new();
    let mut places = HashMap::new();
    for def in defs {
        let Some(rule) = rule_mut(def) else { continue };
        if is_generated(rule.pos.file) {
            continue;
        }
        let path = paths.get(rule.pos.file).copied().unwrap_or(Path::new("?"));
        let file = Path::new(folder).join(path).to_string_lossy().replace('\\', "/");
        let text = files.file_texts.get(rule.pos.file).map_or("", |t| t.as_str());
        let line = 1 + text.get(..rule.pos.offset).map_or(0, |before| before.matches('\n').count());
        let place = format!("{file}:{line}");
        let Some(name) = rule.name.as_ref().map(|n| n.0.clone()) else {
            return Err(RuleError(format!("{place}: the rule has no name: write `(rule NAME ...)`")));
        };
        if let Some(other) = places.insert(name.clone(), place.clone()) {
            return Err(RuleError(format!("{place}: rule {name} is already defined at {other}")));
        }
        let Pattern::Term { sym, args, .. } = &rule.pattern else {
            return Err(RuleError(format!("{place}: the pattern of a rule must be a term")));
        };
        let term = sym.0.clone();
        let pattern = match args.as_slice() {
            [only] => only.clone(),
            _ => rule.pattern.clone(),
        };
        let data = patterns.rule(&mut rule.pattern, &rule.iflets);
        let data = data.map_err(|error| RuleError(format!("{place}: {error}")))?;
        let at = data.at.clone();
        rules.push(RuleEntry {
            name,
            term,
            file,
            line,
            priority: rule.prio.unwrap_or(0),
            pattern,
            data,
            checks: checks_above(text, line),
        });
        let number = rules.len() as i128 - 1;
        let pos = rule.pos;
        let number = Expr::ConstInt { val: number, pos };
        let (fired, args) = match at {
            Some((ty, at)) if ty == "Inst" => ("fired_inst", vec![number, Expr::Var { name: at, pos }]),
            Some((_, at)) => ("fired_value", vec![number, Expr::Var { name: at, pos }]),
            None => ("fired", vec![number]),
        };
        let fired = Expr::Term { sym: Ident(fired.to_string(), pos), args, pos };
        let body = std::mem::replace(&mut rule.expr, Expr::ConstBool { val: true, pos });
        rule.expr = Expr::Let {
            defs: vec![LetDef {
                var: Ident("fired_".to_string(), pos),
                ty: Ident("Unit".to_string(), pos),
                val: Box::new(fired),
                pos,
            }],
            body: Box::new(body),
            pos,
        };
    }
    Ok(rules)
}

/// Returns the `;; check` comments directly above a line, in order. A comment that begins with `;;
/// ` continues the previous check.
fn checks_above(text: &str, line: usize) -> Vec<String> {
    let above: Vec<&str> = text.lines().take(line.saturating_sub(1)).collect();
    let first = above.iter().rposition(|l| !l.starts_with(";;")).map_or(0, |i| i + 1);
    let mut checks: Vec<String> = Vec::new();
    let mut open = false;
    for comment in above.get(first..).unwrap_or(&[]) {
        let comment = comment.trim_start_matches(';');
        if let Some(check) = comment.strip_prefix(" check ") {
            checks.push(check.trim().to_string());
            open = true;
        } else if let (true, Some(more), Some(last)) = (open, comment.strip_prefix("   "), checks.last_mut()) {
            last.push(' ');
            last.push_str(more.trim());
        } else {
            open = false;
        }
    }
    checks
}

/// Generates the rule table as Rust code: `RULES: &[Rule]`. If there are rules of the term `lower`,
/// also generates `NATIVE: &[(Op, Type)]`, the ops and types that these rules select.
pub(crate) fn render(
    rules: &[RuleEntry],
    patterns: &Patterns<'_>,
    type_class: &dyn Fn(&str, Type) -> Option<bool>,
) -> Result<String, RuleError> {
    let mut out = patterns.templates();
    out.push_str("\n/// Every rule, by the number it leaves in the trace.\npub static RULES: &[Rule] = &[\n");
    for rule in rules {
        let RuleEntry { name, term, file, line, priority, pattern, data, checks } = rule;
        let RuleData { operands, guards, .. } = data;
        let _ = writeln!(
            out,
            "    Rule {{ name: {name:?}, term: {term:?}, file: {file:?}, line: {line}, priority: {priority}, \
             pattern: {:?}, operands: {operands}, guards: {guards}, checks: &{checks:?} }},",
            pattern_text(pattern),
        );
    }
    out.push_str("];\n");
    if rules.iter().all(|rule| rule.term != "lower") {
        return Ok(out);
    }
    out.push_str("\n/// Which controlling types of which ops the rules of `lower` select.\npub static NATIVE: &[(Op, Type)] = &[\n");
    let mut native: Vec<(Op, Type)> = Vec::new();
    for rule in rules.iter().filter(|r| r.term == "lower") {
        native.extend(selected(rule, type_class)?);
    }
    native.sort_unstable();
    native.dedup();
    for (op, ty) in native {
        let _ = writeln!(out, "    (Op::{}, Type::{}),", op.row().ident, ty.ident());
    }
    out.push_str("];\n");
    Ok(out)
}

/// Returns the ops and types that a root pattern such as `(Fadd (half ty) flags a b)` selects.
fn selected(rule: &RuleEntry, type_class: &dyn Fn(&str, Type) -> Option<bool>) -> Result<Vec<(Op, Type)>, RuleError> {
    let place = format!("{}:{}", rule.file, rule.line);
    let mut pattern = &rule.pattern;
    while let Pattern::BindPattern { subpat, .. } = pattern {
        pattern = subpat;
    }
    let Pattern::Term { sym, args, .. } = pattern else {
        return Err(RuleError(format!("{place}: the pattern of `lower` is not an op")));
    };
    let ident =
        ["Indexed", "IdCount", "Id", "2", "4"].iter().find_map(|form| sym.0.strip_suffix(form)).unwrap_or(&sym.0);
    let op = Op::ALL
        .iter()
        .copied()
        .find(|op| op.row().ident == sym.0 || op.row().ident == ident)
        .ok_or_else(|| RuleError(format!("{place}: {} is not an op", sym.0)))?;
    let in_row = |ty: Type| op.row().types.is_none_or(|set| set.contains(ty));
    let mut types = Vec::new();
    for &ty in Type::ALL {
        let matches = match args.first() {
            Some(Pattern::Term { sym, .. }) => {
                type_class(&sym.0, ty).ok_or_else(|| RuleError(format!("{place}: {} is not a type class", sym.0)))?
            }
            Some(Pattern::ConstPrim { val, .. }) => val.0 == ty.ident(),
            _ => true,
        };
        if matches && in_row(ty) {
            types.push((op, ty));
        }
    }
    Ok(types)
}
