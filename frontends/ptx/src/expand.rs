//! Puts other instructions in the places of some, before a kernel is taken apart into values.

use std::borrow::Cow;

use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::Inst;
use halfbyte_isa::ptx::module::{Body, Entry};

use crate::inline::Inlined;

/// What stands for some instructions.
pub(crate) trait Expansion: Sized {
    /// Whether an instruction is one of these.
    fn is_replaced(inst: &Inst) -> bool;

    /// With registers besides those of a body; nothing where there are none left.
    fn new(body: &Body) -> Option<Self>;

    /// The instructions of the new body so far.
    fn insts(&mut self) -> &mut Vec<Inst>;

    /// Adds what stands for an instruction.
    fn replace(&mut self, inst: &Inst, body: &Body);

    /// The new body, of one whose labels have been moved to where they stand in it.
    fn finish(self, body: Body) -> Body;
}

/// The kernel after an expansion; one that has nothing to replace as it is.
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
