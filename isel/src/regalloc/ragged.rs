//! Lists of lists in two allocations.

/// Lists by index, one after the other in one vector.
#[derive(Debug)]
pub(super) struct Ragged<T> {
    items: Vec<T>,
    /// Where each list begins, and where the last one ends.
    bounds: Vec<u32>,
}

impl<T> Default for Ragged<T> {
    fn default() -> Self {
        Ragged { items: Vec::new(), bounds: vec![0] }
    }
}

impl<T> Ragged<T> {
    /// Forgets all lists but keeps their memory.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.bounds.truncate(1);
    }

    /// Appends to the list under way.
    pub(super) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Length of the list under way.
    pub(super) fn open_len(&self) -> usize {
        self.items.len() - self.start(self.bounds.len() - 1)
    }

    /// Ends the list under way.
    pub(super) fn close(&mut self) {
        self.bounds.push(self.items.len() as u32);
    }

    /// Index among all items of a list's first.
    pub(super) fn start(&self, list: usize) -> usize {
        self.bounds[list] as usize
    }

    /// All lists as one.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }

    pub(super) fn get(&self, list: usize) -> &[T] {
        &self.items[self.start(list)..self.start(list + 1)]
    }
}

impl<T: Copy> Ragged<T> {
    /// Makes `lists` lists of pairs of list and item, whose order within a list is kept.
    pub(super) fn group(&mut self, lists: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) {
        self.bounds.clear();
        self.bounds.resize(lists + 2, 0);
        for (list, _) in pairs.clone() {
            self.bounds[list as usize + 2] += 1;
        }
        for i in 2..self.bounds.len() {
            self.bounds[i] += self.bounds[i - 1];
        }
        self.items.clear();
        if let Some((_, any)) = pairs.clone().next() {
            self.items.resize(self.bounds[lists + 1] as usize, any);
        }
        // Each list's bound moves from its start to its end, which is the start of the next.
        for (list, item) in pairs {
            let at = &mut self.bounds[list as usize + 1];
            self.items[*at as usize] = item;
            *at += 1;
        }
        self.bounds.truncate(lists + 1);
    }
}
