//! Sequentialisation of parallel moves: moves that all read their sources before any writes.

use std::collections::BTreeSet;

use halfbyte_isa::ptx::Reg;
use rustc_hash::FxHashMap;

/// Orders moves so that the sequence has the effect of a parallel move. A cycle of moves is broken with a temporary
/// register. Each move is a pair of destination and source. No destination occurs twice.
pub(super) fn sequence(moves: &[(Reg, Reg)], mut temporary: impl FnMut(Reg) -> Reg) -> Vec<(Reg, Reg)> {
    let mut left: Vec<(Reg, Reg)> = moves.iter().copied().filter(|(to, from)| to != from).collect();
    // Numbers of the remaining moves that read each register.
    let mut readers: FxHashMap<Reg, BTreeSet<usize>> = FxHashMap::default();
    for (number, &(_, from)) in left.iter().enumerate() {
        readers.entry(from).or_default().insert(number);
    }
    let writers: FxHashMap<Reg, usize> = left.iter().enumerate().map(|(number, &(to, _))| (to, number)).collect();
    let mut waiting: BTreeSet<usize> = (0..left.len()).collect();
    // A move can be emitted once no remaining move reads its destination.
    let is_free = |&number: &usize| left.get(number).is_some_and(|(to, _)| !readers.contains_key(to));
    let mut free: BTreeSet<usize> = waiting.iter().copied().filter(is_free).collect();
    let mut done = Vec::with_capacity(left.len());
    while let Some(number) = free.pop_first().or_else(|| waiting.first().copied()) {
        let Some(&(to, from)) = left.get(number) else { break };
        if let Some(reading) = readers.remove(&to) {
            let kept = temporary(to);
            done.push((kept, to));
            for &number in &reading {
                left.get_mut(number).into_iter().for_each(|(_, from)| *from = kept);
            }
            readers.insert(kept, reading);
            free.insert(number);
            continue;
        }
        done.push((to, from));
        waiting.remove(&number);
        if let Some(reading) = readers.get_mut(&from) {
            reading.remove(&number);
            if reading.is_empty() {
                readers.remove(&from);
                free.extend(writers.get(&from).filter(|number| waiting.contains(number)));
            }
        }
    }
    done
}
