//! Tests of the functions on halves in the standard library. Results for all halves are compared
//! with exact values in `f64`.

use super::{each, is_stated, of_half};

/// Returns pairs of halves in which every half occurs in each lane.
fn all() -> Vec<(u32, u32)> {
    (0..=u32::from(u16::MAX)).map(|bits| (bits | (bits ^ 1) << 16, 0)).collect()
}

/// Returns the error of a result in units of the exact value's half-precision ulp. Results beyond
/// the largest half count as 65536, the value that would follow the largest half.
fn ulps(found: f64, exact: f64) -> f64 {
    if found.is_nan() || exact.is_nan() {
        return if found.is_nan() == exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if exact.is_infinite() || exact == 0.0 {
        return if found == exact { 0.0 } else { f64::INFINITY };
    }
    let place = |number: f64| number.clamp(-65536.0, 65536.0);
    let exponent = (place(exact).abs().log2().floor() as i32).clamp(-14, 15);
    (place(found) - place(exact)).abs() / 2f64.powi(exponent - 10)
}

/// Returns the largest error of a library function over all halves in both lanes. `measure` returns
/// the error of one result.
fn worst(include: &str, function: &str, exact: fn(f64) -> f64, measure: fn(f64, f64) -> f64) -> f64 {
    let values = all();
    let found = each(include, ("f16x2", "f16x2"), &format!("{function}(a)"), &values);
    let mut worst = 0f64;
    for (&(from, _), to) in values.iter().zip(found) {
        for lane in [0, 16] {
            let (x, y) = (of_half((from >> lane) as u16), of_half((to >> lane) as u16));
            worst = worst.max(measure(y, exact(x)));
        }
    }
    worst
}

fn rsqrt(x: f64) -> f64 {
    if x == 0.0 { f64::INFINITY.copysign(x) } else { 1.0 / x.sqrt() }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + (0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x)).tanh())
}

/// Returns the error relative to the larger of the exact value and 1. Non-finite values are tested separately.
fn relative(found: f64, exact: f64) -> f64 {
    if exact.is_finite() { (found - exact).abs() / exact.abs().max(1.0) } else { 0.0 }
}

#[test]
fn elementary_functions_are_as_near_as_they_say() {
    type Exact = fn(f64) -> f64;
    let functions: [(&str, Exact); 7] = [
        ("exp2_h2", f64::exp2),
        ("log2_h2", f64::log2),
        ("rsqrt_h2", rsqrt),
        ("tanh_h2", f64::tanh),
        ("exp2_poly", f64::exp2),
        ("log2_poly", f64::log2),
        ("rsqrt_newton", rsqrt),
    ];
    for (function, exact) in functions {
        is_stated("half", function, worst("half", function, exact, ulps));
    }
    is_stated("activation", "tanh", worst("activation", "tanh", f64::tanh, ulps));
}

/// Tests infinities, signed zeros, subnormal results, overflow, and NaN.
#[test]
fn special_values_are_those_of_the_ops() {
    const INF: f64 = f64::INFINITY;
    let tiny = 2f64.powi(-24);
    let cases: [(&str, &[(u16, f64)]); 3] = [
        (
            "exp2",
            &[
                (0x7c00, INF),
                (0xfc00, 0.0),
                (0x8000, 1.0),
                (0x4c00, INF),
                (0xce00, tiny),
                (0xce80, 0.0),
                (0xcb80, 2.0 * 2f64.powi(-16)),
            ],
        ),
        (
            "log2",
            &[
                (0x7c00, INF),
                (0xfc00, f64::NAN),
                (0x8000, -INF),
                (0, -INF),
                (1, -24.0),
                (0x8001, f64::NAN),
                (0x3c00, 0.0),
            ],
        ),
        (
            "rsqrt",
            &[
                (0x7c00, 0.0),
                (0xfc00, f64::NAN),
                (0x8000, -INF),
                (0, INF),
                (1, 4096.0),
                (0xbc00, f64::NAN),
                (0x4400, 0.5),
            ],
        ),
    ];
    for (name, cases) in cases {
        let values: Vec<(u32, u32)> = cases.iter().map(|&(bits, _)| (u32::from(bits), 0)).collect();
        for kind in ["h2", if name == "rsqrt" { "newton" } else { "poly" }] {
            for (found, &(bits, exact)) in
                each("half", ("f16x2", "f16x2"), &format!("{name}_{kind}(a)"), &values).into_iter().zip(cases)
            {
                let found = of_half(found as u16);
                assert!(found == exact || found.is_nan() && exact.is_nan(), "{name}_{kind} of {bits:#x}: {found}");
            }
            for nan in [0x7e00, 0xfe01, 0x7c01] {
                let found = each("half", ("f16x2", "f16x2"), &format!("{name}_{kind}(a)"), &[(nan << 16, 0)]);
                assert_eq!(found[0] >> 16, 0x7fff, "{name}_{kind} of {nan:#x}");
            }
        }
    }
    let zero = each("half", ("f16x2", "f16x2"), "rsqrt_newton(a)", &[(0x7c00_7c00, 0)]);
    assert_eq!(zero, [0], "the zero has no sign");
}

#[test]
fn activations_are_as_near_as_they_say() {
    type Exact = fn(f64) -> f64;
    let silu: Exact = |x| x * sigmoid(x);
    for (function, exact) in [("gelu_h2", gelu as Exact), ("silu_h2", silu)] {
        is_stated("half", function, worst("half", function, exact, relative));
    }
    let halves: Vec<(u32, u32)> = (0..=u16::MAX)
        .filter(|half| half & 0x7c00 != 0x7c00)
        .map(|half| ((of_half(half) as f32).to_bits(), 0))
        .collect();
    for (function, exact) in [("exp", f64::exp as Exact), ("sigmoid", sigmoid), ("silu", silu), ("gelu", gelu)] {
        let found = each("activation", ("f32", "f32"), &format!("{function}(a)"), &halves);
        let errors = halves.iter().zip(found).map(|(&(bits, _), found)| {
            let exact = exact(f64::from(f32::from_bits(bits)));
            let found = f64::from(f32::from_bits(found));
            // A result that overflows `f32` must be infinity.
            if exact > f64::from(f32::MAX) {
                if found.is_infinite() { 0.0 } else { f64::INFINITY }
            } else {
                relative(found, exact)
            }
        });
        is_stated("activation", function, errors.fold(0.0, f64::max));
    }
}

#[test]
fn lanes_become_f32_and_back() {
    let expr = "pick(a)\n}\nfn pick(v: f16x2) -> f16x2 {\n  let (p, q) = floats(v)\n  halves_of(p, q)";
    for ((from, _), to) in all().into_iter().zip(each("half", ("f16x2", "f16x2"), expr, &all())) {
        let nan = |half: u32| if half & 0x7fff > 0x7c00 { 0x7fff } else { half };
        assert_eq!(to, nan(from & 0xffff) | nan(from >> 16) << 16);
    }
}

/// Tests complex products and an FFT butterfly. The error of each lane is at most n * 2^-11 times
/// the sum of the magnitudes of the terms, where n is the number of roundings that the library
/// states.
#[test]
fn complex_numbers_multiply() {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Random halves with magnitudes from 2^-3 to 2^2, of both signs.
        let half = |word: u64| (word as u32 & 0x83ff) + 0x3000 + (((word >> 10) as u32 % 5) << 10);
        half(state >> 40) | half(state >> 20) << 16
    };
    let values: Vec<(u32, u32)> = (0..4000).map(|_| (next(), next())).collect();
    let lanes = |word: u32| (of_half(word as u16), of_half((word >> 16) as u16));
    let step = 2f64.powi(-11);
    let expr = "pick(a, b)\n}\nfn pick(a: f16x2, b: f16x2) -> f16x2 {\n  let (sum, difference) = butterfly_fft(b, b, a)\n  sum";
    let products = each("transform", ("f16x2", "f16x2"), "cmul(a, b)", &values);
    let sums = each("transform", ("f16x2", "f16x2"), expr, &values);
    for ((&(a, b), product), sum) in values.iter().zip(products).zip(sums) {
        let ((ar, ai), (br, bi)) = (lanes(a), lanes(b));
        let (sum, product) = (lanes(sum), lanes(product));
        let sizes = ((ar * br).abs() + (ai * bi).abs(), (ar * bi).abs() + (ai * br).abs());
        let exact = (ar * br - ai * bi, ar * bi + ai * br);
        for (found, exact, size) in [(product.0, exact.0, sizes.0), (product.1, exact.1, sizes.1)] {
            assert!((found - exact).abs() <= 2.0 * step * size, "{a:#x} {b:#x}: {found} is {exact}");
        }
        for (found, exact, size) in
            [(sum.0, exact.0 + br, sizes.0 + br.abs()), (sum.1, exact.1 + bi, sizes.1 + bi.abs())]
        {
            assert!((found - exact).abs() <= 3.0 * step * size, "{a:#x} {b:#x}: {found} is {exact}");
        }
    }
}
