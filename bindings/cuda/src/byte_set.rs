//! Sets of bytes of a block, with one bit for each byte.

use std::ops::Range;

/// Number of bytes that one word of a set describes.
const BITS: u64 = u64::BITS as u64;

/// Set of bytes. A byte is denoted by its offset from the start of the block.
pub struct ByteSet(Vec<u64>);

/// Returns a word in which exactly the bits below bit number `bit` are set.
fn below(bit: u64) -> u64 {
    if bit == BITS { u64::MAX } else { (1 << bit) - 1 }
}

/// Returns the indices of the words that cover a range, each with a mask of the range's bits in the word.
fn words(range: Range<u64>) -> impl Iterator<Item = (usize, u64)> {
    (range.start / BITS..range.end.div_ceil(BITS)).map(move |word| {
        let first = word * BITS;
        let (start, end) = (range.start.max(first) - first, range.end.min(first + BITS) - first);
        (word as usize, below(end) & !below(start))
    })
}

impl ByteSet {
    /// Creates an empty set for a block of `bytes` bytes. Returns `None` if the system has too little memory.
    pub fn new(bytes: u64) -> Option<ByteSet> {
        let count = usize::try_from(bytes.div_ceil(BITS)).ok()?;
        let mut words = Vec::new();
        words.try_reserve_exact(count).ok()?;
        words.resize(count, 0);
        Some(ByteSet(words))
    }

    /// Returns `true` if the set contains all bytes of a range.
    pub fn contains(&self, range: Range<u64>) -> bool {
        words(range).all(|(word, bits)| self.0.get(word).is_some_and(|held| held & bits == bits))
    }

    /// Adds the bytes of a range.
    pub fn insert(&mut self, range: Range<u64>) {
        for (word, bits) in words(range) {
            if let Some(held) = self.0.get_mut(word) {
                *held |= bits;
            }
        }
    }

    /// Removes the bytes of a range.
    fn remove(&mut self, range: Range<u64>) {
        for (word, bits) in words(range) {
            if let Some(held) = self.0.get_mut(word) {
                *held &= !bits;
            }
        }
    }

    /// Returns the maximal subranges of `range` whose bytes are all in the set. The subranges are relative to the start
    /// of `range`.
    pub fn parts(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let origin = range.start;
        let mut parts: Vec<Range<u64>> = Vec::new();
        for (word, bits) in words(range) {
            let mut held = self.0.get(word).map_or(0, |held| held & bits);
            while held != 0 {
                let first = u64::from(held.trailing_zeros());
                let length = u64::from((held >> first).trailing_ones());
                held &= !below(first + length);
                let start = word as u64 * BITS + first - origin;
                match parts.last_mut() {
                    Some(last) if last.end == start => last.end += length,
                    _ => parts.push(start..start + length),
                }
            }
        }
        parts
    }

    /// Removes all bytes of `range`, and then adds the bytes of the subranges `parts`, which are relative to the start
    /// of `range`.
    pub fn replace(&mut self, range: Range<u64>, parts: &[Range<u64>]) {
        let start = range.start;
        self.remove(range);
        for part in parts {
            self.insert(start + part.start..start + part.end);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Returns the bytes of a set for a block of 200 bytes.
    fn bytes(set: &ByteSet) -> Vec<u64> {
        (0..200).filter(|&byte| set.contains(byte..byte + 1)).collect()
    }

    #[test]
    fn ranges_are_added_and_removed() {
        for range in [0..1, 5..9, 60..70, 63..64, 64..128, 0..200, 1..199, 127..129, 7..7] {
            let mut set = ByteSet::new(200).unwrap();
            set.insert(range.clone());
            assert_eq!(bytes(&set), range.clone().collect::<Vec<_>>(), "{range:?}");
            assert!(set.contains(range.clone()), "{range:?}");
            assert!(!set.contains(range.start..range.end + 1), "{range:?}");
            set.insert(0..200);
            set.remove(range.clone());
            assert_eq!(bytes(&set), (0..200).filter(|byte| !range.contains(byte)).collect::<Vec<_>>(), "{range:?}");
        }
    }

    #[test]
    fn an_empty_set_contains_only_the_empty_range() {
        let set = ByteSet::new(64).unwrap();
        assert!(set.contains(3..3) && !set.contains(3..4) && !set.contains(0..64));
        // Bytes past the end of the block are never in the set.
        assert!(!set.contains(64..65));
    }

    #[test]
    fn parts_are_copied_with_their_gaps() {
        let [mut from, mut to] = [(); 2].map(|()| ByteSet::new(200).unwrap());
        from.insert(10..20);
        from.insert(22..70);
        assert_eq!(from.parts(12..24), [0..8, 10..12]);
        assert_eq!(from.parts(30..60), vec![Range { start: 0, end: 30 }]);
        assert_eq!(from.parts(0..10), Vec::<Range<u64>>::new());
        to.insert(0..200);
        to.replace(100..112, &from.parts(12..24));
        assert_eq!(bytes(&to), (0..200).filter(|byte| ![108, 109].contains(byte)).collect::<Vec<_>>());
    }
}
