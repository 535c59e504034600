//! Random valid instructions, generated from the rows of an instruction set.

use crate::row::{Modifier, OperandKind, RegSlot, Row, Suffix};

/// Number of attempts of `word` to generate a valid instruction. After these attempts, `word`
/// returns the row's template. No current row needs this fallback.
const MAX_ATTEMPTS: usize = 64;

/// Generates a valid instruction word of `row`. Every value of every field can occur. Constant
/// registers, an always-true guard and default values are more frequent than other values. `next`
/// returns random bits; `named` is the mask of all bits that belong to a field of the row.
pub fn word(row: &Row, named: u128, next: &mut dyn FnMut() -> u64) -> u128 {
    for _ in 0..MAX_ATTEMPTS {
        let word = draw(row, next);
        if row.validate(word, named).is_ok() {
            return word;
        }
    }
    row.template()
}

fn draw(row: &Row, next: &mut dyn FnMut() -> u64) -> u128 {
    let mut word = row.template();
    for op in row.operands {
        let chosen = |m: &Modifier, word, next: &mut dyn FnMut() -> u64| m.field.set(word, choose(m, next));
        for field in op.fields() {
            word = field.set(word, next());
        }
        match op.kind {
            OperandKind::Name(m) | OperandKind::Condition { bit: m, .. } | OperandKind::Selected { bit: m, .. } => {
                word = chosen(&m, word, next)
            }
            OperandKind::Const { offset, align, .. } => word = offset.set(word, next().wrapping_mul(align.into())),
            // Zero is an edge case of many instructions, so it is drawn more often than other values.
            OperandKind::Number { field, .. } if one_in(8, next) => word = field.set(word, 0),
            _ => {}
        }
        match op.suffix {
            Suffix::Choice(m) => word = chosen(&m, word, next),
            Suffix::Lanes { field, default, .. } if one_in(4, next) => word = field.set(word, default),
            Suffix::Mask { field, .. } => word = field.set(word, 1 + next() % field.max()),
            _ => {}
        }
    }
    for slot in row.registers() {
        word = slot.field.set(word, register(slot, next));
    }
    if let Some(guard) = row.guard {
        let always = one_in(2, next);
        let (pred, not) = if always { (guard.pred.get(row.template()), 0) } else { (next(), next()) };
        word = guard.not.set(guard.pred.set(word, pred), not);
    }
    for m in row.modifiers {
        word = m.field.set(word, choose(m, next));
    }
    // Most forbidden combinations contain an optional operand. So every optional operand has its
    // default in half of the instructions.
    for op in row.operands.iter().filter(|o| o.optional) {
        if one_in(2, next) {
            word = op.fields().fold(word, |w, f| f.set(w, f.get(row.template())));
        }
    }
    for &(field, value) in row.fixed {
        word = field.set(word, value);
    }
    word
}

fn one_in(n: u64, next: &mut dyn FnMut() -> u64) -> bool {
    next().is_multiple_of(n)
}

fn register(slot: RegSlot, next: &mut dyn FnMut() -> u64) -> u64 {
    let number = match slot.file.constant().map(|c| u64::from(c.0)) {
        Some(constant) if one_in(8, next) => return constant,
        Some(constant) => next() % (constant + 1),
        None => next(),
    };
    if slot.file.is_aligned() { number / u64::from(slot.span) * u64::from(slot.span) } else { number }
}

fn choose(m: &Modifier, next: &mut dyn FnMut() -> u64) -> u64 {
    match m.default {
        Some(default) if one_in(2, next) => default,
        _ => m.choices[next() as usize % m.choices.len()].1,
    }
}
