//! Tests of f64 arithmetic against the hardware. For rounding modes other than to nearest, the expected result is
//! derived from the hardware result and the exact rounding error of the hardware result.

use halfbyte_ir::eval::{Operand, fold};
use halfbyte_ir::witness::{Random, edges};
use halfbyte_ir::{Attr, Elem, FloatCC, FloatFlags, Op, Rounding, Type};

fn compute(op: Op, attr: Attr, args: &[(Type, u64)], result: Type) -> u64 {
    let lanes: Vec<_> = args.iter().map(|&(_, lane)| [lane]).collect();
    let operands: Vec<_> = (args.iter().zip(&lanes)).map(|(&(ty, _), lanes)| Operand { ty, lanes }).collect();
    let mut out = [0];
    assert!(fold(op, attr, &operands, result, &mut out));
    out[0]
}

fn doubles(op: Op, rounding: Rounding, args: &[f64]) -> u64 {
    let attr = Attr::Float(FloatFlags { rounding, ..FloatFlags::default() });
    let args: Vec<_> = args.iter().map(|arg| (Type::F64, arg.to_bits())).collect();
    compute(op, attr, &args, Type::F64)
}

const QUIET: u64 = 0x0008_0000_0000_0000;
const INVALID: u64 = 0xfff8_0000_0000_0000;

fn nan_of(args: &[f64]) -> u64 {
    args.iter().find(|arg| arg.is_nan()).map_or(INVALID, |nan| nan.to_bits() | QUIET)
}

#[test]
fn equals_the_hardware_when_rounding_to_nearest() {
    let mut random = Random(1);
    for _ in 0..100_000 {
        let [a, b, c] = [(); 3].map(|()| f64::from_bits(random.lane(Elem::F64, 0)));
        let check = |op, args: &[f64], want: f64| {
            let want = if want.is_nan() { nan_of(args) } else { want.to_bits() };
            assert_eq!(doubles(op, Rounding::Rn, args), want, "{op:?} {args:?}");
        };
        check(Op::Fadd, &[a, b], a + b);
        check(Op::Fsub, &[a, b], a - b);
        check(Op::Fmul, &[a, b], a * b);
        check(Op::Ffma, &[a, b, c], a.mul_add(b, c));
        check(Op::Fdiv, &[a, b], a / b);
        check(Op::Fsqrt, &[a], a.sqrt());
    }
}

/// Returns the correctly rounded result of an operation. `nearest` is the result rounded to
/// nearest, and `left` has the sign of the exact result minus `nearest`.
fn directed(rounding: Rounding, nearest: f64, left: f64) -> f64 {
    match rounding {
        Rounding::Rn => nearest,
        _ if left == 0.0 => nearest,
        Rounding::Rp if left > 0.0 => nearest.next_up(),
        Rounding::Rm if left < 0.0 => nearest.next_down(),
        Rounding::Rz if left > 0.0 && nearest < 0.0 => nearest.next_up(),
        Rounding::Rz if left < 0.0 && nearest > 0.0 => nearest.next_down(),
        _ => nearest,
    }
}

#[test]
fn other_roundings_are_beside_the_nearest() {
    let mut random = Random(2);
    // The exponents are limited so that rounding errors are representable in f64.
    let mut number = || {
        let bits = random.bits();
        let exponent = 1023 - 60 + (bits >> 52) % 120;
        f64::from_bits(bits & 0x800f_ffff_ffff_ffff | exponent << 52)
    };
    for _ in 0..50_000 {
        let (a, b) = (number(), number());
        let positive = a.abs();
        let sum = a + b;
        let of_b = sum - a;
        let left_of_sum = (a - (sum - of_b)) + (b - of_b);
        let (product, quotient, root) = (a * b, a / b, positive.sqrt());
        for rounding in Rounding::ALL {
            let check = |op, args: &[f64], nearest: f64, left: f64| {
                let want = directed(rounding, nearest, left);
                // The comparison ignores the sign of an exact zero, which depends on the rounding mode.
                let found = f64::from_bits(doubles(op, rounding, args));
                assert_eq!(found, want, "{op:?} {rounding:?} {args:?}");
            };
            check(Op::Fadd, &[a, b], sum, left_of_sum);
            check(Op::Fsub, &[a, -b], sum, left_of_sum);
            check(Op::Fmul, &[a, b], product, a.mul_add(b, -product));
            check(Op::Fdiv, &[a, b], quotient, (-quotient).mul_add(b, a) * b.signum());
            check(Op::Fsqrt, &[positive], root, (-root).mul_add(root, positive));
            // The product `a * 1.0` is exact, and the sum is not.
            check(Op::Ffma, &[a, 1.0, b], sum, left_of_sum);
            let single = f64::from(a as f32);
            let attr = Attr::Float(FloatFlags { rounding, ..FloatFlags::default() });
            let narrowed = compute(Op::Fcvt, attr, &[(Type::F64, a.to_bits())], Type::F32) as u32;
            let near = a as f32;
            let want = match (rounding, a - single) {
                (Rounding::Rp, left) if left > 0.0 => near.next_up(),
                (Rounding::Rm, left) if left < 0.0 => near.next_down(),
                (Rounding::Rz, left) if left > 0.0 && near < 0.0 => near.next_up(),
                (Rounding::Rz, left) if left < 0.0 && near > 0.0 => near.next_down(),
                _ => near,
            };
            assert_eq!(f32::from_bits(narrowed), want, "{rounding:?} {a}");
        }
    }
}

#[test]
fn zeros_and_overflows_are_by_the_rounding() {
    use Rounding::{Rm, Rn, Rp, Rz};
    for (rounding, zero, over, under) in [
        (Rn, 0.0, f64::INFINITY, f64::NEG_INFINITY),
        (Rz, 0.0, f64::MAX, f64::MIN),
        (Rp, 0.0, f64::INFINITY, f64::MIN),
        (Rm, -0.0_f64, f64::MAX, f64::NEG_INFINITY),
    ] {
        assert_eq!(doubles(Op::Fsub, rounding, &[1.5, 1.5]), zero.to_bits());
        assert_eq!(doubles(Op::Fmul, rounding, &[f64::MAX, 2.0]), over.to_bits());
        assert_eq!(doubles(Op::Fmul, rounding, &[f64::MAX, -2.0]), under.to_bits());
        assert_eq!(doubles(Op::Fsqrt, rounding, &[-0.0]), (-0.0_f64).to_bits());
        let least = f64::from_bits(1);
        let halved = f64::from_bits(doubles(Op::Fmul, rounding, &[least, 0.25]));
        assert_eq!(halved, if rounding == Rp { least } else { 0.0 });
    }
}

#[test]
fn returns_the_first_nan_operand() {
    let (first, second) = (f64::from_bits(0xfff0_0000_0000_0123), f64::from_bits(0x7ff8_0000_dead_beef));
    let quiet = first.to_bits() | QUIET;
    for op in [Op::Fadd, Op::Fsub, Op::Fmul, Op::Fdiv, Op::Fmin, Op::Fmax] {
        assert_eq!(doubles(op, Rounding::Rn, &[first, second]), quiet, "{op:?}");
        assert_eq!(doubles(op, Rounding::Rz, &[second, first]), second.to_bits(), "{op:?}");
        let of_one = if matches!(op, Op::Fmin | Op::Fmax) { 1.0_f64.to_bits() } else { quiet };
        assert_eq!(doubles(op, Rounding::Rn, &[1.0, first]), of_one, "{op:?}");
    }
    assert_eq!(doubles(Op::Ffma, Rounding::Rn, &[f64::INFINITY, 0.0, first]), quiet);
    assert_eq!(doubles(Op::Fneg, Rounding::Rn, &[first]), 0x7ff0_0000_0000_0123);
    assert_eq!(doubles(Op::Fabs, Rounding::Rn, &[first]), 0x7ff0_0000_0000_0123);
    for (op, args) in [
        (Op::Fadd, [f64::INFINITY, f64::NEG_INFINITY]),
        (Op::Fsub, [f64::INFINITY, f64::INFINITY]),
        (Op::Fmul, [0.0, f64::INFINITY]),
        (Op::Fdiv, [0.0, -0.0]),
    ] {
        assert_eq!(doubles(op, Rounding::Rn, &args), INVALID, "{op:?}");
    }
    assert_eq!(doubles(Op::Fsqrt, Rounding::Rn, &[-1.0]), INVALID);
    // A NaN converted to f64 keeps its payload and loses its sign. A NaN converted from f64 becomes the canonical NaN.
    assert_eq!(compute(Op::Fcvt, Attr::None, &[(Type::F32, 0xff80_0001)], Type::F64), 0x7ff8_0000_2000_0000);
    assert_eq!(compute(Op::Fcvt, Attr::None, &[(Type::F16, 0xfc01)], Type::F64), 0x7ff8_0400_0000_0000);
    assert_eq!(compute(Op::Fcvt, Attr::None, &[(Type::F64, first.to_bits())], Type::F32), 0x7fff_ffff);
    assert_eq!(compute(Op::Fcvt, Attr::None, &[(Type::F64, first.to_bits())], Type::F16), 0x7fff);
}

#[test]
fn comparisons_and_extremes_are_the_hardware() {
    let all = edges(Elem::F64);
    for (a, b) in all.iter().flat_map(|&a| all.iter().map(move |&b| (f64::from_bits(a), f64::from_bits(b)))) {
        let args = [a, b].map(|x| (Type::F64, x.to_bits()));
        for &cc in FloatCC::ALL {
            let unordered = a.is_nan() || b.is_nan();
            let want = match cc {
                FloatCC::Eq => a == b,
                FloatCC::Ne => !unordered && a != b,
                FloatCC::Lt => a < b,
                FloatCC::Le => a <= b,
                FloatCC::Gt => a > b,
                FloatCC::Ge => a >= b,
                FloatCC::Equ => unordered || a == b,
                FloatCC::Neu => a != b,
                FloatCC::Ltu => unordered || a < b,
                FloatCC::Leu => unordered || a <= b,
                FloatCC::Gtu => unordered || a > b,
                FloatCC::Geu => unordered || a >= b,
                FloatCC::Num => !unordered,
                FloatCC::Nan => unordered,
            };
            assert_eq!(
                compute(Op::Fcmp, Attr::FloatCC { cc, ftz: false }, &args, Type::I1),
                want.into(),
                "{cc} {a} {b}"
            );
        }
        if !a.is_nan() && !b.is_nan() {
            let (least, most) = if a.total_cmp(&b).is_lt() { (a, b) } else { (b, a) };
            assert_eq!(doubles(Op::Fmin, Rounding::Rn, &[a, b]), least.to_bits());
            assert_eq!(doubles(Op::Fmax, Rounding::Rn, &[a, b]), most.to_bits());
        }
    }
}

#[test]
fn integers_are_the_hardware() {
    let mut random = Random(3);
    for _ in 0..50_000 {
        let a = f64::from_bits(random.lane(Elem::F64, 0));
        let to = |op, ty| compute(op, Attr::None, &[(Type::F64, a.to_bits())], ty);
        if a.is_nan() {
            assert_eq!([to(Op::FcvtToS, Type::I32), to(Op::FcvtToU, Type::I32)], [1 << 31; 2]);
            assert_eq!([to(Op::FcvtToS, Type::I64), to(Op::FcvtToU, Type::I64)], [1 << 63; 2]);
        } else {
            assert_eq!(to(Op::FcvtToS, Type::I32) as u32, a as i32 as u32);
            assert_eq!(to(Op::FcvtToU, Type::I32) as u32, a as u32);
            assert_eq!(to(Op::FcvtToS, Type::I64), a as i64 as u64);
            assert_eq!(to(Op::FcvtToU, Type::I64), a as u64);
        }
        let whole = random.lane(Elem::I64, 0);
        let from = |op, ty, bits| compute(op, Attr::None, &[(ty, bits)], Type::F64);
        assert_eq!(from(Op::FcvtFromS, Type::I64, whole), (whole as i64 as f64).to_bits());
        assert_eq!(from(Op::FcvtFromU, Type::I64, whole), (whole as f64).to_bits());
        let word = whole & 0xffff_ffff;
        assert_eq!(from(Op::FcvtFromS, Type::I32, word), f64::from(word as u32 as i32).to_bits());
        assert_eq!(from(Op::FcvtFromU, Type::I32, word), f64::from(word as u32).to_bits());
    }
    let attr = Attr::Float(FloatFlags { rounding: Rounding::Rz, ..FloatFlags::default() });
    let truncated = compute(Op::FcvtFromU, attr, &[(Type::I64, u64::MAX)], Type::F64);
    assert_eq!(f64::from_bits(truncated), 18_446_744_073_709_549_568.0);
}
