//! Tests of floating-point arithmetic against a second model, and against the hardware where the
//! hardware's result is exact. The model computes sums and products as 640-bit integers, and rounds
//! by binary search in the values of the format.

use std::cmp::Ordering;

use halfbyte_ir::eval::{Operand, fold};
use halfbyte_ir::{Attr, Clamp, FloatCC, FloatFlags, Op, Rounding, Type};

fn compute(op: Op, attr: Attr, args: &[(Type, u64)], result: Type) -> u64 {
    let lanes: Vec<_> = args.iter().map(|&(_, lane)| [lane]).collect();
    let operands: Vec<_> = (args.iter().zip(&lanes)).map(|(&(ty, _), lanes)| Operand { ty, lanes }).collect();
    let mut out = [0];
    assert!(fold(op, attr, &operands, result, &mut out));
    out[0]
}

/// An exact magnitude: a 640-bit integer in units of 2^-298, which is the square of the smallest f32.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Big([u64; 10]);

impl Big {
    const ZERO: Big = Big([0; 10]);

    /// Creates the number significand * 2^exponent.
    fn new(significand: u64, exponent: i32) -> Big {
        let at = (exponent + 298) as usize;
        let wide = u128::from(significand) << (at % 64);
        let mut words = [0; 10];
        words[at / 64] = wide as u64;
        words[at / 64 + 1] = (wide >> 64) as u64;
        Big(words)
    }

    fn cmp(self, other: Big) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }

    fn add(self, other: Big) -> Big {
        let mut carry = 0;
        Big(std::array::from_fn(|i| {
            let sum = u128::from(self.0[i]) + u128::from(other.0[i]) + carry;
            carry = sum >> 64;
            sum as u64
        }))
    }

    fn sub(self, other: Big) -> Big {
        let mut borrow = false;
        Big(std::array::from_fn(|i| {
            let (a, under) = self.0[i].overflowing_sub(other.0[i]);
            let (d, under_again) = a.overflowing_sub(u64::from(borrow));
            borrow = under || under_again;
            d
        }))
    }
}

/// A floating-point format: the number of its stored significand bits and of its exponent bits.
#[derive(Clone, Copy)]
struct Format {
    ty: Type,
    fraction: u32,
    exponent: u32,
}

const FORMATS: [Format; 3] = [
    Format { ty: Type::F16, fraction: 10, exponent: 5 },
    Format { ty: Type::BF16, fraction: 7, exponent: 8 },
    Format { ty: Type::F32, fraction: 23, exponent: 8 },
];

impl Format {
    fn sign(self) -> u64 {
        1 << (self.fraction + self.exponent)
    }

    fn infinity(self) -> u64 {
        self.sign() - (1 << self.fraction)
    }

    /// Returns the significand and exponent of a number without its sign. Infinity counts as the
    /// power of two after the largest number.
    fn parts(self, magnitude: u64) -> (u64, i32) {
        let biased = (magnitude >> self.fraction) as i32;
        let fraction = magnitude & ((1 << self.fraction) - 1);
        let least = 2 - (1 << (self.exponent - 1)) - self.fraction as i32;
        match biased {
            0 => (fraction, least),
            _ => (fraction | 1 << self.fraction, least + biased - 1),
        }
    }

    fn value(self, magnitude: u64) -> Big {
        let (significand, exponent) = self.parts(magnitude);
        Big::new(significand, exponent)
    }

    /// Rounds a nonzero number to the format. `exact` is its magnitude.
    fn round(self, rounding: Rounding, negative: bool, exact: Big) -> u64 {
        let sign = if negative { self.sign() } else { 0 };
        // Find the largest number of the format that does not exceed the exact value.
        let (mut low, mut high) = (0, self.infinity());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.value(middle).cmp(exact).is_le() {
                low = middle;
            } else {
                high = middle;
            }
        }
        if self.value(low) == exact {
            return sign | low;
        }
        let away = match rounding {
            Rounding::Rz => false,
            Rounding::Rp => !negative,
            Rounding::Rm => negative,
            Rounding::Rn => {
                let middle = self.value(low).add(self.value(high));
                match exact.add(exact).cmp(middle) {
                    Ordering::Less => false,
                    Ordering::Equal => low & 1 == 1,
                    Ordering::Greater => true,
                }
            }
        };
        sign | if away { high } else { low }
    }

    /// Computes a * b + c for finite numbers with one rounding.
    fn fma(self, rounding: Rounding, a: u64, b: u64, c: u64) -> u64 {
        let magnitude = |x: u64| x & (self.sign() - 1);
        let negative = |x: u64| x & self.sign() != 0;
        let (sa, ea) = self.parts(magnitude(a));
        let (sb, eb) = self.parts(magnitude(b));
        let product = match sa * sb {
            0 => Big::ZERO,
            significand => Big::new(significand, ea + eb),
        };
        let product_negative = negative(a) != negative(b);
        let addend = self.value(magnitude(c));
        if product_negative == negative(c) {
            let sum = product.add(addend);
            return match sum {
                Big::ZERO => c & self.sign(),
                _ => self.round(rounding, negative(c), sum),
            };
        }
        match product.cmp(addend) {
            Ordering::Equal if rounding == Rounding::Rm => self.sign(),
            Ordering::Equal => 0,
            Ordering::Less => self.round(rounding, negative(c), addend.sub(product)),
            Ordering::Greater => self.round(rounding, product_negative, product.sub(addend)),
        }
    }
}

/// Random-number generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns a finite number, often near an edge value of the format.
    fn finite(&mut self, format: Format) -> u64 {
        let random = self.next();
        let one = (format.infinity() >> 1) & format.infinity();
        let edge =
            [0, 1, 1 << format.fraction, format.infinity(), one, one << 1 & format.infinity()][random as usize % 6];
        let near = edge.wrapping_add((random >> 8) % 7).wrapping_sub(3);
        let magnitude = match random >> 16 & 7 {
            0..=2 => near,
            3 => self.next() % (1 << format.fraction),
            _ => self.next(),
        } & (format.sign() - 1);
        let sign = if random >> 32 & 1 == 1 { format.sign() } else { 0 };
        sign | magnitude.min(format.infinity() - 1)
    }
}

fn rounded(rounding: Rounding) -> Attr {
    Attr::Float(FloatFlags { rounding, ..FloatFlags::default() })
}

#[test]
fn arithmetic_is_the_exact_model() {
    let mut random = Random(1);
    for format in FORMATS {
        let ty = format.ty;
        for i in 0..60_000 {
            let [a, b] = [(); 2].map(|()| random.finite(format));
            let c = match i % 4 {
                // A number near the negated product, so that the sum cancels almost completely.
                0 => {
                    let product = compute(Op::Fmul, Attr::None, &[(ty, a), (ty, b)], ty);
                    let near = product.wrapping_add(random.next() % 3).wrapping_sub(1);
                    let near = near & (format.sign() - 1);
                    near.min(format.infinity() - 1) | (product & format.sign() ^ format.sign())
                }
                _ => random.finite(format),
            };
            let one = (format.infinity() >> 1) & format.infinity();
            for rounding in Rounding::ALL {
                let attr = rounded(rounding);
                let at = || format!("{ty} {rounding:?} {a:#x} {b:#x} {c:#x}");
                let fma = compute(Op::Ffma, attr, &[(ty, a), (ty, b), (ty, c)], ty);
                assert_eq!(fma, format.fma(rounding, a, b, c), "fma {}", at());
                let add = compute(Op::Fadd, attr, &[(ty, a), (ty, c)], ty);
                assert_eq!(add, format.fma(rounding, a, one, c), "add {}", at());
                let sub = compute(Op::Fsub, attr, &[(ty, a), (ty, c)], ty);
                let minus = c ^ format.sign();
                assert_eq!(sub, format.fma(rounding, a, one, minus), "sub {}", at());
                // Adding a zero of the product's sign changes nothing in any rounding mode.
                let mul = compute(Op::Fmul, attr, &[(ty, a), (ty, b)], ty);
                let zero = (a ^ b) & format.sign();
                assert_eq!(mul, format.fma(rounding, a, b, zero), "mul {}", at());
            }
        }
    }
}

/// Tests an `fma` whose product almost cancels a subnormal: the difference is far below the smallest subnormal.
#[test]
fn fma_rounds_a_tiny_difference_correctly() {
    let mut random = Random(2);
    let format = FORMATS[2];
    let f32_ = |bits: u64| (Type::F32, bits);
    for _ in 0..20_000 {
        // Significands whose product is slightly above or below a power of two.
        let p = (1 << 23) | (random.next() % (1 << 23));
        let q = ((1u64 << 47) / p + random.next() % 2).clamp(1 << 23, (1 << 24) - 1);
        let fraction = (1 << 23) - 1;
        let a = p & fraction | (random.next() % 8 + 50) << 23;
        let b = q & fraction | (random.next() % 8 + 54) << 23;
        let c = format.sign() | 1 << (random.next() % 24);
        for rounding in Rounding::ALL {
            let fma = compute(Op::Ffma, rounded(rounding), &[f32_(a), f32_(b), f32_(c)], Type::F32);
            assert_eq!(fma, format.fma(rounding, a, b, c), "{rounding:?} {a:#x} {b:#x} {c:#x}");
        }
    }
}

#[test]
fn conversions_are_the_exact_model() {
    let mut random = Random(3);
    for (from, to) in FORMATS.iter().flat_map(|&f| FORMATS.map(|t| (f, t))) {
        if from.ty == to.ty {
            continue;
        }
        for _ in 0..5_000 {
            let a = random.finite(from);
            let negative = a & from.sign() != 0;
            let exact = from.value(a & (from.sign() - 1));
            for rounding in Rounding::ALL {
                let want = to.round(rounding, negative, exact);
                let found = compute(Op::Fcvt, rounded(rounding), &[(from.ty, a)], to.ty);
                assert_eq!(found, want, "{} {a:#x} to {} {rounding:?}", from.ty, to.ty);
            }
        }
        let (minus, infinity) = (from.sign(), from.infinity());
        for (a, want) in [
            (0, 0),
            (minus, to.sign()),
            (infinity, to.infinity()),
            (minus | infinity, to.sign() | to.infinity()),
            (infinity + 1, to.sign() - 1),
            (minus | (minus - 1), to.sign() - 1),
        ] {
            let found = compute(Op::Fcvt, Attr::None, &[(from.ty, a)], to.ty);
            assert_eq!(found, want, "{} {a:#x} to {}", from.ty, to.ty);
        }
    }
}

#[test]
fn integers_are_the_exact_model() {
    let mut random = Random(4);
    for format in FORMATS {
        for i in 0..10_000u64 {
            let a = match i {
                0..64 => 1u64 << (i % 32),
                64..128 => (1u64 << (i % 32)).wrapping_neg() & 0xffff_ffff,
                _ => random.next() & 0xffff_ffff & u64::MAX >> (random.next() % 32 + 32),
            } & 0xffff_ffff;
            let signed = i64::from(a as i32);
            for rounding in Rounding::ALL {
                for (op, value) in [(Op::FcvtFromS, signed), (Op::FcvtFromU, a as i64)] {
                    let want = match value {
                        0 => 0,
                        _ => {
                            let exact = Big::new(value.unsigned_abs(), 0);
                            format.round(rounding, value < 0, exact)
                        }
                    };
                    let found = compute(op, rounded(rounding), &[(Type::I32, a)], format.ty);
                    assert_eq!(found, want, "{op:?} {rounding:?} {a:#x} to {}", format.ty);
                }
            }
            // Rust's casts from float to integer round toward zero, saturate, and convert NaN to 0.
            let bits = random.finite(format);
            let wide = f32::from_bits(compute_widened(format, bits));
            let [s, u] = [Op::FcvtToS, Op::FcvtToU].map(|op| compute(op, Attr::None, &[(format.ty, bits)], Type::I32));
            assert_eq!((s as u32 as i32, u as u32), (wide as i32, wide as u32), "{} {bits:#x}", format.ty);
        }
    }
}

fn compute_widened(format: Format, bits: u64) -> u32 {
    match format.ty {
        Type::F32 => bits as u32,
        ty => compute(Op::Fcvt, Attr::None, &[(ty, bits)], Type::F32) as u32,
    }
}

#[test]
fn singles_are_the_hardware() {
    let mut random = Random(5);
    let format = FORMATS[2];
    let check = |name: &str, found: u64, want: f32| {
        let want = if want.is_nan() { 0x7fff_ffff } else { want.to_bits() };
        assert_eq!(found, u64::from(want), "{name}");
    };
    for _ in 0..100_000 {
        let [a, b, c] = [(); 3].map(|()| match random.next() % 16 {
            0 => random.next() & 0xffff_ffff,
            1 => format.infinity() | random.next() & 1 << 31,
            _ => random.finite(format),
        });
        let operands = [a, b, c].map(|x| (Type::F32, x));
        let [x, y, z] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
        let at = format!("{a:#x} {b:#x} {c:#x}");
        let run = |op, n: usize| compute(op, Attr::None, &operands[..n], Type::F32);
        check(&at, run(Op::Fadd, 2), x + y);
        check(&at, run(Op::Fsub, 2), x - y);
        check(&at, run(Op::Fmul, 2), x * y);
        check(&at, run(Op::Ffma, 3), x.mul_add(y, z));
        check(&at, run(Op::Fdiv, 2), x / y);
        check(&at, run(Op::Fsqrt, 1), x.sqrt());
    }
}

#[test]
fn every_half() {
    for bits in 0..=u16::MAX {
        let a = u64::from(bits);
        let widened = [half::f16::from_bits(bits).to_f32(), half::bf16::from_bits(bits).to_f32()];
        for (format, exact) in FORMATS.into_iter().zip(widened) {
            let ty = format.ty;
            let one = |op, attr, to| compute(op, attr, &[(ty, a)], to);
            assert_eq!(one(Op::Fneg, Attr::None, ty), a ^ 0x8000);
            assert_eq!(one(Op::Fabs, Attr::None, ty), a & 0x7fff);
            let want = if exact.is_nan() { 0x7fff_ffff } else { exact.to_bits() };
            assert_eq!(one(Op::Fcvt, Attr::None, Type::F32), u64::from(want), "{ty} {a:#x}");
            let canonical = if exact.is_nan() { 0x7fff } else { a };
            for rounding in Rounding::ALL {
                let back = compute(Op::Fcvt, rounded(rounding), &[(Type::F32, u64::from(want))], ty);
                assert_eq!(back, canonical, "{ty} {a:#x} {rounding:?}");
            }
            // Adding -0 changes no number in any rounding mode, so it isolates the effect of the
            // modifiers. `sat` replaces -0 by +0.
            let flags = |ftz, clamp| Attr::Float(FloatFlags { ftz, clamp, ..FloatFlags::default() });
            let unchanged = |attr| compute(Op::Fadd, attr, &[(ty, a), (ty, 0x8000)], ty);
            let flush = |a: u64| {
                if a & format.infinity() == 0 { a & 0x8000 } else { a }
            };
            let relu = if exact < 0.0 { 0 } else { canonical };
            let sat = match exact {
                x if x >= 1.0 => ((1 << (format.exponent - 1)) - 1) << format.fraction,
                x if x > 0.0 => a,
                _ => 0,
            };
            assert_eq!(unchanged(flags(false, Clamp::None)), canonical);
            assert_eq!(unchanged(flags(true, Clamp::None)), flush(canonical));
            assert_eq!(unchanged(flags(false, Clamp::Relu)), relu, "{ty} {a:#x}");
            assert_eq!(unchanged(flags(false, Clamp::Sat)), sat, "{ty} {a:#x}");
            assert_eq!(unchanged(flags(true, Clamp::Sat)), flush(sat), "{ty} {a:#x}");
        }
    }
}

/// Tests all conditions, minima and maxima on pairs of edge values, against f32 hardware.
#[test]
fn halves_in_order() {
    let edges = [0, 1, 0x3ff, 0x400, 0x3c00, 0x3f80, 0x7bff, 0x7c00, 0x7c01, 0x7f7f, 0x7f80, 0x7f81, 0x7fff];
    let edges: Vec<u64> = edges.iter().flat_map(|&e| [e, e | 0x8000]).collect();
    for format in [FORMATS[0], FORMATS[1]] {
        let ty = format.ty;
        for (&a, &b) in edges.iter().flat_map(|a| edges.iter().map(move |b| (a, b))) {
            let [x, y] = [a, b].map(|bits| match ty {
                Type::F16 => half::f16::from_bits(bits as u16).to_f32(),
                _ => half::bf16::from_bits(bits as u16).to_f32(),
            });
            let either = x.is_nan() || y.is_nan();
            for &cc in FloatCC::ALL {
                let want = match cc {
                    FloatCC::Eq => x == y,
                    FloatCC::Ne => x != y && !either,
                    FloatCC::Lt => x < y,
                    FloatCC::Le => x <= y,
                    FloatCC::Gt => x > y,
                    FloatCC::Ge => x >= y,
                    FloatCC::Equ => x == y || either,
                    FloatCC::Neu => x != y,
                    FloatCC::Ltu => x < y || either,
                    FloatCC::Leu => x <= y || either,
                    FloatCC::Gtu => x > y || either,
                    FloatCC::Geu => x >= y || either,
                    FloatCC::Num => !either,
                    FloatCC::Nan => either,
                };
                let attr = Attr::FloatCC { cc, ftz: false };
                let operands = [(ty, a), (ty, b)];
                assert_eq!(compute(Op::Fcmp, attr, &operands, Type::I1), want.into(), "{cc} {ty} {a:#x} {b:#x}");
            }
            let lesser = match x.total_cmp(&y) {
                _ if x.is_nan() && y.is_nan() => [0x7fff; 2],
                _ if x.is_nan() => [b; 2],
                _ if y.is_nan() => [a; 2],
                Ordering::Greater => [b, a],
                _ => [a, b],
            };
            for (op, want) in [Op::Fmin, Op::Fmax].into_iter().zip(lesser) {
                let operands = [(ty, a), (ty, b)];
                assert_eq!(compute(op, Attr::None, &operands, ty), want, "{op:?} {ty} {a:#x} {b:#x}");
                let nan = Attr::Float(FloatFlags { nan: true, ..FloatFlags::default() });
                let want = if either { 0x7fff } else { want };
                assert_eq!(compute(op, nan, &operands, ty), want, "{op:?} {ty} {a:#x} {b:#x}");
            }
        }
    }
}
