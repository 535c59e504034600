//! Where registers of SSA code are live, and so which of them could be one.

use halfbyte_isa::ptx::Reg;
use halfbyte_isa::row::Role;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::code::{Block, Code, Terminator};

/// A point of a block: its parameters are defined at 0, its instructions are 1 and up, its terminator is last.
type Point = u32;

/// The end of every block.
const END: Point = Point::MAX;

/// What is known of a register.
#[derive(Clone, Default)]
struct Range {
    /// The block and the point of its definition; none where it has none.
    def: Option<(u32, Point)>,
    /// By block, in order, the last point at which it is read.
    uses: SmallVec<[(u32, Point); 1]>,
}

/// The live ranges of all registers.
#[derive(Default)]
pub(super) struct Liveness {
    ranges: Vec<Range>,
    /// Blocks at whose end a register is live, arguments aside.
    out: FxHashSet<(u32, u32)>,
}

impl Liveness {
    pub fn new(code: &Code) -> Liveness {
        let mut live = Liveness { ranges: vec![Range::default(); code.registers.len()], out: FxHashSet::default() };
        let mut predecessors = vec![Vec::new(); code.blocks.len()];
        for (block, of) in (0..).zip(&code.blocks) {
            live.scan(block, of);
            for edge in of.terminator.edges() {
                predecessors.get_mut(edge.block as usize).into_iter().for_each(|all| all.push(block));
            }
        }
        for reg in 0..live.ranges.len() as u32 {
            live.spread(reg, &predecessors);
        }
        live
    }

    fn scan(&mut self, block: u32, of: &Block) {
        of.params.iter().for_each(|&param| self.define(param, block, 0));
        for (point, placed) in (1..).zip(&of.insts) {
            placed.inst.visit_registers(|role, reg| match role {
                Role::Def => self.define(reg, block, point),
                _ => self.read(reg, block, point),
            });
        }
        if let Terminator::Branch { guard, .. } = &of.terminator {
            self.read(guard.reg, block, END);
        }
        of.terminator.edges().flat_map(|edge| &edge.args).for_each(|&arg| self.read(arg, block, END));
    }

    fn define(&mut self, reg: Reg, block: u32, point: Point) {
        if let Some(range) = self.ranges.get_mut(reg.0 as usize) {
            range.def.get_or_insert((block, point));
        }
    }

    fn read(&mut self, reg: Reg, block: u32, point: Point) {
        let Some(range) = self.ranges.get_mut(reg.0 as usize) else { return };
        match range.uses.last_mut() {
            Some((of, last)) if *of == block => *last = point,
            _ => range.uses.push((block, point)),
        }
    }

    /// From every block that reads a register, upwards to the one that defines it.
    fn spread(&mut self, reg: u32, predecessors: &[Vec<u32>]) {
        let Some(Range { def: Some((def, _)), uses }) = self.ranges.get(reg as usize) else { return };
        let def = *def;
        let mut entered: Vec<u32> = uses.iter().map(|&(block, _)| block).filter(|&block| block != def).collect();
        while let Some(block) = entered.pop() {
            for &before in predecessors.get(block as usize).into_iter().flatten() {
                if self.out.insert((before, reg)) && before != def {
                    entered.push(before);
                }
            }
        }
    }

    /// Whether anything reads the register.
    pub fn is_read(&self, reg: Reg) -> bool {
        self.ranges.get(reg.0 as usize).is_some_and(|range| !range.uses.is_empty())
    }

    /// Whether either register is live where the other gets its value.
    pub fn interfere(&self, a: Reg, b: Reg) -> bool {
        let (Some(of_a), Some(of_b)) = (self.ranges.get(a.0 as usize), self.ranges.get(b.0 as usize)) else {
            return true;
        };
        let (Some(at_a), Some(at_b)) = (of_a.def, of_b.def) else { return true };
        at_a == at_b || self.is_live_after(a, of_a, at_b) || self.is_live_after(b, of_b, at_a)
    }

    /// Whether a register is defined by then, and is read later.
    fn is_live_after(&self, reg: Reg, range: &Range, (block, point): (u32, Point)) -> bool {
        let last = range.uses.binary_search_by_key(&block, |&(of, _)| of).ok().and_then(|at| range.uses.get(at));
        let is_read_later = last.is_some_and(|&(_, last)| last > point) || self.out.contains(&(block, reg.0));
        let is_defined = match range.def {
            Some((of, at)) if of == block => at <= point,
            // Its definition is above every use.
            _ => true,
        };
        is_defined && is_read_later
    }
}
