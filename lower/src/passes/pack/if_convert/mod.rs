//! If-conversion for packing: makes control flow uniform.
//!
//! The converted kernel still describes a single work item, but its blocks are executed one after another. Selects
//! replace branches, and a load or store that not all items execute gets a guard. A uniform branch is kept if no load
//! or store depends on it.
//!
//! Loops are kept. If all items leave a loop together, the loop keeps its exit test. Any other loop becomes masked. A
//! masked loop continues while the item is active, and preserves the values that are used after the loop once the item
//! is inactive. When the items of a group are executed together, a masked loop continues while any of them is active.

pub(crate) mod loop_convert;

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityRef, EntitySet, SecondaryMap};
use halfbyte_ir::{Attr, Block, BlockData, Effect, Flow, Inst, IntCC, Kernel, Op, TripCount, Type, Value, ValueList};

use crate::passes::loops::{LoopId, Loops};

use super::affine::AffineAnalysis;
use super::code::KernelBuilder;
use super::masks::{Condition, Mask, MaskedEdge, Masks};
use super::region::{Edge, Node, Region};
use super::trips::Counted;
use super::uniformity::{Regions, Uniformity};
use loop_convert::LoopState;

/// Kernel to convert, with the analyses that the conversion uses.
#[derive(Clone, Copy)]
pub(super) struct Analyses<'a> {
    pub kernel: &'a Kernel,
    pub flow: &'a Flow,
    pub loops: &'a Loops,
    pub regions: &'a Regions,
    pub uniformity: &'a Uniformity,
    pub sums: &'a AffineAnalysis<'a>,
    /// Counted exits of each loop.
    pub counted: &'a [Vec<Counted>],
}

/// A load or store of a converted kernel.
pub(super) struct Site {
    pub inst: Inst,
    /// Condition under which the item executes the access; `None` if it always does.
    pub guard: Option<Value>,
    /// Loops that contain the access, outermost first.
    pub steps: Vec<SiteStep>,
}

/// A loop that contains an access.
#[derive(Clone)]
pub(super) struct SiteStep {
    pub number: u32,
    pub header: Block,
    /// Iteration number (counted from 0) and trip count, if the trip count is known at launch.
    pub counted: Option<(Value, TripCount)>,
}

/// A loop of the source whose trip count must be the same in the converted kernel.
pub(super) struct Count {
    pub id: LoopId,
    pub by: Counted,
    /// Block of the converted kernel whose branch is the loop's exit test.
    pub test: Block,
}

/// A converted kernel, with its loads and stores in program order.
pub(super) struct Converted {
    pub kernel: Kernel,
    pub sites: Vec<Site>,
    /// Loops of the source that became masked loops.
    pub masked: Vec<LoopId>,
    /// Blocks of the converted kernel whose branch is the exit test of a loop.
    pub gates: Vec<Block>,
    pub counts: Vec<Count>,
    /// Branches that were not converted: the block of the source, and the block of the converted
    /// kernel that the branch ends.
    pub unconverted_branches: Vec<(Block, Block)>,
}

/// Converts the control flow of a kernel.
pub(super) fn convert(analyses: Analyses<'_>) -> Converted {
    let mut kernel = analyses.kernel.clone();
    for data in kernel.blocks.values_mut() {
        data.insts.clear();
    }
    kernel.layout.clear();
    let entry = analyses.kernel.entry().unwrap_or_else(|| Block::from_u32(0));
    let mut converter = Converter {
        used_outside: used_outside(&analyses),
        of: analyses,
        code: KernelBuilder { kernel, block: entry, span: analyses.kernel.span },
        layout: vec![entry],
        now: SecondaryMap::new(),
        real: None,
        head: Vec::new(),
        around: Vec::new(),
        sites: Vec::new(),
        masked: Vec::new(),
        gates: Vec::new(),
        counts: Vec::new(),
        stayed: Vec::new(),
        tested: None,
        places: SecondaryMap::new(),
    };
    for (place, &block) in (0..).zip(&analyses.kernel.layout) {
        converter.places[block] = place;
    }
    let graph = analyses.regions.get(None);
    converter.region(graph, &mut Masks::new(None, graph.nodes.len()), None);
    converter.code.ret();
    let Converter {
        code: KernelBuilder { mut kernel, .. },
        layout,
        sites,
        masked,
        gates,
        counts,
        stayed,
        mut head,
        ..
    } = converter;
    head.append(&mut kernel.blocks[entry].insts);
    kernel.blocks[entry].insts = head;
    kernel.layout = layout;
    Converted { kernel, sites, masked, gates, counts, unconverted_branches: stayed }
}

/// Returns, for each loop, the values that are defined in the loop and used outside of it.
fn used_outside(of: &Analyses<'_>) -> Vec<Vec<Value>> {
    let Analyses { kernel, loops, .. } = *of;
    let mut found: Vec<EntitySet<Value>> = loops.ids().map(|_| EntitySet::new()).collect();
    let mut note = |value: Value, at: &dyn Fn(LoopId) -> bool| {
        let Some(home) = of.uniformity.home(value) else { return };
        for id in loops.nest(home).filter(|&id| !at(id)) {
            if let Some(found) = found.get_mut(id.index()) {
                found.insert(value);
            }
        }
    };
    for &block in kernel.layout.iter().filter(|&&block| of.flow.is_reachable(block)) {
        for &inst in &kernel.blocks[block].insts {
            for &arg in kernel.args(inst) {
                note(arg, &|id| loops.get(id).contains(block));
            }
            for call in kernel.targets(inst) {
                for &arg in kernel.call_args(call) {
                    note(arg, &|id| loops.get(id).contains(block) && loops.get(id).contains(call.block));
                }
            }
        }
    }
    found.iter().map(|found| found.iter().collect()).collect()
}

/// State of the conversion of a kernel.
pub(super) struct Converter<'a> {
    pub of: Analyses<'a>,
    /// For each loop, the values that are defined in the loop and used outside of it.
    pub used_outside: Vec<Vec<Value>>,
    pub code: KernelBuilder,
    layout: Vec<Block>,
    /// Current replacement of each value of the source.
    pub now: SecondaryMap<Value, PackedOption<Value>>,
    /// Value that is `true` if the item belongs to the launch, once it has been created.
    real: Option<Value>,
    /// Instructions to insert at the start of the kernel.
    head: Vec<Inst>,
    /// Loops around the current position in the source, outermost first.
    pub around: Vec<SiteStep>,
    sites: Vec<Site>,
    pub masked: Vec<LoopId>,
    pub gates: Vec<Block>,
    pub counts: Vec<Count>,
    stayed: Vec<(Block, Block)>,
    /// Block that ends with the latest exit test, and the block in which the loop continues after the test.
    pub tested: Option<(Block, Block)>,
    /// Position of each block in the layout of the source.
    places: SecondaryMap<Block, u32>,
}

impl<'a> Converter<'a> {
    /// Returns the current replacement of a value of the source.
    pub(super) fn current(&self, mut value: Value) -> Value {
        while let Some(next) = self.now[value].expand() {
            value = next;
        }
        value
    }

    /// Returns the arguments that an edge passes, as values of the converted kernel.
    fn arguments(&self, edge: Edge) -> Vec<Value> {
        let branch = self.of.kernel.terminator(edge.from);
        let call = branch.and_then(|inst| self.of.kernel.targets(inst).get(edge.number));
        call.map_or(&[][..], |call| self.of.kernel.call_args(call)).iter().map(|&arg| self.current(arg)).collect()
    }

    /// Returns the argument that an edge passes for parameter `number`, as a value of the converted kernel.
    pub(super) fn argument(&self, edge: Edge, number: usize) -> Option<Value> {
        let branch = self.of.kernel.terminator(edge.from)?;
        let call = self.of.kernel.targets(branch).get(edge.number)?;
        Some(self.current(*self.of.kernel.call_args(call).get(number)?))
    }

    pub(super) fn go_on_in(&mut self, block: Block) {
        self.code.block = block;
        self.layout.push(block);
    }

    /// Emits the back edge to a loop's header. If no instruction follows the exit test, the test
    /// itself branches to the header.
    pub(super) fn go_back(&mut self, header: Block, args: &[Value]) {
        let kernel = &mut self.code.kernel;
        if let (Some((test, on)), true) = (self.tested, kernel.blocks[self.code.block].insts.is_empty())
            && on == self.code.block
            && let Some(branch) = kernel.terminator(test)
            && let Attr::Targets(range) = kernel.insts[branch].attr
            && let Some(number) = kernel.calls(range).iter().position(|call| call.block == on)
        {
            let args = ValueList::from_slice(args, &mut kernel.pool);
            if let Some(call) = kernel.calls_mut(range).get_mut(number) {
                (call.block, call.args) = (header, args);
            }
            self.layout.pop();
            return;
        }
        self.code.branch(Op::Br, &[], &[(header, args)]);
    }

    /// Creates a block that is not yet in the layout.
    pub(super) fn new_block(&mut self) -> Block {
        self.code.kernel.blocks.push(BlockData::default())
    }

    /// Returns the condition that the item belongs to the launch. The last group may contain items
    /// beyond the launch, which must not keep a loop running.
    pub(super) fn is_in_launch(&mut self) -> Condition {
        let value = self.real.unwrap_or_else(|| {
            let kernel = &mut self.code.kernel;
            let mut make = |op, ty, attr, args: &[Value], result| {
                let inst = kernel.make_inst(op, ty, attr, args, Some(result), kernel.span);
                self.head.push(inst);
                kernel.result(inst)
            };
            let item = make(Op::ItemId, Type::I32, Attr::None, &[], Type::I32);
            let count = make(Op::ItemCount, Type::I32, Attr::None, &[], Type::I32);
            let operands: Vec<Value> = item.into_iter().chain(count).collect();
            let value = make(Op::Icmp, Type::I32, Attr::IntCC(IntCC::LtU), &operands, Type::I1);
            value.unwrap_or_else(|| Value::from_u32(0))
        });
        self.real = Some(value);
        Condition { value, negated: false }
    }

    /// Returns `true` if a block contains loads or stores.
    pub(super) fn accesses(&self, block: Block) -> bool {
        let effect = |&inst: &Inst| self.of.kernel.insts[inst].op.row().effect;
        self.of.kernel.blocks[block].insts.iter().any(|inst| matches!(effect(inst), Effect::Read | Effect::Write))
    }

    /// Returns, for each node, `true` if its branch need not be converted. The branch and all
    /// branches up to its post-dominator must be uniform, and no load or store may depend on them.
    fn plain(&self, graph: &Region) -> Vec<bool> {
        let varies = |block| self.of.uniformity.branch_varies(self.of.kernel, self.of.loops, block);
        let chooses = |block| varies(block) || self.accesses(block);
        let nodes = || graph.nodes.iter().zip(&graph.inner);
        let marked: Vec<bool> = nodes()
            .map(|(&block, inner)| match *inner {
                Some(id) => self.of.loops.get(id).blocks().any(chooses),
                None => chooses(block),
            })
            .collect();
        let own = nodes().zip(&marked).map(|((&block, inner), &marked)| match inner {
            Some(_) => marked,
            None => varies(block),
        });
        own.zip(graph.leads_to(&marked)).map(|(own, leads)| !own && !leads).collect()
    }

    /// Converts the nodes of a region in order. The caller has set the parameters of the first node.
    pub(super) fn region(&mut self, graph: &'a Region, masks: &mut Masks, mut state: Option<&mut LoopState>) {
        let mut kept: EntitySet<Block> = EntitySet::new();
        let plain = self.plain(graph);
        for (node, (&block, &inner)) in graph.nodes.iter().zip(&graph.inner).enumerate() {
            if kept.contains(block) {
                continue;
            }
            let values = if node > 0 { self.joined(graph, masks, node, block) } else { Vec::new() };
            if plain.get(node) == Some(&true)
                && let Some((meet, inside)) = self.staying(graph, masks, node)
            {
                kept.extend(inside.iter().filter_map(|&node| graph.nodes.get(node)).copied());
                self.keep(graph, masks, node, &values, meet, &inside);
                continue;
            }
            let mut taken = match inner {
                Some(id) => self.convert_loop(graph, masks, node, id, &values),
                None => {
                    self.give(block, &values);
                    self.body(graph, masks, node, block);
                    self.ways_out(block)
                }
            };
            if let Some(state) = state.as_deref_mut() {
                self.gate(graph, masks, state, node, &mut taken);
            }
            for (edge, mask) in taken {
                let to = graph.out.get(node).into_iter().flatten().find(|(known, _)| *known == edge);
                match to {
                    Some(&(_, to)) => {
                        let args = self.arguments(edge);
                        masks.ways.get_mut(to).into_iter().for_each(|ways| {
                            ways.push(MaskedEdge { from: node, mask, args: args.clone() });
                        });
                    }
                    None if graph.back.contains(&(edge, node)) => masks.back.push((edge, node, mask)),
                    None => masks.leaving.push((edge, node, mask)),
                }
            }
        }
    }

    /// Returns the value of each parameter of a node, merged from the arguments of all edges into the node.
    fn joined(&mut self, graph: &Region, masks: &mut Masks, node: Node, block: Block) -> Vec<Value> {
        let count = self.of.kernel.block_params(block).len();
        self.code.span = self.of.kernel.blocks[block].span;
        let merged = (0..count).filter_map(|number| {
            let ways = masks.ways.get(node).into_iter().flatten();
            let ways: Vec<(Node, Mask, Value)> =
                ways.filter_map(|way| Some((way.from, way.mask, *way.args.get(number)?))).collect();
            masks.merge(&mut self.code, graph, &ways, graph.dominator(node))
        });
        merged.collect()
    }

    /// Records the values that replace a block's parameters.
    fn give(&mut self, block: Block, values: &[Value]) {
        for (&param, &value) in self.of.kernel.block_params(block).iter().zip(values) {
            self.now[param] = value.into();
            self.code.kernel.inherit_value_name(value, param);
        }
    }

    /// Converts the instructions of a block, without its branch.
    fn body(&mut self, graph: &Region, masks: &mut Masks, node: Node, block: Block) {
        let kernel = self.of.kernel;
        for &inst in &kernel.blocks[block].insts {
            let data = &kernel.insts[inst];
            self.code.span = data.span;
            match data.op.row().effect {
                Effect::Terminator => break,
                // A kernel with collective operations has already been refused.
                Effect::Pure | Effect::Atomic | Effect::Fence | Effect::Convergent => {}
                Effect::Read | Effect::Write => {
                    let mask = masks.at(&mut self.code, graph, node);
                    let guard = mask.map(|condition| self.code.truth(condition));
                    self.sites.push(Site { inst, guard, steps: self.around.clone() });
                }
            }
            self.place(inst);
        }
    }

    /// Appends an instruction of the source to the current block.
    fn place(&mut self, inst: Inst) {
        let args: Vec<Value> = self.of.kernel.args(inst).iter().map(|&arg| self.current(arg)).collect();
        let kernel = &mut self.code.kernel;
        let mut list = kernel.insts[inst].args;
        list.as_mut_slice(&mut kernel.pool).copy_from_slice(&args);
        kernel.blocks[self.code.block].insts.push(inst);
    }

    /// Returns the edges out of a block, each with the mask of the items that take it.
    fn ways_out(&mut self, block: Block) -> Vec<(Edge, Mask)> {
        let kernel = self.of.kernel;
        let Some(branch) = kernel.terminator(block) else { return Vec::new() };
        self.code.span = kernel.insts[branch].span;
        let condition = kernel.args(branch).first().map(|&arg| Condition { value: self.current(arg), negated: false });
        let way = |(number, call): (usize, &halfbyte_ir::BlockCall)| {
            let mask = condition.map(|condition| if number == 0 { condition } else { condition.complement() });
            (Edge { from: block, number, to: call.block }, mask)
        };
        kernel.targets(branch).iter().enumerate().map(way).collect()
    }

    /// Returns the post-dominator of a node and the nodes between them, if the node's branch can be
    /// kept. Returns `None` if the branch must be converted.
    fn staying(&mut self, graph: &Region, masks: &mut Masks, node: Node) -> Option<(Node, Vec<Node>)> {
        let meet = graph.postdominator(node)?;
        let inside = graph.between(node, Some(meet));
        let inner = graph.inner.get(node).copied().flatten();
        if inside.iter().any(|&inside| !graph.dominates(node, inside)) || inner.is_none() && inside.is_empty() {
            return None;
        }
        let has_loop = inner.is_some() || inside.iter().any(|&node| graph.inner.get(node).is_some_and(Option::is_some));
        // A loop that no item enters might never end.
        (!has_loop || masks.at(&mut self.code, graph, node).is_none()).then_some((meet, inside))
    }

    /// Returns the blocks of several nodes, in the order of the source.
    fn blocks_of(&self, graph: &Region, nodes: impl Iterator<Item = Node>) -> Vec<Block> {
        let mut all: Vec<Block> = Vec::new();
        for node in nodes {
            match graph.inner.get(node) {
                Some(&Some(id)) => all.extend(self.of.loops.get(id).blocks()),
                _ => all.extend(graph.nodes.get(node)),
            }
        }
        all.sort_unstable_by_key(|&block| self.places[block]);
        all
    }

    /// Copies a node and the nodes `inside`, which lead to the post-dominator `meet`, with their branches.
    fn keep(&mut self, graph: &Region, masks: &mut Masks, node: Node, values: &[Value], meet: Node, inside: &[Node]) {
        let kernel = self.of.kernel;
        let (Some(&block), Some(&meeting)) = (graph.nodes.get(node), graph.nodes.get(meet)) else { return };
        let join = self.new_block();
        let params = kernel.block_params(meeting).iter().map(|&param| kernel.ty(param));
        let params: Vec<Value> = params.map(|ty| self.code.kernel.add_block_param(join, ty)).collect();
        let is_loop = graph.inner.get(node).is_some_and(Option::is_some);
        if is_loop {
            self.code.branch(Op::Br, &[], &[(block, values)]);
        } else {
            self.give(block, values);
            self.body(graph, masks, node, block);
            self.keep_branch(block, meeting, join);
        }
        let first = is_loop.then_some(node);
        for block in self.blocks_of(graph, first.into_iter().chain(inside.iter().copied())) {
            self.go_on_in(block);
            for &inst in kernel.blocks[block].insts.iter().filter(|&&inst| !kernel.insts[inst].op.is_terminator()) {
                self.place(inst);
            }
            self.keep_branch(block, meeting, join);
        }
        self.go_on_in(join);
        masks.ways.get_mut(meet).into_iter().for_each(|ways| {
            ways.push(MaskedEdge { from: node, mask: None, args: params.clone() });
        });
    }

    /// Copies a block's branch, with the target `join` in place of the post-dominator `meeting`.
    fn keep_branch(&mut self, block: Block, meeting: Block, join: Block) {
        let kernel = self.of.kernel;
        let Some(branch) = kernel.terminator(block) else { return };
        self.code.span = kernel.insts[branch].span;
        self.stayed.push((block, self.code.block));
        let edges = kernel.targets(branch).iter().enumerate();
        let edges = edges.map(|(number, call)| Edge { from: block, number, to: call.block });
        let to = |edge: Edge| (if edge.to == meeting { join } else { edge.to }, self.arguments(edge));
        let targets: Vec<(Block, Vec<Value>)> = edges.map(to).collect();
        let targets: Vec<(Block, &[Value])> = targets.iter().map(|(block, args)| (*block, args.as_slice())).collect();
        let args: Vec<Value> = kernel.args(branch).iter().map(|&arg| self.current(arg)).collect();
        self.code.branch(kernel.insts[branch].op, &args, &targets);
    }
}
