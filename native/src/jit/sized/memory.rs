//! What the memory of a group holds, or what its items have of their own, as far as it is known while code is made.

use rustc_hash::FxHashMap;

use super::graph::Node;

/// What is found of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// It is zero, as all is at the start.
    Zero,
    /// A lane of a vector was stored there.
    Lane(Node, u8),
    /// Whatever memory holds.
    Unknown,
}

/// An element that was stored: what, and its bytes.
#[derive(Clone, Copy, Debug)]
struct Element {
    node: Node,
    lane: u8,
    bytes: u32,
}

/// The most bytes of an element.
const MOST_BYTES: u32 = 4;

/// Memory that is zero at first.
#[derive(Clone, Default, Debug)]
pub struct KnownMemory {
    /// By address, what was stored last and has not been stored over.
    elements: FxHashMap<u32, Element>,
    /// Some has been stored that is not among these.
    is_unknown: bool,
}

impl KnownMemory {
    /// Nothing is known any more.
    pub fn forget(&mut self) {
        self.elements.clear();
        self.is_unknown = true;
    }

    /// An element of so many bytes is stored.
    pub fn store(&mut self, address: u32, bytes: u32, (node, lane): (Node, u8)) {
        let before = (1..MOST_BYTES).filter_map(|back| address.checked_sub(back));
        let mut is_cut = false;
        for other in before.chain(address + 1..address + bytes) {
            if self.elements.get(&other).is_some_and(|element| other + element.bytes > address) {
                self.elements.remove(&other);
                is_cut = true;
            }
        }
        // Bytes of one that was longer stay.
        let old = self.elements.insert(address, Element { node, lane, bytes });
        self.is_unknown |= is_cut || old.is_some_and(|old| old.bytes > bytes);
    }

    /// What an element of so many bytes is.
    pub fn load(&self, address: u32, bytes: u32) -> Found {
        match self.elements.get(&address) {
            Some(element) if element.bytes == bytes => return Found::Lane(element.node, element.lane),
            Some(_) => return Found::Unknown,
            None => {}
        }
        let before = (1..MOST_BYTES).filter_map(|back| address.checked_sub(back));
        let overlaps = |other: u32| self.elements.get(&other).is_some_and(|element| other + element.bytes > address);
        match self.is_unknown || before.chain(address + 1..address + bytes).any(overlaps) {
            true => Found::Unknown,
            false => Found::Zero,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stored_last_is_found() {
        let (a, b) = ((Node(1), 2), (Node(3), 4));
        let mut memory = KnownMemory::default();
        assert_eq!(memory.load(0, 4), Found::Zero);
        memory.store(4, 4, a);
        assert_eq!(memory.load(4, 4), Found::Lane(a.0, a.1));
        assert_eq!(memory.load(4, 2), Found::Unknown);
        assert_eq!(memory.load(2, 4), Found::Unknown);
        assert_eq!(memory.load(8, 4), Found::Zero);
        memory.store(4, 4, b);
        assert_eq!(memory.load(4, 4), Found::Lane(b.0, b.1));
        // What is left of an element that was stored over in part is not zero.
        memory.store(6, 2, a);
        assert_eq!(memory.load(4, 4), Found::Unknown);
        assert_eq!(memory.load(4, 2), Found::Unknown);
        assert_eq!(memory.load(6, 2), Found::Lane(a.0, a.1));
        let mut memory = KnownMemory::default();
        memory.store(0, 4, a);
        memory.store(0, 1, b);
        assert_eq!(
            [memory.load(0, 1), memory.load(0, 4), memory.load(1, 1)],
            [Found::Lane(b.0, b.1), Found::Unknown, Found::Unknown]
        );
        memory.forget();
        assert_eq!(memory.load(0, 1), Found::Unknown);
    }
}
