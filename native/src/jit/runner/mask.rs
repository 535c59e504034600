//! Masks of the items of a row. Operations take time in proportion to the span between the first
//! and the last item.

use std::ops::Range;

use super::super::context::CHUNK;

/// Set of items of a row.
#[derive(Clone, Default, Debug)]
pub(in crate::jit) struct Mask {
    /// One word for each item of the row: all ones if the item is in the set, zero otherwise.
    words: Vec<u32>,
    /// Range that contains all items of the set. The range begins at a chunk boundary, and ends at one or at the end of
    /// the row.
    span: Range<usize>,
}

impl Mask {
    /// Returns one word for each item of the row: all ones if the item is in the set, zero otherwise.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the range that contains all items of the set.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the words of the span.
    pub fn spanned(&self) -> &[u32] {
        self.words.get(self.span()).unwrap_or_default()
    }

    pub fn count(&self) -> u32 {
        self.spanned().iter().map(|word| word & 1).sum()
    }

    /// Returns the items in ascending order.
    pub fn items(&self) -> impl Iterator<Item = u32> {
        (self.span.start as u32..).zip(self.spanned()).filter(|(_, word)| **word != 0).map(|(item, _)| item)
    }

    /// Removes all items, and sets the length of the row.
    pub fn clear(&mut self, items: u32) {
        let span = std::mem::take(&mut self.span);
        if let Some(words) = self.words.get_mut(span) {
            words.fill(0);
        }
        self.words.resize(items as usize, 0);
    }

    /// Adds all items, and sets the length of the row.
    pub fn fill(&mut self, items: u32) {
        self.words.clear();
        self.words.resize(items as usize, u32::MAX);
        self.span = 0..items as usize;
    }

    /// Removes the items for which `holds` returns `false`.
    pub fn retain(&mut self, mut holds: impl FnMut(u32) -> bool) {
        for (item, word) in (self.span.start as u32..).zip(self.words.get_mut(self.span.clone()).unwrap_or_default()) {
            if *word != 0 && !holds(item) {
                *word = 0;
            }
        }
        self.shrink();
    }

    pub fn truncate(&mut self, items: u32) {
        let items = items as usize;
        self.words.truncate(items);
        self.span = self.span.start.min(items / CHUNK as usize * CHUNK as usize)..self.span.end.min(items);
        self.shrink();
    }

    pub fn insert(&mut self, item: u32) {
        if let Some(word) = self.words.get_mut(item as usize) {
            *word = u32::MAX;
            self.widen(item as usize..item as usize + 1);
        }
    }

    /// Adds the items of another mask of the same row.
    pub fn join(&mut self, other: &Mask) {
        if let Some(words) = self.words.get_mut(other.span()) {
            words.iter_mut().zip(other.spanned()).for_each(|(word, other)| *word |= other);
            self.widen(other.span());
        }
    }

    /// Returns the number of items whose word in `holds` is all ones.
    pub fn count_where(&self, holds: &[u32]) -> u32 {
        let holds = holds.get(self.span()).unwrap_or_default();
        self.spanned().iter().zip(holds).map(|(word, holds)| word & holds & 1).sum()
    }

    /// Moves the items whose word in `holds` is all ones to `taken`, an empty mask of the same row.
    pub fn split(&mut self, holds: &[u32], taken: &mut Mask) {
        let span = self.span();
        let (Some(words), Some(to), Some(holds)) =
            (self.words.get_mut(span.clone()), taken.words.get_mut(span.clone()), holds.get(span.clone()))
        else {
            return;
        };
        for ((word, to), holds) in words.iter_mut().zip(to).zip(holds) {
            *to = *word & holds;
            *word &= !holds;
        }
        taken.span = span;
        self.shrink();
        taken.shrink();
    }

    /// Extends the span to whole chunks that contain `more`.
    fn widen(&mut self, more: Range<usize>) {
        let chunk = CHUNK as usize;
        let more = more.start / chunk * chunk..more.end.next_multiple_of(chunk).min(self.words.len());
        self.span = match self.span.is_empty() {
            true => more,
            false => self.span.start.min(more.start)..self.span.end.max(more.end),
        };
    }

    /// Removes chunks without items from both ends of the span.
    fn shrink(&mut self) {
        let chunk = CHUNK as usize;
        let has_any = |words: &[u32]| words.iter().fold(0, |any, word| any | word) != 0;
        while !self.span.is_empty() {
            let next = self.span.end.min(self.span.start + chunk);
            if self.words.get(self.span.start..next).is_some_and(has_any) {
                break;
            }
            self.span.start = next;
        }
        while !self.span.is_empty() {
            let last = (self.span.end - 1) / chunk * chunk;
            if self.words.get(last..self.span.end).is_some_and(has_any) {
                break;
            }
            self.span.end = last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(mask: &Mask) -> Vec<u32> {
        mask.items().collect()
    }

    #[test]
    fn spans_follow_what_is_split_and_joined() {
        let mut mask = Mask::default();
        mask.fill(70);
        let holds: Vec<u32> = (0..70).map(|item| u32::from((20..60).contains(&item)).wrapping_neg()).collect();
        assert_eq!(mask.count_where(&holds), 40);
        let mut taken = Mask::default();
        taken.clear(70);
        mask.split(&holds, &mut taken);
        assert_eq!((taken.span(), taken.count(), mask.count()), (16..64, 40, 30));
        assert_eq!(items(&taken), (20..60).collect::<Vec<_>>());
        taken.retain(|item| item < 30 || item == 47);
        assert_eq!(taken.span(), 16..48);
        mask.clear(70);
        assert!(mask.words().iter().all(|&word| word == 0));
        mask.insert(69);
        assert_eq!(mask.span(), 64..70);
        mask.join(&taken);
        assert_eq!((mask.span(), mask.count()), (16..70, 12));
        assert_eq!(items(&mask)[10..], [47, 69]);
        mask.truncate(22);
        assert_eq!((mask.span(), items(&mask)), (16..22, vec![20, 21]));
        mask.truncate(20);
        assert!(mask.span().is_empty() && mask.count() == 0);
        mask.insert(3);
        assert_eq!((mask.span(), mask.count()), (0..16, 1));
    }
}
