//! Tests of HALU's moves, predicates, guards, memory accesses and control flow.

use crate::machine::Machine;
use crate::random::Random;
use halfbyte_isa::halu::domain::{Access, Address, ControlFlow, Width, Write};
use halfbyte_isa::halu::{Inst, Opcode, fields as f};

/// Returns the register writes of an instruction, and checks that it has no other effect.
fn writes(m: &mut Machine, inst: Inst) -> Vec<Write<u32, bool>> {
    inst.validate().unwrap();
    let effects = m.effects(&inst).unwrap();
    assert_eq!((effects.next, effects.access), (ControlFlow::Fall, None));
    effects.writes.into_iter().collect()
}

/// Returns the memory access of an instruction, and checks that it has no other effect.
fn access(m: &mut Machine, inst: Inst) -> Access<u32> {
    inst.validate().unwrap();
    let effects = m.effects(&inst).unwrap();
    assert!(effects.next == ControlFlow::Fall && effects.writes.is_empty());
    effects.access.unwrap()
}

/// Returns a machine in which every register has a distinct value.
fn machine() -> Machine {
    let mut m = Machine { item: 77, ..Machine::default() };
    m.gpr.iter_mut().zip(1000..).for_each(|(r, n)| *r = n);
    m.ur.iter_mut().zip(2000..).for_each(|(r, n)| *r = n);
    m.constants.extend([((3, 0x1A4), 3000), ((3, 0x1A8), 3001)]);
    m
}

#[test]
fn reads_each_source_from_its_register_file() {
    let mut m = machine();
    let constant = |inst: Inst| inst.with(f::CMEM_BANK, 3).with(f::CMEM_OFFSET, 0x1A4);
    for (inst, want) in [
        (Inst::new(Opcode::MOV_R).with(f::R32, 9), 1009),
        (Inst::new(Opcode::MOV_R), 0),
        (Inst::new(Opcode::MOV_U).with(f::UR32, 62), 2062),
        (Inst::new(Opcode::MOV_U), 0),
        (Inst::new(Opcode::MOV_I).with(f::IMM32, 0xDEAD_BEEF), 0xDEAD_BEEF),
        (constant(Inst::new(Opcode::MOV_C)), 3000),
        (Inst::new(Opcode::S2R), 77),
    ] {
        assert_eq!(writes(&mut m, inst.with(f::RD, 254)), [Write::Gpr(254, want)], "{inst:?}");
        assert_eq!(writes(&mut m, inst), [], "RZ swallows {inst:?}");
    }
    assert_eq!(writes(&mut m, Inst::new(Opcode::R2UR).with(f::URD, 4).with(f::R32, 9)), [Write::Ur(4, 1009)]);
    assert_eq!(writes(&mut m, Inst::new(Opcode::R2UR).with(f::R32, 9)), []);
    let uldc = |op| constant(Inst::new(op)).with(f::URD, 6);
    assert_eq!(writes(&mut m, uldc(Opcode::ULDC_32)), [Write::Ur(6, 3000)]);
    let pair = uldc(Opcode::ULDC_64).with(f::CMEM_OFFSET, 0x1A0);
    assert_eq!(writes(&mut m, pair), [Write::Ur(6, 0), Write::Ur(7, 3000)]);
}

#[test]
fn sel_selects_by_its_predicate() {
    let mut m = machine();
    for (p, not, want) in [(false, 0, 1002), (true, 0, 1001), (false, 1, 1001), (true, 1, 1002)] {
        m.pred[5] = p;
        let inst = Inst::new(Opcode::SEL_RR).with(f::RD, 0).with(f::RA, 1).with(f::R32, 2);
        assert_eq!(writes(&mut m, inst.with(f::PP, 5).with(f::PP_NOT, not)), [Write::Gpr(0, want)]);
    }
}

#[test]
fn a_false_guard_has_no_effect() {
    let mut m = machine();
    let mov = Inst::new(Opcode::MOV_R).with(f::RD, 0);
    for (p, not, acts) in [(false, false, false), (true, false, true), (false, true, true), (true, true, false)] {
        m.pred[2] = p;
        assert_eq!(m.effects(&mov.guarded(2, not)).is_some(), acts);
    }
    assert!(m.effects(&mov).is_some());
    assert!(m.effects(&mov.guarded(f::PT, true)).is_none());
}

#[test]
fn plop3_applies_its_truth_table() {
    for lut in 0..=255u64 {
        for inputs in 0..8u64 {
            let mut m = Machine::default();
            for k in 0..3 {
                m.pred[k] = inputs >> k & 1 != 0;
            }
            let inst = Inst::new(Opcode::PLOP3).with(f::PY, 0).with(f::PX, 1).with(f::PP, 2);
            let p = lut >> inputs & 1 != 0;
            m.step(&inst.with(f::LUT, lut).with(f::PU, 3).with(f::PV, 4));
            assert_eq!((m.pred[3], m.pred[4]), (p, !p), "table {lut:#x} of {inputs:#b}");
            m.step(&inst.with(f::LUT, lut).with(f::PX_NOT, 1).with(f::PU, 3));
            assert_eq!(m.pred[3], lut >> (inputs ^ 2) & 1 != 0, "table {lut:#x} of {inputs:#b}");
        }
    }
}

#[test]
fn predicates_to_bits_and_back() {
    let mut random = Random(1);
    for mask in 0..0x80 {
        let bits = random.next() as u32;
        let mut m = Machine::default();
        m.gpr[1] = bits;
        m.step(&Inst::new(Opcode::R2P).with(f::RA, 1).with(f::PMASK, mask));
        for i in 0..7 {
            assert_eq!(m.pred[i], (u64::from(bits) & mask) >> i & 1 != 0);
        }
        m.pred = [true, false, true, true, false, false, true];
        m.step(&Inst::new(Opcode::P2R).with(f::RD, 2).with(f::RA, 1).with(f::PMASK, mask));
        assert_eq!(m.gpr[2], bits & !(mask as u32) | 0b100_1101 & mask as u32);
    }
}

#[test]
fn addresses() {
    let mut m = machine();
    let (dst, width, signed) = (8, Width::B32, false);
    let load = |address| Access::Load { address, width, signed, dst };
    let imm = 0xFF_FFFF;

    let uniform = Inst::new(Opcode::LDG_U_32).with(f::RD, 8).with(f::RA, 1).with(f::UR32, 4).with(f::IMM24, imm);
    assert_eq!(access(&mut m, uniform), load(Address::Uniform { offset: 1001, base: [2004, 2005], imm: -1 }));
    let absolute = uniform.with(f::UR32, 63).with(f::RA, 255);
    assert_eq!(access(&mut m, absolute), load(Address::Uniform { offset: 0, base: [0, 0], imm: -1 }));
    let wide = Inst::new(Opcode::LDG_W_32).with(f::RD, 8).with(f::RA, 2).with(f::IMM24, imm);
    assert_eq!(access(&mut m, wide), load(Address::Wide { base: [1002, 1003], imm: -1 }));
    assert_eq!(access(&mut m, wide.with(f::RA, 255)), load(Address::Wide { base: [0, 0], imm: -1 }));
    let local = Inst::new(Opcode::LDL_32).with(f::RD, 8).with(f::IMM24, imm);
    assert_eq!(access(&mut m, local), load(Address::Local { imm: 0xFF_FFFF }));
    let constant = Inst::new(Opcode::LDC_32).with(f::RD, 8).with(f::RA, 1).with(f::CMEM_BANK, 3);
    let constant = constant.with(f::CMEM_OFFSET, 0xFFFC);
    assert_eq!(access(&mut m, constant), load(Address::Constant { bank: 3, offset: 1001, imm: 0xFFFC }));
    // A load to RZ, which discards the value, still accesses memory.
    let dst = 255;
    let kept_nowhere = Access::Load { address: Address::Local { imm: 0 }, width, signed, dst };
    assert_eq!(access(&mut m, Inst::new(Opcode::LDL_32)), kept_nowhere);
}

/// Tests that the width of every load and store matches its row: the number of bytes at the
/// address, and the number of data registers.
#[test]
fn access_widths_match_the_rows() {
    use halfbyte_isa::row::{OperandKind, RegFile};
    let mut m = machine();
    let mut seen = 0;
    for &op in Opcode::ALL {
        let memory = |o: &halfbyte_isa::row::Operand| {
            if let OperandKind::Memory { size, .. } = o.kind { Some(size) } else { None }
        };
        let Some(size) = op.row().operands.iter().find_map(memory) else {
            continue;
        };
        let data = op.row().operands.iter().find_map(|o| match o.kind {
            OperandKind::Reg { file: RegFile::Gpr, field, span } => Some((field, span)),
            _ => None,
        });
        let (field, span) = data.unwrap();
        let found = access(&mut m, Inst::new(op).with(field, 8));
        let (width, first) = match found {
            Access::Load { width, signed, dst, .. } => {
                assert_eq!(signed, op.name().contains("_S"), "{}", op.name());
                (width, dst)
            }
            Access::Atomic { width, dst, .. } => (width, dst),
            Access::Store { width, data, .. } => {
                let words: Vec<u32> = (0..span).map(|i| 1008 + u32::from(i)).collect();
                assert_eq!(data[..], words[..], "{}", op.name());
                (width, 8)
            }
        };
        assert_eq!((width.bytes(), width.registers(), first), (size.into(), span, 8), "{}", op.name());
        seen += 1;
    }
    assert_eq!(seen, 118);
}

#[test]
fn control() {
    let mut m = machine();
    let mut next = |inst: Inst| {
        let effects = m.effects(&inst).unwrap();
        assert!(effects.writes.is_empty());
        effects.next
    };
    assert_eq!(next(Inst::new(Opcode::BRA).with(f::IMM32, 2)), ControlFlow::Branch(2));
    assert_eq!(next(Inst::new(Opcode::BRA).with(f::IMM32, 0xFFFF_FFFD)), ControlFlow::Branch(-3));
    assert_eq!(next(Inst::new(Opcode::EXIT)), ControlFlow::Exit);
    assert_eq!(next(Inst::new(Opcode::NOP)), ControlFlow::Fall);
}
