//! Tests that ordered moves have the effect of a parallel move.

use halfbyte_isa::ptx::Reg;

use moves::sequence;

/// The module is private to the crate, so this test includes its file. It depends on no other module.
#[path = "../src/regalloc/ptx/moves.rs"]
mod moves;

/// Tests all parallel moves from four registers to four registers.
#[test]
fn ordered_moves_equal_a_parallel_move() {
    for number in 0..4u32.pow(4) {
        let moves: Vec<(Reg, Reg)> = (0..4).map(|to| (Reg(to), Reg(number / 4u32.pow(to) % 4))).collect();
        let mut held: Vec<u32> = (0..8).collect();
        let mut next = 4;
        let ordered = sequence(&moves, |_| {
            next += 1;
            Reg(next - 1)
        });
        for &(to, from) in &ordered {
            held[to.0 as usize] = held[from.0 as usize];
        }
        let expected: Vec<u32> = moves.iter().map(|&(_, from)| from.0).collect();
        assert_eq!(held[..4], expected);
        // Each cycle of moves adds one move, and four registers have at most two cycles.
        let own = moves.iter().filter(|(to, from)| to != from).count();
        assert!(ordered.len() <= own + 2, "{moves:?}: {ordered:?}");
    }
}
