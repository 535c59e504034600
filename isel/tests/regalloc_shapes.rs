//! Tests of register allocation for HALU on small code with known numbers of registers, moves and spills.

use crate::regalloc_support::*;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isel::RegClass;
use halfbyte_isel::vcode::VReg;

/// Allocates code with `n` simultaneously live values. All are defined first and then read in order.
fn live(n: u32) -> MachFunc {
    let mut b = Builder::new();
    let values: Vec<_> = (0..n).map(|i| b.constant(1000 + i)).collect();
    let sum = values[1..].iter().fold(values[0], |sum, &value| b.mix(sum, value));
    b.store(sum, 0);
    same(b.finish())
}

#[test]
fn straight_line() {
    let func = live(4);
    assert_eq!(func.blocks[0].insts.len(), 4 + 3 + 1 + 1);
    assert!(func.registers <= 16, "{}", func.registers);
    assert_eq!((func.spills, func.local_bytes), (0, 0));
}

#[test]
fn no_spill_while_registers_last() {
    for n in [40, 56, 57, 64, 80, 100, 120, 150, 180] {
        let func = live(n);
        assert_eq!((func.spills, func.local_bytes), (0, 0), "{n} live");
        assert!((n..n + 40).contains(&func.registers), "{n} live take {} registers", func.registers);
        assert_eq!(func.blocks[0].insts.len() as u32, 2 * n + 1, "{n} live");
    }
}

#[test]
fn spills_when_registers_run_out() {
    for n in [200, 300, 600] {
        let func = live(n);
        assert!(func.spills > 0 && func.local_bytes >= 4 * (n - 192), "{n} live");
        assert!(func.spills < 2 * n, "{n} live: {}", func.spills);
    }
}

#[test]
fn parts_are_read_and_built_in_place() {
    let mut b = Builder::new();
    let quad = b.load(RegClass::Quad, 0x100);
    let words = [0, 1, 2, 3].map(|i| {
        let inst = Inst::new(Opcode::IMAD_RIR).with(IMM32, 5);
        b.make(RegClass::Word, inst, &[part(RA, quad, i), part(R64, quad, 3 - i)])
    });
    let pair = b.load(RegClass::Pair, 0x200);
    let high = b.make(RegClass::Word, Inst::new(Opcode::IMAD_RIR), &[part(RA, pair, 0), part(R64, pair, 1)]);
    let out = b.build(&words);
    b.store(out, 0x10);
    let out = b.build(&[high, words[2]]);
    b.store(out, 0x20);
    let func = same(b.finish());
    // The only moves are those that build the wide registers from words.
    assert_eq!(count(&func, Opcode::MOV_R), 4 + 2);
    assert_eq!(func.spills, 0);
}

#[test]
fn many_quads() {
    for (n, spill) in [(8, false), (20, false), (31, false), (40, true)] {
        let mut b = Builder::new();
        let quads: Vec<_> = (0..n).map(|i| b.load(RegClass::Quad, 16 * i)).collect();
        for (i, &quad) in quads.iter().enumerate() {
            b.store(quad, 0x1000 + 16 * i as u32);
        }
        let func = same(b.finish());
        assert_eq!(func.spills > 0, spill, "{n} quads: {} spills", func.spills);
        assert_eq!(count(&func, Opcode::STL_128) > 0, spill);
        assert_eq!(count(&func, Opcode::MOV_R), 0);
    }
}

/// 32-bit registers that do not fit their banks are placed in slots for wide registers.
#[test]
fn allocates_words_in_slots_for_quads() {
    let mut b = Builder::new();
    let quad = b.load(RegClass::Quad, 0);
    let words: Vec<_> = (0..140).map(|i| b.constant(i)).collect();
    for (i, &word) in words.iter().enumerate() {
        b.store(word, 0x100 + 4 * i as u32);
    }
    b.store(quad, 0x10);
    assert_eq!(same(b.finish()).spills, 0);
}

/// If a register is read after an instruction has updated it in place, a copy preserves its old
/// contents.
#[test]
fn keeps_a_register_that_is_read_after_its_update() {
    let mut b = Builder::new();
    let pair = b.load(RegClass::Pair, 8);
    let word = b.constant(77);
    let changed = b.reg(RegClass::Pair);
    b.inst(Inst::new(Opcode::MOV_R), &[replace(RD, changed, 1, pair), used(R32, word)]);
    b.store(pair, 0);
    b.store(changed, 8);
    let func = same(b.finish());
    assert_eq!(count(&func, Opcode::MOV_R), 1 + 2);
}

/// If the guard of an update is false, the register keeps its old value, even if other operands of
/// the instruction read the old value.
#[test]
fn guarded_update() {
    for (x, y) in [(1, 2), (2, 1)] {
        let mut b = Builder::new();
        let [x, y] = [x, y].map(|v| b.constant(v));
        let p = b.less(x, y);
        let z = b.reg(RegClass::Word);
        let add = Inst::new(Opcode::IADD3_RRR);
        b.inst(add, &[used(GUARD, p), replace(RD, z, 0, x), used(RA, x), used(R32, y)]);
        b.store(z, 0);
        let func = same(b.finish());
        assert_eq!(func.blocks[0].insts.len(), 6);
    }
}

/// One instruction updates two predicates in place and also reads one of them.
#[test]
fn two_replaced_at_once() {
    for bits in 0..16 {
        let mut b = Builder::new();
        let one = b.constant(1);
        let [p, q, g, r] = [0, 1, 2, 3].map(|i| {
            let bit = b.constant(bits >> i & 1);
            b.less(bit, one)
        });
        for (old_u, old_v, source) in [(p, q, p), (p, q, q), (q, p, r)] {
            let [u, v] = [b.reg(RegClass::Pred), b.reg(RegClass::Pred)];
            let plop3 = Inst::new(Opcode::PLOP3).with(LUT, 0x3c);
            b.inst(
                plop3,
                &[used(GUARD, g), replace(PU, u, 0, old_u), replace(PV, v, 0, old_v), used(PP, source), used(PX, r)],
            );
            for p in [u, v] {
                let word = b.truth(p);
                b.store(word, 0);
            }
        }
        same(b.finish());
    }
}

/// Allocates a loop with `n` parameters of a register class. Each iteration stores and rotates
/// them, as in `loop(a, b) { store a; (a, b) = (b, a) }`.
fn swap(class: RegClass, n: usize) -> MachFunc {
    let mut b = Builder::new();
    let values: Vec<VReg> = (0..n)
        .map(|i| match class {
            RegClass::Pred => {
                let [x, y] = [i as u32 % 2, 1].map(|v| b.constant(v));
                b.less(x, y)
            }
            class => b.load(class, 16 * i as u32),
        })
        .collect();
    let zero = b.constant(0);
    let (head, params) = b.block(&[&[RegClass::Word], vec![class; n].as_slice()].concat());
    let ((latch, _), (end, _)) = (b.block(&[]), b.block(&[]));
    b.jump((head, &[&[zero], values.as_slice()].concat()));

    b.at(head);
    for (i, &value) in params[1..].iter().enumerate() {
        let word = if class == RegClass::Pred { b.truth(value) } else { value };
        b.store(word, 0x1000 + 16 * i as u32);
    }
    let one = b.constant(1);
    let four = b.constant(4);
    let next = b.make(RegClass::Word, Inst::new(Opcode::IADD3_RRR), &[used(RA, params[0]), used(R32, one)]);
    let more = b.less(next, four);
    b.branch(more, false, (latch, &[]), (end, &[]));

    b.at(latch);
    let mut rotated = params[1..].to_vec();
    rotated.rotate_left(1);
    b.jump((head, &[&[next], rotated.as_slice()].concat()));
    same(b.finish())
}

#[test]
fn cycles_of_block_parameters() {
    for class in [RegClass::Word, RegClass::Pair, RegClass::Quad, RegClass::Pred] {
        for n in [2, 3, 6] {
            let func = swap(class, n);
            assert_eq!((func.spills, func.local_bytes), (0, 0), "{n} of {class:?}");
        }
    }
    // All registers are occupied, so a cycle of moves must go through memory.
    swap(RegClass::Pred, 8);
    swap(RegClass::Pred, 20);
    swap(RegClass::Quad, 31);
    swap(RegClass::Quad, 40);
    swap(RegClass::Pair, 70);
    swap(RegClass::Word, 250);
}

#[test]
fn pointer_around_a_loop_is_not_moved() {
    let mut b = Builder::new();
    let pointer = b.load(RegClass::Pair, 0);
    let zero = b.constant(0);
    let (head, params) = b.block(&[RegClass::Pair, RegClass::Word]);
    let ((latch, _), (end, _)) = (b.block(&[]), b.block(&[]));
    b.jump((head, &[pointer, zero]));
    b.at(head);
    let word = b.make(RegClass::Word, Inst::new(Opcode::LDG_W_32), &[used(RA, params[0])]);
    b.store(word, 0);
    let next = b.make(
        RegClass::Pair,
        Inst::new(Opcode::IMAD_WIDE_RIR).with(IMM32, 4),
        &[used(RA, word), used(R64, params[0])],
    );
    let one = b.constant(1);
    let i = b.make(RegClass::Word, Inst::new(Opcode::IADD3_RRR), &[used(RA, params[1]), used(R32, one)]);
    let ten = b.constant(10);
    let more = b.less(i, ten);
    b.branch(more, true, (end, &[]), (latch, &[]));
    b.at(latch);
    b.jump((head, &[next, i]));
    let func = same(b.finish());
    assert_eq!(count(&func, Opcode::MOV_R), 0);
    assert_eq!(func.spills, 0);
}

#[test]
fn predicates() {
    for n in [1, 6, 7, 8, 30] {
        for words in [0, 70, 250] {
            let mut b = Builder::new();
            let one = b.constant(1);
            let words: Vec<_> = (0..words).map(|i| b.constant(i)).collect();
            let preds: Vec<_> = (0..n)
                .map(|i| {
                    let bit = b.constant(i / 3 % 2);
                    b.less(bit, one)
                })
                .collect();
            for p in preds {
                let word = b.truth(p);
                b.store(word, 0);
            }
            for &word in &words {
                b.store(word, 0);
            }
            let func = same(b.finish());
            let spilled = count(&func, Opcode::ISETP_RI);
            assert_eq!(spilled > 0, n > 7, "{n} predicates, {} words", words.len());
        }
    }
}

/// An unreachable block remains in the allocated code as an empty block.
#[test]
fn unreachable_block() {
    let mut b = Builder::new();
    let x = b.constant(3);
    let ((dead, params), (end, _)) = (b.block(&[RegClass::Word]), b.block(&[]));
    b.store(x, 0);
    b.jump((end, &[]));
    b.at(dead);
    b.store(params[0], 4);
    b.jump((end, &[]));
    let func = same(b.finish());
    assert_eq!(func.blocks.len(), 3);
    assert!(func.blocks[dead as usize].insts.is_empty());
}

/// If one target of a branch is the next block, the guarded branch instruction leads to the other target.
#[test]
fn guards_the_branch_that_leaves_the_layout_order() {
    let mut b = Builder::new();
    let [x, y] = [1, 2].map(|v| b.constant(v));
    let p = b.less(x, y);
    let ((then, _), (otherwise, _)) = (b.block(&[]), b.block(&[]));
    b.branch(p, false, (then, &[]), (otherwise, &[]));
    b.at(then);
    b.store(x, 0);
    b.at(otherwise);
    b.store(y, 0);
    let func = same(b.finish());
    let [.., first, second] = func.blocks[0].insts.as_slice() else { panic!() };
    assert_eq!((first.target, first.inst.get(GUARD_NOT), second.target), (Some(otherwise), 1, Some(then)));
}
