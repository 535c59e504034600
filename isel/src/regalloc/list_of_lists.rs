//! List of lists whose items are in one vector.

/// Lists that are stored one after another in a single vector and accessed by index.
#[derive(Debug)]
pub(super) struct ListOfLists<T> {
    items: Vec<T>,
    /// Start of each list in the vector of items, followed by the end of the last list.
    bounds: Vec<u32>,
}

impl<T> Default for ListOfLists<T> {
    fn default() -> Self {
        ListOfLists { items: Vec::new(), bounds: vec![0] }
    }
}

impl<T> ListOfLists<T> {
    /// Removes all lists but keeps the allocated memory.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.bounds.truncate(1);
    }

    /// Appends an item to the last list, which is still open.
    pub(super) fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Returns the length of the last list, which is still open.
    pub(super) fn open_len(&self) -> usize {
        self.items.len() - self.start(self.bounds.len() - 1)
    }

    /// Closes the last list. Items that are pushed afterwards belong to a new list.
    pub(super) fn close(&mut self) {
        self.bounds.push(self.items.len() as u32);
    }

    /// Returns the index of a list's first item in the vector of all items.
    pub(super) fn start(&self, list: usize) -> usize {
        self.bounds[list] as usize
    }

    /// Returns the items of all lists.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }

    pub(super) fn get(&self, list: usize) -> &[T] {
        &self.items[self.start(list)..self.start(list + 1)]
    }
}

impl<T: Copy> ListOfLists<T> {
    /// Replaces the contents by `lists` lists. A pair is the number of a list and an item of that
    /// list. The items of a list keep the order of the pairs.
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
        // The bound of each list advances from the list's start to its end, where the next list starts.
        for (list, item) in pairs {
            let at = &mut self.bounds[list as usize + 1];
            self.items[*at as usize] = item;
            *at += 1;
        }
        self.bounds.truncate(lists + 1);
    }
}
