//! Special registers. Their values are weighted sums of an item's coordinates in the launch.

use crate::halu::domain::{IndexKind, SpecialReg};
use halfbyte_abi::{Axis, ItemPosition, Shape};

/// The coefficients of a special register for one launch shape. The register's value is the sum of
/// the coordinates of a [`Place`], each times its coefficient: the item's coordinates in its group
/// and the group's coordinates in the grid.
#[derive(Clone, Copy, Debug)]
pub struct Special {
    /// Per axis of the item in its group.
    pub local: [u32; 3],
    /// Per axis of the group.
    pub group: [u32; 3],
}

impl Special {
    /// Returns the coefficients of a register for launches of a shape.
    pub fn new(register: SpecialReg, shape: &Shape) -> Special {
        let product = |[a, b]: [[u32; 3]; 2]| Axis::ALL.map(|axis| axis.of(a).wrapping_mul(axis.of(b)));
        // The strides of a linear index along each axis, or one component of the index.
        let steps = |[x, y, _]: [u32; 3]| match register.axis {
            None => [1, x, x.wrapping_mul(y)],
            Some(of) => Axis::ALL.map(|axis| u32::from(axis == of)),
        };
        match register.of {
            IndexKind::Item => {
                let local = steps(product([shape.grid, shape.block]));
                Special { local, group: product([local, shape.block]) }
            }
            IndexKind::Thread => Special { local: steps(shape.block), group: [0; 3] },
            IndexKind::Block => Special { local: [0; 3], group: steps(shape.grid) },
        }
    }

    /// Returns the register's value for the item at a place.
    pub fn at(&self, place: &ItemPosition) -> u32 {
        let sum = |steps: [u32; 3], counts: [u32; 3]| {
            Axis::ALL.map(|axis| axis.of(steps).wrapping_mul(axis.of(counts))).into_iter().fold(0, u32::wrapping_add)
        };
        sum(self.local, place.local).wrapping_add(sum(self.group, place.group))
    }
}
