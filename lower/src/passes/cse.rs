//! Common subexpressions: an instruction gives way to an equal one that dominates it.
//!
//! Equal are op, type, what it carries and operands, those of a commutative op in either order. The walk is over the
//! dominator tree, with a table in which a subtree's entries are undone when it is left.
//!
//! Loads count as equal only in the same state of memory. Memory changes its state with every store, and where blocks
//! meet; a block with one predecessor begins in the state in which that ends. A kernel that stores nothing has one state.

use std::collections::HashMap;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, SecondaryMap};
use halfbyte_ir::{Attr, Block, Effect, Flow, Inst, Kernel, Op, Type, Value, WideConst};
use smallvec::SmallVec;

use crate::pass::Context;
use crate::trace::{How, Tell, Trace};

/// What makes instructions equal.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    op: Op,
    ty: Type,
    attr: Attr,
    /// Of a load: the state of memory.
    memory: u32,
    args: SmallVec<[Value; 4]>,
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
        kernel,
        trace: &mut context.trace,
        table: HashMap::new(),
        entries: Vec::new(),
        wide: HashMap::new(),
        replaced: SecondaryMap::new(),
        memory: SecondaryMap::new(),
        states: 0,
        changed: false,
    };
    let mut steps: Vec<Step> = walk.kernel.entry().map(Step::Enter).into_iter().collect();
    while let Some(step) = steps.pop() {
        match step {
            Step::Enter(block) => {
                steps.push(Step::Leave(walk.entries.len()));
                walk.block(block, &flow);
                steps.extend(children[block].as_slice(&pool).iter().rev().map(|&child| Step::Enter(child)));
            }
            Step::Leave(entries) => {
                for key in walk.entries.drain(entries..) {
                    walk.table.remove(&key);
                }
            }
        }
    }
    let Walk { replaced, changed, .. } = walk;
    kernel.replace_uses(&replaced);
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
    table: HashMap<Key, Value>,
    /// The keys in the table, in the order in which they came.
    entries: Vec<Key>,
    wide: HashMap<[u64; 8], WideConst>,
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
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            let effect = self.kernel.insts[inst].op.row().effect;
            if effect == Effect::Write {
                memory = self.new_state();
            }
            let state = match effect {
                Effect::Pure => Some(0),
                Effect::Read => Some(memory),
                Effect::Write | Effect::Terminator => None,
            };
            if !state.is_some_and(|state| self.is_known(inst, state)) {
                kept.push(inst);
            }
        }
        self.kernel.blocks[block].insts = kept;
        self.memory[block] = memory;
    }

    fn new_state(&mut self) -> u32 {
        self.states += 1;
        self.states
    }

    /// Whether an equal instruction stands in for this one; otherwise this one will for later ones.
    fn is_known(&mut self, inst: Inst, memory: u32) -> bool {
        let Some(result) = self.kernel.result(inst) else { return false };
        let key = self.key(inst, memory);
        match self.table.get(&key) {
            Some(&known) => {
                let before = self.trace.before(self.kernel, inst);
                self.trace.replaced(before, How::Shared, self.kernel, &[], Some(known));
                self.replaced[result] = known.into();
                self.changed = true;
                true
            }
            None => {
                self.entries.push(key.clone());
                self.table.insert(key, result);
                false
            }
        }
    }

    fn key(&mut self, inst: Inst, memory: u32) -> Key {
        let data = self.kernel.insts[inst];
        let mut args: SmallVec<[Value; 4]> = self.kernel.args(inst).iter().copied().collect();
        for arg in &mut args {
            while let Some(next) = self.replaced[*arg].expand() {
                *arg = next;
            }
        }
        if let (true, [a, b, ..]) = (data.op.row().commutative, args.as_mut_slice())
            && a > b
        {
            std::mem::swap(a, b);
        }
        // Equal wide constants lie in different places; the first place stands for all.
        let attr = match (data.attr, self.kernel.const_bits(inst)) {
            (Attr::Wide(place), Some(words)) => Attr::Wide(*self.wide.entry(words).or_insert(place)),
            (attr, _) => attr,
        };
        Key { op: data.op, ty: data.ty, attr, memory, args }
    }
}
