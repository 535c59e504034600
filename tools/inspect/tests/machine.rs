//! Tests of the control flow of machine code.

use halfbyte_inspect::view::machine::{halu_nodes, loops, vp1_nodes};
use halfbyte_inspect::view::registers::contents;
use halfbyte_isa::object::Loc;
use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::bundles;
use halfbyte_isa::{halu, vp1};

/// A VP1 branch takes effect after the bundle that follows it.
#[test]
fn vp1_branches_take_effect_after_the_delay_slot() {
    let text =
        "mov $r1 0x4\nanop\nsnop\nvnop\nsub $r1 $c0 $r1 0x1\nbra not $c0 zf 0x4\nadd $r2 $r1 0x1\nbnop\nexit 0x0\n";
    let words = vp1::assemble(text).unwrap().words;
    let locs: Vec<Loc> = (1..).take(words.len()).map(|line| Loc { line, column: 1 }).collect();
    let starts: Vec<u32> = bundles(&words).map(|(start, _)| start).collect();
    let nodes = vp1_nodes(&words, &locs);
    let at = |address: u32| starts.iter().rposition(|&start| start <= address).unwrap();
    assert_eq!(nodes[at(6)].successors, [at(6) + 1, at(4)]);
    assert_eq!(nodes[at(5)].successors, [at(5) + 1]);
    assert!(nodes[at(8)].successors.is_empty());
    assert_eq!(loops(&words), [(at(4), at(5))]);
    let found = contents(&nodes).uses;
    let sub = found.iter().find(|of| of.register == (RegFile::R, 1) && of.node == at(4)).unwrap();
    assert_eq!(sub.defs.iter().map(|place| place.line).collect::<Vec<_>>(), [1, 5]);
}

#[test]
fn halu_branch_offsets_are_relative_to_the_branch() {
    let words = halu::assemble("MOV R1, R2 ;\nx:\n@P0 IADD3 R1, R1, R1, RZ ;\n@P1 BRA x ;\nEXIT ;\n").unwrap().words;
    let nodes = halu_nodes(&words, &[Loc::default(); 4]);
    assert_eq!(nodes[2].successors, [3, 1]);
    assert!(nodes[3].successors.is_empty());
    assert!(nodes[1].may_skip && !nodes[0].may_skip);
    assert!(nodes[2].reads.contains(&((RegFile::Pred, 1), 0)));
}
