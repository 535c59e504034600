//! Replacement of some PTX instructions by sequences of others, before the conversion to SSA.

use std::borrow::Cow;

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::Inst;
use halfbyte_isa::ptx::module::{Body, Entry};

use crate::inline::Inlined;

/// A transformation that replaces each instruction of some kind by a sequence of instructions.
pub(crate) trait Expansion: Sized {
    /// Returns `true` if the transformation replaces the instruction.
    fn is_replaced(inst: &Inst) -> bool;

    /// Allocates the temporary registers of the replacements. Returns `None` if no registers are left.
    fn new(body: &Body) -> Option<Self>;

    /// Returns the instructions that the new body contains so far.
    fn insts(&mut self) -> &mut Vec<Inst>;

    /// Appends the replacement of an instruction to the new body.
    fn replace(&mut self, inst: &Inst, body: &Body);

    /// Completes the new body. The labels of `body` already have their new positions.
    fn finish(self, body: Body) -> Body;
}

/// Applies an expansion to a kernel. Returns the kernel unchanged if the expansion replaces no instruction.
pub(crate) fn expand<E: Expansion>(inlined: Inlined<'_>) -> Inlined<'_> {
    if !inlined.entry.body.insts.iter().any(E::is_replaced) {
        return inlined;
    }
    let Some(mut expansion) = E::new(&inlined.entry.body) else { return inlined };
    let Inlined { entry, locs } = inlined;
    let (mut entry, old): (Entry, _) = (entry.into_owned(), locs);
    let mut body = std::mem::take(&mut entry.body);
    let mut locs: Vec<Loc> = Vec::with_capacity(old.len());
    let mut starts = Vec::with_capacity(body.insts.len());
    for (inst, &loc) in body.insts.iter().zip(old.iter()) {
        starts.push(locs.len() as u32);
        if E::is_replaced(inst) {
            expansion.replace(inst, &body);
        } else {
            expansion.insts().push(inst.clone());
        }
        locs.resize(expansion.insts().len(), loc);
    }
    let end = locs.len() as u32;
    for label in &mut body.labels {
        label.at = starts.get(label.at as usize).copied().unwrap_or(end);
    }
    entry.body = expansion.finish(body);
    Inlined { entry: Cow::Owned(entry), locs: Cow::Owned(locs) }
}
