//! Arrays that a kernel declares: memory of the group, or of the item.

use std::fmt;

use halfbyte_abi::Type;

use crate::kernel::{Kernel, Value, ValueDef};
use crate::span::Span;

/// Bytes that the static arrays of a kernel take at most, of each space.
pub const MAX_STATIC_BYTES: u32 = 49152;

/// Whose memory an array is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Space {
    /// The group's: all its items reach it.
    Shared,
    /// The item's own.
    Scratch,
}

impl Space {
    /// Both.
    pub const ALL: [Space; 2] = [Space::Shared, Space::Scratch];

    /// The name in text: `shared`.
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
    /// Its name, without `%`.
    pub name: String,
    /// Its address in the kernel.
    pub value: Value,
    /// Whose memory it is.
    pub space: Space,
    /// The type of its elements.
    pub elem: Type,
    /// How many there are; none where the launch says how many bytes.
    pub count: Option<u32>,
    /// Its first byte is at a multiple of so many.
    pub align: u32,
    /// Where in the text it stands.
    pub span: Span,
}

impl Array {
    /// Its size, as far as the kernel says it.
    pub fn bytes(&self) -> u64 {
        u64::from(self.count.unwrap_or(0)) * u64::from(self.elem.bytes())
    }
}

/// Where the arrays of a space lie.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Placement {
    /// For each array of the kernel where it starts in its space; of those in another space nothing is said.
    pub starts: Vec<u64>,
    /// Bytes of the space, but for those of which the launch says how many, which are behind them.
    pub bytes: u64,
}

impl Kernel {
    /// The array that a value is the address of.
    #[inline]
    pub fn array(&self, value: Value) -> Option<&Array> {
        match self.values.get(value)?.def {
            ValueDef::Array(number) => self.arrays.get(number as usize),
            _ => None,
        }
    }

    /// Where the arrays of a space lie: in order, each at its alignment, and those without a size all at one address behind the others, at
    /// the largest of their alignments.
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
