//! Tests of the value range analysis.

use std::ops::RangeInclusive;

use halfbyte_lower::trial::value_range;

use crate::common::kernel;

/// Returns the range of `%r` in a kernel with these lines.
fn range(lines: &str) -> RangeInclusive<i128> {
    let text = format!("kernel @k(%a: i8, %b: i16, %v: i8x4) {{\n^entry:\n{lines}\nret\n}}");
    let kernel = kernel(&text);
    let value = kernel.values.keys().find(|&value| kernel.value_name(value) == Some("r")).unwrap();
    value_range(&kernel, value)
}

#[test]
fn ranges_follow_from_definitions() {
    for (lines, expected) in [
        ("%r = zext.i32 %a", 0..=255),
        ("%r = sext.i32 %a", -128..=127),
        ("%r = const.i8x4 [1, -3, 7, 200]", -56..=7),
        ("%p = zext.i32 %a\n%q = sext.i32 %b\n%r = sub.i32 %p, %q", -32767..=33023),
        ("%p = zext.i32 %a\n%n = neg.i32 %p\n%r = mul.i32 %p, %n", -65025..=0),
        ("%r = mul_wide_s.i8 %a, %a", -16256..=16384),
        ("%p = sext.i32 %b\n%k = const.i32 9\n%m = min_s.i32 %p, %k\n%l = const.i32 -4\n%r = max_s.i32 %m, %l", -4..=9),
        ("%p = sext.i32 %a\n%k = const.i32 15\n%r = and.i32 %p, %k", 0..=15),
        ("%p = sext.i32 %a\n%k = const.i32 15\n%r = min_u.i32 %p, %k", 0..=15),
        ("%p = zext.i32 %a\n%q = sext.i32 %b\n%c = icmp.eq.i32 %p, %q\n%r = select.i32 %c, %p, %q", -32768..=32767),
    ] {
        assert_eq!(range(lines), expected, "{lines}");
    }
}

/// The range is that of the type if a result may wrap, for example a product of unsigned bytes in a signed half-word.
/// It is also that of the type for unsupported ops, and for definitions beyond the maximum depth.
#[test]
fn results_that_may_wrap_have_the_range_of_their_type() {
    for (lines, expected) in [
        ("%p = zext.i16 %a\n%r = mul.i16 %p, %p", -32768..=32767),
        ("%r = mul_wide_u.i8 %a, %a", -32768..=32767),
        ("%r = add.i8 %a, %a", -128..=127),
        ("%r = min_u.i8 %a, %a", -128..=127),
        ("%r = reduce_add_u.i8x4 %v", -(1 << 31)..=(1 << 31) - 1),
        (
            "%p = zext.i32 %a\n%q = neg.i32 %p\n%s = neg.i32 %q\n%t = neg.i32 %s\n%r = neg.i32 %t",
            -(1 << 31)..=(1 << 31) - 1,
        ),
    ] {
        assert_eq!(range(lines), expected, "{lines}");
    }
}
