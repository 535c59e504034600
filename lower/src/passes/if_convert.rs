//! If-conversion: replaces a branch with two short sides and a common join block by selects.
//!
//! The kernel then computes both sides, and the condition selects the value of each parameter of
//! the join block. Every op is total, so computing an unused result is harmless. Sides with loads
//! or stores are not converted, because instruction selection can predicate them.
//!
//! A conversion may add at most [`EXTRA`] instructions to those of the longer side, about the cost of the branches and
//! moves that it removes. The longer side may have at most [`LONGEST`] instructions. Without the conversion, a row
//! skips the longer side if all its items take the shorter side.
//!
//! For targets whose items share vectors, the pass does nothing: `pack` converts branches, because
//! it knows which branches are uniform.

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};
use halfbyte_ir::{Attr, Block, BlockCall, Inst, Kernel, Op, Type, Value, ValueList};

use crate::pass::{BuiltIn, Context, Order};
use crate::trace::{ChangeKind, Report};

/// The `if_convert` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "if_convert",
    description: "converts branches with cheap sides to selects",
    order: &[(
        Order::Before("pack"),
        "on a target whose items share vectors, vectorisation leaves fewer branches to convert",
    )],
    run,
};

/// Maximum number of instructions that a conversion may add to those of the longer side.
const EXTRA: u32 = 4;
/// Maximum number of instructions on the longer side of a converted branch.
const LONGEST: u32 = 16;
/// Maximum number of blocks and instructions on a side, including instructions without a cost.
const MOST: usize = 256;

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    if kernel.layout.len() < 2 || context.legality.lanes().is_some() {
        return false;
    }
    let flow = context.flow(kernel);
    let mut edges: SecondaryMap<Block, u32> = SecondaryMap::new();
    for block in flow.reverse_postorder() {
        edges[block] = flow.predecessors(block).iter().filter(|&&from| flow.is_reachable(from)).count() as u32;
    }
    let mut converter = Converter {
        kernel,
        context,
        edges,
        lines: SecondaryMap::new(),
        gone: EntitySet::new(),
        replaced: SecondaryMap::new(),
        changed: false,
    };
    // Reverse order, so that branches inside a side are converted before the branch around the side.
    let mut poll = converter.context.poll();
    for block in flow.reverse_postorder().rev() {
        if poll.is_stopped() {
            return true;
        }
        while let Some(fork) = converter.fork(block) {
            converter.convert(block, &fork);
        }
    }
    let Converter { gone, replaced, changed, lines, .. } = converter;
    if changed {
        straighten(kernel, &lines, &gone);
        // Unreachable blocks are also removed, because they may branch to removed blocks.
        kernel.layout.retain(|&block| flow.is_reachable(block) && !gone.contains(block));
        kernel.replace_uses(&replaced);
    } else {
        context.keep_flow(flow);
    }
    changed
}

/// Moves the instructions of joined blocks to the end of the block that they are joined to.
fn straighten(kernel: &mut Kernel, lines: &SecondaryMap<Block, JoinedBlocks>, gone: &EntitySet<Block>) {
    for &block in kernel.layout.iter().filter(|&&block| !gone.contains(block)) {
        let mut next = lines[block].next.expand();
        while let Some(at) = next {
            let insts = std::mem::take(&mut kernel.blocks[at].insts);
            kernel.blocks[block].insts.extend(insts);
            next = lines[at].next.expand();
        }
    }
}

/// Linked list of blocks that will be appended to a block. The instructions are moved once, at the
/// end of the pass. Moving them at each join would take quadratic time.
#[derive(Clone, Copy, Default)]
struct JoinedBlocks {
    /// The next block of the linked list.
    next: PackedOption<Block>,
    /// The last block of the linked list; set only in the first block.
    last: PackedOption<Block>,
}

/// A branch that can be converted to selects.
struct Fork {
    branch: Inst,
    condition: Value,
    /// Block of each side; `None` if the branch goes directly to the join block.
    sides: [Option<Block>; 2],
    join: Block,
    /// Arguments that each side passes to `join`.
    given: [Vec<Value>; 2],
}

struct Converter<'k, 'c, 'l> {
    kernel: &'k mut Kernel,
    context: &'c mut Context<'l>,
    /// Number of edges into each block.
    edges: SecondaryMap<Block, u32>,
    lines: SecondaryMap<Block, JoinedBlocks>,
    gone: EntitySet<Block>,
    replaced: SecondaryMap<Value, PackedOption<Value>>,
    changed: bool,
}

impl Converter<'_, '_, '_> {
    /// Returns the last block of the list that begins at a block.
    fn last(&self, block: Block) -> Block {
        self.lines[block].last.expand().unwrap_or(block)
    }

    /// Appends the list that begins at `from` to the list that begins at `to`.
    fn join(&mut self, to: Block, from: Block) {
        self.gone.insert(from);
        if self.last(from) == from && self.kernel.blocks[from].insts.is_empty() {
            return;
        }
        let (end, last) = (self.last(to), self.last(from));
        self.lines[end].next = from.into();
        self.lines[to].last = last.into();
    }

    /// Returns the branch at the end of a block, if it should be converted to selects.
    fn fork(&self, block: Block) -> Option<Fork> {
        let kernel = &*self.kernel;
        let branch = kernel.terminator(self.last(block)).filter(|&inst| kernel.insts[inst].op == Op::BrIf)?;
        let (&[then, otherwise], &[condition]) = (kernel.targets(branch), kernel.args(branch)) else { return None };
        let ways = [then, otherwise];
        let ends = ways.map(|way| self.end(&way));
        let (sides, calls) = match ends {
            [Some(a), Some(b)] if a.block == b.block => ([Some(then.block), Some(otherwise.block)], [a, b]),
            [Some(a), _] if a.block == otherwise.block => ([Some(then.block), None], [a, otherwise]),
            [_, Some(b)] if b.block == then.block => ([None, Some(otherwise.block)], [then, b]),
            _ if then.block == otherwise.block => ([None, None], ways),
            _ => return None,
        };
        let join = calls[0].block;
        let costs = [self.cost(sides[0])?, self.cost(sides[1])?];
        let given = [0, 1].map(|way: usize| self.given(&ways[way], sides[way], &calls[way]));
        let mut selects = 0;
        for (&a, &b) in given[0].iter().zip(&given[1]) {
            if a != b {
                let ty = kernel.ty(a);
                selects += self.context.legality.is_native(Op::Select, ty).then(|| words(ty))?;
            }
        }
        let [shorter, longer] = [costs[0].min(costs[1]), costs[0].max(costs[1])];
        let pays = shorter + selects <= EXTRA && longer <= LONGEST;
        pays.then_some(Fork { branch, condition, sides, join, given })
    }

    /// Returns the target of the unconditional branch that ends a side, if the side has no other predecessor.
    fn end(&self, call: &BlockCall) -> Option<BlockCall> {
        let kernel = &*self.kernel;
        let inst = kernel.terminator(self.last(call.block)).filter(|&inst| kernel.insts[inst].op == Op::Br)?;
        kernel.targets(inst).first().copied().filter(|_| self.edges[call.block] == 1)
    }

    /// Returns the number of instructions of a side, or `None` if the side is too long, or has side effects or an
    /// expensive op.
    fn cost(&self, side: Option<Block>) -> Option<u32> {
        let (mut cost, mut count) = (0, 0);
        for block in std::iter::successors(side, |&block| self.lines[block].next.expand()) {
            let insts = &self.kernel.blocks[block].insts;
            count += 1 + insts.len();
            if count > MOST {
                return None;
            }
            for &inst in insts {
                let data = &self.kernel.insts[inst];
                let is_dear = matches!(data.op, Op::Fdiv | Op::Fsqrt) || data.op.is_approximate();
                let is_cheap = data.op.is_pure() && !is_dear;
                cost += match data.op {
                    // Most constants become immediate operands of the instructions that use them.
                    Op::Const | Op::Br => 0,
                    _ if is_cheap && self.context.legality.is_native(data.op, data.ty) => words(data.ty),
                    _ => return None,
                };
                if cost > LONGEST {
                    return None;
                }
            }
        }
        Some(cost)
    }

    /// Returns the arguments that a side passes to the join block.
    fn given(&self, start: &BlockCall, side: Option<Block>, end: &BlockCall) -> Vec<Value> {
        let kernel = &*self.kernel;
        let params = side.map_or(&[][..], |block| kernel.block_params(block));
        let known = |value: Value| self.replaced[value].expand().unwrap_or(value);
        let given = kernel.call_args(end).iter().map(|&arg| {
            let param = params.iter().position(|&param| param == arg);
            known(param.and_then(|number| kernel.call_args(start).get(number).copied()).unwrap_or(arg))
        });
        given.collect()
    }

    fn convert(&mut self, block: Block, fork: &Fork) {
        let before = self.context.trace.before(self.kernel, fork.branch);
        let span = self.kernel.insts[fork.branch].span;
        let end = self.last(block);
        self.kernel.blocks[end].insts.pop();
        for (way, side) in fork.sides.into_iter().enumerate() {
            if let Some(side) = side {
                self.take(block, fork, way, side);
            }
        }
        let end = self.last(block);
        let is_only = self.edges[fork.join] == 2;
        let mut made = Vec::new();
        let mut chosen = Vec::with_capacity(fork.given[0].len());
        for (number, (&a, &b)) in fork.given[0].iter().zip(&fork.given[1]).enumerate() {
            if a == b {
                chosen.push(a);
                continue;
            }
            let ty = self.kernel.ty(a);
            let args = [fork.condition, a, b];
            let inst = self.kernel.push_inst(end, Op::Select, ty, Attr::None, &args, Some(ty), span);
            made.push(inst);
            let selected = self.kernel.result(inst).unwrap_or(a);
            let param = self.kernel.block_params(fork.join).get(number).copied();
            if let Some(param) = param.filter(|_| is_only) {
                self.kernel.inherit_value_name(selected, param);
            }
            chosen.push(selected);
        }
        if is_only && fork.join != block {
            for (&param, &value) in self.kernel.block_params(fork.join).iter().zip(&chosen) {
                // If the value is a replaced parameter, its own replacement is recorded, so that
                // chains of replacements stay short.
                self.replaced[param] = self.replaced[value].expand().unwrap_or(value).into();
            }
            self.join(block, fork.join);
        } else {
            let args = ValueList::from_slice(&chosen, &mut self.kernel.pool);
            let call = BlockCall { block: fork.join, args, case: 0 };
            let targets = Attr::Targets(self.kernel.add_calls(&[call]));
            self.kernel.push_inst(end, Op::Br, Type::I32, targets, &[], None, span);
        }
        self.context.trace.replaced(
            before,
            ChangeKind::Told("both sides of the branch are computed and the results selected"),
            self.kernel,
            &made,
            None,
        );
        self.edges[fork.join] -= 1;
        self.changed = true;
    }

    /// Removes the branch of a side, and joins the side to the block before it.
    fn take(&mut self, block: Block, fork: &Fork, way: usize, side: Block) {
        let start = self.kernel.targets(fork.branch).get(way).map_or(&[][..], |call| self.kernel.call_args(call));
        for (&param, &arg) in self.kernel.block_params(side).iter().zip(start) {
            self.replaced[param] = self.replaced[arg].expand().unwrap_or(arg).into();
        }
        let end = self.last(side);
        self.kernel.blocks[end].insts.pop();
        self.join(block, side);
    }
}

/// Returns the number of instructions for an op on a type: one for each 32-bit word of the type.
pub(super) fn words(ty: Type) -> u32 {
    ty.bits().div_ceil(32)
}
