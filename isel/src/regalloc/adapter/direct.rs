//! The short way: what regalloc2 does while everything fits.
//!
//! regalloc2 joins virtual registers into bundles and gives each, the longest first, the first register that is free wherever
//! the bundle is live. Only where none is free does it evict, split and spill. Most kernels never get there, and for them its
//! tables for all that cost more than the rest of compilation. Here the same decisions are taken, in the same order, over
//! sets of bits, so that the words do not depend on which of the two allocated. Of moves there are those alone that pass values
//! to a block's parameters, and of these none may overwrite what another reads. As soon as something does not fit, or has to be
//! in a certain place, this gives up and regalloc2 begins anew. Where allocation is checked, both run and have to agree.

use regalloc2::{
    Allocation, Edit, Inst, Operand, OperandConstraint, OperandKind, OperandPos, Output, PReg, PRegSet, ProgPoint,
    RegClass, VReg,
};

use super::super::flow::Flow;
use super::super::liveness::Liveness;
use super::{CLASSES, Lists};

/// No range, no bundle, no block.
const NONE: u32 = u32::MAX;

/// Bundles are not joined where it takes more steps than this to see whether they overlap; regalloc2's limit.
const MAX_JOIN_STEPS: u32 = 200;

/// Program points from `from` on and before `to`: an instruction is two of them, one where it reads and one where it writes.
struct Range {
    from: u32,
    to: u32,
    /// The next later range of the bundle.
    next: u32,
}

/// Where a virtual register is live.
#[derive(Clone, Copy)]
struct Life {
    /// Its earliest range so far; first of a virtual register, then of its bundle.
    first: u32,
    /// The block in which it is live at the point that the walk has come to.
    here: u32,
    /// Its bundle.
    bundle: u32,
}

impl Life {
    const NOWHERE: Life = Life { first: NONE, here: NONE, bundle: NONE };
}

/// Virtual registers that get one register.
struct Bundle {
    first: u32,
    class: RegClass,
    /// The bundle that it has become part of.
    into: u32,
    register: u8,
    /// Whether an instruction names one of its registers.
    is_named: bool,
}

/// A value that a block passes to another's parameter. Joined in the order of the fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Passed {
    arg: usize,
    from: u32,
    to: u32,
    param: usize,
}

/// A move that an edge takes. Made in the order of the fields.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Move {
    /// The rank of the block in which it is made.
    block: u32,
    /// Whether it is made before the block's branch, and not at its start.
    at_end: bool,
    /// Bank and number of the register that is written, and of the one that is read.
    to: (usize, u8),
    from: (usize, u8),
}

/// The short way, with its buffers and its result.
#[derive(Default)]
pub(super) struct Direct {
    ranges: Vec<Range>,
    lives: Vec<Life>,
    bundles: Vec<Bundle>,
    passed: Vec<Passed>,
    /// Instructions that write in the place of what they read, the last first.
    reusing: Vec<u32>,
    moves: Vec<Move>,
    /// Length of each bundle, and in the lower half its number.
    queue: Vec<u64>,
    /// By class and point, the registers that are taken.
    taken: [Vec<u64>; CLASSES.len()],
    pub(super) output: Output,
}

impl Direct {
    /// Allocates the registers of [`Lists`], or says that it cannot. `class_of` is asked of registers that are live into blocks.
    pub(super) fn allocate(
        &mut self,
        lists: &Lists,
        flow: &Flow,
        liveness: &Liveness,
        vregs: usize,
        class_of: impl Fn(u32) -> Option<RegClass>,
    ) -> Option<()> {
        self.ranges.clear();
        self.lives.clear();
        self.lives.resize(vregs, Life::NOWHERE);
        self.bundles.clear();
        self.passed.clear();
        self.reusing.clear();
        for block in (0..flow.len()).rev() {
            self.block(lists, flow, liveness, block, &class_of)?;
        }
        self.join_all(lists)?;
        self.place(lists, flow.insts())?;
        self.write(lists)?;
        self.write_moves(flow)
    }

    /// Finds where registers are live in a block, from its end to its start. Blocks come last first.
    fn block(
        &mut self,
        lists: &Lists,
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
                self.passed.push(Passed { arg: arg.vreg(), from: number, to: succ.0, param: param.vreg() });
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
        // Beside a register that is replaced, what else is read must hold until the end.
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
        // What lasts is needed already.
        uses.for_each(|operand| self.need(operand.vreg(), block, start, reads + 1));
        Some(())
    }

    /// The register is live from the start of the block up to a point, if it was not beyond it.
    fn need(&mut self, reg: VReg, block: u32, start: u32, to: u32) {
        if self.lives[reg.vreg()].here != block {
            self.lives[reg.vreg()].here = block;
            self.live(reg, start, to);
        }
    }

    /// Adds a range before the ones that the register has.
    fn live(&mut self, reg: VReg, from: u32, to: u32) {
        let life = &mut self.lives[reg.vreg()];
        match self.ranges.get_mut(life.first as usize) {
            Some(first) if first.from == to => first.from = from,
            _ => {
                let range = Range { from, to, next: life.first };
                life.first = self.ranges.len() as u32;
                self.ranges.push(range);
                // The class is kept until there are bundles.
                life.bundle = reg.class() as u32;
            }
        }
    }

    /// Makes a bundle of each register, and joins those that an instruction or an edge wants in one place.
    fn join_all(&mut self, lists: &Lists) -> Option<()> {
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
        for &Passed { arg, param, .. } in &passed {
            self.join(arg, param);
        }
        self.passed = passed;
        Some(())
    }

    /// The bundle of a register.
    fn bundle(&self, reg: usize) -> u32 {
        let mut bundle = self.lives[reg].bundle;
        while self.bundles[bundle as usize].into != NONE {
            bundle = self.bundles[bundle as usize].into;
        }
        bundle
    }

    /// Joins the bundle of one register to that of another, unless they overlap.
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

    /// Two lists of ranges as one, in order.
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
            // The rest of one list is in order already.
            if a == NONE || b == NONE {
                self.ranges[last as usize].next = a.min(b);
                break;
            }
        }
        first
    }

    /// The ranges of a list.
    fn ranges_from(ranges: &[Range], first: u32) -> impl Iterator<Item = &Range> {
        std::iter::successors(ranges.get(first as usize), |range| ranges.get(range.next as usize))
    }

    /// Gives each bundle a register: the longest first, of two of one length the later.
    fn place(&mut self, lists: &Lists, insts: usize) -> Option<()> {
        let Direct { ranges, bundles, queue, taken, .. } = self;
        for (taken, offer) in taken.iter_mut().zip(&lists.offers) {
            taken.clear();
            taken.resize(if offer.is_some() { 2 * insts } else { 0 }, 0);
        }
        queue.clear();
        for (number, bundle) in bundles.iter().enumerate().filter(|(_, bundle)| bundle.into == NONE) {
            let lengths = Direct::ranges_from(ranges, bundle.first).map(|range| range.to / 2 - range.from / 2);
            queue.push(u64::from(lengths.sum::<u32>()) << 32 | number as u64);
        }
        queue.sort_unstable();
        for number in queue.iter().rev().map(|&entry| entry as u32) {
            let bundle = &mut bundles[number as usize];
            let offer = lists.offers[bundle.class as usize]?;
            let taken = &mut taken[bundle.class as usize];
            let points =
                || Direct::ranges_from(ranges, bundle.first).map(|range| range.from as usize..range.to as usize);
            let used = points().fold(0, |all, range| taken[range].iter().fold(all, |all, used| all | used));
            let free = (u64::MAX >> (64 - offer.registers)) & !used;
            if free == 0 {
                return None;
            }
            // Where the search begins depends on the bundle, which spreads them over the registers.
            let start = (ranges[bundle.first as usize].from / 2 + number) % PReg::MAX as u32;
            let beyond = free >> start << start;
            let register = if beyond != 0 { beyond } else { free }.trailing_zeros();
            points().for_each(|range| taken[range].iter_mut().for_each(|used| *used |= 1 << register));
            bundle.register = register as u8;
        }
        Some(())
    }

    fn write(&mut self, lists: &Lists) -> Option<()> {
        let mut allocs = std::mem::take(&mut self.output.allocs);
        allocs.clear();
        allocs.extend(lists.operands.items().iter().map(|operand| {
            let number = self.bundle(operand.vreg().vreg());
            let bundle = &mut self.bundles[number as usize];
            bundle.is_named = true;
            allocation((bundle.class as usize, bundle.register))
        }));
        self.output.allocs = allocs;
        // What is passed and never named may as well lie in memory, so regalloc2 places it last.
        self.bundles.iter().all(|bundle| bundle.is_named || bundle.into != NONE).then_some(())
    }

    /// The register that a virtual one has got.
    fn register(&self, reg: usize) -> (RegClass, u8) {
        let bundle = &self.bundles[self.bundle(reg) as usize];
        (bundle.class, bundle.register)
    }

    /// Makes the moves that edges take: before the branch of a block with one way out, else at the start of the block that the
    /// edge leads to.
    fn write_moves(&mut self, flow: &Flow) -> Option<()> {
        self.moves.clear();
        for &Passed { arg, from, to, param } in &self.passed {
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
            // What one move writes, no other may read or write. Moves at both ends of a block may make one another superfluous.
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

    /// The registers of all bundles, each of which an instruction names.
    pub(super) fn used(&self) -> PRegSet {
        let mut used = PRegSet::empty();
        for bundle in self.bundles.iter().filter(|bundle| bundle.into == NONE) {
            used.add(PReg::new(bundle.register.into(), bundle.class));
        }
        used
    }

    /// Whether regalloc2 came to the same result.
    pub(super) fn agrees(&self, with: &Output) -> bool {
        let moves = |output: &Output| -> Vec<_> {
            output.edits.iter().map(|&(at, Edit::Move { from, to })| (at, from, to)).collect()
        };
        with.num_spillslots == 0 && with.allocs == self.output.allocs && moves(with) == moves(&self.output)
    }
}

/// A register by bank and number, in regalloc2's terms.
fn allocation((bank, register): (usize, u8)) -> Allocation {
    Allocation::reg(PReg::new(register.into(), CLASSES[bank]))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use halfbyte_ir::text::read;
    use halfbyte_isa::halu::TARGET;
    use halfbyte_isa::object::Loc;

    use super::super::super::{Allocator, Options};
    use crate::{Backend, Halu, Request, Scratch};

    /// Whether a kernel for HALU is allocated the short way. regalloc2 runs beside it, and its checker.
    fn is_direct(body: &str) -> bool {
        let text =
            format!("kernel @k(%x: in f16x2, %y: out f16x2, %n: i32) {{\n^entry:\n  %i = item_id\n{body}  ret\n}}\n");
        let module = read(&text).unwrap();
        let request = Request::new(&module.kernels[0], TARGET, &|_| Loc::default());
        let selected = Halu.select(request, &mut Scratch::default()).unwrap();
        let mut allocator = Allocator::default();
        selected.code.allocate(&mut allocator, &Options { check: true, ..Options::default() }).unwrap();
        allocator.main.is_direct()
    }

    /// A sum of so many words that are all loaded first.
    fn sum(words: usize) -> String {
        let loads = (0..words).map(|k| format!("  %v{k} = load %x[%i + {k}]\n"));
        let adds = (1..words).map(|k| {
            let before = if k == 1 { "%v0".to_owned() } else { format!("%s{}", k - 1) };
            format!("  %s{k} = fadd.f16x2 {before}, %v{k}\n")
        });
        loads.chain(adds).collect::<String>() + &format!("  store %s{}, %y[%i]\n", words - 1)
    }

    /// A loop that passes two values on, as they are or exchanged.
    fn rounds(first: &str, second: &str) -> String {
        format!(
            "  %a = load %x[%i]\n  %b = load %x[%i + 1]\n  br ^loop(%n, %a, %b)\n\
             ^loop(%k: i32, %p: f16x2, %q: f16x2):\n  %one = const.i32 1\n  %next = sub.i32 %k, %one\n  \
             %zero = const.i32 0\n  %more = icmp.ne.i32 %next, %zero\n  \
             br_if %more, ^loop(%next, {first}, {second}), ^done\n\
             ^done:\n  %r = fsub.f16x2 %p, %q\n  store %r, %y[%i]\n"
        )
    }

    #[test]
    fn what_fits_goes_the_short_way() {
        assert!(is_direct(""));
        assert!(is_direct(&sum(8)));
        assert!(is_direct(&sum(50)));
        assert!(is_direct(&rounds("%p", "%q")));
    }

    #[test]
    fn what_is_passed_and_needed_further_on_is_moved() {
        assert!(is_direct(&rounds("%a", "%b")));
        assert!(is_direct(&rounds("%a", "%a")));
        assert!(is_direct(&rounds("%q", "%q")));
    }

    #[test]
    fn what_is_passed_and_never_named_goes_the_long_way() {
        let passed = "  %a = load %x[%i]\n  %c = icmp.eq.i32 %i, %n\n  br_if %c, ^one(%a), ^two\n\
                      ^one(%p: f16x2):\n  store %a, %y[%i]\n  br ^two\n^two:\n";
        assert!(!is_direct(passed));
    }

    #[test]
    fn what_is_exchanged_or_takes_memory_goes_the_long_way() {
        assert!(!is_direct(&rounds("%q", "%p")));
        assert!(!is_direct(&sum(300)));
    }
}
