//! SSA form of a PTX kernel. Each write of a register defines a value, and phis merge the values of a register where
//! paths join.
//!
//! Most registers are written once, before all reads, and need no phis. Each block at which paths join has a phi for
//! every other register that is live there. Redundant phis are removed afterwards. A register that is read before it is
//! written is zero, as in the PTX interpreter.

use std::collections::{HashMap, HashSet};

use cranelift_entity::EntityRef;
use halfbyte_ir::flow::{Flow, Node as GraphNode};
use halfbyte_isa::ptx::module::Entry;
use halfbyte_isa::ptx::{Inst, Reg};
use halfbyte_isa::row::OperandRole;
use smallvec::SmallVec;

use crate::flow::{End, Node, graph};

/// Number of an SSA value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Val(pub u32);

/// Definition of an SSA value.
#[derive(Clone, Debug)]
pub(crate) enum Def {
    /// The register has not been written, so the value is zero.
    Zero,
    /// The number of the instruction that writes the value. If the instruction is guarded, also the
    /// register's previous value.
    Inst(usize, Option<Val>),
    /// A phi. It has one operand for each predecessor, in the order of [`Function::preds`].
    Phi(Vec<Val>),
}

/// Kernel in SSA form.
pub(crate) struct Function<'e> {
    pub entry: &'e Entry,
    pub nodes: Vec<Node>,
    /// Numbers of the reachable blocks, in reverse postorder.
    pub order: Vec<usize>,
    /// Numbers of the reachable predecessors of each block.
    pub preds: Vec<Vec<usize>>,
    /// For each successor of each reachable block, the index of the edge among the predecessors of the successor.
    pub edges: Vec<SmallVec<[usize; 2]>>,
    /// Phis of each block.
    pub phis: Vec<Vec<Val>>,
    /// Definition and register of each value, indexed by the number of the value.
    pub defs: Vec<(Def, Reg)>,
    /// Value of the predicate on which a block branches. The key is the number of the block.
    pub conditions: HashMap<usize, Val>,
    /// The registers that each instruction reads, with their values.
    reads: Vec<Vec<(Reg, Val)>>,
    /// The registers that each instruction writes, with their new values.
    writes: Vec<Vec<(Reg, Val)>>,
    /// Replacement of each value, indexed by its number. A removed phi has another value as its
    /// replacement, and any other value has itself.
    replacements: Vec<Val>,
    /// The registers that may need phis: registers that several instructions write, and registers
    /// whose only write does not dominate all reads.
    merged: HashSet<Reg>,
    /// The value of each register that is not in `merged`.
    fixed: HashMap<Reg, Val>,
}

type State = HashMap<Reg, Val>;

impl<'e> Function<'e> {
    pub(crate) fn new(entry: &'e Entry) -> Function<'e> {
        let nodes = crate::flow::nodes(entry);
        let flow = graph(&nodes);
        let order: Vec<usize> = flow.reverse_postorder().map(EntityRef::index).collect();
        let mut preds = vec![Vec::new(); nodes.len()];
        let mut edges = vec![SmallVec::new(); nodes.len()];
        for &node in &order {
            for to in nodes.get(node).into_iter().flat_map(|node| node.end.targets()) {
                if let (Some(preds), Some(edges)) = (preds.get_mut(to), edges.get_mut(node)) {
                    edges.push(preds.len());
                    preds.push(node);
                }
            }
        }
        let count = entry.body.insts.len();
        let mut function = Function {
            entry,
            phis: vec![Vec::new(); nodes.len()],
            nodes,
            order,
            preds,
            edges,
            defs: Vec::new(),
            conditions: HashMap::new(),
            reads: vec![Vec::new(); count],
            writes: vec![Vec::new(); count],
            replacements: Vec::new(),
            merged: HashSet::new(),
            fixed: HashMap::new(),
        };
        function.merged = function.merged_registers(&flow);
        function.build();
        function
    }

    /// Returns the value that replaces a value after the removal of redundant phis.
    pub(crate) fn resolve(&self, val: Val) -> Val {
        let mut val = val;
        while let Some(&next) = self.replacements.get(val.0 as usize).filter(|&&next| next != val) {
            val = next;
        }
        val
    }

    /// Returns the definition of a value.
    pub(crate) fn def(&self, val: Val) -> &Def {
        self.defs.get(self.resolve(val).0 as usize).map_or(&Def::Zero, |(def, _)| def)
    }

    /// Returns the register that holds a value in the PTX kernel.
    pub(crate) fn reg(&self, val: Val) -> Reg {
        self.defs.get(val.0 as usize).map_or(Reg(0), |(_, reg)| *reg)
    }

    /// Returns the value of a register that an instruction reads, or `None` if the instruction does
    /// not read the register.
    pub(crate) fn read(&self, inst: usize, reg: Reg) -> Option<Val> {
        let reads = self.reads.get(inst)?;
        reads.iter().find(|(read, _)| *read == reg).map(|(_, val)| self.resolve(*val))
    }

    /// Returns the registers that an instruction writes, with their new values.
    pub(crate) fn writes(&self, inst: usize) -> impl Iterator<Item = (Reg, Val)> {
        self.writes.get(inst).into_iter().flatten().copied()
    }

    /// Returns the instruction with the given number, if any.
    pub(crate) fn inst(&self, inst: usize) -> Option<&'e Inst> {
        self.entry.body.insts.get(inst)
    }

    fn value(&mut self, def: Def, reg: Reg) -> Val {
        let val = Val(self.defs.len() as u32);
        self.defs.push((def, reg));
        self.replacements.push(val);
        val
    }

    fn build(&mut self) {
        let live = self.live();
        let mut ends: Vec<State> = vec![State::new(); self.nodes.len()];
        for number in 0..self.order.len() {
            let Some(&node) = self.order.get(number) else { continue };
            let registers = live.get(node).cloned().unwrap_or_default();
            let before = self.preds.get(node).cloned().unwrap_or_default();
            let mut state = State::with_capacity(registers.len());
            for &reg in &registers {
                let val = match (before.as_slice(), node) {
                    (&[before], 1..) => ends.get(before).and_then(|end| end.get(&reg)).copied(),
                    (&[], _) => None,
                    _ => {
                        let phi = self.value(Def::Phi(Vec::new()), reg);
                        if let Some(phis) = self.phis.get_mut(node) {
                            phis.push(phi);
                        }
                        Some(phi)
                    }
                };
                let val = val.unwrap_or_else(|| self.value(Def::Zero, reg));
                state.insert(reg, val);
            }
            self.node(node, &mut state);
            if let Some(end) = ends.get_mut(node) {
                *end = state;
            }
        }
        self.fill(&ends);
        self.simplify();
    }

    /// Creates the values that a block's instructions define. `state` holds the current value of each register.
    fn node(&mut self, node: usize, state: &mut State) {
        let Some(Node { insts, guarded, end, .. }) = self.nodes.get(node).cloned() else { return };
        for number in insts {
            let Some(inst) = self.inst(number) else { continue };
            let mut reads = Vec::new();
            for (role, reg) in inst.registers() {
                if role != OperandRole::Def && !reads.iter().any(|(read, _)| *read == reg) {
                    reads.push((reg, self.state(state, reg)));
                }
            }
            let mut writes: Vec<(Reg, Val)> = Vec::new();
            for (_, reg) in inst.registers().filter(|(role, _)| *role != OperandRole::Use) {
                // If an instruction writes a register twice, one value represents the result of the last write.
                if writes.iter().any(|(written, _)| *written == reg) {
                    continue;
                }
                let old = (inst.guard.is_some() && !guarded).then(|| self.state(state, reg));
                let val = self.value(Def::Inst(number, old), reg);
                writes.push((reg, val));
            }
            for &(reg, val) in &writes {
                let of = if self.merged.contains(&reg) { &mut *state } else { &mut self.fixed };
                of.insert(reg, val);
            }
            if let Some(of) = self.reads.get_mut(number) {
                *of = reads;
            }
            if let Some(of) = self.writes.get_mut(number) {
                *of = writes;
            }
        }
        if let End::Branch(guard, ..) = end {
            let val = self.state(state, guard.reg);
            self.conditions.insert(node, val);
        }
    }

    fn state(&mut self, state: &mut State, reg: Reg) -> Val {
        let is_merged = self.merged.contains(&reg);
        if let Some(&val) = if is_merged { state.get(&reg) } else { self.fixed.get(&reg) } {
            return val;
        }
        let zero = self.value(Def::Zero, reg);
        if is_merged {
            state.insert(reg, zero)
        } else {
            self.fixed.insert(reg, zero)
        };
        zero
    }

    /// Returns the registers that an instruction of a block reads. A guarded write counts as a
    /// read, because the register keeps its value if the guard is false.
    fn reads_of(node: &Node, inst: &'e Inst) -> impl Iterator<Item = Reg> {
        let kept = inst.guard.is_some() && !node.guarded;
        inst.registers().filter(move |(role, _)| *role != OperandRole::Def || kept).map(|(_, reg)| reg)
    }

    /// Returns the registers that an instruction writes.
    fn writes_of(inst: &'e Inst) -> impl Iterator<Item = Reg> {
        inst.registers().filter(|(role, _)| *role != OperandRole::Use).map(|(_, reg)| reg)
    }

    /// Returns the registers that are written by several instructions, or whose only write does not dominate all reads.
    fn merged_registers(&self, flow: &Flow<GraphNode>) -> HashSet<Reg> {
        let mut merged = HashSet::new();
        let mut written: HashMap<Reg, (usize, usize)> = HashMap::new();
        let nodes = || self.order.iter().filter_map(|&node| Some((node, self.nodes.get(node)?)));
        for (node, of) in nodes() {
            for (number, inst) in of.insts.clone().filter_map(|number| Some((number, self.inst(number)?))) {
                for reg in Self::writes_of(inst) {
                    if *written.entry(reg).or_insert((node, number)) != (node, number) {
                        merged.insert(reg);
                    }
                }
            }
        }
        let mut read = |reg: Reg, node: usize, number: usize| {
            let is_before = |&(block, inst): &(usize, usize)| match block == node {
                true => inst < number,
                false => flow.dominates(GraphNode::new(block), GraphNode::new(node)),
            };
            if written.get(&reg).is_some_and(|written| !is_before(written)) {
                merged.insert(reg);
            }
        };
        for (node, of) in nodes() {
            for (number, inst) in of.insts.clone().filter_map(|number| Some((number, self.inst(number)?))) {
                Self::reads_of(of, inst).for_each(|reg| read(reg, node, number));
            }
            if let End::Branch(guard, ..) = of.end {
                read(guard.reg, node, usize::MAX);
            }
        }
        merged
    }

    /// Returns the registers in `merged` that are live at the start of each block.
    fn live(&self) -> Vec<Vec<Reg>> {
        let mut read: Vec<Vec<Reg>> = vec![Vec::new(); self.nodes.len()];
        let mut written: Vec<HashSet<Reg>> = vec![HashSet::new(); self.nodes.len()];
        let is_merged = |reg: &Reg| self.merged.contains(reg);
        for &node in &self.order {
            let (Some(of), Some(read), Some(written)) =
                (self.nodes.get(node), read.get_mut(node), written.get_mut(node))
            else {
                continue;
            };
            for inst in of.insts.clone().filter_map(|number| self.inst(number)) {
                read.extend(Self::reads_of(of, inst).filter(|reg| is_merged(reg) && !written.contains(reg)));
                written.extend(Self::writes_of(inst).filter(is_merged));
            }
            if let End::Branch(guard, ..) = of.end
                && is_merged(&guard.reg)
                && !written.contains(&guard.reg)
            {
                read.push(guard.reg);
            }
        }
        let mut work: Vec<(usize, Reg)> = Vec::new();
        for (node, regs) in read.iter().enumerate() {
            work.extend(regs.iter().map(|&reg| (node, reg)));
        }
        let mut live: Vec<HashSet<Reg>> = vec![HashSet::new(); self.nodes.len()];
        while let Some((node, reg)) = work.pop() {
            if !live.get_mut(node).is_some_and(|live| live.insert(reg)) {
                continue;
            }
            for &before in self.preds.get(node).into_iter().flatten() {
                if !written.get(before).is_some_and(|written| written.contains(&reg)) {
                    work.push((before, reg));
                }
            }
        }
        let sorted = |set: HashSet<Reg>| {
            let mut regs: Vec<Reg> = set.into_iter().collect();
            regs.sort_unstable();
            regs
        };
        live.into_iter().map(sorted).collect()
    }

    /// Sets the operands of the phis. `ends` holds the values of the registers at the end of each block.
    fn fill(&mut self, ends: &[State]) {
        for node in 0..self.nodes.len() {
            for number in 0..self.phis.get(node).map_or(0, Vec::len) {
                let Some(&phi) = self.phis.get(node).and_then(|phis| phis.get(number)) else { continue };
                let reg = self.reg(phi);
                let before = self.preds.get(node).cloned().unwrap_or_default();
                let found: Vec<Option<Val>> =
                    before.iter().map(|&before| ends.get(before)?.get(&reg).copied()).collect();
                let mut vals: Vec<Val> =
                    found.into_iter().map(|val| val.unwrap_or_else(|| self.value(Def::Zero, reg))).collect();
                // The first block has the entry of the kernel as an additional predecessor. All
                // registers are zero there.
                if node == 0 {
                    vals.insert(0, self.value(Def::Zero, reg));
                }
                if let Some((Def::Phi(of), _)) = self.defs.get_mut(phi.0 as usize) {
                    *of = vals;
                }
            }
        }
    }

    /// Removes phis whose operands are all the same value or the phi itself.
    fn simplify(&mut self) {
        loop {
            let mut changed = false;
            for node in 0..self.nodes.len() {
                let phis = self.phis.get(node).cloned().unwrap_or_default();
                let mut kept = Vec::with_capacity(phis.len());
                for phi in phis {
                    let Some((Def::Phi(vals), _)) = self.defs.get(phi.0 as usize) else { continue };
                    let mut others = vals.iter().map(|&val| self.resolve(val)).filter(|&val| val != phi);
                    match others.next() {
                        Some(first) if others.all(|val| val == first) => {
                            if let Some(same) = self.replacements.get_mut(phi.0 as usize) {
                                *same = first;
                            }
                            changed = true;
                        }
                        _ => kept.push(phi),
                    }
                }
                if let Some(of) = self.phis.get_mut(node) {
                    *of = kept;
                }
            }
            if !changed {
                return;
            }
        }
    }
}
