//! Tests of sums in wide lanes on VP1: sums that fit the accumulator give the results of the
//! evaluator, and all other sums are refused.

use std::fmt::Write;

use halfbyte_ir::Elem;
use halfbyte_ir::witness::Random;

use super::bytes::check;
use super::machine::{both, on_vectors, select, selected, taken};

const EXTENDED: &str = "%p = zext.i16x16 %a\n%q = sext.i16x16 %b\n";
/// Returns the refusals of a kernel body as text, one per line.
fn refusal(body: &str) -> String {
    let refusals = select(&on_vectors(body)).unwrap_err();
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Checks a kernel body on all pairs of bytes, and checks that the rule with this name fired.
fn takes(rule: &str, body: &str) {
    let rules = taken(&selected(&on_vectors(body)));
    assert!(rules.contains(&rule), "{body}: {rules:?}");
    check(body);
}

#[test]
fn products() {
    let product = |sign: &str, shr: &str, shift: u32, narrow: &str| {
        let body = format!(
            "%w = mul_wide_{sign}.i8x16 %a, %b\n%k = const.i16x16 {shift}\n%s = {shr}_{sign}.i16x16 %w, %k\n\
             %c = {narrow}.i8x16 %s"
        );
        takes("read_product", &body);
    };
    for shr in ["shr", "round_shr"] {
        for shift in [5, 7, 8, 12] {
            product("s", shr, shift, "narrow_sat_s");
            product("s", shr, shift, "narrow_sat_u");
            product("u", shr, shift, "narrow_sat_uu");
        }
        // With these shift counts, the results fit a byte.
        for (sign, shift) in [("s", 8), ("u", 8), ("s", 12), ("u", 9)] {
            product(sign, shr, shift, "trunc");
        }
    }
}

#[test]
fn sums() {
    for (x, y) in [(3_i32, 5_i32), (1, -5), (-20, 7), (60, 64), (-1, -1)] {
        for narrow in ["narrow_sat_s", "narrow_sat_u"] {
            for shift in [0, 1, 3, 5] {
                let body = format!(
                    "{EXTENDED}%x = const.i16x16 {x}\n%y = const.i16x16 {y}\n%px = mul.i16x16 %p, %x\n\
                     %qy = mul.i16x16 %q, %y\n%s = add.i16x16 %px, %qy\n%k = const.i16x16 {shift}\n\
                     %r = round_shr_s.i16x16 %s, %k\n%c = {narrow}.i8x16 %r"
                );
                // The accumulator divides by 32 or more. For a smaller shift count, the sum is
                // scaled up, and its factors have at most 9 bits.
                if i32::max(x.abs(), y.abs()) << (5 - shift) < 0x100 {
                    takes("computed_by_sum", &body);
                } else {
                    let refused = refusal(&body);
                    assert!(refused.starts_with("vp1 cannot do ") && refused.contains("lanes"), "{refused}\n{body}");
                }
            }
        }
    }
    for number in [1, -3, 8, 16, 100, -1000] {
        takes(
            "computed_by_sum",
            &format!(
                "{EXTENDED}%n = const.i16x16 {number}\n%s = sub.i16x16 %p, %q\n%t = add.i16x16 %s, %n\n\
                 %k = const.i16x16 4\n%r = shr_s.i16x16 %t, %k\n%c = narrow_sat_u.i8x16 %r"
            ),
        );
    }
}

/// A byte is added to, or subtracted from, a quotient.
#[test]
fn sums_of_quotients() {
    for op in ["add", "sub"] {
        for shr in ["shr_s", "round_shr_s"] {
            let body = format!(
                "{EXTENDED}%t = const.i16x16 3\n%q3 = mul.i16x16 %q, %t\n%h = {shr}.i16x16 %q3, %t\n\
                 %s = {op}.i16x16 %p, %h\n%c = narrow_sat_u.i8x16 %s"
            );
            takes("computed_by_sum", &body);
        }
    }
    let twice = format!(
        "{EXTENDED}%one = const.i16x16 1\n%s = add.i16x16 %p, %q\n%h = shr_s.i16x16 %s, %one\n\
         %r = round_shr_s.i16x16 %h, %one\n%c = narrow_sat_s.i8x16 %r"
    );
    takes("computed_by_sum", &twice);
}

#[test]
fn blends() {
    for (x, shift) in [(1, 1), (3, 2), (5, 3), (31, 5), (100, 8), (255, 8), (300, 9)] {
        for shr in ["shr_u", "round_shr_u"] {
            let y = (1 << shift) - x;
            takes(
                "computed_between",
                &format!(
                    "%p = zext.i32x16 %a\n%q = zext.i32x16 %b\n%x = const.i32x16 {x}\n%y = const.i32x16 {y}\n\
                     %px = mul.i32x16 %p, %x\n%qy = mul.i32x16 %q, %y\n%s = add.i32x16 %px, %qy\n\
                     %k = const.i32x16 {shift}\n%r = {shr}.i32x16 %s, %k\n%c = trunc.i8x16 %r"
                ),
            );
        }
    }
    for weight in [0, 1, 127, 128, 255] {
        check(&format!(
            "%w = const.i8x16 {weight}\n%p = zext.i32x16 %a\n%q = zext.i32x16 %b\n%f = zext.i32x16 %w\n\
             %d = sub.i32x16 %q, %p\n%m = mul.i32x16 %d, %f\n%k = const.i32x16 8\n%h = shr_s.i32x16 %m, %k\n\
             %s = add.i32x16 %p, %h\n%c = trunc.i8x16 %s"
        ));
    }
}

/// The sum uses only the low nine bits of each half-word; the upper bits vary between half-words.
#[test]
fn nine_bits() {
    let body = "%x = const.i8x16 85\n%d = xor.i8x16 %a, %x\n%h = concat.i16x16 %b, %d\n%k = const.i16x16 7\n\
                %u = shl.i16x16 %h, %k\n%n = shr_s.i16x16 %u, %k\n%p = zext.i16x16 %a\n";
    takes("add_nine_bits", &format!("{body}%s = add.i16x16 %p, %n\n%c = narrow_sat_u.i8x16 %s"));
    takes("nine_bits_added", &format!("{body}%s = add.i16x16 %n, %p\n%c = narrow_sat_u.i8x16 %s"));
}

#[test]
fn selects_clamps_with_ordered_bounds() {
    let median = "%l = min_s.i8x16 %b, %k\n%h = max_s.i8x16 %k, %b\n%x = max_s.i8x16 %a, %l\n%c = min_s.i8x16 %x, %h";
    takes("held_from_above", &format!("%k = const.i8x16 7\n{median}"));
    let symmetric = "%h = and.i8x16 %b, %k\n%l = neg.i8x16 %h\n%x = min_s.i8x16 %a, %h\n%c = max_s.i8x16 %x, %l";
    takes("held_from_below", &format!("%k = const.i8x16 127\n{symmetric}"));
    // The clamp instruction for -h..h must not be used if h may be negative.
    let body = "%l = neg.i8x16 %b\n%x = max_s.i8x16 %a, %l\n%c = min_s.i8x16 %x, %b";
    assert!(!taken(&selected(&on_vectors(body))).contains(&"held_from_above"));
    check(body);
}

#[test]
fn absolute_values() {
    let abs = "%x = abs.i8x16 %a\n%y = abs.i8x16 %b\n%m = min_u.i8x16 %x, %y\n";
    takes("least_absolute_clipped", &format!("{abs}%k = const.i8x16 127\n%c = min_u.i8x16 %m, %k"));
    // Both bytes may be -128, so the minimum of their absolute values may be 128.
    let body = format!("{abs}%k = const.i8x16 128\n%c = min_u.i8x16 %m, %k");
    assert!(!taken(&selected(&on_vectors(&body))).iter().any(|rule| rule.starts_with("least_absolute")));
    check(&body);
}

#[test]
fn compared_differences() {
    for cc in ["lt_u", "ge_u", "gt_u", "le_u", "eq", "ne", "lt_s"] {
        for limit in [0, 1, 100, 128, 255] {
            check(&format!(
                "%k = const.i8x16 {limit}\n%d = absdiff_u.i8x16 %a, %b\n%m = icmp.{cc}.i8x16 %d, %k\n\
                 %n = icmp.{cc}.i8x16 %k, %d\n%e = icmp.lt_s.i8x16 %a, %b\n%x = and.i1x16 %e, %m\n\
                 %y = or.i1x16 %x, %n\n%c = select.i8x16 %y, %a, %k"
            ));
        }
    }
}

#[test]
fn rejects_sums_beyond_the_accumulator() {
    // Refused: a product of three bytes, a sum of more than 20 bits, a shift of a sum that wraps,
    // and a shift by variable counts.
    let cube = "%p = zext.i32x16 %a\n%s = mul.i32x16 %p, %p\n%t = mul.i32x16 %s, %p\n%k = const.i32x16 16\n\
                %u = shr_u.i32x16 %t, %k\n%c = trunc.i8x16 %u";
    assert_eq!(
        refusal(cube),
        "vp1 cannot do `mul.i32x16`: a sum of wide lanes has at most 16 terms, each a multiple of a byte or of a product of two, and numbers up to 2^32"
    );
    let large = "%p = mul_wide_u.i8x16 %a, %b\n%q = zext.i32x16 %p\n%n = const.i32x16 9\n%s = mul.i32x16 %q, %n\n\
                 %k = const.i32x16 12\n%u = shr_u.i32x16 %s, %k\n%c = trunc.i8x16 %u";
    assert_eq!(
        refusal(large),
        "vp1 cannot do `mul.i32x16`: the sum is between 0 and 585225 here, and the accumulator of wide lanes holds -524288 to 524287"
    );
    let wraps = "%p = mul_wide_u.i8x16 %a, %b\n%s = add.i16x16 %p, %p\n%k = const.i16x16 8\n%u = shr_u.i16x16 %s, %k\n\
                 %c = trunc.i8x16 %u";
    assert_eq!(
        refusal(wraps),
        "vp1 cannot do `shr_u.i16x16`: its operand is between 0 and 130050, and lanes of 16 bits hold 0 to 65535 exactly"
    );
    let by_lanes =
        "%p = mul_wide_u.i8x16 %a, %b\n%n = zext.i16x16 %b\n%u = shr_u.i16x16 %p, %n\n%c = narrow_sat_uu.i8x16 %u";
    assert_eq!(refusal(by_lanes), "vp1 cannot do `shr_u.i16x16`: all wide lanes must be shifted by the same constant");
}

/// Random sums of random bytes either give the results of the evaluator, or are refused with the
/// limit that they exceed.
#[test]
fn random_sums() {
    let mut random = Random(5);
    let mut accepted = 0;
    for _ in 0..SUMS {
        let body = Sum { random: &mut random, text: String::new(), values: 0 }.body();
        let kernel = on_vectors(&body);
        if let Err(refusals) = select(&kernel) {
            for refusal in refusals {
                let Some(reason) = refusal.reason else { panic!("{body}") };
                let bounds = [
                    "lanes of 16 bits hold",
                    "lanes of 32 bits hold",
                    "the accumulator",
                    "sum of wide lanes",
                    "sums of a few",
                ];
                assert!(
                    reason.help.is_some() && bounds.iter().any(|bound| reason.why.contains(bound)),
                    "{reason}\n{body}"
                );
            }
            continue;
        }
        accepted += 1;
        let bytes = |random: &mut Random| (0..16 * ITEMS).map(|_| random.lane(Elem::I8, 0) as u8).collect::<Vec<u8>>();
        let buffers = [bytes(&mut random), bytes(&mut random), vec![0; 16 * ITEMS]];
        let [expected, found] = both(&kernel, ITEMS, &buffers);
        assert_eq!(expected[2], found[2], "{body}");
    }
    assert!(accepted >= SUMS / 5, "{accepted} of {SUMS}");
}

const SUMS: usize = 1500;
const ITEMS: usize = 64;

/// Generator of a random sum in text form.
struct Sum<'r> {
    random: &'r mut Random,
    text: String,
    values: usize,
}

impl Sum<'_> {
    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.random.below(texts.len())]
    }

    fn op(&mut self, op: &str) -> String {
        let name = format!("%v{}", self.values);
        self.values += 1;
        let _ = writeln!(self.text, "{name} = {op}");
        name
    }

    fn body(mut self) -> String {
        let ty = self.one_of(&["i16x16", "i32x16"]);
        let depth = 1 + self.random.below(3);
        let mut value = self.tree(ty, depth);
        let shift = self.random.below(10);
        let sign = self.one_of(&["s", "s", "s", "u"]);
        if shift > 0 {
            let count = self.op(&format!("const.{ty} {shift}"));
            let round = self.one_of(&["", "round_"]);
            value = self.op(&format!("{round}shr_{sign}.{ty} {value}, {count}"));
        }
        if self.random.below(3) == 0 {
            let leaf = self.leaf(ty);
            let op = self.one_of(&["add", "sub"]);
            value = self.op(&format!("{op}.{ty} {value}, {leaf}"));
        }
        let narrow = self.one_of(&["trunc", "narrow_sat_s", "narrow_sat_u", "narrow_sat_uu"]);
        if ty == "i32x16" && narrow != "trunc" {
            let half = self.one_of(&["narrow_sat_s", "narrow_sat_u", "narrow_sat_uu"]);
            value = self.op(&format!("{half}.i16x16 {value}"));
        }
        let _ = writeln!(self.text, "%c = {narrow}.i8x16 {value}");
        self.text
    }

    fn tree(&mut self, ty: &str, depth: usize) -> String {
        if depth == 0 {
            return self.leaf(ty);
        }
        let first = self.tree(ty, depth - 1);
        match self.random.below(6) {
            0 => {
                let by = self.random.below(90) as i64 - 40;
                let number = self.op(&format!("const.{ty} {by}"));
                self.op(&format!("mul.{ty} {first}, {number}"))
            }
            1 => {
                let number = self.op(&format!("const.{ty} 2"));
                self.op(&format!("shl.{ty} {first}, {number}"))
            }
            2 => self.op(&format!("neg.{ty} {first}")),
            n => {
                let second = self.tree(ty, depth - 1);
                self.op(&format!("{}.{ty} {first}, {second}", if n == 3 { "sub" } else { "add" }))
            }
        }
    }

    fn leaf(&mut self, ty: &str) -> String {
        let (x, y) = (self.one_of(&["%a", "%b"]), self.one_of(&["%a", "%b"]));
        let (sign, extend) = (self.one_of(&["s", "u"]), self.one_of(&["sext", "zext"]));
        match self.random.below(8) {
            0 => {
                let number = self.random.below(600) as i64 - 300;
                self.op(&format!("const.{ty} {number}"))
            }
            1 | 2 => {
                let product = self.op(&format!("mul_wide_{sign}.i8x16 {x}, {y}"));
                if ty == "i16x16" { product } else { self.op(&format!("{extend}.{ty} {product}")) }
            }
            _ => self.op(&format!("{extend}.{ty} {x}")),
        }
    }
}
