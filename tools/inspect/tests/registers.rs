//! Tests of the analysis of registers, and of register names in assembly text.

use halfbyte_inspect::view::model::{Origin, Token};
use halfbyte_inspect::view::registers::{Cell, Node, Touched, Use, contents, tokens};
use halfbyte_isa::row::RegFile;

const R0: Cell = ((RegFile::Gpr, 0), 0);

fn place(line: u32) -> Option<Origin> {
    Some(Origin { line, column: 1 })
}

fn lines(found: &Use) -> Vec<u32> {
    found.defs.iter().map(|place| place.line).collect()
}

#[test]
fn a_use_finds_every_definition_that_reaches_it() {
    // Node 0 writes the register. Node 1 branches to node 2 or 3. Node 2 writes the register. Node
    // 3 reads the register and branches back to node 1.
    let node = |writes: bool, line, successors: &[usize]| Node {
        writes: if writes { vec![(R0, place(line))] } else { Vec::new() },
        successors: successors.to_vec(),
        ..Node::default()
    };
    let mut nodes = vec![node(true, 1, &[1]), node(false, 2, &[2, 3]), node(true, 3, &[3]), node(false, 4, &[1])];
    nodes[3].reads = vec![R0];
    let found = contents(&nodes);
    assert_eq!(lines(&found.uses[0]), [1, 3]);
    let held: Vec<usize> = found.held.iter().flat_map(|held| held.start..held.end).collect();
    assert_eq!(held, [1, 2, 3, 5, 6, 7], "after 0, around 1, after 2, around 3");
    nodes[2].may_skip = true;
    nodes[1].successors = vec![2];
    assert_eq!(lines(&contents(&nodes).uses[0]), [1, 3], "what may be skipped keeps what was there");
    nodes[2].may_skip = false;
    assert_eq!(lines(&contents(&nodes).uses[0]), [3]);
}

#[test]
fn ignores_reads_of_unwritten_registers() {
    let node = Node { reads: vec![R0], ..Node::default() };
    let found = contents(&[node]);
    assert!(found.uses.is_empty() && found.held.is_empty());
}

#[test]
fn registers_in_assembly_are_found() {
    let v = |number| (RegFile::V, number);
    let mut touched = Touched::default();
    touched.reads.insert(v(7), place(1).into_iter().collect());
    touched.reads.insert(v(9), place(2).into_iter().collect());
    touched.writes.push(v(7));
    let shown = |assembly: &str| -> Vec<String> {
        let name = |token: Token| match token {
            Token::Name { text, is_def, defs } => {
                Some(format!("{text} {is_def} {}", defs.iter().next().map_or(0, |p| p.line)))
            }
            _ => None,
        };
        tokens(assembly, None, &touched, place(3)).into_iter().filter_map(name).collect()
    };
    assert_eq!(shown("vmin u $v7 $v7 $v9"), ["$v7 true 3", "$v7 false 1", "$v9 false 2"]);
    assert_eq!(shown("x $v8d $v1d"), ["$v8d false 2"]);
    assert_eq!(shown("x $v4q"), ["$v4q true 3"]);
    assert_eq!(shown(""), Vec::<String>::new());
}
