//! Global value numbering: replaces a value by an equal value that dominates it.
//!
//! Values with the same number are equal on every path. Two instructions are equal if their op,
//! type, attributes and operand numbers are equal. The operands of a commutative op may be swapped.
//! Two parameters of a block are equal if every branch passes equal arguments for them. A parameter
//! equals its argument if all branches pass the same argument.
//!
//! The algorithm is optimistic: it assumes that values are equal until it finds a difference, and
//! so finds equal values in loops. It recomputes the numbers in reverse postorder until they reach
//! a fixpoint (Simpson, "Value-Driven Redundancy Elimination", 1996).
//!
//! Two equal loads have equal results only in the same memory state. The state changes at every
//! store and at every block with several predecessors. A block with one predecessor begins in the
//! final state of that predecessor. A kernel without stores has a single state. Loads from an `in`
//! buffer do not depend on the state if no written buffer may overlap it.

use halfbyte_abi::Poll;
use std::hash::{Hash, Hasher};

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, SecondaryMap};
use halfbyte_ir::{Attr, Block, Effect, Flow, Inst, Kernel, Op, Value, ValueDef};
use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::pass::{BuiltIn, Context, Order};
use crate::passes::dce::keep_parameters;
use crate::trace::{ChangeKind, Report, Trace};

/// The `gvn` pass.
pub(crate) const PASS: BuiltIn = BuiltIn {
    name: "gvn",
    description: "removes redundant computations, redundant loads and equal block parameters",
    order: &[(Order::Again("legalise"), "expansions of different ops have common subexpressions")],
    run,
};

/// Maximum number of optimistic iterations, which is enough for common loop nests. If the limit is
/// reached, the numbering restarts without optimism: a loop parameter then equals no other value.
const ROUNDS: usize = 12;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let flow = context.flow(kernel);
    let numbers = Numbering::of(kernel, &flow, context.poll());
    if context.poll().is_stopped_after(usize::MAX) {
        return true;
    }
    let replaced = share(kernel, &flow, &numbers, &mut context.trace);
    context.keep_flow(flow);
    let Some(replaced) = replaced else { return false };
    kernel.replace_uses(&replaced);
    keep_parameters(kernel, &|param| replaced[param].is_none());
    true
}

/// Number of each value, in the form of a representative of all values with that number.
type Numbers = SecondaryMap<Value, PackedOption<Value>>;

/// Creates a table without numbers for the values of a kernel.
fn none_of(kernel: &Kernel) -> Numbers {
    let mut numbers = Numbers::new();
    numbers.resize(kernel.values.len());
    numbers
}

/// Hash table entry of an instruction, with the representative of its number.
struct Entry {
    hash: u64,
    value: Value,
    /// Memory state in which a load executes; 0 for values that do not depend on memory.
    memory: u32,
}

/// State of the value numbering.
struct Numbering<'k> {
    kernel: &'k Kernel,
    flow: &'k Flow,
    /// Number of each value; `None` for a value that has not been visited and may equal any other value.
    numbers: Numbers,
    table: HashTable<Entry>,
    stores: bool,
    /// Memory state at the end of each block.
    memory: SecondaryMap<Block, u32>,
    states: u32,
    /// `true` while parameters may equal other values even if one of their arguments has no number yet.
    is_optimistic: bool,
    /// `true` if the numbering has assumed a parameter to be equal despite an argument without a number.
    assumed_equal: bool,
    changed: bool,
    poll: Poll<'k>,
}

impl<'k> Numbering<'k> {
    fn of(kernel: &'k Kernel, flow: &'k Flow, poll: Poll<'k>) -> Numbers {
        let mut numbering = Numbering {
            kernel,
            flow,
            numbers: none_of(kernel),
            table: HashTable::with_capacity(kernel.insts.len()),
            stores: has_stores(kernel),
            memory: SecondaryMap::new(),
            states: 0,
            is_optimistic: true,
            assumed_equal: false,
            changed: false,
            poll,
        };
        numbering.round();
        if !numbering.assumed_equal {
            return numbering.numbers;
        }
        for _ in 1..ROUNDS {
            numbering.round();
            if !numbering.changed {
                return numbering.numbers;
            }
        }
        numbering.is_optimistic = false;
        numbering.numbers = none_of(kernel);
        numbering.round();
        numbering.numbers
    }

    fn round(&mut self) {
        (self.states, self.changed) = (0, false);
        self.table.clear();
        for value in given_values(self.kernel) {
            self.numbers[value] = value.into();
        }
        for block in self.flow.reverse_postorder() {
            self.block(block);
        }
    }

    fn block(&mut self, block: Block) {
        for (place, &param) in self.kernel.block_params(block).iter().enumerate() {
            let number = self.param(block, place, param);
            self.set(param, number);
        }
        let mut memory = match self.flow.predecessors(block) {
            _ if !self.stores => 0,
            // The only predecessor dominates the block, so its memory state is known.
            &[only] if self.flow.immediate_dominator(block) == Some(only) => self.memory[only],
            _ => self.new_state(),
        };
        for &inst in &self.kernel.blocks[block].insts {
            if self.poll.is_stopped() {
                return;
            }
            let state = match self.kernel.insts[inst].op.row().effect {
                Effect::Pure => 0,
                Effect::Read if self.kernel.reads_unwritten(inst) => 0,
                Effect::Read => memory,
                Effect::Write | Effect::Atomic | Effect::Fence | Effect::Convergent => {
                    memory = self.new_state();
                    // The result of an instruction with side effects equals no other value.
                    if let Some(result) = self.kernel.result(inst) {
                        self.set(result, result);
                    }
                    continue;
                }
                Effect::Terminator => continue,
            };
            if let Some(result) = self.kernel.result(inst) {
                let number = self.inst(inst, result, state);
                self.set(result, number);
            }
        }
        if self.stores {
            self.memory[block] = memory;
        }
    }

    fn set(&mut self, value: Value, number: Value) {
        let number = number.into();
        self.changed |= std::mem::replace(&mut self.numbers[value], number) != number;
    }

    fn new_state(&mut self) -> u32 {
        self.states += 1;
        self.states
    }

    fn inst(&mut self, inst: Inst, result: Value, memory: u32) -> Value {
        let hash = self.hash(inst);
        let is_equal = |entry: &Entry| {
            let known = self.kernel.def_inst(entry.value);
            entry.memory == memory && known.is_some_and(|known| self.is_equal(known, inst))
        };
        match self.table.find(hash, is_equal) {
            Some(known) => known.value,
            None => self.enter(Entry { hash, value: result, memory }),
        }
    }

    fn param(&mut self, block: Block, place: usize, param: Value) -> Value {
        let mut hasher = FxHasher::default();
        block.hash(&mut hasher);
        let mut only: PackedOption<Value> = None.into();
        let mut differ = false;
        for given in given(self.kernel, self.flow, block, place) {
            let number = self.numbers[given];
            if number.is_none() {
                self.assumed_equal = true;
                if !self.is_optimistic {
                    return param;
                }
            } else {
                differ |= only.is_some() && only != number;
                only = number;
            }
            number.hash(&mut hasher);
        }
        if !differ {
            return only.expand().unwrap_or(param);
        }
        let hash = hasher.finish();
        let is_equal = |entry: &Entry| match self.kernel.values[entry.value].def {
            ValueDef::BlockParam(of, other) if of == block => {
                let of = |place| given(self.kernel, self.flow, block, place);
                let mut pairs = of(place).zip(of(other as usize));
                pairs.all(|(a, b)| self.numbers[a] == self.numbers[b])
            }
            _ => false,
        };
        match self.table.find(hash, is_equal) {
            Some(known) => known.value,
            None => self.enter(Entry { hash, value: param, memory: 0 }),
        }
    }

    fn enter(&mut self, entry: Entry) -> Value {
        let value = entry.value;
        self.table.insert_unique(entry.hash, entry, |entry| entry.hash);
        value
    }

    /// Hashes an instruction without its memory state. Equal instructions have equal hashes.
    fn hash(&self, inst: Inst) -> u64 {
        let mut hasher = FxHasher::default();
        let data = &self.kernel.insts[inst];
        (data.op, data.ty).hash(&mut hasher);
        match (data.attr, self.kernel.const_bits(inst)) {
            (Attr::Wide(_), Some(words)) => words.hash(&mut hasher),
            (attr, _) => attr.hash(&mut hasher),
        }
        let number = |&value: &Value| self.numbers[value];
        match (self.kernel.args(inst), data.op.row().commutes(data.ty)) {
            ([a, b, rest @ ..], true) => {
                let (a, b) = (number(a), number(b));
                (a.min(b), a.max(b)).hash(&mut hasher);
                rest.iter().for_each(|value| number(value).hash(&mut hasher));
            }
            (args, _) => args.iter().for_each(|value| number(value).hash(&mut hasher)),
        }
        hasher.finish()
    }

    fn is_equal(&self, a: Inst, b: Inst) -> bool {
        let (kernel, numbers) = (self.kernel, &self.numbers);
        let (a_data, b_data) = (&kernel.insts[a], &kernel.insts[b]);
        let carry_the_same = match (a_data.attr, b_data.attr) {
            (Attr::Wide(_), Attr::Wide(_)) => kernel.const_bits(a) == kernel.const_bits(b),
            (a, b) => a == b,
        };
        let same =
            |a: &[Value], b: &[Value]| a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| numbers[a] == numbers[b]);
        let swapped = || match (kernel.args(a), kernel.args(b)) {
            (&[a0, a1, ref a_rest @ ..], &[b0, b1, ref b_rest @ ..]) => {
                same(&[a0, a1], &[b1, b0]) && same(a_rest, b_rest)
            }
            _ => false,
        };
        (a_data.op, a_data.ty) == (b_data.op, b_data.ty)
            && carry_the_same
            && (same(kernel.args(a), kernel.args(b)) || (a_data.op.row().commutes(a_data.ty) && swapped()))
    }
}

/// Returns the arguments that the branches to a block pass for parameter `place`, in a fixed order.
fn given<'k>(kernel: &'k Kernel, flow: &'k Flow, block: Block, place: usize) -> impl Iterator<Item = Value> + 'k {
    // A predecessor with two edges to the block occurs twice, at consecutive positions.
    let runs = flow.predecessors(block).chunk_by(|a, b| a == b).filter_map(|run| run.first());
    let branches = runs.filter(|&&from| flow.is_reachable(from)).filter_map(|&from| kernel.terminator(from));
    let calls = branches.flat_map(|inst| kernel.targets(inst)).filter(move |call| call.block == block);
    calls.filter_map(move |call| kernel.call_args(call).get(place).copied())
}

/// Returns the values that exist before the first instruction: parameters and arrays.
fn given_values(kernel: &Kernel) -> impl Iterator<Item = Value> {
    kernel.params.iter().map(|param| param.value).chain(kernel.arrays.iter().map(|array| array.value))
}

fn has_stores(kernel: &Kernel) -> bool {
    let insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    let changes = |op: Op| op.row().effect == Effect::Write || op.orders_memory();
    insts.into_iter().any(|&inst| changes(kernel.insts[inst].op))
}

/// A step of the traversal of the dominator tree.
enum Visit {
    Enter(Block),
    /// Remove the leaders that were added after the stack `met` had this length.
    Leave(usize),
}

/// Removes instructions whose result equals a dominating value. Returns the replacement of each
/// removed value, or `None` if nothing changed.
fn share(kernel: &mut Kernel, flow: &Flow, numbers: &Numbers, trace: &mut Option<Trace>) -> Option<Numbers> {
    let mut children: SecondaryMap<Block, EntityList<Block>> = SecondaryMap::new();
    let mut pool = cranelift_entity::ListPool::new();
    for block in flow.reverse_postorder() {
        if let Some(parent) = flow.immediate_dominator(block) {
            children[parent].push(block, &mut pool);
        }
    }
    let mut walk = Walk {
        numbers,
        leaders: none_of(kernel),
        met: Vec::with_capacity(kernel.values.len()),
        replaced: SecondaryMap::new(),
        changed: false,
        trace,
    };
    for value in given_values(kernel) {
        walk.leaders[value] = value.into();
    }
    let mut steps: Vec<Visit> = kernel.entry().map(Visit::Enter).into_iter().collect();
    while let Some(step) = steps.pop() {
        match step {
            Visit::Enter(block) => {
                // When the entry block is left, the traversal ends, and the leaders are not needed any more.
                if flow.immediate_dominator(block).is_some() {
                    steps.push(Visit::Leave(walk.met.len()));
                }
                walk.block(kernel, block);
                steps.extend(children[block].as_slice(&pool).iter().rev().map(|&child| Visit::Enter(child)));
            }
            Visit::Leave(met) => {
                for number in walk.met.drain(met..) {
                    walk.leaders[number] = None.into();
                }
            }
        }
    }
    walk.changed.then_some(walk.replaced)
}

struct Walk<'a> {
    numbers: &'a Numbers,
    /// For each number, its value that dominates the current position: the leader.
    leaders: Numbers,
    /// Numbers that have a leader, in the order in which the leaders were added.
    met: Vec<Value>,
    replaced: Numbers,
    changed: bool,
    trace: &'a mut Option<Trace>,
}

impl Walk<'_> {
    fn block(&mut self, kernel: &mut Kernel, block: Block) {
        for &param in kernel.block_params(block) {
            self.leader(param);
        }
        let mut insts = std::mem::take(&mut kernel.blocks[block].insts);
        insts.retain(|&inst| {
            let Some(result) = kernel.result(inst) else { return true };
            let Some(leader) = self.leader(result) else { return true };
            let before = self.trace.before(kernel, inst);
            self.trace.replaced(
                before,
                ChangeKind::Told("replaced by an equal earlier value"),
                kernel,
                &[],
                Some(leader),
            );
            false
        });
        kernel.blocks[block].insts = insts;
    }

    /// Returns the leader of a value's number, if there is one, and records that the leader
    /// replaces the value. Otherwise makes the value itself the leader.
    fn leader(&mut self, value: Value) -> Option<Value> {
        let number = self.numbers[value].expand()?;
        let leader = self.leaders[number].expand();
        match leader {
            Some(leader) => {
                self.replaced[value] = leader.into();
                self.changed = true;
            }
            None => {
                self.leaders[number] = value.into();
                self.met.push(number);
            }
        }
        leader
    }
}
