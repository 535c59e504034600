//! Shape of a launch: the number of work items and their division into groups.

use std::fmt;

use thiserror::Error;

use crate::group_size;

/// An axis of a launch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Axis {
    /// First axis, along which item numbers grow fastest.
    X,
    /// Second axis.
    Y,
    /// Third axis.
    Z,
}

impl Axis {
    /// All axes, in the order x, y, z.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];

    /// Returns the name of the axis in text, such as `x`.
    pub const fn name(self) -> &'static str {
        match self {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
        }
    }

    /// Returns the axis with a name, such as `x`.
    pub fn from_name(name: &str) -> Option<Axis> {
        Axis::ALL.into_iter().find(|axis| axis.name() == name)
    }

    /// Returns the entry of an `[x, y, z]` array that belongs to this axis.
    pub const fn of<T: Copy>(self, [x, y, z]: [T; 3]) -> T {
        match self {
            Axis::X => x,
            Axis::Y => y,
            Axis::Z => z,
        }
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Work items of a launch: a grid of blocks, each of which is a group. `From<u32>` takes a number
/// of items along x and divides them into the largest groups possible ([`group_size`]). `From<(u32,
/// u32)>` takes a number of blocks and a number of items per block.
///
/// ```
/// use halfbyte_abi::Shape;
///
/// assert_eq!(Shape::from(6), Shape { grid: [1, 1, 1], block: [6, 1, 1], shared: 0 });
/// assert_eq!(Shape::from((2, 3)), Shape { grid: [2, 1, 1], block: [3, 1, 1], shared: 0 });
/// assert_eq!(Shape::from(([4, 2, 1], [32, 4, 1])).items(), Ok(1024));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    /// Number of blocks along x, y and z.
    pub grid: [u32; 3],
    /// Number of work items of a block along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block, in addition to the declarations of the kernel.
    pub shared: u32,
}

/// Position of a work item in a launch: its coordinates in its group and the coordinates of the
/// group, along x, y and z.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ItemPosition {
    /// Coordinates of the group in the grid.
    pub group: [u32; 3],
    /// Coordinates of the item in the group.
    pub local: [u32; 3],
}

/// Reason why the shape of a launch is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// The shape has several items or blocks along y or z, but the kernel was compiled for launches along x only.
    #[error("{0} has more than 1 along y or z; the kernel was compiled for launches along x")]
    Axes(Shape),
    /// The launch requests dynamic shared memory, but the kernel declares none, or the size exceeds the limit of a
    /// group.
    #[error("{0} bytes of dynamic shared memory: the kernel declares none, or the size exceeds the limit")]
    Shared(u32),
    /// The shape has more blocks along an axis, or more items in a block, than a GPU supports.
    #[error(
        "{0} exceeds the limits of a GPU: 1024 items per block, 64 of them along z, and 65535 blocks along y and z"
    )]
    Gpu(Shape),
    /// The shape has 2^32 or more work items.
    #[error("{0} has more work items than 32 bits can number")]
    Items(Shape),
}

impl Shape {
    /// Returns the number of work items.
    ///
    /// # Errors
    /// The number of items does not fit in 32 bits.
    pub fn items(&self) -> Result<u32, ShapeError> {
        let mut counts = self.grid.iter().chain(&self.block);
        if counts.clone().any(|&count| count == 0) {
            return Ok(0);
        }
        counts.try_fold(1_u32, |items, &count| items.checked_mul(count)).ok_or(ShapeError::Items(*self))
    }

    /// Returns `true` if the shape has at most one block and one item along y and z.
    pub fn is_along_x(&self) -> bool {
        let ([_, grid @ ..], [_, block @ ..]) = (self.grid, self.block);
        [grid, block] == [[1; 2]; 2]
    }

    /// Checks that a GPU supports the shape.
    ///
    /// # Errors
    /// Too many blocks along an axis, or too many items in a block.
    pub fn check_gpu(&self) -> Result<(), ShapeError> {
        const GRID: [u32; 3] = [i32::MAX as u32, 0xffff, 0xffff];
        const BLOCK: [u32; 3] = [1024, 1024, 64];
        const ITEMS_OF_BLOCK: u64 = 1024;
        let fits = |counts: [u32; 3], most: [u32; 3]| counts.iter().zip(most).all(|(&count, most)| count <= most);
        let of_block = self.block.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        let is_taken = fits(self.grid, GRID) && fits(self.block, BLOCK) && of_block <= ITEMS_OF_BLOCK;
        if is_taken { Ok(()) } else { Err(ShapeError::Gpu(*self)) }
    }

    /// Returns the position of the item with a number. Items are numbered group by group. Numbers grow first along x,
    /// then along y, then along z, both within a group and for the groups of the grid.
    pub fn place(&self, item: u32) -> ItemPosition {
        let size = self.block.into_iter().fold(1, u32::wrapping_mul).max(1);
        ItemPosition { group: digits(item / size, self.grid), local: digits(item % size, self.block) }
    }

    /// Returns the name of an item for messages. `item` is its number in the launch.
    pub fn name(&self, item: u32) -> ItemName {
        ItemName { item, place: (!self.is_along_x()).then(|| self.place(item)) }
    }
}

/// Splits a linear number into coordinates along x, y and z. The extent along z is not needed.
fn digits(number: u32, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let [x, y] = [x.max(1), y.max(1)];
    [number % x, number / x % y, number / x / y]
}

/// Name of an item in messages: `item 5`, or `item (1, 0, 0) of group (0, 2, 0)` for a launch along several axes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ItemName {
    item: u32,
    place: Option<ItemPosition>,
}

impl ItemName {
    /// Returns the item's number in the launch.
    pub const fn number(self) -> u32 {
        self.item
    }
}

impl fmt::Display for ItemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            None => write!(f, "item {}", self.item),
            Some(ItemPosition { group: [x, y, z], local: [u, v, w] }) => {
                write!(f, "item ({u}, {v}, {w}) of group ({x}, {y}, {z})")
            }
        }
    }
}

impl From<u32> for Shape {
    #[inline]
    fn from(items: u32) -> Shape {
        let block = group_size(items);
        Shape::from((items / block, block))
    }
}

impl From<(u32, u32)> for Shape {
    #[inline]
    fn from((grid, block): (u32, u32)) -> Shape {
        Shape::from(([grid, 1, 1], [block, 1, 1]))
    }
}

impl From<([u32; 3], [u32; 3])> for Shape {
    #[inline]
    fn from((grid, block): ([u32; 3], [u32; 3])) -> Shape {
        Shape { grid, block, shared: 0 }
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
    fn divides_items_into_the_largest_groups() {
        for items in [0, 1, 255, 256, 257, 1 << 18, u32::MAX] {
            let shape = Shape::from(items);
            assert_eq!(shape.items(), Ok(items));
            assert_eq!(shape.block, [group_size(items), 1, 1]);
        }
    }

    #[test]
    fn items_are_counted_along_all_axes() {
        assert_eq!(Shape::from(([2, 3, 5], [7, 11, 13])).items(), Ok(30030));
        // If one extent is 0, the shape has no items, however large the other extents are.
        assert_eq!(Shape::from(([u32::MAX; 3], [u32::MAX, 0, 1])).items(), Ok(0));
        assert_eq!(Shape::from(([u32::MAX, 1, 1], [1; 3])).items(), Ok(u32::MAX));
        // The first shape has 3 * 5 * 17 * 257 * 65537 = 2^32 - 1 items. The second shape has 641 *
        // 6700417 = 2^32 + 1 items.
        assert_eq!(Shape::from(([65537, 257, 1], [17, 5, 3])).items(), Ok(u32::MAX));
        let many = Shape::from(([1, 1, 641], [1, 6_700_417, 1]));
        assert_eq!(many.items(), Err(ShapeError::Items(many)));
        let many = Shape::from(([u32::MAX; 3], [u32::MAX; 3]));
        assert_eq!(many.items(), Err(ShapeError::Items(many)));
        let many = Shape::from((1 << 16, 1 << 16));
        let message =
            "a grid of 65536 x 1 x 1 blocks of 65536 x 1 x 1 items has more work items than 32 bits can number";
        assert_eq!(many.items().map_err(|error| error.to_string()), Err(message.to_owned()));
    }

    #[test]
    fn rejects_shapes_beyond_the_limits_of_a_gpu() {
        for (grid, block) in
            [([i32::MAX as u32, 1, 1], [1, 1, 1]), ([1, 65535, 65535], [1024, 1, 1]), ([1; 3], [4, 4, 64])]
        {
            assert_eq!(Shape::from((grid, block)).check_gpu(), Ok(()));
        }
        for (grid, block) in [
            ([1 << 31, 1, 1], [1; 3]),
            ([1, 65536, 1], [1; 3]),
            ([1, 1, 65536], [1; 3]),
            ([1; 3], [1025, 1, 1]),
            ([1; 3], [32, 33, 1]),
            ([1; 3], [1, 1, 65]),
            ([1; 3], [u32::MAX; 3]),
        ] {
            let shape = Shape::from((grid, block));
            assert_eq!(shape.check_gpu(), Err(ShapeError::Gpu(shape)));
        }
    }

    #[test]
    fn places_are_numbered_group_by_group() {
        let shape = Shape::from(([2, 3, 2], [3, 2, 4]));
        let mut number = 0;
        for group in places(shape.grid) {
            for local in places(shape.block) {
                assert_eq!(shape.place(number), ItemPosition { group, local });
                number += 1;
            }
        }
        assert_eq!(Ok(number), shape.items());
        assert_eq!(shape.name(29).to_string(), "item (2, 1, 0) of group (1, 0, 0)");
        assert_eq!(Shape::from(7).name(5).to_string(), "item 5");
        // A shape without items has no item 9, but a request for its position does not panic.
        assert_eq!(Shape::from(([0; 3], [0; 3])).place(9).local, [0; 3]);
    }

    fn places([x, y, z]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
        (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])))
    }
}
