//! Checks that the operand roles in the rows of VP1 match the semantics. An instruction may read
//! only registers that its row uses, and write only registers that its row defines or updates. It
//! must write all registers that its row defines.

use std::collections::BTreeSet;

use halfbyte_isa::row::{Operand, OperandKind, OperandRole, ROTATE, RegFile};
use halfbyte_isa::vp1::concrete::Concrete;
use halfbyte_isa::vp1::domain::{Index, Next, Reader, Shape, Write};
use halfbyte_isa::vp1::meaning::meaning;
use halfbyte_isa::vp1::{Bundle, Inst, Opcode, Unit, fields as f};
use halfbyte_isa::word::Field;

/// A set of registers, each as its register file and number.
type Registers = BTreeSet<(u8, u8)>;

/// A reader that holds the values of the flags and records which registers the semantics reads.
struct Recorder {
    c: u32,
    reads: Registers,
}

impl Recorder {
    fn read(&mut self, file: RegFile, n: u8) -> u32 {
        self.reads.insert((file as u8, n));
        0
    }
}

/// Returns the number of a register from its index operand.
fn number(index: Index<u32>) -> u8 {
    match index {
        Index::Fixed(n) => n,
        Index::InQuad { first, element } => first + element as u8,
    }
}

#[rustfmt::skip]
impl Reader<Concrete> for Recorder {
    fn r(&mut self, _: &mut Concrete, n: Index<u32>) -> u32 { self.read(RegFile::R, number(n)) }
    fn v(&mut self, _: &mut Concrete, n: Index<u32>) -> [u8; 16] { self.read(RegFile::V, number(n)); [0; 16] }
    fn vx(&mut self, _: &mut Concrete) -> [u8; 16] { self.read(RegFile::Vx, 0); [0; 16] }
    fn va(&mut self, _: &mut Concrete) -> [i32; 16] { self.read(RegFile::Va, 0); [0; 16] }
    fn vc(&mut self, _: &mut Concrete, n: u8) -> [u16; 2] { self.read(RegFile::Vc, n); [0; 2] }
    fn a(&mut self, _: &mut Concrete, n: Index<u32>) -> u32 { self.read(RegFile::A, number(n)) }
    fn c(&mut self, _: &mut Concrete, n: u8) -> u32 { self.read(RegFile::C, n); self.c }
    fn l(&mut self, _: &mut Concrete, n: u8) -> u32 { self.read(RegFile::L, n) }
    fn m(&mut self, _: &mut Concrete, n: u8) -> u32 { self.read(RegFile::M, n) }
    fn x(&mut self, _: &mut Concrete, n: u8) -> u32 { self.read(RegFile::X, n) }
    fn uccfg(&mut self, _: &mut Concrete) -> u32 { 0 }
    fn load(&mut self, _: &mut Concrete, _: Shape, _: u32) -> [u8; 16] { [0; 16] }
    fn load_word(&mut self, _: &mut Concrete, _: u32) -> u32 { 0 }
    fn gather(&mut self, _: &mut Concrete, _: u32, _: [u8; 16]) -> [u8; 16] { [0; 16] }
}

/// Returns the register that a write changes, or `None` if the destination is not in a register file.
fn target(write: &Write<Concrete>) -> Option<(u8, u8)> {
    let (file, n) = match *write {
        Write::R(n, _) => (RegFile::R, n),
        Write::V(n, _) => (RegFile::V, n),
        Write::ConditionalV { index, .. } => (RegFile::V, number(index)),
        Write::Vx(_) => (RegFile::Vx, 0),
        Write::Va(_) => (RegFile::Va, 0),
        Write::Vc(n, _) => (RegFile::Vc, n),
        Write::A(n, _) => (RegFile::A, n),
        Write::C { n, .. } => (RegFile::C, n),
        Write::L(n, _) => (RegFile::L, n),
        Write::M(n, _) => (RegFile::M, n),
        Write::X(n, _) => (RegFile::X, n),
        Write::Uccfg(_) => (RegFile::Uc, 16),
        Write::Store(..) | Write::StoreWord(..) => return None,
    };
    Some((file as u8, n))
}

/// Returns two sets of registers: those to which an operand may refer, and those to which it certainly refers.
fn registers(inst: &Inst, operand: &Operand) -> (Registers, Registers) {
    let of = |file: RegFile, numbers: &[u8]| numbers.iter().map(|&n| (file as u8, n)).collect::<Registers>();
    let get = |field: Field| inst.get(field) as u8;
    let quad = |n: u8| [n & !3, n & !3 | 1, n & !3 | 2, n & !3 | 3];
    match operand.kind {
        // A read takes the number of an `$l` register modulo 4. A write to a number above 3 is dropped.
        OperandKind::Reg { file: RegFile::L, field, .. } if get(field) > 3 => {
            (of(RegFile::L, &[get(field) & 3]), Registers::new())
        }
        OperandKind::Reg { file, field, .. } => (of(file, &[get(field)]), of(file, &[get(field)])),
        OperandKind::SplitReg { file, low, high } => {
            let n = get(high) << low.width | get(low);
            (of(file, &[n]), of(file, &[n]))
        }
        OperandKind::FlagDef { file, field } if get(field) < 4 => (of(file, &[get(field)]), of(file, &[get(field)])),
        OperandKind::Tuple { file, field, count: 2 } => (of(file, &[get(field), get(field) | 1]), Registers::new()),
        OperandKind::Tuple { file, field, .. } => (of(file, &quad(get(field))), Registers::new()),
        OperandKind::Condition { index, .. } => (of(RegFile::C, &[get(index)]), Registers::new()),
        OperandKind::Selected { file, field, index, bit } => {
            let n = get(field);
            let mut all = if inst.get(bit.field) == ROTATE { of(file, &quad(n)) } else { of(file, &[n, n ^ 1]) };
            all.extend(of(RegFile::C, &[get(index)]));
            (all, Registers::new())
        }
        OperandKind::Whole(file) => {
            let one = matches!(file, RegFile::Va | RegFile::Vx);
            (of(file, if one { &[0] } else { &[0, 1, 2, 3] }), if one { of(file, &[0]) } else { Registers::new() })
        }
        _ => Default::default(),
    }
}

#[test]
fn semantics_match_the_operand_roles() {
    let mut random = crate::random::Random(1);
    let mut next = || random.next();
    for &op in Opcode::ALL {
        for _ in 0..200 {
            let inst = Inst::random(op, &mut next);
            let mut recorder = Recorder { c: 0x8000 | next() as u32 & 0x27ff, reads: Registers::new() };
            // A `vec` in the same bundle forwards factors and flags to the vector instruction,
            // which then does not read the flags of the `$vc` register in its own word.
            let vec = Inst::new(Opcode::VEC);
            let words = [vec.word(), inst.word()];
            let words = if inst.unit() == Unit::Vector { &words[..] } else { &words[1..] };
            let effects = meaning(&Bundle::new(words).unwrap(), &mut Concrete, &mut recorder);
            if matches!(effects.next, Next::Trap(_)) {
                continue;
            }
            let written: Registers = effects.writes.iter().filter_map(target).collect();
            let (mut uses, mut defs, mut surely) = (Registers::new(), Registers::new(), Registers::new());
            if inst.unit() == Unit::Vector {
                uses.insert((RegFile::Vc as u8, vec.get(f::VCIDX) as u8));
            }
            for operand in op.row().operands {
                let (may, must) = registers(&inst, operand);
                if operand.role != OperandRole::Def {
                    uses.extend(&may);
                }
                if operand.role != OperandRole::Use {
                    defs.extend(&may);
                }
                if operand.role == OperandRole::Def {
                    surely.extend(must.iter().filter(|&&register| register != (RegFile::R as u8, f::R_ZERO)));
                }
            }
            let context = || format!("{} {:#010x}", op.name(), inst.word());
            assert!(recorder.reads.is_subset(&uses), "{} reads {:?}, not {uses:?}", context(), recorder.reads);
            assert!(written.is_subset(&defs), "{} writes {written:?}, not {defs:?}", context());
            assert!(surely.is_subset(&written), "{} writes {written:?} only, not {surely:?}", context());
        }
    }
}
