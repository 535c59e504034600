//! Linking: concatenates the pieces of a function's code, resolves branch targets, and verifies
//! that the instruction words decode into the planned bundles.

use halfbyte_isa::vp1::bundle::WORDS_PER_LINE;
use halfbyte_isa::vp1::{Inst, Opcode, Unit, bundles};

use super::op::{Label, target_field};
use super::words::{self, Packed, Planned, Word};
use crate::error::LayoutError;

/// A sequence of bundles whose start may be a branch target.
pub(super) struct Piece {
    /// Label of the first bundle, if a branch may target it.
    pub label: Option<Label>,
    /// Bundles in order.
    pub bundles: Vec<Planned>,
}

/// Concatenates pieces and resolves their branch targets.
pub(super) fn link(kernel: &str, pieces: Vec<Piece>) -> Result<Vec<Word>, LayoutError> {
    let mut all: Vec<Planned> = Vec::new();
    // Index of the first bundle after each label.
    let mut starts: Vec<Option<usize>> = Vec::new();
    for piece in pieces {
        if let Some(label) = piece.label {
            starts.resize(starts.len().max(label as usize + 1), None);
            starts.get_mut(label as usize).into_iter().for_each(|start| *start = Some(all.len()));
        }
        all.extend(piece.bundles);
    }
    let targets: Vec<Label> =
        all.iter().flat_map(|bundle| &bundle.words).flatten().filter_map(|word| word.target).collect();
    let start = |label: Label| {
        let missing = || LayoutError::Block { kernel: kernel.to_owned(), block: label, blocks: starts.len() };
        starts.get(label as usize).copied().flatten().ok_or_else(missing)
    };
    for &target in &targets {
        let at = start(target)?;
        // A branch to the end of the code has no target instruction, so it is an error.
        let Some(bundle) = all.get_mut(at) else {
            return Err(LayoutError::Block { kernel: kernel.to_owned(), block: target, blocks: starts.len() });
        };
        bundle.aligned = true;
    }
    let mut packed = words::pack(&all);
    for at in 0..packed.words.len() {
        let Some(word) = packed.words.get_mut(at) else { continue };
        let (Some(field), Some(target)) = (target_field(&word.inst), word.target) else { continue };
        let to = start(target)?;
        let to = packed.starts.get(to).copied().unwrap_or_default();
        let distance = i64::from(to / WORDS_PER_LINE) - at as i64 / i64::from(WORDS_PER_LINE);
        word.inst.set(field, distance as u64);
        if word.inst.get_signed(field) != distance {
            let limit = (field.max() as usize / 2) * WORDS_PER_LINE as usize;
            return Err(LayoutError::TooLong { kernel: kernel.to_owned(), words: packed.words.len(), limit });
        }
    }
    check_words(kernel, &all, &packed)?;
    Ok(packed.words)
}

/// Checks that the instruction words decode into the planned bundles.
fn check_words(kernel: &str, planned: &[Planned], packed: &Packed) -> Result<(), LayoutError> {
    let wrong = |word: usize| LayoutError::Bundle { kernel: kernel.to_owned(), word };
    let words: Vec<u32> = packed.words.iter().map(|word| word.inst.word()).collect();
    let mut found = bundles(&words);
    for (plan, &start) in planned.iter().zip(&packed.starts) {
        let (at, bundle) = found.next().ok_or_else(|| wrong(start as usize))?;
        let units = Unit::ALL.into_iter().zip(&plan.words);
        let is_nop = |inst: &Inst| matches!(inst.opcode(), Opcode::ANOP | Opcode::SNOP | Opcode::VNOP | Opcode::BNOP);
        let mut same = units.map(|(unit, word)| match (word, bundle.inst(unit)) {
            (Some(word), Some(inst)) => word.inst.opcode() == inst.opcode(),
            (Some(_), None) => false,
            (None, inst) => inst.is_none_or(is_nop),
        });
        let aligned = !plan.aligned || at.is_multiple_of(WORDS_PER_LINE);
        if at != start || !aligned || !same.all(|same| same) {
            return Err(wrong(start as usize));
        }
    }
    match found.next() {
        Some((at, _)) => Err(wrong(at as usize)),
        None => Ok(()),
    }
}
