//! Tests of the IR to which programs are lowered.

use halfbyte_lang::{StdOnly, is_language, read};

fn ir(text: &str) -> String {
    match read(text, "k.hb", &StdOnly) {
        Ok(module) => module.to_string(),
        Err(errors) => panic!("{}", halfbyte_ir::Diagnostics { file: "k.hb", source: text, list: &errors }),
    }
}

/// Returns the instructions of a kernel with the given body, without `ret`.
fn body(lines: &str) -> Vec<String> {
    let text = format!(
        "kernel k(a: i32, b: i8, h: f16, v: i8x4, x: in i32, y: inout i32, t: in i16 align 8) {{\n{lines}\n}}\n"
    );
    ir(&text)
        .lines()
        .skip(2)
        .map(|line| line.trim().to_owned())
        .filter(|line| !["ret", "}"].contains(&line.as_str()))
        .collect()
}

#[test]
fn untyped_numbers_take_the_type_of_the_other_operand() {
    assert_eq!(body("let p = b + 1"), ["%0 = const.i8 1", "%p = add.i8 %b, %0"]);
    assert_eq!(body("let p = 2 * h"), ["%0 = const.f16 2.0", "%p = fmul.f16 %0, %h"]);
    assert_eq!(body("let p = v + 3"), ["%0 = const.i8x4 3", "%p = add.i8x4 %v, %0"]);
    assert_eq!(body("let p = v + 0x01020304"), ["%0 = const.i8x4 [4, 3, 2, 1]", "%p = add.i8x4 %v, %0"]);
    assert_eq!(body("let p = a + (2 * 3 - 1 << 1)"), ["%0 = const.i32 10", "%p = add.i32 %a, %0"]);
    assert_eq!(body("let p = a << 2 + 1"), ["%0 = const.i32 3", "%p = shl.i32 %a, %0"]);
    assert_eq!(body("let p: i64 = zext(a)"), ["%p = zext.i64 %a"]);
    // If an operator is signed or unsigned, an untyped number is first converted to the expected type.
    assert_eq!(body("let p: i32 = a + (-1 >>_u 4)"), ["%0 = const.i32 268435455", "%p = add.i32 %a, %0"]);
    assert_eq!(body("let p: i32 = a + (0xffffffff >>_s 8)"), ["%0 = const.i32 -1", "%p = add.i32 %a, %0"]);
    assert_eq!(
        body("let p: i64 = zext(a) + (0xffffffff >>_s 8)")[1..],
        ["%1 = const.i64 16777215", "%p = add.i64 %0, %1"]
    );
    assert_eq!(body("let p: i8 = b + (200 /_s 2)"), ["%0 = const.i8 -28", "%p = add.i8 %b, %0"]);
    assert_eq!(body("let p = a + (-7 /_s 2 + (9 /_u 2))"), ["%0 = const.i32 1", "%p = add.i32 %a, %0"]);
    assert_eq!(body("let p = min_u(255, b)"), ["%0 = const.i8 -1", "%p = min_u.i8 %0, %b"]);
    assert_eq!(body("let p = fmax.nan(h, inf)"), ["%0 = const.f16 inf", "%p = fmax.nan.f16 %h, %0"]);
    assert_eq!(body("let p = h != 0.0"), ["%0 = const.f16 0.0", "%p = fcmp.neu.f16 %h, %0"]);
    assert_eq!(body("let p = i8x4(b)"), ["%p = splat.i8x4 %b"]);
    assert_eq!(body("let p = i8x4(b, 1, 2, b)")[2..], ["%p = concat.i8x4 %b, %0, %1, %b"]);
    assert_eq!(body("let p = v * i8x4(1, 2, 3, 4)"), ["%0 = const.i8x4 [1, 2, 3, 4]", "%p = mul.i8x4 %v, %0"]);
}

#[test]
fn if_in_a_constant_is_evaluated() {
    assert_eq!(
        body("const c = if 2 * 3 == 6 && true { 5 } else { 7 }\nlet p = a + c"),
        ["%0 = const.i32 5", "%p = add.i32 %a, %0"]
    );
    let text =
        ir("const N = 4\nconst M: i8 = if N == 4 || N == 5 { -1 } else { 1 }\nkernel k(y: out i8) { y[0] = M }\n");
    assert!(text.contains("const.i8 -1") && !text.contains("br"), "{text}");
}

#[test]
fn places_are_addresses_of_the_ir() {
    assert_eq!(body("y[a] = x[a + 3]"), ["%0 = load %x[%a + 3]", "store %0, %y[%a]"]);
    assert_eq!(body("y[2] = x[a wide - 1]"), ["%0 = load %x[%a wide - 1]", "store %0, %y[2]"]);
    assert_eq!(
        body("y[3 + a] += 1"),
        ["%0 = load %y[%a + 3]", "%1 = const.i32 1", "%2 = add.i32 %0, %1", "store %2, %y[%a + 3]"]
    );
    assert_eq!(body("let p = load.i8x4(t[a] align 2)"), ["%p = load.i8x4 %t[%a] align 2"]);
    assert_eq!(
        body("store.i8x4(7, y[a] step 1 align 1)"),
        ["%0 = const.i8x4 7", "store.i8x4 %0, %y[%a] step 1 align 1"]
    );
    assert_eq!(body("atomic_add.acq_rel.group(a, y[0])"), ["atomic_add.acq_rel.group %a, %y"]);
    assert!(body("let p = load.i32(ptr_add(x, 4))").iter().any(|line| line.starts_with("%p = load.i32 %")));
}

#[test]
fn loops_of_a_known_number_have_no_test_before_them() {
    let text = ir(
        "kernel k(y: out i32, n: i32) {\n  var s = 0\n  for i in 0..4 { s += i }\n  for i in 0..n { s += i }\n  y[0] = s\n}\n",
    );
    assert_eq!(text.matches("icmp").count(), 3, "{text}");
    assert_eq!(text.matches("br_if").count(), 3, "{text}");
}

#[test]
fn arrays_of_variables_are_variables() {
    let text = ir(
        "kernel k(y: out i32, x: in i32, n: i32) {\n  var v: i32[3]\n  unroll for k in 0..3 { v[k] = x[k] }\n  for i in 0..n {\n    v[1] += v[0]\n    v[2] = i\n  }\n  y[0] = v[0] + v[1] + v[2]\n}\n",
    );
    assert!(text.contains("^for(%i: i32, %"), "{text}");
    assert!(!text.contains("scratch"), "{text}");
}

#[test]
fn plain_kernels_and_those_of_the_language_keep_their_order_and_places() {
    let text = "; é\nkernel @a(%x: i32) {\n^entry:\n  ret\n}\n\nkernel b(y: out i32) { y[0] = 1 }\nkernel @c() {\n^entry:\n  ret\n}\n";
    let module = read(text, "k.hb", &StdOnly).unwrap();
    let names: Vec<&str> = module.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    for kernel in &module.kernels {
        assert!(text[kernel.span.start as usize..].trim_start_matches('@').starts_with(kernel.name.as_str()));
        for inst in kernel.insts.values() {
            let shown = &text[inst.span.start as usize..inst.span.end as usize];
            assert!(["ret", "1", "y[0] = 1", "}"].contains(&shown), "{shown:?}");
        }
    }
}

#[test]
fn places_inside_of_functions_are_their_own() {
    let text = "fn f(a: i32) -> i32 { a * 3 }\nkernel k(y: out i32) { y[0] = f(item_id()) }\n";
    let module = read(text, "k.hb", &StdOnly).unwrap();
    let spans = module.kernels[0].insts.values().map(|inst| &text[inst.span.start as usize..inst.span.end as usize]);
    assert!(spans.collect::<Vec<_>>().contains(&"a * 3"));
}

#[test]
fn uncalled_functions_need_one_valid_instantiation() {
    for text in [
        "fn f<T>(a: T) -> T { fsqrt(a) }",
        "fn f<T>(a: T) -> i8x16 { trunc(a) }",
        "fn f<S, T>(a: S) -> T { zext.T(a) }",
        "fn f(v: i8x16, k: const) -> i8 { extract(v, k - 9) }",
        "fn f<T>(x: inout T, i: i32, k: const) { x[i + k] = ffma(x[i], 2.0, x[i]) }",
        "struct s { d: f16, q: i8[32] }\nfn f(b: in s, i: i32) -> i32 { sext.i32(b[i].q[i]) }",
        "fn f(a: i32) -> (i32, i32) {\n  if a <_s 0 { return (0, 0) }\n  (a, a)\n}",
    ] {
        assert_eq!(ir(text), "", "{text}");
    }
}

#[test]
fn functions_of_the_library_are_right_without_a_call() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("std");
    let texts = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let texts: Vec<String> = texts.collect();
    assert!(texts.len() >= 5);
    texts.iter().for_each(|text| assert_eq!(ir(text), ""));
}

#[test]
fn detects_the_kernel_language() {
    for text in [
        "kernel k() {}",
        "\n; c\n  fn f() {}",
        "const N = 1",
        "struct s { a: i8 }",
        "include \"std/x\"",
        "kernel @a() {\n^e:\n ret\n}\nkernel b() {}",
    ] {
        assert!(is_language(text), "{text}");
    }
    for text in
        ["", "kernel @k() {\n^entry:\n  ret\n}", "; kernel k()", "halfbyte 1", "kernel", "kernel\nk()", "func @k() {}"]
    {
        assert!(!is_language(text), "{text}");
    }
}
