//! Register allocation of a block. The value with the furthest next use is spilled.

use smallvec::SmallVec;

use super::Emitter;
use crate::vir::{Block, End, Node, Value};
use crate::x86::vector::{VMOVDQU_LOAD, VMOVDQU_STORE, VPBROADCASTD, VPBROADCASTQ, VPCMPEQD, VPXOR, VectorInst};
use crate::x86::{Operand, VectorWidth};

/// Number of vector registers.
const VECTORS: usize = 16;

/// Contents of a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Contents {
    Free,
    Value(Value),
    /// Temporary of a node.
    Taken,
    /// Leaf that is in the register in the whole function.
    Resident,
}

/// Locations of the values of a block.
pub(super) struct Registers<'a> {
    block: &'a Block,
    /// By value, the nodes that read the value, in order. The end of the block reads after all nodes.
    reads: Vec<SmallVec<[u32; 4]>>,
    /// Register and spill slot of each value.
    held: Vec<Option<u8>>,
    spilled: Vec<Option<u32>>,
    contents: [Contents; VECTORS],
    /// Free spill slots, slots that become free at the next node, and the number of slots. A slot becomes free at the
    /// node after its last read.
    free_slots: Vec<u32>,
    freed_slots: Vec<u32>,
    slots: u32,
    /// By value, `true` if the value is reloaded from its source or rematerialised, and never spilled.
    is_leaf: Vec<bool>,
    /// By node, `true` if the node has an effect or its value is read.
    is_live: Vec<bool>,
}

impl<'a> Registers<'a> {
    /// Begins a block. The leaves in `resident` are in the registers from the last one downwards.
    pub fn new(block: &'a Block, resident: &[Node]) -> Registers<'a> {
        let count = block.nodes.len();
        let mut reads: Vec<SmallVec<[u32; 4]>> = vec![SmallVec::new(); count];
        let mut read = |value: Value, at: usize| {
            if let Some(reads) = reads.get_mut(value.index()) {
                reads.push(at as u32);
            }
        };
        let is_live = block.live();
        for (at, (node, _)) in block.nodes.iter().zip(&is_live).enumerate().filter(|(_, (_, is_live))| **is_live) {
            node.operands(|value| read(value, at));
        }
        if let End::Branch { condition, .. } = block.end {
            read(condition, count);
        }
        // The value of a cell is not a leaf if the block writes the cell before the last read of the value.
        let mut written: Vec<(u32, u32)> = Vec::new();
        for (at, node) in (0..).zip(&block.nodes) {
            if let Node::SetCell(cell, _) = node {
                written.push((cell.0, at));
            }
        }
        let last = |value: usize| reads.get(value).and_then(|reads: &SmallVec<[u32; 4]>| reads.last().copied());
        let is_leaf = block.nodes.iter().enumerate().map(|(value, node)| match node {
            Node::Constant(_) | Node::Word(_) | Node::Number(_) => true,
            Node::Cell(cell) => {
                let read = last(value).unwrap_or(0);
                !written.iter().any(|&(other, at)| other == cell.0 && at < read)
            }
            _ => false,
        });
        let is_leaf = is_leaf.collect();
        let register_of = |node: &Node| resident.iter().position(|leaf| leaf == node).map(resident_register);
        let held = block.nodes.iter().map(register_of).collect();
        let mut contents = [Contents::Free; VECTORS];
        contents.iter_mut().rev().take(resident.len()).for_each(|contents| *contents = Contents::Resident);
        Registers {
            block,
            reads,
            held,
            spilled: vec![None; count],
            contents,
            free_slots: Vec::new(),
            freed_slots: Vec::new(),
            slots: 0,
            is_leaf,
            is_live,
        }
    }

    /// Begins a node. Frees the slots whose last read was in the previous node.
    pub fn begin(&mut self) {
        self.free_slots.append(&mut self.freed_slots);
    }

    /// Returns the number of spill slots.
    pub fn spills(&self) -> u32 {
        self.slots
    }

    /// Returns `true` if a node has no effect and its value is not read.
    pub fn is_dead(&self, value: Value) -> bool {
        self.is_live.get(value.index()) == Some(&false)
    }

    /// Returns `true` if the value is loaded where it is read.
    pub fn is_leaf(&self, value: Value) -> bool {
        self.is_leaf.get(value.index()) == Some(&true)
    }

    /// Returns the first node after `at` that reads a value.
    fn next_read(&self, value: Value, at: usize) -> Option<u32> {
        let reads = self.reads.get(value.index())?;
        reads.iter().copied().find(|&read| read as usize > at)
    }

    /// Returns `true` if no node after `at` reads the value.
    pub fn ends(&self, value: Value, at: usize) -> bool {
        self.next_read(value, at).is_none()
    }

    pub fn get(&self, value: Value) -> Option<u8> {
        self.held.get(value.index()).copied().flatten()
    }

    /// Assigns a register to a value.
    pub fn hold(&mut self, value: Value, register: u8) {
        if let (Some(held), Some(contents)) =
            (self.held.get_mut(value.index()), self.contents.get_mut(usize::from(register)))
        {
            *held = Some(register);
            *contents = Contents::Value(value);
        }
    }

    fn free(&mut self, value: Value) {
        if let Some(held) = self.held.get_mut(value.index())
            && let Some(contents) = held.and_then(|register| self.contents.get_mut(usize::from(register)))
            && *contents != Contents::Resident
        {
            *contents = Contents::Free;
            *held = None;
        }
    }

    /// Returns `true` if the result of the node `at` may overwrite the register of a value that the node reads.
    pub fn may_overwrite(&self, value: Value, at: usize) -> bool {
        let contents = self.get(value).and_then(|register| self.contents.get(usize::from(register)));
        self.ends(value, at) && contents != Some(&Contents::Resident)
    }

    /// Frees the register and the slot of each value that no node after `at` reads.
    pub fn release(&mut self, values: &[Value], at: usize) {
        for &value in values {
            if self.ends(value, at) {
                self.free(value);
                if let Some(slot) = self.spilled.get_mut(value.index()).and_then(Option::take) {
                    self.freed_slots.push(slot);
                }
            }
        }
    }

    /// Returns a free register. If all registers are in use, evicts the value with the furthest next use that is not in
    /// `kept`.
    fn room(&mut self, emitter: &mut Emitter<'_>, at: usize, kept: &[Value]) -> Option<u8> {
        if let Some(free) = self.contents.iter().position(|&contents| contents == Contents::Free) {
            return Some(free as u8);
        }
        let values = self.contents.iter().filter_map(|contents| match contents {
            Contents::Value(value) if !kept.contains(value) => Some(*value),
            _ => None,
        });
        // The eviction of a leaf costs no store.
        let far = |value: &Value| (self.next_read(*value, at).unwrap_or(u32::MAX), self.is_leaf(*value));
        let value = values.max_by_key(far)?;
        let register = self.get(value)?;
        let is_read = self.next_read(value, at.wrapping_sub(1)).is_some();
        if is_read && !self.is_leaf(value) && self.spilled.get(value.index())?.is_none() {
            let slot = self.free_slots.pop().unwrap_or(self.slots);
            self.slots = self.slots.max(slot + 1);
            *self.spilled.get_mut(value.index())? = Some(slot);
            let to = emitter.in_table(emitter.spill(slot));
            emitter.unary(&VMOVDQU_STORE, register, to);
        }
        self.free(value);
        Some(register)
    }

    /// Returns a register for the result of a node.
    pub fn result(&mut self, emitter: &mut Emitter<'_>, value: Value, kept: &[Value]) -> Option<u8> {
        let register = self.room(emitter, value.index(), kept)?;
        self.hold(value, register);
        Some(register)
    }

    /// Returns a temporary register, which is in use until [`give_back`](Self::give_back).
    pub fn take(&mut self, emitter: &mut Emitter<'_>, at: usize, kept: &[Value]) -> Option<u8> {
        let register = self.room(emitter, at, kept)?;
        *self.contents.get_mut(usize::from(register))? = Contents::Taken;
        Some(register)
    }

    pub fn give_back(&mut self, register: u8) {
        if let Some(contents) = self.contents.get_mut(usize::from(register)) {
            *contents = Contents::Free;
        }
    }

    /// Returns the register of a value that the node `at` reads. The values in `kept` keep their registers.
    pub fn fetch(&mut self, emitter: &mut Emitter<'_>, value: Value, at: usize, kept: &[Value]) -> Option<u8> {
        if let Some(register) = self.get(value) {
            return Some(register);
        }
        let register = self.room(emitter, at, kept)?;
        self.hold(value, register);
        if let Some(slot) = self.spilled.get(value.index()).copied().flatten() {
            let from = emitter.in_table(emitter.spill(slot));
            emitter.unary(&VMOVDQU_LOAD, register, from);
            return Some(register);
        }
        emitter.load_leaf(register, self.block.nodes.get(value.index())?)?;
        Some(register)
    }

    /// Returns the registers of the values that the node `at` reads.
    pub fn fetch_all<const N: usize>(
        &mut self,
        emitter: &mut Emitter<'_>,
        values: [Value; N],
        at: usize,
    ) -> Option<[u8; N]> {
        let mut registers = [0; N];
        for (register, value) in registers.iter_mut().zip(values) {
            *register = self.fetch(emitter, value, at, &values)?;
        }
        Some(registers)
    }

    /// Returns the operand for a value that the node `at` reads. The operand may be memory if the value is not in a
    /// register and no later node reads the value.
    pub fn operand(&mut self, emitter: &mut Emitter<'_>, value: Value, at: usize, kept: &[Value]) -> Option<Operand> {
        if self.get(value).is_none() && self.ends(value, at) {
            if let Some(slot) = self.spilled.get(value.index()).copied().flatten() {
                return Some(emitter.in_table(emitter.spill(slot)));
            }
            let node = self.block.nodes.get(value.index())?;
            if self.is_leaf(value)
                && let Some(memory) = emitter.memory_of(node)
            {
                return Some(memory);
            }
        }
        self.fetch(emitter, value, at, kept).map(Operand::Register)
    }

    /// Returns `true` if [`operand`](Self::operand) may return memory.
    pub fn is_in_memory(&self, value: Value, at: usize) -> bool {
        self.get(value).is_none() && self.ends(value, at)
    }
}

/// Returns the register of a resident leaf, by the number of the leaf.
pub(super) fn resident_register(number: usize) -> u8 {
    (VECTORS - 1 - number) as u8
}

impl Emitter<'_> {
    /// Loads a leaf into a register.
    pub(super) fn load_leaf(&mut self, register: u8, leaf: &Node) -> Option<()> {
        let all = Operand::Register(register);
        match leaf {
            Node::Constant(words) if words.iter().all(|&word| word == 0) => {
                self.binary(&VPXOR, register, register, all)
            }
            Node::Constant(words) if words.iter().all(|&word| word == u32::MAX) => {
                self.binary(&VPCMPEQD, register, register, all);
            }
            &Node::Word(word) => {
                let from = self.in_table(self.word(word));
                self.unary(&VPBROADCASTD, register, from);
            }
            &Node::Number(word) => {
                let from = self.in_table(self.word(word));
                self.unary(&VPBROADCASTQ, register, from);
            }
            node => {
                let from = self.memory_of(node)?;
                self.unary(&VMOVDQU_LOAD, register, from);
            }
        }
        Some(())
    }

    /// Appends an instruction on whole vectors.
    pub(super) fn binary(&mut self, row: &'static crate::x86::Row, result: u8, second: u8, last: Operand) {
        self.assembler.vector(VectorInst::new(row, VectorWidth::B256, [result, second], last));
    }

    pub(super) fn unary(&mut self, row: &'static crate::x86::Row, result: u8, last: Operand) {
        self.assembler.vector(VectorInst::new(row, VectorWidth::B256, [result, 0], last));
    }
}
