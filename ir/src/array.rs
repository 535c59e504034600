//! Arrays that a kernel declares. An array is either in shared memory of the group or in local memory of the item.

use std::fmt;

use halfbyte_abi::Type;

use crate::kernel::{Kernel, Value, ValueDef};
use crate::span::Span;

/// Maximum total size in bytes of the static arrays of a kernel, per memory space.
pub const MAX_STATIC_BYTES: u32 = 49152;

/// Memory space of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// Shared memory, which all items of the group can access.
    Shared,
    /// Local memory of one item.
    Scratch,
}

impl Space {
    /// All memory spaces.
    pub const ALL: [Space; 2] = [Space::Shared, Space::Scratch];

    /// Returns the keyword of the memory space in text, such as `shared`.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Shared => "shared",
            Space::Scratch => "scratch",
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An array that a kernel declares.
#[derive(Clone, Debug)]
pub struct Array {
    /// Name of the array, without `%`.
    pub name: String,
    /// Value that is the address of the array.
    pub value: Value,
    /// Memory space of the array.
    pub space: Space,
    /// Type of the elements.
    pub elem: Type,
    /// Number of elements; `None` if the launch determines the size.
    pub count: Option<u32>,
    /// Alignment of the array's address in bytes.
    pub align: u32,
    /// Source span of the declaration.
    pub span: Span,
}

impl Array {
    /// Returns the size of the array in bytes; 0 if the launch determines the size.
    pub fn bytes(&self) -> u64 {
        u64::from(self.count.unwrap_or(0)) * u64::from(self.elem.bytes())
    }
}

/// Layout of a kernel's arrays in one memory space.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placement {
    /// Start offset of each array of the kernel. Arrays in other memory spaces have meaningless entries of 0.
    pub starts: Vec<u64>,
    /// Size in bytes of all arrays of fixed size. Arrays whose size the launch determines start at this offset.
    pub bytes: u64,
}

impl Kernel {
    /// Returns the array whose address is `value`, if any.
    #[inline]
    pub fn array(&self, value: Value) -> Option<&Array> {
        match self.values.get(value)?.def {
            ValueDef::Array(number) => self.arrays.get(number as usize),
            _ => None,
        }
    }

    /// Returns the layout of the arrays of a memory space. Arrays are in the order of their
    /// declaration, each at its alignment. All arrays without a fixed size start at the same offset
    /// after the fixed arrays, with the largest alignment among them.
    pub fn placement(&self, space: Space) -> Placement {
        let of_space = |array: &&Array| array.space == space;
        let aligned = |at: u64, align: u32| at.next_multiple_of(align.max(1).into());
        let mut end = 0;
        let mut starts: Vec<u64> = Vec::with_capacity(self.arrays.len());
        for array in &self.arrays {
            let is_placed = array.space == space && array.count.is_some();
            let start = if is_placed { aligned(end, array.align) } else { 0 };
            end = if is_placed { start.saturating_add(array.bytes()) } else { end };
            starts.push(start);
        }
        let open = self.arrays.iter().filter(of_space).filter(|array| array.count.is_none());
        if let Some(align) = open.map(|array| array.align).max() {
            end = aligned(end, align);
            for (start, array) in starts.iter_mut().zip(&self.arrays) {
                if array.space == space && array.count.is_none() {
                    *start = end;
                }
            }
        }
        Placement { starts, bytes: end }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_lie_in_order_and_open_ones_at_one_place_behind() {
        let mut kernel = Kernel::new("k");
        let mut add = |space, elem, count, align| kernel.add_array("a", space, elem, count, align, Span::default());
        add(Space::Shared, Type::I8, Some(3), 1);
        add(Space::Shared, Type::I16, None, 2);
        add(Space::Scratch, Type::I64, Some(1), 8);
        add(Space::Shared, Type::I32, Some(2), 4);
        add(Space::Shared, Type::I8, None, 32);
        assert_eq!(kernel.placement(Space::Shared), Placement { starts: vec![0, 32, 0, 4, 32], bytes: 32 });
        assert_eq!(kernel.placement(Space::Scratch), Placement { starts: vec![0, 0, 0, 0, 0], bytes: 8 });
    }
}
