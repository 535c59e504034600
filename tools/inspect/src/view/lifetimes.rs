//! The chart of the live ranges of registers, with one row per register and one column per instruction.

use std::collections::HashMap;

use halfbyte_isa::row::RegFile;

use super::model::{Origin, Origins};
use super::registers::{Contents, Held, Node, Register};

/// A live range: a range of instructions over which a register holds one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiveRange {
    /// The start, in half columns: 2n is before instruction n, and 2n + 1 is after it.
    pub start: usize,
    /// The exclusive end, in half columns.
    pub end: usize,
    /// The source positions of the instructions that define the value.
    pub defs: Origins,
    /// `true` if an instruction reads the value.
    pub is_used: bool,
}

/// The contents of the chart of live ranges.
#[derive(Clone, Debug, Default)]
pub struct Lifetimes {
    /// The registers, each with its live ranges in order.
    pub rows: Vec<(Register, Vec<LiveRange>)>,
    /// The source position of each instruction.
    pub columns: Vec<Option<Origin>>,
    /// The index of the first instruction of each block.
    pub blocks: Vec<usize>,
}

/// The register files, in the order of their rows in the chart.
const FILES: [RegFile; 11] = [
    RegFile::Gpr,
    RegFile::Pred,
    RegFile::Ur,
    RegFile::V,
    RegFile::R,
    RegFile::A,
    RegFile::C,
    RegFile::Vc,
    RegFile::Va,
    RegFile::Vx,
    RegFile::L,
];

/// Creates the chart of a function from its instructions (`nodes`) and the live ranges of its registers. `columns` has
/// the source position of each instruction, and `blocks` the index of the first instruction of each block.
pub fn of_nodes(nodes: &[Node], contents: &Contents, columns: Vec<Option<Origin>>, blocks: Vec<usize>) -> Lifetimes {
    let mut rows: HashMap<Register, Timeline> = HashMap::new();
    for Held { register, start, end, defs } in &contents.held {
        let stretch = LiveRange { start: *start, end: *end, defs: (**defs).clone(), is_used: true };
        rows.entry(*register).or_default().held.push(stretch);
    }
    for (number, node) in nodes.iter().enumerate() {
        for &(cell, place) in &node.writes {
            let half = 2 * number + 1;
            let row = rows.entry(cell.0).or_default();
            let (start, end, defs) = (half, half + 1, place.into_iter().collect());
            row.written.push(LiveRange { start, end, defs, is_used: false });
            if !node.may_skip {
                row.starts.push(half);
            }
        }
    }
    let mut rows: Vec<(Register, Vec<LiveRange>)> =
        rows.into_iter().map(|(register, row)| (register, row.merge_live_ranges())).collect();
    let order = |(file, number): Register| {
        (FILES.iter().position(|&other| other == file).unwrap_or(FILES.len()), file.prefix(), number)
    };
    rows.sort_by_key(|&(register, _)| order(register));
    Lifetimes { rows, columns, blocks }
}

/// The live ranges and the writes of one register.
#[derive(Default)]
struct Timeline {
    /// The ranges in which the register holds a value that is read later. The ranges of different
    /// parts of the register may overlap.
    held: Vec<LiveRange>,
    /// The writes to the register, in order.
    written: Vec<LiveRange>,
    /// The positions of the unconditional writes, in order.
    starts: Vec<usize>,
}

impl Timeline {
    /// Merges the ranges and writes into the disjoint live ranges of the register.
    fn merge_live_ranges(self) -> Vec<LiveRange> {
        let Timeline { held, written, mut starts } = self;
        starts.dedup();
        let mut pieces: Vec<LiveRange> = Vec::with_capacity(held.len() + written.len());
        for mut left in held {
            let inside = starts.partition_point(|&at| at <= left.start)..starts.partition_point(|&at| at < left.end);
            for &at in starts.get(inside).unwrap_or_default() {
                pieces.push(LiveRange { end: at, ..left.clone() });
                left.start = at;
            }
            pieces.push(left);
        }
        pieces.extend(written);
        // At the same position, a range whose value is read precedes a write.
        pieces.sort_by_key(|piece| (piece.start, !piece.is_used));
        let mut stretches: Vec<LiveRange> = Vec::new();
        for piece in pieces {
            let is_start = starts.binary_search(&piece.start).is_ok();
            match stretches.last_mut() {
                // The last range already covers this write.
                Some(last) if piece.start < last.end && !piece.is_used => {}
                Some(last) if piece.start < last.end || piece.start == last.end && !is_start => {
                    last.end = last.end.max(piece.end);
                    last.defs.add(&piece.defs);
                    last.is_used |= piece.is_used;
                }
                _ => stretches.push(piece),
            }
        }
        stretches
    }
}
