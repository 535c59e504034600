//! Checks of the elementary functions. The arithmetic of the machine code uses pairs of `f64` and
//! is compared with the fixed-point arithmetic of the evaluator.

use halfbyte_abi::Type;
use halfbyte_ir::eval::{Operand, fold};
use halfbyte_ir::{Attr, Op};
use halfbyte_isa::approx::Function;
use halfbyte_isa::half::Format;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::Domain;

use super::{Counterexample, Effort, Reproduction, Subject};

const PART: &str = "approx";

/// Special `f32` operands: zeros, subnormals, the smallest and largest numbers, infinities, NaN,
/// powers of two and multiples of a quarter turn. Some operands are limits at which a result
/// overflows, underflows or becomes 1.
const EDGES: [u32; 24] = [
    0x0000_0000,
    0x0000_0001,
    0x007F_FFFF,
    0x0080_0000,
    0x3F80_0000,
    0x7F7F_FFFF,
    0x7F80_0000,
    0x7FC0_0000,
    0x4300_0000,
    0x42FC_0000,
    0x4315_0000,
    0x4316_0000,
    0x3300_0000,
    0x3980_0000,
    0x2680_0000,
    0x4110_2CB3,
    0x41C0_0000,
    0x3FC9_0FDB,
    0x3F49_0FDB,
    0x4049_0FDB,
    0x40C9_0FDB,
    0x6F79_BE45,
    0x5922_AA80,
    0x3F00_0000,
];

/// Returns one subject for each function and format. A subject checks all `f32` operands or a
/// sample of them, or all halves.
pub(super) fn subjects(effort: Effort) -> Vec<Subject> {
    let mut subjects: Vec<Subject> = Function::ALL.into_iter().map(|function| singles(function, effort)).collect();
    for function in [Function::Ex2, Function::Tanh] {
        subjects.extend([(Format::F16, Type::F16, "f16"), (Format::Bf16, Type::BF16, "bf16")].map(
            |(format, ty, name)| {
                let name = format!("{PART}::{}.{name}", function.name());
                Subject::new(PART, name.clone(), (1, 1), move |_, _| {
                    for bits in 0..=u16::MAX {
                        let found = Concrete.half_elementary(function, format, bits.into());
                        compare(&name, function, ty, bits.into(), found & 0xFFFF)?;
                    }
                    Ok(1 << 16)
                })
            },
        ));
    }
    subjects
}

fn singles(function: Function, effort: Effort) -> Subject {
    // In a full run, each piece covers a contiguous range of 2^18 operands. In a sample, the piece takes
    // 2^16 random operands.
    let pieces = effort.choose(64, 1 << 14);
    let name = format!("{PART}::{}.f32", function.name());
    Subject::new(PART, name.clone(), (1, pieces), move |piece, random| {
        let check = |bits: u32| compare(&name, function, Type::F32, bits, function.single(bits));
        if let Effort::Full = effort {
            let first = (piece as u32) << 18;
            (first..=first | 0x3_FFFF).try_for_each(check)?;
            return Ok(1 << 18);
        }
        for edge in EDGES {
            let near = (0..16).flat_map(|step: u32| [edge.wrapping_add(step), edge.wrapping_sub(step)]);
            near.flat_map(|bits| [bits, bits ^ 0x8000_0000]).try_for_each(check)?;
        }
        (0..1 << 16).try_for_each(|_| check(random.bits() as u32))?;
        Ok((1 << 16) + EDGES.len() as u64 * 64)
    })
}

fn op(function: Function) -> Op {
    match function {
        Function::Ex2 => Op::Fexp2,
        Function::Lg2 => Op::Flog2,
        Function::Rsqrt => Op::Frsqrt,
        Function::Sin => Op::Fsin,
        Function::Cos => Op::Fcos,
        Function::Tanh => Op::Ftanh,
    }
}

fn compare(name: &str, function: Function, ty: Type, operand: u32, found: u32) -> Result<(), Box<Counterexample>> {
    let mut expected = [0];
    let lanes = [operand.into()];
    // `fold` cannot fail, because it accepts all of these ops.
    let _ = fold(op(function), Attr::None, &[Operand { ty, lanes: &lanes }], ty, &mut expected);
    if expected == [u64::from(found)] {
        return Ok(());
    }
    Err(Box::new(Counterexample {
        subject: name.to_owned(),
        reason: format!("of {operand:#x} it is {found:#x}, and the evaluator's {:#x}", expected[0]),
        reproduction: Reproduction::None,
    }))
}
