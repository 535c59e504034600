//! Fast path of register allocation: the decisions of regalloc2 for code that needs no spills.
//!
//! regalloc2 merges virtual registers into bundles. Each bundle, the longest first, gets the first register that is
//! free over the bundle's live range. regalloc2 evicts, splits and spills only if no register is free. Most kernels
//! need none of these, and for them regalloc2's data structures cost more than the rest of compilation.
//!
//! The fast path takes the same decisions in the same order, with bit sets, so the machine code does not depend on
//! which allocator ran. The fast path inserts only moves to block parameters, and only if no move overwrites the source
//! of another one. The fast path gives up if a value does not fit, or if an operand has a fixed register. regalloc2
//! then allocates the code from the beginning. If allocation is checked, both allocators run and must agree.

use regalloc2::{
    Allocation, Edit, Inst, Operand, OperandConstraint, OperandKind, OperandPos, Output, PReg, PRegSet, ProgPoint,
    RegClass, VReg,
};

use super::super::flow::Flow;
use super::super::liveness::Liveness;
use super::{CLASSES, OperandLists};

/// Marker of an absent range, bundle or block.
const NONE: u32 = u32::MAX;

/// Maximum number of steps of the test whether two bundles overlap. Bundles that need more steps
/// are not merged. regalloc2 has the same limit.
const MAX_JOIN_STEPS: u32 = 200;

/// Half-open interval of program points. Each instruction has two points: an early one for reads
/// and a late one for writes.
struct Range {
    from: u32,
    to: u32,
    /// Next later interval in the list of the same bundle, or [`NONE`].
    next: u32,
}

/// Live range of a virtual register.
#[derive(Clone, Copy)]
struct LiveRange {
    /// Earliest interval in which the register is live. After merging, the earliest interval of the register's bundle.
    first: u32,
    /// Block in which the backward walk found the register live, or [`NONE`].
    here: u32,
    /// Bundle that contains the register.
    bundle: u32,
}

impl LiveRange {
    const NOWHERE: LiveRange = LiveRange { first: NONE, here: NONE, bundle: NONE };
}

/// Virtual registers that share one hardware register.
struct Bundle {
    first: u32,
    class: RegClass,
    /// Bundle into which this bundle was merged, or [`NONE`].
    into: u32,
    register: u8,
    /// `true` if an instruction has a register of the bundle as an operand.
    is_named: bool,
}

/// Value that an edge passes to a block parameter. The bundles of values and parameters are merged
/// in the order of these fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BlockArgument {
    arg: usize,
    from: u32,
    to: u32,
    param: usize,
}

/// Move of a block argument on an edge. Moves are emitted in the order of these fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Move {
    /// Rank of the block that contains the move.
    block: u32,
    /// `true` if the move comes before the block's terminator, `false` if it is at the block's start.
    at_end: bool,
    /// Bank and register number of the destination.
    to: (usize, u8),
    /// Bank and register number of the source.
    from: (usize, u8),
}

/// Fast-path allocator, with its buffers and its result.
#[derive(Default)]
pub(super) struct FastPath {
    ranges: Vec<Range>,
    lives: Vec<LiveRange>,
    bundles: Vec<Bundle>,
    passed: Vec<BlockArgument>,
    /// Instructions in which a definition reuses the register of an input, last instruction first.
    reusing: Vec<u32>,
    moves: Vec<Move>,
    /// Bundles to allocate: the length in the upper half of the number, the bundle in the lower half.
    queue: Vec<u64>,
    /// Occupied registers as a bit set, by register class and program point.
    taken: [Vec<u64>; CLASSES.len()],
    pub(super) output: Output,
}

impl FastPath {
    /// Allocates the registers in [`OperandLists`], or returns `None` if the fast path cannot
    /// allocate them. `class_of` returns the class of a register that is live into a block.
    pub(super) fn allocate(
        &mut self,
        lists: &OperandLists,
        flow: &Flow,
        liveness: &Liveness,
        vregs: usize,
        class_of: impl Fn(u32) -> Option<RegClass>,
    ) -> Option<()> {
        self.ranges.clear();
        self.lives.clear();
        self.lives.resize(vregs, LiveRange::NOWHERE);
        self.bundles.clear();
        self.passed.clear();
        self.reusing.clear();
        for block in (0..flow.len()).rev() {
            self.block(lists, flow, liveness, block, &class_of)?;
        }
        self.join_all(lists)?;
        self.assign_registers(lists, flow.insts())?;
        self.write(lists)?;
        self.write_moves(flow)
    }

    /// Computes the live ranges in a block, from its end to its start. The last block is visited first.
    fn block(
        &mut self,
        lists: &OperandLists,
        flow: &Flow,
        liveness: &Liveness,
        block: usize,
        class_of: &impl Fn(u32) -> Option<RegClass>,
    ) -> Option<()> {
        let insts = flow.range(block);
        let (start, end) = (2 * insts.first().0, 2 * (insts.last().0 + 1));
        let number = block as u32;
        for (edge, succ) in flow.succs(block).iter().enumerate() {
            for &reg in liveness.live_in(succ.index()) {
                if let Some(class) = class_of(reg) {
                    self.need(VReg::new(reg as usize, class), number, start, end);
                }
            }
            let args = lists.args.get(flow.first_edge(block) + edge);
            for (&arg, &param) in args.iter().zip(lists.params.get(succ.index())) {
                self.need(arg, number, start, end);
                self.passed.push(BlockArgument { arg: arg.vreg(), from: number, to: succ.0, param: param.vreg() });
            }
        }
        for inst in insts.iter().rev() {
            self.inst(inst, lists.operands.get(inst.index()), number, start)?;
        }
        for &param in lists.params.get(block) {
            if self.lives[param.vreg()].here == number {
                self.lives[param.vreg()].here = NONE;
            } else {
                self.live(param, start, start + 1);
            }
        }
        Some(())
    }

    fn inst(&mut self, inst: Inst, operands: &[Operand], block: u32, start: u32) -> Option<()> {
        let (reads, writes) = (2 * inst.0, 2 * inst.0 + 1);
        // If a definition reuses the register of an input, all other inputs must stay live until
        // the end of the instruction.
        let mut replaced = None;
        let mut some_late = false;
        for operand in operands {
            match operand.constraint() {
                OperandConstraint::Reg => {}
                OperandConstraint::Reuse(old) => {
                    replaced = replaced.or(operands.get(old).map(|old| old.vreg()));
                }
                _ => return None,
            }
            if operand.kind() == OperandKind::Use {
                some_late |= operand.pos() == OperandPos::Late;
                continue;
            }
            let reg = operand.vreg();
            if self.lives[reg.vreg()].here == block {
                let first = self.lives[reg.vreg()].first;
                self.ranges[first as usize].from = writes;
                self.lives[reg.vreg()].here = NONE;
            } else {
                self.live(reg, writes, writes + 1);
            }
        }
        if replaced.is_some() {
            self.reusing.push(inst.0);
        }
        let uses = operands.iter().filter(|operand| operand.kind() == OperandKind::Use);
        if some_late || replaced.is_some() {
            let lasts = |operand: &&Operand| {
                operand.pos() == OperandPos::Late || replaced.is_some_and(|replaced| replaced != operand.vreg())
            };
            uses.clone().filter(lasts).for_each(|operand| self.need(operand.vreg(), block, start, writes + 1));
        }
        // Inputs that must stay live until the end of the instruction are already recorded.
        uses.for_each(|operand| self.need(operand.vreg(), block, start, reads + 1));
        Some(())
    }

    /// Makes the register live from the start of the block to point `to`, unless it is already live in the block.
    fn need(&mut self, reg: VReg, block: u32, start: u32, to: u32) {
        if self.lives[reg.vreg()].here != block {
            self.lives[reg.vreg()].here = block;
            self.live(reg, start, to);
        }
    }

    /// Adds an interval before the existing intervals of the register's live range.
    fn live(&mut self, reg: VReg, from: u32, to: u32) {
        let life = &mut self.lives[reg.vreg()];
        match self.ranges.get_mut(life.first as usize) {
            Some(first) if first.from == to => first.from = from,
            _ => {
                let range = Range { from, to, next: life.first };
                life.first = self.ranges.len() as u32;
                self.ranges.push(range);
                // Until bundles exist, this field holds the register class.
                life.bundle = reg.class() as u32;
            }
        }
    }

    /// Creates a bundle for each register, and merges the bundles of registers that an instruction
    /// or an edge should keep in one hardware register.
    fn join_all(&mut self, lists: &OperandLists) -> Option<()> {
        for life in self.lives.iter_mut().filter(|life| life.first != NONE) {
            let class = CLASSES[life.bundle as usize];
            life.bundle = self.bundles.len() as u32;
            self.bundles.push(Bundle { first: life.first, class, into: NONE, register: 0, is_named: false });
        }
        let reusing = std::mem::take(&mut self.reusing);
        for &inst in reusing.iter().rev() {
            let operands = lists.operands.get(inst as usize);
            for operand in operands {
                if let OperandConstraint::Reuse(old) = operand.constraint()
                    && !self.join(operands.get(old)?.vreg().vreg(), operand.vreg().vreg())
                {
                    return None;
                }
            }
        }
        self.reusing = reusing;
        let mut passed = std::mem::take(&mut self.passed);
        passed.sort_unstable();
        for &BlockArgument { arg, param, .. } in &passed {
            self.join(arg, param);
        }
        self.passed = passed;
        Some(())
    }

    /// Returns the bundle that contains a register, following merges.
    fn bundle(&self, reg: usize) -> u32 {
        let mut bundle = self.lives[reg].bundle;
        while self.bundles[bundle as usize].into != NONE {
            bundle = self.bundles[bundle as usize].into;
        }
        bundle
    }

    /// Merges the bundle of register `from` into that of register `to`. Returns `false` if the bundles overlap.
    fn join(&mut self, from: usize, to: usize) -> bool {
        let (from, to) = (self.bundle(from), self.bundle(to));
        if from == to {
            return true;
        }
        let (mut a, mut b) = (self.bundles[from as usize].first, self.bundles[to as usize].first);
        for _ in 0..MAX_JOIN_STEPS {
            let (Some(x), Some(y)) = (self.ranges.get(a as usize), self.ranges.get(b as usize)) else { break };
            if x.from >= y.to {
                b = y.next;
            } else if y.from >= x.to {
                a = x.next;
            } else {
                return false;
            }
        }
        if a != NONE && b != NONE {
            return false;
        }
        self.bundles[to as usize].first =
            self.merged(self.bundles[from as usize].first, self.bundles[to as usize].first);
        self.bundles[from as usize].into = to;
        true
    }

    /// Merges two sorted lists of intervals, and returns the first interval of the merged list.
    fn merged(&mut self, mut a: u32, mut b: u32) -> u32 {
        let mut first = NONE;
        let mut last = NONE;
        while a != NONE || b != NONE {
            let a_is_next = b == NONE || (a != NONE && self.ranges[a as usize].from < self.ranges[b as usize].from);
            let next = if a_is_next { &mut a } else { &mut b };
            let at = std::mem::replace(next, self.ranges[*next as usize].next);
            match self.ranges.get_mut(last as usize) {
                Some(last) => last.next = at,
                None => first = at,
            }
            last = at;
            // One list is empty, and the remaining intervals of the other list are already in order.
            if a == NONE || b == NONE {
                self.ranges[last as usize].next = a.min(b);
                break;
            }
        }
        first
    }

    /// Returns the intervals of the list that begins at `first`.
    fn ranges_from(ranges: &[Range], first: u32) -> impl Iterator<Item = &Range> {
        std::iter::successors(ranges.get(first as usize), |range| ranges.get(range.next as usize))
    }

    /// Assigns a hardware register to each bundle, the longest bundle first. Among equally long
    /// bundles, the one with the higher number comes first.
    fn assign_registers(&mut self, lists: &OperandLists, insts: usize) -> Option<()> {
        let FastPath { ranges, bundles, queue, taken, .. } = self;
        for (taken, offer) in taken.iter_mut().zip(&lists.offers) {
            taken.clear();
            taken.resize(if offer.is_some() { 2 * insts } else { 0 }, 0);
        }
        queue.clear();
        for (number, bundle) in bundles.iter().enumerate().filter(|(_, bundle)| bundle.into == NONE) {
            let lengths = FastPath::ranges_from(ranges, bundle.first).map(|range| range.to / 2 - range.from / 2);
            queue.push(u64::from(lengths.sum::<u32>()) << 32 | number as u64);
        }
        queue.sort_unstable();
        for number in queue.iter().rev().map(|&entry| entry as u32) {
            let bundle = &mut bundles[number as usize];
            let offer = lists.offers[bundle.class as usize]?;
            let taken = &mut taken[bundle.class as usize];
            let points =
                || FastPath::ranges_from(ranges, bundle.first).map(|range| range.from as usize..range.to as usize);
            let used = points().fold(0, |all, range| taken[range].iter().fold(all, |all, used| all | used));
            let free = (u64::MAX >> (64 - offer.registers)) & !used;
            if free == 0 {
                return None;
            }
            // The search starts at a register that depends on the bundle, so that bundles are
            // spread over all registers.
            let start = (ranges[bundle.first as usize].from / 2 + number) % PReg::MAX as u32;
            let beyond = free >> start << start;
            let register = if beyond != 0 { beyond } else { free }.trailing_zeros();
            points().for_each(|range| taken[range].iter_mut().for_each(|used| *used |= 1 << register));
            bundle.register = register as u8;
        }
        Some(())
    }

    fn write(&mut self, lists: &OperandLists) -> Option<()> {
        let mut allocs = std::mem::take(&mut self.output.allocs);
        allocs.clear();
        allocs.extend(lists.operands.items().iter().map(|operand| {
            let number = self.bundle(operand.vreg().vreg());
            let bundle = &mut self.bundles[number as usize];
            bundle.is_named = true;
            allocation((bundle.class as usize, bundle.register))
        }));
        self.output.allocs = allocs;
        // regalloc2 allocates values last that are only block arguments, and can keep them in
        // memory. The fast path does not support such values.
        self.bundles.iter().all(|bundle| bundle.is_named || bundle.into != NONE).then_some(())
    }

    /// Returns the hardware register of a virtual register.
    fn register(&self, reg: usize) -> (RegClass, u8) {
        let bundle = &self.bundles[self.bundle(reg) as usize];
        (bundle.class, bundle.register)
    }

    /// Emits the moves of block arguments: before the branch of a predecessor with one successor,
    /// or else at the start of the target block.
    fn write_moves(&mut self, flow: &Flow) -> Option<()> {
        self.moves.clear();
        for &BlockArgument { arg, from, to, param } in &self.passed {
            let ((_, read), (class, written)) = (self.register(arg), self.register(param));
            if read == written {
                continue;
            }
            let at_end = flow.succs(from as usize).len() == 1 && flow.preds(to as usize).len() > 1;
            let block = if at_end { from } else { to };
            let (to, from) = ((class as usize, written), (class as usize, read));
            self.moves.push(Move { block, at_end, to, from });
        }
        self.moves.sort_unstable();
        self.output.edits.clear();
        for moves in self.moves.chunk_by(|a, b| a.block == b.block) {
            // The fast path gives up if one move reads or writes the destination of another move.
            // It also gives up if a block has moves at both ends, some of which could be redundant.
            let &Move { block, at_end, .. } = moves.first()?;
            let is_written_once = moves.is_sorted_by(|a, b| a.to < b.to);
            let is_read = |written: &Move| moves.binary_search_by_key(&written.from, |found| found.to).is_ok();
            if moves.iter().any(|found| found.at_end != at_end || is_read(found)) || !is_written_once {
                return None;
            }
            let range = flow.range(block as usize);
            let at = ProgPoint::before(if at_end { range.last() } else { range.first() });
            let edit = |found: &Move| Edit::Move { from: allocation(found.from), to: allocation(found.to) };
            self.output.edits.extend(moves.iter().map(|found| (at, edit(found))));
        }
        Some(())
    }

    /// Returns the hardware registers of all bundles, each of which has an instruction operand.
    pub(super) fn used(&self) -> PRegSet {
        let mut used = PRegSet::empty();
        for bundle in self.bundles.iter().filter(|bundle| bundle.into == NONE) {
            used.add(PReg::new(bundle.register.into(), bundle.class));
        }
        used
    }

    /// Returns `true` if `with`, a result of regalloc2, equals the result of the fast path.
    pub(super) fn agrees(&self, with: &Output) -> bool {
        let moves = |output: &Output| -> Vec<_> {
            output.edits.iter().map(|&(at, Edit::Move { from, to })| (at, from, to)).collect()
        };
        with.num_spillslots == 0 && with.allocs == self.output.allocs && moves(with) == moves(&self.output)
    }
}

/// Returns regalloc2's allocation for a bank and register number.
fn allocation((bank, register): (usize, u8)) -> Allocation {
    Allocation::reg(PReg::new(register.into(), CLASSES[bank]))
}
