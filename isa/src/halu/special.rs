//! The special registers: what they hold is a sum over the axes of the launch.

use crate::halu::domain::{Numbered, SpecialReg};
use halfbyte_abi::{Axis, Place, Shape};

/// A register in the launches of a shape: for each count of a [`Place`], of the item along x, y and z and of its group, what one more
/// adds to what the register holds.
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
        // What one more along each axis adds to the number of what there are so many of along each.
        let steps = |[x, y, _]: [u32; 3]| match register.axis {
            None => [1, x, x.wrapping_mul(y)],
            Some(of) => Axis::ALL.map(|axis| u32::from(axis == of)),
        };
        match register.of {
            Numbered::Item => {
                let local = steps(product([shape.grid, shape.block]));
                Special { local, group: product([local, shape.block]) }
            }
            Numbered::Thread => Special { local: steps(shape.block), group: [0; 3] },
            Numbered::Block => Special { local: [0; 3], group: steps(shape.grid) },
        }
    }

    /// What it holds for the item at a place.
    pub fn at(&self, place: &Place) -> u32 {
        let sum = |steps: [u32; 3], counts: [u32; 3]| {
            Axis::ALL.map(|axis| axis.of(steps).wrapping_mul(axis.of(counts))).into_iter().fold(0, u32::wrapping_add)
        };
        sum(self.local, place.local).wrapping_add(sum(self.group, place.group))
    }
}
