//! When registers hold what is still needed: a row a register, a column an instruction.

use std::collections::{BTreeMap, HashMap, HashSet};

use halfbyte_isa::row::RegFile;

use super::model::{Place, Places};
use super::registers::{Node, Register, Use};

/// A stretch of instructions over which a register holds one thing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    /// Where it begins, in half columns: 2n is before instruction n, 2n + 1 after it.
    pub start: usize,
    /// Where it ends, after the last.
    pub end: usize,
    /// Where what it holds comes from.
    pub defs: Places,
    /// Something reads it.
    pub is_used: bool,
}

/// The chart.
#[derive(Clone, Debug, Default)]
pub(super) struct Lifetimes {
    /// Registers with their stretches in order.
    pub rows: Vec<(Register, Vec<Stretch>)>,
    /// Where each instruction comes from.
    pub columns: Vec<Option<Place>>,
    /// The first instruction of each block.
    pub blocks: Vec<usize>,
}

/// Files in the order of their rows.
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

/// The chart of a function, which has these nodes and uses of registers. `columns` says where each node comes from.
pub(super) fn of_nodes(nodes: &[Node], uses: &[Use], columns: Vec<Option<Place>>, blocks: Vec<usize>) -> Lifetimes {
    // By register: what it holds in each half column, and whether something reads that.
    let mut held: HashMap<Register, BTreeMap<usize, (Places, bool)>> = HashMap::new();
    for of in uses {
        let row = held.entry(of.register).or_default();
        for &half in &of.held {
            let (defs, is_used) = row.entry(half).or_default();
            defs.extend(&of.defs);
            *is_used = true;
        }
    }
    let mut starts: HashMap<Register, HashSet<usize>> = HashMap::new();
    for (number, node) in nodes.iter().enumerate() {
        for &(cell, place) in &node.writes {
            let half = 2 * number + 1;
            let row = held.entry(cell.0).or_default();
            row.entry(half).or_insert_with(|| (place.into_iter().collect(), false));
            if !node.may_skip {
                starts.entry(cell.0).or_default().insert(half);
            }
        }
    }
    let mut rows: Vec<(Register, Vec<Stretch>)> =
        held.into_iter().map(|(register, halves)| (register, stretches(halves, starts.get(&register)))).collect();
    let order = |(file, number): Register| {
        (FILES.iter().position(|&other| other == file).unwrap_or(FILES.len()), file.prefix(), number)
    };
    rows.sort_by_key(|&(register, _)| order(register));
    Lifetimes { rows, columns, blocks }
}

fn stretches(halves: BTreeMap<usize, (Places, bool)>, starts: Option<&HashSet<usize>>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (half, (defs, is_used)) in halves {
        let is_start = starts.is_some_and(|starts| starts.contains(&half));
        match stretches.last_mut() {
            Some(last) if last.end == half && !is_start => {
                last.end = half + 1;
                last.defs.extend(defs);
                last.is_used |= is_used;
            }
            _ => stretches.push(Stretch { start: half, end: half + 1, defs, is_used }),
        }
    }
    stretches
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::registers::{Cell, uses};
    use super::*;

    const R: fn(u8) -> Cell = |number| ((RegFile::Gpr, number), 0);

    fn line(number: usize, reads: &[u8], writes: &[u8]) -> Node {
        let place = Some(Place { line: number as u32, column: 1 });
        Node {
            reads: reads.iter().map(|&register| R(register)).collect(),
            writes: writes.iter().map(|&register| (R(register), place)).collect(),
            may_skip: false,
            successors: vec![number + 1],
        }
    }

    #[test]
    fn a_stretch_goes_from_a_definition_to_the_last_use() {
        let nodes = [line(0, &[], &[2]), line(1, &[2], &[1]), line(2, &[2, 1], &[2]), line(3, &[2], &[9])];
        let chart = of_nodes(&nodes, &uses(&nodes), Vec::new(), vec![0]);
        let shown: Vec<_> = (chart.rows.iter())
            .map(|(register, stretches)| {
                (register.1, stretches.iter().map(|s| (s.start, s.end, s.is_used)).collect::<Vec<_>>())
            })
            .collect();
        let expected = [(1, vec![(3, 5, true)]), (2, vec![(1, 5, true), (5, 7, true)]), (9, vec![(7, 8, false)])];
        assert_eq!(shown, expected);
    }
}
