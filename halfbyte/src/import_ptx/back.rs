//! Choice of the PTX output for PTX input: the original kernel if possible, otherwise the compiled one.

use halfbyte_emit::KernelCode;
use halfbyte_isa::ptx;
use halfbyte_isa::ptx::Inst;
use halfbyte_isa::ptx::module::{BlockLimit, Kernel};
use halfbyte_isa::ptx::text::{KernelNumber, ParsedFile};

/// The PTX output for a kernel of a PTX text.
#[derive(Clone, Debug)]
pub struct PtxOutput {
    /// The code of the output kernel.
    pub code: KernelCode,
    /// `true` if the output is the original kernel, `false` if it is the compiled kernel.
    pub is_own: bool,
    /// `true` if the original or the compiled kernel uses packed instructions.
    pub is_packed: bool,
}

/// Selector of the PTX output for the kernels of a PTX text: either the original or the compiled
/// kernel.
#[derive(Clone, Copy, Debug)]
pub struct OutputSelector<'r> {
    read: &'r ParsedFile,
    /// `true` if no variable of the text has an address in its initialiser.
    is_alone: bool,
}

impl<'r> OutputSelector<'r> {
    /// Creates a selector for the kernels of a parsed text.
    pub fn new(read: &'r ParsedFile) -> OutputSelector<'r> {
        let is_alone = read.module.variables.iter().all(|variable| variable.addresses.is_empty());
        OutputSelector { read, is_alone }
    }

    /// Selects the PTX output for a kernel that was compiled to `code`. `is_packed` tells whether the compiled kernel uses
    /// packed instructions ([`Stats::is_packed`](crate::pipeline::Stats::is_packed)).
    ///
    /// If neither the original nor the compiled kernel uses packed instructions, the output is the original kernel in its
    /// original PTX version. An assembler then generates code that is at least as good, and optimises freely. Otherwise the
    /// output is the compiled kernel. It keeps the original directives for the launch and the assembler, such as
    /// `.reqntid`, `.maxnreg` and pragmas against loop unrolling.
    pub fn select(&self, code: KernelCode, is_packed: bool) -> PtxOutput {
        let read = self.read;
        let name = code.info.signature.name();
        let found = match read.kernel_by_ir_name(name) {
            Some(KernelNumber::Entry(number)) => read.module.entries.get(number).zip(read.locs.get(number)),
            _ => None,
        };
        let compiled = code.words.clone().downcast();
        let (Some((entry, locs)), Some(ptx::PtxKernel { sm, kernel })) = (found, compiled) else {
            return PtxOutput { code, is_own: false, is_packed };
        };
        let has = |inst: &Inst| inst.since().suffix.is_none() && inst.since().is_supported_by(sm);
        // The functions that the kernel calls are part of the output.
        let insts = || entry.reached_bodies().flat_map(|body| &body.insts);
        let was_packed = insts().any(Inst::is_packed);
        let is_packed = is_packed || was_packed;
        if self.is_alone && !is_packed && insts().all(has) {
            let mut kernel = Kernel::for_sm(sm, entry.clone());
            // Declarations may require a later PTX version than the instructions do.
            kernel.version = kernel.version.max(read.module.version);
            let words = ptx::PtxKernel { sm, kernel }.into();
            let code = KernelCode { words, locs: locs.clone(), parts: Vec::new(), stats: Vec::new(), ..code };
            return PtxOutput { code, is_own: true, is_packed: false };
        }
        let mut kernel = kernel;
        if entry.blocks != BlockLimit::Any {
            kernel.entry.blocks = entry.blocks;
        }
        kernel.entry.hints = entry.hints.clone();
        // The loops of the compiled kernel differ from the original ones, so a pragma for one loop is
        // applied to the whole kernel. Other pragmas describe instructions that the compiled kernel lacks.
        let of_loops = entry.body.pragmas.iter().filter(|pragma| pragma.text.contains("nounroll"));
        let mut pragmas: Vec<String> = of_loops.map(|pragma| format!(".pragma {};", pragma.text)).collect();
        pragmas.dedup();
        kernel.entry.hints.extend(pragmas);
        PtxOutput { code: KernelCode { words: ptx::PtxKernel { sm, kernel }.into(), ..code }, is_own: false, is_packed }
    }
}
