//! Tests that random HALU code behaves the same before and after register allocation. The code has
//! branches, loops, wide registers and guarded updates.

use crate::regalloc_support::random::{Shape, generate};
use crate::regalloc_support::{count, same};
use halfbyte_isa::halu::Opcode;

/// Statistics of the register allocation of several functions.
#[derive(Default)]
struct Outcome {
    /// Numbers of reloads: of general registers, and of predicates.
    reloads: [usize; 2],
    /// Largest number of general registers that a function uses.
    registers: u32,
}

fn check(seeds: std::ops::Range<u64>, shape: Shape) -> Outcome {
    let mut outcome = Outcome::default();
    for seed in seeds {
        let func = same(generate(seed, shape));
        let [loads, preds] = [&[Opcode::LDL_32, Opcode::LDL_64, Opcode::LDL_128][..], &[Opcode::ISETP_RI]]
            .map(|opcodes| opcodes.iter().map(|&opcode| count(&func, opcode)).sum::<usize>());
        outcome.reloads[0] += loads - preds;
        outcome.reloads[1] += preds;
        outcome.registers = outcome.registers.max(func.registers);
    }
    outcome
}

#[test]
fn small() {
    let outcome = check(0..300, Shape { size: 30, live: [2, 5, 1, 0], depth: 2 });
    assert_eq!(outcome.reloads[0], 0);
    assert!(outcome.registers < 64);
}

#[test]
fn all_classes() {
    let outcome = check(1000..1100, Shape { size: 100, live: [4, 20, 4, 4], depth: 3 });
    assert_eq!(outcome.reloads[0], 0);
}

#[test]
fn many_predicates() {
    let [words, preds] = check(2000..2060, Shape { size: 60, live: [12, 8, 1, 0], depth: 3 }).reloads;
    assert!(words == 0 && preds > 0);
}

#[test]
fn many_words() {
    let outcome = check(3000..3040, Shape { size: 80, live: [2, 100, 0, 0], depth: 3 });
    assert_eq!(outcome.reloads[0], 0);
}

#[test]
fn too_many_words() {
    let outcome = check(3100..3120, Shape { size: 80, live: [2, 230, 2, 1], depth: 3 });
    assert!(outcome.reloads[0] > 0 && outcome.registers > 200);
}

#[test]
fn too_many_of_all() {
    let [words, preds] = check(4000..4020, Shape { size: 300, live: [20, 150, 20, 30], depth: 4 }).reloads;
    assert!(words > 0 && preds > 0);
}
