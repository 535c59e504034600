//! Lowering of indices of work items to the indices that the target provides.
//!
//! In a launch along x, a linear index is the index along x. For other launches, a target with one index per axis has
//! no linear index. The pass computes it: in a box of nx * ny * nz items, the linear index is x + nx * (y + ny * z).

use halfbyte_ir::{Attr, AttrKind, Axes, Axis, Inst, InstData, Kernel, Op, Span, Type, Value, ValueList};

use crate::pass::{BuiltIn, Context, Order};
use crate::trace::{ChangeKind, Report};

/// The `axes` pass.
pub(super) const PASS: BuiltIn = BuiltIn {
    name: "axes",
    description: "lowers work-item indices to those that the target has: per axis, or along x only",
    order: &[
        (Order::Before("gvn"), "it creates index computations that several ops share"),
        (Order::Before("pack"), "a packed kernel has no axes"),
    ],
    run,
};

pub(super) fn run(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let in_subgroups = subgroups(kernel, context);
    let in_axes = along(kernel, context);
    counts(kernel, context) | in_axes | in_subgroups
}

/// Replaces group sizes that are fixed for all launches by constants, and local indices along an
/// axis of size 1 by zero.
fn counts(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let Some(block) = context.legality.block() else { return false };
    let known = |data: &InstData| match (data.op, data.attr.axis()) {
        (Op::GroupSize, Some(axis)) => Some(axis.of(block)),
        (Op::GroupSize, None) => Some(block.into_iter().fold(1, u32::wrapping_mul)),
        (Op::LocalId, Some(axis)) if axis.of(block) == 1 => Some(0),
        _ => None,
    };
    let mut changed = false;
    for number in 0..kernel.layout.len() {
        let Some(&in_block) = kernel.layout.get(number) else { continue };
        for at in 0..kernel.blocks[in_block].insts.len() {
            let Some(&inst) = kernel.blocks[in_block].insts.get(at) else { continue };
            let Some(count) = known(&kernel.insts[inst]) else { continue };
            let mut before = context.trace.before(kernel, inst);
            (kernel.insts[inst].op, kernel.insts[inst].attr) = (Op::Const, Attr::Bits(count.into()));
            context.trace.changed(&mut before, ChangeKind::Told("constant in all launches"), kernel, inst);
            changed = true;
        }
    }
    changed
}

/// Computes the subgroup index and the lane index from the local index, if the target lacks them.
fn subgroups(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let legality = context.legality;
    let has_numbers = [Op::LocalId, Op::Const, Op::ShrU, Op::And].iter().all(|&op| legality.is_native(op, Type::I32));
    if !has_numbers || legality.lanes().is_some() {
        return false;
    }
    let is_wanted = |op: Op| matches!(op, Op::SubgroupId | Op::LaneId) && !legality.is_native(op, Type::I32);
    let mut changed = false;
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { continue };
        if !kernel.blocks[block].insts.iter().any(|&inst| is_wanted(kernel.insts[inst].op)) {
            continue;
        }
        changed = true;
        let insts = std::mem::take(&mut kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len() + 4);
        for inst in insts {
            if is_wanted(kernel.insts[inst].op) {
                let mut before = context.trace.before(kernel, inst);
                let span = kernel.insts[inst].span;
                Maker { kernel, span, out: &mut out }.in_subgroup(inst);
                let how = ChangeKind::Told("computed from the local index, with 32 items per subgroup");
                context.trace.changed(&mut before, how, kernel, inst);
            }
            out.push(inst);
        }
        kernel.blocks[block].insts = out;
    }
    changed
}

fn along(kernel: &mut Kernel, context: &mut Context<'_>) -> bool {
    let axes = context.legality.axes();
    let wanted: fn(&Kernel, Inst) -> bool = match axes {
        Axes::All => return false,
        Axes::Each { several } if !several && !kernel.names_several_axes() => return false,
        Axes::Each { .. } => is_over_all_axes,
        Axes::X => is_item_along_x,
    };
    let mut changed = false;
    for number in 0..kernel.layout.len() {
        let Some(&block) = kernel.layout.get(number) else { continue };
        if !kernel.blocks[block].insts.iter().any(|&inst| wanted(kernel, inst)) {
            continue;
        }
        changed = true;
        let insts = std::mem::take(&mut kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len() + 16);
        for inst in insts {
            if wanted(kernel, inst) {
                let mut before = context.trace.before(kernel, inst);
                let how = match axes {
                    Axes::X => {
                        kernel.insts[inst].attr = Attr::None;
                        "launches are one-dimensional"
                    }
                    _ => {
                        let span = kernel.insts[inst].span;
                        Maker { kernel, span, out: &mut out }.write_out(inst);
                        "computed from the indices along each axis"
                    }
                };
                context.trace.changed(&mut before, ChangeKind::Told(how), kernel, inst);
            }
            out.push(inst);
        }
        kernel.blocks[block].insts = out;
    }
    changed
}

/// Returns `true` if an op returns a linear index or count, which combines all axes.
fn is_over_all_axes(kernel: &Kernel, inst: Inst) -> bool {
    let InstData { op, attr, .. } = kernel.insts[inst];
    op == Op::ItemCount || op.row().attr == AttrKind::Axis && attr.axis().is_none()
}

fn is_item_along_x(kernel: &Kernel, inst: Inst) -> bool {
    let InstData { op, attr, .. } = kernel.insts[inst];
    op == Op::ItemId && attr.axis() == Some(Axis::X)
}

/// Inserts new instructions before a given instruction.
struct Maker<'k> {
    kernel: &'k mut Kernel,
    span: Span,
    out: &'k mut Vec<Inst>,
}

impl Maker<'_> {
    /// Replaces an op that combines all axes by a computation from the individual axes. The op
    /// itself becomes the last instruction of this computation.
    fn write_out(mut self, inst: Inst) -> Option<()> {
        let (op, args) = match self.kernel.insts[inst].op {
            Op::GroupSize => (Op::Mul, self.product(Op::GroupSize)?),
            Op::GroupCount => (Op::Mul, self.product(Op::GroupCount)?),
            Op::ItemCount => {
                let [items, groups] = [self.product(Op::GroupSize)?, self.product(Op::GroupCount)?];
                (Op::Mul, [self.make(Op::Mul, Attr::None, &items)?, self.make(Op::Mul, Attr::None, &groups)?])
            }
            Op::LocalId => (Op::Add, self.number(Op::LocalId, &[Op::GroupSize])?),
            Op::GroupId => (Op::Add, self.number(Op::GroupId, &[Op::GroupCount])?),
            Op::ItemId => (Op::Add, self.number(Op::ItemId, &[Op::GroupSize, Op::GroupCount])?),
            _ => return None,
        };
        let args = ValueList::from_slice(&args, &mut self.kernel.pool);
        let data = &mut self.kernel.insts[inst];
        (data.op, data.attr, data.args) = (op, Attr::None, args);
        Some(())
    }

    /// Replaces a subgroup index or a lane index by a computation from the local index.
    fn in_subgroup(mut self, inst: Inst) -> Option<()> {
        let (op, by) = match self.kernel.insts[inst].op {
            Op::SubgroupId => (Op::ShrU, 5),
            _ => (Op::And, 31),
        };
        let args = [self.make(Op::LocalId, Attr::None, &[])?, self.make(Op::Const, Attr::Bits(by), &[])?];
        let args = ValueList::from_slice(&args, &mut self.kernel.pool);
        let data = &mut self.kernel.insts[inst];
        (data.op, data.attr, data.args) = (op, Attr::None, args);
        Some(())
    }

    fn make(&mut self, op: Op, attr: Attr, args: &[Value]) -> Option<Value> {
        let inst = self.kernel.make_inst(op, Type::I32, attr, args, Some(Type::I32), self.span);
        self.out.push(inst);
        self.kernel.result(inst)
    }

    /// Returns two factors whose product is a count over all axes.
    fn product(&mut self, op: Op) -> Option<[Value; 2]> {
        let [x, y, z] = Axis::ALL.map(Attr::Axis);
        let (x, y) = (self.make(op, x, &[])?, self.make(op, y, &[])?);
        let plane = self.make(Op::Mul, Attr::None, &[x, y])?;
        Some([plane, self.make(op, z, &[])?])
    }

    /// Returns two terms whose sum is a linear index. `counts` are the ops whose product is the extent along an axis.
    fn number(&mut self, op: Op, counts: &[Op]) -> Option<[Value; 2]> {
        let [x, y, z] = Axis::ALL.map(Attr::Axis);
        let z = self.make(op, z, &[])?;
        let planes = self.times(z, counts, Axis::Y)?;
        let y = self.make(op, y, &[])?;
        let row = self.make(Op::Add, Attr::None, &[y, planes])?;
        let rows = self.times(row, counts, Axis::X)?;
        Some([self.make(op, x, &[])?, rows])
    }

    fn times(&mut self, number: Value, counts: &[Op], axis: Axis) -> Option<Value> {
        counts.iter().try_fold(number, |number, &count| {
            let count = self.make(count, Attr::Axis(axis), &[])?;
            self.make(Op::Mul, Attr::None, &[count, number])
        })
    }
}
