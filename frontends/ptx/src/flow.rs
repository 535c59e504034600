//! The blocks of a kernel in PTX.
//!
//! A guard makes most instructions a choice between two values. An access to memory, and the end of the item, are not made
//! at all where their guard is false: a guarded one stands in a block of its own, which a branch goes around.

use std::ops::Range;

use cranelift_entity::EntityRef;
use halfbyte_ir::flow::{Lists, Node as GraphNode, reverse_postorder};
use halfbyte_isa::ptx::meaning::fence;
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::{Address, Base, Guard, Inst, Opcode, Operand};
use halfbyte_isa::row::{Class, Role};

/// A block.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its instructions, by number; those that end it are not among them.
    pub insts: Range<usize>,
    /// Whether their guards hold since the block is reached.
    pub guarded: bool,
    /// Where it goes.
    pub end: End,
    /// The instruction that ends it, where there is one.
    pub ended_by: Option<usize>,
}

/// How a block ends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// It goes to a block.
    Jump(usize),
    /// It goes to the first block where the guard holds, else to the second.
    Branch(Guard, usize, usize),
    /// The item is done.
    Exit,
}

impl End {
    /// The blocks that it goes to.
    pub fn targets(self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            End::Jump(to) => (Some(to), None),
            End::Branch(_, then, otherwise) => (Some(then), Some(otherwise)),
            End::Exit => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// A run of instructions that becomes a block, or two where it has a guard: the branch around it and itself.
struct Run {
    insts: Range<usize>,
    /// None of it is reached where its guard is false.
    guarded: bool,
    /// The instruction that ends it, which is not among the others.
    ended_by: Option<usize>,
}

impl Run {
    /// The first instruction after it.
    fn next(&self) -> usize {
        self.ended_by.map_or(self.insts.end, |place| place + 1)
    }

    fn nodes(&self) -> usize {
        1 + usize::from(self.guarded)
    }
}

/// The blocks of a kernel, the first one first; those that nothing reaches too.
pub(crate) fn nodes(entry: &Entry) -> Vec<Node> {
    let insts = &entry.body.insts;
    let runs = runs(entry);
    let firsts: Vec<usize> = runs
        .iter()
        .scan(0, |next, run| {
            let first = *next;
            *next += run.nodes();
            Some(first)
        })
        .collect();
    let last: usize = runs.iter().map(Run::nodes).sum();
    // The block that starts at an instruction; the last one is after them all.
    let at = |place: usize| {
        let found = runs.binary_search_by_key(&place, |run| run.insts.start).ok();
        found.and_then(|run| firsts.get(run)).copied().unwrap_or(last)
    };
    let target = |inst: &Inst| match inst.operands.first() {
        Some(Operand::Label(label)) => {
            entry.body.labels.get(label.0 as usize).map_or(last, |label| at(label.at as usize))
        }
        _ => last,
    };
    let mut nodes: Vec<Node> = Vec::with_capacity(last + 1);
    for run in &runs {
        let (start, next) = (run.insts.start, at(run.next()));
        let first = insts.get(start);
        if let (true, Some(guard)) = (run.guarded, first.and_then(|inst| inst.guard)) {
            let end = End::Branch(guard, nodes.len() + 1, next);
            nodes.push(Node { insts: start..start, guarded: false, end, ended_by: Some(start) });
            let (insts, end) = match first.is_some_and(is_exit) {
                true => (start..start, End::Exit),
                false => (run.insts.clone(), End::Jump(next)),
            };
            nodes.push(Node { insts, guarded: true, end, ended_by: None });
            continue;
        }
        let end = match run.ended_by.and_then(|place| insts.get(place)) {
            None => End::Jump(next),
            Some(inst) if is_exit(inst) => End::Exit,
            Some(inst) => match inst.guard {
                None => End::Jump(target(inst)),
                Some(guard) => End::Branch(guard, target(inst), next),
            },
        };
        nodes.push(Node { insts: run.insts.clone(), guarded: false, end, ended_by: run.ended_by });
    }
    nodes.push(Node { insts: insts.len()..insts.len(), guarded: false, end: End::Exit, ended_by: None });
    nodes
}

/// The instructions in runs, one after another: each starts where a label stands, where another ends, or where it has a
/// guard that it stands alone for.
fn runs(entry: &Entry) -> Vec<Run> {
    let insts = &entry.body.insts;
    let mut leads = vec![false; insts.len() + 1];
    for label in &entry.body.labels {
        if let Some(lead) = leads.get_mut(label.at as usize) {
            *lead = true;
        }
    }
    let mut runs = Vec::new();
    let mut place = 0;
    while let Some(first) = insts.get(place) {
        let start = place;
        let guarded = stands_alone(first);
        let mut ended_by = None;
        if guarded {
            place = run_of(insts, start, &leads);
        } else {
            while let Some(inst) = insts.get(place) {
                if place > start && leads.get(place).copied().unwrap_or(false) || stands_alone(inst) {
                    break;
                }
                if is_end(inst) {
                    ended_by = Some(place);
                    break;
                }
                place += 1;
            }
        }
        let run = Run { insts: start..place, guarded, ended_by };
        place = run.next();
        runs.push(run);
    }
    runs
}

fn is_exit(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::RET | Opcode::EXIT)
}

fn is_end(inst: &Inst) -> bool {
    inst.opcode == Opcode::BRA || is_exit(inst) && inst.guard.is_none()
}

/// Whether it must not be reached where its guard is false.
fn stands_alone(inst: &Inst) -> bool {
    let acts = inst.row().class == Class::Memory || inst.meets() || fence(inst).is_some();
    inst.guard.is_some() && (is_exit(inst) || acts && !loads_parameter(inst))
}

/// The end of the instructions from here on that have one guard, whose predicate none of them writes.
fn run_of(insts: &[Inst], start: usize, leads: &[bool]) -> usize {
    let guard = insts.get(start).and_then(|inst| inst.guard);
    let mut place = start;
    while let Some(inst) = insts.get(place) {
        let belongs = inst.guard == guard && !is_exit(inst) && inst.opcode != Opcode::BRA;
        let led = place > start && leads.get(place).copied().unwrap_or(false);
        if place > start && (!belongs || led) {
            break;
        }
        place += 1;
        let writes = inst.registers().any(|(role, reg)| role != Role::Use && Some(reg) == guard.map(|guard| guard.reg));
        if is_exit(inst) || writes {
            break;
        }
    }
    place
}

/// The blocks that are reached, so that all that lead to one but by going back come before it.
pub(crate) fn order(nodes: &[Node]) -> Vec<usize> {
    // What is visited last comes first.
    let targets = |node: &Node| {
        let mut targets: Vec<_> = node.end.targets().map(GraphNode::new).collect();
        targets.reverse();
        targets
    };
    let graph = Lists { entry: GraphNode::new(0), successors: nodes.iter().map(targets).collect() };
    reverse_postorder(&graph).into_iter().map(EntityRef::index).collect()
}

/// Whether an instruction loads from a parameter.
pub(crate) fn loads_parameter(inst: &Inst) -> bool {
    let reads = |operand: &Operand| matches!(operand, Operand::Memory(Address { base: Base::Parameter(_), .. }));
    inst.opcode == Opcode::LD_PARAM && inst.operands.iter().any(reads)
}
