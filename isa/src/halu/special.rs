//! Special registers. The value of a special register is a weighted sum of an item's coordinates in the launch.

use crate::halu::domain::{IndexKind, SpecialReg};
use halfbyte_abi::{Axis, ItemPosition, Shape};

/// The coefficients of a special register for one launch shape. The value of the register is the
/// sum of the coordinates of an [`ItemPosition`], each multiplied by its coefficient. The
/// coordinates are those of the item in its group and of the group in the grid.
#[derive(Clone, Copy, Debug)]
pub struct Special {
    /// Coefficients of the item's coordinates in its group, along x, y and z.
    pub local: [u32; 3],
    /// Coefficients of the group's coordinates in the grid, along x, y and z.
    pub group: [u32; 3],
}

impl Special {
    /// Returns the coefficients of a special register for launches of the given shape.
    pub fn new(register: SpecialReg, shape: &Shape) -> Special {
        let product = |[a, b]: [[u32; 3]; 2]| Axis::ALL.map(|axis| axis.of(a).wrapping_mul(axis.of(b)));
        // Without an axis, the strides of a linear index along x, y and z. With an axis, 1 for that
        // axis and 0 for the others.
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

    /// Returns the register's value for the item at a position.
    pub fn at(&self, place: &ItemPosition) -> u32 {
        let sum = |steps: [u32; 3], counts: [u32; 3]| {
            Axis::ALL.map(|axis| axis.of(steps).wrapping_mul(axis.of(counts))).into_iter().fold(0, u32::wrapping_add)
        };
        sum(self.local, place.local).wrapping_add(sum(self.group, place.group))
    }
}
