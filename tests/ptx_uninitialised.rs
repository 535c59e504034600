//! Tests of reads of registers that were never written, and of a carry flag that was never set.
//! `check` prints warnings, and launches with race detection report errors.

use std::fs;

use halfbyte::import_ptx::{read_each, uninitialised};
use halfbyte::launch::{Engine, RaceCheck};
use halfbyte_testkit::harness::{Arg, Execution, Failure, Language, LaunchOptions, Request, Size, launch};

use crate::common::halfbyte;

const HEAD: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Returns a PTX kernel whose body begins on line 6. `%r0` is the item index, and `%d1` the address
/// of the item's eight bytes.
fn kernel(body: &str) -> String {
    with_functions("", body)
}

/// Returns a PTX kernel with functions, which are on line 4.
fn with_functions(functions: &str, body: &str) -> String {
    format!(
        "{HEAD}{functions} .visible .entry k(.param .u64 y) {{ .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<10>; .reg .b64 %d<8>; .reg .f32 %f<4>;
mov.u32 %r0, %tid.x; ld.param.u64 %d0, [y]; mul.wide.u32 %d2, %r0, 8; add.u64 %d1, %d0, %d2;\n{body}\nret; }}\n"
    )
}

fn run(text: &str, via: Execution, engine: Option<Engine>, races: RaceCheck) -> Result<Vec<u8>, Failure> {
    let size = Size::Blocks { grid: [1, 1, 1], block: [4, 1, 1] };
    let mut request = Request::new(Language::Ptx, "k.ptx", text, size);
    request.args = vec![Arg::Buffer { bytes: vec![7; 64], pointers: Vec::new() }];
    let how = LaunchOptions { engine, via: Some(via), races, ..LaunchOptions::default() };
    launch(request, &how).map(|mut found| found.swap_remove(0))
}

/// Launches a text with race detection. Returns the error kind, the line and the message, or `None`
/// if the launch succeeds.
fn watched(text: &str) -> Option<(String, Option<u32>, String)> {
    let failure = run(text, Execution::Ptx, Some(Engine::Interp), RaceCheck::On).err()?;
    Some((failure.kind.name().to_owned(), failure.line, failure.message))
}

/// Returns the warnings of a text, each with its line.
fn warnings(text: &str) -> Vec<String> {
    let read = read_each("k.ptx", text).unwrap_or_else(|report| panic!("{report}\n{text}"));
    let Some(report) = uninitialised("k.ptx", text, &read) else { return Vec::new() };
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
    report.diagnostics().iter().map(|found| format!("{}: {}", line(found.span.start), found.message)).collect()
}

#[test]
fn values_that_nothing_has_written_are_found_where_they_are_observed() {
    for (body, kind, warning) in [
        // A store, an address, a branch or a guard uses the uninitialised value.
        ("st.global.u32 [%d1], %r5;", "uninitialised-register", "6: `%r5` is read before it is written"),
        (
            "add.u32 %r1, %r5, %r0; xor.b32 %r2, %r1, 3;\nst.global.u32 [%d1], %r2;",
            "uninitialised-register",
            "6: `%r5` is",
        ),
        ("add.u64 %d3, %d1, %d5; ld.global.u32 %r1, [%d3];", "uninitialised-register", "6: `%d5` is"),
        (
            "setp.eq.u32 %p1, %r5, 0; @%p1 bra over;\nst.global.u32 [%d1], 1; over:",
            "uninitialised-register",
            "6: `%r5` is",
        ),
        ("@%p1 st.global.u32 [%d1], 1;", "uninitialised-register", "6: `%p1` is"),
        ("@%p1 bra over; st.global.u32 [%d1], 1; over:", "uninitialised-register", "6: `%p1` is"),
        ("@!%p1 mov.u32 %r1, 3; st.global.u32 [%d1], %r1;", "uninitialised-register", "6: `%"),
        ("atom.global.add.u32 %r1, [%d0], %r5;", "uninitialised-register", "6: `%r5` is"),
        ("ex2.approx.f32 %f1, %f0; st.global.f32 [%d1], %f1;", "uninitialised-register", "6: `%f0` is"),
        ("selp.u32 %r1, %r0, 5, %p1; st.global.u32 [%d1], %r1;", "uninitialised-register", "6: `%p1` is"),
        // The register is only written on one path, or only under one guard.
        (
            "setp.eq.u32 %p1, %r0, 2; @%p1 bra over; mov.u32 %r5, 1;\nover: st.global.u32 [%d1], %r5;",
            "uninitialised-register",
            "7: `%r5` may be read before",
        ),
        (
            "setp.eq.u32 %p1, %r0, 2; @%p1 mov.u32 %r5, 1;\nst.global.u32 [%d1], %r5;",
            "uninitialised-register",
            "7: `%r5` may be read before",
        ),
        (
            "setp.eq.u32 %p1, %r0, 2; @%p1 mov.u32 %r5, 1; setp.eq.u32 %p1, %r0, 3;\n@%p1 st.global.u32 [%d1], %r5;",
            "uninitialised-register",
            "7: `%r5` may be read before",
        ),
        // An uninitialised lane of a packed value is stored.
        (
            "mov.b32 %r1, {%h0, %h1}; mov.b32 {%h2, %h3}, %r1;\nst.global.u16 [%d1], %h3;",
            "uninitialised-register",
            "6: `%h0` is read",
        ),
        (
            "cvt.u16.u32 %h0, %r0; mov.b32 %r1, {%h0, %h1};\nst.global.u32 [%d1], %r1;",
            "uninitialised-register",
            "6: `%h1` is",
        ),
        // The carry flag is never set, is only set under another guard, or is not preserved.
        (
            "addc.u32 %r1, 0, 0; st.global.u32 [%d1], %r1;",
            "uninitialised-carry",
            "6: the carry flag is read before it is set",
        ),
        (
            "subc.cc.u32 %r1, 0, 0; addc.u32 %r2, 0, 0; st.global.u32 [%d1], %r2;",
            "uninitialised-carry",
            "6: the carry flag is read before it is set",
        ),
        (
            "setp.eq.u32 %p1, %r0, 2; @%p1 add.cc.u32 %r1, %r0, -1;\naddc.u32 %r2, 0, 0; st.global.u32 [%d1], %r2;",
            "uninitialised-carry",
            "7: the carry flag may be read before it is set",
        ),
        (
            "add.cc.u32 %r1, %r0, -1; bar.sync 0;\naddc.u32 %r2, 0, 0; st.global.u32 [%d1], %r2;",
            "uninitialised-carry",
            "7: the carry flag is read, but a `bar` before the read does not preserve it",
        ),
        (
            "add.cc.u32 %r1, %r0, -1; bar.warp.sync 15;\nmadc.lo.u32 %r2, %r0, %r0, 0; st.global.u32 [%d1], %r2;",
            "uninitialised-carry",
            "7: the carry flag is read, but a `bar` before the read does not preserve it",
        ),
    ] {
        let text = kernel(body);
        let (found, line, message) = watched(&text).unwrap_or_else(|| panic!("no error\n{text}"));
        let warned = warnings(&text);
        assert_eq!(found, kind, "{message}\n{text}");
        assert!(warned.iter().any(|found| found.starts_with(warning)), "{warned:?}\n{text}");
        // The error and the warning have the line of the instruction that reads the register.
        let at: u32 = warning.split_once(':').unwrap().0.parse().unwrap();
        assert_eq!(line, Some(at), "{message}\n{text}");
        // Without race detection, the launch succeeds.
        run(&text, Execution::Ptx, Some(Engine::Interp), RaceCheck::Off).unwrap();
    }
}

#[test]
fn the_message_says_what_depends_on_the_value() {
    let text = kernel("add.u32 %r1, %r5, %r0;\nst.global.u32 [%d1], %r1;");
    let (_, line, message) = watched(&text).unwrap();
    assert_eq!(line, Some(6));
    assert_eq!(
        message,
        "`add.u32 %r1, %r5, %r0;`: `%r5` is read before it is written, and a stored value depends on it, at line 7"
    );
}

#[test]
fn values_that_are_defined_or_not_observed_are_no_errors() {
    for body in [
        // No store, address, branch or guard uses the uninitialised value.
        "add.u32 %r1, %r5, %r0; st.global.u32 [%d1], %r0;",
        // The results of the uninitialised lanes are unused. LLVM generates such code.
        "cvt.u16.u32 %h0, %r0; mov.b32 %r1, {%h0, %h1}; add.f16x2 %r2, %r1, %r1; mov.b32 {%h2, %h3}, %r2; st.global.u16 [%d1], %h2;",
        "cvt.u16.u32 %h0, %r0; mov.b32 %r1, {%h0, %h1}; fma.rn.f16x2 %r2, %r1, %r1, %r1; cvt.u16.u32 %h2, %r2; st.global.b16 [%d1], %h2;",
        "mov.b64 %d3, {%r0, %r5}; cvt.u32.u64 %r1, %d3; st.global.u32 [%d1], %r1;",
        "mov.b64 %d3, {%r0, %r5}; add.u64 %d4, %d3, %d3; mov.b64 {%r1, _}, %d4; st.global.u32 [%d1], %r1;",
        "mov.b64 %d3, {%r5, %r0}; shr.u64 %d4, %d3, 32; st.global.u32 [%d1], %d4;",
        "prmt.b32 %r1, %r0, %r5, 0x3210; prmt.b32 %r2, %r0, %r5, 0x1032; st.global.v2.u32 [%d1], {%r1, %r2};",
        "and.b32 %r1, %r5, 0; or.b32 %r2, %r5, -1; st.global.v2.u32 [%d1], {%r1, %r2};",
        "and.b32 %r1, %r5, 0xffff0000; or.b32 %r1, %r1, %r0; st.global.u16 [%d1], %r1;",
        "lop3.b32 %r1, %r0, %r5, 0xffff0000, 0xb8; st.global.u32 [%d1], %r0;",
        "bfi.b32 %r1, %r0, %r5, 0, 8; st.global.u8 [%d1], %r1;",
        "st.global.u8 [%d1], %r0; shl.b32 %r1, %r5, 8; or.b32 %r1, %r1, 1; st.global.u8 [%d1], %r1;",
        // `selp` selects the initialised operand.
        "setp.lt.u32 %p1, %r0, 100; selp.u32 %r1, %r0, %r5, %p1; st.global.u32 [%d1], %r0;",
        // The register is written under both guards, or written and read under the same guard.
        "setp.eq.u32 %p1, %r0, 2; @%p1 mov.u32 %r5, 1; @!%p1 mov.u32 %r5, 2; st.global.u32 [%d1], %r5;",
        "setp.eq.u32 %p1, %r0, 2; @%p1 mov.u32 %r5, 1; @%p1 st.global.u32 [%d1], %r5;",
        "setp.eq.u32 %p1, %r0, 2; @%p1 mov.u32 %r5, 1; @!%p1 bra over; st.global.u32 [%d1], %r5; over:",
        "setp.eq.u32 %p1, %r0, 2; @%p1 bra over; mov.u32 %r5, 1; over: @%p1 bra end; st.global.u32 [%d1], %r5; end:",
        // Both sides of a branch write the register.
        "setp.eq.u32 %p1, %r0, 2; @%p1 bra else; mov.u32 %r5, 1; bra end; else: mov.u32 %r5, 2; end: st.global.u32 [%d1], %r5;",
        // An earlier iteration writes the register.
        "mov.u32 %r1, 0; mov.u32 %r5, 0; more: add.u32 %r5, %r5, %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra more; st.global.u32 [%d1], %r5;",
        "mov.u32 %r1, 0; bra test; more: add.u32 %r5, %r5, 1; bra next; test: mov.u32 %r5, %r0; bra more; next: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra more; st.global.u32 [%d1], %r5;",
        // The carry flag is set before each use, also under the same guard or before a loop.
        "add.cc.u32 %r1, %r0, -1; addc.u32 %r2, 0, 0; st.global.u32 [%d1], %r2;",
        "setp.eq.u32 %p1, %r0, 2; @%p1 add.cc.u32 %r1, %r0, -1; @%p1 addc.u32 %r1, 0, 0; @%p1 st.global.u32 [%d1], %r1;",
        "mov.u32 %r1, 0; add.cc.u32 %r2, %r0, -1; more: addc.cc.u32 %r2, %r2, -1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra more; st.global.u32 [%d1], %r2;",
        "bar.sync 0; sub.cc.u32 %r1, %r0, 1; subc.u32 %r2, 0, 0; st.global.u32 [%d1], %r2;",
        // A load, a shuffle or a call writes the register.
        "ld.global.v2.u32 {%r4, %r5}, [%d1]; shfl.sync.bfly.b32 %r6|%p1, %r5, 1, 31, 15; @%p1 st.global.u32 [%d1], %r6;",
        "cvt.rn.f32.u32 %f0, %r0; ex2.approx.f32 %f1, %f0; st.global.f32 [%d1], %f1;",
    ] {
        let text = kernel(body);
        let found = run(&text, Execution::Ptx, Some(Engine::Interp), RaceCheck::On);
        assert!(found.is_ok(), "{}\n{text}", found.unwrap_err());
        if !body.contains("selp.u32 %r1, %r0, %r5") {
            assert_eq!(warnings(&text), [""; 0], "{text}");
        }
    }
}

#[test]
fn calls_pass_what_is_undefined_and_lose_the_carry_flag() {
    let functions = ".func (.reg .b32 %s) twice (.reg .b32 %k) { add.s32 %s, %k, %k; ret; } .func (.reg .b32 %s) carries (.reg .b32 %k) { addc.u32 %s, %k, 0; ret; } .func (.reg .b32 %s) first (.reg .b32 %k, .reg .b32 %l) { mov.b32 %s, %k; ret; }";
    for (body, kind, line) in [
        ("call (%r1), twice, (%r5);\nst.global.u32 [%d1], %r1;", "uninitialised-register", 6),
        (
            "add.cc.u32 %r1, %r0, -1; call (%r1), twice, (%r0);\naddc.u32 %r2, 0, 0; st.global.u32 [%d1], %r2;",
            "uninitialised-carry",
            7,
        ),
        ("add.cc.u32 %r1, %r0, -1; call (%r1), carries, (%r0); st.global.u32 [%d1], %r1;", "uninitialised-carry", 4),
    ] {
        let text = with_functions(functions, body);
        let (found, at, message) = watched(&text).unwrap_or_else(|| panic!("no error\n{text}"));
        assert_eq!((found.as_str(), at), (kind, Some(line)), "{message}\n{text}");
        assert!(
            warnings(&text).iter().any(|found| found.starts_with(&format!("{line}: "))),
            "{:?}\n{text}",
            warnings(&text)
        );
    }
    // The error has the line of the call, which reads the register, although the function stores the value.
    let stores = ".func stores (.reg .b64 %a, .reg .b32 %k) { st.global.u32 [%a], %k; ret; }";
    let (_, line, message) = watched(&with_functions(stores, "call stores, (%d1, %r5);")).unwrap();
    assert!(line == Some(6) && message.contains("`%r5` is read before it is written"), "{line:?}: {message}");
    let text = with_functions(functions, "call (%r1), first, (%r0, %r5); st.global.u32 [%d1], %r1;");
    assert_eq!(watched(&text), None, "{text}");
    let body = "call (%r1), twice, (%r0); add.cc.u32 %r2, %r1, -1; addc.u32 %r2, 0, 0; st.global.u32 [%d1], %r2;";
    let text = with_functions(&functions.replace("addc.u32", "add.u32"), body);
    assert_eq!((watched(&text), warnings(&text)), (None, Vec::new()), "{text}");
}

#[test]
fn registers_that_are_not_written_hold_0_on_every_route() {
    let text = kernel(
        "add.u32 %r1, %r5, %r0; st.global.u32 [%d1], %r1; mov.b32 %r2, {%h0, %h1}; addc.u32 %r2, %r2, 1; @%p1 mov.u32 %r2, 9;
cvt.rn.f32.u32 %f1, %r7; add.f32 %f1, %f1, %f0; mov.b32 %r3, %f1; add.u32 %r2, %r2, %r3; st.global.u32 [%d1+4], %r2;",
    );
    let expected: Vec<u8> = (0..4u32).flat_map(|item| [item, 1]).flat_map(u32::to_le_bytes).chain([7; 32]).collect();
    for (via, engine) in [
        (Execution::Ptx, Some(Engine::Interp)),
        (Execution::Ptx, Some(Engine::JIT)),
        (Execution::Ir, None),
        (Execution::Halu, Some(Engine::Interp)),
        (Execution::Halu, Some(Engine::JIT)),
        (Execution::Object, None),
        (Execution::Recompiled, None),
    ] {
        let found = run(&text, via, engine, RaceCheck::Off).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(found, expected, "{} {engine:?}", via.name());
    }
}

#[test]
fn commands_warn_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.ptx").display().to_string();
    let text = kernel("add.u32 %r1, %r5, %r0;\nst.global.u32 [%d1], %r1; addc.u32 %r2, 0, 0;");
    fs::write(&path, &text).unwrap();
    let shown = format!("warning: `%r5` is read before it is written\n --> {path}:6:1\n");
    let marked = "6 | add.u32 %r1, %r5, %r0;\n  | ^^^^^^^^^^^^^^^^^^^^^";
    for args in [
        &["check", &path][..],
        &["run", &path, "--target", "ptx", "--grid", "1", "--block", "2", "--arg", "y=zeros:i32:8"],
        &["run", &path, "--target", "ir", "--grid", "1", "--block", "2", "--arg", "y=zeros:i32:8"],
        &["compile", &path, "--target", "halu", "--emit", "asm", "-o", "-"],
    ] {
        let called = halfbyte(args);
        assert!(called.err.contains(&shown), "{args:?}: {}", called.err);
        assert!(called.err.contains(marked), "{args:?}: {}", called.err);
        assert!(called.err.contains("warning: the carry flag is read before it is set"), "{}", called.err);
        assert!(called.err.contains("help: initialise the register first"), "{}", called.err);
        assert!(called.err.contains("help: set the flag by `add.cc`"), "{}", called.err);
    }
    // `check` succeeds in spite of the warning, and the JSON object contains the warning.
    let called = halfbyte(&["check", &path, "--json"]);
    let object = called.output();
    assert!(object.contains(r#""severity":"warning""#) && object.contains(r#""ok":true"#), "{object}");
    let quiet = halfbyte(&["check", &path, "--quiet"]);
    assert!(!quiet.err.contains("warning"), "{}", quiet.err);
    fs::write(&path, kernel("st.global.u32 [%d1], %r0;")).unwrap();
    assert!(!halfbyte(&["check", &path]).err.contains("warning"));
}
