//! Which values vary from work item to work item: those that depend on the item's number, through operands, through loads
//! at varying addresses, or through branches that vary.

use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::{Block, Effect, Flow, Inst, Kernel, Op, Value};
use rustc_hash::FxHashSet;

use crate::passes::loops::{LoopId, Loops};

use super::region::{Edge, Node, Region};

/// What turns out to vary when a kernel is converted.
#[derive(Default)]
pub(super) struct Varying {
    /// Loads.
    pub loads: EntitySet<Inst>,
    /// Blocks at whose end items may diverge.
    pub branches: EntitySet<Block>,
    /// Loops that items leave in different iterations.
    pub loops: Vec<LoopId>,
}

/// What varies in a kernel. Everything else is uniform: the same for all items that reach it.
pub(super) struct Uniformity {
    values: EntitySet<Value>,
    /// Blocks whose parameters vary because items come from different predecessors.
    joins: EntitySet<Block>,
    /// Loops that items leave in different iterations, so that what they compute varies outside.
    leaving: EntitySet<LoopId>,
    /// Blocks at whose end items diverge, whatever the branch depends on.
    parting: EntitySet<Block>,
    /// By region, nodes that lie between one at which items diverge and where these reconverge.
    apart: FxHashSet<(Option<LoopId>, Node)>,
    /// Blocks that define each value.
    home: SecondaryMap<Value, Option<Block>>,
}

impl Uniformity {
    /// Of a kernel with branches of any kind. The branches and loops `known` vary, whatever is found.
    pub fn new(
        kernel: &Kernel,
        flow: &Flow,
        loops: &Loops,
        regions: &Regions,
        known: &Varying,
        varying_load: &dyn Fn(Inst) -> bool,
    ) -> Uniformity {
        let mut uniformity = Uniformity::without_branches(kernel, flow, varying_load);
        uniformity.parting = known.branches.clone();
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

    /// Of a kernel whose branches are the same for all items, whatever they depend on.
    pub fn without_branches(kernel: &Kernel, flow: &Flow, varying_load: &dyn Fn(Inst) -> bool) -> Uniformity {
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
            parting: EntitySet::new(),
            apart: FxHashSet::default(),
            home,
        };
        while uniformity.spread(kernel, flow, None, varying_load) {}
        uniformity
    }

    /// The block that defines a value; none for a parameter of the kernel.
    pub fn home(&self, value: Value) -> Option<Block> {
        self.home[value]
    }

    /// Whether the value, in the block that defines it, varies.
    pub fn varies(&self, value: Value) -> bool {
        self.values.contains(value)
    }

    /// Whether the value varies in this block: also where items left the loop that computes it in different iterations.
    fn varies_in(&self, loops: Option<&Loops>, value: Value, block: Block) -> bool {
        self.varies(value)
            || loops.zip(self.home[value]).is_some_and(|(loops, home)| {
                loops.nest(home).any(|id| self.leaving.contains(id) && !loops.get(id).contains(block))
            })
    }

    /// Whether items may diverge at the end of a block.
    pub fn branch_varies(&self, kernel: &Kernel, loops: &Loops, block: Block) -> bool {
        let Some(branch) = kernel.terminator(block) else { return false };
        self.parting.contains(block) || kernel.args(branch).iter().any(|&arg| self.varies_in(Some(loops), arg, block))
    }

    /// One round over the kernel; whether anything new was found.
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

    /// Notes what it means that items diverge at the end of a block.
    fn diverge(&mut self, loops: &Loops, regions: &Regions, block: Block) {
        let region = loops.around(block);
        let graph = regions.get(region);
        if graph.node(block).is_some_and(|node| self.diverge_in(region, graph, node)) {
            self.leave(loops, regions, region);
        }
    }

    /// Notes that items leave a loop apart, which is a branch of the region around it.
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

    /// Marks where ways from a node of a region meet; whether some leave the region's loop.
    fn diverge_in(&mut self, region: Option<LoopId>, graph: &Region, node: Node) -> bool {
        // What there is to find was found with the node before it.
        if self.apart.contains(&(region, node)) {
            return false;
        }
        let meet = graph.postdominator(node);
        let mut apart = graph.between(node, meet);
        self.apart.extend(apart.iter().map(|&node| (region, node)));
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

/// Whether all branches to a block give the parameter the same value.
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

/// The regions of a kernel.
pub(super) struct Regions {
    outside: Region,
    inside: Vec<Region>,
}

impl Regions {
    pub fn new(kernel: &Kernel, flow: &Flow, loops: &Loops) -> Regions {
        Regions {
            outside: Region::new(kernel, flow, loops, None),
            inside: loops.ids().map(|id| Region::new(kernel, flow, loops, Some(id))).collect(),
        }
    }

    /// That of a loop, or the one outside of all loops.
    pub fn get(&self, region: Option<LoopId>) -> &Region {
        use cranelift_entity::EntityRef;
        region.and_then(|id| self.inside.get(id.index())).unwrap_or(&self.outside)
    }
}
