//! Interference of virtual registers in SSA code, and coalescing of those that do not interfere.

use halfbyte_isa::ptx::Reg;
use smallvec::{SmallVec, smallvec};

use super::super::flow::Flow;
use super::super::liveness::Liveness;
use crate::Ptx;
use crate::vcode::{Access, VCode, VReg};

/// Program point in a block: 0 for the block parameters, 1 and up for the instructions, and [`END`] for the terminator.
type Point = u32;

/// Program point of the terminator in every block.
const END: Point = Point::MAX;

/// Definition and uses of a virtual register. Blocks are identified by their rank.
#[derive(Clone, Default)]
struct Range {
    /// Block and program point of the definition, if any.
    def: Option<(u32, Point)>,
    /// Last use in each block that reads the register, sorted by block rank.
    uses: SmallVec<[(u32, Point); 1]>,
}

/// Definitions, uses and live-in sets from which the interference of registers is computed.
pub(super) struct Ranges<'a> {
    ranges: Vec<Range>,
    flow: &'a Flow,
    liveness: &'a Liveness,
}

impl<'a> Ranges<'a> {
    pub(super) fn new(code: &VCode<Ptx>, flow: &'a Flow, liveness: &'a Liveness) -> Ranges<'a> {
        let mut ranges = Ranges { ranges: vec![Range::default(); code.vregs.len()], flow, liveness };
        for (rank, block) in flow.blocks(code) {
            let rank = rank as u32;
            code.list(&block.params).iter().for_each(|&param| ranges.define(param, rank, 0));
            for (point, inst) in (1..).zip(code.insts_of(block)) {
                code.visit(inst, |access, reg| match access {
                    Access::Use => ranges.read(reg, rank, point),
                    _ => ranges.define(reg, rank, point),
                });
            }
            code.visit_end(&block.terminator, |reg| ranges.read(reg, rank, END));
        }
        ranges
    }

    fn define(&mut self, reg: VReg, block: u32, point: Point) {
        if let Some(range) = self.ranges.get_mut(reg.0 as usize) {
            range.def.get_or_insert((block, point));
        }
    }

    fn read(&mut self, reg: VReg, block: u32, point: Point) {
        let Some(range) = self.ranges.get_mut(reg.0 as usize) else { return };
        match range.uses.last_mut() {
            Some((of, last)) if *of == block => *last = point,
            _ => range.uses.push((block, point)),
        }
    }

    /// Returns `true` if the register has a use.
    pub(super) fn is_read(&self, reg: VReg) -> bool {
        self.ranges.get(reg.0 as usize).is_some_and(|range| !range.uses.is_empty())
    }

    /// Returns `true` if either of two registers is live at the definition of the other.
    fn interfere(&self, a: VReg, b: VReg) -> bool {
        let (Some(of_a), Some(of_b)) = (self.ranges.get(a.0 as usize), self.ranges.get(b.0 as usize)) else {
            return true;
        };
        let (Some(at_a), Some(at_b)) = (of_a.def, of_b.def) else { return true };
        at_a == at_b || self.is_live_after(a, of_a, at_b) || self.is_live_after(b, of_b, at_a)
    }

    /// Returns `true` if the register is defined at or before a program point, and read after it.
    fn is_live_after(&self, reg: VReg, range: &Range, (block, point): (u32, Point)) -> bool {
        let last = range.uses.binary_search_by_key(&block, |&(of, _)| of).ok().and_then(|at| range.uses.get(at));
        let mut successors = self.flow.succs(block as usize).iter();
        let is_read_later = last.is_some_and(|&(_, last)| last > point)
            || successors.any(|to| self.liveness.is_live_in(to.index(), reg));
        let is_defined = match range.def {
            Some((of, at)) if of == block => at <= point,
            // In SSA form, the definition is in a block that dominates the use.
            _ => true,
        };
        is_defined && is_read_later
    }
}

/// Maximum number of register pairs whose interference is tested to merge two classes. Larger classes are not merged.
const MAX_COMPARED: usize = 1 << 12;

/// Returns a PTX register for each virtual register. Coalesced registers have the same PTX register.
pub(super) fn coalesce(code: &VCode<Ptx>, ranges: &Ranges<'_>) -> Vec<Reg> {
    let all = 0..code.vregs.len() as u32;
    let parents = all.clone().collect();
    let mut classes = Classes { code, ranges, parents, members: all.map(|reg| smallvec![VReg(reg)]).collect() };
    classes.join_edges();
    classes.parents.into_iter().map(Reg).collect()
}

/// Equivalence classes of virtual registers that share one PTX register.
struct Classes<'a> {
    code: &'a VCode<Ptx>,
    ranges: &'a Ranges<'a>,
    /// Parent of each register in the union-find forest of the classes.
    parents: Vec<u32>,
    /// Registers in each class, by the representative of the class.
    members: Vec<SmallVec<[VReg; 1]>>,
}

impl Classes<'_> {
    fn class(&self, reg: VReg) -> Option<u32> {
        self.parents.get(reg.0 as usize).copied()
    }

    /// Coalesces block arguments with block parameters. Back edges come first, because they are executed most often.
    fn join_edges(&mut self) {
        let code = self.code;
        for back in [true, false] {
            for (number, block) in (0..).zip(&code.blocks) {
                for edge in block.terminator.edges().filter(|edge| (edge.block <= number) == back) {
                    let params = code.blocks.get(edge.block as usize).map_or(&[][..], |to| code.list(&to.params));
                    params.iter().zip(code.list(&edge.args)).for_each(|(&param, &arg)| self.join(param, arg));
                }
            }
        }
    }

    fn join(&mut self, a: VReg, b: VReg) {
        let (Some(into), Some(from)) = (self.class(a), self.class(b)) else { return };
        let types = [a, b].map(|reg| self.code.vregs.get(reg.0 as usize));
        let [Some(of_a), Some(of_b)] = [into, from].map(|class| self.members.get(class as usize)) else { return };
        let is_too_much = of_a.len() * of_b.len() > MAX_COMPARED;
        if into == from || types[0] != types[1] || is_too_much {
            return;
        }
        if of_a.iter().any(|&a| of_b.iter().any(|&b| self.ranges.interfere(a, b))) {
            return;
        }
        let moved = self.members.get_mut(from as usize).map(std::mem::take).unwrap_or_default();
        for reg in &moved {
            self.parents.get_mut(reg.0 as usize).into_iter().for_each(|parent| *parent = into);
        }
        if let Some(members) = self.members.get_mut(into as usize) {
            members.extend(moved);
        }
    }
}
