//! Liveness of registers at each bundle. Only live registers need to be stored when native code
//! leaves a function.

use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::footprint::{Footprint, Locations};

use super::graph::{Flow, Graph};

/// Live registers at each bundle of a program, among those that functions hold in variables.
pub(super) struct Liveness {
    /// Live registers before each bundle, indexed by bundle number.
    before: Vec<Locations>,
    /// Live registers after an exit.
    pub at_exit: Locations,
}

/// Returns all registers that functions hold in variables.
pub(super) fn all() -> Locations {
    use RegFile::{A, C, L, R, Uc, V, Va, Vc, Vx};
    [R, V, A, Vc, L, Va, Vx, Uc, C].into_iter().map(Locations::file).fold(Locations::EMPTY, Locations::union)
}

impl Liveness {
    /// Computes the liveness of a program, given the live registers at its exits. The address
    /// registers are also live wherever a run may trap, because they show how far it has advanced
    /// in its streams.
    pub(super) fn new(graph: &Graph, at_exit: Locations) -> Liveness {
        let at_trap = at_exit.union(Locations::file(RegFile::A));
        let mut liveness = Liveness { before: vec![Locations::EMPTY; graph.len() as usize], at_exit };
        let mut changed = true;
        while changed {
            changed = false;
            for at in (0..graph.len()).rev() {
                let new = liveness.wanted(graph, at, at_trap);
                let known = liveness.before.get_mut(at as usize).filter(|known| **known != new);
                known.into_iter().for_each(|known| (*known, changed) = (new, true));
            }
        }
        liveness
    }

    /// Computes the live registers before a bundle that runs outside a delay slot.
    fn wanted(&self, graph: &Graph, at: u32, at_trap: Locations) -> Locations {
        match graph.flow(at) {
            Flow::Fall => self.through(graph, at, self.before(at + 1)),
            Flow::Jump { to, conditional, .. } => {
                let other = if conditional { self.before(at + 2) } else { Locations::EMPTY };
                let after_slot = self.before(to).union(other);
                self.through(graph, at, self.through(graph, at + 1, after_slot)).union(at_trap)
            }
            Flow::Exit => self.through(graph, at, self.at_exit),
            // The interpreter continues, or the return address is unknown.
            Flow::Return | Flow::Leave | Flow::Stop => all(),
        }
    }

    /// Computes the live registers before a bundle from those after it.
    fn through(&self, graph: &Graph, at: u32, after: Locations) -> Locations {
        match graph.footprint(at) {
            Some(Footprint { reads, writes, .. }) => after.minus(*writes).union(*reads),
            None => all(),
        }
    }

    /// Returns the live registers before a bundle.
    pub(super) fn before(&self, at: u32) -> Locations {
        self.before.get(at as usize).copied().unwrap_or_else(all)
    }
}
