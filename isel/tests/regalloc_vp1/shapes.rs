//! Tests of register allocation for VP1 on small code with known numbers of moves and spills.

use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isel::regalloc::AllocError;
use halfbyte_isel::vcode::VReg;
use halfbyte_isel::vp1::Class;

use super::support::*;

/// Interpolates `a + (b - a) * t` on the pair `b`, `a`.
fn lerp(b: &mut Builder, pair: [VReg; 2], t: VReg) -> VReg {
    let operands = [tuple(SRC1, &pair), vec![used(SRC2, t)]].concat();
    b.make(Class::V, Inst::new(Opcode::VLRP), &operands)
}

/// Emits an interpolation on a quad of vectors, with constant factors from the scalar unit.
fn lerp_four(b: &mut Builder, quad: [VReg; 4], flags: VReg) -> VReg {
    let operands = [tuple(SRC1, &quad), vec![used(COND, flags)]].concat();
    let operands: Vec<_> = operands.into_iter().map(second).collect();
    // The factors are constant, so the vector flags that choose between factors do not matter.
    let vec = Inst::new(Opcode::VEC).with(FACTOR1, 77).with(FACTOR2, 41);
    b.make_two(Class::V, [vec, Inst::new(Opcode::VLRP2)], &operands)
}

/// Allocates code with `n` simultaneously live vectors. All are defined first and then read in order.
fn live(n: u32) -> MachFunc {
    let mut b = Builder::new();
    let values: Vec<_> = (0..n).map(|i| b.vector(i)).collect();
    for (i, &value) in values.iter().enumerate() {
        b.store(value, i as u32);
    }
    for &value in &values {
        b.store(value, 99);
    }
    same(b.finish())
}

#[test]
fn straight_line() {
    let func = live(4);
    assert_eq!(func.blocks[0].insts.len(), 4 + 8 + 1);
    assert_eq!((func.spills, func.local_bytes, func.registers), (0, 0, 0));
}

#[test]
fn no_spill_while_registers_last() {
    for n in [8, 24, 31, 32] {
        let func = live(n);
        assert_eq!((func.spills, moves(&func)), (0, 0), "{n} live");
    }
}

#[test]
fn vectors_spill() {
    for n in [33, 40, 100] {
        let func = live(n);
        assert!(func.spills >= n - 32 && func.spills <= n, "{n} live: {} spills", func.spills);
        assert!(func.local_bytes >= 16 * (n - 32) && func.local_bytes.is_multiple_of(16));
    }
}

#[test]
fn words_spill() {
    for (n, spills) in [(30, false), (31, false), (32, true), (120, true)] {
        let mut b = Builder::new();
        let values: Vec<_> = (0..n).map(|i| b.constant(1000 + i)).collect();
        for _ in 0..2 {
            values.iter().for_each(|&value| b.store(value, 7));
        }
        let func = same(b.finish());
        assert_eq!(func.spills > 0, spills, "{n} live");
        assert!(func.registers <= 31);
    }
}

/// The data image and the spill slots together have at most 2048 bytes.
#[test]
fn frame() {
    let code = |n: u32, image: usize| {
        let mut b = Builder::new();
        let values: Vec<_> = (0..n).map(|i| b.vector(i)).collect();
        values.iter().chain(&values).for_each(|&value| b.store(value, 7));
        b.code.extra.tiles.image = vec![1; image];
        b.finish()
    };
    let func = same(code(8, 21));
    assert_eq!(func.local_bytes, 21);
    let func = same(code(40, 21));
    assert_eq!(func.local_bytes % 16, 0);
    assert!(func.local_bytes >= 32 + 8 * 16);
    let error = checked(code(200, 0)).unwrap_err();
    assert!(matches!(error, AllocError::Pressure { bytes: 2049.., most: 2048, .. }), "{error}");
    let error = checked(code(60, 1800)).unwrap_err();
    assert!(matches!(error, AllocError::Pressure { most: 240, .. }), "{error}");
    assert!(matches!(checked(code(2, 2049)).unwrap_err(), AllocError::Frame { image: 2049, spilled: 0 }));
}

#[test]
fn pairs_of_fresh_values_are_not_moved() {
    let mut b = Builder::new();
    for i in 0..16 {
        let [x, y, t] = [0, 1, 2].map(|k| b.vector(3 * i + k));
        let z = lerp(&mut b, [x, y], t);
        b.store(z, i);
    }
    let func = same(b.finish());
    assert_eq!((moves(&func), func.spills), (0, 0));
}

#[test]
fn live_pairs_are_not_moved() {
    let mut b = Builder::new();
    let values: Vec<_> = (0..16).map(|i| b.vector(i)).collect();
    let t = b.vector(50);
    for round in 0..3 {
        for pair in values.chunks(2) {
            let z = lerp(&mut b, [pair[0], pair[1]], t);
            b.store(z, round);
        }
    }
    let func = same(b.finish());
    assert_eq!((moves(&func), func.spills), (0, 0));
}

#[test]
fn pair_of_one_register_is_odd() {
    let mut b = Builder::new();
    let [x, t] = [0, 1].map(|i| b.vector(i));
    let z = lerp(&mut b, [x, x], t);
    b.store(z, 0);
    b.store(x, 1);
    let func = same(b.finish());
    assert_eq!(moves(&func), 0);
    let lerp = func.blocks[0].insts.iter().find(|mach| mach.inst.insts[0].opcode() == Opcode::VLRP).unwrap();
    assert_eq!(lerp.inst.insts[0].get(SRC1) & 1, 1);
}

/// Each value is first the second register of a pair and then the first of the next pair, so each
/// value moves at most once.
#[test]
fn sliding_window() {
    let mut b = Builder::new();
    let values: Vec<_> = (0..9).map(|i| b.vector(i)).collect();
    let t = b.vector(50);
    for (i, pair) in values.windows(2).enumerate() {
        let z = lerp(&mut b, [pair[0], pair[1]], t);
        b.store(z, i as u32);
    }
    let func = same(b.finish());
    assert!(moves(&func) <= 8, "{} moves", moves(&func));
    assert_eq!(func.spills, 0);
}

/// A choice between two registers can have them in either order, unless two choices share a register.
#[test]
fn choices() {
    let mut b = Builder::new();
    let [x, y, z] = [5, 6, 7].map(|i| b.constant(i));
    for (i, [p, q]) in [[x, y], [y, x], [x, z], [z, y]].into_iter().enumerate() {
        let flags = b.compare(p, z);
        let operands = [vec![used(SRC1, x)], tuple(SRC2, &[p, q]), vec![used(COND, flags)]].concat();
        let add = Inst::new(Opcode::ADD_RR).with(SLCT, i as u64 % 2);
        let sum = b.make(Class::R, add, &operands);
        b.store(sum, i as u32);
    }
    same(b.finish());
}

#[test]
fn live_quads_are_not_moved() {
    for n in [1, 2, 3, 6] {
        let mut b = Builder::new();
        let quads: Vec<[VReg; 4]> = (0..n).map(|i| [0, 1, 2, 3].map(|k| b.vector(4 * i + k))).collect();
        let flags = b.no_rotation();
        for round in 0..8 {
            for &quad in &quads {
                let z = lerp_four(&mut b, quad, flags);
                b.store(z, round);
            }
        }
        let func = same(b.finish());
        assert_eq!((moves(&func), func.spills), (0, 0), "{n} quads");
    }
}

/// A rotation of the registers of a quad is the same quad.
#[test]
fn rotated_quads() {
    let mut b = Builder::new();
    let q = [0, 1, 2, 3].map(|k| b.vector(k));
    let flags = b.no_rotation();
    for quad in [q, [q[1], q[2], q[3], q[0]], [q[3], q[0], q[1], q[2]]] {
        let z = lerp_four(&mut b, quad, flags);
        b.store(z, 0);
    }
    let func = same(b.finish());
    assert_eq!(moves(&func), 0);
}

#[test]
fn a_quad_among_many() {
    let mut b = Builder::new();
    let around: Vec<_> = (0..25).map(|i| b.vector(i)).collect();
    let quad = [30, 31, 32, 33].map(|k| b.vector(k));
    let flags = b.no_rotation();
    let z = lerp_four(&mut b, quad, flags);
    b.store(z, 0);
    around.iter().for_each(|&value| b.store(value, 1));
    let func = same(b.finish());
    assert!(func.spills <= 2, "{}", func.spills);
}

/// Loop-carried values that an instruction reads as a register pair need no moves.
#[test]
fn pair_around_a_loop() {
    let mut b = Builder::new();
    let [x, y, t] = [0, 1, 2].map(|i| b.vector(i));
    let zero = b.constant(0);
    let (head, p) = b.block(&[Class::R, Class::V, Class::V]);
    let [(latch, _), (end, _)] = [b.block(&[]), b.block(&[])];
    b.jump((head, &[zero, x, y]));
    b.at(head);
    let z = lerp(&mut b, [p[1], p[2]], t);
    let w = b.mix_vectors(z, p[2]);
    b.store(z, 0);
    let next = b.make(Class::R, Inst::new(Opcode::ADD_RI).with(IMM, 1), &[used(SRC1, p[0])]);
    let five = b.constant(5);
    let flags = b.compare(next, five);
    b.branch(flags, 0, false, (latch, &[]), (end, &[]));
    b.at(latch);
    b.jump((head, &[next, z, w]));
    let func = same(b.finish());
    assert_eq!(moves(&func), 0);
}

/// An instruction updates single words of a vector in place.
#[test]
fn a_vector_of_words() {
    let mut b = Builder::new();
    let words = [3, 5, 7, 11].map(|w| b.constant(w));
    let to_word = |k: u64| Inst::new(Opcode::MOV_V_R).with(VWORD, k);
    let mut vector = b.make(Class::V, to_word(0), &[used(SRC1, words[0])]);
    for (k, &word) in words.iter().enumerate().skip(1) {
        let next = b.reg(Class::V);
        b.inst(to_word(k as u64), &[replace(DST, next, vector), used(SRC1, word)]);
        vector = next;
    }
    b.store(vector, 0);
    let other = b.reg(Class::V);
    b.inst(to_word(2), &[replace(DST, other, vector), used(SRC1, words[0])]);
    b.store(vector, 1);
    b.store(other, 2);
    let func = same(b.finish());
    assert_eq!(moves(&func), 1);
}

/// An instruction updates one half of a register in place.
#[test]
fn high_half() {
    let mut b = Builder::new();
    let low = b.constant(0x1234);
    let both = b.reg(Class::R);
    b.inst(Inst::new(Opcode::SETHI).with(IMM16, 0x5678), &[replace(DST, both, low)]);
    b.store(both, 0);
    b.store(low, 1);
    same(b.finish());
}

/// The word selector of `mov` is allocated like the number of a `$vc`.
#[test]
fn flags_of_vectors_as_words() {
    let mut b = Builder::new();
    let v: Vec<_> = (0..5).map(|i| b.vector(i)).collect();
    let flags: Vec<_> = (0..4).map(|i| b.compare_vectors(v[i], v[i + 1])).collect();
    let all = b.make(Class::V, Inst::new(Opcode::MOV_VC), &[]);
    for &flags in &flags {
        let word = b.make(Class::R, Inst::new(Opcode::MOV_R_V), &[used(SRC1, all), used(VWORD, flags)]);
        b.store(word, 0);
    }
    let expected = (0..4).map(|i| {
        let signs = (0..16).filter(|k| (junk(16 * i + k) as i8) < junk(16 * (i + 1) + k) as i8);
        signs.fold(0u16, |signs, k| signs | 1 << k).to_le_bytes()
    });
    let stored = run_machine(&checked(b.finish()).unwrap(), 1);
    let stored = stored.iter().map(|(_, bytes)| [bytes[0], bytes[1]]);
    assert_eq!(stored.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

/// The scalar unit passes factors, chosen by vector flags, to the vector unit in the same bundle.
#[test]
fn scalar_and_vector_in_one_bundle() {
    let mut b = Builder::new();
    let [x, y, zero] = [0, 1, 2].map(|i| b.vector(i));
    let masks = b.compare_vectors(x, y);
    let factors = b.constant(0x10100);
    let operands = [
        vec![used(SRC1, factors), used(VCIDX, masks)],
        tuple(SRC1, &[x, y]).into_iter().map(second).collect(),
        vec![second(used(SRC2, zero))],
    ];
    let insts = [Inst::new(Opcode::BVEC), Inst::new(Opcode::VMAD2_U).with(SHIFT, 7).with(FRACTINT, 1).with(HILO, 1)];
    let z = b.make_two(Class::V, insts, &operands.concat());
    b.store(z, 0);
    let func = same(b.finish());
    assert_eq!(func.blocks[0].insts.iter().filter(|mach| mach.inst.insts.len() == 2).count(), 1);
}

/// Two `$vc` that an instruction reads as a pair are adjacent, in either order.
#[test]
fn flags_of_two_vectors() {
    for order in [[0, 1], [1, 0], [0, 0], [1, 1]] {
        let mut b = Builder::new();
        let v: Vec<_> = (0..4).map(|i| b.vector(i)).collect();
        let unpaired = b.compare_vectors(v[1], v[3]);
        let flags = [0, 1].map(|i| b.compare_vectors(v[i], v[i + 2]));
        let factors = b.constant(0x10100);
        for (wide, masks) in [(1, order.map(|i| flags[i]).to_vec()), (0, vec![unpaired])] {
            let bvec = Inst::new(Opcode::BVEC).with(VCXFRM_LOW, 3 * wide).with(VCXFRM_HIGH, wide);
            let vmad2 = Inst::new(Opcode::VMAD2_U).with(SHIFT, 7).with(FRACTINT, 1);
            let taken = [tuple(SRC1, &[v[0], v[1]]), vec![used(SRC2, v[2])]].concat();
            let operands = [vec![used(SRC1, factors)], tuple(VCIDX, &masks), taken.into_iter().map(second).collect()];
            let z = b.make_two(Class::V, [bvec, vmad2], &operands.concat());
            b.store(z, 0);
        }
        same(b.finish());
    }
}

/// Instructions that pass a value through `$va` give the same result if vectors are spilled around them.
#[test]
fn accumulator_under_pressure() {
    let mut b = Builder::new();
    let values: Vec<_> = (0..60).map(|i| b.vector(i)).collect();
    for i in 0..59 {
        let unread = b.reg(Class::V);
        b.inst(Inst::new(Opcode::VMUL_U_RR), &[def(DST, unread), used(SRC1, values[i]), used(SRC2, values[59 - i])]);
        let operands = [used(SRC1, values[i + 1]), used(SRC2, values[(7 * i) % 60])];
        let sum = b.make(Class::V, Inst::new(Opcode::VMAC_U_RR), &operands);
        b.store(sum, i as u32);
    }
    assert!(same(b.finish()).spills > 0);
}

/// The field of the third operand of `vmac2` also encodes other parts of the instruction, so it fixes the register.
#[test]
fn registers_of_given_numbers() {
    for (numbers, moved) in [([28, 28], 0), ([28, 19], 1), ([31, 16], 1)] {
        let mut b = Builder::new();
        let [x, y, z] = [0, 1, 2].map(|i| b.vector(i));
        for number in numbers {
            b.inst(Inst::new(Opcode::VMUL_S_RR_VA), &[used(SRC1, x), used(SRC2, y)]);
            let vec = Inst::new(Opcode::VEC).with(FACTOR1, 77).with(FACTOR2, 41);
            let both = [vec, Inst::new(Opcode::VMAC2_S_RR).with(SRC3, number)];
            let sum = b.make_two(Class::V, both, &[second(used(SRC1, z)), second(used(SRC3, y))]);
            b.store(sum, number as u32);
        }
        [x, y, z].into_iter().for_each(|value| b.store(value, 99));
        let func = same(b.finish());
        let words = func.blocks[0].insts.iter().flat_map(|mach| &mach.inst.insts);
        let given: Vec<_> =
            words.filter(|inst| inst.opcode() == Opcode::VMAC2_S_RR).map(|inst| inst.get(SRC3)).collect();
        assert_eq!((given.as_slice(), moves(&func)), (numbers.as_slice(), moved));
    }
}

#[test]
fn load_to_a_chosen_register() {
    for bit in [0, 1] {
        let mut b = Builder::new();
        let quad = [0, 1, 2, 3].map(|k| b.vector(k));
        let [x, y] = [3, 4].map(|i| b.constant(i));
        let flags = b.compare(x, y);
        let news = [0; 4].map(|_| b.reg(Class::V));
        let mut operands: Vec<_> = (0..4).map(|k| replace(DST, news[k], quad[k])).collect();
        (0..).zip(&mut operands).for_each(|(k, operand)| operand.part = k);
        operands.push(used(COND, flags));
        b.inst(Inst::new(Opcode::LDAXH).with(SRC1, 1).with(SRC2, 31).with(SLCT, bit), &operands);
        news.iter().chain(&quad).for_each(|&value| b.store(value, 0));
        same(b.finish());
    }
}

#[test]
fn quad_of_words() {
    let mut b = Builder::new();
    let words = [0x11, 0x2222, 0x3333, 0x1444].map(|w| b.constant(w));
    let [x, y, zero] = [0, 1, 2].map(|i| b.vector(i));
    let masks = b.compare_vectors(x, y);
    for bit in [PLAIN, ALWAYS] {
        let operands = [
            vec![used(SRC1, words[3])],
            tuple(SRC2, &words),
            vec![used(VCIDX, masks)],
            tuple(SRC1, &[x, y]).into_iter().map(second).collect(),
            vec![second(used(SRC2, zero))],
        ];
        let insts = [Inst::new(Opcode::BVECMAD).with(SLCT, bit), Inst::new(Opcode::VMAD2_U)];
        let z = b.make_two(Class::V, insts, &operands.concat());
        b.store(z, 0);
    }
    let func = same(b.finish());
    assert_eq!((moves(&func), count(&func, Opcode::OR_RI)), (0, 0));
}

#[test]
fn unreachable_block_is_empty() {
    let mut b = Builder::new();
    let x = b.constant(1);
    b.store(x, 0);
    let (nowhere, _) = b.block(&[]);
    b.at(nowhere);
    b.store(x, 1);
    assert!(same(b.finish()).blocks[1].insts.is_empty());
}

#[test]
fn inverts_the_branch_to_the_next_block() {
    let mut b = Builder::new();
    let [x, y] = [1, 2].map(|i| b.constant(i));
    let flags = b.compare(x, y);
    let [(then, _), (otherwise, _)] = [b.block(&[]), b.block(&[])];
    b.branch(flags, 0, false, (then, &[]), (otherwise, &[]));
    for block in [then, otherwise] {
        b.at(block);
        b.store(x, block);
    }
    let func = same(b.finish());
    let [.., first, second] = func.blocks[0].insts.as_slice() else { panic!() };
    assert_eq!((first.target, second.target), (Some(otherwise), Some(then)));
    assert_eq!((first.inst.insts[0].opcode(), second.inst.insts[0].opcode()), (Opcode::BRA_NOT, Opcode::BRA));
}

#[test]
fn allocation_is_deterministic() {
    let code = super::random::generate(5, super::random::Shape { size: 200, live: [10, 20], depth: 3 });
    let [first, second] = [checked(code.clone()).unwrap(), checked(code).unwrap()];
    assert_eq!(format!("{:?}", first.blocks), format!("{:?}", second.blocks));
}
