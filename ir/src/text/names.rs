//! Symbol table for the names of a kernel's values or blocks.
//!
//! A module has many small kernels. The table is therefore reused for each kernel, and clearing it takes constant time.

use std::hash::{BuildHasher, RandomState};

use super::lexer::Name;
use crate::span::Span;

/// A name and the value or block to which it belongs. A name can be used before its definition.
#[derive(Clone, Copy)]
pub(super) struct Named<T> {
    pub entity: T,
    /// Span of the first occurrence of the name.
    pub name: Span,
    /// Span of the definition, or of the first use if the name has no definition yet.
    pub span: Span,
    pub defined: bool,
}

/// Entry of the hash table, which is free if its `round` differs from the round of the table.
#[derive(Clone, Copy, Default)]
struct TableSlot {
    key: u64,
    round: u32,
    number: u32,
}

/// A hash table of names with open addressing, at most half full.
pub(super) struct Names<'s, T> {
    source: &'s str,
    slots: Vec<TableSlot>,
    /// Right shift that maps a 64-bit product to a table index.
    shift: u32,
    /// Multiplier of the hash function: odd, and random for each text, so that no text can force collisions.
    factor: u64,
    /// Number of times that the table was cleared, plus one.
    round: u32,
    /// Names in the order of their first occurrence.
    named: Vec<Named<T>>,
}

/// Position in the hash table at which a missing name can be inserted.
pub(super) struct Vacant {
    key: u64,
    at: usize,
}

/// Flag bit in the keys of long names. Keys of short names consist of ASCII bytes, so they never contain this bit.
const LONG: u64 = 1 << 63;

/// Initial size of the hash table, in entries.
const FEW: usize = 128;

impl<'s, T: Copy> Names<'s, T> {
    pub(super) fn new(source: &'s str) -> Names<'s, T> {
        let factor = RandomState::new().hash_one(source.len()) | 1;
        let (slots, shift) = (vec![TableSlot::default(); FEW], u64::BITS - FEW.ilog2());
        Names { source, slots, shift, factor, round: 1, named: Vec::new() }
    }

    /// Removes all names from the table.
    pub(super) fn clear(&mut self) {
        self.named.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.slots.fill(TableSlot::default());
            self.round = 1;
        }
    }

    /// Returns the text of a name without its sigil.
    pub(super) fn text(&self, span: Span) -> &'s str {
        self.source.get(span.start as usize + 1..span.end as usize).unwrap_or_default()
    }

    /// Returns the entries in the order in which the names first occur.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &Named<T>> {
        self.named.iter()
    }

    /// Returns the entry of a name, if it is in the table.
    pub(super) fn get(&self, name: Name) -> Option<&Named<T>> {
        self.find(name).ok().and_then(|number| self.named.get(number))
    }

    /// Returns the entry of a name, or the position for its insertion.
    #[inline]
    pub(super) fn entry(&mut self, name: Name) -> Result<&mut Named<T>, Vacant> {
        self.find(name).map(|number| &mut self.named[number])
    }

    /// Inserts an entry at a position that [`Names::entry`] has returned.
    #[inline]
    pub(super) fn insert(&mut self, Vacant { key, at }: Vacant, named: Named<T>) {
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = TableSlot { key, round: self.round, number: self.named.len() as u32 };
        }
        self.named.push(named);
        if self.named.len() * 2 > self.slots.len() {
            self.grow();
        }
    }

    /// Returns the index of a name's entry, or the position for its insertion.
    #[inline]
    fn find(&self, name: Name) -> Result<usize, Vacant> {
        match name.span.len() {
            // A name of at most nine bytes: eight bytes and the sigil.
            0..=9 => self.find_key(name.head, |_| true),
            _ => self.find_long(name),
        }
    }

    #[inline(never)]
    fn find_long(&self, name: Name) -> Result<usize, Vacant> {
        let text = self.text(name.span);
        let fold = |key: u64, byte: u8| (key.rotate_left(8) ^ u64::from(byte)).wrapping_mul(self.factor);
        let key = text.bytes().skip(8).fold(name.head, fold) | LONG;
        self.find_key(key, |number| self.named.get(number).is_some_and(|named| self.text(named.name) == text))
    }

    #[inline]
    fn find_key(&self, key: u64, is_it: impl Fn(usize) -> bool) -> Result<usize, Vacant> {
        let mut at = self.place(key);
        while let Some(slot) = self.slots.get(at).filter(|slot| slot.round == self.round) {
            let number = slot.number as usize;
            if slot.key == key && is_it(number) {
                return Ok(number);
            }
            at = self.after(at);
        }
        Err(Vacant { key, at })
    }

    /// Returns the table index at which the search for a key begins.
    #[inline]
    fn place(&self, key: u64) -> usize {
        (key.wrapping_mul(self.factor) >> self.shift) as usize
    }

    /// Returns the table index that the search examines after `at`.
    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    #[inline(never)]
    fn grow(&mut self) {
        let larger = vec![TableSlot::default(); self.slots.len() * 2];
        self.shift -= 1;
        for slot in std::mem::replace(&mut self.slots, larger).into_iter().filter(|slot| slot.round == self.round) {
            let mut at = self.place(slot.key);
            while self.slots[at].round == self.round {
                at = self.after(at);
            }
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::lexer::Lexer;
    use super::*;

    /// Returns the names in a text that consists only of names.
    fn names(text: &str) -> Vec<Name> {
        let mut lexer = Lexer::new(text);
        (0..text.matches('%').count()).map(|_| lexer.name()).collect()
    }

    #[test]
    fn names_of_every_length_are_told_apart() {
        // Each name is a prefix of all later names, and is paired with a name that differs in the last letter.
        let text: String = (1..40).map(|len| format!("%{} %{}b ", "a".repeat(len), "a".repeat(len - 1))).collect();
        let mut table = Names::new(&text);
        for (number, name) in names(&text).into_iter().enumerate() {
            let vacant = table.entry(name).err().unwrap();
            table.insert(vacant, Named { entity: number, name: name.span, span: name.span, defined: true });
        }
        for (number, name) in names(&text).into_iter().enumerate() {
            assert_eq!(table.get(name).map(|named| named.entity), Some(number));
            assert_eq!(table.get(name).map(|named| named.span), Some(name.span));
        }
        table.clear();
        assert!(names(&text).into_iter().all(|name| table.get(name).is_none()));
        assert_eq!(table.iter().len(), 0);
    }

    #[test]
    fn many_names_are_found_again() {
        let text: String = (0..5000).map(|number| format!("%v{number} ")).collect();
        let names = names(&text);
        let mut table = Names::new(&text);
        for round in 0..3 {
            table.clear();
            for (number, &name) in names.iter().enumerate() {
                assert!(table.get(name).is_none());
                let vacant = table.entry(name).err().unwrap();
                table.insert(vacant, Named { entity: number + round, name: name.span, span: name.span, defined: true });
            }
            let found = names.iter().map(|&name| table.get(name).unwrap().entity);
            assert!(found.eq(round..names.len() + round));
        }
    }
}
