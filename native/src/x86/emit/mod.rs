//! Emitter of vector IR for x86-64 with AVX2 and FMA.
//!
//! A function has the System V calling convention. RDI has the address of the table. RSI has the
//! number of items, a multiple of the items of a gang. The function runs gangs until all gangs are
//! done, a gang is given up, or a limit is reached. The result is the number of items that are
//! done, or 2^64 - 1 if the check of a hoisted row fails. The table holds the inputs, 8 bytes each,
//! the addresses of rows, cells, scratch vectors, and spill slots.

mod memory;
mod node;
mod registers;
mod setup;

use super::register::{R11, R12, R13, R14, R15, RAX, RBP, RBX, RDI};
use rustc_hash::FxHashMap;

use super::vector::{VMOVMSKPS, VectorInst};
use super::{Alu, Assembler, Condition, Label, Memory, Operand, Size, VectorWidth};
use crate::vir::{Block, Cell, End, Function, ITEMS, Node, Row, Target, Value, Word};
use registers::Registers;

/// Bytes of a vector.
const VECTOR: i32 = 32;
/// Number of scratch vectors. A scatter uses all of them.
const SCRATCH: i32 = 6;
/// General registers: the number of the gang's first item, the number of items, and the budget.
const ITEM: u8 = R12;
const COUNT: u8 = R13;
const BUDGET: u8 = RBX;
const TABLE: u8 = RDI;
/// General registers that hold the addresses of hoisted rows.
const POINTERS: [u8; 4] = [R11, R14, R15, RBP];
/// General registers that the function restores.
const SAVED: [u8; 6] = [RBX, RBP, R12, R13, R14, R15];

/// Machine code of a function, and the bytes of its table.
#[derive(Debug)]
pub struct Code {
    pub bytes: Vec<u8>,
    pub table: u32,
}

/// Maximum number of leaves that are in registers in the whole function.
const MAX_RESIDENT: usize = 12;

/// Returns the code of a function. Returns `None` if the function exceeds a limit of the emitter.
pub fn emit(function: &Function) -> Option<Code> {
    let mut resident = leaves(function);
    resident.truncate(MAX_RESIDENT);
    loop {
        match emit_with(function, &resident) {
            // A leaf that is loaded again costs less than a spill.
            None | Some((_, true)) if !resident.is_empty() => resident.truncate(resident.len() / 2),
            code => return code.map(|(code, _)| code),
        }
    }
}

/// Returns the leaves of a function in descending order of their reads.
fn leaves(function: &Function) -> Vec<Node> {
    let mut leaves: Vec<(&Node, usize)> = Vec::new();
    let mut places: FxHashMap<&Node, usize> = FxHashMap::default();
    for block in function.order().into_iter().filter_map(|number| function.blocks.get(number)) {
        for (node, is_live) in block.nodes.iter().zip(block.live()) {
            if !is_live {
                continue;
            }
            node.operands(|value| match block.nodes.get(value.index()) {
                // Zeros need no load.
                Some(Node::Constant(words)) if words.iter().all(|&word| word == 0) => {}
                Some(leaf @ (Node::Constant(_) | Node::Word(_) | Node::Number(_))) => {
                    let place = *places.entry(leaf).or_insert_with(|| {
                        leaves.push((leaf, 0));
                        leaves.len() - 1
                    });
                    if let Some((_, reads)) = leaves.get_mut(place) {
                        *reads += 1;
                    }
                }
                _ => {}
            });
        }
    }
    leaves.sort_by_key(|&(_, reads)| std::cmp::Reverse(reads));
    leaves.into_iter().map(|(leaf, _)| leaf.clone()).collect()
}

/// Returns the code of a function with some leaves in registers, and `true` if values are spilled.
fn emit_with(function: &Function, resident: &[Node]) -> Option<(Code, bool)> {
    let mut assembler = Assembler::default();
    let mut label = || assembler.label();
    let labels = function.blocks.iter().map(|_| label()).collect();
    let [done, give_up, unbegun, end, start] = [(); 5].map(|()| label());
    let hoisted = Vec::new();
    let mut emitter =
        Emitter { function, assembler, labels, done, give_up, unbegun, end, spills: 0, hoisted, resident };
    emitter.prologue(start)?;
    let of_setup = std::mem::take(&mut emitter.spills);
    let order = function.order();
    for (place, &number) in order.iter().enumerate() {
        let next = order.get(place + 1).map_or(Target::Done, |&next| Target::Block(next as u32));
        emitter.block(number, function.blocks.get(number)?, next)?;
    }
    emitter.epilogue(start);
    let has_spills = emitter.spills != 0;
    let table = u32::try_from(emitter.spill(emitter.spills.max(of_setup))).ok()?;
    Some((Code { bytes: emitter.assembler.finish()?, table }, has_spills))
}

struct Emitter<'a> {
    function: &'a Function,
    assembler: Assembler,
    labels: Vec<Label>,
    done: Label,
    give_up: Label,
    /// Label for a failed check of a hoisted row.
    unbegun: Label,
    end: Label,
    /// Maximum number of spill slots of a block.
    spills: u32,
    /// Locations of hoisted rows, by number of the row.
    hoisted: Vec<Option<setup::Pointed>>,
    /// Leaves that are in registers in all blocks.
    resident: &'a [Node],
}

impl Emitter<'_> {
    fn word(&self, Word(word): Word) -> i32 {
        8 * word as i32
    }

    fn row(&self, Row(row): Row) -> i32 {
        8 * (self.function.inputs.len() as i32 + row as i32)
    }

    fn cell(&self, Cell(cell): Cell) -> i32 {
        let words = self.function.inputs.len() as i32 + self.function.rows as i32;
        (8 * words + VECTOR - 1) / VECTOR * VECTOR + VECTOR * cell as i32
    }

    fn scratch(&self, vector: i32) -> i32 {
        self.cell(Cell(self.function.cells)) + VECTOR * vector
    }

    fn spill(&self, slot: u32) -> i32 {
        self.scratch(SCRATCH) + VECTOR * slot as i32
    }

    fn in_table(&self, at: i32) -> Operand {
        Operand::Memory(Memory::at(TABLE, at))
    }

    fn epilogue(&mut self, start: Label) {
        let a = &mut self.assembler;
        a.bind(self.done);
        a.alu_immediate(Alu::Add, Size::Qword, Operand::Register(ITEM), ITEMS as i32);
        a.alu(Alu::Compare, Size::Qword, ITEM, Operand::Register(COUNT));
        a.jump_if(Condition::Below, start);
        a.bind(self.give_up);
        a.load(Size::Qword, RAX, Operand::Register(ITEM));
        a.bind(self.end);
        a.zero_upper();
        for &register in SAVED.iter().rev() {
            a.pop(register);
        }
        a.ret();
        a.bind(self.unbegun);
        a.set_address(RAX, u64::MAX);
        a.jump(self.end);
    }

    /// Emits a block. Control falls through to `next`.
    fn block(&mut self, number: usize, block: &Block, next: Target) -> Option<()> {
        let &label = self.labels.get(number)?;
        self.assembler.bind(label);
        let mut registers = Registers::new(block, self.resident);
        for (at, node) in block.nodes.iter().enumerate() {
            self.node(&mut registers, Value(at as u32), node)?;
        }
        match block.end {
            End::Jump(target) => self.jump(next, target),
            End::Branch { condition, all, none, .. }
                if let Some(Node::Word(word)) = block.nodes.get(condition.index()) =>
            {
                let word = self.in_table(self.word(*word));
                self.assembler.alu_immediate(Alu::Compare, Size::Dword, word, 0);
                if none == next {
                    self.jump_if(Condition::NotEqual, all);
                } else {
                    self.jump_if(Condition::Equal, none);
                    self.jump(next, all);
                }
            }
            End::Branch { condition, all, none, some } => {
                let at = block.nodes.len();
                let condition = registers.fetch(self, condition, at, &[])?;
                let bits = VectorInst::new(&VMOVMSKPS, VectorWidth::B256, [RAX, 0], Operand::Register(condition));
                self.assembler.vector(bits);
                if all == some {
                    self.assembler.test(Size::Dword, RAX, RAX);
                    self.jump_if(Condition::Equal, none);
                    self.jump(next, all);
                } else {
                    self.assembler.alu_immediate(Alu::Compare, Size::Dword, Operand::Register(RAX), 0xFF);
                    self.jump_if(Condition::Equal, all);
                    self.assembler.test(Size::Dword, RAX, RAX);
                    self.jump_if(Condition::NotEqual, some);
                    self.jump(next, none);
                }
            }
        }
        self.spills = self.spills.max(registers.spills());
        Some(())
    }

    fn label(&self, target: Target) -> Label {
        match target {
            Target::Block(block) => self.labels.get(block as usize).copied().unwrap_or(self.give_up),
            Target::Done => self.done,
            Target::GiveUp => self.give_up,
        }
    }

    /// Jumps to a target, unless control falls through to it.
    fn jump(&mut self, next: Target, target: Target) {
        if target != next {
            let label = self.label(target);
            self.assembler.jump(label);
        }
    }

    fn jump_if(&mut self, condition: Condition, target: Target) {
        let label = self.label(target);
        self.assembler.jump_if(condition, label);
    }

    fn give_up_if(&mut self, condition: Condition) {
        let label = self.give_up;
        self.assembler.jump_if(condition, label);
    }

    /// Returns the memory operand of a node whose value an instruction can read in memory.
    fn memory_of(&mut self, node: &Node) -> Option<Operand> {
        Some(match node {
            Node::Constant(words) => Operand::Constant(self.assembler.constant(words)),
            &Node::Cell(cell) => self.in_table(self.cell(cell)),
            _ => return None,
        })
    }

    fn count(&mut self) {
        self.assembler.test(Size::Qword, BUDGET, BUDGET);
        self.give_up_if(Condition::Equal);
        self.assembler.alu_immediate(Alu::Sub, Size::Qword, Operand::Register(BUDGET), 1);
    }
}
