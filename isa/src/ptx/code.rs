//! PTX as an [`Isa`], and PTX kernels as machine code in objects.

use std::ops::Range;

use halfbyte_abi::{Descriptor, KernelFormat, Sm, Target};

use super::Opcode;
use super::docs;
use super::module::{Kernel, Module};
use super::text::{inst_text, read};
use super::types::Requirements;
use crate::isa::{Isa, MachineCode, SharedCode};
use crate::row::InstClass;

/// The target name of PTX, for every SM version.
pub const NAME: &str = "ptx";

const fn descriptor(sm: Sm) -> Descriptor {
    Descriptor { name: NAME, summary: "PTX, for today's NVIDIA GPUs", code: 3, form: KernelFormat::Text, sm: Some(sm) }
}

static DESCRIPTORS: [Descriptor; Sm::ALL.len()] = {
    let mut all = [descriptor(Sm::DEFAULT); Sm::ALL.len()];
    let mut place = 0;
    while place < all.len() {
        all[place] = descriptor(Sm::ALL[place]);
        place += 1;
    }
    all
};

static TARGETS: [Target; Sm::ALL.len()] = {
    let mut all = [Target::new(&DESCRIPTORS[0]); Sm::ALL.len()];
    let mut place = 0;
    while place < all.len() {
        all[place] = Target::new(&DESCRIPTORS[place]);
        place += 1;
    }
    all
};

/// Returns the PTX target for an SM version.
pub const fn target(sm: Sm) -> Target {
    TARGETS[sm.index()]
}

/// The instruction set of the PTX targets.
#[derive(Clone, Copy, Debug)]
pub struct Ptx;

impl Isa for Ptx {
    fn targets(&self) -> &'static [Target] {
        &TARGETS
    }

    fn default_target(&self) -> Target {
        target(Sm::DEFAULT)
    }

    fn representatives(&self) -> Vec<Target> {
        let rows = Opcode::ALL.iter().map(|opcode| opcode.row());
        let needs = rows.flat_map(|row| {
            let choices = row.slots.iter().flat_map(|slot| slot.choices);
            choices.map(|choice| choice.since).chain([row.since])
        });
        let needs: Vec<Requirements> = needs.collect();
        let mut sets: Vec<Vec<bool>> = Vec::new();
        let is_new = |sm: &Sm| {
            let set: Vec<bool> = needs.iter().map(|since| since.is_supported_by(*sm)).collect();
            let is_new = !sets.contains(&set);
            if is_new {
                sets.push(set);
            }
            is_new
        };
        Sm::ALL.into_iter().filter(is_new).map(target).collect()
    }

    fn mnemonics(&self) -> Vec<&'static str> {
        docs::mnemonics()
    }

    fn machine_code(&self, target: Target, bytes: &[u8]) -> Option<SharedCode> {
        let Module { version, target: name, entries, .. } = read(str::from_utf8(bytes).ok()?).ok()?.module;
        let [entry] = <[_; 1]>::try_from(entries).ok()?;
        let sm = target.sm().filter(|sm| sm.number() == name.sm)?;
        Some(PtxKernel { sm, kernel: Kernel { version, target: name, entry } }.into())
    }
}

/// Machine code of a PTX target: a module with one kernel. Each instruction counts as one instruction word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PtxKernel {
    /// The SM version that the kernel is compiled for.
    pub sm: Sm,
    /// The kernel, with the PTX version and the target name of its module.
    pub kernel: Kernel,
}

impl MachineCode for PtxKernel {
    fn target(&self) -> Target {
        target(self.sm)
    }

    fn word_bytes(&self) -> usize {
        0
    }

    fn len(&self) -> usize {
        self.kernel.entry.body.insts.len()
    }

    fn get(&self, _: usize) -> Option<u128> {
        None
    }

    fn text(&self, address: usize) -> String {
        let entry = &self.kernel.entry;
        entry.body.insts.get(address).map_or(String::new(), |inst| inst_text(inst, entry))
    }

    fn class(&self, address: usize) -> Option<InstClass> {
        self.kernel.entry.body.insts.get(address).map(|inst| inst.row().class)
    }

    /// Returns the kernel unchanged: PTX text has no nops.
    fn replace_with_nops(&self, _: Range<usize>) -> SharedCode {
        self.clone().into()
    }

    fn disassemble(&self) -> String {
        self.kernel.to_string()
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.kernel.to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn every_set_of_instructions_has_a_target() {
        let numbers: Vec<u16> = Ptx.representatives().iter().filter_map(|target| Some(target.sm()?.number())).collect();
        assert_eq!(numbers, [75, 80, 86, 89, 90, 100, 110, 120]);
    }

    #[test]
    fn lines_come_back() {
        let sm_90 = target(Sm::SM_90);
        let text = ".version 7.8\n.target sm_90\n.address_size 64\n\n.visible .entry k()\n{\n    .reg .b32 %r<1>;\n    \
                    mov.b32 %r0, 7;\n    ret;\n}\n";
        let words = Ptx.machine_code(sm_90, text.as_bytes()).unwrap();
        assert_eq!((words.target(), words.len(), words.text(0)), (sm_90, 2, "mov.b32 %r0, 7;".into()));
        assert_eq!((words.get(0), words.count(InstClass::Move)), (None, 1));
        assert_eq!(words.to_bytes(), text.as_bytes());
        // A PTX text is rejected if it is for another SM, or if it does not contain exactly one kernel.
        assert!(Ptx.machine_code(target(Sm::SM_80), text.as_bytes()).is_none());
        let two = format!("{text}.entry l()\n{{\n    ret;\n}}\n");
        assert!(Ptx.machine_code(sm_90, two.as_bytes()).is_none());
        assert!(Ptx.machine_code(sm_90, text.split(".visible").next().unwrap().as_bytes()).is_none());
    }
}
