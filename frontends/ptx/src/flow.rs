//! Basic blocks of a PTX kernel.
//!
//! Most guarded instructions become a select between two values. Guarded memory accesses,
//! collective operations and exits must not execute at all if their guard is false. Each sequence
//! of these instructions becomes a separate block, which a branch skips.

use std::ops::Range;

use cranelift_entity::EntityRef;
use halfbyte_ir::flow::{Flow, Lists, Node as GraphNode};
use halfbyte_isa::ptx::meaning::fence;
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::{Address, Base, Guard, Inst, Opcode, Operand};
use halfbyte_isa::row::{InstClass, OperandRole};

/// Basic block.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Range of the numbers of the block's instructions, without the terminator.
    pub insts: Range<usize>,
    /// Set if the block executes only when the guard of its instructions is true.
    pub guarded: bool,
    /// Terminator of the block.
    pub end: End,
    /// Number of the instruction that is the terminator, if any.
    pub ended_by: Option<usize>,
}

/// Terminator of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// Unconditional branch to a block.
    Jump(usize),
    /// Branch to the first block if the guard is true, otherwise to the second.
    Branch(Guard, usize, usize),
    /// End of the work item.
    Exit,
}

impl End {
    /// Returns the numbers of the successors.
    pub(crate) fn targets(self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            End::Jump(to) => (Some(to), None),
            End::Branch(_, then, otherwise) => (Some(then), Some(otherwise)),
            End::Exit => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Sequence of instructions that becomes one block. A guarded sequence becomes two blocks: one with
/// a branch, and one with the instructions.
struct GuardedRange {
    insts: Range<usize>,
    /// Set if the instructions must not execute if their guard is false.
    guarded: bool,
    /// Number of the terminating instruction, which is not in `insts`.
    ended_by: Option<usize>,
}

impl GuardedRange {
    /// Returns the number of the instruction after the sequence.
    fn next(&self) -> usize {
        self.ended_by.map_or(self.insts.end, |place| place + 1)
    }

    fn nodes(&self) -> usize {
        1 + usize::from(self.guarded)
    }
}

/// Returns the blocks of a kernel, including unreachable ones. Block 0 is the entry.
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
    let last: usize = runs.iter().map(GuardedRange::nodes).sum();
    // Returns the number of the block that starts at an instruction. The last block is the exit at
    // the end of the kernel.
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

/// Splits the instructions into sequences that become blocks. A sequence starts at a label, after a
/// terminator, and at a guarded instruction that must be in a separate block.
fn runs(entry: &Entry) -> Vec<GuardedRange> {
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
        let guarded = needs_own_block(first);
        let mut ended_by = None;
        if guarded {
            place = run_of(insts, start, &leads);
        } else {
            while let Some(inst) = insts.get(place) {
                if place > start && leads.get(place).copied().unwrap_or(false) || needs_own_block(inst) {
                    break;
                }
                if is_end(inst) {
                    ended_by = Some(place);
                    break;
                }
                place += 1;
            }
        }
        let run = GuardedRange { insts: start..place, guarded, ended_by };
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

/// Returns `true` if the instruction must not execute if its guard is false.
fn needs_own_block(inst: &Inst) -> bool {
    let acts = inst.row().class == InstClass::Memory || inst.is_collective() || fence(inst).is_some();
    inst.guard.is_some() && (is_exit(inst) || acts && !loads_parameter(inst))
}

/// Returns the end of the sequence of instructions with the same guard that begins at `start`. An
/// instruction that writes the guard's predicate ends the sequence.
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
        let writes =
            inst.registers().any(|(role, reg)| role != OperandRole::Use && Some(reg) == guard.map(|guard| guard.reg));
        if is_exit(inst) || writes {
            break;
        }
    }
    place
}

/// Returns the control-flow graph of the blocks.
pub(crate) fn graph(nodes: &[Node]) -> Flow<GraphNode> {
    // The successors are reversed, so that the first successor comes first in the reverse postorder.
    let targets = |node: &Node| {
        let mut targets: Vec<_> = node.end.targets().map(GraphNode::new).collect();
        targets.reverse();
        targets
    };
    Flow::new(&Lists { entry: GraphNode::new(0), successors: nodes.iter().map(targets).collect() })
}

/// Returns `true` if the instruction loads from a parameter by name.
pub(crate) fn loads_parameter(inst: &Inst) -> bool {
    let reads = |operand: &Operand| matches!(operand, Operand::Memory(Address { base: Base::Parameter(_), .. }));
    inst.opcode == Opcode::LD_PARAM && inst.operands.iter().any(reads)
}
