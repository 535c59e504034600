//! The control-flow graph of a program, as far as it is known before execution.
//!
//! The interpreter handles all other control flow: traps, jumps in the delay slot of another jump,
//! and the targets of such jumps.

use halfbyte_isa::vp1::domain::{Jump, Next};
use halfbyte_isa::vp1::footprint::{Footprint, Locations};
use halfbyte_isa::vp1::{Bundle, Unit};

use crate::vp1::interp::Bundles;

/// The control flow after a bundle that is not in a delay slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    /// Execution continues at the following bundle.
    Fall,
    /// A jump to another bundle, which takes effect after the delay slot.
    Jump {
        /// Number of the target bundle.
        to: u32,
        /// The jump is a call.
        call: bool,
        /// The jump is conditional.
        conditional: bool,
        /// The jump starts the next group, which resets the budget.
        group: bool,
    },
    /// A return to the bundle after the last call, which takes effect after the delay slot.
    Return,
    /// The program exits.
    Exit,
    /// Execution continues at the following bundle if the condition of a jump is false. If it is
    /// true, the interpreter takes over.
    Leave,
    /// The interpreter takes over at this bundle.
    Stop,
}

/// Properties of a bundle.
#[derive(Clone, Copy, Default)]
struct BundleFlags {
    reached: bool,
    leader: bool,
    entry: bool,
}

/// The control-flow graph of a program, indexed by bundle number.
pub(super) struct Graph {
    flows: Vec<Flow>,
    marks: Vec<BundleFlags>,
    /// The registers that each bundle reads and writes; `None` if they are not known.
    footprints: Vec<Option<Footprint>>,
    /// Number of the first bundle of each native function, followed by the number of bundles in the program.
    pub functions: Vec<u32>,
    /// The branch to the next group is a backward branch.
    pub group_is_backward: bool,
}

/// Approximate size of a native function, in Cranelift instructions.
const FUNCTION_SIZE: u32 = 2000;

impl Graph {
    pub(super) fn new(program: &Bundles, group_branch: Option<u32>) -> Graph {
        let mut graph = Graph {
            flows: Vec::with_capacity(program.len()),
            marks: vec![BundleFlags::default(); program.len()],
            footprints: footprints(program),
            functions: vec![0],
            group_is_backward: false,
        };
        let next: Vec<Option<Next<()>>> =
            graph.footprints.iter().map(|footprint| footprint.as_ref().map(|footprint| footprint.next)).collect();
        for at in 0..next.len() {
            let flow = flow(program, group_branch, &next, at);
            if let Flow::Jump { to, group: true, .. } = flow {
                graph.group_is_backward = to as usize <= at;
            }
            graph.flows.push(flow);
        }
        graph.mark(program, &next);
        graph.divide(program);
        graph
    }

    /// Creates the graph of a program that consists of one bundle, after which the program exits.
    pub(super) fn single_bundle(program: &Bundles) -> Graph {
        Graph {
            flows: vec![Flow::Exit],
            marks: vec![BundleFlags { reached: true, leader: true, entry: true }],
            footprints: footprints(program),
            functions: vec![0, 1],
            group_is_backward: false,
        }
    }

    pub(super) fn flow(&self, at: u32) -> Flow {
        self.flows.get(at as usize).copied().unwrap_or(Flow::Stop)
    }

    /// Returns the registers that a bundle reads and writes, or `None` if they are not known.
    pub(super) fn footprint(&self, at: u32) -> Option<&Footprint> {
        self.footprints.get(at as usize)?.as_ref()
    }

    /// Returns all registers that the program writes.
    pub(super) fn written(&self) -> Locations {
        self.footprints.iter().flatten().fold(Locations::EMPTY, |written, footprint| written.union(footprint.writes))
    }

    /// Returns the number of bundles in the program.
    pub(super) fn len(&self) -> u32 {
        self.flows.len() as u32
    }

    fn marks(&self, at: u32) -> BundleFlags {
        self.marks.get(at as usize).copied().unwrap_or_default()
    }

    /// Returns `true` if bundle `at` begins a basic block.
    pub(super) fn is_leader(&self, at: u32) -> bool {
        self.marks(at).leader
    }

    /// Returns `true` if native code can be entered at bundle `at`.
    pub(super) fn is_entry(&self, at: u32) -> bool {
        self.marks(at).entry
    }

    fn mark_with(&mut self, at: u32, f: impl FnOnce(&mut BundleFlags)) {
        if let Some(marks) = self.marks.get_mut(at as usize) {
            f(marks);
        }
    }

    /// Marks the reachable bundles, the first bundles of basic blocks, and the entry points.
    fn mark(&mut self, program: &Bundles, next: &[Option<Next<()>>]) {
        let mut open = vec![0];
        self.mark_with(0, |marks| marks.entry = true);
        while let Some(first) = open.pop() {
            self.mark_with(first, |marks| marks.leader = true);
            let mut at = first;
            while at < self.len() {
                if self.marks(at).reached {
                    // The path reaches a bundle that was visited before, so a basic block begins here.
                    self.mark_with(at, |marks| marks.leader = true);
                    break;
                }
                self.mark_with(at, |marks| marks.reached = true);
                match self.flow(at) {
                    Flow::Fall => {}
                    Flow::Leave | Flow::Stop => {
                        // When the interpreter has taken over, it may return to native code at the
                        // targets of the jump, and at the bundle after the delay slot.
                        let jump = |at: u32| match next.get(at as usize) {
                            Some(Some(Next::Jump { target, .. })) => program.target(at as usize, *target).ok(),
                            _ => None,
                        };
                        let after = [jump(at), jump(at + 1)].into_iter().flatten().map(|to| to as u32);
                        for to in after.chain([at + 2]) {
                            self.mark_with(to, |marks| marks.entry = true);
                            open.push(to);
                        }
                        if self.flow(at) == Flow::Stop {
                            break;
                        }
                    }
                    Flow::Jump { to, call, conditional, .. } => {
                        open.push(to);
                        if to <= at {
                            // A time slice may end at a backward branch. The next slice then enters
                            // native code at the branch target.
                            self.mark_with(to, |marks| marks.entry = true);
                        }
                        if call {
                            self.mark_with(at + 2, |marks| marks.entry = true);
                        }
                        if call || conditional {
                            open.push(at + 2);
                        }
                        break;
                    }
                    Flow::Return | Flow::Exit => break,
                }
                at += 1;
            }
        }
    }

    /// Divides the program into native functions.
    fn divide(&mut self, program: &Bundles) {
        let mut size = 0;
        for at in 0..self.len() {
            if !self.marks(at).reached {
                continue;
            }
            if size > FUNCTION_SIZE {
                size = 0;
                self.functions.push(at);
                self.mark_with(at, |marks| (marks.leader, marks.entry) = (true, true));
            }
            size += program.get(at as usize).map_or(0, |(_, bundle)| cost(bundle));
        }
        self.functions.push(self.len());
        // The target of a jump from another native function is an entry point.
        let function = |functions: &[u32], at: u32| functions.partition_point(|&first| first <= at);
        for at in 0..self.len() {
            if !self.marks(at).reached {
                continue;
            }
            let (targets, here) = (self.targets(at), function(&self.functions, at));
            for to in targets.into_iter().flatten() {
                if function(&self.functions, to) != here {
                    self.mark_with(to, |marks| marks.entry = true);
                }
            }
        }
    }

    /// Returns `true` if the native function of bundles `first` to `end` contains a loop.
    pub(super) fn has_loop(&self, first: u32, end: u32) -> bool {
        (first..end).any(|at| match self.flow(at) {
            Flow::Jump { to, .. } => (first..=at).contains(&to),
            Flow::Return => true,
            _ => false,
        })
    }

    /// Returns the bundles at which native code may continue after bundle `at` and, if it jumps,
    /// its delay slot.
    fn targets(&self, at: u32) -> [Option<u32>; 2] {
        match self.flow(at) {
            Flow::Jump { to, conditional, .. } => [Some(to), conditional.then_some(at + 2)],
            Flow::Fall | Flow::Leave => [Some(at + 1), None],
            Flow::Return | Flow::Exit | Flow::Stop => [None; 2],
        }
    }
}

fn flow(program: &Bundles, group_branch: Option<u32>, next: &[Option<Next<()>>], at: usize) -> Flow {
    let Some(Some(here)) = next.get(at) else { return Flow::Stop };
    let is_group = group_branch == Some(program.address_of(at, Unit::Branch));
    let delayed = next.get(at + 1) == Some(&Some(Next::Fall));
    match *here {
        Next::Fall => Flow::Fall,
        Next::Exit { .. } => Flow::Exit,
        Next::Trap(_) => Flow::Stop,
        Next::Return if delayed && !is_group => Flow::Return,
        Next::Return => Flow::Stop,
        Next::Jump { kind, taken, target } => match program.target(at, target) {
            Ok(to) if delayed => {
                let (call, conditional) = (kind == Jump::Call, taken.is_some());
                Flow::Jump { to: to as u32, call, conditional, group: is_group }
            }
            _ if taken.is_some() => Flow::Leave,
            _ => Flow::Stop,
        },
    }
}

/// Estimates the number of Cranelift instructions that a bundle needs.
fn cost(bundle: &Bundle) -> u32 {
    let of = |unit: Unit, cost: u32| if bundle.inst(unit).is_some() { cost } else { 0 };
    of(Unit::Address, 15) + of(Unit::Scalar, 10) + of(Unit::Vector, 30) + of(Unit::Branch, 10)
}

fn footprints(program: &Bundles) -> Vec<Option<Footprint>> {
    let bundles = (0..program.len()).map_while(|at| program.get(at));
    bundles.map(|(_, bundle)| Footprint::of(bundle, None).ok()).collect()
}
