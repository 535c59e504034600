//! Tests of the chart of the live ranges of registers.

use halfbyte_inspect::view::lifetimes::of_nodes;
use halfbyte_inspect::view::model::Origin;
use halfbyte_inspect::view::registers::{Cell, Node, contents};
use halfbyte_isa::row::RegFile;

const R: fn(u8) -> Cell = |number| ((RegFile::Gpr, number), 0);

fn line(number: usize, reads: &[u8], writes: &[u8]) -> Node {
    let place = Some(Origin { line: number as u32, column: 1 });
    Node {
        reads: reads.iter().map(|&register| R(register)).collect(),
        writes: writes.iter().map(|&register| (R(register), place)).collect(),
        may_skip: false,
        successors: vec![number + 1],
    }
}

#[test]
fn live_range_extends_to_the_last_use() {
    let nodes = [line(0, &[], &[2]), line(1, &[2], &[1]), line(2, &[2, 1], &[2]), line(3, &[2], &[9])];
    let chart = of_nodes(&nodes, &contents(&nodes), Vec::new(), vec![0]);
    let shown: Vec<_> = (chart.rows.iter())
        .map(|(register, stretches)| {
            (register.1, stretches.iter().map(|s| (s.start, s.end, s.is_used)).collect::<Vec<_>>())
        })
        .collect();
    let expected = [(1, vec![(3, 5, true)]), (2, vec![(1, 5, true), (5, 7, true)]), (9, vec![(7, 8, false)])];
    assert_eq!(shown, expected);
}
