//! Liveness of VP1 registers at each bundle. On exit from a function, native code stores only live registers.

use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::footprint::{Footprint, Locations};

use super::graph::{Flow, Graph};

/// The live registers at each bundle of a program. Only registers that native functions hold in variables are included.
pub(super) struct Liveness {
    /// Live registers before each bundle, indexed by bundle number.
    before: Vec<Locations>,
    /// Registers that are live after the program exits.
    pub at_exit: Locations,
}

/// Returns all registers that native functions hold in variables.
pub(super) fn all() -> Locations {
    use RegFile::{A, C, L, R, Uc, V, Va, Vc, Vx};
    [R, V, A, Vc, L, Va, Vx, Uc, C].into_iter().map(Locations::file).fold(Locations::EMPTY, Locations::union)
}

impl Liveness {
    /// Computes the live registers of a program. `at_exit` is the set of registers that are live at
    /// its exits. Where a program may trap, the address registers are also live, because they show
    /// which elements of the streams it has accessed.
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

    /// Returns the live registers before bundle `at`, which is not in a delay slot.
    fn wanted(&self, graph: &Graph, at: u32, at_trap: Locations) -> Locations {
        match graph.flow(at) {
            Flow::Fall => self.through(graph, at, self.before(at + 1)),
            Flow::Jump { to, conditional, .. } => {
                let other = if conditional { self.before(at + 2) } else { Locations::EMPTY };
                let after_slot = self.before(to).union(other);
                self.through(graph, at, self.through(graph, at + 1, after_slot)).union(at_trap)
            }
            Flow::Exit => self.through(graph, at, self.at_exit),
            // All registers are live, because the interpreter continues after this bundle, or the
            // return address is not known.
            Flow::Return | Flow::Leave | Flow::Stop => all(),
        }
    }

    /// Returns the live registers before a bundle, given the live registers after it.
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
