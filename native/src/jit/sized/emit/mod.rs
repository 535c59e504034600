//! Code generation for the paths of a group. Each segment computes what its sinks need, in an order
//! with few live vectors.
//!
//! Registers are allocated during emission. If no register is free, the vector with the furthest
//! next use is spilled. A vector that is a plain load from memory is rematerialised instead. A
//! vector that a later segment needs is spilled as soon as it is computed.

mod compute;
mod memory;

use std::collections::VecDeque;

use halfbyte_isa::halu::domain::Width;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::encode::*;
use super::graph::{Graph, LANES, Memory, Node, Place, Vector};
use super::walk::{End, Segment, Sink};
use crate::jit::dataflow::Op;
use crate::rows::RowOp;
use memory::Window;

/// Bytes of a vector.
const BYTES: i32 = 4 * LANES as i32;
/// Allocatable registers, and the first of the scratch registers for intermediate results.
const REGISTERS: usize = 28;
const SCRATCH: u8 = 28;

/// Offsets in a frame, in bytes.
pub mod at {
    /// Remaining backward branches of an item, executed instructions, and backward branches.
    pub const LEFT: i32 = 0;
    pub const ISSUED: i32 = 8;
    pub const BACKWARD: i32 = 16;
    /// Addresses of constant bank 0 and of shared memory.
    pub const CONSTANTS: i32 = 24;
    pub const SHARED: i32 = 32;
    /// Number of executed instructions at which a loop returns to the caller, and the address at which the next call
    /// continues. `RESUME` is zero at the start.
    pub const LIMIT: i32 = 40;
    pub const RESUME: i32 = 48;
    /// Address and size of each buffer.
    pub const BUFFERS: i32 = 56;
}

/// Results of the compiled function.
pub mod answer {
    pub const DONE: u32 = 0;
    pub const GIVEN_UP: u32 = 1;
    /// The function returned at the back edge of a loop and can be resumed.
    pub const LEFT: u32 = 2;
}

/// Offsets in a frame that depend on the kernel.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Buffers, identified by the offsets of their addresses in constant bank 0.
    pub buffers: Vec<u16>,
    /// Buffers that the kernel stores to.
    pub stored: Vec<u16>,
    /// Offset of the words that the launch sets for each group.
    pub of_group: i32,
    /// Offset of the addresses of windows.
    windows: i32,
    /// Offset of four rows: two hold the items' offsets and data of an access. Calls use all four for operands and
    /// result.
    rows: i32,
    carried: i32,
    /// Offset of the values of loop-carried vectors for the next iteration.
    next: i32,
    spills: i32,
    pub bytes: usize,
}

impl Layout {
    fn new(graph: &Graph, segments: &[Segment], of_group: usize) -> Layout {
        let (mut buffers, mut stored) = (Vec::new(), Vec::new());
        let add = |to: &mut Vec<u16>, place: &Place| {
            if let Memory::Buffer(offset) = place.memory
                && !to.contains(&offset)
            {
                to.push(offset);
            }
        };
        for (_, step) in graph.steps() {
            if let Vector::Load(place, _) = &step.vector {
                add(&mut buffers, place);
            }
        }
        for sink in segments.iter().flat_map(|segment| &segment.sinks) {
            if let Sink::Store { place, .. } = sink {
                add(&mut stored, place);
                add(&mut buffers, place);
            }
        }
        let words = at::BUFFERS + 16 * buffers.len() as i32;
        let windows = (words + 4 * of_group as i32 + 7) / 8 * 8;
        let rows = (windows + 8 * MOST_WINDOWS + BYTES - 1) / BYTES * BYTES;
        let carried = rows + 4 * BYTES;
        let next = carried + BYTES * graph.carried().cast_signed();
        let spills = next + BYTES * graph.carried().cast_signed();
        Layout { buffers, stored, of_group: words, windows, rows, carried, next, spills, bytes: 0 }
    }

    fn row(&self, number: i32) -> i32 {
        self.rows + BYTES * number
    }
}

/// Operations that the code passes by address to functions.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "they stay where they are")]
pub struct Called {
    pub of_rows: Vec<Box<RowOp>>,
    pub others: Vec<Box<Op>>,
}

/// Machine code with its frame layout and the objects that it refers to.
pub struct Made {
    pub code: Vec<u8>,
    pub layout: Layout,
    /// `true` if the code reads shared memory, which is zero at the start.
    pub reads_shared: bool,
    pub called: Called,
}

/// Maximum number of windows of a segment.
const MOST_WINDOWS: i32 = 64;

/// Maximum size of a frame and of the code, in bytes.
const MOST_FRAME: usize = 512 << 10;
const MOST_CODE: usize = 1 << 20;

/// Emits the code of all segments, for a group with `shared_bytes` bytes of shared memory. Returns `None` if a limit is
/// exceeded or if the kernel loads a buffer that it stores to.
pub fn emit(graph: &Graph, segments: &[Segment], shared_bytes: u32, of_group: usize) -> Option<Made> {
    let layout = Layout::new(graph, segments, of_group);
    // A group that is given up must be able to run again, so no loaded buffer may be stored to.
    let is_loaded_and_stored = |(_, step): (Node, &super::graph::Step)| match step.vector {
        Vector::Load(Place { memory: Memory::Buffer(offset), .. }, _) => layout.stored.contains(&offset),
        _ => false,
    };
    if graph.steps().any(is_loaded_and_stored) {
        return None;
    }
    let demanded = demanded(graph, segments);
    let reads_shared = demanded.iter().flatten().any(|&node| matches!(graph.step(node).vector, Vector::Shared(..)));
    let mut after: Vec<FxHashSet<Node>> = vec![FxHashSet::default(); segments.len()];
    for (number, segment) in segments.iter().enumerate().rev() {
        if let Some(parent) = segment.parent {
            let needed: Vec<Node> = demanded[number].iter().chain(&after[number]).copied().collect();
            after[parent].extend(needed);
        }
    }
    let all: FxHashSet<Node> = demanded.iter().flatten().copied().collect();
    let mut assembler = Assembler::default();
    let labels: Vec<Label> = segments.iter().map(|_| assembler.label()).collect();
    let give_up = assembler.label();
    let mut emitter = Emitter {
        graph,
        segments,
        layout,
        shared_bytes,
        reads_shared,
        all,
        after,
        assembler,
        labels,
        give_up,
        segment: 0,
        registers: [None; REGISTERS],
        pinned: 0,
        uses: FxHashMap::default(),
        homes: FxHashMap::default(),
        windows: Vec::new(),
        free: Vec::new(),
        freed: Vec::new(),
        spills: 0,
        called: Called::default(),
    };
    emitter.assembler.enter();
    emitter.assembler.load(Size::Qword, CONSTANTS, memory(FRAME, at::CONSTANTS));
    emitter.assembler.load(Size::Qword, SHARED, memory(FRAME, at::SHARED));
    emitter.assembler.load(Size::Qword, AX, memory(FRAME, at::RESUME));
    emitter.assembler.jump_to_unless_zero(AX);
    for number in 0..segments.len() {
        emitter.segment(number)?;
        if emitter.assembler.len() > MOST_CODE {
            return None;
        }
    }
    emitter.assembler.bind(give_up);
    emitter.assembler.leave(answer::GIVEN_UP);
    let Emitter { assembler, mut layout, spills, called, .. } = emitter;
    layout.bytes = (layout.spills + BYTES * spills) as usize;
    if layout.bytes > MOST_FRAME {
        return None;
    }
    Some(Made { code: assembler.finish()?, layout, reads_shared, called })
}

/// Returns `true` if a vector can be read from memory or from the constant pool.
fn is_at_hand(vector: &Vector) -> bool {
    matches!(
        vector,
        Vector::Known(_) | Vector::Bank { width: Width::B32, .. } | Vector::OfGroup(_) | Vector::Carried(..)
    )
}

/// Returns `true` if all operands of a shared-memory access are constant. The walk has already checked the bounds of
/// such an access.
fn is_fixed(graph: &Graph, at: &[Node]) -> bool {
    at.iter().all(|&arg| matches!(graph.step(arg).vector, Vector::Known(_)))
}

/// Returns `true` if a sink is a store that is dead when nothing reads shared memory.
fn is_unread(graph: &Graph, sink: &Sink) -> bool {
    matches!(sink, Sink::Store { place, at, .. } if place.memory == Memory::Shared && is_fixed(graph, at))
}

/// Returns the vectors that each segment needs, except those that are at hand. The result of a `Sink::Read` alone is
/// not needed.
fn demanded(graph: &Graph, segments: &[Segment]) -> Vec<FxHashSet<Node>> {
    let of = |segment: &Segment, with_shared: bool| {
        let mut open: Vec<Node> = Vec::new();
        for sink in segment.sinks.iter().filter(|sink| with_shared || !is_unread(graph, sink)) {
            match *sink {
                Sink::Check { holds, .. } => open.push(holds),
                Sink::Store { ref at, data, .. } => open.extend(at.iter().copied().chain([data])),
                Sink::Carry { value, .. } => open.push(value),
                Sink::Load(node) => open.push(node),
                Sink::Read(node) if !is_fixed(graph, graph.step(node).args()) => open.push(node),
                Sink::Read(_) => {}
            }
        }
        if let End::Branch { holds, .. } = &segment.end {
            open.extend(holds.iter().map(|(node, _)| *node));
        }
        let mut found = FxHashSet::default();
        while let Some(node) = open.pop() {
            let step = graph.step(node);
            if !is_at_hand(&step.vector) && found.insert(node) {
                open.extend(step.args());
            }
        }
        found
    };
    // Stores to shared memory are kept only if the code reads shared memory.
    let without: Vec<FxHashSet<Node>> = segments.iter().map(|segment| of(segment, false)).collect();
    let is_read = |node: &Node| matches!(graph.step(*node).vector, Vector::Shared(..));
    if !without.iter().flatten().any(is_read) {
        return without;
    }
    segments.iter().map(|segment| of(segment, true)).collect()
}

/// Step of a segment.
#[derive(Clone, Copy)]
enum Do {
    Vector(Node),
    Sink(usize),
    End,
}

struct Emitter<'a> {
    graph: &'a Graph,
    segments: &'a [Segment],
    layout: Layout,
    shared_bytes: u32,
    reads_shared: bool,
    /// Vectors that any segment needs, and for each segment the vectors that later segments need.
    all: FxHashSet<Node>,
    after: Vec<FxHashSet<Node>>,
    assembler: Assembler,
    labels: Vec<Label>,
    give_up: Label,
    segment: usize,
    /// Vectors in registers, and the set of registers that hold operands of the current step.
    registers: [Option<Node>; REGISTERS],
    pinned: u32,
    /// Steps of the segment that use each vector.
    uses: FxHashMap<Node, VecDeque<u32>>,
    /// Spill slots of vectors, each with the segment that computed the vector.
    homes: FxHashMap<Node, SmallVec<[(usize, i32); 1]>>,
    /// Windows of the segment.
    windows: Vec<Window>,
    free: Vec<i32>,
    /// Spill slots that become free after the current step has read its operands.
    freed: Vec<i32>,
    spills: i32,
    called: Called,
}

impl Emitter<'_> {
    /// Returns `true` if `before` is `segment` or always runs before `segment`.
    fn is_before(&self, before: usize, segment: usize) -> bool {
        let parent = |&segment: &usize| self.segments.get(segment).and_then(|segment| segment.parent);
        std::iter::successors(Some(segment), parent).any(|segment| segment == before)
    }

    /// Returns the offset of the spill slot of a vector.
    fn home(&self, node: Node) -> Option<i32> {
        let homes = self.homes.get(&node)?;
        homes.iter().find(|(from, _)| self.is_before(*from, self.segment)).map(|&(_, slot)| self.spilled(slot))
    }

    fn spilled(&self, slot: i32) -> i32 {
        self.layout.spills + BYTES * slot
    }

    /// Schedules the steps of a segment.
    fn order(&self, number: usize) -> Vec<Do> {
        let segment = &self.segments[number];
        let (mut order, mut loads) = (Vec::new(), Vec::new());
        let mut seen: FxHashSet<Node> = FxHashSet::default();
        let mut add = |order: &mut Vec<Do>, root: Node| {
            let mut open: Vec<(Node, usize)> = vec![(root, 0)];
            while let Some((node, next)) = open.last_mut() {
                let (node, step) = (*node, self.graph.step(*node));
                if *next == 0 && (is_at_hand(&step.vector) || self.home(node).is_some() || seen.contains(&node)) {
                    open.pop();
                    continue;
                }
                match step.args().get(*next) {
                    Some(&arg) => {
                        *next += 1;
                        open.push((arg, 0));
                    }
                    None => {
                        if seen.insert(node) {
                            order.push(Do::Vector(node));
                        }
                        open.pop();
                    }
                }
            }
        };
        for (place, sink) in segment.sinks.iter().enumerate() {
            match *sink {
                Sink::Check { holds, .. } => add(&mut order, holds),
                _ if !self.reads_shared && is_unread(self.graph, sink) => continue,
                Sink::Store { ref at, data, .. } => {
                    at.iter().copied().chain([data]).for_each(|node| add(&mut order, node));
                }
                Sink::Read(node) => {
                    if self.all.contains(&node) {
                        add(&mut order, node);
                    }
                    continue;
                }
                Sink::Load(node) => {
                    loads.push(node);
                    continue;
                }
                Sink::Carry { value, .. } => add(&mut order, value),
            }
            order.push(Do::Sink(place));
        }
        // Loads that no earlier step needed.
        loads.into_iter().for_each(|node| add(&mut order, node));
        if let End::Branch { holds, .. } = &segment.end {
            holds.iter().for_each(|&(node, _)| add(&mut order, node));
        }
        order.push(Do::End);
        order
    }

    /// Returns the vectors that a step uses.
    fn used(&self, number: usize, what: Do) -> SmallVec<[Node; 4]> {
        match what {
            Do::Vector(node) => self.graph.step(node).args().into(),
            Do::Sink(place) => match self.segments[number].sinks[place] {
                Sink::Check { holds: node, .. }
                | Sink::Read(node)
                | Sink::Load(node)
                | Sink::Carry { value: node, .. } => [node].into_iter().collect(),
                Sink::Store { ref at, data, .. } => at.iter().copied().chain([data]).collect(),
            },
            Do::End => match &self.segments[number].end {
                End::Branch { holds, .. } => holds.iter().map(|&(node, _)| node).collect(),
                _ => SmallVec::new(),
            },
        }
    }

    fn segment(&mut self, number: usize) -> Option<()> {
        self.segment = number;
        self.registers = [None; REGISTERS];
        self.uses.clear();
        self.assembler.bind(self.labels[number]);
        let order = self.order(number);
        for (at, &what) in (0..).zip(&order) {
            for node in self.used(number, what) {
                self.uses.entry(node).or_default().push_back(at);
            }
        }
        self.find_windows(number, &order);
        let mut carried = Vec::new();
        for (at, &what) in (0..).zip(&order) {
            self.pinned = 0;
            self.free.append(&mut self.freed);
            match what {
                Do::Vector(node) => self.vector(at, node)?,
                Do::Sink(place) => {
                    self.sink(&self.segments[number].sinks[place].clone(), &mut carried);
                    self.release(at, &self.used(number, what));
                }
                Do::End => self.end(number, &carried),
            }
        }
        Some(())
    }

    /// Records the uses of vectors by the step `at`. Frees the registers and spill slots of vectors without further
    /// uses.
    fn release(&mut self, at: u32, nodes: &[Node]) {
        for &node in nodes {
            let Some(uses) = self.uses.get_mut(&node) else { continue };
            while uses.front().is_some_and(|&first| first <= at) {
                uses.pop_front();
            }
            if uses.is_empty() && !self.is_kept(node) {
                self.uses.remove(&node);
                if let Some(place) = self.registers.iter_mut().find(|held| **held == Some(node)) {
                    *place = None;
                }
                if let Some(homes) = self.homes.get_mut(&node) {
                    let (segment, free) = (self.segment, &mut self.freed);
                    homes.retain(|(from, slot)| {
                        if *from == segment {
                            free.push(*slot);
                        }
                        *from != segment
                    });
                }
            }
        }
    }

    /// Returns `true` if later segments need a vector.
    fn is_kept(&self, node: Node) -> bool {
        self.after.get(self.segment).is_some_and(|after| after.contains(&node))
    }

    /// Allocates a register. If all registers are in use, evicts the vector with the furthest next use.
    fn allocate(&mut self) -> u8 {
        if let Some(free) = self.registers.iter().position(Option::is_none) {
            self.pinned |= 1 << free;
            return free as u8;
        }
        let next_use = |node: Node| self.uses.get(&node).and_then(|uses| uses.front().copied()).unwrap_or(u32::MAX);
        let held = self.registers.iter().enumerate().filter(|(register, _)| self.pinned >> register & 1 == 0);
        let last = held.max_by_key(|(_, held)| held.map_or(u32::MAX, next_use));
        let register = last.map_or(0, |(register, _)| register);
        if let Some(node) = self.registers[register].take()
            && self.uses.get(&node).is_some_and(|uses| !uses.is_empty())
        {
            self.spill(node, register as u8);
        }
        self.pinned |= 1 << register;
        register as u8
    }

    /// Stores a register to a spill slot, unless the vector is already in memory.
    fn spill(&mut self, node: Node, register: u8) {
        if is_at_hand(&self.graph.step(node).vector) || self.home(node).is_some() {
            return;
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.spills += 1;
            self.spills - 1
        });
        self.homes.entry(node).or_default().push((self.segment, slot));
        let to = Operand::Memory(FRAME, self.spilled(slot));
        self.assembler.lanes(&VMOVDQU_STORE, register, 0, to);
    }

    fn register_of(&mut self, node: Node) -> Option<u8> {
        let register = self.registers.iter().position(|held| *held == Some(node))?;
        self.pinned |= 1 << register;
        Some(register as u8)
    }

    /// Returns the memory operand of a vector that is not in a register. A uniform word becomes a broadcast operand.
    fn in_memory(&self, node: Node) -> Operand {
        match self.graph.step(node).vector {
            Vector::Known(known) => match self.graph.same_word(known) {
                Some(word) => Operand::PoolWord(word),
                None => Operand::Pool(self.graph.known(known)),
            },
            Vector::Bank { offset, width: Width::B32, .. } => Operand::Word(CONSTANTS, offset.cast_signed()),
            Vector::OfGroup(number) => Operand::Word(FRAME, self.layout.of_group + 4 * number.cast_signed()),
            Vector::Carried(number, true) => Operand::Word(FRAME, self.carried(number)),
            Vector::Carried(number, false) => Operand::Memory(FRAME, self.carried(number)),
            _ => {
                let home = self.home(node);
                debug_assert!(home.is_some(), "{node:?} is nowhere");
                Operand::Memory(FRAME, home.unwrap_or(self.layout.row(0)))
            }
        }
    }

    fn carried(&self, number: u32) -> i32 {
        self.layout.carried + BYTES * number.cast_signed()
    }

    /// Returns a register that holds a vector. Loads the vector if necessary.
    fn register(&mut self, node: Node) -> u8 {
        if let Some(register) = self.register_of(node) {
            return register;
        }
        let register = self.allocate();
        match self.in_memory(node) {
            Operand::PoolWord(0) => {
                self.assembler.lanes(&VPXOR, register, register, Operand::Register(register));
            }
            Operand::PoolWord(word) => self.assembler.lanes(&VPBROADCASTD, register, 0, Operand::PoolScalar(word)),
            Operand::Word(base, at) => self.assembler.lanes(&VPBROADCASTD, register, 0, Operand::Memory(base, at)),
            from => self.assembler.lanes(&VMOVDQU_LOAD, register, 0, from),
        }
        self.registers[usize::from(register)] = Some(node);
        register
    }

    /// Returns a vector as the last operand of an instruction. The operand is a register if the vector is in a register
    /// or is used again.
    fn operand(&mut self, node: Node) -> Operand {
        let is_used_again = self.uses.get(&node).is_some_and(|uses| uses.len() > 1);
        match self.register_of(node) {
            Some(register) => Operand::Register(register),
            None if is_used_again && self.registers.contains(&None) => Operand::Register(self.register(node)),
            None => self.in_memory(node),
        }
    }

    /// Computes a vector.
    fn vector(&mut self, at: u32, node: Node) -> Option<()> {
        let args: SmallVec<[Node; 3]> = self.graph.step(node).args().into();
        let register = self.compute(at, node, &args)?;
        self.registers[usize::from(register)] = Some(node);
        if self.is_kept(node) {
            self.spill(node, register);
        }
        if !self.uses.contains_key(&node) {
            self.registers[usize::from(register)] = None;
        }
        Some(())
    }

    /// Allocates the result register of an instruction after releasing its operands.
    fn result(&mut self, at: u32, args: &[Node]) -> u8 {
        self.release(at, args);
        self.allocate()
    }

    /// Emits a sink. The next values of loop-carried vectors are buffered, because later steps may still need the
    /// current values.
    fn sink(&mut self, sink: &Sink, carried: &mut Vec<u32>) {
        match *sink {
            Sink::Read(_) | Sink::Load(_) => {}
            Sink::Check { holds, mask } => {
                let holds = self.register(holds);
                self.lanes(holds, mask);
                self.assembler.alu_immediate(Alu::Compare, Size::Dword, general(AX), mask.into());
                self.assembler.jump_if(Condition::NotEqual, self.give_up);
            }
            Sink::Store { place, ref at, data } => self.store(&place, at, data),
            Sink::Carry { row, value } => {
                if let Vector::Carried(number, _) = self.graph.step(row).vector {
                    let value = self.register(value);
                    let to = Operand::Memory(FRAME, self.layout.next + BYTES * number.cast_signed());
                    self.assembler.lanes(&VMOVDQU_STORE, value, 0, to);
                    carried.push(number);
                }
            }
        }
    }

    /// Copies the lanes of a mask that are true to AX, one bit per lane.
    fn lanes(&mut self, holds: u8, mask: u16) {
        self.assembler.lanes(&VPTESTMD, 1, holds, Operand::Register(holds));
        self.assembler.get_mask(AX);
        if mask != u16::MAX {
            self.assembler.alu_immediate(Alu::And, Size::Dword, general(AX), mask.into());
        }
    }

    fn end(&mut self, number: usize, carried: &[u32]) {
        for &row in carried {
            let from = self.layout.next + BYTES * row.cast_signed();
            self.assembler.lanes(&VMOVDQU_LOAD, SCRATCH, 0, Operand::Memory(FRAME, from));
            self.assembler.lanes(&VMOVDQU_STORE, SCRATCH, 0, Operand::Memory(FRAME, self.carried(row)));
        }
        let segment = &self.segments[number];
        let a = &mut self.assembler;
        if segment.most_backward != 0 {
            a.alu_immediate(Alu::Sub, Size::Qword, memory(FRAME, at::LEFT), segment.most_backward as i32);
            a.jump_if(Condition::Below, self.give_up);
            a.alu_immediate(Alu::Add, Size::Qword, memory(FRAME, at::BACKWARD), segment.backward as i32);
        }
        a.alu_immediate(Alu::Add, Size::Qword, memory(FRAME, at::ISSUED), segment.issued as i32);
        match &segment.end {
            End::Done => a.leave(answer::DONE),
            End::GiveUp => a.jump(self.give_up),
            &End::Go(to) if to > number => a.jump(self.labels[to]),
            // All values that outlive the segment are in memory here.
            &End::Go(to) => {
                a.load(Size::Qword, AX, memory(FRAME, at::ISSUED));
                a.alu(Alu::Compare, Size::Qword, AX, memory(FRAME, at::LIMIT));
                a.jump_if(Condition::Below, self.labels[to]);
                a.address_of(AX, self.labels[to]);
                a.store(Size::Qword, AX, Address::at(FRAME, at::RESUME));
                a.leave(answer::LEFT);
            }
            End::Branch { holds, taken, fall } => {
                // R8 is nonzero if any lane is true, and R9 is nonzero if any lane is false.
                a.set(R8, 0);
                a.set(R9, 0);
                for &(holds, mask) in holds {
                    self.pinned = 0;
                    let holds = self.register(holds);
                    self.lanes(holds, mask);
                    self.assembler.alu(Alu::Or, Size::Dword, R8, general(AX));
                    self.assembler.alu_immediate(Alu::Xor, Size::Dword, general(AX), mask.into());
                    self.assembler.alu(Alu::Or, Size::Dword, R9, general(AX));
                }
                let a = &mut self.assembler;
                a.test(Size::Dword, R8, R8);
                a.jump_if(Condition::Equal, self.labels[*fall]);
                a.test(Size::Dword, R9, R9);
                a.jump_if(Condition::Equal, self.labels[*taken]);
                a.jump(self.give_up);
            }
        }
    }
}
