//! The instructions of a kernel that hardware approximates.

use super::{KernelNumber, ParsedFile};
use crate::object::Loc;
use crate::ptx::Inst;

/// An instruction whose result hardware approximates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Approximation {
    /// Name of the instruction with its modifiers, such as `ex2.approx.f32`.
    pub instruction: String,
    /// Location of the instruction in the PTX text.
    pub at: Loc,
}

impl ParsedFile {
    /// Returns the instructions of a kernel, and of the functions that it can call, whose results hardware
    /// approximates. There are none for a kernel that the file does not have or that is rejected.
    pub fn approximations(&self, kernel: &str) -> Vec<Approximation> {
        let Some(KernelNumber::Entry(number)) = self.kernel(kernel) else { return Vec::new() };
        let Some(entry) = self.module.entries.get(number) else { return Vec::new() };
        let own = self.locs.get(number).map(|locs| (&entry.body, locs));
        let called = entry.reached_functions().into_iter().filter_map(|number| {
            let body = &entry.functions.get(number as usize)?.definition()?.body;
            Some((body, self.function_locs.get(number as usize)?))
        });
        let insts = own.into_iter().chain(called).flat_map(|(body, locs)| body.insts.iter().zip(locs));
        let approximate = insts.filter(|(inst, _)| inst.row().is_approximate());
        approximate.map(|(inst, &at)| Approximation { instruction: name(inst), at }).collect()
    }
}

/// Returns the mnemonic and the modifiers of an instruction.
fn name(inst: &Inst) -> String {
    let modifiers: String = inst.modifiers.iter().map(ToString::to_string).collect();
    format!("{}{modifiers}", inst.row().mnemonic)
}
