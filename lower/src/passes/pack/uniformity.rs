//! Divergence analysis: finds the values that differ between work items. Such a value depends on the item index through
//! operands, through a load from a divergent address, or through a divergent branch.

use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::{Block, Effect, Flow, Inst, Kernel, Op, Value};
use rustc_hash::FxHashSet;

use crate::passes::loops::{LoopId, Loops};

use super::region::{Edge, Node, Region};

/// Divergence that is caused by the conversion of a kernel to uniform control flow.
#[derive(Default)]
pub(super) struct Varying {
    /// Loads with divergent results.
    pub loads: EntitySet<Inst>,
    /// Blocks whose branch is divergent.
    pub branches: EntitySet<Block>,
    /// Loops that items leave in different iterations.
    pub loops: Vec<LoopId>,
}

/// Divergent values of a kernel. All other values are uniform: every item that computes the value gets the same result.
pub(super) struct Uniformity {
    values: EntitySet<Value>,
    /// Blocks whose parameters are divergent because the items come from different predecessors.
    joins: EntitySet<Block>,
    /// Loops that items leave in different iterations. The values of the loop are divergent outside of it.
    leaving: EntitySet<LoopId>,
    /// Blocks whose branch is divergent even if its condition is uniform.
    divergent_branches: EntitySet<Block>,
    /// Nodes between a divergent branch and the node at which the items reconverge, each with its region.
    divergent_nodes: FxHashSet<(Option<LoopId>, Node)>,
    /// Block that defines each value; `None` for a kernel parameter.
    defining_block: SecondaryMap<Value, Option<Block>>,
}

impl Uniformity {
    /// Analyses a kernel. The loads, branches and loops in `known` are divergent in any case.
    pub(super) fn new(
        kernel: &Kernel,
        flow: &Flow,
        loops: &Loops,
        regions: &Regions,
        known: &Varying,
        varying_load: &dyn Fn(Inst) -> bool,
    ) -> Uniformity {
        let mut uniformity = Uniformity::without_branches(kernel, flow, varying_load);
        uniformity.divergent_branches = known.branches.clone();
        for &id in &known.loops {
            uniformity.leave(loops, regions, Some(id));
        }
        let mut seen = EntitySet::new();
        loop {
            let mut changed = false;
            for block in flow.reverse_postorder() {
                if uniformity.branch_varies(kernel, loops, block) && seen.insert(block) {
                    uniformity.diverge(loops, regions, block);
                    changed = true;
                }
            }
            changed |= uniformity.spread(kernel, flow, Some(loops), varying_load);
            if !changed {
                return uniformity;
            }
        }
    }

    /// Analyses a kernel of which every branch is uniform.
    pub(super) fn without_branches(kernel: &Kernel, flow: &Flow, varying_load: &dyn Fn(Inst) -> bool) -> Uniformity {
        let mut home = SecondaryMap::new();
        for &block in &kernel.layout {
            let params = kernel.block_params(block).iter().copied();
            let results = kernel.blocks[block].insts.iter().filter_map(|&inst| kernel.result(inst));
            for value in params.chain(results) {
                home[value] = Some(block);
            }
        }
        let mut uniformity = Uniformity {
            values: EntitySet::new(),
            joins: EntitySet::new(),
            leaving: EntitySet::new(),
            divergent_branches: EntitySet::new(),
            divergent_nodes: FxHashSet::default(),
            defining_block: home,
        };
        while uniformity.spread(kernel, flow, None, varying_load) {}
        uniformity
    }

    /// Returns the block that defines a value; `None` for a kernel parameter.
    pub(super) fn home(&self, value: Value) -> Option<Block> {
        self.defining_block[value]
    }

    /// Returns `true` if a value is divergent in the block that defines it.
    pub(super) fn varies(&self, value: Value) -> bool {
        self.values.contains(value)
    }

    /// Returns `true` if a value is divergent in `block`. A value that is uniform in a loop is
    /// divergent outside of it if items leave the loop in different iterations.
    fn varies_in(&self, loops: Option<&Loops>, value: Value, block: Block) -> bool {
        self.varies(value)
            || loops.zip(self.defining_block[value]).is_some_and(|(loops, home)| {
                loops.nest(home).any(|id| self.leaving.contains(id) && !loops.get(id).contains(block))
            })
    }

    /// Returns `true` if the items may take different branches at the end of a block.
    pub(super) fn branch_varies(&self, kernel: &Kernel, loops: &Loops, block: Block) -> bool {
        let Some(branch) = kernel.terminator(block) else { return false };
        self.divergent_branches.contains(block)
            || kernel.args(branch).iter().any(|&arg| self.varies_in(Some(loops), arg, block))
    }

    /// Marks the values that depend on divergent values, in one pass over the kernel. Returns
    /// `true` if it marked a new value.
    fn spread(
        &mut self,
        kernel: &Kernel,
        flow: &Flow,
        loops: Option<&Loops>,
        varying_load: &dyn Fn(Inst) -> bool,
    ) -> bool {
        let mut changed = false;
        for block in flow.reverse_postorder() {
            for &inst in &kernel.blocks[block].insts {
                let op = kernel.insts[inst].op;
                for call in kernel.targets(inst) {
                    for (&arg, &param) in kernel.call_args(call).iter().zip(kernel.block_params(call.block)) {
                        if self.varies_in(loops, arg, call.block) {
                            changed |= self.values.insert(param);
                        }
                    }
                }
                let Some(result) = kernel.result(inst) else { continue };
                let varies = matches!(op, Op::ItemId | Op::LocalId | Op::GroupId | Op::LaneId | Op::SubgroupId)
                    || kernel.args(inst).iter().any(|&arg| self.varies_in(loops, arg, block))
                    || op.row().effect == Effect::Read && varying_load(inst);
                if varies {
                    changed |= self.values.insert(result);
                }
            }
            if self.joins.contains(block) {
                for (number, &param) in kernel.block_params(block).iter().enumerate() {
                    if !self.varies(param) && !same_from_everywhere(kernel, flow, block, number) {
                        changed |= self.values.insert(param);
                    }
                }
            }
        }
        changed
    }

    /// Marks the blocks that are affected by a divergent branch at the end of a block.
    fn diverge(&mut self, loops: &Loops, regions: &Regions, block: Block) {
        let region = loops.innermost_of(block);
        let graph = regions.get(region);
        if graph.node(block).is_some_and(|node| self.diverge_in(region, graph, node)) {
            self.leave(loops, regions, region);
        }
    }

    /// Records that items leave a loop in different iterations. The loop then acts like a divergent
    /// branch in the region that contains it.
    fn leave(&mut self, loops: &Loops, regions: &Regions, id: Option<LoopId>) {
        let mut region = id;
        while let Some(id) = region {
            self.leaving.insert(id);
            region = loops.get(id).parent;
            let graph = regions.get(region);
            if !graph.node(loops.get(id).header).is_some_and(|node| self.diverge_in(region, graph, node)) {
                return;
            }
        }
    }

    /// Marks the nodes of a region at which the paths from a divergent branch join. Returns `true`
    /// if some of the paths leave the loop.
    fn diverge_in(&mut self, region: Option<LoopId>, graph: &Region, node: Node) -> bool {
        // The branch is on a path of another divergent branch, whose join nodes include those of this branch.
        if self.divergent_nodes.contains(&(region, node)) {
            return false;
        }
        let meet = graph.postdominator(node);
        let mut apart = graph.between(node, meet);
        self.divergent_nodes.extend(apart.iter().map(|&node| (region, node)));
        apart.push(node);
        let mut reached: FxHashSet<Block> = FxHashSet::default();
        for &node in &apart {
            for &(edge, _) in graph.out.get(node).into_iter().flatten() {
                if !reached.insert(edge.to) {
                    self.joins.insert(edge.to);
                }
            }
        }
        apart.sort_unstable();
        let among = |edges: &[(Edge, Node)]| edges.iter().filter(|(_, from)| apart.binary_search(from).is_ok()).count();
        if among(&graph.back) > 1
            && let Some(&header) = graph.nodes.first()
        {
            self.joins.insert(header);
        }
        among(&graph.leaving) > 0
    }
}

/// Returns `true` if all branches to a block pass the same argument for parameter `number`.
fn same_from_everywhere(kernel: &Kernel, flow: &Flow, block: Block, number: usize) -> bool {
    let mut same: Option<Value> = None;
    for &from in flow.predecessors(block).iter().filter(|&&from| flow.is_reachable(from)) {
        let targets = kernel.terminator(from).map_or(&[][..], |inst| kernel.targets(inst));
        for call in targets.iter().filter(|call| call.block == block) {
            let Some(&arg) = kernel.call_args(call).get(number) else { continue };
            if *same.get_or_insert(arg) != arg {
                return false;
            }
        }
    }
    true
}

/// Regions of a kernel: one for each loop, and one for the code outside of all loops.
pub(super) struct Regions {
    outside: Region,
    inside: Vec<Region>,
}

impl Regions {
    pub(super) fn new(kernel: &Kernel, flow: &Flow, loops: &Loops) -> Regions {
        Regions {
            outside: Region::new(kernel, flow, loops, None),
            inside: loops.ids().map(|id| Region::new(kernel, flow, loops, Some(id))).collect(),
        }
    }

    /// Returns the region of a loop. `None` stands for the code outside of all loops.
    pub(super) fn get(&self, region: Option<LoopId>) -> &Region {
        use cranelift_entity::EntityRef;
        region.and_then(|id| self.inside.get(id.index())).unwrap_or(&self.outside)
    }
}
