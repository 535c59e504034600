//! Explanations of how selection chose the instructions for an op.

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

/// Returns `true` if the instruction word at an address is a no-op that only fills its bundle.
fn is_nop(words: &SharedCode, address: usize) -> bool {
    let Some(vp1::Vp1Code(words)) = words.downcast_ref() else { return false };
    let inst = words.get(address).and_then(|&word| vp1::Inst::decode(word));
    inst.is_some_and(|inst| matches!(inst.opcode(), Opcode::ANOP | Opcode::SNOP | Opcode::VNOP | Opcode::BNOP))
}

/// The reason why a kernel has no machine code.
pub(super) enum Failed {
    Refused(Vec<Refusal>),
    Defect(String),
}

/// The machine code of a lowered kernel, with the IR instruction of each instruction word.
pub(super) struct Selected<'k> {
    kernel: &'k Kernel,
    choices: Choices<'k>,
    /// The addresses of the instruction words for each IR instruction. The key is the number of the
    /// IR instruction plus one.
    addresses: HashMap<u32, Vec<usize>>,
    pub result: Result<KernelCode, Failed>,
}

impl<'k> Selected<'k> {
    /// Selects instructions for a kernel, and traces the selection for the IR instructions in `asked`.
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

    /// Returns `true` if the target refuses an instruction. If an operand is wider than every
    /// register, it must be merged into the instruction, so a refusal of the operand counts too.
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

    /// Returns the outcome of selection for a parameter, or `None` if the kernel has no parameter of that name.
    pub(super) fn parameter(&self, name: &str) -> Option<ReplacementInst> {
        let value = place::named(self.kernel, name)?;
        let merged = self.choices.merged(value);
        let outcome = if merged.is_empty() { Outcome::Unneeded } else { Outcome::Merged(merged) };
        Some(ReplacementInst { text: Found::Value(value).text(self.kernel), outcome, words: Vec::new() })
    }

    /// Returns those instructions in `asked` whose results the instruction `user` uses.
    fn used(&self, user: Inst, asked: &HashSet<Inst>) -> Vec<Inst> {
        let defs = self.kernel.args(user).iter().filter_map(|&arg| self.kernel.def_inst(arg));
        defs.filter(|def| asked.contains(def)).collect()
    }

    /// Returns the rules that nearly match the instructions in `asked`, their operands or their users.
    pub(super) fn near(&self, asked: &[Inst]) -> Vec<NearMiss> {
        let asked: &HashSet<Inst> = &asked.iter().copied().collect();
        let mut own = Vec::new();
        let mut others = Vec::new();
        for selection in &self.choices.trace.selections {
            for near in &selection.near {
                let Some((rule, found)) = self.choices.near(selection, near) else { continue };
                let is_own = matches!(near.at, Found::Inst(inst) if asked.contains(&inst));
                // A rule for a user is listed only if the rule would have merged an instruction in
                // `asked`.
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
        // Sorting by the user's text first keeps the rules of each user together.
        own.sort_by_key(|near| Reverse(near.rule.priority));
        others.sort_by_cached_key(|near| (near.of.clone(), Reverse(near.rule.priority)));
        own.extend(others);
        own
    }
}

/// Generates the machine code of a kernel from its selected instructions. An error is a defect of the compiler.
fn words(mut code: Box<dyn SelectedCode>, target: Target) -> Result<KernelCode, String> {
    let expanded = code.expand();
    let func = code.allocate(&mut Allocator::default(), &regalloc::Options::default());
    let func = func.map_err(|error| error.to_string());
    expanded.and(func).and_then(|func| TARGETS.layout(target, func).map_err(|error| error.to_string()))
}
