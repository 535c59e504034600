//! What selection says.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use halfbyte::TARGETS;
use halfbyte_abi::Target;
use halfbyte_emit::Code;
use halfbyte_ir::rule::{Depth, Found};
use halfbyte_ir::text::print_inst;
use halfbyte_ir::{Inst, Kernel, Rule, Span, Value};
use halfbyte_isa::isa::Words;
use halfbyte_isa::object::Loc;
use halfbyte_isa::vp1::{self, Opcode};
use halfbyte_isel::regalloc::{self, Allocator};
use halfbyte_isel::trace::{Selection, Trace};
use halfbyte_isel::{Refusal, Request};

use super::uses::Users;
use super::{Merged, Missed, NearMiss, Outcome, Part, RuleAt, Word, place};

/// Whether a word only fills a place in its bundle.
fn is_nop(words: &Words, address: usize) -> bool {
    let Some(vp1::Code(words)) = words.downcast_ref() else { return false };
    let inst = words.get(address).and_then(|&word| vp1::Inst::decode(word));
    inst.is_some_and(|inst| matches!(inst.opcode(), Opcode::ANOP | Opcode::SNOP | Opcode::VNOP | Opcode::BNOP))
}

/// Why there are no words.
pub(super) enum Failed {
    Refused(Vec<Refusal>),
    Defect(String),
}

/// A lowered kernel in words, of which each knows the instruction that it comes from.
pub(super) struct Selected<'k> {
    kernel: &'k Kernel,
    target: Target,
    trace: Trace,
    /// By instruction, its place among the selections.
    selections: HashMap<Inst, usize>,
    users: Users<'k>,
    /// By instruction's number plus one, the addresses of its words.
    addresses: HashMap<u32, Vec<usize>>,
    pub result: Result<Code, Failed>,
}

impl<'k> Selected<'k> {
    /// Selects a kernel, watching these instructions.
    pub fn new(kernel: &'k Kernel, target: Target, asked: Vec<Inst>) -> Selected<'k> {
        // The place of a word is the number of its instruction.
        let mut numbered = kernel.clone();
        numbered.span = Span::default();
        for (inst, data) in numbered.insts.iter_mut() {
            data.span = Span { start: inst.as_u32() + 1, end: inst.as_u32() + 2 };
        }
        let locate = |span: Span| Loc { line: span.start, column: 1 };
        let mut trace = Trace::new(asked);
        let request = Request { kernel: &numbered, target, locate: &locate, trace: Some(&mut trace) };
        let selected = TARGETS.select(request);
        let result = match selected {
            Ok(mut selected) => {
                let expanded = selected.code.expand().map_err(|error| Failed::Defect(error.to_string()));
                let func = selected.code.allocate(&mut Allocator::default(), &regalloc::Options::default());
                let func = func.map_err(|error| Failed::Defect(error.to_string()));
                expanded
                    .and(func)
                    .and_then(|func| TARGETS.layout(target, func).map_err(|error| Failed::Defect(error.to_string())))
            }
            Err(mut refused) => {
                for refusal in &mut refused {
                    let inst = refusal.span.start.checked_sub(1).map(Inst::from_u32);
                    let data = inst.and_then(|inst| kernel.insts.get(inst));
                    refusal.span = data.map_or(kernel.span, |data| data.span);
                }
                Err(Failed::Refused(refused))
            }
        };
        let mut selections = HashMap::new();
        for (number, selection) in trace.selections.iter().enumerate() {
            if let Some(inst) = selection.inst {
                selections.entry(inst).or_insert(number);
            }
        }
        let mut addresses: HashMap<u32, Vec<usize>> = HashMap::new();
        for (address, loc) in result.iter().flat_map(|code| &code.locs).enumerate() {
            addresses.entry(loc.line).or_default().push(address);
        }
        Selected { kernel, target, trace, selections, users: Users::new(kernel), addresses, result }
    }

    fn rule(&self, number: u32) -> Option<&'static Rule> {
        TARGETS.rules(self.target).get(number as usize)
    }

    fn selection(&self, inst: Inst) -> Option<&Selection> {
        self.selections.get(&inst).and_then(|&number| self.trace.selections.get(number))
    }

    /// The rule that selected an instruction.
    fn root(&self, selection: &Selection) -> Option<&'static Rule> {
        let at = selection.inst.map(Found::Inst);
        let taken = selection.taken.iter().filter(|taken| taken.at == at);
        taken.filter_map(|taken| self.rule(taken.rule)).find(|rule| rule.term == "lower")
    }

    /// The other rules that it took, for its operands, each once.
    fn operands(&self, selection: &Selection) -> Vec<(RuleAt, String)> {
        let mut operands = Vec::new();
        let mut known = HashSet::new();
        for taken in &selection.taken {
            let (Some(Found::Value(value)), Some(rule)) = (&taken.at, self.rule(taken.rule)) else { continue };
            if known.insert((taken.rule, *value)) {
                operands.push((RuleAt::new(rule), self.name(*value)));
            }
        }
        operands
    }

    /// A value as the lowered kernel's text has it.
    fn name(&self, value: Value) -> String {
        match self.kernel.def_inst(value) {
            Some(inst) => print_inst(self.kernel, inst).split(" = ").next().unwrap_or_default().to_owned(),
            None => format!("%{}", self.kernel.value_name(value).unwrap_or("?")),
        }
    }

    pub fn part(&self, inst: Inst) -> Part {
        let outcome = match self.selection(inst) {
            Some(selection) => {
                let operands = self.operands(selection);
                match self.root(selection) {
                    Some(rule) => Outcome::Selected { rule: RuleAt::new(rule), operands },
                    None if self.is_refused(inst) => Outcome::Refused,
                    None => Outcome::AsItIs { operands },
                }
            }
            None => match self.kernel.result(inst).map(|value| self.merged(value)) {
                Some(merged) if !merged.is_empty() => Outcome::Merged(merged),
                _ => Outcome::Unneeded,
            },
        };
        Part { text: print_inst(self.kernel, inst), outcome, words: self.words(inst) }
    }

    fn is_refused(&self, inst: Inst) -> bool {
        let span = self.kernel.insts[inst].span;
        matches!(&self.result, Err(Failed::Refused(refused)) if refused.iter().any(|refusal| refusal.span == span))
    }

    fn words(&self, inst: Inst) -> Vec<Word> {
        let Ok(code) = &self.result else { return Vec::new() };
        let own = self.addresses.get(&(inst.as_u32() + 1)).into_iter().flatten().copied();
        let word = |address| Word { address, digits: code.words.digits(address), text: code.words.text(address) };
        own.filter(|&address| !is_nop(&code.words, address)).map(word).collect()
    }

    /// Where a value went that has no instructions of its own.
    fn merged(&self, value: Value) -> Vec<Merged> {
        let mut merged: Vec<Merged> = Vec::new();
        for user in self.users.emitted(value, &|inst| self.selection(inst).is_some()) {
            let Some(selection) = self.selection(user) else { continue };
            let looked = |value| {
                selection
                    .taken
                    .iter()
                    .rfind(|taken| taken.through.contains(&value) || taken.at.as_ref() == Some(&Found::Value(value)))
            };
            let rule = looked(value).and_then(|taken| self.rule(taken.rule));
            let rule = rule.or_else(|| self.root(selection)).map(RuleAt::new);
            merged.push(Merged { into: print_inst(self.kernel, user), rule });
        }
        merged
    }

    /// What became of a parameter.
    pub fn parameter(&self, name: &str) -> Option<Part> {
        let value = place::named(self.kernel, name)?;
        let merged = self.merged(value);
        let outcome = if merged.is_empty() { Outcome::Unneeded } else { Outcome::Merged(merged) };
        Some(Part { text: Found::Value(value).text(self.kernel), outcome, words: Vec::new() })
    }

    /// Which of some instructions another uses.
    fn used(&self, user: Inst, asked: &HashSet<Inst>) -> Vec<Inst> {
        let defs = self.kernel.args(user).iter().filter_map(|&arg| self.kernel.def_inst(arg));
        defs.filter(|def| asked.contains(def)).collect()
    }

    /// The rules that match in part: of the instructions that are asked about, of their operands, and of what uses them.
    pub fn near(&self, asked: &[Inst]) -> Vec<NearMiss> {
        let asked: &HashSet<Inst> = &asked.iter().copied().collect();
        let mut own = Vec::new();
        let mut others = Vec::new();
        for selection in &self.trace.selections {
            for near in &selection.near {
                let Some(rule) = self.rule(near.rule) else { continue };
                let was_taken =
                    selection.taken.iter().any(|taken| taken.rule == near.rule && taken.at.as_ref() == Some(&near.at));
                if was_taken {
                    continue;
                }
                let miss = near.walk.miss.as_ref();
                let is_other =
                    matches!(near.at, Found::Inst(_)) && miss.is_some_and(|miss| miss.depth == Depth::Nothing);
                if is_other {
                    continue;
                }
                let is_own = matches!(near.at, Found::Inst(inst) if asked.contains(&inst));
                // Of what uses it, the rules that would have taken it in.
                let looks_for = |inst: Inst| rule.looks_for(self.kernel.insts[inst].op);
                let takes_in = match near.at {
                    Found::Inst(user) => self.used(user, asked).into_iter().any(looks_for),
                    _ => true,
                };
                if !is_own && !takes_in {
                    continue;
                }
                let of = match near.at {
                    Found::Inst(_) if is_own => None,
                    _ => selection.inst.map(|inst| print_inst(self.kernel, inst)),
                };
                let found = NearMiss {
                    rule: RuleAt::new(rule),
                    by: "selection",
                    of,
                    miss: miss.map(|miss| Missed {
                        wanted: miss.wanted,
                        line: miss.line,
                        found: miss.found_text(self.kernel),
                        depth: miss.depth,
                    }),
                };
                if is_own { own.push(found) } else { others.push(found) }
            }
        }
        // Of what uses it, each instruction's rules stay together.
        own.sort_by_key(|near| Reverse(near.rule.priority));
        others.sort_by_cached_key(|near| (near.of.clone(), Reverse(near.rule.priority)));
        own.extend(others);
        own
    }
}
