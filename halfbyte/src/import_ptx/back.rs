//! PTX in, PTX out: what stays of the text's own.

use halfbyte_emit::Code;
use halfbyte_isa::ptx;
use halfbyte_isa::ptx::Inst;
use halfbyte_isa::ptx::module::{Blocks, Kernel};
use halfbyte_isa::ptx::text::Text;

use super::ir_name;

/// A kernel of a text, compiled to PTX again.
#[derive(Clone, Debug)]
pub struct GivenBack {
    /// The kernel.
    pub code: Code,
    /// Whether it is the text's own.
    pub is_own: bool,
    /// Whether there is packed work, in the text or found in it.
    pub is_packed: bool,
}

/// What is given back for a kernel of a text that was compiled to this; `is_packed` says whether it has packed work
/// ([`Stats::is_packed`](crate::pipeline::Stats::is_packed)).
///
/// Where the text has no packed work either, it is the kernel as it stood, in the version of its text: for that an assembler does at least
/// as well from the text, and is left the freedoms that it gives. Else it is what the kernel was compiled to, with what the text says to the
/// launch and to the assembler: `.reqntid`, `.maxnreg`, that loops are not unrolled.
pub fn give_back(read: &Text, code: Code, is_packed: bool) -> GivenBack {
    let name = code.info.signature.name();
    let number = read.module.entries.iter().position(|entry| ir_name(&entry.name) == name);
    let found = number.and_then(|number| read.module.entries.get(number).zip(read.locs.get(number)));
    let compiled = code.words.clone().downcast();
    let (Some((entry, locs)), Some(ptx::Code { sm, kernel })) = (found, compiled) else {
        return GivenBack { code, is_own: false, is_packed };
    };
    let is_alone = entry.variables.iter().all(|variable| variable.addresses.is_empty());
    let has = |inst: &Inst| inst.since().suffix.is_none() && inst.since().is_met_by(sm);
    // What it calls is given back with it.
    let insts = || entry.reached_bodies().flat_map(|body| &body.insts);
    let was_packed = insts().any(Inst::is_packed);
    let is_packed = is_packed || was_packed;
    if is_alone && !is_packed && insts().all(has) {
        let mut kernel = Kernel::for_sm(sm, entry.clone());
        // Declarations may need more than the instructions do.
        kernel.version = kernel.version.max(read.module.version);
        let words = ptx::Code { sm, kernel }.into();
        let code = Code { words, locs: locs.clone(), parts: Vec::new(), stats: Vec::new(), ..code };
        return GivenBack { code, is_own: true, is_packed: false };
    }
    let mut kernel = kernel;
    if entry.blocks != Blocks::Any {
        kernel.entry.blocks = entry.blocks;
    }
    kernel.entry.hints = entry.hints.clone();
    // Its loops are other ones, so that what is said of one is said of all.
    let mut pragmas: Vec<String> =
        entry.body.pragmas.iter().map(|pragma| format!(".pragma {};", pragma.text)).collect();
    pragmas.dedup();
    kernel.entry.hints.extend(pragmas);
    GivenBack { code: Code { words: ptx::Code { sm, kernel }.into(), ..code }, is_own: false, is_packed }
}
