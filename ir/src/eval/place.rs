//! Position of an item in its launch.

use halfbyte_abi::{Axis, Shape};

use crate::op::Op;

/// Evaluates an op that returns a position or size, for an item in a launch of `items` items.
/// Returns `None` for other ops.
pub(super) fn place(op: Op, axis: Option<Axis>, shape: &Shape, items: u32, item: u32) -> Option<u64> {
    let [counts, sizes] = [shape.grid, shape.block].map(|of| of.map(u64::from));
    let size: u64 = sizes.iter().product();
    let (group, local) = (u64::from(item) / size, u64::from(item) % size);
    let along = |axis: Axis| along(group, counts, axis) * axis.of(sizes) + along(local, sizes, axis);
    Some(match (op, axis) {
        (Op::ItemId, None) if shape.is_along_x() => item.into(),
        (Op::ItemId, None) => {
            let [nx, ny] = [Axis::X, Axis::Y].map(|axis| axis.of(counts) * axis.of(sizes));
            along(Axis::X) + nx * (along(Axis::Y) + ny * along(Axis::Z))
        }
        (Op::ItemId, Some(axis)) => along(axis),
        (Op::ItemCount, _) => items.into(),
        (Op::LocalId, None) => local,
        (Op::LocalId, Some(axis)) => self::along(local, sizes, axis),
        (Op::GroupId, None) => group,
        (Op::GroupId, Some(axis)) => self::along(group, counts, axis),
        (Op::GroupSize, None) => size,
        (Op::GroupSize, Some(axis)) => axis.of(sizes),
        (Op::GroupCount, None) => counts.iter().product(),
        (Op::GroupCount, Some(axis)) => axis.of(counts),
        _ => return None,
    })
}

/// Splits a linear number into coordinates in a box of the given sizes. Returns the coordinate along an axis.
fn along(number: u64, [x, y, _]: [u64; 3], axis: Axis) -> u64 {
    match axis {
        Axis::X => number % x,
        Axis::Y => number / x % y,
        Axis::Z => number / (x * y),
    }
}
