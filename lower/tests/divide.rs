//! Tests of divisions by constants: the expansion gives the quotients and remainders of the evaluator.

use halfbyte_ir::witness::Random;
use halfbyte_ir::{Kernel, Legality, Op, ParamKind, Type};
use halfbyte_lower::trial::target;

use crate::common::kernel;
use crate::common::pack::{same_on, try_lower};

const DIVISIONS: [Op; 4] = [Op::DivS, Op::DivU, Op::RemS, Op::RemU];

/// Returns targets that differ in their products: all products; no 64-bit values; only products of 32 bits.
fn targets() -> [Legality; 3] {
    let divides = |op| DIVISIONS.contains(&op);
    let is_wide = |op, ty| ty == Type::I64 || matches!(op, Op::MulWideS | Op::MulWideU) && ty == Type::I32;
    let is_product = |op| matches!(op, Op::MulHiS | Op::MulHiU | Op::MulWideS | Op::MulWideU);
    [
        target(|_, _| false),
        target(move |op, ty| divides(op) || is_wide(op, ty)),
        target(move |op, ty| divides(op) || is_wide(op, ty) || is_product(op)),
    ]
}

/// Returns a kernel that divides elements of type `from`, extended to `ty`, by a constant in all four ways.
fn divisions(from: Type, ty: Type, extension: &str, divisor: i64) -> Kernel {
    let extend = match extension {
        "" => "%e = load %x[%i]".to_owned(),
        extension => format!("%v = load %x[%i]\n%e = {extension}.{ty} %v"),
    };
    let lines: String =
        DIVISIONS.iter().map(|op| format!("%{0} = {0}.{ty} %e, %k\nstore %{0}, %o_{0}[%i]\n", op.name())).collect();
    let outputs: String = DIVISIONS.iter().map(|op| format!(", %o_{}: out {ty}", op.name())).collect();
    kernel(&format!(
        "kernel @k(%x: in {from}{outputs}) {{\n^entry:\n%i = item_id\n{extend}\n%k = const.{ty} {divisor}\n{lines}ret\n}}"
    ))
}

fn has_division(kernel: &Kernel) -> bool {
    let mut insts = kernel.layout.iter().flat_map(|&block| &kernel.blocks[block].insts);
    insts.any(|&inst| DIVISIONS.contains(&kernel.insts[inst].op))
}

/// Asserts that the lowered kernel has no division, and the results of the evaluator for these dividends.
fn check(before: &Kernel, target: &Legality, dividends: &[u8]) {
    let mut after = before.clone();
    try_lower(&mut after, "fold canon gvn canon legalise gvn dce", target).unwrap();
    assert!(!has_division(&after), "{before}\nbecomes\n{after}");
    let bytes = before.params.iter().map(|param| match param.kind {
        ParamKind::Scalar(ty) | ParamKind::Buffer { elem: ty, .. } => ty.bytes() as usize,
    });
    let items = dividends.len() / bytes.clone().next().unwrap();
    let mut arguments: Vec<Vec<u8>> = bytes.map(|bytes| vec![0; items * bytes]).collect();
    arguments[0] = dividends.to_vec();
    assert!(same_on(before, &after, items as u32, &arguments));
}

fn all_bytes() -> Vec<u8> {
    (0..=u8::MAX).collect()
}

fn all_half_words() -> Vec<u8> {
    (0..=u16::MAX).flat_map(u16::to_le_bytes).collect()
}

/// Returns dividends of `bytes` bytes: bounds, neighbours of multiples of the divisor, and random numbers.
fn dividends(bytes: usize, divisor: i64, random: &mut Random) -> Vec<u8> {
    let mut numbers: Vec<i64> = vec![0, 1, 2, -1, -2, i64::MAX, i64::MIN, i64::MIN + 1];
    numbers.extend([i64::from(i32::MAX), i64::from(i32::MIN), i64::from(u32::MAX), 1 << 32]);
    let unused = 64 - 8 * bytes as u32;
    for number in 0..400 {
        let size = random.below(64) as u32;
        let random = random.bits().cast_signed() >> size;
        let multiple = (random / divisor.max(1)).wrapping_mul(divisor);
        numbers.extend([random, multiple, multiple.wrapping_sub(1), multiple.wrapping_add(1)]);
        numbers.extend([divisor.wrapping_mul(number).wrapping_sub(1), divisor.wrapping_mul(number)]);
        // The largest unsigned dividends are closest to a wrong quotient.
        let largest = u64::MAX >> unused;
        let divisor = divisor.cast_unsigned() & largest;
        let near = (largest - largest % divisor.max(1)).wrapping_sub(divisor.wrapping_mul(number as u64));
        numbers.extend([near.cast_signed(), near.wrapping_sub(1).cast_signed()]);
    }
    numbers.iter().flat_map(|number| number.to_le_bytes()[..bytes].to_vec()).collect()
}

#[test]
fn every_byte_by_every_byte() {
    let dividends = all_bytes();
    for target in targets() {
        for divisor in i8::MIN..=i8::MAX {
            check(&divisions(Type::I8, Type::I8, "", divisor.into()), &target, &dividends);
        }
    }
}

#[test]
fn every_half_word_by_a_constant() {
    let dividends = all_half_words();
    let mut random = Random(16);
    let edges = [3, -3, 7, -7, 10, 100, 255, 641, 1000, 0x4000, -0x4000, 0x7fff, -0x7fff, -0x8000, 0x5555];
    let more: Vec<i64> = (0..9).map(|_| i64::from(random.bits() as i16)).collect();
    for (number, divisor) in edges.into_iter().chain(more).enumerate() {
        let target = &targets()[number % 3];
        check(&divisions(Type::I16, Type::I16, "", divisor), target, &dividends);
    }
}

/// The dividends have a known range, so that shorter reciprocals are exact.
#[test]
fn every_extended_half_word_by_a_constant() {
    let dividends = all_half_words();
    for (number, divisor) in
        [3, 7, 10, -10, 255, 257, 1000, 32768, 40000, -40000, 65535, 1_000_003].into_iter().enumerate()
    {
        let target = &targets()[number % 3];
        check(&divisions(Type::I16, Type::I32, ["zext", "sext"][number / 3 % 2], divisor), target, &dividends);
    }
}

#[test]
fn every_extended_byte_by_a_constant() {
    let dividends = all_bytes();
    for target in targets() {
        for divisor in (-300..300).chain([1000, i32::MAX.into(), i32::MIN.into()]) {
            for extension in ["zext", "sext"] {
                check(&divisions(Type::I8, Type::I32, extension, divisor), &target, &dividends);
                check(&divisions(Type::I8, Type::I16, extension, i64::from(divisor as i16)), &target, &dividends);
            }
        }
    }
}

#[test]
fn words_by_constants() {
    let mut random = Random(32);
    let mut divisors: Vec<i64> = (-130..=130).collect();
    for bit in 2..32 {
        divisors.extend([(1 << bit) - 1, 1 << bit, (1 << bit) + 1, -(1 << bit) - 1, -(1 << bit), 3 << (bit - 2)]);
    }
    divisors.extend([641, 1000, 6_700_417, 1_000_000_007]);
    divisors.extend((0..300).map(|_| i64::from((random.bits() as i32) >> random.below(31))));
    for (number, divisor) in divisors.into_iter().enumerate() {
        let divisor = i64::from(divisor as i32);
        let dividends = dividends(4, divisor, &mut random);
        check(&divisions(Type::I32, Type::I32, "", divisor), &targets()[number % 2], &dividends);
    }
}

#[test]
fn pairs_by_constants() {
    let mut random = Random(64);
    let [target, ..] = targets();
    let mut divisors: Vec<i64> = (-70..=70).collect();
    for bit in 2..64 {
        divisors.extend([
            (1i64 << bit).wrapping_sub(1),
            1 << bit,
            (1i64 << bit).wrapping_add(1),
            (-1i64 << bit).wrapping_sub(1),
            -1 << bit,
        ]);
    }
    divisors.extend([641, 1000, 1_000_000_007, 6_700_417, 274_177]);
    divisors.extend((0..300).map(|_| random.bits().cast_signed() >> random.below(63)));
    for divisor in divisors {
        let wide = dividends(8, divisor, &mut random);
        check(&divisions(Type::I64, Type::I64, "", divisor), &target, &wide);
        let words = dividends(4, divisor, &mut random);
        check(&divisions(Type::I32, Type::I64, ["zext", "sext"][random.below(2)], divisor), &target, &words);
    }
}

/// A division by a variable stays as it is, also if divisions by constants precede it.
#[test]
fn variable_divisors_stay() {
    let text = "kernel @k(%x: in i32, %d: i32, %o: out i32) {\n^entry:\n%i = item_id\n%a = load %x[%i]\n%k = const.i32 7\n\
                %q = div_u.i32 %a, %d\n%p = div_u.i32 %a, %k\n%r = add.i32 %p, %q\nstore %r, %o[%i]\nret\n}";
    let mut after = kernel(text);
    try_lower(&mut after, "canon legalise gvn dce", &targets()[0]).unwrap();
    let insts = after.layout.iter().flat_map(|&block| &after.blocks[block].insts);
    assert_eq!(insts.filter(|&&inst| after.insts[inst].op == Op::DivU).count(), 1, "{after}");
}
