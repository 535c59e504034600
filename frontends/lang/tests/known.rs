//! Tests of compile-time values: a constant expression is accepted wherever a number is required.

use halfbyte_lang::{StdOnly, read};

/// Functions that the test cases call.
const FUNCTIONS: &str = "\
fn twice(a: i32) -> i32 { a + a }
fn sum_to(n: i32) -> i32 {
  var s = 0
  for k in 0..n { s += k }
  s
}
fn first_power(least: i32) -> i32 {
  var p = 1
  while true {
    if p >=_s least { return p }
    p *= 2
  }
}
fn crc(byte: i32) -> i32 {
  var c = byte
  for k in 0..8 {
    if (c & 1) == 1 { c = 0xedb88320 ^ (c >>_u 1) } else { c = c >>_u 1 }
  }
  c
}
fn is_even(n: i32) -> i1 {
  var even = true
  var left = n
  do {
    even = !even
    left -= 1
  } while left >_s 0
  even
}
fn div_mod(a: i32, b: i32) -> (i32, i32) { (a /_u b, rem_u(a, b)) }
fn steps<T>(a: T) -> T {
  var n: T = 0
  var x = a
  while x != 1 {
    if (x & 1) == 0 { x = x >>_u 1 } else { x = x * 3 + 1 }
    n += 1
  }
  n
}
fn early(n: i32) -> i32 {
  if n == 3 { return 7 }
  n * 10
}
fn last(n: const) -> i32 {
  unroll for k in 0..8 {
    if k == n { return twice(k) }
  }
  100
}
fn nested(n: i32) -> i32 {
  var s = 0
  for k in 0..n { s += sum_to(k) + sum_to(3) }
  s
}
const THREE = rem_u(7, 4)
const POWER = first_power(THREE + 2)
";

fn lowered(kernel: &str) -> Result<String, String> {
    let text = format!("{FUNCTIONS}{kernel}");
    match read(&text, "k.hb", &StdOnly) {
        Ok(module) => Ok(module.to_string()),
        Err(errors) => Err(halfbyte_ir::Diagnostics { file: "k.hb", source: &text, list: &errors }.to_string()),
    }
}

const CASES: [(&str, i32); 24] = [
    ("rem_u(7, 4)", 3),
    ("min_u(2, 3)", 2),
    ("popcount(0xff)", 8),
    ("twice(rem_s(7, 4)) + 1", 7),
    ("if min_u(2, 3) == 2 { 5 } else { 6 }", 5),
    ("select(3 <_s 4, 1, 2)", 1),
    ("trunc.i32(7i64 * 2)", 14),
    ("zext.i32(extract(i8x4(1, 2, 3, 4), 2))", 3),
    ("fcvt_to_s.i32(f32(1.5) * 4.0)", 6),
    ("sum_to(5)", 10),
    ("first_power(100)", 128),
    ("crc(1)", 0x7707_3096),
    ("if is_even(4) { 1 } else { 2 }", 1),
    ("steps(27)", 111),
    ("trunc.i32(steps(6i64))", 8),
    ("early(3)", 7),
    ("early(4)", 40),
    ("last(2)", 4),
    ("last(9)", 100),
    ("nested(3)", 10),
    ("THREE + POWER", 11),
    ("table[2] + table[1]", 50),
    ("if early(3) == 7 && !(sum_to(3) == 4) { 1 } else { 0 }", 1),
    ("-(first_power(3) - 1) + 4", 1),
];

/// Returns a kernel with the given body and with a buffer of constant contents.
fn kernel(lines: &str) -> String {
    format!("kernel k(a: i32, w: i8x16, x: in i32, y: out i32, table: in i32 = [10, 20, 30]) {{\n{lines}\n}}\n")
}

#[test]
fn known_values_are_constants() {
    for (expression, value) in CASES {
        for lines in [
            format!("const c = {expression}\n y[a] = c"),
            format!("let c = {expression}\n const d = c\n y[a] = d"),
            format!("var c = {expression}\n c += 1\n const d = c - 1\n y[a] = d"),
        ] {
            let ir = lowered(&kernel(&lines)).unwrap();
            assert!(ir.contains(&format!("const.i32 {value}\n")), "{expression}: {ir}");
            assert!(!ir.contains("br_if"), "{expression}: {ir}");
        }
    }
}

/// Each statement requires a number in one place.
#[test]
fn known_values_are_accepted_as_numbers() {
    for (expression, value) in CASES.into_iter().filter(|(_, value)| (1..16).contains(value)) {
        for (lines, expected) in [
            (format!("y[a] = zext(extract(w, {expression}))"), format!("extract.i8x16 %w, {value}\n")),
            (format!("y[{expression}] = a"), format!("%y[{value}]\n")),
            (format!("y[a + ({expression})] = a"), format!("%y[%a + {value}]\n")),
            (format!("y[a wide + {expression}] = a"), format!("%y[%a wide + {value}]\n")),
            (format!("shared t: i32[{expression}]\n t[a] = a"), format!("i32[{value}]")),
            (format!("var v: i32[16]\n v[{expression}] = a\n y[a] = v[{value}]"), "store %a, %y[%a]".to_owned()),
            (format!("unroll for k in 0..{expression} {{ y[k + 1] = a }}"), format!("store %a, %y[{value}]")),
            (
                format!("unroll for k in 0..{expression} step {expression} {{ y[a] = 7 * k }}"),
                "const.i32 0\n".to_owned(),
            ),
            (format!("y[a] = last({expression})"), "const.i32".to_owned()),
            (
                format!("y[a] = load.i32(x[a] step first_power({expression}) align first_power({expression}))"),
                "step".to_owned(),
            ),
        ] {
            match lowered(&kernel(&lines)) {
                Ok(ir) => assert!(
                    ir.contains(&expected) || expected == "step" && ir.contains("load"),
                    "{lines}: {expected}: {ir}"
                ),
                Err(said) => panic!("{lines}: {said}"),
            }
        }
    }
    // Structures, parameters and buffer contents are evaluated outside any kernel body.
    let text = "struct s { d: i32, q: i8[first_power(5)] }\n\
                kernel k(b: in s, y: out i32 align first_power(5), t: in i32 = [sum_to(4), crc(1), rem_u(7, 4)]) {\n  \
                y[0] = b[1].d + t[sum_to(3) - 2]\n}\n";
    let ir = lowered(text).unwrap();
    assert!(ir.contains("align 8") && ir.contains("= [6, 1996959894, 3]"), "{ir}");
    assert!(ir.contains("const.i32 1996959894"), "{ir}");
}

#[test]
fn omits_code_after_a_constant_exit() {
    let ir = lowered(&kernel("var n = 1\n if n == 1 {\n y[0] = 5\n return\n }\n y[0] = 6")).unwrap();
    assert!(ir.contains("const.i32 5") && !ir.contains("const.i32 6"), "{ir}");
    let ir =
        lowered(&kernel("var n = 0\n unroll for k in 0..9 {\n if k == 4 { break }\n n += k\n }\n y[n] = 1")).unwrap();
    assert!(ir.contains("%y[6]"), "{ir}");
}

/// A product that may be fused into a sum is not folded, because folding would round it separately.
#[test]
fn products_of_contracted_sums_stay() {
    let lines = "let p = fmul.contract(f32(1.1), f32(1.3))\n y[0] = bitcast(fadd.contract(p, bitcast(a)))";
    let ir = lowered(&kernel(lines)).unwrap();
    assert!(ir.contains("fmul.contract"), "{ir}");
}

#[track_caller]
fn refused(lines: &str, parts: &[&str]) {
    let said = lowered(&kernel(lines)).unwrap_err();
    for part in parts {
        assert!(said.contains(part), "{lines}: {said}");
    }
}

#[test]
fn names_the_part_that_is_not_constant() {
    let unknown = "this value is not a compile-time constant";
    refused("const c = twice(3) + a", &[unknown, "`a` is an argument of the launch"]);
    refused("let p = extract(w, twice(a))", &[unknown, "`a` is an argument"]);
    refused("y[a] = last(x[0] & 7)", &[unknown, "the result of `load` is not known"]);
    refused("let i = item_id()\n unroll for k in 0..i + 1 { }", &[unknown, "the result of `item_id` is not known"]);
    refused("for i in 0..4 { let p = extract(w, i) }", &[unknown, "`i` is the variable of a `for`"]);
    refused("var n = 0\n for i in 0..4 { n += 1 }\n let p = extract(w, n)", &[unknown, "depends on a loop"]);
    refused("let p = extract(w, if a == 0 { 1 } else { 2 })", &[unknown, "depends on a loop or on a condition"]);
    refused("let p = extract(w, sum_to(a))", &[unknown, "depends on a loop"]);
    refused("let p = extract(w, f32(1.0))", &["this is `f32`", "a lane number"]);
    refused("let p = extract(w, div_mod(7, 2))", &["this is 2 values", "a lane number"]);
    refused("let p = extract(w, sum_to(7))", &["lane 21 of 16"]);
    refused("var v: i32[4]\n v[rem_u(7, 4) + 1] = a", &["variable 4 of 4"]);
    refused("shared t: i32[sum_to(2) - 2]\n t[0] = a", &["-1 is not a number of elements"]);
}
