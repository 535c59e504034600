//! Checks that the operand roles in the rows of HALU match the semantics. An instruction must write
//! exactly the registers that its row defines, and read exactly those that its row uses.

use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::{Access, ControlFlow, Reader, SpecialReg, Write};
use halfbyte_isa::halu::meaning::{collective, collective_result, guard, meaning};
use halfbyte_isa::halu::{Inst, Opcode, fields as f};
use halfbyte_isa::row::{OperandRole, RegFile};

/// A reader that records which registers the semantics reads.
#[derive(Default)]
struct Recorder {
    reads: Vec<(RegFile, u8)>,
}

impl Reader<Concrete> for Recorder {
    fn gpr(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.reads.push((RegFile::Gpr, n));
        0
    }
    fn ur(&mut self, _: &mut Concrete, n: u8) -> u32 {
        self.reads.push((RegFile::Ur, n));
        0
    }
    fn pred(&mut self, _: &mut Concrete, n: u8) -> bool {
        self.reads.push((RegFile::Pred, n));
        false
    }
    fn constant(&mut self, _: &mut Concrete, _: u8, _: u16) -> u32 {
        0
    }
    fn special(&mut self, _: &mut Concrete, _: SpecialReg) -> u32 {
        0
    }
}

fn sorted(mut registers: Vec<(RegFile, u8)>) -> Vec<(RegFile, u8)> {
    registers.sort_unstable_by_key(|&(file, n)| (file as u8, n));
    registers.dedup();
    registers
}

#[test]
fn semantics_match_the_operand_roles() {
    for &op in Opcode::ALL {
        let mut inst = Inst::new(op);
        if op.row().modifiers.iter().any(|m| m.field == f::EX && m.text(1) == Some("EX")) {
            inst.set(f::EX, 1);
        }
        if op.row().modifiers.iter().any(|m| m.field == f::X && m.text(1) == Some("X")) {
            inst.set(f::X, 1);
        }
        let (mut defs, mut uses) = (Vec::new(), Vec::new());
        // Each register operand gets a distinct register number. The number is a multiple of four,
        // so that it can start a register tuple.
        for (slot, n) in inst.registers().iter().zip(0u8..) {
            let first = if slot.file == RegFile::Pred { n } else { 4 * n };
            inst.set(slot.field, first.into());
            let registers = (first..first + slot.span).map(|n| (slot.file, n));
            if slot.role != OperandRole::Use {
                defs.extend(registers.clone());
            }
            if slot.role != OperandRole::Def {
                uses.extend(registers);
            }
        }
        match op {
            Opcode::R2P => {
                inst.set(f::PMASK, 0x7F);
                defs.extend((0..7).map(|n| (RegFile::Pred, n)));
            }
            Opcode::P2R => {
                inst.set(f::PMASK, 0x7F);
                uses.extend((0..7).map(|n| (RegFile::Pred, n)));
            }
            _ => {}
        }
        inst.validate().unwrap();
        let mut recorder = Recorder::default();
        guard(&inst, &mut Concrete, &mut recorder);
        let mut written = Vec::new();
        let effects = meaning(&inst, &mut Concrete, &mut recorder);
        let mut writes = effects.writes.to_vec();
        if effects.next == ControlFlow::Collective {
            assert!(collective(&inst, &mut Concrete, &mut recorder).is_some(), "{}", op.name());
            writes.extend(collective_result(&inst, [0; 2]));
        }
        if let Some(Access::Load { width, dst, .. } | Access::Atomic { width, dst, .. }) = effects.access {
            written.extend((dst..dst + width.registers()).map(|n| (RegFile::Gpr, n)));
        }
        for write in writes {
            match write {
                Write::Gpr(n, _) => written.push((RegFile::Gpr, n)),
                Write::Ur(n, _) => written.push((RegFile::Ur, n)),
                Write::Pred(n, _) => written.push((RegFile::Pred, n)),
            }
        }
        assert_eq!(sorted(written), sorted(defs), "{} writes", op.name());
        assert_eq!(sorted(recorder.reads), sorted(uses), "{} reads", op.name());
    }
}
