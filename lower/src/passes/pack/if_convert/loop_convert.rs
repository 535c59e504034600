//! If-conversion of loops: makes the control flow of a loop uniform.

use cranelift_entity::EntityRef;
use halfbyte_ir::{Block, Op, TripCount, Type, Value};

use crate::passes::loops::LoopId;

use super::super::affine::{as_constant, is_zero};
use super::super::masks::{Condition, Mask, Masks};
use super::super::region::{Edge, Node, Region};
use super::super::trips::Counted;
use super::{Converter, Count, SiteStep};

/// Position of the exit test in a converted loop.
#[derive(Clone, Copy)]
enum ExitTest {
    /// At the end of this node, in place of this exit edge of the source.
    Behind(Node, Edge),
    /// At the end of the loop body.
    Last,
}

/// Plan for the conversion of a loop.
struct Plan {
    /// `true` if items may leave the loop in different iterations or by different exits.
    masked: bool,
    gate: ExitTest,
    /// The counted exit that determines the trip count, if any, and the trip count for loads and stores in the loop.
    counted: Option<(Counted, TripCount)>,
}

/// State of a loop while it is converted.
pub(in crate::passes::pack) struct LoopState {
    id: LoopId,
    plan: Plan,
    /// Additional header parameters of a masked loop.
    masked: Option<Masked>,
    /// Results of the loop, once its exit test has been created.
    outcome: Option<Outcome>,
    /// Items that stay active after the exit test of a masked loop without a known trip count.
    continuing: Mask,
}

/// Additional header parameters of a masked loop.
#[derive(Clone)]
struct Masked {
    /// `true` if the item is active at the start of an iteration.
    live: Condition,
    /// Values that are used outside the loop, each with the parameter that holds it after the item has left the loop.
    kept: Vec<(Value, Value)>,
    /// If the loop has several exit edges, a parameter for each of them: `true` if the item has
    /// left the loop by this edge.
    left: Vec<(Edge, Value)>,
}

/// Results of a converted loop.
#[derive(Clone)]
struct Outcome {
    exit: Block,
    /// Values of the parameters in [`Masked::kept`] after the loop.
    kept: Vec<Value>,
    /// Values of the parameters in [`Masked::left`] after the loop.
    left: Vec<Value>,
}

impl<'a> Converter<'a> {
    /// Converts a loop. `values` are the initial values of its header's parameters. Returns the
    /// exit edges, each with the mask of the items that leave the loop by the edge.
    pub(super) fn convert_loop(
        &mut self,
        outer: &Region,
        masks: &mut Masks,
        node: Node,
        id: LoopId,
        values: &[Value],
    ) -> Vec<(Edge, Mask)> {
        let graph: &'a Region = self.of.regions.get(Some(id));
        let header = self.of.loops.get(id).header;
        let entering = masks.at(&mut self.code, outer, node);
        let plan = self.plan(id, graph, entering);
        let mut initial = values.to_vec();
        let accesses = (0..graph.nodes.len()).any(|node| self.node_accesses(graph, node));
        let own_counter = plan.counted.as_ref().filter(|_| accesses).map(|_| self.counter(id));
        let counter = own_counter.map(|known| {
            known.unwrap_or_else(|| {
                initial.push(self.code.word(0));
                self.code.kernel.add_block_param(header, Type::I32)
            })
        });
        self.masked.extend(plan.masked.then_some(id));
        let masked = plan.masked.then(|| self.masked_params(id, graph, &plan, entering, &mut initial));
        self.code.branch(Op::Br, &[], &[(header, &initial)]);
        self.go_on_in(header);
        let entered = masked.as_ref().map_or(entering, |masked| Some(masked.live));
        let next_counter = counter.filter(|_| own_counter == Some(None)).map(|counter| {
            let one = self.code.word(1);
            self.code.op(Op::Add, Type::I32, &[counter, one])
        });
        let counted = counter.zip(plan.counted.as_ref().map(|(_, trips)| trips.clone()));
        self.around.push(SiteStep { number: id.index() as u32, header, counted });
        let mut inside = Masks::new(entered, graph.nodes.len());
        let mut state = LoopState { id, plan, masked, outcome: None, continuing: None };
        self.region(graph, &mut inside, Some(&mut state));
        self.around.pop();
        self.close(graph, &mut inside, &mut state, values.len(), next_counter)
    }

    /// Emits the back edge and makes the loop's exit block the current block. Returns the exit
    /// edges with the masks of the items that take them.
    fn close(
        &mut self,
        graph: &Region,
        masks: &mut Masks,
        state: &mut LoopState,
        params: usize,
        counter: Option<Value>,
    ) -> Vec<(Edge, Mask)> {
        let header = self.of.loops.get(state.id).header;
        let back = std::mem::take(&mut masks.back);
        let mut next: Vec<Value> = Vec::new();
        for number in 0..params {
            let ways = back.iter().filter_map(|&(edge, node, mask)| Some((node, mask, self.argument(edge, number)?)));
            let ways: Vec<(Node, Mask, Value)> = ways.collect();
            next.extend(masks.merge(&mut self.code, graph, &ways, 0));
        }
        next.extend(counter);
        let passed = state.outcome.is_some();
        if let Some(masked) = state.masked.clone() {
            let live = match (back.as_slice(), &state.plan.gate) {
                (&[(_, from, _)], ExitTest::Behind(gate, _)) if from == *gate && state.continuing.is_some() => {
                    state.continuing
                }
                _ => {
                    let mut going: Option<Mask> = None;
                    for &(_, node, mask) in &back {
                        let along = masks.along(&mut self.code, graph, node, mask, 0);
                        going = Some(match going {
                            None => along,
                            Some(going) => self.code.either(going, along),
                        });
                    }
                    self.code.both(Some(masked.live), going.flatten())
                }
            };
            let last = self.outcome(graph, masks, state, &masked, None);
            let live = self.code.truth(live.unwrap_or(masked.live));
            next.push(live);
            next.extend(last.kept.iter().chain(&last.left));
            if matches!(state.plan.gate, ExitTest::Last) {
                let goes_on = match &state.plan.counted {
                    Some((counted, _)) => {
                        self.counts.push(Count { id: state.id, by: counted.clone(), test: self.code.block });
                        self.stays(counted.leaving)
                    }
                    None => Condition { value: live, negated: false },
                };
                self.test(goes_on, (header, &next), last.exit);
                state.outcome = Some(last);
            }
        }
        if passed {
            self.go_back(header, &next);
        }
        let Some(outcome) = state.outcome.take() else { return Vec::new() };
        self.go_on_in(outcome.exit);
        let Some(masked) = &state.masked else {
            return graph.leaving.iter().map(|&(edge, _)| (edge, None)).collect();
        };
        for (&(value, _), kept) in masked.kept.iter().zip(outcome.kept) {
            self.now[value] = kept.into();
        }
        if masked.left.is_empty() {
            return graph.leaving.iter().map(|&(edge, _)| (edge, None)).collect();
        }
        let left = masked.left.iter().zip(outcome.left);
        left.map(|(&(edge, _), value)| (edge, Some(Condition { value, negated: false }))).collect()
    }

    /// Returns the condition under which an item does not take an exit edge.
    fn stays(&self, leaving: Edge) -> Condition {
        let branch = self.of.kernel.terminator(leaving.from);
        let condition = branch.and_then(|branch| self.of.kernel.args(branch).first());
        let value = condition.map_or_else(|| Value::from_u32(0), |&value| self.current(value));
        Condition { value, negated: leaving.number == 0 }
    }

    /// Ends the current block with a branch: to block `on` of the loop if the condition is true,
    /// otherwise to block `exit`.
    fn test(&mut self, goes_on: Condition, on: (Block, &[Value]), exit: Block) {
        let exit: (Block, &[Value]) = (exit, &[]);
        let targets = if goes_on.negated { [exit, on] } else { [on, exit] };
        self.gates.push(self.code.block);
        self.code.branch(Op::BrIf, &[goes_on.value], &targets);
    }

    /// Emits the loop's exit test, if the test belongs at the end of this node. `taken` are the edges out of the node.
    pub(super) fn gate(
        &mut self,
        graph: &Region,
        masks: &mut Masks,
        state: &mut LoopState,
        node: Node,
        taken: &mut Vec<(Edge, Mask)>,
    ) {
        let ExitTest::Behind(at, leaving) = state.plan.gate else { return };
        if at != node {
            return;
        }
        let stays = self.stays(leaving);
        let on = self.new_block();
        let known = state.plan.counted.is_some();
        let goes_on = match state.masked.clone() {
            Some(masked) => {
                let here = masks.at(&mut self.code, graph, node);
                let gone = taken.iter().find(|(edge, _)| *edge == leaving).and_then(|&(_, mask)| mask);
                masks.leaving.push((leaving, node, gone));
                state.outcome = Some(self.outcome(graph, masks, state, &masked, Some(node)));
                if known {
                    stays
                } else {
                    state.continuing = self.code.both(here, Some(stays));
                    let going = self.code.truth(state.continuing.unwrap_or(stays));
                    state.continuing = Some(Condition { value: going, negated: false });
                    Condition { value: going, negated: false }
                }
            }
            None => {
                let exit = self.new_block();
                state.outcome = Some(Outcome { exit, kept: Vec::new(), left: Vec::new() });
                match masks.entering {
                    // An item that does not enter the loop may have a loop bound that is never reached.
                    Some(entering) if !known => {
                        let real = self.is_in_launch();
                        let entering = self.code.both(Some(real), Some(entering));
                        self.code.both(entering, Some(stays)).unwrap_or(stays)
                    }
                    _ => stays,
                }
            }
        };
        let Some(outcome) = &state.outcome else { return };
        let exit = outcome.exit;
        self.tested = Some((self.code.block, on));
        let counted = state.plan.counted.as_ref();
        self.counts.extend(counted.map(|(by, _)| Count { id: state.id, by: by.clone(), test: self.code.block }));
        self.test(goes_on, (on, &[]), exit);
        self.go_on_in(on);
        taken.retain(|(edge, _)| *edge != leaving);
        if known || state.masked.is_none() {
            // All items that have not left the loop take the node's other edge.
            taken.iter_mut().for_each(|(_, mask)| *mask = None);
        }
    }

    /// Computes the results of a masked loop at the end of the node `behind`, or at the end of the
    /// loop body if `behind` is `None`.
    fn outcome(
        &mut self,
        graph: &Region,
        masks: &mut Masks,
        state: &LoopState,
        masked: &Masked,
        behind: Option<Node>,
    ) -> Outcome {
        let gate = match (&state.plan.gate, &state.outcome) {
            (ExitTest::Behind(gate, _), Some(outcome)) => Some((*gate, outcome.clone())),
            _ => None,
        };
        let mut kept = Vec::with_capacity(masked.kept.len());
        for (number, &(value, keeper)) in masked.kept.iter().enumerate() {
            let home = self.home(graph, state.id, value);
            let at_gate = gate.as_ref().filter(|(gate, _)| home <= *gate).and_then(|(_, was)| was.kept.get(number));
            kept.push(match at_gate {
                Some(&was) => was,
                None if behind.is_some_and(|behind| home > behind) => keeper,
                None => {
                    let now = self.current(value);
                    self.code.choose(Some(masked.live), now, keeper)
                }
            });
        }
        let mut left = Vec::with_capacity(masked.left.len());
        for (number, &(edge, keeper)) in masked.left.iter().enumerate() {
            let passed = masks.leaving.iter().find(|(known, _, _)| *known == edge).copied();
            let at_gate = gate.as_ref().and_then(|(gate, was)| Some((*gate, *was.left.get(number)?)));
            left.push(match (passed, at_gate) {
                (Some((_, from, _)), Some((gate, was))) if from <= gate => was,
                (Some((_, from, mask)), _) => {
                    let gone = masks.along(&mut self.code, graph, from, mask, 0);
                    let gone = self.code.both(Some(masked.live), gone);
                    let before = Some(Condition { value: keeper, negated: false });
                    let either = self.code.either(before, gone);
                    either.map_or(keeper, |condition| self.code.truth(condition))
                }
                (None, _) => keeper,
            });
        }
        let exit = gate.map_or_else(|| self.new_block(), |(_, outcome)| outcome.exit);
        Outcome { exit, kept, left }
    }

    /// Returns the node of a region in which a value is computed.
    fn home(&self, graph: &Region, id: LoopId, value: Value) -> Node {
        let block = self.of.uniformity.home(value);
        let node = block.and_then(|block| {
            let inner = self.of.loops.nest(block).take_while(|&around| around != id).last();
            graph.node(inner.map_or(block, |inner| self.of.loops.get(inner).header))
        });
        node.unwrap_or(0)
    }

    /// Adds the additional header parameters of a masked loop, and appends their initial values to `initial`.
    fn masked_params(
        &mut self,
        id: LoopId,
        graph: &Region,
        plan: &Plan,
        entering: Mask,
        initial: &mut Vec<Value>,
    ) -> Masked {
        let header = self.of.loops.get(id).header;
        let entering = match plan.counted {
            Some(_) => entering,
            None => {
                let real = self.is_in_launch();
                self.code.both(entering, Some(real))
            }
        };
        initial.push(match entering {
            Some(condition) => self.code.truth(condition),
            None => self.code.constant(Type::I1, [1, 0, 0, 0, 0, 0, 0, 0]),
        });
        let live = Condition { value: self.code.kernel.add_block_param(header, Type::I1), negated: false };
        let used = self.used_outside.get(id.index()).cloned().unwrap_or_default();
        let mut keeper = |converter: &mut Self, ty| {
            initial.push(converter.code.zero(ty));
            converter.code.kernel.add_block_param(header, ty)
        };
        let kept = used.into_iter().map(|value| (value, keeper(self, self.of.kernel.ty(value)))).collect();
        let several = graph.leaving.len() > 1;
        let edges = graph.leaving.iter().filter(|_| several);
        let left = edges.map(|&(edge, _)| (edge, keeper(self, Type::I1))).collect();
        Masked { live, kept, left }
    }

    /// Returns the header parameter that equals the iteration number, if the loop has one.
    fn counter(&self, id: LoopId) -> Option<Value> {
        let around = self.of.loops.get(id);
        let counts = |&&param: &&Value| {
            self.of.sums.of(param).is_some_and(|sum| {
                let steps_by_one = matches!(sum.counters.as_slice(), [(_, step)] if as_constant(step) == Some(1));
                is_zero(&sum.item) && is_zero(&sum.launch_term) && steps_by_one
            })
        };
        let one_way_back = self.of.regions.get(Some(id)).back.len() == 1;
        let params = self.of.kernel.block_params(around.header).iter();
        params.filter(|_| one_way_back).find(counts).copied()
    }

    /// Plans the conversion of a loop.
    fn plan(&self, id: LoopId, graph: &Region, entering: Mask) -> Plan {
        let ways = self.of.counted.get(id.index()).map_or(&[][..], Vec::as_slice);
        let mut known = ways.iter().filter(|way| !(way.needs_equality && entering.is_some()));
        if let &[(leaving, node)] = graph.leaving.as_slice()
            && graph.inner.get(node) == Some(&None)
            && graph.postdominates(node, 0)
            && !self.of.uniformity.branch_varies(self.of.kernel, self.of.loops, leaving.from)
        {
            let (before, behind) = self.accesses_around(graph, node);
            let way = known.find(|way| way.leaving == leaving);
            let Some((way, trips)) = way.and_then(|way| Some((way, trips(way, before)?))) else {
                return Plan { masked: false, gate: ExitTest::Behind(node, leaving), counted: None };
            };
            let gate = if before && behind { ExitTest::Last } else { ExitTest::Behind(node, leaving) };
            return Plan { masked: before && behind, gate, counted: Some((way.clone(), trips)) };
        }
        let accesses = (0..graph.nodes.len()).any(|node| self.node_accesses(graph, node));
        let counts = known.filter(|_| accesses).find_map(|way| {
            let node = graph.node(way.leaving.from)?;
            let (before, behind) = self.accesses_around(graph, node);
            let gate = if before && behind { ExitTest::Last } else { ExitTest::Behind(node, way.leaving) };
            Some(Plan { masked: true, gate, counted: Some((way.clone(), trips(way, before)?)) })
        });
        if let Some(plan) = counts {
            return plan;
        }
        let around = self.of.loops.get(id);
        let in_every_iteration = |&&(edge, node): &&(Edge, Node)| {
            let goes_on = self.of.kernel.successors(edge.from).any(|to| around.contains(to));
            let dominates = around.latches.iter().all(|&latch| self.of.flow.dominates(edge.from, latch));
            graph.inner.get(node) == Some(&None) && goes_on && dominates
        };
        let first = graph.leaving.iter().filter(in_every_iteration).min_by_key(|(_, node)| *node);
        let gate = first.map_or(ExitTest::Last, |&(edge, node)| ExitTest::Behind(node, edge));
        Plan { masked: true, gate, counted: None }
    }

    /// Returns `true` if a node contains loads or stores.
    fn node_accesses(&self, graph: &Region, node: Node) -> bool {
        match (graph.inner.get(node), graph.nodes.get(node)) {
            (Some(&Some(id)), _) => self.of.loops.get(id).blocks().any(|block| self.accesses(block)),
            (_, Some(&block)) => self.accesses(block),
            _ => false,
        }
    }

    /// Returns two flags. The first is `true` if loads or stores precede the end of a node that
    /// every iteration reaches. The second is `true` if loads or stores follow it.
    fn accesses_around(&self, graph: &Region, node: Node) -> (bool, bool) {
        let any = |mut nodes: std::ops::Range<Node>| nodes.any(|node| self.node_accesses(graph, node));
        (any(0..node + 1), any(node + 1..graph.nodes.len()))
    }
}

/// Returns the trip count for accesses before the exit test if `before`, otherwise for accesses after the exit test.
fn trips(way: &Counted, before: bool) -> Option<TripCount> {
    if before { way.before.clone() } else { Some(way.stays_count.clone()) }
}
