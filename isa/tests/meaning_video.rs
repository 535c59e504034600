//! Tests of HALU's video instructions on every pair of bytes and on random half-words. The expected results follow the
//! listings of the references, on 64-bit integers. Other test vectors cover the special cases.

use crate::machine::Machine;
use crate::random::Random;
use halfbyte_isa::halu::{Inst, Opcode, fields as f};

const KINDS: [(Opcode, Opcode); 6] = [
    (Opcode::VADD2, Opcode::VADD4),
    (Opcode::VSUB2, Opcode::VSUB4),
    (Opcode::VAVRG2, Opcode::VAVRG4),
    (Opcode::VABSDIFF2, Opcode::VABSDIFF4),
    (Opcode::VMIN2, Opcode::VMIN4),
    (Opcode::VMAX2, Opcode::VMAX4),
];

fn lane(kind: usize, x: i64, y: i64) -> i64 {
    match kind {
        0 => x + y,
        1 => x - y,
        2 if x + y >= 0 => (x + y + 1) >> 1,
        2 => (x + y) >> 1,
        3 => (x - y).abs(),
        4 => x.min(y),
        _ => x.max(y),
    }
}

/// Returns the low `bits` bits of `x` as an integer, sign-extended if `signed` is set.
fn extend(bits: u32, x: u64, signed: bool) -> i64 {
    let x = (x & ((1 << bits) - 1)) as i64;
    if signed && x >> (bits - 1) != 0 { x - (1 << bits) } else { x }
}

/// Checks one video operation on lanes of `bits` bits, with every combination of types and merge
/// modes. `mask` selects the lanes that are written.
fn check(bits: u32, kind: usize, [a, b, c]: [u32; 3], mask: u64) {
    let op = if bits == 16 { KINDS[kind].0 } else { KINDS[kind].1 };
    for choice in 0..24u64 {
        let (types, merge) = (choice & 7, choice >> 3);
        let [d_signed, a_signed, b_signed] = [0, 1, 2].map(|i| types >> i & 1 != 0);
        let inst = Inst::new(op).with(f::RD, 0).with(f::RA, 1).with(f::R32, 2).with(f::R64, 3);
        let inst = inst.with(f::DTYPE, types & 1).with(f::ATYPE, types >> 1 & 1).with(f::BTYPE, types >> 2);
        let inst = inst.with(f::VSAT, u64::from(merge == 1)).with(f::VADD, u64::from(merge == 2));
        let inst = inst.with(if bits == 16 { f::MASK2 } else { f::MASK4 }, mask);
        let mut m = Machine::default();
        m.gpr[1..4].copy_from_slice(&[a, b, c]);
        m.step(&inst);

        let mut want = c;
        for i in (0..32 / bits).filter(|i| mask >> i & 1 != 0) {
            let shift = i * bits;
            let x = extend(bits, u64::from(a >> shift), a_signed);
            let y = extend(bits, u64::from(b >> shift), b_signed);
            let mut t = lane(kind, x, y);
            if merge == 2 {
                want = want.wrapping_add(t as u32);
                continue;
            }
            if merge == 1 {
                let top = 1i64 << bits;
                t = if d_signed { t.clamp(-top / 2, top / 2 - 1) } else { t.clamp(0, top - 1) };
            }
            let ones = u32::MAX >> (32 - bits) << shift;
            want = want & !ones | (t as u32) << shift & ones;
        }
        assert_eq!(m.gpr[0], want, "{} of {a:08x} {b:08x} {c:08x}, {inst:?}", op.name());
    }
}

#[test]
fn every_pair_of_bytes() {
    for kind in 0..KINDS.len() {
        for x in 0..=255 {
            for y in (0..=255).step_by(4) {
                let (a, b) = (u32::from_le_bytes([x; 4]), u32::from_le_bytes([y, y + 1, y + 2, y + 3]));
                check(8, kind, [a, b, 0x0102_FFFE], 0b1111);
            }
        }
    }
}

#[test]
fn halfwords_and_masks() {
    const EDGES: [u32; 8] =
        [0, 0x7FFF_8000, 0x8000_7FFF, 0xFFFF_0001, 0x0001_FFFF, 0xFFFE_FFFF, 0x8001_8000, 0x7FFF_7FFF];
    let mut random = Random(1);
    for round in 0..4_000 {
        let words = [0; 3].map(|_| random.word(&EDGES));
        check(16, round % 6, words, 1 + random.next() % 3);
        check(8, round % 6, words, 1 + random.next() % 15);
    }
}
