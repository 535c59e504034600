//! Moves that are made at once, one after another.

use halfbyte_isa::ptx::Reg;

/// Puts moves in an order that has the effect of making all of them at once, with a new register where they go in a circle.
/// A move is what is written and what is read; each register is written once.
pub(super) fn sequence(moves: &[(Reg, Reg)], mut temporary: impl FnMut(Reg) -> Reg) -> Vec<(Reg, Reg)> {
    let mut left: Vec<(Reg, Reg)> = moves.iter().copied().filter(|(to, from)| to != from).collect();
    let mut done = Vec::with_capacity(left.len());
    while !left.is_empty() {
        // What nothing else reads can be written.
        let free = left.iter().position(|&(to, _)| left.iter().all(|&(_, from)| from != to));
        match free {
            Some(place) => done.push(left.remove(place)),
            None => {
                let Some(&(to, _)) = left.first() else { break };
                let kept = temporary(to);
                done.push((kept, to));
                left.iter_mut().filter(|(_, from)| *from == to).for_each(|(_, from)| *from = kept);
            }
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to move four registers to four has the effect of all moves at once.
    #[test]
    fn the_order_of_moves_does_not_show() {
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
            // A circle takes one more, and there are at most two.
            let own = moves.iter().filter(|(to, from)| to != from).count();
            assert!(ordered.len() <= own + 2, "{moves:?}: {ordered:?}");
        }
    }
}
