//! Tests of `contract`: the conditions under which a sum and the product that is its operand are
//! computed with one rounding.
//!
//! `a` is slightly greater than 1, `c` is `a * a` rounded, and `e` is the rounding error. The
//! difference of the product and `c` is therefore `e` with one rounding, and zero with two.

use halfbyte_ir::Type;
use halfbyte_ir::eval::{Arg, Launch, Prepared};
use halfbyte_ir::text::read;

/// Type, and the bits of `a`, `c` and `e`.
const CASES: [(Type, [u32; 3]); 3] = [
    (Type::F16, [0x3c01, 0x3c02, 0x0010]),
    (Type::BF16, [0x3f81, 0x3f82, 0x3880]),
    (Type::F32, [0x3f80_0001, 0x3f80_0002, 0x2880_0000]),
];

/// Returns the value of `%r` after the given statements, in which `$` stands for the type.
fn result(ty: Type, a: u32, c: u32, lines: &str) -> u32 {
    let text = format!("kernel @k(%a: $, %c: $, %y: out $) {{\n^entry:\n{lines}\nstore %r, %y\nret\n}}");
    let module = read(&text.replace('$', ty.name())).unwrap();
    let mut out = [0; 4];
    let bytes = &mut out[..ty.bytes() as usize];
    let mut args = [Arg::scalar(a.into()), Arg::scalar(c.into()), Arg::Buffer { base: 0x1000, bytes }];
    Prepared::new(&module.kernels[0]).run(&Launch::new(1), &mut args).unwrap();
    u32::from_le_bytes(out)
}

#[test]
fn a_sum_and_its_product_round_once() {
    for (ty, [a, c, e]) in CASES {
        let minus = 1 << (ty.bits() - 1);
        let product = "%m = fmul.contract.$ %a, %a";
        for (sum, expected) in [
            ("%r = fsub.contract.$ %m, %c", e),
            ("%r = fsub.contract.$ %c, %m", minus | e),
            ("%n = fneg.$ %c\n%r = fadd.contract.$ %m, %n", e),
            ("%n = fneg.$ %c\n%r = fadd.contract.$ %n, %m", e),
            // If both operands are products, the first is contracted. Here, both have the same value.
            ("%n = fmul.contract.$ %a, %a\n%r = fsub.contract.$ %m, %n", e),
            ("%n = fmul.$ %a, %a\n%r = fsub.contract.$ %n, %m", minus | e),
            // The product has other uses, or is in another block.
            ("%s = fsub.$ %m, %c\n%t = fsub.contract.$ %m, %c\n%r = fadd.$ %s, %t", e),
            ("br ^next\n^next:\n%r = fsub.contract.$ %m, %c", e),
        ] {
            assert_eq!(result(ty, a, c, &format!("{product}\n{sum}")), expected, "{ty}: {sum}");
        }
    }
}

#[test]
fn rounds_twice_without_contract() {
    for (ty, [a, c, _]) in CASES {
        for lines in [
            "%m = fmul.$ %a, %a\n%r = fsub.$ %m, %c",
            "%m = fmul.contract.$ %a, %a\n%r = fsub.$ %m, %c",
            "%m = fmul.$ %a, %a\n%r = fsub.contract.$ %m, %c",
            "%m = fmul.contract.$ %a, %a\nbr ^next(%m)\n^next(%p: $):\n%r = fsub.contract.$ %p, %c",
            "%m = fmul.contract.$ %a, %a\n%t = const.i1 1\n%p = select.$ %t, %m, %c\n%r = fsub.contract.$ %p, %c",
            "%m = fmul.contract.$ %a, %a\n%n = fneg.$ %m\n%r = fadd.contract.$ %n, %c",
        ] {
            assert_eq!(result(ty, a, c, lines), 0, "{ty}: {lines}");
        }
    }
}

#[test]
fn modifiers_of_halves() {
    let (ty, [a, c, e]) = CASES[0];
    for (lines, expected) in [
        // `sat` of the difference is applied after the single rounding.
        ("%m = fmul.contract.$ %a, %a\n%r = fsub.sat.contract.$ %m, %c", e),
        ("%m = fmul.contract.$ %a, %a\n%r = fsub.sat.contract.$ %c, %m", 0),
        ("%m = fmul.contract.$ %a, %a\n%r = fsub.relu.contract.$ %c, %m", 0),
        ("%m = fmul.rp.contract.$ %a, %a\n%r = fsub.rp.contract.$ %m, %c", e),
        ("%m = fmul.ftz.contract.$ %c, %a\n%r = fsub.ftz.contract.$ %m, %c", 0x1402),
        // A clamped product is not contracted, so the results are 1 - c and c - c.
        ("%m = fmul.sat.contract.$ %a, %a\n%r = fsub.contract.$ %m, %c", 0x9800),
        ("%m = fmul.relu.contract.$ %a, %a\n%r = fsub.contract.$ %m, %c", 0),
        // A product with a different rounding mode or `ftz` is not contracted.
        ("%m = fmul.rz.contract.$ %a, %a\n%r = fsub.contract.$ %m, %c", 0),
        ("%m = fmul.contract.$ %a, %a\n%r = fsub.rz.contract.$ %m, %c", 0),
        ("%m = fmul.ftz.contract.$ %a, %a\n%r = fsub.contract.$ %m, %c", 0),
        ("%m = fmul.contract.$ %a, %a\n%r = fsub.ftz.contract.$ %m, %c", 0),
        // If both operands are products, the first one that can be contracted is contracted.
        ("%m = fmul.rz.contract.$ %a, %a\n%n = fmul.contract.$ %a, %a\n%r = fsub.contract.$ %m, %n", 0x8000 | e),
    ] {
        assert_eq!(result(ty, a, c, lines), expected, "{lines}");
    }
}
