//! How many work items a launch has, and in which groups.

use std::fmt;

use thiserror::Error;

use crate::group_size;

/// The work items of a launch: a grid of blocks, which are the groups. Made of a number of items, `grid * block` of them on axis x
/// in groups as large as can be ([`group_size`]); made of a pair, of so many blocks of so many items.
///
/// ```
/// use halfbyte_abi::Shape;
///
/// assert_eq!(Shape::from(6), Shape { grid: [1, 1, 1], block: [6, 1, 1], shared: 0 });
/// assert_eq!(Shape::from((2, 3)), Shape { grid: [2, 1, 1], block: [3, 1, 1], shared: 0 });
/// assert_eq!(Shape::from((2, 3)).items(), Ok(6));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Blocks along x, y and z. What there is today has 1 of them along y and z.
    pub grid: [u32; 3],
    /// Work items of a block, likewise.
    pub block: [u32; 3],
    /// Bytes of shared memory that a block has besides what the kernel declares. There is none today.
    pub shared: u32,
}

/// Why no launch has such a shape.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// More than one along an axis that no kernel has yet.
    #[error("{0} has more than 1 along y or z; work items are along x")]
    Axes(Shape),
    /// Shared memory, which no kernel has yet.
    #[error("{0} bytes of shared memory are asked for; there is none")]
    Shared(u32),
    /// More work items than have numbers of 32 bits.
    #[error("{0} has more work items than 32 bits can number")]
    Items(Shape),
}

impl Shape {
    /// The number of work items.
    ///
    /// # Errors
    /// A shape that no launch has.
    pub fn items(&self) -> Result<u32, ShapeError> {
        let ([blocks, grid @ ..], [items, block @ ..]) = (self.grid, self.block);
        if [grid, block] != [[1; 2]; 2] {
            return Err(ShapeError::Axes(*self));
        }
        if self.shared != 0 {
            return Err(ShapeError::Shared(self.shared));
        }
        blocks.checked_mul(items).ok_or(ShapeError::Items(*self))
    }
}

impl From<u32> for Shape {
    fn from(items: u32) -> Shape {
        let block = group_size(items);
        Shape::from((items / block, block))
    }
}

impl From<(u32, u32)> for Shape {
    fn from((grid, block): (u32, u32)) -> Shape {
        Shape { grid: [grid, 1, 1], block: [block, 1, 1], shared: 0 }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { grid: [x, y, z], block: [u, v, w], .. } = self;
        write!(f, "a grid of {x} x {y} x {z} blocks of {u} x {v} x {w} items")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_in_groups_as_large_as_can_be() {
        for items in [0, 1, 255, 256, 257, 1 << 18, u32::MAX] {
            let shape = Shape::from(items);
            assert_eq!(shape.items(), Ok(items));
            assert_eq!(shape.block, [group_size(items), 1, 1]);
        }
    }

    #[test]
    fn what_there_is_not_yet_is_refused() {
        let plain = Shape::from(8);
        let other = Shape { grid: [1, 2, 1], ..plain };
        assert_eq!(other.items(), Err(ShapeError::Axes(other)));
        let other = Shape { block: [8, 1, 0], ..plain };
        assert_eq!(other.items(), Err(ShapeError::Axes(other)));
        assert_eq!(Shape { shared: 4, ..plain }.items(), Err(ShapeError::Shared(4)));
        let many = Shape::from((1 << 16, 1 << 16));
        let message =
            "a grid of 65536 x 1 x 1 blocks of 65536 x 1 x 1 items has more work items than 32 bits can number";
        assert_eq!(many.items().map_err(|error| error.to_string()), Err(message.to_owned()));
    }
}
