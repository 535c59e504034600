//! Where a row is run in parts. Lines of an image part at the same items one after the other, as where a border begins, so that a row is
//! cut from the start where the one before it parted.

use arrayvec::ArrayVec;

use crate::jit::context::CHUNK;

/// Cuts that are remembered of a row.
const MOST: usize = 4;
/// Rows that are cut alike before it is found anew where they part.
const ROWS: u32 = 64;
/// Items of which a part is whole chunks, and the rest one of its own: what is stored beside whole chunks is copied.
const LARGE: u32 = 4096;

/// Where rows are cut.
#[derive(Default)]
pub(super) struct Cuts {
    /// Where in its run the row begins, and how many items it has.
    row: (u32, u32),
    /// The first items of parts, counted from the row's.
    at: ArrayVec<u32, MOST>,
    /// Rows that are still to be cut there.
    rows: u32,
    /// This row was cut where the one before it parted.
    is_known: bool,
}

impl Cuts {
    /// Begins a row.
    pub fn begin(&mut self, first: u32, count: u32) {
        self.is_known = self.row == (first, count) && self.rows != 0;
        if self.is_known {
            self.rows -= 1;
        } else {
            self.row = (first, count);
            self.at.clear();
            self.rows = ROWS;
        }
    }

    /// Where the part ends that begins at an item.
    pub fn end(&self, start: u32) -> u32 {
        let (_, count) = self.row;
        self.at.iter().copied().filter(|&at| at > start).min().unwrap_or(count)
    }

    /// A part that begins at an item parts behind so many of its items. Where it ends instead.
    pub fn cut(&mut self, start: u32, items: u32) -> u32 {
        let items = if items > LARGE { items - items % CHUNK } else { items };
        let at = start + items;
        if self.is_known {
            // The rows part elsewhere by now.
            self.rows = 0;
        } else if !self.at.is_full() {
            self.at.push(at);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts that a row is run in which parts at some items, and how often a part was run in vain.
    fn run(cuts: &mut Cuts, count: u32, borders: &[u32]) -> (Vec<u32>, u32) {
        cuts.begin(0, count);
        let (mut parts, mut in_vain, mut start) = (Vec::new(), 0, 0);
        while start != count {
            let mut end = cuts.end(start);
            while let Some(border) = borders.iter().find(|&&border| start < border && border < end) {
                end = cuts.cut(start, border - start);
                in_vain += 1;
            }
            parts.push(end);
            start = end;
        }
        (parts, in_vain)
    }

    #[test]
    fn rows_are_cut_where_the_row_before_parted() {
        let mut cuts = Cuts::default();
        assert_eq!(run(&mut cuts, 1920, &[1]), (vec![1, 1920], 1));
        assert_eq!(run(&mut cuts, 1920, &[1, 1919]), (vec![1, 1919, 1920], 1));
        // Found anew.
        assert_eq!(run(&mut cuts, 1920, &[1, 1919]), (vec![1, 1919, 1920], 2));
        assert_eq!(run(&mut cuts, 1920, &[1, 1919]), (vec![1, 1919, 1920], 0));
        assert_eq!(run(&mut cuts, 1280, &[]), (vec![1280], 0));
    }

    #[test]
    fn rows_that_part_no_more_are_whole_again() {
        let mut cuts = Cuts::default();
        run(&mut cuts, 100, &[7]);
        let whole = (0..2 * ROWS).filter(|_| run(&mut cuts, 100, &[]).0 == [100]).count();
        assert!(whole > ROWS as usize / 2);
    }

    #[test]
    fn large_parts_have_whole_chunks() {
        let mut cuts = Cuts::default();
        assert_eq!(run(&mut cuts, 10_000, &[8001]), (vec![8000, 8001, 10_000], 2));
        assert_eq!(run(&mut cuts, 10_000, &[1, 2, 3, 4, 5, 6]).0, [1, 2, 3, 4, 5, 6, 8000, 8001, 10_000]);
        assert_eq!(run(&mut cuts, 10_000, &[1, 2, 3, 4, 5, 6]).0, [1, 2, 3, 4, 5, 6, 10_000]);
    }
}
