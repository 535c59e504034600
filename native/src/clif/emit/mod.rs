//! Emitter of vector IR in Cranelift's vectors of 128 bits.
//!
//! A function has two arguments, the address of its table and a number of items, as in
//! [`x86::emit`](crate::x86::emit). A value is two vectors: the low and the high half of its
//! elements. Cells and rows are variables.

mod half;
mod memory;
mod node;
mod setup;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{self, InstBuilder, StackSlot, Value};
use cranelift_frontend::{FunctionBuilder, Variable};

use crate::jit::constant;
use crate::vir::{self, Block, Cell, End, Function, ITEMS, Node, Row, Target, Word};

/// Number of vectors of a value.
const PARTS: usize = 2;

/// The low and the high half of the elements of a value, as words.
type Parts = [Value; PARTS];

/// Emits a function into its entry block, which has the arguments. `has_fma` is `true` if the machine has fused
/// multiply-add. Returns `None` if a node has no form in these vectors.
pub fn emit(b: &mut FunctionBuilder<'_>, function: &Function, has_fma: bool) -> Option<()> {
    let entry = b.current_block()?;
    let &[table, count] = b.block_params(entry) else { return None };
    let mut variables = |ty, count: u32| -> Vec<Variable> { (0..count).map(|_| b.declare_var(ty)).collect() };
    let [item, items, budget] = [(); 3].map(|()| variables(I64, 1)).map(|all| all.first().copied());
    let (rows, words) = (variables(I64, function.rows), variables(I64, function.inputs.len() as u32));
    let [low, high] = [(); PARTS].map(|()| variables(I32X4, function.cells));
    let cells = low.into_iter().zip(high).map(|(low, high)| [low, high]).collect();
    let blocks = function.blocks.iter().map(|_| b.create_block()).collect();
    let [start, done, give_up, unbegun] = [(); 4].map(|()| b.create_block());
    let labels = Labels { blocks, start, done, give_up, unbegun };
    let mut emitter = Emitter {
        b,
        function,
        has_fma,
        item: item?,
        items: items?,
        budget: budget?,
        cells,
        rows,
        words,
        labels,
        values: Vec::new(),
        nowhere: None,
    };
    emitter.prologue(table, count)?;
    for number in function.order() {
        emitter.block(number, function.blocks.get(number)?)?;
    }
    emitter.epilogue();
    Some(())
}

struct Labels {
    blocks: Vec<ir::Block>,
    /// Start of a gang.
    start: ir::Block,
    done: ir::Block,
    give_up: ir::Block,
    /// Block for a failed check of a hoisted row.
    unbegun: ir::Block,
}

struct Emitter<'a, 'f> {
    b: &'a mut FunctionBuilder<'f>,
    function: &'a Function,
    has_fma: bool,
    /// Number of the gang's first item, number of items, and backward branches that are left.
    item: Variable,
    items: Variable,
    budget: Variable,
    cells: Vec<[Variable; PARTS]>,
    /// Addresses of rows. A hoisted row has the address of the first item's element.
    rows: Vec<Variable>,
    /// Inputs, in 64 bits.
    words: Vec<Variable>,
    labels: Labels,
    /// Values of the block.
    values: Vec<Option<Parts>>,
    /// Stack slot with a zero, which the inactive items of a gather load.
    nowhere: Option<StackSlot>,
}

impl Emitter<'_, '_> {
    fn epilogue(&mut self) {
        self.b.switch_to_block(self.labels.done);
        let item = self.b.use_var(self.item);
        let next = self.b.ins().iadd_imm_s(item, i64::from(ITEMS));
        self.b.def_var(self.item, next);
        let items = self.b.use_var(self.items);
        let is_more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, items);
        self.b.ins().brif(is_more, self.labels.start, &[], self.labels.give_up, &[]);
        self.b.switch_to_block(self.labels.give_up);
        let item = self.b.use_var(self.item);
        self.b.ins().return_(&[item]);
        self.b.switch_to_block(self.labels.unbegun);
        let none = self.b.ins().iconst(I64, -1);
        self.b.ins().return_(&[none]);
    }

    fn block(&mut self, number: usize, block: &Block) -> Option<()> {
        let &label = self.labels.blocks.get(number)?;
        self.b.switch_to_block(label);
        self.nodes(&block.nodes, &block.live())?;
        match block.end {
            End::Jump(target) => {
                let label = self.label(target);
                self.b.ins().jump(label, &[]);
            }
            End::Branch { condition, all, none, some } => {
                let [low, high] = self.parts(condition)?;
                let [all, none, some] = [all, none, some].map(|target| self.label(target));
                let either = self.b.ins().bor(low, high);
                let is_any = self.b.ins().vany_true(either);
                let others = self.b.create_block();
                self.b.ins().brif(is_any, others, &[], none, &[]);
                self.b.switch_to_block(others);
                let both = self.b.ins().band(low, high);
                let is_all = self.b.ins().vall_true(both);
                self.b.ins().brif(is_all, all, &[], some, &[]);
            }
        }
        Some(())
    }

    /// Emits the nodes that are live.
    fn nodes(&mut self, nodes: &[Node], is_live: &[bool]) -> Option<()> {
        self.values.clear();
        for (node, is_live) in nodes.iter().zip(is_live) {
            let value = match node.has_value() {
                _ if !is_live => None,
                true => Some(self.value(node)?),
                false => {
                    self.effect(node)?;
                    None
                }
            };
            self.values.push(value);
        }
        Some(())
    }

    fn parts(&self, value: vir::Value) -> Option<Parts> {
        self.values.get(value.index()).copied().flatten()
    }

    fn label(&self, target: Target) -> ir::Block {
        match target {
            Target::Block(block) => self.labels.blocks.get(block as usize).copied().unwrap_or(self.labels.give_up),
            Target::Done => self.labels.done,
            Target::GiveUp => self.labels.give_up,
        }
    }

    /// Jumps to a label if a truth value holds.
    fn leave_if(&mut self, holds: Value, label: ir::Block) {
        let on = self.b.create_block();
        self.b.ins().brif(holds, label, &[], on, &[]);
        self.b.switch_to_block(on);
    }

    /// Returns an input in 64 bits.
    fn word(&mut self, Word(word): Word) -> Option<Value> {
        let &variable = self.words.get(word as usize)?;
        Some(self.b.use_var(variable))
    }

    fn cell(&self, Cell(cell): Cell) -> Option<[Variable; PARTS]> {
        self.cells.get(cell as usize).copied()
    }

    fn row(&self, Row(row): Row) -> Option<Variable> {
        self.rows.get(row as usize).copied()
    }

    fn constant(&mut self, word: u32) -> Value {
        constant(self.b, I32X4, word)
    }
}
