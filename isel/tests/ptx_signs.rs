//! Tests that `neg` and `abs` whose NaN results are observable are replaced by bitwise operations.

use halfbyte_abi::{Signature, Sm};
use halfbyte_ir::witness::Random;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::object::Loc;
use halfbyte_isa::ptx::meaning::{Reader, Write, meaning};
use halfbyte_isa::ptx::text::read;
use halfbyte_isa::ptx::types::{Special, Type};
use halfbyte_isa::ptx::{Inst, Opcode, Reg, Var};
use halfbyte_isel::ptx::expand::expand;
use halfbyte_isel::vcode::{Edge, Terminator, VCode, VInst};
use halfbyte_isel::{Ptx, PtxExtra};

/// Types of the PTX registers: `r0` to `r4`, then `p0` and `p1`.
const TYPES: [Type; 7] = [Type::B32, Type::B32, Type::B32, Type::B32, Type::B32, Type::Pred, Type::Pred];

/// Interpreter state: the contents of the PTX registers.
struct Machine([u32; TYPES.len()]);

impl Reader<Concrete> for Machine {
    fn register(&mut self, _: &mut Concrete, reg: Reg) -> [u32; 2] {
        [self.0[reg.0 as usize], 0]
    }

    fn predicate(&mut self, _: &mut Concrete, _: Reg) -> bool {
        true
    }

    fn special(&mut self, _: &mut Concrete, _: Special) -> [u32; 2] {
        [0; 2]
    }

    fn variable(&mut self, _: &mut Concrete, _: Var) -> [u32; 2] {
        [0; 2]
    }
}

/// Returns the register writes of an instruction, given the contents of `r0` and the registers after it.
fn writes(inst: &Inst, registers: &[u32]) -> Vec<Write<u32, bool>> {
    let mut state = [0; TYPES.len()];
    state[..registers.len()].copy_from_slice(registers);
    meaning(inst, &mut Concrete, &mut Machine(state)).writes.to_vec()
}

fn insts(lines: &str) -> Vec<Inst> {
    let text = format!(
        ".version 9.2\n.target sm_120f\n.address_size 64\n.entry k() {{\n.reg .b32 r<5>;\n.reg .pred p<2>;\n{lines}\n}}\n"
    );
    read(&text).unwrap().module.entries.remove(0).body.insts
}

/// Returns the expanded instructions of a block. The registers that its last instruction writes are live at its end.
fn expanded(lines: &str) -> Vec<Inst> {
    let insts = insts(lines);
    let written = writes(insts.last().unwrap(), &[]).into_iter();
    let results: Vec<Reg> = written.map(|(Write::Register(reg, _) | Write::Predicate(reg, _))| reg).collect();
    let sm = Sm::new(90).unwrap();
    let extra =
        PtxExtra { sm, max_items: u64::MAX, along_x: false, block: None, types: Vec::new(), arrays: Vec::new() };
    let mut code = VCode::<Ptx>::new(Signature::new("k", Vec::new()).unwrap(), extra);
    code.vregs = TYPES.to_vec();
    let insts = insts.into_iter().map(|inst| VInst::alone(inst, Loc::default()));
    code.add_block([], insts, Terminator::Exit, Loc::default());
    let args = code.add_list(results.into_iter().map(Into::into));
    code.blocks[0].terminator = Terminator::Jump(Edge { block: 0, args });
    expand(&mut code).unwrap();
    code.insts.into_iter().map(|inst| inst.inst).collect()
}

/// Returns a random word: numbers and NaNs with random payloads, as two halves or as one f32.
fn word(random: &mut Random) -> u32 {
    let word = random.bits() as u32;
    match word >> 29 & 3 {
        0 => word,
        1 => word | 0x7c00_7c00,
        2 => word | 0x7f80_7f80,
        _ => word & 0xffff | 0x7f80_0000,
    }
}

#[test]
fn bitwise_operations_have_the_same_bits() {
    let lines = [
        "neg.f32 r3, r0;",
        "neg.f16x2 r3, r0;",
        "neg.bf16x2 r3, r0;",
        "abs.f32 r3, r0;",
        "abs.f16x2 r3, r0;",
        "abs.bf16x2 r3, r0;",
    ];
    let mut random = Random(1);
    for line in lines {
        let inst = insts(line).remove(0);
        let expanded = expanded(line);
        let [other] = expanded.as_slice() else { panic!("{line} {expanded:?}") };
        assert!([Opcode::XOR, Opcode::AND].contains(&other.opcode), "{line} {other:?}");
        for _ in 0..2000 {
            let word = word(&mut random);
            assert_eq!(writes(&inst, &[word]), writes(other, &[word]), "{line} of {word:08x}");
        }
    }
}

/// Replaces each NaN lane of a word by another NaN. Lanes have `bits` bits, of which `fraction` bits are the fraction.
fn with_other_nans(word: u32, (bits, fraction): (u32, u32), random: &mut Random) -> u32 {
    (0..32 / bits).fold(0, |all, lane| {
        let mask = u32::MAX >> (32 - bits);
        let value = word >> (lane * bits) & mask;
        let infinity = (mask >> 1) & !((1 << fraction) - 1);
        let is_nan = value & (mask >> 1) > infinity;
        let other = random.bits() as u32;
        let nan = infinity | (other & ((1 << fraction) - 1)).max(1) | (other & 1 << (bits - 1));
        all | (if is_nan { nan } else { value }) << (lane * bits)
    })
}

#[test]
fn results_do_not_depend_on_which_nan_is_given() {
    let of = |ty: &str, lanes: (u32, u32), forms: &[&str]| {
        let neg = format!("neg.{ty} r4, r0;");
        let mut random = Random(2);
        for form in forms.iter().map(|form| form.replace('T', ty)) {
            let inst = insts(&form).remove(0);
            // The tested instruction is the only reader of the negated value.
            let reader = expanded(&format!("{neg}\n{}", form.replace("r0", "r4")));
            assert_eq!(reader[0], insts(&neg)[0], "{form}");
            for _ in 0..4000 {
                let registers = [0; 3].map(|_| word(&mut random));
                let others = registers.map(|word| with_other_nans(word, lanes, &mut random));
                assert_eq!(
                    writes(&inst, &registers),
                    writes(&inst, &others),
                    "{form} of {registers:08x?} and {others:08x?}"
                );
            }
        }
    };
    let arithmetic = [
        "add.rn.T r3, r0, r1;",
        "sub.rn.T r3, r0, r1;",
        "mul.rn.T r3, r0, r1;",
        "fma.rn.T r3, r0, r1, r2;",
        "min.T r3, r0, r1;",
        "max.NaN.T r3, r0, r1;",
    ];
    let half = ["setp.ltu.T p0|p1, r0, r1;", "set.lt.T.T r3, r0, r1;"];
    let single = ["div.rn.T r3, r0, r1;", "sqrt.rn.T r3, r0;", "setp.geu.T p0, r0, r1;", "set.nan.f32.T r3, r0, r1;"];
    of("f16x2", (16, 10), &[&arithmetic[..], &half].concat());
    of("bf16x2", (16, 7), &[&arithmetic[..], &half].concat());
    of("f32", (32, 23), &[&arithmetic[..], &single].concat());
}
