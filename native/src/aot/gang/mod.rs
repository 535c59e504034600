//! Gangs: eight items side by side, whose words are in vectors from the start of a kernel to its end. While all of a gang are at one
//! block, what is the same for all is computed once; where they diverge, each block runs for those that are at the lowest address, by
//! a mask. A gang is given up where an access cannot be made or a budget may be spent: then its items run one after another from their
//! start, which does the same again ([`stored`]).

mod access;
mod function;
mod stored;
mod values;

use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{self, InstBuilder, StackSlot, Value};
use cranelift_frontend::Variable;

use super::item::Item;
use super::runs::Ways;
use super::scalar::Scalar;
pub(super) use function::{GangCode, call, code};
pub(super) use stored::stored;

use crate::jit::{
    Block, BlockId, CellNumber as Cell, Cells, Ends, Gang, Id, Next, Op, Shape, Target, Unit, cast, constant,
};

/// Vectors of a word of all items.
const PARTS: usize = 2;
/// Items of a gang.
pub(super) const ITEMS: u32 = 4 * PARTS as u32;

/// A word of all items, or a truth value: all ones or zero.
type Words = [Value; PARTS];

/// The blocks of a kernel on their way.
pub(super) struct Emitter<'a, 'b, 'f, 'm> {
    /// The first item: what all have, or what theirs grow from.
    item: Item<'a, 'b, 'f, 'm>,
    gang: &'a Gang,
    cells: &'a Cells,
    blocks: &'a [Block],
    /// By parameter, whether its buffer is stored to.
    stored: &'a [bool],
    ways: Ways,
    /// What cells hold that is neither the same for all items nor grows evenly.
    rows: Vec<[Variable; PARTS]>,
    /// Where all items run a block together, and where those do that have diverged.
    together: Vec<ir::Block>,
    apart: Vec<ir::Block>,
    /// By block, those that are to run it once they have diverged.
    waiting: Vec<[Variable; PARTS]>,
    /// The backward branches that any item may still take.
    left: Option<Variable>,
    /// Of the block on its way: who runs it, unless all do, and its values.
    mask: Option<Words>,
    vectors: Vec<Option<Words>>,
    floats: Vec<Option<Words>>,
    loaded: Vec<[Option<Words>; 4]>,
    /// Memory for loads of items that make none.
    nowhere: Option<StackSlot>,
}

/// A condition that all items of a gang ask.
enum Asked {
    Same(Value),
    /// With whether it is seen to hold for all, and whether for none.
    Each {
        condition: Id,
        known: [Value; 2],
    },
}

impl<'a, 'b, 'f, 'm> Emitter<'a, 'b, 'f, 'm> {
    /// No block is made yet. The cells of the item are those of the first one of a gang.
    pub fn new(
        item: Item<'a, 'b, 'f, 'm>,
        (gang, cells, blocks): (&'a Gang, &'a Cells, &'a [Block]),
        stored: &'a [bool],
        ways: Ways,
    ) -> Emitter<'a, 'b, 'f, 'm> {
        let b = &mut *item.s.b;
        let mut variables = |count: usize| -> Vec<[Variable; PARTS]> {
            (0..count).map(|_| [(); PARTS].map(|()| b.declare_var(I32X4))).collect()
        };
        let (rows, waiting) = (variables(cells.len()), variables(blocks.len()));
        let mut labels = || -> Vec<ir::Block> { blocks.iter().map(|_| b.create_block()).collect() };
        let (together, apart) = (labels(), labels());
        Emitter {
            item,
            gang,
            cells,
            blocks,
            stored,
            ways,
            rows,
            together,
            apart,
            waiting,
            left: None,
            mask: None,
            vectors: Vec::new(),
            floats: Vec::new(),
            loaded: Vec::new(),
            nowhere: None,
        }
    }

    /// Makes all blocks. The current block of Cranelift's goes to the first.
    pub fn emit(mut self, budget: u64) -> Scalar<'b, 'f, 'm> {
        self.item.others = Some(self.item.s.constant(I64, u64::from(ITEMS) - 1));
        if self.gang.has_loop {
            let left = self.item.s.b.declare_var(I64);
            let all = self.item.s.constant(I64, budget);
            self.item.s.b.def_var(left, all);
            self.left = Some(left);
        }
        for &(cell, shape) in &self.gang.start {
            self.spread(cell, shape);
        }
        let (gang, blocks) = (self.gang, self.blocks);
        self.go(None, Target::Block { id: BlockId(0), backward: false });
        for (id, block) in (0..).map(BlockId).zip(blocks) {
            let (Some(Some(unit)), Some(&label)) = (gang.together.get(id.index()), self.together.get(id.index()))
            else {
                continue;
            };
            self.item.s.b.switch_to_block(label);
            self.enter(id, unit, None);
            self.run_together(id, block, unit);
        }
        for (id, block) in (0..).map(BlockId).zip(blocks) {
            let (Some(Some(unit)), Some(&label)) = (gang.masked.get(id.index()), self.apart.get(id.index())) else {
                continue;
            };
            self.item.s.b.switch_to_block(label);
            self.run_apart(id, block, unit);
        }
        self.item.s
    }

    /// What follows is of a block, for all items or for some.
    fn enter(&mut self, id: BlockId, unit: &'a Unit, mask: Option<Words>) {
        self.item.enter(id, unit);
        self.mask = mask;
        self.vectors = vec![None; unit.dataflow.nodes.len()];
        self.floats = self.vectors.clone();
        self.loaded = vec![[None; 4]; unit.dataflow.accesses.len()];
        // Cells are read before any is written.
        for id in (0..unit.dataflow.nodes.len() as u32).map(Id) {
            if let Op::Input(_) = unit.dataflow.op(id) {
                if unit.dataflow.shape(id).is_varying() {
                    self.vector(id);
                } else {
                    self.item.value(id);
                }
            }
        }
    }

    /// The gang is given up.
    fn give_up(&mut self) {
        self.item.s.b.ins().jump(self.ways.alone, &[]);
    }

    /// Goes on where a truth value holds; otherwise the gang is given up.
    fn or_give_up(&mut self, holds: Value) {
        let on = self.item.s.b.create_block();
        self.item.s.b.ins().brif(holds, on, &[], self.ways.alone, &[]);
        self.item.s.b.switch_to_block(on);
    }

    /// Counts a backward branch of any item.
    fn count(&mut self) {
        let Some(left) = self.left else { return };
        let before = self.item.s.b.use_var(left);
        self.or_give_up(before);
        let after = self.item.s.b.ins().iadd_imm_s(before, -1);
        self.item.s.b.def_var(left, after);
    }

    /// A cell that all items have evenly becomes a vector.
    fn spread(&mut self, cell: Cell, shape: Shape) {
        let (Some(&variable), Some(&row)) = (self.item.frame.cells.get(cell.index()), self.rows.get(cell.index()))
        else {
            return;
        };
        let first = self.item.s.b.use_var(variable);
        let words = self.grown(first, shape);
        self.set(row, words);
    }

    fn set(&mut self, variables: [Variable; PARTS], words: Words) {
        for (variable, word) in variables.into_iter().zip(words) {
            self.item.s.b.def_var(variable, word);
        }
    }

    fn get(&mut self, variables: [Variable; PARTS]) -> Words {
        variables.map(|variable| self.item.s.b.use_var(variable))
    }

    /// All items go on together.
    fn go(&mut self, from: Option<BlockId>, target: Target) {
        let Target::Block { id, backward } = target else { return self.give_up() };
        let Some(&label) = self.together.get(id.index()) else { return self.give_up() };
        if backward {
            self.count();
        }
        for (cell, shape) in from.map_or(Vec::new(), |from| self.gang.spread(from, id)) {
            self.spread(cell, shape);
        }
        self.item.s.b.ins().jump(label, &[]);
    }

    /// Writes the cells that a block changes and that are read after it.
    fn finish(&mut self, block: &Block, unit: &Unit) {
        let live = unit.finals.iter().filter(|&&(cell, _)| self.gang.is_live_after(block, cell));
        let live: Vec<(Cell, Id)> = live.copied().collect();
        for (cell, id) in live {
            if unit.dataflow.shape(id).is_varying() {
                let is_seen = self.gang.seen_nans.after(block, cell);
                let words = if is_seen { self.vector(id) } else { self.float(id) };
                let words = words.map(|words| cast(self.item.s.b, I32X4, words));
                if let Some(&row) = self.rows.get(cell.index()) {
                    self.set(row, words);
                }
            } else {
                let value = self.item.value(id);
                if let Some(&variable) = self.item.frame.cells.get(cell.index()) {
                    self.item.s.b.def_var(variable, value);
                }
            }
        }
    }

    fn run_together(&mut self, id: BlockId, block: &Block, unit: &'a Unit) {
        if !self.make_accesses(unit) || unit.dead {
            return self.give_up();
        }
        let condition = unit.condition.map(|condition| self.asked(unit, condition));
        self.finish(block, unit);
        let (taken, fall) = match block.next {
            Next::To(target) => return self.go(Some(id), target),
            Next::Branch { taken, fall } => (Some(taken), fall),
            Next::ExitIf { fall } => (None, fall),
            Next::Exit => {
                self.item.s.b.ins().jump(self.ways.done, &[]);
                return;
            }
            Next::Undefined(_) | Next::Meet { .. } => return self.give_up(),
        };
        if let Some(condition) = condition {
            let [yes, no] = [(); 2].map(|()| self.item.s.b.create_block());
            match condition {
                Asked::Same(holds) => {
                    self.item.s.b.ins().brif(holds, yes, &[], no, &[]);
                }
                Asked::Each { condition, known: [all, none] } => {
                    let [other, part] = [(); 2].map(|()| self.item.s.b.create_block());
                    self.item.s.b.ins().brif(all, yes, &[], other, &[]);
                    self.item.s.b.switch_to_block(other);
                    self.item.s.b.ins().brif(none, no, &[], part, &[]);
                    self.item.s.b.switch_to_block(part);
                    let holds = self.vector(condition);
                    self.diverge(id, [taken, Some(fall)], holds);
                }
            }
            self.item.s.b.switch_to_block(no);
            self.go(Some(id), fall);
            self.item.s.b.switch_to_block(yes);
        }
        match taken {
            Some(taken) => self.go(Some(id), taken),
            None => {
                self.item.s.b.ins().jump(self.ways.done, &[]);
            }
        }
    }

    /// What is known of a condition before cells are written.
    fn asked(&mut self, unit: &Unit, condition: Id) -> Asked {
        if !unit.dataflow.shape(condition).is_varying() {
            return Asked::Same(self.item.value(condition));
        }
        if let Some(known) = self.item.same_for_all(condition) {
            return Asked::Each { condition, known };
        }
        let holds = self.vector(condition);
        let any = self.any(holds);
        let b = &mut *self.item.s.b;
        let [first, second] = holds;
        let both = b.ins().band(first, second);
        Asked::Each { condition, known: [b.ins().vall_true(both), b.ins().bxor_imm_s(any, 1)] }
    }

    /// Whether it holds for any.
    fn any(&mut self, holds: Words) -> Value {
        let b = &mut *self.item.s.b;
        let [first, second] = holds;
        let one = b.ins().bor(first, second);
        b.ins().vany_true(one)
    }

    /// Items go on apart at the end of a block: those for which the condition holds to the first target, which is their end if there is
    /// none.
    fn diverge(&mut self, from: BlockId, targets: [Option<Target>; 2], holds: Words) {
        let ids = targets.map(|target| target.map(Target::block));
        let is_made = |id: &BlockId| self.gang.masked.get(id.index()).is_some_and(Option::is_some);
        if ids.iter().flatten().any(|id| !id.as_ref().is_some_and(is_made)) {
            return self.give_up();
        }
        for (cell, shape) in self.gang.spread_diverged(from) {
            self.spread(cell, shape);
        }
        let none = constant(self.item.s.b, I32X4, 0);
        for variables in self.waiting.clone() {
            self.set(variables, [none; PARTS]);
        }
        let others = holds.map(|holds| self.item.s.b.ins().bnot(holds));
        if targets.iter().flatten().any(|target| matches!(target, Target::Block { backward: true, .. })) {
            self.count();
        }
        for (id, holds) in ids.into_iter().zip([holds, others]) {
            if let Some(Some(id)) = id {
                self.wait(id, holds);
            }
        }
        let lowest = ids.into_iter().flatten().flatten().min();
        match lowest.and_then(|id| self.apart.get(id.index())) {
            Some(&label) => self.item.s.b.ins().jump(label, &[]),
            None => self.item.s.b.ins().jump(self.ways.done, &[]),
        };
    }

    /// More items are to run a block.
    fn wait(&mut self, id: BlockId, holds: Words) {
        let Some(&variables) = self.waiting.get(id.index()) else { return };
        for (variable, holds) in variables.into_iter().zip(holds) {
            let before = self.item.s.b.use_var(variable);
            let all = self.item.s.b.ins().bor(before, holds);
            self.item.s.b.def_var(variable, all);
        }
    }

    fn run_apart(&mut self, id: BlockId, block: &Block, unit: &'a Unit) {
        let Some(&variables) = self.waiting.get(id.index()) else { return };
        let next =
            (id.index() + 1..self.blocks.len()).find(|&next| self.gang.masked.get(next).is_some_and(Option::is_some));
        let next = next.and_then(|next| self.apart.get(next).copied()).unwrap_or(self.ways.done);
        let mask = self.get(variables);
        let (some, body) = (self.any(mask), self.item.s.b.create_block());
        self.item.s.b.ins().brif(some, body, &[], next, &[]);
        self.item.s.b.switch_to_block(body);
        let none = constant(self.item.s.b, I32X4, 0);
        self.set(variables, [none; PARTS]);
        self.enter(id, unit, Some(mask));
        if !self.make_accesses(unit) || unit.dead {
            return self.give_up();
        }
        let holds = unit.condition.map(|condition| self.vector(condition));
        self.finish(block, unit);
        let (taken, fall) = match block.next {
            Next::To(target) => (Some(target), None),
            Next::Branch { taken, fall } => (Some(taken), Some(fall)),
            Next::ExitIf { fall } => (None, Some(fall)),
            Next::Exit => (None, None),
            Next::Undefined(_) | Next::Meet { .. } => return self.give_up(),
        };
        let b = &mut *self.item.s.b;
        let mut both = |holds: Words| -> Words { std::array::from_fn(|k| b.ins().band(mask[k], holds[k])) };
        let yes = holds.map_or(mask, &mut both);
        let no = match (holds, fall) {
            (Some(holds), _) => {
                let b = &mut *self.item.s.b;
                std::array::from_fn(|k| b.ins().band_not(mask[k], holds[k]))
            }
            // Without a condition the branch is always taken.
            (None, _) => [none; PARTS],
        };
        let mut back = None;
        for (target, holds) in [(taken, yes), (fall, no)] {
            match target {
                None => {}
                Some(Target::Block { id, backward }) => {
                    self.wait(id, holds);
                    if backward {
                        back = Some(id);
                    }
                }
                Some(Target::Outside(_) | Target::PastEnd) => {
                    let any = self.any(holds);
                    let none = self.item.s.b.ins().bxor_imm_s(any, 1);
                    self.or_give_up(none);
                }
            }
        }
        if let Some(back) = back
            && let (Some(&variables), Some(&label)) = (self.waiting.get(back.index()), self.apart.get(back.index()))
        {
            let waiting = self.get(variables);
            let (some, again) = (self.any(waiting), self.item.s.b.create_block());
            self.item.s.b.ins().brif(some, again, &[], next, &[]);
            self.item.s.b.switch_to_block(again);
            self.count();
            self.item.s.b.ins().jump(label, &[]);
        } else {
            self.item.s.b.ins().jump(next, &[]);
        }
    }
}
