//! Tests of the elementary functions, against values computed by mpmath.

use halfbyte_isa::approx::Function;
use halfbyte_isa::half::Format;
use halfbyte_isa::halu::concrete::Concrete;
use halfbyte_isa::halu::domain::Domain;

/// The function, its f32 operand and its result. mpmath computed the results with 400 bits, rounded to nearest even.
#[rustfmt::skip]
const VALUES: &[(Function, u32, u32)] = &[
    (Function::Ex2, 0xc2fc0001, 0x007fffd4), (Function::Ex2, 0xc314ffff, 0x00000001), (Function::Ex2, 0x42ffffff, 0x7f7fffa7), (Function::Ex2, 0x33000001, 0x3f800000),
    (Function::Ex2, 0xb3000001, 0x3f800000), (Function::Ex2, 0xbd767c45, 0x3f758a9e), (Function::Ex2, 0xc291ce37, 0x1b08ecab), (Function::Ex2, 0xbf1d7da0, 0x3f27208a),
    (Function::Ex2, 0xba233255, 0x3f7fe3ba), (Function::Ex2, 0x3bfb10f6, 0x3f80ae7d), (Function::Ex2, 0x417959ce, 0x473fedb1), (Function::Ex2, 0x3bd42359, 0x3f809360),
    (Function::Ex2, 0x3e7c966c, 0x3f97de08), (Function::Ex2, 0x28dbd25e, 0x3f800000), (Function::Ex2, 0x416a1e48, 0x46c66aca), (Function::Ex2, 0x38e0c07e, 0x3f80026f),
    (Function::Lg2, 0x3f7fffff, 0xb3b8aa3c), (Function::Lg2, 0x3f800001, 0x3438aa3a), (Function::Lg2, 0x00000001, 0xc3150000), (Function::Lg2, 0x7f7fffff, 0x43000000),
    (Function::Lg2, 0x359eeefb, 0xc19d8074), (Function::Lg2, 0x3d1aef57, 0xc0972ef4), (Function::Lg2, 0x3a375391, 0xc127b529), (Function::Lg2, 0x3c892dfc, 0xc0bccd6f),
    (Function::Lg2, 0x3ce6d8e6, 0xc0a4c64a), (Function::Lg2, 0x3a121dc5, 0xc12cf1c6), (Function::Lg2, 0x3a3120df, 0xc1288067), (Function::Lg2, 0x38979cf3, 0xc15c178d),
    (Function::Lg2, 0x3aec28d0, 0xc111dcb4), (Function::Lg2, 0x3b4f3e81, 0xc104e083), (Function::Lg2, 0x3d531737, 0xc088e7ad), (Function::Lg2, 0x3da95a54, 0xc06626b1),
    (Function::Rsqrt, 0x00000001, 0x64b504f3), (Function::Rsqrt, 0x7f7fffff, 0x1f800000), (Function::Rsqrt, 0x3f800001, 0x3f7fffff), (Function::Rsqrt, 0x415f2af4, 0x3e8917b9),
    (Function::Rsqrt, 0x5cd5061c, 0x30c670d4), (Function::Rsqrt, 0x40079670, 0x3f2fe1a3), (Function::Rsqrt, 0x3d921e6c, 0x406f9a50), (Function::Rsqrt, 0x39613a36, 0x428876e3),
    (Function::Rsqrt, 0x14b9adb5, 0x54d48d2c), (Function::Rsqrt, 0x4125c7cc, 0x3e9f0f94), (Function::Rsqrt, 0x58056ed0, 0x33314bbc), (Function::Rsqrt, 0x3aa677c6, 0x41e07b28),
    (Function::Rsqrt, 0x0e42d43c, 0x5812b983), (Function::Rsqrt, 0x558d2adb, 0x3473c4c2), (Function::Rsqrt, 0x216d27a2, 0x4e84fd0c), (Function::Rsqrt, 0x3ef0441e, 0x3fbada38),
    (Function::Sin, 0x6f79be45, 0x3f800000), (Function::Sin, 0x7f7fffff, 0xbf0599b3), (Function::Sin, 0x40490fdb, 0xb3bbbd2e), (Function::Sin, 0x39800000, 0x39800000),
    (Function::Sin, 0x73243f06, 0x3e943a84), (Function::Sin, 0x3e7cc5d8, 0x3e7a36ab), (Function::Sin, 0x4178dc3d, 0x3e1d4517), (Function::Sin, 0xc02d3b3d, 0xbed7b184),
    (Function::Sin, 0x741b324d, 0xbf26f6d1), (Function::Sin, 0xb057c162, 0xb057c162), (Function::Sin, 0x3fa286ac, 0x3f747c57), (Function::Sin, 0x675ebe3b, 0xbdc2dc4e),
    (Function::Sin, 0x40d0c151, 0x3e73d172), (Function::Sin, 0xbfb67e6e, 0xbf7d4faa), (Function::Sin, 0xb928123c, 0xb928123c), (Function::Sin, 0x40eaab64, 0x3f5e1728),
    (Function::Cos, 0x5922aa80, 0x3f08aebf), (Function::Cos, 0x7f7fffff, 0x3f5a5f96), (Function::Cos, 0x3fc90fdb, 0xb33bbd2e), (Function::Cos, 0x39800000, 0x3f800000),
    (Function::Cos, 0xb90d0fc5, 0x3f800000), (Function::Cos, 0xc938c68d, 0x3f767900), (Function::Cos, 0x420f13b0, 0xbeb3ed92), (Function::Cos, 0x08c9196d, 0x3f800000),
    (Function::Cos, 0x4209dd29, 0xbf7eed98), (Function::Cos, 0x47e5eb8d, 0xbf62afbf), (Function::Cos, 0x43cdc356, 0xbf7fef4d), (Function::Cos, 0xb0ddb48b, 0x3f800000),
    (Function::Cos, 0xf4f6717c, 0xbeca1120), (Function::Cos, 0xb8523995, 0x3f800000), (Function::Cos, 0x3c6bfa00, 0x3f7ff934), (Function::Cos, 0x3f6e816b, 0x3f18b444),
    (Function::Tanh, 0x41102cb3, 0x3f7fffff), (Function::Tanh, 0x39800001, 0x39800001), (Function::Tanh, 0x3e3851ec, 0x3e365ad5), (Function::Tanh, 0xbdbe6d6b, 0xbdbde169),
    (Function::Tanh, 0x3d0ef594, 0x3d0ee6ba), (Function::Tanh, 0xbce240c6, 0xbce2320d), (Function::Tanh, 0x3a916d08, 0x3a916d04), (Function::Tanh, 0xbade438f, 0xbade4381),
    (Function::Tanh, 0x8782d4d5, 0x8782d4d5), (Function::Tanh, 0x32daef9f, 0x32daef9f), (Function::Tanh, 0x4269650e, 0x3f800000), (Function::Tanh, 0xc1f87131, 0xbf800000),
    (Function::Tanh, 0xbe366826, 0xbe34806f), (Function::Tanh, 0x41123c8d, 0x3f800000), (Function::Tanh, 0x3ae9dc05, 0x3ae9dbf5), (Function::Tanh, 0x3812e299, 0x3812e299),
];

#[test]
fn rounds_elementary_functions_to_nearest() {
    for &(function, operand, expected) in VALUES {
        assert_eq!(function.single(operand), expected, "{} of {operand:#010x}", function.name());
    }
}

#[test]
fn returns_the_special_values_of_the_ptx_manual() {
    const NAN: u32 = 0x7FFF_FFFF;
    const INFINITY: u32 = 0x7F80_0000;
    const MINUS: u32 = 0x8000_0000;
    const ONE: u32 = 0x3F80_0000;
    // The results of each function for -infinity, -1, -0, +0 and +infinity. `None` stands for a
    // result that is not special.
    let special = [
        (Function::Ex2, [Some(0), Some(0x3F00_0000), Some(ONE), Some(ONE), Some(INFINITY)]),
        (Function::Lg2, [Some(NAN), Some(NAN), Some(MINUS | INFINITY), Some(MINUS | INFINITY), Some(INFINITY)]),
        (Function::Rsqrt, [Some(NAN), Some(NAN), Some(MINUS | INFINITY), Some(INFINITY), Some(0)]),
        (Function::Sin, [Some(NAN), None, Some(MINUS), Some(0), Some(NAN)]),
        (Function::Cos, [Some(NAN), None, Some(ONE), Some(ONE), Some(NAN)]),
        (Function::Tanh, [Some(MINUS | ONE), None, Some(MINUS), Some(0), Some(ONE)]),
    ];
    for (function, results) in special {
        let operands = [MINUS | INFINITY, MINUS | ONE, MINUS, 0, INFINITY];
        for (operand, expected) in operands.into_iter().zip(results) {
            if let Some(expected) = expected {
                assert_eq!(function.single(operand), expected, "{} of {operand:#010x}", function.name());
            }
        }
        for nan in [0x7F80_0001, 0xFFC0_0000] {
            assert_eq!(function.single(nan), NAN, "{} of NaN", function.name());
        }
    }
}

#[test]
fn halves_are_rounded_from_the_f32_result() {
    let half = |function, format, bits| Concrete.half_elementary(function, format, bits) & 0xFFFF;
    // The f32 result is the midpoint between two halves, but the exact result is above the midpoint.
    assert_eq!(half(Function::Ex2, Format::F16, 0x11C5), 0x3C00);
    assert_eq!(half(Function::Ex2, Format::F16, 0xCE40), 0x0000, "2^-25 is half of the least");
    assert_eq!(half(Function::Ex2, Format::F16, 0xCE3F), 0x0001);
    assert_eq!(half(Function::Ex2, Format::F16, 0x4C00), 0x7C00);
    assert_eq!(half(Function::Tanh, Format::Bf16, 0x0001), 0x0001);
    assert_eq!(half(Function::Ex2, Format::F16, 0xFE00), 0x7FFF, "of NaN");
    assert_eq!(Concrete.half_elementary(Function::Ex2, Format::F16, 0x3C00_C000), 0x4000_3400, "lanes are apart");
}
