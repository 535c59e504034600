//! Tests that each byte op on VP1 gives the results of the evaluator for all pairs of bytes.

use halfbyte_ir::IntCC;

use super::machine::{both, on_vectors};

/// Returns all pairs of bytes as input buffers, sixteen pairs per item. Neighbouring pairs differ in both bytes.
fn pairs() -> [Vec<u8>; 3] {
    let pair = |n: u32| (n.wrapping_mul(0x9e35) >> 3 & 0xff, n.wrapping_mul(0x9e35) >> 11 | n << 5 & 0x100);
    let mut seen = vec![false; 1 << 16];
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for n in 0..1u32 << 16 {
        let (mut x, mut y) = pair(n);
        y &= 0xff;
        while seen[(y << 8 | x) as usize] {
            (x, y) = ((x + 1) & 0xff, if x == 0xff { (y + 1) & 0xff } else { y });
        }
        seen[(y << 8 | x) as usize] = true;
        a.push(x as u8);
        b.push(y as u8);
    }
    let zeros = vec![0; a.len()];
    [a, b, zeros]
}

/// Checks that a kernel body gives the results of the evaluator for all pairs of bytes.
pub fn check(body: &str) {
    let buffers = pairs();
    let [expected, found] = both(&on_vectors(body), buffers[0].len() / 16, &buffers);
    for (n, (expected, found)) in expected[2].iter().zip(&found[2]).enumerate() {
        let (a, b) = (buffers[0][n], buffers[1][n]);
        assert_eq!(expected, found, "{body}: of {a:#04x} and {b:#04x}, byte {}", n % 16);
    }
}

#[test]
fn arithmetic() {
    let ops = "add sub mul mul_hi_s mul_hi_u add_sat_s add_sat_u sub_sat_s sub_sat_u avg_s avg_u absdiff_s absdiff_u \
               min_s min_u max_s max_u";
    for op in ops.split_whitespace() {
        check(&format!("%c = {op}.i8x16 %a, %b"));
        for k in [-128, 100] {
            check(&format!("%k = const.i8x16 {k}\n%c = {op}.i8x16 %a, %k"));
            check(&format!("%k = const.i8x16 {k}\n%c = {op}.i8x16 %k, %b"));
        }
    }
    for op in ["neg", "abs"] {
        check(&format!("%c = {op}.i8x16 %a"));
    }
}

#[test]
fn shifts() {
    for op in ["shl", "shr_s", "shr_u", "round_shr_s", "round_shr_u"] {
        check(&format!("%c = {op}.i8x16 %a, %b"));
        for n in [0, 1, 2, 3, 7, 8] {
            check(&format!("%k = const.i8x16 {n}\n%c = {op}.i8x16 %a, %k"));
        }
        check(&format!(
            "%k = const.i8x16 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]\n%c = {op}.i8x16 %a, %k"
        ));
    }
}

#[test]
fn bits() {
    for op in ["and", "or", "xor"] {
        check(&format!("%c = {op}.i8x16 %a, %b"));
        check(&format!("%n = not.i8x16 %a\n%c = {op}.i8x16 %n, %b"));
        check(&format!("%n = not.i8x16 %b\n%c = {op}.i8x16 %a, %n"));
        check(&format!("%n = {op}.i8x16 %a, %b\n%c = not.i8x16 %n"));
        for k in [0x5a, -1] {
            check(&format!("%k = const.i8x16 {k}\n%c = {op}.i8x16 %a, %k"));
            check(&format!("%k = const.i8x16 {k}\n%n = not.i8x16 %k\n%c = {op}.i8x16 %n, %b"));
        }
    }
}

#[test]
fn comparison_and_selection() {
    for cc in IntCC::ALL {
        check(&format!("%m = icmp.{cc}.i8x16 %a, %b\n%c = mask_expand.i8x16 %m"));
        check(&format!("%m = icmp.{cc}.i8x16 %a, %b\n%c = select.i8x16 %m, %a, %b"));
        check(&format!("%m = icmp.{cc}.i8x16 %a, %b\n%n = not.i1x16 %m\n%c = select.i8x16 %n, %b, %a"));
        for k in [-128, 5] {
            check(&format!("%k = const.i8x16 {k}\n%m = icmp.{cc}.i8x16 %a, %k\n%c = select.i8x16 %m, %b, %k"));
            check(&format!("%k = const.i8x16 {k}\n%m = icmp.{cc}.i8x16 %k, %a\n%c = mask_expand.i8x16 %m"));
        }
    }
}

#[test]
fn lanes() {
    check("%c = swizzle.i8x16 %a, %b");
    check("%c = shuffle.i8x16 %a, %b, [0, 31, 1, 30, 2, 29, 3, 28, 16, 15, 17, 14, 18, 13, 19, 12]");
    for k in [0, 3, 6, 15] {
        check(&format!("%x = extract.i8x16 %a, {k}\n%c = insert.i8x16 %b, %x, 7"));
        check(&format!("%x = extract.i8x16 %a, {k}\n%c = splat.i8x16 %x"));
    }
    for op in ["reduce_min_s", "reduce_min_u", "reduce_max_s", "reduce_max_u"] {
        check(&format!("%x = {op}.i8x16 %a\n%c = insert.i8x16 %b, %x, 0"));
    }
    for op in ["reduce_add_s", "reduce_add_u"] {
        check(&format!("%x = {op}.i8x16 %a\n%c = concat.i8x16 %x, %x, %x, %x"));
    }
    for op in ["sad_s", "sad_u"] {
        check(&format!("%k = split.i32 %a, 2\n%x = {op}.i8x16 %a, %b, %k\n%c = concat.i8x16 %x, %k, %x, %x"));
    }
    for op in ["any", "all"] {
        check(&format!("%m = icmp.lt_s.i8x16 %a, %b\n%t = {op}.i1x16 %m\n%c = select.i8x16 %t, %a, %b"));
        check(&format!(
            "%m = icmp.le_u.i8x16 %a, %b\n%t = {op}.i1x16 %m\n%n = splat.i1x16 %t\n%c = mask_expand.i8x16 %n"
        ));
    }
}

/// Byte ops on the four bytes of a word and on a single byte give the same results as on vectors.
#[test]
fn scalar_registers() {
    let four = |inst: &str| {
        let text = (0..4).map(|k| {
            format!("%a{k} = split.i8x4 %a, {k}\n%b{k} = split.i8x4 %b, {k}\n{}\n", inst.replace('$', &k.to_string()))
        });
        check(&(text.collect::<String>() + "%c = concat.i8x16 %r0, %r1, %r2, %r3"));
    };
    let ops = "add sub add_sat_s add_sat_u sub_sat_s sub_sat_u avg_u absdiff_s absdiff_u min_s min_u max_s max_u \
               mul_hi_u and or xor shl shr_s shr_u";
    for op in ops.split_whitespace() {
        four(&format!("%r$ = {op}.i8x4 %a$, %b$"));
    }
    for op in ["add_sat_u", "sub_sat_s", "and", "shl"] {
        four(&format!("%k$ = const.i8x4 100\n%r$ = {op}.i8x4 %a$, %k$"));
    }
    for op in ["neg", "abs", "not"] {
        four(&format!("%r$ = {op}.i8x4 %a$"));
    }
    for cc in IntCC::ALL {
        four(&format!("%m$ = icmp.{cc}.i8x4 %a$, %b$\n%r$ = select.i8x4 %m$, %a$, %b$"));
        four(&format!(
            "%x$ = extract.i8x4 %a$, 1\n%y$ = extract.i8x4 %b$, 1\n%m$ = icmp.{cc}.i8 %x$, %y$\n%r$ = select.i8x4 %m$, %a$, %b$"
        ));
    }
    for op in ops.split_whitespace().chain(["mul", "mul_wide_s", "mul_wide_u"]) {
        four(&format!(
            "%x$ = split.i8 %a$, 2\n%y$ = split.i8 %b$, 2\n%z$ = {op}.i8 %x$, %y$\n%w$ = zext.i32 %z$\n%r$ = bitcast.i8x4 %w$"
        ));
    }
}
