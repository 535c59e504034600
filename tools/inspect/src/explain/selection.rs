//! Explanations of selection.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use halfbyte::TARGETS;
use halfbyte_abi::Target;
use halfbyte_emit::KernelCode;
use halfbyte_ir::rule::Found;
use halfbyte_ir::text::print_inst;
use halfbyte_ir::{Inst, Kernel};
use halfbyte_isa::isa::SharedCode;
use halfbyte_isa::vp1::{self, Opcode};
use halfbyte_isel::regalloc::{self, Allocator};
use halfbyte_isel::{Refusal, SelectedCode};

use super::choices::{self, Choices};
use super::{NearMiss, Outcome, ReplacementInst, Word, place};

/// Returns `true` if a word is a no-op that only pads its bundle.
fn is_nop(words: &SharedCode, address: usize) -> bool {
    let Some(vp1::Vp1Code(words)) = words.downcast_ref() else { return false };
    let inst = words.get(address).and_then(|&word| vp1::Inst::decode(word));
    inst.is_some_and(|inst| matches!(inst.opcode(), Opcode::ANOP | Opcode::SNOP | Opcode::VNOP | Opcode::BNOP))
}

/// The reason why there is no machine code.
pub(super) enum Failed {
    Refused(Vec<Refusal>),
    Defect(String),
}

/// The machine code of a lowered kernel. Each word is mapped to its IR instruction.
pub(super) struct Selected<'k> {
    kernel: &'k Kernel,
    choices: Choices<'k>,
    /// The addresses of the words of each instruction, by the instruction's number plus one.
    addresses: HashMap<u32, Vec<usize>>,
    pub result: Result<KernelCode, Failed>,
}

impl<'k> Selected<'k> {
    /// Selects a kernel, and traces the given instructions.
    pub(super) fn new(kernel: &'k Kernel, target: Target, asked: Vec<Inst>) -> Selected<'k> {
        let (choices, selected) = choices::select(kernel, target, asked);
        let result = match selected {
            Ok(code) => words(code, target).map_err(Failed::Defect),
            Err(refused) => Err(Failed::Refused(refused)),
        };
        let mut addresses: HashMap<u32, Vec<usize>> = HashMap::new();
        for (address, loc) in result.iter().flat_map(|code| &code.locs).enumerate() {
            addresses.entry(loc.line).or_default().push(address);
        }
        Selected { kernel, choices, addresses, result }
    }

    pub(super) fn part(&self, inst: Inst) -> ReplacementInst {
        let outcome = match self.choices.outcome(inst) {
            Outcome::Native { .. } if self.is_refused(inst) => Outcome::Refused,
            outcome => outcome,
        };
        ReplacementInst { text: print_inst(self.kernel, inst), outcome, words: self.words(inst) }
    }

    /// Returns `true` if an instruction is refused, or an operand that would have to be merged into
    /// it, because no register can hold that operand's value.
    fn is_refused(&self, inst: Inst) -> bool {
        let Err(Failed::Refused(refused)) = &self.result else { return false };
        let (mut open, mut seen) = (vec![inst], HashSet::from([inst]));
        while let Some(inst) = open.pop() {
            let span = self.kernel.insts[inst].span;
            if refused.iter().any(|refusal| refusal.span == span) {
                return true;
            }
            let wide = self.kernel.args(inst).iter().filter(|&&arg| self.kernel.ty(arg).bits() > 128);
            open.extend(wide.filter_map(|&arg| self.kernel.def_inst(arg)).filter(|&inst| seen.insert(inst)));
        }
        false
    }

    fn words(&self, inst: Inst) -> Vec<Word> {
        let Ok(code) = &self.result else { return Vec::new() };
        let own = self.addresses.get(&(inst.as_u32() + 1)).into_iter().flatten().copied();
        let word = |address| Word { address, digits: code.words.digits(address), text: code.words.text(address) };
        own.filter(|&address| !is_nop(&code.words, address)).map(word).collect()
    }

    /// Returns the outcome for a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<ReplacementInst> {
        let value = place::named(self.kernel, name)?;
        let merged = self.choices.merged(value);
        let outcome = if merged.is_empty() { Outcome::Unneeded } else { Outcome::Merged(merged) };
        Some(ReplacementInst { text: Found::Value(value).text(self.kernel), outcome, words: Vec::new() })
    }

    /// Returns the instructions in `asked` whose results `user` uses.
    fn used(&self, user: Inst, asked: &HashSet<Inst>) -> Vec<Inst> {
        let defs = self.kernel.args(user).iter().filter_map(|&arg| self.kernel.def_inst(arg));
        defs.filter(|def| asked.contains(def)).collect()
    }

    /// Returns the rules that match in part: for the requested instructions, their operands, and
    /// their users.
    pub(super) fn near(&self, asked: &[Inst]) -> Vec<NearMiss> {
        let asked: &HashSet<Inst> = &asked.iter().copied().collect();
        let mut own = Vec::new();
        let mut others = Vec::new();
        for selection in &self.choices.trace.selections {
            for near in &selection.near {
                let Some((rule, found)) = self.choices.near(selection, near) else { continue };
                let is_own = matches!(near.at, Found::Inst(inst) if asked.contains(&inst));
                // For users, only rules that would have merged a requested instruction are listed.
                let looks_for = |inst: Inst| rule.looks_for(self.kernel.insts[inst].op);
                let takes_in = match near.at {
                    Found::Inst(user) => self.used(user, asked).into_iter().any(looks_for),
                    _ => true,
                };
                if !is_own && !takes_in {
                    continue;
                }
                if is_own {
                    own.push(found);
                } else {
                    let of = selection.inst.map(|inst| print_inst(self.kernel, inst));
                    others.push(NearMiss { of, ..found });
                }
            }
        }
        // The rules of each user stay together.
        own.sort_by_key(|near| Reverse(near.rule.priority));
        others.sort_by_cached_key(|near| (near.of.clone(), Reverse(near.rule.priority)));
        own.extend(others);
        own
    }
}

/// Generates the machine code of selected code. An error is a defect of the compiler.
fn words(mut code: Box<dyn SelectedCode>, target: Target) -> Result<KernelCode, String> {
    let expanded = code.expand();
    let func = code.allocate(&mut Allocator::default(), &regalloc::Options::default());
    let func = func.map_err(|error| error.to_string());
    expanded.and(func).and_then(|func| TARGETS.layout(target, func).map_err(|error| error.to_string()))
}
