//! The control flow of a program, as far as its words say it.
//!
//! What is not in it is left to the interpreter: traps, jumps in the delay slot of another one, and wherever those lead.

use halfbyte_isa::vp1::domain::{Jump, Next};
use halfbyte_isa::vp1::footprint::{Footprint, Locations};
use halfbyte_isa::vp1::{Bundle, Unit};

use crate::vp1::interp::Bundles;

/// What control does at a bundle that runs outside a delay slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Flow {
    /// It goes on.
    Fall,
    /// It goes to a bundle after the delay slot.
    Jump {
        /// The bundle.
        to: u32,
        /// It comes back.
        call: bool,
        /// Only if a condition holds.
        conditional: bool,
        /// What the group's budget begins anew with.
        group: bool,
    },
    /// It goes back where the last call came from after the delay slot.
    Return,
    /// It ends.
    Exit,
    /// It goes on if a condition does not hold. If it does, that is for the interpreter.
    Leave,
    /// The bundle is for the interpreter.
    Stop,
}

/// What is asked about a bundle.
#[derive(Clone, Copy, Default)]
struct Marks {
    reached: bool,
    leader: bool,
    entry: bool,
}

/// The control flow of a program, by numbers of bundles.
pub(super) struct Graph {
    flows: Vec<Flow>,
    marks: Vec<Marks>,
    /// What bundles read and write, where that is known.
    footprints: Vec<Option<Footprint>>,
    /// Where each function begins, and where the last one ends.
    pub functions: Vec<u32>,
    /// Whether the branch to the next group leads backward.
    pub group_is_backward: bool,
}

/// About as many instructions of Cranelift make a function.
const FUNCTION_SIZE: u32 = 2000;

impl Graph {
    pub fn new(program: &Bundles, group_branch: Option<u32>) -> Graph {
        let mut graph = Graph {
            flows: Vec::with_capacity(program.len()),
            marks: vec![Marks::default(); program.len()],
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

    /// Of a program of one bundle, after which control goes nowhere.
    pub fn of_step(program: &Bundles) -> Graph {
        Graph {
            flows: vec![Flow::Exit],
            marks: vec![Marks { reached: true, leader: true, entry: true }],
            footprints: footprints(program),
            functions: vec![0, 1],
            group_is_backward: false,
        }
    }

    pub fn flow(&self, at: u32) -> Flow {
        self.flows.get(at as usize).copied().unwrap_or(Flow::Stop)
    }

    /// What a bundle reads and writes, where that is known.
    pub fn footprint(&self, at: u32) -> Option<&Footprint> {
        self.footprints.get(at as usize)?.as_ref()
    }

    /// What any bundle writes.
    pub fn written(&self) -> Locations {
        self.footprints.iter().flatten().fold(Locations::EMPTY, |written, footprint| written.union(footprint.writes))
    }

    /// How many bundles there are.
    pub fn len(&self) -> u32 {
        self.flows.len() as u32
    }

    fn marks(&self, at: u32) -> Marks {
        self.marks.get(at as usize).copied().unwrap_or_default()
    }

    /// Whether a block begins at a bundle.
    pub fn is_leader(&self, at: u32) -> bool {
        self.marks(at).leader
    }

    /// Whether a function can be entered at a bundle.
    pub fn is_entry(&self, at: u32) -> bool {
        self.marks(at).entry
    }

    fn mark_with(&mut self, at: u32, f: impl FnOnce(&mut Marks)) {
        if let Some(marks) = self.marks.get_mut(at as usize) {
            f(marks);
        }
    }

    /// Finds what can be reached, and where blocks begin.
    fn mark(&mut self, program: &Bundles, next: &[Option<Next<()>>]) {
        let mut open = vec![0];
        self.mark_with(0, |marks| marks.entry = true);
        while let Some(first) = open.pop() {
            self.mark_with(first, |marks| marks.leader = true);
            let mut at = first;
            while at < self.len() {
                if self.marks(at).reached {
                    // It runs into a block that was found before.
                    self.mark_with(at, |marks| marks.leader = true);
                    break;
                }
                self.mark_with(at, |marks| marks.reached = true);
                match self.flow(at) {
                    Flow::Fall => {}
                    Flow::Leave | Flow::Stop => {
                        // Where the interpreter may come to from here.
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
                            // A slice may end at the branch, and the next one begin here.
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

    /// Cuts the program into functions.
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
        // What another function jumps to can be entered.
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

    /// Whether control may come to a bundle of a function again without leaving the function.
    pub fn has_loop(&self, first: u32, end: u32) -> bool {
        (first..end).any(|at| match self.flow(at) {
            Flow::Jump { to, .. } => (first..=at).contains(&to),
            Flow::Return => true,
            _ => false,
        })
    }

    /// Where blocks begin that native code goes to from a bundle.
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

/// About how many instructions of Cranelift a bundle becomes.
fn cost(bundle: &Bundle) -> u32 {
    let of = |unit: Unit, cost: u32| if bundle.inst(unit).is_some() { cost } else { 0 };
    of(Unit::Address, 15) + of(Unit::Scalar, 10) + of(Unit::Vector, 30) + of(Unit::Branch, 10)
}

fn footprints(program: &Bundles) -> Vec<Option<Footprint>> {
    let bundles = (0..program.len()).map_while(|at| program.get(at));
    bundles.map(|(_, bundle)| Footprint::of(bundle, None).ok()).collect()
}
