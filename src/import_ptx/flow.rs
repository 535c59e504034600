//! The blocks of a kernel in PTX.
//!
//! A guard makes most instructions a choice between two values. An access to memory, and the end of the item, are not made
//! at all where their guard is false: a guarded one stands in a block of its own, which a branch goes around.

use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::{Guard, Inst, Opcode, Operand};
use halfbyte_isa::row::{Class, Role};

use super::sources::loads_parameter;

/// A block.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Its instructions, by number; those that end it are not among them.
    pub insts: std::ops::Range<usize>,
    /// Whether their guards hold since the block is reached.
    pub guarded: bool,
    /// Where it goes.
    pub end: End,
    /// The instruction that ends it, where there is one.
    pub ended_by: Option<usize>,
}

/// How a block ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
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

/// The blocks of a kernel, the first one first; those that nothing reaches too.
pub(super) fn nodes(entry: &Entry) -> Vec<Node> {
    let insts = &entry.insts;
    let mut leads = vec![false; insts.len() + 1];
    for label in &entry.labels {
        if let Some(lead) = leads.get_mut(label.at as usize) {
            *lead = true;
        }
    }
    // The first instruction of each block, with where the blocks end; a label at the end of the text has an empty one.
    let mut starts = Vec::new();
    let mut nodes = Vec::new();
    let mut place = 0;
    while place < insts.len() {
        let start = place;
        starts.push((start, nodes.len()));
        let (guarded, ended_by) = match insts.get(place) {
            Some(inst) if stands_alone(inst) => {
                place = run_of(insts, place, &leads);
                (true, None)
            }
            _ => {
                let ends = |inst: &Inst| is_end(inst);
                while place < insts.len()
                    && !insts.get(place).is_some_and(|inst| ends(inst) || stands_alone(inst))
                    && (place == start || !leads.get(place).copied().unwrap_or(false))
                {
                    place += 1;
                }
                let is_led = place > start && leads.get(place).copied().unwrap_or(false);
                let ended_by = (!is_led && insts.get(place).is_some_and(ends)).then_some(place);
                (false, ended_by)
            }
        };
        let body = start..place;
        place += usize::from(ended_by.is_some());
        nodes.push((body, guarded, ended_by, place));
    }
    starts.push((insts.len(), nodes.len()));
    let at = |place: usize| {
        let found = starts.binary_search_by_key(&place, |(start, _)| *start);
        starts.get(found.unwrap_or_else(|next| next)).map_or(nodes.len(), |(_, node)| *node)
    };
    let label = |inst: &Inst| match inst.operands.first() {
        Some(Operand::Label(label)) => {
            entry.labels.get(label.0 as usize).map_or(insts.len(), |label| label.at as usize)
        }
        _ => insts.len(),
    };
    // What a block that stands alone has before it is a branch around it, in a block without instructions where need be.
    let mut built: Vec<Node> = Vec::with_capacity(2 * nodes.len() + 1);
    let number: Vec<usize> =
        nodes.iter().scan(0, |next, node| Some(std::mem::replace(next, *next + 1 + usize::from(node.1)))).collect();
    let last = number.last().zip(nodes.last()).map_or(0, |(number, node)| number + 1 + usize::from(node.1));
    let at = |place: usize| number.get(at(place)).copied().unwrap_or(last);
    for (body, guarded, ended_by, next) in nodes.iter().cloned() {
        if guarded {
            let guard = insts.get(body.start).and_then(|inst| inst.guard);
            let inside = built.len() + 1;
            let end = guard.map_or(End::Jump(inside), |guard| End::Branch(guard, inside, at(next)));
            built.push(Node { insts: body.start..body.start, guarded: false, end, ended_by: Some(body.start) });
            let exits = insts.get(body.start).is_some_and(is_exit);
            let (insts, end) = if exits { (body.start..body.start, End::Exit) } else { (body, End::Jump(at(next))) };
            built.push(Node { insts, guarded: true, end, ended_by: None });
            continue;
        }
        let ending = ended_by.and_then(|place| insts.get(place));
        let end = match ending {
            None => End::Jump(at(next)),
            Some(inst) if is_exit(inst) => End::Exit,
            Some(inst) => match inst.guard {
                None => End::Jump(at(label(inst))),
                Some(guard) => End::Branch(guard, at(label(inst)), at(next)),
            },
        };
        built.push(Node { insts: body, guarded: false, end, ended_by });
    }
    built.push(Node { insts: insts.len()..insts.len(), guarded: false, end: End::Exit, ended_by: None });
    built
}

fn is_exit(inst: &Inst) -> bool {
    matches!(inst.opcode, Opcode::RET | Opcode::EXIT)
}

fn is_end(inst: &Inst) -> bool {
    inst.opcode == Opcode::BRA || is_exit(inst) && inst.guard.is_none()
}

/// Whether it must not be reached where its guard is false.
fn stands_alone(inst: &Inst) -> bool {
    inst.guard.is_some() && (is_exit(inst) || inst.row().class == Class::Memory && !loads_parameter(inst))
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
pub(super) fn order(nodes: &[Node]) -> Vec<usize> {
    let mut seen = vec![false; nodes.len()];
    let mut order = Vec::with_capacity(nodes.len());
    let targets = |node: usize| nodes.get(node).map_or_else(Vec::new, |node| node.end.targets().collect::<Vec<_>>());
    // A block goes to the order when all that it goes to has.
    let mut path = Vec::new();
    if let Some(first) = seen.first_mut() {
        *first = true;
        path.push((0, targets(0)));
    }
    while let Some((node, rest)) = path.last_mut() {
        match rest.pop() {
            Some(next) => {
                if let Some(seen) = seen.get_mut(next).filter(|seen| !**seen) {
                    *seen = true;
                    path.push((next, targets(next)));
                }
            }
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}
