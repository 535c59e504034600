//! Tests that register allocation refuses invalid VP1 code with a reason, and never panics.

use halfbyte_ir::witness::Random;
use halfbyte_isa::row::RegFile;
use halfbyte_isa::vp1::fields::*;
use halfbyte_isa::vp1::{Inst, Opcode};
use halfbyte_isa::word::Field;
use halfbyte_isel::regalloc::{AllocError, Options, allocate};
use halfbyte_isel::vcode::{Access, Terminator, VReg};
use halfbyte_isel::vp1::{Class, Group, GroupRegisterPosition};

use super::random::{Shape, generate};
use super::support::*;

/// Returns the allocation error for code whose entry block is built by `write`.
fn refusal(write: impl FnOnce(&mut Builder)) -> AllocError {
    let mut b = Builder::new();
    write(&mut b);
    allocate(b.finish(), &Options { check: false, ..Options::default() }).unwrap_err()
}

/// Returns the allocation error for one instruction on new registers of the given classes.
fn misfit(inst: impl Into<Group>, operands: impl FnOnce([VReg; 4]) -> Vec<Operand>, classes: [Class; 4]) -> AllocError {
    refusal(|b| {
        let regs = classes.map(|class| b.reg(class));
        b.inst(inst, &operands(regs));
    })
}

fn operand(field: Field) -> AllocError {
    AllocError::Operand { inst: 0, field }
}

fn missing(field: Field) -> AllocError {
    AllocError::Missing { inst: 0, field }
}

const V4: [Class; 4] = [Class::V; 4];
const R4: [Class; 4] = [Class::R; 4];

#[test]
fn registers() {
    let never = refusal(|b| {
        let x = b.reg(Class::V);
        b.store(x, 0);
    });
    assert_eq!(never, AllocError::Undefined(VReg(0)));
    let twice = refusal(|b| {
        let x = b.constant(0);
        b.inst(Inst::new(Opcode::MOV_I), &[def(DST, x)]);
    });
    assert_eq!(twice, AllocError::Redefined(VReg(0)));
}

#[test]
fn operands() {
    // Operands of a wrong class and with a wrong role, for a field that names no register, and for
    // an instruction that does not exist.
    let copy = || Inst::new(Opcode::MOV_V);
    assert_eq!(misfit(copy(), |r| vec![def(DST, r[0]), used(SRC1, r[1])], R4), operand(DST));
    assert_eq!(misfit(copy(), |r| vec![used(DST, r[0]), used(SRC1, r[1])], V4), operand(DST));
    assert_eq!(misfit(copy(), |r| vec![def(DST, r[0]), used(SRC1, r[1]), used(SRC2, r[1])], V4), operand(SRC2));
    assert_eq!(misfit(copy(), |r| vec![second(def(DST, r[0])), used(SRC1, r[1])], V4), operand(DST));
    // An instruction that writes a whole register cannot update the register in place.
    assert_eq!(misfit(copy(), |r| vec![replace(DST, r[0], r[2]), used(SRC1, r[1])], V4), operand(DST));
    // The same field has two operands.
    assert_eq!(misfit(copy(), |r| vec![used(SRC1, r[2]), def(DST, r[0]), used(SRC1, r[1])], V4), operand(SRC1));
    // The operand names part 1, but the field selects a single register.
    assert_eq!(misfit(copy(), |r| vec![def(DST, r[0]), part(SRC1, r[1], 1)], V4), operand(SRC1));
    // A field that selects `$v0` needs an operand. A field that selects `$r31`, always 0, needs none.
    assert_eq!(misfit(copy(), |r| vec![def(DST, r[0])], V4), missing(SRC1));
    let add = Inst::new(Opcode::ADD_RR).with(SRC2, 4);
    assert_eq!(misfit(add, |r| vec![def(DST, r[0])], R4), missing(SRC2));
    // The operand for the flags of a condition is missing, or is of another register file.
    let bra = Inst::new(Opcode::ADD_RR).with(SLCT, 1);
    assert_eq!(misfit(bra, |r| tuple(SRC2, &r[..2]), R4), missing(COND));
    let compare = Inst::new(Opcode::VSUB_S_RR);
    let flags = |r: [VReg; 4]| vec![def(CDST, r[3]), def(DST, r[0]), used(SRC1, r[1]), used(SRC2, r[2])];
    assert_eq!(misfit(compare, flags, [Class::V, Class::V, Class::V, Class::C]), operand(CDST));
}

#[test]
fn tuples() {
    let lerp = || Inst::new(Opcode::VLRP);
    let with = |pair: Vec<Operand>, r: [VReg; 4]| [vec![def(DST, r[0])], pair, vec![used(SRC2, r[1])]].concat();
    assert_eq!(misfit(lerp(), |r| with(vec![used(SRC1, r[1])], r), V4), operand(SRC1));
    assert_eq!(misfit(lerp(), |r| with(tuple(SRC1, &r[1..]), r), V4), operand(SRC1));
    assert_eq!(misfit(lerp(), |r| with(vec![part(SRC1, r[1], 1), part(SRC1, r[2], 0)], r), V4), operand(SRC1));
    // A single register does not fit a field that chooses between two registers, and vice versa.
    let add = || Inst::new(Opcode::ADD_RR);
    assert_eq!(misfit(add(), |r| tuple(SRC2, &r[..2]), R4), operand(SRC2));
    assert_eq!(misfit(add().with(SLCT, 1), |r| vec![used(SRC2, r[0])], R4), operand(SRC2));
    // A pair of flags does not fit a field for a single flags register, and vice versa.
    let vec = || Inst::new(Opcode::VEC);
    assert_eq!(misfit(vec(), |r| tuple(VCIDX, &r[..2]), [Class::Vc; 4]), operand(VCIDX));
    let wide = vec().with(VCXFRM_LOW, 3).with(VCXFRM_HIGH, 1);
    assert_eq!(misfit(wide, |r| vec![used(VCIDX, r[0])], [Class::Vc; 4]), operand(VCIDX));
}

#[test]
fn groups() {
    let nothing = |_| Vec::new();
    let (s, v, b) = (Inst::new(Opcode::SNOP), Inst::new(Opcode::VNOP), Inst::new(Opcode::BRA));
    assert_eq!(misfit([v, s], nothing, R4), AllocError::Bundle(0));
    assert_eq!(misfit([s, s], nothing, R4), AllocError::Bundle(0));
    assert_eq!(misfit(b, nothing, R4), AllocError::Bundle(0));
    assert_eq!(misfit([s, Inst::new(Opcode::EXIT)], nothing, R4), AllocError::Bundle(0));
    let empty = Group { insts: Default::default(), stream: None };
    assert_eq!(misfit(empty, nothing, R4), AllocError::Bundle(0));
}

/// Instructions that pass a value through `$va` must be adjacent and in one block.
#[test]
fn accumulator() {
    let start = |b: &mut Builder, x: VReg| b.inst(Inst::new(Opcode::VMUL_S_RR_VA), &[used(SRC1, x), used(SRC2, x)]);
    let go_on = |b: &mut Builder, x: VReg| b.inst(Inst::new(Opcode::VMAC_S_RR_VA), &[used(SRC1, x), used(SRC2, x)]);
    let alone = refusal(|b| {
        let x = b.vector(0);
        go_on(b, x);
    });
    assert_eq!(alone, AllocError::Accumulator(1));
    let between = refusal(|b| {
        let x = b.vector(0);
        start(b, x);
        b.vector(1);
        go_on(b, x);
    });
    assert_eq!(between, AllocError::Accumulator(3));
    let across = refusal(|b| {
        let x = b.vector(0);
        start(b, x);
        let (next, _) = b.block(&[]);
        b.jump((next, &[]));
        b.at(next);
        go_on(b, x);
    });
    assert_eq!(across, AllocError::Accumulator(2));
    // An instruction with a disabled write to `$va` passes no value through `$va`.
    let lerp = refusal(|b| {
        let quad = [0, 1, 2, 3].map(|i| b.vector(i));
        let flags = b.no_rotation();
        start(b, quad[0]);
        let operands = [tuple(SRC1, &quad), vec![used(COND, flags)]].concat();
        b.make(Class::V, Inst::new(Opcode::VLRP2), &operands);
        go_on(b, quad[0]);
    });
    assert_eq!(lerp, AllocError::Accumulator(7));
}

/// Allocation fails if five flags are live at once. It also fails if flags are read again after an in-place update.
#[test]
fn flags() {
    let compares = |n: usize| {
        let mut b = Builder::new();
        let x = b.constant(1);
        let flags: Vec<_> = (0..n).map(|_| b.compare(x, x)).collect();
        for flags in flags {
            let word = b.make(Class::R, Inst::new(Opcode::MOV_R_C), &[used(CSRC, flags)]);
            b.store(word, 0);
        }
        b.finish()
    };
    assert!(checked(compares(4)).is_ok());
    let error = checked(compares(5)).unwrap_err();
    assert_eq!(error, AllocError::Flags { file: RegFile::C, reg: VReg(5), block: 0 });
    assert_eq!(error.to_string(), "block 0 needs more `$c` registers than there are, and flags cannot be spilled");

    let vectors = refusal(|b| {
        let x = b.vector(1);
        let flags: Vec<_> = (0..5).map(|_| b.compare_vectors(x, x)).collect();
        let all = b.make(Class::V, Inst::new(Opcode::MOV_VC), &[]);
        for flags in flags {
            b.make(Class::R, Inst::new(Opcode::MOV_R_V), &[used(SRC1, all), used(VWORD, flags)]);
        }
    });
    assert!(matches!(vectors, AllocError::Flags { file: RegFile::Vc, .. }));

    let update = |again: bool| {
        let mut b = Builder::new();
        let x = b.constant(1);
        let old = b.compare(x, x);
        let both = b.reg(Class::C);
        b.inst(Inst::new(Opcode::AADD).with(DST, 3).with(SRC2, 31), &[replace(CDST, both, old)]);
        for flags in if again { vec![both, old] } else { vec![both] } {
            let word = b.make(Class::R, Inst::new(Opcode::MOV_R_C), &[used(CSRC, flags)]);
            b.store(word, 0);
        }
        b.finish()
    };
    assert!(checked(update(false)).is_ok());
    assert!(matches!(checked(update(true)).unwrap_err(), AllocError::Flags { .. }));
}

/// An instruction must not clobber a `$c` that holds live flags.
#[test]
fn clobbers() {
    let code = |live: bool| {
        let mut b = Builder::new();
        let x = b.constant(1);
        let flags = b.compare(x, x);
        let read = |b: &mut Builder| b.make(Class::R, Inst::new(Opcode::MOV_R_C), &[used(CSRC, flags)]);
        if !live {
            read(&mut b);
        }
        for counter in 0..4 {
            b.inst(Inst::new(Opcode::MOV_L_I).with(LC, counter).with(IMM16, 9), &[]);
        }
        if live {
            read(&mut b);
        }
        b.finish()
    };
    assert!(checked(code(false)).is_ok());
    assert!(matches!(checked(code(true)).unwrap_err(), AllocError::Flags { file: RegFile::C, .. }));
    // A field that holds the number of a loop counter accepts no flags operand.
    let named = misfit(Inst::new(Opcode::MOV_L_I), |r| vec![def(LC, r[0])], [Class::C; 4]);
    assert_eq!(named, operand(LC));
}

/// Flags can be block arguments if argument and parameter get the same register. If the flags would
/// have to move, allocation fails.
#[test]
fn flags_as_parameters() {
    let code = |swap: bool| {
        let mut b = Builder::new();
        let x = b.constant(1);
        let [f, g] = [0; 2].map(|_| b.compare(x, x));
        let (next, p) = b.block(&[Class::C, Class::C]);
        b.jump((next, &[f, g]));
        b.at(next);
        let [(again, _), (end, _)] = [b.block(&[]), b.block(&[])];
        b.branch(p[0], 1, true, (again, &[]), (end, &[]));
        b.at(again);
        b.jump((next, &if swap { [p[1], p[0]] } else { [p[0], p[1]] }));
        b.at(end);
        b.store(x, 0);
        b.finish()
    };
    assert!(checked(code(false)).is_ok());
    assert!(matches!(checked(code(true)).unwrap_err(), AllocError::Flags { .. }));
}

#[test]
fn branches() {
    let ends_in = |inst: Inst, operands: &dyn Fn(VReg, VReg) -> Vec<Operand>| {
        refusal(|b| {
            let x = b.constant(1);
            let flags = b.compare(x, x);
            let [(then, _), (otherwise, _)] = [b.block(&[]), b.block(&[])];
            b.branch_by(inst, &operands(x, flags), (then, &[]), (otherwise, &[]));
        })
    };
    let bra = Inst::new(Opcode::BRA).with(SLCT, 1);
    let refused = AllocError::Branch(0);
    assert_eq!(ends_in(bra, &|x, _| vec![used(COND, x)]), refused);
    assert_eq!(ends_in(bra, &|_, _| vec![]), refused);
    assert_eq!(ends_in(bra, &|_, flags| vec![used(COND, flags), def(CDST, flags)]), refused);
    assert_eq!(ends_in(bra.with(CDST, 2), &|_, flags| vec![used(COND, flags)]), refused);
    assert_eq!(ends_in(Inst::new(Opcode::SNOP), &|_, _| vec![]), refused);
    assert_eq!(ends_in(Inst::new(Opcode::EXIT), &|_, _| vec![]), refused);
}

/// Code with random damage is either refused or still allocated without a panic.
#[test]
fn damaged_code() {
    let mut refused = 0;
    for seed in 0..2000 {
        let mut random = Random(seed);
        let mut code = generate(seed % 50, Shape { size: 30, live: [4, 6], depth: 2 });
        for _ in 0..random.below(3) + 1 {
            damage(&mut code, &mut random);
        }
        let check = random.below(2) == 0;
        refused += u32::from(allocate(code, &Options { check, ..Options::default() }).is_err());
    }
    assert!((1000..2000).contains(&refused), "{refused}");
}

fn damage(code: &mut VCode, random: &mut Random) {
    // The index is mostly valid, sometimes just out of range, and sometimes far out of range.
    let mut any = |n: usize| match random.below(20) {
        0 => n as u32,
        1 => u32::MAX,
        _ => random.below(n.max(1)) as u32,
    };
    let [vregs, blocks, insts, operands, pool] =
        [code.vregs.len(), code.blocks.len(), code.insts.len(), code.operands.len(), code.pool.len()];
    let (reg, block) = (VReg(any(vregs)), any(blocks));
    let (inst, op, listed) = (any(insts), any(operands), any(pool));
    let (number, bits, class) = (any(5), any(1 << 20), any(4));
    let target = any(blocks);
    match (random.below(14), code.operands.get_mut(op as usize), code.blocks.get_mut(block as usize)) {
        (0, Some(operand), _) => operand.reg = reg,
        (1, Some(operand), _) => operand.part = number as u8,
        (2, Some(operand), _) => operand.access = Access::UpdateInPlace(reg),
        (3, Some(operand), _) => operand.access = Access::Def,
        (4, Some(operand), _) => operand.access = Access::Use,
        (5, Some(operand), _) => operand.place = GroupRegisterPosition { inst: number as u8, ..operand.place },
        (6, ..) if (reg.0 as usize) < vregs => {
            code.vregs[reg.0 as usize] = [Class::R, Class::V, Class::C, Class::Vc][class as usize % 4];
        }
        (7, _, Some(block)) => block.insts.end = inst,
        (8, _, Some(block)) => block.params.end = listed,
        (9, _, Some(block)) => block.terminator = Terminator::Exit,
        (10, _, Some(from)) => match &mut from.terminator {
            Terminator::Jump(edge) | Terminator::Branch { then: edge, .. } => edge.block = target,
            Terminator::Exit => {}
        },
        (11, ..) if (listed as usize) < pool => code.pool[listed as usize] = reg,
        (12, ..) if (inst as usize) < insts => code.insts[inst as usize].operands.end = op,
        (13, ..) if (inst as usize) < insts => {
            // A flipped bit of the instruction word selects other registers or another instruction.
            let word = &mut code.insts[inst as usize].inst.insts[0];
            *word = Inst::decode(word.word() ^ 1 << (bits % 32)).unwrap_or(*word);
        }
        _ => {}
    }
}
