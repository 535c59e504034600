//! Contents of shared memory or of private memory, as far as they are known at compile time.

use rustc_hash::FxHashMap;

use super::graph::Node;

/// Content of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// Zero: the initial content, which no store has overwritten.
    Zero,
    /// Lane of the vector that was stored to the element.
    Lane(Node, u8),
    /// Not known at compile time.
    Unknown,
}

/// Stored element.
#[derive(Clone, Copy, Debug)]
struct Element {
    node: Node,
    lane: u8,
    bytes: u32,
}

/// Maximum size of an element, in bytes.
const MOST_BYTES: u32 = 4;

/// Memory that is initially zero.
#[derive(Clone, Default, Debug)]
pub struct KnownMemory {
    /// Last store to each address, unless a later store overlaps the element.
    elements: FxHashMap<u32, Element>,
    /// `true` if bytes that are not in `elements` can be nonzero.
    is_unknown: bool,
}

impl KnownMemory {
    /// Marks the whole memory as unknown.
    pub fn forget(&mut self) {
        self.elements.clear();
        self.is_unknown = true;
    }

    /// Stores an element of `bytes` bytes.
    pub fn store(&mut self, address: u32, bytes: u32, (node, lane): (Node, u8)) {
        let before = (1..MOST_BYTES).filter_map(|back| address.checked_sub(back));
        let mut is_cut = false;
        for other in before.chain(address + 1..address + bytes) {
            if self.elements.get(&other).is_some_and(|element| other + element.bytes > address) {
                self.elements.remove(&other);
                is_cut = true;
            }
        }
        // The remaining bytes of a longer old element become unknown.
        let old = self.elements.insert(address, Element { node, lane, bytes });
        self.is_unknown |= is_cut || old.is_some_and(|old| old.bytes > bytes);
    }

    /// Returns the content of an element of `bytes` bytes.
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
        // The rest of an element that a store overwrites in part is not zero.
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
