//! Tests with malicious texts. Each text must be accepted or rejected quickly, without a panic or stack overflow.

use halfbyte_lang::{StdOnly, format, read};

fn answer(text: &str) -> Vec<String> {
    let formatted = format(text);
    match read(text, "k.hb", &StdOnly) {
        Ok(_) => {
            assert!(formatted.is_ok());
            Vec::new()
        }
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

fn kernel(body: &str) -> String {
    format!("kernel k(a: i32, x: in i32, y: out i32) {{\n  var n = a\n{body}\n  y[0] = n\n}}\n")
}

#[track_caller]
fn refused(text: &str, why: &str) {
    let said = answer(text);
    assert!(said.iter().any(|message| message.contains(why)), "{:?}", &said[..said.len().min(3)]);
}

#[test]
fn deep_nesting() {
    for (open, close) in [
        ("(", ")"),
        ("-", ""),
        ("!", ""),
        ("x[", "]"),
        ("min_s(1, ", ")"),
        ("if true { ", " } else { 1 }"),
        ("1 + (", ")"),
        ("i8x4(", ")"),
    ] {
        let text = kernel(&format!("  n = {}1{}", open.repeat(100_000), close.repeat(100_000)));
        refused(&text, "levels of nesting");
    }
    for block in ["if true {\n", "while true {\n", "for i in 0..2 {\n", "do {\n", "unroll for i in 0..2 {\n"] {
        let text = kernel(&block.repeat(50_000));
        assert!(!answer(&text).is_empty());
    }
    refused(&kernel(&format!("  {}", "if a == 0 { n = 1 } else ".repeat(50_000))), "levels of nesting");
    refused(&kernel(&format!("  n = x{}", "[0]".repeat(50_000))), "indices and fields after one name");
    refused(&kernel(&format!("  n = a{}", ".b".repeat(50_000))), "indices and fields after one name");
    answer(&"(".repeat(1_000_000));
    answer(&"{".repeat(1_000_000));
    answer(&"kernel k(".repeat(100_000));
    answer(&"fn f() {\n".repeat(100_000));
}

#[test]
fn long_chains_of_operators_are_no_nesting() {
    assert_eq!(answer(&kernel(&format!("  n = a{}", " + a".repeat(100_000)))), Vec::<String>::new());
    assert_eq!(answer(&kernel(&format!("  let c = a == 1{}", " && a == 1".repeat(20_000)))), Vec::<String>::new());
    let many: String = (0..20_000).map(|number| format!("  let v{number} = a + {number}\n")).collect();
    assert_eq!(answer(&kernel(&many)), Vec::<String>::new());
}

#[test]
fn rejects_programs_that_expand_too_far() {
    refused(&kernel("  unroll for i in 0..65536 { unroll for j in 0..65536 { n += 1 } }"), "million expressions");
    refused(&kernel("  unroll for i in 0..65536 { unroll for j in 0..65536 { } }"), "million expressions");
    refused(&kernel("  unroll for i in 0..99999999999 { }"), "unrolled");
    refused(&kernel("  unroll for i in -9223372036854775807..9223372036854775807 { }"), "unrolled");
    // Exponential growth: each function calls the function before it twice.
    let calls: String =
        (1..40).map(|f| format!("fn g{f}(a: i32) -> i32 {{ g{}(a) + g{}(a) }}\n", f - 1, f - 1)).collect();
    refused(&format!("fn g0(a: i32) -> i32 {{ a }}\n{calls}{}", kernel("  n = g39(a)")), "million expressions");
    // A long chain of calls: each function calls the function before it.
    let calls: String = (1..5000).map(|f| format!("fn g{f}(a: i32) -> i32 {{ g{}(a) }}\n", f - 1)).collect();
    refused(&format!("fn g0(a: i32) -> i32 {{ a }}\n{calls}{}", kernel("  n = g4999(a)")), "levels of nesting");
    // The check of functions that nothing calls has a step limit.
    let calls: String =
        (1..40).map(|f| format!("fn g{f}<T>(a: T) -> T {{ g{}(a) + g{}(a) }}\n", f - 1, f - 1)).collect();
    assert_eq!(answer(&format!("fn g0<T>(a: T) -> T {{ a }}\n{calls}")), Vec::<String>::new());
    let known: String = (0..5000).map(|f| format!("fn g{f}<S, T>(a: S, k: const) -> T {{ a + k + {f} }}\n")).collect();
    answer(&known);
    let constants: String = (1..5000).map(|c| format!("const C{c} = C{} + 1\n", c - 1)).collect();
    assert_eq!(answer(&format!("const C0 = 1\n{constants}")), Vec::<String>::new());
    let constants: String = (0..5000).map(|c| format!("const C{c} = C{} + 1\n", c + 1)).collect();
    refused(&format!("{constants}const C5000 = 1\n"), "levels of nesting");
    let constants: String = (0..50_000).map(|c| format!("const C{c} = C{}\n", c + 1)).collect();
    refused(&format!("{constants}const C50000 = 1\n"), "levels of nesting");
}

/// Compile-time evaluation terminates. A call that exceeds the limit is inlined instead.
#[test]
fn limits_compile_time_evaluation() {
    let long = "fn long(n: i32) -> i32 {\n  var s = 0\n  for k in 0..n { s += k * k }\n  s\n}\n\
                fn endless() -> i32 {\n  var s = 0\n  while s == s { s += 1 }\n  s\n}\n";
    let text = |lines: &str| format!("{long}{}", kernel(lines));
    assert_eq!(answer(&text("  n = long(0x7fffffff)")), Vec::<String>::new());
    refused(&text("  n = x[0]\n  var v: i32[4]\n  v[long(0x7fffffff)] = 1"), "is not a compile-time constant");
    refused(&text("  const c = long(65538)"), "is not a compile-time constant");
    assert_eq!(answer(&text("  const c = long(65537)\n  n = c")), Vec::<String>::new());
    answer(&text("  n = endless()"));
    // Many calls that exceed the limit of compile-time evaluation, one after another or nested.
    assert_eq!(answer(&text(&"  n += long(0x7fffffff)\n".repeat(1000))), Vec::<String>::new());
    let calls: String = (1..40)
        .map(|f| format!("fn g{f}(a: i32) -> i32 {{\n  for k in 0..2 {{ }}\n  g{}(a) + g{}(a)\n}}\n", f - 1, f - 1))
        .collect();
    let doubling = format!("{long}fn g0(a: i32) -> i32 {{ long(a) }}\n{calls}");
    refused(&format!("{doubling}{}", kernel("  n = g39(0x7fffffff)")), "million expressions");
    refused(&format!("{doubling}{}", kernel("  n = g39(2)")), "million expressions");
    let calls: String =
        (1..5000).map(|f| format!("fn g{f}(a: i32) -> i32 {{\n  while false {{ }}\n  g{}(a)\n}}\n", f - 1)).collect();
    refused(&format!("fn g0(a: i32) -> i32 {{ a }}\n{calls}{}", kernel("  n = g4999(3)")), "levels of nesting");
    let itself = "fn f(a: i32) -> i32 {\n  for k in 0..2 { }\n  f(a - 1)\n}\n";
    refused(&format!("{itself}{}", kernel("  n = f(3)")), "calls itself");
}

#[test]
fn large_numbers() {
    refused(&kernel(&format!("  n = {}", "9".repeat(100_000))), "64 bits");
    refused(&kernel(&format!("  n = 0x{}", "f".repeat(100_000))), "not an integer");
    refused(&kernel(&format!("  let f = 1.{}f32", "1".repeat(100_000))), "not a number");
    refused(&kernel("  let f = 1e999999999999f32"), "infinity");
    refused(&kernel("  n = x[a + 9223372036854775807]"), "2 GiB");
    refused(&kernel("  n = x[a - 18446744073709551615]"), "2 GiB");
    refused(&kernel("  shared t: i32[4294967295]"), "bytes");
    refused(&kernel("  shared t: i32[18446744073709551615]"), "number of elements");
    refused("struct s { a: i64[4294967295] }", "bytes");
}

#[test]
fn many_mistakes_end() {
    let said = answer(&kernel(&"  n = b + c\n".repeat(10_000)));
    assert!(said.len() <= 100, "{}", said.len());
    answer(&kernel(&"  n = + \n".repeat(10_000)));
}

/// Random token sequences with random bytes.
#[test]
fn random_texts() {
    const WORDS: [&str; 64] = [
        "kernel",
        "k",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "\n",
        "\n",
        "let",
        "var",
        "if",
        "else",
        "for",
        "in",
        "0",
        "..",
        "n",
        "while",
        "do",
        "=",
        "+=",
        "+",
        "-",
        "*",
        "/_u",
        ">>_s",
        "<_u",
        "==",
        "&&",
        "||",
        "!",
        ",",
        ":",
        ".",
        "i32",
        "i8x4",
        "f16",
        "1.5",
        "0xff",
        "\"t\"",
        "fn",
        "->",
        "<",
        ">",
        "const",
        "struct",
        "include",
        "return",
        "break",
        "unroll",
        "shared",
        "step",
        "wide",
        "align",
        "x",
        "item_id()",
        "; c\n",
        "%",
        "@",
        "^",
        "é",
        "true",
    ];
    let mut state = 1u64;
    let mut next = |count: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % count
    };
    for number in 0..3000 {
        let mut text = if number % 2 == 0 { String::from("kernel k(n: i32, x: inout i32) {\n") } else { String::new() };
        for _ in 0..next(40) {
            text.push_str(WORDS[next(WORDS.len())]);
            text.push_str(["", " ", " "][next(3)]);
        }
        if number % 2 == 0 {
            text.push_str("\n}\n");
        }
        for error in read(&text, "k.hb", &StdOnly).err().unwrap_or_default() {
            assert!(text.get(error.span.start as usize..error.span.end as usize).is_some(), "{error:?} in {text:?}");
        }
        if let Ok(written) = format(&text) {
            assert_eq!(format(&written).as_ref(), Ok(&written), "{text:?}");
        }
    }
}
