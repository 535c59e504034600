//! Common subexpressions: an instruction gives way to an equal one that dominates it.
//!
//! Equal are op, type, what it carries and operands, those of a commutative op in either order. The walk is over the
//! dominator tree, with a table in which a subtree's entries are undone when it is left.
//!
//! Loads count as equal only in the same state of memory. Memory changes its state with every store, and where blocks
//! meet; a block with one predecessor begins in the state in which that ends. A kernel that stores nothing has one state.

use std::hash::{Hash, Hasher};

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, SecondaryMap};
use halfbyte_ir::{Attr, Block, Effect, Flow, Inst, Kernel, Value};
use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::pass::Context;
use crate::passes::resolve;
use crate::trace::{How, Tell, Trace};

/// An instruction that stands for the equal ones that it dominates.
#[derive(Clone, Copy)]
struct Entry {
    hash: u64,
    inst: Inst,
    result: Value,
    /// Of a load: the state of memory.
    memory: u32,
}

/// A step of the walk.
enum Step {
    Enter(Block),
    /// Undo the entries made since there were so many.
    Leave(usize),
}

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let flow = Flow::new(kernel);
    let mut children: SecondaryMap<Block, EntityList<Block>> = SecondaryMap::new();
    let mut pool = cranelift_entity::ListPool::new();
    for block in flow.reverse_postorder() {
        if let Some(parent) = flow.immediate_dominator(block) {
            children[parent].push(block, &mut pool);
        }
    }
    let mut walk = Walk {
        stores: has_stores(kernel),
        table: HashTable::with_capacity(kernel.insts.len()),
        entries: Vec::new(),
        replaced: SecondaryMap::new(),
        memory: SecondaryMap::new(),
        states: 0,
        changed: false,
        trace: &mut context.trace,
        kernel,
    };
    let mut steps: Vec<Step> = walk.kernel.entry().map(Step::Enter).into_iter().collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(block) => {
                // What the entry leaves is the end of the walk.
                if flow.immediate_dominator(block).is_some() {
                    steps.push(Step::Leave(walk.entries.len()));
                }
                walk.block(block, &flow);
                steps.extend(children[block].as_slice(&pool).iter().rev().map(|&child| Step::Enter(child)));
            }
            Step::Leave(entries) => {
                for gone in walk.entries.drain(entries..) {
                    if let Ok(entry) = walk.table.find_entry(gone.hash, |entry| entry.inst == gone.inst) {
                        entry.remove();
                    }
                }
            }
        }
    }
    let Walk { replaced, changed, .. } = walk;
    if changed {
        kernel.replace_uses(&replaced);
    }
    changed
}

fn has_stores(kernel: &Kernel) -> bool {
    let insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    insts.into_iter().any(|&inst| kernel.insts[inst].op.row().effect == Effect::Write)
}

struct Walk<'k> {
    kernel: &'k mut Kernel,
    trace: &'k mut Option<Trace>,
    stores: bool,
    table: HashTable<Entry>,
    /// What is in the table, in the order in which it came.
    entries: Vec<Entry>,
    replaced: SecondaryMap<Value, PackedOption<Value>>,
    /// The state of memory at the end of each block.
    memory: SecondaryMap<Block, u32>,
    states: u32,
    changed: bool,
}

impl Walk<'_> {
    fn block(&mut self, block: Block, flow: &Flow) {
        let mut memory = match flow.predecessors(block) {
            _ if !self.stores => 0,
            // One predecessor is the dominator, which the walk has been to.
            &[only] if flow.immediate_dominator(block) == Some(only) => self.memory[only],
            _ => self.new_state(),
        };
        let mut insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        insts.retain(|&inst| {
            resolve(self.kernel, inst, &self.replaced);
            let state = match self.kernel.insts[inst].op.row().effect {
                Effect::Pure => 0,
                Effect::Read => memory,
                Effect::Write => {
                    memory = self.new_state();
                    return true;
                }
                Effect::Terminator => return true,
            };
            !self.is_known(inst, state)
        });
        self.kernel.blocks[block].insts = insts;
        self.memory[block] = memory;
    }

    fn new_state(&mut self) -> u32 {
        self.states += 1;
        self.states
    }

    /// Whether an equal instruction stands in for this one; otherwise this one will for later ones.
    fn is_known(&mut self, inst: Inst, memory: u32) -> bool {
        let Some(result) = self.kernel.result(inst) else { return false };
        let hash = hash(self.kernel, inst);
        let known = self.table.find(hash, |entry| entry.memory == memory && is_equal(self.kernel, entry.inst, inst));
        match known {
            Some(&Entry { result: known, .. }) => {
                let before = self.trace.before(self.kernel, inst);
                self.trace.replaced(before, How::Shared, self.kernel, &[], Some(known));
                self.replaced[result] = known.into();
                self.changed = true;
                true
            }
            None => {
                let entry = Entry { hash, inst, result, memory };
                self.entries.push(entry);
                self.table.insert_unique(hash, entry, |entry| entry.hash);
                false
            }
        }
    }
}

/// Equal for equal instructions, which the state of memory does not matter to.
fn hash(kernel: &Kernel, inst: Inst) -> u64 {
    let mut hasher = FxHasher::default();
    let data = &kernel.insts[inst];
    (data.op, data.ty).hash(&mut hasher);
    match (data.attr, kernel.const_bits(inst)) {
        (Attr::Wide(_), Some(words)) => words.hash(&mut hasher),
        (attr, _) => attr.hash(&mut hasher),
    }
    match (kernel.args(inst), data.op.row().commutative) {
        (&[a, b, ref rest @ ..], true) => (a.min(b), a.max(b), rest).hash(&mut hasher),
        (args, _) => args.hash(&mut hasher),
    }
    hasher.finish()
}

fn is_equal(kernel: &Kernel, a: Inst, b: Inst) -> bool {
    let (a_data, b_data) = (&kernel.insts[a], &kernel.insts[b]);
    let carries_the_same = match (a_data.attr, b_data.attr) {
        (Attr::Wide(_), Attr::Wide(_)) => kernel.const_bits(a) == kernel.const_bits(b),
        (a, b) => a == b,
    };
    let swapped = || match (kernel.args(a), kernel.args(b)) {
        (&[a0, a1, ref a_rest @ ..], &[b0, b1, ref b_rest @ ..]) => (a0, a1, a_rest) == (b1, b0, b_rest),
        _ => false,
    };
    (a_data.op, a_data.ty) == (b_data.op, b_data.ty)
        && carries_the_same
        && (kernel.args(a) == kernel.args(b) || (a_data.op.row().commutative && swapped()))
}
