//! Tests that register allocation refuses invalid HALU code with a reason, and never panics.

use crate::regalloc_support::random::{Random, Shape, generate};
use crate::regalloc_support::*;
use halfbyte_isa::halu::fields::*;
use halfbyte_isa::halu::{Inst, Opcode};
use halfbyte_isel::RegClass;
use halfbyte_isel::regalloc::{AllocError, Options, allocate};
use halfbyte_isel::vcode::{Access, Terminator, VReg};

/// Returns the allocation error for code whose entry block is built by `write`.
fn refusal(write: impl FnOnce(&mut Builder)) -> AllocError {
    let mut b = Builder::new();
    write(&mut b);
    // The errors must occur without regalloc2's own checks.
    allocate(b.finish(), &Options { check: false, ..Options::default() }).unwrap_err()
}

fn operand(field: halfbyte_isa::word::Field) -> AllocError {
    AllocError::Operand { inst: 0, field }
}

#[test]
fn registers() {
    let mov = Inst::new(Opcode::MOV_I);
    let twice = refusal(|b| {
        let x = b.constant(1);
        b.inst(mov, &[def(RD, x)]);
    });
    assert_eq!(twice, AllocError::Redefined(VReg(0)));
    let never = refusal(|b| {
        let x = b.reg(RegClass::Word);
        b.store(x, 0);
    });
    assert_eq!(never, AllocError::Undefined(VReg(0)));
    let late = refusal(|b| {
        let x = b.reg(RegClass::Word);
        b.store(x, 0);
        b.inst(mov, &[def(RD, x)]);
    });
    assert_eq!(late, AllocError::Undefined(VReg(0)));
    assert_eq!(refusal(|b| b.inst(mov, &[def(RD, VReg(7))])), AllocError::Undefined(VReg(7)));
}

/// A register is defined on only one of the two paths to its use.
#[test]
fn definition_that_does_not_dominate() {
    let mut x = VReg(0);
    let error = refusal(|b| {
        let one = b.constant(1);
        let p = b.less(one, one);
        let [(then, _), (otherwise, _), (join, _)] = [b.block(&[]), b.block(&[]), b.block(&[])];
        b.branch(p, false, (then, &[]), (otherwise, &[]));
        b.at(then);
        x = b.constant(5);
        b.jump((join, &[]));
        b.at(otherwise);
        b.jump((join, &[]));
        b.at(join);
        b.store(x, 0);
    });
    assert_eq!(error, AllocError::Undefined(x));
}

#[test]
fn operands() {
    let class = refusal(|b| {
        let p = b.reg(RegClass::Pred);
        b.inst(Inst::new(Opcode::MOV_I), &[def(RD, p)]);
    });
    assert_eq!(class, operand(RD));
    let narrow = refusal(|b| {
        let x = b.reg(RegClass::Word);
        b.inst(Inst::new(Opcode::LDG_U_64), &[def(RD, x)]);
    });
    assert_eq!(narrow, operand(RD));
    let absent = refusal(|b| {
        let x = b.reg(RegClass::Word);
        b.inst(Inst::new(Opcode::MOV_I), &[def(R64, x)]);
    });
    assert_eq!(absent, operand(R64));
    let odd = refusal(|b| {
        let x = b.reg(RegClass::Quad);
        b.inst(Inst::new(Opcode::LDG_U_64), &[Operand { part: 1, ..def(RD, x) }]);
    });
    assert_eq!(odd, operand(RD));
    let role = refusal(|b| {
        let x = b.reg(RegClass::Word);
        b.inst(Inst::new(Opcode::MOV_R), &[def(R32, x)]);
    });
    assert_eq!(role, operand(R32));
    let replaced = refusal(|b| {
        let x = b.constant(0);
        let y = b.reg(RegClass::Pair);
        b.inst(Inst::new(Opcode::MOV_R), &[replace(RD, y, 1, x)]);
    });
    assert_eq!(replaced, AllocError::Operand { inst: 1, field: RD });
    assert_eq!(refusal(|b| b.inst(Inst::new(Opcode::R2P), &[])), AllocError::AllPreds(0));
}

#[test]
fn flow() {
    assert_eq!(refusal(|b| b.jump((9, &[]))), AllocError::Block(9));
    let arguments = refusal(|b| {
        let x = b.constant(1);
        let (next, _) = b.block(&[RegClass::Pair]);
        b.jump((next, &[x]));
    });
    assert_eq!(arguments, AllocError::Arguments(0));
    let fewer = refusal(|b| {
        let (next, _) = b.block(&[RegClass::Pair]);
        b.jump((next, &[]));
    });
    assert_eq!(fewer, AllocError::Arguments(0));
    let cond = refusal(|b| {
        let x = b.constant(1);
        let ((then, _), (otherwise, _)) = (b.block(&[]), b.block(&[]));
        b.branch(x, false, (then, &[]), (otherwise, &[]));
    });
    assert_eq!(cond, AllocError::Branch(0));
    let critical = refusal(|b| {
        let x = b.constant(1);
        let p = b.less(x, x);
        let ((then, _), (otherwise, _)) = (b.block(&[]), b.block(&[]));
        b.branch(p, false, (then, &[]), (otherwise, &[]));
        b.at(then);
        b.jump((otherwise, &[]));
    });
    assert_eq!(critical, AllocError::CriticalEdge { from: 0, to: 2 });
    let mut empty = Builder::new().finish();
    empty.blocks.clear();
    assert_eq!(checked(empty).unwrap_err(), AllocError::Block(0));
}

/// Code with random damage is either refused or still allocated without a panic.
#[test]
fn damaged_code() {
    let mut refused = 0;
    for seed in 0..3000 {
        let mut random = Random(seed);
        let mut code = generate(seed % 50, Shape { size: 30, live: [2, 4, 1, 1], depth: 2 });
        for _ in 0..random.below(3) + 1 {
            damage(&mut code, &mut random);
        }
        let check = random.below(2) == 0;
        refused += u32::from(allocate(code, &Options { check, ..Options::default() }).is_err());
    }
    assert!((1000..3000).contains(&refused), "{refused}");
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
    let number = any(5);
    match (random.below(12), code.operands.get_mut(op as usize), code.blocks.get_mut(block as usize)) {
        (0, Some(operand), _) => operand.reg = reg,
        (1, Some(operand), _) => operand.part = number as u8,
        (2, Some(operand), _) => operand.access = Access::UpdateInPlace(reg),
        (3, Some(operand), _) => operand.access = Access::Def,
        (4, Some(operand), _) => operand.access = Access::Use,
        (5, ..) if (reg.0 as usize) < vregs => code.vregs[reg.0 as usize] = RegClass::Quad,
        (6, _, Some(block)) => block.insts.end = inst,
        (7, _, Some(block)) => block.params.end = listed,
        (8, _, Some(block)) => block.terminator = Terminator::Exit,
        (9, _, Some(from)) => match &mut from.terminator {
            Terminator::Jump(edge) | Terminator::Branch { then: edge, .. } => edge.block = any_block(blocks, random),
            Terminator::Exit => {}
        },
        (10, ..) if (listed as usize) < pool => code.pool[listed as usize] = reg,
        (11, ..) if (inst as usize) < insts => code.insts[inst as usize].operands.end = op,
        _ => {}
    }
}

fn any_block(blocks: usize, random: &mut Random) -> u32 {
    random.below(blocks + 1) as u32
}
