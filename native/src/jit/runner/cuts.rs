//! Positions at which rows are cut into parts. Consecutive lines of an image often diverge at the
//! same items, for example at a border. A row is therefore cut in advance where the previous row
//! diverged.

use arrayvec::ArrayVec;

use crate::jit::context::CHUNK;

/// Maximum number of cuts that are remembered for a row.
const MOST: usize = 4;
/// Number of rows that reuse the same cuts before the cuts are discarded.
const ROWS: u32 = 64;
/// Size above which a part is rounded down to whole chunks. The remaining items become a part of their own, because
/// stores of partial chunks are copied.
const LARGE: u32 = 4096;

/// Cuts of the current row.
#[derive(Default)]
pub(super) struct Cuts {
    /// Start of the row within its run, and the number of items of the row.
    row: (u32, u32),
    /// First items of parts, relative to the row.
    at: ArrayVec<u32, MOST>,
    /// Number of further rows that reuse the cuts.
    rows: u32,
    /// `true` if this row uses the cuts of the previous row.
    is_known: bool,
}

impl Cuts {
    /// Begins a row of `count` items.
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

    /// Returns the end of the part that begins at `start`.
    pub fn end(&self, start: u32) -> u32 {
        let (_, count) = self.row;
        self.at.iter().copied().filter(|&at| at > start).min().unwrap_or(count)
    }

    /// Cuts the part at `start`, which diverges after `items` items. Returns the new end of the part.
    pub fn cut(&mut self, start: u32, items: u32) -> u32 {
        let items = if items > LARGE { items - items % CHUNK } else { items };
        let at = start + items;
        if self.is_known {
            // The remembered cuts no longer fit, so the next row discards them.
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

    /// Runs a row that diverges at `borders`. Returns the ends of its parts, and the number of failed attempts.
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
        // The cuts are discarded and found again.
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
